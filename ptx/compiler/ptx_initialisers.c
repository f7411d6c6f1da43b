/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds variables in an OpenCL source to which only their declaration assigns, with a value that is computed from work-item
 * functions, numbers, and other variables. If these other variables never change either, the source gives the variable's value,
 * even if clang has lost the debug value. The initialiser is written as a comment to the PTX:
 *
 *     //lw.value NAME LINE :END TOKEN...
 *
 * END is the last line of the variable's scope. The tokens are separated by blanks. A variable to which
 * nothing in the source assigns, such as a parameter, has the prefix `$`. ptx_debug_initialisers.c reads the tokens, and finds
 * the other variables by the scopes of the debug sections.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>

#include "ptx/compiler/ptx_compile_priv.h"

enum { MOST_INITIALISERS = 512, MOST_TOKENS = 80, MOST_SCANNED = 1 << 26 };

struct finding {
    struct ptx_assigned *source;
    struct lw_sink *out;
    unsigned tokens;
};

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static char at(const struct ptx_assigned *source, size_t i)
{
    return i < source->size ? source->text[i] : ';';
}

static size_t word_end(const struct ptx_assigned *source, size_t i)
{
    while (is_word(at(source, i)))
        i++;
    return i;
}

static bool is_text(const struct ptx_assigned *source, size_t from, size_t to, const char *text)
{
    return to - from == strlen(text) && memcmp(source->text + from, text, to - from) == 0;
}

static bool is_one_of(const struct ptx_assigned *source, size_t from, size_t to, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (is_text(source, from, to, words[k]))
            return true;
    return false;
}

/* Returns the index of the last character before @i that is no blank, or SIZE_MAX. */
static size_t before_blanks(const struct ptx_assigned *source, size_t i)
{
    while (i != 0 && is_blank(source->text[i - 1]))
        i--;
    return i - 1;
}

/* ---- tokens ------------------------------------------------------------------------------------------ */

static bool put_identifier(struct finding *f, size_t from, size_t to, struct lw_sink *out)
{
    static const char *const functions[] = {"get_global_id", "get_local_id",   "get_group_id",     "get_global_size",
                                            "get_local_size", "get_num_groups", "get_global_offset"};
    static const char *const types[] = {"int", "uint", "unsigned", "signed", "long", "ulong", "short", "ushort", "char", "uchar", "size_t"};
    struct ptx_assigned *source = f->source;
    const char *name = source->text + from;
    size_t text;

    source->scanned += source->size;
    if (is_one_of(source, from, to, functions, LW_COUNT_OF(functions)) || is_one_of(source, from, to, types, LW_COUNT_OF(types))) {
        lw_printf(out, " %.*s", (int)(to - from), name);
        return true;
    }
    for (text = to; is_blank(at(source, text)); text++)
        ;
    if (at(source, text) == '(') /* another function */
        return false;
    lw_printf(out, " %s%.*s", ptx_is_never_assigned(source, name, to - from) ? "$" : "", (int)(to - from), name);
    return true;
}

/* Writes the tokens of [@i, @end). Returns false if a token cannot belong to the value. */
static bool put_tokens(struct finding *f, size_t i, size_t end, struct lw_sink *out)
{
    static const char *const twice[] = {"<<", ">>", "==", "!=", "<=", ">=", "&&", "||"};

    while (i < end) {
        const char c = at(f->source, i);
        size_t to = i + 1;

        if (is_blank(c)) {
            i++;
            continue;
        }
        if (++f->tokens > MOST_TOKENS)
            return false;
        if (is_word(c)) {
            to = word_end(f->source, i);
            if (!is_digit(c) && !put_identifier(f, i, to, out))
                return false;
            if (is_digit(c))
                lw_printf(out, " %.*s", (int)(to - i), f->source->text + i);
        } else {
            for (size_t k = 0; k < LW_COUNT_OF(twice); k++)
                if (c == twice[k][0] && at(f->source, i + 1) == twice[k][1])
                    to = i + 2;
            if (strchr("+-*/%&|^~!()<>=", c) == NULL || (c == '=' && to == i + 1))
                return false;
            lw_printf(out, " %.*s", (int)(to - i), f->source->text + i);
        }
        i = to;
    }
    return true;
}

