/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes one instruction of a lane (MACHINE 9): the lane's split runs alone until the lane has retired one instruction.
 * Other splits and warps run only while the lane waits for them.
 */
#include "debug/run/dbg_run_priv.h"

#include <stdio.h>

/* In a rotation, each split of a warp, or each warp, runs for one time slice. OWN_SLICES: number of rotations in which
 * only the lane's own warp runs while the lane waits. After these rotations other warps run, too. */
enum { OWN_SLICES = 4096 };

static bool stepper_where(const struct dbg_stepper *s, struct emu_split_view *out)
{
    return emu_lane_where(DBG_AT(&s->warp), s->lane, out);
}

static void stepper_thread(const struct dbg_stepper *s, const struct emu_split_view *split,
                          struct emu_thread_ref *out)
{
    out->grid = s->warp.grid->sequence;
    out->block = s->warp.block;
    out->warp = s->warp.warp;
    out->split = split->id;
    out->lanes = split->lanes;
    out->pc = split->pc;
}

/* Formats what the stepped lane waits for, with the lanes or warps that have not arrived at its barrier. */
static void wait_reason(const struct dbg_stepper *s, const struct emu_split_view *split,
                        char *text, size_t size)
{
    static const char *const reasons[] = {
        [EMU_SPLIT_READY] = "waits for its time slice",
        [EMU_SPLIT_WARPSYNC] = "waits at warpsync for other lanes of its warp",
        [EMU_SPLIT_SLEEPING] = "sleeps (nanosleep) until other warps have run",
        [EMU_SPLIT_SUSPENDED] = "waits for the other lanes of its split, which a step has divided",
        [EMU_SPLIT_YIELDED] = "yielded to other splits of its warp",
        [EMU_SPLIT_LAUNCH] = "waits for kernels that its block launched",
        [EMU_SPLIT_STACKED] = "waits to reconverge with other lanes of its warp",
    };
    struct emu_block_view block;
    uint64_t group, there = 0;
    struct emu_split_view splits[EMU_MAX_LANES];
    unsigned count, used;

    switch (split->state) {
    case EMU_SPLIT_BLOCKED:
        group = emu_barrier_group(DBG_AT(&s->warp), split->barrier, s->lane, NULL);
        count = emu_split_views(DBG_AT(&s->warp), splits, EMU_MAX_LANES);
        for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++)
            if (splits[i].state == EMU_SPLIT_BLOCKED && splits[i].barrier == split->barrier)
                there |= splits[i].lanes;
        snprintf(text, size, "lane %u waits at convergence barrier b%u for lanes 0x%llx",
                 s->lane, split->barrier, (unsigned long long)(group & ~there));
        return;
    case EMU_SPLIT_CTA:
        used = (unsigned)snprintf(text, size, "lane %u waits at CTA barrier %u for warps",
                                  s->lane, split->barrier);
        if (!emu_block_view(s->warp.core, s->warp.slot, &block))
            return;
        for (unsigned w = 0; w < block.warp_count && used + 12 < size; w++) {
            uint64_t missing = 0;

            count = emu_split_views(s->warp.core, s->warp.slot, w, splits, EMU_MAX_LANES);
            for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++)
                if (splits[i].state != EMU_SPLIT_CTA || splits[i].barrier != split->barrier)
                    missing |= splits[i].lanes;
            if (missing != 0)
                used += (unsigned)snprintf(text + used, size - used, " %u", w);
        }
        return;
    default:
        snprintf(text, size, "lane %u %s", s->lane, reasons[split->state]);
    }
}

static void stop_waits(struct dbg_stepper *s, const struct emu_split_view *split,
                       const char *suffix, struct dbg_stop *stop)
{
    char reason[400];

    wait_reason(s, split, reason, sizeof reason);
    dbg_stop_on(s->dbg, stop, DBG_STOP_BLOCKED, s->id, s->lane);
    snprintf(stop->text, sizeof stop->text, "%s%s", reason, suffix);
}

/* Appends to the stop's text that the block makes no progress. The lack of progress is not reported as a hang: only this block
 * ran, and another block might end the wait. */
static void add_no_progress(struct dbg_stop *stop)
{
    size_t used = strlen(stop->text);

    snprintf(stop->text + used, sizeof stop->text - used,
             ": the warps of this block repeat the same states and make no progress; `continue` also runs other "
             "blocks, which may change that");
}

