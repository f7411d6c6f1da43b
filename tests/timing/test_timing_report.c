/* SPDX-License-Identifier: Apache-2.0 */
/* Tests reports of the timing model on synthetic counters with known results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/lib/golden_page.h"
#include "timing/tim_priv.h"

enum { CORES = 2, SLICES = 4, CHANNELS = 2, CYCLES = 1000 };

struct fixture {
    struct tim_config *config;
    struct tim_core_stats core[CORES];
    struct tim_slice_stats slice[SLICES];
    struct tim_channel_stats channel[CHANNELS];
    const struct tim_slice_stats *slices[SLICES];
    const struct tim_channel_stats *channels[CHANNELS];
    struct tim_kernel_stats kernel[2];
    struct tim_totals totals;
};

static int setup(void **state)
{
    static const char *const sets[] = {"core.count=2",  "l2.slices=4",       "dram.channels=2",
                                       "clocks.l2=700", "issue.schedulers=2"};
    struct fixture *f = calloc(1, sizeof *f);
    struct lw_error err;

    if (f == NULL || tim_config_default(&f->config, &err) != LW_OK)
        return -1;
    for (unsigned i = 0; i < LW_COUNT_OF(sets); i++)
        if (tim_config_set(f->config, sets[i], &err) != LW_OK)
            return -1;
    for (unsigned c = 0; c < CORES; c++) {
        struct tim_core_stats *core = &f->core[c];

        core->count[TIM_CORE_active_cycles] = CYCLES;
        core->count[TIM_CORE_warp_cycles] = 24 * CYCLES; /* half of 48 warp slots are in use */
        core->count[TIM_CORE_l1_hits] = 60;
        core->count[TIM_CORE_l1_misses] = 30;
        core->count[TIM_CORE_l1_merges] = 10;
        core->count[TIM_CORE_access_lanes] = 1600;
        core->count[TIM_CORE_accesses] = 100;
        core->count[TIM_CORE_global_loads] = 50;
        core->count[TIM_CORE_requests] = 40;
        core->count[TIM_CORE_load_cycles] = 10000;
        core->count[TIM_CORE_loads_done] = 50;
        for (unsigned i = 0; i < 50; i++)
            tim_histogram_add(&core->histogram[TIM_CORE_H_load_latency], i < 30 ? 28 : 458);
        for (unsigned s = 0; s < 2; s++) {
            core->sched[s].count[TIM_SCHED_instructions] = 400;
            core->sched[s].count[TIM_SCHED_thread_instructions] = 400 * 24;
            core->sched[s].reason[0][TIM_STALL_ISSUED] = 400;
            core->sched[s].reason[0][TIM_STALL_LOAD] = 350;
            core->sched[s].reason[0][TIM_STALL_EMPTY] = 250;
        }
    }
    for (unsigned i = 0; i < SLICES; i++) {
        f->slices[i] = &f->slice[i];
        f->slice[i].count[TIM_SLICE_reads] = 10 + i;
        f->slice[i].count[TIM_SLICE_hits] = 8;
        f->slice[i].count[TIM_SLICE_misses] = 2;
        f->slice[i].count[TIM_SLICE_queue_cycles] = 250; /* the sum over 500 cycles of the L2 clock */
    }
    for (unsigned i = 0; i < CHANNELS; i++) {
        f->channels[i] = &f->channel[i];
        f->channel[i].count[TIM_CHANNEL_reads] = 60;
        f->channel[i].count[TIM_CHANNEL_writes] = 20;
        f->channel[i].count[TIM_CHANNEL_row_hits] = 20;
        f->channel[i].count[TIM_CHANNEL_busy_cycles] = 66; /* the channel is busy in 66 of 660 cycles of the DRAM clock */
        f->channel[i].count[TIM_CHANNEL_active_cycles] = 132;
        f->channel[i].count[TIM_CHANNEL_queue_cycles] = 264;
    }
    f->totals = (struct tim_totals){
        .config = f->config,
        .core = f->core,
        .slice = f->slices,
        .channel = f->channels,
        .gpu = {[TIM_GPU_cycles] = CYCLES, [TIM_GPU_kernels] = 2, [TIM_GPU_warp_instructions] = 1600},
        .kernel = f->kernel,
        .kernel_count = 2,
    };
    f->kernel[0] = (struct tim_kernel_stats){.name = "first\"\\\n", .grid = 1, .started = 300, .begun = 320, .ended = 899,
                                             .blocks = 7};
    tim_sums_take(&f->totals, &f->kernel[0].sums);
    f->kernel[0].sums.gpu[TIM_GPU_cycles] = 600;
    f->kernel[1] = (struct tim_kernel_stats){.name = "a_kernel_with_a_very_long_name_of_a_template",
                                             .grid = 2, .started = 940, .begun = 950};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tim_config_destroy(f->config);
    free(f);
    return 0;
}

