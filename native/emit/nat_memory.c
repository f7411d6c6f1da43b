/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IR of loads and stores. If the lanes in one row of the lane grid (nat_priv.h) have consecutive addresses, the row is loaded or
 * stored as a vector. If the addresses are equal, one element is loaded or stored. All other loads are gathers, and all other
 * stores write the elements of the lanes one after the other, unless a test at run time finds that the addresses are consecutive.
 * The words of local memory are interleaved: if all lanes access the same address, one vector is loaded or stored. The exact
 * bytes of every access are checked before any state changes.
 */
#include <string.h>

#include "native/nat_priv.h"

static LLVMValueRef quad(const struct nat_unit *u, uint64_t value)
{
    return u->b.llvm->ConstInt(u->b.i64, value, 0);
}

/* ---- addresses -------------------------------------------------------------------------------- */

/** Addresses of an access, as offsets from the start of global, shared or local memory. */
struct place {
    enum isa_space space;
    bool affine;        /* the addresses are base + x * sx + y * step; false: they are those of `lanes` */
    int64_t sx;
    bool flat;          /* all rows of the lane grid have the same addresses */
    LLVMValueRef base, step; /* i64 */
    LLVMValueRef rest;       /* affine: has the same remainder as the address of each lane and row, if this is divided by the size of
                              * an element */
    struct nat_offsets lanes;
};

/** Computes where the lanes of a load, store or reduction access memory. */
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
    at->space = insn->op == ISA_LD_SHARED || insn->op == ISA_ST_SHARED || insn->op == ISA_RED_SHARED ? ISA_SPACE_SHARED
                : insn->op == ISA_LD_LOCAL || insn->op == ISA_ST_LOCAL ? ISA_SPACE_LOCAL : ISA_SPACE_GLOBAL;
    const uint64_t origin = at->space == ISA_SPACE_GLOBAL ? ISA_GLOBAL_BASE : 0;
    at->affine = shape.kind == NAT_SAME || shape.kind == NAT_AFFINE;
    if (at->affine) {
        at->sx = shape.kind == NAT_AFFINE ? shape.sx : 0;
        at->flat = u->rows == 1 || shape.kind == NAT_SAME || (shape.known_sy && shape.sy == 0);
        if (pair) {
            base = insn->a == ISA_VZ ? quad(u, 0) : nat_get_base_pair(u, insn->a, false);
            step = shape.kind == NAT_AFFINE ? nat_get_step(u, insn->a, 2) : quad(u, 0);
        } else {
            base = nat_get_base(u, insn->a, false);
            step = shape.kind == NAT_AFFINE ? nat_get_step(u, insn->a, 1) : l->ConstNull(u->b.i32);
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
        at->sx *= INT64_C(1) << scale;
        if (mode == ISA_AMODE_SU32 || is_signed)
            base = l->BuildAdd(b, base, nat_get_scalar_pair(u, insn->c), "");
        if (mode != ISA_AMODE_32)
            base = l->BuildAdd(b, base, quad(u, (uint64_t)disp), "");
        at->base = at->rest = l->BuildSub(b, base, quad(u, origin), "");
        at->step = step;
        if ((mode == ISA_AMODE_SU32 || is_signed) && (UINT64_C(1) << scale) % isa_mem_bytes(insn) == 0)
            at->rest = l->BuildAdd(b, nat_get_scalar_pair(u, insn->c), quad(u, (uint64_t)disp % isa_mem_bytes(insn)), "");
        return;
    }
    if (pair) {
        at->lanes = (struct nat_offsets){.index = nat_get_pair(u, insn->a, false), .wide = true};
    } else {
        LLVMValueRef index = nat_get_lanes(u, insn->a, false);
        if (mode == ISA_AMODE_32)
            index = l->BuildAdd(b, index, nat_splat(&u->b, l->ConstInt(u->b.i32, (uint32_t)disp, 0), u->width), "");
        at->lanes = (struct nat_offsets){.index = index, .scale = scale, .is_signed = is_signed};
    }
    at->lanes.base = quad(u, (mode == ISA_AMODE_32 ? 0 : (uint64_t)disp) - origin);
    if (mode == ISA_AMODE_SU32 || is_signed)
        at->lanes.base = l->BuildAdd(b, at->lanes.base, nat_get_scalar_pair(u, insn->c), "");
}

/** Returns the offsets of all lanes. Emits code that leaves native code if the rows of affine addresses are so far apart that
 *  32-bit indices are too small. */
static struct nat_offsets offsets_of(struct nat_unit *u, const struct place *at)
{
    enum { MOST_STEP = 1 << 24 }; /* fewer than 64 steps are less than NAT_MOST_INDEX / 2 */
    const struct nat_llvm *l = u->b.llvm;
    const int64_t way = (at->sx < 0 ? -at->sx : at->sx) * (int64_t)u->columns;
    struct nat_offsets out = {.base = at->base, .is_signed = true};
    LLVMValueRef step = l->ConstNull(u->b.i32);

    if (!at->affine)
        return at->lanes;
    if (way < 0 || way > NAT_MOST_INDEX / 4)
        return (struct nat_offsets){.index = nat_affine_lanes(u, true, at->base, at->sx, at->step), .base = quad(u, 0), .wide = true};
    if (u->rows > 1 && !at->flat) {
        LLVMValueRef near = l->BuildAdd(u->b.b, at->step, quad(u, MOST_STEP), "");
        nat_leave_unless(u, l->BuildICmp(u->b.b, NAT_INT_ULE, near, quad(u, 2 * MOST_STEP), ""));
        step = l->BuildTrunc(u->b.b, at->step, u->b.i32, "");
    }
    out.index = nat_affine_lanes(u, false, l->ConstNull(u->b.i32), at->sx, step);
    return out;
}

/* ---- data ------------------------------------------------------------------------------------- */

