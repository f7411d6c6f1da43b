/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that read and write files of this host; gdb's `monitor` does not have them. */
#include "shell/shell_priv.h"

#include <stdlib.h>

enum { MAX_FILE_BYTES = 1 << 30 };

/* Evaluates an address. Sets *@left to the number of bytes from there to the end of the allocation, or to 0 if the address
 * is in none. */
static enum lw_status address_parse(struct shell *shell, const char *text, uint64_t *address,
                                  uint64_t *left, struct lw_error *err)
{
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    struct emu_allocation allocation;
    struct dbg_value value;
    bool inside;
    enum lw_status status =
        dbg_eval(shell->dbg, id, dbg_lane_get(shell->dbg, id), text, &value, err);

    if (status != LW_OK)
        return status;
    if (value.type == DBG_F32 || value.type == DBG_F64)
        return LW_FAIL(err, LW_EUSAGE, "the address is a floating-point value: an address must be an integer");
    *address = value.bits;
    *left = 0;
    if (emu_allocation_at(dbg_machine(shell->dbg), value.bits, &allocation, &inside) && inside)
        *left = allocation.address + allocation.size_bytes - value.bits;
    return LW_OK;
}

static enum lw_status do_dump(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    struct dbg_value value;
    uint64_t address, size;
    enum lw_status status;
    char *data;

    if (call->argc != 3 && call->argc != 4)
        return LW_FAIL(err, LW_EUSAGE, "dump takes a file, an address and a size in bytes, as in "
                                       "`dump y.bin y 64`");
    status = address_parse(shell, call->argv[2], &address, &size, err);
    if (status == LW_OK && call->argc == 4) {
        status = dbg_eval(shell->dbg, id, dbg_lane_get(shell->dbg, id), call->argv[3], &value, err);
        size = value.bits;
    } else if (status == LW_OK && size == 0) {
        status = LW_FAIL(err, LW_EUSAGE, "give a size in bytes: 0x%llx is not inside an allocation",
                         (unsigned long long)address);
    }
    if (status == LW_OK && (size == 0 || size > MAX_FILE_BYTES))
        status = LW_FAIL(err, LW_ERANGE, "the size must be from 1 to %d bytes", MAX_FILE_BYTES);
    if (status != LW_OK)
        return status;
    data = malloc(size);
    if (data == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %llu bytes", (unsigned long long)size);
    uint64_t done = dbg_mem_read(shell->dbg, id, address, data, size);
    if (done != size)
        status = LW_FAIL(err, LW_ERANGE, "cannot read memory at 0x%llx: the focus lane has no memory there",
                         (unsigned long long)(address + done));
    else
        status = lw_file_write(call->argv[1], data, size, err);
    free(data);
    if (status == LW_OK)
        lw_printf(call->out, "%llu byte%s at 0x%llx %s written to file %s\n", (unsigned long long)size, size == 1 ? "" : "s",
                  (unsigned long long)address, size == 1 ? "was" : "were", call->argv[1]);
    return status;
}

static enum lw_status do_load(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    dbg_thread_id id = dbg_focus_get(shell->dbg, DBG_FOCUS_VIEW);
    uint64_t address, left, done;
    enum lw_status status;
    size_t size;
    char *data;

    if (call->argc != 3)
        return LW_FAIL(err, LW_EUSAGE, "load takes a file and an address, as in `load y.bin y`");
    status = address_parse(shell, call->argv[2], &address, &left, err);
    if (status == LW_OK)
        status = lw_file_read(call->argv[1], &data, &size, err);
    if (status != LW_OK)
        return status;
    if (left != 0 && size > left) {
        status = LW_FAIL(err, LW_ERANGE, "file %s has %zu byte%s, but the allocation has only %llu from that address on",
                         call->argv[1], size, size == 1 ? "" : "s", (unsigned long long)left);
    } else {
        done = size != 0 ? dbg_mem_write(shell->dbg, id, address, data, size) : 0;
        if (done != size)
            status = LW_FAIL(err, LW_ERANGE, "cannot write memory at 0x%llx: only %llu of %zu bytes were written",
                             (unsigned long long)(address + done),
                             (unsigned long long)done, size);
    }
    free(data);
    if (status == LW_OK)
        lw_printf(call->out, "%zu byte%s of file %s %s written to memory at 0x%llx\n", size, size == 1 ? "" : "s", call->argv[1],
                  size == 1 ? "was" : "were",
                  (unsigned long long)address);
    return status;
}

static enum lw_status do_save(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    enum lw_status status;

    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "save takes the name of a file");
    if (shell->config->save == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "this session cannot save or restore checkpoints");
    status = shell->config->save(shell->config->context, call->argv[1], err);
    if (status == LW_OK)
        lw_printf(call->out, "the state was saved to %s: `restore %s` returns to it\n", call->argv[1], call->argv[1]);
    return status;
}

