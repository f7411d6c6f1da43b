/* SPDX-License-Identifier: Apache-2.0 */
/* Cases in which clang or libclc was found wrong: variables of vectors with three elements, which have the size of four; nan of
 * ulong; signs of zeros of functions of double; ctz; conversions with a rounding mode; initial values of half. */
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
/* Counts wrong results. a: values, whose signs count if they are zero. */
__kernel void signs(__global const double *a, __global int *bad)
{
    const int i = get_global_id(0);
    const double x = a[5 * i];
    const double4 got = (double4)(sinpi(x), cospi(x), tanpi(x), atanpi((double2)(x)).y);

    for (int k = 0; k < 4; k++) {
        const double want = a[5 * i + k + 1];
        if (want == 0 || isinf(want) ? as_long(got[k]) != as_long(want) : !(fabs(got[k] - want) <= 4 * 0x1p-52 * fabs(want)))
            atomic_inc(bad);
    }
}
/* Counts wrong results of ctz. */
__kernel void trailing(__global int *bad)
{
    const int i = get_global_id(0);
    const long x = i == 64 ? 0 : (long)(~0ul << i);

    if (ctz(x) != i || ctz((ulong2)(x)).y != i || ctz((int)x) != min(i, 32) || ctz((uint3)((uint)x)).z != min(i, 32) ||
        ctz((short)x) != min(i, 16) || ctz((ushort16)((ushort)x)).sf != min(i, 16) || ctz((char)x) != min(i, 8) ||
        ctz((uchar8)((uchar)x)).s7 != min(i, 8))
        atomic_inc(bad);
}
/* Copies variables of half with initial values. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__constant half half_1 = 1.5h, half_2 = -0x1p-20h, half_3 = 65504.0h, half_4 = -0.0h, half_5 = 0x1.ff8p-15h, pair[2] = {2.0h, 3.0h};
__attribute__((noinline)) ushort bits(__constant half *p)
{
    return as_ushort(*p);
}
__kernel void initialised(__global ushort *out)
{
    out[0] = bits(&half_1);
    out[1] = bits(&half_2);
    out[2] = bits(&half_3);
    out[3] = bits(&half_4);
    out[4] = bits(&half_5);
    out[5] = bits(pair + 1);
}
/* Counts wrong results of conversions with a rounding mode. */
__kernel void conversions(__global const ulong *a, __global int *bad)
{
    const ulong all = a[2]; /* 2^52 - 1 */
    const double small = -0x1.8p-150;
    int wrong = 0;

    wrong += convert_float_rtz((int)(all >> 21)) != 0x1.fffffep+30f || convert_float2_rtn((int2)(all >> 21)).y != 0x1.fffffep+30f;
    wrong += convert_float_rtp((int)(all >> 21)) != 0x1p+31f || convert_float_rtn(-(int)(all >> 21)) != -0x1p+31f;
    wrong += convert_float_rtz((uint)all) != 0x1.fffffep+31f || convert_float3_rtn((uint3)(all)).z != 0x1.fffffep+31f;
    wrong += convert_float_rtz(~(all >> 52)) != 0x1.fffffep+63f || convert_float16_rtn((ulong16)(~0ul)).sf != 0x1.fffffep+63f;
    wrong += convert_float_rtz((long)(all << 11 | 0x7ff)) != 0x1.fffffep+62f || convert_float_rtn((long)(all << 11 | 0x7ff)) != 0x1.fffffep+62f;
    wrong += convert_double_rtz(~(all >> 52)) != 0x1.fffffffffffffp+63 || convert_double_rtn(~(all >> 52)) != 0x1.fffffffffffffp+63;
    wrong += convert_double_rtz((long)(all << 11 | 0x7ff)) != 0x1.fffffffffffffp+62 || convert_double_rtp((long)(all << 11 | 0x7ff)) != 0x1p+63;
    wrong += as_int(convert_float_rtp(small)) != 0x80000000 || as_int(convert_float4_rtz((double4)(small)).w) != 0x80000000;
    *bad += wrong;
}
/* Counts results that are not -0. a: -0, and a number that is little below 0. */
#define ZERO(E) ((as_ulong(E) != 0x8000000000000000) << n++)
__kernel void zeros(__global const double *a, __global int *bad)
{
    const double x = a[0], below = a[1];
    double whole, cosine;
    double3 wholes, cosines;
    int n = 0, wrong = ZERO(sin(x)) | ZERO(tan(x)) | ZERO(atan(x)) | ZERO(expm1(x)) | ZERO(erf(x)) | ZERO(asin(x)) | ZERO(sinh(x)) | ZERO(tanh(x));

    wrong |= ZERO(sin((double2)(x)).y) | ZERO(tan((double3)(x)).z) | ZERO(atan((double4)(x)).w) | ZERO(expm1((double8)(x)).s7) | ZERO(erf((double16)(x)).sf);
    wrong |= ZERO(fract(x, &whole)) | ZERO(whole) | ZERO(fract((double3)(x), &wholes).z) | ZERO(wholes.z);
    wrong |= ZERO(sincos(x, &cosine)) | ZERO(sincos((double3)(x), &cosines).z);
    wrong |= (cosine != 1 || cosines.z != 1) << n++;
    wrong |= (fract(below, &whole) != 0x1.fffffffffffffp-1 || whole != -1 || fract(2.75, &whole) != 0.75 || whole != 2) << n++;
    wrong |= (fabs(sin(below + 1) - 0x1.aed548f090ceep-1) > 0x1p-52 || fabs(expm1(below - 1) + 0x1.43a54e4e98864p-1) > 0x1p-52) << n++;
    *bad |= wrong;
}
/* Counts wrong sizes of dimensions that a range of one dimension does not have. d: 1 to 4. */
__kernel void sizes(__global const uint *d, __global int *bad)
{
    for (int i = 0; i < 4; i++)
        if (get_global_size(d[i]) != 1 || get_local_size(d[i]) != 1 || get_num_groups(d[i]) != 1 || get_global_id(d[i]) != 0 ||
            get_local_id(d[i]) != 0 || get_group_id(d[i]) != 0 || get_global_offset(d[i]) != 0)
            atomic_inc(bad);
    if (get_global_size(0) != 12 || get_local_size(0) != 4 || get_num_groups(0) != 3 || get_global_size(4) != 1 || get_local_size(3) != 1)
        atomic_inc(bad);
}
/* Stores the elements of parameters that are vectors of two bytes. */
__kernel void pairs(char2 c, uchar2 u, short2 s, __global int *out, char2 last)
{
    const int i = 8 * get_global_id(0);

    out[i] = c.x;
    out[i + 1] = c.y;
    out[i + 2] = u.x;
    out[i + 3] = u.y;
    out[i + 4] = s.x;
    out[i + 5] = s.y;
    out[i + 6] = last.x;
    out[i + 7] = (u - as_uchar2(last)).y;
}
/* Stores where regions of local memory begin, modulo the size of the largest type. */
__kernel void places(__local char *a, __local double4 *b, __local double16 *c, __local float *d, __global ulong *out)
{
    out[0] = (ulong)a & 127;
    out[1] = (ulong)b & 127;
    out[2] = (ulong)c & 127;
    out[3] = (ulong)d & 127;
    b[0] = 0;
    c[1] = 0;
}

#define SATURATED(T) \
    *bad |= convert_##T##_sat(d) != 0 || convert_##T##_sat_rte(f) != 0 || convert_##T##4_sat_rtn((double4)(1.0, d, d, d)).w != 0;

/* Saturated conversions of NaN, which is inf - inf, to 0. */
kernel void invalid(float inf, global int *bad)
{
    const float f = inf - inf;
    const double d = f;

    SATURATED(char) SATURATED(uchar) SATURATED(short) SATURATED(ushort) SATURATED(int) SATURATED(uint) SATURATED(long) SATURATED(ulong)
    *bad |= convert_long_sat_rtp(1e30f) != LONG_MAX || convert_uint_sat(-1e30) != 0 || convert_char_sat_rte(2.5) != 2;
}
