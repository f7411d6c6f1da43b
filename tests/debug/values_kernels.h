/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels in OpenCL C or CUDA C++ for the test of what debuggers show: one statement a line,
 * deterministic, without undefined behaviour. */
#ifndef VALUES_KERNELS_H
#define VALUES_KERNELS_H

#include "tests/isa/prop_isa_random.h"

enum { VALUES_BLOCKS = 2, VALUES_THREADS = 48 };

/** Write a source with the kernel `k` and its functions. @observed: what is assigned is stored to `out` after
 *  it, all bits, each time elsewhere. Returns how often a thread may store, 0 if it is not observed. */
unsigned values_kernel_print(struct prop_random *r, bool cuda, bool observed, struct lw_sink *out);
/** Write its launch file. @keys: more of `program`, with a comma before it, or ""; @stores: as returned. */
void values_launch_print(uint64_t seed, const char *source, const char *keys, unsigned stores, struct lw_sink *out);

#endif
