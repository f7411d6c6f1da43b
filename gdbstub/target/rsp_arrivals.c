/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrivals at breakpoints, for lldb. lldb 19 assumes that each thread whose pc is at a breakpoint has hit the breakpoint.
 * Before it lets all threads continue, it removes the breakpoint and steps each of these threads over it, alone. The hit
 * of a warp that has not executed yet would be lost in this way. The stub therefore reports the pc of a breakpoint only after
 * the warp has hit the breakpoint. Until then it reports an adjacent address. A warp that waits for other warps at the
 * breakpoint cannot be stepped alone, and the other warps must not run before the step, because they would pass the removed
 * breakpoint. The stub therefore executes nothing for this step, and reports the warp as past the breakpoint.
 *
 * lldb evaluates the condition of a breakpoint itself, and only for the focus lane. The stub recognises a condition by lldb's
 * first query after the stop. If there is a condition, lldb first looks for unmapped addresses (qMemoryRegionInfo), which it
 * needs to evaluate the condition. If there is none, lldb first reads the arguments that it shows. For a breakpoint with a
 * condition, the stub therefore shows all lanes of all warps there, one lane at each resume, before anything runs. Lanes for
 * which the guard of the instruction is false are not shown.
 */
#include "gdbstub/rsp_priv.h"

static struct rsp_arrival *find(const struct rsp *rsp, const struct dbg_thread *thread)
{
    for (size_t i = 0; i < rsp->arrival_count; i++) {
        struct rsp_arrival *a = &rsp->arrivals[i];

        if (a->id == thread->id)
            return a->pc == thread->location.pc && a->retired == thread->retired ? a : NULL;
    }
    return NULL;
}

/* Drops the records of warps that have continued, because their next arrival at the breakpoint is a new hit. */
static void prune(struct rsp *rsp)
{
    size_t kept = 0;

    for (size_t i = 0; i < rsp->arrival_count; i++) {
        struct dbg_thread thread;

        if (dbg_thread_get(rsp->dbg, rsp->arrivals[i].id, &thread) &&
            find(rsp, &thread) == &rsp->arrivals[i])
            rsp->arrivals[kept++] = rsp->arrivals[i];
    }
    rsp->arrival_count = kept;
}

static struct rsp_arrival *add(struct rsp *rsp, const struct dbg_thread *thread)
{
    size_t at = 0;

    while (at < rsp->arrival_count && rsp->arrivals[at].id != thread->id)
        at++;
    if (at == rsp->arrival_count &&
        !lw_grow(&rsp->arrivals, &rsp->arrival_capacity, at + 1, sizeof *rsp->arrivals))
        return NULL;
    rsp->arrival_count += at == rsp->arrival_count;
    rsp->arrivals[at] = (struct rsp_arrival){
        .id = thread->id, .pc = thread->location.pc, .retired = thread->retired};
    return &rsp->arrivals[at];
}

bool rsp_arrivals_is_tested(const struct rsp *rsp, uint64_t pc)
{
    for (unsigned i = 0; i < LW_COUNT_OF(rsp->tested); i++)
        if (rsp->tested[i] == pc)
            return true;
    return false;
}

static bool every_lane(void *context, struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    (void)context;
    (void)dbg;
    (void)id;
    (void)lane;
    return true;
}

void rsp_arrivals_set_tested(const struct rsp *rsp, const struct rsp_point *point, bool on)
{
    if (point->code == NULL)
        (void)!dbg_stoppoint_set_condition(rsp->dbg, point->id, on ? every_lane : NULL, NULL, NULL, NULL); /* fails, harmlessly,
                                                                            * if `process plugin packet monitor` has removed it */
}

/* Records whether the breakpoint at @pc has a condition, as lldb's packets suggest. */
static void set_tested(struct rsp *rsp, uint64_t pc, bool on)
{
    const struct rsp_point *point = rsp_point_at(rsp, pc);

    if (point != NULL && on != rsp_arrivals_is_tested(rsp, pc))
        rsp_arrivals_set_tested(rsp, point, on);
    for (unsigned i = 0; i < LW_COUNT_OF(rsp->tested); i++)
        if (rsp->tested[i] == pc)
            rsp->tested[i] = 0;
    if (on)
        rsp->tested[rsp->tested_next++ % LW_COUNT_OF(rsp->tested)] = pc;
}

