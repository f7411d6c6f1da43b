/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR of loads and stores. If the addresses in a row of the lane grid are consecutive, the row is loaded or stored as a
 * vector. If the addresses are equal, one element is loaded. All other loads are gathers, and all other stores of words to
 * shared memory are scatters, unless a test at run time finds that the addresses are consecutive. The interpreter's handlers
 * execute the remaining stores. The exact bytes of every access are checked before any state changes.
 */
#include <string.h>

#include "native/nat_priv.h"

static LLVMValueRef quad(const struct nat_unit *u, uint64_t value)
{
    return u->b.llvm->ConstInt(u->b.i64, value, 0);
}

void nat_extend(struct nat_unit *u, bool is_signed, LLVMValueRef base, int64_t sx, LLVMValueRef step, LLVMValueRef *wide_base,
                LLVMValueRef *wide_step)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const int64_t x_end = sx * (int64_t)(u->columns - 1);

    *wide_base = is_signed ? l->BuildSExt(b, base, u->b.i64, "") : l->BuildZExt(b, base, u->b.i64, "");
    *wide_step = l->BuildSExt(b, step, u->b.i64, "");
    LLVMValueRef low = l->BuildAdd(b, *wide_base, quad(u, (uint64_t)(x_end < 0 ? x_end : 0)), "");
    LLVMValueRef high = l->BuildAdd(b, *wide_base, quad(u, (uint64_t)(x_end > 0 ? x_end : 0)), "");
    if (u->rows > 1) {
        LLVMValueRef way = l->BuildMul(b, *wide_step, quad(u, u->rows - 1), ""), zero = quad(u, 0);
        LLVMValueRef down = l->BuildICmp(b, NAT_INT_SLT, way, zero, "");
        low = l->BuildAdd(b, low, l->BuildSelect(b, down, way, zero, ""), "");
        high = l->BuildAdd(b, high, l->BuildSelect(b, down, zero, way, ""), "");
    }
    LLVMValueRef fits;
    if (is_signed)
        fits = l->BuildAnd(b, l->BuildICmp(b, NAT_INT_SGE, low, quad(u, (uint64_t)INT32_MIN), ""),
                           l->BuildICmp(b, NAT_INT_SLE, high, quad(u, INT32_MAX), ""), "");
    else
        fits = l->BuildAnd(b, l->BuildICmp(b, NAT_INT_SGE, low, quad(u, 0), ""),
                           l->BuildICmp(b, NAT_INT_SLE, high, quad(u, UINT32_MAX), ""), "");
    nat_leave_unless(u, fits);
}

/* ---- addresses -------------------------------------------------------------------------------- */

/** Addresses of an access, as offsets from the start of global or shared memory. */
struct place {
    bool shared;        /* the access is to shared memory; false: to global memory */
    bool affine;        /* the addresses are base + x * sx + y * step; false: they are `lanes` */
    int64_t sx;
    bool flat;          /* all rows of the lane grid have the same addresses */
    LLVMValueRef base, step; /* i64 */
    LLVMValueRef lanes; /* <W x i64> */
};

/** Computes where the lanes of a load or store access memory. */
static void find_place(struct nat_unit *u, const struct isa_insn *insn, struct place *at)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);
    const unsigned scale = mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32 ? isa_mod_get(insn, ISA_MOD_ASCALE) : 0;
    const bool is_signed = mode == ISA_AMODE_SS32, pair = mode == ISA_AMODE_PAIR;
    const struct nat_source source = {.words = pair ? 2 : 1, .vector = true, .reg = insn->a};
    const struct nat_shape shape = nat_source_shape(u, &u->state, &source);
    const int64_t disp = isa_x_disp(insn->x);
    LLVMValueRef base, step;

    memset(at, 0, sizeof *at);
    at->shared = insn->op == ISA_LD_SHARED || insn->op == ISA_ST_SHARED;
    const uint64_t origin = at->shared ? 0 : ISA_GLOBAL_BASE;
    at->affine = shape.kind == NAT_SAME || shape.kind == NAT_AFFINE;
    if (at->affine) {
        at->sx = shape.kind == NAT_AFFINE ? shape.sx : 0;
        at->flat = u->rows == 1 || shape.kind == NAT_SAME || (shape.known_sy && shape.sy == 0);
        if (pair) {
            base = insn->a == ISA_VZ ? quad(u, 0) : nat_get_base_pair(u, insn->a, false);
            step = shape.kind == NAT_AFFINE ? nat_get_step(u, insn->a) : quad(u, 0);
        } else {
            base = nat_get_base(u, insn->a, false);
            step = shape.kind == NAT_AFFINE ? nat_get_step(u, insn->a) : l->ConstNull(u->b.i32);
            if (mode == ISA_AMODE_32) /* address mode ISA_AMODE_32 adds the offset modulo 2^32 */
                base = l->BuildAdd(b, base, l->ConstInt(u->b.i32, (uint32_t)disp, 0), "");
            if (shape.kind == NAT_AFFINE) {
                nat_extend(u, is_signed, base, at->sx, step, &base, &step);
            } else {
                base = is_signed ? l->BuildSExt(b, base, u->b.i64, "") : l->BuildZExt(b, base, u->b.i64, "");
                step = quad(u, 0);
            }
        }
        base = l->BuildShl(b, base, quad(u, scale), "");
        step = l->BuildShl(b, step, quad(u, scale), "");
        at->sx <<= scale;
        if (mode == ISA_AMODE_SU32 || is_signed)
            base = l->BuildAdd(b, base, nat_get_scalar_pair(u, insn->c), "");
        if (mode != ISA_AMODE_32)
            base = l->BuildAdd(b, base, quad(u, (uint64_t)disp), "");
        at->base = l->BuildSub(b, base, quad(u, origin), "");
        at->step = step;
        return;
    }
    LLVMTypeRef wide = l->VectorType(u->b.i64, u->width);
    if (pair) {
        at->lanes = nat_get_pair(u, insn->a, false);
    } else {
        LLVMValueRef index = nat_get_lanes(u, insn->a, false);
        if (mode == ISA_AMODE_32)
            index = l->BuildAdd(b, index, nat_splat(&u->b, l->ConstInt(u->b.i32, (uint32_t)disp, 0), u->width), "");
        at->lanes = is_signed ? l->BuildSExt(b, index, wide, "") : l->BuildZExt(b, index, wide, "");
    }
    base = quad(u, (mode == ISA_AMODE_32 ? 0 : (uint64_t)disp) - origin);
    if (mode == ISA_AMODE_SU32 || is_signed)
        base = l->BuildAdd(b, base, nat_get_scalar_pair(u, insn->c), "");
    if (scale != 0)
        at->lanes = l->BuildShl(b, at->lanes, nat_splat(&u->b, quad(u, scale), u->width), "");
    at->lanes = l->BuildAdd(b, at->lanes, nat_splat(&u->b, base, u->width), "");
}

