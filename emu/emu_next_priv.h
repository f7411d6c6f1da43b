/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a handler ends, and how its lane loops are marked.
 *
 * In normal builds a handler jumps to the next one: a tail call, a sibling call in gcc
 * (-O2 and up). Where calls are not turned into jumps (-O0, coverage, thread sanitizer),
 * -DLW_LOOP makes it return to a driver that runs w->di while w->leave == 0.
 */
#ifndef EMU_NEXT_PRIV_H
#define EMU_NEXT_PRIV_H

#include "emu/emu_warp_priv.h"

#if defined(__clang__)
#define EMU_LANE_LOOP _Pragma("clang loop vectorize(assume_safety) interleave(enable)")
#define EMU_TAIL __attribute__((musttail)) return
#define EMU_LANE_LOOP_32 EMU_LANE_LOOP
#else
#define EMU_LANE_LOOP _Pragma("GCC ivdep")
/* Four vectors of 8 lanes: gcc -O2 leaves even such a loop a loop, with a fifth of its instructions
 * for the control. */
#define EMU_LANE_LOOP_32 _Pragma("GCC ivdep") _Pragma("GCC unroll 4")
#define EMU_TAIL return
#endif

#ifdef LW_LOOP
#define EMU_NEXT_FULL(w, di)                                                          \
    do {                                                                              \
        (w)->di = (di) + 1;                                                           \
        return;                                                                       \
    } while (0)
#define EMU_NEXT_PART(w, di) EMU_NEXT_FULL(w, di)
#else
#define EMU_NEXT_FULL(w, di) EMU_TAIL (di)[1].h.full((w), (di) + 1)
#define EMU_NEXT_PART(w, di) EMU_TAIL (di)[1].h.part((w), (di) + 1)
#endif

/** Continue with @t, on the chain that the running lanes are on now. */
#ifdef LW_LOOP
#define EMU_GO(w, t)                                                                  \
    do {                                                                              \
        (w)->di = (t);                                                                \
        return;                                                                       \
    } while (0)
#else
#define EMU_GO(w, t)                                                                  \
    do {                                                                              \
        const struct emu_dinsn *go_ = (t);                                            \
        if ((w)->full)                                                                \
            EMU_TAIL go_->h.full((w), go_);                                           \
        EMU_TAIL go_->h.part((w), go_);                                               \
    } while (0)
#endif

/** For handlers that are in both chains. */
#define EMU_NEXT(w, di)                                                               \
    do {                                                                              \
        if ((w)->full)                                                                \
            EMU_NEXT_FULL(w, di);                                                     \
        EMU_NEXT_PART(w, di);                                                         \
    } while (0)

#endif
