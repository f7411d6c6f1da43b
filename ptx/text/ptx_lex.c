/* SPDX-License-Identifier: Apache-2.0 */
/* Splits PTX text into words. The text need not be terminated, because no function reads at or past its end. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx_priv.h"

static bool is_first(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_next(char c)
{
    return is_first(c) || is_digit(c);
}

/* Records a comment that gives a variable's value. Each comment is recorded only once, even if look-ahead reads the comment
 * twice. */
static void take_note(struct ptx_lexer *lex, const char *end)
{
    static const char mark[] = "//lw.value ";
    const size_t n = sizeof mark - 1;
    struct ptx_notes *notes = lex->notes;

    if (notes == NULL || (size_t)(end - lex->p) <= n || memcmp(lex->p, mark, n) != 0 ||
        (notes->count != 0 && notes->at[notes->count - 1].text >= lex->p))
        return;
    *PTX_PUSH(lex->job, *notes) = (struct ptx_note){lex->p + n, (uint32_t)(end - lex->p - n), lex->line};
}

void ptx_lex_space(struct ptx_lexer *lex)
{
    while (lex->p < lex->end) {
        char c = *lex->p;

        if (c == '\n') {
            lex->line++;
            lex->p++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lex->p++;
        } else if (c == '/' && lex->end - lex->p > 1 && lex->p[1] == '/') {
            const char *nl = memchr(lex->p, '\n', (size_t)(lex->end - lex->p));

            take_note(lex, nl != NULL ? nl : lex->end);
            lex->p = nl != NULL ? nl : lex->end;
        } else if (c == '/' && lex->end - lex->p > 1 && lex->p[1] == '*') {
            unsigned start = lex->line;

            for (lex->p += 2;; lex->p++) {
                if (lex->end - lex->p < 2)
                    ptx_fail(lex->job, start, LW_EINPUT, "a comment is not closed: add */");
                if (lex->p[0] == '*' && lex->p[1] == '/')
                    break;
                lex->line += *lex->p == '\n';
            }
            lex->p += 2;
        } else {
            return;
        }
    }
}

char ptx_lex_peek(struct ptx_lexer *lex)
{
    ptx_lex_space(lex);
    return lex->p < lex->end ? *lex->p : '\0';
}

bool ptx_lex_accept(struct ptx_lexer *lex, char c)
{
    if (ptx_lex_peek(lex) != c || lex->p >= lex->end)
        return false;
    lex->p++;
    return true;
}

const char *ptx_lex_here(struct ptx_lexer *lex, char *room, size_t size)
{
    size_t n = 0;

    ptx_lex_space(lex);
    if (lex->p >= lex->end)
        return "the end of the text";
    if (*lex->p < ' ' || *lex->p > 126) {
        snprintf(room, size, "the byte 0x%02x", (unsigned char)*lex->p);
        return room;
    }
    room[n++] = '\'';
    for (const char *p = lex->p; p < lex->end && n + 2 < size && n < 30; p++) {
        bool word = is_next(*p) || *p == '.' || *p == ':';

        if (p > lex->p && !(word && (is_next(*lex->p) || *lex->p == '.')))
            break;
        room[n++] = *p >= ' ' && *p < 127 ? *p : '?';
    }
    room[n++] = '\'';
    room[n] = '\0';
    return room;
}

void ptx_lex_expect(struct ptx_lexer *lex, char c, const char *where)
{
    char room[40];

    if (!ptx_lex_accept(lex, c))
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected '%c' %s, found %s", c, where,
                 ptx_lex_here(lex, room, sizeof room));
}

bool ptx_lex_identifier(struct ptx_lexer *lex, struct ptx_name *name)
{
    ptx_lex_space(lex);
    if (lex->p >= lex->end || !is_first(*lex->p))
        return false;
    name->text = lex->p;
    while (lex->p < lex->end && is_next(*lex->p))
        lex->p++;
    name->size = (size_t)(lex->p - name->text);
    if (name->size > PTX_NAME_BYTES)
        ptx_fail(lex->job, lex->line, LW_EINPUT,
                 "a name of %zu characters is too long (%d at most)", name->size, PTX_NAME_BYTES);
    return true;
}

bool ptx_lex_dotted(struct ptx_lexer *lex, struct ptx_name *name)
{
    const char *p = lex->p;

    if (lex->end - p < 2 || *p != '.' || !is_next(p[1]))
        return false;
    name->text = ++p;
    while (p < lex->end && (is_next(*p) || (*p == ':' && lex->end - p > 2 && p[1] == ':' &&
                                            is_next(p[2]))))
        p += *p == ':' ? 2 : 1;
    name->size = (size_t)(p - name->text);
    lex->p = p;
    return true;
}

