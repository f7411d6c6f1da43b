/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of debug/: the state of a debugging session (struct dbg), and the functions of one folder of
 * debug/ that another folder calls. The first table of the section "Folders" in CONTRIBUTING.md states the purpose of
 * each folder. Functions that only one folder uses are in that folder's own header, such as expr/dbg_expr_priv.h.
 */
#ifndef DEBUG_PRIV_H
#define DEBUG_PRIV_H

#include "debug/debug.h"

/** Core and slot of a resident warp; valid only until the machine runs again. */
struct dbg_warp {
    struct emu_core *core;
    const struct emu_grid *grid;
    uint64_t block;
    unsigned slot, warp;
};
/** Expands a pointer to a warp (struct dbg_warp, struct emu_event) to the arguments core, slot and warp, which are the
 *  first three of many functions of emu/. */
#define DBG_AT(warp_at) (warp_at)->core, (warp_at)->slot, (warp_at)->warp

/** Focus lane that was chosen for a thread. A thread without a choice has its lowest live lane as focus lane. */
struct dbg_focus_lane {
    dbg_thread_id id;
    unsigned lane;
};

/** Reported lanes: lanes of a warp that are at @pc and that a stop has shown there. */
struct dbg_reported_lanes {
    dbg_thread_id id;
    uint64_t pc, lanes;
};

/** The reported lanes that belong to an instruction count which the session has left by moving in history. */
struct dbg_reported_lanes_saved {
    uint64_t at; /* the instruction count to which the lanes belong */
    struct dbg_reported_lanes *reported;
    size_t count, capacity;
};
enum { DBG_REPORTED_LANES_SAVED = 16 };

/** Owner of a watched location: all threads, one block, one warp or one lane. */
enum dbg_scope { DBG_SCOPE_ALL, DBG_SCOPE_BLOCK, DBG_SCOPE_WARP, DBG_SCOPE_LANE };

enum { DBG_WATCH_MAX = 64, DBG_WATCH_VARIABLES = 4 };
/** Location that a watchpoint watches: memory or registers, with their owner. */
struct dbg_watched {
    enum dbg_scope scope;
    dbg_thread_id id;    /* scopes WARP and LANE: the owning warp; scope BLOCK: the first warp of the owning block */
    uint64_t warps;      /* number of warps in the owning block; 1 for the scopes WARP and LANE */
    unsigned lane;       /* scope LANE: the owning lane */
    unsigned bytes;      /* number of watched bytes */
    bool memory;         /* true: memory is watched; false: registers */
    uint64_t low;        /* memory: the first generic address; registers: the offset in their debug address range */
    uint8_t window;      /* registers: top byte of their debug address range, 0xF0 to 0xF3 */
    bool bit;            /* true: one lane's bit of a predicate is watched, and shown as one byte */
    uint8_t last[DBG_WATCH_MAX]; /* registers: the watched bytes after the last instruction */
    bool typed;          /* true: the bytes are a number of type `type` */
    enum dbg_type type;
    struct dbg_operand *operand; /* the variable, or part of a variable, that the watched bytes contain, with its type in the
                                  * source; owned; NULL if the bytes are not a variable */
    bool end_reported;           /* a message has reported the end of the owner */
    /* A watchpoint on variables in a register ignores the values of the register that belong to none of these variables. */
    const struct emu_program *program; /* program of the variables; NULL: the memory or register itself is watched */
    uint32_t variables[DBG_WATCH_VARIABLES]; /* debug entries of the variables that the register contained when the watchpoint
                                              * was set */
    unsigned variable_count;
    bool shown_known;             /* `shown` is set */
    uint8_t shown[DBG_WATCH_MAX]; /* last value of the variables */
};

struct dbg_stoppoint_record {
    struct dbg_stoppoint pub;
    struct dbg_watched *watched; /* what a watchpoint watches, owned; NULL: the stoppoint is no watchpoint */
    char *text;                  /* what the user watches, as typed, owned; pub.text points to it */
    char *condition; /* condition of the stoppoint, owned; pub.condition points to it */
    dbg_condition_fn fn; /* condition function of the stoppoint, or NULL if there is none */
    void *fn_context;
    void (*release)(void *context); /* frees fn_context with the stoppoint; may be NULL */
};

/** Hit of a watchpoint or catchpoint by one instruction of a thread. */
struct dbg_watch_hit {
    unsigned point;         /* id of the watchpoint or catchpoint */
    dbg_thread_id thread;   /* thread that executed the instruction */
    uint64_t lanes;         /* lanes that made the access or event, and for which the condition is true */
    uint64_t pc;            /* pc of the instruction */
    unsigned access;        /* watchpoints: kind of the access, bits of enum dbg_access */
    unsigned catches;       /* catchpoints: events that happened, bits of enum dbg_catch */
    bool asks;              /* reverse search: the condition has not been evaluated yet. gdb's condition functions must be
                             * called when the machine is before the instruction */
    unsigned bytes;         /* number of bytes in old_bytes and new_bytes: the watched bytes before and after */
    uint8_t old_bytes[DBG_WATCH_MAX], new_bytes[DBG_WATCH_MAX];
};

