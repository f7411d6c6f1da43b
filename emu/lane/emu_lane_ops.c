/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions with CALL in the instruction table: operations on lanes that are no loop over one expression, and cross-lane
 * operations. */
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/lane/emu_math_priv.h"

static bool pred_bit(uint64_t mask, unsigned lane)
{
    return mask >> lane & 1;
}
/** Returns the 32-bit operand X of a lane: an element of a vector register, or a uniform operand. */
static uint32_t x_lane(const struct emu_warp *w, const struct emu_dinsn *di, unsigned lane)
{
    return di->ukind == EMU_U_ROW ? emu_row(w, di->b)[lane] : emu_uniform32(w, di);
}
/** Returns the 64-bit operand X of a lane: an element of a register pair, or a uniform operand. */
static uint64_t x_lane64(const struct emu_warp *w, const struct emu_dinsn *di, unsigned lane)
{
    return di->ukind == EMU_U_ROW ? emu_lane_pair(w, di->b, lane) : emu_uniform64(w, di);
}

/** Writes the one or two words of an instruction's scalar result. */
static void put_scalar(struct emu_warp *w, const struct emu_dinsn *di, uint64_t value)
{
    if (di->reg < 128)
        w->s[di->reg] = (uint32_t)value;
    if (di->delta == 2 && di->reg < 127)
        w->s[di->reg + 1] = (uint32_t)(value >> 32);
}
/** Returns the value of scalar predicate operand R; bit 3 of @r negates it. */
static bool scalar_predicate(const struct emu_warp *w, unsigned r)
{
    bool p = w->sp[r & 7];
    return r & 8 ? !p : p;
}

/* ---- logic and bytes ------------------------------------------------------------ */

void emu_x_lop3(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const uint32_t *a = emu_row(w, di->a), *c = emu_row(w, di->c);
    uint32_t *d = emu_row(w, di->d);
    unsigned table = di->sub;

    for (LW_EACH_BIT(l, lanes)) {
        uint32_t x = a[l], y = x_lane(w, di, (unsigned)l), z = c[l], r = 0;
        for (unsigned k = 0; k < 8; k++)
            if (table >> k & 1)
                r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
        d[l] = r;
    }
}

/** Executes prmt. */
void emu_x_prmt(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const uint32_t *a = emu_row(w, di->a), *c = emu_row(w, di->c);
    uint32_t *d = emu_row(w, di->d);

    for (LW_EACH_BIT(l, lanes))
        d[l] = isa_prmt(a[l], c[l], x_lane(w, di, (unsigned)l), di->sub);
}

/* Addition and subtraction with carry: the carry input is predicate R, the carry output is predicate P. A subtraction adds the
 * complement, so its carry means "no borrow", and the first subtraction of a chain has R = pt. */
void emu_x_addc(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const uint32_t *a = emu_row(w, di->a), flip = di->op == ISA_V_SUBC_U32 ? ~UINT32_C(0) : 0;
    uint32_t *d = emu_row(w, di->d);
    uint64_t in = emu_predicate(w, di->r), out = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint64_t sum = (uint64_t)a[l] + (x_lane(w, di, (unsigned)l) ^ flip) + (in >> l & 1);
        d[l] = (uint32_t)sum;
        out |= (sum >> 32 & 1) << l;
    }
    emu_put_predicate(w, di->p, lanes, out);
}

/* ---- predicates --------------------------------------------------------------------- */

void emu_x_plop3(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint64_t x = emu_predicate(w, di->sub & 15), y = emu_predicate(w, di->sub >> 4);
    uint64_t z = emu_predicate(w, di->r), r = 0;

    for (unsigned k = 0; k < 8; k++)
        if (di->reg >> k & 1)
            r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    emu_put_predicate(w, di->p, lanes, r);
    emu_put_predicate(w, di->q, lanes, ~r);
}
void emu_x_p2r(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint32_t *d = emu_row(w, di->d);

    for (LW_EACH_BIT(l, lanes)) {
        uint32_t v = 0;
        for (unsigned p = 0; p < ISA_PRED_COUNT; p++)
            v |= (uint32_t)pred_bit(w->p[p], (unsigned)l) << p;
        d[l] = v;
    }
}
void emu_x_r2p(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const uint32_t *a = emu_row(w, di->a);

    for (unsigned p = 0; p < ISA_PRED_COUNT; p++) {
        uint64_t v = 0;
        for (LW_EACH_BIT(l, lanes))
            v |= (uint64_t)(a[l] >> p & 1) << l;
        emu_put_predicate(w, p, lanes, v);
    }
}

