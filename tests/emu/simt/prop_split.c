/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests properties of splits with random programs. A failure prints the seed. To repeat it, run
 *
 *     LW_SEED=<seed> tests/emu/simt/prop_split
 *
 * LW_RANDOM_COUNT=<n> sets the number of programs.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/emu/simt/split_golden.h"

struct rng {
    uint64_t state;
};
static uint32_t next(struct rng *r)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->state >> 33);
}
static unsigned below(struct rng *r, unsigned n)
{
    return next(r) % n;
}
static bool chance(struct rng *r, unsigned percent)
{
    return below(r, 100) < percent;
}

static uint64_t environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t v;

    return text != NULL && lw_parse_u64(text, &v) ? v : otherwise;
}

/* ---- random programs without any structure ------------------------------------------------------ */

static void put_condition(struct rng *r, struct lw_sink *out, unsigned lanes)
{
    switch (below(r, 4)) {
    case 0: lw_printf(out, "(mix(a, %u)%%2)", below(r, 100)); break;
    case 1: lw_printf(out, "(mix(a, %u)%%3==0)", below(r, 100)); break;
    case 2: lw_printf(out, "(lane<%u)", below(r, lanes + 1)); break;
    default: lw_printf(out, "(lane==%u)", below(r, lanes)); break;
    }
}

static void put_jumble(struct rng *r, struct lw_sink *out, unsigned lanes, bool more)
{
    unsigned count = 8 + below(r, 25), registers = 1 + below(r, 3);
    uint64_t all = lw_mask(lanes);

    for (unsigned i = 0; i < count; i++) {
        unsigned what = below(r, 100), reg = below(r, registers);
        uint64_t m = (((uint64_t)next(r) << 32 | next(r)) & all) | 1;

        lw_printf(out, "L%u: ", i);
        if (what >= 36 && chance(r, 25)) {
            lw_put(out, "@");
            put_condition(r, out, lanes);
            lw_put(out, " ");
        }
        if (what < 14)
            lw_printf(out, "mov a, mix(a, %u)", below(r, 1000));
        else if (what < 36) {
            lw_put(out, "bra ");
            if (chance(r, 85)) {
                put_condition(r, out, lanes);
                lw_put(out, ", ");
            }
            lw_printf(out, "L%u", below(r, count));
        } else if (what < 52)
            lw_printf(out, "bssy b%u, L%u", reg, below(r, count));
        else if (what < 68)
            lw_printf(out, "bsync%s b%u", chance(r, 60) ? ".soft" : "", reg);
        else if (what < 73)
            lw_printf(out, "bbreak b%u", reg);
        else if (what < 78)
            lw_put(out, "yield");
        else if (what < 82)
            lw_printf(out, "mov s%u, b%u", below(r, 2), reg);
        else if (what < 86)
            lw_printf(out, "mov b%u, s%u", reg, below(r, 2));
        else if (what < 89)
            lw_printf(out, "warpsync %" PRIu64 " if %" PRIu64 ">>lane&1 else %" PRIu64, m, m,
                      all ^ m);
        else if (what < 92)
            lw_printf(out, "bar %u", below(r, 3));
        else if (what < 93)
            lw_printf(out, "bar.arrive %u", below(r, 3));
        else if (what < 95 && more)
            lw_printf(out, "nanosleep %u", below(r, 40));
        else if (what < 98 && more)
            lw_printf(out, "sync d, %" PRIu64 " if %" PRIu64 ">>lane&1 else %" PRIu64, m, m,
                      all ^ m);
        else
            lw_put(out, "exit");
        lw_put(out, "\n");
    }
    lw_put(out, "exit\n");
}

static void trace_step(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes)
{
    sm_trace_line(m, w, pc, lanes, m->context);
}

static void run_into(struct sm_program *p, const struct sm_options *o, struct lw_buffer *out,
                     struct sm **keep)
{
    struct sm *m = sm_create(p, o);

    lw_buffer_init(out);
    m->on_step = trace_step;
    m->context = &out->sink;
    sm_run(m);
    sm_finish(m, &out->sink);
    *keep = m;
}

/* the reconvergence engines that keep a stack or table of entries for each warp */
static const char *const table_engines[] = {"stack", "multipath", "early", "likely", "dualpath"};

static struct sm_options random_options(struct rng *r)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64}, windows[] = {0, 5, 16, 64, 1024};
    struct sm_options o = {.check = true, .limit = 400, .hang = 200};
    unsigned policies = 0;

    while (emu_policy_names[policies] != NULL)
        policies++;
    o.lanes = widths[below(r, 5)];
    o.threads = o.lanes * (1 + below(r, 3)) - (chance(r, 30) ? below(r, o.lanes) : 0);
    o.policy = emu_policy_names[below(r, policies)];
    o.window = windows[below(r, 5)];
    o.quantum = chance(r, 30) ? 1 + below(r, 7) : 0;
    o.merge_off = chance(r, 30);
    if (chance(r, 35)) {
        unsigned orders = 0;
        while (emu_push_order_names[orders] != NULL)
            orders++;
        o.reconv = table_engines[below(r, LW_COUNT_OF(table_engines))];
        o.push_order = emu_push_order_names[below(r, orders)];
    } else if (chance(r, 20)) {
        o.reconv = "frontier";
    }
    return o;
}

