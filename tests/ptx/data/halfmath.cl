/* SPDX-License-Identifier: Apache-2.0 */
/* Computes functions of one half for all 65,536 values, and of two halves for pairs. halfmath_check.c checks the results. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ONE(F) out[at] = F(x); at += 65536;
#define TWO(F) out[at] = F(x, y); at += 65536;
kernel void one(global half *out)
{
    size_t at = get_global_id(0);
    half x = as_half((ushort)at);
#include "halfmath_one.h"
}
/* In the first half of the pairs, the second number is any number; in the other pairs, it is close to the first number. */
kernel void two(global half *out)
{
    size_t at = get_global_id(0);
    uint r = (uint)at * 2654435761u + 12345;
    half x = as_half((ushort)at), y = as_half((ushort)(at % 2 != 0 ? r >> 13 : (at & 0xfc00) + (r >> 22)));
#include "halfmath_two.h"
}
/* Sets bad[i] to 0 if results for vectors, pointers, conversions and relations agree with those for scalars. */
#define SAME(a, b) (isnan((float)(a)) ? isnan((float)(b)) : as_ushort(a) == as_ushort(b))
kernel void same(global int *bad)
{
    const int i = get_global_id(0);
    const half x = as_half((ushort)i), y = as_half((ushort)(i * 40503 + 7));
    const half4 v = (half4)(x, y, (half)1.5f, -x);
    half p, q;
    half4 w, z;
    int4 n4;
    int n, wrong = 0;

    wrong |= !SAME(cos(v).y, cos(y)) || !SAME(fma(v, v.yxwz, v.zwxy).s3, fma(-x, (half)1.5f, y));
    p = sincos(x, &q), w = sincos(v, &z);
    wrong |= (!SAME(p, w.x) || !SAME(q, z.x) || !SAME(q, cos(x))) << 1;
    p = modf(x, &q), w = modf(v, &z);
    wrong |= (!SAME(p, w.x) || !SAME(q, z.x) || (isfinite(x) && !SAME(q, trunc(x)))) << 2;
    p = frexp(x, &n), w = frexp(v, &n4);
    wrong |= (!SAME(p, w.x) || (isfinite(x) && (n != n4.x || !SAME(ldexp(p, n), x)))) << 3;
    p = fract(x, &q), w = fract(v, &z);
    wrong |= (!SAME(p, w.x) || !SAME(q, z.x) || (isfinite(x) && (!(p >= 0 && p < 1) || !SAME(q, floor(x))))) << 4;
    p = remquo(x, y, &n), w = remquo(v, v.yxwz, &n4);
    wrong |= (!SAME(p, w.x) || (!isnan(p) && n != n4.x) || !SAME(p, remainder(x, y))) << 5;
    wrong |= (isequal(x, y) != (x == y) || isless(v, v.yxwz).x != -(int)(x < y) || isnan(v).y != -isnan((float)y) ||
              isnormal(x) != (isnormal((float)x) && fabs((float)x) >= 0x1p-14f) || signbit(v).x != -(as_ushort(x) >> 15)) << 6;
    wrong |= (!SAME(select(x, y, (short)1), y) || !SAME(select(v, v.yxwz, (short4)(-1, 0, 0, 0)).x, y) ||
              !SAME(shuffle(v, (ushort4)(1, 0, 3, 2)).x, y) || !SAME(shuffle2(v, v, (ushort2)(5, 0)).x, y) ||
              as_ushort(bitselect(x, y, as_half((ushort)0xff))) != ((as_ushort(x) & 0xff00) | (as_ushort(y) & 0xff))) << 7;
    wrong |= (convert_int_sat(x) != convert_int_sat((float)x) || convert_uchar4_sat_rtp(v).y != convert_uchar_sat_rtp((float)y) ||
              convert_long_rtn(x) != convert_long_rtn((float)x) || !SAME(convert_half4_rtz(convert_float4(v)).y, y)) << 8;
    if (isfinite(x) && x != as_half((ushort)0x7bff)) {
        const float between = (float)x + (float)nextafter(x, (half)INFINITY), f = between / 2;

        wrong |= (!SAME(convert_half_rtp(f), nextafter(x, (half)INFINITY)) || (x != as_half((ushort)0x8000) && !SAME(convert_half_rtn(f), x)) ||
                  !SAME(convert_half_rtz(f), f > 0 ? convert_half_rtn(f) : convert_half_rtp(f)) ||
                  !SAME(convert_half_rtz((double)f), convert_half_rtz(f))) << 9;
    }
    wrong |= (!SAME(convert_half_rtp(i + 2049), nextafter((half)(float)(i + 2048), (half)INFINITY)) && i % 2 == 0 && i < 2000) << 10;
    wrong |= (!SAME(max(x, y), x < y ? y : x) || !SAME(clamp(v, (half)-1, (half)1).w, clamp(-x, (half)-1, (half)1)) ||
              !SAME(copysign(x, y), as_half((ushort)((as_ushort(x) & 0x7fff) | (as_ushort(y) & 0x8000)))) ||
              !SAME(nan((ushort)3), as_half((ushort)0x7e03)) || ilogb(v).y != ilogb((float)y)) << 11;
    bad[i] = wrong;
}
