/* SPDX-License-Identifier: Apache-2.0 */
/* Tests watchpoints, printing breakpoints, reverse execution, and restarts of the program. */
#include "tests/gdbstub/rsp_fixture.h"

#define EXPECT_BEGINS(text, start)                                                     \
    do {                                                                               \
        if (strncmp((text), (start), strlen(start)) != 0)                              \
            fail_msg("\"%s\" does not begin with \"%s\"", (text), (start));            \
    } while (0)

/* ---- watchpoints ------------------------------------------------------------------ */

static void a_watchpoint_names_its_address_and_moves_the_focus(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "Z2,200000001004,4"), "OK");
    /* Warp 2 stores to its word. The pc is after the store. */
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:2;watch:200000001004;10:6000000001000000;");
    assert_int_equal(dbg_lane_get(fix->dbg, 2), FAKE_STORE_LANE);
    assert_string_equal(fix_ask(fix, "z2,200000001004,4"), "OK");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 0);
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
}

static void the_kinds_of_watchpoints_have_their_own_reasons(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "Z3,200000001000,8"), "OK"); /* a read watchpoint, which is never hit */
    assert_string_equal(fix_ask(fix, "Z4,200000001002,1"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;awatch:200000001002;");
    assert_string_equal(fix_ask(fix, "z4,200000001002,1"), "OK");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 1);
    assert_string_equal(fix_ask(fix, "z3,200000001000,8"), "OK");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 0);
}

static void lengths_distinguish_watchpoints(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "Z2,200000001000,4");
    fix_ask(fix, "Z2,200000001000,8");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 2);
    fix_ask(fix, "z2,200000001000,8");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 1);
    EXPECT_BEGINS(fix_ask(fix, "Z2,1,4"), "E.nothing readable is at 0x1");
}

static void a_watchpoint_may_have_a_condition(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, "Z2,200000001000,8;X3,220027"), "OK");
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
}

static void what_is_sent_of_a_watchpoints_condition_is_looked_at(void **state)
{
    static const char *const refused[] = {
        "qGpuWatchIf:", "qGpuWatchIf:200000001000,8,2", "qGpuWatchIf:200000001000,8,2;", "qGpuWatchIf:200000001000,8,2;2",
        "qGpuWatchIf:200000001000,0,2;1", "qGpuWatchIf:200000001000,41,2;1", "qGpuWatchIf:200000001000,8,1;1",
        "qGpuWatchIf:200000001000,8,5;1", "qGpuWatchIf:200000001000,8,2;3", "qGpuWatchIf:200000001000,8,2;1;0,0,27",
        "qGpuWatchIf:200000001000,8,2;2;", "qGpuWatchIf:200000001000,8,2;2;0,0,", "qGpuWatchIf:200000001000,8,2;2;0,0,2",
        "qGpuWatchIf:200000001000,8,2;2;0,0,2x", "qGpuWatchIf:200000001000,8,2;2;0,27", "qGpuWatchIf:200000001000,8,2;2;0,0,27;",
        "qGpuWatchIf:200000001000,8,2;2,0,0,27", "qGpuWatchIf:200000001000,8,2;2;0,0,27;0"};
    struct fixture *fix = *state;
    char packet[100];

    for (size_t i = 0; i < LW_COUNT_OF(refused); i++)
        assert_string_equal(fix_ask(fix, refused[i]), "E01");
    for (unsigned i = 0; i < 300; i++) { /* the stub remembers a limited number */
        snprintf(packet, sizeof packet, "qGpuWatchIf:%x,4,2;2;0,0,220127;100,200,2e", 0x1000 + i);
        assert_string_equal(fix_ask(fix, packet), i < 256 ? "OK" : "E01");
    }
}

