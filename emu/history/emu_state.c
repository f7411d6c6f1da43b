/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a machine, its core and its engine as bytes, for snapshots and checkpoints. */
#include "emu/grid/emu_grid_priv.h"
#include "emu/inspect/emu_spin_observer_priv.h"
#include "emu/bytes/emu_state_priv.h"
#include "emu/engine/emu_engine_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- compile-time check that emu_state.def lists every member -------------------------------------------- */

#define NAME_PLAIN(member) #member " "
#define NAME_CUSTOM(member) #member "* "
#define NAME_DERIVED(member)
#define NAME_TRANSIENT(member)
#define NAME(how, member) NAME_##how(member)
#define NAMES(LIST, type) LIST(NAME)

/* For each list in emu_state.def, declares a structure `mirror` with the listed members, in order, with their types and
 * alignments. `mirror` must have the same size as the real structure, and its last member must have the same offset. */
#define MEMBER(how, member)                                                                   \
    _Alignas(__alignof__(((real *)0)->member)) __typeof__(((real *)0)->member) member;
#define CHECK_MEMBERS(LIST, type)                                                             \
    {                                                                                         \
        typedef struct type real;                                                             \
        struct mirror {                                                                       \
            LIST(MEMBER)                                                                      \
        } __attribute__((aligned(__alignof__(real))));                                        \
        _Static_assert(sizeof(struct mirror) == sizeof(real),                                 \
                       "a member of struct " #type " is missing in emu_state.def");           \
    }

uint64_t emu_state_layout(void)
{
    static const char names[] = EMU_STATE(NAMES);
    struct lw_hash hash;

    EMU_STATE(CHECK_MEMBERS)
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, names, sizeof names);
    lw_hash_u64(&hash, sizeof(struct emu_stats));
    return lw_hash_value(&hash);
}

/* ---- grids --------------------------------------------------------------------------------- */

static uint32_t sequence_of(const struct emu_grid *grid)
{
    return grid != NULL ? grid->sequence : 0;
}

static void save_grids(const struct emu_machine *machine, struct emu_bytes *out)
{
    struct emu_bytes launch = {0};
    uint64_t listed = 0;

    for (const struct emu_grid *p = machine->grids; p != NULL; p = p->next)
        listed++;
    emu_put_number(out, machine->grid_count);
    emu_put_number(out, listed);
    for (const struct emu_grid *p = machine->grids; p != NULL; p = p->next) {
        launch.size = 0;
        emu_log_launch_put(&launch, p);
        out->failed = out->failed || launch.failed;
        emu_put_number(out, p->sequence);
        emu_put_number(out, launch.size);
        emu_put(out, launch.data, launch.size);
        emu_put_number(out, p->first_warp_id);
        emu_put_number(out, p->parent.grid);
        if (emu_grid_of_device(p)) {
            emu_put_number(out, p->parent.block);
            emu_put_number(out, p->parent.warp);
            emu_put_number(out, p->parent.lane);
            emu_put_number(out, p->parent.pc);
            emu_put_number(out, sequence_of(p->aggregated_into));
            emu_put_number(out, sequence_of(p->stream_prev));
        }
        EMU_SAVE(EMU_STATE_GRID, p, out);
    }
    emu_bytes_fini(&launch);
}

/** Moves the host launches after launch number @count to the list of spare grids. A replay takes the structures from there when
 *  it launches the grids again. */
static void put_aside(struct emu_machine *machine, uint32_t count)
{
    struct emu_grid **at = &machine->grids, **end = &machine->spare_grids, *last = NULL;

    while (*at != NULL && (*at)->sequence <= count) {
        last = *at;
        at = &(*at)->next;
    }
    while (*end != NULL)
        end = &(*end)->next;
    *end = *at;
    *at = NULL;
    machine->last_grid = last;
    if (machine->grid_count > count)
        machine->grid_count = count;
}

/** Reads the relations of a device launch to other launches: its launcher, the grid into which it is aggregated, and its stream.
 *  Returns false if these relations are impossible. */
