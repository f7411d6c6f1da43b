// SPDX-License-Identifier: Apache-2.0
// Captures of streams, and graphs.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>

enum { N = 256 };
__device__ int bias = 100;
__global__ void add(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}
__global__ void scale(int *p, int n, int value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * value + bias;
}
static int wrong;
static cudaError_t last; // result of the newest IS()
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); wrong = 1; } } while (0)
#define IS(want, call) do { last = (call); if (last != (want)) { printf("line %d: %s: %d\n", __LINE__, #call, last); wrong = 1; } (void)cudaGetLastError(); } while (0)
#define OK(call) IS(cudaSuccess, call)

static size_t count_nodes(cudaGraph_t g)
{
    size_t n = 0;
    OK(cudaGraphGetNodes(g, nullptr, &n));
    return n;
}

// Work in one stream: nothing is executed before the launch, and each launch reads the arrays of the host again.
static void linear()
{
    static int in[N], out[N];
    int *d, launches = 0;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;

    OK(cudaMalloc(&d, sizeof in));
    OK(cudaMemset(d, 0, sizeof in));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemcpyAsync(d, in, sizeof in, cudaMemcpyHostToDevice, s));
    for (int i = 1; i <= 3; i++) // arguments are copied when the kernel is captured
        add<<<2, 128, 0, s>>>(d, N, i);
    OK(cudaGetLastError());
    OK(cudaMemsetAsync(d, 0xff, 4, s));
    OK(cudaMemcpyAsync(out, d, sizeof out, cudaMemcpyDeviceToHost, s));
    OK(cudaLaunchHostFunc(s, [](void *p) { ++*(int *)p; }, &launches));
    OK(cudaStreamEndCapture(s, &g));
    EXPECT(out[1] == 0 && launches == 0 && count_nodes(g) == 7);
    OK(cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphDestroy(g)); // the executable graph does not need it
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            in[i] = i * round;
        OK(cudaGraphLaunch(e, s));
        OK(cudaStreamSynchronize(s));
        EXPECT(launches == round + 1 && out[0] == -1);
        for (int i = 1; i < N; i++)
            EXPECT(out[i] == i * round + 6);
    }
    OK(cudaGraphExecDestroy(e));
    IS(cudaErrorInvalidValue, cudaGraphLaunch(e, s));
    OK(cudaStreamDestroy(s));
    OK(cudaFree(d));
}

