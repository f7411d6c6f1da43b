/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the framing of packets: acknowledgements, checksums, escapes, resends and limits. */
#include "tests/gdbstub/rsp_fixture.h"

static void feed(struct fixture *fix, const char *bytes)
{
    lw_buffer_clear(&fix->out);
    rsp_feed(fix->rsp, (const uint8_t *)bytes, strlen(bytes));
}

static void a_good_packet_is_acknowledged_and_answered(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$qAttached#8f");
    assert_string_equal(fix->out.text, "+$1#31");
}

static void a_bad_checksum_requests_the_packet(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$qAttached#8e");
    assert_string_equal(fix->out.text, "-");
    feed(fix, "$qAttached#zz");
    assert_string_equal(fix->out.text, "-");
}

static void a_nak_repeats_the_last_packet(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$qAttached#8f");
    feed(fix, "-");
    assert_string_equal(fix->out.text, "$1#31");
}

static void no_ack_mode_starts_after_its_own_answer(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$QStartNoAckMode#b0");
    assert_string_equal(fix->out.text, "+$OK#9a");
    feed(fix, "+$qAttached#8f");
    assert_string_equal(fix->out.text, "$1#31");
    feed(fix, "$qAttached#00"); /* Without acknowledgements the stub trusts the transport and ignores the checksum. */
    assert_string_equal(fix->out.text, "$1#31");
    feed(fix, "-");
    assert_string_equal(fix->out.text, "");
}

static void bytes_may_come_one_by_one(void **state)
{
    struct fixture *fix = *state;
    const char *text = "$qAttached#8f";

    lw_buffer_clear(&fix->out);
    for (const char *p = text; *p != '\0'; p++)
        rsp_feed(fix->rsp, (const uint8_t *)p, 1);
    assert_string_equal(fix->out.text, "+$1#31");
}

static void a_packet_cut_off_by_the_next_is_dropped(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$qAtt$qAttached#8f");
    assert_string_equal(fix->out.text, "+$1#31");
}

static void an_unknown_packet_gets_the_empty_reply(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$vMustReplyEmpty#3a");
    assert_string_equal(fix->out.text, "+$#00");
}

static void escaped_bytes_are_restored_and_count_as_sent(void **state)
{
    struct fixture *fix = *state;
    char packet[128];
    const char *payload = "X200000000000,4:}\x03}\x04}\x5d}\x0a";
    unsigned sum = 0;

    for (const char *p = payload; *p != '\0'; p++)
        sum += (uint8_t)*p;
    snprintf(packet, sizeof packet, "$%s#%02x", payload, sum & 255);
    feed(fix, packet);
    assert_string_equal(fix->out.text, "+$OK#9a");
    assert_string_equal(fix_ask(fix, "m200000000000,4"), "23247d2a");
}

/* The byte after an escape character is not taken as data if that byte ends or begins a packet. */
static void an_escape_does_not_swallow_the_end_of_a_packet(void **state)
{
    static const char *const ends[] = {"$qAttached}#0c", "$m200000000000,4}#13", "$X200000000000,4:ab}#8a"};
    struct fixture *fix = *state;

    for (size_t i = 0; i < LW_COUNT_OF(ends); i++) {
        feed(fix, "$QStartNoAckMode#b0");
        feed(fix, ends[i]);
        assert_string_equal(fix->out.text, "$E01#a6");
        feed(fix, "$qAttached#8f");
        assert_string_equal(fix->out.text, "$1#31");
    }
    feed(fix, "$qAttached}$qAttached#8f"); /* the first packet is truncated after an escape character */
    assert_string_equal(fix->out.text, "$1#31");
    feed(fix, "$}#7d$}}#fa$qAttached#8f"); /* the escaped form of the escape character is ] */
    assert_string_equal(fix->out.text, "$E01#a6$#00$1#31");
}

static void an_oversize_packet_is_refused_and_the_next_is_served(void **state)
{
    struct fixture *fix = *state;
    size_t size = 0x20000 + 100;
    char *big = malloc(size + 8);

    assert_non_null(big);
    feed(fix, "$QStartNoAckMode#b0");
    big[0] = '$';
    memset(big + 1, 'm', size);
    memcpy(big + 1 + size, "#00", 4);
    feed(fix, big);
    assert_string_equal(fix->out.text, "$E01#a6");
    feed(fix, "$qAttached#8f");
    assert_string_equal(fix->out.text, "$1#31");
    free(big);
}

