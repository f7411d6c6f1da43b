/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block-wide execution. Many kernels are straight-line code: they find the lane's element, test whether the element exists, load,
 * compute, store, and exit. If a block of straight-line code is executed warp by warp, the emulator starts the block, begins and
 * ends the time slices of its warps, and ends the warps. For each instruction of a warp it makes a jump and classifies addresses.
 * Block-wide, each instruction of the block is executed once for all its lanes, by the interpreter's handlers on register rows as
 * wide as the block. Values that grow by a constant with the thread's number are affine values and are not computed for each
 * lane. Addresses, bounds and guards of affine values are checked at the first and the last lane.
 *
 * Stores are deferred until it is certain that the block reaches its end, so that block-wide execution has no effect until then.
 * In three cases block-wide execution is abandoned, and the block runs as usual: lanes diverge; an address is not affine, or not
 * all addresses are valid; an access touches a byte that another access writes. The last case does not count if each lane
 * accesses only its own bytes. The result therefore does not depend on the order of warps, and equals the result of the fixed
 * order (MACHINE 4). A stop, a fault or an observer never sees block-wide execution in progress.
 *
 * The technique is whole-block vectorisation with affine values. A block of 256 threads of vecadd takes 3,190 host instructions:
 * 400 for each warp, instead of 1,071 without this technique.
 */
#include "emu/grid/emu_grid_priv.h"
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/engine/emu_engine_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/simt/emu_split_priv.h"
#include "emu/engine/emu_block_vector_priv.h"
#include "emu/engine/emu_threads_priv.h"

enum {
    AHEAD_BYTES = 2048,
    SINK = 8,   /* number of the predicate to which results are written that no instruction reads */
    MISSES = 8, /* number of consecutive failures after which only one of RARELY blocks is tried */
    RARELY = 64
};

/* ---- affine values ---------------------------------------------------------------------------------- */

static uint32_t *row_at(const struct emu_block_vector *s, unsigned reg)
{
    return (uint32_t *)(void *)(s->rows + (size_t)(EMU_ROW_V0 + reg) * s->stride);
}
static bool get32(const struct emu_block_vector *s, unsigned reg, struct affine_value *out)
{
    *out = (struct affine_value){0};
    if (reg == BV_NO_REG)
        return true;
    *out = s->cell[reg].line;
    if (s->cell[reg].state == BV_CELL_HIGH) { /* The cell of the high half contains a copy of the whole 64-bit value. */
        out->base >>= 32;
        return out->step == 0;
    }
    return s->cell[reg].state != BV_CELL_ROW;
}
static bool get64(const struct emu_block_vector *s, unsigned reg, struct affine_value *out)
{
    struct affine_value low, high;

    *out = (struct affine_value){0};
    if (reg == BV_NO_REG)
        return true;
    *out = s->cell[reg].line;
    if (s->cell[reg].state == BV_CELL_LOW)
        return true;
    if (!get32(s, reg, &low) || !get32(s, reg + 1, &high) || (uint32_t)low.step != 0 ||
        (uint32_t)high.step != 0)
        return false;
    *out = (struct affine_value){.base = (uint64_t)(uint32_t)high.base << 32 | (uint32_t)low.base};
    return true;
}
/** Extends a 32-bit affine value, as signed or unsigned numbers, to 64 bits. Returns false if the value wraps in a thread. */
static bool extend(const struct emu_block_vector *s, struct affine_value *line, bool is_signed)
{
    const int64_t base = is_signed ? (int64_t)(int32_t)line->base : (int64_t)(uint32_t)line->base;
    const int64_t step = (int32_t)line->step, end = base + step * (int64_t)(s->threads - 1);

    line->base = (uint64_t)base;
    line->step = (uint64_t)step;
    return is_signed ? end == (int32_t)end : end == (int64_t)(uint32_t)end;
}

