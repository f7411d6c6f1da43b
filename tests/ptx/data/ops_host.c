/* SPDX-License-Identifier: Apache-2.0 */
/* Writes in.bin and want.bin, the input and the expected output of the expressions in ops.inc, into the current folder. The
 * program is compiled with -fwrapv. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "host_random.h"

static int float_bits(float f)
{
    int i;

    memcpy(&i, &f, sizeof i);
    return i;
}
static long double_bits(double d)
{
    long i;

    memcpy(&i, &d, sizeof i);
    return i;
}
#define FBITS(x) float_bits(x)
#define DBITS(x) double_bits(x)
#define SUM sum_of
#include "ops_sum.inc"

enum { N = 1000, CASES = 64 };
static int in[8 * N], out[CASES * N];
static int save(const char *name, const int *data, size_t count)
{
    FILE *f = fopen(name, "wb");
    size_t n = f != NULL ? fwrite(data, sizeof *data, count, f) : 0;

    return (f != NULL && fclose(f) == 0 && n == count) ? 0 : 1;
}

int main(void)
{
    for (int i = 0; i < 8 * N; i++) {
        in[i] = next() % 5 == 0 ? (int)(next() % 64) - 32 : (int)next();
        if (i >= 6 * N) {
            float f = (float)((int)next() % 2000001) / (float)(1 + next() % 977);

            if (i % 7 == 0)
                f = (float)((int)(next() % 9) - 4);
            if (f == 0)
                f = 2;
            memcpy(&in[i], &f, sizeof f);
        }
    }
    for (int i = 0; i < N; i++) {
        int n = N, a = in[i], b = in[n + i];
        long p = (long)((unsigned long)in[2 * n + i] << 32) | (unsigned)in[3 * n + i];
        long q = (long)((unsigned long)in[4 * n + i] << 32) | (unsigned)in[5 * n + i];
        float x, y;

        memcpy(&x, &in[6 * n + i], sizeof x);
        memcpy(&y, &in[7 * n + i], sizeof y);
        double u = (double)x * 1.25, v = (double)y * 0.75 + 3;
#define OP(k, e) out[k * n + i] = (e);
#include "ops.inc"
    }
    return save("in.bin", in, 8 * N) | save("want.bin", out, CASES * N);
}
