/* SPDX-License-Identifier: Apache-2.0 */
/* Writes in.bin and want.bin, the input and the expected output of fun.cu, into the current folder. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_random.h"

enum { N = 1024, WORDS = 32 };
static uint32_t in[4 * N], out[WORDS * N];
static uint32_t bits_of(float x)
{
    uint32_t w;

    memcpy(&w, &x, 4);
    return w;
}

/* Returns @x rounded to @digits significant bits: truncated if @how is 0, to nearest even if @how is 1, and away from zero if
 * @how is 2. */
static double rounded(double x, int digits, int least, int how)
{
    int e;

    if (x == 0)
        return x;
    frexp(x, &e);
    e = (e < least ? least : e) - digits;
    double r = ldexp(x, -e);

    r = how == 0 ? floor(r) : how == 1 ? rint(r) : ceil(r);
    return ldexp(r, e);
}

static uint32_t half_of(double x, int up)
{
    double m = rounded(fabs(x), 11, -13, (x > 0) == up ? 2 : 0);
    uint32_t sign = signbit(x) ? 0x8000 : 0;
    int e;

    if (m >= 65536)
        return sign | ((x > 0) == up ? 0x7c00 : 0x7bff);
    if (m < ldexp(1, -14))
        return sign | (uint32_t)ldexp(m, 24);
    frexp(m, &e);
    return sign | (uint32_t)((e + 14) << 10) | ((uint32_t)ldexp(m, 11 - e) & 0x3ff);
}

static int part(uint32_t w, int at, int bits, int is_signed)
{
    uint32_t v = w >> at & ((1u << bits) - 1);

    return is_signed && v >> (bits - 1) ? (int)v - (1 << bits) : (int)v;
}

int main(void)
{
    FILE *f;

    for (int i = 0; i < 4 * N; i++)
        in[i] = next();
    for (int i = 0; i < N; i++) {
        float x = i % 9 == 0 ? 1 : ldexpf((float)(int32_t)next(), -31 + (int)(next() % 46) - 28);

        in[4 * i + 3] = bits_of(x);
        if (i % 5 == 0)
            in[4 * i + 1] = in[4 * i] & 0xffff0000;
    }
    for (int i = 0; i < N; i++) {
        uint32_t a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2], *o = out + WORDS * i;
        int sa = (int32_t)a, sb = (int32_t)b, sc = (int32_t)c, least = sa < sb ? sa : sb;
        uint64_t w = (uint64_t)a << 32 | b;
        double m = rounded(fabs((double)sa), 8, -126, 1);
        volatile float product = (float)sa * (float)sb, sum;
        float x;

        memcpy(&x, &in[4 * i + 3], 4);
        o[0] = bits_of((float)copysign(rounded(fabs((double)sa), 24, -126, 0), sa));
        while (w >> 24 != 0 && (w & (w - 1)) != 0 && 64 - __builtin_clzll(w) - __builtin_ctzll(w) > 24)
            w &= w - 1; /* clears the lowest set bits until 24 bits are left */
        o[1] = bits_of((float)w);
        sum = product + x;
        o[2] = bits_of(sum);
        o[3] = half_of(x, 1);
        o[4] = half_of(x, 0);
        o[5] = bits_of((float)copysign(m, sa)) >> 16;
        o[6] = bits_of(x) >> 16;
        if (x > 0 && (bits_of(x) & 0xffff) != 0)
            o[6]++;
        for (int k = 0; k < 32; k += 16) {
            int p = part(a, k, 16, 1), q = part(b, k, 16, 1), r = (int16_t)(p + q);
            int t = part(c, k, 16, 1), least16;

            o[7] |= (uint32_t)(uint16_t)abs(p - q) << k;
            o[9] |= (uint32_t)(uint16_t)((p + q + (p + q >= 0)) >> 1) << k;
            r = r > t ? r : t;
            o[10] |= (uint32_t)(uint16_t)(r > 0 ? r : 0) << k;
            p = part(a, k, 16, 0);
            q = part(b, k, 16, 0);
            least16 = p < q ? p : q;
            o[12] |= (uint32_t)least16 << k;
            o[13] |= (uint32_t)(least16 == p) << k / 16;
        }
        for (int k = 0; k < 32; k += 8) {
            o[8] += (uint32_t)abs(part(a, k, 8, 1) - part(b, k, 8, 1));
            o[14] |= (uint32_t)((part(a, k, 8, 0) + part(b, k, 8, 0)) >> 1) << k;
            o[17] += (uint32_t)abs(part(a, k, 8, 0) - part(b, k, 8, 0));
        }
        o[11] = (uint32_t)(least < sc ? least : sc);
        o[15] = 1 + 4;
        o[16] = 400u + (uint32_t)(i % 32 / 8);
        o[18] = 0xffff | ((a & 3) == 2 ? 0xffff0000u : 0);
    }
    f = fopen("in.bin", "wb");
    fwrite(in, sizeof in, 1, f);
    fclose(f);
    f = fopen("want.bin", "wb");
    fwrite(out, sizeof out, 1, f);
    return fclose(f) != 0;
}
