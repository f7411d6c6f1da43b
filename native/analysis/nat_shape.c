/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the shapes of registers by a forward analysis over the blocks. The rules of the analysis are the tag column of
 * isa/insns.def. Native code leaves at a branch at which the lanes diverge, and verifies the shapes where it is entered. At the
 * bsync at which diverged lanes reconverge, a register that was written since the bssy may differ between lanes.
 */
#include <stdlib.h>
#include <string.h>

#include "native/nat_priv.h"

static const struct nat_shape lanes = {.kind = NAT_LANES};

static struct nat_shape same(bool known, uint64_t value)
{
    return (struct nat_shape){.kind = NAT_SAME, .known = known, .value = known ? value : 0};
}
static struct nat_shape affine(bool pair, int64_t sx, bool known_sy, int64_t sy)
{
    struct nat_shape s = {.kind = NAT_AFFINE, .pair = pair, .known_sy = known_sy, .sx = sx, .sy = known_sy ? sy : 0};

    if (!pair) {
        s.sx = (int32_t)s.sx;
        s.sy = (int32_t)s.sy;
    }
    return s;
}
static bool equal(const struct nat_shape *a, const struct nat_shape *b)
{
    return a->kind == b->kind && a->known == b->known && a->pair == b->pair && a->known_sy == b->known_sy &&
           a->known_origin == b->known_origin && a->sx == b->sx && a->sy == b->sy && a->origin == b->origin && a->value == b->value;
}
/** Returns shape @s. If @s is affine and @known is set, its origin becomes @origin, provided that sums of such values cannot
 *  overflow. */
static struct nat_shape with_origin(struct nat_shape s, bool known, int64_t origin)
{
    s.known_origin = s.kind == NAT_AFFINE && known && origin < INT32_MAX && origin > INT32_MIN;
    s.origin = s.known_origin ? origin : 0;
    return s;
}
/** Returns the shape of the low word of a register or pair of affine shape @s. */
static struct nat_shape affine_word(const struct nat_shape *s)
{
    return s->pair ? with_origin(affine(false, s->sx, s->known_sy, s->sy), s->known_origin, s->origin) : *s;
}
/** Returns true if some threads of the block have a negative value of shape @s. Then the zero-extended values are not affine. */
static bool is_negative(const struct nat_shape *s)
{
    return s->kind == NAT_AFFINE && s->known_origin && s->origin < 0;
}
/** Gets the value of @s in thread 0 of the block, if it is known. */
static bool origin_of(const struct nat_shape *s, int64_t *origin)
{
    *origin = s->kind == NAT_AFFINE ? s->origin : (int32_t)s->value;
    return s->kind == NAT_AFFINE ? s->known_origin : s->known && (s->value == (uint64_t)*origin || s->value == (uint32_t)*origin);
}

static struct nat_shape join(const struct nat_shape *a, const struct nat_shape *b)
{
    if (a->kind == NAT_UNKNOWN || equal(a, b))
        return *b;
    if (b->kind == NAT_UNKNOWN)
        return *a;
    if (a->kind != b->kind)
        return lanes;
    if (a->kind == NAT_SAME)
        return same(false, 0);
    if (a->kind == NAT_AFFINE && a->pair == b->pair && a->sx == b->sx)
        return affine(a->pair, a->sx, a->known_sy && b->known_sy && a->sy == b->sy, a->sy);
    return lanes;
}

/** Sets to NAT_LANES each half of an affine pair whose other half does not belong to the pair any more. */
static void repair(struct nat_state *state)
{
    for (unsigned r = 0; r < 255; r++) {
        const bool low = state->v[r].kind == NAT_AFFINE && state->v[r].pair;
        const bool high = r + 1 < 255 && state->v[r + 1].kind == NAT_HIGH;
        if (low && !high)
            state->v[r] = lanes;
        if (high && !low)
            state->v[r + 1] = lanes;
    }
    if (state->v[0].kind == NAT_HIGH)
        state->v[0] = lanes;
}

