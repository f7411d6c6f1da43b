/* SPDX-License-Identifier: Apache-2.0 */
/* Tests cache tags: hits, LRU, sectors, written bytes, and lines with outstanding misses. The results of random accesses are
 * compared with those of a model that records each byte separately. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/timing/tim_fixture.h"
#include "timing/mem/tim_cache_priv.h"

enum { LINE = 128 };

static const uint64_t whole[4] = {UINT64_MAX, UINT64_MAX, 0, 0};
static const uint64_t sector_0[4] = {UINT32_MAX, 0, 0, 0};
static const uint64_t sector_1[4] = {UINT64_C(0xffffffff00000000), 0, 0, 0};
static const uint64_t word_0[4] = {0xf, 0, 0, 0};

static struct tim_cache *make(unsigned sets, unsigned ways, unsigned sector, unsigned mshrs,
                              unsigned merges)
{
    struct tim_cache *c = tim_cache_create(&(struct tim_cache_shape){
        .bytes = sets * ways * LINE, .line = LINE, .sector = sector, .ways = ways, .mshrs = mshrs,
        .merges = merges});

    assert_non_null(c);
    return c;
}

static struct tim_cache_result reads(struct tim_cache *c, uint64_t line, const uint64_t mask[4],
                                     uint32_t waiter, enum tim_cache_answer answer)
{
    struct tim_cache_result look, out;

    memset(&look, 0, sizeof look); /* some answers leave members unset, and all members are compared */
    memset(&out, 0, sizeof out);
    tim_cache_lookup(c, line, mask, &look);
    tim_cache_read(c, line, mask, waiter, (uint16_t)(waiter + 100), &out);
    assert_memory_equal(&look, &out, sizeof out);
    assert_int_equal(out.answer, answer);
    return out;
}

/** Read a whole line that is absent, for waiter 0, and fill it. */
static void bring(struct tim_cache *c, uint64_t line)
{
    uint32_t waiter[256];
    struct tim_cache_result out = reads(c, line, whole, 0, TIM_CACHE_MISS);

    assert_int_equal(tim_cache_fill(c, line, out.fetch, waiter), 1);
}

static bool is_there(struct tim_cache *c, uint64_t line)
{
    struct tim_cache_result out;

    tim_cache_lookup(c, line, word_0, &out);
    return out.answer == TIM_CACHE_HIT;
}

static void a_miss_is_requested_once_and_hits_after_its_fill(void **state)
{
    struct tim_cache *c = make(4, 2, 128, 4, 4);
    uint32_t waiter[4];
    struct tim_cache_result out = reads(c, 0x1000, word_0, 7, TIM_CACHE_MISS);

    (void)state;
    assert_int_equal(out.fetch, 1);
    assert_false(out.evicted);
    assert_int_equal(tim_cache_mshrs_used(c), 1);
    assert_int_equal(reads(c, 0x1000, whole, 8, TIM_CACHE_MERGE).fetch, 0);
    assert_int_equal(tim_cache_fill(c, 0x1000, 1, waiter), 2);
    assert_int_equal(waiter[0], 7);
    assert_int_equal(waiter[1], 8);
    assert_int_equal(tim_cache_mshrs_used(c), 0);
    assert_int_equal(reads(c, 0x1000, whole, 9, TIM_CACHE_HIT).owner, 107);
    tim_cache_destroy(c);
}

static void the_least_recently_used_line_goes(void **state)
{
    struct tim_cache *c = make(2, 2, 128, 4, 4);
    struct tim_cache_result out;

    (void)state;
    bring(c, 0x0000); /* a line of set 0, as 0x0100 and 0x0200 */
    bring(c, 0x0100);
    bring(c, 0x0080); /* a line of set 1, which does not affect set 0 */
    reads(c, 0x0000, word_0, 1, TIM_CACHE_HIT);
    out = reads(c, 0x0200, whole, 2, TIM_CACHE_MISS);
    assert_true(out.evicted);
    assert_int_equal(out.victim, 0x0100);
    assert_int_equal(out.victim_owner, 100);
    assert_false(tim_cache_result_is_dirty(&out));
    assert_true(is_there(c, 0x0000));
    assert_true(is_there(c, 0x0080));
    assert_false(is_there(c, 0x0100));
    tim_cache_destroy(c);
}

