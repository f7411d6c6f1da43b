/* SPDX-License-Identifier: Apache-2.0 */
/* Tests PTX instruction tex: supported forms return the right texels, and other forms are refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/emu.h"
#include "tests/ptx/ptx_refusal.h"

#define HEAD ".version 6.3\n.target sm_60\n.address_size 64\n"
#define KERNEL(body)                                                                          \
    HEAD ".global .texref line;\n.global .samplerref how;\n.global .surfref face;\n"           \
         ".global .align 8 .b8 plain[32];\n"                                                  \
         ".entry k(.param .u64 out, .param .u64 object) {\n"                                  \
         ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<8>; .reg .f16 %h<8>;\n" \
         "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; mul.wide.u32 %d1, %r0, 16;\n"         \
         "add.s64 %d0, %d0, %d1; ld.param.u64 %d2, [object];\n" body "\nret; }\n"

static void refusals_name_the_kind(void **state)
{
    static const struct refusal cases[] = {
#define T(body, why) {KERNEL(body), why}
        T("tex.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f4,%f5,%f6}];", ".3d texture fetch needs 4 coordinates in braces"),
        T("tex.a1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f1,%f5}];", "%f1"),
        T("tex.a2dms.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1,%r2,%r3,%r4}];", "multisample textures ('.a2dms') are not"),
        T("tex.level.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f4,%f5}];", "expected 4 operands"),
        T("tex.grad.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f4}], {%f5};", "expected 5 operands"),
        T("tex.level.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f4,%f5}], %f6, %f7;", "offsets and depths"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, how, {%r1}];",
          "separate samplers (texmode_independent) are not supported"),
        T("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f4,%f5}], {%r1, %r2};",
          "offsets and depths of texture fetches are not supported"),
        T("tex.1d.v2.f16x2.s32 {%r4,%r5}, [line, {%r1}];", "texture fetches need .v4"),
        T("tex.1d.v4.f16x2.s32 {%r4,%r5,%r6,%r7}, [line, {%r1}];", "not .f16x2"),
        T("tex.1d.v4.f32.u32 {%f0,%f1,%f2,%f3}, [line, {%r1}];", "coordinates must be .f32 or .s32"),
        T("tex.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1}];", "expected .1d, .2d, .3d"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1,%r2}];", ".1d texture fetch needs 1 coordinate in braces"),
        T("tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1}];", ".2d texture fetch needs 2 coordinates in braces"),
        T("tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, %r1];", ".2d texture fetch needs 2 coordinates in braces"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2}, [line, {%r1}];", "a texture fetch needs four destinations"),
        T("tex.1d.v4.f32.s32 %f0, [line, {%r1}];", "a texture fetch needs four destinations"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [plain, {%r1}];", "expected a .texref variable"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [how, {%r1}];", "expected a .texref variable"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [face, {%r1}];", "expected a .texref variable"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [7, {%r1}];", "expected a .texref variable"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%r2, {%r1}];", "%r2"),
        T("tex.1d.v4.f32.s32 {%r3,%f1,%f2,%h3}, [line, {%r1}];", "%h3"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%f1}];", "%f1"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line];", "expected 3 operands"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3};", "expected"),
        T("tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [line, {%r1}", "expected ']' after the coordinates"),
        T("tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [line, {%f4,%f5}];", "'tld4' is not supported"),
#undef T
    };

    (void)state;
    must_refuse(cases, LW_COUNT_OF(cases), "t.ptx:1");
}

/* Runs a kernel with 8 threads. Texture `line` and the texture object are bound to 5 u32 texels of 4 components; component c of
 * texel k is 100 k + c. If @flat is set, they are bound to 5 x 2 texels of one component. */
