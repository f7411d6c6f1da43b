/* SPDX-License-Identifier: Apache-2.0 */
/* State that ptx_debug_varloc.c, ptx_debug_holders.c and ptx_debug_livevalues.c share while they locate the variables of one
 * function. */
#ifndef PTX_DEBUG_VARLOC_PRIV_H
#define PTX_DEBUG_VARLOC_PRIV_H

#include "ptx/debuginfo/ptx_debug_priv.h"

/** An instruction word, and the line of the text to which it belongs. */
struct ptx_line_word {
    uint32_t line, word;
};
/* Start addresses of the debug address ranges in which variables of translated code are (docs/reference/object.md). */
#define WINDOW_VECTOR (UINT64_C(0xf0) << 56)
#define WINDOW_SCALAR (UINT64_C(0xf2) << 56)
#define WINDOW_BUILTIN (UINT64_C(0xf5) << 56)
#define WINDOW_CONST (UINT64_C(0xf9) << 56)

enum { FIRST_SCALAR = 256, ROW_COUNT = FIRST_SCALAR + ISA_SREG_COUNT };
/** A holder of a PTX register that has a variable: physical registers, or the spill slot of a virtual register. */
struct ptx_holder {
    uint32_t reg, vreg; /* the PTX register, and the virtual register that the translator uses for it */
    uint16_t row, rows; /* first physical register, and number of registers; scalar registers are numbered from
                         * FIRST_SCALAR */
    bool spilled;       /* the holder is a spill slot, and rows is 0 */
    uint32_t offset;    /* if spilled: offset of the spill slot in the frame */
    uint32_t next;      /* 1 + index of the next holder of the same PTX register, or 0 after the last one */
    PTX_LIST(struct isa_span) spans; /* instruction words before which the holder has the PTX register's value */
};
/** State for the variables of one function. Words are instruction words, numbered from the function's first word. */
struct ptx_placing {
    struct ptx_unit *unit;
    struct ptx_job *job;
    struct ptx_module *module;
    struct ptx_debug *debug;
    struct ptx_function *fn;
    /* function: index of the function whose labels are in the text. base: number of the function's first word in the object.
     * count: number of words. */
    uint32_t function, base, count;
    struct ptx_line_word *by_line;  /* words sorted by line of the text */
    uint32_t *line_at;              /* by word: line of the text to which the word belongs */
    uint8_t *mark;                  /* by word: whether the word is marked */
    uint32_t *owner;                /* by word: index of its innermost scope's debug entry */
    uint32_t root;                  /* index of the function's debug entry */
    struct ptx_call_site *sites;    /* by debug entry, counted from @root: source location of a scope in its enclosing scope;
                                     * line 0 if it is unknown */
    uint32_t marked_from, marked_to; /* range of words that contains all marked words */
    const uint32_t *index;          /* by machine instruction: first word of the instruction */
    struct ptx_map reg_map;         /* maps the name of a PTX register to its index in the function */
    PTX_LIST(struct ptx_holder) holders;
    uint32_t *move_of;              /* by PTX register: see ptx_debug_find_moves() */
    uint8_t *wanted;                /* by PTX register: whether the register may hold a variable */
    uint32_t *origin;               /* by virtual register: see ptx_debug_origins() */
    uint32_t *holder_of;            /* by PTX register: 1 + index of the last holder of the register, or 0 if it has none */
    PTX_LIST(struct isa_var_location) locations; /* locations of the current variable */
    PTX_LIST(struct isa_span) spans;
    /* State for one location list. listed, by word: 0 if no entry of the list contains the word. Otherwise 2 * the number of
     * the entry that contains the word, counted from 1, plus 1 if the word is after the first line of the entry that has code.
     * at, by word: 1 + index of the holder that has the variable before the word; PTX_NONE if the variable is at another kind
     * of location; 0 if the variable has no location. */
    uint32_t *listed, *at;
    PTX_LIST(uint32_t) its; /* PTX registers that the location list names */
};
/** Entry of a location list: a range of lines of the text, and the position of an expression in .debug_loc. */
struct ptx_list_entry {
    uint32_t from, to;
    uint32_t at, size;
};

/** Takes @steps from the budget that limits the time for hostile input. Returns false if the budget is exhausted. */
static inline bool ptx_spend(struct ptx_placing *pl, uint64_t steps)
{
    if (pl->debug->budget < steps) {
        pl->debug->budget = 0; /* later calls that need fewer steps must fail, too: they would continue with incomplete
                                * results */
        return false;
    }
    pl->debug->budget -= steps;
    return true;
}
/** Returns the index of the function's PTX register @name, or PTX_NONE if there is no such register. */
uint32_t ptx_debug_register(struct ptx_placing *pl, const char *name);
/** Returns the location of a variable for the words [from, to), before each of which @holder has the variable. */
struct isa_var_location ptx_debug_holder_location(const struct ptx_placing *pl, const struct ptx_holder *holder,
                                        uint32_t from, uint32_t to);

/** Marks the words of lines [from, to) of the text; ptx_debug_clear_marks() clears the marks. */
void ptx_debug_mark_lines(struct ptx_placing *pl, uint32_t from, uint32_t to);
void ptx_debug_clear_marks(struct ptx_placing *pl);
/** Stores the line of the function's label to which @fixup refers in @line. Returns false if @fixup is not a label of the
 *  function. */
bool ptx_debug_line_of(const struct ptx_placing *pl, const struct ptx_fixup *fixup, uint32_t *line);
/** Copies @count elements of @size bytes to the object's arena. If @list is NULL, the memory is not initialised. */
void *ptx_debug_keep(struct ptx_placing *pl, const void *list, size_t count, size_t size);
/** Returns for each virtual register the PTX register whose value it has, or PTX_NONE. A virtual register that contains a
 *  parameter of a called function has the value of the PTX register into which the parameter is loaded. */
uint32_t *ptx_debug_origins(const struct ptx_placing *pl);
/** Fills pl->holders with all holders of the wanted PTX registers. */
void ptx_debug_find_holders(struct ptx_placing *pl);
/** Fills pl->move_of: for each PTX register whose only definition is a move, 1 + the index of this instruction; otherwise 0. */
void ptx_debug_find_moves(struct ptx_placing *pl);
/** Returns the symbol of the kernel parameter that debug entry @index describes, or PTX_NONE. @root: the function's entry. */
uint32_t ptx_debug_param(const struct ptx_placing *pl, uint32_t root, uint32_t index);
/** Returns the PTX register of which @reg is a copy if each of the two registers is written once, otherwise PTX_NONE. */
uint32_t ptx_debug_copied_from(const struct ptx_placing *pl, uint32_t reg);
/** Returns true if a PTX register is written once, with a literal or with a copy of such a register. Stores the literal in
 *  *@value. The allocator rematerialises such a literal, so there may be no physical register that contains it. */
bool ptx_debug_literal(const struct ptx_placing *pl, uint32_t reg, uint64_t *value);
/** Stores in @location the location of byte @offset of the function's __local_depot variable. LLVM stores variables that are in
 *  memory in __local_depot. Returns false if the function has no __local_depot. */
bool ptx_debug_frame_location(struct ptx_placing *pl, uint64_t offset, struct isa_var_location *location);

/** Processes entry number @n of a location list. The caller has marked the words of the entry's lines. */
void ptx_debug_list_entry(struct ptx_placing *pl, const struct ptx_list_entry *entry, uint32_t n);
/** Corrects the locations of a variable: adds locations that its location list omits, and replaces wrong locations. Called after
 *  the last entry of the list. */
void ptx_debug_gaps(struct ptx_placing *pl);

#endif
