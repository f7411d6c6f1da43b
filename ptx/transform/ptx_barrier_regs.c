/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns barrier registers to regions. Larger regions come first. Two regions get different registers if they overlap,
 * or if one starts or ends inside the other. If the nesting is deeper than the number of registers, an inner region
 * shares the register of regions that enclose it completely. While the inner region is open, the outer
 * region's group number, which the barrier register contained (MACHINE 2), is saved in a pair of vector registers. Calls in the
 * region preserve the pair like other values. A region that partly overlaps regions of every register gets no register: its lanes
 * reconverge at the end of the next outer region.
 *
 * An inner region may share a register if all regions of this register that overlap the inner region enclose it. To test this,
 * each block stores for each register the set of the regions that contain the block, as a number. A set is defined as an
 * existing set plus one region, so equal sets have equal numbers, and a comparison takes one step per block, independent of the
 * nesting depth.
 */
#include "ptx/ptx_priv.h"

enum { SHARED_BY = 4 }; /* greatest number of nested regions that share a register, because each inner region needs a pair of
                         * vector registers for the outer group number */

struct region_set {
    uint32_t below;  /* number of the set without its smallest region; 0: the empty set */
    uint32_t region; /* index of the smallest region of the set */
    uint32_t count;  /* number of regions in the set */
    uint32_t above, stamp; /* above: number of the last set that was created from this set, by adding region `stamp` - 1 */
};
struct numbering {
    struct ptx_unit *unit;
    struct ptx_region **sorted; /* regions by size, largest first */
    /* By block, a bit for each register: registers of the regions that contain the block, start in the block, or end in the
     * block. */
    uint32_t *inside, *starts, *joins;
    uint8_t *calls; /* by block: whether the block calls a function that uses barriers */
    /* The members below are used only if regions share registers. */
    uint32_t *set[ISA_BREG_COUNT]; /* by register and block: set of the regions that contain the block */
    PTX_LIST(struct region_set) sets;
};

static bool has_call(const struct ptx_region *g, const uint8_t *calls)
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
    /* merge sort: qsort may allocate memory, and the order in which qsort leaves equal elements differs between hosts */
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

/* Adds region @i to the sets of its blocks for its register. */
static void add_to_sets(struct numbering *n, uint32_t i)
{
    const struct ptx_region *g = n->sorted[i];
    uint32_t *set = n->set[g->barrier];

    for (size_t k = 0; k < g->inside.count; k++) {
        uint32_t below = set[g->inside.at[k]];

        if (n->sets.at[below].stamp != i + 1) {
            struct region_set *fresh = PTX_PUSH(n->unit->job, n->sets);

            *fresh = (struct region_set){ .below = below, .region = i,
                                          .count = n->sets.at[below].count + 1 };
            n->sets.at[below].stamp = i + 1;
            n->sets.at[below].above = (uint32_t)n->sets.count - 1;
        }
        set[g->inside.at[k]] = n->sets.at[below].above;
    }
}

static void make_sets(struct numbering *n, uint32_t numbered)
{
    (void)PTX_PUSH(n->unit->job, n->sets); /* set 0 is the empty set */
    memset(n->sets.at, 0, sizeof *n->sets.at);
    for (unsigned b = 0; b < ISA_BREG_COUNT; b++)
        n->set[b] = PTX_ARRAY(n->unit->job, uint32_t, n->unit->blocks.count);
    for (uint32_t i = 0; i < numbered; i++) {
        if (n->sorted[i]->barrier != PTX_NO_BARRIER)
            add_to_sets(n, i);
    }
}

/* Returns the set of the regions of a register that overlap @g if all of them enclose it: they contain all blocks of
 * @g, the start of @g, and the join of @g (or have the same join), and they neither start nor end inside @g. Returns 0
 * if some of these regions do not enclose @g, or if no region overlaps @g. */
