/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behaviour of each load in L1: how many lines its lanes access, which warp requested the lines that hit, and in
 * which iteration of the enclosing loop the warp accessed the line before. The mechanism throttles no warp. Its report
 * is a profile for mechanism daws. Source: specification of the warp scheduling thesis, sections 5.1, 5.6 and 10.
 *
 *   issues ---> when an instruction begins an iteration of a loop, the warp's iteration gets a new number
 *   access ---> compares the iteration of the access with the iteration of the warp's previous access to the line: the same,
 *               the preceding one, or another
 */
#include "timing/tables/tim_map_priv.h"
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_profile_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/** Bins of the executions of a load: by the number of active lanes (1 to 4, 5 to 8, ...), and by the number of accesses
 *  (1, 2, 3 to 4, 5 to 8, ...). */
enum { LANE_BINS = EMU_MAX_LANES / 4, ACCESS_BINS = 8 };
/** A load instruction. */
struct row {
    const struct tim_code *code;
    uint64_t pc;
    uint64_t count[TIM_LOAD_COUNT];
    uint64_t spread[LANE_BINS][ACCESS_BINS];
};
enum { PENDING = 64 };
/** State of a warp slot. */
struct walker {
    uint64_t age;         /* age of the warp, which identifies it */
    const struct tim_code *code;
    unsigned open;        /* 1 + index of the innermost open loop of the kernel, or 0 if there is none */
    uint64_t instruction; /* number of the last load that was counted in `reuses` */
    /* The latest loads that the warp issued in loops. They are stored because the warp may already be in a later iteration
     * when a load accesses L1. trip: iteration in which the load issued; last: the preceding iteration, as for trip_of() */
    struct pending {
        uint64_t instruction, trip, last;
    } pending[PENDING];
    unsigned next;        /* index in `pending` of the next element to write */
};
struct loads {
    struct tim_mech base;
    uint64_t trips;       /* number of iterations of all warps so far; the next iteration gets the next number */
    struct row *row;      /* [rows] */
    size_t rows, capacity;
    struct tim_map row_of; /* maps (pc, 0) to 1 + the index in `row` */
    /* maps (slot, pc of loop) to the number of the warp's current iteration of the loop, and (slot + TIM_MAX_WARPS, pc of
     * loop) to the number of the preceding iteration */
    struct tim_map trip;
    struct tim_map touched; /* maps (line, age of warp) to 1 + the number of the iteration in which the warp last accessed
                             * the line, or to 1 if that was outside loops */
    struct walker walker[TIM_MAX_WARPS];
};

static bool is_on(const struct tim_config *config)
{
    return config->loads_on;
}

static void destroy(struct tim_mech *mech)
{
    struct loads *l = (struct loads *)mech;

    tim_map_fini(&l->row_of);
    tim_map_fini(&l->trip);
    tim_map_fini(&l->touched);
    free(l->row);
    free(l);
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct loads *l = calloc(1, sizeof *l);

    (void)core;
    return l != NULL ? &l->base : NULL;
}

/* ---- iterations -------------------------------------------------------------------------------- */

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    ((struct loads *)mech)->walker[warp] = (struct walker){.age = age, .instruction = UINT64_MAX};
}

/** Returns the number of the warp's current iteration of the loop at @begin, and sets *last to the number of the preceding
 *  iteration, or to 0 if there is none. */
static uint64_t trip_of(struct loads *l, unsigned warp, uint64_t begin, uint64_t *last)
{
    bool is_new;
    const uint64_t *at = tim_map_at(&l->trip, warp, begin, &is_new);
    const uint64_t trip = at != NULL ? *at : 0;

    at = tim_map_at(&l->trip, warp + TIM_MAX_WARPS, begin, &is_new);
    *last = at != NULL ? *at : 0;
    return trip;
}

/** Gives a number to the iteration of the loop at @begin that begins now. If @enters is set, the warp enters the loop, so no
 *  iteration precedes this one. */
static void begin_trip(struct loads *l, unsigned warp, uint64_t begin, bool enters)
{
    bool is_new;
    uint64_t *at = tim_map_at(&l->trip, warp, begin, &is_new), last;

    if (at == NULL)
        return;
    last = enters ? 0 : *at;
    *at = ++l->trips;
    at = tim_map_at(&l->trip, warp + TIM_MAX_WARPS, begin, &is_new);
    if (at != NULL)
        *at = last;
}

