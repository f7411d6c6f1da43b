/* SPDX-License-Identifier: Apache-2.0 */
/* Propagation of undefined bits: determines which bits of a result depend on undefined bits of the sources. Instructions
 * without a rule here have the strictest rule: any undefined bit of a source makes all bits of the results undefined. */
#include "check/init/chk_init_priv.h"

enum rule {
    ALL, /* the strictest rule */
    COPY, EACH, /* COPY: the result has the undefined bits of X. EACH: a bit of the result is undefined if this bit of A
                 * or X is */
    AND, OR, ANDN2, ORN2,
    LEFT, /* An undefined bit makes all higher bits undefined, because of carries. */
    SHL, SHR, SHR_SIGN, FIELD, FIELD_SIGN, INSERT, PERMUTE, CONVERT, TABLE,
    CHOOSE, COMPARE, LOGIC, PACK, UNPACK, PACK_SCALAR, UNPACK_SCALAR, UNBALLOT,
    SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, LANE_FIRST, LANE_READ, LANE_WRITE,
    /* cross-lane rules: first for results that depend on the participants' predicates, then for results that depend on
     * their values */
    BALLOT, VOTE_ALL, VOTE_ANY, VOTE_UNI,
    MATCH_ANY, MATCH_ALL, REDUCE, REDUCE_ADD, REDUCE_AND, REDUCE_OR, REDUCE_XOR
};
static const uint8_t rules[ISA_OP_COUNT] = {
    [ISA_V_MOV_B32] = COPY, [ISA_V_MOV_B64] = COPY, [ISA_S_MOV_B32] = COPY, [ISA_S_MOV_B64] = COPY,
    [ISA_V_NOT_B32] = COPY, [ISA_V_NOT_B64] = COPY, [ISA_S_NOT_B32] = COPY, [ISA_S_NOT_B64] = COPY,
    [ISA_V_NEG_F32] = COPY, [ISA_V_NEG_F64] = COPY, [ISA_V_ABS_F32] = COPY, [ISA_V_ABS_F64] = COPY,
    [ISA_V_XOR_B32] = EACH, [ISA_V_XOR_B64] = EACH, [ISA_S_XOR_B32] = EACH, [ISA_S_XOR_B64] = EACH,
    [ISA_V_AND_B32] = AND, [ISA_V_AND_B64] = AND, [ISA_S_AND_B32] = AND, [ISA_S_AND_B64] = AND,
    [ISA_V_OR_B32] = OR, [ISA_V_OR_B64] = OR, [ISA_S_OR_B32] = OR, [ISA_S_OR_B64] = OR,
    [ISA_S_ANDN2_B32] = ANDN2, [ISA_S_ANDN2_B64] = ANDN2,
    [ISA_S_ORN2_B32] = ORN2, [ISA_S_ORN2_B64] = ORN2,
    [ISA_V_ADD_U32] = LEFT, [ISA_V_SUB_U32] = LEFT, [ISA_V_MUL_U32] = LEFT, [ISA_V_MAD_U32] = LEFT,
    [ISA_V_ADD_U64] = LEFT, [ISA_V_SUB_U64] = LEFT, [ISA_V_MUL_U64] = LEFT, [ISA_V_MAD_U64] = LEFT,
    [ISA_V_NEG_S32] = LEFT, [ISA_V_NEG_S64] = LEFT,
    [ISA_V_MULWIDE_U32] = LEFT, [ISA_V_MADWIDE_U32] = LEFT,
    [ISA_S_ADD_U32] = LEFT, [ISA_S_SUB_U32] = LEFT, [ISA_S_MUL_U32] = LEFT, [ISA_S_MAD_U32] = LEFT,
    [ISA_S_ADD_U64] = LEFT, [ISA_S_SUB_U64] = LEFT, [ISA_S_MUL_U64] = LEFT,
    [ISA_V_SHL_B32] = SHL, [ISA_V_SHL_B64] = SHL, [ISA_S_SHL_B32] = SHL, [ISA_S_SHL_B64] = SHL,
    [ISA_V_SHR_U32] = SHR, [ISA_V_SHR_U64] = SHR, [ISA_S_SHR_U32] = SHR, [ISA_S_SHR_U64] = SHR,
    [ISA_V_SHR_S32] = SHR_SIGN, [ISA_V_SHR_S64] = SHR_SIGN, [ISA_S_SHR_S32] = SHR_SIGN,
    [ISA_S_SHR_S64] = SHR_SIGN,
    [ISA_V_BFE_U32] = FIELD, [ISA_V_BFE_U64] = FIELD, [ISA_S_BFE_U32] = FIELD,
    [ISA_S_BFE_U64] = FIELD,
    [ISA_V_BFE_S32] = FIELD_SIGN, [ISA_V_BFE_S64] = FIELD_SIGN, [ISA_S_BFE_S32] = FIELD_SIGN,
    [ISA_S_BFE_S64] = FIELD_SIGN,
    [ISA_V_BFI_B32] = INSERT, [ISA_V_BFI_B64] = INSERT, [ISA_V_PRMT_B32] = PERMUTE,
    [ISA_V_CVT] = CONVERT, [ISA_V_LOP3_B32] = TABLE,
    [ISA_V_SELP_B32] = CHOOSE, [ISA_V_SELP_B64] = CHOOSE, [ISA_S_CSELECT_B32] = CHOOSE,
    [ISA_S_CSELECT_B64] = CHOOSE,
    [ISA_V_SETP_U32] = COMPARE, [ISA_V_SETP_S32] = COMPARE, [ISA_V_SETP_U64] = COMPARE,
    [ISA_V_SETP_S64] = COMPARE, [ISA_V_SETP_F32] = COMPARE, [ISA_V_SETP_F64] = COMPARE,
    [ISA_V_PLOP3] = LOGIC, [ISA_V_P2R] = PACK, [ISA_V_R2P] = UNPACK,
    [ISA_SHFL_IDX] = SHUFFLE_IDX, [ISA_SHFL_UP] = SHUFFLE_UP, [ISA_SHFL_DOWN] = SHUFFLE_DOWN,
    [ISA_SHFL_BFLY] = SHUFFLE_BUTTERFLY,
    [ISA_S_BALLOT] = BALLOT, [ISA_VOTE_BALLOT] = BALLOT, [ISA_VOTE_BALLOT_B32] = BALLOT,
    [ISA_V_READFIRSTLANE_B32] = LANE_FIRST, [ISA_V_READLANE_B32] = LANE_READ,
    [ISA_V_WRITELANE_B32] = LANE_WRITE, [ISA_V_UNBALLOT] = UNBALLOT,
    [ISA_S_SP2R] = PACK_SCALAR, [ISA_S_R2SP] = UNPACK_SCALAR,
    [ISA_VOTE_ALL] = VOTE_ALL, [ISA_S_VOTE_ALL] = VOTE_ALL, [ISA_VOTE_ANY] = VOTE_ANY,
    [ISA_S_VOTE_ANY] = VOTE_ANY, [ISA_VOTE_UNI] = VOTE_UNI,
    [ISA_MATCH_ANY_B32] = MATCH_ANY, [ISA_MATCH_ANY_B64] = MATCH_ANY,
    [ISA_MATCH_ALL_B32] = MATCH_ALL, [ISA_MATCH_ALL_B64] = MATCH_ALL,
    [ISA_REDUX_ADD_U32] = REDUCE_ADD, [ISA_REDUX_AND_B32] = REDUCE_AND, [ISA_REDUX_OR_B32] = REDUCE_OR,
    [ISA_REDUX_XOR_B32] = REDUCE_XOR, [ISA_REDUX_MIN_U32] = REDUCE, [ISA_REDUX_MAX_U32] = REDUCE,
    [ISA_REDUX_MIN_S32] = REDUCE, [ISA_REDUX_MAX_S32] = REDUCE,
};

