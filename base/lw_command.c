/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: finds a command by name, abbreviation or prefix, splits a command line into words, and prints help. */
#include "base/lw.h"

#include <stdio.h>
#include <ctype.h>

enum { MAX_WORDS = 64 };

/* Two commands that have no row in a table, because they need all tables. */
static const char help_name[] = "help", apropos_name[] = "apropos";

static bool accepts(const struct lw_command *row, const char *name, size_t size)
{
    return strncmp(row->name, name, size) == 0 &&
           (row->abbreviation == NULL || size >= strlen(row->abbreviation));
}

const struct lw_command *lw_command_find(const struct lw_command_set *set, const char *name,
                                         void **context, struct lw_error *err)
{
    const struct lw_command *found = NULL, *shortcut = NULL;
    void *found_context = NULL, *shortcut_context = NULL;
    size_t size = strlen(name), matches = 0;
    char list[160] = "";
    size_t listed = 0;

    for (size_t t = 0; t < set->count; t++) {
        const struct lw_command_table *table = &set->tables[t];

        for (size_t i = 0; i < table->count; i++) {
            const struct lw_command *row = &table->rows[i];

            /* An abbreviation need not be a prefix of the command's name. */
            if (strcmp(row->name, name) == 0 ||
                (row->abbreviation != NULL && strcmp(row->abbreviation, name) == 0 &&
                 strncmp(row->name, name, size) != 0)) {
                if (context != NULL)
                    *context = table->context;
                return row;
            }
            if (size == 0 || strncmp(row->name, name, size) != 0)
                continue;
            /* If @name is at least as long as the abbreviation of a command, that command is chosen even if the names of
             * other commands begin with @name. */
            if (row->abbreviation != NULL && accepts(row, name, size) && shortcut == NULL) {
                shortcut = row;
                shortcut_context = table->context;
            }
            if (listed + strlen(row->name) + 3 < sizeof list) {
                memcpy(list + listed, matches != 0 ? ", " : "", matches != 0 ? 2 : 0);
                listed += matches != 0 ? 2 : 0;
                memcpy(list + listed, row->name, strlen(row->name) + 1);
                listed += strlen(row->name);
            }
            if (accepts(row, name, size)) {
                found = row;
                found_context = table->context;
            }
            matches++;
        }
    }
    if (shortcut != NULL) {
        if (context != NULL)
            *context = shortcut_context;
        return shortcut;
    }
    if (matches == 1 && found != NULL) {
        if (context != NULL)
            *context = found_context;
        return found;
    }
    if (matches >= 1) {
        lw_fail(err, LW_EUSAGE, "the command \"%s\" is ambiguous: it could be %s", name, list);
        return NULL;
    }
    const char *near = NULL;
    unsigned near_distance = 0;
    for (size_t t = 0; t < set->count; t++) {
        const struct lw_command_table *table = &set->tables[t];
        const char *candidate;

        if (table->count == 0)
            continue;
        candidate = lw_suggest(name, &table->rows[0].name, table->count, sizeof *table->rows);
        if (candidate != NULL &&
            (near == NULL || lw_edit_distance(name, candidate) < near_distance)) {
            near = candidate;
            near_distance = lw_edit_distance(name, candidate);
        }
    }
    if (near != NULL)
        lw_fail(err, LW_EUSAGE, "there is no command \"%s\"; did you mean \"%s\"?", name, near);
    else
        lw_fail(err, LW_EUSAGE, "there is no command \"%s\"; \"help\" lists the commands", name);
    return NULL;
}

/* Splits @line into words: writes a null byte after each word and removes quotes. @words points into @line. */
static enum lw_status split(char *line, char **words, int *count, struct lw_error *err)
{
    char *in = line, *out = line;

