/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR of a kernel: registers as variables, flow, entering and leaving.
 *
 * A register is up to three variables, one for each shape that it has somewhere; at the end of a block a value takes
 * the shape that the next block expects. LLVM's mem2reg pass turns the variables into SSA values.
 */
#include <stdlib.h>
#include <string.h>

#include "native/nat_priv.h"

LLVMBasicBlockRef nat_new_block(struct nat_unit *u)
{
    return u->b.llvm->AppendBasicBlockInContext(u->b.context, u->function, "");
}
static void position(struct nat_unit *u, LLVMBasicBlockRef block)
{
    u->b.llvm->PositionBuilderAtEnd(u->b.b, block);
}
static LLVMTypeRef lanes_type(const struct nat_unit *u, LLVMTypeRef of)
{
    return u->b.llvm->VectorType(of, u->width);
}
static LLVMTypeRef mask_type(const struct nat_unit *u)
{
    return u->b.llvm->IntTypeInContext(u->b.context, u->width);
}

/* ---- variables -------------------------------------------------------------------------------- */

static LLVMValueRef variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type)
{
    if (*slot == NULL)
        *slot = u->b.llvm->BuildAlloca(u->entry_builder, type, "");
    return *slot;
}
static LLVMValueRef read_variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type)
{
    return u->b.llvm->BuildLoad2(u->b.b, type, variable(u, slot, type), "");
}
static void write_variable(struct nat_unit *u, LLVMValueRef *slot, LLVMTypeRef type, LLVMValueRef value)
{
    (void)u->b.llvm->BuildStore(u->b.b, value, variable(u, slot, type));
}

static LLVMValueRef word(const struct nat_unit *u, uint64_t value)
{
    return u->b.llvm->ConstInt(u->b.i32, value, 0);
}
static LLVMValueRef quad(const struct nat_unit *u, uint64_t value)
{
    return u->b.llvm->ConstInt(u->b.i64, value, 0);
}

struct nat_lanes nat_lanes_of(struct nat_unit *u, LLVMValueRef mask, LLVMValueRef bits)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef wide = u->width < 64 ? l->BuildZExt(u->b.b, bits, u->b.i64, "") : bits;
    LLVMValueRef args[2] = {wide, l->ConstInt(u->b.i1, 1, 0)};

    return (struct nat_lanes){true, mask, bits,
                              l->BuildTrunc(u->b.b, nat_intrinsic(&u->b, "llvm.cttz", u->b.i64, args, 2), u->b.i32, "")};
}

LLVMValueRef nat_all(struct nat_unit *u, LLVMValueRef lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildBitCast(u->b.b, lanes, mask_type(u), "");

    if (u->lanes.some)
        bits = l->BuildOr(u->b.b, bits, l->BuildNot(u->b.b, u->lanes.bits, ""), "");
    return l->BuildICmp(u->b.b, NAT_INT_EQ, bits, l->ConstInt(mask_type(u), ~UINT64_C(0), 0), "");
}
/** Returns true (i1) if @lanes holds in a lane that is executed. */
static LLVMValueRef any_lane(struct nat_unit *u, LLVMValueRef lanes)
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
static bool is_raw(const struct nat_unit *u, unsigned reg)
{
    return nat_has(&u->state.nan, NAT_V + reg);
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
    LLVMValueRef value = read_variable(u, &u->same[reg], u->b.i32);
    return !raw && is_raw(u, reg) ? nat_canonical(u, value, false) : value;
}

LLVMValueRef nat_get_base_pair(struct nat_unit *u, unsigned reg, bool raw)
{
    const struct nat_llvm *l = u->b.llvm;

    if (u->state.v[reg].kind == NAT_AFFINE)
        return read_variable(u, &u->wide[reg], u->b.i64);
    LLVMValueRef low = l->BuildZExt(u->b.b, nat_get_base(u, reg, raw), u->b.i64, "");
    LLVMValueRef high = l->BuildZExt(u->b.b, nat_get_base(u, reg + 1, raw), u->b.i64, "");
    return l->BuildOr(u->b.b, low, l->BuildShl(u->b.b, high, quad(u, 32), ""), "");
}

