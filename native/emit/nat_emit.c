/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR of a kernel: control flow, and how native code is entered and left.
 *
 * With u->through, the code that leaves native code stores only uniform and affine registers, by a call of a function. All
 * exits at which the registers have the same shapes call the same function. Therefore the size of the code is proportional
 * to the number of instructions, however many registers are live.
 */
#include <stdlib.h>
#include <string.h>

#include "native/nat_values_priv.h"

LLVMBasicBlockRef nat_new_block(struct nat_unit *u)
{
    return u->b.llvm->AppendBasicBlockInContext(u->b.context, u->function, "");
}
void nat_wide_vectors(const struct nat_unit *u, LLVMValueRef function)
{
    static const char *const names[] = {"prefer-vector-width", "min-legal-vector-width"};
    const struct nat_llvm *l = u->b.llvm;

    for (size_t i = 0; i < LW_COUNT_OF(names); i++)
        l->AddAttributeAtIndex(function, ~0u, l->CreateStringAttribute(u->b.context, names[i], (unsigned)strlen(names[i]), "512", 3));
}
/** Adds a function whose only parameter is the frame, and which only this module calls. */
static LLVMValueRef new_function(struct nat_unit *u, LLVMTypeRef result)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef function = l->AddFunction(u->b.module, "", l->FunctionType(result, &u->b.pointer, 1, 0));

    nat_wide_vectors(u, function);
    l->SetLinkage(function, NAT_LINKAGE_INTERNAL);
    return function;
}

/* ---- leaving ---------------------------------------------------------------------------------- */

void nat_load_uniform(struct nat_unit *u, unsigned r, const struct nat_shape *shape)
{
    const struct nat_llvm *l = u->b.llvm;
    const bool pair = shape->kind == NAT_AFFINE && shape->pair;
    LLVMTypeRef type = pair ? u->b.i64 : u->b.i32;

    if (shape->kind == NAT_SAME && shape->known)
        return;
    LLVMValueRef base = l->BuildLoad2(u->b.b, type, nat_uniform_address(u, r, 0), "");
    if (shape->kind == NAT_SAME) {
        nat_put_same(u, r, base);
        return;
    }
    LLVMValueRef step = shape->known_sy ? l->ConstInt(type, (uint64_t)shape->sy, 0)
                        : u->rows > 1 ? l->BuildLoad2(u->b.b, type, nat_uniform_address(u, r, 1), "") : l->ConstNull(type);
    nat_put_affine(u, r, pair, base, step);
}

static void enter_vector(struct nat_unit *u, unsigned r, const struct nat_shape *shape, LLVMValueRef *all);

/** Builds the body of a shared function. With f->enter, the function verifies the shapes of registers in the register file
 *  and sets frame->uniform. Without f->enter, the function stores the registers, whose bases are in frame->uniform, to the
 *  register file. */
static void shared_body(struct nat_unit *u, const struct nat_shared *f)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef all = NULL;

    for (size_t i = 0; i < f->count; i++) {
        const struct nat_item *item = &f->item[i];
        u->state.v[item->reg] = item->shape;
        if (item->raw)
            nat_add(&u->state.nan, NAT_V + item->reg);
        else
            nat_remove(&u->state.nan, NAT_V + item->reg);
        if (item->shape.kind == NAT_AFFINE && item->shape.pair)
            u->state.v[item->reg + 1] = (struct nat_shape){.kind = NAT_HIGH};
    }
    for (size_t i = 0; i < f->count; i++) {
        const struct nat_item *item = &f->item[i];
        const unsigned r = item->reg;
        if (f->enter) {
            u->through = true; /* with u->through, writing a register also sets its element of frame->uniform */
            enter_vector(u, r, &item->shape, &all);
            u->through = false;
            continue;
        }
        if (item->shape.kind == NAT_LANES)
            nat_put_lanes(u, r, nat_load_lanes(u, r));
        else
            nat_load_uniform(u, r, &item->shape);
        nat_store_row(u, r, nat_get_lanes(u, r, false));
        if (item->shape.kind == NAT_AFFINE && item->shape.pair)
            nat_store_row(u, r + 1, nat_get_lanes(u, r + 1, false));
    }
    if (f->enter)
        (void)l->BuildRet(u->b.b, nat_all(u, all));
    else
        (void)l->BuildRetVoid(u->b.b);
}

static void shared_build(struct nat_unit *u, struct nat_shared *f)
{
    const struct nat_llvm *l = u->b.llvm;
    struct nat_unit *kept = malloc(sizeof *kept);
    LLVMBasicBlockRef block = l->GetInsertBlock(u->b.b);
    LLVMMetadataRef line = l->GetCurrentDebugLocation2(u->b.b);

    if (kept == NULL) {
        u->failed = true;
        return;
    }
    *kept = *u;
    u->lines = NULL;
    l->SetCurrentDebugLocation2(u->b.b, NULL);
    f->function = new_function(u, f->enter ? u->b.i1 : u->b.none);
    u->function = f->function;
    u->through = false;
    nat_forget_values(u);
    u->columns_vector = u->rows_vector = NULL;
    u->entry_builder = l->CreateBuilderInContext(u->b.context);
    u->entry_block = nat_new_block(u);
    l->PositionBuilderAtEnd(u->entry_builder, u->entry_block);
    LLVMBasicBlockRef body = nat_new_block(u);
    position(u, body);
    u->frame = l->GetParam(u->function, 0);
    nat_load_frame(u);
    if (u->ended != NULL)
        nat_load_warp(u, nat_member(u, u->b.i64, offsetof(struct emu_native_frame, ended)));
    u->ended = NULL; /* the function has the addresses of its warp, and cannot use variables of the kernel's function */
    shared_body(u, f);
    (void)l->BuildBr(u->entry_builder, body);
    l->DisposeBuilder(u->entry_builder);
    *u = *kept;
    position(u, block);
    l->SetCurrentDebugLocation2(u->b.b, line);
    free(kept);
}

