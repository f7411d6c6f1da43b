/* SPDX-License-Identifier: Apache-2.0 */
/* A machine: its options, its listeners, and events other than instructions. */
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

/** Reaction to a write that MACHINE 3 forbids. */
enum emu_scalar_rule { EMU_SCALAR_FAULT, EMU_SCALAR_WARN, EMU_SCALAR_ALLOW };

/** Representation of uniform and affine registers (docs/explanation/uniform-affine.md). */
enum emu_tag_mode {
    EMU_TAGS_OFF,     /* there are no tags */
    EMU_TAGS_SHADOW,  /* registers have lane vectors; each tag is compared with its vector after a write */
    EMU_TAGS_COMPACT  /* a tagged register has no lane vector until an instruction needs it */
};
enum emu_tag_rules { EMU_TAG_RULES_TABLE, EMU_TAG_RULES_EXACT, EMU_TAG_RULES_FOLD };
/** When tagged registers are materialised. LAZY: a partial write materialises its destination. EAGER: the first
 *  divergent branch of the warp materialises all tagged registers. */
enum emu_tag_expansion { EMU_TAG_LAZY, EMU_TAG_EAGER };
/** Which values compact mode represents by tags. PROFITABLE: values of which some use becomes cheaper. ALL: all values
 *  that can be U or A. */
enum emu_tag_plan { EMU_TAG_PLAN_PROFITABLE, EMU_TAG_PLAN_ALL };
/** Names by value, terminated by NULL. */
extern const char *const emu_tag_mode_names[];
extern const char *const emu_tag_rules_names[];
extern const char *const emu_tag_expansion_names[];
extern const char *const emu_tag_plan_names[];

#define EMU_HANG_WINDOW (UINT64_C(1) << 26)

struct emu_config {
    unsigned warp_width;        /* 4, 8, 16, 32 or 64 */
    const char *reconv;         /* row of emu_reconv_names, such as "cbar" */
    const char *push_order;     /* engine `stack`: row of emu_push_order_names; NULL: "smaller" */
    const char *policy;         /* row of emu_policy_names: "rr_quantum" ... */
    unsigned split_quantum;     /* instructions of a split's slice; 0: the policy's default (64 for rr_quantum) */
    unsigned fairness_window;   /* fairness limit in warp instructions; 0: the policy alone decides */
    bool merge;                 /* merge splits at equal pcs on selection */
    unsigned resident_warps;    /* default: 2,048 */
    unsigned warp_quantum;      /* 64 */
    uint64_t arena_bytes;       /* bytes of global memory to reserve; default: 64 GiB */
    uint64_t hang_window;       /* warp instructions without progress before hang detection starts; default:
                                 * EMU_HANG_WINDOW; 0: never */
    enum emu_scalar_rule scalar_rule;
    unsigned level;             /* x86-64 level of the core: 1, 3 or 4; 0: the best on this host */
    enum emu_tag_mode tags;
    enum emu_tag_rules tag_rules;
    enum emu_tag_expansion tag_expansion;
    enum emu_tag_plan tag_plan;
    unsigned launch_depth;      /* nesting depth of launches at which launch.sync may wait; default: 24 */
    unsigned pending_launches;  /* limit of device launches that have not started; default: 2,048 */
    unsigned heap_bytes;        /* limit of all live objects that kernels got from malloc; default: 8 MiB */
};
void emu_config_default(struct emu_config *config);
extern const char *const emu_policy_names[]; /* names of the policies, NULL-terminated */
extern const char *const emu_reconv_names[];
/** Side of a divergent branch that becomes the last entry of the warp's table, which runs first on a SIMT stack: the
 *  smaller, the larger, or the one that falls through. */
extern const char *const emu_push_order_names[];
/** Returns true if the reconvergence engine @name has a table of entries, and so a push order. */
bool emu_reconv_has_push_order(const char *name);
/** Returns true if that table is a SIMT stack, of which only the last entry runs. */
bool emu_reconv_is_stack(const char *name);

