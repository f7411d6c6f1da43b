/* SPDX-License-Identifier: Apache-2.0 */
/* wmma: loads and stores of fragments as ordinary loads and stores of each lane, and the multiplication of mma. */
#include "ptx/parse/ptx_expand_matrix_priv.h"

enum { HALVES = 8 }; /* registers of a fragment of f16 in PTX, of which some shapes need fewer */

/* Refuses shapes that PTX does not have for a type, and those that the module's version does not have. */
static void check_form(struct ptx_expansion *x, struct ptx_shape shape, int cell)
{
    const bool wide = shape.k == 16 && shape.m * shape.n == 256;

    if (cell == PTX_CELL_TF32 ? shape.m != 16 || shape.n != 16 || shape.k != 8
        : cell == PTX_CELL_F64 ? shape.m != 8 || shape.n != 8 || shape.k != 4
        : cell == PTX_CELL_F32 ? !wide && (shape.m != 16 || shape.n != 16 || shape.k != 8)
                               : !wide)
        ptx_expand_fail(x, LW_EUNSUPP, "matrices of .%s and the shape m%un%uk%u are not supported", ptx_cells[cell].name, shape.m,
                        shape.n, shape.k);
    if (cell == PTX_CELL_BF16 || cell == PTX_CELL_TF32 || cell == PTX_CELL_F64 || shape.k == 8)
        ptx_expand_need(x, 70, 80);
    else if (cell == PTX_CELL_S8 || cell == PTX_CELL_U8 || cell == PTX_CELL_S32)
        ptx_expand_need(x, 63, 72);
    else
        ptx_expand_need(x, shape.m == 16 ? 60 : 61, 70);
}

/** A load or store of a fragment. A line is a row of A or of the accumulator, or a column of B. */
struct transfer {
    char role;       /* 'a', 'b', 'c' for the accumulator to load, 'd' for that to store */
    int cell;
    bool contiguous; /* consecutive elements of a line are next to each other in memory */
    const char *space;
    struct ptx_shape shape;
    unsigned tiles, blocks, each; /* tiles of 8 lines; blocks of a line; consecutive elements of a line in a lane */
};

/* Returns the number of the register with element @element of a block of a tile. */
static unsigned register_of(const struct transfer *t, unsigned tile, unsigned block, unsigned element)
{
    const unsigned group = t->role == 'b' ? tile * t->blocks + block : block * t->tiles + tile;

    return ptx_cells[t->cell].packed > 1 ? group : group * t->each + element;
}

/* Puts the address of the first element of the lane into %lw_at, and the bytes from a line to the next one (or, if elements of a
 * line are not contiguous, from an element to the next one) into %lw_step. */
static void put_base(struct ptx_expansion *x, const struct transfer *t, const struct ptx_expand_operand *step)
{
    const unsigned bytes = ptx_cells[t->cell].bytes, line = t->blocks * 4 * t->each;

    ptx_put(x, ".reg .b16 %%lw_h<2>; .reg .b32 %%lw_g, %%lw_t, %%lw_n, %%lw_k<4>; .reg .b64 %%lw_step, %%lw_o, %%lw_u; ");
    if (step != NULL)
        ptx_put(x, "mov.b32 %%lw_n, " PTX_NAME_FMT "; ", PTX_NAME_ARG(step->first));
    else
        ptx_put(x, "mov.b32 %%lw_n, %u; ", t->contiguous ? line : t->tiles * 8);
    ptx_put(x, "mul.wide.u32 %%lw_step, %%lw_n, %u; mov.u32 %%lw_t, %%laneid; shr.u32 %%lw_g, %%lw_t, 2; "
               "and.b32 %%lw_t, %%lw_t, 3; mul.lo.u32 %%lw_t, %%lw_t, %u; cvt.u64.u32 %%lw_u, %%lw_%c; "
               "mad.lo.u64 %%lw_at, %%lw_u, %%lw_step, %%lw_at; "
               "mul.wide.u32 %%lw_u, %%lw_%c, %u; add.s64 %%lw_at, %%lw_at, %%lw_u; ",
            bytes, t->each, t->contiguous ? 'g' : 't', t->contiguous ? 't' : 'g', bytes);
}

