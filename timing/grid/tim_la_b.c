/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locality-aware block scheduling. Launches and cores are selected as in round robin. Which block of the launch is placed on
 * the core depends on the cache lines that the waiting blocks will access: a rectangle of lines in each array. The block is
 *
 *   1. the block that shares most lines with the blocks of the launch that run on the core;
 *   2. if no block shares any line with these, the block that shares fewest lines with the blocks on other cores.
 *
 * Among equal blocks the one with the lowest number is selected. The scheduler stores, for each waiting block and each
 * core, the number of lines that the block shares with the blocks on the core; it updates these numbers when a block
 * begins or ends. Launches without address slices, and suspended blocks, are placed as in round robin. Source: specification of
 * address pre-computation, section 6.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/** A waiting block from which the scheduler chooses. */
struct candidate {
    uint64_t linear;
    uint64_t total; /* number of lines that the block shares with the running blocks of all cores */
    struct emu_rect range[TIM_REACH_ARRAYS];
};
/** A block that runs. */
struct running {
    uint64_t linear;
    unsigned core;
    struct emu_rect range[TIM_REACH_ARRAYS];
    /* Why the block was placed on its core. The numbers are those at the time of its placement: */
    uint64_t lines, most;   /* numbers of lines that the block shared with all blocks on the core, and with block `with` */
    uint64_t with;          /* the block on the core with which it shared most lines; UINT64_MAX: it shared none */
    uint64_t elsewhere;     /* number of lines that the block shared with blocks on other cores */
};
/** The candidates and running blocks of a launch that has address slices. */
struct table {
    struct table *next;
    const struct tim_launch *launch;
    const struct tim_reach_launch *reach;
    unsigned arrays;
    uint64_t taken;          /* number of the first block that has not been a candidate yet */
    uint64_t ended;          /* number of blocks that have ended */
    struct candidate *block; /* [capacity] candidates by slot */
    uint64_t *shared;        /* [slot][core] number of lines that the candidate shares with the blocks on the core */
    uint32_t *order;         /* [capacity] first the slots of the candidates, in the order of blocks; then the free slots */
    uint32_t count, capacity; /* number of candidates; maximum number */
    struct running *running; /* blocks on cores in the order of their placement; capacity for all blocks that cores may
                              * have */
    unsigned running_count;
};
struct la_b {
    struct tim_blocks_rotating rotating; /* must be the first member */
    struct table *tables;
    bool decided;            /* ap.dispatch_cost: a block has been selected; it is placed in cycle ready_at */
    uint64_t ready_at;
    struct tim_block_choice choice; /* decided: the selection */
};

static struct tim_blocks *create(const struct tim_config *config)
{
    struct la_b *b = calloc(1, sizeof *b);

    (void)config;
    return b != NULL ? &b->rotating.blocks : NULL;
}

static void destroy_table(struct table *t)
{
    free(t->block);
    free(t->shared);
    free(t->order);
    free(t->running);
    free(t);
}

static void destroy(struct tim_blocks *blocks)
{
    struct la_b *b = (struct la_b *)blocks;

    for (struct table *t = b->tables, *next; t != NULL; t = next) {
        next = t->next;
        destroy_table(t);
    }
    free(b);
}

/* ---- waiting blocks ---------------------------------------------------------------------------------- */

/** Called when block @r begins on its core or, if @begins is false, ends: updates the numbers of lines that candidates share
 *  with the blocks on this core. */
static void count_shared(const struct la_b *b, struct table *t, const struct running *r, bool begins)
{
    const unsigned cores = b->rotating.blocks.grid->config->core_count;

    for (uint32_t i = 0; i < t->count; i++) {
        struct candidate *c = &t->block[t->order[i]];
        uint64_t *shared = &t->shared[(size_t)t->order[i] * cores + r->core];
        const uint64_t lines = tim_reach_overlap(c->range, r->range, t->arrays);

        *shared = begins ? *shared + lines : *shared - lines;
        c->total = begins ? c->total + lines : c->total - lines;
    }
}

/** Makes waiting blocks candidates, in the order of their numbers, until there are t->capacity candidates. */
static void take_candidates(const struct la_b *b, struct table *t)
{
    const unsigned cores = b->rotating.blocks.grid->config->core_count;

    while (t->count < t->capacity && t->taken < t->launch->grid->block_count) {
        const uint32_t slot = t->order[t->count];
        struct candidate *c = &t->block[slot];
        uint64_t *shared = &t->shared[(size_t)slot * cores];

        *c = (struct candidate){.linear = t->taken++};
        tim_reach_block(t->reach, c->linear, c->range);
        memset(shared, 0, cores * sizeof *shared);
        for (unsigned i = 0; i < t->running_count; i++) {
            const uint64_t lines = tim_reach_overlap(c->range, t->running[i].range, t->arrays);

            shared[t->running[i].core] += lines;
            c->total += lines;
        }
        t->count++;
    }
}

/** Returns the table of a launch, created if necessary, or NULL if the launch has no address slices or the host has no memory
 *  for the table. If memory is short, counter ap_no_memory counts the launch, and the blocks of this launch and of all later
 *  launches are placed in rotation. */