/** Observer that stops the engine when the waiting lane can run. Without it, the lane would run on during the engine's
 *  rotation and execute more than one instruction. */
struct release_watch {
    struct emu_observer observer;
    const struct dbg_stepper *stepper;
    bool fired;
};

static bool on_release(struct emu_observer *observer, const struct emu_event *ev)
{
    struct release_watch *watch = (struct release_watch *)(void *)observer;
    struct emu_split_view split;

    (void)ev;
    watch->fired = !stepper_where(watch->stepper, &split) || split.state == EMU_SPLIT_READY;
    return watch->fired;
}

/* Lets the engine run all warps in rotation while the stepped lane waits at a barrier, until an instruction of another lane
 * releases it. */
static enum lw_status others_by_engine(struct dbg_stepper *s,
                                       const struct emu_split_view *split,
                                       struct dbg_stop *stop, struct lw_error *err)
{
    struct release_watch watch = {.observer = {.on_event = on_release}, .stepper = s};
    struct emu_stop es = {0};
    struct emu_thread_ref location;
    enum lw_status status;

    stepper_thread(s, split, &location);
    emu_observer_add(s->dbg->engine, &watch.observer);
    status = s->dbg->engine->ops->run_other_warps(s->dbg->engine, &location, &es, err);
    emu_observer_remove(s->dbg->engine, &watch.observer);
    if (status != LW_OK || es.kind == EMU_STOP_IDLE ||
        (es.kind == EMU_STOP_OBSERVER && watch.fired && !dbg_watch_pending(s->dbg)))
        return status;
    if (es.kind == EMU_STOP_BLOCKED) {
        stop_waits(s, split, "", stop);
        add_no_progress(stop);
        return LW_OK;
    }
    return dbg_engine_stop(s->dbg, &es, stop, err);
}

static uint64_t warp_retired(const struct dbg_stepper *s, unsigned warp)
{
    struct emu_warp_view view;

    return emu_warp_view(s->warp.core, s->warp.slot, warp, &view) ? view.retired : 0;
}

/* Prints the location of a warp's first split. */
static void put_warp(const struct dbg_stepper *s, unsigned warp, struct lw_sink *out)
{
    struct emu_split_view split;

    lw_printf(out, "w%u ", warp);
    if (emu_split_views(s->warp.core, s->warp.slot, warp, &split, 1) == 0) {
        lw_put(out, "has ended");
        return;
    }
    lw_put(out, "is at ");
    dbg_print_location(s->dbg, split.pc, out);
}

void dbg_stepper_report(const struct dbg_stepper *s)
{
    enum { NAMED = 4 };
    struct emu_block_view block;
    struct lw_buffer text;
    unsigned moved = 0;

    if (s->others == 0)
        return;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "the step was replayed as recorded: other lanes and warps executed %llu instruction%s",
              (unsigned long long)s->others, s->others == 1 ? "" : "s");
    if (emu_block_view(s->warp.core, s->warp.slot, &block) && block.block == s->warp.block) {
        if (warp_retired(s, s->warp.warp) - s->was[s->warp.warp] > s->own)
            lw_put(&text.sink, "; other lanes of this warp ran");
        for (unsigned w = 0; w < block.warp_count && w < DBG_BLOCK_WARPS; w++)
            if (w != s->warp.warp && warp_retired(s, w) != s->was[w] && moved++ < NAMED) {
                lw_put(&text.sink, "; ");
                put_warp(s, w, &text.sink);
            }
        if (moved > NAMED)
            lw_printf(&text.sink, "; %u more warp%s ran", moved - NAMED, moved - NAMED == 1 ? "" : "s");
    }
    dbg_message(s->dbg, "%s", text.text != NULL ? text.text : "the step was replayed as recorded: other lanes and warps ran");
    lw_buffer_fini(&text);
}

/* Executes one step of a split in the engine. In the past the engine replays the recorded order, so it may run other
 * warps before this step. Counts the instructions before this step in s->others. */
static enum lw_status step_by_engine(struct dbg_stepper *s, const struct emu_thread_ref *location,
                                     struct emu_event *ev, struct emu_stop *es,
                                     struct lw_error *err)
{
    struct emu_engine *engine = s->dbg->engine;
    uint64_t ran = engine->ops->instructions(engine);
    enum lw_status status = engine->ops->step_warp(engine, location, ev, es, err);

