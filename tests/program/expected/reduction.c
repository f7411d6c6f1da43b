/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 20000 };

int main(int argc, char **argv)
{
    static float in[N];
    double sum = 0;
    float total;
    uint32_t seed = 2;

    begin(argc, argv);
    /* The inputs are integers below 512 and the sum is below 2^24, so sums are exact in any order. */
    for (int i = 0; i < N; i++) {
        in[i] = (float)(next_random(&seed) % 512);
        sum += in[i];
    }
    total = (float)sum;
    save("reduction_in.bin", in, sizeof in);
    save("reduction.expected.bin", &total, sizeof total);
    return 0;
}
