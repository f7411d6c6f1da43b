/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of mechanisms that form warps: a kernel with a divergent branch, and a GPU model with warps of 4 lanes. */
#ifndef FORM_FIXTURE_H
#define FORM_FIXTURE_H

#include "tests/timing/mechanisms/mech_fixture.h"

/* Begin of a kernel for warps of 4 lanes: v1 is the thread, v3 its warp, v7 the offset of its result in `out`. @pattern sets bit
 * 0 of v2 to 0 in the lanes that take the branch, for which p0 is true. */
#define SIDE_OF_LANE(pattern) \
    ".kernel k\n.param ptr.global out\n.shared 256\n" \
    "s_mov_b64 s4:5, c[out]\n" \
    "v_s2r v1, %tid.x\n" \
    "v_shl_b32 v7, v1, 2\n" \
    "v_shr_u32 v3, v1, 2\n" \
    pattern \
    "v_and_b32 v2, v2, 1\n" \
    "v_setp_u32.lt p0, v2, 1\n"
/* Kernel with a divergent branch. */
#define SIDES(pattern, taken, other) \
    SIDE_OF_LANE(pattern) \
    "bssy b0, join\n" \
    "@p0 bra taken, b0\n" \
    other \
    "bra join\n" \
    "taken:\n" \
    taken \
    "join:\n" \
    "bsync b0\n" \
    "st.global.b32 [s4:5+v7], v4\n" \
    "exit\n.end\n"
#define OPPOSITE "v_xor_b32 v2, v1, v3\n" /* lanes that take the branch, for each warp: 1010, 0101, 1010, ... */
#define EQUAL "v_mov_b32 v2, v1\n"       /* lanes that take the branch, for each warp: 1010, 1010, ... */

enum { FIRST = 9, JOIN = 12 }; /* indices of the first instruction after the branch, and of the bsync */

/** Return a run on a GPU model with warps of 4 lanes and convergence barriers. */
static inline struct run *form_run(void)
{
    struct run *r = run_new();

    r->config->core_warp_width = 4;
    r->config->core_threads = r->config->core_warps * 4;
    r->config->core_reconvergence = TIM_RECONV_CBAR;
    r->config->issue_split_lanes = true;
    return r;
}

#endif