void rsp_arrivals_record(struct rsp *rsp, const struct dbg_stop *stop)
{
    struct dbg_thread thread;

    if (!rsp->lldb)
        return;
    prune(rsp);
    for (unsigned i = 0; dbg_thread_at(rsp->dbg, i, &thread); i++) {
        bool hits = stop->kind == DBG_STOP_BREAKPOINT && thread.id == stop->thread;
        bool tested = rsp_arrivals_is_tested(rsp, thread.location.pc);
        uint64_t lanes = thread.active;
        struct rsp_arrival *a;

        if (!thread.ready || thread.active == 0 || rsp_point_at(rsp, thread.location.pc) == NULL || (!hits && !tested) ||
            find(rsp, &thread) != NULL)
            continue;
        if (tested)
            lanes = dbg_executing_lanes(rsp->dbg, thread.id, thread.location.pc, lanes);
        /* The stub reports at this stop that the focus lane has hit the breakpoint. */
        if (lanes == 0 || ((lanes >> thread.lane & 1) == 0 && dbg_lane_set(rsp->dbg, thread.id, lw_lowest(lanes), NULL) != LW_OK))
            continue;
        a = add(rsp, &thread);
        if (a == NULL)
            continue; /* Without a record the stub shows the warp next to the breakpoint, and the warp hits it later. */
        a->stop = rsp->stop_number;
        a->first = thread.lane;
        a->moved = (lanes >> thread.lane & 1) == 0;
        a->lanes = lanes & ~(UINT64_C(1) << (a->moved ? lw_lowest(lanes) : thread.lane));
    }
}

void rsp_arrivals_report(struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;

    if (rsp->lldb && dbg_thread_get(rsp->dbg, id, &thread) && thread.ready &&
        find(rsp, &thread) == NULL)
        (void)add(rsp, &thread); /* without this record the stub would show the warp next to the breakpoint */
}

bool rsp_arrivals_lifted(const struct rsp *rsp, uint64_t pc)
{
    for (unsigned i = 0; i < rsp->lifted_count; i++)
        if (rsp->lifted[i].pc == pc)
            return true;
    return false;
}

bool rsp_arrivals_is_unset(const struct rsp *rsp, uint64_t pc)
{
    for (size_t i = 0; i < rsp->unset_count; i++)
        if (rsp->unset[i] == pc)
            return true;
    return false;
}

static void unset(struct rsp *rsp, uint64_t pc, bool away)
{
    size_t kept = 0;

    for (size_t i = 0; i < rsp->unset_count; i++)
        if (rsp->unset[i] != pc)
            rsp->unset[kept++] = rsp->unset[i];
    if (away && lw_grow(&rsp->unset, &rsp->unset_capacity, kept + 1, sizeof *rsp->unset))
        rsp->unset[kept++] = pc;
    rsp->unset_count = kept;
}

void rsp_arrivals_lift(struct rsp *rsp, uint64_t pc, bool away)
{
    bool known = rsp_arrivals_lifted(rsp, pc);
    unsigned kept = 0;

    if (!rsp->lldb) {
        unset(rsp, pc, away);
        return;
    }
    /* If lldb removed a breakpoint and inserts another one before any step, its user has deleted the first breakpoint. */
    for (unsigned i = 0; i < rsp->lifted_count; i++)
        if (rsp->lifted[i].pc != pc && (away || known || rsp->lifted[i].steps != 0))
            rsp->lifted[kept++] = rsp->lifted[i];
    rsp->lifted_count = kept;
    if (!away || kept == LW_COUNT_OF(rsp->lifted))
        return;
    rsp->lifted[kept].pc = pc;
    rsp->lifted[kept].steps = 0;
    rsp->lifted_count++;
}

/* Forgets removed breakpoints that lldb has not inserted again within 32 resumes, because its user must have deleted
 * them. */
static void lifts_end(struct rsp *rsp)
{
    enum { STEPS = 32 };
    unsigned kept = 0;

    for (unsigned i = 0; i < rsp->lifted_count; i++)
        if (rsp->lifted[i].steps++ < STEPS)
            rsp->lifted[kept++] = rsp->lifted[i];
    rsp->lifted_count = kept;
}

void rsp_arrivals_read(struct rsp *rsp, uint64_t address)
{
    enum { STACK_WINDOW = 0xF4 };

    if (rsp->after_stop == RSP_QUERY_NONE && address >> 56 != STACK_WINDOW &&
        (address < ISA_CODE_BASE || address >= 2 * ISA_CODE_BASE))
        rsp->after_stop = RSP_QUERY_DATA;
}

void rsp_arrivals_region(struct rsp *rsp)
{
    if (rsp->after_stop == RSP_QUERY_NONE)
        rsp->after_stop = RSP_QUERY_REGION;
}

