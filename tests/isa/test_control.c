/* SPDX-License-Identifier: Apache-2.0 */
/* Tests control fields of instructions. The fields that the translator generates must pass the lint, and the lint must find
 * every missing wait and stall. prop_ptx also lints its random programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "ptx/ptx.h"

static const char kernel[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p, .param .u32 n) {\n"
    ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; mov.u32 %r2,%tid.x;\n"
    "mul.wide.u32 %rd2,%r2,4; add.s64 %rd3,%rd1,%rd2; add.u32 %r5,%r2,3; xor.b32 %r6,%r2,7;\n"
    "st.global.v2.u32 [%rd3],{%r5,%r6}; mov.f32 %f1,0f00000000; mov.u32 %r4,0;\n"
    "L: ld.global.f32 %f2,[%rd3]; ld.global.f32 %f3,[%rd3+64]; add.s64 %rd3,%rd3,128;\n"
    "fma.rn.f32 %f1,%f2,%f3,%f1; sqrt.rn.f32 %f4,%f2; add.f32 %f1,%f1,%f4;\n"
    "add.u32 %r4,%r4,%r2; setp.lt.u32 %p1,%r4,%r1; @%p1 bra L;\n"
    "cvt.rn.f32.u32 %f5,%r4; add.f32 %f1,%f1,%f5; st.global.f32 [%rd3],%f1; mov.f32 %f1,%f5;\n"
    "st.global.f32 [%rd3+4],%f1;\nret; }\n";

static struct isa_object *translate(void)
{
    struct isa_object *object;
    struct lw_error err;

    if (ptx_translate("t.ptx", kernel, strlen(kernel), NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    return object;
}

static void change(struct isa_object *object, uint32_t i, const struct isa_control *control)
{
    struct isa_insn insn;
    struct lw_error err;

    assert_true(isa_insn_decode(object->text[i], &insn));
    insn.control = *control;
    assert_int_equal(isa_insn_encode(&insn, &object->text[i], &err), LW_OK);
}

static void what_the_translator_fills_in_passes(void **state)
{
    struct isa_object *object = translate();
    struct lw_error err;
    unsigned waits = 0, stalls = 0, reuses = 0;

    (void)state;
    if (isa_control_check(object, &err) != LW_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        assert_true(isa_insn_decode(object->text[i], &insn));
        assert_in_range(insn.control.stall, 1, 15);
        waits += insn.control.wait_mask != 0;
        stalls += insn.control.stall > 1;
        reuses += insn.control.reuse != 0;
    }
    if (waits < 4 || stalls < 5 || reuses < 1)
        fail_msg("%u waits, %u stalls, %u reuses", waits, stalls, reuses);
    isa_object_destroy(object);
}

static void each_wait_that_is_missing_is_found(void **state)
{
    struct isa_object *object = translate();
    struct lw_error err;
    unsigned tried = 0, lost = 0;

    (void)state;
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;
        struct isa_control control;

        assert_true(isa_insn_decode(object->text[i], &insn));
        for (unsigned b = 0; b < 6; b++) {
            if (!(insn.control.wait_mask >> b & 1))
                continue;
            control = insn.control;
            control.wait_mask &= (uint8_t)~(1u << b);
            change(object, i, &control);
            if (isa_control_check(object, &err) == LW_OK)
                fail_msg("instruction %u waits for barrier %u without need", i, b);
            change(object, i, &insn.control);
            tried++;
        }
        if (insn.control.write_bar != 7) {
            control = insn.control;
            control.write_bar = 7;
            change(object, i, &control);
            lost += isa_control_check(object, &err) == LW_EFORMAT;
            change(object, i, &insn.control);
        }
    }
    assert_true(tried >= 4 && lost >= 3); /* the program does not read some results, so not every lost wait is found */
    assert_int_equal(isa_control_check(object, &err), LW_OK);
    isa_object_destroy(object);
}

static void each_stall_that_is_too_short_is_found(void **state)
{
    struct isa_object *object = translate();
    struct lw_error err;
    unsigned found = 0, tried = 0;

    (void)state;
    for (uint32_t i = 0; i + 1 < object->text_count; i++) {
        struct isa_insn insn;
        struct isa_control control;

        assert_true(isa_insn_decode(object->text[i], &insn));
        if (insn.control.stall < 2)
            continue;
        control = insn.control;
        control.stall--;
        change(object, i, &control);
        tried++;
        found += isa_control_check(object, &err) == LW_EFORMAT;
        change(object, i, &insn.control);
    }
    /* the lint may miss a shortened stall at the end of a basic block, because the next block may not read the register */
    assert_true(tried >= 5 && found + 3 >= tried);
    isa_object_destroy(object);
}

