/* SPDX-License-Identifier: Apache-2.0 */
/* Tests traces of the timing model: events in the trace's window of cycles are written as trace events in JSON, which Python
 * must be able to read. Spans on a track do not overlap, and a flow ends at the core at which it began. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "timing/tim_priv.h"

struct fixture {
    struct tim_config *config;
    struct tim_trace *trace;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct lw_error err;

    if (f == NULL || tim_config_default(&f->config, &err) != LW_OK)
        return -1;
    f->trace = tim_trace_create(f->config, 100, 200, TIM_TRACE_EVENTS);
    *state = f;
    return f->trace != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tim_trace_destroy(f->trace);
    tim_config_destroy(f->config);
    free(f);
    return 0;
}

/** Execute Python statements that check the trace. The statements can use `e`, the list of events, and the other variables
 *  of @head, and run after the general checks of @head. */
static void check(const struct fixture *f, const char *statements)
{
    static const char head[] =
        "import json, sys\n"
        "t = json.load(sys.stdin)\n"
        "e = t['traceEvents']\n"
        "spans = [x for x in e if x['ph'] == 'X']\n"
        "tracks = {}\n"
        "for x in spans: tracks.setdefault((x['pid'], x['tid']), []).append((x['ts'], x['ts'] + x['dur']))\n"
        "for k, v in tracks.items():\n"
        "    v.sort()\n"
        "    assert all(a[1] <= b[0] for a, b in zip(v, v[1:])), (k, v)\n"
        "for x in e: assert x['ph'] == 'M' or 100 <= x['ts'] < 200 or (x['ph'], x['ts']) == ('e', 200), x\n"
        "for x in spans: assert x['ts'] + x['dur'] <= 200, x\n"
        "life = {}\n"
        "for x in e:\n"
        "    if x['ph'] in 'be': life.setdefault(x['id'], []).append((x['ts'], x['ph']))\n"
        "for v in life.values(): assert [x[1] for x in sorted(v)] == ['b', 'e'], v\n"
        "names = {(x['pid'], x['tid']) for x in e if x['name'] == 'thread_name'}\n"
        "for x in spans: assert (x['pid'], x['tid']) in names, x\n";
    struct lw_buffer text;
    char script[] = "/tmp/lw_trace_XXXXXX", command[64];
    int fd = mkstemp(script);
    FILE *file = fdopen(fd, "w"), *python;

    assert_non_null(file);
    fputs(head, file);
    fputs(statements, file);
    fclose(file);
    lw_buffer_init(&text);
    tim_trace_json(f->trace, UINT64_MAX, &text.sink);
    snprintf(command, sizeof command, "python3 %s", script);
    python = popen(command, "w");
    assert_non_null(python);
    fwrite(text.text, 1, text.size, python);
    assert_int_equal(pclose(python), 0);
    remove(script);
    lw_buffer_fini(&text);
}

static const struct isa_insn add = {.op = ISA_V_ADD_U32};

static void a_warp_is_a_track_of_what_it_issues_and_why_it_does_not(void **state)
{
    const struct fixture *f = *state;

    tim_trace_warp(f->trace, 90, 3, 7, TIM_STALL_FETCH, NULL, 0, 0); /* this cycle is before the window */
    tim_trace_warp(f->trace, 110, 3, 7, TIM_STALL_ISSUED, &add, 0x100000010, 0xff);
    tim_trace_warp(f->trace, 111, 3, 7, TIM_STALL_ISSUED, &add, 0x100000020, 0xff);
    for (unsigned t = 112; t < 150; t++) /* the same reason is reported in each cycle, and is shown as one span */
        tim_trace_warp(f->trace, t, 3, 7, TIM_STALL_LOAD, &add, 0x100000030, 0xff);
    tim_trace_warp(f->trace, 150, 3, 7, TIM_STALL_EMPTY, NULL, 0, 0);
    tim_trace_warp(f->trace, 160, 3, 7, TIM_STALL_BARRIER, NULL, 0, 0); /* this span is still open at the end of the window */
    tim_trace_warp(f->trace, 210, 3, 8, TIM_STALL_ISSUED, &add, 0, 1); /* this cycle is after the window */
    check(f, "v = sorted((x['ts'], x['dur'], x['name'], x['cat']) for x in spans)\n"
             "assert v == [(100, 10, 'fetch', 'stall'), (110, 1, 'v_add_u32', 'issue'), (111, 1, 'v_add_u32', 'issue'),\n"
             "    (112, 38, 'load', 'stall'), (160, 40, 'barrier', 'stall')], v\n"
             "x = [x for x in spans if x['ts'] == 112][0]\n"
             "assert x['args'] == {'why': 'waits for data of a load', 'instruction': 'v_add_u32',\n"
             "    'pc': '0x100000030', 'lanes': '0xff'}, x\n"
             "assert (x['pid'], x['tid']) == (3, 7)\n");
}