/** Machine events: what happens in addition to instructions. Each listener is notified immediately. */
enum emu_machine_event_kind {
    EMU_MACHINE_LAUNCH,     /* a grid was queued: `grid` */
    EMU_MACHINE_ALLOC,      /* members: address, size_bytes, name */
    EMU_MACHINE_FREE,
    EMU_MACHINE_HOST_READ,  /* the host read global memory */
    EMU_MACHINE_HOST_WRITE, /* the host wrote global memory; `from`: source address of a copy inside global memory;
                             * 0: the host's own bytes */
    EMU_MACHINE_TEXT,       /* a lane printed: members grid .. lane, text with size_bytes */
    EMU_MACHINE_STALE,      /* a load returned a cache's stale bytes: members grid .. lanes, pc; address and
                             * size_bytes of the lowest of lanes */
    EMU_MACHINE_ASSERT      /* an assertion failed: members grid .. lane (the lowest of lanes), text */
};
/** A machine event. Pointers are borrowed for the time of the call. */
struct emu_machine_event {
    enum emu_machine_event_kind kind;
    const struct emu_grid *grid;
    uint64_t address, size_bytes, from;
    const char *name;
    uint64_t block; /* linear index */
    unsigned warp, lane;
    uint64_t lanes, pc;
    const char *text; /* text that is not terminated, with size_bytes bytes of any value */
};
struct emu_machine_listener {
    void (*on_machine_event)(struct emu_machine_listener *listener,
                             const struct emu_machine_event *event);
    struct emu_machine_listener *next; /* next listener in the list of listeners */
};

/** Filter that lets memory instructions continue without their faulting lanes, on every engine. The filter is called if
 *  the engine has no emu_core_ops.skip_fault, or if that function returned false. */
struct emu_fault_filter {
    /** Returns true to drop the stores of the faulting lanes and let their loads return @read_value in each
     *  32-bit register. @fault is borrowed for the time of the call. */
    bool (*skip)(struct emu_fault_filter *filter, const struct emu_fault *fault,
                 uint32_t *read_value);
};

/** Creates a machine. Errors: LW_ERANGE with a message for a bad config; LW_ENOMEM. */
enum lw_status emu_machine_create(const struct emu_config *config, struct emu_machine **out,
                                  struct lw_error *err) LW_MUST_CHECK;
void emu_machine_destroy(struct emu_machine *machine);
const struct emu_config *emu_machine_config(const struct emu_machine *machine);
/** Adds a listener; borrowed until removed or the machine ends. */
void emu_machine_add_listener(struct emu_machine *machine, struct emu_machine_listener *listener);
void emu_machine_remove_listener(struct emu_machine *machine, struct emu_machine_listener *listener);
/** Sets the fault filter, one for each machine; borrowed until replaced or the machine ends; NULL: none. It is called
 *  on the thread that runs the block. A filter alone does not limit the run to one thread: also register a listener.
 *  During replay (emu_machine_is_replaying) it is called again and must return the same answers. */
void emu_machine_filter_faults(struct emu_machine *machine, struct emu_fault_filter *filter);
/** Requests, for hooks, filters and listeners, that the engine stops after the current instruction
 *  (EMU_STOP_OBSERVER). A request between runs stops the next run after at most one instruction. @halt false
 *  withdraws the request. */
void emu_machine_halt(struct emu_machine *machine, bool halt);
/** Returns true if a halt was requested, and clears the request; for engines outside emu/. */
bool emu_machine_consume_halt_request(struct emu_machine *machine);
/** Returns true while history executes again what has run before. Hooks are not called during replay;
 *  listeners are. */
bool emu_machine_is_replaying(const struct emu_machine *machine);
/** Sets the sink of printed text; borrowed; NULL drops the text. Text is written in block order: a block's
 *  text is buffered until all lower (grid, block) have ended. */
void emu_machine_set_print(struct emu_machine *machine, struct lw_sink *sink);
struct lw_sink *emu_machine_print(const struct emu_machine *machine);
/** Sets whether text is written when it is printed, for debuggers. hash_mem uses block order in both cases. */
void emu_machine_print_immediately(struct emu_machine *machine, bool immediate);

#endif
