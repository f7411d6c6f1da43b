/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: ranges of global memory that the host has allocated and not written. */
#include "check/race/chk_race_priv.h"

/** Returns the first range whose end is greater than @address. */
static size_t find(const struct chk_race *race, uint64_t address)
{
    size_t low = 0, high = race->shadow.uninit_count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (race->shadow.uninit[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** Inserts a range. Returns false if memory is short. */
static bool insert(struct chk_race *race, size_t at, uint64_t first, uint64_t end)
{
    if (!lw_grow(&race->shadow.uninit, &race->shadow.uninit_capacity, race->shadow.uninit_count + 1, sizeof *race->shadow.uninit)) {
        race->chk->short_of_memory = true;
        return false;
    }
    memmove(race->shadow.uninit + at + 1, race->shadow.uninit + at, (race->shadow.uninit_count - at) * sizeof *race->shadow.uninit);
    race->shadow.uninit[at] = (struct race_uninit){first, end};
    race->shadow.uninit_count++;
    return true;
}

static void take(struct chk_race *race, uint64_t first, uint64_t end)
{
    size_t i = find(race, first), k;

    if (i < race->shadow.uninit_count && race->shadow.uninit[i].first < first) {
        const uint64_t last = race->shadow.uninit[i].end;

        race->shadow.uninit[i++].end = first;
        if (last > end) {
            (void)insert(race, i, end, last); /* if memory is short, the range is treated as written */
            return;
        }
    }
    for (k = i; k < race->shadow.uninit_count && race->shadow.uninit[k].end <= end;)
        k++;
    if (k != i)
        memmove(race->shadow.uninit + i, race->shadow.uninit + k, (race->shadow.uninit_count - k) * sizeof *race->shadow.uninit);
    race->shadow.uninit_count -= k - i;
    if (i < race->shadow.uninit_count && race->shadow.uninit[i].first < end)
        race->shadow.uninit[i].first = end;
}

void race_uninit_set(struct chk_race *race, uint64_t address, uint64_t bytes, bool fresh)
{
    take(race, address, address + bytes);
    if (fresh && bytes != 0)
        (void)insert(race, find(race, address), address, address + bytes);
}

bool race_is_uninitialised(const struct chk_race *race, uint64_t address, uint64_t bytes)
{
    const size_t i = find(race, address);

    return i < race->shadow.uninit_count && race->shadow.uninit[i].first < address + bytes;
}
