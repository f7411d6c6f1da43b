/* SPDX-License-Identifier: Apache-2.0 */
/* Converts values to nodes of the address slices. A PHI (a value with several definitions) at a loop header becomes an induction
 * variable if each iteration adds the same amount to it. A PHI where the two sides of a branch join becomes a select by the
 * condition of the branch. All other PHIs are rejected. */
#include "isa/slice/isa_slice_priv.h"

static uint32_t finish(struct slice_builder *b, uint32_t value);

static uint32_t reject_phi(struct slice_builder *b, uint32_t phi)
{
    return slice_reject(b, ISA_SLICE_MERGE, b->flow.block[b->value[phi].node.value].first);
}

/* ---- induction variables ------------------------------------------------------------- */

static bool is_add(unsigned op, bool *minus)
{
    *minus = op == ISA_V_SUB_U32 || op == ISA_V_SUB_U64 || op == ISA_S_SUB_U32 || op == ISA_S_SUB_U64;
    return *minus || op == ISA_V_ADD_U32 || op == ISA_V_ADD_U64 || op == ISA_S_ADD_U32 || op == ISA_S_ADD_U64;
}

static uint32_t arithmetic(struct slice_builder *b, enum isa_op narrow, enum isa_op wide, unsigned bits, uint32_t x,
                           uint32_t y)
{
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_ROW, .bits = (uint8_t)bits, .a = x, .b = y,
                               .c = SLICE_NONE, .r = SLICE_NONE, .op = (uint16_t)(bits == 64 ? wide : narrow) });
}

/** If @value is @phi plus or minus other values, returns the sum that is added to @phi; otherwise returns SLICE_NONE. */
static uint32_t step_from(struct slice_builder *b, uint32_t value, uint32_t phi, unsigned depth)
{
    enum { MOST = 16 };
    bool minus;

    value = slice_resolve(b, value);
    const struct isa_slice_node n = b->value[value].node;
    if (value == phi)
        return slice_immediate(b, 0, n.bits);
    if (n.kind != ISA_SLICE_ROW || !is_add(n.op, &minus) || depth == MOST)
        return SLICE_NONE;
    uint32_t step = step_from(b, n.a, phi, depth + 1), by = n.b;
    if (step == SLICE_NONE && !minus) {
        step = step_from(b, n.b, phi, depth + 1);
        by = n.a;
    }
    if (step == SLICE_NONE)
        return SLICE_NONE;
    if (b->value[step].node.kind == ISA_SLICE_IMMEDIATE && b->value[step].node.value == 0 && !minus)
        return by;
    return arithmetic(b, minus ? ISA_V_SUB_U32 : ISA_V_ADD_U32, minus ? ISA_V_SUB_U64 : ISA_V_ADD_U64, n.bits, step, by);
}

static uint32_t induction(struct slice_builder *b, uint32_t phi)
{
    const uint32_t block = (uint32_t)b->value[phi].node.value, *operand = b->value[phi].operand;
    uint32_t init = SLICE_NONE, next = SLICE_NONE, count = b->pred_at[block + 1] - b->pred_at[block];
    int loop = slice_loop_at(b, block);

    if (loop < 0)
        return slice_reject(b, ISA_SLICE_SIZE, b->flow.block[block].first);
    for (uint32_t k = 0; k < b->value[phi].node.c; k++) {
        bool back = k < count && slice_dominates(b, block, b->pred[b->pred_at[block] + k]);
        uint32_t one = slice_resolve(b, operand[k]), *which = back ? &next : &init;

        if (k < count && b->dom_first[b->pred[b->pred_at[block] + k]] == 0)
            continue; /* control never reaches this predecessor */
        if (*which != SLICE_NONE && *which != one)
            return reject_phi(b, phi);
        *which = one;
    }
    for (unsigned k = 0; k < 2; k++) {
        uint32_t one = k == 0 ? init : next;

        if (one == SLICE_NONE)
            return reject_phi(b, phi);
        if (slice_is_reject(b, one))
            return one;
    }
    uint32_t step = step_from(b, next, phi, 0);
    if (step == SLICE_NONE) { /* if @next itself is rejected, the PHI is rejected for the same reason */
        uint32_t of = finish(b, next);

        return of != 0 || b->no_memory ? reject_phi(b, phi) : next;
    }
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_INDUCTION, .bits = b->value[phi].node.bits,
                                                       .a = init, .b = step, .value = (uint64_t)loop });
}

/* ---- selects by the condition of a branch ------------------------------------------------ */

/** Returns which side of the branch at the end of @block leads to predecessor @from of @join: 1 for the taken side, 0 for the
 *  fall-through, -1 for neither or both. */
static int side_of(const struct slice_builder *b, uint32_t block, uint32_t join, uint32_t from)
{
    for (int k = 0; k < 2; k++) {
        uint32_t to = b->flow.block[block].next[k];

        if (to == ISA_NO_BLOCK)
            continue;
        if (from == block ? to == join
                          : to != join && b->pred_at[to + 1] - b->pred_at[to] == 1 && slice_dominates(b, to, from))
            return k;
    }
    return -1;
}

static uint32_t choice(struct slice_builder *b, uint32_t phi)
{
    const uint32_t join = (uint32_t)b->value[phi].node.value, block = b->idom[join], *operand = b->value[phi].operand;
    uint32_t side[2] = { SLICE_NONE, SLICE_NONE };

    if (block == SLICE_NONE || b->flow.block[block].next[0] == b->flow.block[block].next[1] || join == 0)
        return reject_phi(b, phi);
    for (uint32_t k = 0; k < b->value[phi].node.c; k++) {
        uint32_t from = b->pred[b->pred_at[join] + k], one = slice_resolve(b, operand[k]);

        if (b->dom_first[from] == 0)
            continue;
        int s = side_of(b, block, join, from);
        if (slice_is_reject(b, one))
            return one;
        if (s < 0 || (side[s] != SLICE_NONE && side[s] != one))
            return reject_phi(b, phi);
        side[s] = one;
    }
    uint32_t last = b->flow.block[block].first + b->flow.block[block].count - 1;
    if (side[0] == SLICE_NONE || side[1] == SLICE_NONE || !slice_has_guard(&b->insn[last]))
        return reject_phi(b, phi);
    return slice_select(b, slice_guard(b, last), side[1], side[0]);
}

