/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public interface of debug/: one debugger core for two front ends, the shell and the gdb stub. All code that handles
 * lanes is here (MACHINE 9). The shell adds the terminal, and the gdb stub the packets of gdb's remote protocol.
 */
#ifndef DEBUG_H
#define DEBUG_H

#include "emu/emu.h"

/** Executes host steps up to the next launch. Called when the engine is idle. Sets *@more to false if no launch follows. */
typedef enum lw_status (*dbg_next_fn)(void *context, bool *more, struct lw_error *err);

/** A buffer of the launch file. */
struct dbg_buffer {
    uint64_t address, count; /* current address, which a step that swaps buffers changes; number of elements */
    const char *type; /* type of an element, such as "f32" */
};
typedef bool (*dbg_buffer_fn)(void *context, const char *name, struct dbg_buffer *out);
/** Receives one table row. @cells has one text for each column, borrowed until the function returns. */
typedef void (*dbg_row_fn)(void *context, const char *const *cells, unsigned count);

struct dbg;

/** The instruction and lanes that caused a checker's finding. debug/ does not call the checker: cmd/ passes findings on. */
struct dbg_finding {
    uint32_t grid;    /* sequence number of the launch; 0: the host caused the finding, not a kernel */
    uint64_t block;   /* linear index of the block in its grid */
    unsigned warp;    /* index of the warp in its block */
    uint64_t lanes, pc; /* mask of the lanes, and address of the instruction */
    bool no_stop;     /* the user has disabled stops for findings of this kind */
};

struct dbg_config {
    struct emu_machine *machine;  /* borrowed */
    struct emu_engine *engine;    /* borrowed */
    dbg_next_fn next;             /* NULL: only launches that are already queued run */
    void *next_context;
    /** Looks up a buffer by name; returns false if no buffer has the name. NULL: expressions cannot name buffers. */
    dbg_buffer_fn buffer;
    void *buffer_context;
    /** Describes the finding with the number that dbg_finding() was given: writes its message to @text, without a full
     *  stop at the end, and fills @out. The debugger calls this function when it makes the stop, because until then the
     *  instruction may add lanes to the finding. */
    void (*finding)(void *context, unsigned number, struct dbg_finding *out, struct lw_sink *text);
    /** Emits the rows of the table "findings". May be NULL: the table is then empty. */
    void (*findings)(void *context, dbg_row_fn row, void *row_context);
    void *findings_context;
    const char *advice;           /* how the user can compile so that all variables have values, for messages; NULL: the options
                                   * of `lanewise run` */
    const char *timed;            /* name of the GPU model whose cycles the engine counts; NULL: the engine counts
                                   * no cycles */
    struct lw_sink *messages;     /* receives messages during a run ("lane 5 has exited; ...") and the printf output of
                                   * kernels; may be NULL */
};
/** Creates a session with the focus on the first warp of the first grid. Calls `next` until a grid is queued. Errors: the
 *  errors of `next`. If no grid is ever queued, returns LW_OK, and dbg_ended() is true. */
enum lw_status dbg_create(const struct dbg_config *config, struct dbg **out,
                          struct lw_error *err) LW_MUST_CHECK;
void dbg_destroy(struct dbg *dbg);
void dbg_set_messages(struct dbg *dbg, struct lw_sink *messages);
/** Sets whether commands dim inactive lanes with terminal colours. */
void dbg_set_colour(struct dbg *dbg, bool on);
struct emu_machine *dbg_machine(const struct dbg *dbg);

/* ---- threads: gdb shows each warp as a thread ------------------------------ */

/** Thread id of a warp: 1 + number of warps in earlier grids + block * warps per block + warp. Ids are never reused. */
typedef uint64_t dbg_thread_id;
struct dbg_thread {
    dbg_thread_id id;
    struct emu_thread_ref location;   /* grid, block and warp of the thread; split and pc of its focus lane */
    uint32_t block_index[3];
    unsigned lane;            /* focus lane of the warp */
    uint64_t active;          /* active lanes of the focus lane's split: lanes that are both in the split's mask and in exec */
    bool ready;               /* true: the focus lane's split can run; false: it waits, for example at a barrier */
    bool waits_before;        /* the focus lane waits at the instruction before its pc, for example at a CTA barrier */
    uint64_t live;            /* lanes of the warp that have not exited */
    uint64_t retired;         /* number of instructions that the warp has executed */
};
/** Returns the number of resident warps. */
unsigned dbg_thread_count(const struct dbg *dbg);
/** Gets resident warp @index, in the order of grid, block and warp. Returns false if there is none. */
bool dbg_thread_at(const struct dbg *dbg, unsigned index, struct dbg_thread *out);
/** Gets the resident warp with thread id @id. Returns false if there is none. */
bool dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out);
/** Prints block, warp and focus lane of a thread: "block(0,0,0) w0 lane 0". */
void dbg_thread_name(const struct dbg *dbg, const struct dbg_thread *thread,
                     struct lw_sink *out);
