/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal interface of debug/: the state of a debugging session (struct dbg), and the functions that files in one
 * folder of debug/ call in another folder. The table of rooms in CONTRIBUTING.md states the purpose of each folder.
 * Functions that only one folder uses are in that folder's own header, such as expr/dbg_expr_priv.h.
 */
#ifndef DEBUG_PRIV_H
#define DEBUG_PRIV_H

#include "debug/debug.h"

/** Location of a resident warp; valid until something runs. */
struct dbg_warp {
    struct emu_core *core;
    const struct emu_grid *grid;
    uint64_t block;
    unsigned slot, warp;
};
/** Expands a warp (struct dbg_warp *, struct emu_event *) to the first three arguments of emu/'s functions. */
#define DBG_AT(warp_at) (warp_at)->core, (warp_at)->slot, (warp_at)->warp

/** Focus lane of a thread, if it is not the lowest live lane. */
struct dbg_watch_lane {
    dbg_thread_id id;
    unsigned lane;
};

/** Lanes of a warp that are at @pc and whose stop at @pc has been reported. */
struct dbg_reported_lanes {
    dbg_thread_id id;
    uint64_t pc, lanes;
};

/** Reported lanes as they were at another instruction count of history. */
struct dbg_reported_lanes_saved {
    uint64_t at; /* instruction count */
    struct dbg_reported_lanes *reported;
    size_t count, capacity;
};
enum { DBG_REPORTED_LANES_SAVED = 16 };

/** Owner of a watched location. */
enum dbg_scope { DBG_SCOPE_ALL, DBG_SCOPE_BLOCK, DBG_SCOPE_WARP, DBG_SCOPE_LANE };

enum { DBG_WATCH_MAX = 64 };
/** Location that a DBG_STOPPOINT_WATCH watches. */
struct dbg_watched {
    enum dbg_scope scope;
    dbg_thread_id id;    /* scope WARP and LANE: the owner; BLOCK: the block's first warp */
    uint64_t warps;      /* scope BLOCK: number of the block's warps */
    unsigned lane;       /* scope LANE: the owning lane */
    unsigned bytes;
    bool memory;         /* true: the ranges are generic addresses; false: registers */
    uint64_t low;        /* memory: first address; registers: offset in their debug address range */
    uint8_t window;      /* top byte of the registers' debug address range, 0xF0 to 0xF3 */
    bool bit;            /* the watched bytes are one lane's bit of a predicate, shown as one byte */
    uint8_t last[DBG_WATCH_MAX]; /* registers: value of the watched bytes after the last instruction */
    bool typed;          /* the bytes are a number of the following type */
    enum dbg_type type;
    struct dbg_operand *operand; /* owned; source-level type of the bytes, NULL: none */
    bool end_reported;           /* the end of the owning lane, warp or block has been reported */
};

struct dbg_stoppoint_record {
    struct dbg_stoppoint pub;
    struct dbg_watched *watched; /* owned; NULL: no watchpoint */
    char *text;                  /* text of the stoppoint, owned; pub.text points to it */
    char *condition; /* condition of the stoppoint, owned; pub.condition points to it */
    dbg_condition_fn fn;
    void *fn_context;
    void (*release)(void *context);
};

/** A stoppoint that an instruction touched. */
struct dbg_watch_hit {
    unsigned point;         /* id of the stoppoint */
    dbg_thread_id thread;   /* thread that executed the instruction */
    uint64_t lanes;         /* lanes of the thread that touched the stoppoint and for which its condition holds */
    uint64_t pc;            /* pc of the instruction */
    unsigned access;        /* watchpoints: kind of the access, bits of enum dbg_access */
    unsigned catches;       /* catchpoints: events that happened, bits of enum dbg_catch */
    bool asks;              /* reverse search: the condition is to be evaluated at the count before the instruction */
    unsigned bytes;
    uint8_t old_bytes[DBG_WATCH_MAX], new_bytes[DBG_WATCH_MAX];
};

