/* SPDX-License-Identifier: Apache-2.0 */
/* Barrier objects, pipelines and asynchronous copies of <cuda/barrier>, <cuda/pipeline> and cooperative groups. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <stdio.h>

namespace cg = cooperative_groups;
enum { THREADS = 128, STEPS = 7, STAGES = 3 };

/* Each phase adds the other threads' numbers of the phase before. A quarter of the threads leaves after the first phase. */
__global__ void phases(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int number[2][THREADS];
    const int t = threadIdx.x;

    if (t == 0)
        init(&bar, THREADS);
    __syncthreads();
    number[0][t] = t;
    if (t >= THREADS * 3 / 4) {
        bar.arrive_and_drop();
        return;
    }
    auto token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = 0; i < STEPS; i++) {
        number[(i + 1) % 2][t] = number[i % 2][(t + 1) % (THREADS * 3 / 4)] + 1;
        bar.arrive_and_wait();
    }
    out[t] = number[STEPS % 2][t];
}

/* Half of the threads loads tiles, and the other half adds them. */
__global__ void roles(const int *in, int *out)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    __shared__ int tile[STAGES][THREADS / 2];
    auto block = cg::this_thread_block();
    const int half = THREADS / 2, t = threadIdx.x % half;
    const bool loads = threadIdx.x < half;
    auto pipe = cuda::make_pipeline(block, &state, loads ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;

    for (int i = 0; i < STEPS; i++) {
        if (loads) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[i % STAGES][t], &in[i * half + t], cuda::aligned_size_t<4>(4), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 3 + tile[i % STAGES][half - 1 - t];
            pipe.consumer_release();
        }
    }
    if (!loads)
        out[t] = sum;
}

__global__ void copies(const int *in, int *out)
{
    __shared__ int tile[4][THREADS];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline();
    const int t = threadIdx.x;

    if (t == 0)
        init(&bar, THREADS);
    cg::memcpy_async(block, tile[0], in, sizeof tile[0]);
    cg::wait(block);
    pipe.producer_acquire();
    cuda::memcpy_async(&tile[1][t], &in[t + 1], sizeof(int), pipe);
    pipe.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipe);
    pipe.consumer_release();
    cuda::memcpy_async(block, tile[2], in + 2, sizeof tile[2], bar);
    bar.arrive_and_wait();
    __pipeline_memcpy_async(&tile[3][t], &in[t], 4, t % 2 * 2);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[0][THREADS - 1 - t] + tile[1][t] * 10 + tile[2][t] * 100 + tile[3][t] * 1000;
}

int main()
{
    int *in, *out, wrong = 0;

    cudaMallocManaged(&in, STEPS * THREADS * sizeof *in);
    cudaMallocManaged(&out, THREADS * sizeof *out);
    for (int i = 0; i < STEPS * THREADS; i++)
        in[i] = i * 37 % 101 + (i << 16);
    phases<<<1, THREADS>>>(out);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < THREADS * 3 / 4; t++)
        wrong += out[t] != (t + STEPS) % (THREADS * 3 / 4) + STEPS;
    roles<<<1, THREADS>>>(in, out);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < THREADS / 2; t++) {
        int sum = 0;

        for (int i = 0; i < STEPS; i++)
            sum = (int)((unsigned)sum * 3 + (unsigned)in[i * THREADS / 2 + THREADS / 2 - 1 - t]);
        wrong += out[t] != sum;
    }
    copies<<<1, THREADS>>>(in, out);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    for (int t = 0; t < THREADS; t++) {
        const unsigned last = t % 2 ? (unsigned)in[t] & 0xffff : (unsigned)in[t];

        wrong += (unsigned)out[t] != (unsigned)in[THREADS - 1 - t] + in[t + 1] * 10u + in[t + 2] * 100u + last * 1000u;
    }
    puts(wrong == 0 ? "all right" : "wrong");
    return wrong != 0;
}
