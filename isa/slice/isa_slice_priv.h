/* SPDX-License-Identifier: Apache-2.0 */
/* Construction of slices. Values of registers are found backwards from their uses, as a graph in static single assignment form that is built only as
 * far as addresses need it; at a join the value is a PHI. Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form",
 * CC 2013. */
#ifndef ISA_SLICE_PRIV_H
#define ISA_SLICE_PRIV_H

#include "isa/isa_priv.h"

enum { SLICE_NONE = UINT32_MAX, SLICE_DEPTH = 400 };
/** Further kinds of node, which finished slices do not have. */
enum {
    SLICE_PHI = ISA_SLICE_KIND_COUNT, /* operands by the predecessors of block `value`; register number a, b registers */
    SLICE_SAME,                       /* a copy: it has the value of node a */
    SLICE_REJECT                      /* rejected for enum isa_slice_reject `value` because of instruction a */
};

struct slice_value {
    struct isa_slice_node node;
    uint32_t *operand;  /* operands of a PHI by predecessor; NULL until they are known */
    uint32_t from;      /* 1 + number of the instruction that computes this value, or computes a value of which this is
                         * the low word; 0: no instruction does */
    uint32_t out;       /* 1 + number of its node in the slice; 0: none yet */
    uint32_t looked_at; /* value of the builder's `changes` when the operands of this PHI were last compared */
    bool visiting;
    uint64_t loops;     /* loops whose induction variables the slice of this value depends on */
};
/** Number of pointers that a node depends on by addition (2: two or more), and which pointer it is. */
struct slice_roots {
    uint8_t count;
    bool variable;
    uint32_t which;
};
/** Loop that slices depend on. */
struct slice_loop {
    uint32_t header;    /* number of its header block */
    uint8_t *body;      /* bit set of its blocks */
};
struct slice_builder {
    const struct isa_object *object;
    const struct isa_reloc *relocs; /* sorted relocations of the object */
    const struct isa_function *function;
    struct lw_arena arena;     /* memory of this function's analysis */
    struct isa_insn *insn;     /* decoded instructions of the function */
    uint32_t count;
    struct isa_flow flow;
    uint32_t *block_of;        /* by instruction: its block */
    uint32_t *pred, *pred_at;  /* predecessors of block b: pred[pred_at[b]] to pred[pred_at[b + 1] - 1] */
    uint32_t *idom;            /* immediate dominator; SLICE_NONE: the entry, or an unreachable block */
    uint32_t *dom_first, *dom_last; /* preorder number in the dominator tree of a block and of the last block that it dominates; 0: unreachable */
    uint32_t end_block, end_insn;   /* block that dominates all ends of threads; the first end in it, or SLICE_NONE */
    uint32_t *def, def_at[ISA_REG_NUMBERS + 1]; /* instructions that write register r: def[def_at[r]] to def[def_at[r + 1] - 1], ascending */
    struct slice_value *value;
    size_t value_count, value_capacity;
    struct lw_table memo;      /* values that were found before, keyed by register and place */
    uint32_t changes;          /* 1 + number of PHIs that got their operands or were resolved to another value */
    unsigned depth;
    bool no_memory;
    uint64_t used;             /* loops that the slice being built depends on */
    struct slice_loop loop[ISA_SLICE_LOOPS];
    unsigned loop_count;
    struct isa_slice_node *node; /* nodes of the function's slices */
    size_t node_count, node_capacity;
    struct slice_roots *roots; /* pointers of the first root_count nodes */
    size_t root_count, root_capacity;
};

/** Returns true if the instruction has a guard (`!pt`, too). */
static inline bool slice_has_guard(const struct isa_insn *insn)
{
    return insn->guard != ISA_PT || insn->guard_neg;
}

/* isa_slice_graph.c */
/** Finds blocks, dominators and definitions. Returns false if memory is short (no_memory is set then), or if an instruction cannot be decoded. */
bool slice_graph_make(struct slice_builder *b);
bool slice_dominates(const struct slice_builder *b, uint32_t block, uint32_t other);
/** Returns the last instruction of @block before @at that writes register @number, or SLICE_NONE. */
uint32_t slice_last_def(const struct slice_builder *b, uint32_t number, uint32_t block, uint32_t at);
/** Returns true if every thread that starts reaches @insn. */
bool slice_always(const struct slice_builder *b, uint32_t insn);
/** Returns the number of the loop with header @block, or -1 if it is no loop or there are too many. */
int slice_loop_at(struct slice_builder *b, uint32_t block);
static inline bool slice_loop_has(const struct slice_loop *loop, uint32_t block)
{
    return loop->body[block / 8] >> block % 8 & 1;
}

/* isa_slice_value.c */
uint32_t slice_value_new(struct slice_builder *b, struct isa_slice_node node);
uint32_t slice_reject(struct slice_builder *b, enum isa_slice_reject why, uint32_t insn);
uint32_t slice_immediate(struct slice_builder *b, uint64_t value, unsigned bits);
uint32_t slice_pair(struct slice_builder *b, uint32_t low, uint32_t high);
uint32_t slice_word(struct slice_builder *b, uint32_t value, bool high);
uint32_t slice_not(struct slice_builder *b, uint32_t value);
uint32_t slice_select(struct slice_builder *b, uint32_t condition, uint32_t yes, uint32_t no);
/** Returns the value that @value stands for: follows SLICE_SAME links. A PHI whose operands are all the same value gets
 *  such a link. */
uint32_t slice_resolve(struct slice_builder *b, uint32_t value);
bool slice_is_reject(const struct slice_builder *b, uint32_t value);
/** Returns the value of @words registers from number @reg on before instruction @at. */
uint32_t slice_read(struct slice_builder *b, unsigned reg, unsigned words, uint32_t at);
/** Returns the guard of @insn. */
uint32_t slice_guard(struct slice_builder *b, uint32_t insn);

/* isa_slice_row.c */
/** Returns the value that instruction @insn, ignoring its guard, writes to register @reg, and to the next one if @words is 2. */
uint32_t slice_result(struct slice_builder *b, uint32_t insn, unsigned reg, unsigned words);
/** Returns the address of a load or store. */
uint32_t slice_address(struct slice_builder *b, uint32_t insn);

/* isa_slice_finish.c */
/** Converts @value to a node of the slices, without PHIs. Returns 1 + its number; or 0 if it is rejected, with the reason in *@why and the
 *  instruction in *@culprit. */
uint32_t slice_finish(struct slice_builder *b, uint32_t value, uint8_t *why, uint32_t *culprit);

#endif
