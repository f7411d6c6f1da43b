/* SPDX-License-Identifier: Apache-2.0 */
/* Hash table that maps pairs of numbers to numbers, with open addressing. Used by mechanisms that track many lines. */
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
/** Returns a pointer to the value of key (@a, @b), which is valid until the next call. If the key is absent, adds it with
 *  value 0. Sets *is_new to whether the key was absent. Returns NULL if memory is short; the map is then unchanged. */
uint64_t *tim_map_at(struct tim_map *map, uint64_t a, uint64_t b, bool *is_new);

#endif
