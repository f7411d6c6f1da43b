// SPDX-License-Identifier: Apache-2.0
// Nodes of any type: attributes of kernel nodes, nodes that are disabled, new parameters, operations on values, nodes of the driver
// interface, and the description of a graph. The argument is the path of the file for the description.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <thread>

static int wrong;
static int last; // result of the newest IS()
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); wrong = 1; } } while (0)
#define IS(want, call) do { last = (int)(call); if (last != (int)(want)) { printf("line %d: %s: %d\n", __LINE__, #call, last); wrong = 1; } (void)cudaGetLastError(); } while (0)
#define OK(call) IS(0, call)

__global__ void add(int *p, int value)
{
    atomicAdd(p, value);
}
__global__ void multiply(int *p, int value)
{
    *p *= value;
}

static int *cell; // the kernels work on it
static int read_cell()
{
    int value = -1;

    OK(cudaMemcpy(&value, cell, 4, cudaMemcpyDeviceToHost));
    return value;
}
static void write_cell(int value)
{
    OK(cudaMemcpy(cell, &value, 4, cudaMemcpyHostToDevice));
}

static cudaKernelNodeParams kernel(void *function, void **arguments)
{
    cudaKernelNodeParams k = {};

    k.func = function;
    k.gridDim = k.blockDim = dim3(1);
    k.kernelParams = arguments;
    return k;
}

// Attributes that a program sets, those of captured launches, and a cooperative kernel that does not fit on the device
static void attributes()
{
    cudaStream_t s;
    cudaGraph_t graph, clone, captured;
    cudaGraphNode_t node, other, empty, copy;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaKernelNodeAttrValue value = {}, got = {};
    int one = 1;
    void *arguments[] = {&cell, &one};
    cudaKernelNodeParams k = kernel((void *)add, arguments);
    size_t count = 1;

    OK(cudaStreamCreate(&s));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &k));
    OK(cudaGraphAddKernelNode(&other, graph, &node, 1, &k));
    OK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
    got.cooperative = 5;
    OK(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeCooperative, &got));
    EXPECT(got.cooperative == 0);
    value.cooperative = 1;
    OK(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeCooperative, &value));
    value = {};
    value.accessPolicyWindow.base_ptr = cell;
    value.accessPolicyWindow.num_bytes = 4;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    OK(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow, &value));
    value = {};
    value.priority = -2;
    OK(cudaGraphKernelNodeSetAttribute(other, cudaKernelNodeAttributePriority, &value));
    OK(cudaGraphKernelNodeGetAttribute(other, cudaKernelNodeAttributePriority, &got));
    EXPECT(got.priority == -2);
    OK(cudaGraphKernelNodeCopyAttributes(other, node));
    OK(cudaGraphKernelNodeGetAttribute(other, cudaKernelNodeAttributeAccessPolicyWindow, &got));
    EXPECT(got.accessPolicyWindow.base_ptr == cell && got.accessPolicyWindow.hitRatio == 0.5f);
    EXPECT(got.accessPolicyWindow.num_bytes == 4 && got.accessPolicyWindow.missProp == cudaAccessPropertyStreaming);
    OK(cudaGraphKernelNodeGetAttribute(other, cudaKernelNodeAttributePriority, &got));
    EXPECT(got.priority == 0);
    value = {};
    value.clusterDim.x = value.clusterDim.y = 1;
    value.clusterDim.z = 2;
    IS(cudaErrorNotSupported, cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeClusterDimension, &value));
    IS(cudaErrorInvalidValue, cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeSynchronizationPolicy, &value));
    IS(cudaErrorInvalidValue, cudaGraphKernelNodeSetAttribute(empty, cudaKernelNodeAttributePriority, &value));
    IS(cudaErrorInvalidValue, cudaGraphKernelNodeGetAttribute(empty, cudaKernelNodeAttributePriority, &got));
    IS(cudaErrorInvalidValue, cudaGraphKernelNodeCopyAttributes(empty, node));
    IS(cudaErrorInvalidValue, cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributePriority, nullptr));

    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&copy, node, clone));
    OK(cudaGraphKernelNodeGetAttribute(copy, cudaKernelNodeAttributeCooperative, &got));
    EXPECT(got.cooperative == 1);
    write_cell(0);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, s));
    EXPECT(read_cell() == 2);
    k.gridDim = dim3(60000, 60000);
    OK(cudaGraphKernelNodeSetParams(copy, &k)); // the node keeps its attributes
    OK(cudaGraphKernelNodeGetAttribute(copy, cudaKernelNodeAttributeCooperative, &got));
    EXPECT(got.cooperative == 1);
    OK(cudaGraphExecUpdate(exec, clone, &info));
    IS(cudaErrorCooperativeLaunchTooLarge, cudaGraphLaunch(exec, s));
    EXPECT(read_cell() == 2);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphDestroy(graph));

    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaLaunchCooperativeKernel((void *)add, dim3(1), dim3(1), arguments, 0, s));
    OK(cudaStreamEndCapture(s, &captured));
    OK(cudaGraphGetNodes(captured, &node, &count));
    OK(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeCooperative, &got));
    EXPECT(got.cooperative == 1);
    OK(cudaGraphDestroy(captured));
    OK(cudaStreamDestroy(s));
}