static void the_order_of_use_outlasts_the_stamps(void **state)
{
    enum { ACCESSES = 3 * 65536 + 100 }; /* the cache records the order of use in 16 bits, which wrap around */
    struct tim_cache *c = make(2, 4, 128, 4, 4);
    struct tim_cache_line line;

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        bring(c, i * 0x100); /* these lines are in set 0 */
    bring(c, 0x0080);        /* this line is in set 1 */
    for (uint64_t i = 0; i < ACCESSES; i++) {
        uint64_t at = i % 8 == 7 ? 0x0080 : i % 8 % 3 * 0x100; /* the loop never accesses line 0x0300 */

        assert_true(tim_cache_read_hit(c, at, word_0));
        if (i % 8 != 7) {
            assert_true(tim_cache_line(c, 0, (unsigned)(at / 0x100), &line));
            assert_int_equal(line.age, 0);
        }
        assert_true(tim_cache_line(c, 0, 3, &line));
        assert_int_equal(line.age, i > 2 ? 3 : i + 1);
    }
    assert_int_equal(reads(c, 0x0400, whole, 1, TIM_CACHE_MISS).victim, 0x0300);
    tim_cache_destroy(c);
}

static void a_merge_does_not_make_a_line_younger(void **state)
{
    struct tim_cache *c = make(1, 2, 128, 4, 4);
    uint32_t waiter[4];

    (void)state;
    reads(c, 0x0000, whole, 1, TIM_CACHE_MISS);
    bring(c, 0x0080);
    reads(c, 0x0000, whole, 2, TIM_CACHE_MERGE);
    tim_cache_fill(c, 0x0000, 1, waiter);
    assert_int_equal(reads(c, 0x0100, whole, 3, TIM_CACHE_MISS).victim, 0x0000);
    tim_cache_destroy(c);
}

static void limits_block_and_a_blocked_access_changes_nothing(void **state)
{
    struct tim_cache *c = make(2, 2, 128, 3, 2);
    uint32_t waiter[4];

    (void)state;
    bring(c, 0x0080); /* a line of set 1, older than line 0x0180 */
    bring(c, 0x0180);
    reads(c, 0x0000, whole, 1, TIM_CACHE_MISS);
    reads(c, 0x0000, whole, 2, TIM_CACHE_MERGE);
    reads(c, 0x0000, whole, 3, TIM_CACHE_NO_MERGE);
    reads(c, 0x0100, whole, 4, TIM_CACHE_MISS);
    reads(c, 0x0200, whole, 5, TIM_CACHE_NO_WAY); /* both ways of set 0 have outstanding misses */
    reads(c, 0x0280, whole, 6, TIM_CACHE_MISS);   /* this access evicts line 0x80 */
    reads(c, 0x0080, whole, 7, TIM_CACHE_NO_MSHR);
    assert_int_equal(tim_cache_mshrs_used(c), 3);
    assert_int_equal(tim_cache_fill(c, 0x0000, 1, waiter), 2);
    assert_int_equal(waiter[1], 2);
    /* line 0x0280 is not evicted, because its miss is outstanding */
    assert_int_equal(reads(c, 0x0080, whole, 8, TIM_CACHE_MISS).victim, 0x0180);
    tim_cache_destroy(c);
}

static void sectors_come_one_by_one_and_waiters_go_when_theirs_are_there(void **state)
{
    struct tim_cache *c = make(1, 1, 32, 2, 4);
    uint32_t waiter[4];
    struct tim_cache_line line;

    (void)state;
    assert_int_equal(reads(c, 0x1000, sector_1, 1, TIM_CACHE_MISS).fetch, 2);
    assert_int_equal(reads(c, 0x1000, sector_0, 2, TIM_CACHE_MERGE).fetch, 1);
    assert_int_equal(reads(c, 0x1000, whole, 3, TIM_CACHE_MERGE).fetch, 0xc);
    assert_int_equal(reads(c, 0x1000, sector_1, 4, TIM_CACHE_MERGE).fetch, 0);
    assert_true(tim_cache_line(c, 0, 0, &line));
    assert_int_equal(line.pending, 0xf);
    assert_int_equal(line.waiters, 4);
    assert_int_equal(tim_cache_fill(c, 0x1000, 1, waiter), 1);
    assert_int_equal(waiter[0], 2);
    reads(c, 0x1000, sector_0, 5, TIM_CACHE_HIT); /* hits, although fetches of other sectors of the line are outstanding */
    assert_int_equal(tim_cache_fill(c, 0x1000, 0xc, waiter), 0);
    assert_int_equal(tim_cache_fill(c, 0x1000, 2, waiter), 3);
    assert_int_equal(waiter[0], 1);
    assert_int_equal(waiter[1], 3);
    assert_int_equal(waiter[2], 4);
    assert_int_equal(tim_cache_mshrs_used(c), 0);
    tim_cache_destroy(c);
}

