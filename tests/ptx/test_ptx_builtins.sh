#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that every function of OpenCL C 1.2, and every function for images of OpenCL C 3.0, can be compiled and translated with
# every type.
# Each function has its own kernel. By default, the test uses scalars and one vector width for each function, with the newest
# clang. LW_BUILTINS=all tests every width with every clang, which takes minutes.
set -u
lanewise=${LANEWISE:-$(pwd)/lanewise}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
all=${LW_BUILTINS:-}

cat >"$work/make.awk" <<'END'
# usage: k(name, parameters, body). Prints one kernel, if the current vector width W ("" for scalars) is selected for it.
function k(name, params, body) {
    if (W != "" && !all && width[++turn % 5 + 2] != W && turns++ >= 0)
        return
    printf "__kernel void k%d(%s) { %s } /* %s */\n", count++, params, body, name
}
function each(list, form, params, t,    f, i, n, body) {
    n = split(list, f, " ")
    for (i = 1; i <= n; i++) {
        body = form
        gsub(/F/, f[i], body)
        k(f[i] "(" t ")", params, body)
    }
}
function floats(T,    I, t, P, out, s, v, a, i, ptr, iptr, decl, back, iback) {
    I = T == "float" ? "int" : "long"
    t = T W
    P = "__global " t " *p, __global " I W " *q, __global int" W " *i, __global " T " *s, __global u" I W " *u"
    out = W == "" ? "i[0]" : "q[0]"
    each("acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erfc erf exp exp2 " \
         "exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan " \
         "tanh tanpi tgamma trunc degrees radians sign", "p[0] = F(p[1]);", P, t)
    each("atan2 atan2pi copysign fdim fmax fmin fmod hypot maxmag minmag nextafter pow powr remainder max min " \
         "step", "p[0] = F(p[1], p[2]);", P, t)
    each("fma mad clamp mix smoothstep bitselect", "p[0] = F(p[1], p[2], p[3]);", P, t)
    each("rootn pown ldexp", "p[0] = F(p[1], i[2]);", P, t)
    k("ilogb(" t ")", P, "i[0] = ilogb(p[1]);")
    k("nan(" t ")", P, "p[0] = nan(u[1]);")
    if (W != "") {
        each("max min fmax fmin", "p[0] = F(p[1], s[2]);", P, t "," T)
        k("clamp(" t "," T ")", P, "p[0] = clamp(p[1], s[2], s[3]);")
        k("mix(" t "," T ")", P, "p[0] = mix(p[1], p[2], s[3]);")
        k("step(" T "," t ")", P, "p[0] = step(s[1], p[2]);")
        k("smoothstep(" T "," t ")", P, "p[0] = smoothstep(s[1], s[3], p[2]);")
        k("ldexp(" t ",int)", P, "p[0] = ldexp(p[1], 3);")
    }
    for (i = 1; i <= 3; i++) {
        a = space[i]
        ptr = i == 1 ? "p + 1" : i == 2 ? "lp" : "&x"
        iptr = i == 1 ? "i + 1" : i == 2 ? "li" : "&y"
        decl = i == 1 ? "" : i == 2 ? "__local " t " lp[1]; __local int" W " li[1]; " : t " x; int" W " y; "
        back = i == 1 ? "" : i == 2 ? " p[1] = lp[0];" : " p[1] = x;"
        iback = i == 1 ? "" : i == 2 ? " i[1] = li[0];" : " i[1] = y;"
        each("fract modf sincos", decl "p[0] = F(p[2], " ptr ");" back, P, t "," a)
        each("frexp lgamma_r", decl "p[0] = F(p[2], " iptr ");" iback, P, t "," a)
        k("remquo(" t "," a ")", P, decl "p[0] = remquo(p[2], p[3], " iptr ");" iback)
    }
    each("isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isordered isunordered",
         out " = F(p[1], p[2]);", P, t)
    each("isfinite isinf isnan isnormal signbit", out " = F(p[1]);", P, t)
    k("select(" t ")", P, "p[0] = select(p[1], p[2], q[3]); p[4] = select(p[1], p[2], u[3]);")
    if (W == "" || W + 0 <= 4) {
        each("dot distance", "s[0] = F(p[1], p[2]);", P, t)
        k("length(" t ")", P, "s[0] = length(p[1]); p[0] = normalize(p[1]);")
        if (T == "float") {
            k("fast_length(" t ")", P, "s[0] = fast_length(p[1]) + fast_distance(p[1], p[2]);")
            k("fast_normalize(" t ")", P, "p[0] = fast_normalize(p[1]);")
        }
    }
    if (W == 3 || W == 4)
        k("cross(" t ")", P, "p[0] = cross(p[1], p[2]);")
    if (T == "float") {
        each("native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_recip " \
             "native_rsqrt native_sin native_sqrt native_tan half_cos half_exp half_exp2 half_exp10 half_log " \
             "half_log2 half_log10 half_recip half_rsqrt half_sin half_sqrt half_tan", "p[0] = F(p[1]);", P, t)
        each("native_divide native_powr half_divide half_powr", "p[0] = F(p[1], p[2]);", P, t)
    }
}
function integers(T,    U, S, t, P, B) {
    U = T ~ /^u/ ? T : "u" T
    S = T ~ /^u/ ? substr(T, 2) : T
    t = T W
    P = "__global " t " *p, __global " U W " *u, __global " S W " *q, __global " T " *s, __global int *i"
    k("abs(" t ")", P, "u[0] = abs(p[1]); u[1] = abs_diff(p[1], p[2]);")
    each("clz popcount", "p[0] = F(p[1]);", P, t)
    each("add_sat hadd rhadd max min mul_hi rotate sub_sat", "p[0] = F(p[1], p[2]);", P, t)
    each("clamp mad_hi mad_sat bitselect", "p[0] = F(p[1], p[2], p[3]);", P, t)
    k("select(" t ")", P, "p[0] = select(p[1], p[2], q[3]); p[4] = select(p[1], p[2], u[3]);")
    if (W != "")
        k("max(" t "," T ")", P, "p[0] = max(p[1], s[2]); p[1] = min(p[2], s[2]); p[3] = clamp(p[1], s[2], s[3]);")
    if (S == "int")
        k("mul24(" t ")", P, "p[0] = mul24(p[1], p[2]); p[1] = mad24(p[1], p[2], p[3]);")
    if (T == S)
        k("any(" t ")", P, "i[0] = any(p[1]); i[1] = all(p[1]);")
    if (S != "long") {
        B = (T == U ? "u" : "") (S == "char" ? "short" : S == "short" ? "int" : "long")
        k("upsample(" t ")", "__global " B W " *r, __global " t " *p, __global " U W " *u",
          "r[0] = upsample(p[0], u[1]);")
    }
}
function memory(T,    i, a, b, C) {
    if (W != "") {
        for (i = 1; i <= 2; i++)
            k("vload" W "(" T "," space[i] ")", "__global " T W " *p, " space[i] " " T " *c",
              "p[0] = vload" W "(3, c); vstore" W "(p[1], 2, c);")
        k("vload" W "(" T ",__constant)", "__global " T W " *p, __constant " T " *c", "p[0] = vload" W "(3, c);")
        k("vload" W "(" T ",__private)", "__global " T W " *p, int j",
          T " c[64]; vstore" W "(p[1], j, c); p[0] = vload" W "(j + 1, c);")
    }
    k("async_work_group_copy(" T W ")", "__global " T W " *g, __local " T W " *l",
      "event_t e = async_work_group_copy(l, g, 10, 0); e = async_work_group_copy(g, l, 10, e); " \
      "e = async_work_group_strided_copy(l, g, 5, 2, e); e = async_work_group_strided_copy(g, l, 5, 2, e); " \
      "wait_group_events(1, &e); prefetch(g, 4);")
    for (i = 1; i <= 10; i++) {
        C = types[i]
        b = "r[0] = convert_" C W "(p[0]);"
        for (a = 1; a <= 4; a++) {
            b = b " r[1] = convert_" C W "_" rounding[a] "(p[1]);"
            if (i <= 8)
                b = b " r[2] = convert_" C W "_sat_" rounding[a] "(p[1]);"
        }
        if (i <= 8)
            b = b " r[3] = convert_" C W "_sat(p[2]);"
        k("convert_" C W "(" T W ")", "__global " C W " *r, __global " T W " *p", b)
    }
}
function halves(    i, r, a, T, j, p) {
    for (i = 1; i <= 3; i++) {
        p = i == 3 ? "x" : "c"
        for (a = 0; a <= (W != ""); a++) {
            k("vload" (a ? "a" : "") "_half" W "(" space[i] ")",
              "__global float" W " *p, " (i == 3 ? "__global" : space[i]) " half *c",
              (i == 3 ? "ushort h[64]; h[p[0]" (W != "" ? ".s0" : "") " > 0] = 1; half *x = (half *)h; " : "") \
              "p[0] = vload" (a ? "a" : "") "_half" W "(3, " p ");")
            for (r = 0; r <= 4; r++)
                for (j = 9; j <= 10; j++)
                    k("vstore" (a ? "a" : "") "_half" W (r ? "_" rounding[r] : "") "(" types[j] "," space[i] ")",
                      "__global " types[j] W " *p, " (i == 3 ? "__global" : space[i]) " half *c",
                      (i == 3 ? "ushort h[64]; half *x = (half *)h; " : "") "vstore" (a ? "a" : "") "_half" W \
                      (r ? "_" rounding[r] : "") "(p[0], 3, " p ");" \
                      (i == 3 ? " p[1] = h[12];" : ""))
        }
    }
    k("vload_half" W "(__constant)", "__global float" W " *p, __constant half *c", "p[0] = vload_half" W "(3, c);")
}
function atomics(T, prefix,    i, f, n, list) {
    for (i = 1; i <= 2; i++) {
        n = split("add sub xchg min max and or xor", list, " ")
        for (f = 1; f <= n; f++)
            k(prefix list[f] "(" T ")", "__global " T " *r, " space[i] " " T " *p", "r[0] = " prefix list[f] "(p, r[1]);")
        k(prefix "inc(" T ")", "__global " T " *r, " space[i] " " T " *p",
          "r[0] = " prefix "inc(p); r[1] = " prefix "dec(p); r[2] = " prefix "cmpxchg(p, r[3], r[4]);")
    }
}
BEGIN {
    split("char uchar short ushort int uint long ulong float double", types, " ")
    split("__global __local __private", space, " ")
    split("rte rtz rtp rtn", rounding, " ")
    widths = split("- 2 3 4 8 16", width, " ")
    count = 0
    for (w = 1; w <= widths; w++) {
        if (part && w != part)
            continue
        W = w == 1 ? "" : width[w]
        floats("float")
        floats("double")
        for (i = 1; i <= 8; i++)
            integers(types[i])
        for (i = 1; i <= 10; i++)
            memory(types[i])
        halves()
    }
    if (part > 1)
        exit
    W = ""
    atomics("int", "atomic_")
    atomics("uint", "atomic_")
    atomics("int", "atom_")
    atomics("uint", "atom_")
    atomics("long", "atom_")
    atomics("ulong", "atom_")
    for (i = 1; i <= 2; i++)
        k("atomic_xchg(float)", "__global float *r, " space[i] " float *p", "r[0] = atomic_xchg(p, r[1]);")
    for (i = 1; i <= 10; i++) {
        M = i == 9 ? "uint" : i == 10 ? "ulong" : i % 2 ? "u" types[i] : types[i]
        for (a = 2; a <= 16; a *= 2)
            for (b = 2; b <= 16; b *= 2)
                if (all || a == b)
                    k("shuffle(" types[i] a "," b ")",
                      "__global " types[i] a " *p, __global " types[i] b " *r, __global " M b " *m",
                      "r[0] = shuffle(p[0], m[0]); r[1] = shuffle2(p[0], p[1], m[0]);")
    }
    k("work-items", "__global size_t *p",
      "p[0] = get_global_id(0) + get_global_size(1) + get_local_id(2) + get_local_size(0) + get_group_id(1) " \
      "+ get_num_groups(2) + get_work_dim() + get_global_offset(1);")
    k("barriers", "__global int *p",
      "barrier(CLK_LOCAL_MEM_FENCE); barrier(CLK_GLOBAL_MEM_FENCE); mem_fence(CLK_LOCAL_MEM_FENCE); " \
      "read_mem_fence(CLK_LOCAL_MEM_FENCE); write_mem_fence(CLK_GLOBAL_MEM_FENCE); p[0] = vec_step(int4);")
    k("printf", "__global int *p", "p[0] = printf(\"%d %s %v4f\\n\", p[1], \"x\", (float4)(1));")
}
END
# By default, all kernels are in one file. With LW_BUILTINS=all, each width has a file, because lanewise lets a compiler run for
# at most a minute.
parts=0
[ -z "$all" ] || parts='1 2 3 4 5 6'
kernels=0
for part in $parts; do
    awk -v all="$all" -v part="$part" -f "$work/make.awk" >"$work/builtins$part.cl" || exit 1
    kernels=$((kernels + $(wc -l <"$work/builtins$part.cl")))
