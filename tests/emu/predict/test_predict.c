/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests address slices of kernels in assembly, and the rectangles of memory that blocks access. The tests are those of the
 * A-series in the specification of address pre-computation, and their names contain the numbers of this series.
 */
#include "tests/emu/exec/emu_fixture.h"
#include "tests/emu/predict/predict_watch.h"

struct made {
    struct isa_object *object;
    const struct isa_slices *slices;
    struct emu_predict *predict;
    uint8_t params[64];
};

static void slice(struct made *m, const char *text)
{
    struct lw_error err;

    memset(m, 0, sizeof *m);
    fix_check(isa_assemble("k.s", text, strlen(text), &m->object, &err), &err);
    fix_check(isa_object_slice(m->object, &err), &err);
    fix_check(isa_object_check(m->object, &err), &err);
    assert_int_equal(m->object->slice_count, 1);
    m->slices = &m->object->slices[0];
}

static void launch(struct made *m, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by)
{
    struct emu_predict_launch l = { .object = m->object, .slices = m->slices, .grid = { gx, gy, 1 }, .block = { bx, by, 1 },
                                    .work_dim = 1, .warp_width = 32, .params = m->params, .param_bytes = sizeof m->params };
    struct lw_error err;

    fix_check(emu_predict_create(&l, &m->predict, &err), &err);
}

static void end(struct made *m)
{
    emu_predict_destroy(m->predict);
    isa_object_destroy(m->object);
}

static void site_is(const struct made *m, uint32_t site, enum isa_slice_reject reject)
{
    assert_in_range(site, 0, m->slices->site_count - 1);
    if (m->slices->sites[site].reject != reject)
        fail_msg("site %u: %s, not %s", site, isa_slice_reject_name(m->slices->sites[site].reject),
                 isa_slice_reject_name(reject));
}

static unsigned rows(const struct made *m)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < m->slices->node_count; i++)
        n += m->slices->nodes[i].kind == ISA_SLICE_ROW;
    return n;
}

#define THREAD "v_s2r v0, %ctaid.x\nv_s2r v1, %tid.x\n"
#define INDEX THREAD "v_mad_u32 v2, v0, c[size], v1\n"
#define HEAD ".kernel k\n.param ptr.global J\n.param ptr.global K\n.param u32 size\n.param u32 n\n"
enum { J = 0x10000000, K = 0x20000000 };

static void put_params(struct made *m, uint32_t size, uint32_t n)
{
    lw_put64(m->params, J);
    lw_put64(m->params + 8, K);
    lw_put32(m->params + 16, size);
    lw_put32(m->params + 20, n);
}

static void a1_the_worked_example_has_its_address_instructions_and_no_more(void **state)
{
    struct made m;
    struct emu_predict_affine sum;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_lea_u32 v4:5, v2, 2, v4:5\nld.global.b32 v6, [v4:5]\n"
                         "v_mul_u32 v7, v6, v6\nv_add_u32 v8, v7, v2\nst.shared.b32 [v1], v8\nexit\n.end\n");
    assert_int_equal(m.slices->site_count, 1);
    site_is(&m, 0, ISA_SLICE_ACCEPTED);
    assert_int_equal(rows(&m), 2); /* The two rows compute the index, and the address from index and base. */
    assert_false(m.slices->sites[0].guarded);
    put_params(&m, 256, 0);
    launch(&m, 16, 1, 256, 1);
    struct emu_predict_thread thread = { .ctaid = { 3 }, .tid = { 5 } };
    assert_int_equal(emu_predict_address(m.predict, 0, &thread), 0x10000C14);
    thread.tid[0] = 0;
    assert_int_equal(emu_predict_address(m.predict, 0, &thread), 0x10000C00);
    thread.tid[0] = 255;
    assert_int_equal(emu_predict_address(m.predict, 0, &thread), 0x10000FFC);
    assert_true(emu_predict_affine(m.predict, 0, &sum));
    assert_int_equal(sum.constant, J);
    assert_int_equal(sum.tid[0], 4);
    assert_int_equal(sum.ctaid[0], 1024);
    assert_int_equal(emu_predict_depends(m.predict, 0), EMU_PREDICT_BLOCK | EMU_PREDICT_THREAD);
    assert_int_equal(emu_predict_evaluations(m.predict), 3);
    end(&m);
}

