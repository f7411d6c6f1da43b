/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warp that reaches a barrier of the block is parked. While the warp is parked, its uniform and affine registers are in
 * frame->uniform and all other registers in the register file. All registers have the shapes that the block after the
 * barrier expects, so no shape must be verified after the barrier. If the interpreter continues the warp, the code first
 * stores all registers to the register file.
 */
#include "native/nat_values_priv.h"

/** Returns true if @shape is the shape of a register that is in frame->uniform while the warp is parked. */
static bool is_in_uniform(const struct nat_shape *shape)
{
    return (shape->kind == NAT_SAME && !shape->known) || shape->kind == NAT_AFFINE;
}

void nat_park(struct nat_unit *u, const struct nat_set *live)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned r = 0; r < u->job->vregs && r < 255; r++) {
        const struct nat_shape *shape = &u->state.v[r];
        if (!nat_has(live, NAT_V + r))
            continue;
        if (shape->kind == NAT_LANES) {
            nat_store_row(u, r, nat_get_lanes(u, r, true));
        } else if (is_in_uniform(shape)) {
            const bool pair = shape->kind == NAT_AFFINE && shape->pair;
            LLVMValueRef base = pair ? nat_get_base_pair(u, r, true) : nat_get_base(u, r, true);
            (void)l->BuildStore(u->b.b, base, nat_uniform_address(u, r, 0));
            if (shape->kind == NAT_AFFINE && !shape->known_sy && u->rows > 1)
                (void)l->BuildStore(u->b.b, nat_get_step(u, r), nat_uniform_address(u, r, 1));
        }
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(live, NAT_S + r) && !u->state.s[r].known)
            (void)l->BuildStore(u->b.b, nat_get_scalar(u, r), nat_address(u, u->s, quad(u, 4 * r)));
    nat_spill_predicates(u, live);
}

/** Loads the registers that are live before @b, as park() has stored them. */
static void resume(struct nat_unit *u, const struct nat_block *b)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned r = 0; r < u->job->vregs && r < 255; r++) {
        const struct nat_shape *shape = &u->state.v[r];
        if (!nat_has(&b->live, NAT_V + r))
            continue;
        if (is_in_uniform(shape))
            nat_load_uniform(u, r, shape);
        else if (shape->kind == NAT_LANES)
            nat_put_lanes(u, r, nat_load_lanes(u, r));
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(&b->live, NAT_S + r) && !u->state.s[r].known)
            nat_put_scalar(u, r, l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, u->s, quad(u, 4 * r)), ""));
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(&b->live, NAT_P + p) && u->state.p[p] != NAT_LANES) {
            LLVMValueRef any;
            (void)nat_predicate_agrees(u, p, &any);
            nat_write_variable(u, &u->values.pred_same[p], u->b.i1, any);
        } else if (nat_has(&b->live, NAT_P + p)) {
            nat_write_variable(u, &u->values.pred[p], lanes_type(u, u->b.i1),
                               l->BuildBitCast(u->b.b, nat_load_mask(u, p), lanes_type(u, u->b.i1), ""));
        }
        if (nat_has(&b->live, NAT_SP + p))
            nat_write_variable(u, &u->values.spred[p], u->b.i1, nat_load_scalar_predicate(u, p));
    }
}

void nat_emit_resume(struct nat_unit *u, const struct nat_block *b, LLVMValueRef choice)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef entry = nat_new_block(u), unpark = nat_new_block(u);

    u->state = *b->in;
    l->AddCase(choice, word(u, (b->entry - 1u) | EMU_NATIVE_RESUME), entry);
    position(u, entry);
    if (!u->through)
        resume(u, b);
    (void)l->BuildBr(u->b.b, u->start[b - u->block]);
    l->AddCase(choice, word(u, (b->entry - 1u) | EMU_NATIVE_UNPARK), unpark);
    position(u, unpark);
    const struct nat_shared *f = nat_shared_function(u, &b->live, false);
    if (f != NULL && f->function != NULL)
        (void)l->BuildCall2(u->b.b, l->FunctionType(u->b.none, &u->b.pointer, 1, 0), f->function, &u->frame, 1, "");
    for (unsigned r = 0; r < ISA_S_EXEC && !u->through; r++)
        if (nat_has(&b->live, NAT_S + r) && u->state.s[r].known)
            (void)l->BuildStore(u->b.b, word(u, u->state.s[r].value), nat_address(u, u->s, quad(u, 4 * r)));
    (void)l->BuildRetVoid(u->b.b);
}
