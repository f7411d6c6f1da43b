/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside debug/: the session, and the functions that its folders call of each other. The table of rooms in
 * CONTRIBUTING.md says what each folder is for; their own headers are dbg_expr_priv.h, dbg_watch_priv.h, dbg_run_priv.h,
 * dbg_history_priv.h, dbg_commands_priv.h and dbg_coordinates_priv.h.
 */
#ifndef DEBUG_PRIV_H
#define DEBUG_PRIV_H

#include "debug/debug.h"

/** A resident warp made addressable; valid until something runs. */
struct dbg_warp {
    struct emu_core *core;
    const struct emu_grid *grid;
    uint64_t block;
    unsigned slot, warp;
};
/** A warp (struct dbg_warp *, struct emu_event *) as the first three arguments of the functions of emu/. */
#define DBG_AT(warp_at) (warp_at)->core, (warp_at)->slot, (warp_at)->warp

/** The focus lane of a thread, where it is not simply the lowest live one. */
struct dbg_watch_lane {
    dbg_thread_id id;
    unsigned lane;
};

/** Lanes of a warp that are at @pc and have been reported there. */
struct dbg_reported_lanes {
    dbg_thread_id id;
    uint64_t pc, lanes;
};

/** Arrivals as they were at another place of history. */
struct dbg_reported_lanes_saved {
    uint64_t at; /* instructions */
    struct dbg_reported_lanes *reported;
    size_t count, capacity;
};
enum { DBG_REPORTED_LANES_SAVED = 16 };

/** Whose a watched place is. */
enum dbg_scope { DBG_SCOPE_ALL, DBG_SCOPE_BLOCK, DBG_SCOPE_WARP, DBG_SCOPE_LANE };

enum { DBG_WATCH_MAX = 64 };
/** What a DBG_STOPPOINT_WATCH watches. */
struct dbg_watched {
    enum dbg_scope scope;
    dbg_thread_id id;    /* scope WARP and LANE: whose; BLOCK: its first warp */
    uint64_t warps;      /* scope BLOCK: of the block */
    unsigned lane;       /* scope LANE: whose */
    unsigned bytes;
    bool memory;         /* generic addresses; else registers: */
    uint64_t low;        /* of memory; of registers, the offset in their window */
    uint8_t window;      /* 0xF0 to 0xF3 */
    bool bit;            /* one lane's bit of a predicate, shown as one byte */
    uint8_t last[DBG_WATCH_MAX]; /* registers: their bytes after the last instruction */
    bool typed;          /* the bytes are a number of this type */
    enum dbg_type type;
    struct dbg_operand *operand; /* owned; what they are in the source, NULL: nothing */
    bool end_reported;           /* that whose it is has ended */
};

struct dbg_stoppoint_record {
    struct dbg_stoppoint pub;
    struct dbg_watched *watched; /* owned; NULL: no watchpoint */
    char *text;                  /* owned; pub.text is the same */
    char *condition; /* owned; pub.condition is the same */
    dbg_condition_fn fn;
    void *fn_context;
    void (*release)(void *context);
};

/** A point that an instruction touched. */
struct dbg_watch_hit {
    unsigned point;         /* its id */
    dbg_thread_id thread;   /* that did it, */
    uint64_t lanes;         /* these of its lanes, the condition holds for them */
    uint64_t pc;            /* of the instruction */
    unsigned access;        /* watchpoints: what was done, of enum dbg_access */
    unsigned catches;       /* catchpoints: what happened, of enum dbg_catch */
    bool asks;              /* in the past: its condition is to be tested where this has not happened */
    unsigned bytes;
    uint8_t old_bytes[DBG_WATCH_MAX], new_bytes[DBG_WATCH_MAX];
};

/** A place of the run by name. */
struct dbg_mark {
    char name[32];
    uint64_t at; /* instructions */
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
    struct lw_sink print;      /* the machine's, while this session lasts: to the messages */
    struct lw_sink *printed_to; /* the machine's own */
    struct emu_machine *machine;
    struct emu_engine *engine;
    bool ended, colour;
    dbg_thread_id focus[2];
    struct dbg_thread seen; /* the run focus as it was at the last stop, for messages */
    struct dbg_stop stop;

