/* SPDX-License-Identifier: Apache-2.0 */
/* Text of a source: characters and words (inline), blocks and statements (ptx_source_blocks.c), and assignments (ptx_assigned.c).
 * Positions are indices in the text. The text contains no macros (ptx_source_text.c). */
#ifndef PTX_SOURCE_PRIV_H
#define PTX_SOURCE_PRIV_H

#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { PTX_SRC_MOST_SCANNED = 1 << 26 };

static inline bool ptx_src_is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool ptx_src_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
}

/** Returns a character of the source, or ';' for an index outside the source. */
static inline char ptx_src_char(const struct ptx_assigned *source, size_t i)
{
    return i < source->size ? source->text[i] : ';';
}

static inline size_t ptx_src_after_blanks(const struct ptx_assigned *source, size_t i)
{
    while (ptx_src_is_blank(ptx_src_char(source, i)))
        i++;
    return i;
}

/** Returns the index of the last non-blank character before @i, or SIZE_MAX. */
static inline size_t ptx_src_before_blanks(const struct ptx_assigned *source, size_t i)
{
    while (i != 0 && ptx_src_is_blank(source->text[i - 1]))
        i--;
    return i - 1;
}

static inline bool ptx_src_is_text(const struct ptx_assigned *source, size_t from, size_t to, const char *text)
{
    return to - from == strlen(text) && memcmp(source->text + from, text, to - from) == 0;
}

static inline bool ptx_src_is_word_at(const struct ptx_assigned *source, size_t i, const char *word)
{
    const size_t size = strlen(word);

    return i + size < source->size && memcmp(source->text + i, word, size) == 0 && !ptx_src_is_word(ptx_src_char(source, i + size));
}

/** Returns the index after the string or character literal at @i, or the end of its line if the literal is not closed. */
size_t ptx_src_after_literal(const char *text, size_t size, size_t i);
/** Returns the index after the comment at @i, or @i if there is no comment. */
size_t ptx_src_after_comment(const char *text, size_t size, size_t i);
/** Returns the index after the "(...)" that begins at @i. */
size_t ptx_src_after_bracket(const struct ptx_assigned *source, size_t i);
/** Returns the line number of index @i. */
unsigned ptx_src_line_at(const struct ptx_assigned *source, size_t i);
/** Returns the index of the first character of a line. */
size_t ptx_src_begin_of_line(const struct ptx_assigned *source, unsigned line);
/** Returns the innermost block that contains @i, or NULL. */
const struct ptx_brace *ptx_src_block_around(const struct ptx_assigned *source, size_t i);
unsigned ptx_src_end_line_of(const struct ptx_assigned *source, const struct ptx_brace *block);
/** Returns the block that is the scope of a declaration at @i, or NULL if the block is not found. The scope of a parameter, or of
 * a declaration in the head of a loop, is the block after the closing parenthesis. Otherwise the scope is the block around @i. */
const struct ptx_brace *ptx_src_scope_of(const struct ptx_assigned *source, size_t i);
/** Returns true if it is certain that no loop contains @i, so that a call of the function reaches @i at most once. */
bool ptx_src_is_outside_of_loops(const struct ptx_assigned *source, size_t i);
/** Returns true if @i is in the block of a switch, which control may enter in the middle. */
bool ptx_src_is_in_switch(const struct ptx_assigned *source, size_t i);
/** Returns the start of the word that ends before @end. */
size_t ptx_src_begin_of_word(const struct ptx_assigned *source, size_t end);
bool ptx_src_is_one_of(const struct ptx_assigned *source, size_t from, size_t to, const char *const *words, size_t count);
/** Returns true if the statement that contains the name at @i uses the name whenever the block around the statement is executed:
 * no `if`, `case`, loop, or operator that skips operands precedes the name in the statement. */
bool ptx_src_is_reached(const struct ptx_assigned *source, size_t i);
/** Returns the index of the character that ends the statement around @i, or of the closing parenthesis if @i is in parentheses.
 * Returns the index after MOST_LINES lines if the statement has more lines. */
size_t ptx_src_end_of_text(const struct ptx_assigned *source, size_t i);
/** Returns the block of another variable, whose declaration names it at [@from, @to) in the scope of a variable of the same name.
 * Returns NULL if the name is no such declaration, or not certainly. */
const struct ptx_brace *ptx_src_inner_scope(const struct ptx_assigned *source, size_t from, size_t to, const struct ptx_brace *scope);
/** Returns true if [@from, @to) contains a jump, by which the execution may skip the statements after the jump. */
bool ptx_src_has_jumps(const struct ptx_assigned *source, size_t from, size_t to);
/** Returns true if [@from, @to) contains a branch, or an operator that skips operands. */
bool ptx_src_has_branches(const struct ptx_assigned *source, size_t from, size_t to);
/** Returns the last line of the `else` parts in braces that follow a block, or 0. */
unsigned ptx_src_end_of_else(const struct ptx_assigned *source, const struct ptx_brace *block);
/** Returns true if the operator at @i is certainly binary, because a name, a number or an index precedes it. */
bool ptx_src_has_left_side(const struct ptx_assigned *source, size_t i);
/** Returns true if the name at @i is that of a member of a variable: `.` or `->` precedes the name. */
bool ptx_src_is_member(const struct ptx_assigned *source, size_t i);
/** Returns true if the `=` at @i is that of "TYPE &NAME = ...". */
bool ptx_src_is_reference(const struct ptx_assigned *source, size_t i);
#endif
