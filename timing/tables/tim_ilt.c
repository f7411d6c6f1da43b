/* SPDX-License-Identifier: Apache-2.0 */
/* The ignore list table of dynamic warp resizing. Source: specification of the paper on dynamic warp resizing, section 3.3. */
#include "timing/tables/tim_ilt_priv.h"

#include <stdlib.h>
#include <string.h>

bool tim_ilt_init(struct tim_ilt *ilt, unsigned sets, unsigned ways)
{
    *ilt = (struct tim_ilt){.sets = sets, .ways = ways};
    if (sets == 0)
        return true;
    ilt->way = calloc((size_t)sets * ways, sizeof *ilt->way);
    return ilt->way != NULL;
}

void tim_ilt_fini(struct tim_ilt *ilt)
{
    free(ilt->way);
}

static struct tim_ilt_way *find(struct tim_ilt *ilt, uint64_t number)
{
    struct tim_ilt_way *set = ilt->way + number % (ilt->sets != 0 ? ilt->sets : 1) * ilt->ways;

    for (unsigned i = 0; ilt->sets != 0 && i < ilt->ways; i++)
        if (set[i].valid && set[i].tag == number / ilt->sets)
            return &set[i];
    return NULL;
}

bool tim_ilt_lookup(struct tim_ilt *ilt, uint64_t number)
{
    struct tim_ilt_way *way = find(ilt, number);

    if (way != NULL)
        way->used = ++ilt->uses;
    return way != NULL;
}

bool tim_ilt_insert(struct tim_ilt *ilt, uint64_t number, bool *evicted)
{
    struct tim_ilt_way *set, *victim;

    *evicted = false;
    if (ilt->sets == 0 || tim_ilt_lookup(ilt, number))
        return false;
    victim = set = ilt->way + number % ilt->sets * ilt->ways;
    for (unsigned i = 0; i < ilt->ways && victim->valid; i++)
        if (!set[i].valid || set[i].used < victim->used)
            victim = &set[i];
    *evicted = victim->valid;
    ilt->count += !victim->valid;
    *victim = (struct tim_ilt_way){true, number / ilt->sets, ++ilt->uses};
    return true;
}

void tim_ilt_flush(struct tim_ilt *ilt)
{
    if (ilt->sets != 0)
        memset(ilt->way, 0, (size_t)ilt->sets * ilt->ways * sizeof *ilt->way);
    ilt->count = 0;
}
