#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests that each instruction's handler jumps to the next handler, so that the host's stack does not grow with the number of
# instructions. Runs kernels with many instructions whose handlers have arrays of lanes on the stack, with a stack of 256 KiB.
. "${srcdir:-.}/tests/lib/cli_lib.sh"
cat >chain.cu <<'END'
extern "C" __device__ __attribute__((noinline)) int leaf(int x) { return x * 3 + 1; }
extern "C" __device__ __attribute__((noinline)) int other(int x) { return x * 5 + 2; }
extern "C" __global__ void shuffles(int *out, int n)
{
    int x = threadIdx.x;
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int d = 0; d < 32; d++)
            x = __shfl_xor_sync(0xffffffffu, x, (d & 15) + 1);
    }
    out[threadIdx.x] = x;
}
extern "C" __global__ void calls(int *out, int n)
{
    int x = threadIdx.x;
    for (int i = 0; i < n; i++) {
        x = leaf(x); x = leaf(x); x = leaf(x); x = leaf(x);
        x = leaf(x); x = leaf(x); x = leaf(x); x = leaf(x);
    }
    out[threadIdx.x] = x;
}
extern "C" __global__ void pointers(int *out, int n)
{
    int (*f[2])(int) = {leaf, other};
    int x = threadIdx.x;
    for (int i = 0; i < n; i++)
        x = f[i & 1](x);
    out[threadIdx.x] = x;
}
extern "C" __global__ void meetings(int *out, int n)
{
    int x = threadIdx.x;
    for (int i = 0; i < n; i++) {
        __syncwarp(); __syncwarp(); __syncwarp(); __syncwarp();
        x += i;
    }
    out[threadIdx.x] = x;
}
extern "C" __global__ void arrivals(int *out, int n)
{
    int x = threadIdx.x;
    for (int i = 0; i < n; i++) {
        asm volatile("bar.arrive 1, 64; bar.arrive 2, 64; bar.arrive 3, 64; bar.arrive 4, 64;" ::: "memory");
        __syncthreads();
        x += i;
    }
    out[threadIdx.x] = x;
}
END
expect 0 '' compile chain.cu -o chain.lwo
ulimit -s 256
for kernel in shuffles:4000 calls:8000 pointers:40000 meetings:20000 arrivals:10000; do
    for width in 8 32 64; do
        case $kernel:$width in shuffles:*:8 | meetings:*:8) continue ;; esac # these kernels use masks of 32 lanes
        expect 0 '^ok' run chain.lwo --entry "${kernel%:*}" --grid 1 --block 64 \
            --arg "out=s32[64]" --arg "n=${kernel#*:}" --warp $width
    done
done
echo "$cases cases, $failures failures"
[ $failures = 0 ]
