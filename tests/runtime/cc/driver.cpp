/* SPDX-License-Identifier: Apache-2.0 */
/* A program that includes <cuda.h>: the driver API, with an array and a texture; and memory pools of the runtime. */
#include "check.h"
#include <cuda.h>
#include <cuda_runtime.h>
#include <string.h>

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry fetch(.param .u64 t, .param .u64 out) {\n"
                          ".reg .b32 %r<2>; .reg .f32 %f<6>; .reg .b64 %d<4>;\n"
                          "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; ld.param.u64 %d1, [t]; ld.param.u64 %d2, [out];\n"
                          "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f1, %f1}];\n"
                          "mul.wide.u32 %d3, %r1, 4; add.s64 %d2, %d2, %d3; st.global.f32 [%d2], %f3; ret;\n}\n";

/* A node that copies to an array reports the array, and its positions and widths in bytes. */
static void node_of_array(CUarray array, CUcontext context, const void *host)
{
    CUDA_MEMCPY3D copy = {}, back;
    cudaGraph_t graph;
    cudaGraphNode_t node;

    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = 8;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.dstXInBytes = 2;
    copy.dstY = 1;
    copy.WidthInBytes = 6;
    copy.Height = 2;
    copy.Depth = 1;
    memset(&back, 0xee, sizeof back);
    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess);
    CHECK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context) == CUDA_SUCCESS);
    CHECK(cuGraphMemcpyNodeGetParams(node, &back) == CUDA_SUCCESS);
    CHECK(back.dstMemoryType == CU_MEMORYTYPE_ARRAY && back.dstArray == array && back.dstXInBytes == 2 && back.dstY == 1);
    CHECK(back.srcMemoryType != CU_MEMORYTYPE_ARRAY && back.srcPitch == 8);
    CHECK(back.WidthInBytes == 6 && back.Height == 2 && back.Depth == 1);
    CHECK(cuGraphMemcpyNodeSetParams(node, &back) == CUDA_SUCCESS);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

