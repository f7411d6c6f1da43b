/* SPDX-License-Identifier: Apache-2.0 */
/* Values of registers, found by a search backwards from their uses, and simplifications of values. */
#include "isa/slice/isa_slice_priv.h"

uint32_t slice_value_new(struct slice_builder *b, struct isa_slice_node node)
{
    if (!lw_grow(&b->value, &b->value_capacity, b->value_count + 1, sizeof *b->value)) {
        b->no_memory = true;
        return 0;
    }
    b->value[b->value_count] = (struct slice_value){ .node = node };
    return (uint32_t)b->value_count++;
}

uint32_t slice_reject(struct slice_builder *b, enum isa_slice_reject why, uint32_t insn)
{
    return slice_value_new(b, (struct isa_slice_node){ .kind = SLICE_REJECT, .value = why, .a = insn });
}

uint32_t slice_immediate(struct slice_builder *b, uint64_t value, unsigned bits)
{
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_IMMEDIATE, .bits = (uint8_t)bits,
                                                       .value = value });
}

static const struct isa_slice_node *node_of(const struct slice_builder *b, uint32_t value)
{
    return &b->value[value].node;
}

bool slice_is_reject(const struct slice_builder *b, uint32_t value)
{
    return node_of(b, value)->kind == SLICE_REJECT;
}

/** Returns the value to which @value is equal. @level: number of PHIs that are being resolved at present. The operands of a PHI
 *  are compared again only after some PHI has changed. */
static uint32_t resolve(struct slice_builder *b, uint32_t value, unsigned level)
{
    enum { DEEPEST = 32 }; /* greater than the depth of any nesting of loops */
    uint32_t same = SLICE_NONE;
    bool several = false;

    while (node_of(b, value)->kind == SLICE_SAME)
        value = node_of(b, value)->a;
    if (node_of(b, value)->kind != SLICE_PHI || b->value[value].operand == NULL || b->value[value].visiting ||
        b->value[value].looked_at == b->changes || level == DEEPEST)
        return value;
    b->value[value].looked_at = b->changes;
    b->value[value].visiting = true;
    for (uint32_t k = 0; k < node_of(b, value)->c && !several; k++) {
        uint32_t one = b->value[value].operand[k] = resolve(b, b->value[value].operand[k], level + 1);

        several = one != value && one != same && same != SLICE_NONE;
        same = one != value ? one : same;
    }
    b->value[value].visiting = false;
    if (several || same == SLICE_NONE) /* the operands differ, or (SLICE_NONE) control never enters the loop */
        return value;
    b->value[value].node = (struct isa_slice_node){ .kind = SLICE_SAME, .a = same };
    b->changes++;
    return same;
}

uint32_t slice_resolve(struct slice_builder *b, uint32_t value)
{
    return resolve(b, value, 0);
}

/* ---- words and predicates ---------------------------------------------------------- */

/** Returns true if @x and @y are the same value or equal constants. */
static bool same_node(const struct slice_builder *b, uint32_t x, uint32_t y)
{
    const struct isa_slice_node *n = node_of(b, x), *m = node_of(b, y);

    return x == y || (n->kind <= ISA_SLICE_VARIABLE && n->kind == m->kind && n->bits == m->bits && n->part == m->part &&
                      n->op == m->op && n->value == m->value);
}

/** Returns the 64-bit addition or subtraction that two 32-bit instructions with a carry between them compute, or ISA_OP_NONE if
 *  they compute no such operation. */
static enum isa_op carried(const struct slice_builder *b, const struct isa_slice_node *l, const struct isa_slice_node *h)
{
    bool minus = l->op == ISA_V_SUBC_U32;

    if (l->kind != ISA_SLICE_ROW || h->kind != ISA_SLICE_ROW || (l->op != ISA_V_ADDC_U32 && !minus) || h->op != l->op ||
        l->part != ISA_SLICE_D || h->part != ISA_SLICE_D)
        return ISA_OP_NONE;
    const struct isa_slice_node *in = node_of(b, l->r), *carry = node_of(b, h->r);
    if (in->kind != ISA_SLICE_IMMEDIATE || (in->value != 0) != minus || carry->kind != ISA_SLICE_ROW ||
        carry->op != l->op || carry->part != ISA_SLICE_P || !same_node(b, carry->r, l->r) ||
        !same_node(b, carry->a, l->a) || !same_node(b, carry->b, l->b))
        return ISA_OP_NONE;
    return minus ? ISA_V_SUB_U64 : ISA_V_ADD_U64;
}

