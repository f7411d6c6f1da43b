/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the branches of a loaded program that decide which threads reach a CTA barrier.
 *
 * The region of a branch is the code between the branch and its immediate post-dominator, where its sides reconverge.
 * Branches without a barrier in their region are not observed. In a kernel, the sides of a branch do not reconverge at
 * the end of the kernel. A side that only ends the thread is an early return. A side that does more and then ends the
 * thread is also an early return, if no barrier can be reached on it. The edges to early returns are removed before
 * post-dominators are computed. The other side is then the kernel's main path, which has no region.
 */
#include "check/sync/chk_barrier_priv.h"

#include <stdlib.h>

enum { NO_BLOCK = UINT32_MAX, MOST_ROUNDS = 64 };

/** A basic block of a function. The index after the last basic block stands for the virtual exit. */
struct block {
    uint32_t first, end; /* indexes of the first instruction, and of the one after the last */
    uint32_t next[2];    /* successors; NO_BLOCK: there is none */
    bool barrier;        /* the basic block has a barrier, or calls a function that has one */
    bool reaches;        /* a barrier can be reached from the basic block, or in it */
    bool ends;           /* the basic block only ends the thread */
    bool leaves;         /* the basic block continues to the virtual exit */
    bool returns;        /* the basic block has an early return that is no edge: a guarded exit, or a removed edge */
};

struct build {
    const struct emu_program *program;
    const struct isa_object *object;
    struct chk_regions *out;
    size_t room;
    bool *join; /* [function]: true if the function may reach a barrier */
    bool any_function_synchronises;
    /* the following members describe the current function */
    const struct isa_function *function;
    struct block *block;
    uint32_t count;
    uint32_t *block_of; /* [instruction of the function] */
    uint32_t *order, *number; /* order: the blocks in post-order of a walk from the virtual exit against the direction of
                               * the edges. number: [block]: its index in `order` */
    uint32_t *idom;           /* [block]: immediate post-dominator */
    uint32_t *stack, *seen, stamp; /* seen: [block]: value of `stamp` in the last walk that visited the block */
    uint32_t *from_first, *from; /* predecessors of block i: from[from_first[i]] to before from[from_first[i + 1]] */
    bool bad;                 /* memory was short */
};

static uint8_t what_does(const struct isa_insn *insn)
{
    switch (insn->op) {
    case ISA_BAR_SYNC:
    case ISA_BAR_RED_POPC:
    case ISA_BAR_RED_AND:
    case ISA_BAR_RED_OR: return CHK_DOES_BARRIER | (insn->variant ? 0 : CHK_DOES_FULL);
    case ISA_BAR_ARRIVE: return CHK_DOES_BARRIER;
    case ISA_EXIT: return CHK_DOES_EXIT;
    case ISA_WARPSYNC: return CHK_DOES_CROSS;
    default: return isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SYNC ? CHK_DOES_CROSS : 0;
    }
}

static bool is_guarded(const struct isa_insn *insn)
{
    return insn->guard != ISA_PT || insn->guard_neg;
}

static const struct isa_insn *at(const struct build *b, uint32_t index)
{
    return chk_insn_at(b->program, index);
}

static unsigned function_number(const struct build *b, const struct isa_function *f)
{
    return (unsigned)(f - b->object->functions);
}

/** Returns true if the call may reach a barrier. */
static bool call_synchronises(const struct build *b, const struct isa_insn *insn, uint32_t index)
{
    int64_t target;
    const struct isa_function *f = isa_insn_target(insn, index, &target) && target >= 0 && target < b->object->text_count
                                       ? isa_object_function_at(b->object, (uint32_t)target)
                                       : NULL;

    return f != NULL ? b->join[function_number(b, f)] : b->any_function_synchronises;
}

static bool insn_synchronises(const struct build *b, const struct isa_insn *insn, uint32_t index)
{
    return (b->out->does[index] & CHK_DOES_FULL) != 0 ||
           ((isa_op_info((enum isa_op)insn->op)->flags & ISA_F_CALL) != 0 && call_synchronises(b, insn, index));
}

/** Finds the functions that may reach a barrier. Returns false if no function does. */
static bool find_functions(struct build *b)
{
    bool changed = true, any = false;

    while (changed) {
        changed = false;
        for (unsigned k = 0; k < b->object->function_count; k++) {
            const struct isa_function *f = &b->object->functions[k];

            for (uint32_t i = f->first; i < f->first + f->count && !b->join[k]; i++)
                if (insn_synchronises(b, at(b, i), i)) {
                    b->join[k] = changed = any = true;
                    b->any_function_synchronises |= !f->kernel;
                }
        }
    }
    return any;
}

