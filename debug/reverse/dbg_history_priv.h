/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of reverse execution:
 *
 *   dbg_history.c       keeping history, going to a count, state of the session there
 *   dbg_lane_trace.c    the instructions that a lane has retired, read backwards
 *   dbg_reverse_skip.c  skips the middle of long loops in that trace
 *   dbg_reverse.c       the commands: steps, lines, calls, the last hit of a stoppoint
 *   dbg_reverse_hits.c  searches the last hit of a stoppoint, and those before it
 *   dbg_marks.c         counts of history by name
 *   dbg_last_write.c    the last writer of a value
 */
#ifndef DBG_HISTORY_PRIV_H
#define DBG_HISTORY_PRIV_H

#include "debug/run/dbg_run_priv.h"

/* ---- going there (dbg_history.c) ------------------------------------------------------ */

/** Every reverse function begins here. Errors: LW_ESTATE with the reason that no history is kept. */
enum lw_status dbg_history_ready(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** To a count of instructions (UINT64_MAX: to the end of history); foci and stoppoints do not
 *  follow yet. */
enum lw_status dbg_history_move(struct dbg *dbg, uint64_t at, struct lw_error *err) LW_MUST_CHECK;
/** The same, and the stop there on @lane_ref, or on the first warp when it does not exist there. */
enum lw_status dbg_history_seek(struct dbg *dbg, uint64_t at, enum dbg_stop_kind kind,
                                const struct dbg_lane_ref *lane_ref, struct dbg_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Stop with DBG_STOP_HISTORY_BEGIN at @at; @text NULL: why nothing earlier is kept. */
enum lw_status dbg_history_begins(struct dbg *dbg, uint64_t at, const struct dbg_lane_ref *lane_ref,
                                  const char *text, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** The first count that can be reached. */
uint64_t dbg_history_earliest(const struct dbg *dbg);
/** Thread of an event. */
dbg_thread_id dbg_event_thread(const struct emu_event *ev);
/** The lane that a command is about: of @id, or, if that has ended, the one that was in focus
 *  last. */
struct dbg_lane_ref dbg_history_lane(const struct dbg *dbg, dbg_thread_id id);

/* ---- marks (dbg_marks.c) ------------------------------------------------------------------ */

struct dbg_mark *dbg_mark_find(struct dbg *dbg, const char *name);
/** Marks the machine's count and the view focus; @name NULL: a new name. An earlier mark of
 *  the name is deleted. */
enum lw_status dbg_mark_set(struct dbg *dbg, const char *name, struct dbg_mark *out,
                            struct lw_error *err) LW_MUST_CHECK;
/** Deletes the marks after a count. */
void dbg_marks_forget(struct dbg *dbg, uint64_t after);
enum lw_status dbg_mark_goto(struct dbg *dbg, const struct dbg_mark *mark, struct dbg_stop *stop,
                             struct lw_error *err) LW_MUST_CHECK;

/* ---- looking back (dbg_lane_trace.c) ---------------------------------------------------------- */

/** Windows of the past grow from the first size. One of the largest takes some tenths of a second
 *  where every instruction is looked at, some seconds where few are (fast). */
enum { DBG_FIRST_WINDOW = 4096, DBG_LARGEST_WINDOW = 1 << 20, DBG_LARGEST_FAST_WINDOW = 1 << 28 };
/** Instructions that a warp has executed; UINT64_MAX when it has ended. */
uint64_t dbg_progress(const struct dbg *dbg, dbg_thread_id id);
/** @only did nothing for a while before @low: to a count near its last instruction before that, or to
 *  the earliest one. Leaves the machine at some count after it. */
enum lw_status dbg_skip_idle(struct dbg *dbg, dbg_thread_id only, uint64_t *low,
                             struct lw_error *err) LW_MUST_CHECK;

/**
 * Reverse search over intervals of history, the nearest first and growing, each replayed forward once:
 * a search with a near result inspects little. Stops early when @seen returns true.
 *
 * @seen  called for every instruction before the start of the search, interval by interval;
 *        @at is the count before it. Returns true to leave the interval
 * @only  the one thread whose instructions matter: history in which it does nothing is skipped; 0:
 *        all
 */
struct dbg_search {
    struct dbg *dbg;
    bool (*seen)(struct dbg_search *search, const struct emu_event *ev, uint64_t at);
    void *context;
    dbg_thread_id only;
    /* its own: */
    uint64_t low, high; /* of the window */
    uint64_t size;
    bool interrupted;
    bool idle; /* @only did nothing in the window */
    uint64_t looked; /* at so many instructions */
};
/** A search has processed @count more instructions, *@looked in all, and is at @at: prints a progress message
 *  now and then; @fast: they were replayed at full speed, not inspected. */
void dbg_looked_at(struct dbg *dbg, uint64_t count, uint64_t at, bool fast, uint64_t *looked);

/**
 * The same for writes to watched ranges, at nearly the speed of a run: @observer sees the
 * instructions that may be one (and some others), interval by interval, the nearest
 * first, until *@found after one. The count before an instruction that has retired is
 * dbg_history_now() - 1 then. @only as above; @look selects the instructions. Leaves the machine
 * at some count after it.
 */
enum lw_status dbg_search_back(struct dbg *dbg, uint64_t before, dbg_thread_id only,
                             struct emu_observer *observer, const bool *found,
                             struct dbg_watch_filter_search *look, bool *interrupted, struct lw_error *err)
    LW_MUST_CHECK;

/** One such window, from @low up to @high. */
enum lw_status dbg_search_between(struct dbg *dbg, uint64_t low, uint64_t high,
                                struct emu_observer *observer, struct dbg_watch_filter_search *look,
                                bool *interrupted, struct lw_error *err) LW_MUST_CHECK;

/** A hit of a point in the past. */
struct dbg_hit {
    uint64_t at; /* instructions before it */
    dbg_thread_id id;
    uint64_t pc, lanes; /* of a breakpoint: the split that reached it */
    bool touched;       /* no breakpoint, but this: */
    enum { DBG_HIT_TRUE, DBG_HIT_FALSE, DBG_HIT_ASKS /* its condition */ } is;
    struct dbg_watch_hit touch;
    struct dbg_passed passed; /* dbg_hit_before: of struct dbg_stop */
};
/** The last hit before the count @before, searched from @from on: its instruction has not been executed.
 *  Leaves the machine at some count. The hits found are kept for the next search. */
enum lw_status dbg_hit_before(struct dbg *dbg, uint64_t before, uint64_t from, struct dbg_hit *out,
                              bool *found, bool *interrupted, struct lw_error *err) LW_MUST_CHECK;

/** An instruction that a lane has retired. */
struct dbg_trace {
    uint64_t at; /* instructions before it */
    uint64_t pc;
    const struct isa_insn *insn;
};
/** What a lane has retired, from the last to the first. */
struct dbg_lane_trace {
    struct dbg *dbg;
    struct dbg_lane_ref lane_ref;
    uint64_t next_pc; /* the lane's pc after the one that was read last */
    /* its own: */
    struct dbg_search search;
    struct dbg_trace *trace; /* of the window, in their order */
    size_t count, capacity;
    bool short_of_memory;
    bool skip_disabled; /* to skip waits does not pay */
};
/** Begins at the machine's current count. */
void dbg_lane_trace_init(struct dbg_lane_trace *trace, struct dbg *dbg, const struct dbg_lane_ref *lane_ref);
/** The previous one. *found is false at the first that is kept, or after an interrupt
 *  (trace->search.interrupted). */
enum lw_status dbg_lane_trace_back(struct dbg_lane_trace *trace, struct dbg_trace *out, bool *found,
                              struct lw_error *err) LW_MUST_CHECK;
void dbg_lane_trace_fini(struct dbg_lane_trace *trace);

/* ---- long visits (dbg_reverse_skip.c) -------------------------------------------------------------- */

/** A walk that wants the beginning of a line (@row; NULL: a call or a return) passes this. */
bool dbg_reverse_skip_contains(const struct dbg *dbg, const struct isa_line *row, uint64_t pc);
/** When the trace's interval is read to its end, within a visit: moves to the visit's first instruction, or
 *  not at all, at nearly the speed of a run. trace->search.interrupted as above. */
enum lw_status dbg_reverse_skip(struct dbg_lane_trace *trace, const struct isa_line *row,
                             struct lw_error *err) LW_MUST_CHECK;

/** The lane did nothing in the interval that was read last: moves to near the count where it began to wait, or
 *  not at all, at nearly the speed of a run. trace->search.interrupted as above. */
enum lw_status dbg_reverse_skip_wait(struct dbg_lane_trace *trace, struct lw_error *err) LW_MUST_CHECK;

/** The last write to a place. */
struct dbg_written {
    bool found, interrupted;
    uint64_t at;                 /* instructions before it */
    const struct isa_insn *insn;
    struct dbg_thread thread;    /* that did it, with the lane and the pc */
    struct dbg_watch_hit touch;
    uint64_t load_address;       /* what it loaded; load_bytes 0: nothing */
    unsigned load_bytes;
    char text[1024];              /* "v7 was written by lane 3 at ..." */
    bool edited;                 /* after that no instruction, but something else changed it: */
    char edit[1024];              /* "v7 was changed by an edit at instruction 30: 1 -> 777" */
};
/** The last writer of what @text names: with @size_bytes 0 a variable, memory or a register as
 *  `watch` has it, or an address of four bytes; else an address. The machine's count does not
 *  change. */
enum lw_status dbg_last_write(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                         unsigned size_bytes, struct dbg_written *out, struct lw_error *err)
    LW_MUST_CHECK;
void dbg_written_print(struct dbg *dbg, const struct dbg_written *w, const char *indent,
                       struct lw_sink *out);
/** Where a value comes from: each instruction that made or moved it, through moves, loads and
 *  stores, to the first that computed it. */
enum lw_status dbg_origin(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Change of the call depth by an instruction after which the lane was at @next: 1, it
 *  called; -1, it returned; 0. */
int dbg_trace_call(const struct dbg_trace *trace, uint64_t next);

#endif
