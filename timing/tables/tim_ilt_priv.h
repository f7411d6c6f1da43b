/* SPDX-License-Identifier: Apache-2.0 */
/* The ignore list table (ILT) of dynamic warp resizing: instructions whose LAT barriers are ignored. It is set-associative
 * with LRU replacement. */
#ifndef TIM_ILT_PRIV_H
#define TIM_ILT_PRIV_H

#include "base/lw.h"

struct tim_ilt_way {
    bool valid;
    uint64_t tag;
    uint64_t used; /* sequence number of the last use */
};
struct tim_ilt {
    unsigned sets, ways; /* sets 0: no table */
    unsigned count;      /* number of valid ways */
    uint64_t uses;
    struct tim_ilt_way *way; /* [sets][ways] */
};
/** Returns false without memory. */
bool tim_ilt_init(struct tim_ilt *ilt, unsigned sets, unsigned ways) LW_MUST_CHECK;
void tim_ilt_fini(struct tim_ilt *ilt);
/** Returns whether instruction @number is in the table. If so, records its use. */
bool tim_ilt_lookup(struct tim_ilt *ilt, uint64_t number);
/** Inserts @number. If its set is full, the least recently used entry is replaced, and *evicted is set. Returns
 *  false if @number was in the table, or if there is no table. */
bool tim_ilt_insert(struct tim_ilt *ilt, uint64_t number, bool *evicted);
void tim_ilt_flush(struct tim_ilt *ilt);

#endif
