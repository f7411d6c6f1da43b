/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates for completion, from the operands in the command table and the names of the debugged program. */
#include "shell/shell_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static void add(struct sh_candidates *out, const char *name, const char *word, size_t size)
{
    char *copy;

    if (strncmp(name, word, size) != 0)
        return;
    for (size_t i = 0; i < out->count; i++)
        if (strcmp(out->items[i], name) == 0)
            return;
    copy = strdup(name);
    if (copy == NULL)
        return;
    if (!lw_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items)) {
        free(copy);
        return;
    }
    out->items[out->count++] = copy;
}

void sh_candidates_fini(struct sh_candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        free(candidates->items[i]);
    free(candidates->items);
    memset(candidates, 0, sizeof *candidates);
}

static void add_commands(const struct lw_command_set *commands, const char *word, size_t size,
                         struct sh_candidates *out)
{
    for (size_t t = 0; t < commands->count; t++)
        for (size_t i = 0; i < commands->tables[t].count; i++)
            add(out, commands->tables[t].rows[i].name, word, size);
    add(out, "help", word, size);
    add(out, "apropos", word, size);
}

struct into {
    struct sh_candidates *out;
    const char *word;
    size_t size;
};

static void add_name(void *context, const char *name)
{
    const struct into *into = context;

    add(into->out, name, into->word, into->size);
}

static void add_each(struct dbg *dbg, enum dbg_names which, const char *word, size_t size,
                     struct sh_candidates *out)
{
    dbg_thread_id id = dbg_focus_get(dbg, DBG_FOCUS_VIEW);
    struct into into = {out, word, size};

    dbg_names_each(dbg, id, dbg_lane_get(dbg, id), which, add_name, &into);
}

/* Adds the words of @text, which are separated by characters of @breaks. */
static void add_list(const char *text, const char *breaks, const char *word, size_t size,
                     struct sh_candidates *out)
{
    while (*text != '\0') {
        size_t length = strcspn(text, breaks);
        char item[48];

        if (length > 0 && length < sizeof item) {
            memcpy(item, text, length);
            item[length] = '\0';
            add(out, item, word, size);
        }
        text += length;
        text += strspn(text, breaks);
    }
}

static const struct isa_object *object_of(const struct dbg *dbg)
{
    const struct emu_program *program =
        emu_machine_program_at(dbg_machine(dbg), ISA_CODE_BASE);

    return program != NULL ? emu_program_object(program) : NULL;
}

static void add_locations(struct dbg *dbg, const char *word, size_t size,
                       struct sh_candidates *out)
{
    const struct isa_object *object = object_of(dbg);

    if (object == NULL)
        return;
    add_each(dbg, DBG_NAMES_FUNCTIONS, word, size, out);
    for (unsigned i = 1; i < object->file_count; i++) {
        const char *slash = strrchr(object->files[i], '/');
        char name[512];

        if (snprintf(name, sizeof name, "%s:", slash != NULL ? slash + 1 : object->files[i]) <
            (int)sizeof name)
            add(out, name, word, size);
    }
}

static void add_values(struct dbg *dbg, const char *word, size_t size,
                       struct sh_candidates *out)
{
    const struct emu_grid *grid = emu_grid_current(dbg_machine(dbg));
    const struct isa_object *object = object_of(dbg);
    struct emu_allocation allocation;
    struct dbg_reg reg;

    add_each(dbg, DBG_NAMES_VARIABLES, word, size, out);
    add_each(dbg, DBG_NAMES_BUILT_IN, word, size, out);
    for (unsigned i = 0; dbg_reg_at(dbg, i, &reg); i++)
        if (reg.kind == DBG_REG_SPECIAL)
            add(out, isa_special_info((enum isa_special)reg.number)->name, word, size);
        else
            add(out, reg.name, word, size);
    for (unsigned i = 0; grid != NULL && i < grid->launch.kernel->param_count; i++)
        if (grid->launch.kernel->params[i].name != NULL)
            add(out, grid->launch.kernel->params[i].name, word, size);
    for (unsigned i = 0; object != NULL && i < object->variable_count; i++)
        add(out, object->variables[i].name, word, size);
    for (unsigned i = 0; emu_allocation_get(dbg_machine(dbg), i, &allocation); i++)
        if (allocation.name != NULL && *allocation.name != '\0')
            add(out, allocation.name, word, size);
}

