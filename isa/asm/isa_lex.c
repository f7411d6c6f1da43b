/* SPDX-License-Identifier: Apache-2.0 */
/* Names, numbers and strings in a line of assembly, and the maps of names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/asm/isa_asm_priv.h"

/* ---- maps ------------------------------------------------------------------- */

static size_t slot_of(const struct name_map *map, const char *name, uint32_t scope)
{
    struct lw_hash hash;

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, name, strlen(name));
    lw_hash_u64(&hash, scope);
    size_t i = (size_t)lw_hash_value(&hash) & (map->capacity - 1);

    while (map->slots[i].name != NULL &&
           (map->slots[i].scope != scope || strcmp(map->slots[i].name, name) != 0))
        i = (i + 1) & (map->capacity - 1);
    return i;
}

void name_map_fini(struct name_map *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

bool name_map_put(struct name_map *map, const char *name, uint32_t scope, uint32_t value)
{
    if (3 * (map->count + 1) > 2 * map->capacity) {
        struct name_map bigger = { NULL, map->capacity ? 2 * map->capacity : 64, map->count };

        bigger.slots = calloc(bigger.capacity, sizeof *bigger.slots);
        if (bigger.slots == NULL)
            return false;
        for (size_t i = 0; i < map->capacity; i++) {
            if (map->slots[i].name != NULL)
                bigger.slots[slot_of(&bigger, map->slots[i].name, map->slots[i].scope)] =
                    map->slots[i];
        }
        free(map->slots);
        *map = bigger;
    }

    size_t i = slot_of(map, name, scope);

    map->count += map->slots[i].name == NULL;
    map->slots[i] = (struct name_slot){ name, value, scope };
    return true;
}

const struct name_slot *name_map_get(const struct name_map *map, const char *name,
                                     uint32_t scope)
{
    if (map->capacity == 0)
        return NULL;

    const struct name_slot *slot = &map->slots[slot_of(map, name, scope)];

    return slot->name != NULL ? slot : NULL;
}

/* ---- errors --------------------------------------------------------------------- */

enum lw_status asm_fail(struct asm_state *as, const char *fmt, ...)
{
    char text[LW_ERROR_BYTES];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    as->status = LW_FAIL(as->err, LW_EINPUT, "%s:%u: %s", as->name, as->line, text);
    return as->status;
}

enum lw_status asm_no_memory(struct asm_state *as)
{
    as->status = LW_FAIL(as->err, LW_ENOMEM, "%s:%u: the host has no memory to assemble the rest", as->name,
                         as->line);
    return as->status;
}

/* ---- cursor ----------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}

static bool is_name_char(char c)
{
    return is_name_start(c) || is_digit(c);
}

void cursor_space(struct cursor *c)
{
    while (*c->p == ' ' || *c->p == '\t' || *c->p == '\r')
        c->p++;
}

bool cursor_end(struct cursor *c)
{
    cursor_space(c);
    return *c->p == '\0';
}

bool cursor_take(struct cursor *c, const char *text)
{
    size_t size = strlen(text);

    cursor_space(c);
    if (strncmp(c->p, text, size) != 0)
        return false;
    c->p += size;
    return true;
}

bool cursor_word(struct cursor *c, const char *word)
{
    size_t size = strlen(word);

    cursor_space(c);
    if (strncmp(c->p, word, size) != 0 || is_name_char(c->p[size]))
        return false;
    c->p += size;
    return true;
}

bool cursor_at_name(struct cursor *c)
{
    cursor_space(c);
    return is_name_start(*c->p) || *c->p == '"';
}

enum lw_status cursor_finish(struct asm_state *as, struct cursor *c)
{
    if (cursor_end(c))
        return LW_OK;
    return asm_fail(as, "unexpected text '%.40s' at the end of the line", c->p);
}

bool asm_init_put(struct asm_init *init, const void *bytes, size_t size)
{
    if (!lw_grow(&init->bytes, &init->capacity, init->size + size, 1))
        return false;
    memcpy(init->bytes + init->size, bytes, size);
    init->size += size;
    return true;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

enum lw_status cursor_string(struct asm_state *as, struct cursor *c, struct asm_init *out)
{
    cursor_space(c);
    if (*c->p != '"')
        return asm_fail(as, "expected a string in double quotes, found '%.20s'", c->p);
    c->p++;
    while (*c->p != '"') {
        char byte = *c->p++;

        if (byte == '\0')
            return asm_fail(as, "the string has no closing quote");
        if (byte == '\\') {
            byte = *c->p++;
            if (byte == 'n') {
                byte = '\n';
            } else if (byte == 't') {
                byte = '\t';
            } else if (byte == '0') {
                byte = '\0';
            } else if (byte == 'x' && hex_digit(c->p[0]) >= 0 && hex_digit(c->p[1]) >= 0) {
                byte = (char)(hex_digit(c->p[0]) * 16 + hex_digit(c->p[1]));
                c->p += 2;
            } else if (byte != '\\' && byte != '"') {
                return asm_fail(as, "unknown escape in a string; write \\n \\t \\0 \\\\ \\\" "
                                    "or \\xHH");
            }
        }
        if (!asm_init_put(out, &byte, 1))
            return asm_no_memory(as);
    }
    c->p++;
    return LW_OK;
}

static const char *quoted_name(struct asm_state *as, struct cursor *c)
{
    struct asm_init text = { 0 };
    const char *name = NULL;

    if (cursor_string(as, c, &text) == LW_OK) {
        if (text.size == 0 || text.size > ISA_NAME_BYTES ||
            memchr(text.bytes, 0, text.size) != NULL) {
            asm_fail(as, "a name must have 1 to %d characters and no zero byte", ISA_NAME_BYTES);
        } else {
            name = lw_arena_strndup(&as->object->arena, (const char *)text.bytes, text.size);
            if (name == NULL)
                asm_no_memory(as);
        }
    }
    free(text.bytes);
    return name;
}

const char *cursor_name(struct asm_state *as, struct cursor *c, bool *quoted)
{
    cursor_space(c);
    if (quoted != NULL)
        *quoted = *c->p == '"';
    if (*c->p == '"')
        return quoted_name(as, c);

    const char *start = c->p;

    if (!is_name_start(*start)) {
        asm_fail(as, "expected a name, found '%.20s'", start);
        return NULL;
    }
    while (is_name_char(*c->p))
        c->p++;
    if (c->p - start > ISA_NAME_BYTES) {
        asm_fail(as, "a name must have 1 to %d characters", ISA_NAME_BYTES);
        return NULL;
    }

    const char *name = lw_arena_strndup(&as->object->arena, start, (size_t)(c->p - start));

    if (name == NULL)
        asm_no_memory(as);
    return name;
}

/* ---- numbers ------------------------------------------------------------------------- */

bool cursor_at_number(struct cursor *c)
{
    const char *p;

    cursor_space(c);
    p = c->p;
    if (*p == '+' || *p == '-')
        p++;
    while (*p == ' ')
        p++;
    return is_digit(*p) || (*p == '.' && is_digit(p[1]));
}

/* Parses a float given by its bits, such as 0f3f800000 or 0d3ff0000000000000. */
static bool take_bits(struct cursor *c, struct number *out)
{
    int digits = c->p[0] == '0' && (c->p[1] == 'f' || c->p[1] == 'F')   ? 8
                 : c->p[0] == '0' && (c->p[1] == 'd' || c->p[1] == 'D') ? 16
                                                                        : 0;
    uint64_t bits = 0;

    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(c->p[2 + i]);

        if (digit < 0)
            return false;
        bits = bits << 4 | (unsigned)digit;
    }
    if (digits == 0 || is_name_char(c->p[2 + digits]))
        return false;
    c->p += 2 + digits;
    out->kind = digits == 8 ? NUMBER_BITS32 : NUMBER_BITS64;
    out->magnitude = bits;
    return true;
}