/** Prints the state of a thread: "pc=0x.. active=32/32 state=ready splits=1". */
void dbg_thread_state(const struct dbg *dbg, const struct dbg_thread *thread,
                      struct lw_sink *out);

/* ---- focus: the thread that steps, and the thread whose values are shown ------- */

enum dbg_focus { DBG_FOCUS_RUN, DBG_FOCUS_VIEW };
/** Returns the thread of a focus; 0 if that thread is not resident. */
dbg_thread_id dbg_focus_get(const struct dbg *dbg, enum dbg_focus focus);
enum lw_status dbg_focus_set(struct dbg *dbg, enum dbg_focus focus, dbg_thread_id id,
                             struct lw_error *err) LW_MUST_CHECK;
/** Returns the focus lane of a thread. */
unsigned dbg_lane_get(const struct dbg *dbg, dbg_thread_id id);
/** Sets the focus lane of a thread. Errors: LW_ERANGE for a lane that has exited or does not exist. */
enum lw_status dbg_lane_set(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                            struct lw_error *err) LW_MUST_CHECK;
/** Returns the number of variables that are in scope at the lane's pc and have no value there. *@help is set to the
 *  compiler options with which they would have a value. */
unsigned dbg_locals_missing(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char **help);
/** Returns advice for the user if the compiler has written no variables to the debug information of the code of @lane, and
 *  another compiler would write them. nvcc writes no variables for optimised code, but clang does. Returns NULL if the debug
 *  information contains variables, or if no other compiler would write them. */
const char *dbg_locals_advice(struct dbg *dbg, dbg_thread_id id, unsigned lane);

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
    uint64_t address;            /* DBG_STOPPOINT_WATCH: first watched address, as the user or gdb has given it */
    unsigned size_bytes, access; /* DBG_STOPPOINT_WATCH: number of watched bytes; accesses that hit, as bits of enum
                                  * dbg_access */
    dbg_thread_id thread;        /* DBG_STOPPOINT_WATCH: the thread, or the first thread of the block, that owns the
                                  * watched memory or register; 0: every thread can access it */
    unsigned lane;               /* DBG_STOPPOINT_WATCH: the lane of `thread` that owns the watched memory or register; 0 if no
                                  * single lane owns it */
    unsigned catches;            /* DBG_STOPPOINT_CATCH: bits of enum dbg_catch */
    bool enabled, temporary;
    uint64_t hits;
    uint64_t tested;             /* number of times that the condition was evaluated for a lane while the program ran forward */
    bool acts;                   /* the condition function acts instead of a stop, such as dprintf */
    uint64_t ignore;             /* number of further hits that do not stop */
    const char *text;            /* DBG_STOPPOINT_WATCH: what the user watches, as typed, such as "sum[3]"; may be NULL */
    const char *condition; /* text of an expression, evaluated for each active lane, or NULL if there is no condition */
};
/**
 * Adds a breakpoint at @pc for all warps: the run stops before a split executes the instruction there. Several
 * breakpoints may be at one pc. Lanes for which the instruction's guard is false do not hit a breakpoint that has a condition,
 * unless the instruction is a branch.
 * @owner      the front end that adds the breakpoint; the gdb stub deletes its breakpoints when gdb disconnects
 * @condition  text of an expression, evaluated for each active lane of the split. A lane hits the breakpoint if the
 *             value is true for the lane. NULL: all active lanes hit it
 * @temporary  true: the first hit deletes the breakpoint
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
 * Adds a watchpoint on @size_bytes (1 to 64) at @address, as the focus lane of @id sees the address. Global, shared and
 * local memory can be watched, and registers through their debug addresses. If the memory or register belongs to one block,
 * warp or lane, the watchpoint watches it for this owner alone. When the owner of a shell watchpoint ends, the debugger
 * prints a message and, unless history is recorded, deletes the watchpoint. The number of watchpoints is not limited. Only a
 * write that changes the bytes hits a watchpoint for writes.
 * @access     the accesses that hit: bits of enum dbg_access
 * @condition  text of an expression, evaluated for each lane that made the access; may be NULL
 * @text       what the user watches, as typed, for lists and messages; may be NULL
 * Errors: LW_ERANGE if the bytes at @address cannot be read or watched; LW_EINPUT for the condition.
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
/** Adds a watchpoint as dbg_watch_add() does, but for lane @lane_ref instead of the focus lane. Local memory and vector
 *  registers of the lane can be watched even if its warp is not resident. */
