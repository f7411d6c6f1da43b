/* SPDX-License-Identifier: Apache-2.0 */
/* Determines from the text of a source whether the source may assign to a variable of a given name, and on which lines. A
 * kernel parameter that is never assigned keeps the value of the launch, even if clang's debug information contains no
 * value. The analysis is conservative. Arguments of C++ functions and asm statements count as assigned. The text contains no
 * macros (ptx_source_text.c). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { MOST_SCANNED = 1 << 26, MOST_LINES = 20 };

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\';
}

/* Returns a character of the source, or ';' for an index outside the source. */
static char at(const struct ptx_assigned *source, size_t i)
{
    return i < source->size ? source->text[i] : ';';
}

static size_t after_blanks(const struct ptx_assigned *source, size_t i)
{
    while (is_blank(at(source, i)))
        i++;
    return i;
}

/* Returns the index of the last non-blank character before @i, or SIZE_MAX. */
static size_t before_blanks(const struct ptx_assigned *source, size_t i)
{
    while (i != 0 && is_blank(source->text[i - 1]))
        i--;
    return i - 1;
}

static bool is_text(const struct ptx_assigned *source, size_t from, size_t to, const char *text)
{
    return to - from == strlen(text) && memcmp(source->text + from, text, to - from) == 0;
}

/* Returns true if the operator at @i is certainly binary, because a name, a number or an index precedes it. */
static bool has_left_side(const struct ptx_assigned *source, size_t i)
{
    const size_t before = before_blanks(source, i);
    size_t word = before + 1;

    if (before == SIZE_MAX || !is_word(at(source, before)))
        return before != SIZE_MAX && at(source, before) == ']';
    while (word != 0 && is_word(source->text[word - 1]))
        word--;
    return !is_text(source, word, before + 1, "return") && !is_text(source, word, before + 1, "sizeof") &&
           !is_text(source, word, before + 1, "else") && !is_text(source, word, before + 1, "do");
}

/* Returns true if the variable whose name is at @i is declared as a pointer: `*` and qualifiers precede the name. */
static bool declares_pointer(const struct ptx_assigned *source, size_t i)
{
    static const char *const qualifiers[] = {"const", "volatile", "restrict", "__restrict", "__restrict__"};

    for (;;) {
        const size_t before = before_blanks(source, i);
        size_t k = 0;

        if (before == SIZE_MAX || !is_word(source->text[before]))
            return before != SIZE_MAX && source->text[before] == '*';
        for (i = before + 1; i != 0 && is_word(source->text[i - 1]); i--)
            ;
        while (k < LW_COUNT_OF(qualifiers) && !is_text(source, i, before + 1, qualifiers[k]))
            k++;
        if (k == LW_COUNT_OF(qualifiers))
            return false;
    }
}

static bool is_word_at(const struct ptx_assigned *source, size_t i, const char *word)
{
    const size_t size = strlen(word);

    return i + size < source->size && memcmp(source->text + i, word, size) == 0 && !is_word(at(source, i + size));
}

/* Returns true if an operator at @i assigns to its left side. */
static bool is_assignment(const struct ptx_assigned *source, size_t i)
{
    const char a = at(source, i), aa = at(source, i + 1);

    if (a == '=')
        return aa != '=';
    if (source->has_references &&
        (is_word_at(source, i, "and_eq") || is_word_at(source, i, "or_eq") || is_word_at(source, i, "xor_eq")))
        return true;
    if (a == '<' || a == '>')
        return aa == a && at(source, i + 2) == '=';
    return strchr("+-*/%&|^", a) != NULL && (aa == '=' || ((a == '+' || a == '-') && aa == a));
}

/* Returns true if the name at @i is that of a member of a variable: `.` or `->` precedes the name. */
static bool is_member(const struct ptx_assigned *source, size_t i)
{
    const size_t before = before_blanks(source, i);

    return before != SIZE_MAX && before != 0 &&
           (source->text[before] == '.' || (source->text[before] == '>' && source->text[before - 1] == '-'));
}