/** Returns the mask of @count lanes of the access, from lane @first on, with the bit of each lane repeated @words times. */
static LLVMValueRef mask_of_words(struct nat_unit *u, unsigned first, unsigned count, unsigned words)
{
    LLVMValueRef mask = u->lanes.mask, none = u->b.llvm->GetUndef(u->b.llvm->TypeOf(mask));
    int lanes[512];

    for (unsigned i = 0; i < count * words; i++)
        lanes[i] = (int)(first + i / words);
    return words == 1 && count == u->width ? mask : nat_shuffle(&u->b, mask, none, lanes, count * words);
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
    return at->space == ISA_SPACE_SHARED ? u->shared : at->space == ISA_SPACE_LOCAL ? nat_local(u) : u->global;
}

/** Loads a vector of @words elements of @type for each of @count lanes, from lane @first on, from @offset on. */
static LLVMValueRef load_vector(struct nat_unit *u, const struct place *at, LLVMValueRef offset, LLVMTypeRef type, unsigned align,
                                unsigned first, unsigned count, unsigned words)
{
    LLVMValueRef from = nat_address(u, memory_of(u, at), offset), all;

    type = u->b.llvm->VectorType(type, count * words);
    if (u->lanes.some)
        return nat_load_masked(u, type, from, align, mask_of_words(u, first, count, words));
    all = u->b.llvm->BuildLoad2(u->b.b, type, from, "");
    u->b.llvm->SetAlignment(all, align);
    return all;
}
/** Loads a row of @count lanes, from lane @first on, from @offset on; each lane has @words words. out[word] gets that word of all
 *  lanes. */
static void load_run(struct nat_unit *u, const struct place *at, LLVMValueRef offset, unsigned first, unsigned count,
                     unsigned size, unsigned words, LLVMValueRef *out)
{
    LLVMValueRef all = load_vector(u, at, offset, element(u, size), alignment(size), first, count, words);

    for (unsigned k = 0; k < words; k++)
        out[k] = words == 1 ? to_word(u, all, size, count) : slice(u, all, k, count, words);
}
/** As load_run(), for elements that are @stride bytes apart; @stride is a multiple of 4. Loads all words from the first lane's
 *  element on, including up to 12 bytes after the last element. These bytes are always in the host's memory. */
static void load_strided(struct nat_unit *u, const struct place *at, LLVMValueRef offset, unsigned first, unsigned count,
                         unsigned size, unsigned words, unsigned stride, LLVMValueRef *out)
{
    LLVMValueRef all = load_vector(u, at, offset, u->b.i32, alignment(size), first, count, stride / 4);

    for (unsigned k = 0; k < words; k++) {
        out[k] = stride == 4 ? all : slice(u, all, k, count, stride / 4);
        if (size < ISA_SIZE_B32)
            out[k] = to_word(u, from_word(u, out[k], size, count), size, count);
    }
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
 *  memory at a fixed distance from this warp's consecutive elements of @bytes. If the warp has several rows, the distance is one
 *  row, so that the memory of the next block is prefetched, unless most of it is in the same lines of the cache. */
static void prefetch(struct nat_unit *u, const struct place *at, unsigned rows, unsigned bytes)
{
    const struct nat_llvm *l = u->b.llvm;
    const uint64_t row_bytes = (uint64_t)u->columns * bytes, ahead = u->rows > 1 ? row_bytes : 1024;

    if (at->space != ISA_SPACE_GLOBAL || u->block[u->block_of[u->at]].loop || (u->rows > 1 && row_bytes < 64))
        return;
    for (unsigned row = 0; row < rows; row++)
        for (uint64_t k = 0; k < row_bytes; k += 64) {
            LLVMValueRef offset = l->BuildAdd(u->b.b, row_offset(u, at, row), quad(u, ahead + k), "");
            LLVMValueRef args[4] = {nat_address(u, u->global, offset), l->ConstInt(u->b.i32, 0, 0), l->ConstInt(u->b.i32, 3, 0),
                                    l->ConstInt(u->b.i32, 1, 0)};
            (void)nat_intrinsic(&u->b, "llvm.prefetch", u->b.pointer, args, 4);
        }
}

/** Adds @bytes to the offsets. */
static struct nat_offsets moved(struct nat_unit *u, const struct nat_offsets *at, uint64_t bytes)
{
    struct nat_offsets out = *at;

    out.base = u->b.llvm->BuildAdd(u->b.b, at->base, quad(u, bytes), "");
    return out;
}
/** Returns the offsets of the words that contain the bytes at offsets @at, which are checked. The scale of the result is 2 or more,
 *  and its base is a multiple of 4. If @shift is not NULL, *@shift gets, for each lane, the distance in bits
 *  from the start of the word to the offset, as i32. */
static struct nat_offsets words_of(struct nat_unit *u, const struct nat_offsets *at, LLVMValueRef *shift)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    LLVMTypeRef one = at->wide ? u->b.i64 : u->b.i32, word = l->VectorType(u->b.i32, u->width);
    const unsigned scale = at->scale < 2 ? at->scale : 2; /* the offsets are multiples of 2^scale, but for those of the base */
    LLVMValueRef low = l->BuildAnd(b, at->base, quad(u, 3), ""), index = at->index, more = l->BuildLShr(b, low, quad(u, scale), "");
    struct nat_offsets out = {.base = l->BuildSub(b, at->base, low, ""), .wide = at->wide, .is_signed = true};

#define SPLAT(x) nat_splat(&u->b, x, u->width)
    low = l->BuildTrunc(b, l->BuildAnd(b, low, quad(u, (1u << scale) - 1), ""), u->b.i32, "");
    low = SPLAT(l->BuildShl(b, low, l->ConstInt(u->b.i32, 3, 0), ""));
    if (scale < 2) { /* the position in the word depends on the index */
        const unsigned rest = 3u >> scale;
        index = l->BuildAdd(b, index, SPLAT(at->wide ? more : l->BuildTrunc(b, more, one, "")), "");
        LLVMValueRef in_word = l->BuildAnd(b, index, SPLAT(l->ConstInt(one, rest, 0)), "");
        if (at->wide)
            in_word = l->BuildTrunc(b, in_word, word, "");
        in_word = l->BuildShl(b, in_word, SPLAT(l->ConstInt(u->b.i32, scale + 3, 0)), "");
        low = l->BuildOr(b, low, in_word, "");
        index = l->BuildAShr(b, index, SPLAT(l->ConstInt(one, 2 - scale, 0)), "");
    }
#undef SPLAT
    out.index = index;
    out.scale = at->scale < 2 ? 2 : at->scale;
    if (shift != NULL)
        *shift = low;
    return out;
}
/** Converts offsets in the local memory of each lane to offsets in the local memory of the warp. Each result is the offset of the
 *  word that contains the given byte. Local memory is so small that 32-bit indices suffice. */
