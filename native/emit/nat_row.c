/* SPDX-License-Identifier: Apache-2.0 */
/* IR of arithmetic, from the expressions of isa/insns.def. */
#include <string.h>

#include "native/nat_values_priv.h"

/** Returns true if the instruction flushes denormal sources and results to zero. */
static bool flushes(const struct isa_insn *insn)
{
    switch (nat_info(insn)->format) {
    case ISA_FMT_FLT:
    case ISA_FMT_FUN:
    case ISA_FMT_MNM: return isa_mod_get(insn, ISA_MOD_FTZ);
    case ISA_FMT_CMP: return isa_mod_get(insn, ISA_MOD_CMPFTZ);
    default: return false;
    }
}
/** Returns true if the instruction saturates its result to [0, 1]. */
static bool saturates(const struct isa_insn *insn)
{
    const unsigned format = nat_info(insn)->format;

    return (format == ISA_FMT_FLT || format == ISA_FMT_FUN) && isa_mod_get(insn, ISA_MOD_SAT);
}

/* ---- values ----------------------------------------------------------------------------------- */

/** Applies the modifiers of an integer source, complement and negation, to its value. */
static LLVMValueRef modify(const struct nat_unit *u, const struct nat_source *source, LLVMValueRef value)
{
    const struct nat_llvm *l = u->b.llvm;

    if (source->mods & 2)
        value = l->BuildNot(u->b.b, value, "");
    if (source->mods & 1)
        value = l->BuildSub(u->b.b, l->ConstNull(l->TypeOf(value)), value, "");
    return value;
}

/** Returns the value of @source, converted to @type. If @lanes is set, the value is a vector even if it is the same in all
 *  lanes. */
static struct nat_value get(struct nat_unit *u, const struct nat_source *source, unsigned type, bool lanes)
{
    const struct nat_build *b = &u->b;
    const struct nat_llvm *l = b->llvm;
    const bool wide = nat_is_wide(type), raw = nat_is_float(type);
    struct nat_source bare = *source;
    struct nat_value x;

    bare.mods = 0;
    const struct nat_shape shape = nat_source_shape(u, &u->state, &bare);
    if (!source->vector || source->reg == ISA_VZ) {
        x = (struct nat_value){nat_get_uniform(u, source), source->words == 2 ? NAT_U64 : NAT_U32, false};
        x = nat_convert(b, x, wide ? NAT_U64 : NAT_U32); /* the operand of a 64-bit instruction may be one word, such as the
                                                          * position of a bit field */
    } else if (shape.kind == NAT_SAME) {
        x = (struct nat_value){wide ? nat_get_base_pair(u, source->reg, raw) : nat_get_base(u, source->reg, raw),
                               wide ? NAT_U64 : NAT_U32, false};
    } else {
        x = (struct nat_value){wide ? nat_get_pair(u, source->reg, raw) : nat_get_lanes(u, source->reg, raw),
                               wide ? NAT_U64 : NAT_U32, true};
    }
    if (source->mods != 0 && nat_is_float(type)) { /* applies neg and abs to the bits, as the interpreter does */
        const uint64_t top = wide ? UINT64_C(1) << 63 : UINT32_C(1) << 31;
        struct nat_value mask = nat_constant(b, wide ? NAT_U64 : NAT_U32, top);
        struct nat_value rest = nat_constant(b, wide ? NAT_U64 : NAT_U32, wide ? ~top : ~top & UINT32_MAX);
        if (x.vector) {
            mask = nat_vector(b, mask);
            rest = nat_vector(b, rest);
        }
        if (source->mods & 2)
            x.v = l->BuildAnd(b->b, x.v, rest.v, "");
        if (source->mods & 1)
            x.v = l->BuildXor(b->b, x.v, mask.v, "");
    } else {
        x.v = modify(u, source, x.v);
    }
    x = nat_bits(b, x, type);
    return lanes ? nat_vector(b, x) : x;
}

/** Returns the bits of a result as u32 or u64. */
static struct nat_value bits_of(const struct nat_build *b, struct nat_value x)
{
    return nat_bits(b, x, nat_is_wide(x.type) ? NAT_U64 : NAT_U32);
}

/** Compiles the expression @text, in which x names the value @x. */
static struct nat_value in_terms_of(const struct nat_build *b, const char *text, struct nat_value x)
{
    const struct nat_name name = {"x", x};
    struct nat_value out;

    (void)nat_expression(b, text, strlen(text), &name, 1, &out);
    return out;
}
/** Replaces denormals by zeros of the same sign, if the instruction does so. */
static struct nat_value flush(const struct nat_build *b, const struct isa_insn *insn, struct nat_value x)
{
    if (!flushes(insn) || !nat_is_float(x.type))
        return x;
    struct nat_value bits = in_terms_of(b, x.type == NAT_F32 ? "(x & 0x7f800000u) == 0 ? x & 0x80000000u : x"
                                           : "(x & UINT64_C(0x7ff0000000000000)) == 0 ? x & UINT64_C(0x8000000000000000) : x",
                                        bits_of(b, x));
    return nat_bits(b, bits, x.type);
}
/** Applies the modifiers of the result. */
static struct nat_value finish(const struct nat_build *b, const struct isa_insn *insn, struct nat_value x)
{
    x = flush(b, insn, x);
    if (saturates(insn) && nat_is_float(x.type)) /* a NaN saturates to +0 */
        x = in_terms_of(b, x.type == NAT_F32 ? "x >= 1.0f ? 1.0f : x > 0.0f ? x : 0.0f" : "x >= 1.0 ? 1.0 : x > 0.0 ? x : 0.0", x);
    return x;
}

