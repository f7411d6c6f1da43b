/* SPDX-License-Identifier: Apache-2.0 */
/* Victim tag arrays: tags of the lines that each warp slot lost from L1. Source: the warp scheduling thesis 4.2. */
#ifndef TIM_VTA_PRIV_H
#define TIM_VTA_PRIV_H

#include "base/lw.h"

#include <stdbool.h>
#include <stdint.h>

struct tim_vta;
/** Creates arrays with @entries tags for each of @warps slots, in sets of @ways (at most @entries), with LRU. @line:
 *  line size of L1. Entries and ways are powers of two. Returns NULL without memory. */
struct tim_vta *tim_vta_create(unsigned warps, unsigned entries, unsigned ways, unsigned line);
void tim_vta_destroy(struct tim_vta *vta);
/** Returns whether @warp has lost the line. If so, @take removes the tag; otherwise the tag becomes the youngest of
 *  its set. */
bool tim_vta_find(struct tim_vta *vta, unsigned warp, uint64_t line, bool take);
/** Records that @warp lost the line. If the tag of the line is present, it becomes the youngest. */
void tim_vta_insert(struct tim_vta *vta, unsigned warp, uint64_t line);
/** Removes all tags of @warp. */
void tim_vta_clear(struct tim_vta *vta, unsigned warp);
/** Returns the number of tags of @warp, for displays. */
unsigned tim_vta_count(const struct tim_vta *vta, unsigned warp);

#endif
