/* SPDX-License-Identifier: Apache-2.0 */
/* Tests wmma, mma and ldmatrix: products of random matrices of small integers, which all types represent exactly, against
 * products that this file computes. For mma the positions of the elements are those of the PTX manual, "Matrix Fragments for
 * mma". */
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

enum { LANES = 32, BUFFERS = 4, BYTES = 8192, SIDE = 32 };
enum type { F16, BF16, TF32, S8, U8, F64, F32, S32 };
static const struct {
    const char *name, *reg;
    unsigned bytes, packed;
} types[] = {
    [F16] = {"f16", "r", 2, 2},  [BF16] = {"bf16", "r", 2, 2}, [TF32] = {"tf32", "r", 4, 1}, [S8] = {"s8", "r", 1, 4},
    [U8] = {"u8", "r", 1, 4},    [F64] = {"f64", "fd", 8, 1},  [F32] = {"f32", "f", 4, 1},   [S32] = {"s32", "r", 4, 1},
};

/* Runs a kernel with one warp on buffers a, b, c, d. */
static void run(const char *text, uint8_t data[BUFFERS][BYTES])
{
    struct emu_config config;
    struct emu_machine *machine;
    struct emu_engine *engine;
    struct emu_program *program;
    struct isa_object *object;
    struct emu_stop stop;
    struct lw_error err;
    uint64_t params[BUFFERS];

    ok(ptx_translate("t.ptx", text, strlen(text), NULL, &object, &err), &err);
    emu_config_default(&config);
    config.arena_bytes = 1 << 20;
    ok(emu_machine_create(&config, &machine, &err), &err);
    ok(emu_program_load(machine, object, &program, &err), &err);
    for (unsigned i = 0; i < BUFFERS; i++) {
        ok(emu_alloc(machine, BYTES, "data", 0, &params[i], &err), &err);
        ok(emu_global_write(machine, params[i], data[i], BYTES, &err), &err);
    }
    ok(emu_engine_functional_create(machine, &engine, &err), &err);
    struct emu_launch launch = {.program = program, .kernel = &object->functions[0], .grid = {1, 1, 1},
                                .block = {LANES, 1, 1}, .work_dim = 1, .params = params};
    ok(emu_grid_launch(machine, &launch, NULL, &err), &err);
    ok(engine->ops->run(engine, &stop, &err), &err);
    if (stop.kind != EMU_STOP_IDLE)
        fail_msg("stop %d: %s", stop.kind, stop.fault.detail);
    ok(emu_global_read(machine, params[3], data[3], BYTES, &err), &err);
    emu_engine_destroy(engine);
    emu_machine_destroy(machine);
    isa_object_destroy(object);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static uint32_t seed = 1;

static int random_below(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 16) % (unsigned)n);
}

static uint32_t float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns the f16 of an integer below 2048. */
static uint16_t half_of(int x)
{
    unsigned bits = (unsigned)abs(x), exponent = 25;

    if (x == 0)
        return 0;
    while (bits < 1024) {
        bits *= 2;
        exponent--;
    }
    return (uint16_t)((x < 0 ? 0x8000 : 0) | exponent << 10 | (bits & 1023));
}

static void put(uint8_t *at, enum type type, long value)
{
    const double wide = (double)value;
    const uint32_t bits = float_bits((float)value);
    const uint16_t half = type == F16 ? half_of((int)value) : (uint16_t)(bits >> 16);

    switch (type) {
    case F16: case BF16: memcpy(at, &half, 2); break;
    case F64: memcpy(at, &wide, 8); break;
    case S8: case U8: *at = (uint8_t)value; break;
    case S32: memcpy(at, &(int32_t){(int32_t)value}, 4); break;
    default: memcpy(at, &bits, 4); break;
    }
}

static bool holds(const uint8_t *at, enum type type, long value)
{
    uint8_t want[8];

    put(want, type, value);
    return memcmp(at, want, types[type].bytes) == 0;
}

/** A product d = a * b + c of m x k and k x n elements. */
struct product {
    unsigned m, n, k;
    enum type d, ab, c;
    long a[SIDE][SIDE], b[SIDE][SIDE], add[SIDE][SIDE], want[SIDE][SIDE];
};

static long draw(enum type type)
{
    return type == S8 ? random_below(256) - 128 : type == U8 ? random_below(256) : random_below(9) - 4;
}

