/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the values shown in optimised code equal those at -O0. Each case is a kernel that is compiled twice:
 * with -O0 -g, where all variables are in memory (the reference), and optimised. Both builds run in small steps
 * (values_trace.h). The test checks each value that the debugger shows in the optimised build:
 *
 *   - If a thread visits a line equally often in both builds, the value at the n-th visit must be the value that the variable
 *     has at the n-th visit with -O0.
 *   - If the numbers of visits differ, or if the variable has no value yet with -O0, the value must be one that the variable
 *     has at any time with -O0, in the same thread and call.
 *   - All values that are shown together at a visit of a line must be those of one visit of this line with -O0.
 *
 *   prop_values                       random kernels (values_kernels.c)
 *   prop_values LAUNCH.yaml...        the kernels of these launch files, which tests/debug/prop_values.sh prepares
 *   prop_values --print               prints the kernel of LW_SEED
 *
 * Kernels are observed, except with LW_VALUES_MODE=free: an observed kernel stores all bits of each assigned value to memory, in
 * the value's own width and each time at another index, so that the compiler must compute the value. Conditions that need only
 * some bits, array indices and shift counts come from loads. A debugger must show no wrong value of an observed kernel. Wrong
 * values of free kernels are reported; the test fails if a run of one free kernel has a wrong value, or if a run of FREE_COUNT
 * or more free kernels has more than FREE_PERCENT percent of wrong values. Observed kernels do not contain the following, for
 * which clang is known to emit wrong locations: structures that are assigned as a whole, or passed and then changed; variables whose address
 * is taken; arrays with a computed index; counters that a `for` increments, or that count down. The variable `at`,
 * which is the index of the stores, is not compared.
 *
 * Kernels of LW_VALUES_MODE=memory are observed kernels with structures and arrays of these kinds, and with functions that
 * get the addresses of these variables. These kernels do not store all values, so the compiler leaves out stores to the
 * variables' memory. No value may be wrong.
 *
 * Kernels of LW_VALUES_MODE=idioms are observed kernels that also contain several assignments on one line, `for` loops, structures
 * that are assigned as a whole, and pointers, references and lambdas that assign to scalars.
 *
 * Kernels of LW_VALUES_MODE=macros are observed kernels that use macros and a header (values_macros.c).
 *
 * The following differences count as wrong only with LW_VALUES_STRICT=1:
 *
 *   - A thread executes code of a line that it does not reach with -O0, because the compiler made the code unconditional.
 *   - The compiler moved code of a line after code of a line that follows it with -O0, so the value may be that of the later
 *     line.
 *   - At the first instruction of a line, the variable already has the value that the line assigns.
 *   - Code of a line is before code of lines that -O0 reaches first, so the value may be that of another visit of the line.
 *   - Code of a line is moved, or executed more often than with -O0. The values that are shown together may then be those of a
 *     visit of the line before.
 *   - Between visits, the value is that of a side of a branch that the thread does not take, but whose code it executes.
 *
 * clang gives each scope a single address range. Code of a call outside of this range counts as code of the caller. If a
 * thread visits a line of such code, the test accepts all values that the variable ever has with -O0, as it does for different
 * numbers of visits.
 *
 * LW_SEED repeats a kernel. LW_RANDOM_COUNT sets the number of kernels. LW_VALUES_CLANG and LW_VALUES_LEVEL select
 * one compiler and one option. LW_VALUES_CORRUPT=N exchanges the locations of two variables; the test must then fail.
 * LW_VALUES_ALL=1 continues after a mismatch or other results. With LW_VALUES_CONSTANT=1, kernels do not assign to their
 * parameters.
 */
#include "tests/debug/values_kernels.h"
#include "tests/debug/values_trace.h"

#include <sys/stat.h>
#include <unistd.h>

enum { USUAL = 8, MOST_VISITS = 200, MOST_PRINTED = 6, CORRUPTED = 4, MOST_EXCHANGES = 8, FREE_COUNT = 100 };
#define FREE_PERCENT 0.5 /* documented campaigns have at most 0.13 % (docs/evidence/values.md) */
/* Lanes whose values are recorded for launch files, if only a part of all tests is to run (LW_RANDOM_DIVISOR). */
#define SOME_LANES UINT64_C(0x8000000080010023)

struct counts {
    uint64_t kernels, requested, shown, by_visit, by_set, between, unset, unwritten, skipped, unknown, unreadable, elsewhere, moved, early, own, arms, never, another_time, mixed, wrong_kernels, other_results;
};

struct test {
    char folder[64];
    const char *clang[2];
    unsigned clangs;
    bool keep_going;       /* LW_VALUES_ALL is set */
    bool macros; /* random kernels use macros and a header */
    const char *mode; /* LW_VALUES_MODE, or "observed" */
    bool strict, free; /* true: random kernels are not observed, and the test only reports wrong values */
    enum values_kind kind; /* kind of the random kernels */
    bool has_values;       /* this version supports `values: kept` in launch files */
    struct counts counts;
};

