/* SPDX-License-Identifier: Apache-2.0 */
/* Determines from the text of a source whether the source may assign to a variable of a given name, and on which lines. A
 * kernel parameter that is never assigned keeps the value of the launch, even if clang's debug information contains no
 * value. The analysis is conservative. Arguments of C++ functions and asm statements count as assigned. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ptx/compiler/source/ptx_source_priv.h"

/* Returns true if the operator at @i is certainly binary, because a name, a number or an index precedes it. */
bool ptx_src_has_left_side(const struct ptx_assigned *source, size_t i)
{
    const size_t before = ptx_src_before_blanks(source, i);
    size_t word = before + 1;

    if (before == SIZE_MAX || !ptx_src_is_word(ptx_src_char(source, before)))
        return before != SIZE_MAX && ptx_src_char(source, before) == ']';
    while (word != 0 && ptx_src_is_word(source->text[word - 1]))
        word--;
    return !ptx_src_is_text(source, word, before + 1, "return") && !ptx_src_is_text(source, word, before + 1, "sizeof") &&
           !ptx_src_is_text(source, word, before + 1, "else") && !ptx_src_is_text(source, word, before + 1, "do");
}

/* Returns true if the variable whose name is at @i is declared as a pointer: `*` and qualifiers precede the name. */
static bool declares_pointer(const struct ptx_assigned *source, size_t i)
{
    static const char *const qualifiers[] = {"const", "volatile", "restrict", "__restrict", "__restrict__"};

    for (;;) {
        const size_t before = ptx_src_before_blanks(source, i);
        size_t k = 0;

        if (before == SIZE_MAX || !ptx_src_is_word(source->text[before]))
            return before != SIZE_MAX && source->text[before] == '*';
        for (i = before + 1; i != 0 && ptx_src_is_word(source->text[i - 1]); i--)
            ;
        while (k < LW_COUNT_OF(qualifiers) && !ptx_src_is_text(source, i, before + 1, qualifiers[k]))
            k++;
        if (k == LW_COUNT_OF(qualifiers))
            return false;
    }
}

/* Returns true if an operator at @i assigns to its left side. */
static bool is_assignment(const struct ptx_assigned *source, size_t i)
{
    const char a = ptx_src_char(source, i), aa = ptx_src_char(source, i + 1);

    if (a == '=')
        return aa != '=';
    if (source->has_references &&
        (ptx_src_is_word_at(source, i, "and_eq") || ptx_src_is_word_at(source, i, "or_eq") || ptx_src_is_word_at(source, i, "xor_eq")))
        return true;
    if (a == '<' || a == '>')
        return aa == a && ptx_src_char(source, i + 2) == '=';
    return strchr("+-*/%&|^", a) != NULL && (aa == '=' || ((a == '+' || a == '-') && aa == a));
}

/* Returns true if the name at @i is that of a member of a variable: `.` or `->` precedes the name. */
bool ptx_src_is_member(const struct ptx_assigned *source, size_t i)
{
    const size_t before = ptx_src_before_blanks(source, i);

    return before != SIZE_MAX && before != 0 &&
           (source->text[before] == '.' || (source->text[before] == '>' && source->text[before - 1] == '-'));
}

