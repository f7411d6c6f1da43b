/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the C expressions of isa/insns.def to LLVM IR. An expression defines what an instruction computes, both for the
 * interpreter, into which the C compiler compiles it at build time, and for native code. The table uses a subset of C:
 * integers of 32 and 64 bits, floats, casts, all operators but assignment, and calls of the functions in `functions`.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "native/nat_build_priv.h"

struct reader {
    const struct nat_build *b;
    const char *at, *end;
    const struct nat_name *names;
    unsigned count;
    bool failed;
};

static struct nat_value ternary(struct reader *r);

static struct nat_value fail(struct reader *r)
{
    r->failed = true;
    return nat_constant(r->b, NAT_U32, 0);
}
static void space(struct reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at))
        r->at++;
}
/** Accepts the operator @text, unless it is the start of a longer one. */
static bool accept(struct reader *r, const char *text)
{
    const size_t size = strlen(text);

    space(r);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0)
        return false;
    const char next = r->at + size < r->end ? r->at[size] : '\0';
    if (size == 1 && strchr("<>&|=!", *text) != NULL && (next == *text || next == '='))
        return false;
    r->at += size;
    return true;
}

/* ---- operators ---------------------------------------------------------------------------- */

static unsigned promoted(unsigned type)
{
    return type == NAT_BOOL ? NAT_S32 : type;
}
/** Converts both operands to their common type (C 6.3.1.8). */
static void balance(const struct nat_build *b, struct nat_value *x, struct nat_value *y)
{
    unsigned s = promoted(x->type), t = promoted(y->type), common;

    if (nat_is_float(s) || nat_is_float(t))
        common = s == NAT_F64 || t == NAT_F64 ? NAT_F64 : NAT_F32;
    else if (nat_is_wide(s) || nat_is_wide(t))
        common = s == NAT_U64 || t == NAT_U64 ? NAT_U64 : NAT_S64;
    else
        common = s == NAT_U32 || t == NAT_U32 ? NAT_U32 : NAT_S32;
    *x = nat_convert(b, *x, common);
    *y = nat_convert(b, *y, common);
    if (x->vector || y->vector) {
        *x = nat_vector(b, *x);
        *y = nat_vector(b, *y);
    }
}

enum operation { O_OR, O_XOR, O_AND, O_EQ, O_NE, O_LT, O_LE, O_GT, O_GE, O_SHL, O_SHR, O_ADD, O_SUB, O_MUL, O_DIV, O_ANDAND, O_OROR };
static const struct {
    const char *text;
    unsigned level;
    enum operation operation;
} operators[] = {
    {"||", 1, O_OROR}, {"&&", 2, O_ANDAND}, {"|", 3, O_OR}, {"^", 4, O_XOR}, {"&", 5, O_AND}, {"==", 6, O_EQ},
    {"!=", 6, O_NE}, {"<<", 8, O_SHL}, {">>", 8, O_SHR}, {"<=", 7, O_LE}, {">=", 7, O_GE}, {"<", 7, O_LT},
    {">", 7, O_GT}, {"+", 9, O_ADD}, {"-", 9, O_SUB}, {"*", 10, O_MUL}, {"/", 10, O_DIV},
};

static struct nat_value compare(const struct nat_build *b, enum operation o, struct nat_value x, struct nat_value y)
{
    static const int floats[] = {NAT_REAL_OEQ, NAT_REAL_UNE, NAT_REAL_OLT, NAT_REAL_OLE, NAT_REAL_OGT, NAT_REAL_OGE};
    static const int plain[] = {NAT_INT_EQ, NAT_INT_NE, NAT_INT_ULT, NAT_INT_ULE, NAT_INT_UGT, NAT_INT_UGE};
    static const int with_sign[] = {NAT_INT_EQ, NAT_INT_NE, NAT_INT_SLT, NAT_INT_SLE, NAT_INT_SGT, NAT_INT_SGE};
    const unsigned which = o - O_EQ;
    LLVMValueRef v = nat_is_float(x.type)  ? b->llvm->BuildFCmp(b->b, floats[which], x.v, y.v, "")
                     : nat_is_signed(x.type) ? b->llvm->BuildICmp(b->b, with_sign[which], x.v, y.v, "")
                                             : b->llvm->BuildICmp(b->b, plain[which], x.v, y.v, "");

