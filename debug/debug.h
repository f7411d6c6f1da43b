/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of debug/: one debugger core for two front ends, the shell and the gdb stub. Everything
 * that handles lanes is here (MACHINE 9); the front ends only format text and frame packets.
 */
#ifndef DEBUG_H
#define DEBUG_H

#include "emu/emu.h"

/** Executes host steps up to the next launch. Called when the engine is idle. Sets *more to false if no work is left. */
typedef enum lw_status (*dbg_next_fn)(void *context, bool *more, struct lw_error *err);

/** Buffer of the launch file: its current address (steps may swap buffers) and its elements. */
struct dbg_buffer {
    uint64_t address, count;
    const char *type; /* "f32" */
};
typedef bool (*dbg_buffer_fn)(void *context, const char *name, struct dbg_buffer *out);
/** Receives one row of a table. @cells has one text for each column, borrowed until the function returns. */
typedef void (*dbg_row_fn)(void *context, const char *const *cells, unsigned count);

struct dbg;

/** Location of a checker's finding. The checker is not part of debug/: cmd/ passes the finding to it. */
struct dbg_finding {
    uint32_t grid;    /* sequence number of the launch; 0: no kernel caused the finding */
    uint64_t block;   /* linear index */
    unsigned warp;    /* index in the block */
    uint64_t lanes, pc;
    bool no_stop;     /* the user has disabled stops for findings of this kind */
};

struct dbg_config {
    struct emu_machine *machine;  /* borrowed */
    struct emu_engine *engine;    /* borrowed */
    dbg_next_fn next;             /* may be NULL: only launches that are already queued run */
    void *next_context;
    /** Looks up a buffer by name; returns false if no buffer has the name. NULL: allocations are shown as
     *  addresses. */
    dbg_buffer_fn buffer;
    void *buffer_context;
    /** Describes finding @number of dbg_finding(): writes its message to @text (no full stop) and fills @out.
     *  Called when the stop is made, because one instruction may add to a finding. */
    void (*finding)(void *context, unsigned number, struct dbg_finding *out, struct lw_sink *text);
    /** Emits the rows of the table "findings". May be NULL: the table is then empty. */
    void (*findings)(void *context, dbg_row_fn row, void *row_context);
    void *findings_context;
    const char *timed;            /* name of the GPU model whose cycles the engine counts; NULL: the engine counts
                                   * no cycles */
    struct lw_sink *messages;     /* receives notes during a run ("lane 5 exited, ...") and the kernels' printf
                                   * output; may be NULL */
};
/** Creates a session that starts with the first queued grid (calls `next` for it) and has the focus on the grid's first
 *  warp. Errors: the errors of `next`. If there is nothing to run it returns LW_OK, and dbg_ended() is true. */
enum lw_status dbg_create(const struct dbg_config *config, struct dbg **out,
                          struct lw_error *err) LW_MUST_CHECK;
void dbg_destroy(struct dbg *dbg);
void dbg_set_messages(struct dbg *dbg, struct lw_sink *messages);
/** Sets whether commands dim inactive lanes with terminal colours. */
void dbg_set_colour(struct dbg *dbg, bool on);
struct emu_machine *dbg_machine(const struct dbg *dbg);

/* ---- threads: warps, named as gdb names them ------------------------------- */

/** Thread id of a warp: 1 + warps of earlier grids + block * warps per block + warp. Ids are never reused. */
typedef uint64_t dbg_thread_id;
struct dbg_thread {
    dbg_thread_id id;
    struct emu_thread_ref location;   /* grid, block, warp; split and pc of the focus lane */
    uint32_t block_index[3];
    unsigned lane;            /* focus lane of the warp */
    uint64_t active;          /* active lanes (split mask and exec) of the focus lane's split */
    bool ready;               /* the focus lane's split is not blocked */
    uint64_t live;
    uint64_t retired;         /* instructions that the warp's lanes have executed */
};
/** Returns the number of resident warps. */
unsigned dbg_thread_count(const struct dbg *dbg);
/** Gets the resident warp with number @index in (grid, block, warp) order. Returns false if there is none. */
bool dbg_thread_at(const struct dbg *dbg, unsigned index, struct dbg_thread *out);
/** Gets the resident warp with thread id @id. Returns false if there is none. */
bool dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out);
/** Prints "block(0,0,0) w0 lane 0". */
void dbg_thread_name(const struct dbg *dbg, const struct dbg_thread *thread,
                     struct lw_sink *out);
