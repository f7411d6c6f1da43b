/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of one warp outside the fixed order, and time slices of the other warps (MACHINE 9). */
#include <stdio.h>

#include "emu/engine/emu_threads_priv.h"

/** Appends an entry about warp @w to the schedule log. */
static void note(struct emu_functional *f, enum emu_log_kind kind, const struct emu_warp *w,
                 uint64_t count, uint64_t value, unsigned which)
{
    if (emu_log_is_recording(f->base.machine))
        emu_log_add(f->base.machine->log,
                    &(struct emu_log_entry){.kind = kind,
                                            .place = {.grid = w->block->grid->sequence,
                                                      .block = w->block->linear,
                                                      .warp = w->index},
                                            .count = count,
                                            .value = value,
                                            .which = which});
}

static void stop_waits(const struct emu_warp *w, const struct emu_thread_ref *place,
                       const char *why, struct emu_stop *stop)
{
    int id = emu_split_by_id(w, place->split);

    stop->kind = EMU_STOP_BLOCKED;
    stop->place = *place;
    if (why != NULL)
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "%s", why);
    else if (id < 0)
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "the lanes of this split have exited");
    else
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "%s",
                 emu_split_state_name((enum emu_split_state)w->split[id].state));
    if (id >= 0 && (w->split[id].state == EMU_SPLIT_BLOCKED || w->split[id].state == EMU_SPLIT_CTA))
        emu_block_explain(w->block, &(struct emu_hang_cause){0}, &stop->hang);
}

/** Returns the id of the split that has the lowest lane of @lanes now: splits may have merged since the caller got @id. Returns
 *  @id if @lanes is 0. */
static unsigned split_of(const struct emu_warp *w, unsigned id, uint64_t lanes)
{
    for (LW_EACH_BIT(k, lanes != 0 ? w->split_ids : 0))
        if (w->split[k].lanes >> lw_lowest(lanes) & 1)
            return (unsigned)k;
    return id;
}

static enum lw_status begin(struct emu_functional *f, struct emu_stop *stop, struct lw_error *err)
{
    memset(stop, 0, sizeof *stop);
    if (emu_threads_are_running(f))
        return emu_fixed_on_threads(err);
    if (f->history != NULL)
        f->history->begin(f->history);
    return LW_OK;
}

static enum lw_status begin_block(struct emu_functional *f, const struct emu_thread_ref *place,
                                  struct emu_block **block, struct lw_error *err)
{
    struct emu_resident *r = emu_fixed_find(f, place->grid, place->block);

    if (r == NULL)
        return LW_FAIL(err, LW_ERANGE, "block %llu of launch %u is not resident",
                       (unsigned long long)place->block, place->grid);
    return emu_fixed_begin(f, r, block, err);
}

enum lw_status emu_fixed_step_warp(struct emu_engine *engine, const struct emu_thread_ref *place,
                                   struct emu_event *ev, struct emu_stop *stop,
                                   struct lw_error *err)
{
    struct emu_functional *f = (struct emu_functional *)engine;
    struct emu_block *block;
    enum lw_status status;
    const bool in_past = emu_log_in_history(engine->machine->log);

