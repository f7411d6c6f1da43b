/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's C++ functions, which call its C functions. Device passes read them, too: clang refuses a call of a declared
 * template whose argument is a local or unnamed type, an anonymous namespace's type or a lambda, because only this file could
 * define the function. */
#ifndef LANEWISE_CALLS_H
#define LANEWISE_CALLS_H

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return cudaEventCreateWithFlags(event, flags);
}
template <class T> inline cudaError_t cudaMalloc(T **p, size_t size)
{
    return cudaMalloc((void **)p, size);
}
template <class T> inline cudaError_t cudaMallocAsync(T **p, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)p, size, stream);
}
template <class T> inline cudaError_t cudaMallocFromPoolAsync(T **p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)p, size, pool, stream);
}
template <class T> inline cudaError_t cudaMallocAsync(T **p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)p, size, pool, stream);
}
template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *p, size_t size, unsigned int flags)
{
    return cudaStreamAttachMemAsync(stream, (void *)p, size, flags);
}
template <class T> inline cudaError_t cudaMallocManaged(T **p, size_t size, unsigned int flags)
{
    return cudaMallocManaged((void **)p, size, flags);
}
template <class T> inline cudaError_t cudaMallocHost(T **p, size_t size, unsigned int flags)
{
    return cudaHostAlloc((void **)p, size, flags);
}
template <class T> inline cudaError_t cudaHostAlloc(T **p, size_t size, unsigned int flags)
{
    return cudaHostAlloc((void **)p, size, flags);
}
template <class T> inline cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)device, host, flags);
}
template <class T> inline cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)p, pitch, width, height);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    return cudaMemcpyToSymbol((const void *)&symbol, from, size, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                           enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync((const void *)&symbol, from, size, offset, kind, stream);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, size, offset, kind);
}
template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset, enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, size, offset, kind, stream);
}
template <class T> inline cudaError_t cudaGetSymbolAddress(void **p, const T &symbol)
{
    return cudaGetSymbolAddress(p, (const void *)&symbol);
}
template <class T> inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return cudaGetSymbolSize(size, (const void *)&symbol);
}
template <class F> inline cudaError_t cudaFuncSetCacheConfig(F *kernel, enum cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class F> inline cudaError_t cudaFuncSetAttribute(F *kernel, enum cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class F> inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, F *kernel)
{
    return cudaFuncGetAttributes(a, (const void *)kernel);
}
template <class F> inline cudaError_t cudaFuncSetSharedMemConfig(F *kernel, enum cudaSharedMemConfig config)
{
    return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class F> inline cudaError_t cudaFuncGetName(const char **name, F *kernel)
{
    return cudaFuncGetName(name, (const void *)kernel);
}
template <class F> inline cudaError_t cudaGetKernel(cudaKernel_t *kernel, F *stub)
{
    return cudaGetKernel(kernel, (const void *)stub);
}
template <class T> inline cudaError_t cudaLibraryGetManaged(T **p, size_t *size, cudaLibrary_t library, const char *name)
{
    return cudaLibraryGetManaged((void **)p, size, library, name);
}
template <class T> inline cudaError_t cudaLibraryGetUnifiedFunction(T **function, cudaLibrary_t library, const char *name)
{
    return cudaLibraryGetUnifiedFunction((void **)function, library, name);
}
template <class T> inline cudaError_t cudaLibraryGetGlobal(T **p, size_t *size, cudaLibrary_t library, const char *name)
{
    return cudaLibraryGetGlobal((void **)p, size, library, name);
}
template <class F> inline cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, F *kernel)
{
    return cudaGetFuncBySymbol(function, (const void *)kernel);
}
template <class T, class U>
inline cudaError_t cudaMemcpyBatchAsync(T *const *to, U *const *from, const size_t *sizes, size_t count,
                                        struct cudaMemcpyAttributes *attributes, size_t *indices, size_t attribute_count,
                                        cudaStream_t stream)
{
    return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes, count, attributes, indices, attribute_count,
                                stream);
}
template <class T, class U>
inline cudaError_t cudaMemcpyBatchAsync(T *const *to, U *const *from, const size_t *sizes, size_t count,
                                        struct cudaMemcpyAttributes attributes, cudaStream_t stream)
{
    size_t first = 0;