static const char OTHER_RESULTS[] = "the results differ: the kernel has undefined behaviour, or a translation is wrong";

/** One comparison. */
struct pair {
    const char *what;     /* a message for users: how to repeat the case */
    const char *source;   /* the file to print, or NULL */
    struct values_names names;
    struct values_trace reference;
    const char *index;    /* prefix of the names of variables that are not compared, or NULL */
    bool quiet, keeps; /* keeps: the optimised build has `values: kept` */
    uint64_t never, another_time; /* number of wrong values that the variable never has, or has at another time */
    uint64_t mixed;               /* number of visits that show values of several visits (compare_together()) */
    struct values_table moved;    /* visits of lines that the optimised build has moved (find_moved()) */
    /* by thread and line: whether the optimised build has code of the line before code of earlier lines */
    struct values_table early;
    /* by thread and line: whether the optimised build visits the line in a scope in which -O0 does not visit it */
    struct values_table astray;
    struct values_table previous;  /* by visit of the optimised build: 1 + the index of the thread's visit before this visit, or
                                    * 0 */
    struct values_table printed;   /* by variable and line: number of wrong values that have been found */
    unsigned lines;                /* number of wrong values that have been printed */
};

static void die(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    exit(1);
}

static const char *split_name(const char *text, char separator)
{
    const char *found = strrchr(text, separator);

    return found != NULL ? found + 1 : text;
}

static void print_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[2048];

    for (unsigned n = 1; file != NULL && fgets(line, sizeof line, file) != NULL; n++)
        printf("%4u  %s", n, line);
    if (file != NULL)
        fclose(file);
}

static void print_values(const char *label, const struct values_trace *reference, const struct values_shown *s)
{
    const uint64_t *count =
        values_table_find(&reference->visits, values_visits_key(s->thread, s->visit));

    printf("    %s:", label);
    for (uint32_t n = 1; count != NULL && n <= *count && n <= 12; n++) {
        const uint64_t *value = values_table_find(&reference->at, values_at_key(s->thread, s->visit, n, s->variable));

        if (value != NULL)
            printf(" 0x%" PRIx64, *value);
        else
            printf(" -");
    }
    printf("\n");
}

/** Prints how to repeat the case, and its source. */
static void print_case(const struct pair *p)
{
    printf("%s%s\n", p->what, p->keeps ? " (values: kept)" : "");
    if (p->source != NULL)
        print_file(p->source);
}

static void report(struct pair *p, const struct values_trace *other, const struct values_shown *s, bool had)
{
    const struct values_trace *reference = &p->reference;
    const char *visit = p->names.text[s->visit], *variable = p->names.text[s->variable];
    const uint64_t *there = values_table_find(&other->visits, values_visits_key(s->thread, s->visit));

    if (p->never + p->another_time + p->mixed == 0 && !p->quiet)
        print_case(p);
    *(had ? &p->another_time : &p->never) += 1;
    if (p->quiet || p->lines == MOST_PRINTED ||
        (*values_table_at(&p->printed, values_mix(s->variable, s->visit)))++ != 0)
        return; /* the test has printed a wrong value of this variable on this line, perhaps of another thread or visit */
    p->lines++;
    printf("  WRONG: %s: %s, variable %s (declared in line %.*s), thread warp %" PRIu64 " lane %" PRIu64
           ", visit %u of %" PRIu64 "%s, instruction %u\n    in %s%s: 0x%" PRIx64 " is shown\n",
           had ? "the value of another time" : "a value that it never has", visit, split_name(variable, '|'),
           (int)strspn(split_name(variable, '#'), "0123456789"), split_name(variable, '#'),
           s->thread / EMU_MAX_LANES, s->thread % EMU_MAX_LANES, s->nth, there != NULL ? *there : 0,
           s->nth == 0 ? " (between visits)" : "", s->insn, variable, s->outer ? " (outer frame)" : "", s->value);
    print_values("-O0 has at the visits of this line", reference, s);
}

/** Returns whether with -O0 the variable has no value yet at one of the thread's visits of the line. */
static bool is_unset(const struct values_trace *reference, const struct values_shown *s)
{
    const uint64_t *count = values_table_find(&reference->visits, values_visits_key(s->thread, s->visit));

    for (uint32_t n = 1; count != NULL && n <= *count; n++)
        if (values_table_find(&reference->at, values_at_key(s->thread, s->visit, n, s->variable)) == NULL)
            return true;
    return false;
}

/** Returns whether @s shows the value that the line itself assigns to the variable at visit @nth. If the compiler generates no
 *  code for the assignment, the variable has its new value at the start of the line. The exit test of a `for` follows the
 *  assignment to the counter on the same line. */
static bool is_own(const struct pair *p, const struct values_shown *s, uint32_t nth)
{
    const uint64_t *value = values_table_find(&p->reference.assigned, values_at_key(s->thread, s->visit, nth, s->variable));

    return value != NULL && *value == s->value;
}

