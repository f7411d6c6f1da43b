/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of several calls, each with variables, for tests of debuggers. */
int leaf(int x, int y)
{
    int q = x * y;

    q += 1; /* in the leaf */
    return q;
}

int fact(int n, int depth)
{
    int mine = n + 100 * depth;
    if (n <= 1)
        return leaf(mine, 1) - mine;
    int rest = fact(n - 1, depth + 1);
    return n * rest;
}

__kernel void calls(__global int *out, int n)
{
    int i = get_global_id(0);
    int arr[3];
    arr[i % 3] = i;
    int f = fact(4 + i % 2, 0);
    out[i] = f + arr[i % 3];
}
