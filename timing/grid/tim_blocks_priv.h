/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block schedulers select the next block and the core on which it is placed. A block scheduler is a table row of
 * tim_blocks_policies[], which has functions to create its state, and hooks. Each block scheduler has its own file. The kernel
 * management (tim_grid.c) calls the hooks at their events. The kernel management, the engine and the cores contain no code for a
 * particular block scheduler.
 *
 *   launches --------> dispatcher --------> distributor ---------> core      below each part: the hooks that are called
 *    `arrives`          `priority`, `costs`   `enters`   `picks`    `begins`, `ends`     for it
 *
 * The event-driven model does not call `picks` in cycles before `next` in which nothing has happened. The reference
 * calls it in every cycle. Both models must place the same blocks in the same cycles.
 */
#ifndef TIM_BLOCKS_PRIV_H
#define TIM_BLOCKS_PRIV_H

#include "timing/grid/tim_grid_priv.h"

/** The block that a block scheduler has selected for a core: a block of a launch, or a suspended block that resumes. */
struct tim_block_choice {
    struct tim_launch *launch;
    unsigned core;
    size_t resume;  /* index of the selected suspended block in tim_grid.resume, or SIZE_MAX if a block is selected that has
                     * never been on a core */
    uint64_t block; /* number of the block; UINT64_MAX: the next block of a launch whose blocks are placed in order */
};
/** State of a block scheduler. The state of each policy begins with this struct. */
struct tim_blocks {
    const struct tim_blocks_policy *row;
    struct tim_grid *grid;
};
struct tim_blocks_policy {
    const char *name, *summary; /* name as a value of kernels.policy; one-line description for lists */
    bool own_queues; /* the policy keeps block groups in its own queues, so the group table of mechanism dtbl is not used */
    /** Creates the state of the block scheduler. The caller sets `row` and `grid`. Returns NULL if memory is short. */
    struct tim_blocks *(*create)(const struct tim_config *config);
    void (*destroy)(struct tim_blocks *blocks);
    /** Selects a block and the core on which it is placed in cycle @now. The block must fit on that core. Returns false
     *  if no block is placed. After each selection the kernel management calls the hook again, up to
     *  kernels.blocks_a_cycle times per cycle. */
    bool (*picks)(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out);
    /** Returns true if a block waits to be placed. */
    bool (*waits)(const struct tim_blocks *blocks);
    /** Returns true if `picks` would select a block in this cycle or a later one even if no other event happened. */
    bool (*can)(const struct tim_blocks *blocks);
    /* Hooks; NULL: the block scheduler does not need the hook. */
    /** Returns a cycle, @now or later, before which `picks` selects no block unless an event happens. NULL: without an event,
     *  `picks` selects no block in any later cycle. */
    uint64_t (*next)(const struct tim_blocks *blocks, uint64_t now);
    /** Returns true if a block of @launch may ever be placed on @core. NULL: on any core. */
    bool (*allows)(const struct tim_blocks *blocks, const struct tim_launch *launch, unsigned core);
    /** Called when a launch is added. */
    void (*arrives)(struct tim_blocks *blocks, struct tim_launch *launch);
    /** Called when a launch enters the distributor for the first time or again, and when a block group joins a kernel that is in
     *  the distributor. */
    void (*enters)(struct tim_blocks *blocks, struct tim_launch *launch, uint64_t now);
    /** `begins` is called when block @linear of @launch has been placed on @core; `ends` is called when that block has ended. */
    void (*begins)(struct tim_blocks *blocks, struct tim_launch *launch, unsigned core, uint64_t linear, uint64_t now);
    void (*ends)(struct tim_blocks *blocks, struct tim_launch *launch, unsigned core, uint64_t linear);
    /** Returns the priority of a launch that waits for the dispatcher. Launches of the highest priority are dispatched
     *  first. NULL: all priorities are equal. */
    unsigned (*priority)(const struct tim_blocks *blocks, const struct tim_launch *launch);
    /** Returns the number of additional cycles that the dispatch of the launch takes. */
    unsigned (*costs)(const struct tim_blocks *blocks, const struct tim_launch *launch);
    /** Prints the state of a launch: "priority 2, bound to core 3". The hook prints no newline. */
    void (*why)(const struct tim_blocks *blocks, const struct tim_launch *launch, struct lw_sink *out);
    /** Prints why block @linear of @launch is on @core, after a newline. */
    void (*why_block)(const struct tim_blocks *blocks, const struct tim_launch *launch, unsigned core, uint64_t linear,
                      struct lw_sink *out);
    /** Prints the tables of the block scheduler, in lines. */
    void (*show)(const struct tim_blocks *blocks, struct lw_sink *out);
};
/** Block schedulers, indexed by config->kernels_policy, in the order of keys.def. */
extern const struct tim_blocks_policy *const tim_blocks_policies[];
extern const size_t tim_blocks_policy_count;
extern const struct tim_blocks_policy tim_blocks_rr, tim_blocks_tb_pri, tim_blocks_smx_bind, tim_blocks_adaptive, tim_blocks_bcs,
    tim_blocks_la_b;