enum lw_status dbg_watch_add_of(struct dbg *dbg, enum dbg_owner owner, const struct dbg_lane_ref *lane_ref,
                                uint64_t address, unsigned size_bytes, unsigned access,
                                unsigned *id, struct lw_error *err) LW_MUST_CHECK;
/** Adds a catchpoint: the run stops after each instruction at which an event of @catches (enum dbg_catch) happens. The
 *  other parameters are those of dbg_breakpoint_add(). */
enum lw_status dbg_catch_add(struct dbg *dbg, enum dbg_owner owner, unsigned catches,
                             const char *condition, bool temporary, unsigned *point,
                             struct lw_error *err) LW_MUST_CHECK;
/** Sets the number of next hits of a stoppoint that do not stop; 0: every hit stops. */
enum lw_status dbg_stoppoint_ignore(struct dbg *dbg, unsigned id, uint64_t count,
                                struct lw_error *err) LW_MUST_CHECK;
bool dbg_stoppoint_at(const struct dbg *dbg, unsigned index, struct dbg_stoppoint *out);
/** Function that evaluates a condition of a stoppoint that is not the text of an expression, such as an agent expression of
 *  gdb. @lane is the focus lane of thread @id during the call. Returns true if the lane hits the stoppoint. */
typedef bool (*dbg_condition_fn)(void *context, struct dbg *dbg, dbg_thread_id id,
                                 unsigned lane);
enum lw_status dbg_stoppoint_set_condition(struct dbg *dbg, unsigned id, dbg_condition_fn fn,
                                       void *context, void (*release)(void *context),
                                       struct lw_error *err) LW_MUST_CHECK;
/** Returns the lanes of @lanes that execute the instruction at @pc, where all of them are: the guard of the instruction is true
 *  for them, or the instruction is a branch. Only these lanes hit a breakpoint with a condition. */
uint64_t dbg_executing_lanes(const struct dbg *dbg, dbg_thread_id id, uint64_t pc, uint64_t lanes);
/** Sets `acts` of a stoppoint. Does nothing if the stoppoint does not exist. */
void dbg_stoppoint_acts(struct dbg *dbg, unsigned id);

/* ---- running -------------------------------------------------------------------- */

enum dbg_stop_kind {
    DBG_STOP_NONE, DBG_STOP_BREAKPOINT, DBG_STOP_STEP, DBG_STOP_FAULT, DBG_STOP_HANG,
    DBG_STOP_INTERRUPT, DBG_STOP_ENDED, /* every launch ran to its end */
    DBG_STOP_BLOCKED,                     /* the stepped lane waits, and the lanes or warps that could end the wait cannot run */
    DBG_STOP_WATCH, DBG_STOP_CATCH,
    DBG_STOP_FINDING,                   /* a checker reported a finding: its message is in text */
    DBG_STOP_HISTORY_BEGIN,             /* no earlier history is recorded: the reason is in text */
    DBG_STOP_HISTORY_END                /* a replay reached the end of history */
};
/** An access that touched a watched location while the watchpoint's condition was false. */
struct dbg_passed {
    uint64_t at; /* instruction count before the access */
    dbg_thread_id thread; /* thread and lane that made the access */
    unsigned lane;
    bool there; /* true: such an access was found, and the other members are valid */
};
/** A stop: its reason, and the lane that it shows. The shell prints it, and the gdb stub encodes it as a stop reply. */
struct dbg_stop {
    enum dbg_stop_kind kind;
    dbg_thread_id thread;       /* the thread that the stop puts in focus; the next member is its lane */
    unsigned lane;
    uint64_t pc, hit_lanes;     /* next pc of the focus lane; mask of the lanes that caused the stop */
    unsigned point;             /* id of the stoppoint that was hit, or 0 if there is none */
    struct emu_fault fault;
    struct emu_hang hang;
    uint64_t watch_address;     /* DBG_STOP_WATCH: first watched address, as the user or gdb has given it */
    unsigned watch_access;      /* DBG_STOP_WATCH: kind of the access, bits of enum dbg_access */
    unsigned watch_bytes;       /* DBG_STOP_WATCH: number of bytes in old_bytes and new_bytes */
    uint8_t old_bytes[64], new_bytes[64]; /* the watched bytes before and after the instruction */
    uint64_t writer_pc;         /* DBG_STOP_WATCH, _CATCH, _FINDING: pc of the instruction that caused the stop. The member `pc`
                                 * is the focus lane's next pc */
    unsigned catches;           /* DBG_STOP_CATCH: events that happened, bits of enum dbg_catch */
    struct dbg_passed passed;   /* after a reverse search for a gdb watchpoint: the first access after this hit at which
                                 * the watchpoint's condition was false */
    /** DBG_STOP_WATCH, DBG_STOP_CATCH, DBG_STOP_FINDING: id of a breakpoint at the pc that lanes have after the instruction.
     *  These lanes hit the breakpoint as well; breakpoint_lanes is their mask. 0: no such breakpoint. */
    unsigned breakpoint;
    uint64_t breakpoint_lanes;
    char text[1024]; /* message with details beyond the kind; may be empty */
};
void dbg_stop_print(const struct dbg *dbg, const struct dbg_stop *stop, struct lw_sink *out);
const struct dbg_stop *dbg_last_stop(const struct dbg *dbg);
bool dbg_ended(const struct dbg *dbg);

