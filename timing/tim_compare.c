/* SPDX-License-Identifier: Apache-2.0 */
/* Two reports side by side: what `lanewise timing compare` prints. */
#include "timing/tim_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct report {
    const char *path;
    struct lw_yaml_document *document; /* JSON is YAML, too; owned */
    const struct lw_yaml *root, *sums, *config;
};

/** A member that is a scalar; NULL: there is none. */
static const char *text_of(const struct lw_yaml *mapping, const char *key)
{
    const struct lw_yaml *node =
        mapping != NULL && mapping->kind == LW_YAML_MAPPING ? lw_yaml_get(mapping, key) : NULL;

    return node != NULL && node->kind == LW_YAML_SCALAR ? node->text : NULL;
}

static enum lw_status no_report(const struct report *r, struct lw_error *err)
{
    char found[160] = "";
    size_t used = 0;

    if (r->root->kind != LW_YAML_MAPPING)
        snprintf(found, sizeof found, "%s", r->root->kind == LW_YAML_SEQUENCE ? "a list" : "a text");
    else if (lw_yaml_get(r->root, "traceEvents") != NULL)
        snprintf(found, sizeof found, "a trace, as --timing-trace writes it");
    else
        for (const struct lw_yaml *n = r->root->first; n != NULL && used < 100; n = n->next)
            used += (size_t)snprintf(found + used, sizeof found - used, "%s\"%.20s\"",
                                     used == 0 ? "the keys " : ", ", n->key);
    return LW_FAIL(err, LW_EINPUT, "%s: expected a report of the timing model, found %s: write one with "
                   "run --timing --timing-report FILE", r->path, found[0] != '\0' ? found : "nothing");
}

static enum lw_status read_report(const char *path, struct report *r, struct lw_error *err)
{
    struct lw_error why;
    enum lw_status status;
    char *data = NULL;
    uint64_t cycles;
    size_t size;

