/* SPDX-License-Identifier: Apache-2.0 */
/* The control-flow graph: order of blocks, dominators, post-dominators, natural loops with preheaders. Loops are found
 * backwards from their latches, inner loops first. */
#include "ptx/ptx_priv.h"

/* ---- order --------------------------------------------------------------- */

static void number_blocks(struct ptx_unit *unit)
{
    size_t n = unit->blocks.count;
    uint32_t *stack = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint8_t *next = PTX_ARRAY(unit->job, uint8_t, n);
    uint8_t *seen = PTX_ARRAY(unit->job, uint8_t, n);
    size_t depth = 0, left = n;

    unit->rpo = PTX_ARRAY(unit->job, uint32_t, n);
    for (size_t i = 0; i < n; i++)
        unit->blocks.at[i].rpo = PTX_NONE;
    stack[depth++] = unit->entry;
    seen[unit->entry] = 1;
    while (depth != 0) {
        uint32_t b = stack[depth - 1];
        const struct ptx_block *block = &unit->blocks.at[b];

        if (next[b] < block->succ_count) {
            uint32_t s = block->succ[next[b]++];

            if (!seen[s]) {
                seen[s] = 1;
                stack[depth++] = s;
            }
        } else {
            unit->rpo[--left] = b;
            depth--;
        }
    }
    unit->rpo_count = (uint32_t)(n - left);
    memmove(unit->rpo, unit->rpo + left, unit->rpo_count * sizeof *unit->rpo);
    for (uint32_t i = 0; i < unit->rpo_count; i++)
        unit->blocks.at[unit->rpo[i]].rpo = i;
}

static void find_preds(struct ptx_unit *unit)
{
    for (size_t i = 0; i < unit->blocks.count; i++)
        unit->blocks.at[i].pred_count = 0;
    for (uint32_t i = 0; i < unit->rpo_count; i++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        for (unsigned k = 0; k < b->succ_count; k++)
            unit->blocks.at[b->succ[k]].pred_count++;
    }
    for (size_t i = 0; i < unit->blocks.count; i++) {
        struct ptx_block *b = &unit->blocks.at[i];

        b->pred = PTX_ARRAY(unit->job, uint32_t, b->pred_count);
        b->pred_count = 0;
    }
    for (uint32_t i = 0; i < unit->rpo_count; i++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        for (unsigned k = 0; k < b->succ_count; k++) {
            struct ptx_block *s = &unit->blocks.at[b->succ[k]];

            s->pred[s->pred_count++] = unit->rpo[i];
        }
    }
}

/* ---- dominators ---------------------------------------------------------- */

static void find_dominators(struct ptx_unit *unit)
{
    uint32_t n = unit->rpo_count, depth = 0;
    uint32_t *idom = PTX_ARRAY(unit->job, uint32_t, n + 1); /* indexed by reverse post order */
    uint32_t *size = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *visit_number = PTX_ARRAY(unit->job, uint32_t, n + 1); /* 1 + number of the block in the depth-first traversal,
                                                                     * indexed by reverse post order */
    uint32_t *location = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *stack = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint8_t *next = PTX_ARRAY(unit->job, uint8_t, n + 1);
    struct ptx_dominators *d = ptx_dominators_new(unit->job, n, 2 * (size_t)n);

    d->count = 1;
    visit_number[0] = 1;
    stack[depth++] = 0;
    while (depth != 0) {
        uint32_t i = stack[depth - 1], to;
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        if (next[i] == b->succ_count) {
            depth--;
            continue;
        }
        to = unit->blocks.at[b->succ[next[i]++]].rpo;
        if (visit_number[to] != 0)
            continue;
        d->parent[d->count] = visit_number[i] - 1;
        location[d->count++] = to;
        visit_number[to] = d->count;
        stack[depth++] = to;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[location[i]]];

        d->first[i + 1] = d->first[i];
        for (uint32_t k = 0; k < b->pred_count; k++)
            d->from[d->first[i + 1]++] = visit_number[unit->blocks.at[b->pred[k]].rpo] - 1;
    }
    ptx_dominators_find(d);
    for (uint32_t i = 0; i < n; i++)
        idom[location[i]] = location[d->idom[i]];
    /* Intervals: parents precede their children in the order, so sizes are summed backwards and intervals assigned
     * forwards. */
    for (uint32_t i = n; i-- > 0;) {
        size[i]++;
        if (i != 0)
            size[idom[i]] += size[i];
    }
    uint32_t *used = PTX_ARRAY(unit->job, uint32_t, n);

    for (uint32_t i = 0; i < n; i++) {
        struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        if (i == 0) {
            b->dom_in = 0;
            b->idom = PTX_NONE;
        } else {
            struct ptx_block *p = &unit->blocks.at[unit->rpo[idom[i]]];

            b->idom = unit->rpo[idom[i]];
            b->dom_in = p->dom_in + 1 + used[idom[i]];
            used[idom[i]] += size[i];
        }
        b->dom_out = b->dom_in + size[i];
    }
}

