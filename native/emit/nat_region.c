/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions in which the lanes of a warp may diverge. A region is the code between a bssy and its bsync. The code has a second copy
 * of the region's blocks, the divided copy, in which each block executes only the lanes that are at the block. In masked code only
 * a split that is alone in its warp enters the divided copy.
 *
 *   not divided:    bssy -> ... -> branch -> ... -> bsync -> ...
 *                                    | the lanes diverge         ^
 *   divided copy:                    +-> block, block, ..., end -+  all lanes have arrived
 *
 * frame->part[] has for each block the lanes that wait at its start. The blocks of the copy are visited in the order of
 * isa_function_ranks(). A visit executes the block for the lanes that wait at it. Then it adds these lanes to the lanes that wait
 * at the block's successors. After the last block of a loop, the copy returns to the loop's head if lanes wait there. So the copy
 * always executes the first block at which lanes wait, and lanes at one block execute it together. This is the order of the split
 * policy `converge`, so that the counts of instructions are those of the interpreter. At a bsync, each arrival counts as an
 * instruction.
 *
 * In the divided copy a register that the region writes is a vector, and a block writes it in its own lanes only. All other
 * registers are constant in the region, and keep their shapes.
 *
 * If the code leaves in the divided copy, the emulator divides the warp into splits as frame->part[] states.
 */
#include <stdlib.h>
#include <string.h>

#include "native/nat_values_priv.h"

/* Largest number of instructions in a region. A path that contains no backward branch is therefore shorter than this number, so
 * that the fairness limit is tested often enough. */
enum { MOST_IN_REGION = 512, MOST_BLOCKS = 64 };

/** A place in the divided copy, at which the copy either visits a block or, after the last block of a loop, tests whether lanes
 *  wait at the loop's head. Places are in the order of the blocks. */
struct nat_place {
    uint32_t rank, block;
    bool test;
    LLVMBasicBlockRef start; /* first LLVM block of the code at this place */
};

struct nat_region {
    uint32_t bssy, join;  /* indexes of the instructions in the kernel */
    uint32_t first, end;  /* first: the block with the bssy; end: the block that is the bsync */
    struct nat_set live;  /* registers that are live before a block of the copy or after the bsync */
    struct nat_state *state; /* shapes before each block of the copy; owned */
    struct nat_place place[2 * MOST_BLOCKS]; /* [places] in the order of the blocks; the last place is that of the bsync */
    unsigned places;
    /* While a block of the copy is emitted: values before the block of the registers that the block writes; NULL: it does not
     * write the register. */
    LLVMValueRef old[256], old_pred[8];
};

/* ---- analysis --------------------------------------------------------------------------------- */

static bool is_join(const struct nat_unit *u, uint32_t block)
{
    return u->kind[u->block[block].first] == NAT_BSYNC;
}

/** Returns true if block @n precedes block @m in the order of the blocks. */
static bool precedes(const struct nat_unit *u, uint32_t n, uint32_t m)
{
    const uint32_t a = u->rank_of[u->count + u->block[n].first], b = u->rank_of[u->count + u->block[m].first];

    return a != b ? a < b : n < m;
}
/** Returns true if block @n is between the bssy and the bsync of @r. */
static bool is_inside(const struct nat_unit *u, const struct nat_region *r, uint32_t n)
{
    return precedes(u, r->first, n) && precedes(u, n, r->end) && u->block[n].in->reached;
}

/** Returns the index of the bsync to which the bssy at index @i jumps, or 0 if it is not a bsync of the same barrier register. */
static uint32_t join_of(const struct nat_unit *u, uint32_t i)
{
    int64_t target;

    if (u->kind[i] != NAT_BSSY || !isa_insn_target(&u->insn[i], u->first + i, &target) || target < u->first ||
        target >= u->first + u->count)
        return 0;
    const uint32_t join = (uint32_t)target - u->first;
    return u->kind[join] == NAT_BSYNC && (u->insn[join].d & 15) == (u->insn[i].d & 15) && join + 1 < u->count &&
           u->block[u->block_of[join]].first == join && u->block[u->block_of[join]].count == 1 ? join : 0;
}

/** Returns true if no other code jumps into the region, and no code jumps out of it. Each backward branch in the region must
 *  target the head of a loop, and no branch may have the same block on both sides. Code of the region may leave native code. */
static bool is_closed(const struct nat_unit *u, const struct nat_region *r)
{
    for (uint32_t n = 0; n < u->blocks; n++) {
        const struct nat_block *b = &u->block[n];
        const bool inside = is_inside(u, r, n), first = n == r->first;
        for (unsigned k = 0; k < 2 && b->in->reached; k++) {
            const uint32_t to = (uint32_t)b->next[k];
            if (b->next[k] < 0)
                continue;
            if ((inside || first) != (to == r->end || is_inside(u, r, to)))
                return false;
            if (inside && !precedes(u, n, to) && u->rank_of[u->block[to].first] <= u->rank_of[u->count + b->first])
                return false; /* a backward branch to a block that is not the head of a loop */
        }
        if ((inside || first) && b->next[0] >= 0 && b->next[0] == b->next[1])
            return false;
    }
    return true;
}

