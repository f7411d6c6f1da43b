/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reading of GPU models: shipped models, the messages for invalid models, and the page of docs/reference that lists
 * the keys. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/golden_page.h"
#include "timing/tim_priv.h"

static struct tim_config *load(const char *name)
{
    struct tim_config *config = NULL;
    struct lw_error err;

    if (tim_config_load(name, &config, &err) != LW_OK)
        fail_msg("%s", err.text);
    return config;
}

static void expect_read(const char *text, const char *message)
{
    struct tim_config *config = NULL;
    struct lw_error err = {0};

    if (tim_config_read("m.yaml", text, strlen(text), &config, &err) == LW_OK) {
        tim_config_destroy(config);
        fail_msg("an invalid model was read: %s", text);
    }
    assert_null(config);
    assert_string_equal(err.text, message);
}

static void every_shipped_machine_loads_and_what_is_printed_of_it_loads_the_same(void **state)
{
    unsigned count = 0;

    (void)state;
    for (; tim_machines[count].name != NULL; count++) {
        struct tim_config *config = load(tim_machines[count].name), *recheck_at = NULL;
        struct lw_buffer first, second;
        struct lw_error err;

        assert_string_equal(config->name, tim_machines[count].name);
        assert_true(strlen(tim_machines[count].summary) > 10);
        lw_buffer_init(&first);
        lw_buffer_init(&second);
        tim_config_print(config, &first.sink);
        if (tim_config_read(config->name, first.text, first.size, &recheck_at, &err) != LW_OK)
            fail_msg("%s", err.text);
        tim_config_print(recheck_at, &second.sink);
        assert_string_equal(first.text, second.text);
        lw_buffer_fini(&first);
        lw_buffer_fini(&second);
        tim_config_destroy(config);
        tim_config_destroy(recheck_at);
    }
    assert_int_equal(count, 8);
}

static void fermi_is_the_machine_of_all_defaults(void **state)
{
    struct tim_config *fermi = load("fermi"), *plain = NULL;
    struct lw_error err;

    (void)state;
    assert_int_equal(tim_config_default(&plain, &err), LW_OK);
    free(plain->name);
    plain->name = strdup("fermi");
    struct lw_buffer a, b;
    lw_buffer_init(&a);
    lw_buffer_init(&b);
    tim_config_print(fermi, &a.sink);
    tim_config_print(plain, &b.sink);
    assert_string_equal(a.text, b.text);
    lw_buffer_fini(&a);
    lw_buffer_fini(&b);
    tim_config_destroy(fermi);
    tim_config_destroy(plain);
}

static void a_file_begins_with_the_machine_that_it_names(void **state)
{
    static const char text[] = "l1: {bytes: 32768}\nmachine: volta\nunits: {int: {latency: 6}}\n";
    struct tim_config *config = NULL;
    struct lw_error err;

    (void)state;
    assert_int_equal(tim_config_read("m.yaml", text, sizeof text - 1, &config, &err), LW_OK);
    assert_int_equal(config->core_count, 80);
    assert_int_equal(config->l1_bytes, 32768);
    assert_int_equal(config->unit[ISA_UNIT_INT].latency, 6);
    assert_int_equal(config->unit[ISA_UNIT_INT].pipes, 4);
    tim_config_destroy(config);
}