done
[ "$kernels" -gt 1000 ] || { echo "FAIL: expected more than 1000 kernels, found $kernels"; exit 1; }
cat >"$work/images.awk" <<'END'
function k(params, body) { printf "__kernel void i%d(%s) { %s }\n", count++, params, body }
# T: type of image; I, F: types of its coordinates, F is "" if no sampler can read it; sizes: names of its sizes
function image(T, I, F, sizes,    a, f, i, n, c, p) {
    n = split("f float4 i int4 ui uint4 h half4", f, " ")
    for (i = 1; i < n; i += 2) {
        p = f[i + 1] " *p, __global " I " *c"
        for (a = 1; a <= 2; a++) {
            k((a == 1 ? "read_only " : "read_write ") T " t, __global " p, "p[0] = read_image" f[i] "(t, c[0]);")
            k((a == 1 ? "write_only " : "read_write ") T " t, __global " p, "write_image" f[i] "(t, c[0], p[0]);")
        }
        if (F != "") {
            k("read_only " T " t, sampler_t s, __global " p, "p[0] = read_image" f[i] "(t, s, c[0]);")
            k("read_only " T " t, __global " f[i + 1] " *p, __global " F " *c", "p[0] = read_image" f[i] "(t, S, c[0]);")
        }
    }
    n = split("width channel_data_type channel_order " sizes, f, " ")
    for (i = 1; i <= n; i++)
        for (a = 1; a <= 3; a++)
            k((a == 1 ? "read_only " : a == 2 ? "write_only " : "read_write ") T " t, __global int4 *p",
              "p[0]" (f[i] != "dim" ? ".x" : T == "image3d_t" ? "" : ".xy") " = get_image_" f[i] "(t);")
}
BEGIN {
    print "#pragma OPENCL EXTENSION cl_khr_fp16 : enable"
    print "constant sampler_t S = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;"
    image("image1d_t", "int", "float", "")
    image("image1d_buffer_t", "int", "", "")
    image("image1d_array_t", "int2", "float2", "array_size")
    image("image2d_t", "int2", "float2", "height dim")
    image("image2d_array_t", "int4", "float4", "height array_size dim")
    image("image3d_t", "int4", "float4", "height depth dim")
}
END
awk -f "$work/images.awk" >"$work/images.cl" || exit 1
failures=0
tried=0
for clang in clang-19 clang-16 clang-15 clang-14; do
    command -v $clang >/dev/null || continue
    tried=$((tried + 1))
    for part in $parts; do
        "$lanewise" compile --clang $clang -X -O0 "$work/builtins$part.cl" -o "$work/builtins.lwo" \
            >"$work/out" 2>&1 && continue
        echo "FAIL: $clang does not compile the functions: $(head -n 1 "$work/out")"
        line=$(sed -n 's/.*builtins[0-9]\.cl:\([0-9]*\):.*/\1/p' "$work/out" | head -n 1)
        [ -z "$line" ] || sed -n "${line}p" "$work/builtins$part.cl"
        failures=$((failures + 1))
    done
    "$lanewise" compile --clang $clang -X -O1 -X -cl-std=CL3.0 "$work/images.cl" -o "$work/images.lwo" >"$work/out" 2>&1 ||
        { echo "FAIL: $clang does not compile the functions of images: $(head -n 1 "$work/out")"; failures=$((failures + 1)); }
    echo "$clang: $kernels kernels, and $(grep -c '^__kernel' "$work/images.cl") with images"
    [ -n "$all" ] || break
