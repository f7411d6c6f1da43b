/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts which lines of global memory the blocks of device launches share with their parents and siblings. The
 * mechanism throttles no warp. A line has 128 bytes. Source: specification of the dynamic parallelism thesis, section 8.1. As in
 * the source, three shares are computed:
 *
 *   parent and child   share of the lines accessed by the children of a block that the block accesses, too
 *   siblings           share of the lines accessed by the siblings of a child that the child accesses, too
 *   parents            only for launches in which a block has children: share of the lines accessed by the other blocks of
 *                      the launch that a block accesses, too
 *
 * Each share is a quotient of two sums over all blocks: of shared lines, and of all lines. The source only says that its
 * values are averages; the quotient of sums is a choice of this model.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_lines_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/** A block that is or was on the core. */
struct member {
    uint32_t launch, parent; /* sequence numbers of its launch and of its parent's launch; parent is 0 if the block has none */
    uint64_t linear, parent_linear;
    struct tim_lines lines;
};
struct family {
    struct tim_mech base;
    struct member *member;
    size_t members, capacity;
    uint32_t *at;         /* [index of the block on the core] 1 + index of its member, or 0 if there is none */
    bool short_of_memory; /* some lines are not counted, because the host had no memory */
};

/* ---- blocks ---------------------------------------------------------------------------------------- */

static void resides(struct tim_mech *mech, const struct tim_mech_block *block, bool begins)
{
    struct family *f = (struct family *)mech;
    size_t i = 0;

    f->at[block->place] = 0;
    if (!begins)
        return;
    while (i < f->members && (f->member[i].launch != block->grid->sequence || f->member[i].linear != block->linear))
        i++; /* a block that returns from a suspension already has a member */
    if (i == f->members && !lw_grow(&f->member, &f->capacity, f->members + 1, sizeof *f->member)) {
        f->short_of_memory = true;
        return;
    }
    if (i == f->members)
        f->member[f->members++] = (struct member){.launch = block->grid->sequence, .linear = block->linear,
                                                  .parent = block->grid->parent.grid, .parent_linear = block->grid->parent.block};
    f->at[block->place] = (uint32_t)i + 1;
}

static void touches(struct tim_mech *mech, unsigned warp, uint64_t line)
{
    struct family *f = (struct family *)mech;
    const uint32_t at = f->at[mech->core->block_of(mech->core->context, warp)];

    if (at != 0)
        f->short_of_memory |= !tim_lines_add(&f->member[at - 1].lines, line / EMU_RECT_LINE);
}

/* ---- shares ------------------------------------------------------------------------------------------ */

struct share {
    uint64_t both, all; /* numbers of shared lines, and of all lines */
};
struct shares {
    struct share parents_children, siblings, parents;
    size_t children;
    bool complete;
};
/** Element of a list of all blocks. It is sorted by `key`, so that siblings, or the blocks of a launch, are adjacent. */
struct listed {
    const struct member *is;
    uint64_t key[2]; /* to compare siblings: launch and number of the parent block; to compare parents: the block's launch and
                      * 0 */
};

static int by_key(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;

    for (unsigned i = 0; i < 2; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

/** For each of the @count blocks, adds to *share the number of lines of the other blocks, and how many of these lines the block
 *  accesses, too. Adds the lines of all blocks to *all. Returns false if memory is short. */
static bool add_group(const struct listed *list, size_t count, struct tim_lines *all, struct share *share)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < list[i].is->lines.capacity; k++)
            if (list[i].is->lines.line[k] != 0 && !tim_lines_add(all, list[i].is->lines.line[k] - 1))
                return false;
    for (size_t i = 0; i < count && count > 1; i++) {
        uint64_t alone = 0;

        for (size_t k = 0; k < list[i].is->lines.capacity; k++)
            alone += list[i].is->lines.line[k] != 0 && tim_lines_times(all, list[i].is->lines.line[k] - 1) == 1;
        share->both += list[i].is->lines.count - alone;
        share->all += all->count - alone;
    }
    return true;
}

static const struct member *find(const struct listed *list, size_t count, uint32_t launch, uint64_t linear)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].is->launch == launch && list[i].is->linear == linear)
            return list[i].is;
    return NULL;
}

static bool has_children(const struct listed *list, size_t count, uint32_t launch)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].is->parent == launch)
            return true;
    return false;
}

/** Sorts @list, and computes shares from it. With @siblings, these are the shares of siblings, and of parents with their
 *  children. Otherwise they are the shares of the blocks of each launch. Returns false if memory is short. */