static void a3_an_index_that_was_loaded_is_data_dependent(void **state)
{
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_lea_u32 v4:5, v2, 2, v4:5\nld.global.b32 v6, [v4:5]\n"
                         "v_mov_b64 v8:9, c[K]\nv_lea_u32 v8:9, v6, 2, v8:9\nld.global.b32 v7, [v8:9]\nexit\n.end\n");
    site_is(&m, 0, ISA_SLICE_ACCEPTED);
    site_is(&m, 1, ISA_SLICE_LOADED);
    assert_int_equal(m.slices->sites[1].culprit, m.slices->sites[0].insn);
    end(&m);
}

static void a4_what_comes_from_shared_memory_or_other_lanes_is_data_dependent(void **state)
{
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nld.shared.b32 v6, [v1]\nv_lea_u32 v8:9, v6, 2, v4:5\n"
                         "ld.global.b32 v7, [v8:9]\nshfl.bfly v6, v2, 1, 31\nv_lea_u32 v8:9, v6, 2, v4:5\n"
                         "ld.global.b32 v7, [v8:9]\nv_s2r v6, %clock\nv_lea_u32 v8:9, v6, 2, v4:5\n"
                         "st.global.b32 [v8:9], v7\nexit\n.end\n");
    for (unsigned i = 0; i < 3; i++)
        site_is(&m, i, ISA_SLICE_LOADED);
    end(&m);
}

static void a5_addresses_of_64_bits_by_carry_and_by_a_wide_product_are_accepted(void **state)
{
    struct made m;
    const struct emu_predict_thread thread = { .ctaid = { 3 }, .tid = { 5 } };

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_mul_u32 v6, v2, 4\nv_addc_u32 v8, p0, v4, v6, !pt\n"
                         "v_addc_u32 v9, _, v5, 0, p0\nld.global.b32 v7, [v8:9]\nv_madwide_s32 v8:9, v2, 4, v4:5\n"
                         "ld.global.b32 v7, [v8:9]\nv_mul_u32 v6, v1, 8\nv_subc_u32 v8, p1, v8, v6\n"
                         "v_subc_u32 v9, _, v9, 0, p1\nst.global.b32 [v8:9], v7\nexit\n.end\n");
    put_params(&m, 256, 0);
    lw_put64(m.params, UINT64_C(0x1fffffe00)); /* additions carry from the low word to the high word */
    launch(&m, 16, 1, 256, 1);
    for (unsigned i = 0; i < 3; i++)
        site_is(&m, i, ISA_SLICE_ACCEPTED);
    assert_int_equal(emu_predict_address(m.predict, 0, &thread), UINT64_C(0x1fffffe00) + 4 * 773);
    assert_int_equal(emu_predict_address(m.predict, 1, &thread), UINT64_C(0x1fffffe00) + 4 * 773);
    assert_int_equal(emu_predict_address(m.predict, 2, &thread), UINT64_C(0x1fffffe00) + 4 * 773 - 40);
    end(&m);
}

static void a6_a_guard_is_dropped_and_noted(void **state)
{
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_lea_u32 v4:5, v2, 2, v4:5\nst.global.b32 [v4:5], v2\n"
                         "v_setp_u32.lt p0, v2, c[n]\n@p0 ld.global.b32 v6, [v4:5]\n@!p0 exit\n"
                         "st.global.b32 [v4:5+4], v6\nexit\n.end\n");
    for (unsigned i = 0; i < 3; i++) {
        site_is(&m, i, ISA_SLICE_ACCEPTED);
        assert_int_equal(m.slices->sites[i].guarded, i != 0);
    }
    assert_int_equal(rows(&m), 3); /* The rows compute the index, the address, and the address + 4. */
    end(&m);
}

