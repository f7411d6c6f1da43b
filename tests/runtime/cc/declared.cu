/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that few programs call: names of kernels, addresses of functions, attributes of streams and of memory, copies in batches,
 * copies of arrays, pools of places, and functions of the driver interface under the names that end in _v2. */
#include "check.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <chrono>
#include <string.h>
#include <thread>

__device__ int variable;
extern "C" __global__ void triple(int *p)
{
    __shared__ int own[64];

    own[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = 3 * own[threadIdx.x];
}

extern "C" __global__ void place(float *p, int add, float factor)
{
    extern __shared__ float own[];

    own[threadIdx.x] = (float)(blockIdx.y * 100 + blockIdx.x * 10 + threadIdx.x + add);
    __syncthreads();
    p[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = factor * own[threadIdx.x];
}

/* Launches whose arguments are state of the function. */
static void old_launches(void)
{
    cudaFunction_t function = nullptr;
    float *p = nullptr;

    CHECK(cudaGetFuncBySymbol(&function, place) == cudaSuccess && cudaMallocManaged(&p, 64) == cudaSuccess);
    memset(p, 0, 64);
    CHECK(cuLaunch(function) == CUDA_ERROR_INVALID_VALUE); /* the block has no shape */
    CHECK(cuFuncSetBlockShape(function, 2, 1, 1) == CUDA_SUCCESS && cuFuncSetSharedSize(function, 8) == CUDA_SUCCESS);
    CHECK(cuParamSetv(function, 0, &p, 8) == CUDA_SUCCESS && cuParamSeti(function, 8, 5) == CUDA_SUCCESS);
    CHECK(cuParamSetf(function, 12, 0.5f) == CUDA_SUCCESS && cuParamSetSize(function, 16) == CUDA_SUCCESS);
    CHECK(cuLaunchGrid(function, 3, 2) == CUDA_SUCCESS && cudaDeviceSynchronize() == cudaSuccess);
    CHECK(p[0] == 2.5f && p[1] == 3 && p[4] == 12.5f && p[6] == 52.5f && p[11] == 63 && p[12] == 0);
    CHECK(cuParamSeti(function, 8, 7) == CUDA_SUCCESS && cuLaunch(function) == CUDA_SUCCESS && p[0] == 3.5f && p[4] == 12.5f);
    CHECK(cuLaunchGridAsync(function, 2, 1, CU_STREAM_PER_THREAD) == CUDA_SUCCESS && cudaDeviceSynchronize() == cudaSuccess);
    CHECK(p[2] == 8.5f && p[4] == 12.5f && cuLaunchGrid(function, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuParamSetv(function, 4090, &p, 8) == CUDA_ERROR_INVALID_VALUE && cuFuncSetBlockShape(function, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cudaFree(p) == cudaSuccess);
}

static void kernels(void)
{
    const char *name = nullptr;
    cudaFunction_t function = nullptr;
    int *p, grid = 0, block = 0, same_grid = 0, same_block = 0;
    size_t size = 0, driver_size = 1;

    CHECK(cudaFuncGetName(&name, triple) == cudaSuccess && strcmp(name, "triple") == 0);
    CHECK(cudaFuncGetName(&name, (const void *)triple) == cudaSuccess && strcmp(name, "triple") == 0);
    CHECK(cudaFuncGetName(nullptr, triple) == cudaErrorInvalidValue);
    CHECK(cudaGetFuncBySymbol(&function, triple) == cudaSuccess && function != nullptr);
    CHECK(cuFuncGetName(&name, function) == CUDA_SUCCESS && strcmp(name, "triple") == 0);
    CHECK(cudaMallocManaged(&p, 64 * sizeof *p) == cudaSuccess);
    for (int i = 0; i < 64; i++)
        p[i] = i;
    void *arguments[] = {&p};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, CU_STREAM_LEGACY, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && p[63] == 189 && cudaFree(p) == cudaSuccess);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&size, triple, 1, 64) == cudaSuccess && size > 0);
    CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&driver_size, function, 1, 64) == CUDA_SUCCESS && driver_size == size);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, triple) == cudaSuccess && grid > 0 && block > 0);
    CHECK(cudaOccupancyMaxPotentialBlockSizeWithFlags(&same_grid, &same_block, triple, 0, 0, cudaOccupancyDefault) == cudaSuccess);
    CHECK(same_grid == grid && same_block == block);
    auto none = [](int) { return 0; };
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(&same_grid, &same_block, triple, none, 32) == cudaSuccess);
    CHECK(same_block == 32);
    CHECK(cuOccupancyMaxPotentialBlockSizeWithFlags(&same_grid, &same_block, function, nullptr, 0, 0, CU_OCCUPANCY_DEFAULT) ==
          CUDA_SUCCESS);
    CHECK(same_block == block);
}

/* Three kernels and two variables of a library that is loaded from PTX. */
static const char library_text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .global .align 4 .u32 total = 7;\n"
                                   ".visible .global .attribute(.managed) .align 4 .u32 shared_total[2] = {8, 9};\n"
                                   ".visible .entry change() { .reg .u32 %r; ld.global.u32 %r, [shared_total+4];\n"
                                   "add.u32 %r, %r, 5; st.global.u32 [shared_total+4], %r; ret; }\n"
                                   ".visible .entry one(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[12]) { ret; }\n"
                                   ".visible .entry two() { ret; }\n";