static void put_result(struct nat_unit *u, unsigned reg, unsigned words, struct nat_value x)
{
    const struct nat_build *b = &u->b;
    const struct nat_llvm *l = b->llvm;
    LLVMTypeRef word = x.vector ? l->VectorType(b->i32, u->width) : b->i32;
    LLVMTypeRef wide = x.vector ? l->VectorType(b->i64, u->width) : b->i64;

    if (reg == ISA_VZ)
        return;
    if (words == 1) {
        if (x.vector)
            nat_put_lanes(u, reg, x.v);
        else
            nat_put_same(u, reg, x.v);
        return;
    }
    struct nat_value bits = nat_constant(b, NAT_U64, 32);
    if (x.vector)
        bits = nat_vector(b, bits);
    LLVMValueRef low = l->BuildTrunc(b->b, x.v, word, "");
    LLVMValueRef high = l->BuildTrunc(b->b, l->BuildLShr(b->b, x.v, bits.v, ""), word, "");
    (void)wide;
    if (x.vector) {
        nat_put_lanes(u, reg, low);
        nat_put_lanes(u, reg + 1, high);
    } else {
        nat_put_same(u, reg, low);
        nat_put_same(u, reg + 1, high);
    }
}

/** Replaces the result by the register's old value in lanes in which the guard is false. */
static struct nat_value blend(struct nat_unit *u, const struct isa_insn *insn, unsigned words, struct nat_value x, bool lanes)
{
    const struct nat_build *b = &u->b;

    if (insn->guard == ISA_PT)
        return lanes ? nat_vector(b, x) : x;
    const struct nat_value guard = nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar);
    const struct nat_source old = {.words = words, .vector = true, .reg = insn->d};
    if (insn->d == ISA_VZ)
        return x;
    const struct nat_value before = get(u, &old, words == 2 ? NAT_U64 : NAT_U32, lanes);
    return nat_select(b, guard, x, before);
}

/* ---- affine results --------------------------------------------------------------------------- */

/** Base of a source whose shape is NAT_SAME or NAT_AFFINE, and its step sy from one row of the lane grid to the next. */
struct line {
    LLVMValueRef base, step;
};
static struct line line_of(struct nat_unit *u, const struct nat_source *source, const struct nat_shape *shape)
{
    const struct nat_llvm *l = u->b.llvm;
    const bool wide = source->words == 2;
    struct line line = {NULL, NULL};
    LLVMTypeRef type = wide ? u->b.i64 : u->b.i32;

    if (source->words == 0) {
        line.base = l->ConstNull(u->b.i32);
    } else if (!source->vector || source->reg == ISA_VZ) {
        line.base = modify(u, source, nat_get_uniform(u, source));
    } else {
        line.base = wide ? nat_get_base_pair(u, source->reg, false) : nat_get_base(u, source->reg, false);
        if (shape->kind == NAT_AFFINE)
            line.step = nat_get_step(u, source->reg, source->words);
    }
    if (line.step == NULL)
        line.step = l->ConstNull(type);
    return line;
}
static LLVMValueRef extend_word(const struct nat_unit *u, LLVMValueRef x, bool is_signed)
{
    return is_signed ? u->b.llvm->BuildSExt(u->b.b, x, u->b.i64, "") : u->b.llvm->BuildZExt(u->b.b, x, u->b.i64, "");
}
/** Widens an affine 32-bit source. Emits code that leaves native code if a lane's value wraps. */
static struct line widen(struct nat_unit *u, struct line line, const struct nat_shape *shape, bool is_signed)
{
    struct line wide;

    if (shape->kind != NAT_AFFINE) {
        wide.base = extend_word(u, line.base, is_signed);
        wide.step = u->b.llvm->ConstNull(u->b.i64);
        return wide;
    }
    nat_extend(u, is_signed, line.base, shape->sx, line.step, &wide.base, &wide.step);
    return wide;
}

