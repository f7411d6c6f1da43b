/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the source: sizes, names, and types that an expression names. */
#include "debug/expr/dbg_expr_priv.h"

#include <ctype.h>
#include <stdio.h>

/* DW_ATE_... */
enum { ENCODING_FLOAT = 4, ENCODING_SIGNED = 5, ENCODING_SIGNED_CHAR = 6 };

enum { MAX_TYPE_DEPTH = 32, MAX_STARS = 8 };

bool dbg_tag_is_structure(unsigned tag)
{
    return tag == ISA_TAG_STRUCTURE || tag == ISA_TAG_CLASS || tag == ISA_TAG_UNION;
}

bool dbg_type_is_char(const struct isa_debug *debug, int64_t type)
{
    const char *name;

    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE || debug->dies[type].tag != ISA_TAG_BASE)
        return false;
    name = isa_die_name(debug, (uint32_t)type);
    return name != NULL && strcmp(name, "char") == 0;
}

bool dbg_type_scalar(const struct isa_debug *debug, int64_t type, enum dbg_type *out,
                     unsigned *bytes)
{
    uint64_t size, encoding;
    unsigned tag;

    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE)
        return false;
    tag = debug->dies[type].tag;
    size = isa_type_bytes(debug, type, 0);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    *bytes = (unsigned)size;
    if (isa_tag_is_pointer(tag)) {
        *out = DBG_U64;
        return size == 8;
    }
    if (tag == ISA_TAG_ENUMERATION) {
        *out = size == 8 ? DBG_S64 : DBG_S32;
        return true;
    }
    if (tag != ISA_TAG_BASE)
        return false;
    encoding = isa_die_number(debug, (uint32_t)type, ISA_AT_ENCODING, 0);
    if (encoding == ENCODING_FLOAT && size >= 4)
        *out = size == 8 ? DBG_F64 : DBG_F32;
    else if (encoding == ENCODING_SIGNED || encoding == ENCODING_SIGNED_CHAR)
        *out = size == 8 ? DBG_S64 : DBG_S32;
    else
        *out = size == 8 ? DBG_U64 : DBG_U32;
    return true;
}

/* ---- names of types ------------------------------------------------------------------ */

static const char *keyword(unsigned tag)
{
    return tag == ISA_TAG_STRUCTURE    ? "struct"
           : tag == ISA_TAG_CLASS      ? "class"
           : tag == ISA_TAG_UNION      ? "union"
           : tag == ISA_TAG_ENUMERATION ? "enum"
                                       : "";
}

/* A declaration of @inner ("*", "(*)[4]", "") by this type, as C writes it. */
static void declare(const struct isa_debug *debug, int64_t type, unsigned skip,
                    const char *inner, unsigned depth, struct lw_sink *out)
{
    char text[512];
    unsigned tag = type != ISA_NO_DIE ? debug->dies[type].tag : 0;
    const char *name = type != ISA_NO_DIE ? isa_die_name(debug, (uint32_t)type) : "void";

    if (depth == MAX_TYPE_DEPTH) {
        lw_put(out, "...");
        return;
    }
    if (type == ISA_NO_DIE || tag == ISA_TAG_TYPEDEF || tag == ISA_TAG_BASE ||
        tag == ISA_TAG_UNSPECIFIED_TYPE) {
        lw_printf(out, "%s%s%s", name != NULL ? name : "?", *inner == '*' || *inner == '(' ? " "
                                                                                           : "",
                  inner);
    } else if (tag == ISA_TAG_CONST || tag == ISA_TAG_VOLATILE || tag == ISA_TAG_RESTRICT) {
        int64_t to = isa_die_type(debug, (uint32_t)type);
        const char *word = tag == ISA_TAG_CONST      ? "const"
                           : tag == ISA_TAG_VOLATILE ? "volatile"
                                                     : "restrict";

        if (to != ISA_NO_DIE && isa_tag_is_pointer(debug->dies[to].tag)) {
            snprintf(text, sizeof text, "* %s%s%s", word, *inner != '\0' ? " " : "", inner);
            declare(debug, isa_die_type(debug, (uint32_t)to), 0, text, depth + 1, out);
        } else {
            lw_printf(out, "%s ", word);
            declare(debug, to, skip, inner, depth + 1, out);
        }
    } else if (isa_tag_is_pointer(tag)) {
        int64_t to = isa_die_type(debug, (uint32_t)type);
        unsigned behind = to != ISA_NO_DIE ? debug->dies[to].tag : 0;
        bool group = behind == ISA_TAG_ARRAY || behind == ISA_TAG_SUBROUTINE;
        const char *star = tag == ISA_TAG_POINTER ? "*" : tag == ISA_TAG_REFERENCE ? "&" : "&&";

        snprintf(text, sizeof text, "%s%s%s%s", group ? "(" : "", star, inner, group ? ")" : "");
        declare(debug, to, 0, text, depth + 1, out);
    } else if (tag == ISA_TAG_ARRAY) {
        size_t used = (size_t)snprintf(text, sizeof text, "%s", inner);

        for (unsigned i = skip; i < isa_type_dimensions(debug, (uint32_t)type) &&
                                used < sizeof text;
             i++) {
            uint64_t count = isa_type_dimension(debug, (uint32_t)type, i);

            used += count != 0 ? (size_t)snprintf(text + used, sizeof text - used, "[%llu]",
                                                  (unsigned long long)count)
                               : (size_t)snprintf(text + used, sizeof text - used, "[]");
        }
        declare(debug, isa_die_type(debug, (uint32_t)type), 0, text, depth + 1, out);
    } else if (tag == ISA_TAG_SUBROUTINE) {
        snprintf(text, sizeof text, "%s()", inner);
        declare(debug, isa_die_type(debug, (uint32_t)type), 0, text, depth + 1, out);
    } else {
        lw_printf(out, "%s%s%s%s%s", keyword(tag), *keyword(tag) != '\0' ? " " : "",
                  name != NULL ? name : "{...}",
                  *inner == '*' || *inner == '(' ? " " : "", inner);
    }
}

