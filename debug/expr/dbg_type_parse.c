/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the names of types in expressions, and prints the types of operands. */
#include "debug/expr/dbg_expr_priv.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_STARS = 8 };

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
            dbg_type_declare(o->debug, o->type, o->skip, group, 0, out);
        } else {
            dbg_type_declare(o->debug, o->type, o->skip, stars, 0, out);
        }
    } else if (whole) {
        dbg_type_print_whole(o->debug, o->type, o->skip, out);
    } else {
        dbg_type_print(o->debug, o->type, o->skip, out);
    }
}

static bool word_at(const char *at, char *name, size_t capacity, const char **end)
{
    size_t size = 0;

    while (isspace((unsigned char)*at))
        at++;
    if (!isalpha((unsigned char)*at) && *at != '_')
        return false;
    while (dbg_name_char(at[size]))
        size++;
    if (size >= capacity)
        return false;
    memcpy(name, at, size);
    name[size] = '\0';
    *end = at + size;
    return true;
}

/* Finds a type among entries [@first, @end) by its @name and its keyword @word ("struct"). If @word is "", the type may be a
 * typedef, base type, enumeration or structure. */
static int64_t find_type_in(const struct isa_debug *debug, uint32_t first, uint32_t end, const char *name, const char *word)
{
    for (uint32_t i = first; i < end; i++) {
        unsigned tag = debug->dies[i].tag;
        const char *have;

        if (*word != '\0' ? strcmp(dbg_type_keyword(tag), word) != 0 &&
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

/* Finds a type of the source, preferably in the compile unit of the code where the expression is evaluated. */
static int64_t find_type(struct dbg_expr *e, const struct isa_debug *debug, const char *name, const char *word)
{
    uint32_t unit;
    int64_t type;

    if (debug == NULL)
        return ISA_NO_DIE;
    unit = dbg_expr_unit(e, debug);
    type = find_type_in(debug, debug->units[unit].first_die, isa_compile_unit_end(debug, unit), name, word);
    return type != ISA_NO_DIE || debug->unit_count == 1 ? type : find_type_in(debug, 0, debug->die_count, name, word);
}

/* Parses a C type that has several words in any order, such as `unsigned long int`. Returns false if @at does not begin
 * with such a word. */
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
    out->type = find_type(e, debug, name, word);
    if (*word == '\0' && own_words(at, &out->own, &end)) {
        /* The type is named by keywords of C, so the debugger's type is used and not an entry of the debug information. */
        out->type = ISA_NO_DIE;
    } else if (out->type != ISA_NO_DIE) {
        struct dbg_operand o = {0};
        struct dbg_expr probe = *e;

        out->debug = debug;
        probe.dry = true;
        probe.err = NULL;
        /* If a variable has the same name, the name in (x) is the variable, and (x) is not a cast. */
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
