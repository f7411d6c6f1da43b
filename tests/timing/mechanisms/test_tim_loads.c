/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the mechanism `loads`, which records for each load instruction how it uses L1, and divergence-aware scheduling with a
 * profile of these loads. Expected counts were computed by hand. 5.6 and 10 are sections of the warp scheduling thesis's
 * specification.
 */
#include "tests/timing/mechanisms/mech_fixture.h"
#include "timing/mechanisms/tim_daws_priv.h"

#include <unistd.h>

/* Kernel in which each lane reads two adjacent words of its own line, and a word that all lanes read. The first two loads have
 * the base register v1, and the others have v5. The last load, after the loop, is never diverged. */
#define TWO_BASES \
    ".kernel k\n.param ptr.global out\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v1, v1, 7\n" \
    "v_mov_b32 v5, 0\n" \
    "v_mov_b32 v12, 0\n" \
    "loop:\n" \
    "ld.global.b32 v3, [s4:5+v1]\n" \
    "ld.global.b32 v4, [s4:5+v1+4]\n" \
    "ld.global.b32 v6, [s4:5+v5]\n" \
    "v_add_u32 v12, v12, 1\n" \
    "v_setp_u32.lt p0, v12, 10\n" \
    "@p0 bra loop\n" \
    "ld.global.b32 v7, [s4:5+v5+4]\n" \
    "exit\n.end\n"
enum { LOOP = 5, FIRST = 5, SECOND = 6, SHARED = 7, LAST = 11 }; /* instruction numbers of the loop and of the loads */

static void on_lines(struct run *r)
{
    r->config->l1_line = r->config->l1_sector = 128;
    r->config->l1_bytes = 32768;
    r->config->l1_ways = 4;
}

/** Run @text in one warp with mechanism loads. Return the report, which the caller frees. */
static char *report_of(const char *text)
{
    struct run *r = run_new();
    struct lw_buffer out;
    char *copy;

    on_lines(r);
    r->config->loads_on = true;
    run_text(r, text, 1, 32);
    lw_buffer_init(&out);
    tim_report_json(&run_engine(r)->base, &out.sink);
    copy = strdup(out.text);
    lw_buffer_fini(&out);
    run_free(r);
    return copy;
}

static uint64_t member(const struct lw_yaml_document *doc, const struct lw_yaml *row, const char *key)
{
    struct lw_error err;
    uint64_t value;

    assert_int_equal(lw_yaml_u64(doc, lw_yaml_get(row, key), 0, UINT64_MAX, &value, &err), LW_OK);
    return value;
}

static void a_report_has_each_load(void **state)
{
    static const struct {
        uint64_t at, executions, accesses, diverged, misses, last_trip, reuses;
        const char *loop;
    } expected[] = {
        /* The first load accesses the line of a lane in 9 iterations after the first one. In each of these, the line was last
         * accessed in the preceding iteration, by the second load. */
        {FIRST, 10, 320, 10, 32, 288, 9, "80"}, {SECOND, 10, 320, 10, 0, 0, 10, "80"},
        /* The shared word is in the line of lane 0, which the warp has accessed earlier in the same iteration. */
        {SHARED, 10, 10, 0, 0, 0, 10, "80"}, {LAST, 1, 1, 0, 0, 0, 1, "null"},
    };
    char *text = report_of(TWO_BASES);
    struct lw_yaml_document *doc;
    struct lw_error err;
    const struct lw_yaml *row;

    (void)state;
    assert_int_equal(lw_yaml_parse("report", text, strlen(text), &doc, &err), LW_OK);
    row = lw_yaml_get(lw_yaml_root(doc), "loads")->first;
    for (unsigned i = 0; i < LW_COUNT_OF(expected); i++, row = row->next) {
        assert_non_null(row);
        assert_string_equal(lw_yaml_get(row, "function")->text, "k");
        assert_string_equal(lw_yaml_get(row, "loop")->text, expected[i].loop);
        assert_int_equal(member(doc, row, "offset"), expected[i].at * ISA_WORD_BYTES);
        assert_int_equal(member(doc, row, "executions"), expected[i].executions);
        assert_int_equal(member(doc, row, "lanes"), expected[i].executions * 32);
        assert_int_equal(member(doc, row, "wide"), expected[i].executions);
        assert_int_equal(member(doc, row, "diverged"), expected[i].diverged);
        assert_int_equal(member(doc, row, "accesses"), expected[i].accesses);
        assert_int_equal(member(doc, row, "hits_own") + member(doc, row, "hits_other") + member(doc, row, "merges") +
                         member(doc, row, "misses"), expected[i].accesses);
        assert_int_equal(member(doc, row, "misses"), expected[i].misses);
        assert_int_equal(member(doc, row, "last_trip"), expected[i].last_trip);
        assert_int_equal(member(doc, row, "reuses"), expected[i].reuses);
        /* All lanes are always active and the number of accesses is constant, so there is one bin. */
        const struct lw_yaml *bin = lw_yaml_get(row, "spread")->first;
        const char *most = expected[i].accesses == expected[i].executions ? "1" : "32";

        assert_string_equal(bin->first->text, "32");
        assert_string_equal(bin->first->next->text, most);
        assert_string_equal(bin->first->next->next->text, expected[i].executions == 10 ? "10" : "1");
        assert_null(bin->next);
    }
    assert_null(row);
    lw_yaml_destroy(doc);
    free(text);
}