static struct nat_offsets local_offsets(struct nat_unit *u, const struct nat_offsets *at)
{
    const struct nat_llvm *l = u->b.llvm;
    struct nat_offsets words = words_of(u, at, NULL);
    LLVMValueRef mine[64], first = l->BuildTrunc(u->b.b, l->BuildLShr(u->b.b, words.base, quad(u, 2), ""), u->b.i32, "");
    LLVMValueRef index = words.wide ? l->BuildTrunc(u->b.b, words.index, l->VectorType(u->b.i32, u->width), "") : words.index;

    for (unsigned i = 0; i < u->width; i++)
        mine[i] = l->ConstInt(u->b.i32, i, 0);
    index = l->BuildShl(u->b.b, index, nat_splat(&u->b, l->ConstInt(u->b.i32, words.scale - 2, 0), u->width), "");
    index = l->BuildAdd(u->b.b, index, nat_splat(&u->b, first, u->width), "");
    index = l->BuildMul(u->b.b, index, nat_splat(&u->b, l->ConstInt(u->b.i32, u->job->stride / 4, 0), u->width), "");
    return (struct nat_offsets){.index = l->BuildAdd(u->b.b, index, l->ConstVector(mine, u->width), ""), .base = quad(u, 0),
                                .scale = 2, .is_signed = true};
}
/** Returns the address of word @k of the element at @offset in the local memory of each lane: the words of all lanes are
 *  adjacent. */
static LLVMValueRef local_row(struct nat_unit *u, LLVMValueRef offset, unsigned k)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef word = l->BuildLShr(u->b.b, offset, quad(u, 2), "");

    word = l->BuildAdd(u->b.b, l->BuildMul(u->b.b, word, quad(u, u->job->stride), ""), quad(u, (uint64_t)k * u->job->stride), "");
    return nat_address(u, nat_local(u), word);
}
/** Sets data[word] to out[i][word] if the current block was reached from block from[i]. */
static void choose(struct nat_unit *u, unsigned words, LLVMBasicBlockRef from[2], LLVMValueRef out[2][4], LLVMValueRef *data)
{
    for (unsigned k = 0; k < words; k++) {
        LLVMValueRef values[2] = {out[0][k], out[1][k]};
        data[k] = u->b.llvm->BuildPhi(u->b.b, u->b.llvm->VectorType(u->b.i32, u->width), "");
        u->b.llvm->AddIncoming(data[k], values, from, 2);
    }
}
/** Returns the address of offset @index, one of @lanes, in the memory of @at; for a vector of indices, a vector of pointers. For local
 *  memory, the offsets are those in the local memory of the warp. */
static LLVMValueRef pointers_of(struct nat_unit *u, const struct place *at, const struct nat_offsets *lanes, LLVMValueRef index)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef types[4] = {u->b.i8, u->b.i16, u->b.i32, u->b.i64}; /* the host scales the index by the size of the type */
    struct nat_offsets whole = *lanes;

    whole.scale = 0;
    index = nat_scaled(u, lanes->scale < 4 ? &whole : lanes, index);
    return l->BuildGEP2(u->b.b, types[lanes->scale % 4], nat_address(u, memory_of(u, at), lanes->base), &index, 1, "");
}
/** Returns the address of lane @i, as pointers_of() does. */
static LLVMValueRef pointer_of(struct nat_unit *u, const struct place *at, const struct nat_offsets *lanes, unsigned i)
{
    const struct nat_llvm *l = u->b.llvm;

    return pointers_of(u, at, lanes, l->BuildExtractElement(u->b.b, lanes->index, l->ConstInt(u->b.i32, i, 0), ""));
}

/** Returns the elements of modifier @size, smaller than a word, that begin @shift bits after the start of words @all. */
static LLVMValueRef part_of_word(struct nat_unit *u, LLVMValueRef all, LLVMValueRef shift, unsigned size)
{
    all = u->b.llvm->BuildLShr(u->b.b, all, shift, "");
    return to_word(u, from_word(u, all, size, u->width), size, u->width);
}

/** Loads a word of each lane, or an element of modifier @size that is smaller, from offset @lanes. If all lanes load, there is a load
 *  for each lane: the host's prefetcher follows such loads, but no gather. Otherwise the host gathers, which it can only for words, and
 *  a smaller element is extracted from its word. This word is always in memory, because memory ends at a multiple of 4 bytes. */
