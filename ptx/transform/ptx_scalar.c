/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves uniform instructions to the scalar unit: v_ instructions become s_ instructions, and branches on uniform predicates
 * become s_bra. Vector instructions read a scalar as an operand, or a vector copy of it.
 *
 * Scalars may only be written where all live lanes of the warp execute together (MACHINE 3). So scalars are not written
 *   - in the region of a divergent branch, including its loops from the header to the bsync after them, nor after a
 *     branch whose sides no bsync joins;
 *   - after the first divergent branch of a kernel with soft barriers;
 *   - after an instruction at which lanes may diverge: a barrier whose guard, number or mask differs
 *     between lanes;
 *   - after a call, or outside a kernel.
 * Scalars may be read anywhere.
 *
 * A virtual register can be scalar if three conditions are true. The register is uniform. Each of its definitions has a scalar
 * counterpart, is at a permitted place, and reads only scalars and constants. If the register is a predicate, all its uses can
 * read a scalar predicate. From these candidates some are removed: first registers that no scalar instruction reads, then
 * unprofitable webs, then registers for which no scalar register is free.
 */
#include <stdio.h>

#include "ptx/ptx_priv.h"
#include "ptx/select/ptx_select_priv.h"

enum {
    MAX_LIVE = 30,  /* greatest number of scalars that may be live at a time, because each occupies at most one of 31 aligned
                     * quads */
    MAX_LIVE_P = 6, /* greatest number of scalar predicates that may be live at a time */
    MAX_ROUNDS = 24,
    NOT_KNOWN = 0, NO_SCALAR_OP = 1 /* values of struct scalar's scalar_op */
};

struct scalar {
    struct ptx_unit *unit;
    uint16_t *scalar_op;      /* by vector operation: the scalar counterpart of the operation, NOT_KNOWN or NO_SCALAR_OP */
    uint32_t *block_of;  /* by instruction: block of the instruction, or PTX_NONE if it is unreachable */
    uint32_t *cut;       /* by block: index of the first instruction at which lanes may no longer execute together */
    /* by block: whether the block is reachable from a point where lanes do not execute together */
    bool *after_divergence;
    bool *can;           /* by vreg: whether the vreg is a candidate */
    float *own;          /* by vreg: gain of making the vreg scalar */
    bool *at_def;        /* by vreg: true: a vector copy of the vreg is made after each definition; false: before each use */
    bool *fixed;         /* by vreg: whether the vreg was scalar before this pass (as base of an address) */
    uint32_t *web;       /* by vreg: web of the vreg, as union-find structure */
    uint32_t *copy;      /* by vreg: 1 + the vector register that has a copy of the vreg */
    uint32_t *copy_at;   /* by vreg: 1 + block in which that copy is valid */
};

/* ---- scalar counterparts ------------------------------------------------- */

/* Returns the scalar unit's operand token that corresponds to token @tok of a vector operation, or ISA_TOK_NONE. */
static enum isa_tok scalar_token(enum isa_tok tok)
{
    static const enum isa_tok pairs[][2] = {
        { ISA_TOK_VD, ISA_TOK_SD }, { ISA_TOK_VD2, ISA_TOK_SD2 }, { ISA_TOK_VA, ISA_TOK_SA },
        { ISA_TOK_VA2, ISA_TOK_SA2 }, { ISA_TOK_XB, ISA_TOK_SX }, { ISA_TOK_XB2, ISA_TOK_SX2 },
        { ISA_TOK_VC, ISA_TOK_SC }, { ISA_TOK_PD, ISA_TOK_SPD }, { ISA_TOK_RR, ISA_TOK_RS },
        { ISA_TOK_SR, ISA_TOK_SR },
    };

    for (size_t i = 0; i < LW_COUNT_OF(pairs); i++)
        if (pairs[i][0] == tok)
            return pairs[i][1];
    return ISA_TOK_NONE;
}

/* Returns true if a scalar operation has the operands of a vector operation, each as a scalar. The second predicate that a
 * vector comparison writes is ignored, because a scalar comparison writes only one. */
static bool operands_match(const struct isa_operands *vector, const struct isa_operands *scalar)
{
    unsigned count = 0;

    for (unsigned i = 0; i < vector->count; i++) {
        if (vector->tok[i] == ISA_TOK_QD)
            continue;
        if (count == scalar->count || scalar_token(vector->tok[i]) != scalar->tok[count++])
            return false;
    }
    return count == scalar->count;
}

/* Returns the scalar operation that does the same as vector operation @op, or ISA_OP_NONE. The scalar operation has the
 * prefix s_ instead of v_, and its operands are scalars. */
static enum isa_op scalar_op_of(const struct scalar *s, enum isa_op op)
{
    const struct isa_op_info *info = isa_op_info(op), *to;
    char name[64];
    enum isa_op scalar_op;

