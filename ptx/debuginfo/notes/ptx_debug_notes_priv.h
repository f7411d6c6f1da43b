/* SPDX-License-Identifier: Apache-2.0 */
/* Values of variables in optimised code. ptx_values.c writes them as comments to the PTX, which are called notes (struct
 * ptx_note). ptx_debug_notes.c reads the notes, ptx_debug_noteflow.c finds the values that are valid at each statement, and
 * ptx_debug_notevalues.c finds the locations of these values for the instruction words of the function. A statement is a PTX
 * instruction, and blocks are the basic blocks of the statements. */
#ifndef PTX_DEBUG_NOTES_PRIV_H
#define PTX_DEBUG_NOTES_PRIV_H

#include "ptx/debuginfo/ptx_debug_varloc_priv.h"

/* PTX_NOTE_PIECES: maximum number of pieces of a variable. PTX_NOTE_SAME: maximum number of equal values of a piece that are
 * tracked: the value that a note gives, and registers to which the code has copied this value. */
enum { PTX_NOTE_OPERANDS = 4, PTX_NOTE_PIECES = 32, PTX_NOTE_SAME = 3 };

enum ptx_note_kind { PTX_NOTE_NONE, PTX_NOTE_REG, PTX_NOTE_CONST, PTX_NOTE_FRAME };
struct ptx_note_operand {
    uint8_t kind; /* enum ptx_note_kind */
    uint8_t bits; /* number of known low bits of a register or a constant, 64 if all are known */
    uint32_t reg;
    uint64_t value;
};
/** Value of a variable, or of a piece of it, in a note. */
struct ptx_noted_value {
    const char *expression; /* LLVM's expression without parentheses; borrowed from the text */
    uint32_t expression_size;
    struct ptx_note_operand operand[PTX_NOTE_OPERANDS];
    uint8_t operand_count;  /* 0 if the value is unknown */
    bool is_launch;         /* the value is that of a kernel parameter, or of a piece of one, at the launch */
    bool is_proven;         /* ptx_debug_notememory.c has compared the stores with the source: the memory has the value */
    bool if_parameter;      /* for a kernel parameter, the value is that of the launch; for another variable, it is unknown */
    bool is_sum;            /* the value is the register plus @addend */
    bool is_derived;        /* the value is a sum that ptx_note_derive() has derived from the preceding value and the source */
    int64_t addend;
    uint32_t first, bytes;  /* bytes of the piece; `bytes` is 0 for the whole variable */
};
/** A note at a position of the code, or a statement that writes a register of a value. */
struct ptx_noted_event {
    uint32_t at; /* for a note: 2 * the number of statements before it; for a statement: 2 * its index + 1 */
    uint32_t block, order;
    uint32_t value; /* index of the note's value; if @kills is set: the register that the statement writes */
    bool doubts; /* the event is not a note of the text: the value is unknown from here on (note_early()) */
    uint8_t earlier; /* not 0: the event is not a note of the text. 1: code of an earlier iteration begins here; 2: it ends
                      * here */
    uint32_t also; /* 1 + index of another value that equals `value`: the register of a note with the launch value, or a register
                    * that holds the note's constant; or 0 */
    bool kills;  /* the event is a write of register @value: values that use the register are not valid after it */
};
/** A line that may assign to a variable, or a loop. For an assignment, the lines after `begins` up to `reached` are the lines
 *  of the source block around `line`. If any of them is executed, so is the assignment. A member is 0 if there is no such
 *  line. For a loop, `line` and `reached` are its first and last line. `begins` is a flag: it is not 0 if an iteration may
 *  skip statements of the loop, as after `continue`. */
struct ptx_noted_line {
    uint32_t line, reached, begins;
    uint32_t other; /* last line of the `else` parts that follow the block, or 0. For a loop: enum ptx_loop_kind */
};
/** Kinds of loops on one line: the loop contains a branch; the loop is a `do` loop without branches and jumps, so that it executes all its
 *  statements at least once. */