LLVMValueRef nat_get_step(struct nat_unit *u, unsigned reg)
{
    const struct nat_shape *shape = &u->state.v[reg];

    if (shape->known_sy)
        return shape->pair ? quad(u, (uint64_t)shape->sy) : word(u, (uint32_t)shape->sy);
    return shape->pair ? read_variable(u, &u->wide_step[reg], u->b.i64) : read_variable(u, &u->step[reg], u->b.i32);
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
        if (!shape->pair)
            return nat_affine_lanes(u, false, nat_get_base(u, reg, true), shape->sx, nat_get_step(u, reg));
        return l->BuildTrunc(u->b.b, nat_get_pair(u, reg, raw), lanes_type(u, u->b.i32), "");
    case NAT_HIGH:
        value = l->BuildLShr(u->b.b, nat_get_pair(u, reg - 1, raw), nat_splat(&u->b, quad(u, 32), u->width), "");
        return l->BuildTrunc(u->b.b, value, lanes_type(u, u->b.i32), "");
    default:
        value = read_variable(u, &u->vec[reg], lanes_type(u, u->b.i32));
        return !raw && is_raw(u, reg) ? nat_canonical(u, value, true) : value;
    }
}

LLVMValueRef nat_get_pair(struct nat_unit *u, unsigned reg, bool raw)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_shape *shape = &u->state.v[reg];
    LLVMTypeRef wide = lanes_type(u, u->b.i64);

    if (shape->kind == NAT_AFFINE && shape->pair)
        return nat_affine_lanes(u, true, nat_get_base_pair(u, reg, raw), shape->sx, nat_get_step(u, reg));
    LLVMValueRef low = l->BuildZExt(u->b.b, nat_get_lanes(u, reg, raw), wide, "");
    LLVMValueRef high = l->BuildZExt(u->b.b, nat_get_lanes(u, reg + 1, raw), wide, "");
    return l->BuildOr(u->b.b, low, l->BuildShl(u->b.b, high, nat_splat(&u->b, quad(u, 32), u->width), ""), "");
}

LLVMValueRef nat_get_stored(struct nat_unit *u, unsigned reg)
{
    return read_variable(u, &u->vec[reg], lanes_type(u, u->b.i32));
}
void nat_put_lanes(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    write_variable(u, &u->vec[reg], lanes_type(u, u->b.i32), value);
}
void nat_put_same(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    write_variable(u, &u->same[reg], u->b.i32, value);
}
void nat_put_affine(struct nat_unit *u, unsigned reg, bool pair, LLVMValueRef base, LLVMValueRef step)
{
    if (pair) {
        write_variable(u, &u->wide[reg], u->b.i64, base);
        write_variable(u, &u->wide_step[reg], u->b.i64, step);
    } else {
        write_variable(u, &u->same[reg], u->b.i32, base);
        write_variable(u, &u->step[reg], u->b.i32, step);
    }
}

LLVMValueRef nat_get_scalar(struct nat_unit *u, unsigned reg)
{
    if (reg > 127)
        return word(u, 0);
    if (u->state.s[reg].kind == NAT_SAME && u->state.s[reg].known)
        return word(u, u->state.s[reg].value);
    return read_variable(u, &u->scalar[reg], u->b.i32);
}
LLVMValueRef nat_get_scalar_pair(struct nat_unit *u, unsigned reg)
{
    const struct nat_llvm *l = u->b.llvm;

    if (reg >= 127)
        return quad(u, 0);
    LLVMValueRef low = l->BuildZExt(u->b.b, nat_get_scalar(u, reg), u->b.i64, "");
    LLVMValueRef high = l->BuildZExt(u->b.b, nat_get_scalar(u, reg + 1), u->b.i64, "");
    return l->BuildOr(u->b.b, low, l->BuildShl(u->b.b, high, quad(u, 32), ""), "");
}
void nat_put_scalar(struct nat_unit *u, unsigned reg, LLVMValueRef value)
{
    if (reg < 128)
        write_variable(u, &u->scalar[reg], u->b.i32, value);
}