struct nat_shared *nat_shared_function(struct nat_unit *u, const struct nat_set *live, bool enter)
{
    struct nat_shared *f = calloc(1, sizeof *f + 256 * sizeof f->item[0]), *old;

    if (f == NULL) {
        u->failed = true;
        return NULL;
    }
    f->enter = enter;
    for (unsigned r = 0; r < u->job->vregs && r < 255; r++) {
        const struct nat_shape *shape = &u->state.v[r];
        const bool low = nat_has(live, NAT_V + r);
        const bool pair = shape->kind == NAT_AFFINE && shape->pair; /* one register of the pair may be dead */
        if (!low && !(pair && nat_has(live, NAT_V + r + 1)))
            continue;
        const bool raw = !enter && is_raw(u, r);
        if (shape->kind != NAT_SAME && shape->kind != NAT_AFFINE && !(shape->kind == NAT_LANES && raw))
            continue;
        struct nat_item *item = &f->item[f->count++];
        item->shape.kind = shape->kind;
        item->shape.known = shape->known;
        item->shape.pair = shape->pair;
        item->shape.known_sy = shape->known_sy;
        item->shape.sx = shape->sx;
        item->shape.sy = shape->sy;
        item->shape.value = shape->value;
        item->reg = (uint8_t)r;
        item->raw = raw;
    }
    for (old = u->shared_functions; old != NULL; old = old->next)
        if (old->enter == enter && old->count == f->count && memcmp(old->item, f->item, f->count * sizeof f->item[0]) == 0)
            break;
    if (old != NULL) {
        free(f);
        return old;
    }
    f->next = u->shared_functions;
    u->shared_functions = f;
    if (f->count != 0)
        shared_build(u, f);
    return f;
}

uint32_t nat_add_site(struct nat_unit *u, struct emu_native_site site)
{
    if (u->sites == u->sites_room) {
        const uint32_t room = u->sites_room == 0 ? 64 : 2 * u->sites_room;
        struct emu_native_site *more = realloc(u->site, room * sizeof *more);
        if (more == NULL) {
            u->failed = true;
            return 0;
        }
        u->site = more;
        u->sites_room = room;
    }
    u->site[u->sites] = site;
    return u->sites++;
}
/** Emits code that stores the number of a site in the frame, and leaves native code. */
static void put_site(struct nat_unit *u, LLVMValueRef site)
{
    nat_put_member(u, site, offsetof(struct emu_native_frame, site));
    (void)u->b.llvm->BuildBr(u->b.b, u->out);
}

/** Returns the shared code that stores the registers of @live, which have the shapes of u->state, and leaves native code.
 *  The phi node of the code has the number of the site for each block that jumps to the code. Returns NULL if memory is
 *  short. */
static struct nat_shared *leave_shared(struct nat_unit *u, const struct nat_set *live)
{
    const struct nat_llvm *l = u->b.llvm;
    struct nat_shared *f = nat_shared_function(u, live, false);

    if (f == NULL || f->block != NULL)
        return f;
    LLVMBasicBlockRef back = l->GetInsertBlock(u->b.b);
    f->block = nat_new_block(u);
    position(u, f->block);
    f->site = l->BuildPhi(u->b.b, u->b.i32, "");
    if (f->function != NULL)
        (void)l->BuildCall2(u->b.b, l->FunctionType(u->b.none, &u->b.pointer, 1, 0), f->function, &u->frame, 1, "");
    put_site(u, f->site);
    position(u, back);
    return f;
}
/** Adds the current block, with the value @site, to the phi node of @f. */
static void comes_from_here(struct nat_unit *u, const struct nat_shared *f, uint32_t site)
{
    LLVMBasicBlockRef block = u->b.llvm->GetInsertBlock(u->b.b);
    LLVMValueRef value = word(u, site);

    u->b.llvm->AddIncoming(f->site, &value, &block, 1);
}

void nat_leave(struct nat_unit *u, struct emu_native_site site, const struct nat_set *live, LLVMValueRef lanes)
{
    const uint32_t number = nat_add_site(u, site);
    const struct nat_shared *f = u->through ? leave_shared(u, live) : NULL;

    if (f != NULL) {
        comes_from_here(u, f, number);
        (void)u->b.llvm->BuildBr(u->b.b, f->block);
        return;
    }
    const bool writes = u->writes;
    if (u->gone != NULL) {
        nat_spill(u, live);
        nat_put_member(u, u->gone, offsetof(struct emu_native_frame, gone));
    } else if (lanes != NULL) {
        nat_spill_divided(u, live);
        nat_put_member(u, lanes, offsetof(struct emu_native_frame, mask));
    } else {
        nat_spill(u, live);
    }
    u->writes = writes;
    put_site(u, word(u, number));
}
LLVMValueRef nat_running_bits(struct nat_unit *u)
{
    const struct nat_lanes lanes = u->lanes;

    u->lanes = u->split; /* a guard of the access does not apply */
    LLVMValueRef bits = u->region != NULL || u->gone != NULL ? nat_access_bits(u) : NULL;
    u->lanes = lanes;
    return bits;
}
/** Returns the site before the instruction that is being emitted. */
static struct emu_native_site site_here(const struct nat_unit *u)
{
    return (struct emu_native_site){u->first + u->at, u->at - u->block_first, u->block_loads, u->block_stores, 0};
}
/** Emits code that leaves native code before the instruction that is being emitted. */
static void leave_here(struct nat_unit *u)
{
    nat_leave(u, site_here(u), &u->live[u->at - u->block_first], nat_running_bits(u));
}