/** Emits an instruction whose result is affine. */
static void emit_affine(struct nat_unit *u, const struct isa_insn *insn, const struct nat_source source[3],
                        const struct nat_shape shape[3])
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const struct isa_op_info *info = nat_info(insn);
    bool pair = isa_op_words(info, ISA_TOK_VD, ISA_TOK_VD2) == 2, is_signed = false;
    struct line x[3], d;

    for (unsigned i = 0; i < 3; i++)
        x[i] = line_of(u, &source[i], &shape[i]);
    if (nat_zero_extends(insn, &shape[1])) {
        nat_extend(u, false, l->BuildTrunc(b, x[0].base, u->b.i32, ""), (int32_t)shape[0].sx,
                   l->BuildTrunc(b, x[0].step, u->b.i32, ""), &d.base, &d.step);
        nat_put_affine(u, insn->d, true, d.base, d.step);
        return;
    }
    switch (info->tag) {
    case ISA_TAG_MOV: d = x[1]; break;
    case ISA_TAG_ADD:
        d.base = l->BuildAdd(b, x[0].base, x[1].base, "");
        d.step = l->BuildAdd(b, x[0].step, x[1].step, "");
        break;
    case ISA_TAG_SUB:
        d.base = l->BuildSub(b, x[0].base, x[1].base, "");
        d.step = l->BuildSub(b, x[0].step, x[1].step, "");
        break;
    case ISA_TAG_SHL: {
        LLVMValueRef by = pair ? l->BuildZExt(b, x[1].base, u->b.i64, "") : x[1].base;
        d.base = l->BuildShl(b, x[0].base, by, "");
        d.step = l->BuildShl(b, x[0].step, by, "");
        break;
    }
    case ISA_TAG_CVT:
        is_signed = (isa_mod_get(insn, ISA_MOD_STYPE) & 1) != 0;
        pair = source[1].words == 1 && isa_mod_get(insn, ISA_MOD_DTYPE) >= ISA_DT_U64;
        if (pair) {
            d = widen(u, x[1], &shape[1], is_signed);
        } else if (source[1].words == 2 && isa_mod_get(insn, ISA_MOD_DTYPE) < ISA_DT_U64) {
            d.base = l->BuildTrunc(b, x[1].base, u->b.i32, "");
            d.step = l->BuildTrunc(b, x[1].step, u->b.i32, "");
        } else {
            d = x[1];
            pair = source[1].words == 2;
        }
        break;
    case ISA_TAG_LEA:
    case ISA_TAG_LEA_S: {
        const struct line wide = widen(u, x[0], &shape[0], info->tag == ISA_TAG_LEA_S);
        LLVMValueRef by = l->BuildZExt(b, x[1].base, u->b.i64, "");
        d.base = l->BuildAdd(b, l->BuildShl(b, wide.base, by, ""), x[2].base, "");
        d.step = l->BuildAdd(b, l->BuildShl(b, wide.step, by, ""), x[2].step, "");
        break;
    }
    default: { /* Products. The product is affine because one factor is the same in all lanes. */
        is_signed = info->tag == ISA_TAG_MULWIDE_S || info->tag == ISA_TAG_MADWIDE_S;
        const bool widens = info->tag != ISA_TAG_MUL && info->tag != ISA_TAG_MAD;
        struct line p = x[0], q = x[1];
        if (widens) {
            p = widen(u, p, &shape[0], is_signed);
            q = widen(u, q, &shape[1], is_signed);
        }
        d.base = l->BuildMul(b, p.base, q.base, "");
        d.step = shape[0].kind == NAT_AFFINE ? l->BuildMul(b, p.step, q.base, "") : l->BuildMul(b, q.step, p.base, "");
        if (info->tag == ISA_TAG_MAD || info->tag == ISA_TAG_MADWIDE || info->tag == ISA_TAG_MADWIDE_S) {
            d.base = l->BuildAdd(b, d.base, x[2].base, "");
            d.step = l->BuildAdd(b, d.step, x[2].step, "");
        }
        break;
    }
    }
    nat_put_affine(u, insn->d, pair, d.base, d.step);
}

/* ---- instructions ----------------------------------------------------------------------------- */

/** Sets @row's names: sources of the types of the table. Uniform values stay scalars, by which a division is faster. */
static unsigned name_sources(struct nat_unit *u, const struct isa_insn *insn, const struct nat_row *row,
                             const struct nat_source source[3], struct nat_name *names)
{
    static const char *const letters[] = {"a", "b", "c"};
    const unsigned types[] = {row->a, row->b, row->c};
    unsigned count = 0;

    for (unsigned i = 0; i < 3; i++)
        if (source[i].words != 0)
            names[count++] = (struct nat_name){letters[i], flush(&u->b, insn, get(u, &source[i], types[i], false))};
    names[count++] = (struct nat_name){"sub", nat_constant(&u->b, NAT_U32, 0)};
    return count;
}

/** Emits an instruction whose semantics are LANEW: two expressions, which compute the two words of the result. */
static bool emit_words(struct nat_unit *u, const struct isa_insn *insn, const struct nat_row *row,
                       const struct nat_source source[3], bool lanes)
{
    static const char *const low[] = {"al", "bl", "cl"}, *const high[] = {"ah", "bh", "ch"};
    const struct nat_build *b = &u->b;
    struct nat_name names[8];
    struct nat_value words[2];
    unsigned count = 0, depth = 0;
    const char *comma = row->text;

    for (unsigned i = 0; i < 3; i++) {
        if (source[i].words == 0)
            continue;
        const struct nat_value x = get(u, &source[i], source[i].words == 2 ? NAT_U64 : NAT_U32, lanes);
        names[count++] = (struct nat_name){low[i], nat_convert(b, x, NAT_U32)};
        if (source[i].words == 2) {
            struct nat_value by = nat_constant(b, NAT_U64, 32), h = x;
            h.v = b->llvm->BuildLShr(b->b, x.v, (x.vector ? nat_vector(b, by) : by).v, "");
            names[count++] = (struct nat_name){high[i], nat_convert(b, h, NAT_U32)};
        }
    }
    for (; *comma != ',' || depth != 0; comma++)
        depth += (*comma == '(') - (unsigned)(*comma == ')');
    if (!nat_expression(b, row->text, (size_t)(comma - row->text), names, count, &words[0]))
        return false;
    words[0] = nat_convert(b, words[0], NAT_U32);
    names[count++] = (struct nat_name){"lo", words[0]};
    if (!nat_expression(b, comma + 1, (size_t)(row->text + row->size - comma - 1), names, count, &words[1]))
        return false;
    words[1] = nat_convert(b, words[1], NAT_U32);
    for (unsigned k = 0; k < 2 && insn->d != ISA_VZ; k++) {
        struct nat_value x = words[k];
        if (insn->guard != ISA_PT) {
            const struct nat_source old = {.words = 1, .vector = true, .reg = insn->d + k};
            x = nat_select(b, nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar), x,
                           get(u, &old, NAT_U32, lanes));
        }
        if (lanes)
            nat_put_lanes(u, insn->d + k, nat_vector(b, x).v);
        else
            nat_put_same(u, insn->d + k, x.v);
    }
    return true;
}