void nat_sources(const struct isa_insn *insn, struct nat_source source[3])
{
    const struct isa_op_info *info = nat_info(insn);
    const bool mods = !(info->flags & ISA_F_NOSRCMOD);
    struct nat_source a = {.words = isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2), .vector = !insn->a_scalar,
                           .kind = ISA_X_SCALAR, .reg = insn->a};
    struct nat_source c = {.words = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2), .vector = !insn->c_scalar,
                           .kind = ISA_X_SCALAR, .reg = insn->c};
    struct nat_source x = {.words = isa_insn_x_bytes(insn) / 4, .vector = insn->xkind == ISA_X_VECTOR,
                           .kind = insn->xkind, .reg = isa_x_reg(insn->x), .x = insn->x};

    if (a.words == 0 && isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2) != 0) {
        a.words = isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2);
        a.vector = false;
    }
    if (c.words == 0 && isa_op_has(info, ISA_TOK_SC)) {
        c.words = 1;
        c.vector = false;
    }
    x.high = x.words == 2 && (info->unit == ISA_UNIT_DP || info->flags & ISA_F_FLOAT ||
                              (insn->op == ISA_V_CVT && isa_mod_get(insn, ISA_MOD_STYPE) == ISA_ST_F64));
    if (mods) {
        a.mods = isa_insn_srcmod(insn, 0);
        x.mods = isa_insn_srcmod(insn, 1);
        c.mods = isa_insn_srcmod(insn, 2);
    }
    if (insn->variant && x.words != 0 && c.words != 0) { /* `variant` exchanges x and c in the encoding, but b and c of the
                                                          * table stay the same */
        const struct nat_source t = x;
        const unsigned x_words = x.words, c_words = c.words, x_mods = x.mods, c_mods = c.mods;
        x = c;
        c = t;
        x.words = x_words, c.words = c_words;
        x.mods = c_mods, c.mods = x_mods;
    }
    source[0] = a;
    source[1] = x;
    source[2] = c;
}

static struct nat_shape scalar_shape(const struct nat_state *state, unsigned reg)
{
    if (reg > 127)
        return same(true, 0);
    return state->s[reg].kind == NAT_SAME ? state->s[reg] : same(false, 0);
}

struct nat_shape nat_source_shape(const struct nat_unit *unit, const struct nat_state *state, const struct nat_source *source)
{
    struct nat_shape low, high;

    (void)unit;
    if (source->words == 0)
        return same(true, 0);
    if (source->mods != 0)
        return source->vector ? lanes : same(false, 0);
    if (!source->vector) {
        switch (source->kind) {
        case ISA_X_IMM:
            return same(true, source->high ? (uint64_t)source->x << 32
                              : source->words == 2 ? (uint64_t)(int64_t)(int32_t)source->x : source->x);
        case ISA_X_CONST: return same(false, 0);
        default: break;
        }
        low = scalar_shape(state, source->reg);
        if (source->words == 1)
            return low;
        high = source->reg < 127 ? scalar_shape(state, source->reg + 1) : same(true, 0);
        return same(low.known && high.known, high.value << 32 | (uint32_t)low.value);
    }
    if (source->reg == ISA_VZ)
        return same(true, 0);
    low = state->v[source->reg];
    if (source->words == 1)
        return low.kind == NAT_HIGH ? lanes : low.kind == NAT_AFFINE ? affine_word(&low) : low;
    if (low.kind == NAT_AFFINE && low.pair)
        return low;
    high = state->v[source->reg + 1];
    if (low.kind == NAT_SAME && high.kind == NAT_SAME)
        return same(low.known && high.known, high.value << 32 | (uint32_t)low.value);
    return lanes;
}

bool nat_known_special(const struct nat_unit *unit, enum isa_special sr, uint32_t *value)
{
    if (sr != ISA_SR_NTID_X && sr != ISA_SR_NTID_Y && sr != ISA_SR_NTID_Z)
        return false;
    *value = unit->job->block[sr - ISA_SR_NTID_X];
    return true;
}

/** Returns the shape of a special register in a warp without missing lanes. */
struct nat_shape nat_special_shape(const struct nat_unit *unit, enum isa_special sr)
{
    const uint32_t *block = unit->job->block;
    uint32_t value;

