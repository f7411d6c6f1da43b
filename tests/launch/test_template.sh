#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests `lanewise template` for assembly, OpenCL C, CUDA C++ and PTX. The launch file must have the names and types of the source,
# one buffer for parameters with the same name in several kernels, and must run unchanged.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

cat >k.cl <<'END'
typedef struct { float weight; int place[3]; } item;
kernel void fill(global float4 *points, const global int *index, const global float4 *where, constant float *table, local double *room, float scale, uint n)
{
    int i = get_global_id(0);
    room[get_local_id(0)] = table[i];
    points[i] = (float4)(where[i].x + scale * index[i], (float)room[get_local_id(0)], SHIFT, n);
}
kernel void use(global float4 *points, global float *index, item by, float2 pair, char c)
{
    index[get_global_id(0)] = points[get_global_id(0)].x + by.weight + pair.y + c;
}
END
expect 0 '' template k.cl -D SHIFT=1
grep -v '^ *#' out >got
cat >want <<'END'
program: {source: k.cl, options: ["-DSHIFT=1"]}
buffers:
  points: {type: f32, count: 4096}
  index: {type: s32, count: 1024, init: {random: {seed: 1, low: 0, high: 1023}}}
  where: {type: f32, count: 4096, init: {random: 2}}
  table: {type: f32, count: 1024, init: {random: 3}}
  index_2: {type: f32, count: 1024}
steps:
  - launch: {entry: fill, grid: [4], block: [256], args: [points, index, where, table, {local: 2048}, 1.0, 1024]}
  - launch: {entry: use, grid: [4], block: [256], args: [points, index_2, {struct: [{f32: 1.0}, {s32: [0, 0, 0]}]}, {f32: [0, 0]}, 1]}
END
diff want got || fail "wrong launch file for k.cl"
grep -qx '  # by: weight, place' out || fail "the launch file does not name the members of a structure"
cp out k.yaml
expect 0 'ok: results were not checked (no "check" step), 2 launches' run k.yaml
# For a kernel with two dimensions, the template assumes a square and sets the integer arguments to its side, so that no access is
# out of bounds.
cat >plane.cl <<'END'
void put(__global float *c, uint n, float v) { c[get_global_id(1) * n + get_global_id(0)] = v; }
__kernel void multiply(__global const float *a, __global const float *b, __global float *c, uint n)
{
    float sum = 0;
    for (uint k = 0; k < n; k++)
        sum += a[get_global_id(1) * n + k] * b[k * n + get_global_id(0)];
    put(c, n, sum);
}
__kernel void line(__global int *out, int n) { out[get_global_id(0)] = n; }
__kernel __attribute__((reqd_work_group_size(4, 8, 1))) void tile(__global int *out, int n) { out[get_global_id(1) * n + get_global_id(0)] = n; }
__kernel void box(__global int *cells, int n) { cells[(get_global_id(2) * n + get_global_id(1)) * n + get_global_id(0)] = n; }
END
expect 0 '{entry: multiply, grid: \[2, 2\], block: \[16, 16\], args: \[a, b, c, 32\]}' template plane.cl
grep -q '{entry: line, grid: \[4\], block: \[256\], args: \[out, 1024\]}' out &&
    grep -q '{entry: tile, grid: \[8, 4\], block: \[4, 8\], args: \[out, 32\]}' out &&
    grep -q '{entry: box, grid: \[2, 2, 2\], block: \[4, 4, 4\], args: \[cells, 8\]}' out ||
        fail "wrong sizes for the dimensions: $(cat out)"
cp out plane.yaml
expect 0 '4 launches' run plane.yaml
# The line after `program:` contains the options for a debugger. If the source is compiled with these options, the debugger shows
# variables.
grep -qx '# to debug, compile with options: \[-O0, -g, -cl-opt-disable\]' k.yaml ||
    fail "k.yaml does not contain the options for a debugger"
sed -n 's/^# to debug, compile with \(options: .*\)\]$/program: {source: k.cl, \1, "-DSHIFT=1"]}/p; /^buffers:/,$p' k.yaml >debugged.yaml
expect 0 '^i = 0$' debug debugged.yaml -b -c 'break k.cl:5' -c 'continue' -c 'info locals'