    return (struct nat_value){v, NAT_BOOL, x.vector};
}

static struct nat_value shift(const struct nat_build *b, enum operation o, struct nat_value x, struct nat_value y)
{
    const struct nat_llvm *l = b->llvm;

    x = nat_convert(b, x, promoted(x.type));
    y = nat_convert(b, y, nat_is_wide(x.type) ? NAT_U64 : NAT_U32);
    if (x.vector || y.vector) {
        x = nat_vector(b, x);
        y = nat_vector(b, y);
    }
    x.v = o == O_SHL ? l->BuildShl(b->b, x.v, y.v, "")
          : nat_is_signed(x.type) ? l->BuildAShr(b->b, x.v, y.v, "") : l->BuildLShr(b->b, x.v, y.v, "");
    return x;
}

static struct nat_value apply(struct reader *r, enum operation o, struct nat_value x, struct nat_value y)
{
    const struct nat_build *b = r->b;
    const struct nat_llvm *l = b->llvm;

    if (o == O_SHL || o == O_SHR)
        return shift(b, o, x, y);
    if (o == O_ANDAND || o == O_OROR) { /* evaluates both operands, as operands in the table have no side effects */
        x = nat_convert(b, x, NAT_BOOL);
        y = nat_convert(b, y, NAT_BOOL);
        if (x.vector || y.vector) {
            x = nat_vector(b, x);
            y = nat_vector(b, y);
        }
        x.v = o == O_ANDAND ? l->BuildAnd(b->b, x.v, y.v, "") : l->BuildOr(b->b, x.v, y.v, "");
        return x;
    }
    balance(b, &x, &y);
    if (o >= O_EQ && o <= O_GE)
        return compare(b, o, x, y);
    const bool f = nat_is_float(x.type);
    switch (o) {
    case O_OR: x.v = l->BuildOr(b->b, x.v, y.v, ""); break;
    case O_XOR: x.v = l->BuildXor(b->b, x.v, y.v, ""); break;
    case O_AND: x.v = l->BuildAnd(b->b, x.v, y.v, ""); break;
    case O_ADD: x.v = f ? l->BuildFAdd(b->b, x.v, y.v, "") : l->BuildAdd(b->b, x.v, y.v, ""); break;
    case O_SUB: x.v = f ? l->BuildFSub(b->b, x.v, y.v, "") : l->BuildSub(b->b, x.v, y.v, ""); break;
    case O_MUL: x.v = f ? l->BuildFMul(b->b, x.v, y.v, "") : l->BuildMul(b->b, x.v, y.v, ""); break;
    case O_DIV:
        if (!f)
            return fail(r); /* the table divides integers by functions, which define division by zero */
        x.v = l->BuildFDiv(b->b, x.v, y.v, "");
        break;
    default: return fail(r);
    }
    return x;
}

/* ---- functions ---------------------------------------------------------------------------- */

enum { MOST_ARGS = 4 };
typedef bool function_fn(const struct nat_build *b, struct nat_value *a, struct nat_value *out);

/** Converts @count arguments to @type. If one argument is a vector, converts all to vectors. */
static void as(const struct nat_build *b, struct nat_value *a, unsigned count, unsigned type)
{
    bool vector = false;

    for (unsigned i = 0; i < count; i++) {
        a[i] = nat_convert(b, a[i], type);
        vector = vector || a[i].vector;
    }
    for (unsigned i = 0; vector && i < count; i++)
        a[i] = nat_vector(b, a[i]);
}
/** Returns zero in the type of @x. */
static LLVMValueRef zero_of(const struct nat_build *b, struct nat_value x)
{
    return b->llvm->ConstNull(b->llvm->TypeOf(x.v));
}
/** Returns the constant @value in the type of @x, as a vector if @x is one. */
static struct nat_value like(const struct nat_build *b, struct nat_value x, uint64_t value)
{
    struct nat_value c = nat_constant(b, x.type, value);

    return x.vector ? nat_vector(b, c) : c;
}

/** Divides. For operands for which LLVM's division is undefined, replaces the divisor by 1, and selects the result that the
 *  table defines. */
static struct nat_value divide(const struct nat_build *b, struct nat_value *a, unsigned type, bool remainder)
{
    const struct nat_llvm *l = b->llvm;
    const bool uniform = a[0].vector && !a[1].vector && !nat_is_wide(type);