    status = begin(f, stop, err);
    if (status != LW_OK)
        return status;
    if (in_past) {
        status = emu_replay_lanes(f, place, ev, stop, err);
        if (status != LW_OK || stop->kind != EMU_STOP_NONE)
            return status;
        /* The recorded history ends before the next instruction of these lanes. The following code executes the step at the end
         * of the history. */
    }
    status = begin_block(f, place, &block, err);
    if (status != LW_OK)
        return status;
    if (place->warp >= block->warp_count)
        return LW_FAIL(err, LW_ERANGE, "block %llu has no warp %u",
                       (unsigned long long)place->block, place->warp);
    struct emu_warp *w = &block->warp[place->warp];
    struct emu_thread_ref stepped = *place;
    stepped.split = split_of(w, place->split, place->lanes);
    if (emu_split_by_id(w, stepped.split) < 0) {
        stop_waits(w, place, NULL, stop);
        return LW_OK;
    }
    uint64_t lanes = w->split[stepped.split].lanes;
    if (place->lanes != 0)
        lanes &= place->lanes;
    if (w->split[stepped.split].state == EMU_SPLIT_YIELDED && !emu_split_has_ready(w)) {
        (void)emu_split_select(w); /* makes the yielded splits ready, because no other split is ready */
        note(f, EMU_LOG_SELECT, w, 0, 0, 0);
        if (emu_split_by_id(w, stepped.split) < 0) { /* the split has merged with another split, and the merged split is
                                                      * stepped */
            stepped.split = split_of(w, stepped.split, lanes);
            lanes = w->split[stepped.split].lanes;
        }
    }
    /* In the recorded history, the lanes have merged with other lanes. A SIMT stack cannot divide merged lanes again, so the
     * whole split is stepped. */
    if (in_past && engine->machine->reconv->lockstep)
        lanes = w->split[stepped.split].lanes;
    struct lw_error why;
    stepped.lanes = lanes == w->split[stepped.split].lanes ? 0 : lanes;
    status = emu_warp_step(f->core, block->slot, place->warp, stepped.split, lanes, ev, &why);
    if ((status == LW_OK || status == LW_EAGAIN) && emu_log_is_recording(engine->machine))
        emu_log_add(engine->machine->log, &(struct emu_log_entry){.kind = EMU_LOG_STEP,
                                                                  .place = stepped,
                                                                  .count = 1});
    if (status == LW_EAGAIN || status == LW_ESTATE) {
        stop_waits(w, place, status == LW_EAGAIN ? why.text : NULL, stop);
        return LW_OK;
    }
    if (status != LW_OK) {
        if (err != NULL)
            *err = why;
        return status;
    }
    stop->place = *place;
    if (ev->kind == EMU_EV_FAULT) {
        emu_fixed_fault(w, stop);
        return LW_OK;
    }
    stop->kind = EMU_STOP_STEPPED;
    if (emu_fixed_notify(emu_fixed_watching(f, w, engine->observers), ev) | emu_consume_halt_request(engine->machine))
        stop->kind = EMU_STOP_OBSERVER;
    emu_fixed_retire(f);
    return LW_OK;
}

/** Makes blocks of new launches resident before the next instruction, as the fixed order and a replay do. */
static void admit_launched(struct emu_functional *f)
{
    if (f->launches_seen != f->base.machine->launch_changes)
        emu_fixed_refill(f);
}

/** Runs one time slice of warp @w while another warp is stepped. Returns true if the run must stop. */
static bool slice_of_other(struct emu_functional *f, struct emu_warp *w, uint64_t *ran,
                          struct emu_stop *stop, enum lw_status *status, struct lw_error *err)
{
    uint64_t count = 0, quantum = f->base.machine->config.warp_quantum;
    enum emu_slice_end end = EMU_SLICE_DONE;
    struct emu_mark mark = emu_fixed_mark(f);
    bool selected = false; /* true: a split was searched for the time slice, and none was found, or the one found has not
                            * executed since */

    if (w->live == 0)
        return false;
    if (emu_fixed_watching(f, w, f->base.observers) == NULL && !emu_split_divided(w)) {
        do { /* each iteration runs up to a launch, which ends a time slice */
            uint64_t part;
            admit_launched(f);
            end = emu_warp_run_slice(&w, quantum - count, &part);
            count += part;
        } while (end == EMU_SLICE_DONE && count < quantum && !f->base.machine->halt &&
                 f->launches_seen != f->base.machine->launch_changes);
        if (emu_consume_halt_request(f->base.machine) && end != EMU_SLICE_BREAK && end != EMU_SLICE_FAULT)
            stop->kind = EMU_STOP_OBSERVER;
    } else {
        while (count < quantum && (selected = true) && emu_split_select(w)) {
            struct emu_event ev;
            unsigned split = (unsigned)w->running;
            admit_launched(f);
            if (emu_fixed_at_breakpoint(w)) {
                end = EMU_SLICE_BREAK;
                break;
            }
            selected = false;
            *status = emu_warp_step(f->core, w->block->slot, w->index, split,
                                    w->split[split].lanes, &ev, err);
            if (*status == LW_EAGAIN) {
                *status = LW_OK;
                continue;
            }
            if (*status != LW_OK)
                break;
            if (ev.kind == EMU_EV_FAULT) {
                end = EMU_SLICE_FAULT;
                break;
            }
            count += ev.kind == EMU_EV_RETIRED;
            if (emu_fixed_notify(emu_fixed_watching(f, w, f->base.observers), &ev) | emu_consume_halt_request(f->base.machine))
                stop->kind = EMU_STOP_OBSERVER;
            if (stop->kind != EMU_STOP_NONE || w->live == 0 || !emu_split_has_ready(w))
                break;
        }
    }
    *ran += f->core->retired - mark.retired;
    uint64_t passes = emu_fixed_passes(f, &mark);
    if (count != 0 || passes != 0)
        note(f, EMU_LOG_SLICE, w, count, passes, 0);
    if (selected || (count == 0 && passes == 0) || end == EMU_SLICE_BREAK || end == EMU_SLICE_FAULT)
        note(f, EMU_LOG_SELECT, w, 0, 0, 0);
    if (*status != LW_OK)
        return true;
    if (end == EMU_SLICE_BREAK) {
        emu_fixed_break(w, stop);
    } else if (end == EMU_SLICE_FAULT) {
        emu_fixed_fault(w, stop);
    }
    return stop->kind != EMU_STOP_NONE;
}

