/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR that reads and writes registers, as LLVM variables and in the register file.
 *
 * A register has a separate variable for each kind of shape that it has somewhere in the kernel. At the end of a block
 * the value is converted to the shape that the next block expects. LLVM's mem2reg pass turns the variables into SSA values.
 *
 * In large kernels u->through is true: each register is stored where it is written, and each block loads the registers
 * that it reads.
 */
#include <string.h>

#include "native/nat_values_priv.h"

static LLVMValueRef load_home(struct nat_unit *u, const LLVMValueRef *slot, LLVMTypeRef type);
static void store_scalar_predicate(struct nat_unit *u, unsigned p, LLVMValueRef value);

/* ---- variables -------------------------------------------------------------------------------- */

static LLVMValueRef variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type)
{
    if (*slot == NULL)
        *slot = u->b.llvm->BuildAlloca(u->entry_builder, type, "");
    return *slot;
}
/* With u->through, *@slot is the last value of the register in this block, or NULL if the value is only in memory. */
LLVMValueRef nat_read_variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type)
{
    if (!u->through)
        return u->b.llvm->BuildLoad2(u->b.b, type, variable(u, slot, type), "");
    if (*slot == NULL)
        *slot = load_home(u, slot, type);
    return *slot;
}
void nat_write_variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type, LLVMValueRef value)
{
    if (u->through)
        *slot = value;
    else
        (void)u->b.llvm->BuildStore(u->b.b, value, variable(u, slot, type));
}
void nat_forget_values(struct nat_unit *u)
{
    memset(&u->values, 0, sizeof u->values);
}


struct nat_lanes nat_lanes_of(struct nat_unit *u, LLVMValueRef mask, LLVMValueRef bits)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef wide = u->width < 64 ? l->BuildZExt(u->b.b, bits, u->b.i64, "") : bits;
    LLVMValueRef args[2] = {wide, l->ConstInt(u->b.i1, 1, 0)};
    struct nat_lanes lanes = {.some = true, .mask = mask, .bits = bits, .others = l->BuildNot(u->b.b, bits, "")};

    lanes.first = nat_intrinsic(&u->b, "llvm.cttz", u->b.i64, args, 2);
    lanes.low = l->BuildTrunc(u->b.b, lanes.first, u->b.i32, "");
    lanes.last = l->BuildSub(u->b.b, quad(u, 63), nat_intrinsic(&u->b, "llvm.ctlz", u->b.i64, args, 2), "");
    lanes.span = l->BuildAdd(u->b.b, l->BuildSub(u->b.b, lanes.last, lanes.first, ""), quad(u, 1), "");
    return lanes;
}

LLVMValueRef nat_all(struct nat_unit *u, LLVMValueRef lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildBitCast(u->b.b, lanes, mask_type(u), "");

    if (u->lanes.some)
        bits = l->BuildOr(u->b.b, bits, u->lanes.others, "");
    return l->BuildICmp(u->b.b, NAT_INT_EQ, bits, l->ConstInt(mask_type(u), ~UINT64_C(0), 0), "");
}
/** Returns an i1 that is true if @lanes is true in at least one executed lane. */
LLVMValueRef nat_any_lane(struct nat_unit *u, LLVMValueRef lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildBitCast(u->b.b, lanes, mask_type(u), "");

    if (u->lanes.some)
        bits = l->BuildAnd(u->b.b, bits, u->lanes.bits, "");
    return l->BuildICmp(u->b.b, NAT_INT_NE, bits, l->ConstNull(mask_type(u)), "");
}
LLVMValueRef nat_first(struct nat_unit *u, LLVMValueRef vector)
{
    return u->b.llvm->BuildExtractElement(u->b.b, vector, u->lanes.some ? u->lanes.low : word(u, 0), "");
}

LLVMValueRef nat_address(struct nat_unit *u, LLVMValueRef base, LLVMValueRef offset)
{
    return u->b.llvm->BuildGEP2(u->b.b, u->b.i8, base, &offset, 1, "");
}

