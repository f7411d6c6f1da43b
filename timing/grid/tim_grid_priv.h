/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management. Launches of the host and the device wait here. A serial dispatcher moves one launch after the
 * other to the distributor. Blocks go from the entries of the distributor to the cores.
 */
#ifndef TIM_GRID_PRIV_H
#define TIM_GRID_PRIV_H

#include "timing/clocks/tim_domain_priv.h"
#include "timing/tables/tim_reach_priv.h"

/** A launch, from its arrival to the end of its last block. */
struct tim_launch {
    struct emu_grid *grid; /* NULL: the blocks of the launch have ended, and its groups still use its entry */
    uint32_t sequence;  /* number of the grid */
    const struct tim_code *code;
    uint64_t arrived;   /* cycle from which it may be dispatched */
    bool distributed;   /* the launch has an entry in the distributor */
    uint64_t entered;   /* order in the distributor */
    unsigned entry;     /* number of the launch's entry in the distributor: the lowest number that was free */
    uint64_t out;       /* number of blocks on cores */
    uint64_t suspended; /* number of blocks suspended outside the cores, waiting for launches */
    size_t stats;       /* index of the launch's tim_kernel_stats */
    struct tim_launch *next, *previous; /* neighbours in the list of launches that were added, or that were noted */
    bool waits;         /* the launch is in the list of launches that wait for the dispatcher */
    struct tim_launch *later, *earlier; /* neighbours in that list */
    bool of_device;     /* the device made the launch, not the host */
    /* Members for launches by the device: */
    uint64_t launched;  /* cycle in which the device made the launch */
    uint64_t command;   /* number of the launching instruction: equal for all launches of one warp instruction */
    unsigned from_core; /* core of its launcher; UINT_MAX: unknown, or the host */
    unsigned from_thread; /* the launching thread's number on that core */
    unsigned bytes;     /* bytes of memory that the launch occupies until its first block */
    /* Dynamic thread block launch: */
    bool asks;          /* the launch still has to search for a kernel with the same shape to join */
    bool missed;        /* the launch searched, and found no kernel with the same shape to join */
    struct tim_launch *kernel; /* group that joined: the kernel whose entry the group shares */
    struct tim_launch *next_group; /* kernel: its first group with blocks to place; group: the kernel's next such group */
    struct tim_launch *last_group; /* kernel: the group that joined last, while it has blocks to place */
    uint64_t groups;    /* kernel: number of groups that have not ended */
    uint64_t executes;  /* kernel: number of blocks on cores, of the kernel itself and of its groups */
    struct emu_launch shape; /* key that groups compare: program, kernel, block size and dynamic shared memory */
    bool spilled;       /* group: its entry of the group table was not free when it joined */
    uint64_t record_at; /* spilled group: cycle from which on its record has been read; 0: the record is not being read */
    /* Members of the block scheduler: */
    struct {
        bool queued, on_chip; /* the launch has blocks in a queue; its entry of the queue is on chip */
        unsigned priority, core;
        uint64_t order;   /* order of the launch in its queue */
        /* queue entry that was not on chip: cycle from which on it has been read; 0: the entry is not being read */
        uint64_t read_at;
    } mark;
};
/** Position of a launching instruction. */
struct tim_launcher {
    unsigned core, thread; /* thread: number of lane 0 on its core */
};
struct tim_launches {
    struct tim_launch *first, *last;
};
/** A suspended block that can continue: it is dispatched like a kernel. */
struct tim_resume {
    struct emu_grid *grid;
    unsigned core, slot; /* core on which the block was before; slot of the block in emu */
    uint64_t arrived;
    bool distributed;    /* the block waits for capacity on its core */
};
struct tim_blocks; /* the block scheduler: timing/grid/tim_blocks_priv.h */

/** Diversion and scaling of one core: the bits of the registers, and the state of the regulator. */
struct tim_dvfs_core {
    bool dvr, drn, dvfs;  /* diverted; draining; clock low, or changing */
    bool armed;           /* the core may be diverted; false from an aborted drain until a sample finds enough warps */
    bool rising;          /* the current change is to the high clock */
    uint64_t done;        /* cycle in which the current change is complete; 0: there is none */
    uint64_t drains_from; /* drn: number of the sample at which the core was diverted */
};
/** Mechanism dvfs: diversion and voltage scaling. */
struct tim_dvfs {
    uint64_t samples, next; /* number of samples; cycle of the next one */
    bool dvfs, rising;      /* `dvfs` and `rising` for the whole GPU: bit 0 of register DVFS */
    uint64_t done;
    struct tim_dvfs_core core[];
};