void nat_leave_unless(struct nat_unit *u, LLVMValueRef ok)
{
    LLVMBasicBlockRef go = nat_new_block(u);
    u->wide.failed = u->wide.failed || u->wide.stored;
    /* all checks of one segment, and with u->through all checks of one instruction, jump to the same code, which leaves native
     * code */
    const uint32_t at = u->through ? u->at : u->segment.first;
    const bool again = u->leave_at == at + 1;

    if (!again && u->through) {
        u->leave_site = nat_add_site(u, site_here(u));
        u->leave_shared = leave_shared(u, &u->live[u->at - u->block_first]);
        u->leave = u->leave_shared != NULL ? u->leave_shared->block : u->refused;
    } else if (!again) {
        u->leave = nat_new_block(u);
    }
    u->leave_at = at + 1;
    nat_likely(&u->b, u->b.llvm->BuildCondBr(u->b.b, ok, go, u->leave));
    if (u->through && u->leave_shared != NULL)
        comes_from_here(u, u->leave_shared, u->leave_site);
    if (!again && !u->through) {
        position(u, u->leave);
        nat_leave_segment(u);
    }
    position(u, go);
}

/* ---- flow ------------------------------------------------------------------------------------- */

void nat_add_to(struct nat_unit *u, LLVMValueRef counter, unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;

    if (count != 0)
        (void)l->BuildStore(u->b.b, l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, counter, ""), quad(u, count), ""), counter);
}

void nat_count_block(struct nat_unit *u, const struct nat_block *b)
{
    nat_add_to(u, u->counted, b->count);
    nat_add_to(u, u->loads, u->block_loads);
    nat_add_to(u, u->stores, u->block_stores);
}

/** Returns true if a register of shape @from is stored in the same way as a register of shape @want. */
static bool is_stored_as(const struct nat_unit *u, const struct nat_shape *from, const struct nat_shape *want)
{
    if (from->kind != want->kind || from->known != want->known || from->pair != want->pair)
        return false;
    return want->kind != NAT_AFFINE || (from->sx == want->sx && (u->rows == 1 || from->known_sy == want->known_sy));
}
void nat_reshape(struct nat_unit *u, const struct nat_block *to)
{
    for (unsigned r = 0; r < 255; r++) {
        const struct nat_shape *from = &u->state.v[r], *want = &to->in->v[r];
        if (!nat_has(&to->live, NAT_V + r) || want->kind == NAT_UNKNOWN || want->kind == NAT_HIGH)
            continue;
        const bool raw = !is_raw(u, r) || nat_has(&to->in->nan, NAT_V + r);
        if (u->through && raw && is_stored_as(u, from, want))
            continue;
        if (want->kind == NAT_LANES && (from->kind != NAT_LANES || !raw))
            nat_put_lanes(u, r, nat_get_lanes(u, r, raw));
        else if (want->kind == NAT_SAME && !want->known)
            nat_put_same(u, r, nat_get_base(u, r, raw));
        else if (want->kind == NAT_AFFINE && want->pair)
            nat_put_affine(u, r, true, nat_get_base_pair(u, r, true), nat_get_step(u, r, 2));
        else if (want->kind == NAT_AFFINE)
            nat_put_affine(u, r, false, nat_get_base(u, r, true), nat_get_step(u, r, 1));
    }
    if (u->through)
        return;
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(&to->live, NAT_S + r) && u->state.s[r].known && !to->in->s[r].known)
            nat_put_scalar(u, r, nat_get_scalar(u, r));
    for (unsigned p = 0; p < 7; p++)
        if (nat_has(&to->live, NAT_P + p) && to->in->p[p] == NAT_LANES && u->state.p[p] == NAT_SAME)
            nat_write_variable(u, &u->values.pred[p], lanes_type(u, u->b.i1),
                               nat_vector(&u->b, nat_get_predicate(u, p, false, false)).v);
}

void nat_go_to(struct nat_unit *u, int32_t n)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_block *to = &u->block[n];

    nat_reshape(u, to);
    if (to->first <= u->at) { /* a backward branch: leaves native code if the number of executed instructions has reached the
                               * limit */
        LLVMBasicBlockRef go = nat_new_block(u), out = nat_new_block(u);
        struct nat_state kept = u->state;
        LLVMValueRef counted = l->BuildLoad2(u->b.b, u->b.i64, u->counted, "");
        if (u->masked) /* adds the instructions up to the next test of the limit, because the split's time slice must not end
                        * before this test */
            counted = l->BuildAdd(u->b.b, counted, quad(u, to->path - 1), "");
        LLVMValueRef more = l->BuildICmp(u->b.b, NAT_INT_ULT, counted, u->limit, "");
        (void)l->BuildCondBr(u->b.b, more, go, out);
        position(u, out);
        u->state = *to->in;
        nat_leave(u, (struct emu_native_site){.next = u->first + to->first}, &to->live, NULL);
        u->state = kept;
        position(u, go);
    }
    (void)l->BuildBr(u->b.b, u->start[n]);
}

static void emit_branch(struct nat_unit *u, const struct nat_block *b)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct isa_insn *insn = &u->insn[u->at];
    const struct nat_value taken = nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar);
    LLVMBasicBlockRef go = nat_new_block(u), fall = nat_new_block(u);

    if (b->next[0] < 0) {
        nat_count_block(u, b);
        (void)l->BuildBr(u->b.b, go);
        position(u, fall);
        (void)l->BuildUnreachable(u->b.b);
    } else {
        LLVMValueRef any = taken.v;
        if (taken.vector) {
            any = nat_any_lane(u, taken.v);
            LLVMValueRef agree = l->BuildOr(u->b.b, l->BuildNot(u->b.b, any, ""), nat_all(u, taken.v), "");
            if (nat_can_divide(u, b)) {
                LLVMBasicBlockRef together = nat_new_block(u), apart = nat_new_block(u);
                nat_leave_unless(u, l->BuildOr(u->b.b, agree, u->divides, ""));
                (void)l->BuildCondBr(u->b.b, agree, together, apart);
                position(u, apart);
                nat_divide(u, b, taken);
                position(u, together);
            } else { /* leaves native code if the lanes diverge */
                nat_leave_unless(u, agree);
            }
        }
        nat_count_block(u, b);
        (void)l->BuildCondBr(u->b.b, any, go, fall);
    }
    const struct nat_values kept = u->values;
    position(u, go);
    nat_go_to(u, b->next[1]);
    if (b->next[0] >= 0) {
        if (u->through) /* drops values that go_to() has computed for the other target of the branch */
            u->values = kept;
        position(u, fall);
        nat_go_to(u, b->next[0]);
    }
}

