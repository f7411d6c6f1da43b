/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison of two reports, for `lanewise timing compare`. */
#include "timing/tim_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct report {
    const char *path;
    struct lw_yaml_document *document; /* owned; JSON is valid YAML */
    const struct lw_yaml *root, *sums, *config;
};

/** Returns the text of the scalar member @key of @mapping, or NULL if there is no such member. */
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
    return LW_FAIL(err, LW_EINPUT, "%s: expected a report of the timing model, found %s: write a report with run "
                                   "--timing --timing-report FILE", r->path, found[0] != '\0' ? found : "nothing");
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
        return LW_FAIL(err, LW_EINPUT, "%s: expected a report of the timing model (JSON), found other text: write a "
                                       "report with run --timing --timing-report FILE", path);
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

/* ---- table rows ------------------------------------------------------------------------------- */

/** Prints the values @a and @b of a number in both reports, and their ratio b/a. NULL: that report lacks the number. */
static void put_numbers(struct lw_sink *out, const char *name, const char *a, const char *b)
{
    uint64_t first, second;

    lw_printf(out, "  %-24s %14s  %14s", name, a != NULL ? a : "-", b != NULL ? b : "-");
    if (a != NULL && b != NULL && lw_parse_u64(a, &first) && lw_parse_u64(b, &second) && first != 0)
        lw_printf(out, "  %10.3f", (double)second / (double)first);
    lw_put(out, "\n");
}

/** Prints the real number @name of both reports, as put_numbers() prints an integer. Multiplies both values by @scale. Returns
 *  false if neither report has the number. */
static bool put_reals(struct lw_sink *out, const char *name, const char *a, const char *b, double scale)
{
    const char *texts[2] = {a, b};
    double value[2] = {NAN, NAN};

    if (a == NULL && b == NULL)
        return false;
    lw_printf(out, "  %-24s", name);
    for (unsigned k = 0; k < 2; k++) {
        char *end;

        if (texts[k] != NULL)
            value[k] = strtod(texts[k], &end) * scale;
        if (texts[k] == NULL || end == texts[k] || *end != '\0' || !isfinite(value[k]))
            lw_printf(out, "%s%15s", k != 0 ? " " : "", "-");
        else
            lw_printf(out, "%s%15.3f", k != 0 ? " " : "", value[k]);
    }
    if (isfinite(value[1] / value[0]))
        lw_printf(out, "  %10.3f", value[1] / value[0]);
    lw_put(out, "\n");
    return true;
}

static bool differ(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a != NULL && strcmp(a, b) != 0);
}

/** Prints the numbers of @mapping that differ from the numbers of @other. Without @swapped, @mapping is from report A and
 *  @other is from B. With @swapped, @mapping is from B, and only numbers that A lacks are printed. @count: number of rows
 *  already printed under the title. Returns the new count. */
static unsigned put_members(struct lw_sink *out, const char *title, const struct lw_yaml *mapping,
                            const struct lw_yaml *other, bool swapped, unsigned count)
{
    for (const struct lw_yaml *n = mapping != NULL && mapping->kind == LW_YAML_MAPPING ? mapping->first : NULL;
         n != NULL; n = n->next) {
        const char *mine = n->kind == LW_YAML_SCALAR ? n->text : NULL, *its = text_of(other, n->key);

        if (mine == NULL || !differ(mine, its) || (swapped && its != NULL) ||
            strcmp(n->key, "cycles") == 0) /* compare() has already printed the cycles */
            continue;
        if (count++ == 0)
            lw_printf(out, "\n%s\n", title);
        put_numbers(out, n->key, swapped ? NULL : mine, swapped ? mine : its);
    }
    return count;
}

/** Prints the keys of the GPU models that differ, also in nested mappings. @prefix: name of the enclosing mapping. @count and
 *  the result are as for put_members(). */
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

/** Returns the ratios of report @r, such as hit rates, or NULL if the report has none. */
static const struct lw_yaml *ratios_of(const struct report *r)
{
    return lw_yaml_get(r->root, "ratios");
}