static struct nat_value compare(const struct nat_build *b, unsigned cmp, struct nat_value x, struct nat_value y)
{
    static const int floats[] = {NAT_REAL_OEQ, NAT_REAL_ONE, NAT_REAL_OLT, NAT_REAL_OLE, NAT_REAL_OGT, NAT_REAL_OGE,
                                 NAT_REAL_UEQ, NAT_REAL_UNE, NAT_REAL_ULT, NAT_REAL_ULE, NAT_REAL_UGT, NAT_REAL_UGE,
                                 NAT_REAL_ORD, NAT_REAL_UNO};
    static const int plain[] = {NAT_INT_EQ, NAT_INT_NE, NAT_INT_ULT, NAT_INT_ULE, NAT_INT_UGT, NAT_INT_UGE};
    static const int with_sign[] = {NAT_INT_EQ, NAT_INT_NE, NAT_INT_SLT, NAT_INT_SLE, NAT_INT_SGT, NAT_INT_SGE};
    const bool vector = x.vector || y.vector;
    LLVMValueRef v;

    if (vector) {
        x = nat_vector(b, x);
        y = nat_vector(b, y);
    }
    if (nat_is_float(x.type))
        v = b->llvm->BuildFCmp(b->b, floats[cmp], x.v, y.v, "");
    else if (cmp >= ISA_CMP_NUM)
        return nat_constant(b, NAT_BOOL, cmp == ISA_CMP_NUM);
    else
        v = b->llvm->BuildICmp(b->b, (nat_is_signed(x.type) ? with_sign : plain)[cmp % 6], x.v, y.v, "");
    return (struct nat_value){v, NAT_BOOL, vector};
}

static struct nat_value logic(const struct nat_build *b, unsigned operation, struct nat_value x, struct nat_value y)
{
    if (x.vector || y.vector) {
        x = nat_vector(b, x);
        y = nat_vector(b, y);
    }
    x.v = operation == ISA_BOOL_AND  ? b->llvm->BuildAnd(b->b, x.v, y.v, "")
          : operation == ISA_BOOL_OR ? b->llvm->BuildOr(b->b, x.v, y.v, "") : b->llvm->BuildXor(b->b, x.v, y.v, "");
    return x;
}

/** Writes predicates P and Q of the instruction. */
static void put_predicates(struct nat_unit *u, const struct isa_insn *insn, struct nat_value p, struct nat_value q)
{
    const struct nat_build *b = &u->b;
    const unsigned to[2] = {isa_insn_p(insn), isa_insn_q(insn)};
    struct nat_value out[2] = {p, q};

    for (unsigned k = 0; k < 2; k++) { /* computes both results before it writes one, because the instruction may overwrite its
                                        * own guard or R */
        if (to[k] == ISA_PT || insn->guard == ISA_PT)
            continue;
        const struct nat_value guard = nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar);
        const struct nat_value old = nat_get_predicate(u, to[k], false, false);
        out[k] = nat_select(b, guard.vector || !(out[k].vector || old.vector) ? guard : nat_vector(b, guard),
                            guard.vector ? nat_vector(b, out[k]) : out[k], old);
    }
    /* Q is written after P */
    for (unsigned k = 0; k < 2; k++)
        if (to[k] != ISA_PT)
            nat_put_predicate(u, to[k], out[k]);
}

static bool emit_compare(struct nat_unit *u, const struct isa_insn *insn, const struct nat_row *row,
                         const struct nat_source source[3])
{
    const struct nat_build *b = &u->b;
    struct nat_value p = compare(b, isa_mod_get(insn, ISA_MOD_CMP), flush(b, insn, get(u, &source[0], row->a, false)),
                                 flush(b, insn, get(u, &source[1], row->b, false))), q = p;
    const unsigned operation = isa_mod_get(insn, ISA_MOD_BOOL);

    q.v = b->llvm->BuildNot(b->b, p.v, "");
    if (operation != ISA_BOOL_NONE) {
        const struct nat_value r = nat_get_predicate(u, isa_insn_r(insn), isa_insn_r_neg(insn), row->scalar);
        p = logic(b, operation, p, r);
        q = logic(b, operation, q, r);
    }
    if (row->scalar) {
        const unsigned reg = isa_insn_p(insn);
        if (insn->guard != ISA_PT)
            p = nat_select(b, nat_get_predicate(u, insn->guard, insn->guard_neg, true), p, nat_get_predicate(u, reg, false, true));
        if (reg != ISA_PT)
            nat_put_scalar_predicate(u, reg, p.v);
        return true;
    }
    put_predicates(u, insn, p, q);
    return true;
}

/** Returns the function of @count values whose truth table is @table. Bit k of @table is the result for the values x[i] that are
 *  bits i of k. LLVM replaces the emitted operations by the host's own instruction for truth tables. Emits no term that has no
 *  effect, because LLVM 19 can combine vectors of i1 in such terms without end. */
