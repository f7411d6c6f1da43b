/* SPDX-License-Identifier: Apache-2.0 */
/* Selection of operations across lanes: shuffles, votes, matches, reductions, barriers; also sleep and traps. */
#include "ptx/select/ptx_select_priv.h"

/* Returns the register with the member mask. A mask of all lanes needs no register, and PTX_NO_REF is returned. An empty
 * mask, which must cause a fault, needs a register with the value 0, because the number of the zero register means all
 * lanes in this field of the instruction. */
static ptx_ref members(struct ptx_sel *sel, unsigned index)
{
    uint64_t mask;

    sel->unit->needs_warp_32 = true;
    if (ptx_sel_known(sel, &sel->in.operand[index], &mask)) {
        if ((uint32_t)mask == UINT32_MAX)
            return PTX_NO_REF;
        if ((uint32_t)mask == 0) {
            ptx_ref none = ptx_sel_temp(sel, 1);

            ptx_sel_imm(sel, none, 1, 0);
            return none;
        }
    }
    return ptx_sel_source(sel, index, PTX_T_B32);
}

/* Returns the lanes that execute the instruction now, for instructions without .sync; under a guard, the lanes for
 * which the guard is true. */
static ptx_ref active(struct ptx_sel *sel)
{
    ptx_ref all = ptx_sel_temp(sel, 1), in;
    struct ptx_mi *mi;

    sel->unit->needs_warp_32 = true;
    mi = ptx_sel_put(sel, ISA_V_S2R, all, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 1);
    mi->in.x = ISA_SR_ACTIVEMASK;
    mi->flags |= PTX_MI_NO_GUARD; /* lanes whose guard is false execute this instruction, too */
    if (sel->in.guard == PTX_NONE)
        return all;
    const struct ptx_operand guard = { .kind = PTX_O_REG, .reg = sel->in.guard,
                                       .negated = sel->in.guard_neg, .symbol = PTX_NONE };

    in = ptx_sel_temp(sel, 1);
    mi = ptx_sel_emit(sel, ISA_VOTE_BALLOT_B32);
    mi->rows[PTX_S_D] = 1;
    mi->ref[PTX_S_D] = in;
    mi->ref[PTX_S_M] = all;
    mi->flags |= PTX_MI_NO_GUARD;
    ptx_sel_pred_read(sel, mi, PTX_S_R, &guard);
    return in;
}

void ptx_rule_shfl(struct ptx_sel *sel)
{
    static const struct {
        uint8_t word;
        uint16_t op;
    } modes[] = {
        { PTX_W_IDX, ISA_SHFL_IDX }, { PTX_W_UP, ISA_SHFL_UP },
        { PTX_W_DOWN, ISA_SHFL_DOWN }, { PTX_W_BFLY, ISA_SHFL_BFLY },
    };
    enum ptx_type type = ptx_sel_type(sel, 0);
    enum isa_op op = ISA_OP_NONE;
    const struct ptx_operand *to;
    ptx_ref a, x = PTX_NO_REF, c = PTX_NO_REF, m, d, p = PTX_NO_REF;
    uint64_t lane = 0, clamp = 0;
    struct ptx_mi *mi;

    bool sync = ptx_take(&sel->in, PTX_W_SYNC);

    for (unsigned i = 0; i < LW_COUNT_OF(modes); i++) {
        if (ptx_take(&sel->in, (enum ptx_word)modes[i].word))
            op = (enum isa_op)modes[i].op;
    }
    ptx_sel_operands(sel, sync ? 5 : 4, sync ? 5 : 4);
    if (op == ISA_OP_NONE || ptx_type_bytes(type) != 4)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    to = &sel->in.operand[0];
    a = ptx_sel_source(sel, 1, type);
    bool lane_known = ptx_sel_known(sel, &sel->in.operand[2], &lane);
    bool clamp_known = ptx_sel_known(sel, &sel->in.operand[3], &clamp);

    if (!lane_known)
        x = ptx_sel_source(sel, 2, PTX_T_U32);
    if (!clamp_known)
        c = ptx_sel_source(sel, 3, PTX_T_U32);
    m = sync ? members(sel, 4) : active(sel);
    if (to->kind == PTX_O_PAIR) {
        p = ptx_sel_pred_dest(sel, &to->element[1]);
        to = &to->element[0];
    }
    d = ptx_sel_dest(sel, to, type);
    mi = ptx_sel_put(sel, op, d, a, x, c, 1);
    mi->in.xkind = lane_known ? ISA_X_IMM : ISA_X_VECTOR;
    mi->in.x &= 0xff000000u;
    if (lane_known)
        mi->in.x |= (uint32_t)lane & 63;
    if (clamp_known)
        mi->in.x |= ((uint32_t)clamp & 31) << 8 | ((uint32_t)clamp >> 8 & 31) << 14;
    mi->in.variant = !clamp_known;
    mi->ref[PTX_S_M] = m;
    mi->ref[PTX_S_P] = p;
}