/* Section 10: hits in a loop are counted by the iteration that last accessed the line. If a warp leaves a loop and enters it
 * again, that is no next iteration. */
static void hits_are_classed_by_iteration(void **state)
{
    static const unsigned loop[][2] = {{100, 120}, {105, 110}};
    struct mech_core *m = mech_new("loads.on=on l1.line=128", 8);

    (void)state;
    mech_loops(m, loop, 2);
    mech_begin(m, 2);
    for (unsigned w = 0; w < 2; w++)
        mech_at(m, w, 100, 32);
    mech_at(m, 0, 105, 32);
    (void)mech_access_at(m, 0, 1, 106);
    assert_true(mech_access_at(m, 0, 1, 107)); /* the line was last accessed in this iteration */
    mech_at(m, 0, 105, 32);
    assert_true(mech_access_at(m, 0, 1, 106)); /* the line was last accessed in the previous iteration */
    mech_at(m, 0, 112, 32);
    mech_at(m, 0, 100, 32);
    mech_at(m, 0, 105, 32);
    assert_true(mech_access_at(m, 0, 1, 106)); /* the line was last accessed before the warp left the inner loop */
    mech_at(m, 1, 105, 32);
    assert_true(mech_access_at(m, 1, 1, 106)); /* the line was last accessed by another warp */
    assert_int_equal(m->count[TIM_CORE_loop_hits_this], 1);
    assert_int_equal(m->count[TIM_CORE_loop_hits_last], 1);
    assert_int_equal(m->count[TIM_CORE_loop_hits_other], 2);
    assert_int_equal(m->count[TIM_CORE_loads_dropped], 0);
    mech_free(m);
}

/** Write @text to a file. Return the file's name, which is valid until the next call. */
static const char *file_of(const char *text)
{
    static char name[40];
    int fd;

    snprintf(name, sizeof name, "/tmp/lanewise-loads-XXXXXX");
    fd = mkstemp(name);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return name;
}

/* Section 5.6: the profile states which loads are diverged, and loads with the same base register form a load group. The
 * footprint is 32 lines for the load group of two diverged loads and 2 lines for the other load. The sum is therefore 32 + 2 and
 * not 32 + 32 + 2. */
static void daws_predicts_by_a_profile(void **state)
{
    char *text = report_of(TWO_BASES);
    const char *name = file_of(text);
    struct run *r = run_new();
    const struct tim_daws_tables *t;
    struct lw_error err;
    uint64_t base;

    (void)state;
    on_lines(r);
    r->config->daws_on = true;
    assert_int_equal(tim_config_set_profile(r->config, name, &err), LW_OK);
    run_text(r, TWO_BASES, 1, 32);
    t = tim_daws_tables_of(run_engine(r)->core[0]->mechs.mech[0]);
    assert_int_equal(t->samples, 1);
    base = t->sample[0].loop - LOOP * ISA_WORD_BYTES;
    assert_true(tim_daws_has_locality(t, t->sample[0].loop));
    assert_int_equal(t->loads, 3);
    assert_int_equal(t->load[0].pc, base + FIRST * ISA_WORD_BYTES);
    assert_true(t->load[0].is_div && t->load[1].is_div && !t->load[2].is_div);
    assert_int_equal(t->load[0].rep, t->load[1].rep);
    assert_int_not_equal(t->load[0].rep, t->load[2].rep);
    assert_int_equal(tim_daws_predict(t, t->sample[0].loop, 32), 34);
    assert_int_equal(run_engine(r)->stats[0].count[TIM_CORE_daws_samples], 0);
    run_free(r);
    unlink(name);
    free(text);
}