LLVMValueRef nat_affine_lanes(struct nat_unit *u, bool wide, LLVMValueRef base, int64_t sx, LLVMValueRef step)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef type = wide ? u->b.i64 : u->b.i32;
    LLVMValueRef x[64], y[64], sum = nat_splat(&u->b, base, u->width);

    for (unsigned i = 0; i < u->width; i++) {
        x[i] = l->ConstInt(type, (uint64_t)sx * (i % u->columns), 0);
        y[i] = l->ConstInt(type, i / u->columns, 0);
    }
    if (sx != 0)
        sum = l->BuildAdd(u->b.b, sum, l->ConstVector(x, u->width), "");
    if (u->rows > 1)
        sum = l->BuildAdd(u->b.b, sum, l->BuildMul(u->b.b, nat_splat(&u->b, step, u->width), l->ConstVector(y, u->width), ""), "");
    return sum;
}

LLVMValueRef nat_canonical(struct nat_unit *u, LLVMValueRef bits, bool vector)
{
    struct nat_value x = {bits, NAT_U32, vector}, f = nat_bits(&u->b, x, NAT_F32), nan = nat_constant(&u->b, NAT_U32, 0x7fffffff);
    LLVMValueRef is = u->b.llvm->BuildFCmp(u->b.b, NAT_REAL_UNO, f.v, f.v, "");

    return u->b.llvm->BuildSelect(u->b.b, is, vector ? nat_vector(&u->b, nan).v : nan.v, bits, "");
}

LLVMValueRef nat_get_base(struct nat_unit *u, unsigned reg, bool raw)
{
    const struct nat_shape *shape = &u->state.v[reg];

    if (reg == ISA_VZ)
        return word(u, 0);
    if (shape->kind == NAT_SAME && shape->known)
        return word(u, shape->value);
    if (shape->kind == NAT_UNKNOWN)
        return word(u, 0);
    if (shape->kind == NAT_AFFINE && shape->pair)
        return u->b.llvm->BuildTrunc(u->b.b, nat_get_base_pair(u, reg, raw), u->b.i32, "");
    LLVMValueRef value = nat_read_variable(u, &u->values.same[reg], u->b.i32);
    return !raw && is_raw(u, reg) ? nat_canonical(u, value, false) : value;
}

LLVMValueRef nat_get_base_pair(struct nat_unit *u, unsigned reg, bool raw)
{
    const struct nat_llvm *l = u->b.llvm;

    if (u->state.v[reg].kind == NAT_AFFINE)
        return nat_read_variable(u, &u->values.wide[reg], u->b.i64);
    LLVMValueRef low = l->BuildZExt(u->b.b, nat_get_base(u, reg, raw), u->b.i64, "");
    LLVMValueRef high = l->BuildZExt(u->b.b, nat_get_base(u, reg + 1, raw), u->b.i64, "");
    return l->BuildOr(u->b.b, low, l->BuildShl(u->b.b, high, quad(u, 32), ""), "");
}

LLVMValueRef nat_get_step(struct nat_unit *u, unsigned reg, unsigned words)
{
    const struct nat_shape *shape = &u->state.v[reg];

    if (shape->known_sy)
        return words == 2 ? quad(u, (uint64_t)shape->sy) : word(u, (uint32_t)shape->sy);
    if (!shape->pair)
        return nat_read_variable(u, &u->values.step[reg], u->b.i32);
    LLVMValueRef step = nat_read_variable(u, &u->values.wide_step[reg], u->b.i64);
    return words == 2 ? step : u->b.llvm->BuildTrunc(u->b.b, step, u->b.i32, "");
}

LLVMValueRef nat_get_lanes(struct nat_unit *u, unsigned reg, bool raw)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_shape *shape = &u->state.v[reg];
    LLVMValueRef value;

    if (reg == ISA_VZ)
        return l->ConstNull(lanes_type(u, u->b.i32));
    switch (shape->kind) {
    case NAT_UNKNOWN:
    case NAT_SAME: return nat_splat(&u->b, nat_get_base(u, reg, raw), u->width);
    case NAT_AFFINE:
        return nat_affine_lanes(u, false, nat_get_base(u, reg, true), (int32_t)shape->sx, nat_get_step(u, reg, 1));
    case NAT_HIGH:
        value = l->BuildLShr(u->b.b, nat_get_pair(u, reg - 1, raw), nat_splat(&u->b, quad(u, 32), u->width), "");
        return l->BuildTrunc(u->b.b, value, lanes_type(u, u->b.i32), "");
    default:
        value = nat_read_variable(u, &u->values.vec[reg], lanes_type(u, u->b.i32));
        return !raw && is_raw(u, reg) ? nat_canonical(u, value, true) : value;
    }
}

