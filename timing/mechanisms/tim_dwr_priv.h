/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of dynamic warp resizing, which tests read. A LAT is a load or store of global or local memory. */
#ifndef TIM_DWR_PRIV_H
#define TIM_DWR_PRIV_H

#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_ilt_priv.h"

/** Return the storage of a core in bits. */
unsigned tim_dwr_pst_bits(const struct tim_config *config), tim_dwr_ilt_bits(const struct tim_config *config);

/* ---- the state of a core's warps and groups ---- */
enum tim_dwr_state {
    TIM_DWR_READY,
    TIM_DWR_BARRIER, /* the warp's barrier operation is in progress */
    TIM_DWR_WAITS,   /* the warp waits for partners */
    TIM_DWR_COMBINE, /* the warp is ready to combine */
    TIM_DWR_PASSED   /* the warp's barrier is ignored: the LAT of the warp issues alone */
};
struct tim_dwr_pst {
    bool valid;
    uint64_t pc, lock; /* lock: set of members that have arrived */
    uint64_t since;
};
enum tim_dwr_state tim_dwr_state(const struct tim_mech *mech, unsigned warp);
const struct tim_dwr_pst *tim_dwr_pst(const struct tim_mech *mech, unsigned group);
struct tim_ilt *tim_dwr_ilt(struct tim_mech *mech);

#endif
