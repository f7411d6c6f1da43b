/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of hits and misses of a core's L1 (l1.classes), after the warp scheduling thesis. The class of a hit says
 * which warp or lane requested the line; the class of a miss says why the line is absent. A line belongs to the warp
 * and lane that requested it last. A fully associative LRU cache of the same size is simulated in addition to L1. An
 * access that hits in this cache but misses in L1 is a conflict miss: the mapping of lines to sets has caused the miss.
 */
#ifndef TIM_LOCALITY_PRIV_H
#define TIM_LOCALITY_PRIV_H

#include "timing/tim_priv.h"

/** Classes of hits and misses, in the order of counters l1_hits_... and l1_misses_... in stats.def. */
enum tim_locality_class {
    TIM_HIT_THREAD,      /* hit: one of the lanes of this access requested the line */
    TIM_HIT_WARP,        /* hit: another lane of the warp requested the line */
    TIM_HIT_OTHER,       /* hit: another warp requested the line */
    TIM_MISS_COMPULSORY, /* miss: the first load of the line by the core */
    TIM_MISS_CONFLICT,   /* miss: a fully associative cache would have the line */
    TIM_MISS_WARP,       /* capacity miss: the same warp requested the line last */
    TIM_MISS_OTHER,      /* capacity miss: another warp requested the line last */
    TIM_LOCALITY_CLASSES
};
struct tim_locality;
/** Creates the state for an L1 of @lines lines. Returns NULL if memory is short. */
struct tim_locality *tim_locality_create(unsigned lines);
void tim_locality_destroy(struct tim_locality *locality);
/** Adds a record for the line at address @line, if the line has none yet. Must be called before an access to the line.
 *  Returns false if memory is short. */
bool tim_locality_add(struct tim_locality *locality, uint64_t line);
/** Classifies a load by lanes @lanes of warp @warp, and records that the warp has accessed the line. If the line is absent but
 *  has already been requested, tim_locality_merge() must be called instead.
 *  @warp  a number that no other warp of the run has */
enum tim_locality_class tim_locality_access(struct tim_locality *locality, uint64_t line,
                                            uint64_t warp, uint64_t lanes, bool hit);
/** Called when a load waits for a line that has already been requested. Makes the line the most recently used one. */
void tim_locality_merge(struct tim_locality *locality, uint64_t line);
/** Removes the line, because a store or an atomic evicts it. The next miss of the line is then no conflict miss. */
void tim_locality_evict(struct tim_locality *locality, uint64_t line);
/** Removes all lines below address @end. The next miss on each of these lines is then no conflict miss. */
void tim_locality_invalidate(struct tim_locality *locality, uint64_t end);

#endif
