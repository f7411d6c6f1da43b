/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic thread block launch. A block group, here called group, consists of the blocks that a launch instruction of the device
 * launches together. It searches for a kernel in the distributor with the same entry point, block shape and shared memory, and
 * joins this kernel. The blocks of the group are placed after those of the kernel and of earlier groups; the group needs no
 * dispatch and no entry in the distributor. The record of the group is in the group table, at the launching thread's number
 * modulo the table size. If that table entry is in use, the record is in memory. A group that finds no kernel is launched as a
 * kernel.
 *
 *   kernel:  next_group --> group --next_group--> group <-- last_group      (only groups with blocks to place)
 *
 * Source: the dynamic parallelism thesis, chapter 4; its specification, sections 7.4 to 7.8.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <inttypes.h>

bool tim_dtbl_takes(const struct tim_config *config, const struct emu_grid *grid)
{
    return config->dtbl_on && grid->parent.grid != 0 && (grid->group || config->dtbl_kernels);
}

/** Returns the kernel that the launch can join, because it has the same shape: the one with the lowest entry in the
 *  distributor. If there is none, and dtbl.pending is set, returns such a kernel that waits for its dispatch. Returns NULL if
 *  there is none. */
static struct tim_launch *kernel_for(const struct tim_grid *g, const struct tim_launch *l)
{
    struct tim_launch *found = NULL;

    for (struct tim_launch *k = g->launches.first; k != NULL; k = k->next) {
        if (k == l || k->kernel != NULL || k->asks || !(k->distributed || g->config->dtbl_pending) ||
            (k->grid == NULL && !k->distributed) || k->shape.program != l->shape.program ||
            k->shape.kernel != l->shape.kernel ||
            k->shape.dynamic_shared_bytes != l->shape.dynamic_shared_bytes ||
            memcmp(k->shape.block, l->shape.block, sizeof k->shape.block) != 0)
            continue;
        if (found == NULL || k->distributed > found->distributed ||
            (k->distributed == found->distributed && k->distributed && k->entry < found->entry))
            found = k;
    }
    return found;
}

/** Puts the record of group @l in the group table, if the entry of the launching thread is free, else in memory. */
static void fill_table(struct tim_grid *g, struct tim_launch *l)
{
    struct tim_launch **entry = &g->table[l->from_thread & (g->config->dtbl_entries - 1)];

    if (*entry == NULL)
        *entry = l;
    else
        l->spilled = true;
    g->gpu[l->spilled ? TIM_GPU_dtbl_spills : TIM_GPU_dtbl_table_hits]++;
}

static void join(struct tim_grid *g, struct tim_launch *k, struct tim_launch *l, uint64_t now)
{
    const bool marked = k->next_group != NULL ||
                        (k->grid != NULL && k->grid->blocks_placed < k->grid->block_count);

    if (!g->blocks->row->own_queues)
        fill_table(g, l);
    g->gpu[TIM_GPU_dtbl_joined]++;
    g->gpu[marked ? TIM_GPU_dtbl_extends : TIM_GPU_dtbl_remarks]++;
    if (!marked && k->distributed) /* the kernel had no blocks left to place, so it moves to the end of the distributor's order */
        k->entered = ++g->entered;
    if (k->next_group == NULL)
        k->next_group = l;
    else
        k->last_group->next_group = l;
    k->last_group = l;
    k->groups++;
    l->kernel = k;
    if (k->distributed && g->blocks->row->enters != NULL)
        g->blocks->row->enters(g->blocks, l, now);
}

/** Makes the groups that the instruction of @first launched search for kernels. Groups that find none become kernels,
 *  after a time that depends on the number of these groups. */