static void a_sector_may_miss_in_a_line_that_is_there(void **state)
{
    struct tim_cache *c = make(1, 2, 32, 2, 4);
    uint32_t waiter[4];
    struct tim_cache_result out;

    (void)state;
    reads(c, 0x1000, sector_0, 1, TIM_CACHE_MISS);
    tim_cache_fill(c, 0x1000, 1, waiter);
    out = reads(c, 0x1000, whole, 2, TIM_CACHE_MISS);
    assert_int_equal(out.fetch, 0xe);
    assert_false(out.evicted);
    assert_int_equal(tim_cache_fill(c, 0x1000, 0xe, waiter), 1);
    tim_cache_destroy(c);
}

static void written_bytes_are_valid_singly_and_dirty_until_they_go(void **state)
{
    struct tim_cache *c = make(1, 1, 32, 2, 4);
    uint32_t waiter[4];
    struct tim_cache_result out;

    (void)state;
    tim_cache_write(c, 0x1000, word_0, false, true, 5, &out);
    assert_int_equal(out.answer, TIM_CACHE_MISS); /* the write misses and does not allocate the line */
    assert_false(is_there(c, 0x1000));
    tim_cache_write(c, 0x1000, word_0, true, true, 5, &out);
    assert_int_equal(out.answer, TIM_CACHE_MISS);
    assert_int_equal(tim_cache_mshrs_used(c), 0); /* the write has allocated the line without a fetch */
    reads(c, 0x1000, word_0, 1, TIM_CACHE_HIT);
    assert_int_equal(reads(c, 0x1000, sector_0, 2, TIM_CACHE_MISS).fetch, 1);
    tim_cache_write(c, 0x1000, sector_1, true, true, 5, &out); /* hits, although the fetch of sector 0 is outstanding */
    assert_int_equal(out.answer, TIM_CACHE_HIT);
    tim_cache_write(c, 0x1080, word_0, true, true, 5, &out);
    assert_int_equal(out.answer, TIM_CACHE_NO_WAY);
    assert_int_equal(tim_cache_fill(c, 0x1000, 1, waiter), 1);
    tim_cache_write(c, 0x1080, word_0, true, true, 5, &out);
    assert_int_equal(out.answer, TIM_CACHE_MISS);
    assert_true(out.evicted && tim_cache_result_is_dirty(&out));
    assert_int_equal(out.dirty[0], UINT64_C(0xffffffff0000000f));
    assert_int_equal(out.dirty[1], 0);
    tim_cache_destroy(c);
}

static void an_evicted_line_under_way_serves_its_waiters_and_goes(void **state)
{
    struct tim_cache *c = make(1, 2, 32, 2, 4);
    uint32_t waiter[4];

    (void)state;
    bring(c, 0x1000);
    assert_true(tim_cache_evict(c, 0x1000));
    assert_false(tim_cache_evict(c, 0x1000));
    assert_int_equal(reads(c, 0x1000, sector_0, 1, TIM_CACHE_MISS).fetch, 1);
    bring(c, 0x1080);
    assert_true(tim_cache_evict(c, 0x1000));
    assert_true(tim_cache_evict(c, 0x1080));
    assert_false(is_there(c, 0x1080));
    assert_int_equal(reads(c, 0x1000, sector_0, 2, TIM_CACHE_MERGE).fetch, 0);
    assert_int_equal(tim_cache_fill(c, 0x1000, 1, waiter), 2);
    assert_false(is_there(c, 0x1000));
    assert_int_equal(tim_cache_mshrs_used(c), 0);
    tim_cache_destroy(c);
}

/* ---- random accesses against a simple model -------------------------------------------------- */

enum { MODEL_LINES = 24, MODEL_MOST = 4096 };
struct model_line {
    bool there, doomed;
    uint64_t used;
    bool valid[LINE], dirty[LINE];
    bool under_way[LINE / 32];
};
struct model {
    unsigned sets, ways, mshrs, merges, sector;
    bool hash;
    uint64_t now;
    struct model_line line[MODEL_LINES];
    struct {
        bool waits;
        unsigned line, id;
        bool need[LINE / 32];
    } waiter[MODEL_MOST];
    unsigned waiters;
};

static bool bit(const uint64_t mask[4], unsigned b)
{
    return mask[b / 64] >> b % 64 & 1;
}

/** Return the set of a line. The set is computed from the digits of the line's number in base `sets`: the last digit, or
 *  with `hash` the exclusive or of all digits. */
static unsigned model_set(const struct model *m, unsigned line)
{
    unsigned set = line % m->sets;

    while (m->hash && m->sets > 1 && (line /= m->sets) != 0)
        set ^= line % m->sets;
    return set;
}