    if (s->scalar_op[op] != NOT_KNOWN)
        return s->scalar_op[op] == NO_SCALAR_OP ? ISA_OP_NONE : (enum isa_op)s->scalar_op[op];
    s->scalar_op[op] = NO_SCALAR_OP;
    if (strncmp(info->mnemonic, "v_", 2) != 0)
        return ISA_OP_NONE;
    /* The names differ only in the prefix, except those of selections. */
    snprintf(name, sizeof name, "s_%s", info->mnemonic + 2);
    if (op == ISA_V_SELP_B32 || op == ISA_V_SELP_B64)
        snprintf(name, sizeof name, "s_cselect_%s", op == ISA_V_SELP_B32 ? "b32" : "b64");
    scalar_op = isa_op_find(name, strlen(name));
    if (scalar_op == ISA_OP_NONE)
        return ISA_OP_NONE;
    to = isa_op_info(scalar_op);
    if (operands_match(&info->operands, &to->operands))
        s->scalar_op[op] = (uint16_t)scalar_op;
    return s->scalar_op[op] == NO_SCALAR_OP ? ISA_OP_NONE : scalar_op;
}

/* Ways to make an instruction scalar. */
enum how { HOW_NOT, HOW_SCALAR_OP, HOW_WIDEN, HOW_LEA, HOW_MADWIDE, HOW_LOAD };

static bool is_widening(const struct ptx_mi *mi)
{
    unsigned to = isa_mod_get(&mi->in, ISA_MOD_DTYPE), from = isa_mod_get(&mi->in, ISA_MOD_STYPE);

    return ((to == ISA_DT_U64 && from == ISA_ST_U32) || (to == ISA_DT_S64 && from == ISA_ST_S32)) &&
           ptx_ref_is_vreg(mi->ref[PTX_S_X]) && mi->in.xkind == ISA_X_VECTOR;
}

static enum how how_of(const struct scalar *s, const struct ptx_mi *mi)
{
    bool source_mods = false;

    for (unsigned i = 0; i < 3; i++)
        source_mods |= !(isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_NOSRCMOD) &&
                       isa_insn_srcmod(&mi->in, i) != 0;
    if (source_mods || mi->flags & (PTX_MI_PIN | PTX_MI_PROLOGUE | PTX_MI_CFA) ||
        mi->ref[PTX_S_Q] != PTX_NO_REF || ptx_ref_is_vreg(mi->ref[PTX_S_M]))
        return HOW_NOT;
    switch (mi->in.op) {
    case ISA_V_CVT:
        return is_widening(mi) && !(mi->flags & PTX_MI_PARTIAL) ? HOW_WIDEN : HOW_NOT;
    case ISA_V_LEA_S32: case ISA_V_LEA_U32:
        return mi->in.xkind == ISA_X_IMM && mi->in.x <= 30 && !mi->in.variant &&
                       !(mi->flags & PTX_MI_PARTIAL) && ptx_ref_is_vreg(mi->ref[PTX_S_A])
                   ? HOW_LEA : HOW_NOT;
    case ISA_V_MADWIDE_S32: case ISA_V_MADWIDE_U32:
        return !mi->in.variant && !(mi->flags & PTX_MI_PARTIAL) ? HOW_MADWIDE : HOW_NOT;
    case ISA_LD_GLOBAL:
        if (!(mi->flags & PTX_MI_READONLY) || mi->flags & PTX_MI_PARTIAL ||
            isa_mod_get(&mi->in, ISA_MOD_AMODE) != ISA_AMODE_PAIR)
            return HOW_NOT;
        switch (isa_mod_get(&mi->in, ISA_MOD_SIZE)) {
        case ISA_SIZE_B32: case ISA_SIZE_B64: case ISA_SIZE_V2B32: case ISA_SIZE_V4B32:
        case ISA_SIZE_V2B64:
            return HOW_LOAD;
        default:
            return HOW_NOT;
        }
    default:
        return scalar_op_of(s, (enum isa_op)mi->in.op) != ISA_OP_NONE ? HOW_SCALAR_OP : HOW_NOT;
    }
}

/* Returns the measured host time that the scalar instruction saves, in half nanoseconds. On hosts with wide
 * vectors, vector arithmetic on single registers takes as long as scalar arithmetic; on pairs of registers, and in comparisons,
 * it takes longer. */
static float gain_of(const struct ptx_mi *mi, enum how how)
{
    switch (how) {
    case HOW_LEA: case HOW_MADWIDE: return 2;
    case HOW_LOAD: return -6;
    default: break;
    }
    if (ptx_ref_is_vreg(mi->ref[PTX_S_P]))
        return 2;
    return mi->rows[PTX_S_D] > 1 ? 4 : 1;
}

enum { COPY_COST = 4, BRANCH_GAIN = 4 };

/* ---- where all lanes execute together ------------------------------------ */

/* Marks the blocks that are reachable from the end of @block. */
static void mark_after(struct scalar *s, uint32_t block)
{
    struct ptx_unit *unit = s->unit;
    PTX_LIST(uint32_t) work = { 0 };

    *PTX_PUSH(unit->job, work) = block;
    while (work.count != 0) {
        struct ptx_block *b = &unit->blocks.at[work.at[--work.count]];

        for (unsigned k = 0; k < b->succ_count; k++) {
            uint32_t to = b->succ[k];

            if (s->after_divergence[to])
                continue;
            s->after_divergence[to] = true;
            s->cut[to] = unit->blocks.at[to].first;
            *PTX_PUSH(unit->job, work) = to;
        }
    }
}

