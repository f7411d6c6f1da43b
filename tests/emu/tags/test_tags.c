/* SPDX-License-Identifier: Apache-2.0 */
/* Tests uniform and affine tags: the published table, the exact algebra, closed forms of compares, and shadow mode on
 * whole kernels. The expected values come from docs/explanation/uniform-affine.md. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/emu/tags/tag_run.h"

/* ---- the published table -------------------------------------------------------------- */

static void the_conservative_rules_are_those_of_the_published_table(void **state)
{
    /* rows and columns are U, A, V; for << the row is the amount and the column the shifted value */
    static const char *const op[3] = {"v_add_u32", "v_mul_u32", "v_shl_b32"};
    static const uint8_t want[3][3][3] = {{{U, A, V}, {A, V, V}, {V, V, V}},
                                          {{U, V, V}, {V, V, V}, {V, V, V}},
                                          {{U, A, V}, {V, V, V}, {V, V, V}}};
    struct emu_config config = shadow(EMU_TAG_RULES_TABLE);

    (void)state;
    for (unsigned o = 0; o < 3; o++)
        for (unsigned x = 0; x < 3; x++)
            for (unsigned y = 0; y < 3; y++) {
                char text[600];
                snprintf(text, sizeof text,
                         KERNEL "v_mov_b32 v0, 3\nv_s2r v1, %%laneid\nv_mul_u32 v2, v1, v1\n"
                                "%s v3, v%u, v%u\n" END,
                         op[o], o == 2 ? y : x, o == 2 ? x : y);
                struct run *r = run_one(&config, text);
                expect(r, 0, U, 3, 0);
                expect(r, 1, A, 0, 1);
                expect(r, 2, V, 0, 0);
                if (tag_at(r, 3).kind != want[o][x][y])
                    fail_msg("%s of %c and %c gives %c", op[o], "UAV"[x], "UAV"[y],
                             "UAV"[tag_at(r, 3).kind]);
                end(r);
            }
}

/* ---- instructions that create tags ----------------------------------------------------------------- */

static void thread_indices_are_tagged_by_the_shape_of_the_block(void **state)
{
    static const struct {
        uint32_t block[3];
        unsigned warp;
        struct { uint8_t kind; uint32_t base; } x, y, z;
    } shape[] = {
        {{32, 1, 1}, 0, {A, 0}, {U, 0}, {U, 0}},
        {{64, 2, 1}, 0, {A, 0}, {U, 0}, {U, 0}},
        {{64, 2, 1}, 1, {A, 32}, {U, 0}, {U, 0}},
        {{64, 2, 1}, 2, {A, 0}, {U, 1}, {U, 0}},
        {{64, 2, 1}, 3, {A, 32}, {U, 1}, {U, 0}},
        {{16, 2, 1}, 0, {V, 0}, {V, 0}, {U, 0}},
        {{48, 2, 1}, 0, {A, 0}, {U, 0}, {U, 0}},
        {{48, 2, 1}, 1, {V, 0}, {V, 0}, {U, 0}},
        {{48, 2, 1}, 2, {A, 16}, {U, 1}, {U, 0}},
        {{40, 2, 1}, 1, {V, 0}, {V, 0}, {U, 0}},
        {{40, 2, 1}, 2, {A, 24}, {U, 1}, {U, 0}},
        {{1, 64, 1}, 1, {U, 0}, {A, 32}, {U, 0}},
        {{1, 40, 2}, 1, {U, 0}, {V, 0}, {V, 0}},
        {{1, 1, 48}, 1, {U, 0}, {U, 0}, {A, 32}},
        {{8, 4, 3}, 2, {V, 0}, {V, 0}, {U, 2}},
        {{1, 1, 1}, 0, {U, 0}, {U, 0}, {U, 0}},
    };
    static const uint32_t grid[3] = {1, 1, 1};
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(shape); i++) {
        struct run *r = run_kernel(&config,
                                   KERNEL "v_s2r v0, %tid.x\nv_s2r v1, %tid.y\n"
                                          "v_s2r v2, %tid.z\n" END,
                                   grid, shape[i].block, 0, shape[i].warp, 0, 0);
        expect(r, 0, shape[i].x.kind, shape[i].x.base, shape[i].x.kind == A);
        expect(r, 1, shape[i].y.kind, shape[i].y.base, shape[i].y.kind == A);
        expect(r, 2, shape[i].z.kind, shape[i].z.base, shape[i].z.kind == A);
        end(r);
    }
}

