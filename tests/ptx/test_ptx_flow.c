/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the analysis of control flow with graphs whose loops, post-dominators, divergence and barriers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx_priv.h"

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n" \
    ".entry k(.param .u64 p, .param .u32 n) {\n" \
    ".reg .pred %p<40>; .reg .b32 %r<40>; .reg .b64 %rd<8>;\n" \
    "mov.u32 %r0,%tid.x; ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n];\n" \
    "setp.lt.u32 %p0,%r0,7; setp.lt.u32 %p1,%r0,%r1; setp.eq.u32 %p2,%r1,3;\n"
#define TAIL "\nst.global.u32 [%rd1],%r2; ret; }\n"

static void graph_and_classes(const char *text, struct lw_buffer *out)
{
    struct lw_error err;

    lw_buffer_init(out);
    if (ptx_print_cfg("t.ptx", text, strlen(text), &out->sink, &err) != LW_OK)
        fail_msg("%s", err.text);
}

/* Writes the graph of @text as graph_and_classes() does, but without the lines about registers. */
static void graph(const char *text, struct lw_buffer *out)
{
    char *to, *line;

    graph_and_classes(text, out);
    for (to = line = out->text; *line != '\0';) {
        size_t size = strcspn(line, "\n") + 1;

        if (strncmp(line, "  %", 3) != 0) {
            memmove(to, line, size);
            to += size;
        }
        line += size;
    }
    *to = '\0';
}

static void expect_graph(const char *text, const char *want)
{
    struct lw_buffer out;

    graph(text, &out);
    assert_string_equal(out.text, want);
    lw_buffer_fini(&out);
}

static void a_divergent_if_joins_at_its_post_dominator(void **state)
{
    (void)state;
    expect_graph(HEAD "mov.u32 %r2,0;\n@%p0 bra J;\nld.u32 %r2,[%rd1];\nJ:" TAIL,
                 "k: 4 blocks, 0 loops, 1 regions, 1 barrier registers\n"
                 "  block 0: 5 instructions, bssy b0 -> 2 | 1, joins at 2, may diverge\n"
                 "  block 1: 1 instructions -> 2\n"
                 "  block 2 J: 1 instructions, bsync b0 -> 4\n"
                 "  block 4: 0 instructions\n");
}

static void a_branch_on_parameters_gets_no_barrier(void **state)
{
    (void)state;
    expect_graph(HEAD "mov.u32 %r2,0;\n@%p2 bra J;\nmov.u32 %r2,1;\nJ:" TAIL,
                 "k: 4 blocks, 0 loops, 0 regions, 0 barrier registers\n"
                 "  block 0: 4 instructions -> 2 | 1, joins at 2\n"
                 "  block 1: 1 instructions -> 2\n"
                 "  block 2 J: 1 instructions -> 4\n"
                 "  block 4: 0 instructions\n");
}

static void nested_ifs_use_two_registers_and_arms_one_after_the_other_share(void **state)
{
    (void)state;
    expect_graph(HEAD "mov.u32 %r2,0;\n@%p0 bra A;\n@%p1 bra B;\nld.u32 %r2,[%rd1];\n"
                      "B: add.u32 %r2,%r2,5;\nA: @!%p1 bra J;\nld.u32 %r2,[%rd1];\nJ:" TAIL,
                 "k: 8 blocks, 0 loops, 3 regions, 2 barrier registers\n"
                 "  block 0: 6 instructions, bssy b0 -> 4 | 1, joins at 4, may diverge\n"
                 "  block 1: 0 instructions, bssy b1 -> 3 | 2, joins at 3, may diverge\n"
                 "  block 2: 1 instructions -> 3\n"
                 "  block 3 B: 1 instructions, bsync b1 -> 4\n"
                 "  block 4 A: 0 instructions, bsync b0, bssy b0 -> 6 | 5, joins at 6, may diverge\n"
                 "  block 5: 1 instructions -> 6\n"
                 "  block 6 J: 1 instructions, bsync b0 -> 8\n"
                 "  block 8: 0 instructions\n");
}

static void a_loop_that_lanes_leave_apart_joins_in_its_preheader(void **state)
{
    (void)state;
    expect_graph(HEAD "mov.u32 %r2,0;\nL: add.u32 %r2,%r2,1;\nsetp.lt.u32 %p3,%r2,%r0;\n@%p3 bra L;"
                      TAIL,
                 "k: 4 blocks, 1 loops, 1 regions, 1 barrier registers\n"
                 "  block 0: 3 instructions, bssy b0 -> 1\n"
                 "  block 1 L: 2 instructions -> 1 | 2, joins at 2, may diverge, in the loop with header 1\n"
                 "  block 2: 1 instructions, bsync b0 -> 4\n"
                 "  block 4: 0 instructions\n");
}