static uint32_t set_around(const struct numbering *n, const struct ptx_region *g, unsigned reg)
{
    const uint32_t *set = n->set[reg];
    uint32_t around = set[g->start], at_join = set[g->join];

    if (n->starts[g->start] >> reg & 1)
        return 0;
    for (size_t k = 0; k < g->inside.count; k++) {
        uint32_t b = g->inside.at[k];

        if (set[b] != around || (n->starts[b] | n->joins[b]) >> reg & 1)
            return 0;
    }
    for (uint32_t s = around; s != 0; s = n->sets.at[s].below) {
        if (at_join != 0 && n->sets.at[at_join].region == n->sets.at[s].region)
            at_join = n->sets.at[at_join].below;
        else if (n->sorted[n->sets.at[s].region]->join != g->join)
            return 0;
    }
    return at_join == 0 ? around : 0;
}

static uint32_t new_pair(struct ptx_unit *unit)
{
    (void)ptx_vreg_new(unit, 2);
    return (uint32_t)(unit->vregs.count - 1);
}

/* Assigns to region @i a register that outer regions use. All regions of the register that overlap region @i must enclose it; of
 * several such registers, the one with the fewest overlapping regions is used. The outer group number is saved while region @i
 * uses the register. Returns false if there is no such register, or if the region can be entered in the middle. */
static bool share_register(struct numbering *n, uint32_t i, uint32_t refused)
{
    struct ptx_unit *unit = n->unit;
    struct ptx_region *g = n->sorted[i];
    unsigned best = ISA_BREG_COUNT;
    uint32_t around = 0;

    /* A lane that reached the join without passing the start would wait at the join for the lanes with the outer group
     * number, which may wait for this lane at another point. */
    if (!ptx_region_serves(unit, g, g->join))
        return false;
    if (n->sets.count == 0)
        make_sets(n, i);
    for (unsigned b = 0; b < ISA_BREG_COUNT; b++) {
        uint32_t set = refused >> b & 1 ? 0 : set_around(n, g, b);

        if (set != 0 && n->sets.at[set].count < SHARED_BY && (around == 0 || n->sets.at[set].count < n->sets.at[around].count)) {
            around = set;
            best = b;
        }
    }
    if (around == 0)
        return false;
    g->barrier = (uint8_t)best;
    g->saved = new_pair(unit);
    unit->lossy = true;
    /* The loader for SIMT stacks requires that each branch that names a register is reached by the bssy of its own region only.
     * The bssy of @g may reach the branches of outer regions, except those in the block that starts the outer region. So these
     * branches name no register. */
    for (; around != 0; around = n->sets.at[around].below) {
        struct ptx_region *h = n->sorted[n->sets.at[around].region];
        size_t retained = 0;

        for (size_t k = 0; k < h->branches.count; k++) {
            if (h->branches.at[k] == h->start)
                h->branches.at[retained++] = h->branches.at[k];
        }
        h->branches.count = retained;
    }
    return true;
}

static void number_region(struct numbering *n, uint32_t i, uint32_t absent, uint32_t callees)
{
    struct ptx_unit *unit = n->unit;
    struct ptx_region *g = n->sorted[i];
    /* A block's bsyncs are at its start and its bssys at its end, so a region may end where another starts. But inside the
     * region, no lane may pass a bsync or bssy that uses the same register and belongs to another region. */
    uint32_t clash = n->inside[g->start] | n->starts[g->start] | n->inside[g->join] | absent;

    for (size_t k = 0; k < g->inside.count; k++) {
        uint32_t b = g->inside.at[k];

        /* A callee may use a register of this function only if no region that uses the register contains the call. */
        clash |= n->inside[b] | n->starts[b] | n->joins[b] | (n->calls[b] ? callees : 0);
    }
    g->saved = PTX_NONE;
    if (g->given_up)
        return;
    if ((clash & 0xffff) == 0xffff &&
        !share_register(n, i, absent | (has_call(g, n->calls) ? callees : 0))) {
        unit->lossy = true;
        return;
    }
    if (g->saved == PTX_NONE)
        g->barrier = (uint8_t)lw_lowest(~clash);
    if (unit->breg_count <= g->barrier)
        unit->breg_count = g->barrier + 1u;
    n->starts[g->start] |= 1u << g->barrier;
    n->joins[g->join] |= 1u << g->barrier;
    for (size_t k = 0; k < g->inside.count; k++)
        n->inside[g->inside.at[k]] |= 1u << g->barrier;
    if (n->sets.count != 0)
        add_to_sets(n, i);
}