/** Leaves native code unless the bytes [@offset, @offset + @bytes) of shared or global memory may be accessed and @offset
 *  is a multiple of @align. @bytes is an i64. */
static void check_range(struct nat_unit *u, bool shared, LLVMValueRef offset, LLVMValueRef bytes, unsigned align, bool write)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    LLVMValueRef ok;

    if (align > 1) {
        LLVMValueRef rest = l->BuildAnd(b, offset, quad(u, align - 1), "");
        ok = l->BuildICmp(b, NAT_INT_EQ, rest, quad(u, 0), "");
        nat_leave_unless(u, ok);
    }
    if (shared) {
        LLVMValueRef room = l->BuildSub(b, u->shared_bytes, bytes, "");
        ok = l->BuildAnd(b, l->BuildICmp(b, NAT_INT_UGE, u->shared_bytes, bytes, ""),
                         l->BuildICmp(b, NAT_INT_ULE, offset, room, ""), "");
        nat_leave_unless(u, ok);
        return;
    }
    LLVMValueRef inside = l->BuildICmp(b, NAT_INT_ULT, offset, u->global_bytes, "");
    LLVMValueRef page = l->BuildSelect(b, inside, l->BuildLShr(b, offset, quad(u, 12), ""), quad(u, 0), "");
    LLVMValueRef valid = l->BuildLoad2(b, u->b.i16, l->BuildGEP2(b, u->b.i16, write ? u->store_valid : u->load_valid, &page, 1, ""), "");
    LLVMValueRef end = l->BuildAdd(b, l->BuildAnd(b, offset, quad(u, EMU_NATIVE_PAGE - 1), ""), bytes, "");
    ok = l->BuildAnd(b, inside, l->BuildICmp(b, NAT_INT_ULE, end, l->BuildZExt(b, valid, u->b.i64, ""), ""), "");
    if (write) {
        LLVMValueRef mark = l->BuildLoad2(b, u->b.i8, nat_address(u, u->dirty, page), "");
        ok = l->BuildAnd(b, ok, l->BuildICmp(b, NAT_INT_EQ, mark, l->ConstInt(u->b.i8, EMU_NATIVE_DIRTY, 0), ""), "");
    }
    LLVMBasicBlockRef slow = nat_new_block(u), go = nat_new_block(u);
    nat_likely(&u->b, l->BuildCondBr(b, ok, go, slow));
    l->PositionBuilderAtEnd(b, slow);
    LLVMTypeRef types[3] = {u->b.i64, u->b.i64, u->b.i1};
    LLVMValueRef args[3] = {offset, bytes, l->ConstInt(u->b.i1, write, 0)};
    nat_leave_unless(u, nat_call(u, offsetof(struct emu_native_calls, reach), true, u->b.i1, types, args, 3));
    (void)l->BuildBr(b, go);
    l->PositionBuilderAtEnd(b, go);
}
/** Does what check_range() does, for a constant number of bytes. */
static void check(struct nat_unit *u, bool shared, LLVMValueRef offset, uint64_t bytes, unsigned align, bool write)
{
    check_range(u, shared, offset, quad(u, bytes), align, write);
}

