/* SPDX-License-Identifier: Apache-2.0 */
/* Tests base/: errors, sinks, arenas, hashing, text helpers, files and command rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lw.h"

static void a_prefix_is_put_before_the_message(void **state)
{
    struct lw_error err;
    (void)state;

    assert_int_equal(LW_FAIL(&err, LW_ERANGE, "%d is too big", 7), LW_ERANGE);
    assert_string_equal(err.text, "7 is too big");
    assert_int_equal(lw_error_prefix(&err, "file:%d", 3), LW_ERANGE);
    assert_string_equal(err.text, "file:3: 7 is too big");
    assert_int_equal(LW_FAIL(NULL, LW_EIO, "nobody listens"), LW_EIO);
}

static void a_message_has_no_bytes_that_a_terminal_obeys(void **state)
{
    struct lw_error err;
    char big[2000];
    (void)state;

    LW_FAIL(&err, LW_EINPUT, "found '%s'", "a\x1b[31m\tb\nc\x7f");
    assert_string_equal(err.text, "found 'a\\x1b[31m\\x09b\\x0ac\\x7f'");
    /* Valid UTF-8 is unchanged (ae, euro, clef). C1 controls, incomplete and overlong sequences are replaced. */
    LW_FAIL(&err, LW_EINPUT, "\xc3\xa6 \xe2\x82\xac \xf0\x9d\x84\x9e \xc2\x9b \x9b \xc0\x80 \xe2\x82");
    assert_string_equal(err.text, "\xc3\xa6 \xe2\x82\xac \xf0\x9d\x84\x9e \\xc2\\x9b \\x9b "
                                  "\\xc0\\x80 \\xe2\\x82");
    LW_FAIL(&err, LW_EINPUT, "here");
    lw_error_prefix(&err, "%s", "\033c.s");
    assert_string_equal(err.text, "\\x1bc.s: here");
    memset(big, 1, sizeof big - 1);
    big[sizeof big - 1] = '\0';
    LW_FAIL(&err, LW_EINPUT, "%s", big);
    assert_int_equal(strlen(err.text), (LW_ERROR_BYTES - 1) / 4 * 4);
}

/* Counts from RFC 3629: 1,920 characters of two bytes, 61,440 of three, 1,048,576 of four. */
static void utf8_has_as_many_characters_as_unicode(void **state)
{
    unsigned two = 0, three = 0, four = 0;
    char text[5] = {0};
    (void)state;

    for (unsigned a = 1; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            text[0] = (char)a;
            text[1] = (char)b;
            text[2] = '\0';
            two += lw_utf8(text) == 2;
            assert_int_equal(lw_utf8(text) == 1, a < 0x80);
            for (unsigned c = 0x7e; c < 0xc2; c++) {
                text[2] = (char)c;
                text[3] = '\0';
                three += lw_utf8(text) == 3;
                text[3] = (char)0xbf; /* each iteration tries one of 64 values */
                four += lw_utf8(text) == 4;
            }
        }
    assert_int_equal(two, 1920);
    assert_int_equal(three, 61440);
    assert_int_equal(four, 1048576 / 64);
}

static void json_keeps_text_and_replaces_what_is_none(void **state)
{
    struct lw_buffer out;
    (void)state;

    lw_buffer_init(&out);
    lw_put_json(&out.sink, "a\"\\\n\x7f \xc3\xa6 \xf0\x9d\x84\x9e \xed\xa0\x80 \xff\xe2\x82");
    assert_string_equal(out.text, "\"a\\\"\\\\\\u000a\\u007f \xc3\xa6 \xf0\x9d\x84\x9e "
                                  "\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd\"");
    lw_buffer_fini(&out);
}

static void a_long_message_is_cut_and_terminated(void **state)
{
    struct lw_error err;
    char big[2000];
    (void)state;

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    LW_FAIL(&err, LW_EINPUT, "%s", big);
    assert_int_equal(strlen(err.text), LW_ERROR_BYTES - 1);
    lw_error_prefix(&err, "place");
    assert_int_equal(strlen(err.text), LW_ERROR_BYTES - 1);
    assert_memory_equal(err.text, "place: xxx", 10);
}

static void an_error_may_quote_itself(void **state)
{
    struct lw_error err;
    (void)state;

    LW_FAIL(&err, LW_EINPUT, "inner");
    LW_FAIL(&err, LW_EUSAGE, "outer (%s)", err.text);
    assert_string_equal(err.text, "outer (inner)");
}

