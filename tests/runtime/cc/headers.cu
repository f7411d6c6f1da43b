// SPDX-License-Identifier: Apache-2.0
/* Small headers of CUDA: separate arrival and wait, nvstd::function, names of types, the profiler. Functions of cooperative groups that
 * call a function by one thread, and functions of mathematics in host code. */
#include <cuda_awbarrier.h>
#include <library_types.h>
#include <cudaProfiler.h>
#include <nvfunctional>
#include <surface_indirect_functions.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
namespace cg = cooperative_groups;
using nvcuda::experimental::awbarrier;

struct big { int v[20]; __host__ __device__ int operator()(int x) const { return v[x] + 1; } };
__host__ __device__ int times(int x) { return 3 * x; }
__host__ __device__ int functions(int y)
{
    nvstd::function<int(int)> f, g = times;
    int r = f == nullptr ? 1000 : 0;
    f = [=](int x) { return x + y; };
    r += f(1) + g(2);
    f.swap(g);
    r += 10 * f(1) + 100 * g(2);
    big b = {};
    b.v[4] = y;
    nvstd::function<int(int)> h(b), i = h;
    h = f;
    f = i;
    i = nullptr;
    return r + 7 * f(4) + h(5) + (i ? 50000 : 0);
}
__global__ void k(int *o)
{
    struct pair {
        int a;
        double b;
    };
    __shared__ awbarrier bar;
    __shared__ int s[64];
    const int t = threadIdx.x;
    int all;

    if (t == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    for (int r = 1; r < 4; r++) {
        s[t] = t * r;
        awbarrier::arrival_token token = bar.arrive();
        bar.wait(token);
        o[t] += s[63 - t];
        bar.arrive_and_wait();
    }
    o[64 + t] = functions(t);
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const pair p = cg::invoke_one_broadcast(warp, [&](int x) { return pair{x + t, 2.5}; }, 9);
    o[128 + t] = p.a + (int)(p.b * 2) + (int)cg::this_thread().size() * 100 + (int)cg::this_thread().thread_rank();
    cg::invoke_one(cg::this_thread_block(), [&] { atomicAdd(&o[192], 1); });
    if (t % 2 != 0)
        o[200 + t] = cg::invoke_one_broadcast(cg::coalesced_threads(), [=] { return t; });
    o[300 + t] = (int)__match_any_sync(~0u, t % 32 < 16) + (int)__popc(__match_any_sync(~0u, (char)(t & 3)));
    __match_all_sync(~0u, (short)5, &all);
    o[400 + t] = all + (int)fma(1, 2, 3) + (int)nextafter(1, 2.0f);
    o[500] = (int)__low2float(__hfma2_sat(__float2half2_rn(3), __float2half2_rn(3), __float2half2_rn(3)));
}
int main()
{
    int *o, bad = CUDA_R_16BF != 14;
    cudaError_t error;

    cuProfilerStart();
    cudaMallocManaged(&o, 4096);
    memset(o, 0, 4096);
    k<<<1, 64>>>(o);
    error = cudaDeviceSynchronize();
    for (int t = 0; t < 64; t++) {
        bad += o[t] != 6 * (63 - t);
        bad += o[64 + t] != functions(t);
        bad += o[128 + t] != 9 + t / 32 * 32 + 5 + 100;
        bad += t % 2 && o[200 + t] != t / 32 * 32 + 1;
        bad += o[300 + t] != (int)(t % 32 < 16 ? 0xffff : 0xffff0000) + 8;
        bad += o[400 + t] != 1 + 5 + 1;
    }
    bad += o[192] != 1 || o[500] != 1;
    bad += fabs(erfcinv(1e-10) - 4.572824967389486) > 1e-14 || fabs(erfcx(26.5) - 0.021275046685371105) > 1e-16;
    bad += fabs(erfinvf(0.5f) - 0.4769363f) > 1e-7f || fabs(normcdfinv(1e-45) + 14.145) > 0.001 || sinpi(1e9) != 0 || cospi(-2.5) != 0;
    printf(bad != 0 || error != cudaSuccess ? "%d wrong\n" : "all right\n", bad);
    return bad != 0;
}