void ptx_rule_vote(struct ptx_sel *sel)
{
    bool ballot, sync = ptx_take(&sel->in, PTX_W_SYNC);
    enum isa_op op;
    struct ptx_mi *mi;
    ptx_ref m, to;

    ballot = ptx_take(&sel->in, PTX_W_BALLOT);
    op = ballot                                ? ISA_VOTE_BALLOT_B32
         : ptx_take(&sel->in, PTX_W_ALL) ? ISA_VOTE_ALL
         : ptx_take(&sel->in, PTX_W_ANY) ? ISA_VOTE_ANY
         : ptx_take(&sel->in, PTX_W_UNI) ? ISA_VOTE_UNI
                                               : ISA_OP_NONE;
    if (op == ISA_OP_NONE)
        ptx_sel_fail(sel, LW_EINPUT, "the mode is missing: '.all', '.any', '.uni' or '.ballot'");
    ptx_sel_operands(sel, sync ? 3 : 2, sync ? 3 : 2);
    m = sync ? members(sel, 2) : active(sel);
    to = ballot ? ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B32)
                : ptx_sel_pred_dest(sel, &sel->in.operand[0]);
    mi = ptx_sel_emit(sel, op);
    mi->rows[PTX_S_D] = 1;
    mi->ref[ballot ? PTX_S_D : PTX_S_P] = to;
    mi->ref[PTX_S_M] = m;
    ptx_sel_pred_read(sel, mi, PTX_S_R, &sel->in.operand[1]);
}

void ptx_rule_activemask(struct ptx_sel *sel)
{
    ptx_sel_operands(sel, 1, 1);
    ptx_ref mask = active(sel);

    ptx_sel_move(sel, ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_B32), mask, 1);
}

void ptx_rule_match(struct ptx_sel *sel)
{
    static const uint16_t rows[2][2] = { { ISA_MATCH_ANY_B32, ISA_MATCH_ANY_B64 },
                                         { ISA_MATCH_ALL_B32, ISA_MATCH_ALL_B64 } };
    enum ptx_type type = ptx_sel_type(sel, 0);
    bool all = ptx_take(&sel->in, PTX_W_ALL), any = ptx_take(&sel->in, PTX_W_ANY);
    const struct ptx_operand *to;
    ptx_ref a, m, d, p = PTX_NO_REF;
    struct ptx_mi *mi;

    if (!ptx_take(&sel->in, PTX_W_SYNC) || all == any)
        ptx_sel_fail(sel, LW_EINPUT, "expected .any.sync or .all.sync");
    if (type != PTX_T_B32 && type != PTX_T_B64)
        ptx_sel_fail(sel, LW_EUNSUPP, "type .%s is not supported", ptx_type_name(type));
    ptx_sel_operands(sel, 3, 3);
    to = &sel->in.operand[0];
    a = ptx_sel_source(sel, 1, type);
    m = members(sel, 2);
    if (to->kind == PTX_O_PAIR && all) {
        p = ptx_sel_pred_dest(sel, &to->element[1]);
        to = &to->element[0];
    }
    d = ptx_sel_dest(sel, to, PTX_T_B32);
    mi = ptx_sel_put(sel, (enum isa_op)rows[all][type == PTX_T_B64], d, a, PTX_NO_REF, PTX_NO_REF, 1);
    mi->rows[PTX_S_A] = (uint8_t)ptx_type_rows(type);
    mi->ref[PTX_S_M] = m;
    mi->ref[PTX_S_P] = p;
}

/* Converts the bits of a float to an integer with the same order, in which -0 is below 0, or such an integer back. */
static ptx_ref in_order(struct ptx_sel *sel, ptx_ref s)
{
    ptx_ref sign = ptx_sel_temp(sel, 1), rest = ptx_sel_temp(sel, 1), d = ptx_sel_temp(sel, 1);

    ptx_sel_put(sel, ISA_V_SHR_S32, sign, s, ptx_sel_literal(sel, 31), PTX_NO_REF, 1);
    ptx_sel_put(sel, ISA_V_AND_B32, rest, sign, ptx_sel_literal(sel, 0x7fffffff), PTX_NO_REF, 1);
    ptx_sel_put(sel, ISA_V_XOR_B32, d, s, rest, PTX_NO_REF, 1);
    return d;
}

