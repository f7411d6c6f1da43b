/* SPDX-License-Identifier: Apache-2.0 */
/* State for a variable in the local memory of an optimised function. ptx_debug_memoryuses.c finds the assignments to the variable
 * in the source, and the stores of the code. ptx_debug_notememory.c compares the assignments with the stores. */
#ifndef PTX_DEBUG_MEMORY_PRIV_H
#define PTX_DEBUG_MEMORY_PRIV_H

#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

struct ptx_memory_state;
/** Address in local memory that a register contains, as an offset in __local_depot. If @exact is set, the offset is @low.
 *  Otherwise the offset is unknown, but the address is in a variable that contains one of the offsets from @low to @high. */
struct ptx_note_address {
    uint8_t kind; /* 0: the register contains no address in local memory */
    bool exact;
    int64_t low, high;
};
/** Bytes [first, end) of the variable. */
struct ptx_memory_bytes {
    uint32_t first, end;
};
/** An assignment to the variable in the source. If a use of the variable gives its address to other code, the use counts as an
 *  assignment to the whole variable. */
struct ptx_memory_use {
    uint32_t first, last;   /* first and last line of the source statement */
    uint32_t reached, begin; /* `reached` and `begins` of struct ptx_noted_line, or 0 if they are unknown */
    struct ptx_memory_bytes bytes;
    uint32_t pieces;        /* bit set of the pieces of the variable that overlap the bytes */
    bool computed;          /* the assignment changes only one array element in the bytes, and the index of the element is
                             * unknown */
    bool unrolled;          /* the source assigns in a loop, but the code does not have exactly one store in a loop for this
                             * assignment */
    uint32_t unstored;      /* bit set of the pieces for which the assignment has no store */
    bool missing;           /* the code has no store for the assignment */
    uint32_t loop, loop_end; /* first and last line of the innermost loop around the assignment, or 0 if there is no loop */
    bool jumps;             /* an iteration of the innermost loop may skip statements */
};
/** A statement of PTX that stores to the variable, or may store to it. */
struct ptx_memory_store {
    uint32_t statement;
    struct ptx_memory_bytes bytes;
    bool exact;    /* the statement changes exactly the bytes */
    bool combined; /* the statement stores a vector */
    bool wild;     /* the statement may store to other variables, too, or is conditional */
};
struct ptx_memory {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    const struct ptx_noted_variable *variable; /* notes of the variable, or NULL if the variable has no notes */
    const struct ptx_noted_lines *lines;
    uint32_t die, frame; /* debug entry of the variable, and of the function or inlined call that contains it */
    bool is_body;     /* the variable's scope is the whole body of a function that is not inlined */
    uint64_t offset;  /* offset of the variable in the function's local memory */
    uint32_t size;    /* size of the variable in bytes */
    PTX_LIST(struct ptx_memory_use) uses;
    PTX_LIST(struct ptx_memory_store) stores;
    uint32_t gives_away; /* first line on which other code may get the variable's address */
    struct ptx_noted_pieces pieces;
    uint32_t *line;   /* by statement: line of the statement in the variable's function, or 0 if the statement belongs to
                       * other code */
    struct ptx_memory_state *in; /* by block: state at the start of the block */
    uint32_t *values; /* by piece: index of the value that represents the memory of the piece */
};

/** Finds the stores to the variable. */
void ptx_debug_memory_stores(struct ptx_memory *m);
/** Reads the assignments to the variable, and m->gives_away, from the text of a note. Returns false if the text is invalid. */
bool ptx_debug_memory_uses(struct ptx_memory *m, struct ptx_name text);
/** Returns the size in bytes of the type of debug entry @die, or 0 if the size is unknown. */
uint64_t ptx_debug_memory_size(const struct ptx_debug *debug, uint32_t die);
/** Returns the number that is the value of an entry's attribute @name, or @none if the attribute is missing or is not a
 *  number. */
uint64_t ptx_debug_memory_number(const struct ptx_debug *debug, uint32_t die, unsigned name, uint64_t none);

#endif
