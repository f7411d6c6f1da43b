/* SPDX-License-Identifier: Apache-2.0 */
/* The reciprocal square root of a double, by integers alone: for references of the tests. */
#ifndef REF_ROOT_H
#define REF_ROOT_H

/** 1 / sqrt(x), rounded once to nearest; for zero, negative numbers and NaN the result of IEEE 754. */
double ref_rsq_d(double x);

#endif