static LLVMValueRef by_table(struct nat_unit *u, unsigned table, const struct nat_value *x, unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;

    if (count == 0) {
        LLVMTypeRef type = l->TypeOf(x[0].v);

        return table & 1 ? l->BuildNot(b, l->ConstNull(type), "") : l->ConstNull(type);
    }
    /* the values of the function without and with the last value, as tables of the other values */
    const unsigned half = 1u << (count - 1), all = (1u << half) - 1, low = table & all, high = table >> half & all;
    LLVMValueRef last = x[--count].v;

    if (low == high)
        return by_table(u, low, x, count);
    if (low == 0)
        return high == all ? last : l->BuildAnd(b, last, by_table(u, high, x, count), "");
    if (high == all)
        return l->BuildOr(b, last, by_table(u, low, x, count), "");
    if (low != all && high == (~low & all))
        return l->BuildXor(b, last, by_table(u, low, x, count), "");
    LLVMValueRef inverse = l->BuildNot(b, last, "");
    if (high == 0)
        return low == all ? inverse : l->BuildAnd(b, inverse, by_table(u, low, x, count), "");
    if (low == all)
        return l->BuildOr(b, inverse, by_table(u, high, x, count), "");
    return l->BuildOr(b, l->BuildAnd(b, last, by_table(u, high, x, count), ""),
                      l->BuildAnd(b, inverse, by_table(u, low, x, count), ""), "");
}

/** Returns the function of three values whose truth table is @table, in which x[0] selects the highest bit of the index. */
static struct nat_value by_table_of_three(struct nat_unit *u, unsigned table, const struct nat_value x[3])
{
    const bool vector = x[0].vector || x[1].vector || x[2].vector;
    struct nat_value from_lowest[3], out;

    for (unsigned i = 0; i < 3; i++)
        from_lowest[2 - i] = vector ? nat_vector(&u->b, x[i]) : x[i];
    out = from_lowest[0];
    out.v = by_table(u, table, from_lowest, 3);
    return out;
}

static bool emit_lop3(struct nat_unit *u, const struct isa_insn *insn, const struct nat_source source[3], struct nat_value *out)
{
    struct nat_value x[3];

    for (unsigned i = 0; i < 3; i++)
        x[i] = source[i].words != 0 ? get(u, &source[i], NAT_U32, false) : nat_constant(&u->b, NAT_U32, 0);
    *out = by_table_of_three(u, isa_insn_lut(insn), x);
    return true;
}

/** Emits a prmt whose selector is a constant: bytes of a source that move by the same distance move together. Returns false for
 *  other selectors. */
static bool emit_prmt(struct nat_unit *u, const struct isa_insn *insn, const struct nat_source source[3], bool lanes,
                      struct nat_value *out)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_shape selector = nat_source_shape(u, &u->state, &source[1]);
    unsigned pick[4];
    LLVMValueRef sum = NULL;

    if (selector.kind != NAT_SAME || !selector.known)
        return false;
    for (unsigned i = 0; i < 4; i++)
        pick[i] = isa_prmt_pick(isa_mod_get(insn, ISA_MOD_PRMT), (uint32_t)selector.value, i);
    for (unsigned from = 0; from < 2; from++) {
        LLVMValueRef x = get(u, &source[2 * from], NAT_U32, lanes).v;

#define NUMBER(n) (lanes ? nat_splat(&u->b, l->ConstInt(u->b.i32, (n), 0), u->width) : l->ConstInt(u->b.i32, (n), 0))
        for (int distance = -3; distance <= 7; distance++) { /* -3 to 3: bytes that move by this distance; 4 to 7: the sign of
                                                              * byte `distance - 4` */
            const unsigned of = (unsigned)(distance - 4);
            LLVMValueRef part = x;
            uint32_t mask = 0;

            for (unsigned i = 0; i < 4; i++)
                if ((pick[i] >> 2 & 1) == from && (distance > 3 ? pick[i] >= 8 && (pick[i] & 3) == of
                                                                : pick[i] < 8 && (int)i - (int)(pick[i] & 3) == distance))
                    mask |= UINT32_C(0xff) << (8 * i);
            if (mask == 0)
                continue;
            if (distance > 3)
                part = l->BuildAShr(u->b.b, l->BuildShl(u->b.b, x, NUMBER(24 - 8 * of), ""), NUMBER(31), "");
            else if (distance > 0)
                part = l->BuildShl(u->b.b, x, NUMBER(8 * (unsigned)distance), "");
            else if (distance < 0)
                part = l->BuildLShr(u->b.b, x, NUMBER(8 * (unsigned)-distance), "");
            part = l->BuildAnd(u->b.b, part, NUMBER(mask), "");
            sum = sum == NULL ? part : l->BuildOr(u->b.b, sum, part, "");
        }
#undef NUMBER
    }
    *out = (struct nat_value){sum, NAT_U32, lanes};
    return true;
}

/** Emits a call of the emulator's function for instruction @op of semantics ROW1, an f32 function. Its NaNs are canonical. */
static struct nat_value call_function(struct nat_unit *u, unsigned op, struct nat_value x)
{
    const struct nat_llvm *l = u->b.llvm;
    const unsigned lanes = x.vector && u->width > EMU_ROW_LANES ? u->width : EMU_ROW_LANES;
    LLVMTypeRef types[3] = {u->b.pointer, u->b.pointer, u->b.i32}, type = nat_type_of(&u->b, NAT_F32, x.vector);
    LLVMValueRef row = nat_lane_variable(u, &u->elements, 16), args[3] = {row, row, l->ConstInt(u->b.i32, lanes, 0)};
    LLVMValueRef functions = nat_member(u, u->b.pointer, offsetof(struct emu_native_frame, row_functions));
    LLVMValueRef offset = l->ConstInt(u->b.i64, op * sizeof(void *), 0);
    LLVMValueRef function = l->BuildLoad2(u->b.b, u->b.pointer, nat_address(u, functions, offset), "");