/* Stores each region's barrier register where it is used: at its bssy, its bsync, its branches and the edges that leave
 * it. */
static void number_regions(struct ptx_unit *unit, struct ptx_region **sorted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ptx_region *g = sorted[i];

        if (g->barrier == PTX_NO_BARRIER)
            continue;
        *PTX_PUSH(unit->job, unit->blocks.at[g->start].joins) = (uint32_t)(g - unit->regions.at);
        /* A branch names the barrier at its post-dominator, because a SIMT stack needs an instruction that all lanes
         * reach. Only convergence barriers use joins within a loop's iteration. */
        for (size_t k = 0; g->scope == PTX_NONE && k < g->branches.count; k++)
            unit->blocks.at[g->branches.at[k]].branch_barrier = g->barrier;
        for (size_t k = 0; k < g->leaves.count; k++) {
            struct ptx_block *from = &unit->blocks.at[g->leaves.at[k] >> 1];
            unsigned edge = g->leaves.at[k] & 1;
            bool left = false; /* true if the edge also leaves the outer region; then the saved group number of the outer
                                * region is discarded */

            for (size_t j = 0; j < from->breaks[edge].count; j++)
                left |= from->breaks[edge].at[j] == g->barrier;
            *PTX_PUSH(unit->job, from->breaks[edge]) = g->barrier;
            *PTX_PUSH(unit->job, from->break_gives[edge]) =
                g->saved == PTX_NONE ? 0 : (g->saved + 1) | (left ? PTX_GIVE_UP : 0);
        }
    }
    for (size_t i = n; i-- > 0;) { /* begins with the smallest region, because its bsync comes first in a block */
        const struct ptx_region *h = sorted[i];

        if (h->barrier == PTX_NO_BARRIER)
            continue;
        *PTX_PUSH(unit->job, unit->blocks.at[h->join].syncs) = h->barrier;
        *PTX_PUSH(unit->job, unit->blocks.at[h->join].sync_gives) =
            h->saved == PTX_NONE ? 0 : h->saved + 1;
    }
}

void ptx_barrier_numbers(struct ptx_unit *unit)
{
    size_t count = unit->regions.count, blocks = unit->blocks.count;
    struct ptx_region **room = PTX_ARRAY(unit->job, struct ptx_region *, count + 1);
    struct numbering n = { .unit = unit,
                           .sorted = PTX_ARRAY(unit->job, struct ptx_region *, count + 1),
                           .inside = PTX_ARRAY(unit->job, uint32_t, blocks),
                           .starts = PTX_ARRAY(unit->job, uint32_t, blocks),
                           .joins = PTX_ARRAY(unit->job, uint32_t, blocks),
                           .calls = PTX_ARRAY(unit->job, uint8_t, blocks) };
    uint32_t callees = (uint32_t)lw_mask(unit->breg_base), absent = 0;
    const struct ptx_options *options = unit->job->options;

    if (options != NULL && options->barrier_registers != 0)
        absent = 0xffff & ~(uint32_t)lw_mask(options->barrier_registers);
    for (size_t b = 0; callees != 0 && b < blocks; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];

        for (uint32_t i = block->first; i < block->first + block->count; i++)
            n.calls[b] |= (isa_op_info((enum isa_op)unit->code.at[i].in.op)->flags & ISA_F_CALL) != 0;
    }
    for (size_t i = 0; i < count; i++)
        n.sorted[i] = &unit->regions.at[i];
    sort_regions(n.sorted, count, room);
    for (uint32_t i = 0; i < count; i++)
        number_region(&n, i, absent, callees);
    number_regions(unit, n.sorted, count);
}