uint32_t slice_pair(struct slice_builder *b, uint32_t low, uint32_t high)
{
    low = slice_resolve(b, low);
    high = slice_resolve(b, high);
    const struct isa_slice_node *l = node_of(b, low), *h = node_of(b, high);

    if (l->kind == SLICE_REJECT)
        return low;
    if (h->kind == SLICE_REJECT)
        return high;
    if (l->kind == ISA_SLICE_IMMEDIATE && h->kind == ISA_SLICE_IMMEDIATE)
        return slice_immediate(b, h->value << 32 | (uint32_t)l->value, 64);
    if (l->kind == ISA_SLICE_PARAM && h->kind == ISA_SLICE_PARAM && l->part == 0 && h->part == 0 &&
        h->value == l->value + 4)
        return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_PARAM, .bits = 64, .value = l->value });
    if (l->kind == ISA_SLICE_LOW && h->kind == ISA_SLICE_HIGH && same_node(b, l->a, h->a))
        return l->a;
    if (l->kind == ISA_SLICE_ROW && h->kind == ISA_SLICE_HIGH && b->value[low].from != 0 &&
        b->value[low].from == b->value[h->a].from)
        return h->a;
    enum isa_op sum = carried(b, l, h);
    if (sum != ISA_OP_NONE) {
        const uint32_t words[4] = { l->a, h->a, l->b, h->b };
        uint32_t first = slice_pair(b, words[0], words[1]), second = slice_pair(b, words[2], words[3]);

        return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_ROW, .bits = 64, .op = (uint16_t)sum,
                                   .a = first, .b = second, .c = SLICE_NONE, .r = SLICE_NONE });
    }
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_PAIR, .bits = 64, .a = low, .b = high });
}

uint32_t slice_word(struct slice_builder *b, uint32_t value, bool high)
{
    value = slice_resolve(b, value);
    const struct isa_slice_node *n = node_of(b, value);

    switch (n->kind) {
    case SLICE_REJECT: return value;
    case ISA_SLICE_PAIR: return high ? n->b : n->a;
    case ISA_SLICE_IMMEDIATE: return slice_immediate(b, (uint32_t)(high ? n->value >> 32 : n->value), 32);
    case ISA_SLICE_PARAM:
        return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_PARAM, .bits = 32,
                                                           .value = n->value + (high ? 4 : 0) });
    default: break;
    }
    return slice_value_new(b, (struct isa_slice_node){ .kind = high ? ISA_SLICE_HIGH : ISA_SLICE_LOW, .bits = 32,
                                                       .a = value });
}

uint32_t slice_not(struct slice_builder *b, uint32_t value)
{
    value = slice_resolve(b, value);
    const struct isa_slice_node *n = node_of(b, value);

    if (n->kind == SLICE_REJECT)
        return value;
    if (n->kind == ISA_SLICE_NOT)
        return n->a;
    if (n->kind == ISA_SLICE_IMMEDIATE)
        return slice_immediate(b, !n->value, 1);
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_NOT, .bits = 1, .a = value });
}

uint32_t slice_select(struct slice_builder *b, uint32_t condition, uint32_t yes, uint32_t no)
{
    const uint32_t all[3] = { slice_resolve(b, condition), slice_resolve(b, yes), slice_resolve(b, no) };

    if (all[1] == all[2])
        return all[1];
    for (unsigned k = 0; k < 3; k++)
        if (slice_is_reject(b, all[k]))
            return all[k];
    if (node_of(b, all[0])->kind == ISA_SLICE_IMMEDIATE)
        return node_of(b, all[0])->value != 0 ? all[1] : all[2];
    uint8_t bits = node_of(b, all[1])->bits;
    return slice_value_new(b, (struct isa_slice_node){ .kind = ISA_SLICE_SELECT, .bits = bits, .r = all[0],
                                                       .a = all[1], .b = all[2] });
}

/* ---- reading ------------------------------------------------------------------------- */

struct memo {
    uint64_t key;
    uint32_t value;
};

/** Returns the value that was stored with @key, or SLICE_NONE. */
static uint32_t recall(const struct slice_builder *b, uint64_t key)
{
    const struct memo *m = lw_table_find(&b->memo, sizeof *m, key);

    return m != NULL && m->key != 0 ? m->value : SLICE_NONE;
}

static uint32_t keep(struct slice_builder *b, uint64_t key, uint32_t value)
{
    bool is_new;
    struct memo *m = lw_table_add(&b->memo, sizeof *m, key, &is_new);

    if (m == NULL)
        b->no_memory = true;
    else
        m->value = value;
    return value;
}

static uint64_t key_of(uint32_t where, bool entry, unsigned reg, unsigned words)
{
    return (UINT64_C(2) + entry) << 60 | (uint64_t)where << 10 | reg * 2 | (words - 1);
}

static uint32_t read_in(struct slice_builder *b, unsigned reg, unsigned words, uint32_t block, uint32_t at);

uint32_t slice_guard(struct slice_builder *b, uint32_t insn)
{
    const struct isa_insn *in = &b->insn[insn];
    struct isa_reg_use use = { .reg_class = in->guard_scalar ? ISA_REG_SP : ISA_REG_P, .first = in->guard };

    if (in->guard == ISA_PT)
        return slice_immediate(b, !in->guard_neg, 1);
    uint32_t value = slice_read(b, isa_reg_number(&use), 1, insn);
    return in->guard_neg ? slice_not(b, value) : value;
}

