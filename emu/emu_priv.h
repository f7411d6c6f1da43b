/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside emu/: machine, program, grid, block, warp and split, as all folders see them. CONTRIBUTING.md has the
 * folders in the order in which data flows.
 */
#ifndef EMU_PRIV_H
#define EMU_PRIV_H

#include "emu/emu.h"
#include "emu/program/emu_addr_cache_priv.h"
#include "emu/print/emu_print_priv.h"

struct emu_warp;
struct emu_block;
struct emu_dinsn;
struct emu_chain;

/* ---- decoded instructions -------------------------------------------------- */

/**
 * A handler executes its instruction for the warp's running split and goes on with the
 * next one (a tail call, or a return to the driver in LW_LOOP builds). It leaves the
 * chain by EMU_LEAVE with w->di at the instruction to execute next.
 */
typedef void emu_handler_fn(struct emu_warp *w, const struct emu_dinsn *di);

struct emu_handlers {
    emu_handler_fn *full; /* all lanes of the padded row may be written */
    emu_handler_fn *part; /* results are blended by w->mask_row */
};

/** 64 bytes. Row operands are byte offsets from w->regs; a uniform operand (scalar,
 *  constant, immediate) is at w->ubase[ukind] + b. */
struct emu_dinsn {
    struct emu_handlers h;
    uint32_t d, a, b, c;
    /* The unions: rows of instructions that work on tags, by index (emu_compact_priv.h); of
     * memory instructions td and ta only. */
    union {
        int32_t delta;  /* branch target, in instructions from this one */
        struct { uint16_t td, ta; };
    };
    union {
        int32_t disp;   /* memory offset */
        struct { uint16_t tb, tc; };
    };
    uint32_t index;     /* in the program */
    uint16_t run;       /* instructions to the end of the straight-line run, this included */
    uint16_t op;        /* enum isa_op */
    uint8_t guard;      /* 0..6, 7 none; | 8 negated; | 16 scalar */
    uint8_t ukind;      /* enum emu_ukind of b */
    uint8_t p, q;       /* predicates written, 7: none (p[8] is the sink) */
    uint8_t r;          /* predicate read; | 8 negated */
    uint8_t sub;        /* compare, conversion or size selector; barrier number */
    uint8_t flags;      /* EMU_D_* */
    uint8_t reg;        /* plain register number where a handler wants one */
    uint64_t aux;       /* lookup tables, lane modes, member-mask rows */
};
_Static_assert(sizeof(struct emu_dinsn) == 64, "decoded instructions are a cache line");

enum emu_ukind {
    EMU_U_IMM, EMU_U_SCALAR, EMU_U_BANK0, EMU_U_BANK1,
    EMU_U_SPECIAL, /* special registers of the block: emu_block.special */
    EMU_U_COUNT,
    EMU_U_ROW = EMU_U_COUNT /* X is a row: b is its offset */
};
enum {
    EMU_D_SOFT = 1,     /* bsync.soft */
    EMU_D_COUNTED = 2,  /* bar with a count */
    EMU_D_MODIFIED = 16, /* a prelude applies source modifiers or splats scalars */
    EMU_D_FLOAT_MODE = 32, /* reg has modifiers (emu_math_priv.h): the `m` handlers */
    EMU_D_ENDS_RUN = 64,
    EMU_D_LAST = 128 /* of its function: flow must not fall through, the next has other registers */
};

/** What a prelude does before its instruction: each source that is listed is copied to a
 *  scratch row, splatted or changed in sign, and the instruction reads the scratch row. */
enum emu_prelude_kind { EMU_PRE_NONE, EMU_PRE_ROW, EMU_PRE_UNIFORM };
struct emu_prelude {
    struct emu_handlers base;   /* execute the instruction itself */
    struct emu_handlers tagged; /* compact mode: the same on tags */
    struct {
        uint8_t kind;  /* enum emu_prelude_kind */
        uint8_t ukind; /* of a uniform source */
        uint8_t words; /* 1 or 2 */
        uint8_t mods;  /* source modifiers */
        uint32_t from, to; /* offsets: row or uniform place; scratch row */
    } source[3];
    bool is_float;
};

/** Per-instruction cache of the allocation that scattered accesses hit last. */
struct emu_icache {
    uint64_t base, limit; /* guest addresses, [base, limit) */
};

/** Where accesses of an instruction are not told to the machine's tap. */
struct emu_hook_filters {
    struct emu_hook_filter span;
    uint64_t epoch, base; /* the machine's, else it holds no longer; 0: never. base: bounded, the scalar one */
    uint8_t mode, scale, bytes; /* enum isa_amode; of offsets beside a scalar base; a lane's */
    bool bounded : 1, quick : 1; /* see low; and nothing more is asked of full warps of 32, nor is it written down */
    uint32_t low, range, high; /* bounded, and the base is that: words in the span are [low, low + range] and high */
};

/** A program decoded for a core: its own copy, so that handlers can be patched. */
struct emu_code {
    const struct emu_program *program;
    struct emu_dinsn *insn;      /* program->count + 1: the last is a bad-pc sentinel */
    struct emu_handlers *base;   /* [count + 1] handlers of instructions without layers: emu_layers_priv.h */
    uint8_t *layers;             /* [count + 1] enum emu_layer bits: what is on them */
    struct emu_handlers hook;    /* of EMU_LAYER_HOOK: the level's */
    struct emu_icache *icache;
    uint32_t *cached;            /* instructions whose icache is in use */
    uint32_t cached_count;
    uint64_t *imm_pool;          /* values of immediates */
    uint32_t imm_count;
    struct emu_prelude *prelude; /* EMU_D_MODIFIED: indexed by dinsn.aux */
    uint32_t prelude_count;
    struct emu_chain *chain;     /* per instruction; NULL: none has EMU_D_CHAIN */
    struct emu_hook_filters *quiet; /* per instruction: accesses without callbacks; NULL: no hook sites */
    struct emu_tag_insn *tag;    /* per instruction; NULL with the tags off */
    struct emu_plan *plan;       /* compact mode: per instruction, of those that need one */
    uint8_t shape;               /* emu_plan_shape() of the blocks that it is for */
};

/** What steps that are told in brief need to know of an instruction. */
struct emu_form {
    uint8_t flags;              /* EMU_FORM_* */
    uint8_t kind, bytes, space; /* of memory instructions: as in struct emu_access; as computed */
    uint8_t order, scope, cache;
    uint8_t mode;               /* enum isa_amode | scale << 4 */
};
enum {
    EMU_FORM_MEMORY = 1, EMU_FORM_SCALAR = 2, EMU_FORM_TEXTURE = 4,
    EMU_FORM_FLOW = 16 /* acts on the split */
};
/** Fill @form of @insn (emu_step_addresses.c). */
void emu_form_fill(const struct isa_insn *insn, struct emu_form *form);