/** Returns true if code between the bssy and the bsync of @r has another bssy or bsync of the same barrier register. */
static bool reuses_register(const struct nat_unit *u, const struct nat_region *r)
{
    for (uint32_t n = 0; n < u->blocks; n++) {
        const struct nat_block *b = &u->block[n];
        for (uint32_t i = n == r->first ? r->bssy + 1 : b->first; i < b->first + b->count && (n == r->first || is_inside(u, r, n)); i++)
            if ((u->kind[i] == NAT_BSSY || u->kind[i] == NAT_BSYNC) && (u->insn[i].d & 15) == (u->insn[r->bssy].d & 15))
                return true;
    }
    return false;
}

/** Returns true if is_closed() is true for each region within @r, and each bsync within @r ends one of these regions. The regions
 *  must not reuse a barrier register of a region around them. */
static bool is_nested(const struct nat_unit *u, const struct nat_region *r)
{
    uint64_t ends = 0;
    unsigned open = 0, count = 0;

    for (uint32_t n = 0; n < u->blocks; n++) {
        const struct nat_block *b = &u->block[n];
        const uint32_t from = n == r->first ? r->bssy + 1 : b->first;
        if (n != r->first && !is_inside(u, r, n))
            continue;
        open += n != r->first && is_join(u, n);
        for (uint32_t i = from; i < b->first + b->count; i++) {
            if (u->kind[i] == NAT_BSYNC && i != b->first)
                return false; /* this bsync does not end a region */
            if (u->kind[i] != NAT_BSSY)
                continue;
            const uint32_t join = join_of(u, i);
            if (join == 0)
                return false;
            const struct nat_region inner = {.bssy = i, .join = join, .first = n, .end = (uint32_t)u->block_of[join]};
            if (!is_inside(u, r, inner.end) || !precedes(u, n, inner.end) || !is_closed(u, &inner) ||
                reuses_register(u, &inner))
                return false;
            const uint64_t bit = UINT64_C(1) << inner.end % 64;
            if (ends & bit) /* two regions end at the same bsync. In a kernel of more than 64 blocks, the two may be different
                             * ones: such a region gets no copy */
                return false;
            ends |= bit;
            count++;
        }
    }
    return open == count && !reuses_register(u, r);
}

/** Fills r->place. Returns false if it has too few elements. */
static bool find_places(const struct nat_unit *u, struct nat_region *r)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < u->blocks; n++) {
        const uint32_t i = u->block[n].first;
        if (n != r->end && !is_inside(u, r, n))
            continue;
        for (unsigned test = 0; test < 2; test++) {
            const struct nat_place place = {.rank = u->rank_of[test ? i : u->count + i], .block = n, .test = test};
            unsigned k = r->places;
            if (test && (n == r->end || u->rank_of[i] == u->rank_of[u->count + i]))
                continue;
            if (k == LW_COUNT_OF(r->place))
                return false;
            for (; k > 0 && r->place[k - 1].rank > place.rank; k--)
                r->place[k] = r->place[k - 1];
            r->place[k] = place;
            r->places++;
        }
        count += n != r->end ? u->block[n].count : 0;
    }
    return count <= MOST_IN_REGION && r->places > 1 && r->place[r->places - 1].block == r->end;
}

/** Adds to @set the registers that blocks of the copy write. */
static void add_writes(const struct nat_unit *u, const struct nat_region *r, struct nat_set *set)
{
    struct nat_set reads, writes;

    for (uint32_t i = 0; i < u->count; i++) {
        if (!is_inside(u, r, (uint32_t)u->block_of[i]))
            continue;
        nat_uses(u, i, &reads, &writes);
        for (unsigned k = 0; k < NAT_SET_WORDS; k++)
            set->word[k] |= writes.word[k];
    }
}

static bool is_equal(const struct nat_shape *a, const struct nat_shape *b)
{
    return a->kind == b->kind && a->known == b->known && a->pair == b->pair && a->known_sy == b->known_sy && a->sx == b->sx &&
           a->sy == b->sy && a->value == b->value;
}

/** Gives vector register @reg the shape that it has before the blocks of the copy. Returns false if the blocks differ. */
static bool take_shape(const struct nat_unit *u, const struct nat_region *r, unsigned reg)
{
    const struct nat_shape *shape = NULL;

    for (unsigned k = 0; k < r->places; k++) {
        const struct nat_block *b = &u->block[r->place[k].block];
        const bool high = reg > 0 && b->in->v[reg].kind == NAT_HIGH && nat_has(&b->live, NAT_V + reg - 1);
        if (!nat_has(&b->live, NAT_V + reg) && !high)
            continue;
        if (shape != NULL && !is_equal(shape, &b->in->v[reg]))
            return false;
        shape = &b->in->v[reg];
    }
    if (shape != NULL)
        r->state->v[reg] = *shape;
    return shape == NULL || shape->kind != NAT_UNKNOWN;
}

