/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast reverse steps, which skip long visits. A visit is a series of instructions of a lane at which a reverse step cannot end.
 * For a step to the beginning of a line, these are the instructions of that line. For a step out of a function, they are
 * instructions that neither call nor return. A lane that spins has retired millions of such instructions. To skip a visit, only
 * instructions outside of the visit get breakpoints, and history is replayed at nearly full speed. The last instruction of the
 * lane at a breakpoint is the one before the visit, so the step continues at the first instruction of the visit. A reverse step
 * over a loop of a hundred million instructions takes 3 s. To inspect each instruction, at 2.5 million a second, would take
 * 40 s (docs/evidence/history.md).
 *
 * A lane that waits while other lanes of its warp spin has retired nothing. Such a lane cannot leave its pc without executing
 * the instruction there. To find the time at which the lane arrived, only that instruction gets a breakpoint.
 */
#include "debug/reverse/dbg_history_priv.h"

#include <assert.h>

/** Observer that finds the beginning of a visit or of a wait. */
struct loop_observer {
    struct emu_observer observer;
    struct dbg *dbg;
    const struct dbg_lane_trace *trace; /* instruction trace of the lane */
    const struct isa_line *row; /* the line whose visit is skipped; NULL: the visit has no call and no return */
    uint64_t at; /* instruction count of the event that was found; while on_first() searches, of the next event */
    bool found;
};

/* Returns true if the instruction at @pc belongs to a visit, see dbg_reverse_skip_contains(). */
static bool is_inside(const struct dbg *dbg, const struct isa_line *row, uint64_t pc)
{
    const struct emu_program *program = emu_machine_program_at(dbg->machine, pc);
    const struct isa_insn *insn = program != NULL ? emu_program_insn(program, pc) : NULL;
    const struct isa_function *function;
    const struct isa_line *own;
    bool start;

    if (insn == NULL || insn->op == ISA_RET ||
        (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL) || dbg_breakpoint_inserted(dbg, pc))
        return false;
    if (row == NULL)
        return true;
    function = dbg_function_at(dbg, pc);
    if (function != NULL && !function->kernel && pc < dbg_function_body(dbg, function))
        return false; /* a reverse step by line can end when the lane is in a prologue (line_passed) */
    return !dbg_row_at(dbg, pc, &own, &start) || (own->line == row->line && own->file == row->file);
}

static bool is_outside(const void *context, uint64_t pc)
{
    const struct loop_observer *l = context;

    return !is_inside(l->dbg, l->row, pc);
}

static bool is_own(const struct loop_observer *l, const struct emu_event *ev)
{
    return ev->kind == EMU_EV_RETIRED && (ev->split_lanes >> l->trace->lane_ref.lane & 1) != 0 &&
           dbg_event_thread(ev) == l->trace->lane_ref.id;
}

/* Records the lane's last instruction that is not in a visit. Returns false, so that the replay continues. */
static bool on_last(struct emu_observer *observer, const struct emu_event *ev)
{
    struct loop_observer *l = (struct loop_observer *)(void *)observer;

    if (is_own(l, ev) && !is_inside(l->dbg, l->row, ev->pc)) {
        l->at = dbg_history_now(l->dbg) - 1;
        l->found = true;
    }
    return false;
}

/* Counts instructions up to the first instruction of the visit, which is the lane's next one. For a step to the
 * beginning of a line, it is the lane's next instruction that has a source line. Returns true at that instruction,
 * which ends the replay. */
static bool on_first(struct emu_observer *observer, const struct emu_event *ev)
{
    struct loop_observer *l = (struct loop_observer *)(void *)observer;
    const struct isa_line *row;
    bool start;

    if (ev->kind != EMU_EV_RETIRED)
        return false;
    if (is_own(l, ev) && (l->row == NULL || dbg_row_at(l->dbg, ev->pc, &row, &start))) {
        l->found = true;
        return true;
    }
    l->at++;
    return false;
}

bool dbg_reverse_skip_contains(const struct dbg *dbg, const struct isa_line *row, uint64_t pc)
{
    return is_inside(dbg, row, pc);
}

enum lw_status dbg_reverse_skip(struct dbg_lane_trace *trace, const struct isa_line *row,
                             struct lw_error *err)
{
    struct dbg *dbg = trace->dbg;
    struct loop_observer l = {.observer = {.on_event = on_last}, .dbg = dbg, .trace = trace, .row = row};
    struct dbg_watch_filter_search look = {.wanted = is_outside, .context = &l};
    uint64_t before = trace->search.low;
    enum lw_status status;

    assert(trace->count == 0);
    if (!dbg_watch_ready(dbg))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the search back in history");
    status = dbg_search_back(dbg, before, trace->lane_ref.id, &l.observer, &l.found, &look,
                           &trace->search.interrupted, err);
    if (status != LW_OK || trace->search.interrupted)
        return status;
    l.at = l.found ? l.at + 1 : dbg_history_earliest(dbg);
    l.found = false;
    l.observer.on_event = on_first;
    dbg->looks_back = true;
    status = emu_history_walk(dbg->history, l.at, before, &l.observer, err);
    dbg->looks_back = false;
    if (status != LW_OK || !l.found)
        return status;
    trace->search.low = l.at + 1;
    trace->search.size = DBG_FIRST_WINDOW;
    trace->search.idle = false;
    trace->next_pc = 0; /* not known: the first instruction of a visit is neither a call nor a return */
    return LW_OK;
}