static double ratio(const struct fixture *f, const char *name)
{
    struct tim_sums sums;

    tim_sums_take(&f->totals, &sums);
    for (size_t i = 0; i < tim_ratio_count; i++)
        if (strcmp(tim_ratios[i].name, name) == 0)
            return tim_ratios[i].value(&sums, f->config);
    fail_msg("no ratio %s", name);
    return 0;
}

static void assert_ratio(const struct fixture *f, const char *name, double value)
{
    double found = ratio(f, name);

    if (!(fabs(found - value) <= 1e-9 * fabs(value)))
        fail_msg("%s: expected %g, found %g", name, value, found);
}

static void ratios_are_what_their_counters_say(void **state)
{
    const struct fixture *f = *state;

    assert_ratio(f, "ipc", 1.6);
    assert_ratio(f, "thread_ipc", 1.6 * 24);
    assert_ratio(f, "simd_efficiency", 0.75);
    assert_ratio(f, "occupancy", 0.5);
    assert_ratio(f, "cores_active", 1);
    assert_ratio(f, "slots_issued", 0.4);
    assert_ratio(f, "l1_hit_rate", 0.6);
    assert_ratio(f, "l1_mpki", 1000.0 * 60 / 38400);
    assert_ratio(f, "l1_mpki_warp", 1000.0 * 60 / 1600);
    assert_ratio(f, "coalescing_rate", 40);
    assert_ratio(f, "lanes_an_access", 16);
    assert_ratio(f, "accesses_an_instruction", 2);
    assert_ratio(f, "load_latency", 200);
    assert_ratio(f, "l2_hit_rate", 0.8);
    assert_ratio(f, "l2_queue", 0.5);
    assert_ratio(f, "dram_row_hit_rate", 0.25);
    assert_ratio(f, "dram_efficiency", 0.5);
    assert_ratio(f, "dram_utilisation", 66 / 660.0);
    assert_ratio(f, "dram_queue", 2);
    /* the bandwidth in GB/s: 160 bursts of 64 bytes in 1000 cycles at 1400 MHz */
    assert_ratio(f, "dram_bandwidth", 160 * 64 * 1.4 / 1000);
    assert_true(isnan(ratio(f, "texture_hit_rate")));
}

static char *report(const struct fixture *f)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    tim_totals_print(&f->totals, &text.sink);
    return text.text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void the_text_shows_stall_reasons_that_sum_to_all_slots(void **state)
{
    char *text = report(*state);
    const char *p = strstr(text, "\nissue slots: 4,000,");
    double sum = 0;

    assert_non_null(p);
    p = strchr(p + 1, '\n') + 1;
    for (; *p == ' '; p = strchr(p, '\n') + 1) {
        double share;

        assert_int_equal(sscanf(p, " %*s %*s %lf", &share), 1);
        sum += share;
    }
    assert_true(fabs(sum - 100) < 0.2);
    assert_has(text, "  issued                            1,600   40.0 %  issued in this cycle\n");
    free(text);
}

