/* SPDX-License-Identifier: Apache-2.0 */
/* State of dynamic warp resizing that tests read. A LAT is a load or store of global or local memory. */
#ifndef TIM_DWR_PRIV_H
#define TIM_DWR_PRIV_H

#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_ilt_priv.h"

/** Return the number of bits of the PST (table of slot groups) and of the ILT (ignore list table) of a core in hardware. */
unsigned tim_dwr_pst_bits(const struct tim_config *config), tim_dwr_ilt_bits(const struct tim_config *config);

/* ---- the state of a core's warps and slot groups; partners: the warps of a slot group ---- */
enum tim_dwr_state {
    TIM_DWR_READY,
    TIM_DWR_BARRIER, /* the warp's barrier operation is in progress */
    TIM_DWR_WAITS,   /* the warp waits for partners */
    TIM_DWR_COMBINE, /* the barrier has released the warp; its LAT may issue together with LATs of partners */
    TIM_DWR_PASSED   /* the warp's barrier is ignored: its LAT issues alone */
};
/** The barrier of a slot group: an entry of the PST. */
struct tim_dwr_pst {
    bool valid;        /* at least one partner has arrived */
    uint64_t pc, lock; /* pc: barrier of the first partner that arrived; lock: set of partners that have arrived */
    uint64_t since;    /* cycle in which the first partner arrived */
};
enum tim_dwr_state tim_dwr_state(const struct tim_mech *mech, unsigned warp);
const struct tim_dwr_pst *tim_dwr_pst(const struct tim_mech *mech, unsigned group);
struct tim_ilt *tim_dwr_ilt(struct tim_mech *mech);

#endif