static bool differs(const struct ptx_unit *unit, ptx_ref ref)
{
    return ptx_ref_is_vreg(ref) && unit->vregs.at[ptx_ref_vreg(ref)].divergent;
}

/* Returns true if lanes may leave the instruction at different times, because some lanes wait in the instruction or jump to
 * another target. */
static bool may_part(const struct ptx_unit *unit, const struct ptx_mi *mi)
{
    unsigned flags = isa_op_info((enum isa_op)mi->in.op)->flags;

    if (flags & ISA_F_CALL)
        return true;
    if (mi->in.op == ISA_EXIT || !(flags & (ISA_F_CONTROL | ISA_F_BARRIER | ISA_F_SYNC)))
        return false;
    if (differs(unit, mi->ref[PTX_S_GUARD]))
        return true;
    if (flags & ISA_F_SYNC) /* Only the member mask (X of a warpsync) decides which lanes wait. */
        return differs(unit, mi->ref[PTX_S_M]) ||
               (mi->in.op == ISA_WARPSYNC && differs(unit, mi->ref[PTX_S_X]));
    return differs(unit, mi->ref[PTX_S_A]) || differs(unit, mi->ref[PTX_S_X]) ||
           differs(unit, mi->ref[PTX_S_C]);
}

static void find_convergent(struct scalar *s)
{
    struct ptx_unit *unit = s->unit;

    for (size_t i = 0; i < unit->blocks.count; i++) {
        const struct ptx_block *b = &unit->blocks.at[i];

        s->cut[i] = b->barrier_flow || b->rpo == PTX_NONE ? b->first : PTX_NONE;
    }
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        uint32_t bi = unit->rpo[k];
        const struct ptx_block *b = &unit->blocks.at[bi];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!may_part(unit, &unit->code.at[i]))
                continue;
            if (s->cut[bi] > i + 1)
                s->cut[bi] = i + 1;
            mark_after(s, bi);
            break;
        }
        if (b->may_diverge && (unit->soft || unit->lossy || b->branch_barrier == PTX_NO_BARRIER))
            mark_after(s, bi);
    }
}

/* ---- what can be scalar -------------------------------------------------- */

static bool is_pred(const struct scalar *s, uint32_t v)
{
    return s->unit->vregs.at[v].rows == 0;
}

static bool source_can(const struct scalar *s, ptx_ref ref)
{
    return !ptx_ref_is_vreg(ref) || s->can[ptx_ref_vreg(ref)];
}

/* Returns true if instruction @i can be scalar: the instruction has a scalar form, all lanes execute it together, and all
 * registers that it reads are candidates. */
static bool insn_can(struct scalar *s, uint32_t i)
{
    const struct ptx_mi *mi = &s->unit->code.at[i];
    uint32_t b = s->block_of[i];
    bool writes = false;

    if (mi->flags & PTX_MI_DEAD || b == PTX_NONE || i >= s->cut[b] || how_of(s, mi) == HOW_NOT)
        return false;
    for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
        if (!source_can(s, mi->ref[slot]))
            return false;
        writes |= ptx_mi_writes(mi, (enum ptx_slot)slot);
    }
    return writes;
}

/* Returns true if @mi reads a candidate predicate in @slot and cannot read it as a scalar: only guards and scalar instructions
 * can read a scalar predicate. @converted: @mi becomes a scalar instruction. */
static bool reads_predicate_badly(const struct scalar *s, const struct ptx_mi *mi, unsigned slot,
                                  bool converted)
{
    return slot >= PTX_S_R && slot != PTX_S_GUARD &&
           ptx_ref_is_vreg(mi->ref[slot]) && !converted && s->can[ptx_ref_vreg(mi->ref[slot])];
}

/* Removes candidates until each remaining one can be scalar if all other candidates are. */
static void propagate(struct scalar *s)
{
    struct ptx_unit *unit = s->unit;

    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < unit->rpo_count; k++) {
            const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

            for (uint32_t i = b->first; i < b->first + b->count; i++) {
                const struct ptx_mi *mi = &unit->code.at[i];
                bool any = false, can;

                for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++)
                    any |= ptx_ref_is_vreg(mi->ref[slot]) && s->can[ptx_ref_vreg(mi->ref[slot])];
                if (!any)
                    continue;
                can = insn_can(s, i);
                for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
                    uint32_t v = ptx_ref_vreg(mi->ref[slot]);

                    if (!ptx_ref_is_vreg(mi->ref[slot]) || !s->can[v] || s->fixed[v])
                        continue;
                    if ((ptx_mi_writes(mi, (enum ptx_slot)slot) && !can) ||
                        reads_predicate_badly(s, mi, slot, can)) {
                        s->can[v] = false;
                        changed = true;
                    }
                }
            }
        }
    }
}

