/* SPDX-License-Identifier: Apache-2.0 */
/* mma and ldmatrix as shuffles and ordinary arithmetic: each lane gets the rows of A and the columns of B that its elements of
 * D need from other lanes, in the order of k. */
#include <stdlib.h>

#include "ptx/parse/ptx_expand_matrix_priv.h"

const struct ptx_cell_info ptx_cells[] = {
    [PTX_CELL_F16] = { "f16", "b32", 2, 2 },  [PTX_CELL_BF16] = { "bf16", "b32", 2, 2 },
    [PTX_CELL_TF32] = { "tf32", "b32", 4, 1 }, [PTX_CELL_S8] = { "s8", "b32", 1, 4 },
    [PTX_CELL_U8] = { "u8", "b32", 1, 4 },    [PTX_CELL_F64] = { "f64", "f64", 8, 1 },
    [PTX_CELL_F32] = { "f32", "f32", 4, 1 },  [PTX_CELL_S32] = { "s32", "s32", 4, 1 },
};

int ptx_cell_find(struct ptx_name name)
{
    for (unsigned i = 0; i < LW_COUNT_OF(ptx_cells); i++)
        if (ptx_name_is(name, ptx_cells[i].name))
            return (int)i;
    return -1;
}

struct ptx_shape ptx_expand_take_shape(struct ptx_expansion *x)
{
    static const struct {
        const char *word;
        struct ptx_shape shape;
    } shapes[] = {
        { "m16n16k16", { 16, 16, 16 } }, { "m32n8k16", { 32, 8, 16 } }, { "m8n32k16", { 8, 32, 16 } },
        { "m16n16k8", { 16, 16, 8 } },   { "m8n8k4", { 8, 8, 4 } },     { "m16n8k4", { 16, 8, 4 } },
        { "m16n8k8", { 16, 8, 8 } },     { "m16n8k16", { 16, 8, 16 } }, { "m16n8k32", { 16, 8, 32 } },
        { "m8n8k16", { 8, 8, 16 } },
    };

    for (unsigned i = 0; i < LW_COUNT_OF(shapes); i++)
        if (ptx_expand_take(x, shapes[i].word))
            return shapes[i].shape;
    for (unsigned i = 0; i < x->modifier_count; i++)
        if (x->modifier[i].text[0] == 'm' && x->modifier[i].size > 5)
            ptx_expand_fail(x, LW_EUNSUPP, "matrices of the shape '.%.*s' are not supported", PTX_NAME_ARG(x->modifier[i]));
    ptx_expand_fail(x, LW_EINPUT, "expected a shape, such as '.m16n8k16'");
}

void ptx_expand_take_sync(struct ptx_expansion *x)
{
    if (!ptx_expand_take(x, "sync") || !ptx_expand_take(x, "aligned"))
        ptx_expand_fail(x, LW_EINPUT, "expected '.sync.aligned'");
}

/* ---- multiplication ----------------------------------------------------------------------- */

/** A multiplication: the number of tiles in each direction, of blocks in a row of A, and of 32-bit words that shuffles move for
 *  each register of A or B. */
struct product {
    const struct ptx_expand_operand *d, *a, *b, *c;
    const int *cells; /* of d, a, b, c */
    unsigned rows, columns, blocks, words;
};