struct emu_program {
    struct emu_machine *machine;
    const struct isa_object *object;
    struct isa_insn *insn; /* decoded, object->text_count */
    struct emu_form *form; /* [count] */
    uint32_t count;
    uint64_t base;         /* guest address of instruction 0 */
    uint8_t *bank1;        /* ISA_CONST_BANK_BYTES or NULL */
    uint64_t *variable_address; /* per object variable; 0 for shared */
    uint8_t *breakpoint;   /* per instruction */
    bool prints;           /* has a vprintf */
    bool launches;         /* has a launch.kernel or launch.group */
    struct isa_order_analysis *order; /* per function of the object: of kernels */
    struct emu_kernel_use *use; /* per function of the object: registers that its warps need */
    uint32_t *rpc;         /* [count] reconvergence pc of branches that name one, else EMU_NO_RPC */
    struct emu_program *next;
};

/** True: an instruction of the program launches kernels or groups. */
bool emu_program_launches(const struct emu_program *program);

/* ---- memory ------------------------------------------------------------------ */

struct emu_alloc_record {
    uint64_t address, size_bytes;
    unsigned flags;
    char *name;
};

/** Global memory: one reservation; host = host_base + (guest - ISA_GLOBAL_BASE). */
struct emu_memory {
    uint8_t *host;
    uint64_t bytes;         /* reserved, multiple of the page */
    uint16_t *load_valid;   /* per page: bytes usable from its start, for loads */
    uint16_t *store_valid;  /* the same for stores: 0 where read-only */
    uint8_t *dirty;         /* per page, set by stores */
    struct emu_alloc_record *record; /* sorted by address; freed ones stay until reuse */
    size_t count, capacity;
    uint64_t next_free;     /* first never-used offset */
    uint64_t heap_used;     /* by malloc, each object in units of 16 bytes */
};
enum lw_status emu_memory_init(struct emu_memory *memory, uint64_t bytes, struct lw_error *err)
    LW_MUST_CHECK;
void emu_memory_fini(struct emu_memory *memory);
/** What an object of @bytes takes of the heap. */
static inline uint64_t emu_heap_charge(uint64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}
/** Record that holds @address (live or freed), or NULL. */
const struct emu_alloc_record *emu_memory_find(const struct emu_memory *memory,
                                               uint64_t address);

/** Exact test of one access of @bytes at a guest address in global memory. */
static inline bool emu_global_ok(const struct emu_memory *memory, const uint16_t *valid,
                                 uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - ISA_GLOBAL_BASE;

    if (offset >= memory->bytes)
        return false;
    uint64_t page = offset / EMU_PAGE_BYTES, in = offset % EMU_PAGE_BYTES;
    if (in + bytes <= valid[page])
        return true;
    if (in + bytes <= EMU_PAGE_BYTES || valid[page] != EMU_PAGE_BYTES)
        return false;
    return in + bytes - EMU_PAGE_BYTES <= valid[page + 1]; /* one guard page ends the map */
}

/* ---- warps ---------------------------------------------------------------------- */

/** Why a warp left its handler chain. */
enum emu_leave {
    EMU_RUNNING = 0,
    EMU_LEAVE_BUDGET,  /* w->budget is used up; the split may go on at w->di */
    EMU_LEAVE_SLICE_END,    /* the split's turn ended: parted, blocked, passed, exited */
    EMU_LEAVE_BREAK,   /* a breakpoint at w->di, not executed */
    EMU_LEAVE_FAULT    /* w->fault; nothing was changed for the faulting instruction */
};

struct emu_split {
    uint8_t id, state; /* enum emu_split_state; a split's index in the table is its id */
    uint8_t barrier;   /* blocked at this convergence register / CTA barrier */
    uint8_t flags;     /* EMU_SPLIT_* */
    uint32_t pc;       /* instruction index in the program; while it runs, w->di has it */
    uint64_t lanes;
    uint64_t since;    /* warp's instruction count when it last ran or became ready */
    uint64_t seq;      /* for stack_like: order of pushing */
    uint64_t wake;     /* sleeping: block instruction count when it wakes */
    uint64_t family;   /* lanes of the split that an engine divided, this one's included; 0: whole */
    uint64_t born;     /* order of creation, decides ids when several splits are parted at once */
    uint32_t reduction; /* at a CTA barrier: 1 + index of the bar.red whose result it waits for */
} __attribute__((aligned(64)));
enum {
    EMU_SPLIT_SOFT = 1,   /* blocked at a bsync.soft */
    EMU_SPLIT_AT_SYNC = 2, /* at warpsync: stands before a .sync operation, not behind a warpsync */
    EMU_SPLIT_SYNCED = 4  /* ready: has synchronised for the .sync operation at its pc */
};
_Static_assert(sizeof(struct emu_split) == 64, "a split is a cache line");

/** A convergence barrier register. While all lanes that hold a number hold the same one,
 *  `number` is it and the row w->breg[reg] is stale; number 0: the row says. Numbers of
 *  lanes outside `lanes` are 0; dead lanes do not matter. */
struct emu_breg_form {
    uint64_t lanes, number;
    uint64_t arrived;  /* lanes blocked at this register */
    uint64_t splits;   /* ids of the splits blocked at it */
};

enum { EMU_NO_RPC = UINT32_MAX };
enum emu_push_order { EMU_PUSH_SMALLER, EMU_PUSH_LARGER, EMU_PUSH_FALL_THROUGH };

/** An entry of a SIMT stack (emu_simt_stack.c). The top's pc is its split's; so is that of any entry
 *  with lanes of its own (those that no entry above has). */
struct emu_simt_entry {
    uint32_t rpc;          /* where it is popped, at call depth rdepth; EMU_NO_RPC: never */
    uint32_t pc;           /* where it goes on */
    uint32_t rdepth, depth; /* calls minus returns since the kernel's entry; depth: at pc */
    uint64_t lanes;
    int32_t split;         /* id of the split of its own lanes; -1: all are above */
};
enum { EMU_SIMT_BASE = 6, EMU_SIMT_LIMIT = 1 << 14 };
struct emu_simt {
    unsigned count, capacity;
    struct emu_simt_entry *heap; /* owned; NULL while base is enough */
    struct emu_simt_entry base[EMU_SIMT_BASE];
};

