/* SPDX-License-Identifier: Apache-2.0 */
/* The model by which --engine auto decides whether a kernel is compiled. */
#include "native/nat_process_priv.h"

/* Figures in seconds, from docs/evidence/performance.md. INTERPRETER: time that the interpreter takes for a warp instruction. It
 * is used for a kernel whose own time is not known because each launch is short, or because decisions must not depend on time. LOAD:
 * time to load LLVM. LINK: time in which the emulator waits for the linker. COMPILE and COMPILE_EACH: fixed time of a compilation,
 * and time for each instruction of the kernel; meanwhile the interpreter executes the kernel, unless requests wait for the code.
 * GAIN: factor by which native code is faster, at least for most kernels.
 * MARGIN: because estimates are imprecise, native code must save more than MARGIN times the time for which the emulator waits. */
#define INTERPRETER 10e-9
#define LOAD 25e-3
#define LINK 3e-3
#define COMPILE 10e-3
#define COMPILE_EACH 0.15e-3
#define GAIN 2.0
#define MARGIN 2.0

bool nat_pays(const struct nat_work *work, uint32_t count, bool loaded, bool waits)
{
    /* Without an estimate, the kernel is assumed to execute as many instructions again as it has executed. */
    const double each = work->timed != 0 ? work->seconds / (double)work->timed : INTERPRETER;
    const double ahead = each * (double)(work->executed > work->rest ? work->executed : work->rest);
    const double compile = COMPILE + COMPILE_EACH * count + (loaded ? 0 : LOAD);
    const double wait = LINK + (loaded ? 0 : LOAD) + (waits ? compile : 0), meanwhile = waits ? 0 : compile;

    return ahead > meanwhile && (ahead - meanwhile) * (1 - 1 / GAIN) > MARGIN * wait;
}