static void run(const char *text, bool flat, uint32_t words[8][4])
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_error err;
    uint64_t params[2], texels;
    uint32_t word[20];

    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 20;
    config.warp_width = 8;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    ok(emu_alloc(machine, 8 * 16, "out", 0, &params[0], &err), &err);
    ok(emu_alloc(machine, sizeof word, "texels", 0, &texels, &err), &err);
    ok(emu_alloc(machine, EMU_TEXTURE_BYTES, "object", EMU_ALLOC_READ_ONLY, &params[1], &err), &err);
    for (unsigned i = 0; i < 20; i++)
        word[i] = i / 4 * 100 + i % 4;
    ok(emu_global_write(machine, texels, word, sizeof word, &err), &err);
    struct emu_texture t = {.address = texels, .width = 5, .height = flat ? 0 : 2,
                            .pitch_bytes = flat ? 0 : 40, .bits = 32,
                            .components = flat ? 4 : 1, .kind = EMU_TEXEL_UNSIGNED,
                            .edge = {EMU_TEXTURE_CLAMP, EMU_TEXTURE_BORDER}};
    uint64_t size, line = emu_program_variable(program, "line", &size);
    assert_int_equal(size, EMU_TEXTURE_BYTES);
    ok(emu_texture_bind(machine, line, &t, &err), &err);
    ok(emu_texture_bind(machine, params[1], &t, &err), &err);
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {1, 1, 1}, .block = {8, 1, 1}, .work_dim = 1,
                                .params = params};
    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, &stop, &err), &err);
    if (stop.kind != EMU_STOP_IDLE)
        fail_msg("stop %d: %s", stop.kind, stop.fault.detail);
    ok(emu_global_read(machine, params[0], words, 8 * 16, &err), &err);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static uint32_t texel(int k, unsigned c)
{
    return k >= 0 && k < 5 ? (uint32_t)k * 100 + c : 0;
}

static void a_fetch_gives_four_components(void **state)
{
    static const char *const forms[] = {
        KERNEL("tex.1d.v4.u32.s32 {%r4,%r5,%r6,%r7}, [line, {%r0}];"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};"),
        KERNEL("tex.1d.v4.s32.s32 {%r4,%r5,%r6,%r7}, [%d2, %r0];"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};"),
        KERNEL("mov.u64 %d3, line; tex.1d.v4.u32.s32 {%r4,%r5,%r6,%r0}, [%d3, {%r0}];"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r0};"),
        /* Fetches with unused results, with a guard, and with a generic pointer to the handle. */
        KERNEL("mov.u32 %r4, 7; tex.1d.v4.u32.s32 {_,%r5,_,%r7}, [line, {%r0}];"
               "tex.1d.v4.u32.s32 {%r4,_,%r6,_}, [line, {%r0}]; setp.eq.u32 %p0, %r0, %r0;"
               "@!%p0 tex.1d.v4.u32.s32 {%r4,%r5,%r6,%r7}, [line, {1}];"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};"),
        KERNEL("cvt.rn.f32.u32 %f1, %r0; add.f32 %f1, %f1, 0f3F000000;"
               "setp.gt.u32 %p0, %r0, 4; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0;"
               "@%p0 bra over; tex.1d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [line, {%f1}];\nover:\n"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};"),
    };
    uint32_t words[8][4];

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        run(forms[i], true, words);
        for (int t = 0; t < 8; t++)
            for (unsigned c = 0; c < 4; c++)
                if (words[t][c] != texel(t, c))
                    fail_msg("form %zu, thread %d: component %u is %u", i, t, c, words[t][c]);
    }
}

/* A row of the texture has 10 words of memory: texel (k, 0) is word k, and texel (k, 1) is word 10 + k. */
static void two_coordinates_find_row_and_column(void **state)
{
    static const char *const forms[] = {
        KERNEL("shr.u32 %r1, %r0, 2; and.b32 %r2, %r0, 3;"
               "tex.2d.v4.u32.s32 {%r4,%r5,%r6,%r7}, [line, {%r2,%r1}];"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};"),
        KERNEL("shr.u32 %r1, %r0, 2; and.b32 %r2, %r0, 3; cvt.rn.f32.u32 %f1, %r1;"
               "cvt.rn.f32.u32 %f2, %r2; add.f32 %f2, %f2, 0f3F400000;"
               "tex.2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%d2, {%f2,%f1}];"
               "st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};"),
    };
    uint32_t words[8][4];

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        run(forms[i], false, words);
        for (unsigned t = 0; t < 8; t++) {
            unsigned at = t / 4 * 10 + t % 4;

            assert_int_equal(words[t][0], at / 4 * 100 + at % 4);
            assert_int_equal(words[t][1] | words[t][2] | words[t][3], 0);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_the_kind),
        cmocka_unit_test(a_fetch_gives_four_components),
        cmocka_unit_test(two_coordinates_find_row_and_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