LLVMValueRef nat_get_pair(struct nat_unit *u, unsigned reg, bool raw)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_shape *shape = &u->state.v[reg];
    LLVMTypeRef wide = lanes_type(u, u->b.i64);

    if (shape->kind == NAT_AFFINE && shape->pair)
        return nat_affine_lanes(u, true, nat_get_base_pair(u, reg, raw), shape->sx, nat_get_step(u, reg, 2));
    LLVMValueRef low = l->BuildZExt(u->b.b, nat_get_lanes(u, reg, raw), wide, "");
    LLVMValueRef high = l->BuildZExt(u->b.b, nat_get_lanes(u, reg + 1, raw), wide, "");
    return l->BuildOr(u->b.b, low, l->BuildShl(u->b.b, high, nat_splat(&u->b, quad(u, 32), u->width), ""), "");
}

/** @address belongs to the frame's warp. Returns the same address for the warp that is being executed. @step: offset of the frame's
 *  member that has the distance between neighbouring warps. The address is computed where it is used, which is mostly where native
 *  code is left: so it needs no register of the host in loops. With u->through nat_load_warp() has computed it. */
static LLVMValueRef of_warp(struct nat_unit *u, LLVMValueRef address, size_t step)
{
    const struct nat_llvm *l = u->b.llvm;

    if (u->ended == NULL || u->through)
        return address;
    LLVMValueRef ended = l->BuildLoad2(u->b.b, u->b.i64, u->ended, "");
    return nat_address(u, address, l->BuildMul(u->b.b, ended, nat_member(u, u->b.i64, step), ""));
}
LLVMValueRef nat_warp(struct nat_unit *u)
{
    return of_warp(u, u->warp, offsetof(struct emu_native_frame, warp_step));
}
LLVMValueRef nat_scalars(struct nat_unit *u)
{
    return of_warp(u, u->s, offsetof(struct emu_native_frame, warp_step));
}
static LLVMValueRef predicates(struct nat_unit *u)
{
    return of_warp(u, u->p, offsetof(struct emu_native_frame, warp_step));
}
static LLVMValueRef scalar_predicates(struct nat_unit *u)
{
    return of_warp(u, u->sp, offsetof(struct emu_native_frame, warp_step));
}
LLVMValueRef nat_local(struct nat_unit *u)
{
    return of_warp(u, u->local, offsetof(struct emu_native_frame, regs_step));
}

LLVMValueRef nat_get_stored(struct nat_unit *u, unsigned reg)
{
    return nat_read_variable(u, &u->values.vec[reg], lanes_type(u, u->b.i32));
}

/* With u->through, each function below that writes a register also stores the value: vectors in the register file, bases and
 * steps in frame->uniform. */

LLVMValueRef nat_uniform_address(struct nat_unit *u, unsigned reg, unsigned which)
{
    return nat_address(u, of_warp(u, u->uniform, offsetof(struct emu_native_frame, uniform_step)), quad(u, 16 * reg + 8 * which));
}
void nat_put_lanes(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    nat_write_variable(u, &u->values.vec[reg], lanes_type(u, u->b.i32), value);
    if (u->through)
        nat_store_row(u, reg, value);
}
void nat_put_same(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    nat_write_variable(u, &u->values.same[reg], u->b.i32, value);
    if (u->through)
        (void)u->b.llvm->BuildStore(u->b.b, value, nat_uniform_address(u, reg, 0));
}
void nat_put_affine(struct nat_unit *u, unsigned reg, bool pair, LLVMValueRef base, LLVMValueRef step)
{
    if (pair) {
        nat_write_variable(u, &u->values.wide[reg], u->b.i64, base);
        nat_write_variable(u, &u->values.wide_step[reg], u->b.i64, step);
    } else {
        nat_write_variable(u, &u->values.same[reg], u->b.i32, base);
        nat_write_variable(u, &u->values.step[reg], u->b.i32, step);
    }
    if (u->through) {
        (void)u->b.llvm->BuildStore(u->b.b, base, nat_uniform_address(u, reg, 0));
        if (u->rows > 1)
            (void)u->b.llvm->BuildStore(u->b.b, step, nat_uniform_address(u, reg, 1));
    }
}

