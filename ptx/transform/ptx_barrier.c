/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convergence barriers. For each branch that may diverge, with immediate post-dominator R:
 *
 *   bssy   before the branch; if R is outside loops that contain the branch, in the preheader of
 *          the outermost such loop
 *   bsync  at the start of R; if several regions end there, the bsync of the outermost one comes last
 *   bbreak on each edge from which R can no longer be reached without passing the bssy (but not on
 *          edges to paths that only exit, because an exit releases the other lanes)
 *   yield  on the back edges of loops that may wait for another lane
 *
 * A branch may be in a loop and its R outside, because one side contains a break. Then the lanes also reconverge inside the
 * loop, at the point at which they would reconverge without the break. Lanes that leave the loop then execute a bbreak for the
 * barrier of that point.
 *
 * Branches with the same R share a region if the bssy of the first one covers the others. Regions that
 * overlap use different barrier registers. ptx_barrier_verify() checks the result; tests compare random
 * programs with an execution thread by thread.
 */
#include "ptx/ptx_priv.h"

enum {
    DEEPEST = 64,     /* deepest nesting of regions with barriers, because the time grows with the square of the depth */
    LOOPS_LEFT = 16   /* number of loops around a branch, counted from the innermost, in each of which the lanes of the
                       * branch reconverge */
};

/* Returns @most, or a proportionally lower limit if an option, which tests set, reduces the number of barrier registers. */
static unsigned limit(const struct ptx_unit *unit, unsigned most)
{
    const struct ptx_options *options = unit->job->options;

    return options == NULL || options->barrier_registers == 0 ? most
           : most / 16 * options->barrier_registers + 1;
}

/* Returns true if region @g can serve a branch in @start: every lane at the branch is a member of @g and waits for the
 * others at the join anyway. The start of @g must dominate @start, and be in the loop of the join, so that every
 * iteration passes the start of @g. */
bool ptx_region_serves(const struct ptx_unit *unit, const struct ptx_region *g, uint32_t start)
{
    return ptx_dominates(unit, g->start, start) &&
           ptx_in_loop(unit, g->start, unit->blocks.at[g->join].loop);
}

static struct ptx_region *region_for(struct ptx_unit *unit, uint32_t *first_of, uint32_t *next,
                                     uint32_t start, uint32_t join, uint32_t scope)
{
    for (uint32_t r = first_of[join]; r != 0; r = next[r]) {
        if (unit->regions.at[r - 1].scope == scope && ptx_region_serves(unit, &unit->regions.at[r - 1], start))
            return &unit->regions.at[r - 1];
    }
    struct ptx_region *g = PTX_PUSH(unit->job, unit->regions);

    /* `next` has an element for each branch and each loop around it */
    memset(g, 0, sizeof *g);
    g->start = start;
    g->join = join;
    g->scope = scope;
    g->barrier = PTX_NO_BARRIER;
    next[unit->regions.count] = first_of[join];
    first_of[join] = (uint32_t)unit->regions.count;
    return g;
}

/* Returns the block for the bssy of a region with branch @x: the preheader of the outermost loop that contains @x but not
 * @join, or @x itself if there is no such loop. */
static uint32_t start_for(const struct ptx_unit *unit, uint32_t x, uint32_t join)
{
    uint32_t start = x;

    for (uint32_t l = unit->blocks.at[x].loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
        if (ptx_in_loop(unit, join, l))
            break;
        start = unit->loops.at[l].preheader;
    }
    return start;
}

/* State of the search for the block where the lanes of a branch in a loop reconverge if they do not leave the loop. Without such
 * a block, a break on one side of the branch would separate the other lanes for all further iterations. The block is the
 * immediate post-dominator within one iteration: the iteration ends at the latches, and edges out of the loop are ignored. */
struct local {
    uint32_t *visit_number;        /* by block: node of the block in the graph of the iteration; valid if seen[block] == stamp */
    uint32_t *seen, *next, *stack; /* arrays of the traversal, by block */
    uint32_t *block_at;            /* by node: block of the node */
    struct ptx_dominators *d;
    uint32_t stamp;
};

