/* SPDX-License-Identifier: Apache-2.0 */
/* Writes in.bin and want.bin, the input and the expected output of lib.cl, into the current folder. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host_random.h"

enum { N = 1000, WORDS = 32 };
static uint32_t in[4 * N], out[WORDS * N];
static uint64_t turned(uint64_t x, unsigned n, unsigned bits)
{
    uint64_t r = 0;

    for (unsigned i = 0; i < bits; i++)
        r |= (x >> i & 1) << (i + n) % bits;
    return r;
}

/* Returns the value of a half that is no NaN, or for infinity a number above all finite halves. */
static double value_of(unsigned h)
{
    double m = (h & 0x7c00) == 0x7c00 ? 65536 * 2
               : (h & 0x7c00) == 0    ? ldexp(h & 0x3ff, -24)
                                      : ldexp(0x400 + (h & 0x3ff), (int)(h >> 10 & 31) - 25);

    return h & 0x8000 ? -m : m;
}

/* Returns the least half that is not below x. To round x down, callers round -x up and change the sign. */
static uint16_t up(double x)
{
    if (isnan(x))
        return 0x7fff;
    if (x > 0 || (x == 0 && !signbit(x))) { /* for positive halves, greater bits mean a greater value */
        unsigned h = 0;

        while (h < 0x7c00 && value_of(h) < x)
            h++;
        return (uint16_t)h;
    }
    unsigned h = 0x7bff; /* the loop finds the greatest magnitude that is not above the magnitude of x */

    while (h > 0 && value_of(h) > -x)
        h--;
    return (uint16_t)(isinf(x) ? 0xfc00 : 0x8000 | h);
}
static uint16_t down(double x)
{
    return isnan(x) ? 0x7fff : up(-x) ^ 0x8000;
}

#define uint uint32_t
#include "lib_jumps.inc"

int main(void)
{
    FILE *f;

    for (int i = 0; i < 4 * N; i++)
        in[i] = next();
    for (int i = 0; i < N; i++) { /* the magnitudes of the floats cover the range of halves, and a little more */
        float x = ldexpf((float)(int32_t)next(), -31 + (int)(next() % 46) - 28);

        if (i % 50 == 0)
            x = i % 100 == 0 ? INFINITY : 0;
        memcpy(&in[4 * i + 3], &x, 4);
    }
    for (int i = 0; i < N; i++) {
        uint32_t a = in[4 * i], b = in[4 * i + 1], *o = out + WORDS * i;
        uint64_t p = (uint64_t)a << 32 | in[4 * i + 2], q = (uint64_t)b << 32 | in[4 * i + 3];
        uint64_t w[4] = { turned(p, q & 63, 64), (int64_t)p > (int64_t)q ? p - q : q - p,
                          turned(p, q & 63, 64), turned(q, a & 63, 64) };
        float x;

        memcpy(&x, &in[4 * i + 3], 4);
        o[0] = o[1] = o[4] = (uint32_t)turned(a, b & 31, 32);
        o[2] = o[3] = (int32_t)a > (int32_t)b ? a - b : b - a;
        memcpy(o + 8, w, sizeof w);
        memcpy(o + 16, in + 4 * i, 16);
        memcpy(o + 20, (char *)in + i % 100, 16);
        o[24] = in[4 * i];
        o[25] = wandered((uint32_t)i, a);
        o[26] = unrolled(a, 1 + b % 40);
        uint16_t h[8] = { up(x), down(x), up(x), up(-x), down(x), down(-x), down(x * 2), down(x / 2) };

        memcpy(o + 28, h, sizeof h);
    }
    f = fopen("in.bin", "wb");
    fwrite(in, sizeof in, 1, f);
    fclose(f);
    f = fopen("want.bin", "wb");
    fwrite(out, sizeof out, 1, f);
    return fclose(f) != 0;
}
