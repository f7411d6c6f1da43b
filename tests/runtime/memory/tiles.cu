/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tiles of several warps: barriers, votes, shuffles and reductions, and tiles in tiles. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;
enum { THREADS = 512, ROWS = 8 };
static int failures;
#define EXPECT(x) ((x) ? (void)0 : (void)(failures++, printf("line %d: %s is false\n", __LINE__, #x)))

template <unsigned Size> __global__ void use(const int *in, int *out, double *sums)
{
    __shared__ cg::block_tile_memory<THREADS> memory;
    __shared__ int turn[THREADS];
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<Size>(block);
    const unsigned t = block.thread_rank(), r = tile.thread_rank();
    const int x = in[t];

    out += t * ROWS;
    out[0] = (int)(tile.size() + 1000 * tile.meta_group_rank() + 100000 * tile.meta_group_size());
    turn[t] = x;
    tile.sync();
    out[1] = turn[t - r + (r + Size / 2) % Size]; /* a thread of another warp of the tile */
    tile.sync();
    out[2] = cg::reduce(tile, x, cg::plus<int>());
    out[3] = tile.any(x == 77) * 2 + tile.all(x >= 0);
    out[4] = tile.shfl(x, Size - 1);
    out[5] = cg::reduce(tile, x, cg::greater<int>());
    sums[t] = cg::reduce(tile, (double)x / 2, cg::plus<double>());
    auto warp = cg::tiled_partition<32>(tile);
    out[6] = (int)(warp.meta_group_rank() + 100 * warp.meta_group_size());
    /* Only the even tiles use a smaller tile. */
    out[7] = 0;
    if constexpr (Size > 64)
        if (tile.meta_group_rank() % 2 == 0)
            out[7] = cg::reduce(cg::tiled_partition<64>(tile), x, cg::plus<int>());
}

static int value(int i)
{
    return i == 200 ? 77 : i == 300 ? -5 : i * 37 % 61;
}

template <unsigned Size> static void check(const int *in, int *out, double *sums)
{
    use<Size><<<1, THREADS>>>(in, out, sums);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < THREADS; t++) {
        const int first = t / (int)Size * (int)Size, *o = out + t * ROWS;
        int sum = 0, most = -100, any = 0, all = 1, small = 0;

        for (int i = first; i < first + (int)Size; i++) {
            sum += value(i);
            most = value(i) > most ? value(i) : most;
            any |= value(i) == 77;
            all &= value(i) >= 0;
        }
        for (int i = t / 64 * 64; Size > 64 && first / (int)Size % 2 == 0 && i < t / 64 * 64 + 64; i++)
            small += value(i);
        EXPECT(o[0] == (int)Size + 1000 * (t / (int)Size) + 100000 * (THREADS / (int)Size));
        EXPECT(o[1] == value(first + (t - first + (int)Size / 2) % (int)Size));
        EXPECT(o[2] == sum && o[3] == 2 * any + all && o[4] == value(first + (int)Size - 1) && o[5] == most);
        EXPECT(sums[t] == sum / 2.0);
        EXPECT(o[6] == (t - first) / 32 + 100 * (int)Size / 32);
        EXPECT(o[7] == small);
        if (failures != 0) {
            printf("tiles of %u threads, thread %d: %d %d %d %d %d %d %d %d, %g\n", Size, t, o[0], o[1], o[2], o[3], o[4], o[5], o[6],
                   o[7], sums[t]);
            return;
        }
    }
}

int main()
{
    int *in, *out;
    double *sums;

    cudaMallocManaged(&in, THREADS * sizeof *in);
    cudaMallocManaged(&out, THREADS * ROWS * sizeof *out);
    cudaMallocManaged(&sums, THREADS * sizeof *sums);
    for (int i = 0; i < THREADS; i++)
        in[i] = value(i);
    check<64>(in, out, sums);
    check<128>(in, out, sums);
    check<256>(in, out, sums);
    check<512>(in, out, sums);
    printf(failures == 0 ? "all right\n" : "%d failures\n", failures);
    cudaFree(in);
    cudaFree(out);
    cudaFree(sums);
    return failures != 0;
}
