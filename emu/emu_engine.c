/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functional engine: the fixed order of MACHINE 4. One grid at a time; of it the lowest
 * blocks that fit are resident; a block runs its warps in rotation.
 */
#include <stdio.h>
#include <stdlib.h>

#include "emu/emu_threads.h"

static struct emu_functional *self(struct emu_engine *engine)
{
    return (struct emu_functional *)engine;
}
static const struct emu_functional *self_const(const struct emu_engine *engine)
{
    return (const struct emu_functional *)engine;
}

/* ---- residency ------------------------------------------------------------------------ */

/** The next block that no thread has taken, if it must run. */
static void claim_block(struct emu_functional *f)
{
    uint64_t b = __atomic_fetch_add(&f->claims->next, 1, __ATOMIC_RELAXED);

    if (b < f->grid->block_count && b <= __atomic_load_n(&f->claims->limit, __ATOMIC_RELAXED))
        f->resident[f->count++] = (struct emu_resident){.linear = b, .slot = -1};
}

static void fill_residents(struct emu_functional *f)
{
    if (f->claims != NULL) {
        if (f->count == 0)
            claim_block(f);
        return;
    }
    while (f->count < f->capacity && f->next_block < f->grid->block_count)
        f->resident[f->count++] = (struct emu_resident){.linear = f->next_block++, .slot = -1};
}

static void new_turn(struct emu_functional *f)
{
    f->turn_left = f->order_free ? UINT64_MAX : EMU_BLOCK_TURN;
    f->warp_left = 0;
    if (f->order_free)
        f->watch_at = f->core->retired; /* the window is each block's own */
}

void emu_functional_claim(struct emu_functional *f, struct emu_grid *grid,
                          struct emu_claims *claims)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->resident[i].slot >= 0)
            emu_core_block_free(f->core, (unsigned)f->resident[i].slot);
    f->count = 0;
    f->current = 0;
    f->grid = grid;
    f->claims = claims;
    f->order_free = true;
    new_turn(f);
}

/** Take up the next queued grid if none runs. False: idle. */
static bool begin_grid(struct emu_functional *f)
{
    struct emu_machine *machine = f->base.machine;

    if (f->claims != NULL) {
        fill_residents(f);
        return f->count != 0;
    }
    if (f->grid != NULL)
        return true;
    f->grid = emu_grid_current(machine);
    if (f->grid == NULL)
        return false;
    f->capacity = machine->config.resident_warps / f->grid->block_warps;
    if (f->capacity == 0)
        f->capacity = 1;
    f->order_free = emu_kernel_block_order_free(f->grid->launch.program, f->grid->launch.kernel);
    f->count = 0;
    f->current = 0;
    f->next_block = 0;
    fill_residents(f);
    new_turn(f);
    return true;
}

static struct emu_block *block_of(const struct emu_functional *f, const struct emu_resident *r)
{
    return r->slot < 0 ? NULL : emu_core_block(f->core, (unsigned)r->slot);
}

static enum lw_status begin_block(struct emu_functional *f, struct emu_resident *r,
                                  struct emu_block **out, struct lw_error *err)
{
    if (r->slot < 0) {
        unsigned slot;
        enum lw_status status = emu_core_block_start(f->core, f->grid, r->linear, &slot, err);
        if (status != LW_OK)
            return status;
        r->slot = (int)slot;
        struct emu_block *block = emu_core_block(f->core, slot);
        block->next_warp = block->warp_count - 1; /* the rotation starts with warp 0 */
    }
    *out = block_of(f, r);
    return LW_OK;
}

/** The block at @index has ended: its place goes to the next one. */
static void retire_block(struct emu_functional *f, unsigned index)
{
    struct emu_resident *r = &f->resident[index];
    struct emu_block *block = block_of(f, r);

    for (unsigned i = 0; i < block->warp_count; i++)
        f->core->stats.thread_instructions += block->warp[i].lane_retired;
    block->ended = true;
    emu_core_block_free(f->core, (unsigned)r->slot);
    memmove(r, r + 1, (f->count - index - 1) * sizeof *r);
    f->count--;
    __atomic_fetch_add(&f->grid->blocks_ended, 1, __ATOMIC_RELAXED);
    fill_residents(f);
    if (index < f->current)
        f->current--;
    else if (index == f->current)
        new_turn(f);
    if (f->current >= f->count)
        f->current = 0;
    if (f->claims == NULL && f->grid->blocks_ended == f->grid->block_count)
        f->grid = NULL;
}

