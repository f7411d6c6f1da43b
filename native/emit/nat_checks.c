/* SPDX-License-Identifier: Apache-2.0 */
/* IR that checks the addresses of loads and stores. Native code leaves before an access of which a byte is not valid. */
#include <string.h>

#include "native/nat_values_priv.h"

/* ---- segments --------------------------------------------------------------------------------- */

/*
 * A segment is a sequence of instructions that change only registers, except that the last one may change other state. If a
 * check in a segment fails, native code leaves before the segment's first instruction, with the registers that the warp had
 * there, and the interpreter executes the instructions of the segment again. So registers are stored at one point in each
 * segment, and not at one point for each check. Branches and other instructions at which native code is left often are segments
 * of their own.
 */

/* Largest number of registers whose values before the segment are live only because code may leave there. Each of these values
 * occupies one or several registers of the host. */
enum { MOST_KEPT = 3 };

/** Calls @each for each variable of a register that is live before the segment. @each receives the variable, its value before the
 *  segment, and its type. */
static void each_variable(struct nat_unit *u, void (*each)(struct nat_unit *, LLVMValueRef, LLVMValueRef *, LLVMTypeRef))
{
    const struct nat_set *live = &u->live[u->segment.first - u->block_first];
    struct nat_values *now = &u->values, *before = &u->segment.before;

#define EACH(member, type)                       \
    if (now->member != NULL)                     \
        each(u, now->member, &before->member, type);
    for (unsigned r = 0; r < u->job->vregs && r < 255; r++) {
        if (!nat_has(live, NAT_V + r) && !nat_has(live, NAT_V + r + 1)) /* the low register of a pair may be dead */
            continue;
        EACH(vec[r], lanes_type(u, u->b.i32))
        EACH(same[r], u->b.i32)
        EACH(step[r], u->b.i32)
        EACH(wide[r], u->b.i64)
        EACH(wide_step[r], u->b.i64)
    }
    for (unsigned r = 0; r < ISA_S_EXEC; r++)
        if (nat_has(live, NAT_S + r)) {
            EACH(scalar[r], u->b.i32)
        }
    for (unsigned p = 0; p < 7; p++) {
        if (nat_has(live, NAT_P + p)) {
            EACH(pred[p], lanes_type(u, u->b.i1))
            EACH(pred_same[p], u->b.i1)
        }
        if (nat_has(live, NAT_SP + p)) {
            EACH(spred[p], u->b.i1)
        }
    }
#undef EACH
}
static void keep_value(struct nat_unit *u, LLVMValueRef variable, LLVMValueRef *before, LLVMTypeRef type)
{
    *before = u->b.llvm->BuildLoad2(u->b.b, type, variable, "");
}
static void restore_value(struct nat_unit *u, LLVMValueRef variable, LLVMValueRef *before, LLVMTypeRef type)
{
    (void)type;
    if (*before != NULL) /* otherwise the variable was created in the segment */
        (void)u->b.llvm->BuildStore(u->b.b, *before, variable);
}

void nat_begin_segment(struct nat_unit *u)
{
    u->segment.first = u->at;
    u->segment.loads = u->block_loads;
    u->segment.stores = u->block_stores;
    u->segment.state = u->state;
    memset(&u->segment.before, 0, sizeof u->segment.before);
    each_variable(u, keep_value); /* LLVM deletes the values that are not used */
}

void nat_leave_segment(struct nat_unit *u)
{
    const struct nat_segment *s = &u->segment;
    const struct nat_state kept = u->state;
    const struct nat_lanes lanes = u->lanes;

    u->state = s->state;
    u->lanes = u->split; /* a guard of the access does not apply */
    each_variable(u, restore_value);
    nat_leave(u, (struct emu_native_site){u->first + s->first, s->first - u->block_first, s->loads, s->stores, 0},
              &u->live[s->first - u->block_first], nat_running_bits(u));
    u->state = kept;
    u->lanes = lanes;
}

bool nat_begins_segment(const struct nat_unit *u, unsigned kept)
{
    const uint32_t i = u->at;

    if (i == u->block_first || kept > MOST_KEPT)
        return true;
    for (uint32_t k = i - 1; k <= i; k++) { /* these instructions are segments of their own: generic ones, branches and
                                             * barriers */
        if (!nat_goes_on(u, k))
            return true;
    }
    const enum nat_kind last = (enum nat_kind)u->kind[i - 1];
    const bool access = last == NAT_LOAD || last == NAT_STORE || last == NAT_SCALAR_LOAD;
    return last == NAT_STORE || last == NAT_REDUCE || u->generic || (access && u->insn[i - 1].guard != ISA_PT);
}