#define LOOP                                                                                     \
    "v_mov_b64 v4:5, c[J]\nv_mov_b32 v3, 0\nL:\nv_mad_u32 v6, v3, c[size], v2\n"                 \
    "v_lea_u32 v8:9, v6, 2, v4:5\nld.global.b32 v7, [v8:9]\nv_add_u32 v3, v3, 1\n"               \
    "v_setp_u32.lt p0, v3, c[n]\n@p0 bra L\nst.global.b32 [v4:5], v7\nexit\n.end\n"

static void a7_a_loop_is_evaluated_in_its_first_and_its_last_iteration(void **state)
{
    static const uint32_t block3[3] = { 3 };
    uint64_t iteration[1] = { 0 }, count;
    struct emu_predict_thread thread = { .ctaid = { 3 }, .tid = { 5 }, .iteration = iteration };
    struct emu_rect r;
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX LOOP);
    site_is(&m, 0, ISA_SLICE_ACCEPTED);
    assert_int_equal(m.slices->loop_count, 1);
    assert_true(m.slices->loops[0].tested && m.slices->loops[0].only);
    put_params(&m, 256, 7);
    launch(&m, 16, 1, 256, 1);
    assert_true(emu_predict_iterations(m.predict, 0, 0, &thread, &count));
    assert_int_equal(count, 7);
    iteration[0] = 6;
    assert_int_equal(emu_predict_address(m.predict, 0, &thread), J + 4 * (6 * 256 + 773));
    assert_true(emu_predict_range(m.predict, 0, block3, NULL, EMU_PREDICT_BOUNDS, &r));
    assert_int_equal(r.x, 24);
    assert_int_equal(r.w, 6 * 8 + 8); /* lines 24 to 31, and the lines 6 * 1024 bytes after them */
    assert_int_equal(r.h, 1);
    assert_true(emu_predict_range(m.predict, 0, block3, NULL, 0, &r));
    assert_int_equal(r.x, 24);
    assert_int_equal(r.w, 8);
    end(&m);
}

static void a8_a_pointer_chosen_of_two_arrays_belongs_to_none(void **state)
{
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_mov_b64 v6:7, c[K]\nv_setp_u32.lt p0, v1, 7\n"
                         "v_selp_b64 v8:9, v4:5, v6:7, p0\nld.global.b32 v10, [v8:9]\n"
                         "v_selp_b64 v8:9, v4:5, v4:5, p0\nld.global.b32 v10, [v8:9]\n"
                         "v_mov_b64 v8:9, 4096\nld.global.b32 v10, [v8:9]\n"
                         "v_add_u64 v8:9, v4:5, v6:7\nld.global.b32 v10, [v8:9]\nexit\n.end\n");
    site_is(&m, 0, ISA_SLICE_ARRAY);
    site_is(&m, 1, ISA_SLICE_ACCEPTED);
    site_is(&m, 2, ISA_SLICE_ARRAY);
    site_is(&m, 3, ISA_SLICE_ARRAY);
    end(&m);
}

static void a9_dead_code_and_what_is_computed_of_loaded_values_is_not_in_the_slice(void **state)
{
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_xor_b32 v10, v2, 77\nv_mul_u32 v10, v10, v10\n"
                         "v_lea_u32 v4:5, v2, 2, v4:5\nld.global.b32 v6, [v4:5]\nv_add_u32 v6, v6, 1\n"
                         "v_fma_f32 v6, v6, v6, v6\nst.global.b32 [v4:5], v6\nexit\n.end\n");
    assert_int_equal(rows(&m), 2);
    assert_int_equal(m.slices->array_count, 1);
    assert_int_equal(m.slices->arrays[0].sites, 2);
    end(&m);
}

