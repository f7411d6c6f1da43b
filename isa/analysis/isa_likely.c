/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Likely convergence points. The reconvergence pc of a branch is often late, because a rare path, such as a break out of a loop,
 * bypasses the block at which all other paths meet. The likely convergence point of a branch is the first block, in the order of
 * isa_object_ranks(), that both sides of the branch reach before the reconvergence pc.
 *
 *     A: branch to B or C       reconvergence pc of A and of C: F
 *     B: go to E                likely point of A: E; of C: none, since D goes to F
 *     C: branch to D or E       The lanes that reach E wait at E for all other lanes of A except those that go to D.
 *     D: go to F
 *     E: ...                    Source: T. M. Aamodt and others, "General-Purpose Graphics Processor Architectures",
 *     F: ...                    section 3.4.3, which leaves open how the points are found.
 */
#include <stdlib.h>

#include "isa/isa_priv.h"

/** Limit of the number of blocks that are searched for one branch, which limits the time for large functions. */
enum { REGION_BLOCKS = 1024, NONE = UINT32_MAX };

struct search {
    const struct isa_insn *insn; /* instructions of the function */
    const uint32_t *rank;        /* ranks of the function's instructions, or NULL */
    struct isa_flow flow;
    uint32_t *seen;   /* [block] 1 + index of the branch for which the block was last reached */
    uint8_t *sides;   /* [block] set of the sides of this branch from which the block was reached */
    uint32_t *work;   /* stack of blocks that remain to be searched */
};

static uint32_t order_of(const struct search *s, uint32_t index)
{
    return s->rank != NULL ? s->rank[index] : index;
}

/** Visits the blocks that control reaches from block @from before instruction @rpc, without taking backward branches. Records
 *  that these blocks were reached from side @side of branch @index. Returns the first visited block, in the order of the ranks,
 *  that was also reached from the other side. Returns NONE if there is no such block, or if there are too many blocks. */
static uint32_t traverse(struct search *s, uint32_t index, unsigned side, uint32_t from, uint32_t rpc)
{
    const struct isa_block *block = s->flow.block;
    uint32_t count = 0, reached = 0, found = NONE;

    if (from != ISA_NO_BLOCK && block[from].first != rpc)
        s->work[count++] = from;
    while (count > 0) {
        uint32_t k = s->work[--count];

        if (s->seen[k] != index + 1) {
            s->seen[k] = index + 1;
            s->sides[k] = 0;
        }
        if ((s->sides[k] & side) != 0)
            continue;
        s->sides[k] |= (uint8_t)side;
        if (++reached > REGION_BLOCKS)
            return NONE;
        if (s->sides[k] != side) { /* the blocks that control can reach from this block are later in the order, so they are not
                                    * visited */
            if (found == NONE || order_of(s, block[k].first) < order_of(s, block[found].first))
                found = k;
            continue;
        }
        for (unsigned i = 0; i < 2; i++) {
            uint32_t next = block[k].next[i];
            if (next != ISA_NO_BLOCK && block[next].first != rpc && order_of(s, block[next].first) > order_of(s, block[k].first))
                s->work[count++] = next;
        }
    }
    return found;
}

/** Returns the likely convergence point of the branch at the end of block @at, or NONE. */
static uint32_t point_of(struct search *s, uint32_t at, uint32_t rpc)
{
    const struct isa_block *block = s->flow.block;
    uint32_t index = block[at].first + block[at].count - 1, found;

    (void)traverse(s, index, 1, block[at].next[1], rpc);
    found = traverse(s, index, 2, block[at].next[0], rpc);
    return found != NONE && order_of(s, block[found].first) < order_of(s, rpc) ? block[found].first : NONE;
}

bool isa_likely_points(const struct isa_insn *insn, uint32_t first, uint32_t count, const uint32_t *rank, const uint32_t *rpc,
                       uint32_t *lpc)
{
    struct search s = {.insn = insn + first, .rank = rank != NULL ? rank + first : NULL};
    bool fine = isa_flow_find(s.insn, count, &s.flow);

    if (fine) {
        s.seen = calloc(s.flow.count, sizeof *s.seen);
        s.sides = calloc(s.flow.count, sizeof *s.sides);
        s.work = malloc((2 * (size_t)REGION_BLOCKS + 2) * sizeof *s.work);
    }
    fine = fine && s.seen != NULL && s.sides != NULL && s.work != NULL;
    for (uint32_t i = 0; fine && i < count; i++)
        lpc[first + i] = NONE;
    for (uint32_t b = 0; fine && b < s.flow.count; b++) {
        uint32_t last = first + s.flow.block[b].first + s.flow.block[b].count - 1;

        if (rpc[last] == NONE || rpc[last] < first || rpc[last] >= first + count)
            continue;
        uint32_t point = point_of(&s, b, rpc[last] - first);
        if (point != NONE)
            lpc[last] = first + point;
    }
    isa_flow_fini(&s.flow);
    free(s.seen);
    free(s.sides);
    free(s.work);
    return fine;
}
