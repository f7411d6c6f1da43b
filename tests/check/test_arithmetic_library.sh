#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests findings of class arithmetic inside library functions. Functions of OpenCL C with ordinary arguments must have none,
# and saturating conversions must have none for any argument. If a library function returns NaN or infinity, this must be
# reported. Operations of the kernel itself next to calls must be reported, too.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# usage: run NAME OPTIONS TYPE [OPTION...]. Runs NAME.$suffix with the buffers u (any numbers), p (positive numbers),
# s (numbers from -1 to 1) and e (exponents)
run()
{
    name=$1
    cat >"$name.yaml" <<END
program: {source: $name.$suffix, options: [$2]}
buffers:
  o: {type: f64, count: 8192}
  u: {type: $3, count: 8, init: [-1000, -30, -1, -0.3, 0, 0.3, 5, 1000]}
  p: {type: $3, count: 8, init: [0.001, 0.3, 1, 1.5, 2, 30, 1000, 1000000]}
  s: {type: $3, count: 8, init: [-1, -0.9, -0.3, 0, 0.2, 0.3, 0.9, 1]}
  e: {type: $3, count: 8, init: [-1000, -700, -100, -30, -1, 0, 5, 30]}
steps:
  - launch: {entry: k, grid: 1, block: 8, args: [o, u, p, s, e]}
END
    shift 3
    "$lanewise" run -q "--check=arithmetic$uninitialised" "$@" "$name.yaml" >out 2>err
}
uninitialised=
suffix=cl

# usage: functions TYPE. Prints a kernel that calls all functions of OpenCL C with numbers from the buffers
functions()
{
    cat <<END
#pragma OPENCL EXTENSION cl_khr_fp64: enable
typedef $1 T;
kernel void k(global double *o, global const T *u_, global const T *p_, global const T *s_, global const T *e_)
{
    int n = get_global_id(0), x;
    T u = u_[n], p = p_[n], s = s_[n], e = e_[n], t;
    ${1}3 v = (${1}3)(u, p, s);

    o += n;
END
    for call in "ceil cos cospi erf erfc fabs floor rint round sin sinpi tan trunc tanh atan atanpi asinh cbrt degrees radians sign:u" \
        "log log2 log10 sqrt rsqrt logb log1p:p" "acos asin acospi asinpi tanpi sinh cosh:s" "exp exp2 exp10 expm1:e" \
        "atan2 atan2pi copysign fdim fmax fmin fmod remainder hypot maxmag minmag nextafter max min step:u, p" \
        "atanh:s * (T)0.9" "acosh:p + 1" "lgamma:p" "tgamma:s * s + (T)0.5" "pow powr:p, s * 3" "pown:p, 3 - n" \
        "rootn:p, 3" "ldexp:u, n * 3" "remquo:u, p, &x" "frexp:u, &x" "fract modf sincos:u, &t" "fma mad mix:u, p, s" \
        "clamp:u, s, p + 1" "smoothstep:s, p + 1, u" "length:v" "distance dot:v, v * 2"; do
        for f in ${call%%:*}; do
            echo "    *o = $f(${call#*:}); o += 8;"
        done
    done
    cat <<END
    *o = normalize(v).x + cross(v, v.zxy).y;
}
END
}
functions float >float.cl
functions double >double.cl

