/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches by the host and by the device: checks, the list of launches, streams, completion.
 *
 * The machine's list holds all host launches, and the device launches that are not complete, in launch order. A device launch is
 * complete when its blocks have ended and all launches that it made, or that were aggregated into it, are complete. When a device
 * launch is complete, the next launch in its stream may start, and lanes that wait for it at launch.sync continue.
 */
#include <stdio.h>
#include <stdlib.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/memory/emu_mem_priv.h"

struct shape {
    uint64_t blocks, threads, shared;
};

static enum lw_status shape_of(const struct emu_machine *machine,
                               const struct emu_launch *launch, struct shape *shape,
                               struct lw_error *err)
{
    const struct isa_function *kernel = launch->kernel;
    unsigned width = machine->config.warp_width;
    uint64_t blocks = 1, threads = 1;
    char room[ISA_SYMBOL_BYTES];
    const char *name = isa_symbol_text(kernel->name, room);

    for (unsigned i = 0; i < 3; i++) {
        if (launch->grid[i] == 0 || launch->block[i] == 0)
            return LW_FAIL(err, LW_ERANGE, "kernel %s: the grid or block size is 0: each dimension must be at least 1",
                           name);
        if (launch->block[i] > EMU_MAX_BLOCK_THREADS)
            return LW_FAIL(err, LW_ERANGE, "kernel %s: the block size %u is too large: a block has at most %u threads",
                           name, launch->block[i], EMU_MAX_BLOCK_THREADS);
        if (launch->grid[i] > EMU_MAX_GRID_SIZE)
            return LW_FAIL(err, LW_ERANGE, "kernel %s: the grid has %u blocks in dimension %c: at most %u (2^31 - 1) "
                                           "are allowed", name,
                           launch->grid[i], "xyz"[i], EMU_MAX_GRID_SIZE);
        if (blocks > EMU_MAX_GRID_BLOCKS / launch->grid[i])
            return LW_FAIL(err, LW_ERANGE, "kernel %s: the grid has %u x %u x %u blocks: at most 2^40 in total are "
                                           "allowed", name,
                           launch->grid[0], launch->grid[1], launch->grid[2]);
        blocks *= launch->grid[i];
        threads *= launch->block[i];
        if (kernel->required_block[i] != 0 && launch->block[i] != kernel->required_block[i])
            return LW_FAIL(err, LW_ERANGE,
                           "kernel %s: the block size is [%u, %u, %u], but the kernel was compiled for [%u, %u, %u]",
                           name, launch->block[0], launch->block[1], launch->block[2],
                           kernel->required_block[0], kernel->required_block[1],
                           kernel->required_block[2]);
    }
    if (threads > EMU_MAX_BLOCK_THREADS)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: the block has %llu threads: at most %u are allowed",
                       name, (unsigned long long)threads, EMU_MAX_BLOCK_THREADS);
    if (kernel->max_threads != 0 && threads > kernel->max_threads)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: the block has %llu threads, but the kernel was compiled for at most "
                                       "%u", name, (unsigned long long)threads, kernel->max_threads);
    if (kernel->needs_warp != 0 && width < kernel->needs_warp)
        return LW_FAIL(err, LW_ERANGE, "kernel %s needs warps of %u lanes, but the machine has warps of %u: run it "
                                       "with a warp width of %u or 64", name, kernel->needs_warp,
                       width, kernel->needs_warp);
    uint64_t shared = ((uint64_t)kernel->shared_bytes + 15) / 16 * 16;
    shared = launch->dynamic_shared_bytes ? shared + launch->dynamic_shared_bytes
                                          : kernel->shared_bytes;
    if (shared > 1u << 24)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: the launch needs %llu bytes of shared memory: at most 16 MiB are "
                                       "allowed",
                       name, (unsigned long long)shared);
    if ((uint64_t)kernel->local_bytes > 1u << 24)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: a thread needs %u bytes of local memory: at most 16 MiB are allowed",
                       name, kernel->local_bytes);
    if (kernel->param_bytes > ISA_CONST_BANK_BYTES)
        return LW_FAIL(err, LW_ERANGE, "kernel %s: the kernel has %u bytes of parameters: at most 65536 are allowed",
                       name, kernel->param_bytes);
    *shape = (struct shape){blocks, threads, shared};
    return LW_OK;
}