unsigned nat_overwrites(const struct nat_unit *u)
{
    const struct nat_set *live = &u->live[u->segment.first - u->block_first];
    struct nat_set reads, writes;
    unsigned count = 0;

    nat_uses(u, u->at, &reads, &writes);
    for (unsigned w = 0; w < NAT_S / 64; w++)
        count += lw_popcount(writes.word[w] & live->word[w]);
    return count;
}

/* ---- ranges of addresses ------------------------------------------------------------------------- */

/** Returns the size in bytes of shared memory, or of a lane's local memory. */
static LLVMValueRef room_of(const struct nat_unit *u, enum isa_space space)
{
    return space == ISA_SPACE_SHARED ? u->shared_bytes : u->local_bytes;
}

/** Emits a branch that is taken if @ok is true. The code emitted between this call and end_rare() is for the rare case that @ok
 *  is false. Returns the target of the branch. */
static LLVMBasicBlockRef begin_rare(struct nat_unit *u, LLVMValueRef ok)
{
    LLVMBasicBlockRef go = nat_new_block(u), rare = nat_new_block(u);

    nat_likely(&u->b, u->b.llvm->BuildCondBr(u->b.b, ok, go, rare));
    u->b.llvm->PositionBuilderAtEnd(u->b.b, rare);
    return go;
}
/** Emits a call of member @call of struct emu_native_calls, leaves native code if the result is false, and otherwise continues
 *  at @go, which begin_rare() has returned. */
static void end_rare(struct nat_unit *u, LLVMBasicBlockRef go, size_t call, LLVMTypeRef *types, LLVMValueRef *args, unsigned count)
{
    nat_leave_unless(u, nat_call(u, call, true, u->b.i1, types, args, count));
    (void)u->b.llvm->BuildBr(u->b.b, go);
    u->b.llvm->PositionBuilderAtEnd(u->b.b, go);
}
void nat_must_be_aligned(struct nat_unit *u, LLVMValueRef offset, unsigned align)
{
    LLVMValueRef rest = u->b.llvm->BuildAnd(u->b.b, offset, quad(u, align - 1), "");

    if (align > 1)
        nat_leave_unless(u, u->b.llvm->BuildICmp(u->b.b, NAT_INT_EQ, rest, quad(u, 0), ""));
}
/** Emits loads of both members of a new window. Returns the number of the window. */
static uint32_t load_window(struct nat_unit *u, LLVMValueRef *low, LLVMValueRef *bytes)
{
    LLVMValueRef window = nat_address(u, u->window, quad(u, u->windows * sizeof(struct emu_native_window)));

    *low = u->b.llvm->BuildLoad2(u->b.b, u->b.i64, window, "");
    *bytes = u->b.llvm->BuildLoad2(u->b.b, u->b.i64, nat_address(u, window, quad(u, 8)), "");
    return u->windows++;
}

/** Returns an i1 that is true if the bytes [@offset, @offset + @bytes) of global memory are in a page, may be accessed, and, for a
 *  write, are in a page that is marked as written. */
static LLVMValueRef look_up(struct nat_unit *u, LLVMValueRef offset, LLVMValueRef bytes, bool write)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    LLVMValueRef ok;
    LLVMValueRef inside = l->BuildICmp(b, NAT_INT_ULT, offset, u->global_bytes, "");
    LLVMValueRef page = l->BuildSelect(b, inside, l->BuildLShr(b, offset, quad(u, 12), ""), quad(u, 0), "");
    LLVMValueRef valid = l->BuildLoad2(b, u->b.i16, l->BuildGEP2(b, u->b.i16, write ? u->store_valid : u->load_valid, &page, 1, ""), "");
    LLVMValueRef end = l->BuildAdd(b, l->BuildAnd(b, offset, quad(u, EMU_NATIVE_PAGE - 1), ""), bytes, "");
    ok = l->BuildAnd(b, inside, l->BuildICmp(b, NAT_INT_ULE, end, l->BuildZExt(b, valid, u->b.i64, ""), ""), "");
    if (write) {
        LLVMValueRef mark = l->BuildLoad2(b, u->b.i8, nat_address(u, u->dirty, page), "");
        ok = l->BuildAnd(b, ok, l->BuildICmp(b, NAT_INT_EQ, mark, l->ConstInt(u->b.i8, EMU_NATIVE_DIRTY, 0), ""), "");
    }
    return ok;
}

/** Emits code that leaves native code unless the bytes [@offset, @offset + @bytes) of memory of @space may be accessed and
 *  @offset is a multiple of @align. @bytes is an i64. @rest: as for nat_check(). */
