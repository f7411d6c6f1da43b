/* SPDX-License-Identifier: Apache-2.0 */
/* Address slices. A slice is the part of a kernel that computes the address of one of its global loads or stores from block and thread ids, sizes,
 * constant parameters and pointers to arrays. It is stored as a graph of values. emu/emu_predict.h evaluates slices. Source:
 * docs/explanation/address-slices.md. */
#ifndef ISA_SLICE_H
#define ISA_SLICE_H

#include "isa/isa.h"

enum { ISA_SLICE_ARRAYS = 5, ISA_SLICE_LOOPS = 64, ISA_SLICE_NODES = 65535 };

enum isa_slice_kind {
    ISA_SLICE_IMMEDIATE, /* the constant `value` */
    ISA_SLICE_SPECIAL,   /* the special register with number `value` */
    ISA_SLICE_PARAM,     /* bits of constant bank 0 from byte offset `value` */
    ISA_SLICE_VARIABLE,  /* address of the object's variable `op`, plus `value` */
    ISA_SLICE_ROW,       /* result of instruction `op` for sources a, b, c and predicate r, in the order of its text */
    ISA_SLICE_PAIR,      /* 64 bits: a is the low word, b the high word */
    ISA_SLICE_LOW,       /* low word of a */
    ISA_SLICE_HIGH,
    ISA_SLICE_NOT,       /* complement of predicate a */
    ISA_SLICE_SELECT,    /* a if predicate r is true, else b */
    ISA_SLICE_INDUCTION, /* a, plus b for each further iteration begun by loop `value` */
    ISA_SLICE_KIND_COUNT
};
/** Selects a result of a row: register D, predicate P or predicate Q. */
enum isa_slice_part { ISA_SLICE_D, ISA_SLICE_P, ISA_SLICE_Q };
/** A value. The values that it depends on have lower numbers. */
struct isa_slice_node {
    uint8_t kind; /* enum isa_slice_kind */
    uint8_t bits; /* 1, 32 or 64 */
    uint8_t part; /* enum isa_slice_part of a row; for a PARAM of 8 or 16 bits the number of its bits, plus 128 if it is
                   * signed */
    uint16_t op;  /* enum isa_op of a row; index of a variable */
    uint32_t mod; /* modifiers of a row, as in struct isa_insn */
    uint32_t a, b, c, r;
    uint64_t value;
};
/** Returns which sources of a row are read as nodes; 0: no node can represent the row. Only rows of integers can be nodes. */
enum { ISA_SLICE_A = 1, ISA_SLICE_B = 2, ISA_SLICE_C = 4, ISA_SLICE_R = 8 };
unsigned isa_slice_sources(enum isa_op op);
/** Returns which of a, b, c, r are sources of any node: bit k for the k-th. */
unsigned isa_slice_links(const struct isa_slice_node *n);

/** Reasons why a site has no slice. */
enum isa_slice_reject {
    ISA_SLICE_ACCEPTED,
    ISA_SLICE_MERGE,      /* the address depends on a join of several values that is neither an induction variable nor a
                           * select by a condition */
    ISA_SLICE_LOADED,     /* the address depends on data: memory, other lanes, a clock, or the result of a call */
    ISA_SLICE_ARRAY,      /* the address depends on no array's pointer, or on several */
    ISA_SLICE_OPERATION,  /* an operation other than integer arithmetic computes the address */
    ISA_SLICE_START,      /* the address depends on a register that no instruction of the function writes; in a kernel
                           * the register would be zero */
    ISA_SLICE_FLOW,       /* the function jumps through a register */
    ISA_SLICE_EXEC,       /* the kernel writes exec, so definitions of registers cannot be followed */
    ISA_SLICE_SIZE,       /* the slice has too many values, or is nested too deeply */
    ISA_SLICE_MANY,       /* the site has a slice, but its array is not among the ISA_SLICE_ARRAYS arrays with most
                           * sites */
    ISA_SLICE_REJECT_COUNT
};

/** Global load or store of a kernel: a site of the analysis. */
struct isa_slice_site {
    uint32_t insn;    /* index into the object's text */
    uint8_t bytes;    /* bytes per lane */
    uint8_t reject;   /* enum isa_slice_reject */
    bool store;
    bool guarded;     /* some threads do not reach the site, or its guard may be false */
    uint8_t array;    /* index into the kernel's arrays; valid if accepted */
    uint32_t culprit; /* the instruction that caused the rejection; UINT32_MAX: there is none */
    uint32_t node;    /* node of its address; valid if accepted */
    uint64_t loops;   /* bit set of the loops that contain the site and in which its address changes */
    uint64_t after;   /* bit set of the loops in `loops` whose exit test precedes the site: the site does not execute in
                       * the iteration that ends the loop */
};
/** Array whose pointer the address depends on. */
struct isa_slice_array {
    bool variable;  /* @which is a variable of the object; false: a parameter of the kernel */
    uint32_t which;
    uint32_t sites; /* number of accepted sites */
};
struct isa_slice_loop {
    uint32_t header;       /* first instruction of the loop */
    uint32_t outer;        /* innermost enclosing loop on which slices depend; UINT32_MAX: none */
    uint32_t *latches;     /* last instructions of the blocks that jump back to the header; ascending */
    uint32_t latch_count;
    bool tested;           /* the loop ends no later than in the first iteration in which predicate @test equals
                            * @ends */
    bool ends, only;       /* only: the loop has no other exit */
    uint32_t test;
};
/** The slices of one kernel. */
struct isa_slices {
    uint32_t function;
    struct isa_slice_node *nodes;
    uint32_t node_count;
    struct isa_slice_loop *loops; /* outer loops precede inner ones */
    uint32_t loop_count;
    struct isa_slice_array arrays[ISA_SLICE_ARRAYS]; /* most sites first */
    uint32_t array_count;
    struct isa_slice_site *sites; /* sorted by instruction */
    uint32_t site_count;
};
/** Fills object->slices for each kernel. After LW_ENOMEM there are no slices. */
enum lw_status isa_object_slice(struct isa_object *object, struct lw_error *err) LW_MUST_CHECK;
/** Returns the slices of function @function, or NULL. */
const struct isa_slices *isa_object_slices_of(const struct isa_object *object, const struct isa_function *function);
/** The name of a reason, enum isa_slice_reject: "data-dependent". */
const char *isa_slice_reject_name(unsigned reject);
/** Prints all slices of @object. */
void isa_slices_print(const struct isa_object *object, struct lw_sink *out);

#endif
