/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convergence barriers. For each branch that may part lanes, with R its immediate
 * post-dominator:
 *
 *   bssy   before the branch; if R lies outside a loop of the branch, in the preheader
 *          of the outermost such loop
 *   bsync  first in R, the outermost region's last
 *   bbreak on each edge from which R can no longer be reached without passing the bssy
 *          (not on edges to paths that only exit: the others are freed by the exit)
 *   yield  on the back edges of loops that may wait for another lane
 *
 * A branch in a loop whose R lies outside (there is a break on one side) also joins where
 * it would if nobody left the loop; lanes that leave then break that barrier.
 *
 * Branches with the same R share a region where the first one's bssy covers the others.
 * Regions that overlap have different barrier registers. ptx_barrier_verify checks the
 * result; random programs are compared with their threads run one by one.
 */
#include "ptx/ptx_priv.h"

/* Whether region @g does for a branch with bssy block @start and the same join: then every
 * lane at the branch is a member of g and meets the others at the join anyway. g's start
 * must dominate, and lie in the loop of the join, so that no round passes it by. */
static bool serves(const struct ptx_unit *unit, const struct ptx_region *g, uint32_t start)
{
    return ptx_dominates(unit, g->start, start) &&
           ptx_in_loop(unit, g->start, unit->blocks.at[g->join].loop);
}

static struct ptx_region *region_for(struct ptx_unit *unit, uint32_t *first_of, uint32_t *next,
                                     uint32_t start, uint32_t join, uint32_t scope)
{
    for (uint32_t r = first_of[join]; r != 0; r = next[r]) {
        if (unit->regions.at[r - 1].scope == scope && serves(unit, &unit->regions.at[r - 1], start))
            return &unit->regions.at[r - 1];
    }
    struct ptx_region *g = PTX_PUSH(unit->job, unit->regions);

    /* `next` has room for a region of each branch and loop around it */
    memset(g, 0, sizeof *g);
    g->start = start;
    g->join = join;
    g->scope = scope;
    g->barrier = 0xff;
    next[unit->regions.count] = first_of[join];
    first_of[join] = (uint32_t)unit->regions.count;
    return g;
}

/* In front of the outermost loop that has @x and not @join, or at @x itself. */
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

/*
 * Where a branch in a loop joins if nobody left that loop: a break in one arm must not
 * keep the others apart for the rest of their rounds. Immediate post-dominators of one
 * round: the ends are the latches, edges out of the loop do not count.
 */
struct local {
    uint32_t *ipdom, *number; /* by block; valid where seen has the stamp */
    uint32_t *seen, *next, *order, *stack;
    uint32_t stamp;
};

static bool in_round(const struct ptx_unit *unit, uint32_t from, unsigned k, uint32_t loop)
{
    uint32_t to = unit->blocks.at[from].succ[k];

    return to != unit->loops.at[loop].header && ptx_in_loop(unit, to, loop);
}

static void local_postdominators(struct ptx_unit *unit, uint32_t loop, struct local *lo)
{
    const struct ptx_loop *l = &unit->loops.at[loop];
    uint32_t count = 0, depth = 0, root = PTX_NONE;

    lo->stamp++;
    for (size_t i = 0; i < l->latches.count; i++) {
        if (lo->seen[l->latches.at[i]] == lo->stamp)
            continue;
        lo->stack[depth++] = l->latches.at[i];
        lo->seen[l->latches.at[i]] = lo->stamp;
        lo->next[l->latches.at[i]] = 0;
        while (depth != 0) {
            uint32_t b = lo->stack[depth - 1];
            const struct ptx_block *block = &unit->blocks.at[b];

            if (b != l->header && lo->next[b] < block->pred_count) {
                uint32_t p = block->pred[lo->next[b]++];

                if (lo->seen[p] != lo->stamp && ptx_in_loop(unit, p, loop)) {
                    lo->seen[p] = lo->stamp;
                    lo->next[p] = 0;
                    lo->stack[depth++] = p;
                }
            } else {
                lo->ipdom[b] = PTX_NONE - 1; /* not known yet */
                lo->number[b] = count;
                lo->order[count++] = b;
                depth--;
            }
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = count; i-- > 0;) {
            uint32_t b = lo->order[i], d = PTX_NONE - 1;

            for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
                uint32_t s = unit->blocks.at[b].succ[k];

                if (s == l->header)
                    s = root; /* the round ends */
                else if (!in_round(unit, b, k, loop) || lo->seen[s] != lo->stamp ||
                         lo->ipdom[s] == PTX_NONE - 1)
                    continue;
                if (d == PTX_NONE - 1) {
                    d = s;
                    continue;
                }
                while (d != s && d != root && s != root) {
                    if (lo->number[d] < lo->number[s])
                        d = lo->ipdom[d];
                    else
                        s = lo->ipdom[s];
                }
                if (s == root)
                    d = root;
            }
            if (lo->ipdom[b] != d) {
                lo->ipdom[b] = d;
                changed = true;
            }
        }
    }
}