/* ---- post-dominators ----------------------------------------------------------------------- */

bool ptx_just_ends(const struct ptx_unit *unit, uint32_t block)
{
    for (size_t steps = 0; steps < unit->blocks.count; steps++) {
        const struct ptx_block *b = &unit->blocks.at[block];

        if (b->count != 0)
            return false;
        if (b->end != PTX_END_NEXT) /* A block without successors ends the execution only in a kernel; when another function
                                     * returns, the caller continues. */
            return (b->end == PTX_END_FINAL && unit->function->kernel) || b->end == PTX_END_EXIT;
        block = b->succ[0];
    }
    return false;
}

/* Returns true for a block that jumps to the kernel's end and contains nothing but a line marker. Code for debuggers contains
 * such blocks for `return` statements, which have their own lines. */
static bool is_return(const struct ptx_unit *unit, uint32_t block)
{
    const struct ptx_block *b = &unit->blocks.at[block];

    return b->count == 1 && unit->code.at[b->first].flags & PTX_MI_LINE &&
           b->end == PTX_END_NEXT && ptx_just_ends(unit, b->succ[0]);
}

/* Marks branches to the kernel's end, which become guarded exits. The edges of these branches to the end are ignored for
 * post-dominators, unless there is no other path to the end. */
static void find_exit_sides(struct ptx_unit *unit)
{
    size_t n = unit->blocks.count;
    uint8_t *ends = PTX_ARRAY(unit->job, uint8_t, n + 1);
    uint32_t *work = PTX_ARRAY(unit->job, uint32_t, n + 1);
    size_t count = 0;
    bool cut = false;

    for (uint32_t i = 0; i < unit->rpo_count; i++) {
        struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        if (b->end != PTX_END_BRANCH)
            continue;
        for (unsigned k = 0; k < 2 && b->exit_side == 0; k++) {
            if (ptx_just_ends(unit, b->succ[k]) || is_return(unit, b->succ[k]))
                b->exit_side = (uint8_t)(k + 1);
        }
    }
    /* find the blocks that reach the kernel's end without a marked edge */
    work[count++] = unit->final_block;
    ends[unit->final_block] = 1;
    while (count != 0) {
        uint32_t to = work[--count];
        const struct ptx_block *b = &unit->blocks.at[to];

        for (uint32_t k = 0; k < b->pred_count; k++) {
            const struct ptx_block *p = &unit->blocks.at[b->pred[k]];

            if (ends[b->pred[k]] ||
                (p->exit_side != 0 && p->succ[p->exit_side - 1] == to))
                continue;
            ends[b->pred[k]] = 1;
            work[count++] = b->pred[k];
        }
    }
    for (uint32_t i = 0; i < unit->rpo_count; i++) {
        struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        if (b->exit_side != 0)
            b->exit_ignored = ends[b->succ[2 - b->exit_side]];
    }
    /* If a side of a branch leads to the kernel's end and contains a line marker, the side becomes a block that exits. If an
     * edge to the block counts for post-dominators, the block jumps to the kernel's end instead. */
    for (uint32_t i = 0; i < unit->rpo_count; i++) {
        struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];
        bool ignored = is_return(unit, unit->rpo[i]);

        for (uint32_t k = 0; ignored && k < b->pred_count; k++) {
            const struct ptx_block *p = &unit->blocks.at[b->pred[k]];

            ignored = p->exit_ignored && p->succ[p->exit_side - 1] == unit->rpo[i];
        }
        if (ignored) {
            b->end = PTX_END_EXIT;
            b->succ_count = 0;
            cut = true;
        }
    }
    for (uint32_t i = 0; i < unit->rpo_count; i++) {
        struct ptx_block *b = &unit->blocks.at[unit->rpo[i]];

        if (b->exit_side != 0 && unit->blocks.at[b->succ[b->exit_side - 1]].count != 0) {
            b->exit_side = 0;
            b->exit_ignored = false;
        }
    }
    if (cut) {
        find_preds(unit);
        find_dominators(unit);
    }
}

