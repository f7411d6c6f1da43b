/* SPDX-License-Identifier: Apache-2.0 */
/* Engines: scheduling of warps, observers, stops, breakpoints, and detection of hangs. */
#ifndef EMU_ENGINE_H
#define EMU_ENGINE_H

#include "emu/emu_core.h"

enum emu_stop_kind {
    EMU_STOP_NONE,
    EMU_STOP_IDLE,        /* all queued grids have ended */
    EMU_STOP_BREAK,       /* the next instruction of a split has a breakpoint */
    EMU_STOP_FAULT,
    EMU_STOP_HANG,
    EMU_STOP_INTERRUPTED, /* emu_engine_interrupt() was called */
    EMU_STOP_STEPPED,     /* a step has executed one instruction */
    EMU_STOP_OBSERVER,    /* an observer, or emu_machine_halt(), requested a stop after the instruction that was being executed */
    EMU_STOP_BLOCKED,       /* after step_warp: the warp or split cannot run now. After run_other_warps: no warp of the block can
                             * make progress at present */
    EMU_STOP_COUNT,       /* `run` has reached the instruction count emu_engine.stop_at */
    EMU_STOP_LIMIT        /* the engine's caller ended the run at a limit; emu_machine_where() describes where the warps are */
};

/** Reference to a warp, which need not be resident. gdb's id of a warp is dbg_thread_id (debug.h, MACHINE 9). */
struct emu_thread_ref {
    uint32_t grid;  /* sequence number */
    uint64_t block; /* linear index */
    unsigned warp;
    unsigned split; /* id */
    uint64_t lanes, pc;
};

struct emu_stop {
    enum emu_stop_kind kind;
    struct emu_thread_ref place; /* BREAK: split before the instruction; STEPPED: split that has executed it */
    struct emu_fault fault;      /* FAULT */
    struct emu_hang hang;        /* HANG, BLOCKED */
};

/** Observer of every event. While an engine has an observer, runs use the watched path (MACHINE 5), which fills an event for
 *  each instruction. @on_event must not change state. @on_event returns true to stop the run after this instruction. */
struct emu_observer {
    bool (*on_event)(struct emu_observer *observer, const struct emu_event *ev);
    struct emu_observer *next; /* next observer in the list of observers */
};

/** Kinds of resident slots. Slots of each kind are numbered over all cores of the machine. */
enum emu_slot_kind { EMU_SLOT_BLOCK, EMU_SLOT_WARP };

