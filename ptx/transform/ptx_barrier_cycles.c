/* SPDX-License-Identifier: Apache-2.0 */
/* Removes regions whose lanes could wait for each other in a cycle. A lane that waits at the end of one region may also be a
 * member of another region that contains this end. If each of two regions contains the end of the other region, or if three
 * or more regions contain each other's ends in a cycle, the lanes of these regions wait for each other. Structured control
 * flow has no such regions, because the end of an outer region is never inside an inner one; jumps between the branch sides
 * of a loop can create them. Regions are removed until there is no cycle. The lanes of a removed region reconverge at the
 * end of the next outer region. */
#include "ptx/ptx_priv.h"

enum { MOST_LEFT_OUT = 64 }; /* number of regions that are removed one by one; after that all remaining regions are removed
                              * together */

struct cycle_search {
    struct ptx_unit *unit;
    uint32_t *holders; /* by block that ends regions: number of regions in the search that contain the block */
    uint32_t *ending;  /* by block: number of regions in the search that end in the block */
    uint8_t *in;       /* by region: 1 if the region is in the search, so that it may be part of a cycle */
    uint32_t *queue;
};

static bool exists(const struct ptx_region *g)
{
    return !g->given_up;
}

/* Removes from the search the regions to which no cycle leads, outer regions first. Returns the number of remaining regions. */
static size_t trim_from_outside(struct cycle_search *c)
{
    const struct ptx_unit *unit = c->unit;
    size_t n = unit->regions.count, count = 0, left = 0;
    uint32_t *first = c->ending; /* Here, c->ending contains the heads of lists: for each block, 1 + the first region that ends
                                  * there. */
    uint32_t *next = PTX_ARRAY(unit->job, uint32_t, n + 1);

    memset(c->holders, 0, unit->blocks.count * sizeof *c->holders);
    memset(first, 0, unit->blocks.count * sizeof *first);
    for (size_t i = 0; i < n; i++) {
        const struct ptx_region *g = &unit->regions.at[i];

        c->in[i] = exists(g);
        if (!exists(g))
            continue;
        left++;
        next[i] = first[g->join];
        first[g->join] = (uint32_t)i + 1;
        for (size_t k = 0; k < g->inside.count; k++)
            c->holders[g->inside.at[k]]++;
    }
    for (uint32_t i = 0; i < n; i++)
        if (c->in[i] && c->holders[unit->regions.at[i].join] == 0)
            c->queue[count++] = i;
    for (size_t done = 0; done < count; done++) {
        const struct ptx_region *g = &unit->regions.at[c->queue[done]];

        c->in[c->queue[done]] = false;
        left--;
        for (size_t k = 0; k < g->inside.count; k++) {
            uint32_t b = g->inside.at[k];

            if (--c->holders[b] != 0)
                continue;
            for (uint32_t i = first[b]; i != 0; i = next[i - 1])
                c->queue[count++] = i - 1;
        }
    }
    return left;
}

/* Removes from the search the regions that lead to no cycle. */
static void trim_from_inside(struct cycle_search *c)
{
    const struct ptx_unit *unit = c->unit;
    bool changed = true;

    memset(c->ending, 0, unit->blocks.count * sizeof *c->ending);
    for (size_t i = 0; i < unit->regions.count; i++)
        c->ending[unit->regions.at[i].join] += c->in[i];
    while (changed) {
        changed = false;
        for (size_t i = 0; i < unit->regions.count; i++) {
            const struct ptx_region *g = &unit->regions.at[i];
            bool leads = false;

            for (size_t k = 0; c->in[i] && k < g->inside.count && !leads; k++)
                leads = c->ending[g->inside.at[k]] != 0;
            if (!c->in[i] || leads)
                continue;
            c->in[i] = false;
            c->ending[g->join]--;
            changed = true;
        }
    }
}

void ptx_barrier_cycles(struct ptx_unit *unit)
{
    struct cycle_search c = { .unit = unit };

    if (unit->regions.count < 2)
        return;
    c.holders = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    c.ending = PTX_ARRAY(unit->job, uint32_t, unit->blocks.count);
    c.in = PTX_ARRAY(unit->job, uint8_t, unit->regions.count);
    c.queue = PTX_ARRAY(unit->job, uint32_t, unit->regions.count);
    for (unsigned round = 0; trim_from_outside(&c) != 0; round++) {
        struct ptx_region *least = NULL;

        trim_from_inside(&c);
        for (size_t i = 0; i < unit->regions.count; i++) {
            struct ptx_region *g = &unit->regions.at[i];

            if (!c.in[i])
                continue;
            if (round == MOST_LEFT_OUT)
                g->given_up = true;
            /* prefers regions within a loop iteration, which are optional, then small regions */
            if (least == NULL || (g->scope != PTX_NONE) > (least->scope != PTX_NONE) ||
                ((g->scope != PTX_NONE) == (least->scope != PTX_NONE) && g->size < least->size))
                least = g;
        }
        least->given_up = unit->lossy = true;
    }
}
