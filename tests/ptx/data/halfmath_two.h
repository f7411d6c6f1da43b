/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of two numbers, in the order in which halfmath.cl writes their results. */
TWO(atan2) TWO(atan2pi) TWO(fdim) TWO(fmod) TWO(hypot) TWO(pow) TWO(powr) TWO(remainder) TWO(fmax) TWO(fmin) TWO(nextafter)