/** Functions of an engine of any kind. The functional engine runs the warps in a deterministic rotation. */
struct emu_engine_ops {
    const char *name;
    void (*destroy)(struct emu_engine *engine);
    /** Runs until something stops the run; @stop describes the reason. */
    enum lw_status (*run)(struct emu_engine *engine, struct emu_stop *stop,
                          struct lw_error *err);
    /** Executes one instruction of the warp that the engine runs next. */
    enum lw_status (*step)(struct emu_engine *engine, struct emu_event *ev,
                           struct emu_stop *stop, struct lw_error *err);
    /** Executes one instruction of the given resident warp and split, and ignores breakpoints. If the split cannot run, the stop
     *  is EMU_STOP_BLOCKED, with the reason in stop->hang.detail. */
    enum lw_status (*step_warp)(struct emu_engine *engine, const struct emu_thread_ref *place,
                                struct emu_event *ev, struct emu_stop *stop,
                                struct lw_error *err);
    /** Executes one rotation of the other warps: a time slice of each other warp of the block, then of the other splits of
     *  @place's warp. If none of these warps and splits can run, warps of other blocks get a time slice. The stop is
     *  EMU_STOP_BLOCKED if @place's block makes no progress. The block may still continue later, after other blocks have run
     *  that have not run in this rotation. */
    enum lw_status (*run_other_warps)(struct emu_engine *engine, const struct emu_thread_ref *place,
                                 struct emu_stop *stop, struct lw_error *err);
    /** warp_count returns the number of resident warps. warp_at gets the warp at an index in the order (grid, block, warp). A
     *  block that has not started is listed with its entry state. */
    unsigned (*warp_count)(const struct emu_engine *engine);
    bool (*warp_at)(const struct emu_engine *engine, unsigned index, struct emu_thread_ref *place);
    /** Finds core and slot of a resident block, and creates the block's state if the block has not started. */
    bool (*locate)(struct emu_engine *engine, uint32_t grid, uint64_t block,
                   struct emu_core **core, unsigned *slot);
    /** slot_of gets the slot number of a resident block, or of one of its warps; every replay gives the same number. slot_at
     *  finds the block or warp that has slot number @number, and sets grid, block and (for EMU_SLOT_WARP) warp of @place. */
    bool (*slot_of)(const struct emu_engine *engine, enum emu_slot_kind kind,
                    const struct emu_thread_ref *place, unsigned *number);
    bool (*slot_at)(const struct emu_engine *engine, enum emu_slot_kind kind, unsigned number,
                    struct emu_thread_ref *place);
    uint64_t (*instructions)(const struct emu_engine *engine);
    uint64_t (*cycles)(const struct emu_engine *engine); /* number of cycles so far; NULL: the engine does not count cycles */
};
struct emu_engine {
    const struct emu_engine_ops *ops;
    struct emu_machine *machine;
    struct emu_observer *observers;
    volatile int interrupted; /* set by emu_engine_interrupt, async-signal-safe */
    uint64_t stop_at; /* instruction count at which `run` stops; UINT64_MAX: never */
    /** Number of host threads that `run` may use, initially 1. The functional engine runs blocks on several threads if the
     *  kernel is block-order-free, the option scalar_rule is not `warn`, text is not printed immediately, and there is no
     *  observer, listener, schedule log, history, breakpoint, or stop_at. Otherwise all blocks run in the fixed order on the
     *  caller's thread. Results, reports and text are the same with one host thread and with several. A grid that started on
     *  several threads also ends on several threads. Therefore an observer or breakpoint that is added while such a grid is
     *  interrupted takes effect only from the next grid on, and single steps in such a grid are refused (LW_ESTATE). */
    unsigned threads;
};
enum lw_status emu_engine_functional_create(struct emu_machine *machine,
                                            struct emu_engine **out, struct lw_error *err)
    LW_MUST_CHECK;
static inline void emu_engine_destroy(struct emu_engine *engine)
{
    if (engine != NULL)
        engine->ops->destroy(engine);
}
static inline void emu_engine_interrupt(struct emu_engine *engine)
{
    __atomic_store_n(&engine->interrupted, 1, __ATOMIC_RELAXED);
}
void emu_observer_add(struct emu_engine *engine, struct emu_observer *observer);
void emu_observer_remove(struct emu_engine *engine, struct emu_observer *observer);

/* For engines outside emu/, which drive cores by emu_warp_step. */

/** Fills @stop for a step whose event was a fault. Outputs the buffered text that must be printed if the run ends at this
 *  fault. */
void emu_core_fault_stop(struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_stop *stop);
/** Spin observer: observes blocks that make no progress, for engines that have their own order of execution. The observer proves
 *  that warps repeat a cycle for ever as long as shared and global memory do not change, and records the locations that these
 *  warps read repeatedly. The engine destroys the observer when the result of emu_core_progress() has grown. */
struct emu_spin_observer;
/**
 * Creates a spin observer. Returns NULL if there is no memory.
 *  @tries   number of earlier observations that proved nothing; each of these observations makes the new one longer
 *  @chosen  true: a debugger or a log chooses the splits that run, so that the proof considers only these splits
 */
struct emu_spin_observer *emu_spin_observer_create(struct emu_machine *machine, unsigned tries, bool chosen);
void emu_spin_observer_destroy(struct emu_spin_observer *probe);
struct emu_observer *emu_spin_observer_events(struct emu_spin_observer *probe);
/** Returns true if the observer has given up the search for a cycle of one of the warps. The observer can then prove nothing any
 *  more, and the engine may destroy it. */
bool emu_spin_observer_gave_up(const struct emu_spin_observer *probe);
/** Returns true if no warp of the block can run, or if the observer has proved that none can make progress and has observed the
 *  warps' reads for long enough for the hang report. The first call for a block adds it to the blocks whose reads are observed,
 *  if there is capacity. */
