/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of what a thread knows of others. */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* A larger set becomes "all up to now": what is not found then is little. */
enum { MOST_ENTRIES = 4096 };

struct race_vclock *race_vclock_keep(struct race_vclock *facts)
{
    if (facts != NULL)
        facts->refs++;
    return facts;
}

void race_vclock_drop(struct race_vclock *facts)
{
    if (facts != NULL && --facts->refs == 0)
        free(facts);
}

uint32_t race_vclock_time(const struct race_vclock *facts, uint64_t key)
{
    unsigned low = 0, high = facts == NULL ? 0 : facts->count;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (facts->entry[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return facts != NULL && low < facts->count && facts->entry[low].key == key
               ? facts->entry[low].time
               : 0;
}

static struct race_vclock *create(unsigned room, bool *short_of_memory)
{
    struct race_vclock *facts =
        malloc(offsetof(struct race_vclock, entry) + room * sizeof facts->entry[0]);

    if (facts == NULL)
        *short_of_memory = true;
    else
        *facts = (struct race_vclock){.refs = 1};
    return facts;
}

struct race_vclock *race_vclock_create(struct race_entry *entry, unsigned count,
                                   bool *short_of_memory)
{
    struct race_vclock *facts = count == 0 ? NULL : create(count, short_of_memory);

    if (facts == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = facts->count++;

        for (; at > 0 && facts->entry[at - 1].key > entry[i].key; at--)
            facts->entry[at] = facts->entry[at - 1];
        facts->entry[at] = entry[i];
    }
    return facts;
}

static bool is_of(const struct race_entry *entry, uint32_t actor)
{
    const uint32_t who = (uint32_t)entry->key;

    switch ((enum race_vclock_entry)(entry->key >> 32)) {
    case RACE_KNOWS_THREAD:
    case RACE_KNOWS_WARP: return who >> RACE_THREAD_BITS == actor;
    case RACE_KNOWS_BLOCK: return who == actor;
    default: return false;
    }
}

void race_vclock_prune(struct race_vclock **facts, uint32_t actor)
{
    struct race_vclock *a = *facts, *out = NULL;
    unsigned kept = 0;
    bool short_of_memory = false;

    for (unsigned i = 0; a != NULL && i < a->count; i++)
        kept += !is_of(&a->entry[i], actor);
    if (a == NULL || kept == a->count)
        return;
    if (kept != 0) {
        out = create(kept, &short_of_memory);
        if (out == NULL)
            return; /* it does no harm there */
        for (unsigned i = 0; i < a->count; i++)
            if (!is_of(&a->entry[i], actor))
                out->entry[out->count++] = a->entry[i];
    }
    *facts = out;
    race_vclock_drop(a);
}

/** Does @a know all that @b knows? */
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
        out->entry[0] = (struct race_entry){race_key(RACE_KNOWS_ALL, 0), now};
        out->count = 1;
    }
    *into = out;
    race_vclock_drop(a);
}
