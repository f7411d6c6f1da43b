/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functional engine: executes in the fixed order (MACHINE 4). One launch of the host runs at a time, together with all
 * launches that the device makes from it. The resident blocks are the first blocks of these launches that have not ended, in the
 * order of launches and block numbers, as many as config.resident_warps permits. A block runs its warps in rotation.
 */
#include <stdio.h>
#include <stdlib.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/engine/emu_block_vector_priv.h"
#include "emu/engine/emu_threads_priv.h"

/* The interpreter may switch directly from warp to warp for at most this many instructions. After this number, the interpreter
 * returns to the engine, which checks whether another thread has interrupted the run. */
enum { MOST_HANDED = 1 << 16 };
/* Additional slots for a replay, because other engines may have had more blocks at a time than the fixed order. */
enum { REPLAY_SLOTS = 4096 };

static struct emu_functional *self(struct emu_engine *engine)
{
    return (struct emu_functional *)engine;
}
static const struct emu_functional *self_const(const struct emu_engine *engine)
{
    return (const struct emu_functional *)engine;
}

/** Removes the current block, which has just run, if all its warps have ended. The block is removed immediately, so that
 *  the state after its last instruction is the same whether this instruction ran in a time slice or as a single step. */
static void retire_ended_current(struct emu_functional *f, const struct emu_block *block)
{
    if (block->warps_live == 0)
        emu_fixed_retire_block(f, f->current);
}

/* ---- stops -------------------------------------------------------------------------------- */

void emu_fixed_thread_ref(const struct emu_warp *w, int split, struct emu_thread_ref *place)
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

void emu_fixed_break(const struct emu_warp *w, struct emu_stop *stop)
{
    stop->kind = EMU_STOP_BREAK;
    emu_fixed_thread_ref(w, w->running, &stop->place);
}

/** Returns true if the blocks of @grid run one after another. If so, no block with a higher index has printed text yet. */
static bool runs_alone(const struct emu_grid *grid)
{
    return !emu_grid_of_device(grid) &&
           emu_kernel_block_order_free(grid->launch.program, grid->launch.kernel);
}

void emu_fixed_fault(const struct emu_warp *w, struct emu_stop *stop)
{
    if (!w->core->machine->threaded) /* With several threads, emu_text_stopped() is called when all threads have
                                      * returned. */
        emu_text_stopped(w->core->machine, w->block->grid->sequence, w->block->linear,
                         runs_alone(w->block->grid));
    stop->kind = EMU_STOP_FAULT;
    stop->fault = w->fault;
    emu_fixed_thread_ref(w, w->running, &stop->place);
    stop->place.pc = w->fault.pc;
    if (w->running < 0)
        stop->place.lanes = w->fault.lanes;
}

void emu_core_fault_stop(struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_stop *stop)
{
    memset(stop, 0, sizeof *stop);
    emu_fixed_fault(&emu_core_block(core, slot)->warp[warp], stop);
}

/** Destroys the spin observer, so that warps that may loop without progress are no longer observed. */
static void end_probe(struct emu_functional *f)
{
    emu_spin_observer_destroy(f->probe);
    f->probe = NULL;
}

static void hang_stop(struct emu_block *block, const struct emu_hang_cause *cause,
                      struct emu_stop *stop)
{
    if (!block->core->machine->threaded)
        emu_text_stopped(block->core->machine, block->grid->sequence, block->linear,
                         runs_alone(block->grid));
    stop->kind = EMU_STOP_HANG;
    emu_block_explain(block, cause, &stop->hang);
    stop->place.grid = stop->hang.grid;
    stop->place.block = stop->hang.block;
    stop->place.warp = stop->hang.warp;
    stop->place.lanes = stop->hang.lanes;
    stop->place.pc = stop->hang.pc;
}

void emu_fixed_hang(struct emu_functional *f, struct emu_block *block, bool livelock,
                    struct emu_stop *stop)
{
    struct emu_hang_cause cause = {.livelock = livelock, .probe = f->probe, .alone = f->order_free};

    hang_stop(block, &cause, stop);
    end_probe(f);
}

void emu_core_hang_stop(struct emu_core *core, unsigned slot, const struct emu_spin_observer *probe,
                        struct emu_stop *stop)
{
    const struct emu_hang_cause cause = {.livelock = probe != NULL, .probe = probe};

    memset(stop, 0, sizeof *stop);
    hang_stop(emu_core_block(core, slot), &cause, stop);
}

