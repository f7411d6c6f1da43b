/* SPDX-License-Identifier: Apache-2.0 */
/* A box filter of 7 x 7 elements that only uses global memory: each element is read 49 times. */
__kernel void blur(__global const uint *in, __global uint *out, int width, int height)
{
    int x = get_global_id(0), y = get_global_id(1);
    uint sum = 0;

    if (x >= width - 6 || y >= height - 6)
        return;
    for (int dy = 0; dy < 7; dy++)
        for (int dx = 0; dx < 7; dx++)
            sum += in[(y + dy) * width + x + dx];
    out[y * width + x] = sum;
}