/** Does what check_range() does, for consecutive elements of @bytes each. The element of lane 0 is at @offset, and the range
 *  is from the lowest to the highest lane of the mask. */
static void check_masked_row(struct nat_unit *u, bool shared, LLVMValueRef offset, unsigned bytes, bool write)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef low = l->BuildZExt(u->b.b, u->lanes.low, u->b.i64, "");
    LLVMValueRef bits = u->width < 64 ? l->BuildZExt(u->b.b, u->lanes.bits, u->b.i64, "") : u->lanes.bits;
    LLVMValueRef args[2] = {bits, l->ConstInt(u->b.i1, 1, 0)};
    LLVMValueRef last = l->BuildSub(u->b.b, quad(u, 63), nat_intrinsic(&u->b, "llvm.ctlz", u->b.i64, args, 2), "");
    LLVMValueRef lanes = l->BuildAdd(u->b.b, l->BuildSub(u->b.b, last, low, ""), quad(u, 1), "");

    offset = l->BuildAdd(u->b.b, offset, l->BuildMul(u->b.b, low, quad(u, bytes), ""), "");
    check_range(u, shared, offset, l->BuildMul(u->b.b, lanes, quad(u, bytes), ""), bytes, write);
}

/* ---- data ------------------------------------------------------------------------------------- */

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
/** Returns the mask of the access with the bit of each lane repeated @words times. */
static LLVMValueRef mask_of_words(struct nat_unit *u, unsigned words)
{
    LLVMValueRef mask = u->lanes.mask, none = u->b.llvm->GetUndef(u->b.llvm->TypeOf(mask));
    int lanes[512];

    for (unsigned i = 0; i < u->width * words; i++)
        lanes[i] = (int)(i / words);
    return words == 1 ? mask : nat_shuffle(&u->b, mask, none, lanes, u->width * words);
}
/** Returns the alignment of an element of modifier SIZE in memory, in bytes. */
static unsigned alignment(unsigned size)
{
    return size <= ISA_SIZE_S8 ? 1 : size <= ISA_SIZE_S16 ? 2 : 4;
}

/** Returns the type of an element of modifier SIZE in memory. An element of several words is loaded word by word. */
static LLVMTypeRef element(const struct nat_unit *u, unsigned size)
{
    return size <= ISA_SIZE_S8 ? u->b.i8 : size <= ISA_SIZE_S16 ? u->b.i16 : u->b.i32;
}
/** Extends @x, an element from memory or (@lanes is not 0) a vector of elements, to words. */
static LLVMValueRef to_word(const struct nat_unit *u, LLVMValueRef x, unsigned size, unsigned lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef type = lanes != 0 ? l->VectorType(u->b.i32, lanes) : u->b.i32;

    if (size >= ISA_SIZE_B32)
        return x;
    return size & 1 ? l->BuildSExt(u->b.b, x, type, "") : l->BuildZExt(u->b.b, x, type, "");
}
/** Truncates words to elements in memory: the inverse of to_word(). */
static LLVMValueRef from_word(const struct nat_unit *u, LLVMValueRef x, unsigned size, unsigned lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef type = element(u, size);

    if (size >= ISA_SIZE_B32)
        return x;
    return l->BuildTrunc(u->b.b, x, lanes != 0 ? l->VectorType(type, lanes) : type, "");
}

/** Appends vector @part of @count lanes to @whole of @have lanes. */
static LLVMValueRef join(struct nat_unit *u, LLVMValueRef whole, unsigned have, LLVMValueRef part, unsigned count)
{
    int lanes[512], widened[512];

    if (have == 0)
        return part;
    for (unsigned i = 0; i < have; i++)
        widened[i] = i < count ? (int)i : 0;
    for (unsigned i = 0; i < have + count; i++)
        lanes[i] = i < have ? (int)i : (int)(have + i - have);
    if (count != have) /* LLVM requires that both operands of a shuffle have the same type */
        part = nat_shuffle(&u->b, part, u->b.llvm->GetUndef(u->b.llvm->TypeOf(part)), widened, have);
    return nat_shuffle(&u->b, whole, part, lanes, have + count);
}
/** Returns @count elements of @x: element @first and every @stride-th element after element @first. */
static LLVMValueRef slice(struct nat_unit *u, LLVMValueRef x, unsigned first, unsigned count, unsigned stride)
{
    int lanes[512];

    for (unsigned i = 0; i < count; i++)
        lanes[i] = (int)(first + i * stride);
    return nat_shuffle(&u->b, x, u->b.llvm->GetUndef(u->b.llvm->TypeOf(x)), lanes, count);
}

static LLVMValueRef memory_of(struct nat_unit *u, const struct place *at)
{
    return at->shared ? u->shared : u->global;
}