/* If the base register is written between two loads, the loads are not in the same load group. */
static void a_written_base_is_another(void **state)
{
    static const char between[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v1, v1, 7\n"
        "v_mov_b32 v12, 0\n"
        "loop:\n"
        "ld.global.b32 v3, [s4:5+v1]\n"
        "v_add_u32 v1, v1, 64\n"
        "ld.global.b32 v4, [s4:5+v1]\n"
        "v_add_u32 v1, v1, 0xffffffc0\n"
        "v_add_u32 v12, v12, 1\n"
        "v_setp_u32.lt p0, v12, 10\n"
        "@p0 bra loop\n"
        "exit\n.end\n";
    char *text = report_of(between);
    const char *name = file_of(text);
    struct run *r = run_new();
    const struct tim_daws_tables *t;
    struct lw_error err;

    (void)state;
    on_lines(r);
    r->config->daws_on = true;
    assert_int_equal(tim_config_set_profile(r->config, name, &err), LW_OK);
    run_text(r, between, 1, 32);
    t = tim_daws_tables_of(run_engine(r)->core[0]->mechs.mech[0]);
    assert_int_equal(t->loads, 2);
    assert_int_not_equal(t->load[0].rep, t->load[1].rep);
    assert_int_equal(tim_daws_predict(t, t->sample[0].loop, 32), 64);
    run_free(r);
    unlink(name);
    free(text);
}

/* Section 5.6: a loop whose loads never hit has no locality, so it is not throttled, and the table does not contain its loads. */
static void a_loop_without_reuse_is_free(void **state)
{
    static const char stream[] =
        ".kernel k\n.param ptr.global out\n"
        "s_mov_b64 s4:5, c[out]\n"
        "v_s2r v1, %tid.x\n"
        "v_shl_b32 v1, v1, 5\n"
        "v_mov_b32 v12, 0\n"
        "loop:\n"
        "ld.global.b32 v3, [s4:5+v1]\n"
        "v_add_u32 v1, v1, 1024\n"
        "v_add_u32 v12, v12, 1\n"
        "v_setp_u32.lt p0, v12, 3\n"
        "@p0 bra loop\n"
        "exit\n.end\n";
    char *text = report_of(stream);
    const char *name = file_of(text);
    struct run *r = run_new();
    const struct tim_daws_tables *t;
    struct lw_error err;

    (void)state;
    on_lines(r);
    r->config->daws_on = true;
    assert_int_equal(tim_config_set_profile(r->config, name, &err), LW_OK);
    run_text(r, stream, 1, 32);
    t = tim_daws_tables_of(run_engine(r)->core[0]->mechs.mech[0]);
    assert_int_equal(t->samples, 1);
    assert_false(tim_daws_has_locality(t, t->sample[0].loop));
    assert_int_equal(t->loads, 0);
    run_free(r);
    unlink(name);
    free(text);
}

static void bad_profiles_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"{\"cycles\": 1}", "expected a timing report with a profile of loads: write one"},
        {"{\"loads\": 3}", "expected a timing report with a profile of loads: write one"},
        {"{\"loads\": [3]}", "expected an entry for a load of a timing report"},
        {"{\"loads\": [{\"offset\": 3}]}", "a load has no \"function\""},
        {"{\"loads\": [{\"function\": \"k\", \"offset\": 3}]}", "a load has no \"loop\""},
        {"{\"loads\": [{\"function\": \"k\", \"offset\": 3, \"loop\": null}]}", "a load has no \"executions\""},
        {"{\"loads\": [{\"function\": \"k\", \"offset\": -3, \"loop\": null}]}", "-3"},
        {"{\"loads\": [{\"function\": [], \"offset\": 3, \"loop\": null}]}", "expected"},
        {"{\"loads\": [", ""},
    };
    struct tim_config *config;
    struct lw_error err;

    (void)state;
    assert_int_equal(tim_config_load("rogers", &config, &err), LW_OK);
    for (unsigned i = 0; i < LW_COUNT_OF(bad); i++) {
        const char *name = file_of(bad[i].text);

        assert_int_not_equal(tim_config_set_profile(config, name, &err), LW_OK);
        if (strstr(err.text, bad[i].error) == NULL || strstr(err.text, name) == NULL)
            fail_msg("%s: %s", bad[i].text, err.text);
        assert_null(config->profile);
        unlink(name);
    }
    assert_int_not_equal(tim_config_set_profile(config, "/nonexistent/report", &err), LW_OK);
    tim_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_has_each_load),         cmocka_unit_test(hits_are_classed_by_iteration),
        cmocka_unit_test(daws_predicts_by_a_profile),     cmocka_unit_test(a_written_base_is_another),
        cmocka_unit_test(a_loop_without_reuse_is_free),   cmocka_unit_test(bad_profiles_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