/** Materialises the lanes of register @reg. */
static void make(struct emu_block_vector *s, unsigned reg)
{
    struct bv_cell *cell = &s->cell[reg];
    const struct affine_value line = cell->line;
    uint32_t *d = row_at(s, reg);

    if (cell->state == BV_CELL_ROW || cell->has_row)
        return;
    cell->has_row = true;
    if (cell->state == BV_CELL_HIGH && line.step != 0) {
        for (unsigned t = 0; t < s->n; t++)
            d[t] = (uint32_t)((line.base + line.step * t) >> 32);
        return;
    }
    const uint32_t base = (uint32_t)(cell->state == BV_CELL_HIGH ? line.base >> 32 : line.base);
    const uint32_t step = (uint32_t)line.step;
    for (unsigned t = 0; t < s->n; t++)
        d[t] = base + step * t;
}
/** Prepares registers to be written: if only one half of a 64-bit affine value is overwritten, the other half becomes a separate
 *  value. */
static void clear(struct emu_block_vector *s, unsigned reg, unsigned words)
{
    if (s->cell[reg].state == BV_CELL_HIGH)
        s->cell[reg - 1].state = BV_CELL_AFFINE;
    if (s->cell[reg + words - 1].state != BV_CELL_LOW)
        return;
    struct bv_cell *high = &s->cell[reg + words];
    if (high->line.step == 0) {
        high->line.base >>= 32;
        high->state = BV_CELL_AFFINE;
    } else {
        make(s, reg + words);
        high->state = BV_CELL_ROW;
    }
}
/** Sets a register to the affine value @base + @step * thread, modulo 2^32. */
static void put32(struct emu_block_vector *s, unsigned reg, uint64_t base, uint64_t step)
{
    if (reg == BV_NO_REG)
        return;
    clear(s, reg, 1);
    s->cell[reg] = (struct bv_cell){.line = {(uint32_t)base, (uint32_t)step}, .state = BV_CELL_AFFINE};
}
/** Sets a register pair to the affine value @base + @step * thread, modulo 2^64. */
static void put64(struct emu_block_vector *s, unsigned reg, uint64_t base, uint64_t step)
{
    if (reg == BV_NO_REG)
        return;
    clear(s, reg, 2);
    s->cell[reg] = (struct bv_cell){.line = {base, step}, .state = BV_CELL_LOW};
    s->cell[reg + 1] = (struct bv_cell){.line = {base, step}, .state = BV_CELL_HIGH};
}
static void put_rows(struct emu_block_vector *s, unsigned reg, unsigned words)
{
    if (words == 0)
        return;
    clear(s, reg, words);
    for (unsigned k = 0; k < words; k++)
        s->cell[reg + k].state = BV_CELL_ROW;
}

static bool x32(const struct emu_block_vector *s, const struct bv_step *step, struct affine_value *out)
{
    const struct emu_dinsn *di = &step->insn[0];

    if (di->ukind == EMU_U_ROW)
        return get32(s, step->b, out);
    *out = (struct affine_value){.base = emu_uniform32(&s->warp, di)};
    return true;
}
static bool x64(const struct emu_block_vector *s, const struct bv_step *step, struct affine_value *out)
{
    const struct emu_dinsn *di = &step->insn[0];

    if (di->ukind == EMU_U_ROW)
        return get64(s, step->b, out);
    *out = (struct affine_value){.base = emu_uniform64(&s->warp, di)};
    return true;
}
/** Computes a * b if a or b is the same in all threads; @mask selects the width. */
static bool times(const struct affine_value *a, const struct affine_value *b, uint64_t mask, struct affine_value *out)
{
    if ((a->step & mask) == 0)
        *out = (struct affine_value){a->base * b->base, a->base * b->step};
    else if ((b->step & mask) == 0)
        *out = (struct affine_value){a->base * b->base, b->base * a->step};
    else
        return false;
    return true;
}
/** Computes value >> count if no bit is lost and no intermediate result wraps in any thread. */
static bool shift_right(const struct emu_block_vector *s, const struct affine_value *a, uint64_t count,
                        bool is_signed, struct affine_value *out)
{
    const uint64_t lost = count < 64 ? ((uint64_t)1 << count) - 1 : 0;
    const __int128 base = is_signed ? (__int128)(int64_t)a->base : (__int128)a->base;
    const __int128 end = base + (__int128)(int64_t)a->step * (s->threads - 1);

    if (count > 63 || ((a->base | a->step) & lost) != 0 ||
        (is_signed ? end != (int64_t)end : end != (__int128)(uint64_t)end))
        return false;
    out->base = is_signed ? (uint64_t)((int64_t)a->base >> count) : a->base >> count;
    out->step = (uint64_t)((int64_t)a->step >> count);
    return true;
}

