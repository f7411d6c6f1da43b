/* SPDX-License-Identifier: Apache-2.0 */
/* Builds typed LLVM values: constants, conversions, vectors, intrinsics. */
#include <string.h>

#include "native/nat_build_priv.h"

LLVMTypeRef nat_type_of(const struct nat_build *b, unsigned type, bool vector)
{
    LLVMTypeRef t = type == NAT_BOOL ? b->i1 : type == NAT_F32 ? b->f32 : type == NAT_F64 ? b->f64
                    : nat_is_wide(type) ? b->i64 : b->i32;

    return vector ? b->llvm->VectorType(t, b->width) : t;
}

struct nat_value nat_constant(const struct nat_build *b, unsigned type, uint64_t value)
{
    return (struct nat_value){b->llvm->ConstInt(nat_type_of(b, type, false), value, 0), (uint8_t)type, false};
}

void nat_likely(const struct nat_build *b, LLVMValueRef branch)
{
    const struct nat_llvm *l = b->llvm;
    LLVMValueRef weights[3] = {l->MDStringInContext(b->context, "branch_weights", 14), l->ConstInt(b->i32, 1 << 20, 0),
                               l->ConstInt(b->i32, 1, 0)};

    l->SetMetadata(branch, l->GetMDKindIDInContext(b->context, "prof", 4), l->MDNodeInContext(b->context, weights, 3));
}

void nat_streams(const struct nat_build *b, LLVMValueRef store)
{
    const struct nat_llvm *l = b->llvm;
    LLVMValueRef one = l->ConstInt(b->i32, 1, 0);

    l->SetMetadata(store, l->GetMDKindIDInContext(b->context, "nontemporal", 11), l->MDNodeInContext(b->context, &one, 1));
}

LLVMValueRef nat_splat(const struct nat_build *b, LLVMValueRef x, unsigned lanes)
{
    const struct nat_llvm *l = b->llvm;
    LLVMTypeRef type = l->VectorType(l->TypeOf(x), lanes);
    LLVMValueRef zero = l->ConstInt(b->i32, 0, 0);
    LLVMValueRef one = l->BuildInsertElement(b->b, l->GetUndef(type), x, zero, "");

    return l->BuildShuffleVector(b->b, one, l->GetUndef(type), l->ConstNull(l->VectorType(b->i32, lanes)), "");
}

struct nat_value nat_vector(const struct nat_build *b, struct nat_value x)
{
    if (!x.vector)
        x.v = nat_splat(b, x.v, b->width);
    x.vector = true;
    return x;
}

struct nat_value nat_convert(const struct nat_build *b, struct nat_value x, unsigned type)
{
    const struct nat_llvm *l = b->llvm;
    LLVMTypeRef to = nat_type_of(b, type, x.vector);
    const unsigned from = x.type;

    x.type = (uint8_t)type;
    if (from == type)
        return x;
    if (type == NAT_BOOL) {
        if (nat_is_float(from))
            x.v = l->BuildFCmp(b->b, NAT_REAL_UNE, x.v, l->ConstNull(l->TypeOf(x.v)), "");
        else
            x.v = l->BuildICmp(b->b, NAT_INT_NE, x.v, l->ConstNull(l->TypeOf(x.v)), "");
    } else if (from == NAT_BOOL) {
        x.v = nat_is_float(type) ? l->BuildUIToFP(b->b, x.v, to, "") : l->BuildZExt(b->b, x.v, to, "");
    } else if (nat_is_float(from) && nat_is_float(type)) {
        x.v = type == NAT_F64 ? l->BuildFPExt(b->b, x.v, to, "") : l->BuildFPTrunc(b->b, x.v, to, "");
    } else if (nat_is_float(type)) {
        x.v = nat_is_signed(from) ? l->BuildSIToFP(b->b, x.v, to, "") : l->BuildUIToFP(b->b, x.v, to, "");
    } else if (nat_is_float(from)) {
        x.v = l->BuildFPToSI(b->b, x.v, to, "");
    } else if (nat_is_wide(type) && !nat_is_wide(from)) {
        x.v = nat_is_signed(from) ? l->BuildSExt(b->b, x.v, to, "") : l->BuildZExt(b->b, x.v, to, "");
    } else if (nat_is_wide(from) && !nat_is_wide(type)) {
        x.v = l->BuildTrunc(b->b, x.v, to, "");
    }
    return x;
}

struct nat_value nat_bits(const struct nat_build *b, struct nat_value x, unsigned type)
{
    if (nat_is_float(x.type) != nat_is_float(type))
        x.v = b->llvm->BuildBitCast(b->b, x.v, nat_type_of(b, type, x.vector), "");
    x.type = (uint8_t)type;
    return x;
}

struct nat_value nat_select(const struct nat_build *b, struct nat_value c, struct nat_value x, struct nat_value y)
{
    const bool vector = c.vector || x.vector || y.vector;

    if (vector) {
        x = nat_vector(b, x);
        y = nat_vector(b, y);
    }
    return (struct nat_value){b->llvm->BuildSelect(b->b, c.v, x.v, y.v, ""), x.type, vector};
}

LLVMValueRef nat_intrinsic(const struct nat_build *b, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                           unsigned count)
{
    const struct nat_llvm *l = b->llvm;
    const unsigned id = l->LookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = l->GetIntrinsicDeclaration(b->module, id, &type, 1);

    return l->BuildCall2(b->b, l->IntrinsicGetType(b->context, id, &type, 1), function, args, count, "");
}

LLVMValueRef nat_shuffle(const struct nat_build *b, LLVMValueRef x, LLVMValueRef y, const int *lanes, unsigned count)
{
    const struct nat_llvm *l = b->llvm;
    LLVMValueRef mask[512];

    for (unsigned i = 0; i < count; i++)
        mask[i] = l->ConstInt(b->i32, (unsigned)lanes[i], 0);
    return l->BuildShuffleVector(b->b, x, y, l->ConstVector(mask, count), "");
}
