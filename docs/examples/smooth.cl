// SPDX-License-Identifier: Apache-2.0
// Adds to each element its two neighbours. The kernel has a bug: see docs/tutorial/first-gdb.md.
kernel void smooth(global const int *in, global int *out, int n)
{
    int i = get_global_id(0);
    int left = i > 1 ? in[i - 1] : 0;
    int right = i < n - 1 ? in[i + 1] : 0;

    out[i] = left + in[i] + right;
}