/** Loads a row of @count lanes from @offset on; each lane has @words words. out[word] gets that word of all lanes. */
static void load_run(struct nat_unit *u, const struct place *at, LLVMValueRef offset, unsigned count, unsigned size,
                     unsigned words, LLVMValueRef *out)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef type = l->VectorType(element(u, size), count * words);
    LLVMValueRef from = nat_address(u, memory_of(u, at), offset), all;

    if (u->lanes.some) {
        all = nat_load_masked(u, type, from, alignment(size), mask_of_words(u, words));
    } else {
        all = l->BuildLoad2(u->b.b, type, from, "");
        l->SetAlignment(all, alignment(size));
    }
    for (unsigned k = 0; k < words; k++)
        out[k] = words == 1 ? to_word(u, all, size, count) : slice(u, all, k, count, words);
}
/** Loads from @offset the words that all lanes of a row load. out[word] gets a single word. */
static void load_equal(struct nat_unit *u, const struct place *at, LLVMValueRef offset, unsigned size, unsigned words,
                       LLVMValueRef *out)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned k = 0; k < words; k++) {
        LLVMValueRef p = nat_address(u, memory_of(u, at), l->BuildAdd(u->b.b, offset, quad(u, 4 * k), ""));
        LLVMValueRef x = l->BuildLoad2(u->b.b, element(u, size), p, "");
        l->SetAlignment(x, alignment(size));
        out[k] = to_word(u, x, size, 0);
    }
}

static LLVMValueRef row_offset(struct nat_unit *u, const struct place *at, unsigned row)
{
    const struct nat_llvm *l = u->b.llvm;

    if (row == 0)
        return at->base;
    return l->BuildAdd(u->b.b, at->base, l->BuildMul(u->b.b, at->step, quad(u, row), ""), "");
}

/** Emits a prefetch of memory that a later warp probably accesses, as the interpreter does. Outside of loops, prefetches
 *  memory at a fixed distance from this warp's consecutive elements of @bytes. If the warp has several rows, the distance is
 *  that of the next block's memory. */
static void prefetch(struct nat_unit *u, const struct place *at, unsigned rows, unsigned bytes)
{
    const struct nat_llvm *l = u->b.llvm;
    const uint64_t row_bytes = (uint64_t)u->columns * bytes, ahead = u->rows > 1 ? row_bytes : 1024;

    if (at->shared || u->block[u->block_of[u->at]].loop)
        return;
    for (unsigned row = 0; row < rows; row++)
        for (uint64_t k = 0; k < row_bytes; k += 64) {
            LLVMValueRef offset = l->BuildAdd(u->b.b, row_offset(u, at, row), quad(u, ahead + k), "");
            LLVMValueRef args[4] = {nat_address(u, u->global, offset), l->ConstInt(u->b.i32, 0, 0), l->ConstInt(u->b.i32, 3, 0),
                                    l->ConstInt(u->b.i32, 1, 0)};
            (void)nat_intrinsic(&u->b, "llvm.prefetch", u->b.pointer, args, 4);
        }
}

/** Returns the addresses of lanes in global or shared memory, as a vector of pointers. */
static LLVMValueRef pointers_to(struct nat_unit *u, const struct place *at, LLVMValueRef lanes)
{
    const struct nat_llvm *l = u->b.llvm;

    if (at->shared) { /* offsets that were checked need 31 bits, so the host's instructions with 32-bit offsets can be used */
        lanes = l->BuildTrunc(u->b.b, lanes, l->VectorType(u->b.i32, u->width), "");
        lanes = l->BuildSExt(u->b.b, lanes, l->VectorType(u->b.i64, u->width), "");
    }
    return l->BuildGEP2(u->b.b, u->b.i8, memory_of(u, at), &lanes, 1, "");
}
/** Returns the lanes of the access as a vector of i1. */
static LLVMValueRef access_mask(struct nat_unit *u)
{
    return u->lanes.some ? u->lanes.mask : nat_splat(&u->b, u->b.llvm->ConstInt(u->b.i1, 1, 0), u->width);
}

/** Loads a word of each lane, or an element of modifier @size that is smaller, from offset @lanes. The host has gathers of words
 *  only. So a smaller element is a part of the word that contains it: memory ends at a multiple of 4 bytes. */
static LLVMValueRef gather(struct nat_unit *u, const struct place *at, LLVMValueRef lanes, unsigned size)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef words = l->VectorType(u->b.i32, u->width);

    if (size < ISA_SIZE_B32) {
        const unsigned rest = 32 - 8 * alignment(size);
        LLVMValueRef low = l->BuildAnd(u->b.b, lanes, nat_splat(&u->b, quad(u, 3), u->width), "");
        LLVMValueRef all = gather(u, at, l->BuildSub(u->b.b, lanes, low, ""), ISA_SIZE_B32);
        LLVMValueRef shift = l->BuildShl(u->b.b, l->BuildTrunc(u->b.b, low, words, ""), nat_splat(&u->b, l->ConstInt(u->b.i32, 3, 0), u->width), "");
        LLVMValueRef by = nat_splat(&u->b, l->ConstInt(u->b.i32, rest, 0), u->width);
        all = l->BuildShl(u->b.b, l->BuildLShr(u->b.b, all, shift, ""), by, "");
        return size & 1 ? l->BuildAShr(u->b.b, all, by, "") : l->BuildLShr(u->b.b, all, by, "");
    }
    LLVMTypeRef types[2] = {words, l->VectorType(u->b.pointer, u->width)};
    LLVMValueRef args[4] = {pointers_to(u, at, lanes), l->ConstInt(u->b.i32, 4, 0), access_mask(u), l->ConstNull(words)};
    const unsigned id = l->LookupIntrinsicID("llvm.masked.gather", 18);

    return l->BuildCall2(u->b.b, l->IntrinsicGetType(u->b.context, id, types, 2), l->GetIntrinsicDeclaration(u->b.module, id, types, 2),
                         args, 4, "");
}