static LLVMValueRef gather(struct nat_unit *u, const struct place *at, const struct nat_offsets *lanes, unsigned size)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef words = l->VectorType(u->b.i32, u->width);

    const bool is_local = at->space == ISA_SPACE_LOCAL;

    if (size < ISA_SIZE_B32 && (is_local || u->lanes.some)) {
        LLVMValueRef shift;
        const struct nat_offsets whole = words_of(u, lanes, &shift);
        return part_of_word(u, gather(u, at, &whole, ISA_SIZE_B32), shift, size);
    }
    const struct nat_offsets where = is_local ? local_offsets(u, lanes) : *lanes;
    if (!u->lanes.some) {
        LLVMValueRef all = l->GetUndef(l->VectorType(element(u, size), u->width));

        for (unsigned i = 0; i < u->width; i++) {
            LLVMValueRef x = l->BuildLoad2(u->b.b, element(u, size), pointer_of(u, at, &where, i), "");

            l->SetAlignment(x, alignment(size));
            all = l->BuildInsertElement(u->b.b, all, x, l->ConstInt(u->b.i32, i, 0), "");
        }
        return to_word(u, all, size, u->width);
    }
    LLVMTypeRef types[2] = {words, l->VectorType(u->b.pointer, u->width)};
    LLVMValueRef args[4] = {pointers_of(u, at, &where, where.index), l->ConstInt(u->b.i32, 4, 0), u->lanes.mask, l->ConstNull(words)};
    const unsigned id = l->LookupIntrinsicID("llvm.masked.gather", 18);

    return l->BuildCall2(u->b.b, l->IntrinsicGetType(u->b.context, id, types, 2), l->GetIntrinsicDeclaration(u->b.module, id, types, 2),
                         args, 4, "");
}

/** Returns an i1 that is true if the executed lanes access elements at offsets that increase by @stride bytes from each lane to the
 *  next. *@first gets the offset of the element of lane 0. @stride is a multiple of 2^scale of the offsets, which are checked. */
static LLVMValueRef is_run(struct nat_unit *u, const struct nat_offsets *lanes, unsigned stride, LLVMValueRef *first)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef offset[64];

    for (unsigned i = 0; i < u->width; i++)
        offset[i] = l->ConstInt(lanes->wide ? u->b.i64 : u->b.i32, (uint64_t)i * (stride >> lanes->scale), 0);
    LLVMValueRef base = l->BuildSub(u->b.b, lanes->index, l->ConstVector(offset, u->width), "");
    LLVMValueRef lowest = nat_first(u, base);
    *first = l->BuildAdd(u->b.b, nat_scaled(u, lanes, lowest), lanes->base, "");
    return nat_all(u, l->BuildICmp(u->b.b, NAT_INT_EQ, base, nat_splat(&u->b, lowest, u->width), ""));
}

/* ---- stores ------------------------------------------------------------------------------------ */

/** Returns the elements that the lanes store, from register @reg on, as a vector in the order of memory at consecutive
 *  addresses. */
static LLVMValueRef elements_of(struct nat_unit *u, unsigned reg, unsigned size, unsigned words)
{
    LLVMValueRef data[4] = {NULL}, all;
    int lanes[256];

    for (unsigned k = 0; k < words; k++)
        data[k] = nat_get_lanes(u, reg == ISA_VZ ? reg : reg + k, false);
    all = data[0];
    if (words > 1) { /* interleaves the words, so that those of a lane are consecutive */
        all = join(u, data[0], u->width, data[1], u->width);
        if (words == 4)
            all = join(u, all, 2 * u->width, join(u, data[2], u->width, data[3], u->width), 2 * u->width);
        for (unsigned i = 0; i < words * u->width; i++)
            lanes[i] = (int)(i % words * u->width + i / words);
        all = nat_shuffle(&u->b, all, u->b.llvm->GetUndef(u->b.llvm->TypeOf(all)), lanes, words * u->width);
    }
    return from_word(u, all, size, words * u->width);
}

/** Stores elements @all from @offset on: those of @count lanes, from lane @first on. */
static void store_run(struct nat_unit *u, const struct place *at, LLVMValueRef all, LLVMValueRef offset, unsigned first,
                      unsigned count, unsigned size, unsigned words)
{
    LLVMValueRef to = nat_address(u, memory_of(u, at), offset);

    if (count != u->width)
        all = slice(u, all, first * words, count * words, 1);
    if (u->lanes.some)
        nat_store_masked(u, all, to, alignment(size), mask_of_words(u, first, count, words));
    else
        u->b.llvm->SetAlignment(u->b.llvm->BuildStore(u->b.b, all, to), alignment(size));
}

/** As store_run() for all lanes. If the grid stores so many bytes that the host's caches cannot keep them, the store bypasses the
 *  caches, which is 1.5 times as fast because the host does not read the memory first. A thread of the host that reads the memory
 *  later has synchronised with this one by a locked instruction, which orders such stores, too. */
static void store_stream(struct nat_unit *u, const struct place *at, LLVMValueRef all, unsigned size, unsigned words)
{
    enum { LINE = 64, STREAM_BYTES = 16 << 20 };
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    const unsigned bytes = words == 1 ? alignment(size) : 4 * words;
    LLVMBasicBlockRef stream = nat_new_block(u), keep = nat_new_block(u), after = nat_new_block(u);
    LLVMValueRef threads = nat_member(u, u->b.i64, offsetof(struct emu_native_frame, threads));
    LLVMValueRef many = l->BuildICmp(b, NAT_INT_UGE, threads, quad(u, STREAM_BYTES / bytes), "");
    LLVMValueRef whole = l->BuildICmp(b, NAT_INT_EQ, l->BuildAnd(b, at->base, quad(u, LINE - 1), ""), quad(u, 0), "");

    (void)l->BuildCondBr(b, l->BuildAnd(b, many, whole, ""), stream, keep);
    l->PositionBuilderAtEnd(b, stream);
    LLVMValueRef store = l->BuildStore(b, all, nat_address(u, memory_of(u, at), at->base));
    l->SetAlignment(store, LINE);
    nat_streams(&u->b, store);
    (void)l->BuildBr(b, after);
    l->PositionBuilderAtEnd(b, keep);
    prefetch(u, at, 1, bytes);
    store_run(u, at, all, at->base, 0, u->width, size, words);
    (void)l->BuildBr(b, after);
    l->PositionBuilderAtEnd(b, after);
}