/* ---- a lane that waits -------------------------------------------------------------------- */

/** State of the search for the instruction count at which a lane began to wait. */
struct wait {
    struct loop_observer loop_observer;
    struct dbg_watch_filter_search look;
    uint64_t pc;    /* pc at which the lane waits */
    uint64_t moved; /* instruction count after the lane's last instruction at that pc in the interval that was searched
                     * last; the start of the interval if there is none */
    uint64_t looked; /* number of instructions processed so far */
};

static bool is_wait_pc(const void *context, uint64_t pc)
{
    const struct wait *wait = context;

    return pc == wait->pc;
}

static bool on_leave(struct emu_observer *observer, const struct emu_event *ev)
{
    struct loop_observer *l = (struct loop_observer *)(void *)observer;

    if (is_own(l, ev)) {
        l->at = dbg_history_now(l->dbg);
        l->found = true;
    }
    return false;
}

/* Gets the lane's pc at instruction count @at. *@there is set to false if the lane is not resident at that count. */
static enum lw_status lane_pc(const struct dbg_lane_trace *trace, uint64_t at, uint64_t *pc,
                              bool *there, struct lw_error *err)
{
    struct emu_split_view split;
    struct dbg_warp warp;
    enum lw_status status = dbg_history_move(trace->dbg, at, err);

    *there = status == LW_OK && dbg_lane_locate(trace->dbg, trace->lane_ref.id, trace->lane_ref.lane, &warp, &split);
    *pc = *there ? split.pc : 0;
    return status;
}

/* Sets *@yes to true if the lane is at wait->pc at count @low and has retired nothing in the interval [@low, @high). */
static enum lw_status stood(struct dbg_lane_trace *trace, struct wait *wait, uint64_t low, uint64_t high,
                            bool *yes, struct lw_error *err)
{
    struct loop_observer *l = &wait->loop_observer;
    uint64_t pc;
    enum lw_status status = lane_pc(trace, low, &pc, yes, err);

    wait->moved = low;
    *yes = *yes && pc == wait->pc;
    if (status != LW_OK || !*yes)
        return status;
    l->found = false;
    status = dbg_search_between(trace->dbg, low, high, &l->observer, &wait->look,
                              &trace->search.interrupted, err);
    if (l->found)
        wait->moved = l->at;
    *yes = !l->found;
    trace->skip_disabled = trace->skip_disabled || wait->look.dense;
    if (status == LW_OK && !trace->search.interrupted)
        dbg_looked_at(trace->dbg, high - low, low, !wait->look.dense, &wait->looked);
    return status;
}

enum lw_status dbg_reverse_skip_wait(struct dbg_lane_trace *trace, struct lw_error *err)
{
    enum { GROWS = 16 };
    struct dbg_search *s = &trace->search;
    struct wait wait = {.loop_observer = {.observer = {.on_event = on_leave}, .dbg = trace->dbg, .trace = trace}};
    uint64_t low, high = s->low, size = DBG_LARGEST_WINDOW, earliest = dbg_history_earliest(trace->dbg);
    bool yes, all = false;
    enum lw_status status;

    wait.look = (struct dbg_watch_filter_search){.wanted = is_wait_pc, .context = &wait};
    /* If the user has edited a pc, a lane may have left its pc without executing the instruction there. */
    if (trace->skip_disabled || dbg_pc_edited(trace->dbg) || !dbg_watch_ready(trace->dbg))
        return LW_OK;
    status = lane_pc(trace, high, &wait.pc, &yes, err);
    if (status != LW_OK || !yes)
        return status;
    for (low = high; status == LW_OK && low > earliest && !all && !s->interrupted;) {
        low = high - earliest > size ? high - size : earliest;
        size = size < DBG_LARGEST_FAST_WINDOW ? size * GROWS : size;
        status = stood(trace, &wait, low, high, &yes, err);
        if (status == LW_OK && yes && !s->interrupted)
            high = low;
        all = !yes;
    }
    /* The lane has left its pc in the interval [low, high). Bisects the interval to find when the lane last left its pc. */
    low = wait.moved;
    while (status == LW_OK && all && high - low > DBG_FIRST_WINDOW && !s->interrupted && !trace->skip_disabled) {
        uint64_t middle = low + (high - low) / 2;

        status = stood(trace, &wait, middle, high, &yes, err);
        if (yes)
            high = middle;
        else
            low = wait.moved;
    }
    if (status == LW_OK && !s->interrupted && high < s->low) {
        s->low = high;
        s->size = DBG_FIRST_WINDOW;
        s->idle = false;
    }
    return status;
}
