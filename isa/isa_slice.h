/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: the code that computes the addresses of a kernel's global loads and stores from the ids of block and
 * thread, sizes, constant parameters and pointers to arrays, cut out of the kernel as values that depend on one another.
 * emu/emu_predict.h evaluates them. Source: docs/explanation/address-slices.md.
 */
#ifndef ISA_SLICE_H
#define ISA_SLICE_H

#include "isa/isa.h"

enum { ISA_SLICE_ARRAYS = 5, ISA_SLICE_LOOPS = 64, ISA_SLICE_NODES = 65535 };

enum isa_slice_kind {
    ISA_SLICE_IMMEDIATE, /* value */
    ISA_SLICE_SPECIAL,   /* the special register value */
    ISA_SLICE_PARAM,     /* bits of constant bank 0 from byte value */
    ISA_SLICE_VARIABLE,  /* address of the object's variable op, and value */
    ISA_SLICE_ROW,       /* what instruction op computes from a, b, c and predicate r, in the order of its text */
    ISA_SLICE_PAIR,      /* a is the low word, b the high word */
    ISA_SLICE_LOW,       /* word of a */
    ISA_SLICE_HIGH,
    ISA_SLICE_NOT,       /* of predicate a */
    ISA_SLICE_SELECT,    /* predicate r ? a : b */
    ISA_SLICE_INDUCTION, /* a, and b more for each iteration that loop value has begun since */
    ISA_SLICE_KIND_COUNT
};
/** Which result of a row. */
enum isa_slice_part { ISA_SLICE_D, ISA_SLICE_P, ISA_SLICE_Q };
/** A value. Those that it is made of have lower numbers. */
struct isa_slice_node {
    uint8_t kind; /* enum isa_slice_kind */
    uint8_t bits; /* 1, 32 or 64 */
    uint8_t part; /* enum isa_slice_part of a row; a PARAM of 8 or 16 bits: how many, 128 more if they are signed */
    uint16_t op;  /* enum isa_op of a row; variable of an address */
    uint32_t mod; /* of a row: struct isa_insn's */
    uint32_t a, b, c, r;
    uint64_t value;
};
/** Sources that a row reads as a node, 0: none can be made of it. Rows of integers alone can be. */
enum { ISA_SLICE_A = 1, ISA_SLICE_B = 2, ISA_SLICE_C = 4, ISA_SLICE_R = 8 };
unsigned isa_slice_sources(enum isa_op op);
/** The same of any node: bit k says that a, b, c, r is a source. */
unsigned isa_slice_links(const struct isa_slice_node *n);

/** Why a site has no slice. */
enum isa_slice_reject {
    ISA_SLICE_ACCEPTED,
    ISA_SLICE_MERGE,      /* several values reach it that are no induction variable and no choice by a condition */
    ISA_SLICE_LOADED,     /* data-dependent: memory, other lanes, a clock, or a call gave it */
    ISA_SLICE_ARRAY,      /* it is made of no array's pointer, or of several */
    ISA_SLICE_OPERATION,  /* no integer arithmetic */
    ISA_SLICE_START,      /* a register that nothing in the function wrote: in a kernel it is zero */
    ISA_SLICE_FLOW,       /* a jump through a register */
    ISA_SLICE_EXEC,       /* the kernel writes exec: who writes registers is not followed */
    ISA_SLICE_SIZE,       /* too many values, or too deep */
    ISA_SLICE_MANY,       /* accepted, but the array is not one of those with most sites */
    ISA_SLICE_REJECT_COUNT
};

/** A global load or store of a kernel. */
struct isa_slice_site {
    uint32_t insn;    /* in the object's text */
    uint8_t bytes;    /* a lane */
    uint8_t reject;   /* enum isa_slice_reject */
    bool store;
    bool guarded;     /* not every thread gets there, or its guard may be false */
    uint8_t array;    /* index of the kernel's arrays; of an accepted one */
    uint32_t culprit; /* the instruction that is the reason, UINT32_MAX: none; of a rejected one */
    uint32_t node;    /* its address; of an accepted one */
    uint64_t loops;   /* loops that it is in and that its address changes in */
    uint64_t after;   /* of these: it comes after the loop's test, so it is not in the iteration that ends the loop */
};
/** What the address is made of. */
struct isa_slice_array {
    bool variable;  /* @which: variable of the object; else parameter of the kernel */
    uint32_t which;
    uint32_t sites; /* accepted ones */
};
struct isa_slice_loop {
    uint32_t header;       /* its first instruction */
    uint32_t outer;        /* loop around it whose values it uses or contains, UINT32_MAX: none */
    uint32_t *latches;     /* last instructions of the blocks that go back; ascending */
    uint32_t latch_count;
    bool tested;           /* it ends in the first iteration in which predicate @test is @ends, or before: */
    bool ends, only;       /* @only: there is no other way out */
    uint32_t test;
};
/** The slices of one kernel. */
struct isa_slices {
    uint32_t function;
    struct isa_slice_node *nodes;
    uint32_t node_count;
    struct isa_slice_loop *loops; /* outer ones first */
    uint32_t loop_count;
    struct isa_slice_array arrays[ISA_SLICE_ARRAYS]; /* most sites first */
    uint32_t array_count;
    struct isa_slice_site *sites; /* by instruction */
    uint32_t site_count;
};
/** Fills object->slices for each kernel. LW_ENOMEM: there are none then. */
enum lw_status isa_object_slice(struct isa_object *object, struct lw_error *err) LW_MUST_CHECK;
/** The slices of function @function, or NULL. */
const struct isa_slices *isa_object_slices_of(const struct isa_object *object, const struct isa_function *function);
/** All of them in words. */
void isa_slices_print(const struct isa_object *object, struct lw_sink *out);

#endif
