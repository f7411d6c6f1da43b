/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management. Launches of the host and the device wait here; a serial dispatcher brings one after the
 * other to the distributor, whose entries send their blocks to cores.
 */
#ifndef TIM_GRID_PRIV_H
#define TIM_GRID_PRIV_H

#include "timing/core/tim_core_priv.h"
#include "timing/tables/tim_reach_priv.h"

/** A launch, from its arrival to the end of its last block. */
struct tim_launch {
    struct emu_grid *grid; /* NULL: the launch's blocks have ended, and groups keep its entry */
    uint32_t sequence;  /* number of the grid */
    const struct tim_code *code;
    uint64_t arrived;   /* cycle from which it may be dispatched */
    bool distributed;   /* the launch has an entry in the distributor */
    uint64_t entered;   /* order in the distributor */
    unsigned entry;     /* number of the launch's entry in the distributor: the lowest that was free */
    uint64_t out;       /* number of blocks on cores */
    uint64_t suspended; /* number of blocks suspended outside the cores, waiting for launches */
    size_t stats;       /* index of the launch's tim_kernel_stats */
    struct tim_launch *next_alike; /* next launch in the same list of launches by grid */
    /* Of a launch by the device: */
    uint64_t launched;  /* cycle in which the device made the launch */
    uint64_t command;   /* number of the launching instruction: equal for all launches of one warp instruction */
    unsigned from_core; /* core of its launcher; UINT_MAX: unknown, or the host */
    unsigned from_thread; /* the launching thread's number on that core */
    unsigned bytes;     /* bytes that memory keeps of the launch until its first block */
    /* Dynamic thread block launch: */
    bool asks;          /* the launch still has to search for a kernel with the same shape to join */
    bool missed;        /* the launch searched, and found no kernel with the same shape to join */
    struct tim_launch *kernel; /* group that joined: the kernel whose entry it shares */
    struct tim_launch *next_group; /* kernel: its first group with blocks to place; group: the kernel's next such group */
    struct tim_launch *last_group; /* kernel: the group that joined last, while it has blocks to place */
    uint64_t groups;    /* kernel: groups that are not over */
    uint64_t executes;  /* kernel: blocks on cores, its own and those of its groups */
    struct emu_launch shape; /* what groups compare: program, kernel, size of a block and of dynamic shared memory */
    bool spilled;       /* group: its entry of the group table was not free when it joined */
    uint64_t record_at; /* spilled group: cycle from which its record has been read; 0: the record is not being read */
    /* The block scheduler's: */
    struct {
        bool queued, on_chip; /* the launch has blocks in a queue; its entry of the queue is on chip */
        unsigned priority, core;
        uint64_t order;   /* order of the launch in its queue */
        uint64_t read_at; /* cycle from which a queue entry is known that was not on chip; 0: the entry is not being read */
    } mark;
};
/** Place of a launching instruction. */
struct tim_launcher {
    unsigned core, thread; /* thread: of lane 0, on its core */
};
/** Origin of a launch that waits in its stream. */
struct tim_origin {
    uint32_t sequence;
    struct tim_launcher at;
    uint64_t launched;
};
/** A suspended block that can continue: it is dispatched like a kernel. */
struct tim_resume {
    struct emu_grid *grid;
    unsigned core, slot; /* core that the block was on before; slot of the block in emu */
    uint64_t arrived;
    bool distributed;    /* the block waits for capacity on its core */
};
struct tim_blocks; /* the block scheduler: timing/grid/tim_blocks_priv.h */