/** Updates the open loops of the warp when an instruction issues. @loop: 1 + index of the innermost loop that contains the
 *  instruction, or 0 if there is none. */
static void follow(struct loads *l, const struct tim_mech_issue *issue, unsigned loop)
{
    struct walker *w = &l->walker[issue->warp];
    const struct tim_loop *found = loop != 0 ? &issue->code->loop[loop - 1] : NULL;

    if (w->code != issue->code) {
        w->code = issue->code;
        w->open = 0;
    }
    while (w->open != 0) { /* closes the loops of this function that do not contain the pc, because the warp has left them */
        const struct tim_loop *open = &issue->code->loop[w->open - 1];
        if (issue->pc < open->from || issue->pc >= open->to || (issue->pc >= open->begin && issue->pc <= open->end))
            break;
        w->open = open->parent;
    }
    if (found == NULL || found->begin != issue->pc)
        return;
    /* the loop is in a function that the open loop has called */
    if (w->open != 0 && issue->code->loop[w->open - 1].from != found->from) {
        begin_trip(l, issue->warp, found->begin, false);
        return;
    }
    begin_trip(l, issue->warp, found->begin, w->open != loop);
    w->open = loop;
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct loads *l = (struct loads *)mech;
    struct walker *w = &l->walker[issue->warp];
    const unsigned loop = tim_loop_at(issue->code, issue->pc);
    struct pending *p = &w->pending[w->next];

    follow(l, issue, loop);
    if (loop == 0 || !tim_is_data_load(issue->what))
        return;
    p->instruction = issue->instruction;
    p->trip = trip_of(l, issue->warp, issue->code->loop[loop - 1].begin, &p->last);
    w->next = (w->next + 1) % PENDING;
}

/** Returns the number of the iteration in which the load that makes the access issued. @last and the result are as for
 *  trip_of(). */
static uint64_t trip_of_access(struct loads *l, const struct tim_mech_access *a, uint64_t begin, uint64_t *last)
{
    const struct walker *w = &l->walker[a->warp];

    for (unsigned i = 1; i <= PENDING; i++) { /* latest first */
        const struct pending *p = &w->pending[(w->next + PENDING - i) % PENDING];

        if (p->instruction == a->instruction && p->trip != 0) {
            *last = p->last;
            return p->trip;
        }
        if (p->instruction < a->instruction)
            break;
    }
    return trip_of(l, a->warp, begin, last);
}

/* ---- accesses ---------------------------------------------------------------------------------- */

static struct row *row_at(struct loads *l, const struct tim_code *code, uint64_t pc)
{
    bool is_new;
    uint64_t *at = tim_map_at(&l->row_of, pc, 0, &is_new);

    if (at != NULL && *at == 0 && lw_grow(&l->row, &l->capacity, l->rows + 1, sizeof *l->row)) {
        l->row[l->rows] = (struct row){.code = code, .pc = pc};
        *at = ++l->rows;
    }
    return at == NULL || *at == 0 ? NULL : &l->row[*at - 1];
}

/** Classifies an access by the iteration in which its warp last accessed the line, and records this access. Returns
 *  TIM_LOAD_COUNT if the warp has not accessed the line before. */
static enum tim_load_counter class_of(struct loads *l, const struct tim_mech_access *a)
{
    const unsigned loop = tim_loop_at(a->code, a->pc);
    uint64_t last = 0, trip = 0, before;
    bool is_new;
    uint64_t *at = tim_map_at(&l->touched, a->line, l->walker[a->warp].age, &is_new);

    if (loop != 0)
        trip = trip_of_access(l, a, a->code->loop[loop - 1].begin, &last);
    if (at == NULL) {
        l->base.core->count[TIM_CORE_loads_dropped]++;
        return TIM_LOAD_COUNT;
    }
    before = *at - 1;
    *at = 1 + trip;
    if (is_new)
        return TIM_LOAD_COUNT;
    return trip != 0 && before == trip ? TIM_LOAD_this_trip
           : last != 0 && before == last ? TIM_LOAD_last_trip
                                         : TIM_LOAD_earlier;
}

