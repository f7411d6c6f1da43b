/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address computation. A widened index times a power of two becomes lea. If the base is a pointer parameter, the parameter
 * is loaded into a scalar pair, and loads and stores use the index in their addresses:
 *
 *     v_lea_s32 v4:5, v1, 2, v2:3          ld.global.b32 v6, [s0:1+v1.s*4]
 *     ld.global.b32 v6, [v4:5]
 *
 * The scalar pairs are written once, at the start of the kernel, before any lane can have exited
 * (MACHINE 3).
 */
#include "ptx/ptx_priv.h"

enum {
    MAX_BASES = 16,   /* greatest number of pointer parameters that are loaded into scalar pairs */
    MAX_DISTANCE = 64 /* greatest number of instructions that are searched for a write of the index */
};

/* Turns a widened 32-bit value times 2^k, with or without an addend, into lea. */
static void make_lea(struct ptx_mi *mi)
{
    const bool is_signed = mi->in.op == ISA_V_MULWIDE_S32 || mi->in.op == ISA_V_MADWIDE_S32;
    const bool sum = mi->in.op == ISA_V_MADWIDE_U32 || mi->in.op == ISA_V_MADWIDE_S32;

    if (!is_signed && !sum && mi->in.op != ISA_V_MULWIDE_U32)
        return;
    /* The literal is a signed factor and must be positive, so 2^31 is not permitted. If `variant` is set, the literal is the
     * addend. */
    if (mi->in.variant || mi->in.xkind != ISA_X_IMM || mi->in.x == 0 || (mi->in.x & (mi->in.x - 1)) != 0 ||
        mi->in.x > UINT32_C(1) << 30)
        return;
    mi->in.op = is_signed ? ISA_V_LEA_S32 : ISA_V_LEA_U32;
    mi->in.x = lw_lowest(mi->in.x);
    if (!sum) {
        mi->ref[PTX_S_C] = PTX_ZERO;
        mi->rows[PTX_S_C] = 2;
    }
}

static bool unguarded(const struct ptx_mi *mi)
{
    return !ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]) && !(mi->flags & PTX_MI_PARTIAL);
}

/* Returns the unguarded instruction that defines the whole pair, or NULL. */
static const struct ptx_mi *pair_definition(const struct ptx_unit *unit, ptx_ref ref)
{
    const struct ptx_vreg *v;

    if (!ptx_ref_is_vreg(ref) || ptx_ref_row(ref) != 0)
        return NULL;
    v = &unit->vregs.at[ptx_ref_vreg(ref)];
    if (!v->ssa || v->def == PTX_NONE || v->rows != 2 || unit->code.at[v->def].flags & PTX_MI_DEAD ||
        !unguarded(&unit->code.at[v->def]))
        return NULL;
    return &unit->code.at[v->def];
}

/* Returns the offset in bank 0 of the parameter of which the pair is a copy, or -1. */
static int parameter_of(const struct ptx_unit *unit, ptx_ref ref)
{
    const struct ptx_mi *mi = pair_definition(unit, ref);

    if (mi == NULL || mi->in.op != ISA_V_MOV_B64 || mi->in.xkind != ISA_X_CONST ||
        isa_x_bank(mi->in.x) != 0)
        return -1;
    return (int)isa_x_offset(mi->in.x);
}

struct index {
    const struct ptx_mi *lea; /* instruction that adds the index to the parameter, or NULL if no instruction does */
    int param;                /* offset of the base parameter in constant bank 0 */
};

/* Matches parameter + (index << k), computed in one instruction or two. */
static struct index index_of(const struct ptx_unit *unit, ptx_ref ref)
{
    struct index none = { NULL, -1 }, out = none;
    const struct ptx_mi *mi = pair_definition(unit, ref);

    if (mi == NULL)
        return none;
    if (mi->in.op == ISA_V_ADD_U64 && mi->in.xkind == ISA_X_CONST &&
        isa_x_bank(mi->in.x) == 0) {
        out.param = (int)isa_x_offset(mi->in.x);
        out.lea = pair_definition(unit, mi->ref[PTX_S_A]);
        if (out.lea == NULL || out.lea->ref[PTX_S_C] != PTX_ZERO)
            return none;
    } else {
        out.lea = mi;
        out.param = parameter_of(unit, mi->ref[PTX_S_C]);
    }
    if ((out.lea->in.op != ISA_V_LEA_S32 && out.lea->in.op != ISA_V_LEA_U32) || out.param < 0 ||
        out.lea->in.xkind != ISA_X_IMM || out.lea->in.x > ISA_ASCALE_16)
        return none;
    return out;
}

/* Returns true if at @mi the index register still has the value that the lea has read. */
static bool still_there(const struct ptx_unit *unit, ptx_ref ref, const struct ptx_mi *lea,
                        const struct ptx_mi *mi, const struct ptx_block *block)
{
    const struct ptx_mi *first = &unit->code.at[block->first];

    if (ref == PTX_ZERO)
        return true;
    if (!ptx_ref_is_vreg(ref))
        return false;
    if (unit->vregs.at[ptx_ref_vreg(ref)].ssa)
        return true; /* the only definition dominates the lea, and the lea dominates @mi */
    if (lea < first || lea >= mi || mi - lea > MAX_DISTANCE)
        return false;
    for (const struct ptx_mi *at = lea; at < mi; at++) {
        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
            if (!(at->flags & PTX_MI_DEAD) && ptx_mi_writes(at, (enum ptx_slot)s) &&
                ptx_ref_vreg(at->ref[s]) == ptx_ref_vreg(ref))
                return false;
        }
    }
    return true;
}