    struct dbg_watch_lane *pins; /* sorted by id */
    size_t pin_count, pin_capacity;
    struct dbg_reported_lanes *reported;
    size_t reported_count, reported_capacity;
    uint64_t reported_at; /* the place of history that they are of; UINT64_MAX: none */
    struct dbg_reported_lanes_saved reported_saved[DBG_REPORTED_LANES_SAVED]; /* of places that were left for others, */
    unsigned reported_next; /* a ring of so many */
    struct dbg_stoppoint_record *points;
    size_t point_count, point_capacity;
    unsigned last_point;
    struct dbg_findings *findings; /* NULL until there was one */
    struct dbg_watch *watch; /* NULL until there was a watchpoint or catchpoint */
    bool hits_valid;         /* nothing that @hits is about has changed since */
    struct dbg_hits *hits;   /* of the past that was searched last (dbg_reverse_hits.c); may be NULL */
    struct emu_spin_observer *spin; /* looks whether a lane that walks spins; NULL: not now */
    bool looking; /* after an instruction, inside the engine: ended warps are still resident */

    struct dbg_reg *regs; /* the register table, made once */
    size_t reg_count, reg_capacity;

    /** The frame that was chosen, of a lane at pc; index 0: none. */
    struct {
        dbg_thread_id id;
        unsigned lane, index;
        uint64_t pc, retired;
    } frame;

    struct dbg_display *displays;
    size_t display_count, display_capacity;
    unsigned last_display;

    struct dbg_source_file *sources;
    uint64_t list_next, list_first; /* `list` without operands continues here, `list -` before: lines, */
    char *list_file;    /* in this file (owned); NULL: start at the focus */
    uint64_t listed_pc; /* and forgets it when the focus has moved */
    uint64_t disassemble_next, disassembled_pc;

    struct emu_history *history; /* NULL: none is kept */
    bool (*save_host)(void *context, void **data, size_t *size);
    void (*load_host)(void *context, const void *data, size_t size);
    void *host_context;
    bool looks_back; /* what runs now is only looked at */
    bool pc_changed; /* by the user, at some time */
    struct dbg_mark *marks;
    size_t mark_count, mark_capacity;
    unsigned last_mark;
};

/* ---- session ---------------------------------------------------------------- */

/** A note for the user while something runs. */
void dbg_message(const struct dbg *dbg, const char *fmt, ...) LW_PRINTF(2, 3);
/** Core and slot of a resident thread; false when it is gone. Makes the block's state. */
bool dbg_warp_locate(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *out);
/** The same, and the split of one of its lanes; false where that lane has ended, too. */
bool dbg_lane_locate(const struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_warp *warp,
                     struct emu_split_view *split);
/** The same, and the warp's state. */
bool dbg_warp_view(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *warp,
                   struct emu_warp_view *view);