/* Selects redux.min and .max of f32 as reductions of integers with the same order. A NaN is ordered after or before all
 * numbers, so that it is the result with .NaN, and is ignored without .NaN. */
static void redux_float(struct ptx_sel *sel)
{
    bool max = ptx_take(&sel->in, PTX_W_MAX), min = ptx_take(&sel->in, PTX_W_MIN);
    bool magnitude = ptx_take(&sel->in, PTX_W_MAGNITUDE), wins = ptx_take(&sel->in, PTX_W_NAN_WINS);
    ptx_ref s, m, key = ptx_sel_temp(sel, 1), r = ptx_sel_temp(sel, 1), p = ptx_sel_temp(sel, 0);
    struct ptx_mi *mi;

    if (min == max)
        ptx_sel_fail(sel, LW_EINPUT, "type .f32 has only '.min' and '.max'");
    ptx_sel_operands(sel, 3, 3);
    s = ptx_sel_source(sel, 1, PTX_T_F32);
    m = members(sel, 2);
    if (magnitude) {
        ptx_ref t = ptx_sel_temp(sel, 1);

        ptx_sel_put(sel, ISA_V_ABS_F32, t, PTX_NO_REF, s, PTX_NO_REF, 1);
        s = t;
    }
    mi = ptx_sel_put(sel, ISA_V_SETP_F32, PTX_NO_REF, s, s, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_NAN);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
    s = in_order(sel, s);
    mi = ptx_sel_put(sel, ISA_V_SELP_B32, key, ptx_sel_literal(sel, max == wins ? 0x7fffffffu : 0x80000000u),
                     s, PTX_NO_REF, 1);
    mi->ref[PTX_S_R] = p;
    ptx_sel_put(sel, max ? ISA_REDUX_MAX_S32 : ISA_REDUX_MIN_S32, r, key, PTX_NO_REF, PTX_NO_REF, 1)
        ->ref[PTX_S_M] = m;
    s = in_order(sel, r);
    /* a NaN result becomes canonical */
    ptx_sel_put(sel, ISA_V_MAX_F32, ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_F32), s, s, PTX_NO_REF,
                1);
}

void ptx_rule_redux(struct ptx_sel *sel)
{
    static const struct {
        uint8_t word, type;
        uint16_t op;
    } rows[] = {
        { PTX_W_ADD, PTX_T_U32, ISA_REDUX_ADD_U32 }, { PTX_W_ADD, PTX_T_S32, ISA_REDUX_ADD_U32 },
        { PTX_W_MIN, PTX_T_U32, ISA_REDUX_MIN_U32 }, { PTX_W_MIN, PTX_T_S32, ISA_REDUX_MIN_S32 },
        { PTX_W_MAX, PTX_T_U32, ISA_REDUX_MAX_U32 }, { PTX_W_MAX, PTX_T_S32, ISA_REDUX_MAX_S32 },
        { PTX_W_AND, PTX_T_B32, ISA_REDUX_AND_B32 }, { PTX_W_OR, PTX_T_B32, ISA_REDUX_OR_B32 },
        { PTX_W_XOR, PTX_T_B32, ISA_REDUX_XOR_B32 },
    };
    enum ptx_type type = ptx_sel_type(sel, 0);
    enum isa_op op = ISA_OP_NONE;
    ptx_ref a, m;

    if (!ptx_take(&sel->in, PTX_W_SYNC))
        ptx_sel_fail(sel, LW_EINPUT, "'.sync' is missing");
    if (type == PTX_T_F32) {
        redux_float(sel);
        return;
    }
    for (unsigned i = 0; i < LW_COUNT_OF(rows) && op == ISA_OP_NONE; i++) {
        if (rows[i].type == type && ptx_take(&sel->in, (enum ptx_word)rows[i].word))
            op = (enum isa_op)rows[i].op;
    }
    if (op == ISA_OP_NONE)
        ptx_sel_fail(sel, LW_EUNSUPP, "this operation of type .%s is not supported",
                     ptx_type_name(type));
    ptx_sel_operands(sel, 3, 3);
    a = ptx_sel_source(sel, 1, type);
    m = members(sel, 2);
    ptx_sel_put(sel, op, ptx_sel_dest(sel, &sel->in.operand[0], type), a, PTX_NO_REF, PTX_NO_REF, 1)
        ->ref[PTX_S_M] = m;
}