static void what_is_equal_in_all_lanes_is_uniform_and_clocks_are_not(void **state)
{
    static const uint32_t grid[3] = {4, 3, 2}, block[3] = {32, 2, 1};
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_kernel(&config,
                               KERNEL "v_s2r v0, %ctaid.x\nv_s2r v0, %ctaid.y\n"
                                      "v_s2r v0, %ntid.x\nv_s2r v0, %nctaid.z\n"
                                      "v_s2r v0, %warpid\nv_mov_b32 v0, c[b]\n"
                                      "v_mov_b32 v0, 77\ns_mov_b32 s0, 8\nv_mov_b32 v0, s0\n"
                                      "v_mov_b32 v0, vz\nv_add_u32 v0, v3, 1\n"
                                      "v_s2r v0, %clock\nv_s2r v0, %lanemask_lt\n" END,
                               grid, block, 7, 1, 0, 123);

    (void)state;
    expect(r, 0, U, 3, 0);
    expect(r, 1, U, 1, 0);
    expect(r, 2, U, 32, 0);
    expect(r, 3, U, 2, 0);
    expect(r, 4, U, 1, 0);
    expect(r, 5, U, 123, 0);
    expect(r, 6, U, 77, 0);
    expect(r, 8, U, 8, 0);
    expect(r, 9, U, 0, 0);
    expect(r, 10, U, 1, 0); /* a register that was never written is 0 */
    expect(r, 11, V, 0, 0);
    expect(r, 12, V, 0, 0);
    end(r);
}

static void rows_of_a_block_fold_when_the_rules_say_so(void **state)
{
    static const uint32_t grid[3] = {1, 1, 1}, block[3] = {16, 4, 1};
    struct emu_config config = shadow(EMU_TAG_RULES_FOLD);
    struct run *r = run_kernel(&config,
                               KERNEL "v_s2r v0, %tid.x\nv_s2r v1, %tid.y\n"
                                      "v_mad_u32 v2, v1, 100, v0\nv_mulwide_u32 v2:3, v2, 4\n"
                                      "v_add_u64 v2:3, v2:3, c[out]\nv_s2r v4, %laneid\n" END,
                               grid, block, 0, 1, 0, 0);
    struct emu_tag t = tag_at(r, 0);

    (void)state;
    assert_int_equal(t.fold, 16);
    assert_true(t.kind == A && t.base == 0 && t.stride == 1 && t.rise == 0);
    t = tag_at(r, 1);
    assert_true(t.kind == A && t.base == 2 && t.stride == 0 && t.rise == 1);
    t = tag_at(r, 2);
    assert_true(t.kind == A && t.base == 200 && t.stride == 1 && t.rise == 100);
    t = tag_at(r, 4);
    assert_true(t.pair && t.pair_base == r->out + 800 && t.pair_stride == 4 &&
                t.pair_rise == 400);
    t = tag_at(r, 5);
    assert_true(t.kind == A && t.base == 0 && t.stride == 1 && t.rise == 16);
    end(r);
}

static void a_load_of_one_location_is_uniform_but_for_local_and_volatile_ones(void **state)
{
    static const char text[] =
        ".kernel k\n.param ptr.global out\n.param u64 a\n.param u32 b\n.local 16\n.shared 256\n"
        "v_mov_b64 v0:1, c[out]\nv_s2r v2, %laneid\nv_mov_b32 v3, 8\n"
        "ld.global.b32 v4, [v0:1]\n"          /* 3 */
        "ld.global.volatile.b32 v4, [v0:1]\n" /* 4 */
        "ld.shared.b32 v4, [v3]\n"            /* 5 */
        "ld.local.b32 v4, [v3]\n"             /* 6 */
        "ld.const.b32 v4, c[0][v3]\n"         /* 7 */
        "v_mulwide_u32 v6:7, v2, 4\nv_add_u64 v6:7, v6:7, v0:1\n"
        "ld.global.b32 v4, [v6:7]\n"          /* 10 */
        "v_mov_b32 v8, 0\nv_mov_b32 v9, 0x200\n" /* the local aperture */
        "ld.generic.b32 v4, [v8:9]\n"         /* 13 */
        "ld.generic.b32 v4, [v0:1]\n"         /* 14 */
        "ld.global.v2.b32 v4:5, [v0:1]\n"     /* 15 */
        "exit\n.end\n";
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config, text);

    (void)state;
    expect(r, 3, U, 0, 0);
    expect(r, 4, V, 0, 0);
    expect(r, 5, U, 0, 0);
    expect(r, 6, V, 0, 0);
    expect(r, 7, U, 0, 0);
    expect(r, 10, V, 0, 0);
    expect(r, 13, V, 0, 0);
    expect(r, 14, U, 0, 0);
    expect(r, 15, U, 0, 0);
    assert_int_equal(r->stats.tags.addresses[U], 8); /* the count includes the local load, since the offset of the load is
                                                      * equal in all lanes */
    assert_int_equal(r->stats.tags.addresses[A], 1);
    end(r);
    config.tag_rules = EMU_TAG_RULES_TABLE;
    r = run_one(&config, text);
    expect(r, 3, V, 0, 0);
    expect(r, 5, U, 0, 0);
    expect(r, 7, U, 0, 0);
    end(r);
}

/* ---- the exact algebra ------------------------------------------------------------------------ */