static void values_of_several_paths_are_choices_or_rejected(void **state)
{
    const struct emu_predict_thread low = { .tid = { 5 } }, high = { .tid = { 9 } };
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_setp_u32.lt p0, v1, 7\n@p0 bra A\nv_mov_b32 v3, 100\nbra B\n"
                         "A:\nv_mov_b32 v3, v1\nB:\nv_lea_u32 v8:9, v3, 2, v4:5\nld.global.b32 v7, [v8:9]\n"
                         "v_setp_u32.gt p1, v1, 20\n@p1 v_mov_b32 v3, 1\nv_lea_u32 v8:9, v3, 2, v4:5\n"
                         "st.global.b32 [v8:9], v7\n" /* a guarded write selects one of two values, too */
                         "C:\nv_mul_u32 v3, v3, 3\nv_lea_u32 v8:9, v3, 2, v4:5\nst.global.b32 [v8:9], v7\n"
                         "v_setp_u32.lt p0, v3, c[n]\n@p0 bra C\nexit\n.end\n");
    put_params(&m, 256, 0);
    launch(&m, 16, 1, 256, 1);
    site_is(&m, 0, ISA_SLICE_ACCEPTED);
    site_is(&m, 1, ISA_SLICE_ACCEPTED);
    site_is(&m, 2, ISA_SLICE_MERGE); /* a variable that the loop multiplies is no induction variable */
    assert_int_equal(emu_predict_address(m.predict, 0, &low), J + 4 * 5);
    assert_int_equal(emu_predict_address(m.predict, 0, &high), J + 4 * 100);
    assert_int_equal(emu_predict_address(m.predict, 1, &high), J + 4 * 100);
    end(&m);
}

static void other_reasons_have_their_names(void **state)
{
    struct made m;

    (void)state;
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_cvt.f32.u32 v6, v2\nv_lea_u32 v8:9, v6, 2, v4:5\n"
                         "ld.global.b32 v7, [v8:9]\nexit\n.end\n");
    site_is(&m, 0, ISA_SLICE_OPERATION);
    end(&m);
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\ns_mov_b64 exec, 1\nld.global.b32 v7, [v4:5]\nexit\n.end\n");
    site_is(&m, 0, ISA_SLICE_EXEC);
    end(&m);
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nbrx v4:5\nld.global.b32 v7, [v4:5]\nexit\n.end\n");
    assert_int_equal(m.slices->site_count, 0); /* the load is reachable only by jumps whose targets are not known statically */
    end(&m);
    /* The site uses the loop's last value after the loop. */
    slice(&m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_mov_b32 v3, 0\nL:\nv_add_u32 v3, v3, 1\nv_setp_u32.lt p0, v3, c[n]\n"
                         "@p0 bra L\nv_lea_u32 v4:5, v3, 2, v4:5\nst.global.b32 [v4:5], v7\nexit\n.end\n");
    site_is(&m, 0, ISA_SLICE_MERGE);
    end(&m);
    /* six arrays: the array with the fewest sites is dropped */
    slice(&m, ".kernel k\n.param ptr.global A\n.param ptr.global B\n.param ptr.global C\n.param ptr.global D\n"
              ".param ptr.global E\n.param ptr.global F\nv_mov_b64 v4:5, c[A]\nld.global.b32 v7, [v4:5]\n"
              "v_mov_b64 v4:5, c[B]\nld.global.b32 v7, [v4:5]\nld.global.b32 v7, [v4:5+4]\n"
              "v_mov_b64 v4:5, c[C]\nld.global.b32 v7, [v4:5]\nld.global.b32 v7, [v4:5+4]\n"
              "v_mov_b64 v4:5, c[D]\nld.global.b32 v7, [v4:5]\nld.global.b32 v7, [v4:5+4]\n"
              "v_mov_b64 v4:5, c[E]\nld.global.b32 v7, [v4:5]\nld.global.b32 v7, [v4:5+4]\n"
              "v_mov_b64 v4:5, c[F]\nld.global.b32 v7, [v4:5]\nld.global.b32 v7, [v4:5+4]\nexit\n.end\n");
    site_is(&m, 0, ISA_SLICE_MANY);
    for (unsigned i = 1; i < 11; i++)
        site_is(&m, i, ISA_SLICE_ACCEPTED);
    assert_int_equal(m.slices->array_count, ISA_SLICE_ARRAYS);
    end(&m);
}