/* ---- declarations --------------------------------------------------------------------------------------- */

/* Returns the index of the `;` or `,` that ends the initialiser at @i, or SIZE_MAX. */
static size_t initialiser_end(const struct ptx_assigned *source, size_t i)
{
    unsigned depth = 0;

    for (; i < source->size; i++) {
        const char c = source->text[i];

        if (depth == 0 && (c == ';' || c == ','))
            return i;
        if (strchr("{};,#\"'?", c) != NULL || (c == ')' && depth == 0))
            break;
        depth += c == '(';
        depth -= c == ')';
    }
    return SIZE_MAX;
}

/* Returns the index of the closing brace of the block around @i, or SIZE_MAX. */
static size_t block_end(const struct ptx_assigned *source, size_t i)
{
    unsigned depth = 0;

    for (; i < source->size; i++) {
        const char c = source->text[i];

        if (c == '"' || c == '\'') { /* skips a text, which may contain braces */
            for (i++; i < source->size && source->text[i] != c && source->text[i] != '\n'; i++)
                i += source->text[i] == '\\';
        }
        if (c == '}' && depth-- == 0)
            return i;
        depth += c == '{';
    }
    return SIZE_MAX;
}

/* Returns true if one of the words is in [@from, @to). @inner: also in blocks that begin there. */
static bool has_word(const struct ptx_assigned *source, size_t from, size_t to, const char *const *words, size_t count, bool inner)
{
    unsigned depth = 0;

    for (size_t i = from; i < to; i++) {
        const size_t end = is_word(source->text[i]) ? word_end(source, i) : i;

        if (end > i && (inner || depth == 0) && is_one_of(source, i, end, words, count))
            return true;
        depth += source->text[i] == '{';
        depth -= source->text[i] == '}' && depth != 0;
        i = end > i ? end - 1 : i;
    }
    return false;
}

/* Returns true if the code between a declaration, which ends at @from, and the closing brace at @brace may be reached on a path
 * that does not execute the declaration.
 * @function: the beginning of the function. */
static bool is_skipped(struct ptx_assigned *source, size_t function, size_t from, size_t brace)
{
    static const char *const labels[] = {"case", "default"}, *const jumps[] = {"goto"};

    source->scanned += brace - function;
    return has_word(source, from, brace, labels, LW_COUNT_OF(labels), false) ||
           has_word(source, function, brace, jumps, LW_COUNT_OF(jumps), true);
}

/* Returns the last line of the block whose closing brace is at @brace. @line: the line of @from, which precedes the brace. The
 * line of the brace does not count if a word follows the brace, as in "} else {", or if a jump before the declaration, such as
 * a return, may lead to the brace. @function: the beginning of the function. */
static unsigned last_line(const struct ptx_assigned *source, size_t function, size_t from, unsigned line, size_t brace)
{
    static const char *const jumps[] = {"return", "break", "continue"};
    size_t after = brace + 1;

    for (size_t i = from; i < brace; i++)
        line += source->text[i] == '\n';
    while (at(source, after) == ' ' || at(source, after) == '\t')
        after++;
    return line - (is_word(at(source, after)) || has_word(source, function, from, jumps, LW_COUNT_OF(jumps), true));
}