    (void)l->BuildStore(u->b.b, x.v, row);
    (void)l->BuildCall2(u->b.b, l->FunctionType(u->b.none, types, 3, 0), function, args, 3, "");
    return (struct nat_value){l->BuildLoad2(u->b.b, type, row, ""), NAT_F32, x.vector};
}

static bool emit_plop3(struct nat_unit *u, const struct isa_insn *insn)
{
    struct nat_value x[3] = {nat_get_predicate(u, isa_insn_ra(insn), isa_insn_ra_neg(insn), false),
                             nat_get_predicate(u, isa_insn_rb(insn), isa_insn_rb_neg(insn), false),
                             nat_get_predicate(u, isa_insn_r(insn), isa_insn_r_neg(insn), false)};
    struct nat_value p = by_table_of_three(u, isa_x_reg(insn->x), x), q = p;

    q.v = u->b.llvm->BuildNot(u->b.b, p.v, "");
    put_predicates(u, insn, p, q);
    return true;
}

static struct nat_value to_integer(const struct nat_build *b, struct nat_value x, unsigned type)
{
    const struct nat_llvm *l = b->llvm;
    const char *name = nat_is_signed(type) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMTypeRef types[2] = {nat_type_of(b, type, x.vector), l->TypeOf(x.v)};
    const unsigned id = l->LookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = l->GetIntrinsicDeclaration(b->module, id, types, 2);

    return (struct nat_value){l->BuildCall2(b->b, l->IntrinsicGetType(b->context, id, types, 2), function, &x.v, 1, ""),
                              (uint8_t)type, x.vector};
}

/** Emits a conversion. Returns false for conversions that are not common, which the interpreter's handler executes. */
static bool emit_convert(struct nat_unit *u, const struct isa_insn *insn, const struct nat_source source[3],
                         struct nat_value *out)
{
    static const uint8_t types[] = {NAT_U32, NAT_S32, NAT_U32, NAT_S32, NAT_U32, NAT_S32, NAT_U64, NAT_S64};
    const struct nat_build *b = &u->b;
    const struct nat_llvm *l = b->llvm;
    const unsigned to = isa_mod_get(insn, ISA_MOD_DTYPE), from = isa_mod_get(insn, ISA_MOD_STYPE);
    const unsigned rounding = isa_mod_get(insn, ISA_MOD_CRND);
    const bool nearest = (rounding & 3) == 0, zero = (rounding & 3) == 1;

    if (isa_mod_get(insn, ISA_MOD_CSAT) || isa_mod_get(insn, ISA_MOD_CFTZ))
        return false;
    if (to <= ISA_DT_S64 && from <= ISA_ST_S64) {
        struct nat_value x = get(u, &source[1], types[from], false);
        if (to < ISA_DT_U32)
            return false;
        if (from < ISA_ST_U32) {
            LLVMTypeRef narrow = from < ISA_ST_U16 ? b->i8 : b->i16, wide = nat_type_of(b, NAT_U32, x.vector);
            if (x.vector)
                narrow = l->VectorType(narrow, b->width);
            x.v = l->BuildTrunc(b->b, x.v, narrow, "");
            x.v = from & 1 ? l->BuildSExt(b->b, x.v, wide, "") : l->BuildZExt(b->b, x.v, wide, "");
        }
        *out = nat_convert(b, x, types[to]);
        return true;
    }
    if ((to == ISA_DT_F32 || to == ISA_DT_F64) && (from | 1) == ISA_ST_S32) {
        if (to == ISA_DT_F32 && !nearest)
            return false;
        *out = nat_convert(b, get(u, &source[1], types[from], false), to == ISA_DT_F32 ? NAT_F32 : NAT_F64);
        return true;
    }
    if ((to == ISA_DT_F64 && from == ISA_ST_F32 && rounding < 4) || (to == ISA_DT_F32 && from == ISA_ST_F64 && rounding == 0)) {
        *out = nat_convert(b, get(u, &source[1], to == ISA_DT_F64 ? NAT_F32 : NAT_F64, false), to == ISA_DT_F64 ? NAT_F64 : NAT_F32);
        return true;
    }
    if ((to | 1) == ISA_DT_S32 && from == ISA_ST_F32 && zero) {
        *out = to_integer(b, get(u, &source[1], NAT_F32, false), types[to]);
        return true;
    }
    return false;
}

/** Emits a read of a thread's position in its block or warp. Returns false for other special registers, and for positions that
 *  are neither uniform nor affine. */