static void draw_product(struct product *p, bool saturates)
{
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned j = 0; j < SIDE; j++) {
            p->a[i][j] = draw(p->ab);
            p->b[i][j] = draw(p->ab);
            p->add[i][j] = random_below(99) - 50;
            if (saturates)
                p->add[i][j] += (i + j) % 2 == 0 ? INT32_MAX - 49 : INT32_MIN + 50;
        }
    for (unsigned i = 0; i < p->m; i++)
        for (unsigned j = 0; j < p->n; j++) {
            long sum = p->add[i][j];

            for (unsigned k = 0; k < p->k; k++)
                sum += p->a[i][k] * p->b[k][j];
            p->want[i][j] = saturates && sum > INT32_MAX ? INT32_MAX : saturates && sum < INT32_MIN ? INT32_MIN : sum;
        }
}

/* ---- wmma --------------------------------------------------------------------------------- */

/* Writes {%r10, %r11, ...}. */
static int list(char *to, size_t room, const char *reg, unsigned first, unsigned count)
{
    int size = snprintf(to, room, "{");

    for (unsigned i = 0; i < count; i++)
        size += snprintf(to + size, room - (size_t)size, "%s%%%s%u", i == 0 ? "" : ", ", reg, first + i);
    return size + snprintf(to + size, room - (size_t)size, "}");
}

static void store_matrix(uint8_t *to, enum type type, long from[SIDE][SIDE], unsigned rows, unsigned columns, bool by_rows,
                         unsigned step)
{
    for (unsigned i = 0; i < rows; i++)
        for (unsigned j = 0; j < columns; j++)
            put(to + (by_rows ? i * step + j : j * step + i) * types[type].bytes, type, from[i][j]);
}

#define HEAD                                                                                  \
    ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 32 .b8 sh[8192];\n"        \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {\n"       \
    ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<100>; .reg .f32 %f<100>; .reg .b64 %d<16>; .reg .f64 %fd<100>;\n" \
    "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c]; ld.param.u64 %d3, [d]; mov.u32 %r0, %laneid;\n"

/* @layouts: bits 0 to 3: whether A, B, C and D are stored by columns; bit 4: steps are given, and larger than the rows */
static void check_wmma(struct product *p, unsigned layouts, bool saturates, const char *shape)
{
    static uint8_t data[BUFFERS][BYTES];
    static const char *const words[] = {"row", "col"};
    const bool steps = layouts >> 4 & 1, halves = p->ab == F16;
    const unsigned extent[4][2] = {{p->m, p->k}, {p->k, p->n}, {p->m, p->n}, {p->m, p->n}};
    const enum type cell[4] = {p->ab, p->ab, p->c, p->d};
    const unsigned count[4] = {halves ? 8 : p->m * p->k / 32 / types[p->ab].packed,
                               halves ? 8 : p->k * p->n / 32 / types[p->ab].packed,
                               p->m * p->n / 32 / (p->c == F16 ? 2 : 1), p->m * p->n / 32 / (p->d == F16 ? 2 : 1)};
    char text[8000], regs[4][200], step[4][8];
    unsigned by[4];
    int size;

    memset(data, 0, sizeof data);
    draw_product(p, saturates);
    for (unsigned i = 0; i < 4; i++) {
        const bool by_rows = (layouts >> i & 1) == 0;

        by[i] = extent[i][by_rows ? 1 : 0] + (steps ? 16 : 0);
        list(regs[i], sizeof regs[i], types[cell[i]].reg, 10 + 20 * i, count[i]);
        snprintf(step[i], sizeof step[i], steps ? ", %u" : "", by[i]);
        if (i < 3)
            store_matrix(data[i], cell[i], i == 0 ? p->a : i == 1 ? p->b : p->add, extent[i][0], extent[i][1], by_rows, by[i]);
    }
    size = snprintf(text, sizeof text,
                    "%swmma.load.a.sync.aligned.%s.%s.global.%s %s, [%%d0]%s;\nwmma.load.b.sync.aligned.%s.%s.%s %s, [%%d1]%s;\n"
                    "wmma.load.c.sync.aligned.%s.%s.global.%s %s, [%%d2+0]%s;\n",
                    HEAD, words[layouts & 1], shape, types[p->ab].name, regs[0], step[0], words[layouts >> 1 & 1], shape,
                    types[p->ab].name, regs[1], step[1], words[layouts >> 2 & 1], shape, types[p->c].name, regs[2], step[2]);
    size += snprintf(text + size, sizeof text - (size_t)size, "wmma.mma.sync.aligned.%s.%s.%s.%s", words[layouts & 1],
                     words[layouts >> 1 & 1], shape, types[p->d].name);
    if (!halves)
        size += snprintf(text + size, sizeof text - (size_t)size, ".%s.%s", types[p->ab].name, types[p->ab].name);
    size += snprintf(text + size, sizeof text - (size_t)size, ".%s%s %s, %s, %s, %s;\n", types[p->c].name,
                     saturates ? ".satfinite" : p->ab == F64 ? ".rn" : "", regs[3], regs[0], regs[1], regs[2]);
    snprintf(text + size, sizeof text - (size_t)size, "wmma.store.d.sync.aligned.%s.%s.%s [%%d3], %s%s; ret; }\n",
             words[layouts >> 3 & 1], shape, types[p->d].name, regs[3], step[3]);
    run(text, data);
    for (unsigned i = 0; i < p->m; i++)
        for (unsigned j = 0; j < p->n; j++) {
            const unsigned at = (layouts >> 3 & 1) == 0 ? i * by[3] + j : j * by[3] + i;

            if (!holds(data[3] + at * types[p->d].bytes, p->d, p->want[i][j]))
                fail_msg("%s.%s, layouts %u: element (%u, %u) is wrong", shape, types[p->ab].name, layouts, i, j);
        }
}