struct nat_value nat_get_predicate(struct nat_unit *u, unsigned reg, bool negate, bool scalar)
{
    struct nat_value p = {NULL, NAT_BOOL, false};

    if (reg == ISA_PT)
        p = nat_constant(&u->b, NAT_BOOL, 1);
    else if (scalar)
        p.v = read_variable(u, &u->spred[reg], u->b.i1);
    else if (u->state.p[reg] == NAT_SAME || u->state.p[reg] == NAT_UNKNOWN)
        p.v = read_variable(u, &u->pred_same[reg], u->b.i1);
    else
        p = (struct nat_value){read_variable(u, &u->pred[reg], lanes_type(u, u->b.i1)), NAT_BOOL, true};
    if (negate)
        p.v = u->b.llvm->BuildNot(u->b.b, p.v, "");
    return p;
}
void nat_put_predicate(struct nat_unit *u, unsigned reg, struct nat_value value)
{
    struct nat_state after = u->state;

    nat_shape_step(u, &after, u->at);
    if (after.p[reg] == NAT_SAME)
        write_variable(u, &u->pred_same[reg], u->b.i1, value.v);
    else
        write_variable(u, &u->pred[reg], lanes_type(u, u->b.i1), nat_vector(&u->b, value).v);
}

LLVMValueRef nat_get_uniform(struct nat_unit *u, const struct nat_source *source)
{
    const bool wide = source->words == 2;
    LLVMValueRef value;

    if (source->vector) /* vz */
        return wide ? quad(u, 0) : word(u, 0);
    switch (source->kind) {
    case ISA_X_IMM:
        if (source->high)
            return quad(u, (uint64_t)source->x << 32);
        return wide ? quad(u, (uint64_t)(int64_t)(int32_t)source->x) : word(u, source->x);
    case ISA_X_CONST:
        value = u->b.llvm->BuildLoad2(u->b.b, wide ? u->b.i64 : u->b.i32,
                                      nat_address(u, u->bank0, quad(u, isa_x_offset(source->x))), "");
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
static void put_member(struct nat_unit *u, LLVMValueRef value, size_t offset)
{
    (void)u->b.llvm->BuildStore(u->b.b, value, nat_address(u, u->frame, quad(u, offset)));
}

LLVMValueRef nat_call(struct nat_unit *u, uintptr_t function, LLVMTypeRef result, LLVMTypeRef *types, LLVMValueRef *args,
                      unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef all_types[8] = {u->b.pointer};
    LLVMValueRef all[8] = {u->frame};

    for (unsigned i = 0; i < count; i++) {
        all_types[1 + i] = types[i];
        all[1 + i] = args[i];
    }
    LLVMTypeRef type = l->FunctionType(result, all_types, 1 + count, 0);
    LLVMValueRef pointer = l->BuildIntToPtr(u->b.b, quad(u, function), u->b.pointer, "");
    return l->BuildCall2(u->b.b, type, pointer, all, 1 + count, "");
}

/* ---- the register file ------------------------------------------------------------------------ */

static LLVMValueRef row_address(struct nat_unit *u, unsigned reg)
{
    return nat_address(u, u->regs, quad(u, (uint64_t)(u->request->first_row + reg) * u->request->stride));
}
static LLVMValueRef load_mask(struct nat_unit *u, unsigned p)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildLoad2(u->b.b, u->b.i64, nat_address(u, u->p, quad(u, 8 * p)), "");

    if (u->width < 64)
        bits = l->BuildTrunc(u->b.b, bits, mask_type(u), "");
    return bits;
}
static void spill(struct nat_unit *u, const struct nat_set *set)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned r = 0; r < u->request->vregs && r < 255; r++) {
        if (!nat_has(set, NAT_V + r) || u->state.v[r].kind == NAT_UNKNOWN)
            continue;
        if (u->lanes.some)
            nat_store_masked(u, nat_get_lanes(u, r, false), row_address(u, r), 16, u->lanes.mask);
        else
            l->SetAlignment(l->BuildStore(u->b.b, nat_get_lanes(u, r, false), row_address(u, r)), 16);
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(set, NAT_S + r))
            (void)l->BuildStore(u->b.b, nat_get_scalar(u, r), nat_address(u, u->s, quad(u, 4 * r)));
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(set, NAT_P + p)) {
            LLVMValueRef bits = nat_vector(&u->b, nat_get_predicate(u, p, false, false)).v;
            bits = l->BuildBitCast(u->b.b, bits, mask_type(u), "");
            if (u->lanes.some)
                bits = l->BuildOr(u->b.b, l->BuildAnd(u->b.b, bits, u->lanes.bits, ""),
                                  l->BuildAnd(u->b.b, load_mask(u, p), l->BuildNot(u->b.b, u->lanes.bits, ""), ""), "");
            if (u->width < 64)
                bits = l->BuildZExt(u->b.b, bits, u->b.i64, "");
            (void)l->BuildStore(u->b.b, bits, nat_address(u, u->p, quad(u, 8 * p)));
        }
        if (nat_has(set, NAT_SP + p))
            (void)l->BuildStore(u->b.b, l->BuildZExt(u->b.b, nat_get_predicate(u, p, false, true).v, u->b.i8, ""),
                                nat_address(u, u->sp, quad(u, p)));
    }
}
LLVMValueRef nat_load_lanes(struct nat_unit *u, unsigned reg)
{
    LLVMValueRef value = u->b.llvm->BuildLoad2(u->b.b, lanes_type(u, u->b.i32), row_address(u, reg), "");

    u->b.llvm->SetAlignment(value, 16);
    return value;
}
static LLVMValueRef load_scalar_predicate(struct nat_unit *u, unsigned p)
{
    LLVMValueRef byte = u->b.llvm->BuildLoad2(u->b.b, u->b.i8, nat_address(u, u->sp, quad(u, p)), "");

    return u->b.llvm->BuildICmp(u->b.b, NAT_INT_NE, byte, u->b.llvm->ConstNull(u->b.i8), "");
}
static LLVMValueRef lane(struct nat_unit *u, LLVMValueRef vector, unsigned i)
{
    return u->b.llvm->BuildExtractElement(u->b.b, vector, word(u, i), "");
}
/** Returns the value in lane 0 of an affine row with a known sy, from the value in the lowest lane that is executed. */
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