enum lw_status emu_grid_check(const struct emu_machine *machine, const struct emu_launch *launch,
                              struct lw_error *err)
{
    struct shape shape;

    return shape_of(machine, launch, &shape, err);
}

/* ---- the list of launches ----------------------------------------------------------------- */

void emu_grids_free(struct emu_grid *grid)
{
    while (grid != NULL) {
        struct emu_grid *next = grid->next;
        free((void *)(uintptr_t)grid->bank0);
        free(grid->placed);
        free(grid);
        grid = next;
    }
}

enum lw_status emu_grid_mark_resident(struct emu_grid *grid, uint64_t block, struct lw_error *err)
{
    if (grid->placed == NULL && block != grid->blocks_placed) {
        grid->placed = calloc((size_t)(grid->block_count / 64 + 1), sizeof *grid->placed);
        if (grid->placed == NULL)
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of started blocks of launch %u", grid->sequence);
        for (uint64_t b = 0; b < grid->blocks_placed; b++)
            grid->placed[b / 64] |= UINT64_C(1) << b % 64;
    }
    if (grid->placed != NULL)
        grid->placed[block / 64] |= UINT64_C(1) << block % 64;
    grid->blocks_placed++;
    return LW_OK;
}

/** Returns the grid structure of launch @sequence, which history has undone, and removes it from the list of spare grids. Returns
 *  NULL if there is no such structure. A replayed launch reuses this structure, so that the grid's host address stays the
 *  same. */
static struct emu_grid *take_spare(struct emu_machine *machine, uint32_t sequence)
{
    for (struct emu_grid **at = &machine->spare_grids; *at != NULL; at = &(*at)->next) {
        struct emu_grid *grid = *at;
        if (grid->sequence == sequence) {
            *at = grid->next;
            return grid;
        }
    }
    return NULL;
}

static void append(struct emu_machine *machine, struct emu_grid *grid)
{
    grid->previous = machine->last_grid;
    if (machine->last_grid != NULL)
        machine->last_grid->next = grid;
    else
        machine->grids = grid;
    machine->last_grid = grid;
    if (machine->oldest == NULL)
        machine->oldest = grid;
}

/** Creates a grid for a launch of checked @shape, in the structure @used or in new memory; its numbers are not set. @zeros:
 *  zeroed memory from malloc for the parameters, or NULL. @waits: many such grids may wait for a long time until their blocks
 *  start, so new memory for parameters has only the size of the parameters. Returns NULL if there is no memory. */
static struct emu_grid *make(const struct emu_machine *machine, const struct emu_launch *launch,
                             const struct shape *shape, struct emu_grid *used, uint8_t *zeros, bool waits)
{
    const struct isa_function *kernel = launch->kernel;
    unsigned width = machine->config.warp_width;
    struct emu_grid *grid = used != NULL ? used : calloc(1, sizeof *grid);
    uint8_t *bank = used != NULL ? (uint8_t *)(uintptr_t)used->bank0 : zeros;
    const bool is_short = bank == NULL && waits;

    if (used != NULL)
        free(zeros);
    if (bank == NULL)
        bank = calloc(1, waits ? kernel->param_bytes + 8 : ISA_CONST_BANK_BYTES + 8);
    if (grid == NULL || bank == NULL) {
        free(grid);
        free(bank);
        return NULL;
    }
    memset(bank, 0, used != NULL ? used->bank0_valid : 0);
    free(grid->placed);
    memset(grid, 0, sizeof *grid);
    if (kernel->param_bytes != 0 && launch->params != NULL)
        memcpy(bank, launch->params, kernel->param_bytes);
    grid->launch = *launch;
    grid->launch.params = NULL;
    if (grid->launch.work_dim < 1 || grid->launch.work_dim > 3)
        grid->launch.work_dim = 1;
    grid->block_count = shape->blocks;
    grid->block_threads = (uint32_t)shape->threads;
    grid->block_warps = (uint32_t)((shape->threads + width - 1) / width);
    grid->shared_bytes = (uint32_t)shape->shared;
    grid->bank0 = bank;
    grid->bank0_valid = kernel->param_bytes;
    grid->bank0_short = is_short;
    return grid;
}