# Writes a kernel in which saturating conversions get numbers outside the range of the type, and other conversions small ones.
cat >conversions.cl <<'END'
#pragma OPENCL EXTENSION cl_khr_fp64: enable
kernel void k(global double *o, global const double *u_, global const double *p, global const double *s, global const double *e)
{
    double u = u_[get_global_id(0)] * 1e30, w = get_global_id(0) * 11;
    long i = (long)w * 0x43210000;

    o += get_global_id(0);
END
for to in char uchar short ushort int uint long ulong; do
    for mode in "" _rte _rtz _rtp _rtn; do
        echo "    *o = convert_${to}_sat$mode(u) + convert_${to}_sat$mode((float)u); o += 8;"
        echo "    *o = convert_$to$mode(w) + convert_$to$mode((float)w); o += 8;"
    done
    for from in char uchar short ushort int uint long ulong; do
        echo "    *o = convert_${to}_sat(($from)i) + convert_$to(($from)i); o += 8;"
    done
done >>conversions.cl
echo "}" >>conversions.cl

for options in "-O0, -g" -O1 -O3; do
    run float "$options" f32 || fail "float, $options: the run ends with exit status $?: $(head -n 3 err)"
    run double "$options" f64 || fail "double, $options: the run ends with exit status $?: $(head -n 3 err)"
    run conversions "$options" f64 || fail "conversions, $options: the run ends with exit status $?: $(head -n 3 err)"
done

# usage: compare FILE OPTIONS [OPTION...]. Expects that each line marked BAD has the finding that the mark names, and that no
# other line has one
compare()
{
    file=$1 options=$2
    shift 2
    grep -n BAD "$file" | sed "s,^\([0-9]*\):.*BAD \([a-z-]*\).*,$file:\1: \2," | sort >wanted
    run "${file%.*}" "$options" f64 "$@"
    [ $? = 1 ] || fail "$file, $options $*: expected exit status 1: $(head -n 3 err)"
    sed -n "s,^\(.*/\)*\($file:[0-9]*: [a-z-]*\): .*,\2,p" err | sort -u >got
    diff wanted got >difference || fail "$file, $options $*: wanted and found differ: $(cat difference)"
}

# Operations of the kernel itself are reported: next to calls, in arguments of calls, on results of calls, and in a macro.
cat >own.cl <<'END'
#pragma OPENCL EXTENSION cl_khr_fp64: enable
#define OVER(a, b) ((a) / (b))
kernel void k(global double *o, global const double *u, global const double *p, global const double *s, global const double *e)
{
    int n = get_global_id(0);
    float f = p[7] * 1e30;
    o[0] = sqrt(-p[n]);                     /* BAD nan-generated */
    o[1] = convert_int(f);                  /* BAD float-cast-overflow */
    o[2] = tanh(1.0 / (s[3] * n));          /* BAD inf-generated */
    o[3] = exp(-(f * f));                   /* BAD inf-generated */
    o[4] = OVER(1.0, OVER(1.0, s[3] * n + 1e-320)); /* BAD inf-generated */
    o[5] = (int)floor(f);                   /* BAD float-cast-overflow */
    o[6] = n / (int)fabs(s[n] - s[3]);      /* BAD division-by-zero */
    o[7] = acos(p[6]);                      /* BAD nan-generated */
    o[8] = (float)fabs(p[7] * 1e40);        /* BAD inf-generated */
    o[9] = p[n] > 2 ? sqrt(2 - p[n]) : 0;   /* BAD nan-generated */
    o[10] = p[n] < 2 ? sqrt(2 - p[n]) : 0;
    if (!isinf(exp(1000 * p[n])))
        o[12] = 0;
}
END
for options in "-O0, -g" -O1 -O3; do
    compare own.cl "$options"
done
compare own.cl -O3 --tags shadow
compare own.cl -O3 --timing
compare own.cl -O1 --reconv stack
compare own.cl -O1 --warp 4
uninitialised=,uninitialised
compare own.cl -O3
uninitialised=

# The same for functions of Lanewise's CUDA headers.
suffix=cu
cat >own.cu <<'END'
extern "C" __global__ void k(double *o, double *u, double *p, double *s, double *e)
{
    int n = threadIdx.x;
    o[n] = exp(e[n]) + tanh(100 * u[n]) + erf(u[n]) + atan2(u[n], s[n]) + pow(p[n], s[n]) + cbrt(u[n]) + expm1(s[n]);
    o[n] += expf((float)e[n] / 20) + tanhf(u[n]) + erff(u[n]) + sinf(u[n]) + fmodf(u[n], p[n]) + logf(p[n]);
    o[8] = sqrt(-p[n]);                  /* BAD nan-generated */
    o[9] = __double2int_rz(p[7] * 1e10); /* BAD float-cast-overflow */
}
END
compare own.cu "-O0, -g"
compare own.cu -O3
[ $failures = 0 ] || exit 1
