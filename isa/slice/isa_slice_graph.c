/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow of a function: predecessors, dominators, natural loops, and for each register the instructions that write it. */
#include <stdlib.h>

#include "isa/slice/isa_slice_priv.h"

static uint32_t *numbers(struct slice_builder *b, size_t count)
{
    uint32_t *at = lw_arena_alloc(&b->arena, (count + 1) * sizeof *at);

    b->no_memory |= at == NULL;
    return at;
}

static bool find_preds(struct slice_builder *b)
{
    uint32_t n = b->flow.count, *next = numbers(b, n);

    b->pred_at = numbers(b, n + 1);
    b->pred = numbers(b, 2 * (size_t)n);
    b->block_of = numbers(b, b->count);
    if (b->no_memory)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < 2; k++)
            if (b->flow.block[i].next[k] != ISA_NO_BLOCK)
                b->pred_at[b->flow.block[i].next[k] + 1]++;
        for (uint32_t k = 0; k < b->flow.block[i].count; k++)
            b->block_of[b->flow.block[i].first + k] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        b->pred_at[i + 1] += b->pred_at[i];
        next[i] = b->pred_at[i];
    }
    for (uint32_t i = 0; i < n; i++)
        for (unsigned k = 0; k < 2; k++)
            if (b->flow.block[i].next[k] != ISA_NO_BLOCK)
                b->pred[next[b->flow.block[i].next[k]]++] = i;
    return true;
}

/* ---- dominators -------------------------------------------------------------------- */

/** Stores the reachable blocks in reverse postorder, and returns their number. */
static uint32_t order_blocks(struct slice_builder *b, uint32_t *order, uint32_t *rank)
{
    uint32_t n = b->flow.count, depth = 1, left = n, *stack = numbers(b, n);
    uint8_t *seen = lw_arena_alloc(&b->arena, n);

    b->no_memory |= seen == NULL;
    if (b->no_memory)
        return 0;
    stack[0] = 0;
    seen[0] = 1;
    while (depth != 0) { /* seen[block]: 0 if the block was not visited, otherwise 1 + number of its successors that were
                          * followed */
        uint32_t block = stack[depth - 1];

        if (seen[block] == 3) {
            order[--left] = block;
            depth--;
            continue;
        }
        uint32_t to = b->flow.block[block].next[seen[block]++ - 1];
        if (to != ISA_NO_BLOCK && seen[to] == 0) {
            seen[to] = 1;
            stack[depth++] = to;
        }
    }
    for (uint32_t k = left; k < n; k++) {
        order[k - left] = order[k];
        rank[order[k - left]] = k - left;
    }
    return n - left;
}

static uint32_t common(const uint32_t *idom, const uint32_t *rank, uint32_t x, uint32_t y)
{
    while (x != y) {
        while (rank[x] > rank[y])
            x = idom[x];
        while (rank[y] > rank[x])
            y = idom[y];
    }
    return x;
}

/** Computes the dominators of all blocks. Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001. */
static bool find_dominators(struct slice_builder *b)
{
    uint32_t n = b->flow.count, *order = numbers(b, n), *rank = numbers(b, n), *size = numbers(b, n);

    b->idom = numbers(b, n);
    b->dom_first = numbers(b, n);
    b->dom_last = numbers(b, n);
    if (b->no_memory)
        return false;
    uint32_t reached = order_blocks(b, order, rank);
    bool changed = !b->no_memory;

    memset(b->idom, 0xff, n * sizeof *b->idom);
    b->idom[0] = 0;
    while (changed) {
        changed = false;
        for (uint32_t k = 1; k < reached; k++) {
            uint32_t block = order[k], best = SLICE_NONE;

            for (uint32_t p = b->pred_at[block]; p < b->pred_at[block + 1]; p++) {
                if (b->idom[b->pred[p]] != SLICE_NONE)
                    best = best == SLICE_NONE ? b->pred[p] : common(b->idom, rank, best, b->pred[p]);
            }
            changed |= b->idom[block] != best;
            b->idom[block] = best;
        }
    }
    for (uint32_t k = reached; k-- > 1;)
        size[b->idom[order[k]]] += size[order[k]] + 1;
    if (reached != 0) {
        b->dom_first[0] = 1;
        b->dom_last[0] = 1 + size[0];
    }
    memset(rank, 0, n * sizeof *rank); /* from here on, rank[b] is the number of blocks dominated by those children of block b
                                        * that already have their numbers */
    for (uint32_t k = 1; k < reached; k++) {
        uint32_t block = order[k], up = b->idom[block];

        b->dom_first[block] = b->dom_first[up] + 1 + rank[up];
        b->dom_last[block] = b->dom_first[block] + size[block];
        rank[up] += size[block] + 1;
    }
    b->idom[0] = SLICE_NONE;
    return !b->no_memory;
}

bool slice_dominates(const struct slice_builder *b, uint32_t block, uint32_t other)
{
    return b->dom_first[block] != 0 && b->dom_first[block] <= b->dom_first[other] &&
           b->dom_last[other] <= b->dom_last[block];
}

