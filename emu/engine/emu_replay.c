/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: drives the functional engine's state by the entries of a schedule log instead of by its own choice. Edits and host
 * steps between two instructions are replayed immediately after the first of the two instructions, so that the state of the
 * machine at instruction count N is unique.
 */
#include <limits.h>
#include <stdio.h>

#include "emu/engine/emu_threads_priv.h"
#include "emu/interp/emu_layers_priv.h"

/** Condition that ends a replay. */
struct want {
    uint64_t until;   /* instruction count at which the replay stops */
    bool silent;      /* breakpoints, interrupts and faults do not stop the replay */
    struct emu_observer *observers;
    bool one;         /* the replay stops after one instruction of `lanes` */
    const struct emu_thread_ref *lanes; /* lanes whose instruction stops the replay; NULL: any lanes */
    struct emu_event *ev; /* receives the event of the instruction that stopped the replay */
    bool front;       /* the replay stops at log->front, the farthest position that the run has reached */
};

static enum lw_status diverged(const struct emu_functional *f, struct lw_error *err,
                             const char *why)
{
    const struct emu_log *log = f->base.machine->log;

    return LW_FAIL(err, LW_EINPUT, "%s does not match this run at instruction %llu: %s",
                   log->name[0] != '\0' ? log->name : "the schedule log",
                   (unsigned long long)f->core->retired, why);
}

/* ---- entries that run something ------------------------------------------------------------ */

static bool watched(const struct emu_functional *f, const struct want *want,
                    const struct emu_warp *w)
{
    (void)f;
    return want->observers != NULL || want->one || emu_split_divided(w);
}

/** Returns true if @ev is the event that ends the replay. */
static bool wanted(const struct want *want, const struct emu_event *ev)
{
    const struct emu_thread_ref *p = want->lanes;

    return want->one && (p == NULL || (ev->grid->sequence == p->grid && ev->block == p->block &&
                                       ev->warp == p->warp &&
                                       (p->lanes == 0 || (ev->split_lanes & p->lanes) != 0)));
}

/** Returns how many of the remaining instructions of entry @e the replay may execute now: no further than instruction count
 *  want->until and, if want->front is set, no further than log->front. */
static uint64_t most_of(const struct emu_functional *f, const struct want *want, const struct emu_log_entry *e)
{
    const struct emu_log *log = f->base.machine->log;
    uint64_t most = e->count - log->cursor.done;

    if (want->front && log->front.at == log->cursor.at && most > log->front.done - log->cursor.done)
        most = log->front.done - log->cursor.done;
    return most < want->until - f->core->retired ? most : want->until - f->core->retired;
}

static enum lw_status slice_ended(const struct emu_functional *f, const struct emu_warp *w, enum emu_slice_end end,
                                  struct emu_stop *stop, struct lw_error *err)
{
    if (end == EMU_SLICE_FAULT)
        return diverged(f, err, "an instruction faults here, but the log continues");
    if (emu_consume_halt_request(f->base.machine))
        stop->kind = EMU_STOP_OBSERVER;
    if (end == EMU_SLICE_BREAK)
        emu_fixed_break(w, stop);
    return LW_OK;
}

/** Executes the remaining instructions of entry @e in the fixed order. */
static enum lw_status run_order(struct emu_functional *f, const struct want *want,
                                const struct emu_log_entry *e, struct emu_stop *stop,
                                struct lw_error *err)
{
    struct emu_log *log = f->base.machine->log;
    struct emu_mark mark = emu_fixed_mark(f);
    struct emu_event local, *ev = want->ev != NULL ? want->ev : &local;
    enum lw_status status;
    struct emu_warp *w = f->placed ? NULL : emu_fixed_commit(f, stop, &status, err);