static bool add_groups(struct listed *list, size_t count, bool siblings, struct shares *out)
{
    bool fine = true;

    for (size_t i = 0; i < count; i++) {
        const struct member *m = list[i].is;

        list[i].key[0] = siblings ? m->parent : m->launch;
        list[i].key[1] = siblings ? m->parent_linear : 0;
    }
    qsort(list, count, sizeof *list, by_key);
    for (size_t from = 0, to; from < count && fine; from = to) {
        struct tim_lines all = {0};

        for (to = from; to < count && by_key(&list[from], &list[to]) == 0;)
            to++;
        if (siblings ? list[from].key[0] == 0 : !has_children(list, count, (uint32_t)list[from].key[0]))
            continue;
        fine = add_group(&list[from], to - from, &all, siblings ? &out->siblings : &out->parents);
        const struct member *parent = siblings ? find(list, count, (uint32_t)list[from].key[0], list[from].key[1]) : NULL;
        if (parent != NULL) {
            out->parents_children.both += tim_lines_common(&parent->lines, &all);
            out->parents_children.all += all.count;
        }
        out->children += siblings ? to - from : 0;
        tim_lines_fini(&all);
    }
    return fine;
}

static void compute(struct tim_mech *const *mech, unsigned cores, struct shares *out)
{
    size_t count = 0;
    struct listed *list;

    *out = (struct shares){.complete = true};
    for (unsigned c = 0; c < cores; c++) {
        count += ((const struct family *)mech[c])->members;
        out->complete &= !((const struct family *)mech[c])->short_of_memory;
    }
    list = calloc(count + 1, sizeof *list);
    if (list == NULL) {
        out->complete = false;
        return;
    }
    count = 0;
    for (unsigned c = 0; c < cores; c++)
        for (size_t i = 0; i < ((const struct family *)mech[c])->members; i++)
            list[count++].is = &((const struct family *)mech[c])->member[i];
    out->complete &= add_groups(list, count, true, out) && add_groups(list, count, false, out);
    free(list);
}

/* ---- hooks, reports -------------------------------------------------------------------------- */

static bool is_on(const struct tim_config *config)
{
    return config->family_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct family *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->at = calloc(core->config->core_blocks, sizeof *f->at);
    if (f->at != NULL)
        return &f->base;
    free(f);
    return NULL;
}

static void destroy(struct tim_mech *mech)
{
    struct family *f = (struct family *)mech;

    for (size_t i = 0; i < f->members; i++)
        tim_lines_fini(&f->member[i].lines);
    free(f->member);
    free(f->at);
    free(f);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct family *f = (const struct family *)mech;

    lw_printf(out, "blocks that have been on the core: %zu\n", f->members);
    for (size_t i = 0; i < f->members; i++) {
        const struct member *m = &f->member[i];

        lw_printf(out, "  block %" PRIu64 " of launch %u: %zu lines", m->linear, m->launch, m->lines.count);
        if (m->parent != 0)
            lw_printf(out, ", launched by block %" PRIu64 " of launch %u", m->parent_linear, m->parent);
        lw_put(out, "\n");
    }
}

static void report(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out)
{
    struct shares s;

    compute(mech, cores, &s);
    const struct {
        const char *name, *words;
        struct share share;
    } rows[] = {
        {"parents_children", "lines of a block's children that the block also touches", s.parents_children},
        {"siblings", "lines of a child's siblings that the child also touches", s.siblings},
        {"parents", "lines of a parent's neighbour blocks that the parent also touches", s.parents},
    };
    if (json)
        lw_printf(out, "\"family\": {\"children\": %zu, \"complete\": %s", s.children, s.complete ? "true" : "false");
    else
        lw_printf(out, "shared lines of %zu blocks of device launches%s\n", s.children, s.complete ? "" : ", of "
                                                                                                          "which "
                                                                                                          "some are "
                                                                                                          "missing "
                                                                                                          "because "
                                                                                                          "memory "
                                                                                                          "was short");
    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        const double share = rows[i].share.all == 0 ? 0 : (double)rows[i].share.both / (double)rows[i].share.all;

        if (json)
            lw_printf(out, ", \"%s\": {\"both\": %" PRIu64 ", \"all\": %" PRIu64 ", \"share\": %.6g}", rows[i].name,
                      rows[i].share.both, rows[i].share.all, share);
        else
            lw_printf(out, "  %-64s %12" PRIu64 " of %" PRIu64 ", %.1f %%\n", rows[i].words, rows[i].share.both, rows[i].share.all,
                      100 * share);
    }
    lw_put(out, json ? "}" : "");
}

const struct tim_mechanism tim_family = {
    .name = "family", .summary = "counts the lines that blocks of device launches share with their parents and "
                                 "siblings",
    .is_on = is_on, .create = create, .destroy = destroy, .resides = resides, .touches = touches, .show = show, .report = report,
};
