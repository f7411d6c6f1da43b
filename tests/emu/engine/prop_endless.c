/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests hang reports with random loops, some of which end. A program with a hang report must not end when it runs without
 * hang detection, with any number of instructions. A program that ends must get no report, and must leave the same memory
 * with and without hang detection. Most counters have few bits, in registers or in local memory, so that most endless loops
 * have few states; most of these loops must get a report. Widths, policies, reconvergence engines and tags vary.
 *
 * LW_SEED repeats a run. LW_RANDOM_COUNT sets the number of programs. A failure prints the seed and the program.
 */
#include <inttypes.h>

#include "tests/emu/exec/emu_fixture.h"
#include "tests/isa/prop_isa_random.h"

enum { REGS = 6, FIRST = 10, ADDRESS = 20, TEXT = 1 << 14, BOUND = 600000 };

struct gen {
    struct prop_random r;
    char text[TEXT];
    size_t used;
    unsigned labels, depth;
};

static void line(struct gen *g, const char *fmt, ...) LW_PRINTF(2, 3);
static void line(struct gen *g, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    g->used += (size_t)vsnprintf(g->text + g->used, TEXT - g->used, fmt, ap);
    va_end(ap);
    assert_true(g->used < TEXT - 2);
    g->text[g->used++] = '\n';
    g->text[g->used] = '\0';
}

static unsigned reg(struct gen *g)
{
    return FIRST + prop_below(&g->r, REGS);
}

/** Generate one instruction on the counters. */
static void action(struct gen *g)
{
    static const char *const ops[] = {"v_add_u32", "v_sub_u32", "v_xor_b32", "v_mul_u32", "v_or_b32", "v_and_b32",
                                      "v_shr_u32", "v_shl_b32", "v_min_u32"};
    const unsigned a = reg(g), b = reg(g), d = reg(g);

    switch (prop_below(&g->r, 13)) {
    case 0: case 1: case 2: case 3:
        line(g, "v_add_u32 v%u, v%u, %u", d, prop_below(&g->r, 3) ? d : a, 1 + prop_below(&g->r, 6));
        break;
    case 4: case 5:
        line(g, "%s v%u, v%u, v%u", ops[prop_below(&g->r, LW_COUNT_OF(ops))], d, a, b);
        break;
    case 6:
        line(g, "%s v%u, v%u, %u", ops[prop_below(&g->r, LW_COUNT_OF(ops))], d, a, prop_below(&g->r, 9));
        break;
    case 7:
        line(g, "st.local.b32 [vz+%u], v%u", 4 * prop_below(&g->r, 4), a);
        break;
    case 8:
        line(g, "ld.local.b32 v%u, [vz+%u]", d, 4 * prop_below(&g->r, 4));
        break;
    case 9:
        line(g, "ld.global.b32%s v%u, [v8:9+%u]", prop_below(&g->r, 2) ? ".volatile" : "", d,
             128 * prop_below(&g->r, 4));
        break;
    case 10:
        line(g, "v_setp_u32.lt p5, _, v%u, %u\n@p5 v_add_u32 v%u, v%u, 1", a, prop_below(&g->r, 20), d, d);
        break;
    case 11:
        line(g, "v_setp_u32.ne p5, _, v%u, v%u\nv_selp_b32 v%u, v%u, v%u, p5", a, b, d, a, b);
        break;
    default:
        if (prop_below(&g->r, 12) == 0) /* generates a store rarely, since a store usually counts as progress */
            line(g, "st.global.b32 [v8:9+640], v%u", a);
        else if (prop_below(&g->r, 4) == 0)
            line(g, "atom.global.cas.b32 v%u, [v8:9+512], v%u, v%u", d, a, b);
        else if (prop_below(&g->r, 4) == 0)
            line(g, "shfl.bfly v%u, _, v%u, 1, 31, v30", d, a);
        else if (prop_below(&g->r, 6) == 0)
            line(g, "v_s2r v%u, %%clock", d);
        else if (prop_below(&g->r, 3) == 0)
            line(g, "nanosleep %u", 1 + prop_below(&g->r, 50));
        else
            line(g, "yield");
        break;
    }
    if (prop_below(&g->r, 10) < 8)
        line(g, "v_and_b32 v%u, v%u, %u", d, d, prop_below(&g->r, 8) ? 0xf : 0xff);
}

static void actions(struct gen *g, unsigned most);

/** Generate a region in which lanes diverge and at whose end they reconverge. */
static void region(struct gen *g)
{
    const unsigned label = g->labels++, b = 8 + g->depth;

    line(g, "v_setp_u32.%s p%u, _, v%u, %u", prop_below(&g->r, 2) ? "lt" : "eq", 3u, reg(g), prop_below(&g->r, 12));
    line(g, "bssy b%u, J%u", b, label);
    line(g, "@p3 bra E%u, b%u", label, b);
    g->depth++;
    actions(g, 3);
    line(g, "bra J%u\nE%u:", label, label);
    actions(g, 2);
    g->depth--;
    line(g, "J%u:", label);
    line(g, prop_below(&g->r, 3) ? "bsync b%u" : "bsync.soft b%u", b);
}