LLVMValueRef nat_get_scalar(struct nat_unit *u, unsigned reg)
{
    if (reg > 127)
        return word(u, 0);
    if (u->state.s[reg].kind == NAT_SAME && u->state.s[reg].known)
        return word(u, u->state.s[reg].value);
    return nat_read_variable(u, &u->values.scalar[reg], u->b.i32);
}
LLVMValueRef nat_get_scalar_pair(struct nat_unit *u, unsigned reg)
{
    const struct nat_llvm *l = u->b.llvm;

    if (reg >= 127)
        return quad(u, 0);
    if (u->through && u->values.scalar[reg] == NULL && u->values.scalar[reg + 1] == NULL && !u->state.s[reg].known &&
        !u->state.s[reg + 1].known) { /* both words are in memory only */
        LLVMValueRef value = l->BuildLoad2(u->b.b, u->b.i64, nat_address(u, nat_scalars(u), quad(u, 4 * reg)), "");
        l->SetAlignment(value, 4);
        return value;
    }
    LLVMValueRef low = l->BuildZExt(u->b.b, nat_get_scalar(u, reg), u->b.i64, "");
    LLVMValueRef high = l->BuildZExt(u->b.b, nat_get_scalar(u, reg + 1), u->b.i64, "");
    return l->BuildOr(u->b.b, low, l->BuildShl(u->b.b, high, quad(u, 32), ""), "");
}
void nat_put_scalar(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    if (reg >= 128)
        return;
    nat_write_variable(u, &u->values.scalar[reg], u->b.i32, value);
    if (u->through)
        (void)u->b.llvm->BuildStore(u->b.b, value, nat_address(u, nat_scalars(u), quad(u, 4 * reg)));
}

struct nat_value nat_get_predicate(struct nat_unit *u, unsigned reg, bool negate, bool scalar)
{
    struct nat_value p = {NULL, NAT_BOOL, false};

    if (reg == ISA_PT)
        p = nat_constant(&u->b, NAT_BOOL, 1);
    else if (scalar)
        p.v = nat_read_variable(u, &u->values.spred[reg], u->b.i1);
    else if (u->state.p[reg] == NAT_SAME || u->state.p[reg] == NAT_UNKNOWN)
        p.v = nat_read_variable(u, &u->values.pred_same[reg], u->b.i1);
    else
        p = (struct nat_value){nat_read_variable(u, &u->values.pred[reg], lanes_type(u, u->b.i1)), NAT_BOOL, true};
    if (negate)
        p.v = u->b.llvm->BuildNot(u->b.b, p.v, "");
    return p;
}
void nat_put_predicate(struct nat_unit *u, unsigned reg, struct nat_value value)
{
    struct nat_state after = u->state;

    nat_shape_step(u, &after, u->at);
    if (after.p[reg] == NAT_SAME)
        nat_write_variable(u, &u->values.pred_same[reg], u->b.i1, value.v);
    else
        nat_write_variable(u, &u->values.pred[reg], lanes_type(u, u->b.i1), nat_vector(&u->b, value).v);
    if (u->through)
        nat_store_predicate(u, reg, value);
}
void nat_put_scalar_predicate(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    nat_write_variable(u, &u->values.spred[reg], u->b.i1, value);
    if (u->through)
        store_scalar_predicate(u, reg, value);
}

LLVMValueRef nat_get_uniform(struct nat_unit *u, const struct nat_source *source)
{
    const bool wide = source->words == 2;
    LLVMValueRef value;

    if (source->vector) /* the zero register vz */
        return wide ? quad(u, 0) : word(u, 0);
    switch (source->kind) {
    case ISA_X_IMM:
        if (source->high)
            return quad(u, (uint64_t)source->x << 32);
        return wide ? quad(u, (uint64_t)(int64_t)(int32_t)source->x) : word(u, source->x);
    case ISA_X_CONST:
        value = isa_x_bank(source->x) == 0 ? u->bank0 : u->bank1;
        value = u->b.llvm->BuildLoad2(u->b.b, wide ? u->b.i64 : u->b.i32, nat_address(u, value, quad(u, isa_x_offset(source->x))), "");
        u->b.llvm->SetAlignment(value, 1);
        return value;
    default: return wide ? nat_get_scalar_pair(u, source->reg) : nat_get_scalar(u, source->reg);
    }
}