static struct emu_affine a32(uint32_t base, int32_t stride)
{
    return emu_affine_make(32, base, (uint64_t)(int64_t)stride, 0);
}
/** Compute the tag of the result for sources of 32 bits with 32 live lanes. */
static enum emu_tag_how ask(enum isa_tag_rule rule, unsigned bits, struct emu_affine a,
                            struct emu_affine b, struct emu_affine *out)
{
    struct emu_tag_query q = {.rule = rule, .rules = EMU_TAG_RULES_EXACT, .fold = 32,
                              .live = UINT32_MAX, .bits = bits, .source_bits = {32, 32, 0},
                              .source = {a, b}, .r = -1};
    return emu_tag_infer(&q, out);
}
static void expect_affine(const struct emu_affine *v, unsigned kind, uint64_t base,
                         int64_t stride)
{
    if (v->kind != kind || (kind != V && (v->base != base || v->stride != stride)))
        fail_msg("%c(0x%" PRIx64 ", %" PRId64 "), expected %c(0x%" PRIx64 ", %" PRId64 ")",
                 "UAV"[v->kind], v->base, v->stride, "UAV"[kind], base, stride);
}

static void the_algebra_wraps_as_the_machine_does(void **state)
{
    struct emu_affine v;

    (void)state;
    ask(ISA_TAG_ADD, 32, a32(0xfffffff0, 1), a32(0x20, 0), &v);
    expect_affine(&v, A, 0x10, 1);
    ask(ISA_TAG_MUL, 32, a32(0, 1), a32(0x80000000, 0), &v);
    expect_affine(&v, A, 0, INT32_MIN);
    ask(ISA_TAG_SHL, 32, a32(3, 0x40000000), a32(2, 0), &v);
    expect_affine(&v, U, 12, 0);
    ask(ISA_TAG_SHL, 32, a32(5, 4), a32(30, 0), &v);
    expect_affine(&v, U, 0x40000000, 0);
    ask(ISA_TAG_SHL, 32, a32(5, 4), a32(32, 0), &v);
    expect_affine(&v, U, 0, 0);
    ask(ISA_TAG_SHL, 32, a32(1, 0), a32(0, 1), &v);
    expect_affine(&v, V, 0, 0);
    ask(ISA_TAG_SUB, 32, a32(7, 4), a32(2, 4), &v);
    expect_affine(&v, U, 5, 0);
    ask(ISA_TAG_NOT, 32, v, a32(7, 4), &v);
    expect_affine(&v, A, 0xfffffff8, -4);
    ask(ISA_TAG_NEG, 32, v, a32(7, 4), &v);
    expect_affine(&v, A, 0xfffffff9, -4);
    ask(ISA_TAG_SHR_S, 32, a32(64, -4), a32(2, 0), &v);
    expect_affine(&v, A, 16, -1);
    /* the value wraps below 0 at lane 17, so the lanes differ and the result is V */
    assert_int_equal(ask(ISA_TAG_SHR, 32, a32(64, -4), a32(2, 0), &v), EMU_TAG_EVALUATE);
    assert_int_equal(ask(ISA_TAG_SHR, 32, a32(257, 8), a32(3, 0), &v), EMU_TAG_KNOWN);
    expect_affine(&v, A, 32, 1);
    assert_int_equal(ask(ISA_TAG_SHR, 32, a32(0, 1), a32(5, 0), &v), EMU_TAG_EVALUATE);
    ask(ISA_TAG_MULWIDE_S, 64, a32(0xfffffffe, 1), a32(4, 0), &v);
    expect_affine(&v, A, (uint64_t)-8, 4);
    ask(ISA_TAG_MULWIDE, 64, a32(0xfffffffe, 1), a32(4, 0), &v);
    expect_affine(&v, V, 0, 0);
    ask(ISA_TAG_ADD, 32, a32(0, 1), emu_affine_v(), &v);
    expect_affine(&v, V, 0, 0);
    ask(ISA_TAG_MUL, 32, a32(0, 1), a32(0, 1), &v);
    expect_affine(&v, V, 0, 0);
}

/** Strides of 64 bits also wrap when a pair is split into its halves. */
static void halves_of_the_widest_strides(void **state)
{
    struct emu_affine pair = emu_affine_make(64, 0x580000000, 0x7ffffffffffff140, 0), high;

    (void)state;
    high = emu_affine_high(&pair, 32, UINT32_MAX);
    expect_affine(&high, A, 5, INT32_MIN);
}

static void widening_keeps_what_does_not_wrap(void **state)
{
    struct emu_tag_query q = {.rule = ISA_TAG_CVT, .rules = EMU_TAG_RULES_EXACT, .fold = 32,
                              .live = UINT32_MAX, .bits = 64, .source_bits = {0, 32, 0},
                              .source = {{0}, a32(0x7ffffff0, 1)}, .dtype = ISA_DT_S64,
                              .stype = ISA_ST_S32};
    struct emu_affine v;

    (void)state;
    emu_tag_infer(&q, &v); /* the source wraps at lane 16 */
    expect_affine(&v, V, 0, 0);
    q.live = 0xffff; /* lane 16 and the lanes above it have exited */
    emu_tag_infer(&q, &v);
    expect_affine(&v, A, 0x7ffffff0, 1);
    q.live = UINT32_MAX;
    q.dtype = ISA_DT_U64;
    q.stype = ISA_ST_U32;
    emu_tag_infer(&q, &v);
    expect_affine(&v, A, 0x7ffffff0, 1);
    q.dtype = ISA_DT_F32;
    emu_tag_infer(&q, &v);
    expect_affine(&v, V, 0, 0);
}

