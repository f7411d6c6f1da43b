/* SPDX-License-Identifier: Apache-2.0 */
/* Between dbg_run.c, dbg_step.c and dbg_step_line.c. */
#ifndef DBG_RUN_PRIV_H
#define DBG_RUN_PRIV_H

#include "debug/debug_priv.h"
#include "debug/points/dbg_watch_priv.h"

/* ---- stops (dbg_run.c) ----------------------------------------------------------- */

/** Every resuming function begins and ends here. */
enum lw_status dbg_run_begin(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status dbg_run_end(struct dbg *dbg, enum lw_status status, struct dbg_stop *stop,
                           struct lw_error *err) LW_MUST_CHECK;
/** Is this arrival of a split a hit? Then the stop is made, and the focus moves to the
 *  first lane that hit unless the focus lane is one of them. */
bool dbg_arrived(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                 struct dbg_stop *stop);
/** What the engine stopped for, as a stop of ours; stop->kind remains NONE if the run continues
 *  (a breakpoint whose condition is false was stepped over, a new launch was queued). dbg_continue answers EMU_STOP_BREAK
 *  itself and steps over the breakpoint in the engine's own order. */
enum lw_status dbg_engine_stop(struct dbg *dbg, const struct emu_stop *es,
                               struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;


/* ---- one instruction of a lane (dbg_step.c) ----------------------------------------- */

enum dbg_outcome {
    DBG_RETIRED, /* the lane retired one instruction and lives */
    DBG_EXITED,
    DBG_STOPPED  /* the stop is made */
};

enum { DBG_BLOCK_WARPS = EMU_MAX_BLOCK_THREADS / 4 }; /* of the smallest width */

/** A lane being stepped. Its block cannot go away while it lives. */
struct dbg_stepper {
    struct dbg *dbg;
    dbg_thread_id id;
    struct dbg_warp warp;
    unsigned lane;
    bool locked, reported;
    unsigned own_slices;            /* rotations of its own warp alone, since it waits */
    int depth;                     /* calls less returns since the start */
    uint64_t retired, progress;    /* of its block when that was seen to get on last */
    unsigned tries;                /* looks since then that did not find that it spins */
    const struct isa_insn *insn;   /* executed last */
    /* In the past, where steps follow the record: */
    bool in_past;                        /* where it began */
    uint64_t others;                     /* instructions of others that were replayed */
    uint64_t own;                        /* instructions of its warp that were steps */
    uint64_t was[DBG_BLOCK_WARPS];   /* instructions of each warp of its block, where it began */
};

/** Errors: LW_ESTATE when the thread is gone. */
enum lw_status dbg_stepper_init(struct dbg_stepper *s, struct dbg *dbg, dbg_thread_id id,
                                bool locked, struct lw_error *err) LW_MUST_CHECK;
/** The look at whether a lane spins is over. */
void dbg_spin_forget(struct dbg *dbg);
enum lw_status dbg_stepper_step(struct dbg_stepper *s, enum dbg_outcome *outcome,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** The lane's pc after a step: *pc. Makes the stop if that ends a walk: a breakpoint
 *  hit there, an exit, an interrupt. */
enum lw_status dbg_stepper_look(struct dbg_stepper *s, enum dbg_outcome outcome, uint64_t *pc,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** A walk is over: a message names the others that ran with it in the past, and where they are now. */
void dbg_stepper_report(const struct dbg_stepper *s);

/** Is the pc in the code of an inlined call, a struct dbg_frame_location's @call? (dbg_step_line.c) */
bool dbg_in_call(const struct dbg *dbg, uint64_t pc, int64_t call);

#endif