void nat_emit_generic(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    struct nat_set reads, writes;
    struct nat_state after = u->state;
    LLVMTypeRef type = u->b.i32;
    LLVMValueRef index = word(u, u->first + u->at);

    u->generic = true;
    nat_uses(u, u->at, &reads, &writes);
    nat_spill(u, &reads);
    const bool part = u->region != NULL || u->gone != NULL;
    if (part)
        nat_put_member(u, nat_running_bits(u), offsetof(struct emu_native_frame, mask));
    nat_leave_unless(u, nat_call(u, offsetof(struct emu_native_calls, execute), false, u->b.i1, &type, &index, 1));
    if (part)
        nat_put_member(u, nat_base_bits(u), offsetof(struct emu_native_frame, mask));
    nat_shape_step(u, &after, u->at);
    for (unsigned r = 0; r < 255; r++) {
        if (!nat_has(&writes, NAT_V + r))
            continue;
        u->values.vec[r] = u->through ? NULL : u->values.vec[r];
        if (u->through && after.v[r].kind != NAT_SAME)
            continue; /* the next use loads the value from the register file */
        if (after.v[r].kind == NAT_SAME)
            nat_put_same(u, r, nat_first(u, nat_load_lanes(u, r)));
        nat_put_lanes(u, r, nat_load_lanes(u, r));
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(&writes, NAT_S + r)) {
            LLVMValueRef value = l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, nat_scalars(u), quad(u, 4 * r)), "");
            nat_put_scalar(u, r, value);
        }
    for (unsigned p = 0; p < 7; p++) {
        /* the register file already has the predicate, so no store is emitted */
        if (nat_has(&writes, NAT_P + p))
            nat_write_variable(u, &u->values.pred[p], lanes_type(u, u->b.i1),
                           l->BuildBitCast(u->b.b, nat_load_mask(u, p), lanes_type(u, u->b.i1), ""));
        if (nat_has(&writes, NAT_SP + p))
            nat_write_variable(u, &u->values.spred[p], u->b.i1, nat_load_scalar_predicate(u, p));
    }
}

/** Emits code before an instruction that writes registers of the scalar unit: leaves native code if the warp has other
 *  splits, because the interpreter then reports a fault. */
static void must_be_alone(struct nat_unit *u)
{
    struct nat_set reads, writes;
    uint64_t scalars = 0;

    nat_uses(u, u->at, &reads, &writes);
    for (unsigned r = NAT_S; r < NAT_REGS; r++)
        scalars |= (r < NAT_P || r >= NAT_SP) && nat_has(&writes, r);
    if (scalars || nat_info(&u->insn[u->at])->flags & ISA_F_SCALAR)
        nat_leave_unless(u, u->alone);
}

void nat_generalise(struct nat_unit *u)
{
    struct nat_state after = u->state;
    struct nat_set reads, writes;

    nat_shape_step(u, &after, u->at);
    nat_uses(u, u->at, &reads, &writes);
    for (unsigned r = 0; r < 255; r++)
        if (after.v[r].kind == NAT_LANES && u->state.v[r].kind != NAT_LANES && !nat_has(&writes, NAT_V + r))
            nat_put_lanes(u, r, nat_get_lanes(u, r, true));
    for (unsigned p = 0; p < 7; p++)
        if (after.p[p] == NAT_LANES && u->state.p[p] != NAT_LANES && !nat_has(&writes, NAT_P + p))
            nat_write_variable(u, &u->values.pred[p], lanes_type(u, u->b.i1),
                               nat_vector(&u->b, nat_get_predicate(u, p, false, false)).v);
}

void nat_clear_predicates(struct nat_unit *u)
{
    for (unsigned p = 0; p < 7; p++) {
        nat_write_variable(u, &u->values.pred_same[p], u->b.i1, u->b.llvm->ConstNull(u->b.i1));
        nat_write_variable(u, &u->values.spred[p], u->b.i1, u->b.llvm->ConstNull(u->b.i1));
    }
}

/** Returns the number of instructions that the warp has executed before the one that is being emitted. */
static LLVMValueRef executed(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;

    return l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), quad(u, u->at - u->block_first), "");
}

