/* SPDX-License-Identifier: Apache-2.0 */
/* Register allocation: linear scan over live ranges with holes, in the order of their starts. For each physical register,
 * the scan keeps a list of the segments that end after the current position, so that an interference test compares two short
 * lists. Copies whose ranges do not interfere are coalesced first. A range that gets no register is split (ptx_spill.c), and
 * then the scan starts over with the rewritten code. */
#include "ptx/ptx_priv.h"

struct segment { /* positions [start, end): instruction i reads at position 2i and writes at position 2i + 1 */
    uint32_t start, end;
};
struct range {
    PTX_LIST(struct segment) s; /* segments in ascending order, which do not overlap */
    float weight;               /* cost of spilling the range: uses and definitions, weighted by loop depth */
    float cost;                 /* result of cost_of(), computed once per scan */
    uint32_t hint;              /* vreg whose physical register this range should get, too, if the register is free; PTX_NONE if
                                 * there is no such vreg */
    bool partial;               /* a write replaces only some registers or lanes of the value */
    bool crosses;               /* the range is live across a call */
};
enum { RESERVED_ROWS = 4 };     /* v0 to v3 are reserved in a framed function */
/* Weights in the costs of spilling, tuned to minimise the loads and stores of the benchmark kernels with 32 registers.
 * SPLIT_RISK: assumed probability that a piece of a split value in a loop gets no register either. PIECE_WORTH: factor
 * for the cost of spilling a piece, relative to a value that was not split. */
#define SPLIT_RISK 0.5f
#define PIECE_WORTH 0.4f
struct owned {
    uint32_t start, end, owner;
};
struct row {
    PTX_LIST(struct owned) s;
    size_t head; /* index of the first segment that may end after the scan's position */
    uint32_t last;
};
struct alloc {
    struct ptx_unit *unit;
    struct range *range; /* by vreg: live range, which is empty if the vreg was coalesced with another one */
    uint32_t *rep;       /* by vreg: parent of the vreg in the union-find structure of coalesced registers */
    struct row v[ISA_VREG_COUNT], p[ISA_PRED_COUNT];
    struct row s[ISA_SREG_COUNT], sp[ISA_PRED_COUNT]; /* registers of the scalar unit, which are never spilled */
    uint8_t *spilled; /* by representative vreg: the range is spilled */
    unsigned vector_rows; /* number of vector registers that this function may use */
    bool any_spilled, out_of_scalars;
    bool join_scalars; /* coalesce copies between scalars, too. If this is false, ptx_scalar.c guarantees that there are enough
                        * scalar registers */
    uint32_t *order;
    PTX_LIST(struct segment) joined; /* scratch memory of join_ranges() */
};

static uint32_t find(struct alloc *al, uint32_t v)
{
    while (al->rep[v] != v) {
        al->rep[v] = al->rep[al->rep[v]];
        v = al->rep[v];
    }
    return v;
}

static bool is_fixed(const struct alloc *al, uint32_t v)
{
    return al->unit->vregs.at[v].fixed != 0;
}

/* ---- live ranges --------------------------------------------------------- */

/* Adds a segment. Ranges are built from the end of the code, so the list is in descending order until build_ranges()
 * reverses it. */
static void add_segment(struct alloc *al, uint32_t v, uint32_t start, uint32_t end)
{
    struct range *r = &al->range[v];

    /* The last segment begins with a write, at an odd position. The new segment is not merged with it. If the new segment
     * ends one position after that write, because an instruction must not overwrite its source, the segment is shortened by
     * that position. */
    if (r->s.count != 0 && r->s.at[r->s.count - 1].start % 2 == 1 &&
        end == r->s.at[r->s.count - 1].start + 1 && start < end - 1)
        end--;
    if (r->s.count != 0 && r->s.at[r->s.count - 1].start <= end &&
        !(r->s.at[r->s.count - 1].start == end && end % 2 == 1)) {
        struct segment *last = &r->s.at[r->s.count - 1];

        last->start = start < last->start ? start : last->start;
        return;
    }
    *PTX_PUSH(al->unit->job, r->s) = (struct segment){ start, end };
}