// Two streams that an event connects, variables, and rows.
static void forked()
{
    int *a, *b, out[2 * N], value = 7, got = 0;
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaGraph_t g, graph_now;
    cudaGraphExec_t e;
    cudaGraphNode_t nodes[16], from[16], to[16];
    size_t count = 16, roots = 16, edges = 16, needs = 16;
    unsigned long long id = 0;
    enum cudaStreamCaptureStatus status;
    enum cudaGraphNodeType type;

    OK(cudaMalloc(&a, sizeof out / 2));
    OK(cudaMalloc(&b, sizeof out / 2));
    OK(cudaMemset(a, 0, sizeof out / 2));
    OK(cudaMemset(b, 0, sizeof out / 2));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemcpyToSymbolAsync(bias, &value, sizeof value, 0, cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    OK(cudaStreamIsCapturing(t, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    scale<<<2, 128, 0, s>>>(a, N, 3);
    scale<<<2, 128, 0, t>>>(b, N, 5);
    OK(cudaMemset2DAsync(b + 4, 32, 1, 4, 2, t)); // two rows of 4 bytes
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    OK(cudaStreamGetCaptureInfo(s, &status, &id, &graph_now, nullptr, nullptr, &needs));
    EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && graph_now != nullptr && needs == 2);
    OK(cudaMemcpy2DAsync(out, 2 * sizeof(int), a, sizeof(int), sizeof(int), N, cudaMemcpyDeviceToHost, s));
    OK(cudaMemcpy2DAsync(out + 1, 2 * sizeof(int), b, sizeof(int), sizeof(int), N, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamEndCapture(s, &g));
    EXPECT(g == graph_now);
    OK(cudaStreamIsCapturing(t, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);
    OK(cudaGraphGetNodes(g, nodes, &count));
    OK(cudaGraphGetRootNodes(g, nullptr, &roots));
    OK(cudaGraphGetEdges(g, from, to, nullptr, &edges));
    EXPECT(count == 6 && roots == 1 && edges == 6);
    needs = 16;
    OK(cudaGraphNodeGetDependencies(nodes[4], from, nullptr, &needs));
    EXPECT(needs == 2 && from[2] == nullptr);
    needs = 0;
    OK(cudaGraphNodeGetDependentNodes(nodes[0], nullptr, nullptr, &needs));
    EXPECT(needs == 2);
    OK(cudaGraphNodeGetType(nodes[3], &type));
    EXPECT(type == cudaGraphNodeTypeMemset);
    OK(cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphLaunch(e, t));
    OK(cudaStreamSynchronize(t));
    for (int i = 0; i < N; i++)
        EXPECT(out[2 * i] == 7 && out[2 * i + 1] == (i == 4 || i == 12 ? 0x01010101 : 7));
    OK(cudaMemcpyFromSymbol(&got, bias, sizeof got));
    EXPECT(got == 7);
    IS(cudaErrorCapturedEvent, cudaEventQuery(fork)); // until it is recorded outside a capture
    OK(cudaEventRecord(fork, s));
    OK(cudaEventQuery(fork));
    OK(cudaGraphExecDestroy(e));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaFree(a));
    OK(cudaFree(b));
}

// Nodes that the program adds: their order follows from the dependencies. Parameters of nodes and executable nodes change.
static void made()
{
    int *d, out[N], in[N], n = N, two = 2, three = 3, five = 5, called = 0;
    cudaGraph_t g, h, child, found;
    cudaGraphExec_t e;
    cudaGraphNode_t fill, first, second, read, host, empty, inner, node, list[16];
    void *first_arguments[] = {&d, &n, &three}, *second_arguments[] = {&d, &n, &two}, *changed[] = {&d, &n, &five};
    struct cudaKernelNodeParams k = {}, got;
    struct cudaMemsetParams m = {}, fill_got;
    struct cudaHostNodeParams call = {[](void *p) { ++*(int *)p; }, &called};
    cudaGraphExecUpdateResultInfo info;
    size_t count = 16;

    OK(cudaMalloc(&d, sizeof out));
    OK(cudaGraphCreate(&g, 0));
    IS(cudaErrorInvalidValue, cudaGraphCreate(&g, 1));
    k.func = (void *)add, k.gridDim = dim3(2), k.blockDim = dim3(128), k.kernelParams = first_arguments;
    OK(cudaGraphAddKernelNode(&first, g, nullptr, 0, &k));
    three = 1000; // the argument was copied
    m.dst = d, m.elementSize = 4, m.value = 0x10002, m.width = N, m.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, g, nullptr, 0, &m));
    OK(cudaGraphAddDependencies(g, &fill, &first, nullptr, 1)); // a node depends on a later one
    k.func = (void *)scale, k.kernelParams = second_arguments;
    OK(cudaGraphAddKernelNode(&second, g, &first, 1, &k));
    OK(cudaGraphAddMemcpyNode1D(&read, g, &second, 1, out, d, sizeof out, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddHostNode(&host, g, &read, 1, &call));
    OK(cudaGraphAddEmptyNode(&empty, g, &host, 1));
    EXPECT(count_nodes(g) == 6);
    OK(cudaGraphKernelNodeGetParams(first, &got));
    EXPECT(got.func == (void *)add && got.gridDim.x == 2 && got.blockDim.x == 128 && *(int *)got.kernelParams[2] == 3);
    OK(cudaGraphMemsetNodeGetParams(fill, &fill_got));
    EXPECT(fill_got.dst == d && fill_got.value == 0x10002 && fill_got.elementSize == 4);
    IS(cudaErrorInvalidValue, cudaGraphMemsetNodeGetParams(first, &fill_got));
    OK(cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphLaunch(e, nullptr));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        EXPECT(out[i] == (0x10002 + 3) * 2 + 7);
    EXPECT(called == 1);
    // A changed executable node does not change the graph.
    k.func = (void *)add, k.kernelParams = changed;
    OK(cudaGraphExecKernelNodeSetParams(e, first, &k));
    m.elementSize = 2, m.value = 3, m.width = 2 * N;
    OK(cudaGraphExecMemsetNodeSetParams(e, fill, &m));
    OK(cudaGraphLaunch(e, nullptr));
    EXPECT(out[9] == (0x30003 + 5) * 2 + 7);
    IS(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(e, first, &m));
    OK(cudaGraphExecUpdate(e, g, &info));
    EXPECT(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(e, nullptr));
    EXPECT(out[9] == (0x10002 + 3) * 2 + 7 && called == 3);
    // A changed node changes later instances only.
    OK(cudaGraphKernelNodeSetParams(first, &k));
    OK(cudaGraphLaunch(e, nullptr));
    EXPECT(out[9] == (0x10002 + 3) * 2 + 7);
    OK(cudaGraphExecUpdate(e, g, &info));
    OK(cudaGraphLaunch(e, nullptr));
    EXPECT(out[9] == (0x10002 + 5) * 2 + 7);
    // A clone, and a graph as a node of another
    OK(cudaGraphClone(&h, g));
    OK(cudaGraphNodeFindInClone(&node, first, h));
    OK(cudaGraphKernelNodeGetParams(node, &got));
    EXPECT(node != first && *(int *)got.kernelParams[2] == 5);
    OK(cudaGraphDestroyNode(node));
    EXPECT(count_nodes(h) == 5 && count_nodes(g) == 6);
    IS(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(e, h, &info));
    EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    OK(cudaGraphExecDestroy(e));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddChildGraphNode(&inner, child, nullptr, 0, g));
    for (int &x : in)
        x = 1;
    OK(cudaGraphAddMemcpyNode1D(&node, child, &inner, 1, d, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaGraphChildGraphNodeGetGraph(inner, &found));
    EXPECT(found != g && count_nodes(found) == 6);
    IS(cudaErrorInvalidValue, cudaGraphDestroy(found)); // it belongs to the node
    OK(cudaGraphGetNodes(found, list, &count));
    OK(cudaGraphInstantiate(&e, child, 0));
    called = 0;
    OK(cudaGraphLaunch(e, nullptr));
    EXPECT(called == 1 && out[9] == (0x10002 + 5) * 2 + 7);
    three = 11;
    k.kernelParams = first_arguments;
    for (size_t i = 0; i < count; i++) { // the kernel node `add` of the inner graph
        enum cudaGraphNodeType type;
        OK(cudaGraphNodeGetType(list[i], &type));
        if (type == cudaGraphNodeTypeKernel && cudaGraphKernelNodeGetParams(list[i], &got) == cudaSuccess && got.func == (void *)add)
            OK(cudaGraphExecKernelNodeSetParams(e, list[i], &k));
    }
    OK(cudaGraphLaunch(e, nullptr));
    EXPECT(out[9] == (0x10002 + 11) * 2 + 7);
    OK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[9] == 1); // the copy after the inner graph
    OK(cudaGraphExecDestroy(e));
    // A cycle
    OK(cudaGraphAddDependencies(g, &empty, &fill, nullptr, 1));
    IS(cudaErrorInvalidValue, cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphRemoveDependencies(g, &empty, &fill, nullptr, 1));
    OK(cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphExecDestroy(e));
    // Dependencies of other graphs, wrong kernels
    IS(cudaErrorInvalidValue, cudaGraphAddEmptyNode(&node, h, &first, 1));
    k.blockDim = dim3(2000);
    IS(cudaErrorInvalidValue, cudaGraphAddKernelNode(&node, g, nullptr, 0, &k));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(h));
    OK(cudaGraphDestroy(g));
    OK(cudaFree(d));
}