/** Prints the ratios that differ. A ratio that is undefined in a run is null in its report, and is printed as "-". */
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

/** Returns true if mapping @a has a number that @b lacks, or that has another value in @b. */
static bool any_differs(const struct lw_yaml *a, const struct lw_yaml *b)
{
    for (const struct lw_yaml *n = a->first; n != NULL; n = n->next)
        if (differ(n->kind == LW_YAML_SCALAR ? n->text : NULL, text_of(b, n->key)))
            return true;
    return false;
}

/** Prints the energy estimate of each component in both reports, if any of them differ. */
static void put_energy(struct lw_sink *out, const struct lw_yaml *a, const struct lw_yaml *b)
{
    const struct lw_yaml *first = a != NULL && a->kind == LW_YAML_MAPPING ? lw_yaml_get(a, "components") : NULL;
    const struct lw_yaml *second = b != NULL && b->kind == LW_YAML_MAPPING ? lw_yaml_get(b, "components") : NULL;

    if (first == NULL || first->kind != LW_YAML_MAPPING || !any_differs(first, second))
        return;
    lw_put(out, "\nenergy by component, in uJ\n");
    for (const struct lw_yaml *n = first->first; n != NULL; n = n->next)
        (void)put_reals(out, n->key, text_of(first, n->key), text_of(second, n->key), 1e6);
}

/** Returns the number of issue slots of a report, summed over all stall reasons. */
static double slots_of(const struct lw_yaml *causes)
{
    double sum = 0;

    for (const struct lw_yaml *n = causes != NULL && causes->kind == LW_YAML_MAPPING ? causes->first : NULL; n != NULL; n = n->next)
        sum += n->kind == LW_YAML_SCALAR ? strtod(n->text, NULL) : 0;
    return sum;
}

/** Prints, for each stall reason, its share of the issue slots in both reports. */
static void put_shares(struct lw_sink *out, const struct lw_yaml *a, const struct lw_yaml *b)
{
    const double slots[2] = {slots_of(a), slots_of(b)};

    if (slots[0] <= 0 || slots[1] <= 0 || !any_differs(a, b))
        return;
    lw_put(out, "\nstall reasons, as a share of all issue slots\n");
    for (unsigned i = 0; i < TIM_STALL_COUNT; i++) {
        const char *name = tim_stall_name((enum tim_stall)i), *first = text_of(a, name), *second = text_of(b, name);
        double of[2] = {first != NULL ? strtod(first, NULL) : 0, second != NULL ? strtod(second, NULL) : 0};

        if (of[0] != 0 || of[1] != 0)
            lw_printf(out, "  %-24s %13.1f%%  %13.1f%%\n", name, 100 * of[0] / slots[0], 100 * of[1] / slots[1]);
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
    (void)put_reals(out, "time, us", text_of(a->root, "seconds"), text_of(b->root, "seconds"), 1e6);
    const struct lw_yaml *energy[2] = {lw_yaml_get(a->root, "energy"), lw_yaml_get(b->root, "energy")};
    (void)put_reals(out, "energy, uJ", text_of(energy[0], "joules"), text_of(energy[1], "joules"), 1e6);
    (void)put_reals(out, "power, W", text_of(energy[0], "watts"), text_of(energy[1], "watts"), 1);
    put_ratios(out, ratios_of(a), ratios_of(b));
    put_energy(out, energy[0], energy[1]);
    put_shares(out, lw_yaml_get(a->sums, "causes"), lw_yaml_get(b->sums, "causes"));
    for (unsigned i = 0; i < LW_COUNT_OF(scopes); i++) {
        const struct lw_yaml *first = lw_yaml_get(a->sums, scopes[i].key);
        const struct lw_yaml *second = lw_yaml_get(b->sums, scopes[i].key);
        unsigned count = put_members(out, scopes[i].title, first, second, false, 0);

        found += put_members(out, scopes[i].title, second, first, true, count);
    }
    if (a->config != NULL && a->config->kind == LW_YAML_MAPPING)
        (void)put_keys(out, a->config, b->config, "", 0);
    if (found == 0)
        lw_put(out, "\nall counters are equal\n");
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
