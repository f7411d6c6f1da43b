/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which lanes of a divergent warp should run so that they reconverge. The order is a topological order of the blocks
 * of a function, in which a loop precedes the code after it, so that lanes that have left a loop wait for the lanes in its body.
 * Functions precede their callers. Source: G. Diamos and others, "SIMD re-convergence at thread frontiers", MICRO 2011:
 * priorities of blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "isa/isa_priv.h"

enum { NONE = UINT32_MAX, MOST_PASSES = 64 };

/* State of the analysis of a function. Unless stated otherwise, the arrays have an element for each block. */
struct order {
    struct isa_flow flow;
    uint32_t *words;    /* memory of the arrays of 32-bit words */
    uint32_t *sequence; /* blocks in their present order */
    uint32_t *position; /* [block] position in `sequence` */
    uint32_t *result;   /* new order of the segment that is being ordered */
    uint32_t *visit;    /* [block] number of the block's visit in the depth-first search, or 0 if it was not visited */
    uint32_t *low;      /* [block] lowest visit number that the block reaches within its component */
    uint32_t *path;     /* stack of the depth-first search */
    uint32_t *open;     /* stack of the visited blocks whose component is not complete */
    uint32_t *waits;    /* [position] of the heads of loops that end there, the one found last; NONE: no loop ends there */
    uint32_t *around;   /* [head of a loop] next head whose loop ends at the same position; NONE: there is no further head */
    uint32_t *segment;  /* stack of the loops that remain to be ordered: position of the head, and end position */
    uint8_t *bytes;     /* memory of the arrays of bytes */
    uint8_t *edge;      /* [block] number of the next edge to follow */
    uint8_t *closed;    /* [block] true if the block's component is complete */
    uint8_t *head;      /* [block] true if the block is the head of a loop, so that edges to it are no longer followed */
    uint32_t segments;
};

static void order_fini(struct order *o)
{
    isa_flow_fini(&o->flow);
    free(o->words);
    free(o->bytes);
}

static bool order_init(struct order *o, const struct isa_insn *insn, uint32_t count)
{
    *o = (struct order){ 0 };
    if (!isa_flow_find(insn, count, &o->flow))
        return false;
    const size_t n = o->flow.count;
    uint32_t **const words[] = { &o->sequence, &o->position, &o->result, &o->visit, &o->low,
                                 &o->path,     &o->open,     &o->waits,  &o->around, &o->segment };
    uint8_t **const bytes[] = { &o->edge, &o->closed, &o->head };

    o->words = calloc(n, (LW_COUNT_OF(words) + 1) * sizeof *o->words); /* `segment` needs two words for each block, all other
                                                                        * arrays one */
    o->bytes = calloc(n, LW_COUNT_OF(bytes));
    if (o->words == NULL || o->bytes == NULL) {
        order_fini(o);
        return false;
    }
    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        *words[i] = o->words + i * n;
    for (size_t i = 0; i < LW_COUNT_OF(bytes); i++)
        *bytes[i] = o->bytes + i * n;
    for (uint32_t b = 0; b < n; b++) {
        o->sequence[b] = o->position[b] = b;
        o->waits[b] = NONE;
    }
    return true;
}

/** Returns the block to which edge @edge of block @b leads, if its position is in [@first, @end), otherwise NONE. Edge 0 is the
 *  taken side of a branch. The taken side is visited first, and therefore gets a position after that of the other side. */
static uint32_t follow(const struct order *o, uint32_t b, unsigned edge, uint32_t first, uint32_t end)
{
    const uint32_t next = o->flow.block[b].next[1 - edge];

    if (next == ISA_NO_BLOCK || o->head[next] || o->position[next] < first || o->position[next] >= end)
        return NONE;
    return next;
}

/** Gives the component of @root the positions before @place. The blocks of the component are the top blocks of the stack of open
 *  blocks, down to @root. If the component is a loop, pushes it on the stack of loops. Returns the position of @root. */
static uint32_t close_component(struct order *o, uint32_t root, uint32_t *opened, uint32_t place)
{
    const uint32_t end = place;
    uint32_t b;

    do {
        b = o->open[--*opened];
        o->closed[b] = 1;
        o->result[--place] = b;
    } while (b != root);
    const bool loops = o->flow.block[root].next[0] == root || o->flow.block[root].next[1] == root;
    if (end - place > 1 || (loops && !o->head[root])) {
        o->segment[2 * o->segments] = place;
        o->segment[2 * o->segments++ + 1] = end;
    }
    return place;
}

/** Orders the blocks at positions [@first, @end) by Tarjan's algorithm, so that their strongly connected components are in
 *  topological order. Pushes the components that are loops on the stack of loops. */
