/* SPDX-License-Identifier: Apache-2.0 */
/* The algebra of uniform and affine values (docs/explanation/uniform-affine.md). */
#include "emu/emu_machine_priv.h"
#include "emu/tags/emu_tags_priv.h"

const char *const emu_tag_mode_names[] = {"off", "shadow", "compact", NULL};
const char *const emu_tag_rules_names[] = {"table", "exact", "fold", NULL};
const char *const emu_tag_expansion_names[] = {"lazy", "eager", NULL};
const char *const emu_tag_plan_names[] = {"gain", "all", NULL};

/* a type for sums and products of 64-bit values, which may exceed 64 bits */
typedef __int128 wide;

/* ---- values ------------------------------------------------------------------- */

static uint64_t cut(unsigned bits, uint64_t x)
{
    return bits == 64 ? x : (uint32_t)x;
}
static int64_t cut_signed(unsigned bits, uint64_t x)
{
    return bits == 64 ? (int64_t)x : (int32_t)(uint32_t)x;
}

struct emu_affine emu_affine_make(unsigned bits, uint64_t base, uint64_t stride, uint64_t rise)
{
    struct emu_affine v = {.base = cut(bits, base),
                           .stride = cut_signed(bits, stride),
                           .rise = cut_signed(bits, rise)};

    v.kind = v.stride == 0 && v.rise == 0 ? EMU_TAG_U : EMU_TAG_A;
    return v;
}

uint64_t emu_affine_at(const struct emu_affine *v, unsigned bits, unsigned fold, unsigned lane)
{
    return cut(bits, v->base + (uint64_t)v->stride * (lane % fold) +
                         (uint64_t)v->rise * (lane / fold));
}

/** Returns the base as a signed or unsigned number of @bits bits. */
static wide number(const struct emu_affine *v, unsigned bits, bool is_signed)
{
    return is_signed ? (wide)cut_signed(bits, v->base) : (wide)v->base;
}

bool emu_affine_fits(const struct emu_affine *v, unsigned bits, bool is_signed, unsigned fold,
                     uint64_t live)
{
    wide one = 1, low = is_signed ? -(one << (bits - 1)) : 0;
    wide high = is_signed ? (one << (bits - 1)) - 1 : (one << bits) - 1;

    if (v->kind == EMU_TAG_V)
        return false;
    for (LW_EACH_BIT(l, live)) {
        wide x = number(v, bits, is_signed) + (wide)v->stride * (int64_t)(l % fold) +
                 (wide)v->rise * (int64_t)(l / fold);
        if (x < low || x > high)
            return false;
    }
    return true;
}

struct emu_affine emu_affine_join(const struct emu_affine *low, const struct emu_affine *high,
                                  unsigned fold, uint64_t live)
{
    if (low->kind == EMU_TAG_V || high->kind == EMU_TAG_V ||
        !emu_affine_fits(low, 32, false, fold, live))
        return emu_affine_v();
    return emu_affine_make(64, high->base << 32 | low->base,
                           ((uint64_t)high->stride << 32) + (uint64_t)low->stride,
                           ((uint64_t)high->rise << 32) + (uint64_t)low->rise);
}

struct emu_affine emu_affine_high(const struct emu_affine *v, unsigned fold, uint64_t live)
{
    struct emu_affine low;

    if (v->kind == EMU_TAG_V)
        return *v;
    low = emu_affine_make(32, v->base, (uint64_t)v->stride, (uint64_t)v->rise);
    if (!emu_affine_fits(&low, 32, false, fold, live))
        return emu_affine_v();
    return emu_affine_make(32, v->base >> 32, ((uint64_t)v->stride - (uint64_t)low.stride) >> 32,
                           ((uint64_t)v->rise - (uint64_t)low.rise) >> 32);
}

/* ---- rules -------------------------------------------------------------------------- */

