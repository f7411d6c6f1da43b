/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The making of slices. Values of registers are found from where they are read, backwards, as a graph in static
 * single assignment form that is built only as far as addresses ask for it; where paths meet, a PHI is a value.
 * Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013.
 */
#ifndef ISA_SLICE_PRIV_H
#define ISA_SLICE_PRIV_H

#include "isa/isa_priv.h"

enum { SLICE_NONE = UINT32_MAX, SLICE_DEPTH = 400 };
/** Kinds that are in the graph only. */
enum {
    SLICE_PHI = ISA_SLICE_KIND_COUNT, /* by the predecessors of block value: operands; register a, words b */
    SLICE_SAME,                       /* as a */
    SLICE_REJECT                      /* enum isa_slice_reject value; a: the instruction */
};

struct slice_value {
    struct isa_slice_node node;
    uint32_t *operand;  /* of a PHI, by predecessor; NULL while it is made */
    uint32_t from;      /* 1 + the instruction of which it is the result, or the low word of it; 0: another value */
    uint32_t out;       /* 1 + its node of the slice; 0: not there yet */
    uint32_t looked_at; /* of a PHI: builder's changes when its operands were compared */
    bool visiting;
    uint64_t loops;     /* of the slice: loops whose inductions it depends on */
};
/** Pointers that a node is made of by addition: 2 stands for more than one. */
struct slice_roots {
    uint8_t count;
    bool variable;
    uint32_t which;
};
/** A loop that slices use. */
struct slice_loop {
    uint32_t header;    /* block */
    uint8_t *body;      /* bit set of blocks */
};
struct slice_builder {
    const struct isa_object *object;
    const struct isa_reloc *relocs; /* of the object, sorted */
    const struct isa_function *function;
    struct lw_arena arena;     /* of this function */
    struct isa_insn *insn;     /* by instruction of the function */
    uint32_t count;
    struct isa_flow flow;
    uint32_t *block_of;        /* by instruction */
    uint32_t *pred, *pred_at;  /* predecessors of block b: pred[pred_at[b]] up to pred_at[b + 1] */
    uint32_t *idom;            /* SLICE_NONE: the entry, and blocks that flow does not reach */
    uint32_t *dom_first, *dom_last; /* numbers of a block and of all that it dominates; 0: not reached */
    uint32_t end_block, end_insn;   /* the block that dominates all ends; the first end in it, or SLICE_NONE */
    uint32_t *def, def_at[ISA_REG_NUMBERS + 1]; /* instructions that write register r, ascending */
    struct slice_value *value;
    size_t value_count, value_capacity;
    struct lw_table memo;      /* of rows: values by what was read where */
    uint32_t changes;          /* from 1: PHIs that got their operands, or turned out to be as another value */
    unsigned depth;
    bool no_memory;
    uint64_t used;             /* of the slice in work: loops */
    struct slice_loop loop[ISA_SLICE_LOOPS];
    unsigned loop_count;
    struct isa_slice_node *node; /* of the slices of the function */
    size_t node_count, node_capacity;
    struct slice_roots *roots; /* of the first root_count nodes */
    size_t root_count, root_capacity;
};

/** A guard, be it `!pt`, under which it does nothing. */
static inline bool slice_has_guard(const struct isa_insn *insn)
{
    return insn->guard != ISA_PT || insn->guard_neg;
}

/* isa_slice_graph.c */
/** Blocks, dominators, definitions; all but the values. False: no memory, which no_memory says, or none of it is. */
bool slice_graph_make(struct slice_builder *b);
bool slice_dominates(const struct slice_builder *b, uint32_t block, uint32_t other);
/** The last instruction before @at in @block that writes register @number; SLICE_NONE. */
uint32_t slice_last_def(const struct slice_builder *b, uint32_t number, uint32_t block, uint32_t at);
/** Is a thread that starts sure to reach @insn? */
bool slice_always(const struct slice_builder *b, uint32_t insn);
/** The loop of header @block: its number, or -1: it is none, or there is no room. */
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
/** Returns the value that @value stands for: follows SLICE_SAME links, and makes one of a PHI whose operands are all one value. */
uint32_t slice_resolve(struct slice_builder *b, uint32_t value);
bool slice_is_reject(const struct slice_builder *b, uint32_t value);
/** The value of @words registers from number @reg before instruction @at. */
uint32_t slice_read(struct slice_builder *b, unsigned reg, unsigned words, uint32_t at);
/** The guard of @insn, or of the branch at the end of a block. */
uint32_t slice_guard(struct slice_builder *b, uint32_t insn);

/* isa_slice_row.c */
/** What instruction @insn, whatever its guard, gives to register @reg and the next, if @words is 2. */
uint32_t slice_result(struct slice_builder *b, uint32_t insn, unsigned reg, unsigned words);
/** The address of a load or store. */
uint32_t slice_address(struct slice_builder *b, uint32_t insn);

/* isa_slice_finish.c */
/** @value as a node of the slices, without PHIs: 1 + its number; 0: it is rejected, and *@why and *@culprit say so. */
uint32_t slice_finish(struct slice_builder *b, uint32_t value, uint8_t *why, uint32_t *culprit);

#endif