static void findings_name_the_location_and_the_register(void **state)
{
    static const struct {
        const char *text, *finding;
    } cases[] = {
        { "v_add_u32 v1, v2, v3 {st=4}\nv_add_u32 v4, v1, v1 {st=4}\nexit\n", NULL },
        { "v_add_u32 v1, v2, v3 {st=3}\nv_add_u32 v4, v1, v1 {st=4}\nexit\n",
          "k+0x10: v_add_u32: the stall counts before this instruction are too short for v1" },
        { "ld.global.b32 v1, [v2:3] {st=2,wr=1}\nv_add_u32 v4, v1, v1 {st=4,wt=2}\nexit\n", NULL },
        { "ld.global.b32 v1, [v2:3] {st=2,wr=1}\nv_add_u32 v4, v1, v1 {st=4,wt=1}\nexit\n",
          "k+0x10: v_add_u32: this instruction does not wait for the result in v1" },
        { "ld.global.b32 v1, [v2:3] {st=2}\nv_add_u32 v4, v1, v1 {st=4,wt=1}\nexit\n",
          "k+0x10: v_add_u32: this instruction sets no dependence barrier for the result in v1" },
        { "ld.global.b32 v1, [v2:3] {st=1,wr=0}\nv_mov_b32 v4, v1 {st=4,wt=1}\nexit\n",
          "waits for a dependence barrier only one cycle after the barrier was set" },
        { "st.global.b32 [v2:3], v1 {st=1,rd=5}\nv_mov_b32 v3, 1 {st=4}\nexit\n",
          "k+0x10: v_mov_b32: this instruction overwrites a register that an earlier instruction may not have read yet, v3" },
        { "st.global.b32 [v2:3], v1 {st=2,rd=5}\nv_mov_b32 v3, 1 {st=4,wt=0x20}\nexit\n", NULL },
        /* dependences through the back edge of a loop */
        { "a:\nv_mov_b32 v4, v1 {st=4}\nld.global.b32 v1, [v2:3] {st=2,wr=0}\nbra a\n",
          "k+0x0: v_mov_b32: this instruction does not wait for the result in v1" },
        { "s_setp_u32.lt sp0, s1, 5 {st=2}\na:\n@sp0 s_bra a\nexit\n",
          "k+0x10: s_bra: the stall counts before this instruction are too short for sp0" },
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct isa_object *object;
        struct lw_buffer text;
        struct lw_error err;
        enum lw_status status;

        lw_buffer_init(&text);
        lw_printf(&text.sink, ".kernel k\n.parambytes 0\n.regs v=8 s=4 b=0\n%s.end\n", cases[i].text);
        if (isa_assemble("t.s", text.text, text.size, &object, &err) != LW_OK)
            fail_msg("%s", err.text);
        status = isa_control_check(object, &err);
        if (cases[i].finding == NULL && status != LW_OK)
            fail_msg("%s: %s", cases[i].text, err.text);
        if (cases[i].finding != NULL &&
            (status != LW_EFORMAT || strstr(err.text, cases[i].finding) == NULL))
            fail_msg("%s: %s", cases[i].text, status == LW_OK ? "nothing found" : err.text);
        isa_object_destroy(object);
        lw_buffer_fini(&text);
    }
}

/** Lint the instructions @insns in a kernel. Return the message of the lint, or "" if there is none. */
static const char *lint_of(const char *insns, struct lw_error *err)
{
    struct isa_object *object;
    struct lw_buffer text;

    lw_buffer_init(&text);
    lw_printf(&text.sink, ".kernel k\n.parambytes 0\n.regs v=48 s=4 b=0\n%sexit\n.end\n", insns);
    if (isa_assemble_as("t.s", text.text, text.size, ISA_ASM_KEEP, &object, err) != LW_OK)
        fail_msg("%s", err->text);
    lw_buffer_fini(&text);
    bool fine = isa_control_check(object, err) == LW_OK;
    isa_object_destroy(object);
    return fine ? "" : err->text;
}

/* Listing 2 of Huerta et al., MICRO 2025: with stall count S, the instruction that reads a sum issues S cycles after the
 * addition. nop replaces the listing's instruction that reads the clock. */