void nat_emit_next_warp(struct nat_unit *u, uint32_t site)
{
    const struct nat_llvm *l = u->b.llvm;

    if (u->ended == NULL || u->region != NULL)
        return;
    LLVMBasicBlockRef done = nat_new_block(u), last = nat_new_block(u), next = nat_new_block(u), leave = nat_new_block(u);
    LLVMValueRef ended = l->BuildLoad2(u->b.b, u->b.i64, u->ended, ""), after = l->BuildAdd(u->b.b, ended, quad(u, 1), "");
    LLVMValueRef warps = l->BuildLoad2(u->b.b, u->b.i64, u->warps, "");
    LLVMValueRef counted = executed(u), through = l->BuildAdd(u->b.b, counted, quad(u, 1), "");
    LLVMValueRef is_short = l->BuildICmp(u->b.b, NAT_INT_ULT, counted, quad(u, EMU_NATIVE_SHORT), "");
    LLVMValueRef may = l->BuildICmp(u->b.b, NAT_INT_NE, warps, quad(u, 0), "");
    (void)l->BuildCondBr(u->b.b, l->BuildAnd(u->b.b, may, is_short, ""), done, leave);
    position(u, done);
    LLVMValueRef retired = l->BuildOr(u->b.b, l->BuildShl(u->b.b, counted, quad(u, 32), ""), quad(u, site), ""), missing = NULL;
    LLVMValueRef record = nat_address(u, nat_member(u, u->b.pointer, offsetof(struct emu_native_frame, record)),
                                      l->BuildMul(u->b.b, ended, quad(u, sizeof(struct emu_native_record)), ""));
    (void)l->BuildStore(u->b.b, retired, record);
    LLVMValueRef record_missing = nat_address(u, record, quad(u, offsetof(struct emu_native_record, missing)));
    if (u->misses) {
        missing = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, missing));
        if (u->gone != NULL)
            nat_count_missing(u, u->gone, through);
        (void)l->BuildStore(u->b.b, nat_member(u, u->b.i64, offsetof(struct emu_native_frame, missing)), record_missing);
        nat_put_member(u, quad(u, 0), offsetof(struct emu_native_frame, missing));
    } else {
        (void)l->BuildStore(u->b.b, quad(u, 0), record_missing);
    }
    (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_ULT, after, warps, ""), next, last);
    position(u, last);
    LLVMValueRef entry = nat_call(u, offsetof(struct emu_native_calls, next_warps), false, u->b.i32, NULL, NULL, 0), first = quad(u, 0);
    LLVMBasicBlockRef none = nat_new_block(u), again = nat_new_block(u);
    (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_NE, entry, word(u, EMU_NATIVE_NO_ENTRY), ""), again, none);
    position(u, again);
    if (u->entry != NULL)
        (void)l->BuildStore(u->b.b, entry, u->entry);
    (void)l->BuildBr(u->b.b, next);
    position(u, none);
    if (u->misses) /* without the lanes that have exited, which the emulator counts, because the warp has not ended in native code */
        nat_put_member(u, missing, offsetof(struct emu_native_frame, missing));
    (void)l->BuildBr(u->b.b, leave);
    position(u, next);
    LLVMValueRef warp = l->BuildPhi(u->b.b, u->b.i64, "");
    l->AddIncoming(warp, &after, &done, 1);
    l->AddIncoming(warp, &first, &again, 1);
    nat_add_to(u, u->loads, u->block_loads);
    nat_add_to(u, u->stores, u->block_stores);
    (void)l->BuildStore(u->b.b, quad(u, 0), u->counted);
    (void)l->BuildStore(u->b.b, warp, u->ended);
    if (!u->through)
        nat_clear_predicates(u);
    (void)l->BuildBr(u->b.b, u->entry != NULL ? u->dispatch : u->start[0]);
    position(u, leave);
}

/** Returns true if a warp that reaches the barrier at the end of @b is parked. The warp is not parked if no instruction
 *  after the barrier can be executed natively. */
static bool parks(const struct nat_unit *u, const struct nat_block *b)
{
    return u->kind[b->first + b->count - 1] == NAT_BAR && b->next[0] >= 0 && u->kind[u->block[b->next[0]].first] != NAT_LEAVE;
}
/** Emits the end of block @b, which is a barrier of the thread block. */
static void emit_bar(struct nat_unit *u, const struct nat_block *b)
{
    struct emu_native_site site = site_here(u);

    if (u->region != NULL || !parks(u, b)) {
        leave_here(u);
        return;
    }
    const struct nat_block *to = &u->block[b->next[0]];
    site.parks = to->entry;
    nat_reshape(u, to);
    u->state = *to->in;
    if (!u->through)
        nat_park(u, &to->live);
    const uint32_t number = nat_add_site(u, site);
    nat_emit_next_warp(u, number);
    put_site(u, word(u, number));
}

/* Largest number of instructions that emit_tail() emits once more. */
enum { MOST_IN_TAIL = 256 };

/** Block @b ends with an exit of some lanes. Returns true if the code after it has no branches and barriers, and ends with an
 *  exit of all lanes. */
static bool has_tail(const struct nat_unit *u, const struct nat_block *b)
{
    uint32_t count = 0;

    if (u->ended == NULL || u->through || u->region != NULL)
        return false;
    while (b->next[0] >= 0 && count <= MOST_IN_TAIL) {
        b = &u->block[b->next[0]];
        count += b->count;
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const enum nat_kind kind = (enum nat_kind)u->kind[i];
            if (kind == NAT_BSSY || kind == NAT_BSYNC || kind == NAT_BRANCH || kind == NAT_BAR)
                return false;
            if (kind == NAT_LEAVE)
                return u->insn[i].op == ISA_EXIT && count <= MOST_IN_TAIL;
        }
    }
    return false;
}

/** Restricts the following code to the lanes that do not exit. Lanes @bits exit at the instruction that is being emitted. */
static void narrow(struct nat_unit *u, LLVMValueRef bits)
{
    const struct nat_llvm *l = u->b.llvm;

    nat_count_missing(u, bits, l->BuildSub(u->b.b, quad(u, ~UINT64_C(0)), executed(u), "")); /* -(executed + 1) */
    u->gone = u->gone == NULL ? bits : l->BuildOr(u->b.b, u->gone, bits, "");
    LLVMValueRef rest = l->BuildNot(u->b.b, u->width < 64 ? l->BuildTrunc(u->b.b, u->gone, mask_type(u), "") : u->gone, "");
    u->split = u->lanes = nat_lanes_of(u, l->BuildBitCast(u->b.b, rest, lanes_type(u, u->b.i1), ""), rest);
}

/** Lanes @bits, some of the lanes, exit at the end of block @b. Emits a copy of the code after @b, which the other lanes execute.
 *  The copy ends the warp, or sets frame->gone and leaves native code. */
