/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of kernel management. A test launches grids, executes cycles, ends blocks, and reads which block was
 * placed on which core. No instruction is executed. */
#ifndef BLOCK_RIG_H
#define BLOCK_RIG_H

#include "tests/timing/tim_run.h"
#include "timing/grid/tim_blocks_priv.h"

struct rig {
    struct tim_config *config;
    struct fix *fix;
    struct tim_engine *e;
    struct tim_code code;
    struct emu_grid *grid[128]; /* grid of each launch, indexed by the letter that names the launch */
    uint64_t now;
    bool more_lanes; /* the next launch is of the same warp instruction as the one after it */
    char log[1 << 16]; /* placements since the last said(): "A0@3 " means that block 0 of launch A was placed on core 3 */
};

static inline struct rig *rig_new(unsigned cores, unsigned blocks, unsigned policy)
{
    struct rig *r = calloc(1, sizeof *r);
    struct lw_error err;

    assert_non_null(r);
    fix_check(tim_config_load("kepler-k20c", &r->config, &err), &err);
    r->config->core_count = cores;
    r->config->core_blocks = blocks;
    r->config->kernels_policy = policy;
    r->config->kernels_latency = 0;
    return r;
}

static inline void rig_open(struct rig *r)
{
    struct tim_options options = {0};
    struct lw_error err;

    r->fix = fix_new(r->config->core_warp_width);
    tim_config_machine(r->config, &r->fix->config);
    r->fix->config.pending_launches = 1 << 20;
    /* The launch that fix_load() creates is never added to kernel management. */
    fix_load(r->fix, ".kernel k\nexit\n.end\n.kernel m\nexit\n.end\n", 32);
    emu_engine_destroy(r->fix->engine);
    fix_check(tim_config_check(r->config, &err), &err);
    fix_check(tim_engine_create_over(r->fix->machine, r->config, &options, run_memory_create, &r->fix->engine, &err), &err);
    r->e = (struct tim_engine *)r->fix->engine;
    r->e->grid.starts = NULL;
    r->e->grid.distributed = NULL;
    assert_true(tim_code_fill(&r->e->config, r->fix->program, &r->code));
}

static inline void rig_free(struct rig *r)
{
    tim_code_fini(&r->code);
    fix_free(r->fix);
    tim_config_destroy(r->config);
    free(r);
}

/** Create launch @name of kernel @kernel ('k' or 'm'), and add it to kernel management. If @by is 0, the host launches the
 *  grid. Otherwise thread @thread of core @core launches it, in a block of launch @by. */
static inline struct tim_launch *launch_shape(struct rig *r, char name, char kernel, unsigned blocks, unsigned x, unsigned y, char by,
                                       unsigned core, unsigned thread, bool group)
{
    struct lw_error err;
    struct tim_launcher from = {core, thread};
    struct emu_launch launch = {.program = r->fix->program, .kernel = &r->fix->object->functions[kernel == 'm'],
                                .grid = {blocks, 1, 1}, .block = {x, y, 1}, .work_dim = 2};
    struct emu_grid *grid;

    fix_check(emu_grid_launch(r->fix->machine, &launch, &grid, &err), &err);
    if (by != 0) { /* the members that a launch by a block of @by would set */
        grid->parent.grid = r->grid[(unsigned)by]->sequence;
        grid->depth = r->grid[(unsigned)by]->depth + 1;
        grid->group = group;
    }
    r->grid[(unsigned)name] = grid;
    if (by != 0)
        assert_true(tim_grid_note(&r->e->grid, grid, r->now, &from));
    assert_true(tim_grid_add(&r->e->grid, grid, &r->code, r->now, 0, by != 0, 0));
    if (!r->more_lanes)
        tim_grid_launched(&r->e->grid);
    return r->e->grid.launches.last;
}
static inline struct tim_launch *launch(struct rig *r, char name, char kernel, unsigned blocks, char by, unsigned core)
{
    return launch_shape(r, name, kernel, blocks, 32, 1, by, core, 0, true);
}

static inline char name_of(const struct rig *r, const struct emu_grid *grid)
{
    for (unsigned i = 0; i < 128; i++)
        if (r->grid[i] == grid)
            return (char)i;
    return '?';
}

static inline void tick(struct rig *r)
{
    struct lw_error err;
    uint64_t before[64][2];
    const unsigned cores = r->config->core_count, blocks = r->config->core_blocks;

    for (unsigned c = 0; c < cores; c++)
        before[c][0] = r->e->core[c]->assigned;
    fix_check(tim_grid_tick(&r->e->grid, r->now, &err), &err);
    r->now++;
    for (unsigned c = 0; c < cores; c++)
        for (unsigned b = 0; b < blocks; b++) {
            const struct tim_block *block = &r->e->core[c]->block[b];
            size_t at = strlen(r->log);

            if (block->used && r->e->core[c]->warp[block->warp_slot[0]].age > before[c][0] && at + 32 < sizeof r->log)
                snprintf(r->log + at, 32, "%c%u@%u ", name_of(r, block->grid), (unsigned)block->linear, c);
        }
}
static inline void ticks(struct rig *r, unsigned count)
{
    while (count-- > 0)
        tick(r);
}

/** End block @linear of @grid before the next cycle. The test fails if the block is on no core. */
static inline void end(struct rig *r, const struct emu_grid *grid, uint64_t linear)
{
    for (unsigned c = 0; c < r->config->core_count; c++)
        for (unsigned b = 0; b < r->config->core_blocks; b++) {
            struct tim_block *block = &r->e->core[c]->block[b];
            bool over;

            if (!block->used || block->grid != grid || block->linear != linear)
                continue;
            tim_core_unseat(r->e->core[c], b);
            tim_grid_block_ended(&r->e->grid, grid, c, linear, &over);
            emu_core_block_free(r->e->core[c]->emu, block->slot);
            return;
        }
    fail_msg("block %u of %c is on no core", (unsigned)linear, name_of(r, grid));
}
/** End all blocks that are on cores, before the next cycle. */
static inline void end_all(struct rig *r)
{
    for (unsigned c = 0; c < r->config->core_count; c++)
        for (unsigned b = 0; b < r->config->core_blocks; b++)
            if (r->e->core[c]->block[b].used)
                end(r, r->e->core[c]->block[b].grid, r->e->core[c]->block[b].linear);
}
static inline unsigned resident(const struct rig *r)
{
    unsigned count = 0;

    for (unsigned c = 0; c < r->config->core_count; c++)
        count += r->e->core[c]->blocks;
    return count;
}
static inline void said(struct rig *r, const char *expected)
{
    assert_string_equal(r->log, expected);
    r->log[0] = '\0';
}
static inline uint64_t count(const struct rig *r, unsigned counter)
{
    return r->e->gpu[counter];
}

#endif
