/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines how values differ between the lanes of a warp. A value is
 *   uniform   equal in all lanes that execute its definition together, that is, in the same iteration of
 *             every loop;
 *   affine    base + sum of stride * index over tid.x, tid.y, tid.z and the lane; base and strides
 *             are uniform, and a stride is either known or only known to be uniform;
 *   varying   anything else.
 *
 * Column `tag` of the instruction table (isa/insns.def) determines the rule for an instruction. Strides are computed modulo 2 to
 * the power of the register's width. When a 32-bit value is extended to 64 bits, it keeps its strides if its 32-bit computation
 * wraps in no lane. The range of the value may exclude a wrap. If the range does not, the result is marked `assumed`, and so are
 * all values that depend on the result. Only printed output uses values that are marked `assumed`.
 *
 * If a register has several definitions, the strides that are equal in all of them are known, and the others are unknown. A
 * register is varying where lanes join that have executed different definitions of it, or that have left a loop in different
 * iterations. ptx_divergence() marks these registers (unit->mixed).
 */
#include "ptx/ptx_priv.h"

enum { FULL_AFTER = 2 }; /* a range that has grown this number of times becomes the full range, so that the analysis ends */
#define U32_TOP UINT64_C(0xffffffff)

static struct ptx_affine constant(uint64_t value)
{
    return (struct ptx_affine){ .kind = PTX_LANES_AFFINE, .low = value, .high = value };
}

static struct ptx_affine uniform(void)
{
    return (struct ptx_affine){ .kind = PTX_LANES_AFFINE, .high = UINT64_MAX };
}

static struct ptx_affine varying(void)
{
    return (struct ptx_affine){ .kind = PTX_LANES_VARYING, .high = UINT64_MAX };
}

bool ptx_affine_is_uniform(const struct ptx_affine *a)
{
    bool zero = a->kind == PTX_LANES_AFFINE;

    for (unsigned d = 0; d < PTX_LANE_DIMS; d++)
        zero = zero && a->stride[d] == 0 && !(a->some >> d & 1);
    return zero;
}

static bool same_strides(const struct ptx_affine *a, const struct ptx_affine *b)
{
    return memcmp(a->stride, b->stride, sizeof a->stride) == 0 && a->some == 0 && b->some == 0;
}

/* Joins the properties @a and @b of two definitions of a register: the result has the strides that are equal in both, and a
 * range that includes both ranges. */
static struct ptx_affine meet(const struct ptx_affine *a, const struct ptx_affine *b)
{
    struct ptx_affine out = *a;

    if (a->kind == PTX_LANES_UNKNOWN)
        return *b;
    if (b->kind == PTX_LANES_UNKNOWN)
        return *a;
    if (a->kind == PTX_LANES_VARYING || b->kind == PTX_LANES_VARYING)
        return varying();
    out.some |= b->some;
    for (unsigned d = 0; d < PTX_LANE_DIMS; d++) {
        if (a->stride[d] != b->stride[d])
            out.some |= (uint8_t)(1 << d);
        if (out.some >> d & 1)
            out.stride[d] = 0;
    }
    out.assumed |= b->assumed;
    out.low = a->low < b->low ? a->low : b->low;
    out.high = a->high > b->high ? a->high : b->high;
    return out;
}

/* ---- arithmetic ---------------------------------------------------------- */

static uint64_t cut(uint64_t x, unsigned rows)
{
    return rows == 1 ? (uint32_t)x : x;
}

static void set_range(struct ptx_affine *out, uint64_t low, uint64_t high)
{
    bool known = high <= U32_TOP && low <= high;

    out->low = known ? low : 0;
    out->high = known ? high : UINT64_MAX;
}

/* Returns a + k * b; k is 1 or -1. */
static struct ptx_affine sum(const struct ptx_affine *a, const struct ptx_affine *b, uint64_t k,
                             unsigned rows)
{
    struct ptx_affine out = { .kind = PTX_LANES_AFFINE, .some = a->some | b->some,
                              .assumed = a->assumed || b->assumed };

    for (unsigned d = 0; d < PTX_LANE_DIMS; d++) {
        if (!(out.some >> d & 1))
            out.stride[d] = cut(a->stride[d] + k * b->stride[d], rows);
    }
    if (k == 1 && a->high <= U32_TOP && b->high <= U32_TOP)
        set_range(&out, a->low + b->low, a->high + b->high);
    else
        set_range(&out, 0, UINT64_MAX);
    return out;
}

static bool is_constant(const struct ptx_affine *a, uint64_t *value)
{
    *value = a->low;
    return ptx_affine_is_uniform(a) && a->low == a->high;
}