void dbg_type_print(const struct isa_debug *debug, int64_t type, unsigned skip,
                    struct lw_sink *out)
{
    declare(debug, type, skip, "", 0, out);
}

void dbg_type_print_whole(const struct isa_debug *debug, int64_t type, unsigned skip,
                          struct lw_sink *out)
{
    int64_t plain = isa_type_plain(debug, type, NULL);
    unsigned tag = plain != ISA_NO_DIE ? debug->dies[plain].tag : 0;
    const char *name = plain != ISA_NO_DIE ? isa_die_name(debug, (uint32_t)plain) : NULL;

    if (dbg_tag_is_structure(tag)) {
        const char *before = " : ";

        lw_printf(out, "%s%s%s", keyword(tag), name != NULL ? " " : "", name != NULL ? name : "");
        for (uint32_t i = (uint32_t)plain + 1; i < debug->dies[plain].end; i = debug->dies[i].end)
            if (debug->dies[i].tag == ISA_TAG_INHERITANCE) {
                int64_t of = isa_type_plain(debug, isa_die_type(debug, i), NULL);

                lw_put(out, before);
                lw_put(out, of != ISA_NO_DIE && isa_die_name(debug, (uint32_t)of) != NULL
                                ? isa_die_name(debug, (uint32_t)of)
                                : "?");
                before = ", ";
            }
        lw_put(out, " {\n");
        for (uint32_t i = (uint32_t)plain + 1; i < debug->dies[plain].end;
             i = debug->dies[i].end) {
            const char *member = isa_die_name(debug, i);
            uint64_t bits = isa_die_number(debug, i, ISA_AT_BIT_SIZE, 0);
            struct lw_buffer line;

            if (debug->dies[i].tag != ISA_TAG_MEMBER)
                continue;
            lw_put(out, "    ");
            lw_buffer_init(&line);
            /* the name goes where the mark is */
            declare(debug, isa_die_type(debug, i), 0, "\1", 0, &line.sink);
            for (const char *at = line.text != NULL ? line.text : ""; *at != '\0'; at++) {
                if (*at != '\1')
                    lw_printf(out, "%c", *at);
                else
                    lw_printf(out, "%s%s", at != line.text && at[-1] != '*' && at[-1] != ' '
                                               ? " " : "",
                              member != NULL ? member : "");
            }
            lw_buffer_fini(&line);
            if (bits != 0)
                lw_printf(out, " : %llu", (unsigned long long)bits);
            lw_put(out, ";\n");
        }
        lw_put(out, "}");
    } else if (tag == ISA_TAG_ENUMERATION) {
        uint64_t next = 0;
        bool first = true;

        lw_printf(out, "enum%s%s {", name != NULL ? " " : "", name != NULL ? name : "");
        for (uint32_t i = (uint32_t)plain + 1; i < debug->dies[plain].end;
             i = debug->dies[i].end) {
            uint64_t value = isa_die_number(debug, i, ISA_AT_CONST_VALUE, next);

            if (debug->dies[i].tag != ISA_TAG_ENUMERATOR)
                continue;
            lw_printf(out, "%s%s", first ? "" : ", ",
                      isa_die_name(debug, i) != NULL ? isa_die_name(debug, i) : "?");
            if (value != next)
                lw_printf(out, " = %lld", (long long)(int32_t)value);
            next = value + 1;
            first = false;
        }
        lw_put(out, "}");
    } else {
        declare(debug, plain, skip, "", 0, out);
    }
}