static void what_is_wrong_in_a_file_is_reported_with_its_line(void **state)
{
    (void)state;
    expect_read("core:\n  count: 0\n",
                "m.yaml:2: core.count: expected an integer from 1 to 1024 (cores), found \"0\"");
    expect_read("core:\n  count: 4294967297\n", "m.yaml:2: core.count: expected an integer from 1 "
                "to 1024 (cores), found \"4294967297\"");
    expect_read("core: {count: many}\n", "m.yaml:1: core.count: expected an integer from 1 to 1024 "
                "(cores), found \"many\"");
    expect_read("core:\n  warps: 4\n  cuont: 3\n",
                "m.yaml:3: unknown key \"core.cuont\"; did you mean \"core.count\"?");
    expect_read("core: {mshrs: 3}\n",
                "m.yaml:1: unknown key \"core.mshrs\"; did you mean \"l1.mshrs\"?");
    expect_read("\ncors: {count: 3}\n",
                "m.yaml:2: unknown section \"cors\"; did you mean \"core\"?");
    expect_read("issue: {policy: gt0}\n",
                "m.yaml:1: issue.policy: unknown name \"gt0\"; did you mean \"gto\"? "
                "The names are lrr, gto, two_level, swl, cggty, active_pending");
    expect_read("issue: {policy: fifo}\n",
                "m.yaml:1: issue.policy: unknown name \"fifo\"; the names are lrr, gto, two_level, swl, cggty, active_pending");
    expect_read("fetch: {perfect: 2}\n",
                "m.yaml:1: fetch.perfect: expected true or false, found \"2\"");
    expect_read("l1: 3\n", "m.yaml:1: l1: expected a mapping such as {KEY: VALUE}");
    expect_read("l1: {bytes: [1]}\n", "m.yaml:1: l1.bytes: expected an integer from 0 to 16777216 "
                "(bytes), found \"[...]\"");
    expect_read("units: {itn: {pipes: 1}}\n",
                "m.yaml:1: unknown unit \"itn\"; did you mean \"int\"?");
    expect_read("units:\n  int:\n    pips: 1\n",
                "m.yaml:3: unknown key \"units.int.pips\"; did you mean \"units.int.pipes\"?");
    expect_read("units: {int: 3}\n", "m.yaml:1: int: expected a mapping such as {pipes: 2, lanes: "
                "16, latency: 14}");
    expect_read("base: volt\n",
                "m.yaml:1: base: unknown GPU model \"volt\"; did you mean \"volta\"?");
    expect_read("base: titan\n", "m.yaml:1: base: \"titan\" is neither a shipped GPU model nor a file; the shipped models are ampere, fermi, gcn-tahiti, kepler-k20c, rogers, rogers-vws, tesla-dwr, volta");
    expect_read("machine: volta\nbase: volta\n", "m.yaml:1: machine is the former name of base: remove one of the two keys");
    expect_read("base: /nowhere/m.yaml\n", "m.yaml:1: base: /nowhere/m.yaml: cannot be read: "
                "No such file or directory");
    expect_read("[1, 2]\n", "m.yaml:1: expected sections such as core: {count: 15}");
    expect_read("", "m.yaml:1: the file is empty");
}

static void every_number_is_refused_outside_its_range_and_taken_at_its_ends(void **state)
{
    struct tim_config *config = load("fermi");
    struct lw_error err;
    unsigned numbers = 0;
    char text[128];

    (void)state;
    for (size_t i = 0; i < tim_key_count; i++) {
        const struct tim_key *k = &tim_keys[i];

        if (k->kind != TIM_KEY_NUMBER)
            continue;
        numbers++;
        assert_true(k->low <= k->value && k->value <= k->high);
        snprintf(text, sizeof text, "%s.%s=%u", k->section, k->name, k->low);
        assert_int_equal(tim_config_set(config, text, &err), LW_OK);
        snprintf(text, sizeof text, "%s.%s=%u", k->section, k->name, k->high);
        assert_int_equal(tim_config_set(config, text, &err), LW_OK);
        assert_int_equal(*(unsigned *)(void *)((char *)config + k->offset), k->high);
        snprintf(text, sizeof text, "%s.%s=%llu", k->section, k->name,
                 (unsigned long long)k->high + 1);
        assert_int_equal(tim_config_set(config, text, &err), LW_EUSAGE);
        assert_non_null(strstr(err.text, k->name));
        assert_int_equal(*(unsigned *)(void *)((char *)config + k->offset), k->high);
        if (k->low == 0)
            continue;
        snprintf(text, sizeof text, "%s.%s=%u", k->section, k->name, k->low - 1);
        assert_int_equal(tim_config_set(config, text, &err), LW_EUSAGE);
    }
    assert_true(numbers > 100);
    tim_config_destroy(config);
}