    if (f->placed)
        return diverged(f, err, "the log has blocks that another engine placed, such as the timing model, but this "
                                 "run has the fixed order");
    if (w == NULL) {
        stop->kind = EMU_STOP_NONE;
        return status != LW_OK ? status : diverged(f, err, "no warp can run here, but the log continues");
    }
    struct emu_observer *seers = emu_fixed_watching(f, w, want->observers);
    if (e->kind == EMU_LOG_PASS || want->one || seers != NULL || emu_split_divided(w)) {
        if (!want->silent && !want->one && emu_fixed_at_breakpoint(w)) {
            emu_fixed_break(w, stop);
            return LW_OK;
        }
        status = emu_fixed_step(f, w, ev, seers, stop, err);
        if (status != LW_OK)
            return status;
        if (stop->kind == EMU_STOP_FAULT)
            return diverged(f, err, "an instruction faults here, but the log continues");
        if (stop->kind == EMU_STOP_STEPPED && !wanted(want, ev))
            stop->kind = EMU_STOP_NONE;
        bool retired = f->core->retired != mark.retired;
        if (e->kind == EMU_LOG_PASS && retired)
            return diverged(f, err, "an instruction executes, but in the log lanes start to wait here");
        if (e->kind == EMU_LOG_PASS || retired)
            emu_log_advance(log, 1);
        return LW_OK;
    }
    enum emu_slice_end end = emu_fixed_slice(f, w, most_of(f, want, e));
    emu_log_advance(log, f->core->retired - mark.retired);
    return slice_ended(f, w, end, stop, err);
}

static enum lw_status warp_of(struct emu_functional *f, const struct emu_log_entry *e,
                              struct emu_warp **out, struct lw_error *err)
{
    struct emu_resident *r = emu_fixed_find(f, e->place.grid, e->place.block);
    struct emu_block *block;
    char why[120];
    enum lw_status status;

    if (r == NULL && !f->placed && f->grid != NULL) { /* The block is not resident yet, because in the preceding time slice
                                                       * another block had its place. */
        emu_fixed_refill(f);
        r = emu_fixed_find(f, e->place.grid, e->place.block);
    }
    if (r == NULL) {
        snprintf(why, sizeof why, "block %llu of launch %u is not resident",
                 (unsigned long long)e->place.block, e->place.grid);
        return diverged(f, err, why);
    }
    status = emu_fixed_begin(f, r, &block, err);
    if (status != LW_OK)
        return status;
    if (e->place.warp >= block->warp_count)
        return diverged(f, err, "the log has a warp that the block does not have");
    *out = &block->warp[e->place.warp];
    return LW_OK;
}

/** Executes one observed step of a split. */
static enum lw_status step(struct emu_functional *f, const struct want *want, struct emu_warp *w,
                           unsigned split, uint64_t lanes, struct emu_stop *stop,
                           struct lw_error *err)
{
    struct emu_event local, *ev = want->ev != NULL ? want->ev : &local;
    struct lw_error why;
    struct emu_thread_ref place;
    enum lw_status status;

    if (emu_split_by_id(w, split) < 0)
        return diverged(f, err, "the log has a split that the warp does not have");
    emu_fixed_thread_ref(w, (int)split, &place);
    status = emu_warp_step(f->core, w->block->slot, w->index, split,
                           lanes != 0 ? lanes : w->split[split].lanes, ev, &why);
    if (status == LW_EAGAIN)
        return LW_OK;
    if (status != LW_OK)
        return diverged(f, err, why.text);
    stop->place = place;
    if (ev->kind == EMU_EV_FAULT) {
        if (!want->silent)
            emu_fixed_fault(w, stop);
        return LW_OK;
    }
    if (wanted(want, ev))
        stop->kind = EMU_STOP_STEPPED;
    if (emu_fixed_notify(want->observers, ev) | emu_consume_halt_request(f->base.machine))
        stop->kind = EMU_STOP_OBSERVER;
    return LW_OK;
}

/** Returns true, with @stop filled, if the split is at a breakpoint at which this replay stops. */
static bool breaks(const struct want *want, const struct emu_warp *w, unsigned split,
                   struct emu_stop *stop)
{
    uint32_t index;

    if (want->silent || want->one || emu_split_by_id(w, split) < 0)
        return false;
    index = emu_split_pc(w, split);
    if (index >= w->code->program->count || !w->code->program->breakpoint[index])
        return false;
    stop->kind = EMU_STOP_BREAK;
    emu_fixed_thread_ref(w, (int)split, &stop->place);
    return true;
}

static enum lw_status run_step(struct emu_functional *f, const struct want *want,
                               const struct emu_log_entry *e, struct emu_stop *stop,
                               struct lw_error *err)
{
    struct emu_warp *w;
    enum lw_status status = warp_of(f, e, &w, err);

    if (status != LW_OK || breaks(want, w, e->place.split, stop))
        return status;
    status = step(f, want, w, e->place.split, e->place.lanes, stop, err);
    f->answers.count = f->answers.next = 0;
    if (status != LW_OK)
        return status;
    emu_log_advance(f->base.machine->log, 1);
    emu_fixed_retire(f);
    return LW_OK;
}

