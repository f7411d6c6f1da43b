/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros with which handlers of instructions end, and pragmas for their loops over lanes.
 *
 * In normal builds a handler jumps to the next handler by a tail call, which gcc (-O2 and up) compiles to a jump. In builds
 * without this optimisation (-O0, coverage, thread sanitizer), -DLW_LOOP makes handlers return to a loop, the driver, which
 * calls the handler of w->di while w->leave is 0.
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
/* For a loop over four vectors of 8 lanes. Without the pragma, gcc -O2 does not unroll even such a loop, and a fifth of its
 * instructions are loop control. */
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

/** Continues at instruction @t with its full or masked handler, whichever the running lanes need. */
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

/** Ends a handler that is used both as full and as masked handler. */
#define EMU_NEXT(w, di)                                                               \
    do {                                                                              \
        if ((w)->full)                                                                \
            EMU_NEXT_FULL(w, di);                                                     \
        EMU_NEXT_PART(w, di);                                                         \
    } while (0)

#endif