static bool load_relations(struct emu_machine *machine, struct emu_grid *p,
                           struct emu_reader *in)
{
    p->parent.block = emu_get_number(in);
    p->parent.warp = (unsigned)emu_get_limited(in, EMU_MAX_BLOCK_THREADS);
    p->parent.lane = (unsigned)emu_get_limited(in, EMU_MAX_LANES - 1);
    p->parent.pc = emu_get_number(in);
    uint64_t joined = emu_get_limited(in, UINT32_MAX), before = emu_get_limited(in, UINT32_MAX);
    struct emu_grid *by = p->launcher = emu_grid_find(machine, p->parent.grid);
    p->aggregated_into = emu_grid_find(machine, (uint32_t)joined);
    p->stream_prev = emu_grid_find(machine, (uint32_t)before);
    if (in->bad || by == p || p->aggregated_into == p || p->stream_prev == p)
        return false;
    if (by != NULL && (p->parent.block >= by->block_count || p->parent.warp >= by->block_warps))
        return false;
    return (joined == 0 || (p->aggregated_into != NULL && p->aggregated_into->aggregated_into == NULL)) &&
           (before == 0 || (p->stream_prev != NULL && p->stream_prev == by) || (p->stream_prev != NULL && p->stream_prev->parent.grid == p->parent.grid &&
                            p->stream_prev->parent.block == p->parent.block));
}

/** Recomputes counts of incomplete launches, and the links between launches, after all launches have been read. */
static bool count_open(struct emu_machine *machine)
{
    /* Iterates from the newest launch to the oldest. A launch is incomplete while launches that it made, or block groups
     * aggregated into it, are incomplete; and all of these are newer than the launch. */
    for (struct emu_grid *p = machine->last_grid; p != NULL; p = p->previous) {
        bool open = !emu_grid_complete(p);
        if (open)
            machine->oldest = p;
        if (!emu_grid_of_device(p))
            continue;
        machine->pending += !p->started;
        if (!open) {
            p->launcher = p->aggregated_into = NULL;
            continue;
        }
        if (p->launcher == NULL || p->depth != p->launcher->depth + 1)
            return false;
        machine->device_open++;
        p->launcher->pending_children++;
        if (p->aggregated_into != NULL)
            p->aggregated_into->pending_groups++;
    }
    /* A launch also waits for the launch before it in its stream. */
    for (struct emu_grid *p = machine->grids; p != NULL; p = p->next) {
        if (p->stream_prev == NULL)
            continue;
        if (p->stream_prev == p->launcher) {
            if (p->launcher->blocks_ended == p->launcher->block_count || p->group || p->blocks_started != 0)
                return false;
            p->launcher->held_launches++;
            continue;
        }
        if (emu_grid_complete(p->stream_prev) || p->stream_prev->stream_next != NULL || p->group ||
            p->blocks_started != 0 || p->stream_prev->stream != p->stream)
            return false;
        p->stream_prev->stream_next = p;
    }
    emu_grids_index(machine);
    return true;
}

static void make_spare(struct emu_machine *machine, struct emu_grid **list)
{
    struct emu_grid *grid = *list;

    *list = grid->next;
    grid->next = machine->spare_grids;
    machine->spare_grids = grid;
}

static enum lw_status load_grid(struct emu_machine *machine, struct emu_reader *in,
                                struct emu_grid **host, struct lw_error *err)
{
    const struct emu_grid *last = machine->last_grid;
    uint32_t sequence = (uint32_t)emu_get_limited(in, machine->grid_count);
    size_t size = (size_t)emu_get_number(in);
    const uint8_t *bytes = emu_get(in, size);
    uint64_t first_warp_id = emu_get_limited(in, machine->warp_ids);
    uint32_t parent = (uint32_t)emu_get_limited(in, sequence);
    struct emu_launch launch;
    struct emu_grid *p;