static void bytes_are_shown_in_kilobytes_and_megabytes_too(void **state)
{
    static const struct {
        const char *text;
        unsigned bytes;
    } rows[] = {{"64K", 65536}, {"64Ki", 65536}, {"64KiB", 65536}, {"1M", 1048576}, {"16MiB", 16777216},
                {"0K", 0}, {"0x8000", 32768}};
    static const char *const wrong[] = {"64k", "64KB", "64 K", "K", "17M", "-1K", "0x4K", "64Kib", "1.5K",
                                        "18014398509481985K", "4294967296M", "00000000000000000064K"};
    struct tim_config *config = load("fermi");
    struct lw_error err;
    char text[80], expected[200];

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        snprintf(text, sizeof text, "l1.bytes=%s", rows[i].text);
        assert_int_equal(tim_config_set(config, text, &err), LW_OK);
        assert_int_equal(config->l1_bytes, rows[i].bytes);
    }
    for (unsigned i = 0; i < LW_COUNT_OF(wrong); i++) {
        snprintf(text, sizeof text, "l1.bytes=%s", wrong[i]);
        snprintf(expected, sizeof expected, "l1.bytes: expected an integer from 0 to 16777216 (bytes), "
                 "found \"%s\"", wrong[i]);
        assert_int_equal(tim_config_set(config, text, &err), LW_EUSAGE);
        assert_string_equal(err.text, expected);
    }
    assert_int_equal(tim_config_set(config, "core.registers=64K", &err), LW_EUSAGE);
    tim_config_destroy(config);
}

static void choices_name_the_constants_that_the_code_uses(void **state)
{
    static const struct {
        const char *assignment;
        size_t offset;
        unsigned value;
    } rows[] = {
#define AT(field) offsetof(struct tim_config, field)
        {"core.reconvergence=stack", AT(core_reconvergence), TIM_RECONV_STACK},
        {"issue.policy=two_level", AT(issue_policy), TIM_SCHED_TWO_LEVEL},
        {"issue.policy=swl", AT(issue_policy), TIM_SCHED_SWL},
        {"issue.limit=7", AT(issue_limit), 7},
        {"issue.inner=gto", AT(issue_inner), TIM_ORDER_GTO},
        {"issue.dependence=control", AT(issue_dependence), TIM_DEP_CONTROL},
        {"issue.war=bloom", AT(issue_war), TIM_WAR_BLOOM},
        {"registers.collector=reserved", AT(registers_collector), TIM_COLLECTOR_RESERVED},
        {"lsu.coalesce=half_segment", AT(lsu_coalesce), TIM_COALESCE_HALF_SEGMENT},
        {"lsu.replay=buffer", AT(lsu_replay), TIM_REPLAY_BUFFER},
        {"l1.global=off", AT(l1_global), TIM_L1_OFF},
        {"l1.store=update", AT(l1_store), TIM_STORE_UPDATE},
        {"icnt.hash=xor", AT(icnt_hash), TIM_HASH_XOR},
        {"l2.write=through", AT(l2_write), TIM_L2_THROUGH},
        {"dram.policy=fcfs", AT(dram_policy), TIM_DRAM_FCFS},
        {"kernels.policy=rr", AT(kernels_policy), TIM_BLOCKS_RR},
#undef AT
    };
    struct tim_config *config = load("fermi");
    struct lw_error err;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        assert_int_equal(tim_config_set(config, rows[i].assignment, &err), LW_OK);
        assert_int_equal(*(unsigned *)(void *)((char *)config + rows[i].offset), rows[i].value);
    }
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++) { /* units have the same names as in isa/ */
        char text[64];

        snprintf(text, sizeof text, "units.%s.latency=%u", isa_unit_name((enum isa_unit)u), 100 + u);
        assert_int_equal(tim_config_set(config, text, &err), LW_OK);
        assert_int_equal(config->unit[u].latency, 100 + u);
    }
    tim_config_destroy(config);
}

