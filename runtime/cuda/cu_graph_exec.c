/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: their instantiation, their launch, and changes of their nodes. */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>

/** An executable graph. */
struct cu_exec {
    struct cu_exec *next;
    struct cu_graph *graph; /* a copy, whose nodes are in the order of their execution */
    uint64_t flags;
    unsigned runs;          /* number of launches in progress */
    bool destroyed;         /* the program has destroyed it during a launch */
};
enum { AUTO_FREE = 1, DEVICE_LAUNCH = 4, ALL_FLAGS = 15 };

/* All executable graphs. The list is global, because a process has one device. */
static struct cu_exec *execs;

static bool is_exec(const struct cu_exec *exec)
{
    for (const struct cu_exec *e = execs; e != NULL; e = e->next)
        if (e == exec)
            return true;
    cu_trace_handle(exec);
    return false;
}

/** Frees an executable graph, or, during a launch, lets the launch free it. */
static void destroy(struct cu_exec *exec)
{
    for (struct cu_exec **at = &execs; *at != NULL; at = &(*at)->next)
        if (*at == exec) {
            *at = exec->next;
            break;
        }
    exec->destroyed = true;
    if (exec->runs == 0) {
        cu_graph_count_instance(exec->graph, -1);
        cu_graph_free(exec->graph);
        cu_trace_released(exec, exec);
    }
}

void cu_execs_reset(void)
{
    while (execs != NULL)
        destroy(execs);
}

CU_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    struct cu_exec *exec = NULL;
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_graph(graph) && (flags & ~(unsigned long long)ALL_FLAGS) == 0)
        error = (flags & DEVICE_LAUNCH) != 0 || cu_graph_is_instantiated(graph) ? cudaErrorNotSupported : cu_device_error();
    if (error == cudaSuccess) {
        exec = calloc(1, sizeof *exec);
        error = exec != NULL ? cu_graph_copy(graph, &exec->graph) : cudaErrorMemoryAllocation;
    }
    if (error == cudaSuccess) {
        cu_graph_count_instance(exec->graph, 1);
        exec->flags = flags;
        exec->next = execs;
        execs = *out = exec;
        cu_trace_created(exec, CU_THING_EXEC, 0);
    } else {
        free(exec);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(out, graph, flags);
}

struct cudaGraphInstantiateParams {
    unsigned long long flags;
    cudaStream_t upload;
    cudaGraphNode_t node; /* set to the node that causes an error, if one does */
    int result;           /* enum cudaGraphInstantiateResult */
};
CU_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph, struct cudaGraphInstantiateParams *p)
{
    enum { GOOD, BAD };
    cudaError_t error;

    if (p == NULL)
        return cu_return(cudaErrorInvalidValue);
    error = cudaGraphInstantiateWithFlags(out, graph, p->flags);
    p->node = NULL;
    p->result = error == cudaSuccess ? GOOD : BAD;
    return error;
}