/** Records @now as the time of progress of block @b if @b has made progress since the last call. *@latest is
 *  raised to 1 + the time of the progress of @b; after calls for several blocks, it is 1 + the time of the latest progress of any
 *  of them. */
static void see_progress(struct emu_block *b, uint64_t now, uint64_t *latest)
{
    if (b->progress != b->seen || b->seen_at == 0) {
        b->seen = b->progress;
        b->seen_at = now + 1;
    }
    *latest = b->seen_at > *latest ? b->seen_at : *latest;
}

/** Returns true if no block has made progress for a hang window (config.hang_window instructions), so that the running warps
 *  must be observed (MACHINE 4). Returns false, without a check, before the core has executed watch_at instructions; the checks
 *  are therefore at the same instructions in every run. Each observation that ends without a proof doubles the hang window. If
 *  the blocks of the grid may run in any order (order_free), they run one after another. Only @current is then checked, and its
 *  hang window counts only its own instructions, so that the result is the same on any number of host threads. */
bool emu_fixed_check_progress(struct emu_functional *f, struct emu_block *current)
{
    uint64_t window = f->base.machine->config.hang_window, latest = 0, since;
    uint64_t now = f->order_free ? current->retired : f->core->retired;

    if (window == 0 || f->core->retired < f->watch_at)
        return false;
    if (f->order_free)
        see_progress(current, now, &latest);
    for (unsigned i = 0; !f->order_free && i < f->count; i++) {
        struct emu_block *b = emu_resident_block(f, &f->resident[i]);
        if (b != NULL)
            see_progress(b, now, &latest);
    }
    if (!f->order_free && f->gone_at > latest) /* for the other blocks, the end of a block is progress, too */
        latest = f->gone_at;
    since = now + 1 - latest;
    if (since < window)
        f->tries = 0;
    window = window > UINT64_MAX >> f->tries ? UINT64_MAX : window << f->tries;
    f->watch_at = f->core->retired + (window - (since < window ? since : 0)) / 2 + 1;
    return latest != 0 && since >= window;
}

static uint64_t all_progress(const struct emu_functional *f)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_block *b = emu_resident_block(f, &f->resident[i]);
        sum += b != NULL ? b->progress : 0;
    }
    return sum;
}

/** Searches for a hang. Returns whether it is proved that no thread at all, or no thread of @block, will ever make progress. Each
 *  running block is observed from the start of a time slice until a proof is found and enough of the block's reads are recorded.
 *  Progress ends the observation, and so does a warp for which no proof is possible. */
enum emu_stuck emu_fixed_stuck(struct emu_functional *f, struct emu_block *block)
{
    bool found = emu_fixed_check_progress(f, block), all = true;
    /* If blocks run in any order, @block does not wait for other blocks to end, so the end of another block is no progress of
     * @block. */
    uint64_t ended = f->order_free ? 0 : f->gone;

    if (f->probe == NULL) {
        if (!found)
            return EMU_STUCK_NONE;
        f->probe = emu_spin_observer_begin(f->base.machine, f->tries);
        if (f->probe == NULL)
            return EMU_STUCK_NONE; /* There is no memory for an observer. A later call of this function tries again to create an
                                    * observer. */
        f->probe->progress = all_progress(f);
        f->probe->gone = ended;
    } else if (all_progress(f) != f->probe->progress || f->probe->gone != ended) {
        f->tries = 0;
        end_probe(f);
        return EMU_STUCK_NONE;
    } else if (f->probe->failed) {
        f->tries += f->tries < 40;
        f->watch_at = f->core->retired; /* makes emu_fixed_check_progress() compute the time of the next check again */
        end_probe(f);
        (void)emu_fixed_check_progress(f, block);
        return EMU_STUCK_NONE;
    }
    f->probe->attached = !emu_spin_observer_has_proof(f->probe, block) || !emu_spin_observer_saw_reads(f->probe, block);
    for (unsigned i = 0; i < f->count && all && !f->order_free; i++) {
        struct emu_block *b = emu_resident_block(f, &f->resident[i]);
        if (b == NULL)
            all = false; /* The block has not begun, and may still write the values for which other blocks wait. */
        else if (b->warps_live != 0 && emu_block_can_run(b))
            all = emu_spin_observer_has_proof(f->probe, b) && emu_spin_observer_saw_reads(f->probe, b);
    }
    if (f->probe->attached)
        return EMU_STUCK_NONE;
    return all ? EMU_STUCK_ALL : EMU_STUCK_BLOCK;
}