static void what_is_sent_of_a_breakpoints_condition_is_looked_at(void **state)
{
    static const char *const refused[] = {"qGpuBreakIf:100000010", "qGpuBreakIf:100000010;", "qGpuBreakIf:100000010;X",
                                          "qGpuBreakIf:100000010;X3,2200", "qGpuBreakIf:x;X3,220027", "qGpuBreakIf:100000010;X3,22002x",
                                          "qGpuBreakIf:100000010;cmds:1,X3,220027"};
    struct fixture *fix = *state;
    char packet[100];

    for (size_t i = 0; i < LW_COUNT_OF(refused); i++)
        assert_string_equal(fix_ask(fix, refused[i]), "E01");
    for (unsigned i = 0; i < 300; i++) { /* the stub remembers a limited number */
        snprintf(packet, sizeof packet, "qGpuBreakIf:%x;X3,220027", 0x1000 + i);
        assert_string_equal(fix_ask(fix, packet), i < 256 ? "OK" : "E01");
    }
    assert_string_equal(fix_ask(fix, "qGpuBreakIf:"), "OK");
    assert_string_equal(fix_ask(fix, packet), "OK");
}

/* In the test's cases, the condition is false, invalid or missing. As this session has no history, the stub must report each
 * hit to gdb. */
static void without_a_way_back_gdb_tests_conditions_of_watchpoints(void **state)
{
    static const char *const packets[] = {"qGpuWatchIf:200000001004,4,2;2;0,0,220027", "qGpuWatchIf:200000001004,4,2;1",
                                          "qGpuWatchIf:200000001004,4,2;2;1,2,ff", "qGpuWatchIf:200000001004,4,2;0"};
    struct fixture *fix = *state;

    assert_string_equal(fix_ask(fix, packets[0]), "OK");
    assert_string_equal(fix_ask(fix, "Z2,200000001004,4"), "OK");
    for (size_t i = 0; i < LW_COUNT_OF(packets); i++)
        assert_string_equal(fix_ask(fix, packets[i]), "OK");
    assert_string_equal(fix_ask(fix, packets[0]), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:2;watch:200000001004;");
}

/* With this target architecture gdb steps after a hit before it compares values. The stub must answer this step without
 * executing an instruction. */
static void the_step_that_follows_a_watchpoint_is_absorbed_on_aarch64(void **state)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_AARCH64});

    (void)state;
    fix_ask(fix, "Z2,200000001000,4");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;watch:200000001000;20:6000000001000000;");
    EXPECT_BEGINS(fix_ask(fix, "vCont;s:1"), "T05thread:1;20:6000000001000000;");
    EXPECT_BEGINS(fix_ask(fix, "vCont;s:1"), "T05thread:1;20:7000000001000000;");
    fix_destroy(fix);
}

static void on_x86_64_no_step_is_absorbed(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "Z2,200000001000,4");
    EXPECT_BEGINS(fix_ask(fix, "vCont;c"), "T05thread:1;watch:200000001000;10:6000000001000000;");
    EXPECT_BEGINS(fix_ask(fix, "vCont;s:1"), "T05thread:1;10:7000000001000000;");
}

/* ---- dprintf -------------------------------------------------------------------------- */

static unsigned lane_number(struct fixture *fix)
{
    const char *xml, *at;
    unsigned number = 0;

    fix_ask(fix, "qXfer:features:read:target.xml:0,8000");
    xml = fix->last.text;
    at = strstr(xml, "<reg name=\"lane\"");
    assert_non_null(at);
    assert_int_equal(sscanf(strstr(at, "regnum="), "regnum=\"%u\"", &number), 1);
    return number;
}