/** A source of one lane: its undefined bits, the origin of the lowest undefined bit, and its value. */
struct source {
    uint64_t mask, value;
    uint32_t from;
    bool known; /* rules may use the value, because the source has no modifiers */
};
/** Context of the rules: an instruction that a warp is about to execute, and the current lane. */
struct look {
    const struct init_warp *w;
    const struct init_plan *plan;
    const struct emu_hook_site *site;
    unsigned lane, width;
};

static uint64_t value_of(const struct look *k, enum isa_reg_class c, unsigned r, unsigned words)
{
    uint64_t low = 0, high = 0;

    (void)emu_reg_read(k->site->core, k->site->slot, k->site->warp, c, r, k->lane, &low);
    if (words == 2)
        (void)emu_reg_read(k->site->core, k->site->slot, k->site->warp, c, r + 1, k->lane, &high);
    return (uint32_t)low | high << 32;
}

static void vector(const struct look *k, unsigned r, unsigned words, struct source *out)
{
    for (unsigned i = 0; i < words && r + i < k->w->vregs; i++) {
        if (!(k->w->v_lanes[r + i] >> k->lane & 1))
            continue;
        out->mask |= (uint64_t)k->w->v[r + i][k->lane] << 32 * i;
        if (out->from == 0)
            out->from = k->w->v_from[r + i][k->lane];
    }
}
static void scalar(const struct look *k, unsigned r, unsigned words, struct source *out)
{
    for (unsigned i = 0; i < words && r + i < 128; i++) {
        out->mask |= (uint64_t)k->w->s[r + i] << 32 * i;
        if (k->w->s[r + i] != 0 && out->from == 0)
            out->from = k->w->s_from[r + i];
    }
}

/** Returns the undefined bits of source @which: 0 is A, 1 is X, 2 is C. */
static struct source mask_of(const struct look *k, unsigned which)
{
    const struct init_operand *o = &k->plan->source[which];
    struct source out = {.known = o->known};

    if (o->kind == INIT_VECTOR)
        vector(k, o->first, o->words, &out);
    else if (o->kind == INIT_UNIFORM)
        scalar(k, o->first, o->words, &out);
    return out;
}
/** Sets out->value to the value of a source, for rules that use it. */
static void add_value(const struct look *k, unsigned which, struct source *out)
{
    const struct init_operand *o = &k->plan->source[which];

    switch ((enum init_operand_kind)o->kind) {
    case INIT_VECTOR: out->value = o->first < k->w->vregs ? value_of(k, ISA_REG_V, o->first, o->words) : 0; break;
    case INIT_UNIFORM: out->value = o->first < 128 ? value_of(k, ISA_REG_S, o->first, o->words) : 0; break;
    case INIT_CONSTANT:
        (void)emu_mem_peek(k->site->core, k->site->slot, k->site->warp, k->lane, o->value, &out->value, 4u * o->words);
        break;
    case INIT_IMMEDIATE: out->value = o->value; break;
    case INIT_NOTHING: break;
    }
}
/** Returns the undefined bits and the value of a source. */
static struct source source_of(const struct look *k, unsigned which)
{
    struct source out = mask_of(k, which);

    add_value(k, which, &out);
    return out;
}

/* ---- properties of an instruction that are the same in each execution ------------------------------------------ */

/** Describes source @which of an instruction, in the order of its semantics. These are the operands A, X and C or, if the
 *  variant bit is set, A, C and X. */
