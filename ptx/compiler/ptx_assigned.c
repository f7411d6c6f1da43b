/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a source assigns to a variable of some name, by its text alone. A kernel's parameter that is never
 * assigned has what it was launched with, also where clang does not say so. When in doubt the answer is that it may be
 * assigned: what is between comments, what a macro, a C++ function or an asm statement gets.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
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

/* Characters of the source; ';' outside of it. */
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

/* The last character before @i that is no blank; SIZE_MAX: there is none. */
static size_t before_blanks(const struct ptx_assigned *source, size_t i)
{
    while (i != 0 && is_blank(source->text[i - 1]))
        i--;
    return i - 1;
}

/* Whether what is around an occurrence of a name, [@from, @to) in the source, may assign to it. */
static bool may_assign(const struct ptx_assigned *source, size_t from, size_t to)
{
    size_t before = before_blanks(source, from);
    char a, aa;

    to = after_blanks(source, to);
    while (at(source, to) == '.') { /* a member of a structure or vector */
        for (to++; is_blank(at(source, to)) || is_word(at(source, to)); to++)
            ;
    }
    if ((source->passes_variables || source->has_references) && (at(source, before) == '(' || at(source, before) == ',') &&
        (at(source, to) == ')' || at(source, to) == ','))
        return true;
    while (at(source, before) == '(' && at(source, to) == ')') {
        before = before_blanks(source, before);
        to = after_blanks(source, to + 1);
    }
    a = at(source, to);
    aa = at(source, to + 1);
    if (a == '=' || (a == '/' && (aa == '*' || aa == '/')))
        return a != '=' || aa != '=';
    if (strchr("+-*/%&|^", a) != NULL && (aa == '=' || ((a == '+' || a == '-') && aa == a)))
        return true;
    if ((a == '<' || a == '>') && aa == a && at(source, to + 2) == '=')
        return true;
    a = at(source, before);
    aa = before != 0 ? at(source, before - 1) : ';';
    return ((a == '+' || a == '-') && aa == a) || (a == '&' && aa != '&') || (a == '/' && aa == '*');
}

/* A macro with parameters, a header of the user's own, an asm statement: what they get may be assigned. */
static bool passes_variables(const struct ptx_assigned *source)
{
    for (size_t i = 0; i < source->size; i++) {
        if (source->text[i] == '#') {
            i = after_blanks(source, i + 1);
            if (i + 7 <= source->size && memcmp(source->text + i, "include", 7) == 0 &&
                at(source, after_blanks(source, i + 7)) == '"')
                return true;
            if (i + 6 <= source->size && memcmp(source->text + i, "define", 6) == 0) {
                for (i = after_blanks(source, i + 6); is_word(at(source, i)); i++)
                    ;
                if (at(source, i) == '(')
                    return true;
            }
        } else if (i + 3 <= source->size && memcmp(source->text + i, "asm", 3) == 0 && (i == 0 || source->text[i - 1] == '_' || !is_word(source->text[i - 1]))) {
            return true;
        }
    }
    return false;
}

void ptx_assigned_read(struct ptx_assigned *source, const char *path)
{
    const size_t length = strlen(path);

    *source = (struct ptx_assigned){0};
    if (lw_file_read(path, &source->text, &source->size, NULL) != LW_OK)
        source->size = 0; /* every name may be assigned */
    source->has_references = length > 3 && strcmp(path + length - 3, ".cu") == 0;
    source->passes_variables = passes_variables(source);
}

void ptx_assigned_forget(struct ptx_assigned *source)
{
    free(source->text);
}

bool ptx_is_never_assigned(struct ptx_assigned *source, const char *name, size_t size)
{
    bool found = false;

    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED || size == 0 || source->size == 0)
        return false;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text);

        if ((from != 0 && is_word(source->text[from - 1])) || is_word(at(source, from + size)))
            continue;
        if (may_assign(source, from, from + size))
            return false;
        found = true;
    }
    return found;
}

/* After "[...]" and ".x" that follow a name. */
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

/* The line of the brace that ends the scope of what is declared at @i; 0: not found. Of a parameter, and of what the
 * head of a loop declares, that is the block behind its bracket; else, and if @ends, the one around it. */
