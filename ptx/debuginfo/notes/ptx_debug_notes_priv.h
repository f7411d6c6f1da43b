/* SPDX-License-Identifier: Apache-2.0 */
/* Values of variables in optimised code, from the comments that ptx_values.c has written to the PTX: ptx_debug_notes.c
 * reads them, ptx_debug_noteflow.c finds the values that hold at each statement, ptx_debug_notevalues.c finds their
 * locations for the words of the function. */
#ifndef PTX_DEBUG_NOTES_PRIV_H
#define PTX_DEBUG_NOTES_PRIV_H

#include "ptx/debuginfo/ptx_debug_varloc_priv.h"

/* PTX_NOTE_SAME: maximum number of equal values that are tracked: the value of a variable, and registers to which it
 * was copied. */
enum { PTX_NOTE_OPERANDS = 4, PTX_NOTE_PIECES = 32, PTX_NOTE_SAME = 3 };

enum ptx_note_kind { PTX_NOTE_NONE, PTX_NOTE_REG, PTX_NOTE_CONST, PTX_NOTE_FRAME };
struct ptx_note_operand {
    uint8_t kind; /* enum ptx_note_kind */
    uint8_t bits; /* number of low bits that are known of a register or a constant; 64: all */
    uint32_t reg;
    uint64_t value;
};
/** Value of a variable, or of a piece of it, in a note. */
struct ptx_noted_value {
    const char *expression; /* LLVM's expression without parentheses; borrowed from the text */
    uint32_t expression_size;
    struct ptx_note_operand operand[PTX_NOTE_OPERANDS];
    uint8_t operand_count;  /* 0: the value is unknown */
    bool is_launch;         /* the value of a kernel parameter, or of a piece of it, at the launch */
    bool is_proven;         /* the stores to the memory have been compared with the source (ptx_debug_notememory.c) */
    bool if_parameter;      /* is_launch if the variable is a kernel parameter; unknown if it is not */
    uint32_t first, bytes;  /* the piece; bytes 0: the whole variable */
};
struct ptx_noted_event {
    uint32_t at; /* note: twice the number of statements before it; statement that writes: 2 * its index + 1 */
    uint32_t block, order;
    uint32_t value;
    bool doubts; /* not a note: the value is unknown from here on (note_early) */
    bool kills;  /* register @value is written, so values that use it no longer hold */
};
/** A line that may assign to a variable, or a loop. A line is executed if any line of its block is executed: a line after
 *  `begins` and not after `reached`. A member is 0 if there is no such line. For a loop, `line` and `reached` are its first
 *  and last line, and `begins` says whether an iteration may leave out statements. */
struct ptx_noted_line {
    uint32_t line, reached, begins;
};
/** Lines of the source that concern a variable: the lines that may assign to it, the line of its declaration, the end of
 *  its scope, and the first and last line of its function. 0: the line is unknown. */
struct ptx_noted_lines {
    uint32_t declared, end, function, function_end;
    bool once; /* in one call of its function the variable is assigned once */
    PTX_LIST(struct ptx_noted_line) loops; /* loops of the variable's scope, with an outer loop before its inner loops:
                                            * first and last line */
    PTX_LIST(uint32_t) outer; /* by loop: 1 + the innermost loop around its first line, 0: none */
    struct ptx_noted_line *at;
    size_t count, capacity;
};
struct ptx_noted_variable {
    const char *key; /* "NAME LINE CALLS" */
    uint32_t key_size, lines; /* lines: 1 + index of the variable's entry in the list of lines, 0: no lines are known */
    uint32_t from, to;        /* statements of the variable's scope and notes */
    uint32_t caller, caller_end; /* lines of the function into which the function of an argument or local variable is
                                  * inlined; UINT32_MAX: none */
    bool is_inlined;          /* its function is inlined */
    bool checked;             /* its notes are compared with the assignments of the source */
    PTX_LIST(struct ptx_noted_event) notes;
};
/** Statements [from, to) of the text before which a variable has the values in @value: for each piece up to
 *  PTX_NOTE_SAME indices of equal values. PTX_NONE: there are no further values. */