static bool in_round(const struct ptx_unit *unit, uint32_t from, unsigned k, uint32_t loop)
{
    uint32_t to = unit->blocks.at[from].succ[k];

    return to != unit->loops.at[loop].header && ptx_in_loop(unit, to, loop);
}

static void meet(struct local *lo, uint32_t b, uint32_t parent)
{
    struct ptx_dominators *d = lo->d;

    lo->seen[b] = lo->stamp;
    lo->next[b] = 0;
    lo->visit_number[b] = d->count;
    lo->block_at[d->count] = b;
    d->parent[d->count++] = parent;
}

static void local_postdominators(struct ptx_unit *unit, uint32_t loop, struct local *lo)
{
    const struct ptx_loop *l = &unit->loops.at[loop];
    struct ptx_dominators *d = lo->d;
    uint32_t depth = 0;

    lo->stamp++;
    d->count = 1;
    for (size_t i = 0; i < l->latches.count; i++) {
        if (lo->seen[l->latches.at[i]] == lo->stamp)
            continue;
        meet(lo, l->latches.at[i], 0);
        lo->stack[depth++] = l->latches.at[i];
        while (depth != 0) {
            uint32_t b = lo->stack[depth - 1], p;

            if (b == l->header || lo->next[b] == unit->blocks.at[b].pred_count) {
                depth--;
                continue;
            }
            p = unit->blocks.at[b].pred[lo->next[b]++];
            if (lo->seen[p] == lo->stamp || !ptx_in_loop(unit, p, loop))
                continue;
            meet(lo, p, lo->visit_number[b]);
            lo->stack[depth++] = p;
        }
    }
    d->first[1] = 0;
    for (uint32_t i = 1; i < d->count; i++) {
        uint32_t b = lo->block_at[i];

        d->first[i + 1] = d->first[i];
        for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
            uint32_t s = unit->blocks.at[b].succ[k];

            if (s == l->header)
                d->from[d->first[i + 1]++] = 0; /* An edge to the header ends the iteration: node 0. */
            else if (in_round(unit, b, k, loop) && lo->seen[s] == lo->stamp)
                d->from[d->first[i + 1]++] = lo->visit_number[s];
        }
    }
    ptx_dominators_find(d);
}

/* Returns the block in which the lanes of branch @x reconverge within the iteration. Returns PTX_NONE if there is no such
 * block, because the sides join only at the end of the iteration, or no path from @x continues the loop. */
static uint32_t local_join(const struct local *lo, uint32_t x)
{
    uint32_t up = lo->seen[x] == lo->stamp ? lo->d->idom[lo->visit_number[x]] : 0;

    return up == 0 ? PTX_NONE : lo->block_at[up];
}

/* Returns true if lanes on both sides of branch @x may remain in the iteration of loop @l. If @x is in an inner loop, they may
 * remain in the iteration of @l after the inner loop. */
static bool parts_round(const struct ptx_unit *unit, uint32_t x, uint32_t l)
{
    return unit->blocks.at[x].loop != l || (in_round(unit, x, 0, l) && in_round(unit, x, 1, l));
}

