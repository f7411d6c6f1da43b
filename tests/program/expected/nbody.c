/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 256 };

int main(int argc, char **argv)
{
    static float body[N][4], acceleration[N][4];

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 4; k++)
            body[i][k] = (float)(launch_uniform(6, (uint64_t)(4 * i + k)) * 10.0);
    }
    /* The sums are computed in double, because the check has a tolerance. */
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
    save("nbody.expected.bin", acceleration, sizeof acceleration);
    return 0;
}
