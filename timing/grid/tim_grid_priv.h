/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management: launches of the host and the device wait here; a serial dispatcher brings one
 * after the other to the distributor, whose entries give their blocks to cores.
 */
#ifndef TIM_GRID_PRIV_H
#define TIM_GRID_PRIV_H

#include "timing/core/tim_core_priv.h"

/** A launch, from its arrival to the end of its last block. */
struct tim_launch {
    struct emu_grid *grid; /* NULL: it is over, and groups keep its entry */
    uint32_t sequence;  /* its number */
    const struct tim_code *code;
    uint64_t arrived;   /* cycle from which it may be dispatched */
    bool distributed;   /* it has an entry */
    uint64_t entered;   /* order in the distributor */
    unsigned entry;     /* its number there: the lowest free one as it was dispatched */
    uint64_t out;       /* blocks on cores */
    uint64_t suspended; /* blocks that wait for launches, elsewhere */
    size_t stats;       /* index of its tim_kernel_stats */
    struct tim_launch *next_alike; /* in the same list of launches by grid */
    /* Of a launch by the device: */
    uint64_t launched;  /* cycle of its launch, */
    uint64_t command;   /* the same for all of one warp instruction, */
    unsigned from_core; /* where its launcher was; UINT_MAX: that is not known, or the host */
    unsigned from_thread; /* the launching thread's number on that core */
    unsigned bytes;     /* that memory keeps of it until its first block */
    /* Dynamic thread block launch: */
    bool asks;          /* no kernel has been looked for yet */
    bool missed;        /* none was found */
    struct tim_launch *kernel; /* a group that joined: whose entry it shares */
    struct tim_launch *next_group; /* kernel: of its groups with blocks to place the first; group: the next one */
    struct tim_launch *last_group; /* kernel: the one that joined last, while it has blocks to place */
    uint64_t groups;    /* kernel: groups that are not over */
    uint64_t executes;  /* kernel: blocks on cores, its own and those of its groups */
    struct emu_launch shape; /* what groups compare */
    bool spilled;       /* group: its entry of the table was not free, */
    uint64_t record_at; /* and its record has been read from this cycle on; 0: it is not being read */
    /* The block scheduler's: */
    struct {
        bool queued, on_chip; /* it has blocks in a queue; which is on chip */
        unsigned priority, core;
        uint64_t order;   /* in its queue */
        uint64_t read_at; /* cycle from which an entry is known that was not on chip; 0: it is not being read */
    } mark;
};
/** Where the lanes of an instruction launch. */
struct tim_launcher {
    unsigned core, thread; /* thread: of lane 0, on its core */
};
/** A launch that waits in its stream, and where it came from. */
struct tim_origin {
    uint32_t sequence;
    struct tim_launcher at;
    uint64_t launched;
};
/** A suspended block that can continue: it is dispatched as a kernel is. */
struct tim_resume {
    struct emu_grid *grid;
    unsigned core, slot; /* where it was; emu's */
    uint64_t arrived;
    bool distributed;    /* it waits for room on its core */
};
struct tim_blocks; /* the block scheduler: timing/grid/tim_blocks_priv.h */

enum { TIM_LAUNCH_LISTS = 256, TIM_ENTRIES_MOST = 1024 };
struct tim_grid {
    const struct tim_config *config;
    struct tim_launch **launch; /* in the order in which they were seen */
    size_t count, room;
    struct tim_launch *list[TIM_LAUNCH_LISTS]; /* the same, by grid */
    struct tim_resume *resume;  /* in the order in which they came */
    size_t resume_count, resume_capacity;
    struct tim_origin *origin;  /* in the order of their launch */
    size_t origin_count, origin_capacity;
    uint32_t newest;            /* number of the last launch by the device that was seen */
    uint64_t commands;          /* instructions that launched */
    struct tim_launch **table;  /* dtbl: groups of the group table by its index, config->dtbl_entries; NULL: free */
    size_t asking;              /* launches that look for a kernel */
    uint64_t *gpu;              /* counters, by TIM_GPU_... */
    struct tim_core *const *cores;
    struct tim_blocks *blocks;
    /** May be set: the launch of these statistics, or a block of it, is in the distributor. */
    void (*distributed)(void *context, size_t stats, uint64_t now);
    /** The same: the first block of the launch reaches a core. */
    void (*starts)(void *context, size_t stats);
    void *context;
    uint64_t entries, entered;  /* in the distributor; ever */
    uint64_t entry_used[TIM_ENTRIES_MOST / 64];
    bool busy;                  /* the dispatcher has one: */
    bool resumes;               /* a block that comes back, else a launch; */
    size_t dispatching;         /* its index */
    uint64_t ready_at;          /* cycle in which it is in the distributor */
    bool rescan;                  /* there may be launches that are not known, or may start now */
    uint64_t idle;              /* cycles in which blocks waited and fitted nowhere */
    uint64_t changes;           /* what has happened, counted: an answer of the block scheduler may be another */
    bool skips;                 /* a look that found nothing to do is not made again */
    uint64_t still_until;       /* before that cycle, unless something comes or ends */
    bool waited;                /* blocks wait meanwhile */
};
/** The cores are set later. False: no memory; tim_grid_fini() then, too. */
bool tim_grid_init(struct tim_grid *g, const struct tim_config *config);
void tim_grid_fini(struct tim_grid *g);
/** A launch that may start, seen in cycle @now; it arrives @delay cycles later. @from: of an instruction that runs
 *  now, whose launches all come before tim_grid_launched(); NULL: it has waited. False: no memory. */
bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code, uint64_t now, uint64_t delay,
                  const struct tim_launcher *from, size_t stats);
/** A launch by the device that waits in its stream has been made by the instruction that runs. False: no memory. */
bool tim_grid_note(struct tim_grid *g, const struct emu_grid *grid, uint64_t now, const struct tim_launcher *from);
/** All launches of an instruction have been added or noted. */
static inline void tim_grid_launched(struct tim_grid *g)
{
    g->commands++;
}
bool tim_grid_knows(const struct tim_grid *g, const struct emu_grid *grid);
/** The phase of block dispatch: at most config->kernels_blocks_a_cycle blocks reach cores. */
enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err) LW_MUST_CHECK;
/** Block @linear of @grid has ended on @core. *over: it was the launch's last; it is gone then. */
size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear,
                            bool *over);
/** A block of @grid has left its core and waits for launches. */
void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid);
/** It, in emu's @slot of @core, can continue. False: no memory. */
bool tim_grid_resume(struct tim_grid *g, struct emu_grid *grid, unsigned core, unsigned slot,
                     uint64_t arrived);
/** Nothing is here. */
static inline bool tim_grid_empty(const struct tim_grid *g)
{
    return g->count == 0;
}
/** The first cycle, @now or later, in which the dispatcher does something by itself; while cores
 *  rest, no block finds room. */
uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now);
/** It has blocks that have not been on a core. */
bool tim_grid_has_more(const struct tim_grid *g);
/** Blocks of the distributor wait for room. */
bool tim_grid_waits(const struct tim_grid *g);
/** All of it in words, by line; where the blocks of @grid came from, if the device launched it: a line, the end before it. */
void tim_grid_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out);
void tim_grid_why(const struct tim_grid *g, const struct emu_grid *grid, uint64_t now, struct lw_sink *out);
/** Something continues by itself: a dispatch, an arrival to come. */
bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now);

#endif