/** Rows before v0 in a warp's register file (emu_decode_priv.h). */
enum { EMU_ROW_V0 = 16 };

/** One warp, by lines of the host's cache: a step looks at two at its start, two from exec on and what
 *  registers it has (emu_step_addresses.c). It does not alias low register rows modulo 4 KiB. */
struct emu_warp {
    char *regs;            /* rows: v0.., then the special rows below */
    uint32_t stride;       /* bytes of a row */
    uint32_t n;            /* lanes of a padded row */
    uint64_t e;            /* lanes that effects reach: m & exec */
    uint64_t m;            /* lanes of the running split: set by emu_warp_set_lanes() only */
    int64_t budget;        /* instructions this turn may still retire, after the current run */
    const struct emu_dinsn *run_start; /* first instruction not yet counted */
    const struct emu_dinsn *di;        /* where to go on, when the chain was left */
    struct emu_code *code;
    const char *ubase[EMU_U_COUNT]; /* the second line */
    uint8_t leave;         /* enum emu_leave */
    bool full;             /* e covers all lanes of the row that exist: `full` chain */
    uint8_t width;         /* W */
    uint8_t m_count;       /* lanes in m */
    unsigned index;        /* in the block */
    struct emu_core *core;
    struct emu_block *block;
    uint64_t all;          /* lw_mask(width); what few instructions ask for */
    uint32_t row_zero, row_sink, row_a, row_b, row_c; /* byte offsets */
    uint8_t last_column, last_row; /* of lanes: W is (last_column + 1) * (last_row + 1) */
    uint16_t vreg_count;
    struct emu_ctag *ctag;   /* compact mode: by row index; NULL: not in that mode */
    uint8_t *cstate;
    struct emu_shadow *shadow; /* tags beside the rows (emu_tags_priv.h), NULL: not in that mode */
    uint64_t launched;
    const struct emu_reconv *reconv;
    uint32_t s[128];       /* s0..s125, exec in 126:127: that in the line behind the others */
    /* From exec to the base of the stack: what each new warp of a grid starts with (init_warp). */
    uint64_t live;
    uint64_t retired;      /* warp instructions */
    uint64_t lane_retired; /* sum of split sizes */
    uint64_t turn_start;   /* retired when the warp's counts were last added to its block */
    /* splits, owned by emu_split.c */
    unsigned split_count;
    int running;           /* id of the split with the turn, or -1 */
    unsigned turn_used;    /* instructions of the running split's turn */
    unsigned last_low;     /* lowest lane of the split selected last */
    bool stepped;          /* in single steps, for the machine's tap */
    bool halting;          /* the tap knows of the instruction that is to be executed, and halts */
    bool parts;            /* emu_split_divide divided a split; may be stale. Else no split has a family */
    bool reaches;          /* reconv->reach is to be asked at the end of each turn */
    bool tagged;           /* has shadow or ctag */
    bool merge, stacked;   /* copies of the machine's options */
    struct emu_flow *flow; /* NULL, or takes what a step did (watched path); the line behind exec's */
    uint8_t proved[EMU_ADDR_CHECKS]; /* EMU_PROVED_*: in this straight-line run */
    uint8_t sp[8];         /* sp0..sp6 as 0/1, spt = 1 */
    uint64_t split_ids;
    uint32_t breg_blocked; /* registers with arrived lanes */
    uint32_t run_done;     /* instructions of the current run before a clock is read */
    uint64_t split_in[EMU_SPLIT_STATE_COUNT]; /* [state] ids; the running one is READY */
    uint64_t p[9];         /* p0..p6, pt = ~0, sink */
    uint64_t seq_counter;  /* from here on zeros */
    uint64_t told;         /* lanes of the split whose access the machine's tap was told of last */
    uint64_t group_counter, born_counter;
    uint64_t served;       /* compact mode: instructions of all W lanes done on tags */
    uint64_t lanes_saved, expansions, rows_made; /* by warps not whole; tags that ended; rows of tags */
    struct emu_simt simt;  /* `stack` only; owns memory: emu_split_fini() */
    uint8_t *local;        /* word-interleaved: [word][padded lane] uint32_t */
    uint32_t local_bytes;  /* per lane */
    unsigned breg_count;
    uint64_t (*breg)[EMU_MAX_LANES]; /* [breg_count][lane] group numbers: emu_breg_number() */
    struct emu_breg_form bform[ISA_BREG_COUNT]; /* zeros, too */
    const struct emu_policy *policy; /* copies of the machine's options */
    unsigned quantum, window;
    uint64_t look;         /* proved to go round for ever, in the look of this number */
    uint32_t cycle;        /* index of what that look knows of it */

    /* From here on a new warp takes over what was there: what is above says what of it counts. */
    struct emu_fault fault;
    struct emu_split split[EMU_MAX_LANES]; /* [id]; those in split_ids exist */
    uint64_t member[EMU_MAX_LANES]; /* warpsync masks of waiting lanes */
    uint64_t mask_lanes;   /* what mask_row was filled from: emu_warp_set_lanes */
    uint32_t mask_row[EMU_MAX_LANES] __attribute__((aligned(64))); /* e as 0 / ~0 */
    struct emu_addr_check proof[EMU_ADDR_CHECKS]; /* where proved[] says so */
};
struct emu_cta_barrier {
    bool in_use, has_count;
    uint32_t count;
    uint32_t arrived;      /* lanes, phantom lanes of a partial group included */
    uint32_t arrived_live; /* arrived lanes that are still live, phantoms not counted */
    uint32_t alone;        /* warps that came by emu_split_bar_alone() and were not changed since */
    uint64_t generation;   /* numbered through the block's barriers, in order of opening */
    uint64_t *lanes;       /* [warp] arrived lanes */
    uint32_t brought, yes; /* by bar.red: active lanes, and those with a true predicate */
};

/** Special registers that a block knows when it starts: %ntid, %ctaid, %nctaid, %offset, %workdim. */
enum { EMU_BLOCK_SPECIALS = ISA_SR_WORKDIM + 1 - ISA_SR_NTID_X };
static inline bool emu_special_of_block(enum isa_special sr)
{
    return (unsigned)sr - ISA_SR_NTID_X < EMU_BLOCK_SPECIALS;
}