/**
 * Marks each visit that -O0 makes before some other visit, and the optimised build after that other visit. The compiler has
 * moved code of the two lines, so the shown values may be those of the line that -O0 reaches later.
 */
static void find_moved(struct pair *p, const struct values_trace *other)
{
    struct values_table latest = {.count = 0};

    values_table_free(&p->moved);
    p->moved = (struct values_table){.count = 0};
    for (size_t i = 0; i < other->order_count; i++) {
        const struct values_visit *v = &other->order[i];
        const uint64_t *when = values_table_find(&p->reference.when, values_when_key(v->thread, v->visit, v->nth));
        uint64_t *last = values_table_at(&latest, v->thread);

        if (when != NULL && *when < *last)
            *values_table_at(&p->moved, values_when_key(v->thread, v->visit, v->nth)) = 1;
        else if (when != NULL)
            *last = *when;
    }
    values_table_free(&latest);
}

static uint64_t line_key(const struct pair *p, uint64_t thread, uint32_t visit)
{
    return values_mix(thread, strtoull(split_name(p->names.text[visit], '@'), NULL, 10));
}

/** Marks each line that the optimised build visits before another line, although -O0 visits the other line first. The
 *  compiler has moved code of the marked line up, so the n-th visit of this line need not correspond to its n-th visit with
 *  -O0. */
static void find_early(struct pair *p, const struct values_trace *other)
{
    struct values_table first = {.count = 0};

    values_table_free(&p->early);
    p->early = (struct values_table){.count = 0};
    for (size_t i = other->order_count; i-- != 0;) {
        const struct values_visit *v = &other->order[i];
        const uint64_t *when = values_table_find(&p->reference.when, values_when_key(v->thread, v->visit, v->nth));
        uint64_t *after = values_table_at(&first, v->thread); /* 1 + the earliest -O0 time of the following visits, or 0 */

        if (when != NULL && *after != 0 && *when + 1 > *after)
            *values_table_at(&p->early, line_key(p, v->thread, v->visit)) = 1;
        else if (when != NULL)
            *after = *when + 1;
    }
    values_table_free(&first);
}

/** Returns true if with -O0 the variable has the shown value at any visit of the line. */
static bool has_at_a_visit(const struct values_trace *reference, const struct values_shown *s)
{
    const uint64_t *count = values_table_find(&reference->visits, values_visits_key(s->thread, s->visit));

    for (uint32_t n = 1; count != NULL && n <= *count; n++) {
        const uint64_t *value = values_table_find(&reference->at, values_at_key(s->thread, s->visit, n, s->variable));

        if (value != NULL && *value == s->value)
            return true;
    }
    return false;
}

/** Marks the lines that a thread visits in a scope in which -O0 does not visit these lines. In the correct scope, the
 *  optimised build then has fewer visits of the line than -O0. */
static void find_astray(struct pair *p, const struct values_trace *other)
{
    values_table_free(&p->astray);
    p->astray = (struct values_table){.count = 0};
    for (size_t i = 0; i < other->order_count; i++) {
        const struct values_visit *v = &other->order[i];

        if (values_table_find(&p->reference.visits, values_visits_key(v->thread, v->visit)) == NULL)
            *values_table_at(&p->astray, line_key(p, v->thread, v->visit)) = 1;
    }
}

/** Returns whether a shown value is compared with the reference. */
static bool is_compared(const struct pair *p, const struct values_shown *s)
{
    return !p->names.pointer[s->variable] &&
           (p->index == NULL || strncmp(split_name(p->names.text[s->variable], '|'), p->index, strlen(p->index)) != 0) &&
           values_table_find(&p->reference.known, values_known_key(s->variable)) != NULL;
}

/** Returns whether visit @nth of line @visit with -O0 has all @count values that are shown together at one visit. */
static bool has_all(struct pair *p, const struct values_shown *shown, size_t count, uint32_t visit, uint32_t nth)
{
    for (size_t i = 0; i < count; i++) {
        struct values_shown s = shown[i];
        const uint64_t *value = values_table_find(&p->reference.at, values_at_key(s.thread, visit, nth, s.variable));

        s.visit = visit;
        if (is_compared(p, &s) && value != NULL && *value != s.value && !is_own(p, &s, nth))
            return false;
    }
    return true;
}

static void find_previous(struct pair *p, const struct values_trace *other)
{
    struct values_table last = {.count = 0};

    values_table_free(&p->previous);
    p->previous = (struct values_table){.count = 0};
    for (size_t i = 0; i < other->order_count; i++) {
        const struct values_visit *v = &other->order[i];
        uint64_t *before = values_table_at(&last, v->thread);

        *values_table_at(&p->previous, values_when_key(v->thread, v->visit, v->nth)) = *before;
        *before = i + 1;
    }
    values_table_free(&last);
}