static void breaking_out_of_an_inner_region_frees_its_barrier(void **state)
{
    /* In the loop, one side of an if leaves the loop. On this edge, lanes must leave barrier b1 by a break. */
    (void)state;
    expect_graph(HEAD "mov.u32 %r2,0;\nL: ld.global.u32 %r3,[%rd1];\nsetp.lt.u32 %p3,%r3,5;\n"
                      "@%p3 bra C;\nadd.u32 %r2,%r2,1;\nsetp.gt.u32 %p4,%r3,90;\n@%p4 bra OUT;\n"
                      "C: add.u32 %r2,%r2,3;\nsetp.lt.u32 %p5,%r2,%r1;\n@%p5 bra L;\nOUT:" TAIL,
                 "k: 6 blocks, 1 loops, 2 regions, 2 barrier registers\n"
                 "  block 0: 2 instructions, bssy b0 -> 1\n"
                 "  block 1 L: 2 instructions, bssy b1 -> 3 | 2, joins at 4, may diverge, "
                 "in the loop with header 1\n"
                 "  block 2: 2 instructions -> 4 (bbreak b1) | 3, joins at 4, may diverge, "
                 "in the loop with header 1\n"
                 "  block 3 C: 2 instructions, bsync b1 -> 1 | 4, joins at 4, may diverge, "
                 "in the loop with header 1\n"
                 "  block 4 OUT: 1 instructions, bsync b0 -> 6\n"
                 "  block 6: 0 instructions\n");
}

static void a_branch_to_the_end_is_an_exit_and_parts_nobody(void **state)
{
    (void)state;
    expect_graph(HEAD "@%p1 bra END;\nbar.sync 0;\nst.global.u32 [%rd1],%r0;\nEND: ret; }\n",
                 "k: 4 blocks, 0 loops, 0 regions, 0 barrier registers\n"
                 "  block 0: 3 instructions -> 2 (exit) | 1, joins at 1\n"
                 "  block 1: 2 instructions -> 2\n"
                 "  block 2 END: 0 instructions -> 4\n"
                 "  block 4: 0 instructions\n");
}

static void a_value_from_a_loop_that_lanes_leave_apart_is_divergent_after_it(void **state)
{
    /* %r2 counts iterations, so it is uniform inside the loop, but not after the loop. */
    struct lw_buffer out;

    (void)state;
    graph(HEAD "mov.u32 %r2,0;\nL: add.u32 %r2,%r2,1;\nld.global.u32 %r4,[%rd1];\n"
               "setp.lt.u32 %p3,%r4,9;\n@%p3 bra OUT;\nsetp.lt.u32 %p4,%r2,%r1;\n@%p4 bra L;\n"
               "OUT: setp.eq.u32 %p5,%r2,4;\n@%p5 bra J;\nld.u32 %r2,[%rd1];\nJ:" TAIL,
          &out);
    assert_non_null(strstr(out.text, "-> 3 | 2, joins at 3, may diverge, in the loop with header 1"));
    assert_non_null(strstr(out.text, "block 3 OUT: 1 instructions, bsync b0, bssy b0 -> 5 | 4, "
                                     "joins at 5, may diverge"));
    lw_buffer_fini(&out);
}

static void a_loop_that_may_wait_for_a_lane_yields_and_makes_barriers_soft(void **state)
{
    struct lw_buffer out;

    (void)state;
    graph(HEAD "mov.u32 %r2,0;\nL: atom.global.cas.b32 %r3,[%rd1],0,1;\nsetp.ne.u32 %p3,%r3,0;\n"
               "@%p3 bra L;" TAIL,
          &out);
    assert_non_null(strstr(out.text, ", soft\n"));
    assert_non_null(strstr(out.text, "-> 1 (yield) | 2"));
    assert_non_null(strstr(out.text, "bsync.soft b0"));
    lw_buffer_fini(&out);
    /* A loop with a reduction does not wait for other threads. */
    graph(HEAD "mov.u32 %r2,0;\nL: atom.global.add.u32 %r3,[%rd1],1;\nadd.u32 %r2,%r2,1;\n"
               "setp.lt.u32 %p3,%r2,%r0;\n@%p3 bra L;" TAIL,
          &out);
    assert_null(strstr(out.text, "yield"));
    assert_null(strstr(out.text, "soft"));
    lw_buffer_fini(&out);
}

