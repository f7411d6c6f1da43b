/* SPDX-License-Identifier: Apache-2.0 */
/* A machine: its options, its listeners, and its machine events. */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "isa/isa.h"

struct emu_machine;
struct emu_program;
struct emu_core;
struct emu_block;
struct emu_engine;
struct emu_grid;
struct emu_fault;

enum { EMU_MAX_LANES = 64, EMU_PAGE_BYTES = 4096, EMU_MAX_BLOCK_THREADS = 1024 };
/** Limits of the number of blocks of a grid in x, y and z, and in total. */
#define EMU_MAX_GRID_SIZE UINT32_C(0x7fffffff)
#define EMU_MAX_GRID_BLOCKS (UINT64_C(1) << 40)

/** Reaction to a write to a scalar register that MACHINE 3 forbids. */
enum emu_scalar_rule { EMU_SCALAR_FAULT, EMU_SCALAR_WARN, EMU_SCALAR_ALLOW };

/** Order in which the functional engine begins blocks that the device launches (docs/explanation/device-launches.md). */
enum emu_child_order { EMU_CHILD_LAZY, EMU_CHILD_EAGER, EMU_CHILD_LIFO, EMU_CHILD_RANDOM };
extern const char *const emu_child_order_names[]; /* indexed by value, terminated by NULL */

/** Representation of uniform and affine registers (docs/explanation/uniform-affine.md). */
enum emu_tag_mode {
    EMU_TAGS_OFF,     /* there are no tags */
    EMU_TAGS_SHADOW,  /* every register has a register row and a tag; after each write the tag is compared
                       * with the register row */
    EMU_TAGS_COMPACT  /* a register with tag U or A has no register row until an instruction needs one */
};
enum emu_tag_rules { EMU_TAG_RULES_TABLE, EMU_TAG_RULES_EXACT, EMU_TAG_RULES_FOLD };
/** When a tagged register is materialised. LAZY: when an instruction writes the register in only some lanes. EAGER: as LAZY, and
 *  the first divergent branch of the warp materialises all tagged registers. */
enum emu_tag_expansion { EMU_TAG_LAZY, EMU_TAG_EAGER };
/** Values that compact mode represents by tags. PROFITABLE: only values with at least one use that a tag makes cheaper. ALL: all
 *  values that can be U or A. */
enum emu_tag_plan { EMU_TAG_PLAN_PROFITABLE, EMU_TAG_PLAN_ALL };
/** Names of the values of the four preceding enumerations, indexed by value, terminated by NULL. */
extern const char *const emu_tag_mode_names[];
extern const char *const emu_tag_rules_names[];
extern const char *const emu_tag_expansion_names[];
extern const char *const emu_tag_plan_names[];

#define EMU_HANG_WINDOW (UINT64_C(1) << 26)

struct emu_config {
    unsigned warp_width;        /* 4, 8, 16, 32 or 64 */
    const char *reconv;         /* name of the reconvergence engine, one of emu_reconv_names */
    const char *push_order;     /* reconvergence engines with a push order: one of emu_push_order_names; NULL: "smaller" */
    const char *policy;         /* name of the split policy, one of emu_policy_names; NULL (default): converge, or rr_quantum
                                 * with the timing model */
    unsigned split_quantum;     /* instructions of a split's time slice; 0: the policy's default, which is 64 for rr_quantum */
    unsigned fairness_window;   /* fairness limit, in warp instructions; 0: no limit, the policy alone decides */
    bool merge;                 /* ready splits at the same pc merge when the policy selects one of them */
    unsigned resident_warps;    /* greatest number of resident warps; default: 2,048 */
    unsigned warp_quantum;      /* instructions of a warp's time slice in its block; default: 64 */
    uint64_t arena_bytes;       /* bytes of global memory to reserve; default: 64 GiB */
    uint64_t hang_window;       /* number of warp instructions without progress after which the emulator searches for a hang;
                                 * default: EMU_HANG_WINDOW; 0: never */
    enum emu_scalar_rule scalar_rule;
    unsigned level;             /* x86-64 level of the interpreter: 1, 3 or 4; 0: the highest that this host supports */
    enum emu_tag_mode tags;
    enum emu_tag_rules tag_rules;
    enum emu_tag_expansion tag_expansion;
    enum emu_tag_plan tag_plan;
    unsigned launch_depth;      /* greatest nesting depth of launches at which launch.sync may wait; default: 24 */
    unsigned pending_launches;  /* greatest number of device launches that have not started; default: 2,048 */
    enum emu_child_order child_order;
    unsigned child_seed;        /* child_order random: seed */
    unsigned heap_bytes;        /* greatest size of all live objects from kernels' malloc together; default: 8 MiB */
};
void emu_config_default(struct emu_config *config);
extern const char *const emu_policy_names[]; /* names of the split policies, terminated by NULL */
extern const char *const emu_reconv_names[];
/** Names of push orders. The push order determines the side of a divergent branch that becomes the last entry of the warp's
 *  table, and so runs first on a SIMT stack: the smaller side, the larger side, or the side that falls through. */
