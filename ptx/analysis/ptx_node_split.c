/* SPDX-License-Identifier: Apache-2.0 */
/* Node splitting. A loop with several entries (a switch or a goto leads into it) has no header, and so no place for a
 * bssy. One of its entries is chosen as the header. The blocks that the other entries reach before the header are
 * duplicated: one copy for paths from outside, one for the loop. The step is repeated for the blocks of both copies
 * without the header, until every loop has one entry. Source: node splitting (Cocke and Miller 1969), applied to parts
 * of a strongly connected component instead of single nodes (Janssen and Corporaal 1997). */
#include "ptx/ptx_priv.h"

enum {
    /* A function may grow to MOST_TIMES times its instructions, plus MOST_MORE instructions. */
    MOST_TIMES = 8,
    MOST_MORE = 4000,
    MOST_HEADERS = 16,   /* number of entries of a loop that are tried as its header */
    MOST_VISITS = 1 << 24
};

struct node {
    uint32_t set, number, low; /* for Tarjan's search of strongly connected components */
    uint32_t part;             /* stamp of the component that contains the block */
    uint32_t seen;             /* stamp of the last traversal that reached the block */
    uint32_t copy;             /* 1 + the duplicate of the block, or 0 if the block has no duplicate */
    bool waiting, entry;
};
struct slice {
    uint32_t first, count; /* range of elements of work.members */
};
struct work {
    struct ptx_unit *unit;
    PTX_LIST(struct node) nodes;      /* one element for each block */
    PTX_LIST(uint32_t) members, path, stack, order;
    PTX_LIST(struct slice) sets, parts;
    PTX_LIST(uint32_t) fresh;         /* duplicates in the order of their creation */
    uint32_t copies;                  /* number of duplicated parts */
    uint32_t loc, new_loc;            /* source location that was copied last, and its copy */
    uint32_t stamp, *home;            /* home, by virtual register: 1 + the only block that uses the register, or SEVERAL */
    uint32_t home_count;
    size_t room, visits;
};
enum { SEVERAL = UINT32_MAX };

static _Noreturn void give_up(struct work *w, uint32_t header)
{
    const struct ptx_unit *unit = w->unit;
    const struct ptx_block *b = &unit->blocks.at[header];
    uint32_t line = b->count != 0 ? unit->code.at[b->first].line : b->line;
    const char *label = b->label != PTX_NONE ? unit->function->label_names.at[b->label] : NULL;

    ptx_fail(unit->job, line != 0 ? line : unit->function->line, LW_EUNSUPP,
             "the control flow of '%s' has too many jumps into the middle of loops%s%s: removing them would make the "
             "code more than %d times as large; enter loops only at their start",
             unit->function->name, label != NULL ? ", such as at " : "", label != NULL ? label : "",
             MOST_TIMES);
}

static void visit(struct work *w, size_t count, uint32_t header)
{
    w->visits += count;
    if (w->visits > MOST_VISITS)
        give_up(w, header);
}

static struct node *node_of(struct work *w, uint32_t block)
{
    while (w->nodes.count <= block)
        *PTX_PUSH(w->unit->job, w->nodes) = (struct node){ 0 };
    return &w->nodes.at[block];
}

static void push_set(struct work *w, uint32_t first)
{
    if (w->members.count - first > 1)
        *PTX_PUSH(w->unit->job, w->sets) =
            (struct slice){ first, (uint32_t)w->members.count - first };
    else
        w->members.count = first;
}

/* ---- components --------------------------------------------------------------------- */