static void find_regions(struct ptx_unit *unit)
{
    size_t n = unit->blocks.count, room = 1;
    uint32_t *first_of = PTX_ARRAY(unit->job, uint32_t, n), *next;
    uint8_t *wanted = PTX_ARRAY(unit->job, uint8_t, unit->loops.count + 1);
    PTX_LIST(uint32_t) branches = { 0 };
    struct local lo = { .ipdom = PTX_ARRAY(unit->job, uint32_t, n),
                        .number = PTX_ARRAY(unit->job, uint32_t, n),
                        .seen = PTX_ARRAY(unit->job, uint32_t, n),
                        .next = PTX_ARRAY(unit->job, uint32_t, n),
                        .order = PTX_ARRAY(unit->job, uint32_t, n),
                        .stack = PTX_ARRAY(unit->job, uint32_t, n) };

    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        if (!b->may_diverge || b->end != PTX_END_BRANCH || !b->reaches_end)
            continue;
        *PTX_PUSH(unit->job, branches) = unit->rpo[k];
        room++;
        for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
            if (b->ipdom != PTX_NONE && ptx_in_loop(unit, b->ipdom, l))
                break;
            wanted[l] = 1;
            room++;
        }
    }
    /* the branches of each loop, in order, with those that meet outside it */
    struct {
        uint32_t branch, next;
    } *list = ptx_new(unit->job, room + 1, sizeof *list);
    uint32_t *head = PTX_ARRAY(unit->job, uint32_t, unit->loops.count + 1), entries = 1;

    for (size_t i = branches.count; i-- > 0;) {
        const struct ptx_block *b = &unit->blocks.at[branches.at[i]];

        for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent) {
            if (b->ipdom != PTX_NONE && ptx_in_loop(unit, b->ipdom, l))
                break;
            list[entries].branch = branches.at[i];
            list[entries].next = head[l];
            head[l] = entries++;
        }
    }
    next = PTX_ARRAY(unit->job, uint32_t, room + 1);
    for (size_t i = 0; i < branches.count; i++) {
        uint32_t x = branches.at[i], r = unit->blocks.at[x].ipdom;

        if (r == PTX_NONE || ptx_just_ends(unit, r))
            continue; /* where the kernel just ends nobody need wait */
        *PTX_PUSH(unit->job, region_for(unit, first_of, next, start_for(unit, x, r), r, PTX_NONE)
                                 ->branches) = x;
    }
    for (uint32_t l = 0; l < unit->loops.count; l++) {
        if (!wanted[l])
            continue;
        local_postdominators(unit, l, &lo);
        for (uint32_t i = head[l]; i != 0; i = list[i].next) {
            uint32_t x = list[i].branch, join, start;
            struct ptx_region *g;

            if (lo.seen[x] != lo.stamp)
                continue;
            join = lo.ipdom[x];
            if (join >= PTX_NONE - 1)
                continue;
            start = start_for(unit, x, join);
            if (start == x && !(in_round(unit, x, 0, l) && in_round(unit, x, 1, l)))
                continue; /* one side leaves at once: the other is not split */
            g = region_for(unit, first_of, next, start, join, l);
            *PTX_PUSH(unit->job, g->branches) = x;
        }
    }
}