static void keys_that_do_not_fit_each_other_are_refused(void **state)
{
    static const struct {
        const char *set, *message;
    } rows[] = {
        {"l1.bytes=1000", "l1.bytes is 1000, but the number of sets must be a power of two: with 4 ways and lines of 128 bytes, set the key to 512, for example"},
        {"l1.bytes=24576", "l1.bytes is 24576, but the number of sets must be a power of two: with 4 ways and lines of 128 bytes, set the key to 16384, for example"},
        {"l1.line=96", "l1.line: expected a power of two, found 96"},
        {"l1.line=256", "l1.line is 256, but l2.line is only 128: a request must be within one line of L2"},
        {"l2.sector=256", "l2.sector: expected a power of two that is not more than l2.line (128), found 256"},
        {"core.warp_width=12", "core.warp_width: expected a power of two, found 12"},
        {"core.warp_width=8", "core.threads is 1536, but core.warps (48) with 8 lanes each have fewer threads: set core.warps to 192, or core.threads to 384"},
        {"core.warps=1", "core.threads is 1536, but core.warps (1) with 32 lanes each have fewer threads: set core.warps to 48, or core.threads to 32"},
        {"units.int.pipes=0", "units.int.pipes is 0: set units.int.pipes to at least 1, because units without pipes of their own use the pipes of int"},
        {"l2.slices=7", "l2.slices is 7, which is not a multiple of dram.channels (6): each channel needs the same number of slices"},
        {"icnt.interleave=64", "l2.line is 128, but icnt.interleave is only 64: a line must be within one "
                               "slice"},
        {"dram.row_bytes=64", "l2.line is 128, but dram.row_bytes is only 64: a line must be within one DRAM row"},
        {"dram.burst_bytes=128", "dram.burst_bytes is 128, but l2.sector is only 64: a sector must consist of whole bursts"},
        {"dram.bus_bytes=128", "dram.bus_bytes is 128, but dram.burst_bytes is only 64: a burst takes at least one cycle"},
        {"fetch.buffer=1", "fetch.group is 2, but fetch.buffer is only 1: a fetch must fit into the instruction buffer"},
        {"fetch.cache_line=256", "fetch.cache_line is 256, but l2.line is only 128: a request must be within one line of L2"},
    };
    struct lw_error err;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        struct tim_config *config = load("fermi");

        assert_int_equal(tim_config_set(config, rows[i].set, &err), LW_OK);
        assert_int_not_equal(tim_config_check(config, &err), LW_OK);
        assert_string_equal(err.text, rows[i].message);
        tim_config_destroy(config);
    }
    static const struct {
        const char *base, *set, *message;
    } pairs[] = {
        {"fermi", "issue.width=3", "issue.width is 3, which is more than 2 (dual issue): also set issue.types"},
        {"gcn-tahiti", "lsu.replay=buffer", "lsu.replay=buffer cannot be combined with issue.types, because a replay takes all issue slots of a cycle"},
        {"ampere", "issue.rotate=true", "fetch.l0_bytes cannot be combined with issue.rotate"},
        {"gcn-tahiti", "issue.split_lanes=true", "issue.split_lanes cannot be combined with issue.dependence=counters, because a counter covers all lanes of a warp"},
        {"gcn-tahiti", "lsu.local=2", "lsu.separate cannot be combined with lsu.local: set lsu.local to 0"},
    };
    for (unsigned i = 0; i < LW_COUNT_OF(pairs); i++) {
        struct tim_config *config = load(pairs[i].base);

        assert_int_equal(tim_config_check(config, &err), LW_OK);
        assert_int_equal(tim_config_set(config, pairs[i].set, &err), LW_OK);
        assert_int_not_equal(tim_config_check(config, &err), LW_OK);
        assert_string_equal(err.text, pairs[i].message);
        tim_config_destroy(config);
    }
    /* Valid values: no L1 at all, and a warp width that published studies use. */
    struct tim_config *config = load("tesla-dwr");
    assert_int_equal(tim_config_set(config, "core.warp_width=8", &err), LW_OK);
    assert_int_equal(tim_config_set(config, "core.warps=128", &err), LW_OK);
    assert_int_equal(tim_config_set(config, "l1.bytes=0", &err), LW_OK);
    assert_int_equal(tim_config_check(config, &err), LW_OK);
    tim_config_destroy(config);
}

static void an_assignment_that_is_none_is_refused(void **state)
{
    static const char *const rows[] = {"",    "l1",       "l1.bytes", "=3",      "l1.=3", ".bytes=3",
                                       "l1=", "bytes=l1.3", "l1.bytes=", "l1.bytes=-1", "x.y=1",
                                       "units.int=3", "units.int.latency.x=3"};
    struct tim_config *config = load("fermi");
    struct lw_error err;

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++) {
        err.text[0] = '\0';
        assert_int_equal(tim_config_set(config, rows[i], &err), LW_EUSAGE);
        assert_int_equal(err.status, LW_EUSAGE);
        assert_true(strlen(err.text) > 10);
    }
    assert_int_equal(tim_config_set(config, "nonsense", NULL), LW_EUSAGE);
    tim_config_destroy(config);
}