/* A captured and an explicit graph: a copy to the device, a kernel and a copy back. */
static void graphs(CUfunction kernel, CUtexObject texture)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[3], found[3];
    CUgraphEdgeData edges[3];
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS launch = {}, same = {};
    CUDA_MEMSET_NODE_PARAMS set = {};
    CUDA_HOST_NODE_PARAMS host = {};
    CUgraphExecUpdateResult updated = CU_GRAPH_EXEC_UPDATE_ERROR;
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr out;
    cuuint64_t id = 0;
    size_t count = 3;
    float results[4] = {-1, -1, -1, -1};
    void *arguments[] = {&texture, &out};
    int calls = 0;

    CHECK(cuMemAlloc(&out, sizeof results) == CUDA_SUCCESS && cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) == CUDA_SUCCESS);
    CHECK(cuStreamGetCaptureInfo(stream, &status, &id) == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id != 0);
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, 0, stream, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoHAsync(results, out, sizeof results, stream) == CUDA_SUCCESS);
    CHECK(cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && cuGraphInstantiate(&exec, graph, 0) == CUDA_SUCCESS);
    CHECK(results[3] == -1 && cuGraphLaunch(exec, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(results[0] != -1 && results[3] != -1);
    CHECK(cuGraphExecUpdate(exec, graph, &info) == CUDA_SUCCESS && info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CHECK(cuGraphExecUpdate(exec, graph, nullptr, &updated) == CUDA_SUCCESS && updated == CU_GRAPH_EXEC_UPDATE_SUCCESS);
    CHECK(cuGraphExecDestroy(exec) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS);

    set.dst = out;
    set.elementSize = 4;
    set.width = 4;
    set.height = 1;
    launch.func = kernel;
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = launch.blockDimY = launch.blockDimZ = 1;
    launch.blockDimX = 2;
    launch.kernelParams = arguments;
    host.fn = [](void *data) { ++*(int *)data; };
    host.userData = &calls;
    CHECK(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
    CHECK(cuGraphAddMemsetNode(&nodes[0], graph, nullptr, 0, &set, nullptr) == CUDA_SUCCESS);
    CHECK(cuGraphAddKernelNode(&nodes[1], graph, nodes, 1, &launch) == CUDA_SUCCESS);
    CHECK(cuGraphAddHostNode(&nodes[2], graph, &nodes[1], 1, &host) == CUDA_SUCCESS);
    CHECK(cuGraphKernelNodeGetParams(nodes[1], &same) == CUDA_SUCCESS && same.func == kernel && same.blockDimX == 2);
    CHECK(cuGraphNodeGetDependencies(nodes[2], found, &count) == CUDA_SUCCESS && count == 1 && found[0] == nodes[1]);
    count = 3;
    CHECK(cuGraphNodeGetDependencies(nodes[1], found, edges, &count) == CUDA_SUCCESS && count == 1 && found[0] == nodes[0]);
    CHECK(cuGraphNodeGetType(nodes[2], &type) == CUDA_SUCCESS && type == CU_GRAPH_NODE_TYPE_HOST);
    CHECK(cuGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == CUDA_SUCCESS && cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(results, out, sizeof results) == CUDA_SUCCESS && results[1] != 0 && results[2] == 0 && calls == 1);
    CHECK(cuGraphExecDestroy(exec) == CUDA_SUCCESS && cuGraphDestroy(graph) == CUDA_SUCCESS);
    CHECK(cuStreamDestroy(stream) == CUDA_SUCCESS && cuMemFree(out) == CUDA_SUCCESS);
}

static void driver(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction fetch;
    CUctxCreateParams parameters = {};
    CUDA_ARRAY_DESCRIPTOR shape = {4, 3, CU_AD_FORMAT_UNSIGNED_INT8, 2};
    CUDA_MEMCPY2D copy = {};
    CUDA_RESOURCE_DESC resource = {};
    CUDA_TEXTURE_DESC reads = {};
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR shape3 = {};
    CUtexObject texture;
    CUsurfObject surface;
    CUdeviceptr out;
    unsigned char texel[3][4][2];
    float value[4] = {};

    for (int i = 0; i < 12; i++) {
        texel[i / 4][i % 4][0] = 1;
        texel[i / 4][i % 4][1] = (unsigned char)(15 * i);
    }
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS);
    CHECK(cuCtxCreate(&context, &parameters, 0, device) == CUDA_SUCCESS);
    CHECK(cuModuleLoadData(&module, ptx) == CUDA_SUCCESS && cuModuleGetFunction(&fetch, module, "fetch") == CUDA_SUCCESS);
    CHECK(cuArrayCreate(&array, &shape) == CUDA_SUCCESS);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = texel;
    copy.srcPitch = sizeof texel[0];
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = sizeof texel[0];
    copy.Height = 3;
    CHECK(cuMemcpy2D(&copy) == CUDA_SUCCESS);
    copy.WidthInBytes++;
    CHECK(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
    node_of_array(array, context, texel);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    reads.addressMode[0] = reads.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    CHECK(cuTexObjectCreate(&texture, &resource, &reads, nullptr) == CUDA_SUCCESS);
    CHECK(cuMemAlloc(&out, sizeof value) == CUDA_SUCCESS);
    void *arguments[] = {&texture, &out};
    CHECK(cuLaunchKernel(fetch, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(cuMemcpyDtoH(value, out, sizeof value) == CUDA_SUCCESS);
    CHECK(value[0] == 0 && value[1] == 75 / 255.0f && value[2] == 150 / 255.0f && value[3] == 165 / 255.0f);
    graphs(fetch, texture);
    CHECK(cuTexObjectDestroy(texture) == CUDA_SUCCESS && cuArrayDestroy(array) == CUDA_SUCCESS);
    CHECK(cuArrayDestroy(array) != CUDA_SUCCESS);
    shape3.Width = shape3.Height = 4;
    shape3.Format = CU_AD_FORMAT_FLOAT;
    shape3.NumChannels = 1;
    shape3.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CHECK(cuArray3DCreate(&array, &shape3) == CUDA_SUCCESS);
    resource.res.array.hArray = array;
    CHECK(cuSurfObjectCreate(&surface, &resource) == CUDA_SUCCESS && cuTexObjectDestroy(surface) != CUDA_SUCCESS);
    CHECK(cuSurfObjectDestroy(surface) == CUDA_SUCCESS && cuArrayDestroy(array) == CUDA_SUCCESS);
    CHECK(cuMemFree(out) == CUDA_SUCCESS && cuModuleUnload(module) == CUDA_SUCCESS && cuCtxDestroy(context) == CUDA_SUCCESS);
}

static void pools(void)
{
    cudaMemPoolProps properties = {};
    cudaMemPool_t standard, small;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    unsigned long long used = 1;
    char *p, *q;

    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
    CHECK(cudaMallocAsync(&p, 1000, 0) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess && used == 1000);
    CHECK(cudaFreeAsync(p, 0) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess && used == 0);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &used) == cudaSuccess && used == 1000);
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = here;
    properties.maxSize = 2000;
    CHECK(cudaMemPoolCreate(&small, &properties) == cudaSuccess);
    CHECK(cudaMallocFromPoolAsync(&p, 1500, small, 0) == cudaSuccess);
    CHECK(cudaMallocAsync(&q, 501, small, 0) == cudaErrorMemoryAllocation);
    CHECK(cudaMemPoolSetAttribute(small, cudaMemPoolAttrUsedMemCurrent, &used) == cudaErrorInvalidValue);
    CHECK(cudaFree(p) == cudaSuccess && cudaMemPoolDestroy(small) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(standard) == cudaErrorInvalidValue);
    /* Memory of a destroyed pool does not count in a new pool, although some new pools have addresses of destroyed pools. */
    cudaMemPool_t many[16];
    char *memory[16];
    for (int i = 0; i < 16; i++)
        CHECK(cudaMemPoolCreate(&many[i], &properties) == cudaSuccess);
    for (int i = 0; i < 16; i++)
        CHECK(cudaMallocFromPoolAsync(&memory[i], 1500, many[i], 0) == cudaSuccess);
    for (int i = 0; i < 16; i++)
        CHECK(cudaMemPoolDestroy(many[i]) == cudaSuccess);
    for (int i = 0; i < 16; i++)
        CHECK(cudaMemPoolCreate(&many[i], &properties) == cudaSuccess);
    for (int i = 0; i < 16; i++)
        CHECK(cudaFreeAsync(memory[i], 0) == cudaSuccess);
    for (int i = 0; i < 16; i++) {
        CHECK(cudaMemPoolGetAttribute(many[i], cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess && used == 0);
        CHECK(cudaMemPoolDestroy(many[i]) == cudaSuccess);
    }
    CHECK(cudaMallocFromPoolAsync(&p, 1500, nullptr, 0) == cudaErrorInvalidValue);
    CHECK(cudaMallocManaged(&p, 100) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(p, 100, 0) == cudaSuccess && cudaMemPrefetchAsync(p, 100, here, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(&used, 8, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemAdvise(p, 100, cudaMemAdviseSetReadMostly, here) == cudaSuccess);
    CHECK(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal) == cudaSuccess);
    CHECK(cudaFree(p) == cudaSuccess);
}

/* Both interfaces have the errors of the runtime's table. */
static void errors(void)
{
    const char *name = NULL;

    CHECK(cudaErrorInvalidClusterSize == 912 && cudaErrorMemoryAllocation == 2 && cudaErrorApiFailureBase == 10000);
    CHECK(CUDA_ERROR_KEY_ROTATION == 916 && CUDA_ERROR_INVALID_CLUSTER_SIZE == 912 && CUDA_ERROR_UNKNOWN == 999);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidClusterSize), "cudaErrorInvalidClusterSize") == 0);
    CHECK(cuGetErrorName(CUDA_ERROR_KEY_ROTATION, &name) == CUDA_SUCCESS && strcmp(name, "CUDA_ERROR_KEY_ROTATION") == 0);
}

int main()
{
    errors();
    driver();
    pools();
    puts(wrong == 0 ? "all right" : "wrong");
    return wrong != 0;
}