static void add_points(const struct dbg *dbg, const char *word, size_t size,
                       struct sh_candidates *out)
{
    struct dbg_stoppoint point;
    char number[16];

    for (unsigned i = 0; dbg_stoppoint_at(dbg, i, &point); i++) {
        snprintf(number, sizeof number, "%u", point.id);
        add(out, number, word, size);
    }
}

/** Lists of `info cuda` that accept filters; the last three are also topics of `info` without `cuda`. */
static const char *const lists[] = {"devices", "sms", "warps", "lanes", "kernels", "blocks", "threads"};

/* Returns true if the line has @word, delimited by white space, at a position before @end. */
static bool has_word(const char *line, size_t end, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = strstr(line, word); at != NULL && at < line + end; at = strstr(at + 1, word))
        if (at != line && isspace((unsigned char)at[-1]) && isspace((unsigned char)at[size]))
            return true;
    return false;
}

/* Adds coordinates such as "block" and "thread" if the command or the list accepts them, and the topics of `info cuda`. */
static void add_coordinates(struct dbg *dbg, const struct lw_command *row, const char *line,
                            size_t start, const char *word, size_t size, struct sh_candidates *out)
{
    bool info = strcmp(row->name, "info") == 0, cuda = info && has_word(line, start, "cuda");
    bool listed = false;

    for (size_t i = 0; i < LW_COUNT_OF(lists); i++)
        listed |= info && (cuda || i >= LW_COUNT_OF(lists) - 3) && has_word(line, start, lists[i]);
    if (listed || strstr(row->operands, "coordinates") != NULL) {
        if (info)
            sh_candidates_fini(out); /* drops the candidates so far, because no topic can follow the name of a list */
        if (strstr(row->operands, "where <") == NULL || !has_word(line, start, "where"))
            add_each(dbg, DBG_NAMES_COORDINATES, word, size, out);
    } else if (cuda) {
        sh_candidates_fini(out);
        add_each(dbg, DBG_NAMES_CUDA, word, size, out);
    }
}

void sh_complete(const struct lw_command_set *commands, struct dbg *dbg, const char *line,
                 size_t start, size_t end, struct sh_candidates *out)
{
    const struct lw_command *row;
    const char *word = line + start, *operands;
    size_t size = end - start, first = 0, first_end;
    char name[64];

    memset(out, 0, sizeof *out);
    while (isspace((unsigned char)line[first]))
        first++;
    if (start <= first) {
        add_commands(commands, word, size, out);
        return;
    }
    first_end = first;
    while (first_end < start && !isspace((unsigned char)line[first_end]) &&
           line[first_end] != '/')
        first_end++;
    if (first_end - first >= sizeof name)
        return;
    memcpy(name, line + first, first_end - first);
    name[first_end - first] = '\0';
    if (strcmp(name, "help") == 0 || strcmp(name, "h") == 0) {
        add_commands(commands, word, size, out);
        return;
    }
    row = lw_command_find(commands, name, NULL, NULL);
    if (row == NULL || row->operands == NULL)
        return;
    operands = row->operands;
    if (strstr(operands, "topic") != NULL || strstr(operands, "event>") != NULL) {
        const char *list = strrchr(row->summary, ':'); /* the summary ends with a colon and the list of words */

        add_list(list != NULL ? list + 1 : row->summary, ", ", word, size, out);
    }
    if (strstr(operands, "on|off") != NULL)
        add_list("on off", " ", word, size, out);
    out->files = strstr(operands, "file") != NULL;
    if (dbg == NULL)
        return;
    /* An operand "number" is completed only for commands whose summary names stoppoints; for others it is the number of a
     * warp, lane or frame. */
    if (strstr(operands, "number") != NULL && strstr(row->summary, "point") != NULL)
        add_points(dbg, word, size, out);
    if (strstr(operands, "mark|") != NULL)
        add_each(dbg, DBG_NAMES_MARKS, word, size, out);
    if (strstr(operands, "location") != NULL)
        add_locations(dbg, word, size, out);
    add_coordinates(dbg, row, line, start, word, size, out);
    if (strstr(operands, "where <") != NULL && !has_word(line, start, "where")) {
        add(out, "where", word, size);
        return;
    }
    if (strstr(operands, "expression") != NULL || strstr(operands, "register") != NULL ||
        strstr(operands, "address") != NULL ||
        (strstr(operands, "condition") != NULL && strstr(line, " if ") != NULL))
        add_values(dbg, word, size, out);
}