static void libraries(void)
{
    cudaLibrary_t library = nullptr, owner = nullptr;
    cudaKernel_t kernel = nullptr, all[4] = {}, own = nullptr;
    CUfunction functions[1] = {};
    CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
    unsigned int count = 0;
    size_t offset = 99, size = 99, bytes = 0;
    const char *name = "";
    int value = 0, *total = nullptr;
    CUdeviceptr pointer = 0;
    void *code = nullptr;

    CHECK(cudaLibraryLoadData(&library, library_text, nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess);
    CHECK(cudaLibraryGetKernelCount(&count, library) == cudaSuccess && count == 3);
    CHECK(cudaLibraryEnumerateKernels(all, 4, library) == cudaSuccess && all[0] != all[1] && all[2] != nullptr && all[3] == nullptr);
    CHECK(cudaLibraryGetKernel(&kernel, library, "one") == cudaSuccess && (kernel == all[0] || kernel == all[1] || kernel == all[2]));
    CHECK(cudaLibraryGetKernel(&kernel, library, "three") == cudaErrorSymbolNotFound);
    CHECK(cuKernelGetName(&name, kernel) == CUDA_SUCCESS && strcmp(name, "one") == 0);
    CHECK(cuKernelGetLibrary(&owner, kernel) == CUDA_SUCCESS && owner == library);
    CHECK(cuKernelGetParamInfo(kernel, 0, &offset, &size) == CUDA_SUCCESS && offset == 0 && size == 1);
    CHECK(cuKernelGetParamInfo(kernel, 1, &offset, &size) == CUDA_SUCCESS && offset == 8 && size == 8);
    CHECK(cudaFuncGetParamInfo(kernel, 2, &offset, &size) == cudaSuccess && offset == 16 && size == 12);
    CHECK(cudaFuncGetParamInfo(kernel, 3, &offset, &size) == cudaErrorInvalidValue && offset == 16);
    CHECK(cudaFuncGetParamInfo((const void *)triple, 0, &offset, nullptr) == cudaSuccess && offset == 0);
    CHECK(cudaLibraryGetGlobal(&total, &bytes, library, "total") == cudaSuccess && bytes == 4);
    CHECK(cudaMemcpy(&value, total, 4, cudaMemcpyDeviceToHost) == cudaSuccess && value == 7);
    CHECK(cudaLibraryGetGlobal(&total, &bytes, library, "none") == cudaErrorSymbolNotFound);
    CHECK(cuLibraryGetKernelCount(&count, library) == CUDA_SUCCESS && count == 3);
    CHECK(cudaLibraryGetManaged(&total, &bytes, library, "total") == cudaErrorSymbolNotFound); /* it is not managed */
    CHECK(cudaLibraryGetManaged(&total, &bytes, library, "shared_total") == cudaSuccess && bytes == 8 && total[0] == 8);
    CHECK(cudaLibraryGetKernel(&kernel, library, "change") == cudaSuccess);
    total[1] = 20; /* host and kernels use the same memory */
    CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && total[1] == 25);
    CHECK(cuLibraryGetManaged(&pointer, &bytes, library, "shared_total") == CUDA_SUCCESS && pointer == (CUdeviceptr)total);
    CHECK(cuLibraryGetManaged(nullptr, nullptr, library, "shared_total") == CUDA_ERROR_INVALID_VALUE);
    CHECK(cudaLibraryGetUnifiedFunction(&code, library, "one") == cudaErrorSymbolNotFound);
    CHECK(cuLibraryGetUnifiedFunction(nullptr, library, "one") == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuModuleEnumerateFunctions(functions, 1, (CUmodule)library) == CUDA_SUCCESS && functions[0] == (CUfunction)all[0]);
    CHECK(cuFuncLoad(functions[0]) == CUDA_SUCCESS && cuFuncIsLoaded(&state, functions[0]) == CUDA_SUCCESS);
    CHECK(state == CU_FUNCTION_LOADING_STATE_LOADED && cuFuncLoad((CUfunction)&value) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cudaLibraryUnload(library) == cudaSuccess && cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
    CHECK(cudaLibraryLoadFromFile(&library, "none.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaErrorFileNotFound);
    CHECK(cudaGetKernel(&own, triple) == cudaSuccess && cuKernelGetName(&name, own) == CUDA_SUCCESS && strcmp(name, "triple") == 0);
    CHECK(cudaKernelSetAttributeForDevice(own, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 0) == cudaSuccess);
    CHECK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, own, 0) == CUDA_SUCCESS && value == 1024);
    CHECK(cudaKernelSetAttributeForDevice(own, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 1) == cudaErrorInvalidDevice);
}

static void contexts(void)
{
    CUcontext first = nullptr, made = nullptr, same = nullptr;
    unsigned long long id = 0, other = 0, current = 0;
    unsigned int flags = 0;
    int value = 0;
    char luid[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

    CHECK(cuCtxGetCurrent(&first) == CUDA_SUCCESS && cuCtxGetId(first, &id) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&made, CU_CTX_SCHED_SPIN, 0) == CUDA_SUCCESS && cuCtxGetId(made, &other) == CUDA_SUCCESS && other != id);
    CHECK(cuCtxGetId(nullptr, &current) == CUDA_SUCCESS && current == other);
    CHECK(cuCtxSetFlags(CU_CTX_SCHED_YIELD) == CUDA_SUCCESS && cuCtxGetFlags(&flags) == CUDA_SUCCESS && flags == CU_CTX_SCHED_YIELD);
    CHECK(cuCtxSetFlags(0x1000) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuCtxAttach(&same, 1) == CUDA_ERROR_INVALID_VALUE && cuCtxAttach(&same, 0) == CUDA_SUCCESS && same == made);
    CHECK(cuCtxDetach(first) == CUDA_ERROR_INVALID_CONTEXT && cuCtxDetach(made) == CUDA_SUCCESS);
    CHECK(cuCtxGetId(made, &current) == CUDA_SUCCESS && cuCtxDetach(made) == CUDA_SUCCESS); /* the last call destroys it */
    CHECK(cuCtxGetId(made, &current) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxGetCurrent(&same) == CUDA_SUCCESS && same == first);
    CHECK(cuDeviceGetLuid(luid, &flags, 0) == CUDA_SUCCESS && luid[0] == 0 && luid[7] == 0 && luid[8] == 1 && flags == 0);
    CHECK(cuDeviceGetLuid(luid, &flags, 1) == CUDA_ERROR_INVALID_DEVICE && cuDeviceGetLuid(nullptr, &flags, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0) == CUDA_ERROR_INVALID_DEVICE);
}

/* An object has the parameters with which it was created, in the layouts of the runtime and of the driver interface. */
static void objects(void)
{
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar2>(), found = {};
    cudaResourceDesc resource = {}, got = {};
    cudaTextureDesc texture = {}, reads = {};
    CUDA_RESOURCE_DESC driver_got = {};
    CUDA_TEXTURE_DESC driver_reads = {};
    cudaTextureObject_t object = 0, linear = 0;
    cudaSurfaceObject_t surface = 0;
    cudaArray_t array = nullptr;
    size_t width = 0, same = 1;
    char *p = nullptr;

    CHECK(cudaMallocArray(&array, &bytes, 8, 4, cudaArraySurfaceLoadStore) == cudaSuccess && cudaMalloc(&p, 64) == cudaSuccess);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    texture.addressMode[0] = cudaAddressModeMirror;
    texture.normalizedCoords = 1;
    texture.maxAnisotropy = 3;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr) == cudaSuccess);
    CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    CHECK(cudaGetTextureObjectResourceDesc(&got, object) == cudaSuccess && got.resType == cudaResourceTypeArray);
    CHECK(got.res.array.array == array && cudaGetTextureObjectTextureDesc(&reads, object) == cudaSuccess);
    CHECK(reads.addressMode[0] == cudaAddressModeMirror && reads.normalizedCoords == 1 && reads.maxAnisotropy == 3);
    CHECK(cudaGetTextureObjectResourceViewDesc(nullptr, object) == cudaErrorInvalidValue); /* the object has no view */
    CHECK(cudaGetTextureObjectResourceDesc(&got, surface) == cudaErrorInvalidValue);
    got.resType = cudaResourceTypeLinear;
    CHECK(cudaGetSurfaceObjectResourceDesc(&got, surface) == cudaSuccess && got.resType == cudaResourceTypeArray);
    CHECK(cuTexObjectGetTextureDesc(&driver_reads, object) == CUDA_SUCCESS && driver_reads.maxAnisotropy == 3);
    CHECK(driver_reads.flags == (CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES));
    CHECK(driver_reads.addressMode[0] == CU_TR_ADDRESS_MODE_MIRROR);
    CHECK(cuSurfObjectGetResourceDesc(&driver_got, surface) == CUDA_SUCCESS && driver_got.res.array.hArray == array);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = p;
    resource.res.linear.desc = bytes;
    resource.res.linear.sizeInBytes = 64;
    CHECK(cudaCreateTextureObject(&linear, &resource, &texture, nullptr) == cudaSuccess);
    CHECK(cuTexObjectGetResourceDesc(&driver_got, linear) == CUDA_SUCCESS && driver_got.resType == CU_RESOURCE_TYPE_LINEAR);
    CHECK(driver_got.res.linear.devPtr == (CUdeviceptr)p && driver_got.res.linear.format == CU_AD_FORMAT_UNSIGNED_INT8);
    CHECK(driver_got.res.linear.numChannels == 2 && driver_got.res.linear.sizeInBytes == 64);
    CHECK(cudaDestroyTextureObject(linear) == cudaSuccess && cudaGetTextureObjectResourceDesc(&got, linear) == cudaErrorInvalidValue);
    CHECK(cudaDestroyTextureObject(object) == cudaSuccess && cudaDestroySurfaceObject(surface) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaSuccess && cudaFree(p) == cudaSuccess);
    CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &bytes, 0) == cudaSuccess && width >= 1 << 27);
    CHECK(cuDeviceGetTexture1DLinearMaxWidth(&same, CU_AD_FORMAT_UNSIGNED_INT8, 2, 0) == CUDA_SUCCESS && same == width);
    CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &found, 0) == cudaErrorInvalidChannelDescriptor);
    CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &bytes, 1) == cudaErrorInvalidDevice);
}