static void operand_plan(const struct isa_insn *insn, unsigned which, struct init_operand *out)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    unsigned a = isa_op_words(info, ISA_TOK_VA, ISA_TOK_VA2) +
                 isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2);
    unsigned x = isa_op_words(info, ISA_TOK_XB, ISA_TOK_XB2) +
                 isa_op_words(info, ISA_TOK_SX, ISA_TOK_SX2);
    unsigned c = isa_op_words(info, ISA_TOK_VC, ISA_TOK_VC2) + isa_op_has(info, ISA_TOK_SC);

    if (isa_op_has(info, ISA_TOK_XT)) {
        unsigned stype = isa_mod_get(insn, ISA_MOD_STYPE);
        x = stype == ISA_ST_U64 || stype == ISA_ST_S64 || stype == ISA_ST_F64 ? 2 : 1;
    }
    *out = (struct init_operand){.kind = INIT_NOTHING, .known = info->flags & ISA_F_NOSRCMOD ||
                                                                isa_insn_srcmod(insn, which) == 0};
    if (which != 0 && insn->variant && x != 0 && c != 0)
        which = 3 - which;
    if (which == 0 && a != 0) {
        out->kind = insn->a_scalar ? INIT_UNIFORM : INIT_VECTOR;
        out->first = insn->a;
        out->words = (uint8_t)a;
    } else if (which == 2 && c != 0) {
        out->kind = insn->c_scalar ? INIT_UNIFORM : INIT_VECTOR;
        out->first = insn->c;
        out->words = (uint8_t)c;
    } else if (which == 1 && x != 0) {
        out->words = (uint8_t)x;
        switch (insn->xkind) {
        case ISA_X_VECTOR:
        case ISA_X_SCALAR:
            out->kind = insn->xkind == ISA_X_VECTOR ? INIT_VECTOR : INIT_UNIFORM;
            out->first = (uint8_t)isa_x_reg(insn->x);
            break;
        case ISA_X_CONST:
            out->kind = INIT_CONSTANT;
            out->value = ISA_CONST_BASE + isa_x_bank(insn->x) * ISA_CONST_STRIDE + isa_x_offset(insn->x);
            break;
        default:
            out->kind = INIT_IMMEDIATE;
            out->value = x != 2                      ? insn->x
                         : info->flags & ISA_F_FLOAT ? (uint64_t)insn->x << 32
                                                     : (uint64_t)(int64_t)(int32_t)insn->x;
            break;
        }
    }
}

void init_rules_plan(const struct isa_insn *insn, struct init_plan *out)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn->op);
    struct isa_reg_use uses[ISA_MAX_USES];
    const unsigned count = isa_insn_uses(insn, uses), guard = insn->guard < ISA_PT; /* the guard is the first use */

    *out = (struct init_plan){.is_built = true, .rule = rules[insn->op]};
    out->half = info->flags & ISA_F_HALF && strstr(info->mnemonic, "x2") == NULL;
    for (unsigned which = 0; which < 3; which++)
        operand_plan(insn, which, &out->source[which]);
    for (unsigned i = guard; i < count; i++) {
        const struct isa_reg_use *u = &uses[i];
        if (!u->written && u->reg_class != ISA_REG_B)
            out->read[out->read_count++] = *u;
        if (!u->written)
            continue;
        if (u->reg_class == ISA_REG_V && out->words == 0) {
            out->d = u->first;
            out->words = u->count > 4 ? 4 : u->count;
        } else if (u->reg_class == ISA_REG_S && out->s_words == 0) {
            out->s = u->first;
            out->s_words = u->count > 4 ? 4 : u->count;
        } else if (u->reg_class == ISA_REG_P) {
            out->pred_written |= (uint8_t)(lw_mask(u->count) << u->first);
        } else if (u->reg_class == ISA_REG_SP) {
            out->sp_written |= (uint8_t)(lw_mask(u->count) << u->first);
        }
    }
    if (insn->op == ISA_S_R2SP)
        out->sp_written = 0x7f;
}

/** Returns the lanes in which any source has undefined bits. If a scalar source has undefined bits, these are all lanes
 *  of the warp. */
static uint64_t undefined_lanes(const struct init_warp *w, const struct init_plan *plan)
{
    uint64_t lanes = 0;

    for (unsigned i = 0; i < plan->read_count; i++) {
        const struct isa_reg_use *u = &plan->read[i];
        for (unsigned r = u->first; r < u->first + u->count; r++) {
            switch ((enum isa_reg_class)u->reg_class) {
            case ISA_REG_V: lanes |= r < w->vregs ? w->v_lanes[r] : 0; break;
            case ISA_REG_P: lanes |= r < ISA_PT ? w->p[r] : 0; break;
            case ISA_REG_S: lanes |= r < 128 && w->s[r] != 0 ? ~UINT64_C(0) : 0; break;
            case ISA_REG_SP: lanes |= w->sp >> r & 1 ? ~UINT64_C(0) : 0; break;
            case ISA_REG_B: break;
            }
        }
    }
    return lanes;
}

/* ---- rules --------------------------------------------------------------------------------- */

/** Returns the bits from the lowest bit of @mask up to the highest bit of the word. */
static uint64_t to_left(uint64_t mask)
{
    return mask | (0 - mask);
}

static unsigned type_bits(unsigned type)
{
    return type == ISA_DT_U8 || type == ISA_DT_S8     ? 8
           : type == ISA_DT_U16 || type == ISA_DT_S16 ? 16
           : type == ISA_DT_U64 || type == ISA_DT_S64 ? 64
                                                      : 32;
}

