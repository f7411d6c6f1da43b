/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of dbg_run.c, dbg_step.c and dbg_step_line.c. */
#ifndef DBG_RUN_PRIV_H
#define DBG_RUN_PRIV_H

#include "debug/debug_priv.h"
#include "debug/points/dbg_watch_priv.h"

/* ---- stops (dbg_run.c) ----------------------------------------------------------- */

/** Called at the start of every function that resumes the machine. */
enum lw_status dbg_run_begin(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called at the end of every function that resumes the machine. @status: the status of the run, which is returned unless
 *  dbg_run_end() itself fails. */
enum lw_status dbg_run_end(struct dbg *dbg, enum lw_status status, struct dbg_stop *stop,
                           struct lw_error *err) LW_MUST_CHECK;
/** Makes the stop if the arrival of a split at @pc hits a breakpoint; returns whether it does. The focus
 *  moves to the first lane that hit, unless the focus lane is one of them. */
bool dbg_arrived(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                 struct dbg_stop *stop);
/** Converts the engine's stop to a stop of the debugger. stop->kind remains NONE if the run continues (a breakpoint
 *  with a false condition was stepped over, a new launch was queued). dbg_continue handles EMU_STOP_BREAK itself: its
 *  step over the breakpoint does not change the order in which the engine runs the warps. */
enum lw_status dbg_engine_stop(struct dbg *dbg, const struct emu_stop *es,
                               struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;


/* ---- one instruction of a lane (dbg_step.c) ----------------------------------------- */

enum dbg_outcome {
    DBG_RETIRED, /* the lane has retired one instruction and has not exited */
    DBG_EXITED,
    DBG_STOPPED  /* the stop has been made */
};

enum { DBG_BLOCK_WARPS = EMU_MAX_BLOCK_THREADS / 4 }; /* for the smallest warp width */

/** A lane that is being stepped. Its block remains resident while the lane is live. */
struct dbg_stepper {
    struct dbg *dbg;
    dbg_thread_id id;
    struct dbg_warp warp;
    unsigned lane;
    bool locked, reported;
    unsigned own_slices;            /* rotations in which only the lane's own warp ran while it waited */
    int depth;                     /* calls minus returns since the start */
    uint64_t retired, progress;    /* counters of the block when progress was last observed */
    unsigned tries;                /* spin checks since then that did not find a spin */
    const struct isa_insn *insn;   /* instruction executed last */
    /* Members for steps in replayed history, where steps follow the record: */
    bool in_past;                        /* the stepper started in the past */
    uint64_t others;                     /* instructions of other warps that were replayed */
    uint64_t own;                        /* number of these that were steps of the lane's warp */
    uint64_t was[DBG_BLOCK_WARPS];   /* instruction counts of the block's warps at the start */
};

/** Starts a stepper for the focus lane of @id. Errors: LW_ESTATE when the thread is gone. */
enum lw_status dbg_stepper_init(struct dbg_stepper *s, struct dbg *dbg, dbg_thread_id id,
                                bool locked, struct lw_error *err) LW_MUST_CHECK;
/** Ends the spin check of a stepped lane. */
void dbg_spin_forget(struct dbg *dbg);
enum lw_status dbg_stepper_step(struct dbg_stepper *s, enum dbg_outcome *outcome,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Gets the lane's pc after a step. Makes the stop if that ends a walk: a breakpoint hit there, an exit, an
 *  interrupt. */
enum lw_status dbg_stepper_look(struct dbg_stepper *s, enum dbg_outcome outcome, uint64_t *pc,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** Prints a message at the end of a walk: which other warps ran in replayed history, and where they are now. */
void dbg_stepper_report(const struct dbg_stepper *s);

/** Returns true if the pc is in the code of an inlined call, @call of a struct dbg_frame_location
 *  (dbg_step_line.c). */
bool dbg_in_call(const struct dbg *dbg, uint64_t pc, int64_t call);

#endif