/* Returns true if the occurrence of a name at [@from, @to) of the source may be an assignment to the variable. */
static bool may_assign(const struct ptx_assigned *source, size_t from, size_t to)
{
    size_t before = before_blanks(source, from);
    char a, aa;

    to = after_blanks(source, to);
    while (at(source, to) == '.') { /* Skips the names of members of a structure or vector. */
        for (to++; is_blank(at(source, to)) || is_word(at(source, to)); to++)
            ;
    }
    if ((source->has_asm || source->has_references) && (at(source, before) == '(' || at(source, before) == ',') &&
        (at(source, to) == ')' || at(source, to) == ','))
        return true;
    while (at(source, before) == '(' && at(source, to) == ')') {
        before = before_blanks(source, before);
        to = after_blanks(source, to + 1);
    }
    a = at(source, to);
    aa = at(source, to + 1);
    if (is_assignment(source, to) || (a == '/' && (aa == '*' || aa == '/')))
        return true;
    a = at(source, before);
    aa = before != 0 ? at(source, before - 1) : ';';
    if (source->is_pointer && (at(source, to) == '[' || (at(source, to) == '-' && at(source, to + 1) == '>')))
        return false; /* "&NAME[...]" is the address of an object to which NAME points */
    return ((a == '+' || a == '-') && aa == a) || (a == '&' && aa != '&' && !has_left_side(source, before)) || (a == '/' && aa == '*');
}

/* Returns the index after the "(...)" that begins at @i. */
static size_t after_bracket(const struct ptx_assigned *source, size_t i)
{
    for (unsigned depth = 0; i < source->size; i++) {
        depth += source->text[i] == '(';
        depth -= source->text[i] == ')' && depth != 0;
        if (depth == 0)
            return i + 1;
    }
    return i;
}

/* Skips "[...]" and ".x" after a name. */
static size_t after_parts(const struct ptx_assigned *source, size_t i)
{
    for (;;) {
        i = after_blanks(source, i);
        if (at(source, i) == '.') {
            for (i++; is_blank(at(source, i)) || is_word(at(source, i)); i++)
                ;
        } else if (at(source, i) == '[') {
            for (unsigned depth = 0; at(source, i) != ';'; i++) {
                depth += at(source, i) == '[';
                depth -= at(source, i) == ']';
                if (depth == 0)
                    break;
            }
            if (at(source, i) == ';')
                return i;
            i++;
        } else {
            return i;
        }
    }
}

/* Returns true if the text contains an asm statement. */
static bool has_asm(const struct ptx_assigned *source)
{
    for (const char *p = source->text, *end = p + source->size; p != NULL && (p = memmem(p, (size_t)(end - p), "asm", 3)) != NULL; p++)
        if (p == source->text || p[-1] == '_' || !is_word(p[-1]))
            return true;
    return false;
}

bool ptx_is_never_assigned(struct ptx_assigned *source, const char *name, size_t size)
{
    bool found = false;

    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED || size == 0 || source->size == 0)
        return false;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text);

        if ((from != 0 && is_word(source->text[from - 1])) || is_word(at(source, from + size)) || is_member(source, from))
            continue;
        if (may_assign(source, from, from + size))
            return false;
        found = true;
    }
    return found;
}

/* ---- lines and blocks ---------------------------------------------------------------------------- */

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
    size_t from, to = before_blanks(source, i) + 1;

    if (to == 0 || source->text[to - 1] == '"')
        return to != 0;
    for (unsigned words = 0; words < 2; words++) {
        for (from = to; from != 0 && is_word(source->text[from - 1]); from--)
            ;
        if (is_text(source, from, to, "namespace"))
            return true;
        to = before_blanks(source, from) + 1;
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

        if (c == '/' && at(source, i + 1) == '/') {
            while (i + 1 < source->size && source->text[i + 1] != '\n')
                i++;
        } else if (c == '/' && at(source, i + 1) == '*') {
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
static unsigned line_at(const struct ptx_assigned *source, size_t i)
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
static size_t begin_of_line(const struct ptx_assigned *source, unsigned line)
{
    return line <= 1 ? 0 : line - 2 < source->line_count ? source->lines[line - 2] + 1 : source->size;
}

/* Returns the innermost block that contains @i, or NULL. */
static const struct ptx_brace *block_around(const struct ptx_assigned *source, size_t i)
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

static unsigned end_line_of(const struct ptx_assigned *source, const struct ptx_brace *block)
{
    return block != NULL && block->end != SIZE_MAX ? line_at(source, block->end) : 0;
}

/* Returns the block that is the scope of a declaration at @i, or NULL if the block is not found. The scope of a parameter, or of
 * a declaration in the head of a loop, is the block after the closing parenthesis. Otherwise the scope is the block around @i. */
static const struct ptx_brace *scope_of(const struct ptx_assigned *source, size_t i)
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
            return block_around(source, i + 1);
        if (c == '}' || (c == '{' && ends) || (c == ';' && round == 0))
            break;
        ends |= c == '=' && round == 0;
        round += c == '(';
        round -= c == ')' && round != 0;
    }
    return block_around(source, i);
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
    *end = before_blanks(source, i) + 1;
    for (word = *end; word != 0 && is_word(source->text[word - 1]); word--)
        ;
    return word;
}

