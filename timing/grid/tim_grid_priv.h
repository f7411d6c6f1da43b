/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel management. Launches by the host and by the device wait for the dispatcher, which moves one launch after the
 * other to the distributor. A block scheduler places the blocks of the launches in the distributor on cores.
 */
#ifndef TIM_GRID_PRIV_H
#define TIM_GRID_PRIV_H

#include "timing/clocks/tim_domain_priv.h"
#include "timing/tables/tim_reach_priv.h"

/** A launch, from its arrival to the end of its last block. */
struct tim_launch {
    struct emu_grid *grid; /* NULL: all blocks of the launch have ended, but block groups that joined it use its entry in the
                            * distributor */
    uint32_t sequence;  /* sequence number of the grid */
    const struct tim_code *code; /* NULL: the launch was recorded by tim_grid_note(), and has not been added */
    uint64_t arrived;   /* cycle from which on the launch may be dispatched */
    bool distributed;   /* the launch has an entry in the distributor */
    uint64_t entered;   /* position in the order of the distributor's entries: lower values come first */
    unsigned entry;     /* number of the launch's entry in the distributor: the lowest number that was free */
    uint64_t out;       /* number of blocks on cores */
    uint64_t suspended; /* number of blocks suspended outside the cores, waiting for launches */
    size_t stats;       /* index of the launch's counters in tim_engine.kernel */
    struct tim_launch *next, *previous; /* neighbours in tim_grid.launches or, for a launch that may not start yet, in
                                         * tim_grid.noted */
    bool waits;         /* the launch is in the list of launches that wait for the dispatcher */
    struct tim_launch *later, *earlier; /* neighbours in the list of launches that wait for the dispatcher */
    bool of_device;     /* the device made the launch, not the host */
    /* Members for launches by the device: */
    uint64_t launched;  /* cycle in which the device made the launch */
    uint64_t command;   /* number of the launching warp instruction, which is equal for all launches of that instruction */
    unsigned from_core; /* core of the launching thread; UINT_MAX: unknown, or the host */
    unsigned from_thread; /* number of the launching thread on that core */
    unsigned bytes;     /* bytes of memory that the launch occupies until its first block */
    /* Dynamic thread block launch: */
    bool asks;          /* the launch has not yet searched for a kernel with the same shape to join */
    bool missed;        /* the launch searched, and found no kernel with the same shape to join */
    struct tim_launch *kernel; /* block group (here: group) that joined: the kernel whose entry the group shares */
    struct tim_launch *next_group; /* kernel: its first group with blocks to place; group: the kernel's next such group */
    struct tim_launch *last_group; /* kernel: the group that joined last, while it has blocks to place */
    uint64_t groups;    /* kernel: number of groups that have not ended */
    uint64_t executes;  /* kernel: number of blocks on cores, of the kernel itself and of its groups */
    struct emu_launch shape; /* a group may join a kernel with the same program, entry, block size and dynamic shared memory */
    bool spilled;       /* group: its record is in memory, because its entry of the group table was not free when it joined */
    uint64_t record_at; /* spilled group: cycle in which the read of its record ends; 0: the read has not begun */
    /* Members of the block scheduler: */
    struct {
        bool queued, on_chip; /* the launch is in a queue; its queue entry is on chip */
        unsigned priority, core; /* priority of the launch; core to which LaPerm binds the launch or, with block scheduler bcs,
                                  * core on which the launch's last block was placed */
        uint64_t order;   /* position of the launch in its queue: lower values come first */
        /* queue entry that is not on chip: cycle in which its read ends; 0: the read has not begun */
        uint64_t read_at;
    } mark;
};
/** Core and thread that execute a launching instruction. */
struct tim_launcher {
    unsigned core, thread; /* thread: number, on its core, of the warp's lane 0 */
};
struct tim_launches {
    struct tim_launch *first, *last;
};
/** A suspended block that can continue: it is dispatched like a kernel. */
struct tim_resume {
    struct emu_grid *grid;
    unsigned core, slot; /* core that the block left, and to which it returns; slot of the block in emu */
    uint64_t arrived;    /* cycle from which on the block may be dispatched */
    bool distributed;    /* the block waits for capacity on its core */
};
struct tim_blocks; /* the block scheduler: timing/grid/tim_blocks_priv.h */

