/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of debug/: one debugger core for two front ends, the shell and the gdb stub. Everything
 * that handles lanes is here (MACHINE 9); the front ends only format text and frame packets.
 */
#ifndef DEBUG_H
#define DEBUG_H

#include "emu/emu.h"

/** Called when the engine is idle: carries out host steps up to the next launch. Sets *more
 *  to false when there is nothing left to run. */
typedef enum lw_status (*dbg_next_fn)(void *context, bool *more, struct lw_error *err);

/** A buffer of the launch file: where it is now (files may swap them), and its elements. */
struct dbg_buffer {
    uint64_t address, count;
    const char *type; /* "f32" */
};
typedef bool (*dbg_buffer_fn)(void *context, const char *name, struct dbg_buffer *out);
/** @cells are borrowed until it returns; one for each column. */
typedef void (*dbg_row_fn)(void *context, const char *const *cells, unsigned count);

struct dbg;

/** Where a checker found something. The checker is no part of debug/: cmd/ passes the finding to it. */
struct dbg_finding {
    uint32_t grid;    /* sequence; 0: no kernel did it */
    uint64_t block;   /* linear */
    unsigned warp;    /* in the block */
    uint64_t lanes, pc;
    bool no_stop;     /* the user has disabled stops for its kind */
};

struct dbg_config {
    struct emu_machine *machine;  /* borrowed */
    struct emu_engine *engine;    /* borrowed */
    dbg_next_fn next;             /* may be NULL: only what is queued runs */
    void *next_context;
    /** May be NULL: names of allocations are then addresses only. It returns false for a name that no
     *  buffer has. */
    dbg_buffer_fn buffer;
    void *buffer_context;
    /** Describes the finding @number of dbg_finding(): writes its message to @text (no full stop) and
     *  fills @out. Called when the stop is made, as one instruction may add to a finding. */
    void (*finding)(void *context, unsigned number, struct dbg_finding *out, struct lw_sink *text);
    /** The rows of the table "findings"; both may be NULL: there are none. */
    void (*findings)(void *context, dbg_row_fn row, void *row_context);
    void *findings_context;
    const char *timed;            /* the machine whose cycles the engine counts; NULL: none are */
    struct lw_sink *messages;     /* notes while running ("lane 5 exited, ..."), and what kernels
                                   * print, when they do; may be NULL */
};
/** Starts with the first grid queued (calls next) and the focus on its first warp.
 *  Errors: as next. With nothing to run: LW_OK, dbg_ended() is true. */
enum lw_status dbg_create(const struct dbg_config *config, struct dbg **out,
                          struct lw_error *err) LW_MUST_CHECK;
void dbg_destroy(struct dbg *dbg);
void dbg_set_messages(struct dbg *dbg, struct lw_sink *messages);
/** Commands dim inactive lanes with terminal colours from now on. */
void dbg_set_colour(struct dbg *dbg, bool on);
struct emu_machine *dbg_machine(const struct dbg *dbg);

/* ---- threads: warps, named as gdb names them ------------------------------- */

/** 1 + warps of earlier grids + block * warps per block + warp. Never reused. */
typedef uint64_t dbg_thread_id;
struct dbg_thread {
    dbg_thread_id id;
    struct emu_thread_ref location;   /* grid, block, warp; split and pc of the focus lane */
    uint32_t block_index[3];
    unsigned lane;            /* focus lane of this warp */
    uint64_t active;          /* lanes of the focus lane's split that run (M & exec) */
    bool ready;               /* that split waits for nothing */
    uint64_t live;
    uint64_t retired;         /* instructions that its lanes have executed */
};
/** Resident warps in (grid, block, warp) order. */
unsigned dbg_thread_count(const struct dbg *dbg);
bool dbg_thread_at(const struct dbg *dbg, unsigned index, struct dbg_thread *out);
bool dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out);
/** "block(0,0,0) w0 lane 0" and "pc=0x.. active=32/32 state=ready splits=1". */
void dbg_thread_name(const struct dbg *dbg, const struct dbg_thread *thread,
                     struct lw_sink *out);
void dbg_thread_state(const struct dbg *dbg, const struct dbg_thread *thread,
                      struct lw_sink *out);

/* ---- focus: what runs and what is shown -------------------------------------- */

enum dbg_focus { DBG_FOCUS_RUN, DBG_FOCUS_VIEW };
/** The thread a focus is on; 0 when nothing is resident. */
dbg_thread_id dbg_focus_get(const struct dbg *dbg, enum dbg_focus focus);
enum lw_status dbg_focus_set(struct dbg *dbg, enum dbg_focus focus, dbg_thread_id id,
                             struct lw_error *err) LW_MUST_CHECK;
