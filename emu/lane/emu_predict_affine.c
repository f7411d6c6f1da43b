/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as sums of ids, each multiplied by a factor. Instructions combine such sums by the same rules by which they combine
 * affine tags (docs/explanation/uniform-affine.md). Sums are exact modulo 2^32 or 2^64. Before a value is widened to 64 bits, a
 * check ensures that it does not wrap for any thread of the launch.
 */
#include "emu/lane/emu_predict_priv.h"

#include <stdlib.h>

static struct emu_affine constant(uint64_t value)
{
    return (struct emu_affine){ .ok = true, .constant = value };
}

static bool is_constant(const struct emu_affine *x)
{
    static const int64_t none[6];

    return x->ok && memcmp(x->by, none, sizeof none) == 0;
}

/** Reduces @x modulo 2^bits. Factors are taken as signed, the constant as unsigned. */
static struct emu_affine cut(struct emu_affine x, unsigned bits)
{
    if (bits == 32) {
        x.constant = (uint32_t)x.constant;
        for (unsigned k = 0; k < 6; k++)
            x.by[k] = (int32_t)x.by[k];
    }
    return x;
}

static struct emu_affine add(struct emu_affine x, struct emu_affine y, unsigned bits)
{
    x.ok = x.ok && y.ok;
    x.constant += y.constant;
    for (unsigned k = 0; k < 6; k++)
        x.by[k] = (int64_t)((uint64_t)x.by[k] + (uint64_t)y.by[k]);
    return cut(x, bits);
}

static struct emu_affine scale(struct emu_affine x, uint64_t factor, unsigned bits)
{
    x.constant *= factor;
    for (unsigned k = 0; k < 6; k++)
        x.by[k] = (int64_t)((uint64_t)x.by[k] * factor);
    return cut(x, bits);
}

static struct emu_affine multiply(struct emu_affine x, struct emu_affine y, unsigned bits)
{
    if (is_constant(&x))
        return y.ok ? scale(y, x.constant, bits) : y;
    if (is_constant(&y))
        return x.ok ? scale(x, y.constant, bits) : x;
    return (struct emu_affine){ .ok = false };
}

/** Extends a 32-bit value to 64 bits. The result has no affine form unless the value is in the range of the 32-bit type for all
 *  ids of the launch. */
static struct emu_affine widen(const struct emu_predict *p, struct emu_affine x, bool is_signed)
{
    const struct emu_predict_launch *l = &p->launch;
    const __int128 least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
    __int128 low = 0, high = 0;

    for (unsigned k = 0; k < 6; k++) {
        __int128 by = (__int128)x.by[k] * ((k < 3 ? l->block[k] : l->grid[k - 3]) - INT64_C(1));

        low += by < 0 ? by : 0;
        high += by > 0 ? by : 0;
    }
    for (unsigned k = 0; k < 2; k++) {
        int64_t c = k == 0 ? (int64_t)(uint32_t)x.constant : (int64_t)(int32_t)x.constant;

        if (low + c >= least && high + c <= most) {
            x.constant = (uint64_t)c;
            return x;
        }
    }
    return (struct emu_affine){ .ok = false };
}

/** Returns the vector instruction that computes the same as the scalar instruction @op, or @op itself if @op is not scalar or has
 *  no vector counterpart. */
static enum isa_op vector_row(enum isa_op op)
{
    const char *name = isa_op_info(op)->mnemonic;
    char vector[32];
    size_t size = strlen(name);

    if (name[0] != 's' || name[1] != '_' || size >= sizeof vector)
        return op;
    memcpy(vector, name, size + 1);
    vector[0] = 'v';
    enum isa_op found = isa_op_find(vector, size);
    return found != ISA_OP_NONE ? found : op;
}

static struct emu_affine row(const struct emu_predict *p, const struct isa_slice_node *n, struct emu_affine a,
                             struct emu_affine b, struct emu_affine c)
{
    const struct emu_affine none = { .ok = false };
    enum isa_op op = vector_row((enum isa_op)n->op);
    const struct isa_insn insn = { .op = n->op, .mod = n->mod };
    unsigned type, bits = n->bits;
    bool is_signed;