static void make_lanes(struct nat_region *r, unsigned reg)
{
    r->state->v[reg] = (struct nat_shape){.kind = NAT_LANES};
    nat_add(&r->state->bits, NAT_V + reg);
    nat_remove(&r->state->nan, NAT_V + reg);
}

/** Computes the shapes before the blocks of the copy. Returns false if a register that is live after the bsync has any values in
 *  the copy, but another shape in the code after the bsync. */
static bool find_state(const struct nat_unit *u, struct nat_region *r)
{
    const struct nat_block *after = &u->block[r->end + 1];
    struct nat_state *state = r->state;
    struct nat_set written = {.word = {0}};

    add_writes(u, r, &written);
    r->live = after->live;
    for (unsigned reg = 0; reg < 255; reg++)
        state->v[reg] = (struct nat_shape){.kind = NAT_LANES};
    memcpy(state->s, u->block[r->end].in->s, sizeof state->s);
    memset(state->p, NAT_SAME, sizeof state->p);
    state->reached = true;
    for (unsigned i = 0; i < r->places; i++) {
        const struct nat_block *b = &u->block[r->place[i].block];
        for (unsigned k = 0; k < NAT_SET_WORDS; k++) {
            r->live.word[k] |= b->live.word[k];
            state->bits.word[k] |= b->in->bits.word[k];
            state->nan.word[k] |= b->in->nan.word[k];
        }
        for (unsigned reg = 0; reg < 128; reg++)
            if (!is_equal(&state->s[reg], &b->in->s[reg]))
                state->s[reg] = (struct nat_shape){.kind = NAT_SAME};
        for (unsigned p = 0; p < 7; p++)
            if (nat_has(&written, NAT_P + p) || (nat_has(&b->live, NAT_P + p) && b->in->p[p] != NAT_SAME))
                state->p[p] = NAT_LANES;
    }
    for (unsigned k = 0; k < NAT_SET_WORDS; k++)
        state->nan.word[k] &= ~state->bits.word[k];
    for (unsigned reg = 0; reg < 255; reg++)
        if (nat_has(&written, NAT_V + reg) || !take_shape(u, r, reg))
            make_lanes(r, reg);
    for (unsigned reg = 0; reg < 254; reg++) { /* a register of an affine pair keeps its shape only if the other register of the
                                                * pair does */
        const bool low = state->v[reg].kind == NAT_AFFINE && state->v[reg].pair, high = state->v[reg + 1].kind == NAT_HIGH;
        if (low && !high)
            make_lanes(r, reg);
        if (high && !low)
            make_lanes(r, reg + 1);
    }
    for (unsigned reg = 0; reg < 255; reg++)
        if (nat_has(&after->live, NAT_V + reg) && state->v[reg].kind == NAT_LANES && after->in->v[reg].kind != NAT_LANES)
            return false;
    for (unsigned p = 0; p < 7; p++)
        if (nat_has(&after->live, NAT_P + p) && state->p[p] == NAT_LANES && after->in->p[p] != NAT_LANES)
            return false;
    return true;
}

/** Returns true if lanes may diverge in the region. */
static bool diverges(const struct nat_unit *u, const struct nat_region *r)
{
    bool some = false;

    for (uint32_t n = 0; n < u->blocks; n++)
        some = some || ((n == r->first || is_inside(u, r, n)) && u->block[n].in->reached && u->block[n].divides);
    return some;
}

/** Adds the region of the bssy at index @i, unless a divided copy of it is not possible or not needed. Returns false if memory is
 *  short. */
static bool add_region(struct nat_unit *u, uint32_t i, uint32_t join)
{
    struct nat_region *r = calloc(1, sizeof *r);
    struct nat_state *state = calloc(1, sizeof *state);

    if (r == NULL || state == NULL) {
        free(r);
        free(state);
        return false;
    }
    *r = (struct nat_region){.bssy = i, .join = join, .first = (uint32_t)u->block_of[i], .end = (uint32_t)u->block_of[join], .state = state};
    if (!precedes(u, r->first, r->end) || !u->block[r->end].in->reached || !u->block[r->end].divided || !diverges(u, r) ||
        !is_closed(u, r) || !is_nested(u, r) || !find_places(u, r) || !find_state(u, r)) {
        free(state);
        free(r);
        return true;
    }
    u->regions[r->first] = r;
    for (uint32_t n = 0; n < u->blocks; n++)
        if (n == r->first || is_inside(u, r, n))
            u->region_of[n] = r;
    return true;
}