/** Named instruction count of the run. */
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
    struct lw_sink print;      /* the machine's printf sink during this session: forwards to the messages */
    struct lw_sink *printed_to; /* the machine's own printf sink, restored at the end */
    struct emu_machine *machine;
    struct emu_engine *engine;
    bool ended, colour;
    dbg_thread_id focus[2];
    struct dbg_thread seen; /* the run focus at the last stop, for messages */
    struct dbg_stop stop;

    struct dbg_watch_lane *pins; /* sorted by id */
    size_t pin_count, pin_capacity;
    struct dbg_reported_lanes *reported;
    size_t reported_count, reported_capacity;
    uint64_t reported_at; /* instruction count that the reported lanes belong to; UINT64_MAX: none */
    struct dbg_reported_lanes_saved reported_saved[DBG_REPORTED_LANES_SAVED]; /* reported lanes at counts that the
                                                                               * session has left */
    unsigned reported_next; /* index of the next entry to overwrite: the array is a ring */
    struct dbg_stoppoint_record *points;
    size_t point_count, point_capacity;
    unsigned last_point;
    struct dbg_findings *findings; /* findings of checkers; NULL until the first finding */
    struct dbg_watch *watch; /* watchpoints; NULL until the first watchpoint or catchpoint */
    bool hits_valid;         /* true: @hits is still valid */
    struct dbg_hits *hits;   /* hits in the interval of history that was searched last (dbg_reverse_hits.c); may be
                              * NULL */
    struct emu_spin_observer *spin; /* spin detector for a stepped lane; NULL: not in use */
    bool looking; /* an observer runs inside the engine after an instruction: ended warps are still resident */

    struct dbg_reg *regs; /* register table, built once */
    size_t reg_count, reg_capacity;

    /** The frame that the user has selected, valid for a lane at pc; index 0: none. */
    struct {
        dbg_thread_id id;
        unsigned lane, index;
        uint64_t pc, retired;
    } frame;

    struct dbg_display *displays;
    size_t display_count, display_capacity;
    unsigned last_display;

    struct dbg_source_file *sources;
    uint64_t list_next, list_first; /* lines at which `list` without operands continues, and `list -` before it */
    char *list_file;    /* file of these lines (owned); NULL: start at the focus */
    uint64_t listed_pc; /* pc of the focus at the last `list`: `list` starts anew when the focus has moved */
    uint64_t disassemble_next, disassembled_pc;

    struct emu_history *history; /* recorder of history; NULL: no history is recorded */
    bool (*save_host)(void *context, void **data, size_t *size);
    void (*load_host)(void *context, const void *data, size_t size);
    void *host_context;
    bool looks_back; /* a reverse search is replaying */
    bool pc_changed; /* the user has edited a pc at some time */
    struct dbg_mark *marks;
    size_t mark_count, mark_capacity;
    unsigned last_mark;
};

/* ---- session ---------------------------------------------------------------- */

/** Prints a note for the user while something runs. */
void dbg_message(const struct dbg *dbg, const char *fmt, ...) LW_PRINTF(2, 3);
/** Finds core and slot of a resident thread and materialises the block's state. Returns false when the thread
 *  is gone. */
bool dbg_warp_locate(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *out);
/** Finds core and slot of a resident thread, and the split of lane @lane. Returns false also when the lane has exited. */
bool dbg_lane_locate(const struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_warp *warp,
                     struct emu_split_view *split);
/** Finds core and slot of a resident thread, and gets the warp's state. Returns false when the thread is gone. */
bool dbg_warp_view(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *warp,
                   struct emu_warp_view *view);
/** Returns the queued launch with sequence number @sequence; NULL: none. */
const struct emu_grid *dbg_grid_numbered(const struct dbg *dbg, uint64_t sequence);
/** Computes the thread id of a warp of a grid. No other function has the formula. */
dbg_thread_id dbg_grid_thread(const struct emu_grid *grid, uint64_t block, unsigned warp);
/** Formats "block(3,0,0) w0", also for a thread that is not resident; "warp 7" where its launch is over or
 *  not queued yet. */