/** Focus lane of a thread. Errors: LW_ERANGE for a lane that exited or does not exist. */
unsigned dbg_lane_get(const struct dbg *dbg, dbg_thread_id id);
enum lw_status dbg_lane_set(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                            struct lw_error *err) LW_MUST_CHECK;
/** How many variables in scope where @lane is have no value there; *@help: how to compile to see them. */
unsigned dbg_locals_missing(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char **help);

/* ---- stoppoints: breakpoints, watchpoints, catchpoints --------------------------- */

enum dbg_owner { DBG_OWNER_SHELL, DBG_OWNER_GDB };
enum dbg_stoppoint_kind {
    DBG_STOPPOINT_BREAK,  /* before the instruction at pc */
    DBG_STOPPOINT_WATCH,  /* bytes are written, read or both: stops after that instruction */
    DBG_STOPPOINT_CATCH   /* something happens to a split, a lane or a launch */
};
enum dbg_access { DBG_ACCESS_WRITE = 1, DBG_ACCESS_READ = 2, DBG_ACCESS_BOTH = 3 };
/** What a DBG_STOPPOINT_CATCH stops for; bits. */
enum dbg_catch {
    DBG_CATCH_DIVERGE = 1,     /* a split divides */
    DBG_CATCH_RECONVERGE = 2,  /* splits become one */
    DBG_CATCH_BARRIER = 4,     /* lanes arrive at a CTA barrier */
    DBG_CATCH_EXIT = 8,        /* lanes exit */
    DBG_CATCH_LAUNCH = 16,     /* a launch begins */
    DBG_CATCH_ATOMIC = 32,     /* an atomic is done */
    DBG_CATCH_CONVERGENCE = 64 /* lanes arrive at a convergence barrier */
};
struct dbg_stoppoint {
    unsigned id;
    enum dbg_stoppoint_kind kind;
    enum dbg_owner owner;
    uint64_t pc;                 /* DBG_STOPPOINT_BREAK */
    uint64_t address;            /* DBG_STOPPOINT_WATCH: as the user gave it, */
    unsigned size_bytes, access; /* enum dbg_access */
    dbg_thread_id thread;        /* and if one warp or lane owns the memory: its owner */
    unsigned lane;
    unsigned catches;            /* DBG_STOPPOINT_CATCH: of enum dbg_catch */
    bool enabled, temporary;
    uint64_t hits;
    uint64_t ignore;             /* so many of the next hits do not stop */
    const char *text;            /* DBG_STOPPOINT_WATCH: what the user called it; may be NULL */
    const char *condition; /* expression text, NULL: none; evaluated once per active lane */
};
/**
 * A breakpoint at @pc in every warp: a split stops there before the instruction executes. When @owner
 * ends the breakpoint is deleted. Any number may be at one pc.
 *
 * @condition  expression text, evaluated for each active lane of the split; lanes for which it is true
 *             hit. NULL: all hit
 * @temporary  it is deleted at its first hit
 * @id         its number
 * Errors: LW_ERANGE, no instruction of a loaded program is at @pc; LW_EINPUT for the condition.
 */
