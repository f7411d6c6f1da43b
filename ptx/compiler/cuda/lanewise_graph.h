/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and captures of streams, with the structures and functions of CUDA 13; and functions with the parameters of CUDA 11 and
 * 12. */
#ifndef LANEWISE_GRAPH_H
#define LANEWISE_GRAPH_H

enum cudaGraphNodeType {
    cudaGraphNodeTypeKernel,
    cudaGraphNodeTypeMemcpy,
    cudaGraphNodeTypeMemset,
    cudaGraphNodeTypeHost,
    cudaGraphNodeTypeGraph,
    cudaGraphNodeTypeEmpty,
    cudaGraphNodeTypeWaitEvent,
    cudaGraphNodeTypeEventRecord,
    cudaGraphNodeTypeExtSemaphoreSignal,
    cudaGraphNodeTypeExtSemaphoreWait,
    cudaGraphNodeTypeMemAlloc,
    cudaGraphNodeTypeMemFree,
    cudaGraphNodeTypeConditional = 13
};
enum cudaGraphMemAttributeType {
    cudaGraphMemAttrUsedMemCurrent,
    cudaGraphMemAttrUsedMemHigh,
    cudaGraphMemAttrReservedMemCurrent,
    cudaGraphMemAttrReservedMemHigh
};
enum cudaGraphConditionalHandleFlags { cudaGraphCondAssignDefault = 1 };
enum cudaGraphConditionalNodeType { cudaGraphCondTypeIf, cudaGraphCondTypeWhile, cudaGraphCondTypeSwitch };
enum cudaGraphChildGraphNodeOwnership { cudaGraphChildGraphOwnershipClone, cudaGraphChildGraphOwnershipMove };
enum cudaGraphInstantiateFlags {
    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1,
    cudaGraphInstantiateFlagUpload = 2,
    cudaGraphInstantiateFlagDeviceLaunch = 4,
    cudaGraphInstantiateFlagUseNodePriority = 8
};
enum cudaGraphExecUpdateResult {
    cudaGraphExecUpdateSuccess,
    cudaGraphExecUpdateError,
    cudaGraphExecUpdateErrorTopologyChanged,
    cudaGraphExecUpdateErrorNodeTypeChanged,
    cudaGraphExecUpdateErrorFunctionChanged,
    cudaGraphExecUpdateErrorParametersChanged,
    cudaGraphExecUpdateErrorNotSupported,
    cudaGraphExecUpdateErrorUnsupportedFunctionChange,
    cudaGraphExecUpdateErrorAttributesChanged
};
enum cudaGraphInstantiateResult {
    cudaGraphInstantiateSuccess,
    cudaGraphInstantiateError,
    cudaGraphInstantiateInvalidStructure,
    cudaGraphInstantiateNodeOperationNotSupported,
    cudaGraphInstantiateMultipleDevicesNotSupported,
    cudaGraphInstantiateConditionalHandleUnused
};
LW_TAG(enum, cudaGraphInstantiateResult)
enum cudaStreamUpdateCaptureDependenciesFlags { cudaStreamAddCaptureDependencies, cudaStreamSetCaptureDependencies };
enum { cudaEventRecordExternal = 1, cudaEventWaitDefault LW_OR(0), cudaEventWaitExternal = 1 };