/* Copies the breakpoints and catchpoints that the shell has set to another debugger. The other debugger runs the same program,
 * so the addresses are valid for it, too. */
static void move_points(struct dbg *from, struct dbg *to, struct lw_sink *out)
{
    struct dbg_stoppoint point;
    unsigned lost = 0;

    for (unsigned i = 0; dbg_stoppoint_at(from, i, &point); i++) {
        unsigned id;
        struct lw_error err;
        enum lw_status status = LW_OK;

        if (point.owner != DBG_OWNER_SHELL)
            continue;
        if (point.kind == DBG_STOPPOINT_BREAK)
            status = dbg_breakpoint_add(to, DBG_OWNER_SHELL, point.pc, point.condition,
                                   point.temporary, &id, &err);
        else if (point.kind == DBG_STOPPOINT_CATCH)
            status = dbg_catch_add(to, DBG_OWNER_SHELL, point.catches, point.condition,
                                   point.temporary, &id, &err);
        else
            status = LW_ERANGE; /* watchpoints are not copied, because the watched memory may not exist in the restored state */
        if (status == LW_OK && !point.enabled)
            status = dbg_stoppoint_enable(to, id, false, &err);
        if (status == LW_OK && point.ignore != 0)
            status = dbg_stoppoint_ignore(to, id, point.ignore, &err);
        lost += status != LW_OK;
    }
    if (lost != 0)
        lw_printf(out, "%u watchpoint%s could not be restored: set %s again\n", lost,
                  lost == 1 ? "" : "s", lost == 1 ? "it" : "them");
}

static enum lw_status do_restore(const struct lw_call *call, struct lw_error *err)
{
    struct shell *shell = call->context;
    struct dbg *next;
    enum lw_status status;

    if (call->argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "restore takes the name of a file that `save` or --checkpoint wrote");
    if (shell->config->restore == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "this session cannot save or restore checkpoints");
    status = shell->config->restore(shell->config->context, call->argv[1], &next, err);
    if (status != LW_OK)
        return status;
    move_points(shell->dbg, next, call->out);
    sh_dbg_set(shell, next);
    shell->config->restored(shell->config->context);
    return lw_command_run(&shell->set, "focus", call->out, err);
}

/* clang-format off */
static const struct lw_command rows[] = {
    /* name      abbrev.  operands                   summary                                                          example */
    {"dump",     "du",   "<file> <address> [bytes]", "Write memory to a file; without a size, up to the end of the allocation", "dump memory.bin 0x200000000000 64", do_dump, 0},
    {"load",     "loa",  "<file> <address>",        "Copy the bytes of a file to memory",                            "load memory.bin 0x200000000000", do_load, LW_COMMAND_CHANGES},
    {"save",     "sav",  "<file>",                  "Write a checkpoint, the whole state of the machine, to a file",           "save state.lwc", do_save, 0},
    {"restore",  "rest", "<file>",                  "Return to the state in a checkpoint file; breakpoints and catchpoints are kept, watchpoints are removed",              "restore state.lwc", do_restore, LW_COMMAND_CHANGES},
};
/* clang-format on */
const struct lw_command_table sh_file_commands = {rows, LW_COUNT_OF(rows), NULL};