/** Returns whether the optimised build visits a line more often than -O0, or whether the compiler has moved code of the line. */
static bool is_displaced(const struct pair *p, const struct values_trace *other, uint64_t thread, uint32_t visit, uint32_t nth)
{
    const uint64_t key = values_visits_key(thread, visit);
    const uint64_t *here = values_table_find(&p->reference.visits, key), *there = values_table_find(&other->visits, key);

    return (here != NULL && there != NULL && *there > *here) || values_table_find(&p->early, line_key(p, thread, visit)) != NULL ||
           values_table_find(&p->moved, values_when_key(thread, visit, nth)) != NULL;
}

/** Considers the line that the thread visits directly before the line of @shown. Returns whether a visit of that line with -O0
 *  has all @count values that are shown together. The debugger shows these values if the compiler has moved code of the line of
 *  @shown, or executes it more often than -O0, in lanes that do not reach the line. If the line before is such a line, too, the
 *  function also checks the line before that one. */
static bool has_before(struct pair *p, const struct values_trace *other, const struct values_shown *shown, size_t count)
{
    uint32_t visit = shown->visit, nth = shown->nth;

    while (is_displaced(p, other, shown->thread, visit, nth)) {
        const uint64_t *before = values_table_find(&p->previous, values_when_key(shown->thread, visit, nth));
        const uint64_t *here;

        if (before == NULL || *before == 0)
            return false;
        visit = other->order[*before - 1].visit;
        nth = other->order[*before - 1].nth;
        here = values_table_find(&p->reference.visits, values_visits_key(shown->thread, visit));
        for (uint32_t n = 1; here != NULL && n <= *here && n <= MOST_VISITS; n++)
            if (has_all(p, shown, count, visit, n))
                return true;
    }
    return false;
}

/** Counts the visits of lines whose values, shown together, are those of no single visit with -O0. */
static void compare_together(const struct test *test, struct pair *p, const struct values_trace *other)
{

    for (size_t i = 0, end; i < other->count; i = end) {
        const struct values_shown *s = &other->shown[i];
        const uint64_t *here = values_table_find(&p->reference.visits, values_visits_key(s->thread, s->visit));
        bool found = s->nth == 0 || here == NULL || *here > MOST_VISITS;

        for (end = i + 1; end < other->count && other->shown[end].thread == s->thread && other->shown[end].visit == s->visit &&
                          other->shown[end].nth == s->nth && other->shown[end].insn == s->insn; end++)
            ;
        for (uint32_t n = 1; !found && n <= *here; n++)
            found = has_all(p, s, end - i, s->visit, n);
        found = found || (!test->strict && has_before(p, other, s, end - i));
        if (found)
            continue;
        if (p->never + p->another_time + p->mixed == 0 && !p->quiet)
            print_case(p);
        if (p->mixed++ != 0 || p->quiet)
            continue;
        printf("  WRONG: values of several visits: %s, thread warp %" PRIu64 " lane %" PRIu64 ", visit %u, instruction %u\n", p->names.text[s->visit],
               s->thread / EMU_MAX_LANES, s->thread % EMU_MAX_LANES, s->nth, s->insn);
        for (size_t k = i; k < end; k++)
            if (is_compared(p, &other->shown[k])) {
                printf("    in %s%s: 0x%" PRIx64 " is shown\n", p->names.text[other->shown[k].variable],
                       other->shown[k].outer ? " (outer frame)" : "", other->shown[k].value);
                print_values("-O0 has at the visits of this line", &p->reference, &other->shown[k]);
            }
    }
}

static void compare(struct test *test, struct pair *p, const struct values_trace *other)
{
    const struct values_trace *reference = &p->reference;
    struct counts *c = &test->counts;

    find_moved(p, other);
    find_early(p, other);
    find_astray(p, other);
    find_previous(p, other);
    compare_together(test, p, other);
    c->requested += other->requested;
    c->shown += other->count;
    c->unreadable += other->unreadable;
    for (size_t i = 0; i < other->count; i++) {
        const struct values_shown *s = &other->shown[i];
        const uint64_t *here = values_table_find(&reference->visits, values_visits_key(s->thread, s->visit));
        const uint64_t *there = values_table_find(&other->visits, values_visits_key(s->thread, s->visit));
        const uint64_t *value = NULL;
        bool had = values_table_find(&reference->had, values_had_key(s->thread, s->variable, s->value)) != NULL;

        if (p->names.pointer[s->variable] ||
            (p->index != NULL && strncmp(split_name(p->names.text[s->variable], '|'), p->index, strlen(p->index)) == 0)) {
            c->skipped++;
            continue;
        }
        if (values_table_find(&reference->known, values_known_key(s->variable)) == NULL) {
            if (c->unknown++ < 5 && getenv("LW_VALUES_UNKNOWN") != NULL)
                printf("unknown: %s at %s\n", p->names.text[s->variable], p->names.text[s->visit]);
            continue;
        }
        if (s->nth != 0 && here != NULL && there != NULL && *here == *there &&
            values_table_find(&p->astray, line_key(p, s->thread, s->visit)) == NULL) {
            value = values_table_find(&reference->at, values_at_key(s->thread, s->visit, s->nth, s->variable));
            if (value != NULL) {
                c->by_visit++;
                if (*value != s->value && had && !test->strict &&
                    values_table_find(&p->moved, values_when_key(s->thread, s->visit, s->nth)) != NULL)
                    c->moved++;
                else if (*value != s->value && !test->strict && values_table_find(&p->early, line_key(p, s->thread, s->visit)) != NULL &&
                         (has_at_a_visit(reference, s) || has_before(p, other, s, 1)))
                    c->early++;
                else if (*value != s->value && !test->strict && is_own(p, s, s->nth))
                    c->own++;
                else if (*value != s->value)
                    report(p, other, s, had);
                continue;
            }
            c->unset++;
        }
        c->by_set++;
        c->between += s->nth == 0;
        if (!had && here == NULL && !test->strict)
            c->elsewhere++;
        else if (!had && s->nth == 0 && !test->strict)
            c->arms++;
        else if (!had && s->memory && is_unset(reference, s))
            c->unwritten++;
        else if (!had)
            report(p, other, s, false);
    }
}