/** Returns true if it is proved that no resident block will ever make progress. In a replay the result is always false, because
 *  the recorded run continued after this instruction. */
static bool hangs(struct emu_functional *f, struct emu_block *block)
{
    if (emu_fixed_stuck(f, block) != EMU_STUCK_ALL)
        return false;
    if (f->replaying) /* The recorded run continued at this point, so the proof is dropped. */
        end_probe(f);
    return !f->replaying;
}

/** Returns the list of observers that are called for the next instructions of @w. If the spin observer needs these
 *  instructions, it is the head of the list, before @observers; otherwise the list is @observers. */
struct emu_observer *emu_fixed_watching(struct emu_functional *f, const struct emu_warp *w,
                                        struct emu_observer *observers)
{
    if (f->probe == NULL || !emu_spin_observer_wants(f->probe, w))
        return observers;
    f->probe->observer.next = observers;
    return &f->probe->observer;
}

/** Returns true if all resident blocks have begun and none of their warps can run. */
bool emu_fixed_deadlocked(const struct emu_functional *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_block *b = emu_resident_block(f, &f->resident[i]);
        if (b == NULL || b->warps_live == 0 || emu_block_can_run(b))
            return false;
    }
    return true;
}

/* ---- the order ---------------------------------------------------------------------------------- */

/** Returns the warp of @block that runs next, after its split is selected. Returns NULL if no warp can run. */
static struct emu_warp *next_warp(struct emu_functional *f, struct emu_block *block)
{
    struct emu_warp *w = &block->warp[block->next_warp];
    const uint64_t offset = block->sleep_offset;

    if (f->warp_left != 0 && w->live != 0 && emu_split_has_ready(w) && emu_split_select_soon(w))
        return w;
    for (unsigned i = 1, at = block->next_warp; i <= block->warp_count; i++) {
        at = at + 1 < block->warp_count ? at + 1 : 0;
        w = &block->warp[at];
        if (w->live != 0 && emu_split_select_soon(w)) {
            block->next_warp = at;
            f->warp_left = f->base.machine->config.warp_quantum;
            if (block->sleep_offset != offset && !f->order_free && f->turn_left > f->warp_left)
                f->turn_left = f->warp_left; /* All warps slept, perhaps until another block does something. The next block
                                                * therefore runs after this time slice of the warp. */
            return w;
        }
    }
    return NULL;
}

/** Selects the warp that runs next, and returns it. Returns NULL if no warp can run: then either stop->kind is EMU_STOP_IDLE or
 *  EMU_STOP_HANG, or *@status is an error. */
struct emu_warp *emu_fixed_commit(struct emu_functional *f, struct emu_stop *stop,
                               enum lw_status *status, struct lw_error *err)
{
    unsigned stuck = 0;

    *status = LW_OK;
    for (;;) {
        struct emu_block *block;
        struct emu_warp *w;
        if (!emu_fixed_take_up_next(f)) {
            stop->kind = EMU_STOP_IDLE;
            return NULL;
        }
        if (f->count == 0) { /* The loaded state is invalid: no run can have produced it. */
            *status = LW_FAIL(err, LW_ESTATE, "the saved state is damaged: launches are not complete, but none of their blocks "
                                              "can run");
            return NULL;
        }
        if (f->turn_left == 0 || emu_resident_gives_way(f)) {
            f->current = emu_resident_next(f, f->current + 1, stuck);
            emu_fixed_new_slice(f);
        }
        *status = emu_fixed_begin(f, &f->resident[f->current], &block, err);
        if (*status != LW_OK)
            return NULL;
        if (block->warps_live == 0) {
            emu_fixed_retire_block(f, f->current);
            stuck = 0;
            continue;
        }
        if (hangs(f, block)) {
            emu_fixed_hang(f, block, true, stop);
            return NULL;
        }
        w = next_warp(f, block);
        if (w != NULL)
            return w;
        /* If the blocks of the grid may run in any order, no other block can release the waiting warps of this block. The block
         * hangs for ever, and the hang is reported without waiting for the other blocks. */
        if (f->order_free && !emu_block_can_run(block)) {
            emu_fixed_hang(f, block, false, stop);
            return NULL;
        }
        if (emu_block_suspended(block))
            emu_fixed_refill(f);
        if (++stuck >= f->count && emu_fixed_deadlocked(f)) {
            emu_fixed_hang(f, block, false, stop);
            return NULL;
        }
        f->turn_left = 0; /* No warp of the block can run, so its time slice ends. */
    }
}

