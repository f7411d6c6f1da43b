/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests register allocation with an independent check. The check computes liveness with simple bit sets on the finished code. No
 * instruction may write a register whose value is still needed, unless the written value is a copy of this value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ptx/ptx_priv.h"


static bool has(const uint64_t *set, uint32_t v)
{
    return set[v / 64] >> (v % 64) & 1;
}
static void put(uint64_t *set, uint32_t v, bool on)
{
    if (on)
        set[v / 64] |= UINT64_C(1) << (v % 64);
    else
        set[v / 64] &= ~(UINT64_C(1) << (v % 64));
}

static unsigned rows_of(const struct ptx_unit *unit, uint32_t v)
{
    return unit->vregs.at[v].rows == 0 ? 1 : unit->vregs.at[v].rows;
}

static bool overlap(const struct ptx_unit *unit, uint32_t a, uint32_t b)
{
    unsigned x = unit->assigned[a], y = unit->assigned[b];

    if ((unit->vregs.at[a].rows == 0) != (unit->vregs.at[b].rows == 0) ||
        unit->vregs.at[a].scalar != unit->vregs.at[b].scalar)
        return false;
    return x < y + rows_of(unit, b) && y < x + rows_of(unit, a);
}

static bool copies(const struct ptx_unit *unit, const struct ptx_mi *mi, uint32_t to, uint32_t from)
{
    return (((mi->in.op == ISA_V_MOV_B32 || mi->in.op == ISA_V_MOV_B64) &&
             mi->in.xkind == ISA_X_VECTOR) ||
            ((mi->in.op == ISA_S_MOV_B32 || mi->in.op == ISA_S_MOV_B64) &&
             mi->in.xkind == ISA_X_SCALAR)) &&
           mi->ref[PTX_S_X] == ptx_ref_of(from, 0) &&
           mi->ref[PTX_S_D] == ptx_ref_of(to, 0) && unit->assigned[to] == unit->assigned[from];
}

static void step_back(const struct ptx_mi *mi, uint64_t *live)
{
    for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
        if (ptx_mi_writes(mi, (enum ptx_slot)s) && !(mi->flags & PTX_MI_PARTIAL))
            put(live, ptx_ref_vreg(mi->ref[s]), false);
    }
    for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
        if (ptx_mi_reads(mi, (enum ptx_slot)s))
            put(live, ptx_ref_vreg(mi->ref[s]), true);
    }
}

static unsigned check_unit(const struct ptx_unit *unit)
{
    size_t words = (unit->vregs.count + 63) / 64, n = unit->blocks.count;
    uint64_t *in = calloc(words * n + 1, 8), *live = calloc(words + 1, 8);
    unsigned pressure = 0;

    assert_true(in != NULL && live != NULL);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = n; k-- > 0;) {
            const struct ptx_block *b = &unit->blocks.at[k];

            memset(live, 0, words * 8);
            for (unsigned s = 0; s < b->succ_count; s++) {
                for (size_t w = 0; w < words; w++)
                    live[w] |= in[b->succ[s] * words + w];
            }
            for (uint32_t i = b->first + b->count; i-- > b->first;)
                step_back(&unit->code.at[i], live);
            if (memcmp(live, &in[k * words], words * 8) != 0) {
                memcpy(&in[k * words], live, words * 8);
                changed = true;
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        const struct ptx_block *b = &unit->blocks.at[k];

        memset(live, 0, words * 8);
        for (unsigned s = 0; s < b->succ_count; s++) {
            for (size_t w = 0; w < words; w++)
                live[w] |= in[b->succ[s] * words + w];
        }
        for (uint32_t i = b->first + b->count; i-- > b->first;) {
            const struct ptx_mi *mi = &unit->code.at[i];
            unsigned rows = 0;

            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t d = ptx_ref_vreg(mi->ref[s]);

                if (ptx_ref_is_vreg(mi->ref[s]) && unit->vregs.at[d].rows != 0)
                    assert_true(unit->assigned[d] + unit->vregs.at[d].rows <=
                                (unit->vregs.at[d].scalar ? unit->sreg_count : unit->vreg_count));
                if (!ptx_mi_writes(mi, (enum ptx_slot)s))
                    continue;
                assert_true(unit->assigned[d] != 0xffff);
                for (uint32_t v = 0; v < unit->vregs.count; v++) {
                    if (v != d && has(live, v) && overlap(unit, d, v) && !copies(unit, mi, d, v))
                        fail_msg("line %u: %%%u overwrites %%%u, which is still needed", mi->line, d,
                                 v);
                }
            }
            step_back(mi, live);
            for (uint32_t v = 0; v < unit->vregs.count; v++)
                rows += has(live, v) ? unit->vregs.at[v].rows : 0;
            pressure = rows > pressure ? rows : pressure;
        }
    }
    free(in);
    free(live);
    return pressure;
}

