/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to emu/: a program as loaded and as decoded for a core, and the handlers of a compilation level. */
#ifndef EMU_CODE_PRIV_H
#define EMU_CODE_PRIV_H

#include "emu/emu.h"

struct emu_warp;
struct emu_dinsn;
struct emu_chain;
struct emu_form;
struct emu_hook_filters;
struct emu_icache;

/**
 * Handler of an instruction. It executes the instruction for the warp's running split, and continues with the next
 * instruction (a tail call, or a return to the driver in LW_LOOP builds). It leaves the chain for an EMU_LEAVE_* reason
 * with w->di at the instruction to execute next.
 */
typedef void emu_handler_fn(struct emu_warp *w, const struct emu_dinsn *di);

struct emu_handlers {
    emu_handler_fn *full; /* handler when all lanes of the padded row may be written */
    emu_handler_fn *part; /* masked handler: results are blended by w->mask_row */
};

/** Decoded instruction, 64 bytes. Vector operands are byte offsets from w->regs; a uniform operand (scalar,
 *  constant, immediate) is at w->ubase[ukind] + b. */
struct emu_dinsn {
    struct emu_handlers h;
    uint32_t d, a, b, c;
    /* The members of the unions depend on the instruction. Instructions that work on tags use these members for
     * register indices (emu_compact_priv.h). Memory instructions use only td and ta. */
    union {
        int32_t delta;  /* branch target, as a distance in instructions */
        struct { uint16_t td, ta; };
    };
    union {
        int32_t disp;   /* memory offset */
        struct { uint16_t tb, tc; };
    };
    uint32_t index;     /* index in the program */
    uint16_t run;       /* instructions to the end of the straight-line run, this one included */
    uint16_t op;        /* enum isa_op */
    uint8_t guard;      /* predicate 0..6, 7: none; bit 3: negated; bit 4: scalar */
    uint8_t ukind;      /* enum emu_ukind of b */
    uint8_t p, q;       /* predicates written, 7: none (p[8] is the sink) */
    uint8_t r;          /* predicate that is read; bit 3: negated */
    uint8_t sub;        /* compare, conversion or size selector; barrier number */
    uint8_t flags;      /* EMU_D_* */
    uint8_t reg;        /* plain register number for handlers that need one */
    uint64_t aux;       /* lookup tables, lane modes, member-mask rows */
};
_Static_assert(sizeof(struct emu_dinsn) == 64, "decoded instructions are a cache line");

enum emu_ukind {
    EMU_U_IMM, EMU_U_SCALAR, EMU_U_BANK0, EMU_U_BANK1,
    EMU_U_SPECIAL, /* special registers of the block: emu_block.special */
    EMU_U_COUNT,
    EMU_U_ROW = EMU_U_COUNT /* X is a vector register: b is its offset */
};
enum {
    EMU_D_SOFT = 1,     /* the instruction is bsync.soft */
    EMU_D_COUNTED = 2,  /* barrier with an arrival count */
    EMU_D_MODIFIED = 16, /* a prelude applies source modifiers or splats scalars */
    EMU_D_FLOAT_MODE = 32, /* reg has modifiers (emu_math_priv.h): handlers named `m` */
    EMU_D_ENDS_RUN = 64,
    EMU_D_LAST = 128 /* last instruction of its function: control must not continue at the next instruction, because the
                      * next function has other registers */
};

/** Operations of a prelude, which runs before its instruction: each listed source is copied to a scratch register and
 *  is splatted or negated there; the instruction then reads the scratch register. */
enum emu_prelude_kind { EMU_PRE_NONE, EMU_PRE_ROW, EMU_PRE_UNIFORM };
struct emu_prelude {
    struct emu_handlers base;   /* handlers of the instruction itself */
    struct emu_handlers tagged; /* compact mode: handlers of the instruction on tags */
    struct {
        uint8_t kind;  /* enum emu_prelude_kind */
        uint8_t ukind; /* kind of a uniform source */
        uint8_t words; /* 1 or 2 */
        uint8_t mods;  /* source modifiers */
        uint32_t from, to; /* offset of the register or uniform source; offset of the scratch register */
    } source[3];
    bool is_float;
};