enum ptx_loop_kind { PTX_LOOP_OTHER, PTX_LOOP_BRANCHES, PTX_LOOP_EXECUTES };
/** A fact about a line. */
struct ptx_noted_mark {
    uint32_t line;
    char kind; /* '.': the line only assigns to members or elements of the variable; '&': it has a call that gets the variable's address
                * or a reference to the variable */
};
/** Lines of the source that concern a variable. */
struct ptx_noted_lines {
    uint32_t declared, end, function, function_end; /* line of the declaration, last line of the scope, first and last line of
                                                     * the function; 0 if the line is unknown */
    int64_t step; /* constant that each assignment after the declaration adds, if it does not assign a constant; 0 if unknown */
    bool once; /* one execution of the function assigns to the variable once */
    bool declared_once; /* one execution of the function executes the declaration at most once, and may assign more often */
    bool computed; /* each assignment computes its value by an arithmetic operation */
    bool has_limit; /* the variable is at least @limit when the only `for` that compares it with a constant has ended */
    int64_t limit;
    PTX_LIST(struct ptx_noted_line) loops; /* loops of the variable's scope; an outer loop is before its inner loops */
    PTX_LIST(uint32_t) outer; /* by loop: 1 + index of the innermost other loop around the loop's first line, or 0 */
    PTX_LIST(struct ptx_noted_mark) marks;
    struct ptx_noted_line *at; /* the lines that may assign to the variable */
    size_t count, capacity;
};
/** A source variable, or an inlined instance of one, with its notes. */
struct ptx_noted_variable {
    const char *key; /* "NAME LINE CALLS" */
    uint32_t key_size, lines; /* lines: 1 + index of the variable in `lines` of struct ptx_noting, or 0 if no lines are known */
    uint32_t from, to;        /* range of statements with the variable's scope and all its notes */
    uint32_t caller, caller_end; /* if the variable's function is inlined: first and last line of the function that calls it;
                                  * otherwise, or if they are unknown, UINT32_MAX */
    bool is_inlined;          /* the function of the variable is inlined */
    bool checked;             /* the notes are compared with the assignments in the source */
    PTX_LIST(struct ptx_noted_event) notes;
};
/** Statements [from, to) before which a variable has the values in @value. For each piece, @value contains PTX_NOTE_SAME indices
 *  of equal values. Unused indices at the end are PTX_NONE. */