static bool early_clobber(const struct ptx_mi *mi)
{
    /* A result of several registers must not overwrite the sources of its instruction. */
    return ptx_ref_is_vreg(mi->ref[PTX_S_D]) && mi->rows[PTX_S_D] > 1 &&
           mi->in.op != ISA_V_MOV_B64;
}

static float times_ten(uint32_t depth)
{
    float w = 1;

    for (uint32_t i = 0; i < depth && i < 6; i++)
        w *= 10;
    return w;
}

/* Returns the cost of a use at loop depth @depth if the value is split. If a register is free for the piece of the loop, the
 * piece is loaded once before the loop. Otherwise the value is loaded at the use, which costs @deep. */
static float use_weight(const struct ptx_vreg *vreg, uint32_t depth, float deep)
{
    return depth <= vreg->level ? deep : times_ten(vreg->level) + deep * SPLIT_RISK;
}

static void build_ranges(struct alloc *al)
{
    struct ptx_unit *unit = al->unit;
    uint32_t *end_at = PTX_ARRAY(unit->job, uint32_t, unit->vregs.count);

    for (size_t k = unit->blocks.count; k-- > 0;) {
        const struct ptx_block *b = &unit->blocks.at[k];
        uint32_t begin = 2 * b->first, end = 2 * (b->first + b->count);
        uint32_t depth = b->loop == PTX_NONE ? 0 : unit->loops.at[b->loop].depth;
        float w = times_ten(depth);

        for (unsigned s = 0; s < b->succ_count; s++) {
            uint32_t to = b->succ[s];

            for (size_t i = 0; i < unit->live_in[to].count; i++)
                end_at[unit->live_in[to].at[i]] = end;
        }
        for (uint32_t i = b->first + b->count; i-- > b->first;) {
            const struct ptx_mi *mi = &unit->code.at[i];
            bool early = early_clobber(mi), partial = mi->flags & PTX_MI_PARTIAL;

            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t v = ptx_ref_vreg(mi->ref[s]);

                if (!ptx_mi_writes(mi, (enum ptx_slot)s))
                    continue;
                al->range[v].weight += w; /* a spilled value is stored at each definition */
                if (partial) {
                    al->range[v].partial = true;
                    if (end_at[v] == 0)
                        end_at[v] = 2 * i + 2;
                } else {
                    add_segment(al, v, 2 * i + 1, end_at[v] != 0 ? end_at[v] : 2 * i + 2);
                    end_at[v] = 0;
                }
            }
            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t v = ptx_ref_vreg(mi->ref[s]);

                if (!ptx_mi_reads(mi, (enum ptx_slot)s))
                    continue;
                al->range[v].weight += use_weight(&unit->vregs.at[v], depth, w);
                /* The result may get the register of a source, as in d = d + 1. */
                if (end_at[v] == 0)
                    end_at[v] = early && ptx_ref_vreg(mi->ref[PTX_S_D]) != v ? 2 * i + 2
                                                                             : 2 * i + 1;
            }
        }
        for (size_t i = 0; i < unit->live_in[k].count; i++) {
            uint32_t v = unit->live_in[k].at[i];

            if (end_at[v] != 0)
                add_segment(al, v, begin, end_at[v]);
            end_at[v] = 0;
        }
    }
    for (size_t v = 0; v < unit->vregs.count; v++) {
        struct range *r = &al->range[v];

        for (size_t i = 0, j = r->s.count; i + 1 < j; i++) {
            struct segment t = r->s.at[i];

            r->s.at[i] = r->s.at[--j];
            r->s.at[j] = t;
        }
    }
}