/* Selects elect.sync d|p: the lowest member lane is elected. */
void ptx_rule_elect(struct ptx_sel *sel)
{
    const struct ptx_operand *to;
    ptx_ref m, found = ptx_sel_temp(sel, 1), turned = ptx_sel_temp(sel, 1), lane, d, p;
    struct ptx_mi *mi;

    if (!ptx_take(&sel->in, PTX_W_SYNC))
        ptx_sel_fail(sel, LW_EINPUT, "'.sync' is missing");
    ptx_sel_operands(sel, 2, 2);
    to = &sel->in.operand[0];
    if (to->kind != PTX_O_PAIR)
        ptx_sel_fail(sel, LW_EINPUT, "expected a register and a predicate, d|p");
    m = members(sel, 1);
    mi = ptx_sel_emit(sel, ISA_VOTE_BALLOT_B32);
    mi->rows[PTX_S_D] = 1;
    mi->ref[PTX_S_D] = found;
    mi->ref[PTX_S_M] = m;
    mi->ref[PTX_S_R] = PTX_ZERO; /* pt, which is always true */
    ptx_sel_put(sel, ISA_V_BREV_B32, turned, PTX_NO_REF, found, PTX_NO_REF, 1);
    d = ptx_sel_temp(sel, 1);
    ptx_sel_put(sel, ISA_V_CLZ_B32, d, PTX_NO_REF, turned, PTX_NO_REF, 1);
    lane = ptx_sel_temp(sel, 1);
    mi = ptx_sel_put(sel, ISA_V_S2R, lane, PTX_NO_REF, PTX_NO_REF, PTX_NO_REF, 1);
    mi->in.x = ISA_SR_LANEID;
    /* the predicate is written last, because it may be the guard */
    if (to->element[0].kind != PTX_O_SINK)
        ptx_sel_move(sel, ptx_sel_dest(sel, &to->element[0], PTX_T_B32), d, 1);
    p = ptx_sel_pred_dest(sel, &to->element[1]);
    mi = ptx_sel_put(sel, ISA_V_SETP_U32, PTX_NO_REF, lane, d, PTX_NO_REF, 1);
    isa_mod_set(&mi->in, ISA_MOD_CMP, ISA_CMP_EQ);
    mi->ref[PTX_S_P] = p;
    mi->ref[PTX_S_R] = PTX_ZERO;
}

/* ---- barriers ---------------------------------------------------------------- */

enum { MOST_THREADS = 1024 }; /* limit of the threads of a block. A barrier with a larger 32-bit count is valid PTX, but
                               * never completes */

/* Number and thread count of a block barrier. */
struct barrier {
    ptx_ref x, c;    /* x: register with the number, or PTX_NO_REF if `number` has the number. c: register with the count, or
                      * PTX_NO_REF if there is no count */
    uint64_t number;
};
/* Reads the number from operand @first, and the count from the next operand if @operands is 2. */
static struct barrier barrier_of(struct ptx_sel *sel, unsigned first, unsigned operands)
{
    struct barrier b = { .x = PTX_NO_REF, .c = PTX_NO_REF };

    if (!ptx_sel_known(sel, &sel->in.operand[first], &b.number))
        b.x = ptx_sel_source(sel, first, PTX_T_U32);
    else if (b.number >= ISA_CTA_BARRIER_COUNT)
        ptx_sel_fail(sel, LW_EINPUT, "barrier %llu does not exist: barriers are 0 to 15", (unsigned long long)b.number);
    if (operands > 1) {
        const struct ptx_operand *count = &sel->in.operand[first + 1];

        if (count->kind == PTX_O_IMM && count->imm % 32 != 0)
            ptx_sel_fail(sel, LW_EINPUT, "the number of threads %lld is not a multiple of 32: only whole warps arrive "
                                         "at a barrier", (long long)count->imm);
        if (count->kind == PTX_O_IMM && count->imm > UINT32_MAX)
            ptx_sel_fail(sel, LW_EINPUT, "%lld threads cannot arrive at a barrier: a block has at most "
                         "%d", (long long)count->imm, MOST_THREADS);
        b.c = ptx_sel_source(sel, first + 1, PTX_T_U32);
    }
    return b;
}

static struct ptx_mi *put_barrier(struct ptx_sel *sel, enum isa_op op, ptx_ref d, struct barrier b)
{
    struct ptx_mi *mi = ptx_sel_put(sel, op, d, PTX_NO_REF, b.x, b.c, 1);