struct scratch {
    uint32_t *inside, *can; /* by block: stamps */
    uint32_t stamp;
};

/* Whether an edge may lead to the join: not into an exit, nor out of the region's loop. */
static bool stays(const struct ptx_unit *unit, const struct ptx_region *g, uint32_t from,
                  unsigned k)
{
    return !ptx_is_exit_edge(&unit->blocks.at[from], k) &&
           (g->scope == PTX_NONE || in_round(unit, from, k, g->scope));
}

/* Blocks between bssy and bsync, and the edges that leave without the bsync. */
static void extend_region(struct ptx_unit *unit, struct ptx_region *g, struct scratch *s)
{
    PTX_LIST(uint32_t) work = { 0 };
    PTX_LIST(uint32_t) reached = { 0 };
    const struct ptx_block *start = &unit->blocks.at[g->start];

    s->stamp++;
    for (unsigned k = 0; k < start->succ_count; k++) {
        if (stays(unit, g, g->start, k))
            *PTX_PUSH(unit->job, work) = start->succ[k];
    }
    while (work.count != 0) {
        uint32_t b = work.at[--work.count];

        if (b == g->join || s->inside[b] == s->stamp)
            continue;
        s->inside[b] = s->stamp;
        *PTX_PUSH(unit->job, reached) = b;
        for (unsigned k = 0; k < unit->blocks.at[b].succ_count; k++) {
            if (stays(unit, g, b, k))
                *PTX_PUSH(unit->job, work) = unit->blocks.at[b].succ[k];
        }
    }
    /* from which of them can the join be reached without the start? */
    s->can[g->join] = s->stamp;
    *PTX_PUSH(unit->job, work) = g->join;
    while (work.count != 0) {
        const struct ptx_block *b = &unit->blocks.at[work.at[--work.count]];

        for (uint32_t k = 0; k < b->pred_count; k++) {
            uint32_t p = b->pred[k];
            unsigned edge = &unit->blocks.at[unit->blocks.at[p].succ[0]] == b ? 0 : 1;

            if (!stays(unit, g, p, edge) || p == g->start || s->inside[p] != s->stamp ||
                s->can[p] == s->stamp)
                continue;
            s->can[p] = s->stamp;
            *PTX_PUSH(unit->job, work) = p;
        }
    }
    for (size_t i = 0; i <= reached.count; i++) {
        uint32_t b = i < reached.count ? reached.at[i] : g->start;
        const struct ptx_block *block = &unit->blocks.at[b];

        if (i < reached.count && (s->can[b] == s->stamp || !block->reaches_end))
            *PTX_PUSH(unit->job, g->inside) = b;
        if (i < reached.count && (b == g->start || s->can[b] != s->stamp))
            continue;
        for (unsigned k = 0; k < block->succ_count; k++) {
            uint32_t to = block->succ[k];

            if (!ptx_is_exit_edge(block, k) && unit->blocks.at[to].reaches_end &&
                (s->can[to] != s->stamp || !stays(unit, g, b, k)))
                *PTX_PUSH(unit->job, g->leaves) = (uint64_t)b << 1 | k;
        }
    }
    g->size = (uint32_t)g->inside.count;
}

static bool g_calls(const struct ptx_region *g, const uint8_t *calls)
{
    for (size_t k = 0; k < g->inside.count; k++) {
        if (calls[g->inside.at[k]])
            return true;
    }
    return false;
}

static int by_size(const void *a, const void *b)
{
    const struct ptx_region *x = *(struct ptx_region *const *)a;
    const struct ptx_region *y = *(struct ptx_region *const *)b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x < y ? -1 : 1;
}

