/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the sum of an array, by shuffles within a warp and by cooperative groups. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

/* Writes one partial sum per block: each warp adds up its numbers by halves, then the first warp adds the warps' sums. */
__global__ void by_shuffles(const float *in, float *partial, int n)
{
    __shared__ float warps[32];
    float sum = 0;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warps[lane] : 0;
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (lane == 0)
            partial[blockIdx.x] = sum;
    }
}

/* Computes the sum by cooperative groups: each tile of lanes adds its sum to the total. */
template <int Tile> __global__ void by_groups(const float *in, float *total, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<Tile> tile = cg::tiled_partition<Tile>(block);
    float sum = 0;

    for (int i = blockIdx.x * block.size() + block.thread_rank(); i < n;
         i += gridDim.x * block.size())
        sum += in[i];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0)
        atomicAdd(total, sum);
}
template __global__ void by_groups<32>(const float *, float *, int);
template __global__ void by_groups<8>(const float *, float *, int);