/** Executes @step if all its operands are affine, as an operation on affine values. Returns false if the step must be executed
 *  lane by lane. */
static bool on_lines(struct emu_block_vector *s, const struct bv_step *step)
{
    const struct emu_dinsn *di = &step->insn[0];
    const bool is_signed = di->op == ISA_V_MULWIDE_S32 || di->op == ISA_V_MADWIDE_S32 ||
                           di->op == ISA_V_LEA_S32;
    const uint64_t sign = di->op == ISA_V_SUB_U32 || di->op == ISA_V_SUB_U64 ? UINT64_MAX : 1; /* The factor of b in the
                                                                                                * sum: -1 for a
                                                                                                * subtraction. */
    struct affine_value a, b, c, d;

    if (step->special) { /* the block is one-dimensional, so tid.x is the thread number */
        put32(s, step->d, 0, di->reg == ISA_SR_TID_X);
        return true;
    }
    if (di->flags & EMU_D_MODIFIED)
        return false;
    switch (di->op) {
    case ISA_V_S2R:
    case ISA_V_MOV_B32:
        if (!x32(s, step, &b))
            return false;
        put32(s, step->d, b.base, b.step);
        return true;
    case ISA_V_ADD_U32:
    case ISA_V_SUB_U32:
        if (!get32(s, step->a, &a) || !x32(s, step, &b))
            return false;
        put32(s, step->d, a.base + sign * b.base, a.step + sign * b.step);
        return true;
    case ISA_V_MUL_U32:
    case ISA_V_MAD_U32:
        c = (struct affine_value){0};
        if (!get32(s, step->a, &a) || !x32(s, step, &b) || (di->op == ISA_V_MAD_U32 && !get32(s, step->c, &c)) ||
            !times(&a, &b, UINT32_MAX, &d))
            return false;
        put32(s, step->d, d.base + c.base, d.step + c.step);
        return true;
    case ISA_V_SHL_B32:
        if (!get32(s, step->a, &a) || !x32(s, step, &b) || (uint32_t)b.step != 0)
            return false;
        b.base = (uint32_t)b.base;
        put32(s, step->d, b.base > 31 ? 0 : a.base << b.base, b.base > 31 ? 0 : a.step << b.base);
        return true;
    case ISA_V_MULWIDE_U32:
    case ISA_V_MULWIDE_S32:
    case ISA_V_MADWIDE_U32:
    case ISA_V_MADWIDE_S32:
        c = (struct affine_value){0};
        if (!get32(s, step->a, &a) || !x32(s, step, &b) || !extend(s, &a, is_signed) ||
            !extend(s, &b, is_signed) || !times(&a, &b, UINT64_MAX, &d) ||
            ((di->op == ISA_V_MADWIDE_U32 || di->op == ISA_V_MADWIDE_S32) &&
             !get64(s, step->c, &c)))
            return false;
        put64(s, step->d, d.base + c.base, d.step + c.step);
        return true;
    case ISA_V_LEA_U32:
    case ISA_V_LEA_S32:
        if (!get32(s, step->a, &a) || !x32(s, step, &b) || !extend(s, &a, is_signed) ||
            (uint32_t)b.step != 0 || !get64(s, step->c, &c))
            return false;
        put64(s, step->d, (a.base << (b.base & 31)) + c.base, (a.step << (b.base & 31)) + c.step);
        return true;
    case ISA_V_MOV_B64:
        if (!x64(s, step, &b))
            return false;
        put64(s, step->d, b.base, b.step);
        return true;
    case ISA_V_ADD_U64:
    case ISA_V_SUB_U64:
        if (!get64(s, step->a, &a) || !x64(s, step, &b))
            return false;
        put64(s, step->d, a.base + sign * b.base, a.step + sign * b.step);
        return true;
    case ISA_V_MUL_U64:
    case ISA_V_MAD_U64:
        c = (struct affine_value){0};
        if (!get64(s, step->a, &a) || !x64(s, step, &b) || !times(&a, &b, UINT64_MAX, &d) ||
            (di->op == ISA_V_MAD_U64 && !get64(s, step->c, &c)))
            return false;
        put64(s, step->d, d.base + c.base, d.step + c.step);
        return true;
    case ISA_V_SHL_B64:
        if (!get64(s, step->a, &a) || !x32(s, step, &b) || (uint32_t)b.step != 0)
            return false;
        b.base = (uint32_t)b.base;
        put64(s, step->d, b.base > 63 ? 0 : a.base << b.base, b.base > 63 ? 0 : a.step << b.base);
        return true;
    case ISA_V_SHR_U64:
    case ISA_V_SHR_S64:
        if (!get64(s, step->a, &a) || !x32(s, step, &b) || (uint32_t)b.step != 0 ||
            !shift_right(s, &a, (uint32_t)b.base, di->op == ISA_V_SHR_S64, &d))
            return false;
        put64(s, step->d, d.base, d.step);
        return true;
    case ISA_V_CVT: { /* only conversions between integers without modifiers (converts_rows) */
        const unsigned from = di->sub >> 4, to = di->sub & 15;
        if ((to == ISA_DT_U64 || to == ISA_DT_S64) && (from == ISA_ST_U32 || from == ISA_ST_S32)) {
            if (!get32(s, step->b, &b) || !extend(s, &b, from == ISA_ST_S32))
                return false;
            put64(s, step->d, b.base, b.step);
            return true;
        }
        if ((to == ISA_DT_U32 || to == ISA_DT_S32) && (from == ISA_ST_U64 || from == ISA_ST_S64)) {
            if (!get32(s, step->b, &b))
                return false;
            put32(s, step->d, b.base, b.step);
            return true;
        }
        return false;
    }
    default:
        return false;
    }
}