    if (nat_known_special(unit, sr, &value))
        return same(true, value);
    if ((unsigned)sr - ISA_SR_NTID_X < (unsigned)(ISA_SR_WORKDIM + 1 - ISA_SR_NTID_X))
        return same(false, 0);
    const bool rows = block[0] % unit->columns == 0 && unit->columns == block[0]; /* true if each row of the block is a row
                                                                                   * of the lane grid */
    const bool whole = block[0] % unit->width == 0;
    const bool planes = rows && block[1] % unit->rows == 0; /* true if all lanes of a warp have the same z */
    if (sr == ISA_SR_TID_X && (whole || rows))
        return with_origin(affine(false, 1, true, 0), true, 0);
    if (sr == ISA_SR_TID_Y && whole)
        return same(false, 0);
    if (sr == ISA_SR_TID_Y && planes)
        return affine(false, 0, true, 1);
    if (sr == ISA_SR_TID_Z && (whole || planes))
        return same(false, 0);
    if (sr == ISA_SR_LANEID && unit->width <= 32) /* a warp of 64 is two warps of 32 */
        return affine(false, 1, true, unit->columns);
    return lanes;
}

/** Returns the shape of @a + @sign * @b, both of which are SAME or AFFINE. */
static struct nat_shape sum(bool pair, const struct nat_shape *a, const struct nat_shape *b, int sign)
{
    const bool ka = a->kind == NAT_SAME || a->known_sy, kb = b->kind == NAT_SAME || b->known_sy;

    if (a->kind == NAT_SAME && b->kind == NAT_SAME)
        return same(false, 0);
    int64_t from_a, from_b;
    const bool known = (origin_of(a, &from_a) & origin_of(b, &from_b)) != 0;
    return with_origin(affine(pair, (int64_t)((uint64_t)a->sx + (uint64_t)sign * (uint64_t)b->sx), ka && kb,
                              (int64_t)((uint64_t)a->sy + (uint64_t)sign * (uint64_t)b->sy)),
                       known, from_a + sign * from_b);
}
/** Returns the shape of @a * @b. The shape is LANES unless one factor is SAME, and either the value of this factor is known
 *  or sx of the other factor is 0. */
static struct nat_shape product(bool pair, const struct nat_shape *a, const struct nat_shape *b)
{
    const struct nat_shape *line = a->kind == NAT_AFFINE ? a : b, *factor = a->kind == NAT_AFFINE ? b : a;

    if (line->kind != NAT_AFFINE)
        return same(false, 0);
    if (factor->kind != NAT_SAME || (!factor->known && line->sx != 0))
        return lanes;
    const int64_t by = pair ? (int64_t)factor->value : (int32_t)factor->value;
    return affine(pair, (int64_t)((uint64_t)line->sx * (uint64_t)by), factor->known && line->known_sy,
                  (int64_t)((uint64_t)line->sy * (uint64_t)by));
}

