/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 64 };

int main(int argc, char **argv)
{
    static float a[N][N], b[N][N], c[N][N];
    uint32_t seed = 1;

    begin(argc, argv);
    /* The inputs are multiples of a half below 4, so that every sum is exact, with and without fused operations. */
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            a[i][k] = (float)((i * N + k) % 7) * 0.5f;
            b[i][k] = (float)(next_random(&seed) % 8) * 0.5f - 2.0f;
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    }
    save("gemm_b.bin", b, sizeof b);
    save("gemm.expected.bin", c, sizeof c);
    return 0;
}
