/* SPDX-License-Identifier: Apache-2.0 */
/* Calls library functions, and rotations, for which compilers or libclc were found wrong. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#include "lib_jumps.inc"
#if __OPENCL_VERSION__ != 120
#error "a runtime defines this"
#endif
__kernel void lib(__global const uint *in, __global uint *out, int n)
{
    int i = get_global_id(0);

    if (i >= n)
        return;
    uint a = in[4 * i], b = in[4 * i + 1];
    ulong p = (ulong)a << 32 | in[4 * i + 2], q = (ulong)b << 32 | in[4 * i + 3];
    float x = as_float(in[4 * i + 3]);
    __global uint *o = out + 32 * i;
    __global ulong *w = (__global ulong *)(o + 8);
    __global half *h = (__global half *)(o + 28);
    __global uchar *bytes = (__global uchar *)(o + 16);
    int2 d = (int2)(a, b);
    ulong2 t = rotate((ulong2)(p, q), (ulong2)(q, a));

    o[0] = rotate(a, b);
    o[1] = a << (b & 31) | a >> (-b & 31);
    o[2] = abs_diff((int)a, (int)b);
    o[3] = abs_diff(d, d.yx).y;
    o[4] = rotate((int3)(1, a, 3), (int3)(b)).y;
    w[0] = rotate(p, q);
    w[1] = abs_diff((long)p, (long)q);
    w[2] = t.x;
    w[3] = t.y;
    vstore16(vload16(0, (__global const uchar *)(in + 4 * i)), 0, bytes);
    vstore16(vload16(0, (__global const char *)in + i % 100), 0, (__global char *)(o + 20));
    vstore_half_rtp(x, 0, h);
    vstore_half_rtn(x, 1, h);
    vstore_half2_rtp((double2)(x, -x), 1, h);
    vstorea_half4_rtn((float4)(x, -x, x * 2, x / 2), 1, h);
    o[24] = in[4 * i];
    o[25] = wandered(i, a);
    o[26] = unrolled(a, 1 + b % 40);
}