static void retire_ended(struct emu_functional *f)
{
    for (unsigned i = 0; f->grid != NULL && i < f->count;) {
        struct emu_block *block = block_of(f, &f->resident[i]);
        if (block != NULL && block->warps_live == 0)
            retire_block(f, i);
        else
            i++;
    }
}

/** The current block ran. An ended one goes at once, so that the state behind an instruction is
 *  the same however it was run. */
static void retire_ended_current(struct emu_functional *f, const struct emu_block *block)
{
    if (block->warps_live == 0)
        retire_block(f, f->current);
}

static struct emu_resident *find_resident(struct emu_functional *f, uint32_t grid, uint64_t block)
{
    if (!begin_grid(f) || f->grid->sequence != grid)
        return NULL;
    for (unsigned i = 0; i < f->count; i++)
        if (f->resident[i].linear == block)
            return &f->resident[i];
    return NULL;
}

/* ---- stops -------------------------------------------------------------------------------- */

static void place_of(const struct emu_warp *w, int split, struct emu_place *place)
{
    memset(place, 0, sizeof *place);
    place->grid = w->block->grid->sequence;
    place->block = w->block->linear;
    place->warp = w->index;
    if (split >= 0) {
        place->split = (unsigned)split;
        place->lanes = w->split[split].lanes;
        place->pc = w->code->program->base +
                    (uint64_t)emu_split_pc(w, place->split) * ISA_WORD_BYTES;
    }
}

static void stop_fault(const struct emu_warp *w, struct emu_stop *stop)
{
    const struct emu_launch *launch = &w->block->grid->launch;

    if (!w->core->machine->threaded) /* else when all threads are back */
        emu_text_stopped(w->core->machine, w->block->grid->sequence, w->block->linear,
                         emu_kernel_block_order_free(launch->program, launch->kernel));
    stop->kind = EMU_STOP_FAULT;
    stop->fault = w->fault;
    place_of(w, w->running, &stop->place);
    stop->place.pc = w->fault.pc;
    if (w->running < 0)
        stop->place.lanes = w->fault.lanes;
}

static void stop_hang(struct emu_block *block, bool livelock, struct emu_stop *stop)
{
    const struct emu_launch *launch = &block->grid->launch;

    if (!block->core->machine->threaded)
        emu_text_stopped(block->core->machine, block->grid->sequence, block->linear,
                         emu_kernel_block_order_free(launch->program, launch->kernel));
    stop->kind = EMU_STOP_HANG;
    emu_block_explain(block, livelock, &stop->hang);
    stop->place.grid = block->grid->sequence;
    stop->place.block = block->linear;
    stop->place.warp = stop->hang.warp;
    stop->place.lanes = stop->hang.lanes;
    stop->place.pc = stop->hang.pc;
}

/** Note progress of a block at time @now; when it was last seen to make any. */
static uint64_t see_progress(struct emu_block *b, uint64_t now)
{
    if (b->progress != b->progress_seen || b->progress_at == 0) {
        b->progress_seen = b->progress;
        b->progress_at = now + 1;
    }
    return b->progress_at;
}

/** A window without progress in any block is a live-lock (MACHINE 4). Looked at when the
 *  core's count passes watch_at, so the verdict comes at the same instruction every run. Blocks
 *  of a block-order-free grid run one by one, on any number of threads: there the window is
 *  that of @current alone, in its own instructions. */
