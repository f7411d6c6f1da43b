/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 5003 };

int main(int argc, char **argv)
{
    static uint32_t in[N], out[N];
    uint32_t sum = 0;

    begin(argc, argv);
    for (int i = 0; i < N; i++) {
        in[i] = (uint32_t)launch_random(3, (uint64_t)i);
        sum += in[i];
        out[i] = sum;
    }
    save("scan.expected.bin", out, sizeof out);
    return 0;
}