enum lw_status dbg_breakpoint_add(struct dbg *dbg, enum dbg_owner owner, uint64_t pc,
                             const char *condition, bool temporary, unsigned *id,
                             struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_stoppoint_remove(struct dbg *dbg, unsigned id, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status dbg_stoppoint_enable(struct dbg *dbg, unsigned id, bool on, struct lw_error *err)
    LW_MUST_CHECK;
/**
 * Watch @size_bytes (1 to 64) at @address, as the focus lane of @id sees it: global, shared and
 * local memory, and registers through the windows. Memory of one block, warp or lane is watched for that
 * owner alone; when the owner ends the watchpoint is deleted with a message. Any number.
 * A write that leaves the bytes as they were does not stop a watch for writes.
 *
 * @access     enum dbg_access
 * @condition  as dbg_breakpoint_add, for the lanes that accessed it; may be NULL
 * @text       what the user called it, for lists and stops; may be NULL
 * Errors: LW_ERANGE, nothing readable is there; LW_EINPUT for the condition.
 */
enum lw_status dbg_watch_add(struct dbg *dbg, enum dbg_owner owner, dbg_thread_id id,
                             uint64_t address, unsigned size_bytes, unsigned access,
                             const char *condition, const char *text, unsigned *point,
                             struct lw_error *err) LW_MUST_CHECK;
/** A lane of a thread. */
struct dbg_lane_ref {
    dbg_thread_id id;
    unsigned lane;
};
/** As dbg_watch_add, as @lane_ref sees it, independent of the focus. A lane's memory or register can be
 *  watched even if its warp is not resident. */
enum lw_status dbg_watch_add_of(struct dbg *dbg, enum dbg_owner owner, const struct dbg_lane_ref *lane_ref,
                                uint64_t address, unsigned size_bytes, unsigned access,
                                unsigned *id, struct lw_error *err) LW_MUST_CHECK;
/** Stop after each instruction at which an event of @catches (enum dbg_catch) happens. */
enum lw_status dbg_catch_add(struct dbg *dbg, enum dbg_owner owner, unsigned catches,
                             const char *condition, bool temporary, unsigned *point,
                             struct lw_error *err) LW_MUST_CHECK;
/** The next @count hits do not stop; 0: all do. */
enum lw_status dbg_stoppoint_ignore(struct dbg *dbg, unsigned id, uint64_t count,
                                struct lw_error *err) LW_MUST_CHECK;
bool dbg_stoppoint_at(const struct dbg *dbg, unsigned index, struct dbg_stoppoint *out);
/** A condition made by the owner instead of an expression: called with the lane in focus,
 *  returns true to stop. Used for gdb's agent expressions. */
typedef bool (*dbg_condition_fn)(void *context, struct dbg *dbg, dbg_thread_id id,
                                 unsigned lane);
enum lw_status dbg_stoppoint_set_condition(struct dbg *dbg, unsigned id, dbg_condition_fn fn,
                                       void *context, void (*release)(void *context),
                                       struct lw_error *err) LW_MUST_CHECK;

/* ---- running -------------------------------------------------------------------- */

enum dbg_stop_kind {
    DBG_STOP_NONE, DBG_STOP_BREAKPOINT, DBG_STOP_STEP, DBG_STOP_FAULT, DBG_STOP_HANG,
    DBG_STOP_INTERRUPT, DBG_STOP_ENDED, /* everything ran to its end */
    DBG_STOP_BLOCKED,                     /* a locked warp waits for others */
    DBG_STOP_WATCH, DBG_STOP_CATCH,
    DBG_STOP_FINDING,                   /* a checker found something: text says what */
    DBG_STOP_HISTORY_BEGIN,             /* nothing earlier is kept: text says why */
    DBG_STOP_HISTORY_END                /* a replay reached the end of history */
};
/** A hit of a watchpoint whose condition was false. */
struct dbg_passed {
    uint64_t at; /* count of instructions before the access */
    dbg_thread_id thread;
    unsigned lane;
    bool there;
};
/** Why it stopped; printed by the shell, encoded by the stub. */
struct dbg_stop {
    enum dbg_stop_kind kind;
    dbg_thread_id thread;
    unsigned lane;
    uint64_t pc, hit_lanes;
    unsigned point;
    struct emu_fault fault;
    struct emu_hang hang;
    uint64_t watch_address;     /* DBG_STOP_WATCH: as the user gave it; */
    unsigned watch_access;      /* what was done, of enum dbg_access; */
    unsigned watch_bytes;       /* size of these: the values before and after the instruction */
    uint8_t old_bytes[64], new_bytes[64];
    uint64_t writer_pc;         /* the instruction that did it; pc is the next one of the lane */
    unsigned catches;           /* DBG_STOP_CATCH: what happened */
    struct dbg_passed passed;   /* DBG_STOP_WATCH of a gdb watchpoint in reverse: the last hit with a false condition */
    /** DBG_STOP_WATCH, DBG_STOP_CATCH: a breakpoint that lanes also hit at their pc after the instruction;
     *  0: none. hit_lanes are those that made the access. */
    unsigned breakpoint;
    uint64_t breakpoint_lanes;
    char text[1024]; /* a message, if there is more to say than the kind; may be empty */
};
void dbg_stop_print(const struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
const struct dbg_stop *dbg_last_stop(const struct dbg *dbg);
bool dbg_ended(const struct dbg *dbg);

/** Run all until something stops. Lanes that a stop has shown at a breakpoint do not hit it again before
 *  they move; they are stepped over it. */
enum lw_status dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** The focus lane of @id retires one instruction (MACHINE 9). @locked: nothing else runs;
 *  DBG_STOP_BLOCKED: others would have to run first. */
enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err) LW_MUST_CHECK;
/** Steps until the focus lane's pc leaves [low, high), or something stops. */
enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Called by chk_options.found (which cmd/ passes on) while an instruction or a host step is carried out.
 *  It halts the machine (emu_machine_halt), so the run stops after that instruction with DBG_STOP_FINDING,
 *  with the first live lane of the finding in focus. dbg_config.finding then describes @number. */
void dbg_finding(struct dbg *dbg, unsigned number);
/** Prints a line among the messages of a running command. */
void dbg_finding_record(struct dbg *dbg, const char *text);
/** Count of instructions before the one of finding @number; UINT64_MAX: not known. */
uint64_t dbg_finding_at(const struct dbg *dbg, unsigned number);
/** Async-signal-safe: the current run stops soon. */
void dbg_interrupt(struct dbg *dbg);

/* ---- reverse execution --------------------------------------------------------------- */

/**
 * Keep history from now on, so that the functions below work (docs/explanation/history.md). Without history they
 * return LW_ESTATE with the reason.
 *
 * @budget_bytes  for snapshots and the log; 0: 256 MiB
 * @save_host, @load_host  the host's position in its steps, as in struct emu_history_options; both
 *                NULL when it has none
 * Errors: LW_EUNSUPP when the engine keeps none.
 */
enum lw_status dbg_history_start(struct dbg *dbg, uint64_t budget_bytes,
                                 bool (*save_host)(void *context, void **data, size_t *size),
                                 void (*load_host)(void *context, const void *data, size_t size),
                                 void *context, struct lw_error *err) LW_MUST_CHECK;
/** The reverse of dbg_step: undoes the last instruction that the focus lane of @id has retired, and all
 *  that happened since. This and the functions below stop with DBG_STOP_HISTORY_BEGIN at the start of history. */
enum lw_status dbg_reverse_step(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Back to the most recent hit of a stoppoint whose condition holds: for a watchpoint, before the
 *  access. Without a hit, to the start of history. */
enum lw_status dbg_reverse_continue(struct dbg *dbg, struct dbg_stop *stop,
                                    struct lw_error *err) LW_MUST_CHECK;
/** To a count of warp instructions of the whole run; UINT64_MAX: to the end of history. */
enum lw_status dbg_goto(struct dbg *dbg, uint64_t instructions, struct dbg_stop *stop,
                        struct lw_error *err) LW_MUST_CHECK;
/** True: a reverse search evaluates conditions now, which must not print or count. */
bool dbg_is_searching_back(const struct dbg *dbg);
/** The current count of instructions, and the kept range. False: no history is kept. */
bool dbg_history_info(const struct dbg *dbg, struct emu_history_info *out);

/* ---- locations and values ----------------------------------------------------------- */

/** "saxpy+0x30 (saxpy.cl:12)". */
void dbg_print_location(const struct dbg *dbg, uint64_t pc, struct lw_sink *out);

/** One instruction's text, with the names of what it jumps to. False: there is none at @pc. */
bool dbg_insn_print(const struct dbg *dbg, uint64_t pc, struct lw_sink *out);

/** Values of expressions, per lane: 64-bit integers or floats. */
enum dbg_type { DBG_U32, DBG_S32, DBG_U64, DBG_S64, DBG_F32, DBG_F64 };
struct dbg_value {
    enum dbg_type type;
    uint64_t bits;
};
/** Evaluate for one lane of a thread. Names: v0 (u32), v0.f32, v0.s32, v2:3 (u64, .f64),
 *  s0, p0, sp0, exec, pc, lane, warp, active, tid.x ..., $-prefix allowed, integers,
 *  operators of C, [address] typed loads as u32[expr], f32[expr], ... */
enum lw_status dbg_eval(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                        struct dbg_value *out, struct lw_error *err) LW_MUST_CHECK;
bool dbg_value_true(const struct dbg_value *value);
void dbg_value_print(const struct dbg_value *value, char format, struct lw_sink *out);
/** One expression over all lanes of a thread: inactive lanes dimmed when @colour. */
enum lw_status dbg_print_lanes(struct dbg *dbg, dbg_thread_id id, const char *text,
                               bool colour, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;

/** What could be named, for completion: variables in scope where the lane is, innermost first,
 *  then those of the module; functions as the source calls them; CUDA's and OpenCL's built-in
 *  variables by their parts ("threadIdx.x"); marks in history; the words of coordinates ("block");
 *  what `info cuda` lists. A name may occur twice. */
enum dbg_names {
    DBG_NAMES_VARIABLES, DBG_NAMES_FUNCTIONS, DBG_NAMES_BUILT_IN, DBG_NAMES_MARKS,
    DBG_NAMES_COORDINATES, DBG_NAMES_CUDA
};
typedef void (*dbg_name_fn)(void *context, const char *name);
void dbg_names_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, enum dbg_names which,
                    dbg_name_fn fn, void *context);

/** Registers as the front ends see them: one table for shell names and target.xml. */
enum dbg_reg_kind {
    DBG_REG_VECTOR, DBG_REG_SCALAR, DBG_REG_PRED, DBG_REG_SPRED, DBG_REG_SPECIAL,
    DBG_REG_EXEC, DBG_REG_PC, DBG_REG_LANE, DBG_REG_ACTIVE, DBG_REG_HIT_LANES,
    DBG_REG_WARP, DBG_REG_BLOCK, DBG_REG_RETIRED, DBG_REG_FAULT_CODE, DBG_REG_FAULT_ADDR,
    DBG_REG_FAULT_LANES, DBG_REG_CYCLE, DBG_REG_BARRIER, DBG_REG_LANE_PCS
};
struct dbg_reg {
    char name[16];
    enum dbg_reg_kind kind;
    unsigned number;
    unsigned bytes;      /* whole register: vectors have 4 * W */
    const char *group;   /* "vector", "scalar", "predicate", "warp", "special" */
    bool writable;
};
/** The registers that the current program's kernels use; fixed for a connection. */
unsigned dbg_reg_count(const struct dbg *dbg);
bool dbg_reg_at(const struct dbg *dbg, unsigned index, struct dbg_reg *out);
int dbg_reg_find(const struct dbg *dbg, const char *name);
/** Whole register of a thread, little-endian; @capacity >= bytes. */
enum lw_status dbg_reg_read(const struct dbg *dbg, dbg_thread_id id, unsigned index,
                            void *data, size_t capacity, struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_reg_write(struct dbg *dbg, dbg_thread_id id, unsigned index,
                             const void *data, size_t size, struct lw_error *err)
    LW_MUST_CHECK;

/** Memory as a debugger sees it (docs/reference/gdb.md): generic addresses through the thread's
 *  focus lane, and the debug windows in the top bytes 0xF0..0xFC. Reads of a window give whole lines,
 *  filled with zeros. Returns bytes copied from the start. */
uint64_t dbg_mem_read(struct dbg *dbg, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size_bytes);
uint64_t dbg_mem_write(struct dbg *dbg, dbg_thread_id id, uint64_t address, const void *data,
                       uint64_t size_bytes);

/** Where a kernel returns to, in the stack window: the function <launch> of the ELF that debuggers
 *  are served (docs/reference/object.md). No code is there. */
#define DBG_LAUNCH_PC (ISA_CODE_BASE - ISA_WORD_BYTES)

/** A lane's frames, innermost first; false when @index is past the last. */
struct dbg_frame {
    uint64_t pc, cfa;
    uint64_t entry; /* of the function; 0: it is not known */
    const struct isa_function *function;
};
bool dbg_frame_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame *out);

/** Result of the call that a lane has just returned from, divided as the System V ABI of x86-64
 *  divides a result: up to two words, each for a floating-point register (real) or an integer one;
 *  or, with count 0, the address of a longer result. */
struct dbg_return_words {
    unsigned count;
    uint64_t word[2];
    bool real[2];
    uint64_t address;
};
/** False: it returns nothing, or its result is not known. */
bool dbg_returned_words(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                        struct dbg_return_words *out);

/** Where the loader has put global variable @index of @object; 0: it was left out. False when
 *  @object is not the program that was loaded first. */
bool dbg_variable_address(const struct dbg *dbg, const struct isa_object *object, unsigned index,
                          uint64_t *out);

/* ---- tables: `info os` in gdb ------------------------------------------------------- */

/** A table of the machine's state: its rows are texts, one for each column. */
struct dbg_table {
    const char *name, *summary;
    const char *const *columns; /* ends with NULL */
};
/** NULL past the last. */
const struct dbg_table *dbg_table_at(unsigned index);
/** Emits the rows of a table; none for an index that does not exist. */
void dbg_table_rows(struct dbg *dbg, unsigned index, dbg_row_fn emit, void *context);

/** Adds the debugger's tables to @set: break, step, continue, watch, reverse-step, warps,
 *  print, ... Commands that resume print the stop. */
void dbg_register_commands(struct dbg *dbg, struct lw_command_set *set);

#endif
