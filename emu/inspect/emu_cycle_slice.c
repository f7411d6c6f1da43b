/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the backward program slice of a warp's steps; see emu_cycle_slice_priv.h. */
#include "emu/inspect/emu_cycle_slice_priv.h"

static const struct emu_cycle_uses *uses_of(struct emu_slice *k, uint32_t index, const struct isa_insn *insn)
{
    struct emu_cycle_uses *u = &k->cached[index % EMU_SLICE_CACHED];

    if (u->index != index + 1) {
        u->index = index + 1;
        u->count = (uint8_t)isa_insn_uses(insn, u->use);
        u->scalars = true;
        for (unsigned i = 0; i < u->count; i++)
            u->scalars = u->scalars && (u->use[i].reg_class == ISA_REG_S || u->use[i].reg_class == ISA_REG_SP);
    }
    return u;
}

/** Adds the bits @bits of the register in @use to the relevant bits, for one lane (or for the warp, if the register is
 *  scalar). */
static void need_bits(struct emu_slice *k, const struct isa_reg_use *use, unsigned lane, uint64_t bits)
{
    for (unsigned i = 0; bits != 0 && i < use->count; i++) {
        const unsigned r = use->first + i;
        const uint32_t mask = use->count > 2 ? UINT32_MAX : (uint32_t)(bits >> 32 * i);
        switch ((enum isa_reg_class)use->reg_class) {
        case ISA_REG_V:
            if (r < k->w->vreg_count) {
                k->now.v[r][lane] |= mask;
                k->now.v_lanes[r] |= UINT64_C(1) << lane;
            }
            break;
        case ISA_REG_P: k->now.p[r & 7] |= (uint64_t)(r < ISA_PT) << lane; break;
        case ISA_REG_S: k->now.s[r & 127] |= mask; break;
        case ISA_REG_SP: k->now.sp[r & 7] |= r < ISA_PT; break;
        case ISA_REG_B: break;
        }
    }
}

static void need(struct emu_slice *k, const struct isa_reg_use *use, uint64_t lanes)
{
    for (LW_EACH_BIT(l, lanes))
        need_bits(k, use, (unsigned)l, UINT64_MAX);
}

static void need_guard(struct emu_slice *k, const struct isa_insn *insn, uint64_t lanes)
{
    const struct isa_reg_use guard = {.reg_class = insn->guard_scalar ? ISA_REG_SP : ISA_REG_P,
                                      .first = insn->guard, .count = 1};

    if (lanes != 0 && insn->guard != ISA_PT)
        need(k, &guard, lanes);
}

/** Returns the number that a step has recorded about lane @lane of @lanes: the offset of the lane's access, or the bit in which
 *  its compared values differ. */
static uint32_t noted(const struct emu_slice *k, const struct emu_cycle_step *t, uint64_t lanes, unsigned lane)
{
    return t->apart ? k->c->offset[t->offset + lw_popcount(lanes & lw_mask(lane))] : t->offset;
}

static uint8_t *local_map(const struct emu_slice *k, const struct emu_cycle_step *t, unsigned lane)
{
    return k->now.local + (size_t)noted(k, t, t->local, lane) * k->w->width + lane;
}

/** Returns the relevant bits of the value that step @t stores to local memory or loads from there. */
static uint64_t local_bits(const struct emu_slice *k, const struct emu_cycle_step *t, unsigned lane)
{
    const uint8_t *map = local_map(k, t, lane);
    uint64_t bits = 0;

    for (unsigned b = 0; b < t->bytes; b++)
        bits |= (uint64_t)map[(size_t)b * k->w->width] << 8 * (b & 7);
    return t->bytes <= 8 ? bits : bits != 0 ? UINT64_MAX : 0;
}

static void local_set(struct emu_slice *k, const struct emu_cycle_step *t, unsigned lane, uint64_t bits,
                      bool wide)
{
    uint8_t *map = local_map(k, t, lane);

    for (unsigned b = 0; b < t->bytes; b++)
        map[(size_t)b * k->w->width] |= (uint8_t)(wide ? 0xff : bits >> 8 * (b & 7));
}