// A disabled node is skipped until it is enabled. An update does not enable it.
static void disabled()
{
    cudaGraph_t graph, child, inner;
    cudaGraphNode_t first, second, fill, empty, outer, node;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    int two = 2, three = 3;
    void *of_first[] = {&cell, &two}, *of_second[] = {&cell, &three};
    cudaKernelNodeParams k = kernel((void *)add, of_first);
    cudaMemsetParams m = {};
    unsigned enabled = 7;
    size_t count = 1;

    OK(cudaGraphCreate(&graph, 0));
    m.dst = cell, m.elementSize = 4, m.value = 10, m.width = m.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m));
    OK(cudaGraphAddKernelNode(&first, graph, &fill, 1, &k));
    k = kernel((void *)multiply, of_second);
    OK(cudaGraphAddKernelNode(&second, graph, &first, 1, &k));
    OK(cudaGraphAddEmptyNode(&empty, graph, &second, 1));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphNodeGetEnabled(exec, first, &enabled));
    EXPECT(enabled == 1);
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(read_cell() == 36);
    OK(cudaGraphNodeSetEnabled(exec, first, 0));
    OK(cudaGraphNodeGetEnabled(exec, first, &enabled));
    EXPECT(enabled == 0);
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(read_cell() == 30);
    OK(cudaGraphExecUpdate(exec, graph, &info));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(read_cell() == 30);
    OK(cudaGraphNodeSetEnabled(exec, first, 1));
    OK(cudaGraphNodeSetEnabled(exec, fill, 0));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(read_cell() == 96);
    IS(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, empty, 0));
    IS(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, empty, &enabled));
    IS(cudaErrorInvalidValue, cudaGraphNodeGetEnabled(exec, first, nullptr));
    OK(cudaGraphExecDestroy(exec));
    // a node of a graph that is a node
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddChildGraphNode(&outer, child, nullptr, 0, graph));
    OK(cudaGraphChildGraphNodeGetGraph(outer, &inner));
    OK(cudaGraphGetRootNodes(inner, &node, &count));
    OK(cudaGraphInstantiate(&exec, child, 0));
    OK(cudaGraphNodeSetEnabled(exec, node, 0));
    IS(cudaErrorInvalidValue, cudaGraphNodeSetEnabled(exec, fill, 0)); // a node of another graph
    write_cell(1);
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(read_cell() == 9);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(graph));
}