struct emu_block {
    struct emu_core *core;
    struct emu_grid *grid;
    uint64_t linear;
    uint32_t index[3];
    uint32_t special[EMU_BLOCK_SPECIALS]; /* ISA_SR_NTID_X and on: the same for all warps */
    unsigned slot;
    bool in_use, started;
    bool ended;       /* no lane lives; counted in the grid */
    bool unseen;      /* begun by a look in the past: checkers see its beginning where it first runs */
    bool ends_grid;   /* it was the last of the grid that ended */
    struct emu_warp *warp;   /* [warp_count] */
    unsigned warp_count, warps_live;
    uint32_t threads, threads_live;
    uint8_t *shared;
    uint32_t shared_bytes;
    struct emu_cta_barrier cta[ISA_CTA_BARRIER_COUNT];
    uint32_t cta_open;       /* barriers in use; emu_barrier.c's, 0 at the start */
    uint64_t cta_generation; /* of the barrier opened last */
    uint64_t retired;        /* warp instructions; `clock` */
    uint64_t progress;       /* grows with every store that changes a byte of shared or global memory, exit, text */
    uint64_t seen, seen_at;  /* progress when it was last looked at, and 1 + the time when it had grown */
    uint64_t retired_then;   /* when a look found progress in some block */
    uint64_t look;           /* in the look of this number (emu_spin_observer_priv.h), of warps that were proved: */
    uint32_t look_arrives, look_waits; /* CTA barriers that they arrive at, or stand at all the time */
    uint64_t sleep_offset;   /* added to retired for sleepers when time jumps */
    unsigned next_warp;      /* rotation */
    uint32_t children;       /* kernels that it launched, not complete: launch.sync waits for them */
    uint32_t streams;        /* launch.stream made so many */
    void *memory;            /* the one heap block behind warps, rows, shared */
    size_t memory_bytes;
    void *bregs;             /* rows of barrier registers, which few kernels touch: lw_reserve */
    size_t bregs_bytes;
    uint64_t formed_by;      /* the stencil's stamp: what its warps leave behind fits; or 0 */
};

/** What lets a warp whose turn ends inside its handler chain hand it to the next one of its block's
 *  rotation without a return to the engine (emu_switch_to_next_warp). */
struct emu_warp_switch {
    uint64_t until;    /* core->retired that no turn handed on may pass; 0: not allowed */
    uint64_t launches; /* machine->launch_changes when it was allowed */
    uint64_t start;    /* w->retired at the start of the turn that was handed on last */
    uint32_t quantum;  /* of each turn */
    bool handed;       /* it was done: the turn is that of warp block->next_warp */
};

struct emu_nondet_log;
struct emu_block_vector;
struct emu_core {
    struct emu_machine *machine;
    struct emu_step_scratch *scratch; /* rows behind the event */
    uint64_t retired;
    enum emu_event_detail tell;
    struct emu_core_ops ops;
    void *context;
    struct emu_block *block; /* [slots] */
    unsigned slots;
    unsigned slots_used;     /* of them the first: no block was ever in those behind */
    struct emu_code **code;  /* decoded copies, one per program used; owned */
    unsigned code_count, code_capacity;
    unsigned free_hint;      /* slot to try first */
    const struct emu_level *level;
    struct emu_warp_switch hand;
    struct emu_stats stats;
    struct emu_text_room text_room;
    struct emu_warp_template *stencil;      /* of the warps of the grid that had the last block */
    struct emu_tag_step *tag_step;    /* shadow mode: the instruction being executed */
    bool helper;           /* of one more host thread: guests do not count it */
    struct emu_nondet_log *answers; /* of a replay, or NULL */
    struct emu_block_vector *sweep; /* of the kernel whose blocks came last, or NULL */
    bool notes_itself;       /* its engine writes the schedule log: the core does not */
    uint64_t passes;         /* steps that retired nothing (emu_count_stalled_step), of them */
    uint64_t pass_retired;   /* at this count of instructions, the last, */
    uint64_t pass_run;       /* so many */
};

/** Lanes of @w came to wait without an instruction being retired. */
static inline void emu_count_stalled_step(const struct emu_warp *w)
{
    struct emu_core *core = w->core;
    uint64_t now = core->retired + (w->retired - w->turn_start);

    core->passes++;
    core->pass_run = now == core->pass_retired ? core->pass_run + 1 : 1;
    core->pass_retired = now;
}

/** A function of the table's CALL column: effects on @lanes of the running split. */
typedef void emu_call_fn(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes);
/** Handler of a row that acts on the split or the scalar unit (emu_control.c). */
emu_handler_fn *emu_control_handler(enum isa_op op);
/** The same of a decoded instruction, on both chains. */
void emu_control_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          struct emu_handlers *out);
void emu_break_handler(struct emu_warp *w, const struct emu_dinsn *di);
void emu_budget_handler(struct emu_warp *w, const struct emu_dinsn *di);
void emu_bad_pc_handler(struct emu_warp *w, const struct emu_dinsn *di);

/* Handlers of one compilation level; expanded by emu_exec.c. */
struct emu_level {
    const char *name;
    unsigned level; /* 1, 3, 4 */
    unsigned row_lanes; /* rows are padded to a multiple of it */
    unsigned vector_lanes; /* of a vector of the host */
    /** Handlers of a decoded instruction (operands already filled in); both NULL when the
     *  level has none for these modifiers: then *why is a clause for the message. */
    void (*handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                     struct emu_handlers *out, const char **why);
    struct emu_handlers prelude; /* of EMU_D_MODIFIED instructions */
    struct emu_handlers hook;    /* of instructions that the machine's hooks want */
    /** Compact mode: make row @index what its tag says; handlers of memory at tagged
     *  addresses. */
    void (*make_row)(struct emu_warp *w, unsigned index);
    bool (*tagged_memory)(const struct isa_insn *insn, const struct emu_dinsn *di, bool uniform,
                          struct emu_handlers *out);
    /** Fill mask_row from e. */
    void (*expand_mask)(uint32_t *row, uint64_t lanes, unsigned n);
    /** Lanes l of 1 .. n - 2 whose word is not half way between its neighbours' (modulo 2^32; l's
     *  place between them, that is): where a row stops to be affine. */
    uint64_t (*bends)(const uint32_t *row, unsigned n);
    /** row[l] == value for all lanes of @lanes. */
    bool (*is_splat)(const uint32_t *row, unsigned n, uint64_t lanes, uint32_t value);
    /** The handlers of row @op read X from a row only. */
    bool (*rows_only)(unsigned op);
    /** The full handler of a v_cvt is a loop over a row of any length. */
    bool (*converts_rows)(const struct emu_dinsn *di);
};
extern const struct emu_level emu_level_v1, emu_level_v3, emu_level_v4;
const struct emu_level *emu_level_choose(unsigned wanted);
/** Tell the machine's listeners. */
void emu_machine_notify(const struct emu_machine *machine, const struct emu_machine_event *life);
/** The machine goes to the past, and comes back: as it was, or (not @same) otherwise. Twice is as
 *  once. */
