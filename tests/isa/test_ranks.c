/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the ranks of instructions, by which thread frontiers order blocks: loops come before the code after them, and
 * callees before callers. */
#include "tests/lib/object_fixture.h"

/* Returns the instructions of @text in the order of their ranks; instructions of one rank keep their order. */
static char *order_of(const char *text)
{
    struct isa_object *object;
    struct lw_error err;
    struct isa_insn insn[64];
    uint32_t rank[64];
    static char out[256];
    size_t used = 0;

    if (isa_assemble("ranks.s", text, strlen(text), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_true(object->text_count <= LW_COUNT_OF(insn));
    for (uint32_t i = 0; i < object->text_count; i++)
        assert_true(isa_insn_decode(object->text[i], &insn[i]));
    assert_true(isa_object_ranks(object, insn, rank));
    for (uint32_t r = 0; r < 2 * object->text_count; r++)
        for (uint32_t i = 0; i < object->text_count; i++)
            if (rank[i] == r)
                used += (size_t)snprintf(out + used, sizeof out - used, "%s%u", used != 0 ? " " : "", i);
    isa_object_destroy(object);
    return out;
}

static void blocks_come_in_topological_order(void **state)
{
    (void)state;
    /* block C (2 and 3), to which both sides of the branch jump, is before the sides A and B in the text */
    assert_string_equal(order_of(".kernel k\n@p0 bra A\nbra B\nC: nop\nexit\nA: nop\nbra C\nB: nop\nbra C\n.end\n"),
                        "0 1 6 7 4 5 2 3");
}

static void a_loop_comes_before_the_code_after_it(void **state)
{
    (void)state;
    /* In the text the code after the loop (2 and 3) is before the loop. In the order the loop's head (4) comes after the rest
     * of the loop. */
    assert_string_equal(order_of(".kernel k\nnop\nbra L\nE: nop\nexit\nL: nop\nnop\n@p0 bra L\nbra E\n.end\n"),
                        "0 1 5 6 4 7 2 3");
}

static void heads_of_inner_loops_come_first(void **state)
{
    (void)state;
    /* an outer loop from 1 to 5 with an inner loop from 2 to 3, then a loop of one block from 6 to 7 */
    assert_string_equal(order_of(".kernel k\nnop\nO: nop\nI: nop\n@p0 bra I\nnop\n@p1 bra O\nS: nop\n@p2 bra S\nexit\n.end\n"),
                        "0 3 2 4 5 1 7 6 8");
    /* both loops end with the same block */
    assert_string_equal(order_of(".kernel k\nO: nop\nI: nop\n@p0 bra O\n@p1 bra I\nexit\n.end\n"), "2 3 1 0 4");
}

static void a_function_comes_before_its_callers(void **state)
{
    (void)state;
    assert_string_equal(order_of(".kernel k\nnop\ncall v0:1, f\nexit\n.end\n.func f\nnop\ncall v0:1, g\nret v0:1\n.end\n.func g\nnop\nret v0:1\n.end\n"),
                        "6 7 3 4 5 0 1 2");
    /* a recursive function */
    assert_string_equal(order_of(".kernel k\ncall v0:1, f\nexit\n.end\n.func f\ncall v0:1, f\nret v0:1\n.end\n"), "2 3 0 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_come_in_topological_order),
        cmocka_unit_test(a_loop_comes_before_the_code_after_it),
        cmocka_unit_test(heads_of_inner_loops_come_first),
        cmocka_unit_test(a_function_comes_before_its_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
