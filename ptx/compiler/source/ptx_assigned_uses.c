/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the uses of a variable in memory in the text of a source. */
#include "ptx/compiler/source/ptx_source_priv.h"

/* Writes the parts that follow a name at @i as ".MEMBER", "[NUMBER]", or "[]" for an index that is no number. Returns the index
 * after the parts. */
static size_t put_parts(const struct ptx_assigned *source, size_t i, struct lw_sink *out)
{
    for (;;) {
        size_t k, end;

        i = ptx_src_after_blanks(source, i);
        if (ptx_src_char(source, i) == '.') {
            for (k = end = ptx_src_after_blanks(source, i + 1); ptx_src_is_word(ptx_src_char(source, end)); end++)
                ;
            lw_printf(out, ".%.*s", (int)(end - k), source->text + k);
        } else if (ptx_src_char(source, i) == '[') {
            unsigned depth = 1;

            for (end = i + 1; depth != 0 && end < source->size; end++) {
                depth += source->text[end] == '[';
                depth -= source->text[end] == ']';
            }
            for (k = i + 1; ptx_src_char(source, k) >= '0' && ptx_src_char(source, k) <= '9'; k++)
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
    const size_t before = ptx_src_before_blanks(source, i);

    if (before == SIZE_MAX || source->text[before] != ')')
        return !ptx_src_has_left_side(source, i);
    for (size_t k = before; k-- != 0 && source->text[k] != '(';)
        if (!ptx_src_is_word(source->text[k]) && !ptx_src_is_blank(source->text[k]) && source->text[k] != '*')
            return false;
    return true;
}

/* Returns the kind of a use of a variable, whose name is at @from and is followed by parts up to @to. The kind is '=' if the
 * use assigns to the variable, '&' if the use may give the variable's address to other code, and '?' if the use reads the
 * variable or, if the part is an array, gives the array's address to other code. */
static char kind_of_use(const struct ptx_assigned *source, size_t from, size_t to)
{
    size_t before = ptx_src_before_blanks(source, from);
    bool enclosed = false;
    char a = ptx_src_char(source, to), aa;

    if ((ptx_src_char(source, before) == '(' || ptx_src_char(source, before) == ',') && (a == ')' || a == ',') &&
        (source->has_asm || source->has_references))
        return '&';
    while (ptx_src_char(source, before) == '(' && ptx_src_char(source, to) == ')') {
        before = ptx_src_before_blanks(source, before);
        to = ptx_src_after_blanks(source, to + 1);
        enclosed = true;
    }
    a = ptx_src_char(source, to);
    aa = ptx_src_char(source, to + 1);
    if ((a == '=' && aa != '=') || ((a == '<' || a == '>') && aa == a && ptx_src_char(source, to + 2) == '=') ||
        (strchr("+-*/%&|^", a) != NULL && (aa == '=' || ((a == '+' || a == '-') && aa == a))))
        return enclosed ? '&' : '=';
    if (a == '(')
        return '&'; /* NAME( calls a function of the object or a macro */
    a = ptx_src_char(source, before);
    aa = before != 0 && before != SIZE_MAX ? source->text[before - 1] : ';';
    if ((a == '+' || a == '-') && aa == a)
        return enclosed ? '&' : '=';
    if (a == '&' && aa != '&' && takes_address(source, before))
        return '&';
    return a == '=' && source->has_references && ptx_src_is_reference(source, before) ? '&' : '?';
}

/* Returns the index of the first occurrence of a name as a word in [@from, @to), or SIZE_MAX. */
static size_t find_word(const struct ptx_assigned *source, const char *name, size_t size, size_t from, size_t to)
{
    for (const char *p = source->text + from, *end = source->text + to; p < end && (p = memmem(p, (size_t)(end - p), name, size)) != NULL; p++) {
        const size_t i = (size_t)(p - source->text);

        if ((i == 0 || !ptx_src_is_word(source->text[i - 1])) && !ptx_src_is_word(ptx_src_char(source, i + size)))
            return i;
    }
    return SIZE_MAX;
}

bool ptx_assigned_uses(struct ptx_assigned *source, const char *name, size_t size, unsigned declared, struct lw_sink *out)
{
    const struct ptx_brace *scope, *body, *inner;
    size_t declaration, i;

    source->scanned += source->size;
    if (source->scanned > PTX_SRC_MOST_SCANNED || size == 0 || source->line_count == 0)
        return false;
    declaration = i = find_word(source, name, size, ptx_src_begin_of_line(source, declared), ptx_src_begin_of_line(source, declared + 1));
    scope = declaration != SIZE_MAX ? ptx_src_scope_of(source, declaration + size) : NULL;
    if (scope == NULL || scope->end == SIZE_MAX)
        return false;
    for (body = scope; body->parent != SIZE_MAX; body = &source->braces[body->parent])
        ;
    if (memmem(source->text, source->size, "[&", 2) != NULL) /* a lambda may use all variables by reference */
        lw_printf(out, " %u:%u:0:0:&", declared, declared);
    for (; i != SIZE_MAX; i = find_word(source, name, size, i + 1, scope->end)) {
        const struct ptx_brace *block = ptx_src_is_reached(source, i) && !ptx_src_is_in_switch(source, i) ? ptx_src_block_around(source, i) : NULL;
        const unsigned line = ptx_src_line_at(source, i);
        unsigned to_line = ptx_src_line_at(source, ptx_src_end_of_text(source, i));
        struct lw_buffer parts;
        size_t to;
        char kind;

        if (ptx_src_is_member(source, i))
            continue;
        if (i != declaration && (inner = ptx_src_inner_scope(source, i, i + size, scope)) != NULL) {
            i = inner->end;
            continue;
        }
        lw_buffer_init(&parts);
        to = put_parts(source, i + size, &parts.sink);
        kind = kind_of_use(source, i, to);
        if (i == declaration) {
            const size_t value = ptx_src_char(source, to) == '=' ? ptx_src_after_blanks(source, to + 1) : to;
            const bool is_parameter = i < body->at;

            kind = is_parameter || strchr("={(", ptx_src_char(source, to)) != NULL ? '=' : ' ';
            if (is_parameter)
                to_line = ptx_src_line_at(source, body->at);
            else if (ptx_src_char(source, value) == '{')
                to_line = ptx_src_end_line_of(source, ptx_src_block_around(source, value + 1));
            block = is_parameter ? body : scope;
            lw_buffer_clear(&parts);
        }
        if (kind != ' ')
            lw_printf(out, " %u:%u:%u:%u:%c%s", line, to_line > line ? to_line : line, ptx_src_end_line_of(source, block),
                      block != NULL ? ptx_src_line_at(source, block->at) : 0, kind, lw_buffer_text(&parts));
        lw_buffer_fini(&parts);
    }
    return true;
}