cat >t.cu <<'END'
template <typename T> __global__ void scale(T *values, const T *__restrict__ by, size_t n) { values[threadIdx.x] *= by[threadIdx.x % n]; }
template __global__ void scale<double>(double *, const double *, size_t);
template __global__ void scale<short>(short *, const short *, size_t);
__global__ void vectors(const float4 *many, float3 one, int &r, const double (&four)[4]) { r = many[0].x + one.y + four[1]; }
namespace tool { __global__ void __launch_bounds__(64) plain(void *any, bool flag) { *(char *)any = flag; } }
END
mkdir below
expect 0 '' template t.cu -o below/t.yaml
grep -q 'entry: "scale<double>".*args: \[values, by, 1024\]' below/t.yaml &&
    grep -q 'entry: "scale<short>".*args: \[values_2, by_2, 1024\]' below/t.yaml &&
    grep -q 'values_2: {type: s16, count: 1024}$' below/t.yaml && grep -q 'any: {type: u8' below/t.yaml &&
    grep -q 'many: {type: f32, count: 4096, init: {random' below/t.yaml &&
    grep -q 'args: \[many, {f32: \[0, 0, 0\]}, r, four\]' below/t.yaml &&
    grep -q 'four: {type: f64, count: 4096, init: {random' below/t.yaml &&
    grep -q 'entry: "tool::plain", grid: \[16\], block: \[64\]' below/t.yaml ||
    fail "wrong launch file for t.cu: $(cat below/t.yaml)"
grep -qx '# to debug, compile with options: \[-O0, -g, --cuda-noopt-device-debug\]' below/t.yaml ||
    fail "t.yaml does not contain the options for a debugger"
# runs the launch file from another folder
expect 0 'ok: results were not checked (no "check" step), 4 launches' run below/t.yaml
grep -qx 'program: {source: ../t.cu}' below/t.yaml || fail "the path of the source is not relative: $(grep program below/t.yaml)"
cp below/t.yaml kept
expect 2 't.yaml: the file exists' template t.cu -o below/t.yaml
cmp -s kept below/t.yaml || fail "an existing file was overwritten"

# Folders of headers in a launch file are relative to the folder of the launch file, as the path of its program is. If template
# writes the launch file to another folder, these paths must be adapted.
mkdir away away/inc away/sys headers
echo '#define BY 2' >away/inc/by.h
echo '#define BY 3' >headers/by.h
echo '#define PLUS 1' >away/sys/plus.h
echo '#define EACH 4' >away/each.h
echo '#include <by.h>
kernel void h(global int *out) { out[get_global_id(0)] = BY
#ifdef PLUS
    + PLUS + EACH
#endif
    ; }' >away/h.cl
for where in '-Iinc, -isystem, sys' '-I, inc, -isystemsys'; do
    printf 'program: {source: h.cl, options: [%s, -include, each.h, -include, plus.h]}\nbuffers: {o: {type: s32, count: 4}}\nsteps: [{launch: {entry: h, grid: 1, block: 4, args: [o]}}, {check: {buffer: o, constant: 7}}]\n' "$where" >away/h.yaml
    expect 0 'ok: 1 check' run away/h.yaml
    (cd away && "$lanewise" run h.yaml >../out 2>../err) || fail "the launch file does not run from its own folder ($where)"
done
sed '1s/options: .*\]/options: [-Iheaders]/' away/h.yaml >away/not.yaml
expect 2 'by.h' run away/not.yaml
for where in '-I headers' '-X -I -X headers' "-I $work/headers"; do
    rm -f below/h.yaml h.yaml
    expect 0 '' template away/h.cl $where -o below/h.yaml
    expect 0 'ok: results were not checked' run below/h.yaml
    expect 0 '' template away/h.cl $where -o h.yaml
    expect 0 'ok: results were not checked' run h.yaml
done
grep -q '"-I/.*/headers"' below/h.yaml || fail "wrong path of a folder of headers: $(head -n 3 below/h.yaml)"

# PTX contains types, but numbers in place of parameter names. Assembly contains no types.
"$lanewise" compile k.cl -D SHIFT=1 -X -g0 --emit ptx -o k.ptx || fail "k.cl cannot be compiled to PTX"
expect 0 'args: \[fill_param_0, fill_param_1, fill_param_2, fill_param_3, {local: 4096}, 1.0, 1024\]' template k.ptx
cp out ptx.yaml
expect 0 'ok: results were not checked' run ptx.yaml
# The launch file names the compiler, because with another compiler the kernel may have other parameters.
expect 0 'program: {source: k.cl, options: \["-DSHIFT=1"\], compiler: clang-[0-9]*}' template k.cl -D SHIFT=1 \
    --compiler "$(for c in clang-19 clang-16 clang-15 clang-14; do command -v $c >/dev/null && echo $c && break; done)"
