/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed without tiles: the lanes of a warp read a column, an element of as many lines; the warps after it read the
 * lines' rest. */
__kernel void columns(__global const uint *in, __global uint *out, uint width, uint height)
{
    uint x = get_global_id(0), y = get_global_id(1);

    if (x < height && y < width)
        out[y * height + x] = in[x * width + y];
}