/* Returns true if it is certain that no loop contains @i, so that a call of the function reaches @i at most once. */
static bool is_outside_of_loops(const struct ptx_assigned *source, size_t i)
{
    if (source->jumps || source->has_asm)
        return false;
    for (;;) {
        const struct ptx_brace *block = block_around(source, i);
        size_t from, to;

        if (block == NULL || block->at == 0 || at(source, before_blanks(source, block->at)) != ')')
            return false;
        from = word_of_bracket(source, before_blanks(source, block->at), &to);
        if (block->parent == SIZE_MAX)
            return true; /* the block is the body of the function */
        if (!is_text(source, from, to, "if") || strchr(";{}", at(source, before_blanks(source, from))) == NULL)
            return false;
        i = from;
    }
}

/* Returns true if @i is in the block of a switch, which control may enter in the middle. */
static bool is_in_switch(const struct ptx_assigned *source, size_t i)
{
    const struct ptx_brace *block = block_around(source, i);
    size_t from, to;

    if (block == NULL || block->at == 0 || at(source, before_blanks(source, block->at)) != ')')
        return false;
    from = word_of_bracket(source, before_blanks(source, block->at), &to);
    return is_text(source, from, to, "switch");
}

/* Returns the start of the word that ends before @end. */
static size_t begin_of_word(const struct ptx_assigned *source, size_t end)
{
    while (end != 0 && is_word(source->text[end - 1]))
        end--;
    return end;
}

static bool is_one_of(const struct ptx_assigned *source, size_t from, size_t to, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (is_text(source, from, to, words[k]))
            return true;
    return false;
}

/* Returns true if the statement that contains the name at @i uses the name whenever the block around the statement is executed:
 * no `if`, `case`, loop, or operator that skips operands precedes the name in the statement. */
static bool is_reached(const struct ptx_assigned *source, size_t i)
{
    static const char *const before_statement[] = {"else", "do"};
    static const char *const before_bracket[] = {"if", "for", "while", "switch", "sizeof", "decltype"};

    for (size_t before = before_blanks(source, i); before != SIZE_MAX; before--) { /* goes back to the start of the statement */
        const char c = source->text[before];

        if (strchr(";{}:", c) != NULL)
            return c != ':';
        if (strchr("?#\"'", c) != NULL || ((c == '&' || c == '|') && before != 0 && source->text[before - 1] == c))
            return false;
        if (c == ')') { /* otherwise the parentheses may be those of an `if`, or of a macro that begins a loop */
            const char next = at(source, after_blanks(source, before + 1));
            unsigned round = 1;

            if (next != ',' && next != ')')
                return false;
            while (before != 0 && round != 0) {
                before--;
                round += source->text[before] == ')';
                round -= source->text[before] == '(';
            }
        } else if (c == '(') {
            const size_t end = before_blanks(source, before) + 1, from = begin_of_word(source, end);

            if (is_one_of(source, from, end, before_bracket, LW_COUNT_OF(before_bracket)))
                return false;
        } else if (is_word(c)) {
            const size_t end = before + 1;

            before = begin_of_word(source, end);
            if (is_one_of(source, before, end, before_statement, LW_COUNT_OF(before_statement)))
                return false;
        }
        if (before == 0)
            break;
    }
    return false;
}

