/* SPDX-License-Identifier: Apache-2.0 */
/* The reciprocal square root of a double, by integers alone: for references of the tests. */
#ifndef REF_ROOT_H
#define REF_ROOT_H

/** 1 / sqrt(x), rounded once to nearest; IEEE's value for what is no positive number. */
double ref_rsq_d(double x);

#endif