static void a_buffer_keeps_all_text(void **state)
{
    struct lw_buffer b;
    char big[3000];
    (void)state;

    lw_buffer_init(&b);
    assert_string_equal(b.text, "");
    memset(big, 'y', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    lw_put(&b.sink, "a");
    lw_printf(&b.sink, "%s|%d", big, 42);
    assert_int_equal(b.size, 1 + 2999 + 3);
    assert_string_equal(b.text + 3000, "|42");
    lw_buffer_clear(&b);
    assert_string_equal(b.text, "");
    lw_buffer_fini(&b);
    lw_put(NULL, "a sink may be missing");
}

static void arena_memory_is_zeroed_aligned_and_apart(void **state)
{
    struct lw_arena a;
    uint8_t *blocks[400];
    (void)state;

    lw_arena_init(&a);
    for (unsigned i = 0; i < 400; i++) {
        size_t size = i % 7 == 0 ? 9000 : i;
        blocks[i] = lw_arena_alloc(&a, size);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t j = 0; j < size; j++)
            assert_int_equal(blocks[i][j], 0);
        memset(blocks[i], (int)(i % 251) + 1, size);
    }
    for (unsigned i = 0; i < 400; i++)
        for (size_t j = 0; j < (i % 7 == 0 ? 9000 : i); j++)
            assert_int_equal(blocks[i][j], i % 251 + 1);
    assert_string_equal(lw_arena_printf(&a, "%d-%s", 5, "x"), "5-x");
    assert_string_equal(lw_arena_strndup(&a, "abcdef", 3), "abc");
    assert_null(lw_arena_alloc(&a, SIZE_MAX - 4));
    lw_arena_fini(&a);
}

static void a_grown_array_keeps_its_elements(void **state)
{
    uint32_t *v = NULL;
    size_t capacity = 0;
    (void)state;

    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(lw_grow(&v, &capacity, i + 1, sizeof *v));
        v[i] = i * 3;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(v[i], i * 3);
    assert_false(lw_grow(&v, &capacity, SIZE_MAX / 2, sizeof *v));
    assert_int_equal(v[999], 2997);
    free(v);
}

static void each_bit_runs_lowest_first(void **state)
{
    unsigned seen[4], n = 0;
    (void)state;

    for (LW_EACH_BIT(l, UINT64_C(0x8000000100000005)))
        seen[n++] = (unsigned)l;
    assert_int_equal(n, 4);
    assert_int_equal(seen[0], 0);
    assert_int_equal(seen[1], 2);
    assert_int_equal(seen[2], 32);
    assert_int_equal(seen[3], 63);
    n = 0;
    for (LW_EACH_BIT(l, 0))
        n += (unsigned)l + 1;
    assert_int_equal(n, 0);
    assert_int_equal(lw_mask(0), 0);
    assert_true(lw_mask(64) == UINT64_MAX);
}

static uint64_t hash_of(const void *data, size_t size)
{
    struct lw_hash h;

    lw_hash_init(&h);
    lw_hash_bytes(&h, data, size);
    return lw_hash_value(&h);
}

static void a_lower_bound_counts_the_rows_below_a_key(void **state)
{
    static const struct {
        uint64_t key;
        char rest[5];
    } rows[] = {{3, ""}, {5, ""}, {5, ""}, {UINT64_MAX, ""}};
    (void)state;

    assert_int_equal(lw_lower_bound(NULL, 0, sizeof *rows, 7), 0);
    assert_int_equal(lw_lower_bound(rows, 4, sizeof *rows, 0), 0);
    assert_int_equal(lw_lower_bound(rows, 4, sizeof *rows, 5), 1);
    assert_int_equal(lw_lower_bound(rows, 4, sizeof *rows, 6), 3);
    assert_int_equal(lw_lower_bound(rows, 3, sizeof *rows, UINT64_MAX), 3);
}

static void hashes_distinguish_contents(void **state)
{
    uint8_t data[64] = {0};
    struct lw_hash h;
    (void)state;

    /* Inputs that differ in the number of zeros, in a single bit or in the order of words have different hashes. */
    for (size_t i = 0; i < 64; i++)
        assert_true(hash_of(data, i) != hash_of(data, i + 1));
    for (unsigned bit = 0; bit < 512; bit++) {
        uint8_t other[64] = {0};
        other[bit / 8] = (uint8_t)(1 << bit % 8);
        assert_true(hash_of(other, 64) != hash_of(data, 64));
    }
    uint64_t ab[2] = {1, 2}, ba[2] = {2, 1};
    assert_true(hash_of(ab, 16) != hash_of(ba, 16));
    lw_hash_init(&h);
    lw_hash_u64(&h, 1);
    lw_hash_u64(&h, 2);
    assert_true(lw_hash_value(&h) == hash_of("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0", 16));
}