bool nat_regions(struct nat_unit *u)
{
    uint32_t *order = malloc((u->blocks + 1) * sizeof *order);
    bool good = order != NULL;

    u->region_of = calloc(u->blocks, sizeof *u->region_of);
    u->regions = calloc(u->blocks, sizeof *u->regions);
    u->rank_of = malloc(2 * u->count * sizeof *u->rank_of);
    good = good && u->region_of != NULL && u->regions != NULL && u->rank_of != NULL &&
           isa_function_ranks(u->insn, u->count, u->rank_of, u->rank_of + u->count);
    for (uint32_t n = 0; good && n < u->blocks; n++) { /* sorts the blocks, so that each region is added before the regions within
                                                        * it */
        uint32_t k = n;
        for (; k > 0 && precedes(u, n, order[k - 1]); k--)
            order[k] = order[k - 1];
        order[k] = n;
    }
    for (uint32_t k = 0; good && k < u->blocks; k++) {
        const struct nat_block *b = &u->block[order[k]];
        for (uint32_t i = b->first; good && b->in->reached && i < b->first + b->count; i++) {
            const uint32_t join = join_of(u, i);
            if (join != 0 && u->region_of[order[k]] == NULL)
                good = add_region(u, i, join);
        }
    }
    free(order);
    return good;
}

void nat_regions_free(struct nat_unit *u)
{
    for (uint32_t n = 0; u->regions != NULL && n < u->blocks; n++)
        if (u->regions[n] != NULL) {
            free(u->regions[n]->state);
            free(u->regions[n]);
        }
    free(u->regions);
    free(u->region_of);
    free(u->rank_of);
}

/* ---- emission --------------------------------------------------------------------------------- */

/** Returns the address of member @offset of frame->part[] of block @n. */
static LLVMValueRef part(struct nat_unit *u, uint32_t n, size_t offset)
{
    return nat_address(u, u->part, quad(u, u->block[n].first * sizeof(struct emu_native_part) + offset));
}
static LLVMValueRef lanes_at(struct nat_unit *u, uint32_t n)
{
    return u->b.llvm->BuildLoad2(u->b.b, u->b.i64, part(u, n, offsetof(struct emu_native_part, lanes)), "");
}
static void put_lanes_at(struct nat_unit *u, uint32_t n, LLVMValueRef lanes)
{
    (void)u->b.llvm->BuildStore(u->b.b, lanes, part(u, n, offsetof(struct emu_native_part, lanes)));
}
static LLVMValueRef is_some(struct nat_unit *u, LLVMValueRef lanes)
{
    return u->b.llvm->BuildICmp(u->b.b, NAT_INT_NE, lanes, quad(u, 0), "");
}
/** Adds @value, an i64, to the frame's member at byte @offset. */
static void add_member(struct nat_unit *u, size_t offset, LLVMValueRef value)
{
    nat_put_member(u, u->b.llvm->BuildAdd(u->b.b, nat_member(u, u->b.i64, offset), value, ""), offset);
}
static void add_counted(struct nat_unit *u, LLVMValueRef value)
{
    const struct nat_llvm *l = u->b.llvm;

    (void)l->BuildStore(u->b.b, l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), value, ""), u->counted);
}
void nat_count_missing(struct nat_unit *u, LLVMValueRef lanes, LLVMValueRef count)
{
    LLVMValueRef threads = nat_intrinsic(&u->b, "llvm.ctpop", u->b.i64, &lanes, 1);

    add_member(u, offsetof(struct emu_native_frame, missing), u->b.llvm->BuildMul(u->b.b, threads, count, ""));
}
/** Counts @count warp instructions, an i64, which @lanes have executed, as thread instructions. */
static void count_threads(struct nat_unit *u, LLVMValueRef lanes, LLVMValueRef count)
{
    nat_count_missing(u, u->b.llvm->BuildXor(u->b.b, nat_base_bits(u), lanes, ""), count);
}

/** Emits code that adds @lanes, a set which may be empty, to the lanes that wait at block @to, and updates the frame's counts. */
static void edge(struct nat_unit *u, uint32_t to, LLVMValueRef lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef before = lanes_at(u, to), some = is_some(u, lanes), waited = is_some(u, before);

    put_lanes_at(u, to, l->BuildOr(u->b.b, before, lanes, ""));
    if (is_join(u, to)) {
        LLVMValueRef count = l->BuildZExt(u->b.b, some, u->b.i64, "");
        add_counted(u, count);
        count_threads(u, lanes, count);
        LLVMValueRef all = l->BuildICmp(u->b.b, NAT_INT_EQ, lanes, nat_base_bits(u), "");
        add_member(u, offsetof(struct emu_native_frame, passes), l->BuildZExt(u->b.b, all, u->b.i64, ""));
        return;
    }
    LLVMValueRef merges = l->BuildAnd(u->b.b, some, waited, "");
    add_member(u, offsetof(struct emu_native_frame, merges), l->BuildZExt(u->b.b, merges, u->b.i64, ""));
    LLVMValueRef at = part(u, to, offsetof(struct emu_native_part, since));
    LLVMValueRef since = l->BuildSelect(u->b.b, waited, l->BuildLoad2(u->b.b, u->b.i64, at, ""),
                                        l->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), "");
    (void)l->BuildStore(u->b.b, since, at);
}