struct ptx_noted_range {
    uint32_t from, to;
    const uint32_t *value;
};
/** The pieces of one variable, and their values by statement. */
struct ptx_noted_pieces {
    uint32_t count;
    uint32_t edge[PTX_NOTE_PIECES + 1]; /* piece p has the bytes [edge[p], edge[p + 1]); if the only piece is the whole variable,
                                         * both are 0 */
    PTX_LIST(struct ptx_noted_range) ranges;
};
struct ptx_noted_block {
    uint32_t first, end; /* statements [first, end) */
    PTX_LIST(uint32_t) succ;
    PTX_LIST(uint32_t) pred;
};
/** Consecutive statements [first, end) of a block that belong to one source line. */
struct ptx_note_group {
    uint32_t line, first, end;
    bool merged; /* the code contains a store to which the compiler gave no line, because the store belongs to several lines */
};
enum { PTX_NOTE_POSITIONS = 6 };
/** Position in the source of an execution path to a statement. */
struct ptx_note_position {
    uint32_t line;  /* last line on the path in the variable's scope, or 0 if there is none */
    uint8_t notes;  /* number of new values that notes gave since the code of that line began */
    bool merges;    /* notes gave one new value, which selects between the old value and another value */
    bool left;      /* since the code of that line, the path has left the scope and has executed other lines of the same
                     * function */
    bool back;      /* since the code of that line, the path has taken a branch back */
    bool crossed;   /* since the code of that line, the path has entered another block */
    bool none;      /* since the code of that line began, a note has said that the value is not known */
    bool owed;      /* the source has assigned before that line, and no note has given the assigned value yet */
};
/** Positions of all paths to a statement, and the pieces whose values are uncertain there. */
struct ptx_note_positions {
    struct ptx_note_position at[PTX_NOTE_POSITIONS];
    uint8_t count;
    bool more; /* paths have further positions, for which the array is too short */
    uint32_t doubted; /* bit set of the pieces whose values may be outdated */
    uint32_t hidden;  /* bit set of the pieces whose values are unknown until their next note (note_early()) */
    uint32_t noted;   /* bit set of the pieces that have a note since the code of the last line began, or since that of an earlier line if
                       * the notes may belong to the last line */
    uint32_t pending; /* bit set of the pieces to which a note has given a new value since the code of the last line began; the
                       * code of the next line may confirm this value */
};
/** State of ptx_debug_noteflow.c while it propagates the values of one variable. */
struct ptx_note_search {
    PTX_LIST(uint32_t) blocks;       /* blocks in which a value may be known, ascending */
    uint32_t *reached, generation;   /* by block: value of `generation` when the block was put into `blocks` */
    uint32_t *from, *to;             /* by block of `blocks`: range of the block's events */
    uint8_t *changed;                /* by block of `blocks`: whether the state at the block's begin has changed since the block
                                      * was processed last */
    uint32_t *in, room;              /* by block of `blocks`, and up to @room pieces: values known at the block's begin */
    struct ptx_note_positions *positions;  /* by block of `blocks`: positions of the paths at the block's begin */
};
/** The initialiser of a variable. If two variables have the same name and line, both members are empty. */
struct ptx_noted_initialiser {
    struct ptx_name tokens;
    uint32_t end; /* last line of the variable's scope */
};
/** Notes of a function. Registers are PTX registers. */
struct ptx_noting {
    PTX_LIST(struct ptx_noted_value) values;
    PTX_LIST(struct ptx_noted_variable) variables;
    struct ptx_map by_key;                      /* maps the key of a variable to its index in `variables` */
    struct ptx_map lines_by_name, uses_by_name; /* map "NAME LINE" of a variable to its index in `lines` and `uses` */
    struct ptx_map initialisers_by_name;        /* maps "NAME LINE" of a variable to its index in `initialisers` */
    PTX_LIST(struct ptx_noted_initialiser) initialisers;
    PTX_LIST(struct ptx_name) uses;     /* by variable in memory: text of the note with its uses in the source */
    struct ptx_note_address *addresses; /* by register: see find_addresses() in ptx_debug_memoryuses.c */
    PTX_LIST(struct ptx_noted_lines) lines;
    struct ptx_map by_register;     /* maps a register and a piece to the index of the value that is this register */
    PTX_LIST(struct ptx_noted_block) blocks;
    uint32_t *block_of;             /* by statement: index of its block */
    uint32_t *first_write, *writes; /* the statements that write register r: writes[first_write[r]], ...,
                                     * writes[first_write[r + 1] - 1] */
    uint32_t *seen, generation;     /* by block: value of `generation` when a search visited the block last */
    PTX_LIST(struct ptx_note_group) groups; /* in the order of the text */
    uint32_t *first_group;          /* by block: index of its first group */
    uint8_t *has_line;              /* by line, up to @last_line: whether there is code of the line */
    uint8_t *has_branch;            /* by line, up to @last_line: whether there is a conditional branch of the line */
    uint8_t *has_round;             /* by line, up to @last_line: whether a basic block with code of the line begins or ends a
                                     * loop of the code */
    uint8_t *has_call;              /* by line, up to @last_line: whether an inlined call is on the line */
    uint8_t *is_repeated;           /* by line, up to @last_line: whether an instruction of the line has a copy after code of
                                     * another line */
    uint32_t last_line;
    PTX_LIST(uint32_t) calls;       /* lines of inlined calls */
    uint32_t *entered, *left;       /* by block: step at which a depth-first search from the entry enters and leaves the block */
    uint32_t *owner;                /* by statement: index of its innermost scope's debug entry, or 0 if it is unknown */
    uint8_t *entries;               /* by variable: number of debug entries that may describe the variable, counted up to 2 */
    uint64_t *demand_of;            /* array for ptx_debug_demand_of(), or NULL */
    const uint64_t *demand;         /* by register: bits of the register that the code uses (ptx_debug_demand.c) */
    uint32_t *derived, value_count; /* by value of a note: index of its derived value, 0 if there is none; number of these values */
    struct ptx_note_search search;
    /* The following members belong to ptx_debug_notevalues.c. */
    uint32_t *first_word, *words;   /* words of statement s: words[first_word[s]] to words[first_word[s + 1] - 1] */
    /* by word: 1 + the statement at which other lanes are that also execute the word, or 0 if there are no such lanes */
    uint32_t *others;
    uint8_t *inserted;              /* by word: whether the translator has inserted the word after the statements of a block */
    uint32_t *unusable;             /* by word: see ptx_note_mark_sources() */
    uint32_t **holder;              /* for each register of a variable, by word: 1 + index of the holder that has the register */
};