static void shifts_evaluate_when_the_closed_form_does_not_hold(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config, KERNEL "v_s2r v0, %laneid\nv_shr_u32 v1, v0, 5\n"
                                            "v_shr_u32 v1, v0, 4\nv_mul_u32 v2, v0, -4\n"
                                            "v_add_u32 v2, v2, 64\nv_shr_s32 v1, v2, 2\n"
                                            "v_shr_u32 v1, v2, 2\nv_mulhi_u32 v1, v0, 3\n"
                                            "v_mulhi_s32 v1, v2, 3\n" END);
    (void)state;
    expect(r, 1, U, 0, 0);
    expect(r, 2, V, 0, 0);
    expect(r, 5, A, 16, -1);
    expect(r, 6, V, 0, 0);
    expect(r, 7, U, 0, 0);
    expect(r, 8, V, 0, 0);
    end(r);
}

static void a_select_is_its_source_when_the_lanes_agree(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config,
                            KERNEL "v_s2r v0, %laneid\nv_mov_b32 v1, 9\n"
                                   "v_setp_u32.lt p0, v0, 40\nv_selp_b32 v2, v0, v1, p0\n"
                                   "v_selp_b32 v2, v0, v1, !p0\nv_setp_u32.lt p0, v0, 4\n"
                                   "v_selp_b32 v2, v0, v1, p0\nv_selp_b32 v2, v0, v0, p0\n" END);
    (void)state;
    expect(r, 3, A, 0, 1);
    expect(r, 4, U, 9, 0);
    expect(r, 6, V, 0, 0);
    expect(r, 7, A, 0, 1);
    end(r);
}

/* ---- saxpy, instruction by instruction ----------------------------------------------------------- */

/* The kernel saxpy with n = 550, observed in warp 1 of block 2, with blocks of 256 threads. Parameter a is the address x. */
#define SAXPY                                                                                 \
    KERNEL "v_s2r v0, %ctaid.x\n"             /* 0 */                                         \
           "v_s2r v2, %tid.x\n"               /* 1 */                                         \
           "v_mov_b32 v3, 256\n"              /* 2 */                                         \
           "v_mad_u32 v0, v0, v3, v2\n"       /* 3 */                                         \
           "v_setp_s32.ge p0, v0, 550\n"      /* 4 */                                         \
           "@p0 exit\n"                       /* 5 */                                         \
           "v_shl_b32 v2, v0, 2\n"            /* 6 */                                         \
           "v_shr_u32 v0, v0, 30\n"           /* 7 */                                         \
           "v_addc_u32 v4, p0, v2, c[0][8], !pt\n" /* 8 */                                    \
           "v_addc_u32 v5, _, v0, c[0][12], p0\n"  /* 9 */                                    \
           "v_add_u64 v6:7, v4:5, 0\n"        /* 10 */                                        \
           "v_mov_b64 v8:9, c[out]\n" "v_s2r v10, %laneid\n"                                  \
           "v_madwide_u32 v8:9, v10, 8, v8:9\n" "st.global.v2.b32 [v8:9], v4:5\n"             \
           "ld.global.b32 v11, [v8:9]\n"      /* 15 */                                        \
           "v_fma_f32 v11, v11, v11, v11\n"   /* 16 */                                        \
           END

static struct run *run_saxpy(enum emu_tag_rules rules, uint64_t x)
{
    static const uint32_t grid[3] = {3, 1, 1}, block[3] = {256, 1, 1};
    struct emu_config config = shadow(rules);

    return run_kernel(&config, SAXPY, grid, block, 2, 1, x, 0);
}

static void saxpy_has_the_published_tags(void **state)
{
    const uint64_t x = UINT64_C(0x200000401000);
    struct run *r = run_saxpy(EMU_TAG_RULES_EXACT, x);

    (void)state;
    expect(r, 0, U, 2, 0);
    expect(r, 1, A, 32, 1);
    expect(r, 3, A, 544, 1);
    assert_int_equal(r->step[4].p0, 0xffffffc0);
    expect(r, 6, A, 2176, 4);
    expect(r, 7, U, 0, 0);
    expect(r, 8, A, (uint32_t)x + 2176, 4);
    expect(r, 9, U, (uint32_t)(x >> 32), 0);
    expect_pair(r, 10, x + 2176, 4);
    expect(r, 15, V, 0, 0);
    expect(r, 16, V, 0, 0);
    end(r);
    r = run_saxpy(EMU_TAG_RULES_TABLE, x);
    expect(r, 0, U, 2, 0);
    expect(r, 1, A, 32, 1);
    expect(r, 3, A, 544, 1);
    expect(r, 6, A, 2176, 4);
    expect(r, 7, V, 0, 0);
    expect(r, 8, A, (uint32_t)x + 2176, 4);
    expect(r, 9, V, 0, 0);
    expect(r, 15, V, 0, 0);
    end(r);
}

