/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of texture fetches. */
#include "ptx/select/ptx_select_priv.h"

/* Writes one register of a register tuple that several moves fill. */
static void put_row(struct ptx_sel *sel, ptx_ref group, unsigned row, ptx_ref value)
{
    ptx_sel_move(sel, group + row, value, 1);
    if (row != 0)
        sel->unit->code.at[sel->unit->code.count - 1].flags |= PTX_MI_PARTIAL;
}

static unsigned take_geometry(struct ptx_sel *sel)
{
    static const uint8_t others[] = { PTX_W_TEX_3D,   PTX_W_TEX_A1D,   PTX_W_TEX_A2D,
                                      PTX_W_TEX_CUBE, PTX_W_TEX_ACUBE, PTX_W_TEX_2DMS,
                                      PTX_W_TEX_A2DMS, PTX_W_TEX_LEVEL, PTX_W_TEX_GRAD,
                                      PTX_W_TEX_BASE };

    for (unsigned i = 0; i < LW_COUNT_OF(others); i++) {
        if (ptx_has(&sel->in, (enum ptx_word)others[i]))
            ptx_sel_fail(sel, LW_EUNSUPP, "texture fetches with '.%s' are not supported: use .1d or .2d without levels",
                         ptx_word_text((enum ptx_word)others[i]));
    }
    if (ptx_take(&sel->in, PTX_W_TEX_1D))
        return ISA_TGEOM_1D;
    if (ptx_take(&sel->in, PTX_W_TEX_2D))
        return ISA_TGEOM_2D;
    ptx_sel_fail(sel, LW_EINPUT, "expected .1d or .2d");
}

static ptx_ref handle(struct ptx_sel *sel)
{
    const struct ptx_operand *o = &sel->in.operand[1];

    if (o->kind == PTX_O_REG)
        return ptx_sel_value(sel, o, PTX_T_U64);
    if (o->kind == PTX_O_SYMBOL) {
        const struct ptx_symbol *s = &sel->unit->module->symbols.at[o->symbol];

        if (s->kind == PTX_SYM_VARIABLE && s->texture && o->imm == 0)
            return ptx_sel_symbol(sel, o->symbol, 0, 2);
    }
    ptx_sel_fail(sel, LW_EINPUT, "expected a .texref variable or a register with its handle in "
                 "the brackets");
}

/* Selects tex. The texture's descriptor determines the read; the types only determine the registers of the result. */
void ptx_rule_tex(struct ptx_sel *sel)
{
    enum ptx_type type = ptx_sel_type(sel, 0), at = ptx_sel_type(sel, 1);
    unsigned geometry = take_geometry(sel), axes = geometry == ISA_TGEOM_2D ? 2 : 1;
    const struct ptx_operand *to, *location;
    struct ptx_mi *mi;
    ptx_ref c, a, d;

    if (!ptx_take(&sel->in, PTX_W_V4))
        ptx_sel_fail(sel, LW_EUNSUPP, "texture fetches need .v4");
    if (type != PTX_T_F32 && type != PTX_T_S32 && type != PTX_T_U32)
        ptx_sel_fail(sel, LW_EUNSUPP, "the result of a texture fetch must be .f32, .s32 or .u32, not .%s",
                     ptx_type_name(type));
    if (at != PTX_T_F32 && at != PTX_T_S32)
        ptx_sel_fail(sel, LW_EINPUT, "coordinates must be .f32 or .s32");
    if (sel->in.operand_count > 3 && sel->in.operand[2].kind != PTX_O_VECTOR)
        ptx_sel_fail(sel, LW_EUNSUPP, "separate samplers (texmode_independent) are not supported");
    if (sel->in.operand_count > 3)
        ptx_sel_fail(sel, LW_EUNSUPP, "offsets and depths of texture fetches are not supported");
    ptx_sel_operands(sel, 3, 3);
    to = &sel->in.operand[0];
    location = &sel->in.operand[2];
    if (to->kind != PTX_O_VECTOR || to->count != 4)
        ptx_sel_fail(sel, LW_EINPUT, "a texture fetch needs four destinations, {a, b, c, d}");
    if (location->kind == PTX_O_VECTOR ? location->count != axes : axes != 1)
        ptx_sel_fail(sel, LW_EINPUT, "a .%ud texture fetch needs %u coordinate%s in braces", axes, axes,
                     axes == 1 ? "" : "s");
    c = handle(sel);
    a = ptx_sel_value(sel, location->kind == PTX_O_VECTOR ? &location->element[0] : location, at);
    if (axes == 2) {
        ptx_ref y = ptx_sel_value(sel, &location->element[1], at), pair = ptx_sel_temp(sel, 2);

        put_row(sel, pair, 0, a);
        put_row(sel, pair, 1, y);
        a = pair;
    }
    d = ptx_sel_temp(sel, 4);
    mi = ptx_sel_put(sel, ISA_TEX, d, a, PTX_NO_REF, c, 4);
    mi->rows[PTX_S_A] = (uint8_t)axes;
    mi->rows[PTX_S_C] = 2;
    isa_mod_set(&mi->in, ISA_MOD_TGEOM, geometry);
    isa_mod_set(&mi->in, ISA_MOD_TTYPE, type == PTX_T_F32   ? ISA_TTYPE_F32
                                        : type == PTX_T_S32 ? ISA_TTYPE_S32
                                                            : ISA_TTYPE_U32);
    isa_mod_set(&mi->in, ISA_MOD_TCOORD, at == PTX_T_F32 ? ISA_TCOORD_F32 : ISA_TCOORD_S32);
    for (unsigned i = 0; i < 4; i++) {
        if (to->element[i].kind != PTX_O_SINK)
            ptx_sel_move(sel, ptx_sel_dest(sel, &to->element[i], type), d + i, 1);
    }
}