/** The launch of that number, of those that are queued; NULL: none. */
const struct emu_grid *dbg_grid_numbered(const struct dbg *dbg, uint64_t sequence);
/** Id of a warp of a grid: the one formula. */
dbg_thread_id dbg_grid_thread(const struct emu_grid *grid, uint64_t block, unsigned warp);
/** "block(3,0,0) w0", also of one that is not resident; "warp 7" where its launch is over or not there yet. */
void dbg_id_name(const struct dbg *dbg, dbg_thread_id id, char *text, size_t size);
/** Has a thread that is not resident ended? Else its block, or its launch, has not begun. */
bool dbg_thread_over(const struct dbg *dbg, dbg_thread_id id);
/** Id of a place. */
dbg_thread_id dbg_thread_id_of(const struct dbg *dbg, uint32_t grid, uint64_t block, unsigned warp);
void dbg_block_index(const struct emu_grid *grid, uint64_t block, uint32_t index[3]);
/** Pin the lane without looking whether it lives (it was just seen). */
void dbg_lane_pin(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** NULL: it has no pin. Borrowed until the next change of a focus. */
const struct dbg_watch_lane *dbg_pin_find(const struct dbg *dbg, dbg_thread_id id);
/** Both foci to a thread and its lane. */
void dbg_focus_move(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** The thread commands are about: the view focus. LW_ESTATE when nothing is resident. */
enum lw_status dbg_view(const struct dbg *dbg, struct dbg_thread *out, struct lw_error *err)
    LW_MUST_CHECK;
/** Where a fault of memory was, as an address that a debugger can read at: one of local or shared memory is an offset there. */
uint64_t dbg_fault_address(const struct emu_fault *fault);
/** Fails with the message for a thread that is not resident. */
enum lw_status dbg_exited(const struct dbg *dbg, dbg_thread_id id, struct lw_error *err);
/** The program whose names are meant: of the current grid, else the last seen. */
const struct emu_program *dbg_program(const struct dbg *dbg);

/* ---- points ------------------------------------------------------------------- */

/** gdb set point @id, not a command of ours. */
bool dbg_stoppoint_is_gdb(const struct dbg *dbg, unsigned id);
/** An enabled breakpoint is at @pc. */
bool dbg_breakpoint_inserted(const struct dbg *dbg, uint64_t pc);
/**
 * A split with active lanes @active arrived at @pc: which enabled point hits?
 *
 * Lanes already reported there do not count. Counts hits and removes temporary points.
 * @text  set to what there is to say where several of the shell's points hit: each with its lanes
 * Returns the id of the first point, or 0; @lanes are those of all that hit.
 */
unsigned dbg_breakpoint_hit(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                       uint64_t *lanes, char *text, size_t capacity);
/** What dbg_breakpoint_hit() would find if no lane had been reported there, without ignored hits; counts
 *  nothing. */
unsigned dbg_breakpoint_peek(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t active,
                        uint64_t *lanes);
/** A stop has shown @lanes of a thread at @pc: a breakpoint there does not report them again before
 *  they move. Every stop adds all lanes of the focus lane's split, unless it waits (dbg_stop_at). */
void dbg_reported_lanes_add(struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes);
/** @lanes of a thread moved. */
void dbg_reported_lanes_moved(struct dbg *dbg, dbg_thread_id id, uint64_t lanes);
/** Moves a lane to @pc, alone or with its split (emu_pc_write), and says if it left others. */
enum lw_status dbg_pc_set(struct dbg *dbg, dbg_thread_id id, unsigned lane, bool alone, uint64_t pc,
                          struct lw_error *err) LW_MUST_CHECK;
/** Before all warps run: drops reported lanes except those at inserted breakpoints. A lane can leave any other pc, and
 *  come back to it, without a stop. */
void dbg_reported_lanes_prune(struct dbg *dbg);

/** History has moved the machine to @at: saves the lanes reported at the count that it has left, and restores
 *  those reported here. */
void dbg_reported_lanes_all_moved(struct dbg *dbg, uint64_t at);
/** Something runs: lanes arrive anew at other counts of history. */
void dbg_reported_lanes_forget(struct dbg *dbg);
void dbg_reported_lanes_free(struct dbg *dbg);

/** Count a hit. False: it is one to be ignored. */
bool dbg_stoppoint_count_hit(struct dbg_stoppoint_record *point);
/** What a point owns. */
void dbg_stoppoint_free(struct dbg_stoppoint_record *point);
struct dbg_stoppoint_record *dbg_stoppoint_find(const struct dbg *dbg, unsigned id);
/** A copy of @condition for a new point; *copy NULL: there is none. @pc: of a breakpoint, whose names it may have; else 0. */
enum lw_status dbg_stoppoint_copy_condition(struct dbg *dbg, const char *condition, uint64_t pc, char **copy,
                                        struct lw_error *err) LW_MUST_CHECK;
/** The point gets a number and what it owns is the session's; on an error it is freed. */
enum lw_status dbg_stoppoint_insert(struct dbg *dbg, struct dbg_stoppoint_record *point, unsigned *id,
                                struct lw_error *err) LW_MUST_CHECK;
/** Lanes of @lanes for which the condition of the point at @index holds. One that cannot be
 *  evaluated counts as true, and says why: a stop too many is better than one too few. */
uint64_t dbg_stoppoint_lanes(struct dbg *dbg, size_t index, dbg_thread_id id, uint64_t lanes);

/* ---- watchpoints and catchpoints ------------------------------------------------ */

/**
 * Begins to watch consecutive instructions: takes the registers as the next instruction
 * finds them. Called after each change of the machine that is no instruction seen by
 * dbg_watch_was_hit(): an edit, a jump in history.
 */
void dbg_watch_hit_begin(struct dbg *dbg);
/**
 * Which enabled watchpoints and catchpoints with true conditions did this instruction hit?
 * Called immediately after it, as an observer is, for each one since dbg_watch_hit_begin().
 * Changes nothing that users see: neither hit counts nor counts of `ignore`.
 *
 * @touches  set to the touched points, by ascending id; borrowed until the next call
 * Returns their count.
 */
size_t dbg_watch_was_hit(struct dbg *dbg, const struct emu_event *ev, const struct dbg_watch_hit **touches);
/** The bytes of a watched place, DBG_WATCH_MAX at most, as they are now. False: whose it is is not
 *  there. */
bool dbg_watched_read(struct dbg *dbg, const struct dbg_watched *watched, uint8_t *out);
/** Its bytes as text, as stops show them. */
void dbg_watched_print(struct dbg *dbg, const struct dbg_watched *watched, const uint8_t *bytes,
                       struct lw_sink *out);
/** Fills the stop's stoppoint, watch fields and text from @touch; leaves the rest. */
void dbg_watch_hit_stop(struct dbg *dbg, const struct dbg_watch_hit *touch, struct dbg_stop *stop);
/** "diverge", ..., in the order of enum dbg_catch; NULL at the end. */
extern const char *const dbg_catch_names[];
/** Watch what an expression names for a lane: a variable or a part of one, memory, a register.
 *  Errors: as dbg_watch_add; LW_EUSAGE for what has no place. */
enum lw_status dbg_watch_expression(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    const char *text, unsigned access, const char *condition,
                                    unsigned *point, struct lw_error *err) LW_MUST_CHECK;
/** " w0 lane 5": whose a watchpoint is, in its block. */
void dbg_watch_owner_print(const struct dbg *dbg, unsigned id, struct lw_sink *out);
/** The tables of watchpoints are there, if empty. False: no memory. */
bool dbg_watch_ready(struct dbg *dbg);
/** Points were added, removed, enabled or disabled. */
void dbg_watch_changed(struct dbg *dbg);
void dbg_watch_free(struct dbg *dbg);
/** A watchpoint is about to be removed. */
void dbg_watch_removed(struct dbg *dbg, const struct dbg_stoppoint_record *point);
/** An instruction touched something since the run began, or something was found, and the stop was not
 *  made yet. */
bool dbg_watch_pending(const struct dbg *dbg);
/** Drops the hits of the last instruction: the run is before it. */
void dbg_watch_forget(struct dbg *dbg);
/** Before anything runs: what was pending is forgotten. */
void dbg_watch_begin(struct dbg *dbg);
/** After a stop: deletes stoppoints whose lane, warp or block has ended, with a message; if history is
 *  kept they remain for reverse execution. */
void dbg_watch_remove_ended(struct dbg *dbg);

/** Points, or what the past is, have changed: hits that were found there may be others. */
void dbg_hits_forget(struct dbg *dbg);
void dbg_hits_free(struct dbg *dbg);

/* ---- what a checker found (dbg_finding_stop.c) ------------------------------------------- */

/** A finding was made, or replay reached one, and the stop was not made yet. */
bool dbg_finding_pending(const struct dbg *dbg);
/** That stop; where history leads there dbg_finding_finish_stop() completes it. */
enum lw_status dbg_stop_on_finding(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** When nothing runs any more: the run goes back to before the instruction that the finding is about. */
enum lw_status dbg_finding_finish_stop(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Before and after anything runs: what runs again stops where something was found. */
void dbg_finding_begin(struct dbg *dbg);
void dbg_finding_end(struct dbg *dbg);
/** Count of instructions before the last earlier one with a finding that stops. False: there is none. */
bool dbg_finding_go_back(struct dbg *dbg, uint64_t *at);
/** To such a count: the stop there. */
enum lw_status dbg_finding_seek(struct dbg *dbg, uint64_t at, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Instructions from @from on have not happened: the past was changed. */
void dbg_finding_changed(struct dbg *dbg, uint64_t from);
/** Prints the pending findings as a message: the stop is for another reason. */
void dbg_finding_print(struct dbg *dbg);
void dbg_finding_free(struct dbg *dbg);

/* ---- running --------------------------------------------------------------------- */

/** Run until the focus lane of @id returns from its frame. */
enum lw_status dbg_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
/** One instruction of the focus lane; a call is run through. */
enum lw_status dbg_next_insn(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                             struct lw_error *err) LW_MUST_CHECK;
/** Run all until the focus lane of @id is at @pc, or something else stops. */
enum lw_status dbg_advance(struct dbg *dbg, dbg_thread_id id, uint64_t pc,
                           struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/* ---- back in time -------------------------------------------------------------------- */

/** Keep history with the session's callbacks. */
enum lw_status dbg_history_attach(struct dbg *dbg, uint64_t budget_bytes, struct lw_error *err)
    LW_MUST_CHECK;
/** Keep none any more. */
void dbg_history_end(struct dbg *dbg);
/** @count times dbg_reverse_step; @over: what a call did is one instruction. */
enum lw_status dbg_reverse_steps(struct dbg *dbg, dbg_thread_id id, uint64_t count, bool over,
                                 struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;

/** For dbg_names_each(): DBG_NAMES_COORDINATES, DBG_NAMES_CUDA, DBG_NAMES_BUILT_IN. */
void dbg_coordinates_words_each(dbg_name_fn fn, void *context);
void dbg_cuda_names_each(dbg_name_fn fn, void *context);
void dbg_built_in_each(dbg_name_fn fn, void *context);

/* ---- values ------------------------------------------------------------------------ */

/** Check an expression without values: names and syntax. */
enum lw_status dbg_expr_check(struct dbg *dbg, const char *text, uint64_t place,
                              struct lw_error *err)
    LW_MUST_CHECK;
/** If @text is a variable of the source, or a part of one, print "text = value" by its type; in a cell,
 *  next to other lanes, a short value alone. False: it is something else, or cannot be read;
 *  dbg_eval() says why. */
bool dbg_print_source(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                      char format, bool cell, struct lw_sink *out);
/** An address and the text there. */
void dbg_print_text(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                    struct lw_sink *out);
/** "type = ..." of an expression, or of a type's name; @whole: past names, with members. */
enum lw_status dbg_print_type(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                              bool whole, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;
/** The innermost scope of the source that has the instruction, UINT32_MAX: none. */
uint32_t dbg_scope_at(const struct emu_program *program, uint32_t insn);
/** All variables in scope where the lane is. */
enum lw_status dbg_locals_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** The parameters of the frame that is shown, a line each. */
enum lw_status dbg_parameters_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;
/** A group of lanes that a convergence register of a warp holds. */
struct dbg_convergence {
    unsigned reg;             /* the register, */
    uint64_t seen;            /* and its lanes up to this group; both zero at first */
    uint64_t number, lanes, waiting;
};
/** The next group, in order of registers and lowest lanes; false: that was the last. */
bool dbg_convergence_next(const struct dbg_warp *warp, const struct emu_warp_view *view,
                          const struct emu_split_view *splits, unsigned count,
                          struct dbg_convergence *it);
/** dbg_mem_read and dbg_mem_write, for a lane that need not be the focus. */
uint64_t dbg_mem_access(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t address,
                        void *data, uint64_t size_bytes, bool write);
/** The stack window of a lane, 0xF4<<56 | warp slot<<40 | lane<<32 | offset: return addresses alone, 8
 *  bytes a frame, zeros elsewhere. At every pc of every function [CFA - 8] is the return address, a
 *  kernel's is DBG_LAUNCH_PC. */
void dbg_stack_read(const struct dbg *dbg, dbg_thread_id id, unsigned lane, uint64_t offset,
                    bool frames, uint8_t *data, uint64_t size);
/** Make the register table; LW_ENOMEM. */
enum lw_status dbg_regs_build(struct dbg *dbg, struct lw_error *err) LW_MUST_CHECK;
/** The launch that a thread is of, or the one that runs. NULL: none. */
const struct emu_grid *dbg_thread_grid(const struct dbg *dbg, dbg_thread_id id);
/** Number of a warp in window addresses. */
unsigned dbg_warp_slot(const struct dbg *dbg, const struct dbg_warp *warp);
/** Warp of a window's slot number. */
bool dbg_warp_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *out);
/** Where the window of values shows a location of the object that the lane runs (dbg_value_window.c); 0: nowhere. */
uint64_t dbg_value_address(struct dbg *dbg, dbg_thread_id id, unsigned lane, uint32_t location);
/** The piece of a variable that an address of that window is in, and the lane whose it is. False: it is not known. */
bool dbg_value_piece(struct dbg *dbg, uint64_t address, struct isa_piece *piece, dbg_thread_id *id, unsigned *lane);
/** As dbg_mem_access, for that window. */
uint64_t dbg_value_access(struct dbg *dbg, uint64_t address, uint8_t *data, uint64_t size, bool write);
/** The scalar register at an offset of a lane's part of the window 0xF8; beyond all: none is. */
unsigned dbg_window_scalar(uint32_t offset);
/** The same of blocks: number of the slot of a warp's block; and @warp, which is some warp of the
 *  machine, becomes the first one of the block that is in slot @number. */
unsigned dbg_block_slot(const struct dbg *dbg, const struct dbg_warp *warp);
bool dbg_block_by_slot(const struct dbg *dbg, uint64_t number, struct dbg_warp *warp);

/* ---- frames (dbg_frames.c) ------------------------------------------------------------- */

/** A call that the compiler has inlined where a pc is. */
struct dbg_inlined {
    const char *name;       /* of the function; NULL: not known */
    unsigned file, line;    /* of the call; file is an index into the object's */
    int64_t die;
};
/** Innermost first; the count. */
unsigned dbg_inlined_at(const struct dbg *dbg, uint64_t pc, struct dbg_inlined *out,
                        unsigned capacity);
/** Where inlined calls of the function that @name means begin: adds to the @count of @pcs, at most
 *  @capacity; the count. */
unsigned dbg_inlined_calls(const struct dbg *dbg, const char *name, uint64_t *pcs, unsigned count,
                           unsigned capacity);
/** Type of what the function around @pc returns, by its debug information. False: nothing, or not
 *  known. */
bool dbg_result_type(const struct dbg *dbg, uint64_t pc, const struct isa_debug **debug,
                     int64_t *type);

/** A frame as users count them: inlined calls have frames of their own. */
struct dbg_frame_location {
    uint64_t pc;            /* where it is: of a caller, the call */
    unsigned frame;         /* the frame of dbg_frame_at that it is in */
    char name[256];         /* of its function; "": none */
    const char *file;       /* NULL: no line is known */
    unsigned line;
    bool inlined;           /* it has no frame of its own: */
    int64_t call;           /* the inlined call that it is, -1: none */
    int64_t inner;          /* the inlined call in it that leads on, -1: none */
};
/** False when @index is past the last. */
bool dbg_frame_location_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame_location *out);
/** "  n = 3, p = {...}": the parameters of a frame's function; nothing where none are known. */
void dbg_arguments_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_frame_location *location, struct lw_sink *out);
/** The number of the frame that `up`, `down` and `frame` chose for the lane. The choice ends when the
 *  lane moves, or another lane is shown. */
unsigned dbg_frame_number(const struct dbg *dbg, dbg_thread_id id, unsigned lane);
unsigned dbg_frame_count(struct dbg *dbg, dbg_thread_id id, unsigned lane);
/** The number of the frame whose variables an expression means in @lane: where one was chosen for the lane
 *  in focus, the one as far from the kernel's. False: the lane has not been called so deep. */
bool dbg_frame_shown(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned *index);
void dbg_frame_choose(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index);

/* ---- source -------------------------------------------------------------------------- */

void dbg_sources_free(struct dbg *dbg);
/** Line row at @pc and the function; *start: a row begins here. False: none. */
bool dbg_row_at(const struct dbg *dbg, uint64_t pc, const struct isa_line **row, bool *start);
const struct isa_function *dbg_function_at(const struct dbg *dbg, uint64_t pc);
/** Guest address of a function's first instruction. */
uint64_t dbg_function_pc(const struct dbg *dbg, const struct isa_function *function);
/** What the source calls a function: "util::twice(float)" of C++, else its symbol's name. */
void dbg_function_source_name(const struct dbg *dbg, const struct isa_function *function,
                              char *text, size_t size);
/** The same without the types of parameters: "util::twice". */
void dbg_function_short_name(const struct dbg *dbg, const struct isa_function *function,
                             char *text, size_t size);
/** Does @name mean it: that name, without namespaces, without its types, or without the
 *  arguments of its template? */
bool dbg_function_is_called(const struct dbg *dbg, const struct isa_function *function,
                            const char *name);
/** Where a breakpoint on a function is inserted: after the prologue. */
uint64_t dbg_function_body(const struct dbg *dbg, const struct isa_function *function);

/* ---- display ----------------------------------------------------------------------- */

void dbg_displays_free(struct dbg *dbg);
/** All of them, a line each, for the view focus. */
void dbg_displays_show(struct dbg *dbg, struct lw_sink *out);

/* ---- tables ---------------------------------------------------------------------------- */

/** "0x000000ff", as many digits as the width wants. */
void dbg_show_mask(const struct dbg *dbg, uint64_t lanes, struct lw_sink *out);
/** A line of the list of points. */
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
/** Counts of the whole run, one a line; zero counts are left out. */
void dbg_show_stats(struct dbg *dbg, struct lw_sink *out);
/* ---- scopes (dbg_scopes.c) ----------------------------------------------------------- */

/** Where a lane is in its program. */
struct dbg_where {
    const struct emu_program *program;
    const struct isa_object *object;
    uint32_t insn;
    unsigned frame; /* whose variables: 0 is the innermost */
    int64_t inner;  /* an inlined call in it that is not looked into, or ISA_NO_DIE */
};
bool dbg_where_is(const struct dbg *dbg, uint64_t pc, struct dbg_where *out);
/** Scopes around the instruction, outermost first; the count. */
unsigned dbg_find_scopes(const struct dbg_where *at, uint32_t *scopes, unsigned capacity);
/* ---- stops and the focus (dbg_stop_focus.c) ---------------------------------------------- */

/** Both foci to @lane of a thread, and the stop there. */
void dbg_stop_on(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind,
                 dbg_thread_id id, unsigned lane);
/** A stop that does not move the focus by itself: it stays unless its lane or warp is gone. */
enum lw_status dbg_finish_stop(struct dbg *dbg, enum dbg_stop_kind kind, struct dbg_stop *stop,
                          struct lw_error *err) LW_MUST_CHECK;
void dbg_stop_at(struct dbg *dbg, struct dbg_stop *stop, enum dbg_stop_kind kind, const struct dbg_thread *thread);
void dbg_stop_ended(struct dbg *dbg, struct dbg_stop *stop);
/** Host steps up to the next launch; *more is false when nothing is left. */
enum lw_status dbg_next_launch(struct dbg *dbg, bool *more, struct lw_error *err) LW_MUST_CHECK;
/* ---- types of the source (dbg_types.c) ------------------------------------------------- */

bool dbg_tag_is_structure(unsigned tag);
/** It is called char: text. */
bool dbg_type_is_char(const struct isa_debug *debug, int64_t type);
/** "const float *", as a declaration names it; after @skip dimensions. */
void dbg_type_print(const struct isa_debug *debug, int64_t type, unsigned skip,
                    struct lw_sink *out);
/** The same past names, structures and enumerations with what they hold. */
void dbg_type_print_whole(const struct isa_debug *debug, int64_t type, unsigned skip,
                          struct lw_sink *out);
/** The debugger's type of a base, enumeration or pointer type; false: an aggregate. */
bool dbg_type_scalar(const struct isa_debug *debug, int64_t type, enum dbg_type *out,
                     unsigned *bytes);
/** "struct", "class", "union", "enum" or nothing. */
const char *dbg_type_keyword(unsigned tag);
/** A declaration of @inner ("*", "(*)[4]", "") by this type, as C writes it. */
void dbg_type_declare(const struct isa_debug *debug, int64_t type, unsigned skip, const char *inner, unsigned depth,
                      struct lw_sink *out);
/** The machine's current count of instructions. */
uint64_t dbg_history_now(const struct dbg *dbg);
/** A function's name without the arguments of its template. */
void dbg_name_cut_template(char *name);
/** A file of the line table by its number, "" where there is none; a path without its folders. */
const char *dbg_file_name(const struct isa_object *object, unsigned file);
const char *dbg_base_name(const char *path);

/* ---- what commands call ------------------------------------------------------------ */

/** Another condition; NULL or "": none. */
enum lw_status dbg_stoppoint_condition(struct dbg *dbg, unsigned id, const char *condition,
                                   struct lw_error *err) LW_MUST_CHECK;
unsigned dbg_stoppoint_count(const struct dbg *dbg);
/** Each split of the thread's warp, or (@block) of all warps of its block, retires one instruction
 *  if it can run, so lanes and warps advance in lockstep. If none can, the stop is DBG_STOP_BLOCKED. The
 *  focus does not change. Errors: LW_ESTATE when the thread has ended. */
enum lw_status dbg_step_together(struct dbg *dbg, dbg_thread_id id, bool block,
                                 struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** A source line: step into calls, or over them (by the lane's frame). */
enum lw_status dbg_step_line(struct dbg *dbg, dbg_thread_id id, bool over, bool locked,
                             struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Back to the beginning of a source line; @over: calls are undone as a whole. */
enum lw_status dbg_reverse_step_line(struct dbg *dbg, dbg_thread_id id, bool over,
                                     struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Back to the call of the function that the lane is in. */
enum lw_status dbg_reverse_finish(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                  struct lw_error *err) LW_MUST_CHECK;
/** "file:line", "line" (file of the focus), "function", "*address", "+n/-n". Several pcs
 *  may match (one for each is_stmt row that starts the line in a function); the lowest of
 *  each scope (function, block, inlined call, copy of code) is given. */
enum lw_status dbg_location_parse(const struct dbg *dbg, const char *text, uint64_t *pcs,
                                  unsigned capacity, unsigned *count, struct lw_error *err)
    LW_MUST_CHECK;
bool dbg_source_at(const struct dbg *dbg, uint64_t pc, const char **file, unsigned *line);
/** Text of a source line, found by the object's compilation folder, then the working
 *  folder; NULL when the file cannot be read. Borrowed until dbg_destroy. */
const char *dbg_source_line(struct dbg *dbg, const char *file, unsigned line);
/** Disassembly with symbols: @count instructions from @pc. */
void dbg_disassemble(const struct dbg *dbg, uint64_t pc, unsigned count, bool source,
                     struct lw_sink *out);
/** "TARGET = EXPRESSION": a register of the lane (v3, v2:3, v3.f32, p0, s0), of another lane
 *  (v3[5]), memory (u32[...]), pc, lane or exec. */
enum lw_status dbg_assign(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                          struct lw_error *err) LW_MUST_CHECK;

#endif