/** Executes the last @count steps of a time slice, which follow its last retired instruction and retired nothing. */
static enum lw_status run_passes(struct emu_functional *f, const struct want *want,
                                 struct emu_warp *w, uint64_t count, struct emu_stop *stop,
                                 struct lw_error *err)
{
    struct emu_mark mark = emu_fixed_mark(f);
    enum lw_status status = LW_OK;

    for (uint64_t i = 0; i < count && status == LW_OK; i++) {
        if (w->live == 0 || !emu_split_select(w))
            return diverged(f, err, "no split of the warp can run here, but the log continues");
        status = step(f, want, w, (unsigned)w->running, 0, stop, err);
        if (status == LW_OK && (f->core->retired != mark.retired || stop->kind == EMU_STOP_FAULT))
            return diverged(f, err, "an instruction executes, but in the log lanes start to wait here");
    }
    return status;
}

static enum lw_status run_slice(struct emu_functional *f, const struct want *want,
                               const struct emu_log_entry *e, struct emu_stop *stop,
                               struct lw_error *err)
{
    struct emu_log *log = f->base.machine->log;
    struct emu_mark mark = emu_fixed_mark(f);
    uint64_t left = e->count - log->cursor.done, count;
    struct emu_warp *w;
    enum lw_status status = warp_of(f, e, &w, err);

    if (status != LW_OK)
        return status;
    if (left != 0) {
        if (w->live == 0 || !emu_split_select(w))
            return diverged(f, err, "no split of the warp can run here, but the log continues");
        if (watched(f, want, w)) {
            if (breaks(want, w, (unsigned)w->running, stop))
                return LW_OK;
            status = step(f, want, w, (unsigned)w->running, 0, stop, err);
            if (status != LW_OK)
                return status;
            if (stop->kind == EMU_STOP_FAULT)
                return diverged(f, err, "an instruction faults here, but the log continues");
        } else {
            enum emu_slice_end end = emu_warp_run_slice(&w, most_of(f, want, e), &count);
            status = slice_ended(f, w, end, stop, err);
            if (status != LW_OK)
                return status;
            if (end != EMU_SLICE_BREAK && count == 0)
                return diverged(f, err, "no split of the warp can run here, but the log continues");
        }
    }
    count = f->core->retired - mark.retired;
    if (count == left && stop->kind != EMU_STOP_BREAK) {
        status = run_passes(f, want, w, e->value, stop, err);
        if (status != LW_OK)
            return status;
        emu_log_advance(log, count);
    } else if (count != 0) {
        emu_log_advance(log, count);
    }
    emu_fixed_retire(f);
    return LW_OK;
}

/* ---- entries between instructions ------------------------------------------------------------- */

static enum lw_status put_block(struct emu_functional *f, const struct emu_log_entry *e,
                                  struct lw_error *err)
{
    struct emu_machine *machine = f->base.machine;
    struct emu_grid *grid = machine->grids;
    unsigned slot, at = f->count;
    enum lw_status status;

    while (grid != NULL && grid->sequence != e->place.grid)
        grid = grid->next;
    if (grid == NULL || e->place.block >= grid->block_count)
        return diverged(f, err, "the log starts a block that does not exist");
    if (!f->placed) { /* drops blocks that the fixed order has made resident, and blocks that exist only because they were
                       * inspected */
        for (unsigned i = 0; i < f->count; i++) {
            const struct emu_block *block = emu_resident_block(f, &f->resident[i]);
            if (block != NULL && block->retired != 0)
                return diverged(f, err, "the log chooses the block that starts next, but earlier blocks of this launch "
                                        "ran in the fixed order");
        }
        for (unsigned i = 0; i < f->count; i++)
            if (f->resident[i].slot >= 0) {
                struct emu_grid *looked_at = f->resident[i].grid;
                looked_at->blocks_started--;
                f->core->stats.blocks--;
                f->core->stats.warps -= looked_at->block_warps;
                emu_core_block_free(f->core, (unsigned)f->resident[i].slot);
            }
        f->placed = true;
        emu_resident_clear(f);
        f->grid = NULL;
        at = 0;
    }
    if (emu_fixed_find(f, e->place.grid, e->place.block) != NULL)
        return diverged(f, err, "the log starts a block twice");
    if (!emu_resident_capacity(f, f->count + 1u))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of resident blocks");
    status = emu_core_block_start(f->core, grid, e->place.block, &slot, err);
    if (status != LW_OK)
        return status;
    for (; at > 0 && (f->resident[at - 1].grid->sequence > grid->sequence ||
                      (f->resident[at - 1].grid == grid &&
                       f->resident[at - 1].linear > e->place.block));
         at--)
        ;
    emu_resident_insert(f, at, grid, e->place.block, (int)slot);
    return LW_OK;
}