bool ptx_lex_number(struct ptx_lexer *lex, uint64_t *bits, enum ptx_literal *literal)
{
    const char *start, *p;
    bool minus = false, digits = false;
    uint64_t v = 0;
    char room[40];

    ptx_lex_space(lex);
    start = p = lex->p;
    *literal = PTX_LIT_INT;
    if (p < lex->end && (*p == '-' || *p == '+'))
        minus = *p++ == '-';
    while (p < lex->end && (*p == ' ' || *p == '\t'))
        p++;
    if (p >= lex->end || !(is_digit(*p) || *p == '.'))
        return false;
    if (lex->end - p > 2 && p[0] == '0' && ((p[1] | 32) == 'f' || (p[1] | 32) == 'd')) {
        unsigned want = (p[1] | 32) == 'f' ? 8 : 16, n = 0;

        *literal = want == 8 ? PTX_LIT_F32 : PTX_LIT_F64;
        for (p += 2; n < want && p < lex->end; p++, n++) {
            char c = *p;
            unsigned d = is_digit(c) ? (unsigned)(c - '0')
                         : (c | 32) >= 'a' && (c | 32) <= 'f' ? (unsigned)((c | 32) - 'a' + 10)
                                                              : 99;
            if (d == 99)
                break;
            v = v << 4 | d;
        }
        if (n != want || (p < lex->end && is_next(*p)))
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "a floating-point literal 0%c needs %u hexadecimal digits",
                     want == 8 ? 'f' : 'd', want);
        if (minus)
            v ^= want == 8 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        lex->p = p;
        *bits = v;
        return true;
    }
    unsigned base = 10;

    if (lex->end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x') {
        base = 16;
        p += 2;
    } else if (lex->end - p > 2 && p[0] == '0' && (p[1] | 32) == 'b') {
        base = 2;
        p += 2;
    } else if (lex->end - p > 1 && p[0] == '0' && is_digit(p[1])) {
        base = 8;
        p++;
    }
    const char *first = p;

    for (; p < lex->end; p++) {
        char c = *p;
        unsigned d = is_digit(c) ? (unsigned)(c - '0')
                     : base == 16 && (c | 32) >= 'a' && (c | 32) <= 'f'
                         ? (unsigned)((c | 32) - 'a' + 10)
                         : 99;
        if (d >= base)
            break;
        if (base == 10 ? v > (UINT64_MAX - d) / 10 : v > UINT64_MAX / base)
            ptx_fail(lex->job, lex->line, LW_EINPUT, "an integer literal exceeds 64 bits");
        v = v * base + d;
        digits = true;
    }
    if (base == 10 && p < lex->end &&
        (*p == '.' || ((*p | 32) == 'e' && (digits || first < p)))) {
        char *stop, text[80];
        size_t n = 0;

        for (const char *q = first; q < lex->end && n + 1 < sizeof text; q++) {
            if (!is_digit(*q) && *q != '.' && (*q | 32) != 'e' &&
                !((*q == '-' || *q == '+') && q > first && (q[-1] | 32) == 'e'))
                break;
            text[n++] = *q;
        }
        text[n] = '\0';
        double d = strtod(text, &stop);

        if (stop == text)
            return false;
        p = first + (stop - text);
        d = minus ? -d : d;
        memcpy(&v, &d, sizeof v);
        *literal = PTX_LIT_F64;
        lex->p = p;
        *bits = v;
        return true;
    }
    if (!digits)
        return false;
    if (p < lex->end && *p == 'U')
        p++;
    if (p < lex->end && is_next(*p)) {
        lex->p = start;
        ptx_fail(lex->job, lex->line, LW_EINPUT, "%s is not a number",
                 ptx_lex_here(lex, room, sizeof room));
    }
    lex->p = p;
    *bits = minus ? 0 - v : v;
    return true;
}

uint64_t ptx_lex_integer(struct ptx_lexer *lex, const char *what)
{
    enum ptx_literal literal;
    uint64_t bits;
    char room[40];

    if (!ptx_lex_number(lex, &bits, &literal) || literal != PTX_LIT_INT)
        ptx_fail(lex->job, lex->line, LW_EINPUT, "expected %s, found %s", what,
                 ptx_lex_here(lex, room, sizeof room));
    return bits;
}

/* ---- constant expressions ----------------------------------------------------- */

/* Value of a constant expression (PTX ISA 4.6), a 64-bit integer. A literal is unsigned if it exceeds 63 bits or ends in
 * U; a result is unsigned if an operand is. Comparisons return a signed 0 or 1. */
struct constant {
    uint64_t v;
    bool is_unsigned;
};
enum { MAX_DEPTH = 60 };
struct expression {
    struct ptx_lexer *lex;
    unsigned depth;
};

