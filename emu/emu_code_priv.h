/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to emu/: a loaded program, its decoded copy for a core, and the handlers of one x86-64 level. */
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
 * Handler of an instruction. A handler executes the instruction for the warp's running split, and continues with the next
 * instruction by a tail call, or in LW_LOOP builds by a return to the driver. If one of the EMU_LEAVE_* reasons applies, the
 * handler instead leaves the warp's handler chain, and sets w->di to the instruction to execute next.
 */
typedef void emu_handler_fn(struct emu_warp *w, const struct emu_dinsn *di);

struct emu_handlers {
    emu_handler_fn *full; /* unmasked handler: it may write all lanes of a padded vector register */
    emu_handler_fn *part; /* masked handler: it writes only the lanes in w->mask_row */
};

/** Decoded instruction, 64 bytes. A vector operand is a byte offset from w->regs. A uniform operand (scalar, constant, immediate)
 *  is at w->ubase[ukind] + b. */
struct emu_dinsn {
    struct emu_handlers h;
    uint32_t d, a, b, c;
    /* Two unions. Instructions that compact mode executes on tags instead of lanes use td, ta, tb and tc, which are register
     * indices (emu_compact_priv.h). Memory instructions use td, ta and disp. */
    union {
        int32_t delta;  /* distance to the branch target, in instructions */
        struct { uint16_t td, ta; };
    };
    union {
        int32_t disp;   /* address offset of a memory instruction */
        struct { uint16_t tb, tc; };
    };
    uint32_t index;     /* index of the instruction in the program */
    uint16_t run;       /* number of instructions from this one to the last one of the straight-line run (emu_slice.c), both
                         * included */
    uint16_t op;        /* enum isa_op */
    uint8_t guard;      /* bits 2:0: number 0..6 of the guard predicate, or 7: no guard; bit 3: the guard is negated; bit 4: the
                         * guard is a scalar predicate */
    uint8_t ukind;      /* enum emu_ukind of operand b */
    uint8_t p, q;       /* numbers of the predicates that the instruction writes; 7: it writes none, and the handler stores its
                         * result in p[8], which is never read */
    uint8_t r;          /* bits 2:0: number of the predicate that the instruction reads; bit 3: the predicate is negated */
    uint8_t sub;        /* depends on the instruction: selects the comparison, the conversion or the access size, or is the number
                         * of the barrier */
    uint8_t flags;      /* EMU_D_* */
    uint8_t reg;        /* register number as encoded, for handlers that need it */
    uint64_t aux;       /* depends on the instruction: lookup table, lane mode, or offset of the member masks */
};
_Static_assert(sizeof(struct emu_dinsn) == 64, "decoded instructions are a cache line");

enum emu_ukind {
    EMU_U_IMM, EMU_U_SCALAR, EMU_U_BANK0, EMU_U_BANK1,
    EMU_U_SPECIAL, /* special registers of the block: emu_block.special */
    EMU_U_COUNT,
    EMU_U_ROW = EMU_U_COUNT /* the operand is a vector register, and b is its byte offset */
};
enum {
    EMU_D_SOFT = 1,     /* the instruction is bsync.soft */
    EMU_D_COUNTED = 2,  /* CTA barrier: the instruction has an arrival count; shfl: clamp and segment mask are in register C */
    EMU_D_MODIFIED = 16, /* a prelude handler runs first: it applies source modifiers or copies scalars to all lanes */
    EMU_D_FLOAT_MODE = 32, /* reg holds floating-point modifiers (emu_math_priv.h), and the handler is a variant that applies
                            * them */
    EMU_D_ENDS_RUN = 64,
    EMU_D_LAST = 128 /* the instruction is the last of its function. Control must not continue at the next instruction: it belongs
                      * to another function, which has other registers */
};

/** Source operands that a prelude handler prepares before the instruction's own handler runs. The prelude handler copies a vector
 *  register, or a uniform value to all lanes, to a scratch register, and applies the source modifiers there. The instruction then
 *  reads the scratch register. */
enum emu_prelude_kind { EMU_PRE_NONE, EMU_PRE_ROW, EMU_PRE_UNIFORM };
struct emu_prelude {
    struct emu_handlers base;   /* handlers of the instruction, which run after the prelude */
    struct emu_handlers tagged; /* compact mode: handlers that execute the instruction on tags */
    struct {
        uint8_t kind;  /* enum emu_prelude_kind */
        uint8_t ukind; /* kind of a uniform source */
        uint8_t words; /* size of the source in 32-bit words, 1 or 2 */
        uint8_t mods;  /* source modifiers to apply */
        uint32_t from, to; /* from: byte offset of the vector register or uniform source; to: byte offset of the scratch
                            * register */
    } source[3];
    bool is_float;
};

/** A program decoded for one level and block shape. A core that an engine of emu/ drives has its own decoded program, because
 *  its steps replace handlers in it. Cores that an engine outside emu/ drives share one (emu_core_code()). */
