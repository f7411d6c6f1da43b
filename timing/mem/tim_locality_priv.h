/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of hits and misses of a core's L1 (l1.classes), after the warp scheduling thesis: whose
 * locality a hit is, and what a miss has lost. A line belongs to the warp and lane that brought it
 * last. Next to the cache runs one of the same size that is fully associative, with LRU: what hits
 * there and misses here is lost by the sets alone.
 */
#ifndef TIM_LOCALITY_PRIV_H
#define TIM_LOCALITY_PRIV_H

#include "timing/tim_priv.h"

/** In the order of the counters l1_hits_... and l1_misses_... of stats.def. */
enum tim_locality_class {
    TIM_HIT_THREAD,      /* the lane that brought the line is among those of the access */
    TIM_HIT_WARP,        /* another lane of the warp that did */
    TIM_HIT_OTHER,       /* another warp did */
    TIM_MISS_COMPULSORY, /* no load of the core has requested the line */
    TIM_MISS_CONFLICT,   /* a fully associative cache would have it */
    TIM_MISS_WARP,       /* capacity: the warp itself brought it last, */
    TIM_MISS_OTHER,      /* or another did */
    TIM_LOCALITY_CLASSES
};
struct tim_locality;
/** @lines: of the cache. NULL: no memory. */
struct tim_locality *tim_locality_create(unsigned lines);
void tim_locality_destroy(struct tim_locality *locality);
/** Makes room for the line at address @line, which will be accessed. False: no memory. */
bool tim_locality_add(struct tim_locality *locality, uint64_t line);
/** A load of lanes @lanes of warp @warp hits or misses the line, which was added. A line under way
 *  counts as a hit of neither; say so to tim_locality_merge.
 *  @warp  a number that no later warp gets again */
enum tim_locality_class tim_locality_access(struct tim_locality *locality, uint64_t line,
                                            uint64_t warp, uint64_t lanes, bool hit);
/** A load waits for the line, which is under way: it makes it younger, no more. */
void tim_locality_merge(struct tim_locality *locality, uint64_t line);
/** A store or an atomic throws the line out: the next miss is no conflict. */
void tim_locality_evict(struct tim_locality *locality, uint64_t line);
/** The same of all lines below address @end. */
void tim_locality_invalidate(struct tim_locality *locality, uint64_t end);

#endif