/** A program decoded for a core. Each core has its own copy, so that its handlers can be patched. */
struct emu_code {
    const struct emu_program *program;
    struct emu_dinsn *insn;      /* [program->count + 1]: the last entry is a bad-pc sentinel */
    struct emu_handlers *base;   /* [count + 1] handlers of instructions without layers: emu_layers_priv.h */
    uint8_t *layers;             /* [count + 1] bits of enum emu_layer on each instruction */
    struct emu_handlers hook;    /* handlers of EMU_LAYER_HOOK at the core's level */
    struct emu_icache *icache;
    uint32_t *cached;            /* indices of instructions whose inline cache is in use */
    uint32_t cached_count;
    uint64_t *imm_pool;          /* values of immediates */
    uint32_t imm_count;
    struct emu_prelude *prelude; /* EMU_D_MODIFIED: indexed by dinsn.aux */
    uint32_t prelude_count;
    struct emu_chain *chain;     /* [count]; NULL: no instruction has EMU_D_CHAIN */
    struct emu_hook_filters *hook_filter; /* [count] filters of hooks; NULL: no instruction has a hook */
    struct emu_tag_insn *tag;    /* [count]; NULL with the tags off */
    struct emu_plan *plan;       /* compact mode: [count] plans of the instructions that need one; other entries are
                                  * zero */
    uint8_t shape;               /* emu_plan_shape() of the blocks for which the code is decoded */
};

enum { EMU_NO_RPC = UINT32_MAX };
struct emu_program {
    struct emu_machine *machine;
    const struct isa_object *object;
    struct isa_insn *insn; /* decoded instructions, object->text_count */
    struct emu_form *form; /* [count] */
    uint32_t count;
    uint64_t base;         /* guest address of instruction 0 */
    uint8_t *bank1;        /* ISA_CONST_BANK_BYTES or NULL */
    uint64_t *variable_address; /* [object variable] address; 0 for shared memory */
    uint8_t *breakpoint;   /* [count] a breakpoint is set */
    bool prints;           /* contains a vprintf */
    bool launches;         /* contains a launch.kernel or launch.group */
    struct isa_order_analysis *order; /* [function of the object], set for kernels */
    struct emu_kernel_use *use; /* [function of the object] registers that its warps need */
    uint32_t *rpc;         /* [count] reconvergence pc of each branch; EMU_NO_RPC: the instruction has none */
    uint32_t *lpc;         /* [count] isa_likely_points(), for the engine `likely`; else NULL */
    uint32_t *rank;        /* [count + 1] isa_object_ranks(), for the engines `frontier` and `likely`; NULL: the order of
                            * the pcs */
    struct emu_program *next;
};

/** Returns "file:line" of an instruction, or "function+0xoffset" if its line is not known, formatted into @text. */
const char *emu_program_location(const struct isa_object *object, uint32_t index, char *text,
                              size_t size);

/* Handlers of one compilation level; expanded by emu_exec.c. */
struct emu_level {
    const char *name;
    unsigned level; /* 1, 3, 4 */
    unsigned row_lanes; /* registers are padded to a multiple of this number of lanes */
    unsigned vector_lanes; /* number of lanes of one host vector */
    /** Selects the handlers of a decoded instruction (operands already filled in). Sets both to NULL if the level has
     *  no handler for these modifiers: *why is then a clause for the message. */
    void (*handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                     struct emu_handlers *out, const char **why);
    struct emu_handlers prelude; /* handlers of EMU_D_MODIFIED instructions */
    struct emu_handlers hook;    /* handlers of instructions for which the machine's hooks have requested a call */
    /** Compact mode: materialises register @index from its tag; handlers of memory accesses at tagged
     *  addresses. */
    void (*make_row)(struct emu_warp *w, unsigned index);
    bool (*tagged_memory)(const struct isa_insn *insn, const struct emu_dinsn *di, bool uniform,
                          struct emu_handlers *out);
    /** Fills a mask row from a lane mask. */
    void (*expand_mask)(uint32_t *row, uint64_t lanes, unsigned n);
    /** Returns the affine breaks: lanes l of 1 .. n - 2 whose word is not the mean of the words of its neighbours
     *  (modulo 2^32), so that the row is not affine there. */
    uint64_t (*bends)(const uint32_t *row, unsigned n);
    /** Returns true if row[l] == value for all lanes of @lanes. */
    bool (*is_splat)(const uint32_t *row, unsigned n, uint64_t lanes, uint32_t value);
    /** Returns true if the handlers of @op read X from a vector register only. */
    bool (*rows_only)(unsigned op);
    /** Returns true if the full handler of a v_cvt is a loop over a row of any length. */
    bool (*converts_rows)(const struct emu_dinsn *di);
};
extern const struct emu_level emu_level_v1, emu_level_v3, emu_level_v4;
const struct emu_level *emu_level_choose(unsigned wanted);

#endif
