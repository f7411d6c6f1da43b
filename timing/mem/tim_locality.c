/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of hits and misses: stores which warp requested each line, and simulates a fully associative cache. */
#include "timing/mem/tim_locality_priv.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX, FIRST_SLOTS = 1024 };

struct record {
    uint64_t line;
    uint64_t warp;          /* number of the warp that requested the line last */
    uint32_t younger, older; /* neighbours in the list of lines in the fully associative cache */
    uint8_t lane;           /* the lowest lane of the access that requested the line last */
    bool known;             /* a load has accessed the line */
    bool held;              /* the fully associative cache contains the line */
};
struct tim_locality {
    struct record *record; /* [count] records of lines, in the order in which the lines were first used */
    size_t count, capacity;
    uint32_t *slot;        /* hash table of indexes of records; NONE: the slot is empty */
    size_t slots;          /* number of slots: a power of two that is more than twice count */
    uint32_t youngest, oldest;
    unsigned held, lines;  /* number of lines in the fully associative cache, and its capacity */
};

static uint32_t *slot_of(const struct tim_locality *locality, uint64_t line)
{
    size_t at = (size_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (locality->slots - 1);

    while (locality->slot[at] != NONE && locality->record[locality->slot[at]].line != line)
        at = (at + 1) & (locality->slots - 1);
    return &locality->slot[at];
}

/** Resizes the hash table to @slots slots. Returns false if memory is short; nothing has changed then. */
static bool resize(struct tim_locality *locality, size_t slots)
{
    uint32_t *slot = malloc(slots * sizeof *slot);

    if (slot == NULL)
        return false;
    free(locality->slot);
    memset(slot, 0xff, slots * sizeof *slot);
    locality->slot = slot;
    locality->slots = slots;
    for (size_t i = 0; i < locality->count; i++)
        *slot_of(locality, locality->record[i].line) = (uint32_t)i;
    return true;
}

struct tim_locality *tim_locality_create(unsigned lines)
{
    struct tim_locality *locality = calloc(1, sizeof *locality);

    if (locality == NULL)
        return NULL;
    locality->lines = lines;
    locality->youngest = locality->oldest = NONE;
    if (resize(locality, FIRST_SLOTS))
        return locality;
    free(locality);
    return NULL;
}

void tim_locality_destroy(struct tim_locality *locality)
{
    if (locality == NULL)
        return;
    free(locality->record);
    free(locality->slot);
    free(locality);
}

bool tim_locality_add(struct tim_locality *locality, uint64_t line)
{
    if (*slot_of(locality, line) != NONE)
        return true;
    if (locality->count >= NONE - 1 ||
        !lw_grow(&locality->record, &locality->capacity, locality->count + 1, sizeof *locality->record) ||
        (2 * (locality->count + 1) >= locality->slots && !resize(locality, 2 * locality->slots)))
        return false;
    *slot_of(locality, line) = (uint32_t)locality->count;
    locality->record[locality->count++] = (struct record){.line = line, .younger = NONE, .older = NONE};
    return true;
}

/* ---- the fully associative cache: a list from the youngest line to the oldest ---------------- */

static void remove_held(struct tim_locality *locality, struct record *r)
{
    struct record *record = locality->record;

    if (!r->held)
        return;
    *(r->younger != NONE ? &record[r->younger].older : &locality->youngest) = r->older;
    *(r->older != NONE ? &record[r->older].younger : &locality->oldest) = r->younger;
    r->held = false;
    locality->held--;
}

static void make_youngest(struct tim_locality *locality, struct record *r)
{
    struct record *record = locality->record;
    uint32_t index = (uint32_t)(r - record);

    remove_held(locality, r);
    if (locality->held == locality->lines)
        remove_held(locality, &record[locality->oldest]);
    r->younger = NONE;
    r->older = locality->youngest;
    *(r->older != NONE ? &record[r->older].younger : &locality->oldest) = index;
    locality->youngest = index;
    r->held = true;
    locality->held++;
}

enum tim_locality_class tim_locality_access(struct tim_locality *locality, uint64_t line,
                                            uint64_t warp, uint64_t lanes, bool hit)
{
    struct record *r = &locality->record[*slot_of(locality, line)];
    enum tim_locality_class class;

    if (hit)
        class = r->warp != warp ? TIM_HIT_OTHER : lanes >> r->lane & 1 ? TIM_HIT_THREAD : TIM_HIT_WARP;
    else if (!r->known)
        class = TIM_MISS_COMPULSORY;
    else if (r->held)
        class = TIM_MISS_CONFLICT;
    else
        class = r->warp == warp ? TIM_MISS_WARP : TIM_MISS_OTHER;
    make_youngest(locality, r);
    /* The last requester changes at a miss. A hit can also be on a line that no load has accessed (!known), because a store to
     * local memory has allocated the line. */
    if (!hit || !r->known) {
        r->warp = warp;
        /* with lsu.coalesce half_strict and half_segment, a transaction may include lines that no lane accesses */
        r->lane = lanes != 0 ? (uint8_t)lw_lowest(lanes) : 0;
        r->known = true;
    }
    return class;
}

void tim_locality_merge(struct tim_locality *locality, uint64_t line)
{
    make_youngest(locality, &locality->record[*slot_of(locality, line)]);
}

void tim_locality_invalidate(struct tim_locality *locality, uint64_t end)
{
    for (uint32_t at = locality->youngest, older; at != NONE; at = older) {
        older = locality->record[at].older;
        if (locality->record[at].line < end)
            remove_held(locality, &locality->record[at]);
    }
}

void tim_locality_evict(struct tim_locality *locality, uint64_t line)
{
    uint32_t index = *slot_of(locality, line);

    if (index != NONE)
        remove_held(locality, &locality->record[index]);
}
