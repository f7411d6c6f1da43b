/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's graphs: their nodes, the work of these nodes, and their dependencies. */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

/* All graphs that the program may use, and the id of the newest node. The list is global, because a process has one device. */
static struct cu_graph *graphs;
static uint64_t last_id;

/* ---- sets of nodes ------------------------------------------------------------------------------------------------ */

bool cu_nodes_have(const struct cu_nodes *set, const struct cu_node *node)
{
    for (size_t i = set->count; i-- > 0;) /* most requests are for one of the newest nodes */
        if (set->node[i] == node)
            return true;
    return false;
}

/** Appends a node. Returns false if the host has no memory. */
static bool append(struct cu_nodes *set, struct cu_node *node)
{
    if (set->count == set->room) {
        const size_t room = 2 * set->room + 4;
        struct cu_node **more = realloc(set->node, room * sizeof(struct cu_node *));

        if (more == NULL)
            return false;
        set->node = more;
        set->room = room;
    }
    set->node[set->count++] = node;
    return true;
}

bool cu_nodes_add(struct cu_nodes *set, struct cu_node *node)
{
    return cu_nodes_have(set, node) || append(set, node);
}

bool cu_nodes_add_all(struct cu_nodes *set, const struct cu_nodes *more)
{
    for (size_t i = 0; i < more->count; i++)
        if (!cu_nodes_add(set, more->node[i]))
            return false;
    return true;
}

static void take_out(struct cu_nodes *set, const struct cu_node *node)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->node[i] == node) {
            memmove(&set->node[i], &set->node[i + 1], (set->count - i - 1) * sizeof(struct cu_node *));
            set->count--;
            return;
        }
}

void cu_nodes_clear(struct cu_nodes *set)
{
    free(set->node);
    *set = (struct cu_nodes){.node = NULL};
}

/* ---- work --------------------------------------------------------------------------------------------------------- */

cudaError_t cu_work_check(const struct cu_work *w)
{
    struct cu_function *f;
    lanewise_shape shape;

    switch (w->type) {
    case CU_KERNEL: return cu_kernel_check(&w->kernel, &f, &shape);
    case CU_COPY: return cu_copy(&w->copy, true);
    case CU_FILL: return cu_fill(&w->fill, true);
    case CU_HOST: return w->host.function != NULL ? cudaSuccess : cudaErrorInvalidValue;
    case CU_WAIT:
    case CU_RECORD: return cu_is_event(w->event) ? cudaSuccess : cudaErrorInvalidValue;
    case CU_BATCH: return cu_batch_check(&w->batch);
    default: return cudaSuccess;
    }
}

cudaError_t cu_work_run(const struct cu_work *w)
{
    switch (w->type) {
    case CU_ALLOCATE: return cu_graph_memory_allocate(w->memory);
    case CU_FREE: return cu_graph_memory_free(w->pointer);
    case CU_CONDITION: return cu_choice_run(&w->choice);
    case CU_BATCH: return cu_batch_run(&w->batch);
    case CU_KERNEL: {
        const cudaError_t error = cu_attributes_cooperate(&w->attributes) ? cu_cooperative_check(&w->kernel) : cudaSuccess;

        return error == cudaSuccess ? cu_kernel_run(&w->kernel) : error;
    }
    case CU_COPY: return cu_copy(&w->copy, false);
    case CU_FILL: return cu_fill(&w->fill, false);
    case CU_GRAPH: return cu_graph_run(w->graph);
    case CU_HOST: {
        const struct cudaHostNodeParams host = w->host;

        rt_unlock(); /* the function may call functions of the runtime in other threads, and wait for them */
        host.function(host.user);
        rt_lock();
        return cudaSuccess;
    }
    case CU_RECORD:
        if (!cu_is_event(w->event)) /* the program has destroyed the event */
            return cudaErrorInvalidValue;
        cu_event_record(w->event);
        return cudaSuccess;
    default: return cudaSuccess; /* a wait for an event needs no action, because all work before the event is complete */
    }
}

size_t cu_work_graphs(const struct cu_work *w, struct cu_graph *const **out)
{
    *out = w->type == CU_CONDITION ? w->choice.graphs : &w->graph;
    return w->type == CU_CONDITION ? w->choice.count : w->type == CU_GRAPH ? 1 : 0;
}