struct outcome {
    unsigned vregs, pressure, local_bytes, instructions, copies;
    unsigned loads, loads_in_loops, stores; /* accesses to memory for spilled values */
};

static void count_transfers(const struct ptx_unit *unit, struct outcome *out)
{
    for (size_t k = 0; k < unit->blocks.count; k++) {
        const struct ptx_block *b = &unit->blocks.at[k];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];
            bool synthetic = mi->flags & PTX_MI_SPILL;

            out->loads += synthetic && mi->in.op == ISA_LD_LOCAL;
            out->loads_in_loops += synthetic && mi->in.op == ISA_LD_LOCAL && b->loop != PTX_NONE;
            out->stores += synthetic && mi->in.op == ISA_ST_LOCAL;
        }
    }
}

static struct outcome allocate_in(const char *text, size_t size, unsigned registers)
{
    struct ptx_options options;
    struct ptx_job *job = calloc(1, sizeof *job);
    jmp_buf stop;
    struct outcome out = { 0 };
    struct lw_error err;

    assert_non_null(job);
    lw_arena_init(&job->arena);
    const struct ptx_source source = { .name = "t.ptx", .text = text, .size = size };

    job->sources = &source;
    job->source_count = 1;
    job->err = &err;
    ptx_options_default(&options);
    options.vector_registers = registers;
    job->options = &options;
    job->stop = &stop;
    if (setjmp(stop) == 0) {
        struct ptx_module *module = ptx_parse(job);

        for (size_t f = 0; f < module->functions.count; f++) {
            struct ptx_unit *unit = PTX_NEW(job, struct ptx_unit);

            if (!module->functions.at[f].kernel)
                continue;
            ptx_unit_init(unit, job, module, &module->functions.at[f], NULL);
            ptx_unit_analyse(unit);
            ptx_layout(unit);
            ptx_barrier_verify(unit);
            ptx_alloc(unit);
            out.pressure = check_unit(unit);
            out.vregs = unit->vreg_count;
            out.local_bytes = unit->local_bytes;
            out.instructions = (unsigned)unit->code.count;
            count_transfers(unit, &out);
        }
    }
    if (job->status != LW_OK)
        fail_msg("%s", err.text);
    lw_arena_fini(&job->arena);
    free(job);
    return out;
}

static struct outcome allocate(const char *text, size_t size)
{
    return allocate_in(text, size, 0);
}

static void compiled_kernels_keep_what_they_need(void **state)
{
    static const char *const names[] = {
        "collatz_clang14.ptx", "collatz_clang19.ptx", "gemm_clang14.ptx", "gemm_clang19.ptx",
        "gemm_tiled_clang14.ptx", "gemm_tiled_clang19.ptx", "histogram_clang14.ptx",
        "histogram_clang19.ptx", "scan_clang14.ptx", "scan_clang19.ptx", "spinlock_clang14.ptx",
        "spinlock_clang19.ptx", "spmv_clang14.ptx", "spmv_clang19.ptx", "vadd_clang14.ptx",
        "vadd_clang19.ptx", "features.ptx",
    };
    const char *dir = getenv("srcdir");

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(names); i++) {
        struct lw_error err;
        char path[1024], *text;
        size_t size;

        snprintf(path, sizeof path, "%s/tests/ptx/data/%s", dir != NULL ? dir : ".", names[i]);
        if (lw_file_read(path, &text, &size, &err) != LW_OK)
            fail_msg("%s", err.text);
        struct outcome out = allocate(text, size);

        /* Linear scan over live ranges with holes needs only a few registers more than the number of values that are live at
         * the same time. */
        assert_in_range(out.vregs, 1, out.pressure + 8);
        assert_int_equal(out.local_bytes, strcmp(names[i], "features.ptx") == 0 ? 24 : 0);
        free(text);
    }
}

