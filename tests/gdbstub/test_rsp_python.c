/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the packets that gdb's Python file and lldb send, with the fake core. */
#include "tests/gdbstub/rsp_fixture.h"

/* Decode the text that a reply contains as hex digits. The caller frees the result. */
static char *text_of(const char *hex)
{
    size_t size = strlen(hex) / 2;
    char *text = calloc(size + 1, 1);

    assert_non_null(text);
    for (size_t i = 0; i < size; i++) {
        unsigned byte;

        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        text[i] = (char)byte;
    }
    return text;
}

static void the_python_text_is_sent_whole(void **state)
{
    char *text = text_of(fix_ask(*state, "qGpuPy"));

    assert_non_null(strstr(text, "SPDX-License-Identifier"));
    assert_string_equal(text + strlen(text) - strlen("lanewise_start()\n"), "lanewise_start()\n");
    free(text);
}

static void instructions_come_in_blocks_up_to_the_end_of_the_program(void **state)
{
    char *text = text_of(fix_ask(*state, "qGpuDis:1000000e0,40"));

    /* The client would read a plain `*` as a repeat count. */
    assert_string_equal(text, "16 insn * 14\n16 insn * 15\n");
    free(text);
    assert_memory_equal(fix_ask(*state, "qGpuDis:0,10"), "E.", 2);
    assert_memory_equal(fix_ask(*state, "qGpuDis:100000001,1"), "E.", 2);
    text = text_of(fix_ask(*state, "qGpuDis:100000000,ffffffffffffffff"));
    assert_memory_equal(text, "16 insn * 0\n", 12);
    free(text);
}

static enum lw_status lanes(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *const *dbg = call->context;

    if (call->argc > 1)
        return LW_FAIL(err, LW_EUSAGE, "%s: no operand", call->argv[1]);
    lw_printf(call->out, "lanes of %u\n", (unsigned)dbg_focus_get(*dbg, DBG_FOCUS_VIEW));
    return LW_OK;
}

static void a_question_is_answered_for_its_thread_and_leaves_the_view(void **state)
{
    static struct dbg *dbg;
    static const struct lw_command rows[] = {
        {"lanes", NULL, "", "Lanes", "lanes", lanes, LW_COMMAND_READONLY},
        {"continue", NULL, "", "Run", "continue", lanes, LW_COMMAND_CHANGES | LW_COMMAND_REPEATS},
    };
    struct lw_command_set set = {.tables = {{rows, LW_COUNT_OF(rows), &dbg}}, .count = 1};
    struct fake_options options = {.warps = 3, .fault_at = -1};
    struct fixture *fix =
        fix_create(&options, (struct rsp_config){.arch = RSP_X86_64, .monitor = &set});
    char *text;

    (void)state;
    dbg = fix->dbg;
    assert_string_equal(fix_ask(fix, "Hg1"), "OK");
    text = text_of(fix_ask(fix, "qGpuAsk:3;6c616e6573"));
    assert_string_equal(text, "lanes of 3\n");
    free(text);
    assert_int_equal(dbg_focus_get(dbg, DBG_FOCUS_VIEW), 1);
    assert_string_equal(fix_ask(fix, "qGpuAsk:1;6c616e65732033"), "E.3: no operand");
    assert_memory_equal(fix_ask(fix, "qGpuAsk:99;6c616e6573"), "E.", 2);
    assert_int_equal(dbg_focus_get(dbg, DBG_FOCUS_VIEW), 1);
    /* qGpuAsk refuses commands that run the machine, for which there are other packets. */
    assert_memory_equal(fix_ask(fix, "qGpuAsk:1;636f6e74696e7565"), "E.", 2);
    assert_string_equal(fix_ask(fix, "qGpuAsk:1;6"), "E01");
    assert_memory_equal(fix_ask(fix, "qGpuFocus:1;6c616e6573"), "E.", 2);
    assert_memory_equal(fix_ask(fix, "qGpuFocus:99;6c616e6573"), "E.", 2);
    assert_string_equal(fix_ask(fix, "qGpuFocus:1;6"), "E01");
    fix_destroy(fix);
}

static struct dbg_stoppoint only_point(struct fixture *fix)
{
    struct dbg_stoppoint point;

    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 1);
    assert_true(dbg_stoppoint_at(fix->dbg, 0, &point));
    return point;
}