    ran = engine->ops->instructions(engine) - ran;
    if (status == LW_OK && (es->kind == EMU_STOP_NONE || es->kind == EMU_STOP_STEPPED) && ran != 0) {
        ran--;
        s->own += location->warp == s->warp.warp;
    }
    s->others += ran;
    return status;
}

/* Executes one step of a split that is not the stepped lane's. *@ran is set to true if the split executed an instruction.
 * Makes the stop for a hit, a fault or a hang. */
static enum lw_status step_other(struct dbg_stepper *s, unsigned warp,
                                 const struct emu_split_view *split, bool *ran,
                                 struct dbg_stop *stop, struct lw_error *err)
{
    struct dbg *dbg = s->dbg;
    struct emu_stop es = {0};
    struct emu_thread_ref location;
    struct emu_event ev;
    struct emu_warp_view view;
    dbg_thread_id id;
    enum lw_status status;

    stepper_thread(s, split, &location);
    location.warp = warp;
    id = dbg_thread_id_of(dbg, location.grid, location.block, warp);
    if (dbg_breakpoint_inserted(dbg, split->pc) &&
        emu_warp_view(s->warp.core, s->warp.slot, warp, &view) &&
        dbg_arrived(dbg, id, split->pc, split->lanes & view.exec, stop))
        return LW_OK;
    status = step_by_engine(s, &location, &ev, &es, err);
    *ran = status == LW_OK && es.kind != EMU_STOP_BLOCKED;
    if (*ran)
        dbg_reported_lanes_moved(dbg, id, split->lanes);
    if (status == LW_OK && (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG ||
                            dbg_watch_pending(dbg)))
        return dbg_engine_stop(dbg, &es, stop, err);
    return status;
}

/* Chooses the split of a warp that runs next while the stepped lane waits. In the lane's own warp this is a split without
 * the lane; in any other warp, the one that the warp itself selects. Returns false if no split can run. */
static bool pick_other(const struct dbg_stepper *s, unsigned warp, struct emu_split_view *out)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    bool own = warp == s->warp.warp, found = false;
    int chosen = own ? -1 : emu_warp_select(s->warp.core, s->warp.slot, warp);
    unsigned count = emu_split_views(s->warp.core, s->warp.slot, warp, splits, EMU_MAX_LANES);

    for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++) {
        if (!own && (int)splits[i].id == chosen) {
            *out = splits[i];
            return true;
        }
        if (!own || (splits[i].lanes >> s->lane & 1) != 0)
            continue;
        /* Prefers a ready split to a split that has yielded. */
        if (splits[i].state == EMU_SPLIT_READY ||
            (splits[i].state == EMU_SPLIT_YIELDED && !found)) {
            *out = splits[i];
            found = true;
            if (splits[i].state == EMU_SPLIT_READY)
                return true;
        }
    }
    return found;
}

/* Runs the other splits and warps of the block for one rotation while the stepped lane has yielded or sleeps. The engine's
 * own selection could choose the lane's split, so this function steps the other splits itself, each warp for its
 * quantum. */
static enum lw_status others_by_steps(struct dbg_stepper *s, struct dbg_stop *stop,
                                      struct lw_error *err)
{
    unsigned quantum = emu_machine_config(s->dbg->machine)->warp_quantum;
    struct emu_block_view block;
    enum lw_status status = LW_OK;

    if (!emu_block_view(s->warp.core, s->warp.slot, &block))
        return LW_OK;
    for (unsigned i = 1; i <= block.warp_count; i++) {
        unsigned warp = (s->warp.warp + i) % block.warp_count;
        struct emu_split_view split = {0};

        for (unsigned n = 0; n < quantum && pick_other(s, warp, &split); n++) {
            bool ran = false;

            status = step_other(s, warp, &split, &ran, stop, err);
            if (status != LW_OK || stop->kind != DBG_STOP_NONE)
                return status;
            if (!ran)
                break;
        }
    }
    return status;
}

/* Runs the split that contains @lane, in the stepped lane's warp, for up to a quantum or until the stepped lane is ready.
 * Adds the lanes of that split to *@lanes. *@gives is set to true if the split waits for other warps, or may do so. */