static bool is_copy(const struct ptx_unit *unit, const struct ptx_mi *mi)
{
    ptx_ref d = mi->ref[PTX_S_D], x = mi->ref[PTX_S_X];

    return (((mi->in.op == ISA_V_MOV_B32 || mi->in.op == ISA_V_MOV_B64) &&
             mi->in.xkind == ISA_X_VECTOR) ||
            ((mi->in.op == ISA_S_MOV_B32 || mi->in.op == ISA_S_MOV_B64) &&
             mi->in.xkind == ISA_X_SCALAR)) &&
           ptx_ref_is_vreg(d) && ptx_ref_is_vreg(x) &&
           !ptx_ref_is_vreg(mi->ref[PTX_S_GUARD]) && !(mi->flags & PTX_MI_PARTIAL) &&
           ptx_ref_row(d) == 0 && ptx_ref_row(x) == 0 &&
           unit->vregs.at[ptx_ref_vreg(d)].rows == mi->rows[PTX_S_D] &&
           unit->vregs.at[ptx_ref_vreg(x)].rows == mi->rows[PTX_S_D];
}

/* Returns true if the instruction at @position copies one range to the other. From that position on, the two ranges may
 * overlap, because both registers have the same value until one of them is written, and a write starts a new segment. */
static bool same_from(struct alloc *al, uint32_t position, uint32_t a, uint32_t b)
{
    const struct ptx_mi *mi = &al->unit->code.at[position / 2];
    uint32_t d, x;

    /* A partial write would change the value without starting a segment, so the caller could not see it. */
    if (position % 2 == 0 || !is_copy(al->unit, mi) || al->range[a].partial ||
        al->range[b].partial)
        return false;
    d = find(al, ptx_ref_vreg(mi->ref[PTX_S_D]));
    x = find(al, ptx_ref_vreg(mi->ref[PTX_S_X]));
    return (d == a && x == b) || (d == b && x == a);
}

static bool ranges_meet(struct alloc *al, uint32_t va, uint32_t vb)
{
    const struct range *a = &al->range[va], *b = &al->range[vb];
    size_t i = 0, j = 0;

    while (i < a->s.count && j < b->s.count) {
        struct segment x = a->s.at[i], y = b->s.at[j];

        if (x.end > y.start && y.end > x.start &&
            !same_from(al, x.start > y.start ? x.start : y.start, va, vb))
            return true;
        if (x.end <= y.end)
            i++;
        else
            j++;
    }
    return false;
}

/* Merges the segments of two ranges in scratch memory, then copies the result into the larger list of the two. The arena frees
 * no list, so a new list for each merge would waste memory in a chain of coalesced copies. */
static void join_ranges(struct alloc *al, uint32_t into, uint32_t from)
{
    struct range *a = &al->range[into], *b = &al->range[from];
    struct ptx_job *job = al->unit->job;
    size_t i = 0, j = 0;

    al->joined.count = 0;
    while (i < a->s.count || j < b->s.count) {
        size_t n = al->joined.count;
        struct segment next, *last = n != 0 ? &al->joined.at[n - 1] : NULL;

        if (j == b->s.count || (i < a->s.count && a->s.at[i].start < b->s.at[j].start))
            next = a->s.at[i++];
        else
            next = b->s.at[j++];
        if (last != NULL && next.start < last->end && last->end < next.end) {
            /* @next begins with a write inside the last segment: the last segment ends at this write */
            last->end = next.start;
            *PTX_PUSH(job, al->joined) = next;
        } else if (last == NULL || next.start >= last->end) {
            *PTX_PUSH(job, al->joined) = next;
        } /* In the remaining case, @next is inside the last segment and the register has the same value in both. */
    }
    if (b->s.capacity > a->s.capacity) {
        struct segment *at = a->s.at;
        size_t capacity = a->s.capacity;

        a->s.at = b->s.at;
        a->s.capacity = b->s.capacity;
        b->s.at = at;
        b->s.capacity = capacity;
    }
    a->s.count = b->s.count = 0;
    for (i = 0; i < al->joined.count; i++)
        *PTX_PUSH(job, a->s) = al->joined.at[i];
    a->weight += b->weight;
    a->partial |= b->partial;
    a->hint = PTX_NONE;
    al->rep[from] = into;
}