static void sort_regions(struct ptx_region **at, size_t n, struct ptx_region **room)
{
    /* merge sort: qsort may allocate and is not stable across hosts */
    if (n < 2)
        return;
    size_t half = n / 2, i = 0, j = half, k = 0;

    sort_regions(at, half, room);
    sort_regions(at + half, n - half, room);
    while (i < half || j < n)
        room[k++] = j == n || (i < half && by_size(&at[i], &at[j]) < 0) ? at[i++] : at[j++];
    memcpy(at, room, n * sizeof *at);
}

/* ---- more regions than registers ----------------------------------------- */

enum relation { APART, AROUND, CROSSING };

/* How a region @h that is at least as large lies to @g, whose blocks have the stamp: registers
 * may be equal if apart; if it lies around g, g can save its number. */
static enum relation relation_of(const struct ptx_unit *unit, const struct ptx_region *h,
                                 const struct ptx_region *g, struct scratch *s)
{
    uint32_t outer = ++s->stamp, found = 0;
    bool touches, start, join;

    (void)unit;
    for (size_t k = 0; k < h->inside.count; k++)
        s->can[h->inside.at[k]] = outer;
    for (size_t k = 0; k < g->inside.count; k++)
        found += s->can[g->inside.at[k]] == outer;
    start = s->can[g->start] == outer;
    join = s->can[g->join] == outer;
    touches = found != 0 || start || join || h->start == g->start;
    for (size_t k = 0; k < g->inside.count; k++)
        touches |= g->inside.at[k] == h->start || g->inside.at[k] == h->join;
    if (!touches)
        return APART;
    for (size_t k = 0; k < g->inside.count; k++) {
        if (g->inside.at[k] == h->start || g->inside.at[k] == h->join)
            return CROSSING;
    }
    return found == g->inside.count && start && h->start != g->start && (join || h->join == g->join)
               ? AROUND : CROSSING;
}

static uint32_t new_pair(struct ptx_unit *unit)
{
    (void)ptx_vreg_new(unit, 2);
    return (uint32_t)(unit->vregs.count - 1);
}

/* A register whose regions that meet g all lie around it: fewest first. Their number is
 * saved while g has the register. False: there is none, or g can be entered in the middle. */
static bool share_register(struct ptx_unit *unit, struct ptx_region **sorted, size_t count,
                           struct ptx_region *g, uint32_t refused)
{
    struct scratch s = { .can = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count) };
    unsigned around[ISA_BREG_COUNT] = { 0 }, best = ISA_BREG_COUNT;

    /* a lane that came to the join past the start would wait there with the outer number, for
     * lanes that may wait for it elsewhere */
    if (!serves(unit, g, g->join) || !unit->function->kernel)
        return false;
    for (size_t i = 0; i < unit->code.count; i++) { /* calls save by rules of their own */
        if (isa_op_info((enum isa_op)unit->code.at[i].in.op)->flags & ISA_F_CALL)
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ptx_region *h = sorted[i];

        switch (relation_of(unit, h, g, &s)) {
        case APART: break;
        case AROUND: around[h->barrier]++; break;
        case CROSSING: refused |= 1u << h->barrier; break;
        }
    }
    for (unsigned b = 0; b < ISA_BREG_COUNT; b++) {
        if (!(refused >> b & 1) && around[b] != 0 && (best == ISA_BREG_COUNT || around[b] < around[best]))
            best = b;
    }
    if (best == ISA_BREG_COUNT)
        return false;
    g->barrier = (uint8_t)best;
    g->saved = new_pair(unit);
    unit->lossy = true;
    /* a stack's load wants one bssy to reach each branch that names a register: behind g
     * that would be g's */
    for (size_t i = 0; i < count; i++) {
        struct ptx_region *h = sorted[i];

        if (h->barrier == best && relation_of(unit, h, g, &s) == AROUND) {
            size_t kept = 0;

            for (size_t k = 0; k < h->branches.count; k++) {
                if (h->branches.at[k] == h->start)
                    h->branches.at[kept++] = h->branches.at[k];
            }
            h->branches.count = kept;
        }
    }
    return true;
}