# In PTX of nvcc, pointers and 64-bit sizes have the same type, so template finds the pointers by their uses. This PTX also has an
# extern array in shared memory.
cat >n.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 8 .b8 room[];
.visible .entry n(.param .u64 n_param_0, .param .u64 n_param_1, .param .u64 n_param_2)
{
.reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .pred %p<2>;
ld.param.u64 %rd1, [n_param_0]; ld.param.u64 %rd2, [n_param_1]; ld.param.u64 %rd3, [n_param_2];
mov.u32 %r1, %tid.x; cvt.u64.u32 %rd4, %r1; setp.ge.u64 %p1, %rd4, %rd3; @%p1 bra E;
cvta.to.global.u64 %rd5, %rd1; shl.b64 %rd6, %rd4, 3; add.s64 %rd7, %rd5, %rd6; shl.b32 %r2, %r1, 3;
mov.u32 %r3, room; add.s32 %r2, %r3, %r2; ld.global.u64 %rd8, [%rd7]; st.shared.u64 [%r2], %rd8; st.u64 [%rd2], %rd8;
E: ret;
}
END
expect 0 'shared: 4096, args: \[n_param_0, n_param_1, 1024\]' template n.ptx
grep -q '# 64-bit arguments that the kernel does not use as addresses' out ||
    fail "no comment on 64-bit arguments that may be pointers"
cp out n.yaml
expect 0 'ok: results were not checked' run n.yaml
# The same for CUDA C++. Names and types are taken from a compilation without optimisation, in which accesses are generic.
cat >dynamic.cu <<'END'
extern __shared__ float s[];
__device__ __noinline__ float there(int i) { return s[i]; }
__global__ void dynamic(float *out) { s[threadIdx.x] = out[threadIdx.x]; __syncthreads(); out[threadIdx.x] = s[threadIdx.x ^ 1]; }
__global__ void calls(float *out) { out[threadIdx.x] = there(threadIdx.x); }
__global__ void both(float *out) { extern __shared__ float mine[]; __shared__ float one; if (threadIdx.x == 0) one = 1;
    mine[threadIdx.x] = out[threadIdx.x]; __syncthreads(); out[threadIdx.x] = mine[threadIdx.x ^ 1] + one; }
__global__ void nothing(float *out) { int n = 0, many = 256; while (n < many) n += 3; out[threadIdx.x] = n % many; }
END
for how in '' '-X -O0' '-X -g0' '--compiler nvcc' '--compiler nvcc -X -G'; do
    case $how in *nvcc*) command -v "${LANEWISE_NVCC:-nvcc}" >/dev/null || continue ;; esac
    expect 0 'entry: dynamic, grid: \[4\], block: \[256\], shared: 4096, args: \[out\]' template dynamic.cu $how
    cp out dynamic.yaml
    grep -q 'entry: calls, .* shared: 4096' out ||
        fail "no dynamic shared memory for a kernel that calls a function which uses it ($how)"
    grep -q 'entry: both, .* shared: 4096' out ||
        fail "no dynamic shared memory for a kernel that also has static shared memory ($how)"
    [ "$(grep -c 'shared: ' out)" = 3 ] || fail "dynamic shared memory for a kernel that does not use it ($how)"
    expect 0 'ok: results were not checked' run dynamic.yaml
done
# Parameters are pointers if they are used as addresses directly, in sums, or in a loop. A number that is added to a loaded
# address is not a pointer.
cat >sums.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry sums(.param .u64 in_place, .param .u64 in_sum, .param .u64 walked, .param .u64 number)
{
.reg .b64 %rd<9>; .reg .b32 %r<4>; .reg .pred %p<2>;
ld.param.u64 %rd1, [in_place]; cvta.to.global.u64 %rd1, %rd1; ld.param.u64 %rd2, [in_sum]; ld.param.u64 %rd3, [number];
mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 8; add.u64 %rd5, %rd1, %rd4; mad.wide.u32 %rd6, %r1, 4, %rd2;
st.global.u32 [%rd6], %r1; ld.global.u64 %rd7, [%rd5]; setp.eq.u64 %p1, %rd7, 0; mov.u32 %r2, 0;
add.u64 %rd7, %rd7, %rd3; @!%p1 st.global.u32 [%rd7], %r1; ld.param.u64 %rd8, [walked];
L: st.global.u32 [%rd8], %r1; add.u64 %rd8, %rd8, 4; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 4; @%p1 bra L;
ret;
}
END
expect 0 'args: \[in_place, in_sum, walked, 1024\]' template sums.ptx
# The template writes structures that are passed by value as lists of members, which may be pointers. Padding is written as zeros.
cat >struct.cu <<'END'
struct inner { char kind; double weight; };
struct alignas(16) wide { int a; float b; };
union either { int i; float f; };
struct view { float *data; const int *index; short rows; inner part; float4 colour; int size[2]; either one; wide last; bool on; };
struct bits { int a : 3; int b : 5; double c; };
struct derived : inner { int more; };
__global__ void k(view v, bits b, derived d, inner i) { v.data[threadIdx.x] = v.index[threadIdx.x] + v.rows + v.last.b + b.c + d.more + i.weight; }
END
cat >want <<'END'
steps:
  # v: data, index, rows, part (kind, weight), (gap), colour, size, one, (gap), last (a, b, (gap)), on, (gap)
  # i: kind, weight
  - launch: {entry: k, grid: [4], block: [256], args: [{struct: [v_data, v_index, {s16: 1}, {struct: [{s8: 1}, {f64: 1.0}]}, {u8: [0, 0, 0, 0, 0, 0, 0, 0]}, {f32: [0, 0, 0, 0]}, {s32: [0, 0]}, {u8: [0, 0, 0, 0]}, {u8: [0, 0, 0, 0]}, {struct: [{s32: 1024}, {f32: 1.0}, {u8: [0, 0, 0, 0, 0, 0, 0, 0]}]}, {u8: 1}, {u8: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}]}, {u8: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}, {u8: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}, {struct: [{s8: 1}, {f64: 1.0}]}]}
