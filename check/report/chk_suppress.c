/* SPDX-License-Identifier: Apache-2.0 */
/* Suppressions: a YAML list of patterns for findings. */
#include "check/chk_priv.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

/** A suppression. A member that is NULL (for `line`, 0) matches every finding. */
struct suppression {
    const char *kind, *kernel, *file, *allocation; /* shell patterns */
    uint64_t line;
    const char *list; /* file that contains the suppression */
    unsigned list_line;
};
struct chk_suppressions {
    struct lw_arena arena;
    struct suppression *rows;
    size_t count, room;
};

static enum lw_status take(const struct lw_yaml_document *document, const struct lw_yaml *node,
                           struct chk_suppressions *s, struct suppression *row,
                           struct lw_error *err)
{
    static const char *const known[] = {"kind", "kernel", "file", "allocation", "line", NULL};
    const struct {
        const char *key;
        const char **to;
    } patterns[] = {{"kind", &row->kind}, {"kernel", &row->kernel}, {"file", &row->file},
                    {"allocation", &row->allocation}};
    enum lw_status status;
    const struct lw_yaml *value;

    if (node->kind != LW_YAML_MAPPING || node->count == 0)
        return lw_yaml_fail(document, node, err, "expected a suppression such as "
                            "{kind: out-of-bounds, kernel: k}");
    status = lw_yaml_known(document, node, known, err);
    for (unsigned i = 0; status == LW_OK && i < LW_COUNT_OF(patterns); i++) {
        const char *text;

        value = lw_yaml_get(node, patterns[i].key);
        if (value == NULL)
            continue;
        status = lw_yaml_string(document, value, &text, err);
        if (status == LW_OK) {
            *patterns[i].to = lw_arena_strdup(&s->arena, text);
            if (*patterns[i].to == NULL)
                status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for suppressions");
        }
    }
    value = lw_yaml_get(node, "line");
    if (status == LW_OK && value != NULL)
        status = lw_yaml_u64(document, value, 1, UINT32_MAX, &row->line, err);
    if (status == LW_OK && row->kind != NULL && strpbrk(row->kind, "*?[") == NULL &&
        chk_kind_named(row->kind) < 0) {
        const char *near = lw_suggest(row->kind, &chk_kinds[0].name, CHK_KIND_COUNT, sizeof chk_kinds[0]);

        status = near != NULL ? lw_yaml_fail(document, node, err, "there is no kind of finding \"%.60s\"; did you mean "
                                                                  "\"%s\"?", row->kind, near)
                              : lw_yaml_fail(document, node, err, "there is no kind of finding \"%.60s\"; \"lanewise "
                                                                  "explain\" lists all kinds", row->kind);
    }
    return status;
}

void chk_suppressions_put_formers(const struct chk_suppressions *suppressions, const char *before,
                                  struct lw_sink *out)
{
    for (size_t i = 0; suppressions != NULL && i < suppressions->count; i++)
        for (int k = 0; k < CHK_KIND_COUNT; k++) {
            const struct suppression *row = &suppressions->rows[i];

            if (chk_former_names[k] == NULL || row->kind == NULL || fnmatch(row->kind, chk_former_names[k], 0) != 0 ||
                fnmatch(row->kind, chk_kinds[k].name, 0) == 0)
                continue;
            lw_printf(out, "%s%s:%u: ", before, row->list, row->list_line);
            chk_put_former(chk_former_names[k], chk_kinds[k].name, out);
        }
}

/** Returns true for an empty file, or a file that contains only comments. Such a file is a valid list of suppressions that
 *  suppresses no finding. */
static bool holds_nothing(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '#')
            while (i < size && text[i] != '\n')
                i++;
        else if (strchr(" \t\r\n", text[i]) == NULL || text[i] == '\0')
            return false;
    }
    return true;
}

enum lw_status chk_suppressions_load(const char *path, struct chk_suppressions **list,
                                     struct lw_error *err)
{
    struct chk_suppressions *s = *list;
    const size_t before = s != NULL ? s->count : 0;
    struct lw_yaml_document *document = NULL;
    enum lw_status status;
    const struct lw_yaml *root;
    char *text = NULL;
    size_t size;