/** Check the predicted number of iterations of a loop that starts at @init, adds @step and runs while @compare holds with
 *  bound @n. @known states whether the number must be predictable. */
static void counts_as_a_run_does(const char *compare, uint32_t init, uint32_t step, uint32_t n, bool known)
{
    struct made m;
    const struct emu_predict_thread thread = { .ctaid = { 0 } };
    char text[1024];
    uint64_t count, real = 0;
    uint32_t v = init;
    bool is_signed = compare[0] == 's', more;

    snprintf(text, sizeof text,
             "%sv_mov_b64 v4:5, c[J]\nv_mov_b32 v3, 0x%x\nL:\nv_lea_u32 v8:9, v3, 2, v4:5\nld.global.b32 v7, [v8:9]\n"
                        "v_add_u32 v3, v3, 0x%x\nv_setp_%.3s.%s p0, v3, c[n]\n@p0 bra L\nexit\n.end\n",
             HEAD INDEX, init, step, compare, compare + 4);
    slice(&m, text);
    put_params(&m, 256, n);
    launch(&m, 1, 1, 32, 1);
    site_is(&m, 0, ISA_SLICE_ACCEPTED);
    do {
        v += step;
        real++;
        int64_t x = is_signed ? (int32_t)v : (int64_t)v, y = is_signed ? (int32_t)n : (int64_t)n;
        const char *c = compare + 4;
        more = strcmp(c, "lt") == 0 ? x < y : strcmp(c, "le") == 0 ? x <= y : strcmp(c, "gt") == 0 ? x > y
               : strcmp(c, "ge") == 0 ? x >= y : strcmp(c, "eq") == 0 ? x == y : x != y;
    } while (more && real < 1000000);
    bool found = emu_predict_iterations(m.predict, 0, 0, &thread, &count);
    bool right = !found || count == real || (real == 1000000 && strstr(compare, "ne") != NULL && init + (uint32_t)count * step == n);
    if (!right || found != known)
        fail_msg("%s from %x by %x to %x: %llu iterations, found %d: %llu", compare, init, step, n, (unsigned long long)real,
                 found, (unsigned long long)count);
    end(&m);
}

static void a7_trip_counts_are_those_of_the_loop(void **state)
{
    static const char *const compare[] = { "u32.lt", "u32.le", "u32.gt", "u32.ge", "u32.ne", "u32.eq",
                                           "s32.lt", "s32.le", "s32.gt", "s32.ge", "s32.ne", "s32.eq" };
    static const uint32_t up[][3] = { { 0, 1, 7 }, { 0, 3, 7 }, { 5, 1, 100 }, { 0xfffffff0, 4, 3 }, { 0xfffffff0, 4, 32 } };

    (void)state;
    for (unsigned c = 0; c < LW_COUNT_OF(compare); c++)
        for (unsigned i = 0; i < LW_COUNT_OF(up); i++) /* In the case with index 3, the counter 4 k - 16 never equals 3. */
            counts_as_a_run_does(compare[c], up[i][0], up[i][1], up[i][2], i != 3 || strstr(compare[c], "ne") == NULL);
    counts_as_a_run_does("s32.gt", 100, 0xffffffff, 0, true); /* the counter decreases */
    counts_as_a_run_does("s32.ge", 100, 0xfffffffd, 0, true);
    counts_as_a_run_does("u32.ge", 100, 0xffffff9c, 50, true); /* the counter wraps below zero */
    counts_as_a_run_does("u32.lt", 0, 1, 100000, true);
    counts_as_a_run_does("u32.le", 0, 16, 0x7f0, true);
    counts_as_a_run_does("s32.lt", 0xffffff00, 64, 64, true);
    counts_as_a_run_does("u32.lt", 0, 0, 5, false); /* the loop never ends */
}