/* ---- calls ------------------------------------------------------------------------------------ */

LLVMValueRef nat_member(struct nat_unit *u, LLVMTypeRef type, size_t offset)
{
    return u->b.llvm->BuildLoad2(u->b.b, type, nat_address(u, u->frame, quad(u, offset)), "");
}
void nat_put_member(struct nat_unit *u, LLVMValueRef value, size_t offset)
{
    (void)u->b.llvm->BuildStore(u->b.b, value, nat_address(u, u->frame, quad(u, offset)));
}

/** Emits a call of the function at byte @offset of struct emu_native_calls, which has type @type. */
static LLVMValueRef call_member(struct nat_unit *u, size_t offset, LLVMTypeRef type, LLVMValueRef *args, unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef calls = nat_member(u, u->b.pointer, offsetof(struct emu_native_frame, calls));
    LLVMValueRef pointer = l->BuildLoad2(u->b.b, u->b.pointer, nat_address(u, calls, quad(u, offset)), "");

    return l->BuildCall2(u->b.b, type, pointer, args, count, "");
}

/** Returns a function of the module that makes this call. The function's calling convention preserves almost all scalar registers
 *  of the host. Therefore native code does not save these registers for a call that is rarely executed. */
static LLVMValueRef caller_of(struct nat_unit *u, size_t offset, LLVMTypeRef type, unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef *function = &u->caller[offset / sizeof(void *)], all[8], frame = u->frame;
    LLVMBuilderRef builder = u->b.b;

    if (*function != NULL)
        return *function;
    *function = l->AddFunction(u->b.module, "", type);
    l->SetLinkage(*function, NAT_LINKAGE_INTERNAL);
    l->SetFunctionCallConv(*function, NAT_CONVENTION_PRESERVE_MOST);
    u->b.b = l->CreateBuilderInContext(u->b.context);
    l->PositionBuilderAtEnd(u->b.b, l->AppendBasicBlockInContext(u->b.context, *function, ""));
    for (unsigned i = 0; i < count; i++)
        all[i] = l->GetParam(*function, i);
    u->frame = all[0];
    (void)l->BuildRet(u->b.b, call_member(u, offset, type, all, count));
    l->DisposeBuilder(u->b.b);
    u->b.b = builder;
    u->frame = frame;
    return *function;
}

LLVMValueRef nat_call(struct nat_unit *u, size_t offset, bool rare, LLVMTypeRef result, LLVMTypeRef *types, LLVMValueRef *args,
                      unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef all_types[8] = {u->b.pointer};
    LLVMValueRef all[8] = {u->frame};

    for (unsigned i = 0; i < count; i++) {
        all_types[1 + i] = types[i];
        all[1 + i] = args[i];
    }
    if (u->ended != NULL)
        nat_put_member(u, nat_warp(u), offsetof(struct emu_native_frame, warp));
    LLVMTypeRef type = l->FunctionType(result, all_types, 1 + count, 0);
    if (!rare)
        return call_member(u, offset, type, all, 1 + count);
    LLVMValueRef call = l->BuildCall2(u->b.b, type, caller_of(u, offset, type, 1 + count), all, 1 + count, "");
    l->SetInstructionCallConv(call, NAT_CONVENTION_PRESERVE_MOST);
    return call;
}

/* ---- the frame --------------------------------------------------------------------------------- */

