/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suspension of blocks that wait for their launches. A block in which no warp can run before a launch is complete leaves
 * its core. Its registers, shared memory and local memory are sent to memory, one line per cycle. Then its resources on the
 * core become free.
 * When the launch is complete, kernel management dispatches the block like a kernel. The block returns to the same core,
 * and its lines are read back. Source: specification of the dynamic parallelism thesis, sections 5.4 and 5.5: one block is
 * transferred at a time, and memory has space for the state of core.blocks blocks at each level of nesting. The return to the
 * same core is a choice of this model.
 */
#include "timing/core/tim_core_priv.h"

#include <stdlib.h>

/* Address in memory of the state of suspended blocks. Each block slot of each emu core has its own range of addresses. */
static const uint64_t state_base = UINT64_C(1) << 47;
enum { STATE_SHIFT = 22, SLOT_SHIFT = 12 };

/** Returns the number of resident and suspended blocks of the core at nesting level @depth. */
static unsigned of_level(const struct tim_core *core, unsigned depth)
{
    unsigned count = 0;

    for (unsigned b = 0; b < core->config->core_blocks; b++)
        count += core->block[b].used && core->block[b].grid->depth == depth;
    for (unsigned i = 0; i < core->suspended_count; i++)
        count += core->suspended[i].grid->depth == depth;
    return count;
}

bool tim_core_level_full(const struct tim_core *core, const struct emu_grid *grid)
{
    return core->suspended_count != 0 && of_level(core, grid->depth) >= core->config->core_blocks;
}

bool tim_suspended_can_run(const struct tim_core *core, const struct tim_suspended *s)
{
    struct emu_split_view views[EMU_MAX_LANES];

    for (unsigned w = 0; w < s->grid->block_warps; w++) {
        unsigned count = emu_split_views(core->emu, s->slot, w, views, EMU_MAX_LANES);
        for (unsigned i = 0; i < count; i++)
            if (views[i].state == EMU_SPLIT_READY)
                return true;
    }
    return false;
}

/** Returns the number of lines that the state of a block occupies. */
static uint64_t lines_of(const struct tim_core *core, const struct tim_block *block)
{
    uint64_t bytes = (uint64_t)block->registers * 4 + block->shared_bytes +
                     (uint64_t)block->local_bytes * block->threads;
    unsigned line = tim_line_bytes(core->config);

    return (bytes + line - 1) / line;
}

static void start(struct tim_core *core, struct tim_block *block, enum tim_moving way)
{
    core->moved = true;
    core->moving++;
    block->moving = (uint8_t)way;
    block->lines_left = lines_of(core, block);
    block->line = state_base + ((((uint64_t)core->index << SLOT_SHIFT) + block->slot)
                                << STATE_SHIFT);
}

/** Returns true if the block can leave the core. There are three conditions. Each warp of the block has ended, or waits at a
 *  barrier or for a launch. At least one warp waits for a launch. No instruction or write is in flight. Sets *waits if a warp
 *  waits for a launch. */
static bool can_leave(const struct tim_core *core, const struct tim_block *block, bool *waits)
{
    bool can = true, launch = false;

    for (unsigned k = 0; k < block->warps; k++) {
        const struct tim_warp *w = &core->warp[block->warp_slot[k]];
        can = can && w->in_flight == 0 && w->writes_out == 0;
        if (w->ended)
            continue;
        launch = launch || (w->split < 0 && w->waits == TIM_STALL_LAUNCH);
        can = can && !w->reselect && w->split < 0 &&
              (w->waits == TIM_STALL_LAUNCH || w->waits == TIM_STALL_BARRIER);
    }
    *waits = *waits || launch;
    return can && launch;
}

static void find_leavers(struct tim_core *core)
{
    bool waits = false;

    for (unsigned b = 0; b < core->config->core_blocks; b++) {
        struct tim_block *block = &core->block[b];
        if (block->used && block->moving == TIM_MOVES_NOT && can_leave(core, block, &waits) &&
            core->config->kernels_suspend &&
            lw_grow(&core->suspended, &core->suspended_capacity,
                    core->suspended_count + core->config->core_blocks, sizeof *core->suspended) &&
            core->leaves(core->context))
            start(core, block, TIM_MOVES_OUT);
    }
    core->launch_waits = waits;
}

static void leave(struct tim_core *core, unsigned b)
{
    struct tim_block *block = &core->block[b];

    core->suspended[core->suspended_count++] =
        (struct tim_suspended){.grid = block->grid, .linear = block->linear, .slot = block->slot,
                               .code = core->warp[block->warp_slot[0]].code};
    core->stats->count[TIM_CORE_suspends]++;
    tim_core_unseat(core, b);
    core->left(core->context, block->grid);
}

void tim_core_resume(struct tim_core *core, unsigned slot)
{
    unsigned i = 0, b = 0;

    while (core->suspended[i].slot != slot)
        i++;
    struct tim_suspended s = core->suspended[i];
    core->suspended_count--;
    memmove(&core->suspended[i], &core->suspended[i + 1],
            (core->suspended_count - i) * sizeof *core->suspended);
    tim_core_seat(core, s.grid, s.linear, s.slot, s.code, true);
    while (!core->block[b].used || core->block[b].slot != slot)
        b++;
    core->stats->count[TIM_CORE_resumes]++;
    start(core, &core->block[b], TIM_MOVES_IN);
}

/** Sends or requests one line of the first block in transfer that has lines left. */
static void send_line(struct tim_core *core, uint64_t now)
{
    unsigned bytes = tim_line_bytes(core->config), b = 0;
    uint64_t mask[4] = {0};

    while (b < core->config->core_blocks &&
           (!core->block[b].used || core->block[b].lines_left == 0))
        b++;
    if (b == core->config->core_blocks)
        return;
    if (!core->memory->ops->can_send(core->memory, core->index)) {
        core->no_capacity = true; /* the core must be ticked again when the crossbar has space */
        return;
    }
    core->moved = true;
    struct tim_block *block = &core->block[b];
    for (unsigned i = 0; i < bytes; i += 32)
        mask[i / 64] |= lw_mask(32) << i % 64;
    tim_send(core, block->line, mask,
             block->moving == TIM_MOVES_OUT ? TIM_PACKET_WRITE : TIM_PACKET_READ,
             tim_packet_id(TIM_CLIENT_STATE, b), 0xffff, 0, now);
    core->stats->count[TIM_CORE_state_lines]++;
    block->line += bytes;
    block->lines_left--;
    block->lines_out++;
}

void tim_suspend_tick(struct tim_core *core, uint64_t now)
{
    if (core->launch_waits)
        find_leavers(core);
    if (core->moving == 0)
        return;
    send_line(core, now);
    for (unsigned b = 0; b < core->config->core_blocks; b++) {
        struct tim_block *block = &core->block[b];
        if (!block->used || block->moving == TIM_MOVES_NOT || block->lines_left != 0 ||
            block->lines_out != 0)
            continue;
        core->moving--;
        core->moved = true;
        if (block->moving == TIM_MOVES_OUT) {
            leave(core, b);
            continue;
        }
        block->moving = TIM_MOVES_NOT;
        for (unsigned k = 0; k < block->warps; k++)
            if (!core->warp[block->warp_slot[k]].ended)
                tim_warp_touch(core, block->warp_slot[k], TIM_TOUCH_SPLIT);
    }
}