/* ---- comparisons of 16-bit floats ------------------------------------------------------- */

/** Returns the relation of @a and @b as one bit: less 1, equal 2, greater 4, unordered 8. */
static unsigned relation(float a, float b)
{
    return a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
}
/** Computes the predicates P = cmp op R and Q = !cmp op R. For packed operands, P is the result of the low halves, and Q that of
 *  the high halves. */
void emu_x_setp_half(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    static const uint8_t wanted[] = {
        [ISA_CMP_EQ] = 2,      [ISA_CMP_NE] = 1 | 4,      [ISA_CMP_LT] = 1,
        [ISA_CMP_LE] = 1 | 2,  [ISA_CMP_GT] = 4,          [ISA_CMP_GE] = 2 | 4,
        [ISA_CMP_EQU] = 2 | 8, [ISA_CMP_NEU] = 1 | 4 | 8, [ISA_CMP_LTU] = 1 | 8,
        [ISA_CMP_LEU] = 1 | 2 | 8, [ISA_CMP_GTU] = 4 | 8, [ISA_CMP_GEU] = 2 | 4 | 8,
        [ISA_CMP_NUM] = 1 | 2 | 4, [ISA_CMP_NAN] = 8,
    };
    bool bf = di->op == ISA_V_SETP_BF16 || di->op == ISA_V_SETP_BF16X2;
    bool packed = di->op == ISA_V_SETP_F16X2 || di->op == ISA_V_SETP_BF16X2;
    const uint32_t *a = emu_row(w, di->a);
    unsigned cmp = di->sub & 15, sub = di->reg;
    uint64_t p = 0, high = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint32_t x = a[l], y = x_lane(w, di, (unsigned)l);
        for (unsigned half = 0; half < (packed ? 2 : 1); half++, x >>= 16, y >>= 16) {
            float s = bf ? emu_f32_of_bf16(x) : emu_f32_of_f16(x);
            float t = bf ? emu_f32_of_bf16(y) : emu_f32_of_f16(y);
            float least = bf ? 0x1p-126f : 0x1p-14f;
            bool truth = wanted[cmp] & relation(emu_flush_below(s, least, sub),
                                                emu_flush_below(t, least, sub));
            *(half == 0 ? &p : &high) |= (uint64_t)truth << l;
        }
    }
    emu_put_compare(w, di, lanes, p, packed ? high : ~p);
}

/* ---- conversions for which emu_cvt_body.h has no loop ----------------------------------- */

void emu_x_cvt(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    unsigned dtype = di->sub & 15, stype = di->sub >> 4;
    unsigned rounding = di->reg & 7;
    bool saturate = di->reg & 8, ftz = di->reg & 16, uniform = di->ukind != EMU_U_ROW;
    bool wide_from = stype == ISA_ST_U64 || stype == ISA_ST_S64 || stype == ISA_ST_F64;
    bool wide_to = dtype == ISA_DT_U64 || dtype == ISA_DT_S64 || dtype == ISA_DT_F64;
    uint32_t *d = emu_row(w, di->d), *d_high = d + w->stride / 4;
    uint64_t r = 0;

    if (uniform)
        r = emu_convert(dtype, stype, rounding, saturate, ftz,
                        wide_from ? emu_uniform64(w, di) : emu_uniform32(w, di));
    for (LW_EACH_BIT(l, lanes)) {
        if (!uniform)
            r = emu_convert(dtype, stype, rounding, saturate, ftz,
                            wide_from ? x_lane64(w, di, (unsigned)l) : x_lane(w, di, (unsigned)l));
        d[l] = (uint32_t)r;
        if (wide_to)
            d_high[l] = (uint32_t)(r >> 32);
    }
}

/* ---- special registers -------------------------------------------------------------------- */