void dbg_id_name(const struct dbg *dbg, dbg_thread_id id, char *text, size_t size);
/** Returns true if a thread that is not resident has ended; false: its block or launch has not begun. */
bool dbg_thread_over(const struct dbg *dbg, dbg_thread_id id);
/** Returns the thread id of a warp by grid, block and warp. */
dbg_thread_id dbg_thread_id_of(const struct dbg *dbg, uint32_t grid, uint64_t block, unsigned warp);
void dbg_block_index(const struct emu_grid *grid, uint64_t block, uint32_t index[3]);
/** Sets the focus lane of a warp without a check that the lane is live: the caller has just seen it. */
void dbg_lane_pin(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** Finds the chosen focus lane of a warp; NULL: the user has chosen none. Borrowed until the next change of a
 *  focus. */
const struct dbg_watch_lane *dbg_pin_find(const struct dbg *dbg, dbg_thread_id id);
/** Moves both foci to lane @lane of thread @id. */
void dbg_focus_move(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** Gets the thread that commands refer to: the view focus. LW_ESTATE when nothing is resident. */
enum lw_status dbg_view(const struct dbg *dbg, struct dbg_thread *out, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the address of a memory fault in a form that a debugger can read at: faults in local or shared
 *  memory store an offset. */
uint64_t dbg_fault_address(const struct emu_fault *fault);
/** Fails with the message for a thread that is not resident. */
enum lw_status dbg_exited(const struct dbg *dbg, dbg_thread_id id, struct lw_error *err);
/** Returns the program in which names are resolved: the current grid's, else the program seen last. */
const struct emu_program *dbg_program(const struct dbg *dbg);

/* ---- points ------------------------------------------------------------------- */

/** Returns true if gdb, not a command of ours, has set stoppoint @id. */
bool dbg_stoppoint_is_gdb(const struct dbg *dbg, unsigned id);
/** Returns true if an enabled breakpoint is at @pc. */
bool dbg_breakpoint_inserted(const struct dbg *dbg, uint64_t pc);
/**
 * Finds the enabled breakpoints at @pc that the active lanes @active of a split hit. Lanes already reported
 * there do not count. Counts hits and removes temporary breakpoints.
 * @lanes  set to the lanes of all breakpoints that hit
 * @text   set to a message where several of the shell's breakpoints hit, each with its lanes
 * Returns the id of the first breakpoint, or 0.
 */
unsigned dbg_breakpoint_hit(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                       uint64_t *lanes, char *text, size_t capacity);
/** Finds what dbg_breakpoint_hit() would find if no lane had been reported at @pc, without ignored hits.
 *  Counts nothing. */
unsigned dbg_breakpoint_peek(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                        uint64_t *lanes);
/** Records that a stop has shown @lanes of a thread at @pc: a breakpoint there does not report them again
 *  before they move. Every stop adds all lanes of the focus lane's split, unless the split is blocked
 *  (dbg_stop_at). */
void dbg_reported_lanes_add(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes);
/** Drops the records of @lanes of a thread, which have moved. */
void dbg_reported_lanes_moved(struct dbg *dbg, dbg_thread_id id, uint64_t lanes);
/** Moves a lane to @pc, alone or with its split (emu_pc_write). Prints a message if other lanes stayed. */
enum lw_status dbg_pc_set(struct dbg *dbg, dbg_thread_id id, unsigned lane, bool alone, uint64_t pc,
                          struct lw_error *err) LW_MUST_CHECK;
/** Drops reported lanes except the lanes at inserted breakpoints. Called before all warps run. Lanes at other pcs need
 *  no record, because they can leave their pc and return to it without a stop. */
void dbg_reported_lanes_prune(struct dbg *dbg);

/** Switches the reported lanes after history has moved the machine to @at: saves those of the count that was
 *  left, restores those of the new one. */
void dbg_reported_lanes_all_moved(struct dbg *dbg, uint64_t at);
/** Drops saved reported lanes when something runs, as lanes then arrive at other counts. */
void dbg_reported_lanes_forget(struct dbg *dbg);
void dbg_reported_lanes_free(struct dbg *dbg);

/** Counts a hit. Returns false if the stoppoint ignores it. */
bool dbg_stoppoint_count_hit(struct dbg_stoppoint_record *point);
/** Frees what a stoppoint owns. */
void dbg_stoppoint_free(struct dbg_stoppoint_record *point);
struct dbg_stoppoint_record *dbg_stoppoint_find(const struct dbg *dbg, unsigned id);
/** Copies @condition for a new stoppoint; *copy is NULL without one. @pc is the address of a breakpoint,
 *  whose names the condition may use; else 0. */
enum lw_status dbg_stoppoint_copy_condition(struct dbg *dbg, const char *condition, uint64_t pc, char **copy,
                                        struct lw_error *err) LW_MUST_CHECK;
/** Adds a stoppoint, numbers it, and takes ownership of the members of @point that a stoppoint owns. On an error it frees
 *  these members. */
enum lw_status dbg_stoppoint_insert(struct dbg *dbg, struct dbg_stoppoint_record *point, unsigned *id,
                                struct lw_error *err) LW_MUST_CHECK;
/** Returns the lanes of @lanes for which the condition of the stoppoint at @index holds. A condition that
 *  cannot be evaluated counts as true and its error is printed: a stop too many is better than one too few. */
uint64_t dbg_stoppoint_lanes(struct dbg *dbg, size_t index, dbg_thread_id id, uint64_t lanes);

/* ---- watchpoints and catchpoints ------------------------------------------------ */

/**
 * Begins to observe consecutive instructions: saves the watched registers' values before the next one. Called
 * after each change of the machine that is not an instruction seen by dbg_watch_was_hit(), such as an edit or
 * a jump in history.
 */
void dbg_watch_hit_begin(struct dbg *dbg);
/**
 * Finds the enabled watchpoints and catchpoints with true conditions that an instruction hit. An observer
 * calls it immediately after each instruction since dbg_watch_hit_begin(). Changes nothing that users see:
 * neither hit counts nor counts of `ignore`.
 * @touches  set to the touched stoppoints, by ascending id; borrowed until the next call
 * Returns their number.
 */
size_t dbg_watch_was_hit(struct dbg *dbg, const struct emu_event *ev, const struct dbg_watch_hit **touches);
/** Reads the current bytes of a watched location, at most DBG_WATCH_MAX. Returns false if the owner is not
 *  resident. */
bool dbg_watched_read(struct dbg *dbg, const struct dbg_watched *watched, uint8_t *out);
/** Prints bytes of a watched location as stops show them. */
void dbg_watched_print(struct dbg *dbg, const struct dbg_watched *watched, const uint8_t *bytes,
                       struct lw_sink *out);
/** Fills stoppoint, watch fields and text of @stop from @touch; leaves the other fields. */
void dbg_watch_hit_stop(struct dbg *dbg, const struct dbg_watch_hit *touch, struct dbg_stop *stop);
/** Names of enum dbg_catch in its order ("diverge", ...), terminated by NULL. */
extern const char *const dbg_catch_names[];
/** Adds a watchpoint on what an expression names for a lane: a variable or a part of one, memory, a register.
 *  Errors: as dbg_watch_add; LW_EUSAGE for an expression without a location. */
enum lw_status dbg_watch_expression(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    const char *text, unsigned access, const char *condition,
                                    unsigned *point, struct lw_error *err) LW_MUST_CHECK;
/** Prints the owner of a watchpoint in its block: " w0 lane 5". */
void dbg_watch_owner_print(const struct dbg *dbg, unsigned id, struct lw_sink *out);
/** Creates the tables of watchpoints if needed. Returns false without memory. */
bool dbg_watch_ready(struct dbg *dbg);
/** Marks the tables as outdated after stoppoints were added, removed, enabled or disabled. */
void dbg_watch_changed(struct dbg *dbg);
void dbg_watch_free(struct dbg *dbg);
/** Remembers the owner of a gdb watchpoint that is about to be removed (struct dbg_ghost). */
void dbg_watch_removed(struct dbg *dbg, const struct dbg_stoppoint_record *point);
/** Returns true if an instruction has touched a stoppoint since the run began, or a finding was made, and the
 *  stop is still to be made. */
bool dbg_watch_pending(const struct dbg *dbg);
/** Drops the hits of the last instruction: the machine is before it now. */
void dbg_watch_forget(struct dbg *dbg);
/** Drops pending hits before anything runs. */
void dbg_watch_begin(struct dbg *dbg);
/** Deletes stoppoints whose lane, warp or block has ended, with a message; called after a stop. If history is
 *  recorded they remain for reverse execution. */
void dbg_watch_remove_ended(struct dbg *dbg);

/** Drops the cached hits of the past after stoppoints or history have changed. */
void dbg_hits_forget(struct dbg *dbg);
void dbg_hits_free(struct dbg *dbg);

/* ---- what a checker found (dbg_finding_stop.c) ------------------------------------------- */

/** Returns true if a finding was made, or replay has reached one, and the stop is still to be made. */
bool dbg_finding_pending(const struct dbg *dbg);
/** Makes the stop for a pending finding; with history dbg_finding_finish_stop() completes it. */
enum lw_status dbg_stop_on_finding(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Moves the machine back to before the instruction of the finding, after the run has stopped. */
enum lw_status dbg_finding_finish_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called before anything runs: requests a stop at the next recorded finding of replayed history. */
void dbg_finding_begin(struct dbg *dbg);
/** Called after something has run: withdraws the request of dbg_finding_begin(). */
void dbg_finding_end(struct dbg *dbg);
/** Gets the instruction count before the last earlier instruction with a finding that stops. Returns false if
 *  there is none. */
bool dbg_finding_go_back(struct dbg *dbg, uint64_t *at);
/** Moves to a count of dbg_finding_go_back() and makes the stop. */
enum lw_status dbg_finding_seek(struct dbg *dbg, uint64_t at, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Drops the counts of findings from instruction @from on: an edit has changed history. */
void dbg_finding_changed(struct dbg *dbg, uint64_t from);
/** Prints the pending findings as a message, when the stop has another reason. */
void dbg_finding_print(struct dbg *dbg);
void dbg_finding_free(struct dbg *dbg);

/* ---- running --------------------------------------------------------------------- */

/** Runs until the focus lane of @id returns from its frame. */
enum lw_status dbg_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
/** Executes one instruction of the focus lane; a call is executed to its return. */
enum lw_status dbg_next_insn(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err) LW_MUST_CHECK;
/** Runs all warps until the focus lane of @id is at @pc, or something else stops. */
enum lw_status dbg_advance(struct dbg *dbg, dbg_thread_id id, uint64_t pc,
                           struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/* ---- back in time -------------------------------------------------------------------- */

/** Starts recording history with the session's callbacks. */
enum lw_status dbg_history_attach(struct dbg *dbg, uint64_t budget_bytes, struct lw_error *err)
    LW_MUST_CHECK;
/** Stops recording history and drops what is recorded. */
void dbg_history_end(struct dbg *dbg);
/** Repeats dbg_reverse_step @count times. With @over, a call and all instructions of the called function count as one
 *  instruction. */
enum lw_status dbg_reverse_steps(struct dbg *dbg, dbg_thread_id id, uint64_t count, bool over,
                                 struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** Emits names for dbg_names_each(): DBG_NAMES_COORDINATES, DBG_NAMES_CUDA, DBG_NAMES_BUILT_IN. */
void dbg_coordinates_words_each(dbg_name_fn fn, void *context);
void dbg_cuda_names_each(dbg_name_fn fn, void *context);
void dbg_built_in_each(dbg_name_fn fn, void *context);

/* ---- values ------------------------------------------------------------------------ */

/** Checks names and syntax of an expression without evaluating it. */
enum lw_status dbg_expr_check(struct dbg *dbg, const char *text, uint64_t place,
                              struct lw_error *err)
    LW_MUST_CHECK;
/** Prints "text = value" by type if @text is a variable of the source or a part of one; with @cell, as next to other
 *  lanes, a short value alone. Returns false if @text is not a variable or cannot be read; dbg_eval() then gives the
 *  reason. */
bool dbg_print_source(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                      char format, bool cell, struct lw_sink *out);
/** Prints an address and the string there. */
void dbg_print_text(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                    struct lw_sink *out);
/** Prints "type = ..." for an expression or a type's name. @whole expands type names and prints members. */
enum lw_status dbg_print_type(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                              bool whole, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;
/** Returns the innermost source scope that contains the instruction; UINT32_MAX: none. */
uint32_t dbg_scope_at(const struct emu_program *program, uint32_t insn);
/** Prints all variables in scope at the lane. */
enum lw_status dbg_locals_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Prints the parameters of the selected frame, one on each line. */
enum lw_status dbg_parameters_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** Iterator over groups of lanes that convergence registers of a warp hold. */
struct dbg_convergence {
    unsigned reg;             /* the current group's register */
    uint64_t seen;            /* lanes of this register's groups up to the current one; both members are zero at
                               * first */
    uint64_t number, lanes, waiting;
};
/** Advances to the next group, in order of registers and lowest lanes. Returns false past the last group. */
bool dbg_convergence_next(const struct dbg_warp *warp, const struct emu_warp_view *view,
                          const struct emu_split_view *splits, unsigned count,
                          struct dbg_convergence *it);
/** Does dbg_mem_read or dbg_mem_write for a lane that need not be the focus. */
uint64_t dbg_mem_access(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                        void *data, uint64_t size_bytes, bool write);
/** Reads the stack range of a lane, address 0xF4<<56 | warp slot<<40 | lane<<32 | offset. The range shows only return
 *  addresses, in 8 bytes of each frame; all other bytes read as zero. At every pc of every function [CFA - 8] is the
 *  return address; a kernel's is DBG_LAUNCH_PC. */
void dbg_stack_read(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t offset,
                    bool frames, uint8_t *data, uint64_t size);
/** Builds the register table. Errors: LW_ENOMEM. */
enum lw_status dbg_regs_build(struct dbg *dbg, struct lw_error *err) LW_MUST_CHECK;
/** Returns the launch of a thread, or the running one. NULL: none. */
const struct emu_grid *dbg_thread_grid(const struct dbg *dbg, dbg_thread_id id);
/** Returns the number that identifies a warp in debug addresses. */
unsigned dbg_warp_slot(const struct dbg *dbg, const struct dbg_warp *warp);
/** Finds the warp with a slot number of dbg_warp_slot(). */
bool dbg_warp_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *out);
/** Returns the debug address that shows location @location of the object that the lane runs
 *  (dbg_value_window.c); 0: none does. */
uint64_t dbg_value_address(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint32_t location);
/** Finds the piece of a variable that a debug address of dbg_value_address() is in, and its lane. Returns false if no
 *  variable is known for the address. */
bool dbg_value_piece(struct dbg *dbg, uint64_t address, struct isa_piece *piece, dbg_thread_id *id, unsigned *lane);
/** Accesses memory as dbg_mem_access() does, at an address of dbg_value_address(). */
uint64_t dbg_value_access(struct dbg *dbg, uint64_t address, uint8_t *data, uint64_t size, bool write);
/** Returns the scalar register at an offset of a lane's part of the range 0xF8; a number past all registers
 *  if there is none. */
unsigned dbg_window_scalar(uint32_t offset);
/** Returns the slot number of a warp's block. */
unsigned dbg_block_slot(const struct dbg *dbg, const struct dbg_warp *warp);
/** Changes @warp, which may be any warp of the machine, to the first warp of the block in slot @number. Returns false if
 *  the slot has no block. */
bool dbg_block_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *warp);

/* ---- frames (dbg_frames.c) ------------------------------------------------------------- */

/** A call that the compiler has inlined at a pc. */
struct dbg_inlined {
    const char *name;       /* name of the inlined function; NULL: not known */
    unsigned file, line;    /* position of the call; file is an index into the object's files */
    int64_t die;
};
/** Gets the inlined calls at @pc, innermost first. Returns their number. */
unsigned dbg_inlined_at(const struct dbg *dbg, uint64_t pc, struct dbg_inlined *out,
                        unsigned capacity);
/** Finds the first addresses of inlined calls of the function @name. Appends them to @pcs, which has @count addresses
 *  and capacity for @capacity. Returns the new count. */
unsigned dbg_inlined_calls(const struct dbg *dbg, const char *name, uint64_t *pcs, unsigned count,
                           unsigned capacity);
/** Gets the result type of the function around @pc from its debug information. Returns false if the function
 *  returns nothing or the type is not known. */
bool dbg_result_type(const struct dbg *dbg, uint64_t pc, const struct isa_debug **debug,
                     int64_t *type);

/** A frame as users count frames: each inlined call has its own. */
struct dbg_frame_location {
    uint64_t pc;            /* pc of the frame; for a caller, of the call */
    unsigned frame;         /* index of the dbg_frame_at() frame that contains it */
    char name[256];         /* name of its function; "": none */
    const char *file;       /* source file of the frame; NULL: no line is known */
    unsigned line;
    bool inlined;           /* the frame is an inlined call */
    int64_t call;           /* entry of that inlined call, -1: none */
    int64_t inner;          /* entry of the inlined call in it that leads to the next inner frame, -1: none */
};
/** Gets frame @index. Returns false when @index is past the last frame. */
bool dbg_frame_location_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame_location *out);
/** Prints the parameters of a frame's function as "  n = 3, p = {...}". Prints no text if no parameters are known. */
void dbg_arguments_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_frame_location *location, struct lw_sink *out);
/** Returns the number of the frame that `up`, `down` and `frame` have selected for the lane. The selection
 *  ends when the lane moves or another lane is shown. */
unsigned dbg_frame_number(const struct dbg *dbg, dbg_thread_id id, unsigned lane);
unsigned dbg_frame_count(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** Gets the number of the frame whose variables an expression refers to in @lane: if a frame is selected for
 *  the focus lane, the one at the same distance from the kernel's frame. Returns false if the lane's call
 *  depth is smaller. */
bool dbg_frame_shown(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned *index);
void dbg_frame_choose(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index);

/* ---- source -------------------------------------------------------------------------- */

void dbg_sources_free(struct dbg *dbg);
/** Gets the line row at @pc and its function; *start is true if a row begins there. Returns false if there is
 *  none. */
bool dbg_row_at(const struct dbg *dbg, uint64_t pc, const struct isa_line **row, bool *start);
const struct isa_function *dbg_function_at(const struct dbg *dbg, uint64_t pc);
/** Returns the guest address of a function's first instruction. */
uint64_t dbg_function_pc(const struct dbg *dbg, const struct isa_function *function);
/** Formats a function's source name: "util::twice(float)" in C++, else the symbol. */
void dbg_function_source_name(const struct dbg *dbg, const struct isa_function *function,
                              char *text, size_t size);
/** Formats the source name without parameter types: "util::twice". */
void dbg_function_short_name(const struct dbg *dbg, const struct isa_function *function,
                             char *text, size_t size);
/** Returns true if @name means the function: the full name, or the name without namespaces, parameter types
 *  or template arguments. */
bool dbg_function_is_called(const struct dbg *dbg, const struct isa_function *function,
                            const char *name);
/** Returns the pc at which a breakpoint on a function is inserted: after the prologue. */
uint64_t dbg_function_body(const struct dbg *dbg, const struct isa_function *function);

/* ---- display ----------------------------------------------------------------------- */

void dbg_displays_free(struct dbg *dbg);
/** Prints all displayed expressions for the view focus, one on each line. */
void dbg_displays_show(struct dbg *dbg, struct lw_sink *out);

/* ---- tables ---------------------------------------------------------------------------- */

/** Prints a lane mask as "0x000000ff", with as many digits as the warp width needs. */
void dbg_show_mask(const struct dbg *dbg, uint64_t lanes, struct lw_sink *out);
/** Prints a line of the list of stoppoints. */
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
/** Prints counts of the whole run, one on each line; zero counts are left out. */
void dbg_show_stats(struct dbg *dbg, struct lw_sink *out);
/* ---- scopes (dbg_scopes.c) ----------------------------------------------------------- */

/** Location of a lane in its program. */
struct dbg_where {
    const struct emu_program *program;
    const struct isa_object *object;
    uint32_t insn;
    unsigned frame; /* index of the frame whose variables are meant: 0 is the innermost */
    int64_t inner;  /* inlined call in that frame whose variables are excluded, or ISA_NO_DIE */
};
bool dbg_where_is(const struct dbg *dbg, uint64_t pc, struct dbg_where *out);
/** Finds the scopes around the instruction, outermost first. Returns their number. */
unsigned dbg_find_scopes(const struct dbg_where *at, uint32_t *scopes, unsigned capacity);
/* ---- stops and the focus (dbg_stop_focus.c) ---------------------------------------------- */

/** Moves both foci to @lane of a thread and fills the stop there. */
void dbg_stop_on(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                 dbg_thread_id id, unsigned lane);
/** Completes a stop that does not choose a focus: the focus changes only if its lane or warp is gone. */
enum lw_status dbg_finish_stop(struct dbg *dbg, enum dbg_stop_kind kind, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
void dbg_stop_at(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind, const struct dbg_thread *thread);
void dbg_stop_ended(struct dbg *dbg, struct dbg_stop *stop);
/** Executes host steps up to the next launch. *more is set to false if no work is left. */
enum lw_status dbg_next_launch(struct dbg *dbg, bool *more, struct lw_error *err) LW_MUST_CHECK;
/* ---- types of the source (dbg_types.c) ------------------------------------------------- */

bool dbg_tag_is_structure(unsigned tag);
/** Returns true if the type is named char: its values are text. */
bool dbg_type_is_char(const struct isa_debug *debug, int64_t type);
/** Prints a type as a declaration names it, "const float *", after @skip dimensions. */
void dbg_type_print(const struct isa_debug *debug, int64_t type, unsigned skip,
                    struct lw_sink *out);
/** Prints a type with type names expanded, and structures and enumerations with their members. */
void dbg_type_print_whole(const struct isa_debug *debug, int64_t type, unsigned skip,
                          struct lw_sink *out);
/** Gets the debugger's type of a base, enumeration or pointer type. Returns false for an aggregate. */
bool dbg_type_scalar(const struct isa_debug *debug, int64_t type, enum dbg_type *out,
                     unsigned *bytes);
/** Returns "struct", "class", "union", "enum" or "". */
const char *dbg_type_keyword(unsigned tag);
/** Prints a C declaration of @inner ("*", "(*)[4]", "") with this type. */
void dbg_type_declare(const struct isa_debug *debug, int64_t type, unsigned skip, const char *inner, unsigned depth,
                      struct lw_sink *out);
/** Returns the machine's current instruction count. */
uint64_t dbg_history_now(const struct dbg *dbg);
/** Removes the template arguments from a function's name. */
void dbg_name_cut_template(char *name);
/** Returns the name of a file of the line table without its folders; "" if the number does not exist. */
const char *dbg_file_name(const struct isa_object *object, unsigned file);
const char *dbg_base_name(const char *path);

/* ---- what commands call ------------------------------------------------------------ */

/** Replaces the condition of a stoppoint; NULL or "": none. */
enum lw_status dbg_stoppoint_condition(struct dbg *dbg, unsigned id, const char *condition,
                                   struct lw_error *err) LW_MUST_CHECK;
unsigned dbg_stoppoint_count(const struct dbg *dbg);
/** Executes one instruction of each split of the thread's warp that can run, or (@block) of all warps of its
 *  block, so lanes and warps advance in lockstep. If none can run, the stop is DBG_STOP_BLOCKED. The focus
 *  does not change. Errors: LW_ESTATE when the thread has ended. */
enum lw_status dbg_step_together(struct dbg *dbg, dbg_thread_id id, bool block,
                                 struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Steps to another source line, into calls or (@over) over them by the lane's frame. */
enum lw_status dbg_step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                             struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Steps back to the beginning of a source line; with @over calls are undone as a whole. */
enum lw_status dbg_reverse_step_line(struct dbg *dbg, dbg_thread_id id, bool over,
                                     struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Moves back to the call of the function that the lane is in. */
enum lw_status dbg_reverse_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Parses a location: "file:line", "line" (in the focus file), "function", "*address", "+n/-n". Several pcs
 *  may match, one for each is_stmt row that starts the line in a function. @pcs gets the lowest of each scope
 *  (function, block, inlined call, duplicated code). */
enum lw_status dbg_location_parse(const struct dbg *dbg, const char *text, uint64_t *pcs,
                                  unsigned capacity, unsigned *count, struct lw_error *err)
    LW_MUST_CHECK;
bool dbg_source_at(const struct dbg *dbg, uint64_t pc, const char **file, unsigned *line);
/** Returns the text of a source line; NULL when the file cannot be read. The file is searched in the object's
 *  compilation folder, then in the working folder. Borrowed until dbg_destroy. */
const char *dbg_source_line(struct dbg *dbg, const char *file, unsigned line);
/** Prints @count disassembled instructions from @pc on, with symbols. */
void dbg_disassemble(const struct dbg *dbg, uint64_t pc, unsigned count, bool source,
                     struct lw_sink *out);
/** Carries out "TARGET = EXPRESSION". The target is a register of the lane (v3, v2:3, v3.f32, p0, s0), of
 *  another lane (v3[5]), memory (u32[...]), pc, lane or exec. */
enum lw_status dbg_assign(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_error *err) LW_MUST_CHECK;

#endif