static bool livelocked(struct emu_functional *f, struct emu_block *current)
{
    uint64_t window = f->base.machine->config.hang_window, latest = 0;
    uint64_t now = f->order_free ? current->retired : f->core->retired;

    if (window == 0 || f->core->retired < f->watch_at)
        return false;
    if (f->order_free)
        latest = see_progress(current, now);
    for (unsigned i = 0; !f->order_free && i < f->count; i++) {
        struct emu_block *b = block_of(f, &f->resident[i]);
        if (b != NULL && see_progress(b, now) > latest)
            latest = b->progress_at;
    }
    uint64_t since = now + 1 - latest;
    f->watch_at = f->core->retired + (window - (since < window ? since : 0)) / 2 + 1;
    return latest != 0 && since >= window;
}

/** Nothing in any resident block can run, and all of them have begun. */
static bool deadlocked(const struct emu_functional *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_block *b = block_of(f, &f->resident[i]);
        if (b == NULL || b->warps_live == 0 || emu_block_can_run(b))
            return false;
    }
    return true;
}

/* ---- the order ---------------------------------------------------------------------------------- */

/** The warp of @block that goes next, its split selected; NULL: none can run. */
static struct emu_warp *next_warp(struct emu_functional *f, struct emu_block *block)
{
    struct emu_warp *w = &block->warp[block->next_warp];

    if (f->warp_left != 0 && w->live != 0 && emu_split_has_ready(w) && emu_split_select(w))
        return w;
    for (unsigned i = 1; i <= block->warp_count; i++) {
        unsigned at = (block->next_warp + i) % block->warp_count;
        w = &block->warp[at];
        if (w->live != 0 && emu_split_select(w)) {
            block->next_warp = at;
            f->warp_left = f->base.machine->config.warp_quantum;
            return w;
        }
    }
    return NULL;
}

/** Bring the engine to the warp that goes next. NULL with stop->kind set (idle, hang), or
 *  with *status an error. */
static struct emu_warp *settle(struct emu_functional *f, struct emu_stop *stop,
                               enum lw_status *status, struct lw_error *err)
{
    unsigned stuck = 0;

    *status = LW_OK;
    for (;;) {
        struct emu_block *block;
        struct emu_warp *w;
        if (!begin_grid(f)) {
            stop->kind = EMU_STOP_IDLE;
            return NULL;
        }
        if (f->turn_left == 0) {
            f->current = (f->current + 1) % f->count;
            new_turn(f);
        }
        *status = begin_block(f, &f->resident[f->current], &block, err);
        if (*status != LW_OK)
            return NULL;
        if (block->warps_live == 0) {
            retire_block(f, f->current);
            stuck = 0;
            continue;
        }
        if (livelocked(f, block)) {
            stop_hang(block, true, stop);
            return NULL;
        }
        w = next_warp(f, block);
        if (w != NULL)
            return w;
        /* No other block can help one of a block-order-free grid: the lowest is reported. */
        if (f->order_free && !emu_block_can_run(block)) {
            stop_hang(block, false, stop);
            return NULL;
        }
        if (++stuck >= f->count && deadlocked(f)) {
            stop_hang(block, false, stop);
            return NULL;
        }
        f->turn_left = 0; /* nothing in it can run */
    }
}

/** @count instructions of the current warp ran; @more: it may go on within its quantum. */
static void account(struct emu_functional *f, uint64_t count, bool more)
{
    f->warp_left = more && count < f->warp_left ? f->warp_left - count : 0;
    if (f->turn_left != UINT64_MAX)
        f->turn_left = count < f->turn_left ? f->turn_left - count : 0;
}

static bool tell(struct emu_functional *f, const struct emu_event *ev)
{
    bool stop = false;

    if (f->claims != NULL) /* whoever came meanwhile sees the next grid */
        return false;
    for (struct emu_observer *o = f->base.observers; o != NULL; o = o->next)
        stop = o->on_event(o, ev) || stop;
    return stop;
}

/** One watched instruction of the warp that settle() gave. */
static enum lw_status step_current(struct emu_functional *f, struct emu_warp *w,
                                   struct emu_event *ev, struct emu_stop *stop,
                                   struct lw_error *err)
{
    unsigned split = (unsigned)w->running;
    enum lw_status status =
        emu_warp_step(f->core, w->block->slot, w->index, split, w->split[split].lanes, ev, err);