/** Returns true if a value is a register, a constant or memory, without a computation. The value may be that of a piece. */
static inline bool ptx_note_is_plain(const struct ptx_noted_value *v)
{
    return v->operand_count == 1 && !v->is_launch &&
           (v->expression_size == 0 || strncmp(v->expression, "DW_OP_LLVM_fragment", 19) == 0);
}
/** Returns the source line of a statement, or 0 if it has none. */
static inline uint32_t ptx_note_line(const struct ptx_placing *pl, uint32_t statement)
{
    const struct ptx_insn *in = &pl->fn->insns.at[statement];

    return in->loc != 0 && in->loc < pl->module->locs.count ? pl->module->locs.at[in->loc].line : 0;
}
/** Rest of a text that consists of words separated by blanks and commas. */
struct ptx_note_words {
    const char *at, *end;
};
/** Returns the next word and advances @words. At the end of the text, the size of the word is 0. */
struct ptx_name ptx_note_word(struct ptx_note_words *words);
/** Parses a decimal number with an optional minus sign, or a hexadecimal number with capital letters. Returns false if the
 *  number is invalid or exceeds 64 bits. */
bool ptx_note_number(struct ptx_name word, unsigned base, uint64_t *out);
/** Returns whether statements [@from, @to) write a register of the value. */
bool ptx_note_is_written(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_value *v,
                         uint32_t from, uint32_t to);
/** Adds the value with index @value, which is a register, to the map by_register. */
void ptx_debug_note_register(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t value);

/** Finds the innermost scope of each word (pl->owner), the words of each scope, and pl->sites (ptx_debug_scopes.c). @noting may
 *  be NULL. */
void ptx_debug_find_scopes(struct ptx_placing *pl, uint32_t root, const struct ptx_noting *noting);
/** ptx_call_site_fn for entries; @context: the struct ptx_placing. */
bool ptx_debug_call_site(const void *context, uint32_t die, struct ptx_call_site *out);

/** Returns whether a statement ends its basic block. */
bool ptx_note_ends_block(const struct ptx_insn *in);
/** Reads the notes of a function; returns NULL if it has none. */
struct ptx_noting *ptx_debug_notes_read(struct ptx_placing *pl);
/** Drops values of notes that may be wrong, and prepares the comparison of notes with the source (ptx_debug_notedoubt.c). */
void ptx_debug_notes_doubt(struct ptx_placing *pl, struct ptx_noting *noting);
/** Returns for each PTX register of the function a bit set of the register's bits that the code uses. */
const uint64_t *ptx_debug_notes_demand(struct ptx_placing *pl);
/** Returns the bits of register @reg that a statement uses. */
uint64_t ptx_debug_demand_of(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t statement, uint32_t reg);
/** Returns whether an argument of an inlined call may have been replaced by another value, because the code of the function does not use
 *  all bits: the call may pass only some bits, as in `f(x & 15)`. @value: a note's value of the argument; @bytes: size of the argument, or 0 if it is unknown. */
