/* SPDX-License-Identifier: Apache-2.0 */
/* A program that includes <cuda.h>: the driver API, with an array and a texture; and memory pools of the runtime. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

static int wrong;
#define CHECK(what) \
    do { \
        if (!(what) && wrong++ < 9) \
            printf("line %d: not true: %s\n", __LINE__, #what); \
    } while (0)

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry fetch(.param .u64 t, .param .u64 out) {\n"
                          ".reg .b32 %r<2>; .reg .f32 %f<6>; .reg .b64 %d<4>;\n"
                          "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; ld.param.u64 %d1, [t]; ld.param.u64 %d2, [out];\n"
                          "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d1, {%f1, %f1}];\n"
                          "mul.wide.u32 %d3, %r1, 4; add.s64 %d2, %d2, %d3; st.global.f32 [%d2], %f3; ret;\n}\n";

/* Functions of the driver API that <cuda.h> does not declare. */
extern "C" {
CUresult cuGraphAddMemcpyNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, const CUDA_MEMCPY3D *, CUcontext);
CUresult cuGraphMemcpyNodeGetParams(cudaGraphNode_t, CUDA_MEMCPY3D *);
CUresult cuGraphMemcpyNodeSetParams(cudaGraphNode_t, const CUDA_MEMCPY3D *);
}

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