/** Searches for a hang between time slices of single warps, as the fixed order does. Returns whether it is proved that no thread
 *  at all, or no thread of @block, will ever make progress. */
static enum emu_stuck stuck(struct emu_functional *f, struct emu_block *block)
{
    uint64_t at = f->watch_at;
    enum emu_stuck found = emu_fixed_stuck(f, block);

    if (f->watch_at != at)
        note(f, EMU_LOG_LOOK, &block->warp[0], 0, 0, 0);
    return found;
}

/** Returns true if blocks that have not run could enable this block to continue. */
static bool not_all_ran(const struct emu_functional *f, const struct emu_grid *grid)
{
    return !f->order_free && (f->count > 1 || grid->blocks_started < grid->block_count ||
                              f->base.machine->pending != 0);
}

enum lw_status emu_fixed_run_others(struct emu_engine *engine, const struct emu_thread_ref *place,
                                    struct emu_stop *stop, struct lw_error *err)
{
    struct emu_functional *f = (struct emu_functional *)engine;
    struct emu_block *block;
    enum lw_status status;
    uint64_t ran = 0;

    status = begin(f, stop, err);
    if (status != LW_OK)
        return status;
    if (emu_log_in_history(engine->machine->log)) {
        status = emu_replay_others(f, stop, err);
        if (status != LW_OK || stop->kind != EMU_STOP_NONE || emu_log_in_history(engine->machine->log))
            return status;
    }
    status = begin_block(f, place, &block, err);
    if (status != LW_OK)
        return status;
    if (emu_consume_interrupt(engine)) {
        stop->kind = EMU_STOP_INTERRUPTED;
        return LW_OK;
    }
    /* the other warps run first, then the other splits of the warp that is stepped */
    for (unsigned i = 1; i <= block->warp_count; i++) {
        struct emu_warp *w = &block->warp[(place->warp + i) % block->warp_count];
        if (slice_of_other(f, w, &ran, stop, &status, err) || block->warps_live == 0)
            goto done; /* an ended block leaves the list immediately, as in a replay */
    }
    /* the block may wait for another block, perhaps of a launch that it made */
    if (ran == 0 && emu_block_suspended(block)) {
        emu_fixed_refill(f);
        note(f, EMU_LOG_LOOK, &block->warp[0], 0, 0, 1);
    }
    for (unsigned k = 0; ran == 0 && k < f->count; k++) {
        struct emu_block *other;
        if (f->resident[k].linear == place->block && f->resident[k].grid->sequence == place->grid)
            continue;
        status = emu_fixed_begin(f, &f->resident[k], &other, err);
        if (status != LW_OK)
            return status;
        for (unsigned i = 0; i < other->warp_count; i++)
            if (slice_of_other(f, &other->warp[i], &ran, stop, &status, err) || other->warps_live == 0)
                goto done;
    }
    enum emu_stuck found = EMU_STUCK_NONE;
    if (ran == 0 && emu_fixed_deadlocked(f))
        emu_fixed_hang(f, block, false, stop);
    else
        found = stuck(f, block);
    if (found != EMU_STUCK_NONE && not_all_ran(f, block->grid))
        stop->kind = EMU_STOP_BLOCKED;
    else if (found == EMU_STUCK_ALL)
        emu_fixed_hang(f, block, true, stop);
done:
    emu_fixed_retire(f);
    return status;
}