static void blocks_stand_on_tracks_of_their_slots(void **state)
{
    const struct fixture *f = *state;

    tim_trace_block(f->trace, 20, 0, 1, 1, 5, true); /* a span that began before the window is shown from the window's start */
    tim_trace_block(f->trace, 130, 0, 1, 1, 5, false);
    tim_trace_block(f->trace, 131, 0, 1, 1, 9, true);
    check(f, "v = sorted((x['ts'], x['dur'], x['name'], x['tid']) for x in spans)\n"
             "assert v == [(100, 30, 'grid 1 block 5', 1001), (131, 69, 'grid 1 block 9', 1001)], v\n");
}

static void a_request_is_a_flow_from_its_warp_and_back(void **state)
{
    const struct fixture *f = *state;
    struct tim_packet packet = {.line = 0x200000000080, .sent = 105, .id = 4, .core = 2, .warp = 6,
                                .kind = TIM_PACKET_READ};

    tim_trace_warp(f->trace, 100, 2, 6, TIM_STALL_LOAD, NULL, 0, 0);
    tim_trace_packet(f->trace, 105, TIM_TRACE_SENT, 2, &packet, 0);
    tim_trace_packet(f->trace, 109, TIM_TRACE_REQUEST, 9, &packet, 1);
    tim_trace_packet(f->trace, 120, TIM_TRACE_SLICE, 9, &packet, 1);
    tim_trace_packet(f->trace, 140, TIM_TRACE_DRAM, 5, &packet, 4);
    tim_trace_packet(f->trace, 160, TIM_TRACE_REPLY, 2, &packet, 5);
    tim_trace_packet(f->trace, 170, TIM_TRACE_REPLIED, 2, &packet, 0);
    packet.sent = 107; /* the next packet with the same id is another flow */
    tim_trace_packet(f->trace, 107, TIM_TRACE_SENT, 2, &packet, 0);
    packet.sent = 50; /* a packet that was sent before the window: its flow has no beginning */
    tim_trace_packet(f->trace, 130, TIM_TRACE_SLICE, 9, &packet, 1);
    check(f, "flow = [(x['ph'], x['ts'], x['pid'], x['tid']) for x in e if x.get('id') == '2.4.105' and x['cat'] == 'memory']\n"
             "assert flow == [('s', 105, 2, 6), ('t', 109, 100000, 9), ('t', 120, 100001, 9), ('t', 140, 100002, 5), ('t', 160, 100003, 2), ('f', 170, 2, 6)], flow\n"
             "life = [(x['ph'], x['ts']) for x in e if x.get('id') == '2.4.105' and x['cat'] == 'request']\n"
             "assert life == [('b', 105), ('e', 170)], life\n"
             "for x in e:\n"
             "    if x['ph'] in 'stf': assert any(s['pid'] == x['pid'] and s['tid'] == x['tid'] and\n"
             "        s['ts'] <= x['ts'] < s['ts'] + s['dur'] for s in spans), x\n"
             "assert len([x for x in spans if x['pid'] >= 100000]) == 4\n");
}

static void a_request_without_an_answer_ends_with_the_window(void **state)
{
    const struct fixture *f = *state;
    struct tim_packet packet = {.sent = 105, .id = 4, .core = 2, .warp = 6, .kind = TIM_PACKET_READ};

    tim_trace_packet(f->trace, 105, TIM_TRACE_SENT, 2, &packet, 0);
    tim_trace_packet(f->trace, 109, TIM_TRACE_REQUEST, 9, &packet, 1);
    tim_trace_packet(f->trace, 120, TIM_TRACE_SLICE, 9, &packet, 1);
    tim_trace_packet(f->trace, 198, TIM_TRACE_DRAM, 5, &packet, 8); /* a span up to cycle 206, after the window's end */
    packet.sent = 195; /* a packet that has not reached the crossbar has no flow */
    tim_trace_packet(f->trace, 195, TIM_TRACE_SENT, 2, &packet, 0);
    tim_trace_packet(f->trace, 210, TIM_TRACE_REPLIED, 2, &packet, 0);
    check(f, "flow = [(x['ph'], x['ts']) for x in e if x['ph'] in 'stf']\n"
             "assert flow == [('s', 105), ('t', 109), ('t', 120), ('f', 198)], flow\n"
             "assert sorted((x['id'], x['ts']) for x in e if x['ph'] in 'be') ==\\\n"
             "    [('2.4.105', 105), ('2.4.105', 200), ('2.4.195', 195), ('2.4.195', 200)]\n"
             "assert ('DRAM', 198, 2) in [('DRAM', x['ts'], x['dur']) for x in spans], spans\n");
}