/* Returns true if the text declares a function or a lambda that is named at [@from, @to) and has a parameter that is a reference. */
static bool takes_reference(struct ptx_assigned *source, size_t from, size_t to)
{
    const char *name = source->text + from;

    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED)
        return true;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, to - from)) != NULL; p++) {
        const size_t i = (size_t)(p - source->text), before = before_blanks(source, i);
        size_t open = after_blanks(source, i + (to - from)), close;

        if (before == SIZE_MAX || is_word(source->text[i - 1]) || is_word(at(source, i + (to - from))))
            continue;
        if (at(source, open) == '=') { /* a lambda: NAME = [...](...) */
            open = after_blanks(source, open + 1);
            while (at(source, open) != ']' && at(source, open) != ';')
                open++;
            open = after_blanks(source, open + 1);
        } else if (!is_word(source->text[before]) && strchr("*&>", source->text[before]) == NULL) {
            continue; /* no type precedes the name */
        }
        if (at(source, open) != '(')
            continue;
        close = after_bracket(source, open);
        if (memchr(source->text + open, '&', close - open) != NULL && !is_one_of(source, begin_of_word(source, before + 1), before + 1,
                                                                                 (const char *const[]){"return", "else", "do"}, 3))
            return true;
    }
    return false;
}

/* Returns true if the name at [@from, @to) is an argument of a call that may assign to it, because a function of the called name
 * has a reference as a parameter. */
static bool is_bound(struct ptx_assigned *source, size_t from, size_t to)
{
    size_t i = before_blanks(source, from), end;
    unsigned depth = 0;

    if (!source->has_references || i == SIZE_MAX || strchr("(,", source->text[i]) == NULL || strchr("),", at(source, after_blanks(source, to))) == NULL)
        return false;
    for (; i != 0 && strchr(";{}", source->text[i]) == NULL && (depth != 0 || source->text[i] != '('); i--) {
        depth += source->text[i] == ')';
        depth -= source->text[i] == '(';
    }
    if (source->text[i] != '(')
        return false;
    end = before_blanks(source, i) + 1;
    if (end != 0 && source->text[end - 1] == '>') { /* arguments of a template */
        while (end != 0 && source->text[end - 1] != '<')
            end--;
        end = before_blanks(source, end - (end != 0)) + 1;
    }
    i = begin_of_word(source, end);
    return i != end && takes_reference(source, i, end);
}

/* Returns true if the `=` at @i is that of "TYPE &NAME = ...". */
static bool is_reference(const struct ptx_assigned *source, size_t i)
{
    size_t before = before_blanks(source, i);

    while (before != SIZE_MAX && is_word(source->text[before]))
        before--;
    while (before != SIZE_MAX && is_blank(source->text[before]))
        before--;
    if (before == SIZE_MAX || before == i || source->text[before] != '&')
        return false;
    before = before_blanks(source, before);
    return before != SIZE_MAX && (is_word(source->text[before]) || strchr("&>", source->text[before]) != NULL);
}

/* Returns true if the name at @i is in the initialiser of a reference. Other names may then mean the variable, too. */
static bool is_aliased(const struct ptx_assigned *source, size_t i)
{
    while (i-- != 0 && strchr(";{}", source->text[i]) == NULL)
        if (source->text[i] == '=' && is_reference(source, i))
            return true;
    return false;
}

/* Returns the index of the character that ends the statement around @i, or of the closing parenthesis if @i is in parentheses.
 * Returns the index after MOST_LINES lines if the statement has more lines. */
static size_t end_of_text(const struct ptx_assigned *source, size_t i)
{
    unsigned depth = 0, lines = 0;

    for (; lines < MOST_LINES; i++) {
        const char c = at(source, i);

        if (c == ';' || c == '{' || (depth == 0 && (c == ')' || c == '}')))
            break;
        depth += c == '(' || c == '[' || c == '{';
        depth -= (c == ')' || c == ']' || c == '}') && depth != 0;
        lines += c == '\n';
    }
    return i;
}

/* Returns true if [@from, @to) contains a jump, by which the execution may skip the statements after the jump. */
static bool has_jumps(const struct ptx_assigned *source, size_t from, size_t to)
{
    static const char *const jumps[] = {"continue", "break", "return", "goto"};

    for (size_t i = from; i < to && i < source->size; i++)
        for (size_t k = 0; k < LW_COUNT_OF(jumps) && !is_word(at(source, i - 1)); k++)
            if (is_word_at(source, i, jumps[k]))
                return true;
    return false;
}