static bool emit_position(struct nat_unit *u, const struct isa_insn *insn, enum isa_special sr, const struct nat_shape *shape)
{
    const struct nat_llvm *l = u->b.llvm;
    const uint32_t *block = u->job->block;
    LLVMValueRef value, x = l->ConstInt(u->b.i32, block[0], 0), y = l->ConstInt(u->b.i32, block[1], 0);

    if ((sr != ISA_SR_TID_X && sr != ISA_SR_TID_Y && sr != ISA_SR_TID_Z && sr != ISA_SR_LANEID) || nat_info(insn)->flags & ISA_F_SCALAR ||
        (shape->kind != NAT_SAME && shape->kind != NAT_AFFINE))
        return false;
    value = nat_member(u, u->b.i32, offsetof(struct emu_native_frame, first_thread)); /* the position of the warp's first thread */
    if (u->ended != NULL) {
        LLVMValueRef ended = l->BuildTrunc(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->ended, ""), u->b.i32, "");
        value = l->BuildAdd(u->b.b, value, l->BuildMul(u->b.b, ended, l->ConstInt(u->b.i32, u->job->width, 0), ""), "");
    }
    if (sr == ISA_SR_LANEID)
        value = l->ConstInt(u->b.i32, 0, 0);
    else if (sr == ISA_SR_TID_X)
        value = l->BuildURem(u->b.b, value, x, "");
    else
        value = l->BuildUDiv(u->b.b, value, x, "");
    if (sr == ISA_SR_TID_Y)
        value = l->BuildURem(u->b.b, value, y, "");
    else if (sr == ISA_SR_TID_Z)
        value = l->BuildUDiv(u->b.b, value, y, "");
    if (shape->kind == NAT_SAME)
        nat_put_same(u, insn->d, value);
    else
        nat_put_affine(u, insn->d, false, value, l->ConstInt(u->b.i32, (uint64_t)shape->sy, 0));
    return true;
}

static bool emit_special(struct nat_unit *u, const struct isa_insn *insn)
{
    const enum isa_special sr = (enum isa_special)insn->x;
    const struct nat_shape shape = nat_special_shape(u, sr);
    const struct nat_build *b = &u->b;
    const unsigned of_block = (unsigned)sr - ISA_SR_NTID_X;
    LLVMValueRef value;
    uint32_t known;

    if (insn->guard == ISA_PT && insn->d != ISA_VZ && emit_position(u, insn, sr, &shape))
        return true;
    if (of_block >= (unsigned)(ISA_SR_WORKDIM + 1 - ISA_SR_NTID_X)) {
        if (nat_info(insn)->flags & ISA_F_SCALAR || insn->guard != ISA_PT || insn->d == ISA_VZ)
            return false;
        /* the interpreter's handler copies the special register to the destination register; the shape determines which
         * lanes of the destination are read */
        nat_emit_generic(u);
        if (shape.kind != NAT_SAME && shape.kind != NAT_AFFINE)
            return true;
        LLVMValueRef row = nat_load_lanes(u, insn->d);
        value = shape.kind == NAT_SAME ? nat_first(u, row) : nat_base_of(u, false, row, shape.sx, shape.sy);
        if (shape.kind == NAT_SAME)
            nat_put_same(u, insn->d, value);
        else
            nat_put_affine(u, insn->d, false, value, b->llvm->ConstInt(b->i32, (uint64_t)shape.sy, 0));
        return true;
    }
    if (nat_known_special(u, sr, &known)) {
        value = b->llvm->ConstInt(b->i32, known, 0);
    } else {
        value = b->llvm->BuildLoad2(b->b, b->i32, nat_address(u, u->special, b->llvm->ConstInt(b->i64, of_block * 4, 0)), "");
        b->llvm->SetAlignment(value, 4);
    }
    struct nat_value x = {value, NAT_U32, false};
    if (nat_info(insn)->flags & ISA_F_SCALAR) {
        if (insn->guard != ISA_PT)
            x = nat_select(b, nat_get_predicate(u, insn->guard, insn->guard_neg, true), x,
                           (struct nat_value){nat_get_scalar(u, insn->d), NAT_U32, false});
        nat_put_scalar(u, insn->d, x.v);
        return true;
    }
    struct nat_state after = u->state;
    nat_shape_step(u, &after, u->at);
    const bool lanes = insn->d != ISA_VZ && after.v[insn->d].kind != NAT_SAME;
    put_result(u, insn->d, 1, blend(u, insn, 1, x, lanes));
    return true;
}

static bool emit_scalar(struct nat_unit *u, const struct isa_insn *insn, const struct nat_row *row, const struct nat_source source[3])
{
    const struct nat_build *b = &u->b;
    const struct nat_llvm *l = b->llvm;
    struct nat_name names[6];
    struct nat_value x;

    if (row->semantics == NAT_SEM_COMPARE)
        return emit_compare(u, insn, row, source);
    unsigned count = name_sources(u, insn, row, source, names);
    if (row->semantics == NAT_SEM_PICK)
        names[count++] = (struct nat_name){"r", nat_get_predicate(u, isa_insn_r(insn), isa_insn_r_neg(insn), true)};
    if (!nat_expression(b, row->text, row->size, names, count, &x))
        return false;
    x = bits_of(b, nat_convert(b, x, row->type));
    const unsigned words = nat_is_wide(row->type) ? 2 : 1;
    for (unsigned k = 0; k < words && insn->d + k < 128; k++) {
        struct nat_value word = x;
        if (words == 2) {
            word.v = k == 0 ? x.v : l->BuildLShr(b->b, x.v, l->ConstInt(b->i64, 32, 0), "");
            word.v = l->BuildTrunc(b->b, word.v, b->i32, "");
            word.type = NAT_U32;
        }
        if (insn->guard != ISA_PT)
            word = nat_select(b, nat_get_predicate(u, insn->guard, insn->guard_neg, true), word,
                              (struct nat_value){nat_get_scalar(u, insn->d + k), NAT_U32, false});
        nat_put_scalar(u, insn->d + k, word.v);
    }
    return true;
}