static void a_stall_count_below_the_latency_is_found(void **state)
{
    (void)state;
    for (unsigned stall = 1; stall <= 11; stall++) {
        char text[400];
        struct lw_error err;

        snprintf(text, sizeof text, "v_add_f32 v1, vz, 1.0 {st=1}\nv_add_f32 v2, vz, 1.0 {st=1}\nv_add_f32 v3, vz, 1.0 {st=2}\n"
                                    "nop {st=1}\nnop {st=1}\nv_add_f32 v1, v2, v3 {st=%u}\nv_fma_f32 v5, v1, v1, v1 {st=4}\n",
                 stall);
        if (stall < 4)
            assert_non_null(strstr(lint_of(text, &err), "v_fma_f32: the stall counts before this instruction are too short for v1"));
        else
            assert_string_equal(lint_of(text, &err), "");
    }
}

/* Listing 3 of the same paper: an instruction of variable latency reads a result one cycle later than others may. */
static void a_load_reads_a_fixed_result_a_cycle_later(void **state)
{
    static const struct {
        unsigned second, third;
        const char *finding;
    } cases[] = {{4, 5, ""}, {3, 5, "v_mov_b32: the stall counts before this instruction are too short for v43"},
                 {4, 4, "ld.global: the stall counts before this instruction are too short for v41"}};

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        char text[400];
        struct lw_error err;

        snprintf(text, sizeof text, "v_mov_b32 v40, v16 {st=1}\nv_mov_b32 v43, v17 {st=%u}\nv_mov_b32 v41, v43 {st=%u}\n"
                                    "ld.global.b32 v36, [v40:41] {wr=0,st=2}\n", cases[i].second, cases[i].third);
        const char *said = lint_of(text, &err);
        if (cases[i].finding[0] == '\0' ? said[0] != '\0' : strstr(said, cases[i].finding) == NULL)
            fail_msg("%s: %s", text, said);
    }
}

static void half_precision_takes_a_cycle_more(void **state)
{
    struct lw_error err;

    (void)state;
    assert_string_equal(lint_of("v_add_f16x2 v1, v2, v3 {st=5}\nv_mov_b32 v4, v1 {st=4}\n", &err), "");
    assert_non_null(strstr(lint_of("v_add_f16x2 v1, v2, v3 {st=4}\nv_mov_b32 v4, v1 {st=4}\n", &err), "too short for v1"));
    /* The later instruction must write its result later. Without a stall both would write in the same cycle. */
    assert_string_equal(lint_of("v_add_f16x2 v1, v2, v3 {st=2}\nv_mov_b32 v1, v4 {st=4}\n", &err), "");
    assert_non_null(strstr(lint_of("v_add_f16x2 v1, v2, v3 {st=1}\nv_mov_b32 v1, v4 {st=4}\n", &err),
                           "v_mov_b32: this instruction writes its result before an earlier instruction does, to v1"));
}

static struct isa_object *assemble(const char *text, enum isa_asm_control control)
{
    struct isa_object *object;
    struct lw_error err;