done
[ $tried != 0 ] || { echo "none of these versions of clang is installed"; exit 77; }
# The same functions in a SPIR-V module, in which their names have other address spaces
if [ -z "$all" ] && command -v clang-15 >/dev/null && command -v llvm-spirv-15 >/dev/null; then
    if clang-15 -target spir64 -cl-std=CL2.0 -w -O0 -Xclang -disable-O0-optnone -c -emit-llvm -o "$work/builtins.bc" "$work/builtins0.cl" >"$work/out" 2>&1 &&
        llvm-spirv-15 "$work/builtins.bc" -o "$work/builtins.spv" >"$work/out" 2>&1 &&
        "$lanewise" compile -X -O0 "$work/builtins.spv" -o "$work/builtins.lwo" >"$work/out" 2>&1 && [ ! -s "$work/out" ]; then
        echo "SPIR-V: $kernels kernels"
    else
        echo "FAIL: functions in SPIR-V: $(head -n 1 "$work/out")"
        failures=$((failures + 1))
    fi
else
    echo "skipped: clang-15 or llvm-spirv-15 is not installed"
fi
# If a function is refused, the error message names it.
cat >"$work/depth.cl" <<'END'
__kernel void k(read_only image2d_depth_t i, __global float *p) { p[0] = read_imagef(i, (int2)(1, 2)); }
END
if "$lanewise" compile -X -cl-std=CL2.0 "$work/depth.cl" -o "$work/depth.lwo" >"$work/out" 2>&1; then
    echo "FAIL: a depth image was accepted"
    failures=$((failures + 1))
fi
grep -q 'image' "$work/out" ||
    { echo "FAIL: the message does not name the image: $(head -n 1 "$work/out")"; failures=$((failures + 1)); }
exit $((failures > 0))