/** Emits an instruction of kind NAT_ROW. Returns false if the interpreter's handler must execute the instruction. */
static bool emit(struct nat_unit *u, const struct isa_insn *insn)
{
    const struct isa_op_info *info = nat_info(insn);
    const struct nat_build *b = &u->b;
    struct nat_source source[3];
    struct nat_shape shape[3];
    struct nat_name names[6];
    struct nat_value x;
    struct nat_row row = {.semantics = NAT_SEM_NONE};

    if (insn->op == ISA_V_S2R || insn->op == ISA_S_S2R)
        return emit_special(u, insn);
    if (insn->op == ISA_V_PLOP3)
        return emit_plop3(u, insn);
    nat_sources(insn, source);
    (void)nat_row_of(info, &row);
    if (info->flags & ISA_F_SCALAR)
        return row.scalar && emit_scalar(u, insn, &row, source);
    if (row.semantics == NAT_SEM_COMPARE)
        return emit_compare(u, insn, &row, source);
    for (unsigned k = 0; k < 3; k++)
        shape[k] = nat_source_shape(u, &u->state, &source[k]);
    struct nat_state after = u->state;
    nat_shape_step(u, &after, u->at);
    const struct nat_shape *result = insn->d == ISA_VZ ? &(struct nat_shape){.kind = NAT_LANES} : &after.v[insn->d];
    if (result->kind == NAT_AFFINE) {
        emit_affine(u, insn, source, shape);
        return true;
    }
    const bool lanes = result->kind != NAT_SAME;
    if (row.semantics == NAT_SEM_WORDS)
        return emit_words(u, insn, &row, source, lanes);
    if (insn->op == ISA_V_LOP3_B32) {
        if (!emit_lop3(u, insn, source, &x))
            return false;
    } else if (insn->op == ISA_V_PRMT_B32) {
        if (!emit_prmt(u, insn, source, lanes, &x))
            return false;
    } else if (row.semantics == NAT_SEM_FUNCTION) {
        x = finish(b, insn, call_function(u, insn->op, flush(b, insn, get(u, &source[1], row.b, lanes))));
    } else if (insn->op == ISA_V_CVT) {
        if (!emit_convert(u, insn, source, &x))
            return false;
    } else {
        unsigned count = name_sources(u, insn, &row, source, names);
        if (row.semantics == NAT_SEM_PICK)
            names[count++] = (struct nat_name){"r", nat_get_predicate(u, isa_insn_r(insn), isa_insn_r_neg(insn), false)};
        if (!nat_expression(b, row.text, row.size, names, count, &x))
            return false;
        x = finish(b, insn, nat_convert(b, x, row.type));
        x = lanes ? nat_vector(b, x) : x;
    }
    const unsigned words = nat_is_wide(x.type) ? 2 : 1;
    if (x.type == NAT_F64) { /* NaNs of f64 become canonical here; NaNs of f32 become canonical where their bits are
                              * read */
        const struct nat_value is = {b->llvm->BuildFCmp(b->b, NAT_REAL_UNO, x.v, x.v, ""), NAT_BOOL, x.vector};
        x = nat_select(b, is, nat_constant(b, NAT_U64, UINT64_C(0x7ff8000000000000)), bits_of(b, x));
    }
    const bool is_float = x.type == NAT_F32;
    x = bits_of(b, x);
    if (is_float && insn->d != ISA_VZ && !nat_has(&after.nan, NAT_V + insn->d))
        x.v = nat_canonical(u, x.v, x.vector);
    put_result(u, insn->d, words, blend(u, insn, words, x, lanes));
    return true;
}

void nat_extend(struct nat_unit *u, bool is_signed, LLVMValueRef base, int64_t sx, LLVMValueRef step, LLVMValueRef *wide_base,
                LLVMValueRef *wide_step)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const int64_t x_end = sx * (int64_t)(u->columns - 1);

    *wide_base = is_signed ? l->BuildSExt(b, base, u->b.i64, "") : l->BuildZExt(b, base, u->b.i64, "");
    *wide_step = l->BuildSExt(b, step, u->b.i64, "");
    LLVMValueRef low = l->BuildAdd(b, *wide_base, quad(u, (uint64_t)(x_end < 0 ? x_end : 0)), "");
    LLVMValueRef high = l->BuildAdd(b, *wide_base, quad(u, (uint64_t)(x_end > 0 ? x_end : 0)), "");
    if (u->rows > 1) {
        LLVMValueRef way = l->BuildMul(b, *wide_step, quad(u, u->rows - 1), ""), zero = quad(u, 0);
        LLVMValueRef down = l->BuildICmp(b, NAT_INT_SLT, way, zero, "");
        low = l->BuildAdd(b, low, l->BuildSelect(b, down, way, zero, ""), "");
        high = l->BuildAdd(b, high, l->BuildSelect(b, down, zero, way, ""), "");
    }
    LLVMValueRef fits;
    if (is_signed)
        fits = l->BuildAnd(b, l->BuildICmp(b, NAT_INT_SGE, low, quad(u, (uint64_t)INT32_MIN), ""),
                           l->BuildICmp(b, NAT_INT_SLE, high, quad(u, INT32_MAX), ""), "");
    else
        fits = l->BuildAnd(b, l->BuildICmp(b, NAT_INT_SGE, low, quad(u, 0), ""),
                           l->BuildICmp(b, NAT_INT_SLE, high, quad(u, UINT32_MAX), ""), "");
    nat_leave_unless(u, fits);
}

void nat_emit_row(struct nat_unit *u)
{
    if (!emit(u, &u->insn[u->at]))
        nat_emit_generic(u);
}