/* ---- rectangles ----------------------------------------------------------------------- */

static struct emu_rect lines(int64_t x0, int64_t x1, int64_t y0, int64_t y1)
{
    const struct emu_byte_rect b = { x0, x1, y0, y1 };

    return emu_rect_lines(&b, 4096, 1024);
}

static void rect_is(struct emu_rect r, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    if (r.x != x || r.y != y || r.w != w || r.h != h)
        fail_msg("(%u, %u, %u, %u), not (%u, %u, %u, %u)", r.x, r.y, r.w, r.h, x, y, w, h);
}

static void a10_bytes_are_in_these_lines(void **state)
{
    (void)state;
    rect_is(lines(0, 127, 0, 0), 0, 0, 1, 1);
    rect_is(lines(128, 255, 2, 2), 1, 2, 1, 1);
    rect_is(lines(127, 128, 2, 3), 0, 2, 2, 2);
    rect_is(lines(-4, 67, -1, 16), 0, 0, 1, 17); /* the rectangle is clipped at the upper left */
    rect_is(lines(4000, 4200, 1020, 1030), 31, 1020, 1, 4);
    rect_is(lines(-10, -1, 0, 0), 0, 0, 0, 0);
}

static struct emu_rect range_of(struct made *m, uint32_t x, uint32_t y, uint64_t bytes)
{
    const struct emu_predict_shape shape = { .bytes = bytes };
    const uint32_t ctaid[3] = { x, y };
    struct emu_rect r;

    assert_true(emu_predict_range(m->predict, 0, ctaid, &shape, EMU_PREDICT_STORES | EMU_PREDICT_BOUNDS, &r));
    return r;
}

static uint64_t overlap_of(struct made *m, const uint32_t a[2], const uint32_t b[2], uint64_t bytes)
{
    struct emu_rect x = range_of(m, a[0], a[1], bytes), y = range_of(m, b[0], b[1], bytes);

    assert_int_equal(emu_rect_overlap(&x, &y), emu_rect_overlap(&y, &x));
    return emu_rect_overlap(&x, &y);
}

static void linear_kernel(struct made *m, uint32_t size)
{
    slice(m, HEAD INDEX "v_mov_b64 v4:5, c[J]\nv_lea_u32 v4:5, v2, 2, v4:5\nld.global.b32 v6, [v4:5]\nexit\n.end\n");
    put_params(m, size, 0);
    launch(m, 64, 1, size, 1);
}

static void a11_a_block_of_256_floats_has_eight_lines_of_its_own(void **state)
{
    const uint32_t two[2] = { 2 }, three[2] = { 3 };
    struct made m;

    (void)state;
    linear_kernel(&m, 256);
    rect_is(range_of(&m, 3, 0, 0), 24, 0, 8, 1);
    rect_is(range_of(&m, 2, 0, 0), 16, 0, 8, 1);
    assert_int_equal(overlap_of(&m, two, three, 0), 0);
    end(&m);
}

static void a12_blocks_of_16_floats_share_lines_in_pairs(void **state)
{
    const uint32_t b[3][2] = { { 0 }, { 1 }, { 2 } };
    struct made m;

    (void)state;
    linear_kernel(&m, 16);
    assert_int_equal(overlap_of(&m, b[0], b[1], 0), 1);
    assert_int_equal(overlap_of(&m, b[1], b[2], 0), 0);
    end(&m);
}

/* Make a kernel on an image of 1024 x 1024 floats in blocks of 16 x 16 threads. With @halo a thread also reads the four
 * neighbours of its pixel. */