    if (!uniform)
        as(b, a, 2, type);
    for (unsigned i = 0; uniform && i < 2; i++)
        a[i] = nat_convert(b, a[i], type);
    LLVMValueRef zero = l->BuildICmp(b->b, NAT_INT_EQ, a[1].v, zero_of(b, a[1]), ""), harmless = zero, minus = NULL;
    if (nat_is_signed(type)) {
        minus = l->BuildICmp(b->b, NAT_INT_EQ, a[1].v, like(b, a[1], ~UINT64_C(0)).v, "");
        harmless = l->BuildOr(b->b, zero, minus, "");
    }
    LLVMValueRef by = l->BuildSelect(b->b, harmless, like(b, a[1], 1).v, a[1].v, "");
    LLVMValueRef q;
    if (a[0].vector && !nat_is_wide(type)) {
        /* The host divides vectors of f64 only. The quotient of two 32-bit numbers has an error below 2^-21 / b, and its distance
         * to the next integer is 0 or at least 1 / b, so that rounding never reaches this integer. */
        const struct nat_value x = nat_convert(b, a[0], NAT_F64);
        const struct nat_value y = nat_convert(b, (struct nat_value){by, (uint8_t)type, !uniform}, NAT_F64);
        LLVMValueRef ratio;
        if (uniform) {
            /* The reciprocal of the divisor is a little too large: by 2^-50 of it, more than the two roundings. So the ratio is not
             * below the quotient, and exceeds it by less than 2^-49 of it, which is below 1 / b. */
            LLVMValueRef above = l->ConstReal(b->f64, 0x1.0000000000004p0), part = l->BuildFDiv(b->b, above, y.v, "");
            ratio = l->BuildFMul(b->b, x.v, nat_splat(b, part, b->width), "");
            by = nat_splat(b, by, b->width);
            zero = nat_splat(b, zero, b->width);
            minus = minus != NULL ? nat_splat(b, minus, b->width) : NULL;
        } else {
            ratio = l->BuildFDiv(b->b, x.v, y.v, "");
        }
        q = nat_is_signed(type) ? l->BuildFPToSI(b->b, ratio, l->TypeOf(by), "") : l->BuildFPToUI(b->b, ratio, l->TypeOf(by), "");
        if (remainder)
            q = l->BuildSub(b->b, a[0].v, l->BuildMul(b->b, q, by, ""), "");
    } else if (remainder) {
        q = nat_is_signed(type) ? l->BuildSRem(b->b, a[0].v, by, "") : l->BuildURem(b->b, a[0].v, by, "");
    } else {
        q = nat_is_signed(type) ? l->BuildSDiv(b->b, a[0].v, by, "") : l->BuildUDiv(b->b, a[0].v, by, "");
    }
    if (minus != NULL) /* divisor -1: the quotient is the negated dividend, which may wrap around; the remainder is 0, as
                        * with divisor 1 */
        q = remainder ? q : l->BuildSelect(b->b, minus, l->BuildSub(b->b, zero_of(b, a[0]), a[0].v, ""), q, "");
    q = l->BuildSelect(b->b, zero, like(b, a[0], ~UINT64_C(0)).v, q, "");
    return (struct nat_value){q, (uint8_t)type, a[0].vector};
}
#define DIVIDE(name, type, remainder)                                                         \
    static bool name(const struct nat_build *b, struct nat_value *a, struct nat_value *out)   \
    {                                                                                         \
        *out = divide(b, a, type, remainder);                                                 \
        return true;                                                                          \
    }
DIVIDE(div_u32, NAT_U32, false)
DIVIDE(div_s32, NAT_S32, false)
DIVIDE(rem_u32, NAT_U32, true)
DIVIDE(rem_s32, NAT_S32, true)
DIVIDE(div_u64, NAT_U64, false)
DIVIDE(div_s64, NAT_S64, false)
DIVIDE(rem_u64, NAT_U64, true)
DIVIDE(rem_s64, NAT_S64, true)