static enum lw_status free_block(struct emu_functional *f, const struct emu_log_entry *e,
                                 struct lw_error *err)
{
    struct emu_resident *r =
        f->placed ? emu_fixed_find(f, e->place.grid, e->place.block) : NULL;

    if (r == NULL)
        return diverged(f, err, "the log frees a block that is not resident");
    emu_core_block_free(f->core, (unsigned)r->slot);
    emu_resident_remove(f, (unsigned)(r - f->resident));
    return LW_OK;
}

static enum lw_status edit(struct emu_functional *f, const struct emu_log_entry *e,
                           struct lw_error *err)
{
    unsigned slot = UINT_MAX, lane = e->place.split;
    struct emu_warp *w;
    struct lw_error why = {.text = "the log writes memory that is not allocated"};
    enum lw_status status;
    bool done;

    if (e->place.grid != 0 || e->kind != EMU_LOG_MEMORY) {
        status = warp_of(f, e, &w, err);
        if (status != LW_OK)
            return status;
        slot = w->block->slot;
    }
    if (e->kind == EMU_LOG_REGISTER)
        done = emu_reg_write(f->core, slot, e->place.warp, (enum isa_reg_class)e->which,
                             (unsigned)e->address, lane, e->value, &why);
    else if (e->kind == EMU_LOG_PC)
        done = emu_pc_write(f->core, slot, e->place.warp, lane, (e->value & 1) != 0,
                            e->value & ~UINT64_C(1), &why) == LW_OK;
    else
        done = emu_mem_poke(f->core, slot, e->place.warp, lane, e->address, e->bytes,
                            e->size) == e->size;
    return done ? LW_OK : diverged(f, err, why.text);
}

/** Repeats a step of the host from its log entry. */
static enum lw_status host(struct emu_functional *f, const struct emu_log_entry *e,
                           struct lw_error *err)
{
    struct emu_machine *machine = f->base.machine;
    struct emu_launch launch;
    struct emu_allocation a;
    uint64_t address;
    char name[256];
    bool inside;

    switch (e->kind) {
    case EMU_LOG_PROGRAM:
        return LW_OK; /* programs remain loaded when history moves back, so this host step is not repeated */
    case EMU_LOG_LAUNCH:
        if (!emu_log_launch_read(machine, e->bytes, (size_t)e->size, &launch))
            return diverged(f, err, "the log launches a kernel that does not exist");
        return emu_grid_launch(machine, &launch, NULL, err);
    case EMU_LOG_ALLOC:
        snprintf(name, sizeof name, "%.*s", (int)(e->size < 255 ? e->size : 255),
                 (const char *)e->bytes);
        if ((e->which & EMU_ALLOC_RESERVED) != 0)
            return emu_reserve(machine, e->value, &address, err);
        if ((e->which & EMU_ALLOC_MAPPED) != 0)
            return emu_map(machine, e->address, e->value, name, e->which, err);
        return emu_alloc_at(machine, e->address, e->value, name, e->which, err);
    case EMU_LOG_FREE:
        if (emu_allocation_at(machine, e->address, &a, &inside) && inside && (a.flags & EMU_ALLOC_RESERVED) != 0)
            return emu_unreserve(machine, e->address, err);
        return emu_free(machine, e->address, err);
    default:
        if (e->bytes == NULL)
            return diverged(f, err, "the log does not have the data that the host wrote");
        return emu_global_write(machine, e->address, e->bytes, e->size, err);
    }
}

static enum lw_status between(struct emu_functional *f, const struct emu_log_entry *e,
                              struct emu_stop *stop, struct lw_error *err)
{
    struct emu_warp *w;
    enum lw_status status = LW_OK;