void dbg_own_type_print(const struct dbg_own *own, struct lw_sink *out)
{
    static const char letters[] = {[DBG_U32] = 'u', [DBG_S32] = 's', [DBG_U64] = 'u',
                                   [DBG_S64] = 's', [DBG_F32] = 'f', [DBG_F64] = 'f'};

    if (own->bytes == 0)
        lw_put(out, "void");
    else if (own->character)
        lw_put(out, "char");
    else
        lw_printf(out, "%c%u", letters[own->type], 8 * own->bytes);
}

void dbg_operand_type_print(const struct dbg_operand *o, bool whole, struct lw_sink *out)
{
    struct dbg_own own = {o->value.type,
                          o->value.type == DBG_U64 || o->value.type == DBG_S64 ||
                                  o->value.type == DBG_F64
                              ? 8
                              : 4,
                          false};
    char stars[MAX_STARS + 8];

    if (o->stars == 0 && o->debug == NULL) {
        if (o->kind == DBG_TARGET_MEMORY)
            own = o->own;
        dbg_own_type_print(&own, out);
        return;
    }
    memset(stars, '*', sizeof stars);
    stars[o->stars < sizeof stars ? o->stars : sizeof stars - 1] = '\0';
    if (o->debug == NULL) {
        dbg_own_type_print(&o->own, out);
        lw_printf(out, " %s", stars);
    } else if (o->stars != 0) {
        int64_t plain = isa_type_plain(o->debug, o->type, NULL);
        char group[sizeof stars + 2];

        if (plain != ISA_NO_DIE && o->debug->dies[plain].tag == ISA_TAG_ARRAY) {
            snprintf(group, sizeof group, "(%s)", stars);
            declare(o->debug, o->type, o->skip, group, 0, out);
        } else {
            declare(o->debug, o->type, o->skip, stars, 0, out);
        }
    } else if (whole) {
        dbg_type_print_whole(o->debug, o->type, o->skip, out);
    } else {
        dbg_type_print(o->debug, o->type, o->skip, out);
    }
}

/* ---- types that an expression names ----------------------------------------------------- */

static bool word_at(const char *at, char *name, size_t room, const char **end)
{
    size_t size = 0;

    while (isspace((unsigned char)*at))
        at++;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return false;
    while (dbg_name_char(at[size]))
        size++;
    if (size >= room)
        return false;
    memcpy(name, at, size);
    name[size] = '\0';
    *end = at + size;
    return true;
}

/* A type of the source by name; @tag 0: any but a variable of that name. */
static int64_t find_type(const struct isa_debug *debug, const char *name, const char *word)
{
    for (uint32_t i = 0; debug != NULL && i < debug->die_count; i++) {
        unsigned tag = debug->dies[i].tag;
        const char *have;

        if (*word != '\0' ? strcmp(keyword(tag), word) != 0 &&
                                !(dbg_tag_is_structure(tag) && *word != 'e')
                          : tag != ISA_TAG_TYPEDEF && tag != ISA_TAG_BASE &&
                                tag != ISA_TAG_ENUMERATION && !dbg_tag_is_structure(tag))
            continue;
        have = isa_die_name(debug, i);
        if (have != NULL && strcmp(have, name) == 0 &&
            isa_die_attr(debug, i, ISA_AT_DECLARATION) == NULL)
            return i;
    }
    return ISA_NO_DIE;
}

