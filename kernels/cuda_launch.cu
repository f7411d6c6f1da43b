/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search with launches by the device, for nvcc and for clang. One thread launches a kernel for each level,
 * one after the other in its block's stream. In the kernel of a level, the thread of a vertex with at least 4 edges launches
 * another kernel, which visits the neighbours. The next level begins when all kernels of the level have completed.
 */
enum { MANY = 4, THREADS = 32 };

__device__ void visit(const unsigned int *column, int *level, unsigned int edge, int next)
{
    unsigned int w = column[edge];

    if (level[w] < 0)
        level[w] = next;
}

__global__ void expand_one(const unsigned int *column, int *level, unsigned int first, unsigned int last, int next)
{
    for (unsigned int e = first + threadIdx.x; e < last; e += blockDim.x)
        visit(column, level, e, next);
}

__global__ void expand_level(const unsigned int *row, const unsigned int *column, int *level, unsigned int n, int current)
{
    unsigned int v = blockIdx.x * blockDim.x + threadIdx.x;

    if (v >= n || level[v] != current)
        return;
    if (row[v + 1] - row[v] < MANY) {
        for (unsigned int e = row[v]; e < row[v + 1]; e++)
            visit(column, level, e, current + 1);
        return;
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
#ifdef __NVCC__
    expand_one<<<1, THREADS, 0, stream>>>(column, level, row[v], row[v + 1], current + 1);
#else
    lanewise::launch<expand_one>(1, THREADS, 0, stream)(column, level, row[v], row[v + 1], current + 1);
#endif
    cudaStreamDestroy(stream);
}

__global__ void search(const unsigned int *row, const unsigned int *column, int *level, unsigned int n, int levels)
{
    for (int current = 0; current < levels; current++) {
#ifdef __NVCC__
        expand_level<<<(n + 127) / 128, 128>>>(row, column, level, n, current);
#else
        lanewise::launch<expand_level>((n + 127) / 128, 128)(row, column, level, n, current);
#endif
    }
}
