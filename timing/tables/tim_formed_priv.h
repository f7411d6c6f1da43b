/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formed warps: one issue slot issues the same instruction for lanes of several splits, which may be of several warps. The warp
 * that the scheduler selects leads. Its companions are lanes of other splits at its pc. The registers of a thread do not move, so
 * that a formed warp has at most one thread for each lane:
 *
 *      lane          0   1   2   3
 *      warp 0        x   .   x   .     leads
 *      warp 1        .   x   x   .     lane 1 is a companion; lane 2 is taken
 *      formed warp   w0  w1  w0  .
 *
 * The companions take no collector, no pipe and no port of a register bank, since each lane has banks of its own.
 */
#ifndef TIM_FORMED_PRIV_H
#define TIM_FORMED_PRIV_H

#include "timing/decode/tim_static_priv.h"

struct tim_companion {
    unsigned warp;   /* slot */
    uint64_t lanes;  /* lanes of one split of the warp */
};
struct tim_formed {
    unsigned count, next; /* number of companions; the companion that issues next */
    bool companion;       /* the last instruction that issued is that of a companion */
    bool grown;           /* a companion has issued */
    unsigned lanes;       /* number of lanes that have issued */
    uint32_t op;          /* the leader's instruction in flight; TIM_NONE: it has none */
    uint64_t pc;
    const struct tim_static *what;
    struct tim_companion member[EMU_MAX_LANES];
};

#endif