static void find_candidates(struct scalar *s)
{
    struct ptx_unit *unit = s->unit;

    for (size_t v = 0; v < unit->vregs.count; v++) {
        s->fixed[v] = unit->vregs.at[v].scalar;
        s->can[v] = s->fixed[v];
    }
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
                if (ptx_mi_writes(mi, (enum ptx_slot)slot) &&
                    !unit->vregs.at[ptx_ref_vreg(mi->ref[slot])].divergent &&
                    unit->vregs.at[ptx_ref_vreg(mi->ref[slot])].fixed == 0)
                    s->can[ptx_ref_vreg(mi->ref[slot])] = true;
            }
        }
    }
    propagate(s);
}

/* ---- what pays ----------------------------------------------------------- */

static float weight_of(const struct ptx_unit *unit, uint32_t block)
{
    uint32_t loop = unit->blocks.at[block].loop;
    float w = 1;

    for (uint32_t d = loop == PTX_NONE ? 0 : unit->loops.at[loop].depth; d > 0 && w < 1e5f; d--)
        w *= 10;
    return w;
}

/* Ways in which a vector instruction reads a scalar. */
enum reading { READ_DIRECT, READ_SWAPPED, READ_BASE, READ_PRODUCT, READ_COPY };

/* Returns true if @mi adds a vector to a product of scalars. The scalar unit then computes the product, and a vector
 * instruction adds it. */
static bool is_product_sum(const struct scalar *s, const struct ptx_mi *mi)
{
    uint32_t i = (uint32_t)(mi - s->unit->code.at), b;

    if (i >= s->unit->code.count || mi->flags & PTX_MI_PARTIAL ||
        ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]) || !ptx_ref_is_vreg(mi->ref[PTX_S_C]) ||
        (how_of(s, mi) != HOW_LEA && how_of(s, mi) != HOW_MADWIDE))
        return false;
    b = s->block_of[i];
    return b != PTX_NONE && i < s->cut[b] && ptx_ref_is_vreg(mi->ref[PTX_S_A]) &&
           s->can[ptx_ref_vreg(mi->ref[PTX_S_A])] && !s->can[ptx_ref_vreg(mi->ref[PTX_S_C])] &&
           (mi->in.xkind != ISA_X_VECTOR || !ptx_ref_is_vreg(mi->ref[PTX_S_X]) ||
            s->can[ptx_ref_vreg(mi->ref[PTX_S_X])]);
}

static bool may_swap(const struct ptx_mi *mi)
{
    return mi->in.xkind == ISA_X_VECTOR && ptx_ref_is_vreg(mi->ref[PTX_S_X]) && !mi->in.variant;
}

static enum reading reading_of(const struct scalar *s, const struct ptx_mi *mi, unsigned slot)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)mi->in.op);
    bool memory = info->flags & ISA_F_MEMORY;

    if (slot == PTX_S_GUARD)
        return READ_DIRECT;
    if (mi->in.op == ISA_TEX && slot == PTX_S_C)
        return READ_DIRECT; /* slot C of a texture fetch is the texture handle, which may be scalar */
    if (memory)
        return slot == PTX_S_C && s->fixed[ptx_ref_vreg(mi->ref[slot])] ? READ_DIRECT
               : slot == PTX_S_A && ptx_takes_scalar_base(mi) &&
                       isa_mod_get(&mi->in, ISA_MOD_AMODE) == ISA_AMODE_PAIR &&
                       ptx_ref_row(mi->ref[slot]) == 0
                   ? READ_BASE : READ_COPY;
    if (info->flags & (ISA_F_CONTROL | ISA_F_CROSS | ISA_F_SCALAR) || mi->in.op == ISA_V_CVT)
        return READ_COPY;
    if ((slot == PTX_S_A || slot == PTX_S_X) && is_product_sum(s, mi))
        return READ_PRODUCT;
    if (slot == PTX_S_X && mi->in.xkind == ISA_X_VECTOR && ptx_op_wide_x((enum isa_op)mi->in.op))
        return READ_DIRECT;
    /* X can read a scalar directly, A and C need a copy, so A and X change places if the operation permits it. */
    if (slot == PTX_S_A && may_swap(mi) &&
        (ptx_op_commutes((enum isa_op)mi->in.op) || info->format == ISA_FMT_CMP) &&
        !s->can[ptx_ref_vreg(mi->ref[PTX_S_X])])
        return READ_SWAPPED;
    return READ_COPY;
}

static uint32_t web_of(struct scalar *s, uint32_t v)
{
    while (s->web[v] != v) {
        s->web[v] = s->web[s->web[v]];
        v = s->web[v];
    }
    return v;
}

struct tally { /* sums for one vreg */
    float defs, copies; /* defs: sum of the weights of the definitions; copies: the same for the uses that need a vector copy */
    bool read_by_scalar;
};