    status = lw_file_read(path, &text, &size, err);
    if (status != LW_OK)
        return status;
    status = holds_nothing(text, size) ? LW_OK : lw_yaml_parse(path, text, size, &document, err);
    if (status != LW_OK)
        goto cleanup;
    root = document != NULL ? lw_yaml_root(document) : NULL;
    if (root != NULL && root->kind != LW_YAML_SEQUENCE) {
        status = lw_yaml_fail(document, root, err, "expected a list of suppressions, each starting with \"- \"");
        goto cleanup;
    }
    if (s == NULL && (s = calloc(1, sizeof *s)) != NULL)
        lw_arena_init(&s->arena);
    if (s == NULL || !lw_grow(&s->rows, &s->room, before + (root != NULL ? root->count : 0) + 1, sizeof *s->rows)) {
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for suppressions");
        goto cleanup;
    }
    const char *name = lw_arena_strdup(&s->arena, path);
    if (name == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for suppressions");
    for (const struct lw_yaml *n = root != NULL ? root->first : NULL; status == LW_OK && n != NULL; n = n->next) {
        struct suppression row = {.list = name, .list_line = n->line};

        status = take(document, n, s, &row, err);
        s->rows[s->count++] = row;
    }
    if (status == LW_OK)
        *list = s;
    else
        s->count = before;
cleanup:
    if (s != *list)
        chk_suppressions_destroy(s);
    lw_yaml_destroy(document);
    free(text);
    return status;
}

void chk_suppressions_destroy(struct chk_suppressions *suppressions)
{
    if (suppressions == NULL)
        return;
    free(suppressions->rows);
    lw_arena_fini(&suppressions->arena);
    free(suppressions);
}

static bool fits(const char *pattern, const char *text)
{
    return pattern == NULL || fnmatch(pattern, text, 0) == 0;
}

/** Returns true if the pattern matches a symbol, or the name of the symbol in the source with or without its template
 *  arguments. */
static bool fits_symbol(const char *pattern, const char *symbol)
{
    char name[ISA_SYMBOL_BYTES];
    size_t base, bare;

    if (fits(pattern, symbol))
        return true;
    isa_symbol_read(symbol, name, sizeof name, &base, &bare);
    if (fits(pattern, name))
        return true;
    name[bare] = '\0';
    return fits(pattern, name);
}

/** Returns true if the pattern matches the whole path, or the path as reports show it. A pattern without "/" may also match
 *  the last part of the path. */
static bool fits_file(const struct chk *chk, const char *pattern, const char *file)
{
    const char *last = strrchr(file, '/');

    return fits(pattern, file) || fits(pattern, chk_report_file(chk, file)) ||
           (last != NULL && strchr(pattern, '/') == NULL && fits(pattern, last + 1));
}

/** Returns true if the suppression matches the finding's own line, or the line of an inlined call around the finding. */
static bool fits_line(const struct chk *chk, const struct suppression *s, const struct chk_finding *finding,
                      const struct chk_call *call, unsigned count)
{
    bool fit = fits_file(chk, s->file, finding->location.file) &&
               (s->line == 0 || s->line == finding->location.line);

    for (unsigned i = 0; i < count && !fit; i++)
        fit = fits_file(chk, s->file, call[i].file) && (s->line == 0 || s->line == call[i].line);
    return fit;
}

/** Returns true if the suppression's pattern matches the name or the former name of the kind. */
static bool fits_kind(const struct suppression *s, unsigned kind)
{
    return fits(s->kind, chk_kinds[kind].name) || (chk_former_names[kind] != NULL && fits(s->kind, chk_former_names[kind]));
}

static bool fits_row(const struct chk *chk, const struct suppression *s, const struct chk_finding *finding,
                     const struct chk_call *call, unsigned count)
{
    return fits_kind(s, finding->kind) && fits_symbol(s->kernel, finding->location.kernel) &&
           fits_line(chk, s, finding, call, count) && fits_symbol(s->allocation, finding->allocation);
}

bool chk_suppressed(const struct chk *chk, const struct chk_finding *finding)
{
    const struct chk_suppressions *suppressions = chk->options.suppressions;
    struct chk_call call[CHK_MOST_CALLS];
    const unsigned calls =
        suppressions != NULL ? chk_inline_collect(chk, &finding->location, call) : 0;

    for (size_t i = 0; suppressions != NULL && i < suppressions->count; i++)
        if (fits_row(chk, &suppressions->rows[i], finding, call, calls))
            return true;
    return false;
}

/* All suppressed findings are available here, because max_findings does not limit them. */
void chk_print_unused_suppressions(const struct chk *chk, struct lw_sink *out)
{
    const struct chk_suppressions *suppressions = chk->options.suppressions;
    const struct chk_finding *f;

    for (size_t i = 0; suppressions != NULL && i < suppressions->count; i++) {
        const struct suppression *s = &suppressions->rows[i];
        bool fit = false, enabled = false;

        for (unsigned k = 0; k < CHK_KIND_COUNT && !enabled; k++)
            enabled = (chk->options.kinds >> k & 1) != 0 && fits_kind(s, k);
        for (unsigned n = 0; enabled && !fit && (f = chk_get(chk, n)) != NULL; n++)
            fit = f->suppressed && fits_row(chk, s, f, f->location.calls, f->location.call_count);
        if (enabled && !fit)
            lw_printf(out, "%s:%u: unused suppression: no finding of this run matches it; remove the suppression if "
                           "the bug is fixed\n",
                      s->list, s->list_line);
    }
}
