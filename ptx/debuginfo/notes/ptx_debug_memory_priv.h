/* SPDX-License-Identifier: Apache-2.0 */
/* A variable in the local memory of an optimised function, its assignments in the source and the stores of the code.
 * ptx_debug_memoryuses.c finds them, ptx_debug_notememory.c compares them. */
#ifndef PTX_DEBUG_MEMORY_PRIV_H
#define PTX_DEBUG_MEMORY_PRIV_H

#include "ptx/debuginfo/notes/ptx_debug_notes_priv.h"

struct ptx_memory_state;
/** Address in local memory that a register has: @low plus an offset if @exact, else an address in an object in which
 *  an offset from @low to @high is. */
struct ptx_note_address {
    uint8_t kind; /* 0: no such address */
    bool exact;
    int64_t low, high;
};
/** Bytes [first, end) of the variable. */
struct ptx_memory_bytes {
    uint32_t first, end;
};
struct ptx_memory_use { /* an assignment */
    uint32_t first, last;   /* lines of the statement */
    uint32_t reached, begin; /* the block of ptx_noted_line, 0: unknown */
    struct ptx_memory_bytes bytes;
    uint32_t pieces;        /* bit for each piece of the bytes */
    bool computed;          /* one element of the bytes, of unknown index */
    bool unrolled;          /* in a loop, without exactly one store in a loop of the code */
    bool missing;           /* no store of the code is for it */
    uint32_t loop, loop_end; /* lines of the innermost loop around it, 0: none */
    bool jumps;             /* an iteration of that loop may leave out statements */
};
struct ptx_memory_store { /* a store to the variable, or possibly to it */
    uint32_t statement;
    struct ptx_memory_bytes bytes;
    bool exact;
    bool combined; /* of a vector */
    bool wild; /* also to other variables, or conditional */
};
struct ptx_memory {
    struct ptx_placing *pl;
    struct ptx_noting *noting;
    const struct ptx_noted_variable *variable; /* NULL: there are no debug values */
    const struct ptx_noted_lines *lines;
    uint32_t die, frame;
    bool is_body;     /* its scope is the whole body of a function that is not inlined */
    uint64_t offset;  /* of the variable in the function's local memory */
    uint32_t size;
    PTX_LIST(struct ptx_memory_use) uses;
    PTX_LIST(struct ptx_memory_store) stores;
    uint32_t gives_away; /* first line on which other code may have the address */
    struct ptx_noted_pieces pieces;
    uint32_t *line;   /* by statement: its line in the variable's function, 0: other code */
    struct ptx_memory_state *in; /* by block */
    uint32_t *values; /* values of the pieces in memory */
};

/** Finds the stores to the variable. */
void ptx_debug_memory_stores(struct ptx_memory *m);
/** Reads the uses of the variable; returns false if they are not known. */
bool ptx_debug_memory_uses(struct ptx_memory *m, struct ptx_name text);
/** Returns the size of the type of entry @die, 0: unknown. */
uint64_t ptx_debug_memory_size(const struct ptx_debug *debug, uint32_t die);
/** Returns the number that an attribute of an entry has, or @none. */
uint64_t ptx_debug_memory_number(const struct ptx_debug *debug, uint32_t die, unsigned name, uint64_t none);

#endif
