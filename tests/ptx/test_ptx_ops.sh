#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that expressions over all scalar types have the same results in the emulator as in code of the host's compiler, with every
# installed clang, with and without optimisation. The results in half precision are compared with software floating point. Also
# tests a target with instructions for half precision, and cases in which compilers or libclc have errors (lib, edges; in CUDA C++
# fun).
. "${srcdir:-.}/tests/lib/cli_lib.sh"
tried=0

cp "$src"/tests/ptx/data/ops* "$src"/tests/ptx/data/half* "$src"/tests/ptx/data/lib* "$src"/tests/ptx/data/fun* "$src"/tests/ptx/data/edges* "$src"/tests/ptx/data/host* "$src/tests/model/soft_float.h" "$work" || exit 1
for what in ops half lib fun edges; do
    ${CC:-cc} -std=gnu11 -O1 -fwrapv -w -ffp-contract=off ${what}_host.c -o host -lm && ./host ||
        exit 1
    for clang in clang-14 clang-15 clang-16 clang-19; do
        command -v $clang >/dev/null || continue
        tried=$((tried + 1))
        for level in -O3 -O1 '-O0, -g'; do
            case "$what $clang $level" in # skips combinations that are most similar to others
            edges*-1[56]* | edges*-O[01]* | *-1[56]*-O1) continue ;;
            esac
            [ "$what $level" != 'fun -O0, -g' ] || level='-O0, -g, --cuda-noopt-device-debug'
            sed "s/\[-O3/[$level/" $what.yaml >run.yaml
            if ! LANEWISE_CLANG=$clang "$lanewise" run run.yaml >out 2>&1; then
                echo "FAIL: the run of $what.yaml fails: $clang $level"
                head -n 5 out
                failures=$((failures + 1))
            fi
        done
    done
done
# Links two files of OpenCL C: one calls a function that the other one defines.
cat >one.cl <<'E'
extern constant int table[2];
int twice(int);
kernel void k(global int *o) { o[get_global_id(0)] = twice(get_global_id(0)) + table[1]; }
E
cat >two.cl <<'E'
constant int table[2] = {1, 5};
static int same(int x) { return x; }
int twice(int x) { return same(x) + same(x); }
E
cat >two.yaml <<'E'
program: {sources: [one.cl, two.cl], options: [-O3]}
buffers: {o: {type: s32, count: 3}}
steps:
  - launch: {entry: k, grid: [1], block: [3], args: [o]}
  - check: {buffer: o, values: [5, 7, 9]}
E
for clang in clang-14 clang-19; do
    command -v $clang >/dev/null || continue
    LANEWISE_CLANG=$clang "$lanewise" run two.yaml >out 2>&1 && continue
    echo "FAIL: the run with two files fails: $clang"
    head -n 5 out
    failures=$((failures + 1))
done
# After a barrier, a thread must read the values that other threads have stored to a shared variable. Without the workaround in
# Lanewise's library, clang 14 would use the old value in a register.
cat >near.cl <<'E'
kernel void near(global const int *in, global int *out)
{
    local uchar g[34];
    int l = get_local_id(0);

    g[l + 1] = in[l];
    if (l == 0)
        g[0] = g[33] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < 20; s++) {
        uchar v = g[l] * 4 + g[l + 1] * 2 + g[l + 2];
        barrier(CLK_LOCAL_MEM_FENCE);
        g[l + 1] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = g[l + 1];
}
E
sed -e 's/kernel void/extern "C" __global__ void/; s/global const int/const int/; s/global int/int/' \
    -e 's/local uchar/__shared__ uchar/; s/uchar/unsigned char/; s/get_local_id(0)/threadIdx.x/' \
    -e 's/barrier(.*)/__syncthreads()/' near.cl >near.cu
sed 's/__syncthreads();$/__syncthreads_or(l);/' near.cu >near_or.cu
want=$(awk 'BEGIN { for (l = 0; l < 32; l++) g[l + 1] = l
    for (s = 0; s < 20; s++) {
        for (l = 0; l < 32; l++) v[l + 1] = (g[l] * 4 + g[l + 1] * 2 + g[l + 2]) % 256
        for (l = 0; l < 32; l++) g[l + 1] = v[l + 1] }
    for (l = 0; l < 32; l++) printf "%s%d", l ? ", " : "", g[l + 1] }')