/** Returns a vector of i1: true in the lanes whose offset is a multiple of @bytes, a power of two, and divided by @bytes is less
 *  than @count. */
static LLVMValueRef is_element(struct nat_unit *u, LLVMValueRef offsets, unsigned bytes, LLVMValueRef count)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef shift = nat_splat(&u->b, quad(u, lw_lowest(bytes)), u->width), args[3] = {offsets, offsets, shift};
    LLVMValueRef index = nat_intrinsic(&u->b, "llvm.fshr", l->TypeOf(offsets), args, 3); /* rotates the remainder to the top */

    return l->BuildICmp(u->b.b, NAT_INT_ULT, index, nat_splat(&u->b, count, u->width), "");
}

/** Leaves native code unless the lanes can access @bytes of shared memory, at offsets that are multiples of @bytes. */
static void check_shared_lanes(struct nat_unit *u, LLVMValueRef lanes, unsigned bytes)
{
    LLVMValueRef count = u->b.llvm->BuildLShr(u->b.b, u->shared_bytes, quad(u, lw_lowest(bytes)), "");

    nat_leave_unless(u, nat_all(u, is_element(u, lanes, bytes, count)));
}

/** Leaves native code unless the lanes can load @bytes of global memory, at offsets that are multiples of @bytes. */
static void check_global_lanes(struct nat_unit *u, LLVMValueRef lanes, unsigned bytes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const uint32_t slot = u->windows++;
    LLVMValueRef window = nat_address(u, u->window, quad(u, slot * sizeof(struct emu_native_window)));
    LLVMBasicBlockRef go = nat_new_block(u), slow = nat_new_block(u);
    LLVMValueRef low = l->BuildLoad2(b, u->b.i64, window, "");
    LLVMValueRef size = l->BuildLoad2(b, u->b.i64, nat_address(u, window, quad(u, 8)), "");
    LLVMValueRef count = l->BuildLShr(b, size, quad(u, lw_lowest(bytes)), "");
    LLVMValueRef from = l->BuildSub(b, lanes, nat_splat(&u->b, low, u->width), "");

    (void)l->BuildCondBr(b, nat_all(u, is_element(u, from, bytes, count)), go, slow);
    l->PositionBuilderAtEnd(b, slow);
    if (u->offsets == NULL)
        u->offsets = l->BuildAlloca(u->entry_builder, l->TypeOf(lanes), "");
    l->SetAlignment(l->BuildStore(b, lanes, u->offsets), 8);
    LLVMTypeRef types[4] = {u->b.i32, u->b.i32, u->b.pointer, u->b.i64};
    LLVMValueRef bits = l->ConstInt(u->b.i64, u->width < 64 ? (UINT64_C(1) << u->width) - 1 : ~UINT64_C(0), 0);
    if (u->lanes.some)
        bits = u->width < 64 ? l->BuildZExt(b, u->lanes.bits, u->b.i64, "") : u->lanes.bits;
    LLVMValueRef args[4] = {l->ConstInt(u->b.i32, slot, 0), l->ConstInt(u->b.i32, bytes, 0), u->offsets, bits};
    nat_leave_unless(u, nat_call(u, offsetof(struct emu_native_calls, find), true, u->b.i1, types, args, 4));
    (void)l->BuildBr(b, go);
    l->PositionBuilderAtEnd(b, go);
}

/** Returns an i1 that is true if the executed lanes access consecutive elements of @bytes. *@first gets the offset of the element
 *  of lane 0. */
static LLVMValueRef is_run(struct nat_unit *u, LLVMValueRef lanes, unsigned bytes, LLVMValueRef *first)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef offset[64];

    for (unsigned i = 0; i < u->width; i++)
        offset[i] = quad(u, (uint64_t)i * bytes);
    LLVMValueRef base = l->BuildSub(u->b.b, lanes, l->ConstVector(offset, u->width), "");
    *first = nat_first(u, base);
    return nat_all(u, l->BuildICmp(u->b.b, NAT_INT_EQ, base, nat_splat(&u->b, *first, u->width), ""));
}

/** Emits a store of words from register @reg on to shared memory, at any addresses. If lanes have equal addresses, the highest
 *  lane stores last, as in the interpreter: LLVM defines that a scatter stores in the order of lanes. */
