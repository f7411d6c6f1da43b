/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: captures and graphs, implemented with the functions of the runtime. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

typedef cudaGraph_t CUgraph;
typedef cudaGraphNode_t CUgraphNode;
typedef cudaGraphExec_t CUgraphExec;

#define NEEDS const CUgraphNode *needs, size_t count

/* ---- captures ----------------------------------------------------------------------------------------------------- */

CU_SAME(cuStreamBeginCapture_v2, cudaStreamBeginCapture, (CUstream stream, int mode), (stream, mode))
CU_SAME(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph,
        (CUstream stream, CUgraph graph, const CUgraphNode *needs, const void *edges, size_t count, int mode),
        (stream, graph, needs, edges, count, mode))
CU_SAME(cuStreamEndCapture, cudaStreamEndCapture, (CUstream stream, CUgraph *out), (stream, out))
CU_SAME(cuStreamIsCapturing, cudaStreamIsCapturing, (CUstream stream, int *status), (stream, status))
CU_SAME(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo,
        (CUstream stream, int *status, unsigned long long *id, CUgraph *graph, const CUgraphNode **needs, const void **edges,
      size_t *count),
        (stream, status, id, graph, needs, edges, count))
CU_SAME(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies,
        (CUstream stream, CUgraphNode *needs, const void *edges, size_t count, unsigned flags), (stream, needs, edges, count, flags))
CU_SAME(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, (int *mode), (mode))

CU_API CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, unsigned long long *id, CUgraph *graph,
                                          const CUgraphNode **needs, size_t *count)
{
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, needs, NULL, count);
}

CU_API CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *needs, size_t count, unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(stream, needs, NULL, count, flags);
}

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

CU_SAME(cuGraphCreate, cudaGraphCreate, (CUgraph *out, unsigned flags), (out, flags))
CU_SAME(cuGraphDestroy, cudaGraphDestroy, (CUgraph graph), (graph))
CU_SAME(cuGraphClone, cudaGraphClone, (CUgraph *out, CUgraph graph), (out, graph))
CU_SAME(cuGraphNodeFindInClone, cudaGraphNodeFindInClone, (CUgraphNode *out, CUgraphNode node, CUgraph clone), (out, node, clone))
CU_SAME(cuGraphGetNodes, cudaGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), (graph, nodes, count))
CU_SAME(cuGraphGetRootNodes, cudaGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), (graph, nodes, count))
CU_SAME(cuGraphGetEdges_v2, cudaGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, uint64_t *edges, size_t *count),
        (graph, from, to, edges, count))
CU_SAME(cuGraphNodeGetDependencies_v2, cudaGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *out, uint64_t *edges,
                                                                   size_t *count),
        (node, out, edges, count))
CU_SAME(cuGraphNodeGetDependentNodes_v2, cudaGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *out, uint64_t *edges,
                                                                       size_t *count),
        (node, out, edges, count))
CU_SAME(cuGraphAddDependencies_v2, cudaGraphAddDependencies,
        (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *edges, size_t count),
         (graph, from, to, edges, count))
CU_SAME(cuGraphRemoveDependencies_v2, cudaGraphRemoveDependencies,
        (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const void *edges, size_t count),
         (graph, from, to, edges, count))
CU_SAME(cuGraphDestroyNode, cudaGraphDestroyNode, (CUgraphNode node), (node))
CU_SAME(cuGraphNodeGetType, cudaGraphNodeGetType, (CUgraphNode node, int *out), (node, out))

/* The first versions of these functions have no parameter for the kinds of edges. */
CU_API CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

CU_API CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *out, size_t *count)
{
    return cuGraphNodeGetDependencies_v2(node, out, NULL, count);
}

CU_API CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *out, size_t *count)
{
    return cuGraphNodeGetDependentNodes_v2(node, out, NULL, count);
}

CU_API CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

CU_API CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

/* ---- nodes -------------------------------------------------------------------------------------------------------- */

/** Parameters of a kernel in the second version of the structure. The first version has only the first member. */
struct kernel_v2 {
    struct cudaKernelNodeParams p;
    CUfunction kernel; /* used if p.stub is NULL */
    CUcontext context;
};