/* ---- nodes --------------------------------------------------------------------------------- */

static uint32_t put(struct slice_builder *b, uint32_t value, struct isa_slice_node node, uint64_t loops)
{
    if (b->node_count >= ISA_SLICE_NODES || !lw_grow(&b->node, &b->node_capacity, b->node_count + 1, sizeof *b->node)) {
        b->no_memory |= b->node_count < ISA_SLICE_NODES;
        b->value[value].node = (struct isa_slice_node){ .kind = SLICE_REJECT, .value = ISA_SLICE_SIZE, .a = SLICE_NONE };
        return 0;
    }
    b->node[b->node_count++] = node;
    b->value[value].loops = loops;
    return b->value[value].out = (uint32_t)b->node_count;
}

/** Rejects @value for the reason for which @like was rejected, or with reason ISA_SLICE_MERGE if @like was not rejected. */
static uint32_t as_rejected(struct slice_builder *b, uint32_t value, uint32_t like)
{
    like = slice_resolve(b, like);
    b->value[value].visiting = false;
    b->value[value].node = b->value[like].node.kind == SLICE_REJECT
        ? b->value[like].node
        : (struct isa_slice_node){ .kind = SLICE_REJECT, .value = ISA_SLICE_MERGE, .a = SLICE_NONE };
    return 0;
}

static uint32_t finish_phi(struct slice_builder *b, uint32_t phi)
{
    const uint32_t block = (uint32_t)b->value[phi].node.value;
    bool header = false;

    if (b->value[phi].operand == NULL)
        return as_rejected(b, phi, phi);
    for (uint32_t p = b->pred_at[block]; p < b->pred_at[block + 1]; p++)
        header |= slice_dominates(b, block, b->pred[p]);
    b->value[phi].visiting = true;
    uint32_t as = header ? induction(b, phi) : choice(b, phi);
    if (b->no_memory || slice_is_reject(b, as))
        return as_rejected(b, phi, as);
    struct isa_slice_node n = b->value[as].node;
    if (header) { /* the step is converted as a value outside the loop, because it is the same in all iterations */
        uint32_t start = finish(b, n.a), step = start != 0 ? finish(b, n.b) : 0;

        if (step == 0)
            return as_rejected(b, phi, start != 0 ? n.b : n.a);
        uint64_t in_start = b->value[slice_resolve(b, n.a)].loops, in_step = b->value[slice_resolve(b, n.b)].loops;

        if ((in_step | in_start) >> n.value & 1)
            return as_rejected(b, phi, reject_phi(b, phi));
        n.a = start - 1;
        n.b = step - 1;
        b->value[phi].visiting = false;
        return put(b, phi, n, in_start | in_step | UINT64_C(1) << n.value);
    }
    uint32_t out = finish(b, as);
    if (out == 0)
        return as_rejected(b, phi, as);
    b->value[phi].visiting = false;
    b->value[phi].node = (struct isa_slice_node){ .kind = SLICE_SAME, .a = as };
    return out;
}

static uint32_t finish(struct slice_builder *b, uint32_t value)
{
    value = slice_resolve(b, value);
    if (b->value[value].out != 0)
        return b->value[value].out;
    struct isa_slice_node n = b->value[value].node;
    if (n.kind == SLICE_REJECT)
        return 0;
    if (b->value[value].visiting)
        return as_rejected(b, value, n.kind == SLICE_PHI ? reject_phi(b, value)
                                                         : slice_reject(b, ISA_SLICE_MERGE, SLICE_NONE));
    if (b->depth >= SLICE_DEPTH || b->no_memory)
        return as_rejected(b, value, slice_reject(b, ISA_SLICE_SIZE, SLICE_NONE));
    b->depth++;
    uint64_t loops = 0;
    uint32_t out = 0, *source[4] = { &n.a, &n.b, &n.c, &n.r };
    bool leaf = n.kind <= ISA_SLICE_VARIABLE, whole = n.kind == ISA_SLICE_ROW;
    unsigned used = n.kind == ISA_SLICE_PAIR ? 3 : n.kind == ISA_SLICE_SELECT ? 11 : 1;

    if (n.kind == SLICE_PHI) {
        out = finish_phi(b, value);
        b->depth--;
        return out;
    }
    b->value[value].visiting = true;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t of = *source[k];

        *source[k] = 0;
        if (leaf || (whole ? of == SLICE_NONE : !(used >> k & 1)))
            continue;
        uint32_t node = finish(b, of);
        if (node == 0) {
            b->depth--;
            return as_rejected(b, value, of);
        }
        loops |= b->value[slice_resolve(b, of)].loops;
        *source[k] = node - 1;
    }
    b->value[value].visiting = false;
    out = put(b, value, n, loops);
    b->depth--;
    return out;
}

uint32_t slice_finish(struct slice_builder *b, uint32_t value, uint8_t *why, uint32_t *culprit)
{
    uint32_t out = finish(b, value);

    value = slice_resolve(b, value);
    b->used = b->value[value].loops;
    if (out == 0) {
        *why = (uint8_t)b->value[value].node.value;
        *culprit = b->value[value].node.a;
    }
    return out;
}