void emu_machine_begin_replay(struct emu_machine *machine);
void emu_machine_end_replay(struct emu_machine *machine, bool same);

enum { EMU_LAUNCH_NESTING = 64 }; /* levels of launches, the host's included */
enum { EMU_STREAM_LISTS = 1 << 10 };

struct emu_log;
struct emu_machine {
    struct emu_config config;
    struct emu_memory memory;
    struct emu_program *programs;
    uint64_t next_code;
    struct emu_grid *grids, *last_grid;
    uint32_t grid_count;
    uint64_t warp_ids;
    struct emu_core **cores;
    unsigned core_count;
    struct lw_sink *print;
    struct lw_hash text_hash;
    struct emu_text text;
    const struct emu_policy *policy;
    const struct emu_reconv *reconv; /* NULL: cbar */
    enum emu_push_order push_order;
    unsigned breakpoint_count;
    struct emu_machine_listener *listeners;
    struct emu_fault_filter *fault_filter; /* may be NULL */
    struct emu_hooks *tap;                   /* who is told now: attached_hooks, or NULL while @again */
    uint64_t hooks_epoch;                    /* from 1: emu_hook_filters.epoch */
    struct emu_hooks *attached_hooks;               /* may be NULL */
    bool again;            /* what runs has run before */
    bool halt;             /* the engine is to stop behind this instruction */
    bool scalar_warned;    /* scalar_rule warn: said once */
    bool threaded;         /* several host threads run on its memory now */
    unsigned helper_count; /* cores that guests do not count */
    unsigned threads_used; /* most threads that a grid ran on, 0: one */
    struct emu_log *log;   /* the schedule log, or NULL */
    struct emu_grid *spare_grids; /* launched in a future that history went back from */
    struct emu_grid *oldest;      /* the first that is not complete */
    struct emu_grid *spare_device; /* device launches that are over: their memory */
    uint32_t device_open;         /* device launches that are not complete, */
    uint32_t pending;             /* of them, that have not begun */
    uint64_t launch_changes;      /* grows when a device launch comes or is complete */
    /* Launches of the device that wait for none in their stream and have blocks that no engine has
     * placed, in order; how many of each depth, and a bit for each depth that has some. */
    struct emu_grid *first_start, *last_start;
    uint32_t starts[EMU_LAUNCH_NESTING];
    uint64_t start_levels;
    struct emu_grid *stream[EMU_STREAM_LISTS]; /* the last of each stream, by a hash of its name */
    uint64_t looks;               /* at blocks that do not go on: their numbers */
};

/** A checker asked to stop behind the instruction that was executed, and that is answered now. */
static inline bool emu_consume_halt_request(struct emu_machine *machine)
{
    bool halt = machine->halt;

    machine->halt = false;
    return halt;
}

/** Add one to a count of a grid, which other cores may do at the same time; the new value. */
static inline uint64_t emu_count_one(const struct emu_machine *machine, uint64_t *count)
{
    /* a locked addition waits for all stores before it: 60 ns behind those of a new block */
    return machine->core_count == 1 ? ++*count : __atomic_add_fetch(count, 1, __ATOMIC_ACQ_REL);
}

/* ---- grids (emu_grid.c) --------------------------------------------------------------- */

/** What the device tells of a launch beyond struct emu_launch. */
struct emu_device_launch {
    struct emu_block *block; /* of the launching lane */
    unsigned warp, lane;
    bool group;
    uint64_t stream;         /* of kernels */
};
/** Could the machine launch this? Errors: LW_ERANGE with a sentence. */
enum lw_status emu_grid_check(const struct emu_machine *machine, const struct emu_launch *launch,
                              struct lw_error *err) LW_MUST_CHECK;
