/* SPDX-License-Identifier: Apache-2.0 */
static inline int tri(int a) { return a * 3; }
static inline int outer(int a, __global int *out) { out[a] = tri(a) + 1; return a; }
__kernel void k(__global int *out)
{
    int i = get_global_id(0);
    outer(i, out);
}
