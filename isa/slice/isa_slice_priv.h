/* SPDX-License-Identifier: Apache-2.0 */
/* Construction of address slices. The values of registers are found by a search backwards from their uses. These values form a
 * graph in static single assignment form (SSA), which is only built as far as addresses depend on it. Where paths join, a value
 * is a PHI. Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013. */
#ifndef ISA_SLICE_PRIV_H
#define ISA_SLICE_PRIV_H

#include "isa/isa_priv.h"

enum { SLICE_NONE = UINT32_MAX, SLICE_DEPTH = 400 };
/** Kinds of node during the construction. Finished address slices do not contain nodes of these kinds. */
enum {
    SLICE_PHI = ISA_SLICE_KIND_COUNT, /* value of register a, and of the next register if b is 2, at the start of block `value`.
                                       * The PHI has an operand for each predecessor of the block */
    SLICE_SAME,                       /* the same value as node a */
    SLICE_REJECT /* rejected: `value` is the reason (enum isa_slice_reject), and a is the instruction that causes it */
};

struct slice_value {
    struct isa_slice_node node;
    uint32_t *operand;  /* PHI: operands in the order of the block's predecessors, or NULL if they are not known yet */
    uint32_t from;      /* 1 + index of the instruction that computes this value, or computes a value of which this one is the low
                         * word; 0: there is no such instruction */
    uint32_t out;       /* 1 + number of the node in the finished address slices, or 0 if it is not converted yet */
    uint32_t looked_at; /* PHI: value of slice_builder.changes when its operands were last compared */
    bool visiting;
    uint64_t loops;     /* set of the loops on whose induction variables the value depends */
};
/** Pointers on which a node depends by additions: the number of pointers, where 2 stands for more than one, and which pointer it
 *  is if there is one. */
struct slice_roots {
    uint8_t count;
    bool variable;
    uint32_t which;
};
/** A loop on which address slices depend. */
struct slice_loop {
    uint32_t header;    /* index of the loop's header block */
    uint8_t *body;      /* bit set of the blocks in the loop */
};
struct slice_builder {
    const struct isa_object *object;
    const struct isa_reloc *relocs; /* relocations of the object, sorted */
    const struct isa_function *function;
    struct lw_arena arena;     /* memory for the analysis of this function */
    struct isa_insn *insn;     /* decoded instructions of the function */
    uint32_t count;
    struct isa_flow flow;
    uint32_t *block_of;        /* [instruction] index of its block */
    uint32_t *pred, *pred_at;  /* predecessors of block b: pred[pred_at[b]] to pred[pred_at[b + 1] - 1] */
    uint32_t *idom;            /* [block] immediate dominator; SLICE_NONE: the block is the entry, or unreachable */
    uint32_t *dom_first, *dom_last; /* [block] dom_first: number of the block in a preorder of the dominator tree; dom_last:
                                     * number of the last block that it dominates; 0: the block is unreachable */
    uint32_t end_block, end_insn;   /* end_block: block that every thread executes, because it dominates all instructions at which
                                     * threads end; end_insn: the first of these instructions in the block. SLICE_NONE: there is
                                     * no such block */
    uint32_t *def, def_at[ISA_REG_NUMBERS + 1]; /* def[def_at[r]] to def[def_at[r + 1] - 1]: instructions that write register r,
                                                 * ascending */
    struct slice_value *value;
    size_t value_count, value_capacity;
    struct lw_table memo;      /* values that were already found, by register and by block or instruction */
    uint32_t changes;          /* 1 + number of times that the operands of a PHI were set, or that a PHI was found to be equal to
                                * another value */
    unsigned depth;
    bool no_memory;
    uint64_t used;             /* set of the loops on which the address slice under construction depends */
    struct slice_loop loop[ISA_SLICE_LOOPS];
    unsigned loop_count;
    struct isa_slice_node *node; /* nodes of the finished address slices of the function */
    size_t node_count, node_capacity;
    struct slice_roots *roots; /* pointers on which the nodes depend, for the first root_count nodes */
    size_t root_count, root_capacity;
};

/** Returns true if the instruction has a guard, which may be `!pt`. */
static inline bool slice_has_guard(const struct isa_insn *insn)
{
    return insn->guard != ISA_PT || insn->guard_neg;
}

/* isa_slice_graph.c */
/** Finds blocks, dominators and definitions. Returns false if there is no memory (no_memory is then set), or if an instruction
 *  cannot be decoded. */
bool slice_graph_make(struct slice_builder *b);
bool slice_dominates(const struct slice_builder *b, uint32_t block, uint32_t other);
/** Returns the last instruction of @block before @at that writes register @number, or SLICE_NONE. */
uint32_t slice_last_def(const struct slice_builder *b, uint32_t number, uint32_t block, uint32_t at);
/** Returns true if every thread of the kernel executes @insn. */
bool slice_always(const struct slice_builder *b, uint32_t insn);
/** Returns the number of the loop whose header is @block, or -1 if there is no such loop, or if there are too many loops. */
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
/** Returns the value to which @value is equal, by following SLICE_SAME. A PHI all of whose operands are the same value is first
 *  replaced by a SLICE_SAME. */
uint32_t slice_resolve(struct slice_builder *b, uint32_t value);
bool slice_is_reject(const struct slice_builder *b, uint32_t value);
/** Returns the value of @words registers, from number @reg on, before instruction @at. */
uint32_t slice_read(struct slice_builder *b, unsigned reg, unsigned words, uint32_t at);
/** Returns the value of the guard of @insn. */
uint32_t slice_guard(struct slice_builder *b, uint32_t insn);

/* isa_slice_row.c */
/** Returns the value that instruction @insn writes to register @reg, and to the next one if @words is 2, in lanes where its guard
 *  is true. */
uint32_t slice_result(struct slice_builder *b, uint32_t insn, unsigned reg, unsigned words);
/** Returns the address that a load or store accesses. */
uint32_t slice_address(struct slice_builder *b, uint32_t insn);

/* isa_slice_finish.c */
/** Converts @value to a node of the finished address slices, and returns 1 + its number. If @value is rejected, returns 0, and
 *  sets *@why to the reason and *@culprit to the instruction that causes it. */
uint32_t slice_finish(struct slice_builder *b, uint32_t value, uint8_t *why, uint32_t *culprit);

#endif