static enum lw_status slice_of_split(struct dbg_stepper *s, unsigned lane, uint64_t *lanes,
                                    bool *gives, struct dbg_stop *stop, struct lw_error *err)
{
    unsigned quantum = emu_machine_config(s->dbg->machine)->warp_quantum;
    enum lw_status status = LW_OK;

    for (unsigned n = 0; n < quantum; n++) {
        struct emu_split_view split, own;
        bool ran = false;

        if (!emu_lane_where(DBG_AT(&s->warp), lane, &split) ||
            !stepper_where(s, &own) || own.state == EMU_SPLIT_READY)
            return LW_OK;
        *lanes |= split.lanes;
        if (split.state != EMU_SPLIT_READY) {
            *gives = *gives || split.state == EMU_SPLIT_CTA || split.state == EMU_SPLIT_YIELDED ||
                     split.state == EMU_SPLIT_SLEEPING || split.state == EMU_SPLIT_LAUNCH;
            if (split.state != EMU_SPLIT_YIELDED || n != 0)
                return LW_OK;
        }
        status = step_other(s, s->warp.warp, &split, &ran, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE || !ran)
            return status;
    }
    return status;
}

/* Runs each other split of the stepped lane's warp for one time slice, while the lane waits for lanes of this warp.
 * *@alone is set to true if these splits make progress without other warps, and to false if one of them waits for other
 * warps or may do so. */
static enum lw_status own_splits(struct dbg_stepper *s, bool *alone, struct dbg_stop *stop,
                                 struct lw_error *err)
{
    uint64_t before = s->dbg->engine->ops->instructions(s->dbg->engine);
    uint64_t seen = UINT64_C(1) << s->lane;
    struct emu_split_view splits[EMU_MAX_LANES];
    enum lw_status status = LW_OK;
    bool gives = false, more = s->own_slices++ < OWN_SLICES;

    *alone = false;
    while (more) {
        unsigned count = emu_split_views(DBG_AT(&s->warp), splits, EMU_MAX_LANES);

        more = false;
        for (unsigned i = 0; i < count && i < EMU_MAX_LANES && !more; i++)
            if ((splits[i].lanes & seen) == 0 && splits[i].state != EMU_SPLIT_SUSPENDED) {
                seen |= splits[i].lanes;
                status = slice_of_split(s, lw_lowest(splits[i].lanes), &seen, &gives, stop, err);
                if (status != LW_OK || stop->kind != DBG_STOP_NONE)
                    return status;
                more = true;
            }
    }
    *alone = !gives && s->dbg->engine->ops->instructions(s->dbg->engine) != before;
    return LW_OK;
}

/* Runs the other splits and warps for one rotation while the stepped lane waits. In each step command, the first call that
 * executes instructions prints a message. */
static enum lw_status let_others_run(struct dbg_stepper *s, const struct emu_split_view *split,
                                     struct dbg_stop *stop, struct lw_error *err)
{
    uint64_t before = s->dbg->engine->ops->instructions(s->dbg->engine);
    uint64_t others = s->others;
    char reason[400];
    enum lw_status status;

    /* Other warps may now leave a pc and return. A reported lane is therefore kept only if a breakpoint is at its pc. */
    dbg_reported_lanes_prune(s->dbg);
    wait_reason(s, split, reason, sizeof reason);
    if (split->state == EMU_SPLIT_BLOCKED || split->state == EMU_SPLIT_CTA ||
        split->state == EMU_SPLIT_WARPSYNC || split->state == EMU_SPLIT_LAUNCH) {
        struct emu_split_view now;
        bool alone = false;

        status = LW_OK;
        if (split->state == EMU_SPLIT_BLOCKED || split->state == EMU_SPLIT_WARPSYNC)
            status = own_splits(s, &alone, stop, err);
        if (status == LW_OK && stop->kind == DBG_STOP_NONE && !alone && stepper_where(s, &now) &&
            now.state != EMU_SPLIT_READY)
            status = others_by_engine(s, &now, stop, err);
    } else {
        status = others_by_steps(s, stop, err);
        /* If only the sleeping lane is left to run, emu_warp_select() advances the time to the end of the sleep. */
        if (status == LW_OK && split->state == EMU_SPLIT_SLEEPING &&
            s->dbg->engine->ops->instructions(s->dbg->engine) == before)
            (void)!emu_warp_select(DBG_AT(&s->warp));
    }
    if (s->in_past)
        s->others = others + s->dbg->engine->ops->instructions(s->dbg->engine) - before;
    if (!s->reported && s->dbg->engine->ops->instructions(s->dbg->engine) != before) {
        dbg_message(s->dbg, "%s: meanwhile other lanes and warps ran", reason);
        s->reported = true;
    }
    return status;
}