static struct emu_grid *take_device(struct emu_machine *machine)
{
    struct emu_grid *grid = machine->spare_device;

    if (grid != NULL)
        machine->spare_device = grid->next;
    return grid;
}

/** Returns zeroed memory for parameters, of ISA_CONST_BANK_BYTES + 8 bytes: the memory of a completed device launch, or new
 *  memory. Returns NULL if the host has no memory. */
static uint8_t *take_spare_bank(struct emu_machine *machine)
{
    struct emu_spare_bank *spare = machine->spare_bank;

    if (spare == NULL)
        return calloc(1, ISA_CONST_BANK_BYTES + 8);
    machine->spare_bank = spare->next;
    spare->next = NULL;
    return (uint8_t *)spare; /* all bytes are zero, because a null pointer has only zero bits on every host */
}

static void give_device(struct emu_machine *machine, struct emu_grid *grid)
{
    uint8_t *bank = (uint8_t *)(uintptr_t)grid->bank0;
    struct emu_spare_bank *spare = (struct emu_spare_bank *)(void *)bank;

    if (grid->bank0_short) {
        free(bank);
    } else {
        memset(bank, 0, grid->bank0_valid);
        spare->next = machine->spare_bank;
        machine->spare_bank = spare;
    }
    grid->bank0 = NULL;
    grid->bank0_valid = 0;
    grid->next = machine->spare_device;
    machine->spare_device = grid;
}

void emu_grid_free_banks(struct emu_machine *machine)
{
    while (machine->spare_bank != NULL)
        free(take_spare_bank(machine));
}

bool emu_grid_complete_bank(struct emu_machine *machine, struct emu_grid *grid)
{
    uint8_t *bank;

    if (!grid->bank0_short)
        return true;
    bank = take_spare_bank(machine);
    if (bank == NULL)
        return false;
    memcpy(bank, grid->bank0, grid->bank0_valid);
    free((void *)(uintptr_t)grid->bank0);
    grid->bank0 = bank;
    grid->bank0_short = false;
    return true;
}

/** Gives a grid the next sequence number and adds it to the list. Returns false if there is no memory; the grid is then not in
 *  the list. */
static bool number(struct emu_machine *machine, struct emu_grid *grid, struct lw_error *err)
{
    if (emu_text_grid_launched(machine, grid, err) != LW_OK)
        return false;
    grid->sequence = ++machine->grid_count;
    grid->first_warp_id = machine->warp_ids;
    machine->warp_ids += grid->block_count * grid->block_warps;
    append(machine, grid);
    return true;
}

/** Takes the memory for the parameters of one complete host launch for reuse, and frees that of all other complete host
 *  launches: no block reads these parameters any more, and a program may make millions of launches. With history or a log, the
 *  parameters of all launches are still needed, and nothing is taken. Returns NULL if nothing was taken, so that the caller
 *  needs new memory. */
static uint8_t *take_bank(const struct emu_machine *machine)
{
    struct emu_grid *grid = machine->oldest != NULL ? machine->oldest->previous : machine->last_grid;
    uint8_t *taken = NULL;

    if (machine->log != NULL)
        return NULL;
    /* if the memory for a launch's parameters was freed, that of all earlier launches was freed, too */
    for (; grid != NULL && grid->bank0 != NULL; grid = grid->previous) {
        uint8_t *bank = (uint8_t *)(uintptr_t)grid->bank0;

        if (emu_grid_of_device(grid) || !emu_grid_complete(grid))
            continue;
        if (taken == NULL) {
            taken = bank;
            memset(bank, 0, grid->bank0_valid);
        } else {
            free(bank);
        }
        grid->bank0 = NULL;
        grid->bank0_valid = 0;
    }
    return taken;
}