CU_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && is_exec(exec)) {
        *out = exec->flags;
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (is_exec(exec)) {
        destroy(exec);
        error = cudaSuccess;
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error = cudaErrorInvalidValue;

    cu_stream_settle(stream);
    rt_lock();
    if (is_exec(exec))
        error = cu_device_error();
    if (error == cudaSuccess && cu_stream_captures(stream)) {
        if (cu_graph_has_memory(exec->graph))
            error = cudaErrorNotSupported;
    } else if (error == cudaSuccess) {
        error = cu_graph_memory_prepare(exec->graph, (exec->flags & AUTO_FREE) != 0);
        cu_conditions_begin(exec->graph);
    }
    if (error == cudaSuccess) {
        exec->runs++;
        error = cu_stream_submit(stream, &(struct cu_work){.type = CU_GRAPH, .graph = exec->graph});
        exec->runs--;
        if (exec->destroyed && exec->runs == 0)
            destroy(exec);
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

/** By CUDA's documentation, this function prepares a launch. Here a launch needs no preparation, so only the arguments are
 *  checked. */
CU_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    cudaError_t error;

    rt_lock();
    error = !is_exec(exec) ? cudaErrorInvalidValue : !cu_is_stream(stream) ? cudaErrorInvalidResourceHandle : cu_device_error();
    rt_unlock();
    return cu_return(error);
}

/* ---- changes ------------------------------------------------------------------------------------------------------- */

/** Finds the copy of @node in a graph, or in a graph that belongs to one of its nodes. Returns NULL if there is no copy. */
static struct cu_node *find(const struct cu_graph *graph, const struct cu_node *node)
{
    struct cu_node *found = NULL;

    for (size_t i = 0; i < graph->nodes.count && found == NULL; i++) {
        struct cu_node *n = graph->nodes.node[i];
        struct cu_graph *const *inner;
        size_t count = cu_work_graphs(&n->work, &inner);

        found = n->origin == node->id ? n : NULL;
        while (count-- != 0 && found == NULL)
            found = find(inner[count], node);
    }
    return found;
}

/** Returns true if both graphs have nodes of the same types with the same dependencies. Otherwise sets *@different to a node of
 *  @b, or to NULL, and *@result to a number of enum cudaGraphExecUpdateResult. */
static bool are_alike(const struct cu_graph *a, const struct cu_graph *b, int *result, uint64_t *different)
{
    enum { TOPOLOGY = 2, TYPE, PARAMETERS = 5, NOT_SUPPORTED };

    *different = 0;
    *result = TOPOLOGY;
    if (a->nodes.count != b->nodes.count)
        return false;
    for (size_t i = 0; i < a->nodes.count; i++) {
        const struct cu_node *m = a->nodes.node[i], *n = b->nodes.node[i];

        *different = n->origin;
        if (m->work.type != n->work.type) {
            *result = TYPE;
            return false;
        }
        struct cu_graph *const *x, *const *y;
        size_t count = cu_work_graphs(&m->work, &x);
        if (m->needs.count != n->needs.count || cu_work_graphs(&n->work, &y) != count)
            return false;
        while (count-- != 0)
            if (!are_alike(x[count], y[count], result, different))
                return false;
        if (m->work.type == CU_ALLOCATE || m->work.type == CU_FREE ||
            (m->work.type == CU_CONDITION && m->work.choice.condition != n->work.choice.condition)) {
            *result = NOT_SUPPORTED;
            return false;
        }
        if (m->work.type == CU_BATCH && !cu_batches_are_alike(&m->work.batch, &n->work.batch)) {
            *result = PARAMETERS;
            return false;
        }
        for (size_t k = 0; k < a->nodes.count; k++)
            if (cu_nodes_have(&m->needs, a->nodes.node[k]) != cu_nodes_have(&n->needs, b->nodes.node[k]))
                return false;
    }
    *different = 0;
    return true;
}

/** Exchanges the work of two graphs that have the same structure (are_alike). Each node keeps its `origin`. */
static void exchange(struct cu_graph *a, struct cu_graph *b)
{
    for (size_t i = 0; i < a->nodes.count; i++) {
        struct cu_node *m = a->nodes.node[i], *n = b->nodes.node[i];

        struct cu_graph *const *x, *const *y;
        size_t count = cu_work_graphs(&m->work, &x);

        if (count != 0) {
            (void)cu_work_graphs(&n->work, &y);
            while (count-- != 0)
                exchange(x[count], y[count]);
        } else {
            const struct cu_work work = m->work;

            m->work = n->work;
            n->work = work;
        }
    }
}

cudaError_t cu_exec_set(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cu_work *work)
{
    struct cu_node *found = NULL;
    struct cu_work copy;
    cudaError_t error = cudaErrorInvalidValue;
    uint64_t different;
    int result;

    rt_lock();
    if (is_exec(exec) && cu_is_node(node))
        found = find(exec->graph, node);
    if (found != NULL && found->work.type == work->type)
        error = cu_work_check(work);
    if (error == cudaSuccess && work->type == CU_BATCH && !cu_batches_are_alike(&found->work.batch, &work->batch))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = cu_work_copy(work, &copy);
    if (error == cudaSuccess && work->type == CU_GRAPH) {
        if (are_alike(found->work.graph, copy.graph, &result, &different))
            exchange(found->work.graph, copy.graph);
        else
            error = cudaErrorGraphExecUpdateFailure;
        cu_graph_free(copy.graph);
    } else if (error == cudaSuccess) {
        copy.attributes = found->work.attributes;
        cu_work_free(&found->work);
        found->work = copy;
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

#define SETTERS(NAME, TYPE, MEMBER, PARAMETERS) \
    CU_API cudaError_t cudaGraphExec##NAME##NodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, \
                                                          const struct PARAMETERS *p) \
    { \
        return p != NULL ? cu_exec_set(exec, node, &(struct cu_work){.type = TYPE, .MEMBER = *p}) : cu_return(cudaErrorInvalidValue); \
    }
SETTERS(Kernel, CU_KERNEL, kernel, cudaKernelNodeParams)
SETTERS(Memcpy, CU_COPY, copy, cudaMemcpy3DParms)
SETTERS(Memset, CU_FILL, fill, cudaMemsetParams)
SETTERS(Host, CU_HOST, host, cudaHostNodeParams)

CU_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                                      size_t bytes, int kind)
{
    return cu_exec_set(exec, node, &(struct cu_work){.type = CU_COPY, .copy = cu_copy_of(to, bytes, from, bytes, bytes, 1, kind)});
}

/** Sets the parameters of a node that copies to a variable (@to is NULL) or from a variable (@from is NULL). */
static cudaError_t set_symbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol, void *to, const void *from,
                              size_t bytes, size_t offset, int kind)
{
    struct cu_work work = {.type = CU_COPY};
    cudaError_t error;

    rt_lock();
    error = cu_copy_symbol(symbol, to, from, bytes, offset, kind, &work.copy);
    rt_unlock();
    return error == cudaSuccess ? cu_exec_set(exec, node, &work) : cu_return(error);
}

CU_API cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                            const void *from, size_t bytes, size_t offset, int kind)
{
    return set_symbol(exec, node, symbol, NULL, from, bytes, offset, kind);
}