/** Counts one execution of a load in the bin for its numbers of active lanes and accesses. */
static void count_spread(struct row *row, const struct tim_mech_access *a)
{
    const unsigned lanes = a->lanes != 0 ? (a->lanes - 1) / 4 : 0;
    unsigned accesses = 0;

    while (accesses + 1 < ACCESS_BINS && 1u << accesses < a->count)
        accesses++;
    row->spread[lanes][accesses]++;
}

static void access(struct tim_mech *mech, const struct tim_mech_access *a)
{
    struct loads *l = (struct loads *)mech;
    struct row *row = row_at(l, a->code, a->pc);
    const bool own = a->hit && a->owner == a->warp;
    const enum tim_load_counter class = class_of(l, a);
    uint64_t *count = mech->core->count;

    if (row == NULL) {
        count[TIM_CORE_loads_dropped]++;
        return;
    }
    if (a->index == 0) {
        row->count[TIM_LOAD_executions]++;
        row->count[TIM_LOAD_lanes] += a->lanes;
        row->count[TIM_LOAD_wide] += a->lanes > 2;
        row->count[TIM_LOAD_diverged] += a->lanes > 2 && a->count > 2;
        count_spread(row, a);
    }
    row->count[TIM_LOAD_accesses]++;
    row->count[own ? TIM_LOAD_hits_own : a->hit ? TIM_LOAD_hits_other : a->merge ? TIM_LOAD_merges : TIM_LOAD_misses]++;
    if (class != TIM_LOAD_COUNT)
        row->count[class]++;
    if (a->hit && tim_loop_at(a->code, a->pc) != 0)
        count[class == TIM_LOAD_this_trip   ? TIM_CORE_loop_hits_this
              : class == TIM_LOAD_last_trip ? TIM_CORE_loop_hits_last
                                            : TIM_CORE_loop_hits_other]++;
    if ((own || class == TIM_LOAD_this_trip || class == TIM_LOAD_last_trip) &&
        l->walker[a->warp].instruction != a->instruction) {
        l->walker[a->warp].instruction = a->instruction;
        row->count[TIM_LOAD_reuses]++;
    }
}

/* ---- reports ----------------------------------------------------------------------------------- */

static int by_pc(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

/** Sums the table rows of all cores by pc, and stores the sums to *out, sorted by pc. Returns the number of sums. The caller
 *  frees *out. */
static size_t merge(struct tim_mech *const *mech, unsigned cores, struct row **out)
{
    size_t count = 0, kept = 0, capacity = 0;
    struct row *all = NULL;

    for (unsigned c = 0; c < cores; c++) {
        const struct loads *l = (const struct loads *)mech[c];

        for (size_t i = 0; i < l->rows && lw_grow(&all, &capacity, count + 1, sizeof *all); i++)
            all[count++] = l->row[i];
    }
    if (count != 0)
        qsort(all, count, sizeof *all, by_pc);
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && all[kept - 1].pc == all[i].pc) {
            for (unsigned k = 0; k < TIM_LOAD_COUNT; k++)
                all[kept - 1].count[k] += all[i].count[k];
            for (unsigned k = 0; k < LANE_BINS * ACCESS_BINS; k++)
                all[kept - 1].spread[k / ACCESS_BINS][k % ACCESS_BINS] += all[i].spread[k / ACCESS_BINS][k % ACCESS_BINS];
        } else {
            all[kept++] = all[i];
        }
    }
    *out = all;
    return kept;
}

/** Returns the mean of @count values whose sum is @sum, or 0 if @count is 0. */
static double mean(uint64_t sum, uint64_t count)
{
    return count == 0 ? 0 : (double)sum / (double)count;
}

/** Returns @part / @whole in percent. */
static double share(uint64_t part, uint64_t whole)
{
    return 100 * mean(part, whole);
}

/** Returns the entry of the line table for the load, and sets *file to its file name. Returns NULL if there is none. */
static const struct isa_line *source_of(const struct row *row, const char **file)
{
    const struct isa_object *object = emu_program_object(row->code->program);
    const struct isa_line *at = isa_object_line_at(object, (uint32_t)((row->pc - row->code->base) / ISA_WORD_BYTES));

    *file = at != NULL ? object->files[at->file] : "";
    return at;
}