bool ptx_note_is_replaced(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable,
                          const struct ptx_noted_value *value, uint32_t bytes);
/** Returns whether two values of the same piece are the low bits of the same register. */
bool ptx_note_equals(const struct ptx_noted_value *a, const struct ptx_noted_value *b);
/** Returns whether clang may have changed bits of value @v, because the code does not use all bits of the variable or of the
 *  value's piece. @bytes is the size of the variable, or 0 if it is unknown. */
bool ptx_debug_note_is_changed(const struct ptx_placing *pl, const struct ptx_noting *noting,
                               const struct ptx_noted_variable *variable, const struct ptx_noted_value *v, uint32_t bytes);
/** Returns whether a statement belongs to a line of the variable's function that is not in the variable's scope. */
bool ptx_debug_note_is_out_of_scope(const struct ptx_placing *pl, const struct ptx_noting *noting,
                                    const struct ptx_noted_variable *variable, uint32_t statement);
/** Returns the line of the inlined call that contains a statement and is itself directly in @frame, the entry of a function or
 *  of another inlined call. Returns 0 if there is none. */
uint32_t ptx_debug_note_call_line(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t statement,
                                  uint32_t frame);
/** Adds a position to a set. Returns true if the set has changed. */
bool ptx_note_add_position(struct ptx_note_positions *positions, struct ptx_note_position position);
/** Adds the positions of the paths through an edge from one block to another to the positions at the begin of the second block.
 *  @back: the edge is a back edge. Returns true if the set has changed. */
bool ptx_note_join_positions(struct ptx_note_positions *to, const struct ptx_note_positions *from, bool back);
/** Returns true if block @over dominates block @to: every path from the entry to @to passes @over. */
bool ptx_note_dominates(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t over, uint32_t to);
/** Returns whether a path of at least one branch or fall-through leads from block @from to block @to. */
bool ptx_note_reaches(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t from, uint32_t to);
/** Returns @event. If it gives the variable a constant, and a register that is the variable's value elsewhere holds this
 *  constant at the event on all paths, `also` of the result is that value. */
struct ptx_noted_event ptx_note_with_register(struct ptx_placing *pl, struct ptx_noting *noting,
                                              const struct ptx_noted_variable *variable, struct ptx_noted_event event);