static uint64_t convert(const struct isa_insn *insn, uint64_t mask, uint64_t all)
{
    unsigned d = isa_mod_get(insn, ISA_MOD_DTYPE), s = isa_mod_get(insn, ISA_MOD_STYPE);

    if (s < ISA_DT_F16)
        mask &= lw_mask(type_bits(s));
    else if (s == ISA_DT_F16 || s == ISA_DT_BF16)
        mask &= 0xffff;
    if (mask == 0 || d >= ISA_DT_F16 || s >= ISA_DT_F16 || isa_mod_get(insn, ISA_MOD_CSAT) != 0)
        return mask == 0 ? 0 : all;
    if ((s & 1) && mask >> (type_bits(s) - 1) & 1)
        mask |= ~lw_mask(type_bits(s)); /* The upper bits are copies of the sign bit. */
    mask &= lw_mask(type_bits(d));
    if ((d & 1) && mask >> (type_bits(d) - 1) & 1)
        mask |= ~lw_mask(type_bits(d));
    return mask & all;
}

/** Returns the undefined bits of an extracted bit field. @mask: undefined bits of the source. @packed: position and
 *  length of the field. @sign: the field is sign-extended. */
static uint64_t field(uint64_t mask, uint64_t packed, unsigned bits, bool sign)
{
    unsigned at = packed & 255, n = packed >> 8 & 255;

    mask = at >= bits ? (sign && mask >> (bits - 1) ? UINT64_MAX : 0) : (mask & lw_mask(bits)) >> at;
    n = n > bits ? bits : n;
    if (n == 0)
        return 0;
    mask &= lw_mask(n);
    return sign && mask >> (n - 1) & 1 ? mask | ~lw_mask(n) : mask;
}

/** Returns the undefined bits of a result by truth table: the bits that differ between combinations of the undefined
 *  source bits. */
static uint64_t table(unsigned truth, const struct source *a, const struct source *b,
                      const struct source *c)
{
    uint64_t value[8], out = 0;

    for (unsigned flip = 0; flip < 8; flip++) {
        uint64_t x = a->value ^ (flip & 4 ? a->mask : 0), y = b->value ^ (flip & 2 ? b->mask : 0);
        uint64_t z = c->value ^ (flip & 1 ? c->mask : 0), r = 0;
        for (unsigned k = 0; k < 8; k++)
            if (truth >> k & 1)
                r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
        value[flip] = r;
        out |= r ^ value[0];
    }
    return out;
}

/** Returns true if predicate @p is undefined in the lane. */
static bool predicate_undefined(const struct look *k, unsigned p)
{
    return p < ISA_PT && k->w->p[p] >> k->lane & 1;
}
/** Returns the lanes in which predicate @p, negated if @negate is set, is true. */
static uint64_t predicate_lanes(const struct look *k, unsigned p, bool negate)
{
    uint64_t lanes = ~UINT64_C(0);

    if (p < ISA_PT)
        (void)emu_reg_read(k->site->core, k->site->slot, k->site->warp, ISA_REG_P, p, 0, &lanes);
    return negate ? ~lanes : lanes;
}
/** Returns the value of predicate @p in the lane, negated if @negate is set. */
static bool predicate_value(const struct look *k, unsigned p, bool negate)
{
    return predicate_lanes(k, p, negate) >> k->lane & 1;
}

static uint64_t choose(const struct look *k, const struct source *a, const struct source *x,
                       uint32_t *from)
{
    const struct isa_insn *insn = k->site->insn;
    const bool is_scalar = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR;
    unsigned r = isa_insn_r(insn);
    bool unsure = is_scalar ? r < ISA_PT && k->w->sp >> r & 1 : predicate_undefined(k, r), yes;
    uint64_t bit = 1;

    if (unsure) { /* The predicate is undefined, so each bit that may differ between the two sources is undefined. */
        uint64_t mask = a->mask | x->mask | (a->value ^ x->value);
        *from = is_scalar ? k->w->sp_from : k->w->p_from[r][k->lane];
        return mask;
    }
    if (is_scalar && r < ISA_PT)
        (void)emu_reg_read(k->site->core, k->site->slot, k->site->warp, ISA_REG_SP, r, 0, &bit);
    yes = is_scalar ? (bit != 0) != isa_insn_r_neg(insn) : predicate_value(k, r, isa_insn_r_neg(insn));
    *from = yes ? a->from : x->from;
    return yes ? a->mask : x->mask;
}

/** Returns which predicates that a comparison writes are undefined: bit 0 for P, and bit 1 for Q, which gets the opposite
 *  outcome. The outcome of an (in)equality is defined if defined bits of the two values differ. */
static unsigned compare(const struct look *k, const struct source *a, const struct source *b,
                    uint32_t *from)
{
    const struct isa_insn *insn = k->site->insn;
    unsigned how = isa_mod_get(insn, ISA_MOD_CMP), bool_op = isa_mod_get(insn, ISA_MOD_BOOL);
    unsigned r = isa_insn_r(insn);
    bool mine = (a->mask | b->mask) != 0, other = predicate_undefined(k, r);

    *from = a->from != 0 ? a->from : b->from;
    if (mine && how <= ISA_CMP_NE && insn->op != ISA_V_SETP_F32 && insn->op != ISA_V_SETP_F64 &&
        a->known && b->known && ((a->value ^ b->value) & ~(a->mask | b->mask)) != 0)
        mine = false;
    if (bool_op == ISA_BOOL_NONE)
        return mine ? 3 : 0;
    if (mine && !other && bool_op != ISA_BOOL_XOR &&
        predicate_value(k, r, isa_insn_r_neg(insn)) == (bool_op == ISA_BOOL_OR))
        return 0; /* The other operand alone decides the result. */
    if (!mine && other)
        *from = k->w->p_from[r][k->lane];
    if (!mine && other && bool_op != ISA_BOOL_XOR && a->known && b->known &&
        !(insn->op == ISA_V_SETP_F32 && isa_mod_get(insn, ISA_MOD_CMPFTZ) != 0))
        return chk_compare(insn, a->value, b->value) == (bool_op == ISA_BOOL_OR) ? 2 : 1; /* The comparison alone
                                                                                           * decides one of the two
                                                                                           * results. */
    return mine || other ? 3 : 0;
}