/* ---- the flow graph of a function ------------------------------------------------------------------ */

/** Returns true for a direct branch of lanes, or of a whole warp. */
static bool is_branch(const struct isa_insn *insn)
{
    return insn->op == ISA_BRA || insn->op == ISA_S_BRA;
}

/** Returns true if a block ends after this instruction. */
static bool ends_block(const struct isa_insn *insn)
{
    return is_branch(insn) || insn->op == ISA_BRX || insn->op == ISA_EXIT || isa_insn_ends(insn);
}

/** Returns the target of a branch, as an index from the first instruction of the function; -1: the target is not in the
 *  function. */
static int64_t target_of(const struct build *b, uint32_t index)
{
    int64_t target;

    if (!isa_insn_jumps(at(b, index), index, &target) || target < b->function->first ||
        target >= b->function->first + b->function->count)
        return -1;
    return target - b->function->first;
}

/** Divides the function into blocks. Returns false if control flow may lead to any instruction. */
static bool make_blocks(struct build *b)
{
    const struct isa_function *f = b->function;
    uint32_t n = 0;

    for (uint32_t k = 0; k < f->count; k++)
        b->block_of[k] = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        const struct isa_insn *insn = at(b, f->first + k);

        if (insn->op == ISA_BRX)
            return false;
        if (is_branch(insn) && target_of(b, f->first + k) < 0)
            return false;
        if (is_branch(insn))
            b->block_of[target_of(b, f->first + k)] = 1;
        if (ends_block(insn) && k + 1 < f->count)
            b->block_of[k + 1] = 1;
    }
    b->block_of[0] = 1;
    for (uint32_t k = 0; k < f->count; k++) {
        if (b->block_of[k] != 0)
            b->block[n++] = (struct block){f->first + k, 0, {NO_BLOCK, NO_BLOCK}, false, false, false, false, false};
        b->block_of[k] = n - 1;
        b->block[n - 1].end = f->first + k + 1;
        b->block[n - 1].barrier |= insn_synchronises(b, at(b, f->first + k), f->first + k);
        b->block[n - 1].returns |= at(b, f->first + k)->op == ISA_EXIT && is_guarded(at(b, f->first + k));
    }
    b->count = n;
    for (uint32_t i = 0; i < n; i++) {
        struct block *x = &b->block[i];
        const struct isa_insn *last = at(b, x->end - 1);
        unsigned k = 0;

        if (is_branch(last))
            x->next[k++] = b->block_of[target_of(b, x->end - 1)];
        if (!isa_insn_ends(last) && i + 1 < n && (k == 0 || x->next[0] != i + 1))
            x->next[k++] = i + 1;
        x->leaves = isa_insn_ends(last) && last->op == (f->kernel ? ISA_EXIT : ISA_RET);
    }
    return true;
}

/** Returns true if an instruction has the line and column @end of the instruction that ends the thread. The result is false
 *  if @end is not known, as in code that an optimiser has merged from two returns. */
static bool is_of_the_end(const struct build *b, uint32_t index, const struct isa_line *end)
{
    const struct isa_line *line = isa_object_line_at(b->object, index);

    return end != NULL && line != NULL && end->line != 0 && end->column != 0 && line->file == end->file &&
           line->line == end->line && line->column == end->column;
}

/** Sets block.ends of the basic blocks that only end the thread. */
static void find_ends(struct build *b)
{
    bool changed = b->function->kernel;

    while (changed) {
        changed = false;
        for (uint32_t i = b->count; i-- > 0;) {
            struct block *x = &b->block[i];
            bool ends = !x->ends && !x->barrier && (x->leaves || (x->next[0] != NO_BLOCK && x->next[1] == NO_BLOCK &&
                                                                  b->block[x->next[0]].ends));
            const struct isa_line *end = x->leaves ? isa_object_line_at(b->object, x->end - 1) : NULL;

            for (uint32_t k = x->first; k < x->end && ends; k++) {
                const enum isa_op op = (enum isa_op)at(b, k)->op;

                ends = is_branch(at(b, k)) || op == ISA_EXIT || op == ISA_BSYNC || op == ISA_BBREAK || op == ISA_NOP ||
                       op == ISA_YIELD || is_of_the_end(b, k, end);
            }
            changed |= ends;
            x->ends |= ends;
        }
    }
}