bool emu_core_probed(const struct emu_core *core, unsigned slot, struct emu_spin_observer *probe);
/** Returns true if the observer has proved that this warp repeats a cycle for ever. */
bool emu_core_has_cycle(const struct emu_core *core, unsigned slot, unsigned warp, const struct emu_spin_observer *probe);
/** Fills @stop with the hang report of a block that makes no progress. @probe: the observer that proved that no running warp will
 *  make progress, or NULL if no warp of the block can run. */
void emu_core_hang_stop(struct emu_core *core, unsigned slot, const struct emu_spin_observer *probe,
                        struct emu_stop *stop);
/** Returns a count that grows with each step whose progress other warps can see (MACHINE 4, Progress): a store that changes a
 *  byte of shared or global memory, an exit, or printed text. */
uint64_t emu_core_progress(const struct emu_core *core, unsigned slot);
/** Returns true if a warp of the block can run. */
bool emu_core_can_run(const struct emu_core *core, unsigned slot);
/** Returns true if the machine has a breakpoint. */
bool emu_breakpoint_any(const struct emu_machine *machine);
/** Returns true if a breakpoint is set at @pc. */
bool emu_breakpoint_at(const struct emu_machine *machine, uint64_t pc);

/** Sets or removes a breakpoint. A breakpoint replaces the handler of the decoded instruction, so a run without breakpoints
 *  takes no additional time. Errors: LW_ERANGE when @pc is not an instruction. */
enum lw_status emu_breakpoint_set(struct emu_machine *machine, uint64_t pc, bool on,
                                  struct lw_error *err) LW_MUST_CHECK;

/* ---- native code --------------------------------------------------------------------------------- */

/*
 * Native code of kernels: a translator above emu (native/) turns a kernel into host code, and emu executes this code instead of
 * its handlers when no observer could notice the difference. Native code has two forms. Code for whole warps requires that all
 * lanes of the warp are live, active and in one split. Masked code executes the lanes of one split. Both forms access the warp's
 * registers and the machine's memory through a struct emu_native_frame. Both forms may stop before any instruction, and the
 * interpreter continues at this instruction.
 */

/** Part of an allocation that the lanes of a scattered access accessed last: arena offsets [low, low + bytes). low is a multiple
 *  of EMU_NATIVE_ALIGN. bytes 0: no allocation. Window of a load: loads may access all of these bytes. Window of a store: stores
 *  may access all of these bytes, and need not mark their pages as written. emu_native_calls.load and store define the
 *  members differently. */
struct emu_native_window {
    uint64_t low, bytes;
};

struct emu_native_frame;
/** Computes a function of each lane: d[l] = f(b[l]). d and b are aligned to 32 bytes, and are equal or do not overlap. @n, the
 *  number of lanes, is a multiple of EMU_ROW_LANES. */
typedef void emu_row_fn(uint32_t *d, const uint32_t *b, unsigned n);
enum { EMU_ROW_LANES = 16 };
/** Functions that native code calls. These functions return false, and change nothing, if the instruction would fault or needs a
 *  case that they do not handle. Native code then leaves before the instruction. */