/** Subtracts @count executed instructions from the rest of the time slices of the current warp and block. @more: a split of the
 *  warp is ready, so the warp may continue in its slice. */
static void account(struct emu_functional *f, uint64_t count, bool more)
{
    f->warp_left = more && count < f->warp_left ? f->warp_left - count : 0;
    if (f->turn_left != UINT64_MAX)
        f->turn_left = count < f->turn_left ? f->turn_left - count : 0;
}

bool emu_fixed_notify(struct emu_observer *observers, const struct emu_event *ev)
{
    bool stop = false;

    for (struct emu_observer *o = observers; o != NULL; o = o->next)
        stop = o->on_event(o, ev) || stop;
    return stop;
}

/** Executes one observed instruction of @w, the warp that emu_fixed_commit() returned. */
enum lw_status emu_fixed_step(struct emu_functional *f, struct emu_warp *w,
                                   struct emu_event *ev, struct emu_observer *observers,
                                   struct emu_stop *stop, struct lw_error *err)
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
    emu_fixed_thread_ref(w, w->running, &stop->place);
    if (ev->kind == EMU_EV_FAULT) {
        emu_fixed_fault(w, stop);
        return LW_OK;
    }
    account(f, ev->kind == EMU_EV_RETIRED, emu_split_has_ready(w));
    stop->kind = EMU_STOP_STEPPED;
    if (emu_fixed_notify(observers, ev) | emu_consume_halt_request(f->base.machine))
        stop->kind = EMU_STOP_OBSERVER;
    retire_ended_current(f, w->block);
    return LW_OK;
}

bool emu_fixed_at_breakpoint(const struct emu_warp *w)
{
    uint32_t index = emu_split_pc(w, (unsigned)w->running);

    return index < w->code->program->count && w->code->program->breakpoint[index];
}

struct emu_mark emu_fixed_mark(const struct emu_functional *f)
{
    return (struct emu_mark){f->core->retired, f->core->passes};
}

uint64_t emu_fixed_passes(const struct emu_functional *f, const struct emu_mark *mark)
{
    uint64_t passes = f->core->passes - mark->passes;

    if (f->core->retired != f->core->pass_retired)
        return 0;
    return passes < f->core->pass_run ? passes : f->core->pass_run;
}

/** Appends to the schedule log the instructions that the fixed order has executed since @mark. If @committed is set, the engine
 *  has already selected the warp of the next instruction, and the selection is appended, too. */
static void note_run(struct emu_functional *f, const struct emu_mark *mark, bool committed)
{
    struct emu_machine *machine = f->base.machine;
    struct emu_log_entry run = {.kind = EMU_LOG_RUN, .count = f->core->retired - mark->retired};
    struct emu_log_entry pass = {.kind = EMU_LOG_PASS, .count = emu_fixed_passes(f, mark)};

    if (!emu_log_is_recording(machine))
        return;
    if (run.count != 0)
        emu_log_add(machine->log, &run);
    if (pass.count != 0)
        emu_log_add(machine->log, &pass);
    if (committed)
        emu_log_add(machine->log, &(struct emu_log_entry){.kind = EMU_LOG_COMMIT});
}

static bool is_committed(const struct emu_stop *stop)
{
    return stop->kind == EMU_STOP_BREAK || stop->kind == EMU_STOP_FAULT ||
           stop->kind == EMU_STOP_HANG;
}

/** Runs a time slice of *@w, a warp of the current block, for at most @limit instructions. If the block ends, the caller must
 *  remove the block. If @hand is set, the interpreter may switch directly to the next warps of the block, as long as all slices
 *  together do not exceed @limit instructions; *@w is then set to the warp that ran last. */