static void coalesce(struct alloc *al)
{
    struct ptx_unit *unit = al->unit;
    uint32_t deepest = 0;

    for (size_t l = 0; l < unit->loops.count; l++)
        deepest = unit->loops.at[l].depth > deepest ? unit->loops.at[l].depth : deepest;
    if (deepest > 4)
        deepest = 4;
    for (uint32_t depth = deepest + 1; depth-- > 0;) { /* inner loops first */
        for (size_t k = 0; k < unit->blocks.count; k++) {
            const struct ptx_block *b = &unit->blocks.at[k];
            uint32_t d = b->loop == PTX_NONE ? 0 : unit->loops.at[b->loop].depth;

            if ((d > deepest ? deepest : d) != depth)
                continue;
            for (uint32_t i = b->first; i < b->first + b->count; i++) {
                const struct ptx_mi *mi = &unit->code.at[i];
                uint32_t to, from;

                if (!is_copy(unit, mi))
                    continue;
                to = find(al, ptx_ref_vreg(mi->ref[PTX_S_D]));
                from = find(al, ptx_ref_vreg(mi->ref[PTX_S_X]));
                if (is_fixed(al, to) || is_fixed(al, from)) {
                    if (!is_fixed(al, from))
                        al->range[from].hint = to;
                    else if (!is_fixed(al, to))
                        al->range[to].hint = from;
                    continue;
                }
                if (unit->vregs.at[to].scalar && !al->join_scalars)
                    continue;
                if (unit->vregs.at[to].level != 0 || unit->vregs.at[from].level != 0) {
                    al->range[to].hint = from;
                    continue; /* pieces of spilled values are not coalesced, because each piece belongs to the spill slot of
                               * its own value */
                }
                if (to == from || unit->vregs.at[to].no_spill || unit->vregs.at[from].no_spill ||
                    al->range[to].s.count + al->range[from].s.count > 4096)
                    continue;
                if (ranges_meet(al, to, from)) {
                    al->range[to].hint = from;
                    continue;
                }
                join_ranges(al, to, from);
            }
        }
    }
}

/* ---- physical registers ---------------------------------------------------- */

static struct row *rows_of(struct alloc *al, uint32_t v, unsigned *count)
{
    bool pred = al->unit->vregs.at[v].rows == 0, scalar = al->unit->vregs.at[v].scalar;

    *count = pred ? ISA_PRED_COUNT : scalar ? ISA_SREG_COUNT : al->vector_rows;
    if (scalar)
        return pred ? al->sp : al->s;
    return pred ? al->p : al->v;
}

static bool row_is_free(struct row *row, const struct range *r)
{
    uint32_t start = r->s.at[0].start;
    size_t i, j = 0;

    if (row->last <= start)
        return true;
    while (row->head < row->s.count && row->s.at[row->head].end <= start)
        row->head++;
    for (i = row->head; i < row->s.count && j < r->s.count;) {
        if (row->s.at[i].end <= r->s.at[j].start)
            i++;
        else if (r->s.at[j].end <= row->s.at[i].start)
            j++;
        else
            return false;
    }
    return true;
}

static void row_take(struct alloc *al, struct row *row, const struct range *r, uint32_t owner)
{
    size_t n = r->s.count, left, old;

    if (row->head == row->s.count)
        row->head = row->s.count = 0;
    old = row->s.count;
    for (size_t i = 0; i < n; i++)
        (void)PTX_PUSH(al->unit->job, row->s);
    left = old; /* Merges from the end. @left: number of segments of @row that are not merged yet; @n: the same number for
                 * the range. */
    for (size_t at = row->s.count; at-- > row->head && n != 0;) {
        if (left > row->head && row->s.at[left - 1].start > r->s.at[n - 1].start) {
            row->s.at[at] = row->s.at[--left];
        } else {
            row->s.at[at] = (struct owned){ r->s.at[n - 1].start, r->s.at[n - 1].end, owner };
            n--;
        }
    }
    if (r->s.at[r->s.count - 1].end > row->last)
        row->last = r->s.at[r->s.count - 1].end;
}