/* Finds post-dominators. Paths that end in exit are ignored (MACHINE 3), unless the kernel has no other end. */
static void find_postdominators(struct ptx_unit *unit)
{
    uint32_t n = (uint32_t)unit->blocks.count, depth = 0;
    bool has_final = unit->blocks.at[unit->final_block].rpo != PTX_NONE;
    uint32_t *visit_number = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *block_at = PTX_ARRAY(unit->job, uint32_t, n + 2);
    uint32_t *stack = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *next = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint8_t *is_end = PTX_ARRAY(unit->job, uint8_t, n + 1);
    /* Traverse the graph backwards from its ends, which become successors of an extra node, number 0. */
    struct ptx_dominators *d = ptx_dominators_new(unit->job, n + 1, 3 * (size_t)n);

    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_block *b = &unit->blocks.at[i];

        is_end[i] = b->rpo != PTX_NONE &&
                    (b->end == PTX_END_FINAL || (!has_final && b->end == PTX_END_EXIT));
    }
    d->count = 1;
    for (uint32_t e = 0; e < n; e++) {
        if (!is_end[e] || visit_number[e] != 0)
            continue;
        d->parent[d->count] = 0;
        block_at[d->count] = e;
        visit_number[e] = d->count++;
        stack[depth++] = e;
        while (depth != 0) {
            uint32_t b = stack[depth - 1], p;
            const struct ptx_block *from;

            if (next[b] == unit->blocks.at[b].pred_count) {
                depth--;
                continue;
            }
            p = unit->blocks.at[b].pred[next[b]++];
            from = &unit->blocks.at[p];
            if (visit_number[p] != 0 || (from->exit_ignored && from->succ[from->exit_side - 1] == b))
                continue;
            d->parent[d->count] = visit_number[b];
            block_at[d->count] = p;
            visit_number[p] = d->count++;
            stack[depth++] = p;
        }
    }
    d->first[1] = 0;
    for (uint32_t i = 1; i < d->count; i++) {
        const struct ptx_block *b = &unit->blocks.at[block_at[i]];

        d->first[i + 1] = d->first[i];
        if (is_end[block_at[i]])
            d->from[d->first[i + 1]++] = 0;
        for (unsigned k = 0; k < b->succ_count; k++) {
            if (visit_number[b->succ[k]] != 0 && !(b->exit_ignored && ptx_is_exit_edge(b, k)))
                d->from[d->first[i + 1]++] = visit_number[b->succ[k]];
        }
    }
    ptx_dominators_find(d);
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_block *b = &unit->blocks.at[i];

        b->reaches_end = visit_number[i] != 0;
        b->ipdom = visit_number[i] == 0 || d->idom[visit_number[i]] == 0 ? PTX_NONE : block_at[d->idom[visit_number[i]]];
    }
}

/* ---- loops --------------------------------------------------------------- */

static uint32_t outermost(const struct ptx_unit *unit, uint32_t loop)
{
    while (unit->loops.at[loop].parent != PTX_NONE)
        loop = unit->loops.at[loop].parent;
    return loop;
}