static void hex(char *out, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        snprintf(out + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
}

/* Send the Z0 packet of `dprintf LOCATION,FORMAT, $lane, 65`. @when is the text before "cmds:", which may be a condition. */
static const char *print_at(struct fixture *fix, const char *when, const char *format)
{
    char packet[1024], text[512];
    size_t length = strlen(format) + 1;

    hex(text, format, length);
    /* the agent expression is: const8 65, reg lane, const8 0 (channel), const8 0 (function), printf with 2 arguments, end */
    snprintf(packet, sizeof packet, "Z0,100000020,1;%scmds:1,X%zx,224126%04x2200220034%02x%04zx%s27",
             when, 2 + 3 + 4 + 4 + length + 1, lane_number(fix), 2, length, text);
    return fix_ask(fix, packet);
}

static void dprintf_prints_for_each_lane_in_order_and_does_not_stop(void **state)
{
    struct fixture *fix = *state;
    char when[64];

    /* $lane < 3 */
    snprintf(when, sizeof when, "X7,26%04x22031427;", lane_number(fix));
    assert_string_equal(print_at(fix, when, "lane %d %c\\n"), "OK");
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
    assert_string_equal(fix->console.text, "lane 0 A\nlane 1 A\nlane 2 A\n"
                                           "lane 0 A\nlane 1 A\nlane 2 A\n"
                                           "lane 0 A\nlane 1 A\nlane 2 A\na note\n");
}

static void dprintf_prints_without_a_condition_for_all_lanes(void **state)
{
    struct fixture *fix = *state;
    unsigned lines = 0;

    assert_string_equal(print_at(fix, "", "%d\\n"), "OK");
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
    for (const char *p = fix->console.text; *p != '\0'; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 3 * FAKE_LANES + 1);
}

static void formats_are_taken_apart_here(void **state)
{
    static const struct {
        const char *format, *text;
    } cases[] = {
        {"%% %5d|%-4x|%04u\\n", "% 00005|"},
        {"%s\\n", ""},
        {"%hhd %lld\\n", "3 65\n"},
        {"%d %d %d\\n", "3 65 <bad format>\n"}, /* more conversions than arguments */
        {"%n\\n", "<bad format>\n"},
        {"\\101\\t\\\\\\q%", "A\t\\q<bad format>"},
        {"%9999999999d\\n", NULL},
        {"%.9999999999d%+ -#0d\\n", NULL},
    };

    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct fake_options options = {.warps = 1, .fault_at = -1};
        struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
        char when[64];

        /* $lane == 3 */
        snprintf(when, sizeof when, "X7,26%04x22031327;", lane_number(fix));
        assert_string_equal(print_at(fix, when, cases[i].format), "OK");
        assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
        if (i == 0)
            assert_non_null(strstr(fix->console.text, "%     3|41  |<bad format>\n"));
        else if (cases[i].text != NULL)
            EXPECT_BEGINS(fix->console.text, cases[i].text);
        else
            assert_true(strlen(fix->console.text) > 100 && strlen(fix->console.text) < 1000);
        fix_destroy(fix);
    }
    (void)state;
}

static void without_dprintf_its_commands_are_refused(void **state)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct fixture *fix = fix_create(
        &options, (struct rsp_config){.arch = RSP_X86_64,
                                      .without = UINT64_C(1) << RSP_F_DPRINTF});

    (void)state;
    assert_null(strstr(fix_ask(fix, "qSupported"), "BreakpointCommands"));
    assert_string_equal(print_at(fix, "", "x"), "E01");
    fix_destroy(fix);
}

/* ---- back in time ----------------------------------------------------------------------- */

static void back_packets_go_back(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "vCont;s:2");
    fix_ask(fix, "vCont;s:2");
    fix_ask(fix, "vCont;s:2");
    assert_string_equal(fix_ask(fix, "Hc2"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "bs"), "T05thread:2;10:2000000001000000;");
    assert_string_equal(fake_dbg_trace(fix->dbg), "back 2");
    EXPECT_BEGINS(fix_ask(fix, "bc"), "T05thread:2;replaylog:begin;10:0000000001000000;");
}

static void the_way_back_stops_at_breakpoints_and_prints_nothing(void **state)
{
    struct fixture *fix = *state;

    fix_ask(fix, "qSupported:swbreak+");
    for (int i = 0; i < 6; i++)
        fix_ask(fix, "vCont;s:1");
    assert_string_equal(print_at(fix, "", "printed\\n"), "OK");
    assert_string_equal(fix_ask(fix, "Z0,100000010,1"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "bc"), "T05thread:1;swbreak:;10:1000000001000000;");
    assert_int_equal(fix->console.size, 0);
}

/* ---- info os ------------------------------------------------------------------------------ */

static void tables_are_documents(void **state)
{
    struct fixture *fix = *state;

    assert_non_null(strstr(fix_ask(fix, "qSupported"), ";qXfer:osdata:read+"));
    EXPECT_BEGINS(fix_ask(fix, "qXfer:osdata:read::0,1000"), "l<?xml");
    assert_non_null(strstr(fix->last.text,
                           "<osdata type=\"types\">\n<item><column name=\"Type\">warps</column>"
                           "<column name=\"Description\">Warps of the fake</column>"));
    EXPECT_BEGINS(fix_ask(fix, "qXfer:osdata:read:warps:0,1000"), "l<?xml");
    assert_non_null(strstr(fix->last.text, "<item><column name=\"thread\">3</column>"
                                           "<column name=\"at\">&lt;&amp;&gt;</column></item>"));
    EXPECT_BEGINS(fix_ask(fix, "qXfer:osdata:read:nothing:0,1000"), "E.there is no table of this name");
    EXPECT_BEGINS(fix_ask(fix, "qXfer:osdata:read:warps:fffff,10"), "E");
}