/* Puts the words of the registers of A or B into %lw_a0 or %lw_b0 and following. Floats of 16 bits become f32. */
static void put_words(struct ptx_expansion *x, char to, const struct ptx_expand_operand *from, int cell, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct ptx_name reg = from->part[i];

        switch (cell) {
        case PTX_CELL_F16:
            ptx_put(x, "mov.b32 {%%lw_h0, %%lw_h1}, " PTX_NAME_FMT "; cvt.f32.f16 %%lw_%c%u, %%lw_h0; cvt.f32.f16 %%lw_%c%u, "
                       "%%lw_h1; ", PTX_NAME_ARG(reg), to, 2 * i, to, 2 * i + 1);
            break;
        case PTX_CELL_BF16:
            ptx_put(x, "shl.b32 %%lw_%c%u, " PTX_NAME_FMT ", 16; and.b32 %%lw_%c%u, " PTX_NAME_FMT ", 0xffff0000; ", to, 2 * i,
                    PTX_NAME_ARG(reg), to, 2 * i + 1, PTX_NAME_ARG(reg));
            break;
        case PTX_CELL_TF32: /* a GPU ignores the other bits, too */
            ptx_put(x, "and.b32 %%lw_%c%u, " PTX_NAME_FMT ", 0xffffe000; ", to, i, PTX_NAME_ARG(reg));
            break;
        case PTX_CELL_F64:
            ptx_put(x, "mov.b64 {%%lw_%c%u, %%lw_%c%u}, " PTX_NAME_FMT "; ", to, 2 * i, to, 2 * i + 1, PTX_NAME_ARG(reg));
            break;
        default: ptx_put(x, "mov.b32 %%lw_%c%u, " PTX_NAME_FMT "; ", to, i, PTX_NAME_ARG(reg)); break;
        }
    }
}

/* Puts the element of C with number @i into %lw_d@i. */
static void put_start(struct ptx_expansion *x, const struct product *p, unsigned i, bool zero)
{
    if (zero)
        ptx_put(x, "mov.b32 %%lw_d%u, 0; ", i);
    else if (p->cells[3] == PTX_CELL_F16)
        ptx_put(x, "mov.b32 {%%lw_h0, %%lw_h1}, " PTX_NAME_FMT "; cvt.f32.f16 %%lw_d%u, %%lw_h%u; ",
                PTX_NAME_ARG(p->c->part[i / 2]), i, i % 2);
    else
        ptx_put(x, "mov.%s %%lw_d%u, " PTX_NAME_FMT "; ", ptx_cells[p->cells[3]].access, i, PTX_NAME_ARG(p->c->part[i]));
}

/* Puts the sum of products for the element of D with number @i, in tile row @row. %lw_y0 and following are the column of B, %lw_x
 * the rows of A. */
static void put_sum(struct ptx_expansion *x, const struct product *p, unsigned i, unsigned row, const char *rounding)
{
    const unsigned count = p->blocks * 4 * p->words;

    for (unsigned k = 0; k < count; k += p->cells[1] == PTX_CELL_F64 ? 2 : 1) {
        const unsigned a = row * count + k;

        if (p->cells[1] == PTX_CELL_F64)
            ptx_put(x, "mov.b64 %%lw_u, {%%lw_x%u, %%lw_x%u}; mov.b64 %%lw_v, {%%lw_y%u, %%lw_y%u}; "
                       "fma.%s.f64 %%lw_d%u, %%lw_u, %%lw_v, %%lw_d%u; ", a, a + 1, k, k + 1, rounding, i, i);
        else if (p->cells[0] == PTX_CELL_S32)
            ptx_put(x, "dp4a.%c32.%c32 %%lw_d%u, %%lw_x%u, %%lw_y%u, %%lw_d%u; ", p->cells[1] == PTX_CELL_U8 ? 'u' : 's',
                    p->cells[2] == PTX_CELL_U8 ? 'u' : 's', i, a, k, i);
        else
            ptx_put(x, "fma.rn.f32 %%lw_d%u, %%lw_x%u, %%lw_y%u, %%lw_d%u; ", i, a, k, i);
    }
}

static void put_results(struct ptx_expansion *x, const struct product *p, unsigned count, bool saturates)
{
    for (unsigned i = 0; i < count; i++) {
        if (p->cells[0] == PTX_CELL_F16 && i % 2 == 0)
            ptx_put(x, "cvt.rn.f16.f32 %%lw_h0, %%lw_d%u; cvt.rn.f16.f32 %%lw_h1, %%lw_d%u; mov.b32 " PTX_NAME_FMT
                       ", {%%lw_h0, %%lw_h1}; ", i, i + 1, PTX_NAME_ARG(p->d->part[i / 2]));
        else if (saturates)
            ptx_put(x, "add.sat.s32 %%lw_d%u, %%lw_d%u, " PTX_NAME_FMT "; ", i, i, PTX_NAME_ARG(p->c->part[i]));
    }
    for (unsigned i = 0; i < count && p->cells[0] != PTX_CELL_F16; i++)
        ptx_put(x, "mov.%s " PTX_NAME_FMT ", %%lw_d%u; ", ptx_cells[p->cells[0]].access, PTX_NAME_ARG(p->d->part[i]), i);
}