static void a_watchpoint_is_the_lanes_that_was_in_focus_when_it_was_set(void **state)
{
    struct fake_options options = {.warps = 3, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    struct dbg_stoppoint point;
    char *text;

    (void)state;
    assert_int_equal(dbg_lane_set(fix->dbg, 2, 3, NULL), LW_OK);
    text = text_of(fix_ask(fix, "qGpuWatch:2;20000000060,8,2"));
    assert_non_null(strstr(text, "lane 3"));
    free(text);
    /* The packet only tests whether a watchpoint is possible. */
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 0);
    /* gdb sends Z2 when the run continues. The focus has moved to another lane by then. */
    assert_int_equal(dbg_lane_set(fix->dbg, 2, 1, NULL), LW_OK);
    assert_string_equal(fix_ask(fix, "Hg1"), "OK");
    assert_string_equal(fix_ask(fix, "Z2,20000000060,8"), "OK");
    point = only_point(fix);
    assert_int_equal(point.thread, 2);
    assert_int_equal(point.lane, 3);
    fix_ask(fix, "z2,20000000060,8");
    /* A watchpoint on a part of the variable, a second watchpoint after it, a query without a watchpoint, and a watchpoint for
     * all lanes. */
    assert_string_equal(fix_ask(fix, "Z2,20000000064,4"), "OK");
    assert_int_equal(only_point(fix).lane, 3);
    fix_ask(fix, "z2,20000000064,4");
    text = text_of(fix_ask(fix, "qGpuWatch:2;20000000060,8,0"));
    assert_non_null(strstr(text, "lane 1"));
    free(text);
    assert_string_equal(fix_ask(fix, "Z2,20000000060,8"), "OK");
    assert_int_equal(only_point(fix).lane, 3);
    fix_ask(fix, "z2,20000000060,8");
    free(text_of(fix_ask(fix, "qGpuWatch:2;20000000060,8,2")));
    assert_string_equal(fix_ask(fix, "Z2,20000000060,8"), "OK");
    assert_int_equal(only_point(fix).lane, 1);
    fix_ask(fix, "z2,20000000060,8");
    assert_memory_equal(fix_ask(fix, "Z2,20000000064,8"), "E.", 2); /* the range exceeds that of the query */
    fix_ask(fix, "qGpuWatch:2;200000001000,4,2");
    assert_int_equal(fix->last.size, 0);
    text = text_of(fix_ask(fix, "qGpuWatch:2;10000000000,4,4"));
    assert_null(strstr(text, "lane"));
    free(text);
    fix_destroy(fix);
}

static void without_the_feature_the_packets_are_unknown(void **state)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct fixture *fix = fix_create(
        &options, (struct rsp_config){.arch = RSP_X86_64,
                                      .without = UINT64_C(1) << RSP_F_PYTHON |
                                                 UINT64_C(1) << RSP_F_DISASSEMBLE |
                                                 UINT64_C(1) << RSP_F_LLDB});
    static const char *const packets[] = {"qGpuPy",    "qGpuDis:100000000,1",
                                          "qGpuAsk:1;6c616e6573", "jThreadsInfo",
                                          "qGpuWatch:1;20000000000,4,2",
                                          "qMemoryRegionInfo:0",  "QThreadSuffixSupported"};

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(packets); i++) {
        fix_ask(fix, packets[i]);
        assert_int_equal(fix->last.size, 0);
    }
    fix_destroy(fix);
}

static void be_lldb(struct fixture *fix)
{
    fix_ask(fix, "qSupported:xmlRegisters=i386,arm,mips,arc;multiprocess+");
    assert_string_equal(fix_ask(fix, "QThreadSuffixSupported"), "OK");
}

static void a_suffix_names_the_thread_of_one_packet(void **state)
{
    struct fixture *fix = *state;
    char first[32], plain[32];

    be_lldb(fix);
    fix_ask(fix, "Hg1");
    fix_ask(fix, "vCont;s:3");
    fix_ask(fix, "Hg1");
    snprintf(plain, sizeof plain, "%s", fix_ask(fix, "p10"));
    snprintf(first, sizeof first, "%s", fix_ask(fix, "p10;thread:0001;"));
    assert_string_equal(first, plain);
    assert_string_not_equal(fix_ask(fix, "p10;thread:0003;"), first);
    assert_string_equal(fix_ask(fix, "p10"), plain);
    assert_string_equal(fix_ask(fix, "p10;thread:;"), "E01");
    /* A packet for a thread that does not exist must not get the registers of another thread. */
    assert_memory_equal(fix_ask(fix, "p10;thread:999;"), "E.this thread does not exist", 28);
    assert_memory_equal(fix_ask(fix, "g;thread:999;"), "E.this thread does not exist", 28);
    assert_memory_equal(fix_ask(fix, "P10=0000000001000000;thread:999;"), "E.this thread does", 18);
    assert_string_equal(fix_ask(fix, "p10"), plain);
}

