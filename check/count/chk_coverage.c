/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage in lcov's tracefile format. */
#include "check/count/chk_count_priv.h"
#include "check/chk_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/** Returns the absolute path of @file, by which tools such as genhtml open the file, or a copy of @file if the absolute
 *  path is not known. The caller frees the text. NULL: there is no memory. */
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

/** A function that is declared in a file. */
struct entered {
    const char *symbol;
    uint64_t plain; /* hash of the function's name in the source */
    uint64_t lanes; /* number of lanes that entered the function */
    uint32_t line;
};

/** Prints a line for a function. lcov identifies a function by its name, and version 1 of lcov ends the name at the first
 *  comma, so ";" replaces commas. @shared: several functions have this name in the source, such as overloads, so the
 *  symbol is appended. */
static void put_function(const char *key, uint64_t number, const struct entered *fn, bool shared, struct lw_sink *out)
{
    char room[ISA_SYMBOL_BYTES];

    lw_printf(out, "%s:%" PRIu64 ",", key, number);
    for (const char *p = isa_symbol_text(fn->symbol, room); *p != '\0'; p++)
        lw_printf(out, "%c", *p == ',' ? ';' : *p);
    if (shared)
        lw_printf(out, " [%s]", fn->symbol);
    lw_put(out, "\n");
}

static bool is_shared(const struct entered *all, size_t count, const struct entered *fn)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].plain == fn->plain && strcmp(all[i].symbol, fn->symbol) != 0)
            return strncmp(fn->symbol, "_Z", 2) == 0;
    return false;
}

struct totals {
    unsigned found, hit;
};
static void total(struct totals *t, uint64_t count)
{
    t->found++;
    t->hit += count != 0;
}

/** Prints the functions that are declared in @file. Returns false if memory is short. */
static bool put_functions(const struct chk_counters *c, const char *file, struct lw_sink *out)
{
    struct entered *all = NULL;
    size_t count = 0, room = 0;
    struct totals t = {0};

    for (size_t i = 0; i < c->count; i++) {
        const struct isa_object *o = c->programs[i]->object;

        for (unsigned f = 0; f < o->function_count; f++) {
            const struct isa_function *fn = &o->functions[f];
            const struct isa_line *line = isa_object_line_at(o, fn->first);
            unsigned file_at = fn->line != 0 ? fn->file : line != NULL ? line->file : 0;
            uint32_t at = fn->line != 0 ? fn->line : line != NULL ? line->line : 0;
            char name[ISA_SYMBOL_BYTES];
            struct lw_hash hash;

            if (at == 0 || file_at >= o->file_count || strcmp(o->files[file_at], file) != 0)
                continue;
            if (!lw_grow(&all, &room, count + 1, sizeof *all)) {
                free(all);
                return false;
            }
            const char *plain = isa_symbol_text(fn->name, name);
            lw_hash_init(&hash);
            lw_hash_bytes(&hash, plain, strlen(plain));
            all[count++] = (struct entered){.symbol = fn->name, .plain = lw_hash_value(&hash), .line = at,
                                            .lanes = c->programs[i]->tally[fn->first].lanes};
        }
    }
    for (size_t i = 0; i < count; i++)
        put_function("FN", all[i].line, &all[i], is_shared(all, count, &all[i]), out);
    for (size_t i = 0; i < count; i++) {
        put_function("FNDA", all[i].lanes, &all[i], is_shared(all, count, &all[i]), out);
        total(&t, all[i].lanes);
    }
    lw_printf(out, "FNF:%u\nFNH:%u\n", t.found, t.hit);
    free(all);
    return true;
}

/** Prints both outcomes of a line's branches. A branch that the compiler has duplicated, in an unrolled loop or an inlined
 *  function, is printed for each duplicate. */
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
            lw_printf(out, "BRDA:%" PRIu32 ",%u,%u,", e[from].line, block, k);
            if (n->lanes + n->others == 0)
                lw_put(out, "-\n");
            else
                lw_printf(out, "%" PRIu64 "\n", way[k]);
            total(t, way[k]);
        }
        block++;
    }
}

/* ---- copies of code that the front end made --------------------------------------------------- */

/** Returns true for a debug entry that marks a duplicate: a block with ranges and without inner entries
 *  (ptx_debug_duplicates.c). */
static bool is_copy(const struct isa_debug *debug, uint32_t die)
{
    return debug->dies[die].tag == ISA_TAG_BLOCK && debug->dies[die].end == die + 1 &&
           isa_die_attr(debug, die, ISA_AT_RANGES) != NULL;
}

static void mark(struct chk_counts *c, uint32_t die, uint32_t from, uint32_t to)
{
    bool copy = is_copy(c->object->debug, die);

    for (uint32_t i = from; i < to && i < c->object->text_count; i++) {
        if (copy)
            c->scopes[i].copy = die;
        else
            c->scopes[i].scope = die;
    }
}

/** Fills c->scopes if the program has duplicated code. Returns false if memory is short. */
static bool find_copies(struct chk_counts *c)
{
    const struct isa_debug *debug = c->object->debug;
    bool any = false;

    for (uint32_t i = 0; debug != NULL && i < debug->die_count && !any; i++)
        any = is_copy(debug, i);
    if (!any || c->scopes != NULL)
        return true;
    c->scopes = calloc(c->object->text_count + 1u, sizeof *c->scopes);
    for (uint32_t i = 0; i < debug->die_count && c->scopes != NULL; i++) {
        const struct isa_attr *at = isa_die_attr(debug, i, ISA_AT_RANGES);

        for (uint32_t k = 0; at != NULL && k < at->count; k++)
            mark(c, i, debug->spans[at->value + k].from, debug->spans[at->value + k].to);
        at = isa_die_attr(debug, i, ISA_AT_LOW_PC);
        if (at != NULL) {
            const struct isa_function *function = &c->object->functions[at->value];

            mark(c, i, function->first, function->first + function->count);
        }
    }
    return c->scopes != NULL;
}