void nat_load_frame(struct nat_unit *u)
{
#define MEMBER(name, type) u->name = nat_member(u, u->b.type, offsetof(struct emu_native_frame, name))
    MEMBER(regs, pointer);
    MEMBER(s, pointer);
    MEMBER(p, pointer);
    MEMBER(sp, pointer);
    MEMBER(warp, pointer);
    MEMBER(special, pointer);
    MEMBER(bank0, pointer);
    MEMBER(bank1, pointer);
    MEMBER(global, pointer);
    MEMBER(global_bytes, i64);
    MEMBER(load_valid, pointer);
    MEMBER(store_valid, pointer);
    MEMBER(dirty, pointer);
    MEMBER(shared, pointer);
    MEMBER(shared_bytes, i64);
    MEMBER(local, pointer);
    MEMBER(local_bytes, i64);
    MEMBER(window, pointer);
    MEMBER(limit, i64);
    MEMBER(uniform, pointer);
    MEMBER(part, pointer);
#undef MEMBER
    u->divides = u->b.llvm->BuildICmp(u->b.b, NAT_INT_NE, nat_member(u, u->b.i64, offsetof(struct emu_native_frame, divides)), quad(u, 0), "");
    if (!u->masked)
        return;
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, mask));
    bits = u->width < 64 ? l->BuildTrunc(u->b.b, bits, mask_type(u), "") : bits;
    u->base = u->split = u->lanes = nat_lanes_of(u, l->BuildBitCast(u->b.b, bits, lanes_type(u, u->b.i1), ""), bits);
    LLVMValueRef alone = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, alone));
    u->alone = l->BuildICmp(u->b.b, NAT_INT_NE, alone, quad(u, 0), "");
    u->divides = l->BuildAnd(u->b.b, u->divides, u->alone, "");
}

void nat_load_warp(struct nat_unit *u, LLVMValueRef ended)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef offset;

#define OFFSET(step) l->BuildMul(u->b.b, ended, nat_member(u, u->b.i64, offsetof(struct emu_native_frame, step)), "")
    offset = OFFSET(warp_step);
    u->s = nat_address(u, u->s, offset);
    u->p = nat_address(u, u->p, offset);
    u->sp = nat_address(u, u->sp, offset);
    u->warp = nat_address(u, u->warp, offset);
    offset = OFFSET(regs_step);
    u->regs = nat_address(u, u->regs, offset);
    u->local = nat_address(u, u->local, offset);
    u->uniform = nat_address(u, u->uniform, OFFSET(uniform_step));
#undef OFFSET
}

LLVMValueRef nat_counter(struct nat_unit *u, size_t offset)
{
    if (u->through) {
        nat_put_member(u, quad(u, 0), offset);
        return nat_address(u, u->frame, quad(u, offset));
    }
    LLVMValueRef slot = u->b.llvm->BuildAlloca(u->entry_builder, u->b.i64, "");

    (void)u->b.llvm->BuildStore(u->entry_builder, quad(u, 0), slot);
    return slot;
}

/* ---- the register file ------------------------------------------------------------------------ */

static LLVMValueRef row_address(struct nat_unit *u, unsigned reg)
{
    LLVMValueRef regs = of_warp(u, u->regs, offsetof(struct emu_native_frame, regs_step));

    return nat_address(u, regs, quad(u, (uint64_t)(u->job->first_row + reg) * u->job->stride));
}
LLVMValueRef nat_load_mask(struct nat_unit *u, unsigned p)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildLoad2(u->b.b, u->b.i64, nat_address(u, predicates(u), quad(u, 8 * p)), "");

    if (u->width < 64)
        bits = l->BuildTrunc(u->b.b, bits, mask_type(u), "");
    return bits;
}
static LLVMValueRef masked(struct nat_unit *u, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef types[2] = {type, u->b.pointer};
    const unsigned id = l->LookupIntrinsicID(name, strlen(name));

    LLVMValueRef function = l->GetIntrinsicDeclaration(u->b.module, id, types, 2);

    return l->BuildCall2(u->b.b, l->IntrinsicGetType(u->b.context, id, types, 2), function, args, count, "");
}
LLVMValueRef nat_load_masked(struct nat_unit *u, LLVMTypeRef type, LLVMValueRef at, unsigned align, LLVMValueRef mask)
{
    LLVMValueRef args[4] = {at, u->b.llvm->ConstInt(u->b.i32, align, 0), mask, u->b.llvm->ConstNull(type)};

    return masked(u, "llvm.masked.load", type, args, 4);
}
void nat_store_masked(struct nat_unit *u, LLVMValueRef value, LLVMValueRef at, unsigned align, LLVMValueRef mask)
{
    LLVMValueRef args[4] = {value, at, u->b.llvm->ConstInt(u->b.i32, align, 0), mask};

    (void)masked(u, "llvm.masked.store", u->b.llvm->TypeOf(value), args, 4);
}

