/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the YAML reader: the tree of nodes, their line numbers, and the inputs that it refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/lw.h"

static struct lw_yaml_document *parse(const char *text)
{
    struct lw_yaml_document *doc = NULL;
    struct lw_error err;

    if (lw_yaml_parse("t.yaml", text, strlen(text), &doc, &err) != LW_OK)
        fail_msg("%s", err.text);
    return doc;
}

/* Expect that @text is refused with exactly @message. */
static void refused(const char *text, const char *message)
{
    struct lw_yaml_document *doc = NULL;
    struct lw_error err = {.text = ""};

    assert_int_not_equal(lw_yaml_parse("t.yaml", text, strlen(text), &doc, &err), LW_OK);
    assert_null(doc);
    assert_string_equal(err.text, message);
}

static void a_document_becomes_a_tree_with_lines(void **state)
{
    struct lw_yaml_document *doc = parse("# note\na: 1\nb:\n  - x\n  - {c: 'q', d: []}\n");
    const struct lw_yaml *root = lw_yaml_root(doc), *b = lw_yaml_get(root, "b");
    (void)state;

    assert_int_equal(root->kind, LW_YAML_MAPPING);
    assert_int_equal(root->count, 2);
    assert_string_equal(root->first->key, "a");
    assert_string_equal(root->first->text, "1");
    assert_int_equal(root->first->line, 2);
    assert_int_equal(b->kind, LW_YAML_SEQUENCE);
    assert_int_equal(b->key_line, 3);
    assert_int_equal(b->count, 2);
    assert_null(b->first->key);
    assert_int_equal(b->first->line, 4);
    assert_true(lw_yaml_get(b->first->next, "c")->quoted);
    assert_int_equal(lw_yaml_get(b->first->next, "d")->count, 0);
    assert_null(lw_yaml_get(root, "e"));
    assert_string_equal(lw_yaml_name(doc), "t.yaml");
    lw_yaml_destroy(doc);
}

static void what_can_mislead_is_refused_by_name(void **state)
{
    (void)state;
    refused("a: &x 1\n", "t.yaml:1: the anchor \"&x\" is not supported: write the value itself");
    refused("a: 1\nb: *x\n",
            "t.yaml:2: the alias \"*x\" is not supported: write the value itself");
    refused("a: !!int 1\n",
            "t.yaml:1: the tag \"tag:yaml.org,2002:int\" is not supported: remove it");
    refused("a: 1\n---\nb: 1\n", "t.yaml:2: a second document (\"---\") is not supported: put it into a file of its own");
    refused("a: 1\nb: 2\na: 3\n",
            "t.yaml:3: the key \"a\" is given twice; the first is on line 1");
    refused("? [x]\n: 1\n",
            "t.yaml:1: a list or mapping cannot be a key: a key must be a word");
    refused("", "t.yaml:1: the file is empty");
    refused("# only a note\n", "t.yaml:1: the file is empty");
    refused("a: \"x\\0y\"\n", "t.yaml:1: the value contains a zero byte (\\0): remove it");
}

static void broken_text_is_refused_with_its_line(void **state)
{
    struct lw_yaml_document *doc;
    struct lw_error err;
    static const char *const texts[] = {"a: 1\nb: [1, 2\n", "a: 1\n  b: 2\n c: 3\n", "\"x", "{",
                                        "a:\n\t- 1\n", "a: \xff\xfe\n", "%YAML 9.9\n---\na\n"};
    (void)state;

    for (unsigned i = 0; i < LW_COUNT_OF(texts); i++) {
        assert_int_equal(lw_yaml_parse("t.yaml", texts[i], strlen(texts[i]), &doc, &err),
                         LW_EINPUT);
        assert_memory_equal(err.text, "t.yaml:", 7);
    }
    assert_int_equal(lw_yaml_parse("t.yaml", texts[0], strlen(texts[0]), &doc, &err), LW_EINPUT);
    assert_memory_equal(err.text, "t.yaml:3: ", 10);
}

static void deep_nesting_is_refused(void **state)
{
    char text[200];
    struct lw_yaml_document *doc;
    struct lw_error err;
    (void)state;

    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    assert_int_equal(lw_yaml_parse("t.yaml", text, 200, &doc, &err), LW_EUNSUPP);
    assert_string_equal(err.text, "t.yaml:1: lists and mappings are nested more than 32 deep");
    memset(text, '[', 32);
    memset(text + 32, ']', 32);
    assert_int_equal(lw_yaml_parse("t.yaml", text, 64, &doc, &err), LW_OK);
    lw_yaml_destroy(doc);
}