    if (in->bad || !emu_log_launch_read(machine, bytes, size, &launch) ||
        (last != NULL && (sequence <= last->sequence ||
                          first_warp_id - last->first_warp_id <
                              last->block_count * last->block_warps)))
        return emu_state_bad(err, "a launch");
    while (parent == 0 && *host != NULL && (*host)->sequence <= sequence)
        make_spare(machine, host); /* emu_grid_restore() takes the structure of a host launch from the list of spare grids */
    enum lw_status status = emu_grid_restore(machine, &launch, sequence, first_warp_id,
                                             parent != 0, &p, err);
    if (status != LW_OK)
        return status;
    p->parent.grid = parent;
    bool related = parent == 0 || load_relations(machine, p, in);
    EMU_LOAD(EMU_STATE_GRID, p, in);
    if (in->bad || !related || p->blocks_started > p->block_count ||
        p->blocks_placed > p->block_count || p->blocks_ended > p->blocks_started ||
        p->depth >= EMU_LAUNCH_NESTING || (parent == 0) != (p->depth == 0))
        return emu_state_bad(err, "the blocks of a launch");
    return LW_OK;
}

static enum lw_status load_grids(struct emu_machine *machine, struct emu_reader *in,
                                 struct lw_error *err)
{
    uint32_t count = (uint32_t)emu_get_limited(in, UINT32_MAX);
    uint64_t listed = emu_get_limited(in, count);
    enum lw_status status = LW_OK;
    struct emu_grid *host;

    emu_grids_drop_device(machine);
    put_aside(machine, count);
    host = machine->grids; /* existing host launches keep their grid structures, because other structures point to them */
    machine->grids = machine->last_grid = machine->oldest = NULL;
    machine->grid_count = count;
    if (machine->warp_ids > UINT64_C(1) << 60)
        return emu_state_bad(err, "the count of warps");
    for (uint64_t i = 0; i < listed && status == LW_OK; i++)
        status = load_grid(machine, in, &host, err);
    while (host != NULL)
        make_spare(machine, &host);
    if (status != LW_OK)
        return status;
    machine->oldest = NULL;
    if (!count_open(machine))
        return emu_state_bad(err, "the order of launches");
    const struct emu_grid *last = machine->last_grid;
    if (last != NULL && machine->warp_ids - last->first_warp_id <
                            last->block_count * last->block_warps)
        return emu_state_bad(err, "the count of warps");
    for (const struct emu_grid *p = machine->oldest; p != NULL; p = p->next)
        if (!emu_grid_of_device(p) && p != machine->oldest && p->blocks_started != 0)
            return emu_state_bad(err, "the blocks of a launch");
    return LW_OK;
}

/** Finds the block that made each incomplete device launch, and counts the block's incomplete launches. */
static enum lw_status find_launchers(struct emu_functional *f, struct lw_error *err)
{
    for (struct emu_grid *p = f->base.machine->grids; p != NULL; p = p->next) {
        if (!emu_grid_of_device(p))
            continue;
        p->launcher_block = &f->core->block[0]; /* if the launching block is not found, it has ended, and launcher_block may be
                                                 * any block */
        for (unsigned s = 0; s < f->core->slots_used; s++) {
            struct emu_block *b = &f->core->block[s];
            if (!b->in_use || b->grid->sequence != p->parent.grid || b->linear != p->parent.block)
                continue;
            p->launcher_block = b;
            if (!emu_grid_complete(p))
                b->children += !p->group;
        }
        if (p->slots_in_use == 0 && emu_grid_complete(p))
            return emu_state_bad(err, "launches: one has completed but is listed");
    }
    for (unsigned s = 0; s < f->core->slots_used; s++) {
        const struct emu_block *b = &f->core->block[s];
        for (unsigned i = 0; b->in_use && b->children == 0 && i < b->warp_count; i++)
            if (b->warp[i].split_in[EMU_SPLIT_LAUNCH] != 0)
                return emu_state_bad(err, "launches: lanes wait for launches that have completed");
    }
    return LW_OK;
}

static struct emu_grid *grid_by_sequence(const struct emu_machine *machine, uint64_t sequence)
{
    return sequence <= UINT32_MAX ? emu_grid_find(machine, (uint32_t)sequence) : NULL;
}