static void store_scattered(struct nat_unit *u, const struct place *at, unsigned reg, unsigned bytes, unsigned words)
{
    const struct nat_llvm *l = u->b.llvm;
    const unsigned id = l->LookupIntrinsicID("llvm.masked.scatter", 19);

    check_shared_lanes(u, at->lanes, bytes);
    LLVMBasicBlockRef after = nat_new_block(u);
    if (words == 1) {
        LLVMBasicBlockRef run = nat_new_block(u), scatter = nat_new_block(u);
        LLVMValueRef data = nat_get_lanes(u, reg, false), first; /* before the branch, because the value may be used after it */
        (void)l->BuildCondBr(u->b.b, is_run(u, at->lanes, bytes, &first), run, scatter);
        l->PositionBuilderAtEnd(u->b.b, run);
        LLVMValueRef to = nat_address(u, memory_of(u, at), first);
        if (u->lanes.some)
            nat_store_masked(u, data, to, 4, u->lanes.mask);
        else
            l->SetAlignment(l->BuildStore(u->b.b, data, to), 4);
        (void)l->BuildBr(u->b.b, after);
        l->PositionBuilderAtEnd(u->b.b, scatter);
    }
    for (unsigned k = 0; k < words; k++) {
        LLVMValueRef lanes = k == 0 ? at->lanes : l->BuildAdd(u->b.b, at->lanes, nat_splat(&u->b, quad(u, 4 * k), u->width), "");
        LLVMValueRef args[4] = {nat_get_lanes(u, reg == ISA_VZ ? reg : reg + k, false), pointers_to(u, at, lanes),
                                l->ConstInt(u->b.i32, 4, 0), access_mask(u)};
        LLVMTypeRef types[2] = {l->TypeOf(args[0]), l->TypeOf(args[1])};
        (void)l->BuildCall2(u->b.b, l->IntrinsicGetType(u->b.context, id, types, 2),
                            l->GetIntrinsicDeclaration(u->b.module, id, types, 2), args, 4, "");
    }
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, after);
}

/** Emits a load at addresses that are not affine. */
static bool load_scattered(struct nat_unit *u, const struct isa_insn *insn, const struct place *at, unsigned bytes, unsigned words)
{
    const unsigned size = isa_mod_get(insn, ISA_MOD_SIZE);
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef lanes = at->lanes;

    if (at->shared)
        check_shared_lanes(u, lanes, bytes);
    else
        check_global_lanes(u, lanes, bytes);
    LLVMBasicBlockRef from[2] = {nat_new_block(u), nat_new_block(u)}, after = nat_new_block(u);
    LLVMValueRef out[2][4], first;
    (void)l->BuildCondBr(u->b.b, is_run(u, lanes, bytes, &first), from[0], from[1]);
    l->PositionBuilderAtEnd(u->b.b, from[0]);
    load_run(u, at, first, u->width, size, words, out[0]);
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, from[1]);
    for (unsigned k = 0; k < words; k++)
        out[1][k] = gather(u, at, k == 0 ? lanes : l->BuildAdd(u->b.b, lanes, nat_splat(&u->b, quad(u, 4 * k), u->width), ""), size);
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, after);
    for (unsigned k = 0; k < words; k++) {
        LLVMValueRef phi = l->BuildPhi(u->b.b, l->VectorType(u->b.i32, u->width), ""), values[2] = {out[0][k], out[1][k]};
        l->AddIncoming(phi, values, from, 2);
        out[0][k] = phi;
    }
    for (unsigned k = 0; k < words && insn->d != ISA_VZ; k++)
        nat_put_lanes(u, insn->d + k, out[0][k]);
    return true;
}