static void find_regions(struct ptx_unit *unit)
{
    size_t n = unit->blocks.count, room = 1;
    unsigned most_left = limit(unit, LOOPS_LEFT);
    uint32_t *first_of = PTX_ARRAY(unit->job, uint32_t, n), *next;
    uint8_t *wanted = PTX_ARRAY(unit->job, uint8_t, unit->loops.count + 1);
    PTX_LIST(uint32_t) branches = { 0 };
    struct local lo = { .visit_number = PTX_ARRAY(unit->job, uint32_t, n + 1),
                        .seen = PTX_ARRAY(unit->job, uint32_t, n + 1),
                        .next = PTX_ARRAY(unit->job, uint32_t, n + 1),
                        .stack = PTX_ARRAY(unit->job, uint32_t, n + 1),
                        .block_at = PTX_ARRAY(unit->job, uint32_t, n + 2),
                        .d = ptx_dominators_new(unit->job, n + 1, 2 * n) };

    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        if (!b->may_diverge || b->end != PTX_END_BRANCH || !b->reaches_end)
            continue;
        *PTX_PUSH(unit->job, branches) = unit->rpo[k];
        room++;
        unsigned left = 0;

        for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
            if (b->ipdom != PTX_NONE && ptx_in_loop(unit, b->ipdom, l))
                break;
            if (left++ == most_left) {
                unit->lossy = true;
                break;
            }
            wanted[l] |= parts_round(unit, unit->rpo[k], l);
            room += parts_round(unit, unit->rpo[k], l);
        }
    }
    /* By loop: list of the branches in the loop whose immediate post-dominator is outside the loop, in the order of
     * `branches`. */
    struct {
        uint32_t branch, next;
    } *list = ptx_new(unit->job, room + 1, sizeof *list);
    uint32_t *head = PTX_ARRAY(unit->job, uint32_t, unit->loops.count + 1), entries = 1;

    for (size_t i = branches.count; i-- > 0;) {
        const struct ptx_block *b = &unit->blocks.at[branches.at[i]];
        unsigned left = 0;

        for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
            if ((b->ipdom != PTX_NONE && ptx_in_loop(unit, b->ipdom, l)) || left++ == most_left)
                break;
            if (!parts_round(unit, branches.at[i], l))
                continue; /* One side of the branch leaves the loop, so all lanes that continue the loop are on the other
                           * side and need no barrier. */
            list[entries].branch = branches.at[i];
            list[entries].next = head[l];
            head[l] = entries++;
        }
    }
    next = PTX_ARRAY(unit->job, uint32_t, room + 1);
    for (size_t i = 0; i < branches.count; i++) {
        uint32_t x = branches.at[i], r = unit->blocks.at[x].ipdom;

        if (r == PTX_NONE || ptx_just_ends(unit, r))
            continue; /* Only the end of the kernel follows the join, so no lane needs to wait at the join. */
        *PTX_PUSH(unit->job, region_for(unit, first_of, next, start_for(unit, x, r), r, PTX_NONE)
                                 ->branches) = x;
    }
    for (uint32_t l = 0; l < unit->loops.count; l++) {
        if (!wanted[l])
            continue;
        local_postdominators(unit, l, &lo);
        for (uint32_t i = head[l]; i != 0; i = list[i].next) {
            uint32_t x = list[i].branch, join = local_join(&lo, x);

            if (join != PTX_NONE)
                *PTX_PUSH(unit->job, region_for(unit, first_of, next, start_for(unit, x, join), join,
                                                l)->branches) = x;
        }
    }
}

/* Removes the barriers of regions that are nested too deeply, because the group number of each outer region would have to be
 * saved. The number of regions that are open in a block is the number for the block's immediate dominator, plus the regions that
 * start in the dominator, minus the regions that end in the block. Regions with a scope (a loop) are not counted, because few of
 * them (LOOPS_LEFT) can be nested. */
static void limit_nesting(struct ptx_unit *unit)
{
    uint32_t *starts = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    uint32_t *ends = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    uint32_t *open = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    unsigned deepest = limit(unit, DEEPEST);

    for (size_t i = 0; i < unit->regions.count; i++) {
        const struct ptx_region *g = &unit->regions.at[i];

        if (g->scope != PTX_NONE)
            continue;
        starts[g->start]++;
        ends[g->join] += g->start != g->join && ptx_dominates(unit, g->start, g->join);
    }
    for (uint32_t k = 1; k < unit->rpo_count; k++) {
        uint32_t b = unit->rpo[k], up = unit->blocks.at[b].idom;

        open[b] = open[up] + starts[up] - ends[b];
    }
    for (size_t i = 0; i < unit->regions.count; i++) {
        struct ptx_region *g = &unit->regions.at[i];

        g->given_up = open[g->start] >= deepest;
        unit->lossy |= g->given_up;
    }
}