struct ptx_noted_range {
    uint32_t from, to;
    const uint32_t *value;
};
/** Values of one variable, ready to be located. */
struct ptx_noted_pieces {
    uint32_t count;
    uint32_t edge[PTX_NOTE_PIECES + 1]; /* byte offsets at which pieces begin and end; 0 and 0 for a whole variable */
    PTX_LIST(struct ptx_noted_range) ranges;
};
struct ptx_noted_block {
    uint32_t first, end; /* statements [first, end) */
    PTX_LIST(uint32_t) succ;
    PTX_LIST(uint32_t) pred;
};
/** Consecutive statements in a block that belong to one line. */
struct ptx_note_group {
    uint32_t line, first, end;
};
enum { PTX_NOTE_POSITIONS = 6 };
/** Position in the source of a path to a statement. */
struct ptx_note_position {
    uint32_t line;  /* last line in the variable's scope, 0: none */
    uint8_t notes;  /* new values noted since the code of that line began */
    bool merges;    /* there is one such value, and it selects between the old value and another one */
    bool left;      /* since then the path has left the scope, on lines of the same function */
    bool back;      /* and has taken a branch back */
    bool crossed;   /* the path has entered a block since then */
};
struct ptx_note_positions {
    struct ptx_note_position at[PTX_NOTE_POSITIONS];
    uint8_t count;
    bool more; /* there are others */
    uint32_t doubted; /* a bit for each piece: its values may be outdated */
    uint32_t hidden;  /* a bit for each piece: its value is not known until its next note (note_early) */
    uint32_t pending; /* for each piece: a new value has been noted since the last line, which the next line may confirm */
};
/** State for following the values of one variable (ptx_debug_noteflow.c). */
struct ptx_note_search {
    PTX_LIST(uint32_t) blocks;       /* blocks in which a value may be known, ascending */
    uint32_t *reached, generation;   /* by block: value of `generation` when the block was put into `blocks` */
    uint32_t *from, *to;             /* by block of `blocks`: range of the block's events */
    uint8_t *changed;                /* by block of `blocks`: the values known at its begin have changed since its last
                                      * pass */
    uint32_t *in, room;              /* by block of `blocks`, and up to @room pieces: values that are known at its begin */
    struct ptx_note_positions *positions;  /* by block of `blocks`: positions in the source of the paths to it */
};
/** Notes of a function. */
struct ptx_noting {
    PTX_LIST(struct ptx_noted_value) values;
    PTX_LIST(struct ptx_noted_variable) variables;
    struct ptx_map by_key;
    struct ptx_map lines_by_name, uses_by_name;
    PTX_LIST(struct ptx_name) uses; /* texts of the uses of variables in memory */
    struct ptx_note_address *addresses; /* ptx_debug_notememory.c */
    PTX_LIST(struct ptx_noted_lines) lines;
    struct ptx_map by_register; /* values that are a register or a piece of one */
    PTX_LIST(struct ptx_noted_block) blocks;
    uint32_t *block_of;      /* by statement */
    uint32_t *first_write, *writes; /* of register r: writes[first_write[r]] up to writes[first_write[r + 1]], statements */
    uint32_t *seen, generation;     /* by block: value of `generation` in which a search visited it */
    PTX_LIST(struct ptx_note_group) groups; /* in the order of the text */
    uint32_t *first_group;          /* by block */
    uint8_t *has_line;              /* by line, up to @last_line: whether there is code of the line */
    uint8_t *has_call;              /* by line, up to @last_line: whether an inlined call is on the line */
    uint32_t last_line;
    PTX_LIST(uint32_t) calls;       /* lines of inlined calls */
    uint32_t *entered, *left;       /* by block: when a search from the entry enters and leaves it */
    uint32_t *owner;                /* by statement: entry of its innermost scope, 0: none */
    uint8_t *entries;               /* by variable: number of entries of the sections that may describe it, counted up
                                     * to 2 */
    const uint64_t *demand;         /* by register: its bits that the code uses (ptx_debug_demand.c) */
    struct ptx_note_search search;
    /* ptx_debug_notevalues.c */
    uint32_t *first_word, *words;   /* words of each statement, as ranges of `words` */
    /* by word: 1 + the statement of the other lanes that execute the word, 0: none */
    uint32_t *others;
    uint8_t *inserted;              /* by word: it is of an instruction after the statements of a block */
    uint32_t **holder;              /* for each register of a variable, by word: 1 + the holder with its value */
};

/** Returns true if the value is a register, a constant or memory, of the whole variable or a piece, without a
 *  computation. */
static inline bool ptx_note_is_plain(const struct ptx_noted_value *v)
{
    return v->operand_count == 1 && !v->is_launch &&
           (v->expression_size == 0 || strncmp(v->expression, "DW_OP_LLVM_fragment", 19) == 0);
}
/** Text of words separated by blanks and commas. */
struct ptx_note_words {
    const char *at, *end;
};
/** Returns the next word; size 0 at the end. */
struct ptx_name ptx_note_word(struct ptx_note_words *words);
/** Parses a number of base 10 with optional sign, or of base 16 with capital letters. Returns false if the value is
 *  invalid or exceeds 64 bits. */
bool ptx_note_number(struct ptx_name word, unsigned base, uint64_t *out);
/** Enters @value, a register or a piece of one, in the map by_register. */
void ptx_debug_note_register(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t value);

/** Finds the innermost scope of each word, pl->owner, the words of each scope, and pl->sites (ptx_debug_scopes.c). @noting:
 *  may be NULL. */
void ptx_debug_find_scopes(struct ptx_placing *pl, uint32_t root, const struct ptx_noting *noting);
/** ptx_call_site_fn for entries; @context: the struct ptx_placing. */
bool ptx_debug_call_site(const void *context, uint32_t die, struct ptx_call_site *out);