static void tally_insn(struct scalar *s, struct tally *t, uint32_t i)
{
    struct ptx_unit *unit = s->unit;
    const struct ptx_mi *mi = &unit->code.at[i];
    float w = weight_of(unit, s->block_of[i]);
    bool can = insn_can(s, i), converted = false;
    uint32_t first = PTX_NONE;

    for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++)
        converted |= can && ptx_mi_writes(mi, (enum ptx_slot)slot);
    for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
        uint32_t v = ptx_ref_vreg(mi->ref[slot]);

        if (!ptx_ref_is_vreg(mi->ref[slot]) || !s->can[v])
            continue;
        if (ptx_mi_writes(mi, (enum ptx_slot)slot)) {
            t[v].defs += w;
            s->own[v] += w * gain_of(mi, how_of(s, mi));
        } else if (converted) {
            t[v].read_by_scalar = true;
        } else if (reading_of(s, mi, slot) == READ_COPY) {
            t[v].copies += w;
        } else if (reading_of(s, mi, slot) == READ_BASE) {
            s->own[v] += w;
        }
        if (converted) {
            if (first != PTX_NONE)
                s->web[web_of(s, v)] = web_of(s, first);
            first = v;
        }
    }
}

static bool give_up(struct scalar *s)
{
    struct ptx_unit *unit = s->unit;
    size_t n = unit->vregs.count;
    struct tally *t = PTX_ARRAY(unit->job, struct tally, n + 1);
    float *total = PTX_ARRAY(unit->job, float, n + 1);
    bool gave = false;

    for (uint32_t v = 0; v < n; v++) {
        s->own[v] = 0;
        s->web[v] = v;
    }
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++)
            tally_insn(s, t, i);
        if (b->end == PTX_END_BRANCH && s->can[ptx_ref_vreg(b->guard)])
            s->own[ptx_ref_vreg(b->guard)] += BRANCH_GAIN * weight_of(unit, unit->rpo[k]);
    }
    for (uint32_t v = 0; v < n; v++) {
        if (!s->can[v] || s->fixed[v])
            continue;
        s->at_def[v] = t[v].defs <= t[v].copies;
        s->own[v] -= COPY_COST * (s->at_def[v] ? t[v].defs : t[v].copies);
        if (!t[v].read_by_scalar && s->own[v] <= 0) {
            s->can[v] = false;
            gave = true;
        } else {
            total[web_of(s, v)] += s->own[v];
        }
    }
    for (uint32_t v = 0; v < n && !gave; v++) {
        if (s->can[v] && !s->fixed[v] && total[web_of(s, v)] <= 0) {
            s->can[v] = false;
            gave = true;
        }
    }
    return gave;
}

/* ---- limits on the number of live scalars -------------------------------- */

/* Finds the first and the last position at which each candidate is live. A candidate counts as live everywhere between the
 * two. */
static void find_hulls(struct scalar *s, uint32_t *low, uint32_t *high)
{
    struct ptx_unit *unit = s->unit;

    for (size_t v = 0; v < unit->vregs.count; v++) {
        low[v] = PTX_NONE;
        high[v] = 0;
    }
    for (size_t k = 0; k < unit->order.count; k++) {
        uint32_t bi = unit->order.at[k];
        const struct ptx_block *b = &unit->blocks.at[bi];
        uint32_t end = b->first + b->count;

        if (b->rpo == PTX_NONE)
            continue;
        for (unsigned succ = 0; succ <= b->succ_count; succ++) {
            bool in = succ == b->succ_count;
            uint32_t of = in ? bi : b->succ[succ];

            for (size_t i = 0; i < unit->live_in[of].count; i++) {
                uint32_t v = unit->live_in[of].at[i];

                if (!s->can[v])
                    continue;
                if (low[v] > (in ? b->first : end))
                    low[v] = in ? b->first : end;
                if (high[v] < (in ? b->first : end))
                    high[v] = in ? b->first : end;
            }
        }
        for (uint32_t i = b->first; i <= end; i++) {
            for (unsigned slot = 0; slot < (i == end ? 1u : PTX_SLOT_COUNT); slot++) {
                ptx_ref ref = i < end ? unit->code.at[i].ref[slot]
                              : b->end == PTX_END_BRANCH ? b->guard : PTX_NO_REF;
                uint32_t v = ptx_ref_vreg(ref);

                if (!ptx_ref_is_vreg(ref) || !s->can[v])
                    continue;
                low[v] = low[v] < i ? low[v] : i;
                high[v] = high[v] > i ? high[v] : i;
            }
        }
    }
}

/* Removes candidates with a gain of at most @threshold that are live where too many candidates are live. Returns true if there
 * was such a position. */
static bool make_room(struct scalar *s, float threshold)
{
    struct ptx_unit *unit = s->unit;
    size_t n = unit->vregs.count, places = unit->code.count + 2;
    uint32_t *low = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *high = PTX_ARRAY(unit->job, uint32_t, n + 1);
    int32_t *live = PTX_ARRAY(unit->job, int32_t, places), now = 0;
    int32_t *live_p = PTX_ARRAY(unit->job, int32_t, places), now_p = 0;
    bool gave = false;

    find_hulls(s, low, high);
    for (uint32_t v = 0; v < n; v++) {
        if (!s->can[v] || low[v] == PTX_NONE)
            continue;
        (is_pred(s, v) ? live_p : live)[low[v]]++;
        (is_pred(s, v) ? live_p : live)[high[v] + 1]--;
    }
    uint32_t *over = PTX_ARRAY(unit->job, uint32_t, places); /* by position: at how many earlier positions too many
                                                              * candidates are live */
    uint32_t *over_p = PTX_ARRAY(unit->job, uint32_t, places);

    for (size_t i = 0; i + 1 < places; i++) {
        now += live[i];
        now_p += live_p[i];
        over[i + 1] = over[i] + (now > MAX_LIVE);
        over_p[i + 1] = over_p[i] + (now_p > MAX_LIVE_P);
    }
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t *o = is_pred(s, v) ? over_p : over;

        if (!s->can[v] || s->fixed[v] || low[v] == PTX_NONE || o[high[v] + 1] == o[low[v]])
            continue;
        gave = true;
        if (s->own[v] <= threshold)
            s->can[v] = false;
    }
    return gave;
}