CU_API cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                              const void *symbol, size_t bytes, size_t offset, int kind)
{
    return set_symbol(exec, node, symbol, to, NULL, bytes, offset, kind);
}

CU_API cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return cu_exec_set(exec, node, &(struct cu_work){.type = CU_RECORD, .event = event});
}

CU_API cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)
{
    return cu_exec_set(exec, node, &(struct cu_work){.type = CU_WAIT, .event = event});
}

CU_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child)
{
    bool good;

    rt_lock();
    good = cu_is_graph(child);
    rt_unlock();
    return good ? cu_exec_set(exec, node, &(struct cu_work){.type = CU_GRAPH, .graph = child}) : cu_return(cudaErrorInvalidValue);
}

/** Finds the copy of a node that can be disabled; locked. */
static cudaError_t find_switch(cudaGraphExec_t exec, cudaGraphNode_t node, struct cu_node **out)
{
    *out = is_exec(exec) && cu_is_node(node) ? find(exec->graph, node) : NULL;
    return *out != NULL && (*out)->work.type <= CU_FILL ? cudaSuccess : cudaErrorInvalidValue; /* kernels, copies and fills */
}

CU_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
    struct cu_node *found;
    cudaError_t error;

    rt_lock();
    error = find_switch(exec, node, &found);
    if (error == cudaSuccess)
        found->disabled = enabled == 0;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *out)
{
    struct cu_node *found;
    cudaError_t error;

    rt_lock();
    error = out != NULL ? find_switch(exec, node, &found) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *out = !found->disabled;
    rt_unlock();
    return cu_return(error);
}

/** Result of cudaGraphExecUpdate. */
struct cudaGraphExecUpdateResultInfo {
    int result;
    cudaGraphNode_t node, from;
};

CU_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, struct cudaGraphExecUpdateResultInfo *out)
{
    enum { ERROR = 1 };
    struct cudaGraphExecUpdateResultInfo info = {.result = ERROR};
    struct cu_graph *copy = NULL;
    cudaError_t error = cudaErrorInvalidValue;
    uint64_t different = 0;

    rt_lock();
    if (is_exec(exec) && cu_is_graph(graph))
        error = cu_graph_copy(graph, &copy);
    if (error == cudaSuccess && are_alike(exec->graph, copy, &info.result, &different)) {
        struct cu_reference *const references = exec->graph->references;

        exchange(exec->graph, copy);
        exec->graph->references = copy->references;
        copy->references = references;
        info.result = 0;
    } else if (error == cudaSuccess) {
        error = cudaErrorGraphExecUpdateFailure;
        for (size_t i = 0; i < graph->nodes.count; i++)
            if (graph->nodes.node[i]->id == different)
                info.node = graph->nodes.node[i];
    }
    cu_graph_free(copy);
    if (out != NULL)
        *out = info;
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}