/** Returns true if the result of a function of three predicates depends on undefined predicates among them. */
static bool logic(const struct look *k)
{
    const struct isa_insn *insn = k->site->insn;
    const unsigned source[3] = {insn->mod >> 16 & 15, insn->mod >> 20 & 15,
                                isa_insn_r(insn) | (unsigned)isa_insn_r_neg(insn) << 3};
    unsigned unsure = 0, value = 0, seen = 0;

    for (unsigned i = 0; i < 3; i++) {
        unsure |= (unsigned)predicate_undefined(k, source[i] & 7) << (2 - i);
        value |= (unsigned)predicate_value(k, source[i] & 7, source[i] >> 3) << (2 - i);
    }
    for (unsigned flip = 0; flip < 8; flip++)
        seen |= 1u << (insn->x >> (value ^ (flip & unsure)) & 1);
    return seen == 3;
}

/** Returns true if any source register of an instruction, of whatever class, has undefined bits in the lane. */
static bool any_source(const struct look *k, uint32_t *from)
{
    for (unsigned i = 0; i < k->plan->read_count; i++) {
        const struct isa_reg_use *u = &k->plan->read[i];
        for (unsigned r = u->first; r < u->first + u->count; r++) {
            if (u->reg_class == ISA_REG_V && r < k->w->vregs && k->w->v_lanes[r] >> k->lane & 1 &&
                (k->w->v[r][k->lane] & (k->plan->half ? 0xffff : ~0u)) != 0) {
                *from = k->w->v_from[r][k->lane];
                return true;
            }
            if (u->reg_class == ISA_REG_S && r < 128 && k->w->s[r] != 0) {
                *from = k->w->s_from[r];
                return true;
            }
            if (u->reg_class == ISA_REG_P && predicate_undefined(k, r)) {
                *from = k->w->p_from[r][k->lane];
                return true;
            }
            if (u->reg_class == ISA_REG_SP && r < ISA_PT && k->w->sp >> r & 1) {
                *from = k->w->sp_from;
                return true;
            }
        }
    }
    return false;
}

/** Returns the undefined bits of a ballot over @lanes, in which each bit is the predicate of a lane. */
static uint64_t ballot(const struct look *k, uint64_t lanes, uint32_t *from)
{
    unsigned r = isa_insn_r(k->site->insn);
    uint64_t mask = r < ISA_PT ? k->w->p[r] & lanes : 0;

    *from = mask != 0 ? k->w->p_from[r][lw_lowest(mask)] : 0;
    return mask;
}

/** Returns the lanes that execute a shuffle together with the current lane: the lanes of its member mask. */
static uint64_t partners(const struct look *k)
{
    const unsigned member = isa_x_member(k->site->insn->x);
    const uint32_t mine = member != ISA_VZ ? (uint32_t)value_of(k, ISA_REG_V, member, 1) : 0;
    struct look other = *k;
    uint64_t same = 0;

    if (member == ISA_VZ)
        return k->site->lanes & UINT64_C(0xffffffff) << (k->lane & 32);
    for (LW_EACH_BIT(l, k->site->lanes & UINT64_C(0xffffffff) << (k->lane & 32))) {
        other.lane = (unsigned)l;
        if ((uint32_t)value_of(&other, ISA_REG_V, member, 1) == mine)
            same |= UINT64_C(1) << l;
    }
    return same;
}

static bool is_vote(enum rule rule)
{
    return rule >= VOTE_ALL && rule <= VOTE_UNI;
}
static bool is_of_lanes(enum rule rule)
{
    return rule >= BALLOT;
}

/** Returns the undefined bits of the result of a vote by the lanes in @group. There are none if the defined predicates decide the
 *  vote. */
static uint64_t vote(const struct look *k, enum rule rule, uint64_t group, uint32_t *from)
{
    const unsigned r = isa_insn_r(k->site->insn);
    const uint64_t unsure = r < ISA_PT ? k->w->p[r] & group : 0, sure = group & ~unsure;
    const uint64_t yes = predicate_lanes(k, r, isa_insn_r_neg(k->site->insn)) & sure, no = sure & ~yes;
    bool decided;

    if (unsure == 0)
        return 0;
    *from = k->w->p_from[r][lw_lowest(unsure)];
    decided = rule == VOTE_ALL ? no != 0 : rule == VOTE_ANY ? yes != 0 : yes != 0 && no != 0;
    return decided ? 0 : UINT64_MAX;
}