static void put_text(const struct row *row, size_t count, struct lw_sink *out)
{
    lw_put(out, "loads                                 executed  lanes  lines  L1 hits  own hits  this trip  last trip\n");
    for (size_t i = 0; i < count; i++) {
        const uint64_t *n = row[i].count;
        uint64_t offset;
        const char *function = tim_code_location(row[i].code, row[i].pc, &offset), *file;
        const struct isa_line *line = source_of(&row[i], &file);
        char where[64], words[ISA_SYMBOL_BYTES];

        if (line != NULL)
            snprintf(where, sizeof where, line->column != 0 ? "%s:%u:%u" : "%s:%u",
                     strrchr(file, '/') != NULL ? strrchr(file, '/') + 1 : file, line->line, line->column);
        else
            snprintf(where, sizeof where, "%s+0x%" PRIx64, isa_symbol_text(function, words), offset);
        lw_printf(out, "  %-32s %11" PRIu64 " %6.1f %6.2f %6.1f %% %7.1f %% %8.1f %% %8.1f %%\n", where, n[TIM_LOAD_executions],
                  mean(n[TIM_LOAD_lanes], n[TIM_LOAD_executions]), mean(n[TIM_LOAD_accesses], n[TIM_LOAD_executions]),
                  share(n[TIM_LOAD_hits_own] + n[TIM_LOAD_hits_other], n[TIM_LOAD_accesses]),
                  share(n[TIM_LOAD_hits_own], n[TIM_LOAD_accesses]), share(n[TIM_LOAD_this_trip], n[TIM_LOAD_accesses]),
                  share(n[TIM_LOAD_last_trip], n[TIM_LOAD_accesses]));
    }
}

/** Prints the bins that are not empty, each as [maximum number of lanes, maximum number of accesses, number of executions].
 *  The last bin of accesses also contains all larger numbers. */
static void put_spread(const struct row *row, struct lw_sink *out)
{
    bool any = false;

    lw_put(out, ", \"spread\": [");
    for (unsigned l = 0; l < LANE_BINS; l++)
        for (unsigned a = 0; a < ACCESS_BINS; a++)
            if (row->spread[l][a] != 0) {
                lw_printf(out, "%s[%u, %u, %" PRIu64 "]", any ? ", " : "", 4 * l + 4, 1u << a, row->spread[l][a]);
                any = true;
            }
    lw_put(out, "]");
}

static void put_json(const struct row *row, size_t count, struct lw_sink *out)
{
    static const char *const names[] = {
#define X(name, help) #name,
        TIM_LOAD_COUNTERS(X)
#undef X
    };

    lw_put(out, "\"loads\": [");
    for (size_t i = 0; i < count; i++) {
        const unsigned loop = tim_loop_at(row[i].code, row[i].pc);
        uint64_t offset, begin;
        const char *file;
        const struct isa_line *line = source_of(&row[i], &file);

        lw_printf(out, "%s\n    {\"function\": ", i != 0 ? "," : "");
        lw_put_json(out, tim_code_location(row[i].code, row[i].pc, &offset));
        lw_printf(out, ", \"offset\": %" PRIu64, offset);
        if (loop != 0) {
            (void)tim_code_location(row[i].code, row[i].code->loop[loop - 1].begin, &begin);
            lw_printf(out, ", \"loop\": %" PRIu64, begin);
        } else {
            lw_put(out, ", \"loop\": null");
        }
        if (line != NULL) {
            lw_put(out, ", \"file\": ");
            lw_put_json(out, file);
            lw_printf(out, ", \"line\": %u, \"column\": %u", line->line, line->column);
        }
        for (unsigned k = 0; k < TIM_LOAD_COUNT; k++)
            lw_printf(out, ", \"%s\": %" PRIu64, names[k], row[i].count[k]);
        put_spread(&row[i], out);
        lw_put(out, "}");
    }
    lw_put(out, "\n  ]");
}

static void report(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out)
{
    struct row *row;
    const size_t count = merge(mech, cores, &row);

    (json ? put_json : put_text)(row, count, out);
    free(row);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    report(&mech, 1, false, out);
}

const struct tim_mechanism tim_loads = {
    .name = "loads", .summary = "counts hits and misses of each load in L1, for reports and as a profile for daws; "
                                "does not delay warps",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .issues = issues, .access = access,
    .show = show, .report = report,
};