static void lldb_hears_of_all_threads_by_name(void **state)
{
    be_lldb(*state);
    const char *json = fix_ask(*state, "jThreadsInfo");

    assert_memory_equal(json, "[{\"tid\":1,\"name\":\"", 18);
    assert_non_null(strstr(json, "{\"tid\":3,"));
    assert_non_null(strstr(json, "\"registers\":{\"16\":\"0000000001000000\""));
    assert_string_equal(json + strlen(json) - 3, "}}]");
    fix_ask(*state, "qRcmd,746872656164732031"); /* threads 1 */
    json = fix_ask(*state, "jThreadsInfo");
    assert_null(strstr(json, "{\"tid\":3,"));
    fix_ask(*state, "Hg3");
    assert_non_null(strstr(fix_ask(*state, "jThreadsInfo"), "{\"tid\":3,"));
}

static void many_threads_fit_into_one_packet(void **state)
{
    struct fake_options options = {.warps = 2048, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});

    (void)state;
    be_lldb(fix);
    assert_null(strstr(fix_ask(fix, "jThreadsInfo"), "{\"tid\":65"));
    fix_ask(fix, "qRcmd,7468726561647320616c6c"); /* threads all */
    assert_non_null(strstr(fix_ask(fix, "jThreadsInfo"), "{\"tid\":2048}]"));
    assert_true(fix->out.size < 0x20000);
    fix_destroy(fix);
}

static void regions_cover_every_address_and_none_is_half_of_them(void **state)
{
    uint64_t at = 0;
    unsigned count = 0;

    be_lldb(*state);
    do {
        char packet[64];
        unsigned long long start, size;

        snprintf(packet, sizeof packet, "qMemoryRegionInfo:%llx", (unsigned long long)at);
        assert_int_equal(sscanf(fix_ask(*state, packet), "start:%llx;size:%llx;", &start, &size), 2);
        assert_true(start == at && size != 0);
        assert_true(++count < 20);
        at = start + size;
    } while (at != 0);
    assert_string_equal(fix_ask(*state, "qMemoryRegionInfo:100000010"),
                        "start:100000000;size:100000000;permissions:rx;");
}

static void a_line_of_lldbs_cache_has_what_is_after_a_hole(void **state)
{
    struct fixture *fix = *state;
    char line[513];

    assert_string_equal(fix_ask(fix, "m200000010000,100"), "E01");
    assert_string_equal(fix_ask(fix, "m200000010004,fc"), "2a000000"); /* gdb reads exactly the bytes that it needs */
    be_lldb(fix);
    memset(line, '0', sizeof line - 1);
    line[512] = '\0';
    memcpy(line + 2 * 0x04, "2a", 2);
    assert_string_equal(fix_ask(fix, "m200000010000,100"), line);
    memcpy(line + 2 * 0x00, "2a", 2);
    memcpy(line + 2 * 0x04, "00", 2);
    memcpy(line + 2 * 0xfc, "2a", 2);
    assert_string_equal(fix_ask(fix, "m200000010004,100"), line);
    assert_string_equal(fix_ask(fix, "m200000010200,200"), "E01");
}

static void steps_of_lldb_are_never_locked(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "vCont;s:1");
    assert_string_equal(fake_dbg_trace(fix->dbg), "step 1 locked");
    be_lldb(fix);
    fix_ask(fix, "vCont;s:1");
    assert_string_equal(fake_dbg_trace(fix->dbg), "step 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)
        TEST(the_python_text_is_sent_whole),
        TEST(instructions_come_in_blocks_up_to_the_end_of_the_program),
        TEST(a_question_is_answered_for_its_thread_and_leaves_the_view),
        TEST(a_watchpoint_is_the_lanes_that_was_in_focus_when_it_was_set),
        TEST(without_the_feature_the_packets_are_unknown),
        TEST(a_suffix_names_the_thread_of_one_packet),
        TEST(lldb_hears_of_all_threads_by_name),
        TEST(many_threads_fit_into_one_packet),
        TEST(regions_cover_every_address_and_none_is_half_of_them),
        TEST(a_line_of_lldbs_cache_has_what_is_after_a_hole),
        TEST(steps_of_lldb_are_never_locked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
