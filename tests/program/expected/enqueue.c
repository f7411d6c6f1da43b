/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { PARTS = 4, DEEPEST = 6, GROUPS = 64, N = GROUPS * PARTS };
static uint32_t cells[DEEPEST], sums[DEEPEST], after[2 * N];

static uint32_t energy_of(uint32_t seed)
{
    seed ^= seed >> 15;
    seed *= 0x2c1b3c6du;
    seed ^= seed >> 12;
    return seed * 0x297a2d39u >> 16;
}

static void refine(uint32_t seed, unsigned level)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        uint32_t mine = seed * 5 + i + 1, energy = energy_of(mine);

        cells[level]++;
        sums[level] += energy;
        if (energy >= 40000 && level + 1 < DEEPEST)
            refine(mine, level + 1);
    }
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    for (uint32_t g = 0; g < GROUPS; g++)
        refine(g, 0);
    for (uint32_t i = 0; i < N; i++) {
        after[i] = 1;
        after[N + i] = 1 + i;
    }
    save("enqueue.cells.expected.bin", cells, sizeof cells);
    save("enqueue.sums.expected.bin", sums, sizeof sums);
    save("enqueue.after.expected.bin", after, sizeof after);
    return 0;
}
