/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, statements and loops of a source text. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ptx/compiler/source/ptx_source_priv.h"

#include <stdlib.h>

enum { MOST_LINES = 20 };

/* Returns true if the text contains an asm statement. */
static bool has_asm(const struct ptx_assigned *source)
{
    for (const char *p = source->text, *end = p + source->size; p != NULL && (p = memmem(p, (size_t)(end - p), "asm", 3)) != NULL; p++)
        if (p == source->text || p[-1] == '_' || !ptx_src_is_word(p[-1]))
            return true;
    return false;
}

/* Returns the index after the "(...)" that begins at @i. */
size_t ptx_src_after_bracket(const struct ptx_assigned *source, size_t i)
{
    for (unsigned depth = 0; i < source->size; i++) {
        depth += source->text[i] == '(';
        depth -= source->text[i] == ')' && depth != 0;
        if (depth == 0)
            return i + 1;
    }
    return i;
}

static bool grow(void **list, size_t count, size_t *capacity, size_t size)
{
    void *grown;

    if (count < *capacity)
        return true;
    grown = realloc(*list, (*capacity != 0 ? 2 * *capacity : 64) * size);
    if (grown == NULL)
        return false;
    *list = grown;
    *capacity = *capacity != 0 ? 2 * *capacity : 64;
    return true;
}

/* Returns true if the brace at @i begins a block of declarations: of a language linkage, as in `extern "C" {`, or of a namespace.
 */
static bool is_of_declarations(const struct ptx_assigned *source, size_t i)
{
    size_t from, to = ptx_src_before_blanks(source, i) + 1;

    if (to == 0 || source->text[to - 1] == '"')
        return to != 0;
    for (unsigned words = 0; words < 2; words++) {
        for (from = to; from != 0 && ptx_src_is_word(source->text[from - 1]); from--)
            ;
        if (ptx_src_is_text(source, from, to, "namespace"))
            return true;
        to = ptx_src_before_blanks(source, from) + 1;
    }
    return false;
}

/* Finds the ends of lines, and matching braces outside comments and strings. Returns false if the host has too little memory. */
static bool find_blocks(struct ptx_assigned *source)
{
    size_t open = SIZE_MAX, line_capacity = 0, brace_capacity = 0;

    for (size_t i = 0; i < source->size; i++) {
        const char c = source->text[i];

        if (c == '\n') {
            if (!grow((void **)&source->lines, source->line_count, &line_capacity, sizeof *source->lines))
                return false;
            source->lines[source->line_count++] = i;
        }
    }
    for (size_t i = 0; i < source->size; i++) {
        const char c = source->text[i];

        if (c == '/' && ptx_src_char(source, i + 1) == '/') {
            while (i + 1 < source->size && source->text[i + 1] != '\n')
                i++;
        } else if (c == '/' && ptx_src_char(source, i + 1) == '*') {
            for (i += 2; i + 1 < source->size && (source->text[i] != '*' || source->text[i + 1] != '/'); i++)
                ;
            i++;
        } else if (c == '"' || (c == '\'' && (i == 0 || source->text[i - 1] < '0' || source->text[i - 1] > '9'))) {
            for (i++; i < source->size && source->text[i] != c && source->text[i] != '\n'; i++)
                i += source->text[i] == '\\';
        } else if (c == '{' || c == '}') {
            struct ptx_brace *brace;

            if (c == '{' && open == SIZE_MAX && is_of_declarations(source, i))
                continue;
            if (!grow((void **)&source->braces, source->brace_count, &brace_capacity, sizeof *source->braces))
                return false;
            brace = &source->braces[source->brace_count++];
            *brace = (struct ptx_brace){i, SIZE_MAX, open};
            if (c == '{') {
                open = source->brace_count - 1;
            } else if (open != SIZE_MAX) {
                source->braces[open].end = i;
                open = source->braces[open].parent;
                brace->parent = open;
            }
        }
    }
    return true;
}