static void image_kernel(struct made *m, bool halo)
{
    char text[2048];

    snprintf(text, sizeof text,
             HEAD "v_s2r v0, %%ctaid.x\nv_s2r v1, %%tid.x\nv_mad_u32 v2, v0, 16, v1\nv_s2r v0, %%ctaid.y\nv_s2r v1, %%tid.y\n"
                  "v_mad_u32 v3, v0, 16, v1\nv_mad_u32 v2, v3, 1024, v2\nv_mov_b64 v4:5, c[J]\nv_lea_u32 v4:5, v2, 2, v4:5\n"
                  "ld.global.b32 v6, [v4:5]\n%sexit\n.end\n",
             halo ? "ld.global.b32 v6, [v4:5-4]\nld.global.b32 v6, [v4:5+4]\nld.global.b32 v6, [v4:5-4096]\n"
                    "ld.global.b32 v6, [v4:5+4096]\n" : "");
    slice(m, text);
    put_params(m, 0, 0);
    launch(m, 64, 64, 16, 16);
}

static void a13_overlaps_are_those_of_the_tables(void **state)
{
    static const struct {
        bool halo;
        uint32_t a[2], b[2];
        uint64_t overlap;
    } table[] = {
        { false, { 0, 0 }, { 1, 0 }, 16 }, { false, { 0, 0 }, { 2, 0 }, 0 }, { false, { 0, 0 }, { 0, 1 }, 0 },
        { false, { 2, 1 }, { 3, 1 }, 16 }, { false, { 1, 1 }, { 2, 1 }, 0 }, { true, { 1, 1 }, { 2, 1 }, 36 },
        { true, { 1, 1 }, { 3, 1 }, 18 },  { true, { 1, 1 }, { 1, 2 }, 4 },  { true, { 1, 1 }, { 2, 2 }, 4 },
        { true, { 0, 0 }, { 1, 0 }, 17 },  { true, { 0, 0 }, { 0, 1 }, 2 },
    };
    struct made m[2];

    (void)state;
    image_kernel(&m[0], false);
    image_kernel(&m[1], true);
    assert_int_equal(emu_predict_pitch(m[1].predict, 0, NULL), 4096);
    rect_is(range_of(&m[0], 2, 1, 1 << 22), 1, 16, 1, 16);
    rect_is(range_of(&m[1], 1, 1, 1 << 22), 0, 15, 2, 18);
    rect_is(range_of(&m[1], 3, 1, 1 << 22), 1, 15, 2, 18);
    rect_is(range_of(&m[1], 0, 0, 1 << 22), 0, 0, 1, 17);
    rect_is(range_of(&m[1], 1, 0, 1 << 22), 0, 0, 2, 17);
    rect_is(range_of(&m[1], 0, 1, 1 << 22), 0, 15, 1, 18);
    rect_is(range_of(&m[1], 63, 63, 1 << 22), 31, 1007, 1, 17); /* The rectangle is clipped at the right and lower
                                                                 * edges. */
    for (unsigned i = 0; i < LW_COUNT_OF(table); i++)
        assert_int_equal(overlap_of(&m[table[i].halo], table[i].a, table[i].b, 1 << 22), table[i].overlap);
    end(&m[0]);
    end(&m[1]);
}

static void a14_a_column_is_a_rectangle_as_tall_as_the_block(void **state)
{
    const uint32_t b[3][2] = { { 0 }, { 31 }, { 32 } };
    struct made m;

    (void)state;
    slice(&m, HEAD THREAD "v_mad_u32 v2, v1, c[size], v0\nv_mov_b64 v4:5, c[J]\nv_lea_u32 v4:5, v2, 2, v4:5\n"
                          "ld.global.b32 v6, [v4:5]\nexit\n.end\n");
    put_params(&m, 1024, 0);
    launch(&m, 1024, 1, 256, 1);
    assert_int_equal(emu_predict_pitch(m.predict, 0, NULL), 4096);
    rect_is(range_of(&m, 0, 0, 0), 0, 0, 1, 256);
    rect_is(range_of(&m, 100, 0, 0), 3, 0, 1, 256);
    assert_int_equal(overlap_of(&m, b[0], b[1], 0), 256);
    assert_int_equal(overlap_of(&m, b[1], b[2], 0), 0);
    end(&m);
}

static uint64_t draw(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *x >> 33;
}

