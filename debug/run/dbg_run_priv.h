/* SPDX-License-Identifier: Apache-2.0 */
/* Between dbg_run.c, dbg_step.c and dbg_step_line.c. */
#ifndef DBG_RUN_PRIV_H
#define DBG_RUN_PRIV_H

#include "debug/debug_priv.h"

/* ---- stops (dbg_run.c) ----------------------------------------------------------- */

/** Every resuming door begins and ends here. */
enum lw_status dbg_run_begin(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status dbg_run_end(struct dbg *dbg, enum lw_status status, struct dbg_stop *stop,
                           struct lw_error *err) LW_MUST_CHECK;
/** Both foci to @lane of a thread, and the stop there. */
void dbg_stop_on(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                 dbg_thread_id id, unsigned lane);
/** A stop that does not move the focus by itself: it stays unless its lane or warp is gone. */
enum lw_status dbg_finish_stop(struct dbg *dbg, enum dbg_stop_kind kind, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
/** Is this arrival of a split a hit? Then the stop is made and the focus moves to the first
 *  lane that hit. */
bool dbg_arrived(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                 struct dbg_stop *stop);
/** What the engine stopped for, as a stop of ours; stop->kind stays NONE when the run goes on
 *  (a breakpoint whose condition is false was stepped over, a new launch was queued). */
enum lw_status dbg_engine_stop(struct dbg *dbg, const struct emu_stop *es,
                               struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** The stop that dbg_watch_pending() tells of. */
enum lw_status dbg_watch_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;

/** The stop behind an instruction of a thread, on @lane: what stands there now is seen to. */
void dbg_watch_stand(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_stop *stop);

/** While all runs, stop before the instructions that may touch a watchpoint, instead of looking at
 *  each one; where that is possible. */
void dbg_watch_filter_begin(struct dbg *dbg);
/** Another launch may run now. */
void dbg_watch_filter_next(struct dbg *dbg);
void dbg_watch_filter_end(struct dbg *dbg);
/** The engine's next instruction, which it stopped before, watched. */
enum lw_status dbg_watch_filter_step(struct dbg *dbg, struct emu_stop *es, struct lw_error *err)
    LW_MUST_CHECK;

/** The same for a look at the past, with an observer that sees what may touch a point. */
struct dbg_watch_filter_search {
    bool writes; /* of memory, only those; its reads are not asked for */
    /** What is looked at in place of what may touch a point; NULL: that. */
    bool (*wanted)(const void *context, uint64_t pc);
    const void *context;
    bool dense; /* looking at all is cheaper: kept from window to window */
    /* its own: */
    struct emu_observer *observer;
    bool sieving;
    unsigned steps;
    uint64_t from;
};
/** To be called where dbg_watch_hit_begin() is; no other observer is there. */
void dbg_watch_filter_search_begin(struct dbg *dbg, struct emu_observer *observer,
                          struct dbg_watch_filter_search *look);
/** As dbg_watch_filter_step(), behind a stop before an instruction. */
enum lw_status dbg_watch_filter_search_step(struct dbg *dbg, struct dbg_watch_filter_search *look,
                                   struct emu_stop *es, struct lw_error *err) LW_MUST_CHECK;
void dbg_watch_filter_search_end(struct dbg *dbg, struct dbg_watch_filter_search *look);
/** The user, or the log that is replayed, may have changed a pc at some time. */
bool dbg_pc_edited(const struct dbg *dbg);

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
    bool locked, told;
    unsigned own_turns;            /* rotations of its own warp alone, since it waits */
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
/** Where the lane stands behind a step: *pc. The stop is made when that ends a walk: a point
 *  hit there, an exit, an interrupt. */
enum lw_status dbg_stepper_look(struct dbg_stepper *s, enum dbg_outcome outcome, uint64_t *pc,
                                struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** A walk is over: a message names the others that ran with it in the past, and where they are now. */
void dbg_stepper_report(const struct dbg_stepper *s);

/** Is the pc in the code of an inlined call, a struct dbg_place's @call? (dbg_step_line.c) */
bool dbg_in_call(const struct dbg *dbg, uint64_t pc, int64_t call);

#endif
