/* SPDX-License-Identifier: Apache-2.0 */
/* Races: global memory that the host has made and not written, in ranges. */
#include "check/race/chk_race_priv.h"

/** The first range that ends behind @address. */
static size_t find(const struct chk_race *race, uint64_t address)
{
    size_t low = 0, high = race->fresh_count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (race->fresh[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** False: no memory. */
static bool insert(struct chk_race *race, size_t at, uint64_t first, uint64_t end)
{
    if (!lw_grow(&race->fresh, &race->fresh_room, race->fresh_count + 1, sizeof *race->fresh)) {
        race->short_of_memory = true;
        return false;
    }
    memmove(race->fresh + at + 1, race->fresh + at, (race->fresh_count - at) * sizeof *race->fresh);
    race->fresh[at] = (struct race_uninit){first, end};
    race->fresh_count++;
    return true;
}

static void take(struct chk_race *race, uint64_t first, uint64_t end)
{
    size_t i = find(race, first), k;

    if (i < race->fresh_count && race->fresh[i].first < first) {
        const uint64_t last = race->fresh[i].end;

        race->fresh[i++].end = first;
        if (last > end) {
            (void)insert(race, i, end, last); /* without memory it counts as written */
            return;
        }
    }
    for (k = i; k < race->fresh_count && race->fresh[k].end <= end;)
        k++;
    if (k != i)
        memmove(race->fresh + i, race->fresh + k, (race->fresh_count - k) * sizeof *race->fresh);
    race->fresh_count -= k - i;
    if (i < race->fresh_count && race->fresh[i].first < end)
        race->fresh[i].first = end;
}

void race_uninit_set(struct chk_race *race, uint64_t address, uint64_t bytes, bool fresh)
{
    take(race, address, address + bytes);
    if (fresh && bytes != 0)
        (void)insert(race, find(race, address), address, address + bytes);
}

bool race_mark_uninitialised(const struct chk_race *race, uint64_t address, uint64_t bytes)
{
    const size_t i = find(race, address);

    return i < race->fresh_count && race->fresh[i].first < address + bytes;
}