static unsigned end_of_scope(const struct ptx_assigned *source, size_t i, unsigned line, bool ends)
{
    unsigned depth = 0, round = 0;

    for (; i < source->size; i++) {
        const char c = source->text[i];

        if (c == '\n') {
            line++;
        } else if (c == '/' && at(source, i + 1) == '/') {
            while (i + 1 < source->size && source->text[i + 1] != '\n')
                i++;
        } else if (c == '/' && at(source, i + 1) == '*') {
            for (i += 2; i + 1 < source->size && (source->text[i] != '*' || source->text[i + 1] != '/'); i++)
                line += source->text[i] == '\n';
            i++;
        } else if (c == '"' || c == '\'') {
            for (i++; i < source->size && source->text[i] != c && source->text[i] != '\n'; i++)
                i += source->text[i] == '\\';
            line += i < source->size && source->text[i] == '\n';
        } else if (c == '(') {
            round++;
        } else if (c == ')') {
            ends &= round != 0;
            round -= round != 0;
        } else if ((c == '=' || c == ';') && round == 0 && depth == 0) {
            ends = true;
        } else if (c == '{') {
            depth++;
        } else if (c == '}') {
            if (depth == 0 || (depth == 1 && !ends))
                return line;
            depth--;
        }
    }
    return 0;
}

/* Before the bracket "(...)" that ends at @i, the word that it belongs to; its end goes to *@end. */
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

static bool is_text(const struct ptx_assigned *source, size_t from, size_t to, const char *text)
{
    return to - from == strlen(text) && memcmp(source->text + from, text, to - from) == 0;
}

/* The brace of the block that @i is in; SIZE_MAX: none. */
static size_t block_around(const struct ptx_assigned *source, size_t i)
{
    unsigned depth = 0;

    while (i-- != 0) {
        depth += source->text[i] == '}';
        if (source->text[i] == '{' && depth-- == 0)
            return i;
    }
    return SIZE_MAX;
}

/* Whether what is at @i is reached at most once in a call of its function: no loop is around it. */
static bool is_outside_of_loops(const struct ptx_assigned *source, size_t i)
{
    if (memmem(source->text, source->size, "goto", 4) != NULL || source->passes_variables)
        return false;
    for (;;) {
        size_t from, to;

        i = block_around(source, i);
        if (i == SIZE_MAX || i == 0 || at(source, before_blanks(source, i)) != ')')
            return false;
        from = word_of_bracket(source, before_blanks(source, i), &to);
        if (block_around(source, from) == SIZE_MAX)
            return true; /* of the function */
        if (!is_text(source, from, to, "if") || strchr(";{}", at(source, before_blanks(source, from))) == NULL)
            return false;
        i = from;
    }
}

/* Whether the block around @i is that of a switch: it is entered in its middle. */
static bool is_in_switch(const struct ptx_assigned *source, size_t i)
{
    size_t from, to;

    i = block_around(source, i);
    if (i == SIZE_MAX || i == 0 || at(source, before_blanks(source, i)) != ')')
        return false;
    from = word_of_bracket(source, before_blanks(source, i), &to);
    return is_text(source, from, to, "switch");
}

/* Whether the statement that the name at @i begins, or declares, is reached whenever its block is: no `if`, `case` or loop is
 * in front of it. */
static bool is_reached(const struct ptx_assigned *source, size_t i)
{
    size_t before;

    for (before = before_blanks(source, i); before != SIZE_MAX; before--) { /* to the statement's begin */
        const char c = source->text[before];

        if (strchr(";{}:", c) != NULL)
            return c != ':';
        if (!is_word(c) && !is_blank(c) && strchr("*+-<>", c) == NULL)
            return false;
        if (c == 'e' && before >= 3 && memcmp(source->text + before - 3, "else", 4) == 0)
            return false;
        if (c == 'o' && before >= 1 && source->text[before - 1] == 'd' && !is_word(at(source, before + 1)) && (before < 2 || !is_word(source->text[before - 2])))
            return false;
    }
    return false;
}

/* The lines of the body of the function around @i. */
static void find_function(const struct ptx_assigned *source, size_t i, unsigned line, unsigned *first, unsigned *end)
{
    unsigned depth = 0;

    *first = *end = 0;
    for (size_t k = i; k-- != 0;) {
        line -= source->text[k] == '\n';
        depth += source->text[k] == '}';
        if (source->text[k] == '{' && depth == 0) {
            *first = line;
            i = k;
        } else {
            depth -= source->text[k] == '{';
        }
    }
    if (*first != 0)
        *end = end_of_scope(source, i, *first, false);
}

/* The character that ends the statement, or the bracket, which the one at @i is in. */
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