static void addresses(void)
{
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointVersionNotSufficent;
    void *function = nullptr;
    int device = -1, version = 0;
    char id[32];

    CHECK(cudaGetDriverEntryPoint("cuDriverGetVersion", &function, cudaEnableDefault, &result) == cudaSuccess);
    CHECK(result == cudaDriverEntryPointSuccess && function != nullptr);
    CHECK(((decltype(&cuDriverGetVersion))function)(&version) == CUDA_SUCCESS && version >= 12000);
    CHECK(cudaGetDriverEntryPoint("cuNone", &function, cudaEnableDefault, &result) == cudaSuccess);
    CHECK(result == cudaDriverEntryPointSymbolNotFound);
    CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &function, 12000, cudaEnableDefault) == cudaSuccess && function != nullptr);
    CHECK(cudaInitDevice(0, cudaDeviceScheduleAuto, cudaInitDeviceFlagsAreValid) == cudaSuccess);
    CHECK(cudaInitDevice(1, 0, 0) == cudaErrorInvalidDevice);
    CHECK(cudaDeviceGetPCIBusId(id, sizeof id, 0) == cudaSuccess && cudaDeviceGetByPCIBusId(&device, id) == cudaSuccess && device == 0);
}

static void streams(void)
{
    cudaStreamAttrValue value = {}, policy = {};
    cudaStream_t one = nullptr, two = nullptr;
    unsigned long long id = 0, other = 0;
    unsigned int flags = 7;
    int device = -1;
    CUdevice same = -1;
    CUstreamAttrValue driver_value = {};

    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking) == cudaSuccess && cudaStreamCreate(&two) == cudaSuccess);
    CHECK(cudaStreamGetId(one, &id) == cudaSuccess && cudaStreamGetId(two, &other) == cudaSuccess && id != other);
    CHECK(cudaStreamGetDevice(one, &device) == cudaSuccess && device == 0);
    CHECK(cuStreamGetDevice(one, &same) == CUDA_SUCCESS && same == 0);
    CHECK(cuStreamGetFlags(one, &flags) == CUDA_SUCCESS && flags == CU_STREAM_NON_BLOCKING);
    CHECK(cudaStreamGetAttribute(one, cudaStreamAttributeSynchronizationPolicy, &value) == cudaSuccess);
    CHECK(value.syncPolicy == cudaSyncPolicyAuto);
    policy.accessPolicyWindow.hitRatio = 0.5f;
    policy.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    CHECK(cudaStreamSetAttribute(one, cudaStreamAttributeAccessPolicyWindow, &policy) == cudaSuccess);
    CHECK(cudaStreamCopyAttributes(two, one) == cudaSuccess && cuStreamCopyAttributes(two, one) == CUDA_SUCCESS);
    CHECK(cuStreamGetAttribute(two, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &driver_value) == CUDA_SUCCESS);
    CHECK(driver_value.syncPolicy == CU_SYNC_POLICY_AUTO);
    CHECK(cuStreamSetAttribute(two, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &driver_value) == CUDA_SUCCESS);
    CHECK(cudaStreamDestroy(one) == cudaSuccess && cudaStreamDestroy(two) == cudaSuccess);
}