/** Mechanism dvfs: bits of one core in the mechanism's registers, and state of the core's voltage regulator. */
struct tim_dvfs_core {
    bool dvr, drn, dvfs;  /* diverted; draining; clock low, or changing */
    bool armed;           /* the core may be diverted; false after an aborted drain until a sample finds enough warps */
    bool rising;          /* the current change is to the high clock */
    uint64_t done;        /* cycle in which the current change is complete; 0: there is none */
    uint64_t drains_from; /* drn: number of the sample at which the core was diverted */
};
/** Mechanism dvfs: diversion and voltage scaling. */
struct tim_dvfs {
    uint64_t samples, next; /* number of samples so far; cycle of the next sample */
    bool dvfs, rising;      /* as the members of tim_dvfs_core, but for a clock change of all cores together; `dvfs` is bit 0
                             * of register DVFS */
    uint64_t done;          /* cycle in which the current clock change of all cores is complete; 0: there is none */
    struct {
        bool low, rising;   /* as `dvfs` and `rising`, but for the clocks of crossbar, L2 and DRAM (dvfs.memory) */
        uint64_t done;      /* cycle in which the current change of these clocks is complete; 0: there is none */
        bool slow;          /* the memory has the low clock */
        uint64_t since;     /* slow: first cycle with the low clock that is not in counter dvfs_memory_low_cycles */
    } memory;
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
    struct tim_launches noted;  /* device launches that tim_grid_note() has recorded and that may not start yet */
    struct tim_resume *resume;  /* suspended blocks that can continue, in the order in which they were added */
    size_t resume_count, resume_capacity;
    uint64_t device_from;       /* cycle from which on launches by the device may be dispatched (kernels.fixed); 0: there were none */
    uint64_t commands;          /* number of launching instructions so far */
    struct tim_launch **table;  /* dtbl: [config->dtbl_entries] the block group in each entry of the group table; NULL: free */
    size_t asking;              /* dtbl: number of launches that still have to search for a kernel */
    uint64_t *gpu;              /* counters, by TIM_GPU_... */
    struct tim_reach *reach;    /* predicted accesses of blocks, or NULL if no mechanism or block scheduler needs them */
    struct tim_core *const *cores;
    struct tim_memory *memory;  /* the memory whose clocks mechanism dvfs changes */
    struct tim_blocks *blocks;
    struct tim_dvfs *dvfs;      /* NULL: the mechanism is off */
    /** Optional. Called when the launch with index @stats, or a suspended block of it, enters the distributor. */
    void (*distributed)(void *context, size_t stats, uint64_t now);
    /** Optional. Called when the first block of the launch has been placed on a core. */
    void (*starts)(void *context, size_t stats);
    void *context;
    uint64_t entries, entered;  /* number of entries in use; number of times that a launch entered the distributor */
    uint64_t entry_used[TIM_ENTRIES_MOST / 64]; /* set of entries in use */
    struct tim_launch *entry[TIM_ENTRIES_MOST]; /* launch of each entry in use */
    bool busy;                  /* the dispatcher processes an item: a launch, or a suspended block that resumes */
    bool resumes;               /* the dispatcher's item is a suspended block, not a launch */
    struct tim_launch *dispatching; /* the launch that the dispatcher processes */
    size_t resuming;            /* index in `resume` of the block that the dispatcher processes */
    uint64_t ready_at;          /* cycle in which the dispatcher's item enters the distributor */
    bool rescan;                  /* the engine must call tim_launches_take(): there may be launches to add */
    uint64_t idle;              /* number of cycles in which blocks waited but fitted on no core */
    uint64_t changes;           /* number of changes so far that may make the block scheduler select another block */
    bool skips;                 /* true for the event-driven model, which does not repeat a search for a block in each cycle
                                 * after the search found none */
    /* `skips`: the search is not repeated before this cycle, unless a launch arrives or a block ends */
    uint64_t still_until;
    bool moved;                 /* blocks were placed when the block scheduler last ran */
    bool waited;                /* blocks wait until cycle still_until, so each cycle before it is added to `idle` */
};
/** Initialises the kernel management. The caller sets the cores later. Returns false if memory is short; the caller must
 *  call tim_grid_fini() in this case, too. */