/* ---- core and engine ------------------------------------------------------------------------- */

static void save_core(const struct emu_core *p, struct emu_bytes *out)
{
    EMU_SAVE(EMU_STATE_CORE, p, out);
    emu_put(out, &p->stats, sizeof p->stats);
}

/** Loads a core's counts. Called after the core's blocks have been started again, because the start of a block changes the
 *  counts. */
static enum lw_status load_core(struct emu_core *p, struct emu_reader *in, struct lw_error *err)
{
    EMU_LOAD(EMU_STATE_CORE, p, in);
    const uint8_t *stats = emu_get(in, sizeof p->stats);

    if (stats == NULL)
        return emu_state_bad(err, "counts");
    memcpy(&p->stats, stats, sizeof p->stats);
    return LW_OK;
}

static void save_residents(const struct emu_functional *f, struct emu_bytes *out)
{
    emu_put_number(out, f->grid != NULL ? f->grid->sequence : 0);
    emu_put_number(out, f->count);
    for (unsigned i = 0; i < f->count; i++) {
        const struct emu_resident *p = &f->resident[i];
        emu_put_number(out, p->number);
        emu_put_number(out, p->grid->sequence);
        EMU_SAVE(EMU_STATE_RESIDENT, p, out);
        emu_put_number(out, (uint64_t)(p->slot + 1)); /* hooks identify blocks by slot */
        if (p->slot >= 0)
            emu_block_save(emu_core_block(f->core, (unsigned)p->slot), out);
    }
}

/** Returns true if the loaded list of resident blocks satisfies the invariants of the fixed order. */
static bool residents_fit(const struct emu_functional *f)
{
    const struct emu_machine *machine = f->base.machine;
    unsigned i = 0, ended = 0; /* ended: number of blocks that have ended but still hold a slot */

    if (f->placed)
        return f->grid == NULL;
    if (f->grid == NULL) {
        const struct emu_grid *next = emu_grid_current(machine);
        return f->count == 0 && machine->device_open == 0 &&
               (next == NULL || next->blocks_started == 0);
    }
    if (f->count == 0 || f->current >= f->count || emu_grid_of_device(f->grid))
        return false;
    for (const struct emu_grid *g = machine->grids; g != NULL; g = g->next) {
        uint64_t here = 0, over = 0;
        if (g->sequence < f->grid->sequence)
            continue;
        for (; i < f->count && f->resident[i].grid == g; i++) {
            const struct emu_resident *r = &f->resident[i];
            if (r->linear >= g->blocks_placed)
                return false;
            here++;
            over += r->slot >= 0 && emu_core_block(f->core, (unsigned)r->slot)->ended;
        }
        ended += (unsigned)over;
        if (g != f->grid && !emu_grid_of_device(g) ? here != 0 || g->blocks_placed != 0
                                                   : g->blocks_placed - g->blocks_ended !=
                                                         here - over)
            return false;
        if (g->stream_prev != NULL && here != 0)
            return false;
    }
    return i == f->count && (ended == f->count || f->grid == emu_grid_current(machine));
}

