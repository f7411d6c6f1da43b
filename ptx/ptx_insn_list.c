/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and changes machine instructions, virtual registers and blocks, and describes operations to the passes. */
#include "ptx/ptx_priv.h"

void ptx_mi_init(struct ptx_mi *mi, enum isa_op op, uint32_t loc, uint32_t line)
{
    memset(mi, 0, sizeof *mi);
    isa_insn_init(&mi->in, op);
    for (unsigned s = 0; s < PTX_SLOT_COUNT; s++)
        mi->ref[s] = PTX_NO_REF;
    mi->barrier = PTX_NO_BARRIER;
    mi->target = mi->symbol = PTX_NONE;
    mi->loc = loc;
    mi->line = line;
}

struct ptx_vreg *ptx_vreg_new(struct ptx_unit *unit, unsigned rows)
{
    struct ptx_vreg *v = PTX_PUSH(unit->job, unit->vregs);

    memset(v, 0, sizeof *v);
    v->rows = (uint8_t)rows;
    v->origin = v->def = PTX_NONE;
    return v;
}

void ptx_mi_negate(struct ptx_mi *mi, enum ptx_slot slot, bool negate)
{
    unsigned bit = slot == PTX_S_R ? 15 : slot == PTX_S_RA ? 19 : 23;

    if (slot == PTX_S_GUARD)
        mi->in.guard_neg = negate;
    else
        mi->in.mod = (mi->in.mod & ~(1u << bit)) | (uint32_t)negate << bit;
}

bool ptx_mi_negated(const struct ptx_mi *mi, enum ptx_slot slot)
{
    unsigned bit = slot == PTX_S_R ? 15 : slot == PTX_S_RA ? 19 : 23;

    return slot == PTX_S_GUARD ? mi->in.guard_neg : mi->in.mod >> bit & 1;
}

bool ptx_op_wide_x(enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op);

    return info != NULL &&
           (isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2) != 0 || isa_op_has(info, ISA_TOK_XT));
}

/* Properties of operations that only ptx/ needs and that isa/insns.def does not have. */
static const struct {
    bool commutes;   /* A and X may be exchanged (ptx_mi_swap() mirrors a comparison) */
    uint16_t narrow; /* operation that computes the low word of the result from low words of the sources */
} traits[ISA_OP_COUNT] = {
    /* clang-format off */
    [ISA_V_ADD_U32] = { .commutes = true },     [ISA_V_ADD_U64] = { true, ISA_V_ADD_U32 },
    [ISA_V_ADD_F32] = { .commutes = true },     [ISA_V_ADD_F64] = { .commutes = true },
    [ISA_V_SUB_U64] = { .narrow = ISA_V_SUB_U32 },
    [ISA_V_NEG_S64] = { .narrow = ISA_V_NEG_S32 },
    [ISA_V_MUL_U32] = { .commutes = true },     [ISA_V_MUL_U64] = { true, ISA_V_MUL_U32 },
    [ISA_V_MUL_F32] = { .commutes = true },     [ISA_V_MUL_F64] = { .commutes = true },
    [ISA_V_MULHI_U32] = { .commutes = true },   [ISA_V_MULHI_S32] = { .commutes = true },
    [ISA_V_MULHI_U64] = { .commutes = true },   [ISA_V_MULHI_S64] = { .commutes = true },
    [ISA_V_MULWIDE_U32] = { true, ISA_V_MUL_U32 }, [ISA_V_MULWIDE_S32] = { true, ISA_V_MUL_U32 },
    [ISA_V_MADWIDE_U32] = { true, ISA_V_MAD_U32 }, [ISA_V_MADWIDE_S32] = { true, ISA_V_MAD_U32 },
    [ISA_V_MAD_U32] = { .commutes = true },     [ISA_V_MAD_U64] = { true, ISA_V_MAD_U32 },
    [ISA_V_FMA_F32] = { .commutes = true },     [ISA_V_FMA_F64] = { .commutes = true },
    [ISA_V_MIN_U32] = { .commutes = true },     [ISA_V_MIN_S32] = { .commutes = true },
    [ISA_V_MAX_U32] = { .commutes = true },     [ISA_V_MAX_S32] = { .commutes = true },
    [ISA_V_MIN_U64] = { .commutes = true },     [ISA_V_MIN_S64] = { .commutes = true },
    [ISA_V_MAX_U64] = { .commutes = true },     [ISA_V_MAX_S64] = { .commutes = true },
    [ISA_V_AND_B32] = { .commutes = true },     [ISA_V_AND_B64] = { true, ISA_V_AND_B32 },
    [ISA_V_OR_B32] = { .commutes = true },      [ISA_V_OR_B64] = { true, ISA_V_OR_B32 },
    [ISA_V_XOR_B32] = { .commutes = true },     [ISA_V_XOR_B64] = { true, ISA_V_XOR_B32 },
    [ISA_V_MOV_B64] = { .narrow = ISA_V_MOV_B32 },
    [ISA_V_NOT_B64] = { .narrow = ISA_V_NOT_B32 },
    [ISA_V_SHL_B64] = { .narrow = ISA_V_SHL_B32 }, /* both left shifts return 0 if all bits are shifted out */
    [ISA_V_SELP_B64] = { .narrow = ISA_V_SELP_B32 },
    /* clang-format on */
};

bool ptx_op_commutes(enum isa_op op)
{
    return traits[op].commutes;
}

enum isa_op ptx_op_narrow(enum isa_op op)
{
    return traits[op].narrow != 0 ? (enum isa_op)traits[op].narrow : ISA_OP_COUNT;
}

static unsigned mirrored(unsigned comparison)
{
    switch (comparison) {
    case ISA_CMP_LT: return ISA_CMP_GT;
    case ISA_CMP_GT: return ISA_CMP_LT;
    case ISA_CMP_LE: return ISA_CMP_GE;
    case ISA_CMP_GE: return ISA_CMP_LE;
    case ISA_CMP_LTU: return ISA_CMP_GTU;
    case ISA_CMP_GTU: return ISA_CMP_LTU;
    case ISA_CMP_LEU: return ISA_CMP_GEU;
    case ISA_CMP_GEU: return ISA_CMP_LEU;
    default: return comparison;
    }
}

void ptx_mi_swap(struct ptx_mi *mi)
{
    unsigned a = isa_insn_srcmod(&mi->in, 0), x = isa_insn_srcmod(&mi->in, 1);
    ptx_ref t = mi->ref[PTX_S_A];

    mi->ref[PTX_S_A] = mi->ref[PTX_S_X];
    mi->ref[PTX_S_X] = t;
    isa_insn_set_srcmod(&mi->in, 0, x);
    isa_insn_set_srcmod(&mi->in, 1, a);
    if (isa_op_info((enum isa_op)mi->in.op)->format == ISA_FMT_CMP)
        isa_mod_set(&mi->in, ISA_MOD_CMP, mirrored(isa_mod_get(&mi->in, ISA_MOD_CMP)));
}

struct ptx_block *ptx_block_new(struct ptx_unit *unit)
{
    struct ptx_block *b = PTX_PUSH(unit->job, unit->blocks);

    memset(b, 0, sizeof *b);
    b->guard = PTX_NO_REF;
    b->rpo = b->idom = b->ipdom = b->loop = b->label = PTX_NONE;
    b->branch_barrier = PTX_NO_BARRIER;
    return b;
}