static enum emu_slice_end turn(struct emu_functional *f, struct emu_warp **w, uint64_t limit,
                              bool hand)
{
    struct emu_core *core = f->core;
    const struct emu_warp *first = *w;
    const uint64_t before = core->retired;
    uint64_t count, earlier;
    enum emu_slice_end end;

    limit = limit < f->turn_left ? limit : f->turn_left;
    /* There are no direct switches if there is a spin observer, which must see the end of each slice. The members shadow and
     * reaches are tested only in the first warp, because they are equal in all warps. */
    if (hand && f->probe == NULL && (*w)->shadow == NULL && !(*w)->reaches) {
        core->hand.quantum = f->base.machine->config.warp_quantum;
        core->hand.launches = f->launches_seen;
        core->hand.until = before + (limit < MOST_HANDED ? limit : MOST_HANDED);
    }
    end = emu_warp_run_slice(w, limit < f->warp_left ? limit : f->warp_left, &count);
    earlier = core->retired - before - count;
    if (*w != first || earlier != 0) { /* After a direct switch, the last warp began its time slice with a whole quantum. */
        f->warp_left = core->hand.quantum;
        if (f->turn_left != UINT64_MAX)
            f->turn_left -= earlier;
    }
    core->hand.until = 0;
    account(f, count, emu_split_has_ready(*w));
    return end;
}

/** Returns how many instructions may run before the engine must do something else than select the next warp: @limit, or fewer if
 *  a check for a livelock or a snapshot is due earlier. The check is exactly at instruction count watch_at, whatever the limits
 *  of the calls are. */
static uint64_t until_due(const struct emu_functional *f, uint64_t limit)
{
    const uint64_t now = f->core->retired;

    if (f->base.machine->config.hang_window != 0 && limit > f->watch_at - now)
        limit = f->watch_at - now;
    if (limit > f->snapshot_at - now && f->snapshot_at > now)
        limit = f->snapshot_at - now;
    return limit;
}

uint64_t emu_fixed_native_until(const struct emu_functional *f)
{
    const uint64_t margin = 1 << 21; /* more instructions than native code executes between two checks of its limit */
    const uint64_t stop = f->snapshot_at < f->base.stop_at ? f->snapshot_at : f->base.stop_at;

    if (f->placed || f->replaying || f->probe != NULL)
        return 0;
    if (f->claims != NULL) /* The grid runs on several host threads, where no stop and no snapshot is due. */
        return UINT64_MAX;
    return stop > margin ? stop - margin : 0;
}

/** Runs the warps of the current block in rotation, beginning with *@w, until emu_fixed_commit() would do more than select the
 *  next warp of this block. *@w is set to the last warp that ran. If the grid runs on several host threads, the function returns
 *  after 65,536 instructions at most, because another thread may meanwhile have found a reason to stop the run. */
static enum emu_slice_end rotate(struct emu_functional *f, struct emu_warp **w)
{
    struct emu_engine *engine = &f->base;
    struct emu_block *block = (*w)->block;
    const uint64_t start = f->core->retired, most = f->claims != NULL ? 1 << 16 : UINT64_MAX;
    uint64_t due = start + until_due(f, engine->stop_at - start);
    enum emu_slice_end end;

    due = due - start < most ? due : start + most;
    emu_native_use((*w)->core, block->grid, block, emu_fixed_native_until(f));
    for (;;) {
        struct emu_warp *next;
        end = turn(f, w, due - f->core->retired, true);
        if (end == EMU_SLICE_BREAK || end == EMU_SLICE_FAULT || block->warps_live == 0 ||
            f->turn_left == 0 || f->core->retired >= due || f->probe != NULL ||
            f->launches_seen != engine->machine->launch_changes ||
            engine->machine->halt || __atomic_load_n(&engine->interrupted, __ATOMIC_RELAXED))
            break;
        next = next_warp(f, block);
        if (next == NULL || (next->parts && emu_split_divided(next)))
            break;
        *w = next;
    }
    (*w)->core->native.until = 0; /* A replay, which must not use native code, may run this warp next. */
    if ((*w)->core->native.parked != 0)
        emu_native_unpark(block);
    retire_ended_current(f, block);
    return end;
}

static enum lw_status run_on(struct emu_functional *f, struct emu_mark *mark,
                             struct emu_stop *stop, struct lw_error *err)
{
    struct emu_engine *engine = &f->base;
    /* On threads, observers that were added while a grid runs are called only from the next grid on. */
    struct emu_observer *observers = f->claims == NULL ? engine->observers : NULL;
    struct emu_event ev;
    enum lw_status status;