/* ---- leaving ---------------------------------------------------------------------------------- */

/** Leaves before instruction @i, with the state of u->state; @extra: instructions of the block before it. */
static void leave(struct nat_unit *u, uint32_t i, const struct nat_set *live, unsigned extra, unsigned loads, unsigned stores)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_lanes kept = u->lanes;

    u->lanes = u->split;
    spill(u, live);
    u->lanes = kept;
    LLVMValueRef counted = l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), quad(u, extra), "");
    put_member(u, counted, offsetof(struct emu_native_frame, retired));
    put_member(u, l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->loads, ""), quad(u, loads), ""),
               offsetof(struct emu_native_frame, loads));
    put_member(u, l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->stores, ""), quad(u, stores), ""),
               offsetof(struct emu_native_frame, stores));
    put_member(u, word(u, u->first + i), offsetof(struct emu_native_frame, next));
    (void)l->BuildRetVoid(u->b.b);
}
static void leave_here(struct nat_unit *u)
{
    struct nat_set live;

    nat_live_before(u, u->at, &live);
    leave(u, u->at, &live, u->at - u->block_first, u->block_loads, u->block_stores);
}

void nat_leave_unless(struct nat_unit *u, LLVMValueRef ok)
{
    LLVMBasicBlockRef go = nat_new_block(u);
    const bool shared = u->leave_at == u->at + 1; /* the checks of an instruction leave with one state */

    if (!shared)
        u->leave = nat_new_block(u);
    u->leave_at = u->at + 1;
    (void)u->b.llvm->BuildCondBr(u->b.b, ok, go, u->leave);
    if (!shared) {
        position(u, u->leave);
        leave_here(u);
    }
    position(u, go);
}

/* ---- flow ------------------------------------------------------------------------------------- */

static void add_to(struct nat_unit *u, LLVMValueRef counter, unsigned count)
{
    const struct nat_llvm *l = u->b.llvm;

    if (count != 0)
        (void)l->BuildStore(u->b.b, l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, counter, ""), quad(u, count), ""), counter);
}