static bool same_results(const struct values_trace *a, const struct values_trace *b)
{
    return a->results == NULL || b->results == NULL ||
           (a->result_bytes == b->result_bytes && memcmp(a->results, b->results, a->result_bytes) == 0);
}

/** Runs the reference of a launch file. */
static void begin(struct pair *p, const struct values_options *options)
{
    struct values_options reference = *options;
    struct lw_error err;

    values_names_init(&p->names);
    reference.reference = true;
    reference.flag_count = 0;
    reference.corrupt = 0;
    if (values_trace_make(&reference, &p->names, &p->reference, &err) != LW_OK) {
        if (p->source != NULL)
            print_file(p->source);
        die(p->what, err.text);
    }
}

/** Runs the optimised build and compares it with the reference. Returns the number of locations that were corrupted. */
static unsigned check(struct test *test, struct pair *p, const struct values_options *options)
{
    struct values_trace other;
    struct lw_error err;
    unsigned corrupted;

    if (values_trace_make(options, &p->names, &other, &err) != LW_OK) {
        if (p->source != NULL)
            print_file(p->source);
        die(p->what, err.text);
    }
    if (!same_results(&p->reference, &other)) {
        if (p->source != NULL)
            print_file(p->source);
        if (!test->keep_going)
            die(p->what, OTHER_RESULTS);
        printf("%s: %s\n", p->what, OTHER_RESULTS);
        test->counts.other_results++;
        values_trace_free(&other);
        return 0;
    }
    if (p->reference.complete && other.complete)
        compare(test, p, &other);
    else
        printf("%s: not all blocks ran to their ends, nothing is compared\n", p->what);
    corrupted = other.corrupted;
    values_trace_free(&other);
    return corrupted;
}

static void end(struct pair *p)
{
    values_table_free(&p->printed);
    values_table_free(&p->moved);
    values_table_free(&p->astray);
    values_table_free(&p->early);
    values_table_free(&p->previous);
    values_trace_free(&p->reference);
    values_names_fini(&p->names);
}

/** Adds the results of a comparison to the test's counts, and frees the comparison. Returns the number of wrong values. */
static uint64_t conclude(struct test *test, struct pair *p)
{
    uint64_t wrong = p->never + p->another_time + p->mixed;

    test->counts.kernels++;
    test->counts.never += p->never;
    test->counts.another_time += p->another_time;
    test->counts.mixed += p->mixed;
    test->counts.wrong_kernels += wrong != 0;
    end(p);
    return wrong;
}

/* ---- random kernels -------------------------------------------------------------------------- */

struct kernel {
    uint64_t seed;
    bool cuda;
    const char *level, *clang;
    unsigned stores;
    char source[96], launch[96], keeping[96], what[256];
};

/** Writes the launch file. @keys: further keys of `program` after a comma, or "". @stores: the result of
 *  values_kernel_print(). */
static void print_launch(uint64_t seed, const char *source, const char *keys, unsigned stores, struct lw_sink *out)
{
    struct prop_random r = {seed};

    lw_printf(out, "program: {source: %s%s}\nbuffers:\n", source, keys);
    lw_printf(out, "  out: {type: %s, count: %u}\n", stores != 0 ? "u64" : "u32", VALUES_ALL_THREADS * (stores != 0 ? stores : 4));
    lw_put(out, "  in: {type: u32, count: 64, init: {values: [");
    for (unsigned i = 0; i < 64; i++)
        lw_printf(out, "%s%" PRIu32, i ? ", " : "",
                  (uint32_t)(prop_below(&r, 2) ? prop_below(&r, 64) : prop_next(&r)));
    lw_printf(out, "]}}\nsteps:\n  - launch: {entry: k, grid: [%u], block: [%u], args: [out, in, %u, %" PRIu64
              ", 2.5, %u]}\n", VALUES_BLOCKS, VALUES_THREADS, 1 + prop_below(&r, 50), prop_next(&r) >> 4,
              prop_below(&r, 200));
}