/** Returns the undefined bits of the result of a match or a reduction over @group for the current lane. */
static uint64_t of_values(const struct look *k, enum rule rule, uint64_t group, uint32_t *from)
{
    struct source a[EMU_MAX_LANES];
    uint64_t mask = 0, zero = 0, one = 0, same = 0;
    struct look other = *k;
    bool differ = false;

    for (LW_EACH_BIT(l, group)) {
        other.lane = (unsigned)l;
        a[l] = source_of(&other, 0);
        if (a[l].mask != 0 && mask == 0)
            *from = a[l].from;
        mask |= a[l].mask;
        zero |= ~a[l].mask & ~a[l].value;
        one |= ~a[l].mask & a[l].value;
    }
    for (LW_EACH_BIT(l, mask != 0 ? group : 0)) { /* finds lanes whose value may equal the current lane's value */
        const uint64_t unsure = a[l].mask | a[k->lane].mask;
        const bool other_value = ((a[l].value ^ a[k->lane].value) & ~unsure) != 0;

        if (unsure != 0 && !other_value && l != k->lane) {
            same |= UINT64_C(1) << (l & 31);
            *from = a[l].mask != 0 ? a[l].from : a[k->lane].from;
        }
    }
    differ = (zero & one) != 0;
    switch (rule) {
    case MATCH_ANY: return same;
    case MATCH_ALL: return mask == 0 || differ ? 0 : UINT64_MAX;
    case REDUCE_ADD: return mask != 0 ? to_left(mask) : 0;
    case REDUCE_AND: return mask & ~zero;
    case REDUCE_OR: return mask & ~one;
    case REDUCE_XOR: return mask;
    default: return mask != 0 ? UINT64_MAX : 0;
    }
}

/** Returns the lane that a shuffle reads, by PTX's rules for virtual warps of 32 lanes. Sets *@absent to whether that lane
 *  does not participate, which makes the result undefined. */
static unsigned shuffle_source(const struct look *k, enum rule rule, bool *absent)
{
    const struct isa_insn *insn = k->site->insn;
    uint32_t l = k->lane & 31, b, c = 0;

    if (insn->xkind == ISA_X_VECTOR)
        b = (uint32_t)value_of(k, ISA_REG_V, isa_x_reg(insn->x), 1) & 31;
    else if (insn->xkind == ISA_X_IMM)
        b = isa_x_reg(insn->x) & 31;
    else
        b = (uint32_t)value_of(k, ISA_REG_S, isa_x_reg(insn->x), 1) & 31;
    if (insn->variant)
        c = (uint32_t)value_of(k, insn->c_scalar ? ISA_REG_S : ISA_REG_V, insn->c, 1);
    uint32_t clamp = insn->variant ? c & 31 : isa_x_clamp(insn->x) & 31;
    uint32_t segment = insn->variant ? c >> 8 & 31 : insn->x >> 14 & 31;
    int32_t high = (int32_t)((l & segment) | (clamp & ~segment)), j;
    bool ok;

    switch (rule) {
    case SHUFFLE_IDX: j = (int32_t)((l & segment) | (b & ~segment)); ok = j <= high; break;
    case SHUFFLE_UP: j = (int32_t)l - (int32_t)b; ok = j >= high; break;
    case SHUFFLE_DOWN: j = (int32_t)(l + b); ok = j <= high; break;
    default: j = (int32_t)(l ^ b); ok = j <= high; break;
    }
    unsigned from = ok ? (k->lane & 32) + (unsigned)j : k->lane;
    *absent = from != k->lane && !(partners(k) >> from & 1);
    return from;
}

/** Result of a collective operation for the lanes that take part in it, which is computed for the first of these lanes. */
struct group_result {
    uint64_t lanes, mask;
    uint32_t from;
};
/** Returns the undefined bits of a collective operation's result for the current lane. *@last: cached result for the last set of
 *  lanes; except for match.any, the result is the same for all of these lanes. */
static uint64_t of_group(const struct look *k, enum rule rule, struct group_result *last, uint32_t *from)
{
    if (rule == MATCH_ANY || !(last->lanes >> k->lane & 1)) {
        last->lanes = partners(k);
        last->from = 0;
        last->mask = rule == BALLOT  ? ballot(k, last->lanes, &last->from)
                     : is_vote(rule) ? vote(k, rule, last->lanes, &last->from)
                                     : of_values(k, rule, last->lanes, &last->from);
    }
    *from = last->from;
    return last->mask;
}

/** Returns true if it is undefined which lane a shuffle reads. */
static bool shuffle_unsure(const struct look *k, uint32_t *from)
{
    const struct isa_insn *insn = k->site->insn;
    struct source b = {.mask = 0}, c = {.mask = 0};

    if (insn->xkind == ISA_X_VECTOR)
        vector(k, isa_x_reg(insn->x), 1, &b);
    else if (insn->xkind != ISA_X_IMM)
        scalar(k, isa_x_reg(insn->x), 1, &b);
    if (insn->variant && insn->c_scalar)
        scalar(k, insn->c, 1, &c);
    else if (insn->variant)
        vector(k, insn->c, 1, &c);
    *from = (b.mask & 31) != 0 ? b.from : c.from;
    return (b.mask & 31) != 0 || (c.mask & 0x1f1f) != 0;
}

bool init_rules_is_shuffle(const struct isa_insn *insn)
{
    return rules[insn->op] >= SHUFFLE_IDX && rules[insn->op] <= SHUFFLE_BUTTERFLY;
}

bool init_rules_reads_absent(const struct init_plan *plan, const struct emu_hook_site *site)
{
    const enum rule rule = (enum rule)rules[site->insn->op];
    const uint32_t low = (uint32_t)site->lanes, high = (uint32_t)(site->lanes >> 32);
    struct look k = {.plan = plan, .site = site};
    bool absent = false;

    if (isa_x_member(site->insn->x) == ISA_VZ && low + 1 <= 1 && high + 1 <= 1)
        return false; /* in each virtual warp, all lanes participate or none does */
    for (LW_EACH_BIT(l, site->lanes)) {
        k.lane = (unsigned)l;
        (void)shuffle_source(&k, rule, &absent);
        if (absent)
            return true;
    }
    return false;
}

/** Returns the undefined bits of the result D in the current lane. The result has @words words; beyond two, all words are
 *  treated alike. */