static void a_block_barrier_in_an_arm_makes_barriers_soft(void **state)
{
    struct lw_buffer out;

    (void)state;
    graph(HEAD "@%p0 bra A;\nbar.sync 0;\nbra J;\nA: bar.sync 0;\nJ: mov.u32 %r2,1;" TAIL, &out);
    assert_non_null(strstr(out.text, ", soft\n"));
    lw_buffer_fini(&out);
    graph(HEAD "mov.u32 %r2,0;\n@%p0 bra J;\nmov.u32 %r2,1;\nJ: bar.sync 0;" TAIL, &out);
    assert_null(strstr(out.text, "soft"));
    lw_buffer_fini(&out);
}

static void a_chain_of_jumps_to_one_target_is_one_region(void **state)
{
    struct lw_buffer text, out;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD "mov.u32 %r2,0;\n");
    for (unsigned i = 0; i < 30; i++)
        lw_printf(&text.sink, "add.u32 %%r2,%%r2,%%r0; setp.eq.u32 %%p%u,%%r2,%u; @%%p%u bra T;\n",
                  4 + i, i * 77, 4 + i);
    lw_put(&text.sink, "T:" TAIL);
    graph(text.text, &out);
    assert_non_null(strstr(out.text, "1 regions, 1 barrier registers"));
    lw_buffer_fini(&out);
    lw_buffer_fini(&text);
}

static void a_loop_that_is_entered_twice_is_one_of_one_entry(void **state)
{
    struct lw_buffer out;

    (void)state;
    graph(HEAD "@%p0 bra M;\nL: add.u32 %r2,%r2,1;\nM: add.u32 %r2,%r2,3;\n"
               "setp.lt.u32 %p3,%r2,50;\n@%p3 bra L;" TAIL, &out);
    assert_non_null(strstr(out.text, " 1 loops,"));
    lw_buffer_fini(&out);
}

/* Writes @count blocks that form loops with many entries: each block branches to two other blocks, and the start of the kernel
 * branches to every block. */
static void whirl(struct lw_buffer *text, unsigned count)
{
    lw_buffer_init(text);
    lw_put(&text->sink, HEAD "mov.u32 %r2,0;\n");
    for (unsigned i = 0; i < count; i++)
        lw_printf(&text->sink, "setp.eq.u32 %%p4,%%r0,%u; @%%p4 bra L%u;\n", i, i);
    for (unsigned i = 0; i < count; i++)
        lw_printf(&text->sink, "L%u: add.u32 %%r2,%%r2,%u; setp.gt.u32 %%p4,%%r2,900; @%%p4 bra T;\n"
                  "and.b32 %%r3,%%r2,%u; setp.ne.u32 %%p4,%%r3,0; @%%p4 bra L%u;\n"
                  "setp.gt.u32 %%p5,%%r2,%%r1; @%%p5 bra L%u;\n", i, i + 1, i % 5 + 1,
                  (i * 7 + 3) % count, (i * 5 + 1) % count);
    lw_put(&text->sink, "bra L0;\nT:" TAIL);
}

static void too_many_jumps_into_loops_are_refused_by_name(void **state)
{
    static const char message[] = "too many jumps into the middle of loops, such as at L";
    struct isa_object *object = NULL;
    struct lw_buffer text, out;
    struct lw_error err;

    (void)state;
    whirl(&text, 6);
    graph(text.text, &out);
    lw_buffer_fini(&out);
    lw_buffer_fini(&text);
    whirl(&text, 60);
    assert_int_equal(ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err), LW_EUNSUPP);
    assert_non_null(strstr(err.text, message));
    lw_buffer_fini(&text);
}

/* Checks that the output contains a line, with the class that the analysis determines for a register. */
static void expect_class(const struct lw_buffer *out, const char *line)
{
    char text[80];

    snprintf(text, sizeof text, "\n  %s\n", line);
    if (strstr(out->text, text) == NULL)
        fail_msg("no \"%s\" in\n%s", line, out->text);
}