/* Tag rules `table` (docs/explanation/uniform-affine.md): tag of the result, from the tags of two sources; 0 U, 1 A, 2 V. */
static const uint8_t table_add[3][3] = {{0, 1, 2}, {1, 2, 2}, {2, 2, 2}};
static const uint8_t table_mul[3][3] = {{0, 2, 2}, {2, 2, 2}, {2, 2, 2}};
static const uint8_t table_shl[3][3] = {{0, 1, 2}, {2, 2, 2}, {2, 2, 2}}; /* [amount][value] */

static struct emu_affine add(unsigned bits, const struct emu_affine *a,
                             const struct emu_affine *b)
{
    return emu_affine_make(bits, a->base + b->base, (uint64_t)a->stride + (uint64_t)b->stride,
                           (uint64_t)a->rise + (uint64_t)b->rise);
}
static struct emu_affine complement(unsigned bits, const struct emu_affine *a)
{
    return emu_affine_make(bits, ~a->base, 0 - (uint64_t)a->stride, 0 - (uint64_t)a->rise);
}
static struct emu_affine scale(unsigned bits, const struct emu_affine *a, uint64_t k)
{
    return emu_affine_make(bits, a->base * k, (uint64_t)a->stride * k, (uint64_t)a->rise * k);
}
/** Multiplies two values, one of which must be U. */
static struct emu_affine mul(unsigned bits, const struct emu_affine *a,
                             const struct emu_affine *b)
{
    return b->kind == EMU_TAG_U ? scale(bits, a, b->base) : scale(bits, b, a->base);
}
/** Extends a 32-bit value to 64 bits. Returns V if the value wraps in some lane. */
static struct emu_affine widen(const struct emu_tag_query *q, const struct emu_affine *v,
                               bool is_signed)
{
    if (!emu_affine_fits(v, 32, is_signed, q->fold, q->live))
        return emu_affine_v();
    return emu_affine_make(64, is_signed ? (uint64_t)(int64_t)(int32_t)v->base : v->base,
                           (uint64_t)v->stride, (uint64_t)v->rise);
}

static struct emu_affine product(const struct emu_tag_query *q, bool widened, bool is_signed)
{
    struct emu_affine a = q->source[0], b = q->source[1];

    if (a.kind == EMU_TAG_V || b.kind == EMU_TAG_V ||
        (q->rules == EMU_TAG_RULES_TABLE && table_mul[a.kind][b.kind] == EMU_TAG_V) ||
        (a.kind == EMU_TAG_A && b.kind == EMU_TAG_A))
        return emu_affine_v();
    if (!widened)
        return mul(q->bits, &a, &b);
    a = widen(q, &a, is_signed);
    b = widen(q, &b, is_signed);
    if (a.kind == EMU_TAG_V || b.kind == EMU_TAG_V)
        return emu_affine_v();
    return mul(64, &a, &b);
}

static struct emu_affine sum(const struct emu_tag_query *q, const struct emu_affine *a,
                             const struct emu_affine *b)
{
    if (a->kind == EMU_TAG_V || b->kind == EMU_TAG_V ||
        (q->rules == EMU_TAG_RULES_TABLE && table_add[a->kind][b->kind] == EMU_TAG_V))
        return emu_affine_v();
    return add(q->bits, a, b);
}

static enum emu_tag_how ask_shift_right(const struct emu_tag_query *q, bool is_signed,
                                        struct emu_affine *out)
{
    const struct emu_affine *a = &q->source[0], *k = &q->source[1];
    unsigned n = (unsigned)k->base;