/** After every step the invariants must hold: no lane that can be released remains blocked, and sets and counts agree. A
 *  run in whole time slices, each as long as the instruction limit permits, must give the same trace as a run in single
 *  steps. */
static void slices_give_the_trace_of_single_steps(void **state)
{
    uint64_t seed = environment("LW_SEED", 0), count = environment("LW_RANDOM_COUNT", 1500);

    (void)state;
    if (getenv("LW_SEED") != NULL)
        count = 1;
    for (uint64_t s = seed; s < seed + count; s++) {
        struct rng r = {s * 2 + 1};
        struct sm_options o = random_options(&r);
        struct lw_buffer text, one, two;
        struct lw_error err;
        struct sm *a, *b;

        lw_buffer_init(&text);
        put_jumble(&r, &text.sink, o.lanes, true);
        struct sm_program *p = sm_parse(text.text, text.size, &err);
        if (p == NULL)
            fail_msg("seed %" PRIu64 ": %s", s, err.text);
        run_into(p, &o, &one, &a);
        o.chunked = true;
        run_into(p, &o, &two, &b);
        if (a->report == SM_BROKEN || b->report == SM_BROKEN)
            fail_msg("seed %" PRIu64 ": %s%s", s, a->message, b->message);
        if (strcmp(one.text, two.text) != 0)
            fail_msg("seed %" PRIu64 ": time slices and single steps differ\n%s", s, text.text);
        sm_destroy(a);
        sm_destroy(b);
        sm_program_free(p);
        lw_buffer_fini(&text);
        lw_buffer_fini(&one);
        lw_buffer_fini(&two);
    }
}

/* ---- any engine --------------------------------------------------------------------- */

/** Step random lanes of random splits of random warps to the end. Return false if the program does not end. */
static bool run_anyhow(struct sm *m, struct rng *r, uint64_t limit, char *why, size_t why_size)
{
    unsigned stuck = 0;
    uint64_t tries = 0;

    why[0] = '\0';
    while (m->block.warps_live > 0) {
        struct emu_warp *w = &m->block.warp[below(r, m->block.warp_count)];
        uint64_t ids, lanes;
        unsigned id;
        bool whole;

        if (++tries > limit || stuck > 300) {
            snprintf(why, why_size, stuck > 300 ? "stuck" : "no end");
            return false;
        }
        if (w->live == 0)
            continue;
        if (w->split_in[EMU_SPLIT_READY] == 0 && !emu_split_select(w)) {
            stuck++;
            continue;
        }
        ids = w->split_in[EMU_SPLIT_READY];
        for (unsigned skip = below(r, lw_popcount(ids)); skip > 0; skip--)
            ids &= ids - 1;
        id = lw_lowest(ids);
        lanes = w->split[id].lanes;
        if (chance(r, 40)) {
            uint64_t some = ((uint64_t)next(r) << 32 | next(r)) & lanes;
            lanes = some != 0 ? some : lanes & (0 - lanes);
        }
        whole = strcmp(sm_mnemonic(m, emu_split_pc(w, id)), "scalar") == 0;
        if (!emu_split_divide(w, id, lanes, whole)) {
            if (!emu_split_check(w, why, why_size))
                return false;
            continue;
        }
        stuck = 0;
        if (!sm_step(m, w, true)) {
            snprintf(why, why_size, "%.290s", m->message);
            return false;
        }
        if (!emu_split_check(w, why, why_size))
            return false;
    }
    return true;
}