static void registers_are_uniform_affine_or_varying(void **state)
{
    struct lw_buffer out;

    (void)state;
    graph_and_classes(HEAD
          "mov.u32 %r2,%tid.y; mul.lo.u32 %r3,%r2,%r1; mad.lo.u32 %r4,%r0,-12,%r3;\n"
          "shl.b32 %r5,%r0,2; cvt.u64.u32 %rd2,%r5; mul.wide.s32 %rd3,%r4,4; sub.u32 %r6,%r5,%r3;\n"
          "add.u32 %r7,%r5,%r1; setp.eq.u32 %p3,%r7,%r5; setp.lt.u32 %p4,%r7,%r5; ld.global.u32 %r8,[%rd1];\n"
          "and.b32 %r9,%r0,%r1; mov.u32 %r10,3; @%p0 bra L; add.u32 %r10,%r5,4; ld.global.u32 %r12,[%rd1+4];\n"
          "st.global.u32 [%rd1+8],%r12;\nL: mov.u32 %r11,0;\nM: add.u32 %r11,%r11,4; add.u32 %r14,%r11,1;\n"
          "st.global.u32 [%rd1+16],%r14; setp.lt.u32 %p5,%r11,%r8; @%p5 bra M; st.global.u32 [%rd1+20],%r11;\n"
          "st.global.u32 [%rd1+24],%r4; st.global.u64 [%rd1],%rd2; st.global.u64 [%rd1],%rd3;\n"
          "st.global.u32 [%rd1],%r6; selp.b32 %r13,%r7,%r9,%p3; st.global.u32 [%rd1],%r13; selp.b32 %r15,1,%r10,%p4;\n"
          "st.global.u32 [%rd1],%r15;" TAIL, &out);
    expect_class(&out, "%r3: affine, s*tid.y"); /* n may have any value */
    expect_class(&out, "%r4: affine, -12*tid.x + s*tid.y");
    expect_class(&out, "%rd2: affine, 4*tid.x"); /* a block has too few threads for this value to wrap */
    expect_class(&out, "%rd3: affine, -48*tid.x + s*tid.y, if no index wraps");
    expect_class(&out, "%r6: affine, 4*tid.x + s*tid.y");
    expect_class(&out, "%r7: affine, 4*tid.x");
    expect_class(&out, "%p3: uniform"); /* the difference of the operands is n in all lanes */
    expect_class(&out, "%p4: varying"); /* the value wraps at a point that depends on the lane */
    expect_class(&out, "%r8: varying");
    expect_class(&out, "%r9: varying");
    expect_class(&out, "%r10: varying"); /* 3 or 4 * tid.x + 4, depending on the lane */
    expect_class(&out, "%r11: varying"); /* lanes leave the loop in different iterations */
    expect_class(&out, "%r13: varying");
    lw_buffer_fini(&out);
}

static unsigned count_op(const struct isa_object *object, enum isa_op op)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < object->text_count; i++) {
        struct isa_insn insn;

        n += isa_insn_decode(object->text[i], &insn) && insn.op == op;
    }
    return n;
}

static void more_than_sixteen_nested_regions_save_registers_of_outer_ones(void **state)
{
    struct lw_buffer text;
    struct isa_object *object;
    struct lw_error err;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD "mov.u32 %r2,0;\n");
    for (unsigned i = 0; i < 18; i++)
        lw_printf(&text.sink, "setp.eq.u32 %%p%u,%%r0,%u; @%%p%u bra L%u;\n", 4 + i, i, 4 + i, i);
    for (unsigned i = 18; i-- > 0;)
        lw_printf(&text.sink, "L%u: add.u32 %%r2,%%r2,%u;\n", i, i);
    lw_put(&text.sink, TAIL);
    if (ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    /* The innermost region is a branch side that needs no barrier. */
    assert_int_equal(count_op(object, ISA_BSSY), 17);
    assert_int_equal(count_op(object, ISA_BSYNC), 17);
    assert_int_equal(count_op(object, ISA_V_MOV_TAKE_B), 1);
    assert_int_equal(count_op(object, ISA_V_MOV_GIVE_B), 1);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
}

static void regions_inside_64_others_have_no_barrier(void **state)
{
    struct lw_buffer text;
    struct isa_object *object;
    struct lw_error err;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, HEAD "mov.u32 %r2,0;\n");
    for (unsigned i = 0; i < 90; i++)
        lw_printf(&text.sink, "setp.eq.u32 %%p4,%%r0,%u; @%%p4 bra L%u; st.global.u32 [%%rd1],%%r0;\n", i, i);
    for (unsigned i = 90; i-- > 0;)
        lw_printf(&text.sink, "st.volatile.global.u32 [%%rd1],%%r2; L%u: add.u32 %%r2,%%r2,%u;\n", i, i);
    lw_put(&text.sink, TAIL);
    if (ptx_translate("t.ptx", text.text, text.size, NULL, &object, &err) != LW_OK)
        fail_msg("%s", err.text);
    assert_int_equal(count_op(object, ISA_BSSY), 64);
    assert_int_equal(count_op(object, ISA_V_MOV_TAKE_B), 64 - 16);
    assert_int_equal(count_op(object, ISA_V_MOV_GIVE_B), 64 - 16);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
}