    *count = 0;
    for (;;) {
        while (isspace((unsigned char)*in))
            in++;
        if (*in == '\0' || (*in == '#' && *count == 0))
            return LW_OK;
        if (*count == MAX_WORDS)
            return LW_FAIL(err, LW_EUSAGE, "the command has more than %d words", MAX_WORDS);
        words[(*count)++] = out;
        while (*in != '\0' && !isspace((unsigned char)*in)) {
            if (*in == '\'' || *in == '"') {
                char quote = *in++;

                while (*in != '\0' && *in != quote)
                    *out++ = *in++;
                if (*in == '\0')
                    return LW_FAIL(err, LW_EUSAGE, "the closing %c quote is missing", quote);
                in++;
            } else {
                *out++ = *in++;
            }
        }
        if (*in != '\0')
            in++;
        *out++ = '\0';
    }
}

/* Prints the help on `help` or `apropos`. Returns false for any other name. */
static bool help_on_help(const char *name, struct lw_sink *out)
{
    bool help = strcmp(name, help_name) == 0;

    if (help)
        lw_put(out, "help [command]\n  Lists the commands, or shows one command with an example.\n"
                    "  Short form: h\n  Example: help break\n");
    else if (strcmp(name, apropos_name) == 0)
        lw_put(out, "apropos <word>\n  Lists the commands whose help contains a word.\n"
                    "  Example: apropos lane\n");
    else
        return false;
    return true;
}

/* Executes `apropos`: lists the commands whose name or summary contains a word, in upper or lower case. */
static enum lw_status apropos(const struct lw_command_set *set, int argc, char **argv,
                              struct lw_sink *out, struct lw_error *err)
{
    bool any = false;

    if (argc != 2)
        return LW_FAIL(err, LW_EUSAGE, "apropos takes one word, as in `apropos lane`");
    for (size_t t = 0; t < set->count; t++)
        for (size_t i = 0; i < set->tables[t].count; i++) {
            const struct lw_command *row = &set->tables[t].rows[i];

            if (strcasestr(row->name, argv[1]) == NULL &&
                strcasestr(row->summary, argv[1]) == NULL)
                continue;
            lw_printf(out, "  %-14s %s\n", row->name, row->summary);
            any = true;
        }
    if (!any)
        lw_printf(out, "the help of no command contains \"%s\"\n", argv[1]);
    return LW_OK;
}

/** Prints the short form of a command: the name of the command whose summary is "Short for NAME", or else its abbreviation. */
static void put_short_form(const struct lw_command_set *set, const struct lw_command *row, struct lw_sink *out)
{
    static const char words[] = "Short for ";
    const char *form = strcmp(row->abbreviation != NULL ? row->abbreviation : row->name, row->name) != 0
                           ? row->abbreviation : NULL;

    for (size_t t = 0; t < set->count; t++)
        for (size_t i = 0; i < set->tables[t].count; i++) {
            const struct lw_command *other = &set->tables[t].rows[i];

            if (strncmp(other->summary, words, sizeof words - 1) == 0 &&
                strcmp(other->summary + sizeof words - 1, row->name) == 0)
                form = other->name;
        }
    if (form != NULL)
        lw_printf(out, "  Short form: %s\n", form);
}