/** Stores a register to the register file, in the lanes of the split. */
void nat_store_row(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    if (u->split.some)
        nat_store_masked(u, value, row_address(u, reg), 16, u->split.mask);
    else
        u->b.llvm->SetAlignment(u->b.llvm->BuildStore(u->b.b, value, row_address(u, reg)), 16);
}
void nat_store_predicate(struct nat_unit *u, unsigned p, struct nat_value value)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildBitCast(u->b.b, nat_vector(&u->b, value).v, mask_type(u), "");

    if (u->split.some)
        bits = l->BuildOr(u->b.b, l->BuildAnd(u->b.b, bits, u->split.bits, ""),
                          l->BuildAnd(u->b.b, nat_load_mask(u, p), u->split.others, ""), "");
    if (u->width < 64)
        bits = l->BuildZExt(u->b.b, bits, u->b.i64, "");
    (void)l->BuildStore(u->b.b, bits, nat_address(u, predicates(u), quad(u, 8 * p)));
}
static void store_scalar_predicate(struct nat_unit *u, unsigned p, LLVMValueRef value)
{
    (void)u->b.llvm->BuildStore(u->b.b, u->b.llvm->BuildZExt(u->b.b, value, u->b.i8, ""), nat_address(u, scalar_predicates(u), quad(u, p)));
}
/** Returns true if @slot is one of the @count variables from @first on, and sets *@index to its index. */
static bool is_of(const LLVMValueRef *slot, const LLVMValueRef *first, unsigned count, unsigned *index)
{
    const uintptr_t at = (uintptr_t)slot - (uintptr_t)first;

    *index = (unsigned)(at / sizeof *first);
    return at < count * sizeof *first;
}
/** Loads a variable from the memory to which its register was stored (u->through). */
static LLVMValueRef load_home(struct nat_unit *u, const LLVMValueRef *slot, LLVMTypeRef type)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_values *v = &u->values;
    unsigned i;

    if (is_of(slot, v->vec, 256, &i))
        return nat_load_lanes(u, i);
    if (is_of(slot, v->same, 256, &i) || is_of(slot, v->wide, 256, &i))
        return l->BuildLoad2(u->b.b, type, nat_uniform_address(u, i, 0), "");
    if (is_of(slot, v->step, 256, &i) || is_of(slot, v->wide_step, 256, &i))
        return u->rows > 1 ? l->BuildLoad2(u->b.b, type, nat_uniform_address(u, i, 1), "") : l->ConstNull(type);
    if (is_of(slot, v->scalar, 128, &i))
        return l->BuildLoad2(u->b.b, type, nat_address(u, nat_scalars(u), quad(u, 4 * i)), "");
    if (is_of(slot, v->spred, 8, &i))
        return nat_load_scalar_predicate(u, i);
    if (is_of(slot, v->pred, 8, &i))
        return l->BuildBitCast(u->b.b, nat_load_mask(u, i), lanes_type(u, u->b.i1), "");
    (void)is_of(slot, v->pred_same, 8, &i);
    LLVMValueRef bits = nat_load_mask(u, i);
    if (u->split.some)
        bits = l->BuildAnd(u->b.b, bits, u->split.bits, "");
    return l->BuildICmp(u->b.b, NAT_INT_NE, bits, l->ConstNull(mask_type(u)), "");
}
/** Stores those registers of @set that are not in the register file yet. */
void nat_spill(struct nat_unit *u, const struct nat_set *set)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned r = 0; r < u->job->vregs && r < 255; r++)
        if (nat_has(set, NAT_V + r) && u->state.v[r].kind != NAT_UNKNOWN &&
            !(u->through && u->state.v[r].kind == NAT_LANES && !is_raw(u, r)))
            nat_store_row(u, r, nat_get_lanes(u, r, false));
    if (u->through)
        return;
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(set, NAT_S + r))
            (void)l->BuildStore(u->b.b, nat_get_scalar(u, r), nat_address(u, nat_scalars(u), quad(u, 4 * r)));
    nat_spill_predicates(u, set);
}
void nat_spill_predicates(struct nat_unit *u, const struct nat_set *set)
{
    u->writes = true;
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(set, NAT_P + p))
            nat_store_predicate(u, p, nat_get_predicate(u, p, false, false));
        if (nat_has(set, NAT_SP + p))
            store_scalar_predicate(u, p, nat_get_predicate(u, p, false, true).v);
    }
}
LLVMValueRef nat_load_lanes(struct nat_unit *u, unsigned reg)
{
    LLVMValueRef value = u->b.llvm->BuildLoad2(u->b.b, lanes_type(u, u->b.i32), row_address(u, reg), "");

    u->b.llvm->SetAlignment(value, 16);
    return value;
}
LLVMValueRef nat_load_scalar_predicate(struct nat_unit *u, unsigned p)
{
    LLVMValueRef byte = u->b.llvm->BuildLoad2(u->b.b, u->b.i8, nat_address(u, scalar_predicates(u), quad(u, p)), "");

    return u->b.llvm->BuildICmp(u->b.b, NAT_INT_NE, byte, u->b.llvm->ConstNull(u->b.i8), "");
}
LLVMValueRef nat_lane(struct nat_unit *u, LLVMValueRef vector, unsigned i)
{
    return u->b.llvm->BuildExtractElement(u->b.b, vector, word(u, i), "");
}
/** Computes the value in lane 0 of an affine register with a known sy from the value in the lowest executed lane. */
LLVMValueRef nat_base_of(struct nat_unit *u, bool wide, LLVMValueRef row, int64_t sx, int64_t sy)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef base = nat_first(u, row), x, y;

    if (!u->lanes.some)
        return base;
    x = l->BuildURem(u->b.b, u->lanes.low, word(u, u->columns), "");
    y = l->BuildUDiv(u->b.b, u->lanes.low, word(u, u->columns), "");
    if (wide) {
        x = l->BuildZExt(u->b.b, x, u->b.i64, "");
        y = l->BuildZExt(u->b.b, y, u->b.i64, "");
    }
    LLVMTypeRef type = wide ? u->b.i64 : u->b.i32;
    base = l->BuildSub(u->b.b, base, l->BuildMul(u->b.b, x, l->ConstInt(type, (uint64_t)sx, 0), ""), "");
    return l->BuildSub(u->b.b, base, l->BuildMul(u->b.b, y, l->ConstInt(type, (uint64_t)sy, 0), ""), "");
}

