/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of variables in optimised code, from the comments that ptx_values.c has written into the PTX:
 * ptx_debug_notes.c reads them, ptx_debug_noteflow.c finds which value holds at which statement,
 * ptx_debug_notevalues.c where that value is, in the words of the function.
 */
#ifndef PTX_DEBUG_NOTES_PRIV_H
#define PTX_DEBUG_NOTES_PRIV_H

#include "ptx/debuginfo/ptx_debug_varloc_priv.h"

/* PTX_NOTE_SAME: so many values are known to be the same: of a variable, and of registers that it was moved to. */
enum { PTX_NOTE_OPERANDS = 4, PTX_NOTE_PIECES = 32, PTX_NOTE_SAME = 3 };

enum ptx_note_kind { PTX_NOTE_NONE, PTX_NOTE_REG, PTX_NOTE_CONST, PTX_NOTE_FRAME };
struct ptx_note_operand {
    uint8_t kind; /* enum ptx_note_kind */
    uint8_t bits; /* of a constant that are known: 64 of an integer */
    uint32_t reg;
    uint64_t value;
};
/** What a note says that a variable, or a piece of it, is. */
struct ptx_noted_value {
    const char *expression; /* of LLVM, without its brackets; borrowed from the text */
    uint32_t expression_size;
    struct ptx_note_operand operand[PTX_NOTE_OPERANDS];
    uint8_t operand_count;  /* 0: the value is not known */
    bool is_launch;         /* of a kernel's parameter, or a piece of it: what it was launched with */
    bool if_parameter;      /* is_launch of a kernel's parameter, else it is not known */
    uint32_t first, bytes;  /* the piece; bytes 0: the whole variable */
};
struct ptx_noted_event {
    uint32_t at; /* of a note: twice the number of statements before it; of a statement that writes: 2 * its index + 1 */
    uint32_t block, order;
    uint32_t value;
    bool doubts;   /* no note: nothing is known from here on (ptx_debug_notedoubt.c) */
    bool denied;   /* what it says is wrong */
    bool crosses;  /* the source assigns before it: what is known already is not what it says */
    bool restates; /* the source does not assign here: the variable has had this value, or it is not known */
    bool kills;  /* @value is a register that is written: what uses it holds no longer */
};
/** A line that may assign to a variable; up to @reached, a line, what is after it has passed it. 0: not so. */
struct ptx_noted_line {
    uint32_t line, reached;
};
/** Those of a variable, with the lines of its declaration and of the end of its scope, and those of the function around
 *  it; 0: not known. */
struct ptx_noted_lines {
    uint32_t declared, end, function, function_end;
    bool once; /* in a call of its function it is assigned once */
    PTX_LIST(struct ptx_noted_line) loops; /* of its scope, an outer one first: first and last line */
    struct ptx_noted_line *at;
    size_t count, capacity;
};
struct ptx_noted_variable {
    const char *key; /* "NAME LINE CALLS" */
    uint32_t key_size, lines; /* lines: 1 + its index in the list of lines, 0: none are known */
    PTX_LIST(struct ptx_noted_event) notes;
};
/** Statements [from, to) of the text before which a variable is what @value says: PTX_NOTE_SAME indices of
 *  values for each piece, each of them right; PTX_NONE: no more are known. */
struct ptx_noted_range {
    uint32_t from, to;
    const uint32_t *value;
};
/** One variable, ready to be located. */
struct ptx_noted_pieces {
    uint32_t count;
    uint32_t edge[PTX_NOTE_PIECES + 1]; /* bytes of the variable; of a whole one 0 and 0 */
    PTX_LIST(struct ptx_noted_range) ranges;
};
struct ptx_noted_block {
    uint32_t first, end; /* statements */
    PTX_LIST(uint32_t) succ;
};
/** The notes of a function. */
struct ptx_noting {
    PTX_LIST(struct ptx_noted_value) values;
    PTX_LIST(struct ptx_noted_variable) variables;
    struct ptx_map by_key;
    struct ptx_map lines_by_name;
    PTX_LIST(struct ptx_noted_lines) lines;
    struct ptx_map by_register; /* values that are a register, or a piece of it */
    PTX_LIST(struct ptx_noted_block) blocks;
    uint32_t *block_of;      /* by statement */
    uint32_t *first_write, *writes; /* of register r: writes[first_write[r]] up to writes[first_write[r + 1]], statements */
    uint32_t *seen, generation;     /* by block: where a search has been */
    uint8_t *entries;               /* by variable: entries of the sections that it may be, at most 2 are counted */
    /* ptx_debug_notevalues.c */
    uint32_t *first_word, *words;   /* of statements, the same */
    uint32_t *others;               /* by word: 1 + the statement where other lanes are that execute it, 0: there are none */
    uint32_t **holder;              /* for each register of a variable, by word: 1 + the holder that has it */
};

/** A register, a constant or memory itself, of the whole variable or of a piece: nothing is computed. */
static inline bool ptx_note_is_plain(const struct ptx_noted_value *v)
{
    return v->operand_count == 1 && !v->is_launch &&
           (v->expression_size == 0 || strncmp(v->expression, "DW_OP_LLVM_fragment", 19) == 0);
}
/** Text of words with blanks and commas between them. */
struct ptx_note_words {
    const char *at, *end;
};
/** The next word; size 0: the end. */
struct ptx_name ptx_note_word(struct ptx_note_words *words);
/** A number of base 10, with a sign or not, or 16 (capitals). False: it is none, or does not fit into 64 bits. */
bool ptx_note_number(struct ptx_name word, unsigned base, uint64_t *out);
/** Where the value @value, a register or a piece of one, is found again (by_register). */
void ptx_debug_note_register(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t value);

/** Read the notes of a function; NULL: it has none. */
struct ptx_noting *ptx_debug_notes_read(struct ptx_placing *pl);
/** Where what notes say may be wrong, nothing is known. */
void ptx_debug_notes_doubt(struct ptx_placing *pl, struct ptx_noting *noting);
/** Whether the variable is out of its scope on the line of a statement of its function. */
bool ptx_debug_note_is_outside(const struct ptx_placing *pl, const struct ptx_noting *noting,
                               const struct ptx_noted_variable *variable, uint32_t statement);
/** Count the entries below @root that each variable of the notes may be: of two with one name, line and calls
 *  it is not known which is meant. */
void ptx_debug_notes_count(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root);
/** The variable that entry @die describes, below the function's entry @root; NULL: no note names it. */
const struct ptx_noted_variable *ptx_debug_noted(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t root,
                                                 uint32_t die);
/** What is known of a variable: nothing; where it has which value; that it is a parameter which has the value of the
 *  launch everywhere. */
enum ptx_noted { PTX_NOTED_NOTHING, PTX_NOTED_RANGES, PTX_NOTED_LAUNCH };
/** Which value holds where. @param: symbol of the kernel's parameter that it is, PTX_NONE: none. */
enum ptx_noted ptx_debug_notes_follow(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable,
                            uint32_t param, struct ptx_noted_pieces *pieces);
/** All registers that notes name become wanted. */
void ptx_debug_notes_want(struct ptx_placing *pl, const struct ptx_noting *noting);
/** Locations of a variable to pl->locations; @bytes: its size, 0: not known. */
void ptx_debug_notes_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_pieces *pieces,
                            uint32_t param, uint64_t bytes);

#endif