static struct table *table_of(struct la_b *b, const struct tim_launch *l)
{
    const struct tim_grid *g = b->rotating.blocks.grid;
    const uint64_t window = g->config->ap_window, blocks = l->grid->block_count;
    const struct tim_reach_launch *reach;
    uint64_t *no_memory = &g->gpu[TIM_GPU_ap_no_memory];
    struct table *t = b->tables;

    while (t != NULL && t->launch != l)
        t = t->next;
    if (t != NULL || *no_memory != 0)
        return t;
    reach = g->reach == NULL ? NULL : tim_reach_of(g->reach, l->grid);
    if (reach == NULL || l->grid->blocks_placed != 0)
        return NULL;
    t = calloc(1, sizeof *t);
    if (t == NULL) {
        ++*no_memory;
        return NULL;
    }
    t->launch = l;
    t->reach = reach;
    t->arrays = tim_reach_arrays(reach);
    t->capacity = (uint32_t)(window != 0 && window < blocks ? window : blocks < UINT32_MAX ? blocks : UINT32_MAX - 1);
    t->block = malloc(t->capacity * sizeof *t->block);
    t->shared = malloc((size_t)t->capacity * g->config->core_count * sizeof *t->shared);
    t->order = malloc((size_t)t->capacity * sizeof *t->order);
    t->running = malloc((size_t)g->config->core_count * g->config->core_blocks *
                        (emu_machine_config(g->cores[0]->machine)->launch_depth + 1) * sizeof *t->running);
    if (t->block == NULL || t->shared == NULL || t->order == NULL || t->running == NULL) {
        destroy_table(t);
        ++*no_memory;
        return NULL;
    }
    for (uint32_t i = 0; i < t->capacity; i++)
        t->order[i] = i;
    t->next = b->tables;
    b->tables = t;
    return t;
}

/* ---- decisions ------------------------------------------------------------------------------------- */

/** Selects one of the candidates for @core, and returns its index in t->order. Sets *ops to the number of rectangle overlaps
 *  that hardware would compute to decide. */
static uint32_t choose(const struct la_b *b, const struct table *t, unsigned core, uint64_t *ops)
{
    const unsigned cores = b->rotating.blocks.grid->config->core_count;
    uint32_t most = 0, least = 0;
    unsigned here = 0;

    for (unsigned i = 0; i < t->running_count; i++)
        here += t->running[i].core == core;
    for (uint32_t i = 1; i < t->count; i++) {
        if (t->shared[(size_t)t->order[i] * cores + core] > t->shared[(size_t)t->order[most] * cores + core])
            most = i;
        if (t->block[t->order[i]].total < t->block[t->order[least]].total)
            least = i;
    }
    *ops = (uint64_t)t->count * here * t->arrays;
    if (t->shared[(size_t)t->order[most] * cores + core] != 0)
        return most;
    *ops += (uint64_t)t->count * (t->running_count - here) * t->arrays;
    return least;
}

static bool picks(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out)
{
    struct la_b *b = (struct la_b *)blocks;
    const struct tim_config *config = blocks->grid->config;
    struct table *t;
    uint64_t ops;

    if (b->decided) {
        if (now < b->ready_at)
            return false;
        b->decided = false;
        *out = b->choice;
        return true;
    }
    if (!tim_rotating_picks(blocks, now, out))
        return false;
    t = out->resume == SIZE_MAX ? table_of(b, out->launch) : NULL;
    if (t == NULL)
        return true;
    take_candidates(b, t);
    out->block = t->block[t->order[choose(b, t, out->core, &ops)]].linear;
    blocks->grid->gpu[TIM_GPU_ap_decision_ops] += ops;
    if (config->ap_dispatch_cost == 0 || config->kernels_ideal || ops == 0)
        return true;
    b->decided = true;
    b->ready_at = now + ops * config->ap_dispatch_cost;
    b->choice = *out;
    return false;
}

static bool waits(const struct tim_blocks *blocks)
{
    return ((const struct la_b *)blocks)->decided || tim_rotating_waits(blocks);
}

static bool can(const struct tim_blocks *blocks)
{
    return ((const struct la_b *)blocks)->decided || tim_rotating_can(blocks);
}

static uint64_t next(const struct tim_blocks *blocks, uint64_t now)
{
    const struct la_b *b = (const struct la_b *)blocks;

    if (b->decided)
        return b->ready_at < now ? now : b->ready_at;
    return tim_rotating_next(blocks, now);
}

/** Records why block @r was placed on its core: how many lines the block shares with other blocks. */
static void note_why(const struct table *t, struct running *r, uint64_t *gpu)
{
    r->with = UINT64_MAX;
    for (unsigned i = 0; i < t->running_count; i++) {
        const struct running *o = &t->running[i];
        const uint64_t lines = tim_reach_overlap(r->range, o->range, t->arrays);

        if (o->core != r->core) {
            r->elsewhere += lines;
            continue;
        }
        r->lines += lines;
        if (lines > r->most) {
            r->most = lines;
            r->with = o->linear;
        }
    }
    gpu[r->lines != 0 ? TIM_GPU_la_b_overlap : TIM_GPU_la_b_least]++;
    gpu[TIM_GPU_la_b_lines] += r->lines;
}