/* The limit of the trace is three events, so the window ends in the cycle of the fourth event. */
static void a_trace_that_is_full_ends_there(void **state)
{
    struct fixture *f = *state;
    struct tim_extent extent;

    tim_trace_destroy(f->trace);
    f->trace = tim_trace_create(f->config, 100, 200, 3);
    assert_non_null(f->trace);
    tim_trace_warp(f->trace, 100, 0, 0, TIM_STALL_LOAD, &add, 0, 1);
    tim_trace_block(f->trace, 101, 0, 0, 1, 7, true);
    for (unsigned t = 102; t < 110; t++) { /* each event ends the span before it */
        tim_trace_warp(f->trace, t, 0, 0, TIM_STALL_ISSUED, &add, 16 * t, 1);
        assert_int_equal(tim_trace_end(f->trace), t < 105 ? 200 : 105);
        assert_int_equal(tim_trace_wants(f->trace, t), t < 105);
    }
    tim_trace_block(f->trace, 120, 0, 0, 1, 7, false);
    tim_trace_extent(f->trace, 1000, &extent);
    assert_int_equal(extent.from, 100);
    assert_int_equal(extent.to, 105);
    assert_int_equal(extent.events, 3);
    assert_true(extent.full);
    check(f, "assert t['otherData']['cycles'] == '100 to 105', t['otherData']\n"
             "assert t['otherData']['ends'] == 'after 3 events', t['otherData']\n"
             "v = sorted((x['ts'], x['dur'], x['name']) for x in spans)\n"
             "assert v == [(100, 2, 'load'), (101, 4, 'grid 1 block 7'), (102, 1, 'v_add_u32'),\n"
             "    (103, 1, 'v_add_u32'), (104, 1, 'v_add_u32')], v\n");
}

static void two_edges_in_a_cycle_are_one_span_and_two_steps(void **state)
{
    const struct fixture *f = *state;
    struct tim_packet packet = {.sent = 105, .id = 1, .core = 2, .warp = 6};

    for (unsigned i = 0; i < 4; i++) {
        packet.id = i;
        tim_trace_packet(f->trace, 120 + i / 2, TIM_TRACE_SLICE, 9, &packet, 1);
    }
    check(f, "assert [(x['ts'], x['dur']) for x in spans] == [(120, 1), (121, 1)], spans\n"
             "assert [x['ts'] for x in e if x['ph'] == 'f'] == [120, 120, 121, 121]\n");
}

static void random_events_never_overlap_on_a_track(void **state)
{
    const struct fixture *f = *state;
    uint64_t random = 1;

    for (uint64_t t = 80; t < 220; t++)
        for (unsigned i = 0; i < 8; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            tim_trace_warp(f->trace, t, (unsigned)(random >> 40) % 2, i,
                           (enum tim_stall)((random >> 50) % TIM_STALL_COUNT), &add, random >> 60, 1);
            tim_trace_block(f->trace, t, 1, (unsigned)(random >> 33) % 8, 1, t, (random >> 62) != 0);
        }
    check(f, "assert len(spans) > 300\n");
}

static void without_a_trace_nothing_happens(void **state)
{
    const struct tim_packet packet = {0};

    (void)state;
    tim_trace_warp(NULL, 1, 0, 0, TIM_STALL_LOAD, NULL, 0, 0);
    tim_trace_block(NULL, 1, 0, 0, 0, 0, true);
    tim_trace_packet(NULL, 1, TIM_TRACE_SENT, 0, &packet, 0);
    assert_false(tim_trace_wants(NULL, 1));
    tim_trace_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_warp_is_a_track_of_what_it_issues_and_why_it_does_not,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(blocks_stand_on_tracks_of_their_slots, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_is_a_flow_from_its_warp_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_request_without_an_answer_ends_with_the_window, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_trace_that_is_full_ends_there, setup, teardown),
        cmocka_unit_test_setup_teardown(two_edges_in_a_cycle_are_one_span_and_two_steps, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(random_events_never_overlap_on_a_track, setup, teardown),
        cmocka_unit_test(without_a_trace_nothing_happens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