static void the_text_has_tables_for_kernels_ratios_counters_and_histograms(void **state)
{
    char *text = report(*state);

    assert_has(text, "timing: default, 2 cores of 48 warps of 32 lanes, 1400 MHz\n");
    assert_has(text, "  cycles                            1,000  0.714 us\n");
    assert_has(text, "  l1_hit_rate                      60.0 %  hit rate of loads in L1.");
    assert_null(strstr(text, "dispatch_idle")); /* a stall reason that never occurred is left out */
    assert_has(text, "running\n");
    assert_has(text, "a_kernel_wi.."); /* a long name is shown by its beginning and its end */
    assert_has(text, "a_template");
    assert_has(text, "  of the slices, 3 has the most reads and writes (13) and 0 the fewest (10)\n");
    assert_has(text, "\ncores, load_latency (cycles): time from the issue of a load to its last result. "
                     "Loads that access only shared memory are not included\n  100 values, mean 200.0, maximum 458\n");
    assert_has(text, "  16-31                                60   60.0 %  ########################\n");
    assert_has(text, "  256-511                              40   40.0 %  ################\n");
    assert_has(text, "\nenergy (an estimate: events times the keys of section energy): ");
    assert_has(text, " 1.638 uJ "); /* 160 bursts of 64 bytes at 160 pJ */
    assert_null(strstr(text, "texture_hit_rate")); /* a ratio without a divisor is left out */
    assert_null(strstr(text, "nan"));
    free(text);
}

static void a_machine_that_has_not_begun_has_a_report(void **state)
{
    struct fixture *f = *state, empty = *f;
    char *text;

    memset(empty.core, 0, sizeof empty.core);
    memset(empty.slice, 0, sizeof empty.slice);
    memset(empty.channel, 0, sizeof empty.channel);
    memset(empty.totals.gpu, 0, sizeof empty.totals.gpu);
    empty.totals.core = empty.core;
    for (unsigned i = 0; i < SLICES; i++)
        empty.slices[i] = &empty.slice[i];
    for (unsigned i = 0; i < CHANNELS; i++)
        empty.channels[i] = &empty.channel[i];
    empty.totals.slice = empty.slices;
    empty.totals.channel = empty.channels;
    empty.totals.kernel_count = 0;
    text = report(&empty);
    assert_null(strstr(text, "nan"));
    free(text);
}

static void any_counter_that_differs_gives_another_hash(void **state)
{
    struct fixture *f = *state;
    const uint64_t hash = tim_totals_hash(&f->totals);
    uint64_t *const counters[] = {
        &f->totals.gpu[TIM_GPU_cycles],
        &f->core[1].count[TIM_CORE_barrier_waits],
        &f->core[0].sched[1].count[TIM_SCHED_switches],
        &f->core[1].sched[1].reason[0][TIM_STALL_EMPTY],
        &f->core[0].histogram[TIM_CORE_H_passes_an_access].most,
        &f->core[0].histogram[TIM_CORE_H_load_latency].bucket[3],
        &f->slice[SLICES - 1].count[TIM_SLICE_queue_cycles],
        &f->slice[0].histogram[TIM_SLICE_H_waiting].sum,
        &f->channel[CHANNELS - 1].count[TIM_CHANNEL_queue_cycles],
        &f->channel[0].histogram[TIM_CHANNEL_H_COUNT - 1].bucket[0],
        &f->kernel[1].begun,
    };

    for (unsigned i = 0; i < LW_COUNT_OF(counters); i++) {
        ++*counters[i];
        assert_true(tim_totals_hash(&f->totals) != hash);
        --*counters[i];
    }
    assert_true(tim_totals_hash(&f->totals) == hash);
}

static void samples_hold_what_came_since_the_last(void **state)
{
    struct fixture *f = *state;
    struct tim_samples samples = {.every = 400};
    struct tim_sums difference;

    assert_int_equal(tim_samples_next(&samples), 400);
    tim_samples_add(&samples, 400, &f->totals);
    assert_int_equal(tim_samples_next(&samples), 800);
    f->core[0].sched[0].count[TIM_SCHED_instructions] += 77;
    f->totals.gpu[TIM_GPU_cycles] += 400;
    tim_samples_add(&samples, 800, &f->totals);
    difference = samples.sample[1].sums;
    tim_sums_subtract(&difference, &samples.sample[0].sums);
    assert_int_equal(difference.sched[TIM_SCHED_instructions], 77);
    assert_int_equal(difference.gpu[TIM_GPU_cycles], 400);
    assert_int_equal(difference.channel[TIM_CHANNEL_reads], 0);
    tim_samples_fini(&samples);
    assert_true(tim_samples_next(&samples) == UINT64_MAX);
}

