/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR of reductions in memory (the instruction red) with integers. The lanes of the access change memory one after another, the lowest
 * lane first. If all lanes have the same address, their values are first combined in registers, and memory changes once: the result
 * is the same, because the operations are associative and no lane reads the values in between.
 */
#include <stdio.h>

#include "native/nat_values_priv.h"

/** A reduction. */
struct reduction {
    unsigned op, bytes; /* modifier AOP; size of an element: 4 or 8 */
    bool is_signed;
    LLVMTypeRef type;    /* of an element */
    LLVMValueRef shares; /* an i1 that is true if other threads of the host access the memory at the same time; NULL: none ever do */
};

/** The operations, unsigned and signed: number in LLVM's atomic instruction, and end of the names of LLVM's functions that combine the
 *  elements of a vector and, for a minimum or maximum, two elements. */
static const struct operation {
    uint8_t atomic;
    const char *name;
} operations[][2] = {
    [ISA_AOP_ADD] = {{NAT_RMW_ADD, "add"}, {NAT_RMW_ADD, "add"}},    [ISA_AOP_AND] = {{NAT_RMW_AND, "and"}, {NAT_RMW_AND, "and"}},
    [ISA_AOP_OR] = {{NAT_RMW_OR, "or"}, {NAT_RMW_OR, "or"}},         [ISA_AOP_XOR] = {{NAT_RMW_XOR, "xor"}, {NAT_RMW_XOR, "xor"}},
    [ISA_AOP_MIN] = {{NAT_RMW_UMIN, "umin"}, {NAT_RMW_MIN, "smin"}}, [ISA_AOP_MAX] = {{NAT_RMW_UMAX, "umax"}, {NAT_RMW_MAX, "smax"}}};

/** Calls the function of LLVM whose name is @prefix and that of the operation. @type: of its first argument. */
static LLVMValueRef call_operation(struct nat_unit *u, const struct reduction *r, const char *prefix, LLVMTypeRef type, LLVMValueRef *args,
                                   unsigned count)
{
    char name[40];

    snprintf(name, sizeof name, "%s%s", prefix, operations[r->op][r->is_signed].name);
    return nat_intrinsic(&u->b, name, type, args, count);
}

/** Returns the result of the operation for element @old in memory and @x. */
static LLVMValueRef combine(struct nat_unit *u, const struct reduction *r, LLVMValueRef old, LLVMValueRef x)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef args[2] = {old, x};

    switch (r->op) {
    case ISA_AOP_ADD: return l->BuildAdd(u->b.b, old, x, "");
    case ISA_AOP_AND: return l->BuildAnd(u->b.b, old, x, "");
    case ISA_AOP_OR: return l->BuildOr(u->b.b, old, x, "");
    case ISA_AOP_XOR: return l->BuildXor(u->b.b, old, x, "");
    default: return call_operation(u, r, "llvm.", r->type, args, 2);
    }
}

/** Applies the operation with @x to the element at @pointer, which only this thread of the host accesses. Returns the element's old
 *  value. */
static LLVMValueRef change_alone(struct nat_unit *u, const struct reduction *r, LLVMValueRef pointer, LLVMValueRef x)
{
    LLVMValueRef old = u->b.llvm->BuildLoad2(u->b.b, r->type, pointer, "");

    u->b.llvm->SetAlignment(old, r->bytes);
    u->b.llvm->SetAlignment(u->b.llvm->BuildStore(u->b.b, combine(u, r, old, x), pointer), r->bytes);
    return old;
}

/** Applies the operation with @x to the element at @pointer. Returns a value of r->type that is not 0 if the element has changed. */
static LLVMValueRef change(struct nat_unit *u, const struct reduction *r, LLVMValueRef pointer, LLVMValueRef x)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef before;

    if (r->shares == NULL) {
        before = change_alone(u, r, pointer, x);
    } else {
        LLVMBasicBlockRef from[2] = {nat_new_block(u), nat_new_block(u)}, after = nat_new_block(u);
        LLVMValueRef old[2];
        (void)l->BuildCondBr(u->b.b, r->shares, from[0], from[1]);
        position(u, from[0]);
        old[0] = l->BuildAtomicRMW(u->b.b, operations[r->op][r->is_signed].atomic, pointer, x, NAT_ORDER_SEQUENTIAL, 0);
        (void)l->BuildBr(u->b.b, after);
        position(u, from[1]);
        old[1] = change_alone(u, r, pointer, x);
        (void)l->BuildBr(u->b.b, after);
        position(u, after);
        before = l->BuildPhi(u->b.b, r->type, "");
        l->AddIncoming(before, old, from, 2);
    }
    return l->BuildXor(u->b.b, before, combine(u, r, before, x), "");
}

/** Returns the value with which the operation changes nothing. */
static LLVMValueRef neutral(const struct reduction *r, const struct nat_llvm *l)
{
    const uint64_t all = r->bytes == 8 ? UINT64_MAX : UINT32_MAX, top = all ^ all >> 1;
    uint64_t value = 0;

    if (r->op == ISA_AOP_AND)
        value = all;
    else if (r->op == ISA_AOP_MIN)
        value = r->is_signed ? all ^ top : all;
    else if (r->op == ISA_AOP_MAX)
        value = r->is_signed ? top : 0;
    return l->ConstInt(r->type, value, 0);
}