/* Returns true if the occurrence of a name at [@from, @to) of the source may be an assignment to the variable. */
static bool may_assign(const struct ptx_assigned *source, size_t from, size_t to)
{
    size_t before = ptx_src_before_blanks(source, from);
    char a, aa;

    to = ptx_src_after_blanks(source, to);
    while (ptx_src_char(source, to) == '.') { /* Skips the names of members of a structure or vector. */
        for (to++; ptx_src_is_blank(ptx_src_char(source, to)) || ptx_src_is_word(ptx_src_char(source, to)); to++)
            ;
    }
    if ((source->has_asm || source->has_references) && (ptx_src_char(source, before) == '(' || ptx_src_char(source, before) == ',') &&
        (ptx_src_char(source, to) == ')' || ptx_src_char(source, to) == ','))
        return true;
    while (ptx_src_char(source, before) == '(' && ptx_src_char(source, to) == ')') {
        before = ptx_src_before_blanks(source, before);
        to = ptx_src_after_blanks(source, to + 1);
    }
    a = ptx_src_char(source, to);
    aa = ptx_src_char(source, to + 1);
    if (is_assignment(source, to) || (a == '/' && (aa == '*' || aa == '/')))
        return true;
    a = ptx_src_char(source, before);
    aa = before != 0 ? ptx_src_char(source, before - 1) : ';';
    if (source->is_pointer && (ptx_src_char(source, to) == '[' || (ptx_src_char(source, to) == '-' && ptx_src_char(source, to + 1) == '>')))
        return false; /* "&NAME[...]" is the address of an object to which NAME points */
    return ((a == '+' || a == '-') && aa == a) || (a == '&' && aa != '&' && !ptx_src_has_left_side(source, before)) || (a == '/' && aa == '*');
}

/* Skips "[...]" and ".x" after a name. */
static size_t after_parts(const struct ptx_assigned *source, size_t i)
{
    for (;;) {
        i = ptx_src_after_blanks(source, i);
        if (ptx_src_char(source, i) == '.') {
            for (i++; ptx_src_is_blank(ptx_src_char(source, i)) || ptx_src_is_word(ptx_src_char(source, i)); i++)
                ;
        } else if (ptx_src_char(source, i) == '[') {
            for (unsigned depth = 0; ptx_src_char(source, i) != ';'; i++) {
                depth += ptx_src_char(source, i) == '[';
                depth -= ptx_src_char(source, i) == ']';
                if (depth == 0)
                    break;
            }
            if (ptx_src_char(source, i) == ';')
                return i;
            i++;
        } else {
            return i;
        }
    }
}

bool ptx_is_never_assigned(struct ptx_assigned *source, const char *name, size_t size)
{
    bool found = false;

    source->scanned += source->size;
    if (source->scanned > PTX_SRC_MOST_SCANNED || size == 0 || source->size == 0)
        return false;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text);

        if ((from != 0 && ptx_src_is_word(source->text[from - 1])) || ptx_src_is_word(ptx_src_char(source, from + size)) || ptx_src_is_member(source, from))
            continue;
        if (may_assign(source, from, from + size))
            return false;
        found = true;
    }
    return found;
}

/* Returns true if the text declares a function or a lambda that is named at [@from, @to) and has a parameter that is a reference. */
static bool takes_reference(struct ptx_assigned *source, size_t from, size_t to)
{
    const char *name = source->text + from;

    source->scanned += source->size;
    if (source->scanned > PTX_SRC_MOST_SCANNED)
        return true;
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, to - from)) != NULL; p++) {
        const size_t i = (size_t)(p - source->text), before = ptx_src_before_blanks(source, i);
        size_t open = ptx_src_after_blanks(source, i + (to - from)), close;

        if (before == SIZE_MAX || ptx_src_is_word(source->text[i - 1]) || ptx_src_is_word(ptx_src_char(source, i + (to - from))))
            continue;
        if (ptx_src_char(source, open) == '=') { /* a lambda: NAME = [...](...) */
            open = ptx_src_after_blanks(source, open + 1);
            while (ptx_src_char(source, open) != ']' && ptx_src_char(source, open) != ';')
                open++;
            open = ptx_src_after_blanks(source, open + 1);
        } else if (!ptx_src_is_word(source->text[before]) && strchr("*&>", source->text[before]) == NULL) {
            continue; /* no type precedes the name */
        }
        if (ptx_src_char(source, open) != '(')
            continue;
        close = ptx_src_after_bracket(source, open);
        if (memchr(source->text + open, '&', close - open) != NULL && !ptx_src_is_one_of(source, ptx_src_begin_of_word(source, before + 1), before + 1,
                                                                                 (const char *const[]){"return", "else", "do"}, 3))
            return true;
    }
    return false;
}

