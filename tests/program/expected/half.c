/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 1000 };

static double value(uint16_t h)
{
    int exponent = h >> 10 & 31;
    double fraction = h & 1023;
    double r = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);

    return h & 0x8000 ? -r : r;
}

/** Converts to half, rounded once to nearest even. No infinities occur. */
static uint16_t half(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    double units;

    x = fabs(x);
    if (x == 0)
        return sign;
    frexp(x, &exponent);
    if (exponent < -13)
        exponent = -13; /* the unit of subnormal numbers is 2^-24 */
    units = nearbyint(ldexp(x, 11 - exponent));
    if (units == 2048) {
        units = 1024;
        exponent++;
    }
    if (units < 1024)
        return (uint16_t)(sign | (uint16_t)units);
    return (uint16_t)(sign | (uint16_t)((exponent + 14) << 10) | ((uint16_t)units & 1023));
}

int main(int argc, char **argv)
{
    static uint16_t a[N], b[N], fused[N], separate[N];
    uint32_t seed = 7;

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        a[i] = half((double)((int)(next_random(&seed) % 4001) - 2000) / 100);
        b[i] = half((double)((int)(next_random(&seed) % 4001) - 2000) / 1000);
        /* A double represents the product of two halves, and its sum with a half, exactly. */
        fused[i] = half(value(a[i]) * value(b[i]) + value(b[i]));
        separate[i] = half(value(half(value(a[i]) * value(b[i]))) + value(half(0.1f)));
    }
    save("half_a.bin", a, sizeof a);
    save("half_b.bin", b, sizeof b);
    save("half_fused.expected.bin", fused, sizeof fused);
    save("half_separate.expected.bin", separate, sizeof separate);
    return 0;
}