/* Assigns intervals in the tree of loops, as for dominators. Children have lower numbers than their parents. */
static void number_loops(struct ptx_unit *unit)
{
    uint32_t n = (uint32_t)unit->loops.count, roots = 0;
    uint32_t *size = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *used = PTX_ARRAY(unit->job, uint32_t, n + 1);

    for (uint32_t l = 0; l < n; l++) {
        size[l]++;
        if (unit->loops.at[l].parent != PTX_NONE)
            size[unit->loops.at[l].parent] += size[l];
    }
    for (uint32_t l = n; l-- > 0;) {
        struct ptx_loop *loop = &unit->loops.at[l];
        uint32_t up = loop->parent;

        loop->nest_in = up == PTX_NONE ? roots : unit->loops.at[up].nest_in + 1 + used[up];
        *(up == PTX_NONE ? &roots : &used[up]) += size[l];
        loop->nest_out = loop->nest_in + size[l];
    }
}

/* Returns the line of the text where a block begins. If the block is empty, uses its only successor. */
static unsigned line_of(const struct ptx_unit *unit, uint32_t block)
{
    for (size_t steps = 0; steps < unit->blocks.count; steps++) {
        const struct ptx_block *b = &unit->blocks.at[block];

        if (b->count != 0 && unit->code.at[b->first].line != 0)
            return unit->code.at[b->first].line;
        if (b->line != 0)
            return b->line;
        if (b->succ_count != 1)
            break;
        block = b->succ[0];
    }
    return unit->function->line;
}

/* Finds natural loops. Returns false if a loop has a second entry, so that the control flow is irreducible. */
static bool find_loops(struct ptx_unit *unit)
{
    PTX_LIST(uint32_t) work = { 0 };

    unit->loops.count = 0;
    for (size_t i = 0; i < unit->blocks.count; i++)
        unit->blocks.at[i].loop = PTX_NONE;
    for (uint32_t i = unit->rpo_count; i-- > 0;) {
        uint32_t h = unit->rpo[i];
        const struct ptx_block *header = &unit->blocks.at[h];
        uint32_t loop = PTX_NONE;

        for (uint32_t k = 0; k < header->pred_count; k++) {
            uint32_t p = header->pred[k];

            if (unit->blocks.at[p].rpo < i)
                continue;
            if (!ptx_dominates(unit, h, p))
                return false;
            if (loop == PTX_NONE) {
                struct ptx_loop *l = PTX_PUSH(unit->job, unit->loops);

                memset(l, 0, sizeof *l);
                l->header = h;
                l->preheader = l->parent = PTX_NONE;
                loop = (uint32_t)(unit->loops.count - 1);
            }
            *PTX_PUSH(unit->job, unit->loops.at[loop].latches) = p;
            *PTX_PUSH(unit->job, work) = p;
        }
        if (loop == PTX_NONE)
            continue;
        if (unit->blocks.at[h].loop == PTX_NONE)
            unit->blocks.at[h].loop = loop;
        while (work.count != 0) {
            uint32_t b = work.at[--work.count], of = unit->blocks.at[b].loop;

            if (b == h)
                continue;
            if (of == PTX_NONE) {
                unit->blocks.at[b].loop = loop;
            } else {
                of = outermost(unit, of);
                if (of == loop)
                    continue;
                unit->loops.at[of].parent = loop;
                b = unit->loops.at[of].header;
            }
            for (uint32_t k = 0; k < unit->blocks.at[b].pred_count; k++) {
                uint32_t p = unit->blocks.at[b].pred[k];

                if (unit->blocks.at[p].rpo != PTX_NONE)
                    *PTX_PUSH(unit->job, work) = p;
            }
        }
    }
    /* parents have higher numbers than their children, because outer loops are found after inner ones */
    for (size_t i = unit->loops.count; i-- > 0;) {
        struct ptx_loop *l = &unit->loops.at[i];

        l->depth = l->parent == PTX_NONE ? 1 : unit->loops.at[l->parent].depth + 1;
        if (l->depth > PTX_MOST_NESTED)
            ptx_fail(unit->job, line_of(unit, l->header), LW_EUNSUPP, "more than %u nested loops are not supported: "
                                                                      "move the inner loops into functions",
                     PTX_MOST_NESTED);
    }
    number_loops(unit);
    return true;
}

