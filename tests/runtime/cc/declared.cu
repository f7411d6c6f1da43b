/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that few programs call: names of kernels, addresses of functions, attributes of streams and of memory, copies in batches,
 * and functions of the driver interface under the names that end in _v2. */
#include "check.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <string.h>

__device__ int variable;
extern "C" __global__ void triple(int *p)
{
    __shared__ int own[64];

    own[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = 3 * own[threadIdx.x];
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
    addresses();
    streams();
    memory();
    graphs();
    table();
    puts(wrong == 0 ? "all right" : "wrong");
    return wrong != 0;
}