/** Gives the registers the shapes that block @to expects. */
static void reshape(struct nat_unit *u, const struct nat_block *to)
{
    for (unsigned r = 0; r < 255; r++) {
        const struct nat_shape *from = &u->state.v[r], *want = &to->in->v[r];
        if (!nat_has(&to->live, NAT_V + r) || want->kind == NAT_UNKNOWN || want->kind == NAT_HIGH)
            continue;
        const bool raw = !is_raw(u, r) || nat_has(&to->in->nan, NAT_V + r);
        if (want->kind == NAT_LANES && (from->kind != NAT_LANES || !raw))
            nat_put_lanes(u, r, nat_get_lanes(u, r, raw));
        else if (want->kind == NAT_SAME && !want->known)
            nat_put_same(u, r, nat_get_base(u, r, raw));
        else if (want->kind == NAT_AFFINE && want->pair)
            nat_put_affine(u, r, true, nat_get_base_pair(u, r, true), nat_get_step(u, r));
        else if (want->kind == NAT_AFFINE)
            nat_put_affine(u, r, false, nat_get_base(u, r, true), nat_get_step(u, r));
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(&to->live, NAT_S + r) && u->state.s[r].known && !to->in->s[r].known)
            nat_put_scalar(u, r, nat_get_scalar(u, r));
    for (unsigned p = 0; p < 7; p++)
        if (nat_has(&to->live, NAT_P + p) && to->in->p[p] == NAT_LANES && u->state.p[p] == NAT_SAME)
            write_variable(u, &u->pred[p], lanes_type(u, u->b.i1), nat_vector(&u->b, nat_get_predicate(u, p, false, false)).v);
}

/** Continues with block @n; the state is that at the end of this block. */
static void go_to(struct nat_unit *u, int32_t n)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_block *to = &u->block[n];

    reshape(u, to);
    if (to->first <= u->at) { /* runaway loops end here */
        LLVMBasicBlockRef go = nat_new_block(u), out = nat_new_block(u);
        struct nat_state kept = u->state;
        LLVMValueRef counted = l->BuildLoad2(u->b.b, u->b.i64, u->counted, "");
        if (u->masked) /* a time slice of the split must not end before the next test */
            counted = l->BuildAdd(u->b.b, counted, quad(u, to->path - 1), "");
        LLVMValueRef more = l->BuildICmp(u->b.b, NAT_INT_ULT, counted, u->limit, "");
        (void)l->BuildCondBr(u->b.b, more, go, out);
        position(u, out);
        u->state = *to->in;
        leave(u, to->first, &to->live, 0, 0, 0);
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
        add_to(u, u->counted, b->count);
        add_to(u, u->loads, u->block_loads);
        add_to(u, u->stores, u->block_stores);
        (void)l->BuildBr(u->b.b, go);
        position(u, fall);
        (void)l->BuildUnreachable(u->b.b);
    } else {
        LLVMValueRef any = taken.v;
        if (taken.vector) {
            any = any_lane(u, taken.v);
            nat_leave_unless(u, l->BuildOr(u->b.b, l->BuildNot(u->b.b, any, ""), nat_all(u, taken.v), "")); /* the lanes divide */
        }
        add_to(u, u->counted, b->count);
        add_to(u, u->loads, u->block_loads);
        add_to(u, u->stores, u->block_stores);
        (void)l->BuildCondBr(u->b.b, any, go, fall);
    }
    position(u, go);
    go_to(u, b->next[1]);
    if (b->next[0] >= 0) {
        position(u, fall);
        go_to(u, b->next[0]);
    }
}