static bool is_byte(int cell)
{
    return cell == PTX_CELL_S8 || cell == PTX_CELL_U8;
}

static void check_cells(struct ptx_expansion *x, const int cells[4])
{
    const bool halves = cells[1] == PTX_CELL_F16;
    const int sum = is_byte(cells[1]) ? PTX_CELL_S32 : cells[1] == PTX_CELL_F64 ? PTX_CELL_F64 : PTX_CELL_F32;

    if ((is_byte(cells[1]) ? !is_byte(cells[2]) : cells[1] != cells[2]) || cells[1] >= PTX_CELL_F32)
        ptx_expand_fail(x, LW_EUNSUPP, "matrices A and B of .%s and .%s are not supported", ptx_cells[cells[1]].name,
                        ptx_cells[cells[2]].name);
    for (unsigned i = 0; i < 4; i += 3)
        if (cells[i] != sum && !(halves && cells[i] == PTX_CELL_F16))
            ptx_expand_fail(x, LW_EINPUT, "matrices of .%s need accumulators of .%s%s, not .%s", ptx_cells[cells[1]].name,
                            ptx_cells[sum].name, halves ? " or .f16" : "", ptx_cells[cells[i]].name);
}

void ptx_expand_multiply(struct ptx_expansion *x, struct ptx_shape shape, const int cells[4], unsigned registers,
                         bool saturates)
{
    static const char *const roundings[] = { "rn", "rz", "rm", "rp", NULL };
    const int rounding = ptx_expand_take_one(x, roundings);
    const unsigned count = shape.m * shape.n / 32;
    struct product p = { .cells = cells, .rows = shape.m / 8, .columns = shape.n / 8 };
    const bool is_double = cells[1] == PTX_CELL_F64;
    unsigned of_a, of_b;

    check_cells(x, cells);
    if ((saturates && cells[0] != PTX_CELL_S32) || (rounding >= 0 && !is_double))
        ptx_expand_fail(x, LW_EINPUT, "only integers have '.satfinite', and only .f64 has a rounding");
    p.blocks = shape.k / (4 * ptx_cells[cells[1]].packed);
    p.words = is_byte(cells[1]) || cells[1] == PTX_CELL_TF32 ? 1 : 2;
    of_a = p.rows * p.blocks;
    of_b = p.columns * p.blocks;
    ptx_expand_operands(x, 4, 4);
    p.d = ptx_expand_vector(x, 0, cells[0] == PTX_CELL_F16 ? count / 2 : count);
    p.a = ptx_expand_vector(x, 1, registers != 0 ? registers : of_a);
    p.b = ptx_expand_vector(x, 2, registers != 0 ? registers : of_b);
    p.c = ptx_expand_vector(x, 3, cells[3] == PTX_CELL_F16 ? count / 2 : count);
    ptx_put(x, ".reg .b16 %%lw_h<2>; .reg .b32 %%lw_q<8>, %%lw_a<%u>, %%lw_b<%u>, %%lw_x<%u>, %%lw_y<%u>; .reg .%s %%lw_d<%u>; "
               ".reg .b64 %%lw_u, %%lw_v; ",
            of_a * p.words, of_b * p.words, of_a * 4 * p.words, p.blocks * 4 * p.words, is_double ? "b64" : "b32", count);
    put_words(x, 'a', p.a, cells[1], of_a);
    put_words(x, 'b', p.b, cells[2], of_b);
    for (unsigned row = 0, at = 0; row < p.rows; row++)
        for (unsigned block = 0; block < p.blocks; block++)
            for (unsigned lane = 0; lane < 4; lane++)
                for (unsigned word = 0; word < p.words; word++, at++)
                    ptx_put(x, "shfl.sync.idx.b32 %%lw_x%u, %%lw_a%u, %u, 0x1c1f, -1; ", at,
                            (block * p.rows + row) * p.words + word, lane);
    ptx_put(x, "mov.u32 %%lw_q0, %%laneid; and.b32 %%lw_q0, %%lw_q0, 3; shl.b32 %%lw_q0, %%lw_q0, 3; ");
    for (unsigned i = 1; i < 8; i++)
        ptx_put(x, "add.s32 %%lw_q%u, %%lw_q0, %u; ", i, i);
    for (unsigned column = 0; column < p.columns; column++) {
        for (unsigned half = 0; half < 2; half++) {
            for (unsigned block = 0, at = 0; block < p.blocks; block++)
                for (unsigned lane = 0; lane < 4; lane++)
                    for (unsigned word = 0; word < p.words; word++, at++)
                        ptx_put(x, "shfl.sync.idx.b32 %%lw_y%u, %%lw_b%u, %%lw_q%u, 0x1f, -1; ", at,
                                (column * p.blocks + block) * p.words + word, half * 4 + lane);
            for (unsigned row = 0; row < p.rows; row++) {
                const unsigned i = (column * p.rows + row) * 2 + half;

                put_start(x, &p, i, saturates);
                put_sum(x, &p, i, row, rounding < 0 ? "rn" : roundings[rounding]);
            }
        }
    }
    put_results(x, &p, count, saturates);
}