/** Returns whether a statement ends its block. */
bool ptx_note_ends_block(const struct ptx_insn *in);
/** Reads the notes of a function; returns NULL if it has none. */
struct ptx_noting *ptx_debug_notes_read(struct ptx_placing *pl);
/** Makes values unknown where notes may be wrong. */
void ptx_debug_notes_doubt(struct ptx_placing *pl, struct ptx_noting *noting);
/** Returns for each register of the function the bits that the code uses. */
const uint64_t *ptx_debug_notes_demand(struct ptx_placing *pl);
/** Returns whether clang may have changed bits of a value, because the code does not use all bits of a variable of @bytes
 *  bytes (0: unknown) or of the value's piece. */
bool ptx_debug_note_is_changed(const struct ptx_placing *pl, const struct ptx_noting *noting,
                               const struct ptx_noted_variable *variable, const struct ptx_noted_value *v, uint32_t bytes);
/** Returns whether the variable is out of its scope on the line of a statement of its function. */
bool ptx_debug_note_is_out_of_scope(const struct ptx_placing *pl, const struct ptx_noting *noting,
                                    const struct ptx_noted_variable *variable, uint32_t statement);
/** Returns the line of the inlined call in whose range a statement is, directly in the function or call of entry @frame;
 *  0: none. */
uint32_t ptx_debug_note_call_line(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t statement,
                                  uint32_t frame);
/** Returns whether the source may assign to the variable on a line from @first to @last. */
bool ptx_note_assigns(const struct ptx_noted_lines *lines, uint32_t first, uint32_t last);
/** Returns whether the innermost loop around both lines assigns to the variable. */
bool ptx_note_loop_assigns(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Returns whether a line is in the variable's scope. */
bool ptx_note_in_scope(const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether a line is in the variable's function. */
bool ptx_note_in_function(const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether the statement on a line assigns to the variable and has an inlined call. */
bool ptx_note_assigns_after_call(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether code of line @to after code of line @from, which is greater, is not another iteration of a loop,
 *  because other code of the loop is left out. */
bool ptx_note_is_no_round(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Returns whether a path is at, or has passed, the head of a loop that counts with the variable. */
bool ptx_note_counts(const struct ptx_noted_lines *lines, const struct ptx_note_position *position);
/** Returns whether the source assigns to the variable on all paths from the code of line @from forwards to the code of line
 *  @to, which is greater. */
bool ptx_note_must_assign(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_lines *lines,
                          uint32_t from, uint32_t to);
/** Checks whether the notes on a path to code of line @to match the assignments on that path in the source. Returns how
 *  many notes belong to line @to itself; -1: the notes do not match. */
int ptx_note_agrees(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                    const struct ptx_note_position *position, uint32_t to);
/** Returns whether a path leads to code of line @to without an assignment that the notes may not show. */
bool ptx_note_leads_to(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                       const struct ptx_note_position *position, uint32_t to);
/** Returns whether a value selects between another value and one of the values in @known, up to PTX_NOTE_SAME indices
 *  (ptx_debug_notemerge.c). */
bool ptx_note_merges(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_value *v,
                     const uint32_t *known);
/** Returns whether a branch from one block to another goes around a loop. */
bool ptx_note_goes_back(const struct ptx_noting *noting, uint32_t from, uint32_t to);
/** Find the entries below @root that describe variables of the notes. If two variables have the same name, line and
 *  calls, it is unknown which of them an entry describes. The scopes of the entries show which notes are wrong. */
void ptx_debug_notes_match(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root);
/** Returns the variable that entry @die describes, below the function's entry @root; NULL: no note names it. */
const struct ptx_noted_variable *ptx_debug_noted(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t root,
                                                 uint32_t die);
/** Known values of a variable: none, ranges with values, or the value of the parameter at the launch everywhere. */
enum ptx_noted { PTX_NOTED_NOTHING, PTX_NOTED_RANGES, PTX_NOTED_LAUNCH };
/** Finds the value that is valid at each word. @die: entry of the variable. @param: symbol of the kernel parameter that
 *  the variable describes, PTX_NONE: none. */
enum ptx_noted ptx_debug_notes_follow(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable,
                                      uint32_t die, uint32_t param, struct ptx_noted_pieces *pieces);
/** Marks all registers that notes name as wanted. */
void ptx_debug_notes_want(struct ptx_placing *pl, const struct ptx_noting *noting);
/** Appends a variable's locations to pl->locations; @bytes: its size, 0: unknown. */
void ptx_debug_notes_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_pieces *pieces,
                            uint32_t param, uint64_t bytes);

/** Returns whether notes give the variable a place in memory. */
bool ptx_debug_memory_noted(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *variable);
/** Returns whether the variable of entry @die has no parts. */
bool ptx_debug_memory_is_scalar(const struct ptx_debug *debug, uint32_t die);
/** Appends to pl->locations the locations of a variable in local memory where its memory has the value of the source. @variable: its notes,
 *  which say where it is in memory; NULL: it is at @offset in the function's local memory according to entry @die. */
void ptx_debug_memory_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable, uint32_t die,
                             uint64_t offset);

#endif