/* Puts the transfer of one register, or of @part of a register with several elements that are not contiguous (-1: the whole
 * register). */
static void put_access(struct ptx_expansion *x, const struct transfer *t, struct ptx_name reg, unsigned offset, int part)
{
    const bool store = t->role == 'd';
    const unsigned bytes = ptx_cells[t->cell].bytes;

    if (part < 0 && store)
        ptx_put(x, "st%s.%s [%%lw_o+%u], " PTX_NAME_FMT "; ", t->space, ptx_cells[t->cell].access, offset, PTX_NAME_ARG(reg));
    else if (part < 0)
        ptx_put(x, "ld%s.%s " PTX_NAME_FMT ", [%%lw_o+%u]; ", t->space, ptx_cells[t->cell].access, PTX_NAME_ARG(reg), offset);
    else if (store)
        ptx_put(x, "mov.b32 {%%lw_h0, %%lw_h1}, " PTX_NAME_FMT "; st%s.b16 [%%lw_o+%u], %%lw_h%d; ", PTX_NAME_ARG(reg), t->space,
                offset, part);
    else
        ptx_put(x, "ld%s.u%u %%lw_k%d, [%%lw_o+%u]; ", t->space, 8 * bytes, part, offset);
}

static void put_gather(struct ptx_expansion *x, const struct transfer *t, struct ptx_name reg)
{
    if (ptx_cells[t->cell].packed == 2)
        ptx_put(x, "prmt.b32 " PTX_NAME_FMT ", %%lw_k0, %%lw_k1, 0x5410; ", PTX_NAME_ARG(reg));
    else
        ptx_put(x, "prmt.b32 %%lw_k0, %%lw_k0, %%lw_k1, 0x0040; prmt.b32 %%lw_k2, %%lw_k2, %%lw_k3, 0x0040; "
                   "prmt.b32 " PTX_NAME_FMT ", %%lw_k0, %%lw_k2, 0x5410; ", PTX_NAME_ARG(reg));
}

static void put_transfer(struct ptx_expansion *x, const struct transfer *t, const struct ptx_expand_operand *registers)
{
    const struct ptx_cell_info *cell = &ptx_cells[t->cell];
    const bool whole = t->contiguous || cell->packed == 1;

    for (unsigned tile = 0; tile < t->tiles; tile++) {
        if (t->contiguous)
            ptx_put(x, "mad.lo.u64 %%lw_o, %%lw_step, %u, %%lw_at; ", tile * 8);
        for (unsigned block = 0; block < t->blocks; block++) {
            for (unsigned e = 0; e < t->each; e++) {
                const struct ptx_name reg = registers->part[register_of(t, tile, block, e)];

                if (whole && cell->packed > 1 && e != 0)
                    continue;
                if (!t->contiguous)
                    ptx_put(x, "mad.lo.u64 %%lw_o, %%lw_step, %u, %%lw_at; ", block * 4 * t->each + e);
                put_access(x, t, reg, (t->contiguous ? block * 4 * t->each + e : tile * 8) * cell->bytes, whole ? -1 : (int)e);
            }
            if (!whole && t->role != 'd')
                put_gather(x, t, registers->part[register_of(t, tile, block, 0)]);
        }
    }
}