static bool find_loops(struct ptx_assigned *source)
{
    size_t capacity = 0;

    for (size_t i = 1; i < source->size; i++) {
        const bool is_do = is_word_at(source, i, "do");
        size_t end;

        if (is_word(source->text[i - 1]) || (!is_do && !is_word_at(source, i, "for") && !is_word_at(source, i, "while")))
            continue;
        for (end = i; is_word(at(source, end)); end++)
            ;
        end = after_blanks(source, end);
        if (at(source, end) == '(')
            end = after_blanks(source, after_bracket(source, end));
        if (at(source, end) == '{') {
            const struct ptx_brace *block = block_around(source, end + 1);

            end = block != NULL && block->end != SIZE_MAX ? block->end : source->size;
            while (is_do && at(source, end) != ';')
                end++;
        } else {
            while (at(source, end) != ';')
                end++;
        }
        if (!grow((void **)&source->loops, source->loop_count, &capacity, sizeof *source->loops))
            return false;
        source->loops[source->loop_count].has_jumps = has_jumps(source, i, end);
        source->loops[source->loop_count].first = line_at(source, i);
        source->loops[source->loop_count++].last = line_at(source, end);
    }
    return true;
}

/* Reads a decimal literal at @i. Returns false if another token is there, or if an operator other than `;`, `,` or `)`
 * follows. */
static bool take_literal(const struct ptx_assigned *source, size_t i, int64_t *out)
{
    const size_t first = i;

    for (*out = 0; at(source, i) >= '0' && at(source, i) <= '9' && i - first < 9; i++)
        *out = 10 * *out + (at(source, i) - '0');
    if (i == first || (source->text[first] == '0' && i != first + 1))
        return false;
    i += at(source, i) == 'u' || at(source, i) == 'U';
    return strchr(";,)", at(source, after_blanks(source, i))) != NULL;
}

/* Returns true if the occurrence of a variable's name at [@from, @to) adds a constant, as in `i++` or `i += 2`, or assigns a
 * constant. Stores the added constant in *@step, or 0 for an assignment. */
static bool is_step(const struct ptx_assigned *source, size_t from, size_t to, int64_t *step)
{
    const size_t next = after_blanks(source, to), before = before_blanks(source, from);
    const char first = at(source, next), second = at(source, next + 1);

    *step = first == '-' ? -1 : 1;
    if ((first == '+' || first == '-') && second == first)
        return true;
    if ((first == '+' || first == '-') && second == '=') {
        const int64_t sign = *step;

        if (!take_literal(source, after_blanks(source, next + 2), step))
            return false;
        *step *= sign;
        return *step != 0;
    }
    if (first == '=' && second != '=') {
        int64_t value;

        *step = 0;
        return take_literal(source, after_blanks(source, next + 1), &value);
    }
    if (before == SIZE_MAX || before == 0 || (source->text[before] != '+' && source->text[before] != '-') ||
        source->text[before - 1] != source->text[before] || has_left_side(source, before - 1))
        return false;
    *step = source->text[before] == '-' ? -1 : 1;
    return true;
}

/* Returns true if the occurrence of a variable's name at [@from, @to) begins the condition of a `for`, and this condition
 * compares the variable with a constant, as in `i < 4`. Stores the lowest value with which a rising variable ends the loop. */
static bool is_limit(const struct ptx_assigned *source, size_t from, size_t to, int64_t *limit)
{
    const size_t before = before_blanks(source, from);
    size_t next = after_blanks(source, to);
    const bool inclusive = at(source, next) == '<' && at(source, next + 1) == '=';

    if (before == SIZE_MAX || source->text[before] != ';' || at(source, next) != '<')
        return false;
    next = after_blanks(source, next + 1 + inclusive);
    if (!take_literal(source, next, limit))
        return false;
    *limit += inclusive;
    while (is_word(at(source, next)))
        next++;
    return at(source, after_blanks(source, next)) == ';';
}

/* Returns the block of another variable, whose declaration names it at [@from, @to) in the scope of a variable of the same name.
 * Returns NULL if the name is no such declaration, or not certainly. */