static enum lw_status load_residents(struct emu_functional *f, struct emu_reader *in,
                                     bool trusted, struct lw_error *err)
{
    struct emu_machine *machine = f->base.machine;
    uint64_t sequence = emu_get_number(in), count = emu_get_limited(in, 1u << 20);

    f->grid = sequence != 0 ? grid_by_sequence(machine, sequence) : NULL;
    if (in->bad || (sequence != 0 && f->grid == NULL))
        return emu_state_bad(err, "the running launch");
    if (f->grid != NULL)
        emu_fixed_take_up(f);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = emu_get_limited(in, 1u << 20);
        if (!emu_resident_capacity(f, (size_t)(number < count ? count : number + 1)))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of resident blocks");
        struct emu_resident *p = &f->resident[i];
        struct emu_resident before = i > 0 ? p[-1] : (struct emu_resident){0};
        unsigned slot;
        memset(p, 0, sizeof *p);
        bool own = emu_resident_take_number(f, p, number);
        p->grid = grid_by_sequence(machine, emu_get_number(in));
        EMU_LOAD(EMU_STATE_RESIDENT, p, in);
        p->slot = -1;
        uint64_t place = emu_get_limited(in, f->core->slots);
        bool begun = place != 0;
        if (in->bad || !own || p->grid == NULL || p->linear >= p->grid->block_count ||
            (i > 0 && (p->grid->sequence < before.grid->sequence ||
                       (p->grid == before.grid && p->linear <= before.linear))) ||
            (!begun && f->placed))
            return emu_state_bad(err, "the resident blocks");
        f->count = (unsigned)i + 1;
        if (!begun)
            continue;
        uint64_t started = p->grid->blocks_started;
        f->core->free_hint = (unsigned)place - 1;
        enum lw_status status = emu_core_block_start(f->core, p->grid, p->linear, &slot, err);
        if (status != LW_OK)
            return status;
        p->grid->blocks_started = started;
        p->slot = (int)slot;
        status = emu_block_load(emu_core_block(f->core, slot), in, trusted, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

static void free_blocks(struct emu_functional *f)
{
    for (unsigned s = 0; s < f->core->slots_used; s++) {
        struct emu_block *block = &f->core->block[s];
        if (!block->in_use)
            continue;
        for (unsigned i = 0; i < block->warp_count; i++)
            if (block->warp[i].simt.heap != NULL)
                emu_split_fini(&block->warp[i]);
        block->in_use = false;
    }
    emu_resident_clear(f);
    f->grid = NULL;
}

/* ---- the whole state ------------------------------------------------------------------------------ */

void emu_state_save(const struct emu_functional *f, struct emu_bytes *out)
{
    const struct emu_machine *machine = f->base.machine;

    EMU_SAVE(EMU_STATE_MACHINE, machine, out);
    emu_put_number(out, machine->text_hash.state);
    emu_put_number(out, machine->text_hash.length);
    emu_memory_save(&machine->memory, out);
    save_grids(machine, out);
    emu_text_save(&machine->text, out);
    EMU_SAVE(EMU_STATE_FUNCTIONAL, f, out);
    emu_spin_observer_save(f->probe, out);
    emu_put_number(out, f->launches_seen != machine->launch_changes);
    save_residents(f, out);
    save_core(f->core, out);
}

enum lw_status emu_state_load(struct emu_functional *f, struct emu_reader *in, bool trusted,
                              struct lw_error *err)
{
    struct emu_machine *machine = f->base.machine;
    enum lw_status status;
    uint64_t current, turn_left, warp_left, watch_at;

    free_blocks(f);
    EMU_LOAD(EMU_STATE_MACHINE, machine, in);
    machine->text_hash.state = emu_get_number(in);
    machine->text_hash.length = emu_get_number(in);
    status = emu_memory_load(machine, in, err);
    if (status == LW_OK)
        status = load_grids(machine, in, err);
    if (status == LW_OK)
        status = emu_text_load(machine, in, err);
    if (status != LW_OK)
        return status;
    EMU_LOAD(EMU_STATE_FUNCTIONAL, f, in);
    status = emu_spin_observer_load(machine, &f->probe, in, err);
    if (status != LW_OK)
        return status;
    current = f->current;
    turn_left = f->turn_left;
    warp_left = f->warp_left;
    watch_at = f->watch_at;
    f->launches_seen = machine->launch_changes - emu_get_limited(in, 1);
    f->listed.at = 0;
    status = load_residents(f, in, trusted, err);
    f->current = (unsigned)current;
    f->turn_left = turn_left;
    f->warp_left = warp_left;
    f->watch_at = watch_at;
    if (status == LW_OK)
        status = find_launchers(f, err);
    if (status == LW_OK && !residents_fit(f))
        status = emu_state_bad(err, "the resident blocks");
    if (status == LW_OK)
        status = load_core(f->core, in, err);
    f->answers.count = f->answers.next = 0;
    return status;
}