void nat_emit_generic(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    struct nat_set reads, writes;
    struct nat_state after = u->state;
    LLVMTypeRef type = u->b.i32;
    LLVMValueRef index = word(u, u->first + u->at);

    nat_uses(u, u->at, &reads, &writes);
    spill(u, &reads);
    nat_leave_unless(u, nat_call(u, (uintptr_t)emu_native_execute, u->b.i1, &type, &index, 1));
    nat_shape_step(u, &after, u->at);
    for (unsigned r = 0; r < 255; r++) {
        if (!nat_has(&writes, NAT_V + r))
            continue;
        if (after.v[r].kind == NAT_SAME)
            nat_put_same(u, r, nat_first(u, nat_load_lanes(u, r)));
        nat_put_lanes(u, r, nat_load_lanes(u, r));
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(&writes, NAT_S + r)) {
            LLVMValueRef value = l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, u->s, quad(u, 4 * r)), "");
            nat_put_scalar(u, r, value);
        }
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(&writes, NAT_P + p))
            write_variable(u, &u->pred[p], lanes_type(u, u->b.i1),
                           l->BuildBitCast(u->b.b, load_mask(u, p), lanes_type(u, u->b.i1), ""));
        if (nat_has(&writes, NAT_SP + p))
            write_variable(u, &u->spred[p], u->b.i1, load_scalar_predicate(u, p));
    }
}

static void emit_barrier(struct nat_unit *u, const struct isa_insn *insn)
{
    LLVMTypeRef types[2] = {u->b.i32, u->b.i64};
    LLVMValueRef args[2] = {word(u, insn->d & 15), NULL};

    if (u->kind[u->at] == NAT_BSSY) {
        nat_leave_unless(u, nat_call(u, (uintptr_t)emu_native_bssy, u->b.i1, types, args, 1));
        return;
    }
    args[1] = u->b.llvm->BuildAdd(u->b.b, u->b.llvm->BuildLoad2(u->b.b, u->b.i64, u->counted, ""),
                                  quad(u, u->at - u->block_first), "");
    nat_leave_unless(u, nat_call(u, (uintptr_t)emu_native_bsync, u->b.i1, types, args, 2));
}

/** An exit with a guard. */
static void emit_exit(struct nat_unit *u, const struct isa_insn *insn)
{
    const struct nat_value gone = nat_get_predicate(u, insn->guard, insn->guard_neg, insn->guard_scalar);

    nat_leave_unless(u, u->b.llvm->BuildNot(u->b.b, gone.vector ? any_lane(u, gone.v) : gone.v, ""));
}

/** Leaves before an instruction that writes registers of the scalar unit if the warp has other splits: it faults. */
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

/** Makes lanes of the other half of a pair that the next instruction breaks up. */
static void keep_halves(struct nat_unit *u)
{
    struct nat_state after = u->state;
    struct nat_set reads, writes;

    nat_shape_step(u, &after, u->at);
    nat_uses(u, u->at, &reads, &writes);
    for (unsigned r = 0; r < 255; r++)
        if (after.v[r].kind == NAT_LANES && u->state.v[r].kind != NAT_LANES && !nat_has(&writes, NAT_V + r))
            nat_put_lanes(u, r, nat_get_lanes(u, r, true));
}

static void emit_block(struct nat_unit *u, const struct nat_block *b)
{
    position(u, u->start[b - u->block]);
    u->state = *b->in;
    u->block_first = b->first;
    u->block_loads = u->block_stores = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const struct isa_insn *insn = &u->insn[i];
        u->at = i;
        keep_halves(u);
        if (u->masked && u->kind[i] != NAT_BRANCH)
            must_be_alone(u);
        switch (u->kind[i]) {
        case NAT_ROW: nat_emit_row(u); break;
        case NAT_LOAD:
        case NAT_STORE:
        case NAT_SCALAR_LOAD:
            if (!nat_emit_memory(u))
                nat_emit_generic(u);
            break;
        case NAT_GENERIC: nat_emit_generic(u); break;
        case NAT_BSSY:
        case NAT_BSYNC: emit_barrier(u, insn); break;
        case NAT_EXIT: emit_exit(u, insn); break;
        case NAT_BRANCH: emit_branch(u, b); return;
        case NAT_LEAVE: leave_here(u); return;
        default: break;
        }
        nat_shape_step(u, &u->state, i);
    }
    add_to(u, u->counted, b->count);
    add_to(u, u->loads, u->block_loads);
    add_to(u, u->stores, u->block_stores);
    if (b->next[0] >= 0) {
        go_to(u, b->next[0]);
    } else { /* falls off the function's end: the interpreter faults there */
        u->at = b->first + b->count - 1;
        (void)u->b.llvm->BuildUnreachable(u->b.b);
    }
}