/* ---- round robin, which other block schedulers extend (tim_blocks.c) ----------------------------------- */

struct tim_blocks_rotating {
    struct tim_blocks blocks;
    unsigned next; /* core at which the next search in rotation begins */
    /** Returns true if the next block of @launch may be placed on @core now. NULL: on any core on which it fits. */
    bool (*fits)(const struct tim_blocks_rotating *rotating, const struct tim_launch *launch, unsigned core);
};
/* The hooks of round robin. */
bool tim_rotating_picks(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out);
bool tim_rotating_waits(const struct tim_blocks *blocks);
bool tim_rotating_can(const struct tim_blocks *blocks);
uint64_t tim_rotating_next(const struct tim_blocks *blocks, uint64_t now);

/* ---- queries of the kernel management for block schedulers --------------------------------------------- */

/** Returns true if some core that the block scheduler allows for @launch has space for a block of its nesting level. */
bool tim_grid_has_level(const struct tim_grid *g, const struct tim_launch *launch);
/** Returns true if the launch has blocks that have never been on a core, and tim_grid_has_level() is true. */
bool tim_grid_gives(const struct tim_grid *g, const struct tim_launch *launch);
/** Returns the index in tim_grid.resume of the first dispatched suspended block of @launch or its block groups; SIZE_MAX: there
 *  is none. @fits: considers only blocks for which their core has capacity. */
size_t tim_grid_resume_of(const struct tim_grid *g, const struct tim_launch *launch, bool fits);

/** Returns the launch whose entry in the distributor @launch uses: the kernel that it has joined, or @launch itself. */
static inline struct tim_launch *tim_grid_owner(const struct tim_launch *launch)
{
    return launch->kernel != NULL ? launch->kernel : (struct tim_launch *)launch;
}
/** Returns the launch to which the next block of kernel @entry belongs: the first of the kernel itself and its block groups, in
 *  order, for which tim_grid_gives() is true. NULL: there is none. */
struct tim_launch *tim_grid_unit(const struct tim_grid *g, const struct tim_launch *entry);

/** Returns the first launch in the order of the distributor, among those with `entered` above @after, that has blocks to
 *  place. NULL: there is none. */
struct tim_launch *tim_grid_entry_after(const struct tim_grid *g, uint64_t after);

/** Inserts the launch into the list of launches that wait for the dispatcher. */
void tim_grid_wait(struct tim_grid *g, struct tim_launch *launch);
/** Removes the launch from the list of launches that wait for the dispatcher, if the list contains it. */
void tim_grid_wait_no_longer(struct tim_grid *g, struct tim_launch *launch);

/* ---- diversion and voltage scaling (tim_dvfs.c) --------------------------------------------------- */

/** Creates the state of the mechanism. Returns NULL if memory is short. */
struct tim_dvfs *tim_dvfs_create(const struct tim_config *config);
/** Completes changes of clocks and takes samples, as soon as they are due. Returns true if the set of cores that accept
 *  blocks has changed. */
bool tim_dvfs_tick(struct tim_grid *g, uint64_t now);
/** Completes the counter of the cycles with low clocks of the memory, for the cycles before @now. */
void tim_dvfs_account(const struct tim_grid *g, uint64_t now);
/** Returns the first cycle in which tim_dvfs_tick() may do something. */
uint64_t tim_dvfs_next(const struct tim_grid *g);
/** Returns true if some core accepts no new blocks now, but may accept some later. */
bool tim_dvfs_holds(const struct tim_grid *g);
/** Returns the size of the mechanism's registers, in bytes. */
unsigned tim_dvfs_bytes(const struct tim_config *config);
/** Prints the mechanism's registers and the state of each core, in lines. */
void tim_dvfs_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out);
/** If @core accepts no new blocks, prints a newline and the reason; otherwise prints nothing. */
void tim_dvfs_why(const struct tim_grid *g, unsigned core, uint64_t now, struct lw_sink *out);

/* ---- dynamic thread block launch (tim_dtbl.c) ---------------------------------------------------- */

/** Returns true if the launch of @grid, as a block group of mechanism dtbl, must search for a kernel to join. */
bool tim_dtbl_takes(const struct tim_config *config, const struct emu_grid *grid);
/** Makes launches that have arrived search for a kernel to join. Returns true if there were such launches. */
bool tim_dtbl_tick(struct tim_grid *g, uint64_t now);
/** Returns the first cycle in which tim_dtbl_tick() has work, or UINT64_MAX if there is none. */
uint64_t tim_dtbl_next(const struct tim_grid *g);
/** Called when the last block of @launch has been placed. If the launch is a block group, removes it from its kernel's list of
 *  block groups with blocks to place. */
void tim_dtbl_placed(struct tim_grid *g, struct tim_launch *launch);
/** Handles the end of the last block of block group @launch. */
void tim_dtbl_over(struct tim_grid *g, struct tim_launch *launch);
/** Sets *registers and *table to the numbers of bytes that dynamic thread block launch needs in hardware. */
void tim_dtbl_bytes(const struct tim_config *config, uint64_t *registers, uint64_t *table);
void tim_dtbl_show(const struct tim_grid *g, struct lw_sink *out);

#endif
