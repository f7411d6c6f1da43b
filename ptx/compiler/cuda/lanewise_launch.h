/* SPDX-License-Identifier: Apache-2.0 */
/* Launches by kernels: CUDA's device runtime, and functions in place of <<<>>>, which clang supports only in host code:
 *
 *     lanewise::launch<child>(grid, block, shared, stream)(arguments...);
 *     lanewise::launch_group<child>(grid, block, shared)(arguments...);   adds blocks to a running grid of the kernel
 *
 * Both need C++17. They return cudaSuccess, or cudaErrorMemoryAllocation if there is no memory for the launch. In device code,
 * LANEWISE_LAUNCH(child)(grid, block, shared, stream) replaces child<<<grid, block, shared, stream>>> before clang reads the
 * source. */
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

/* In kernels, cudaMalloc() takes memory from the heap of malloc(). */
LW_FN_MEMBER cudaError_t cudaMalloc(void **pointer, size_t size)
{
    *pointer = malloc(size);
    return *pointer != nullptr || size == 0 ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <typename T> LW_FN_MEMBER cudaError_t cudaMalloc(T **pointer, size_t size) { return cudaMalloc((void **)pointer, size); }
LW_FN_MEMBER cudaError_t cudaFree(void *pointer)
{
    free(pointer);
    return cudaSuccess;
}

#if __cplusplus >= 201103L
namespace lanewise {

/* Stores a parameter. Types without assignment, such as structures with constant members, are copied as bytes. */
template <typename T, bool A> struct launch_store {
    static LW_FN_MEMBER void to(char *p, const T &value) { *(T *)p = value; }
};
template <typename T> struct launch_store<T, false> {
    static LW_FN_MEMBER void to(char *p, const T &value) { __builtin_memcpy(p, &value, sizeof(T)); }
};

template <bool G, typename... P> struct launch_request {
    void *function;
    dim3 grid, block;
    unsigned int shared;
    cudaStream_t stream;

    template <typename T> LW_FN_MEMBER int put(char *buffer, unsigned int &at, const T &value) const
    {
        at = (at + (unsigned int)alignof(T) - 1) / (unsigned int)alignof(T) * (unsigned int)alignof(T);
        launch_store<T, __is_assignable(T &, const T &)>::to(buffer + at, value);
        at += (unsigned int)sizeof(T);
        return 0;
    }
    LW_FN_MEMBER cudaError_t operator()(P... values) const
    {
        char *buffer = (char *)__lanewise_launch_buffer(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, 0);
        unsigned int at = 0;

        if (buffer == nullptr)
            return cudaErrorMemoryAllocation;
        const int done[] = {0, put<P>(buffer, at, values)...}; /* in the order of the parameters */
        (void)done;
        return G ? __lanewise_launch_group(buffer) : cudaLaunchDeviceV2(buffer, stream);
    }
};

template <typename T> struct launch_types;
template <typename... P> struct launch_types<void (*)(P...)> {
    typedef launch_request<false, P...> request;
    typedef launch_request<true, P...> group;
};

/* Code of a kernel may not name a __global__ function directly, but a template argument in the code may. */
template <typename T, T F> struct kernel_of {
    static constexpr T value = F;
};
template <typename T, T F>
LW_FN typename launch_types<T>::request launch_of(dim3 grid, dim3 block, unsigned int shared = 0, cudaStream_t stream = nullptr)
{
    return {(void *)kernel_of<T, F>::value, grid, block, shared, stream};
}

#if __cplusplus >= 201703L
template <auto *F> constexpr auto *kernel = F;

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

#define LANEWISE_LAUNCH(...) ::lanewise::launch<__VA_ARGS__>
#else
#define LANEWISE_LAUNCH(...) ::lanewise::launch_of<decltype(&__VA_ARGS__), &__VA_ARGS__>
#endif

/* The kernels of copies and fills in kernels, which thus have the order of their stream. */
template <typename T> static __global__ void copy_elements(T *to, const T *from, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (size_t)blockDim.x)
        to[i] = from[i];
}
template <typename T> static __global__ void fill_elements(T *to, T value, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (size_t)blockDim.x)
        to[i] = value;
}
LW_FN_MEMBER unsigned int blocks_for(size_t count) { return (unsigned int)(count > 65536 ? 256 : (count + 255) / 256); }
} // namespace lanewise

/* Templates, so that only programs that use them have their kernels. */
template <typename W = unsigned int>
LW_FN_MEMBER cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind, cudaStream_t stream = nullptr)
{
    const unsigned long long all = (unsigned long long)to | (unsigned long long)from | size;

    if (size == 0)
        return cudaSuccess;
    return (all & (sizeof(W) - 1)) == 0
               ? LANEWISE_LAUNCH(lanewise::copy_elements<W>)(lanewise::blocks_for(size / sizeof(W)), 256, 0, stream)
                     ((W *)to, (const W *)from, size / sizeof(W))
               : cudaMemcpyAsync<unsigned char>(to, from, size, cudaMemcpyDefault, stream);
}
template <typename W = unsigned int>
LW_FN_MEMBER cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream = nullptr)
{
    const unsigned long long all = (unsigned long long)to | size;

    if (size == 0)
        return cudaSuccess;
    return (all & (sizeof(W) - 1)) == 0
               ? LANEWISE_LAUNCH(lanewise::fill_elements<W>)(lanewise::blocks_for(size / sizeof(W)), 256, 0, stream)
                     ((W *)to, (W)((value & 255) * 0x1010101u), size / sizeof(W))
               : cudaMemsetAsync<unsigned char>(to, value, size, stream);
}
#endif

#endif