void rsp_arrivals_resume(struct rsp *rsp)
{
    bool tested = rsp->after_stop == RSP_QUERY_REGION;

    for (size_t i = 0; i < rsp->arrival_count; i++) {
        struct rsp_arrival *a = &rsp->arrivals[i];

        if (a->stop != rsp->stop_number || a->stop == 0)
            continue;
        set_tested(rsp, a->pc, tested);
        if (!tested)
            a->lanes = 0; /* without a condition, one stop reports the hit of all lanes */
        else
            a->lanes = dbg_executing_lanes(rsp->dbg, a->id, a->pc, a->lanes);
    }
    rsp->after_stop = RSP_QUERY_NONE;
    rsp->stop_number++;
    lifts_end(rsp);
}

bool rsp_arrivals_hit(const struct rsp *rsp, const struct dbg_thread *thread)
{
    const struct rsp_arrival *a = rsp->lldb ? find(rsp, thread) : NULL;

    return a != NULL && a->stop == rsp->stop_number && !a->passed;
}

static bool is_taken(const struct rsp *rsp, uint64_t pc)
{
    return rsp_point_at(rsp, pc) != NULL || rsp_arrivals_lifted(rsp, pc);
}

/* Returns the first instruction address after @pc that has no breakpoint, or @pc if none of the next 64 is free. */
static uint64_t after(const struct rsp *rsp, uint64_t pc)
{
    enum { TRIES = 64 };

    for (unsigned i = 1; i <= TRIES; i++)
        if (!is_taken(rsp, pc + i * ISA_WORD_BYTES))
            return pc + i * ISA_WORD_BYTES;
    return pc;
}

/* Returns the address of an instruction near @pc that has no breakpoint: preferably the instruction before @pc. */
static uint64_t beside(const struct rsp *rsp, uint64_t pc)
{
    uint64_t shown = pc - ISA_WORD_BYTES;

    if (shown >= ISA_CODE_BASE && !is_taken(rsp, shown))
        return shown;
    return is_taken(rsp, pc) ? after(rsp, pc) : pc;
}

bool rsp_arrivals_is_inside(const struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;

    return !rsp->lldb && id != 0 && id == rsp->inside && dbg_thread_get(rsp->dbg, id, &thread) &&
           thread.location.pc == rsp->inside_pc && !thread.ready;
}

uint64_t rsp_arrivals_pc(const struct rsp *rsp, dbg_thread_id id, uint64_t pc)
{
    const struct rsp_arrival *a;
    struct dbg_thread thread;

    if (pc == rsp->inside_pc && rsp_arrivals_is_inside(rsp, id))
        return rsp->inside_shown;
    if (!rsp->lldb || !is_taken(rsp, pc) || !dbg_thread_get(rsp->dbg, id, &thread) ||
        thread.location.pc != pc)
        return pc;
    a = find(rsp, &thread);
    return thread.ready && a != NULL && !a->passed ? pc : beside(rsp, pc);
}

/* Makes the stub report the warp past its breakpoint. For lldb a step is complete when the pc has changed to an address without
 * a breakpoint. Returns false if the warp has not hit a breakpoint, or if no address without a breakpoint is near. */
static bool pass(struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;
    struct rsp_arrival *a = dbg_thread_get(rsp->dbg, id, &thread) ? find(rsp, &thread) : NULL;

    if (a != NULL)
        a->passed = beside(rsp, a->pc) != a->pc;
    return a != NULL && a->passed;
}

/* Makes the stub report all warps past their breakpoints, because lanes of some of these warps have not been shown yet.
 * Returns false if that is not possible for warp @id. */
static bool pass_all(struct rsp *rsp, dbg_thread_id id)
{
    bool passed = pass(rsp, id);

    for (size_t i = 0; i < rsp->arrival_count && passed; i++)
        (void)!pass(rsp, rsp->arrivals[i].id); /* if this fails, the stub reports the warp at its breakpoint, and lldb
                                                * steps it over the breakpoint alone */
    return passed;
}

static void make_step_stop(const struct dbg_thread *thread, struct dbg_stop *stop)
{
    *stop = (struct dbg_stop){
        .kind = DBG_STOP_STEP, .thread = thread->id, .lane = thread->lane, .pc = thread->location.pc};
}

bool rsp_arrivals_is_past(struct rsp *rsp, dbg_thread_id id, struct dbg_stop *stop)
{
    const struct rsp_arrival *a;
    struct dbg_thread thread;

    if (!dbg_thread_get(rsp->dbg, id, &thread))
        return false;
    a = find(rsp, &thread);
    if (thread.ready && (a == NULL || (!a->passed && (a->lanes == 0 || !pass_all(rsp, id)))))
        return false;
    make_step_stop(&thread, stop);
    return true;
}