/* Returns true if the name at [@from, @to) is an argument of a call that may assign to it, because a function of the called name
 * has a reference as a parameter. */
static bool is_bound(struct ptx_assigned *source, size_t from, size_t to)
{
    size_t i = ptx_src_before_blanks(source, from), end;
    unsigned depth = 0;

    if (!source->has_references || i == SIZE_MAX || strchr("(,", source->text[i]) == NULL || strchr("),", ptx_src_char(source, ptx_src_after_blanks(source, to))) == NULL)
        return false;
    for (; i != 0 && strchr(";{}", source->text[i]) == NULL && (depth != 0 || source->text[i] != '('); i--) {
        depth += source->text[i] == ')';
        depth -= source->text[i] == '(';
    }
    if (source->text[i] != '(')
        return false;
    end = ptx_src_before_blanks(source, i) + 1;
    if (end != 0 && source->text[end - 1] == '>') { /* arguments of a template */
        while (end != 0 && source->text[end - 1] != '<')
            end--;
        end = ptx_src_before_blanks(source, end - (end != 0)) + 1;
    }
    i = ptx_src_begin_of_word(source, end);
    return i != end && takes_reference(source, i, end);
}

/* Returns true if the `=` at @i is that of "TYPE &NAME = ...". */
bool ptx_src_is_reference(const struct ptx_assigned *source, size_t i)
{
    const size_t end = ptx_src_before_blanks(source, i) + 1, name = ptx_src_begin_of_word(source, end);
    size_t before = ptx_src_before_blanks(source, name);

    if (name == end || before == SIZE_MAX || source->text[before] != '&')
        return false; /* for example the operator `&=` */
    before = ptx_src_before_blanks(source, before);
    return before != SIZE_MAX && (ptx_src_is_word(source->text[before]) || strchr("&>", source->text[before]) != NULL);
}

/* Returns true if the name at @i is in the initialiser of a reference. Other names may then mean the variable, too. */
static bool is_aliased(const struct ptx_assigned *source, size_t i)
{
    while (i-- != 0 && strchr(";{}", source->text[i]) == NULL)
        if (source->text[i] == '=' && ptx_src_is_reference(source, i))
            return true;
    return false;
}

/* Reads a decimal literal at @i. Returns false if another token is there, or if an operator other than `;`, `,` or `)`
 * follows. */
static bool take_literal(const struct ptx_assigned *source, size_t i, int64_t *out)
{
    const size_t first = i;

    for (*out = 0; ptx_src_char(source, i) >= '0' && ptx_src_char(source, i) <= '9' && i - first < 9; i++)
        *out = 10 * *out + (ptx_src_char(source, i) - '0');
    if (i == first || (source->text[first] == '0' && i != first + 1))
        return false;
    i += ptx_src_char(source, i) == 'u' || ptx_src_char(source, i) == 'U';
    return strchr(";,)", ptx_src_char(source, ptx_src_after_blanks(source, i))) != NULL;
}

/* Returns true if the occurrence of a variable's name at [@from, @to) adds a constant, as in `i++` or `i += 2`, or assigns a
 * constant. Stores the added constant in *@step, or 0 for an assignment. */
static bool is_step(const struct ptx_assigned *source, size_t from, size_t to, int64_t *step)
{
    const size_t next = ptx_src_after_blanks(source, to), before = ptx_src_before_blanks(source, from);
    const char first = ptx_src_char(source, next), second = ptx_src_char(source, next + 1);

    *step = first == '-' ? -1 : 1;
    if ((first == '+' || first == '-') && second == first)
        return true;
    if ((first == '+' || first == '-') && second == '=') {
        const int64_t sign = *step;

        if (!take_literal(source, ptx_src_after_blanks(source, next + 2), step))
            return false;
        *step *= sign;
        return *step != 0;
    }
    if (first == '=' && second != '=') {
        int64_t value;

        *step = 0;
        return take_literal(source, ptx_src_after_blanks(source, next + 1), &value);
    }
    if (before == SIZE_MAX || before == 0 || (source->text[before] != '+' && source->text[before] != '-') ||
        source->text[before - 1] != source->text[before] || ptx_src_has_left_side(source, before - 1))
        return false;
    *step = source->text[before] == '-' ? -1 : 1;
    return true;
}