    if (a->kind == EMU_TAG_U && k->kind == EMU_TAG_U)
        return EMU_TAG_READ;
    *out = emu_affine_v();
    if (q->rules == EMU_TAG_RULES_TABLE || a->kind == EMU_TAG_V || k->kind != EMU_TAG_U)
        return EMU_TAG_KNOWN;
    if (k->base < q->bits && n < 63 && a->stride % (INT64_C(1) << n) == 0 &&
        a->rise % (INT64_C(1) << n) == 0 &&
        emu_affine_fits(a, q->bits, is_signed, q->fold, q->live)) {
        *out = emu_affine_make(q->bits,
                               is_signed ? (uint64_t)(cut_signed(q->bits, a->base) >> n)
                                         : a->base >> n,
                               (uint64_t)(a->stride >> n), (uint64_t)(a->rise >> n));
        return EMU_TAG_KNOWN;
    }
    return EMU_TAG_EVALUATE;
}

static struct emu_affine ask_shift_left(const struct emu_tag_query *q)
{
    const struct emu_affine *a = &q->source[0], *k = &q->source[1];

    if (a->kind == EMU_TAG_V || k->kind == EMU_TAG_V ||
        table_shl[k->kind][a->kind] == EMU_TAG_V)
        return emu_affine_v();
    if (k->base >= q->bits)
        return emu_affine_u(0);
    return scale(q->bits, a, UINT64_C(1) << k->base);
}

static unsigned integer_bits(unsigned type)
{
    static const uint8_t bits[] = {8, 8, 16, 16, 32, 32, 64, 64};
    return type < LW_COUNT_OF(bits) ? bits[type] : 0; /* 0: a float type */
}

static struct emu_affine ask_convert(const struct emu_tag_query *q)
{
    const struct emu_affine *b = &q->source[1];
    unsigned to = integer_bits(q->dtype), from = integer_bits(q->stype);

    if (b->kind != EMU_TAG_A || q->rules == EMU_TAG_RULES_TABLE || q->saturate || to < 32 ||
        from < 32)
        return emu_affine_v();
    if (to <= from)
        return emu_affine_make(to, b->base, (uint64_t)b->stride, (uint64_t)b->rise);
    return widen(q, b, q->stype & 1); /* the numbers of signed types (values of STYPE) are odd */
}

static bool same(const struct emu_affine *a, const struct emu_affine *b)
{
    return a->kind == b->kind && a->base == b->base && a->stride == b->stride &&
           a->rise == b->rise;
}

static bool all_uniform(const struct emu_tag_query *q)
{
    for (unsigned i = 0; i < 3; i++)
        if (q->source_bits[i] != 0 && q->source[i].kind != EMU_TAG_U)
            return false;
    return true;
}

enum emu_tag_how emu_tag_infer(const struct emu_tag_query *q, struct emu_affine *out)
{
    const struct emu_affine *a = &q->source[0], *b = &q->source[1], *c = &q->source[2];
    bool exact = q->rules != EMU_TAG_RULES_TABLE;
    struct emu_affine t;