/** Returns true if @insn is a call, or if one of its operands writes all of the registers. */
static bool writes_all(const struct isa_insn *insn, unsigned reg, unsigned words)
{
    struct isa_reg_use use[ISA_MAX_USES];
    unsigned n = isa_insn_uses(insn, use);

    for (unsigned u = 0; u < n; u++) {
        unsigned first = isa_reg_number(&use[u]);

        if (use[u].written && first <= reg && reg + words <= first + use[u].count)
            return true;
    }
    return isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL;
}

/** Returns the value of the registers after instruction @insn of @block, which writes at least one of the registers. */
static uint32_t read_def(struct slice_builder *b, unsigned reg, unsigned words, uint32_t block, uint32_t insn)
{
    uint64_t key = key_of(insn, false, reg, words);
    uint32_t value = recall(b, key);

    if (value != SLICE_NONE)
        return value;
    if (b->depth >= SLICE_DEPTH || b->value_count > 16 * (size_t)ISA_SLICE_NODES)
        return slice_reject(b, ISA_SLICE_SIZE, insn);
    b->depth++;
    if (!writes_all(&b->insn[insn], reg, words)) {
        uint32_t low = read_in(b, reg, 1, block, insn + 1), high = read_in(b, reg + 1, 1, block, insn + 1);

        value = slice_pair(b, low, high);
    } else {
        value = slice_result(b, insn, reg, words);
        if (slice_has_guard(&b->insn[insn]) && !slice_is_reject(b, value)) {
            uint32_t before = read_in(b, reg, words, block, insn);

            value = slice_select(b, slice_guard(b, insn), value, before);
        }
    }
    b->depth--;
    return keep(b, key, value);
}

/** Returns the value of the registers at the start of a block that has no predecessor or several. */
static uint32_t read_entry(struct slice_builder *b, unsigned reg, unsigned words, uint32_t block)
{
    uint64_t key = key_of(block, true, reg, words);
    uint32_t phi = recall(b, key), count = 0;
    uint32_t first = b->pred_at[block], end = b->pred_at[block + 1];
    unsigned bits = reg >= 384 ? 1 : 32 * words;

    if (phi != SLICE_NONE)
        return phi;
    if (first == end) /* the block is the function's entry */
        return keep(b, key, b->function->kernel ? slice_immediate(b, 0, bits)
                                                : slice_reject(b, ISA_SLICE_START, SLICE_NONE));
    if (b->depth >= SLICE_DEPTH)
        return slice_reject(b, ISA_SLICE_SIZE, b->flow.block[block].first);
    b->depth++;
    phi = slice_value_new(b, (struct isa_slice_node){ .kind = SLICE_PHI, .bits = (uint8_t)bits, .a = reg, .b = words,
                                                      .value = block });
    keep(b, key, phi);
    uint32_t *operand = lw_arena_alloc(&b->arena, (end - first + 2) * sizeof *operand);
    if (operand == NULL) {
        b->no_memory = true;
        b->depth--;
        return phi;
    }
    for (uint32_t p = first; p < end; p++) {
        const struct isa_block *from = &b->flow.block[b->pred[p]];

        if (b->dom_first[b->pred[p]] != 0) {
            uint32_t value = read_in(b, reg, words, b->pred[p], from->first + from->count);

            operand[count++] = value;
        } else {
            operand[count++] = phi; /* control never reaches the block from this predecessor, so the operand is the PHI itself */
        }
    }
    if (block == 0) /* the entry is also the header of a loop: one more operand is the value when the function is entered */
        operand[count++] = b->function->kernel ? slice_immediate(b, 0, bits)
                                               : slice_reject(b, ISA_SLICE_START, SLICE_NONE);
    b->value[phi].operand = operand;
    b->value[phi].node.c = count;
    b->changes++;
    b->depth--;
    return slice_resolve(b, phi);
}

static uint32_t read_in(struct slice_builder *b, unsigned reg, unsigned words, uint32_t block, uint32_t at)
{
    for (;;) {
        uint32_t def = slice_last_def(b, reg, block, at);
        uint32_t high = words == 2 ? slice_last_def(b, reg + 1, block, at) : SLICE_NONE;

        if (b->no_memory)
            return 0;
        if (def == SLICE_NONE || (high != SLICE_NONE && high > def))
            def = high;
        if (def != SLICE_NONE)
            return slice_resolve(b, read_def(b, reg, words, block, def));
        if (block == 0 || b->pred_at[block + 1] - b->pred_at[block] != 1 ||
            b->dom_first[b->pred[b->pred_at[block]]] == 0)
            return slice_resolve(b, read_entry(b, reg, words, block));
        block = b->pred[b->pred_at[block]];
        at = b->flow.block[block].first + b->flow.block[block].count;
    }
}

uint32_t slice_read(struct slice_builder *b, unsigned reg, unsigned words, uint32_t at)
{
    return read_in(b, reg, words, b->block_of[at], at);
}