static void saxpy_has_the_tags_that_its_block_allows(void **state)
{
    static const uint32_t grid[3] = {3, 1, 1};
    static const struct {
        uint32_t block[3];
        unsigned warp;
        uint32_t first; /* the value of the index in lane 0 if the register is affine */
        unsigned index;
    } shape[] = {
        {{32, 1, 1}, 0, 512, A},  {{64, 2, 1}, 1, 512 + 32, A}, {{64, 2, 1}, 2, 512, A},
        {{16, 2, 1}, 0, 0, V},    {{48, 2, 1}, 0, 512, A},      {{48, 2, 1}, 1, 0, V},
        {{48, 2, 1}, 2, 512 + 16, A},
    };
    const uint64_t x = UINT64_C(0x200000401000);

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(shape); i++)
        for (unsigned rules = EMU_TAG_RULES_TABLE; rules <= EMU_TAG_RULES_EXACT; rules++) {
            struct emu_config config = shadow((enum emu_tag_rules)rules);
            bool exact = rules == EMU_TAG_RULES_EXACT;
            unsigned affine = shape[i].index;
            struct run *r = run_kernel(&config, SAXPY, grid, shape[i].block, 2, shape[i].warp, x, 0);
            expect(r, 0, U, 2, 0);
            expect(r, 1, affine, shape[i].first - 512, 1);
            expect(r, 3, affine, shape[i].first, 1);
            /* threads with an index below 550 continue, which are all lanes of the warp or some of them */
            expect(r, 6, affine, 4 * shape[i].first, 4);
            expect(r, 7, exact && affine == A ? U : V, 0, 0);
            expect(r, 8, affine, (uint32_t)x + 4 * shape[i].first, 4);
            expect(r, 9, exact && affine == A ? U : V, (uint32_t)(x >> 32), 0);
            if (exact && affine == A)
                expect_pair(r, 10, x + 4 * shape[i].first, 4);
            expect(r, 15, V, 0, 0);
            expect(r, 16, V, 0, 0);
            end(r);
        }
}

static void an_address_that_crosses_a_carry_is_still_an_affine_pair(void **state)
{
    const uint64_t x = UINT64_C(0x2000fffff770), first = x + 2176;
    struct run *r = run_saxpy(EMU_TAG_RULES_EXACT, x);

    (void)state;
    expect(r, 8, A, 0xfffffff0, 4);
    expect(r, 9, V, 0, 0);
    assert_int_equal(r->step[8].p0 & 0x3f, 0x30); /* lanes 4 and 5 carry */
    expect_pair(r, 10, first, 4);
    for (unsigned l = 0; l < 6; l++) {
        assert_int_equal(r->word[2 * l], (uint32_t)(first + 4 * l));
        assert_int_equal(r->word[2 * l + 1], (first + 4 * l) >> 32);
    }
    end(r);
}

static void a_multiplied_index_is_affine_by_the_exact_rules_only(void **state)
{
    static const char text[] = KERNEL "v_s2r v0, %tid.x\nv_mov_b32 v1, 4\n"
                                      "v_mov_b64 v2:3, c[out]\nv_mul_u32 v4, v0, v1\n"
                                      "v_mov_b32 v5, 0\nv_add_u64 v4:5, v4:5, v2:3\n"
                                      "ld.global.b32 v6, [v4:5]\nst.global.b32 [v4:5], v6\n" END;
    struct emu_config config = shadow(EMU_TAG_RULES_TABLE);
    struct run *r = run_one(&config, text);

    (void)state;
    assert_int_equal(r->stats.tags.addresses[A], 0);
    assert_int_equal(r->stats.tags.addresses[V], 2);
    end(r);
    config.tag_rules = EMU_TAG_RULES_EXACT;
    r = run_one(&config, text);
    assert_int_equal(r->stats.tags.addresses[A], 2);
    assert_int_equal(r->stats.tags.addresses[V], 0);
    end(r);
}

/* ---- compares ------------------------------------------------------------------------------------- */

static void closed_forms_of_compares_are_the_published_ones(void **state)
{
    static const struct {
        int64_t b, s, k;
        uint32_t lt, eq;
    } golden[] = {
        {544, 1, 550, 0x0000003f, 0x00000040}, {0, 4, 64, 0x0000ffff, 0x00010000},
        {0, -1, -5, 0xffffffc0, 0x00000020},   {100, 0, 100, 0, 0xffffffff},
        {-8, 2, 0, 0x0000000f, 0x00000010},    {0, 3, 10, 0x0000000f, 0},
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(golden); i++) {
        int64_t d = golden[i].k - golden[i].b, s = golden[i].s;
        assert_int_equal(emu_tag_compare(ISA_CMP_LT, d, s, 0, 32, 32), golden[i].lt);
        assert_int_equal(emu_tag_compare(ISA_CMP_EQ, d, s, 0, 32, 32), golden[i].eq);
    }
}