/** Call @test with each case of the model's structured programs, and return the sum of its results. */
static unsigned each_structured(unsigned (*test)(struct golden_case *c, struct sm_program *p))
{
    const char *srcdir = getenv("srcdir");
    char path[4096];
    struct golden_case c;
    struct lw_error err;
    char *data;
    size_t size;
    unsigned ran = 0;

    snprintf(path, sizeof path, "%s/tests/emu/simt/golden/structured.txt",
             srcdir != NULL ? srcdir : ".");
    if (lw_file_read(path, &data, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (const char *at = data; golden_next(&at, data + size, &c);) {
        struct sm_program *p = sm_parse(c.text, c.text_size, &err);
        assert_non_null(p);
        c.options.policy = c.policy;
        ran += test(&c, p);
        sm_program_free(p);
    }
    free(data);
    return ran;
}
static void expect_results(const struct sm *m, const struct sm *want, const char *name,
                           const char *how)
{
    for (unsigned t = 0; t < m->block.threads; t++)
        if (sm_register(m, "a", t) != sm_register(want, "a", t))
            fail_msg("%s, %s: thread %u", name, how, t);
    assert_int_equal(m->cell_count, want->cell_count);
}

static unsigned run_in_any_order(struct golden_case *c, struct sm_program *p)
{
    uint64_t seed = environment("LW_SEED", 1), rounds = environment("LW_ROUNDS", 4);
    struct sm *want = sm_create(p, &c->options);
    bool ends = sm_run(want) == SM_ENDS; /* false for programs whose lanes wait for each other */
    char why[300], how[40];

    for (uint64_t s = seed; ends && s < seed + rounds; s++) {
        struct rng r = {s * 2 + 1};
        struct sm *m = sm_create(p, &c->options);
        if (!run_anyhow(m, &r, 400000, why, sizeof why))
            fail_msg("%s, seed %" PRIu64 ": %s", c->name, s, why);
        snprintf(how, sizeof how, "seed %" PRIu64, s);
        expect_results(m, want, c->name, how);
        sm_destroy(m);
    }
    sm_destroy(want);
    return ends;
}
static void whatever_an_engine_picks_structured_programs_give_their_results(void **state)
{
    (void)state;
    assert_true(each_structured(run_in_any_order) > 100);
}

/** Runs the program with the engine in @o, and compares the results with those of @want. */
static void expect_same(struct golden_case *c, struct sm_program *p, struct sm_options o, struct sm *want)
{
    struct sm *m = sm_create(p, &o);

    if (sm_run(m) != SM_ENDS)
        fail_msg("%s, %s %s: %s", c->name, o.reconv, o.push_order != NULL ? o.push_order : "", m->message);
    expect_results(m, want, c->name, o.reconv);
    sm_destroy(m);
}

static unsigned run_on_a_stack(struct golden_case *c, struct sm_program *p)
{
    unsigned runs = 0;

    if (strncmp(c->name, "== spin", 7) == 0 || strncmp(c->name, "== bars", 7) == 0 ||
        strncmp(c->name, "== mix", 6) == 0 || memmem(c->text, c->text_size, "scalar", 6) != NULL)
        return 0; /* lanes wait for each other, or the program requires that its flow is convergent after a barrier */
    c->options.limit = c->options.hang = 0;
    struct sm *want = sm_create(p, &c->options);
    assert_int_equal(sm_run(want), SM_ENDS);
    struct sm_options o = c->options;
    o.check = true;
    for (unsigned e = 0; e < LW_COUNT_OF(table_engines); e++) {
        o.reconv = table_engines[e];
        for (unsigned k = 0; emu_push_order_names[k] != NULL; k++, runs++) {
            o.push_order = emu_push_order_names[k];
            o.chunked = k == 1;
            expect_same(c, p, o, want);
        }
    }
    o.reconv = "frontier";
    o.push_order = NULL;
    for (unsigned chunked = 0; chunked < 2; chunked++, runs++) {
        o.chunked = chunked;
        expect_same(c, p, o, want);
    }
    sm_destroy(want);
    return runs;
}
/** If no lane waits for another one, engines with a table of entries give the same results whichever side of a branch runs
 *  first. */
static void on_a_stack_structured_programs_give_their_results(void **state)
{
    (void)state;
    assert_true(each_structured(run_on_a_stack) >= 60);
}

/** Unstructured programs on the engines with a table of entries. Results are not compared, but the invariants must hold and
 *  no lane may be lost. */
static void whatever_an_engine_picks_the_table_is_consistent(void **state)
{
    uint64_t seed = environment("LW_SEED", 0), count = environment("LW_RANDOM_COUNT", 600);

    (void)state;
    for (uint64_t s = seed; s < seed + count; s++) {
        struct rng r = {s * 2 + 1};
        struct sm_options o = random_options(&r);
        struct lw_buffer text;
        struct lw_error err;
        char why[300];

        lw_buffer_init(&text);
        put_jumble(&r, &text.sink, o.lanes, true);
        struct sm_program *p = sm_parse(text.text, text.size, &err);
        assert_non_null(p);
        struct sm *m = sm_create(p, &o);
        if (!run_anyhow(m, &r, 3000, why, sizeof why) && strcmp(why, "stuck") != 0 &&
            strcmp(why, "no end") != 0 && m->report != SM_FAULT)
            fail_msg("seed %" PRIu64 ": %s\n%s", s, why, text.text);
        if (strcmp(why, "stuck") == 0 && emu_block_can_run(&m->block))
            fail_msg("seed %" PRIu64 ": no lane runs, although a split can run", s);
        sm_destroy(m);
        sm_program_free(p);
        lw_buffer_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_give_the_trace_of_single_steps),
        cmocka_unit_test(whatever_an_engine_picks_structured_programs_give_their_results),
        cmocka_unit_test(on_a_stack_structured_programs_give_their_results),
        cmocka_unit_test(whatever_an_engine_picks_the_table_is_consistent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