static void check_range(struct nat_unit *u, enum isa_space space, LLVMValueRef offset, LLVMValueRef rest, LLVMValueRef bytes,
                        unsigned align, bool write)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;

    nat_must_be_aligned(u, rest, align);
    if (space != ISA_SPACE_GLOBAL) {
        LLVMValueRef all = room_of(u, space), room = l->BuildSub(b, all, bytes, "");
        LLVMValueRef inside = l->BuildICmp(b, NAT_INT_ULE, offset, room, "");
        nat_leave_unless(u, l->BuildAnd(b, l->BuildICmp(b, NAT_INT_UGE, all, bytes, ""), inside, ""));
        return;
    }
    LLVMBasicBlockRef go = begin_rare(u, look_up(u, offset, bytes, write));
    LLVMTypeRef types[3] = {u->b.i64, u->b.i64, u->b.i1};
    LLVMValueRef args[3] = {offset, bytes, l->ConstInt(u->b.i1, write, 0)};
    end_rare(u, go, offsetof(struct emu_native_calls, reach), types, args, 3);
}
/* The address of an access to global memory is compared with a window. The comparison takes a third of the instructions that a
 * look-up in the table of pages takes. A store outside of a window that is not empty looks in the table, because a window of
 * stores may be a small part of the allocation. */
void nat_check(struct nat_unit *u, enum isa_space space, LLVMValueRef offset, LLVMValueRef rest, uint64_t bytes, unsigned align,
               bool write)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef low, count;

    if (space != ISA_SPACE_GLOBAL) {
        check_range(u, space, offset, rest, quad(u, bytes), align, write);
        return;
    }
    nat_must_be_aligned(u, rest, align);
    const uint32_t slot = load_window(u, &low, &count);
    LLVMBasicBlockRef go = begin_rare(u, l->BuildICmp(u->b.b, NAT_INT_ULT, l->BuildSub(u->b.b, offset, low, ""), count, ""));
    LLVMTypeRef types[3] = {u->b.i32, u->b.i64, u->b.i64};
    LLVMValueRef args[3] = {l->ConstInt(u->b.i32, slot, 0), offset, quad(u, bytes)};
    if (write) {
        LLVMBasicBlockRef fill = nat_new_block(u), look = nat_new_block(u);
        (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_EQ, count, quad(u, 0), ""), fill, look);
        position(u, look);
        (void)l->BuildCondBr(u->b.b, look_up(u, offset, quad(u, bytes), true), go, fill);
        position(u, fill);
    }
    end_rare(u, go, write ? offsetof(struct emu_native_calls, store) : offsetof(struct emu_native_calls, load), types, args, 3);
}

/* ---- checks of several loads ---------------------------------------------------------------------- */

bool nat_goes_on(const struct nat_unit *u, uint32_t k)
{
    const enum nat_kind kind = (enum nat_kind)u->kind[k];

    return kind == NAT_ROW || kind == NAT_NOTHING || kind == NAT_LOAD || kind == NAT_SCALAR_LOAD || kind == NAT_STORE || kind == NAT_REDUCE;
}

/** Returns whether instruction @k writes a register from which load @load computes its address. */
static bool moves(const struct nat_unit *u, uint32_t k, const struct isa_insn *load)
{
    const unsigned mode = isa_mod_get(load, ISA_MOD_AMODE);
    struct nat_set reads, writes;

    nat_uses(u, k, &reads, &writes);
    if (nat_has(&writes, NAT_V + load->a) || (mode == ISA_AMODE_PAIR && nat_has(&writes, NAT_V + load->a + 1)))
        return true;
    return (mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32) &&
           (nat_has(&writes, NAT_S + load->c) || nat_has(&writes, NAT_S + load->c + 1));
}

/** Returns whether the address of load @k differs from that of @load only by a constant, if its registers have the same values. */
static bool is_like(const struct nat_unit *u, uint32_t k, const struct isa_insn *load)
{
    const struct isa_insn *other = &u->insn[k];

    return u->kind[k] == NAT_LOAD && other->op == load->op && other->guard == ISA_PT && other->a == load->a && other->c == load->c &&
           isa_mod_get(other, ISA_MOD_AMODE) == isa_mod_get(load, ISA_MOD_AMODE) &&
           isa_mod_get(other, ISA_MOD_ASCALE) == isa_mod_get(load, ISA_MOD_ASCALE) && isa_mem_bytes(other) == isa_mem_bytes(load);
}