/** Copies the graphs of a conditional node, or creates them. */
static cudaError_t copy_choice(const struct cu_choice *from, struct cu_choice *out)
{
    cudaError_t error = cudaSuccess;
    unsigned done = 0;

    out->graphs = calloc(from->count, sizeof(struct cu_graph *));
    if (out->graphs == NULL)
        return cudaErrorMemoryAllocation;
    for (; done < from->count && error == cudaSuccess; done++)
        error = from->graphs != NULL ? cu_graph_copy(from->graphs[done], &out->graphs[done]) : cu_graph_new(&out->graphs[done]);
    if (error == cudaSuccess) {
        cu_condition_retain(out->condition);
        return cudaSuccess;
    }
    while (done-- != 0)
        cu_graph_free(out->graphs[done]);
    free(out->graphs);
    return error;
}

cudaError_t cu_work_copy(const struct cu_work *w, struct cu_work *out)
{
    *out = *w;
    if (w->type == CU_CONDITION)
        return copy_choice(&w->choice, &out->choice);
    if (w->type == CU_BATCH)
        return cu_batch_copy(&w->batch, &out->batch);
    if (w->type == CU_ALLOCATE)
        cu_graph_memory_retain(w->memory);
    if (w->type == CU_GRAPH)
        return cu_graph_copy(w->graph, &out->graph);
    if (w->type == CU_KERNEL) {
        out->kernel.extra = NULL;
        return cu_kernel_arguments(&w->kernel, &out->kernel.arguments);
    }
    return cudaSuccess;
}

void cu_work_free(struct cu_work *w)
{
    if (w->type == CU_GRAPH)
        cu_graph_free(w->graph);
    if (w->type == CU_KERNEL)
        free(w->kernel.arguments);
    if (w->type == CU_BATCH)
        free(w->batch.list);
    if (w->type == CU_ALLOCATE)
        cu_graph_memory_release(w->memory);
    if (w->type == CU_CONDITION) {
        for (unsigned i = 0; i < w->choice.count; i++)
            cu_graph_free(w->choice.graphs[i]);
        free(w->choice.graphs);
        cu_condition_release(w->choice.condition);
    }
}

/* ---- graphs ------------------------------------------------------------------------------------------------------- */

bool cu_is_graph(const struct cu_graph *graph)
{
    for (const struct cu_graph *g = graphs; g != NULL; g = g->next)
        if (g == graph)
            return true;
    cu_trace_handle(graph);
    return false;
}

bool cu_is_node(const struct cu_node *node)
{
    for (const struct cu_graph *g = graphs; g != NULL && node != NULL; g = g->next)
        if (cu_nodes_have(&g->nodes, node))
            return true;
    return false;
}

bool cu_graph_has(const struct cu_graph *graph, const cudaGraphNode_t *nodes, size_t count)
{
    if (nodes == NULL && count != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!cu_nodes_have(&graph->nodes, nodes[i]))
            return false;
    return true;
}