/** Runs all warps until a stop. If the last stop was at a breakpoint, the focus lane and the other lanes of its split execute the
 *  instruction at the breakpoint without another stop. They hit the breakpoint again only after they have left the pc and
 *  returned. */
enum lw_status dbg_continue(struct dbg *dbg, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** Runs until the focus lane of @id has retired one instruction (MACHINE 9). With @locked, no other split or warp runs, so the
 *  stop is DBG_STOP_BLOCKED if the lane waits for one of them. */
enum lw_status dbg_step(struct dbg *dbg, dbg_thread_id id, bool locked, struct dbg_stop *stop,
                        struct lw_error *err) LW_MUST_CHECK;
/** Steps the focus lane of @id until its pc is outside [low, high), or until another stop. @locked: as for dbg_step(). */
enum lw_status dbg_step_range(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high,
                              bool locked, struct dbg_stop *stop, struct lw_error *err)
    LW_MUST_CHECK;
/** As dbg_step_range(), for a lane that waits at a barrier: the barrier is the first instruction of the step, so the lane
 *  executes no instruction before it is checked whether its pc is outside [low, high). */
enum lw_status dbg_step_out_of_wait(struct dbg *dbg, dbg_thread_id id, uint64_t low, uint64_t high, bool locked,
                                    struct dbg_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Makes the run stop for finding @number. Called by the function chk_options.found of cmd/ when a checker reports a finding,
 *  during an instruction or a host step. Halts the machine (emu_machine_halt), so that the run stops after the instruction, with
 *  DBG_STOP_FINDING and one of the finding's live lanes in focus. If history is recorded, the stop is before the instruction. */
void dbg_finding(struct dbg *dbg, unsigned number);
/** Prints @text as a message of the running command. */
void dbg_finding_record(struct dbg *dbg, const char *text);
/** Returns the instruction count before the instruction that caused finding @number, or UINT64_MAX if this count is not
 *  known. */
uint64_t dbg_finding_at(const struct dbg *dbg, unsigned number);
/** Makes the run in progress stop soon, with DBG_STOP_INTERRUPT. Async-signal-safe. */
void dbg_interrupt(struct dbg *dbg);

/* ---- reverse execution --------------------------------------------------------------- */

/**
 * Starts recording history (docs/explanation/history.md). If no history is recorded, the functions that move back return
 * LW_ESTATE with the reason.
 * @budget_bytes  maximal size of the snapshots and the log together; 0: 256 MiB
 * @save_host, @load_host  save and restore the position of the host in its steps, as in struct emu_history_options; both
 *                are NULL for a host without steps
 * Errors: LW_EUNSUPP when the engine cannot record history.
 */
enum lw_status dbg_history_start(struct dbg *dbg, uint64_t budget_bytes,
                                 bool (*save_host)(void *context, void **data, size_t *size),
                                 void (*load_host)(void *context, const void *data, size_t size),
                                 void *context, struct lw_error *err) LW_MUST_CHECK;
/** Moves back to before the last instruction that the focus lane of @id has retired: the reverse of dbg_step(). The
 *  move also undoes the effects of all later instructions of other lanes. At the start of history, the functions that
 *  move back make the stop DBG_STOP_HISTORY_BEGIN. */
enum lw_status dbg_reverse_step(struct dbg *dbg, dbg_thread_id id, struct dbg_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Moves back to the most recent hit of a stoppoint; for a watchpoint or catchpoint, to before the instruction that hit it.
 *  If no stoppoint was hit, moves to the start of history. */
enum lw_status dbg_reverse_continue(struct dbg *dbg, struct dbg_stop *stop,
                                    struct lw_error *err) LW_MUST_CHECK;
/** Moves to the time when the run had executed @instructions instructions; UINT64_MAX: to the end of history. */
enum lw_status dbg_goto(struct dbg *dbg, uint64_t instructions, struct dbg_stop *stop,
                        struct lw_error *err) LW_MUST_CHECK;
/** Ends recording and drops the recorded history; dbg_history_start() may start it again. A host calls this function before
 *  an action that a debugger cannot undo. */
void dbg_history_stop(struct dbg *dbg);
/** Returns true while a reverse search evaluates conditions. A condition function must then not print or count. */
bool dbg_is_searching_back(const struct dbg *dbg);
/** Gets the current instruction count and the range of instruction counts in recorded history. Returns false if no history is
 *  recorded. */
bool dbg_history_info(const struct dbg *dbg, struct emu_history_info *out);

/* ---- locations and values ----------------------------------------------------------- */

/** Prints function and source line of a pc: "saxpy+0x30 (saxpy.cl:12)". */
void dbg_print_location(const struct dbg *dbg, uint64_t pc, struct lw_sink *out);

/** Prints the instruction at @pc, with jump targets as symbols. Returns false if no instruction is there. */
bool dbg_insn_print(const struct dbg *dbg, uint64_t pc, struct lw_sink *out);

/** Type of an expression's value in a lane: an integer or a float of 32 or 64 bits. */
enum dbg_type {
    DBG_U32 = ISA_SCALAR_U32, DBG_S32 = ISA_SCALAR_S32, DBG_U64 = ISA_SCALAR_U64, DBG_S64 = ISA_SCALAR_S64,
    DBG_F32 = ISA_SCALAR_F32, DBG_F64 = ISA_SCALAR_F64
};
struct dbg_value {
    enum dbg_type type;
    uint64_t bits;
};
/** Evaluates an expression for one lane of a thread. An expression has C operators, integers, variables of the source,
 *  loads from memory such as u32[ADDRESS] or f32[ADDRESS], and names with an optional $ prefix: v0 (u32), v0.f32, v0.s32,
 *  v2:3 (u64, .f64), s0, p0, sp0, exec, pc, lane, warp, active, tid.x and the other special registers. */
enum lw_status dbg_eval(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char *text,
                        struct dbg_value *out, struct lw_error *err) LW_MUST_CHECK;
bool dbg_value_true(const struct dbg_value *value);
void dbg_value_print(const struct dbg_value *value, char format, struct lw_sink *out);
/** Prints the value of an expression in each lane of a thread; with @colour, inactive lanes are dimmed. */
enum lw_status dbg_print_lanes(struct dbg *dbg, dbg_thread_id id, const char *text,
                               bool colour, struct lw_sink *out, struct lw_error *err)
    LW_MUST_CHECK;

/**
 * Kinds of names that a front end offers for completion. A name may be emitted twice.
 * DBG_NAMES_VARIABLES: variables in scope at the lane, innermost scope first, then those of the module
 * DBG_NAMES_FUNCTIONS: functions by their source names
 * DBG_NAMES_BUILT_IN: built-in variables of CUDA and OpenCL, such as "threadIdx.x"
 * DBG_NAMES_MARKS: marks in history
 * DBG_NAMES_COORDINATES: words with which a focus is selected, such as "block"
 * DBG_NAMES_CUDA: topics of `info cuda`
 */
enum dbg_names {
    DBG_NAMES_VARIABLES, DBG_NAMES_FUNCTIONS, DBG_NAMES_BUILT_IN, DBG_NAMES_MARKS,
    DBG_NAMES_COORDINATES, DBG_NAMES_CUDA
};
typedef void (*dbg_name_fn)(void *context, const char *name);
/** Calls @fn for each name of one kind. */
void dbg_names_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, enum dbg_names which,
                    dbg_name_fn fn, void *context);

/** Kinds of registers. One table of registers serves the shell's register names and gdb's target description. */
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
    const char *group;   /* name of the register group (gdb's term): "vector", "scalar", "predicate", "warp" or "special" */
    bool writable;
};
/** Returns the number of registers in the table: those that the program's kernels use. The table does not change while gdb
 *  is connected. */
unsigned dbg_reg_count(const struct dbg *dbg);
bool dbg_reg_at(const struct dbg *dbg, unsigned index, struct dbg_reg *out);
int dbg_reg_find(const struct dbg *dbg, const char *name);
/** Reads a whole register of a thread, little-endian; @capacity is at least its size in bytes. */
enum lw_status dbg_reg_read(const struct dbg *dbg, dbg_thread_id id, unsigned index,
                            void *data, size_t capacity, struct lw_error *err) LW_MUST_CHECK;
enum lw_status dbg_reg_write(struct dbg *dbg, dbg_thread_id id, unsigned index,
                             const void *data, size_t size, struct lw_error *err)
    LW_MUST_CHECK;

/** Reads or writes memory as a debugger sees it (docs/reference/gdb.md). An address is either generic, as the thread's focus
 *  lane sees it, or in a debug address range; its top byte is then 0xF0 to 0xFC. A read of a debug address range returns every
 *  requested byte; unmapped bytes are zero. Copies bytes up to the first one that cannot be accessed, and returns their
 *  number. */
uint64_t dbg_mem_read(struct dbg *dbg, dbg_thread_id id, uint64_t address, void *data,
                      uint64_t size_bytes);
uint64_t dbg_mem_write(struct dbg *dbg, dbg_thread_id id, uint64_t address, const void *data,
                       uint64_t size_bytes);

/** Returns the reason why the bytes at @address cannot be written. */
const char *dbg_mem_refusal(struct dbg *dbg, uint64_t address);

/** Return address of a kernel, as the debug address range of call stacks shows it. No code is at this address. The ELF file
 *  that gdb reads has a function <launch> at this address (docs/reference/object.md). */
#define DBG_LAUNCH_PC (ISA_CODE_BASE - ISA_WORD_BYTES)

/** A frame of a lane. */
struct dbg_frame {
    uint64_t pc, cfa; /* cfa: canonical frame address, as in DWARF */
    uint64_t entry; /* first address of the function, or 0 if it is not known */
    const struct isa_function *function;
};
/** Gets frame @index of a lane; index 0 is the innermost frame. Returns false if @index is past the last frame. */
bool dbg_frame_at(struct dbg *dbg, dbg_thread_id id, unsigned lane, unsigned index,
                  struct dbg_frame *out);

/** Result of the function from which a lane has just returned, in the form of the System V ABI of x86-64: in up to two
 *  registers, or in memory if the result is longer. */
struct dbg_return_words {
    unsigned count;   /* number of words; 0: the result is in memory at `address` */
    uint64_t word[2];
    bool real[2];     /* true: the word is in a floating-point register; false: in an integer register */
    uint64_t address;
};
/** Gets the result of the function from which the last finish or step of the lane returned. Returns false if the function
 *  has no result, or if its result is not known. */
bool dbg_returned_words(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                        struct dbg_return_words *out);

/** Returns the address at which the code of @object was loaded; ISA_CODE_BASE if @object was not loaded. */
uint64_t dbg_code_address(const struct dbg *dbg, const struct isa_object *object);
/** Gets the address of global variable @index of @object. An address of 0 means that the loader allocated no memory for the
 *  variable. Returns false if @object is not loaded. */
bool dbg_variable_address(const struct dbg *dbg, const struct isa_object *object, unsigned index,
                          uint64_t *out);

/* ---- tables: `info os` in gdb ------------------------------------------------------- */

/** A table of the machine's state, such as the table of warps. */
struct dbg_table {
    const char *name, *summary;
    const char *const *columns; /* terminated by NULL */
};
/** Returns table @index; NULL past the last table. */
const struct dbg_table *dbg_table_at(unsigned index);
/** Calls @emit for each row of table @index. If the table does not exist, does not call @emit. */
void dbg_table_rows(struct dbg *dbg, unsigned index, dbg_row_fn emit, void *context);

/** Adds the debugger's commands to @set: break, step, continue, watch, reverse-step, warps, print and others. A command
 *  that resumes the machine prints the stop. */
void dbg_register_commands(struct dbg *dbg, struct lw_command_set *set);

#endif