static void number_regions(struct ptx_unit *unit)
{
    size_t n = unit->regions.count;
    struct ptx_region **sorted = PTX_ARRAY(unit->job, struct ptx_region *, n + 1);
    struct ptx_region **room = PTX_ARRAY(unit->job, struct ptx_region *, n + 1);
    /* by block: registers of the regions that have it inside, start or end there */
    uint32_t *inside = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    uint32_t *starts = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    uint32_t *joins = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);

    uint8_t *calls = PTX_ARRAY(unit->job, uint8_t, unit->blocks.count);
    uint32_t callees = (uint32_t)lw_mask(unit->breg_base), absent = 0;
    const struct ptx_options *options = unit->job->options;

    if (options != NULL && options->barrier_registers != 0)
        absent = 0xffff & ~(uint32_t)lw_mask(options->barrier_registers);

    for (size_t b = 0; callees != 0 && b < unit->blocks.count; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];

        for (uint32_t i = block->first; i < block->first + block->count; i++)
            calls[b] |= (isa_op_info((enum isa_op)unit->code.at[i].in.op)->flags & ISA_F_CALL) != 0;
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &unit->regions.at[i];
        sorted[i]->saved = PTX_NONE;
    }
    sort_regions(sorted, n, room);
    for (size_t i = 0; i < n; i++) {
        struct ptx_region *g = sorted[i];
        /* A block's bsyncs stand at its start and its bssys at its end, so a region may
         * end where another starts; but no lane may pass, inside, a bsync or bssy of its
         * own register that belongs to another region. */
        uint32_t clash = inside[g->start] | starts[g->start] | inside[g->join] | absent;

        for (size_t k = 0; k < g->inside.count; k++) {
            uint32_t b = g->inside.at[k];

            /* nobody is in a region without calls when a callee uses its registers */
            clash |= inside[b] | starts[b] | joins[b] | (calls[b] ? callees : 0);
        }
        g->saved = PTX_NONE;
        if ((clash & 0xffff) == 0xffff &&
            !share_register(unit, sorted, i, g, absent | (g_calls(g, calls) ? callees : 0))) {
            const struct ptx_block *b =
                &unit->blocks.at[g->branches.count != 0 ? g->branches.at[0] : g->start];

            ptx_fail(unit->job, b->line, LW_EUNSUPP,
                     "'%s' has more than %u regions of divergent flow that cross each other%s, which "
                     "is not supported", unit->function->name, ISA_BREG_COUNT - unit->breg_base,
                     unit->breg_base != 0 ? " around calls" : "");
        }
        if (g->saved == PTX_NONE)
            g->barrier = (uint8_t)lw_lowest(~clash);
        if (unit->breg_count <= g->barrier)
            unit->breg_count = g->barrier + 1u;
        starts[g->start] |= 1u << g->barrier;
        joins[g->join] |= 1u << g->barrier;
        for (size_t k = 0; k < g->inside.count; k++)
            inside[g->inside.at[k]] |= 1u << g->barrier;
    }
    for (size_t i = 0; i < n; i++) {
        struct ptx_region *g = sorted[i];

        *PTX_PUSH(unit->job, unit->blocks.at[g->start].joins) = (uint32_t)(g - unit->regions.at);
        /* a branch names the barrier at its post-dominator: a stack needs a place that all
         * lanes come to; the joins of loops that may be left serve convergence barriers */
        for (size_t k = 0; g->scope == PTX_NONE && k < g->branches.count; k++)
            unit->blocks.at[g->branches.at[k]].branch_barrier = g->barrier;
        for (size_t k = 0; k < g->leaves.count; k++) {
            struct ptx_block *from = &unit->blocks.at[g->leaves.at[k] >> 1];
            unsigned edge = g->leaves.at[k] & 1;
            bool left = false; /* with an outer region: what is saved of it is given up, too */

            for (size_t j = 0; j < from->breaks[edge].count; j++)
                left |= from->breaks[edge].at[j] == g->barrier;
            *PTX_PUSH(unit->job, from->breaks[edge]) = g->barrier;
            *PTX_PUSH(unit->job, from->break_gives[edge]) =
                g->saved == PTX_NONE ? 0 : (g->saved + 1) | (left ? PTX_GIVE_UP : 0);
        }
        /* the smaller regions' bsync come first */
        struct ptx_region *h = sorted[n - 1 - i];

        *PTX_PUSH(unit->job, unit->blocks.at[h->join].syncs) = h->barrier;
        *PTX_PUSH(unit->job, unit->blocks.at[h->join].sync_gives) =
            h->saved == PTX_NONE ? 0 : h->saved + 1;
    }
}