static void a30_overlap_is_the_count_of_common_lines(void **state)
{
    uint64_t seed = 30;

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        struct emu_rect a, b;
        uint64_t common = 0;

        for (unsigned k = 0; k < 2; k++)
            *(k == 0 ? &a : &b) = (struct emu_rect){ (uint32_t)(draw(&seed) % 12), (uint32_t)(draw(&seed) % 12),
                                                     (uint32_t)(draw(&seed) % 8), (uint32_t)(draw(&seed) % 8) };
        for (uint32_t x = a.x; x < a.x + a.w; x++)
            for (uint32_t y = a.y; y < a.y + a.h; y++)
                common += x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h;
        assert_int_equal(emu_rect_overlap(&a, &b), common);
    }
}

static void pitches_follow_the_strides(void **state)
{
    const struct emu_rect_strides row_major = { .tx = 4, .ty = 4096, .block = { 16, 16 }, .grid = { 4, 4 }, .element = 4 };
    const struct emu_rect_strides narrow = { .tx = 4, .ty = 64, .block = { 16, 16 }, .grid = { 4, 4 }, .element = 4 };
    const struct emu_rect_strides rows = { .tx = 4, .bx = 1024, .by = 8192, .block = { 256, 1 }, .grid = { 8, 9 }, .element = 4 };
    const struct emu_rect_strides line = { .tx = 4, .bx = 1024, .block = { 256, 1 }, .grid = { 8, 1 }, .element = 4 };
    const struct emu_rect_strides back = { .tx = -4096, .block = { 256, 1 }, .grid = { 8, 1 }, .element = 4 };
    int64_t x, cx;

    (void)state;
    assert_int_equal(emu_rect_pitch(&row_major), 4096);
    assert_int_equal(emu_rect_pitch(&narrow), 0);
    assert_int_equal(emu_rect_pitch(&rows), 8192);
    assert_int_equal(emu_rect_pitch(&line), 0);
    assert_int_equal(emu_rect_pitch(&back), 4096);
    assert_int_equal(emu_rect_split(-4100, 4096, &cx), -1);
    assert_int_equal(cx, -4);
    assert_int_equal(emu_rect_split(4092, 4096, &cx), 1);
    assert_int_equal(cx, -4);
    emu_rect_to2d(-1, 4096, &x, &cx);
    assert_int_equal(x, 4095);
    assert_int_equal(cx, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a1_the_worked_example_has_its_address_instructions_and_no_more),
        cmocka_unit_test(a3_an_index_that_was_loaded_is_data_dependent),
        cmocka_unit_test(a4_what_comes_from_shared_memory_or_other_lanes_is_data_dependent),
        cmocka_unit_test(a5_addresses_of_64_bits_by_carry_and_by_a_wide_product_are_accepted),
        cmocka_unit_test(a6_a_guard_is_dropped_and_noted),
        cmocka_unit_test(a7_a_loop_is_evaluated_in_its_first_and_its_last_iteration),
        cmocka_unit_test(a7_trip_counts_are_those_of_the_loop),
        cmocka_unit_test(a8_a_pointer_chosen_of_two_arrays_belongs_to_none),
        cmocka_unit_test(a9_dead_code_and_what_is_computed_of_loaded_values_is_not_in_the_slice),
        cmocka_unit_test(values_of_several_paths_are_choices_or_rejected),
        cmocka_unit_test(other_reasons_have_their_names),
        cmocka_unit_test(a10_bytes_are_in_these_lines),
        cmocka_unit_test(a11_a_block_of_256_floats_has_eight_lines_of_its_own),
        cmocka_unit_test(a12_blocks_of_16_floats_share_lines_in_pairs),
        cmocka_unit_test(a13_overlaps_are_those_of_the_tables),
        cmocka_unit_test(a14_a_column_is_a_rectangle_as_tall_as_the_block),
        cmocka_unit_test(a30_overlap_is_the_count_of_common_lines),
        cmocka_unit_test(pitches_follow_the_strides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