/** Queue a checked launch of the device; a group aggregates where it can. Errors: LW_ENOMEM. */
enum lw_status emu_grid_launch_device(struct emu_machine *machine, const struct emu_launch *launch,
                                      const struct emu_device_launch *how,
                                      struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** A grid of a saved state, numbered @sequence, with warp ids from @first_warp_id; nobody is told.
 *  @device: it is not the host's. */
enum lw_status emu_grid_restore(struct emu_machine *machine, const struct emu_launch *launch,
                                uint32_t sequence, uint64_t first_warp_id, bool device,
                                struct emu_grid **out, struct lw_error *err) LW_MUST_CHECK;
/** No block of @grid is left to place: it leaves the list of those that may start, if it is in it. */
void emu_grid_started(struct emu_machine *machine, struct emu_grid *grid);
/** List what may start and what ends a stream, of a state that was loaded. */
void emu_grids_index(struct emu_machine *machine);
/** Forget all device launches; their memory is kept for others. */
void emu_grids_drop_device(struct emu_machine *machine);
void emu_grids_free(struct emu_grid *grids);
/** @grid's last block ended: if nothing of it is open it is complete, and so may be others. */
void emu_grid_blocks_done(struct emu_machine *machine, struct emu_grid *grid);
/** A slot that held a block of @grid, a device launch, is free. */
void emu_grid_unhold(struct emu_machine *machine, struct emu_grid *grid);
/** An instruction of @grid was retired; true: the first. */
bool emu_grid_begin(struct emu_machine *machine, struct emu_grid *grid);
/** "launched by kernel p, block (1,0,0), warp 0, lane 3; that by ..." up to the host's launch;
 *  nothing for a launch of the host. No newline. */
void emu_grid_chain_print(const struct emu_machine *machine, uint32_t sequence,
                          struct lw_sink *out);
static inline bool emu_grid_of_device(const struct emu_grid *grid)
{
    return grid->parent.grid != 0;
}

/* ---- the turn --------------------------------------------------------------------- */

/** Leave the chain; @next is what the split executes when it goes on. */
static inline void emu_leave(struct emu_warp *w, enum emu_leave why,
                             const struct emu_dinsn *next)
{
    w->leave = (uint8_t)why;
    w->di = next;
}

/** Count the straight-line run that ends with @last (included) against the budget. */
static inline void emu_count_run(struct emu_warp *w, const struct emu_dinsn *last)
{
    int64_t n = last - w->run_start + 1;

    w->budget -= n;
    w->retired += (uint64_t)n;
    w->lane_retired += (uint64_t)n * w->m_count;
    w->run_start = last + 1;
    memset(w->proved, 0, sizeof w->proved); /* whatever comes next may start anywhere */
}

/** The same for a run that ends before @di: it is not executed. */
static inline void emu_count_before(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_count_run(w, di - 1);
}

/** Raise a guest fault at @di for @lanes; the instruction has no effect. Nothing before it
 *  in the run is lost. Call, then return from the handler. */
void emu_raise(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
               uint64_t lanes, const char *fmt, ...) LW_PRINTF(5, 6);
/** The same for memory. */
void emu_raise_memory(struct emu_warp *w, const struct emu_dinsn *di, enum emu_fault_kind kind,
                      uint64_t lanes, enum isa_space space, uint64_t address, unsigned bytes,
                      bool write);

/** Guard mask: lanes of the machine word for which @di's guard holds. */
static inline uint64_t emu_guard(const struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t g = di->guard & 16 ? (w->sp[di->guard & 7] ? ~UINT64_C(0) : 0) : w->p[di->guard & 7];
    return di->guard & 8 ? ~g : g;
}
static inline uint64_t emu_exec_mask(const struct emu_warp *w)
{
    return (uint64_t)w->s[127] << 32 | w->s[126];
}
/** A row of the register file. */
static inline uint32_t *emu_row(const struct emu_warp *w, uint32_t offset)
{
    return (uint32_t *)(void *)(w->regs + offset);
}
/** 32- or 64-bit value of a uniform operand. */
static inline uint32_t emu_uniform32(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return lw_get32(w->ubase[di->ukind] + di->b);
}
static inline uint64_t emu_uniform64(const struct emu_warp *w, const struct emu_dinsn *di)
{
    return lw_get64(w->ubase[di->ukind] + di->b);
}

/* ---- emu_split.c -------------------------------------------------------------------- */

/** A reconvergence engine: how lanes of a warp part and meet. What is NULL does nothing. */
struct emu_reconv {
    const char *name, *summary;
    /** A split is never divided by steps or sleep; warpsync waits with all of it; the rows bssy,
     *  bsync, bbreak and yield do nothing. */
    bool lockstep;
    void (*begin)(struct emu_warp *w); /* at the end of emu_split_begin */
    /** As the functions emu_split_branch, _branch2 and _exit below say. */
    void (*branch)(struct emu_warp *w, const uint32_t *target, uint32_t next);
    void (*branch2)(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next);
    void (*exit)(struct emu_warp *w, uint64_t lanes, uint32_t next);
    /** All lanes of the running split follow the call, return or indirect branch at @index
     *  together; the turn goes on. */
    void (*jumped)(struct emu_warp *w, uint32_t index);
    /** False: no memory for what an instruction that parts the split into up to @sides needs. */
    bool (*room)(struct emu_warp *w, unsigned sides);
    /** The split with the turn may have come to where it waits for others. True: it does, and
     *  its turn has ended. */
    bool (*reach)(struct emu_warp *w);
    /** Split @waits was parted from @rest to wait at something; both were one. */
    void (*parted)(struct emu_warp *w, unsigned waits, unsigned rest);
    void (*woken)(struct emu_warp *w); /* splits that waited became ready */
};
const struct emu_reconv *emu_reconv_find(const char *name);
extern const struct emu_reconv emu_reconv_cbar, emu_reconv_stack;
/** Index in emu_push_order_names, -1: no such name. NULL is "smaller". */
int emu_push_order_find(const char *name);
/** Fill program->rpc of the instructions [first, first + count): the targets of the bssy
 *  that reach the branches and calls that name a barrier (MACHINE 7).
 *  Errors: LW_EFORMAT with the place when none or several reach one. */
enum lw_status emu_reconv_resolve(struct emu_program *program, uint32_t first, uint32_t count,
                                  struct lw_error *err) LW_MUST_CHECK;
/** "file:line" of an instruction, else "function+0xoffset"; @text gets it. */
const char *emu_program_location(const struct isa_object *object, uint32_t index, char *text,
                              size_t size);
/** The warp's SIMT stack, bottom first; w->simt.count entries. */
static inline struct emu_simt_entry *emu_simt_entries(const struct emu_warp *w)
{
    const struct emu_simt *st = &w->simt;

    return st->heap != NULL ? st->heap : (struct emu_simt_entry *)(uintptr_t)st->base;
}
/** Handler in front of instructions that are reconvergence pcs, under `stack`. */
void emu_rpc_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Handler of bssy, bsync, bbreak and yield where they do nothing. */
void emu_stalled_step_handler(struct emu_warp *w, const struct emu_dinsn *di);

struct emu_policy {
    const char *name, *summary;
    unsigned quantum; /* 0: until it blocks */
    bool stacked;     /* looks at the order of pushing (seq) */
    /** True when candidate a goes before b; it breaks ties by lowest lane itself. */
    bool (*before)(const struct emu_warp *w, const struct emu_split *a,
                   const struct emu_split *b);
};
const struct emu_policy *emu_policy_find(const char *name);

/** What all warps of a core have at their start, into a warp of zeros with w->core: no barrier
 *  registers in use, the machine's options. */
void emu_split_template(struct emu_warp *w);
/** One split with all launched lanes at instruction @pc. Wants what emu_split_template() makes,
 *  w->launched, w->block, w->code and the barrier rows. */
void emu_split_begin(struct emu_warp *w, uint32_t pc);
/** Frees what splits of a warp may own beyond the block's memory. */
void emu_split_fini(struct emu_warp *w);
/** Give a split the turn if none has it: merges ready splits at its pc, sets w->m, w->e,
 *  w->full, mask_row and w->di. Yielded splits become ready when nothing else is; sleepers
 *  whose time has come wake first. False: nothing can run. When all splits of the block
 *  sleep, its time jumps here. */
bool emu_split_select(struct emu_warp *w);
/** Set w->m, w->e, w->full, mask_row for @lanes of the running split. */
void emu_warp_set_lanes(struct emu_warp *w, uint64_t lanes);
/** The same, with a short way for a warp of one split. */
static inline bool emu_split_select_soon(struct emu_warp *w)
{
    if (w->running >= 0)
        return true;
    if (w->split_count != 1 || w->split_in[EMU_SPLIT_READY] == 0)
        return emu_split_select(w);
    const unsigned id = lw_lowest(w->split_ids);
    struct emu_split *s = &w->split[id];
    s->since = w->retired;
    w->running = (int)id;
    w->turn_used = 0;
    w->last_low = lw_lowest(s->lanes);
    w->di = w->code->insn + s->pc;
    if (s->lanes != w->m || (s->lanes & emu_exec_mask(w)) != w->mask_lanes ||
        w->e != w->mask_lanes)
        emu_warp_set_lanes(w, s->lanes);
    return true;
}
/** Something of the warp is ready or has the turn. A warp leaves its place in the block's
 *  rotation when this is false after a turn (MACHINE 4: "yields with nothing else ready in
 *  it"): select would wake the yielded splits, but the other warps come first. */
static inline bool emu_split_has_ready(const struct emu_warp *w)
{
    return w->split_in[EMU_SPLIT_READY] != 0;
}
/** Instructions the running split may retire before policy (quantum), fairness window or
 *  a sleeper want a look; INT64_MAX when it is alone. */
int64_t emu_split_allowance(const struct emu_warp *w);
/** @count instructions of the running split retired (w->retired has them), it stands at w->di:
 *  account for quantum and window; ends the turn (parks it) when they say so. */
void emu_split_ran(struct emu_warp *w, unsigned count);
/** Park the running split, ready, at w->di: no split has the turn. */
void emu_split_block(struct emu_warp *w);
/** Give the turn to split @id for @lanes of it (a step); the rest stays as another split.
 *  The split that has the turn keeps it when it is asked for whole. @whole: the next
 *  instruction takes a split whole. False when the split is not ready, and when it waits, now
 *  SUSPENDED (LW_EAGAIN), for the other parts of a split that was divided by an earlier
 *  call. The last part to come takes the others with it: w->m may exceed @lanes. While
 *  emu_split_divided(w), only steps may be used: the handler chains know nothing of parts. */
bool emu_split_divide(struct emu_warp *w, unsigned id, uint64_t lanes, bool whole);
bool emu_split_divided(const struct emu_warp *w);
/** Index in split[] by id, or -1. */
int emu_split_by_id(const struct emu_warp *w, unsigned id);
/** Instruction index of a split; the running one's is in w->di. */
static inline uint32_t emu_split_pc(const struct emu_warp *w, unsigned id)
{
    return (int)id == w->running ? (uint32_t)(w->di - w->code->insn) : w->split[id].pc;
}
/** Group number of a lane in a barrier register, 0: none. */
static inline uint64_t emu_breg_number(const struct emu_warp *w, unsigned reg, unsigned lane)
{
    const struct emu_breg_form *b = &w->bform[reg];

    return !(b->lanes >> lane & 1) ? 0 : b->number != 0 ? b->number : w->breg[reg][lane];
}
/** Splits and barrier registers in canonical form, for hash_state. */
void emu_split_hash(const struct emu_warp *w, struct lw_hash *hash);
/** CTA barriers of the block, for hash_state. */
void emu_cta_hash(const struct emu_block *block, struct lw_hash *hash);

/* What control instructions do to the running split; all end its turn (w->running is -1
 * behind them) unless they say otherwise. @next and targets are instruction indices. The caller
 * has counted the instruction in w->retired; lane sets are not empty unless noted. */
/** What a step did, for the event; hang it into w->flow (zeroed) before the step. */
struct emu_flow {
    struct emu_outcome outcome[EMU_MAX_LANES]; /* pc is filled by the caller from target */
    uint32_t target[EMU_MAX_LANES];
    unsigned count;
    uint64_t arrived, released, group, exited; /* released: of this warp */
    /* Noted by the functions that do it: the operation, its register, and why lanes are released
     * if any are. */
    enum emu_conv_op op;
    enum emu_release why;
    uint8_t reg;
    bool soft;
    bool cta_used, cta_completed;
    uint8_t cta_id;
    unsigned cta_arrived, cta_expected;
    uint64_t cta_generation;
};
/** A step begins operation @op on convergence register @reg; lanes that it makes ready are so
 *  because of @why. */
static inline void emu_flow_note(struct emu_warp *w, enum emu_conv_op op, unsigned reg,
                                 enum emu_release why)
{
    if (w->flow != NULL) {
        w->flow->op = op;
        w->flow->reg = (uint8_t)reg;
        w->flow->why = why;
    }
}
/** Fill outcome and target from the table: where the lanes @m of a step are now. */
void emu_split_outcomes(const struct emu_warp *w, uint64_t m, struct emu_flow *flow);
/** Rows that an event borrows. */
struct emu_step_scratch {
    uint64_t address[EMU_MAX_LANES];
    uint8_t space[EMU_MAX_LANES];
    uint8_t old_value[EMU_MAX_LANES][16], new_value[EMU_MAX_LANES][16];
    uint8_t service[EMU_MAX_LANES];
    struct emu_flow flow;
};
enum { EMU_TARGET_EXIT = UINT32_MAX };
/** The split's lanes go to up to W targets: lane l to target[l] (l in w->m); EMU_TARGET_EXIT
 *  ends the lane. @next is the fall-through (for stack_like). The caller treats one common
 *  target as a jump, without a call. */
static inline void emu_split_branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    w->reconv->branch(w, target, next);
}
/** Two-way: @taken to @target, the rest to @next; both non-empty, target != next. */
static inline void emu_split_branch2(struct emu_warp *w, uint64_t taken, uint32_t target,
                                     uint32_t next)
{
    w->reconv->branch2(w, taken, target, next);
}
/** @lanes exit; the others of the split go on at @next. Re-tests all barriers. Keeps w->live,
 *  block->threads_live and block->warps_live. */