// cudaGraphNodeSetParams() and cudaGraphExecNodeSetParams()
static void parameters()
{
    cudaGraph_t graph, child;
    cudaGraphNode_t node, empty, inner, copy;
    cudaGraphExec_t exec;
    cudaGraphNodeParams p = {};
    cudaMemAllocNodeParams a = {};
    int two = 2, three = 3, out = 0, other = 0;
    void *of_add[] = {&cell, &two}, *of_multiply[] = {&cell, &three};

    OK(cudaGraphCreate(&graph, 0));
    p.type = cudaGraphNodeTypeKernel;
    cudaKernelNodeParams k = kernel((void *)add, of_add);
    memcpy(&p.kernel, &k, sizeof k);
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
    p = {};
    p.type = cudaGraphNodeTypeEmpty;
    OK(cudaGraphAddNode(&empty, graph, &node, nullptr, 1, &p));
    OK(cudaGraphNodeSetParams(empty, &p));
    p.type = cudaGraphNodeTypeMemcpy;
    p.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(cell, 4, 4, 1);
    p.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&out, 4, 4, 1);
    p.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
    p.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphAddNode(&copy, graph, &empty, nullptr, 1, &p));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    p.memcpy.copyParams.dstPtr.ptr = &other;
    OK(cudaGraphExecNodeSetParams(exec, copy, &p));
    write_cell(10);
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(out == 0 && other == 12);
    p = {};
    p.type = cudaGraphNodeTypeKernel;
    k = kernel((void *)multiply, of_multiply);
    memcpy(&p.kernel, &k, sizeof k);
    OK(cudaGraphExecNodeSetParams(exec, node, &p));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(other == 36);
    IS(cudaErrorInvalidValue, cudaGraphNodeSetParams(empty, &p)); // another type
    IS(cudaErrorInvalidValue, cudaGraphExecNodeSetParams(exec, copy, &p));
    IS(cudaErrorInvalidValue, cudaGraphNodeSetParams(node, nullptr));
    OK(cudaGraphNodeSetParams(node, &p));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(out == 108 && other == 36);
    OK(cudaGraphExecDestroy(exec));

    // another graph for the node of a graph; the node copies it
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddEmptyNode(&empty, child, nullptr, 0));
    p = {};
    p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = child;
    OK(cudaGraphAddNode(&inner, graph, &copy, nullptr, 1, &p));
    OK(cudaGraphAddKernelNode(&node, child, nullptr, 0, &k));
    OK(cudaGraphNodeSetParams(inner, &p));
    p.graph.graph = graph;
    IS(cudaErrorInvalidValue, cudaGraphNodeSetParams(inner, &p)); // the node is in this graph
    OK(cudaGraphDestroy(child));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    EXPECT(out == 324 && read_cell() == 972);
    OK(cudaGraphExecDestroy(exec));

    // memory has no other parameters
    a.bytesize = 4;
    a.poolProps.allocType = cudaMemAllocationTypePinned;
    a.poolProps.location.type = cudaMemLocationTypeDevice;
    OK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &a));
    p = {};
    p.type = cudaGraphNodeTypeMemAlloc;
    memcpy(&p.alloc, &a, sizeof a);
    IS(cudaErrorNotSupported, cudaGraphNodeSetParams(node, &p));
    p = {};
    p.type = cudaGraphNodeTypeExtSemaphoreSignal;
    IS(cudaErrorNotSupported, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
    p.type = (enum cudaGraphNodeType)12; // only the driver interface has operations on values
    IS(cudaErrorInvalidValue, cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p));
    OK(cudaGraphDestroy(graph));
}