/** A named time in history, to which `goto` moves, and the focus at that time. */
struct dbg_mark {
    char name[32];
    uint64_t at; /* instruction count */
    dbg_thread_id id;
    unsigned lane;
};

struct dbg_source_file;
struct dbg_watch;
struct dbg_hits;
struct dbg_findings;
struct dbg_display;

struct dbg {
    struct dbg_config config;
    struct lw_sink print;      /* printf sink of the machine during this session: forwards to config.messages */
    struct lw_sink *printed_to; /* printf sink of the machine before this session, restored at its end */
    struct emu_machine *machine;
    struct emu_engine *engine;
    bool ended, colour;
    dbg_thread_id focus[2];   /* indexed by enum dbg_focus */
    struct dbg_thread seen; /* state of the run focus at the last stop */
    struct dbg_stop stop;   /* the last stop */

    struct dbg_focus_lane *pins; /* chosen focus lanes, sorted by thread id */
    size_t pin_count, pin_capacity;
    struct dbg_reported_lanes *reported;
    size_t reported_count, reported_capacity;
    uint64_t reported_at; /* instruction count at which the elements of `reported` were recorded; UINT64_MAX: the machine has
                           * run since then */
    struct dbg_reported_lanes_saved reported_saved[DBG_REPORTED_LANES_SAVED]; /* ring buffer */
    unsigned reported_next; /* number of elements of the ring buffer written so far */
    struct dbg_stoppoint_record *points;
    size_t point_count, point_capacity;
    unsigned last_point;           /* id of the stoppoint added last */
    struct dbg_tally {
        uint64_t pc, hits, tested; /* as in struct dbg_stoppoint */
    } *tallies;                    /* counts of breakpoints that gdb has removed: it removes them at each stop, and inserts them
                                    * again */
    size_t tally_count, tally_capacity;
    struct dbg_findings *findings; /* findings of checkers; NULL until the first finding */
    struct dbg_watch *watch; /* tables of watchpoints and catchpoints; NULL until the first of them is added */
    bool hits_valid;         /* true: `hits` can be used; false: stoppoints or history have changed since */
    struct dbg_hits *hits;   /* hits in the interval of history that was searched last (dbg_reverse_hits.c); may be
                              * NULL */
    struct emu_spin_observer *spin; /* spin detector for a stepped lane, or NULL if it is not in use */
    bool looking; /* an observer evaluates conditions inside the engine's step: while true, a warp without live lanes can still
                   * be located, because its last instruction may have made the hit */

    struct dbg_reg *regs; /* register table, built once */
    size_t reg_count, reg_capacity;

    /** The frame that the user has selected for a lane. The selection ends when the lane is at another pc or has retired
     *  an instruction. Index 0: no frame is selected. */
    struct {
        dbg_thread_id id;
        unsigned lane, index;
        uint64_t pc, retired;
    } frame;

    struct dbg_display *displays;
    size_t display_count, display_capacity;
    unsigned last_display;

    struct dbg_source_file *sources;
    uint64_t list_next, list_first; /* the line at which the next `list` starts, and the line before which the next
                                     * `list -` ends */
    char *list_file;    /* source file of these two lines (owned); NULL: the next `list` starts at the focus */
    uint64_t listed_pc; /* pc of the focus at the last `list`; at another pc the next `list` starts at the focus */

    struct emu_history *history; /* recorder of history, or NULL if no history is recorded */
    bool (*save_host)(void *context, void **data, size_t *size);
    void (*load_host)(void *context, const void *data, size_t size);
    void *host_context;
    bool looks_back; /* a reverse search replays history */
    bool pc_changed; /* the user has edited a pc at some time in this session */
    struct dbg_mark *marks;
    size_t mark_count, mark_capacity;
    unsigned last_mark;
};

/* ---- session ---------------------------------------------------------------- */

/** Prints a message for the user and a newline to the sink dbg_config.messages. */
void dbg_message(const struct dbg *dbg, const char *fmt, ...) LW_PRINTF(2, 3);
/** Finds core and slot of a resident thread. The engine materialises the state of the thread's block. Returns false if the
 *  thread is not resident. */
bool dbg_warp_locate(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *out);
/** Finds core and slot of a resident thread, and the split of lane @lane. Returns false if the thread is not resident or
 *  the lane has exited. */
bool dbg_lane_locate(const struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_warp *warp,
                     struct emu_split_view *split);
/** Finds core and slot of a resident thread, and gets its state. Returns false if the thread is not resident. */
bool dbg_warp_view(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *warp,
                   struct emu_warp_view *view);
/** Returns the queued launch with sequence number @sequence, or NULL if there is none. */
const struct emu_grid *dbg_grid_numbered(const struct dbg *dbg, uint64_t sequence);
/** Computes the thread id of a warp of a grid. */
dbg_thread_id dbg_grid_thread(const struct emu_grid *grid, uint64_t block, unsigned warp);
/** Formats the name of a thread, resident or not: "block(3,0,0) w0". If no queued launch has the thread, formats "warp 7"
 *  with its id. */