static void choose(struct scalar *s)
{
    float threshold = 1;

    for (unsigned round = 0; round < 64 && give_up(s); round++)
        propagate(s);
    /* make_room() may remove a part of a web. The rest of the web may then gain nothing, so give_up() below removes
     * registers that are no longer profitable. */
    for (unsigned round = 0; make_room(s, threshold); round++) {
        propagate(s);
        threshold = round < MAX_ROUNDS ? threshold * 4 : 1e30f;
    }
    (void)give_up(s); /* this call also decides again where copies are made */
    propagate(s);
}

/* ---- the new code -------------------------------------------------------- */

struct rewriter {
    struct scalar *s;
    PTX_LIST(struct ptx_mi) code;
    uint32_t block;
};

static uint32_t new_vreg(struct ptx_unit *unit, unsigned rows, bool is_scalar)
{
    struct ptx_vreg *v = ptx_vreg_new(unit, rows);

    v->scalar = is_scalar;
    return (uint32_t)(unit->vregs.count - 1);
}

static struct ptx_mi *put_like(struct rewriter *rw, const struct ptx_mi *like, enum isa_op op)
{
    struct ptx_mi *mi = PTX_PUSH(rw->s->unit->job, rw->code);

    ptx_mi_init(mi, op, like->loc, like->line);
    return mi;
}

/* Emits a copy of scalar @v to vector @to. */
static void put_copy(struct rewriter *rw, const struct ptx_mi *like, uint32_t to, uint32_t v)
{
    unsigned rows = rw->s->unit->vregs.at[v].rows;

    for (unsigned row = 0; row < rows; row += 2) {
        struct ptx_mi *mi = put_like(rw, like, rows == 1 ? ISA_V_MOV_B32 : ISA_V_MOV_B64);

        mi->ref[PTX_S_D] = ptx_ref_of(to, row);
        mi->ref[PTX_S_X] = ptx_ref_of(v, row);
        mi->rows[PTX_S_D] = mi->rows[PTX_S_X] = rows == 1 ? 1 : 2;
        mi->in.xkind = ISA_X_SCALAR;
        if (row != 0)
            mi->flags |= PTX_MI_PARTIAL;
    }
}

static bool is_scalar(const struct scalar *s, ptx_ref ref)
{
    return ptx_ref_is_vreg(ref) && s->unit->vregs.at[ptx_ref_vreg(ref)].scalar;
}

static void set_x(struct ptx_mi *mi)
{
    if (mi->in.xkind == ISA_X_VECTOR && mi->ref[PTX_S_X] != PTX_NO_REF)
        mi->in.xkind = ISA_X_SCALAR;
}

/* Emits d = a * imm, a product of 32-bit values with 64 bits. With @imm 1, this only widens a. Returns d. */
static ptx_ref put_product(struct rewriter *rw, const struct ptx_mi *mi, bool is_signed, ptx_ref a,
                           uint32_t imm, ptx_ref d)
{
    struct ptx_mi *mul = put_like(rw, mi, is_signed ? ISA_S_MULWIDE_S32 : ISA_S_MULWIDE_U32);

    mul->ref[PTX_S_D] = d;
    mul->ref[PTX_S_A] = a;
    mul->in.xkind = ISA_X_IMM;
    mul->in.x = imm;
    mul->rows[PTX_S_D] = 2;
    mul->rows[PTX_S_A] = mul->rows[PTX_S_X] = 1;
    return d;
}

static void put_sum(struct rewriter *rw, const struct ptx_mi *mi, ptx_ref a, ptx_ref x)
{
    struct ptx_mi *add = put_like(rw, mi, ISA_S_ADD_U64);

    add->ref[PTX_S_D] = mi->ref[PTX_S_D];
    add->ref[PTX_S_A] = a;
    add->ref[PTX_S_X] = x;
    add->in.xkind = ISA_X_SCALAR;
    add->rows[PTX_S_D] = add->rows[PTX_S_A] = add->rows[PTX_S_X] = 2;
}