    if (status == LW_EAGAIN) {
        account(f, 0, emu_split_has_ready(w));
        return LW_OK;
    }
    if (status != LW_OK)
        return status;
    place_of(w, w->running, &stop->place);
    if (ev->kind == EMU_EV_FAULT) {
        stop_fault(w, stop);
        return LW_OK;
    }
    account(f, ev->kind == EMU_EV_RETIRED, emu_split_has_ready(w));
    stop->kind = EMU_STOP_STEPPED;
    if (tell(f, ev))
        stop->kind = EMU_STOP_OBSERVER;
    retire_ended_current(f, w->block);
    return LW_OK;
}

static bool at_breakpoint(const struct emu_warp *w)
{
    uint32_t index = emu_split_pc(w, (unsigned)w->running);

    return index < w->code->program->count && w->code->program->breakpoint[index];
}

/** The core's count at which a turn ends because something is to be looked at. Turns end
 *  exactly there, so that it is found at the same instruction however the run is cut. */
static uint64_t pause_at(const struct emu_functional *f)
{
    uint64_t at = f->base.stop_at;

    if (f->base.machine->config.hang_window != 0 && f->watch_at < at)
        at = f->watch_at;
    return at;
}

static enum lw_status functional_run(struct emu_engine *engine, struct emu_stop *stop,
                                     struct lw_error *err)
{
    struct emu_functional *f = self(engine);
    struct emu_event ev;
    enum lw_status status;

    memset(stop, 0, sizeof *stop);
    while (stop->kind == EMU_STOP_NONE || stop->kind == EMU_STOP_STEPPED) {
        stop->kind = EMU_STOP_NONE;
        if (f->claims == NULL && engine->interrupted) {
            engine->interrupted = 0;
            stop->kind = EMU_STOP_INTERRUPTED;
            break;
        }
        if (f->claims == NULL && engine->threads > 1 && begin_grid(f) && emu_threads_wanted(f)) {
            status = emu_threads_run(f, stop, err);
            if (status != LW_OK)
                return status;
            continue;
        }
        if (f->core->retired >= engine->stop_at) {
            stop->kind = EMU_STOP_COUNT;
            break;
        }
        struct emu_warp *w = settle(f, stop, &status, err);
        if (w == NULL)
            return status;
        if ((f->claims == NULL && engine->observers != NULL) || emu_split_divided(w)) {
            if (at_breakpoint(w)) {
                stop->kind = EMU_STOP_BREAK;
                place_of(w, w->running, &stop->place);
                break;
            }
            status = step_current(f, w, &ev, stop, err);
            if (status != LW_OK)
                return status;
            continue;
        }
        uint64_t limit = f->warp_left < f->turn_left ? f->warp_left : f->turn_left, count;
        uint64_t left = pause_at(f) - f->core->retired;
        if (limit > left)
            limit = left;
        enum emu_turn_end end = emu_warp_turn(w, limit, &count);
        account(f, count, end == EMU_TURN_BREAK || (end == EMU_TURN_DONE && count == limit));
        if (end == EMU_TURN_BREAK && f->claims != NULL) { /* set meanwhile: go over it */
            status = step_current(f, w, &ev, stop, err);
            if (status != LW_OK)
                return status;
        } else if (end == EMU_TURN_BREAK) {
            stop->kind = EMU_STOP_BREAK;
            place_of(w, w->running, &stop->place);
            break;
        } else if (end == EMU_TURN_FAULT) {
            stop_fault(w, stop);
            break;
        } else {
            retire_ended_current(f, w->block);
        }
        /* behind the turn: however often a run is interrupted, it gets on */
        if (f->claims != NULL && stop->kind != EMU_STOP_FAULT && f->count != 0)
            (void)emu_claims_stop(f->claims, f->resident[0].linear, stop);
    }
    return LW_OK;
}

static enum lw_status on_threads(struct lw_error *err)
{
    return LW_FAIL(err, LW_ESTATE, "the grid runs on several threads: it cannot be stepped; "
                   "start it on one");
}

