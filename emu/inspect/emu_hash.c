/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_state (MACHINE 4): all architectural state in canonical form. State that depends on the host or on the order of inspection
 * is excluded: slots and cores, padding of register rows, dead lanes, registers that the kernel does not use, and resident blocks
 * that have not begun, whose state is created when they are first inspected.
 */
#include "emu/grid/emu_grid_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/core/emu_core_priv.h"
#include "emu/log/emu_log_priv.h"

#include <stdlib.h>

/** Returns the value of a lane in a register, which may be materialised or tagged. */
static uint32_t lane_of(const struct emu_warp *w, unsigned number, unsigned lane)
{
    unsigned index = EMU_ROW_V0 + number;

    return w->ctag != NULL ? emu_compact_lane(w, index, lane)
                           : emu_row(w, index * w->stride)[lane];
}

static const uint32_t *local_row(const struct emu_warp *w, uint32_t word)
{
    return (const uint32_t *)(const void *)w->local + (size_t)word * w->n;
}

static void hash_warp(struct lw_hash *hash, const struct emu_warp *w)
{
    lw_hash_u64(hash, w->launched);
    lw_hash_u64(hash, w->live);
    lw_hash_u64(hash, w->retired);
    lw_hash_u64(hash, w->lane_retired);
    if (w->live == 0)
        return;
    for (unsigned r = 0; r < w->vreg_count; r++) {
        for (LW_EACH_BIT(l, w->live))
            lw_hash_u64(hash, lane_of(w, r, (unsigned)l));
    }
    for (unsigned i = 0; i < ISA_PRED_COUNT; i++)
        lw_hash_u64(hash, w->p[i] & w->live);
    lw_hash_bytes(hash, w->s, sizeof w->s);
    lw_hash_bytes(hash, w->sp, ISA_PRED_COUNT);
    emu_split_hash(w, hash);
    for (uint32_t word = 0; word < (w->local_bytes + 3) / 4; word++)
        for (LW_EACH_BIT(k, w->live))
            lw_hash_u64(hash, local_row(w, word)[k]);
}

static bool row_is_zero(const uint32_t *row, uint64_t lanes)
{
    uint32_t any = 0;

    for (LW_EACH_BIT(l, lanes))
        any |= row[l];
    return any == 0;
}

static bool warp_is_fresh(const struct emu_warp *w)
{
    uint64_t any = 0;

    if (w->retired != 0 || w->live != w->launched || w->split_ids != 1 ||
        w->split[0].state != EMU_SPLIT_READY ||
        emu_split_pc(w, 0) != w->block->grid->launch.kernel->first || w->group_counter != 0 ||
        emu_exec_mask(w) != ~UINT64_C(0))
        return false;
    for (unsigned i = 0; i < ISA_PT; i++)
        any |= (w->p[i] & w->live) | w->sp[i];
    for (unsigned i = 0; i < 126; i++)
        any |= w->s[i];
    if (any != 0)
        return false;
    for (unsigned r = 0; r < w->vreg_count; r++)
        for (LW_EACH_BIT(l, w->live))
            any |= lane_of(w, r, (unsigned)l);
    if (any != 0)
        return false;
    for (uint32_t word = 0; word < (w->local_bytes + 3) / 4; word++)
        if (!row_is_zero(local_row(w, word), w->live))
            return false;
    return true;
}

/** Returns true if no instruction of the block has retired, and its state is still the entry state. */
static bool block_is_fresh(const struct emu_block *block)
{
    if (block->retired != 0 || block->cta_open != 0)
        return false;
    for (unsigned i = 0; i < block->warp_count; i++)
        if (!warp_is_fresh(&block->warp[i]))
            return false;
    for (uint32_t i = 0; i < block->shared_bytes; i++)
        if (block->shared[i] != 0)
            return false;
    return true;
}

static void hash_block(struct lw_hash *hash, const struct emu_block *block)
{
    lw_hash_u64(hash, block->grid->sequence);
    lw_hash_u64(hash, block->linear);
    lw_hash_u64(hash, block->retired);
    lw_hash_u64(hash, block->sleep_offset);
    lw_hash_u64(hash, (uint64_t)block->children << 32 | block->streams);
    lw_hash_bytes(hash, block->shared, block->shared_bytes);
    emu_cta_hash(block, hash);
    for (unsigned k = 0; k < block->warp_count; k++)
        hash_warp(hash, &block->warp[k]);
}