static void begins(struct tim_blocks *blocks, struct tim_launch *l, unsigned core, uint64_t linear, uint64_t now)
{
    struct la_b *b = (struct la_b *)blocks;
    struct table *t = b->tables;
    uint32_t i = 0;

    (void)now;
    while (t != NULL && t->launch != l)
        t = t->next;
    if (t == NULL)
        return;
    while (i < t->count && t->block[t->order[i]].linear != linear)
        i++;
    if (i == t->count)
        return;
    struct running *r = &t->running[t->running_count];
    const uint32_t slot = t->order[i];

    *r = (struct running){.linear = linear, .core = core};
    memcpy(r->range, t->block[slot].range, sizeof r->range);
    note_why(t, r, blocks->grid->gpu);
    t->count--;
    memmove(&t->order[i], &t->order[i + 1], (t->count - i) * sizeof *t->order);
    t->order[t->count] = slot;
    t->running_count++;
    count_shared(b, t, r, true);
}

static void ends(struct tim_blocks *blocks, struct tim_launch *l, unsigned core, uint64_t linear)
{
    struct la_b *b = (struct la_b *)blocks;
    struct table **at = &b->tables;

    (void)core;
    while (*at != NULL && (*at)->launch != l)
        at = &(*at)->next;
    struct table *t = *at;
    if (t == NULL)
        return;
    for (unsigned i = 0; i < t->running_count; i++)
        if (t->running[i].linear == linear) {
            count_shared(b, t, &t->running[i], false);
            t->running_count--;
            memmove(&t->running[i], &t->running[i + 1], (t->running_count - i) * sizeof *t->running);
            break;
        }
    if (++t->ended < l->grid->block_count)
        return;
    *at = t->next;
    destroy_table(t);
}

/* ---- words -------------------------------------------------------------------------------------------- */

static void put_block(const struct tim_launch *l, uint64_t linear, struct lw_sink *out)
{
    const uint32_t *grid = l->grid->launch.grid;

    lw_printf(out, "block (%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", linear % grid[0], linear / grid[0] % grid[1],
              linear / grid[0] / grid[1]);
}

static void why_block(const struct tim_blocks *blocks, const struct tim_launch *l, unsigned core, uint64_t linear, struct lw_sink *out)
{
    const struct la_b *b = (const struct la_b *)blocks;
    const struct table *t = b->tables;
    const struct running *r = NULL;

    while (t != NULL && t->launch != l)
        t = t->next;
    for (unsigned i = 0; t != NULL && i < t->running_count; i++)
        if (t->running[i].linear == linear)
            r = &t->running[i];
    if (r == NULL) {
        lw_put(out, "\nthe warp's block was placed in rotation, because its launch has no address slices");
        return;
    }
    if (r->with == UINT64_MAX) {
        lw_printf(out, "\nthe warp's block was placed here because it shared %" PRIu64 " lines with blocks on other cores, "
                                                                                "the fewest of the waiting blocks; no "
                                                                                "waiting block shared lines with core "
                                                                                "%u", r->elsewhere, core);
        return;
    }
    lw_printf(out, "\nthe warp's block was placed here because it shares %" PRIu64 " lines with ", r->most);
    put_block(l, r->with, out);
    lw_printf(out, " on core %u", core);
    if (r->lines != r->most)
        lw_printf(out, ", and %" PRIu64 " lines with all blocks that ran there", r->lines);
}

static void show(const struct tim_blocks *blocks, struct lw_sink *out)
{
    const struct la_b *b = (const struct la_b *)blocks;
    const struct tim_grid *g = blocks->grid;

    lw_printf(out, "la_b: the next decision is for core %u", b->rotating.next);
    if (b->decided)
        lw_printf(out, ", a decision for core %u is ready in cycle %" PRIu64, b->choice.core, b->ready_at);
    lw_put(out, "\n");
    for (const struct table *t = b->tables; t != NULL; t = t->next) {
        lw_printf(out, "  launch %u: la_b chooses from %u blocks, %u arrays\n",
                  t->launch->sequence, t->count, t->arrays);
        for (unsigned i = 0; i < t->running_count; i++) {
            const struct running *r = &t->running[i];

            lw_put(out, "    ");
            put_block(t->launch, r->linear, out);
            lw_printf(out, " on core %u:", r->core);
            for (unsigned a = 0; a < t->arrays; a++)
                lw_printf(out, " (%u,%u) %ux%u", r->range[a].x, r->range[a].y, r->range[a].w, r->range[a].h);
            lw_printf(out, "; shared %" PRIu64 " lines when it was placed\n", r->lines);
        }
    }
    tim_reach_cost(g->config, out);
}

const struct tim_blocks_policy tim_blocks_la_b = {
    .name = "la_b",
    .summary = "locality-aware: places the block that shares most cache lines with the blocks on the core",
    .create = create,
    .destroy = destroy,
    .picks = picks,
    .waits = waits,
    .can = can,
    .next = next,
    .begins = begins,
    .ends = ends,
    .why_block = why_block,
    .show = show,
};