static unsigned model_under_way(const struct model *m, unsigned line)
{
    unsigned sectors = 0;

    for (unsigned s = 0; s < LINE / 32; s++)
        sectors |= (unsigned)m->line[line].under_way[s] << s;
    return sectors;
}

/** Return the index of the line to evict for @line, MODEL_LINES if the set has a free way, or UINT32_MAX if no line of the
 *  set may be evicted. */
static unsigned model_victim(const struct model *m, unsigned line)
{
    unsigned there = 0, best = UINT32_MAX;

    for (unsigned k = 0; k < MODEL_LINES; k++) {
        if (!m->line[k].there || model_set(m, k) != model_set(m, line))
            continue;
        there++;
        if (model_under_way(m, k) == 0 && (best == UINT32_MAX || m->line[k].used < m->line[best].used))
            best = k;
    }
    return there < m->ways ? MODEL_LINES : best;
}

static enum tim_cache_answer model_read(struct model *m, unsigned line, const uint64_t mask[4],
                                        unsigned id, unsigned *fetch, unsigned *victim)
{
    struct model_line *l = &m->line[line];
    unsigned missing = 0, lines = 0, waits = 0, old = model_under_way(m, line);
    enum tim_cache_answer answer;

    *fetch = 0;
    *victim = MODEL_LINES;
    for (unsigned b = 0; b < LINE; b++)
        if (bit(mask, b) && !(l->there && l->valid[b]))
            missing |= 1u << b / m->sector;
    if (missing == 0) {
        l->used = ++m->now;
        return TIM_CACHE_HIT;
    }
    for (unsigned k = 0; k < MODEL_LINES; k++)
        lines += model_under_way(m, k) != 0;
    for (unsigned w = 0; w < m->waiters; w++)
        waits += m->waiter[w].waits && m->waiter[w].line == line;
    if (old != 0) {
        if (waits == m->merges)
            return TIM_CACHE_NO_MERGE;
        answer = TIM_CACHE_MERGE;
    } else {
        if (lines == m->mshrs)
            return TIM_CACHE_NO_MSHR;
        if (!l->there) {
            *victim = model_victim(m, line);
            if (*victim == UINT32_MAX)
                return TIM_CACHE_NO_WAY;
            if (*victim < MODEL_LINES)
                m->line[*victim].there = false;
            *l = (struct model_line){.there = true};
        }
        l->used = ++m->now;
        answer = TIM_CACHE_MISS;
    }
    *fetch = missing & ~old;
    assert_true(m->waiters < MODEL_MOST);
    m->waiter[m->waiters].waits = true;
    m->waiter[m->waiters].line = line;
    m->waiter[m->waiters].id = id;
    for (unsigned s = 0; s < LINE / 32; s++) {
        m->waiter[m->waiters].need[s] = missing >> s & 1;
        l->under_way[s] = l->under_way[s] || (missing >> s & 1);
    }
    m->waiters++;
    return answer;
}