static void hash_grid(struct lw_hash *hash, const struct emu_grid *grid)
{
    const struct emu_launch *launch = &grid->launch;

    lw_hash_u64(hash, grid->blocks_ended);
    if (grid->blocks_ended == grid->block_count)
        return;
    lw_hash_u64(hash, emu_program_base(launch->program) + launch->kernel->first);
    lw_hash_bytes(hash, launch->grid, sizeof launch->grid);
    lw_hash_bytes(hash, launch->block, sizeof launch->block);
    lw_hash_bytes(hash, launch->offset, sizeof launch->offset);
    lw_hash_u64(hash, (uint64_t)launch->work_dim << 32 | grid->shared_bytes);
    lw_hash_bytes(hash, grid->bank0, grid->bank0_valid);
    if (!emu_grid_of_device(grid))
        return;
    lw_hash_u64(hash, (uint64_t)grid->sequence << 32 | grid->parent.grid);
    lw_hash_u64(hash, grid->parent.block);
    lw_hash_u64(hash, (uint64_t)grid->parent.warp << 32 | grid->parent.lane);
    lw_hash_u64(hash, grid->stream);
    lw_hash_u64(hash, (uint64_t)(grid->aggregated_into != NULL ? grid->aggregated_into->sequence : 0) << 32 |
                          (grid->stream_prev != NULL ? grid->stream_prev->sequence : 0));
    lw_hash_u64(hash, grid->group);
}

/** Returns the first resident block of any core after block (@grid, @linear), or the first of all resident blocks if @grid is
 *  0. */
static const struct emu_block *next_block(const struct emu_machine *machine, uint32_t grid,
                                          uint64_t linear)
{
    const struct emu_block *best = NULL;

    for (unsigned i = 0; i < machine->core_count; i++) {
        const struct emu_core *core = machine->cores[i];
        for (unsigned s = 0; s < core->slots_used; s++) {
            const struct emu_block *b = &core->block[s];
            if (!b->in_use)
                continue;
            uint32_t g = b->grid->sequence;
            bool later = g > grid || (g == grid && b->linear > linear);
            if (later && (best == NULL || g < best->grid->sequence ||
                          (g == best->grid->sequence && b->linear < best->linear)))
                best = b;
        }
    }
    return best;
}

static int by_name(const void *a, const void *b)
{
    const struct emu_block *x = *(const struct emu_block *const *)a;
    const struct emu_block *y = *(const struct emu_block *const *)b;

    if (x->grid != y->grid)
        return x->grid->sequence < y->grid->sequence ? -1 : 1;
    return x->linear < y->linear ? -1 : x->linear > y->linear;
}

/** Returns the resident blocks in the order of next_block, collected in one pass over all slots. The caller frees the list.
 *  Returns NULL if there are no blocks, or no memory. */
static const struct emu_block **list_blocks(const struct emu_machine *machine, size_t *count)
{
    const struct emu_block **list = NULL;
    size_t room = 0;

    *count = 0;
    for (unsigned i = 0; i < machine->core_count; i++)
        for (unsigned s = 0; s < machine->cores[i]->slots_used; s++) {
            if (!machine->cores[i]->block[s].in_use)
                continue;
            if (!lw_grow(&list, &room, *count + 1, sizeof *list)) {
                free(list);
                return NULL;
            }
            list[(*count)++] = &machine->cores[i]->block[s];
        }
    if (list != NULL)
        qsort(list, *count, sizeof *list, by_name);
    return list;
}

static void hash_blocks(const struct emu_machine *machine, struct lw_hash *hash)
{
    const struct emu_block *block = NULL;
    size_t count;
    const struct emu_block **list = list_blocks(machine, &count);

    for (size_t i = 0; list != NULL && i < count; i++)
        if (!block_is_fresh(list[i]))
            hash_block(hash, list[i]);
    while (list == NULL && (block = next_block(machine, block != NULL ? block->grid->sequence : 0,
                                               block != NULL ? block->linear : 0)) != NULL)
        if (!block_is_fresh(block))
            hash_block(hash, block);
    free(list);
}

uint64_t emu_hash_state(const struct emu_machine *machine)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_u64(&hash, emu_hash_mem(machine));
    for (size_t i = 0; i < machine->text.block_count; i++) { /* blocks whose text is not in the hash of all text yet */
        const struct emu_text_block *text = &machine->text.block[i];
        lw_hash_u64(&hash, text->grid);
        lw_hash_u64(&hash, text->block);
        lw_hash_u64(&hash, lw_hash_value(&text->hash));
    }
    lw_hash_u64(&hash, machine->grid_count);
    for (const struct emu_grid *g = machine->grids; g != NULL; g = g->next)
        hash_grid(&hash, g);
    lw_hash_u64(&hash, emu_machine_retired(machine));
    hash_blocks(machine, &hash);
    return lw_hash_value(&hash);
}