/* Returns the product if one factor is uniform: the strides of the other factor times that factor. */
static struct ptx_affine product(const struct ptx_affine *a, const struct ptx_affine *b,
                                 unsigned rows)
{
    struct ptx_affine out = { .kind = PTX_LANES_AFFINE, .assumed = a->assumed || b->assumed };
    uint64_t k;

    if (!ptx_affine_is_uniform(b)) {
        const struct ptx_affine *c = a;

        a = b;
        b = c;
    }
    if (!ptx_affine_is_uniform(b))
        return varying();
    out.some = a->some;
    for (unsigned d = 0; d < PTX_LANE_DIMS; d++) {
        if (is_constant(b, &k) && !(out.some >> d & 1))
            out.stride[d] = cut(a->stride[d] * k, rows);
        else if (a->stride[d] != 0)
            out.some |= (uint8_t)(1 << d);
    }
    if (a->high <= U32_TOP && b->high <= U32_TOP)
        set_range(&out, a->low * b->low, a->high * b->high);
    else
        set_range(&out, 0, UINT64_MAX);
    return out;
}

/* Returns the extension of a 32-bit value to 64 bits. The strides stay the same if the value wraps in no lane. If the range does
 * not exclude a wrap, the result is marked as assumed. */
static struct ptx_affine widen(const struct ptx_affine *a, bool is_signed)
{
    struct ptx_affine out = *a;

    if (a->high <= (is_signed ? U32_TOP >> 1 : U32_TOP) || ptx_affine_is_uniform(a)) {
        if (is_signed && a->high > U32_TOP >> 1)
            set_range(&out, 0, UINT64_MAX);
        if (a->high <= U32_TOP)
            return out; /* the range excludes a wrap, so the strides are exact */
    }
    out.assumed = out.assumed || !ptx_affine_is_uniform(a);
    for (unsigned d = 0; d < PTX_LANE_DIMS; d++)
        out.stride[d] = (uint64_t)(int64_t)(int32_t)(uint32_t)out.stride[d];
    set_range(&out, 0, UINT64_MAX);
    return out;
}

/* ---- instructions --------------------------------------------------------- */

struct affine {
    struct ptx_unit *unit;
    struct ptx_affine *at; /* by vreg: how the value of the vreg differs between lanes */
    uint8_t *grown;        /* by vreg: how often the range of the vreg has grown */
};

/* Returns the value that a slot reads: 32-bit registers of a virtual register, a literal or a constant. */
static struct ptx_affine read_ref(const struct affine *f, ptx_ref ref, unsigned rows)
{
    const struct ptx_vreg *v;
    struct ptx_affine a;

    if (ref == PTX_ZERO || ref == PTX_NO_REF)
        return constant(0);
    v = &f->unit->vregs.at[ptx_ref_vreg(ref)];
    a = f->at[ptx_ref_vreg(ref)];
    if (a.kind != PTX_LANES_AFFINE || v->rows == rows || ptx_affine_is_uniform(&a)) {
        if (v->rows > rows && a.high > U32_TOP)
            set_range(&a, 0, UINT64_MAX);
        return a;
    }
    if (v->rows != 2 || rows != 1 || ptx_ref_row(ref) != 0)
        return varying();
    for (unsigned d = 0; d < PTX_LANE_DIMS; d++) /* The slot reads the low word, so the strides are taken modulo
                                                  * 2^32. */
        a.stride[d] = (uint32_t)a.stride[d];
    return a;
}

static struct ptx_affine read_slot(const struct affine *f, const struct ptx_mi *mi, unsigned slot)
{
    unsigned rows = mi->rows[slot];

    if (slot == PTX_S_X && mi->flags & (PTX_MI_RELOC_LOW | PTX_MI_RELOC_HIGH | PTX_MI_DYNAMIC))
        return uniform();
    if (slot == PTX_S_X && mi->flags & PTX_MI_IMM64)
        return constant(mi->rows[PTX_S_D] == 1 ? (uint32_t)mi->imm64 : mi->imm64);
    if (slot == PTX_S_X && mi->in.xkind == ISA_X_IMM && mi->ref[PTX_S_X] == PTX_NO_REF)
        return constant(rows == 1 ? mi->in.x : (uint64_t)(int64_t)(int32_t)mi->in.x);
    if (slot == PTX_S_X && mi->in.xkind == ISA_X_CONST)
        return uniform();
    return read_ref(f, mi->ref[slot], rows);
}

/* Applies source modifiers to @a. @mods: the bits that isa_insn_srcmod() returns. */
static struct ptx_affine modified(struct ptx_affine a, unsigned mods, unsigned rows)
{
    struct ptx_affine zero = constant(0);