bool cu_edges_are_plain(const void *edges, size_t count)
{
    enum { EDGE_BYTES = 8 };
    const uint8_t *bytes = edges;

    for (size_t i = 0; bytes != NULL && i < count * EDGE_BYTES; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

cudaError_t cu_graph_new(struct cu_graph **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

/** Makes the graphs that belong to work usable by the program. */
static void publish_graphs(const struct cu_work *work)
{
    struct cu_graph *const *inner;
    const size_t count = cu_work_graphs(work, &inner);

    for (size_t i = 0; i < count; i++) {
        inner[i]->belongs = true;
        cu_graph_publish(inner[i]);
    }
}

void cu_graph_publish(struct cu_graph *graph)
{
    graph->next = graphs;
    graphs = graph;
    for (size_t i = 0; i < graph->nodes.count; i++)
        publish_graphs(&graph->nodes.node[i]->work);
}

static void free_node(struct cu_node *n)
{
    cu_work_free(&n->work);
    cu_nodes_clear(&n->needs);
    free(n);
}

void cu_graph_free(struct cu_graph *graph)
{
    if (graph == NULL)
        return;
    cu_capture_forget_graph(graph);
    cu_conditions_forget(graph);
    cu_references_end(graph);
    for (struct cu_graph **at = &graphs; *at != NULL; at = &(*at)->next)
        if (*at == graph) {
            *at = graph->next;
            break;
        }
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.node[i]);
    cu_nodes_clear(&graph->nodes);
    cu_trace_released(graph, graph);
}

void cu_graphs_reset(void)
{
    for (struct cu_graph *g = graphs; g != NULL;) {
        if (g->belongs) {
            g = g->next;
        } else {
            cu_graph_free(g); /* also frees the graphs that belong to its nodes */
            g = graphs;
        }
    }
}

/** Adds a node whose work is already a copy. The node owns the work. */
static cudaError_t add_owned(struct cu_graph *graph, const struct cu_nodes *needs, const struct cu_work *work,
                             struct cu_node **out)
{
    struct cu_node *n = calloc(1, sizeof *n);

    if (n == NULL || !cu_nodes_add_all(&n->needs, needs) || !append(&graph->nodes, n)) {
        if (n != NULL)
            cu_nodes_clear(&n->needs);
        free(n);
        return cudaErrorMemoryAllocation;
    }
    n->graph = graph;
    n->work = *work;
    n->id = ++last_id;
    *out = n;
    return cudaSuccess;
}

cudaError_t cu_graph_add(struct cu_graph *graph, const struct cu_nodes *needs, const struct cu_work *work, struct cu_node **out)
{
    struct cu_work copy;
    cudaError_t error = cu_work_copy(work, &copy);

    if (error != cudaSuccess)
        return error;
    error = add_owned(graph, needs, &copy, out);
    if (error != cudaSuccess)
        cu_work_free(&copy);
    else if (cu_is_graph(graph))
        publish_graphs(&copy);
    return error;
}

/** Returns true if all nodes on which @n depends are marked. */
static bool is_ready(const struct cu_node *n)
{
    for (size_t i = 0; i < n->needs.count; i++)
        if (!n->needs.node[i]->marked)
            return false;
    return true;
}

/** Appends a copy of a node to a copied graph, which has the copies of the nodes on which it depends. */
static cudaError_t copy_node(const struct cu_node *n, struct cu_graph *to)
{
    struct cu_nodes needs = {.node = NULL};
    struct cu_node *made;
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < n->needs.count && error == cudaSuccess; i++)
        for (size_t k = to->nodes.count; k-- > 0;)
            if (to->nodes.node[k]->origin == n->needs.node[i]->id) {
                error = cu_nodes_add(&needs, to->nodes.node[k]) ? cudaSuccess : cudaErrorMemoryAllocation;
                break;
            }
    if (error == cudaSuccess)
        error = cu_graph_add(to, &needs, &n->work, &made);
    if (error == cudaSuccess) {
        made->origin = n->id;
        made->disabled = n->disabled;
    }
    cu_nodes_clear(&needs);
    return error;
}

cudaError_t cu_graph_copy(const struct cu_graph *graph, struct cu_graph **out)
{
    struct cu_graph *made;
    cudaError_t error = cu_graph_new(&made);
    size_t before = SIZE_MAX;

    for (size_t i = 0; i < graph->nodes.count; i++)
        graph->nodes.node[i]->marked = false;
    /* Each round copies the nodes whose dependencies are copied. There is one round, unless a node depends on a later one. */
    while (error == cudaSuccess && made->nodes.count != graph->nodes.count && made->nodes.count != before) {
        before = made->nodes.count;
        for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess; i++)
            if (!graph->nodes.node[i]->marked && is_ready(graph->nodes.node[i])) {
                error = copy_node(graph->nodes.node[i], made);
                graph->nodes.node[i]->marked = true;
            }
    }
    if (error == cudaSuccess && made->nodes.count != graph->nodes.count)
        error = cudaErrorInvalidValue; /* nodes depend on each other in a cycle */
    if (error == cudaSuccess)
        error = cu_references_copy(graph, made);
    if (error == cudaSuccess)
        *out = made;
    else
        cu_graph_free(made);
    return error;
}