/* Returns true if the name at @from is declared there: a type, or another declarator of a declaration, precedes the name. */
static bool is_declared(const struct ptx_assigned *source, size_t from)
{
    static const char *const keywords[] = {"return", "else", "do", "case", "goto", "sizeof"};
    static const char *const types[] = {"const",  "int",   "uint", "unsigned", "signed", "long", "ulong", "short",
                                        "ushort", "char", "uchar", "size_t",   "bool",   "private", "__private", "register"};
    size_t before = before_blanks(source, from), begin;

    if (before == SIZE_MAX || (!is_word(source->text[before]) && source->text[before] != ','))
        return false;
    if (source->text[before] == ',') { /* goes back to the first word of the declaration */
        while (before != 0 && strchr(";{}()", source->text[before - 1]) == NULL)
            before--;
        while (before < from && is_blank(source->text[before]))
            before++;
        return is_one_of(source, before, word_end(source, before), types, LW_COUNT_OF(types));
    }
    for (begin = before; begin != 0 && is_word(source->text[begin - 1]); begin--)
        ;
    return !is_one_of(source, begin, before + 1, keywords, LW_COUNT_OF(keywords)) && !is_digit(source->text[begin]);
}

/* Returns true if a line declares several variables of the name at @name, in different blocks. */
static bool is_redeclared(const struct ptx_assigned *source, size_t name, size_t size)
{
    size_t begin = name, end = name;

    while (begin != 0 && source->text[begin - 1] != '\n')
        begin--;
    while (end < source->size && source->text[end] != '\n')
        end++;
    for (size_t k = begin; k + size <= end; k++)
        if (k != name && memcmp(source->text + k, source->text + name, size) == 0 && (k == 0 || !is_word(source->text[k - 1])) &&
            !is_word(at(source, k + size)) && is_declared(source, k))
            return true;
    return false;
}

/* Returns true if nothing in [@from, @to) may assign to the variable. */
static bool is_never_assigned_in(struct ptx_assigned *source, size_t from, size_t to, size_t name, size_t size)
{
    struct ptx_assigned part = *source;
    bool never;

    part.text += from;
    part.size = to - from;
    never = ptx_is_never_assigned(&part, source->text + name, size);
    source->scanned += to - from + source->size;
    return never;
}

void ptx_assigned_initialisers(const struct ptx_assigned *whole, const struct ptx_sources *sources, const struct ptx_source_file *file,
                               struct lw_sink *out)
{
    struct ptx_assigned copy = *whole, *source = &copy; /* the limit of scanned bytes is separate */
    struct finding f = {.source = source, .out = out};
    unsigned line = 1, depth = 0, count = 0;
    size_t function = 0;

    if (source->has_references || source->has_asm || source->line_count == 0)
        return;
    source->scanned = 0;
    for (size_t i = 0; i < source->size && count < MOST_INITIALISERS && source->scanned < MOST_SCANNED; i++) {
        const char c = source->text[i];
        size_t name, name_end, end, scope_end;
        struct lw_buffer tokens;

        line += c == '\n';
        function = depth == 0 ? i : function;
        depth += c == '{';
        depth -= c == '}' && depth != 0;
        if (c != '=' || depth == 0 || at(source, i + 1) == '=' || i == 0 || strchr("=<>!+-*/%&|^", source->text[i - 1]) != NULL)
            continue;
        name_end = before_blanks(source, i) + 1;
        for (name = name_end; name != 0 && is_word(source->text[name - 1]); name--)
            ;
        end = initialiser_end(source, i + 1);
        scope_end = end != SIZE_MAX ? block_end(source, end) : SIZE_MAX;
        if (name == name_end || is_digit(source->text[name]) || memchr(source->text + name, '\n', i - name) != NULL || scope_end == SIZE_MAX ||
            !is_declared(source, name) || is_redeclared(source, name, name_end - name) ||
            is_skipped(source, function, end, scope_end) || !is_never_assigned_in(source, end, scope_end, name, name_end - name))
            continue;
        lw_buffer_init(&tokens);
        f.tokens = 0;
        /* The comment does not state the file, so the name must be on this line in no other file. */
        if (ptx_sources_are_single(sources, file, line, source->text + name, name_end - name) &&
            put_tokens(&f, i + 1, end, &tokens.sink) && tokens.text != NULL && !tokens.is_cut) {
            lw_printf(out, "\t//lw.value %.*s %u :%u%s\n", (int)(name_end - name), source->text + name, line,
                      last_line(source, function, i, line, scope_end), tokens.text);
            count++;
        }
        lw_buffer_fini(&tokens);
    }
}