static void wmma_multiplies_matrices(void **state)
{
    static const char *const wide[] = {"m16n16k16", "m32n8k16", "m8n32k16"};
    static const struct {
        const char *shape; /* NULL: all shapes of @wide */
        enum type d, ab, c;
    } forms[] = {
        {NULL, F32, F16, F32}, {NULL, F16, F16, F16}, {NULL, F16, F16, F32}, {NULL, F32, F16, F16}, {NULL, F32, BF16, F32},
        {NULL, S32, S8, S32},  {NULL, S32, U8, S32},  {"m16n16k8", F32, TF32, F32},                {"m8n8k4", F64, F64, F64},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        for (unsigned s = 0; s < (forms[i].shape == NULL ? 3 : 1); s++) {
            const char *shape = forms[i].shape != NULL ? forms[i].shape : wide[s];
            struct product p = {.d = forms[i].d, .ab = forms[i].ab, .c = forms[i].c};

            assert_int_equal(sscanf(shape, "m%un%uk%u", &p.m, &p.n, &p.k), 3);
            for (unsigned layouts = 0; layouts < 32; layouts += 1 + 2 * (unsigned)random_below(3))
                check_wmma(&p, layouts, false, shape);
            if (forms[i].d == S32)
                check_wmma(&p, 0, true, shape);
        }
    }
}

/* A fragment can be loaded from shared memory, and all its elements can be used. */
static void fragments_have_all_their_elements(void **state)
{
    static uint8_t data[BUFFERS][BYTES];

    (void)state;
    for (unsigned i = 0; i < 256; i++)
        put(data[0] + 2 * i, F16, 3);
    run(HEAD "mul.wide.u32 %d4, %r0, 16; add.s64 %d5, %d0, %d4; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d5];\n"
             "shl.b32 %r5, %r0, 4; mov.u32 %r6, sh; add.u32 %r7, %r6, %r5;\n"
             "st.shared.v4.u32 [%r7+32], {%r1, %r2, %r3, %r4}; bar.warp.sync -1;\n"
             "sub.u32 %r6, %r6, 64; wmma.load.a.sync.aligned.row.m16n16k16.shared.f16\n"
             "{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r6+96];\n"
             "and.b32 %r10, %r10, %r11; and.b32 %r12, %r12, %r13; and.b32 %r14, %r14, %r15; and.b32 %r16, %r16, %r17;\n"
             "and.b32 %r10, %r10, %r12; and.b32 %r14, %r14, %r16; and.b32 %r10, %r10, %r14; mul.wide.u32 %d4, %r0, 4;\n"
             "add.s64 %d3, %d3, %d4; st.global.u32 [%d3], %r10; ret; }\n", data);
    for (unsigned i = 0; i < 2 * LANES; i++)
        assert_true(holds(data[3] + 2 * i, F16, 3));
}

/* ---- mma ---------------------------------------------------------------------------------- */

/* Row and column of element @i of a lane, where @line is the row of A or the column of B, and @at is the other coordinate. */
static void position(enum type type, unsigned lines, unsigned lane, unsigned i, unsigned *line, unsigned *at)
{
    const unsigned g = lane / 4, t = lane % 4, packed = types[type].packed, e = i % packed, reg = i / packed;
    const unsigned tiles = lines / 8; /* registers alternate between rows g and g + 8 of A */

    *line = g + 8 * (reg % tiles);
    *at = t * packed + e + reg / tiles * 4 * packed;
}

