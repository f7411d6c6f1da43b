/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management. Launches of the host and the device wait here; a serial dispatcher brings one after the
 * other to the distributor, whose entries send their blocks to cores.
 */
#ifndef TIM_GRID_PRIV_H
#define TIM_GRID_PRIV_H

#include "timing/core/tim_core_priv.h"

/** A launch, from its arrival to the end of its last block. */
struct tim_launch {
    struct emu_grid *grid;
    const struct tim_code *code;
    uint64_t arrived;   /* cycle from which it may be dispatched */
    bool distributed;   /* it has an entry in the distributor */
    uint64_t entered;   /* order in the distributor */
    uint64_t out;       /* number of blocks on cores */
    uint64_t suspended; /* number of blocks suspended outside the cores, waiting for launches */
    size_t stats;       /* index of its tim_kernel_stats */
};
/** A suspended block that can continue: it is dispatched like a kernel. */
struct tim_resume {
    struct emu_grid *grid;
    unsigned core, slot; /* its core before; slot: emu's */
    uint64_t arrived;
    bool distributed;    /* it waits for capacity on its core */
};
struct tim_blocks_view {
    const struct tim_config *config;
    struct tim_core *const *core;
};
/** A block scheduler: selects the core for the next block of @grid. */
struct tim_blocks_policy {
    const char *name, *summary;
    /** Returns a core on which the block fits, or -1. @next: state of the policy, 0 at first. */
    int (*pick)(const struct tim_blocks_view *view, const struct emu_grid *grid, unsigned *next);
};
/** Block schedulers by config->kernels_policy; in the order of keys.def. */
extern const struct tim_blocks_policy tim_blocks_policies[];

struct tim_grid {
    const struct tim_config *config;
    struct tim_launch *launch;  /* in the order in which they were added */
    size_t count, room;
    struct tim_resume *resume;  /* in the order in which they were added */
    size_t resume_count, resume_capacity;
    struct tim_core *const *cores;
    /** May be set. Called when the launch with these statistics, or a block of it, enters the distributor. */
    void (*distributed)(void *context, size_t stats, uint64_t now);
    /** May be set. Called when the first block of the launch reaches a core. */
    void (*starts)(void *context, size_t stats);
    void *context;
    uint64_t entries, entered;  /* number of launches in the distributor; number that ever entered it */
    bool busy;                  /* the dispatcher is busy with: */
    bool resumes;               /* a block that resumes, else a launch */
    size_t dispatching;         /* its index */
    uint64_t ready_at;          /* cycle in which it enters the distributor */
    unsigned next;              /* state of the block policy */
    bool rescan;                  /* there may be launches that were not added, or that may start now */
    uint64_t idle;              /* number of cycles in which blocks waited and fitted nowhere */
    bool skips;                 /* a search that found nothing to do is not repeated */
    uint64_t still_until;       /* before that cycle, unless something arrives or ends */
    bool waited;                /* blocks wait meanwhile */
};
void tim_grid_init(struct tim_grid *g, const struct tim_config *config);
void tim_grid_fini(struct tim_grid *g);
/** Adds a launch that may start, seen in cycle @arrived. Returns false without memory. */
bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code,
                  uint64_t arrived, size_t stats);
bool tim_grid_knows(const struct tim_grid *g, const struct emu_grid *grid);
/** Runs the phase of block dispatch: at most config->kernels_blocks_a_cycle blocks reach cores. */
enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err) LW_MUST_CHECK;
/** Handles the end of a block of @grid. *over is set if it was the launch's last; the launch is then removed. */
size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, bool *over);
/** Handles that a block of @grid has left its core and waits for launches. */
void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid);
/** Queues such a block, in emu's @slot of @core, which can continue. Returns false without memory. */
bool tim_grid_resume(struct tim_grid *g, struct emu_grid *grid, unsigned core, unsigned slot,
                     uint64_t arrived);
/** Returns true if there are no launches. */
static inline bool tim_grid_empty(const struct tim_grid *g)
{
    return g->count == 0;
}
/** Returns the first cycle, @now or later, in which the dispatcher does something by itself. Assumes that no
 *  block fits anywhere while the cores are idle. */
uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now);
/** Returns true if there are blocks that have never been on a core. */
bool tim_grid_has_more(const struct tim_grid *g);
/** Returns true if blocks of the distributor wait for capacity. */
bool tim_grid_waits(const struct tim_grid *g);
/** Returns true if something continues by itself: a dispatch, a future arrival. */
bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now);

#endif