/*
 * Steps a warp alone over a removed breakpoint. If the warp is blocked there, for example at a barrier, the stub reports
 * a completed step to an adjacent address. lldb then inserts the breakpoint again and lets the other warps run.
 */
enum lw_status rsp_arrivals_step_over(struct rsp *rsp, dbg_thread_id id, uint64_t pc,
                                      struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg_thread thread;
    enum lw_status status = dbg_step(rsp->dbg, id, true, stop, err);

    if (status != LW_OK || stop->kind != DBG_STOP_BLOCKED || !dbg_thread_get(rsp->dbg, id, &thread) ||
        rsp_arrivals_pc(rsp, id, thread.location.pc) == pc)
        return status;
    make_step_stop(&thread, stop);
    return LW_OK;
}

/*
 * Makes the stub report a blocked warp inside the instruction at which it waits, after gdb 13 has stepped the warp alone over a
 * breakpoint. gdb reports a hit of each breakpoint that is at the pc after its step. A warp that waits at a CTA barrier has the
 * pc of the next instruction, but has not reached it. If the stub reported this pc, gdb would report a hit there before the barrier
 * completes, or end `next` there. If the warp has not moved, gdb would report another hit at each command, or, at a breakpoint
 * with a false condition, repeat the step for ever. An address inside the instruction has no breakpoint and is on the same line.
 * gdb therefore resumes all warps, and the warp hits a breakpoint at its pc when it is released.
 */
void rsp_arrivals_stepped_alone(struct rsp *rsp, dbg_thread_id id, uint64_t pc, struct dbg_stop *stop)
{
    struct dbg_thread thread;

    if (rsp->lldb || stop->kind != DBG_STOP_BLOCKED || !rsp_arrivals_is_unset(rsp, pc) || !dbg_thread_get(rsp->dbg, id, &thread) ||
        (thread.location.pc != pc && !thread.waits_before))
        return;
    rsp->inside = id;
    rsp->inside_pc = thread.location.pc;
    rsp->inside_shown = thread.location.pc + ISA_WORD_BYTES / 2 - (thread.waits_before ? ISA_WORD_BYTES : 0);
    make_step_stop(&thread, stop);
}

void rsp_arrivals_drop(struct rsp *rsp, dbg_thread_id id)
{
    for (size_t i = 0; i < rsp->arrival_count;) {
        struct rsp_arrival *a = &rsp->arrivals[i];

        a->passed = a->passed && a->lanes == 0;
        if (a->id == id)
            *a = rsp->arrivals[--rsp->arrival_count];
        else
            i++;
    }
}

static bool ready(const struct rsp *rsp, dbg_thread_id id)
{
    struct dbg_thread thread;

    return dbg_thread_get(rsp->dbg, id, &thread) && thread.ready;
}

bool rsp_arrivals_next_lane(struct rsp *rsp, struct dbg_stop *stop)
{
    dbg_thread_id focus = dbg_focus_get(rsp->dbg, DBG_FOCUS_RUN);
    bool any = false;

    for (size_t i = 0; i < rsp->arrival_count; i++)
        if (rsp->arrivals[i].moved) /* returns the focus to the lane that had it before, unless that lane has exited */
            (void)!dbg_lane_set(rsp->dbg, rsp->arrivals[i].id, rsp->arrivals[i].first, NULL);
    prune(rsp);
    rsp->lifted_count = 0;
    for (size_t i = 0; i < rsp->arrival_count; i++) {
        struct rsp_arrival *a = &rsp->arrivals[i];
        const struct rsp_point *point = rsp_point_at(rsp, a->pc);
        unsigned lane;

        a->passed = a->passed && !ready(rsp, a->id);
        if (a->lanes == 0)
            continue;
        lane = lw_lowest(a->lanes);
        a->lanes &= a->lanes - 1;
        a->stop = rsp->stop_number;
        a->moved = true;
        if (point == NULL || dbg_lane_set(rsp->dbg, a->id, lane, NULL) != LW_OK) {
            a->lanes = 0; /* the client has removed the breakpoint, or the lane has exited */
            continue;
        }
        if (!any || a->id == focus)
            *stop = (struct dbg_stop){.kind = DBG_STOP_BREAKPOINT, .thread = a->id, .lane = lane, .pc = a->pc,
                                      .point = point->id, .hit_lanes = UINT64_C(1) << lane};
        any = true;
    }
    return any;
}

const struct rsp_point *rsp_point_at(const struct rsp *rsp, uint64_t pc)
{
    for (size_t i = 0; i < rsp->point_count; i++)
        if (rsp->points[i].type < RSP_Z_WATCH && rsp->points[i].address == pc)
            return &rsp->points[i];
    return NULL;
}