/* Removes one instruction of this kind after layout, and returns the result of the verifier, which must find the removal. */
static enum lw_status verify_without(const char *text, enum isa_op op, struct lw_error *err)
{
    struct ptx_job *job = calloc(1, sizeof *job);
    jmp_buf stop;
    enum lw_status status;

    assert_non_null(job);
    lw_arena_init(&job->arena);
    const struct ptx_source source = { .name = "t.ptx", .text = text, .size = strlen(text) };

    job->sources = &source;
    job->source_count = 1;
    job->err = err;
    job->stop = &stop;
    if (setjmp(stop) == 0) {
        struct ptx_module *module = ptx_parse(job);
        struct ptx_unit *unit = PTX_NEW(job, struct ptx_unit);

        ptx_unit_init(unit, job, module, &module->functions.at[0], NULL);
        ptx_unit_analyse(unit);
        ptx_layout(unit);
        for (size_t i = 0; i < unit->code.count; i++) {
            if (unit->code.at[i].in.op == op) {
                isa_insn_init(&unit->code.at[i].in, ISA_NOP);
                unit->code.at[i].barrier = 0xff;
                break;
            }
        }
        ptx_barrier_verify(unit);
    }
    status = job->status;
    lw_arena_fini(&job->arena);
    free(job);
    return status;
}