struct nat_shape nat_result_shape(const struct nat_unit *unit, const struct isa_insn *insn, const struct nat_source source[3],
                                  const struct nat_shape shape[3])
{
    const struct isa_op_info *info = nat_info(insn);
    const struct nat_shape *a = &shape[0], *b = &shape[1], *c = &shape[2];
    const bool pair = isa_op_words(info, ISA_TOK_VD, ISA_TOK_VD2) == 2;
    bool all = true, bent = false;

    (void)unit;
    for (unsigned i = 0; i < 3; i++) {
        all = all && (source[i].words == 0 || shape[i].kind == NAT_SAME);
        bent = bent || (source[i].words != 0 && shape[i].kind != NAT_SAME && shape[i].kind != NAT_AFFINE);
    }
    if (all) {
        const bool moves = info->tag == ISA_TAG_MOV && b->known;
        return same(moves, b->value);
    }
    if (bent || (insn->guard != ISA_PT && !insn->guard_scalar))
        return lanes;
    if (nat_zero_extends(insn, &shape[1]))
        return is_negative(a) ? lanes : affine(true, (int32_t)a->sx, a->known_sy, (int32_t)a->sy);
    if ((info->tag == ISA_TAG_LEA || info->tag == ISA_TAG_MULWIDE || info->tag == ISA_TAG_MADWIDE) && (is_negative(a) || is_negative(b)))
        return lanes;
    switch (info->tag) {
    case ISA_TAG_MOV: return *b;
    case ISA_TAG_ADD: return sum(pair, a, b, 1);
    case ISA_TAG_SUB: return sum(pair, a, b, -1);
    case ISA_TAG_MUL:
    case ISA_TAG_MULWIDE:
    case ISA_TAG_MULWIDE_S: {
        /* a factor has the same value as a signed and an unsigned number only if it is not negative */
        if (info->tag == ISA_TAG_MULWIDE && ((a->kind == NAT_SAME && a->known && (int32_t)a->value < 0) ||
                                             (b->kind == NAT_SAME && b->known && (int32_t)b->value < 0)))
            return lanes;
        struct nat_shape x = *a, y = *b;
        if (info->tag == ISA_TAG_MULWIDE_S || info->tag == ISA_TAG_MULWIDE) {
            x.value = (uint64_t)(int64_t)(int32_t)x.value;
            y.value = (uint64_t)(int64_t)(int32_t)y.value;
        }
        return product(pair, &x, &y);
    }
    case ISA_TAG_MAD:
    case ISA_TAG_MADWIDE:
    case ISA_TAG_MADWIDE_S: {
        if (info->tag == ISA_TAG_MADWIDE && ((a->kind == NAT_SAME && a->known && (int32_t)a->value < 0) ||
                                             (b->kind == NAT_SAME && b->known && (int32_t)b->value < 0)))
            return lanes;
        struct nat_shape x = *a, y = *b;
        if (info->tag != ISA_TAG_MAD) {
            x.value = (uint64_t)(int64_t)(int32_t)x.value;
            y.value = (uint64_t)(int64_t)(int32_t)y.value;
        }
        const struct nat_shape p = product(pair, &x, &y);
        return p.kind == NAT_LANES ? p : sum(pair, &p, c, 1);
    }
    case ISA_TAG_LEA:
    case ISA_TAG_LEA_S:
    case ISA_TAG_SHL: {
        if (b->kind != NAT_SAME || !b->known || b->value > (info->tag == ISA_TAG_SHL && pair ? 63 : 31))
            return lanes;
        const struct nat_shape factor = same(true, UINT64_C(1) << b->value);
        struct nat_shape wide = factor;
        if (!pair)
            wide.value = (uint32_t)wide.value;
        const struct nat_shape p = product(pair, a, &wide);
        return info->tag == ISA_TAG_SHL || p.kind == NAT_LANES ? p : sum(pair, &p, c, 1);
    }
    default: return lanes;
    }
}

bool nat_zero_extends(const struct isa_insn *insn, const struct nat_shape *b)
{
    return insn->op == ISA_V_AND_B64 && b->kind == NAT_SAME && b->known && b->value == UINT32_MAX;
}

/** Writes the shape of @words registers from @reg on. */
static void put(struct nat_state *state, unsigned reg, unsigned words, struct nat_shape shape)
{
    if (reg == ISA_VZ)
        return;
    if (state->v[reg].kind == NAT_HIGH && reg > 0) /* register @reg was the high word of a pair, so the low word of that pair
                                                    * becomes LANES */
        state->v[reg - 1] = lanes;
    if (state->v[reg + words - 1].kind == NAT_AFFINE && state->v[reg + words - 1].pair && reg + words < 255)
        state->v[reg + words] = lanes;
    if (words == 2 && shape.kind == NAT_SAME) {
        state->v[reg] = same(shape.known, (uint32_t)shape.value);
        state->v[reg + 1] = same(shape.known, shape.value >> 32);
    } else if (words == 2 && shape.kind == NAT_AFFINE) {
        state->v[reg] = shape;
        state->v[reg + 1] = (struct nat_shape){.kind = NAT_HIGH};
    } else {
        for (unsigned k = 0; k < words; k++)
            state->v[reg + k] = words == 1 ? shape : lanes;
    }
    for (unsigned k = 0; k < words; k++) {
        const struct nat_shape *s = &state->v[reg + k];
        nat_remove(&state->nan, NAT_V + reg + k);
        if (s->kind == NAT_SAME && s->known && (s->value & 0x7fffffff) <= 0x7f800000)
            nat_remove(&state->bits, NAT_V + reg + k);
        else
            nat_add(&state->bits, NAT_V + reg + k);
    }
}
/** Records that the destination has a result of f32, which may be a NaN that is not canonical. Does nothing if a guard may
 *  preserve the old value of the register and the bits of the old value must not change (@old_bits): in this case the result
 *  is already canonical. */