static void row_drop(struct row *row, uint32_t owner)
{
    size_t retained = row->head;

    for (size_t i = row->head; i < row->s.count; i++) {
        if (row->s.at[i].owner != owner)
            row->s.at[retained++] = row->s.at[i];
    }
    row->s.count = retained;
}

static unsigned width_of(const struct alloc *al, uint32_t v)
{
    unsigned rows = al->unit->vregs.at[v].rows;

    return rows == 0 ? 1 : rows;
}

/* Returns true for a register that no range of this function may use, or that a call inside the range changes. */
static bool is_taken(const struct alloc *al, uint32_t v, unsigned row)
{
    const struct ptx_clobber *c = &al->unit->clobber;

    if (al->unit->vregs.at[v].scalar) /* Only kernels use scalar registers (ptx_scalar.c), and no call changes them. */
        return false;
    if (al->unit->vregs.at[v].rows == 0)
        return al->range[v].crosses && c->p >> row & 1;
    return (al->unit->framed && row < RESERVED_ROWS) ||
           (al->range[v].crosses && c->v[row / 64] >> (row % 64) & 1);
}

static bool fits_at(struct alloc *al, uint32_t v, unsigned base)
{
    unsigned n, width = width_of(al, v);
    struct row *rows = rows_of(al, v, &n);

    if (base % width != 0 || base + width > n) /* pairs and quads are aligned */
        return false;
    for (unsigned k = 0; k < width; k++) {
        if (is_taken(al, v, base + k))
            return false;
        if (!row_is_free(&rows[base + k], &al->range[v]))
            return false;
    }
    return true;
}

static void assign(struct alloc *al, uint32_t v, unsigned base)
{
    unsigned n, width = width_of(al, v);
    struct row *rows = rows_of(al, v, &n);

    for (unsigned k = 0; k < width; k++)
        row_take(al, &rows[base + k], &al->range[v], v);
    al->unit->assigned[v] = (uint16_t)base;
}

static void spill(struct alloc *al, uint32_t v)
{
    al->spilled[v] = 1;
    al->any_spilled = true;
    al->unit->assigned[v] = 0xffff;
}

/* Returns the cost of spilling a range, divided by the number of positions at which the spill would free a register. */
static float cost_of(const struct alloc *al, uint32_t v)
{
    const struct range *r = &al->range[v];
    float length = 0;

    if (al->unit->vregs.at[v].no_spill)
        return 1e30f;
    for (size_t i = 0; i < r->s.count; i++)
        length += (float)(r->s.at[i].end - r->s.at[i].start);
    return r->weight / (length + 1) * (float)width_of(al, v) *
           (al->unit->vregs.at[v].level != 0 ? PIECE_WORTH : 1);
}

/* Adds the costs of the ranges in @row that interfere with @r to @cost, until the sum reaches @limit. Returns the sum. */
static float add_row_cost(const struct alloc *al, const struct row *row, const struct range *r,
                          float cost, float limit)
{
    size_t i = row->head, j = 0;
    uint32_t last = PTX_NONE;

    while (i < row->s.count && j < r->s.count && cost < limit) {
        if (row->s.at[i].end <= r->s.at[j].start) {
            i++;
        } else if (r->s.at[j].end <= row->s.at[i].start) {
            j++;
        } else {
            if (row->s.at[i].owner != last)
                cost += al->range[row->s.at[i].owner].cost;
            last = row->s.at[i++].owner;
        }
    }
    return cost;
}

/* Called if no register is free for @v. Spills either @v itself, or the cheapest set of ranges whose registers can be assigned
 * to @v, and then assigns these registers. */
