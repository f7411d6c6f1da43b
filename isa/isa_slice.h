/* SPDX-License-Identifier: Apache-2.0 */
/* Address slices. The address slice of a global load or store is the part of its kernel that computes the address, from block and
 * thread ids, sizes, constant parameters, and pointers to arrays. An address slice is stored as a graph of values, which
 * emu/emu_predict.h evaluates. Source: docs/explanation/address-slices.md. */
#ifndef ISA_SLICE_H
#define ISA_SLICE_H

#include "isa/isa.h"

enum { ISA_SLICE_ARRAYS = 5, ISA_SLICE_LOOPS = 64, ISA_SLICE_NODES = 65535 };

enum isa_slice_kind {
    ISA_SLICE_IMMEDIATE, /* constant `value` */
    ISA_SLICE_SPECIAL,   /* special register number `value` */
    ISA_SLICE_PARAM,     /* bits of constant bank 0 from byte offset `value` */
    ISA_SLICE_VARIABLE,  /* address of the object's variable number `op`, plus `value` */
    ISA_SLICE_ROW,       /* result of instruction `op` for the sources a, b, c and predicate r, in the order of the assembly
                          * text */
    ISA_SLICE_PAIR,      /* 64-bit value with low word a and high word b */
    ISA_SLICE_LOW,       /* low word of a */
    ISA_SLICE_HIGH,
    ISA_SLICE_NOT,       /* complement of predicate a */
    ISA_SLICE_SELECT,    /* a if predicate r is true, otherwise b */
    ISA_SLICE_INDUCTION, /* a at the first iteration of loop `value`; each further iteration adds b */
    ISA_SLICE_KIND_COUNT
};
/** Result of an instruction: register D, predicate P or predicate Q. */
enum isa_slice_part { ISA_SLICE_D, ISA_SLICE_P, ISA_SLICE_Q };
/** A node of the graph: a value. The nodes on which it depends have lower numbers. */
struct isa_slice_node {
    uint8_t kind; /* enum isa_slice_kind */
    uint8_t bits; /* 1, 32 or 64 */
    uint8_t part; /* kind ROW: enum isa_slice_part; kind PARAM: number of bits, if the parameter has 8 or 16, plus 128 if it is
                   * signed */
    uint16_t op;  /* kind ROW: enum isa_op. Kind VARIABLE: number of the variable */
    uint32_t mod; /* kind ROW: modifiers, as in struct isa_insn */
    uint32_t a, b, c, r;
    uint64_t value;
};
/** Bits for the sources a, b, c and r of a node. isa_slice_sources() returns which of these sources a node for instruction @op
 *  has, or 0 if no node can represent the instruction. Nodes represent only integer instructions. */
enum { ISA_SLICE_A = 1, ISA_SLICE_B = 2, ISA_SLICE_C = 4, ISA_SLICE_R = 8 };
unsigned isa_slice_sources(enum isa_op op);
/** Returns the set (ISA_SLICE_A to ISA_SLICE_R) of those members a, b, c and r of @n that are numbers of nodes. @n may be of any
 *  kind. */
unsigned isa_slice_links(const struct isa_slice_node *n);

/** Reasons why a site has no address slice. */
enum isa_slice_reject {
    ISA_SLICE_ACCEPTED,
    ISA_SLICE_MERGE,      /* the address depends on a value that comes from several definitions and is neither an induction
                           * variable nor a select by a condition */
    ISA_SLICE_LOADED,     /* the address depends on data: memory, other lanes, a clock, or the result of a call */
    ISA_SLICE_ARRAY,      /* the address depends on no pointer to an array, or on several */
    ISA_SLICE_OPERATION,  /* an instruction other than integer arithmetic contributes to the address */
    ISA_SLICE_START,      /* the address depends on a register that no instruction of the function writes (in a kernel it would be
                           * zero) */
    ISA_SLICE_FLOW,       /* the function has an indirect branch */
    ISA_SLICE_EXEC,       /* the kernel writes exec, so it is not known which definition of a register a lane reads */
    ISA_SLICE_SIZE,       /* the address slice has too many nodes, or the chains of nodes that depend on each other are too
                           * long */
    ISA_SLICE_MANY,       /* the site has an address slice, but ISA_SLICE_ARRAYS other arrays have more sites */
    ISA_SLICE_REJECT_COUNT
};

/** A site: a global load or store of a kernel. */
struct isa_slice_site {
    uint32_t insn;    /* index of the instruction in the object's text */
    uint8_t bytes;    /* bytes that each lane accesses */
    uint8_t reject;   /* enum isa_slice_reject */
    bool store;
    bool guarded;     /* some threads do not reach the site, or its guard may be false */
    uint8_t array;    /* index in the kernel's arrays; valid if the site is accepted */
    uint32_t culprit; /* instruction because of which the site was rejected, or UINT32_MAX if there is none */
    uint32_t node;    /* node of the address; valid if the site is accepted */
    uint64_t loops;   /* set of the loops that contain the site and whose iterations change its address */
    uint64_t after;   /* those loops of `loops` whose exit test precedes the site, so that the site is not executed in the
                       * iteration that ends the loop */
};
/** An array: a pointer on which addresses depend. */
struct isa_slice_array {
    bool variable;  /* true: variable @which of the object; false: parameter @which of the kernel */
    uint32_t which;
    uint32_t sites; /* number of accepted sites that access it */
};
struct isa_slice_loop {
    uint32_t header;       /* first instruction of the loop */
    uint32_t outer;        /* innermost loop that contains this loop and on which address slices depend, or UINT32_MAX if there is
                            * none */
    uint32_t *latches;     /* last instructions of the blocks that jump back to the header; ascending */
    uint32_t latch_count;
    bool tested;           /* the loop ends no later than in the first iteration in which the predicate with node `test` equals
                            * `ends` */
    bool ends, only;       /* only: the loop has no other exit */
    uint32_t test;
};
/** The address slices of one kernel. */
struct isa_slices {
    uint32_t function;
    struct isa_slice_node *nodes;
    uint32_t node_count;
    struct isa_slice_loop *loops; /* outer loops precede inner ones */
    uint32_t loop_count;
    struct isa_slice_array arrays[ISA_SLICE_ARRAYS]; /* sorted by number of sites, largest first */
    uint32_t array_count;
    struct isa_slice_site *sites; /* sorted by instruction */
    uint32_t site_count;
};
/** Fills object->slices for each kernel. If the result is LW_ENOMEM, the object has no address slices. */
enum lw_status isa_object_slice(struct isa_object *object, struct lw_error *err) LW_MUST_CHECK;
/** Returns the address slices of the function @function, or NULL if it has none. */
const struct isa_slices *isa_object_slices_of(const struct isa_object *object, const struct isa_function *function);
/** Returns the name of a reason, enum isa_slice_reject, such as "data-dependent". */
const char *isa_slice_reject_name(unsigned reject);
/** Prints all address slices of @object. */
void isa_slices_print(const struct isa_object *object, struct lw_sink *out);

#endif