static void check_mma(struct product *p, bool saturates, const char *shape)
{
    static uint8_t data[BUFFERS][BYTES];
    const enum type cell[4] = {p->ab, p->ab, p->c, p->d};
    const unsigned elements[4] = {p->m * p->k / 32, p->k * p->n / 32, p->m * p->n / 32, p->m * p->n / 32};
    char text[8000], regs[4][200];
    int size = snprintf(text, sizeof text, "%smul.wide.u32 %%d4, %%r0, 64;\n", HEAD);

    memset(data, 0, sizeof data);
    draw_product(p, saturates);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned m = 0; m < 3; m++)
            for (unsigned i = 0; i < elements[m]; i++) {
                const unsigned row = lane / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + i % 2;
                unsigned line, at;

                position(cell[m], m == 0 ? p->m : 8, lane, i, &line, &at);
                put(data[m] + lane * 64 + i * types[cell[m]].bytes, cell[m],
                    m == 0 ? p->a[line][at] : m == 1 ? p->b[at][line] : p->add[row][column]);
            }
    }
    for (unsigned m = 0; m < 4; m++) {
        const unsigned count = elements[m] / types[cell[m]].packed, bytes = types[cell[m]].bytes * types[cell[m]].packed;
        const char *type = cell[m] == F64 ? "f64" : cell[m] == F32 ? "f32" : "b32";

        list(regs[m], sizeof regs[m], types[cell[m]].reg, 10 + 20 * m, count);
        size += snprintf(text + size, sizeof text - (size_t)size, "add.s64 %%d%u, %%d%u, %%d4;\n", m, m);
        for (unsigned i = 0; i < count && m < 3; i++)
            size += snprintf(text + size, sizeof text - (size_t)size, "ld.global.%s %%%s%u, [%%d%u+%u];\n", type,
                             types[cell[m]].reg, 10 + 20 * m + i, m, i * bytes);
    }
    size += snprintf(text + size, sizeof text - (size_t)size, "mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s %s, %s, %s, %s;\n",
                     shape, saturates ? ".satfinite" : "", types[p->d].name, types[p->ab].name, types[p->ab].name,
                     types[p->c].name,
                     regs[3], regs[0], regs[1], regs[2]);
    for (unsigned i = 0; i < elements[3] / types[p->d].packed; i++)
        size += snprintf(text + size, sizeof text - (size_t)size, "st.global.%s [%%d3+%u], %%%s%u;\n",
                         p->d == F64 ? "f64" : p->d == F32 ? "f32" : "b32", i * types[p->d].bytes * types[p->d].packed,
                         types[p->d].reg, 70 + i);
    snprintf(text + size, sizeof text - (size_t)size, "ret; }\n");
    run(text, data);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned i = 0; i < elements[3]; i++)
            if (!holds(data[3] + lane * 64 + i * types[p->d].bytes, p->d,
                       p->want[lane / 4 + (i >= 2 ? 8 : 0)][lane % 4 * 2 + i % 2]))
                fail_msg("%s.%s: element %u of lane %u is wrong", shape, types[p->ab].name, i, lane);
}

static void mma_multiplies_matrices(void **state)
{
    static const struct {
        const char *shape;
        enum type d, ab, c;
        bool saturates;
    } forms[] = {
        {"m16n8k8", F32, F16, F32, false},   {"m16n8k16", F32, F16, F32, false},  {"m16n8k16", F16, F16, F16, false},
        {"m16n8k8", F32, BF16, F32, false},  {"m16n8k16", F32, BF16, F32, false}, {"m16n8k4", F32, TF32, F32, false},
        {"m16n8k8", F32, TF32, F32, false},  {"m8n8k16", S32, S8, S32, false},    {"m16n8k16", S32, U8, S32, false},
        {"m16n8k32", S32, S8, S32, false},   {"m16n8k32", S32, U8, S32, true},    {"m8n8k4", F64, F64, F64, false},
    };

    (void)state;
    for (size_t i = 0; i < LW_COUNT_OF(forms); i++) {
        struct product p = {.d = forms[i].d, .ab = forms[i].ab, .c = forms[i].c};

        assert_int_equal(sscanf(forms[i].shape, "m%un%uk%u", &p.m, &p.n, &p.k), 3);
        for (unsigned pass = 0; pass < 4; pass++)
            check_mma(&p, forms[i].saturates, forms[i].shape);
    }
}