/* Loops that may wait for another lane; softness of the kernel (MACHINE 2). */
static void find_spins(struct ptx_unit *unit)
{
    for (uint32_t k = 0; k < unit->rpo_count; k++) {
        const struct ptx_block *b = &unit->blocks.at[unit->rpo[k]];

        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            const struct ptx_mi *mi = &unit->code.at[i];
            unsigned flags = isa_op_info((enum isa_op)mi->in.op)->flags;

            if (mi->flags & PTX_MI_SPIN) {
                for (uint32_t l = b->loop; l != PTX_NONE; l = unit->loops.at[l].parent)
                    unit->loops.at[l].spins = true;
                unit->soft |= b->loop != PTX_NONE;
            }
            /* a CTA barrier, warpsync or .sync operation where flow may be divergent */
            if (b->barrier_flow &&
                (mi->flags & PTX_MI_SYNCS || mi->in.op == ISA_BAR_SYNC || mi->in.op == ISA_BAR_ARRIVE ||
                 mi->in.op == ISA_BAR_RED_POPC || mi->in.op == ISA_BAR_RED_AND ||
                 mi->in.op == ISA_BAR_RED_OR || mi->in.op == ISA_WARPSYNC || (flags & ISA_F_SYNC)))
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

/* Calls whose lanes may return apart: a region of one block each. */
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
        g->barrier = 0xff;
    }
}

/* The call names the barrier, too: a SIMT stack pushes an entry there. */
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

/* Recursion that may wait for another lane is a loop, too (MACHINE 2). */
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
    for (size_t i = 0; i < unit->regions.count; i++)
        extend_region(unit, &unit->regions.at[i], &scratch);
    number_regions(unit);
    name_wraps(unit);
    find_spins(unit);
    yield_at_entry(unit);
    ptx_calls_save_barriers(unit);
}

/* ---- the check ----------------------------------------------------------- */

/* After ptx_layout: from each bssy along all paths, its bsync, its bbreak or an exit is
 * met before a bssy of the same register. */
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

                    /* an inner region has the register, from taking the number to giving it back */
                    if (saved == 0 && mi->in.op == ISA_V_MOV_TAKE_B && mi->in.x == barrier)
                        saved = mi->ref[PTX_S_D] + 1;
                    else if (saved != 0 && mi->in.op == ISA_V_MOV_GIVE_B && mi->in.d == barrier &&
                             mi->ref[PTX_S_A] + 1 == saved)
                        saved = 0;

                    if (mi->in.op == ISA_EXIT && !ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]))
                        ended = true;
                    if (mi->barrier != barrier)
                        continue;
                    if (saved != 0) /* where it is not given back it is given up */
                        ended = j == i;
                    else if (mi->in.op == ISA_BSYNC || mi->in.op == ISA_BBREAK)
                        ended = true;
                    else if (mi->in.op == ISA_BSSY)
                        ptx_fail(unit->job, unit->code.at[i].line, LW_ESTATE,
                                 "internal error: barrier b%u of '%s' is joined twice on a path",
                                 barrier, unit->function->name);
                }
                for (unsigned s = 0; !ended && s < block->succ_count; s++) {
                    uint32_t to = block->succ[s];

                    /* once with the number, and once for each pair that has it */
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