static void find_reaches(struct build *b)
{
    bool changed = true;

    for (uint32_t i = 0; i < b->count; i++)
        b->block[i].reaches = b->block[i].barrier;
    while (changed) {
        changed = false;
        for (uint32_t i = b->count; i-- > 0;) {
            struct block *x = &b->block[i];

            for (unsigned k = 0; k < 2 && !x->reaches; k++)
                changed |= x->reaches = x->next[k] != NO_BLOCK && b->block[x->next[k]].reaches;
        }
    }
}

/** Removes the edge @k of a block. */
static void cut(struct block *x, unsigned k)
{
    x->next[k] = x->next[1];
    x->next[1] = NO_BLOCK;
    x->returns = true;
}

/* ---- post-dominators: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" ------------------- */

static void predecessors(struct build *b)
{
    const uint32_t exit = b->count;

    memset(b->from_first, 0, (b->count + 2) * sizeof *b->from_first);
    for (uint32_t i = 0; i < b->count; i++) {
        for (unsigned k = 0; k < 2; k++)
            if (b->block[i].next[k] != NO_BLOCK)
                b->from_first[b->block[i].next[k] + 1]++;
        b->from_first[exit + 1] += b->block[i].leaves;
    }
    for (uint32_t i = 0; i <= exit; i++)
        b->from_first[i + 1] += b->from_first[i];
    for (uint32_t i = b->count; i-- > 0;) { /* from_first[i + 1] moves from the end of block i's table row to its start */
        for (unsigned k = 0; k < 2; k++)
            if (b->block[i].next[k] != NO_BLOCK)
                b->from[--b->from_first[b->block[i].next[k] + 1]] = i;
        if (b->block[i].leaves)
            b->from[--b->from_first[exit + 1]] = i;
    }
    for (uint32_t i = 0; i <= exit; i++)
        b->from_first[i] = b->from_first[i + 1];
    uint32_t all = 0;
    for (uint32_t i = 0; i < b->count; i++)
        all += (b->block[i].next[0] != NO_BLOCK) + (b->block[i].next[1] != NO_BLOCK) + b->block[i].leaves;
    b->from_first[exit + 1] = all;
}

/** Numbers the blocks from which @root can be reached, in post-order, after @numbered blocks that already have numbers.
 *  Returns the new number of numbered blocks. */
static uint32_t walk_back(struct build *b, uint32_t root, uint32_t numbered)
{
    uint32_t depth = 0;

    if (b->seen[root] == b->stamp)
        return numbered;
    b->seen[root] = b->stamp;
    b->stack[depth++] = root;
    b->idom[root] = b->from_first[root]; /* while the block is on the stack: the next edge to visit */
    while (depth != 0) {
        const uint32_t x = b->stack[depth - 1];

        if (b->idom[x] < b->from_first[x + 1]) {
            const uint32_t y = b->from[b->idom[x]++];

            if (b->seen[y] != b->stamp) {
                b->seen[y] = b->stamp;
                b->idom[y] = b->from_first[y];
                b->stack[depth++] = y;
            }
            continue;
        }
        depth--;
        b->number[x] = numbered;
        b->order[numbered++] = x;
    }
    return numbered;
}

static uint32_t common(const struct build *b, uint32_t x, uint32_t y)
{
    while (x != y) {
        while (b->number[x] < b->number[y])
            x = b->idom[x];
        while (b->number[y] < b->number[x])
            y = b->idom[y];
    }
    return x;
}

static void post_dominators(struct build *b)
{
    const uint32_t exit = b->count;
    uint32_t numbered;
    bool changed = true;

    for (;;) {
        uint32_t endless = NO_BLOCK; /* last block, if possible with an early return, from which the exit cannot be reached */

        predecessors(b);
        b->stamp++;
        numbered = walk_back(b, exit, 0);
        uint32_t all = numbered;
        for (uint32_t i = 0; i < b->count; i++) /* blocks from which only a trap can be reached get no post-dominator */
            if (b->block[i].next[0] == NO_BLOCK)
                all = walk_back(b, i, all);
        for (uint32_t i = 0; i < b->count; i++)
            if (b->seen[i] != b->stamp && (endless == NO_BLOCK || b->block[i].returns || !b->block[endless].returns))
                endless = i;
        if (endless == NO_BLOCK)
            break;
        b->block[endless].leaves = true; /* an endless loop is treated as if this block continued to the exit */
    }
    for (uint32_t i = 0; i < b->count; i++)
        b->idom[i] = NO_BLOCK;
    b->idom[exit] = exit;
    while (changed) {
        changed = false;
        for (uint32_t k = numbered - 1; k-- > 0;) {
            const uint32_t x = b->order[k];
            uint32_t to = b->block[x].leaves ? exit : NO_BLOCK;

            for (unsigned e = 0; e < 2; e++) {
                const uint32_t y = b->block[x].next[e];

                if (y != NO_BLOCK && b->idom[y] != NO_BLOCK)
                    to = to == NO_BLOCK ? y : common(b, to, y);
            }
            changed |= to != b->idom[x];
            b->idom[x] = to;
        }
    }
}