static bool mulhi(const struct nat_build *b, struct nat_value *a, unsigned type, struct nat_value *out)
{
    const struct nat_llvm *l = b->llvm;
    LLVMTypeRef wide = l->IntTypeInContext(b->context, 128), narrow;

    as(b, a, 2, type);
    narrow = l->TypeOf(a[0].v);
    if (a[0].vector)
        wide = l->VectorType(wide, b->width);
    LLVMValueRef x = type == NAT_S64 ? l->BuildSExt(b->b, a[0].v, wide, "") : l->BuildZExt(b->b, a[0].v, wide, "");
    LLVMValueRef y = type == NAT_S64 ? l->BuildSExt(b->b, a[1].v, wide, "") : l->BuildZExt(b->b, a[1].v, wide, "");
    LLVMValueRef bits = l->ConstInt(l->IntTypeInContext(b->context, 128), 64, 0);
    if (a[0].vector)
        bits = nat_splat(b, bits, b->width);
    LLVMValueRef p = l->BuildLShr(b->b, l->BuildMul(b->b, x, y, ""), bits, "");
    *out = (struct nat_value){l->BuildTrunc(b->b, p, narrow, ""), (uint8_t)type, a[0].vector};
    return true;
}
static bool mulhi_u64(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    return mulhi(b, a, NAT_U64, out);
}
static bool mulhi_s64(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    return mulhi(b, a, NAT_S64, out);
}

/** Calls an intrinsic of one integer. @flag: the intrinsic has a second argument, which requests a defined result for 0. */
static bool count_bits(const struct nat_build *b, struct nat_value *a, const char *name, bool flag, unsigned type,
                       unsigned result, struct nat_value *out)
{
    as(b, a, 1, type);
    LLVMValueRef args[2] = {a[0].v, b->llvm->ConstInt(b->i1, 0, 0)};
    struct nat_value v = {nat_intrinsic(b, name, b->llvm->TypeOf(a[0].v), args, flag ? 2 : 1), (uint8_t)type, a[0].vector};
    *out = nat_convert(b, v, result);
    return true;
}
#define BITS(function, name, flag, type, result)                                              \
    static bool function(const struct nat_build *b, struct nat_value *a, struct nat_value *out) \
    {                                                                                         \
        return count_bits(b, a, name, flag, type, result, out);                               \
    }
BITS(popcount32, "llvm.ctpop", false, NAT_U32, NAT_U32)
BITS(popcount64, "llvm.ctpop", false, NAT_U64, NAT_U32)
BITS(clz32, "llvm.ctlz", true, NAT_U32, NAT_U32)
BITS(clz64, "llvm.ctlz", true, NAT_U64, NAT_U32)
BITS(ctz32, "llvm.cttz", true, NAT_U32, NAT_U32)
BITS(ctz64, "llvm.cttz", true, NAT_U64, NAT_U32)
BITS(brev32, "llvm.bitreverse", false, NAT_U32, NAT_U32)
BITS(brev64, "llvm.bitreverse", false, NAT_U64, NAT_U64)

/** Compiles the expression @text, in which a, b and c name the values @a[0], @a[1] and @a[2]. */
static bool in_terms(const struct nat_build *b, const char *text, struct nat_value *a, unsigned count, struct nat_value *out)
{
    static const char *const letters[] = {"a", "b", "c"};
    struct nat_name names[3];

    for (unsigned i = 0; i < count; i++)
        names[i] = (struct nat_name){letters[i], a[i]};
    return nat_expression(b, text, strlen(text), names, count, out);
}
#define TERMS(function, count, text)                                                          \
    static bool function(const struct nat_build *b, struct nat_value *a, struct nat_value *out) \
    {                                                                                         \
        return in_terms(b, text, a, count, out);                                              \
    }
/* The expressions below compute what the functions of emu/lane/emu_math_priv.h compute. Those functions do not evaluate a
 * shift by a count out of range. Native code evaluates both sides of ?:, so each count is masked, and the result of a shift
 * by a count out of range is not selected. */
TERMS(bfe_u64, 2, "((b & 255) > 63 ? 0 : a >> (b & 63)) & ((b >> 8 & 255) > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (b >> 8 & 63)) - 1)")
TERMS(bfe_u32, 2, "(uint32_t)(((b & 255) > 63 ? 0 : (uint64_t)a >> (b & 63)) & ((b >> 8 & 255) > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (b >> 8 & 63)) - 1))")
TERMS(bfe_s64, 2, "(b >> 8 & 255) == 0 ? 0 : (b >> 8 & 255) > 63 ? a >> ((b & 255) > 63 ? 63 : (b & 63)) : "
      "(int64_t)((uint64_t)(a >> ((b & 255) > 63 ? 63 : (b & 63))) << (64 - (b >> 8 & 255) & 63)) >> (64 - (b >> 8 & 255) & 63)")