for file in near.cl near.cu near_or.cu; do
    cat >near.yaml <<E
program: {source: $file, options: [-O3]}
buffers:
  in: {type: s32, count: 32, init: {ramp: {start: 0, step: 1}}}
  out: {type: s32, count: 32}
steps:
  - launch: {entry: near, grid: [1], block: [32], args: [in, out]}
  - check: {buffer: out, values: [$want]}
E
    for clang in clang-14 clang-19; do
        command -v $clang >/dev/null || continue
        LANEWISE_CLANG=$clang "$lanewise" run near.yaml >out 2>&1 && continue
        echo "FAIL: the run of $file fails: $clang"
        head -n 5 out
        failures=$((failures + 1))
    done
done
# One lane initialises a value, and all lanes read it by a shuffle of Lanewise's headers, by functions of the source, and by
# assembly. If clang assumed that arguments of these functions are initialised in all lanes, it would remove the `if`.
cat >own.cu <<'E'
__device__ int from(int x, int lane) { return __shfl_sync(~0u, x, lane); }
template <class T> __device__ T tell(T x, int lane) { return __shfl_sync(~0u, x, lane); }
extern "C" __global__ void k(int *cell, int *out)
{
    int i = threadIdx.x, a, b;
    unsigned c;
    long long d;
    float e;
    double f;

    if (i == 0) a = atomicAdd(cell, 32);
    a = __shfl_sync(~0u, a, 0);
    if (i == 1) b = atomicAdd(cell, 1);
    b = from(b, 1);
    if (i == 2) c = atomicAdd(cell, 2);
    c = tell(c, 2);
    if (i == 3) d = atomicAdd(cell, 4);
    d = __shfl_xor_sync(~0u, d, 3);
    if (i == 4) e = atomicAdd(cell, 8);
    e = __shfl_up_sync(~0u, e, 1);
    if (i == 5) f = atomicAdd(cell, 16);
    f = __shfl_down_sync(~0u, f, 1);
    out[i] = a + b + (int)c + i + (i == 0 ? (int)d : i == 4 ? (int)f : i == 5 ? (int)e : 0);
}
E
cat >own.cl <<'E'
int from(int x, int lane)
{
    int r;

    __asm__ volatile("shfl.idx.b32 %0, %1, %2, 31;" : "=r"(r) : "r"(x), "r"(lane));
    return r;
}
kernel void k(volatile global int *cell, global int *out)
{
    int a, b, i = get_local_id(0);

    if (i == 0) a = atomic_add(cell, 65);
    a = from(a, 0);
    if (i == 1) b = atomic_add(cell, -2);
    out[i] = a + from(b, 1) + i + (i == 0 ? 35 : i == 4 ? 47 : i == 5 ? 39 : 0);
}
E
want=$(awk 'BEGIN { s[0] = 35; s[4] = 47; s[5] = 39
    for (i = 0; i < 32; i++) printf "%s%d", i ? ", " : "", 65 + i + s[i] }')
# Creates a program that is clang 14, but whose file name does not contain the version.
printf '#!/bin/sh\nexec clang-14 "$@"\n' >unnumbered
command -v clang-14 >/dev/null && chmod +x unnumbered
for run in cu:clang-14 cu:clang-15 cu:clang-16 cu:clang-19 cl:clang-15 cl:./unnumbered; do
    file=own.${run%%:*} clang=${run#*:}
    command -v $clang >/dev/null || continue
    cat >own.yaml <<E
program: {source: $file, options: [-O3]}
buffers: {cell: {type: s32, count: 1}, out: {type: s32, count: 32}}
steps:
  - launch: {entry: k, grid: [1], block: [32], args: [cell, out]}
  - check: {buffer: out, values: [$want]}
  - check: {buffer: cell, values: [63]}
E
    LANEWISE_CLANG=$clang "$lanewise" run own.yaml >out 2>&1 && continue
    echo "FAIL: the run of $file fails: $clang"
    head -n 5 out
    failures=$((failures + 1))
done
[ $tried != 0 ] || { echo "FAIL: neither clang-14 nor clang-19 is installed"; exit 1; }
[ $failures = 0 ] && echo "all expressions agree"
[ $failures = 0 ]