static const struct ptx_brace *inner_scope(const struct ptx_assigned *source, size_t from, size_t to, const struct ptx_brace *scope)
{
    static const char *const keywords[] = {
        "return", "else",   "do",  "case",  "goto", "sizeof", "throw", "delete", "new",           "typename", "struct",   "union", "enum",
        "class",  "and",    "or",  "not",   "xor",  "compl",  "bitor", "bitand", "__extension__", "__real__", "__imag__", "co_return"};
    const size_t end = before_blanks(source, from) + 1, word = begin_of_word(source, end);
    const struct ptx_brace *block;

    if (word == end || (source->text[word] >= '0' && source->text[word] <= '9') ||
        is_one_of(source, word, end, keywords, LW_COUNT_OF(keywords)))
        return NULL; /* no type precedes the name */
    block = scope_of(source, to);
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
static unsigned end_of_else(const struct ptx_assigned *source, const struct ptx_brace *block)
{
    unsigned line = 0;

    while (block != NULL && block->end != SIZE_MAX && !source->jumps) {
        size_t i = after_blanks(source, block->end + 1);

        if (!is_word_at(source, i, "else"))
            break;
        i = after_blanks(source, i + 4);
        if (is_word_at(source, i, "if"))
            i = after_blanks(source, after_bracket(source, after_blanks(source, i + 2)));
        block = at(source, i) == '{' ? block_around(source, i + 1) : NULL;
        line = block != NULL ? end_line_of(source, block) : line;
    }
    return line;
}

bool ptx_assigned_lines(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out)
{
    int64_t step = 0, one, limit = 0, other;
    unsigned limits = 0; /* number of loops that compare the variable with a constant */
    bool steps = !source->has_asm; /* each assignment other than the declaration either adds @step or assigns a
                                             * constant */
    size_t declaration = SIZE_MAX;          /* index in the source at which the declaration names the variable */
    struct ptx_assigned text = *source;
    unsigned last = 0, end_line = 0, statements = 0;
    const struct ptx_brace *scope = NULL, *body = NULL, *inner;
    size_t hidden = 0; /* up to this index, the name means another variable */
    struct lw_buffer lines;

    text.has_references = false; /* is_bound() reports for each call whether it may assign to an argument */
    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED || size == 0 || source->line_count == 0)
        return false;
    for (const char *p = source->text + begin_of_line(source, declared), *end = source->text + begin_of_line(source, declared + 1);
         p < end && scope == NULL; p++) {
        p = memmem(p, (size_t)(end - p), name, size);
        if (p == NULL)
            break;
        declaration = (size_t)(p - source->text);
        if ((p == source->text || !is_word(p[-1])) && !is_word(at(source, declaration + size)))
            scope = scope_of(source, declaration + size);
        text.is_pointer = scope != NULL && declares_pointer(source, (size_t)(p - source->text));
    }
    if (scope == NULL)
        return false;
    end_line = end_line_of(source, scope);
    if (end_line > declared && is_word(at(source, after_blanks(source, scope->end + 1))) &&
        line_at(source, after_blanks(source, scope->end + 1)) == end_line)
        end_line--; /* the scope ends before the line of "} while (...);" */
    for (body = scope; body != NULL && body->parent != SIZE_MAX; body = &source->braces[body->parent])
        ;
    lw_buffer_init(&lines);
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text), after = from + size;
        size_t to;
        unsigned line, to_line, reached;
        const struct ptx_brace *block;
        size_t before;
        bool is_own; /* the declared name is the first word on its line */

        if ((from != 0 && is_word(source->text[from - 1])) || is_word(at(source, after)) || is_member(source, from) || from < hidden)
            continue;
        line = line_at(source, from);
        if (line < declared || (end_line != 0 && line > end_line))
            continue;
        inner = from > declaration ? inner_scope(source, from, after, scope) : NULL;
        if (inner != NULL) {
            hidden = inner->end;
            continue;
        }
        if (source->has_references && is_aliased(source, from)) {
            lw_buffer_fini(&lines);
            return false;
        }
        if (is_limit(source, from, after, &other)) {
            limit = other;
            limits++;
        }
        to = text.is_pointer ? after_blanks(source, after) : after_parts(source, after);
        if (!may_assign(&text, from, after) && !may_assign(&text, from, to) && at(source, to) != '(' && at(source, to) != '{' &&
            !is_bound(source, from, to))
            continue;
        if (from != declaration) {
            steps &= is_step(source, from, after, &one) && (one == 0 || step == 0 || one == step);
            step = steps && one != 0 ? one : step;
        }
        to_line = line_at(source, end_of_text(source, from));
        statements += 1 + (line != declared) + !is_outside_of_loops(source, from);
        before = before_blanks(source, from);
        is_own = before == SIZE_MAX || line_at(source, before) != line;
        block = line == declared && scope == block_around(source, from) ? scope
                : is_reached(source, from) && !is_in_switch(source, from) ? block_around(source, from) : NULL;
        reached = block != NULL || !is_own ? end_line_of(source, block) : to_line;
        for (unsigned l = line > last ? line : last + 1; l <= to_line; l++) {
            lw_printf(&lines.sink, ",%u:%u", l, l == to_line ? reached : 0);
            if (l == to_line && reached != 0)
                lw_printf(&lines.sink, ":%u", block != NULL ? line_at(source, block->at) : line - 1);
            /* On one line, the block and its `else` part may both assign. */
            if (l == to_line && reached > to_line && end_of_else(source, block) != 0)
                lw_printf(&lines.sink, ":%u", end_of_else(source, block));
        }
        last = to_line > last ? to_line : last;
    }
    const bool is_outside = body != NULL && !source->jumps && !source->has_asm &&
                            (declaration < body->at || is_outside_of_loops(source, declaration));

    lw_printf(out, "%u,%u,%u,%u%s", end_line, statements == 1 ? 1 : is_outside ? 2 : 0,
              body != NULL ? line_at(source, body->at) : 0, end_line_of(source, body),
              lines.text != NULL ? lines.text : "");
    if (steps && step != 0)
        lw_printf(out, ",+%lld", (long long)step);
    if (steps && step > 0 && limits == 1)
        lw_printf(out, ",<%lld", (long long)limit);
    for (size_t i = 0; i < source->loop_count && last != 0; i++)
        if (source->loops[i].first >= declared && (end_line == 0 || source->loops[i].last <= end_line))
            lw_printf(out, ",-%u:%u%s", source->loops[i].first, source->loops[i].last, source->loops[i].has_jumps ? ":1" : "");
    lw_buffer_fini(&lines);
    return true;
}