struct scratch {
    uint32_t *inside, *can; /* by block: inside[b] == stamp if the region's start reaches b, can[b] == stamp if b reaches the
                             * join */
    uint32_t stamp;
    PTX_LIST(uint32_t) work, reached;
};

/* Returns true if @block, which the region's start reaches, belongs to the region: the join can be reached from the block, or
 * no end of the function can be reached from it (an endless loop). */
static bool is_inside(const struct ptx_unit *unit, const struct scratch *s, uint32_t block)
{
    return s->can[block] == s->stamp || !unit->blocks.at[block].reaches_end;
}

/* Returns true if an edge may lead to the join: the edge leads neither to an exit nor out of the region's loop. */
static bool remains_inside(const struct ptx_unit *unit, const struct ptx_region *g, uint32_t from,
                  unsigned k)
{
    return !ptx_is_exit_edge(&unit->blocks.at[from], k) &&
           (g->scope == PTX_NONE || in_round(unit, from, k, g->scope));
}

/* Finds the blocks between bssy and bsync, and the edges that leave them without the bsync. */
static void extend_region(struct ptx_unit *unit, struct ptx_region *g, struct scratch *s)
{
    const struct ptx_block *start = &unit->blocks.at[g->start];
    size_t inside = 0;

    s->stamp++;
    s->reached.count = 0;
    for (unsigned k = 0; k < start->succ_count; k++) {
        if (remains_inside(unit, g, g->start, k))
            *PTX_PUSH(unit->job, s->work) = start->succ[k];
    }
    while (s->work.count != 0) {
        uint32_t b = s->work.at[--s->work.count];

        if (b == g->join || s->inside[b] == s->stamp)
            continue;
        s->inside[b] = s->stamp;
        *PTX_PUSH(unit->job, s->reached) = b;
        for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
            if (remains_inside(unit, g, b, k))
                *PTX_PUSH(unit->job, s->work) = unit->blocks.at[b].succ[k];
        }
    }
    /* find the blocks from which the join can be reached without passing the start */
    s->can[g->join] = s->stamp;
    *PTX_PUSH(unit->job, s->work) = g->join;
    while (s->work.count != 0) {
        const struct ptx_block *b = &unit->blocks.at[s->work.at[--s->work.count]];

        for (uint32_t k = 0; k < b->pred_count; k++) {
            uint32_t p = b->pred[k];
            unsigned edge = &unit->blocks.at[unit->blocks.at[p].succ[0]] == b ? 0 : 1;

            if (!remains_inside(unit, g, p, edge) || p == g->start || s->inside[p] != s->stamp ||
                s->can[p] == s->stamp)
                continue;
            s->can[p] = s->stamp;
            *PTX_PUSH(unit->job, s->work) = p;
        }
    }
    for (size_t i = 0; i < s->reached.count; i++)
        inside += is_inside(unit, s, s->reached.at[i]);
    g->inside.at = PTX_ARRAY(unit->job, uint32_t, inside + 1);
    g->inside.capacity = inside + 1;
    for (size_t i = 0; i <= s->reached.count; i++) {
        bool reached = i < s->reached.count;
        uint32_t b = reached ? s->reached.at[i] : g->start;
        const struct ptx_block *block = &unit->blocks.at[b];

        if (reached && is_inside(unit, s, b))
            *PTX_PUSH(unit->job, g->inside) = b;
        if (reached && (b == g->start || s->can[b] != s->stamp))
            continue;
        for (unsigned k = 0; k < block->succ_count; k++) {
            uint32_t to = block->succ[k];

            if (!ptx_is_exit_edge(block, k) && unit->blocks.at[to].reaches_end &&
                (s->can[to] != s->stamp || !remains_inside(unit, g, b, k)))
                *PTX_PUSH(unit->job, g->leaves) = (uint64_t)b << 1 | k;
        }
    }
    g->size = (uint32_t)g->inside.count;
}