TERMS(bfe_s32, 2, "(int32_t)((b >> 8 & 255) == 0 ? 0 : (b >> 8 & 255) > 63 ? (int64_t)a >> ((b & 255) > 63 ? 63 : (b & 63)) : "
      "(int64_t)((uint64_t)((int64_t)a >> ((b & 255) > 63 ? 63 : (b & 63))) << (64 - (b >> 8 & 255) & 63)) >> (64 - (b >> 8 & 255) & 63))")
TERMS(bfi_b64, 3, "(b & 255) > 63 ? c : (c & ~(((b >> 8 & 255) > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (b >> 8 & 63)) - 1) << (b & 63))) | "
      "(a & ((b >> 8 & 255) > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (b >> 8 & 63)) - 1)) << (b & 63)")
TERMS(bfi_b32, 3, "(b & 255) > 31 ? c : (uint32_t)((c & ~(((b >> 8 & 255) > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (b >> 8 & 63)) - 1) << (b & 63))) | "
      "(a & ((b >> 8 & 255) > 63 ? ~UINT64_C(0) : (UINT64_C(1) << (b >> 8 & 63)) - 1)) << (b & 63))")
TERMS(funnel_l, 3, "(uint32_t)((((uint64_t)b << 32 | a) << (c > 32 ? 32 : c)) >> 32)")
TERMS(funnel_r, 3, "(uint32_t)(((uint64_t)b << 32 | a) >> (c > 32 ? 32 : c))")
TERMS(clamp_s32, 1, "a > INT64_C(2147483647) ? 2147483647 : a < 0 - INT64_C(2147483648) ? (int32_t)(0 - INT64_C(2147483648)) : (int32_t)a")

static bool fma_of(const struct nat_build *b, struct nat_value *a, unsigned type, struct nat_value *out)
{
    as(b, a, 3, type);
    LLVMValueRef args[3] = {a[0].v, a[1].v, a[2].v};
    *out = (struct nat_value){nat_intrinsic(b, "llvm.fma", b->llvm->TypeOf(a[0].v), args, 3), (uint8_t)type, a[0].vector};
    return true;
}
static bool fma_f32(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    return fma_of(b, a, NAT_F32, out);
}
static bool fma_f64(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    return fma_of(b, a, NAT_F64, out);
}
static bool sqrt_of(const struct nat_build *b, struct nat_value *a, unsigned type, struct nat_value *out)
{
    as(b, a, 1, type);
    *out = (struct nat_value){nat_intrinsic(b, "llvm.sqrt", b->llvm->TypeOf(a[0].v), &a[0].v, 1), (uint8_t)type, a[0].vector};
    return true;
}
static bool sqrt_f32(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    return sqrt_of(b, a, NAT_F32, out);
}
static bool sqrt_f64(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    return sqrt_of(b, a, NAT_F64, out);
}
static bool rsq_f32(const struct nat_build *b, struct nat_value *a, struct nat_value *out)
{
    struct nat_value root;

    (void)sqrt_of(b, a, NAT_F64, &root);
    return in_terms(b, "(float)(1.0 / a)", &root, 1, out);
}

/** Computes the smaller or larger of two floats, as EMU_MINMAX does. If one of the two is a NaN, the result is the other
 *  number. */
static bool least(const struct nat_build *b, struct nat_value *a, unsigned type, const char *text, struct nat_value *out)
{
    const unsigned bits = type == NAT_F32 ? NAT_S32 : NAT_S64;

    as(b, a, 2, type);
    struct nat_name names[3] = {{"a", a[0]}, {"b", a[1]}, {"s", nat_bits(b, a[0], bits)}};
    return nat_expression(b, text, strlen(text), names, 3, out);
}
#define LEAST(function, type, text)                                                           \
    static bool function(const struct nat_build *b, struct nat_value *a, struct nat_value *out) \
    {                                                                                         \
        return least(b, a, type, text, out);                                                  \
    }