static void an_unknown_key_names_the_nearest(void **state)
{
    static const char *const known[] = {"warp", "policy", NULL};
    struct lw_yaml_document *doc = parse("warp: 1\npolcy: rr\n"), *far = parse("zebra: 1\n");
    struct lw_error err;
    (void)state;

    assert_int_equal(lw_yaml_known(doc, lw_yaml_root(doc), known, &err), LW_EINPUT);
    assert_string_equal(err.text, "t.yaml:2: unknown key \"polcy\"; did you mean \"policy\"?");
    assert_int_equal(lw_yaml_known(far, lw_yaml_root(far), known, &err), LW_EINPUT);
    assert_string_equal(err.text,
                        "t.yaml:1: unknown key \"zebra\"; the keys here are: warp, policy");
    lw_yaml_destroy(doc);
    lw_yaml_destroy(far);
}

static void typed_scalars_name_key_found_and_range(void **state)
{
    struct lw_yaml_document *doc = parse("n: 65\nt: '7'\nl: [1]\ne:\nh: 0x20\nm: -3\n");
    const struct lw_yaml *root = lw_yaml_root(doc);
    struct lw_error err;
    uint64_t u = 5;
    int64_t s;
    const char *text;
    (void)state;

    assert_int_equal(lw_yaml_u64(doc, lw_yaml_get(root, "n"), 4, 64, &u, &err), LW_EINPUT);
    assert_string_equal(err.text,
                        "t.yaml:1: n: expected an integer from 4 to 64, found \"65\"");
    assert_int_equal(lw_yaml_u64(doc, lw_yaml_get(root, "t"), 0, 9, &u, &err), LW_EINPUT);
    assert_string_equal(err.text,
                        "t.yaml:2: t: expected an integer from 0 to 9, found the text \"7\"");
    assert_int_equal(lw_yaml_u64(doc, lw_yaml_get(root, "l"), 0, UINT64_MAX, &u, &err),
                     LW_EINPUT);
    assert_string_equal(err.text,
                        "t.yaml:3: l: expected an integer of 0 or more, found a list");
    assert_int_equal(lw_yaml_string(doc, lw_yaml_get(root, "e"), &text, &err), LW_EINPUT);
    assert_string_equal(err.text, "t.yaml:4: e: expected a text, found nothing");
    assert_int_equal(u, 5);
    assert_int_equal(lw_yaml_u64(doc, lw_yaml_get(root, "h"), 0, 64, &u, &err), LW_OK);
    assert_int_equal(u, 32);
    assert_int_equal(lw_yaml_i64(doc, lw_yaml_get(root, "m"), -3, 0, &s, &err), LW_OK);
    assert_int_equal(s, -3);
    assert_int_equal(lw_yaml_i64(doc, lw_yaml_get(root, "m"), -2, 0, &s, &err), LW_EINPUT);
    lw_yaml_destroy(doc);
}

static void doubles_and_truth_values_are_read(void **state)
{
    struct lw_yaml_document *doc =
        parse("[1e-5, -.inf, .NaN, -7, 0x10, inf, on, Off, yes, 1.5x, '1', 1]");
    const struct lw_yaml *n = lw_yaml_root(doc)->first;
    struct lw_error err;
    double d;
    bool b;
    (void)state;

    assert_int_equal(lw_yaml_double(doc, n, &d, &err), LW_OK);
    assert_true(d == 1e-5);
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_OK);
    assert_true(isinf(d) && d < 0);
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_OK);
    assert_true(isnan(d));
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_OK);
    assert_true(d == -7);
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_OK);
    assert_true(d == 16);
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_OK);
    assert_true(isinf(d));
    assert_int_equal(lw_yaml_bool(doc, n = n->next, &b, &err), LW_OK);
    assert_true(b);
    assert_int_equal(lw_yaml_bool(doc, n = n->next, &b, &err), LW_OK);
    assert_false(b);
    assert_int_equal(lw_yaml_bool(doc, n = n->next, &b, &err), LW_OK);
    assert_true(b);
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_EINPUT);
    assert_string_equal(err.text, "t.yaml:1: expected a number, found \"1.5x\"");
    assert_int_equal(lw_yaml_double(doc, n = n->next, &d, &err), LW_EINPUT);
    assert_int_equal(lw_yaml_bool(doc, n->next, &b, &err), LW_EINPUT);
    lw_yaml_destroy(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_becomes_a_tree_with_lines),
        cmocka_unit_test(what_can_mislead_is_refused_by_name),
        cmocka_unit_test(broken_text_is_refused_with_its_line),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(an_unknown_key_names_the_nearest),
        cmocka_unit_test(typed_scalars_name_key_found_and_range),
        cmocka_unit_test(doubles_and_truth_values_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