    *r = (struct report){.path = path};
    status = lw_file_read(path, &data, &size, err);
    if (status != LW_OK)
        return status;
    status = lw_yaml_parse(path, data, size, &r->document, &why);
    free(data);
    if (status == LW_ENOMEM)
        return LW_FAIL(err, status, "%s", why.text);
    if (status != LW_OK)
        return LW_FAIL(err, LW_EINPUT, "%s: expected a report of the timing model (JSON), found a text that is "
                       "none: write one with run --timing --timing-report FILE", path);
    r->root = lw_yaml_root(r->document);
    if (r->root->kind == LW_YAML_MAPPING) {
        r->sums = lw_yaml_get(r->root, "sums");
        r->config = lw_yaml_get(r->root, "config");
    }
    if (text_of(r->root, "machine") == NULL || text_of(r->root, "cycles") == NULL ||
        !lw_parse_u64(text_of(r->root, "cycles"), &cycles) || r->sums == NULL ||
        r->sums->kind != LW_YAML_MAPPING)
        return no_report(r, err);
    return LW_OK;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/** A number of both, and B's for one of A's. NULL: not in that report. */
static void put_numbers(struct lw_sink *out, const char *name, const char *a, const char *b)
{
    uint64_t first, second;

    lw_printf(out, "  %-24s %14s  %14s", name, a != NULL ? a : "-", b != NULL ? b : "-");
    if (a != NULL && b != NULL && lw_parse_u64(a, &first) && lw_parse_u64(b, &second) && first != 0)
        lw_printf(out, "  %10.3f", (double)second / (double)first);
    lw_put(out, "\n");
}

static bool differ(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

/** Numbers of @mapping, A's, that differ from @other's, B's. @swapped: @mapping is B's, and those that A has are
 *  left out. @count: rows under the title so far; returns how many there are now. */
static unsigned put_members(struct lw_sink *out, const char *title, const struct lw_yaml *mapping,
                            const struct lw_yaml *other, bool swapped, unsigned count)
{
    for (const struct lw_yaml *n = mapping != NULL && mapping->kind == LW_YAML_MAPPING ? mapping->first : NULL;
         n != NULL; n = n->next) {
        const char *mine = n->kind == LW_YAML_SCALAR ? n->text : NULL, *its = text_of(other, n->key);

        if (mine == NULL || !differ(mine, its) || (swapped && its != NULL) ||
            strcmp(n->key, "cycles") == 0) /* on top */
            continue;
        if (count++ == 0)
            lw_printf(out, "\n%s\n", title);
        put_numbers(out, n->key, swapped ? NULL : mine, swapped ? mine : its);
    }
    return count;
}

/** Keys of the GPU models that differ, at any depth. */
static unsigned put_keys(struct lw_sink *out, const struct lw_yaml *a, const struct lw_yaml *b,
                         const char *prefix, unsigned count)
{
    for (const struct lw_yaml *n = a->first; n != NULL; n = n->next) {
        const struct lw_yaml *its =
            b != NULL && b->kind == LW_YAML_MAPPING ? lw_yaml_get(b, n->key) : NULL;
        char name[80];

        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", n->key);
        if (n->kind == LW_YAML_MAPPING) {
            count = put_keys(out, n, its, name, count);
        } else if (n->kind == LW_YAML_SCALAR && differ(n->text, its != NULL ? its->text : NULL)) {
            if (count++ == 0)
                lw_put(out, "\nkeys of the GPU model\n");
            lw_printf(out, "  %-24s %14s  %14s\n", name, n->text,
                      its != NULL && its->text != NULL ? its->text : "-");
        }
    }
    return count;
}

/** The ratios that @r has, such as hit rates; NULL: none. */
static const struct lw_yaml *ratios_of(const struct report *r)
{
    return lw_yaml_get(r->root, "ratios");
}

/** Ratios that differ. Null is one without a meaning in that run. */
static void put_ratios(struct lw_sink *out, const struct lw_yaml *a, const struct lw_yaml *b)
{
    unsigned count = 0;

    for (size_t i = 0; i < tim_ratio_count; i++) {
        const char *texts[2] = {text_of(a, tim_ratios[i].name), text_of(b, tim_ratios[i].name)};
        char shown[2][24] = {"-", "-"};
        double value[2] = {NAN, NAN};

        if (!differ(texts[0], texts[1]))
            continue;
        for (unsigned k = 0; k < 2; k++) {
            char *end;
            const double number = texts[k] != NULL ? strtod(texts[k], &end) : NAN;

            if (texts[k] == NULL || end == texts[k] || *end != '\0' || !isfinite(number))
                continue;
            value[k] = number;
            if (tim_ratios[i].share)
                snprintf(shown[k], sizeof shown[k], "%.1f%%", 100 * number);
            else
                snprintf(shown[k], sizeof shown[k], "%.3f", number);
        }
        if (count++ == 0)
            lw_put(out, "\nratios\n");
        lw_printf(out, "  %-24s %14s  %14s", tim_ratios[i].name, shown[0], shown[1]);
        if (isfinite(value[1] / value[0]))
            lw_printf(out, "  %10.3f", value[1] / value[0]);
        lw_put(out, "\n");
    }
}

static void put_head(struct lw_sink *out, char letter, const struct report *r)
{
    const char *ended = text_of(r->root, "ended");

    lw_printf(out, "%c: %s, on %s%s%s\n", letter, r->path, text_of(r->root, "machine"),
              ended != NULL ? "; ended early: " : "", ended != NULL ? ended : "");
}

static void compare(const struct report *a, const struct report *b, struct lw_sink *out)
{
    static const struct {
        const char *key, *title;
    } scopes[] = {
        {"gpu", "GPU"}, {"causes", "stall reasons, in issue slots"}, {"schedulers", "schedulers"},
        {"cores", "cores"}, {"slices", "L2 slices"}, {"channels", "DRAM channels"},
    };
    unsigned found = 0;

    put_head(out, 'A', a);
    put_head(out, 'B', b);
    lw_printf(out, "\n  %-24s %14s  %14s  %10s\n", "", "A", "B", "B/A");
    put_numbers(out, "cycles", text_of(a->root, "cycles"), text_of(b->root, "cycles"));
    put_ratios(out, ratios_of(a), ratios_of(b));
    for (unsigned i = 0; i < LW_COUNT_OF(scopes); i++) {
        const struct lw_yaml *first = lw_yaml_get(a->sums, scopes[i].key);
        const struct lw_yaml *second = lw_yaml_get(b->sums, scopes[i].key);
        unsigned count = put_members(out, scopes[i].title, first, second, false, 0);

        found += put_members(out, scopes[i].title, second, first, true, count);
    }
    if (a->config != NULL && a->config->kind == LW_YAML_MAPPING)
        (void)put_keys(out, a->config, b->config, "", 0);
    if (found == 0)
        lw_put(out, "\nno counter differs\n");
}

enum lw_status tim_report_compare(const char *a, const char *b, struct lw_sink *out,
                                  struct lw_error *err)
{
    struct report first, second = {0};
    enum lw_status status = read_report(a, &first, err);

    if (status == LW_OK)
        status = read_report(b, &second, err);
    if (status == LW_OK)
        compare(&first, &second, out);
    lw_yaml_destroy(first.document);
    lw_yaml_destroy(second.document);
    return status;
}