    *out = emu_affine_v();
    switch (q->rule) {
    case ISA_TAG_MOV:
        *out = *b;
        return EMU_TAG_KNOWN;
    case ISA_TAG_ADD:
        *out = sum(q, a, b);
        return EMU_TAG_KNOWN;
    case ISA_TAG_SUB:
        if (b->kind == EMU_TAG_V)
            return EMU_TAG_KNOWN;
        t = emu_affine_make(q->bits, 0 - b->base, 0 - (uint64_t)b->stride,
                            0 - (uint64_t)b->rise);
        *out = sum(q, a, &t);
        return EMU_TAG_KNOWN;
    case ISA_TAG_ADDC:
    case ISA_TAG_SUBC:
        if (q->r < 0 || b->kind == EMU_TAG_V || a->kind == EMU_TAG_V)
            return EMU_TAG_KNOWN;
        t = *b;
        if (q->rule == ISA_TAG_SUBC)
            t = complement(q->bits, b);
        t.base += (unsigned)q->r;
        *out = sum(q, a, &t);
        return EMU_TAG_KNOWN;
    case ISA_TAG_MUL:
        *out = product(q, false, false);
        return EMU_TAG_KNOWN;
    case ISA_TAG_MULWIDE:
    case ISA_TAG_MULWIDE_S:
        *out = product(q, true, q->rule == ISA_TAG_MULWIDE_S);
        return EMU_TAG_KNOWN;
    case ISA_TAG_MAD:
    case ISA_TAG_MADWIDE:
    case ISA_TAG_MADWIDE_S:
        t = product(q, q->rule != ISA_TAG_MAD, q->rule == ISA_TAG_MADWIDE_S);
        *out = sum(q, &t, c);
        return EMU_TAG_KNOWN;
    case ISA_TAG_LEA:
    case ISA_TAG_LEA_S:
        if (a->kind == EMU_TAG_V || b->kind == EMU_TAG_V ||
            table_shl[b->kind][a->kind] == EMU_TAG_V)
            return EMU_TAG_KNOWN;
        t = widen(q, a, q->rule == ISA_TAG_LEA_S);
        if (t.kind != EMU_TAG_V)
            t = scale(64, &t, UINT64_C(1) << (b->base & 31));
        *out = sum(q, &t, c);
        return EMU_TAG_KNOWN;
    case ISA_TAG_SHL:
        *out = ask_shift_left(q);
        return EMU_TAG_KNOWN;
    case ISA_TAG_SHR:
    case ISA_TAG_SHR_S:
        return ask_shift_right(q, q->rule == ISA_TAG_SHR_S, out);
    case ISA_TAG_NEG:
        if (b->kind != EMU_TAG_V)
            *out = emu_affine_make(q->bits, 0 - b->base, 0 - (uint64_t)b->stride,
                                   0 - (uint64_t)b->rise);
        return EMU_TAG_KNOWN;
    case ISA_TAG_NOT:
        if (b->kind == EMU_TAG_U || (b->kind == EMU_TAG_A && exact))
            *out = complement(q->bits, b);
        return EMU_TAG_KNOWN;
    case ISA_TAG_SELECT:
        if (q->r >= 0 && (exact || (a->kind == EMU_TAG_U && b->kind == EMU_TAG_U)))
            *out = q->r ? *a : *b;
        else if (same(a, b) && (exact || a->kind == EMU_TAG_U))
            *out = *a;
        return EMU_TAG_KNOWN;
    case ISA_TAG_CVT:
        if (b->kind == EMU_TAG_U)
            return EMU_TAG_READ;
        *out = ask_convert(q);
        return EMU_TAG_KNOWN;
    case ISA_TAG_UNIFORM:
        return all_uniform(q) ? EMU_TAG_READ : EMU_TAG_KNOWN;
    case ISA_TAG_EVALUATE:
        if (all_uniform(q))
            return EMU_TAG_READ;
        for (unsigned i = 0; i < 3; i++)
            if (q->source_bits[i] != 0 && q->source[i].kind == EMU_TAG_V)
                exact = false;
        return exact ? EMU_TAG_EVALUATE : EMU_TAG_KNOWN;
    default: /* the result of rule VECTOR is V; other functions evaluate the rules SPECIAL and LOAD */
        return EMU_TAG_KNOWN;
    }
}

/* ---- compares in closed form ------------------------------------------------------------- */

static int64_t divide_down(int64_t a, int64_t b) /* rounds towards minus infinity; @b is positive */
{
    return a / b - (a % b < 0);
}
static int64_t clamp_lanes(int64_t n, unsigned width)
{
    return n < 0 ? 0 : n > (int64_t)width ? (int64_t)width : n;
}
/** For one thread row of the block, computes the lanes in which stride * lane < d, and those in which stride * lane == d. */
static void closed_forms(int64_t d, int64_t stride, unsigned width, uint64_t *lt, uint64_t *eq)
{
    uint64_t all = lw_mask(width);

    *eq = 0;
    if (stride == 0) {
        *lt = d > 0 ? all : 0;
        *eq = d == 0 ? all : 0;
        return;
    }
    if (stride > 0) /* lt is true in the first ceil(d / stride) lanes */
        *lt = lw_mask((unsigned)clamp_lanes(divide_down(d - 1, stride) + 1, width));
    else            /* lt is true in all lanes except the first floor(-d / -stride) + 1 */
        *lt = all & ~lw_mask((unsigned)clamp_lanes(divide_down(-d, -stride) + 1, width));
    if (d % stride == 0 && d / stride >= 0 && d / stride < (int64_t)width)
        *eq = UINT64_C(1) << (d / stride);
}