/** Finds a block that every thread executes, because it dominates all instructions at which threads end. */
static void find_ends(struct slice_builder *b)
{
    b->end_block = b->end_insn = SLICE_NONE;
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t block = b->block_of[i];
        int64_t to;

        if ((b->insn[i].op != ISA_EXIT && !(isa_insn_ends(&b->insn[i]) && !isa_insn_jumps(&b->insn[i], i, &to))) ||
            b->dom_first[block] == 0)
            continue;
        if (b->end_block == SLICE_NONE) {
            b->end_block = block;
            b->end_insn = i;
        }
        while (!slice_dominates(b, b->end_block, block)) {
            b->end_block = b->idom[b->end_block];
            b->end_insn = SLICE_NONE;
        }
    }
}

bool slice_always(const struct slice_builder *b, uint32_t insn)
{
    uint32_t block = b->block_of[insn];

    return !slice_has_guard(&b->insn[insn]) && b->end_block != SLICE_NONE && slice_dominates(b, block, b->end_block) &&
           !(block == b->end_block && b->end_insn < insn);
}

/* ---- loops --------------------------------------------------------------------------- */

/** Adds a block to a loop. Returns false if the block is already in the loop. */
static bool add_block(struct slice_loop *loop, uint32_t block)
{
    bool had = slice_loop_has(loop, block);

    loop->body[block / 8] |= (uint8_t)(1u << block % 8);
    return !had;
}

int slice_loop_at(struct slice_builder *b, uint32_t block)
{
    uint32_t *work, count = 0, latches = 0;
    struct slice_loop *loop = &b->loop[b->loop_count];

    for (unsigned l = 0; l < b->loop_count; l++)
        if (b->loop[l].header == block)
            return (int)l;
    if (b->loop_count == ISA_SLICE_LOOPS)
        return -1;
    work = numbers(b, b->flow.count);
    loop->header = block;
    loop->body = lw_arena_alloc(&b->arena, b->flow.count / 8 + 1);
    b->no_memory |= loop->body == NULL;
    if (b->no_memory)
        return -1;
    (void)add_block(loop, block);
    for (uint32_t p = b->pred_at[block]; p < b->pred_at[block + 1]; p++) {
        latches += slice_dominates(b, block, b->pred[p]);
        if (slice_dominates(b, block, b->pred[p]) && add_block(loop, b->pred[p]))
            work[count++] = b->pred[p];
    }
    if (latches == 0)
        return -1;
    while (count != 0) {
        uint32_t at = work[--count];

        for (uint32_t p = b->pred_at[at]; p < b->pred_at[at + 1]; p++)
            if (add_block(loop, b->pred[p]))
                work[count++] = b->pred[p];
    }
    return (int)b->loop_count++;
}

/* ---- definitions ----------------------------------------------------------------------- */

static bool is_call(const struct isa_insn *insn)
{
    return isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL;
}

/** Lists, for each register, the instructions that write it; a call counts as writing all registers. @put: stores the lists; if
 *  false, only counts their elements. */
static void each_def(struct slice_builder *b, uint32_t *at, bool put)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct isa_reg_use use[ISA_MAX_USES];
        unsigned n = isa_insn_uses(&b->insn[i], use);

        if (is_call(&b->insn[i])) {
            for (unsigned r = 0; r < ISA_REG_NUMBERS; r++, at[r - 1]++)
                if (put)
                    b->def[at[r]] = i;
            continue;
        }
        for (unsigned u = 0; u < n; u++) {
            for (unsigned r = isa_reg_number(&use[u]), k = 0; use[u].written && k < use[u].count; k++) {
                if (put)
                    b->def[at[r + k]] = i;
                at[r + k]++;
            }
        }
    }
}

static bool find_defs(struct slice_builder *b)
{
    uint32_t at[ISA_REG_NUMBERS] = { 0 }, sum = 0;

    each_def(b, at, false);
    for (unsigned r = 0; r < ISA_REG_NUMBERS; r++) {
        uint32_t n = at[r];

        b->def_at[r] = at[r] = sum;
        sum += n;
    }
    b->def_at[ISA_REG_NUMBERS] = sum;
    b->def = numbers(b, sum);
    if (b->no_memory)
        return false;
    each_def(b, at, true);
    return true;
}

uint32_t slice_last_def(const struct slice_builder *b, uint32_t number, uint32_t block, uint32_t at)
{
    uint32_t low = b->def_at[number], high = b->def_at[number + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (b->def[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low == b->def_at[number] || b->def[low - 1] < b->flow.block[block].first ? SLICE_NONE : b->def[low - 1];
}

bool slice_graph_make(struct slice_builder *b)
{
    b->insn = lw_arena_alloc(&b->arena, ((size_t)b->count + 1) * sizeof *b->insn);
    if (b->insn == NULL) {
        b->no_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < b->count; i++)
        if (!isa_insn_decode(b->object->text[b->function->first + i], &b->insn[i]))
            return false;
    if (!isa_flow_find(b->insn, b->count, &b->flow)) {
        b->no_memory = true;
        return false;
    }
    if (!find_preds(b) || !find_dominators(b) || !find_defs(b))
        return false;
    find_ends(b);
    return true;
}
