/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door of emu/: machine, programs, grids, cores, the event of one warp
 * instruction, engines and views of the state. emu has never heard of cycles.
 *
 * Who owns what (MACHINE 5): a machine holds memory, programs and grids; a core holds
 * what runs (resident blocks and their warps); an engine decides what goes next and
 * is the only one that starts, steps and frees blocks.
 */
#ifndef EMU_H
#define EMU_H

#include "isa/isa.h"

struct emu_machine;
struct emu_program;
struct emu_core;
struct emu_block; /* emu's own */
struct emu_engine;
struct emu_fault;

enum { EMU_MAX_LANES = 64, EMU_PAGE_BYTES = 4096, EMU_MAX_BLOCK_THREADS = 1024 };
/** Blocks of a grid in x, y and z, and in all. */
#define EMU_MAX_GRID_SIZE UINT32_C(0x7fffffff)
#define EMU_MAX_GRID_BLOCKS (UINT64_C(1) << 40)

/* ---- machine -------------------------------------------------------------- */

/** What to do on a write that MACHINE 3 forbids. */
enum emu_scalar_rule { EMU_SCALAR_FAULT, EMU_SCALAR_WARN, EMU_SCALAR_ALLOW };

/** How uniform and affine registers are kept (docs/explanation/uniform-affine.md). */
enum emu_tag_mode {
    EMU_TAGS_OFF,     /* there are no tags */
    EMU_TAGS_SHADOW,  /* rows are the truth; each tag is compared with them after a write */
    EMU_TAGS_COMPACT  /* a tagged register has no row until somebody needs it */
};
enum emu_tag_rules { EMU_TAG_RULES_TABLE, EMU_TAG_RULES_EXACT, EMU_TAG_RULES_FOLD };
/** When tagged registers get rows: the destination of a partial write, or all at the first
 *  branch that parts the warp. */
enum emu_tag_expansion { EMU_TAG_LAZY, EMU_TAG_EAGER };
/** Compact mode: which values are kept as tags, those from which some use gains or all that may
 *  be U or A. */
enum emu_tag_plan { EMU_TAG_PLAN_PROFITABLE, EMU_TAG_PLAN_ALL };
/** Names by value, NULL-terminated. */
extern const char *const emu_tag_mode_names[];
extern const char *const emu_tag_rules_names[];
extern const char *const emu_tag_expansion_names[];
extern const char *const emu_tag_plan_names[];

struct emu_config {
    unsigned warp_width;        /* 4, 8, 16, 32, 64 */
    const char *reconv;         /* row of emu_reconv_names: "cbar", "stack" */
    const char *push_order;     /* stack: row of emu_push_order_names; NULL: "smaller" */
    const char *policy;         /* row of emu_policy_names: "rr_quantum" ... */
    unsigned split_quantum;     /* 0: the policy's own (64 for rr_quantum) */
    unsigned fairness_window;   /* warp instructions, 0: pure policy */
    bool merge;                 /* merge splits at equal pcs on selection */
    unsigned resident_warps;    /* 2,048 */
    unsigned warp_quantum;      /* 64 */
    uint64_t arena_bytes;       /* global memory reserved: 64 GiB */
    uint64_t hang_window;       /* warp instructions without progress before it is looked at whether any can come: 2^26; 0: never */
    enum emu_scalar_rule scalar_rule;
    unsigned level;             /* x86-64 level of the core: 0 best here, 1, 3 or 4 */
    enum emu_tag_mode tags;
    enum emu_tag_rules tag_rules;
    enum emu_tag_expansion tag_expansion;
    enum emu_tag_plan tag_plan;
    unsigned launch_depth;      /* levels of launches at which launch.sync may wait: 24 */
    unsigned pending_launches;  /* device launches that have not begun: 2,048 */
    unsigned heap_bytes;        /* that kernels may have by malloc at once: 8 MiB */
};
void emu_config_default(struct emu_config *config);
extern const char *const emu_policy_names[]; /* NULL-terminated */
extern const char *const emu_reconv_names[];
/** Which side of a divergent branch the `stack` engine runs first: the smaller, the larger,
 *  or the one that falls through. */
extern const char *const emu_push_order_names[];

/** What happens to a machine beside instructions: told to every listener at once. */
enum emu_machine_event_kind {
    EMU_MACHINE_LAUNCH,     /* a grid was queued: `grid` */
    EMU_MACHINE_ALLOC,      /* address, size_bytes, name */
    EMU_MACHINE_FREE,
    EMU_MACHINE_HOST_READ,  /* a host copy of global memory */
    EMU_MACHINE_HOST_WRITE, /* from: a copy of global memory there; 0: of the host's own bytes */
    EMU_MACHINE_TEXT,       /* a lane printed: grid .. lane, text, size_bytes of it */
    EMU_MACHINE_ASSERT      /* an assertion failed: grid .. lane (the lowest of lanes), text */
};
/** Pointers are borrowed for the time of the call. */
struct emu_machine_event {
    enum emu_machine_event_kind kind;
    const struct emu_grid *grid;
    uint64_t address, size_bytes, from;
    const char *name;
    uint64_t block; /* linear id */
    unsigned warp, lane;
    uint64_t lanes;
    const char *text; /* not terminated: size_bytes; may hold any byte */
};
struct emu_machine_listener {
    void (*on_life)(struct emu_machine_listener *listener, const struct emu_machine_event *life);
    struct emu_machine_listener *next; /* the list's own */
};

/** Who lets memory instructions go on without the lanes that fault, whatever engine runs: asked
 *  where the engine's own emu_core_ops.skip_fault does not exist or says no. */
struct emu_fault_filter {
    /** True: what the faulting lanes store is dropped, what they load is @read_value in each
     *  32-bit register. @fault is borrowed for the time of the call. */
    bool (*skip)(struct emu_fault_filter *filter, const struct emu_fault *fault,
                 uint32_t *read_value);
};

/** Errors: LW_ERANGE and a sentence for a bad config; LW_ENOMEM. */
enum lw_status emu_machine_create(const struct emu_config *config, struct emu_machine **out,
                                  struct lw_error *err) LW_MUST_CHECK;