cudaError_t cu_graph_run(const struct cu_graph *graph)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess && !rt_stopped(); i++)
        error = graph->nodes.node[i]->disabled ? cudaSuccess : cu_work_run(&graph->nodes.node[i]->work);
    return error;
}

/* ---- functions of the program: graphs -------------------------------------------------------------------------------- */

CU_API cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags)
{
    cudaError_t error;

    if (out == NULL || flags != 0)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_graph_new(out);
    if (error == cudaSuccess) {
        cu_graph_publish(*out);
        cu_trace_created(*out, CU_THING_GRAPH, 0);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (cu_is_graph(graph) && !graph->belongs && !graph->captures) {
        cu_graph_free(graph);
        error = cudaSuccess;
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_graph(graph)) /* memory has one address, so it cannot belong to two graphs of the program */
        error = cu_graph_has_memory(graph) ? cudaErrorNotSupported : cu_graph_copy(graph, out);
    if (error == cudaSuccess) {
        cu_graph_publish(*out);
        cu_trace_created(*out, CU_THING_GRAPH, 0);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t clone)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    for (size_t i = 0; out != NULL && cu_is_node(node) && cu_is_graph(clone) && i < clone->nodes.count; i++)
        if (clone->nodes.node[i]->origin == node->id) {
            *out = clone->nodes.node[i];
            error = cudaSuccess;
        }
    rt_unlock();
    return cu_return(error);
}

/** Writes nodes to the program's array, or their number to *@count if @out is NULL. */
static cudaError_t list(const struct cu_nodes *nodes, cudaGraphNode_t *out, size_t *count)
{
    for (size_t i = 0; out != NULL && i < *count; i++)
        out[i] = i < nodes->count ? nodes->node[i] : NULL;
    if (out == NULL || *count > nodes->count)
        *count = nodes->count;
    return cudaSuccess;
}

CU_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    cudaError_t error;

    rt_lock();
    error = count != NULL && cu_is_graph(graph) ? list(&graph->nodes, nodes, count) : cudaErrorInvalidValue;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    struct cu_nodes roots = {.node = NULL};
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (count != NULL && cu_is_graph(graph)) {
        error = cudaSuccess;
        for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess; i++)
            if (graph->nodes.node[i]->needs.count == 0 && !append(&roots, graph->nodes.node[i]))
                error = cudaErrorMemoryAllocation;
    }
    if (error == cudaSuccess)
        error = list(&roots, nodes, count);
    rt_unlock();
    cu_nodes_clear(&roots);
    return cu_return(error);
}

/** Writes the edges of a graph to arrays: all, those to the node @to, or those from the node @from. */
static cudaError_t list_edges(const struct cu_graph *graph, const struct cu_node *from, const struct cu_node *to,
                              cudaGraphNode_t *out_from, cudaGraphNode_t *out_to, uint64_t *edges, size_t *count)
{
    const bool fills = out_from != NULL || out_to != NULL;
    size_t found = 0;

    for (size_t i = 0; i < graph->nodes.count; i++)
        for (size_t k = 0; k < graph->nodes.node[i]->needs.count; k++) {
            struct cu_node *a = graph->nodes.node[i]->needs.node[k], *b = graph->nodes.node[i];

            if ((from != NULL && a != from) || (to != NULL && b != to))
                continue;
            if (fills && found < *count) {
                if (out_from != NULL)
                    out_from[found] = a;
                if (out_to != NULL)
                    out_to[found] = b;
                if (edges != NULL)
                    edges[found] = 0;
            }
            found++;
        }
    for (size_t i = found; fills && i < *count; i++) {
        if (out_from != NULL)
            out_from[i] = NULL;
        if (out_to != NULL)
            out_to[i] = NULL;
    }
    if (!fills || *count > found)
        *count = found;
    return cudaSuccess;
}

CU_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, uint64_t *edges,
                                     size_t *count)
{
    cudaError_t error;

    rt_lock();
    error = count != NULL && (from == NULL) == (to == NULL) && cu_is_graph(graph)
                ? list_edges(graph, NULL, NULL, from, to, edges, count) : cudaErrorInvalidValue;
    rt_unlock();
    return cu_return(error);
}

