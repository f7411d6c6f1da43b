/* SPDX-License-Identifier: Apache-2.0 */
/* Finds variables in local memory in clang's debug information. For a structure or array in memory, clang 14 to 16 write no debug
 * values, but the variable's location in the local memory of its function. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>

#include "ptx/compiler/ptx_values_priv.h"

/* Returns the number in a line of the debug information, such as ".b8 97 // DW_AT_name", or UINT32_MAX if there is none. */
static uint32_t data_of(struct text line)
{
    uint32_t value;

    skip_blanks(&line);
    if (!begins(line, ".b"))
        return UINT32_MAX;
    for (line.at += 2; line.at < line.end && is_word(*line.at); line.at++)
        ;
    skip_blanks(&line);
    return take_number(&line, &value) ? value : UINT32_MAX;
}

/* Returns the value of an attribute. @line has the first byte of the value. Further bytes are on lines without a comment, at
 * most two of which are read. */
static uint32_t attribute_of(struct text line, struct text rest)
{
    uint32_t value = data_of(line), byte = 0;

    for (unsigned shift = 8; shift < 24; shift += 8) {
        struct text more = take_line(&rest);

        if (find(more, "//") != NULL || (byte = data_of(more)) > 255)
            break;
        value |= byte << shift;
    }
    return value;
}

static struct ptx_memory_variable *add_variable(struct ptx_memory_variables *variables)
{
    if (variables->count == variables->capacity) {
        size_t capacity = variables->capacity != 0 ? 2 * variables->capacity : 64;
        void *grown = realloc(variables->at, capacity * sizeof *variables->at);

        if (grown == NULL)
            return NULL;
        variables->at = grown;
        variables->capacity = capacity;
    }
    variables->at[variables->count] = (struct ptx_memory_variable){.entry = 0};
    return &variables->at[variables->count++];
}

static bool is_variable(struct text comment)
{
    return find(comment, "DW_TAG_variable") != NULL || find(comment, "DW_TAG_formal_parameter") != NULL;
}

bool ptx_memory_variables_read(struct ptx_memory_variables *variables, struct text ptx)
{
    struct ptx_memory_variable *open = NULL;
    const char *begin = find(ptx, "// Abbrev [");

    ptx.at = begin != NULL && find(ptx, "__local_depot") != NULL ? begin : ptx.end;
    while (ptx.at > (begin != NULL ? begin : ptx.at) && ptx.at[-1] != '\n')
        ptx.at--;
    while (ptx.at < ptx.end) {
        struct text line = take_line(&ptx), comment = {find(line, "// "), line.end};
        const bool names = comment.at != NULL && find(comment, "DW_AT_name") != NULL;

        if (comment.at != NULL && begins(comment, "// Abbrev [")) {
            const char *offset = find(comment, "] 0x");

            open = offset != NULL && is_variable(comment)
                       ? add_variable(variables)
                       : NULL;
            if (open == NULL && offset != NULL && is_variable(comment))
                return false;
            if (open != NULL) {
                lw_buffer_init(&open->name);
                open->entry = (uint32_t)strtoul(offset + 4, NULL, 16);
            }
        } else if (open != NULL && names) {
            lw_printf(&open->name.sink, "%c", (int)(data_of(line) & 0xff));
            for (uint32_t c; ptx.at < ptx.end && (c = data_of(take_line(&ptx))) != 0 && c < 256;)
                lw_printf(&open->name.sink, "%c", (int)c);
        } else if (open != NULL && comment.at != NULL && find(comment, "DW_AT_decl_line") != NULL) {
            open->declared = attribute_of(line, ptx);
        } else if (open != NULL && comment.at != NULL && find(comment, "DW_AT_abstract_origin") != NULL) {
            open->origin = data_of(line);
        } else if (open != NULL && find(line, "__local_depot") != NULL) {
            open->depot.at = open->depot.end = find(line, "__local_depot");
            while (open->depot.end < line.end && is_word(*open->depot.end))
                open->depot.end++;
        }
    }
    return true;
}

void ptx_memory_variables_free(struct ptx_memory_variables *variables)
{
    for (size_t i = 0; i < variables->count; i++)
        lw_buffer_fini(&variables->at[i].name);
    free(variables->at);
}

void ptx_memory_names_put(struct text values, struct lw_buffer *out)
{
    const char *at = values.at, *from;

    while (at != NULL && (at = find((struct text){at, values.end}, "$vrdepot")) != NULL) {
        struct text line = {at, memchr(at, '\n', (size_t)(values.end - at))}, name = {NULL, NULL};

        at = line.end;
        if (line.end == NULL || (from = find(line, "!\"")) == NULL ||
            (name.end = memchr(from + 2, '"', (size_t)(line.end - from - 2))) == NULL)
            continue;
        name.at = from + 1;
        name.end++;
        if (out->size == 0 || memmem(out->text, out->size, name.at, (size_t)(name.end - name.at)) == NULL)
            lw_printf(&out->sink, "%.*s", (int)(name.end - name.at), name.at);
    }
}

bool ptx_memory_names_have(const struct lw_buffer *names, struct text name)
{
    const size_t size = (size_t)(name.end - name.at);
    const char *at = names->text, *end = at + names->size;

    for (; names->size != 0 && (at = memmem(at, (size_t)(end - at), name.at, size)) != NULL; at++)
        if (at != names->text && at[-1] == '"' && at + size < end && at[size] == '"')
            return true;
    return false;
}