/** Copies the element of lane @lane, an i64, from u->elements to @offset. */
static void store_element(struct nat_unit *u, const struct place *at, LLVMValueRef lane, LLVMValueRef offset, unsigned size,
                          unsigned words)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef type = words == 1 ? element(u, size) : words == 2 ? u->b.i64 : l->VectorType(u->b.i32, words);
    LLVMValueRef from = l->BuildMul(u->b.b, lane, quad(u, words == 1 ? alignment(size) : 4 * words), "");
    LLVMValueRef x = l->BuildLoad2(u->b.b, type, nat_address(u, u->elements, from), "");

    l->SetAlignment(x, alignment(size));
    l->SetAlignment(l->BuildStore(u->b.b, x, nat_address(u, memory_of(u, at), offset)), alignment(size));
}

/** Stores words @all to offsets @lanes, which are those of @at or offsets in the local memory of the warp, by an instruction of the
 *  host. LLVM defines its order: if lanes have equal addresses, the highest lane stores last. */
static void scatter(struct nat_unit *u, const struct place *at, LLVMValueRef all, const struct nat_offsets *lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef types[2] = {l->TypeOf(all), l->VectorType(u->b.pointer, u->width)};
    LLVMValueRef args[4] = {all, pointers_of(u, at, lanes, lanes->index), l->ConstInt(u->b.i32, 4, 0), u->lanes.mask};
    const unsigned id = l->LookupIntrinsicID("llvm.masked.scatter", 19);

    (void)l->BuildCall2(u->b.b, l->IntrinsicGetType(u->b.context, id, types, 2),
                        l->GetIntrinsicDeclaration(u->b.module, id, types, 2), args, 4, "");
}

/** Stores elements @all to offsets @lanes, with one store for each lane. */
static void store_all(struct nat_unit *u, const struct place *at, LLVMValueRef all, const struct nat_offsets *lanes, unsigned size, unsigned words)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned i = 0; i < u->width; i++) {
        int part[4];

        for (unsigned k = 0; k < words; k++)
            part[k] = (int)(i * words + k);
        LLVMValueRef x = words != 1 ? nat_shuffle(&u->b, all, l->GetUndef(l->TypeOf(all)), part, words)
                                    : l->BuildExtractElement(u->b.b, all, l->ConstInt(u->b.i32, i, 0), "");
        l->SetAlignment(l->BuildStore(u->b.b, x, pointer_of(u, at, lanes, i)), alignment(size));
    }
}

/** Stores elements @all to offsets @lanes. If lanes have equal addresses, the highest lane stores last, as in the interpreter. If not all
 *  lanes store, words are stored by an instruction of the host if it has one, and other elements by a loop, the lowest lane first. */
static void store_each(struct nat_unit *u, const struct place *at, LLVMValueRef all, const struct nat_offsets *lanes,
                       unsigned size, unsigned words)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBuilderRef b = u->b.b;
    LLVMTypeRef type = lanes->wide ? u->b.i64 : u->b.i32;
    LLVMBasicBlockRef from[2] = {NULL, NULL}, after;
    LLVMValueRef values[2] = {NULL, NULL};

    if (!u->lanes.some) {
        store_all(u, at, all, lanes, size, words);
        return;
    }
    if (u->scatters && words == 1 && size >= ISA_SIZE_B32) {
        scatter(u, at, all, lanes);
        return;
    }
    from[0] = l->GetInsertBlock(b);
    from[1] = nat_new_block(u);
    after = nat_new_block(u);
    values[0] = nat_access_bits(u);
    l->SetAlignment(l->BuildStore(b, lanes->index, nat_lane_variable(u, &u->offsets, 8)), 8);
    l->SetAlignment(l->BuildStore(b, all, nat_lane_variable(u, &u->elements, 16)), 8);
    (void)l->BuildBr(b, from[1]);
    l->PositionBuilderAtEnd(b, from[1]);
    LLVMValueRef state = l->BuildPhi(b, u->b.i64, ""), args[2] = {state, l->ConstInt(u->b.i1, 1, 0)}; /* lanes that have not stored yet */
    LLVMValueRef lane = nat_intrinsic(&u->b, "llvm.cttz", u->b.i64, args, 2);
    LLVMValueRef index = l->BuildLoad2(b, type, l->BuildGEP2(b, type, u->offsets, &lane, 1, ""), "");
    store_element(u, at, lane, l->BuildAdd(b, nat_scaled(u, lanes, index), lanes->base, ""), size, words);
    values[1] = l->BuildAnd(b, state, l->BuildSub(b, state, quad(u, 1), ""), "");
    l->AddIncoming(state, values, from, 2);
    (void)l->BuildCondBr(b, l->BuildICmp(b, NAT_INT_NE, values[1], quad(u, 0), ""), from[1], after);
    l->PositionBuilderAtEnd(b, after);
}

/** Stores elements @all to offsets @lanes. @may_run: the addresses may be consecutive, which is tested. */
static void store_scattered(struct nat_unit *u, const struct place *at, LLVMValueRef all, const struct nat_offsets *lanes,
                            unsigned size, unsigned words, bool may_run)
{
    const unsigned bytes = words == 1 ? alignment(size) : 4 * words;
    LLVMValueRef first;

    nat_check_lanes(u, at->space, lanes, bytes, true);
    if (!may_run || bytes >> lanes->scale == 0) {
        store_each(u, at, all, lanes, size, words);
        return;
    }
    LLVMBasicBlockRef run = nat_new_block(u), each = nat_new_block(u), after = nat_new_block(u);
    (void)u->b.llvm->BuildCondBr(u->b.b, is_run(u, lanes, bytes, &first), run, each);
    u->b.llvm->PositionBuilderAtEnd(u->b.b, run);
    store_run(u, at, all, first, 0, u->width, size, words);
    (void)u->b.llvm->BuildBr(u->b.b, after);
    u->b.llvm->PositionBuilderAtEnd(u->b.b, each);
    store_each(u, at, all, lanes, size, words);
    (void)u->b.llvm->BuildBr(u->b.b, after);
    u->b.llvm->PositionBuilderAtEnd(u->b.b, after);
}

