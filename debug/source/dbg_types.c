/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the source: prints their declarations, and finds the debugger's own type for a scalar. */
#include "debug/debug_priv.h"

#include <ctype.h>
#include <stdio.h>

enum { MAX_TYPE_DEPTH = 32 };

bool dbg_tag_is_structure(unsigned tag)
{
    return tag == ISA_TAG_STRUCTURE || tag == ISA_TAG_CLASS || tag == ISA_TAG_UNION;
}

bool dbg_type_scalar(const struct isa_debug *debug, int64_t type, enum dbg_type *out,
                     unsigned *bytes)
{
    enum isa_scalar scalar;

    if (!isa_type_scalar(debug, type, &scalar, bytes))
        return false;
    *out = (enum dbg_type)scalar;
    return true;
}

/* ---- names of types ------------------------------------------------------------------ */

const char *dbg_type_keyword(unsigned tag)
{
    return tag == ISA_TAG_STRUCTURE    ? "struct"
           : tag == ISA_TAG_CLASS      ? "class"
           : tag == ISA_TAG_UNION      ? "union"
           : tag == ISA_TAG_ENUMERATION ? "enum"
                                       : "";
}

void dbg_type_declare(const struct isa_debug *debug, int64_t type, unsigned skip,
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
            dbg_type_declare(debug, isa_die_type(debug, (uint32_t)to), 0, text, depth + 1, out);
        } else {
            lw_printf(out, "%s ", word);
            dbg_type_declare(debug, to, skip, inner, depth + 1, out);
        }
    } else if (isa_tag_is_pointer(tag)) {
        int64_t to = isa_die_type(debug, (uint32_t)type);
        unsigned element = to != ISA_NO_DIE ? debug->dies[to].tag : 0;
        bool group = element == ISA_TAG_ARRAY || element == ISA_TAG_SUBROUTINE;
        const char *star = tag == ISA_TAG_POINTER ? "*" : tag == ISA_TAG_REFERENCE ? "&" : "&&";

        snprintf(text, sizeof text, "%s%s%s%s", group ? "(" : "", star, inner, group ? ")" : "");
        dbg_type_declare(debug, to, 0, text, depth + 1, out);
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
        dbg_type_declare(debug, isa_die_type(debug, (uint32_t)type), 0, text, depth + 1, out);
    } else if (tag == ISA_TAG_SUBROUTINE) {
        snprintf(text, sizeof text, "%s()", inner);
        dbg_type_declare(debug, isa_die_type(debug, (uint32_t)type), 0, text, depth + 1, out);
    } else {
        lw_printf(out, "%s%s%s%s%s", dbg_type_keyword(tag), *dbg_type_keyword(tag) != '\0' ? " " : "",
                  name != NULL ? name : "{...}",
                  *inner == '*' || *inner == '(' ? " " : "", inner);
    }
}

void dbg_type_print(const struct isa_debug *debug, int64_t type, unsigned skip,
                    struct lw_sink *out)
{
    dbg_type_declare(debug, type, skip, "", 0, out);
}

void dbg_type_print_whole(const struct isa_debug *debug, int64_t type, unsigned skip,
                          struct lw_sink *out)
{
    int64_t plain = isa_type_plain(debug, type, NULL);
    unsigned tag = plain != ISA_NO_DIE ? debug->dies[plain].tag : 0;
    const char *name = plain != ISA_NO_DIE ? isa_die_name(debug, (uint32_t)plain) : NULL;

    if (dbg_tag_is_structure(tag)) {
        const char *before = " : ";

        lw_printf(out, "%s%s%s", dbg_type_keyword(tag), name != NULL ? " " : "", name != NULL ? name : "");
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
            /* The declaration is formatted with the character \1 for the member's name, and the name is inserted then. */
            dbg_type_declare(debug, isa_die_type(debug, i), 0, "\1", 0, &line.sink);
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
        dbg_type_declare(debug, plain, skip, "", 0, out);
    }
}