static void put_float(struct nat_state *state, const struct isa_insn *insn, bool old_bits)
{
    if (insn->d == ISA_VZ || (insn->guard != ISA_PT && old_bits))
        return;
    nat_add(&state->nan, NAT_V + insn->d);
    nat_remove(&state->bits, NAT_V + insn->d);
}

/** Gives all registers that the instruction writes the most general shape. */
static void put_anything(const struct nat_unit *unit, struct nat_state *state, uint32_t i)
{
    struct nat_set reads, writes;

    nat_uses(unit, i, &reads, &writes);
    for (unsigned r = 0; r < 255; r++)
        if (nat_has(&writes, NAT_V + r))
            put(state, r, 1, lanes);
    for (unsigned r = 0; r < 128; r++)
        if (nat_has(&writes, NAT_S + r))
            state->s[r] = same(false, 0);
    for (unsigned p = 0; p < 7; p++)
        if (nat_has(&writes, NAT_P + p))
            state->p[p] = NAT_LANES;
}

static uint8_t predicate_shape(const struct nat_state *state, unsigned p)
{
    return p == ISA_PT || state->p[p] == NAT_SAME ? NAT_SAME : NAT_LANES;
}

static void put_scalar(struct nat_state *state, unsigned reg, unsigned words, struct nat_shape shape)
{
    for (unsigned k = 0; k < words && reg + k < 128; k++)
        state->s[reg + k] = same(shape.known, (uint32_t)(shape.value >> (32 * k)));
}

static void scalar_step(const struct nat_unit *unit, struct nat_state *state, uint32_t i, const struct nat_row *row)
{
    const struct isa_insn *insn = &unit->insn[i];
    const struct isa_op_info *info = nat_info(insn);
    struct nat_source source[3];
    struct nat_shape b;
    uint32_t value = 0;

    if (row != NULL && row->semantics == NAT_SEM_COMPARE)
        return;
    const unsigned words = isa_op_words(info, ISA_TOK_SD, ISA_TOK_SD2);
    struct nat_shape result = same(false, 0);
    if (insn->op == ISA_S_S2R) {
        const bool known = nat_known_special(unit, (enum isa_special)insn->x, &value);
        result = same(known, value);
    } else if (insn->op == ISA_S_MOV_B32 || insn->op == ISA_S_MOV_B64) {
        nat_sources(insn, source);
        b = nat_source_shape(unit, state, &source[1]);
        result = same(b.known, b.value);
    }
    if (insn->guard != ISA_PT)
        result = same(false, 0);
    put_scalar(state, insn->d, words, result);
}

/** Combines the result of a guarded instruction with the register's old value. */
static struct nat_shape guarded(const struct nat_unit *unit, const struct nat_state *state, const struct isa_insn *insn,
                                unsigned words, struct nat_shape result)
{
    const bool uniform = insn->guard_scalar || predicate_shape(state, insn->guard) == NAT_SAME;
    const struct nat_source old_source = {.words = words, .vector = true, .reg = insn->d};

    if (insn->guard == ISA_PT)
        return result;
    if (!uniform || insn->d == ISA_VZ)
        return lanes;
    const struct nat_shape old = nat_source_shape(unit, state, &old_source);
    if (result.kind == NAT_SAME && old.kind == NAT_SAME)
        return same(false, 0);
    return lanes;
}

/** Sets the shapes of predicates P and Q of the instruction. */
static void put_predicates(struct nat_state *state, const struct isa_insn *insn, bool uniform)
{
    const uint8_t kind = uniform ? NAT_SAME : NAT_LANES;

    if (isa_insn_p(insn) != ISA_PT)
        state->p[isa_insn_p(insn)] = kind;
    if (isa_insn_q(insn) != ISA_PT)
        state->p[isa_insn_q(insn)] = kind;
}

