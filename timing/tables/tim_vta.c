/* SPDX-License-Identifier: Apache-2.0 */
#include "timing/tables/tim_vta_priv.h"

#include <stdlib.h>

/* The tags of a set are sorted from the youngest to the oldest. A tag is 1 + the number of a line, or 0 if there is none. */
struct tim_vta {
    unsigned entries, ways, sets, shift; /* numbers of entries and of sets per warp slot; the number of a line is its
                                          * address >> shift */
    uint64_t tag[];                      /* [slot][set][way] */
};

struct tim_vta *tim_vta_create(unsigned warps, unsigned entries, unsigned ways, unsigned line)
{
    struct tim_vta *vta = calloc(1, sizeof *vta + (size_t)warps * entries * sizeof vta->tag[0]);

    if (vta == NULL)
        return NULL;
    vta->entries = entries;
    vta->ways = ways < entries ? ways : entries;
    vta->sets = entries / vta->ways;
    vta->shift = lw_lowest(line);
    return vta;
}

void tim_vta_destroy(struct tim_vta *vta)
{
    free(vta);
}

static uint64_t *set_of(struct tim_vta *vta, unsigned warp, uint64_t line)
{
    return vta->tag + (size_t)warp * vta->entries + (line >> vta->shift & (vta->sets - 1)) * vta->ways;
}

/** Returns the way of @tag in @set; vta->ways: the tag is absent. */
static unsigned way_of(const struct tim_vta *vta, const uint64_t *set, uint64_t tag)
{
    unsigned way = 0;

    while (way < vta->ways && set[way] != tag)
        way++;
    return way;
}

/** Removes the tag in way @way from @set, and adds @tag as the youngest. */
static void put_first(uint64_t *set, unsigned way, uint64_t tag)
{
    memmove(set + 1, set, way * sizeof *set);
    set[0] = tag;
}

bool tim_vta_find(struct tim_vta *vta, unsigned warp, uint64_t line, bool take)
{
    uint64_t *set = set_of(vta, warp, line), tag = 1 + (line >> vta->shift);
    unsigned way = way_of(vta, set, tag);

    if (way == vta->ways)
        return false;
    if (take) {
        memmove(set + way, set + way + 1, (vta->ways - 1 - way) * sizeof *set);
        set[vta->ways - 1] = 0;
    } else {
        put_first(set, way, tag);
    }
    return true;
}

void tim_vta_insert(struct tim_vta *vta, unsigned warp, uint64_t line)
{
    uint64_t *set = set_of(vta, warp, line), tag = 1 + (line >> vta->shift);
    unsigned way = way_of(vta, set, tag);

    put_first(set, way == vta->ways ? vta->ways - 1 : way, tag);
}

void tim_vta_clear(struct tim_vta *vta, unsigned warp)
{
    memset(vta->tag + (size_t)warp * vta->entries, 0, vta->entries * sizeof vta->tag[0]);
}

unsigned tim_vta_count(const struct tim_vta *vta, unsigned warp)
{
    unsigned count = 0;

    for (unsigned i = 0; i < vta->entries; i++)
        count += vta->tag[(size_t)warp * vta->entries + i] != 0;
    return count;
}