/* After the bracket "(...)" at @i, or other text up to its end. */
static size_t after_bracket(const struct ptx_assigned *source, size_t i, char open, char close)
{
    for (unsigned depth = 0; i < source->size; i++) {
        depth += source->text[i] == open;
        depth -= source->text[i] == close && depth != 0;
        if (depth == 0)
            return i + 1;
    }
    return i;
}

static unsigned lines_between(const struct ptx_assigned *source, size_t from, size_t to)
{
    unsigned lines = 0;

    for (; from < to && from < source->size; from++)
        lines += source->text[from] == '\n';
    return lines;
}

/* Each loop of the lines [@first, @last], "-FROM:TO". */
static void put_loops(const struct ptx_assigned *source, unsigned first, unsigned last, struct lw_sink *out)
{
    unsigned line = 1;

    for (size_t i = 0; i < source->size && line <= last; i++) {
        size_t end;

        line += source->text[i] == '\n';
        if (line < first || is_word(source->text[i]) || !is_word(at(source, i + 1)))
            continue;
        if (i + 4 < source->size && memcmp(source->text + i + 1, "for", 3) == 0 && !is_word(at(source, i + 4)))
            end = i + 4;
        else if (i + 6 < source->size && memcmp(source->text + i + 1, "while", 5) == 0 && !is_word(at(source, i + 6)))
            end = i + 6;
        else if (i + 3 < source->size && memcmp(source->text + i + 1, "do", 2) == 0 && !is_word(at(source, i + 3)))
            end = i + 3;
        else
            continue;
        end = after_blanks(source, end);
        if (at(source, end) == '(')
            end = after_blanks(source, after_bracket(source, end, '(', ')'));
        if (at(source, end) == '{')
            end = after_bracket(source, end, '{', '}');
        if (source->text[i + 1] == 'd' || at(source, end - 1) != '}')
            while (at(source, end) != ';')
                end++;
        lw_printf(out, ",-%u:%u", line, line + lines_between(source, i + 1, end));
    }
}

bool ptx_assigned_lines(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out)
{
    struct ptx_assigned text = *source;
    unsigned line = 1, last = 0, end_line = 0, statements = 0, first = 0, end_of_function = 0;
    size_t counted = 0, start = 0;
    struct lw_buffer lines;

    text.has_references = false; /* what is passed by one is assigned on lines of the function that has it */
    source->scanned += source->size;
    if (source->scanned > MOST_SCANNED || size == 0 || source->size == 0)
        return false;
    lw_buffer_init(&lines);
    for (start = 0; start < source->size && line < declared; start++)
        line += source->text[start] == '\n';
    for (const char *p; line == declared && end_line == 0 && start < source->size; start = (size_t)(p - source->text) + 1) {
        p = memmem(source->text + start, source->size - start, name, size);
        if (p == NULL || memchr(source->text + start, '\n', (size_t)(p - source->text) - start) != NULL)
            break;
        if ((p == source->text || !is_word(p[-1])) && !is_word(at(source, (size_t)(p - source->text) + size)))
            end_line = end_of_scope(source, (size_t)(p - source->text) + size, line, false);
        if (end_line != 0)
            find_function(source, (size_t)(p - source->text), line, &first, &end_of_function);
    }
    line = 1;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text), after = from + size;
        const size_t to = after_parts(source, after);
        unsigned to_line, reached;

        if ((from != 0 && is_word(source->text[from - 1])) || is_word(at(source, after)))
            continue;
        if (!may_assign(&text, from, after) && !may_assign(&text, from, to) && at(source, to) != '(' && at(source, to) != '{')
            continue;
        for (; counted < from; counted++)
            line += source->text[counted] == '\n';
        to_line = line;
        for (size_t i = from; i < end_of_text(source, from); i++)
            to_line += source->text[i] == '\n';
        if (line < declared || (end_line != 0 && line > end_line))
            continue;
        statements += 1 + (line != declared) + !is_outside_of_loops(source, from);
        reached = is_reached(source, from) && !is_in_switch(source, from) ? end_of_scope(source, end_of_text(source, from), to_line, true) : 0;
        for (unsigned l = line > last ? line : last + 1; l <= to_line; l++)
            lw_printf(&lines.sink, ",%u:%u", l, l == to_line ? reached : 0);
        last = to_line > last ? to_line : last;
    }
    lw_printf(out, "%u,%u,%u,%u%s", end_line, statements == 1, first, end_of_function, lines.text != NULL ? lines.text : "");
    if (last != 0)
        put_loops(source, declared, end_line != 0 ? end_line : UINT_MAX, out);
    lw_buffer_fini(&lines);
    return true;
}