    if (isa_assemble_as("t.s", text, strlen(text), control, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    return object;
}

/* A loop with a load and with a store, after which the store's source register is overwritten. */
static const char bare[] = ".kernel k\n.param ptr.global out\n    v_mov_b64 v4:5, c[out]\n"
                           "again:\n    ld.global.b32 v2, [v4:5]\n    v_add_u32 v2, v2, 1\n"
                           "    st.global.b32 [v4:5], v2\n    v_mov_b32 v2, 7\n    v_rcp_f32 v3, v2\n"
                           "    v_mul_f32 v3, v3, v3\n    v_setp_f32.lt p0, v3, 1.0\n    @p0 bra again\n"
                           "    exit\n.end\n";

static void the_assembler_fills_in_functions_without_fields(void **state)
{
    struct isa_object *kept = assemble(bare, ISA_ASM_KEEP), *filled = assemble(bare, ISA_ASM_AUTO);
    unsigned findings = 0;
    struct lw_buffer lines;
    struct lw_error err;

    (void)state;
    lw_buffer_init(&lines);
    assert_int_equal(isa_control_count(kept, &findings, &lines.sink, &err), LW_EFORMAT);
    assert_string_equal(err.text, "t.s:5: k+0x10: ld.global: the stall counts before this instruction are too short for v4");
    assert_int_equal(findings, 8); /* one line for each instruction except the first, which reads no register, and exit */
    for (const char *at = lines.text; (at = strchr(at, '\n')) != NULL; at++)
        findings--;
    assert_int_equal(findings, 0);
    lw_buffer_fini(&lines);
    if (isa_control_check(filled, &err) != LW_OK)
        fail_msg("%s", err.text);
    isa_object_destroy(kept);
    isa_object_destroy(filled);
}

/* If one instruction of a function has a control field, even an empty one, the assembler adds none to the function. The
 * assembler fills in the fields of all other functions. */
static void fields_in_the_text_remain(void **state)
{
    static const char text[] = ".kernel a\n    v_add_u32 v1, v1, v1 {}\n    v_add_u32 v1, v1, v1\n    exit\n.end\n"
                               ".kernel b\n    v_add_u32 v1, v1, v1\n    v_add_u32 v1, v1, v1\n    exit\n.end\n";
    static const unsigned stalls[] = {0, 0, 0, 4, 1, 3};
    struct isa_object *object = assemble(text, ISA_ASM_AUTO);

    (void)state;
    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        assert_true(isa_insn_decode(object->text[i], &insn));
        assert_int_equal(insn.control.stall, stalls[i]);
    }
    isa_object_destroy(object);
}

static void the_filler_gives_what_the_lint_wants(void **state)
{
    static const struct {
        const char *text;
        unsigned stall[4];
    } cases[] = {
        {"v_mov_b32 v40, v16\nv_mov_b32 v43, v17\nv_mov_b32 v41, v43\nld.global.b32 v36, [v40:41]\n", {1, 4, 5}},
        {"v_add_f16x2 v1, v2, v3\nv_mov_b32 v4, v1\nst.shared.b32 [v5], v4\n", {5, 5}},
        {"v_add_f16x2 v1, v2, v3\nv_mov_b32 v1, v4\nnop\n", {2, 1}},
        /* at the start of another basic block an instruction of variable latency reads its registers a cycle later, too */
        {"v_mov_b32 v1, v2\na:\nst.shared.b32 [v5], v1\ns_bra a\n", {5}},
        {"v_mov_b32 v1, v2\na:\nv_mov_b32 v3, v1\ns_bra a\n", {4}},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(cases); i++) {
        struct lw_buffer text;
        struct lw_error err;

        lw_buffer_init(&text);
        lw_printf(&text.sink, ".kernel k\n%sexit\n.end\n", cases[i].text);
        struct isa_object *object = assemble(text.text, ISA_ASM_AUTO);
        lw_buffer_fini(&text);
        for (uint32_t k = 0; k < 4 && cases[i].stall[k] != 0; k++) {
            struct isa_insn insn;

            assert_true(isa_insn_decode(object->text[k], &insn));
            if (insn.control.stall != cases[i].stall[k])
                fail_msg("case %zu, instruction %u: a stall of %u, expected %u", i, k, insn.control.stall, cases[i].stall[k]);
        }
        if (isa_control_check(object, &err) != LW_OK)
            fail_msg("%s", err.text);
        isa_object_destroy(object);
    }
}

/* Assembling the disassembly gives the same control fields, whether the assembler filled them in or not. */
static void text_of_an_object_gives_the_same_fields(void **state)
{
    (void)state;
    for (unsigned control = 0; control < 2; control++) {
        struct isa_object *object = assemble(bare, (enum isa_asm_control)control), *again;
        struct lw_buffer text;

        lw_buffer_init(&text);
        isa_disassemble(object, &text.sink);
        for (unsigned then = 0; then < 2; then++) {
            again = assemble(text.text, (enum isa_asm_control)then);
            assert_int_equal(again->text_count, object->text_count);
            assert_memory_equal(again->text, object->text, object->text_count * sizeof *object->text);
            isa_object_destroy(again);
        }
        lw_buffer_fini(&text);
        isa_object_destroy(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_translator_fills_in_passes),
        cmocka_unit_test(each_wait_that_is_missing_is_found),
        cmocka_unit_test(each_stall_that_is_too_short_is_found),
        cmocka_unit_test(a_stall_count_below_the_latency_is_found),
        cmocka_unit_test(a_load_reads_a_fixed_result_a_cycle_later),
        cmocka_unit_test(half_precision_takes_a_cycle_more),
        cmocka_unit_test(the_filler_gives_what_the_lint_wants),
        cmocka_unit_test(findings_name_the_location_and_the_register),
        cmocka_unit_test(the_assembler_fills_in_functions_without_fields),
        cmocka_unit_test(fields_in_the_text_remain),
        cmocka_unit_test(text_of_an_object_gives_the_same_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
