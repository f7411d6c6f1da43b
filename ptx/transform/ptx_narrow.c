/* SPDX-License-Identifier: Apache-2.0 */
/* Narrows 64-bit arithmetic to 32 bits if only low words of the results are read. This is frequent in OpenCL: `int i =
 * get_global_id(0)` is a sum of 64-bit products, truncated to its low word. The low word of an addition, a multiplication, a
 * left shift or a bitwise operation depends on low words only. A register is narrowed if all its definitions are such
 * operations and every use reads its low word only. The instructions that use it need not be narrowed themselves. */
#include "ptx/ptx_priv.h"
#include "ptx/select/ptx_select_priv.h"

/** Returns the operation that computes the low word, or ISA_OP_COUNT if there is none. */
static enum isa_op narrow_of(const struct ptx_mi *mi)
{
    if (mi->in.op != ISA_V_CVT)
        return ptx_op_narrow((enum isa_op)mi->in.op);
    if (isa_mod_get(&mi->in, ISA_MOD_CSAT) != ISA_CSAT_OFF)
        return ISA_OP_COUNT;
    switch (isa_mod_get(&mi->in, ISA_MOD_DTYPE)) {
    case ISA_DT_U64:
    case ISA_DT_S64: break;
    default: return ISA_OP_COUNT;
    }
    switch (isa_mod_get(&mi->in, ISA_MOD_STYPE)) {
    case ISA_ST_U32:
    case ISA_ST_S32:
    case ISA_ST_U64:
    case ISA_ST_S64: return ISA_V_MOV_B32;
    default: return ISA_OP_COUNT; /* the conversion extends shorter integers and rounds floats, so it cannot be narrowed */
    }
}

static bool narrowable(const struct ptx_unit *unit, const struct ptx_mi *mi)
{
    static const uint8_t sources[] = {PTX_S_A, PTX_S_X, PTX_S_C};
    ptx_ref d = mi->ref[PTX_S_D];

    if (!ptx_ref_is_vreg(d) || ptx_ref_row(d) != 0 || mi->rows[PTX_S_D] != 2 ||
        unit->vregs.at[ptx_ref_vreg(d)].rows != 2 || narrow_of(mi) == ISA_OP_COUNT ||
        mi->flags & (PTX_MI_RELOC_LOW | PTX_MI_RELOC_HIGH | PTX_MI_DYNAMIC | PTX_MI_PIN |
                     PTX_MI_PROLOGUE | PTX_MI_CFA) ||
        mi->ref[PTX_S_P] != PTX_NO_REF || mi->ref[PTX_S_Q] != PTX_NO_REF)
        return false;
    for (unsigned i = 0; i < LW_COUNT_OF(sources); i++) {
        bool is_x = sources[i] == PTX_S_X;

        if (!(isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_NOSRCMOD) &&
            isa_insn_srcmod(&mi->in, i) & 2) /* the absolute value reads the sign, which is in the high word */
            return false;
        if ((!is_x || mi->in.xkind == ISA_X_VECTOR) && ptx_ref_is_vreg(mi->ref[sources[i]]) &&
            mi->rows[sources[i]] == 2 && ptx_ref_row(mi->ref[sources[i]]) != 0)
            return false;
    }
    return true;
}

struct narrow {
    struct ptx_unit *unit;
    bool *wide;                  /* by vreg: whether the high word is read, or must be computed for another reason */
    PTX_LIST(uint32_t) work;     /* wide registers whose definitions have not been processed yet */
    uint32_t *first, *defs;      /* by vreg: the definitions of v are the instructions defs[first[v]] to defs[first[v + 1] - 1] */
};

static void want(struct narrow *n, ptx_ref ref)
{
    uint32_t v = ptx_ref_vreg(ref);

    if (n->wide[v])
        return;
    n->wide[v] = true;
    *PTX_PUSH(n->unit->job, n->work) = v;
}