static bool holds(unsigned cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case ISA_CMP_EQ: return a == b;
    case ISA_CMP_NE: return a != b;
    case ISA_CMP_LT: return a < b;
    case ISA_CMP_LE: return a <= b;
    case ISA_CMP_GT: return a > b;
    default: return a >= b;
    }
}

static void closed_forms_agree_with_the_lanes(void **state)
{
    static const unsigned widths[] = {4, 8, 16, 32, 64};

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        for (unsigned fold = 2; fold <= widths[i]; fold *= 2)
            for (int64_t d = -70; d <= 70; d++)
                for (int64_t s = -9; s <= 9; s++)
                    for (unsigned cmp = 0; cmp < 6; cmp++) {
                        int64_t rise = fold < widths[i] ? (d * 7 + s * 3) % 11 : 0;
                        uint64_t want = 0;
                        for (unsigned l = 0; l < widths[i]; l++)
                            want |= (uint64_t)holds(cmp, s * (int)(l % fold) + rise * (int)(l / fold), d)
                                    << l;
                        if (emu_tag_compare(cmp, d, s, rise, fold, widths[i]) != want)
                            fail_msg("W %u, fold %u, d %d, s %d, rise %d, cmp %u", widths[i], fold,
                                     (int)d, (int)s, (int)rise, cmp);
                    }
}

static void compares_that_wrap_fall_back_to_the_lanes(void **state)
{
    static const struct {
        uint32_t b, s, k;
        bool is_signed, closed, equal;
        unsigned width;
        uint64_t want;
    } vector[] = {
        {0x7ffffff0, 1, 0, true, false, false, 32, 0xffff0000},
        {0xfffffff0, 1, 8, true, true, false, 32, 0x00ffffff},
        {0xfffffff0, 1, 8, false, false, false, 32, 0x00ff0000},
        {0, 0x08000000, 0x40000000, true, false, false, 32, 0xffff00ff},
        {0, 0x08000000, 0x40000000, true, false, true, 64, UINT64_C(1) << 8 | UINT64_C(1) << 40},
    };

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(vector); i++) {
        struct emu_affine a = a32(vector[i].b, (int32_t)vector[i].s), b = a32(vector[i].k, 0);
        uint64_t lanes = 0;
        unsigned cmp = vector[i].equal ? ISA_CMP_EQ : ISA_CMP_LT, width = vector[i].width;
        assert_int_equal(emu_tag_compare_values(cmp, &a, &b, 32, vector[i].is_signed, width,
                                                width, lw_mask(width), &lanes),
                         vector[i].closed);
        if (vector[i].closed)
            assert_int_equal(lanes, vector[i].want);
        /* the predicate that the machine computes must be true in the same lanes */
        char text[600];
        struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
        config.warp_width = width;
        snprintf(text, sizeof text,
                 KERNEL "v_s2r v0, %%tid.x\nv_mul_u32 v0, v0, 0x%x\nv_add_u32 v0, v0, 0x%x\n"
                        "v_setp_%c32.%s p0, v0, 0x%x\n" END,
                 vector[i].s, vector[i].b, vector[i].is_signed ? 's' : 'u',
                 vector[i].equal ? "eq" : "lt", vector[i].k);
        struct run *r = run_one(&config, text);
        assert_int_equal(r->step[3].p0, vector[i].want);
        end(r);
    }
}

/* ---- partial writes ---------------------------------------------------------------------------------- */

/* Sets v0 to an affine value with base 0 and stride 1, v1 to one with base 100 and stride 4, and v2 and v3 to the uniform
 * values 9 and 1. Then the lower half of the warp adds v3 to v0. */
#define DIVERGE                                                                               \
    ".kernel k\n"                                                                             \
    "v_s2r v0, %laneid\nv_mul_u32 v1, v0, 4\nv_add_u32 v1, v1, 100\n"                         \
    "v_mov_b32 v2, 9\nv_mov_b32 v3, 1\nv_setp_u32.ge p0, v0, 16\n"                            \
    "bssy b0, join\n@p0 bra join, b0\n"                                                       \
    "v_add_u32 v0, v0, v3\n" /* 8 */                                                          \
    "join: bsync b0\nv_mov_b32 v2, v0\n" /* 10 */ "v_mov_b32 v0, v1\n" /* 11 */               \
    "exit\n.end\n"

static void lazy_expansion_expands_what_is_written_and_eager_all(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config, DIVERGE);

    (void)state;
    assert_int_equal(r->stats.tags.expansions, 1);
    expect(r, 8, V, 0, 0);
    expect(r, 10, V, 0, 0);  /* tags are not detected from values after the join */
    expect(r, 11, A, 100, 4); /* a write of all lanes gives the register a tag again */
    end(r);
    config.tag_expansion = EMU_TAG_EAGER;
    r = run_one(&config, DIVERGE);
    assert_int_equal(r->stats.tags.expansions, 4);
    for (unsigned i = 0; i < r->count; i++)
        if (r->step[i].index == 7)
            assert_int_equal(r->step[i].expansions, 4);
    expect(r, 8, V, 0, 0);
    expect(r, 11, V, 0, 0); /* eager expansion has expanded v1, too */
    end(r);
}

