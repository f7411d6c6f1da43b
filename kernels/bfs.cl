/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search, a level a launch: vertices of the current level visit their
 * neighbours. Several threads may give a vertex its level together; all write the same.
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
