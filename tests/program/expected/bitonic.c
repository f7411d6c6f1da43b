/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { SIZE = 256, GROUPS = 4 };

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static uint32_t key[GROUPS][SIZE];
    uint32_t seed = 7;

    begin(argc, argv);
    /* Some keys are equal, and some are above 2^31. */
    for (int g = 0; g < GROUPS; g++) {
        for (int i = 0; i < SIZE; i++)
            key[g][i] = (next_random(&seed) % 200) << 24 | (uint32_t)g;
    }
    save("bitonic_key.bin", key, sizeof key);
    for (int g = 0; g < GROUPS; g++)
        qsort(key[g], SIZE, sizeof key[g][0], ascending);
    save("bitonic.expected.bin", key, sizeof key);
    return 0;
}
