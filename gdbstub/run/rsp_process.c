/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and end of a program under gdb: detach, kill, and `run`. An extended-remote connection stays open when its
 * program ends.
 */
#include "gdbstub/rsp_priv.h"

#include <stdlib.h>

void rsp_do_attached(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    /* The reply decides what gdb does when it quits. "1": it detaches, and may attach again. "0": it kills the program. */
    lw_put(&rsp->reply.sink, rsp->config.quit_kills ? "0" : "1");
}

void rsp_do_extended(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    if (rsp->config.restart == NULL)
        return; /* the empty reply means that the packet is not supported */
    rsp->extended = true;
    lw_put(&rsp->reply.sink, "OK");
}

/* Handles qGpuRenew, which the Python file sends before gdb executes `run`. The reply is empty if gdb was started without
 * a program file of the stub. */
void rsp_do_renew(struct rsp *rsp, const struct rsp_args *args)
{
    struct lw_error err = {0};

    (void)args;
    rsp->renewed = false;
    if (rsp->config.renew == NULL)
        return;
    if (rsp->config.renew(rsp->config.restart_context, &rsp->config, &err) != LW_OK) {
        rsp_put_error(&rsp->reply, err.text);
        return;
    }
    rsp->renewed = true;
    lw_put(&rsp->reply.sink, "OK");
}

/* Prints a note after a restart if the program has changed, because gdb may still use line numbers and variables of the
 * old program. */
static void note_program(struct rsp *rsp, const uint8_t *elf, size_t size)
{
    enum { ENTRY = 24, ENTRY_END = 32 }; /* bytes of e_entry in the ELF header, which are not compared, because they
                                          * depend on the kernel that is running, not on the program */
    bool same = elf != NULL && rsp->elf != NULL && size == rsp->elf_size && size >= ENTRY_END &&
                memcmp(elf, rsp->elf, ENTRY) == 0 &&
                memcmp(elf + ENTRY_END, rsp->elf + ENTRY_END, size - ENTRY_END) == 0;

    if (elf != NULL && rsp->elf != NULL && !same && !rsp->renewed)
        lw_printf(&rsp->messages,
                  "note: the program has changed, and gdb may still use lines and variables of the old one: `file "
                  "target:%s` makes gdb read the new program\n", rsp->elf_name);
    rsp->renewed = false;
}

enum lw_status rsp_restart(struct rsp *rsp, const char *name, struct lw_error *err)
{
    struct rsp_config config = rsp->config;
    enum lw_status status;
    uint8_t *elf;
    size_t elf_size;

    if (config.restart == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "this program cannot be restarted");
    dbg_set_messages(rsp->dbg, NULL);
    status = config.restart(config.restart_context, name, &config, err);
    if (status == LW_OK) {
        rsp->point_count = 0; /* the stoppoints were destroyed with the old debugger */
        rsp->config = config;
        rsp->dbg = config.dbg;
        rsp_listener_change(rsp->listener, rsp->dbg);
        rsp->threads_valid = false;
        rsp->suppress_next_step = 0;
        rsp->end_reported = 0;
        rsp->exited = 0; /* clears the members that refer to warps of the previous run */
        rsp->shown = false;
        rsp->shown_thread = 0;
        rsp->shown_lane = 0;
        rsp->named.view = rsp->named.run = rsp->named.stop = 0;
        rsp_chosen_set(rsp, 0);
        rsp_known_forget(rsp);
        rsp->killed = rsp->detached = false;
        elf = rsp->elf;
        elf_size = rsp->elf_size;
        rsp->elf = NULL; /* this function frees the old ELF */
        status = rsp_describe(rsp, err);
        if (status == LW_OK)
            note_program(rsp, elf, elf_size);
        free(elf);
    }
    dbg_set_messages(rsp->dbg, &rsp->messages);
    return status;
}

/* Handles vRun, "HEXNAME;HEXARG;...". The name may be empty, and arguments are refused. */
void rsp_do_run(struct rsp *rsp, const struct rsp_args *args)
{
    const char *semicolon = memchr(args->rest, ';', args->rest_size);
    size_t size = semicolon != NULL ? (size_t)(semicolon - args->rest) : args->rest_size;
    struct rsp_args none = {0};
    struct lw_error err = {0};
    char name[1024];

    if (size / 2 >= sizeof name || !rsp_hex_decode(args->rest, size, (uint8_t *)name)) {
        lw_put(&rsp->reply.sink, "E01");
        return;
    }
    name[size / 2] = '\0';
    if (size != args->rest_size && size + 1 != args->rest_size) {
        rsp_put_error(&rsp->reply, "`run` takes no arguments: the launch file has the arguments of kernels");
        return;
    }
    if (rsp_restart(rsp, name, &err) != LW_OK) {
        rsp_put_error(&rsp->reply, err.text);
        return;
    }
    rsp_numbers_forget(rsp);
    rsp_do_why(rsp, &none);
}

/* Handles vAttach. The process id is ignored, because there is only one process. If gdb has a process, it kills this process
 * before it attaches, and the program then restarts. A process from which gdb has detached continues from its present
 * position. */
void rsp_do_attach(struct rsp *rsp, const struct rsp_args *args)
{
    struct lw_error err = {0};

    if (rsp->killed && rsp_restart(rsp, "", &err) != LW_OK) {
        rsp_put_error(&rsp->reply, err.text);
        return;
    }
    rsp->detached = false;
    rsp_numbers_forget(rsp);
    rsp_do_why(rsp, args);
}

/* Handles the restart packet R, which has no reply. If the restart fails, the program continues unchanged. */
void rsp_do_restart(struct rsp *rsp, const struct rsp_args *args)
{
    struct lw_error err;

    (void)args;
    if (rsp_restart(rsp, "", &err) != LW_OK)
        lw_printf(&rsp->messages, "error: %s; the program continues unchanged\n", err.text);
}

void rsp_do_detach(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    lw_put(&rsp->reply.sink, "OK");
    if (rsp->extended && rsp->config.detach_keeps_link && !rsp->killed) {
        rsp_points_clear(rsp);
        rsp->threads_valid = false;
        rsp->detached = true;
        return;
    }
    rsp->end = rsp->killed ? RSP_KILLED : RSP_DETACHED;
}

void rsp_process_ended(struct rsp *rsp)
{
    rsp->threads_valid = false;
    if (rsp->lldb)
        lw_put(&rsp->reply.sink, "X09"); /* only lldb expects a reply to the kill packet */
    if (rsp->extended)
        rsp->killed = true;
    else
        rsp->end = RSP_KILLED;
}

void rsp_do_kill(struct rsp *rsp, const struct rsp_args *args)
{
    (void)args;
    rsp_process_ended(rsp);
}

void rsp_do_vkill(struct rsp *rsp, const struct rsp_args *args)
{
    rsp_do_kill(rsp, args);
    lw_put(&rsp->reply.sink, "OK");
}