/* Python must be able to read the JSON report. test_timing.sh checks this for a run; this test checks it for unusual names of
 * kernels. */
static void the_json_is_json_and_has_every_counter(void **state)
{
    struct fixture *f = *state;
    struct tim_samples samples = {.every = 500};
    struct lw_buffer text;
    FILE *python;

    tim_samples_add(&samples, 500, &f->totals);
    tim_samples_add(&samples, 1000, &f->totals);
    f->totals.sample = samples.sample;
    f->totals.sample_count = samples.count;
    f->totals.sample_cycles = 500;
    lw_buffer_init(&text);
    tim_totals_json(&f->totals, &text.sink);
    python = popen("python3 -c '\n"
                   "import json, sys\n"
                   "r = json.load(sys.stdin)\n"
                   "assert r[\"cycles\"] == 1000 and r[\"machine\"] == \"default\"\n"
                   "assert r[\"kernels\"][0][\"name\"] == \"first\\x22\\x5c\\x0a\"\n"
                   "assert r[\"kernels\"][0][\"cycles\"] == 600 and r[\"kernels\"][1][\"ended\"] is None\n"
                   "assert len(r[\"cores\"]) == 2 and len(r[\"slices\"]) == 4 and len(r[\"channels\"]) == 2\n"
                   "assert abs(r[\"ratios\"][\"ipc\"] - 1.6) < 1e-9 and r[\"ratios\"][\"texture_hit_rate\"] is None\n"
                   "assert sum(r[\"cores\"][0][\"schedulers\"][0][\"causes\"][0].values()) == 1000\n"
                   "assert set(r[\"units\"][\"cores\"]) <= set(r[\"cores\"][0])\n"
                   "assert set(r[\"units\"][\"slices\"]) | {\"histograms\"} == set(r[\"slices\"][0])\n"
                   "assert set(r[\"units\"][\"histograms\"]) == {\"cores\", \"slices\", \"channels\"}\n"
                   "for s, h in r[\"units\"][\"histograms\"].items(): assert set(h) == set(r[\"histograms\"][s]) == set(r[s][0][\"histograms\"])\n"
                   "assert set(r[\"units\"][\"ratios\"]) == set(r[\"ratios\"])\n"
                   "for e in [r[\"energy\"], r[\"kernels\"][0][\"energy\"], r[\"samples\"][0][\"energy\"]]:\n"
                   "    assert set(e[\"components\"]) == set(r[\"units\"][\"energy\"])\n"
                   "    assert e[\"joules\"] > 0 and abs(sum(e[\"components\"].values()) / e[\"joules\"] - 1) < 1e-6\n"
                   "assert abs(r[\"energy\"][\"watts\"] - r[\"energy\"][\"joules\"] / r[\"seconds\"]) < 1e-6 * r[\"energy\"][\"watts\"]\n"
                   "assert r[\"config\"][\"core\"][\"count\"] == 2 and r[\"config\"][\"issue\"][\"policy\"] == \"gto\"\n"
                   "assert r[\"config\"][\"units\"][\"int\"] == {\"pipes\": 2, \"lanes\": 16, \"latency\": 14}\n"
                   "assert r[\"config\"][\"fetch\"][\"perfect\"] is False\n"
                   "assert [s[\"cycle\"] for s in r[\"samples\"]] == [500, 1000]\n"
                   "assert r[\"samples\"][1][\"sums\"][\"gpu\"][\"cycles\"] == 0\n"
                   "'", "w");
    assert_non_null(python);
    fwrite(text.text, 1, text.size, python);
    assert_int_equal(pclose(python), 0);
    lw_buffer_fini(&text);
    tim_samples_fini(&samples);
}

/* ---- docs/reference/timing-counters.md ----------------------------------------------------------------- */

static void put_rows(struct lw_sink *out, const char *title, const struct tim_counter *rows,
                     unsigned count)
{
    lw_printf(out, "\n## %s\n\n| counter | unit | meaning |\n|---|---|---|\n", title);
    for (unsigned i = 0; i < count; i++)
        lw_printf(out, "| `%s` | %s | %s |\n", rows[i].name, rows[i].unit, rows[i].help);
}