/* Generates a program with ifs, register pairs and predicates, in which @live values are live up to the end. */
static void make_pressure(struct lw_buffer *b, unsigned count, unsigned live, unsigned preds)
{
    uint64_t x = 88172645463325252u;

    lw_buffer_init(b);
    lw_printf(&b->sink, ".version 7.0\n.target sm_75\n.address_size 64\n"
                        ".entry k(.param .u64 p) {\n.reg .pred %%p<%u>; .reg .b32 %%r<%u>;\n"
                        ".reg .b64 %%rd<%u>, %%b;\nld.param.u64 %%b,[p];\nmov.u32 %%r0,%%tid.x;\n"
                        "cvt.u64.u32 %%rd0,%%r0;\n",
              preds + 1, count + 1, count + 1);
    for (unsigned k = 1; k <= preds; k++)
        lw_printf(&b->sink, "setp.gt.u32 %%p%u,%%r0,%u;\n", k, k * 3);
    for (unsigned i = 1; i < count; i++) {
        unsigned low = i > live ? i - live : 0;

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        lw_printf(&b->sink, "mad.lo.s32 %%r%u,%%r%u,%%r%u,%u;\n", i, low + (unsigned)(x % (i - low)),
                  low + (unsigned)(x >> 20) % (i - low), i);
        if (i % 9 == 0)
            lw_printf(&b->sink, "add.s64 %%rd%u,%%rd%u,%%b;\n", i / 9, i / 9 - 1);
        if (i % 13 == 0 && preds != 0)
            lw_printf(&b->sink, "@%%p%u bra L%u;\nadd.s32 %%r%u,%%r%u,%%r%u;\nL%u:\n",
                      i % preds + 1, i, i, i, low, i);
    }
    for (unsigned i = count > live ? count - live : 0; i < count; i++)
        lw_printf(&b->sink, "st.global.u32 [%%b+%u],%%r%u;\n", i * 4, i);
    lw_printf(&b->sink, "st.global.u64 [%%b],%%rd%u;\nret; }\n", (count - 1) / 9);
}

static void what_does_not_fit_goes_to_local_memory(void **state)
{
    struct lw_buffer text;
    struct outcome out;

    (void)state;
    make_pressure(&text, 900, 200, 3);
    out = allocate(text.text, text.size);
    assert_int_equal(out.local_bytes, 0);
    lw_buffer_fini(&text);
    make_pressure(&text, 1500, 400, 20); /* predicates spill, too */
    out = allocate(text.text, text.size);
    assert_true(out.local_bytes >= 4 * (400 - 255));
    assert_in_range(out.vregs, 200, ISA_VREG_COUNT);
    lw_buffer_fini(&text);
}

/* Generates a program in which twenty values are live from the start to the end. Each of three loops uses ten of them. */
static void make_loops(struct lw_buffer *b)
{
    lw_buffer_init(b);
    lw_put(&b->sink, ".version 7.0\n.target sm_75\n.address_size 64\n"
                     ".entry k(.param .u64 p, .param .u32 n) {\n.reg .pred %p<3>; .reg .b32 %r<40>;\n"
                     ".reg .b64 %rd<4>;\nld.param.u64 %rd1,[p]; ld.param.u32 %r31,[n];\n"
                     "mov.u32 %r30,%tid.x; mul.wide.u32 %rd2,%r30,128; add.s64 %rd1,%rd1,%rd2;\n");
    for (unsigned i = 0; i < 20; i++)
        lw_printf(&b->sink, "ld.global.u32 %%r%u,[%%rd1+%u];\n", i, i * 4);
    lw_put(&b->sink, "mov.u32 %r33,0;\n");
    for (unsigned loop = 0; loop < 3; loop++) {
        lw_printf(&b->sink, "mov.u32 %%r32,0;\nL%u:\n", loop);
        for (unsigned i = 0; i < 30; i++)
            lw_printf(&b->sink, "mad.lo.s32 %%r33,%%r33,5,%%r%u;\n", loop % 2 * 10 + i % 10);
        lw_printf(&b->sink, "add.s32 %%r32,%%r32,1;\nsetp.lt.u32 %%p1,%%r32,%%r33;\n@%%p1 bra L%u;\n",
                  loop);
    }
    for (unsigned i = 0; i < 20; i++)
        lw_printf(&b->sink, "st.global.u32 [%%rd1+%u],%%r%u;\n", i * 4, i);
    lw_put(&b->sink, "st.global.u32 [%rd1+100],%r33;\nret; }\n");
}

static void loops_load_what_lies_in_memory_before_they_begin(void **state)
{
    struct lw_buffer text;
    struct outcome out;

    (void)state;
    make_loops(&text);
    out = allocate_in(text.text, text.size, 20);
    assert_in_range(out.vregs, 14, 20);
    assert_in_range(out.stores, 4, 20); /* some values are spilled, although each is used in a loop */
    assert_int_equal(out.loads_in_loops, 0);
    lw_buffer_fini(&text);
}

