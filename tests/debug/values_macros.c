/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a random kernel so that it uses the preprocessor: macros contain assignments and conditions, and a header contains the
 * functions that the kernel calls. */
#include "tests/debug/values_kernels.h"

#include <string.h>

static const char macros[] = "#define PUT(x, y) (x) = (y)\n"
                             "#define ADD(x, y) x += \\\n"
                             "    y\n"
                             "#define WHEN(c) if (c) {\n"
                             "#ifdef NOT_DEFINED\n"
                             "#define PUT(x, y) (x) = 1 + (y)\n"
                             "#endif\n";

/* Finds the two sides of a line such as "    x += y;", which assigns to a single word. Returns the operator, or NULL. */
static const char *assignment(const char *line, size_t size, const char **name, size_t *name_size, const char **value)
{
    const char *end = line + size;

    while (line < end && *line == ' ')
        line++;
    *name = line;
    while (line < end && *line != ' ')
        line++;
    *name_size = (size_t)(line - *name);
    if (*name_size == 0 || end - line < 6 || end[-1] != ';' || memchr(line, '{', (size_t)(end - line)) != NULL || strncmp(*name, "out[", 4) == 0)
        return NULL;
    *value = line + (strncmp(line, " = ", 3) == 0 ? 3 : 4);
    return strncmp(line, " = ", 3) == 0 ? "PUT" : strncmp(line, " += ", 4) == 0 ? "ADD" : NULL;
}

static void put_line(struct prop_random *r, const char *line, size_t size, struct lw_sink *out)
{
    const int indent = (int)strspn(line, " ");
    const char *name, *value, *end = line + size;
    size_t name_size;
    const char *macro = assignment(line, size, &name, &name_size, &value);

    if (macro != NULL && prop_below(r, 2))
        lw_printf(out, "%*s%s(%.*s,%s%.*s);\n", indent, "", macro, (int)name_size, name, prop_below(r, 3) ? " " : "\n        ",
                  (int)(end - 1 - value), value);
    else if (strncmp(line + indent, "if (", 4) == 0 && size > 2 && strncmp(end - 3, ") {", 3) == 0 && prop_below(r, 2))
        lw_printf(out, "%*sWHEN(%.*s\n", indent, "", (int)(end - 2 - (line + indent + 4)), line + indent + 4);
    else
        lw_printf(out, "%.*s\n", (int)size, line);
}

void values_macros(struct prop_random *r, const char *text, const char *header_name, struct lw_sink *source, struct lw_sink *header)
{
    struct lw_sink *out = header;

    lw_put(header, macros);
    lw_printf(source, "#include \"%s\"\n", header_name);
    for (const char *line = text; *line != '\0';) {
        const size_t size = strcspn(line, "\n");

        if (strncmp(line, "__kernel", 8) == 0 || strncmp(line, "extern", 6) == 0)
            out = source;
        put_line(r, line, size, out);
        line += size + (line[size] == '\n');
    }
}
