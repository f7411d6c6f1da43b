/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table with open addressing that maps pairs of numbers to numbers, for mechanisms that track many lines. */
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
/** A zeroed map is empty. */
struct tim_map {
    struct tim_map_slot *slot; /* [slots]; slots is a power of two, or 0 */
    size_t slots, count;
};
void tim_map_fini(struct tim_map *map);
/** Returns the value of key (@a, @b), valid until the next call. A new value is 0. *is_new: the key was absent.
 *  NULL: no memory is left, and the map is unchanged. */
uint64_t *tim_map_at(struct tim_map *map, uint64_t a, uint64_t b, bool *is_new);

#endif