static uint64_t lane_result(const struct look *k, enum rule rule, unsigned words, uint32_t *from)
{
    const struct isa_insn *insn = k->site->insn;
    const unsigned bits = words == 2 ? 64 : 32;
    const uint64_t all = lw_mask(bits);
    struct source a, x, c;

    if (rule == ALL)
        return any_source(k, from) ? all : 0;
    a = mask_of(k, 0);
    x = mask_of(k, 1);
    c = mask_of(k, 2);
    *from = a.from != 0 ? a.from : x.from != 0 ? x.from : c.from;
    if ((a.mask | x.mask | c.mask) == 0 && rule != CHOOSE)
        return 0;
    if (!a.known || !x.known || !c.known)
        rule = rule == COPY || rule == EACH || rule == LEFT ? LEFT : ALL;
    if (rule != COPY && rule != EACH && rule != LEFT && rule != CONVERT && rule != ALL) {
        add_value(k, 0, &a);
        add_value(k, 1, &x);
        add_value(k, 2, &c);
    }
    switch (rule) {
    case COPY: return x.mask & all;
    case EACH: return (a.mask | x.mask) & all;
    case AND: return (a.mask | x.mask) & (a.mask | a.value) & (x.mask | x.value) & all;
    case OR: return (a.mask | x.mask) & (a.mask | ~a.value) & (x.mask | ~x.value) & all;
    case ANDN2: return (a.mask | x.mask) & (a.mask | a.value) & (x.mask | ~x.value) & all;
    case ORN2: return (a.mask | x.mask) & (a.mask | ~a.value) & (x.mask | x.value) & all;
    case LEFT: return to_left(a.mask | x.mask | c.mask) & all;
    case TABLE: return table(insn->mod >> 16 & 255, &a, &x, &c) & all;
    case SHL: return (uint32_t)x.mask != 0 ? all : (uint32_t)x.value >= bits ? 0 : a.mask << x.value & all;
    case SHR: return (uint32_t)x.mask != 0 ? all : (uint32_t)x.value >= bits ? 0 : a.mask >> x.value;
    case SHR_SIGN: {
        unsigned by = (uint32_t)x.value >= bits ? bits - 1 : (unsigned)x.value;
        if ((uint32_t)x.mask != 0)
            return all;
        return (a.mask >> by | (a.mask >> (bits - 1) & 1 ? ~(all >> by) : 0)) & all;
    }
    case FIELD:
    case FIELD_SIGN:
        return (uint32_t)x.mask != 0 ? all : field(a.mask, x.value, bits, rule == FIELD_SIGN) & all;
    case INSERT: {
        unsigned at = x.value & 255, n = x.value >> 8 & 255;
        if ((uint32_t)x.mask != 0)
            return all;
        if (at >= bits)
            return c.mask;
        uint64_t hole = lw_mask(n > 64 ? 64 : n) << at & all;
        return (c.mask & ~hole) | (a.mask << at & hole);
    }
    case PERMUTE:
        return (uint32_t)x.mask != 0 ? all
                                     : isa_prmt((uint32_t)a.mask, (uint32_t)c.mask, (uint32_t)x.value, isa_mod_get(insn, ISA_MOD_PRMT));
    case CONVERT: return convert(insn, x.mask, all);
    case CHOOSE: return choose(k, &a, &x, from) & all;
    case LANE_WRITE: return (x.mask & (k->width - 1u)) != 0 ? all : a.mask & all;
    default: return any_source(k, from) ? all : 0;
    }
}

/** Computes which predicates become undefined. R2P may write all predicates, other instructions write P and Q. */
static void apply_predicates(const struct look *at, enum rule rule, struct init_result *out)
{
    const struct isa_insn *insn = at->site->insn;
    struct group_result last = {.lanes = 0};
    struct look k = *at;

    for (LW_EACH_BIT(l, out->lanes)) {
        uint32_t from = 0;
        bool undefined;
        k.lane = (unsigned)l;
        if (rule == UNPACK) {
            struct source a = source_of(&k, 0);
            for (LW_EACH_BIT(p, (uint64_t)out->pred_written & a.mask))
                out->pred[p] |= UINT64_C(1) << l;
            out->pred_from[l] = a.from;
            continue;
        }
        if (rule == UNBALLOT) {
            struct source x = source_of(&k, 1);
            undefined = x.mask >> l & 1;
            from = x.from;
        } else if (rule >= SHUFFLE_IDX && rule <= SHUFFLE_BUTTERFLY) {
            undefined = shuffle_unsure(&k, &from);
        } else if (is_of_lanes(rule)) {
            undefined = of_group(&k, rule, &last, &from) != 0;
        } else if (rule == COMPARE) {
            struct source a = source_of(&k, 0), b = source_of(&k, 1);
            const unsigned which = compare(&k, &a, &b, &from);
            if (which & 1 && isa_insn_p(insn) < ISA_PT)
                out->pred[isa_insn_p(insn)] |= UINT64_C(1) << l;
            if (which & 2 && isa_insn_q(insn) < ISA_PT)
                out->pred[isa_insn_q(insn)] |= UINT64_C(1) << l;
            out->pred_from[l] = from;
            continue;
        } else {
            undefined = any_source(&k, &from) && (rule != LOGIC || logic(&k));
        }
        out->pred_from[l] = from;
        for (LW_EACH_BIT(p, undefined ? out->pred_written : 0))
            out->pred[p] |= UINT64_C(1) << l;
    }
}