static struct constant choice(struct expression *e, struct constant first);
static struct constant unary(struct expression *e);

static void deeper(struct expression *e)
{
    if (++e->depth > MAX_DEPTH)
        ptx_fail(e->lex->job, e->lex->line, LW_EUNSUPP, "a constant expression is nested too deeply");
}

static struct constant parenthesis(struct expression *e)
{
    struct ptx_lexer *lex = e->lex;
    struct ptx_name type = { 0 };
    struct constant x;

    ptx_lex_space(lex);
    if (ptx_lex_dotted(lex, &type)) { /* a cast precedes the operand */
        if (!ptx_name_is(type, "s64") && !ptx_name_is(type, "u64"))
            ptx_fail(lex->job, lex->line, LW_EINPUT, "expected (.s64) or (.u64), found (.%.*s)",
                     (int)(type.size < 30 ? type.size : 30), type.text);
        ptx_lex_expect(lex, ')', "after the type");
        x = unary(e);
        x.is_unsigned = type.text[0] == 'u';
    } else {
        x = choice(e, unary(e));
        ptx_lex_expect(lex, ')', "in the constant expression");
    }
    return x;
}

/* Accepts WARP_SZ if an operand is being parsed. */
static bool warp_size(struct ptx_lexer *lex)
{
    struct ptx_lexer ahead = *lex;
    struct ptx_name name;

    if (!lex->takes_warp_size || ptx_lex_peek(&ahead) != 'W' ||
        !ptx_lex_identifier(&ahead, &name) || !ptx_name_is(name, "WARP_SZ"))
        return false;
    *lex = ahead;
    lex->had_warp_size = true;
    return true;
}

static struct constant unary(struct expression *e)
{
    struct ptx_lexer *lex = e->lex;
    char c = ptx_lex_peek(lex), room[40];
    enum ptx_literal literal;
    struct constant x = { 0 };

    deeper(e);
    if (c == '(') {
        lex->p++;
        x = parenthesis(e);
    } else if (c == '-' || c == '+' || c == '~' || c == '!') {
        lex->p++;
        x = unary(e);
        if (c == '-')
            x.v = 0 - x.v;
        else if (c == '~')
            x.v = ~x.v;
        else if (c == '!')
            x = (struct constant){ x.v == 0, false };
    } else if (warp_size(lex)) {
        x.v = 32;
    } else {
        if (!ptx_lex_number(lex, &x.v, &literal) || literal != PTX_LIT_INT)
            ptx_fail(lex->job, lex->line, LW_EINPUT,
                     "expected an integer in the constant expression, found %s",
                     ptx_lex_here(lex, room, sizeof room));
        x.is_unsigned = x.v >> 63 || lex->p[-1] == 'U';
    }
    e->depth--;
    return x;
}