static void coalesce(struct tim_grid *g, struct tim_launch *first, uint64_t now)
{
    const struct tim_config *c = g->config;
    uint64_t missing = 0, command = first->command, arrives;

    for (struct tim_launch *l = first, *k; l != NULL; l = l->next) {
        if (!l->asks || l->command != command || l->arrived > now)
            continue;
        g->gpu[TIM_GPU_dtbl_groups]++;
        k = kernel_for(g, l);
        g->asking--;
        l->asks = false;
        l->missed = k == NULL;
        if (k != NULL) {
            join(g, k, l, now);
            continue;
        }
        l->missed = true;
        g->gpu[TIM_GPU_dtbl_missed]++;
        missing++;
        l->arrived = UINT64_MAX;
    }
    arrives = now;
    if (c->dtbl_fallback && !c->kernels_ideal)
        arrives += c->kernels_launch_base + (uint64_t)c->kernels_launch_lane * missing;
    for (struct tim_launch *l = first; l != NULL; l = l->next)
        if (l->arrived == UINT64_MAX) {
            l->arrived = tim_grid_device_arrival(g, arrives);
            tim_grid_wait(g, l);
        }
}

bool tim_dtbl_tick(struct tim_grid *g, uint64_t now)
{
    bool any = false;

    for (struct tim_launch *l = g->launches.first; g->asking != 0 && l != NULL; l = l->next)
        if (l->asks && l->arrived <= now) {
            coalesce(g, l, now);
            any = true;
        }
    return any;
}

uint64_t tim_dtbl_next(const struct tim_grid *g)
{
    uint64_t next = UINT64_MAX;

    for (const struct tim_launch *l = g->launches.first; g->asking != 0 && l != NULL; l = l->next)
        if (l->asks && l->arrived < next)
            next = l->arrived;
    return next;
}

void tim_dtbl_placed(struct tim_grid *g, struct tim_launch *l)
{
    struct tim_launch *k = l->kernel, *before = NULL;

    (void)g;
    if (k == NULL)
        return;
    for (struct tim_launch *at = k->next_group; at != l; at = at->next_group)
        before = at;
    *(before != NULL ? &before->next_group : &k->next_group) = l->next_group;
    if (k->last_group == l)
        k->last_group = before;
    l->next_group = NULL;
}

void tim_dtbl_over(struct tim_grid *g, struct tim_launch *l)
{
    struct tim_launch **entry = &g->table[l->from_thread & (g->config->dtbl_entries - 1)];

    if (*entry == l)
        *entry = NULL;
    l->kernel->groups--;
}

void tim_dtbl_bytes(const struct tim_config *c, uint64_t *registers, uint64_t *table)
{
    *registers = c->kernels_entries * UINT64_C(8)         /* next and last group of each kernel */
                 + (c->kernels_entries + 7) / 8           /* a bit for each kernel: it has been distributed before */
                 + 4                                      /* the group that is being distributed */
                 + (uint64_t)c->core_count * c->core_blocks * 4; /* the group of each resident block */
    *table = c->dtbl_entries * UINT64_C(20);              /* size, parameters, next group, and number of executing
                                                           * blocks */
}

void tim_dtbl_show(const struct tim_grid *g, struct lw_sink *out)
{
    size_t used = 0;
    uint64_t registers, table;

    tim_dtbl_bytes(g->config, &registers, &table);
    for (size_t i = 0; i < g->config->dtbl_entries; i++)
        used += g->table[i] != NULL;
    lw_printf(out, "dtbl: %zu of %u entries of the group table taken; %" PRIu64 " of %" PRIu64
                   " block groups found a kernel, %" PRIu64 " of these found no free entry\n",
              used, g->config->dtbl_entries, g->gpu[TIM_GPU_dtbl_joined], g->gpu[TIM_GPU_dtbl_groups],
              g->gpu[TIM_GPU_dtbl_spills]);
    lw_printf(out, "  hardware cost: %" PRIu64 " bytes of registers, %" PRIu64 " bytes of the table\n", registers, table);
    for (size_t i = 0; i < g->config->dtbl_entries; i++)
        if (g->table[i] != NULL)
            lw_printf(out, "  entry %-4zu: launch %u, aggregated into launch %u; %" PRIu64 " of %" PRIu64
                           " blocks of launch %u are placed\n", i,
                      g->table[i]->grid->sequence, g->table[i]->kernel->sequence,
                      g->table[i]->grid->blocks_placed, g->table[i]->grid->block_count, g->table[i]->grid->sequence);
}
