/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static float body[N][4], acceleration[N][4];
    uint32_t seed = 6;

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 3; k++)
            body[i][k] = (float)(next_random(&seed) % 1000) * 0.01f;
        body[i][3] = 0.5f + (float)(next_random(&seed) % 100) * 0.01f;
    }
    /* In double: the check has a tolerance. */
    for (int i = 0; i < N; i++) {
        double sum[3] = {0, 0, 0};

        for (int j = 0; j < N; j++) {
            double d[3], r2 = 0.01, f;

            for (int k = 0; k < 3; k++) {
                d[k] = (double)body[j][k] - (double)body[i][k];
                r2 += d[k] * d[k];
            }
            f = (double)body[j][3] / (r2 * sqrt(r2));
            for (int k = 0; k < 3; k++)
                sum[k] += f * d[k];
        }
        for (int k = 0; k < 3; k++)
            acceleration[i][k] = (float)sum[k];
    }
    save("nbody_body.bin", body, sizeof body);
    save("nbody.expected", acceleration, sizeof acceleration);
    return 0;
}