END
expect 0 '' template struct.cu # bit fields and base classes are written as bytes
sed -n '/^steps/,/launch/p' out >got
diff want got || fail "wrong launch file for structures passed by value"
sed 's/random: .*}}}/constant: 1}}/; s/{s16: 1}/{s16: 5}/; s/{s32: 1024}, {f32: 1.0}/{s32: 0}, {f32: 2.5}/; s/{f64: 1.0}]}]}$/{f64: 16}]}]}/' out >struct.yaml
echo '  - check: {buffer: v_data, values: [24.5, 24.5]}' >>struct.yaml
expect 0 '1 check passed' run struct.yaml # the members must be at the offsets at which the kernel reads them
printf 'struct span { const int *from; int *to; };\n__global__ void k(span s) { s.to[0] = s.from[0]; }\n' >span.cu
expect 0 'args: \[{struct: \[s_from, s_to\]}\]' template span.cu # a structure of pointers is not written as an array of numbers
cp out span.yaml
expect 0 'ok: results were not checked (no "check" step)' run span.yaml

# Parameters of type half in OpenCL C and CUDA C++ have type f16 in the launch file, and the results are right.
cat >half.cl <<'END'
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void half_scale(__global half *y, __global const half *x, __global const half2 *z, half a)
{
    int i = get_global_id(0);
    y[i] = x[i] * a + z[i].y;
}
END
expect 0 'args: \[y, x, z, {f16: 1.0}\]' template half.cl
for row in 'y: {type: f16, count: 1024}' 'x: {type: f16, count: 1024, init: {random: 1}}' 'z: {type: f16, count: 2048, init: {random: 2}}' \
    '# - check: {buffer: y, file: expected.bin, tolerance: 1e-3}'; do
    grep -qF -- "$row" out || fail "the template for half has no '$row'"
done
sed 's/random: 1}/ramp: {step: 0.5, modulo: 4}}/; s/random: 2}/constant: 0.25}/; s/{f16: 1.0}/-1.5/' out >half.yaml
echo '  - check: {buffer: y, values: [0.25, -0.5, -1.25, -2, 0.25]}' >>half.yaml
expect 0 '1 check passed' run half.yaml
expect 0 '14336' debug half.yaml --batch -c 'print x[1]' # the bits of 0.5, 0x3800
printf '#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n__global__ void k(__half *y, const __half2 *x, __half a, __nv_bfloat16 *b) { y[0] = x[0].x; }\n' >half.cu
expect 0 'args: \[y, x, {f16: 1.0}, b\]' template half.cu
grep -q 'b: {type: u16, count: 1024}' out || fail "the template gives a buffer of __nv_bfloat16 another type than u16"
grep -q 'x: {type: f16, count: 2048' out || fail "the template does not give a buffer of 1024 __half2 2048 elements of f16"

printf '.kernel go\n.param ptr.global yes\n.param f64 x\n.param b32 many\nexit\n.end\n' >a.s
expect 0 'args: \[yes, 1.0, 1024\]' template a.s
grep -q 'to debug' out && fail "the template for assembly contains options for a debugger"
cp out a.yaml
expect 0 'ok: results were not checked' run a.yaml

printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .func f() { ret; }\n' >none.ptx
refuse 'none.ptx: the file has no kernel' template none.ptx
expect 0 '^warning: none.ptx: there is no kernel to launch in it' compile none.ptx
expect 0 '' compile n.ptx
[ ! -s err ] || fail "there is a warning for a file with a kernel"
expect 0 'shared: 4096' template n.lwo
refuse 'k.cl' template k.cl # SHIFT is not defined
refuse 'nosuch.cl' template nosuch.cl
refuse 'or write a launch file with "lanewise template"' run k.cl -D SHIFT=1 --entry fill
[ $failures = 0 ]