/* ---- local memory ------------------------------------------------------------------------------ */

/** An access to local memory: the words that contain each lane's element. */
struct local {
    LLVMValueRef offset; /* NULL, or the offset that all lanes access, i64 */
    struct nat_offsets lanes;
};

/** Loads word @k of each lane's element. */
static LLVMValueRef load_local_word(struct nat_unit *u, const struct place *at, const struct local *from, unsigned k)
{
    const struct nat_llvm *l = u->b.llvm;

    if (from->offset == NULL) {
        const struct nat_offsets lanes = moved(u, &from->lanes, 4 * k);
        return gather(u, at, &lanes, ISA_SIZE_B32);
    }
    LLVMValueRef row = l->BuildLoad2(u->b.b, l->VectorType(u->b.i32, u->width), local_row(u, from->offset, k), "");
    l->SetAlignment(row, 4);
    return row;
}
static void load_local_words(struct nat_unit *u, const struct place *at, const struct local *from, unsigned size, unsigned words,
                             LLVMValueRef *out)
{
    for (unsigned k = 0; k < words; k++) {
        out[k] = load_local_word(u, at, from, k);
        if (size < ISA_SIZE_B32) {
            LLVMValueRef shift;
            (void)words_of(u, &from->lanes, &shift);
            out[k] = part_of_word(u, out[k], shift, size);
        }
    }
}
static void store_local_words(struct nat_unit *u, const struct place *at, const struct local *to, unsigned size, unsigned words,
                              LLVMValueRef *data)
{
    const struct nat_llvm *l = u->b.llvm;

    for (unsigned k = 0; k < words; k++) {
        LLVMValueRef value = data[k];
        if (size < ISA_SIZE_B32) { /* the other bytes of the word also belong to this lane alone */
            LLVMValueRef shift, old = load_local_word(u, at, to, k);
            (void)words_of(u, &to->lanes, &shift);
            LLVMValueRef part = nat_splat(&u->b, l->ConstInt(u->b.i32, (UINT64_C(1) << (8 * alignment(size))) - 1, 0), u->width);
            value = l->BuildShl(u->b.b, l->BuildAnd(u->b.b, value, part, ""), shift, "");
            part = l->BuildNot(u->b.b, l->BuildShl(u->b.b, part, shift, ""), "");
            value = l->BuildOr(u->b.b, value, l->BuildAnd(u->b.b, old, part, ""), "");
        }
        if (to->offset == NULL) {
            const struct nat_offsets word = moved(u, &to->lanes, 4 * k), lanes = local_offsets(u, &word);
            store_each(u, at, value, &lanes, ISA_SIZE_B32, 1);
            continue;
        }
        if (u->lanes.some)
            nat_store_masked(u, value, local_row(u, to->offset, k), 4, u->lanes.mask);
        else
            l->SetAlignment(l->BuildStore(u->b.b, value, local_row(u, to->offset, k)), 4);
    }
}

/** Emits a load (@store false) or store of local memory. @data: the words. If the lanes' addresses are not known to be equal,
 *  tests whether they are. */
static void access_local(struct nat_unit *u, const struct place *at, unsigned size, unsigned bytes, unsigned words, bool store,
                         LLVMValueRef data[4])
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef from[2], after;
    LLVMValueRef out[2][4];
    struct local way[2];

    if (at->affine && at->sx == 0 && at->flat) {
        nat_check(u, at->space, at->base, at->rest, bytes, bytes, false);
        way[0] = (struct local){at->base, {.index = l->ConstNull(l->VectorType(u->b.i32, u->width)), .base = at->base}};
        if (store)
            store_local_words(u, at, &way[0], size, words, data);
        else
            load_local_words(u, at, &way[0], size, words, data);
        return;
    }
    const struct nat_offsets lanes = offsets_of(u, at);
    nat_check_lanes(u, at->space, &lanes, bytes, false);
    LLVMValueRef first, equal = is_run(u, &lanes, 0, &first);
    for (unsigned i = 0; i < 2; i++) {
        from[i] = nat_new_block(u);
        way[i] = (struct local){i == 0 ? first : NULL, lanes};
    }
    after = nat_new_block(u);
    (void)l->BuildCondBr(u->b.b, equal, from[0], from[1]);
    for (unsigned i = 0; i < 2; i++) {
        l->PositionBuilderAtEnd(u->b.b, from[i]);
        if (store)
            store_local_words(u, at, &way[i], size, words, data);
        else
            load_local_words(u, at, &way[i], size, words, out[i]);
        (void)l->BuildBr(u->b.b, after);
    }
    l->PositionBuilderAtEnd(u->b.b, after);
    if (!store)
        choose(u, words, from, out, data);
}

/* ---- instructions ------------------------------------------------------------------------------ */

/** Emits a load from offsets @lanes, which are checked. @strides: distances in bytes that the addresses of neighbouring lanes may
 *  have, which are tested. For other distances the load is a gather. */
