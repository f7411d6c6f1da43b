/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 3000 };

int main(int argc, char **argv)
{
    static uint32_t length[N];
    uint32_t longest = 0;

    begin(argc, argv);
    for (uint32_t i = 0; i < N; i++) {
        uint64_t x = i + 1;

        for (; x != 1; length[i]++)
            x = x % 2 == 0 ? x / 2 : 3 * x + 1;
        if (length[i] > longest)
            longest = length[i];
    }
    save("collatz_length.expected.bin", length, sizeof length);
    save("collatz_longest.expected.bin", &longest, sizeof longest);
    return 0;
}