/** Computes one thread index for consecutive lanes. A counter replaces a division for each lane. */
static void tid_rows(const struct emu_warp *w, unsigned axis, uint32_t *out)
{
    const uint32_t *size = w->block->grid->launch.block;
    uint32_t linear = w->index * w->width;
    uint32_t at[3] = {linear % size[0], linear / size[0] % size[1],
                      linear / size[0] / size[1]};

    for (unsigned l = 0; l < w->n; l++) {
        out[l] = at[axis];
        if (++at[0] == size[0]) {
            at[0] = 0;
            if (++at[1] == size[1]) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
}

static struct emu_hw_ids hw_ids(const struct emu_warp *w)
{
    const struct emu_core *core = w->core;
    struct emu_hw_ids ids = {.smid = 0,
                                .nsmid = core->machine->core_count - core->machine->helper_count,
                                .warpid = w->index,
                                .nwarpid = w->block->warp_count};

    if (core->ops.hw_ids != NULL)
        core->ops.hw_ids(core->context, w->block->slot, w->index, &ids);
    return ids;
}

bool emu_special_uniform(const struct emu_warp *w, enum isa_special sr, uint64_t *value)
{
    const struct emu_block *block = w->block;
    const struct emu_grid *grid = block->grid;
    const struct emu_core *core = w->core;
    const struct emu_core_ops *ops = &core->ops;
    unsigned virtual_width = w->width > 32 ? 32 : w->width;
    uint64_t v = 0;

    if (emu_special_of_block(sr)) {
        *value = block->special[sr - ISA_SR_NTID_X];
        return true;
    }
    switch (sr) {
    case ISA_SR_WARPID: v = hw_ids(w).warpid; break;
    case ISA_SR_NWARPID: v = hw_ids(w).nwarpid; break;
    case ISA_SR_SMID: v = hw_ids(w).smid; break;
    case ISA_SR_NSMID: v = hw_ids(w).nsmid; break;
    case ISA_SR_GRIDID: v = grid->sequence; break;
    case ISA_SR_CLOCK:
    case ISA_SR_CLOCK64:
        v = ops->clock != NULL ? ops->clock(core->context, block->slot, w->index)
                               : block->retired + (w->retired - w->slice_start) + w->run_done;
        break;
    case ISA_SR_GLOBALTIMER:
        v = ops->globaltimer != NULL ? ops->globaltimer(core->context)
                                     : core->retired + (w->retired - w->slice_start) +
                                           w->run_done;
        break;
    case ISA_SR_DYN_SHARED: v = grid->launch.dynamic_shared_bytes; break;
    case ISA_SR_TOTAL_SHARED: v = block->shared_bytes; break;
    case ISA_SR_WARPWIDTH: v = virtual_width; break;
    default: return false;
    }
    *value = v;
    return true;
}

void emu_special_rows(const struct emu_warp *w, enum isa_special sr, uint32_t *low,
                      uint32_t *high)
{
    uint64_t v = 0;

    switch (sr) {
    case ISA_SR_TID_X:
    case ISA_SR_TID_Y:
    case ISA_SR_TID_Z: tid_rows(w, sr - ISA_SR_TID_X, low); goto high_zero;
    case ISA_SR_LANEID:
    case ISA_SR_LANEMASK_EQ:
    case ISA_SR_LANEMASK_LE:
    case ISA_SR_LANEMASK_LT:
    case ISA_SR_LANEMASK_GE:
    case ISA_SR_LANEMASK_GT:
    case ISA_SR_ACTIVEMASK:
        for (unsigned l = 0; l < w->n; l++) {
            uint32_t k = l & 31, bit = UINT32_C(1) << k, below = bit - 1;
            low[l] = sr == ISA_SR_LANEID        ? k
                     : sr == ISA_SR_LANEMASK_EQ ? bit
                     : sr == ISA_SR_LANEMASK_LE ? (below | bit)
                     : sr == ISA_SR_LANEMASK_LT ? below
                     : sr == ISA_SR_LANEMASK_GE ? ~below
                     : sr == ISA_SR_LANEMASK_GT ? ~(below | bit)
                                                : (uint32_t)(w->e >> (l & 32));
        }
        goto high_zero;
    default:
        (void)emu_special_uniform(w, sr, &v);
        break;
    }
    if (w->core->answers != NULL)
        (void)emu_nondet_replay(w->core, sr, &v);
    for (unsigned l = 0; l < w->n; l++)
        low[l] = (uint32_t)v;
    if (high != NULL)
        for (unsigned l = 0; l < w->n; l++)
            high[l] = (uint32_t)(v >> 32);
    return;
high_zero:
    if (high != NULL)
        memset(high, 0, w->n * sizeof *high);
}

/** If the value that the engine supplied for @sr is a non-deterministic input, records it in the schedule log. */
static void note_special(const struct emu_warp *w, enum isa_special sr, uint64_t value)
{
    const struct emu_core_ops *ops = &w->core->ops;
    bool is_nondet = false;

    switch (sr) {
    case ISA_SR_WARPID:
    case ISA_SR_NWARPID:
    case ISA_SR_SMID: is_nondet = ops->hw_ids != NULL; break;
    case ISA_SR_NSMID: is_nondet = !w->core->notes_itself; break; /* recorded because a replay has one core, and so cannot compute
                                                                   * the number of SMs */
    case ISA_SR_CLOCK:
    case ISA_SR_CLOCK64: is_nondet = ops->clock != NULL; break;
    case ISA_SR_GLOBALTIMER: is_nondet = ops->globaltimer != NULL; break;
    default: break;
    }
    if (is_nondet)
        emu_nondet_record(w->core, sr, value);
}

void emu_x_s2r(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint32_t low[EMU_MAX_LANES], high[EMU_MAX_LANES];
    enum isa_special sr = (enum isa_special)di->reg;
    bool wide = di->op == ISA_V_S2R_B64;
    uint32_t *d = emu_row(w, di->d), *d_high = d + w->stride / 4;

    w->run_done = (uint32_t)(di - w->run_start); /* a read of a clock adds run_done to the warp's count, because the instructions
                                                  * of the current straight-line run are not counted yet */
    if (lanes == w->all && !wide) {
        emu_special_rows(w, sr, d, NULL);
        note_special(w, sr, d[0]);
        return;
    }
    emu_special_rows(w, sr, low, high);
    note_special(w, sr, (uint64_t)high[0] << 32 | low[0]);
    for (LW_EACH_BIT(l, lanes)) {
        d[l] = low[l];
        if (wide)
            d_high[l] = high[l];
    }
}
/** Returns the value of special register @sr in the lowest live lane. */
static __attribute__((noinline)) uint64_t lowest_lane_special(const struct emu_warp *w,
                                                              enum isa_special sr)
{
    uint32_t low[EMU_MAX_LANES], high[EMU_MAX_LANES];
    unsigned from = w->live ? lw_lowest(w->live) : 0;

    emu_special_rows(w, sr, low, high);
    return (uint64_t)high[from] << 32 | low[from];
}
/** Executes s_s2r. If the special register differs between lanes, the result is the value in the lowest live lane. */
void emu_x_s_s2r(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const enum isa_special sr = (enum isa_special)di->aux;
    uint64_t v;

    (void)lanes;
    w->run_done = (uint32_t)(di - w->run_start);
    if (!emu_special_uniform(w, sr, &v)) {
        v = lowest_lane_special(w, sr);
    } else if (__builtin_expect(w->core->answers != NULL, 0)) {
        (void)emu_nondet_replay(w->core, sr, &v);
    }
    note_special(w, sr, v);
    put_scalar(w, di, v);
}

/* ---- barrier registers ---------------------------------------------------------------------- */

void emu_x_nop(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    (void)w, (void)di, (void)lanes;
}

/* ---- cross-lane -------------------------------------------------------------------------------- */

/**
 * Executes PTX shfl, on virtual warps of 32 lanes. If the flag EMU_D_COUNTED is set, clamp and segment mask are in register C;
 * otherwise they are in di->disp (bits 5:0 and 11:6). An immediate lane operand is in di->sub.
 */
void emu_x_shfl(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const uint32_t *a = emu_row(w, di->a);
    uint32_t *d = emu_row(w, di->d), result[EMU_MAX_LANES];
    uint64_t inside = 0;

    for (LW_EACH_BIT(lane, lanes)) {
        unsigned l = (unsigned)lane & 31, base = (unsigned)lane & 32;
        uint32_t b = di->ukind == EMU_U_ROW ? emu_row(w, di->b)[lane] & 31
                                            : (uint32_t)di->sub & 31;
        uint32_t c = di->flags & EMU_D_COUNTED ? emu_row(w, di->c)[lane] : 0;
        uint32_t clamp = di->flags & EMU_D_COUNTED ? c & 31 : (uint32_t)di->disp & 31;
        uint32_t segment = di->flags & EMU_D_COUNTED ? c >> 8 & 31
                                                     : (uint32_t)di->disp >> 6 & 31;
        uint32_t high = (l & segment) | (clamp & ~segment), low = l & segment;
        int j;
        bool ok;
        switch (di->op) {
        case ISA_SHFL_IDX: j = (int)(low | (b & ~segment)); ok = j <= (int)high; break;
        case ISA_SHFL_UP: j = (int)l - (int)b; ok = j >= (int)high; break;
        case ISA_SHFL_DOWN: j = (int)l + (int)b; ok = j <= (int)high; break;
        default: j = (int)(l ^ b); ok = j <= (int)high; break;
        }
        unsigned from = ok ? base + (unsigned)j : (unsigned)lane;
        /* if the source lane does not take part, the lane reads its own value (MACHINE 2) */
        if (!(lanes >> from & 1))
            from = (unsigned)lane;
        result[lane] = a[from];
        inside |= (uint64_t)ok << lane;
    }
    for (LW_EACH_BIT(lane, lanes))
        d[lane] = result[lane];
    emu_put_predicate(w, di->p, lanes, inside);
}

/** Executes the instructions of vote; each virtual warp of 32 lanes has its own result. */
void emu_x_vote(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint64_t result = 0;

    for (unsigned k = 0; k < 2; k++) {
        uint64_t in = lanes & (UINT64_C(0xffffffff) << (32 * k)), yes = in & emu_predicate(w, di->r);
        bool all = yes == in, any = yes != 0;
        if (di->op == ISA_VOTE_ALL ? all : di->op == ISA_VOTE_ANY ? any : all || !any)
            result |= in;
    }
    emu_put_predicate(w, di->p, lanes, result);
}
/** Executes vote.ballot. The .b32 form gives each lane the ballot of its virtual warp of 32 lanes; the other form gives each lane
 *  the ballot of the whole warp, in a register pair. */
void emu_x_ballot(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint32_t *d = emu_row(w, di->d), *d_high = d + w->stride / 4;
    uint64_t yes = lanes & emu_predicate(w, di->r);

    for (LW_EACH_BIT(l, lanes)) {
        if (di->op == ISA_VOTE_BALLOT_B32) {
            d[l] = (uint32_t)(yes >> (l & 32));
        } else {
            d[l] = (uint32_t)yes;
            d_high[l] = (uint32_t)(yes >> 32);
        }
    }
}

/** Returns operand A of a lane, as match and redux read it. */
static uint64_t lane_value(const struct emu_warp *w, const struct emu_dinsn *di, unsigned lane,
                           bool wide)
{
    return wide ? emu_lane_pair(w, di->a, lane) : emu_row(w, di->a)[lane];
}
/** Executes match.any: each lane gets the mask of the lanes of its virtual warp that have the same value. */
void emu_x_match_any(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    bool wide = di->op == ISA_MATCH_ANY_B64;
    uint32_t *d = emu_row(w, di->d), result[EMU_MAX_LANES];
    uint64_t todo = lanes;

    while (todo != 0) {
        uint64_t value = lane_value(w, di, lw_lowest(todo), wide), same = 0;
        for (LW_EACH_BIT(l, todo))
            same |= (uint64_t)(lane_value(w, di, (unsigned)l, wide) == value) << l;
        for (LW_EACH_BIT(l, same))
            result[l] = (uint32_t)(same >> (l & 32));
        todo &= ~same;
    }
    for (LW_EACH_BIT(l, lanes)) /* results are written last, because D and A may be the same register */
        d[l] = result[l];
}
/** Executes match.all for each virtual warp. If all participating lanes have the same value, the result is their mask, and
 *  predicate P is true. Otherwise the result is 0, and P is false. */
void emu_x_match_all(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    bool wide = di->op == ISA_MATCH_ALL_B64;
    uint32_t *d = emu_row(w, di->d);
    uint64_t equal = 0;

    for (unsigned k = 0; k < 2; k++) {
        uint64_t in = lanes & (UINT64_C(0xffffffff) << (32 * k));
        bool all = true;
        for (LW_EACH_BIT(l, in))
            all = all && lane_value(w, di, (unsigned)l, wide) ==
                             lane_value(w, di, lw_lowest(in), wide);
        equal |= all ? in : 0;
    }
    for (LW_EACH_BIT(l, lanes))
        d[l] = (uint32_t)((equal & lanes) >> (l & 32));
    emu_put_predicate(w, di->p, lanes, equal);
}
/** Combines two values by the redux operation @op. */
static uint32_t reduce(unsigned op, uint32_t x, uint32_t y)
{
    switch (op) {
    case ISA_REDUX_MIN_U32: return x < y ? x : y;
    case ISA_REDUX_MAX_U32: return x > y ? x : y;
    case ISA_REDUX_MIN_S32: return (int32_t)x < (int32_t)y ? x : y;
    case ISA_REDUX_MAX_S32: return (int32_t)x > (int32_t)y ? x : y;
    case ISA_REDUX_AND_B32: return x & y;
    case ISA_REDUX_OR_B32: return x | y;
    case ISA_REDUX_XOR_B32: return x ^ y;
    default: return x + y;
    }
}
void emu_x_redux(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    const uint32_t *a = emu_row(w, di->a);
    uint32_t *d = emu_row(w, di->d);

    for (unsigned k = 0; k < 2; k++) {
        uint64_t in = lanes & (UINT64_C(0xffffffff) << (32 * k));
        if (in == 0)
            continue;
        uint32_t r = a[lw_lowest(in)];
        for (LW_EACH_BIT(l, in & (in - 1)))
            r = reduce(di->op, r, a[l]);
        for (LW_EACH_BIT(l, in))
            d[l] = r;
    }
}

/* ---- between scalar and vector unit ------------------------------------------------------------------ */

void emu_x_readfirstlane(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint64_t from = lanes ? lanes : w->live; /* if no lane is active, the lowest live lane is read */

    put_scalar(w, di, emu_row(w, di->a)[lw_lowest(from)]);
}
/* readlane and writelane take the lane number modulo the warp width. As in GCN, exec has no effect on these two instructions. */
void emu_x_readlane(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    (void)lanes;
    put_scalar(w, di, emu_row(w, di->a)[emu_uniform32(w, di) & (w->width - 1u)]);
}
void emu_x_writelane(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    (void)lanes;
    emu_row(w, di->d)[emu_uniform32(w, di) & (w->width - 1u)] = di->p < 128 ? w->s[di->p] : 0;
}
/** Executes s_ballot: writes the mask of the lanes in which predicate R is true to a scalar register or pair. */
void emu_x_s_ballot(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    put_scalar(w, di, lanes & emu_predicate(w, di->r));
}
/** Executes the inverse of a ballot: sets predicate P of each lane to the lane's bit in a scalar register pair. */
void emu_x_unballot(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    emu_put_predicate(w, di->p, lanes, emu_uniform64(w, di));
}
/** Executes s_vote: sets scalar predicate Q to whether predicate R is true in any lane, or in all lanes, of @lanes. */
void emu_x_s_vote(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint64_t yes = lanes & emu_predicate(w, di->r);

    if (di->q < ISA_PT)
        w->sp[di->q] = di->op == ISA_S_VOTE_ANY ? yes != 0 : yes == lanes;
}
void emu_x_sp2r(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    uint32_t bits = 0;

    (void)lanes;
    for (unsigned p = 0; p < ISA_PRED_COUNT; p++)
        bits |= (uint32_t)w->sp[p] << p;
    put_scalar(w, di, bits);
}
void emu_x_r2sp(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    (void)lanes;
    for (unsigned p = 0; p < ISA_PRED_COUNT; p++)
        w->sp[p] = di->p < 128 ? w->s[di->p] >> p & 1 : 0;
}
void emu_x_sp2p(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes)
{
    emu_put_predicate(w, di->p, lanes, scalar_predicate(w, di->r) ? ~UINT64_C(0) : 0);
}
