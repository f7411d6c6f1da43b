/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of the files of reverse execution:
 *
 *   dbg_history.c       records history, and moves machine and session to an instruction count
 *   dbg_lane_trace.c    reads the instructions that a lane has retired, from the last to the first
 *   dbg_reverse_skip.c  skips the middle of long loops in that instruction trace
 *   dbg_reverse.c       executes reverse commands: by instruction, by line, out of a call, to the last hit of a stoppoint
 *   dbg_reverse_hits.c  searches for the last hit of a stoppoint, and for earlier hits
 *   dbg_marks.c         gives names to instruction counts of history
 *   dbg_last_write.c    finds the last writer of a value
 */
#ifndef DBG_HISTORY_PRIV_H
#define DBG_HISTORY_PRIV_H

#include "debug/run/dbg_run_priv.h"

/* ---- moves to an instruction count (dbg_history.c) -------------------------------------- */

/** Called first by every function that moves back: clears @stop. Errors: LW_ESTATE with the reason why no history is
 *  recorded. */
enum lw_status dbg_history_ready(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Moves the machine to instruction count @at (UINT64_MAX: to the end of history) without a choice of focus and without a
 *  stop. Pending watchpoint hits are dropped. */
enum lw_status dbg_history_move(struct dbg *dbg, uint64_t at, struct lw_error *err) LW_MUST_CHECK;
/** Moves the machine as dbg_history_move() does, and makes a stop on lane @lane_ref. If the lane has exited, the stop is on
 *  another lane of its warp; if the warp is not resident, on the first resident warp. */
enum lw_status dbg_history_seek(struct dbg *dbg, uint64_t at, enum dbg_stop_kind kind,
                                const struct dbg_lane_ref *lane_ref, struct dbg_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Moves to instruction count @at and makes the stop DBG_STOP_HISTORY_BEGIN with @text. If @text is NULL, the text of the
 *  stop states why no earlier history is recorded. */
enum lw_status dbg_history_begins(struct dbg *dbg, uint64_t at, const struct dbg_lane_ref *lane_ref,
                                  const char *text, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the lowest instruction count to which history can move. */
uint64_t dbg_history_earliest(const struct dbg *dbg);
/** Returns the thread that executed the instruction of an event. */
dbg_thread_id dbg_event_thread(const struct emu_event *ev);
/** Returns the lane of thread @id to which a reverse command refers: its focus lane, or, if the thread is not resident, the
 *  lane that was its focus lane last. With @id 0, returns the lane that was in focus at the last stop. */
struct dbg_lane_ref dbg_history_lane(const struct dbg *dbg, dbg_thread_id id);

/* ---- marks (dbg_marks.c) ------------------------------------------------------------------ */

struct dbg_mark *dbg_mark_find(struct dbg *dbg, const char *name);
/** Sets a mark: stores the machine's instruction count and the view focus under @name. If @name is NULL, the name is
 *  generated. An earlier mark of the same name is replaced. */
enum lw_status dbg_mark_set(struct dbg *dbg, const char *name, struct dbg_mark *out,
                            struct lw_error *err) LW_MUST_CHECK;
/** Deletes the marks whose instruction count is greater than @after. */
void dbg_marks_forget(struct dbg *dbg, uint64_t after);
enum lw_status dbg_mark_goto(struct dbg *dbg, const struct dbg_mark *mark, struct dbg_stop *stop,
                             struct lw_error *err) LW_MUST_CHECK;

/* ---- reverse searches (dbg_lane_trace.c) -------------------------------------------------------- */

/** Sizes of search intervals in instructions: the size of the first interval, and the limits up to which the sizes grow. If every
 *  instruction is inspected, the limit is DBG_LARGEST_WINDOW, and such an interval takes some tenths of a second. If a static
 *  filter selects few instructions, the limit is DBG_LARGEST_FAST_WINDOW, and such an interval takes some seconds. */
enum { DBG_FIRST_WINDOW = 4096, DBG_LARGEST_WINDOW = 1 << 20, DBG_LARGEST_FAST_WINDOW = 1 << 28 };
/** Returns the number of instructions that a warp has executed: 0 before it is resident, UINT64_MAX after it has ended. */
uint64_t dbg_progress(const struct dbg *dbg, dbg_thread_id id);
/** Skips a part of history in which thread @only executed nothing. Lowers *@low to a count shortly after the thread's last
 *  instruction before *@low, or to the earliest count if there is no such instruction. Moves the machine to another
 *  count. */
enum lw_status dbg_skip_idle(struct dbg *dbg, dbg_thread_id only, uint64_t *low,
                             struct lw_error *err) LW_MUST_CHECK;

/**
 * Reverse search through intervals of history. The search begins with the interval before the current instruction count. Each
 * further interval is earlier and longer. The search replays each interval forward once. If the result is near, the search thus
 * inspects little history.
 * @seen called for every instruction of an interval, in the order of execution; @at is the instruction count before the
 *        instruction. Returns true to skip the rest of the interval
 * @only  thread whose instructions matter: the search skips history in which this thread executes nothing; 0: all threads
 *        matter
 */
struct dbg_search {
    struct dbg *dbg;
    bool (*seen)(struct dbg_search *search, const struct emu_event *ev, uint64_t at);
    void *context;
    dbg_thread_id only;
    /* Members that only the search functions set: */
    uint64_t low, high; /* the current interval is [low, high) */
    uint64_t size;      /* size of the next interval */
    bool interrupted;   /* the user has interrupted the search */
    bool idle; /* thread `only` executed nothing in the current interval */
    uint64_t looked; /* number of instructions inspected so far */
};
/** Adds @count processed instructions to the total *@looked of a reverse search, and prints a progress message from time
 *  to time. @at: instruction count that the search has reached. @fast: few of the instructions were inspected. */
void dbg_looked_at(struct dbg *dbg, uint64_t count, uint64_t at, bool fast, uint64_t *looked);

/**
 * Searches back from count @before for an instruction that @observer recognises, at nearly the speed of a run. @look
 * selects the instructions that @observer must see. @observer may see other instructions as well. The search replays
 * intervals of history, the latest first, until an interval is complete after which *@found is true. In @observer, the
 * count before an instruction that has retired is dbg_history_now() - 1. @only is the thread whose instructions matter,
 * as in struct dbg_search. Leaves the machine at another count.
 */
enum lw_status dbg_search_back(struct dbg *dbg, uint64_t before, dbg_thread_id only,
                             struct emu_observer *observer, const bool *found,
                             struct dbg_watch_filter_search *look, bool *interrupted, struct lw_error *err)
    LW_MUST_CHECK;

/** Replays the interval [@low, @high) of history for a reverse search. @observer sees the instructions that @look
 *  selects. */
enum lw_status dbg_search_between(struct dbg *dbg, uint64_t low, uint64_t high,
                                struct emu_observer *observer, struct dbg_watch_filter_search *look,
                                bool *interrupted, struct lw_error *err) LW_MUST_CHECK;

/** A hit of a stoppoint in the past. */
struct dbg_hit {
    uint64_t at; /* instruction count before the instruction that made the hit */
    dbg_thread_id id;
    uint64_t pc, lanes; /* pc of that instruction; lanes that made the hit, or for a breakpoint the lanes that are active at
                         * the pc */
    bool touched;       /* true: hit of a watchpoint or catchpoint, described by `touch`; false: of a breakpoint */
    enum { DBG_HIT_TRUE, DBG_HIT_FALSE, DBG_HIT_ASKS /* value of the condition; DBG_HIT_ASKS: not evaluated yet */ } is;
    struct dbg_watch_hit touch;
    struct dbg_passed passed; /* set by dbg_hit_before(), see dbg_stop.passed */
};
/** Finds the last hit of a stoppoint with a true condition between the counts @from and @before. Moves the machine to
 *  another count. The hits found are cached for the next search. */
enum lw_status dbg_hit_before(struct dbg *dbg, uint64_t before, uint64_t from, struct dbg_hit *out,
                              bool *found, bool *interrupted, struct lw_error *err) LW_MUST_CHECK;

/** An instruction that a lane has retired. */
struct dbg_trace {
    uint64_t at; /* instruction count before this instruction */
    uint64_t pc;
    const struct isa_insn *insn;
};
/** Instruction trace of a lane, which is read from the last retired instruction to the first. */
struct dbg_lane_trace {
    struct dbg *dbg;
    struct dbg_lane_ref lane_ref;
    uint64_t next_pc; /* the lane's pc after the instruction that was read last */
    /* Members that only the functions dbg_lane_trace_*() and dbg_reverse_skip*() set: */
    struct dbg_search search;
    struct dbg_trace *trace; /* the lane's instructions in the current interval, oldest first */
    size_t count, capacity;  /* count: number of instructions in `trace` that have not been read yet */
    bool short_of_memory;
    bool skip_disabled; /* dbg_reverse_skip_wait() does nothing, because it would be slower than the search itself */
};
/** Starts an instruction trace at the machine's current instruction count. */
void dbg_lane_trace_init(struct dbg_lane_trace *trace, struct dbg *dbg, const struct dbg_lane_ref *lane_ref);
/** Reads the previous instruction of the trace. *@found is set to false if no earlier one is recorded, or if the user has
 *  interrupted the search (trace->search.interrupted). */
enum lw_status dbg_lane_trace_back(struct dbg_lane_trace *trace, struct dbg_trace *out, bool *found,
                              struct lw_error *err) LW_MUST_CHECK;
void dbg_lane_trace_fini(struct dbg_lane_trace *trace);

/* ---- long visits (dbg_reverse_skip.c) -------------------------------------------------------------- */

/** Returns true if a reverse step cannot end at @pc. With @row, a line-table row, the step ends at the beginning of that line, so it
 *  cannot end inside the line. With @row NULL, the step ends at a call or a return. */
bool dbg_reverse_skip_contains(const struct dbg *dbg, const struct isa_line *row, uint64_t pc);
/** Skips the rest of a visit, a series of instructions of the lane at which a reverse step cannot end. The next instruction
 *  that the trace reads is then the first of the visit, or the trace does not change. Called in a visit when all
 *  instructions of the trace's interval have been read. Sets trace->search.interrupted if the user has interrupted the
 *  search. */
enum lw_status dbg_reverse_skip(struct dbg_lane_trace *trace, const struct isa_line *row,
                             struct lw_error *err) LW_MUST_CHECK;

/** Skips the time in which the lane has waited. The trace continues at an instruction count shortly after the beginning of the
 *  wait, or does not change. Called when the lane has executed nothing in the last interval. Sets
 *  trace->search.interrupted if the user has interrupted the search. */
enum lw_status dbg_reverse_skip_wait(struct dbg_lane_trace *trace, struct lw_error *err) LW_MUST_CHECK;

/** Result of the search for the last write to a location. */
struct dbg_written {
    bool found, interrupted;     /* an instruction has written the location; the user has interrupted the search */
    uint64_t at;                 /* instruction count before the instruction that wrote the location */
    const struct isa_insn *insn;
    struct dbg_thread thread;    /* thread that wrote the location, with lane and pc */
    struct dbg_watch_hit touch;  /* the write as a hit of a watchpoint */
    uint64_t load_address;       /* address from which the instruction loaded the value */
    unsigned load_bytes;         /* number of bytes that it loaded; 0: it is no load */
    char text[1024];              /* message: "v7 was written by lane 3 at ..." */
    bool edited;                 /* an edit or host step has changed the location after the last write */
    char edit[1024];              /* message: "v7 was changed by a command of the debugger, ...: 1 -> 777" */
};
/** Finds the last writer of the location that @text names. With @size_bytes 0, @text is a variable, memory or a register as
 *  `watch` accepts it, or else the address of four bytes. With another size it is the address of that many bytes. The
 *  machine is at the same instruction count afterwards. */
enum lw_status dbg_last_write(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                         unsigned size_bytes, struct dbg_written *out, struct lw_error *err)
    LW_MUST_CHECK;
void dbg_written_print(struct dbg *dbg, const struct dbg_written *w, const char *indent,
                       struct lw_sink *out);
/** Prints the origin of a value: the moves, loads and stores by which the value reached the location that @text names, from
 *  the last one back to the instruction that computed the value. */
enum lw_status dbg_origin(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Returns the change of call depth by an instruction: 1 for a call, -1 for a return, else 0. @next is the pc of the lane
 *  after the instruction; 0: the pc is not known, and the instruction counts as neither call nor return. */
int dbg_trace_call(const struct dbg_trace *trace, uint64_t next);

#endif