struct cudaKernelNodeParams {
    void *func;
    dim3 gridDim, blockDim;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
};
struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void *userData;
};
struct cudaMemAllocNodeParams {
    struct cudaMemPoolProps poolProps;
    const struct cudaMemAccessDesc *accessDescs;
    size_t accessDescCount, bytesize;
    void *dptr;
};
typedef unsigned long long cudaGraphConditionalHandle;
struct cudaConditionalNodeParams {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned int size;
    cudaGraph_t *phGraph_out;
};
/* Parameters of a node of any type. These names are CUDA's, too. */
typedef struct cudaKernelNodeParams cudaKernelNodeParamsV2;
typedef struct cudaMemsetParams cudaMemsetParamsV2;
typedef struct cudaHostNodeParams cudaHostNodeParamsV2;
typedef struct cudaMemAllocNodeParams cudaMemAllocNodeParamsV2;
struct cudaMemcpyNodeParams {
    int flags, reserved[3];
    struct cudaMemcpy3DParms copyParams;
};
struct cudaChildGraphNodeParams {
    cudaGraph_t graph;
    enum cudaGraphChildGraphNodeOwnership ownership;
};
struct cudaEventWaitNodeParams {
    cudaEvent_t event;
};
struct cudaEventRecordNodeParams {
    cudaEvent_t event;
};
struct cudaMemFreeNodeParams {
    void *dptr;
};
struct cudaGraphNodeParams {
    enum cudaGraphNodeType type;
    int reserved0[3];
    union {
        long long reserved1[29];
        struct cudaKernelNodeParams kernel;
        struct cudaMemcpyNodeParams memcpy;
        struct cudaMemsetParams memset;
        struct cudaHostNodeParams host;
        struct cudaChildGraphNodeParams graph;
        struct cudaEventWaitNodeParams eventWait;
        struct cudaEventRecordNodeParams eventRecord;
        struct cudaMemAllocNodeParams alloc;
        struct cudaMemFreeNodeParams free;
        struct cudaConditionalNodeParams conditional;
    };
    long long reserved2;
};
typedef struct cudaGraphEdgeData_st {
    unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;
/* What cudaGraphDebugDotPrint() writes in addition to types and names. */
enum cudaGraphDebugDotFlags {
    cudaGraphDebugDotFlagsVerbose = 1,
    cudaGraphDebugDotFlagsKernelNodeParams = 4,
    cudaGraphDebugDotFlagsMemcpyNodeParams = 8,
    cudaGraphDebugDotFlagsMemsetNodeParams = 16,
    cudaGraphDebugDotFlagsHostNodeParams = 32,
    cudaGraphDebugDotFlagsEventNodeParams = 64,
    cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 128,
    cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 256,
    cudaGraphDebugDotFlagsKernelNodeAttributes = 512,
    cudaGraphDebugDotFlagsHandles = 1024,
    cudaGraphDebugDotFlagsConditionalNodeParams = 32768
};
#define cudaKernelNodeAttrID cudaLaunchAttributeID
#define cudaKernelNodeAttrValue cudaLaunchAttributeValue
#define cudaKernelNodeAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaKernelNodeAttributeCooperative cudaLaunchAttributeCooperative
#define cudaKernelNodeAttributePriority cudaLaunchAttributePriority
#define cudaKernelNodeAttributeClusterDimension cudaLaunchAttributeClusterDimension
#define cudaKernelNodeAttributeClusterSchedulingPolicyPreference cudaLaunchAttributeClusterSchedulingPolicyPreference
#define cudaKernelNodeAttributeMemSyncDomainMap cudaLaunchAttributeMemSyncDomainMap
#define cudaKernelNodeAttributeMemSyncDomain cudaLaunchAttributeMemSyncDomain
#define cudaKernelNodeAttributePreferredSharedMemoryCarveout cudaLaunchAttributePreferredSharedMemoryCarveout
#define cudaKernelNodeAttributeDeviceUpdatableKernelNode cudaLaunchAttributeDeviceUpdatableKernelNode
typedef struct cudaGraphExecUpdateResultInfo_st {
    enum cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;

typedef struct cudaGraphInstantiateParams_st {
    unsigned long long flags;
    cudaStream_t uploadStream;
    cudaGraphNode_t errNode_out;
    cudaGraphInstantiateResult result_out;
} cudaGraphInstantiateParams;

/* Functions that the runtime interface and the driver interface declare with the same parameters. */
#define LW_ADD cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count
#define LW_EVENT_NODES(RESULT, GRAPH, NAME) \
    RESULT GRAPH##Add##NAME##Node(LW_ADD, cudaEvent_t event); \
    RESULT GRAPH##NAME##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event); \
    RESULT GRAPH##NAME##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event); \
    RESULT GRAPH##Exec##NAME##NodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event);
#define LW_GRAPH_FUNCTIONS(RESULT, GRAPH) \
    RESULT GRAPH##Create(cudaGraph_t *graph, unsigned int flags); \
    RESULT GRAPH##Destroy(cudaGraph_t graph); \
    RESULT GRAPH##Clone(cudaGraph_t *clone, cudaGraph_t graph); \
    RESULT GRAPH##NodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t node, cudaGraph_t clone); \
    RESULT GRAPH##GetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count); \
    RESULT GRAPH##GetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count); \
    RESULT GRAPH##DestroyNode(cudaGraphNode_t node); \
    RESULT GRAPH##AddEmptyNode(LW_ADD); \
    RESULT GRAPH##AddChildGraphNode(LW_ADD, cudaGraph_t child); \
    RESULT GRAPH##ChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph); \
    RESULT GRAPH##ExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child); \
    LW_EVENT_NODES(RESULT, GRAPH, EventRecord) \
    LW_EVENT_NODES(RESULT, GRAPH, EventWait) \
    RESULT GRAPH##Upload(cudaGraphExec_t exec, cudaStream_t stream); \
    RESULT GRAPH##Launch(cudaGraphExec_t exec, cudaStream_t stream); \
    RESULT GRAPH##KernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from); \
    RESULT GRAPH##NodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled); \
    RESULT GRAPH##NodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int *enabled); \
    RESULT GRAPH##DebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags); \
    RESULT GRAPH##ExecDestroy(cudaGraphExec_t exec);

LW_C_BEGIN
LW_GRAPH_FUNCTIONS(cudaError_t, cudaGraph)
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *needs,
                                          const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id LW_OR(0),
                                     cudaGraph_t *graph LW_OR(0), const cudaGraphNode_t **needs LW_OR(0),
                                     const cudaGraphEdgeData **edges LW_OR(0), size_t *count LW_OR(0));
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *needs, const cudaGraphEdgeData *edges,
                                                size_t count, unsigned int flags LW_OR(0));
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                              size_t *count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t count);
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);