/** Returns the code of the first place after block @n. */
static LLVMBasicBlockRef next_place(const struct nat_unit *u, const struct nat_region *r, uint32_t n)
{
    unsigned k = 0;

    while (!precedes(u, n, r->place[k].block) && !(r->place[k].test && r->place[k].rank > u->rank_of[u->count + u->block[n].first]))
        k++;
    return r->place[k].start;
}
static LLVMBasicBlockRef visit_of(const struct nat_region *r, uint32_t n)
{
    unsigned k = 0;

    while (r->place[k].block != n || r->place[k].test)
        k++;
    return r->place[k].start;
}

/** Emits code that leaves native code before block @n. The lanes at @n are then the running lanes; other lanes may wait at other
 *  blocks. */
static void leave_at_block(struct nat_unit *u, struct nat_region *r, uint32_t n)
{
    LLVMValueRef lanes = lanes_at(u, n);

    memset(r->old, 0, sizeof r->old);
    memset(r->old_pred, 0, sizeof r->old_pred);
    put_lanes_at(u, n, quad(u, 0));
    nat_leave(u, (struct emu_native_site){.next = u->first + u->block[n].first}, &r->live, lanes);
}

/** Emits code that returns to the head of a loop. The code instead leaves native code if the limit of instructions or the
 *  fairness limit may be reached before the next test. */
static void check_limits(struct nat_unit *u, struct nat_region *r, uint32_t head)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMBasicBlockRef go = visit_of(r, head), out = nat_new_block(u), old = nat_new_block(u), in_time = nat_new_block(u);
    LLVMBasicBlockRef renew = nat_new_block(u);
    LLVMValueRef counted = l->BuildLoad2(u->b.b, u->b.i64, u->counted, "");
    LLVMValueRef until = l->BuildAdd(u->b.b, counted, quad(u, MOST_IN_REGION), "");

    nat_likely(&u->b, l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_ULE, until, u->limit, ""), in_time, out));
    position(u, in_time);
    LLVMValueRef age = l->BuildSub(u->b.b, until, l->BuildLoad2(u->b.b, u->b.i64, u->oldest, ""), "");
    nat_likely(&u->b, l->BuildCondBr(u->b.b, l->BuildICmp(u->b.b, NAT_INT_ULT, age, quad(u, EMU_NATIVE_WINDOW), ""), go, old));
    position(u, old);
    LLVMValueRef others = quad(u, 0);
    for (unsigned k = 0; k < r->places; k++)
        if (!r->place[k].test && r->place[k].block != head && !is_join(u, r->place[k].block))
            others = l->BuildOr(u->b.b, others, lanes_at(u, r->place[k].block), "");
    (void)l->BuildCondBr(u->b.b, is_some(u, others), out, renew);
    position(u, renew);
    (void)l->BuildStore(u->b.b, counted, u->oldest);
    (void)l->BuildBr(u->b.b, go);
    position(u, out);
    leave_at_block(u, r, head);
}

/** Emits the end of block @b: @lanes have executed it, and those of @taken take its branch. */
static void edges(struct nat_unit *u, struct nat_region *r, const struct nat_block *b, LLVMValueRef lanes, LLVMValueRef taken)
{
    const struct nat_llvm *l = u->b.llvm;
    const uint32_t n = (uint32_t)(b - u->block);

    if (b->next[0] >= 0 && b->next[1] >= 0) {
        LLVMValueRef rest = l->BuildAnd(u->b.b, lanes, l->BuildNot(u->b.b, taken, ""), "");
        LLVMValueRef both = l->BuildAnd(u->b.b, is_some(u, taken), is_some(u, rest), "");
        add_member(u, offsetof(struct emu_native_frame, divergences), l->BuildZExt(u->b.b, both, u->b.i64, ""));
        edge(u, (uint32_t)b->next[1], taken);
        edge(u, (uint32_t)b->next[0], rest);
    } else {
        edge(u, (uint32_t)(b->next[0] >= 0 ? b->next[0] : b->next[1]), lanes);
    }
    (void)l->BuildBr(u->b.b, next_place(u, r, n));
}

