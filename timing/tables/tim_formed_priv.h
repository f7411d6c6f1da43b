/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formed warps: one issue slot issues the same instruction for lanes of several splits, which may be of several warps. The warp
 * that the scheduler selects leads. Companions are lanes of other splits at the leader's pc. The registers of a thread do not
 * move to another lane, so a formed warp has at most one thread for each lane:
 *
 *      lane          0   1   2   3
 *      warp 0        x   .   x   .     leads
 *      warp 1        .   x   x   .     lane 1 is a companion; lane 2 is taken
 *      formed warp   w0  w1  w0  .
 *
 * Companions occupy no collector, pipe or register bank port in addition to the leader's, because each lane has its own
 * register banks.
 */
#ifndef TIM_FORMED_PRIV_H
#define TIM_FORMED_PRIV_H

#include "timing/decode/tim_static_priv.h"
#include "timing/tables/tim_permute_priv.h"

enum { TIM_FORMED_WARPS = 256 }; /* maximum number of warp slots of a core */
struct tim_companion {
    unsigned warp;   /* warp slot of the companion */
    uint64_t lanes;  /* lanes of one split of the warp */
};
struct tim_formed {
    unsigned count, next; /* number of companions; the companion that issues next */
    bool companion;       /* formed warps: the latest issue was for the lanes of a companion, not of the leader */
    bool grown;           /* at least one companion has issued the leader's instruction */
    unsigned lanes;       /* number of lanes of the formed warp that have issued */
    uint32_t op;          /* index of the leader's instruction in flight, or TIM_NONE if it is not in flight */
    uint64_t pc;
    const struct tim_static *what;
    struct tim_companion member[EMU_MAX_LANES];
    /* pairs of instructions (timing/core/pair/tim_pair_body.h): the leader has the first instruction */
    bool pairs;           /* a mechanism has hook `pairs`, and none forms warps; `member` is not used */
    unsigned leader;      /* warp slot */
    uint64_t taken;       /* lanes of the units that execute the first instruction */
    uint64_t others[TIM_FORMED_WARPS]; /* by warp slot: lanes of the warp's other splits that could run when the warp last
                                        * issued a first instruction */
};

#endif