/* The bits of an operand that the type does not have have no effect. */
static void mma_ignores_low_bits_of_tf32(void **state)
{
    static uint8_t data[BUFFERS][BYTES];

    (void)state;
    run(HEAD "mov.b32 %r1, 0x3f801fff; mov.f32 %f1, 0f00000000; mul.wide.u32 %d4, %r0, 4; add.s64 %d3, %d3, %d4;\n"
             "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1}, {%r1}, {%f1, %f1, %f1, %f1};\n"
             "st.global.f32 [%d3], %f3; ret; }\n", data);
    for (unsigned lane = 0; lane < LANES; lane++)
        assert_true(holds(data[3] + 4 * lane, F32, 4));
}

/* ---- ldmatrix ----------------------------------------------------------------------------- */

static void ldmatrix_distributes_rows(void **state)
{
    static const char *const forms[] = {"x4.shared", "x4.trans.shared", "x4"};
    static uint8_t data[BUFFERS][BYTES];
    char text[3000];

    (void)state;
    /* matrix i has the rows from 8 i on; row r of 16 bytes is at 16 (r xor 5), and lane r has its address */
    for (unsigned i = 0; i < 256; i++)
        memcpy(data[0] + (i / 8 ^ 5) * 16 + i % 8 * 2, &(uint16_t){(uint16_t)(1000 + i)}, 2);
    for (size_t f = 0; f < LW_COUNT_OF(forms); f++) {
        snprintf(text, sizeof text,
                 "%smul.wide.u32 %%d4, %%r0, 16; add.s64 %%d5, %%d0, %%d4; ld.global.v4.u32 {%%r1, %%r2, %%r3, %%r4}, [%%d5];\n"
                 "shl.b32 %%r5, %%r0, 4; mov.u32 %%r6, sh; add.u32 %%r7, %%r6, %%r5;\n"
                 "st.shared.v4.u32 [%%r7], {%%r1, %%r2, %%r3, %%r4}; bar.warp.sync -1;\n"
                 "xor.b32 %%r8, %%r0, 5; shl.b32 %%r8, %%r8, 4; add.u32 %%r8, %%r8, %%r6; cvt.u64.u32 %%d6, %%r8;\n"
                 "%s ldmatrix.sync.aligned.m8n8.%s.b16 {%%r10, %%r11, %%r12, %%r13}, [%%d6];\n"
                 "add.s64 %%d3, %%d3, %%d4; st.global.v4.u32 [%%d3], {%%r10, %%r11, %%r12, %%r13}; ret; }\n",
                 HEAD, f == 2 ? "cvta.shared.u64 %d6, %d6;" : "", forms[f]);
        run(text, data);
        for (unsigned lane = 0; lane < LANES; lane++)
            for (unsigned i = 0; i < 8; i++) {
                const unsigned row = f == 1 ? lane % 4 * 2 + i % 2 : lane / 4, column = f == 1 ? lane / 4 : lane % 4 * 2 + i % 2;
                uint16_t got;

                memcpy(&got, data[3] + lane * 16 + i * 2, 2);
                assert_int_equal(got, 1000 + (i / 2 * 8 + row) * 8 + column);
            }
    }
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void refusals_name_the_form(void **state)
{
    static const struct refusal cases[] = {
#define T(body, why) {HEAD body "\nret; }\n", why}
        T("wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r1}, [%d0];", "wmma: matrices of the shape '.m8n8k32' are not supported"),
        T("wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r1}, [%d0];", "wmma: matrices of .f16 and the shape m16n16k8"),
        T("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%d0];", "wmma: operand 1 must have 8 registers in braces"),
        T("wmma.load.a.aligned.row.m16n16k16.f16 {%r1}, [%d0];", "wmma: expected '.sync.aligned'"),
        T("wmma.mma.sync.aligned.row.col.m16n16k16.s32.f16.f16.s32 {%r1}, {%r1}, {%r1}, {%r1};", "wmma: "),
        T("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1};",
          "mma: matrices of .f16 and the shape m8n8k4 are not supported"),
        T("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1}, {%r1}, {%r1}, {%f1};",
          "mma: matrices of '.e4m3' are not supported"),
        T("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1}, %r2, 0;",
          "mma: sparse matrices are not supported"),
        T("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r1}, [%r2];", "ldmatrix: only '.m8n8' with '.b16'"),
#undef T
    };

    (void)state;
    must_refuse(cases, LW_COUNT_OF(cases), "t.ptx:8");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_multiplies_matrices),
        cmocka_unit_test(fragments_have_all_their_elements),
        cmocka_unit_test(mma_multiplies_matrices),
        cmocka_unit_test(mma_ignores_low_bits_of_tf32),
        cmocka_unit_test(ldmatrix_distributes_rows),
        cmocka_unit_test(refusals_name_the_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
