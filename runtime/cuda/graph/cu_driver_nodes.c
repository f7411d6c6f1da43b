/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: nodes of any type, of memory, and of operations on values; and the functions that describe and change nodes,
 * implemented with the functions of the runtime. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <string.h>

#define NEEDS const cudaGraphNode_t *needs, size_t count

CU_SAME(cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute, (cudaGraphNode_t node, int id, const void *value), (node, id, value))
CU_SAME(cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, (cudaGraphNode_t node, int id, void *out), (node, id, out))
CU_SAME(cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t to, cudaGraphNode_t from), (to, from))
CU_SAME(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
        (exec, node, enabled))
CU_SAME(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *out), (exec, node, out))
CU_SAME(cuGraphDebugDotPrint, cudaGraphDebugDotPrint, (cudaGraph_t graph, const char *path, unsigned flags), (graph, path, flags))
CU_SAME(cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, (cudaGraphNode_t *out, cudaGraph_t graph, NEEDS, struct cudaMemAllocNodeParams *p),
        (out, graph, needs, count, p))
CU_SAME(cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, (cudaGraphNode_t node, struct cudaMemAllocNodeParams *p), (node, p))
CU_SAME(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode, (cudaGraphNode_t *out, cudaGraph_t graph, NEEDS, void *pointer),
        (out, graph, needs, count, pointer))
CU_SAME(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *out), (node, out))
CU_SAME(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, (CUdevice device), (device))
CU_SAME(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, (CUdevice device, int attribute, void *out), (device, attribute, out))
CU_SAME(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute, (CUdevice device, int attribute, void *value),
        (device, attribute, value))

cudaError_t cudaGraphConditionalHandleCreate(unsigned long long *out, cudaGraph_t graph, unsigned initial, unsigned flags);

CU_API CUresult cuGraphConditionalHandleCreate(unsigned long long *out, cudaGraph_t graph, CUcontext context, unsigned initial, unsigned flags)
{
    (void)context;
    return CU_IN_CONTEXT(cudaGraphConditionalHandleCreate(out, graph, initial, flags));
}

/* ---- nodes of any type ----------------------------------------------------------------------------------------------- */

/** Parameters of a node of any type. Where the members are those of the runtime's structure, `same` contains them. */
struct node_params {
    int type, reserved[3];
    union {
        struct {
            struct cudaKernelNodeParams p;
            CUfunction kernel; /* used if p.stub is NULL */
            CUcontext context;
        } kernel;
        struct {
            int flags, reserved;
            CUcontext context;
            struct cu_copy_3d copy;
        } copy;
        long long same[29];
    };
    long long reserved_end;
};
_Static_assert(sizeof(struct node_params) == sizeof(struct cudaGraphNodeParams) && sizeof(struct node_params) == 256, "CUDA's layout");

/** Converts parameters to those of the runtime. */
static CUresult convert(const struct node_params *p, struct cudaGraphNodeParams *out)
{
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct cudaGraphNodeParams){.type = p->type};
    if (p->type == CU_KERNEL) {
        out->kernel = p->kernel.p;
        if (out->kernel.stub == NULL)
            out->kernel.stub = p->kernel.kernel;
        return CUDA_SUCCESS;
    }
    if (p->type == CU_COPY)
        return cu_copy_of_driver(&p->copy.copy, &out->copy.copy);
    memcpy(out->room, p->same, sizeof p->same);
    return CUDA_SUCCESS;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, const void *edges, size_t count,
                             struct cudaGraphNodeParams *p);
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p);
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p);

CU_API CUresult cuGraphAddNode_v2(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, const void *edges, size_t count,
                                  struct node_params *p)
{
    struct cudaGraphNodeParams q;
    CUresult result = convert(p, &q);

    if (result == CUDA_SUCCESS)
        result = CU_IN_CONTEXT(cudaGraphAddNode(out, graph, needs, edges, count, &q));
    if (result == CUDA_SUCCESS && (p->type == CU_ALLOCATE || p->type == CU_CONDITION)) /* the call sets a member */
        memcpy(p->same, q.room, sizeof p->same);
    return cu_driver_return(result);
}

/** The first version of the function has no parameter for the kinds of edges. */
CU_API CUresult cuGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, NEEDS, struct node_params *p)
{
    return cuGraphAddNode_v2(out, graph, needs, NULL, count, p);
}

CU_API CUresult cuGraphNodeSetParams(cudaGraphNode_t node, const struct node_params *p)
{
    struct cudaGraphNodeParams q;
    const CUresult result = convert(p, &q);

    return cu_driver_return(result == CUDA_SUCCESS ? CU_IN_CONTEXT(cudaGraphNodeSetParams(node, &q)) : result);
}

CU_API CUresult cuGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct node_params *p)
{
    struct cudaGraphNodeParams q;
    const CUresult result = convert(p, &q);

    return cu_driver_return(result == CUDA_SUCCESS ? CU_IN_CONTEXT(cudaGraphExecNodeSetParams(exec, node, &q)) : result);
}

/* ---- operations on values -------------------------------------------------------------------------------------------- */

CU_API CUresult cuGraphAddBatchMemOpNode(cudaGraphNode_t *out, cudaGraph_t graph, NEEDS, const struct cu_batch *p)
{
    if (p == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    return CU_IN_CONTEXT(cu_node_add(out, graph, needs, count, &(struct cu_work){.type = CU_BATCH, .batch = *p}));
}

CU_API CUresult cuGraphBatchMemOpNodeGetParams(cudaGraphNode_t node, struct cu_batch *out)
{
    return CU_IN_CONTEXT(cu_node_get(node, CU_BATCH, sizeof *out, out));
}

CU_API CUresult cuGraphBatchMemOpNodeSetParams(cudaGraphNode_t node, const struct cu_batch *p)
{
    if (p == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    return CU_IN_CONTEXT(cu_node_set(node, &(struct cu_work){.type = CU_BATCH, .batch = *p}));
}

CU_API CUresult cuGraphExecBatchMemOpNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cu_batch *p)
{
    if (p == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    return CU_IN_CONTEXT(cu_exec_set(exec, node, &(struct cu_work){.type = CU_BATCH, .batch = *p}));
}
