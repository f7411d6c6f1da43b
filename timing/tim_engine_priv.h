/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the engine, for reports, commands and tests. */
#ifndef TIM_ENGINE_PRIV_H
#define TIM_ENGINE_PRIV_H

#include "timing/grid/tim_grid_priv.h"

extern const struct tim_cycle tim_cycle_reference; /* defined in timing/reference/ */

/** Position of the engine in the cycle `now`. */
enum tim_phase { TIM_AT_BEGIN, TIM_AT_CORE, TIM_AT_ISSUE };
struct tim_at {
    enum tim_phase phase;
    unsigned core, sched, slot;
    bool checked; /* scheduler `sched` was already checked in this cycle (tim_core_idles()): it may issue */
};
/** A resident or suspended block in the list of warps (tim_engine.list). */
struct tim_listed {
    const struct emu_grid *grid;
    uint64_t block;
    unsigned core, slot; /* slot: number of the slot in emu */
    unsigned first;      /* index of its first warp in the list of all warps */
};

struct tim_engine {
    struct emu_engine base;
    struct tim_config config; /* a copy of the caller's configuration */
    char *name;
    struct tim_memory *memory;
    struct tim_core **core;
    const struct tim_cycle *cycle; /* the functions that run a cycle of a core, specialised for the cores of this model */
    uint64_t *tick_at;           /* [core] next cycle in which the engine must tick the core, or check whether it is idle */
    struct tim_visits visits;    /* the cores to tick or check, by cycle; unused if `clocked` is set */
    /* cores to tick in this cycle: bit i is core first + i, where first is at.core rounded down to a multiple of 64 */
    uint64_t due;
    bool clocked;                /* cores have clocks of their own (mechanism dvfs): tick_at[core] counts cycles of that
                                  * core's clock */
    bool poked;                  /* a core was woken after `due` was computed, so `due` must be computed again */
    struct tim_grid grid;
    uint32_t noted;              /* sequence number of the last launch that note_launches() has recorded */
    /* host launches in launch order; the launches before index `host_launch_first` are complete */
    struct emu_grid **host_launch;
    size_t host_launch_first, host_launch_count, host_launch_capacity;
    struct tim_code **code;
    size_t code_count, code_capacity;
    uint64_t now, instructions;
    uint64_t stop_cycle;      /* set by tim_engine_stop_at */
    char ended[200];          /* why the run ended early: tim_engine_ended(); "": it did not end early */
    struct tim_at at;
    bool ticked;              /* some core was not idle in this cycle */
    struct emu_event *event;  /* event of the current call of `run` */
    bool stepping, step_any;  /* stepping: run until `target` has issued; step_any: run until any warp has issued */
    bool full_events;           /* events have all their members (EMU_EVENT_FULL), which observers need */
    bool asks;                /* cores call on_refuse() before an issue */
    struct emu_thread_ref target;
    unsigned refused;         /* slot of the warp whose issue on_refuse() refused because of a breakpoint */
    bool wake;                /* a launch may have completed: warps that wait for launches must be checked again */
    bool tried;               /* the last check of between_cycles() found no busy part; the next such check reports a hang */
    uint64_t check_at;        /* cycle of the next check by between_cycles() */
    uint64_t looked, moved;   /* instruction counts at the last check for progress, and at the last progress */
    struct emu_spin_observer *probe;  /* observes blocks without progress, or NULL */
    unsigned tries;           /* consecutive observations that did not prove that the blocks spin forever */
    /* list of the resident warps, built on demand */
    struct tim_listed *list;
    size_t list_count, list_capacity;
    unsigned list_warps;
    bool listed;
    uint64_t listed_at; /* instruction count at which the list was built */
    /* counters */
    uint64_t gpu[TIM_GPU_COUNT];
    struct tim_core_stats *stats;
    const struct tim_slice_stats **slice;
    const struct tim_channel_stats **channel;
    struct tim_kernel_stats *kernel;
    size_t kernel_count, kernel_capacity;
    size_t *turning; /* kernels that start or end in this cycle */
    size_t turning_count, rotating_capacity;
    struct tim_samples samples;
    struct tim_trace *trace; /* the trace, or NULL if no trace is recorded */
    uint64_t trace_rotation; /* cycle in which the trace's window starts; later, cycle in which it ends; then UINT64_MAX */
};

/* ---- the cores of a cycle ------------------------------------------------------------------- */

/** Implements tim_cores_due() for cores with clocks of their own. */
uint64_t tim_cores_due_clocked(const struct tim_engine *e, unsigned first);