static void row_step(const struct nat_unit *unit, struct nat_state *state, uint32_t i)
{
    const struct isa_insn *insn = &unit->insn[i];
    const struct isa_op_info *info = nat_info(insn);
    struct nat_source source[3];
    struct nat_shape shape[3], result;
    struct nat_row row;
    unsigned words = isa_op_words(info, ISA_TOK_VD, ISA_TOK_VD2);
    const bool has_row = nat_row_of(info, &row), old_bits = nat_has(&state->bits, NAT_V + insn->d);

    if (info->flags & ISA_F_SCALAR) {
        scalar_step(unit, state, i, has_row ? &row : NULL);
        return;
    }
    if (insn->op == ISA_V_S2R) {
        result = nat_special_shape(unit, (enum isa_special)insn->x);
        put(state, insn->d, 1, guarded(unit, state, insn, 1, result));
        return;
    }
    if (insn->op == ISA_V_PLOP3) {
        const bool uniform = predicate_shape(state, isa_insn_ra(insn)) == NAT_SAME &&
                             predicate_shape(state, isa_insn_rb(insn)) == NAT_SAME &&
                             predicate_shape(state, isa_insn_r(insn)) == NAT_SAME;
        put_predicates(state, insn, uniform && insn->guard == ISA_PT);
        return;
    }
    nat_sources(insn, source);
    for (unsigned k = 0; k < 3; k++)
        shape[k] = nat_source_shape(unit, state, &source[k]);
    if (insn->op == ISA_V_CVT) {
        const unsigned to = isa_mod_get(insn, ISA_MOD_DTYPE), from = isa_mod_get(insn, ISA_MOD_STYPE);
        words = to == ISA_DT_U64 || to == ISA_DT_S64 || to == ISA_DT_F64 ? 2 : 1;
        result = shape[1].kind == NAT_SAME ? same(false, 0) : lanes;
        if (shape[1].kind == NAT_AFFINE && insn->guard == ISA_PT) {
            const bool widens = (to | 1) == ISA_DT_S64 && (from | 1) == ISA_ST_S32;
            const bool narrows = (to | 1) == ISA_DT_S32 && (from | 1) == ISA_ST_S64;
            if (widens && from == ISA_ST_U32 && is_negative(&shape[1]))
                result = lanes;
            else if (widens)
                result = with_origin(affine(true, shape[1].sx, shape[1].known_sy, shape[1].sy), shape[1].known_origin, shape[1].origin);
            else if (narrows)
                result = affine_word(&shape[1]);
            else if ((to | 1) == ISA_DT_S32 && (from | 1) == ISA_ST_S32)
                result = shape[1];
            else if ((to | 1) == ISA_DT_S64 && (from | 1) == ISA_ST_S64)
                result = shape[1];
        }
        put(state, insn->d, words, guarded(unit, state, insn, words, result));
        if (to == ISA_DT_F32)
            put_float(state, insn, old_bits);
        return;
    }
    if (has_row && row.semantics == NAT_SEM_COMPARE) {
        const bool uniform = shape[0].kind == NAT_SAME && shape[1].kind == NAT_SAME && insn->guard == ISA_PT &&
                             (isa_mod_get(insn, ISA_MOD_BOOL) == ISA_BOOL_NONE ||
                              predicate_shape(state, isa_insn_r(insn)) == NAT_SAME);
        put_predicates(state, insn, uniform);
        return;
    }
    result = nat_result_shape(unit, insn, source, shape);
    if (has_row && row.semantics == NAT_SEM_PICK && predicate_shape(state, isa_insn_r(insn)) != NAT_SAME)
        result = lanes;
    put(state, insn->d, words, guarded(unit, state, insn, words, result));
    if (has_row && row.type == NAT_F32 && row.semantics != NAT_SEM_FUNCTION) /* the NaNs of functions are canonical */
        put_float(state, insn, old_bits);
}

/** Applies a bsync, the first instruction of @b, at which lanes with different register values may reconverge. */
static void meet(struct nat_state *state, const struct nat_block *b)
{
    for (unsigned r = 0; r < 255; r++)
        if (nat_has(&b->apart, NAT_V + r))
            state->v[r] = lanes;
    repair(state);
    for (unsigned p = 0; p < 7; p++)
        if (nat_has(&b->apart, NAT_P + p))
            state->p[p] = NAT_LANES;
}