/* Finds the strongly connected components of more than one block in a set. */
static void find_parts(struct work *w, struct slice set)
{
    struct ptx_unit *unit = w->unit;
    uint32_t id = ++w->stamp, count = 0;

    for (uint32_t i = 0; i < set.count; i++) {
        struct node *n = node_of(w, w->members.at[set.first + i]);

        n->set = id;
        n->number = n->low = 0;
        n->waiting = false;
    }
    w->parts.count = w->path.count = 0;
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t root = w->members.at[set.first + i];

        if (w->nodes.at[root].number != 0)
            continue;
        *PTX_PUSH(unit->job, w->path) = root;
        *PTX_PUSH(unit->job, w->order) = 0;
        while (w->path.count != 0) {
            uint32_t b = w->path.at[w->path.count - 1], k = w->order.at[w->path.count - 1]++;
            struct node *n = &w->nodes.at[b];

            if (k == 0) {
                n->number = n->low = ++count;
                n->waiting = true;
                *PTX_PUSH(unit->job, w->stack) = b;
            }
            if (k < unit->blocks.at[b].succ_count) {
                uint32_t to = unit->blocks.at[b].succ[k];
                const struct node *t = node_of(w, to);

                n = &w->nodes.at[b];
                if (t->set != id)
                    continue;
                if (t->number == 0) {
                    *PTX_PUSH(unit->job, w->path) = to;
                    *PTX_PUSH(unit->job, w->order) = 0;
                } else if (t->waiting && t->number < n->low) {
                    n->low = t->number;
                }
                continue;
            }
            w->path.count--;
            w->order.count--;
            if (w->path.count != 0) {
                struct node *up = &w->nodes.at[w->path.at[w->path.count - 1]];

                up->low = n->low < up->low ? n->low : up->low;
            }
            if (n->low != n->number)
                continue;
            struct slice part = { (uint32_t)w->members.count, 0 };
            uint32_t member;

            do {
                member = w->stack.at[--w->stack.count];
                w->nodes.at[member].waiting = false;
                *PTX_PUSH(unit->job, w->members) = member;
                part.count++;
            } while (member != b);
            if (part.count > 1)
                *PTX_PUSH(unit->job, w->parts) = part;
            else
                w->members.count--;
        }
    }
}

/* ---- splitting ---------------------------------------------------------------------- */

/* Finds the blocks that the entries other than @header reach before @header, and stores them in w->path. Returns their
 * instruction count. */
static size_t reach_past(struct work *w, struct slice part, uint32_t header)
{
    struct ptx_unit *unit = w->unit;
    uint32_t stamp = ++w->stamp;
    size_t size = 0, done = 0;

    w->path.count = 0;
    for (uint32_t i = 0; i < part.count; i++) {
        uint32_t b = w->members.at[part.first + i];

        if (w->nodes.at[b].entry && b != header) {
            w->nodes.at[b].seen = stamp;
            *PTX_PUSH(unit->job, w->path) = b;
        }
    }
    for (; done < w->path.count; done++) {
        const struct ptx_block *b = &unit->blocks.at[w->path.at[done]];

        size += b->count + 1;
        for (unsigned k = 0; k < b->succ_count; k++) {
            struct node *to = &w->nodes.at[b->succ[k]];

            if (b->succ[k] == header || to->part != w->nodes.at[header].part || to->seen == stamp)
                continue;
            to->seen = stamp;
            *PTX_PUSH(unit->job, w->path) = b->succ[k];
        }
    }
    visit(w, done, header);
    return size;
}

/* Finds the registers that only one block uses (temporaries). A duplicate of the block gets its own temporaries, so that
 * each register still has one definition, which ptx_opt() requires. */
static void find_homes(struct work *w)
{
    const struct ptx_unit *unit = w->unit;

    w->home_count = (uint32_t)unit->vregs.count;
    w->home = PTX_ARRAY(unit->job, uint32_t, unit->vregs.count + 1);
    for (uint32_t i = 0; i < unit->blocks.count; i++) {
        const struct ptx_block *b = &unit->blocks.at[i];

        for (uint32_t k = b->first; k < b->first + b->count; k++) {
            const struct ptx_mi *mi = &unit->code.at[k];

            for (unsigned s = 0; s < PTX_SLOT_COUNT; s++) {
                uint32_t v = ptx_ref_is_vreg(mi->ref[s]) ? ptx_ref_vreg(mi->ref[s]) : PTX_NONE;

                if (v == PTX_NONE)
                    continue;
                /* If the block reads the register before it writes the register, the value may come from another iteration
                 * or block, so the register is no temporary of the block. */
                if (w->home[v] == 0)
                    w->home[v] = ptx_mi_writes(mi, (enum ptx_slot)s) ? i + 1 : SEVERAL;
                else if (w->home[v] != i + 1)
                    w->home[v] = SEVERAL;
            }
        }
    }
}