/* ---- register rows ---------------------------------------------------------------------------------- */

static void run(struct emu_block_vector *s, const struct bv_step *step)
{
    s->warp.leave = EMU_RUNNING;
    step->insn[0].h.full(&s->warp, &step->insn[0]);
}
static void on_rows(struct emu_block_vector *s, const struct bv_step *step)
{
    for (unsigned i = 0; i < step->source_count; i++)
        make(s, step->source[i]);
    put_rows(s, step->written, step->written_count);
    run(s, step);
}

/** Gets the values of an affine value in the first and the last thread. Returns false if the value wraps. */
static bool ends_of(const struct emu_block_vector *s, const struct affine_value *line, bool wide, bool is_signed,
                    __int128 *first, __int128 *last)
{
    struct affine_value at = *line;

    if (!wide && !extend(s, &at, is_signed))
        return false;
    *first = is_signed || !wide ? (__int128)(int64_t)at.base : (__int128)at.base;
    *last = *first + (__int128)(int64_t)at.step * (s->threads - 1);
    return !wide || (is_signed ? *last == (int64_t)*last : *last == (__int128)(uint64_t)*last);
}

/** Compares two affine values; *@truth is the result, if it is the same in all threads. Returns false if an operand is not
 *  affine, or if the results differ. */
static bool compare_lines(const struct emu_block_vector *s, const struct bv_step *step, bool *truth)
{
    const struct emu_dinsn *di = &step->insn[0];
    const bool wide = di->op == ISA_V_SETP_U64 || di->op == ISA_V_SETP_S64;
    const bool is_signed = di->op == ISA_V_SETP_S32 || di->op == ISA_V_SETP_S64;
    const unsigned wanted = emu_relations[di->sub & 15];
    struct affine_value a, b;
    __int128 a0, a1, b0, b1;

    if (!is_signed && di->op != ISA_V_SETP_U32 && di->op != ISA_V_SETP_U64)
        return false;
    if (!(wide ? get64(s, step->a, &a) && x64(s, step, &b)
               : get32(s, step->a, &a) && x32(s, step, &b)) ||
        !ends_of(s, &a, wide, is_signed, &a0, &a1) || !ends_of(s, &b, wide, is_signed, &b0, &b1))
        return false;
    /* the difference of the operands is affine, too, so it is zero for at most one thread, or for all threads */
    const unsigned first = 1u << ((a0 == b0) + 2 * (a0 > b0));
    const unsigned last = 1u << ((a1 == b1) + 2 * (a1 > b1));
    *truth = (wanted & first) != 0;
    if (first == last)
        return true;
    const unsigned used_bits = first | last | 2; /* in a thread between the first and the last one, the difference may be zero */
    return (wanted & used_bits) == used_bits || (wanted & used_bits) == 0;
}