static void write_text(const char *path, const struct lw_buffer *buffer)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fwrite(buffer->text, 1, buffer->size, file) != buffer->size || fclose(file) != 0)
        die(path, "cannot be written");
}

static void make_kernel(const struct test *test, uint64_t seed, struct kernel *k)
{
    static const char *const levels[] = {"-O3", "-O3", "-O3", "-O2", "-O1", "-Os"};
    const char *level = getenv("LW_VALUES_LEVEL"), *clang = getenv("LW_VALUES_CLANG");
    struct prop_random r = {seed * 77 + 5};
    struct lw_buffer text;
    char name[16];

    *k = (struct kernel){.seed = seed, .cuda = prop_below(&r, 4) == 0};
    k->level = levels[prop_below(&r, LW_COUNT_OF(levels))];
    k->clang = test->clangs != 0 ? test->clang[prop_below(&r, test->clangs)] : NULL;
    k->level = level != NULL ? level : k->level;
    k->clang = clang != NULL ? clang : k->clang;
    snprintf(name, sizeof name, "k.%s", k->cuda ? "cu" : "cl");
    snprintf(k->source, sizeof k->source, "%s/%s", test->folder, name);
    snprintf(k->launch, sizeof k->launch, "%s/k.yaml", test->folder);
    snprintf(k->keeping, sizeof k->keeping, "%s/kept.yaml", test->folder);
    snprintf(k->what, sizeof k->what, "LW_VALUES_MODE=%s LW_SEED=%" PRIu64 ": %s %s", test->mode, seed,
             k->clang != NULL ? k->clang : "clang", k->level);
    lw_buffer_init(&text);
    k->stores = values_kernel_print(&r, k->cuda, test->kind, &text.sink);
    if (test->macros) {
        struct lw_buffer source, header;
        char path[sizeof k->source];

        lw_buffer_init(&source);
        lw_buffer_init(&header);
        values_macros(&r, text.text, "k.h", &source.sink, &header.sink);
        snprintf(path, sizeof path, "%s/k.h", test->folder);
        write_text(path, &header);
        write_text(k->source, &source);
        lw_buffer_fini(&source);
        lw_buffer_fini(&header);
    } else {
        write_text(k->source, &text);
    }
    text.size = 0;
    print_launch(seed, name, "", k->stores, &text.sink);
    write_text(k->launch, &text);
    text.size = 0;
    print_launch(seed, name, ", values: kept", k->stores, &text.sink);
    write_text(k->keeping, &text);
    lw_buffer_fini(&text);
}

/** Compiles the optimised kernel to PTX with comments about values. Returns NULL if clang itself crashes; the kernel is then
 *  ignored. */
static char *compile_kernel(const struct kernel *k, size_t *size)
{
    struct lw_error err;
    char *ptx = NULL;

    if (ptx_compile(k->source, &k->level, 1, k->clang, &ptx, size, NULL, &err) == LW_OK)
        return ptx;
    if (strstr(err.text, " crashed (") == NULL)
        die(k->what, err.text);
    printf("%s: the compiler crashed: %s\n", k->what, err.text);
    return NULL;
}

/** Writes the PTX to a file, which both launch files of the kernel then use instead of the source. */
static void use_ptx(const struct test *test, const struct kernel *k, char *ptx, size_t size)
{
    struct lw_buffer text;
    char path[96];
    FILE *file;

    snprintf(path, sizeof path, "%s/k.ptx", test->folder);
    file = fopen(path, "w");
    if (file == NULL || fwrite(ptx, 1, size, file) != size || fclose(file) != 0)
        die(path, "cannot be written");
    free(ptx);
    lw_buffer_init(&text);
    print_launch(k->seed, "k.ptx", "", k->stores, &text.sink);
    write_text(k->launch, &text);
    text.size = 0;
    print_launch(k->seed, "k.ptx", ", values: kept", k->stores, &text.sink);
    write_text(k->keeping, &text);
    lw_buffer_fini(&text);
}

static struct values_options options_of(const struct kernel *k)
{
    return (struct values_options){.launch = k->launch, .compiler = k->clang, .flags = {k->level}, .flag_count = 1,
                                   .steps = true, .blocks = VALUES_BLOCKS, .lanes = UINT64_MAX, .most = 4000000, .seed = k->seed};
}

static uint64_t random_kernel(struct test *test, uint64_t seed)
{
    const char *corrupt = getenv("LW_VALUES_CORRUPT");
    struct kernel k;
    struct values_options options;
    struct pair p = {.quiet = test->free && getenv("LW_VALUES_ALL") == NULL};
    char *ptx;
    size_t size = 0;

    make_kernel(test, seed, &k);
    p.what = k.what;
    p.source = k.source;
    p.index = test->free ? NULL : "at#";
    options = options_of(&k);
    ptx = compile_kernel(&k, &size);
    if (ptx == NULL)
        return 0;
    begin(&p, &options);
    use_ptx(test, &k, ptx, size);
    options.flag_count = 0;
    options.corrupt = corrupt != NULL ? strtoull(corrupt, NULL, 0) : 0;
    (void)check(test, &p, &options);
    if (test->has_values) {
        options.launch = k.keeping;
        p.keeps = true;
        (void)check(test, &p, &options);
    }
    return conclude(test, &p);
}

