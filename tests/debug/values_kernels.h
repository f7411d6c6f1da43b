/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels in OpenCL C or CUDA C++ for the test of the values that debuggers show. They have one statement on a
 * line, are deterministic, and have no undefined behaviour. */
#ifndef VALUES_KERNELS_H
#define VALUES_KERNELS_H

#include "tests/isa/prop_isa_random.h"

enum { VALUES_BLOCKS = 2, VALUES_THREADS = 48 };

/** Write a source with the kernel `k` and its functions. With @observed each assigned value is stored to `out`, all
 *  bits, each time at another index. Return how often a thread may store; 0 if the kernel is not observed. */
unsigned values_kernel_print(struct prop_random *r, bool cuda, bool observed, struct lw_sink *out);
/** Write the launch file. @keys: more keys of `program`, with a comma before them, or "". @stores: the result of the
 *  function above. */
void values_launch_print(uint64_t seed, const char *source, const char *keys, unsigned stores, struct lw_sink *out);

#endif