struct emu_code {
    const struct emu_program *program;
    struct emu_dinsn *insn;      /* [program->count + 1] decoded instructions; the last element raises a fault, for a pc past the
                                  * end of the code */
    struct emu_handlers *base;   /* [count + 1] base handlers, which instructions without layers have (emu_layers_priv.h) */
    uint8_t *layers;             /* [count + 1] layers of handlers on each instruction, as bits of enum emu_layer */
    struct emu_handlers hook;    /* handlers of the layer EMU_LAYER_HOOK for the core's level */
    struct emu_icache *icache;
    uint32_t *cached;            /* indices of the instructions whose icache element is not empty */
    uint32_t cached_count;
    uint64_t *imm_pool;          /* values of immediates */
    uint32_t imm_count;
    struct emu_prelude *prelude; /* [prelude_count] preludes of the EMU_D_MODIFIED instructions; emu_dinsn.aux of such an
                                  * instruction is its index here */
    uint32_t prelude_count;
    struct emu_chain *chain; /* [count] chained prefetches of instructions with EMU_D_CHAIN; NULL: no instruction has this flag */
    struct emu_hook_filters *hook_filter; /* [count] filters of the hooks, or NULL if no instruction has a hook */
    struct emu_tag_insn *tag;    /* [count] operands of each instruction for its tag rule; NULL if tags are off */
    struct emu_plan *plan;       /* compact mode: [count] plans; the plan is zero for an instruction that needs no plan */
    uint8_t shape;               /* emu_plan_shape() of the blocks for which the program is decoded */
};

enum { EMU_NO_RPC = UINT32_MAX };
struct emu_program {
    struct emu_machine *machine;
    const struct isa_object *object;
    struct isa_insn *insn; /* [count] instructions of object->text */
    struct emu_form *form; /* [count] properties of each instruction for reduced-detail steps */
    uint32_t count;
    uint64_t base;         /* guest address of instruction 0 */
    uint8_t *bank1;        /* constant bank 1, ISA_CONST_BANK_BYTES bytes, or NULL if the program has no bank 1 */
    uint64_t *variable_address; /* [variable of the object] guest address of the variable; 0 for a variable in shared memory */
    uint8_t *breakpoint;   /* [count] 1: a breakpoint is set at the instruction */
    bool prints;           /* the program contains a vprintf */
    bool launches;         /* the program contains a launch.kernel or launch.group */
    struct isa_order_analysis *order; /* [function of the object] whether a kernel can observe the order of its threads or blocks
                                       * (isa_kernel_orders()); undefined for functions that are no kernels */
    struct emu_kernel_use *use; /* [function of the object] numbers of registers that a warp of the kernel needs */
    uint32_t *rpc;         /* [count] reconvergence pc of each branch; EMU_NO_RPC: the instruction has none */
    uint32_t *lpc;         /* [count] likely convergence points from isa_likely_points(); only for the reconvergence engine
                            * `likely`, otherwise NULL */
    uint32_t *rank;        /* [count + 1] ranks from isa_object_ranks(), for the reconvergence engines `frontier` and `likely`
                            * and for steady split policies such as `converge`; NULL: splits are ordered by pc */
    struct emu_program *next;
};

/** Returns the location of an instruction, formatted into @text: "file:line", or "function+0xoffset" if the line is not known. */
const char *emu_program_location(const struct isa_object *object, uint32_t index, char *text,
                              size_t size);

/* Handlers and helpers compiled for one x86-64 level; emu_exec.c defines them. */
struct emu_level {
    const char *name;
    unsigned level; /* x86-64 level: 1, 3 or 4 */
    unsigned row_lanes; /* vector registers are padded to a multiple of this number of lanes */
    unsigned vector_lanes; /* number of lanes of one host vector */
    /** Selects the handlers of a decoded instruction, whose operands are already filled in. If the level has no handler for the
     *  instruction's modifiers, sets both handlers to NULL, and *why to a clause that states the reason. */
    void (*handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                     struct emu_handlers *out, const char **why);
    struct emu_handlers prelude; /* handlers of preludes, for EMU_D_MODIFIED instructions */
    struct emu_handlers hook;    /* handlers of the layer EMU_LAYER_HOOK */
    /** Functions of compact mode. make_row materialises register @index from its tag. tagged_memory selects the handlers of a
     *  memory access whose address register has a tag. */
    void (*make_row)(struct emu_warp *w, unsigned index);
    bool (*tagged_memory)(const struct isa_insn *insn, const struct emu_dinsn *di, bool uniform,
                          struct emu_handlers *out);
    /** Fills a mask row (a word 0 or ~0 for each lane) from a lane mask. */
    void (*expand_mask)(uint32_t *row, uint64_t lanes, unsigned n);
    /** Returns the affine breaks of a vector register: the lanes l of 1 .. n - 2 whose word is not the mean of its two
     *  neighbours' words, modulo 2^32. */
    uint64_t (*bends)(const uint32_t *row, unsigned n);
    /** Returns true if row[l] == value for all lanes of @lanes. */
    bool (*is_splat)(const uint32_t *row, unsigned n, uint64_t lanes, uint32_t value);
    /** Returns true if the handlers of @op read operand X only from a vector register, never from a uniform operand. */
    bool (*rows_only)(unsigned op);
    /** Returns true if the full handler of conversion @di loops over host vectors, so that it converts a vector register of any
     *  length. */
    bool (*converts_rows)(const struct emu_dinsn *di);
    /** [ISA_OP_COUNT] The functions of instructions with semantics ROW1, without modifiers; NULL for other instructions. */
    emu_row_fn *const *row_functions;
};
extern const struct emu_level emu_level_v1, emu_level_v3, emu_level_v4;
const struct emu_level *emu_level_choose(unsigned wanted);

#endif