/* ---- regions ----------------------------------------------------------------------------------------- */

static bool is_decision(const struct block *x)
{
    return x->next[0] != NO_BLOCK && x->next[1] != NO_BLOCK;
}

/** Removes the edges to early returns: sides of branches that only end the thread, or that can reach no barrier while the
 *  other side can. */
static void cut_returns(struct build *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        struct block *x = &b->block[i];

        if (is_decision(x) && b->block[x->next[0]].ends != b->block[x->next[1]].ends)
            cut(x, b->block[x->next[0]].ends ? 0 : 1);
        else if (x->next[0] != NO_BLOCK && x->next[1] == NO_BLOCK && b->block[x->next[0]].ends) {
            cut(x, 0); /* an end that several returns share is not a reconvergence point */
            x->leaves = true;
        }
    }
    for (unsigned round = 0; round < MOST_ROUNDS; round++) {
        uint32_t last = NO_BLOCK;

        post_dominators(b);
        for (uint32_t i = 0; i < b->count; i++) {
            const struct block *x = &b->block[i];

            if (is_decision(x) && b->idom[i] == b->count &&
                b->block[x->next[0]].reaches != b->block[x->next[1]].reaches)
                last = i;
        }
        if (last == NO_BLOCK)
            return;
        cut(&b->block[last], b->block[b->block[last].next[0]].reaches ? 1 : 0);
    }
    post_dominators(b);
}

/** Returns true if a barrier is on a path from block @i to its reconvergence point. Sets *@loops to whether a path that
 *  can reach a barrier leads back to @i. */
static bool has_barrier(struct build *b, uint32_t i, bool *loops)
{
    const uint32_t end = b->idom[i];
    uint32_t depth = 0;
    bool found = false;

    *loops = false;
    b->stamp++;
    b->stack[depth++] = i;
    while (depth != 0) {
        const struct block *x = &b->block[b->stack[--depth]];

        for (unsigned k = 0; k < 2; k++) {
            const uint32_t y = x->next[k];

            *loops |= y == i;
            if (y == NO_BLOCK || y == end || b->seen[y] == b->stamp || !b->block[y].reaches)
                continue;
            b->seen[y] = b->stamp;
            found |= b->block[y].barrier;
            b->stack[depth++] = y;
        }
    }
    return found;
}

static void add(struct build *b, uint32_t branch, uint32_t join, bool loops)
{
    struct chk_regions *r = b->out;

    if (!lw_grow(&r->region, &b->room, r->region_count + 1, sizeof *r->region)) {
        b->bad = true;
        return;
    }
    r->region[r->region_count++] = (struct chk_region){.branch = branch, .join = join, .loops = loops};
}

static void find_regions(struct build *b, unsigned number)
{
    const struct isa_function *f = b->function;
    const uint32_t first = b->out->region_count;

    for (uint32_t i = f->first; i < f->first + f->count; i++) { /* A guarded barrier or call is treated as a branch,
                                                                 * whose sides reconverge after it. */
        b->out->function[number].calls |= (isa_op_info((enum isa_op)at(b, i)->op)->flags & ISA_F_CALL) != 0;
        if (is_guarded(at(b, i)) && insn_synchronises(b, at(b, i), i) && i + 1 < f->first + f->count)
            add(b, i, i + 1, false);
    }
    if (make_blocks(b)) {
        find_ends(b);
        find_reaches(b);
        cut_returns(b);
        for (uint32_t i = 0; i < b->count; i++) {
            bool loops;

            if (!is_decision(&b->block[i]) || !has_barrier(b, i, &loops))
                continue;
            const uint32_t to = b->idom[i];
            add(b, b->block[i].end - 1,
                to < b->count             ? b->block[to].first
                : f->kernel || to > b->count ? CHK_RECONVERGES_NOWHERE
                                          : CHK_RECONVERGES_RETURNED, loops);
        }
    }
    b->out->function[number].first = first;
    b->out->function[number].count = b->out->region_count - first;
}

/** Returns the first instruction of @f, from @index on, that is not a memory instruction, because on_insn is not called for
 *  memory instructions. */
