/* SPDX-License-Identifier: Apache-2.0 */
#include "timing/tables/tim_map_priv.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

void tim_map_fini(struct tim_map *map)
{
    free(map->slot);
    *map = (struct tim_map){0};
}

/** Returns the slot of the key or, if the key is absent, the empty slot in which to add it. */
static struct tim_map_slot *find(const struct tim_map *map, uint64_t a, uint64_t b)
{
    const uint64_t mixed = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xd6e8feb86659fd93);
    size_t at = (size_t)(mixed >> 24) & (map->slots - 1);

    while (map->slot[at].used && (map->slot[at].a != a || map->slot[at].b != b))
        at = (at + 1) & (map->slots - 1);
    return &map->slot[at];
}

/** Doubles the size of the table. Returns false if memory is short; nothing has changed then. */
static bool grow(struct tim_map *map)
{
    struct tim_map larger = {.slots = map->slots == 0 ? FIRST_SLOTS : 2 * map->slots, .count = map->count};

    larger.slot = calloc(larger.slots, sizeof *larger.slot);
    if (larger.slot == NULL)
        return false;
    for (size_t i = 0; i < map->slots; i++)
        if (map->slot[i].used)
            *find(&larger, map->slot[i].a, map->slot[i].b) = map->slot[i];
    free(map->slot);
    *map = larger;
    return true;
}

uint64_t *tim_map_at(struct tim_map *map, uint64_t a, uint64_t b, bool *is_new)
{
    struct tim_map_slot *slot;

    if (2 * (map->count + 1) > map->slots && !grow(map))
        return NULL;
    slot = find(map, a, b);
    *is_new = !slot->used;
    if (!slot->used) {
        *slot = (struct tim_map_slot){a, b, 0, true};
        map->count++;
    }
    return &slot->value;
}
