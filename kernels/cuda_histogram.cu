/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of byte values. Lanes of a warp that hold the same value agree on one of them that
 * counts for all: one atomic operation for each different value. */
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

        /* Bit by bit: who agrees with this lane in all of them has the same value. */
        for (unsigned bit = 1; bit < BINS; bit *= 2) {
            unsigned set = __ballot_sync(here, (bin & bit) != 0);

            same &= (bin & bit) != 0 ? set : ~set;
        }
        if (lane == (unsigned)__ffs(same) - 1)
            atomicAdd(&bins[bin], (unsigned)__popc(same));
    }
}