static const struct cudaKernelNodeParams *first_version(const struct kernel_v2 *p, struct cudaKernelNodeParams *room)
{
    if (p == NULL)
        return NULL;
    *room = p->p;
    if (room->stub == NULL)
        room->stub = p->kernel;
    return room;
}

CU_SAME(cuGraphAddKernelNode, cudaGraphAddKernelNode, (CUgraphNode *out, CUgraph graph, NEEDS, const struct cudaKernelNodeParams *p),
        (out, graph, needs, count, p))
CU_SAME(cuGraphKernelNodeGetParams, cudaGraphKernelNodeGetParams, (CUgraphNode node, struct cudaKernelNodeParams *p), (node, p))
CU_SAME(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams, (CUgraphNode node, const struct cudaKernelNodeParams *p),
        (node, p))
CU_SAME(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
        (CUgraphExec exec, CUgraphNode node, const struct cudaKernelNodeParams *p), (exec, node, p))

CU_API CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, NEEDS, const struct kernel_v2 *p)
{
    struct cudaKernelNodeParams first;

    return cuGraphAddKernelNode(out, graph, needs, count, first_version(p, &first));
}

CU_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, struct kernel_v2 *p)
{
    const CUresult result = cuGraphKernelNodeGetParams(node, p != NULL ? &p->p : NULL);

    if (result == CUDA_SUCCESS) {
        p->kernel = NULL;
        p->context = NULL;
    }
    return cu_driver_return(result);
}

CU_API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const struct kernel_v2 *p)
{
    struct cudaKernelNodeParams first;

    return cuGraphKernelNodeSetParams(node, first_version(p, &first));
}

CU_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const struct kernel_v2 *p)
{
    struct cudaKernelNodeParams first;

    return cuGraphExecKernelNodeSetParams(exec, node, first_version(p, &first));
}

cudaError_t cudaGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, NEEDS, const struct cudaMemcpy3DParms *p);
cudaError_t cudaGraphMemcpyNodeGetParams(CUgraphNode node, struct cudaMemcpy3DParms *p);
cudaError_t cudaGraphMemcpyNodeSetParams(CUgraphNode node, const struct cudaMemcpy3DParms *p);
cudaError_t cudaGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cudaMemcpy3DParms *p);

CU_API CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, NEEDS, const struct cu_copy_3d *c, CUcontext context)
{
    struct cudaMemcpy3DParms p;
    const CUresult result = cu_copy_of_driver(c, &p);

    (void)context;
    return cu_driver_return(result == CUDA_SUCCESS ? CU_IN_CONTEXT(cudaGraphAddMemcpyNode(out, graph, needs, count, &p)) : result);
}

CU_API CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, struct cu_copy_3d *out)
{
    struct cudaMemcpy3DParms p;
    const CUresult result = out != NULL ? CU_IN_CONTEXT(cudaGraphMemcpyNodeGetParams(node, &p)) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = cu_copy_to_driver(&p);
    return cu_driver_return(result);
}

CU_API CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const struct cu_copy_3d *c)
{
    struct cudaMemcpy3DParms p;
    const CUresult result = cu_copy_of_driver(c, &p);

    return cu_driver_return(result == CUDA_SUCCESS ? CU_IN_CONTEXT(cudaGraphMemcpyNodeSetParams(node, &p)) : result);
}

CU_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cu_copy_3d *c, CUcontext context)
{
    struct cudaMemcpy3DParms p;
    const CUresult result = cu_copy_of_driver(c, &p);

    (void)context;
    return cu_driver_return(result == CUDA_SUCCESS ? CU_IN_CONTEXT(cudaGraphExecMemcpyNodeSetParams(exec, node, &p)) : result);
}

cudaError_t cudaGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, NEEDS, const struct cudaMemsetParams *p);
cudaError_t cudaGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cudaMemsetParams *p);
CU_SAME(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, (CUgraphNode node, struct cudaMemsetParams *p), (node, p))
CU_SAME(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, (CUgraphNode node, const struct cudaMemsetParams *p), (node, p))

