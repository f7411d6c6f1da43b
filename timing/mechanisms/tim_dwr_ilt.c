/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic warp resizing: the ignore list table, and the storage in bits of its tables. Source: dynamic warp resizing
 * 3.3, 3.4. */
#include "timing/mechanisms/tim_dwr_priv.h"

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

unsigned tim_dwr_pst_bits(const struct tim_config *config)
{
    return config->core_warps / config->core_group * (1 + 32 + config->core_group);
}

unsigned tim_dwr_ilt_bits(const struct tim_config *config)
{
    unsigned index = config->dwr_ilt_sets == 0 ? 0 : lw_lowest(config->dwr_ilt_sets);

    return config->dwr_ilt_sets * config->dwr_ilt_ways * (1 + 32 - index);
}