    while (stop->kind == EMU_STOP_NONE || stop->kind == EMU_STOP_STEPPED) {
        stop->kind = EMU_STOP_NONE;
        if (f->claims == NULL && emu_consume_interrupt(engine)) {
            stop->kind = EMU_STOP_INTERRUPTED;
            break;
        }
        if (f->claims == NULL && engine->threads > 1 && emu_fixed_take_up_next(f) && emu_threads_wanted(f)) {
            status = emu_threads_run(f, stop, err);
            if (status != LW_OK)
                return status;
            continue;
        }
        if (observers == NULL && (emu_native_blocks(f) || emu_block_vector_blocks(f)))
            continue;
        if (f->core->retired >= engine->stop_at) {
            stop->kind = EMU_STOP_COUNT;
            break;
        }
        if (f->core->retired >= f->snapshot_at) {
            note_run(f, mark, false);
            *mark = emu_fixed_mark(f);
            f->history->tick(f->history);
        }
        struct emu_warp *w = emu_fixed_commit(f, stop, &status, err);
        if (w == NULL)
            return status;
        struct emu_observer *seers = emu_fixed_watching(f, w, observers);
        if (seers != NULL || emu_split_divided(w)) {
            if (emu_fixed_at_breakpoint(w) && f->claims == NULL) {
                emu_fixed_break(w, stop);
                break;
            }
            status = emu_fixed_step(f, w, &ev, seers, stop, err);
            if (status != LW_OK)
                return status;
            continue;
        }
        enum emu_slice_end end = rotate(f, &w);
        if (end == EMU_SLICE_BREAK && f->claims != NULL) { /* The breakpoint was set while the grid ran on threads, so the run
                                                            * steps over it. */
            status = emu_fixed_step(f, w, &ev, observers, stop, err);
            if (status != LW_OK)
                return status;
        } else if (end == EMU_SLICE_BREAK) {
            emu_fixed_break(w, stop);
            break;
        } else if (end == EMU_SLICE_FAULT) {
            emu_fixed_fault(w, stop);
            break;
        }
        if (f->claims == NULL && emu_consume_halt_request(engine->machine)) {
            stop->kind = EMU_STOP_OBSERVER;
            break;
        }
        /* tested after the time slice, so that a run advances even if it is interrupted often */
        if (f->claims != NULL && stop->kind != EMU_STOP_FAULT && f->count != 0)
            (void)emu_claims_stop(f->claims, f->resident[0].linear, stop);
    }
    return LW_OK;
}

enum lw_status emu_fixed_on_threads(struct lw_error *err)
{
    return LW_FAIL(err, LW_ESTATE, "a grid that runs on several host threads cannot be stepped: start it on one host "
                                   "thread");
}

enum emu_slice_end emu_fixed_slice(struct emu_functional *f, struct emu_warp *w, uint64_t limit)
{
    struct emu_block *block = w->block;
    enum emu_slice_end end = turn(f, &w, until_due(f, limit), false);

    retire_ended_current(f, block);
    return end;
}

static enum lw_status functional_run(struct emu_engine *engine, struct emu_stop *stop,
                                     struct lw_error *err)
{
    struct emu_functional *f = self(engine);
    struct emu_mark mark;
    enum lw_status status;

    memset(stop, 0, sizeof *stop);
    f->listed.at = f->counted.at = 0;
    if (f->history != NULL)
        f->history->begin(f->history);
    if (emu_log_in_history(engine->machine->log)) {
        status = emu_replay_run(f, stop, err);
        if (status != LW_OK || stop->kind != EMU_STOP_NONE)
            return status;
    }
    mark = emu_fixed_mark(f);
    status = run_on(f, &mark, stop, err);
    note_run(f, &mark, is_committed(stop));
    return status;
}

static enum lw_status functional_step(struct emu_engine *engine, struct emu_event *ev,
                                      struct emu_stop *stop, struct lw_error *err)
{
    struct emu_functional *f = self(engine);
    struct emu_mark mark;
    enum lw_status status;

    memset(stop, 0, sizeof *stop);
    if (emu_threads_are_running(f))
        return emu_fixed_on_threads(err);
    f->listed.at = f->counted.at = 0;
    if (f->history != NULL)
        f->history->begin(f->history);
    if (emu_log_in_history(engine->machine->log)) {
        status = emu_replay_step(f, ev, stop, err);
        if (status != LW_OK || stop->kind != EMU_STOP_NONE)
            return status;
    }
    mark = emu_fixed_mark(f);
    do { /* Repeats if the step executed no instruction, because a part of a divided split only began to wait for the other
          * parts. */
        struct emu_warp *w = emu_fixed_commit(f, stop, &status, err);
        if (w == NULL)
            break;
        status = emu_fixed_step(f, w, ev, emu_fixed_watching(f, w, engine->observers), stop, err);
    } while (status == LW_OK && stop->kind == EMU_STOP_NONE);
    note_run(f, &mark, is_committed(stop));
    return status;
}