LLVMValueRef nat_set_of(struct nat_unit *u, struct nat_value lanes)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef bits = l->BuildBitCast(u->b.b, nat_vector(&u->b, lanes).v, mask_type(u), "");

    return u->width < 64 ? l->BuildZExt(u->b.b, bits, u->b.i64, "") : bits;
}

bool nat_can_divide(const struct nat_unit *u, const struct nat_block *b)
{
    return u->region == NULL && u->region_of != NULL && u->region_of[b - u->block] != NULL;
}

void nat_divide(struct nat_unit *u, const struct nat_block *b, struct nat_value taken)
{
    struct nat_region *r = u->region_of[b - u->block];
    const struct nat_state kept = u->state;
    struct nat_block to = {.in = r->state, .live = r->live};

    nat_count_block(u, b);
    nat_reshape(u, &to);
    u->state = *r->state;
    nat_put_member(u, quad(u, 1), offsetof(struct emu_native_frame, divided));
    (void)u->b.llvm->BuildStore(u->b.b, u->b.llvm->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), u->oldest);
    LLVMValueRef lanes = nat_base_bits(u);
    edges(u, r, b, lanes, u->b.llvm->BuildAnd(u->b.b, lanes, nat_set_of(u, taken), ""));
    u->state = kept;
}

/* Before each block, the registers that the region writes are in variables as vectors. A block changes the variables as in code
 * for whole warps. At the end of the block, the lanes that have not executed it get their old values back. */
static LLVMTypeRef vector_of(const struct nat_unit *u, LLVMTypeRef type)
{
    return u->b.llvm->VectorType(type, u->width);
}
static void keep_old(struct nat_unit *u, struct nat_region *r, const struct nat_block *b)
{
    struct nat_set reads, writes;

    memset(r->old, 0, sizeof r->old);
    memset(r->old_pred, 0, sizeof r->old_pred);
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        nat_uses(u, i, &reads, &writes);
        for (unsigned reg = 0; reg < 255; reg++)
            if (r->old[reg] == NULL && nat_has(&writes, NAT_V + reg) && nat_has(&r->live, NAT_V + reg))
                r->old[reg] = nat_read_variable(u, &u->values.vec[reg], vector_of(u, u->b.i32));
        for (unsigned p = 0; p < 7; p++)
            if (r->old_pred[p] == NULL && nat_has(&writes, NAT_P + p) && nat_has(&r->live, NAT_P + p))
                r->old_pred[p] = nat_read_variable(u, &u->values.pred[p], vector_of(u, u->b.i1));
    }
}
/** Returns register @reg in all lanes: the block's value in the lanes that it executes. */
static LLVMValueRef all_lanes(struct nat_unit *u, const struct nat_region *r, unsigned reg)
{
    LLVMValueRef value = nat_get_lanes(u, reg, false);

    return r->old[reg] == NULL ? value : u->b.llvm->BuildSelect(u->b.b, u->split.mask, value, r->old[reg], "");
}
static LLVMValueRef all_lanes_of_predicate(struct nat_unit *u, const struct nat_region *r, unsigned p)
{
    LLVMValueRef value = nat_vector(&u->b, nat_get_predicate(u, p, false, false)).v;

    return r->old_pred[p] == NULL ? value : u->b.llvm->BuildSelect(u->b.b, u->split.mask, value, r->old_pred[p], "");
}
static void merge_old(struct nat_unit *u, struct nat_region *r)
{
    for (unsigned reg = 0; reg < 255; reg++)
        if (r->old[reg] != NULL)
            nat_put_lanes(u, reg, all_lanes(u, r, reg));
    for (unsigned p = 0; p < 7; p++)
        if (r->old_pred[p] != NULL)
            nat_write_variable(u, &u->values.pred[p], vector_of(u, u->b.i1), all_lanes_of_predicate(u, r, p));
    memset(r->old, 0, sizeof r->old);
    memset(r->old_pred, 0, sizeof r->old_pred);
    u->state = *r->state;
}

void nat_spill_divided(struct nat_unit *u, const struct nat_set *live)
{
    struct nat_region *r = u->region;
    const struct nat_lanes split = u->split;
    struct nat_set all = r->live, rest = {.word = {0}};

    for (unsigned k = 0; k < NAT_SET_WORDS; k++)
        all.word[k] |= live->word[k];
    for (unsigned reg = 0; reg < u->job->vregs && reg < 255; reg++) {
        if (!nat_has(&all, NAT_V + reg) || u->state.v[reg].kind == NAT_UNKNOWN)
            continue;
        LLVMValueRef value = all_lanes(u, r, reg);
        u->split = u->base; /* the register file also gets the values of waiting lanes */
        nat_store_row(u, reg, value);
        u->split = split;
    }
    for (unsigned p = 0; p < 7; p++)
        if (nat_has(&all, NAT_P + p)) {
            struct nat_value value = {all_lanes_of_predicate(u, r, p), NAT_BOOL, true};
            u->split = u->base;
            nat_store_predicate(u, p, value);
            u->split = split;
        }
    for (unsigned reg = NAT_S; reg < NAT_REGS; reg++)
        if ((reg < NAT_P || reg >= NAT_SP) && nat_has(&all, reg))
            nat_add(&rest, reg);
    nat_spill(u, &rest);
}