static void make_room(struct alloc *al, uint32_t v)
{
    unsigned n, width = width_of(al, v), best = 0;
    struct row *rows = rows_of(al, v, &n);
    const struct range *r = &al->range[v];
    float best_cost = r->cost; /* if no set of ranges has a lower cost, @v itself is spilled */

    for (unsigned base = 0; base + width <= n; base += width) {
        float cost = 0;

        for (unsigned k = base; k < base + width && cost < best_cost; k++)
            cost = is_taken(al, v, k) ? 4e30f : add_row_cost(al, &rows[k], r, cost, best_cost);
        if (cost < best_cost) {
            best_cost = cost;
            best = base;
        }
    }
    if (al->range[v].cost <= best_cost) {
        if (al->unit->vregs.at[v].no_spill)
            ptx_fail(al->unit->job, al->unit->function->line, LW_EUNSUPP,
                     "'%s' has an instruction that needs more registers than a thread may use: allow more registers "
                     "(.maxnreg, or compile --registers)",
                     al->unit->function->name);
        spill(al, v);
        return;
    }
    for (unsigned k = 0; k < width; k++) {
        struct row *row = &rows[best + k];

        for (;;) {
            size_t i = row->head, j = 0;
            uint32_t owner = PTX_NONE;

            while (owner == PTX_NONE && i < row->s.count && j < r->s.count) {
                if (row->s.at[i].end <= r->s.at[j].start)
                    i++;
                else if (r->s.at[j].end <= row->s.at[i].start)
                    j++;
                else
                    owner = row->s.at[i].owner;
            }
            if (owner == PTX_NONE)
                break;
            unsigned from = al->unit->assigned[owner];

            for (unsigned w = 0; w < width_of(al, owner); w++)
                row_drop(&rows[from + w], owner);
            spill(al, owner);
        }
    }
    assign(al, v, best);
}

/* ---- the scan ------------------------------------------------------------ */

static void sort_by_start(struct alloc *al, uint32_t *at, uint32_t *room, size_t n)
{
    size_t half = n / 2, i = 0, j = half, k = 0;

    if (n < 2)
        return;
    sort_by_start(al, at, room, half);
    sort_by_start(al, at + half, room, n - half);
    while (i < half || j < n) {
        bool left = j == n || (i < half && al->range[at[i]].s.at[0].start <=
                                               al->range[at[j]].s.at[0].start);
        room[k++] = left ? at[i++] : at[j++];
    }
    memcpy(at, room, n * sizeof *at);
}

/* Finds the ranges that are live across a call. */
static void find_crossings(struct alloc *al)
{
    struct ptx_unit *unit = al->unit;
    PTX_LIST(uint32_t) calls = { 0 };

    for (uint32_t i = 0; unit->framed && i < unit->code.count; i++) {
        if (isa_op_info((enum isa_op)unit->code.at[i].in.op)->flags & ISA_F_CALL)
            *PTX_PUSH(unit->job, calls) = 2 * i + 1;
    }
    for (size_t v = 0; calls.count != 0 && v < unit->vregs.count; v++) {
        struct range *r = &al->range[v];

        for (size_t k = 0; k < r->s.count && !r->crosses; k++) {
            size_t low = 0, high = calls.count; /* the first call after the segment's start */

            while (low < high) {
                size_t middle = (low + high) / 2;

                if (calls.at[middle] < r->s.at[k].start)
                    low = middle + 1;
                else
                    high = middle;
            }
            r->crosses = low < calls.count && calls.at[low] < r->s.at[k].end;
        }
    }
}