bool ptx_in_loop(const struct ptx_unit *unit, uint32_t block, uint32_t loop)
{
    const struct ptx_loop *inner, *outer;

    if (loop == PTX_NONE)
        return true;
    if (unit->blocks.at[block].loop == PTX_NONE)
        return false;
    inner = &unit->loops.at[unit->blocks.at[block].loop];
    outer = &unit->loops.at[loop];
    return outer->nest_in <= inner->nest_in && inner->nest_in < outer->nest_out;
}

/* Creates a preheader for each loop: a block before the header that is the only entry of the loop. */
static bool make_preheaders(struct ptx_unit *unit)
{
    uint32_t *before = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count); /* by header block: 1 + its preheader */
    size_t old = unit->order.count, fill;
    bool synthetic = false;

    for (size_t i = 0; i < unit->loops.count; i++) {
        uint32_t h = unit->loops.at[i].header, only = PTX_NONE, entering = 0, fresh;

        for (uint32_t k = 0; k < unit->blocks.at[h].pred_count; k++) {
            uint32_t p = unit->blocks.at[h].pred[k];

            if (!ptx_in_loop(unit, p, (uint32_t)i)) {
                entering++;
                only = p;
            }
        }
        if (entering == 1 && unit->blocks.at[only].succ_count == 1 && h != unit->entry) {
            unit->loops.at[i].preheader = only;
            continue;
        }
        synthetic = true;
        fresh = (uint32_t)(ptx_block_new(unit) - unit->blocks.at);
        struct ptx_block *b = &unit->blocks.at[fresh];

        b->synthetic = true;
        b->end = PTX_END_NEXT;
        b->succ_count = 1;
        b->succ[0] = h;
        b->first = unit->blocks.at[h].first;
        for (uint32_t k = 0; k < unit->blocks.at[h].pred_count; k++) {
            uint32_t p = unit->blocks.at[h].pred[k];

            if (ptx_in_loop(unit, p, (uint32_t)i))
                continue;
            for (unsigned s = 0; s < unit->blocks.at[p].succ_count; s++) {
                if (unit->blocks.at[p].succ[s] == h)
                    unit->blocks.at[p].succ[s] = fresh;
            }
            b->loc = unit->blocks.at[p].loc;
            b->line = unit->blocks.at[p].line;
        }
        if (unit->entry == h)
            unit->entry = fresh;
        before[h] = fresh + 1;
        (void)PTX_PUSH(unit->job, unit->order);
    }
    /* place each preheader just before its header, moving blocks from the back */
    fill = unit->order.count;
    for (size_t i = old; i-- > 0;) {
        uint32_t b = unit->order.at[i];

        unit->order.at[--fill] = b;
        if (before[b] != 0)
            unit->order.at[--fill] = before[b] - 1;
    }
    return synthetic;
}

static void build(struct ptx_unit *unit)
{
    bool reduced = false;

    for (int pass = 0; pass < 2; pass++) {
        number_blocks(unit);
        find_preds(unit);
        find_dominators(unit);
        if (!find_loops(unit)) {
            if (pass != 0 || reduced)
                ptx_fail(unit->job, unit->function->line, LW_ESTATE,
                         "internal error: the control flow of '%s' is irreducible",
                         unit->function->name);
            ptx_reduce(unit);
            reduced = true;
            pass--;
            continue;
        }
        if (pass == 0 && !make_preheaders(unit))
            break;
        if (pass == 1)
            (void)make_preheaders(unit); /* This second call of make_preheaders() only stores the preheaders that the first
                                          * call has created. */
    }
}

void ptx_cfg(struct ptx_unit *unit)
{
    unit->order.count = 0;
    for (uint32_t i = 0; i < unit->blocks.count; i++)
        *PTX_PUSH(unit->job, unit->order) = i;
    unit->entry = 0;
    build(unit);
}

void ptx_cfg_rebuild(struct ptx_unit *unit)
{
    for (size_t i = 0; i < unit->blocks.count; i++) {
        struct ptx_block *b = &unit->blocks.at[i];

        b->may_diverge = b->barrier_flow = b->exit_ignored = false;
        b->exit_side = 0;
        b->idom = b->ipdom = PTX_NONE;
    }
    build(unit);
}

void ptx_postdominators(struct ptx_unit *unit)
{
    find_exit_sides(unit);
    find_postdominators(unit);
}
