/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 3000 };

int main(int argc, char **argv)
{
    static uint32_t out[N];

    begin(argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t x = i % 2 != 0 ? 3 * i + 1 : i / 2;

        for (uint32_t k = i % 7; k > 0; k--)
            x = x % 3 == 0 ? x + 5 : x * 5 + i;
        out[i] = x < 1000 ? x ^ 0x80000000u : x;
    }
    save("styles.expected.bin", out, sizeof out);
    return 0;
}
