// SPDX-License-Identifier: Apache-2.0
/* 16-bit floats have the same values in host code as in kernels. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <string.h>

enum { CASES = 4096, RESULTS = 32 };

/* Stores @value in the next place of @at. */
template <class T> __host__ __device__ static void put(unsigned long long *&at, T value)
{
    *at = 0;
    memcpy(at++, &value, sizeof value);
}

/* Functions that both formats have. */
template <class T, class T2> __host__ __device__ static void common(unsigned long long *&at, T a, T b, T c)
{
    T2 pair = T2(a, b);

    put(at, a + b), put(at, a - b), put(at, a * b), put(at, a / b), put(at, __hfma(a, b, c));
    put(at, __hmin(a, b)), put(at, __hmax_nan(a, b)), put(at, a < b), put(at, a != b);
    pair += T2(b, c);
    pair *= T2(c, a);
    put(at, pair++), put(at, pair), put(at, pair == T2(a, b));
}

__host__ __device__ static void compute(unsigned int i, unsigned long long *at)
{
    register const unsigned int u = i * 2654435761u; /* nvcc accepts "register" in C++17 */
    const unsigned int small = (u & 0x807fffff) | (100 + i % 50) << 23;
    const unsigned short x = (unsigned short)u, y = (unsigned short)(u >> 9), z = (unsigned short)(u >> 16);
    float f;

    memcpy(&f, &small, sizeof f); /* about the size of halves */
    common<__half, __half2>(at, __ushort_as_half(x), __ushort_as_half(y), __ushort_as_half(z));
    common<__nv_bfloat16, __nv_bfloat162>(at, __ushort_as_bfloat16(x), __ushort_as_bfloat16(y), __ushort_as_bfloat16(z));
    put(at, __float2half(f)), put(at, __float2half_ru(f)), put(at, __half(f * 1.0000001)), put(at, __half((int)u >> i % 30));
    put(at, __half2float(__ushort_as_half(x))), put(at, __half2short_rn(__ushort_as_half(x)));
    put(at, __nv_bfloat16(f * 1.0000001)), put(at, __nv_bfloat16((long long)u << i % 31));
}

__global__ void kernel(unsigned long long *out)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

    compute(i, out + i * RESULTS);
}

int main(void)
{
    unsigned long long *out, want[RESULTS] = {0};
    int wrong = 0;

    cudaMallocManaged(&out, CASES * RESULTS * sizeof *out);
    kernel<<<CASES / 256, 256>>>(out);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (unsigned int i = 0; i < CASES; i++) {
        compute(i, want);
        for (int r = 0; r < RESULTS; r++)
            if (out[i * RESULTS + r] != want[r] && wrong++ < 10)
                printf("case %u, result %d: host %llx, kernel %llx\n", i, r, want[r], out[i * RESULTS + r]);
    }
    if (wrong == 0)
        printf("all right\n");
    return wrong != 0;
}