/* Each of 50 values has four consecutive uses, which are far from the definition of the value. */
static void uses_that_follow_each_other_share_a_load(void **state)
{
    struct lw_buffer text;
    struct outcome out;

    (void)state;
    lw_buffer_init(&text);
    lw_put(&text.sink, ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) {\n"
                       ".reg .b32 %r<70>; .reg .b64 %rd<4>;\nld.param.u64 %rd1,[p];\n"
                       "mov.u32 %r60,%tid.x; mul.wide.u32 %rd2,%r60,4; add.s64 %rd1,%rd1,%rd2;\n");
    for (unsigned i = 0; i < 50; i++)
        lw_printf(&text.sink, "ld.global.u32 %%r%u,[%%rd1+%u];\n", i, i * 4);
    for (unsigned i = 0; i < 200; i++)
        lw_printf(&text.sink, "mad.lo.s32 %%r60,%%r60,3,%%r%u;\n", i / 4);
    lw_put(&text.sink, "st.global.u32 [%rd1],%r60;\nret; }\n");
    out = allocate_in(text.text, text.size, 20);
    assert_in_range(out.stores, 30, 50);
    assert_in_range(out.loads, out.stores - 1, out.stores + 1);
    lw_buffer_fini(&text);
}

/* .maxnreg must limit the registers of a kernel. A kernel with calls must also follow docs/reference/abi.md. */
static void maxnreg_is_honoured(void **state)
{
    struct lw_buffer text, limited;
    const char *body;

    (void)state;
    make_loops(&text);
    body = strchr(text.text, '{');
    lw_buffer_init(&limited);
    lw_printf(&limited.sink, "%.*s.maxnreg 20 %s", (int)(body - text.text), text.text, body);
    assert_in_range(allocate(text.text, text.size).vregs, 22, 40);
    assert_in_range(allocate(limited.text, limited.size).vregs, 14, 20);
    lw_buffer_fini(&text);
    lw_buffer_fini(&limited);
}

static void copies_of_loop_variables_cost_nothing(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p, .param .u32 n) {\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>;\nld.param.u64 %rd1,[p];\n"
        "ld.param.u32 %r1,[n]; mov.u32 %r2,0; mov.u32 %r3,0;\n"
        "L: add.s32 %r4,%r2,1; mul.lo.s32 %r5,%r3,3; mov.u32 %r2,%r4; mov.u32 %r3,%r5;\n"
        "setp.lt.u32 %p1,%r4,%r1;\n@%p1 bra L;\nst.global.u32 [%rd1],%r5;\nret; }\n";
    struct isa_object *object;
    struct lw_error err;
    struct lw_buffer out;
    const char *loop;

    (void)state;
    assert_int_equal(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), LW_OK);
    lw_buffer_init(&out);
    isa_disassemble(object, &out.sink);
    loop = strstr(out.text, "s_add_u32"); /* the first instruction after the label */
    assert_non_null(loop);
    /* The loop must consist of an addition, a multiplication, a comparison and a branch, without a move. */
    assert_non_null(strstr(loop, "s_bra"));
    assert_true(strstr(loop, "mov") == NULL || strstr(loop, "mov") > strstr(loop, "s_bra"));
    lw_buffer_fini(&out);
    isa_object_destroy(object);
}

static void a_copy_that_changes_leaves_its_source_alone(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p) {\n"
        ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\nld.param.u64 %rd1,[p];\n"
        "mov.u32 %r1,%tid.x; cvt.u64.u32 %rd2,%r1; setp.gt.u32 %p1,%r1,255;\n@%p1 bra A;\n"
        "mov.u64 %rd3,%rd2;\nL: st.global.u64 [%rd1],%rd3; add.s64 %rd3,%rd3,7;\n"
        "setp.lt.u64 %p2,%rd3,256;\n@%p2 bra L;\nA: st.global.u64 [%rd1+8],%rd2;\nret; }\n";

    (void)state;
    (void)allocate(text, strlen(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels_keep_what_they_need),
        cmocka_unit_test(what_does_not_fit_goes_to_local_memory),
        cmocka_unit_test(loops_load_what_lies_in_memory_before_they_begin),
        cmocka_unit_test(uses_that_follow_each_other_share_a_load),
        cmocka_unit_test(maxnreg_is_honoured),
        cmocka_unit_test(copies_of_loop_variables_cost_nothing),
        cmocka_unit_test(a_copy_that_changes_leaves_its_source_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