static ptx_ref renamed(struct work *w, ptx_ref ref, uint32_t block, uint32_t first, uint32_t *names)
{
    struct ptx_unit *unit = w->unit;
    uint32_t v = ptx_ref_is_vreg(ref) ? ptx_ref_vreg(ref) : PTX_NONE;

    if (v == PTX_NONE || v >= w->home_count || w->home[v] != block + 1 ||
        unit->vregs.at[v].origin != PTX_NONE || unit->vregs.at[v].fixed != 0)
        return ref;
    if (names[v] < first) {
        const struct ptx_vreg old = unit->vregs.at[v];

        *ptx_vreg_new(unit, old.rows) = old;
        names[v] = (uint32_t)unit->vregs.count - 1;
    }
    return ptx_ref_of(names[v], ptx_ref_row(ref));
}

/* Appends a location in the memory of the module, which outlives the memory of the function. */
static void push_loc(struct ptx_unit *unit, const struct ptx_loc *loc)
{
    struct ptx_module *module = unit->module;

    if (module->locs.count == module->locs.capacity) {
        size_t room = module->locs.capacity * 2 + 8;
        struct ptx_loc *more = lw_arena_alloc(&unit->job->module, room * sizeof *more);

        if (more == NULL)
            ptx_fail(unit->job, 0, LW_ENOMEM, "the host has no memory for the translation");
        if (module->locs.count != 0)
            memcpy(more, module->locs.at, module->locs.count * sizeof *more);
        module->locs.at = more;
        module->locs.capacity = room;
    }
    module->locs.at[module->locs.count++] = *loc;
}

/* Returns the location for the duplicate of an instruction whose location is @loc: a copy of @loc that names the number of
 * the duplicate. Later passes do not change the location of an instruction, so debug information can find duplicates. */
static uint32_t copied_loc(struct work *w, uint32_t loc)
{
    struct ptx_module *module = w->unit->module;
    struct ptx_loc copy;

    if (loc == 0)
        return 0;
    if (loc != w->loc || module->locs.at[w->new_loc].copy != w->copies) {
        copy = module->locs.at[loc];
        copy.copy = w->copies;
        push_loc(w->unit, &copy);
        w->loc = loc;
        w->new_loc = (uint32_t)module->locs.count - 1;
    }
    return w->new_loc;
}

static void copy_block(struct work *w, uint32_t from, uint32_t *names)
{
    struct ptx_unit *unit = w->unit;
    uint32_t to = (uint32_t)(ptx_block_new(unit) - unit->blocks.at);
    uint32_t first = (uint32_t)unit->vregs.count;
    struct ptx_block *b = &unit->blocks.at[to];

    *b = unit->blocks.at[from];
    b->first = (uint32_t)unit->code.count;
    b->pred = NULL;
    b->pred_count = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        struct ptx_mi mi = unit->code.at[unit->blocks.at[from].first + i];

        for (unsigned s = 0; s < PTX_SLOT_COUNT; s++)
            mi.ref[s] = renamed(w, mi.ref[s], from, first, names);
        mi.loc = copied_loc(w, mi.loc);
        *PTX_PUSH(unit->job, unit->code) = mi;
    }
    if (b->end == PTX_END_BRANCH)
        b->guard = renamed(w, b->guard, from, first, names);
    b->loc = copied_loc(w, b->loc);
    (void)node_of(w, to);
    w->nodes.at[from].copy = to + 1;
    *PTX_PUSH(unit->job, w->fresh) = to;
}