static void order_segment(struct order *o, uint32_t first, uint32_t end)
{
    const uint32_t before = o->segments;
    uint32_t visits = 0, opened = 0, place = end;

    for (uint32_t i = first; i < end; i++)
        o->visit[o->sequence[i]] = o->closed[o->sequence[i]] = o->edge[o->sequence[i]] = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t depth = 0;

        if (o->visit[o->sequence[i]] == 0)
            o->path[depth++] = o->sequence[i];
        while (depth != 0) {
            const uint32_t b = o->path[depth - 1];
            if (o->visit[b] == 0) {
                o->visit[b] = o->low[b] = ++visits;
                o->open[opened++] = b;
            }
            if (o->edge[b] < 2) {
                const uint32_t next = follow(o, b, o->edge[b]++, first, end);
                if (next != NONE && o->visit[next] == 0)
                    o->path[depth++] = next;
                else if (next != NONE && !o->closed[next] && o->visit[next] < o->low[b])
                    o->low[b] = o->visit[next];
                continue;
            }
            if (--depth != 0 && o->low[b] < o->low[o->path[depth - 1]])
                o->low[o->path[depth - 1]] = o->low[b];
            if (o->low[b] == o->visit[b])
                place = close_component(o, b, &opened, place);
        }
    }
    memcpy(o->sequence + first, o->result + first, (end - first) * sizeof *o->sequence);
    for (uint32_t i = first; i < end; i++)
        o->position[o->sequence[i]] = i;
    for (uint32_t k = before; k < o->segments; k++) {
        const uint32_t head = o->sequence[o->segment[2 * k]], last = o->segment[2 * k + 1] - 1;
        o->head[head] = 1;
        o->around[head] = o->waits[last]; /* an outer loop is found before the loops inside it, so it is later in the list of
                                           * heads */
        o->waits[last] = head;
    }
}

/** Sets the ranks of the @count instructions of a function, from @next on. Also fills @place (isa_function_ranks), unless @place
 *  is NULL. Returns the next unused rank, or NONE if there is no memory. */
static uint32_t rank_function(const struct isa_insn *insn, uint32_t count, uint32_t next, uint32_t *rank, uint32_t *place)
{
    struct order o;
    uint64_t work = 0;

    if (!order_init(&o, insn, count))
        return NONE;
    order_segment(&o, 0, o.flow.count);
    /* limited, so that loops that are nested too deeply keep their present order */
    while (o.segments != 0 && work <= (uint64_t)MOST_PASSES * o.flow.count) {
        o.segments--;
        const uint32_t first = o.segment[2 * o.segments], end = o.segment[2 * o.segments + 1];
        work += end - first;
        order_segment(&o, first, end);
    }
    for (uint32_t i = 0; i < o.flow.count; i++) {
        const struct isa_block *block = &o.flow.block[o.sequence[i]];

        for (uint32_t k = o.head[o.sequence[i]]; k < block->count; k++)
            rank[block->first + k] = next;
        for (uint32_t k = 0; place != NULL && k < block->count; k++)
            place[block->first + k] = next;
        next++;
        for (uint32_t head = o.waits[i]; head != NONE; head = o.around[head])
            rank[o.flow.block[head].first] = next++;
    }
    order_fini(&o);
    return next;
}

bool isa_function_ranks(const struct isa_insn *insn, uint32_t count, uint32_t *rank, uint32_t *place)
{
    for (uint32_t i = 0; i < count; i++)
        rank[i] = place[i] = NONE;
    return count == 0 || rank_function(insn, count, 0, rank, place) != NONE;
}

/** Returns the index of the function that instruction @i calls, or NONE if the instruction is no call or the function is not
 *  known. */
static uint32_t callee_of(const struct isa_object *object, const struct isa_insn *insn, uint32_t i)
{
    const struct isa_op_info *info = isa_op_info((enum isa_op)insn[i].op);
    const struct isa_function *f;
    int64_t to;

    if (info == NULL || !(info->flags & ISA_F_CALL) || !isa_insn_target(&insn[i], i, &to) || to < 0 || to >= object->text_count)
        return NONE;
    f = isa_object_function_at(object, (uint32_t)to);
    return f != NULL ? (uint32_t)(f - object->functions) : NONE;
}

bool isa_object_ranks(const struct isa_object *object, const struct isa_insn *insn, uint32_t *rank)
{
    const uint32_t functions = object->function_count;
    uint32_t *at = calloc((size_t)functions + 1, 2 * sizeof *at), *path = at != NULL ? at + functions + 1 : NULL, next = 0;

    if (at == NULL)
        return false;
    for (uint32_t i = 0; i < object->text_count; i++)
        rank[i] = NONE;
    /* at[function]: 1 + number of the function's instructions that were searched for calls; 0: the function was not visited */
    for (uint32_t k = 0; k < functions && next != NONE; k++) {
        uint32_t depth = 0;

        if (at[k] == 0)
            path[depth++] = k;
        while (depth != 0 && next != NONE) {
            const uint32_t f = path[depth - 1];
            const struct isa_function *function = &object->functions[f];
            uint32_t callee = NONE;

            at[f] += at[f] == 0;
            while (callee == NONE && at[f] <= function->count) {
                callee = callee_of(object, insn, function->first + at[f]++ - 1);
                if (callee != NONE && at[callee] != 0)
                    callee = NONE;
            }
            if (callee != NONE) {
                path[depth++] = callee;
                continue;
            }
            depth--;
            if (function->count != 0)
                next = rank_function(insn + function->first, function->count, next, rank + function->first, NULL);
        }
    }
    free(at);
    return next != NONE;
}