/** Emits a visit of the inner bsync that is block @n: all lanes of its region have arrived. */
static void visit_join(struct nat_unit *u, struct nat_region *r, uint32_t n, LLVMValueRef lanes)
{
    LLVMTypeRef types[2] = {u->b.i32, u->b.i64};
    LLVMValueRef args[2] = {word(u, u->insn[u->block[n].first].d & 15), lanes};

    (void)nat_call(u, offsetof(struct emu_native_calls, release), true, u->b.i1, types, args, 2);
    edge(u, (uint32_t)u->block[n].next[0], lanes);
    (void)u->b.llvm->BuildBr(u->b.b, next_place(u, r, n));
}

/** Emits the end of region @r: all lanes have arrived at the bsync, and continue in the code that is not divided. */
static void visit_end(struct nat_unit *u, struct nat_region *r)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMTypeRef types[2] = {u->b.i32, u->b.i64};
    LLVMValueRef args[2] = {word(u, u->insn[r->join].d & 15), l->BuildLoad2(u->b.b, u->b.i64, u->counted, "")};

    u->state = *r->state;
    u->at = r->join;
    put_lanes_at(u, r->end, quad(u, 0));
    (void)nat_call(u, offsetof(struct emu_native_calls, join), true, u->b.i1, types, args, 2);
    nat_go_to(u, u->block[r->end].next[0]);
}

static void visit_block(struct nat_unit *u, struct nat_region *r, const struct nat_block *b)
{
    const struct nat_llvm *l = u->b.llvm;
    const uint32_t n = (uint32_t)(b - u->block);
    const struct isa_insn *last = &u->insn[b->first + b->count - 1];
    LLVMBasicBlockRef body = nat_new_block(u);
    LLVMValueRef lanes = lanes_at(u, n), taken = NULL;

    (void)l->BuildCondBr(u->b.b, is_some(u, lanes), body, next_place(u, r, n));
    position(u, body);
    put_lanes_at(u, n, quad(u, 0));
    if (is_join(u, n)) {
        visit_join(u, r, n, lanes);
        return;
    }
    LLVMValueRef bits = u->width < 64 ? l->BuildTrunc(u->b.b, lanes, mask_type(u), "") : lanes;
    u->split = u->lanes = nat_lanes_of(u, l->BuildBitCast(u->b.b, bits, vector_of(u, u->b.i1), ""), bits);
    u->state = *r->state;
    keep_old(u, r, b);
    if (nat_emit_instructions(u, b)) {
        if (u->kind[b->first + b->count - 1] == NAT_BRANCH) {
            struct nat_value p = nat_get_predicate(u, last->guard, last->guard_neg, last->guard_scalar);
            taken = l->BuildAnd(u->b.b, lanes, nat_set_of(u, p), "");
        }
        nat_count_block(u, b);
        count_threads(u, lanes, quad(u, b->count));
        merge_old(u, r);
        edges(u, r, b, lanes, taken);
    }
    u->split = u->lanes = u->base;
}

/** Emits the test whether lanes wait at the head of a loop. @k: index in r->place. */
static void visit_test(struct nat_unit *u, struct nat_region *r, unsigned k)
{
    LLVMBasicBlockRef back = nat_new_block(u);

    (void)u->b.llvm->BuildCondBr(u->b.b, is_some(u, lanes_at(u, r->place[k].block)), back, r->place[k + 1].start);
    position(u, back);
    u->state = *r->state;
    check_limits(u, r, r->place[k].block);
}

void nat_prepare_regions(struct nat_unit *u)
{
    for (uint32_t n = 0; u->regions != NULL && n < u->blocks; n++)
        for (unsigned k = 0; u->regions[n] != NULL && k < u->regions[n]->places; k++)
            u->regions[n]->place[k].start = nat_new_block(u);
}

void nat_emit_regions(struct nat_unit *u)
{
    for (uint32_t n = 0; u->regions != NULL && n < u->blocks; n++) {
        struct nat_region *r = u->regions[n];
        if (r == NULL)
            continue;
        u->region = r;
        u->alone = u->b.llvm->ConstNull(u->b.i1);
        for (unsigned k = 0; k + 1 < r->places; k++) {
            position(u, r->place[k].start);
            nat_no_line(u);
            if (r->place[k].test)
                visit_test(u, r, k);
            else
                visit_block(u, r, &u->block[r->place[k].block]);
        }
        u->region = NULL;
        position(u, r->place[r->places - 1].start);
        nat_no_line(u);
        visit_end(u, r);
    }
}