    if (mods == 1 || mods == 2)
        return sum(&zero, &a, UINT64_MAX, rows); /* ~x is -x - 1 */
    if (mods != 0)
        set_range(&a, 0, UINT64_MAX);
    return a;
}

static struct ptx_affine special(const struct ptx_mi *mi)
{
    static const struct {
        uint16_t special;
        uint8_t dim; /* dimension along which the value of the special register grows; PTX_LANE_DIMS: the register is uniform */
        uint32_t low, high; /* range of the special register's value */
    } known[] = {
        { ISA_SR_TID_X, PTX_LANE_X, 0, 1023 }, { ISA_SR_TID_Y, PTX_LANE_Y, 0, 1023 },
        { ISA_SR_TID_Z, PTX_LANE_Z, 0, 1023 }, { ISA_SR_LANEID, PTX_LANE_ID, 0, 63 },
        { ISA_SR_NTID_X, PTX_LANE_DIMS, 1, 1024 }, { ISA_SR_NTID_Y, PTX_LANE_DIMS, 1, 1024 },
        { ISA_SR_NTID_Z, PTX_LANE_DIMS, 1, 1024 },
    };
    struct ptx_affine out = uniform();

    for (size_t i = 0; i < LW_COUNT_OF(known); i++) {
        if (known[i].special != mi->in.x)
            continue;
        if (known[i].dim != PTX_LANE_DIMS)
            out.stride[known[i].dim] = 1;
        set_range(&out, known[i].low, known[i].high);
        return out;
    }
    return ptx_diverges_itself(mi) ? varying() : out;
}

/* Returns true if @mi tests two operands for equality or inequality, and the operands have the same strides. Then the
 * difference of the operands is equal in all lanes, and so is the result. */
static bool compares_uniform(const struct ptx_mi *mi, const struct ptx_affine *a,
                             const struct ptx_affine *b)
{
    unsigned cmp = isa_mod_get(&mi->in, ISA_MOD_CMP);

    return (cmp == ISA_CMP_EQ || cmp == ISA_CMP_NE) && same_strides(a, b) && !a->assumed &&
           !b->assumed;
}

/* Applies the rule of the instruction's table row in the instruction table (column `tag`). No source may be varying.
 * @all_uniform: all sources are uniform. */
static struct ptx_affine by_rule(const struct affine *f, const struct ptx_mi *mi, bool all_uniform)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);
    unsigned rows = mi->rows[PTX_S_D], mods[3] = { 0 };
    unsigned second = mi->in.variant ? PTX_S_C : PTX_S_X, third = mi->in.variant ? PTX_S_X : PTX_S_C;
    struct ptx_affine a = read_slot(f, mi, PTX_S_A), x = read_slot(f, mi, PTX_S_X);
    struct ptx_affine none = all_uniform ? uniform() : varying(), b, c, zero = constant(0);
    uint64_t k;

    for (unsigned i = 0; i < 3 && !(info->flags & ISA_F_NOSRCMOD); i++)
        mods[i] = isa_insn_srcmod(&mi->in, i);
    a = modified(a, mods[0], rows);
    x = modified(x, mods[1], rows);
    switch (info->tag) {
    case ISA_TAG_MOV: return x;
    case ISA_TAG_ADD: return sum(&a, &x, 1, rows);
    case ISA_TAG_SUB: return sum(&a, &x, UINT64_MAX, rows);
    case ISA_TAG_NEG:
    case ISA_TAG_NOT: return sum(&zero, &x, UINT64_MAX, rows);
    case ISA_TAG_MUL: return product(&a, &x, rows);
    case ISA_TAG_SHL:
        if (is_constant(&x, &k)) {
            b = constant(k < 32 * rows ? UINT64_C(1) << k : 0);
            return product(&a, &b, rows);
        }
        x = uniform();
        return product(&a, &x, rows);
    case ISA_TAG_MAD: case ISA_TAG_MADWIDE: case ISA_TAG_MADWIDE_S: case ISA_TAG_MULWIDE:
    case ISA_TAG_MULWIDE_S: case ISA_TAG_LEA: case ISA_TAG_LEA_S: {
        bool wide = info->tag != ISA_TAG_MAD, shift = info->tag == ISA_TAG_LEA || info->tag == ISA_TAG_LEA_S;
        bool is_signed = info->tag == ISA_TAG_MADWIDE_S || info->tag == ISA_TAG_MULWIDE_S ||
                         info->tag == ISA_TAG_LEA_S;

        if ((mods[0] | mods[1] | mods[2]) != 0)
            return none;
        b = read_slot(f, mi, second);
        c = mi->ref[PTX_S_C] == PTX_NO_REF ? constant(0) : read_slot(f, mi, third);
        if (shift)
            b = is_constant(&b, &k) && k < 32 ? constant(UINT64_C(1) << k) : uniform();
        if (wide) {
            a = widen(&a, is_signed);
            if (!shift && is_signed && is_constant(&b, &k))
                b = constant((uint64_t)(int64_t)(int32_t)(uint32_t)k);
            else if (!shift)
                b = widen(&b, is_signed);
        }
        a = product(&a, &b, rows);
        return a.kind == PTX_LANES_VARYING ? a : sum(&a, &c, 1, rows);
    }
    case ISA_TAG_CVT: {
        unsigned to = isa_mod_get(&mi->in, ISA_MOD_DTYPE), from = isa_mod_get(&mi->in, ISA_MOD_STYPE);

        if (isa_mod_get(&mi->in, ISA_MOD_CSAT) == ISA_CSAT_ON || mods[1] != 0)
            return none;
        if ((to == ISA_DT_U64 && from == ISA_ST_U32) || (to == ISA_DT_S64 && from == ISA_ST_S32))
            return widen(&x, from == ISA_ST_S32);
        return none;
    }
    case ISA_TAG_SELECT: /* If R, which selects, is uniform, all lanes select the same source. */
        b = read_ref(f, mi->ref[PTX_S_R], 0);
        return ptx_affine_is_uniform(&b) ? meet(&a, &x) : none;
    case ISA_TAG_CMP: case ISA_TAG_CMP_S:
        b = read_ref(f, mi->ref[PTX_S_R], 0);
        return compares_uniform(mi, &a, &x) && (mods[0] | mods[1]) == 0 && ptx_affine_is_uniform(&b)
                   ? uniform() : none;
    default:
        return none;
    }
}

