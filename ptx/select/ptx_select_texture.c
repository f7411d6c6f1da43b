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

/** Geometries of fetches that are supported. PTX gives four coordinates where the fetch needs three, and ignores the last. */
struct geometry {
    uint8_t word, tgeom, layer; /* layer 1: the first coordinate is the number of a layer, an integer */
    uint8_t given, needed;      /* coordinates in PTX, and those that the fetch needs, with the layer */
    uint8_t rows;               /* registers of the tuple that holds them */
};

static const struct geometry *take_geometry(struct ptx_sel *sel)
{
    static const uint8_t others[] = { PTX_W_TEX_2DMS, PTX_W_TEX_A2DMS };
    static const struct geometry rows[] = {
        { PTX_W_TEX_1D, ISA_TGEOM_1D, 0, 1, 1, 1 },     { PTX_W_TEX_2D, ISA_TGEOM_2D, 0, 2, 2, 2 },
        { PTX_W_TEX_3D, ISA_TGEOM_3D, 0, 4, 3, 4 },     { PTX_W_TEX_A1D, ISA_TGEOM_A1D, 1, 2, 2, 2 },
        { PTX_W_TEX_A2D, ISA_TGEOM_A2D, 1, 4, 3, 4 },   { PTX_W_TEX_CUBE, ISA_TGEOM_CUBE, 0, 4, 3, 4 },
        { PTX_W_TEX_ACUBE, ISA_TGEOM_ACUBE, 1, 4, 4, 4 },
    };

    for (unsigned i = 0; i < LW_COUNT_OF(others); i++) {
        if (ptx_has(&sel->in, (enum ptx_word)others[i]))
            ptx_sel_fail(sel, LW_EUNSUPP, "fetches of multisample textures ('.%s') are not supported",
                         ptx_word_text((enum ptx_word)others[i]));
    }
    for (unsigned i = 0; i < LW_COUNT_OF(rows); i++)
        if (ptx_take(&sel->in, (enum ptx_word)rows[i].word))
            return &rows[i];
    ptx_sel_fail(sel, LW_EINPUT, "expected .1d, .2d, .3d, .a1d, .a2d, .cube or .acube");
}

/** Takes the modifier that says which mipmap level a fetch reads. Returns the number of its operands, which are not read: a texture
 *  has one level, so a level or derivatives do not change the result. */
static unsigned take_level(struct ptx_sel *sel)
{
    return ptx_take(&sel->in, PTX_W_TEX_BASE) ? 0 : ptx_take(&sel->in, PTX_W_TEX_LEVEL) ? 1 : ptx_take(&sel->in, PTX_W_TEX_GRAD) ? 2 : 0;
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
    const unsigned levels = take_level(sel);
    const struct geometry *geometry = take_geometry(sel);
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
    if (sel->in.operand_count > 3 + levels && sel->in.operand[2].kind != PTX_O_VECTOR)
        ptx_sel_fail(sel, LW_EUNSUPP, "separate samplers (texmode_independent) are not supported");
    if (sel->in.operand_count > 3 + levels)
        ptx_sel_fail(sel, LW_EUNSUPP, "offsets and depths of texture fetches are not supported");
    ptx_sel_operands(sel, 3 + levels, 3 + levels);
    to = &sel->in.operand[0];
    location = &sel->in.operand[2];
    if (to->kind != PTX_O_VECTOR || to->count != 4)
        ptx_sel_fail(sel, LW_EINPUT, "a texture fetch needs four destinations, {a, b, c, d}");
    if (location->kind == PTX_O_VECTOR ? location->count != geometry->given : geometry->given != 1)
        ptx_sel_fail(sel, LW_EINPUT, "a .%s texture fetch needs %u coordinate%s in braces",
                     ptx_word_text((enum ptx_word)geometry->word), geometry->given, geometry->given == 1 ? "" : "s");
    c = handle(sel);
    a = geometry->rows > 1 ? ptx_sel_temp(sel, geometry->rows) : ptx_sel_value(sel, location->kind == PTX_O_VECTOR
                                                                                        ? &location->element[0] : location, at);
    if (geometry->rows > 1) {
        ptx_ref part[4];

        for (unsigned i = 0; i < geometry->needed; i++)
            part[i] = ptx_sel_value(sel, &location->element[i], i < geometry->layer ? PTX_T_U32 : at);
        for (unsigned i = 0; i < geometry->rows; i++) /* a register that the fetch does not read gets a copy of the last one */
            put_row(sel, a, i, part[i < geometry->needed ? i : geometry->needed - 1u]);
    }
    d = ptx_sel_temp(sel, 4);
    mi = ptx_sel_put(sel, ISA_TEX, d, a, PTX_NO_REF, c, 4);
    mi->rows[PTX_S_A] = geometry->rows;
    mi->rows[PTX_S_C] = 2;
    isa_mod_set(&mi->in, ISA_MOD_TGEOM, geometry->tgeom);
    isa_mod_set(&mi->in, ISA_MOD_TTYPE, type == PTX_T_F32   ? ISA_TTYPE_F32
                                        : type == PTX_T_S32 ? ISA_TTYPE_S32
                                                            : ISA_TTYPE_U32);
    isa_mod_set(&mi->in, ISA_MOD_TCOORD, at == PTX_T_F32 ? ISA_TCOORD_F32 : ISA_TCOORD_S32);
    for (unsigned i = 0; i < 4; i++) {
        if (to->element[i].kind != PTX_O_SINK)
            ptx_sel_move(sel, ptx_sel_dest(sel, &to->element[i], type), d + i, 1);
    }
}