enum { TIM_ENTRIES_MOST = 1024, TIM_QUEUES_MOST = 1024 };
struct tim_grid {
    const struct tim_config *config;
    struct tim_launches launches; /* launches in the order in which they were added */
    size_t count;               /* number of `launches` */
    /* launches without an entry in the distributor, in the order in which the dispatcher processes launches of equal
     * priority; linked by `later` */
    struct tim_launches waiting;
    struct tim_launches noted;  /* device launches that were seen and have not been added, because they may not start yet */
    struct tim_resume *resume;  /* suspended blocks that can continue, in the order in which they were added */
    size_t resume_count, resume_capacity;
    uint64_t commands;          /* number of instructions that launched */
    struct tim_launch **table;  /* dtbl: groups of the group table by its index, config->dtbl_entries; NULL: free */
    size_t asking;              /* number of launches that still search for a kernel */
    uint64_t *gpu;              /* counters, by TIM_GPU_... */
    struct tim_reach *reach;    /* predicted accesses of blocks; NULL: no mechanism or block scheduler needs them */
    struct tim_core *const *cores;
    struct tim_blocks *blocks;
    struct tim_dvfs *dvfs;      /* NULL: the mechanism is off */
    /** Optional. Called when the launch with these statistics, or a block of it, enters the distributor. */
    void (*distributed)(void *context, size_t stats, uint64_t now);
    /** Optional. Called when the first block of the launch reaches a core. */
    void (*starts)(void *context, size_t stats);
    void *context;
    uint64_t entries, entered;  /* number of launches in the distributor; number that ever entered it */
    uint64_t entry_used[TIM_ENTRIES_MOST / 64];
    struct tim_launch *entry[TIM_ENTRIES_MOST]; /* launch of each entry in use */
    bool busy;                  /* the dispatcher processes an item: a launch, or a block that resumes */
    bool resumes;               /* the dispatcher's item is a block that resumes, else a launch */
    struct tim_launch *dispatching; /* the launch that the dispatcher processes */
    size_t resuming;            /* index in `resume` of the block that the dispatcher processes */
    uint64_t ready_at;          /* cycle in which the dispatcher's item enters the distributor */
    bool rescan;                  /* some launches may not have been added yet, or may be ready to start */
    uint64_t idle;              /* number of cycles in which blocks waited and fitted nowhere */
    uint64_t changes;           /* number of changes after which the block scheduler may select something else */
    bool skips;                 /* flag that prevents the repetition of a search that found nothing */
    /* the search is not repeated before this cycle, unless a launch arrives or a block ends */
    uint64_t still_until;
    bool waited;                /* blocks wait during this time */
};
/** Initialises the kernel management. The caller sets the cores later. Returns false without memory; the caller must
 *  call tim_grid_fini() in this case, too. */
bool tim_grid_init(struct tim_grid *g, const struct tim_config *config);
void tim_grid_fini(struct tim_grid *g);
/** Adds a launch that may start and that was seen in cycle @now. It arrives @delay cycles later. @launches: the current
 *  instruction launches; the caller calls tim_grid_launched() after the last launch of this instruction. Returns false
 *  without memory. */
bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code, uint64_t now, uint64_t delay,
                  bool launches, size_t stats);
/** Records the origin of a device launch of the current instruction, whose position is @from. The launch is added
 *  later, when it may start. Returns false without memory. */
bool tim_grid_note(struct tim_grid *g, struct emu_grid *grid, uint64_t now, const struct tim_launcher *from);
/** Ends the launches of an instruction. All of them have been added or recorded. */
static inline void tim_grid_launched(struct tim_grid *g)
{
    g->commands++;
}
/** Returns true if the launch was added and its blocks have not all ended. */
bool tim_grid_knows(const struct emu_grid *grid);
/** Returns the index of the tim_kernel_stats of a launch that was added. */
size_t tim_grid_stats(const struct emu_grid *grid);
/** Executes block dispatch in a cycle: at most config->kernels_blocks_a_cycle blocks reach cores. */
enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err) LW_MUST_CHECK;
/** Handles the end of block @linear of @grid, which ran on @core. If it was the last block of the launch, *over is set
 *  and the launch is removed. */
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
/** Returns the first cycle, @now or later, in which the dispatcher or the block scheduler has work without another
 *  event. Assumes that no block fits on any core while the cores are idle. */
uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now);
/** Returns true if there are blocks that have not been on a core. */
bool tim_grid_has_more(const struct tim_grid *g);
/** Returns true if blocks of the distributor wait for capacity. */
bool tim_grid_waits(const struct tim_grid *g);
/** Returns the device memory, in bytes, that is reserved for @pending launches by the device (`launches`), and for
 *  blocks that wait for launches at @depth levels of nesting (`levels`). Source: specs of the dynamic parallelism
 *  thesis 5.4. */
struct tim_launch_memory {
    uint64_t launches, levels;
};
struct tim_launch_memory tim_grid_memory(const struct tim_config *config, unsigned pending, unsigned depth);
/** Prints the state of kernel management in lines. */
void tim_grid_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out);
/** Prints why block @linear of @grid is on @core, and the launcher of a device launch. A newline precedes each line. */
void tim_grid_why(const struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear, uint64_t now,
                  struct lw_sink *out);
/** Returns true if kernel management will continue without another event, because of a dispatch, a future arrival or a
 *  placement. */
bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now);

#endif