/* ---- bssy and bsync of whole warps ------------------------------------------------------------- */

/** Returns the address of the warp's member at byte @offset. */
static LLVMValueRef state_at(struct nat_unit *u, uint32_t offset)
{
    return nat_address(u, nat_warp(u), quad(u, offset));
}
/** Adds 1 to the u64 at @offset in the warp, and returns the new value. */
static LLVMValueRef advance(struct nat_unit *u, uint32_t offset)
{
    const struct nat_llvm *l = u->b.llvm;
    LLVMValueRef at = state_at(u, offset), value = l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, at, ""), quad(u, 1), "");

    (void)l->BuildStore(u->b.b, value, at);
    return value;
}

/** Emits the effects of emu_split_bssy() for all lanes of a warp that is not divided: they become one group. */
static void whole_bssy(struct nat_unit *u, uint32_t barrier)
{
    LLVMValueRef number = advance(u, emu_native_layout.group_counter);

    (void)u->b.llvm->BuildStore(u->b.b, nat_base_bits(u), state_at(u, emu_native_layout.lanes + barrier));
    (void)u->b.llvm->BuildStore(u->b.b, number, state_at(u, emu_native_layout.number + barrier));
}

/** Emits the effects of emu_split_bsync_uncontended() for all lanes of a warp that is not divided, if they are one group.
 *  Otherwise the code calls the emulator. */
static void whole_bsync(struct nat_unit *u, uint32_t barrier, LLVMValueRef *args, LLVMTypeRef *types)
{
    const struct nat_llvm *l = u->b.llvm;
    const struct emu_native_layout *layout = &emu_native_layout;
    LLVMBasicBlockRef usual = nat_new_block(u), other = nat_new_block(u), done = nat_new_block(u);
    LLVMValueRef lanes = state_at(u, layout->lanes + barrier);
    LLVMValueRef retired = l->BuildLoad2(u->b.b, u->b.i64, state_at(u, layout->retired), "");
    LLVMValueRef all = l->BuildICmp(u->b.b, NAT_INT_EQ, l->BuildLoad2(u->b.b, u->b.i64, lanes, ""), nat_base_bits(u), "");
    LLVMValueRef one = is_some(u, l->BuildLoad2(u->b.b, u->b.i64, state_at(u, layout->number + barrier), ""));

    nat_likely(&u->b, l->BuildCondBr(u->b.b, l->BuildAnd(u->b.b, all, one, ""), usual, other));
    position(u, other);
    nat_leave_unless(u, nat_call(u, offsetof(struct emu_native_calls, bsync), true, u->b.i1, types, args, 2));
    (void)l->BuildBr(u->b.b, done);
    position(u, usual);
    (void)l->BuildStore(u->b.b, quad(u, 0), lanes);
    (void)l->BuildStore(u->b.b, advance(u, layout->seq_counter), state_at(u, layout->seq));
    retired = l->BuildAdd(u->b.b, l->BuildAdd(u->b.b, retired, args[1], ""), quad(u, 1), "");
    (void)l->BuildStore(u->b.b, retired, state_at(u, layout->since));
    (void)l->BuildStore(u->b.b, l->ConstNull(u->b.i8), state_at(u, layout->flags));
    (void)l->BuildStore(u->b.b, word(u, 0), state_at(u, layout->turn_used));
    (void)l->BuildStore(u->b.b, word(u, 0), state_at(u, layout->last_low));
    (void)l->BuildBr(u->b.b, done);
    position(u, done);
}

void nat_emit_convergence(struct nat_unit *u)
{
    const struct nat_llvm *l = u->b.llvm;
    const uint32_t reg = u->insn[u->at].d & 15, barrier = reg * emu_native_layout.barrier_bytes;
    const bool bssy = u->kind[u->at] == NAT_BSSY;
    LLVMTypeRef types[2] = {u->b.i32, u->b.i64};
    LLVMValueRef args[2] = {word(u, reg), NULL};

    if (bssy && u->region != NULL) {
        args[1] = nat_access_bits(u);
        (void)nat_call(u, offsetof(struct emu_native_calls, bssy_part), true, u->b.i1, types, args, 2);
        return;
    }
    if (bssy && !u->masked) {
        whole_bssy(u, barrier);
        return;
    }
    if (bssy) {
        nat_leave_unless(u, nat_call(u, offsetof(struct emu_native_calls, bssy), false, u->b.i1, types, args, 1));
        return;
    }
    args[1] = l->BuildAdd(u->b.b, l->BuildLoad2(u->b.b, u->b.i64, u->counted, ""), quad(u, u->at - u->block_first), "");
    if (u->masked)
        nat_leave_unless(u, nat_call(u, offsetof(struct emu_native_calls, bsync), false, u->b.i1, types, args, 2));
    else
        whole_bsync(u, barrier, args, types);
}
