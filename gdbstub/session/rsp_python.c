/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of the Python file (gdbstub/python): they request its own text, disassembled instructions, and the output of
 * a monitor command for one thread. All replies are hex digits, because gdb's send_packet passes the reply to Python
 * without undoing escapes. The reply must therefore not contain `*`, `}` or other characters that need an escape.
 */
#include "gdbstub/rsp_priv.h"

#include <stdio.h>

/** Limits of one reply: a few screens of instructions, which are far shorter than a packet may be. */
enum { MAX_INSNS = 256, MAX_INSN_TEXT = 200 };

/* Handles qGpuPy. The reply is the text of the Python file. */
void rsp_do_python(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    rsp_put_hex(&rsp->reply, rsp_python_text, strlen(rsp_python_text));
}

/* Handles qGpuDis:ADDRESS,COUNT. The reply has a line "BYTES TEXT" for each instruction, up to the first address without an
 * instruction. */
void rsp_do_disassemble(struct rsp *rsp, const struct rsp_args *args)
{
    uint64_t pc = args->n[0], count = args->n[1];
    struct lw_buffer text;

    lw_buffer_init(&text);
    for (uint64_t i = 0; i < count && i < MAX_INSNS && text.size < MAX_INSNS * MAX_INSN_TEXT; i++) {
        size_t before = text.size;

        lw_printf(&text.sink, "%d ", ISA_WORD_BYTES);
        if (!dbg_insn_print(rsp->dbg, pc, &text.sink)) {
            text.size = before;
            break;
        }
        lw_put(&text.sink, "\n");
        pc += ISA_WORD_BYTES;
    }
    if (text.size == 0)
        rsp_put_error(&rsp->reply, "there is no instruction at this address");
    else
        rsp_put_hex(&rsp->reply, text.text, text.size);
    lw_buffer_fini(&text);
}

/* Returns true if the command in @line has one of the properties @does. The packets of this file accept only such commands,
 * because gdb would not notice that another command runs or changes the machine. */
static bool command_does(const struct lw_command_set *set, const char *line, unsigned does)
{
    const struct lw_command *command;
    char word[64];
    void *context;

    snprintf(word, sizeof word, "%.*s", (int)strcspn(line, " "), line);
    command = lw_command_find(set, word, &context, NULL);
    return command != NULL && (command->does & does);
}

/* Moves the focus to a thread, runs a command, and restores the focus. With @focus the command may move the focus, and the
 * reply begins with a line that has the resulting thread and lane. */
static void ask(struct rsp *rsp, const struct rsp_args *args, bool focus)
{
    dbg_thread_id before = rsp_focus(rsp), there;
    size_t size = args->rest_size / 2;
    struct lw_buffer text, reply;
    struct lw_error err = {0};
    char line[4096];
    enum lw_status status;

    rsp->python = true; /* only the Python file sends this packet */
    if (size >= sizeof line || !rsp_hex_decode(args->rest, args->rest_size, (uint8_t *)line)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    line[size] = '\0';
    if (rsp->config.monitor == NULL) {
        rsp_put_error(&rsp->reply, "this program has no monitor commands");
        return;
    }
    if (!command_does(rsp->config.monitor, line, focus ? LW_COMMAND_FOCUSES : LW_COMMAND_READONLY)) {
        rsp_put_error(&rsp->reply, focus ? "qGpuFocus only takes commands that move the focus: use `monitor` for other "
                                           "commands"
                                         : "qGpuAsk only takes commands that change no state: use `monitor` for other commands");
        return;
    }
    if (!rsp_resident(rsp, args->n[0])) {
        rsp_put_error(&rsp->reply, dbg_ended(rsp->dbg) ? "nothing is running: all launches have ended"
                                                       : "this warp is not resident: it has ended or has not started");
        return;
    }
    rsp_focus_on(rsp, args->n[0]);
    lw_buffer_init(&text);
    lw_buffer_init(&reply);
    status = lw_command_run(rsp->config.monitor, line, &text.sink, &err);
    there = rsp_focus(rsp);
    if (focus)
        rsp_thread_seen(rsp, there);
    if (focus)
        lw_printf(&reply.sink, "%llu %u\n", (unsigned long long)there, dbg_lane_get(rsp->dbg, there));
    lw_put(&reply.sink, text.size != 0 ? text.text : "\n");
    if (status != LW_OK)
        rsp_put_error(&rsp->reply, err.text);
    else
        rsp_put_hex(&rsp->reply, reply.text, reply.size);
    lw_buffer_fini(&reply);
    lw_buffer_fini(&text);
    rsp_focus_on(rsp, before);
    if (focus)
        rsp->threads_valid = false; /* the names in the thread list contain focus lanes, which may have changed */
}

/* Handles qGpuAsk:THREAD;HEX: runs a read-only monitor command for the named thread. gdb's packet for `monitor` names no
 * thread, so `monitor lanes` may show another thread than the one that is selected in gdb. */
void rsp_do_ask(struct rsp *rsp, const struct rsp_args *args)
{
    ask(rsp, args, false);
}

/* Handles qGpuFocus:THREAD;HEX: replies with the thread and lane to which a command would move the focus, so that the
 * Python file can select them in gdb. */
void rsp_do_focus(struct rsp *rsp, const struct rsp_args *args)
{
    ask(rsp, args, true);
}
