/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the classes of hits and misses of L1: examples that were computed by hand, and random accesses, which are compared with
 * a model that searches the whole history of accesses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/timing/tim_fixture.h"
#include "timing/mem/tim_locality_priv.h"

static void each_class_by_hand(void **state)
{
    struct tim_locality *l = tim_locality_create(2);

    (void)state;
    assert_non_null(l);
    for (uint64_t line = 0; line < 4; line++)
        assert_true(tim_locality_add(l, line * 128));
    assert_int_equal(tim_locality_access(l, 0, 7, 6, false), TIM_MISS_COMPULSORY); /* lane 1 fetches line 0 */
    assert_int_equal(tim_locality_access(l, 0, 7, 2, true), TIM_HIT_THREAD);
    assert_int_equal(tim_locality_access(l, 0, 7, 4, true), TIM_HIT_WARP);
    assert_int_equal(tim_locality_access(l, 0, 8, 2, true), TIM_HIT_OTHER);
    assert_int_equal(tim_locality_access(l, 128, 8, 1, false), TIM_MISS_COMPULSORY);
    /* a conflict miss, because a fully associative cache of 2 lines would still have the lines 0 and 128 */
    assert_int_equal(tim_locality_access(l, 0, 8, 1, false), TIM_MISS_CONFLICT);
    assert_int_equal(tim_locality_access(l, 256, 8, 1, false), TIM_MISS_COMPULSORY);
    assert_int_equal(tim_locality_access(l, 128, 8, 1, false), TIM_MISS_WARP);
    assert_int_equal(tim_locality_access(l, 0, 7, 1, false), TIM_MISS_OTHER); /* warp 8 fetched line 0 last */
    tim_locality_evict(l, 0);
    /* no access has evicted the line, so the miss is no conflict miss */
    assert_int_equal(tim_locality_access(l, 0, 7, 1, false), TIM_MISS_WARP);
    tim_locality_merge(l, 128);
    tim_locality_merge(l, 384);
    assert_int_equal(tim_locality_access(l, 128, 9, 1, false), TIM_MISS_CONFLICT);
    tim_locality_destroy(l);
}

enum { LINES = 40, STEPS = 4000 };
/* An element of the history, from which the model computes its results. */
struct past {
    unsigned line, what; /* `what`: 0 for an access, 1 for a merge, 2 for an eviction */
    uint64_t warp, lanes;
    bool brought; /* this access missed and fetched the line */
};

/* Lines of the model's fully associative cache, the most recently used line first. */
struct order {
    unsigned line[LINES], count;
};

/* Remove @line from @order. Return whether @order contained it. */
static bool take(struct order *order, unsigned line)
{
    for (unsigned i = 0; i < order->count; i++)
        if (order->line[i] == line) {
            memmove(order->line + i, order->line + i + 1, (--order->count - i) * sizeof order->line[0]);
            return true;
        }
    return false;
}

/* Move or insert @line at the front of @order, which keeps at most @size lines. Return whether @order contained @line. */
static bool use(struct order *order, unsigned line, unsigned size)
{
    bool was = take(order, line);

    if (order->count == size)
        order->count--;
    memmove(order->line + 1, order->line, order->count * sizeof order->line[0]);
    order->line[0] = line;
    order->count++;
    return was;
}

static void random_accesses_are_classed_as_by_a_search_of_the_past(void **state)
{
    static struct past past[STEPS];
    uint64_t seed = 0x51ed270b;

    (void)state;
    for (unsigned run = 0; run < 20; run++) {
        unsigned size = tim_fix_between(&seed, 1, 20), evictions = run % 2 ? 0 : 1;
        struct tim_locality *l = tim_locality_create(size);
        struct order order = {.count = 0};

        assert_non_null(l);
        for (unsigned i = 0; i < STEPS; i++) {
            struct past *p = &past[i];
            bool hit = tim_fix_random(&seed) & 1, known = false, recent;
            enum tim_locality_class expected;
            unsigned by = i;

            *p = (struct past){.line = tim_fix_between(&seed, 0, LINES - 1), .warp = tim_fix_between(&seed, 1, 3),
                               .lanes = 1 + (tim_fix_random(&seed) & 0xfffe)};
            p->what = tim_fix_between(&seed, 0, 9) == 0 ? 1 + (evictions & (unsigned)tim_fix_random(&seed)) : 0;
            assert_true(tim_locality_add(l, p->line * 128));
            if (p->what == 2) {
                tim_locality_evict(l, p->line * 128);
                take(&order, p->line);
                continue;
            }
            recent = use(&order, p->line, size);
            if (p->what == 1) {
                tim_locality_merge(l, p->line * 128);
                continue;
            }
            while (by-- > 0 && !known)
                known = past[by].line == p->line && past[by].brought;
            by++;
            if (!known)
                hit = false;
            if (hit)
                expected = past[by].warp != p->warp ? TIM_HIT_OTHER
                           : p->lanes & (past[by].lanes & -past[by].lanes) ? TIM_HIT_THREAD : TIM_HIT_WARP;
            else
                expected = !known ? TIM_MISS_COMPULSORY : recent ? TIM_MISS_CONFLICT
                           : past[by].warp == p->warp ? TIM_MISS_WARP : TIM_MISS_OTHER;
            p->brought = !hit;
            if (tim_locality_access(l, p->line * 128, p->warp, p->lanes, hit) != expected)
                fail_msg("run %u, access %u: not class %d", run, i, expected);
        }
        tim_locality_destroy(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_by_hand),
        cmocka_unit_test(random_accesses_are_classed_as_by_a_search_of_the_past),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