static void local_clear(struct emu_slice *k, const struct emu_cycle_step *t, unsigned lane)
{
    uint8_t *map = local_map(k, t, lane);

    for (unsigned b = 0; b < t->bytes; b++)
        map[(size_t)b * k->w->width] = 0;
}

/** Returns true if the value that @insn reads is different at each execution. */
static bool is_time(const struct isa_insn *insn)
{
    switch (insn->op) {
    case ISA_V_S2R: case ISA_V_S2R_B64: case ISA_S_S2R: case ISA_S_S2R_B64:
        return insn->x == ISA_SR_CLOCK || insn->x == ISA_SR_CLOCK64 || insn->x == ISA_SR_GLOBALTIMER;
    case ISA_V_MOV_TAKE_B: /* group numbers are never reused */
        return true;
    default:
        return false;
    }
}

/** Returns true if the result depends on which lanes run together. */
static bool sees_order(const struct isa_insn *insn, unsigned flags)
{
    return (flags & ISA_F_CROSS && !(flags & ISA_F_SYNC)) ||
           ((insn->op == ISA_V_S2R || insn->op == ISA_S_S2R) && insn->x == ISA_SR_ACTIVEMASK);
}

/** Returns true for instructions whose sources affect control flow or memory. Sources of the instructions for which the result is
 *  true are relevant even if no result of the instruction is relevant. */
static bool is_decision(const struct isa_insn *insn, const struct isa_op_info *info)
{
    if (insn->op == ISA_NANOSLEEP) /* the duration of a sleep does not affect control flow or memory */
        return false;
    return info->flags & ISA_F_MEMORY || (info->flags & ISA_F_CONTROL && !(info->flags & ISA_F_SYNC));
}

static bool is_bar_red(const struct isa_insn *insn)
{
    return insn->op == ISA_BAR_RED_POPC || insn->op == ISA_BAR_RED_AND || insn->op == ISA_BAR_RED_OR;
}

/** Returns true if the result of a bar.red depends only on the lanes of step @t: no other warp of the block is live, and no lane
 *  of the warp arrives in another split. */
static bool brings_all(const struct emu_slice *k, const struct emu_cycle_step *t)
{
    return k->w->block->warps_live == 1 && t->lanes == k->w->live && t->retired;
}

/** Returns true for instructions whose effect at the next execution is unknown. */
static bool is_opaque(enum isa_op op)
{
    switch (op) {
    case ISA_VPRINTF: case ISA_ASSERTFAIL: case ISA_MALLOC: case ISA_FREE: case ISA_LAUNCH_BUFFER:
    case ISA_LAUNCH_BUFFER_OF: case ISA_LAUNCH_STREAM: case ISA_LAUNCH_KERNEL: case ISA_LAUNCH_GROUP: case ISA_TRAP:
        return true;
    default:
        return false;
    }
}

bool emu_slice_equality(const struct isa_insn *insn)
{
    switch (insn->op) {
    case ISA_V_SETP_U32: case ISA_V_SETP_S32: case ISA_V_SETP_U64: case ISA_V_SETP_S64:
    case ISA_S_SETP_U32: case ISA_S_SETP_S32: case ISA_S_SETP_U64: case ISA_S_SETP_S64:
        break;
    default:
        return false;
    }
    const unsigned compare = isa_mod_get(insn, ISA_MOD_CMP);
    return (compare == ISA_CMP_EQ || compare == ISA_CMP_NE) && isa_insn_srcmod(insn, 0) == 0 &&
           isa_insn_srcmod(insn, 1) == 0;
}

/** Returns the bits of the sources on which bits @bits of the result depend. For instructions that are not listed in the
 *  function, these are all bits. */