static inline void emu_split_exit(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    w->reconv->exit(w, lanes, next);
}
/** Turn goes on, also for bbreak, take and give; @lanes may be empty. They may make others
 *  ready: then w->budget is cut to what the policy allows. */
void emu_split_bssy(struct emu_warp *w, unsigned reg, uint64_t lanes);
/** True when that bssy takes lanes out of a group that others wait in, so that it may release
 *  them: count the run before it (emu_count_run) and go on by a jump, as behind bbreak. */
static inline bool emu_split_bssy_frees(const struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    return w->bform[reg].arrived != 0 && (w->bform[reg].lanes & lanes) != 0;
}
/** A split that is alone in its warp and whole comes to bsync @reg: it goes straight on, the same
 *  as blocking, release and reselection without moving anything. False: it is not that case, and
 *  nothing was done. @now: the warp's count behind the instruction. */
static inline bool emu_split_bsync_uncontended(struct emu_warp *w, unsigned reg, uint64_t lanes,
                                        uint64_t now)
{
    struct emu_breg_form *b = &w->bform[reg];
    const uint64_t stay = lanes & b->lanes;
    struct emu_split *s = &w->split[w->running];

    if (w->split_count != 1 || lanes != w->m || (stay != 0 && (stay != lanes || b->number == 0)))
        return false;
    s->since = now;
    w->turn_used = 0;
    w->last_low = lw_lowest(lanes);
    if (stay != 0) {
        b->lanes = 0;
        s->seq = ++w->seq_counter;
        s->flags = 0;
        if (w->flow != NULL)
            w->flow->released = stay;
    }
    return true;
}
/** @lanes (guard on) arrive, the others become ready at @next. Returns true when the turn may
 *  go on in the handler chain: the warp has one split and it passed whole. */