static uint32_t past_memory(const struct build *b, const struct isa_function *f, uint32_t index)
{
    while (index + 1 < f->first + f->count && (isa_op_info((enum isa_op)at(b, index)->op)->flags & ISA_F_MEMORY) != 0)
        index++;
    return index;
}

/** Builds branch_at and close_at. Returns false if memory is short. */
static bool index_regions(struct build *b)
{
    struct chk_regions *r = b->out;
    const size_t count = b->object->text_count + 1;

    r->branch_at = calloc(count, sizeof *r->branch_at);
    r->close_at = calloc(count, sizeof *r->close_at);
    if (r->branch_at == NULL || r->close_at == NULL)
        return false;
    for (unsigned k = 0; k < b->object->function_count; k++) {
        const struct isa_function *f = &b->object->functions[k];
        uint32_t returned = 0;

        for (uint32_t j = r->function[k].first; j < r->function[k].first + r->function[k].count; j++) {
            struct chk_region *x = &r->region[j];

            r->branch_at[x->branch] = j + 1;
            r->does[x->branch] |= CHK_DOES_REGION;
            if (x->join == CHK_RECONVERGES_NOWHERE)
                continue;
            if (x->join == CHK_RECONVERGES_RETURNED) {
                x->next = returned;
                returned = j + 1;
            } else {
                x->join = past_memory(b, f, x->join);
                x->next = r->close_at[x->join];
                r->close_at[x->join] = j + 1;
                r->does[x->join] |= CHK_DOES_REGION;
            }
        }
        for (uint32_t i = f->first; i < f->first + f->count && returned != 0; i++) {
            uint32_t *list = &r->close_at[i];

            if (at(b, i)->op != ISA_RET)
                continue;
            while (*list != 0) /* finds the end of the list: regions that end only at this return precede regions that end at
                                * every return */
                list = &r->region[*list - 1].next;
            *list = returned;
            r->does[i] |= CHK_DOES_REGION;
        }
    }
    return true;
}

void chk_regions_destroy(struct chk_regions *regions)
{
    if (regions == NULL)
        return;
    free(regions->does);
    free(regions->region);
    free(regions->function);
    free(regions->branch_at);
    free(regions->close_at);
    free(regions);
}

struct chk_regions *chk_regions_make(const struct emu_program *program, bool branches)
{
    struct build b = {.program = program, .object = emu_program_object(program)};
    uint32_t most = 0;

    b.out = calloc(1, sizeof *b.out);
    if (b.out == NULL)
        return NULL;
    b.out->program = program;
    b.out->does = calloc(b.object->text_count + 1, 1);
    b.out->function = calloc(b.object->function_count + 1, sizeof *b.out->function);
    b.join = calloc(b.object->function_count + 1, sizeof *b.join);
    for (unsigned k = 0; k < b.object->function_count; k++)
        if (b.object->functions[k].count > most)
            most = b.object->functions[k].count;
    b.bad = b.out->does == NULL || b.out->function == NULL || b.join == NULL;
    for (uint32_t i = 0; i < b.object->text_count && !b.bad; i++) {
        b.out->does[i] = what_does(at(&b, i));
        b.out->crosses |= (b.out->does[i] & CHK_DOES_CROSS) != 0;
    }
    if (!b.bad && branches && find_functions(&b)) {
        const size_t n = (size_t)most + 2;
        uint32_t *room = calloc(10 * n, sizeof *room);

        b.block = calloc(n, sizeof *b.block);
        b.bad = room == NULL || b.block == NULL;
        b.block_of = room;
        b.order = room != NULL ? room + n : NULL;
        b.number = room != NULL ? room + 2 * n : NULL;
        b.idom = room != NULL ? room + 3 * n : NULL;
        b.stack = room != NULL ? room + 4 * n : NULL;
        b.seen = room != NULL ? room + 5 * n : NULL;
        b.from_first = room != NULL ? room + 6 * n : NULL;
        b.from = room != NULL ? room + 7 * n : NULL; /* space for at most three edges of each block */
        for (unsigned k = 0; k < b.object->function_count && !b.bad; k++) {
            b.function = &b.object->functions[k];
            if (b.join[k])
                find_regions(&b, k);
        }
        free(b.block);
        free(room);
    }
    if (!b.bad && b.out->region_count != 0)
        b.bad = !index_regions(&b);
    free(b.join);
    if (b.bad) {
        chk_regions_destroy(b.out);
        return NULL;
    }
    return b.out;
}
