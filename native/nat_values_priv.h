/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that nat_values.c and nat_emit.c share: registers in LLVM IR. */
#ifndef NAT_VALUES_PRIV_H
#define NAT_VALUES_PRIV_H

#include "native/nat_priv.h"

static inline void position(struct nat_unit *u, LLVMBasicBlockRef block)
{
    u->b.llvm->PositionBuilderAtEnd(u->b.b, block);
}
static inline LLVMTypeRef lanes_type(const struct nat_unit *u, LLVMTypeRef of)
{
    return u->b.llvm->VectorType(of, u->width);
}
static inline LLVMTypeRef mask_type(const struct nat_unit *u)
{
    return u->b.llvm->IntTypeInContext(u->b.context, u->width);
}
static inline LLVMValueRef word(const struct nat_unit *u, uint64_t value)
{
    return u->b.llvm->ConstInt(u->b.i32, value, 0);
}
static inline LLVMValueRef quad(const struct nat_unit *u, uint64_t value)
{
    return u->b.llvm->ConstInt(u->b.i64, value, 0);
}
static inline bool is_raw(const struct nat_unit *u, unsigned reg)
{
    return nat_has(&u->state.nan, NAT_V + reg);
}

/** Returns the value of a variable of u->values. */
LLVMValueRef nat_read_variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type);
/** Sets a variable of u->values. */
void nat_write_variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type, LLVMValueRef value);
/** Forgets all variables. Called when a new function begins, or with u->through a new block. */
void nat_forget_values(struct nat_unit *u);
/** Returns the address of a register's base (@which 0) or step (1) in frame->uniform. */
LLVMValueRef nat_uniform_address(struct nat_unit *u, unsigned reg, unsigned which);
/** Stores @value into the frame's member at byte @offset. */
void nat_put_member(struct nat_unit *u, LLVMValueRef value, size_t offset);
/** Returns the lanes of predicate @p in the register file, as an integer of the warp's width. */
LLVMValueRef nat_load_mask(struct nat_unit *u, unsigned p);
LLVMValueRef nat_load_scalar_predicate(struct nat_unit *u, unsigned p);
/** Stores a row of the register file in the lanes of the split. */
void nat_store_row(struct nat_unit *u, unsigned reg, LLVMValueRef value);
/** Stores those registers of @set that are not in the register file yet. */
void nat_spill(struct nat_unit *u, const struct nat_set *set);
/** Stores the predicates of @set. */
void nat_spill_predicates(struct nat_unit *u, const struct nat_set *set);
/** Returns an i1 that is true if @lanes, a vector of i1, is true in at least one executed lane. */
LLVMValueRef nat_any_lane(struct nat_unit *u, LLVMValueRef lanes);
/** Returns element @i of a vector. */
LLVMValueRef nat_lane(struct nat_unit *u, LLVMValueRef vector, unsigned i);

#endif