static void scan_ranges(struct alloc *al)
{
    struct ptx_unit *unit = al->unit;
    size_t n = unit->vregs.count, count = 0;
    uint32_t *order = PTX_ARRAY(unit->job, uint32_t, n + 1);
    uint32_t *room = PTX_ARRAY(unit->job, uint32_t, n + 1);

    find_crossings(al);
    for (uint32_t v = 0; v < n; v++) {
        al->range[v].cost = cost_of(al, v);
        unit->assigned[v] = 0xffff;
        if (is_fixed(al, v)) {
            if (al->range[v].s.count != 0 && unit->vregs.at[v].fixed > RESERVED_ROWS)
                assign(al, v, unit->vregs.at[v].fixed - 1u);
            unit->assigned[v] = (uint16_t)(unit->vregs.at[v].fixed - 1);
        } else if (al->rep[v] == v && al->range[v].s.count != 0) {
            order[count++] = v;
        }
    }
    sort_by_start(al, order, room, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t v = order[i], hint = al->range[v].hint;
        unsigned files, base;

        (void)rows_of(al, v, &files);
        if (hint != PTX_NONE) {
            hint = unit->assigned[find(al, hint)];
            if (hint != 0xffff && fits_at(al, v, hint)) {
                assign(al, v, hint);
                continue;
            }
        }
        for (base = 0; base < files && !fits_at(al, v, base); base += width_of(al, v))
            ;
        if (base < files)
            assign(al, v, base);
        else if (unit->vregs.at[v].scalar)
            al->out_of_scalars = true;
        else
            make_room(al, v);
    }
}

/* Returns how many vector registers this function may use. A limit applies only to kernels without calls. Other functions
 * share registers with their callers and callees (docs/reference/abi.md). */
static unsigned vector_rows(const struct ptx_unit *unit)
{
    const struct ptx_options *options = unit->job->options;
    unsigned limit = unit->function->max_registers;

    if (options != NULL && options->vector_registers != 0)
        limit = options->vector_registers;
    if (limit == 0 || limit > ISA_VREG_COUNT || unit->framed)
        return ISA_VREG_COUNT;
    return limit < PTX_LEAST_REGISTERS ? PTX_LEAST_REGISTERS : limit;
}

void ptx_alloc(struct ptx_unit *unit)
{
    bool join_scalars = true;

    for (int round = 0; round < 32; round++) {
        struct alloc *al = PTX_NEW(unit->job, struct alloc);
        size_t n = unit->vregs.count;

        al->unit = unit;
        al->join_scalars = join_scalars;
        al->vector_rows = vector_rows(unit);
        al->range = PTX_ARRAY(unit->job, struct range, n + 1);
        al->rep = PTX_ARRAY(unit->job, uint32_t, n + 1);
        al->spilled = PTX_ARRAY(unit->job, uint8_t, n + 1);
        unit->assigned = PTX_ARRAY(unit->job, uint16_t, n + 1);
        for (uint32_t v = 0; v < n; v++) {
            al->rep[v] = v;
            al->range[v].hint = PTX_NONE;
        }
        ptx_liveness(unit);
        build_ranges(al);
        coalesce(al);
        scan_ranges(al);
        if (al->out_of_scalars) {
            if (!join_scalars)
                break;
            join_scalars = false;
            continue;
        }
        if (!al->any_spilled) {
            for (uint32_t v = 0; v < n; v++) {
                unsigned top;

                unit->assigned[v] = unit->assigned[find(al, v)];
                if (unit->assigned[v] != 0xffff && unit->vregs.at[v].scalar && unit->sreg_count == 0)
                    unit->sreg_count = 1; /* a count of 0 would mean that the kernel does not use the scalar unit */
                if (unit->assigned[v] == 0xffff || unit->vregs.at[v].rows == 0)
                    continue;
                top = unit->assigned[v] + unit->vregs.at[v].rows;
                unsigned *count = unit->vregs.at[v].scalar ? &unit->sreg_count : &unit->vreg_count;

                if (*count < top)
                    *count = top;
            }
            return;
        }
        for (uint32_t v = 0; v < n; v++)
            al->rep[v] = find(al, v);
        ptx_split(unit, al->rep, al->spilled);
    }
    ptx_fail(unit->job, unit->function->line, LW_EUNSUPP,
             "internal error: no register allocation was found for '%s'", unit->function->name);
}