/* Returns true if the occurrence of a variable's name at [@from, @to) begins the condition of a `for`, and this condition
 * compares the variable with a constant, as in `i < 4`. Stores the lowest value with which a rising variable ends the loop. */
static bool is_limit(const struct ptx_assigned *source, size_t from, size_t to, int64_t *limit)
{
    const size_t before = ptx_src_before_blanks(source, from);
    size_t next = ptx_src_after_blanks(source, to);
    const bool inclusive = ptx_src_char(source, next) == '<' && ptx_src_char(source, next + 1) == '=';

    if (before == SIZE_MAX || source->text[before] != ';' || ptx_src_char(source, next) != '<')
        return false;
    next = ptx_src_after_blanks(source, next + 1 + inclusive);
    if (!take_literal(source, next, limit))
        return false;
    *limit += inclusive;
    while (ptx_src_is_word(ptx_src_char(source, next)))
        next++;
    return ptx_src_char(source, ptx_src_after_blanks(source, next)) == ';';
}

/* Returns true if the statement around the name at [@from, @to) gives the variable's address to a function, or binds the variable to
 * a reference of a function's parameter. The function may then assign to the variable. */
static bool is_passed(struct ptx_assigned *source, size_t from, size_t to)
{
    const size_t before = ptx_src_before_blanks(source, from);

    return ptx_src_char(source, before) == '&' ? !ptx_src_has_left_side(source, before) : is_bound(source, from, to);
}

/* Writes ",&LINE" for each line of the statement around [@from, @to). */
static void put_passed(const struct ptx_assigned *source, size_t from, size_t to, struct lw_sink *out)
{
    while (from != 0 && strchr(";{}", source->text[from - 1]) == NULL)
        from--;
    for (unsigned l = ptx_src_line_at(source, ptx_src_after_blanks(source, from)); l <= ptx_src_line_at(source, to); l++)
        lw_printf(out, ",&%u", l);
}

/* Returns true if the character at @i is a binary operator that computes: + - * / % & | ^ << >>. */
static bool is_computing(const struct ptx_assigned *source, size_t i)
{
    const char a = ptx_src_char(source, i), aa = ptx_src_char(source, i + 1);
    const size_t before = ptx_src_before_blanks(source, i);

    if (before == SIZE_MAX || (!ptx_src_is_word(source->text[before]) && strchr(")]", source->text[before]) == NULL))
        return false;
    return ((a == '<' || a == '>') && aa == a) || (strchr("+-*/%&|^", a) != NULL && aa != '>');
}

/* Returns true if the assignment whose left side ends at @i computes its value: an operator that computes is the last operation of the
 * right side, or the assignment is an update such as `+=`. So the value is not that of another variable, except by chance. */