static void the_verifier_finds_a_missing_bsync_and_a_missing_bbreak(void **state)
{
    static const char loop[] = HEAD
        "mov.u32 %r2,0;\nL: ld.global.u32 %r3,[%rd1];\nsetp.lt.u32 %p3,%r3,5;\n@%p3 bra C;\n"
        "ld.u32 %r2,[%rd1];\nC: add.u32 %r2,%r2,3;\nsetp.lt.u32 %p5,%r2,%r1;\n@%p5 bra L;" TAIL;
    static const char nest[] = HEAD /* an exit of the inner loop goes to the latch of the outer loop */
        "mov.u32 %r2,0;\nO: mov.u32 %r5,0;\nL: ld.global.u32 %r3,[%rd1];\n"
        "setp.lt.u32 %p3,%r3,5;\n@%p3 bra C;\nadd.u32 %r2,%r2,1;\nsetp.eq.u32 %p7,%r3,9;\n"
        "@%p7 bra X;\nC: add.u32 %r5,%r5,1;\nsetp.lt.u32 %p5,%r5,%r1;\n@%p5 bra L;\n"
        "add.u32 %r2,%r2,2;\nX: add.u32 %r2,%r2,1;\nsetp.lt.u32 %p6,%r2,%r1;\n@%p6 bra O;" TAIL;
    static const char returns[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".func f(.param .b64 p) { .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<3>;\n"
        "ld.param.u64 %rd1,[p]; ld.u32 %r1,[%rd1]; setp.lt.u32 %p1,%r1,5; @%p1 bra C;\n"
        "ld.u32 %r2,[%rd1+8]; st.u32 [%rd1+16],%r2;\nC: st.u32 [%rd1+4],%r1; ret; }\n";
    struct lw_error err;

    (void)state;
    assert_int_equal(verify_without(returns, ISA_TRAP, &err), LW_OK);
    assert_int_equal(verify_without(returns, ISA_BSYNC, &err), LW_ESTATE);
    assert_non_null(strstr(err.text, "b0 of 'f' is not left on a path"));
    assert_int_equal(verify_without(loop, ISA_TRAP, &err), LW_OK); /* the text has no such instruction, so no instruction is
                                                                    * removed */
    assert_int_equal(verify_without(nest, ISA_TRAP, &err), LW_OK);
    assert_int_equal(verify_without(loop, ISA_BSYNC, &err), LW_ESTATE);
    assert_non_null(strstr(err.text, "is joined twice on a path"));
    assert_int_equal(verify_without(nest, ISA_BBREAK, &err), LW_ESTATE);
}

/* Lets the translator drop reconvergence regions whose lanes could wait for each other. Region i ends at block @joins[i], and
 * contains block b if @inside has the pair (i, b). Returns the number of dropped regions, and stores a bit set of them in
 * @which. */
static unsigned left_out(const uint32_t (*inside)[2], unsigned pairs, const uint32_t *joins,
                         unsigned regions, uint64_t *which)
{
    struct ptx_job job = { 0 };
    struct ptx_unit unit = { .job = &job };
    struct lw_error err;
    jmp_buf stop;

    lw_arena_init(&job.arena);
    job.err = &err;
    job.stop = &stop;
    if (setjmp(stop) != 0)
        fail_msg("%s", err.text);
    for (unsigned b = 0; b < 8; b++)
        (void)ptx_block_new(&unit);
    for (unsigned i = 0; i < regions; i++) {
        struct ptx_region *g = PTX_PUSH(&job, unit.regions);

        memset(g, 0, sizeof *g);
        g->join = joins[i];
        g->scope = PTX_NONE;
        for (unsigned k = 0; k < pairs; k++)
            if (inside[k][0] == i)
                *PTX_PUSH(&job, g->inside) = inside[k][1];
        g->size = (uint32_t)g->inside.count;
    }
    ptx_barrier_cycles(&unit);

    unsigned count = 0;

    *which = 0;
    for (unsigned i = 0; i < regions; i++) {
        count += unit.regions.at[i].given_up;
        *which |= (uint64_t)unit.regions.at[i].given_up << i;
    }
    assert_int_equal(unit.lossy, count != 0);
    lw_arena_fini(&job.arena);
    return count;
}

static void regions_with_lanes_that_could_wait_for_each_other_are_left_out(void **state)
{
    static const uint32_t nest[][2] = { { 0, 2 }, { 0, 1 }, { 0, 3 }, { 1, 3 } };
    static const uint32_t two[][2] = { { 0, 2 }, { 0, 3 }, { 1, 1 }, { 2, 4 } };
    static const uint32_t three[][2] = { { 0, 2 }, { 0, 5 }, { 1, 3 }, { 2, 1 }, { 2, 4 },
                                         { 3, 6 }, { 3, 1 }, { 1, 7 } };
    static const uint32_t joins[] = { 1, 2, 3, 4 }, outer[] = { 4, 2, 3 };
    uint64_t which;

    (void)state;
    assert_int_equal(left_out(nest, LW_COUNT_OF(nest), outer, 3, &which), 0);
    /* Regions 0 and 1 overlap, but neither contains the other one, so the smaller one is dropped. Region 2 follows both. */
    assert_int_equal(left_out(two, LW_COUNT_OF(two), joins, 3, &which), 1);
    assert_int_equal(which, 2);
    /* Region 0 contains the end of region 1, region 1 the end of region 2, and region 2 the end of region 0. Region 3 only leads
     * to these regions. */
    assert_int_equal(left_out(three, LW_COUNT_OF(three), joins, 4, &which), 1);
    assert_int_equal(which & 8, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_divergent_if_joins_at_its_post_dominator),
        cmocka_unit_test(a_branch_on_parameters_gets_no_barrier),
        cmocka_unit_test(nested_ifs_use_two_registers_and_arms_one_after_the_other_share),
        cmocka_unit_test(a_loop_that_lanes_leave_apart_joins_in_its_preheader),
        cmocka_unit_test(breaking_out_of_an_inner_region_frees_its_barrier),
        cmocka_unit_test(a_branch_to_the_end_is_an_exit_and_parts_nobody),
        cmocka_unit_test(a_value_from_a_loop_that_lanes_leave_apart_is_divergent_after_it),
        cmocka_unit_test(a_loop_that_may_wait_for_a_lane_yields_and_makes_barriers_soft),
        cmocka_unit_test(a_block_barrier_in_an_arm_makes_barriers_soft),
        cmocka_unit_test(a_chain_of_jumps_to_one_target_is_one_region),
        cmocka_unit_test(a_loop_that_is_entered_twice_is_one_of_one_entry),
        cmocka_unit_test(too_many_jumps_into_loops_are_refused_by_name),
        cmocka_unit_test(registers_are_uniform_affine_or_varying),
        cmocka_unit_test(more_than_sixteen_nested_regions_save_registers_of_outer_ones),
        cmocka_unit_test(regions_inside_64_others_have_no_barrier),
        cmocka_unit_test(regions_with_lanes_that_could_wait_for_each_other_are_left_out),
        cmocka_unit_test(the_verifier_finds_a_missing_bsync_and_a_missing_bbreak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