bool nat_is_covered(struct nat_unit *u, uint64_t bytes, int64_t *low, int64_t *high)
{
    const struct isa_insn *load = &u->insn[u->at];
    const int64_t disp = isa_x_disp(load->x), size = (int64_t)bytes;
    const uint32_t end = u->block[u->block_of[u->at]].first + u->block[u->block_of[u->at]].count;
    int64_t from = disp, to = disp;
    bool grows = true;

    *low = 0;
    *high = size;
    if (load->guard != ISA_PT || isa_mod_get(load, ISA_MOD_AMODE) == ISA_AMODE_32) /* the constant may wrap the sum */
        return false;
    for (unsigned i = 0; i < u->covered_count; i++) {
        const struct nat_covered *c = &u->covered[i];
        bool same = is_like(u, c->at, load) && c->low <= disp && disp < c->high;

        for (uint32_t k = c->at; k < u->at && same; k++)
            same = !moves(u, k, load);
        if (same)
            return true;
    }
    while (grows) { /* the loads may have any order */
        grows = false;
        for (uint32_t k = u->at; k < end && nat_goes_on(u, k) && (k == u->at || !moves(u, k - 1, load)); k++) {
            const int64_t other = isa_x_disp(u->insn[k].x);

            if (k == u->at || !is_like(u, k, load) || (other >= from && other <= to) || other < from - size || other > to + size)
                continue;
            from = other < from ? other : from;
            to = other > to ? other : to;
            grows = true;
        }
    }
    *low = from - disp;
    *high = to + size - disp;
    u->covered[u->covered_count % LW_COUNT_OF(u->covered)] = (struct nat_covered){u->at, from, to + 1};
    u->covered_count += u->covered_count < LW_COUNT_OF(u->covered);
    return false;
}

/** Returns @lanes as an i64. */
static LLVMValueRef bits_of(struct nat_unit *u, const struct nat_lanes *lanes)
{
    if (!lanes->some)
        return quad(u, u->width < 64 ? (UINT64_C(1) << u->width) - 1 : ~UINT64_C(0));
    return u->width < 64 ? u->b.llvm->BuildZExt(u->b.b, lanes->bits, u->b.i64, "") : lanes->bits;
}
LLVMValueRef nat_base_bits(struct nat_unit *u)
{
    return bits_of(u, &u->base);
}
LLVMValueRef nat_access_bits(struct nat_unit *u)
{
    return bits_of(u, &u->lanes);
}
LLVMValueRef nat_last_lane(struct nat_unit *u)
{
    return u->lanes.some ? u->lanes.last : quad(u, u->width - 1);
}

void nat_check_masked_row(struct nat_unit *u, enum isa_space space, LLVMValueRef offset, LLVMValueRef rest, unsigned bytes, bool write)
{
    const struct nat_llvm *l = u->b.llvm;

    offset = l->BuildAdd(u->b.b, offset, l->BuildMul(u->b.b, u->lanes.first, quad(u, bytes), ""), "");
    check_range(u, space, offset, rest, l->BuildMul(u->b.b, u->lanes.span, quad(u, bytes), ""), bytes, write);
}

LLVMValueRef nat_lane_variable(struct nat_unit *u, LLVMValueRef *slot, unsigned bytes)
{
    if (*slot == NULL)
        *slot = u->b.llvm->BuildAlloca(u->entry_builder, u->b.llvm->VectorType(u->b.i64, u->width * bytes / 8), "");
    return *slot;
}

LLVMValueRef nat_scaled(struct nat_unit *u, const struct nat_offsets *at, LLVMValueRef x)
{
    const struct nat_llvm *l = u->b.llvm;
    const bool vector = l->TypeOf(x) == lanes_type(u, at->wide ? u->b.i64 : u->b.i32);
    LLVMValueRef shift = quad(u, at->scale);

    if (!at->wide)
        x = l->BuildSExt(u->b.b, x, vector ? lanes_type(u, u->b.i64) : u->b.i64, "");
    return at->scale == 0 ? x : l->BuildShl(u->b.b, x, vector ? nat_splat(&u->b, shift, u->width) : shift, "");
}

/** Returns @x, an i64, as a vector of the type of the indices of @at. */
static LLVMValueRef splat_index(struct nat_unit *u, const struct nat_offsets *at, LLVMValueRef x)
{
    return nat_splat(&u->b, at->wide ? x : u->b.llvm->BuildTrunc(u->b.b, x, u->b.i32, ""), u->width);
}

/** Returns an i1. If it is true, the elements of @bytes at offsets @at are in the range [@low, @low + @size), and the distances of
 *  their offsets from @low are multiples of @bytes, a power of two. It may be false although they are, if @at is not wide and a
 *  number is too large for the 32-bit comparisons. */
