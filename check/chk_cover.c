/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage as lcov's tracefile. */
#include "check/chk_count_priv.h"
#include "check/chk_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/** Where @file is on this machine, for who draws the pages; itself if that is not known. The
 *  caller frees it. */
static char *real(const char *file, const struct chk_counts *counts)
{
    const char *dir = counts->object->comp_dir;
    char *path = NULL, *joined = NULL;

    if (file[0] != '/' && dir != NULL && dir[0] != '\0' &&
        (joined = malloc(strlen(dir) + strlen(file) + 2)) != NULL) {
        strcpy(joined, dir);
        strcat(strcat(joined, "/"), file);
        path = realpath(joined, NULL);
    }
    free(joined);
    if (path == NULL)
        path = realpath(file, NULL);
    return path != NULL ? path : strdup(file);
}

struct totals {
    unsigned found, hit;
};
static void total(struct totals *t, uint64_t count)
{
    t->found++;
    t->hit += count != 0;
}

/** Functions of the programs that are declared in @file. */
static void put_functions(const struct chk_counters *c, const char *file, struct lw_sink *out)
{
    struct totals t = {0};

    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < c->count; i++) {
            const struct isa_object *o = c->programs[i]->object;

            for (unsigned f = 0; f < o->function_count; f++) {
                const struct isa_function *fn = &o->functions[f];
                const struct isa_line *line = isa_object_line_at(o, fn->first);
                unsigned file_at = fn->line != 0 ? fn->file : line != NULL ? line->file : 0;
                uint32_t at = fn->line != 0 ? fn->line : line != NULL ? line->line : 0;
                uint64_t lanes = c->programs[i]->tally[fn->first].lanes;

                if (at == 0 || file_at >= o->file_count || strcmp(o->files[file_at], file) != 0)
                    continue;
                if (pass == 0) {
                    lw_printf(out, "FN:%" PRIu32 ",%s\n", at, fn->name);
                } else {
                    lw_printf(out, "FNDA:%" PRIu64 ",%s\n", lanes, fn->name);
                    total(&t, lanes);
                }
            }
        }
    }
    lw_printf(out, "FNF:%u\nFNH:%u\n", t.found, t.hit);
}

/** Both ways of the branches of a line: of those that were made several times (unrolled loops,
 *  functions put into others) each. */
static void put_branches(const struct chk_line_entry *e, size_t from, size_t to, struct totals *t,
                         struct lw_sink *out)
{
    unsigned block = 0;

    for (size_t i = from; i < to; i++) {
        const struct chk_tally *n = &e[i].counts->tally[e[i].index];

        if (!(e[i].counts->what[e[i].index] & CHK_COUNT_BRANCH))
            continue;
        const uint64_t way[2] = {n->lanes, n->others};
        for (unsigned k = 0; k < 2; k++) {
            if (n->lanes + n->others == 0)
                lw_printf(out, "BRDA:%" PRIu32 ",%u,%u,-\n", e[from].line, block, k);
            else
                lw_printf(out, "BRDA:%" PRIu32 ",%u,%u,%" PRIu64 "\n", e[from].line, block, k,
                          way[k]);
            total(t, way[k]);
        }
        block++;
    }
}

/** The most that one of a line's instructions ran, in each program; their sum. */
static uint64_t line_lanes(const struct chk_line_entry *e, size_t from, size_t to)
{
    uint64_t sum = 0, most = 0;

    for (size_t i = from; i < to; i++) {
        const struct chk_tally *t = &e[i].counts->tally[e[i].index];
        uint64_t lanes = t->lanes + t->others; /* who comes to a branch has come to its line */

        if (i != from && e[i].counts != e[i - 1].counts) {
            sum += most;
            most = 0;
        }
        most = lanes > most ? lanes : most;
    }
    return sum + most;
}

enum lw_status chk_write_coverage(const struct chk *chk, struct lw_sink *out,
                                  struct lw_error *err)
{
    const struct chk_counters *counters = chk->counters;
    size_t count;
    struct chk_line_entry *e = chk_lines(counters, &count);

    if (e == NULL || counters->short_of_memory) {
        free(e);
        return LW_FAIL(err, LW_ENOMEM, "no memory for coverage");
    }
    for (size_t file = 0, end; file < count; file = end) {
        struct totals lines = {0}, branches = {0};
        char *path = real(e[file].file, e[file].counts);

        end = chk_file_end(e, count, file);
        lw_printf(out, "TN:\nSF:%s\n", path != NULL ? path : e[file].file);
        free(path);
        put_functions(counters, e[file].file, out);
        for (size_t at = file, next; at < end; at = next) {
            next = chk_line_end(e, end, at);
            put_branches(e, at, next, &branches, out);
        }
        lw_printf(out, "BRF:%u\nBRH:%u\n", branches.found, branches.hit);
        for (size_t at = file, next; at < end; at = next) {
            uint64_t lanes;

            next = chk_line_end(e, end, at);
            lanes = line_lanes(e, at, next);
            lw_printf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", e[at].line, lanes);
            total(&lines, lanes);
        }
        lw_printf(out, "LF:%u\nLH:%u\nend_of_record\n", lines.found, lines.hit);
    }
    free(e);
    return LW_OK;
}