bool emu_split_bsync(struct emu_warp *w, unsigned reg, bool soft, uint64_t lanes, uint32_t next);
void emu_split_bbreak(struct emu_warp *w, unsigned reg, uint64_t lanes);
void emu_split_yield(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** @member[lane] for lanes in @lanes; false: a lane's own bit is missing (*bad gets them) and
 *  nothing happened. */
bool emu_split_warpsync(struct emu_warp *w, uint64_t lanes, const uint64_t *member,
                        uint32_t next, uint64_t *bad);
/** @lanes arrive at the .sync operation at index @pc (own bits are in their masks). Returns the
 *  lanes that execute it now: @lanes, when all members are here or have synchronised; the turn
 *  goes on. Else 0, and the turn has ended: the lanes wait at @pc, and are ready there as one
 *  split with all that wait at @pc with the same masks when the last member arrives (it is
 *  the same arrival that returns 0: the union executes the operation when it is selected).
 *  Lanes outside @lanes (guard off) are then ready at pc + 1. The arrival alone is not an
 *  executed instruction. Call after emu_count_before, so that w->retired is exact. */
uint64_t emu_split_sync(struct emu_warp *w, uint64_t lanes, const uint64_t *member, uint32_t pc);
/** Sleep for @length instructions of the block. Time is block->retired and what the warp has
 *  retired since w->turn_start. */
void emu_split_sleep(struct emu_warp *w, uint64_t lanes, uint64_t length, uint32_t next);
/** Wait until no kernel that the block launched is open (launch.sync). */
void emu_split_launch_wait(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** None is: lanes that wait for it go on. */
void emu_block_launches_done(struct emu_block *block);
/** Lanes of it wait at launch.sync, and nothing in it can run. */
bool emu_block_suspended(const struct emu_block *block);
/** What a bar.red brings: its instruction, its active lanes, those with a true predicate. */
struct emu_reduction {
    uint32_t index, brought, yes;
};
/** Write the result of the bar.red at @index to @lanes, which waited for it. (emu_control.c) */
void emu_reduction_result(struct emu_warp *w, uint32_t index, uint64_t lanes, uint32_t brought,
                          uint32_t yes);
/** Is an arrival of all of @w's split at CTA barrier @id, without a count, the usual one: of a
 *  split alone in its warp, in a generation without counts? */
static inline bool emu_split_bar_usual(const struct emu_warp *w, unsigned id)
{
    const struct emu_cta_barrier *c = &w->block->cta[id];

    return w->split_count == 1 && w->flow == NULL && !w->parts && w->breg_blocked == 0 &&
           w->block->threads % 32 == 0 && !(c->in_use && (c->has_count || c->lanes[w->index] != 0));
}
/** The same as emu_split_bar() for that arrival; it waits at @next and its turn has ended. */
bool emu_split_bar_alone(struct emu_warp *w, unsigned id, uint32_t next);
enum emu_cta_result { EMU_CTA_WAITS, EMU_CTA_COMPLETED, EMU_CTA_BAD };
/** Lanes arrive at CTA barrier @id. With @wait they wait and the turn ends, also when the
 *  barrier completes; else (arrive) it goes on. @red: NULL, or they wait for the sum over all
 *  arrivals that bring one. EMU_CTA_BAD: why gets a clause (a guest fault; nothing changed). */
enum emu_cta_result emu_split_bar(struct emu_warp *w, unsigned id, uint64_t lanes,
                                  bool has_count, uint32_t count, bool wait, uint32_t next,
                                  const struct emu_reduction *red, char *why, size_t why_size);
/** mov from / to a barrier register (take, give). */
void emu_breg_save(struct emu_warp *w, unsigned reg, uint64_t lanes, uint64_t *number);
void emu_breg_restore(struct emu_warp *w, unsigned reg, uint64_t lanes, const uint64_t *number);
/** Can any split of the block run now (ready, yielded, or sleeping with time to jump)? */
bool emu_block_can_run(const struct emu_block *block);
struct emu_hang_cause {
    bool livelock; /* it runs, and nobody will ever make progress; else nothing can run */
    bool alone;    /* no other block matters */
    const struct emu_spin_observer *probe; /* the look that proved it, or NULL */
};
/** Explain why a block does not go on. */
void emu_block_explain(const struct emu_block *block, const struct emu_hang_cause *cause,
                       struct emu_hang *out);
/** Where @lanes of a warp are, as a verdict says it: "lanes 0-3 (at pc 0x100000040 (k.cl:7)), lane 4 (...)". */
void emu_hang_report_where(const struct emu_warp *w, uint64_t lanes, char *text, size_t size);
/** False, with a clause, on a broken invariant (debug and test builds). */
bool emu_split_check(const struct emu_warp *w, char *why, size_t why_size);


/* ---- memory beyond the fast path (emu_memory.c) --------------------------------------- */

/** Where a lane's generic address leads. NULL: a fault of @kind. */
enum emu_fault_kind emu_resolve(const struct emu_warp *w, unsigned lane, uint64_t address,
                                unsigned bytes, bool write, enum isa_space *space);
/** Copy to or from any mapped memory of a lane, byte by byte where it must. Returns bytes. */
uint64_t emu_lane_copy(struct emu_warp *w, unsigned lane, uint64_t address, void *data,
                       uint64_t size_bytes, bool write);
/** Generic addresses of the lanes of @lanes of a memory instruction (what the fast path
 *  computes, one lane at a time), for events and faults. */
void emu_addresses(const struct emu_warp *w, const struct isa_insn *insn,
                   const struct emu_dinsn *di, uint64_t lanes, uint64_t *address);
/** A clause for a memory fault of @kind: which allocation is nearest and how far off, the
 *  name of what was freed or is read-only. @address as emu_raise_memory gets it: an offset
 *  in its space for shared and local, else a generic address. */
void emu_describe_address(const struct emu_warp *w, enum emu_fault_kind kind,
                          enum isa_space space, uint64_t address, unsigned bytes, bool write,
                          char *text, size_t text_size);
/** The block in @slot; NULL: the slot is free. */
struct emu_block *emu_core_block(const struct emu_core *core, unsigned slot);
/** The name of the allocation that holds @address; empty: of none, or it has no name. */
void emu_machine_allocation_name(const struct emu_machine *machine, uint64_t address, char *name, size_t size);

#endif
