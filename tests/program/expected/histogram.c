/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 30000 };

int main(int argc, char **argv)
{
    static uint32_t data[N], bins[256];
    uint32_t seed = 4;

    begin(argc, argv);
    /* The product of two random numbers is not uniform, so that some bins get many elements. */
    for (int i = 0; i < N; i++) {
        data[i] = (next_random(&seed) & 0xff) * (next_random(&seed) & 0xff) >> 8;
        bins[data[i] & 0xff]++;
    }
    save("histogram_data.bin", data, sizeof data);
    save("histogram.expected.bin", bins, sizeof bins);
    return 0;
}