static void emit_tail(struct nat_unit *u, const struct nat_block *b, LLVMValueRef bits)
{
    const struct nat_state state = u->state;
    const uint32_t at = u->at, loads = u->block_loads, stores = u->block_stores;
    const struct nat_block *next = b;

    narrow(u, bits);
    do {
        nat_count_block(u, next);
        next = &u->block[next->next[0]];
    } while (nat_emit_instructions(u, next));
    u->split = u->lanes = u->base;
    u->gone = NULL;
    u->state = state;
    u->at = at;
    u->block_first = b->first;
    u->block_loads = loads;
    u->block_stores = stores;
    u->generic = false;
}

/** Emits an exit with a guard, the end of block @b. If all lanes exit, the code ends the warp. If some lanes exit, the code
 *  continues with the other lanes. If native code cannot do so, it leaves before the exit. */
static void emit_exit(struct nat_unit *u, const struct nat_block *b)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct isa_insn *insn = &u->insn[u->at];
    const struct nat_value guard = nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar);

    if (u->gone == NULL && !has_tail(u, b)) {
        nat_leave_unless(u, l->BuildNot(u->b.b, guard.vector ? nat_any_lane(u, guard.v) : guard.v, ""));
        return;
    }
    LLVMBasicBlockRef some = nat_new_block(u), all = nat_new_block(u), go = NULL;
    LLVMValueRef running = u->gone == NULL ? nat_base_bits(u) : nat_running_bits(u);
    LLVMValueRef bits = l->BuildAnd(u->b.b, nat_set_of(u, guard), running, "");
    if (u->gone == NULL) {
        LLVMBasicBlockRef exits = nat_new_block(u);
        go = nat_new_block(u);
        (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_EQ, bits, quad(u, 0), ""), go, exits);
        position(u, exits);
        LLVMValueRef warps = l->BuildLoad2(u->b.b, u->b.i64, u->warps, ""); /* if `warps` is 0, the caller does not expect
                                                                             * frame->gone */
        nat_leave_unless(u, l->BuildICmp(u->b.b, NAT_INT_NE, warps, quad(u, 0), ""));
    }
    (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_EQ, bits, running, ""), all, some);
    position(u, all);
    nat_emit_next_warp(u, nat_add_site(u, site_here(u)));
    leave_here(u);
    position(u, some);
    if (u->gone != NULL) {
        narrow(u, bits);
        return;
    }
    emit_tail(u, b, bits);
    position(u, go);
}

bool nat_emit_instructions(struct nat_unit *u, const struct nat_block *b)
{
    unsigned kept = 0;

    u->block_first = b->first;
    u->block_loads = u->block_stores = u->covered_count = 0;
    u->leave_at = 0;
    nat_live_in(u, b, u->live);
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct isa_insn *insn = &u->insn[i];
        u->at = i;
        nat_line(u, i);
        if (!u->through && nat_begins_segment(u, kept)) {
            nat_begin_segment(u);
            kept = 0;
        }
        if (!u->through)
            kept += nat_overwrites(u);
        u->generic = false;
        nat_generalise(u);
        if (!nat_goes_on(u, i))
            u->covered_count = 0;
        if ((u->masked || u->region != NULL) && u->kind[i] != NAT_BRANCH)
            must_be_alone(u);
        switch (u->kind[i]) {
        case NAT_ROW: nat_emit_row(u); break;
        case NAT_LOAD:
        case NAT_STORE:
        case NAT_REDUCE:
        case NAT_SCALAR_LOAD:
            if (!nat_emit_memory(u))
                nat_emit_generic(u);
            break;
        case NAT_GENERIC: nat_emit_generic(u); break;
        case NAT_BSSY:
        case NAT_BSYNC: nat_emit_convergence(u); break;
        case NAT_EXIT: emit_exit(u, b); break;
        case NAT_BAR: emit_bar(u, b); return false;
        case NAT_LEAVE:
            if (insn->op == ISA_EXIT && insn->guard == ISA_PT && !insn->guard_neg)
                nat_emit_next_warp(u, nat_add_site(u, site_here(u)));
            leave_here(u);
            return false;
        default: break;
        }
        nat_shape_step(u, &u->state, i);
    }
    return true;
}

static void emit_block(struct nat_unit *u, const struct nat_block *b)
{
    position(u, u->start[b - u->block]);
    if (u->through)
        nat_forget_values(u);
    if (b == u->block && u->wide.start != NULL)
        nat_choose_wide(u);
    u->state = *b->in;
    if (!nat_emit_instructions(u, b))
        return;
    if (u->kind[u->at] == NAT_BRANCH) {
        emit_branch(u, b);
        return;
    }
    nat_count_block(u, b);
    if (b->next[0] >= 0) {
        nat_go_to(u, b->next[0]);
    } else { /* never reached: the function's last instruction leaves, and the interpreter reports a fault after it */
        u->at = b->first + b->count - 1;
        (void)u->b.llvm->BuildUnreachable(u->b.b);
    }
}

/* ---- entering --------------------------------------------------------------------------------- */

/** Removes from *@all the lanes in which @row differs from @expected, which has the values that the shape of the register
 *  gives. */
static void must_hold(struct nat_unit *u, LLVMValueRef *all, LLVMValueRef row, LLVMValueRef expected)
{
    LLVMValueRef same = u->b.llvm->BuildICmp(u->b.b, NAT_INT_EQ, row, expected, "");

    *all = *all == NULL ? same : u->b.llvm->BuildAnd(u->b.b, *all, same, "");
}