#define LW_NODES(NAME, PARAMETERS) \
    cudaError_t cudaGraphAdd##NAME##Node(LW_ADD, const struct PARAMETERS *p); \
    cudaError_t cudaGraph##NAME##NodeGetParams(cudaGraphNode_t node, struct PARAMETERS *p); \
    cudaError_t cudaGraph##NAME##NodeSetParams(cudaGraphNode_t node, const struct PARAMETERS *p); \
    cudaError_t cudaGraphExec##NAME##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct PARAMETERS *p);
LW_NODES(Kernel, cudaKernelNodeParams)
LW_NODES(Memcpy, cudaMemcpy3DParms)
LW_NODES(Memset, cudaMemsetParams)
LW_NODES(Host, cudaHostNodeParams)
cudaError_t cudaGraphAddMemAllocNode(LW_ADD, struct cudaMemAllocNodeParams *p);
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *p);
cudaError_t cudaGraphAddMemFreeNode(LW_ADD, void *p);
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *p);
cudaError_t cudaDeviceGraphMemTrim(int device);
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value);
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value);
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned int initial LW_OR(0),
                                             unsigned int flags LW_OR(0));
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                             const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *p);
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p);
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue *value);
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue *value);
#define LW_COPY size_t size, enum cudaMemcpyKind kind
cudaError_t cudaGraphAddMemcpyNode1D(LW_ADD, void *to, const void *from, LW_COPY);
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, LW_COPY);
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, LW_COPY);
#undef LW_COPY
#define LW_COPY size_t size, size_t offset, enum cudaMemcpyKind kind
cudaError_t cudaGraphAddMemcpyNodeToSymbol(LW_ADD, const void *symbol, const void *from, LW_COPY);
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(LW_ADD, void *to, const void *symbol, LW_COPY);
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from, LW_COPY);
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, LW_COPY);
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, LW_COPY);
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *symbol,
                                                       LW_COPY);

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags LW_OR(0));
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags LW_OR(0));
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphInstantiateParams *p);
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result);
cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *value, cudaHostFn_t destroy, unsigned int count, unsigned int flags);
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count LW_OR(1));
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count LW_OR(1));
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count LW_OR(1),
                                      unsigned int flags LW_OR(0));
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count LW_OR(1));
LW_C_END

#ifdef __cplusplus
/* Variables are passed by reference. */
template <class T> inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(LW_ADD, const T &symbol, const void *from, LW_COPY)
{
    return cudaGraphAddMemcpyNodeToSymbol(node, graph, needs, count, (const void *)&symbol, from, size, offset, kind);
}
template <class T> inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(LW_ADD, void *to, const T &symbol, LW_COPY)
{
    return cudaGraphAddMemcpyNodeFromSymbol(node, graph, needs, count, to, (const void *)&symbol, size, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol, const void *from, LW_COPY)
{
    return cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, from, size, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const T &symbol, LW_COPY)
{
    return cudaGraphMemcpyNodeSetParamsFromSymbol(node, to, (const void *)&symbol, size, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const T &symbol,
                                                            const void *from, LW_COPY)
{
    return cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, (const void *)&symbol, from, size, offset, kind);
}
template <class T>
inline cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                              const T &symbol, LW_COPY)
{
    return cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, to, (const void *)&symbol, size, offset, kind);
}
#undef LW_NODES
#undef LW_COPY

/** Sets the value of a condition of a graph, from a kernel of the graph. */
__device__ inline void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value)
{
    *(volatile unsigned int *)handle = value;
}
#endif

/* CUDA 11 and 12 */
LW_OVERLOAD cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                         struct cudaGraphNodeParams *p)
{
    return cudaGraphAddNode(node, graph, needs, 0, count, p);
}

LW_OVERLOAD cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *node, char *log, size_t bytes)
{
    (void)log;
    (void)bytes;
    if (node != 0)
        *node = 0;
    return cudaGraphInstantiate(exec, graph, 0ull);
}
LW_OVERLOAD cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                            enum cudaGraphExecUpdateResult *result)
{
    cudaGraphExecUpdateResultInfo info = {};
    const cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);

    if (node != 0)
        *node = info.errorNode;
    if (result != 0)
        *result = info.result;
    return error;
}
LW_OVERLOAD cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    return cudaGraphGetEdges(graph, from, to, 0, count);
}
LW_OVERLOAD cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return cudaGraphNodeGetDependencies(node, nodes, 0, count);
}
LW_OVERLOAD cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
    return cudaGraphNodeGetDependentNodes(node, nodes, 0, count);
}
LW_OVERLOAD cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                 size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, 0, count);
}
LW_OVERLOAD cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                                    size_t count)
{
    return cudaGraphRemoveDependencies(graph, from, to, 0, count);
}

#endif