enum { TIM_LAUNCH_LISTS = 256, TIM_ENTRIES_MOST = 1024 };
struct tim_grid {
    const struct tim_config *config;
    struct tim_launch **launch; /* launches in the order in which they were added */
    size_t count, room;
    struct tim_launch *list[TIM_LAUNCH_LISTS]; /* lists of `launch` by grid, linked by next_alike */
    struct tim_resume *resume;  /* suspended blocks that can continue, in the order in which they were added */
    size_t resume_count, resume_capacity;
    struct tim_origin *origin;  /* origins of launches that wait in their streams, in the order of the launches */
    size_t origin_count, origin_capacity;
    uint32_t newest;            /* number of the last launch by the device that was seen */
    uint64_t commands;          /* instructions that launched */
    struct tim_launch **table;  /* dtbl: groups of the group table by its index, config->dtbl_entries; NULL: free */
    size_t asking;              /* launches that look for a kernel */
    uint64_t *gpu;              /* counters, by TIM_GPU_... */
    struct tim_reach *reach;    /* what blocks of launches will access; NULL: no mechanism or policy needs that */
    struct tim_core *const *cores;
    struct tim_blocks *blocks;
    /** May be set. Called when the launch with these statistics, or a block of it, enters the distributor. */
    void (*distributed)(void *context, size_t stats, uint64_t now);
    /** May be set. Called when the first block of the launch reaches a core. */
    void (*starts)(void *context, size_t stats);
    void *context;
    uint64_t entries, entered;  /* number of launches in the distributor; number that ever entered it */
    uint64_t entry_used[TIM_ENTRIES_MOST / 64];
    bool busy;                  /* the dispatcher is busy with an item: a launch, or a block that resumes */
    bool resumes;               /* the dispatcher's item is a block that resumes, else a launch */
    size_t dispatching;         /* index of the dispatcher's item in `resume` or `launch` */
    uint64_t ready_at;          /* cycle in which the dispatcher's item enters the distributor */
    bool rescan;                  /* there may be launches that were not added, or that may start now */
    uint64_t idle;              /* number of cycles in which blocks waited and fitted nowhere */
    uint64_t changes;           /* number of changes after which the block scheduler may select something else */
    bool skips;                 /* a search that found nothing to do is not repeated */
    uint64_t still_until;       /* before that cycle, unless something arrives or ends */
    bool waited;                /* blocks wait meanwhile */
};
/** Initialises the kernel management; the cores are set later. Returns false without memory; tim_grid_fini() is to be
 *  called then, too. */
bool tim_grid_init(struct tim_grid *g, const struct tim_config *config);
void tim_grid_fini(struct tim_grid *g);
/** Adds a launch that may start, seen in cycle @now; it arrives @delay cycles later. @from: place of the current
 *  instruction, after whose last launch tim_grid_launched() is called; NULL: the launch has waited. Returns false
 *  without memory. */
bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code, uint64_t now, uint64_t delay,
                  const struct tim_launcher *from, size_t stats);
/** Notes the origin of a device launch of the current instruction that waits in its stream. Returns false without
 *  memory. */
bool tim_grid_note(struct tim_grid *g, const struct emu_grid *grid, uint64_t now, const struct tim_launcher *from);
/** Ends the launches of an instruction: all have been added or noted. */
static inline void tim_grid_launched(struct tim_grid *g)
{
    g->commands++;
}
bool tim_grid_knows(const struct tim_grid *g, const struct emu_grid *grid);
/** Runs the phase of block dispatch: at most config->kernels_blocks_a_cycle blocks reach cores. */
enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err) LW_MUST_CHECK;
/** Handles the end of block @linear of @grid on @core. *over is set if it was the launch's last; the launch is then
 *  removed. */
size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear,
                            bool *over);
/** Handles that a block of @grid has left its core and waits for launches. */
void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid);
/** Queues a block that left @core, is in emu's @slot, and can continue. Returns false without memory. */
bool tim_grid_resume(struct tim_grid *g, struct emu_grid *grid, unsigned core, unsigned slot,
                     uint64_t arrived);
/** Returns true if there are no launches. */
static inline bool tim_grid_empty(const struct tim_grid *g)
{
    return g->count == 0;
}
/** Returns the first cycle, @now or later, in which the dispatcher or the block scheduler does something by itself.
 *  Assumes that no block fits anywhere while the cores are idle. */
uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now);
/** Returns true if there are blocks that have not been on a core. */
bool tim_grid_has_more(const struct tim_grid *g);
/** Returns true if blocks of the distributor wait for capacity. */
bool tim_grid_waits(const struct tim_grid *g);
/** Prints the state of kernel management in lines. */
void tim_grid_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out);
/** Prints where block @linear of @grid, which is on @core, came from, if the device launched it, and why it is on this core,
 *  each after a newline. */
void tim_grid_why(const struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear, uint64_t now,
                  struct lw_sink *out);
/** Returns true if something continues by itself: a dispatch, a future arrival, a placement. */
bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now);

#endif
