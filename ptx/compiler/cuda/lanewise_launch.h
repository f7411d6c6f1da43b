/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by kernels: CUDA's device runtime, and functions in place of <<<>>>, which clang supports only in host code:
 *
 *     lanewise::launch<child>(grid, block, shared, stream)(arguments...);
 *     lanewise::launch_group<child>(grid, block, shared)(arguments...);   adds blocks to a running grid of the kernel
 *
 * Both return cudaSuccess, or cudaErrorMemoryAllocation if there is no memory for the launch. */
#ifndef LANEWISE_LAUNCH_H
#define LANEWISE_LAUNCH_H

#define LW_FN_MEMBER __inline__ __attribute__((always_inline, nodebug)) __device__

#define cudaStreamTailLaunch ((cudaStream_t)3)
#define cudaStreamFireAndForget ((cudaStream_t)4)

extern "C" {
__device__ void *cudaGetParameterBuffer(size_t alignment, size_t bytes);
__device__ cudaError_t cudaLaunchDevice(void *kernel, void *buffer, dim3 grid, dim3 block, unsigned int shared,
                                        cudaStream_t stream);
__device__ void *cudaGetParameterBufferV2(void *kernel, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t cudaLaunchDeviceV2(void *buffer, cudaStream_t stream);
__device__ cudaError_t __lanewise_launch_group(void *buffer);
__device__ void *__lanewise_launch_buffer(void *kernel, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                          unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                          unsigned int shared, unsigned int more);
}

#if __cplusplus >= 201703L
namespace lanewise {

/* Code of a kernel may not name a __global__ function directly, but a template argument in the code may. */
template <auto *F> constexpr auto *kernel = F;

template <bool G, typename... P> struct launch_request {
    void *function;
    dim3 grid, block;
    unsigned int shared;
    cudaStream_t stream;

    template <typename T> LW_FN_MEMBER void put(char *buffer, unsigned int &at, const T &value) const
    {
        at = (at + (unsigned int)alignof(T) - 1) / (unsigned int)alignof(T) * (unsigned int)alignof(T);
        *(T *)(buffer + at) = value;
        at += (unsigned int)sizeof(T);
    }
    LW_FN_MEMBER cudaError_t operator()(P... values) const
    {
        char *buffer = (char *)__lanewise_launch_buffer(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, 0);
        unsigned int at = 0;

        if (buffer == nullptr)
            return cudaErrorMemoryAllocation;
        (put<P>(buffer, at, values), ...);
        (void)at;
        if constexpr (G)
            return __lanewise_launch_group(buffer);
        else
            return cudaLaunchDeviceV2(buffer, stream);
    }
};

template <typename T> struct launch_types;
template <typename... P> struct launch_types<void (*)(P...)> {
    typedef launch_request<false, P...> request;
    typedef launch_request<true, P...> group;
};

template <auto *F>
LW_FN typename launch_types<decltype(F)>::request launch(dim3 grid, dim3 block, unsigned int shared = 0,
                                                         cudaStream_t stream = nullptr)
{
    return {(void *)kernel<F>, grid, block, shared, stream};
}

template <auto *F>
LW_FN typename launch_types<decltype(F)>::group launch_group(dim3 grid, dim3 block, unsigned int shared = 0)
{
    return {(void *)kernel<F>, grid, block, shared, nullptr};
}

} // namespace lanewise
#endif

#endif
