/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the assembler and the disassembler with instruction words that were encoded by hand, directives, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/isa/prop_isa_object.h"

static struct isa_object *assemble(const char *text)
{
    struct isa_object *object = NULL;
    struct lw_error err;

    if (isa_assemble("t.s", text, strlen(text), &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    return object;
}

/* ---- words ------------------------------------------------------------------- */

static void assert_word(const char *text, uint64_t hi, uint64_t lo)
{
    struct isa_object *object = assemble(text);

    assert_int_equal(object->text_count, 1);
    if (object->text[0].hi != hi || object->text[0].lo != lo)
        fail_msg("%s: %016llx %016llx, expected %016llx %016llx", text,
                 (unsigned long long)object->text[0].hi, (unsigned long long)object->text[0].lo,
                 (unsigned long long)hi, (unsigned long long)lo);
    isa_object_destroy(object);
}

/* The words were encoded by hand from the layout of instruction words. Bits: opcode 5:0 and 11:8, guard 14:12 (7: pt), D 23:16,
 * kind of X 29:28, variant 30, X 63:32, C 71:64, A 79:72, modifiers from bit 80 on. */
static void words_have_the_layout_of_the_machine(void **state)
{
    (void)state;
    assert_word("v_add_u32 v1, v2, v3", 0x0200, 0x0000000300017002);
    assert_word("v_add_u32 v1, v2, s3", 0x0200, 0x0000000310017002);
    assert_word("v_add_u32 v1, v2, c[3][0x1c]", 0x0200, 0x0003001c20017002);
    assert_word("v_add_u32 v1, v2, -1", 0x0200, 0xffffffff30017002);
    assert_word("v_add_u32 v1, s2, v3", 0x0200, 0x0000000302017002); /* bit 25: A is scalar */
    assert_word("v_add_u32 v1, -v2, ~v3", 0x090200, 0x0000000300017002);
    assert_word("@p2 v_add_u32 v1, v2, v3", 0x0200, 0x0000000300012002);
    assert_word("@!p2 v_add_u32 v1, v2, v3", 0x0200, 0x000000030001a002);
    assert_word("@sp2 v_add_u32 v1, v2, v3", 0x0200, 0x0000000301012002);
    assert_word("v_add_f32 v1, v2, 1.0", 0x0200, 0x3f80000030017201);
    assert_word("v_add_f32 v1, v2, 0f7fc00000", 0x0200, 0x7fc0000030017201);
    assert_word("v_add_f64 v2:3, v4:5, -2.0", 0x0400, 0xc000000030027301);
    assert_word("v_mad_u32 v1, v2, v3, v4", 0x0204, 0x0000000300017007);
    assert_word("v_mad_u32 v1, v2, v3, 9", 0x0203, 0x0000000970017007); /* variant: X is the third source */
    assert_word("v_mad_u32 v1, v2, 9, v4", 0x0204, 0x0000000930017007);
    assert_word("v_mad_u32 v1, v2, v3, s4", 0x0203, 0x0000000450017007);
    assert_word("v_mad_u32 v1, v2, s3, s4", 0x0204, 0x0000000314017007); /* bit 26: C is scalar */
    assert_word("v_mad_u32.alt v1, v2, v3, v4", 0x0203, 0x0000000440017007);
    /* bits: P 88:86, Q 91:89, R 94:92 and 95 (7: none, or true), comparison 99:96, combination 101:100 */
    assert_word("v_setp_u32.lt p1, v2, v3", 0x00027e400200, 0x0000000300007401);
    assert_word("v_setp_u32.gt.xor p1, p0, v2, v3, !p4", 0x0034c0400200, 0x0000000300007401);
    /* bits: offset 63:40, addressing mode 81:80, size 85:82 */
    assert_word("ld.global.b32 v1, [v2:3+16]", 0x100200, 0x0000100000017601);
    assert_word("ld.global.b32 v1, [v2-1]", 0x110200, 0xffffff0000017601);
    assert_word("ld.global.b32 v1, [s4:5+v2]", 0x120204, 0x0000000044017601);
    assert_word("ld.global.b32 v1, [s4:5+v2.s+8]", 0x130204, 0x0000080044017601);
    assert_word("st.shared.b64 [16], v8:9", 0x15ff00, 0x0000100800007607);
    assert_word("ld.const.b32 v1, c[2][v3+4]", 0x100302, 0x0000040000017605);
    assert_word("atom.global.cas.b32 v1, [v2:3], v4, v5", /* bits: operation 100:97, type 104:101 */
                UINT64_C(4) << 37 | UINT64_C(9) << 33 | 0x205, 0x0000000400017701);
    assert_word("shfl.up v1, p2, v3, 4, 0/31, v6", 0x00800300, 0x0607c00430017802);
    assert_word("bra 0x100000000", 0, 0xffffffff00007901);
    assert_word("@p0 bra 0x100000020, b3", 0, 0x0000000140030901);
    assert_word("bsync.soft b5", 0, 0x0000000040057908);
    assert_word("call v4:5, 0x100000010, b3", 3, 0x0000000040047903);
    /* bits: C is scalar 26, texel offsets 51:40, P 88:86, geometry 99:96, types 101:100 and 102, level of detail 104:103,
     * sampler 106 */
    assert_word("tex.2d.s32.f32.grad.samp v4:7, p2, v8:9, s12:15, v20:23, (1,-8)",
                UINT64_C(1) << 36 | UINT64_C(2) << 39 | UINT64_C(1) << 42 | 0x80080c, 0x0000811404047b01);
    /* bits: shape and types 103:96, register of the member mask 63:56 */
    assert_word("mma.m16n8k16.f32.f16.f16.f32 v4:7, v8:11, v12:13, v16:19, v3", 0x300000810,
                0x0300000c00047b03);
    assert_word("ldmatrix.x4.trans v4:7, [v3+16]", 0x600010300, 0x0000100000047b04);
    assert_word("launch.kernel v1, v2:3, v4:5, s6:7", 0x0206, 0x0000000404017c03);
    assert_word("exit {st=5,y,wr=2,rd=0,wt=0x21,ru=4}",
                UINT64_C(5) << 44 | UINT64_C(1) << 48 | UINT64_C(5) << 49 | UINT64_C(7) << 52 |
                    UINT64_C(0x21) << 55 | UINT64_C(4) << 61,
                0x0000000000007906);
}

/* ---- text ----------------------------------------------------------------------- */

static void assert_prints(const char *text, const char *expected)
{
    struct isa_object *object = assemble(text);
    struct lw_buffer out;
    struct isa_insn insn;

    assert_true(isa_insn_decode(object->text[0], &insn));
    lw_buffer_init(&out);
    isa_insn_print(&insn, ISA_CODE_BASE, NULL, NULL, &out.sink);
    assert_string_equal(out.text, expected);
    lw_buffer_fini(&out);
    isa_object_destroy(object);
}

static void instructions_print_in_one_form(void **state)
{
    (void)state;
    assert_prints("@pt  v_add_u32\tv1,v2 , 0x10", "v_add_u32 v1, v2, 16");
    assert_prints("v_add_u64 v2:v3, v4:5, 0x12345678", "v_add_u64 v2:3, v4:5, 0x12345678");
    assert_prints("waitcnt lgkmcnt(0)  vmcnt( 0x2 )", "waitcnt vmcnt(2) lgkmcnt(0)");
    assert_prints("@p0 waitcnt expcnt(6)", "@p0 waitcnt expcnt(6)");
    assert_prints("waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)", "waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)");
    assert_prints("waitcnt lgkmcnt(63)", "waitcnt vmcnt(63)"); /* a wait with no limit on either counter */
    assert_prints("v_mov_b32 v1, 1.5f", "v_mov_b32 v1, 0x3fc00000");
    assert_prints("v_mul_f32.rn v1, v2, 0x3f800000", "v_mul_f32 v1, v2, 1.0f");
    assert_prints("v_mul_f32 v1, v2, 0.1", "v_mul_f32 v1, v2, 0.1f");
    assert_prints("v_mul_f32 v1, v2, 3", "v_mul_f32 v1, v2, 3.0f");
    assert_prints("v_mul_f64 v2:3, v4:5, 0.5", "v_mul_f64 v2:3, v4:5, 0.5");
    assert_prints("v_mul_f64 v2:3, v4:5, 0d7ff0000000000000",
                  "v_mul_f64 v2:3, v4:5, 0d7ff0000000000000");
    assert_prints("v_abs_f64 v2:3, -2.0", "v_abs_f64 v2:3, -2.0");
    assert_prints("v_cvt.s32.f32.rzi v1, 2.5f", "v_cvt.s32.f32.rzi v1, 2.5f");
    assert_prints("v_setp_f32.ge p0, _, v1, v2, pt", "v_setp_f32.ge p0, v1, v2");
    assert_prints("v_plop3 p0, _, p1, p2, 0x88", "v_plop3 p0, _, p1, p2, 0x88");
    assert_prints("shfl.idx v1, _, v2, v3, 31, _", "shfl.idx v1, v2, v3, 31");
    assert_prints("vote.any p1, !p2", "vote.any p1, !p2");
    assert_prints("ld.generic.v2.b64.acquire.gpu v4:7, [ v2:3 + 8 + 8 ]",
                  "ld.generic.v2.b64.acquire v4:7, [v2:3+16]");
    assert_prints("s_mov_b64 exec, sz", "s_mov_b64 exec, sz");
    assert_prints("s_mov_b32 exec_lo, s125", "s_mov_b32 exec_lo, s125");
    assert_prints("v_s2r v1, %lanemask_lt", "v_s2r v1, %lanemask_lt");
    assert_prints("atom.shared.add.u32 _, [v1], v2", "atom.shared.add.u32 vz, [v1], v2");
    assert_prints("bar.sync 0", "bar.sync 0");
    assert_prints("tex.3d.f32.s32.level v4:7, _, v8:11, s4:5, v12, (0)",
                  "tex.3d.f32.s32.level v4:7, v8:11, s4:5, v12");
    assert_prints("tex.samp.level.dc.cube.f32.f32 v4:7, v8:11, v12:15, v16:17, (1,-2,7)",
                  "tex.cube.f32.f32.level.dc.samp v4:7, v8:11, v12:15, v16:17, (1,-2,7)");
    assert_prints("tld4.2d.f32.a v4:7, v8:9, v12:13", "tld4.2d.f32.a v4:7, v8:9, v12:13");
    assert_prints("mma.m16n8k32.s32.s8.s8.s32.satfinite v4:7, v8:11, v12:13, vz, _",
                  "mma.m16n8k32.s32.s8.s8.s32.satfinite v4:7, v8:11, v12:13, vz");
    assert_prints("exit { st=3, wr=7 }", "exit {st=3}");
}

/* ---- labels and targets ---------------------------------------------------------------- */

static int32_t delta_of(const struct isa_object *object, uint32_t index)
{
    struct isa_insn insn;

    assert_true(isa_insn_decode(object->text[index], &insn));
    return (int32_t)insn.x;
}

static void labels_are_local_to_their_function(void **state)
{
    struct isa_object *object = assemble(".func f\n"
                                         "again: nop\n"
                                         " bra again\n"
                                         " bra done\n"
                                         " call v2:3, g\n"
                                         " bra again+16\n"
                                         "done: ret v2:3\n"
                                         ".end\n"
                                         ".func g\n"
                                         "again: bra again\n"
                                         " ret v2:3\n"
                                         ".end\n");

    (void)state;
    assert_int_equal(delta_of(object, 1), -2);
    assert_int_equal(delta_of(object, 2), 2);
    assert_int_equal(delta_of(object, 3), 2);
    assert_int_equal(delta_of(object, 4), -4);
    assert_int_equal(delta_of(object, 6), -1);
    isa_object_destroy(object);
}

/* ---- directives --------------------------------------------------------------------------- */

static void parameters_get_natural_offsets_and_names(void **state)
{
    struct isa_object *object = assemble(".kernel k\n"
                                         ".param u8 a\n"
                                         ".param ptr.global x\n"
                                         ".param u32 n\n"
                                         ".param bytes 12 s align=4\n"
                                         " v_mov_b32 v0, c[n]\n"
                                         " v_mov_b64 v2:3, c[x]\n"
                                         " v_mov_b32 v0, c[x+4]\n"
                                         " ld.const.b32 v0, c[s+v1+4]\n"
                                         " exit\n"
                                         ".end\n");
    const struct isa_function *k = &object->functions[0];
    struct isa_insn insn;

    (void)state;
    assert_int_equal(k->param_count, 4);
    assert_int_equal(k->params[0].offset, 0);
    assert_int_equal(k->params[1].offset, 8);
    assert_int_equal(k->params[1].kind, ISA_PARAM_POINTER);
    assert_int_equal(k->params[1].space, ISA_SPACE_GLOBAL);
    assert_int_equal(k->params[2].offset, 16);
    assert_int_equal(k->params[3].offset, 20);
    assert_int_equal(k->param_bytes, 32);
    assert_int_equal(object->text[0].lo >> 32, 16);
    assert_int_equal(object->text[1].lo >> 32, 8);
    assert_int_equal(object->text[2].lo >> 32, 12);
    assert_true(isa_insn_decode(object->text[3], &insn));
    assert_int_equal(isa_x_disp(insn.x), 24);
    assert_int_equal(insn.a, 1);
    isa_object_destroy(object);
}

static void register_counts_cover_the_call_tree(void **state)
{
    /* k calls f. f and g call each other. h is reached only through a pointer */
    struct isa_object *object = assemble(".kernel k\n"
                                         " call v8:9, f\n"
                                         " exit\n"
                                         ".end\n"
                                         ".func f\n"
                                         " v_mov_b32 v20, s7\n"
                                         " call v8:9, g\n"
                                         " ret v8:9\n"
                                         ".end\n"
                                         ".func g\n"
                                         " bssy b5, l\n"
                                         "l: call v8:9, f\n"
                                         " ret v8:9\n"
                                         ".end\n"
                                         ".func h\n"
                                         " v_mov_b64 v100:101, v2:3\n"
                                         " ret v8:9\n"
                                         ".end\n"
                                         ".kernel indirect\n"
                                         " callx v8:9, v2:3\n"
                                         " exit\n"
                                         ".end\n"
                                         ".kernel given\n"
                                         ".regs v=7\n"
                                         " v_mov_b32 v90, 1\n"
                                         " exit\n"
                                         ".end\n");

    (void)state;
    assert_int_equal(object->functions[0].vreg_count, 21);
    assert_int_equal(object->functions[0].sreg_count, 8);
    assert_int_equal(object->functions[0].breg_count, 6);
    assert_int_equal(object->functions[4].vreg_count, 102);
    assert_int_equal(object->functions[5].vreg_count, 7);
    isa_object_destroy(object);
}

static void shared_variables_are_placed_and_are_constants(void **state)
{
    struct isa_object *object = assemble(".shared common 6 2\n"
                                         ".kernel k\n"
                                         ".shared tile 64 16\n"
                                         ".shared flag 1 1\n"
                                         " v_mov_b32 v0, tile+4\n"
                                         " ld.shared.u8 v1, [flag]\n"
                                         " v_mov_b32 v2, lo(tile)\n"
                                         " v_mov_b32 v3, hi(tile)\n"
                                         " exit\n"
                                         ".end\n"
                                         ".kernel k2\n"
                                         " exit\n"
                                         ".end\n");
    struct isa_insn insn;

    (void)state;
    assert_int_equal(object->variables[0].shared_offset, 0);
    assert_int_equal(object->variables[1].shared_offset, 16);
    assert_int_equal(object->variables[2].shared_offset, 80);
    assert_int_equal(object->functions[0].shared_bytes, 81);
    assert_int_equal(object->functions[1].shared_bytes, 6);
    assert_int_equal(object->text[0].lo >> 32, 20);
    assert_true(isa_insn_decode(object->text[1], &insn));
    assert_int_equal(isa_x_disp(insn.x), 80);
    assert_int_equal(object->text[2].lo >> 32, (uint32_t)(ISA_SHARED_BASE + 16));
    assert_int_equal(object->text[3].lo >> 32, ISA_SHARED_BASE >> 32);
    assert_int_equal(object->reloc_count, 0);
    isa_object_destroy(object);
}

static void variables_have_typed_initial_values_and_addresses(void **state)
{
    static const uint8_t expected[] = { 1, 0, 0, 0, 0xff, 0xff, 'h', 'i', 0, 0, 0xc0, 0x3f };
    struct isa_object *object = assemble(
        ".global a 16 = u32 1, s16 -1, str \"hi\", f32 1.5\n"
        ".const p 24 8 = u64 7\n"
        ".init addr a+4\n"
        ".init addr k\n"
        ".global m 8 managed = u32 3\n"
        ".kernel k\n"
        " v_mov_b32 v0, lo(a+8)\n"
        " v_mov_b32 v1, hi(a+8)\n"
        " exit\n"
        ".end\n");

    (void)state;
    assert_memory_equal(object->variables[0].init, expected, sizeof expected);
    assert_int_equal(object->variables[0].init[15], 0);
    assert_int_equal(object->variables[1].space, ISA_SPACE_CONST);
    assert_false(object->variables[0].managed);
    assert_true(object->variables[2].managed);
    assert_int_equal(object->variables[2].init[0], 3);
    assert_int_equal(object->reloc_count, 4);
    assert_int_equal(object->relocs[0].insn, 0);
    assert_false(object->relocs[0].high);
    assert_int_equal(object->relocs[0].addend, 8);
    assert_true(object->relocs[1].high);
    assert_int_equal(object->relocs[2].insn, UINT32_MAX);
    assert_int_equal(object->relocs[2].in, 1);
    assert_int_equal(object->relocs[2].offset, 8);
    assert_int_equal(object->relocs[2].addend, 4);
    assert_false(object->relocs[2].to_function);
    assert_true(object->relocs[3].to_function);
    assert_int_equal(object->relocs[3].offset, 16);
    isa_object_destroy(object);
}

static void line_rows_point_at_the_source_itself_without_loc(void **state)
{
    struct isa_object *object = assemble("# comment\n"
                                         ".kernel k # here\n"
                                         "\n"
                                         " nop // there\n"
                                         "l:\n"
                                         " exit\n"
                                         ".end\n");
    const struct isa_line *row = isa_object_line_at(object, 1);

    (void)state;
    assert_int_equal(object->file_count, 2);
    assert_string_equal(object->files[1], "t.s");
    assert_int_equal(object->functions[0].line, 2);
    assert_int_equal(object->lines[0].line, 4);
    assert_int_equal(row->line, 6);
    assert_int_equal(isa_object_function_at(object, 1)->first, 0);
    assert_null(isa_object_function_at(object, 2));
    isa_object_destroy(object);
}

static void line_rows_follow_loc_where_there_is_one(void **state)
{
    struct isa_object *object = assemble(".file 1 \"k.cl\"\n"
                                         ".kernel k\n"
                                         " nop\n"
                                         ".loc 1 40 7 prologue_end\n"
                                         " nop\n"
                                         " nop\n"
                                         ".loc 1 41 nostmt\n"
                                         " exit\n"
                                         ".end\n");

    (void)state;
    assert_int_equal(object->line_count, 2);
    assert_null(isa_object_line_at(object, 0));
    assert_int_equal(isa_object_line_at(object, 2)->line, 40);
    assert_int_equal(isa_object_line_at(object, 2)->column, 7);
    assert_true(isa_object_line_at(object, 2)->prologue_end);
    assert_false(isa_object_line_at(object, 3)->is_stmt);
    assert_string_equal(object->files[1], "k.cl");
    isa_object_destroy(object);
}

static void a_function_has_no_line_of_the_one_before_it(void **state)
{
    struct isa_object *object = assemble(".file 1 \"k.cl\"\n"
                                         ".kernel f\n"
                                         ".loc 1 40\n"
                                         " nop\n"
                                         " exit\n"
                                         ".end\n"
                                         ".kernel g\n"
                                         " nop\n"
                                         ".loc 1 50\n"
                                         " exit\n"
                                         ".end\n"
                                         ".kernel k\n"
                                         " exit\n"
                                         ".end\n");

    (void)state;
    assert_int_equal(isa_object_line_at(object, 1)->line, 40);
    assert_null(isa_object_line_at(object, 2));
    assert_int_equal(isa_object_line_at(object, 3)->line, 50);
    assert_null(isa_object_line_at(object, 4));
    isa_object_destroy(object);
}

static void kernels_carry_their_launch_properties(void **state)
{
    struct isa_object *object = assemble(".kernel k\n"
                                         ".shared 100\n"
                                         ".local 64\n"
                                         ".maxthreads 256\n"
                                         ".reqblock 16, 8\n"
                                         ".needswarp 32\n"
                                         ".dynshared\n"
                                         " exit\n"
                                         ".end\n");
    const struct isa_function *k = &object->functions[0];

    (void)state;
    assert_true(k->kernel);
    assert_int_equal(k->shared_bytes, 100);
    assert_int_equal(k->local_bytes, 64);
    assert_int_equal(k->max_threads, 256);
    assert_int_equal(k->required_block[0], 16);
    assert_int_equal(k->required_block[1], 8);
    assert_int_equal(k->required_block[2], 1);
    assert_int_equal(k->needs_warp, 32);
    assert_true(k->dynamic_shared);
    isa_object_destroy(object);
}

static void the_constant_bank_holds_wide_values(void **state)
{
    struct isa_object *object = assemble(".bank f64 0.5\n.bank u64 0x123456789abcdef0\n"
                                         " v_mov_b64 v2:3, c[1][8]\n");

    (void)state;
    assert_int_equal(object->const_bank_bytes, 16);
    assert_int_equal(lw_get64(object->const_bank), UINT64_C(0x3fe0000000000000));
    assert_int_equal(lw_get64(object->const_bank + 8), UINT64_C(0x123456789abcdef0));
    isa_object_destroy(object);
}

/* ---- errors -------------------------------------------------------------------------------- */

static void errors_name_location_thing_and_cure(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        { "\n\n v_add_u32 v1, v2", "t.s:3: v_add_u32: expected 3 operands, found 2" },
        { "exit v1", "t.s:1: exit: expected 0 operands, found 1" },
        { "bar.sync", "t.s:1: bar.sync: expected 1 to 2 operands, found 0" },
        { "waitcnt 3", "t.s:1: waitcnt: operand 1: expected vmcnt(N), expcnt(N) or lgkmcnt(N), found '3'" },
        { "waitcnt vmcnt(1) vmcnt(2)", "t.s:1: waitcnt: operand 1: vmcnt occurs twice" },
        { "waitcnt vmcnt(1", "t.s:1: waitcnt: operand 1: expected ')' after the count, found ''" },
        { "v_ad_u32 v1, v2, v3",
          "t.s:1: v_ad_u32: unknown instruction (did you mean v_add_u32?)" },
        { "ld.globl.b32 v1, [v2]",
          "t.s:1: ld.globl.b32: unknown instruction (did you mean ld.global?)" },
        { "frobnicate",
          "t.s:1: frobnicate: unknown instruction: docs/reference/isa.md lists the instructions" },
        { "ld.global v1, [v2]",
          "t.s:1: ld.global: the modifier for 'data that each lane loads or stores' is missing, such as .u8" },
        { "v_add_f32.b32 v1, v2, v3", "t.s:1: v_add_f32: the instruction has no modifier .b32" },
        { "v_add_f32.rz.rn v1, v2, v3", "t.s:1: v_add_f32: the instruction has no modifier .rn" },
        { "bra.cta 0x100000000", "t.s:1: bra: the instruction has no modifier .cta" },
        { "v_add_u64 v1, v2:3, v4:5",
          "t.s:1: v_add_u64: operand 1: expected 2 registers such as v2:3, found 1" },
        { "v_add_u32 v1:2, v2, v3",
          "t.s:1: v_add_u32: operand 1: expected one register such as v2, found 2" },
        { "v_add_u64 v1:2, v2:3, v4:5",
          "t.s:1: v_add_u64: operand 1: a tuple of 2 registers must start at a multiple of 2, such as v2:3, "
          "found v1:2" },
        { "ld.global.v4.b32 v6:9, [v2:3]",
          "t.s:1: ld.global: operand 1: a tuple of 4 registers must start at a multiple of 4, such as v4:7, "
          "found v6:9" },
        { "s_mov_b64 s3:4, 0",
          "t.s:1: s_mov_b64: operand 1: a tuple of 2 registers must start at a multiple of 2, such as s2:3, "
          "found s3:4" },
        { "v_add_u32 v255, v2, v3",
          "t.s:1: v_add_u32: operand 1: v255 does not exist: the last register is v254" },
        { "s_mov_b64 s125:126, 0",
          "t.s:1: s_mov_b64: operand 1: s126 does not exist: the last register is s125" },
        { "v_add_u32 s1, v2, v3",
          "t.s:1: v_add_u32: operand 1: expected a vector register, found a scalar one" },
        { "s_add_u32 s1, s2, v3",
          "t.s:1: s_add_u32: operand 3: expected a scalar register, found a vector one" },
        { "v_add_u32 v1, 5, v3", "t.s:1: v_add_u32: operand 2: expected a register, found '5'" },
        { "v_add_u32 v1, v2, 0x100000000",
          "t.s:1: v_add_u32: operand 3: the immediate does not fit into 32 bits" },
        { "v_mov_b64 v2:3, 0x80000000",
          "t.s:1: v_mov_b64: operand 2: a 64-bit immediate is sign-extended from 32 bits: load this value from the constant bank (.bank u64 ..., c[1][offset])" },
        { "v_add_f64 v2:3, v4:5, 0.1",
          "t.s:1: v_add_f64: operand 3: an f64 immediate holds only the high word: load this value from the constant bank (.bank f64 ..., c[1][offset])" },
        { "v_mov_b32 v1, 1.5",
          "t.s:1: v_mov_b32: operand 2: expected an integer: write 1.5f for the bits of an f32" },
        { "v_add_f16 v1, v2, 1.5f",
          "t.s:1: v_add_f16: operand 3: write a 16-bit float as its bits (0x3e00 is the f16 1.5)" },
        { "v_mov_b32 v1, -v2",
          "t.s:1: v_mov_b32: operand 2: this instruction has no source modifiers" },
        { "v_add_u32 v1, |v2|, v3",
          "t.s:1: v_add_u32: operand 2: integers cannot have the modifier |...| (absolute value)" },
        { "v_mad_u32 v1, v2, 3, c[0][0]",
          "t.s:1: v_mad_u32: only one operand can be a constant or an immediate: move one to a "
          "register first" },
        { "v_mov_b32 v1, c[0][0x10000]",
          "t.s:1: the constant offset 65536 is out of range: it must be from 0 to 65535" },
        { "v_mov_b32 v1, c[n]", "t.s:1: v_mov_b32: operand 2: there is no parameter n" },
        { "v_mov_b32 v1, width",
          "t.s:1: v_mov_b32: operand 2: width is neither a register nor a shared variable "
          "declared before" },
        { "ld.global.b32 v1, v2",
          "t.s:1: ld.global: operand 2: expected an address in brackets, found 'v2'" },
        { "ld.global.b32 v1, [v2+8388608]",
          "t.s:1: ld.global: operand 2: the offset 8388608 does not fit into 24 bits" },
        { "ld.global.b32 v1, [v2:3+v4]",
          "t.s:1: ld.global: operand 2: the base of two registers must be a scalar pair such as "
          "s4:5" },
        { "atom.global.cas.b32 v1, [s2:3+v4], v5, v6",
          "t.s:1: atom.global: operand 2: a compare-and-swap cannot have a scalar base address" },
        { "red.global.cas.b32 [v2], v5",
          "t.s:1: red.global: a reduction cannot compare and swap: use atom" },
        { "atom.global.inc.f32 v1, [v2], v5",
          "t.s:1: atom.global: inc and dec need type u32 or u64" },
        { "red.shared.xor.f16x2 [v2], v5",
          "t.s:1: red.shared: and, or and xor need an integer or bit type" },
        { "atom.generic.add.b16 v1, [v2], v5",
          "t.s:1: atom.generic: only exch and cas are possible for types of 16 bits" },
        { "red.global.max.b64 [v2], v4:5",
          "t.s:1: red.global: add, min and max need an integer or float type" },
        { "atom.shared.cas.f64 v0:1, [v2], v4:5, v6:7",
          "t.s:1: atom.shared: cas needs an integer or bit type" },
        { "v_s2r v1, %tid.w",
          "t.s:1: v_s2r: operand 2: there is no special register %tid.w (did you mean %tid.x?)" },
        { "v_s2r v1, %clock64", "t.s:1: v_s2r: %clock64 has 64 bits, the destination 32" },
        { "bsync b16",
          "t.s:1: bsync: operand 1: expected a barrier register b0..b15, found 'b16'" },
        { "bar.sync 16", "t.s:1: bar.sync: the number of the barrier is 16, but must be below 16" },
        { "tex.2d.f32.f32 v4:7, v8:11, s4:5",
          "t.s:1: tex: operand 2: expected 2 registers such as v2:3, found 4" },
        { "tex.1d.f32.f32 v4:7, v8, s4:5, v9", "t.s:1: tex: expected 3 to 5 operands, found 4" },
        { "tex.1d.f32.f32 v4:7, v8, s4:5, (8)",
          "t.s:1: the texel offset 8 is out of range: it must be from -8 to 7" },
        { "tex.1d.f32.f32 v4:7, v8, s4:5, (1,2,3,4)",
          "t.s:1: tex: operand 4: expected ')' after at most three texel offsets" },
        { "mma.m16n8k16.f32.tf32.tf32.f32 v4:7, v8:11, v12:13, v4:7",
          "t.s:1: mma: the instruction has no modifier .m16n8k16" },
        { "@p7 exit", "t.s:1: expected a guard such as @p0, @!p0 or @sp0, found '@p7 exit'" },
        { "exit {st=16}", "t.s:1: the control value 16 is out of range: it must be from 0 to 15" },
        { "exit {foo}",
          "t.s:1: exit: expected a control field such as {st=4,y,wr=0,rd=1,wt=0x3f,ru=7}, found 'foo}'" },
        { "\nbra nowhere\n", "t.s:2: there is no label or function nowhere" },
        { "l:\nl: exit", "t.s:2: the label l is defined twice" },
        { "v_mov_b32 v1, lo(x)", "t.s:1: there is no variable or function x" },
        { ".frobnicate",
          "t.s:1: .frobnicate: unknown directive: docs/reference/assembly.md lists the directives" },
        { "\x1b[31mred", "t.s:1: \\x1b[31mred: unknown instruction: docs/reference/isa.md lists the instructions" },
        { ".kernl k", "t.s:1: .kernl: unknown directive (did you mean .kernel?)" },
        { ".kernel k\n.end", "t.s:2: k has no instructions" },
        { ".kernel k\nexit\n", "t.s:2: the function k is not closed: add .end" },
        { ".kernel k\nexit\n.end\n.func k\n", "t.s:4: k is defined twice" },
        { ".param u32 n", "t.s:1: .param is allowed only between .kernel and .end" },
        { ".func f\n.param u32 n", "t.s:2: .param is allowed only in a kernel, not in a .func" },
        { ".kernel k\n.param u33 n",
          "t.s:2: .param: expected a type such as u32, f32, u64, bytes N or ptr.global, found "
          "'u33 n'" },
        { ".global g 2 = u32 1",
          "t.s:1: the initial values are larger than the 2 bytes of g" },
        { ".global g 4 = u8 256", "t.s:1: the value 256 does not fit its type" },
        { ".global g 4 3", "t.s:1: g: the alignment 3 is not a power of two" },
        { ".loc 1 3", "t.s:1: the file 1 is out of range: it must be from 0 to 0" },
        { ".file 2 \"x\"", "t.s:1: .file 2: file numbers must be in order: the next is 1" },
        { ".producer \"x", "t.s:1: the string has no closing quote" },
        { ".needswarp 32", "t.s:1: .needswarp is allowed only between .kernel and .end" },
        { ".dynshared", "t.s:1: .dynshared is allowed only between .kernel and .end" },
        { ".func f\n.dynshared", "t.s:2: .dynshared is allowed only between .kernel and .end" },
        { "exit extra words", "t.s:1: exit: expected 0 operands, found 1" },
        { ".end", "t.s:1: there is no .kernel or .func before .end" },
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        struct isa_object *object = NULL;
        struct lw_error err = { LW_OK, "" };

        if (isa_assemble("t.s", rows[i].text, strlen(rows[i].text), &object, &err) == LW_OK)
            fail_msg("accepted: %s", rows[i].text);
        assert_null(object); /* after an error, the result is unchanged */
        assert_int_equal(err.status, LW_EINPUT);
        assert_string_equal(err.text, rows[i].message);
        assert_int_equal(isa_assemble("t.s", rows[i].text, strlen(rows[i].text), &object, NULL),
                         LW_EINPUT); /* the argument for the error may be NULL */
    }
}

static void a_nul_byte_is_no_text(void **state)
{
    struct isa_object *object = NULL;
    struct lw_error err;

    (void)state;
    assert_int_equal(isa_assemble("t.s", "exit\n\0", 6, &object, &err), LW_EINPUT);
    assert_string_equal(err.text,
                        "t.s:2: the line contains a zero byte: the file is not assembly text");
}

/* ---- examples in the documentation ------------------------------------------------------------ */

static void every_example_in_the_assembly_page_assembles(void **state)
{
    const char *dir = getenv("srcdir");
    struct lw_error err;
    char path[1024], *text, *p;
    unsigned examples = 0;
    size_t size;

    (void)state;
    snprintf(path, sizeof path, "%s/docs/reference/assembly.md", dir != NULL ? dir : ".");
    if (lw_file_read(path, &text, &size, &err) != LW_OK)
        fail_msg("%s", err.text);
    p = text;
    while ((p = strstr(p, "\n```asm\n")) != NULL) {
        struct isa_object *object = NULL, *back = NULL;
        const char *difference;
        struct lw_buffer again;
        char *end;

        p += strlen("\n```asm\n");
        end = strstr(p, "\n```");
        assert_non_null(end);
        if (isa_assemble("assembly.md", p, (size_t)(end - p) + 1, &object, &err) != LW_OK)
            fail_msg("example %u: %s", examples + 1, err.text);
        lw_buffer_init(&again);
        isa_disassemble(object, &again.sink);
        if (isa_assemble("again.s", again.text, again.size, &back, &err) != LW_OK)
            fail_msg("example %u disassembled: %s", examples + 1, err.text);
        difference = prop_object_difference(object, back);
        if (difference != NULL)
            fail_msg("example %u: %s differs", examples + 1, difference);
        isa_object_destroy(object);
        isa_object_destroy(back);
        lw_buffer_fini(&again);
        examples++;
        p = end + 1;
    }
    assert_true(examples >= 5);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_the_layout_of_the_machine),
        cmocka_unit_test(instructions_print_in_one_form),
        cmocka_unit_test(labels_are_local_to_their_function),
        cmocka_unit_test(parameters_get_natural_offsets_and_names),
        cmocka_unit_test(register_counts_cover_the_call_tree),
        cmocka_unit_test(shared_variables_are_placed_and_are_constants),
        cmocka_unit_test(variables_have_typed_initial_values_and_addresses),
        cmocka_unit_test(line_rows_point_at_the_source_itself_without_loc),
        cmocka_unit_test(line_rows_follow_loc_where_there_is_one),
        cmocka_unit_test(a_function_has_no_line_of_the_one_before_it),
        cmocka_unit_test(kernels_carry_their_launch_properties),
        cmocka_unit_test(the_constant_bank_holds_wide_values),
        cmocka_unit_test(errors_name_location_thing_and_cure),
        cmocka_unit_test(a_nul_byte_is_no_text),
        cmocka_unit_test(every_example_in_the_assembly_page_assembles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
