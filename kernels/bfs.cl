/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search. Each launch processes one level: its vertices visit their neighbours.
 * Several threads may write the level of a vertex at the same time; all write the same value.
 */
__kernel void bfs(__global const uint *row, __global const uint *column, __global int *level,
                  __global uint *changed, uint n, int current)
{
    uint v = get_global_id(0);

    if (v >= n || level[v] != current)
        return;
    for (uint e = row[v]; e < row[v + 1]; e++) {
        uint w = column[e];

        if (level[w] < 0) {
            level[w] = current + 1;
            changed[0] = 1;
        }
    }
}
