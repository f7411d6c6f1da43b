/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of arithmetic.cl in CUDA, with others. */

/* find: division-by-zero @1 0x20 */
extern "C" __global__ void divided_bad(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        a[i] = n / (a[i] + i - 5); /* @1 */
}
extern "C" __global__ void divided_good(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        a[i] = n / (a[i] + i + 5);
}

/* find: shift-out-of-range @2 0xffff0000 */
extern "C" __global__ void shifted_bad(int *a, int n)
{
    unsigned count = threadIdx.x % 32 * 2 + a[199], bits = n;

    a[threadIdx.x] = bits >> count; /* @2 */
}
extern "C" __global__ void shifted_good(int *a, int n)
{
    unsigned count = threadIdx.x % 32 + a[199], bits = n;

    a[threadIdx.x] = bits >> count;
}

/* find: float-cast-overflow @3 0x8 */
extern "C" __global__ void converted_bad(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float big = i == 3 ? 3e9f + a[0] : 3e4f;

    if (i < n)
        a[i] = (int)big; /* @3 */
}
extern "C" __global__ void converted_good(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float big = i == 3 ? 2e9f + a[0] : 3e4f;

    if (i < n)
        a[i] = (int)big;
}

/* find: nan-generated @4 0x1 */
extern "C" __global__ void root_bad(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        a[i] = __fsqrt_rn((float)(a[i] + i - 1)) > 3; /* @4 */
}
extern "C" __global__ void root_good(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < n)
        a[i] = __fsqrt_rn((float)(a[i] + i)) > 3;
}

/* find: inf-generated @5 0xc0000000 */
extern "C" __global__ void product_bad(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    double x = a[0] + 1e300;

    if (i < n)
        a[i] = x * (i % 32 < 30 ? 2 : 1e9) > n; /* @5 */
}
extern "C" __global__ void product_good(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    double x = a[0] + 1e300;

    if (i < n)
        a[i] = x * (i % 32 < 30 ? 2 : 1e7) > n;
}

/* find: inf-generated @6 0xc0000000 */
extern "C" __global__ void narrowed_bad(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    double x = a[0] + 1e30;

    if (i < n)
        a[i] = (float)(i % 32 < 30 ? x : x * 1e9) > n; /* @6 */
}
extern "C" __global__ void narrowed_good(int *a, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    double x = a[0] + 1e30;

    if (i < n)
        a[i] = (float)(i % 32 < 30 ? x : x * 1e8) > n;
}