void nat_shape_step(const struct nat_unit *unit, struct nat_state *state, uint32_t i)
{
    const struct isa_insn *insn = &unit->insn[i];
    struct nat_source base;

    switch (unit->kind[i]) {
    case NAT_ROW: row_step(unit, state, i); break;
    case NAT_LOAD:
        base = (struct nat_source){.words = isa_mod_get(insn, ISA_MOD_AMODE) == ISA_AMODE_PAIR ? 2 : 1, .vector = true,
                                   .reg = insn->a};
        if (insn->op != ISA_LD_LOCAL && insn->guard == ISA_PT && nat_source_shape(unit, state, &base).kind == NAT_SAME) {
            for (unsigned k = 0; k < isa_mem_regs(insn); k++)
                put(state, insn->d == ISA_VZ ? ISA_VZ : insn->d + k, 1, same(false, 0));
        } else {
            put_anything(unit, state, i);
        }
        break;
    case NAT_BSYNC:
        if (unit->block[unit->block_of[i]].divided && unit->block[unit->block_of[i]].first == i)
            meet(state, &unit->block[unit->block_of[i]]);
        break;
    case NAT_STORE:
    case NAT_REDUCE:
    case NAT_NOTHING:
    case NAT_BRANCH:
    case NAT_BSSY:
    case NAT_EXIT: break;
    default: put_anything(unit, state, i); break;
    }
}

/** Merges the shapes @from into the state before block @to. Returns true if this changed the state. */
static bool flow(struct nat_block *to, const struct nat_state *from)
{
    struct nat_state *in = to->in;
    bool changed = !in->reached;

    in->reached = true;
    for (unsigned r = 0; r < 255; r++) {
        struct nat_shape s = nat_has(&to->live, NAT_V + r) ? join(&in->v[r], &from->v[r]) : lanes;
        /* the high word of a pair counts as live if the low word is live */
        if (!nat_has(&to->live, NAT_V + r) && r > 0 && from->v[r].kind == NAT_HIGH && nat_has(&to->live, NAT_V + r - 1))
            s = join(&in->v[r], &from->v[r]);
        if (!equal(&s, &in->v[r])) {
            in->v[r] = s;
            changed = true;
        }
    }
    for (unsigned r = 0; r < 128; r++) {
        const struct nat_shape s = join(&in->s[r], &from->s[r]);
        if (!equal(&s, &in->s[r])) {
            in->s[r] = s;
            changed = true;
        }
    }
    for (unsigned p = 0; p < 7; p++) {
        const uint8_t kind = in->p[p] == NAT_UNKNOWN ? from->p[p] : from->p[p] == in->p[p] ? in->p[p] : NAT_LANES;
        changed = changed || kind != in->p[p];
        in->p[p] = kind;
    }
    for (unsigned k = 0; k < NAT_SET_WORDS; k++) {
        const uint64_t bits = (in->bits.word[k] | from->bits.word[k]) & to->live.word[k];
        const uint64_t nan = (in->nan.word[k] | from->nan.word[k]) & to->live.word[k] & ~bits;
        changed = changed || nan != in->nan.word[k] || bits != in->bits.word[k];
        in->nan.word[k] = nan;
        in->bits.word[k] = bits;
    }
    return changed;
}

/** Adds to @region block @n, from instruction @from on, and all blocks that can be reached from it on paths that avoid block
 *  @end. Adds the registers that these blocks write to block[end].apart. @pending: array with space for all blocks. */
static void add_region(struct nat_unit *unit, uint32_t n, uint32_t from, uint32_t end, uint64_t *region, uint32_t *pending)
{
    struct nat_set reads, writes, *apart = &unit->block[end].apart;
    uint32_t count = 1;

    region[n / 64] |= UINT64_C(1) << n % 64;
    for (pending[0] = n; count != 0;) {
        const struct nat_block *b = &unit->block[n = pending[--count]];
        for (uint32_t i = from > b->first ? from : b->first; i < b->first + b->count; i++) {
            nat_uses(unit, i, &reads, &writes);
            for (unsigned k = 0; k < NAT_SET_WORDS; k++)
                apart->word[k] |= writes.word[k];
        }
        from = 0;
        for (unsigned k = 0; k < 2; k++) {
            const uint32_t to = (uint32_t)b->next[k];
            if (b->next[k] < 0 || to == end || region[to / 64] >> to % 64 & 1)
                continue;
            region[to / 64] |= UINT64_C(1) << to % 64;
            pending[count++] = to;
        }
    }
}

