/* SPDX-License-Identifier: Apache-2.0 */
#include "expected.h"

enum { N = 2000, MOST = 8 };

int main(int argc, char **argv)
{
    static uint32_t row[N + 1], column[N * MOST], queue[N];
    static int32_t level[N];
    uint32_t seed = 5, edges = 0, head = 0, tail = 0;

    begin(argc, argv);
    /* Uneven degrees, and some vertices that cannot be reached. */
    for (uint32_t v = 0; v < N; v++) {
        uint32_t degree = next_random(&seed) % (v % 16 == 0 ? MOST + 1 : 4);

        row[v] = edges;
        for (uint32_t e = 0; e < degree; e++)
            column[edges++] = next_random(&seed) % N;
    }
    row[N] = edges;
    for (uint32_t v = 0; v < N; v++)
        level[v] = -1;
    save("bfs_row.bin", row, sizeof row);
    save("bfs_column.bin", column, sizeof column);
    level[0] = 0;
    save("bfs_level.bin", level, sizeof level);
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t v = queue[head++];

        for (uint32_t e = row[v]; e < row[v + 1]; e++) {
            uint32_t w = column[e];

            if (level[w] < 0) {
                level[w] = level[v] + 1;
                queue[tail++] = w;
            }
        }
    }
    save("bfs.expected.bin", level, sizeof level);
    return 0;
}