/** An instruction of a line: its statement, which scope and column identify, and the number of the statement's
 *  duplicate. */
struct copied {
    uint32_t scope, column, copy;
    uint64_t lanes;
};
static int compare(const void *a, const void *b)
{
    const struct copied *x = a, *y = b;

    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static bool is_join(const struct chk_line_entry *e)
{
    return (e->counts->what[e->index] & CHK_COUNT_JOIN) != 0;
}

static uint64_t lanes_of(const struct chk_line_entry *e)
{
    const struct chk_tally *t = &e->counts->tally[e->index];

    return t->lanes + t->others; /* a lane that reaches a branch has executed the branch's line */
}

/** Returns the largest count of a statement of a line, where a statement's count is the sum over its duplicates. @joins:
 *  the line has only reconvergence instructions. Returns UINT64_MAX if memory is short. */
static uint64_t statement_lanes(const struct chk_line_entry *e, size_t count, bool joins)
{
    struct copied *list = calloc(count, sizeof *list);
    uint64_t most = 0, sum = 0, part = 0;
    size_t n = 0;

    if (list == NULL)
        return UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct chk_scope *at = &e[i].counts->scopes[e[i].index];
        const struct isa_line *line = isa_object_line_at(e[i].counts->object, e[i].index);

        if (joins || !is_join(&e[i]))
            list[n++] = (struct copied){ at->scope, line != NULL ? line->column : 0, at->copy,
                                         lanes_of(&e[i]) };
    }
    if (n != 0)
        qsort(list, n, sizeof *list, compare);
    for (size_t i = 0; i < n; i++) {
        if (i != 0 && compare(&list[i], &list[i - 1]) != 0) {
            sum += part;
            part = 0;
        }
        if (i != 0 && (list[i].scope != list[i - 1].scope || list[i].column != list[i - 1].column))
            sum = 0;
        part = list[i].lanes > part ? list[i].lanes : part;
        most = sum + part > most ? sum + part : most;
    }
    free(list);
    return most;
}

/** Returns the count of a line: the sum over all programs of the largest count of an instruction of the line. Returns
 *  UINT64_MAX if memory is short. */
static uint64_t line_lanes(const struct chk_line_entry *e, size_t from, size_t to)
{
    uint64_t all = 0;

    for (size_t end; from < to; from = end) {
        uint64_t most = 0;
        bool copies = false, joins = true;

        for (end = from; end < to && e[end].counts == e[from].counts; end++)
            joins = joins && is_join(&e[end]);
        for (size_t i = from; i < end; i++) {
            uint64_t lanes = joins || !is_join(&e[i]) ? lanes_of(&e[i]) : 0;

            most = lanes > most ? lanes : most;
            copies = copies || (e[i].counts->scopes != NULL &&
                                e[i].counts->scopes[e[i].index].copy != 0);
        }
        if (copies)
            most = statement_lanes(e + from, end - from, joins);
        if (most == UINT64_MAX)
            return most;
        all += most;
    }
    return all;
}

enum lw_status chk_write_coverage(const struct chk *chk, struct lw_sink *out,
                                  struct lw_error *err)
{
    const struct chk_counters *counters = chk_state(chk, &chk_count_observer);
    size_t count;
    struct chk_line_entry *e = chk_lines(counters, true, &count);
    bool good = e != NULL && !chk->short_of_memory;

    for (size_t i = 0; i < counters->count && good; i++)
        good = find_copies(counters->programs[i]);
    if (!good) {
        free(e);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for coverage");
    }
    for (size_t file = 0, end; file < count; file = end) {
        struct totals lines = {0}, branches = {0};
        char *path = real(e[file].file, e[file].counts);

        end = chk_line_end(e, count, file, true);
        /* The name of a test must not have blanks, so "ended_by_" has none. */
        lw_printf(out, "TN:%s%s\nSF:%s\n", chk->signal != NULL ? "ended_by_" : chk->broken_off ? "broken_off" : "",
                  chk->signal != NULL ? chk->signal : "", path != NULL ? path : e[file].file);
        free(path);
        if (!put_functions(counters, e[file].file, out)) {
            free(e);
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for coverage");
        }
        for (size_t at = file, next; at < end; at = next) {
            next = chk_line_end(e, end, at, false);
            put_branches(e, at, next, &branches, out);
        }
        lw_printf(out, "BRF:%u\nBRH:%u\n", branches.found, branches.hit);
        for (size_t at = file, next; at < end; at = next) {
            uint64_t lanes;

            next = chk_line_end(e, end, at, false);
            lanes = line_lanes(e, at, next);
            if (lanes == UINT64_MAX) {
                free(e);
                return LW_FAIL(err, LW_ENOMEM, "the host has no memory for coverage");
            }
            lw_printf(out, "DA:%" PRIu32 ",%" PRIu64 "\n", e[at].line, lanes);
            total(&lines, lanes);
        }
        lw_printf(out, "LF:%u\nLH:%u\nend_of_record\n", lines.found, lines.hit);
    }
    free(e);
    return LW_OK;
}
