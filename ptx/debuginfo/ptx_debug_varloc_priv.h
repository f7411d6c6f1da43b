/* SPDX-License-Identifier: Apache-2.0 */
/* State for locating the variables of one function: ptx_debug_varloc.c, ptx_debug_holders.c, ptx_debug_livevalues.c. */
#ifndef PTX_DEBUG_VARLOC_PRIV_H
#define PTX_DEBUG_VARLOC_PRIV_H

#include "ptx/debuginfo/ptx_debug_priv.h"

struct ptx_line_word {
    uint32_t line, word;
};
/* Debug windows that contain variables of translated code (docs/reference/object.md). */
#define WINDOW_VECTOR (UINT64_C(0xf0) << 56)
#define WINDOW_SCALAR (UINT64_C(0xf2) << 56)
#define WINDOW_BUILTIN (UINT64_C(0xf5) << 56)
#define WINDOW_CONST (UINT64_C(0xf9) << 56)

enum { FIRST_SCALAR = 256, ROW_COUNT = FIRST_SCALAR + ISA_SREG_COUNT };
/** Virtual register for a PTX register that holds a variable. */
struct ptx_holder {
    uint32_t reg, vreg;
    uint16_t row, rows; /* first physical register and number of them; scalar registers are numbered from
                         * FIRST_SCALAR */
    bool spilled;
    uint32_t offset; /* if spilled: offset in the frame; rows is 0 */
    uint32_t next;   /* 1 + the next holder of the same PTX register */
    PTX_LIST(struct isa_span) spans; /* words of the function before which the physical register has the value */
};
struct ptx_placing {
    struct ptx_unit *unit;
    struct ptx_job *job;
    struct ptx_module *module;
    struct ptx_debug *debug;
    struct ptx_function *fn;
    uint32_t function, base, count; /* count: number of words */
    struct ptx_line_word *by_line;           /* words sorted by line of the text */
    uint32_t *line_at;              /* by word: line of the text to which the word belongs */
    uint8_t *mark;                  /* by word: whether the word is marked */
    uint32_t *owner;                /* by word: its innermost scope */
    uint32_t root;                  /* entry of the function */
    struct ptx_call_site *sites;    /* by entry, counted from @root: location of a scope in the scope around it; line 0:
                                     * unknown */
    uint32_t marked_from, marked_to;
    const uint32_t *index;
    struct ptx_map reg_map; /* the function's registers by name */
    PTX_LIST(struct ptx_holder) holders;
    uint32_t *move_of;
    uint8_t *wanted;                /* by PTX register: whether it may hold a variable */
    uint32_t *holder_of;            /* by PTX register: 1 + the last holder of the register, or 0 */
    PTX_LIST(struct isa_var_location) locations;
    PTX_LIST(struct isa_span) spans;
    /* State for one location list, by word. listed: twice the number, from 1, of the entry that contains the word; odd
     * if the entry also contains the preceding word. at: 1 + the holder that has the variable before the word, 0: none,
     * PTX_NONE: another location. */
    uint32_t *listed, *at;
    PTX_LIST(uint32_t) its; /* registers of the variable */
};
/** Entry of a location list: lines and an expression. */
struct ptx_list_entry {
    uint32_t from, to;
    uint32_t at, size;
};

/** Takes @steps from the budget that limits the time for hostile input; returns false if it is exhausted. */
static inline bool ptx_spend(struct ptx_placing *pl, uint64_t steps)
{
    if (pl->debug->budget < steps) {
        pl->debug->budget = 0; /* the flag prevents cheaper steps from continuing with incomplete results */
        return false;
    }
    pl->debug->budget -= steps;
    return true;
}
/** Returns a register of the function by its name, or PTX_NONE. */
uint32_t ptx_debug_register(struct ptx_placing *pl, const char *name);
/** Returns the location for words of the function in which a holder has the variable. */
struct isa_var_location ptx_debug_holder_location(const struct ptx_placing *pl, const struct ptx_holder *holder,
                                        uint32_t from, uint32_t to);

/** Marks the words of lines [from, to) of the text; ptx_debug_clear_marks() clears the marks. */
void ptx_debug_mark_lines(struct ptx_placing *pl, uint32_t from, uint32_t to);
void ptx_debug_clear_marks(struct ptx_placing *pl);
/** Gets the line of a label of this function; returns false for another address. */
bool ptx_debug_line_of(const struct ptx_placing *pl, const struct ptx_fixup *fixup, uint32_t *line);
/** Copies @count elements to the object's arena; @list NULL: the copy is not initialised. */
void *ptx_debug_keep(struct ptx_placing *pl, const void *list, size_t count, size_t size);
/** Fills pl->holders with the locations of the wanted registers. */
void ptx_debug_find_holders(struct ptx_placing *pl);
/** Fills pl->move_of: by register, 1 + the move that is its only definition, or 0. */
void ptx_debug_find_moves(struct ptx_placing *pl);
/** Returns the symbol of the kernel parameter that entry @index describes, below its function's @root; PTX_NONE:
 *  none. */
uint32_t ptx_debug_param(const struct ptx_placing *pl, uint32_t root, uint32_t index);
/** Returns the register of which @reg is a copy if both are written once; PTX_NONE: none. */
uint32_t ptx_debug_copied_from(const struct ptx_placing *pl, uint32_t reg);
/** Returns true for a register that is written once, with a literal or a copy of such a register: the allocator
 *  rematerialises the literal instead of keeping the register. */
bool ptx_debug_literal(const struct ptx_placing *pl, uint32_t reg, uint64_t *value);
/** Returns the location @offset in the function's local memory of LLVM; returns false if the function has none. */
bool ptx_debug_frame_location(struct ptx_placing *pl, uint64_t offset, struct isa_var_location *location);

/** Processes entry @n of a list, whose words are marked. */
void ptx_debug_list_entry(struct ptx_placing *pl, const struct ptx_list_entry *entry, uint32_t n);
/** Called after the last entry: finds locations that the list omits or gives incorrectly. */
void ptx_debug_gaps(struct ptx_placing *pl);

#endif
