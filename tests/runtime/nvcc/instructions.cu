/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces, barriers in shared memory, pipelines and matrix fragments, as nvcc translates them. Prints "all right". */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <utility>

namespace wmma = nvcuda::wmma;
static int bad;
static void expect(bool right, const char *what)
{
    if (!right)
        printf("wrong: %s\n", what);
    bad += !right;
}

/* Moves an image by one element, and reads beyond its edges. */
__global__ void move(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width)
{
    const int x = threadIdx.x, y = threadIdx.y;

    surf2Dwrite(surf2Dread<float2>(from, (x - 1) * 8, y, x < 2 ? cudaBoundaryModeZero : cudaBoundaryModeClamp), to, x * 8, y);
    surf2Dwrite(make_float2(-1, -1), to, (x + width) * 8, y, cudaBoundaryModeZero);
}

static void surfaces()
{
    enum { W = 16, H = 4 };
    float2 image[H][W], result[H][W];
    cudaArray_t array[2];
    cudaSurfaceObject_t object[2];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    bool right = true;

    for (int i = 0; i < W * H; i++)
        image[i / W][i % W] = make_float2(i, -i);
    for (int i = 0; i < 2; i++) {
        cudaResourceDesc resource = {};

        cudaMallocArray(&array[i], &format, W, H, cudaArraySurfaceLoadStore);
        cudaMemcpy2DToArray(array[i], 0, 0, image, sizeof image[0], sizeof image[0], H, cudaMemcpyHostToDevice);
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array[i];
        cudaCreateSurfaceObject(&object[i], &resource);
    }
    move<<<1, dim3(W, H)>>>(object[0], object[1], W);
    cudaMemcpy2DFromArray(result, sizeof result[0], array[1], 0, 0, sizeof result[0], H, cudaMemcpyDeviceToHost);
    for (int i = 0; i < W * H; i++)
        right &= result[i / W][i % W].x == (i % W == 0 ? 0 : i - 1) && result[i / W][i % W].y == (i % W == 0 ? 0 : 1 - i);
    expect(right, "surfaces");
    for (int i = 0; i < 2; i++) {
        cudaDestroySurfaceObject(object[i]);
        cudaFreeArray(array[i]);
    }
}

__global__ void phases(int *out, int count)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int cells[128];
    int sum = 0;

    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < count; i++) {
        cells[threadIdx.x] = threadIdx.x + i;
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        sum += cells[(threadIdx.x + 33) % blockDim.x];
        barrier.arrive_and_wait();
    }
    if (threadIdx.x < 40)
        barrier.arrive_and_drop();
    else
        barrier.arrive_and_wait();
    if (threadIdx.x >= 40)
        barrier.arrive_and_wait();
    out[threadIdx.x] = sum;
}

__global__ void stages(int *out, const int *in)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int cells[2][128];
    auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0;

    for (int i = 0; i <= 8; i++) {
        if (i < 8) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, cells[i & 1], in + 128 * i, cuda::aligned_size_t<16>(sizeof cells[0]), pipeline);
            pipeline.producer_commit();
        }
        if (i > 0) {
            pipeline.consumer_wait();
            sum += cells[(i - 1) & 1][(threadIdx.x * 7) & 127];
            pipeline.consumer_release();
        }
    }
    out[threadIdx.x] = sum;
}

static void barriers()
{
    int *out, *in;
    bool right = true;

    cudaMallocManaged(&out, 128 * sizeof *out);
    cudaMallocManaged(&in, 1024 * sizeof *in);
    for (int i = 0; i < 1024; i++)
        in[i] = i;
    phases<<<1, 128>>>(out, 3);
    cudaDeviceSynchronize();
    for (int i = 0; i < 128; i++)
        right &= out[i] == 3 * ((i + 33) % 128) + 3;
    expect(right, "barriers");
    stages<<<1, 128>>>(out, in);
    cudaDeviceSynchronize();
    right = true;
    for (int i = 0; i < 128; i++)
        right &= out[i] == 8 * ((i * 7) & 127) + 128 * 28;
    expect(right, "pipelines");
    cudaFree(out);
    cudaFree(in);
}

/* d = 2 (a b) + c */
template <int M, int N, int K, class T, class S, class LAYOUT_A, class LAYOUT_B, class P>
__global__ void product(S *d, const P *a, const P *b, const S *c)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, LAYOUT_A> left;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LAYOUT_B> right;
    wmma::fragment<wmma::accumulator, M, N, K, S> sum, start;

    wmma::fill_fragment(sum, (S)0);
    wmma::load_matrix_sync(left, a, 32);
    wmma::load_matrix_sync(right, b, 32);
    wmma::load_matrix_sync(start, c, 32, wmma::mem_col_major);
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++)
        start.x[i] = (S)2 * sum.x[i] + start.x[i];
    wmma::store_matrix_sync(d, start, 32, wmma::mem_row_major);
}

template <int M, int N, int K, class T, class S, class P> static void matrices(const char *what)
{
    P *a, *b;
    S *c, *d;
    bool right = true;

    cudaMallocManaged(&a, 1024 * sizeof *a);
    cudaMallocManaged(&b, 1024 * sizeof *b);
    cudaMallocManaged(&c, 1024 * sizeof *c);
    cudaMallocManaged(&d, 1024 * sizeof *d);
    for (int i = 0; i < 1024; i++) {
        a[i] = (P)(float)(i * 7 % 5);
        b[i] = (P)(float)(i * 3 % 7);
        c[i] = (S)(float)(i % 9);
    }
    for (int layouts = 0; layouts < 2; layouts++) {
        if (layouts == 0)
            product<M, N, K, T, S, wmma::row_major, wmma::col_major><<<1, 32>>>(d, a, b, c);
        else
            product<M, N, K, T, S, wmma::col_major, wmma::row_major><<<1, 32>>>(d, a, b, c);
        right &= cudaDeviceSynchronize() == cudaSuccess;
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                float sum = 0;

                for (int k = 0; k < K; k++)
                    sum += (float)a[layouts == 0 ? i * 32 + k : k * 32 + i] * (float)b[layouts == 0 ? j * 32 + k : k * 32 + j];
                right &= (float)d[i * 32 + j] == 2 * sum + (float)c[j * 32 + i];
            }
    }
    expect(right, what);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(d);
}

int main()
{
    surfaces();
    barriers();
    matrices<16, 16, 16, __half, float, __half>("f16 16 x 16");
    matrices<32, 8, 16, __half, __half, __half>("f16 32 x 8");
    matrices<8, 32, 16, __half, float, __half>("f16 8 x 32");
    matrices<16, 16, 16, __nv_bfloat16, float, __nv_bfloat16>("bf16");
    matrices<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
    matrices<8, 32, 16, signed char, int, signed char>("s8");
    matrices<16, 16, 16, unsigned char, int, unsigned char>("u8");
    matrices<8, 8, 4, double, double, double>("f64");
    if (bad == 0)
        printf("all right\n");
    return bad != 0;
}
