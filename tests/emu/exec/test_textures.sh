#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests textures. Kernels fetch texels of every type of CUDA C++; they are compiled by every installed compiler, optimised and
# for debuggers. Also tests errors in launch files, and a watchpoint on a texel.
. "${srcdir:-.}/tests/lib/cli_lib.sh"

# Each thread stores one component of texel 2, or 1000 for a component that the texture does not have.
cat >types.cu <<'END'
texture<float, 1, cudaReadModeElementType> t_float;
texture<float2, 1> t_float2;
texture<float4> t_float4;
texture<int, 1> t_int;
texture<int2, 1> t_int2;
texture<int4, 1> t_int4;
texture<unsigned int, 1> t_uint;
texture<uint4, 1> t_uint4;
texture<short, 1> t_short;
texture<short2, 1> t_short2;
texture<unsigned short, 1> t_ushort;
texture<ushort4, 1> t_ushort4;
texture<char, 1> t_char;
texture<signed char, 1> t_schar;
texture<char4, 1> t_char4;
texture<unsigned char, 1> t_uchar;
texture<uchar2, 1> t_uchar2;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> n_uchar;
texture<uchar4, 1, cudaReadModeNormalizedFloat> n_uchar4;
texture<short, 1, cudaReadModeNormalizedFloat> n_short;
texture<short2, 1, cudaReadModeNormalizedFloat> n_short2;
__device__ float part(const float4 &v, int c) { return c == 0 ? v.x : c == 1 ? v.y : c == 2 ? v.z : v.w; }
#define FOUR(v) part(make_float4((v).x, (v).y, (v).z, (v).w), i)
#define TWO(v) (i == 0 ? (float)(v).x : i == 1 ? (float)(v).y : 1000)
#define ONE(v) (i == 0 ? (float)(v) : 1000)

__global__ void references(float *out)
{
    int i = threadIdx.x, at = 2;
    out[i] = ONE(tex1Dfetch(t_float, at));
    out[4 + i] = TWO(tex1Dfetch(t_float2, at));
    out[8 + i] = FOUR(tex1Dfetch(t_float4, at));
    out[12 + i] = ONE(tex1Dfetch(t_int, at));
    out[16 + i] = TWO(tex1Dfetch(t_int2, at));
    out[20 + i] = FOUR(tex1Dfetch(t_int4, at));
    out[24 + i] = ONE(tex1Dfetch(t_uint, at));
    out[28 + i] = FOUR(tex1Dfetch(t_uint4, at));
    out[32 + i] = ONE(tex1Dfetch(t_short, at));
    out[36 + i] = TWO(tex1Dfetch(t_short2, at));
    out[40 + i] = ONE(tex1Dfetch(t_ushort, at));
    out[44 + i] = FOUR(tex1Dfetch(t_ushort4, at));
    out[48 + i] = ONE(tex1Dfetch(t_char, at));
    out[52 + i] = ONE(tex1Dfetch(t_schar, at));
    out[56 + i] = FOUR(tex1Dfetch(t_char4, at));
    out[60 + i] = ONE(tex1Dfetch(t_uchar, at));
    out[64 + i] = TWO(tex1Dfetch(t_uchar2, at));
    out[68 + i] = ONE(tex1Dfetch(n_uchar, at) * 255);
    out[72 + i] = FOUR(tex1Dfetch(n_uchar4, at));
    out[76 + i] = ONE(tex1Dfetch(n_short, at));
    out[80 + i] = TWO(tex1Dfetch(n_short2, at));
    out[84 + i] = ONE(tex1D(t_int, 2.9f));
}

