/* SPDX-License-Identifier: Apache-2.0 */
/* Counts byte values. In histogram_by_warps() one lane counts for all lanes of its warp that have the same value,
 * so a warp executes one atomic operation for each different value. */
#define BINS 256

__global__ void histogram(const unsigned *data, unsigned *bins, unsigned n)
{
    __shared__ unsigned mine[BINS];

    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i] % BINS], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x) {
        if (mine[i] != 0)
            atomicAdd(&bins[i], mine[i]);
    }
}

__global__ void histogram_by_warps(const unsigned *data, unsigned *bins, unsigned n)
{
    unsigned lane = threadIdx.x % 32;

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = data[i] % BINS;
        unsigned here = __activemask();
        unsigned same = here;

        /* Compares bit by bit: a lane that agrees in all bits has the same value. */
        for (unsigned bit = 1; bit < BINS; bit *= 2) {
            unsigned set = __ballot_sync(here, (bin & bit) != 0);

            same &= (bin & bit) != 0 ? set : ~set;
        }
        if (lane == (unsigned)__ffs(same) - 1)
            atomicAdd(&bins[bin], (unsigned)__popc(same));
    }
}