// Nodes of the driver interface: a kernel, a copy, memory, and conditions
static void driver_nodes()
{
    CUgraph graph, *bodies;
    CUgraphNode node, fill, alloc, copy, release, inside;
    CUgraphExec exec;
    CUgraphNodeParams p = {}, c = {};
    CUDA_MEM_ALLOC_NODE_PARAMS a = {}, got = {};
    CUgraphConditionalHandle way, branch;
    CUfunction function;
    CUdeviceptr pointer = 0;
    cudaGraphNodeType type;
    unsigned long long used = 99;
    int five = 5, out = 0;
    void *arguments[] = {&cell, &five};

    OK(cudaGetFuncBySymbol(&function, (const void *)add));
    OK(cuGraphCreate(&graph, 0));
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.bytesize = 256;
    OK(cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &a));
    OK(cuGraphMemAllocNodeGetParams(alloc, &got));
    EXPECT(a.dptr != 0 && got.dptr == a.dptr && got.bytesize == 256);
    p.type = CU_GRAPH_NODE_TYPE_MEMSET;
    p.memset.dst = a.dptr;
    p.memset.elementSize = 4;
    p.memset.value = 41;
    p.memset.width = p.memset.height = 1;
    OK(cuGraphAddNode(&fill, graph, &alloc, nullptr, 1, &p));
    p = {};
    p.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    p.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    p.memcpy.copyParams.srcDevice = a.dptr;
    p.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
    p.memcpy.copyParams.dstHost = &out;
    p.memcpy.copyParams.WidthInBytes = 4;
    p.memcpy.copyParams.Height = p.memcpy.copyParams.Depth = 1;
    OK(cuGraphAddNode(&copy, graph, &fill, nullptr, 1, &p));
    OK(cuGraphAddMemFreeNode(&release, graph, &copy, 1, a.dptr));
    OK(cuGraphMemFreeNodeGetParams(release, &pointer));
    EXPECT(pointer == a.dptr);

    OK(cuGraphConditionalHandleCreate(&way, graph, nullptr, 2, CU_GRAPH_COND_ASSIGN_DEFAULT));
    OK(cuGraphConditionalHandleCreate(&branch, graph, nullptr, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphConditionalHandleCreate(&branch, graph, nullptr, 0, 2));
    c.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    c.conditional.handle = way;
    c.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
    c.conditional.size = 3;
    OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &c));
    OK(cudaGraphNodeGetType(node, &type));
    EXPECT(type == cudaGraphNodeTypeConditional);
    bodies = c.conditional.phGraph_out;
    p = {};
    p.type = CU_GRAPH_NODE_TYPE_KERNEL;
    p.kernel.kern = (CUkernel)function; // used because func is NULL
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
    p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = arguments;
    for (int i = 0; i < 3; i++, five *= 10)
        OK(cuGraphAddNode(&inside, bodies[i], nullptr, nullptr, 0, &p));
    c.conditional.handle = branch;
    c.conditional.type = CU_GRAPH_COND_TYPE_IF;
    c.conditional.size = 1;
    c.conditional.phGraph_out = nullptr;
    OK(cuGraphAddNode(&node, graph, &node, nullptr, 1, &c));
    OK(cuGraphAddNode(&inside, c.conditional.phGraph_out[0], nullptr, nullptr, 0, &p));
    IS(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeSetParams(node, &c));
    OK(cuGraphInstantiate(&exec, graph, 0));
    write_cell(1);
    OK(cuGraphLaunch(exec, nullptr));
    EXPECT(read_cell() == 501 && out == 41);
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used == 0);
    OK(cuDeviceGraphMemTrim(0));
    p.type = CU_GRAPH_NODE_TYPE_MEMSET;
    p.memset = {};
    p.memset.dst = a.dptr;
    p.memset.elementSize = 4;
    p.memset.value = 43;
    p.memset.width = p.memset.height = 1;
    OK(cuGraphExecNodeSetParams(exec, fill, &p));
    OK(cuGraphNodeSetEnabled(exec, copy, 0));
    OK(cuGraphLaunch(exec, nullptr));
    EXPECT(out == 41);
    OK(cuGraphNodeSetEnabled(exec, copy, 1));
    OK(cuGraphLaunch(exec, nullptr));
    EXPECT(out == 43);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

// Writes and waits in a capture are nodes. A graph waits until another thread writes the value.
static void values()
{
    cudaStream_t s, t;
    CUgraph graph, other;
    CUgraphNode nodes[4], node;
    CUgraphExec exec;
    CUgraphNodeType type;
    CUgraphExecUpdateResultInfo info;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {}, got = {};
    CUstreamBatchMemOpParams operations[2] = {};
    CUgraphNodeParams p = {};
    CUdeviceptr flags;
    unsigned words[4] = {};
    size_t count = 4;

    OK(cuMemAlloc(&flags, 16));
    OK(cuMemsetD32(flags, 0, 4));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(cuStreamWriteValue32(s, flags, 7, 0));
    OK(cuStreamWaitValue32(s, flags + 4, 3, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuStreamWriteValue64(s, flags + 8, 0x900000008ull, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue64(s, flags + 4, 1, 0)); // not aligned
    OK(cuStreamEndCapture(s, &graph));
    OK(cuMemcpyDtoH(words, flags, 16));
    EXPECT(words[0] == 0); // nothing is executed in a capture
    OK(cuGraphGetNodes(graph, nodes, &count));
    EXPECT(count == 3);
    OK(cuGraphNodeGetType(nodes[1], &type));
    EXPECT(type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    OK(cuGraphBatchMemOpNodeGetParams(nodes[1], &got));
    EXPECT(got.count == 1 && got.paramArray[0].waitValue.address == flags + 4 && got.paramArray[0].waitValue.value == 3);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    std::thread writer([=] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        OK(cuStreamWriteValue32(t, flags + 4, 4, 0));
    });
    OK(cuGraphLaunch(exec, s));
    writer.join();
    OK(cuMemcpyDtoH(words, flags, 16));
    EXPECT(words[0] == 7 && words[1] == 4 && words[2] == 8 && words[3] == 9);

    operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[0].writeValue.address = flags;
    operations[0].writeValue.value = 11;
    operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operations[1].waitValue.address = flags;
    operations[1].waitValue.value = 11;
    operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    batch.count = 2;
    batch.paramArray = operations;
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddBatchMemOpNode(&node, other, nullptr, 0, &batch));
    operations[0].writeValue.value = operations[1].waitValue.value = 12; // the operations were copied
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other, &info));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiateWithFlags(&exec, other, 0));
    OK(cuGraphLaunch(exec, s));
    OK(cuMemcpyDtoH(words, flags, 4));
    EXPECT(words[0] == 11);
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
    OK(cuGraphLaunch(exec, s));
    OK(cuMemcpyDtoH(words, flags, 4));
    EXPECT(words[0] == 12);
    batch.count = 1;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch)); // another number of operations
    OK(cuGraphBatchMemOpNodeSetParams(node, &batch));
    IS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other, &info));
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED);
    p.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    p.memOp.count = 1;
    p.memOp.paramArray = operations;
    OK(cuGraphAddNode(&nodes[0], other, &node, nullptr, 1, &p));
    OK(cuGraphNodeSetParams(node, &p));
    batch.count = 0;
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphAddBatchMemOpNode(&node, other, nullptr, 0, &batch));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree(flags));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

