/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the arguments and expected results of edges.cl into the current folder. The host's C library computes the results in
 * long double, and the program rounds them once. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host_random.h"

enum { N = 1024 };
static float x[N], y[N], want[16 * N];
static double z[N], gammas[N];
static int32_t k[N];
static long double turn(long double v) /* reduces an angle in units of half turns to [-1, 1] */
{
    return v - 2 * rintl(v / 2);
}

static float sine(float v)
{
    long double r = turn(v), a = fabsl(r);

    return isinf(v)         ? NAN
           : a == 0 || a == 1 ? copysignf(0, v)
                              : copysignl(sinl(M_PIl * (a > 0.5L ? 1 - a : a)), r);
}

static float cosine(float v)
{
    long double a = fabsl(turn(v));

    return isinf(v) ? NAN : a == 0.5L ? 0 : a > 0.5L ? -sinl(M_PIl * (a - 0.5L)) : cosl(M_PIl * a);
}

static float tangent(float v)
{
    long double r = v - rintl(v);

    if (isinf(v) || isnan(v))
        return NAN;
    if (r == 0)
        return copysignf(0, fabsl(turn(v)) == 1 ? -v : v);
    if (fabsl(r) == 0.5L)
        return fabsl(turn(v - 0.5L)) == 1 ? -INFINITY : INFINITY;
    return tanl(M_PIl * r);
}

static float root(float v, int n)
{
    long double r = powl(fabsl(v), 1.0L / n);

    return n == 0 || (v < 0 && n % 2 == 0) ? NAN : n % 2 != 0 ? copysignl(r, v) : r;
}

static void save(const char *name, const void *data, size_t size)
{
    FILE *f = fopen(name, "wb");

    fwrite(data, size, 1, f);
    fclose(f);
}

int main(void)
{
    static const float odd[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1, -1, 0x1p-149f, -0x1p-149f,
                                0x1p-126f, 0x1.fffffep-127f, -0x1p-126f, 0x1.fffffep+127f, 2.5f,
                                -0.5f, 3};

    for (int i = 0; i < N; i++) {
        uint32_t bits = next(), other = next();

        memcpy(&x[i], &bits, 4);
        memcpy(&y[i], &other, 4);
        if (i < 256) {
            x[i] = odd[i / 16];
            y[i] = odd[i % 16];
        } else if (i < 448) {
            x[i] = (float)(i - 352) * 0.5f;
        } else if (i < 640) {
            x[i] = -(float)(int)(next() >> 8) * 0x1.4p-17f; /* numbers down to -160 */
            y[i] = ldexpf(x[i], (int)(next() % 60) - 50);
        } else if (i < 768) {
            x[i] = ldexpf(x[i], -300); /* most of these numbers are subnormal */
            y[i] = ldexpf((float)(other >> 8), -149 - (int)(other & 15));
        }
        k[i] = i % 7 == 0 ? (i % 2 ? INT32_MAX : INT32_MIN) : (int)(next() % 600) - 300;
        if (i % 5 == 0)
            k[i] = (int)(next() % 7) - 3;
    }
    for (int i = 0; i < N; i++) {
        float *w = want + 16 * i;
        int n = k[i] > 99999 ? 99999 : k[i] < -99999 ? -99999 : k[i];
        float part = x[i] - floorf(x[i]);

        z[i] = i % 3 == 0 ? x[i] : ldexp((double)(int)next(), (int)(next() % 26) - 49 - (i % 32 == 1 ? 200 : 0));
        gammas[i] = z[i] < -190 && z[i] != rint(z[i]) ? copysignl(0, turn(z[i])) : tgammal(z[i]);
        w[0] = expl(x[i]);
        w[1] = exp2l(x[i]);
        w[2] = erfcl(x[i]);
        w[3] = ldexpl(y[i], n);
        w[4] = fmodf(x[i], y[i]);
        w[5] = remainderf(x[i], y[i]);
        w[7] = root(x[i], k[i]);
        w[8] = cosine(x[i]);
        w[9] = sine(x[i]);
        w[10] = tangent(x[i]);
        w[11] = tgammal(x[i]);
        w[12] = lgammal(x[i]);
        w[13] = x[i] == 0 || isinf(x[i]) ? copysignf(0, x[i]) : part < 1 || isnan(part) ? part : 0x1.fffffep-1f;
        w[14] = (double)coshl(x[i]) - (double)sinhl(y[i]);
        w[15] = (double)cosl(x[i] * 0x1p300L) + (double)ldexpl(y[i], n);
    }
    save("x.bin", x, sizeof x);
    save("y.bin", y, sizeof y);
    save("k.bin", k, sizeof k);
    save("want.bin", want, sizeof want);
    save("z.bin", z, sizeof z);
    save("gamma.bin", gammas, sizeof gammas);
    return 0;
}