/* ---- threads that are reported to gdb -------------------------------------------------------- */

static const char *monitor(struct fixture *fix, const char *line)
{
    char packet[256] = "qRcmd,";

    hex(packet + 6, line, strlen(line));
    assert_string_equal(fix_ask(fix, packet), "OK");
    return fix->console.text;
}

static void monitor_threads_makes_the_list_shorter(void **state)
{
    struct fixture *fix = *state;

    assert_string_equal(monitor(fix, "threads"), "3 warps are resident; `info threads` of gdb lists all\n");
    EXPECT_BEGINS(monitor(fix, "threads 2"), "3 warps are resident; `info threads` of gdb lists the first 2");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,2");
    assert_string_equal(fix_ask(fix, "qsThreadInfo"), "l");
    assert_string_equal(fix_ask(fix, "Hg3"), "OK"); /* the focus warp is always in the list */
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,2,3");
    monitor(fix, "threads block 7,0,0");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,3");
    fix_ask(fix, "qXfer:threads:read::0,4000");
    assert_null(strstr(fix->last.text, "id=\"2\""));
    monitor(fix, "threads all");
    fix_ask(fix, "qXfer:threads:read::0,4000");
    assert_non_null(strstr(fix->last.text, "id=\"2\""));
    EXPECT_BEGINS(monitor(fix, "threads none"), "error: threads: expected some, all, a count");
}

/* ---- restarts of the program -------------------------------------------------------------- */

struct owner {
    struct dbg *dbg[3];
    unsigned count;
    bool fail;
    char name[32];
};

static enum lw_status restart(void *context, const char *name, struct rsp_config *config,
                                  struct lw_error *err)
{
    struct fake_options options = {.warps = 2, .fault_at = -1};
    struct owner *owner = context;

    snprintf(owner->name, sizeof owner->name, "%s", name);
    if (owner->fail)
        return LW_FAIL(err, LW_EIO, "the file is gone");
    assert_true(owner->count < LW_COUNT_OF(owner->dbg));
    config->dbg = owner->dbg[owner->count++] = fake_dbg_create(&options);
    return LW_OK;
}

static struct fixture *restartable(struct owner *owner)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};

    memset(owner, 0, sizeof *owner);
    return fix_create(&options, (struct rsp_config){.arch = RSP_X86_64, .restart = restart,
                                                    .restart_context = owner});
}

static void run_restarts_and_forgets_points(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    assert_string_equal(fix_ask(fix, "!"), "OK");
    assert_string_equal(fix_ask(fix, "Z0,100000020,1"), "OK");
    assert_string_equal(fix_ask(fix, "vKill;1"), "OK");
    assert_int_equal(rsp_ended(fix->rsp), RSP_RUNNING);
    assert_string_equal(fix_ask(fix, "?"), "W00");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "l");
    assert_string_equal(fix_ask(fix, "T1"), "E01");
    EXPECT_BEGINS(fix_ask(fix, "vRun;6162"), "T05thread:1;10:0000000001000000;");
    assert_string_equal(owner.name, "ab");
    assert_int_equal(fake_dbg_stoppoint_count(owner.dbg[0]), 0);
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,2");
    assert_string_equal(fix_ask(fix, "vCont;c"), "W00");
    EXPECT_BEGINS(fix_ask(fix, "vRun;"), "T05thread:1;");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1,2");
    fix_destroy(fix);
    dbg_destroy(owner.dbg[0]);
    dbg_destroy(owner.dbg[1]);
}

