// SPDX-License-Identifier: Apache-2.0
// Adds to each number its right neighbour. The last number has no right neighbour.
#include <cstdio>
#include <vector>

__global__ void pairs(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int right = in[i + 1];

    if (i < n - 1)
        out[i] = in[i] + right;
}

int main()
{
    const int n = 100;
    std::vector<int> in(n), out(n);
    int *a, *b;

    for (int i = 0; i < n; i++)
        in[i] = 10 * i;
    cudaMalloc(&a, n * sizeof *a);
    cudaMalloc(&b, n * sizeof *b);
    cudaMemcpy(a, in.data(), n * sizeof *a, cudaMemcpyHostToDevice);
    pairs<<<2, 64>>>(a, b, n);
    cudaMemcpy(out.data(), b, n * sizeof *b, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    for (int i = 0; i < n; i++)
        if (out[i] != in[i] + (i + 1 < n ? in[i + 1] : 0)) {
            printf("out[%d] is %d\n", i, out[i]);
            return 1;
        }
    printf("all %d sums are right\n", n);
    return 0;
}