LEAST(min_f32, NAT_F32, "a != a ? b : b != b ? a : a < b || (a == b && s < 0) ? a : b")
LEAST(max_f32, NAT_F32, "a != a ? b : b != b ? a : a > b || (a == b && !(s < 0)) ? a : b")
LEAST(min_f64, NAT_F64, "a != a ? b : b != b ? a : a < b || (a == b && s < 0) ? a : b")
LEAST(max_f64, NAT_F64, "a != a ? b : b != b ? a : a > b || (a == b && !(s < 0)) ? a : b")

static const struct {
    const char *name;
    unsigned args;
    function_fn *build;
} functions[] = {
    {"emu_div_u32", 2, div_u32}, {"emu_div_s32", 2, div_s32}, {"emu_rem_u32", 2, rem_u32}, {"emu_rem_s32", 2, rem_s32},
    {"emu_div_u64", 2, div_u64}, {"emu_div_s64", 2, div_s64}, {"emu_rem_u64", 2, rem_u64}, {"emu_rem_s64", 2, rem_s64},
    {"emu_mulhi_u64", 2, mulhi_u64}, {"emu_mulhi_s64", 2, mulhi_s64},
    {"__builtin_popcount", 1, popcount32}, {"__builtin_popcountll", 1, popcount64},
    {"__builtin_ctz", 1, ctz32}, {"__builtin_ctzll", 1, ctz64},
    {"emu_clz_b32", 1, clz32}, {"emu_clz_b64", 1, clz64}, {"emu_brev_b32", 1, brev32}, {"emu_brev_b64", 1, brev64},
    {"emu_bfe_u32", 2, bfe_u32}, {"emu_bfe_s32", 2, bfe_s32}, {"emu_bfe_u64", 2, bfe_u64}, {"emu_bfe_s64", 2, bfe_s64},
    {"emu_bfi_b32", 3, bfi_b32}, {"emu_bfi_b64", 3, bfi_b64}, {"emu_funnel_l", 3, funnel_l}, {"emu_funnel_r", 3, funnel_r},
    {"emu_clamp_s32", 1, clamp_s32}, {"emu_fma_f32", 3, fma_f32}, {"emu_fma_f64", 3, fma_f64},
    {"emu_sqrt_f32", 1, sqrt_f32}, {"emu_sqrt_f64", 1, sqrt_f64}, {"emu_rsq_f32", 1, rsq_f32},
    /* the third argument, the modifiers, is 0, because instructions with modifiers are not compiled from the table */
    {"emu_min_f32", 3, min_f32}, {"emu_max_f32", 3, max_f32}, {"emu_min_f64", 3, min_f64}, {"emu_max_f64", 3, max_f64},
};

/* ---- operands ----------------------------------------------------------------------------- */

static struct nat_value call(struct reader *r, const char *name, size_t size)
{
    struct nat_value a[MOST_ARGS], out;
    unsigned count = 0;

    do {
        if (count == MOST_ARGS)
            return fail(r);
        a[count++] = ternary(r);
    } while (accept(r, ","));
    if (!accept(r, ")") || r->failed)
        return fail(r);
    if ((size == 8 && memcmp(name, "UINT64_C", 8) == 0) || (size == 8 && memcmp(name, "UINT32_C", 8) == 0))
        return nat_convert(r->b, a[0], name[4] == '6' ? NAT_U64 : NAT_U32);
    if (size == 7 && memcmp(name, "INT64_C", 7) == 0)
        return nat_convert(r->b, a[0], NAT_S64);
    for (size_t i = 0; i < LW_COUNT_OF(functions); i++)
        if (strlen(functions[i].name) == size && memcmp(functions[i].name, name, size) == 0)
            return functions[i].args == count && functions[i].build(r->b, a, &out) ? out : fail(r);
    return fail(r);
}

static struct nat_value number(struct reader *r)
{
    const struct nat_build *b = r->b;
    char text[40];
    size_t size = 0;

    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '.') && size + 1 < sizeof text)
        text[size++] = *r->at++;
    text[size] = '\0';
    if (strchr(text, '.') != NULL && strchr(text, 'x') == NULL) {
        const bool single = text[size - 1] == 'f';
        return (struct nat_value){b->llvm->ConstReal(single ? b->f32 : b->f64, strtod(text, NULL)),
                                  single ? NAT_F32 : NAT_F64, false};
    }
    const uint64_t value = strtoull(text, NULL, 0);
    const bool is_unsigned = strchr(text, 'u') != NULL || value > INT32_MAX;
    return nat_constant(b, value > UINT32_MAX ? NAT_S64 : is_unsigned ? NAT_U32 : NAT_S32, value);
}