/** Prints "pc=0x.. active=32/32 state=ready splits=1". */
void dbg_thread_state(const struct dbg *dbg, const struct dbg_thread *thread,
                      struct lw_sink *out);

/* ---- focus: what runs and what is shown -------------------------------------- */

enum dbg_focus { DBG_FOCUS_RUN, DBG_FOCUS_VIEW };
/** Returns the thread of a focus; 0 when nothing is resident. */
dbg_thread_id dbg_focus_get(const struct dbg *dbg, enum dbg_focus focus);
enum lw_status dbg_focus_set(struct dbg *dbg, enum dbg_focus focus, dbg_thread_id id,
                             struct lw_error *err) LW_MUST_CHECK;
/** Returns the focus lane of a thread. */
unsigned dbg_lane_get(const struct dbg *dbg, dbg_thread_id id);
/** Sets the focus lane of a thread. Errors: LW_ERANGE for a lane that has exited or does not exist. */
enum lw_status dbg_lane_set(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                            struct lw_error *err) LW_MUST_CHECK;
/** Returns how many variables in scope at @lane have no value there. *@help is set to the compiler options
 *  that would keep their values. */
unsigned dbg_locals_missing(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char **help);

/* ---- stoppoints: breakpoints, watchpoints, catchpoints --------------------------- */

enum dbg_owner { DBG_OWNER_SHELL, DBG_OWNER_GDB };
enum dbg_stoppoint_kind {
    DBG_STOPPOINT_BREAK,  /* stops before the instruction at pc */
    DBG_STOPPOINT_WATCH,  /* stops after an instruction that wrote or read the watched bytes */
    DBG_STOPPOINT_CATCH   /* stops after an event of a split, a lane or a launch */
};
enum dbg_access { DBG_ACCESS_WRITE = 1, DBG_ACCESS_READ = 2, DBG_ACCESS_BOTH = 3 };
/** Events that a DBG_STOPPOINT_CATCH stops for, as bits. */
enum dbg_catch {
    DBG_CATCH_DIVERGE = 1,     /* a split diverges */
    DBG_CATCH_RECONVERGE = 2,  /* splits reconverge */
    DBG_CATCH_BARRIER = 4,     /* lanes arrive at a CTA barrier */
    DBG_CATCH_EXIT = 8,        /* lanes exit */
    DBG_CATCH_LAUNCH = 16,     /* a launch begins */
    DBG_CATCH_ATOMIC = 32,     /* an atomic executes */
    DBG_CATCH_CONVERGENCE = 64 /* lanes arrive at a convergence barrier */
};
struct dbg_stoppoint {
    unsigned id;
    enum dbg_stoppoint_kind kind;
    enum dbg_owner owner;
    uint64_t pc;                 /* DBG_STOPPOINT_BREAK: address of the instruction */
    uint64_t address;            /* DBG_STOPPOINT_WATCH: address as the user gave it */
    unsigned size_bytes, access; /* DBG_STOPPOINT_WATCH: enum dbg_access */
    dbg_thread_id thread;        /* DBG_STOPPOINT_WATCH of memory or registers that one warp or lane owns: this
                                  * thread owns them */
    unsigned lane;
    unsigned catches;            /* DBG_STOPPOINT_CATCH: bits of enum dbg_catch */
    bool enabled, temporary;
    uint64_t hits;
    uint64_t ignore;             /* number of further hits that do not stop */
    const char *text;            /* DBG_STOPPOINT_WATCH: the user's text for the location; may be NULL */
    const char *condition; /* expression text, evaluated for each active lane; NULL: none */
};
/**
 * Adds a breakpoint at @pc in every warp: a split stops there before the instruction executes. The breakpoint
 * is deleted when @owner ends. Several breakpoints may be at one pc.
 * @condition  expression text, evaluated for each active lane of the split; lanes for which it is true
 *             hit. NULL: all lanes hit
 * @temporary  deletes the breakpoint at its first hit
 * @id         set to the breakpoint's number
 * Errors: LW_ERANGE if no instruction of a loaded program is at @pc; LW_EINPUT for the condition.
 */