static void load_scattered(struct nat_unit *u, const struct place *at, const struct nat_offsets *lanes, unsigned size, unsigned words,
                           const unsigned *strides, unsigned count, LLVMValueRef *data)
{
    const unsigned bytes = words == 1 ? alignment(size) : 4 * words;
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef from[2], after;
    LLVMValueRef out[2][4], first;

    while (count != 0 && strides[0] >> lanes->scale == 0) /* the offsets are multiples of more than this stride */
        strides++, count--;
    if (count == 0) {
        for (unsigned k = 0; k < words; k++) {
            const struct nat_offsets word = moved(u, lanes, 4 * k);
            data[k] = gather(u, at, &word, size);
        }
        return;
    }
    from[0] = nat_new_block(u), from[1] = nat_new_block(u), after = nat_new_block(u);
    (void)l->BuildCondBr(u->b.b, is_run(u, lanes, strides[0], &first), from[0], from[1]);
    l->PositionBuilderAtEnd(u->b.b, from[0]);
    if (strides[0] == bytes)
        load_run(u, at, first, 0, u->width, size, words, out[0]);
    else
        load_strided(u, at, first, 0, u->width, size, words, strides[0], out[0]);
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, from[1]);
    load_scattered(u, at, lanes, size, words, strides + 1, count - 1, out[1]);
    from[1] = l->GetInsertBlock(u->b.b);
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, after);
    choose(u, words, from, out, data);
}

/** Emits the checks of all rows of a load, before the first row is loaded: [0, @size) after the first byte of each row. Returns true
 *  if an earlier load has checked them. */
static bool check_rows(struct nat_unit *u, const struct place *at, unsigned rows, uint64_t size, unsigned bytes)
{
    int64_t low, high;

    if (nat_is_covered(u, size, &low, &high)) {
        nat_must_be_aligned(u, at->rest, bytes);
        return true;
    }
    for (unsigned row = 0; row < rows; row++) {
        LLVMValueRef offset = u->b.llvm->BuildAdd(u->b.b, row_offset(u, at, row), quad(u, (uint64_t)low), "");
        nat_check(u, at->space, offset, at->rest, (uint64_t)(high - low), bytes, false);
    }
    return false;
}

/** Emits a load of global or shared memory. Returns true if all lanes load the same address: then data[word] is one word, and
 *  otherwise a vector. */
static bool load_flat(struct nat_unit *u, const struct place *at, unsigned size, unsigned bytes, unsigned words,
                      LLVMValueRef data[4])
{
    const bool equal = at->affine && at->sx == 0, run = at->affine && at->sx == (int64_t)bytes;
    const bool strided = at->affine && at->sx % 4 == 0 && at->sx >= bytes && at->sx <= 16;
    const int64_t way = at->sx * (int64_t)(u->columns - 1);
    const unsigned rows = at->flat ? 1 : u->rows;
    LLVMValueRef part[4] = {NULL};
    bool fetched = false;

    if (equal && at->flat) {
        (void)check_rows(u, at, 1, bytes, bytes);
        load_equal(u, at, at->base, size, words, data);
        return true;
    }
    /* Without a mask, each row is checked as a range. With a mask, a row may have no lane of the mask, and lanes outside the mask
     * may have invalid addresses, which must not be checked. */
    const bool ranges = at->affine && at->sx >= 0 && way < EMU_NATIVE_PAGE && at->sx % bytes == 0 && !u->lanes.some;
    if (ranges) {
        fetched = check_rows(u, at, rows, (uint64_t)way + bytes, bytes);
    } else if (run && u->rows == 1) {
        nat_check_masked_row(u, at->space, at->base, at->rest, bytes, false);
    } else {
        const struct nat_offsets lanes = offsets_of(u, at);
        nat_check_lanes(u, at->space, &lanes, bytes, false);
    }
    if (!run && !strided && !(equal && ranges)) {
        const struct nat_offsets lanes = offsets_of(u, at);
        /* A byte of each word is what remains of `x[i] & 255`. */
        const unsigned strides[2] = {bytes, 4};

        load_scattered(u, at, &lanes, size, words, strides, at->affine ? 0 : bytes < 4 ? 2 : 1, data);
        return false;
    }
    if (run && !u->lanes.some && !fetched)
        prefetch(u, at, rows, bytes);
    for (unsigned row = 0; row < u->rows; row++) {
        if (row < rows || u->lanes.some) {
            LLVMValueRef offset = row_offset(u, at, row);
            if (equal)
                load_equal(u, at, offset, size, words, part);
            else if (run)
                load_run(u, at, offset, row * u->columns, u->columns, size, words, part);
            else
                load_strided(u, at, offset, row * u->columns, u->columns, size, words, (unsigned)at->sx, part);
            for (unsigned k = 0; k < words && equal; k++)
                part[k] = nat_splat(&u->b, part[k], u->columns);
        }
        for (unsigned k = 0; k < words; k++)
            data[k] = join(u, data[k], row * u->columns, part[k], u->columns);
    }
    return false;
}

static void emit_load(struct nat_unit *u, const struct isa_insn *insn)
{
    const unsigned size = isa_mod_get(insn, ISA_MOD_SIZE), bytes = isa_mem_bytes(insn), words = isa_mem_regs(insn);
    LLVMValueRef data[4] = {NULL};
    struct nat_state after = u->state;
    bool equal = false;
    struct place at;

    find_place(u, insn, &at);
    if (at.space == ISA_SPACE_LOCAL)
        access_local(u, &at, size, bytes, words, false, data);
    else
        equal = load_flat(u, &at, size, bytes, words, data);
    nat_shape_step(u, &after, u->at);
    for (unsigned k = 0; k < words && insn->d != ISA_VZ; k++) {
        if (equal && after.v[insn->d + k].kind == NAT_SAME)
            nat_put_same(u, insn->d + k, data[k]);
        else
            nat_put_lanes(u, insn->d + k, equal ? nat_splat(&u->b, data[k], u->width) : data[k]);
    }
}