// A graph that is destroyed while a capture adds nodes to a graph of its node
static void destroyed()
{
    cudaStream_t s;
    cudaGraph_t graph, child, inner;
    cudaGraphNode_t node;
    cudaStreamCaptureStatus status;

    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    OK(cudaGraphChildGraphNodeGetGraph(node, &inner));
    OK(cudaStreamBeginCaptureToGraph(s, inner, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(cell, 0, 4, s));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamIsCapturing(s, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    OK(cudaGraphDestroy(child));
    OK(cudaStreamDestroy(s));
}

// The list of nodes of cudaStreamGetCaptureInfo() sets the nodes of the same stream. A new graph has no nodes to depend on.
static void same_list()
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphNode_t node = nullptr;
    const cudaGraphNode_t *needs;
    const cudaGraphEdgeData *edges;
    cudaStreamCaptureStatus status;
    size_t count = 0;

    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    IS(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(s, nullptr, &node, nullptr, 1, cudaStreamCaptureModeRelaxed));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < 6; i++) { // nodes that do not depend on each other
        OK(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
        OK(cudaMemsetAsync(cell, i, 4, s));
    }
    OK(cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &needs, &edges, &count));
    OK(cudaStreamUpdateCaptureDependencies(s, (cudaGraphNode_t *)needs, nullptr, count, cudaStreamSetCaptureDependencies));
    OK(cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &needs, &edges, &count));
    OK(cudaStreamUpdateCaptureDependencies(s, (cudaGraphNode_t *)needs, nullptr, count, cudaStreamAddCaptureDependencies));
    OK(cudaMemsetAsync(cell, 9, 4, s));
    OK(cudaStreamEndCapture(s, &graph));
    count = 0;
    OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    EXPECT(count == 1);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(s));
}

// The description of a graph; test_graphs.sh reads it.
static void description(const char *path)
{
    cudaGraph_t graph, child;
    cudaGraphNode_t fill, first, inner, node;
    int two = 2;
    void *arguments[] = {&cell, &two};
    cudaKernelNodeParams k = kernel((void *)add, arguments);
    cudaMemsetParams m = {};

    OK(cudaGraphCreate(&child, 0));
    k.gridDim = dim3(3, 2);
    OK(cudaGraphAddKernelNode(&node, child, nullptr, 0, &k));
    OK(cudaGraphCreate(&graph, 0));
    m.dst = cell, m.elementSize = 4, m.value = 10, m.width = m.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &m));
    OK(cudaGraphAddMemcpyNode1D(&first, graph, &fill, 1, &two, cell, 4, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddChildGraphNode(&inner, graph, &first, 1, child));
    OK(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsKernelNodeParams | cudaGraphDebugDotFlagsMemsetNodeParams));
    IS(cudaErrorOperatingSystem, cudaGraphDebugDotPrint(graph, "/nothing/here", 0));
    IS(cudaErrorInvalidValue, cudaGraphDebugDotPrint(graph, nullptr, 0));
    IS(CUDA_ERROR_INVALID_VALUE, cuGraphDebugDotPrint(graph, path, 1u << 20));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(child));
}

int main(int, char **arguments)
{
    OK(cudaMalloc(&cell, 4));
    attributes();
    disabled();
    parameters();
    driver_nodes();
    values();
    destroyed();
    same_list();
    description(arguments[1]);
    OK(cudaFree(cell));
    puts(wrong ? "wrong" : "all right");
    return wrong;
}
