/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block schedulers: which core gets which block next. A block scheduler is a row of tim_blocks_policies[] in a file of
 * its own: its state and the hooks that it wants. The kernel management (tim_grid.c) calls a hook at its event; nothing
 * of a block scheduler is in it, in the engine or in a core.
 *
 *   launches --> dispatcher --> distributor --> picks --> core
 *      `priority` orders          `arrives`      `begins`, `ends`
 *
 * The event-driven model does not call `picks` in cycles in which nothing has happened, before `next`. Both models must
 * get the same answers in the same cycles.
 */
#ifndef TIM_BLOCKS_PRIV_H
#define TIM_BLOCKS_PRIV_H

#include "timing/grid/tim_grid_priv.h"

/** What goes to a core: the next block of a launch, or a suspended block that comes back. */
struct tim_block_choice {
    struct tim_launch *launch;
    unsigned core;
    size_t resume; /* of grid->resume[]; SIZE_MAX: the next block */
};
/** A block scheduler of a GPU. What it keeps is after it. */
struct tim_blocks {
    const struct tim_blocks_policy *row;
    struct tim_grid *grid;
};
struct tim_blocks_policy {
    const char *name, *summary; /* of kernels.policy; a line for lists */
    bool own_queues; /* it finds groups in queues of its own: the group table of dtbl is not used */
    /** Its state. NULL: no memory. The caller fills in `row` and `grid`. */
    struct tim_blocks *(*create)(const struct tim_config *config);
    void (*destroy)(struct tim_blocks *blocks);
    /** What reaches a core in this cycle, or the next thing that does: there is room for it. False: nothing does. */
    bool (*picks)(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out);
    /** Does a block wait to be placed? */
    bool (*waits)(const struct tim_blocks *blocks);
    /** Would `picks` give something some time, if nothing happened any more? */
    bool (*can)(const struct tim_blocks *blocks);
    /* Hooks; NULL: not wanted. */
    /** The first cycle, @now or later, in which `picks` may answer differently though nothing happens. NULL: none. A
     *  cycle too early is allowed. */
    uint64_t (*next)(const struct tim_blocks *blocks, uint64_t now);
    /** May a block of @launch ever be placed on @core? NULL: on any. */
    bool (*allows)(const struct tim_blocks *blocks, const struct tim_launch *launch, unsigned core);
    /** A launch is known from now on. */
    void (*arrives)(struct tim_blocks *blocks, struct tim_launch *launch);
    /** It has come to the distributor, or as a group joined a kernel there: it may give blocks. Perhaps it had left it, and
     *  is back. */
    void (*enters)(struct tim_blocks *blocks, struct tim_launch *launch, uint64_t now);
    /** Block @linear of @launch has been placed on @core, or has ended there. */
    void (*begins)(struct tim_blocks *blocks, struct tim_launch *launch, unsigned core, uint64_t linear, uint64_t now);
    void (*ends)(struct tim_blocks *blocks, struct tim_launch *launch, unsigned core, uint64_t linear);
    /** Of a launch that waits: the more, the earlier the dispatcher takes it; of equal ones as without the hook. */
    unsigned (*priority)(const struct tim_blocks *blocks, const struct tim_launch *launch);
    /** Cycles more that the dispatcher takes for it. */
    unsigned (*costs)(const struct tim_blocks *blocks, const struct tim_launch *launch);
    /** Where a launch is for it: "priority 2, bound to core 3". Without a line end. */
    void (*why)(const struct tim_blocks *blocks, const struct tim_launch *launch, struct lw_sink *out);
    /** Its tables, by line. */
    void (*show)(const struct tim_blocks *blocks, struct lw_sink *out);
};
/** By config->kernels_policy; in the order of keys.def. */
extern const struct tim_blocks_policy *const tim_blocks_policies[];
extern const size_t tim_blocks_policy_count;
extern const struct tim_blocks_policy tim_blocks_rr, tim_blocks_tb_pri, tim_blocks_smx_bind, tim_blocks_adaptive;

/* ---- what a block scheduler may ask of the kernel management ------------------------------------ */

/** Some core may take a block of its level of nesting, and the block scheduler allows it. */
bool tim_grid_has_level(const struct tim_grid *g, const struct tim_launch *launch);
/** Has the launch, which is in the distributor, blocks that have never been on a core, and may be? */
bool tim_grid_gives(const struct tim_grid *g, const struct tim_launch *launch);
/** The suspended block of @launch that comes back first of those dispatched; @fits: and has room. SIZE_MAX: none. */
size_t tim_grid_resume_of(const struct tim_grid *g, const struct tim_launch *launch, bool fits);

/** Whose entry in the distributor the launch uses: its kernel's, or its own. */
static inline struct tim_launch *tim_grid_owner(const struct tim_launch *launch)
{
    return launch->kernel != NULL ? launch->kernel : (struct tim_launch *)launch;
}
/** Whose block comes next of kernel @entry: its own, then those of its groups, where its level of nesting has room.
 *  NULL: nobody's. */
struct tim_launch *tim_grid_unit(const struct tim_grid *g, const struct tim_launch *entry);

/* ---- dynamic thread block launch (tim_dtbl.c) ---------------------------------------------------- */

/** Does the launch look for a kernel? */
bool tim_dtbl_takes(const struct tim_config *config, const struct emu_grid *grid);
/** Launches that have arrived look for a kernel. True: some did. */
bool tim_dtbl_tick(struct tim_grid *g, uint64_t now);
/** The first cycle in which that does something. */
uint64_t tim_dtbl_next(const struct tim_grid *g);
/** The last block of @launch has been placed: the next group of its kernel follows. */
void tim_dtbl_placed(struct tim_grid *g, struct tim_launch *launch);
/** Group @launch is over. */
void tim_dtbl_over(struct tim_grid *g, struct tim_launch *launch);
/** What it costs in hardware, in bytes. */
void tim_dtbl_bytes(const struct tim_config *config, uint64_t *registers, uint64_t *table);
void tim_dtbl_show(const struct tim_grid *g, struct lw_sink *out);

#endif