/* Selects wmma.load and wmma.store. */
static void transfer(struct ptx_expansion *x, bool store)
{
    static const char *const roles[] = { "a", "b", "c", NULL };
    struct transfer t = { .role = 'd', .space = "" };
    const struct ptx_expand_operand *registers, *address;
    struct ptx_name type;
    bool by_rows;
    unsigned count;
    int role;

    if (store ? !ptx_expand_take(x, "d") : (role = ptx_expand_take_one(x, roles)) < 0)
        ptx_expand_fail(x, LW_EINPUT, store ? "expected '.d'" : "expected '.a', '.b' or '.c'");
    if (!store)
        t.role = roles[role][0];
    ptx_expand_take_sync(x);
    by_rows = ptx_expand_take(x, "row");
    if (!by_rows && !ptx_expand_take(x, "col"))
        ptx_expand_fail(x, LW_EINPUT, "expected '.row' or '.col'");
    t.shape = ptx_expand_take_shape(x);
    if (ptx_expand_take(x, "global"))
        t.space = ".global";
    else if (ptx_expand_take(x, "shared") || ptx_expand_take(x, "shared::cta"))
        t.space = ".shared";
    type = ptx_expand_take_next(x);
    t.cell = ptx_cell_find(type);
    const bool sum = t.role >= 'c';
    const bool sums = t.cell == PTX_CELL_F32 || t.cell == PTX_CELL_S32, both = t.cell == PTX_CELL_F16 || t.cell == PTX_CELL_F64;

    if (t.cell < 0 || (sum ? !sums && !both : sums))
        ptx_expand_fail(x, LW_EUNSUPP, "matrices of '.%.*s' are not supported", PTX_NAME_ARG(type));
    check_form(x, t.shape, t.cell);
    t.each = sum ? 2 : ptx_cells[t.cell].packed;
    t.tiles = (t.role == 'b' ? t.shape.n : t.shape.m) / 8;
    t.blocks = (sum ? t.shape.n : t.shape.k) / (4 * t.each);
    t.contiguous = by_rows == (t.role != 'b');
    count = t.tiles * t.blocks * t.each / ptx_cells[t.cell].packed;
    ptx_expand_operands(x, 2, 3);
    address = ptx_expand_address(x, store ? 0 : 1);
    registers = ptx_expand_vector(x, store ? 1 : 0, !sum && t.cell == PTX_CELL_F16 ? HALVES : count);
    ptx_expand_put_address(x, address, "%lw_at");
    put_base(x, &t, x->operand_count > 2 ? ptx_expand_vector(x, 2, 1) : NULL);
    put_transfer(x, &t, registers);
    for (unsigned i = count; i < registers->count; i++) /* a program may use all elements of its fragment */
        ptx_put(x, "mov.b32 " PTX_NAME_FMT ", " PTX_NAME_FMT "; ", PTX_NAME_ARG(registers->part[i]),
                PTX_NAME_ARG(registers->part[i % count]));
}

static void multiply(struct ptx_expansion *x)
{
    static const char *const layouts[] = { "row", "col", NULL };
    struct ptx_name type[4] = { { "", 0 } };
    struct ptx_shape shape;
    unsigned count = 0;
    int cells[4];

    ptx_expand_take_sync(x);
    if (ptx_expand_take(x, "xor") || ptx_expand_take(x, "and"))
        ptx_expand_fail(x, LW_EUNSUPP, "matrices of '.b1' are not supported");
    for (unsigned i = 0; i < 2; i++) /* both layouts, which the fragments do not depend on, may be equal */
        if (ptx_expand_take_one(x, layouts) < 0)
            ptx_expand_fail(x, LW_EINPUT, "expected the layouts of A and B");
    shape = ptx_expand_take_shape(x);
    for (unsigned i = 0; i < x->modifier_count && count < 4; i++) {
        int cell = x->taken[i] ? -1 : ptx_cell_find(x->modifier[i]);

        if (cell < 0)
            continue;
        x->taken[i] = true;
        type[count] = x->modifier[i];
        cells[count++] = cell;
    }
    if (count == 2) { /* types of D and C; A and B have f16 */
        cells[3] = cells[1];
        cells[1] = cells[2] = PTX_CELL_F16;
    } else if (count != 4) {
        ptx_expand_leftovers(x);
        ptx_expand_fail(x, LW_EINPUT, "expected the types of D and C, or of D, A, B and C");
    } else if (cells[1] != cells[2] || cells[1] == PTX_CELL_F16) {
        ptx_expand_fail(x, LW_EINPUT, "matrices A and B of .%.*s and .%.*s are not supported", PTX_NAME_ARG(type[1]),
                        PTX_NAME_ARG(type[2]));
    }
    check_form(x, shape, cells[1]);
    ptx_expand_multiply(x, shape, cells, cells[1] == PTX_CELL_F16 ? HALVES : 0, ptx_expand_take(x, "satfinite"));
}

void ptx_expand_wmma(struct ptx_expansion *x)
{
    if (ptx_expand_take(x, "mma"))
        multiply(x);
    else if (ptx_expand_take(x, "load"))
        transfer(x, false);
    else if (ptx_expand_take(x, "store"))
        transfer(x, true);
    else
        ptx_expand_fail(x, LW_EINPUT, "expected '.load', '.store' or '.mma'");
}
