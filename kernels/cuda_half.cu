/* SPDX-License-Identifier: Apache-2.0 */
/* c = a b + c in half precision, for single values and pairs. */
#include <cuda_fp16.h>

__global__ void multiply_add(const half *a, const half *b, half *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        c[i] = __hfma(a[i], b[i], c[i]);
}

__global__ void multiply_add_pairs(const half2 *a, const half2 *b, half2 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        c[i] = __hfma2(a[i], b[i], c[i]);
}

/* Uses operators instead of fma, so that the result is rounded twice. */
__global__ void separately(const half *a, const half *b, half *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        half product = a[i] * b[i];

        c[i] = product + __float2half(0.1f);
    }
}