static enum lw_status take_based(struct asm_state *as, struct cursor *c, struct number *out)
{
    unsigned base = c->p[1] == 'x' || c->p[1] == 'X' ? 16 : 2;
    const char *start = c->p;

    out->hex = true;
    for (c->p += 2; hex_digit(*c->p) >= 0 && (unsigned)hex_digit(*c->p) < base; c->p++) {
        if (out->magnitude > UINT64_MAX / base)
            return asm_fail(as, "the number '%.24s...' has more than 64 bits", start);
        out->magnitude = out->magnitude * base + (unsigned)hex_digit(*c->p);
    }
    if (c->p == start + 2 || is_name_char(*c->p))
        return asm_fail(as, "'%.24s' is not a number", start);
    return LW_OK;
}

enum lw_status cursor_number(struct asm_state *as, struct cursor *c, struct number *out)
{
    memset(out, 0, sizeof *out);
    cursor_space(c);
    if (*c->p == '+' || *c->p == '-')
        out->negative = *c->p++ == '-';
    cursor_space(c);
    if (!is_digit(*c->p) && !(*c->p == '.' && is_digit(c->p[1])))
        return asm_fail(as, "expected a number, found '%.20s'", c->p);
    if (take_bits(c, out)) {
        if (out->negative)
            return asm_fail(as, "the bits of a float contain the sign: remove the '-'");
        return LW_OK;
    }
    if (c->p[0] == '0' && c->p[1] != '\0' && strchr("xXbB", c->p[1]) != NULL)
        return take_based(as, c, out);