struct emu_native_calls {
    /** Executes instruction @index, which is not a control instruction, by its interpreter handlers on the warp's registers. */
    bool (*execute)(struct emu_native_frame *frame, uint32_t index);
    /** Tests whether the bytes [offset, offset + bytes) of the arena may be loaded or, if @write, stored; marks the pages of a
     *  store as written. */
    bool (*reach)(struct emu_native_frame *frame, uint64_t offset, uint64_t bytes, bool write);
    /** Tests whether the bytes [offset, offset + bytes) of the arena may be loaded. Sets window @slot to the allocation: `low` is
     *  its offset, and `bytes` the number of offsets at which @bytes may be loaded. */
    bool (*load)(struct emu_native_frame *frame, uint32_t slot, uint64_t offset, uint64_t bytes);
    /** Tests whether the bytes [offset, offset + bytes) of the arena may be stored, and marks their pages as written. Sets window
     *  @slot to a range of pages of the allocation that are all marked, if there is such a range with these bytes: `low` is its
     *  offset, and `bytes` the number of offsets at which @bytes may be stored. */
    bool (*store)(struct emu_native_frame *frame, uint32_t slot, uint64_t offset, uint64_t bytes);
    /** Tests whether the lanes of @mask may load or, if @write, store @bytes at the arena offsets @offset[lane]. All must be in
     *  one allocation. For a load, window @slot is set to the allocation. For a store, marks the pages of the lanes as written,
     *  and sets the window to a range of pages of the allocation that are all marked, if there is such a range with all lanes. */
    bool (*find)(struct emu_native_frame *frame, uint32_t slot, uint32_t bytes, const uint64_t *offset, uint64_t mask,
                 bool write);
    /** Executes a bssy of barrier register @reg for the running split. Code for whole warps executes it without a call. */
    bool (*bssy)(struct emu_native_frame *frame, uint32_t reg);
    /** Executes a bsync if the running split is the warp's only split. @retired: number of instructions that the native code has
     *  executed before the bsync. Code for whole warps calls it only if not all lanes are in one group of the register. */
    bool (*bsync)(struct emu_native_frame *frame, uint32_t reg, uint64_t retired);
    /** Three functions for code in which the warp is divided. bssy_part executes a bssy for lanes @mask. release releases lanes
     *  @mask, all of which have arrived at the bsync of @reg, while other lanes are elsewhere. join releases all lanes of the
     *  warp, after @retired instructions. The functions return true. */
    bool (*bssy_part)(struct emu_native_frame *frame, uint32_t reg, uint64_t mask);
    bool (*release)(struct emu_native_frame *frame, uint32_t reg, uint64_t mask);
    bool (*join)(struct emu_native_frame *frame, uint32_t reg, uint64_t retired);
    /** Called after the last warp of the block has ended or is parked; emu_native_frame.record lists what the warps did in this
     *  call of native code. If all warps of the block are listed and have ended, the function ends the block, and begins another
     *  block in its place. If all are listed and are parked at the same CTA barrier, the function executes the arrival of all of
     *  them. Returns the entry, as in emu_native_kernel.run, from which each warp of the block runs next. If the result is
     *  EMU_NATIVE_NO_ENTRY, nothing has changed, and the code must leave. */
    uint32_t (*next_warps)(struct emu_native_frame *frame);
};

/** Lanes of a divided warp that are at one instruction. If the instruction is a bsync, `lanes` are the lanes that have executed
 *  the bsync and wait; otherwise, the lanes that can execute the instruction next. since: number of instructions that native code
 *  had executed when the lanes arrived. */
struct emu_native_part {
    uint64_t lanes, since;
};

/** A warp that native code has executed up to its exit or to a CTA barrier. */
struct emu_native_record {
    uint64_t retired; /* the number of its instructions before the exit or barrier, times 2^32, plus the index of the site there */
    uint64_t missing; /* as emu_native_frame.missing */
};

/** Offsets in bytes, from emu_native_frame.warp, of the state that code for whole warps changes at a bssy or bsync. The warp has
 *  only split 0. Convergence register r is r * barrier_bytes after register 0. */
struct emu_native_layout {
    uint32_t retired;                      /* u64: warp instructions executed before this call of native code */
    uint32_t group_counter, seq_counter;   /* u64 */
    uint32_t turn_used, last_low;          /* u32 */
    uint32_t since, seq, flags;            /* of the split: u64, u64, u8 */
    uint32_t lanes, number, barrier_bytes; /* of convergence register 0: u64, u64 */
};
extern const struct emu_native_layout emu_native_layout;