static void put_histograms(struct lw_sink *out, const char *lane_ref, const struct tim_counter *rows,
                           unsigned count)
{
    lw_printf(out, "\n| %s | unit | meaning |\n|---|---|---|\n", lane_ref);
    for (unsigned i = 0; i < count; i++)
        lw_printf(out, "| `%s` | %s | %s |\n", rows[i].name, rows[i].unit, rows[i].help);
}

static void put_page(struct lw_sink *out)
{
    lw_put(out, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
                "# What the timing model counts\n\n"
                "This page lists all counters of `--timing-report`; [measure-cycles](../howto/measure-cycles.md) describes the form of the report.\n"
                "`make golden T=tests/timing/test_timing_report` generates this page from the tables of the program.\n\n"
                "## Stall reasons\n\n"
                "Each issue slot has exactly one stall reason in each cycle: the first row of this table that holds for any warp\n"
                "of the scheduler. The counts of all stall reasons sum to cycles x slots. The command `why` shows the stall reason of one warp; the column *meaning* describes the state of this warp.\n\n"
                "| stall reason | meaning |\n|---|---|\n");
    for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
        lw_printf(out, "| `%s` | %s |\n", tim_stall_name((enum tim_stall)i),
                  tim_stall_message((enum tim_stall)i));
    lw_put(out, "\n## Ratios\n\n"
                "Ratios are computed from the counters on this page. A ratio with a divisor of 0 is omitted in the text, and null in JSON.\n"
                "JSON gives shares as fractions of 1.\n\n| ratio | unit | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < tim_ratio_count; i++)
        lw_printf(out, "| `%s` | %s | %s |\n", tim_ratios[i].name,
                  tim_ratios[i].share ? "%" : tim_ratios[i].unit, tim_ratios[i].help);
    put_rows(out, "Counters of the GPU", tim_gpu_counters, TIM_GPU_COUNT);
    put_rows(out, "Counters of a scheduler", tim_sched_counters, TIM_SCHED_COUNT);
    put_rows(out, "Counters of a core", tim_core_counters, TIM_CORE_COUNT);
    put_rows(out, "Counters of an L2 slice", tim_slice_counters, TIM_SLICE_COUNT);
    put_rows(out, "Counters of a DRAM channel", tim_channel_counters, TIM_CHANNEL_COUNT);
    lw_put(out, "\n## Histograms\n\n"
                "A histogram counts values in buckets by powers of two, and records their sum and maximum. A waiting time is\n"
                "counted when the wait ends. A queue's depth is recorded at each arrival; the ratios `l2_queue` and `dram_queue`\n"
                "are averages over time.\n");
    put_histograms(out, "histogram of a core", tim_core_histograms, TIM_CORE_H_COUNT);
    put_histograms(out, "histogram of an L2 slice", tim_slice_histograms, TIM_SLICE_H_COUNT);
    put_histograms(out, "histogram of a DRAM channel", tim_channel_histograms, TIM_CHANNEL_H_COUNT);
}

static void the_page_of_counters_is_the_one_that_the_tables_give(void **state)
{
    struct lw_buffer page;

    (void)state;
    lw_buffer_init(&page);
    put_page(&page.sink);
    golden_page("docs/reference/timing-counters.md", &page, "tests/timing/test_timing_report");
    lw_buffer_fini(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ratios_are_what_their_counters_say, setup, teardown),
        cmocka_unit_test_setup_teardown(the_text_shows_stall_reasons_that_sum_to_all_slots, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_text_has_tables_for_kernels_ratios_counters_and_histograms, setup, teardown),
        cmocka_unit_test_setup_teardown(a_machine_that_has_not_begun_has_a_report, setup, teardown),
        cmocka_unit_test_setup_teardown(any_counter_that_differs_gives_another_hash, setup, teardown),
        cmocka_unit_test_setup_teardown(samples_hold_what_came_since_the_last, setup, teardown),
        cmocka_unit_test_setup_teardown(the_json_is_json_and_has_every_counter, setup, teardown),
        cmocka_unit_test(the_page_of_counters_is_the_one_that_the_tables_give),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
