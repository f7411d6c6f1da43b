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

/** Begins every reverse function. Errors: LW_ESTATE with the reason that no history is recorded. */
enum lw_status dbg_history_ready(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Moves the machine to an instruction count (UINT64_MAX: to the end of history). Does not choose a focus or report
 *  a stop: the caller does, as dbg_history_seek(). Pending watchpoint hits are dropped. */
enum lw_status dbg_history_move(struct dbg *dbg, uint64_t at, struct lw_error *err) LW_MUST_CHECK;
/** Does what dbg_history_move() does, and makes a stop there on @lane_ref, or on the first warp if that lane does not
 *  exist there. */
enum lw_status dbg_history_seek(struct dbg *dbg, uint64_t at, enum dbg_stop_kind kind,
                                const struct dbg_lane_ref *lane_ref, struct dbg_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Makes a stop of kind DBG_STOP_HISTORY_BEGIN at @at. @text NULL: it states why no earlier history is
 *  recorded. */
enum lw_status dbg_history_begins(struct dbg *dbg, uint64_t at, const struct dbg_lane_ref *lane_ref,
                                  const char *text, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the first instruction count that can be reached. */
uint64_t dbg_history_earliest(const struct dbg *dbg);
/** Returns the thread of an event. */
dbg_thread_id dbg_event_thread(const struct emu_event *ev);
/** Returns the lane that a command refers to: the focus lane of @id, or, if that thread has ended, the lane
 *  last in focus. */
struct dbg_lane_ref dbg_history_lane(const struct dbg *dbg, dbg_thread_id id);

/* ---- marks (dbg_marks.c) ------------------------------------------------------------------ */

struct dbg_mark *dbg_mark_find(struct dbg *dbg, const char *name);
/** Marks the machine's instruction count and the view focus; @name NULL: a new name. An earlier mark with the
 *  name is deleted. */
enum lw_status dbg_mark_set(struct dbg *dbg, const char *name, struct dbg_mark *out,
                            struct lw_error *err) LW_MUST_CHECK;
/** Deletes the marks after an instruction count. */
void dbg_marks_forget(struct dbg *dbg, uint64_t after);
enum lw_status dbg_mark_goto(struct dbg *dbg, const struct dbg_mark *mark, struct dbg_stop *stop,
                             struct lw_error *err) LW_MUST_CHECK;

/* ---- looking back (dbg_lane_trace.c) ---------------------------------------------------------- */

/** Sizes of search intervals, which grow from the first one. An interval of the largest size takes some
 *  tenths of a second where every instruction is inspected, some seconds where few are (fast). */
enum { DBG_FIRST_WINDOW = 4096, DBG_LARGEST_WINDOW = 1 << 20, DBG_LARGEST_FAST_WINDOW = 1 << 28 };
/** Returns the number of instructions that a warp has executed; UINT64_MAX when it has ended. */
uint64_t dbg_progress(const struct dbg *dbg, dbg_thread_id id);
/** Skips history before @low in which thread @only did nothing: sets *@low to a count near its last
 *  instruction before, or to the earliest one. Leaves the machine at some later count. */
enum lw_status dbg_skip_idle(struct dbg *dbg, dbg_thread_id only, uint64_t *low,
                             struct lw_error *err) LW_MUST_CHECK;

/**
 * Searches history backwards in intervals. The search begins with the nearest interval, each interval is longer than
 * the one before, and each is replayed forward once. So a search with a near result inspects little history. Stops
 * early when @seen returns true.
 * @seen  called for every instruction before the start of the search, interval by interval;
 *        @at is the count before it. Returns true to leave the interval
 * @only  thread whose instructions matter: history in which it does nothing is skipped; 0: all
 *        threads
 */
struct dbg_search {
    struct dbg *dbg;
    bool (*seen)(struct dbg_search *search, const struct emu_event *ev, uint64_t at);
    void *context;
    dbg_thread_id only;
    /* internal: */
    uint64_t low, high; /* bounds of the current interval */
    uint64_t size;
    bool interrupted;
    bool idle; /* the lane @only did nothing in the interval */
    uint64_t looked; /* instructions inspected so far */
};
/** Adds @count processed instructions to the total *@looked of a search, which is now at @at, and prints a progress
 *  message now and then. @fast: the instructions were replayed at full speed, not inspected. */
void dbg_looked_at(struct dbg *dbg, uint64_t count, uint64_t at, bool fast, uint64_t *looked);

/**
 * Searches back for writes to watched ranges at nearly the speed of a run. The search calls @observer for the
 * instructions that may be such a write (and some others), interval by interval, the nearest first, until @observer has
 * set *@found. The count before an instruction that has retired is then dbg_history_now() - 1. @only as in struct
 * dbg_search; @look selects the instructions. On return the machine is at some count after the found one.
 */
enum lw_status dbg_search_back(struct dbg *dbg, uint64_t before, dbg_thread_id only,
                             struct emu_observer *observer, const bool *found,
                             struct dbg_watch_filter_search *look, bool *interrupted, struct lw_error *err)
    LW_MUST_CHECK;

/** Replays one interval of a search, from @low up to @high. */
enum lw_status dbg_search_between(struct dbg *dbg, uint64_t low, uint64_t high,
                                struct emu_observer *observer, struct dbg_watch_filter_search *look,
                                bool *interrupted, struct lw_error *err) LW_MUST_CHECK;

/** A hit of a stoppoint in the past. */
struct dbg_hit {
    uint64_t at; /* instruction count before it */
    dbg_thread_id id;
    uint64_t pc, lanes; /* breakpoint: pc and lanes of the split that reached it */
    bool touched;       /* true: a watchpoint or catchpoint, with the following hit */
    enum { DBG_HIT_TRUE, DBG_HIT_FALSE, DBG_HIT_ASKS /* value of its condition; DBG_HIT_ASKS: not evaluated yet */ } is;
    struct dbg_watch_hit touch;
    struct dbg_passed passed; /* result of dbg_hit_before, for struct dbg_stop */
};
/** Finds the last hit between the counts @from and @before whose condition holds; @out is at the count before
 *  its instruction. Leaves the machine at some count. The hits found are cached for the next search. */
enum lw_status dbg_hit_before(struct dbg *dbg, uint64_t before, uint64_t from, struct dbg_hit *out,
                              bool *found, bool *interrupted, struct lw_error *err) LW_MUST_CHECK;

/** An instruction that a lane has retired. */
struct dbg_trace {
    uint64_t at; /* instruction count before it */
    uint64_t pc;
    const struct isa_insn *insn;
};
/** Reverse instruction trace: what a lane has retired, from the last instruction to the first. */
struct dbg_lane_trace {
    struct dbg *dbg;
    struct dbg_lane_ref lane_ref;
    uint64_t next_pc; /* the lane's pc after the instruction that was read last */
    /* internal: */
    struct dbg_search search;
    struct dbg_trace *trace; /* the lane's instructions in the current interval, oldest first */
    size_t count, capacity;
    bool short_of_memory;
    bool skip_disabled; /* skipping waits has not paid off */
};
/** Starts a trace at the machine's current instruction count. */
void dbg_lane_trace_init(struct dbg_lane_trace *trace, struct dbg *dbg, const struct dbg_lane_ref *lane_ref);
/** Reads the previous instruction. *@found is false before the first recorded one, or after an interrupt
 *  (trace->search.interrupted). */
enum lw_status dbg_lane_trace_back(struct dbg_lane_trace *trace, struct dbg_trace *out, bool *found,
                              struct lw_error *err) LW_MUST_CHECK;
void dbg_lane_trace_fini(struct dbg_lane_trace *trace);

/* ---- long visits (dbg_reverse_skip.c) -------------------------------------------------------------- */

/** Returns true if a backward walk cannot end at @pc. The walk goes to the beginning of line @row, or (@row NULL) to a
 *  call or a return. */
bool dbg_reverse_skip_contains(const struct dbg *dbg, const struct isa_line *row, uint64_t pc);
/** Moves to the first instruction of the current visit, or not at all, at nearly the speed of a run. Called
 *  when the trace's interval is read to its end within a visit. trace->search.interrupted as above. */
enum lw_status dbg_reverse_skip(struct dbg_lane_trace *trace, const struct isa_line *row,
                             struct lw_error *err) LW_MUST_CHECK;

/** Moves to near the count at which the lane began to wait, or not at all, at nearly the speed of a run.
 *  Called when the lane did nothing in the interval read last. trace->search.interrupted as above. */
enum lw_status dbg_reverse_skip_wait(struct dbg_lane_trace *trace, struct lw_error *err) LW_MUST_CHECK;

/** Result of the search for the last write to a location. */
struct dbg_written {
    bool found, interrupted;
    uint64_t at;                 /* instruction count before the write */
    const struct isa_insn *insn;
    struct dbg_thread thread;    /* thread that wrote, with lane and pc */
    struct dbg_watch_hit touch;
    uint64_t load_address;       /* address that the instruction loaded from; load_bytes 0: it is no load */
    unsigned load_bytes;
    char text[1024];              /* message: "v7 was written by lane 3 at ..." */
    bool edited;                 /* an edit or host step has changed the location after that instruction */
    char edit[1024];              /* message: "v7 was changed by an edit at instruction 30: 1 -> 777" */
};
/** Finds the last writer of what @text names. With @size_bytes 0 that is a variable, memory or a register as
 *  `watch` accepts it, or an address of four bytes; else an address. Leaves the machine's count unchanged. */
enum lw_status dbg_last_write(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                         unsigned size_bytes, struct dbg_written *out, struct lw_error *err)
    LW_MUST_CHECK;
void dbg_written_print(struct dbg *dbg, const struct dbg_written *w, const char *indent,
                       struct lw_sink *out);
/** Prints the origin of a value: each instruction that produced or moved the value, through moves, loads and stores,
 *  back to the instruction that computed it. */
enum lw_status dbg_origin(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Returns the change of call depth by an instruction after which the lane was at @next: 1 for a call, -1 for
 *  a return, else 0. */
int dbg_trace_call(const struct dbg_trace *trace, uint64_t next);

#endif