/** Compares values lane by lane, 64 lanes at a time. Returns false if the results of the lanes differ. */
static bool compare_rows(struct emu_block_vector *s, const struct bv_step *step)
{
    const struct emu_dinsn *di = &step->insn[0];
    struct emu_warp *w = &s->warp;
    const uint64_t e = w->e, p = w->p[di->p], q = w->p[di->q]; /* read before the results are written, because R may be the same
                                                                * register as P or Q */
    uint64_t p_and = ~UINT64_C(0), p_or = 0, q_and = ~UINT64_C(0), q_or = 0;

    for (unsigned i = 0; i < step->source_count; i++)
        make(s, step->source[i]);
    for (unsigned t = 0; t < s->threads; t += EMU_MAX_LANES) {
        const unsigned left = s->threads - t;
        w->e = lw_mask(left < EMU_MAX_LANES ? left : EMU_MAX_LANES);
        w->n = EMU_MAX_LANES;
        w->regs = s->rows + 4 * t;
        w->p[di->p] = p;
        w->p[di->q] = q;
        run(s, step);
        p_and &= w->p[di->p] | ~w->e;
        p_or |= w->p[di->p] & w->e;
        q_and &= w->p[di->q] | ~w->e;
        q_or |= w->p[di->q] & w->e;
    }
    w->e = e;
    w->n = s->n;
    w->regs = s->rows;
    w->p[di->p] = p_or != 0 ? ~UINT64_C(0) : 0;
    w->p[di->q] = q_or != 0 ? ~UINT64_C(0) : 0;
    return (di->p == SINK || p_or == 0 || ~p_and == 0) && (di->q == SINK || q_or == 0 || ~q_and == 0);
}