/** Returns the type with this name, or -1 if no type has the name. */
static int type_named(const char *name, size_t size)
{
    static const struct { const char *name; int type; } types[] = {
        {"uint32_t", NAT_U32}, {"int32_t", NAT_S32}, {"uint64_t", NAT_U64}, {"int64_t", NAT_S64},
        {"float", NAT_F32}, {"double", NAT_F64}};

    for (size_t i = 0; i < LW_COUNT_OF(types); i++)
        if (strlen(types[i].name) == size && memcmp(types[i].name, name, size) == 0)
            return types[i].type;
    return -1;
}
/** Returns the length of the name at the reader's position. */
static size_t name_size(const struct reader *r)
{
    const char *p = r->at;

    while (p < r->end && (isalnum((unsigned char)*p) || *p == '_'))
        p++;
    return (size_t)(p - r->at);
}

static struct nat_value unary(struct reader *r)
{
    const struct nat_build *b = r->b;
    struct nat_value x;

    space(r);
    if (r->at == r->end)
        return fail(r);
    if (accept(r, "~")) {
        x = unary(r);
        x = nat_convert(b, x, promoted(x.type));
        x.v = b->llvm->BuildNot(b->b, x.v, "");
        return nat_is_float(x.type) ? fail(r) : x;
    }
    if (*r->at == '!') {
        r->at++;
        x = nat_convert(b, unary(r), NAT_BOOL);
        x.v = b->llvm->BuildNot(b->b, x.v, "");
        return x;
    }
    if (accept(r, "(")) {
        space(r);
        const size_t size = name_size(r);
        const int type = type_named(r->at, size);
        if (type >= 0) {
            r->at += size;
            if (!accept(r, ")"))
                return fail(r);
            x = unary(r);
            if (nat_is_float(x.type) && !nat_is_float((unsigned)type))
                return fail(r); /* C and LLVM do not define a conversion of a float that does not fit the integer */
            return nat_convert(b, x, (unsigned)type);
        }
        x = ternary(r);
        return accept(r, ")") ? x : fail(r);
    }
    if (isdigit((unsigned char)*r->at))
        return number(r);
    const char *name = r->at;
    const size_t size = name_size(r);
    if (size == 0)
        return fail(r);
    r->at += size;
    if (accept(r, "("))
        return call(r, name, size);
    if (size == 9 && memcmp(name, "INT64_MAX", 9) == 0)
        return nat_constant(b, NAT_S64, INT64_MAX);
    for (unsigned i = 0; i < r->count; i++)
        if (strlen(r->names[i].name) == size && memcmp(r->names[i].name, name, size) == 0)
            return r->names[i].value;
    return fail(r);
}

static struct nat_value binary(struct reader *r, unsigned level)
{
    struct nat_value x = unary(r);

    for (bool more = true; more && !r->failed;) {
        more = false;
        for (size_t i = 0; i < LW_COUNT_OF(operators) && !more; i++) {
            const char *before = r->at;
            if (!accept(r, operators[i].text))
                continue;
            if (operators[i].level < level) {
                r->at = before;
                return x;
            }
            x = apply(r, operators[i].operation, x, binary(r, operators[i].level + 1));
            more = true;
        }
    }
    return x;
}

static struct nat_value ternary(struct reader *r)
{
    struct nat_value c = binary(r, 1);

    if (r->failed || !accept(r, "?"))
        return c;
    struct nat_value x = ternary(r);
    if (!accept(r, ":"))
        return fail(r);
    struct nat_value y = ternary(r);
    balance(r->b, &x, &y);
    return nat_select(r->b, nat_convert(r->b, c, NAT_BOOL), x, y);
}

bool nat_expression(const struct nat_build *b, const char *text, size_t size, const struct nat_name *names,
                    unsigned count, struct nat_value *out)
{
    struct reader r = {.b = b, .at = text, .end = text + size, .names = names, .count = count};

    *out = ternary(&r);
    space(&r);
    return !r.failed && r.at == r.end;
}