/* Emits the product of a lea or madwide, with destination @d. */
static void put_factors(struct rewriter *rw, const struct ptx_mi *mi, enum how how, ptx_ref d)
{
    bool is_signed = mi->in.op == ISA_V_LEA_S32 || mi->in.op == ISA_V_MADWIDE_S32;
    struct ptx_mi *out;

    if (how == HOW_LEA) {
        (void)put_product(rw, mi, is_signed, mi->ref[PTX_S_A], UINT32_C(1) << mi->in.x, d);
        return;
    }
    (void)put_product(rw, mi, is_signed, mi->ref[PTX_S_A], 0, d);
    out = &rw->code.at[rw->code.count - 1];
    out->in.xkind = mi->in.xkind;
    out->in.x = mi->in.x;
    out->ref[PTX_S_X] = mi->ref[PTX_S_X];
    set_x(out);
}

static void convert(struct rewriter *rw, const struct ptx_mi *mi)
{
    struct scalar *s = rw->s;
    struct ptx_unit *unit = s->unit;
    enum how how = how_of(s, mi);
    bool sum = mi->ref[PTX_S_C] != PTX_ZERO && mi->ref[PTX_S_C] != PTX_NO_REF;
    ptx_ref d = mi->ref[PTX_S_D];
    struct ptx_mi *out;

    if (how == HOW_WIDEN) {
        (void)put_product(rw, mi, isa_mod_get(&mi->in, ISA_MOD_DTYPE) == ISA_DT_S64,
                          mi->ref[PTX_S_X], 1, d);
        return;
    }
    if (how == HOW_LEA || how == HOW_MADWIDE) {
        if (sum) /* The sum gets a new register for the product, because the sum's destination may be a source of the
                  * product. */
            d = ptx_ref_of(new_vreg(unit, 2, true), 0);
        put_factors(rw, mi, how, d);
        if (sum)
            put_sum(rw, mi, d, mi->ref[PTX_S_C]);
        return;
    }
    if (how == HOW_LOAD) {
        unsigned size = isa_mod_get(&mi->in, ISA_MOD_SIZE);

        out = put_like(rw, mi, ISA_S_LD_GLOBAL);
        out->ref[PTX_S_D] = d;
        out->ref[PTX_S_A] = mi->ref[PTX_S_A];
        out->ref[PTX_S_X] = PTX_ZERO;
        out->rows[PTX_S_D] = mi->rows[PTX_S_D];
        out->rows[PTX_S_A] = 2;
        out->rows[PTX_S_X] = 1;
        out->in.x = mi->in.x & 0xffffff00u;
        isa_mod_set(&out->in, ISA_MOD_SSIZE,
                    size == ISA_SIZE_B32                              ? ISA_SSIZE_B32
                    : size == ISA_SIZE_B64 || size == ISA_SIZE_V2B32 ? ISA_SSIZE_B64
                                                                      : ISA_SSIZE_V4B32);
        return;
    }
    out = PTX_PUSH(unit->job, rw->code);
    *out = *mi;
    isa_insn_init(&out->in, scalar_op_of(s, (enum isa_op)mi->in.op));
    out->in.guard = mi->in.guard;
    out->in.guard_neg = mi->in.guard_neg;
    out->in.xkind = mi->in.xkind;
    out->in.x = mi->in.x;
    out->in.variant = mi->in.variant;
    if (isa_op_info((enum isa_op)out->in.op)->format == ISA_FMT_CMP) {
        isa_mod_set(&out->in, ISA_MOD_CMP, isa_mod_get(&mi->in, ISA_MOD_CMP));
        isa_mod_set(&out->in, ISA_MOD_BOOL, isa_mod_get(&mi->in, ISA_MOD_BOOL));
    }
    if (mi->ref[PTX_S_R] != PTX_NO_REF)
        isa_insn_set_r(&out->in, ISA_PT, isa_insn_r_neg(&mi->in));
    if (mi->in.op != ISA_V_S2R && mi->in.op != ISA_V_S2R_B64)
        set_x(out);
}