CU_API CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, NEEDS, const struct cudaMemsetParams *p, CUcontext context)
{
    (void)context;
    return CU_IN_CONTEXT(cudaGraphAddMemsetNode(out, graph, needs, count, p));
}

CU_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const struct cudaMemsetParams *p,
                                               CUcontext context)
{
    (void)context;
    return CU_IN_CONTEXT(cudaGraphExecMemsetNodeSetParams(exec, node, p));
}

CU_SAME(cuGraphAddHostNode, cudaGraphAddHostNode, (CUgraphNode *out, CUgraph graph, NEEDS, const struct cudaHostNodeParams *p),
        (out, graph, needs, count, p))
CU_SAME(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, (CUgraphNode node, struct cudaHostNodeParams *p), (node, p))
CU_SAME(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, (CUgraphNode node, const struct cudaHostNodeParams *p), (node, p))
CU_SAME(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, (CUgraphExec exec, CUgraphNode node,
                                                                    const struct cudaHostNodeParams *p),
        (exec, node, p))
CU_SAME(cuGraphAddEmptyNode, cudaGraphAddEmptyNode, (CUgraphNode *out, CUgraph graph, NEEDS), (out, graph, needs, count))
CU_SAME(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, (CUgraphNode *out, CUgraph graph, NEEDS, CUgraph child),
        (out, graph, needs, count, child))
CU_SAME(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *out), (node, out))
CU_SAME(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams,
        (CUgraphExec exec, CUgraphNode node, CUgraph child),
        (exec, node, child))
#define EVENT_NODES(NAME) \
    CU_SAME(cuGraphAdd##NAME##Node, cudaGraphAdd##NAME##Node, (CUgraphNode *out, CUgraph graph, NEEDS, CUevent event), \
         (out, graph, needs, count, event)) \
    CU_SAME(cuGraph##NAME##NodeGetEvent, cudaGraph##NAME##NodeGetEvent, (CUgraphNode node, CUevent *out), (node, out)) \
    CU_SAME(cuGraph##NAME##NodeSetEvent, cudaGraph##NAME##NodeSetEvent, (CUgraphNode node, CUevent event), (node, event)) \
    CU_SAME(cuGraphExec##NAME##NodeSetEvent, cudaGraphExec##NAME##NodeSetEvent, \
         (CUgraphExec exec, CUgraphNode node, CUevent event), \
         (exec, node, event))
EVENT_NODES(EventRecord)
EVENT_NODES(EventWait)

/* ---- executable graphs -------------------------------------------------------------------------------------------- */

CU_SAME(cuGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags, (CUgraphExec *out, CUgraph graph, unsigned long long flags),
        (out, graph, flags))
CU_SAME(cuGraphExecGetFlags, cudaGraphExecGetFlags, (CUgraphExec exec, unsigned long long *out), (exec, out))
CU_SAME(cuGraphUpload, cudaGraphUpload, (CUgraphExec exec, CUstream stream), (exec, stream))
CU_SAME(cuGraphLaunch, cudaGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream))
CU_SAME(cuGraphExecDestroy, cudaGraphExecDestroy, (CUgraphExec exec), (exec))
struct cudaGraphExecUpdateResultInfo {
    int result;
    CUgraphNode node, from;
};
CU_SAME(cuGraphExecUpdate_v2, cudaGraphExecUpdate, (CUgraphExec exec, CUgraph graph, struct cudaGraphExecUpdateResultInfo *out),
        (exec, graph, out))

/** The first version of the function. */
CU_API CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node, int *update)
{
    struct cudaGraphExecUpdateResultInfo info = {.result = 0};
    const CUresult result = cuGraphExecUpdate_v2(exec, graph, &info);

    if (node != NULL)
        *node = info.node;
    if (update != NULL)
        *update = info.result;
    return cu_driver_return(result);
}

/** The version of the function without flags. @log only gets a terminating zero, because there is nothing to report. */
CU_API CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log, size_t bytes)
{
    if (node != NULL)
        *node = NULL;
    if (log != NULL && bytes != 0)
        *log = '\0';
    return cuGraphInstantiateWithFlags(out, graph, 0);
}
CU_ALIAS(cuGraphInstantiate_v2, cuGraphInstantiate);