void dbg_id_name(const struct dbg *dbg, dbg_thread_id id, char *text, size_t size);
/** Returns true if a thread that is not resident has ended, and false if its block or launch has not begun. */
bool dbg_thread_over(const struct dbg *dbg, dbg_thread_id id);
/** Returns the thread id of a warp by grid, block and warp. */
dbg_thread_id dbg_thread_id_of(const struct dbg *dbg, uint32_t grid, uint64_t block, unsigned warp);
void dbg_block_index(const struct emu_grid *grid, uint64_t block, uint32_t index[3]);
/** Sets the focus lane of a warp. The caller has checked that the lane is live. */
void dbg_lane_pin(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** Returns the chosen focus lane of a warp, or NULL if none was chosen. Borrowed until the next focus lane is set. */
const struct dbg_focus_lane *dbg_pin_find(const struct dbg *dbg, dbg_thread_id id);
/** Moves both foci to lane @lane of thread @id. */
void dbg_focus_move(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** Gets the thread of the view focus, to which commands refer. Errors: LW_ESTATE if this thread is not resident. */
enum lw_status dbg_view(const struct dbg *dbg, struct dbg_thread *out, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the generic address of a memory fault. For local and shared memory, @fault itself contains only an offset. */
uint64_t dbg_fault_address(const struct emu_fault *fault);
/** Returns LW_ESTATE with a message that thread @id is not resident. */
enum lw_status dbg_exited(const struct dbg *dbg, dbg_thread_id id, struct lw_error *err);
/** Returns the program in which names are resolved: the program of the current grid or, if there is no grid, the first loaded
 *  program. */
const struct emu_program *dbg_program(const struct dbg *dbg);

/* ---- stoppoints ------------------------------------------------------------------ */

/** Returns true if gdb owns stoppoint @id, and false if it does not exist or a command of the debugger has added it. */
bool dbg_stoppoint_is_gdb(const struct dbg *dbg, unsigned id);
/** Returns true if an enabled breakpoint is at @pc. */
bool dbg_breakpoint_inserted(const struct dbg *dbg, uint64_t pc);
/**
 * Finds the enabled breakpoints at @pc that lanes of the mask @active hit. Reported lanes do not hit them. Counts the hits
 * and removes temporary breakpoints.
 * @lanes  set to the lanes that hit any of the breakpoints
 * @text   if several breakpoints of the shell were hit, set to a text that lists each with its lanes; else unchanged
 * Returns the id of the first breakpoint that was hit, or 0.
 */
unsigned dbg_breakpoint_hit(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                       uint64_t *lanes, char *text, size_t capacity);
/** Finds the enabled breakpoints at @pc that lanes of the mask @active hit, as dbg_breakpoint_hit() does, but includes reported
 *  lanes. Counts no hits, and disregards the ignore counts of breakpoints. */
unsigned dbg_breakpoint_peek(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                        uint64_t *lanes);
/** Records @lanes of a thread as reported lanes at @pc: a breakpoint there does not stop for these lanes again before they
 *  move. dbg_stop_at() calls this function at every stop for the focus lane's split, unless the split is blocked. */
void dbg_reported_lanes_add(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes);
/** Removes @lanes of a thread from the reported lanes, because they have moved. */
void dbg_reported_lanes_moved(struct dbg *dbg, dbg_thread_id id, uint64_t lanes);
/** Sets the pc of a lane, alone or with its split (emu_pc_write). Prints a message if other lanes keep their pc. */
enum lw_status dbg_pc_set(struct dbg *dbg, dbg_thread_id id, unsigned lane, bool alone, uint64_t pc,
                          struct lw_error *err) LW_MUST_CHECK;
/** Removes reported lanes that are not at an inserted breakpoint. Called before all warps run: where no breakpoint is inserted,
 *  a lane can leave its pc and return without a stop. After its return the lane must count as not reported. */
void dbg_reported_lanes_prune(struct dbg *dbg);

/** Called after history has moved the machine to instruction count @at: saves the reported lanes of the previous count, and
 *  restores those that were saved for count @at. */
void dbg_reported_lanes_all_moved(struct dbg *dbg, uint64_t at);
/** Drops the saved reported lanes. Called before the machine runs, because lanes may then arrive at other instruction
 *  counts than those of the saved lanes. */
void dbg_reported_lanes_forget(struct dbg *dbg);
void dbg_reported_lanes_free(struct dbg *dbg);

/** Counts a hit. Returns false if the stoppoint ignores it. */
bool dbg_stoppoint_count_hit(struct dbg_stoppoint_record *point);
/** Frees the memory that a stoppoint owns. */
void dbg_stoppoint_free(struct dbg_stoppoint_record *point);
struct dbg_stoppoint_record *dbg_stoppoint_find(const struct dbg *dbg, unsigned id);
/** Checks the syntax of a condition and copies it for a stoppoint. Sets *@copy to NULL if there is no condition. For a
 *  breakpoint, @pc is its address, and the condition may use the names that are in scope there. For other stoppoints @pc is
 *  0. */
enum lw_status dbg_stoppoint_copy_condition(struct dbg *dbg, const char *condition, uint64_t pc, char **copy,
                                        struct lw_error *err) LW_MUST_CHECK;
/** Adds a copy of @point to the stoppoints and gives it the next id. The memory that @point owns then belongs to the
 *  session; in case of an error it is freed. */
enum lw_status dbg_stoppoint_insert(struct dbg *dbg, struct dbg_stoppoint_record *point, unsigned *id,
                                struct lw_error *err) LW_MUST_CHECK;
/** Returns the lanes of the mask @lanes for which the condition of the stoppoint dbg->points[@index] is true. If a
 *  breakpoint has a condition, the result excludes lanes for which the guard of its instruction is false. If the condition
 *  cannot be evaluated for a lane, prints the error and includes the lane, because an unwanted stop is better than a missed
 *  stop. */
uint64_t dbg_stoppoint_lanes(struct dbg *dbg, size_t index, dbg_thread_id id, uint64_t lanes);
/** Prints a note for each source line at which the conditions of breakpoints were evaluated and were never true. */
void dbg_note_untrue(const struct dbg *dbg);

/* ---- watchpoints and catchpoints ------------------------------------------------ */

/**
 * Saves the current values of the watched registers, with which dbg_watch_was_hit() compares the values after the next
 * instruction. Called after each change of the machine that is not an observed instruction, such as an edit or a move in
 * history.
 */
void dbg_watch_hit_begin(struct dbg *dbg);
/**
 * Finds the enabled watchpoints and catchpoints that an instruction hit and whose condition is true. An observer calls this
 * function immediately after each instruction since dbg_watch_hit_begin(). Hit counts and counts of `ignore` do not
 * change.
 * @touches  set to the hits, by ascending id of the stoppoint; borrowed until the next call
 * Returns the number of hits.
 */
size_t dbg_watch_was_hit(struct dbg *dbg, const struct emu_event *ev, const struct dbg_watch_hit **touches);
/** Reads the current bytes of a watched location, at most DBG_WATCH_MAX. Returns false if the owner is not
 *  resident. */
bool dbg_watched_read(struct dbg *dbg, const struct dbg_watched *watched, uint8_t *out);
/** Returns true if a watched register contains one of the watchpoint's variables before instruction @insn of the program. If
 *  @begins is set, returns true only if a location of the variable begins at the instruction. */
bool dbg_watched_has_variable(const struct dbg_watched *watched, uint32_t insn, bool begins);
/** Prints @bytes, old or new bytes of a watched location, by the location's type. */
void dbg_watched_print(struct dbg *dbg, const struct dbg_watched *watched, const uint8_t *bytes,
                       struct lw_sink *out);
/** Sets kind, text and the members of @stop that describe the hit @touch of a watchpoint or catchpoint. The focus members
 *  of @stop do not change. */
void dbg_watch_hit_stop(struct dbg *dbg, const struct dbg_watch_hit *touch, struct dbg_stop *stop);
/** Names of the events of enum dbg_catch, in the order of its bits ("diverge", ...), terminated by NULL. */
extern const char *const dbg_catch_names[];
/** Adds a watchpoint on what the expression @text names in a lane: a variable or a part of one, memory, or a register.
 *  Errors: as dbg_watch_add(); LW_EUSAGE for an expression whose value is not stored. */
enum lw_status dbg_watch_expression(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    const char *text, unsigned access, const char *condition,
                                    unsigned *point, struct lw_error *err) LW_MUST_CHECK;
/** Prints warp and lane that own a watched location: " w0 lane 5". Prints nothing if a whole block or all threads do. */
void dbg_watch_owner_print(const struct dbg *dbg, unsigned id, struct lw_sink *out);
/** Creates the tables of watchpoints if needed. Returns false if the host has no memory. */
bool dbg_watch_ready(struct dbg *dbg);
/** Marks the tables of watchpoints as outdated. Called after stoppoints were added, removed, enabled or disabled. */
void dbg_watch_changed(struct dbg *dbg);
void dbg_watch_free(struct dbg *dbg);
/** Called before a gdb watchpoint is removed: stores the owner of the watchpoint in a struct dbg_ghost, because gdb will insert
 *  the watchpoint again. */
void dbg_watch_removed(struct dbg *dbg, const struct dbg_stoppoint_record *point);
/** Returns true if the run must stop for a hit of a watchpoint or catchpoint, or for a checker's finding, and has not
 *  stopped yet. */
bool dbg_watch_pending(const struct dbg *dbg);
/** Drops the hits of the last instruction. Called after history has moved the machine back to before that instruction. */
void dbg_watch_forget(struct dbg *dbg);
/** Prepares a run: drops pending hits and calls dbg_watch_hit_begin(). If hits of further gdb watchpoints at the last stop
 *  have not been reported yet, one of these hits becomes the pending hit. */
void dbg_watch_begin(struct dbg *dbg);
/** Deletes the watchpoints whose owning lane, warp or block has ended, with a message. Called after each stop. If history
 *  is recorded, the message is printed but the watchpoints remain for reverse execution. */
void dbg_watch_remove_ended(struct dbg *dbg);

/** Makes the cached hits of the last reverse search invalid, because stoppoints or history have changed. */
void dbg_hits_forget(struct dbg *dbg);
void dbg_hits_free(struct dbg *dbg);

/* ---- findings of a checker (dbg_finding_stop.c) ------------------------------------------- */

/** Returns true if the run must stop for a finding, and has not stopped yet. The finding is either new, or it was recorded
 *  earlier and a replay has reached it. */
bool dbg_finding_pending(const struct dbg *dbg);
/** Makes the stop for a pending finding. If history contains the finding's instruction, dbg_finding_finish_stop()
 *  completes the stop. */
enum lw_status dbg_stop_on_finding(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called after each run: if the run stopped for a finding, moves the machine back to before the finding's instruction and
 *  completes the stop there. */
enum lw_status dbg_finding_finish_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called before each run: if the run replays history, it will stop at the next recorded finding. */
void dbg_finding_begin(struct dbg *dbg);
/** Called after each run: removes the instruction count at which dbg_finding_begin() made the run stop. */
void dbg_finding_end(struct dbg *dbg);
/** Gets the instruction count before the most recent instruction in the past that caused a finding. Findings for which
 *  the user has disabled stops do not count. Returns false if there is none. */
bool dbg_finding_go_back(struct dbg *dbg, uint64_t *at);
/** Moves to instruction count @at, which is from dbg_finding_go_back(), and makes the stop for the finding there. */
enum lw_status dbg_finding_seek(struct dbg *dbg, uint64_t at, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called when an edit has changed history from instruction count @from on: removes the recorded findings after @from. */
void dbg_finding_changed(struct dbg *dbg, uint64_t from);
/** Prints the pending findings as a message. Called when the stop is made for another reason. */
void dbg_finding_print(struct dbg *dbg);
void dbg_finding_free(struct dbg *dbg);

/* ---- running --------------------------------------------------------------------- */

/** Runs until the focus lane of @id returns from its frame. */
enum lw_status dbg_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
/** Executes one instruction of the focus lane of @id. A call is executed up to the return from the called function. */
enum lw_status dbg_next_insn(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err) LW_MUST_CHECK;
/** Runs all warps until the focus lane of @id is at @pc, or until another stop. */
enum lw_status dbg_advance(struct dbg *dbg, dbg_thread_id id, uint64_t pc,
                           struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/* ---- reverse execution ---------------------------------------------------------------- */

/** Starts recording history with the functions dbg->save_host and dbg->load_host. */
enum lw_status dbg_history_attach(struct dbg *dbg, uint64_t budget_bytes, struct lw_error *err)
    LW_MUST_CHECK;
/** Stops recording history and drops the recorded history. */
void dbg_history_end(struct dbg *dbg);
/** Makes @count reverse steps, as dbg_reverse_step() does. With @over, a call with all instructions of the called function
 *  counts as one step. */
enum lw_status dbg_reverse_steps(struct dbg *dbg, dbg_thread_id id, uint64_t count, bool over,
                                 struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** Three functions that call @fn for each name of the kinds DBG_NAMES_COORDINATES, DBG_NAMES_CUDA and DBG_NAMES_BUILT_IN. */
void dbg_coordinates_words_each(dbg_name_fn fn, void *context);
void dbg_cuda_names_each(dbg_name_fn fn, void *context);
void dbg_built_in_each(dbg_name_fn fn, void *context);

/* ---- values ------------------------------------------------------------------------ */

/** Checks syntax and names of an expression without evaluating it. @place is the pc at which its names must be in scope;
 *  0: names of any scope are accepted. */
enum lw_status dbg_expr_check(struct dbg *dbg, const char *text, uint64_t place,
                              struct lw_error *err)
    LW_MUST_CHECK;
/** Prints "NAME = VALUE" if @text is a variable of the source or a part of one, with the value formatted by its type. With
 *  @cell, prints only a short form of the value, for a table of lanes. Returns false if @text is no variable or cannot be
 *  read; dbg_eval() then returns the reason. */
bool dbg_print_source(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                      char format, bool cell, struct lw_sink *out);
/** Prints an address and the string at that address. */
void dbg_print_text(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                    struct lw_sink *out);
/** Prints "type = ..." for an expression or the name of a type. With @whole, typedefs are expanded and members are printed. */
enum lw_status dbg_print_type(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                              bool whole, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the debug information entry of the innermost source scope that contains instruction @insn of @program; UINT32_MAX:
 *  none. */
uint32_t dbg_scope_at(const struct emu_program *program, uint32_t insn);
/** Prints all variables in scope at the lane's pc, or in its selected frame, one on each line. */
enum lw_status dbg_locals_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Prints the parameters of the selected frame, one on each line. */
enum lw_status dbg_parameters_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Iterator over the convergence groups of a warp, which are sets of lanes in its barrier registers. The first two members are
 *  zero before the first call of dbg_convergence_next(). */
struct dbg_convergence {
    unsigned reg;             /* barrier register of the current convergence group */
    uint64_t seen;            /* lanes of those convergence groups of `reg` that have been visited, including the current one */
    uint64_t number, lanes, waiting; /* of the current convergence group: its number; its lanes; its lanes that wait */
};
/** Advances to the next convergence group, by ascending register and then by ascending lowest lane. Returns false after the last
 *  one. */
bool dbg_convergence_next(const struct dbg_warp *warp, const struct emu_warp_view *view,
                          const struct emu_split_view *splits, unsigned count,
                          struct dbg_convergence *it);
/** Reads or writes memory as dbg_mem_read() and dbg_mem_write() do, but for lane @lane instead of the focus lane. */
uint64_t dbg_mem_access(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                        void *data, uint64_t size_bytes, bool write);
/** Reads the debug address range of a lane's stack, at address 0xF4<<56 | warp slot<<40 | lane<<32 | offset. The range
 *  shows the return address of each frame in the 8 bytes before the frame's CFA, and zeros elsewhere. The return address
 *  of a kernel is DBG_LAUNCH_PC. With @frames, reads the range 0xFA, which shows the frames' CFAs in local memory at the
 *  same offsets. */
void dbg_stack_read(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t offset,
                    bool frames, uint8_t *data, uint64_t size);
/** Builds the register table. Errors: LW_ENOMEM. */
enum lw_status dbg_regs_build(struct dbg *dbg, struct lw_error *err) LW_MUST_CHECK;
/** Returns the grid of a thread, or the current grid if no queued grid has the thread. Returns NULL if no grid is queued. */
const struct emu_grid *dbg_thread_grid(const struct dbg *dbg, dbg_thread_id id);
/** Returns the number that identifies a warp in debug addresses. */
unsigned dbg_warp_slot(const struct dbg *dbg, const struct dbg_warp *warp);
/** Finds the resident warp with a number of dbg_warp_slot(). Returns false if there is none. */
bool dbg_warp_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *out);
/** Returns the debug address at which a lane's value of a variable can be read. @location is the index of the variable's
 *  location in the debug information of the object that the lane runs (dbg_value_window.c). Returns 0 if the location
 *  has no debug address. */
uint64_t dbg_value_address(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint32_t location);
/** A lane and the number of its frame from which variables are read; 0 is the innermost frame. */
struct dbg_value_lane {
    struct dbg *dbg;
    dbg_thread_id id;
    unsigned lane, frame;
};
/** Returns the functions that read variables of @lane, which is borrowed. */
struct isa_expression_reader dbg_value_reader(struct dbg_value_lane *lane);
/** Finds the piece of a variable and the lane that an address of dbg_value_address() refers to. Returns false if the address
 *  refers to no variable. */
bool dbg_value_piece(struct dbg *dbg, uint64_t address, struct isa_piece *piece, dbg_thread_id *id, unsigned *lane);
/** Returns whether an address of the range is in a piece of a variable that the compiler has optimised out. */
bool dbg_value_is_missing(struct dbg *dbg, uint64_t address);
/** Reads or writes at an address of dbg_value_address(). Returns the number of bytes copied. */
uint64_t dbg_value_access(struct dbg *dbg, uint64_t address, uint8_t *data, uint64_t size, bool write);
/** Returns the number of the scalar register that debug address range 0xF8 shows at @offset from a lane's first address.
 *  Returns a number past all registers if no scalar register is shown there. */
unsigned dbg_window_scalar(uint32_t offset);
/** Returns the number that identifies a warp's block in debug addresses. */
unsigned dbg_block_slot(const struct dbg *dbg, const struct dbg_warp *warp);
/** Sets *@warp to the first warp of the block with a number of dbg_block_slot(). Returns false if there is no such
 *  block. */
bool dbg_block_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *warp);

/* ---- frames (dbg_frames.c) ------------------------------------------------------------- */

/** A call that the compiler has inlined at a pc. */
struct dbg_inlined {
    const char *name;       /* name of the inlined function, or NULL if it is not known */
    unsigned file, line;    /* position of the call; file is an index into the object's files */
    int64_t die;
};
/** Gets the inlined calls whose code contains @pc, innermost first. Returns their number. */
unsigned dbg_inlined_at(const struct dbg *dbg, uint64_t pc, struct dbg_inlined *out,
                        unsigned capacity);
/** Finds the inlined calls of the function @name, and appends the first address of each to @pcs. @pcs contains @count
 *  addresses and has capacity for @capacity. Returns the new count. */
unsigned dbg_inlined_calls(const struct dbg *dbg, const char *name, uint64_t *pcs, unsigned count,
                           unsigned capacity);
/** Gets the result type of the function that contains @pc from the debug information. Returns false if the function has no
 *  result or its type is not known. */
bool dbg_result_type(const struct dbg *dbg, uint64_t pc, const struct isa_debug **debug,
                     int64_t *type);

/** A frame of a backtrace. An inlined call has a frame of its own in the backtrace. */
struct dbg_frame_location {
    uint64_t pc;            /* pc of the frame; for a caller, pc of the call instruction */
    unsigned frame;         /* dbg_frame_at() index of the real frame that contains this frame */
    char name[256];         /* name of the frame's function, or "" if it is not known */
    const char *file;       /* source file of the frame, or NULL if no line is known */
    unsigned line;
    bool inlined;           /* the frame is an inlined call */
    int64_t call;           /* debug information entry of that inlined call; -1: the frame is not inlined */
    int64_t inner;          /* debug information entry of the inlined call that is the next inner frame, if that frame is
                             * inlined in this one; else -1 */
};
/** Gets frame @index of a lane's backtrace. Returns false if @index is past the last frame. */
bool dbg_frame_location_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame_location *out);
/** Prints the parameters of a frame's function as "  n = 3, p = {...}". Prints nothing if no parameters are known. */
void dbg_arguments_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_frame_location *location, struct lw_sink *out);
/** Returns the number of the frame that `up`, `down` or `frame` has selected for the lane, or 0 if none is selected. The
 *  selection ends when the lane moves or a frame of another lane is selected. */
unsigned dbg_frame_number(const struct dbg *dbg, dbg_thread_id id, unsigned lane);
unsigned dbg_frame_count(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** Gets the number of the frame to which the variables of an expression refer in @lane. If a frame is selected for the
 *  focus lane, this is the frame of @lane at the same distance from the kernel's frame as the selected frame. Returns false if
 *  @lane has no frame at this distance. */
bool dbg_frame_shown(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned *index);
void dbg_frame_choose(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index);

/* ---- source -------------------------------------------------------------------------- */

void dbg_sources_free(struct dbg *dbg);
/** Gets the line-table row that covers @pc; *@start is true if the line-table row begins at @pc. Returns false if none covers
 *  @pc. */
bool dbg_row_at(const struct dbg *dbg, uint64_t pc, const struct isa_line **row, bool *start);
const struct isa_function *dbg_function_at(const struct dbg *dbg, uint64_t pc);
/** Returns the guest address of a function's first instruction. */
uint64_t dbg_function_pc(const struct dbg *dbg, const struct isa_function *function);
/** Formats the name of a function in the source: "util::twice(float)" in C++, else the symbol. */
void dbg_function_source_name(const struct dbg *dbg, const struct isa_function *function,
                              char *text, size_t size);
/** Formats the name of a function in the source without parameter types: "util::twice". */
void dbg_function_short_name(const struct dbg *dbg, const struct isa_function *function,
                             char *text, size_t size);
/** Returns true if @name denotes the function. @name may be the full name, or the name without namespaces, parameter types or
 *  template arguments. */
bool dbg_function_is_called(const struct dbg *dbg, const struct isa_function *function,
                            const char *name);
/** Returns the pc of the first instruction after a function's prologue, where a breakpoint on the function is inserted. */
uint64_t dbg_function_body(const struct dbg *dbg, const struct isa_function *function);

/* ---- display ----------------------------------------------------------------------- */

void dbg_displays_free(struct dbg *dbg);
/** Prints the expressions of the command `display` with their values in the view focus, one on each line. */
void dbg_displays_show(struct dbg *dbg, struct lw_sink *out);

/* ---- tables ---------------------------------------------------------------------------- */

/** Prints a lane mask as "0x000000ff", with as many digits as the warp width needs. */
void dbg_show_mask(const struct dbg *dbg, uint64_t lanes, struct lw_sink *out);
/** Prints the line for stoppoint @id in the list of stoppoints. */
void dbg_stoppoint_print(struct dbg *dbg, unsigned id, struct lw_sink *out);
enum lw_status dbg_show_warps(struct dbg *dbg, bool all, struct lw_sink *out,
                              struct lw_error *err);
enum lw_status dbg_show_lanes(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                              struct lw_error *err);
enum lw_status dbg_show_tags(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                             struct lw_error *err);
enum lw_status dbg_show_splits(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                               struct lw_error *err);
enum lw_status dbg_show_barriers(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                                 struct lw_error *err);
void dbg_show_allocations(struct dbg *dbg, struct lw_sink *out);
enum lw_status dbg_show_registers(struct dbg *dbg, dbg_thread_id id, int argc, char **argv,
                                  struct lw_sink *out, struct lw_error *err);
void dbg_show_launches(struct dbg *dbg, struct lw_sink *out);
void dbg_show_status(struct dbg *dbg, struct lw_sink *out);
/** Prints counts of the whole run, one on each line. Counts that are zero are not printed. */
void dbg_show_stats(struct dbg *dbg, struct lw_sink *out);
/* ---- scopes (dbg_scopes.c) ----------------------------------------------------------- */

/** Instruction and frame of a lane, which determine the variables in scope. */
struct dbg_where {
    const struct emu_program *program;
    const struct isa_object *object;
    uint32_t insn;  /* index of the instruction in the program */
    unsigned frame; /* index of the frame whose variables are in scope; 0 is the innermost */
    int64_t inner;  /* debug information entry of an inlined call in that frame; its variables are not in scope. ISA_NO_DIE: no
                     * such call */
};
bool dbg_where_is(const struct dbg *dbg, uint64_t pc, struct dbg_where *out);
/** Finds the source scopes that contain the instruction, outermost first. Returns their number. */
unsigned dbg_find_scopes(const struct dbg_where *at, uint32_t *scopes, unsigned capacity);
/* ---- stops and the focus (dbg_stop_focus.c) ---------------------------------------------- */

/** Moves both foci to @lane of a thread, and fills @stop with kind, thread, lane and pc. */
void dbg_stop_on(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                 dbg_thread_id id, unsigned lane);
/** Fills a stop that keeps the focus. Only if the focus lane or its warp has ended, the focus moves to another lane or
 *  warp, with a message. If all launches have ended, makes the stop DBG_STOP_ENDED. */
enum lw_status dbg_finish_stop(struct dbg *dbg, enum dbg_stop_kind kind, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
void dbg_stop_at(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind, const struct dbg_thread *thread);
void dbg_stop_ended(struct dbg *dbg, struct dbg_stop *stop);
/** Executes host steps up to the next launch. *@more is set to false if no launch follows. */
enum lw_status dbg_next_launch(struct dbg *dbg, bool *more, struct lw_error *err) LW_MUST_CHECK;
/* ---- types of the source (dbg_types.c) ------------------------------------------------- */

bool dbg_tag_is_structure(unsigned tag);
/** Prints the name of a type as in a declaration, "const float *". The first @skip dimensions of an array are omitted. */
void dbg_type_print(const struct isa_debug *debug, int64_t type, unsigned skip,
                    struct lw_sink *out);
/** Prints a type with typedefs expanded, and structures and enumerations with their members. */
void dbg_type_print_whole(const struct isa_debug *debug, int64_t type, unsigned skip,
                          struct lw_sink *out);
/** Gets the debugger's type of a base, enumeration or pointer type. Returns false for an aggregate. */
bool dbg_type_scalar(const struct isa_debug *debug, int64_t type, enum dbg_type *out,
                     unsigned *bytes);
/** Returns "struct", "class", "union", "enum" or "". */
const char *dbg_type_keyword(unsigned tag);
/** Prints a C declaration with this type. @inner is the declarator around which the type is printed: "*", "(*)[4]", "". */
void dbg_type_declare(const struct isa_debug *debug, int64_t type, unsigned skip, const char *inner, unsigned depth,
                      struct lw_sink *out);
/** Returns the machine's current instruction count. */
uint64_t dbg_history_now(const struct dbg *dbg);
/** Removes the template arguments from a function's name. */
void dbg_name_cut_template(char *name);
/** Returns the name of file number @file of the line table, without its folders; "" if the number does not exist. */
const char *dbg_file_name(const struct isa_object *object, unsigned file);
const char *dbg_base_name(const char *path);

/* ---- functions that commands call --------------------------------------------------- */

/** Sets the condition of a stoppoint; NULL or "" removes it. */
enum lw_status dbg_stoppoint_condition(struct dbg *dbg, unsigned id, const char *condition,
                                   struct lw_error *err) LW_MUST_CHECK;
unsigned dbg_stoppoint_count(const struct dbg *dbg);
/** Executes one instruction of each split that can run: of the splits of the thread's warp or, if @block is set, of all warps
 *  of its block. Lanes and warps thus advance in lockstep. If no split can run, the stop is DBG_STOP_BLOCKED. The focus does not
 *  change. Errors: LW_ESTATE if the thread has ended. */
enum lw_status dbg_step_together(struct dbg *dbg, dbg_thread_id id, bool block,
                                 struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Steps the focus lane of @id to another source line. A called function is entered, or with @over executed up to its
 *  return. @locked: as for dbg_step(). */
enum lw_status dbg_step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                             struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Steps the focus lane of @id back to the beginning of a source line. With @over, a call with all instructions of the
 *  called function is undone in one step. */
enum lw_status dbg_reverse_step_line(struct dbg *dbg, dbg_thread_id id, bool over,
                                     struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Moves back to the call instruction that called the function of the focus lane's frame. */
enum lw_status dbg_reverse_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Parses a location: "file:line", "line" (in the source file of the focus), "function", "*address", or "+n" and "-n" (lines
 *  after and before the focus). A line has several pcs if its code is in several scopes: functions, blocks, inlined calls or
 *  duplicated blocks. @pcs is filled with the lowest pc of each scope at which an is_stmt line-table row starts the line. */
enum lw_status dbg_location_parse(const struct dbg *dbg, const char *text, uint64_t *pcs,
                                  unsigned capacity, unsigned *count, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns true if the compile unit of @at is compiled for debuggers, as far as its variables show: each local variable has a
 *  location, and some have a location that is valid at all instructions. Compilers give no location for some parameters even then.
 *  The object must have debug information. */
bool dbg_unit_is_debuggable(const struct dbg_where *at);
bool dbg_source_at(const struct dbg *dbg, uint64_t pc, const char **file, unsigned *line);
/** Returns the text of a source line; NULL if the file cannot be read. The file is searched for in the folder in which the
 *  object was compiled, then in the working folder. The text is borrowed until dbg_destroy(). */
const char *dbg_source_line(struct dbg *dbg, const char *file, unsigned line);
/** Prints @count disassembled instructions from @pc on, with symbols; with @source also their source lines. */
void dbg_disassemble(const struct dbg *dbg, uint64_t pc, unsigned count, bool source,
                     struct lw_sink *out);
/** Executes an assignment "TARGET = EXPRESSION". The target is a variable of the source, a register of the lane (v3, v2:3,
 *  v3.f32, p0, s0) or of another lane (v3[5]), memory (u32[ADDRESS]), pc, lane or exec. */
enum lw_status dbg_assign(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_error *err) LW_MUST_CHECK;

#endif