static void the_hash_is_fixed_for_ever(void **state)
{
    (void)state;
    /* Published hashes of runs depend on these values, so the values must not change. */
    assert_true(hash_of("", 0) == UINT64_C(0xf52a15e9a9b5e89b));
    assert_true(hash_of("lanewise", 8) == UINT64_C(0xe94ed8f92708ddf7));
    assert_true(hash_of("lanewise runs", 13) == UINT64_C(0x73032d1fad900f8b));
}

static void numbers_must_match_as_a_whole(void **state)
{
    uint64_t u = 99;
    int64_t s = 99;
    (void)state;

    assert_true(lw_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
    assert_true(lw_parse_u64("0x10", &u) && u == 16);
    assert_true(lw_parse_u64("0b101", &u) && u == 5);
    u = 99;
    assert_false(lw_parse_u64("18446744073709551616", &u));
    assert_false(lw_parse_u64("", &u));
    assert_false(lw_parse_u64("0x", &u));
    assert_false(lw_parse_u64("12a", &u));
    assert_false(lw_parse_u64("-1", &u));
    assert_false(lw_parse_u64(" 1", &u));
    assert_false(lw_parse_u64("0b2", &u));
    assert_false(lw_parse_u64("+-1", &u));
    assert_true(u == 99);
    assert_true(lw_parse_i64("-9223372036854775808", &s) && s == INT64_MIN);
    assert_true(lw_parse_i64("+0x7f", &s) && s == 127);
    assert_false(lw_parse_i64("9223372036854775808", &s));
    assert_false(lw_parse_i64("--1", &s));
}

static void near_names_are_found_and_far_ones_are_not(void **state)
{
    static const char *const names[] = {"warp", "policy", "resident_warps", "quantum"};
    static const char *const letters[] = {"y", "z"};
    (void)state;

    assert_int_equal(lw_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(lw_edit_distance("", "abc"), 3);
    assert_int_equal(lw_edit_distance("warp", "wrap"), 1);
    assert_int_equal(lw_edit_distance("same", "same"), 0);
    assert_string_equal(lw_suggest("wrap", names, 4, sizeof names[0]), "warp");
    assert_string_equal(lw_suggest("polcy", names, 4, sizeof names[0]), "policy");
    assert_string_equal(lw_suggest("resident", names, 4, sizeof names[0]), "resident_warps");
    assert_null(lw_suggest("banana", names, 4, sizeof names[0]));
    assert_null(lw_suggest("x", names, 4, sizeof names[0]));
    assert_string_equal(lw_suggest("yy", letters, 2, sizeof letters[0]), "y");
    assert_null(lw_suggest("x", letters, 2, sizeof letters[0]));
    assert_null(lw_suggest("", letters, 2, sizeof letters[0]));
}

static void a_file_is_written_whole_or_not_at_all(void **state)
{
    char folder[] = "/tmp/lw_base_XXXXXX", path[64], *data;
    size_t size;
    struct lw_error err;
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(lw_file_write(path, "x\0y", 3, &err), LW_OK);
    assert_int_equal(lw_file_read(path, &data, &size, &err), LW_OK);
    assert_int_equal(size, 3);
    assert_memory_equal(data, "x\0y", 4);
    free(data);
    assert_int_equal(lw_file_write(path, "", 0, &err), LW_OK);
    assert_int_equal(lw_file_read(path, &data, &size, &err), LW_OK);
    assert_int_equal(size, 0);
    free(data);
    unlink(path);
    assert_int_equal(lw_file_read(path, &data, &size, &err), LW_ENOENT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(lw_file_read(folder, &data, &size, &err), LW_EIO);
    assert_non_null(strstr(err.text, "directory"));
    snprintf(path, sizeof path, "%s/no/such", folder);
    assert_int_equal(lw_file_write(path, "x", 1, &err), LW_ENOENT);
    assert_int_equal(rmdir(folder), 0); /* the failure leaves no file */
}

static void a_file_that_cannot_be_written_is_known_before(void **state)
{
    char folder[] = "/tmp/lw_base_XXXXXX", path[64], other[64], *data;
    size_t size;
    struct lw_error err;
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a", folder);
    snprintf(other, sizeof other, "%s/b", folder);
    assert_int_equal(lw_file_try_write(path, &err), LW_OK);
    assert_int_equal(lw_file_read(path, &data, &size, &err), LW_ENOENT); /* the file was not created */
    assert_int_equal(lw_file_write(path, "xy", 2, &err), LW_OK);
    assert_int_equal(lw_file_try_write(path, &err), LW_OK);
    assert_int_equal(lw_file_read(path, &data, &size, &err), LW_OK);
    assert_int_equal(size, 2); /* the file was not changed */
    free(data);
    unlink(path);
    assert_int_equal(lw_file_try_write("/dev/null", &err), LW_OK);
    assert_int_equal(symlink(path, other), 0); /* the link refers to a missing file, which a write creates */
    assert_int_equal(lw_file_try_write(other, &err), LW_OK);
    unlink(other);
    assert_int_equal(lw_file_try_write(folder, &err), LW_EIO);
    assert_non_null(strstr(err.text, "directory"));
    snprintf(path, sizeof path, "%s/no/such", folder);
    assert_int_equal(lw_file_try_write(path, &err), LW_ENOENT);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(rmdir(folder), 0); /* the failure leaves no file */
}

/* ---- commands ---- */

struct trace {
    char text[256];
};

static enum lw_status record(const struct lw_call *call, struct lw_error *err)
{
    struct trace *t = call->context;

    t->text[0] = '\0';
    for (int i = 0; i < call->argc; i++) {
        strcat(t->text, "[");
        strcat(t->text, call->argv[i]);
        strcat(t->text, "]");
    }
    lw_put(call->out, "ran\n");
    if (call->argc > 1 && strcmp(call->argv[1], "bad") == 0)
        return LW_FAIL(err, LW_ERANGE, "bad operand");
    return LW_OK;
}

static const struct lw_command rows_a[] = {
    {"break", "b", "<location>", "set a breakpoint", "break k.cl:3", record, 0},
    {"continue", "c", "", "run on", "continue", record, LW_COMMAND_CHANGES | LW_COMMAND_REPEATS},
    {"condition", "cond", "<id> <expression>", "give a point a condition", "cond 1 x", record, 0},
};
static const struct lw_command rows_b[] = {
    {"backtrace", "bt", "", "show frames", "bt", record, 0},
    {"lanes", NULL, "<expression>", "one value a lane", "lanes v1", record, 0},
    {"list", NULL, "", "source lines", "list", record, 0},
};

static void a_command_is_found_by_name_short_form_or_unique_beginning(void **state)
{
    struct trace t = {""};
    struct lw_command_set set = {.tables = {{rows_a, 3, &t}, {rows_b, 3, &t}}, .count = 2};
    struct lw_error err;
    (void)state;

    assert_string_equal(lw_command_find(&set, "b", NULL, &err)->name, "break");
    assert_string_equal(lw_command_find(&set, "bt", NULL, &err)->name, "backtrace");
    assert_string_equal(lw_command_find(&set, "c", NULL, &err)->name, "continue");
    assert_string_equal(lw_command_find(&set, "con", NULL, &err)->name, "continue");
    assert_string_equal(lw_command_find(&set, "cond", NULL, &err)->name, "condition");
    assert_string_equal(lw_command_find(&set, "lan", NULL, &err)->name, "lanes");
    assert_null(lw_command_find(&set, "l", NULL, &err));
    assert_string_equal(err.text, "the command \"l\" is ambiguous: it could be lanes, list");
    assert_null(lw_command_find(&set, "lanse", NULL, &err));
    assert_string_equal(err.text, "there is no command \"lanse\"; did you mean \"lanes\"?");
    assert_null(lw_command_find(&set, "zebra", NULL, &err));
    assert_int_equal(err.status, LW_EUSAGE);
}

static void a_line_is_split_into_words_and_quotes_group(void **state)
{
    struct trace t = {""};
    struct lw_command_set set = {.tables = {{rows_a, 3, &t}, {rows_b, 3, &t}}, .count = 2};
    struct lw_error err;
    struct lw_buffer out;
    (void)state;

    lw_buffer_init(&out);
    assert_int_equal(lw_command_run(&set, "  b  k.cl:3 'a b'\"c d\" # ", &out.sink, &err),
                     LW_OK);
    assert_string_equal(t.text, "[break][k.cl:3][a bc d][#]");
    assert_string_equal(out.text, "ran\n");
    assert_int_equal(lw_command_run(&set, "c ''", &out.sink, &err), LW_OK);
    assert_string_equal(t.text, "[continue][]");
    strcpy(t.text, "same");
    assert_int_equal(lw_command_run(&set, "", &out.sink, &err), LW_OK);
    assert_int_equal(lw_command_run(&set, "  # note", &out.sink, &err), LW_OK);
    assert_string_equal(t.text, "same");
    assert_int_equal(lw_command_run(&set, "c 'open", &out.sink, &err), LW_EUSAGE);
    assert_int_equal(lw_command_run(&set, "c bad", &out.sink, &err), LW_ERANGE);
    lw_buffer_fini(&out);
}

static enum lw_status which(const struct lw_call *call, struct lw_error *err)
{
    (void)err;
    lw_printf(call->out, "%s: %u\n", call->argv[0], call->what);
    return LW_OK;
}

static void a_handler_of_several_rows_gets_which_it_is(void **state)
{
    static const struct lw_command rows[] = {
        {"up", NULL, "", "one way", "up", which, LW_COMMAND_CHANGES | LW_COMMAND_AS(1)},
        {"down", NULL, "", "the other", "down", which, LW_COMMAND_BARE | LW_COMMAND_AS(300)},
        {"here", NULL, "", "neither", "here", which, 0},
    };
    struct lw_command_set set = {.tables = {{rows, 3, NULL}}, .count = 1};
    struct lw_error err;
    struct lw_buffer out;
    (void)state;

    lw_buffer_init(&out);
    assert_int_equal(lw_command_run(&set, "up x", &out.sink, &err), LW_OK);
    assert_int_equal(lw_command_run(&set, "down", &out.sink, &err), LW_OK);
    assert_int_equal(lw_command_run(&set, "here", &out.sink, &err), LW_OK);
    assert_string_equal(out.text, "up: 1\ndown: 300\nhere: 0\n");
    assert_int_equal(lw_command_run(&set, "down x", &out.sink, &err), LW_EUSAGE);
    assert_string_equal(err.text, "down takes no operands: remove \"x\"");
    lw_buffer_fini(&out);
}

static void help_lists_all_and_explains_one(void **state)
{
    struct trace t = {""};
    struct lw_command_set set = {.tables = {{rows_a, 3, &t}, {rows_b, 3, &t}}, .count = 2};
    struct lw_error err;
    struct lw_buffer out;
    (void)state;

    lw_buffer_init(&out);
    assert_int_equal(lw_command_run(&set, "help", &out.sink, &err), LW_OK);
    for (unsigned i = 0; i < 3; i++) {
        assert_non_null(strstr(out.text, rows_a[i].summary));
        assert_non_null(strstr(out.text, rows_b[i].name));
    }
    lw_buffer_clear(&out);
    assert_int_equal(lw_command_run(&set, "help b", &out.sink, &err), LW_OK);
    assert_string_equal(out.text, "break <location>\n  set a breakpoint.\n"
                                  "  Short form: b\n  Example: break k.cl:3\n");
    assert_int_equal(lw_command_run(&set, "help zebra", &out.sink, &err), LW_EUSAGE);
    lw_buffer_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_is_put_before_the_message),
        cmocka_unit_test(a_message_has_no_bytes_that_a_terminal_obeys),
        cmocka_unit_test(utf8_has_as_many_characters_as_unicode),
        cmocka_unit_test(json_keeps_text_and_replaces_what_is_none),
        cmocka_unit_test(a_long_message_is_cut_and_terminated),
        cmocka_unit_test(an_error_may_quote_itself),
        cmocka_unit_test(a_buffer_keeps_all_text),
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(a_grown_array_keeps_its_elements),
        cmocka_unit_test(each_bit_runs_lowest_first),
        cmocka_unit_test(a_lower_bound_counts_the_rows_below_a_key),
        cmocka_unit_test(hashes_distinguish_contents),
        cmocka_unit_test(the_hash_is_fixed_for_ever),
        cmocka_unit_test(numbers_must_match_as_a_whole),
        cmocka_unit_test(near_names_are_found_and_far_ones_are_not),
        cmocka_unit_test(a_file_is_written_whole_or_not_at_all),
        cmocka_unit_test(a_file_that_cannot_be_written_is_known_before),
        cmocka_unit_test(a_command_is_found_by_name_short_form_or_unique_beginning),
        cmocka_unit_test(a_line_is_split_into_words_and_quotes_group),
        cmocka_unit_test(a_handler_of_several_rows_gets_which_it_is),
        cmocka_unit_test(help_lists_all_and_explains_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