/** Tests the test: if the locations of two variables are exchanged, it must find wrong values. The two locations may have equal
 *  values, or belong to lines that are not reached. So the test runs a kernel up to MOST_EXCHANGES times, each time with
 *  another pair of locations exchanged, until it finds wrong values. */
static void corrupted_kernels(const struct test *whole, uint64_t seed)
{
    struct test test = *whole;
    unsigned corrupted = 0, found = 0;

    for (unsigned i = 0; i < CORRUPTED; i++) {
        struct kernel k;
        struct values_options options;
        struct pair p = {.quiet = true};
        bool changed = false;
        size_t size = 0;
        char *ptx;

        make_kernel(&test, seed + i, &k);
        p.what = k.what;
        p.index = test.free ? NULL : "at#";
        options = options_of(&k);
        ptx = compile_kernel(&k, &size);
        if (ptx == NULL)
            continue;
        begin(&p, &options);
        use_ptx(&test, &k, ptx, size);
        options.flag_count = 0;
        options.launch = test.has_values ? k.keeping : k.launch;
        for (unsigned k = 0; k < MOST_EXCHANGES && p.never + p.another_time + p.mixed == 0; k++) {
            options.corrupt = (seed + i + 1) * MOST_EXCHANGES + k; /* 0 would exchange nothing */
            changed |= check(&test, &p, &options) != 0;
        }
        corrupted += changed;
        found += p.never + p.another_time + p.mixed != 0;
        end(&p);
    }
    printf("%u kernels with exchanged locations of two variables: wrong values in %u\n", corrupted, found);
    if (corrupted < CORRUPTED / 2 || found < CORRUPTED / 2)
        die("corrupted kernels", "the test finds no wrong values");
}

/* ---- launch files ------------------------------------------------------------------------------ */

/** Creates a copy of the launch file in the same folder, with the key `values: kept`. Returns false if the file has no line that
 *  begins with "program: {". */
static bool write_keeping_copy(const char *path, char *keeping, size_t size)
{
    static const char begin[] = "program: {";
    struct lw_buffer text;
    FILE *file = fopen(path, "r");
    char line[4096];
    bool found = false;

    snprintf(keeping, size, "%s.kept", path);
    lw_buffer_init(&text);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        bool here = strncmp(line, begin, sizeof begin - 1) == 0;

        found = found || here;
        lw_printf(&text.sink, "%s%s", here ? "program: {values: kept, " : "", here ? line + sizeof begin - 1 : line);
    }
    if (file != NULL)
        fclose(file);
    if (found)
        write_text(keeping, &text);
    lw_buffer_fini(&text);
    return found;
}

/** Compares the builds of a launch file. @number: number of the file. In a short run, each third file is compared without kept
 *  values, and another third with kept values. */
static uint64_t launch_file(struct test *test, const char *path, int number)
{
    char what[1200], keeping[1200];
    struct pair p = {.what = what};
    bool all = getenv("LW_RANDOM_DIVISOR") == NULL;
    const char *level = getenv("LW_VALUES_LEVEL"), *clang = getenv("LW_VALUES_CLANG");
    struct values_options options = {.launch = path, .flag_count = 0, .steps = true, .blocks = 1,
                                     .lanes = all ? UINT64_MAX : SOME_LANES, .most = 300000, .seed = 1};

    snprintf(what, sizeof what, "%s%s%s%s%s", path, clang != NULL ? " " : "", clang != NULL ? clang : "", level != NULL ? " " : "",
             level != NULL ? level : "");
    begin(&p, &options);
    options.compiler = clang;
    options.flags[0] = level;
    options.flag_count = level != NULL;
    if (all || number % 3 == 0)
        (void)check(test, &p, &options);
    if (test->has_values && (all || number % 3 == 1) && write_keeping_copy(path, keeping, sizeof keeping)) {
        options.launch = keeping;
        p.keeps = true;
        (void)check(test, &p, &options);
        unlink(keeping);
    }
    return conclude(test, &p);
}

/* ---- all ------------------------------------------------------------------------------------------ */

static bool installed(const char *name)
{
    char command[128];

    snprintf(command, sizeof command, "command -v %s >/dev/null", name);
    return system(command) == 0;
}