/** Returns which of the 64 cores from @first on must be ticked or checked in this cycle: bit i is core @first + i. */
static inline uint64_t tim_cores_due(const struct tim_engine *e, unsigned first)
{
    return e->clocked ? tim_cores_due_clocked(e, first) : tim_visits_of(&e->visits, first / 64);
}

/** Returns the first core from @core on that must be ticked or checked in this cycle; the number of cores if there is
 *  none. */
static inline unsigned tim_next_due(struct tim_engine *e, unsigned core)
{
    const unsigned count = e->config.core_count;

    for (; core < count; core = (core | 63) + 1) {
        if (core % 64 == 0 || e->poked)
            e->due = tim_cores_due(e, core & ~63u);
        e->poked = false;
        if (e->due >> core % 64 != 0)
            return core + lw_lowest(e->due >> core % 64);
    }
    return count;
}

/** Brings the counters of all cores up to date. */
void tim_engine_account(const struct tim_engine *engine);
/** Gets the totals, borrowed until the engine runs again. */
void tim_engine_totals(const struct tim_engine *engine, struct tim_totals *out);

/* ---- accounts of kernels (tim_engine_kernels.c) ---------------------------------------------- */

/** Adds launches that may start, and have not been added, to the kernel management. @core: the core that has just issued an
 *  instruction, or NULL if there is none. Errors: LW_ENOMEM; LW_EINPUT for blocks that fit on no core. */
enum lw_status tim_launches_take(struct tim_engine *engine, const struct tim_core *core, struct lw_error *err) LW_MUST_CHECK;
/** Adds the counters of a kernel (tim_kernel_stats) for launch @grid. Errors: LW_ENOMEM. */
enum lw_status tim_kernels_add(struct tim_engine *engine, const struct emu_grid *grid,
                               struct lw_error *err) LW_MUST_CHECK;
/** Called by the dispatcher in cycle @now, in which kernel @kernel (an index in tim_engine.kernel) enters the
 *  distributor. Records the first such cycle. @context: the engine. */
void tim_kernels_distributed(void *context, size_t kernel, uint64_t now);
/** Called when the first block of kernel @kernel has been placed, and when its last block has ended. At the end of this
 *  cycle tim_kernels_account() begins or ends the kernel's counts. @context: the engine. */
void tim_kernels_rotate(void *context, size_t kernel);
/** Counts an instruction of @grid issued for @lanes lanes. */
void tim_kernels_count(struct tim_engine *engine, const struct emu_grid *grid, unsigned instructions, unsigned lanes);
/** Called at the end of a cycle. Stores the values of the GPU's counters for the kernels that started or ended in it. */
void tim_kernels_account(struct tim_engine *engine);

/** Creates an engine as tim_engine_create() does, but with the memory system that @create_memory creates. */
typedef struct tim_memory *(*tim_memory_create_fn)(const struct tim_config *config);
enum lw_status tim_engine_create_over(struct emu_machine *machine, const struct tim_config *config,
                                      const struct tim_options *options,
                                      tim_memory_create_fn create_memory, struct emu_engine **out,
                                      struct lw_error *err) LW_MUST_CHECK;

/* ---- progress checks (tim_engine_hang.c) ---- */
/** If no block has made progress for the hang limit (emu_config.hang_window), observes what the blocks read. Returns true
 *  when the observation proves that no block will ever make progress (MACHINE 4). Called between cycles. */
bool tim_engine_spins(struct tim_engine *e);
/** Ends the observation of blocks that tim_engine_spins() began, if there is one. */
void tim_engine_forget_spin(struct tim_engine *e);
/** Fills in *stop with the hang report. If a mechanism throttles warps forever, the report describes these warps. Otherwise
 *  it describes a resident block. If a proof of spinning was attempted, a block that can run is preferred. */
void tim_engine_hang(struct tim_engine *e, struct emu_stop *stop);

/** Prints why a warp does not issue now: the stall reason, and the instruction for whose result the warp waits. Returns
 *  false if the warp is not resident. */
bool tim_why(const struct emu_engine *engine, const struct emu_thread_ref *place, struct lw_sink *out);
/** Returns a hash of all counters. The reference and the fast model give the same hash. */
uint64_t tim_counts_hash(const struct emu_engine *engine);
/** Makes `run` return with EMU_STOP_COUNT before cycle @cycle begins; UINT64_MAX: never. */
void tim_engine_stop_at(struct emu_engine *engine, uint64_t cycle);
/** Lets neighbouring cores share instruction and constant caches, as many as fetch.shared and constant.shared say. The last of
 *  these sets of cores may have fewer cores. */
void tim_engine_share_caches(struct tim_engine *e);

#endif
