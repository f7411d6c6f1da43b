/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA C++ compiled without optimisation: members, references, shared and local arrays,
 * and a divergent loop. */
struct point {
    int x, y;
    float w[2];
};

__device__ int counter = 40;
__constant__ int offsets[4] = {1, 2, 3, 4};

__device__ int dist(const point &p, int scale)
{
    int d = p.x * scale + p.y; /* in dist */
    return d;
}

__global__ void points(int *out, const int *in, int n)
{
    __shared__ int tile[64];
    point p;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;

    p.x = i;
    p.y = in[i];
    p.w[0] = 0.5f;
    p.w[1] = i * 0.25f;
    tile[threadIdx.x] = p.y; /* fills */
    __syncthreads();
    if (i % 2 == 0) /* parts */
        sum = dist(p, 3); /* even */
    else
        sum = tile[threadIdx.x - 1] + offsets[i & 3]; /* odd */
    for (int k = 0; k < 3; k++)
        sum += k; /* adds */
    if (i < n) /* stores */
        out[i] = sum;
}