/** State of a warp that native code reads and writes. */
struct emu_native_frame {
    char *regs;              /* register file: vector register r at (first_row + r) * stride */
    uint32_t *s;             /* scalar registers, from s0 on */
    uint64_t *p;             /* p0..p6: lane masks */
    uint8_t *sp;             /* sp0..sp6: 0 or 1 */
    const uint32_t *special; /* special registers of the block, from ISA_SR_NTID_X on */
    const char *bank0, *bank1; /* constant banks 0 and 1 */
    uint8_t *global;         /* host address of ISA_GLOBAL_BASE */
    uint64_t global_bytes;
    const uint16_t *load_valid, *store_valid; /* [page] number of bytes, from the start of the page, that may be loaded
                                               * (load_valid) or stored (store_valid) */
    const uint8_t *dirty;    /* [page] state of the page; if it is EMU_NATIVE_DIRTY, a store need not mark the page as written */
    uint8_t *shared;
    uint64_t shared_bytes;
    uint8_t *local;          /* local memory: word i of lane l at i * stride + 4 * l, with the stride of the register file */
    uint64_t local_bytes;    /* of a lane */
    struct emu_native_window *window; /* [number of windows of the kernel] */
    uint64_t *uniform;       /* [2 * number of vector registers] base and step of the warp's uniform and affine registers; used
                              * only by native code */
    const struct emu_native_calls *calls; /* native code has no addresses of the emulator, so that another process can run it */
    uint64_t limit;          /* number of instructions after which the code leaves at the next loop head; masked code never
                              * executes more than this number */
    uint64_t mask;           /* masked code: lanes of the split. Code for whole warps: all lanes. If the code has divided the
                              * warp when it leaves: the lanes that run; the other lanes are in part[] */
    struct emu_native_part *part; /* [instructions of the kernel] all zero while the warp is not divided */
    uint64_t divides;        /* not 0: the code may divide a warp that has one split, as the split policy `converge` does */
    uint64_t threads;        /* number of threads of the grid */
    uint64_t shares;         /* not 0: other threads of the host access global memory at the same time */
    uint32_t first_thread;   /* linear position of the warp's first thread in its block */
    emu_row_fn *const *row_functions; /* [ISA_OP_COUNT] functions of instructions with semantics ROW1 */
    uint64_t alone;          /* masked code: not 0 if the running split is the warp's only split */
    uint64_t warps;          /* number of warps of the block, from this one on, that the code may execute one after another, each
                              * from the entry of the call to its next CTA barrier or its exit; the entry is the start of the
                              * kernel, or all of them are parked for it. After the last one the code calls calls->next_warps().
                              * 0: only this warp */
    uint64_t warp_step, regs_step, uniform_step; /* distances in bytes between neighbouring warps of a block: of struct emu_warp,
                              * of their register files and local memory, and of `uniform` */
    struct emu_native_record *record; /* [warps of the block] an element for each warp that has ended or is parked */
    /* results, of the last warp unless stated otherwise */
    uint64_t ended;          /* number of warps before the last one that the code has executed up to their exits or barriers,
                              * since the call began or calls->next_warps() returned an entry */
    uint64_t retired;        /* warp instructions executed */
    uint32_t site;           /* index in emu_native_kernel.site of the site at which the code left */
    uint64_t loads;          /* all warps: number of retired loads, without those that calls->execute() has counted itself */
    void *warp;              /* the warp (struct emu_warp), for the functions that native code calls */
    uint64_t stores;         /* number of retired stores, counted as `loads` is. `loads` and `stores` are not adjacent: otherwise
                              * a compiler could read both by one load, and the host cannot forward two stores to one load */
    uint64_t gone;           /* lanes that have exited; the others have continued. Only if `warps` is not 0 */
    uint64_t divided;        /* not 0: the code has divided a warp, and the following members are valid */
    uint64_t missing;        /* instructions times the lanes of the warp, less the thread instructions executed; valid also if
                              * `divided` is 0 */
    uint64_t divergences, merges; /* all warps: as in struct emu_stats */
    uint64_t passes;         /* all warps: number of times that all lanes of the warp arrived at a bsync together */
    uint64_t wide_wait, wide_penalty; /* used only by native code: how often it begins a warp alone before it tries again to execute
                              * several warps together, and this number after the last time that it could not do so */
    uint64_t local_stores;   /* number of retired stores to local memory, which `stores` does not count, because they are no
                              * progress (MACHINE 4) */
    uint64_t atomics;        /* number of retired atomics, without those that calls->execute() has counted itself */
    uint64_t changes;        /* not 0: one of these atomics has changed memory */
};
enum { EMU_NATIVE_PAGE = 4096, EMU_NATIVE_DIRTY = 3, EMU_NATIVE_ALIGN = 16,
       EMU_NATIVE_SHORT = 4096, /* after a warp with more instructions up to its barrier or exit, the code does not run the next warp */
       EMU_NATIVE_WINDOW = 1 << 16, /* in code that has divided a warp, lanes that can run wait for at most this number of
                                     * instructions */
       EMU_NATIVE_RESUME = 1 << 16, EMU_NATIVE_UNPARK = 1 << 17, EMU_NATIVE_NO_ENTRY = 1 << 18 };

