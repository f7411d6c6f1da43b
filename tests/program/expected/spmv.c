/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 800, MOST = 40 };

int main(int argc, char **argv)
{
    static uint32_t row[N + 1], column[N * MOST];
    static float value[N * MOST], x[N], y[N];
    uint32_t seed = 8, entries = 0;

    begin(argc, argv);
    for (int i = 0; i < N; i++)
        x[i] = (float)(next_random(&seed) % 64) - 32.0f;
    /* The values are small integers, so sums are exact. Rows have 0 to MOST elements. */
    for (int i = 0; i < N; i++) {
        uint32_t length = next_random(&seed) % 4 == 0 ? next_random(&seed) % (MOST + 1)
                                                      : next_random(&seed) % 6;
        float sum = 0;

        row[i] = entries;
        for (uint32_t k = 0; k < length; k++) {
            column[entries] = next_random(&seed) % N;
            value[entries] = (float)(next_random(&seed) % 16) - 8.0f;
            sum += value[entries] * x[column[entries]];
            entries++;
        }
        y[i] = sum;
    }
    row[N] = entries;
    save("spmv_row.bin", row, sizeof row);
    save("spmv_column.bin", column, sizeof column);
    save("spmv_value.bin", value, sizeof value);
    save("spmv_x.bin", x, sizeof x);
    save("spmv.expected.bin", y, sizeof y);
    return 0;
}
