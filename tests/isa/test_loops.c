/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the table of loops in objects. The translator creates it, the object file contains it, and the reader checks it. */
#include "tests/lib/object_fixture.h"

static const char nest[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.file 1 \"k.cl\"\n"
    ".entry k(.param .u64 p, .param .u32 n) {\n.reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x; mov.u32 %r5,0;\n"
    ".loc 1 10 1\nO: mov.u32 %r3,0;\n"
    ".loc 1 12 1\nI: atom.global.add.u32 %r4,[%rd1],%r2; add.u32 %r3,%r3,1;\n"
    "setp.gt.u32 %p3,%r4,1000; @%p3 bra OUT;\nsetp.lt.u32 %p1,%r3,%r1; @%p1 bra I;\n"
    ".loc 1 15 1\nadd.u32 %r5,%r5,%r3; setp.lt.u32 %p2,%r5,100; @%p2 bra O;\n"
    "OUT:\n.loc 1 20 1\nst.global.u32 [%rd1],%r5;\n"
    "L: add.u32 %r2,%r2,7; st.global.u32 [%rd1+4],%r2; setp.lt.u32 %p4,%r2,%r1; @%p4 bra L;\nret; }\n";

static void loops_have_headers_depths_ends_and_lines(void **state)
{
    struct isa_object *object = object_of(nest);

    (void)state;
    assert_int_equal(object->loop_count, 3);
    assert_int_equal(object->loops[0].depth, 1);
    assert_int_equal(object->loops[0].parent, UINT32_MAX);
    assert_int_equal(object->loops[0].from_line, 10);
    assert_int_equal(object->loops[0].to_line, 15);
    assert_int_equal(object->loops[1].depth, 2);
    assert_int_equal(object->loops[1].parent, 0);
    assert_int_equal(object->loops[1].from_line, 12);
    assert_int_equal(object->loops[1].to_line, 12);
    assert_int_equal(object->loops[1].exit_count, 2);
    assert_int_equal(object->loops[2].depth, 1);
    assert_int_equal(object->loops[2].from_line, 20);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(object->loops[i].latch_count >= 1);
        assert_true(object->loops[i].latches[0] >= object->loops[i].header);
    }
    isa_object_destroy(object);
}

static void the_file_keeps_them(void **state)
{
    struct isa_object *object = object_of(nest), *again = object_reread(object);
    struct lw_buffer a, b;

    (void)state;
    assert_int_equal(again->loop_count, 3);
    lw_buffer_init(&a);
    lw_buffer_init(&b);
    isa_disassemble(object, &a.sink);
    isa_disassemble(again, &b.sink);
    assert_string_equal(strstr(a.text, ".kernel"), strstr(b.text, ".kernel"));
    assert_non_null(strstr(a.text, "# loop 1 at 0x1000000"));
    assert_non_null(strstr(a.text, "depth 2 in 0, lines 12-12, latches 0x"));
    lw_buffer_fini(&a);
    lw_buffer_fini(&b);
    isa_object_destroy(object);
    isa_object_destroy(again);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct isa_object *object = object_of(nest);
    struct isa_loop *loop = &object->loops[1];
    struct lw_error err;

    (void)state;
    assert_int_equal(isa_object_check(object, &err), LW_OK);
#define WITH(change, undo, what) do { change; object_is_refused(object, what); undo; } while (0)
    WITH(loop->header += 1000, loop->header -= 1000, "its header 10");
    WITH(loop->depth = 3, loop->depth = 2, "depth 3 does not match the depth of its parent");
    WITH(loop->parent = 1, loop->parent = 0, "does not match the depth of its parent");
    WITH(loop->parent = 77, loop->parent = 0, "does not match the depth of its parent");
    WITH(loop->latches[0] += 5000, loop->latches[0] -= 5000, "its latch 50");
    WITH(loop->exits[1] = loop->exits[0], loop->exits[1]++, "its exit ");
    WITH(loop->from_line = 99, loop->from_line = 12, "lines 99 to 12");
    isa_object_destroy(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_have_headers_depths_ends_and_lines),
        cmocka_unit_test(the_file_keeps_them),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
