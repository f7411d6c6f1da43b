/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: sparse vector clocks. */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* A vector clock with more entries than the limit is replaced by "everything up to now". The replacement may hide a few
 * races. */
enum { MOST_ENTRIES = 4096 };

struct race_vclock *race_vclock_keep(struct race_vclock *vclock)
{
    if (vclock != NULL)
        vclock->refs++;
    return vclock;
}

void race_vclock_drop(struct race_vclock *vclock)
{
    if (vclock != NULL && --vclock->refs == 0)
        free(vclock);
}

uint32_t race_vclock_time(const struct race_vclock *vclock, uint64_t key)
{
    unsigned low = 0, high = vclock == NULL ? 0 : vclock->count;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (vclock->entry[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return vclock != NULL && low < vclock->count && vclock->entry[low].key == key
               ? vclock->entry[low].time
               : 0;
}

static struct race_vclock *create(unsigned room, bool *short_of_memory)
{
    struct race_vclock *vclock =
        malloc(offsetof(struct race_vclock, entry) + room * sizeof vclock->entry[0]);

    if (vclock == NULL)
        *short_of_memory = true;
    else
        *vclock = (struct race_vclock){.refs = 1};
    return vclock;
}

struct race_vclock *race_vclock_create(struct race_entry *entry, unsigned count,
                                   bool *short_of_memory)
{
    struct race_vclock *vclock = count == 0 ? NULL : create(count, short_of_memory);

    if (vclock == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = vclock->count++;

        for (; at > 0 && vclock->entry[at - 1].key > entry[i].key; at--)
            vclock->entry[at] = vclock->entry[at - 1];
        vclock->entry[at] = entry[i];
    }
    return vclock;
}

static bool is_of(const struct race_entry *entry, uint32_t block_id)
{
    const uint32_t tid = (uint32_t)entry->key;

    switch ((enum race_vclock_entry)(entry->key >> 32)) {
    case RACE_VC_THREAD:
    case RACE_VC_WARP: return tid >> RACE_THREAD_BITS == block_id;
    case RACE_VC_BLOCK: return tid == block_id;
    default: return false;
    }
}

void race_vclock_prune(struct race_vclock **vclock, uint32_t block_id)
{
    struct race_vclock *a = *vclock, *out = NULL;
    unsigned kept = 0;
    bool short_of_memory = false;

    for (unsigned i = 0; a != NULL && i < a->count; i++)
        kept += !is_of(&a->entry[i], block_id);
    if (a == NULL || kept == a->count)
        return;
    if (kept != 0) {
        out = create(kept, &short_of_memory);
        if (out == NULL)
            return; /* Without memory for the shorter clock, the entries remain. They are redundant, so no result
                     * changes. */
        for (unsigned i = 0; i < a->count; i++)
            if (!is_of(&a->entry[i], block_id))
                out->entry[out->count++] = a->entry[i];
    }
    *vclock = out;
    race_vclock_drop(a);
}

/** Returns true if @a includes all accesses that @b includes. */
static bool covers(const struct race_vclock *a, const struct race_vclock *b)
{
    unsigned i = 0;

    if (a->count < b->count)
        return false;
    for (unsigned k = 0; k < b->count; k++) {
        while (i < a->count && a->entry[i].key < b->entry[k].key)
            i++;
        if (i == a->count || a->entry[i].key != b->entry[k].key ||
            a->entry[i].time < b->entry[k].time)
            return false;
    }
    return true;
}

void race_vclock_join(struct race_vclock **into, struct race_vclock *other, uint32_t now,
                     bool *short_of_memory)
{
    struct race_vclock *a = *into, *out;

    if (other == NULL || a == other)
        return;
    if (a == NULL || covers(other, a)) {
        *into = race_vclock_keep(other);
        race_vclock_drop(a);
        return;
    }
    if (covers(a, other))
        return;
    out = create(a->count + other->count, short_of_memory);
    if (out == NULL)
        return;
    for (unsigned i = 0, k = 0; i < a->count || k < other->count;) {
        struct race_entry *e = &out->entry[out->count++];

        if (k == other->count || (i < a->count && a->entry[i].key < other->entry[k].key)) {
            *e = a->entry[i++];
        } else if (i == a->count || other->entry[k].key < a->entry[i].key) {
            *e = other->entry[k++];
        } else {
            *e = a->entry[i++];
            e->time = race_max(e->time, other->entry[k++].time);
        }
    }
    if (out->count > MOST_ENTRIES) {
        out->entry[0] = (struct race_entry){race_key(RACE_VC_ALL, 0), now};
        out->count = 1;
    }
    *into = out;
    race_vclock_drop(a);
}
