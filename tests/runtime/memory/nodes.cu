/* SPDX-License-Identifier: Apache-2.0 */
/* Tests nodes of graphs that allocate and free memory, and conditional nodes. The conditional nodes need -DCONDITIONS, because
 * nvcc compiles them only with -rdc=true. */
#include "check.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000, BYTES = N * 4 };

__global__ void twice(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < N)
        out[i] = 2 * in[i];
}

static unsigned long long attribute(enum cudaGraphMemAttributeType which)
{
    unsigned long long value = ~0ull;

    EQUALS(cudaDeviceGetGraphMemAttribute(0, which, &value), cudaSuccess);
    return value;
}

static cudaMemAllocNodeParams allocation(size_t bytes)
{
    cudaMemAllocNodeParams p;

    memset(&p, 0, sizeof p);
    p.bytesize = bytes;
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    return p;
}

/* host -> a -> kernel -> b -> host; a is freed by the graph, b by the program or by the next launch. */
static void nodes()
{
    static int in[N], out[N];
    cudaMemAllocNodeParams a = allocation(BYTES), b = allocation(BYTES), is;
    cudaGraph_t graph, other;
    cudaGraphNode_t alloc_a, alloc_b, copy_in, kernel, free_a, copy_out, needs[2], wrong;
    cudaGraphExec_t exec, second;
    cudaKernelNodeParams k = {};
    enum cudaGraphNodeType type;
    void *pointer;
    size_t before, now, total;
    int value;

    for (int i = 0; i < N; i++)
        in[i] = 3 * i;
    EQUALS(cudaMemGetInfo(&before, &total), cudaSuccess);
    EQUALS(cudaGraphCreate(&graph, 0), cudaSuccess);
    EQUALS(cudaGraphAddMemAllocNode(&alloc_a, graph, nullptr, 0, &a), cudaSuccess);
    EQUALS(cudaGraphAddMemAllocNode(&alloc_b, graph, &alloc_a, 1, &b), cudaSuccess);
    CHECK(a.dptr != nullptr && b.dptr != nullptr && a.dptr != b.dptr);
    EQUALS(cudaGraphAddMemcpyNode1D(&copy_in, graph, &alloc_a, 1, a.dptr, in, BYTES, cudaMemcpyHostToDevice), cudaSuccess);
    void *arguments[] = {&a.dptr, &b.dptr};
    k.func = (void *)twice;
    k.gridDim = dim3((N + 127) / 128);
    k.blockDim = dim3(128);
    k.kernelParams = arguments;
    needs[0] = copy_in;
    needs[1] = alloc_b;
    EQUALS(cudaGraphAddKernelNode(&kernel, graph, needs, 2, &k), cudaSuccess);
    EQUALS(cudaGraphAddMemFreeNode(&free_a, graph, &kernel, 1, a.dptr), cudaSuccess);
    EQUALS(cudaGraphAddMemcpyNode1D(&copy_out, graph, &kernel, 1, out, b.dptr, BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
    EQUALS(cudaGraphAddMemFreeNode(&wrong, graph, &kernel, 1, a.dptr), cudaErrorInvalidValue); /* a is freed already */
    EQUALS(cudaGraphAddMemFreeNode(&wrong, graph, &kernel, 1, in), cudaErrorInvalidValue);
    a.bytesize = 0;
    EQUALS(cudaGraphAddMemAllocNode(&wrong, graph, nullptr, 0, &a), cudaErrorInvalidValue);
    EQUALS(cudaGraphMemAllocNodeGetParams(alloc_b, &is), cudaSuccess);
    CHECK(is.bytesize == BYTES && is.dptr == b.dptr);
    EQUALS(cudaGraphMemFreeNodeGetParams(free_a, &pointer), cudaSuccess);
    CHECK(pointer == a.dptr);
    EQUALS(cudaGraphNodeGetType(alloc_a, &type), cudaSuccess);
    CHECK(type == cudaGraphNodeTypeMemAlloc);
    EQUALS(cudaGraphNodeGetType(free_a, &type), cudaSuccess);
    CHECK(type == cudaGraphNodeTypeMemFree);
    EQUALS(cudaGraphClone(&other, graph), cudaErrorNotSupported);
    EQUALS(cudaGraphDestroyNode(free_a), cudaErrorNotSupported);
    EQUALS(cudaGraphCreate(&other, 0), cudaSuccess);
    EQUALS(cudaGraphAddChildGraphNode(&wrong, other, nullptr, 0, graph), cudaErrorNotSupported);
    EQUALS(cudaGraphDestroy(other), cudaSuccess);
    EQUALS(cudaMemcpy(&value, a.dptr, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue); /* not allocated yet */

    EQUALS(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EQUALS(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);
    EQUALS(cudaGraphLaunch(exec, 0), cudaSuccess);
    EQUALS(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < N && !failed; i++)
        CHECK(out[i] == 6 * i);
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == BYTES && attribute(cudaGraphMemAttrUsedMemHigh) == 2 * BYTES);
    EQUALS(cudaMemGetInfo(&now, &total), cudaSuccess);
    CHECK(now == before - BYTES);
    EQUALS(cudaMemcpy(&value, (int *)b.dptr + 5, 4, cudaMemcpyDeviceToHost), cudaSuccess);
    CHECK(value == 30);
    EQUALS(cudaMemcpy(&value, a.dptr, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue); /* freed */
    EQUALS(cudaGraphLaunch(exec, 0), cudaErrorInvalidValue); /* b is still allocated */
    EQUALS(cudaFreeAsync(b.dptr, 0), cudaSuccess);
    EQUALS(cudaFree(b.dptr), cudaErrorInvalidValue);
    EQUALS(cudaGraphLaunch(exec, 0), cudaSuccess);
    EQUALS(cudaGraphExecDestroy(exec), cudaSuccess);
    EQUALS(cudaFree(b.dptr), cudaSuccess);
    EQUALS(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch), cudaSuccess);
    EQUALS(cudaGraphDestroy(graph), cudaSuccess);
    for (int i = 0; i < 3; i++) {
        memset(out, 0, sizeof out);
        EQUALS(cudaGraphLaunch(exec, 0), cudaSuccess);
        CHECK(out[7] == 42);
    }
    EQUALS(cudaGraphExecDestroy(exec), cudaSuccess);
    EQUALS(cudaMemcpy(&value, (int *)b.dptr + 6, 4, cudaMemcpyDeviceToHost), cudaSuccess); /* b outlives its graphs */
    CHECK(value == 36);
    EQUALS(cudaFree(b.dptr), cudaSuccess);
    CHECK(attribute(cudaGraphMemAttrUsedMemCurrent) == 0 && attribute(cudaGraphMemAttrReservedMemCurrent) == 0);
    unsigned long long zero = 0;
    EQUALS(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero), cudaSuccess);
    CHECK(attribute(cudaGraphMemAttrUsedMemHigh) == 0);
    EQUALS(cudaDeviceGraphMemTrim(0), cudaSuccess);
    EQUALS(cudaMemGetInfo(&now, &total), cudaSuccess);
    CHECK(now == before);
}

/* Captured allocations become nodes. */
static void captured()
{
    static int in[N], out[N];
    cudaStream_t s, t;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t list[8];
    size_t count = 8;
    int *a, *b, *plain, allocations = 0;

    for (int i = 0; i < N; i++)
        in[i] = i;
    EQUALS(cudaMalloc(&plain, 4), cudaSuccess);
    EQUALS(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    EQUALS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    EQUALS(cudaMallocAsync(&a, BYTES, s), cudaSuccess);
    EQUALS(cudaMallocAsync(&b, BYTES, s), cudaSuccess);
    EQUALS(cudaMemcpyAsync(a, in, BYTES, cudaMemcpyHostToDevice, s), cudaSuccess);
    EQUALS(cudaMemsetAsync(b, 0, BYTES, s), cudaSuccess);
    twice<<<(N + 127) / 128, 128, 0, s>>>(a, b);
    EQUALS(cudaFreeAsync(a, s), cudaSuccess);
    /* A second stream copies the result, and is destroyed after the first one waits for its work. */
    EQUALS(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking), cudaSuccess);
    EQUALS(cudaEventCreate(&event), cudaSuccess);
    EQUALS(cudaEventRecord(event, s), cudaSuccess);
    EQUALS(cudaStreamWaitEvent(t, event, 0), cudaSuccess);
    EQUALS(cudaMemcpyAsync(out, b, BYTES, cudaMemcpyDeviceToHost, t), cudaSuccess);
    EQUALS(cudaEventRecord(event, t), cudaSuccess);
    EQUALS(cudaStreamWaitEvent(s, event, 0), cudaSuccess);
    EQUALS(cudaStreamDestroy(t), cudaSuccess);
    EQUALS(cudaEventDestroy(event), cudaSuccess);
    EQUALS(cudaFreeAsync(b, s), cudaSuccess);
    EQUALS(cudaStreamEndCapture(s, &graph), cudaSuccess);
    EQUALS(cudaGraphGetNodes(graph, list, &count), cudaSuccess);
    CHECK(count == 8);
    for (size_t i = 0; i < count; i++) {
        enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;

        EQUALS(cudaGraphNodeGetType(list[i], &type), cudaSuccess);
        allocations += type == cudaGraphNodeTypeMemAlloc;
    }
    CHECK(allocations == 2);
    EQUALS(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int i = 0; i < 2; i++) {
        memset(out, 0, sizeof out);
        EQUALS(cudaGraphLaunch(exec, s), cudaSuccess);
        EQUALS(cudaStreamSynchronize(s), cudaSuccess);
        CHECK(out[N - 1] == 2 * (N - 1));
    }
    EQUALS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
    EQUALS(cudaFreeAsync(plain, s), cudaErrorInvalidValue); /* memory of no graph */
    (void)cudaStreamEndCapture(s, nullptr);
    (void)cudaGetLastError();
    EQUALS(cudaGraphExecDestroy(exec), cudaSuccess);
    EQUALS(cudaGraphDestroy(graph), cudaSuccess);
    EQUALS(cudaStreamDestroy(s), cudaSuccess);
    EQUALS(cudaFree(plain), cudaSuccess);
}

#ifdef CONDITIONS
__global__ void countdown(unsigned *left, cudaGraphConditionalHandle handle)
{
    left[1]++;
    cudaGraphSetConditional(handle, --left[0]);
}

__global__ void choose(cudaGraphConditionalHandle handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}

__global__ void add(unsigned *to, unsigned value)
{
    *to += value;
}

static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, enum cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};

    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    return p;
}