/* Values that a stream writes, and for which it waits. */
static void values(void)
{
    CUstreamBatchMemOpParams list[3] = {};
    unsigned long long wide = 0;
    unsigned int *p = nullptr;
    CUstream stream = nullptr;
    CUgraph graph = nullptr;

    CHECK(cudaMallocHost(&p, 32, 0) == cudaSuccess && cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    memset(p, 0, 32);
    const CUdeviceptr at = (CUdeviceptr)p;
    CHECK(cuStreamWriteValue32(stream, at, 7, 0) == CUDA_SUCCESS && p[0] == 7 && p[1] == 0);
    CHECK(cuStreamWriteValue64_v2(stream, at + 8, 0x500000006, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) == CUDA_SUCCESS);
    memcpy(&wide, p + 2, 8);
    CHECK(wide == 0x500000006 && p[4] == 0);
    CHECK(cuStreamWaitValue32(stream, at, 6, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
    CHECK(cuStreamWaitValue32(stream, at, 0xfffffff0, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS); /* the comparison wraps around */
    CHECK(cuStreamWaitValue32(stream, at, 0xc, CU_STREAM_WAIT_VALUE_AND) == CUDA_SUCCESS);
    CHECK(cuStreamWaitValue32(stream, at, 0xf0, CU_STREAM_WAIT_VALUE_NOR) == CUDA_SUCCESS);
    CHECK(cuStreamWaitValue64(stream, at + 8, 0x500000006, CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH) == CUDA_SUCCESS);
    /* another thread writes the value, by a store or in another stream */
    std::thread store([p] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); __atomic_store_n(p + 1, 3, __ATOMIC_RELEASE); });
    CHECK(cuStreamWaitValue32(stream, at + 4, 3, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS && p[1] == 3);
    store.join();
    std::thread write([at] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); cuStreamWriteValue32(CU_STREAM_PER_THREAD, at + 4, 9, 0); });
    CHECK(cuStreamWaitValue32(stream, at + 4, 9, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS && p[1] == 9);
    write.join();
    list[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    list[0].writeValue.address = at + 16;
    list[0].writeValue.value = 11;
    list[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    list[1].waitValue.address = at + 16;
    list[1].waitValue.value = 11;
    list[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    list[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    list[2].writeValue.address = at + 24;
    list[2].writeValue.value64 = 1ull << 40;
    CHECK(cuStreamBatchMemOp(stream, 3, list, 0) == CUDA_SUCCESS && p[4] == 11 && p[5] == 0 && p[6] == 0 && p[7] == 256);
    list[0].writeValue.value = 12;
    list[2].writeValue.address = at + 20; /* not a multiple of 8: no operation is executed */
    CHECK(cuStreamBatchMemOp(stream, 3, list, 0) == CUDA_ERROR_INVALID_VALUE && p[4] == 11);
    CHECK(cuStreamBatchMemOp(stream, 1, list, 1) == CUDA_ERROR_INVALID_VALUE && p[4] == 11);
    CHECK(cuStreamWriteValue32(stream, (CUdeviceptr)&wide, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamWaitValue32(stream, at, 100, CU_STREAM_WAIT_VALUE_EQ) == CUDA_ERROR_LAUNCH_TIMEOUT); /* no thread writes it */
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    CHECK(cuStreamWriteValue32(stream, at, 8, 0) == CUDA_SUCCESS && p[0] == 7); /* it becomes a node */
    CHECK(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && cudaGraphDestroy(graph) == cudaSuccess);
    CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS && cudaFreeHost(p) == cudaSuccess);
}

static void memory(void)
{
    cudaMemcpyAttributes attributes = {};
    CUmemcpyAttributes driver_attributes = {};
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    cudaMemRangeAttribute wanted[2] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributeLastPrefetchLocation};
    int numbers[4] = {1, 2, 3, 4}, *p, value = -1, values[2] = {-1, -1};
    void *results[2] = {&values[0], &values[1]};
    size_t sizes[2] = {4, 8}, first = 0, failed = 0;
    unsigned int flags = 0;

    CHECK(cudaMallocManaged(&p, sizeof numbers) == cudaSuccess);
    int *to[2] = {p + 2, p};
    const int *from[2] = {numbers, numbers + 2};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, cudaStreamPerThread) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && p[0] == 3 && p[1] == 4 && p[2] == 1);
    p[0] = p[2] = 0;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, 0) == cudaSuccess && p[0] == 3 && p[2] == 1);
    CUdeviceptr driver_to[1] = {(CUdeviceptr)(p + 3)}, driver_from[1] = {(CUdeviceptr)p};
    driver_attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CHECK(cuMemcpyBatchAsync(driver_to, driver_from, sizes, 1, &driver_attributes, &first, 1, &failed, nullptr) == CUDA_SUCCESS);
    CHECK(failed == (size_t)-1 && p[3] == 3);
    CHECK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocation, p, sizeof numbers) == cudaSuccess);
    CHECK(value == cudaInvalidDeviceId);
    first = sizeof(int);
    size_t value_sizes[2] = {first, first};
    CHECK(cudaMemRangeGetAttributes(results, value_sizes, wanted, 2, p, sizeof numbers) == cudaSuccess && values[0] == 0);
    CHECK(values[1] == cudaInvalidDeviceId);
    CHECK(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)p, 16) == CUDA_SUCCESS && value == 0);
    /* the functions of CUDA 12 and of CUDA 13 */
    CHECK(cuMemAdvise((CUdeviceptr)p, 16, CU_MEM_ADVISE_SET_READ_MOSTLY, 0) == CUDA_SUCCESS);
    CHECK(cuMemAdvise((CUdeviceptr)p, 16, CU_MEM_ADVISE_SET_READ_MOSTLY, here) == CUDA_SUCCESS);
    CHECK(cuMemPrefetchAsync((CUdeviceptr)p, 16, CU_DEVICE_CPU, nullptr) == CUDA_SUCCESS);
    CHECK(cuMemPrefetchAsync((CUdeviceptr)p, 16, here, 0, nullptr) == CUDA_SUCCESS);
    CHECK(cuStreamAttachMemAsync(nullptr, (CUdeviceptr)p, 0, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(cuMemcpyPeer((CUdeviceptr)p, nullptr, (CUdeviceptr)(p + 2), nullptr, 4) == CUDA_SUCCESS && p[0] == 1);
    CHECK(cudaFree(p) == cudaSuccess);
    CHECK(cudaHostAlloc(&p, 16, cudaHostAllocMapped) == cudaSuccess && cuMemHostGetFlags(&flags, p) == CUDA_SUCCESS);
    CHECK((flags & CU_MEMHOSTALLOC_DEVICEMAP) != 0 && cudaFreeHost(p) == cudaSuccess);
    CHECK(cudaMemcpyToSymbolAsync(variable, &numbers[3], 4) == cudaSuccess);
    CHECK(cudaMemcpyFromSymbolAsync(&value, variable, 4) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess && value == 4);
}

/* Copies of arrays. The bytes of @numbers continue in the next row of an array. */
static void arrays(void)
{
    unsigned char numbers[24], back[24] = {};
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>(), words = cudaCreateChannelDesc<unsigned short>();
    cudaArray_t wide = nullptr, narrow = nullptr, other = nullptr;
    unsigned char *p = nullptr;
    cudaStream_t stream;

    for (int i = 0; i < 24; i++)
        numbers[i] = (unsigned char)(i + 1);
    CHECK(cudaMallocArray(&wide, &bytes, 8, 3) == cudaSuccess && cudaMallocArray(&narrow, &bytes, 6, 4) == cudaSuccess);
    CHECK(cudaMallocArray(&other, &words, 8, 3) == cudaSuccess && cudaMallocManaged(&p, 24) == cudaSuccess);
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cuMemcpyHtoA(wide, 0, numbers, 24) == CUDA_SUCCESS);
    CHECK(cudaMemcpyArrayToArray(narrow, 1, 1, wide, 5, 0, 14) == cudaSuccess); /* from bytes 5 to 18 to bytes 7 to 20 */
    CHECK(cuMemcpyAtoH(back, narrow, 0, 24) == CUDA_SUCCESS && memcmp(back + 7, numbers + 5, 14) == 0);
    CHECK(back[6] == 0 && back[21] == 0);
    CHECK(cuMemcpyAtoD((CUdeviceptr)p, wide, 3, 5) == CUDA_SUCCESS && p[0] == 4 && p[4] == 8);
    p[0] = 77;
    CHECK(cuMemcpyDtoA(narrow, 5, (CUdeviceptr)p, 1) == CUDA_SUCCESS);
    CHECK(cuMemcpyAtoA(narrow, 0, narrow, 5, 1) == CUDA_SUCCESS);
    CHECK(cuMemcpyHtoAAsync_v2(narrow, 1, numbers + 20, 2, stream) == CUDA_SUCCESS);
    CHECK(cuMemcpyAtoHAsync(back, narrow, 0, 6, stream) == CUDA_SUCCESS && cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(back[0] == 77 && back[1] == 21 && back[2] == 22 && back[3] == 0 && back[5] == 77);
    /* past the end, between texels of different sizes, and not an array: nothing changes */
    CHECK(cudaMemcpyArrayToArray(narrow, 0, 0, wide, 1, 1, 16) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyArrayToArray(narrow, 1, 3, wide, 0, 0, 6) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyArrayToArray(other, 0, 0, wide, 0, 0, 4) == cudaErrorInvalidValue);
    CHECK(cuMemcpyHtoA(wide, 8, numbers, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyAtoH(back, (CUarray)numbers, 0, 1) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cuMemcpyAtoH(back, narrow, 0, 6) == CUDA_SUCCESS && back[0] == 77 && back[5] == 77);
    CHECK(cudaFreeArray(wide) == cudaSuccess && cudaFreeArray(narrow) == cudaSuccess && cudaFreeArray(other) == cudaSuccess);
    CHECK(cudaFree(p) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
}

/* Boxes, in memory whose rows and planes have gaps, and in an array of texels of 2 bytes. */
static void boxes(void)
{
    cudaChannelFormatDesc words = cudaCreateChannelDesc<unsigned short>();
    unsigned char from[64], to[64] = {};
    unsigned short texels[16] = {}, *q = nullptr;
    cudaMemcpy3DPeerParms peer = {};
    CUDA_MEMCPY3D_PEER driver_peer = {};
    cudaMemcpy3DBatchOp copies[2] = {};
    CUDA_MEMCPY3D_BATCH_OP same;
    cudaArray_t array = nullptr;
    unsigned char *p = nullptr;
    size_t failed = 0;

    for (int i = 0; i < 64; i++)
        from[i] = (unsigned char)(i + 1);
    CHECK(cudaMallocManaged(&p, 64) == cudaSuccess && cudaMallocManaged(&q, 32) == cudaSuccess);
    CHECK(cudaMallocArray(&array, &words, 4, 4) == cudaSuccess);
    CHECK(cudaMemset(p, 0, 64) == cudaSuccess);
    peer.srcPtr = make_cudaPitchedPtr(from, 8, 8, 4);
    peer.srcPos = make_cudaPos(1, 1, 0);
    peer.dstPtr = make_cudaPitchedPtr(p, 4, 4, 4);
    peer.extent = make_cudaExtent(3, 2, 2);
    CHECK(cudaMemcpy3DPeer(&peer) == cudaSuccess && p[0] == 10 && p[2] == 12 && p[3] == 0 && p[4] == 18 && p[16] == 42);
    CHECK(p[20] == 50 && p[22] == 52 && p[8] == 0);
    peer.dstDevice = 1;
    CHECK(cudaMemcpy3DPeer(&peer) == cudaErrorInvalidDevice && cudaMemcpy3DPeer(nullptr) == cudaErrorInvalidValue);
    peer.dstDevice = 0;
    peer.dstPos = make_cudaPos(0, 2, 0);
    CHECK(cudaMemcpy3DPeerAsync(&peer) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess && p[8] == 10 && p[14] == 20);
    driver_peer.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    driver_peer.srcDevice = (CUdeviceptr)p;
    driver_peer.srcPitch = 4;
    driver_peer.srcHeight = 4;
    driver_peer.srcY = 1;
    driver_peer.dstMemoryType = CU_MEMORYTYPE_HOST;
    driver_peer.dstHost = to;
    driver_peer.WidthInBytes = 3;
    driver_peer.Height = 1;
    driver_peer.Depth = 2;
    driver_peer.dstPitch = 5;
    driver_peer.dstHeight = 2;
    CHECK(cuMemcpy3DPeer(&driver_peer) == CUDA_SUCCESS && to[0] == 18 && to[2] == 20 && to[3] == 0 && to[10] == 50);

    /* memory to memory: bytes; memory to an array: texels */
    for (int i = 0; i < 16; i++)
        q[i] = (unsigned short)(1000 + i);
    copies[0].src.type = copies[0].dst.type = cudaMemcpyOperandTypePointer;
    copies[0].src.op.ptr.ptr = from;
    copies[0].src.op.ptr.rowLength = 8;
    copies[0].dst.op.ptr.ptr = p + 32;
    copies[0].extent = make_cudaExtent(2, 3, 1);
    copies[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    copies[1] = copies[0];
    copies[1].src.op.ptr.ptr = q;
    copies[1].src.op.ptr.rowLength = 5;
    copies[1].dst.type = cudaMemcpyOperandTypeArray;
    copies[1].dst.op.array.array = array;
    copies[1].dst.op.array.offset = {2, 1, 0};
    CHECK(cudaMemcpy3DBatchAsync(2, copies, 0, cudaStreamPerThread) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    CHECK(p[32] == 1 && p[33] == 2 && p[34] == 9 && p[37] == 18 && p[38] == 0);
    CHECK(cuMemcpyAtoH(texels, array, 0, sizeof texels) == CUDA_SUCCESS);
    CHECK(texels[6] == 1000 && texels[7] == 1001 && texels[10] == 1005 && texels[15] == 1011 && texels[5] == 0);
    memcpy(&same, &copies[1], sizeof same);
    same.dst.op.array.offset.y = 0;
    CHECK(cuMemcpy3DBatchAsync(1, &same, &failed, 0, nullptr) == CUDA_SUCCESS && failed == (size_t)-1);
    CHECK(cuMemcpyAtoH(texels, array, 0, sizeof texels) == CUDA_SUCCESS && texels[2] == 1000 && texels[6] == 1005);
    same.dst.op.array.offset.x = 3; /* two texels do not fit */
    CHECK(cuMemcpy3DBatchAsync(1, &same, 0, nullptr) == CUDA_ERROR_INVALID_VALUE);
    p[32] = 0;
    copies[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid; /* one wrong copy: there is no copy */
    CHECK(cudaMemcpy3DBatchAsync(2, copies, 0, cudaStreamPerThread) == cudaErrorInvalidValue && p[32] == 0);
    CHECK(cudaMemcpy3DBatchAsync(1, copies, 1, cudaStreamPerThread) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(array) == cudaSuccess && cudaFree(p) == cudaSuccess && cudaFree(q) == cudaSuccess);
}

/* The only pools are those of the device's memory. */
static void pools(void)
{
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, there = {cudaMemLocationTypeDevice, 1}, host = {cudaMemLocationTypeHost, 0};
    CUmemLocation driver_here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    cudaMemPoolProps properties = {};
    cudaMemPool_t first = nullptr, made = nullptr, found = nullptr;
    uint64_t used = 0;
    int *p;

    CHECK(cudaMemGetDefaultMemPool(&first, &here, cudaMemAllocationTypePinned) == cudaSuccess);
    CHECK(cudaDeviceGetDefaultMemPool(&found, 0) == cudaSuccess && found == first);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = here;
    CHECK(cudaMemPoolCreate(&made, &properties) == cudaSuccess);
    CHECK(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, made) == cudaSuccess);
    CHECK(cuMemGetMemPool(&found, &driver_here, CU_MEM_ALLOCATION_TYPE_PINNED) == CUDA_SUCCESS && found == made);
    CHECK(cudaMallocAsync(&p, 64, 0) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(made, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess && used == 64);
    CHECK(cudaFreeAsync(p, 0) == cudaSuccess);
    CHECK(cuMemSetMemPool(&driver_here, CU_MEM_ALLOCATION_TYPE_PINNED, first) == CUDA_SUCCESS);
    CHECK(cudaMemGetMemPool(&found, &here, cudaMemAllocationTypePinned) == cudaSuccess && found == first);
    CHECK(cuMemGetDefaultMemPool(&found, &driver_here, CU_MEM_ALLOCATION_TYPE_PINNED) == CUDA_SUCCESS && found == first);
    CHECK(cudaMemGetDefaultMemPool(&found, &there, cudaMemAllocationTypePinned) == cudaErrorInvalidDevice);
    CHECK(cudaMemGetDefaultMemPool(&found, &host, cudaMemAllocationTypePinned) == cudaErrorNotSupported);
    CHECK(cudaMemGetMemPool(&found, &here, cudaMemAllocationTypeManaged) == cudaErrorNotSupported);
    CHECK(cudaMemGetMemPool(&found, &here, cudaMemAllocationTypeInvalid) == cudaErrorInvalidValue);
    CHECK(cudaMemSetMemPool(nullptr, cudaMemAllocationTypePinned, made) == cudaErrorInvalidValue);
    CHECK(cudaMemPoolDestroy(made) == cudaSuccess);
}

/* The node of a graph gets another variable and another host address. */
static void graphs(void)
{
    cudaGraphInstantiateParams parameters = {};
    CUDA_GRAPH_INSTANTIATE_PARAMS driver_parameters = {};
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec, second;
    int one = 1, two = 2, three = 3, value = 0;

    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess);
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, variable, &one, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(node, variable, &two, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    parameters.result_out = cudaGraphInstantiateError;
    CHECK(cudaGraphInstantiateWithParams(&exec, graph, &parameters) == cudaSuccess);
    CHECK(parameters.result_out == cudaGraphInstantiateSuccess && parameters.errNode_out == nullptr);
    driver_parameters.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    CHECK(cuGraphInstantiateWithParams(&second, graph, &driver_parameters) == CUDA_SUCCESS);
    CHECK(driver_parameters.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS && cudaGraphExecDestroy(second) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess && cudaMemcpyFromSymbol(&value, variable, 4) == cudaSuccess && value == 2);
    CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, variable, &three, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess && cudaMemcpyFromSymbol(&value, variable, 4) == cudaSuccess && value == 3);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess && cudaGraphDestroy(graph) == cudaSuccess);
}

static void count_end(void *value)
{
    ++*(int *)value;
}

/* The destructor is called once, when the program, the graph and the executable graph have ended their references. */
static void user_objects(void)
{
    cudaGraphExecUpdateResultInfo info;
    cudaUserObject_t object = nullptr;
    CUuserObject second = nullptr;
    cudaGraph_t graph = nullptr, clone = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaGraphNode_t node;
    int ends = 0, others = 0;

    CHECK(cudaUserObjectCreate(&object, &ends, count_end, 2, 0) == cudaErrorInvalidValue);
    CHECK(cudaUserObjectCreate(&object, &ends, count_end, 0, cudaUserObjectNoDestructorSync) == cudaErrorInvalidValue);
    CHECK(cudaUserObjectCreate(&object, &ends, count_end, 2, cudaUserObjectNoDestructorSync) == cudaSuccess);
    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node, graph, nullptr, 0) == cudaSuccess);
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove) == cudaSuccess);
    CHECK(cudaGraphRetainUserObject(graph, object) == cudaSuccess && cudaGraphReleaseUserObject(graph, object) == cudaSuccess);
    CHECK(cudaGraphReleaseUserObject(graph, object, 2) == cudaErrorInvalidValue);
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess && cudaGraphClone(&clone, graph) == cudaSuccess);
    CHECK(cudaUserObjectRelease(object, 2) == cudaErrorInvalidValue && cudaUserObjectRelease(object) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess && cudaGraphDestroy(clone) == cudaSuccess && ends == 0);
    CHECK(cudaGraphLaunch(exec, 0) == cudaSuccess && ends == 0);
    CHECK(cuUserObjectCreate(&second, &others, count_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) == CUDA_SUCCESS);
    CHECK(cuUserObjectRetain(second, 3) == CUDA_SUCCESS && cuUserObjectRelease(second, 3) == CUDA_SUCCESS && others == 0);
    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess && cudaGraphAddEmptyNode(&node, graph, nullptr, 0) == cudaSuccess);
    CHECK(cuGraphRetainUserObject(graph, second, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS);
    /* an update ends the former references of the executable graph, which then has those of the other graph */
    CHECK(cudaGraphExecUpdate(exec, graph, &info) == cudaSuccess && ends == 1 && others == 0);
    CHECK(cudaUserObjectRetain(object) == cudaErrorInvalidValue);
    CHECK(cuGraphReleaseUserObject(graph, second, 1) == CUDA_SUCCESS && others == 0);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess && others == 0);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess && others == 1 && ends == 1);
}