/* ---- entering --------------------------------------------------------------------------------- */

/** Sets *@all to the lanes in which the row is what its shape says. */
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
            base = shape->known_sy ? nat_base_of(u, false, row, shape->sx, shape->sy) : lane(u, row, 0);
            step = shape->known_sy ? word(u, (uint32_t)shape->sy)
                   : u->rows > 1 ? l->BuildSub(u->b.b, lane(u, row, u->columns), base, "") : word(u, 0);
            nat_put_affine(u, r, false, base, step);
            must_hold(u, all, row, nat_affine_lanes(u, false, base, shape->sx, step));
            break;
        }
        row = l->BuildOr(u->b.b, l->BuildZExt(u->b.b, row, lanes_type(u, u->b.i64), ""),
                         l->BuildShl(u->b.b, l->BuildZExt(u->b.b, nat_load_lanes(u, r + 1), lanes_type(u, u->b.i64), ""),
                                     nat_splat(&u->b, quad(u, 32), u->width), ""), "");
        base = shape->known_sy ? nat_base_of(u, true, row, shape->sx, shape->sy) : lane(u, row, 0);
        step = shape->known_sy ? quad(u, (uint64_t)shape->sy)
               : u->rows > 1 ? l->BuildSub(u->b.b, lane(u, row, u->columns), base, "") : quad(u, 0);
        nat_put_affine(u, r, true, base, step);
        must_hold(u, all, row, nat_affine_lanes(u, true, base, shape->sx, step));
        break;
    case NAT_HIGH: break; /* with the low word */
    default: nat_put_lanes(u, r, row); break;
    }
}

/** Loads the registers that are live before block @b, and verifies their shapes. */
static void emit_entry(struct nat_unit *u, const struct nat_block *b)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef no = nat_new_block(u);
    LLVMValueRef all = NULL, ok = l->ConstInt(u->b.i1, 1, 0), none = l->ConstNull(mask_type(u));
    LLVMValueRef all_bits = u->lanes.some ? u->lanes.bits : l->ConstInt(mask_type(u), ~UINT64_C(0), 0);

    u->state = *b->in;
    for (unsigned r = 0; r < u->request->vregs && r < 255; r++)
        if (nat_has(&b->live, NAT_V + r))
            enter_vector(u, r, &b->in->v[r], &all);
    if (all != NULL)
        ok = nat_all(u, all);
    if (u->lanes.some)
        ok = l->BuildAnd(u->b.b, ok, l->BuildICmp(u->b.b, NAT_INT_ULE, quad(u, b->path), u->limit, ""), "");
    for (unsigned r = 0; r < 128; r++) {
        if (!nat_has(&b->live, NAT_S + r))
            continue;
        LLVMValueRef value = l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, u->s, quad(u, 4 * r)), "");
        nat_put_scalar(u, r, value);
        if (b->in->s[r].kind == NAT_SAME && b->in->s[r].known)
            ok = l->BuildAnd(u->b.b, ok, l->BuildICmp(u->b.b, NAT_INT_EQ, value, word(u, b->in->s[r].value), ""), "");
    }
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(&b->live, NAT_P + p)) {
            LLVMValueRef bits = load_mask(u, p);
            if (b->in->p[p] == NAT_SAME) {
                if (u->lanes.some)
                    bits = l->BuildAnd(u->b.b, bits, u->lanes.bits, "");
                LLVMValueRef any = l->BuildICmp(u->b.b, NAT_INT_NE, bits, none, "");
                LLVMValueRef full = l->BuildICmp(u->b.b, NAT_INT_EQ, bits, all_bits, "");
                ok = l->BuildAnd(u->b.b, ok, l->BuildOr(u->b.b, full, l->BuildNot(u->b.b, any, ""), ""), "");
                write_variable(u, &u->pred_same[p], u->b.i1, any);
            } else {
                write_variable(u, &u->pred[p], lanes_type(u, u->b.i1), l->BuildBitCast(u->b.b, bits, lanes_type(u, u->b.i1), ""));
            }
        }
        if (nat_has(&b->live, NAT_SP + p))
            write_variable(u, &u->spred[p], u->b.i1, load_scalar_predicate(u, p));
    }
    (void)l->BuildCondBr(u->b.b, ok, u->start[b - u->block], no);
    position(u, no);
    put_member(u, quad(u, 0), offsetof(struct emu_native_frame, retired));
    (void)l->BuildRetVoid(u->b.b);
}