static uint64_t source_bits(const struct isa_insn *insn, uint64_t bits)
{
    const bool number = insn->xkind == ISA_X_IMM;

    switch (insn->op) {
    case ISA_V_AND_B32: case ISA_V_AND_B64: case ISA_S_AND_B32: case ISA_S_AND_B64:
        return number ? bits & (uint64_t)(int64_t)(int32_t)insn->x : bits;
    case ISA_V_MOV_B32: case ISA_V_MOV_B64: case ISA_S_MOV_B32: case ISA_S_MOV_B64:
    case ISA_V_NOT_B32: case ISA_V_NOT_B64: case ISA_S_NOT_B32: case ISA_S_NOT_B64:
    case ISA_V_OR_B32: case ISA_V_OR_B64: case ISA_S_OR_B32: case ISA_S_OR_B64:
    case ISA_V_XOR_B32: case ISA_V_XOR_B64: case ISA_S_XOR_B32: case ISA_S_XOR_B64:
    case ISA_V_LOP3_B32: case ISA_V_SELP_B32: case ISA_V_SELP_B64:
        return bits;
    case ISA_V_ADD_U32: case ISA_V_SUB_U32: case ISA_V_MUL_U32: case ISA_V_MAD_U32: case ISA_V_NEG_S32:
    case ISA_V_ADD_U64: case ISA_V_SUB_U64: case ISA_V_MUL_U64: case ISA_V_MAD_U64: case ISA_V_NEG_S64:
    case ISA_S_ADD_U32: case ISA_S_SUB_U32: case ISA_S_MUL_U32: case ISA_S_MAD_U32:
    case ISA_S_ADD_U64: case ISA_S_SUB_U64: case ISA_S_MUL_U64: /* carries propagate from lower bits to higher ones */
        return bits == 0 ? 0 : UINT64_MAX >> __builtin_clzll(bits);
    default:
        return bits == 0 ? 0 : UINT64_MAX;
    }
}

/** Returns true for instructions whose result in a lane depends only on the sources of the same lane, by the rules of
 *  source_bits(). */
static bool is_plain(const struct isa_op_info *info)
{
    return !(info->flags & (ISA_F_MEMORY | ISA_F_CONTROL | ISA_F_CROSS));
}

/** Returns the relevant bits of an instruction's results in lane @lane. Relevant bits of scalar results are relevant in all
 *  lanes. */
static uint64_t result_bits(const struct emu_slice *k, const struct emu_cycle_uses *u, unsigned lane)
{
    uint64_t bits = 0;

    for (unsigned n = 0; n < u->count; n++) {
        const struct isa_reg_use *use = &u->use[n];
        for (unsigned i = 0; use->written && i < use->count; i++) {
            const unsigned r = use->first + i;
            uint32_t here = 0;
            switch ((enum isa_reg_class)use->reg_class) {
            case ISA_REG_V: here = k->now.v[r & 255][lane]; break;
            case ISA_REG_S: here = (r & 127) >= ISA_S_EXEC ? UINT32_MAX : k->now.s[r & 127]; break;
            case ISA_REG_P: here = k->now.p[r & 7] >> lane & 1 ? UINT32_MAX : 0; break;
            case ISA_REG_SP: here = k->now.sp[r & 7] ? UINT32_MAX : 0; break;
            case ISA_REG_B: break;
            }
            bits |= use->count > 2 && here != 0 ? UINT64_MAX : (uint64_t)here << 32 * (i & 1);
        }
    }
    return bits;
}

/** Returns true if a result of the instruction may be relevant in some lane. */
static bool may_matter(const struct emu_slice *k, const struct emu_cycle_uses *u)
{
    for (unsigned n = 0; n < u->count; n++) {
        const struct isa_reg_use *use = &u->use[n];
        for (unsigned i = 0; use->written && i < use->count; i++) {
            const unsigned r = use->first + i;
            switch ((enum isa_reg_class)use->reg_class) {
            case ISA_REG_V:
                if (k->now.v_lanes[r & 255] != 0)
                    return true;
                break;
            case ISA_REG_S:
                if ((r & 127) >= ISA_S_EXEC || k->now.s[r & 127] != 0)
                    return true;
                break;
            case ISA_REG_P:
                if (k->now.p[r & 7] != 0)
                    return true;
                break;
            case ISA_REG_SP:
                if (k->now.sp[r & 7] != 0)
                    return true;
                break;
            case ISA_REG_B: break;
            }
        }
    }
    return false;
}