static bool emit_load(struct nat_unit *u, const struct isa_insn *insn)
{
    const unsigned size = isa_mod_get(insn, ISA_MOD_SIZE), bytes = isa_mem_bytes(insn), words = isa_mem_regs(insn);
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef whole[4] = {NULL}, part[4] = {NULL};
    struct place at;

    find_place(u, insn, &at);
    if (!at.affine)
        return load_scattered(u, insn, &at, bytes, words);
    const bool equal = at.sx == 0, run = at.sx == (int64_t)bytes;
    const int64_t way = at.sx * (int64_t)(u->columns - 1);
    if (u->lanes.some && !(equal && at.flat) && !(run && u->rows == 1)) { /* lanes outside the mask may have invalid
                                                                           * addresses, which must not be checked */
        at.lanes = nat_affine_lanes(u, true, at.base, at.sx, at.step);
        return load_scattered(u, insn, &at, bytes, words);
    }
    if (!equal && !run) {
        if (at.sx < 0 || way >= EMU_NATIVE_PAGE || at.sx % bytes != 0) {
            at.lanes = nat_affine_lanes(u, true, at.base, at.sx, at.step);
            return load_scattered(u, insn, &at, bytes, words);
        }
    }
    const unsigned rows = at.flat ? 1 : u->rows;
    if (u->lanes.some && run)
        check_masked_row(u, at.shared, at.base, bytes, false);
    for (unsigned row = 0; row < rows && !(u->lanes.some && run); row++) /* checks all rows before the first load */
        check(u, at.shared, row_offset(u, &at, row), (uint64_t)way + bytes, bytes, false);
    if (!equal && !run) {
        LLVMValueRef lanes = nat_affine_lanes(u, true, at.base, at.sx, at.step);
        for (unsigned k = 0; k < words; k++)
            part[k] = gather(u, &at, l->BuildAdd(u->b.b, lanes, nat_splat(&u->b, quad(u, 4 * k), u->width), ""), size);
        for (unsigned k = 0; k < words && insn->d != ISA_VZ; k++)
            nat_put_lanes(u, insn->d + k, part[k]);
        return true;
    }
    if (run)
        prefetch(u, &at, rows, bytes);
    if (equal && at.flat) {
        load_equal(u, &at, at.base, size, words, part);
        struct nat_state after = u->state;
        nat_shape_step(u, &after, u->at);
        for (unsigned k = 0; k < words && insn->d != ISA_VZ; k++) {
            if (after.v[insn->d + k].kind == NAT_SAME)
                nat_put_same(u, insn->d + k, part[k]);
            else
                nat_put_lanes(u, insn->d + k, nat_splat(&u->b, part[k], u->width));
        }
        return true;
    }
    for (unsigned row = 0; row < u->rows; row++) {
        if (row < rows) {
            if (equal)
                load_equal(u, &at, row_offset(u, &at, row), size, words, part);
            else
                load_run(u, &at, row_offset(u, &at, row), u->columns, size, words, part);
            for (unsigned k = 0; k < words && equal; k++)
                part[k] = nat_splat(&u->b, part[k], u->columns);
        }
        for (unsigned k = 0; k < words; k++)
            whole[k] = join(u, whole[k], row * u->columns, part[k], u->columns);
    }
    for (unsigned k = 0; k < words && insn->d != ISA_VZ; k++)
        nat_put_lanes(u, insn->d + k, whole[k]);
    return true;
}

static bool emit_store(struct nat_unit *u, const struct isa_insn *insn)
{
    const unsigned size = isa_mod_get(insn, ISA_MOD_SIZE), bytes = isa_mem_bytes(insn), words = isa_mem_regs(insn);
    const unsigned reg = isa_x_reg(insn->x);
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef data[4];
    struct place at;

    const struct nat_source source = {.words = isa_mod_get(insn, ISA_MOD_AMODE) == ISA_AMODE_PAIR ? 2 : 1, .vector = true, .reg = insn->a};
    const struct nat_shape shape = nat_source_shape(u, &u->state, &source);
    const bool affine = shape.kind == NAT_SAME || shape.kind == NAT_AFFINE;
    const unsigned mode = isa_mod_get(insn, ISA_MOD_AMODE);
    const unsigned scale = mode == ISA_AMODE_SU32 || mode == ISA_AMODE_SS32 ? isa_mod_get(insn, ISA_MOD_ASCALE) : 0;
    const int64_t sx = shape.kind == NAT_AFFINE ? shape.sx * (INT64_C(1) << scale) : 0;
    const bool one_row = u->rows == 1 || shape.kind == NAT_SAME || (shape.known_sy && shape.sy == 0);
    if (!affine || sx != (int64_t)bytes || (one_row && u->rows > 1) || (u->lanes.some && u->rows > 1)) {
        if (insn->op != ISA_ST_SHARED || bytes < 4)
            return false; /* the interpreter's handler executes the store, because it stores in the order of lanes */
        find_place(u, insn, &at);
        if (at.affine)
            at.lanes = nat_affine_lanes(u, true, at.base, at.sx, at.step);
        store_scattered(u, &at, reg, bytes, words);
        return true;
    }
    find_place(u, insn, &at);
    if (u->lanes.some)
        check_masked_row(u, at.shared, at.base, bytes, true);
    for (unsigned row = 0; row < u->rows && !u->lanes.some; row++)
        check(u, at.shared, row_offset(u, &at, row), (uint64_t)u->columns * bytes, bytes, true);
    prefetch(u, &at, u->rows, bytes);
    for (unsigned k = 0; k < words; k++)
        data[k] = reg == ISA_VZ ? nat_get_lanes(u, ISA_VZ, false) : nat_get_lanes(u, reg + k, false);
    for (unsigned row = 0; row < u->rows; row++) {
        LLVMValueRef part[4] = {NULL}, all;
        for (unsigned k = 0; k < words; k++)
            part[k] = u->rows == 1 ? data[k] : slice(u, data[k], row * u->columns, u->columns, 1);
        all = part[0];
        if (words > 1) { /* interleaves the words, so that those of a lane are consecutive */
            int lanes[512];
            LLVMValueRef both = join(u, part[0], u->columns, part[1], u->columns);
            if (words == 4)
                both = join(u, both, 2 * u->columns, join(u, part[2], u->columns, part[3], u->columns), 2 * u->columns);
            for (unsigned i = 0; i < words * u->columns; i++)
                lanes[i] = (int)(i % words * u->columns + i / words);
            all = nat_shuffle(&u->b, both, l->GetUndef(l->TypeOf(both)), lanes, words * u->columns);
        }
        all = from_word(u, all, size, words * u->columns);
        LLVMValueRef to = nat_address(u, memory_of(u, &at), row_offset(u, &at, row));
        if (u->lanes.some)
            nat_store_masked(u, all, to, alignment(size), mask_of_words(u, words));
        else
            l->SetAlignment(l->BuildStore(u->b.b, all, to), alignment(size));
    }
    return true;
}