/* Returns the line number of index @i. */
unsigned ptx_src_line_at(const struct ptx_assigned *source, size_t i)
{
    size_t low = 0, high = source->line_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (source->lines[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return (unsigned)low + 1;
}

/* Returns the index of the first character of a line. */
size_t ptx_src_begin_of_line(const struct ptx_assigned *source, unsigned line)
{
    return line <= 1 ? 0 : line - 2 < source->line_count ? source->lines[line - 2] + 1 : source->size;
}

/* Returns the innermost block that contains @i, or NULL. */
const struct ptx_brace *ptx_src_block_around(const struct ptx_assigned *source, size_t i)
{
    size_t low = 0, high = source->brace_count, index;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (source->braces[middle].at < i)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    index = source->text[source->braces[low - 1].at] == '{' ? low - 1 : source->braces[low - 1].parent;
    return index != SIZE_MAX ? &source->braces[index] : NULL;
}

unsigned ptx_src_end_line_of(const struct ptx_assigned *source, const struct ptx_brace *block)
{
    return block != NULL && block->end != SIZE_MAX ? ptx_src_line_at(source, block->end) : 0;
}

/* Returns the block that is the scope of a declaration at @i, or NULL if the block is not found. The scope of a parameter, or of
 * a declaration in the head of a loop, is the block after the closing parenthesis. Otherwise the scope is the block around @i. */
const struct ptx_brace *ptx_src_scope_of(const struct ptx_assigned *source, size_t i)
{
    unsigned round = 0;
    bool ends = false;

    for (size_t k = i; k-- != 0 && round == 0 && strchr(";{}", source->text[k]) == NULL;) {
        unsigned closed = 0;

        while (k != 0 && (closed != 0 || source->text[k] == ')')) { /* goes back over a text in parentheses */
            closed += source->text[k] == ')';
            closed -= source->text[k] == '(';
            k--;
        }
        round = source->text[k] == '('; /* the declaration is in a parameter list or in the head of a loop */
    }
    for (; i < source->size; i++) {
        const char c = source->text[i];

        if (c == '{' && round == 0 && !ends)
            return ptx_src_block_around(source, i + 1);
        if (c == '}' || (c == '{' && ends) || (c == ';' && round == 0))
            break;
        ends |= c == '=' && round == 0;
        round += c == '(';
        round -= c == ')' && round != 0;
    }
    return ptx_src_block_around(source, i);
}

/* Returns the start of the word before the "(...)" that ends at @i, and stores the end of the word in *@end. */
static size_t word_of_bracket(const struct ptx_assigned *source, size_t i, size_t *end)
{
    size_t word;

    for (unsigned round = 0; i != 0; i--) {
        round += source->text[i] == ')';
        round -= source->text[i] == '(';
        if (round == 0)
            break;
    }
    *end = ptx_src_before_blanks(source, i) + 1;
    for (word = *end; word != 0 && ptx_src_is_word(source->text[word - 1]); word--)
        ;
    return word;
}

/* Returns true if it is certain that no loop contains @i, so that a call of the function reaches @i at most once. */
bool ptx_src_is_outside_of_loops(const struct ptx_assigned *source, size_t i)
{
    if (source->jumps || source->has_asm)
        return false;
    for (;;) {
        const struct ptx_brace *block = ptx_src_block_around(source, i);
        size_t from, to;

        if (block == NULL || block->at == 0 || ptx_src_char(source, ptx_src_before_blanks(source, block->at)) != ')')
            return false;
        from = word_of_bracket(source, ptx_src_before_blanks(source, block->at), &to);
        if (block->parent == SIZE_MAX)
            return true; /* the block is the body of the function */
        if (!ptx_src_is_text(source, from, to, "if") || strchr(";{}", ptx_src_char(source, ptx_src_before_blanks(source, from))) == NULL)
            return false;
        i = from;
    }
}

/* Returns true if @i is in the block of a switch, which control may enter in the middle. */
bool ptx_src_is_in_switch(const struct ptx_assigned *source, size_t i)
{
    const struct ptx_brace *block = ptx_src_block_around(source, i);
    size_t from, to;

    if (block == NULL || block->at == 0 || ptx_src_char(source, ptx_src_before_blanks(source, block->at)) != ')')
        return false;
    from = word_of_bracket(source, ptx_src_before_blanks(source, block->at), &to);
    return ptx_src_is_text(source, from, to, "switch");
}

/* Returns the start of the word that ends before @end. */
size_t ptx_src_begin_of_word(const struct ptx_assigned *source, size_t end)
{
    while (end != 0 && ptx_src_is_word(source->text[end - 1]))
        end--;
    return end;
}

bool ptx_src_is_one_of(const struct ptx_assigned *source, size_t from, size_t to, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (ptx_src_is_text(source, from, to, words[k]))
            return true;
    return false;
}

/* Returns true if the statement that contains the name at @i uses the name whenever the block around the statement is executed:
 * no `if`, `case`, loop, or operator that skips operands precedes the name in the statement. */
bool ptx_src_is_reached(const struct ptx_assigned *source, size_t i)
{
    static const char *const before_statement[] = {"else", "do"};
    static const char *const before_bracket[] = {"if", "for", "while", "switch", "sizeof", "decltype"};

    for (size_t before = ptx_src_before_blanks(source, i); before != SIZE_MAX; before--) { /* goes back to the start of the statement */
        const char c = source->text[before];

        if (strchr(";{}:", c) != NULL)
            return c != ':';
        if (strchr("?#\"'", c) != NULL || ((c == '&' || c == '|') && before != 0 && source->text[before - 1] == c))
            return false;
        if (c == ')') { /* otherwise the parentheses may be those of an `if`, or of a macro that begins a loop */
            const char next = ptx_src_char(source, ptx_src_after_blanks(source, before + 1));
            unsigned round = 1;

            if (next != ',' && next != ')')
                return false;
            while (before != 0 && round != 0) {
                before--;
                round += source->text[before] == ')';
                round -= source->text[before] == '(';
            }
        } else if (c == '(') {
            const size_t end = ptx_src_before_blanks(source, before) + 1, from = ptx_src_begin_of_word(source, end);

            if (ptx_src_is_one_of(source, from, end, before_bracket, LW_COUNT_OF(before_bracket)))
                return false;
        } else if (ptx_src_is_word(c)) {
            const size_t end = before + 1;

            before = ptx_src_begin_of_word(source, end);
            if (ptx_src_is_one_of(source, before, end, before_statement, LW_COUNT_OF(before_statement)))
                return false;
        }
        if (before == 0)
            break;
    }
    return false;
}

/* Returns the index of the character that ends the statement around @i, or of the closing parenthesis if @i is in parentheses.
 * Returns the index after MOST_LINES lines if the statement has more lines. */
size_t ptx_src_end_of_text(const struct ptx_assigned *source, size_t i)
{
    unsigned depth = 0, lines = 0;

    for (; lines < MOST_LINES; i++) {
        const char c = ptx_src_char(source, i);

        if (c == ';' || c == '{' || (depth == 0 && (c == ')' || c == '}')))
            break;
        depth += c == '(' || c == '[' || c == '{';
        depth -= (c == ')' || c == ']' || c == '}') && depth != 0;
        lines += c == '\n';
    }
    return i;
}

static bool has_word(const struct ptx_assigned *source, size_t from, size_t to, const char *const *words, size_t count)
{
    for (size_t i = from; i < to && i < source->size; i++)
        for (size_t k = 0; k < count && !ptx_src_is_word(ptx_src_char(source, i - 1)); k++)
            if (ptx_src_is_word_at(source, i, words[k]))
                return true;
    return false;
}

/* Returns true if [@from, @to) contains a jump, by which the execution may skip the statements after the jump. */
bool ptx_src_has_jumps(const struct ptx_assigned *source, size_t from, size_t to)
{
    static const char *const jumps[] = {"continue", "break", "return", "goto"};

    return has_word(source, from, to, jumps, LW_COUNT_OF(jumps));
}

/* Returns true if [@from, @to) contains a branch, or an operator that skips operands. */
bool ptx_src_has_branches(const struct ptx_assigned *source, size_t from, size_t to)
{
    static const char *const branches[] = {"if", "switch", "and", "or"};

    for (size_t i = from; i < to && i < source->size; i++) {
        const char c = source->text[i];

        if (c == '?' || ((c == '&' || c == '|') && ptx_src_char(source, i + 1) == c))
            return true;
    }
    return has_word(source, from, to, branches, LW_COUNT_OF(branches));
}

static bool find_loops(struct ptx_assigned *source)
{
    size_t capacity = 0;

    for (size_t i = 1; i < source->size; i++) {
        const bool is_do = ptx_src_is_word_at(source, i, "do");
        size_t end;

        if (ptx_src_is_word(source->text[i - 1]) || (!is_do && !ptx_src_is_word_at(source, i, "for") && !ptx_src_is_word_at(source, i, "while")))
            continue;
        for (end = i; ptx_src_is_word(ptx_src_char(source, end)); end++)
            ;
        end = ptx_src_after_blanks(source, end);
        if (ptx_src_char(source, end) == '(')
            end = ptx_src_after_blanks(source, ptx_src_after_bracket(source, end));
        if (ptx_src_char(source, end) == '{') {
            const struct ptx_brace *block = ptx_src_block_around(source, end + 1);

            end = block != NULL && block->end != SIZE_MAX ? block->end : source->size;
            while (is_do && ptx_src_char(source, end) != ';')
                end++;
        } else {
            while (ptx_src_char(source, end) != ';')
                end++;
        }
        if (!grow((void **)&source->loops, source->loop_count, &capacity, sizeof *source->loops))
            return false;
        source->loops[source->loop_count].has_jumps = ptx_src_has_jumps(source, i, end);
        source->loops[source->loop_count].first = ptx_src_line_at(source, i);
        source->loops[source->loop_count].last = ptx_src_line_at(source, end);
        source->loops[source->loop_count].has_branches = ptx_src_has_branches(source, i, end);
        source->loops[source->loop_count].is_do = is_do;
        source->loop_count++;
    }
    return true;
}

/* Returns the block of another variable, whose declaration names it at [@from, @to) in the scope of a variable of the same name.
 * Returns NULL if the name is no such declaration, or not certainly. */
const struct ptx_brace *ptx_src_inner_scope(const struct ptx_assigned *source, size_t from, size_t to, const struct ptx_brace *scope)
{
    static const char *const keywords[] = {
        "return", "else",   "do",  "case",  "goto", "sizeof", "throw", "delete", "new",           "typename", "struct",   "union", "enum",
        "class",  "and",    "or",  "not",   "xor",  "compl",  "bitor", "bitand", "__extension__", "__real__", "__imag__", "co_return"};
    const size_t end = ptx_src_before_blanks(source, from) + 1, word = ptx_src_begin_of_word(source, end);
    const struct ptx_brace *block;

    if (word == end || (source->text[word] >= '0' && source->text[word] <= '9') ||
        ptx_src_is_one_of(source, word, end, keywords, LW_COUNT_OF(keywords)))
        return NULL; /* no type precedes the name */
    block = ptx_src_scope_of(source, to);
    if (block == NULL || block == scope || block->end == SIZE_MAX || block->at <= scope->at || block->end >= scope->end)
        return NULL;
    if (block->at > from)
        return block; /* the declaration is in the head of a loop with braces */
    for (size_t k = word; k-- != 0;)
        if (strchr("(;{}", source->text[k]) != NULL)
            return source->text[k] != '(' ? block : NULL;
    return NULL;
}

/* Returns the last line of the `else` parts in braces that follow a block, or 0. */
unsigned ptx_src_end_of_else(const struct ptx_assigned *source, const struct ptx_brace *block)
{
    unsigned line = 0;

    while (block != NULL && block->end != SIZE_MAX && !source->jumps) {
        size_t i = ptx_src_after_blanks(source, block->end + 1);

        if (!ptx_src_is_word_at(source, i, "else"))
            break;
        i = ptx_src_after_blanks(source, i + 4);
        if (ptx_src_is_word_at(source, i, "if"))
            i = ptx_src_after_blanks(source, ptx_src_after_bracket(source, ptx_src_after_blanks(source, i + 2)));
        block = ptx_src_char(source, i) == '{' ? ptx_src_block_around(source, i + 1) : NULL;
        line = block != NULL ? ptx_src_end_line_of(source, block) : line;
    }
    return line;
}

bool ptx_assigned_is_in_block(const struct ptx_assigned *source, size_t i)
{
    return ptx_src_block_around(source, i) != NULL;
}

void ptx_assigned_read(struct ptx_assigned *source, const char *text, size_t size, bool is_cpp)
{
    static const char *const braces[] = {"<%", "%>", "?\?<", "?\?>"}; /* other spellings of braces, which are not searched */

    for (size_t i = 0; i < LW_COUNT_OF(braces) && size != 0; i++)
        if (memmem(text, size, braces[i], strlen(braces[i])) != NULL)
            size = 0;
    *source = (struct ptx_assigned){.text = text, .size = size, .has_references = is_cpp};
    source->has_asm = has_asm(source);
    source->jumps = source->size != 0 && memmem(source->text, source->size, "goto", 4) != NULL;
    if (!find_blocks(source) || !find_loops(source))
        source->line_count = 0; /* A source without blocks and loops leaves the lines of assignments unknown. */
}

void ptx_assigned_forget(struct ptx_assigned *source)
{
    free(source->lines);
    free(source->braces);
    free(source->loops);
}