static void two_sides_that_write_uniform_values_leave_a_vector(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config,
                            KERNEL "v_s2r v0, %laneid\nv_and_b32 v1, v0, 1\n"
                                   "v_setp_u32.eq p0, v1, 0\nbssy b0, join\n@p0 bra other, b0\n"
                                   "v_mov_b32 v5, 3\nbra join\nother: v_mov_b32 v5, 4\n"
                                   "join: bsync b0\nv_mov_b32 v6, v5\n"
                                   "v_mov_b64 v2:3, c[out]\nv_madwide_u32 v2:3, v0, 4, v2:3\n"
                                   "st.global.b32 [v2:3], v6\n" END);
    (void)state;
    expect(r, 5, V, 0, 0);
    expect(r, 7, V, 0, 0);
    expect(r, 9, V, 0, 0);
    for (unsigned l = 0; l < 32; l++)
        assert_int_equal(r->word[l], l % 2 ? 3 : 4);
    end(r);
}

static void partial_writes_follow_the_mask_and_not_the_values(void **state)
{
    static const struct {
        const char *write;
        unsigned kind, expansions;
        uint32_t base;
        int32_t stride;
        uint64_t mask;
    } vector[] = {
        {"v_mov_b32 v1, 0", A, 0, 0, 1, 0},
        {"v_mov_b32 v1, 0", V, 1, 0, 0, 1}, /* lane 0 already contains 0 */
        {"v_mov_b32 v1, v0", A, 0, 0, 1, 0xffff0000},
        {"v_mov_b32 v1, 7", U, 0, 7, 0, 0xffffffff},
    };
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(vector); i++) {
        char text[400];
        snprintf(text, sizeof text,
                 KERNEL "v_s2r v0, %%laneid\nv_mov_b32 v1, v0\nv_mov_b32 v2, 1\n"
                        "v_shl_b32 v2, v2, v0\nv_and_b32 v2, v2, 0x%x\n"
                        "v_setp_u32.ne p1, v2, 0\n@p1 %s\n" END,
                 (uint32_t)vector[i].mask, vector[i].write);
        struct run *r = run_one(&config, text);
        assert_int_equal(r->step[6].effective, vector[i].mask);
        expect(r, 6, vector[i].kind, vector[i].base, vector[i].stride);
        assert_int_equal(r->stats.tags.expansions, vector[i].expansions);
        end(r);
    }
}

static void lanes_that_exit_make_a_partial_write_full(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config,
                            KERNEL "v_s2r v0, %laneid\nv_mov_b32 v1, v0\n"
                                   "v_setp_u32.ge p1, v0, 6\n@p1 exit\n"
                                   "v_setp_u32.le p2, v0, 5\nv_setp_u32.lt p3, v0, 5\n"
                                   "@p2 v_mov_b32 v1, 7\n@p3 v_mov_b32 v1, 5\n"
                                   "v_mov_b64 v2:3, c[out]\nv_madwide_u32 v2:3, v0, 4, v2:3\n"
                                   "st.global.b32 [v2:3], v1\n" END);
    static const uint32_t want[7] = {5, 5, 5, 5, 5, 7, 0};

    (void)state;
    expect(r, 6, U, 7, 0);
    expect(r, 7, V, 0, 0);
    for (unsigned l = 0; l < 7; l++)
        assert_int_equal(r->word[l], want[l]);
    end(r);
}

static void exec_makes_writes_partial(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config, KERNEL "v_mov_b32 v1, 3\ns_mov_b64 exec, 0xff\n"
                                            "v_mov_b32 v1, 4\ns_mov_b64 exec, -1\n"
                                            "v_mov_b32 v1, 4\n" END);
    (void)state;
    expect(r, 0, U, 3, 0);
    expect(r, 2, V, 0, 0);
    expect(r, 4, U, 4, 0);
    end(r);
}

/* ---- counts, debuggers --------------------------------------------------------------------------------- */

static void a_uniform_kernel_does_one_lane_operation_an_instruction(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct run *r = run_one(&config, KERNEL "v_mov_b32 v0, 3\nv_add_u32 v1, v0, 4\n"
                                            "v_mul_f32 v2, v1, v0\nv_setp_u32.lt p0, v0, v1\n"
                                            "v_mad_u32 v3, v0, v1, v2\n" END);
    (void)state;
    assert_int_equal(r->stats.tags.instructions[U], 5);
    assert_int_equal(r->stats.tags.instructions[A], 0);
    assert_int_equal(r->stats.tags.instructions[V], 0);
    assert_int_equal(r->stats.tags.lanes_saved, 5 * 31);
    assert_int_equal(r->stats.tags.writes[U], 4);
    assert_int_equal(r->stats.tags.reads[U], 1 + 2 + 2 + 3);
    end(r);
}