static LLVMValueRef are_elements(struct nat_unit *u, const struct nat_offsets *at, unsigned bytes, LLVMValueRef low, LLVMValueRef size)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const uint64_t unit = UINT64_C(1) << at->scale, part = unit < bytes ? unit : bytes;
    LLVMValueRef from = l->BuildSub(b, at->base, low, ""), first = l->BuildAShr(b, from, quad(u, at->scale), ""), count, ok;
    LLVMValueRef index = at->index;

    /* Lane l has the element that begins (index + first) units, and from % unit bytes, after @low. */
    if (unit >= bytes) {
        LLVMValueRef rest = l->BuildAnd(b, from, quad(u, unit - 1), "");
        count = l->BuildSub(b, l->BuildAdd(b, size, quad(u, unit - bytes), ""), rest, "");
        count = l->BuildLShr(b, count, quad(u, at->scale), "");
    } else {
        count = l->BuildLShr(b, size, quad(u, lw_lowest(bytes)), "");
    }
    if (!at->wide && !at->is_signed) { /* an index of 2^31 or more fails the comparison, whatever the sum is */
        LLVMValueRef top = l->BuildAnd(b, index, nat_splat(&u->b, word(u, INT32_MIN), u->width), "");
        index = l->BuildOr(b, l->BuildAdd(b, index, splat_index(u, at, first), ""), top, "");
    } else {
        index = l->BuildAdd(b, index, splat_index(u, at, first), "");
    }
    if (unit < bytes) { /* rotates the low bits to the top: only multiples of @bytes are then below `count` */
        LLVMValueRef args[3] = {index, index, splat_index(u, at, quad(u, lw_lowest(bytes) - at->scale))};
        index = nat_intrinsic(&u->b, "llvm.fshr", l->TypeOf(index), args, 3);
    }
    ok = nat_all(u, l->BuildICmp(b, NAT_INT_ULT, index, splat_index(u, at, count), ""));
    if (part > 1)
        ok = l->BuildAnd(b, ok, l->BuildICmp(b, NAT_INT_EQ, l->BuildAnd(b, from, quad(u, part - 1), ""), quad(u, 0), ""), "");
    if (at->wide)
        return ok;
    /* With at most 2^30 units, and `first` from -2^29 to 2^29, no sum of a 32-bit index and `first` wraps to a number below `count`
     * (or, if it is rotated, to a number that is below `count` then). */
    LLVMValueRef near = l->BuildICmp(b, NAT_INT_ULE, l->BuildAdd(b, first, quad(u, 1 << 29), ""), quad(u, 1 << 30), "");
    LLVMValueRef few = l->BuildICmp(b, NAT_INT_ULE, l->BuildLShr(b, size, quad(u, at->scale), ""), quad(u, 1 << 30), "");
    return l->BuildAnd(b, ok, l->BuildAnd(b, near, few, ""), "");
}

void nat_check_lanes(struct nat_unit *u, enum isa_space space, const struct nat_offsets *at, unsigned bytes, bool write)
{
    if (space != ISA_SPACE_GLOBAL) {
        nat_leave_unless(u, are_elements(u, at, bytes, quad(u, 0), room_of(u, space)));
        return;
    }
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    LLVMValueRef low, size;
    const uint32_t slot = load_window(u, &low, &size);

    LLVMBasicBlockRef go = begin_rare(u, are_elements(u, at, bytes, low, size));
    if (!at->wide) {
        LLVMValueRef end = nat_splat(&u->b, word(u, NAT_MOST_INDEX), u->width);
        LLVMValueRef index = at->is_signed ? l->BuildAdd(b, at->index, end, "") : at->index;
        LLVMValueRef range = at->is_signed ? nat_splat(&u->b, word(u, 2 * (uint64_t)NAT_MOST_INDEX), u->width) : end;
        nat_leave_unless(u, nat_all(u, l->BuildICmp(b, NAT_INT_ULT, index, range, "")));
    }
    LLVMValueRef lanes = l->BuildAdd(b, nat_scaled(u, at, at->index), nat_splat(&u->b, at->base, u->width), "");
    l->SetAlignment(l->BuildStore(b, lanes, nat_lane_variable(u, &u->offsets, 8)), 8);
    LLVMTypeRef types[5] = {u->b.i32, u->b.i32, u->b.pointer, u->b.i64, u->b.i1};
    LLVMValueRef args[5] = {l->ConstInt(u->b.i32, slot, 0), l->ConstInt(u->b.i32, bytes, 0), u->offsets, nat_access_bits(u),
                            l->ConstInt(u->b.i1, write, 0)};
    end_rare(u, go, offsetof(struct emu_native_calls, find), types, args, 5);
}
