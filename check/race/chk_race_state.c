/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: the state of an allocation in global memory during one launch by the host.
 *
 *                    first access of a launch
 *                  /                          \
 *       no kernel has written it         otherwise
 *                |                             |
 *                v        another access       v    all cells of a page read by
 *            DEFERRED ------------------> SHADOWED ----------------------> FILTERED
 *                |        list full         |  ^    unordered blocks      (a page)
 *                |                          |  |                              |
 *                |          scattered store |  | access that packed cells     |
 *                |                          v  | cannot hold; free            |
 *                +---------------------->  PACKED       SHADOWED <------------+
 *                   scattered store                       write, or another reader
 *
 * DEFERRED: reads are stored in a list (chk_race_defer.c), which each transition replays. SHADOWED: each page has its
 * own list, or has its shadow (chk_race_shadow.c). PACKED: a word has 16 bytes of shadow (chk_race_shadow_packed.c);
 * each transition unpacks them. FILTERED is the state of a page of a SHADOWED allocation, stored in filter.page_stamp:
 * its reads are not reported (chk_race_filter_reads.c). A launch by the host starts in DEFERRED again if no other
 * launch is running.
 */
#include "check/race/chk_race_priv.h"

#include <assert.h>
#include <stdlib.h>

void race_transition(const struct chk_race *race, struct race_range *r, enum race_state to, enum race_why why)
{
    enum { LAUNCH = 1 << RACE_AT_LAUNCH, ACCESS = 1 << RACE_AT_ACCESS, FULL = 1 << RACE_AT_LIST_FULL,
           SCATTERED = 1 << RACE_AT_SCATTERED_STORE, UNPACKABLE = 1 << RACE_AT_UNPACKABLE };
    static const uint8_t table[3][3] = {
        /* new state: SHADOWED DEFERRED PACKED */
        [RACE_SHADOWED] = {LAUNCH,                 LAUNCH, SCATTERED},
        [RACE_DEFERRED] = {LAUNCH | ACCESS | FULL, LAUNCH, SCATTERED},
        [RACE_PACKED]   = {LAUNCH | UNPACKABLE,    0,      0},
    };

    assert((table[r->state][to] >> why & 1) != 0);
    (void)table;
    (void)why;
    r->state = to;
    r->epoch = race->shadow.epoch;
}

struct race_range *race_range_at(struct chk_race *race, uint64_t offset)
{
    struct race_range *r = race->ranges.last;
    struct emu_allocation a;
    bool inside;

    if (r != NULL && offset >= r->first && offset < r->end)
        return r;
    for (unsigned i = 0; i < race->ranges.count; i++) {
        r = &race->ranges.table[i];
        if (offset >= r->first && offset < r->end)
            return race->ranges.last = r;
    }
    if (race->ranges.count == RACE_MOST_RANGES || offset >> 36 != 0 ||
        !emu_allocation_at(race->machine, ISA_GLOBAL_BASE + offset, &a, &inside) || !inside ||
        a.flags & (EMU_ALLOC_HEAP | EMU_ALLOC_FREED) || a.size_bytes >> 34 != 0)
        return NULL;
    if (race->ranges.table == NULL)
        race->ranges.table = malloc(RACE_MOST_RANGES * sizeof *race->ranges.table);
    if (race->ranges.table == NULL)
        return NULL; /* if memory for the table is short, the access is checked in full */
    r = &race->ranges.table[race->ranges.count++];
    *r = (struct race_range){.first = a.address - ISA_GLOBAL_BASE,
                             .end = a.address - ISA_GLOBAL_BASE + a.size_bytes};
    return race->ranges.last = r;
}

void race_range_begins(const struct chk_race *race, struct race_range *r)
{
    bool untouched = !r->written;

    for (uint64_t page = r->first >> RACE_PAGE_SHIFT;
         untouched && page <= (r->end - 1) >> RACE_PAGE_SHIFT; page++)
        untouched = race->shadow.valid_page[page] == NULL;
    race_transition(race, r, untouched ? RACE_DEFERRED : RACE_SHADOWED, RACE_AT_LAUNCH);
}

void race_range_page_shadowed(struct chk_race *race, uint64_t offset)
{
    const uint64_t page = offset >> RACE_PAGE_SHIFT;

    for (unsigned i = 0; i < race->ranges.count; i++) {
        struct race_range *r = &race->ranges.table[i];

        if (page < r->first >> RACE_PAGE_SHIFT || page > (r->end - 1) >> RACE_PAGE_SHIFT)
            continue;
        race_deferred_allocation_flush(race, r->first);
        if (r->state == RACE_DEFERRED && r->epoch == race->shadow.epoch) /* In all other cases each page has its own
                                                                          * state. */
            race_transition(race, r, RACE_SHADOWED, RACE_AT_ACCESS);
    }
}

void race_range_ends(struct chk_race *race, uint64_t offset, uint64_t bytes)
{
    for (unsigned i = 0; i < race->ranges.count; i++) {
        struct race_range *r = &race->ranges.table[i];

        if (r->first >= offset + bytes || offset >= r->end)
            continue;
        race_deferred_allocation_flush(race, r->first);
        race_packed_end(race, r);
        race_batch_revoke(race);
        *r = race->ranges.table[--race->ranges.count];
        i--;
        race->ranges.last = NULL;
    }
}
