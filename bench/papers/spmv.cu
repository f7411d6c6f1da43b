/* SPDX-License-Identifier: Apache-2.0 */
/* Multiplies a sparse matrix by a vector, which it reads through the texture cache. The kernels are in CUDA, because OpenCL
 * has no textures over linear memory. */
texture<float, 1, cudaReadModeElementType> x;

/* One thread for each row. */
__global__ void scalar(const int *row, const int *column, const float *value, float *y, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t < n) {
        float sum = 0;

#pragma unroll 1
        for (int e = row[t]; e < row[t + 1]; e++)
            sum += value[e] * tex1Dfetch(x, column[e]);
        y[t] = sum;
    }
}

/* One warp for each row. The sums of its lanes are added in shared memory. */
__global__ void vector(const int *row, const int *column, const float *value, float *y, int n)
{
    __shared__ volatile float part[128];
    int t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, r = t >> 5;
    float sum = 0;

    if (r >= n)
        return;
    int end = row[r + 1];

#pragma unroll 1
    for (int e = row[r] + lane; e < end; e += 32)
        sum += value[e] * tex1Dfetch(x, column[e]);
    part[threadIdx.x] = sum;
    __syncwarp();
#pragma unroll
    for (int half = 16; half > 0; half >>= 1) {
        if (lane < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncwarp();
    }
    if (lane == 0)
        y[r] = part[threadIdx.x];
}