/** A request for native code: the kernel, and properties of its blocks. */
struct emu_native_request {
    const struct isa_object *object;
    const struct isa_insn *insn; /* [insn_count] decoded instructions of the program */
    uint32_t insn_count;
    const struct isa_function *kernel;
    unsigned width;
    uint32_t block[3];           /* threads of a block in each dimension */
    uint32_t stride, first_row;  /* layout of the register file, as in emu_native_frame.regs */
    unsigned vregs;              /* number of vector registers of the kernel's warps */
    bool masked;                 /* true: masked code is requested; false: code for whole warps */
    uint64_t executed;           /* warp instructions that the core has executed since its previous request, of any kernel */
    double seconds;              /* processor time of these instructions, if all of them belong to this grid and the core read the
                                  * clock at its previous request; otherwise 0 */
    uint64_t rest;               /* estimate of the warp instructions that the core will still execute in this grid; 0: unknown */
};

/** A site at which the warp leaves native code. next: instruction at which the interpreter continues. retired, loads, stores:
 *  added to the frame's counts. parks: 0 if the warp is not parked. Otherwise the instruction is a CTA barrier, at which the
 *  warp is parked: its uniform and affine registers are in emu_native_frame.uniform, and not in the register file. After the
 *  barrier the warp resumes at entry parks - 1. */
struct emu_native_site {
    uint32_t next, retired, loads, stores, parks;
};
/** Native code of a kernel for blocks of one shape. */
struct emu_native_kernel {
    const struct emu_native_site *site; /* sites at which the code leaves; site 0 is for the case that no instruction was
                                         * executed */
    /** Executes the warp, or the split, from an entry until the code leaves. @entry: number of the entry, plus EMU_NATIVE_RESUME
     *  if the warp is parked for this entry. With EMU_NATIVE_UNPARK no instruction is executed: the registers of a warp that is
     *  parked for this entry are stored to the register file. */
    void (*run)(struct emu_native_frame *frame, uint32_t entry);
    const uint16_t *entry;  /* [count] 1 + number of the entry at instruction first + i; 0: the instruction is no entry */
    uint32_t first, count;
    uint32_t windows, entries;
    bool writes;            /* code that runs from the kernel's first instruction to its end may change the register file. false: only
                             * code that leaves elsewhere changes it */
};

/** A translator of kernels. */
struct emu_native {
    /** Returns the code for @request. The translator owns the code, which stays valid. If there is no code, returns NULL, and
     *  sets *@later: true if a later request may get code, false if the kernel cannot be translated. */
    const struct emu_native_kernel *(*kernel)(struct emu_native *native, const struct emu_native_request *request, bool *later);
    /** Number of times that warps with inactive lanes must reach an entry before masked code of the kernel is requested. Because
     *  of this limit, the many kernels that never diverge need no translation to masked code. */
    uint32_t masked_after;
    bool timed; /* requests have `seconds`; otherwise it is 0 */
    bool unshared; /* only kernels whose warps cannot pass data to each other by shared memory or barriers have native code. So a
                    * kernel that forgets a barrier gives the same results in each run */
};

/** Lets the machine's functional engine use native code from translator @native, which is borrowed. If @native is NULL, the
 *  interpreter executes all instructions. */
void emu_machine_set_native(struct emu_machine *machine, struct emu_native *native);
/** Returns the number of instructions that native code has executed, for statistics and tests. */
uint64_t emu_machine_native_instructions(const struct emu_machine *machine);

#endif