/** Lets the host allocate the pages of large buffers to which parameters of the launch point. */
static void populate_buffers(const struct emu_machine *machine, const struct emu_launch *launch)
{
    for (unsigned i = 0; i < launch->kernel->param_count && launch->params != NULL; i++) {
        const struct isa_param *p = &launch->kernel->params[i];
        uint64_t address;

        if (p->size_bytes != sizeof address)
            continue;
        memcpy(&address, (const uint8_t *)launch->params + p->offset, sizeof address);
        if (address >= ISA_GLOBAL_BASE)
            emu_memory_populate(machine, address);
    }
}

enum lw_status emu_grid_launch(struct emu_machine *machine, const struct emu_launch *launch,
                               struct emu_grid **out, struct lw_error *err)
{
    struct shape shape;
    struct emu_grid *grid;
    enum lw_status status = shape_of(machine, launch, &shape, err);

    if (status != LW_OK)
        return status;
    grid = make(machine, launch, &shape, take_spare(machine, machine->grid_count + 1), take_bank(machine), false);
    if (grid == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the grid");
    if (!number(machine, grid, err)) {
        free((void *)(uintptr_t)grid->bank0);
        free(grid);
        return LW_ENOMEM;
    }
    populate_buffers(machine, launch);
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_LAUNCH, .grid = grid});
    if (out != NULL)
        *out = grid;
    return emu_log_launch_step(machine, grid, err);
}

enum lw_status emu_grid_restore(struct emu_machine *machine, const struct emu_launch *launch,
                                uint32_t sequence, uint64_t first_warp_id, bool device,
                                struct emu_grid **out, struct lw_error *err)
{
    struct shape shape;
    struct emu_grid *grid;
    enum lw_status status = shape_of(machine, launch, &shape, err);

    if (status != LW_OK)
        return status;
    grid = make(machine, launch, &shape,
                device ? take_device(machine) : take_spare(machine, sequence), NULL, false);
    if (grid == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the grid");
    grid->sequence = sequence;
    grid->first_warp_id = first_warp_id;
    append(machine, grid);
    *out = grid;
    return LW_OK;
}

struct emu_grid *emu_grid_find(const struct emu_machine *machine, uint32_t sequence)
{
    struct emu_grid *grid = machine->last_grid; /* starts at the newest launch, because recent launches are looked up more
                                                 * often */

    while (grid != NULL && grid->sequence > sequence)
        grid = grid->previous;
    return grid != NULL && grid->sequence == sequence ? grid : NULL;
}

struct emu_grid *emu_grid_current(const struct emu_machine *machine)
{
    return machine->oldest;
}

struct emu_grid *emu_grid_after(const struct emu_machine *machine, uint32_t sequence)
{
    struct emu_grid *grid = machine->last_grid;

    if (machine->oldest == NULL || grid->sequence <= sequence)
        return NULL;
    while (grid != machine->oldest && grid->previous->sequence > sequence)
        grid = grid->previous;
    return grid;
}

/* ---- launches by the device --------------------------------------------------------------- */

/* The functions of this section are called for each launch that is queued or completes. There may be thousands of launches, so
 * none of the functions may iterate over all of them. */

/** Inserts @grid into the list of startable device launches, in launch order. @grid has blocks to place, and does not wait for
 *  another launch in its stream. */
static void start_add(struct emu_machine *machine, struct emu_grid *grid)
{
    struct emu_grid *at = machine->last_start;

    while (at != NULL && at->sequence > grid->sequence)
        at = at->queue.previous;
    grid->queue.previous = at;
    grid->queue.next = at != NULL ? at->queue.next : machine->first_start;
    *(at != NULL ? &at->queue.next : &machine->first_start) = grid;
    *(grid->queue.next != NULL ? &grid->queue.next->queue.previous : &machine->last_start) = grid;
    grid->queue.may_start = true;
    if (machine->starts[grid->depth]++ == 0)
        machine->start_levels |= UINT64_C(1) << grid->depth;
}

void emu_grid_started(struct emu_machine *machine, struct emu_grid *grid)
{
    struct emu_grid *next = grid->queue.next, *previous = grid->queue.previous;

    if (!grid->queue.may_start)
        return;
    grid->queue.may_start = false;
    *(previous != NULL ? &previous->queue.next : &machine->first_start) = next;
    *(next != NULL ? &next->queue.previous : &machine->last_start) = previous;
    grid->queue.next = grid->queue.previous = NULL;
    if (--machine->starts[grid->depth] == 0)
        machine->start_levels &= ~(UINT64_C(1) << grid->depth);
}

struct emu_grid *emu_grid_take_startable(struct emu_machine *machine)
{
    struct emu_grid *grid = machine->first_start;

