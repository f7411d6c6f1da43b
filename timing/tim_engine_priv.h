/* SPDX-License-Identifier: Apache-2.0 */
/* The engine from inside, for reports, commands and tests. */
#ifndef TIM_ENGINE_PRIV_H
#define TIM_ENGINE_PRIV_H

#include "timing/grid/tim_grid_priv.h"

extern const struct tim_cycle tim_cycle_reference; /* timing/reference/ */

/** Where the engine is in the cycle `now`. */
enum tim_phase { TIM_AT_BEGIN, TIM_AT_CORE, TIM_AT_ISSUE };
struct tim_at {
    enum tim_phase phase;
    unsigned core, sched, slot;
};
/** A resident block in the list of warps. */
struct tim_listed {
    const struct emu_grid *grid;
    uint64_t block;
    unsigned core, slot; /* emu's */
    unsigned first;      /* of its warps, in the list of all */
};

struct tim_engine {
    struct emu_engine base;
    struct tim_config config; /* our copy */
    char *name;
    struct tim_memory *memory;
    struct tim_core **core;
    const struct tim_cycle *cycle; /* what makes one, for the cores of this machine */
    uint64_t *tick_at;           /* [core] the cycle in which it is asked whether it rests */
    uint64_t due;                /* of the 64 cores around at.core, those that are ticked in this cycle; */
    bool poked;                  /* but for some that have been poked since */
    struct tim_grid grid;
    struct tim_code **code;
    size_t code_count, code_capacity;
    uint64_t now, instructions;
    uint64_t stop_cycle;      /* of tim_engine_stop_at */
    char ended[200];          /* of tim_engine_ended; "": nothing */
    struct tim_at at;
    bool ticked;              /* some core did not rest in this cycle */
    struct emu_event *event;  /* of the run that continues */
    bool stepping, step_any;  /* until `target` has issued; until anybody has */
    bool full_events;           /* cores' events say all: somebody reads them */
    bool asks;                /* cores ask before an issue: somebody may object */
    struct emu_thread_ref target;
    unsigned refused;         /* warp slot that is at a breakpoint */
    bool wake;                /* a launch is complete */
    bool tried;               /* nothing continued at the last check */
    uint64_t check_at;        /* cycle of the next look */
    uint64_t looked, moved;   /* instructions at the last look for progress, and when there was some */
    struct emu_spin_observer *probe;  /* observes what makes none, or NULL */
    unsigned tries;           /* looks that proved nothing, in a row */
    /* resident warps; made when they are read */
    struct tim_listed *list;
    size_t list_count, list_capacity;
    unsigned list_warps;
    bool listed;
    uint64_t listed_at; /* instructions */
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
    struct tim_trace *trace; /* NULL: none */
    uint64_t trace_rotation;     /* cycle in which its window opens, or closes; UINT64_MAX: neither any more */
};

/* ---- the cores of a cycle ------------------------------------------------------------------- */

/** Of 64 cores from @first on, those that may not rest in this cycle. */
static inline uint64_t tim_cores_due(const struct tim_engine *e, unsigned first)
{
    const unsigned count = e->config.core_count - first < 64 ? e->config.core_count - first : 64;
    uint64_t due = 0;

    for (unsigned i = 0; i < count; i++) /* no branches: they would be mispredicted */
        due |= (uint64_t)(e->tick_at[first + i] <= e->now) << i;
    return due;
}

/** The first core from @core on that may not rest in this cycle; the count of cores: none. */
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

/** Bring the counters of all cores up to date. */
void tim_engine_account(const struct tim_engine *engine);
/** Borrowed until the engine runs on. */
void tim_engine_totals(const struct tim_engine *engine, struct tim_totals *out);

/* ---- accounts of kernels (tim_engine_kernels.c) ---------------------------------------------- */

/** The next kernel, of launch @grid. Errors: LW_ENOMEM. */
enum lw_status tim_kernels_add(struct tim_engine *engine, const struct emu_grid *grid,
                               struct lw_error *err) LW_MUST_CHECK;
/** The dispatcher notifies (@context: the engine; @kernel: its index): it is in the distributor; its
 *  first block is placed, or its last has ended, in this cycle. */
void tim_kernels_distributed(void *context, size_t kernel, uint64_t now);
void tim_kernels_rotate(void *context, size_t kernel);
/** An instruction of @grid was issued for @lanes lanes. */
void tim_kernels_count(struct tim_engine *engine, const struct emu_grid *grid, unsigned lanes);
/** A cycle is over: kernels that started or ended in it take what is counted. */
void tim_kernels_account(struct tim_engine *engine);

/** As tim_engine_create, over another memory system. */
typedef struct tim_memory *(*tim_memory_create_fn)(const struct tim_config *config);
enum lw_status tim_engine_create_over(struct emu_machine *machine, const struct tim_config *config,
                                      const struct tim_options *options,
                                      tim_memory_create_fn create_memory, struct emu_engine **out,
                                      struct lw_error *err) LW_MUST_CHECK;

/* ---- does it continue? (tim_engine_hang.c) ---- */
/** When no block has made progress for the window, blocks are observed for a while. True: it is proved that none ever
 *  will (MACHINE 4). */
bool tim_engine_spins(struct tim_engine *e);
/** No warp is observed for progress any more. */
void tim_engine_forget_spin(struct tim_engine *e);
/** The hang is of the first block; when a look proved it, on the first that runs. */
void tim_engine_hang(struct tim_engine *e, struct emu_stop *stop);

/** Why a warp does not issue now: a sentence with the stall reason and the instruction it waits for.
 *  False: it is not resident. */
bool tim_why(const struct emu_engine *engine, const struct emu_thread_ref *place, struct lw_sink *out);
/** A hash over all counters: equal for the reference and the fast model. */
uint64_t tim_counts_hash(const struct emu_engine *engine);
/** `run` returns, as by EMU_STOP_COUNT, at the end of cycle @cycle; UINT64_MAX: it does not. */
void tim_engine_stop_at(struct emu_engine *engine, uint64_t cycle);
/** Neighbouring cores share instruction and constant caches; the last of them may be fewer. */
void tim_engine_share_caches(struct tim_engine *e);

#endif
