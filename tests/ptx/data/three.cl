/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of vectors with three elements, which have the size of four, and nan of ulong. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__constant uchar3 bytes = (uchar3)(1, 2, 3);
__constant short3 halves = (short3)(4, 5, 6);
__constant float3 floats = (float3)(7, 8, 9);
__constant double3 doubles = (double3)(10, 11, 12);
__attribute__((noinline)) int sum(__constant uchar3 *a, __constant short3 *b, __constant float3 *c, __constant double3 *d)
{
    double3 x = convert_double3(*a) + convert_double3(*b) + convert_double3(*c) + *d;

    return (int)(x.x + x.y + x.z);
}
__kernel void three(__global int *out, __global const ulong *code)
{
    __local float3 whole;
    __local float after;
    __local short3 half_whole;
    __local short half_after;
    const int i = get_local_id(0);

    if (i == 0) {
        after = 100;
        half_after = 200;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 1) {
        whole = (float3)(out[0], 2, 3);
        half_whole = (short3)(out[1], 5, 6);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[2 * i + 2] = (int)(whole.x + whole.y + whole.z + after) + half_whole.x + half_whole.y + half_whole.z + half_after;
    out[2 * i + 3] = sum(&bytes, &halves, &floats, &doubles) + (isnan(nan(code[i])) ? 1000 : 0) + (isnan(nan((ulong2)(code[i])).y) ? 1000 : 0);
}
