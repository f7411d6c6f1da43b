/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix fragments of <mma.h>: products of each shape, type and layout must equal those of the host. */
#include <mma.h>

#include <cstdio>
#include <cstdlib>

using namespace nvcuda;

template <int M, int N, int K, typename T, typename S, typename D, typename LA, typename LB>
__global__ void multiply(const S *a, const S *b, const D *c, D *d, wmma::layout_t layout, bool saturates)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> right;
    wmma::fragment<wmma::accumulator, M, N, K, D> sum, twice;

    wmma::load_matrix_sync(left, a, (__is_same(LA, wmma::row_major) ? K : M) + 8);
    wmma::load_matrix_sync(right, b, (__is_same(LB, wmma::row_major) ? N : K) + 8);
    wmma::load_matrix_sync(sum, c, layout == wmma::mem_row_major ? N : M, layout);
    wmma::fill_fragment(twice, D(0));
    wmma::mma_sync(sum, left, right, sum, saturates);
    wmma::mma_sync(twice, left, right, twice);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = sum.x[i] + twice.x[i];
    wmma::store_matrix_sync(d, sum, layout == wmma::mem_row_major ? N : M, layout);
}

static int wrong;
static double value_of(__half x) { return __half2float(x); }
static double value_of(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T> static double value_of(T x) { return (double)x; }
static void set(__half &to, int x) { to = __float2half((float)x); }
static void set(__nv_bfloat16 &to, int x) { to = __float2bfloat16((float)x); }
template <class T> static void set(T &to, int x) { to = (T)x; }

template <int M, int N, int K, typename T, typename S, typename D, typename LA, typename LB>
static void one(const char *what, wmma::layout_t layout, int low)
{
    const bool rows_a = __is_same(LA, wmma::row_major), rows_b = __is_same(LB, wmma::row_major), rows = layout == wmma::mem_row_major;
    const int step_a = (rows_a ? K : M) + 8, step_b = (rows_b ? N : K) + 8;
    S *a, *b;
    D *c, *d;

    cudaMallocManaged(&a, 64 * 64 * sizeof *a);
    cudaMallocManaged(&b, 64 * 64 * sizeof *b);
    cudaMallocManaged(&c, M * N * sizeof *c);
    cudaMallocManaged(&d, M * N * sizeof *d);
    for (int i = 0; i < 64 * 64; i++) {
        set(a[i], rand() % 8 + low);
        set(b[i], rand() % 8 + low);
    }
    for (int i = 0; i < M * N; i++)
        set(c[i], rand() % 8);
    multiply<M, N, K, T, S, D, LA, LB><<<1, 32>>>(a, b, c, d, layout, false);
    if (cudaDeviceSynchronize() != cudaSuccess)
        wrong++;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            const int at = rows ? i * N + j : j * M + i;
            double sum = 0;

            for (int k = 0; k < K; k++)
                sum += value_of(a[rows_a ? i * step_a + k : k * step_a + i]) * value_of(b[rows_b ? k * step_b + j : j * step_b + k]);
            if (value_of(d[at]) != value_of(c[at]) + 2 * sum && wrong++ < 9)
                printf("%s: element %d, %d: %g, expected %g\n", what, i, j, value_of(d[at]), value_of(c[at]) + 2 * sum);
        }
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
}
template <int M, int N, int K, typename T, typename S, typename D> static void layouts(const char *what, int low)
{
    one<M, N, K, T, S, D, wmma::row_major, wmma::row_major>(what, wmma::mem_row_major, low);
    one<M, N, K, T, S, D, wmma::row_major, wmma::col_major>(what, wmma::mem_col_major, low);
    one<M, N, K, T, S, D, wmma::col_major, wmma::row_major>(what, wmma::mem_col_major, low);
    one<M, N, K, T, S, D, wmma::col_major, wmma::col_major>(what, wmma::mem_row_major, low);
}
template <typename T, typename D> static void shapes(const char *what, int low)
{
    layouts<16, 16, 16, T, T, D>(what, low);
    layouts<32, 8, 16, T, T, D>(what, low);
    layouts<8, 32, 16, T, T, D>(what, low);
}

/* Integers wrap around, or saturate if the program requests it. */
__global__ void most(int *out, bool saturates)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;

    wmma::fill_fragment(a, 100);
    wmma::fill_fragment(b, 100);
    wmma::fill_fragment(c, 0x7fffffff);
    wmma::mma_sync(c, a, b, c, saturates);
    out[threadIdx.x] = c.x[0];
}

int main()
{
    int *out;

    shapes<__half, float>("half to float", -4);
    shapes<__half, __half>("half to half", -4);
    shapes<__nv_bfloat16, float>("bfloat16", -4);
    shapes<signed char, int>("s8", -4);
    shapes<unsigned char, int>("u8", 250 - 8);
    layouts<16, 16, 8, wmma::precision::tf32, float, float>("tf32", -4);
    layouts<8, 8, 4, double, double, double>("double", -4);
    cudaMallocManaged(&out, 32 * sizeof *out);
    for (int saturates = 0; saturates < 2; saturates++) {
        most<<<1, 32>>>(out, saturates != 0);
        if (cudaDeviceSynchronize() != cudaSuccess || out[31] != (saturates ? 0x7fffffff : (int)(0x7fffffffu + 160000)))
            wrong++;
    }
    puts(wrong == 0 ? "all right" : "wrong");
    return wrong != 0;
}
