/* SPDX-License-Identifier: Apache-2.0 */
/* One function whose variables are placed: ptx_debug_varloc.c, ptx_debug_holders.c, ptx_debug_livevalues.c. */
#ifndef PTX_DEBUG_VARLOC_PRIV_H
#define PTX_DEBUG_VARLOC_PRIV_H

#include "ptx/debuginfo/ptx_debug_priv.h"

struct ptx_line_word {
    uint32_t line, word;
};
/* The debugger's windows that translated code's variables are in (docs/reference/object.md). */
#define WINDOW_VECTOR (UINT64_C(0xf0) << 56)
#define WINDOW_SCALAR (UINT64_C(0xf2) << 56)
#define WINDOW_BUILTIN (UINT64_C(0xf5) << 56)
#define WINDOW_CONST (UINT64_C(0xf9) << 56)

enum { FIRST_SCALAR = 256, ROW_COUNT = FIRST_SCALAR + ISA_SREG_COUNT };
/** A virtual register that stands for a PTX register which holds a variable. */
struct ptx_holder {
    uint32_t reg, vreg;
    uint16_t row, rows; /* scalar registers: after the vector rows, from FIRST_SCALAR */
    bool spilled;
    uint32_t offset; /* then: in the frame; rows is 0 */
    uint32_t next;   /* 1 + another one of the same PTX register */
    PTX_LIST(struct isa_span) spans; /* words of the function before which it has its value */
};
struct ptx_placing {
    struct ptx_unit *unit;
    struct ptx_job *job;
    struct ptx_module *module;
    struct ptx_debug *debug;
    struct ptx_function *fn;
    uint32_t function, base, count; /* words */
    struct ptx_line_word *by_line;           /* sorted */
    uint32_t *line_at;              /* by word */
    uint8_t *mark;                  /* by word */
    uint32_t *owner;                /* by word: the innermost scope so far */
    uint32_t marked_from, marked_to;
    const uint32_t *index;
    struct ptx_map reg_map; /* the function's registers by name */
    PTX_LIST(struct ptx_holder) holders;
    uint32_t *move_of;
    uint8_t *wanted;                /* by PTX register: it may hold a variable */
    uint32_t *holder_of;            /* by PTX register: 1 + its last holder, or 0 */
    PTX_LIST(struct isa_var_location) locations;
    PTX_LIST(struct isa_span) spans;
    /* Of one list, by words: twice the number of the entry that has the word, from 1, odd where it has words before;
     * 1 + the holder where the variable is before it, 0: none has it, PTX_NONE: it is elsewhere. */
    uint32_t *listed, *at;
    PTX_LIST(uint32_t) its; /* its registers */
};
/** An entry of a location list: lines and an expression. */
struct ptx_list_entry {
    uint32_t from, to;
    uint32_t at, size;
};

/** False: the steps that hostile input may cost are used up. */
static inline bool ptx_spend(struct ptx_placing *pl, uint64_t steps)
{
    if (pl->debug->budget < steps) {
        pl->debug->budget = 0; /* or cheaper work would continue with half of the facts */
        return false;
    }
    pl->debug->budget -= steps;
    return true;
}
/** A register of the function by its name, or PTX_NONE. */
uint32_t ptx_debug_register(struct ptx_placing *pl, const char *name);
/** Words of the function in which a holder has the variable. */
struct isa_var_location ptx_debug_holder_location(const struct ptx_placing *pl, const struct ptx_holder *holder,
                                        uint32_t from, uint32_t to);

void ptx_debug_clear_marks(struct ptx_placing *pl);
/** Fill pl->holders with where the wanted registers are. */
void ptx_debug_find_holders(struct ptx_placing *pl);
/** Fill pl->move_of: by register 1 + the move that is its only definition, or 0. */
void ptx_debug_find_moves(struct ptx_placing *pl);
/** Symbol of the kernel's parameter that entry @index is, below its function's @root; PTX_NONE: none. */
uint32_t ptx_debug_param(const struct ptx_placing *pl, uint32_t root, uint32_t index);
/** The register that @reg is a copy of, where both are written once; PTX_NONE: none. */
uint32_t ptx_debug_copied_from(const struct ptx_placing *pl, uint32_t reg);
/** A register that is written once, with a literal or a copy of such a register: the allocator rather
 *  repeats the literal than keep the register. */
bool ptx_debug_literal(const struct ptx_placing *pl, uint32_t reg, uint64_t *value);
/** @offset in the local memory that LLVM has given the function; false: it has none. */
bool ptx_debug_frame_location(struct ptx_placing *pl, uint64_t offset, struct isa_var_location *location);

/** The words of entry @n of a list are marked. */
void ptx_debug_list_entry(struct ptx_placing *pl, const struct ptx_list_entry *entry, uint32_t n);
/** After the last entry: places that the list does not give, or gives wrongly. */
void ptx_debug_gaps(struct ptx_placing *pl);

#endif