    if (b.x == PTX_NO_REF) {
        mi->in.xkind = ISA_X_IMM;
        mi->in.x = (uint32_t)b.number;
    }
    mi->in.variant = b.c != PTX_NO_REF;
    isa_mod_set(&mi->in, ISA_MOD_BMEM, sel->in.orders);
    return mi;
}

/* Selects bar.red.popc.u32 d, a{, b}, c and bar.red.and.pred p, a{, b}, c. */
static void barrier_reduction(struct ptx_sel *sel)
{
    bool popc = ptx_take(&sel->in, PTX_W_POPC), both = ptx_take(&sel->in, PTX_W_AND);
    bool either = ptx_take(&sel->in, PTX_W_OR);
    enum ptx_type type = ptx_sel_type(sel, 0);
    unsigned n = sel->in.operand_count;
    ptx_ref d;

    if (popc + both + either != 1 || type != (popc ? PTX_T_U32 : PTX_T_PRED))
        ptx_sel_fail(sel, LW_EINPUT, "expected .red.popc.u32, .red.and.pred or .red.or.pred");
    ptx_sel_operands(sel, 3, 4);
    struct barrier b = barrier_of(sel, 1, n - 2);

    d = popc ? ptx_sel_dest(sel, &sel->in.operand[0], PTX_T_U32)
             : ptx_sel_pred_dest(sel, &sel->in.operand[0]);
    struct ptx_mi *mi = put_barrier(sel, popc   ? ISA_BAR_RED_POPC
                                         : both ? ISA_BAR_RED_AND
                                                : ISA_BAR_RED_OR, popc ? d : PTX_NO_REF, b);

    if (!popc)
        mi->ref[PTX_S_P] = d;
    ptx_sel_pred_read(sel, mi, PTX_S_R, &sel->in.operand[n - 1]);
}

void ptx_rule_bar(struct ptx_sel *sel)
{
    bool warp = ptx_take(&sel->in, PTX_W_WARP), arrive = ptx_take(&sel->in, PTX_W_ARRIVE);

    (void)ptx_take(&sel->in, PTX_W_ALIGNED);
    (void)ptx_take(&sel->in, PTX_W_CTA);
    if (ptx_has(&sel->in, PTX_W_CLUSTER))
        ptx_sel_fail(sel, LW_EUNSUPP, "clusters of blocks are not supported");
    if (!warp && ptx_take(&sel->in, PTX_W_RED)) {
        barrier_reduction(sel);
        return;
    }
    if (!ptx_take(&sel->in, PTX_W_SYNC) && !arrive)
        ptx_sel_fail(sel, LW_EUNSUPP, "only .sync, .arrive and .red are supported");
    if (warp) {
        ptx_ref x;

        ptx_sel_operands(sel, 1, 1);
        sel->unit->needs_warp_32 = true;
        x = ptx_sel_source(sel, 0, PTX_T_B32);
        ptx_sel_put(sel, ISA_WARPSYNC, PTX_NO_REF, PTX_NO_REF, x, PTX_NO_REF, 1);
        return;
    }
    ptx_sel_operands(sel, arrive ? 2 : 1, 2);
    put_barrier(sel, arrive ? ISA_BAR_ARRIVE : ISA_BAR_SYNC, PTX_NO_REF,
                barrier_of(sel, 0, sel->in.operand_count));
}

/* ---- sleep, trap --------------------------------------------------------------- */

void ptx_rule_nanosleep(struct ptx_sel *sel)
{
    ptx_ref x;

    ptx_sel_operands(sel, 1, 1);
    x = ptx_sel_source(sel, 0, PTX_T_U32);
    ptx_sel_put(sel, ISA_NANOSLEEP, PTX_NO_REF, PTX_NO_REF, x, PTX_NO_REF, 1);
}

/* Selects trap and brkpt. Without a debugger, brkpt also ends the program. As an extension of PTX, trap may have a code. */
void ptx_rule_trap(struct ptx_sel *sel)
{
    uint64_t code = sel->in.op == PTX_BRKPT ? ISA_TRAP_BREAKPOINT : ISA_TRAP_PROGRAM;
    struct ptx_mi *mi;

    ptx_sel_operands(sel, 0, sel->in.op == PTX_TRAP);
    if (sel->in.operand_count == 1 && (!ptx_sel_known(sel, &sel->in.operand[0], &code) || code > UINT32_MAX))
        ptx_sel_fail(sel, LW_EINPUT, "the code of a trap must be a constant of 32 bits");
    mi = ptx_sel_emit(sel, ISA_TRAP);
    mi->in.xkind = ISA_X_IMM;
    mi->in.x = (uint32_t)code;
}