/* The stub must forget the warps of the previous run. */
static void a_run_begins_without_the_ended_warp_of_the_one_before(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    EXPECT_BEGINS(fix_ask(fix, "vRun;"), "T05thread:1;");
    for (unsigned i = 0; i < FAKE_INSNS; i++)
        EXPECT_BEGINS(fix_ask(fix, "vCont;s:1"), "T05thread:1;");
    fix_ask(fix, "qXfer:threads:read::0,4000");
    assert_non_null(strstr(fix->last.text, "name=\"ended\""));
    EXPECT_BEGINS(fix_ask(fix, "vRun;"), "T05thread:1;10:0000000001000000;");
    fix_ask(fix, "qXfer:threads:read::0,4000");
    assert_null(strstr(fix->last.text, "name=\"ended\""));
    assert_string_equal(fix_ask(fix, "p10"), "0000000001000000");
    fix_destroy(fix);
    dbg_destroy(owner.dbg[0]);
    dbg_destroy(owner.dbg[1]);
}

static void restart_has_no_answer(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    fix_ask(fix, "R0");
    assert_int_equal(fix->out.size, 0);
    assert_int_equal(owner.count, 1);
    fix_destroy(fix);
    dbg_destroy(owner.dbg[0]);
}

static void a_run_that_fails_says_why_and_leaves_the_old_one(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    owner.fail = true;
    assert_string_equal(fix_ask(fix, "Z0,100000020,1"), "OK");
    assert_string_equal(fix_ask(fix, "vRun;"), "E.the file is gone");
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 1);
    EXPECT_BEGINS(fix_ask(fix, "?"), "T05thread:1;");
    EXPECT_BEGINS(fix_ask(fix, "vRun;;61"), "E.`run` takes no arguments");
    fix_destroy(fix);
}

/* Packet R has no reply, so its error is reported when the program is resumed. */
static void a_restart_that_fails_says_why_later(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    owner.fail = true;
    fix_ask(fix, "R0");
    assert_int_equal(fix->out.size, 0);
    fix_ask(fix, "vCont;s:1");
    EXPECT_BEGINS(fix->console.text, "error: the file is gone; the program continues unchanged\n");
    fix_destroy(fix);
}

static void attach_after_a_kill_restarts(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    fix_ask(fix, "!");
    fix_ask(fix, "k");
    EXPECT_BEGINS(fix_ask(fix, "vAttach;1"), "T05thread:1;");
    assert_int_equal(owner.count, 1);
    fix_destroy(fix);
    dbg_destroy(owner.dbg[0]);
}

/* In extended mode, detach removes the breakpoints, leaves the machine stopped and keeps the connection, like gdbserver
 * --multi. */
static void detach_of_an_extended_client_keeps_its_link(void **state)
{
    struct fake_options options = {.warps = 1, .fault_at = -1};
    struct owner owner = {.count = 0};
    struct fixture *fix = fix_create(&options, (struct rsp_config){
        .arch = RSP_X86_64, .restart = restart, .restart_context = &owner, .detach_keeps_link = true});

    (void)state;
    fix_ask(fix, "!");
    EXPECT_BEGINS(fix_ask(fix, "vCont;s:1"), "T05thread:1;10:1000000001000000;");
    fix_ask(fix, "Z0,100000030,1");
    assert_string_equal(fix_ask(fix, "D"), "OK");
    assert_int_equal(rsp_ended(fix->rsp), RSP_RUNNING);
    assert_int_equal(fake_dbg_stoppoint_count(fix->dbg), 0);
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "l");
    assert_string_equal(fix_ask(fix, "?"), "W00");
    EXPECT_BEGINS(fix_ask(fix, "vAttach;1"), "T05thread:1;10:1000000001000000;");
    assert_string_equal(fix_ask(fix, "qfThreadInfo"), "m1");
    assert_string_equal(fix_ask(fix, "D"), "OK");
    EXPECT_BEGINS(fix_ask(fix, "vRun;"), "T05thread:1;10:0000000001000000;");
    assert_int_equal(owner.count, 1);
    fix_destroy(fix);
    dbg_destroy(owner.dbg[0]);
}

static void kill_ends_a_plain_connection(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    assert_string_equal(fix_ask(fix, "vKill;1"), "OK");
    assert_int_equal(rsp_ended(fix->rsp), RSP_KILLED);
    fix_destroy(fix);
}