/* A table of functions, with their types. */
static void table(void)
{
    static const struct {
        decltype(&cuMemAlloc_v2) allocate;
        decltype(&cuMemcpyHtoD_v2) write;
        decltype(&cuMemcpyDtoH_v2) read;
        decltype(&cuMemFree_v2) release;
    } f = {cuMemAlloc_v2, cuMemcpyHtoD_v2, cuMemcpyDtoH_v2, cuMemFree_v2};
    CUDA_ARRAY3D_DESCRIPTOR shape = {}, same = {};
    CUDA_ARRAY_DESCRIPTOR flat = {};
    CUmoduleLoadingMode mode = CU_MODULE_LAZY_LOADING;
    CUsharedconfig banks;
    CUdeviceptr p;
    CUarray array;
    int number = 5, back = 0;

    CHECK(f.allocate(&p, 4) == CUDA_SUCCESS && f.write(p, &number, 4) == CUDA_SUCCESS);
    CHECK(f.read(&back, p, 4) == CUDA_SUCCESS && back == 5 && f.release(p) == CUDA_SUCCESS);
    shape.Width = 4;
    shape.Height = 3;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 2;
    CHECK(cuArray3DCreate_v2(&array, &shape) == CUDA_SUCCESS && cuArray3DGetDescriptor(&same, array) == CUDA_SUCCESS);
    CHECK(same.Width == 4 && same.Height == 3 && same.Format == CU_AD_FORMAT_FLOAT && same.NumChannels == 2);
    CHECK(cuArrayGetDescriptor(&flat, array) == CUDA_SUCCESS && flat.Height == 3 && cuArrayDestroy(array) == CUDA_SUCCESS);
    CHECK(cuModuleGetLoadingMode(&mode) == CUDA_SUCCESS && mode == CU_MODULE_EAGER_LOADING);
    CHECK(cuCtxGetSharedMemConfig(&banks) == CUDA_SUCCESS);
}

int main()
{
    CHECK(cudaFree(0) == cudaSuccess && cuInit(0) == CUDA_SUCCESS);
    kernels();
    old_launches();
    libraries();
    contexts();
    objects();
    addresses();
    streams();
    values();
    memory();
    arrays();
    boxes();
    pools();
    graphs();
    user_objects();
    table();
    puts(wrong == 0 ? "all right" : "wrong");
    return wrong != 0;
}
