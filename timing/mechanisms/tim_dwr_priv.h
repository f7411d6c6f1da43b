/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of dynamic warp resizing, which tests read. */
#ifndef TIM_DWR_PRIV_H
#define TIM_DWR_PRIV_H

#include "timing/mechanisms/tim_mechanism_priv.h"

/* ---- the ignore list: numbers of instructions whose LAT barriers are passed, in sets of ways with LRU ---- */
struct tim_ilt_way {
    bool valid;
    uint64_t tag;
    uint64_t used; /* later: greater */
};
struct tim_ilt {
    unsigned sets, ways; /* sets 0: none */
    unsigned count;      /* valid ways */
    uint64_t uses;
    struct tim_ilt_way *way; /* [sets][ways] */
};
/** False: no memory. */
bool tim_ilt_init(struct tim_ilt *ilt, unsigned sets, unsigned ways) LW_MUST_CHECK;
void tim_ilt_fini(struct tim_ilt *ilt);
/** Is instruction @number in it? It is the one used last then. */
bool tim_ilt_lookup(struct tim_ilt *ilt, uint64_t number);
/** @number is in it from now on; of a full set the one not used for longest goes: *evicted. False: it was, or there is no list. */
bool tim_ilt_insert(struct tim_ilt *ilt, uint64_t number, bool *evicted);
void tim_ilt_flush(struct tim_ilt *ilt);

/** Bits of a core's storage. */
unsigned tim_dwr_pst_bits(const struct tim_config *config), tim_dwr_ilt_bits(const struct tim_config *config);

/* ---- the state of a core's warps and groups ---- */
enum tim_dwr_state {
    TIM_DWR_READY,
    TIM_DWR_BARRIER, /* its barrier operation is under way */
    TIM_DWR_WAITS,   /* for partners */
    TIM_DWR_COMBINE, /* combine-ready */
    TIM_DWR_PASSED   /* its barrier is ignored: its LAT issues alone */
};
struct tim_dwr_pst {
    bool valid;
    uint64_t pc, lock; /* lock: by member */
    uint64_t since;
};
enum tim_dwr_state tim_dwr_state(const struct tim_mech *mech, unsigned warp);
const struct tim_dwr_pst *tim_dwr_pst(const struct tim_mech *mech, unsigned group);
struct tim_ilt *tim_dwr_ilt(struct tim_mech *mech);

#endif