/** Finds the regions between each bssy and the bsync to which it jumps, and sets `apart` of the blocks that begin with a bsync.
 *  Returns for each of the blocks a set of @words words, the blocks of its regions, which the caller frees. Returns NULL if
 *  memory is short. */
static uint64_t *regions(struct nat_unit *unit, uint32_t words)
{
    uint64_t *region = calloc((size_t)unit->blocks * words, sizeof *region);
    uint32_t *pending = malloc(unit->blocks * sizeof *pending);
    int64_t target;

    for (uint32_t i = 0; region != NULL && pending != NULL && i < unit->count; i++) {
        if (unit->kind[i] != NAT_BSSY || !isa_insn_target(&unit->insn[i], unit->first + i, &target) || target < unit->first ||
            target >= unit->first + unit->count || i + 1 == unit->count)
            continue;
        const uint32_t at = (uint32_t)target - unit->first;
        const uint32_t end = (uint32_t)unit->block_of[at], n = (uint32_t)unit->block_of[i + 1];
        if (n != end && unit->block[end].first == at && unit->kind[at] == NAT_BSYNC)
            add_region(unit, n, i + 1, end, region + (size_t)end * words, pending);
    }
    for (uint32_t n = 0; n < unit->blocks; n++)
        for (unsigned k = 0; k < NAT_SET_WORDS; k++)
            unit->block[n].apart.word[k] &= unit->block[n].live.word[k];
    if (pending == NULL) {
        free(region);
        region = NULL;
    }
    free(pending);
    return region;
}

/** Returns true if the lanes may diverge at the end of @b; @state: the shapes at the end. */
static bool divides(const struct nat_unit *unit, const struct nat_block *b, const struct nat_state *state)
{
    const struct isa_insn *insn = &unit->insn[b->first + b->count - 1];

    return unit->kind[b->first + b->count - 1] == NAT_BRANCH && !insn->guard_scalar &&
           predicate_shape(state, insn->guard) != NAT_SAME;
}

bool nat_shapes(struct nat_unit *unit)
{
    const uint32_t words = (unit->blocks + 63) / 64;
    uint64_t *region = regions(unit, words);
    struct nat_state *state = malloc(sizeof *state);
    uint8_t *due = calloc(unit->blocks, 1);
    bool more = true, good = state != NULL && due != NULL && region != NULL;

    for (uint32_t n = 0; n < unit->blocks && good; n++)
        good = (unit->block[n].in = calloc(1, sizeof *unit->block[n].in)) != NULL;
    if (!good) {
        free(region);
        free(state);
        free(due);
        return false;
    }
    memset(state, 0, sizeof *state); /* at the kernel's entry all registers are zero */
    for (unsigned r = 0; r < 255; r++)
        state->v[r] = same(true, 0);
    for (unsigned r = 0; r < 128; r++)
        state->s[r] = r < ISA_S_EXEC ? same(true, 0) : same(false, 0);
    for (unsigned p = 0; p < 7; p++)
        state->p[p] = NAT_SAME;
    (void)flow(&unit->block[0], state);
    due[0] = 1;
    while (more) {
        more = false;
        for (uint32_t n = 0; n < unit->blocks; n++) {
            struct nat_block *b = &unit->block[n];
            if (!due[n])
                continue;
            due[n] = 0;
            more = true;
            *state = *b->in;
            repair(state);
            for (uint32_t i = b->first; i < b->first + b->count; i++)
                nat_shape_step(unit, state, i);
            if (!b->divides && divides(unit, b, state)) {
                b->divides = true;
                for (uint32_t m = 0; m < unit->blocks; m++)
                    if (region[(size_t)m * words + n / 64] >> n % 64 & 1 && !unit->block[m].divided) {
                        unit->block[m].divided = true;
                        due[m] = unit->block[m].in->reached;
                    }
            }
            for (unsigned k = 0; k < 2; k++)
                if (b->next[k] >= 0 && flow(&unit->block[b->next[k]], state))
                    due[b->next[k]] = 1;
        }
    }
    for (uint32_t n = 0; n < unit->blocks; n++)
        repair(unit->block[n].in);
    free(region);
    free(state);
    free(due);
    return true;
}