    switch (e->kind) {
    case EMU_LOG_COMMIT:
        f->replaying = false; /* The recorded run stopped here without continuing, so a hang that is found here is reported. */
        if (!f->placed)
            (void)emu_fixed_commit(f, stop, &status, err);
        f->replaying = true;
        break;
    case EMU_LOG_LOOK:
        if (emu_fixed_find(f, e->place.grid, e->place.block) == NULL)
            break; /* the block has ended in one of the preceding time slices */
        status = warp_of(f, e, &w, err);
        if (status == LW_OK && e->which != 0)
            emu_fixed_refill(f);
        else if (status == LW_OK)
            (void)emu_fixed_check_progress(f, w->block);
        break;
    case EMU_LOG_SELECT:
        status = warp_of(f, e, &w, err);
        if (status == LW_OK && e->which != 0)
            (void)emu_split_join(w);
        else if (status == LW_OK)
            (void)emu_split_select(w);
        break;
    case EMU_LOG_BEGIN:
        status = put_block(f, e, err);
        break;
    case EMU_LOG_END:
        status = free_block(f, e, err);
        break;
    case EMU_LOG_NONDET:
        if (f->answers.count == LW_COUNT_OF(f->answers.what))
            return diverged(f, err, "the log has too many non-deterministic inputs for one step");
        f->answers.what[f->answers.count] = e->which;
        f->answers.value[f->answers.count++] = e->value;
        f->core->answers = &f->answers;
        break;
    case EMU_LOG_REGISTER:
    case EMU_LOG_PC:
    case EMU_LOG_MEMORY:
        status = edit(f, e, err);
        break;
    default:
        status = host(f, e, err);
        break;
    }
    if (status == LW_OK)
        emu_log_advance(f->base.machine->log, 0);
    return status;
}

/* ---- replay up to a condition ------------------------------------------------------------------ */

static bool is_edit(unsigned kind)
{
    return (kind >= EMU_LOG_REGISTER && kind <= EMU_LOG_MEMORY) || emu_log_is_host(kind);
}

/** Returns true if an edit or a host step precedes the next instruction. A scheduling choice that precedes an edit belongs to the
 *  current position; any other choice belongs to the next instruction. */
static bool edit_follows(const struct emu_log *log)
{
    struct emu_log_cursor at = log->cursor, next_cursor;
    struct emu_log_entry e;
    bool bad;

    for (; emu_log_peek(log, &at, &e, &next_cursor, &bad); at = next_cursor) {
        if (is_edit(e.kind))
            return true;
        if (emu_log_is_counted(e.kind))
            return false;
    }
    return false;
}

static enum lw_status walk(struct emu_functional *f, const struct want *want,
                           struct emu_stop *stop, struct lw_error *err)
{
    struct emu_log *log = f->base.machine->log;
    struct emu_log_cursor next_cursor;
    struct emu_log_entry e;
    bool bad = false, done = false;
    enum lw_status status = LW_OK;

    while (status == LW_OK && (!want->front || emu_log_is_replaying(log)) &&
           emu_log_peek(log, &log->cursor, &e, &next_cursor, &bad)) {
        bool runs = emu_log_is_counted(e.kind);
        if (!runs) {
            if (emu_log_is_host(e.kind) && log->mode == EMU_LOG_REPLAY && !emu_log_is_replaying(log)) {
                if (done)
                    break;
                if (emu_grid_current(f->base.machine) != NULL)
                    return diverged(f, err, "in the log the host continues, but here a kernel still runs");
                stop->kind = EMU_STOP_IDLE; /* the host itself repeats the host step that follows in the log */
                break;
            }
            bool enough = done || f->core->retired >= want->until;
            if (!enough || is_edit(e.kind) || edit_follows(log)) {
                struct emu_stop found = {0};
                status = between(f, &e, &found, err);
                if (found.kind != EMU_STOP_HANG || emu_log_in_history(log) || want->silent)
                    continue;
                *stop = found;
                break;
            }
        }
        if (done)
            break;
        if (f->core->retired >= want->until) {
            stop->kind = EMU_STOP_COUNT;
            break;
        }
        if (f->core->retired >= f->snapshot_at && !want->silent)
            f->history->tick(f->history);
        if (!want->silent && emu_consume_interrupt(&f->base)) {
            stop->kind = EMU_STOP_INTERRUPTED;
            break;
        }
        if (e.kind == EMU_LOG_STEP)
            status = run_step(f, want, &e, stop, err);
        else if (e.kind == EMU_LOG_SLICE)
            status = run_slice(f, want, &e, stop, err);
        else
            status = run_order(f, want, &e, stop, err);
        done = stop->kind == EMU_STOP_STEPPED || stop->kind == EMU_STOP_OBSERVER;
        if (stop->kind != EMU_STOP_NONE && !done)
            break;
    }
    if (bad)
        status = diverged(f, err, "the log is damaged");
    if (status == LW_OK && stop->kind == EMU_STOP_NONE && !emu_log_in_history(log) && f->placed &&
        f->count != 0)
        status = diverged(f, err, "the log ends within a kernel whose blocks another engine placed, such as the timing model");
    return status;
}