static void enter_vector(struct nat_unit *u, unsigned r, const struct nat_shape *shape, LLVMValueRef *all)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef row = nat_load_lanes(u, r), base, step;

    switch (shape->kind) {
    case NAT_SAME:
        base = shape->known ? word(u, shape->value) : nat_first(u, row);
        must_hold(u, all, row, nat_splat(&u->b, base, u->width));
        nat_put_same(u, r, base);
        break;
    case NAT_AFFINE:
        if (!shape->pair) {
            base = shape->known_sy ? nat_base_of(u, false, row, shape->sx, shape->sy) : nat_lane(u, row, 0);
            step = shape->known_sy ? word(u, (uint32_t)shape->sy)
                   : u->rows > 1 ? l->BuildSub(u->b.b, nat_lane(u, row, u->columns), base, "") : word(u, 0);
            nat_put_affine(u, r, false, base, step);
            must_hold(u, all, row, nat_affine_lanes(u, false, base, shape->sx, step));
            break;
        }
        row = l->BuildOr(u->b.b, l->BuildZExt(u->b.b, row, lanes_type(u, u->b.i64), ""),
                         l->BuildShl(u->b.b, l->BuildZExt(u->b.b, nat_load_lanes(u, r + 1), lanes_type(u, u->b.i64), ""),
                                     nat_splat(&u->b, quad(u, 32), u->width), ""), "");
        base = shape->known_sy ? nat_base_of(u, true, row, shape->sx, shape->sy) : nat_lane(u, row, 0);
        step = shape->known_sy ? quad(u, (uint64_t)shape->sy)
               : u->rows > 1 ? l->BuildSub(u->b.b, nat_lane(u, row, u->columns), base, "") : quad(u, 0);
        nat_put_affine(u, r, true, base, step);
        must_hold(u, all, row, nat_affine_lanes(u, true, base, shape->sx, step));
        break;
    case NAT_HIGH: break; /* the high word is verified together with the low word */
    default: nat_put_lanes(u, r, row); break;
    }
}

LLVMValueRef nat_predicate_agrees(struct nat_unit *u, unsigned p, LLVMValueRef *any)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = nat_load_mask(u, p);
    LLVMValueRef all_bits = u->lanes.some ? u->lanes.bits : l->ConstInt(mask_type(u), ~UINT64_C(0), 0);

    if (u->lanes.some)
        bits = l->BuildAnd(u->b.b, bits, u->lanes.bits, "");
    *any = l->BuildICmp(u->b.b, NAT_INT_NE, bits, l->ConstNull(mask_type(u)), "");
    return l->BuildOr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_EQ, bits, all_bits, ""), l->BuildNot(u->b.b, *any, ""), "");
}

/** Emits the entry at block @b: verifies the shapes of the registers that are live before @b, and without u->through loads
 *  these registers. */
static void emit_entry(struct nat_unit *u, const struct nat_block *b)
{
    const struct nat_llvm *l = u->b.llvm;
    const bool through = u->through;
    LLVMValueRef all = NULL, ok = l->ConstInt(u->b.i1, 1, 0), any;

    u->state = *b->in;
    for (unsigned r = 0; !through && r < u->job->vregs && r < 255; r++)
        if (nat_has(&b->live, NAT_V + r))
            enter_vector(u, r, &b->in->v[r], &all);
    if (all != NULL)
        ok = nat_all(u, all);
    const struct nat_shared *f = through ? nat_shared_function(u, &b->live, true) : NULL;
    LLVMValueRef verify = f != NULL ? f->function : NULL;
    if (verify != NULL)
        ok = l->BuildCall2(u->b.b, l->FunctionType(u->b.i1, &u->b.pointer, 1, 0), verify, &u->frame, 1, "");
    if (u->lanes.some)
        ok = l->BuildAnd(u->b.b, ok, l->BuildICmp(u->b.b, NAT_INT_ULE, quad(u, b->path), u->limit, ""), "");
    for (unsigned r = 0; r < 128; r++) {
        const bool known = b->in->s[r].kind == NAT_SAME && b->in->s[r].known;
        if (!nat_has(&b->live, NAT_S + r) || (through && !known))
            continue;
        LLVMValueRef value = l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, nat_scalars(u), quad(u, 4 * r)), "");
        if (!through)
            nat_put_scalar(u, r, value);
        if (known)
            ok = l->BuildAnd(u->b.b, ok, l->BuildICmp(u->b.b, NAT_INT_EQ, value, word(u, b->in->s[r].value), ""), "");
    }
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(&b->live, NAT_P + p) && b->in->p[p] == NAT_SAME) {
            ok = l->BuildAnd(u->b.b, ok, nat_predicate_agrees(u, p, &any), "");
            if (!through)
                nat_write_variable(u, &u->values.pred_same[p], u->b.i1, any);
        } else if (nat_has(&b->live, NAT_P + p) && !through) {
            nat_write_variable(u, &u->values.pred[p], lanes_type(u, u->b.i1),
                           l->BuildBitCast(u->b.b, nat_load_mask(u, p), lanes_type(u, u->b.i1), ""));
        }
        if (nat_has(&b->live, NAT_SP + p) && !through)
            nat_write_variable(u, &u->values.spred[p], u->b.i1, nat_load_scalar_predicate(u, p));
    }
    (void)l->BuildCondBr(u->b.b, ok, u->start[b - u->block], u->refused);
}

