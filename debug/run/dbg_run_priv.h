/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of dbg_run.c, dbg_step.c and dbg_step_line.c. */
#ifndef DBG_RUN_PRIV_H
#define DBG_RUN_PRIV_H

#include "debug/debug_priv.h"
#include "debug/points/dbg_watch_priv.h"

/* ---- stops (dbg_run.c) ----------------------------------------------------------- */

/** Called first by every function that resumes the machine: clears @stop and prepares stops for hits and findings. Errors:
 *  LW_ESTATE if all launches have ended. */
enum lw_status dbg_run_begin(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called last by every function that resumes the machine: completes @stop and stores it as the last stop. Returns @status,
 *  the status of the run, or an error of its own. */
enum lw_status dbg_run_end(struct dbg *dbg, enum lw_status status, struct dbg_stop *stop,
                           struct lw_error *err) LW_MUST_CHECK;
/** Makes the stop and returns true if a split that arrives at @pc with the lanes @active hits a breakpoint. The warp's focus
 *  lane stays the focus lane if it hit the breakpoint, so that a user can follow one lane. Otherwise the lowest lane that hit
 *  the breakpoint becomes the focus lane. */
bool dbg_arrived(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                 struct dbg_stop *stop);
/** Converts a stop of the engine to a stop of the debugger. stop->kind remains DBG_STOP_NONE if the run must continue. This is
 *  so after a step over a breakpoint with a false condition, and after a new launch was queued. For EMU_STOP_BREAK dbg_continue()
 *  does not call this function, which steps the warp at the breakpoint. It calls dbg_step_engine(), which keeps the order of the
 *  warps. */
enum lw_status dbg_engine_stop(struct dbg *dbg, const struct emu_stop *es,
                               struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;


/* ---- one instruction of a lane (dbg_step.c) ----------------------------------------- */

enum dbg_outcome {
    DBG_RETIRED, /* the lane has retired one instruction and has not exited */
    DBG_EXITED,
    DBG_STOPPED  /* the run has stopped for another reason, and the stop has been filled */
};

enum { DBG_BLOCK_WARPS = EMU_MAX_BLOCK_THREADS / 4 }; /* most warps of a block: the smallest warp width is 4 */

/** State of a step command: the lane that is stepped, and counters since the command began. */
struct dbg_stepper {
    struct dbg *dbg;
    dbg_thread_id id;
    struct dbg_warp warp;
    unsigned lane;
    bool locked, reported;         /* locked: no other split or warp may run; reported: a message has said that other
                                    * lanes and warps ran */
    bool completes;                /* the lane waits at a barrier, which is the instruction of the next step: the step ends when
                                    * the lane can run */
    unsigned own_slices;           /* number of rotations in which the lane waited and only its own warp ran */
    int depth;                     /* number of calls minus number of returns since the command began */
    uint64_t retired, progress;    /* values at the last progress of the block: `retired` is its instruction count, `progress`
                                    * its progress count */
    unsigned tries;                /* number of spin checks since the last progress; none of them has found a spin */
    const struct isa_insn *insn;   /* the instruction that the lane executed last */
    /* Members for a step in the past. A replay executes instructions in the recorded order, so a step may also run other
         * lanes and warps. */
    bool in_past;                        /* the command began in the past */
    uint64_t others;                     /* number of replayed instructions that were not steps of the lane */
    uint64_t own;                        /* number of steps of the lane's warp that the stepper itself has requested */
    uint64_t was[DBG_BLOCK_WARPS];   /* instruction counts of the block's warps when the command began */
};

/** Starts a stepper for the focus lane of @id. @locked: as for dbg_step(). Errors: LW_ESTATE if the thread is not
 *  resident. */
enum lw_status dbg_stepper_init(struct dbg_stepper *s, struct dbg *dbg, dbg_thread_id id,
                                bool locked, struct lw_error *err) LW_MUST_CHECK;
/** Removes the spin detector of a stepped lane, if there is one. */
void dbg_spin_forget(struct dbg *dbg);
/** Executes one instruction of the stepped lane. */
enum lw_status dbg_stepper_step(struct dbg_stepper *s, enum dbg_outcome *outcome,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Called after each step of the lane: gets the lane's pc, and makes the stop if the step command ends here. The command ends
 *  if a breakpoint is hit at the pc, if the lane has exited or spins, or after an interrupt. */
enum lw_status dbg_stepper_look(struct dbg_stepper *s, enum dbg_outcome outcome, uint64_t *pc,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** Prints a message at the end of a step command in the past: which other warps the replay has run, and where they are. */
void dbg_stepper_report(const struct dbg_stepper *s);

/** Returns true if the pc is in the code of an inlined call. @call is the debug information entry of the call, as in
 *  dbg_frame_location.call. The function is in dbg_step_line.c. */
bool dbg_in_call(const struct dbg *dbg, uint64_t pc, int64_t call);

#endif