bool tim_grid_init(struct tim_grid *g, const struct tim_config *config);
void tim_grid_fini(struct tim_grid *g);
/** Adds a launch that may start. The launch may be dispatched from cycle @now + @delay on. @launches: the call is for a
 *  launching instruction; the caller then calls tim_grid_launched() after the last launch of the instruction. Returns false
 *  if memory is short. */
bool tim_grid_add(struct tim_grid *g, struct emu_grid *grid, const struct tim_code *code, uint64_t now, uint64_t delay,
                  bool launches, size_t stats);
/** Returns the cycle in which a launch by the device arrives at the dispatcher if its launch call ends in cycle @at. */
uint64_t tim_grid_device_arrival(struct tim_grid *g, uint64_t at);
/** Records a device launch that the instruction at @from has made. tim_grid_add() adds the launch later, when it may
 *  start. Returns false if memory is short. */
bool tim_grid_note(struct tim_grid *g, struct emu_grid *grid, uint64_t now, const struct tim_launcher *from);
/** Called after all launches of a launching instruction have been added or recorded. */
static inline void tim_grid_launched(struct tim_grid *g)
{
    g->commands++;
}
/** Returns true if the launch was added and its blocks have not all ended. */
bool tim_grid_knows(const struct emu_grid *grid);
/** Returns the index of the tim_kernel_stats of a launch that was added. */
size_t tim_grid_stats(const struct emu_grid *grid);
/** Runs the phase of block dispatch in cycle @now. At most kernels.blocks_a_cycle blocks are placed on cores. */
enum lw_status tim_grid_tick(struct tim_grid *g, uint64_t now, struct lw_error *err) LW_MUST_CHECK;
/** Handles the end of block @linear of @grid, which ran on @core. If it was the last block of the launch, sets *over and
 *  removes the launch. Returns tim_grid_stats() of the launch. */
size_t tim_grid_block_ended(struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear,
                            bool *over);
/** Called when a block of @grid has left its core, because it waits for launches. */
void tim_grid_block_left(struct tim_grid *g, const struct emu_grid *grid);
/** Queues a suspended block, which left @core and can continue, for the dispatcher. @slot: slot of the block in emu.
 *  Returns false if memory is short. */
bool tim_grid_resume(struct tim_grid *g, struct emu_grid *grid, unsigned core, unsigned slot,
                     uint64_t arrived);
/** Returns true if there are no launches. */
static inline bool tim_grid_empty(const struct tim_grid *g)
{
    return g->count == 0;
}
/** Returns the first cycle, @now or later, in which the dispatcher or the block scheduler has work if no event happens.
 *  The result is valid as long as no block fits on any core. */
uint64_t tim_grid_next(const struct tim_grid *g, uint64_t now);
/** Returns true if there are blocks that have never been on a core. */
bool tim_grid_has_more(const struct tim_grid *g);
/** Returns true if blocks of the distributor wait for capacity. */
bool tim_grid_waits(const struct tim_grid *g);
/** Device memory, in bytes, that is reserved for launches by the device. `launches`: memory for pending launches. `levels`:
 *  memory for blocks that wait for the launches they made, at each allowed level of nesting. Source: specification of the
 *  dynamic parallelism thesis, section 5.4. */
struct tim_launch_memory {
    uint64_t launches, levels;
};
struct tim_launch_memory tim_grid_memory(const struct tim_config *config, unsigned pending, unsigned depth);
/** Prints the state of kernel management. */
void tim_grid_show(const struct tim_grid *g, uint64_t now, struct lw_sink *out);
/** Prints why block @linear of @grid was placed on @core and, for a device launch, its launcher. Each line begins with a
 *  newline. */
void tim_grid_why(const struct tim_grid *g, const struct emu_grid *grid, unsigned core, uint64_t linear, uint64_t now,
                  struct lw_sink *out);
/** Returns true if kernel management will do something even if no event happens: dispatch, an arrival, or a placement. */
bool tim_grid_is_busy(const struct tim_grid *g, uint64_t now);

#endif