static void detaching_after_a_kill_is_a_kill(void **state)
{
    struct owner owner;
    struct fixture *fix = restartable(&owner);

    (void)state;
    fix_ask(fix, "!");
    fix_ask(fix, "k");
    owner.fail = true;
    assert_string_equal(fix_ask(fix, "vAttach;1"), "E.the file is gone");
    assert_string_equal(fix_ask(fix, "D"), "OK");
    assert_int_equal(rsp_ended(fix->rsp), RSP_KILLED);
    fix_destroy(fix);
}

/* ---- features that a test may disable ---------------------------------------------------------------- */

static void every_feature_has_a_name_of_its_own(void **state)
{
    enum rsp_feature found;

    (void)state;
    for (unsigned i = 0; i < RSP_FEATURE_COUNT; i++) {
        assert_true(rsp_feature_find(rsp_feature_name(i), &found));
        assert_int_equal(found, i);
        assert_true(strlen(rsp_feature_summary(i)) > 5);
    }
    assert_null(rsp_feature_name(RSP_FEATURE_COUNT));
    assert_false(rsp_feature_find("nothing", &found));
}

static void a_feature_that_is_off_is_as_if_it_had_never_been(void **state)
{
    static const struct {
        enum rsp_feature feature;
        const char *packet;
    } cases[] = {
        {RSP_F_WATCH, "Z2,200000001000,4"}, {RSP_F_WATCH, "Z3,200000001000,4"},
        {RSP_F_BREAK, "Z0,100000000,1"},    {RSP_F_REVERSE, "bs"},
        {RSP_F_VCONT, "vCont?"},            {RSP_F_MONITOR, "qRcmd,61"},
        {RSP_F_THREADS, "qfThreadInfo"},    {RSP_F_THREADS, "qXfer:threads:read::0,100"},
        {RSP_F_TARGET_XML, "qXfer:features:read:target.xml:0,10"},
        {RSP_F_RESTART, "vRun;"},           {RSP_F_CRC, "qCRC:200000000000,4"},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct fake_options options = {.warps = 1, .fault_at = -1};
        struct rsp_config config = {.arch = RSP_X86_64};
        struct fixture *fix = fix_create(&options, config);

        if (fix_ask(fix, cases[i].packet)[0] == '\0')
            fail_msg("%s is not supported", cases[i].packet);
        fix_destroy(fix);
        config.without = UINT64_C(1) << cases[i].feature;
        fix = fix_create(&options, config);
        assert_string_equal(fix_ask(fix, cases[i].packet), "");
        fix_destroy(fix);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)
        TEST(a_watchpoint_names_its_address_and_moves_the_focus),
        TEST(the_kinds_of_watchpoints_have_their_own_reasons),
        TEST(lengths_distinguish_watchpoints),
        TEST(a_watchpoint_may_have_a_condition),
        TEST(what_is_sent_of_a_watchpoints_condition_is_looked_at),
        TEST(what_is_sent_of_a_breakpoints_condition_is_looked_at),
        TEST(without_a_way_back_gdb_tests_conditions_of_watchpoints),
        TEST(the_step_that_follows_a_watchpoint_is_absorbed_on_aarch64),
        TEST(on_x86_64_no_step_is_absorbed),
        TEST(dprintf_prints_for_each_lane_in_order_and_does_not_stop),
        TEST(dprintf_prints_without_a_condition_for_all_lanes),
        TEST(formats_are_taken_apart_here),
        TEST(without_dprintf_its_commands_are_refused),
        TEST(back_packets_go_back),
        TEST(the_way_back_stops_at_breakpoints_and_prints_nothing),
        TEST(tables_are_documents),
        TEST(monitor_threads_makes_the_list_shorter),
        TEST(run_restarts_and_forgets_points),
        TEST(a_run_begins_without_the_ended_warp_of_the_one_before),
        TEST(restart_has_no_answer),
        TEST(a_run_that_fails_says_why_and_leaves_the_old_one),
        TEST(a_restart_that_fails_says_why_later),
        TEST(detach_of_an_extended_client_keeps_its_link),
        TEST(attach_after_a_kill_restarts),
        TEST(kill_ends_a_plain_connection),
        TEST(detaching_after_a_kill_is_a_kill),
        TEST(every_feature_has_a_name_of_its_own),
        TEST(a_feature_that_is_off_is_as_if_it_had_never_been),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
