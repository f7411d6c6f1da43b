/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the declarations of OpenCL C kernels, as the metadata in clang's LLVM IR describes them. */
#include "ptx/compiler/ptx_compile_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/** Returns the contents of the metadata node to which the function definition in line @line refers by @name: the text after
 *  "!NUMBER = !{". Returns NULL if there is no such node. */
static const char *node_of(const char *ir, const char *line, const char *name)
{
    const size_t size = strcspn(line, "\n");
    char key[40], begin[40];
    const char *at = line;

    snprintf(key, sizeof key, "!%s !", name);
    do {
        at = strstr(at, key);
        if (at == NULL || at >= line + size)
            return NULL;
        at += strlen(key);
    } while (!isdigit((unsigned char)*at));
    snprintf(begin, sizeof begin, "\n!%lu = !{", strtoul(at, NULL, 10));
    at = strstr(ir, begin);
    return at != NULL ? at + strlen(begin) : NULL;
}

/** Writes the metadata string !"..." at *@at, in which \XX is a byte in hexadecimal, and moves *@at past it. Returns false if
 *  there is no string at *@at. */
static bool put_text(const char **at, struct lw_sink *out)
{
    const char *c = *at;

    c += strspn(c, " ,");
    if (c[0] != '!' || c[1] != '"')
        return false;
    for (c += 2; *c != '"' && *c != '\0' && *c != '\n'; c++) {
        char hex[3] = {c[0] == '\\' ? c[1] : '\0', '\0', '\0'};
        char one = *c;

        if (hex[0] != '\0' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2])) {
            hex[1] = c[2];
            one = (char)strtoul(hex, NULL, 16);
            c += 2;
        }
        if ((unsigned char)one >= ' ')
            out->write(out, &one, 1);
    }
    *at = *c == '"' ? c + 1 : c;
    return true;
}

/** Writes @gap and NAME(x,y,z) for an attribute with three sizes. Writes nothing if @node is NULL. */
static void put_sizes(const char *node, const char *name, const char *gap, struct lw_sink *out)
{
    unsigned size[3];

    if (node != NULL && sscanf(node, "i32 %u, i32 %u, i32 %u", &size[0], &size[1], &size[2]) == 3)
        lw_printf(out, "%s%s(%u,%u,%u)", gap, name, size[0], size[1], size[2]);
}

/** Writes @gap and vec_type_hint(TYPE) for a node such as "<4 x i32> undef, i32 1", in which the last number is 1 if the type is
 *  signed. */
static void put_hint(const char *node, const char *gap, struct lw_sink *out)
{
    static const struct {
        const char *ir, *type;
    } rows[] = {{"i8", "char"}, {"i16", "short"}, {"i32", "int"}, {"i64", "long"},
                {"half", "half"}, {"float", "float"}, {"double", "double"}};
    unsigned width = 1, has_sign = 0;
    char type[12] = "";
    const char *comma;

    if (node == NULL || (sscanf(node, "<%u x %11[a-z0-9]>", &width, type) != 2 && sscanf(node, "%11[a-z0-9]", type) != 1))
        return;
    comma = strchr(node, ',');
    if (comma != NULL)
        sscanf(comma, ", i32 %u", &has_sign);
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++)
        if (strcmp(type, rows[i].ir) == 0) {
            lw_printf(out, "%svec_type_hint(%s%s", gap, type[0] == 'i' && has_sign == 0 ? "u" : "", rows[i].type);
            if (width > 1)
                lw_printf(out, "%u", width);
            lw_put(out, ")");
        }
}

static void describe_one(const char *ir, const char *line, struct lw_sink *out)
{
    static const char *const columns[] = {"kernel_arg_name", "kernel_arg_type", "kernel_arg_type_qual", "kernel_arg_access_qual"};
    const char *nodes[LW_COUNT_OF(columns)], *required = node_of(ir, line, "reqd_work_group_size"),
               *wished = node_of(ir, line, "work_group_size_hint"), *hint = node_of(ir, line, "vec_type_hint");
    const char *name = strchr(line, '@') + 1;
    bool more = true;

    lw_printf(out, "%.*s\t", (int)strcspn(name, "("), name);
    put_sizes(required, "reqd_work_group_size", "", out);
    put_sizes(wished, "work_group_size_hint", required != NULL ? " " : "", out);
    put_hint(hint, required != NULL || wished != NULL ? " " : "", out);
    lw_put(out, "\n");
    for (size_t i = 0; i < LW_COUNT_OF(columns); i++) {
        nodes[i] = node_of(ir, line, columns[i]);
        more = more && nodes[i] != NULL;
    }
    while (more && nodes[0][strspn(nodes[0], " ,")] == '!') {
        for (size_t i = 0; i < LW_COUNT_OF(columns) && more; i++) {
            lw_put(out, "\t");
            more = put_text(&nodes[i], out);
        }
        lw_put(out, "\n");
    }
}

void ptx_describe_ir(const char *ir, struct lw_sink *out)
{
    for (const char *line = ir; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "define ", 7) == 0) {
            const size_t size = strcspn(line, "\n");
            const char *name = memchr(line, '@', size), *kernel = strstr(line, "_kernel ");
            const bool is_spirv = memmem(line, size, " !kernel_arg_addr_space !", 25) != NULL; /* IR of ptx_spirv_text.c */

            if (name != NULL && ((kernel != NULL && kernel < name) || is_spirv))
                describe_one(ir, line, out);
        }
    }
}
