/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the reason and the location of a stop. */
#include "debug/debug_priv.h"

/* Prints the source line of the instruction at @pc. If the instruction has no source line, prints the disassembled
 * instruction. */
static void line(const struct dbg *dbg, uint64_t pc, struct lw_sink *out)
{
    struct dbg *session = (struct dbg *)(uintptr_t)dbg;
    const char *file, *text = NULL;
    unsigned number = 0;

    if (dbg_source_at(dbg, pc, &file, &number))
        text = dbg_source_line(session, file, number);
    if (text != NULL)
        lw_printf(out, "%u\t%s\n", number, text);
    else
        dbg_disassemble(dbg, pc, 1, false, out);
}

static void where(const struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out)
{
    struct dbg_thread thread;

    if (!dbg_thread_get(dbg, stop->thread, &thread))
        return;
    dbg_thread_name(dbg, &thread, out);
    lw_put(out, " at ");
    dbg_print_location(dbg, stop->pc, out);
    lw_put(out, "\n");
    line(dbg, stop->pc, out);
}

/* Prints the number of a breakpoint and the lanes that hit it. Prints nothing if @id is 0. */
static void put_breakpoint(const struct dbg *dbg, unsigned id, uint64_t lanes, struct lw_sink *out)
{
    if (id == 0)
        return;
    lw_printf(out, "breakpoint %u, lanes ", id);
    dbg_show_mask(dbg, lanes, out);
    lw_put(out, ": ");
}

void dbg_stop_print(const struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out)
{
    switch (stop->kind) {
    case DBG_STOP_NONE:
        if (dbg->ended)
            lw_put(out, "nothing is running: all launches have ended\n");
        return;
    case DBG_STOP_BREAKPOINT:
        if (stop->text[0] != '\0')
            lw_printf(out, "%s: ", stop->text);
        else
            put_breakpoint(dbg, stop->point, stop->hit_lanes, out);
        break;
    case DBG_STOP_STEP: break;
    case DBG_STOP_FAULT:
    case DBG_STOP_HANG: {
        struct lw_buffer why;

        lw_buffer_init(&why);
        if (stop->kind == DBG_STOP_FAULT)
            emu_fault_print(dbg->machine, &stop->fault, &why.sink);
        else
            emu_hang_print(&stop->hang, &why.sink);
        lw_put(&why.sink, "\n");
        lw_put_relative(out, lw_buffer_text(&why), NULL);
        lw_buffer_fini(&why);
        break;
    }
    case DBG_STOP_INTERRUPT: lw_put(out, "interrupted: "); break;
    case DBG_STOP_ENDED: lw_put(out, "all launches have ended\n"); return;
    case DBG_STOP_BLOCKED: lw_printf(out, "waiting: %s\n", stop->text); break;
    case DBG_STOP_FINDING:
        lw_printf(out, "%s\n", stop->text);
        /* Without recorded history the stop is after the instruction of the finding, so that instruction's line is
         * printed, too. */
        if (stop->writer_pc != 0 && stop->writer_pc != stop->pc)
            line(dbg, stop->writer_pc, out);
        put_breakpoint(dbg, stop->breakpoint, stop->breakpoint_lanes, out);
        break;
    case DBG_STOP_WATCH:
    case DBG_STOP_CATCH:
        lw_printf(out, "%s %u: %s\n",
                  stop->kind == DBG_STOP_WATCH ? "watchpoint" : "catchpoint", stop->point,
                  stop->text);
        put_breakpoint(dbg, stop->breakpoint, stop->breakpoint_lanes, out);
        break;
    case DBG_STOP_HISTORY_BEGIN:
        lw_printf(out, "this is the start of history%s%s\n", stop->text[0] != '\0' ? ": " : "",
                  stop->text);
        break;
    case DBG_STOP_HISTORY_END: lw_put(out, "the replay has reached the end of history\n"); break;
    }
    where(dbg, stop, out);
}