uint64_t emu_tag_compare(unsigned cmp, int64_t d, int64_t stride, int64_t rise, unsigned fold,
                         unsigned width)
{
    uint64_t lt = 0, eq = 0, all = lw_mask(width);
    unsigned row = fold < width ? fold : width;

    for (unsigned l = 0; l < width; l += row, d -= rise) {
        uint64_t a, b;
        closed_forms(d, stride, row, &a, &b);
        lt |= a << l;
        eq |= b << l;
    }
    switch (cmp) {
    case ISA_CMP_EQ: case ISA_CMP_EQU: return eq;
    case ISA_CMP_NE: case ISA_CMP_NEU: return all & ~eq;
    case ISA_CMP_LT: case ISA_CMP_LTU: return lt;
    case ISA_CMP_LE: case ISA_CMP_LEU: return lt | eq;
    case ISA_CMP_GT: case ISA_CMP_GTU: return all & ~(lt | eq);
    case ISA_CMP_GE: case ISA_CMP_GEU: return all & ~lt;
    default: return cmp == ISA_CMP_NUM ? all : 0;
    }
}

bool emu_tag_compare_values(unsigned cmp, const struct emu_affine *a, const struct emu_affine *b,
                            unsigned bits, bool is_signed, unsigned fold, unsigned width,
                            uint64_t live, uint64_t *lanes)
{
    const wide limit = (wide)1 << 61;
    wide d, stride, rise;

    if (!emu_affine_fits(a, bits, is_signed, fold, live) ||
        !emu_affine_fits(b, bits, is_signed, fold, live))
        return false;
    d = number(b, bits, is_signed) - number(a, bits, is_signed);
    stride = (wide)a->stride - b->stride;
    rise = ((wide)a->rise - b->rise);
    if (d > limit || d < -limit || stride > limit >> 8 || stride < -(limit >> 8) ||
        rise > limit >> 8 || rise < -(limit >> 8))
        return false; /* the numbers would exceed 64 bits */
    *lanes = emu_tag_compare(cmp, (int64_t)d, (int64_t)stride, (int64_t)rise, fold, width);
    return true;
}

/* ---- special registers ---------------------------------------------------------------------- */

unsigned emu_tag_fold(const struct emu_warp *w)
{
    const struct emu_launch *launch = &w->block->grid->launch;
    unsigned x = launch->block[0];
    bool folds = w->core->machine->config.tag_rules == EMU_TAG_RULES_FOLD &&
                 lw_popcount(x) == 1 && x > 1 && x < w->width;

    return folds ? x : w->width;
}

/** Returns thread index @axis of a warp. The index is A if it grows from lane to lane, which is the case if all lower dimensions
 *  have size 1. */
static struct emu_affine thread_index(const struct emu_warp *w, unsigned axis)
{
    const uint32_t *size = w->block->grid->launch.block;
    unsigned lanes = lw_popcount(w->launched), fold = emu_tag_fold(w);
    uint32_t first = w->index * w->width, below = 1, at;

    for (unsigned i = 0; i < axis; i++)
        below *= size[i];
    at = first / below % size[axis]; /* index of the first lane */
    if (size[axis] == 1)
        return emu_affine_u(0);
    if (below == 1) { /* the index grows from lane to lane */
        if (at + lanes <= size[axis])
            return emu_affine_make(32, at, 1, 0);
        if (axis == 0 && fold < w->width)
            return emu_affine_make(32, 0, 1, 0); /* under the rules `fold`, tid.x repeats in each thread row of the block */
        return emu_affine_v();
    }
    if (first % below + lanes <= below)
        return emu_affine_u(at);
    if (axis == 1 && fold < w->width && at + (lanes + fold - 1) / fold <= size[1])
        return emu_affine_make(32, at, 0, 1);
    return emu_affine_v();
}