static void a_machine_that_is_not_there_names_the_nearest(void **state)
{
    struct tim_config *config = NULL;
    struct lw_error err;

    (void)state;
    assert_int_not_equal(tim_config_load("ferni", &config, &err), LW_OK);
    assert_string_equal(err.text, "\"ferni\" is neither a shipped GPU model nor a file; did you mean "
                                  "\"fermi\"?");
    assert_int_not_equal(tim_config_load("/nowhere/m.yaml", &config, &err), LW_OK);
    assert_string_equal(err.text, "/nowhere/m.yaml: cannot be read: No such file or directory");
    assert_null(config);
}

static void the_functional_machine_gets_width_and_reconvergence(void **state)
{
    struct tim_config *config = load("rogers");
    struct emu_config emu;
    struct emu_machine *machine = NULL;
    struct lw_error err;

    (void)state;
    emu_config_default(&emu);
    tim_config_machine(config, &emu);
    assert_int_equal(emu.warp_width, 32);
    assert_string_equal(emu.reconv, "stack");
    assert_int_equal(emu_machine_create(&emu, &machine, &err), LW_OK);
    emu_machine_destroy(machine);
    tim_config_destroy(config);
}

/* Tables have space for the maximum number of pending entries, which no kernel reaches. The creation of a model must not touch
 * the memory pages of that space, since each page costs time and memory. */
static void making_a_large_machine_touches_what_it_needs(void **state)
{
    struct tim_config *config = load("volta");
    struct tim_options options = {0};
    struct emu_config emu;
    struct emu_machine *machine = NULL;
    struct emu_engine *engine = NULL;
    struct rusage before, after;
    struct lw_error err;

    (void)state;
    emu_config_default(&emu);
    tim_config_machine(config, &emu);
    assert_int_equal(emu_machine_create(&emu, &machine, &err), LW_OK);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(tim_engine_create(machine, config, &options, &engine, &err), LW_OK);
    emu_engine_destroy(engine);
    getrusage(RUSAGE_SELF, &after);
#ifdef __SANITIZE_ADDRESS__
    const long most = 8000; /* includes the red zones around allocations */
#else
    const long most = 5000;
#endif
    print_message("%ld pages\n", after.ru_minflt - before.ru_minflt);
    assert_in_range(after.ru_minflt - before.ru_minflt, 0, most);
    emu_machine_destroy(machine);
    tim_config_destroy(config);
}

/* ---- docs/reference/gpu-models.md ------------------------------------------------------------- */

static void put_key(struct lw_sink *out, const struct tim_key *k)
{
    lw_printf(out, "| `%s` | ", k->name);
    if (k->kind == TIM_KEY_NUMBER) {
        lw_printf(out, "%u | %u..%u %s", k->value, k->low, k->high, k->unit);
    } else if (k->kind == TIM_KEY_SWITCH) {
        lw_printf(out, "%s | true, false", k->value != 0 ? "true" : "false");
    } else {
        const char *p = k->names;

        for (unsigned i = 0; i < k->value; i++)
            p = strchr(p, '|') + 1;
        lw_printf(out, "`%.*s` | ", (int)strcspn(p, "|"), p);
        for (p = k->names; *p != '\0'; p += strcspn(p, "|"), p += *p == '|')
            lw_printf(out, "%s`%.*s`", p != k->names ? ", " : "", (int)strcspn(p, "|"), p);
    }
    lw_printf(out, " | %s |\n", k->help);
}