/** Marks the registers whose high words @mi reads. */
static void want_sources(struct narrow *n, const struct ptx_mi *mi)
{
    for (unsigned s = 0; s < PTX_S_M; s++)
        if (s != PTX_S_D && ptx_ref_is_vreg(mi->ref[s]) &&
            n->unit->vregs.at[ptx_ref_vreg(mi->ref[s])].rows >= 2 &&
            ptx_ref_row(mi->ref[s]) + mi->rows[s] > 1)
            want(n, mi->ref[s]);
}

static void each_definition(struct narrow *n)
{
    struct ptx_unit *unit = n->unit;
    size_t vregs = unit->vregs.count;
    uint32_t *fill;

    n->first = PTX_ARRAY(unit->job, uint32_t, vregs + 1);
    fill = PTX_ARRAY(unit->job, uint32_t, vregs + 1);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < unit->rpo_count; k++) {
            const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

            for (uint32_t i = b->first; i < b->first + b->count; i++) {
                const struct ptx_mi *mi = &unit->code.at[i];
                uint32_t v = ptx_ref_vreg(mi->ref[PTX_S_D]);

                if (!ptx_mi_writes(mi, PTX_S_D))
                    continue;
                if (pass == 0)
                    n->first[v + 1]++;
                else
                    n->defs[n->first[v] + fill[v]++] = i;
            }
        }
        for (size_t v = 0; pass == 0 && v < vregs; v++)
            n->first[v + 1] += n->first[v];
        if (pass == 0)
            n->defs = PTX_ARRAY(unit->job, uint32_t, n->first[vregs] + 1);
    }
}

static void rewrite(struct ptx_mi *mi)
{
    static const uint8_t slots[] = {PTX_S_D, PTX_S_A, PTX_S_X, PTX_S_C};
    enum isa_op op = narrow_of(mi);

    if (mi->in.op == ISA_V_CVT) {
        struct isa_insn old = mi->in;

        isa_insn_init(&mi->in, op);
        mi->in.guard = old.guard;
        mi->in.guard_neg = old.guard_neg;
        mi->in.guard_scalar = old.guard_scalar;
        mi->in.xkind = old.xkind;
        mi->in.x = old.x;
    }
    mi->in.op = (uint16_t)op;
    if (mi->flags & PTX_MI_IMM64)
        mi->imm64 &= UINT32_MAX;
    for (unsigned i = 0; i < LW_COUNT_OF(slots); i++)
        if (mi->rows[slots[i]] == 2)
            mi->rows[slots[i]] = 1;
}

void ptx_narrow(struct ptx_unit *unit)
{
    struct narrow n = {.unit = unit};
    size_t vregs = unit->vregs.count;
    bool any = false;

    n.wide = PTX_ARRAY(unit->job, bool, vregs + 1);
    each_definition(&n);
    for (size_t v = 0; v < vregs; v++) {
        if (unit->vregs.at[v].rows != 2 || n.first[v] == n.first[v + 1]) {
            n.wide[v] = true;
            continue;
        }
        any = true;
    }
    if (!any)
        return;
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            if (mi->flags & PTX_MI_DEAD || narrowable(unit, mi))
                continue;
            want_sources(&n, mi);
            if (ptx_mi_writes(mi, PTX_S_D))
                want(&n, mi->ref[PTX_S_D]);
        }
    }
    while (n.work.count != 0) {
        uint32_t v = n.work.at[--n.work.count];

        for (uint32_t d = n.first[v]; d < n.first[v + 1]; d++)
            want_sources(&n, &unit->code.at[n.defs[d]]);
    }
    for (size_t v = 0; v < vregs; v++) {
        if (n.wide[v])
            continue;
        unit->vregs.at[v].rows = 1;
        for (uint32_t d = n.first[v]; d < n.first[v + 1]; d++)
            rewrite(&unit->code.at[n.defs[d]]);
    }
}
