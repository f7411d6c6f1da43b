/* SPDX-License-Identifier: Apache-2.0 */
/* Victim tag arrays: tags of the lines that each warp slot lost from L1. Source: specification of the warp scheduling thesis,
 * section 4.2. */
#ifndef TIM_VTA_PRIV_H
#define TIM_VTA_PRIV_H

#include "base/lw.h"

#include <stdbool.h>
#include <stdint.h>

struct tim_vta;
/** Creates an array of @entries tags for each of @warps warp slots, with LRU replacement in sets of @ways ways (but at most
 *  @entries). @entries and @ways are powers of two. @line: line size of L1. Returns NULL if memory is short. */
struct tim_vta *tim_vta_create(unsigned warps, unsigned entries, unsigned ways, unsigned line);
void tim_vta_destroy(struct tim_vta *vta);
/** Returns whether the array of @warp has the tag of the line. If so, removes the tag (if @take), or makes it the youngest of
 *  its set. */
bool tim_vta_find(struct tim_vta *vta, unsigned warp, uint64_t line, bool take);
/** Adds the tag of the line to the array of @warp, because L1 has evicted the line. If the tag is present, it becomes the
 *  youngest of its set. */
void tim_vta_insert(struct tim_vta *vta, unsigned warp, uint64_t line);
/** Removes all tags of @warp. */
void tim_vta_clear(struct tim_vta *vta, unsigned warp);
/** Returns the number of tags in the array of @warp. */
unsigned tim_vta_count(const struct tim_vta *vta, unsigned warp);

#endif