void emu_machine_destroy(struct emu_machine *machine);
const struct emu_config *emu_machine_config(const struct emu_machine *machine);
/** Borrowed until removed or the machine ends. */
void emu_machine_add_listener(struct emu_machine *machine, struct emu_machine_listener *listener);
void emu_machine_remove_listener(struct emu_machine *machine, struct emu_machine_listener *listener);
/** One a machine; borrowed until it is replaced or the machine ends; NULL: none. It is asked on the
 *  thread that runs the block: who wants one thread listens to the machine's life as well. It is
 *  asked again where history runs something again (emu_machine_is_replaying), and says the same then. */
void emu_machine_filter_faults(struct emu_machine *machine, struct emu_fault_filter *filter);
/** For taps, filters and listeners: the engine stops behind the instruction that is being executed
 *  (EMU_STOP_OBSERVER), or, set between runs, behind the next one. False: it does not. */
void emu_machine_halt(struct emu_machine *machine, bool halt);
/** For engines elsewhere: was that asked for? It is answered then. */
bool emu_machine_consume_halt_request(struct emu_machine *machine);
/** What runs now has run before: history goes to a place of the past, or forward from there. Taps are
 *  not called then, life listeners are. */
bool emu_machine_is_replaying(const struct emu_machine *machine);
/** Where printed text goes; borrowed; NULL drops it. It comes out in block order: what a
 *  block prints is kept until all lower (grid, block) have ended. */
void emu_machine_set_print(struct emu_machine *machine, struct lw_sink *sink);
struct lw_sink *emu_machine_print(const struct emu_machine *machine);
/** True: text comes out when it is printed (a debugger is there). hash_mem takes block order
 *  all the same. */
void emu_machine_print_at_once(struct emu_machine *machine, bool at_once);

/* ---- programs ------------------------------------------------------------- */

/** Decode, validate and place an object; module variables are allocated. The object is
 *  borrowed until the program is destroyed. @machine keeps the program.
 *  Errors: LW_EFORMAT, LW_EUNSUPP with place and construct. */
enum lw_status emu_program_load(struct emu_machine *machine, const struct isa_object *object,
                                struct emu_program **out, struct lw_error *err) LW_MUST_CHECK;
const struct isa_object *emu_program_object(const struct emu_program *program);
/** Kernel by name, or NULL. */
const struct isa_function *emu_program_kernel(const struct emu_program *program,
                                              const char *name);
/** Guest address of a module variable, 0 if there is none. */
uint64_t emu_program_variable(const struct emu_program *program, const char *name,
                              uint64_t *size_bytes);
/** The program whose code holds @pc, or NULL; code starts at emu_program_base. */
struct emu_program *emu_machine_program_at(const struct emu_machine *machine, uint64_t pc);
/** Every program once: the one behind @program, the first one for NULL; NULL behind the last. */
const struct emu_program *emu_machine_program_next(const struct emu_machine *machine,
                                                   const struct emu_program *program);
uint64_t emu_program_base(const struct emu_program *program);
/** Decoded instruction at a guest address, NULL outside the code or misaligned. */
const struct isa_insn *emu_program_insn(const struct emu_program *program, uint64_t pc);
/** No global *observes* row is reachable from the kernel's entry (MACHINE 4). */
bool emu_kernel_block_order_free(const struct emu_program *program,
                                 const struct isa_function *kernel);
/** The verdict on a kernel and what it rests on; borrowed. */
const struct isa_order_analysis *emu_kernel_order(const struct emu_program *program,
                                                 const struct isa_function *kernel);
/** Some instruction of it launches kernels or groups. */
bool emu_program_launches(const struct emu_program *program);
/** There is none of either kind. */
bool emu_kernel_order_free(const struct emu_program *program,
                           const struct isa_function *kernel);

/** The host code of the first instruction of @object's text, as this machine would run it:
 *  the handler for all lanes and the one for some. Errors: as emu_program_load; LW_EUNSUPP on
 *  a processor whose code cannot be shown. */
enum lw_status emu_host_print(const struct isa_object *object, const struct emu_config *config,
                              struct lw_sink *out, struct lw_error *err) LW_MUST_CHECK;

/* ---- global memory, from the host ------------------------------------------ */

enum emu_alloc_flag {
    EMU_ALLOC_READ_ONLY = 1 << 0, /* guest stores fault (.const variables) */
    EMU_ALLOC_WATCHED = 1 << 1,
    EMU_ALLOC_FREED = 1 << 2,
    EMU_ALLOC_MODULE = 1 << 3, /* a module variable */
    EMU_ALLOC_PARAMETERS = 1 << 4, /* a parameter buffer that a kernel asked for */
    EMU_ALLOC_HEAP = 1 << 5        /* a kernel's malloc */
};
/** A live or freed allocation, as shown to users. */
struct emu_allocation {
    uint64_t address, size_bytes;
    unsigned flags;
    const char *name; /* owned by the machine; "" if none */
};
/** Zeroed global memory; starts on a page of its own, a free page behind it.
 *  Errors: LW_ENOMEM when the arena is full. size 0 is allowed (one page, 0 valid). */
enum lw_status emu_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                         unsigned flags, uint64_t *address, struct lw_error *err) LW_MUST_CHECK;
/** Errors: LW_ENOENT when @address is not the start of a live allocation. */
enum lw_status emu_free(struct emu_machine *machine, uint64_t address, struct lw_error *err)
    LW_MUST_CHECK;
/** Copies between host and global memory; every byte must be in one live allocation.
 *  Read-only allocations may be written by the host. Errors: LW_ERANGE with address. */