/* ---- views ------------------------------------------------------------------------------------------ */

static uint64_t functional_instructions(const struct emu_engine *engine)
{
    return emu_threads_instructions(self_const(engine));
}

static unsigned functional_warp_count(const struct emu_engine *engine)
{
    struct emu_functional *f = emu_threads_view(self((struct emu_engine *)(uintptr_t)engine));
    uint64_t now = functional_instructions(engine) + 1;
    unsigned n = 0;

    if (!emu_fixed_take_up_next(f))
        return 0;
    if (f->counted.at == now && f->counted.blocks == f->count &&
        (f->count == 0 || f->counted.grid == f->resident[0].grid))
        return f->counted.warps;
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_block *b = emu_resident_block(f, &f->resident[i]);
        n += b != NULL ? b->warps_live : f->resident[i].grid->block_warps;
    }
    f->counted.at = now;
    f->counted.blocks = f->count;
    f->counted.grid = f->count != 0 ? f->resident[0].grid : NULL;
    f->counted.warps = n;
    return n;
}

/* Returns the thread reference of a resident warp by index. Callers that list warps request consecutive indices. Each search
 * therefore begins where the last search ended, if nothing has run since and the index is not lower. */
static bool functional_warp_at(const struct emu_engine *engine, unsigned index,
                               struct emu_thread_ref *place)
{
    struct emu_functional *f = emu_threads_view(self((struct emu_engine *)(uintptr_t)engine));
    uint64_t now = functional_instructions(engine) + 1;
    unsigned first = 0, i = 0;

    if (f->listed.at == now && f->listed.place < f->count && index > f->listed.first) {
        first = f->listed.first;
        i = f->listed.place;
        index -= first;
    }
    for (; i < f->count; i++) {
        const struct emu_block *b = emu_resident_block(f, &f->resident[i]);
        const struct emu_grid *grid = f->resident[i].grid;
        unsigned n = b != NULL ? b->warps_live : grid->block_warps;
        if (index >= n) {
            index -= n;
            first += n;
            continue;
        }
        f->listed.place = i;
        f->listed.first = first;
        f->listed.at = now;
        if (b == NULL) {
            unsigned width = f->base.machine->config.warp_width;
            uint32_t left = grid->block_threads - index * width;
            memset(place, 0, sizeof *place);
            place->grid = grid->sequence;
            place->block = f->resident[i].linear;
            place->warp = index;
            place->lanes = lw_mask(left < width ? left : width);
            place->pc = emu_program_base(grid->launch.program) +
                        (uint64_t)grid->launch.kernel->first * ISA_WORD_BYTES;
            return true;
        }
        for (unsigned k = 0; k < b->warp_count; k++) {
            const struct emu_warp *w = &b->warp[k];
            if (w->live == 0 || index-- != 0)
                continue;
            int split = w->running;
            for (LW_EACH_BIT(id, w->split_ids)) /* No split is running: takes the split with the lowest lane. */
                if (split < 0 || (w->running < 0 && lw_lowest(w->split[id].lanes) <
                                                        lw_lowest(w->split[split].lanes)))
                    split = (int)id;
            emu_fixed_thread_ref(w, split, place);
            return true;
        }
    }
    return false;
}

static bool functional_locate(struct emu_engine *engine, uint32_t grid, uint64_t linear,
                              struct emu_core **core, unsigned *slot)
{
    struct emu_functional *f = emu_threads_view(self(engine));
    struct emu_resident *r = emu_fixed_find(f, grid, linear);
    struct emu_block *block;

    if (r == NULL)
        return false;
    if (r->slot >= 0) {
        block = emu_resident_block(f, r);
    } else {
        if (emu_fixed_begin(f, r, &block, NULL) != LW_OK)
            return false;
        block->unseen = engine->machine->again; /* true during a replay, in which checkers are not notified that the
                                                 * block begins */
    }
    *core = f->core;
    *slot = block->slot;
    return true;
}

/** Returns the number of warp slots of each block slot. Usually the result is the number of warps in a block of the running grid.
 *  If kernels may launch other kernels, or if another engine placed the blocks, resident blocks may differ in size; the result is
 *  then the largest number of warps that any block can have. */
static unsigned slot_warps(const struct emu_functional *f)
{
    return f->grid != NULL && !emu_program_launches(f->grid->launch.program)
               ? f->grid->block_warps
               : EMU_MAX_BLOCK_THREADS / f->base.machine->config.warp_width;
}

