/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the greatest m with significand * m^2 <= 2^160, one bit after the other, with numbers of 192 bits. */
#include "tests/model/ref_root.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/** Return whether significand * m^2 <= 2^160. The significand is below 2^54, and m is at most 2^54. */
static bool fits(uint64_t significand, uint64_t m)
{
    unsigned __int128 square = (unsigned __int128)m * m;
    unsigned __int128 low = (unsigned __int128)significand * (uint64_t)square;
    unsigned __int128 high = (unsigned __int128)significand * (uint64_t)(square >> 64) +
                             (uint64_t)(low >> 64);
    unsigned __int128 limit = (unsigned __int128)1 << 96;

    return high < limit || (high == limit && (uint64_t)low == 0);
}

double ref_rsq_d(double x)
{
    int exponent;
    uint64_t significand, m = 0;

    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0)
        return copysign(INFINITY, x);
    if (isinf(x))
        return 0;
    significand = (uint64_t)ldexp(frexp(x, &exponent), 53); /* x = significand * 2^exponent */
    exponent -= 53;
    if (exponent % 2 != 0) {
        significand *= 2;
        exponent--;
    }
    for (int bit = 54; bit >= 0; bit--)
        if (fits(significand, m | UINT64_C(1) << bit))
            m |= UINT64_C(1) << bit;
    /* The root m has 54 bits, of which the last one decides the rounding. A tie is impossible, since the square of an odd
     * number greater than one does not divide a power of two. */
    return ldexp((double)((m + 1) / 2), -79 - exponent / 2);
}
