/* SPDX-License-Identifier: Apache-2.0 */
/* The ignore list table (ILT) of dynamic warp resizing: a set-associative table, with LRU replacement, of instructions
 * whose LAT barriers are ignored. */
#ifndef TIM_ILT_PRIV_H
#define TIM_ILT_PRIV_H

#include "base/lw.h"

struct tim_ilt_way {
    bool valid;
    uint64_t tag;
    uint64_t used; /* value of tim_ilt.uses at the last use of the entry */
};
struct tim_ilt {
    unsigned sets, ways; /* sets is 0 if the model has no ignore list table */
    unsigned count;      /* number of valid ways */
    uint64_t uses;       /* sequence number of the latest use */
    struct tim_ilt_way *way; /* [sets][ways] */
};
/** Creates an empty table. Returns false if memory is short. */
bool tim_ilt_init(struct tim_ilt *ilt, unsigned sets, unsigned ways) LW_MUST_CHECK;
void tim_ilt_fini(struct tim_ilt *ilt);
/** Returns whether instruction @number is in the table. If so, records its use. */
bool tim_ilt_lookup(struct tim_ilt *ilt, uint64_t number);
/** Inserts instruction @number. If its set is full, replaces the least recently used entry and sets *evicted. Returns
 *  false if @number was already in the table, or if there is no table. */
bool tim_ilt_insert(struct tim_ilt *ilt, uint64_t number, bool *evicted);
void tim_ilt_flush(struct tim_ilt *ilt);

#endif