enum emu_tag_how emu_tag_special(const struct emu_warp *w, enum isa_special sr,
                                 struct emu_affine *out)
{
    *out = emu_affine_v();
    switch (sr) {
    case ISA_SR_TID_X: *out = thread_index(w, 0); return EMU_TAG_KNOWN;
    case ISA_SR_TID_Y: *out = thread_index(w, 1); return EMU_TAG_KNOWN;
    case ISA_SR_TID_Z: *out = thread_index(w, 2); return EMU_TAG_KNOWN;
    case ISA_SR_LANEID:
        if (w->width <= 32) { /* in a warp of 64 lanes, the lane ids of each half start from 0 */
            unsigned fold = emu_tag_fold(w);
            *out = emu_affine_make(32, 0, 1, fold < w->width ? fold : 0);
        }
        return EMU_TAG_KNOWN;
    case ISA_SR_CLOCK:
    case ISA_SR_CLOCK64:
    case ISA_SR_GLOBALTIMER: return EMU_TAG_KNOWN;
    default: return isa_special_info(sr)->uniform ? EMU_TAG_READ : EMU_TAG_KNOWN;
    }
}

/* ---- counts and events ------------------------------------------------------------------------- */

void emu_tag_stats_add(struct emu_tag_stats *to, const struct emu_tag_stats *from)
{
    for (unsigned k = 0; k < 3; k++) {
        to->instructions[k] += from->instructions[k];
        to->reads[k] += from->reads[k];
        to->writes[k] += from->writes[k];
        to->addresses[k] += from->addresses[k];
    }
    for (unsigned k = 0; k < LW_COUNT_OF(to->common); k++)
        to->common[k] += from->common[k];
    to->delta_banks += from->delta_banks;
    to->row_banks += from->row_banks;
    to->expansions += from->expansions;
    to->lanes_saved += from->lanes_saved;
    to->rows_made += from->rows_made;
    to->row_lanes += from->row_lanes;
    to->mismatches += from->mismatches;
}

static void print_shares(struct lw_sink *out, const char *what, const uint64_t count[3])
{
    double all = (double)(count[0] + count[1] + count[2]);

    lw_printf(out, "%s U %.1f, A %.1f, V %.1f %%", what,
              all > 0 ? 100 * (double)count[0] / all : 0.0,
              all > 0 ? 100 * (double)count[1] / all : 0.0,
              all > 0 ? 100 * (double)count[2] / all : 0.0);
}

void emu_tag_stats_print(const struct emu_stats *stats, struct lw_sink *out)
{
    const struct emu_tag_stats *t = &stats->tags;
    uint64_t all = stats->thread_instructions, done = emu_lane_operations(stats);

    if (t->instructions[0] + t->instructions[1] + t->instructions[2] != 0) {
        print_shares(out, "instructions", t->instructions);
        print_shares(out, "; reads", t->reads);
        print_shares(out, "; writes", t->writes);
        print_shares(out, "; addresses", t->addresses);
        lw_put(out, "; ");
    }
    if (t->rows_made != 0)
        lw_printf(out, "%llu tagged register%s written out as vectors, ", (unsigned long long)t->rows_made,
                  t->rows_made == 1 ? "" : "s");
    lw_printf(out, "%llu expansion%s to vectors; %llu of %llu lane operations executed (%.1f %%)",
              (unsigned long long)t->expansions, t->expansions == 1 ? "" : "s",
              (unsigned long long)done, (unsigned long long)all,
              all != 0 ? 100 * (double)done / (double)all : 100.0);
}