/* Emits @mi, which stays a vector instruction, with operands that read scalars directly or from vector copies. */
static void keep(struct rewriter *rw, const struct ptx_mi *mi)
{
    struct scalar *s = rw->s;
    struct ptx_unit *unit = s->unit;
    struct ptx_mi out = *mi;

    if (is_scalar(s, out.ref[PTX_S_A]) && reading_of(s, mi, PTX_S_A) == READ_PRODUCT) {
        ptx_ref product = ptx_ref_of(new_vreg(unit, 2, true), 0);

        put_factors(rw, mi, how_of(s, mi), product);
        isa_insn_init(&out.in, ISA_V_ADD_U64);
        out.in.xkind = ISA_X_SCALAR;
        out.ref[PTX_S_A] = mi->ref[PTX_S_C];
        out.ref[PTX_S_X] = product;
        out.ref[PTX_S_C] = PTX_NO_REF;
        out.rows[PTX_S_A] = out.rows[PTX_S_X] = 2;
        *PTX_PUSH(unit->job, rw->code) = out;
        return;
    }
    if (is_scalar(s, out.ref[PTX_S_A]) && reading_of(s, mi, PTX_S_A) == READ_SWAPPED)
        ptx_mi_swap(&out);
    for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
        ptx_ref ref = out.ref[slot];
        uint32_t v = ptx_ref_vreg(ref);

        if (slot == PTX_S_C && out.ref[PTX_S_C] != mi->ref[PTX_S_C])
            continue; /* The operand in slot C has just become a scalar base. */
        if (!is_scalar(s, ref) || slot == PTX_S_D || slot == PTX_S_P)
            continue;
        switch (reading_of(s, &out, slot)) {
        case READ_DIRECT:
            if (slot == PTX_S_X)
                out.in.xkind = ISA_X_SCALAR;
            else if (slot == PTX_S_C && out.in.op == ISA_TEX)
                out.in.c_scalar = true;
            break;
        case READ_BASE:
            out.ref[PTX_S_C] = ref;
            out.ref[PTX_S_A] = PTX_ZERO;
            out.rows[PTX_S_C] = 2;
            out.rows[PTX_S_A] = 1;
            isa_mod_set(&out.in, ISA_MOD_AMODE, ISA_AMODE_SU32);
            break;
        default:
            if (s->copy[v] == 0 || (!s->at_def[v] && s->copy_at[v] != rw->block + 1)) {
                if (s->copy[v] == 0 || !s->at_def[v])
                    s->copy[v] = new_vreg(unit, unit->vregs.at[v].rows, false) + 1;
                if (!s->at_def[v]) {
                    put_copy(rw, mi, s->copy[v] - 1, v);
                    s->copy_at[v] = rw->block + 1;
                }
            }
            out.ref[slot] = ptx_ref_of(s->copy[v] - 1, ptx_ref_row(ref));
            break;
        }
    }
    *PTX_PUSH(unit->job, rw->code) = out;
}

static void rewrite_block(struct rewriter *rw, struct ptx_block *b)
{
    struct scalar *s = rw->s;
    struct ptx_unit *unit = s->unit;
    uint32_t first = (uint32_t)rw->code.count;

    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct ptx_mi *mi = &unit->code.at[i];
        uint32_t written = PTX_NONE;

        for (unsigned slot = 0; slot < PTX_SLOT_COUNT; slot++) {
            if (ptx_mi_writes(mi, (enum ptx_slot)slot) && is_scalar(s, mi->ref[slot]))
                written = ptx_ref_vreg(mi->ref[slot]);
        }
        if (written == PTX_NONE || s->fixed[written]) {
            keep(rw, mi);
            continue;
        }
        convert(rw, mi);
        s->copy_at[written] = 0;
        if (s->at_def[written] && unit->vregs.at[written].rows != 0) {
            if (s->copy[written] == 0)
                s->copy[written] = new_vreg(unit, unit->vregs.at[written].rows, false) + 1;
            put_copy(rw, mi, s->copy[written] - 1, written);
        }
    }
    b->first = first;
    b->count = (uint32_t)rw->code.count - first;
}

static void rewrite(struct scalar *s)
{
    struct ptx_unit *unit = s->unit;
    struct rewriter rw = { .s = s };

    for (size_t v = 0; v < unit->vregs.count; v++) {
        unit->vregs.at[v].scalar = s->can[v];
        s->at_def[v] = s->at_def[v] && s->can[v];
    }
    for (size_t k = 0; k < unit->order.count; k++) {
        rw.block = unit->order.at[k];
        if (unit->blocks.at[rw.block].rpo != PTX_NONE)
            rewrite_block(&rw, &unit->blocks.at[rw.block]);
    }
    unit->code.at = rw.code.at;
    unit->code.count = rw.code.count;
    unit->code.capacity = rw.code.capacity;
}

void ptx_scalar(struct ptx_unit *unit)
{
    const struct ptx_options *options = unit->job->options;
    struct scalar s = { .unit = unit };
    size_t n = unit->vregs.count;
    bool any = false;

    if (!unit->function->kernel || (options != NULL && options->no_scalar))
        return;
    s.scalar_op = PTX_ARRAY(unit->job, uint16_t, ISA_OP_COUNT);
    s.block_of = PTX_ARRAY(unit->job, uint32_t, unit->code.count + 1);
    s.cut = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count + 1);
    s.after_divergence = PTX_ARRAY(unit->job, bool, unit->blocks.count + 1);
    s.can = PTX_ARRAY(unit->job, bool, n + 1);
    s.own = PTX_ARRAY(unit->job, float, n + 1);
    /* Rewriting creates at most one register for each vector copy and one for each product of a sum. */
    s.at_def = PTX_ARRAY(unit->job, bool, n + 1);
    s.fixed = PTX_ARRAY(unit->job, bool, n + 1);
    s.web = PTX_ARRAY(unit->job, uint32_t, n + 1);
    s.copy = PTX_ARRAY(unit->job, uint32_t, n + 1);
    s.copy_at = PTX_ARRAY(unit->job, uint32_t, n + 1);
    for (size_t i = 0; i < unit->code.count; i++)
        s.block_of[i] = PTX_NONE;
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++)
            s.block_of[i] = unit->rpo[k];
    }
    find_convergent(&s);
    find_candidates(&s);
    ptx_liveness(unit);
    choose(&s);
    for (size_t v = 0; v < n; v++)
        any |= s.can[v] && !s.fixed[v];
    if (any)
        rewrite(&s);
}