/* Return the tag of register @reg before or after the event's instruction, or V if the event does not list the register. */
static struct emu_tag event_tag(const struct emu_event *ev, unsigned reg, bool after)
{
    for (unsigned i = 0; i < ev->tag_count; i++)
        if (ev->tags[i].reg == reg)
            return after ? ev->tags[i].after : ev->tags[i].before;
    return (struct emu_tag){.kind = V};
}

static void a_debugger_that_writes_a_lane_makes_its_register_a_vector(void **state)
{
    static const char text[] = KERNEL "v_mov_b32 v0, 3\nnop\nv_mov_b32 v1, v0\n" END;
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct emu_machine *machine;
    struct emu_program *program;
    struct emu_engine *engine;
    struct emu_event ev;
    struct emu_stop stop;
    struct emu_stats stats;
    struct isa_object *object;
    struct emu_tag tag;
    struct lw_error err;

    (void)state;
    check(emu_machine_create(&config, &machine, &err), &err);
    check(isa_assemble("tags.s", text, strlen(text), &object, &err), &err);
    check(emu_program_load(machine, object, &program, &err), &err);
    check(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0],
                                .grid = {1, 1, 1}, .block = {32, 1, 1}};
    check(emu_grid_launch(machine, &launch, NULL, &err), &err);
    check(engine->ops->step(engine, &ev, &stop, &err), &err);
    assert_true(emu_reg_tag(ev.core, ev.slot, 0, 0, &tag));
    assert_int_equal(tag.kind, U);
    assert_int_equal(event_tag(&ev, 0, false).base, 0);
    assert_int_equal(event_tag(&ev, 0, true).base, 3);
    assert_int_equal(event_tag(&ev, 1, true).kind, V); /* the event does not list v1 */
    assert_true(emu_reg_write((struct emu_core *)(uintptr_t)ev.core, ev.slot, 0, ISA_REG_V, 0, 5,
                              8, &err));
    assert_true(emu_reg_tag(ev.core, ev.slot, 0, 0, &tag));
    assert_int_equal(tag.kind, V);
    assert_false(emu_reg_tag(ev.core, ev.slot, 0, 200, &tag));
    check(engine->ops->step(engine, &ev, &stop, &err), &err);
    check(engine->ops->step(engine, &ev, &stop, &err), &err);
    assert_int_equal(event_tag(&ev, 1, true).kind, V);
    emu_stats_get(machine, &stats);
    assert_int_equal(stats.tags.mismatches, 0);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

static void with_the_tags_off_events_say_nothing_of_them(void **state)
{
    struct emu_config config = shadow(EMU_TAG_RULES_EXACT);
    struct emu_event ev = {0};

    (void)state;
    config.tags = EMU_TAGS_OFF;
    struct run *r = run_one(&config, KERNEL "v_mov_b32 v0, 3\n" END);
    assert_int_equal(r->step[0].tag.kind, 255);
    assert_int_equal(r->stats.tags.lanes_saved, 0);
    assert_int_equal(event_tag(&ev, 0, true).kind, V);
    end(r);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_conservative_rules_are_those_of_the_published_table),
        cmocka_unit_test(thread_indices_are_tagged_by_the_shape_of_the_block),
        cmocka_unit_test(what_is_equal_in_all_lanes_is_uniform_and_clocks_are_not),
        cmocka_unit_test(rows_of_a_block_fold_when_the_rules_say_so),
        cmocka_unit_test(a_load_of_one_location_is_uniform_but_for_local_and_volatile_ones),
        cmocka_unit_test(the_algebra_wraps_as_the_machine_does),
        cmocka_unit_test(halves_of_the_widest_strides),
        cmocka_unit_test(widening_keeps_what_does_not_wrap),
        cmocka_unit_test(shifts_evaluate_when_the_closed_form_does_not_hold),
        cmocka_unit_test(a_select_is_its_source_when_the_lanes_agree),
        cmocka_unit_test(saxpy_has_the_published_tags),
        cmocka_unit_test(saxpy_has_the_tags_that_its_block_allows),
        cmocka_unit_test(an_address_that_crosses_a_carry_is_still_an_affine_pair),
        cmocka_unit_test(a_multiplied_index_is_affine_by_the_exact_rules_only),
        cmocka_unit_test(closed_forms_of_compares_are_the_published_ones),
        cmocka_unit_test(closed_forms_agree_with_the_lanes),
        cmocka_unit_test(compares_that_wrap_fall_back_to_the_lanes),
        cmocka_unit_test(lazy_expansion_expands_what_is_written_and_eager_all),
        cmocka_unit_test(two_sides_that_write_uniform_values_leave_a_vector),
        cmocka_unit_test(partial_writes_follow_the_mask_and_not_the_values),
        cmocka_unit_test(lanes_that_exit_make_a_partial_write_full),
        cmocka_unit_test(exec_makes_writes_partial),
        cmocka_unit_test(a_uniform_kernel_does_one_lane_operation_an_instruction),
        cmocka_unit_test(a_debugger_that_writes_a_lane_makes_its_register_a_vector),
        cmocka_unit_test(with_the_tags_off_events_say_nothing_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
