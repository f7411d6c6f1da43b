/* SPDX-License-Identifier: Apache-2.0 */
/* The reciprocal square root of a double, computed with integers only. Tests use it as a reference. */
#ifndef REF_ROOT_H
#define REF_ROOT_H

/** Return 1 / sqrt(x), rounded once to nearest. For zero, negative numbers and NaN return the result of IEEE 754. */
double ref_rsq_d(double x);

#endif
