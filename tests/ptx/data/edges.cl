/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions in edge cases in which libclc was found wrong: subnormal results, signs of zeros, and arguments outside the
 * tables of libclc. Writes 0 for each result that is within the error bound. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
static int wrong(float got, float want, int units)
{
    if (isnan(want))
        return !isnan(got);
    if (want == 0 || isinf(want))
        return as_int(got) != as_int(want);
    return abs(as_int(got) - as_int(want)) > units;
}
static int wrong_double(double got, double want, int units)
{
    if (isnan(want))
        return !isnan(got);
    if (want == 0 || isinf(want))
        return as_long(got) != as_long(want);
    return abs(as_long(got) - as_long(want)) > units;
}
__kernel void edges(__global const float *x, __global const float *y, __global const int *k,
                    __global const float *want, __global const double *z,
                    __global const double *gamma, __global int *out, int n)
{
    int i = get_global_id(0), q;
    float3 whole;
    __global const float *want_i = want + 16 * i;

    if (i >= n)
        return;
    out[16 * i] = wrong(exp(x[i]), want_i[0], 3);
    out[16 * i + 1] = wrong(exp2(x[i]), want_i[1], 3);
    out[16 * i + 2] = wrong(erfc(x[i]), want_i[2], 16);
    out[16 * i + 3] = wrong(ldexp((float2)(x[i], y[i]), (int2)(k[i])).y, want_i[3], 0);
    out[16 * i + 4] = wrong(fmod(x[i], y[i]), want_i[4], 0);
    out[16 * i + 5] = wrong(remainder(x[i], y[i]), want_i[5], 0);
    out[16 * i + 6] = wrong(remquo(x[i], y[i], &q), want_i[5], 0);
    out[16 * i + 7] = wrong(rootn(x[i], k[i]), want_i[7], 16);
    out[16 * i + 8] = wrong(cospi(x[i]), want_i[8], 4);
    out[16 * i + 9] = wrong(sinpi(x[i]), want_i[9], 4);
    out[16 * i + 10] = wrong(tanpi(x[i]), want_i[10], 6);
    out[16 * i + 11] = wrong(tgamma(x[i]), want_i[11], 16) |
                       wrong_double(tgamma(z[i]), gamma[i], 16);
    out[16 * i + 12] = wrong(lgamma(x[i]), want_i[12], 200);
    out[16 * i + 13] = wrong(fract((float3)(x[i]), &whole).z, want_i[13], 0);
    out[16 * i + 14] = wrong((float)(cosh((double)x[i]) - sinh((double)y[i])), want_i[14], 2);
    out[16 * i + 15] = wrong((float)(cos((double)x[i] * 0x1p300) + ldexp((double)y[i], k[i])), want_i[15], 2);
}