static bool emit_scalar_load(struct nat_unit *u, const struct isa_insn *insn)
{
    const struct nat_llvm *l = u->b.llvm;
    const unsigned bytes = isa_mem_bytes(insn), words = isa_mem_regs(insn), index = isa_x_reg(insn->x);
    const bool constant = insn->op == ISA_S_LD_CONST;
    const int64_t disp = isa_x_disp(insn->x);
    LLVMValueRef memory, offset;

    if (bytes < 4)
        return false;
    if (constant) { /* supports only constant bank 0, with an offset that is known at compile time */
        if (insn->c != 0 || insn->a < 128 || disp < 0 || disp + bytes > ISA_CONST_BANK_BYTES || disp % bytes != 0)
            return false;
        memory = u->bank0;
        offset = quad(u, (uint64_t)disp);
    } else {
        offset = l->BuildAdd(u->b.b, nat_get_scalar_pair(u, insn->a), quad(u, (uint64_t)disp - ISA_GLOBAL_BASE), "");
        if (index < 128)
            offset = l->BuildAdd(u->b.b, offset, l->BuildZExt(u->b.b, nat_get_scalar(u, index), u->b.i64, ""), "");
        check(u, false, offset, bytes, bytes, false);
        memory = u->global;
    }
    for (unsigned k = 0; k < words && insn->d + k < 128; k++) {
        LLVMValueRef x = l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, memory, l->BuildAdd(u->b.b, offset, quad(u, 4 * k), "")), "");
        l->SetAlignment(x, 4);
        nat_put_scalar(u, insn->d + k, x);
    }
    return true;
}

/** Emits a load or store with a guard, which is skipped if the guard is false in all lanes. Returns false if the
 *  interpreter's handler must execute the instruction. */
static bool emit_guarded(struct nat_unit *u, const struct isa_insn *insn)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct nat_lanes kept = u->lanes;
    const bool load = u->kind[u->at] == NAT_LOAD && insn->d != ISA_VZ;
    const unsigned words = isa_mem_regs(insn);
    LLVMTypeRef type = l->IntTypeInContext(u->b.context, u->width);
    LLVMBasicBlockRef go = nat_new_block(u), after = nat_new_block(u);
    LLVMValueRef mask = nat_vector(&u->b, nat_get_predicate(u, insn->guard, insn->guard_neg, false)).v, old[4] = {NULL};

    if (kept.some)
        mask = l->BuildAnd(u->b.b, mask, kept.mask, "");
    LLVMValueRef bits = l->BuildBitCast(u->b.b, mask, type, "");
    for (unsigned k = 0; load && k < words; k++) {
        old[k] = nat_get_lanes(u, insn->d + k, false);
        nat_put_lanes(u, insn->d + k, old[k]);
    }
    (void)l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_NE, bits, l->ConstNull(type), ""), go, after);
    const struct nat_values values = u->values;
    l->PositionBuilderAtEnd(u->b.b, go);
    u->lanes = nat_lanes_of(u, mask, bits);
    const bool done = u->kind[u->at] == NAT_LOAD ? emit_load(u, insn) : emit_store(u, insn);
    u->lanes = kept;
    for (unsigned k = 0; done && load && k < words; k++)
        nat_put_lanes(u, insn->d + k, l->BuildSelect(u->b.b, mask, nat_get_stored(u, insn->d + k), old[k], ""));
    if (done) { /* counts the access inside the branch, because an access by no lane is not counted */
        LLVMValueRef counter = u->kind[u->at] == NAT_LOAD ? u->loads : u->stores;
        LLVMValueRef count = l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, counter, ""), quad(u, 1), "");
        (void)l->BuildStore(u->b.b, count, counter);
    }
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, after);
    if (u->through)
        u->values = values; /* values that were computed under the guard are not valid afterwards */
    for (unsigned k = 0; u->through && load && k < words; k++)
        u->values.vec[insn->d + k] = NULL;
    return done;
}

bool nat_emit_memory(struct nat_unit *u)
{
    const struct isa_insn *insn = &u->insn[u->at];
    bool done;

    if (insn->guard != ISA_PT)
        return emit_guarded(u, insn);
    switch (u->kind[u->at]) {
    case NAT_LOAD: done = emit_load(u, insn); break;
    case NAT_STORE: done = emit_store(u, insn); break;
    default: done = emit_scalar_load(u, insn); break;
    }
    u->block_loads += done && u->kind[u->at] != NAT_STORE;
    u->block_stores += done && u->kind[u->at] == NAT_STORE;
    return done;
}