/* Runs other splits and warps until the stepped lane's split is ready. */
static enum lw_status wait_for_others(struct dbg_stepper *s, enum dbg_outcome *outcome,
                                      struct dbg_stop *stop, struct lw_error *err)
{
    *outcome = DBG_STOPPED;
    for (;;) {
        struct emu_split_view split;
        uint64_t before = s->dbg->engine->ops->instructions(s->dbg->engine);
        enum lw_status status;

        if (!stepper_where(s, &split)) {
            *outcome = DBG_EXITED;
            return LW_OK;
        }
        if (split.state == EMU_SPLIT_READY) {
            *outcome = DBG_RETIRED;
            return LW_OK;
        }
        if (s->locked) {
            stop_waits(s, &split, "; they do not run during step-alone", stop);
            return LW_OK;
        }
        if (s->dbg->engine->interrupted) {
            s->dbg->engine->interrupted = 0;
            return dbg_finish_stop(s->dbg, DBG_STOP_INTERRUPT, stop, err);
        }
        status = let_others_run(s, &split, stop, err);
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (s->dbg->engine->ops->instructions(s->dbg->engine) == before &&
            stepper_where(s, &split) && split.state != EMU_SPLIT_READY) {
            stop_waits(s, &split, ", and no other warp of the block can run", stop);
            return LW_OK;
        }
    }
}

enum lw_status dbg_stepper_step(struct dbg_stepper *s, enum dbg_outcome *outcome,
                                struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_split_view split;
    struct emu_event ev;
    struct emu_stop es = {0};
    struct emu_thread_ref location;
    enum lw_status status;
    uint64_t start;

    s->insn = NULL;
    s->own_slices = 0;
    *outcome = DBG_EXITED;
    if (!stepper_where(s, &split))
        return LW_OK;
    start = split.pc;
    s->completes = s->completes && split.state != EMU_SPLIT_READY && split.state != EMU_SPLIT_YIELDED;
    for (;;) {
        if (split.state != EMU_SPLIT_READY && split.state != EMU_SPLIT_YIELDED) {
            status = wait_for_others(s, outcome, stop, err);
            if (status != LW_OK || *outcome != DBG_RETIRED || !stepper_where(s, &split))
                return status;
            /* The lane has passed the barrier at which it waited. The barrier was the instruction of this step. */
            if (split.pc != start || s->completes) {
                s->completes = false;
                return LW_OK;
            }
        }
        stepper_thread(s, &split, &location);
        memset(&es, 0, sizeof es);
        status = step_by_engine(s, &location, &ev, &es, err);
        if (status != LW_OK)
            return status;
        if (es.kind != EMU_STOP_BLOCKED)
            break;
        if (!stepper_where(s, &split)) {
            *outcome = DBG_EXITED;
            return LW_OK;
        }
        if (s->locked) {
            *outcome = DBG_STOPPED;
            stop_waits(s, &split, "", stop);
            return LW_OK;
        }
        /* The engine could not execute the split, because the split has yielded or other lanes must run first. */
        status = let_others_run(s, &split, stop, err);
        *outcome = DBG_STOPPED;
        if (status != LW_OK || stop->kind != DBG_STOP_NONE)
            return status;
        if (s->dbg->engine->interrupted) {
            s->dbg->engine->interrupted = 0;
            return dbg_finish_stop(s->dbg, DBG_STOP_INTERRUPT, stop, err);
        }
        if (!stepper_where(s, &split)) {
            *outcome = DBG_EXITED;
            return LW_OK;
        }
        if (split.pc != start) {
            *outcome = DBG_RETIRED;
            return LW_OK;
        }
    }
    dbg_reported_lanes_moved(s->dbg, s->id, location.lanes);
    if (es.kind == EMU_STOP_FAULT || es.kind == EMU_STOP_HANG || dbg_watch_pending(s->dbg)) {
        *outcome = DBG_STOPPED;
        return dbg_engine_stop(s->dbg, &es, stop, err);
    }
    *outcome = DBG_EXITED;
    s->insn = ev.insn;
    if (!stepper_where(s, &split))
        return LW_OK;
    *outcome = DBG_RETIRED;
    if (split.pc != start + ISA_WORD_BYTES && s->insn != NULL) {
        if (isa_op_info((enum isa_op)s->insn->op)->flags & ISA_F_CALL)
            s->depth++;
        else if (s->insn->op == ISA_RET)
            s->depth--;
    }
    switch (split.state) {
    case EMU_SPLIT_READY:
    case EMU_SPLIT_STACKED: /* this step is complete. The split is not at the top of the SIMT stack, so the next step waits
                             * until it is */
        return LW_OK;
    case EMU_SPLIT_YIELDED:
    case EMU_SPLIT_SLEEPING:
        /* The instruction of this step was a yield or a sleep, so other splits and warps run now. */
        if (s->locked)
            return LW_OK;
        status = let_others_run(s, &split, stop, err);
        if (stop->kind != DBG_STOP_NONE)
            *outcome = DBG_STOPPED;
        else if (!stepper_where(s, &split))
            *outcome = DBG_EXITED;
        return status;
    default: return wait_for_others(s, outcome, stop, err);
    }
}

