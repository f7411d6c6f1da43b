/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the lint of wait counters. The lint must report each wait that is missing or too weak, with the register and the load
 * to wait for, and must accept correct code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "isa/isa.h"

static struct
{
    const char *body, *finding; /* code, and the first finding of the lint; "": there is none */
    unsigned count;
} cases[] = {
    /* code without waitcnt is accepted, since the hardware then waits by itself */
    {"ld.global.b32 v1, [v8:9]\nv_add_u32 v2, v1, 1\n", "", 0},
    {"ld.global.b32 v1, [v8:9]\nwaitcnt vmcnt(0)\nv_add_u32 v2, v1, 1\n", "", 0},
    /* two loads, of which one may still be outstanding */
    {"ld.global.b32 v1, [v8:9]\nld.global.b32 v2, [v8:9]\nwaitcnt vmcnt(1)\nv_add_u32 v3, v1, 1\n", "", 0},
    {"ld.global.b32 v1, [v8:9]\nld.global.b32 v2, [v8:9]\nwaitcnt vmcnt(1)\nv_add_u32 v3, v2, 1\n",
     "t.s:6: k+0x30: v_add_u32: no waitcnt waits until v2 has the result of k+0x10", 1},
    /* the lint reports each instruction once, and no instruction after one that has overwritten the register */
    {"ld.global.b32 v1, [v8:9]\nwaitcnt lgkmcnt(0)\nv_add_u32 v2, v1, v1\nv_add_u32 v1, v2, 1\nv_add_u32 v1, v1, 1\n",
     "t.s:5: k+0x20: v_add_u32: no waitcnt waits until v1 has the result of k+0x0", 2},
    /* a register is overwritten while its load is outstanding */
    {"ld.global.b32 v1, [v8:9]\nwaitcnt vmcnt(1)\nv_mov_b32 v1, 1\n",
     "t.s:5: k+0x20: v_mov_b32: no waitcnt waits until v1 has the result of k+0x0", 1},
    /* shared memory completes in order, unless a scalar load is outstanding as well */
    {"ld.shared.b32 v1, [v3]\nld.shared.b32 v2, [v3]\nwaitcnt lgkmcnt(1)\nv_add_u32 v4, v1, 1\n", "", 0},
    {"ld.shared.b32 v1, [v3]\ns_ld.const.b32 s1, c[out]\nld.shared.b32 v2, [v3]\nwaitcnt lgkmcnt(1)\nv_add_u32 v4, v1, 1\n",
     "t.s:7: k+0x40: v_add_u32: no waitcnt waits until v1 has the result of k+0x0", 1},
    {"s_ld.const.b32 s1, c[out]\nwaitcnt vmcnt(0)\ns_add_u32 s2, s1, 1\n",
     "t.s:5: k+0x20: s_add_u32: no waitcnt waits until s1 has the result of k+0x0", 1},
    {"s_ld.const.b32 s1, c[out]\nwaitcnt lgkmcnt(0)\ns_add_u32 s2, s1, 1\n", "", 0},
    /* a store reads its address at issue, but its data later */
    {"st.global.b32 [v8:9], v1\nwaitcnt vmcnt(1)\nv_mov_b32 v1, 2\n",
     "t.s:5: k+0x20: v_mov_b32: no waitcnt waits until v1 was read by k+0x0", 1},
    {"st.global.b32 [v8:9], v1\nwaitcnt expcnt(0)\nv_mov_b32 v1, 2\n", "", 0},
    {"st.global.b32 [v8:9], v1\nwaitcnt vmcnt(1)\nv_mov_b64 v8:9, 2\n", "", 0},
    /* a wait on only one of two paths, or for only some lanes, is not sufficient */
    {"ld.global.b32 v1, [v8:9]\n@sp0 s_bra over\nwaitcnt vmcnt(0)\nover:\nv_add_u32 v2, v1, 1\n",
     "t.s:7: k+0x30: v_add_u32: no waitcnt waits until v1 has the result of k+0x0", 1},
    {"ld.global.b32 v1, [v8:9]\n@p0 waitcnt vmcnt(0)\nv_add_u32 v2, v1, 1\n",
     "t.s:5: k+0x20: v_add_u32: no waitcnt waits until v1 has the result of k+0x0", 1},
    /* in a loop the loads of the first iteration are followed by those of the second, which the counter includes */
    {"again:\nv_add_u32 v2, v1, 1\nld.global.b32 v1, [v8:9]\nld.global.b32 v3, [v8:9]\nwaitcnt vmcnt(1)\n@sp0 s_bra again\n", "", 0},
    {"again:\nv_add_u32 v2, v1, 1\nld.global.b32 v1, [v8:9]\nwaitcnt vmcnt(1)\n@sp0 s_bra again\n",
     "t.s:4: k+0x0: v_add_u32: no waitcnt waits until v1 has the result of k+0x10", 1},
};

static void each_missing_wait_is_named_with_its_load(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object;
        struct lw_buffer text;
        struct lw_error err = {.text = ""};
        unsigned findings = 99;

        lw_buffer_init(&text);
        lw_printf(&text.sink, ".kernel k\n.param ptr.global out\n%sexit\n.end\n", cases[i].body);
        if (isa_assemble_as("t.s", text.text, text.size, ISA_ASM_AUTO, &object, &err) != LW_OK)
            fail_msg("case %u: %s", i, err.text);
        enum lw_status status = isa_waitcnt_count(object, &findings, NULL, &err);

        if (findings != cases[i].count)
            fail_msg("case %u: %u findings: %s", i, findings, err.text);
        assert_int_equal(status, cases[i].count == 0 ? LW_OK : LW_EFORMAT);
        if (cases[i].count != 0)
            assert_string_equal(err.text, cases[i].finding);
        isa_object_destroy(object);
        lw_buffer_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_missing_wait_is_named_with_its_load)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