static bool compare(struct emu_block_vector *s, const struct bv_step *step)
{
    const struct emu_dinsn *di = &step->insn[0];
    struct emu_warp *w = &s->warp;
    bool truth;

    if (!compare_lines(s, step, &truth))
        return compare_rows(s, step);
    uint64_t p = truth ? ~UINT64_C(0) : 0;
    emu_put_compare(w, di, ~UINT64_C(0), p, ~p);
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/** Returns true if every byte of [offset, offset + bytes) of global memory may be accessed. */
static bool all_there(const struct emu_memory *memory, const uint16_t *valid, uint64_t offset,
                      uint64_t bytes)
{
    uint64_t page = offset / EMU_PAGE_BYTES, in = offset % EMU_PAGE_BYTES;

    if (offset >= memory->bytes || bytes > memory->bytes - offset)
        return false;
    for (; in + bytes > EMU_PAGE_BYTES; in = 0) {
        if (valid[page++] != EMU_PAGE_BYTES)
            return false;
        bytes -= EMU_PAGE_BYTES - in;
    }
    return in + bytes <= valid[page];
}

/** Returns true if both accesses may be executed one after the other for all threads together. For this, no thread may access, in
 *  one of the two accesses, a byte that another thread writes in the other access. */
static bool keep_apart(const struct bv_access *a, const struct bv_access *b)
{
    if (a->high <= b->low || b->high <= a->low || (!a->write && !b->write))
        return true;
    if (b->write && !a->write) /* A store after a load of the same elements is safe, because each thread accesses only
                                * its own element. */
        return a->first == b->first && a->step == b->step && a->bytes == b->bytes && a->step != 0;
    return false;
}

/** Finds the memory that the lanes of a load or store access. Returns false if the address is not affine or not
 *  aligned, or if the memory is not valid or is touched by another access. */
static bool place(struct emu_block_vector *s, struct bv_step *step, struct bv_access *out)
{
    const struct emu_dinsn *di = &step->insn[0];
    const struct emu_memory *memory = &s->block.core->machine->memory;
    const bool write = step->kind == BV_STORE;
    struct affine_value at;

    if (step->mode == ISA_AMODE_PAIR) {
        if (!get64(s, step->a, &at))
            return false;
    } else if (!get32(s, step->a, &at) || !extend(s, &at, step->mode == ISA_AMODE_SS32)) {
        return false;
    }
    at.base <<= step->scale;
    at.step <<= step->scale;
    at.base += (uint64_t)(int64_t)di->disp - ISA_GLOBAL_BASE;
    if (step->mode == ISA_AMODE_SS32 || step->mode == ISA_AMODE_SU32)
        at.base += emu_scalar_pair(&s->warp, di->reg);
    /* all_there(), which is called later, tests every page between the ends. With a stride of more than a page, the access would
     * leave out some of these pages. */
    const int64_t stride = (int64_t)at.step, far = EMU_PAGE_BYTES;
    if (((at.base | at.step) & (step->bytes - 1u)) != 0 || stride > far || stride < -far ||
        at.base >= memory->bytes || (write && at.step == 0 && s->threads != 1) ||
        s->access_count == BV_ACCESSES)
        return false;
    const int64_t way = stride * (int64_t)(s->threads - 1);
    if (way < 0 && at.base < (uint64_t)-way)
        return false;
    *out = (struct bv_access){.first = at.base, .step = at.step, .bytes = step->bytes,
                           .low = way < 0 ? at.base - (uint64_t)-way : at.base, .write = write};
    out->high = (way < 0 ? at.base : at.base + (uint64_t)way) + step->bytes;
    if (!all_there(memory, write ? memory->store_valid : memory->load_valid, out->low,
                   out->high - out->low))
        return false;
    for (unsigned i = 0; i < s->access_count; i++)
        if (!keep_apart(&s->access[i], out))
            return false;
    return true;
}

/** Prefetches the words that the next blocks will access, if the access is contiguous. The host's own prefetcher does not cross a
 *  page. */
static void ask_ahead(const struct emu_block_vector *s, const uint8_t *host)
{
    for (unsigned k = 0; k < 4 * s->threads; k += 64)
        __builtin_prefetch(host + AHEAD_BYTES + k);
}

/** Loads word @k of one lane's element. */
static inline uint32_t load_word(const uint8_t *p, unsigned size, unsigned k)
{
    uint16_t half;

    switch (size) {
    case ISA_SIZE_U8: return *p;
    case ISA_SIZE_S8: return (uint32_t)(int32_t)(int8_t)*p;
    case ISA_SIZE_U16:
        memcpy(&half, p, sizeof half);
        return half;
    case ISA_SIZE_S16:
        memcpy(&half, p, sizeof half);
        return (uint32_t)(int32_t)(int16_t)half;
    default: return lw_get32(p + 4 * k);
    }
}

static bool load(struct emu_block_vector *s, struct bv_step *step)
{
    struct bv_access at;

    if (!place(s, step, &at))
        return false;
    const uint8_t *host = s->block.core->machine->memory.host + at.first;
    s->access[s->access_count++] = at;
    for (unsigned k = 0; k < step->words; k++) {
        const unsigned reg = step->d + k;
        if (step->d == BV_NO_REG)
            break;
        if (at.step == 0) {
            put32(s, reg, load_word(host, step->size, k), 0);
            continue;
        }
        uint32_t *d = row_at(s, reg);
        put_rows(s, reg, 1);
        if (step->size == ISA_SIZE_B32 && at.step == 4) {
            ask_ahead(s, host);
            memcpy(d, host, 4 * (size_t)s->threads);
        } else {
            for (unsigned t = 0; t < s->threads; t++)
                d[t] = load_word(host + (int64_t)at.step * (int64_t)t, step->size, k);
        }
    }
    return true;
}

/** Stores the register rows at @from, which are one vector register apart, to the addresses of @at. */
static void put(struct emu_block_vector *s, const struct bv_step *step, const struct bv_access *at,
                const uint32_t *from)
{
    struct emu_memory *memory = &s->block.core->machine->memory;
    uint8_t *host = memory->host + at->first;

    emu_memory_touch(memory, at->low, at->high - at->low);
    if (step->size == ISA_SIZE_B32 && at->step == 4) {
        ask_ahead(s, host);
        memcpy(host, from, 4 * (size_t)s->threads);
        return;
    }
    for (unsigned k = 0; k < step->words; k++, from += s->stride / 4) {
        for (unsigned t = 0; t < s->threads; t++) {
            uint8_t *p = host + (int64_t)at->step * (int64_t)t;
            const uint16_t half = (uint16_t)from[t];
            if (step->bytes == 1)
                *p = (uint8_t)from[t];
            else if (step->bytes == 2)
                memcpy(p, &half, sizeof half);
            else
                lw_put32(p + 4 * k, from[t]);
        }
    }
}

static bool store(struct emu_block_vector *s, struct bv_step *step)
{
    struct bv_access at;

    if (!place(s, step, &at))
        return false;
    const int64_t stride = (int64_t)at.step;
    if (s->threads != 1 && stride < step->bytes && -stride < step->bytes)
        return false;
    const uint32_t *from = (const uint32_t *)(const void *)(s->rows + s->layout.row_zero);
    for (unsigned k = 0; k < step->words && step->b != BV_NO_REG; k++)
        make(s, step->b + k);
    if (step->b != BV_NO_REG)
        from = row_at(s, step->b);
    if (step->last) { /* The deferred stores are written after this store. The order of these stores does not matter, because they
                       * write different bytes. */
        put(s, step, &at, from);
        return true;
    }
    memcpy(step->saved, from, (size_t)step->words * s->stride);
    at.saved = step;
    s->access[s->access_count++] = at;
    return true;
}

/* ---- a block ------------------------------------------------------------------------------------------- */

/** Returns the value of a guard, which is the same in all threads. */
static bool holds(const struct emu_warp *w, unsigned guard)
{
    const bool p = guard & 16 ? w->sp[guard & 7] != 0 : w->p[guard & 7] != 0;

    return p != ((guard & 8) != 0);
}

/** Executes the block. Returns the number of instructions of each warp, or 0 if block-wide execution was abandoned and has
 *  changed nothing. */
static unsigned block_vector(struct emu_block_vector *s, unsigned *loads, unsigned *stores)
{
    struct emu_warp *w = &s->warp;
    unsigned i;

    memset(s->cell, 0, (s->vregs + 3) * sizeof *s->cell);
    for (unsigned r = 0; r < s->vregs + 3; r++)
        s->cell[r].state = BV_CELL_AFFINE;
    memset(w->s, 0, s->scalars * sizeof *w->s); /* s[] is cleared only up to s->scalars, so exec does not change */
    memset(w->p, 0, ISA_PT * sizeof *w->p);
    memset(w->sp, 0, ISA_PT * sizeof *w->sp);
    s->access_count = 0;
    for (i = 0; i < s->count; i++) {
        struct bv_step *step = &s->step[i];
        bool done = true;
        if (step->guard != ISA_PT && !holds(w, step->guard))
            continue;
        if (step->exit)
            break;
        if (step->ends)
            return 0;
        switch (step->kind) {
        case BV_SCALAR:
            run(s, step);
            done = w->leave != EMU_LEAVE_FAULT;
            break;
        case BV_ROW:
            if (!on_lines(s, step))
                on_rows(s, step);
            break;
        case BV_COMPARE: done = compare(s, step); break;
        case BV_LOAD:
            done = load(s, step);
            ++*loads;
            break;
        default:
            done = store(s, step);
            ++*stores;
            break;
        }
        if (!done)
            return 0;
    }
    for (unsigned k = 0; k < s->access_count; k++)
        if (s->access[k].saved != NULL)
            put(s, s->access[k].saved, &s->access[k], s->access[k].saved->saved);
    return i + 1;
}

/** Executes the block of @r block-wide, if that takes at most @most instructions in all. Returns true if the block was
 *  executed. */
static bool bv_block(struct emu_functional *f, struct emu_block_vector *s, const struct emu_resident *r,
                        uint64_t most)
{
    struct emu_core *core = f->core;
    struct emu_grid *grid = r->grid;
    struct emu_block *block = &s->block;
    unsigned rows, loads = 0, stores = 0;

    if ((uint64_t)s->count * s->warps > most)
        return false;
    if (s->tried_grid == grid->sequence && s->tried == r->linear)
        return false; /* Block-wide execution of this block was abandoned just before, so the warps execute the block. */
    if (s->misses >= MISSES && s->passed++ % RARELY != 0)
        return false;
    if (!emu_grid_complete_bank(core->machine, grid))
        return false; /* The start of the block by its warps will report the error. */
    if (block->grid != grid || s->warp.ubase[EMU_U_BANK0] != (const char *)grid->bank0) {
        block->grid = grid;
        s->warp.ubase[EMU_U_BANK0] = (const char *)grid->bank0;
    }
    block->linear = r->linear;
    emu_block_specials(block);
    rows = block_vector(s, &loads, &stores);
    if (rows == 0) {
        s->misses++;
        s->tried_grid = grid->sequence;
        s->tried = r->linear;
        return false;
    }
    s->misses = 0;
    s->done++;
    core->retired += (uint64_t)rows * s->warps;
    core->stats.thread_instructions += (uint64_t)rows * s->threads;
    core->stats.loads += (uint64_t)loads * s->warps;
    core->stats.stores += (uint64_t)stores * s->warps;
    core->stats.blocks++;
    core->stats.warps += s->warps;
    (void)emu_count_one(core->machine, &grid->blocks_started);
    if (!__atomic_load_n(&grid->started, __ATOMIC_RELAXED))
        emu_grid_begin(core->machine, grid);
    emu_split_block_ends(block);
    emu_text_block_ended(core->machine, grid, r->linear);
    return true;
}

/** Returns the plan for @grid, which may be unusable, or NULL if there is no plan. */
static struct emu_block_vector *bv_plan_for(struct emu_core *core, const struct emu_grid *grid)
{
    struct emu_block_vector *s = core->block_vector;
    struct emu_code *code;

    if (grid->launch.block[0] != grid->block_threads || /* only one-dimensional blocks are executed block-wide */
        emu_core_code(core, &grid->launch, &code, NULL) != LW_OK)
        return NULL;
    if (s != NULL && s->of == code && s->kernel == grid->launch.kernel &&
        s->threads == grid->block_threads)
        return s;
    emu_block_vector_destroy(s);
    return core->block_vector = emu_bv_plan(core, grid, code);
}

uint64_t emu_block_vector_count(struct emu_engine *engine)
{
    const struct emu_functional *f = emu_fixed_of(engine);

    return f != NULL && f->core->block_vector != NULL ? f->core->block_vector->done : 0;
}

bool emu_block_vector_blocks(struct emu_functional *f)
{
    const struct emu_machine *machine = f->base.machine;
    const struct emu_engine *engine = f->claims != NULL ? f->claims->engine : &f->base;
    const uint64_t window = machine->config.hang_window;
    const struct emu_grid *grid = NULL;
    struct emu_block_vector *s = NULL;

    if (machine->active_hooks != NULL || machine->breakpoint_count != 0 || machine->halt ||
        machine->config.tags != EMU_TAGS_OFF || f->placed || f->probe != NULL)
        return false;
    while (f->core->retired < f->base.stop_at && emu_fixed_take_up_next(f) && f->order_free &&
           f->count != 0 && !__atomic_load_n(&engine->interrupted, __ATOMIC_RELAXED)) {
        const struct emu_resident r = f->resident[f->current];
        uint64_t most = f->base.stop_at - f->core->retired;
        if (r.slot >= 0 || emu_grid_of_device(r.grid) || r.grid->block_threads == 0)
            return false;
        if (f->snapshot_at < f->base.stop_at)
            most = f->snapshot_at > f->core->retired ? f->snapshot_at - f->core->retired : 0;
        if (window != 0 && most > window)
            most = window;
        if (grid == NULL) {
            grid = r.grid;
            s = bv_plan_for(f->core, grid);
        }
        if (s == NULL || !s->usable || !bv_block(f, s, &r, most))
            return false;
        emu_fixed_leave(f, f->current);
        if (f->claims == NULL && f->grid != grid) /* The engine runs another grid now, which may run on several threads. */
            return true;
    }
    return false;
}