static struct ptx_affine result(const struct affine *f, const struct ptx_mi *mi)
{
    struct ptx_affine out = { .kind = PTX_LANES_UNKNOWN }, guard;
    bool all_uniform = true, any_varying = false, assumed = false;

    if (mi->in.op == ISA_V_S2R || mi->in.op == ISA_V_S2R_B64)
        out = special(mi);
    else if (ptx_diverges_itself(mi))
        return varying();
    for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
        struct ptx_affine a;

        if (!ptx_ref_is_vreg(mi->ref[slot]) || slot == PTX_S_D || slot == PTX_S_P || slot == PTX_S_Q)
            continue;
        a = f->at[ptx_ref_vreg(mi->ref[slot])];
        if (a.kind == PTX_LANES_UNKNOWN)
            return a; /* No definition of the source register has been visited yet, so the result is unknown. */
        all_uniform = all_uniform && ptx_affine_is_uniform(&a);
        any_varying |= a.kind == PTX_LANES_VARYING;
        assumed |= a.assumed;
    }
    if (any_varying)
        return varying();
    if (out.kind == PTX_LANES_UNKNOWN)
        out = by_rule(f, mi, all_uniform);
    out.assumed |= assumed && out.kind == PTX_LANES_AFFINE;
    guard = read_ref(f, mi->ref[PTX_S_GUARD], 0);
    if (ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]) && !ptx_affine_is_uniform(&guard))
        return varying();
    return out;
}

/* Stores the value of a register; returns true if the value has changed. */
static bool write_value(struct affine *f, uint32_t v, struct ptx_affine value)
{
    struct ptx_affine old = f->at[v], now;

    if (value.kind == PTX_LANES_UNKNOWN)
        return false;
    now = v >= f->unit->mixed_count || f->unit->mixed[v] ? varying() : meet(&old, &value);
    if (now.kind == PTX_LANES_AFFINE && old.kind == PTX_LANES_AFFINE &&
        (now.low != old.low || now.high != old.high) && ++f->grown[v] >= FULL_AFTER)
        set_range(&now, 0, UINT64_MAX);
    f->at[v] = now;
    return old.kind != now.kind || old.some != now.some || old.assumed != now.assumed ||
           old.low != now.low || old.high != now.high ||
           memcmp(old.stride, now.stride, sizeof now.stride) != 0;
}