void ptx_expand_mma(struct ptx_expansion *x)
{
    static const struct {
        struct ptx_shape shape;
        uint8_t cells[2];
        uint8_t version, target;
    } forms[] = {
        { { 16, 8, 8 }, { PTX_CELL_F16, PTX_CELL_F16 }, 65, 75 },   { { 16, 8, 16 }, { PTX_CELL_F16, PTX_CELL_F16 }, 70, 80 },
        { { 16, 8, 8 }, { PTX_CELL_BF16, PTX_CELL_BF16 }, 70, 80 }, { { 16, 8, 16 }, { PTX_CELL_BF16, PTX_CELL_BF16 }, 70, 80 },
        { { 16, 8, 4 }, { PTX_CELL_TF32, PTX_CELL_TF32 }, 70, 80 }, { { 16, 8, 8 }, { PTX_CELL_TF32, PTX_CELL_TF32 }, 70, 80 },
        { { 8, 8, 16 }, { PTX_CELL_S8, PTX_CELL_U8 }, 65, 75 },     { { 16, 8, 16 }, { PTX_CELL_S8, PTX_CELL_U8 }, 70, 80 },
        { { 16, 8, 32 }, { PTX_CELL_S8, PTX_CELL_U8 }, 70, 80 },    { { 8, 8, 4 }, { PTX_CELL_F64, PTX_CELL_F64 }, 70, 80 },
    };
    struct ptx_shape shape;
    const bool saturates = ptx_expand_take(x, "satfinite");
    int cells[4];
    unsigned i = 0;

    if (ptx_expand_take(x, "sp"))
        ptx_expand_fail(x, LW_EUNSUPP, "sparse matrices are not supported");
    ptx_expand_take_sync(x);
    shape = ptx_expand_take_shape(x);
    if (!ptx_expand_take(x, "row") || !ptx_expand_take(x, "col"))
        ptx_expand_fail(x, LW_EUNSUPP, "only '.row.col' is supported");
    for (unsigned k = 0; k < 4; k++) {
        struct ptx_name word = ptx_expand_take_next(x);

        if ((cells[k] = ptx_cell_find(word)) < 0)
            ptx_expand_fail(x, LW_EUNSUPP, "matrices of '.%.*s' are not supported", PTX_NAME_ARG(word));
    }
    while (i < LW_COUNT_OF(forms) &&
           (forms[i].shape.m != shape.m || forms[i].shape.n != shape.n || forms[i].shape.k != shape.k ||
            (forms[i].cells[0] != cells[1] && forms[i].cells[1] != cells[1])))
        i++;
    if (i == LW_COUNT_OF(forms))
        ptx_expand_fail(x, LW_EUNSUPP, "matrices of .%s and the shape m%un%uk%u are not supported", ptx_cells[cells[1]].name,
                        shape.m, shape.n, shape.k);
    ptx_expand_need(x, forms[i].version, forms[i].target);
    ptx_expand_multiply(x, shape, cells, 0, saturates);
}