static void an_interrupt_right_after_a_continue_stops_it(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$QStartNoAckMode#b0");
    lw_buffer_clear(&fix->out);
    rsp_feed(fix->rsp, (const uint8_t *)"$vCont;c#a8\x03", 12);
    fix_decode(fix);
    assert_memory_equal(fix->last.text, "T02thread:1;", 12);
    assert_string_equal(fake_dbg_trace(fix->dbg), ""); /* nothing ran */
}

static void an_interrupt_while_stopped_is_ignored(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "\x03");
    assert_string_equal(fix->out.text, "");
}

/* At a stop that gdb shows to the user, gdb requests the list of threads. When gdb continues a step by itself, it does not. */
static void an_interrupt_between_two_steps_stops_the_second(void **state)
{
    static const char *const asks[] = {"", "$qXfer:threads:read::0,1000#92"};
    struct fixture *fix = *state;

    feed(fix, "$QStartNoAckMode#b0");
    for (size_t i = 0; i < LW_COUNT_OF(asks); i++) {
        feed(fix, "\x03");
        if (asks[i][0] != '\0')
            feed(fix, asks[i]);
        lw_buffer_clear(&fix->out);
        rsp_feed(fix->rsp, (const uint8_t *)"$vCont;c#a8", 11);
        fix_decode(fix);
        assert_int_equal(memcmp(fix->last.text, "T02", 3) == 0, i == 0);
        assert_int_equal(fake_dbg_trace(fix->dbg)[0] == '\0', i == 0);
    }
}

/* gdb has requested the list of threads and sent further packets, so it shows the stop. Editors then send an interrupt although
 * the machine is stopped, and the stub must ignore it. */
static void an_interrupt_at_a_stop_that_is_shown_is_for_nobody(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$QStartNoAckMode#b0");
    feed(fix, "$qXfer:threads:read::0,1000#92$qC#b4");
    feed(fix, "\x03");
    lw_buffer_clear(&fix->out);
    rsp_feed(fix->rsp, (const uint8_t *)"$vCont;c#a8", 11);
    fix_decode(fix);
    assert_memory_not_equal(fix->last.text, "T02", 3);
    assert_string_not_equal(fake_dbg_trace(fix->dbg), "");
}

static void nothing_is_answered_after_a_kill(void **state)
{
    struct fixture *fix = *state;

    feed(fix, "$k#6b");
    assert_string_equal(fix->out.text, "+");
    assert_int_equal(rsp_ended(fix->rsp), RSP_KILLED);
    feed(fix, "$qAttached#8f");
    assert_string_equal(fix->out.text, "");
}

static bool ask_yes(void *context)
{
    ++*(unsigned *)context;
    return *(unsigned *)context > 2; /* the stub calls poll once before the run */
}

static void the_poll_function_stops_an_endless_run(void **state)
{
    struct fake_options options = {.warps = 2, .fault_at = -1, .endless = true};
    struct fixture *fix = fix_create(&options, (struct rsp_config){.arch = RSP_X86_64});
    unsigned asked = 0;

    (void)state;
    rsp_set_poll(fix->rsp, ask_yes, &asked);
    fix_ask(fix, "vCont;c");
    assert_memory_equal(fix->last.text, "T02thread:", 10);
    fix_destroy(fix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)
        TEST(a_good_packet_is_acknowledged_and_answered),
        TEST(a_bad_checksum_requests_the_packet),
        TEST(a_nak_repeats_the_last_packet),
        TEST(no_ack_mode_starts_after_its_own_answer),
        TEST(bytes_may_come_one_by_one),
        TEST(a_packet_cut_off_by_the_next_is_dropped),
        TEST(an_unknown_packet_gets_the_empty_reply),
        TEST(escaped_bytes_are_restored_and_count_as_sent),
        TEST(an_escape_does_not_swallow_the_end_of_a_packet),
        TEST(an_oversize_packet_is_refused_and_the_next_is_served),
        TEST(an_interrupt_right_after_a_continue_stops_it),
        TEST(an_interrupt_while_stopped_is_ignored),
        TEST(an_interrupt_between_two_steps_stops_the_second),
        TEST(an_interrupt_at_a_stop_that_is_shown_is_for_nobody),
        TEST(nothing_is_answered_after_a_kill),
        cmocka_unit_test(the_poll_function_stops_an_endless_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
