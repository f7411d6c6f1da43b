/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels in OpenCL C or CUDA C++ for the test of the values that debuggers show. They have one statement on a
 * line, are deterministic, and have no undefined behaviour. */
#ifndef VALUES_KERNELS_H
#define VALUES_KERNELS_H

#include "tests/isa/prop_isa_random.h"

enum { VALUES_BLOCKS = 2, VALUES_THREADS = 48 };

/** Write a source with the kernel `k` and its functions. With @observed each assigned value is stored to `out` with all its
 *  bits, each time at another index. Return the greatest number of stores of a thread, or 0 without @observed. */
unsigned values_kernel_print(struct prop_random *r, bool cuda, bool observed, struct lw_sink *out);
/** Write the launch file. @keys is "" or more keys of `program`, after a comma. @stores is the result of
 *  values_kernel_print(). */
void values_launch_print(uint64_t seed, const char *source, const char *keys, unsigned stores, struct lw_sink *out);

#endif