static void put_page(struct lw_sink *out)
{
    const char *section = "";

    lw_put(out, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
                "# GPU models of the timing model\n\n"
                "This page lists the GPU models and their keys. `lanewise run --timing MODEL` selects a model by "
                "name:\n\n| name | GPU |\n|---|---|\n");
    for (unsigned i = 0; tim_machines[i].name != NULL; i++)
        lw_printf(out, "| `%s` | %s |\n", tim_machines[i].name, tim_machines[i].summary);
    lw_put(out,
           "\n`timing/machines/NAME.yaml` names the source of each value. `lanewise timing` lists the models, and `lanewise timing NAME`\n"
           "prints all keys of a model as a file that can be edited.\n\n"
           "A file of your own names a base model (default: `fermi`) and the keys that differ from it:\n\n"
           "    base: volta\n"
           "    core: {count: 20}\n"
           "    l1:\n"
           "      bytes: 64K\n"
           "    units: {fp: {pipes: 2}}\n\n"
           "`--timing=FILE` reads this file. `base: other.yaml` names another file in the same folder (up to 16 levels); `machine:` is the former name of the key `base`. Sizes are `65536`, `64K` "
           "or\n`64KiB`; `M` and `MiB` are 1024 K. `--timing-set l1.bytes=64K` changes one key on the command line.\n\n"
           "Lanewise refuses unknown keys, values outside their range, and keys that contradict each other. The keys must obey these rules:\n\n"
           "- the size of a cache is sets x ways x line; the number of sets is a power of two;\n"
           "- lines, sectors, banks and DRAM rows are powers of two;\n"
           "- a line of L1 is not longer than a line of L2, and a line of L2 is in one L2 slice and one DRAM row;\n"
           "- a sector consists of whole bursts; `l2.slices` is a multiple of `dram.channels`; `core.threads` threads fit into `core.warps` warps.\n\n"
           "`make golden T=tests/timing/test_timing_config` generates this page from `timing/keys.def`. The defaults in the tables are the values of the GPU model `fermi`.\n");
    for (size_t i = 0; i < tim_key_count; i++) {
        const struct tim_key *k = &tim_keys[i];

        if (strcmp(section, k->section) != 0) {
            section = k->section;
            lw_printf(out, "\n## %s\n\n%c%s.\n\n", section, toupper(tim_section_help(section)[0]),
                      tim_section_help(section) + 1);
            if (strcmp(section, "units") == 0)
                break;
            lw_put(out, "| key | default | values | meaning |\n|---|---|---|---|\n");
        }
        put_key(out, k);
    }
    lw_put(out, "`units: {int: {pipes: 2, lanes: 16, latency: 14}}` sets the keys of the unit `int`. Instructions of "
                "a unit with 0 pipes use a pipe of `int`, with\nthe lanes and latency of their own unit. An "
                "instruction occupies its pipe for W / `lanes` cycles.\n\n"
                "| unit | pipes | lanes | latency | instructions |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i + 2 < tim_key_count; i++) {
        const struct tim_key *k = &tim_keys[i];
        const char *dot = strstr(k->name, ".pipes");

        if (dot != NULL)
            lw_printf(out, "| `%.*s` | %u | %u | %u | %s |\n", (int)(dot - k->name), k->name,
                      k[0].value, k[1].value, k[2].value, k->help);
    }
}

static void the_page_of_keys_is_the_one_that_the_table_gives(void **state)
{
    struct lw_buffer page;

    (void)state;
    lw_buffer_init(&page);
    put_page(&page.sink);
    golden_page("docs/reference/gpu-models.md", &page, "tests/timing/test_timing_config");
    lw_buffer_fini(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_machine_loads_and_what_is_printed_of_it_loads_the_same),
        cmocka_unit_test(fermi_is_the_machine_of_all_defaults),
        cmocka_unit_test(a_file_begins_with_the_machine_that_it_names),
        cmocka_unit_test(what_is_wrong_in_a_file_is_reported_with_its_line),
        cmocka_unit_test(every_number_is_refused_outside_its_range_and_taken_at_its_ends),
        cmocka_unit_test(bytes_are_shown_in_kilobytes_and_megabytes_too),
        cmocka_unit_test(choices_name_the_constants_that_the_code_uses),
        cmocka_unit_test(keys_that_do_not_fit_each_other_are_refused),
        cmocka_unit_test(an_assignment_that_is_none_is_refused),
        cmocka_unit_test(a_machine_that_is_not_there_names_the_nearest),
        cmocka_unit_test(the_functional_machine_gets_width_and_reconvergence),
        cmocka_unit_test(making_a_large_machine_touches_what_it_needs),
        cmocka_unit_test(the_page_of_keys_is_the_one_that_the_table_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