/* Operators with their precedence. */
static const struct {
    char text[3];
    uint8_t level;
} operators[] = {
    { "||", 1 }, { "&&", 2 }, { "|", 3 },  { "^", 4 }, { "&", 5 }, { "==", 6 },
    { "!=", 6 }, { "<=", 7 }, { ">=", 7 }, { "<", 7 }, { ">", 7 }, { "<<", 8 },
    { ">>", 8 }, { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
};

/* Returns the longest operator at this position, or -1. */
static int find_operator(struct ptx_lexer *lex)
{
    int found = -1;

    switch (ptx_lex_peek(lex)) {
    case '|': case '&': case '^': case '=': case '!': case '<': case '>': case '+': case '-':
    case '*': case '/': case '%':
        break;
    default:
        return -1;
    }
    for (unsigned i = 0; i < LW_COUNT_OF(operators); i++) {
        size_t n = strlen(operators[i].text);

        if ((size_t)(lex->end - lex->p) >= n && memcmp(lex->p, operators[i].text, n) == 0 &&
            (found < 0 || n > strlen(operators[found].text)))
            found = (int)i;
    }
    return found;
}

static struct constant apply(struct expression *e, const char *op, struct constant a,
                             struct constant b)
{
    bool u = a.is_unsigned || b.is_unsigned, keeps = true, less;
    int64_t x = (int64_t)a.v, y = (int64_t)b.v;
    uint64_t v = 0;

    less = u ? a.v < b.v : x < y;
    if (op[1] != '\0' || op[0] == '<' || op[0] == '>')
        keeps = false; /* the result of a comparison, && or || is signed; `keeps` does not matter for << and >>, whose cases
                        * return their own result */
    switch (op[0]) {
    case '*': v = a.v * b.v; break;
    case '+': v = a.v + b.v; break;
    case '-': v = a.v - b.v; break;
    case '/':
    case '%':
        if (b.v == 0)
            ptx_fail(e->lex->job, e->lex->line, LW_EINPUT, "division by zero in a constant expression");
        if (u)
            v = op[0] == '/' ? a.v / b.v : a.v % b.v;
        else if (y == -1)
            v = op[0] == '/' ? 0 - a.v : 0;
        else
            v = (uint64_t)(op[0] == '/' ? x / y : x % y);
        break;
    case '<':
        if (op[1] == '<')
            return (struct constant){ b.v > 63 ? 0 : a.v << b.v, a.is_unsigned };
        v = less || (op[1] == '=' && a.v == b.v);
        break;
    case '>':
        if (op[1] == '>' && a.is_unsigned)
            return (struct constant){ b.v > 63 ? 0 : a.v >> b.v, true };
        if (op[1] == '>')
            return (struct constant){ (uint64_t)(x >> (b.v > 63 ? 63 : b.v)), false };
        v = !less && (op[1] == '=' || a.v != b.v);
        break;
    case '=': v = a.v == b.v; break;
    case '!': v = a.v != b.v; break;
    case '&': v = op[1] == '&' ? a.v != 0 && b.v != 0 : (a.v & b.v); break;
    case '|': v = op[1] == '|' ? a.v != 0 || b.v != 0 : (a.v | b.v); break;
    default: v = a.v ^ b.v; break;
    }
    return (struct constant){ v, keeps && u };
}

static struct constant binary(struct expression *e, struct constant left, unsigned level)
{
    for (int i; (i = find_operator(e->lex)) >= 0 && operators[i].level >= level;) {
        struct constant right;

        e->lex->p += strlen(operators[i].text);
        right = binary(e, unary(e), operators[i].level + 1u);
        left = apply(e, operators[i].text, left, right);
    }
    return left;
}

/* Parses a conditional expression whose first operand @first was already parsed. */
static struct constant choice(struct expression *e, struct constant first)
{
    struct constant x = binary(e, first, 1), yes, no;

    if (!ptx_lex_accept(e->lex, '?'))
        return x;
    deeper(e);
    yes = choice(e, unary(e));
    ptx_lex_expect(e->lex, ':', "between the values of a choice");
    no = choice(e, unary(e));
    e->depth--;
    return x.v != 0 ? yes : no;
}

bool ptx_lex_constant(struct ptx_lexer *lex, uint64_t *bits, enum ptx_literal *literal)
{
    struct expression e = { .lex = lex };
    char c = ptx_lex_peek(lex);
    struct constant first;
    const char *next = lex->p + 1;

    while (next < lex->end && (*next == ' ' || *next == '\t'))
        next++;
    if (c == '(' || c == '~' || c == '!' ||
        ((c == '-' || c == '+') && next < lex->end && *next != '\0' &&
         strchr("(~!-+", *next) != NULL)) {
        first = unary(&e);
    } else if (warp_size(lex)) {
        first = (struct constant){ 32, false };
    } else {
        if (!ptx_lex_number(lex, bits, literal))
            return false;
        if (*literal != PTX_LIT_INT)
            return true;
        first = (struct constant){ *bits, (*bits >> 63 && c != '-') || lex->p[-1] == 'U' };
    }
    *literal = PTX_LIT_INT;
    *bits = choice(&e, first).v;
    return true;
}

bool ptx_lex_string(struct ptx_lexer *lex, struct ptx_name *text)
{
    if (ptx_lex_peek(lex) != '"')
        return false;
    text->text = ++lex->p;
    while (lex->p < lex->end && *lex->p != '"' && *lex->p != '\n')
        lex->p += *lex->p == '\\' && lex->end - lex->p > 1 ? 2 : 1;
    if (lex->p >= lex->end || *lex->p != '"')
        ptx_fail(lex->job, lex->line, LW_EINPUT, "a string is not closed: add \"");
    text->size = (size_t)(lex->p++ - text->text);
    return true;
}

size_t ptx_string_text(const char *from, size_t size, char *text, size_t room)
{
    static const char letters[] = "b\bf\fn\nr\rt\t\"\"\\\\";
    const char *end = from + size;
    size_t n = 0;

    while (from < end && n + 1 < room) {
        unsigned digits = 0, value = 0;
        char c = *from++;

        for (; c == '\\' && digits < 3 && from + digits < end && from[digits] >= '0' && from[digits] <= '7'; digits++)
            value = 8 * value + (unsigned)(from[digits] - '0');
        if (digits == 3 && value < 256 && value != 0) {
            c = (char)value;
            from += 3;
        } else if (c == '\\' && from < end) {
            for (const char *l = letters; *l != '\0'; l += 2) {
                if (*l == *from) {
                    c = l[1];
                    from++;
                    break;
                }
            }
        }
        text[n++] = c;
    }
    text[n] = '\0';
    return n;
}
