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
/** Returns the address of the struct emu_warp of the warp that is being executed. */
LLVMValueRef nat_warp(struct nat_unit *u);
/** Returns the address of a register's base (@which 0) or step (1) in frame->uniform. */
LLVMValueRef nat_uniform_address(struct nat_unit *u, unsigned reg, unsigned which);
/** Stores @value into the frame's member at byte @offset. */
void nat_put_member(struct nat_unit *u, LLVMValueRef value, size_t offset);
/** Returns the lanes of predicate @p in the register file, as an integer of the warp's width. */
LLVMValueRef nat_load_mask(struct nat_unit *u, unsigned p);
LLVMValueRef nat_load_scalar_predicate(struct nat_unit *u, unsigned p);
/** Stores a row of the register file in the lanes of the split. */
void nat_store_row(struct nat_unit *u, unsigned reg, LLVMValueRef value);
/** Stores to the register file those registers of @set that are not there yet. */
void nat_spill(struct nat_unit *u, const struct nat_set *set);
/** Stores the predicates of @set. */
void nat_spill_predicates(struct nat_unit *u, const struct nat_set *set);
/** Loads the base and step of a register from frame->uniform into its variables. */
void nat_load_uniform(struct nat_unit *u, unsigned r, const struct nat_shape *shape);
/** Returns an i1 that is true if predicate @p has the same value in all executed lanes. *@any receives that value. */
LLVMValueRef nat_predicate_agrees(struct nat_unit *u, unsigned p, LLVMValueRef *any);
/** Returns the shared function that enters or leaves with the registers of @live in the shapes of u->state, or NULL if
 *  memory is short. */
struct nat_shared *nat_shared_function(struct nat_unit *u, const struct nat_set *live, bool enter);
/** Stores the registers of @live, whose shapes are in u->state, in frame->uniform or the register file, as a parked warp
 *  requires. */
void nat_park(struct nat_unit *u, const struct nat_set *live);
/** Emits the code that resumes a warp that is parked for block @b, and the code that stores the registers of such a warp. Adds their
 *  entries to the switches @resumes and @unparks. */
void nat_emit_resume(struct nat_unit *u, const struct nat_block *b, LLVMValueRef resumes, LLVMValueRef unparks);
/** Emits a counter that starts at 0, and returns its address. The counter is the frame's member at @offset with u->through,
 *  otherwise a variable. */
LLVMValueRef nat_counter(struct nat_unit *u, size_t offset);
/** Stores predicate @p in the lanes of the split. */
void nat_store_predicate(struct nat_unit *u, unsigned p, struct nat_value value);
/** Counts the instructions of @b, all of which have been emitted, and its loads and stores. */
void nat_count_block(struct nat_unit *u, const struct nat_block *b);
/** Emits code that converts the registers to the shapes that block @to expects. */
void nat_reshape(struct nat_unit *u, const struct nat_block *to);
/** Emits code that continues with block @n. u->state has the shapes at the end of the current block, whose last instruction is
 *  u->at. */
void nat_go_to(struct nat_unit *u, int32_t n);
/** Emits the instruction bssy or bsync at u->at. */
void nat_emit_convergence(struct nat_unit *u);
/** Emits the instructions of @b, without a branch at its end. Returns false if the code has left native code or parked the
 *  warp. */
bool nat_emit_instructions(struct nat_unit *u, const struct nat_block *b);
/** Emits code that leaves native code at @site. The live registers are @live, in the shapes of u->state. @lanes: the lanes that
 *  run, in divided copies; otherwise NULL. */
void nat_leave(struct nat_unit *u, struct emu_native_site site, const struct nat_set *live, LLVMValueRef lanes);
/** Returns an i1 that is true if @lanes, a vector of i1, is true in at least one executed lane. */
LLVMValueRef nat_any_lane(struct nat_unit *u, LLVMValueRef lanes);
/** Adds a site, a point at which native code is left, and returns the number of the site. */
uint32_t nat_add_site(struct nat_unit *u, struct emu_native_site site);
/** Adds @count to the variable @counter. */
void nat_add_to(struct nat_unit *u, LLVMValueRef counter, unsigned count);
/** Converts the registers that the next instruction does not write, but whose shapes it makes more general: the other register of
 *  an affine pair, and at a bsync the registers that may differ between the lanes that reconverge there. */
void nat_generalise(struct nat_unit *u);
/** Sets all predicates to false, the value that they have until the code writes them. */
void nat_clear_predicates(struct nat_unit *u);
/** Called for an instruction at which all lanes that have not exited exit, or at which the warp is parked. Emits code that runs the
 *  next warp of the block or, after the last warp, the first warp of this block or of another block, if native code may execute
 *  that warp. If it may not, control continues at the code emitted after this call. @site: number of the instruction's site. */
void nat_emit_next_warp(struct nat_unit *u, uint32_t site);
/** Emits the code for several warps together, if the kernel can have such code: it begins at u->wide.start, or this is NULL
 *  (nat_wide.c). */
void nat_emit_wide(struct nat_unit *u);
/** Emits the start of a warp in a kernel with code for several warps: jumps to that code if the next warps can execute it. The code for
 *  one warp follows. */
void nat_choose_wide(struct nat_unit *u);
/** Returns element @i of a vector. */
LLVMValueRef nat_lane(struct nat_unit *u, LLVMValueRef vector, unsigned i);

#endif