static enum lw_status functional_step(struct emu_engine *engine, struct emu_event *ev,
                                      struct emu_stop *stop, struct lw_error *err)
{
    struct emu_functional *f = self(engine);
    enum lw_status status;

    memset(stop, 0, sizeof *stop);
    if (emu_threads_under_way(f))
        return on_threads(err);
    do { /* again while a divided split only came to wait */
        struct emu_warp *w = settle(f, stop, &status, err);
        if (w == NULL)
            return status;
        status = step_current(f, w, ev, stop, err);
    } while (status == LW_OK && stop->kind == EMU_STOP_NONE);
    return status;
}

static void stop_waits(const struct emu_warp *w, const struct emu_place *place,
                       const char *why, struct emu_stop *stop)
{
    int id = emu_split_by_id(w, place->split);

    stop->kind = EMU_STOP_WAITS;
    stop->place = *place;
    if (why != NULL)
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "%s", why);
    else if (id < 0)
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "the split has ended");
    else
        snprintf(stop->hang.detail, sizeof stop->hang.detail, "%s",
                 emu_split_state_name((enum emu_split_state)w->split[id].state));
    if (id >= 0 && (w->split[id].state == EMU_SPLIT_BLOCKED || w->split[id].state == EMU_SPLIT_CTA))
        emu_block_explain(w->block, false, &stop->hang);
}

static enum lw_status functional_step_warp(struct emu_engine *engine,
                                           const struct emu_place *place, struct emu_event *ev,
                                           struct emu_stop *stop, struct lw_error *err)
{
    struct emu_functional *f = self(engine);
    struct emu_resident *r = find_resident(f, place->grid, place->block);
    struct emu_block *block;
    enum lw_status status;

    memset(stop, 0, sizeof *stop);
    if (emu_threads_under_way(f))
        return on_threads(err);
    if (r == NULL)
        return LW_FAIL(err, LW_ERANGE, "block %llu of grid %u is not resident",
                       (unsigned long long)place->block, place->grid);
    status = begin_block(f, r, &block, err);
    if (status != LW_OK)
        return status;
    if (place->warp >= block->warp_count)
        return LW_FAIL(err, LW_ERANGE, "block %llu has no warp %u",
                       (unsigned long long)place->block, place->warp);
    struct emu_warp *w = &block->warp[place->warp];
    if (emu_split_by_id(w, place->split) < 0) {
        stop_waits(w, place, NULL, stop);
        return LW_OK;
    }
    if (w->split[place->split].state == EMU_SPLIT_YIELDED && !emu_split_has_ready(w))
        (void)emu_split_select(w); /* nothing else is ready: yielded splits go on */
    struct lw_error why;
    uint64_t lanes = place->lanes ? place->lanes & w->split[place->split].lanes
                                  : w->split[place->split].lanes;
    status = emu_warp_step(f->core, block->slot, place->warp, place->split, lanes, ev, &why);
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
        stop_fault(w, stop);
        return LW_OK;
    }
    stop->kind = EMU_STOP_STEPPED;
    if (tell(f, ev))
        stop->kind = EMU_STOP_OBSERVER;
    retire_ended(f);
    return LW_OK;
}

/** One turn of a warp on behalf of another that waits. True: stop. */
static bool turn_of_other(struct emu_functional *f, struct emu_warp *w, uint64_t *ran,
                          struct emu_stop *stop, enum lw_status *status, struct lw_error *err)
{
    uint64_t count = 0, quantum = f->base.machine->config.warp_quantum;
    enum emu_turn_end end = EMU_TURN_DONE;

