/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 5003 };

int main(int argc, char **argv)
{
    static uint32_t in[N], out[N];
    uint32_t seed = 3, sum = 0;

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        in[i] = next_random(&seed);
        sum += in[i];
        out[i] = sum;
    }
    save("scan_in.bin", in, sizeof in);
    save("scan.expected", out, sizeof out);
    return 0;
}
