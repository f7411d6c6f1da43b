/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fast reverse steps, which skip long visits of a line. A lane that spins has retired millions of instructions at which
 * a backward walk cannot end: instructions of the line to whose beginning the walk goes, or instructions that neither
 * call nor return. Only the other instructions get breakpoints. So history replays at nearly full speed to the last
 * instruction with a breakpoint that the lane retired, and the walk continues where the visit started. A reverse step
 * over a loop of a hundred million instructions takes 3 s. To inspect each instruction, at 2.5 million a second, would
 * take 40 s (docs/evidence/history.md).
 *
 * A lane that waits while other lanes of its warp spin has retired nothing. The lane cannot leave its pc without
 * executing the instruction there, so only that instruction gets a breakpoint.
 */
#include "debug/reverse/dbg_history_priv.h"

#include <assert.h>

/** Observer of a reverse search. */
struct loop_observer {
    struct emu_observer observer;
    struct dbg *dbg;
    const struct dbg_lane_trace *trace;
    const struct isa_line *row;
    uint64_t at; /* found: instruction count and pc of the event */
    bool found;
};

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
        return false; /* the walk to another line stops in the prologue of a function */
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

/* Records the lane's last instruction at which the walk may end. */
static bool on_last(struct emu_observer *observer, const struct emu_event *ev)
{
    struct loop_observer *l = (struct loop_observer *)(void *)observer;

    if (is_own(l, ev) && !is_inside(l->dbg, l->row, ev->pc)) {
        l->at = dbg_history_now(l->dbg) - 1;
        l->found = true;
    }
    return false;
}

/* Finds the visit's first instruction after that one, with a known line if the walk goes to a line. */
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
    trace->next_pc = 0; /* a visit without a line passes neither calls nor returns */
    return LW_OK;
}

/* ---- a lane that waits -------------------------------------------------------------------- */

/** Search of intervals of history in which a lane may have waited. */
struct wait {
    struct loop_observer loop_observer;
    struct dbg_watch_filter_search look;
    uint64_t pc;    /* pc at which the lane waits */
    uint64_t moved; /* instruction count after the lane last left that pc, in the interval searched last */
    uint64_t looked;
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

/* Gets the lane's pc at a count; *@there is false if the lane does not exist then. */
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

/* Sets *@yes if the lane has retired nothing from @low up to @high and waits at wait->pc. */
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
    /* An edited pc can change without the instruction at it being executed. */
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
    /* The lane moved in [low, high): bisect to the part in which it moved last. */
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