static void apply_scalar(const struct look *at, enum rule rule, struct init_result *out)
{
    struct look k = *at;
    uint32_t from = 0;
    uint64_t lanes = at->site->split_lanes, mask = 0;
    struct emu_warp_view view;

    if (emu_warp_view(at->site->core, at->site->slot, at->site->warp, &view) && (lanes & view.exec) != 0)
        lanes &= view.exec;
    k.lane = lw_lowest(lanes);
    if (rule == LANE_READ && source_of(&k, 1).mask == 0)
        lanes = UINT64_C(1) << (source_of(&k, 1).value & (at->width - 1u));
    if (rule == LANE_READ && (source_of(&k, 1).mask & (at->width - 1u)) != 0) {
        mask = UINT64_MAX;
        from = source_of(&k, 1).from;
    } else if (rule == LANE_FIRST || rule == LANE_READ) {
        k.lane = lw_lowest(lanes);
        mask = source_of(&k, 0).mask;
        from = source_of(&k, 0).from;
    } else if (rule == BALLOT) {
        mask = ballot(&k, lanes, &from);
    } else if (is_vote(rule)) {
        mask = vote(&k, rule, lanes, &from);
    } else if (rule == PACK_SCALAR) {
        mask = k.w->sp & 0x7f;
        from = k.w->sp_from;
    } else if (rule == UNPACK_SCALAR) {
        mask = source_of(&k, 0).mask & 0x7f;
        from = source_of(&k, 0).from;
    } else if (out->s_words != 0) {
        mask = lane_result(&k, rule, out->s_words, &from);
    } else {
        mask = any_source(&k, &from) ? 1 : 0;
    }
    out->s_from = from;
    for (unsigned i = 0; i < out->s_words && i < 4; i++)
        out->s_mask[i] = i < 2 ? (uint32_t)(mask >> 32 * i) : (uint32_t)(mask != 0 ? ~0u : 0);
    out->sp = rule == UNPACK_SCALAR ? (uint8_t)mask : mask != 0 ? out->sp_written : 0;
}

/** Marks all results as defined. */
static void define(const struct init_plan *plan, struct init_result *out)
{
    memset(out->undefined, 0, sizeof out->undefined);
    memset(out->s_mask, 0, sizeof out->s_mask);
    for (LW_EACH_BIT(p, (uint64_t)plan->pred_written))
        out->pred[p] = 0;
    out->sp = 0;
}

static void apply_vector(struct chk_init *init, const struct look *at, enum rule rule, uint64_t undefined,
                         struct init_result *out)
{
    const struct isa_insn *insn = at->site->insn;
    const bool shuffles = rule >= SHUFFLE_IDX && rule <= SHUFFLE_BUTTERFLY;
    struct group_result last = {.lanes = 0};
    struct look k = *at;

    if (rule == LANE_WRITE) { /* the instruction writes one lane, even if the lane is not active */
        const struct source x = source_of(&k, 1);
        out->lanes = (x.mask & (k.width - 1u)) != 0 ? lw_mask(k.width)
                                                     : UINT64_C(1) << (x.value & (k.width - 1u));
    }
    for (LW_EACH_BIT(l, shuffles || is_of_lanes(rule) ? out->lanes : out->lanes & undefined)) {
        uint32_t from = 0;
        uint64_t mask = 0;
        k.lane = (unsigned)l;
        if (shuffles && shuffle_unsure(&k, &from)) {
            mask = UINT64_MAX;
        } else if (shuffles) {
            bool absent;
            k.lane = shuffle_source(&k, rule, &absent);
            const struct source a = mask_of(&k, 0);
            mask = absent ? UINT64_MAX : a.mask;
            from = absent ? init_origin_add(init, &(struct init_origin){.where = INIT_LANE, .number = k.lane,
                                                                        .pc = chk_site_pc(at->site)})
                          : a.from;
        } else if (is_of_lanes(rule)) {
            mask = of_group(&k, rule, &last, &from) >> (insn->op == ISA_VOTE_BALLOT_B32 ? l & 32 : 0);
        } else if (rule == PACK) {
            for (unsigned p = 0; p < ISA_PT; p++)
                if (predicate_undefined(&k, p)) {
                    mask |= UINT64_C(1) << p;
                    from = k.w->p_from[p][l];
                }
        } else {
            mask = lane_result(&k, rule, out->words, &from);
        }
        for (unsigned i = 0; i < out->words; i++) {
            const uint32_t word = i < 2 ? (uint32_t)(mask >> 32 * i) : mask != 0 ? ~0u : 0;
            out->mask[i][l] = word;
            out->from[i][l] = from;
            out->undefined[i] |= (uint64_t)(word != 0) << l;
        }
    }
}

void init_rules_apply(struct chk_init *init, const struct init_warp *w, const struct init_plan *plan,
                      const struct emu_hook_site *site, struct init_result *out)
{
    const unsigned flags = isa_op_info((enum isa_op)site->insn->op)->flags;
    const enum rule rule = (enum rule)plan->rule;
    const struct look k = {.w = w, .plan = plan, .site = site,
                           .width = emu_machine_config(init->memory.chk->machine)->warp_width};
    uint64_t undefined;

    out->lanes = flags & ISA_F_SCALAR ? site->split_lanes : site->lanes;
    out->words = out->s_words = out->pred_written = out->sp_written = 0;
    if (out->lanes == 0)
        return;
    out->d = plan->d;
    out->words = plan->words;
    out->s = plan->s;
    out->s_words = plan->s_words;
    out->pred_written = plan->pred_written;
    out->sp_written = plan->sp_written;
    define(plan, out);
    undefined = undefined_lanes(w, plan);
    if (!(flags & ISA_F_CROSS))
        undefined &= out->lanes;
    if (undefined == 0 && rule != LANE_WRITE && !init_rules_is_shuffle(site->insn))
        return;
    if (out->s_words != 0 || out->sp_written != 0)
        apply_scalar(&k, rule, out);
    if (out->pred_written != 0)
        apply_predicates(&k, rule, out);
    if (out->words != 0)
        apply_vector(init, &k, rule, undefined, out);
}