bool ptx_assigned_is_in_block(const struct ptx_assigned *source, size_t i)
{
    return block_around(source, i) != NULL;
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

/* ---- uses of a variable in memory ---------------------------------------------------------------------- */

/* Writes the parts that follow a name at @i as ".MEMBER", "[NUMBER]", or "[]" for an index that is no number. Returns the index
 * after the parts. */
static size_t put_parts(const struct ptx_assigned *source, size_t i, struct lw_sink *out)
{
    for (;;) {
        size_t k, end;

        i = after_blanks(source, i);
        if (at(source, i) == '.') {
            for (k = end = after_blanks(source, i + 1); is_word(at(source, end)); end++)
                ;
            lw_printf(out, ".%.*s", (int)(end - k), source->text + k);
        } else if (at(source, i) == '[') {
            unsigned depth = 1;

            for (end = i + 1; depth != 0 && end < source->size; end++) {
                depth += source->text[end] == '[';
                depth -= source->text[end] == ']';
            }
            for (k = i + 1; at(source, k) >= '0' && at(source, k) <= '9'; k++)
                ;
            lw_printf(out, "[%.*s]", k + 1 == end ? (int)(k - i - 1) : 0, source->text + i + 1);
        } else {
            return i;
        }
        i = end;
    }
}

/* Returns true if the `&` at @i takes an address. After a closing parenthesis it takes an address if the parenthesis may end a
 * cast, which contains only words and `*`. */
static bool takes_address(const struct ptx_assigned *source, size_t i)
{
    const size_t before = before_blanks(source, i);

    if (before == SIZE_MAX || source->text[before] != ')')
        return !has_left_side(source, i);
    for (size_t k = before; k-- != 0 && source->text[k] != '(';)
        if (!is_word(source->text[k]) && !is_blank(source->text[k]) && source->text[k] != '*')
            return false;
    return true;
}

/* Returns the kind of a use of a variable, whose name is at @from and is followed by parts up to @to. The kind is '=' if the
 * use assigns to the variable, '&' if the use may give the variable's address to other code, and '?' if the use reads the
 * variable or, if the part is an array, gives the array's address to other code. */
static char kind_of_use(const struct ptx_assigned *source, size_t from, size_t to)
{
    size_t before = before_blanks(source, from);
    bool enclosed = false;
    char a = at(source, to), aa;

    if ((at(source, before) == '(' || at(source, before) == ',') && (a == ')' || a == ',') &&
        (source->has_asm || source->has_references))
        return '&';
    while (at(source, before) == '(' && at(source, to) == ')') {
        before = before_blanks(source, before);
        to = after_blanks(source, to + 1);
        enclosed = true;
    }
    a = at(source, to);
    aa = at(source, to + 1);
    if ((a == '=' && aa != '=') || ((a == '<' || a == '>') && aa == a && at(source, to + 2) == '=') ||
        (strchr("+-*/%&|^", a) != NULL && (aa == '=' || ((a == '+' || a == '-') && aa == a))))
        return enclosed ? '&' : '=';
    if (a == '(')
        return '&'; /* NAME( calls a function of the object or a macro */
    a = at(source, before);
    aa = before != 0 && before != SIZE_MAX ? source->text[before - 1] : ';';
    if ((a == '+' || a == '-') && aa == a)
        return enclosed ? '&' : '=';
    if (a == '&' && aa != '&' && takes_address(source, before))
        return '&';
    return a == '=' && source->has_references && is_reference(source, before) ? '&' : '?';
}

/* Returns the index of the first occurrence of a name as a word in [@from, @to), or SIZE_MAX. */
static size_t find_word(const struct ptx_assigned *source, const char *name, size_t size, size_t from, size_t to)
{
    for (const char *p = source->text + from, *end = source->text + to; p < end && (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t i = (size_t)(p - source->text);

        if ((i == 0 || !is_word(source->text[i - 1])) && !is_word(at(source, i + size)))
            return i;
    }
    return SIZE_MAX;
}

bool ptx_assigned_uses(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out)
{
    const struct ptx_brace *scope, *body, *inner;
    size_t declaration, i;

    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED || size == 0 || source->line_count == 0)
        return false;
    declaration = i = find_word(source, name, size, begin_of_line(source, declared), begin_of_line(source, declared + 1));
    scope = declaration != SIZE_MAX ? scope_of(source, declaration + size) : NULL;
    if (scope == NULL || scope->end == SIZE_MAX)
        return false;
    for (body = scope; body->parent != SIZE_MAX; body = &source->braces[body->parent])
        ;
    if (memmem(source->text, source->size, "[&", 2) != NULL) /* a lambda may use all variables by reference */
        lw_printf(out, " %u:%u:0:0:&", declared, declared);
    for (; i != SIZE_MAX; i = find_word(source, name, size, i + 1, scope->end)) {
        const struct ptx_brace *block = is_reached(source, i) && !is_in_switch(source, i) ? block_around(source, i) : NULL;
        const unsigned line = line_at(source, i);
        unsigned to_line = line_at(source, end_of_text(source, i));
        struct lw_buffer parts;
        size_t to;
        char kind;

        if (is_member(source, i))
            continue;
        if (i != declaration && (inner = inner_scope(source, i, i + size, scope)) != NULL) {
            i = inner->end;
            continue;
        }
        lw_buffer_init(&parts);
        to = put_parts(source, i + size, &parts.sink);
        kind = kind_of_use(source, i, to);
        if (i == declaration) {
            const size_t value = at(source, to) == '=' ? after_blanks(source, to + 1) : to;
            const bool is_parameter = i < body->at;

            kind = is_parameter || strchr("={(", at(source, to)) != NULL ? '=' : ' ';
            if (is_parameter)
                to_line = line_at(source, body->at);
            else if (at(source, value) == '{')
                to_line = end_line_of(source, block_around(source, value + 1));
            block = is_parameter ? body : scope;
            lw_buffer_clear(&parts);
        }
        if (kind != ' ')
            lw_printf(out, " %u:%u:%u:%u:%c%s", line, to_line > line ? to_line : line, end_line_of(source, block),
                      block != NULL ? line_at(source, block->at) : 0, kind, lw_buffer_text(&parts));
        lw_buffer_fini(&parts);
    }
    return true;
}