/* Finds loops that may wait for another lane, and whether the kernel has soft barriers (MACHINE 2). */
static void find_spins(struct ptx_unit *unit)
{
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];

            if (mi->flags & PTX_MI_SPIN) {
                for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent)
                    unit->loops.at[l].spins = true;
                unit->soft |= b->loop != PTX_NONE;
            }
            /* A CTA barrier, a warpsync or a .sync operation in a divergent region makes the barriers soft. */
            if (b->barrier_flow && mi->flags & PTX_MI_SYNCS)
                unit->soft = true;
        }
    }
    for (size_t i = 0; i < unit->loops.count; i++) {
        const struct ptx_loop *l = &unit->loops.at[i];

        for (size_t k = 0; l->spins && k < l->latches.count; k++) {
            struct ptx_block *b = &unit->blocks.at[l->latches.at[k]];

            for (unsigned s = 0; s < b->succ_count; s++)
                b->yields[s] |= b->succ[s] == l->header;
        }
    }
}

/* Adds a region of one block for each call from which lanes may return at different times. */
static void add_wraps(struct ptx_unit *unit)
{
    for (size_t i = 0; i < unit->wraps.count; i++) {
        const struct ptx_wrap *w = &unit->wraps.at[i];
        struct ptx_region *g;

        if (unit->blocks.at[w->start].rpo == PTX_NONE || !unit->blocks.at[w->join].reaches_end)
            continue;
        g = PTX_PUSH(unit->job, unit->regions);
        memset(g, 0, sizeof *g);
        g->start = w->start;
        g->join = w->join;
        g->scope = PTX_NONE;
        g->barrier = PTX_NO_BARRIER;
    }
}

/* Stores the barrier in the call instruction, too, because a SIMT stack pushes an entry at the call. */
static void name_wraps(struct ptx_unit *unit)
{
    for (size_t i = 0; i < unit->wraps.count; i++) {
        const struct ptx_block *start = &unit->blocks.at[unit->wraps.at[i].start];
        const struct ptx_block *body = &unit->blocks.at[unit->wraps.at[i].body];

        for (size_t k = 0; k < start->joins.count; k++) {
            const struct ptx_region *g = &unit->regions.at[start->joins.at[k]];

            for (uint32_t at = body->first; g->join == unit->wraps.at[i].join &&
                                            at < body->first + body->count; at++) {
                struct ptx_mi *mi = &unit->code.at[at];

                if (isa_op_info((enum isa_op)mi->in.op)->flags & ISA_F_CALL)
                    mi->barrier = g->barrier;
            }
        }
    }
}

/* A recursive function that may wait for another lane yields at its entry, as a loop does on its back edge (MACHINE 2). */
static void yield_at_entry(struct ptx_unit *unit)
{
    const struct ptx_calls *calls = &unit->function->calls;

    if (unit->function->kernel || !calls->recursive)
        return;
    unit->soft |= calls->tree.waits || calls->tree.syncs;
    if (calls->tree.waits)
        unit->blocks.at[unit->entry].yields[0] = true;
}

void ptx_barriers(struct ptx_unit *unit)
{
    struct scratch scratch = { .inside = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count),
                               .can = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count) };

    find_regions(unit);
    add_wraps(unit);
    limit_nesting(unit);
    for (size_t i = 0; i < unit->regions.count; i++) {
        if (!unit->regions.at[i].given_up)
            extend_region(unit, &unit->regions.at[i], &scratch);
    }
    ptx_barrier_cycles(unit);
    ptx_barrier_numbers(unit);
    name_wraps(unit);
    find_spins(unit);
    yield_at_entry(unit);
    ptx_calls_save_barriers(unit);
}

/* ---- the check ----------------------------------------------------------- */

static bool function_has(const struct ptx_unit *unit, uint32_t function, unsigned barrier)
{
    const struct ptx_module *module = unit->module;
    uint32_t scc = module->functions.at[function].calls.scc;

    return scc != unit->function->calls.scc && /* Functions of the same SCC are ignored, because they save the barrier
                                                * registers that they use. */
           module->sccs.at[scc].barriers > barrier;
}