    return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes, count, &attributes, &first, 1, stream);
}
template <class F>
inline cudaError_t cudaLaunchKernel(F *kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class F>
inline cudaError_t cudaLaunchCooperativeKernel(F *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                                               cudaStream_t stream)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class... Formal, class... Actual>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Formal...), Actual &&...arguments)
{
    /* Arguments are converted to the parameters' types, as in a call. */
    return [&](Formal... values) {
        void *args[] = {(void *)&values..., nullptr};

        return cudaLaunchKernelExC(config, (const void *)kernel, args);
    }(static_cast<Actual &&>(arguments)...);
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, F kernel, int block, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, (const void *)kernel, block, shared);
}
template <class F>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, F kernel, int block, size_t shared,
                                                                          unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, (const void *)kernel, block, shared, flags);
}
/* Finds the block size, a multiple of 32, with which the most threads are resident on a core; of several such sizes, the
 * largest. */
template <class S, class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, F kernel, S shared_of_block,
                                                                           int limit, unsigned int flags)
{
    struct cudaFuncAttributes attributes;
    int cores = 0, count = 0, most = 0;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)kernel);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0);
    if (error != cudaSuccess)
        return error;
    if (limit <= 0 || limit > attributes.maxThreadsPerBlock)
        limit = attributes.maxThreadsPerBlock;
    *grid = *block = 0;
    for (int size = (limit + 31) / 32 * 32; size > 0 && error == cudaSuccess; size -= 32) {
        const int threads = size < limit ? size : limit;

        error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&count, (const void *)kernel, threads,
                                                                       shared_of_block(threads), flags);
        if (error == cudaSuccess && count * threads > most) {
            most = count * threads;
            *block = threads;
            *grid = count * cores;
        }
    }
    return error;
}
template <class S, class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F kernel, S shared_of_block, int limit)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, shared_of_block, limit, 0);
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, F kernel, size_t shared, int limit,
                                                               unsigned int flags)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
        grid, block, kernel, [=](int) { return shared; }, limit, flags);
}
template <class F>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F kernel, size_t shared, int limit)
{
    return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared, limit, 0);
}
template <class F>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, F *kernel, int blocks, int block)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(size, (const void *)kernel, blocks, block);
}

/* Channel format of each texel type: the number of bits of the elements, and their kind. */
template <class T> struct lw_channel;
#define LW_CHANNEL(T, N, KIND)                                                                                         \
    template <> struct lw_channel<T> {                                                                                 \
        static cudaChannelFormatDesc get()                                                                             \
        {                                                                                                              \
            const int bits = (int)(8 * sizeof(T) / N);                                                                 \
                                                                                                                       \
            return cudaChannelFormatDesc{bits, N > 1 ? bits : 0, N > 2 ? bits : 0, N > 3 ? bits : 0,                   \
                                         cudaChannelFormatKind##KIND};                                                 \
        }                                                                                                              \
    };
#define LW_CHANNELS(T, V, KIND)                                                                                        \
    LW_CHANNEL(T, 1, KIND) LW_CHANNEL(V##1, 1, KIND) LW_CHANNEL(V##2, 2, KIND) LW_CHANNEL(V##4, 4, KIND)
LW_CHANNELS(signed char, char, Signed) LW_CHANNELS(unsigned char, uchar, Unsigned)
LW_CHANNELS(short, short, Signed) LW_CHANNELS(unsigned short, ushort, Unsigned)
LW_CHANNELS(int, int, Signed) LW_CHANNELS(unsigned int, uint, Unsigned)
LW_CHANNELS(float, float, Float)
LW_CHANNEL(char, 1, Signed)
#undef LW_CHANNELS
#undef LW_CHANNEL
template <class T> inline struct cudaChannelFormatDesc cudaCreateChannelDesc(void)
{
    return lw_channel<T>::get();
}

#endif