/* Words of C's own types, in any order: unsigned long int. */
static bool own_words(const char *at, struct dbg_own *own, const char **end)
{
    unsigned longs = 0, shorts = 0, chars = 0, ints = 0, signs = 0, unsigneds = 0, count = 0;
    char name[DBG_MAX_NAME];
    const char *next;

    while (word_at(at, name, sizeof name, &next)) {
        if (strcmp(name, "unsigned") == 0)
            unsigneds++;
        else if (strcmp(name, "signed") == 0)
            signs++;
        else if (strcmp(name, "long") == 0)
            longs++;
        else if (strcmp(name, "short") == 0)
            shorts++;
        else if (strcmp(name, "char") == 0)
            chars++;
        else if (strcmp(name, "int") == 0)
            ints++;
        else
            break;
        count++;
        at = next;
    }
    if (count == 0)
        return false;
    own->bytes = chars != 0 ? 1 : shorts != 0 ? 2 : longs != 0 ? 8 : 4;
    own->type = own->bytes == 8 ? (unsigneds != 0 ? DBG_U64 : DBG_S64)
                                : (unsigneds != 0 ? DBG_U32 : DBG_S32);
    own->character = chars != 0 && signs == 0 && unsigneds == 0;
    *end = at;
    return true;
}

static bool own_name(const char *name, struct dbg_own *own)
{
    static const struct {
        const char *name, *is;
    } rows[] = {
        {"float", "f32"},    {"double", "f64"},    {"bool", "u8"},      {"uchar", "u8"},
        {"ushort", "u16"},   {"uint", "u32"},      {"ulong", "u64"},    {"size_t", "u64"},
        {"int8_t", "s8"},    {"uint8_t", "u8"},    {"int16_t", "s16"},  {"uint16_t", "u16"},
        {"int32_t", "s32"},  {"uint32_t", "u32"},  {"int64_t", "s64"},  {"uint64_t", "u64"},
        {"uintptr_t", "u64"},
    };

    *own = (struct dbg_own){.type = DBG_U32};
    if (strcmp(name, "void") == 0)
        return true;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            name = rows[i].is;
    return dbg_type_by_name(name, &own->type, &own->bytes);
}

bool dbg_type_parse(struct dbg_expr *e, struct dbg_ctype *out)
{
    static const char *const ignored[] = {"const",  "volatile", "restrict", "global", "__global",
                                          "local",  "__local",  "constant", "private",
                                          "__constant", "__private", "__shared__"};
    const struct emu_program *program = dbg_program(e->dbg);
    const struct isa_debug *debug =
        program != NULL ? emu_program_object(program)->debug : NULL;
    const char *at = e->at, *end;
    char name[DBG_MAX_NAME], word[DBG_MAX_NAME] = "";
    bool more = true;

    *out = (struct dbg_ctype){.type = ISA_NO_DIE};
    while (more) {
        more = false;
        if (!word_at(at, name, sizeof name, &end))
            return false;
        for (size_t i = 0; i < LW_COUNT_OF(ignored); i++)
            more = more || strcmp(ignored[i], name) == 0;
        if (more)
            at = end;
    }
    if (strcmp(name, "struct") == 0 || strcmp(name, "union") == 0 ||
        strcmp(name, "class") == 0 || strcmp(name, "enum") == 0) {
        memcpy(word, name, sizeof word);
        at = end;
        if (!word_at(at, name, sizeof name, &end))
            return false;
    }
    out->type = find_type(debug, name, word);
    if (*word == '\0' && own_words(at, &out->own, &end)) {
        /* the source's own char is text, too; all others of these names are alike */
        out->type = ISA_NO_DIE;
    } else if (out->type != ISA_NO_DIE) {
        struct dbg_operand o = {0};
        struct dbg_expr probe = *e;

        out->debug = debug;
        probe.dry = true;
        probe.err = NULL;
        /* (x) where x is a variable is no cast */
        if (*word == '\0' && dbg_variable_resolve(&probe, name, &o))
            return false;
    } else if (*word != '\0' || !own_name(name, &out->own)) {
        return false;
    }
    at = end;
    for (;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (*at == '*') {
            if (++out->stars > MAX_STARS)
                return false;
            at++;
        } else if (strncmp(at, "const", 5) == 0 && !dbg_name_char(at[5])) {
            at += 5;
        } else {
            break;
        }
    }
    e->at = at;
    return true;
}