bool nat_emit(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef dispatch = nat_new_block(u), none;

    u->entry_block = dispatch;
    u->start = calloc(u->blocks, sizeof *u->start);
    u->live = calloc(u->count, sizeof *u->live);
    if (u->start == NULL || u->live == NULL)
        return false;
    (void)nat_add_site(u, (struct emu_native_site){0}); /* site 0: native code is left before it executes an instruction */
    l->PositionBuilderAtEnd(u->entry_builder, u->entry_block);
    dispatch = nat_new_block(u);
    position(u, dispatch);
    u->frame = l->GetParam(u->function, 0);
    nat_load_frame(u);
    u->counted = nat_counter(u, offsetof(struct emu_native_frame, retired));
    u->loads = nat_counter(u, offsetof(struct emu_native_frame, loads));
    u->stores = nat_counter(u, offsetof(struct emu_native_frame, stores));
    for (uint32_t i = 0; i < u->count; i++) {
        if (u->insn[i].op == ISA_ST_LOCAL && u->local_stores == NULL)
            u->local_stores = nat_counter(u, offsetof(struct emu_native_frame, local_stores));
        if (u->kind[i] == NAT_REDUCE && u->atomics == NULL) {
            u->atomics = nat_counter(u, offsetof(struct emu_native_frame, atomics));
            u->changes = nat_counter(u, offsetof(struct emu_native_frame, changes));
        }
    }
    if (!u->through)
        nat_clear_predicates(u);
    for (uint32_t n = 0; n < u->blocks; n++)
        u->misses = u->misses || (u->region_of != NULL && u->region_of[n] != NULL);
    bool has_bar = false; /* true: a warp may have to wait at a barrier for the other warps of its block */
    for (uint32_t i = 0; i < u->count; i++) {
        u->misses = u->misses || u->kind[i] == NAT_EXIT;
        has_bar = has_bar || u->kind[i] == NAT_BAR;
    }
    LLVMValueRef entry = l->GetParam(u->function, 1), usual = NULL; /* usual: switch for the kernel's start and parked warps */
    LLVMBasicBlockRef rest;
    if (!u->masked && !u->block[0].head) {
        LLVMValueRef warps = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, warps));
        u->ended = nat_counter(u, offsetof(struct emu_native_frame, ended));
        u->warps = nat_counter(u, offsetof(struct emu_native_frame, warps));
        (void)l->BuildStore(u->b.b, warps, u->warps);
    }
    if (u->ended != NULL && (has_bar || u->through)) {
        u->entry = l->BuildAlloca(u->entry_builder, u->b.i32, "");
        (void)l->BuildStore(u->b.b, entry, u->entry);
        u->dispatch = nat_new_block(u);
    }
    u->oldest = l->BuildAlloca(u->entry_builder, u->b.i64, "");
    (void)l->BuildStore(u->entry_builder, quad(u, 0), u->oldest);
    for (uint32_t n = 0; n < u->blocks; n++)
        u->start[n] = nat_new_block(u);
    nat_prepare_regions(u);
    u->out = nat_new_block(u);
    u->refused = none = nat_new_block(u);
    if (u->entry != NULL) {
        (void)l->BuildBr(u->b.b, u->dispatch);
        position(u, u->dispatch);
        if (u->through)
            nat_load_warp(u, l->BuildLoad2(u->b.b, u->b.i64, u->ended, ""));
        entry = l->BuildLoad2(u->b.b, u->b.i32, u->entry, "");
        /* a call seldom begins at another entry, so LLVM should not spill registers in loops because of these entries */
        LLVMBasicBlockRef often = nat_new_block(u);
        LLVMValueRef resumes = l->BuildAnd(u->b.b, entry, word(u, EMU_NATIVE_RESUME), "");
        LLVMValueRef begins = l->BuildICmp(u->b.b, NAT_INT_EQ, entry, word(u, u->block[0].entry - 1u), "");
        rest = nat_new_block(u);
        resumes = l->BuildICmp(u->b.b, NAT_INT_NE, resumes, word(u, 0), "");
        nat_likely(&u->b, l->BuildCondBr(u->b.b, l->BuildOr(u->b.b, begins, resumes, ""), often, rest));
        position(u, often);
        usual = l->BuildSwitch(u->b.b, entry, none, u->entries);
        position(u, rest);
    }
    LLVMValueRef choice = l->BuildSwitch(u->b.b, entry, none, u->entries);
    usual = usual != NULL ? usual : choice;
    for (uint32_t n = 0; n < u->blocks; n++) {
        const struct nat_block *b = &u->block[n];
        if (b->entry == 0 || !b->in->reached)
            continue;
        LLVMBasicBlockRef entry = nat_new_block(u);
        l->AddCase(n == 0 ? usual : choice, word(u, b->entry - 1u), entry);
        position(u, entry);
        emit_entry(u, b);
        if (n > 0 && parks(u, b - 1))
            nat_emit_resume(u, b, usual, choice);
    }
    position(u, none);
    nat_put_member(u, quad(u, 0), offsetof(struct emu_native_frame, retired));
    (void)l->BuildRetVoid(u->b.b); /* the number of the site in the frame is 0 */
    position(u, u->out);
    if (!u->through) {
        nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), offsetof(struct emu_native_frame, retired));
        nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->loads, ""), offsetof(struct emu_native_frame, loads));
        nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->stores, ""), offsetof(struct emu_native_frame, stores));
        if (u->ended != NULL)
            nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->ended, ""), offsetof(struct emu_native_frame, ended));
        if (u->local_stores != NULL)
            nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->local_stores, ""),
                           offsetof(struct emu_native_frame, local_stores));
        if (u->atomics != NULL) {
            nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->atomics, ""), offsetof(struct emu_native_frame, atomics));
            nat_put_member(u, l->BuildLoad2(u->b.b, u->b.i64, u->changes, ""), offsetof(struct emu_native_frame, changes));
        }
    }
    (void)l->BuildRetVoid(u->b.b);
    nat_emit_wide(u);
    for (uint32_t n = 0; n < u->blocks; n++) {
        if (u->block[n].in->reached) {
            emit_block(u, &u->block[n]);
        } else {
            position(u, u->start[n]);
            (void)l->BuildUnreachable(u->b.b);
        }
    }
    nat_emit_regions(u);
    (void)l->BuildBr(u->entry_builder, dispatch);
    for (struct nat_shared *f = u->shared_functions, *next; f != NULL; f = next) {
        next = f->next;
        free(f);
    }
    return !u->failed;
}
