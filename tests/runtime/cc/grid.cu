// SPDX-License-Identifier: Apache-2.0
// Synchronises all blocks of a grid: cooperative launches by the runtime, and by an attribute of a launch.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;
static int failures = 0;
#define EXPECT(x) ((x) ? (void)0 : (void)(failures++, printf("line %d: %s is false\n", __LINE__, #x)))

// Each step reads elements of the neighbouring blocks, so a block must not begin a step before all blocks have completed the last.
__global__ void smooth(int *a, int *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    const int i = (int)grid.thread_rank();

    for (int s = 0; s < steps; s++) {
        if (i < n)
            b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
        grid.sync();
        if (i < n)
            a[i] = b[i] & 0xffff;
        grid.sync();
    }
}

static std::vector<int> start(int n)
{
    std::vector<int> a(n);

    for (int i = 0; i < n; i++)
        a[i] = i * 7 + i * i;
    return a;
}

static std::vector<int> expected(int n, int steps)
{
    std::vector<int> a = start(n), b(n);

    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
        for (int i = 0; i < n; i++)
            a[i] = b[i] & 0xffff;
    }
    return a;
}

static cudaError_t launch(bool by_attribute, dim3 grid, dim3 block, void **args)
{
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};

    if (!by_attribute)
        return cudaLaunchCooperativeKernel((const void *)smooth, grid, block, args, 0, nullptr);
    attributes[0].id = cudaLaunchAttributeIgnore;
    attributes[1].id = cudaLaunchAttributeCooperative;
    attributes[1].val.cooperative = 1;
    config.gridDim = grid;
    config.blockDim = block;
    config.attrs = attributes;
    config.numAttrs = 2;
    return cudaLaunchKernelExC(&config, (const void *)smooth, args);
}

int main()
{
    int supported = 0, cores = 0, each = 0, *a, *b;

    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0);
    EXPECT(supported == 1);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0);
    for (bool by_attribute : {false, true})
        for (unsigned block : {33u, 64u}) { // one block size is no multiple of the warp width
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, smooth, (int)block, 0);
            const unsigned most = (unsigned)(each * cores);
            for (unsigned grid : {1u, 2u, most}) {
                int n = (int)(grid * block) - 1, steps = 3;
                const std::vector<int> from = start(n);
                std::vector<int> to(n);
                void *args[] = {&a, &b, &n, &steps};

                cudaMalloc(&a, n * sizeof(int));
                cudaMalloc(&b, n * sizeof(int));
                cudaMemcpy(a, from.data(), n * sizeof(int), cudaMemcpyHostToDevice);
                EXPECT(launch(by_attribute, grid, block, args) == cudaSuccess);
                EXPECT(cudaDeviceSynchronize() == cudaSuccess);
                cudaMemcpy(to.data(), a, n * sizeof(int), cudaMemcpyDeviceToHost);
                EXPECT(to == expected(n, steps));
                cudaFree(a);
                cudaFree(b);
            }
            void *none[] = {&a, &b, &each, &each};
            EXPECT(launch(by_attribute, most + 1, block, none) == cudaErrorCooperativeLaunchTooLarge);
            EXPECT(launch(by_attribute, dim3(most, 2), block, none) == cudaErrorCooperativeLaunchTooLarge);
            EXPECT(launch(by_attribute, 0, block, none) == cudaErrorInvalidValue);
            (void)cudaGetLastError();
        }
    printf(failures == 0 ? "all right\n" : "%d failures\n", failures);
    return failures != 0;
}