enum lw_status emu_global_read(const struct emu_machine *machine, uint64_t address, void *data,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
enum lw_status emu_global_write(struct emu_machine *machine, uint64_t address, const void *data,
                                uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;
/** Allocation that holds @address, or the nearest below it (then *inside is false);
 *  also freed ones. Returns false when there is none. */
bool emu_allocation_at(const struct emu_machine *machine, uint64_t address,
                       struct emu_allocation *out, bool *inside);
unsigned emu_allocation_count(const struct emu_machine *machine);
bool emu_allocation_get(const struct emu_machine *machine, unsigned index,
                        struct emu_allocation *out);

/** A copy by the host from one place in global memory to another; they may overlap. Errors: LW_ERANGE with address. */
enum lw_status emu_global_copy(struct emu_machine *machine, uint64_t to, uint64_t from,
                               uint64_t size_bytes, struct lw_error *err) LW_MUST_CHECK;

/** What a texel's components are. */
enum emu_texel_kind { EMU_TEXEL_UNSIGNED, EMU_TEXEL_SIGNED, EMU_TEXEL_FLOAT };
/** What a float coordinate outside means; the first and third where coordinates are normalized,
 *  else they are the second. BORDER reads zeros. */
enum emu_texture_edge {
    EMU_TEXTURE_WRAP, EMU_TEXTURE_CLAMP, EMU_TEXTURE_MIRROR, EMU_TEXTURE_BORDER
};
/** Texels in global memory, as `tex` fetches them (docs/reference/memory.md): none is filtered. */
struct emu_texture {
    uint64_t address;         /* of the first texel */
    uint32_t width, height;   /* texels; height 0: one dimension */
    uint32_t pitch_bytes;     /* from a row to the next */
    uint8_t bits, components; /* 8, 16, 32; 1, 2, 4 */
    enum emu_texel_kind kind;
    bool normalized_values; /* integers are read as floats: 0..1, signed ones -1..1 */
    bool normalized_coords; /* float coordinates go from 0 to 1 */
    enum emu_texture_edge edge[2];
};
enum { EMU_TEXTURE_BYTES = 32 };
/** Write the descriptor of @texture (NULL: of none) to EMU_TEXTURE_BYTES of global memory at
 *  @handle, a multiple of 8: a step of the host as emu_global_write is. What it says of memory is
 *  checked when a kernel fetches. Errors: LW_EINPUT, a texture that cannot be; LW_ERANGE. */
enum lw_status emu_texture_bind(struct emu_machine *machine, uint64_t handle,
                                const struct emu_texture *texture, struct lw_error *err)
    LW_MUST_CHECK;
/** False: there is no texture at @handle, or it is not bound. */
bool emu_texture_get(const struct emu_machine *machine, uint64_t handle, struct emu_texture *out);

/** hash_mem of MACHINE 4: live global allocations in address order, and printed text. */
uint64_t emu_hash_mem(const struct emu_machine *machine);

/* ---- grids ------------------------------------------------------------------ */

struct emu_launch {
    const struct emu_program *program;
    const struct isa_function *kernel;
    uint32_t grid[3], block[3]; /* all >= 1 */
    uint32_t offset[3];         /* OpenCL global work offset */
    uint32_t work_dim;          /* 1..3 */
    uint32_t dynamic_shared_bytes;
    const void *params; /* param_bytes of the kernel; copied */
};
/** One launch. Constant while it runs. The host's stay in the machine's list; a device launch
 *  leaves it when it is complete and no slot holds a block of it. */
struct emu_grid {
    uint32_t sequence; /* 1, 2, ... in launch order: never reused */
    struct emu_launch launch;
    uint64_t block_count;
    uint32_t block_threads, block_warps, shared_bytes;
    uint64_t first_warp_id; /* number of warps of all earlier grids (MACHINE 9) */
    uint64_t blocks_placed; /* the engine's: first block that it has not made resident */
    uint64_t blocks_started, blocks_ended; /* ended: no lane lives; a slot may still hold it */
    bool begun; /* an instruction of it was retired */
    bool group; /* launched as a group of thread blocks */
    unsigned depth; /* of nesting; the host's launches: 0 */
    /** Who launched it: grid 0 is the host. */
    struct {
        uint32_t grid;
        uint64_t block;
        unsigned warp, lane;
    } parent;
    uint64_t stream; /* of its parent's block; 0: the block's own. Groups are in none */
    /** Of launches that are not complete: who launched it, the kernel that a group aggregated onto
     *  (or NULL), the launches before and behind it in its stream. It may start when `before` is
     *  NULL. */
    struct emu_grid *launcher, *joined, *before, *behind;
    struct emu_block *launcher_block; /* may hold another block by now */
    uint32_t children_open, groups_open; /* launched by it, aggregated onto it: not complete */
    uint64_t blocks_held; /* slots that hold a block of it; of device launches only */
    const uint8_t *bank0; /* parameters, ISA_CONST_BANK_BYTES, rest zero */
    unsigned bank0_valid; /* bytes of it that exist */
    struct emu_grid *next, *previous;
    /** emu's: its place among the launches that may start, and in the index of streams. */
    struct {
        struct emu_grid *next, *previous, *stream;
        bool may_start, ends_stream;
    } in;
};
/** All blocks of it have ended, and so have all launches by it or aggregated onto it. */
static inline bool emu_grid_complete(const struct emu_grid *grid)
{
    return grid->blocks_ended == grid->block_count && grid->children_open == 0 &&
           grid->groups_open == 0;
}
/** Checks sizes against the kernel's and machine's limits and queues the grid.
 *  Errors: LW_ERANGE with a sentence (block too large, W refused, shared memory). */
enum lw_status emu_grid_launch(struct emu_machine *machine, const struct emu_launch *launch,
                               struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** The first grid that is not complete, NULL when idle: of those that run, the host's. */
struct emu_grid *emu_grid_current(const struct emu_machine *machine);
/** By its sequence number; NULL: there is none, or it has left the machine. */
struct emu_grid *emu_grid_find(const struct emu_machine *machine, uint32_t sequence);
/** "launched by kernel p, block (1,0,0), warp 0, lane 3; that by ..." up to the host's launch;
 *  nothing for a launch of the host. No newline. */
void emu_grid_chain_print(const struct emu_machine *machine, uint32_t sequence,
                          struct lw_sink *out);

/* ---- faults and verdicts ----------------------------------------------------- */

enum emu_fault_kind {
    EMU_FAULT_NONE,
#define FAULT(id, name, sentence) EMU_FAULT_##id,
#include "emu/faults.def"
    EMU_FAULT_COUNT
};
const char *emu_fault_name(enum emu_fault_kind kind);

/** A guest fault: a value, never a host error. */
struct emu_fault {
    enum emu_fault_kind kind;
    uint64_t lanes;        /* lanes that fault */
    uint64_t pc;
    uint64_t address;      /* of the lowest faulting lane, for memory faults */
    enum isa_space space;
    uint8_t bytes;
    bool write;
    uint32_t grid;         /* sequence */
    uint64_t block;        /* linear id */
    unsigned warp;         /* in the block */
    char detail[200];      /* a clause: which allocation, how far outside, which rule */
};
/** What the instruction at its pc does to memory: "load", "store" or "atomic". */
const char *emu_fault_access(const struct emu_machine *machine, const struct emu_fault *fault);
/** Did a function that was called find no room for its frame? What it would have kept there is lost. */
bool emu_fault_is_full_stack(const struct emu_machine *machine, const struct emu_fault *fault);
/** "fault: out-of-bounds global store of 4 bytes at 0x... ..." one line, no newline. */
void emu_fault_print(const struct emu_machine *machine, const struct emu_fault *fault,
                     struct lw_sink *out);

enum emu_hang_kind {
    EMU_HANG_NONE,
    EMU_HANG_DEADLOCK,      /* nothing ready, sleeping or pending */
    EMU_HANG_CONVERGENCE,   /* lanes wait at a convergence barrier for lanes that cannot reach it */
    EMU_HANG_CTA_BARRIER,   /* a CTA barrier not all lanes reach */
    EMU_HANG_LIVELOCK,      /* what runs goes round for ever */
    EMU_HANG_SIMT,          /* `stack`: the top waits for lanes below it */
    EMU_HANG_VALUE          /* the same, and what lanes read again and again nobody writes */
};
/** "deadlock", "convergence", "cta-barrier", "livelock", "simt", "value"; "none". */
const char *emu_hang_name(enum emu_hang_kind kind);
struct emu_hang {
    enum emu_hang_kind kind;
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    uint64_t lanes, pc;
    /** What happened, then a line for each who waits and for whom: lanes, pcs with source
     *  lines, barriers, places in memory with their values. */
    char detail[4000];
};
/** "hang: ..." and the lines behind it indented; no newline at the end. */
void emu_hang_print(const struct emu_hang *hang, struct lw_sink *out);
/** Where all lanes stand in a run that its user ends in the middle: @why, a clause, then a line for each place, in
 *  the words of a verdict. It is none: out->kind is EMU_HANG_NONE. The other members are those of the first warp. */
void emu_machine_where(const struct emu_machine *machine, const char *why, struct emu_hang *out);
/** The same text: @why, then the lines indented; no newline at the end. */
void emu_where_print(const struct emu_hang *where, struct lw_sink *out);

/* ---- the event (MACHINE 5) ------------------------------------------------------ */

enum emu_event_kind {
    EMU_EV_RETIRED,
    EMU_EV_FAULT,
    EMU_EV_ARRIVED /* lanes came to wait at a .sync operation: nothing was executed */
};
enum emu_conv_op {
    EMU_CONV_NONE, EMU_CONV_JOIN, EMU_CONV_ARRIVE, EMU_CONV_PASS, EMU_CONV_BREAK,
    EMU_CONV_SAVE, EMU_CONV_RESTORE, EMU_CONV_YIELD, EMU_CONV_WARPSYNC
};

/** What made waiting lanes ready. */
enum emu_release {
    EMU_RELEASE_NONE, EMU_RELEASE_ARRIVAL, EMU_RELEASE_YIELD, EMU_RELEASE_EXIT,
    EMU_RELEASE_BREAK, EMU_RELEASE_REJOIN, EMU_RELEASE_CTA, EMU_RELEASE_WARPSYNC,
    EMU_RELEASE_POP /* stack: what lay above has come to the reconvergence pc, or exited */
};

/** Tag of a vector register of a warp: what all its live lanes hold.
 *  U: base. A: base + stride * (lane % fold) + rise * (lane / fold) modulo 2^32, where fold is
 *  the machine's warp width (then rise is 0) but under the rules `fold`. V: anything. */
enum emu_tag_kind { EMU_TAG_U, EMU_TAG_A, EMU_TAG_V };
struct emu_tag {
    uint8_t kind;  /* enum emu_tag_kind */
    bool pair;     /* this register and the next are one 64-bit value that is U or A: */
    uint8_t fold;  /* lanes in a row of the block, or W */
    uint32_t base;
    int32_t stride, rise;
    uint64_t pair_base;
    int64_t pair_stride, pair_rise;
};
/** A vector register that an instruction reads or writes. */
struct emu_tag_change {
    uint8_t reg;
    bool read, written; /* by its operands: a guard may leave no lane */
    struct emu_tag before, after;
};

struct emu_outcome {
    uint64_t pc, lanes;
    unsigned split; /* id after the step */
};
enum emu_access_kind {
    EMU_ACCESS_LOAD,
    EMU_ACCESS_STORE,
    EMU_ACCESS_ATOMIC,
    EMU_ACCESS_REDUCE,  /* atomic without a result */
    EMU_ACCESS_CONSTANT /* operand: all lanes read one place of a bank */
};
/** Lanes whose addresses are affine: lane l of `lanes`, which is not empty, has
 *  base + stride * (l - the lowest of them). */
struct emu_event_segment {
    uint64_t lanes, base;
    int64_t stride; /* 0 of one lane */
};
enum { EMU_EVENT_SEGMENTS = 8 };
/**
 * One access list of a step. What vprintf and assertfail read of guest memory (format, arguments,
 * names) is in none: strings have no size before they are read. Their text says what it was. Nor is
 * what launches read: EMU_MACHINE_LAUNCH tells it.
 */
struct emu_access {
    enum isa_space space;      /* of the lowest lane, after generic resolution */
    enum emu_access_kind kind;
    uint8_t bytes;             /* a lane */
    uint8_t order, scope, cache; /* values of the modifier groups */
    /** Texels, through a texture: `lanes` are those that read one; the others of the instruction
     *  fetched outside and read nothing. The descriptor is in no list. */
    bool texture;
    /** Lanes that it is for. A scalar load is one access, told for the lowest lane; a constant
     *  operand of a scalar row serves all lanes of the split. */
    uint64_t lanes;
    const uint8_t *lane_space; /* [lane] enum isa_space after generic resolution */
    const uint64_t *address;   /* [lane] generic addresses */
    const uint8_t (*old_value)[16]; /* [lane]: memory before */
    const uint8_t (*new_value)[16]; /* [lane]: memory after a write; NULL for loads */
    bool affine;
    uint64_t base;
    int64_t stride;
    /** Global accesses: the allocation of the lowest lane's address. */
    bool in_allocation;
    struct emu_allocation allocation;
    /** Atomics: lanes in the order in which they were served; else all at once. */
    const uint8_t *service; /* [service_count] */
    unsigned service_count;
    /** EMU_EVENT_ADDRESSES: all lanes in closed form, each in one piece, by ascending lowest lanes; 0:
     *  there are more pieces than fit, or nobody asked for them; then the rows say it. */
    unsigned piece_count;
    struct emu_event_segment piece[EMU_EVENT_SEGMENTS];
};

/** What one step did. Pointers are borrowed until the next step on the same core. */
struct emu_event {
    enum emu_event_kind kind;
    /* who */
    const struct emu_core *core;
    const struct emu_grid *grid;
    uint32_t block_index[3];
    uint64_t block;    /* linear id */
    unsigned slot;     /* resident block slot on the core */
    unsigned warp;     /* in the block */
    unsigned split;
    /** Instructions retired before this one: by the core (of its warps; several cores together
     *  have no common order), by the warp, by the block. */
    uint64_t sequence;
    uint64_t warp_sequence, block_sequence;
    /* what */
    uint64_t pc;
    const struct isa_insn *insn;
    /* lanes: the split's, exec, guard, M & exec & guard */
    uint64_t split_lanes, exec, guard, effective;
    /* flow */
    const struct emu_outcome *outcomes;
    unsigned outcome_count;
    uint64_t exited;
    struct {
        enum emu_conv_op op;
        uint8_t reg;
        bool soft;
        uint64_t group;    /* number */
        uint64_t arrived, released; /* lanes */
        enum emu_release why;
    } conv;
    struct {
        bool used, completed;
        uint8_t id;
        unsigned arrived, expected;
        uint64_t generation;
    } cta;
    /* memory */
    struct emu_access access[2];
    unsigned access_count;
    /* registers: tags of those read and written. None are listed with the tags off: then
     * every register is V (emu_event_tag) */
    const struct emu_tag_change *tags;
    unsigned tag_count;
    unsigned expansions; /* tagged registers that became V because some lanes were written */
    /* life */
    /** It has retired nothing before; told again when this step was a fault or an arrival. */
    bool warp_started, block_started, grid_started;
    bool warp_ended, block_ended, grid_ended; /* this step ended its last lane */
    struct emu_fault fault; /* kind == EMU_EV_FAULT */
};
/** Tag of vector register @reg before or after the event's instruction; V where the event
 *  does not list it. */
struct emu_tag emu_event_tag(const struct emu_event *ev, unsigned reg, bool after);

/**
 * Blocks of memory that an affine access touches, without a look at its lanes.
 *
 * @base         address of lane 0; those of @lanes, base + stride * lane, must not wrap
 * @lanes        that take part
 * @bytes        of an access, at most @block_bytes
 * @block_bytes  a power of two
 * @block        gets address / block_bytes of each block once, ascending
 */
unsigned emu_affine_blocks(uint64_t base, int64_t stride, uint64_t lanes, unsigned bytes,
                           unsigned block_bytes, uint64_t block[2 * EMU_MAX_LANES]);
/** Passes over 32 banks of 4 bytes that 32 lanes take to access words that are @words words
 *  apart: the most different words in one bank. */
unsigned emu_bank_conflict_degree(int64_t words);

/* ---- core: what runs ------------------------------------------------------------- */

/** What %smid, %nsmid, %warpid and %nwarpid read (%gridid is the grid's sequence number). */
struct emu_hw_ids {
    uint32_t smid, nsmid;     /* core, cores; default: 0 and the machine's cores */
    uint32_t warpid, nwarpid; /* warp slot, warp slots; default: of the block's own warps */
};

/** Questions that a core asks its engine. Any member may be NULL: the default. */
struct emu_core_ops {
    uint64_t (*clock)(void *context, unsigned slot, unsigned warp);       /* default: block count */
    uint64_t (*globaltimer)(void *context);                              /* default: core count */
    /** Ids of the place where a warp runs; @ids holds the defaults. */
    void (*place_ids)(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids);
    uint64_t (*sleep_length)(void *context, uint32_t nanoseconds);       /* default: as is */
    /** A memory fault: true lets the instruction go on without the faulting lanes: what they
     *  store is dropped, what they load is @read_value in each 32-bit register. Default: stop. */
    bool (*skip_fault)(void *context, const struct emu_fault *fault, uint32_t *read_value);
};

enum lw_status emu_core_create(struct emu_machine *machine, unsigned slots,
                               const struct emu_core_ops *ops, void *context,
                               struct emu_core **out, struct lw_error *err) LW_MUST_CHECK;
void emu_core_destroy(struct emu_core *core);
/** Start block @block (linear) of @grid in a free slot. State is made here. */
enum lw_status emu_core_block_start(struct emu_core *core, struct emu_grid *grid,
                                    uint64_t block, unsigned *slot, struct lw_error *err)
    LW_MUST_CHECK;
/** Give an ended block's slot back. */
void emu_core_block_free(struct emu_core *core, unsigned slot);
/** Where a warp's state lies, until its slot is given back; and: a step of it comes soon, its state is
 *  to be in the host's cache by then. Any address does no harm. */
struct emu_warp *emu_warp_state(const struct emu_core *core, unsigned slot, unsigned warp);
void emu_warp_prefetch(const struct emu_warp *state);

/**
 * Execute one instruction for some lanes of one split (the watched path).
 *
 * @slot   a started block, @warp in it, @split the id of a ready split
 * @lanes  a non-empty subset of the split's; the rest stay behind as another split
 * @ev     filled on LW_OK
 * Errors: LW_ERANGE for bad arguments; LW_ESTATE when the split is not ready;
 *         LW_EAGAIN when a *whole* row waits for the rest of a divided split.
 *         A guest fault is LW_OK with ev->kind == EMU_EV_FAULT, lanes left at the pc.
 */
enum lw_status emu_warp_step(struct emu_core *core, unsigned slot, unsigned warp,
                             unsigned split, uint64_t lanes, struct emu_event *ev,
                             struct lw_error *err);
/** The same for the warp whose state is at @state, without looking for it. */
enum lw_status emu_warp_step_at(struct emu_warp *state, unsigned split, uint64_t lanes,
                                struct emu_event *ev, struct lw_error *err);
/** How much the events of a core's steps say. */
enum emu_event_detail {
    EMU_EVENT_FULL,
    /** For engines that only charge time. What happens is the same, but an event holds only: kind,
     *  core, grid, block, slot, warp, split, pc, insn, split_lanes, exec, guard, effective, exited,
     *  cta.used, cta.completed, access, warp_ended, block_ended, grid_ended, grid_started, the fault;
     *  and one outcome if the warp is one split that goes on, else none. No constant operands. Of an
     *  access: kind, space, bytes, order, scope, cache, texture, lanes; then either the pieces (where
     *  piece_count is not 0: no rows; all lanes are in `space`), or the rows `address` and
     *  `lane_space` (NULL: all lanes are in `space`). More is told with tags other than off. */
    EMU_EVENT_ADDRESSES
};
/** From the next step on; at first EMU_EVENT_FULL. */
void emu_core_set_event_detail(struct emu_core *core, enum emu_event_detail tell);
/** The split that the policy gives the next turn in this warp (its id), or -1: nothing is
 *  ready. Yielded splits become ready here when nothing else is. */
int emu_warp_select(struct emu_core *core, unsigned slot, unsigned warp);

/* ---- taps: what checkers see, without events ----------------------------------------------- */

/** The instruction that a warp is about to execute. Borrowed for the time of a call. */
struct emu_hook_site {
    struct emu_core *core;
    const struct emu_grid *grid;
    uint64_t block;       /* linear id */
    unsigned slot, warp;  /* on the core; in the block */
    const struct emu_program *program;
    const struct isa_insn *insn;
    uint32_t index;       /* of the instruction in the program */
    uint64_t lanes;       /* that it has an effect in: M & exec & guard; may be 0 */
    uint64_t split_lanes; /* M */
};
/** Lanes [first, last] of an access whose addresses are equal or consecutive. */
struct emu_addr_segment {
    uint64_t address; /* generic, of lane `first` */
    uint8_t first, last;
    bool run;         /* lane l is at address + (l - first) * bytes; else all are at address */
};
enum emu_addr_form { EMU_ADDR_GATHER, EMU_ADDR_CONTIGUOUS, EMU_ADDR_UNIFORM, EMU_ADDR_STRIDED };
/** What a load or store of 4 bytes a lane in global memory was about to do: the k-th of its lanes, at
 *  base + ((uint64_t)word[k] << scale), or (EMU_ADDR_CONTIGUOUS) as far behind the first as its number is, or all at
 *  one place, with one word. EMU_ADDR_STRIDED, of loads alone: as if the word of lane l were
 *  (uint32_t)(word[0] + (l - first lane) * word[1]). Of a store `count` values follow the words, then as many
 *  that were there before it. */
struct emu_access_record {
    uint64_t lanes, base;
    uint32_t index, mark; /* the instruction; see emu_hook_filter */
    uint16_t slot, warp;
    uint8_t count, scale, form; /* enum emu_addr_form; several lanes, but for EMU_ADDR_GATHER */
    bool store;
    uint32_t word[];
};
/** Eighths of an entry, and of what follows it. */
static inline unsigned emu_access_record_size(unsigned count, enum emu_addr_form form, bool store)
{
    /* a stride's two words and one word are an eighth */
    const unsigned words = (form == EMU_ADDR_GATHER ? count : 1) + (store ? 2 * count : 0);

    return sizeof(struct emu_access_record) / 8 + (words + 1) / 2;
}
/** Entries in the order in which they were executed, of one core and program. The memory and what is in
 *  here is whose tap it is. */
struct emu_access_log {
    const struct emu_core *core;
    const struct emu_program *program;
    uint64_t *at;
    unsigned used, room; /* of 8 bytes */
};
/** Generic addresses [first, end). */
struct emu_hook_filter {
    uint64_t first, end;
    bool any_split; /* whoever is told does not ask whose lanes they are */
    /** Beside those who need not be told: this many times what is executed is written here, until there
     *  is no room. The span is in one allocation. NULL: it is not. */
    uint16_t credit;
    uint32_t mark;
    struct emu_access_log *log;
};
/** A memory instruction before it is executed: nothing is said of whether its lanes may access what
 *  they name. A scalar load is of the lowest lane. */
struct emu_hook_access {
    struct emu_hook_site at;    /* at.lanes: those that access memory, not 0 */
    enum emu_access_kind kind;
    enum isa_space space;      /* of the instruction: may be ISA_SPACE_GENERIC */
    unsigned bytes;            /* a lane */
    unsigned piece_count;      /* 0: see address */
    struct emu_addr_segment piece[2];
    const uint64_t *address;   /* [lane] generic; piece_count 0 */
    /** Filled by who is told, if need be: this instruction may go on without a word where all its
     *  lanes are in there, until emu_hooks_invalidate_filters. A warp in single steps is told of all; so is, unless
     *  any_split is set, one whose split is not the one that it was told of last, or all of a new warp
     *  (local memory apart). One thread runs. */
    struct emu_hook_filter *quiet;
};
/**
 * Who looks at instructions on the fast path, whatever engine runs. All members are given. Calls
 * come on the thread that runs the block; they change nothing of the machine but what
 * emu_hooks_single_step does.
 */
struct emu_hooks {
    /** At decoding: shall on_access (of memory instructions) or on_insn be called before this one? */
    bool (*wants)(struct emu_hooks *tap, const struct emu_program *program, uint32_t index,
                  const struct isa_insn *insn);
    void (*on_insn)(struct emu_hooks *tap, const struct emu_hook_site *site);
    /** True: from this instruction on, and with it, the warp goes in single steps. For such a warp
     *  the call comes (again) between on_step and on_stepped. */
    bool (*on_access)(struct emu_hooks *tap, const struct emu_hook_access *access);
    /** Before and after an instruction of a warp that goes in single steps. @retired: it was
     *  executed; else its lanes wait at it, or it is a fault. on_stepped returns true: the warp
     *  needs no single steps any more. */
    void (*on_step)(struct emu_hooks *tap, const struct emu_hook_site *site);
    bool (*on_stepped)(struct emu_hooks *tap, const struct emu_hook_site *site, bool retired);
    /** A block has got a slot (@begins), or leaves it. */
    void (*on_block)(struct emu_hooks *tap, struct emu_core *core, unsigned slot, bool begins);
    /** CTA barrier @id of a block completes: lanes[warp] have arrived, those that wait go on. */
    void (*on_cta)(struct emu_hooks *tap, struct emu_core *core, unsigned slot, unsigned id,
                   const uint64_t *lanes);
    /** Lanes of a warp, each other's members, have met: at warpsync or at .sync operations. */
    void (*on_warpsync)(struct emu_hooks *tap, struct emu_core *core, unsigned slot, unsigned warp,
                        uint64_t lanes);
    /** History has left the past, in which nobody was called. @same: the machine stands as it did
     *  when it went there, but no warp goes in single steps. Else something was changed in the
     *  past, and what was known of the run is of one that does not exist. */
    void (*on_present)(struct emu_hooks *tap, bool same);
    /** A debugger, or the log of a run with one, has set the pc of lanes. */
    void (*on_moved)(struct emu_hooks *tap);
};
/** One a machine; borrowed until it is replaced or the machine ends; NULL: none. Who wants one
 *  thread listens to the machine's life as well. Errors: LW_ESTATE when something has run. */
enum lw_status emu_machine_set_hooks(struct emu_machine *machine, struct emu_hooks *tap,
                               struct lw_error *err) LW_MUST_CHECK;
/** What on_access said of quiet spans holds no longer. */
void emu_hooks_invalidate_filters(struct emu_machine *machine);
/** Is the tap called before instruction @index of @program, one that it `wants`, from now on? It is, until this
 *  says no, and again in what is decoded later. */
void emu_hooks_enable_site(const struct emu_program *program, uint32_t index, bool on);
/** A resident warp goes in single steps from its next instruction on, or no longer. */
void emu_hooks_single_step(struct emu_core *core, unsigned slot, unsigned warp, bool on);

/* ---- engine: what goes next --------------------------------------------------------- */

enum emu_stop_kind {
    EMU_STOP_NONE,
    EMU_STOP_IDLE,        /* all queued grids have ended */
    EMU_STOP_BREAK,       /* a split stands before an instruction with a breakpoint */
    EMU_STOP_FAULT,
    EMU_STOP_HANG,
    EMU_STOP_INTERRUPTED, /* emu_engine_interrupt */
    EMU_STOP_STEPPED,     /* one instruction was executed */
    EMU_STOP_OBSERVER,    /* an observer, or emu_machine_halt, asked to stop after this instruction */
    EMU_STOP_BLOCKED,       /* step_warp: the warp or split cannot run now; run_others: below */
    EMU_STOP_COUNT,       /* run: emu_engine.stop_at instructions have been retired */
    EMU_STOP_LIMIT        /* whoever runs the engine ends the run at a limit: emu_machine_where() */
};

/** A warp, wherever it is: thread ids of gdb are these + 1 (MACHINE 9). */
struct emu_thread_ref {
    uint32_t grid;  /* sequence */
    uint64_t block; /* linear */
    unsigned warp;
    unsigned split; /* id */
    uint64_t lanes, pc;
};

struct emu_stop {
    enum emu_stop_kind kind;
    struct emu_thread_ref place;
    struct emu_fault fault;
    struct emu_hang hang;
};

/** Observers see every event; while one is attached, runs take the watched path.
 *  @on_event returns true to stop after this instruction. It must not change state. */
struct emu_observer {
    bool (*on_event)(struct emu_observer *observer, const struct emu_event *ev);
    struct emu_observer *next; /* the list's own */
};

/** Resident slots that are numbered over the whole machine. */
enum emu_slot_kind { EMU_SLOT_BLOCK, EMU_SLOT_WARP };

/** An engine, whatever its kind. The functional engine is a deterministic rotation. */
struct emu_engine_ops {
    const char *name;
    void (*destroy)(struct emu_engine *engine);
    /** Run until something stops it. */
    enum lw_status (*run)(struct emu_engine *engine, struct emu_stop *stop,
                          struct lw_error *err);
    /** One instruction, of the warp that is next in the engine's own order. */
    enum lw_status (*step)(struct emu_engine *engine, struct emu_event *ev,
                           struct emu_stop *stop, struct lw_error *err);
    /** One instruction of the given resident warp and split (EMU_STOP_BLOCKED with the
     *  reason in stop->hang.detail when it cannot run). Breakpoints are not looked at. */
    enum lw_status (*step_warp)(struct emu_engine *engine, const struct emu_thread_ref *place,
                                struct emu_event *ev, struct emu_stop *stop,
                                struct lw_error *err);
    /** One rotation of all others: each other warp of the block one turn, other splits too. EMU_STOP_BLOCKED:
     *  the block makes no progress, but blocks that had no turn might help it. */
    enum lw_status (*run_others)(struct emu_engine *engine, const struct emu_thread_ref *place,
                                 struct emu_stop *stop, struct lw_error *err);
    /** Resident warps in (grid, block, warp) order; blocks not yet begun are listed with
     *  their entry state. */
    unsigned (*warp_count)(const struct emu_engine *engine);
    bool (*warp_at)(const struct emu_engine *engine, unsigned index, struct emu_thread_ref *place);
    /** Core and slot of a resident block; makes its state if it has not begun. */
    bool (*locate)(struct emu_engine *engine, uint32_t grid, uint64_t block,
                   struct emu_core **core, unsigned *slot);
    /** The number of the slot that a resident block, or one of its warps, has, from the time that it becomes
     *  resident, in every replay the same; and who has slot @number: grid, block and (of EMU_SLOT_WARP) warp
     *  of @place. */
    bool (*slot_of)(const struct emu_engine *engine, enum emu_slot_kind kind,
                    const struct emu_thread_ref *place, unsigned *number);
    bool (*slot_at)(const struct emu_engine *engine, enum emu_slot_kind kind, unsigned number,
                    struct emu_thread_ref *place);
    uint64_t (*instructions)(const struct emu_engine *engine);
    uint64_t (*cycles)(const struct emu_engine *engine); /* NULL: no clock */
};
struct emu_engine {
    const struct emu_engine_ops *ops;
    struct emu_machine *machine;
    struct emu_observer *observers;
    volatile int interrupted; /* set by emu_engine_interrupt, async-signal-safe */
    uint64_t stop_at; /* `run` stops at this count of instructions; UINT64_MAX: never */
    /** Host threads that `run` may use, 1 at first. The functional engine gives each of them
     *  blocks of its own when the kernel is block-order-free and nobody watches: no observer,
     *  life listener, breakpoint, text at once, scalar_rule warn, or stop_at. All else runs in
     *  the fixed order on the caller's thread; results, reports and text are the same. A
     *  grid that began on several threads ends on them: what is attached to an interrupted run
     *  holds from the next grid on, and steps are refused (LW_ESTATE). */
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

/* For engines elsewhere, which drive cores by emu_warp_step. */

/** @stop for a step whose event was a fault: its place, and the text that comes out then. */
void emu_core_fault_stop(struct emu_core *core, unsigned slot, unsigned warp,
                         struct emu_stop *stop);
/** A look at blocks that make no progress, for engines whose splits run in an order of their own: an observer for a
 *  while. It proves of warps that they go round for ever, as long as shared and global memory stay as they
 *  are: whoever looks ends it when emu_core_progress() grows. And it notes what they read again and again. */
struct emu_spin_observer;
/** @tries    looks before this one that proved nothing: the more, the longer it tries
 *  @chosen   somebody chooses which splits run: those that do not are left out of the proof
 *  NULL: no memory. */
struct emu_spin_observer *emu_spin_observer_create(struct emu_machine *machine, unsigned tries, bool chosen);
void emu_spin_observer_destroy(struct emu_spin_observer *probe);
struct emu_observer *emu_spin_observer_events(struct emu_spin_observer *probe);
/** Of some warp nothing could be proved: no use to go on. */
bool emu_spin_observer_gave_up(const struct emu_spin_observer *probe);
/** Can no warp of the block get anywhere, and was enough seen of what they read? One that is new is noted, if there
 *  is room. */
bool emu_core_probed(const struct emu_core *core, unsigned slot, struct emu_spin_observer *probe);
/** Is it proved of this warp? */
bool emu_core_has_cycle(const struct emu_core *core, unsigned slot, unsigned warp, const struct emu_spin_observer *probe);
/** @stop with the verdict on a block that does not go on; @probe: the look that proved that nobody who runs will make
 *  progress; NULL: nothing of it can run. */
void emu_core_hang_stop(struct emu_core *core, unsigned slot, const struct emu_spin_observer *probe,
                        struct emu_stop *stop);
/** Grows with each step of the block that is progress which others could see: a store that changes a byte of shared or
 *  global memory, an exit, text (MACHINE 4, Progress). */
uint64_t emu_core_progress(const struct emu_core *core, unsigned slot);
/** Can anything of the block run? */
bool emu_core_can_run(const struct emu_core *core, unsigned slot);
/** Is a breakpoint set, anywhere; at @pc? */
bool emu_breakpoint_any(const struct emu_machine *machine);
bool emu_breakpoint_at(const struct emu_machine *machine, uint64_t pc);

/** Breakpoints are other handlers in the decoded instruction: nothing is paid when none
 *  is set. Errors: LW_ERANGE when @pc is not an instruction. */
enum lw_status emu_breakpoint_set(struct emu_machine *machine, uint64_t pc, bool on,
                                  struct lw_error *err) LW_MUST_CHECK;

/* ---- statistics ------------------------------------------------------------------------ */

/** Counts of the tags (docs/explanation/uniform-affine.md), indexed by enum emu_tag_kind. Shadow mode counts what
 *  tags say; compact mode only what it did: expansions, lanes_saved, rows. */
struct emu_tag_stats {
    /* Instructions on vector registers, by their sources: all U; all U or A; others. */
    uint64_t instructions[3];
    uint64_t reads[3], writes[3]; /* vector registers, by tag (writes: after them) */
    uint64_t addresses[3];        /* of memory instructions */
    uint64_t expansions;
    /* Shadow: registers written, by the leading bytes in which the lanes agree (docs/explanation/uniform-affine.md);
     * banks that base and deltas of them take, and that rows take. */
    uint64_t common[5], delta_banks, row_banks;
    /* Of thread_instructions, those that need no lane of their own: all but 1 where the result
     * (of a compare: its sources) is U, all but 2 where it is A. */
    uint64_t lanes_saved;
    uint64_t rows_made, row_lanes; /* compact: rows written for tags, and their lanes */
    uint64_t mismatches;          /* shadow: rows that differ from their tag. An internal error */
};
struct emu_stats {
    struct emu_tag_stats tags;
    uint64_t warp_instructions, thread_instructions;
    uint64_t blocks, warps, grids;
    uint64_t divergences, reconvergences, merges, cta_barriers;
    uint64_t loads, stores, atomics;
    uint64_t stack_pops, stack_depth; /* `stack`: entries popped, most entries of any warp */
    uint64_t threads; /* host threads: the most that a grid ran on */
};
/** Lane operations really executed: thread_instructions less what tags saved, and the rows
 *  that had to be made of tags. */
static inline uint64_t emu_lane_operations(const struct emu_stats *stats)
{
    return stats->thread_instructions - stats->tags.lanes_saved + stats->tags.row_lanes;
}
/** Shares and counts of the tags in words: one line, no newline. */
void emu_tag_stats_print(const struct emu_stats *stats, struct lw_sink *out);
/** Sum over the machine's cores. thread_instructions counts M's lanes. */
void emu_stats_get(const struct emu_machine *machine, struct emu_stats *out);
/** The counts by name, those of the tags left out. */
struct emu_stat_row {
    const char *name;
    size_t offset; /* of a uint64_t in struct emu_stats */
};
extern const struct emu_stat_row emu_stat_rows[];
extern const size_t emu_stat_row_count;

/* Parts of this door. */
#include "emu/emu_history.h"
#include "emu/emu_state_view.h"

#endif