/** Removes the registers that a step writes in @lanes from the set of relevant bits. Scalar registers are removed only if the
 *  step certainly writes them. */
static void forget(struct emu_slice *k, const struct emu_cycle_uses *u, uint64_t lanes, bool whole)
{
    for (unsigned n = 0; n < u->count; n++) {
        const struct isa_reg_use *use = &u->use[n];
        for (unsigned i = 0; use->written && i < use->count; i++) {
            const unsigned r = use->first + i;
            switch ((enum isa_reg_class)use->reg_class) {
            case ISA_REG_V:
                for (LW_EACH_BIT(l, lanes & k->now.v_lanes[r & 255]))
                    k->now.v[r & 255][l] = 0;
                k->now.v_lanes[r & 255] &= ~lanes;
                break;
            case ISA_REG_P: k->now.p[r & 7] &= ~lanes; break;
            case ISA_REG_S: k->now.s[r & 127] = whole && r < ISA_S_EXEC ? 0 : k->now.s[r & 127]; break;
            case ISA_REG_SP: k->now.sp[r & 7] &= !whole; break;
            case ISA_REG_B: break;
            }
        }
    }
}

/** Handles an instruction for which is_plain() is true: each lane's results depend on bits of the lane's own sources. */
static void back_over_plain(struct emu_slice *k, const struct emu_cycle_step *t, const struct isa_insn *insn,
                            const struct emu_cycle_uses *u, unsigned first, const uint64_t *results)
{
    const bool scalar = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR;
    const uint64_t live = k->w->live, lanes = u->scalars ? live & -live : scalar ? live : t->effective;

    for (LW_EACH_BIT(l, lanes)) {
        uint64_t bits = source_bits(insn, results[l]);
        if (results[l] == 0)
            continue;
        if (t->decided) {
            const uint32_t bit = noted(k, t, t->effective, scalar ? lw_lowest(t->effective) : (unsigned)l);
            bits = bit < 64 ? UINT64_C(1) << bit : UINT64_MAX;
        }
        for (unsigned i = first; i < u->count; i++)
            if (!u->use[i].written)
                need_bits(k, &u->use[i], (unsigned)l, bits);
    }
}

/** Handles a store: a value that is stored to local memory is relevant if the location is; values of other stores are always
 *  relevant. */
static void back_over_store(struct emu_slice *k, const struct emu_cycle_step *t, const struct isa_insn *insn,
                            const struct isa_op_info *info, const struct emu_cycle_uses *u, unsigned first)
{
    for (LW_EACH_BIT(l, t->effective)) {
        const bool local = t->local >> l & 1;
        const uint64_t bits = local ? local_bits(k, t, (unsigned)l) : UINT64_MAX;
        if (local)
            local_clear(k, t, (unsigned)l);
        for (unsigned i = first; i < u->count; i++) {
            const bool data = i + 1 == u->count && u->use[i].reg_class == ISA_REG_V &&
                              isa_op_has(info, ISA_TOK_XDN) && isa_x_reg(insn->x) != ISA_VZ;
            need_bits(k, &u->use[i], (unsigned)l, data ? bits : UINT64_MAX);
        }
    }
    need_guard(k, insn, t->lanes);
}

