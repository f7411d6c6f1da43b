/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix without tiles. The lanes of a warp read a column, so each lane reads one element of a different
 * cache line, and later warps read the other elements of these lines. */
__kernel void columns(__global const uint *in, __global uint *out, uint width, uint height)
{
    uint x = get_global_id(0), y = get_global_id(1);

    if (x < height && y < width)
        out[y * height + x] = in[x * width + y];
}
