/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels in OpenCL C or CUDA C++ for the test of the values that debuggers show. They have one statement on a
 * line, are deterministic, and have no undefined behaviour. */
#ifndef VALUES_KERNELS_H
#define VALUES_KERNELS_H

#include "tests/isa/prop_isa_random.h"

enum { VALUES_BLOCKS = 2, VALUES_THREADS = 48, VALUES_ALL_THREADS = VALUES_BLOCKS * VALUES_THREADS };

/** VALUES_OBSERVED: each assigned value is stored to `out`, all bits, each time at another index. VALUES_MEMORY: as well, but
 *  there are arrays with computed indices, structures with these, and pointers to both, of which not all values are stored. */
enum values_kind { VALUES_FREE, VALUES_OBSERVED, VALUES_MEMORY };
/** Write a source with the kernel `k` and its functions. Return how often a thread may store; 0 if the kernel is free. */
unsigned values_kernel_print(struct prop_random *r, bool cuda, enum values_kind kind, struct lw_sink *out);
#endif