    const char *start = c->p;
    bool is_float = false, overflow = false;

    while (is_digit(*c->p)) {
        unsigned digit = (unsigned)(*c->p++ - '0');

        if (out->magnitude > (UINT64_MAX - digit) / 10)
            overflow = true;
        out->magnitude = out->magnitude * 10 + digit;
    }
    if (*c->p == '.') {
        is_float = true;
        for (c->p++; is_digit(*c->p);)
            c->p++;
    }
    if (*c->p == 'e' || *c->p == 'E') {
        const char *p = c->p + 1;

        if (*p == '+' || *p == '-')
            p++;
        if (is_digit(*p)) {
            is_float = true;
            while (is_digit(*p))
                p++;
            c->p = p;
        }
    }

    size_t size = (size_t)(c->p - start);

    if (*c->p == 'f') {
        is_float = true;
        out->suffix = *c->p++;
    }
    if (is_name_char(*c->p))
        return asm_fail(as, "'%.24s' is not a number", start);
    if (!is_float) {
        if (overflow)
            return asm_fail(as, "the number '%.24s' has more than 64 bits", start);
        return LW_OK;
    }
    if (size + 2 > sizeof out->text)
        return asm_fail(as, "the number '%.24s...' has too many digits", start);
    out->kind = NUMBER_FLOAT;
    out->text[0] = out->negative ? '-' : '+';
    memcpy(out->text + 1, start, size);
    return LW_OK;
}

float number_f32(const struct number *n)
{
    if (n->kind == NUMBER_FLOAT)
        return strtof(n->text, NULL);
    return n->negative ? -(float)n->magnitude : (float)n->magnitude;
}

double number_f64(const struct number *n)
{
    if (n->kind == NUMBER_FLOAT)
        return strtod(n->text, NULL);
    return n->negative ? -(double)n->magnitude : (double)n->magnitude;
}

enum lw_status cursor_int(struct asm_state *as, struct cursor *c, const char *what, int64_t low,
                          int64_t high, int64_t *out)
{
    struct number n;
    enum lw_status status = cursor_number(as, c, &n);
    uint64_t limit = n.negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;

    if (status != LW_OK)
        return status;
    if (n.kind != NUMBER_INT)
        return asm_fail(as, "%s must be an integer", what);
    if (n.magnitude <= limit) {
        int64_t value = n.negative ? (int64_t)(0 - n.magnitude) : (int64_t)n.magnitude;

        if (value >= low && value <= high) {
            *out = value;
            return LW_OK;
        }
    }
    return asm_fail(as, "%s %s%llu is out of range: it must be from %lld to %lld", what, n.negative ? "-" : "",
                    (unsigned long long)n.magnitude, (long long)low, (long long)high);
}

enum lw_status cursor_addend(struct asm_state *as, struct cursor *c, int64_t *addend)
{
    *addend = 0;
    cursor_space(c);
    if (*c->p != '+' && *c->p != '-')
        return LW_OK;
    return cursor_int(as, c, "the offset", -INT64_MAX, INT64_MAX, addend);
}