/** Writes the nodes on which @node depends or, if @dependent is true, those that depend on @node. */
static cudaError_t list_neighbours(cudaGraphNode_t node, bool dependent, cudaGraphNode_t *out, uint64_t *edges, size_t *count)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (count != NULL && cu_is_node(node))
        error = dependent ? list_edges(node->graph, node, NULL, NULL, out, edges, count)
                          : list_edges(node->graph, NULL, node, out, NULL, edges, count);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out, uint64_t *edges, size_t *count)
{
    return list_neighbours(node, false, out, edges, count);
}

CU_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out, uint64_t *edges, size_t *count)
{
    return list_neighbours(node, true, out, edges, count);
}

CU_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                            const void *edges, size_t count)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (cu_is_graph(graph) && cu_graph_has(graph, from, count) && cu_graph_has(graph, to, count))
        error = cu_edges_are_plain(edges, count) ? cudaSuccess : cudaErrorNotSupported;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        if (from[i] == to[i] || cu_nodes_have(&to[i]->needs, from[i]))
            error = cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cu_nodes_add(&to[i]->needs, from[i]) ? cudaSuccess : cudaErrorMemoryAllocation;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                               const void *edges, size_t count)
{
    cudaError_t error = cudaErrorInvalidValue;

    (void)edges; /* there are no two edges between the same nodes */
    rt_lock();
    if (cu_is_graph(graph) && cu_graph_has(graph, from, count) && cu_graph_has(graph, to, count))
        error = cu_graph_has_memory(graph) ? cudaErrorNotSupported : cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cu_nodes_have(&to[i]->needs, from[i]) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        take_out(&to[i]->needs, from[i]);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (cu_is_node(node) && cu_graph_has_memory(node->graph)) {
        error = cudaErrorNotSupported;
    } else if (cu_is_node(node) && !node->graph->captures && !node->graph->belongs) {
        struct cu_graph *graph = node->graph;

        take_out(&graph->nodes, node);
        for (size_t i = 0; i < graph->nodes.count; i++)
            take_out(&graph->nodes.node[i]->needs, node);
        free_node(node);
        error = cudaSuccess;
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_node(node)) {
        *out = (int)node->work.type;
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

/* ---- functions of the program: nodes --------------------------------------------------------------------------------- */

cudaError_t cu_node_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                        const struct cu_work *work)
{
    struct cu_nodes set = {.node = NULL};
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_graph(graph) && cu_graph_has(graph, needs, count))
        error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_work_check(work);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cu_nodes_have(&set, needs[i]) ? cudaErrorInvalidValue
                : append(&set, needs[i])      ? cudaSuccess
                                              : cudaErrorMemoryAllocation;
    if (error == cudaSuccess)
        error = cu_graph_add(graph, &set, work, out);
    rt_unlock();
    cu_nodes_clear(&set);
    return cu_return(error);
}

cudaError_t cu_node_get(cudaGraphNode_t node, enum cu_work_type type, size_t bytes, void *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_node(node) && node->work.type == type) {
        memcpy(out, &node->work.kernel, bytes); /* all members of the union begin at this address */
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

cudaError_t cu_node_set(cudaGraphNode_t node, const struct cu_work *work)
{
    struct cu_work copy;
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (cu_is_node(node) && node->work.type == work->type)
        error = cu_work_check(work);
    if (error == cudaSuccess)
        error = cu_work_copy(work, &copy);
    if (error == cudaSuccess) {
        copy.attributes = node->work.attributes;
        cu_work_free(&node->work);
        node->work = copy;
        publish_graphs(&node->work);
    }
    rt_unlock();
    return cu_return(error);
}

/* Functions that add a node of one type, and that get and set its parameters. */
#define NODES(NAME, TYPE, MEMBER, PARAMETERS) \
    CU_API cudaError_t cudaGraphAdd##NAME##Node(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, \
                                                size_t count, const struct PARAMETERS *p) \
    { \
        return p != NULL ? cu_node_add(out, graph, needs, count, &(struct cu_work){.type = TYPE, .MEMBER = *p}) \
            : cu_return(cudaErrorInvalidValue); \
    } \
    CU_API cudaError_t cudaGraph##NAME##NodeGetParams(cudaGraphNode_t node, struct PARAMETERS *p) \
    { \
        return cu_node_get(node, TYPE, sizeof *p, p); \
    } \
    CU_API cudaError_t cudaGraph##NAME##NodeSetParams(cudaGraphNode_t node, const struct PARAMETERS *p) \
    { \
        return p != NULL ? cu_node_set(node, &(struct cu_work){.type = TYPE, .MEMBER = *p}) : cu_return(cudaErrorInvalidValue); \
    }