static void load_frame(struct nat_unit *u)
{
#define MEMBER(name, type) u->name = nat_member(u, u->b.type, offsetof(struct emu_native_frame, name))
    MEMBER(regs, pointer);
    MEMBER(s, pointer);
    MEMBER(p, pointer);
    MEMBER(sp, pointer);
    MEMBER(special, pointer);
    MEMBER(bank0, pointer);
    MEMBER(global, pointer);
    MEMBER(global_bytes, i64);
    MEMBER(load_valid, pointer);
    MEMBER(store_valid, pointer);
    MEMBER(dirty, pointer);
    MEMBER(shared, pointer);
    MEMBER(shared_bytes, i64);
    MEMBER(window, pointer);
    MEMBER(limit, i64);
#undef MEMBER
    if (!u->masked)
        return;
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, mask));
    bits = u->width < 64 ? l->BuildTrunc(u->b.b, bits, mask_type(u), "") : bits;
    u->split = u->lanes = nat_lanes_of(u, l->BuildBitCast(u->b.b, bits, lanes_type(u, u->b.i1), ""), bits);
    LLVMValueRef alone = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, alone));
    u->alone = l->BuildICmp(u->b.b, NAT_INT_NE, alone, quad(u, 0), "");
}

static LLVMValueRef counter(struct nat_unit *u)
{
    LLVMValueRef slot = u->b.llvm->BuildAlloca(u->entry_builder, u->b.i64, "");

    (void)u->b.llvm->BuildStore(u->entry_builder, quad(u, 0), slot);
    return slot;
}

bool nat_emit(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef dispatch = nat_new_block(u), none;

    u->entry_block = dispatch;
    u->start = calloc(u->blocks, sizeof *u->start);
    if (u->start == NULL)
        return false;
    l->PositionBuilderAtEnd(u->entry_builder, u->entry_block);
    dispatch = nat_new_block(u);
    position(u, dispatch);
    u->frame = l->GetParam(u->function, 0);
    load_frame(u);
    u->counted = counter(u);
    u->loads = counter(u);
    u->stores = counter(u);
    for (unsigned p = 0; p < 7; p++) { /* predicates are false where no path writes them */
        write_variable(u, &u->pred_same[p], u->b.i1, l->ConstNull(u->b.i1));
        write_variable(u, &u->spred[p], u->b.i1, l->ConstNull(u->b.i1));
    }
    for (uint32_t n = 0; n < u->blocks; n++)
        u->start[n] = nat_new_block(u);
    none = nat_new_block(u);
    LLVMValueRef choice = l->BuildSwitch(u->b.b, l->GetParam(u->function, 1), none, u->entries);
    for (uint32_t n = 0; n < u->blocks; n++) {
        const struct nat_block *b = &u->block[n];
        if (b->entry == 0 || !b->in->reached)
            continue;
        LLVMBasicBlockRef entry = nat_new_block(u);
        l->AddCase(choice, word(u, b->entry - 1u), entry);
        position(u, entry);
        emit_entry(u, b);
    }
    position(u, none);
    put_member(u, quad(u, 0), offsetof(struct emu_native_frame, retired));
    (void)l->BuildRetVoid(u->b.b);
    for (uint32_t n = 0; n < u->blocks; n++) {
        if (u->block[n].in->reached) {
            emit_block(u, &u->block[n]);
        } else {
            position(u, u->start[n]);
            (void)l->BuildUnreachable(u->b.b);
        }
    }
    (void)l->BuildBr(u->entry_builder, dispatch);
    return true;
}
