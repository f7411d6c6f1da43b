/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table of numbers by pairs of numbers, by open addressing, for mechanisms that look at many lines. */
#ifndef TIM_MAP_PRIV_H
#define TIM_MAP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tim_map_slot {
    uint64_t a, b; /* the key */
    uint64_t value;
    bool used;
};
/** Zeroed: empty. */
struct tim_map {
    struct tim_map_slot *slot; /* [slots], a power of two, or 0 */
    size_t slots, count;
};
void tim_map_fini(struct tim_map *map);
/** Returns the value of key (@a, @b), which is 0 at first; it is valid until the next call. *is_new: the key was not
 *  there. NULL: no memory; the map is as it was. */
uint64_t *tim_map_at(struct tim_map *map, uint64_t a, uint64_t b, bool *is_new);

#endif