static void walk(uint64_t start)
{
    uint64_t seed = start;
    static struct model m;
    struct tim_cache *c;
    struct tim_cache_shape shape;

    memset(&m, 0, sizeof m);
    m.sets = tim_fix_between(&seed, 1, 5);
    m.ways = tim_fix_between(&seed, 1, 14); /* with more than four ways, a lookup first compares one byte of each tag */
    m.mshrs = tim_fix_between(&seed, 1, 6);
    m.merges = tim_fix_between(&seed, 1, 4);
    m.sector = 32u << tim_fix_between(&seed, 0, 2);
    m.hash = (m.sets & (m.sets - 1)) == 0 && tim_fix_between(&seed, 0, 1);
    shape = (struct tim_cache_shape){.bytes = m.sets * m.ways * LINE, .line = LINE,
                                     .sector = m.sector, .ways = m.ways, .mshrs = m.mshrs,
                                     .merges = m.merges, .hash = m.hash};
    c = tim_cache_create(&shape);
    for (unsigned step = 0; step < 3000; step++) {
        unsigned line = tim_fix_between(&seed, 0, MODEL_LINES - 1), from, to, fetch, victim;
        struct model_line *l = &m.line[line];
        struct tim_cache_result out;
        uint64_t mask[4] = {0};

        from = tim_fix_between(&seed, 0, LINE - 1);
        to = tim_fix_between(&seed, from, LINE - 1);
        for (unsigned b = from; b <= to; b++)
            mask[b / 64] |= UINT64_C(1) << b % 64;
        switch (tim_fix_between(&seed, 0, 9)) {
        case 0: case 1: case 2: case 3: {
            enum tim_cache_answer answer = model_read(&m, line, mask, step, &fetch, &victim);

            tim_cache_read(c, line * LINE, mask, step, 3, &out);
            if (out.answer != answer || out.fetch != fetch ||
                out.evicted != (victim < MODEL_LINES) ||
                (out.evicted && out.victim != victim * LINE))
                fail_msg("seed %#llx, step %u: read", (unsigned long long)start, step);
            if (out.evicted)
                for (unsigned b = 0; b < LINE; b++)
                    assert_int_equal(bit(out.dirty, b), m.line[victim].dirty[b]);
            break;
        }
        case 4: case 5: {
            bool allocate = tim_fix_between(&seed, 0, 3) != 0, dirty = tim_fix_random(&seed) & 1;

            tim_cache_write(c, line * LINE, mask, allocate, dirty, 3, &out);
            victim = MODEL_LINES;
            if (!l->there && allocate) {
                victim = model_victim(&m, line);
                if (victim == UINT32_MAX) {
                    assert_int_equal(out.answer, TIM_CACHE_NO_WAY);
                    break;
                }
                assert_int_equal(out.answer, TIM_CACHE_MISS);
                if (victim < MODEL_LINES)
                    m.line[victim].there = false;
                *l = (struct model_line){.there = true};
            } else {
                assert_int_equal(out.answer, l->there ? TIM_CACHE_HIT : TIM_CACHE_MISS);
            }
            assert_int_equal(out.evicted, victim < MODEL_LINES);
            if (!l->there)
                break;
            l->used = ++m.now;
            l->doomed = l->doomed && !dirty;
            for (unsigned b = from; b <= to; b++) {
                l->valid[b] = true;
                l->dirty[b] = l->dirty[b] || dirty;
            }
            break;
        }
        case 6:
            if (tim_fix_between(&seed, 0, 3) != 0)
                break;
            assert_int_equal(tim_cache_evict(c, line * LINE), l->there);
            memset(l->valid, 0, sizeof l->valid);
            memset(l->dirty, 0, sizeof l->dirty);
            if (model_under_way(&m, line) != 0)
                l->doomed = true;
            else
                l->there = false;
            break;
        default: {
            unsigned sectors = model_under_way(&m, line) & (unsigned)tim_fix_random(&seed), n;
            uint32_t waiter[8];
            unsigned k = 0;

            if (sectors == 0)
                break;
            n = tim_cache_fill(c, line * LINE, sectors, waiter);
            for (unsigned b = 0; b < LINE; b++)
                if (sectors >> b / m.sector & 1)
                    l->valid[b] = true;
            for (unsigned s = 0; s < LINE / 32; s++)
                if (sectors >> s & 1)
                    l->under_way[s] = false;
            for (unsigned w = 0; w < m.waiters; w++) {
                bool needs = false;

                if (!m.waiter[w].waits || m.waiter[w].line != line)
                    continue;
                for (unsigned s = 0; s < LINE / 32; s++) {
                    if (sectors >> s & 1)
                        m.waiter[w].need[s] = false;
                    needs = needs || m.waiter[w].need[s];
                }
                if (needs)
                    continue;
                m.waiter[w].waits = false;
                if (k == n || waiter[k] != m.waiter[w].id)
                    fail_msg("seed %#llx, step %u: waiters", (unsigned long long)start, step);
                k++;
            }
            assert_int_equal(k, n);
            if (model_under_way(&m, line) == 0 && l->doomed)
                l->there = l->doomed = false;
            break;
        }
        }
    }
    tim_cache_destroy(c);
}

static void random_accesses_are_answered_as_by_a_plain_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++)
        walk(seed * UINT64_C(0x51ed270b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_is_requested_once_and_hits_after_its_fill),
        cmocka_unit_test(the_least_recently_used_line_goes),
        cmocka_unit_test(the_order_of_use_outlasts_the_stamps),
        cmocka_unit_test(a_merge_does_not_make_a_line_younger),
        cmocka_unit_test(limits_block_and_a_blocked_access_changes_nothing),
        cmocka_unit_test(sectors_come_one_by_one_and_waiters_go_when_theirs_are_there),
        cmocka_unit_test(a_sector_may_miss_in_a_line_that_is_there),
        cmocka_unit_test(written_bytes_are_valid_singly_and_dirty_until_they_go),
        cmocka_unit_test(an_evicted_line_under_way_serves_its_waiters_and_goes),
        cmocka_unit_test(random_accesses_are_answered_as_by_a_plain_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