extern const char *const emu_push_order_names[];
/** Returns true if the reconvergence engine @name has a table of entries, and therefore uses a push order. */
bool emu_reconv_has_push_order(const char *name);
/** Returns true if the table of the reconvergence engine @name is a SIMT stack, of which only the last level runs. */
bool emu_reconv_is_stack(const char *name);

/** Machine events: everything except instructions that happens on a machine. Each machine event is reported to all listeners at
 *  the time when it happens. */
enum emu_machine_event_kind {
    EMU_MACHINE_LAUNCH,     /* a grid was queued; member: grid */
    EMU_MACHINE_ALLOC,      /* global memory was allocated; members: address, size_bytes, name */
    EMU_MACHINE_FREE,       /* an allocation was freed; members as for EMU_MACHINE_ALLOC */
    EMU_MACHINE_HOST_READ,  /* the host read global memory; members: address, size_bytes */
    EMU_MACHINE_HOST_WRITE, /* the host wrote global memory; members: address, size_bytes, and `from`: source address of a copy
                             * within global memory, or 0 if the bytes came from the host */
    EMU_MACHINE_TEXT,       /* a lane printed; members: grid .. lane, text with size_bytes */
    EMU_MACHINE_STALE,      /* a load returned a cache's stale bytes; members: grid .. lanes, pc; address and size_bytes of the
                             * lowest of `lanes` */
    EMU_MACHINE_ASSERT      /* an assertion failed; members: grid .. lane (the lowest of `lanes`), text */
};
/** A machine event. Pointers are borrowed for the duration of the call. */
struct emu_machine_event {
    enum emu_machine_event_kind kind;
    const struct emu_grid *grid;
    uint64_t address, size_bytes, from;
    const char *name;
    uint64_t block; /* linear index */
    unsigned warp, lane;
    uint64_t lanes, pc;
    const char *text; /* size_bytes bytes of any value, without a terminator */
};
struct emu_machine_listener {
    void (*on_machine_event)(struct emu_machine_listener *listener,
                             const struct emu_machine_event *event);
    struct emu_machine_listener *next; /* next listener in the list of listeners */
};

/** Filter that lets memory instructions continue without their faulting lanes, on every engine. The filter is called for a fault
 *  unless the engine's emu_core_ops.skip_fault has returned true for this fault. */
struct emu_fault_filter {
    /** Returns true to drop the stores of the faulting lanes and let their loads return @read_value in each 32-bit register.
     *  @fault is borrowed for the duration of the call. */
    bool (*skip)(struct emu_fault_filter *filter, const struct emu_fault *fault,
                 uint32_t *read_value);
};

/** Creates a machine. Errors: LW_ERANGE, with a message, for an invalid config; LW_ENOMEM. */
enum lw_status emu_machine_create(const struct emu_config *config, struct emu_machine **out,
                                  struct lw_error *err) LW_MUST_CHECK;
void emu_machine_destroy(struct emu_machine *machine);
const struct emu_config *emu_machine_config(const struct emu_machine *machine);
/** Divides the hang window by 2^@shift if it is EMU_HANG_WINDOW, for an observer that makes the machine slower. Must be called
 *  before the machine's engine is created. */
void emu_machine_reduce_hang_window(struct emu_machine *machine, unsigned shift);
/** Adds a listener, which is borrowed until it is removed or the machine is destroyed. */
void emu_machine_add_listener(struct emu_machine *machine, struct emu_machine_listener *listener);
void emu_machine_remove_listener(struct emu_machine *machine, struct emu_machine_listener *listener);
/** Sets the machine's fault filter. NULL removes the filter. The filter is borrowed until it is replaced or the machine is
 *  destroyed. The filter is called on the thread that runs the block. A filter does not restrict the run to one host thread. A
 *  caller that needs one host thread also registers a listener. During a replay (emu_machine_is_replaying) the filter is called
 *  again and must return the same values. */
void emu_machine_filter_faults(struct emu_machine *machine, struct emu_fault_filter *filter);
/** Requests that the engine stops after the current instruction (EMU_STOP_OBSERVER). Hooks, filters and listeners may call this
 *  function. A request between two runs stops the next run after at most one instruction. @halt false withdraws the request. */
void emu_machine_halt(struct emu_machine *machine, bool halt);
/** Returns true if a halt was requested, and clears the request; for engines outside emu/. */
bool emu_machine_consume_halt_request(struct emu_machine *machine);
/** Returns true while history executes instructions that were executed before. During a replay hooks are not called, but
 *  listeners are. */
bool emu_machine_is_replaying(const struct emu_machine *machine);
/** Sets the sink of printed text, which is borrowed; NULL drops the text. Text is written in block order: the text of a block is
 *  buffered until all blocks with a lower (grid, block) have ended. */
void emu_machine_set_print(struct emu_machine *machine, struct lw_sink *sink);
struct lw_sink *emu_machine_print(const struct emu_machine *machine);
/** Sets whether text that kernels print is written immediately, as debuggers need it. The hash of the text in hash_mem
 *  (emu_hash_mem) uses block order, whatever @immediate is. */
void emu_machine_print_immediately(struct emu_machine *machine, bool immediate);

#endif
