/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels in OpenCL C or CUDA C++ for the test of the values that debuggers show. The kernels have at most one statement
 * on a line, are deterministic, and have no undefined behaviour. */
#ifndef VALUES_KERNELS_H
#define VALUES_KERNELS_H

#include "tests/isa/prop_isa_random.h"

enum { VALUES_BLOCKS = 2, VALUES_THREADS = 48, VALUES_ALL_THREADS = VALUES_BLOCKS * VALUES_THREADS };

/** VALUES_OBSERVED: the kernel stores all bits of each assigned value to `out`, each time at another index. VALUES_MEMORY: the
 *  kernel also has arrays with computed indices, structures with such arrays, and pointers to both, and does not store all of
 *  their values. VALUES_IDIOMS: the kernel is observed, and also has what the other kernels do not contain: several assignments on
 *  one line (macros with a loop and branches, `if` and `for` on one line), `for` loops, structures that are assigned as a whole,
 *  and pointers, references and lambdas that assign to scalars. VALUES_FREE: the kernel stores only its results. */
enum values_kind { VALUES_FREE, VALUES_OBSERVED, VALUES_MEMORY, VALUES_IDIOMS };
/** Writes a source with the kernel `k` and its functions. Returns the maximum number of stores of a thread, or 0 for
 *  VALUES_FREE. */
unsigned values_kernel_print(struct prop_random *r, bool cuda, enum values_kind kind, struct lw_sink *out);
/** Writes a text of values_kernel_print() as a source and a header, which use macros. The header contains all text before the
 *  kernel. */
void values_macros(struct prop_random *r, const char *text, const char *header_name, struct lw_sink *source, struct lw_sink *header);
#endif