/** Computes the set of relevant bits before step @t from the set after it. */
static void back_over(struct emu_slice *k, const struct emu_cycle_step *t)
{
    const struct isa_insn *insn = &k->w->code->program->insn[t->index];
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    const struct emu_cycle_uses *u = uses_of(k, t->index, insn);
    const unsigned first = u->count != 0 && insn->guard != ISA_PT ? 1 : 0; /* if there is a guard, it is the first of the uses */
    const uint64_t live = k->w->live;
    uint64_t results[EMU_MAX_LANES], matter = 0, sources;

    if (is_opaque((enum isa_op)insn->op)) {
        k->hopeless = true;
        return;
    }
    if (info->flags & ISA_F_STORE && !(info->flags & ISA_F_ATOMIC)) {
        back_over_store(k, t, insn, info, u, first);
        return;
    }
    const bool plain = is_plain(info) && insn->op != ISA_V_WRITELANE_B32;
    if (plain && (!t->retired || !may_matter(k, u)))
        return;
    const uint64_t all = live | t->lanes;
    for (LW_EACH_BIT(l, plain && u->scalars ? live & -live : all)) {
        results[l] = t->retired ? result_bits(k, u, (unsigned)l) : 0;
        matter |= (uint64_t)(results[l] != 0) << l;
    }
    if (plain && u->scalars && matter != 0) /* a scalar result is the same in all lanes, so it is relevant in all lanes */
        matter = all;
    if (matter & t->lanes) {
        k->hopeless = k->hopeless || is_time(insn) || (is_bar_red(insn) && !brings_all(k, t));
        k->ordered = k->ordered || sees_order(insn, info->flags);
    }
    if (t->retired && insn->op != ISA_V_WRITELANE_B32)
        forget(k, u, t->effective, insn->guard == ISA_PT);
    if (plain) {
        back_over_plain(k, t, insn, u, first, results);
        need_guard(k, insn, matter & t->lanes);
        return;
    }
    if (info->flags & ISA_F_ATOMIC && t->local != 0)
        k->hopeless = true;
    for (LW_EACH_BIT(l, t->local & matter)) /* if a loaded part of a register is sign-extended, all its bits are relevant */
        local_set(k, t, (unsigned)l, results[l], t->bytes < 4 || t->bytes > 8);
    sources = matter & t->effective;
    if (info->flags & (ISA_F_SCALAR | ISA_F_CROSS) || is_bar_red(insn))
        sources = matter & t->lanes ? live : 0;
    const bool brings = is_bar_red(insn) && sources == 0; /* The sources in these lanes are relevant only because other lanes'
                                                           * results depend on them. */
    if (is_decision(insn, info))
        sources |= info->flags & ISA_F_SCALAR ? live : info->flags & ISA_F_MEMORY ? t->effective : t->lanes;
    need_guard(k, insn, info->flags & (ISA_F_CONTROL | ISA_F_MEMORY) || sources != 0 ? t->lanes : 0);
    for (unsigned i = first; i < u->count; i++)
        if (!u->use[i].written && sources != 0 && !(brings && u->use[i].reg_class == ISA_REG_P))
            need(k, &u->use[i], sources);
    if (info->flags & ISA_F_SYNC && isa_op_has(info, ISA_TOK_WM) && isa_x_member(insn->x) != ISA_VZ) {
        const struct isa_reg_use mask = {.reg_class = ISA_REG_V,
                                         .first = (uint8_t)isa_x_member(insn->x), .count = 1};
        need(k, &mask, t->lanes);
    }
}

void emu_slice_walk(struct emu_slice *k)
{
    uint8_t *local = k->now.local;

    k->now = k->end;
    k->now.local = local;
    memcpy(local, k->end.local, k->local_size);
    for (size_t i = k->c->count; i-- > 0 && !k->hopeless;)
        back_over(k, &k->c->step[i]);
}

bool emu_slice_join(struct emu_slice *k)
{
    const struct emu_relevant *a = &k->now;
    struct emu_relevant *b = &k->end;
    uint64_t news = 0;

#define JOIN(member)                                                                           \
    do {                                                                                       \
        news |= (uint64_t)(a->member & ~b->member);                                            \
        b->member |= a->member;                                                                \
    } while (0)
    for (unsigned i = 0; i < k->w->vreg_count && i < 256; i++)
        for (unsigned l = 0; l < EMU_MAX_LANES; l++)
            JOIN(v[i][l]);
    for (unsigned i = 0; i < LW_COUNT_OF(a->v_lanes); i++)
        b->v_lanes[i] |= a->v_lanes[i];
    for (unsigned i = 0; i < LW_COUNT_OF(a->p); i++)
        JOIN(p[i]);
    for (unsigned i = 0; i < LW_COUNT_OF(a->s); i++)
        JOIN(s[i]);
    for (unsigned i = 0; i < LW_COUNT_OF(a->sp); i++)
        JOIN(sp[i]);
    for (size_t i = 0; i < k->local_size; i++)
        JOIN(local[i]);
#undef JOIN
    return news != 0;
}
