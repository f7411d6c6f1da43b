/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread prints its ids. The output is in the order of blocks and of the lanes in them. */
__kernel void hello(__global const float *x, int n)
{
    int i = (int)get_global_id(0);

    if (i < n) {
        float4 v = (float4)(x[i], x[i] * 0.5f, x[i] * x[i], -x[i]);

        printf("hello from thread %2d of group %d: %s %v4hlg\n", i, (int)get_group_id(0),
               i % 2 != 0 ? "odd" : "even", v);
    }
}
