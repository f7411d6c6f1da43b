/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of dbg_watch.c, dbg_watch_hit.c and dbg_watch_filter.c. */
#ifndef DBG_WATCH_PRIV_H
#define DBG_WATCH_PRIV_H

#include "debug/debug_priv.h"

/** Range [start, end) of a watchpoint. Memory: the watched addresses. Registers: the thread id of the warp that owns them, so
 *  that end is start + 1. */
struct dbg_range {
    uint64_t start, end;
    size_t point; /* index of the watchpoint in dbg->points */
};

/**
 * Owner of a watchpoint that gdb has removed. At each stop gdb removes all its watchpoints, and at the next resume gdb
 * inserts them again. At the resume gdb sends only the address, and the focus may be on another lane than before. So the
 * debugger takes the lane, warp or block that owns the watched location from this record. The record is deleted at the second
 * resume after the removal.
 */
struct dbg_ghost {
    uint64_t address;
    unsigned size_bytes, access; /* access 0: this element of the array is free */
    unsigned age;                /* number of resumes since the removal */
    struct dbg_watched watched;
};
enum { DBG_GHOSTS = 64 };

/** Hit of a further gdb watchpoint by an instruction for which the run has stopped. gdb accepts one watchpoint for each stop, so
 *  the debugger makes another stop for this hit at gdb's next resume. */
struct dbg_later {
    uint64_t address;
    unsigned size_bytes, access;
    struct dbg_watch_hit touch;
};

/** Tables of the watchpoints and catchpoints against which each instruction is compared, and the hits found. */
struct dbg_watch {
    struct emu_observer observer;
    struct dbg *dbg;
    bool attached; /* a watchpoint or catchpoint is enabled. The observer is then attached to the engine. While a filter is in
                    * use, the observer is attached only during dbg_step_engine() */
    bool changed;  /* stoppoints have changed: the tables must be rebuilt */
    struct dbg_range *memory, *registers; /* ranges sorted by start; with capacity for all stoppoints */
    size_t memory_count, register_count;
    uint64_t memory_end;       /* highest end of the ranges in `memory` */
    unsigned catches;          /* events that catchpoints wait for: bits of enum dbg_catch */
    struct dbg_watch_hit *touches; /* hits of the last instruction; with capacity for all stoppoints */
    size_t *touched;           /* for each element of `touches` the index of its stoppoint in dbg->points */
    size_t touch_count;
    size_t capacity;               /* number of stoppoints that the tables have memory for */
    struct dbg_watch_hit pending;  /* hit for which the run has not stopped yet; pending.point is 0 if there is none */
    unsigned others[8];        /* ids of the further stoppoints that the stop for `pending` names */
    unsigned other_count;
    struct dbg_ghost ghosts[DBG_GHOSTS]; /* ring buffer */
    unsigned ghost_next;
    struct dbg_later later[8]; /* hits of gdb's watchpoints, reported one by one at its next resumes */
    unsigned later_count;
    bool filtering;                /* the static filter (dbg_watch_filter.c) is in use */
    uint64_t *filter;              /* pcs of the instructions that the filter selects for the observer */
    size_t filter_count, filter_capacity;
    const struct emu_program *filtered_program; /* program of these pcs */
    unsigned filter_steps;        /* number of dbg_step_engine() calls since the count below was taken */
    uint64_t filter_instructions; /* instruction count at which filter_steps was 0; the two members show whether the filter
                                   * saves time */
};
/** Makes the stop for the pending hit of a watchpoint or catchpoint. If no hit is pending, makes the stop for the pending
 *  finding. */
enum lw_status dbg_watch_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;

/** Makes the stop after an instruction of a thread, with @lane as focus lane. If breakpoints are at the lane's new pc, the
 *  stop reports them as hit. */
void dbg_watch_stand(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_stop *stop);

/** Inserts the static filter if possible. While all warps run, the engine then stops before each instruction that may
 *  touch a watchpoint or catchpoint, and the observer sees only these instructions. */
void dbg_watch_filter_begin(struct dbg *dbg);
/** Inserts the filter in the program of the next launch, if that launch has another program. */
void dbg_watch_filter_next(struct dbg *dbg);
/** Removes the filter, so that the observer sees every instruction. */
void dbg_watch_filter_end(struct dbg *dbg);
/** Executes the engine's next instruction, before which the run has stopped, even if the instruction has a breakpoint.
 *  dbg_continue() calls this function at a breakpoint that no lane hits. If a filter is in use, the observer sees the
 *  instruction. */
enum lw_status dbg_step_engine(struct dbg *dbg, struct emu_stop *es, struct lw_error *err)
    LW_MUST_CHECK;

/** Static filter of a reverse search: the search's own observer sees only the instructions that the filter selects. */
struct dbg_watch_filter_search {
    bool writes; /* the search looks for writes only: instructions that only read are not selected */
    /** Returns true if the filter selects the instruction at @pc. NULL: the filter selects the instructions that may touch a
     *  stoppoint. */
    bool (*wanted)(const void *context, uint64_t pc);
    const void *context;
    bool dense; /* the filter selects so many instructions that it is faster to inspect every instruction. The value remains
                 * for the next search interval */
    /* Members that only the functions dbg_watch_filter_search_*() set: */
    struct emu_observer *observer;
    bool filtering;
    unsigned steps; /* number of steps since instruction count `from` */
    uint64_t from;
};
/** Inserts the filter of a reverse search, or attaches @observer for all instructions if no filter is possible. Called
 *  after dbg_watch_hit_begin(), while no other observer is attached. */
void dbg_watch_filter_search_begin(struct dbg *dbg, struct emu_observer *observer,
                          struct dbg_watch_filter_search *look);
/** Executes the engine's next instruction in a reverse search. The search's observer sees the instruction. */
enum lw_status dbg_watch_filter_search_step(struct dbg *dbg, struct dbg_watch_filter_search *look,
                                   struct emu_stop *es, struct lw_error *err) LW_MUST_CHECK;
/** Removes the filter of a reverse search. */
void dbg_watch_filter_search_end(struct dbg *dbg, struct dbg_watch_filter_search *look);
/** Returns true if a lane's pc may have been edited at some time, by the user or in the log that a replay executes. */
bool dbg_pc_edited(const struct dbg *dbg);

#endif