static void loop(struct gen *g)
{
    static const char *const compare[] = {"eq", "ne", "lt", "ge"};
    const unsigned label = g->labels++, b = g->depth++;

    line(g, "bssy b%u, X%u", b, label);
    line(g, "L%u:", label);
    actions(g, 5);
    /* generates branches that leave the loop */
    for (unsigned i = 1 + prop_below(&g->r, 2); i-- > 0;) {
        if (prop_below(&g->r, 2))
            line(g, "v_setp_u32.%s p1, _, v%u, %u", compare[prop_below(&g->r, 4)], reg(g), prop_below(&g->r, 20));
        else
            line(g, "v_setp_u32.%s p1, _, v%u, v%u", compare[prop_below(&g->r, 4)], reg(g), reg(g));
        if (i != 0)
            line(g, "@p1 bra X%u, b%u", label, b);
        else
            line(g, "%s bra L%u, b%u", prop_below(&g->r, 12) == 0 ? "" : "@p1", label, b);
    }
    line(g, "X%u:\nbsync b%u", label, b);
    g->depth--;
}

static void actions(struct gen *g, unsigned most)
{
    for (unsigned n = prop_below(&g->r, most + 1); n-- > 0;) {
        const unsigned what = g->depth < 4 ? prop_below(&g->r, 14) : 9;
        if (what == 0)
            loop(g);
        else if (what == 1)
            region(g);
        else
            action(g);
    }
}

static void generate(struct gen *g)
{
    g->used = 0;
    g->labels = g->depth = 0;
    line(g, ".kernel k\n.param ptr.global out\n.local 16\nv_s2r v0, %%tid.x\nv_mov_b64 v8:9, c[out]\n"
            "v_madwide_u32 v8:9, v0, 4, v8:9\nv_mov_b32 v30, 0xffffffff");
    for (unsigned i = 0; i < REGS; i++)
        line(g, prop_below(&g->r, 2) ? "v_add_u32 v%u, v0, %u" : "v_mov_b32 v%u, %u", FIRST + i, prop_below(&g->r, 9));
    loop(g);
    if (prop_below(&g->r, 3) == 0)
        loop(g);
    for (unsigned i = 0; i < REGS; i++)
        line(g, "st.global.b32 [v8:9+%u], v%u", 1024 + 128 * i, FIRST + i);
    line(g, "exit\n.end");
}

/** Run the program for at most BOUND instructions. */
static enum emu_stop_kind run(struct gen *g, const struct emu_config *config, uint64_t window, unsigned threads,
                              bool cut, struct fix **out)
{
    struct fix *f = fix_new(config->warp_width);
    struct lw_error err;

    f->config = *config;
    f->config.hang_window = window;
    fix_load(f, g->text, threads);
    if (cut)
        f->engine->stop_at = BOUND;
    fix_check(f->engine->ops->run(f->engine, &f->stop, &err), &err);
    fix_check(emu_global_read(f->machine, f->out, f->word, sizeof f->word, &err), &err);
    *out = f;
    return f->stop.kind;
}

static void hang_reports_are_proofs(void **state)
{
    static const unsigned widths[] = {4, 8, 32};
    static const char *const policies[] = {"converge", "rr_quantum", "rr", "minpc", "maxpc", "stack_like", "most_lanes"};
    uint64_t seed = prop_seed();
    unsigned long count = prop_count(250, seed), ended = 0, endless = 0, proved = 0, stopped = 0;
    struct gen *g = calloc(1, sizeof *g);

    (void)state;
    assert_non_null(g);
    for (unsigned long i = 0; i < count; i++) {
        struct emu_config config;
        struct fix *free_run, *watched;
        enum emu_stop_kind want, got;
        g->r.state = seed + i;
        emu_config_default(&config);
        config.arena_bytes = 1 << 24;
        config.warp_width = widths[prop_below(&g->r, LW_COUNT_OF(widths))];
        if (prop_below(&g->r, 4) == 0)
            config.reconv = "stack";
        else
            config.policy = policies[prop_below(&g->r, LW_COUNT_OF(policies))];
        config.fairness_window = prop_below(&g->r, 3) == 0 ? 0 : 1024;
        config.tags = prop_below(&g->r, 3) == 0 ? EMU_TAGS_COMPACT : EMU_TAGS_OFF;
        const unsigned threads = prop_below(&g->r, 2) ? config.warp_width : 2 * config.warp_width + 1;
        generate(g);
        want = run(g, &config, 0, threads, true, &free_run);
        got = run(g, &config, 2000, threads, true, &watched);
        if (want == EMU_STOP_IDLE || want == EMU_STOP_FAULT) {
            ended++;
            if (got != want || memcmp(free_run->word, watched->word, sizeof watched->word) != 0)
                fail_msg("seed %" PRIu64 ": enum emu_stop_kind without hang detection %d, with it %d %s\n%s", seed + i, want, got,
                         watched->stop.hang.detail, g->text);
        } else if (want == EMU_STOP_HANG) {
            stopped++;
            if (got != EMU_STOP_HANG)
                fail_msg("seed %" PRIu64 ": a deadlock; enum emu_stop_kind with hang detection %d\n%s", seed + i, got, g->text);
        } else {
            endless++;
            proved += got == EMU_STOP_HANG;
            if (got != EMU_STOP_HANG && getenv("LW_PRINT") != NULL)
                printf("seed %" PRIu64 " W %u %s %s window %u tags %d threads %u: no hang report\n%s\n", seed + i,
                       config.warp_width, config.reconv ? config.reconv : "", config.policy ? config.policy : "",
                       config.fairness_window, config.tags, threads, g->text);
        }
        fix_free(free_run);
        fix_free(watched);
    }
    printf("%lu programs end, %lu deadlock, %lu never end; %lu of the endless ones got a hang report\n", ended, stopped, endless,
           proved);
    if (count >= 200) {
        assert_true(ended > count / 10 && endless > count / 10);
        assert_true(proved >= endless / 2);
    }
    free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hang_reports_are_proofs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