enum lw_status dbg_stepper_init(struct dbg_stepper *s, struct dbg *dbg, dbg_thread_id id,
                                bool locked, struct lw_error *err)
{
    struct emu_history_info info = {0};
    struct emu_block_view block;
    struct dbg_thread thread;

    memset(s, 0, sizeof *s);
    dbg_spin_forget(dbg);
    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_locate(dbg, id, &s->warp))
        return dbg_exited(dbg, id, err);
    s->dbg = dbg;
    s->id = id;
    s->lane = thread.lane;
    s->locked = locked;
    dbg_focus_move(dbg, id, thread.lane);
    dbg->seen = thread;
    s->in_past = dbg_history_info(dbg, &info) && info.in_past;
    if (emu_block_view(s->warp.core, s->warp.slot, &block)) {
        s->retired = block.retired;
        for (unsigned w = 0; w < block.warp_count && w < DBG_BLOCK_WARPS; w++)
            s->was[w] = warp_retired(s, w);
    }
    s->progress = emu_core_progress(s->warp.core, s->warp.slot);
    return LW_OK;
}

void dbg_spin_forget(struct dbg *dbg)
{
    if (dbg->spin == NULL)
        return;
    emu_observer_remove(dbg->engine, emu_spin_observer_events(dbg->spin));
    emu_spin_observer_destroy(dbg->spin);
    dbg->spin = NULL;
}

/* Returns true if the stepped lane spins without end. During a step only its own warp runs, and warps for which that warp
 * waits. If the block has made no progress for a number of instructions (the window), the spin detector checks whether
 * the warp repeats an earlier state. A lane that computes for long does not repeat its state, so the step continues. A
 * spin is not reported as a hang, because another block might end it. */
static bool spins(struct dbg_stepper *s)
{
    enum { LONG = 1 << 16 }; /* longest window in instructions, as a user waits for the step to end */
    uint64_t window = emu_machine_config(s->dbg->machine)->hang_window, progress;
    struct dbg *dbg = s->dbg;
    struct emu_block_view block;

    if (window == 0 || !emu_block_view(s->warp.core, s->warp.slot, &block))
        return false;
    window = window < LONG ? window : LONG;
    if (block.retired - s->retired < window << s->tries)
        return false;
    progress = emu_core_progress(s->warp.core, s->warp.slot);
    if (progress != s->progress) {
        s->progress = progress;
        s->retired = block.retired;
        s->tries = 0;
        dbg_spin_forget(dbg);
        return false;
    }
    if (dbg->spin == NULL) {
        dbg->spin = emu_spin_observer_create(dbg->machine, s->tries, true);
        if (dbg->spin != NULL)
            emu_observer_add(dbg->engine, emu_spin_observer_events(dbg->spin));
        return false;
    }
    if (emu_spin_observer_gave_up(dbg->spin)) {
        s->tries += s->tries < 32;
        dbg_spin_forget(dbg);
        return false;
    }
    return emu_core_has_cycle(DBG_AT(&s->warp), dbg->spin);
}