/* A loop of a kernel that counts down; in its first graph, a switch that a kernel of the host chooses. */
static void conditions()
{
    cudaGraph_t graph, body, ways[3];
    cudaGraphNode_t node, before;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle loop, way, branch;
    cudaGraphNodeParams p = {cudaGraphNodeTypeEmpty}, k = {cudaGraphNodeTypeKernel};
    enum cudaGraphNodeType type;
    cudaStream_t s;
    unsigned *data, out[4];

    EQUALS(cudaMalloc(&data, sizeof out), cudaSuccess);
    EQUALS(cudaStreamCreate(&s), cudaSuccess);
    EQUALS(cudaGraphCreate(&graph, 0), cudaSuccess);
    EQUALS(cudaGraphConditionalHandleCreate(&loop, graph, 1, cudaGraphCondAssignDefault), cudaSuccess);
    EQUALS(cudaGraphConditionalHandleCreate(&way, graph, 0, 0), cudaSuccess);
    EQUALS(cudaGraphConditionalHandleCreate(&branch, graph, 0, cudaGraphCondAssignDefault), cudaSuccess);
    EQUALS(cudaGraphConditionalHandleCreate(&branch, graph, 0, 2), cudaErrorInvalidValue);
    p = condition(loop, cudaGraphCondTypeWhile, 2);
    EQUALS(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p), cudaErrorInvalidValue); /* a loop has one graph */
    p = condition(loop, cudaGraphCondTypeWhile, 1);
    EQUALS(cudaGraphCreate(&body, 0), cudaSuccess);
    EQUALS(cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &p), cudaErrorInvalidValue); /* the condition of another graph */
    EQUALS(cudaGraphDestroy(body), cudaSuccess);
    EQUALS(cudaGraphAddNode(&before, graph, nullptr, nullptr, 0, &p), cudaSuccess);
    EQUALS(cudaGraphNodeGetType(before, &type), cudaSuccess);
    CHECK(type == cudaGraphNodeTypeConditional);
    body = p.conditional.phGraph_out[0];
    EQUALS(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal), cudaSuccess);
    countdown<<<1, 1, 0, s>>>(data, loop);
    EQUALS(cudaStreamEndCapture(s, nullptr), cudaSuccess);

    unsigned chosen = 2;
    void *arguments[] = {&way, &chosen};
    k.kernel.func = (void *)choose;
    k.kernel.gridDim = k.kernel.blockDim = dim3(1);
    k.kernel.kernelParams = arguments;
    EQUALS(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &k), cudaSuccess);
    p = condition(way, cudaGraphCondTypeSwitch, 3);
    before = node;
    EQUALS(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &p), cudaSuccess);
    memcpy(ways, p.conditional.phGraph_out, sizeof ways);
    for (unsigned i = 0; i < 3; i++) {
        unsigned value = 10 + i, *to = data + 2;
        void *of_add[] = {&to, &value};
        cudaGraphNode_t inside;
        cudaKernelNodeParams a = {};

        a.func = (void *)add;
        a.gridDim = a.blockDim = dim3(1);
        a.kernelParams = of_add;
        EQUALS(cudaGraphAddKernelNode(&inside, ways[i], nullptr, 0, &a), cudaSuccess);
    }
    EQUALS(cudaGraphDestroy(body), cudaErrorInvalidValue); /* the graph belongs to its node */
    p = condition(branch, cudaGraphCondTypeIf, 2); /* the condition is 0: the second graph runs */
    before = node;
    EQUALS(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &p), cudaSuccess);
    EQUALS(cudaStreamBeginCaptureToGraph(s, p.conditional.phGraph_out[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal), cudaSuccess);
    add<<<1, 1, 0, s>>>(data + 3, 1);
    EQUALS(cudaStreamEndCapture(s, nullptr), cudaSuccess);
    EQUALS(cudaStreamBeginCaptureToGraph(s, p.conditional.phGraph_out[1], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal), cudaSuccess);
    add<<<1, 1, 0, s>>>(data + 3, 100);
    EQUALS(cudaStreamEndCapture(s, nullptr), cudaSuccess);

    EQUALS(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EQUALS(cudaGraphDestroy(graph), cudaSuccess);
    for (unsigned i = 1; i <= 2; i++) {
        const unsigned start[4] = {5, 0, 0, 0};

        EQUALS(cudaMemcpy(data, start, sizeof start, cudaMemcpyHostToDevice), cudaSuccess);
        EQUALS(cudaGraphLaunch(exec, s), cudaSuccess);
        EQUALS(cudaMemcpy(out, data, sizeof out, cudaMemcpyDeviceToHost), cudaSuccess);
        CHECK(out[0] == 0 && out[1] == 5 && out[2] == 12 && out[3] == 100);
    }
    EQUALS(cudaGraphExecDestroy(exec), cudaSuccess);
    EQUALS(cudaStreamDestroy(s), cudaSuccess);
    EQUALS(cudaFree(data), cudaSuccess);
}
#endif

int main()
{
    nodes();
    captured();
#ifdef CONDITIONS
    conditions();
#endif
    puts(failed ? "wrong" : "all right");
    return failed;
}