/** Returns whether the source may assign to the variable on a line from @first to @last. */
bool ptx_note_assigns(const struct ptx_noted_lines *lines, uint32_t first, uint32_t last);
/** Returns whether the innermost loop that contains both lines assigns to the variable. */
bool ptx_note_loop_assigns(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Returns whether a loop that contains line @from, and ends before line @to, assigns to the variable. */
bool ptx_note_left_loop_assigns(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Stores for each block the step at which a depth-first search from the entry enters the block, and the step at which it leaves
 *  the block (noting->entered, noting->left). */
void ptx_note_number_blocks(struct ptx_placing *pl, struct ptx_noting *noting);
/** Finds the lines that begin or end loops of the code (noting->has_round). */
void ptx_note_find_rounds(struct ptx_placing *pl, struct ptx_noting *noting);
/** Returns whether the compiler has moved the code of @group up: in the block, code of a line between @from and the group's line
 *  follows the group, before @end. */
bool ptx_note_is_moved_up(struct ptx_placing *pl, const struct ptx_noted_lines *lines, const struct ptx_note_group *group,
                          const struct ptx_note_group *end, uint32_t from);
/** Returns whether the code of lines @first to @last contains a loop. */
bool ptx_note_has_rounds(const struct ptx_noting *noting, uint32_t first, uint32_t last);
/** Returns whether no code of a block has a line of its own, and the block does not continue at the next code of the text. The code
 *  of the block then has the line of code that is not executed after it. */
bool ptx_note_is_displaced(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t block);
/** Returns whether a line is in the variable's scope. */
bool ptx_note_in_scope(const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether a line is in the variable's function. */
bool ptx_note_in_function(const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether the source statement on a line assigns to the variable and contains an inlined call. */
bool ptx_note_assigns_after_call(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line);
/** Returns true if a path from code of line @from directly to code of line @to does not begin another iteration of a loop,
 *  because no loop contains both lines, or because the path omits other code of the loop. @to must be lower than @from. */
bool ptx_note_is_no_round(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Returns true if code of @line may belong to a loop iteration that assigns to the variable. This is so if @line itself assigns,
 *  or if a loop around @line assigns on a line without code: a path can then execute the assignment without code of its line. */
bool ptx_note_may_iterate(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether the head of a loop assigns to the variable, and the path is at this head, or in the loop after a branch
 *  back. */
bool ptx_note_counts(const struct ptx_noted_lines *lines, const struct ptx_note_position *position);
/** Returns whether a line has a mark of a kind. */
static inline bool ptx_note_has_mark(const struct ptx_noted_lines *lines, uint32_t line, char kind)
{
    for (size_t i = 0; i < lines->marks.count; i++)
        if (lines->marks.at[i].line == line && lines->marks.at[i].kind == kind)
            return true;
    return false;
}
/** Returns the index of the first line in the ascending list that is not before @line. */
size_t ptx_note_find_line(const struct ptx_noted_lines *lines, uint32_t line);
/** Returns the innermost loop of the source that contains lines @from and @to, or NULL. Searches the last loop that begins before
 * @to, and the loops around it. */
const struct ptx_noted_line *ptx_note_loop_around(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Returns the loop of the source that begins on a line, or NULL if there is none. */
const struct ptx_noted_line *ptx_note_loop_from(const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether lines [@from, @to) contain a loop on one line that assigns to the variable, as in `do { if (y < x) x = y; } while (0)`.
 *  The source executes the assignment of such a line any number of times. If @to is before @from, the lines are those of the loop around
 *  both. */
bool ptx_note_has_short_loop(const struct ptx_noted_lines *lines, uint32_t from, uint32_t to);
/** Returns whether a line has a loop that contains a branch and assigns to the variable, and the code of the line has no branch: the
 *  compiler has replaced the branch by selections. */
bool ptx_note_is_flat(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether a line assigns to the variable only in a branch side that is on the same line, as in `if (c) x = y;`, and the code of
 *  the line has a branch. */
bool ptx_note_is_conditional(const struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t line);
/** Returns whether the source assigns to the variable on all paths from the code of line @from forwards to the code of line
 *  @to. @to must be greater than @from. */
bool ptx_note_must_assign(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_lines *lines,
                          uint32_t from, uint32_t to);
/** Returns whether the source assigns to the whole variable, and not only to a member, on each path from line @from to line @to. */
bool ptx_note_must_assign_whole(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_lines *lines,
                                uint32_t from, uint32_t to);
/** Compares the notes since @position, on a path to code of line @to, with the assignments of the source on that path. Returns
 *  -1 if the notes do not match. Otherwise returns the number of notes that belong to line @to itself. */
int ptx_note_agrees(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                    const struct ptx_note_position *position, uint32_t to);
/** Returns whether a path from @position to code of line @to is certain to have a note for each assignment of the source on the
 *  path. */
bool ptx_note_leads_to(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *v,
                       const struct ptx_note_position *position, uint32_t to);
/** Returns whether value @v selects between another value and one of the values in @known. @known has up to PTX_NOTE_SAME indices
 *  of values (ptx_debug_notemerge.c). */
bool ptx_note_merges(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_value *v,
                     const uint32_t *known);
/** Returns whether a register has byte @offset of kernel parameter @param at a note. This is so if all writes of the register are
 *  loads of this byte, or if the last write before the note is such a load in the note's basic block. */
bool ptx_note_is_loaded(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_event *note, uint32_t reg,
                        uint32_t param, uint64_t offset);
/** Returns the index of a derived value for a note whose value @value is a register plus a constant. The value before the note
 *  must be the same register plus another constant, and the source must add the difference of the constants. Otherwise returns
 *  @value. @known: up to PTX_NOTE_SAME indices of equal values before the note (ptx_debug_notemerge.c). */
uint32_t ptx_note_derive(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t value,
                         const uint32_t *known);
/** Returns true if the last write of register @reg before a statement is in the statement's block and is a move of literal @value
 *  (ptx_debug_notepaths.c). */
bool ptx_note_is_literal(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t reg, uint32_t statement, uint64_t value);
/** Returns true if a value depends on register @reg, or on a register of which @reg is a copy (ptx_debug_notemerge.c). */
bool ptx_note_uses(const struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t value, uint32_t reg);
/** Returns whether value @value is one of the values in @known plus the constant that each assignment adds. Then one assignment
 *  is between the two values (ptx_debug_notemerge.c). */
bool ptx_note_steps(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_lines *lines, uint32_t value,
                    const uint32_t *known);
/** Returns whether the edge from one block to another is a back edge of the depth-first search, as at the end of a loop. */
bool ptx_note_goes_back(const struct ptx_noting *noting, uint32_t from, uint32_t to);
/** Counts the debug entries below @root that may describe each variable of the notes (noting->entries). If two entries have the
 *  same name, line and inlined calls, it is unknown to which of the two the notes belong. After the count, drops wrong notes by
 *  ptx_debug_notes_doubt(). */
void ptx_debug_notes_match(struct ptx_placing *pl, struct ptx_noting *noting, uint32_t root);
/** Returns the variable of the notes that debug entry @die below the function's entry @root describes. Returns NULL if the
 *  variable has no notes. */
const struct ptx_noted_variable *ptx_debug_noted(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t root,
                                                 uint32_t die);
/** Known values of a variable: no values, ranges with values, or everywhere the value of the kernel parameter at the launch. */
enum ptx_noted { PTX_NOTED_NOTHING, PTX_NOTED_RANGES, PTX_NOTED_LAUNCH };
/** Finds the values of a variable that are valid before each statement, and stores them in @pieces. @die: debug entry of the
 *  variable. @param: symbol of the kernel parameter that is the variable, or PTX_NONE. */
enum ptx_noted ptx_debug_notes_follow(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable,
                                      uint32_t die, uint32_t param, struct ptx_noted_pieces *pieces);
/** Sets pl->wanted for all PTX registers that notes name, and for the registers of which these registers are copies. */
void ptx_debug_notes_want(struct ptx_placing *pl, const struct ptx_noting *noting);
/** Appends the locations of a variable with the values in @pieces to pl->locations. @bytes: size of the variable, or 0 if it is
 *  unknown. */
void ptx_debug_notes_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_pieces *pieces,
                            uint32_t param, uint64_t bytes);

/** Stores the @size bytes @expression of a DWARF expression in the object, and sets the location's members for an expression. */
void ptx_note_put_expression(struct ptx_placing *pl, const uint8_t *expression, uint32_t size, struct isa_var_location *location);
/** Appends locations of variable @die of a function with entry @root to pl->locations, for the words of its scope at which
 *  pl->locations has none. Does nothing if the value does not follow from the variable's initialiser. */
void ptx_debug_initialiser_locate(struct ptx_placing *pl, const struct ptx_noting *noting, uint32_t root, uint32_t die);

/** Returns whether notes say that the variable is in local memory. */
bool ptx_debug_memory_noted(struct ptx_placing *pl, const struct ptx_noting *noting, const struct ptx_noted_variable *variable);
/** Returns whether the variable of debug entry @die is neither a structure nor an array. */
bool ptx_debug_memory_is_scalar(const struct ptx_debug *debug, uint32_t die);
/** Appends the location of a variable in local memory to pl->locations, for all words at which the memory has the value that the
 *  variable has in the source. The notes of @variable give the variable's offset in local memory. If @variable is NULL, debug
 *  entry @die has given the offset, which is @offset. */
void ptx_debug_memory_locate(struct ptx_placing *pl, struct ptx_noting *noting, const struct ptx_noted_variable *variable, uint32_t die,
                             uint64_t offset);

#endif