enum lw_status dbg_stepper_look(struct dbg_stepper *s, enum dbg_outcome outcome, uint64_t *pc,
                                struct dbg_stop *stop, struct lw_error *err)
{
    struct emu_split_view split;
    struct emu_warp_view view;

    if (outcome == DBG_STOPPED)
        return LW_OK;
    if (outcome == DBG_EXITED || !stepper_where(s, &split))
        return dbg_finish_stop(s->dbg, DBG_STOP_STEP, stop, err);
    *pc = split.pc;
    if (dbg_breakpoint_inserted(s->dbg, split.pc) &&
        emu_warp_view(DBG_AT(&s->warp), &view) &&
        dbg_arrived(s->dbg, s->id, split.pc, split.lanes & view.exec, stop))
        return LW_OK;
    if (s->dbg->engine->interrupted) {
        s->dbg->engine->interrupted = 0;
        return dbg_finish_stop(s->dbg, DBG_STOP_INTERRUPT, stop, err);
    }
    if (spins(s)) {
        dbg_stop_on(s->dbg, stop, DBG_STOP_BLOCKED, s->id, s->lane);
        snprintf(stop->text, sizeof stop->text, "lane %u spins in a loop", s->lane);
        add_no_progress(stop);
    }
    return LW_OK;
}

/* ---- lockstep: one instruction of each split ---------------------------------------------- */

/* Executes one instruction of each split of a warp that can run. */
static enum lw_status splits_of_warp(struct dbg_stepper *s, unsigned warp, struct dbg_stop *stop,
                                     struct lw_error *err)
{
    uint64_t seen = 0;
    struct emu_split_view splits[EMU_MAX_LANES];
    struct emu_block_view block;
    bool more = true;

    while (more && emu_block_view(s->warp.core, s->warp.slot, &block) &&
           block.block == s->warp.block && warp < block.warp_count) {
        unsigned count = emu_split_views(s->warp.core, s->warp.slot, warp, splits, EMU_MAX_LANES);

        more = false;
        for (unsigned i = 0; i < count && i < EMU_MAX_LANES && !more; i++) {
            bool ran;
            enum lw_status status;

            if ((splits[i].lanes & seen) != 0 ||
                (splits[i].state != EMU_SPLIT_READY && splits[i].state != EMU_SPLIT_YIELDED))
                continue;
            seen |= splits[i].lanes;
            more = true;
            status = step_other(s, warp, &splits[i], &ran, stop, err);
            if (status != LW_OK || stop->kind != DBG_STOP_NONE)
                return status;
        }
    }
    return LW_OK;
}

static enum lw_status step_together(struct dbg *dbg, dbg_thread_id id, bool all,
                                    struct dbg_stop *stop, struct lw_error *err)
{
    uint64_t before = dbg->engine->ops->instructions(dbg->engine);
    unsigned count = 0;
    struct emu_block_view block;
    struct emu_split_view split;
    struct dbg_stepper s;
    enum lw_status status = dbg_stepper_init(&s, dbg, id, false, err);

    if (status != LW_OK)
        return status;
    if (emu_block_view(s.warp.core, s.warp.slot, &block))
        count = block.warp_count;
    dbg_reported_lanes_prune(dbg);
    if (!all)
        status = splits_of_warp(&s, s.warp.warp, stop, err);
    for (unsigned w = 0; all && status == LW_OK && stop->kind == DBG_STOP_NONE && w < count; w++)
        status = splits_of_warp(&s, w, stop, err);
    dbg_stepper_report(&s);
    if (status != LW_OK || stop->kind != DBG_STOP_NONE)
        return status;
    if (dbg->engine->ops->instructions(dbg->engine) == before && stepper_where(&s, &split)) {
        stop_waits(&s, &split, all ? ", and no other warp of the block can run"
                                   : ", and no other lanes of the warp can run", stop);
        return LW_OK;
    }
    return dbg_finish_stop(dbg, DBG_STOP_STEP, stop, err);
}

enum lw_status dbg_step_together(struct dbg *dbg, dbg_thread_id id, bool block,
                                 struct dbg_stop *stop, struct lw_error *err)
{
    enum lw_status status = dbg_run_begin(dbg, stop, err);

    return status != LW_OK ? status
                           : dbg_run_end(dbg, step_together(dbg, id, block, stop, err), stop, err);
}