/* Duplicates the blocks of w->path, and redirects the edges from outside to the duplicates. */
static void split(struct work *w, uint32_t header, uint32_t *names)
{
    struct ptx_unit *unit = w->unit;
    size_t count = w->path.count, old = unit->blocks.count;
    uint32_t part = w->nodes.at[header].part;

    w->copies++;
    for (size_t i = 0; i < count; i++)
        copy_block(w, w->path.at[i], names);
    for (uint32_t b = 0; b < unit->blocks.count; b++) {
        struct ptx_block *block = &unit->blocks.at[b];

        for (unsigned k = 0; k < block->succ_count && (b >= old || w->nodes.at[b].part != part); k++)
            if (w->nodes.at[block->succ[k]].copy != 0)
                block->succ[k] = w->nodes.at[block->succ[k]].copy - 1;
    }
    if (w->nodes.at[unit->entry].copy != 0)
        unit->entry = w->nodes.at[unit->entry].copy - 1;
    for (size_t i = unit->wraps.count; i-- > 0;) {
        struct ptx_wrap wrap = unit->wraps.at[i];

        if (w->nodes.at[wrap.start].copy == 0)
            continue;
        wrap.start = w->nodes.at[wrap.start].copy - 1;
        wrap.body = w->nodes.at[wrap.body].copy - 1;
        wrap.join = w->nodes.at[wrap.join].copy - 1;
        *PTX_PUSH(unit->job, unit->wraps) = wrap;
    }
    uint32_t first = (uint32_t)w->members.count;

    for (size_t i = 0; i < count; i++) {
        struct node *n = &w->nodes.at[w->path.at[i]];

        *PTX_PUSH(unit->job, w->members) = n->copy - 1;
        n->copy = 0;
    }
    push_set(w, first);
}

static void take_part(struct work *w, struct slice part)
{
    struct ptx_unit *unit = w->unit;
    uint32_t stamp = ++w->stamp, header = PTX_NONE, entries = 0;
    size_t least = SIZE_MAX;

    for (uint32_t i = 0; i < part.count; i++) {
        struct node *n = node_of(w, w->members.at[part.first + i]);

        n->part = stamp;
        n->entry = false;
    }
    for (uint32_t b = 0; b < unit->blocks.count; b++) {
        const struct ptx_block *block = &unit->blocks.at[b];

        if (block->rpo == PTX_NONE || node_of(w, b)->part == stamp)
            continue;
        for (unsigned k = 0; k < block->succ_count; k++)
            if (node_of(w, block->succ[k])->part == stamp)
                w->nodes.at[block->succ[k]].entry = true;
    }
    if (node_of(w, unit->entry)->part == stamp)
        w->nodes.at[unit->entry].entry = true;
    visit(w, unit->blocks.count, w->members.at[part.first]);
    for (uint32_t i = 0; i < part.count; i++)
        entries += w->nodes.at[w->members.at[part.first + i]].entry;
    for (uint32_t i = 0, tried = 0; i < part.count && tried < MOST_HEADERS; i++) {
        uint32_t b = w->members.at[part.first + i];
        size_t size;

        if (!w->nodes.at[b].entry)
            continue;
        tried++;
        size = entries == 1 ? 0 : reach_past(w, part, b);
        if (size < least) {
            least = size;
            header = b;
        }
    }
    if (entries > 1) {
        size_t size = reach_past(w, part, header);

        if (size > w->room)
            give_up(w, header);
        w->room -= size;
        if (w->home == NULL)
            find_homes(w);
        split(w, header, PTX_ARRAY(unit->job, uint32_t, w->home_count + 1));
    }
    uint32_t first = (uint32_t)w->members.count;

    for (uint32_t i = 0; i < part.count; i++) {
        uint32_t member = w->members.at[part.first + i];

        if (member != header)
            *PTX_PUSH(unit->job, w->members) = member;
    }
    push_set(w, first);
}

void ptx_reduce(struct ptx_unit *unit)
{
    struct work w = { .unit = unit,
                      .room = unit->code.count * (MOST_TIMES - 1) + MOST_MORE };

    for (uint32_t b = 0; b < unit->blocks.count; b++)
        if (unit->blocks.at[b].rpo != PTX_NONE)
            *PTX_PUSH(unit->job, w.members) = b;
    push_set(&w, 0);
    while (w.sets.count != 0) {
        struct slice set = w.sets.at[--w.sets.count];

        find_parts(&w, set);
        visit(&w, set.count, w.members.at[set.first]);
        /* take_part() appends the duplicates, and the blocks of the part without its header, to w.sets, which the outer loop
         * processes */
        for (size_t i = 0; i < w.parts.count; i++)
            take_part(&w, w.parts.at[i]);
    }
    /* Puts the duplicates before the last block of the order, which stays last. */
    for (size_t i = 0; i < w.fresh.count; i++) {
        uint32_t last = unit->order.at[unit->order.count - 1];

        unit->order.at[unit->order.count - 1] = w.fresh.at[i];
        *PTX_PUSH(unit->job, unit->order) = last;
    }
}