/* Returns true if a function that may be called at @mi uses this barrier register. */
static bool callee_has(const struct ptx_unit *unit, const struct ptx_mi *mi, unsigned barrier)
{
    const struct ptx_module *module = unit->module;

    if (mi->in.op == ISA_CALL)
        return function_has(unit, mi->in.x, barrier);
    for (uint32_t f = 0; mi->in.op == ISA_CALLX && f < module->functions.count; f++) {
        if (module->functions.at[f].calls.address_taken && function_has(unit, f, barrier))
            return true;
    }
    return false;
}

static _Noreturn void verify_fails(const struct ptx_unit *unit, const struct ptx_mi *mi,
                                   unsigned barrier, const char *what)
{
    ptx_fail(unit->job, mi->line, LW_ESTATE, "internal error: barrier b%u of '%s' %s", barrier,
             unit->function->name, what);
}

/* Verifies the barriers after ptx_layout(). Every path from a bssy must reach the bsync or bbreak of this bssy, or an exit,
 * before the path reaches another bssy of the same register, a return, or a call of a function that uses the register. */
void ptx_barrier_verify(struct ptx_unit *unit)
{
    uint32_t *seen = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    uint32_t *saved_seen = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    uint32_t *saved_in = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    PTX_LIST(uint32_t) work = { 0 };
    uint32_t stamp = 0;

    for (uint32_t k = 0; k < unit->blocks.count; k++) {
        const struct ptx_block *b = &unit->blocks.at[k];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            uint8_t barrier = unit->code.at[i].barrier;
            uint32_t from = i + 1, at = k, saved = 0;

            if (unit->code.at[i].in.op != ISA_BSSY)
                continue;
            stamp++;
            for (;;) {
                const struct ptx_block *block = &unit->blocks.at[at];
                bool ended = false;

                for (uint32_t j = from; j < block->first + block->count && !ended; j++) {
                    const struct ptx_mi *mi = &unit->code.at[j];

                    /* An inner region uses the register between the save and the restore of the outer group number. */
                    if (saved == 0 && mi->in.op == ISA_V_MOV_TAKE_B && mi->in.x == barrier)
                        saved = mi->ref[PTX_S_D] + 1;
                    else if (saved != 0 && mi->in.op == ISA_V_MOV_GIVE_B && mi->in.d == barrier &&
                             mi->ref[PTX_S_A] + 1 == saved)
                        saved = 0;
                    else if (saved == 0 && (mi->in.op == ISA_RET ||
                                            (mi->in.op == ISA_V_MOV_GIVE_B && mi->in.d == barrier)))
                        verify_fails(unit, mi, barrier, "is not left on a path");
                    if (saved == 0 && callee_has(unit, mi, barrier))
                        verify_fails(unit, mi, barrier, "is also used by a callee");

                    if (mi->in.op == ISA_EXIT && !ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]))
                        ended = true;
                    if (mi->barrier != barrier)
                        continue;
                    if (saved != 0) /* a saved group number that is not restored here is discarded */
                        ended = j == i;
                    else if (mi->in.op == ISA_BSYNC || mi->in.op == ISA_BBREAK)
                        ended = true;
                    else if (mi->in.op == ISA_BSSY)
                        verify_fails(unit, &unit->code.at[i], barrier, "is joined twice on a path");
                }
                for (unsigned s = 0; !ended && s < block->succ_count; s++) {
                    uint32_t to = block->succ[s];

                    /* Each block is visited once with the group number in the barrier register, and once for each pair of vector
                     * registers to which the group number may have been saved. */
                    if (saved == 0 ? seen[to] == stamp
                                   : saved_in[to] == saved && saved_seen[to] == stamp)
                        continue;
                    if (saved == 0) {
                        seen[to] = stamp;
                    } else {
                        saved_in[to] = saved;
                        saved_seen[to] = stamp;
                    }
                    *PTX_PUSH(unit->job, work) = to;
                    *PTX_PUSH(unit->job, work) = saved;
                }
                if (work.count == 0)
                    break;
                saved = work.at[--work.count];
                at = work.at[--work.count];
                from = unit->blocks.at[at].first;
            }
        }
    }
}
