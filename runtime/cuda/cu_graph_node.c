/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's graphs: conditional nodes. A conditional node has graphs of its own, which are executed if its condition says so. The condition
 * is a word of device memory, whose address is the condition's handle. Kernels write it by cudaGraphSetConditional().
 */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>

/** A condition. The graph for which it was created, and its nodes, have references to it. */
struct cu_condition {
    struct cu_condition *next;
    const struct cu_graph *graph; /* NULL: the program has destroyed the graph */
    uint64_t address;
    unsigned references, initial, flags;
};
enum { ASSIGN_DEFAULT = 1, WORD_BYTES = 4 };
enum { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH };

/* All conditions. The list is global, because a process has one device. */
static struct cu_condition *conditions;

void cu_condition_retain(struct cu_condition *c)
{
    c->references++;
}

void cu_condition_release(struct cu_condition *c)
{
    if (--c->references != 0)
        return;
    for (struct cu_condition **at = &conditions; *at != NULL; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    (void)rt_free(c->address);
    free(c);
}

void cu_conditions_forget(const struct cu_graph *graph)
{
    for (struct cu_condition *c = conditions, *next; c != NULL; c = next) {
        next = c->next;
        if (c->graph == graph) {
            c->graph = NULL;
            cu_condition_release(c);
        }
    }
}

void cu_conditions_begin(const struct cu_graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct cu_work *w = &graph->nodes.node[i]->work;
        struct cu_graph *const *inner;
        size_t count = cu_work_graphs(w, &inner);

        if (w->type == CU_CONDITION && (w->choice.condition->flags & ASSIGN_DEFAULT) != 0)
            (void)lanewise_write(rt_machine(), w->choice.condition->address, &w->choice.condition->initial, WORD_BYTES);
        while (count-- != 0)
            cu_conditions_begin(inner[count]);
    }
}

/** Gets the value of a condition. Returns false if the device has failed or the process ends. */
static bool value_of(const struct cu_condition *c, unsigned *value)
{
    return !rt_stopped() && !rt_ending() && lanewise_peek(rt_machine(), c->address, value, WORD_BYTES) == LANEWISE_OK;
}

cudaError_t cu_choice_run(const struct cu_choice *choice)
{
    cudaError_t error = cudaSuccess;
    unsigned value;

    if (choice->type == CONDITION_WHILE) {
        while (error == cudaSuccess && value_of(choice->condition, &value) && value != 0)
            error = cu_graph_run(choice->graphs[0]);
        return error;
    }
    if (!value_of(choice->condition, &value))
        return cudaSuccess;
    if (choice->type == CONDITION_IF)
        value = value != 0 ? 0 : 1;
    return value < choice->count ? cu_graph_run(choice->graphs[value]) : cudaSuccess;
}

CU_API cudaError_t cudaGraphConditionalHandleCreate(unsigned long long *out, cudaGraph_t graph, unsigned initial, unsigned flags)
{
    struct cu_condition *c = NULL;
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_graph(graph) && (flags & ~(unsigned)ASSIGN_DEFAULT) == 0)
        error = cu_device_error();
    if (error == cudaSuccess) {
        c = calloc(1, sizeof *c);
        error = c != NULL && rt_alloc_as("condition", WORD_BYTES, &c->address) == LANEWISE_OK ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    if (error == cudaSuccess) {
        const unsigned zero = 0;

        (void)lanewise_write(rt_machine(), c->address, &zero, WORD_BYTES);
        c->graph = graph;
        c->references = 1;
        c->initial = initial;
        c->flags = flags;
        c->next = conditions;
        conditions = c;
        *out = c->address;
    } else {
        free(c);
    }
    rt_unlock();
    return cu_return(error);
}

/** Returns true if @graph is @outer, or belongs to a node in it. */
static bool is_inside(const struct cu_graph *graph, const struct cu_graph *outer)
{
    bool found = graph == outer;

    for (size_t i = 0; outer != NULL && i < outer->nodes.count && !found; i++) {
        struct cu_graph *const *inner;
        size_t count = cu_work_graphs(&outer->nodes.node[i]->work, &inner);

        while (count-- != 0 && !found)
            found = is_inside(graph, inner[count]);
    }
    return found;
}

cudaError_t cu_node_add_condition(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                  struct cudaGraphNodeParams *p)
{
    const unsigned most = p->condition.type == CONDITION_IF ? 2 : p->condition.type == CONDITION_WHILE ? 1 : 1 << 16;
    struct cu_condition *c;
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    for (c = conditions; c != NULL && c->address != p->condition.handle;)
        c = c->next;
    if (c != NULL && graph != NULL && is_inside(graph, c->graph) && p->condition.type >= CONDITION_IF &&
        p->condition.type <= CONDITION_SWITCH && p->condition.count != 0 && p->condition.count <= most)
        error = cu_node_add(out, graph, needs, count,
                            &(struct cu_work){.type = CU_CONDITION, .choice = {c, p->condition.type, p->condition.count, NULL}});
    if (error == cudaSuccess)
        p->condition.graphs = (*out)->work.choice.graphs;
    rt_unlock();
    return cu_return(error);
}