enum lw_status dbg_breakpoint_add(struct dbg *dbg, enum dbg_owner owner, uint64_t pc,
                             const char *condition, bool temporary, unsigned *id,
                             struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_stoppoint_remove(struct dbg *dbg, unsigned id, struct lw_error *err)
    LW_MUST_CHECK;
enum lw_status dbg_stoppoint_enable(struct dbg *dbg, unsigned id, bool on, struct lw_error *err)
    LW_MUST_CHECK;
/**
 * Adds a watchpoint on @size_bytes (1 to 64) at @address, as the focus lane of @id sees it: global, shared
 * and local memory, and registers through the debug address ranges. Memory of one block, warp or lane is
 * watched for that owner alone; when the owner ends, the watchpoint is deleted with a message. The number of
 * watchpoints is not limited. A write that leaves the bytes unchanged does not stop a watchpoint for writes.
 * @access     enum dbg_access
 * @condition  as dbg_breakpoint_add, evaluated for the lanes that made the access; may be NULL
 * @text       the user's text for the location, for lists and stops; may be NULL
 * Errors: LW_ERANGE if nothing readable is at @address; LW_EINPUT for the condition.
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
/** Adds a watchpoint as dbg_watch_add does, but for the lane @lane_ref instead of the focus. A lane's memory or register can be
 *  watched even if its warp is not resident. */
enum lw_status dbg_watch_add_of(struct dbg *dbg, enum dbg_owner owner, const struct dbg_lane_ref *lane_ref,
                                uint64_t address, unsigned size_bytes, unsigned access,
                                unsigned *id, struct lw_error *err) LW_MUST_CHECK;
/** Adds a catchpoint: the run stops after each instruction at which an event of @catches (enum dbg_catch)
 *  happens. */
enum lw_status dbg_catch_add(struct dbg *dbg, enum dbg_owner owner, unsigned catches,
                             const char *condition, bool temporary, unsigned *point,
                             struct lw_error *err) LW_MUST_CHECK;
/** Lets the next @count hits of a stoppoint pass without a stop; 0: every hit stops. */
enum lw_status dbg_stoppoint_ignore(struct dbg *dbg, unsigned id, uint64_t count,
                                struct lw_error *err) LW_MUST_CHECK;
bool dbg_stoppoint_at(const struct dbg *dbg, unsigned index, struct dbg_stoppoint *out);
/** Condition that the owner evaluates instead of an expression. Called with the lane in focus; returns true
 *  to stop. The stub evaluates gdb's agent expressions with it. */
typedef bool (*dbg_condition_fn)(void *context, struct dbg *dbg, dbg_thread_id id,
                                 unsigned lane);
enum lw_status dbg_stoppoint_set_condition(struct dbg *dbg, unsigned id, dbg_condition_fn fn,
                                       void *context, void (*release)(void *context),
                                       struct lw_error *err) LW_MUST_CHECK;

/* ---- running -------------------------------------------------------------------- */

enum dbg_stop_kind {
    DBG_STOP_NONE, DBG_STOP_BREAKPOINT, DBG_STOP_STEP, DBG_STOP_FAULT, DBG_STOP_HANG,
    DBG_STOP_INTERRUPT, DBG_STOP_ENDED, /* every launch ran to its end */
    DBG_STOP_BLOCKED,                     /* a step of a locked warp needs other warps to run first */
    DBG_STOP_WATCH, DBG_STOP_CATCH,
    DBG_STOP_FINDING,                   /* a checker reported a finding: its message is in text */
    DBG_STOP_HISTORY_BEGIN,             /* no earlier history is recorded: the reason is in text */
    DBG_STOP_HISTORY_END                /* a replay reached the end of history */
};
/** A hit of a watchpoint whose condition was false. */
struct dbg_passed {
    uint64_t at; /* instruction count before the access */
    dbg_thread_id thread;
    unsigned lane;
    bool there;
};
/** Reason of a stop; the shell prints it, the stub encodes it. */
struct dbg_stop {
    enum dbg_stop_kind kind;
    dbg_thread_id thread;
    unsigned lane;
    uint64_t pc, hit_lanes;
    unsigned point;
    struct emu_fault fault;
    struct emu_hang hang;
    uint64_t watch_address;     /* DBG_STOP_WATCH: address as the user gave it */
    unsigned watch_access;      /* DBG_STOP_WATCH: kind of the access, bits of enum dbg_access */
    unsigned watch_bytes;       /* DBG_STOP_WATCH: size of the following values before and after the instruction */
    uint8_t old_bytes[64], new_bytes[64];
    uint64_t writer_pc;         /* DBG_STOP_WATCH: pc of the instruction that made the access; pc is the lane's
                                 * next one */
    unsigned catches;           /* DBG_STOP_CATCH: events that happened, bits of enum dbg_catch */
    struct dbg_passed passed;   /* DBG_STOP_WATCH of a gdb watchpoint in reverse: its last hit whose condition was
                                 * false */
    /** DBG_STOP_WATCH, DBG_STOP_CATCH: number of a breakpoint that lanes hit as well, at their pc after the
     *  instruction; 0: none. hit_lanes are the lanes that made the access. */
    unsigned breakpoint;
    uint64_t breakpoint_lanes;
    char text[1024]; /* message with details beyond the kind; may be empty */
};
void dbg_stop_print(const struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
const struct dbg_stop *dbg_last_stop(const struct dbg *dbg);
bool dbg_ended(const struct dbg *dbg);

/** Runs all warps until something stops them. Lanes that a stop has shown at a breakpoint are stepped over
 *  it: they hit it again only after they have moved. */
enum lw_status dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Runs until the focus lane of @id has retired one instruction (MACHINE 9). With @locked no other warp runs,
 *  and the stop is DBG_STOP_BLOCKED if the lane needs others to run first. */
enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err) LW_MUST_CHECK;
/** Steps until the focus lane's pc leaves [low, high), or something else stops. */
enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Makes the run stop for finding @number. Called by chk_options.found (cmd/ passes it on) during an
 *  instruction or a host step. Halts the machine (emu_machine_halt), so the run stops after that instruction
 *  with DBG_STOP_FINDING and the finding's first live lane in focus. dbg_config.finding then describes
 *  @number. */
void dbg_finding(struct dbg *dbg, unsigned number);
/** Prints a line among the messages of the running command. */
void dbg_finding_record(struct dbg *dbg, const char *text);
/** Returns the instruction count before the instruction of finding @number; UINT64_MAX: not known. */
uint64_t dbg_finding_at(const struct dbg *dbg, unsigned number);
/** Makes the current run stop soon. Async-signal-safe. */
void dbg_interrupt(struct dbg *dbg);

/* ---- reverse execution --------------------------------------------------------------- */

/**
 * Starts recording history, which the functions below need (docs/explanation/history.md). Without history
 * they return LW_ESTATE with the reason.
 * @budget_bytes  for snapshots and the log; 0: 256 MiB
 * @save_host, @load_host save and restore the host's position in its steps, as in struct
 *                emu_history_options; both NULL for a host without steps
 * Errors: LW_EUNSUPP when the engine cannot record history.
 */
enum lw_status dbg_history_start(struct dbg *dbg, uint64_t budget_bytes,
                                 bool (*save_host)(void *context, void **data, size_t *size),
                                 void (*load_host)(void *context, const void *data, size_t size),
                                 void *context, struct lw_error *err) LW_MUST_CHECK;
/** Undoes the last instruction that the focus lane of @id has retired, and everything that happened since:
 *  the reverse of dbg_step. At the start of history this function and those below stop with
 *  DBG_STOP_HISTORY_BEGIN. */
enum lw_status dbg_reverse_step(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Moves back to the most recent hit of a stoppoint whose condition holds; for a watchpoint, to before the
 *  access. Without a hit, moves to the start of history. */
enum lw_status dbg_reverse_continue(struct dbg *dbg, struct dbg_stop *stop,
                                    struct lw_error *err) LW_MUST_CHECK;
/** Moves to an instruction count of the whole run; UINT64_MAX: to the end of history. */
enum lw_status dbg_goto(struct dbg *dbg, uint64_t instructions, struct dbg_stop *stop,
                        struct lw_error *err) LW_MUST_CHECK;
/** Ends recording and drops the recorded history; dbg_history_start() may begin anew. A host calls it before it does
 *  what a debugger cannot undo. */
void dbg_history_stop(struct dbg *dbg);
/** Returns true while a reverse search evaluates conditions, which must then neither print nor count. */
bool dbg_is_searching_back(const struct dbg *dbg);
/** Gets the current instruction count and the recorded range. Returns false if no history is recorded. */
bool dbg_history_info(const struct dbg *dbg, struct emu_history_info *out);

/* ---- locations and values ----------------------------------------------------------- */

/** Prints "saxpy+0x30 (saxpy.cl:12)". */
void dbg_print_location(const struct dbg *dbg, uint64_t pc, struct lw_sink *out);

/** Prints one instruction, with the symbols of jump targets. Returns false if there is none at @pc. */
bool dbg_insn_print(const struct dbg *dbg, uint64_t pc, struct lw_sink *out);

/** Values of expressions, per lane: 64-bit integers or floats. */
enum dbg_type { DBG_U32, DBG_S32, DBG_U64, DBG_S64, DBG_F32, DBG_F64 };
struct dbg_value {
    enum dbg_type type;
    uint64_t bits;
};
/** Evaluates an expression for one lane of a thread. Names: v0 (u32), v0.f32, v0.s32, v2:3 (u64, .f64), s0,
 *  p0, sp0, exec, pc, lane, warp, active, tid.x ..., with an optional $ prefix; also integers, C operators,
 *  and typed loads [address] as u32[expr], f32[expr], ... */
enum lw_status dbg_eval(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                        struct dbg_value *out, struct lw_error *err) LW_MUST_CHECK;
bool dbg_value_true(const struct dbg_value *value);
void dbg_value_print(const struct dbg_value *value, char format, struct lw_sink *out);
/** Prints an expression for all lanes of a thread; inactive lanes are dimmed when @colour. */
enum lw_status dbg_print_lanes(struct dbg *dbg, dbg_thread_id id, const char *text,
                               bool colour, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;

/** Kinds of names for completion: variables in scope at the lane, innermost first, then the module's;
 *  functions by their source names; parts of CUDA's and OpenCL's built-in variables ("threadIdx.x"); marks in
 *  history; words of coordinates ("block"); topics of `info cuda`. A name may occur twice. */
enum dbg_names {
    DBG_NAMES_VARIABLES, DBG_NAMES_FUNCTIONS, DBG_NAMES_BUILT_IN, DBG_NAMES_MARKS,
    DBG_NAMES_COORDINATES, DBG_NAMES_CUDA
};
typedef void (*dbg_name_fn)(void *context, const char *name);
void dbg_names_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, enum dbg_names which,
                    dbg_name_fn fn, void *context);

/** Registers as the front ends see them: one table serves the shell's names and target.xml. */
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
    unsigned bytes;      /* size of the whole register: 4 * W for a vector register */
    const char *group;   /* "vector", "scalar", "predicate", "warp", "special" */
    bool writable;
};
/** Registers that the current program's kernels use, counted and indexed; fixed for a connection. */
unsigned dbg_reg_count(const struct dbg *dbg);
bool dbg_reg_at(const struct dbg *dbg, unsigned index, struct dbg_reg *out);
int dbg_reg_find(const struct dbg *dbg, const char *name);
/** Reads a whole register of a thread, little-endian; @capacity is at least its size in bytes. */
enum lw_status dbg_reg_read(const struct dbg *dbg, dbg_thread_id id, unsigned index,
                            void *data, size_t capacity, struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_reg_write(struct dbg *dbg, dbg_thread_id id, unsigned index,
                             const void *data, size_t size, struct lw_error *err)
    LW_MUST_CHECK;

/** Reads or writes memory as a debugger sees it (docs/reference/gdb.md): generic addresses through the thread's focus
 *  lane, and the debug address ranges in the top bytes 0xF0..0xFC. A read of a debug address range returns every
 *  requested byte; unmapped bytes are zero. Returns the number of bytes copied from the start. */
uint64_t dbg_mem_read(struct dbg *dbg, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size_bytes);
uint64_t dbg_mem_write(struct dbg *dbg, dbg_thread_id id, uint64_t address, const void *data,
                       uint64_t size_bytes);

/** Return address of a kernel in the stack range: the function <launch> of the ELF that debuggers are served
 *  (docs/reference/object.md). No code is there. */
#define DBG_LAUNCH_PC (ISA_CODE_BASE - ISA_WORD_BYTES)

/** A frame of a lane, indexed from the innermost. dbg_frame_at() returns false when @index is past the last
 *  frame. */
struct dbg_frame {
    uint64_t pc, cfa;
    uint64_t entry; /* first address of the function; 0: not known */
    const struct isa_function *function;
};
bool dbg_frame_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame *out);

/** Result of the call that a lane has just returned from, classified as the System V ABI of x86-64 does: up
 *  to two words, each for a floating-point register (real) or an integer one; with count 0, the address of a
 *  longer result. */
struct dbg_return_words {
    unsigned count;
    uint64_t word[2];
    bool real[2];
    uint64_t address;
};
/** Gets the words of the value that the latest finish or step out of a function returned in a lane. Returns false if the
 *  function has no result, or if its result is not known. */
bool dbg_returned_words(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                        struct dbg_return_words *out);

/** Returns the address at which the code of @object was loaded; ISA_CODE_BASE if it was not. */
uint64_t dbg_code_address(const struct dbg *dbg, const struct isa_object *object);
/** Gets the address of global variable @index of @object; 0: the loader left it out. Returns false when
 *  @object is not loaded. */
bool dbg_variable_address(const struct dbg *dbg, const struct isa_object *object, unsigned index,
                          uint64_t *out);

/* ---- tables: `info os` in gdb ------------------------------------------------------- */

/** Table of the machine's state. Each row has a text for each column. */
struct dbg_table {
    const char *name, *summary;
    const char *const *columns; /* terminated by NULL */
};
/** Returns table @index; NULL past the last table. */
const struct dbg_table *dbg_table_at(unsigned index);
/** Emits the rows of a table; none for an index that does not exist. */
void dbg_table_rows(struct dbg *dbg, unsigned index, dbg_row_fn emit, void *context);

/** Adds the debugger's commands to @set: break, step, continue, watch, reverse-step, warps, print, ...
 *  Commands that resume print the stop. */
void dbg_register_commands(struct dbg *dbg, struct lw_command_set *set);

#endif