static void print_help(const struct lw_command_set *set, const char *name, struct lw_sink *out)
{
    size_t width = strlen("help [command]");

    for (size_t t = 0; t < set->count; t++)
        for (size_t i = 0; i < set->tables[t].count; i++) {
            const struct lw_command *row = &set->tables[t].rows[i];
            size_t size = strlen(row->name) + 1 + strlen(row->operands ? row->operands : "");

            if (size > width && size <= 36)
                width = size;
        }
    for (size_t t = 0; t < set->count; t++) {
        const char *theme = t < LW_COUNT_OF(set->themes) ? set->themes[t] : NULL;

        if (name == NULL && theme != NULL && set->tables[t].count != 0)
            lw_printf(out, "%s%s\n", t != 0 ? "\n" : "", theme);
        for (size_t i = 0; i < set->tables[t].count; i++) {
            const struct lw_command *row = &set->tables[t].rows[i];
            const char *operands = row->operands != NULL ? row->operands : "";

            if (name != NULL && strcmp(row->name, name) != 0)
                continue;
            if (name != NULL) {
                lw_printf(out, "%s%s%s\n  %s.\n", row->name, *operands ? " " : "", operands,
                          row->summary);
                put_short_form(set, row, out);
                if (row->example != NULL && *row->example != '\0')
                    lw_printf(out, "  Example: %s\n", row->example);
                return;
            }
            lw_printf(out, "  %s%s%-*s  %s\n", row->name, *operands ? " " : "",
                      (int)(width > strlen(row->name) + (*operands != '\0')
                                ? width - strlen(row->name) - (*operands != '\0')
                                : 0),
                      operands, row->summary);
        }
    }
    if (name == NULL)
        lw_printf(out, "%s  %-*s  %s\n  %-*s  %s\n", set->themes[0] != NULL ? "\n" : "",
                  (int)width, "help [command]", "Show this list, or one command with an example",
                  (int)width, "apropos <word>", "List the commands whose help contains a word");
    else
        lw_printf(out, "there is no command \"%s\": \"help\" lists the commands\n", name);
}

enum lw_status lw_command_call(const struct lw_command *row, const struct lw_call *call,
                               struct lw_error *err)
{
    struct lw_call own = *call;

    if ((row->does & LW_COMMAND_BARE) != 0 && call->argc > 1)
        return LW_FAIL(err, LW_EUSAGE, "%s takes no operands: remove \"%s\"", call->argv[0],
                       call->argv[1]);
    own.what = row->does >> LW_COMMAND_WHAT_SHIFT;
    return row->run(&own, err);
}

enum lw_status lw_command_run(const struct lw_command_set *set, const char *line,
                              struct lw_sink *out, struct lw_error *err)
{
    enum lw_status status;
    const struct lw_command *row;
    struct lw_arena arena;
    char *words[MAX_WORDS + 1], *copy;
    void *context = NULL;
    int count;

    lw_arena_init(&arena);
    /* The copy has one extra byte, because split() writes a null byte after the last word, which may be one byte past the end of
     * the line. */
    copy = lw_arena_strndup(&arena, line, strlen(line) + 1);
    if (copy == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for a command of %zu bytes", strlen(line));
        goto cleanup;
    }
    status = split(copy, words, &count, err);
    if (status != LW_OK || count == 0)
        goto cleanup;
    words[count] = NULL;
    row = NULL;
    if (strcmp(words[0], apropos_name) == 0) {
        status = apropos(set, count, words, out, err);
        goto cleanup;
    }
    if (strcmp(words[0], help_name) != 0)
        row = lw_command_find(set, words[0], &context, err);
    if (strcmp(words[0], help_name) == 0 ||
        (row == NULL && (strcmp(words[0], "h") == 0 || strcmp(words[0], "?") == 0))) {
        const struct lw_command *topic = NULL;

        if (count > 1 && help_on_help(words[1], out))
            goto cleanup;
        if (count > 1) {
            topic = lw_command_find(set, words[1], NULL, err);
            if (topic == NULL) {
                status = LW_EUSAGE;
                goto cleanup;
            }
        }
        print_help(set, topic != NULL ? topic->name : NULL, out);
        goto cleanup;
    }
    if (row == NULL) {
        status = LW_EUSAGE;
        goto cleanup;
    }
    words[0] = lw_arena_strdup(&arena, row->name);
    if (words[0] == NULL) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for a command's name");
        goto cleanup;
    }
    status = lw_command_call(
        row, &(struct lw_call){.context = context, .argc = count, .argv = words, .out = out}, err);
cleanup:
    lw_arena_fini(&arena);
    return status;
}

bool lw_args_join(int argc, char **argv, int first, char *text, size_t size)
{
    size_t used = 0;

    *text = '\0';
    for (int i = first; i < argc; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i > first ? " " : "", argv[i]);

        if (n < 0 || (size_t)n >= size - used)
            return false;
        used += (size_t)n;
    }
    return true;
}