__global__ void objects(float *out, cudaTextureObject_t floats, cudaTextureObject_t bytes,
                        cudaTextureObject_t image)
{
    int i = threadIdx.x, at = 2;
    float4 four;
    out[i] = ONE(tex1Dfetch<float>(floats, at));
    out[4 + i] = FOUR(tex1Dfetch<uchar4>(bytes, at));
    out[8 + i] = ONE(tex2D<int>(image, 1.5f, 1.5f));
    tex1Dfetch(&four, floats, at);
    out[12 + i] = ONE(four.x);
}
END
# The buffers are ramps, so the components of texel 2 are 2n, 2n + 1, ... if each texel has n components.
cat >types.yaml <<'END'
program: {source: types.cu@}
buffers:
  f: {type: f32, count: 64, init: {ramp: {start: 0, step: 1}}}
  i: {type: s32, count: 64, init: {ramp: {start: -20, step: 1}}}
  u: {type: u32, count: 64, init: {ramp: {start: 0, step: 1}}}
  s: {type: s16, count: 64, init: {ramp: {start: -20, step: 1}}}
  h: {type: u16, count: 64, init: {ramp: {start: 0, step: 1}}}
  c: {type: s8, count: 64, init: {ramp: {start: -20, step: 1}}}
  b: {type: u8, count: 64, init: {ramp: {start: 0, step: 1}}}
  n: {type: u8, count: 64, init: [1, 2, 3, 4, 5, 6, 7, 8, 0, 51, 102, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}
  m: {type: s16, count: 8, init: [0, 0, -32768, 0, 32767, -32767, 0, 0]}
  out: {type: f32, count: 88}
  seen: {type: f32, count: 16}
textures:
  t_float: {buffer: f}
  t_float2: {buffer: f, components: 2}
  t_float4: {buffer: f, components: 4}
  t_int: {buffer: i}
  t_int2: {buffer: i, components: 2}
  t_int4: {buffer: i, components: 4}
  t_uint: {buffer: u}
  t_uint4: {buffer: u, components: 4}
  t_short: {buffer: s}
  t_short2: {buffer: s, components: 2}
  t_ushort: {buffer: h}
  t_ushort4: {buffer: h, components: 4}
  t_char: {buffer: c}
  t_schar: {buffer: c}
  t_char4: {buffer: c, components: 4}
  t_uchar: {buffer: b}
  t_uchar2: {buffer: b, components: 2}
  n_uchar: {buffer: b, normalized: true}
  n_uchar4: {buffer: n, components: 4, normalized: true}
  n_short: {buffer: m, normalized: true}
  n_short2: {buffer: m, components: 2, normalized: true}
  floats: {buffer: f, index: 10}
  bytes: {buffer: i, type: u8, components: 4}
  image: {buffer: i, width: 3, height: 2, pitch: 20}
steps:
  - launch: {entry: references, grid: 1, block: 4, args: [out]}
  - check:
      buffer: out
      values: [2, 1000, 1000, 1000,  4, 5, 1000, 1000,  8, 9, 10, 11,
               -18, 1000, 1000, 1000,  -16, -15, 1000, 1000,  -12, -11, -10, -9,
               2, 1000, 1000, 1000,  8, 9, 10, 11,
               -18, 1000, 1000, 1000,  -16, -15, 1000, 1000,  2, 1000, 1000, 1000,  8, 9, 10, 11,
               -18, 1000, 1000, 1000,  -18, 1000, 1000, 1000,  -12, -11, -10, -9,
               2, 1000, 1000, 1000,  4, 5, 1000, 1000,
               2, 1000, 1000, 1000,  0, 0.2, 0.4, 1,
               -1, 1000, 1000, 1000,  1, -1, 1000, 1000,  -18, 1000, 1000, 1000]
  - launch: {entry: objects, grid: 1, block: 4, args: [seen, floats, {texture: bytes}, image]}
  - check: {buffer: seen, values: [12, 1000, 1000, 1000,  238, 255, 255, 255,  -14, 1000, 1000, 1000,  12, 1000, 1000, 1000]}
END
try() {
    sed "s/@/$1/" types.yaml >try.yaml
    "$lanewise" run try.yaml >out 2>&1 || { fail "the run of types.cu with type $1 fails"; head -5 out; }
}
nvcc=${LANEWISE_NVCC:-nvcc}
{ command -v "$nvcc" || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null && have_nvcc=yes || have_nvcc=no
for compiler in clang-14 clang-15 clang-16 clang-19; do
    command -v $compiler >/dev/null || continue
    try ", compiler: $compiler"
    try ", compiler: $compiler, options: [-O0, -g, --cuda-noopt-device-debug]"
done
if [ $have_nvcc = yes ]; then
    try ", compiler: nvcc"
    try ", compiler: nvcc, options: [-G]"
    # the path of the header must not contain the compiler's temporary folder, whose name differs in each run
    "$lanewise" compile --compiler nvcc types.cu -o types.lwo && "$lanewise" dis types.lwo >types.s
    grep -q '^\.file [0-9]* "lanewise_compat\.h"' types.s || fail "nvcc: wrong path of the header: $(grep '^\.file' types.s)"
fi

# Tests __ldg for all types, which is compiled to ld.global.nc. The bytes at each pointer are 0, 1, 2 ... 255, 0 ..., so that
# each sum is different. The expected sums were computed by hand.
cat >ldg.cu <<'END'
#define AT(T) (__ldg((const T *)b + 1))
__global__ void k(double *o, const unsigned char *b)
{
    o[0] = AT(char); o[1] = AT(unsigned char); o[2] = AT(short); o[3] = AT(unsigned short);
    o[4] = AT(int); o[5] = AT(unsigned int); o[6] = (double)(AT(long long) >> 32);
    o[7] = (double)(AT(unsigned long) & 0xffff); o[8] = __float_as_int(AT(float));
    o[9] = __double2hiint(AT(double));
    o[10] = AT(char2).x + 100 * AT(char4).z; o[11] = AT(uchar2).y + 100 * AT(uchar4).w;
    o[12] = AT(short2).x; o[13] = AT(ushort4).w; o[14] = AT(int2).y; o[15] = AT(uint4).z;
    o[16] = (double)(AT(longlong2).y & 0xffff); o[17] = (double)(AT(ulonglong2).x & 0xff);
    o[18] = __float_as_int(AT(float2).x); o[19] = __float_as_int(AT(float4).w);
    o[20] = __double2loint(AT(double2).y); o[21] = __float_as_int(AT(float3).z);
}
END
cat >ldg.yaml <<'END'
program: {source: ldg.cu@}
buffers: {b: {type: u8, count: 64, init: {ramp: {start: 0, step: 1}}}, o: {type: f64, count: 22}}
steps:
  - launch: {entry: k, grid: 1, block: 1, args: [o, b]}
  - check: {buffer: o, values: [1, 1, 0x302, 0x302, 0x7060504, 0x7060504, 0xf0e0d0c, 0x908, 0x7060504, 0xf0e0d0c,
      602, 703, 0x504, 0xf0e, 0xf0e0d0c, 0x1b1a1918, 0x1918, 0x10, 0xb0a0908, 0x1f1e1d1c, 0x1b1a1918, 0x17161514]}
END
for compiler in clang-14 clang-15 clang-16 clang-19; do
    command -v $compiler >/dev/null || continue
    for options in -O3 '-O0, -g, --cuda-noopt-device-debug'; do
        sed "s/@/, compiler: $compiler, options: [$options]/" ldg.yaml >try.yaml
        "$lanewise" run try.yaml >out 2>&1 || { fail "the run of ldg.yaml fails, $compiler $options"; head -5 out; }
    done
    "$lanewise" compile ldg.cu --clang $compiler --emit ptx -o - >out 2>&1 || fail "ldg.cu does not compile with $compiler"
    [ "$(grep -c 'ld\.global\.nc' out)" -gt 15 ] || fail "__ldg is not compiled to ld.global.nc with $compiler"
done

# For each error in a launch file there is one message, which names the line.
cat >one.cu <<'END'
__device__ int word;
namespace deep { texture<float, 1> line; }
texture<float, 1> same;
namespace other { texture<float, 1> same; }
__global__ void k(float *out) {
    out[threadIdx.x] = tex1Dfetch(deep::line, (int)threadIdx.x) + tex1Dfetch(same, word) +
                       tex1Dfetch(other::same, 0);
}
END
wrong() { # usage: wrong MESSAGE TEXTURE [ARGUMENT]
    cat >one.yaml <<END
program: {source: one.cu}
buffers: {A: {type: f32, count: 64}, D: {type: f64, count: 8}}
textures: {$2}
steps: [launch: {entry: k, grid: 1, block: 32, args: [${3:-A}]}]
END
    "$lanewise" run one.yaml >out 2>&1
    [ $? = 2 ] || fail "'$2' is accepted"
    grep -qF "$1" out || { fail "'$2' does not print: $1"; cat out; }
}
wrong 'one.yaml:3: texture t: the texture is not used: the program has no texture of this name' 't: {buffer: A}'
wrong 'one.yaml:3: texture word: the program'"'"'s variable of this name is not a texture' 'word: {buffer: A}'
wrong 'texture other: expected a mapping such as {buffer: A}' 'other: A'
wrong '"buffer" is missing: give the buffer that holds the texels' 'line: {components: 2}'
wrong 'texture A: a buffer has the same name' 'A: {buffer: A}'
wrong 'expected components of type u8 s8 u16 s16 u32 s32 f16 or f32, found f64' 'line: {buffer: D}'
wrong 'found f17' 'line: {buffer: A, type: f17}'
wrong 'components: a texel must have 1, 2 or 4 components' 'line: {buffer: A, components: 3}'
wrong 'normalized: only integers of 8 or 16 bits' 'line: {buffer: A, normalized: true}'
wrong 'edges: expected wrap, clamp, mirror or border, found "round"' 'line: {buffer: A, edges: round}'
wrong 'index: a texel of 16 bytes must start at a multiple of its size, but element 1 is at byte 4' 'line: {buffer: A, components: 4, index: 1}'
wrong '65 texels of 4 bytes do not fit: buffer A has 256 bytes' 'line: {buffer: A, width: 65}'
wrong '64 texels of 4 bytes do not fit: buffer A has 252 bytes after index' 'line: {buffer: A, width: 64, index: 1}'
wrong 'pitch: a texture without "height" has one row' 'line: {buffer: A, pitch: 64}'
wrong 'height: "width" is missing' 'line: {buffer: A, height: 2}'
wrong 'rows of 32 bytes cannot have a pitch of 16 bytes' 'line: {buffer: A, width: 8, height: 2, pitch: 16}'
wrong '9 rows do not fit: buffer A has 256 bytes' 'line: {buffer: A, width: 8, height: 9}'
wrong 'unknown key "count"' 'line: {buffer: A, count: 8}'
wrong 'there is no "none" under textures:' 'line: {buffer: A}' '{texture: none}'
# In a launch file, textures have the names of the source. If several textures match a name, the message lists them.
cat >good.yaml <<'END'
program: {source: one.cu}
buffers: {A: {type: f32, count: 64, init: {ramp: {start: 1, step: 1}}}, out: {type: f32, count: 32}}
textures: {line: {buffer: A}, same: {buffer: A}, 'other::same': {buffer: A, index: 1}}
steps: [launch: {entry: k, grid: 1, block: 32, args: [out]},
        check: {buffer: out, values: [4, 5, 6]}]
END
"$lanewise" run good.yaml >out 2>&1 || { fail "the run fails if names of textures are in namespaces"; cat out; }
sed "s/, same: {buffer: A}//" good.yaml >unbound.yaml
"$lanewise" run unbound.yaml >out 2>&1
[ $? = 3 ] || fail "a fetch from a texture that is not bound does not fault"
grep -q "^fault: bad-texture: texture 'same' at 0x.*: no memory is bound to the texture" out ||
    { fail "the message does not name the unbound texture"; cat out; }

# A debugger shows the buffers to which textures are bound.
printf 'break colour\ncontinue\nallocations\nquit\n' >script
cat >shown.cu <<'END'
texture<short2, 2, cudaReadModeNormalizedFloat> image;
__global__ void colour(float *out, cudaTextureObject_t lines) {
    out[threadIdx.x] = tex2D(image, 0.5f, 0.5f).y + tex1Dfetch<float>(lines, 0);
}
END
cat >shown.yaml <<'END'
program: {source: shown.cu}
buffers: {A: {type: f32, count: 64}, B: {type: s16, count: 640}, out: {type: f32, count: 32}}
textures:
  lines: {buffer: A, index: 2}
  image: {buffer: B, index: 4, components: 2, normalized: true, width: 15, height: 10, pitch: 64, edges: [clamp, border]}
steps: [launch: {entry: colour, grid: 1, block: 32, args: [out, lines]}]
END
"$lanewise" debug shown.yaml <script >out 2>&1
grep -q ' image, module variable, read-only, texture of 15 x 10 s16 x 2 read as floats, clamp and border, at B+8$' out &&
    grep -q ' lines, read-only, texture of 62 f32, clamp, at A+8$' out ||
        { fail "allocations does not print the textures"; cat out; }

# A read watchpoint on a texel stops at the fetch, and names the lane.
printf 'rwatch f32[A+20]\ncontinue\nquit\n' | "$lanewise" debug good.yaml >out 2>&1
grep -q 'was read by lane 5 at k+0x.* (one.cu:6): 6' out || { fail "the watchpoint does not stop at the fetch"; cat out; }

[ $failures = 0 ]