/* ---- parking ---------------------------------------------------------------------------------- */

/*
 * A warp that reaches a barrier of the block is parked. While the warp is parked, its uniform and affine registers are in
 * frame->uniform and all other registers in the register file. All registers have the shapes that the block after the
 * barrier expects, so no shape must be verified after the barrier. If the interpreter continues the warp, the code first
 * stores all registers to the register file.
 */

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
                (void)l->BuildStore(u->b.b, nat_get_step(u, r, pair ? 2 : 1), nat_uniform_address(u, r, 1));
        }
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(live, NAT_S + r) && !u->state.s[r].known)
            (void)l->BuildStore(u->b.b, nat_get_scalar(u, r), nat_address(u, nat_scalars(u), quad(u, 4 * r)));
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
            nat_put_scalar(u, r, l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, nat_scalars(u), quad(u, 4 * r)), ""));
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

void nat_emit_resume(struct nat_unit *u, const struct nat_block *b, LLVMValueRef resumes, LLVMValueRef unparks)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef entry = nat_new_block(u), unpark = nat_new_block(u);

    u->state = *b->in;
    l->AddCase(resumes, word(u, (b->entry - 1u) | EMU_NATIVE_RESUME), entry);
    position(u, entry);
    if (!u->through)
        resume(u, b);
    (void)l->BuildBr(u->b.b, u->start[b - u->block]);
    l->AddCase(unparks, word(u, (b->entry - 1u) | EMU_NATIVE_UNPARK), unpark);
    position(u, unpark);
    const struct nat_shared *f = nat_shared_function(u, &b->live, false);
    if (f != NULL && f->function != NULL)
        (void)l->BuildCall2(u->b.b, l->FunctionType(u->b.none, &u->b.pointer, 1, 0), f->function, &u->frame, 1, "");
    for (unsigned r = 0; r < ISA_S_EXEC && !u->through; r++)
        if (nat_has(&b->live, NAT_S + r) && u->state.s[r].known)
            (void)l->BuildStore(u->b.b, word(u, u->state.s[r].value), nat_address(u, nat_scalars(u), quad(u, 4 * r)));
    (void)l->BuildRetVoid(u->b.b);
}