// Nodes for events, a graph that is launched in a capture, a capture that adds to a graph, and changes of dependencies during a capture
static void extended()
{
    int *d, out[N];
    cudaStream_t s;
    cudaEvent_t begin, end;
    cudaGraph_t g, h;
    cudaGraphExec_t e, f;
    cudaGraphNode_t node, first;
    const cudaGraphNode_t *needs;
    enum cudaStreamCaptureStatus status;
    enum cudaGraphNodeType type;
    size_t count = 1, edges = 0;
    float ms = -1;

    OK(cudaMalloc(&d, sizeof out));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddEventRecordNode(&first, g, nullptr, 0, begin));
    OK(cudaStreamBeginCaptureToGraph(s, g, &first, nullptr, 1, cudaStreamCaptureModeRelaxed));
    IS(cudaErrorInvalidValue, cudaGraphDestroy(g)); // during the capture
    OK(cudaMemsetAsync(d, 0, sizeof out, s));
    add<<<2, 128, 0, s>>>(d, N, 4);
    OK(cudaEventRecordWithFlags(end, s, cudaEventRecordExternal));
    OK(cudaStreamEndCapture(s, &h));
    EXPECT(h == g && count_nodes(g) == 4);
    OK(cudaGraphInstantiate(&e, g, 0));
    OK(cudaGraphLaunch(e, s));
    OK(cudaEventElapsedTime(&ms, begin, end));
    EXPECT(ms >= 0);
    // A launch in a capture becomes a node with a copy of the graph.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaGraphLaunch(e, s));
    add<<<2, 128, 0, s>>>(d, N, 1);
    OK(cudaStreamGetCaptureInfo(s, &status, nullptr, &h, &needs, nullptr, &count));
    EXPECT(count == 1);
    node = needs[0];
    OK(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies)); // the next node has no dependency
    OK(cudaMemcpyAsync(out, d, sizeof out, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamAddCaptureDependencies));
    OK(cudaStreamEndCapture(s, &h));
    OK(cudaGraphGetRootNodes(h, nullptr, &count));
    OK(cudaGraphGetEdges(h, nullptr, nullptr, nullptr, &edges));
    EXPECT(count == 2 && edges == 1 && count_nodes(h) == 3);
    count = 1;
    OK(cudaGraphGetRootNodes(h, &node, &count));
    OK(cudaGraphNodeGetType(node, &type));
    EXPECT(type == cudaGraphNodeTypeGraph);
    OK(cudaGraphExecDestroy(e));
    OK(cudaGraphInstantiate(&f, h, 0));
    OK(cudaGraphLaunch(f, s));
    OK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[0] == 5 && out[N - 1] == 5);
    // An executable graph that is destroyed by its own node remains until the launch ends.
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaLaunchHostFunc(s, [](void *p) { (void)cudaGraphExecDestroy(*(cudaGraphExec_t *)p); }, &e));
    add<<<2, 128, 0, s>>>(d, N, 10);
    OK(cudaStreamEndCapture(s, &h));
    OK(cudaGraphInstantiate(&e, h, 0));
    OK(cudaGraphLaunch(e, s));
    OK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[7] == 15);
    IS(cudaErrorInvalidValue, cudaGraphLaunch(e, s));
    // A stream that is destroyed during its capture
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemsetAsync(d, 0, 4, s));
    OK(cudaStreamDestroy(s));
    OK(cudaFree(d));
}