static bool visit(struct affine *f, const struct ptx_mi *mi)
{
    struct ptx_unit *unit = f->unit;
    struct ptx_affine value = { .kind = PTX_LANES_UNKNOWN };
    bool changed = false, have = false;

    if (mi->flags & PTX_MI_DEAD)
        return false;
    for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
        uint32_t v = ptx_ref_vreg(mi->ref[slot]);
        struct ptx_affine own;

        if (!ptx_mi_writes(mi, (enum ptx_slot)slot))
            continue;
        if (!have)
            value = result(f, mi);
        have = true;
        own = value;
        /* If the instruction writes only some of the value's 32-bit registers, the strides of the whole value are not known: it
         * counts as uniform if the written registers are uniform, otherwise as varying. */
        if (slot == PTX_S_D && mi->rows[PTX_S_D] != unit->vregs.at[v].rows &&
            own.kind != PTX_LANES_UNKNOWN)
            own = ptx_affine_is_uniform(&own) ? uniform() : varying();
        own.assumed |= value.assumed && own.kind == PTX_LANES_AFFINE;
        changed |= write_value(f, v, own);
    }
    return changed;
}

/* Returns an array that has for each vreg whether an instruction writes the vreg. */
static uint8_t *find_defined(const struct ptx_unit *unit)
{
    uint8_t *defined = PTX_ARRAY(unit->job, uint8_t, unit->vregs.count + 1);

    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            for (unsigned s = 0; s < PTX_SLOT_COUNT && !(mi->flags & PTX_MI_DEAD); s++) {
                if (ptx_mi_writes(mi, (enum ptx_slot)s))
                    defined[ptx_ref_vreg(mi->ref[s])] = 1;
            }
        }
    }
    return defined;
}

void ptx_affine(struct ptx_unit *unit)
{
    size_t n = unit->vregs.count;
    struct affine f = { .unit = unit, .at = PTX_ARRAY(unit->job, struct ptx_affine, n + 1),
                        .grown = PTX_ARRAY(unit->job, uint8_t, n + 1) };
    uint8_t *defined = find_defined(unit);
    struct ptx_affine start = unit->function->kernel ? uniform() : varying();

    for (uint32_t v = 0; v < n; v++) {
        if (!defined[v]) /* No instruction writes the register: in a kernel it is zero or a pinned base, so it is uniform. */
            f.at[v] = start;
    }
    for (size_t i = 0; i < unit->live_in[unit->entry].count; i++) {
        uint32_t v = unit->live_in[unit->entry].at[i];

        f.at[v] = start; /* The register may be read before an instruction writes it, so its value at the start of the
                          * function counts as a definition. */
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < unit->rpo_count; k++) {
            const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

            for (uint32_t i = b->first; i < b->first + b->count; i++)
                changed |= visit(&f, &unit->code.at[i]);
        }
    }
    unit->affine = f.at;
    unit->affine_count = n;
}

/* ---- as text --------------------------------------------------------------- */

static void print_class(const struct ptx_affine *a, struct lw_sink *out)
{
    static const char *const name[PTX_LANE_DIMS] = { "tid.x", "tid.y", "tid.z", "lane" };
    const char *between = "affine, ";

    if (a->kind != PTX_LANES_AFFINE) {
        lw_put(out, a->kind == PTX_LANES_VARYING ? "varying" : "never written");
        return;
    }
    if (ptx_affine_is_uniform(a))
        lw_put(out, "uniform");
    for (unsigned d = 0; d < PTX_LANE_DIMS; d++) {
        if (a->some >> d & 1)
            lw_printf(out, "%ss*%s", between, name[d]);
        else if (a->stride[d] != 0)
            lw_printf(out, "%s%lld*%s", between,
                      a->narrow ? (long long)(int32_t)(uint32_t)a->stride[d] : (long long)a->stride[d],
                      name[d]);
        else
            continue;
        between = " + ";
    }
    if (a->assumed)
        lw_put(out, ", if no index wraps");
}

void ptx_affine_print(const struct ptx_unit *unit, struct lw_sink *out)
{
    const struct ptx_function *fn = unit->function;
    struct ptx_affine *of = PTX_ARRAY(unit->job, struct ptx_affine, fn->regs.count + 1);
    uint8_t *defined = find_defined(unit);

    for (size_t v = 0; v < unit->affine_count; v++) {
        uint32_t reg = unit->vregs.at[v].origin;
        struct ptx_affine value = unit->affine[v];

        if (reg == PTX_NONE || reg >= fn->regs.count || !defined[v])
            continue;
        of[reg] = meet(&of[reg], &value);
        of[reg].narrow = unit->vregs.at[v].rows == 1;
    }
    for (size_t r = 0; r < fn->regs.count; r++) {
        if (of[r].kind == PTX_LANES_UNKNOWN)
            continue;
        lw_printf(out, "  %s: ", fn->regs.at[r].name);
        print_class(&of[r], out);
        lw_put(out, "\n");
    }
}