bool ptx_takes_scalar_base(const struct ptx_mi *mi)
{
    switch (mi->in.op) {
    case ISA_LD_GLOBAL:
    case ISA_ST_GLOBAL:
    case ISA_RED_GLOBAL:
        return true;
    case ISA_ATOM_GLOBAL: /* a compare-and-swap has its swap value in the field of the base */
        return isa_mod_get(&mi->in, ISA_MOD_AOP) != ISA_AOP_CAS;
    default:
        return false;
    }
}

struct bases {
    int param[MAX_BASES];
    uint32_t vreg[MAX_BASES];
    unsigned count;
};

/* Returns the scalar pair for a parameter, or PTX_NONE if MAX_BASES other parameters have pairs already. */
static uint32_t base_of(struct ptx_unit *unit, struct bases *bases, int param)
{
    struct ptx_vreg *v;

    for (unsigned i = 0; i < bases->count; i++) {
        if (bases->param[i] == param)
            return bases->vreg[i];
    }
    if (bases->count == MAX_BASES)
        return PTX_NONE;
    v = ptx_vreg_new(unit, 2);
    v->scalar = true;
    bases->param[bases->count] = param;
    bases->vreg[bases->count] = (uint32_t)(unit->vregs.count - 1);
    return bases->vreg[bases->count++];
}

static void use_base(struct ptx_unit *unit, struct ptx_mi *mi, const struct ptx_block *block,
                     struct bases *bases)
{
    struct index index;
    ptx_ref a;
    uint32_t base;

    if (mi->flags & PTX_MI_DEAD || !ptx_takes_scalar_base(mi) ||
        isa_mod_get(&mi->in, ISA_MOD_AMODE) != ISA_AMODE_PAIR)
        return;
    index = index_of(unit, mi->ref[PTX_S_A]);
    if (index.lea == NULL || !still_there(unit, index.lea->ref[PTX_S_A], index.lea, mi, block))
        return;
    base = base_of(unit, bases, index.param);
    if (base == PTX_NONE)
        return;
    a = mi->ref[PTX_S_A];
    isa_mod_set(&mi->in, ISA_MOD_AMODE,
                index.lea->in.op == ISA_V_LEA_S32 ? ISA_AMODE_SS32 : ISA_AMODE_SU32);
    isa_mod_set(&mi->in, ISA_MOD_ASCALE, index.lea->in.x);
    mi->ref[PTX_S_C] = ptx_ref_of(base, 0);
    mi->rows[PTX_S_C] = 2;
    mi->ref[PTX_S_A] = index.lea->ref[PTX_S_A];
    mi->rows[PTX_S_A] = 1;
    if (ptx_ref_is_vreg(mi->ref[PTX_S_A]))
        unit->vregs.at[ptx_ref_vreg(mi->ref[PTX_S_A])].use_count++;
    /* remove the instructions that computed the address, if no other instruction uses their results */
    while (ptx_ref_is_vreg(a)) {
        struct ptx_vreg *v = &unit->vregs.at[ptx_ref_vreg(a)];
        struct ptx_mi *def = &unit->code.at[v->def];

        if (--v->use_count != 0)
            break;
        def->flags |= PTX_MI_DEAD;
        for (unsigned s = PTX_S_A; s <= PTX_S_C; s++) {
            if (s != PTX_S_A && ptx_ref_is_vreg(def->ref[s]))
                unit->vregs.at[ptx_ref_vreg(def->ref[s])].use_count--;
        }
        if (def->in.op != ISA_V_ADD_U64) { /* the instruction was a lea: the access now reads the index of the lea */
            if (ptx_ref_is_vreg(def->ref[PTX_S_A]))
                unit->vregs.at[ptx_ref_vreg(def->ref[PTX_S_A])].use_count--;
            break;
        }
        a = def->ref[PTX_S_A];
    }
}

/* Removes copies of parameters that were only used in addresses. */
static void drop_copies(struct ptx_unit *unit)
{
    for (size_t v = 0; v < unit->vregs.count; v++) {
        const struct ptx_vreg *reg = &unit->vregs.at[v];

        if (reg->ssa && reg->use_count == 0 &&
            parameter_of(unit, ptx_ref_of((uint32_t)v, 0)) >= 0)
            unit->code.at[reg->def].flags |= PTX_MI_DEAD;
    }
}

void ptx_addresses(struct ptx_unit *unit)
{
    const struct ptx_options *options = unit->job->options;
    struct bases bases = { .count = 0 };

    for (size_t i = 0; i < unit->code.count; i++)
        make_lea(&unit->code.at[i]);
    /* If the entry block is a loop header, lanes return to the block, so code in it would write the scalar pairs more
     * than once. */
    if (!unit->function->kernel || unit->blocks.at[unit->entry].pred_count != 0 ||
        (options != NULL && options->no_scalar))
        return;
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++)
            use_base(unit, &unit->code.at[i], b, &bases);
    }
    drop_copies(unit);
    for (unsigned i = 0; i < bases.count; i++) {
        struct ptx_mi *mi = PTX_PUSH(unit->job, unit->prologue);
        const struct ptx_block *entry = &unit->blocks.at[unit->entry];

        ptx_mi_init(mi, ISA_S_MOV_B64, 0, 0);
        mi->ref[PTX_S_D] = ptx_ref_of(bases.vreg[i], 0);
        mi->rows[PTX_S_D] = 2;
        mi->in.xkind = ISA_X_CONST;
        mi->in.x = (uint32_t)bases.param[i];
        if (entry->count != 0) {
            mi->loc = unit->code.at[entry->first].loc;
            mi->line = unit->code.at[entry->first].line;
        }
    }
}