static void print_counts(const char *what, const struct counts *c)
{
    printf("%s: %" PRIu64 " kernels; %" PRIu64 " values requested, %" PRIu64 " shown, %" PRIu64 " compared by visit, %" PRIu64
           " by set (%" PRIu64 " between visits, %" PRIu64 " unset at -O0, %" PRIu64
           " of these in uninitialised memory), %" PRIu64 " pointers skipped, %" PRIu64
           " of variables that -O0 does not have, %" PRIu64 " unreadable; %" PRIu64
           " others on lines that the thread never visits at -O0, %" PRIu64 " of another time on moved lines, %" PRIu64 " of another visit of these lines, %" PRIu64 " that the line itself assigns, %" PRIu64 " of a branch side that other threads take; wrong, in %" PRIu64 " kernels: %" PRIu64
           " that the variable never has, %" PRIu64 " of another time, %" PRIu64 " visits with values of several visits; %" PRIu64 " with other results\n",
           what, c->kernels, c->requested, c->shown, c->by_visit, c->by_set, c->between, c->unset, c->unwritten, c->skipped, c->unknown,
           c->unreadable, c->elsewhere, c->moved, c->early, c->own, c->arms, c->wrong_kernels, c->never, c->another_time, c->mixed, c->other_results);
}

/** Returns whether this version of Lanewise supports `values: kept`. */
static bool understands_values(struct test *test)
{
    struct kernel k;
    struct emu_config config;
    struct lnc_file *file = NULL;
    bool knows;

    make_kernel(test, 1, &k);
    emu_config_default(&config);
    knows = lnc_file_load(k.keeping, &config, &file, NULL) == LW_OK;
    lnc_file_destroy(file);
    return knows;
}

int main(int argc, char **argv)
{
    static const char *const clangs[] = {"clang-19", "clang-14"};
    static const struct {
        const char *name;
        enum values_kind kind;
    } modes[] = {{"observed", VALUES_OBSERVED}, {"free", VALUES_FREE}, {"memory", VALUES_MEMORY}, {"idioms", VALUES_IDIOMS}, {"macros", VALUES_OBSERVED}};
    struct test test = {.folder = "/tmp/lw_values_XXXXXX"};
    const char *first = getenv("LW_VALUES_FIRST"), *mode = getenv("LW_VALUES_MODE");
    uint64_t seed = first != NULL ? strtoull(first, NULL, 0) : prop_seed(), wrong = 0;
    const int line_by_line = setvbuf(stdout, NULL, _IOLBF, 0); /* before prop_count() prints */
    unsigned long count = prop_count(USUAL, seed);
    bool print = argc == 2 && strcmp(argv[1], "--print") == 0;
    bool random_seeds = getenv("LW_SEED") != NULL && strcmp(getenv("LW_SEED"), "random") == 0;
    char command[128];

    if (line_by_line != 0 || mkdtemp(test.folder) == NULL)
        die(test.folder, "cannot be made");
    for (unsigned i = 0; i < LW_COUNT_OF(clangs); i++)
        if (installed(clangs[i]))
            test.clang[test.clangs++] = clangs[i];
    test.has_values = understands_values(&test);
    test.keep_going = getenv("LW_VALUES_ALL") != NULL;
    test.strict = getenv("LW_VALUES_STRICT") != NULL;
    for (unsigned i = 0; i < LW_COUNT_OF(modes) && test.mode == NULL; i++)
        if (strcmp(mode != NULL ? mode : "observed", modes[i].name) == 0) {
            test.mode = modes[i].name;
            test.kind = modes[i].kind;
        }
    if (test.mode == NULL)
        die(mode, "LW_VALUES_MODE must be observed, free, memory, idioms or macros");
    test.free = test.kind == VALUES_FREE;
    test.macros = strcmp(test.mode, "macros") == 0;
    if (print) {
        struct kernel k;

        make_kernel(&test, seed, &k);
        print_file(k.source);
        print_file(k.launch);
        printf("%s\n", k.what);
    } else if (test.clangs == 0 && !installed("clang")) {
        printf("no clang is installed\n");
        return 77;
    } else {
        for (unsigned long i = 0; i < count && argc == 1 && (wrong == 0 || test.keep_going || test.free || random_seeds); i++) {
            wrong += random_kernel(&test, seed + i);
            if ((i + 1) % 50 == 0 && i + 1 < count) /* a long run prints its progress */
                printf("%lu kernels, wrong values in %" PRIu64 "\n", i + 1, test.counts.wrong_kernels);
        }
        for (int i = 1; i < argc && (wrong == 0 || test.keep_going); i++)
            wrong += launch_file(&test, argv[i], i);
        print_counts(argc > 1 ? "launch files" : test.mode, &test.counts);
        if (test.free && argc == 1) {
            const double percent = 100 * (double)wrong / (double)(test.counts.shown + !test.counts.shown);

            printf("free: %.3f %% of the values are wrong\n", percent);
            if (count != 1)
                wrong = count >= FREE_COUNT && percent > FREE_PERCENT;
        }
        if (wrong == 0 && argc == 1 && count > 1)
            corrupted_kernels(&test, seed);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", test.folder);
    if (system(command) != 0)
        die(test.folder, "cannot be removed");
    return wrong != 0 || test.counts.other_results != 0;
}