/** Emits a reduction with the elements @all of the lanes to the element at @pointer. Returns an i1 that is true if one of the lanes
 *  has changed the element. */
static LLVMValueRef reduce_equal(struct nat_unit *u, const struct reduction *r, LLVMValueRef pointer, LLVMValueRef all)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef none = nat_splat(&u->b, neutral(r, l), u->width);

    if (u->lanes.some)
        all = l->BuildSelect(u->b.b, u->lanes.mask, all, none, "");
    LLVMValueRef changed = change(u, r, pointer, call_operation(u, r, "llvm.vector.reduce.", l->TypeOf(all), &all, 1));
    if (r->op == ISA_AOP_ADD || r->op == ISA_AOP_XOR) /* the sum may be neutral although the values of the lanes are not */
        return nat_any_lane(u, l->BuildICmp(u->b.b, NAT_INT_NE, all, none, ""));
    return l->BuildICmp(u->b.b, NAT_INT_NE, changed, l->ConstNull(r->type), "");
}

/** As reduce_equal(), for elements at offsets @at of @memory, with a loop over the lanes. */
static LLVMValueRef reduce_each(struct nat_unit *u, const struct reduction *r, LLVMValueRef memory, const struct nat_offsets *at,
                                LLVMValueRef all)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    LLVMTypeRef type = at->wide ? u->b.i64 : u->b.i32;
    LLVMBasicBlockRef from[2] = {l->GetInsertBlock(b), nat_new_block(u)}, after = nat_new_block(u);
    LLVMValueRef left[2] = {nat_access_bits(u), NULL}, changed[2] = {l->ConstNull(r->type), NULL};

    l->SetAlignment(l->BuildStore(b, at->index, nat_lane_variable(u, &u->offsets, 8)), 8);
    l->SetAlignment(l->BuildStore(b, all, nat_lane_variable(u, &u->elements, 16)), 8);
    (void)l->BuildBr(b, from[1]);
    position(u, from[1]);
    LLVMValueRef lanes = l->BuildPhi(b, u->b.i64, ""), sum = l->BuildPhi(b, r->type, "");
    LLVMValueRef args[2] = {lanes, l->ConstInt(u->b.i1, 1, 0)};
    LLVMBasicBlockRef head = from[1];
    LLVMValueRef lane = nat_intrinsic(&u->b, "llvm.cttz", u->b.i64, args, 2);
    LLVMValueRef index = l->BuildLoad2(b, type, l->BuildGEP2(b, type, u->offsets, &lane, 1, ""), "");
    LLVMValueRef x = l->BuildLoad2(b, r->type, l->BuildGEP2(b, r->type, u->elements, &lane, 1, ""), "");
    LLVMValueRef offset = l->BuildAdd(b, nat_scaled(u, at, index), at->base, "");
    changed[1] = l->BuildOr(b, sum, change(u, r, nat_address(u, memory, offset), x), "");
    left[1] = l->BuildAnd(b, lanes, l->BuildSub(b, lanes, quad(u, 1), ""), "");
    from[1] = l->GetInsertBlock(b);
    l->AddIncoming(lanes, left, from, 2);
    l->AddIncoming(sum, changed, from, 2);
    (void)l->BuildCondBr(b, l->BuildICmp(b, NAT_INT_NE, left[1], quad(u, 0), ""), head, after);
    position(u, after);
    return l->BuildICmp(b, NAT_INT_NE, changed[1], l->ConstNull(r->type), "");
}

void nat_emit_reduce(struct nat_unit *u, LLVMValueRef memory, const struct nat_offsets *at, bool equal)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct isa_insn *insn = &u->insn[u->at];
    const unsigned type = isa_mod_get(insn, ISA_MOD_ATYPE), reg = isa_x_reg(insn->x);
    const enum isa_space space = insn->op == ISA_RED_SHARED ? ISA_SPACE_SHARED : ISA_SPACE_GLOBAL;
    struct reduction r = {.op = isa_mod_get(insn, ISA_MOD_AOP), .bytes = isa_mem_bytes(insn),
                          .is_signed = type == ISA_ATYPE_S32 || type == ISA_ATYPE_S64};
    const bool wide = r.bytes == 8;
    LLVMValueRef all, changed;

    r.type = wide ? u->b.i64 : u->b.i32;
    if (space == ISA_SPACE_GLOBAL) /* all warps of a block run on the same thread of the host */
        r.shares = l->BuildICmp(u->b.b, NAT_INT_NE, nat_member(u, u->b.i64, offsetof(struct emu_native_frame, shares)), quad(u, 0), "");
    all = reg == ISA_VZ ? l->ConstNull(lanes_type(u, r.type)) : wide ? nat_get_pair(u, reg, false) : nat_get_lanes(u, reg, false);
    nat_check_lanes(u, space, at, r.bytes, true);
    if (equal) {
        LLVMValueRef offset = l->BuildAdd(u->b.b, nat_scaled(u, at, nat_first(u, at->index)), at->base, "");
        changed = reduce_equal(u, &r, nat_address(u, memory, offset), all);
    } else {
        changed = reduce_each(u, &r, memory, at, all);
    }
    changed = l->BuildZExt(u->b.b, changed, u->b.i64, "");
    (void)l->BuildStore(u->b.b, l->BuildOr(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->changes, ""), changed, ""), u->changes);
}