    if (w->live == 0)
        return false;
    if (f->base.observers == NULL && !emu_split_divided(w)) {
        end = emu_warp_turn(w, quantum, &count);
    } else {
        while (count < quantum && emu_split_select(w)) {
            struct emu_event ev;
            unsigned split = (unsigned)w->running;
            if (at_breakpoint(w)) {
                end = EMU_TURN_BREAK;
                break;
            }
            *status = emu_warp_step(f->core, w->block->slot, w->index, split,
                                    w->split[split].lanes, &ev, err);
            if (*status == LW_EAGAIN) {
                *status = LW_OK;
                continue;
            }
            if (*status != LW_OK)
                return true;
            if (ev.kind == EMU_EV_FAULT) {
                end = EMU_TURN_FAULT;
                break;
            }
            count++;
            if (tell(f, &ev))
                stop->kind = EMU_STOP_OBSERVER;
            if (stop->kind != EMU_STOP_NONE || w->live == 0 || !emu_split_has_ready(w))
                break;
        }
    }
    *ran += count;
    if (end == EMU_TURN_BREAK) {
        stop->kind = EMU_STOP_BREAK;
        place_of(w, w->running, &stop->place);
    } else if (end == EMU_TURN_FAULT) {
        stop_fault(w, stop);
    }
    return stop->kind != EMU_STOP_NONE;
}

static enum lw_status functional_run_others(struct emu_engine *engine,
                                            const struct emu_place *place,
                                            struct emu_stop *stop, struct lw_error *err)
{
    struct emu_functional *f = self(engine);
    struct emu_resident *r = find_resident(f, place->grid, place->block);
    struct emu_block *block;
    enum lw_status status;
    uint64_t ran = 0;

    memset(stop, 0, sizeof *stop);
    if (emu_threads_under_way(f))
        return on_threads(err);
    if (r == NULL)
        return LW_FAIL(err, LW_ERANGE, "block %llu of grid %u is not resident",
                       (unsigned long long)place->block, place->grid);
    status = begin_block(f, r, &block, err);
    if (status != LW_OK)
        return status;
    if (engine->interrupted) {
        engine->interrupted = 0;
        stop->kind = EMU_STOP_INTERRUPTED;
        return LW_OK;
    }
    /* the others first, its own warp (other splits) last */
    for (unsigned i = 1; i <= block->warp_count; i++) {
        struct emu_warp *w = &block->warp[(place->warp + i) % block->warp_count];
        if (turn_of_other(f, w, &ran, stop, &status, err))
            goto done;
    }
    /* it may wait for another block */
    for (unsigned k = 0; ran == 0 && k < f->count; k++) {
        struct emu_block *other;
        if (f->resident[k].linear == place->block)
            continue;
        status = begin_block(f, &f->resident[k], &other, err);
        if (status != LW_OK)
            return status;
        for (unsigned i = 0; i < other->warp_count; i++)
            if (turn_of_other(f, &other->warp[i], &ran, stop, &status, err))
                goto done;
    }
    if (ran == 0 && deadlocked(f))
        stop_hang(block, false, stop);
    else if (livelocked(f, block))
        stop_hang(block, true, stop);
done:
    retire_ended(f);
    return status;
}

/* ---- views ------------------------------------------------------------------------------------------ */

static unsigned functional_warp_count(const struct emu_engine *engine)
{
    struct emu_functional *f = emu_threads_view(self((struct emu_engine *)(uintptr_t)engine));
    unsigned n = 0;

    if (!begin_grid(f))
        return 0;
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_block *b = block_of(f, &f->resident[i]);
        n += b != NULL ? b->warps_live : f->grid->block_warps;
    }
    return n;
}

static bool functional_warp_at(const struct emu_engine *engine, unsigned index,
                               struct emu_place *place)
{
    const struct emu_functional *f =
        emu_threads_view(self((struct emu_engine *)(uintptr_t)engine));