NODES(Kernel, CU_KERNEL, kernel, cudaKernelNodeParams)
NODES(Memcpy, CU_COPY, copy, cudaMemcpy3DParms)
NODES(Memset, CU_FILL, fill, cudaMemsetParams)
NODES(Host, CU_HOST, host, cudaHostNodeParams)

#define EVENT_NODES(NAME, TYPE) \
    CU_API cudaError_t cudaGraphAdd##NAME##Node(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, \
                                                size_t count, cudaEvent_t event) \
    { \
        return cu_node_add(out, graph, needs, count, &(struct cu_work){.type = TYPE, .event = event}); \
    } \
    CU_API cudaError_t cudaGraph##NAME##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *out) \
    { \
        return cu_node_get(node, TYPE, sizeof *out, out); \
    } \
    CU_API cudaError_t cudaGraph##NAME##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) \
    { \
        return cu_node_set(node, &(struct cu_work){.type = TYPE, .event = event}); \
    }
EVENT_NODES(EventRecord, CU_RECORD)
EVENT_NODES(EventWait, CU_WAIT)

CU_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count)
{
    return cu_node_add(out, graph, needs, count, &(struct cu_work){.type = CU_EMPTY});
}

CU_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                              cudaGraph_t child)
{
    cudaError_t error;

    rt_lock(); /* until the graph is copied: another thread may destroy it */
    error = !cu_is_graph(child) || child == graph ? cudaErrorInvalidValue
            : cu_graph_has_memory(child)          ? cudaErrorNotSupported
                                                  : cudaSuccess;
    error = error == cudaSuccess ? cu_node_add(out, graph, needs, count, &(struct cu_work){.type = CU_GRAPH, .graph = child})
                                 : cu_return(error);
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *out)
{
    return cu_node_get(node, CU_GRAPH, sizeof *out, out);
}

CU_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                            void *to, const void *from, size_t bytes, int kind)
{
    return cu_node_add(out, graph, needs, count, &(struct cu_work){.type = CU_COPY,
                                                           .copy = cu_copy_of(to, bytes, from, bytes, bytes, 1, kind)});
}

CU_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes, int kind)
{
    return cu_node_set(node, &(struct cu_work){.type = CU_COPY, .copy = cu_copy_of(to, bytes, from, bytes, bytes, 1, kind)});
}

/** Adds a node that copies to or from a variable, or, if @out is NULL, sets the parameters of the node @node. */
static cudaError_t copy_symbol(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                               cudaGraphNode_t node,
                               const void *symbol, void *to, const void *from, size_t bytes, size_t offset, int kind)
{
    struct cu_work work = {.type = CU_COPY};
    cudaError_t error;

    rt_lock();
    error = cu_copy_symbol(symbol, to, from, bytes, offset, kind, &work.copy);
    rt_unlock();
    return error != cudaSuccess ? cu_return(error) : graph != NULL ? cu_node_add(out, graph, needs, count, &work) : cu_node_set(node, &work);
}

CU_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs,
                                                  size_t count,
                                                  const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
    return copy_symbol(out, graph, needs, count, NULL, symbol, NULL, from, bytes, offset, kind);
}

CU_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs,
                                                    size_t count,
                                                    void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
    return copy_symbol(out, graph, needs, count, NULL, symbol, to, NULL, bytes, offset, kind);
}

CU_API cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from, size_t bytes,
                                                        size_t offset, int kind)
{
    return copy_symbol(NULL, NULL, NULL, 0, node, symbol, NULL, from, bytes, offset, kind);
}

CU_API cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                                          size_t offset, int kind)
{
    return copy_symbol(NULL, NULL, NULL, 0, node, symbol, to, NULL, bytes, offset, kind);
}