static enum lw_status replay(struct emu_functional *f, const struct want *want,
                             struct emu_stop *stop, struct lw_error *err)
{
    struct emu_machine *machine = f->base.machine;
    struct emu_log *log = machine->log;
    enum lw_status status = LW_OK;

    log->applying = true;
    f->replaying = true;
    if (emu_log_is_replaying(log)) { /* the text was already printed when these instructions ran for the first time */
        struct lw_sink *print = machine->print;
        struct want again = *want;
        again.front = true;
        machine->print = NULL;
        emu_machine_begin_replay(machine);
        status = walk(f, &again, stop, err);
        machine->print = print;
    }
    if (!emu_log_is_replaying(log))
        emu_machine_end_replay(machine, true);
    if (status == LW_OK && stop->kind == EMU_STOP_NONE && !want->front)
        status = walk(f, want, stop, err);
    f->replaying = false;
    log->applying = false;
    return status;
}

enum lw_status emu_replay_run(struct emu_functional *f, struct emu_stop *stop,
                              struct lw_error *err)
{
    return replay(f, &(struct want){.until = f->base.stop_at, .observers = f->base.observers}, stop, err);
}

enum lw_status emu_replay_step(struct emu_functional *f, struct emu_event *ev,
                               struct emu_stop *stop, struct lw_error *err)
{
    return replay(f, &(struct want){.until = UINT64_MAX, .observers = f->base.observers, .one = true, .ev = ev}, stop, err);
}

enum lw_status emu_replay_lanes(struct emu_functional *f, const struct emu_thread_ref *place,
                                struct emu_event *ev, struct emu_stop *stop,
                                struct lw_error *err)
{
    return replay(f,
                  &(struct want){.until = UINT64_MAX, .observers = f->base.observers, .one = true, .lanes = place, .ev = ev},
                  stop, err);
}

enum lw_status emu_replay_others(struct emu_functional *f, struct emu_stop *stop,
                                 struct lw_error *err)
{
    uint64_t rotation = (uint64_t)f->base.machine->config.warp_quantum *
                        f->base.machine->config.resident_warps;
    enum lw_status status =
        replay(f,
               &(struct want){.until = f->core->retired + rotation,
                              .observers = f->base.observers},
               stop, err);

    if (stop->kind == EMU_STOP_COUNT)
        stop->kind = EMU_STOP_NONE;
    return status;
}

/** Removes all breakpoints from the code, or restores them. */
static void lift_breakpoints(struct emu_core *core, bool lift)
{
    for (unsigned k = 0; k < core->code_count; k++) {
        struct emu_code *code = core->code[k];
        for (uint32_t i = 0; i < code->program->count; i++) {
            if (code->program->breakpoint[i])
                emu_code_set_layer(code, i, EMU_LAYER_BREAK, !lift);
        }
    }
}

enum lw_status emu_replay_to(struct emu_functional *f, uint64_t until,
                             struct emu_observer *observers, struct lw_error *err)
{
    struct emu_stop stop = {0};
    bool points = f->base.machine->breakpoint_count != 0;
    enum lw_status status;

    if (points)
        lift_breakpoints(f->core, true);
    status = replay(f,
                    &(struct want){.until = until, .silent = true, .observers = observers,
                                   .front = true},
                    &stop, err);
    if (points)
        lift_breakpoints(f->core, false);
    return status;
}

/* ---- the engine ------------------------------------------------------------------------------------ */

enum lw_status emu_engine_replay_create(struct emu_machine *machine, struct emu_engine **out,
                                        struct lw_error *err)
{
    if (machine->log == NULL)
        return LW_FAIL(err, LW_ESTATE, "cannot replay: the machine has no schedule log");
    return emu_fixed_create(machine, true, out, err);
}