    if (grid != NULL)
        emu_grid_started(machine, grid);
    return grid;
}

/** Returns the list in which the index of streams has stream @stream of block @block of grid @sequence. */
static struct emu_grid **stream_list(struct emu_machine *machine, uint32_t sequence, uint64_t block,
                                     uint64_t stream)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 divided by the golden ratio (Knuth, TAOCP 6.4) */
    uint64_t h = ((sequence * odd ^ block) * odd ^ stream) * odd;

    return &machine->stream[(h >> 32) % EMU_STREAM_LISTS];
}

static void stream_add(struct emu_machine *machine, struct emu_grid *grid)
{
    struct emu_grid **list =
        stream_list(machine, grid->parent.grid, grid->parent.block, grid->stream);

    grid->queue.stream = *list;
    grid->queue.ends_stream = true;
    *list = grid;
}

/** Removes a launch from the index of streams, because it is no longer the last launch of its stream, or is complete. */
static void stream_remove(struct emu_machine *machine, struct emu_grid *grid)
{
    struct emu_grid **at;

    if (!grid->queue.ends_stream)
        return;
    at = stream_list(machine, grid->parent.grid, grid->parent.block, grid->stream);
    while (*at != grid)
        at = &(*at)->queue.stream;
    *at = grid->queue.stream;
    grid->queue.ends_stream = false;
}

/** Returns the last launch in the stream of the device launch @how, or NULL if the stream is empty. The new launch must wait for
 *  the returned launch. */
static struct emu_grid *last_in_stream(struct emu_machine *machine,
                                       const struct emu_device_launch *how)
{
    const struct emu_block *block = how->block;
    struct emu_grid *g = *stream_list(machine, block->grid->sequence, block->linear, how->stream);

    for (; g != NULL; g = g->queue.stream)
        if (g->parent.grid == block->grid->sequence && g->parent.block == block->linear &&
            g->stream == how->stream)
            return g;
    return NULL;
}

void emu_grids_index(struct emu_machine *machine)
{
    for (struct emu_grid *g = machine->grids; g != NULL; g = g->next) {
        if (!emu_grid_of_device(g) || emu_grid_complete(g))
            continue;
        if (g->stream_prev == NULL && g->blocks_placed < g->block_count)
            start_add(machine, g);
        if (!g->group && g->stream_next == NULL)
            stream_add(machine, g);
    }
}

/** Returns true if a block group may be aggregated into @g: blocks of @g, or of block groups aggregated into it, are running or
 *  can start. A launch that waits for another launch in its stream cannot start, nor can a host launch that was queued after
 *  another host launch. */
static bool takes_groups(const struct emu_grid *g)
{
    return g->aggregated_into == NULL && g->stream_prev == NULL && (g->started || emu_grid_of_device(g)) &&
           (g->blocks_ended < g->block_count || g->pending_groups != 0);
}

/** Returns the first launch into which a block group may be aggregated: a launch of the same kernel with blocks of the same
 *  shape. Returns NULL if there is no such launch. */