static bool functional_slot_of(const struct emu_engine *engine, enum emu_slot_kind kind,
                               const struct emu_thread_ref *place, unsigned *number)
{
    struct emu_functional *f = emu_threads_view(self((struct emu_engine *)(uintptr_t)engine));
    const struct emu_resident *r = emu_fixed_find(f, place->grid, place->block);

    if (r == NULL)
        return false;
    *number = kind == EMU_SLOT_BLOCK ? r->number : r->number * slot_warps(f) + place->warp;
    return true;
}

static bool functional_slot_at(const struct emu_engine *engine, enum emu_slot_kind kind,
                               unsigned number, struct emu_thread_ref *place)
{
    struct emu_functional *f = emu_threads_view(self((struct emu_engine *)(uintptr_t)engine));
    unsigned each = kind == EMU_SLOT_BLOCK ? 1 : slot_warps(f);

    for (unsigned i = 0; emu_fixed_take_up_next(f) && i < f->count; i++) {
        const struct emu_resident *r = &f->resident[i];
        if (r->number != number / each)
            continue;
        *place = (struct emu_thread_ref){.grid = r->grid->sequence, .block = r->linear,
                                         .warp = number % each};
        return place->warp < r->grid->block_warps;
    }
    return false;
}

static void functional_destroy(struct emu_engine *engine)
{
    struct emu_functional *f = self(engine);

    emu_threads_destroy(f->pool);
    end_probe(f);
    emu_core_destroy(f->core);
    free(f->places);
    free(f->free_numbers);
    free(f);
}

/* Operations of the functional engine, which exists under two names. While the machine's log has entries to replay, the engine
 * replays them. */
#define OPS(engine_name)                                                                      \
    {                                                                                         \
        .name = engine_name, .destroy = functional_destroy, .run = functional_run,            \
        .step = functional_step, .step_warp = emu_fixed_step_warp,                            \
        .run_other_warps = emu_fixed_run_others, .warp_count = functional_warp_count,              \
        .warp_at = functional_warp_at, .locate = functional_locate,                           \
        .slot_of = functional_slot_of, .slot_at = functional_slot_at,                         \
        .instructions = functional_instructions,                                              \
    }
static const struct emu_engine_ops engine_ops[] = {OPS("functional"), OPS("replay")};

struct emu_functional *emu_fixed_of(struct emu_engine *engine)
{
    return engine->ops == &engine_ops[0] || engine->ops == &engine_ops[1] ? self(engine) : NULL;
}

/** Creates an engine. @slots: number of block slots for the fixed order; @more: number of additional slots for replays. */
static enum lw_status create(struct emu_machine *machine, unsigned slots, unsigned more,
                             struct emu_functional **out, struct lw_error *err)
{
    /* rounded up, so that threads share no cache line */
    size_t bytes = (sizeof(struct emu_functional) + 127) / 128 * 128;
    struct emu_functional *f = aligned_alloc(128, bytes);
    enum lw_status status;

    if (f == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the engine");
    memset(f, 0, sizeof *f);
    f->base.ops = &engine_ops[0];
    f->base.threads = 1;
    f->base.machine = machine;
    f->base.stop_at = UINT64_MAX;
    f->snapshot_at = UINT64_MAX;
    status = emu_resident_capacity(f, slots) ? emu_core_create(machine, slots + more, NULL, NULL, &f->core, err)
                                             : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the engine");
    if (status != LW_OK) {
        functional_destroy(&f->base);
        return status;
    }
    f->core->notes_itself = true;
    *out = f;
    return LW_OK;
}

enum lw_status emu_engine_functional_create(struct emu_machine *machine,
                                            struct emu_engine **out, struct lw_error *err)
{
    return emu_fixed_create(machine, false, out, err);
}

enum lw_status emu_fixed_create(struct emu_machine *machine, bool replay,
                                struct emu_engine **out, struct lw_error *err)
{
    struct emu_functional *f;
    enum lw_status status = create(machine, emu_fixed_slots(machine), replay ? REPLAY_SLOTS : 0,
                                   &f, err);

    if (status != LW_OK)
        return status;
    f->base.ops = &engine_ops[replay];
    *out = &f->base;
    return LW_OK;
}

struct emu_functional *emu_functional_helper(struct emu_machine *machine)
{
    struct emu_functional *f;

    if (create(machine, 1, 0, &f, NULL) != LW_OK)
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