static bool computes(const struct ptx_assigned *source, size_t i)
{
    bool found = false;

    if (ptx_src_char(source, i) != '=')
        return is_assignment(source, i);
    for (i = ptx_src_after_blanks(source, i + 1); ptx_src_char(source, i) == '(';) { /* skips casts and parentheses around the whole */
        const size_t after = ptx_src_after_blanks(source, ptx_src_after_bracket(source, i));
        size_t k = i + 1;

        while (ptx_src_is_word(ptx_src_char(source, k)) || ptx_src_is_blank(ptx_src_char(source, k)))
            k++;
        if (ptx_src_char(source, k) == ')' && (ptx_src_is_word(ptx_src_char(source, after)) || ptx_src_char(source, after) == '('))
            i = after;
        else if (strchr(";,)", ptx_src_char(source, after)) != NULL)
            i = ptx_src_after_blanks(source, i + 1);
        else
            break;
    }
    for (unsigned depth = 0; strchr(";{}", ptx_src_char(source, i)) == NULL; i++) {
        const char a = ptx_src_char(source, i), aa = ptx_src_char(source, i + 1);

        if ((a == ')' || a == ',') && depth == 0)
            break;
        depth += a == '(' || a == '[';
        depth -= (a == ')' || a == ']') && depth != 0;
        if (depth != 0)
            continue;
        if (is_computing(source, i)) {
            if ((a == '&' || a == '|') && aa == a)
                return false;
            found = true;
            i += aa == a;
        } else if (strchr("?<>=!", a) != NULL) {
            return false;
        }
    }
    return found;
}

/* Returns the index of the `do` whose block contains @i, if the block is on one line and has neither branches nor jumps: the source
 * executes all statements of the block whenever it executes the `do`. Otherwise returns @i. */