static struct emu_grid *kernel_for_group(const struct emu_machine *machine,
                                         const struct emu_launch *launch)
{
    struct emu_grid *g = machine->oldest;

    for (; g != NULL; g = g->next)
        if (takes_groups(g) && g->launch.program == launch->program &&
            g->launch.kernel == launch->kernel &&
            memcmp(g->launch.block, launch->block, sizeof launch->block) == 0 &&
            g->launch.dynamic_shared_bytes == launch->dynamic_shared_bytes)
            return g;
    return NULL;
}

enum lw_status emu_grid_launch_device(struct emu_machine *machine, const struct emu_launch *launch,
                                      const struct emu_device_launch *how,
                                      struct emu_grid **out, struct lw_error *err)
{
    struct emu_block *block = how->block;
    struct emu_grid *launcher = block->grid, *joined = NULL, *before = NULL, *grid;
    struct shape shape;
    enum lw_status status = shape_of(machine, launch, &shape, err);

    if (status != LW_OK)
        return status;
    if (how->group)
        joined = kernel_for_group(machine, launch);
    else
        before = last_in_stream(machine, how);
    grid = make(machine, launch, &shape, take_device(machine), NULL, true);
    if (grid == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the grid");
    if (!number(machine, grid, err)) {
        give_device(machine, grid);
        return LW_ENOMEM;
    }
    grid->parent.grid = launcher->sequence;
    grid->parent.block = block->linear;
    grid->parent.warp = how->warp;
    grid->parent.lane = how->lane;
    grid->parent.pc = how->pc;
    grid->depth = launcher->depth + 1;
    grid->group = how->group;
    grid->stream = how->stream;
    grid->launcher = launcher;
    grid->launcher_block = block;
    launcher->pending_children++;
    block->children += !how->group;
    grid->stream_prev = how->after ? launcher : before;
    if (how->after) {
        launcher->held_launches++;
    } else if (before != NULL) {
        before->stream_next = grid;
        stream_remove(machine, before);
    } else {
        start_add(machine, grid);
    }
    if (!grid->group)
        stream_add(machine, grid);
    grid->aggregated_into = joined;
    if (joined != NULL)
        joined->pending_groups++;
    machine->device_open++;
    machine->pending++;
    machine->launch_changes++;
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_LAUNCH, .grid = grid});
    *out = grid;
    return LW_OK;
}

/** Removes a device launch from the list when it is complete and no slot holds one of its blocks. Afterwards, only the event of
 *  the last step may still refer to the launch. */
static void leave_list(struct emu_machine *machine, struct emu_grid *grid)
{
    if (grid->slots_in_use != 0 || !emu_grid_complete(grid))
        return;
    if (grid->previous != NULL)
        grid->previous->next = grid->next;
    else
        machine->grids = grid->next;
    if (grid->next != NULL)
        grid->next->previous = grid->previous;
    else
        machine->last_grid = grid->previous;
    give_device(machine, grid);
}

static void complete(struct emu_machine *machine, struct emu_grid *grid)
{
    while (grid != NULL && emu_grid_complete(grid)) {
        struct emu_grid *launcher = grid->launcher, *joined = grid->aggregated_into;
        struct emu_block *block = grid->launcher_block;

        while (machine->oldest != NULL && emu_grid_complete(machine->oldest))
            machine->oldest = machine->oldest->next;
        if (!emu_grid_of_device(grid))
            return;
        machine->device_open--;
        machine->launch_changes++;
        if (grid->buffer != 0)
            (void)!emu_memory_free(machine, grid->buffer, NULL);
        grid->buffer = 0;
        emu_grid_started(machine, grid); /* a replay may have placed the last block without calling this function */
        stream_remove(machine, grid);
        if (grid->stream_next != NULL) {
            grid->stream_next->stream_prev = NULL;
            start_add(machine, grid->stream_next);
        }
        if (!grid->group && block->in_use && block->grid == launcher &&
            block->linear == grid->parent.block && --block->children == 0)
            emu_block_launches_done(block);
        grid->launcher = grid->aggregated_into = grid->stream_next = NULL;
        leave_list(machine, grid);
        if (joined != NULL && --joined->pending_groups == 0)
            complete(machine, joined);
        launcher->pending_children--;
        grid = launcher;
    }
}