    switch (isa_op_info(op)->tag) {
    case ISA_TAG_MOV: return b;
    case ISA_TAG_ADD: return add(a, b, bits);
    case ISA_TAG_SUB: return add(a, scale(b, UINT64_MAX, bits), bits);
    case ISA_TAG_NEG: return scale(b, UINT64_MAX, bits);
    case ISA_TAG_NOT: return add(scale(b, UINT64_MAX, bits), constant(UINT64_MAX), bits);
    case ISA_TAG_MUL: return multiply(a, b, bits);
    case ISA_TAG_MAD: return add(multiply(a, b, bits), c, bits);
    case ISA_TAG_MULWIDE: case ISA_TAG_MULWIDE_S:
        is_signed = isa_op_info(op)->tag == ISA_TAG_MULWIDE_S;
        return multiply(widen(p, a, is_signed), widen(p, b, is_signed), 64);
    case ISA_TAG_MADWIDE: case ISA_TAG_MADWIDE_S:
        is_signed = isa_op_info(op)->tag == ISA_TAG_MADWIDE_S;
        return add(multiply(widen(p, a, is_signed), widen(p, b, is_signed), 64), c, 64);
    case ISA_TAG_LEA: case ISA_TAG_LEA_S:
        a = widen(p, a, isa_op_info(op)->tag == ISA_TAG_LEA_S);
        return !is_constant(&b) ? none : add(scale(a, UINT64_C(1) << (b.constant & 31), 64), c, 64);
    case ISA_TAG_SHL: return is_constant(&b) && b.constant < bits ? scale(a, UINT64_C(1) << b.constant, bits) : none;
    case ISA_TAG_CVT:
        type = isa_mod_get(&insn, ISA_MOD_STYPE);
        if (isa_mod_get(&insn, ISA_MOD_CSAT) != ISA_CSAT_OFF || type < ISA_ST_U32 || isa_mod_get(&insn, ISA_MOD_DTYPE) < ISA_DT_U32)
            return none;
        return bits == 32 || type >= ISA_ST_U64 ? cut(b, bits) : widen(p, b, type == ISA_ST_S32);
    default: return none;
    }
}

static struct emu_affine node_affine(struct emu_predict *p, uint32_t number)
{
    const struct isa_slice_node *n = &p->slices->nodes[number];
    const struct emu_affine *f = p->affine, *a = &f[n->a], *b = &f[n->b], *c = &f[n->c];
    struct emu_affine out = { .ok = false };

    if (p->depends[number] == 0)
        return constant(p->value[number]);
    switch (n->kind) {
    case ISA_SLICE_SPECIAL:
        if (n->value == ISA_SR_LANEID)
            return out;
        out.ok = true;
        out.by[n->value <= ISA_SR_TID_Z ? n->value - ISA_SR_TID_X : 3 + n->value - ISA_SR_CTAID_X] = 1;
        return out;
    case ISA_SLICE_ROW: {
        unsigned links = isa_slice_sources((enum isa_op)n->op);
        bool known = (!(links & ISA_SLICE_A) || a->ok) && (!(links & ISA_SLICE_B) || b->ok) &&
                     (!(links & ISA_SLICE_C) || c->ok) && n->bits != 1;

        out = known ? row(p, n, *a, *b, *c) : out;
        if (known && !out.ok && (!(links & ISA_SLICE_A) || is_constant(a)) && (!(links & ISA_SLICE_B) || is_constant(b)) &&
            (!(links & ISA_SLICE_C) || is_constant(c)) && !(links & ISA_SLICE_R))
            out = constant(emu_predict_row(n, a->constant, b->constant, c->constant, false));
        return out;
    }
    case ISA_SLICE_PAIR: return a->ok && is_constant(b) && b->constant == 0 ? widen(p, *a, false) : out;
    case ISA_SLICE_LOW: return a->ok ? cut(*a, 32) : out;
    case ISA_SLICE_SELECT: return is_constant(&f[n->r]) ? f[n->r].constant != 0 ? *a : *b : out;
    case ISA_SLICE_INDUCTION: return *a;
    default: return out;
    }
}

bool emu_predict_affine(struct emu_predict *predict, uint32_t site, struct emu_predict_affine *out)
{
    const struct isa_slices *s = predict->slices;

    if (predict->affine == NULL) {
        predict->affine = calloc((size_t)s->node_count + 1, sizeof *predict->affine);
        if (predict->affine == NULL)
            return false;
        for (uint32_t i = 0; i < s->node_count; i++)
            predict->affine[i] = node_affine(predict, i);
    }
    const struct emu_affine *x = &predict->affine[s->sites[site].node];
    if (!x->ok)
        return false;
    out->constant = x->constant;
    for (unsigned k = 0; k < 3; k++) {
        out->tid[k] = x->by[k];
        out->ctaid[k] = x->by[3 + k];
    }
    return true;
}