    if (f->grid == NULL)
        return false;
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_block *b = block_of(f, &f->resident[i]);
        unsigned n = b != NULL ? b->warps_live : f->grid->block_warps;
        if (index >= n) {
            index -= n;
            continue;
        }
        if (b == NULL) {
            unsigned width = f->base.machine->config.warp_width;
            uint32_t left = f->grid->block_threads - index * width;
            memset(place, 0, sizeof *place);
            place->grid = f->grid->sequence;
            place->block = f->resident[i].linear;
            place->warp = index;
            place->lanes = lw_mask(left < width ? left : width);
            place->pc = emu_program_base(f->grid->launch.program) +
                        (uint64_t)f->grid->launch.kernel->first * ISA_WORD_BYTES;
            return true;
        }
        for (unsigned k = 0; k < b->warp_count; k++) {
            const struct emu_warp *w = &b->warp[k];
            if (w->live == 0 || index-- != 0)
                continue;
            int split = w->running;
            for (LW_EACH_BIT(id, w->split_ids)) /* else the one with the lowest lane */
                if (split < 0 || (w->running < 0 && lw_lowest(w->split[id].lanes) <
                                                        lw_lowest(w->split[split].lanes)))
                    split = (int)id;
            place_of(w, split, place);
            return true;
        }
    }
    return false;
}

static bool functional_locate(struct emu_engine *engine, uint32_t grid, uint64_t linear,
                              struct emu_core **core, unsigned *slot)
{
    struct emu_functional *f = emu_threads_view(self(engine));
    struct emu_resident *r = find_resident(f, grid, linear);
    struct emu_block *block;

    if (r == NULL || begin_block(f, r, &block, NULL) != LW_OK)
        return false;
    *core = f->core;
    *slot = block->slot;
    return true;
}

static uint64_t functional_instructions(const struct emu_engine *engine)
{
    return emu_threads_instructions(self_const(engine));
}

static void functional_destroy(struct emu_engine *engine)
{
    struct emu_functional *f = self(engine);

    emu_threads_destroy(f->pool);
    emu_core_destroy(f->core);
    free(f->resident);
    free(f);
}

static const struct emu_engine_ops functional_ops = {
    .name = "functional",
    .destroy = functional_destroy,
    .run = functional_run,
    .step = functional_step,
    .step_warp = functional_step_warp,
    .run_others = functional_run_others,
    .warp_count = functional_warp_count,
    .warp_at = functional_warp_at,
    .locate = functional_locate,
    .instructions = functional_instructions,
};

static enum lw_status create(struct emu_machine *machine, unsigned slots,
                             struct emu_functional **out, struct lw_error *err)
{
    /* a cache line is one thread's */
    size_t bytes = (sizeof(struct emu_functional) + 127) / 128 * 128;
    struct emu_functional *f = aligned_alloc(128, bytes);
    enum lw_status status;

    if (f == NULL)
        return LW_FAIL(err, LW_ENOMEM, "engine");
    memset(f, 0, sizeof *f);
    f->base.ops = &functional_ops;
    f->base.threads = 1;
    f->base.machine = machine;
    f->base.stop_at = UINT64_MAX;
    f->resident = calloc(slots, sizeof *f->resident);
    if (f->resident == NULL) {
        free(f);
        return LW_FAIL(err, LW_ENOMEM, "engine");
    }
    status = emu_core_create(machine, slots, NULL, NULL, &f->core, err);
    if (status != LW_OK) {
        free(f->resident);
        free(f);
        return status;
    }
    *out = f;
    return LW_OK;
}

enum lw_status emu_engine_functional_create(struct emu_machine *machine,
                                            struct emu_engine **out, struct lw_error *err)
{
    struct emu_functional *f;
    /* a block has a warp at least */
    enum lw_status status = create(machine, machine->config.resident_warps, &f, err);

    if (status == LW_OK)
        *out = &f->base;
    return status;
}

struct emu_functional *emu_functional_helper(struct emu_machine *machine)
{
    struct emu_functional *f;

    if (create(machine, 1, &f, NULL) != LW_OK)
        return NULL;
    f->core->helper = true;
    machine->helper_count++;
    return f;
}

void emu_observer_add(struct emu_engine *engine, struct emu_observer *observer)
{
    observer->next = engine->observers;
    engine->observers = observer;
}
void emu_observer_remove(struct emu_engine *engine, struct emu_observer *observer)
{
    for (struct emu_observer **at = &engine->observers; *at != NULL; at = &(*at)->next) {
        if (*at == observer) {
            *at = observer->next;
            return;
        }
    }
}