static size_t out_of_do(const struct ptx_assigned *source, size_t i)
{
    for (;;) {
        const struct ptx_brace *block = ptx_src_block_around(source, i);
        const size_t end = block != NULL ? ptx_src_before_blanks(source, block->at) + 1 : 0, word = ptx_src_begin_of_word(source, end);

        if (!ptx_src_is_text(source, word, end, "do") || block->end == SIZE_MAX ||
            ptx_src_line_at(source, word) != ptx_src_line_at(source, block->end) || !ptx_src_is_reached(source, i) ||
            ptx_src_has_branches(source, block->at, block->end) || ptx_src_has_jumps(source, block->at, block->end))
            return i;
        i = word;
    }
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
    bool all_compute = true; /* each assignment computes its value (computes()) */
    const struct ptx_brace *scope = NULL, *body = NULL, *inner;
    size_t hidden = 0; /* up to this index, the name means another variable */
    struct lw_buffer lines;

    text.has_references = false; /* is_bound() reports for each call whether it may assign to an argument */
    source->scanned += source->size;
    if (source->scanned > PTX_SRC_MOST_SCANNED || size == 0 || source->line_count == 0)
        return false;
    for (const char *p = source->text + ptx_src_begin_of_line(source, declared), *end = source->text + ptx_src_begin_of_line(source, declared + 1);
         p < end && scope == NULL; p++) {
        p = memmem(p, (size_t)(end - p), name, size);
        if (p == NULL)
            break;
        declaration = (size_t)(p - source->text);
        if ((p == source->text || !ptx_src_is_word(p[-1])) && !ptx_src_is_word(ptx_src_char(source, declaration + size)))
            scope = ptx_src_scope_of(source, declaration + size);
        text.is_pointer = scope != NULL && declares_pointer(source, (size_t)(p - source->text));
    }
    if (scope == NULL)
        return false;
    end_line = ptx_src_end_line_of(source, scope);
    if (end_line > declared && ptx_src_is_word(ptx_src_char(source, ptx_src_after_blanks(source, scope->end + 1))) &&
        ptx_src_line_at(source, ptx_src_after_blanks(source, scope->end + 1)) == end_line)
        end_line--; /* the scope ends before the line of "} while (...);" */
    for (body = scope; body != NULL && body->parent != SIZE_MAX; body = &source->braces[body->parent])
        ;
    lw_buffer_init(&lines);
    for (const char *p = source->text, *end = p + source->size; (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t from = (size_t)(p - source->text), after = from + size;
        size_t to;
        unsigned line, to_line, reached;
        const struct ptx_brace *block;
        size_t before, place;
        bool is_own; /* the declared name is the first word on its line */

        if ((from != 0 && ptx_src_is_word(source->text[from - 1])) || ptx_src_is_word(ptx_src_char(source, after)) || ptx_src_is_member(source, from) || from < hidden)
            continue;
        line = ptx_src_line_at(source, from);
        if (line < declared || (end_line != 0 && line > end_line))
            continue;
        inner = from > declaration ? ptx_src_inner_scope(source, from, after, scope) : NULL;
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
        to = text.is_pointer ? ptx_src_after_blanks(source, after) : after_parts(source, after);
        if (!may_assign(&text, from, after) && !may_assign(&text, from, to) && ptx_src_char(source, to) != '(' && ptx_src_char(source, to) != '{' &&
            !is_bound(source, from, to))
            continue;
        if (from != declaration) {
            steps &= is_step(source, from, after, &one) && (one == 0 || step == 0 || one == step);
            step = steps && one != 0 ? one : step;
        }
        to_line = ptx_src_line_at(source, ptx_src_end_of_text(source, from));
        all_compute &= computes(source, ptx_src_after_blanks(source, to));
        statements += 1 + (line != declared) + !ptx_src_is_outside_of_loops(source, from);
        before = ptx_src_before_blanks(source, from);
        is_own = before == SIZE_MAX || ptx_src_line_at(source, before) != line;
        place = out_of_do(source, from);
        block = line == declared && scope == ptx_src_block_around(source, from)                 ? scope
                : ptx_src_is_reached(source, place) && !ptx_src_is_in_switch(source, place) ? ptx_src_block_around(source, place)
                                                                                                : NULL;
        reached = block != NULL || !is_own ? ptx_src_end_line_of(source, block) : to_line;
        for (unsigned l = line > last ? line : last + 1; l <= to_line; l++) {
            lw_printf(&lines.sink, ",%u:%u", l, l == to_line ? reached : 0);
            if (l == to_line && reached != 0)
                lw_printf(&lines.sink, ":%u", block != NULL ? ptx_src_line_at(source, block->at) : line - 1);
            /* On one line, the block and its `else` part may both assign. */
            if (l == to_line && reached > to_line && ptx_src_end_of_else(source, block) != 0)
                lw_printf(&lines.sink, ":%u", ptx_src_end_of_else(source, block));
        }
        last = to_line > last ? to_line : last;
        if (from != declaration && to != ptx_src_after_blanks(source, after))
            lw_printf(&lines.sink, ",.%u", to_line);
        if (is_passed(source, from, to))
            put_passed(source, from, ptx_src_end_of_text(source, from), &lines.sink);
    }
    const bool is_outside = body != NULL && !source->jumps && !source->has_asm &&
                            (declaration < body->at || ptx_src_is_outside_of_loops(source, declaration));

    lw_printf(out, "%u,%u,%u,%u%s", end_line, statements == 1 ? 1 : is_outside ? 2 : 0,
              body != NULL ? ptx_src_line_at(source, body->at) : 0, ptx_src_end_line_of(source, body),
              lines.text != NULL ? lines.text : "");
    if (all_compute && statements != 0 && body != NULL && declaration > body->at)
        lw_put(out, ",~");
    if (steps && step != 0)
        lw_printf(out, ",+%lld", (long long)step);
    if (steps && step > 0 && limits == 1)
        lw_printf(out, ",<%lld", (long long)limit);
    for (size_t i = 0; i < source->loop_count && last != 0; i++) {
        const bool on_line = source->loops[i].first == source->loops[i].last, jumps = source->loops[i].has_jumps;
        const unsigned kind = jumps + 2u * (on_line && source->loops[i].has_branches) +
                              4u * (on_line && source->loops[i].is_do && !source->loops[i].has_branches && !jumps);

        if (source->loops[i].first >= declared && (end_line == 0 || source->loops[i].last <= end_line))
            lw_printf(out, kind != 0 ? ",-%u:%u:%u" : ",-%u:%u", source->loops[i].first, source->loops[i].last, kind);
    }
    lw_buffer_fini(&lines);
    return true;
}
