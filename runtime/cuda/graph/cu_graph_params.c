/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's graphs: functions that add a node of any type, and that set its parameters. */
#include "runtime/cuda/cu_graph_priv.h"

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraph_t);
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, cudaGraph_t);
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *);

/** Gets the work of a node that owns neither graphs nor memory. Errors: cudaErrorNotSupported for semaphores of other interfaces,
 *  cudaErrorInvalidValue for an unknown type. */
static cudaError_t work_of(const struct cudaGraphNodeParams *p, struct cu_work *out)
{
    enum { SIGNAL = 8, WAIT = 9 };

    *out = (struct cu_work){.type = (enum cu_work_type)p->type};
    switch (p->type) {
    case CU_KERNEL: out->kernel = p->kernel; break;
    case CU_COPY: out->copy = p->copy.copy; break;
    case CU_FILL: out->fill = p->fill; break;
    case CU_HOST: out->host = p->host; break;
    case CU_EMPTY: break;
    case CU_WAIT:
    case CU_RECORD: out->event = p->event; break;
    case CU_BATCH: out->batch = p->batch; return cu_is_driver_call() ? cudaSuccess : cudaErrorInvalidValue;
    case SIGNAL:
    case WAIT: return cudaErrorNotSupported;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

CU_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, const void *edges,
                                    size_t count, struct cudaGraphNodeParams *p)
{
    struct cu_work work;
    cudaError_t error;

    if (p == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (!cu_edges_are_plain(edges, count))
        return cu_return(cudaErrorNotSupported);
    switch (p->type) {
    case CU_GRAPH:
        if (p->child.ownership != 0) /* the node would own the graph instead of a copy */
            return cu_return(cudaErrorNotSupported);
        return cudaGraphAddChildGraphNode(out, graph, needs, count, p->child.graph);
    case CU_ALLOCATE: return cu_graph_add_allocation(out, graph, needs, count, &p->allocation);
    case CU_FREE: return cudaGraphAddMemFreeNode(out, graph, needs, count, p->pointer);
    case CU_CONDITION: return cu_node_add_condition(out, graph, needs, count, p);
    default:
        error = work_of(p, &work);
        return error == cudaSuccess ? cu_node_add(out, graph, needs, count, &work) : cu_return(error);
    }
}

/** Returns an error if the parameters @p cannot be set: those of the node's type can, except for memory and conditions. */
static cudaError_t check(cudaGraphNode_t node, const struct cudaGraphNodeParams *p)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (p != NULL && cu_is_node(node) && (int)node->work.type == p->type)
        error = p->type == CU_ALLOCATE || p->type == CU_FREE || p->type == CU_CONDITION ? cudaErrorNotSupported : cudaSuccess;
    if (error == cudaSuccess && p->type == CU_GRAPH)
        error = !cu_is_graph(p->child.graph) || p->child.graph == node->graph                    ? cudaErrorInvalidValue
                : p->child.ownership != 0 || cu_graph_has_memory(p->child.graph)                 ? cudaErrorNotSupported
                                                                                                 : cudaSuccess;
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    struct cu_work work = {.type = CU_GRAPH};
    cudaError_t error;

    rt_lock(); /* until the parameters are copied: another thread may destroy a graph */
    error = check(node, p);
    if (error == cudaSuccess && p->type == CU_GRAPH)
        work.graph = p->child.graph;
    else if (error == cudaSuccess)
        error = work_of(p, &work);
    error = error == cudaSuccess ? cu_node_set(node, &work) : cu_return(error);
    rt_unlock();
    cu_user_objects_end(); /* the former graph of a node may have had the last references */
    return error;
}

CU_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *p)
{
    struct cu_work work;
    cudaError_t error = check(node, p);

    if (error == cudaSuccess && p->type == CU_GRAPH)
        return cudaGraphExecChildGraphNodeSetParams(exec, node, p->child.graph);
    if (error == cudaSuccess)
        error = work_of(p, &work);
    return error == cudaSuccess ? cu_exec_set(exec, node, &work) : cu_return(error);
}