// What captures forbid
static void forbidden()
{
    cudaStream_t s, t, u;
    cudaEvent_t event, other;
    cudaGraph_t g;
    int *d, *p;

    OK(cudaMalloc(&d, 4096));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&other));
    // work of another stream that the first stream does not wait for
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(event, s));
    OK(cudaStreamWaitEvent(t, event, 0));
    OK(cudaMemsetAsync(d, 0, 16, t));
    IS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));
    EXPECT(g == nullptr);
    // the end in a stream in which the capture did not begin
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(event, s));
    OK(cudaStreamWaitEvent(t, event, 0));
    IS(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(t, &g));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    // a dependency on work that is not captured, and on work of another capture
    OK(cudaEventRecord(other, u));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    IS(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, other, 0));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    OK(cudaMemsetAsync(d, 0, 16, t));
    OK(cudaEventRecord(event, t));
    IS(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(s, event, 0));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(t, &g));
    // allocations: a relaxed capture allows them, a global one forbids them in all threads
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    OK(cudaMalloc(&p, 16));
    OK(cudaMemsetAsync(p, 0, 16, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    std::thread([] { int *q; IS(cudaErrorStreamCaptureUnsupported, cudaMalloc(&q, 16)); }).join();
    IS(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(p, 0, 16, s));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    std::thread([=] {
        int *q;
        cudaGraph_t h;
        OK(cudaMalloc(&q, 16));
        OK(cudaFree(q));
        IS(cudaErrorStreamCaptureWrongThread, cudaStreamEndCapture(s, &h));
    }).join();
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT(mode == cudaStreamCaptureModeGlobal);
    OK(cudaFree(p));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaMemset(d, 0, 4)); // the default stream does not wait for this stream
    IS(cudaErrorStreamCaptureUnsupported, cudaFree(d));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    // the stream of a thread
    OK(cudaMemset(d, 0, 16));
    OK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed));
    add<<<1, 4, 0, cudaStreamPerThread>>>(d, 4, 9);
    IS(cudaErrorStreamCaptureImplicit, cudaMemset(d, 0, 4)); // the default stream waits for it
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(cudaStreamPerThread, &g));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaStreamDestroy(u));
    OK(cudaFree(d));
}

int main()
{
    linear();
    forked();
    made();
    extended();
    forbidden();
    OK(cudaDeviceReset()); // with graphs that exist
    puts(wrong ? "wrong" : "all right");
    return wrong;
}