void emu_grid_blocks_done(struct emu_machine *machine, struct emu_grid *grid)
{
    for (struct emu_grid *g = grid->next; grid->held_launches != 0; g = g->next) {
        if (g->stream_prev != grid || g->launcher != grid)
            continue;
        g->stream_prev = NULL;
        start_add(machine, g);
        machine->launch_changes++;
        grid->held_launches--;
    }
    complete(machine, grid);
}

void emu_grid_unhold(struct emu_machine *machine, struct emu_grid *grid)
{
    grid->slots_in_use--;
    leave_list(machine, grid);
}

bool emu_grid_begin(struct emu_machine *machine, struct emu_grid *grid)
{
    if (__atomic_exchange_n(&grid->started, true, __ATOMIC_RELAXED))
        return false;
    machine->pending -= emu_grid_of_device(grid);
    return true;
}

void emu_grids_drop_device(struct emu_machine *machine)
{
    struct emu_grid *grid = machine->grids, *next;

    machine->grids = machine->last_grid = machine->oldest = NULL;
    for (; grid != NULL; grid = next) {
        next = grid->next;
        grid->next = NULL;
        if (emu_grid_of_device(grid))
            give_device(machine, grid);
        else
            append(machine, grid);
    }
    machine->device_open = machine->pending = 0;
    machine->first_start = machine->last_start = NULL;
    machine->start_levels = 0;
    memset(machine->starts, 0, sizeof machine->starts);
    memset(machine->stream, 0, sizeof machine->stream);
    machine->launch_changes++;
}

void emu_grids_abandon(struct emu_machine *machine)
{
    const bool immediate = machine->text.immediate;

    emu_grids_drop_device(machine);
    for (struct emu_grid *grid = machine->grids; grid != NULL; grid = grid->next) {
        grid->blocks_placed = grid->blocks_started = grid->blocks_ended = grid->block_count;
        grid->pending_children = grid->pending_groups = grid->held_launches = 0;
        grid->slots_in_use = 0;
        grid->launcher = grid->aggregated_into = grid->stream_prev = grid->stream_next = NULL;
    }
    machine->oldest = NULL;
    emu_text_fini(&machine->text);
    emu_text_init(&machine->text);
    machine->text.immediate = immediate;
}

/* ---- text ------------------------------------------------------------------------------------- */

void emu_grid_chain_print(const struct emu_machine *machine, uint32_t sequence,
                          struct lw_sink *out)
{
    const struct emu_grid *grid = emu_grid_find(machine, sequence);
    char room[ISA_SYMBOL_BYTES];

    for (unsigned said = 0; grid != NULL && emu_grid_of_device(grid); said++) {
        const struct emu_grid *by = emu_grid_find(machine, grid->parent.grid);
        uint64_t block = grid->parent.block;
        if (said == 4 && grid->depth > 1) { /* leaves out further levels: prints their number, and the launch by the host */
            const struct emu_grid *first = by;
            while (first != NULL && emu_grid_of_device(first))
                first = emu_grid_find(machine, first->parent.grid);
            lw_printf(out, "; %u levels up, by kernel %s (launch %u)", grid->depth,
                      first != NULL ? isa_symbol_text(first->launch.kernel->name, room) : "?",
                      first != NULL ? first->sequence : 0);
            return;
        }
        lw_put(out, said == 0 ? "launched by " : ", which was launched by ");
        if (by != NULL) {
            const uint32_t *g = by->launch.grid;
            lw_printf(out, "kernel %s (launch %u), block (%u,%u,%u), ",
                      isa_symbol_text(by->launch.kernel->name, room), by->sequence, (unsigned)(block % g[0]), (unsigned)(block / g[0] % g[1]),
                      (unsigned)(block / g[0] / g[1]));
        }
        lw_printf(out, "warp %u, lane %u", grid->parent.warp, grid->parent.lane);
        grid = by;
    }
}