static void emit_store(struct nat_unit *u, const struct isa_insn *insn)
{
    const unsigned size = isa_mod_get(insn, ISA_MOD_SIZE), bytes = isa_mem_bytes(insn), words = isa_mem_regs(insn);
    const unsigned reg = isa_x_reg(insn->x);
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef data[4] = {NULL};
    struct place at;

    find_place(u, insn, &at);
    if (at.space == ISA_SPACE_LOCAL) {
        for (unsigned k = 0; k < words; k++)
            data[k] = nat_get_lanes(u, reg == ISA_VZ ? reg : reg + k, false);
        access_local(u, &at, size, bytes, words, true, data);
        return;
    }
    LLVMValueRef all = elements_of(u, reg, size, words);
    if (at.affine && at.sx == 0 && at.flat) { /* all lanes store to one address, so only the store of the highest lane, which is
                                               * the last, has an effect */
        nat_check(u, at.space, at.base, at.rest, bytes, bytes, true);
        l->SetAlignment(l->BuildStore(u->b.b, all, nat_lane_variable(u, &u->elements, 16)), 8);
        store_element(u, &at, nat_last_lane(u), at.base, size, words);
        return;
    }
    const bool run = at.affine && at.sx == (int64_t)bytes;
    if (!run) {
        const struct nat_offsets lanes = offsets_of(u, &at);
        u->wide.failed = u->wide.active; /* more lanes only make the search for equal addresses longer */
        store_scattered(u, &at, all, &lanes, size, words, !at.affine);
        return;
    }
    if (u->lanes.some && u->rows == 1)
        nat_check_masked_row(u, at.space, at.base, at.rest, bytes, true);
    else if (u->lanes.some) { /* a row may have no lane of the mask; then its addresses must not be checked */
        const struct nat_offsets lanes = offsets_of(u, &at);
        nat_check_lanes(u, at.space, &lanes, bytes, true);
    }
    for (unsigned row = 0; row < u->rows && !u->lanes.some; row++)
        nat_check(u, at.space, row_offset(u, &at, row), at.rest, (uint64_t)u->columns * bytes, bytes, true);
    if (!u->lanes.some && u->rows == 1 && at.space == ISA_SPACE_GLOBAL && u->width * bytes % 64 == 0 &&
        !u->block[u->block_of[u->at]].loop) {
        store_stream(u, &at, all, size, words);
        return;
    }
    if (!u->lanes.some || u->rows == 1)
        prefetch(u, &at, u->rows, bytes);
    for (unsigned row = 0; row < u->rows; row++) /* rows are stored in order: if rows have equal addresses, the values of the last
                                                  * row remain */
        store_run(u, &at, all, row_offset(u, &at, row), row * u->columns, u->columns, size, words);
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
        nat_check(u, ISA_SPACE_GLOBAL, offset, offset, bytes, bytes, false);
        memory = u->global;
    }
    for (unsigned k = 0; k < words && insn->d + k < 128; k++) {
        LLVMValueRef x = l->BuildLoad2(u->b.b, u->b.i32, nat_address(u, memory, l->BuildAdd(u->b.b, offset, quad(u, 4 * k), "")), "");
        l->SetAlignment(x, 4);
        nat_put_scalar(u, insn->d + k, x);
    }
    return true;
}

static void emit_reduce(struct nat_unit *u, const struct isa_insn *insn)
{
    struct place at;

    find_place(u, insn, &at);
    const struct nat_offsets lanes = offsets_of(u, &at);
    nat_emit_reduce(u, memory_of(u, &at), &lanes, at.affine && at.sx == 0 && at.flat);
}

/** Adds 1 to the counter for accesses of @insn's kind. */
static void count_access(struct nat_unit *u, const struct isa_insn *insn)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef counter = u->kind[u->at] == NAT_REDUCE ? u->atomics
                           : u->kind[u->at] == NAT_LOAD ? u->loads
                           : insn->op == ISA_ST_LOCAL   ? u->local_stores
                                                        : u->stores;
    LLVMValueRef count = l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, counter, ""), quad(u, 1), "");

    (void)l->BuildStore(u->b.b, count, counter);
}

/** Emits a load or store with a guard, which is skipped if the guard is false in all lanes. */
static void emit_guarded(struct nat_unit *u, const struct isa_insn *insn)
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
    if (u->kind[u->at] == NAT_LOAD)
        emit_load(u, insn);
    else if (u->kind[u->at] == NAT_REDUCE)
        emit_reduce(u, insn);
    else
        emit_store(u, insn);
    u->lanes = kept;
    for (unsigned k = 0; load && k < words; k++)
        nat_put_lanes(u, insn->d + k, l->BuildSelect(u->b.b, mask, nat_get_stored(u, insn->d + k), old[k], ""));
    count_access(u, insn); /* inside the branch, because an access by no lane is not counted */
    (void)l->BuildBr(u->b.b, after);
    l->PositionBuilderAtEnd(u->b.b, after);
    if (u->through)
        u->values = values; /* values that were computed inside the branch are not valid after it */
    for (unsigned k = 0; u->through && load && k < words; k++)
        u->values.vec[insn->d + k] = NULL;
}

bool nat_emit_memory(struct nat_unit *u)
{
    const struct isa_insn *insn = &u->insn[u->at];

    if (u->kind[u->at] == NAT_SCALAR_LOAD) {
        const bool done = emit_scalar_load(u, insn);
        u->block_loads += done;
        return done;
    }
    if (insn->guard != ISA_PT) {
        emit_guarded(u, insn);
        return true;
    }
    if (u->kind[u->at] == NAT_LOAD) {
        emit_load(u, insn);
        u->block_loads++;
        return true;
    }
    if (u->kind[u->at] == NAT_REDUCE)
        emit_reduce(u, insn);
    else
        emit_store(u, insn);
    if (u->kind[u->at] == NAT_REDUCE || insn->op == ISA_ST_LOCAL)
        count_access(u, insn);
    else
        u->block_stores++;
    return true;
}