/* ---- ldmatrix ----------------------------------------------------------------------------- */

void ptx_expand_ldmatrix(struct ptx_expansion *x)
{
    static const char *const counts[] = { "x1", "x2", "x4", NULL };
    const bool transposes = ptx_expand_take(x, "trans");
    const struct ptx_expand_operand *to;
    int count;
    bool shared;

    ptx_expand_take_sync(x);
    if (!ptx_expand_take(x, "m8n8") || !ptx_expand_take(x, "b16"))
        ptx_expand_fail(x, LW_EUNSUPP, "only '.m8n8' with '.b16' is supported");
    count = ptx_expand_take_one(x, counts);
    if (count < 0)
        ptx_expand_fail(x, LW_EINPUT, "expected '.x1', '.x2' or '.x4'");
    shared = ptx_expand_take(x, "shared") || ptx_expand_take(x, "shared::cta");
    ptx_expand_need(x, 65, 75);
    ptx_expand_operands(x, 2, 2);
    to = ptx_expand_vector(x, 0, 1u << count);
    ptx_expand_put_address(x, ptx_expand_address(x, 1), "%lw_at");
    ptx_put(x, ".reg .b16 %%lw_h<2>; .reg .b32 %%lw_r<4>, %%lw_n, %%lw_g, %%lw_t, %%lw_l, %%lw_m; %s"
               "cvt.u32.u64 %%lw_n, %%lw_at; mov.u32 %%lw_t, %%laneid; shr.u32 %%lw_g, %%lw_t, 2; and.b32 %%lw_t, %%lw_t, 3; ",
            shared ? "" : "cvta.to.shared.u64 %lw_at, %lw_at; ");
    if (transposes)
        ptx_put(x, "shl.b32 %%lw_l, %%lw_g, 1; shl.b32 %%lw_g, %%lw_t, 1; mov.b32 %%lw_t, %%lw_l; ");
    else
        ptx_put(x, "shl.b32 %%lw_t, %%lw_t, 2; ");
    /* row %lw_g of a matrix, at %lw_t bytes; the lanes from 8 * i on have the addresses of the rows of matrix i */
    for (unsigned i = 0; i < 1u << count; i++) {
        ptx_put(x, "add.s32 %%lw_l, %%lw_g, %u; shfl.sync.idx.b32 %%lw_m, %%lw_n, %%lw_l, 0x1f, -1; "
                   "add.s32 %%lw_m, %%lw_m, %%lw_t; ", 8 * i);
        if (transposes)
            ptx_put(x, "ld.shared.b16 %%lw_h0, [%%lw_m]; add.s32 %%lw_l, %%lw_l, 1; "
                       "shfl.sync.idx.b32 %%lw_m, %%lw_n, %%lw_l, 0x1f, -1; add.s32 %%lw_m, %%lw_m, %%lw_t; "
                       "ld.shared.b16 %%lw_h1, [%%lw_m]; mov.b32 %%lw_r%u, {%%lw_h0, %%lw_h1}; ", i);
        else
            ptx_put(x, "ld.shared.b32 %%lw_r%u, [%%lw_m]; ", i);
    }
    for (unsigned i = 0; i < 1u << count; i++)
        ptx_put(x, "mov.b32 " PTX_NAME_FMT ", %%lw_r%u; ", PTX_NAME_ARG(to->part[i]), i);
}
