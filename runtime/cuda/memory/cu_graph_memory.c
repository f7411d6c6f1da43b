/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's graphs: nodes that allocate and free memory. A node that allocates reserves addresses when the program adds the node, and
 * maps memory to them when the node is executed. A free unmaps the memory. An access by a kernel at another time is a fault. The
 * memory does not stay reserved for graphs after it is freed, so there is nothing to trim.
 */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

enum { RESERVE_BYTES = 1 << 21, ALLOCATION_PINNED = 1, LOCATION_DEVICE = 1 };

/** Memory of a node that allocates. The node, and its copies in executable graphs, have references to it. */
struct cu_graph_memory {
    struct cu_graph_memory *next;
    uint64_t address, bytes;
    unsigned references;
    unsigned instances; /* number of executable graphs that have the node */
    bool live;          /* the memory is allocated at present */
};

/* All such memory, and its size at present. They are global, because a process has one device. */
static struct cu_graph_memory *memories;
static uint64_t used, used_high;

cudaError_t cu_graph_memory_create(size_t bytes, struct cu_graph_memory **out)
{
    struct cu_graph_memory *m;
    uint64_t reserved;

    if (bytes == 0 || bytes > UINT64_MAX / 2)
        return cudaErrorInvalidValue;
    m = calloc(1, sizeof *m);
    if (m == NULL)
        return cudaErrorMemoryAllocation;
    reserved = (bytes + RESERVE_BYTES - 1) / RESERVE_BYTES * RESERVE_BYTES;
    if (rt_machine() == NULL || lanewise_reserve(rt_machine(), reserved, &m->address) != LANEWISE_OK) {
        free(m);
        return cudaErrorMemoryAllocation;
    }
    m->bytes = bytes;
    m->next = memories;
    memories = m;
    *out = m;
    return cudaSuccess;
}

uint64_t cu_graph_memory_address(const struct cu_graph_memory *m)
{
    return m->address;
}

/** Frees the structure if no node refers to it and the memory is not allocated. */
static void drop(struct cu_graph_memory *m)
{
    if (m->references != 0 || m->live)
        return;
    for (struct cu_graph_memory **at = &memories; *at != NULL; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    (void)lanewise_unreserve(rt_machine(), m->address);
    free(m);
}

void cu_graph_memory_retain(struct cu_graph_memory *m)
{
    m->references++;
}

void cu_graph_memory_release(struct cu_graph_memory *m)
{
    m->references--;
    drop(m);
}

/** Returns the memory to which an address belongs, or NULL. */
static struct cu_graph_memory *memory_of(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct cu_graph_memory *m = memories;

    while (m != NULL && (address < m->address || address - m->address >= m->bytes))
        m = m->next;
    return m;
}

bool cu_graph_memory_has(const void *pointer)
{
    return memory_of(pointer) != NULL;
}

cudaError_t cu_graph_memory_allocate(struct cu_graph_memory *m)
{
    if (m->live)
        return cudaErrorInvalidValue;
    if (!rt_memory_take(m->bytes))
        return cudaErrorMemoryAllocation;
    if (rt_map(m->address, m->bytes, false) != LANEWISE_OK) {
        rt_memory_return(m->bytes);
        return cudaErrorMemoryAllocation;
    }
    m->live = true;
    used += m->bytes;
    used_high = used > used_high ? used : used_high;
    return cudaSuccess;
}

static void free_memory(struct cu_graph_memory *m)
{
    (void)lanewise_free(rt_machine(), m->address);
    rt_memory_return(m->bytes);
    used -= m->bytes;
    m->live = false;
    drop(m);
}

cudaError_t cu_graph_memory_free(const void *pointer)
{
    struct cu_graph_memory *m = memory_of(pointer);

    if (m == NULL || m->address != (uint64_t)(uintptr_t)pointer || !m->live)
        return cudaErrorInvalidValue;
    free_memory(m);
    return cudaSuccess;
}

void cu_graph_memory_reset(void)
{
    for (struct cu_graph_memory *m = memories, *next; m != NULL; m = next) {
        next = m->next;
        if (m->live) /* the nodes keep the reservation: an executable graph that runs on another thread is destroyed later */
            free_memory(m);
    }
    used = used_high = 0;
}

/* ---- graphs with such nodes --------------------------------------------------------------------------------------- */

bool cu_graph_has_memory(const struct cu_graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct cu_work *w = &graph->nodes.node[i]->work;
        struct cu_graph *const *inner;
        size_t count;

        if (w->type == CU_ALLOCATE || w->type == CU_FREE)
            return true;
        count = cu_work_graphs(w, &inner);
        while (count-- != 0)
            if (cu_graph_has_memory(inner[count]))
                return true;
    }
    return false;
}

bool cu_graph_is_instantiated(const struct cu_graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.node[i]->work.type == CU_ALLOCATE && graph->nodes.node[i]->work.memory->instances != 0)
            return true;
    return false;
}

void cu_graph_count_instance(const struct cu_graph *graph, int change)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.node[i]->work.type == CU_ALLOCATE)
            graph->nodes.node[i]->work.memory->instances += (unsigned)change;
}

cudaError_t cu_graph_memory_prepare(const struct cu_graph *graph, bool frees)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.node[i]->work.type == CU_ALLOCATE && graph->nodes.node[i]->work.memory->live) {
            if (frees)
                free_memory(graph->nodes.node[i]->work.memory);
            else
                error = cudaErrorInvalidValue;
        }
    return error;
}

/* ---- functions of the program ------------------------------------------------------------------------------------- */

cudaError_t cu_graph_add_allocation(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                    struct cudaMemAllocNodeParams *p)
{
    struct cu_graph_memory *m = NULL;
    cudaError_t error = cudaSuccess;

    if (p == NULL || p->bytes == 0 || p->allocation != ALLOCATION_PINNED)
        return cu_return(cudaErrorInvalidValue);
    if (p->location_type != LOCATION_DEVICE || p->handles != 0) /* no memory of the host, no other processes */
        return cu_return(cudaErrorNotSupported);
    if (p->location_id != 0)
        return cu_return(cudaErrorInvalidDevice);
    rt_lock();
    if (!cu_is_graph(graph)) {
        error = cudaErrorInvalidValue;
    } else if (graph->belongs) { /* graphs of conditional nodes cannot allocate */
        error = cudaErrorNotSupported;
    } else {
        error = cu_graph_memory_create(p->bytes, &m);
    }
    if (error == cudaSuccess) {
        m->references++;
        error = cu_node_add(out, graph, needs, count, &(struct cu_work){.type = CU_ALLOCATE, .memory = m});
        if (error == cudaSuccess)
            p->pointer = (void *)(uintptr_t)m->address;
        cu_graph_memory_release(m);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                            struct cudaMemAllocNodeParams *p)
{
    return cu_graph_add_allocation(out, graph, needs, count, p);
}

CU_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_node(node) && node->work.type == CU_ALLOCATE) {
        *out = (struct cudaMemAllocNodeParams){.allocation = ALLOCATION_PINNED, .location_type = LOCATION_DEVICE,
                                               .bytes = node->work.memory->bytes,
                                               .pointer = (void *)(uintptr_t)node->work.memory->address};
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                           void *pointer)
{
    cudaError_t error = cudaSuccess;

    rt_lock();
    if (!cu_is_graph(graph) || !cu_graph_may_free(graph, pointer))
        error = cudaErrorInvalidValue;
    else if (graph->belongs)
        error = cudaErrorNotSupported;
    if (error == cudaSuccess)
        error = cu_node_add(out, graph, needs, count, &(struct cu_work){.type = CU_FREE, .pointer = pointer});
    rt_unlock();
    return cu_return(error);
}

bool cu_graph_may_free(const struct cu_graph *graph, const void *pointer)
{
    const struct cu_graph_memory *m = memory_of(pointer);

    if (m == NULL || m->address != (uint64_t)(uintptr_t)pointer)
        return false;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (graph->nodes.node[i]->work.type == CU_FREE && graph->nodes.node[i]->work.pointer == pointer)
            return false; /* a graph frees memory once */
    return true;
}

CU_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && cu_is_node(node) && node->work.type == CU_FREE) {
        memcpy(out, &node->work.pointer, sizeof node->work.pointer);
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return cu_return(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

/** Attributes of memory of graphs, as in enum cudaGraphMemAttributeType. */
enum { USED_NOW, USED_HIGH, RESERVED_NOW, RESERVED_HIGH };

CU_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, int attribute, void *out)
{
    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    if (out == NULL || attribute < USED_NOW || attribute > RESERVED_HIGH)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    memcpy(out, attribute == USED_NOW || attribute == RESERVED_NOW ? &used : &used_high, sizeof used);
    rt_unlock();
    return cu_return(cudaSuccess);
}

/** A high-water mark can only be reset. */
CU_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
    uint64_t number = 0;

    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    if (value != NULL)
        memcpy(&number, value, sizeof number);
    if (value == NULL || number != 0 || (attribute != USED_HIGH && attribute != RESERVED_HIGH))
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    used_high = used;
    rt_unlock();
    return cu_return(cudaSuccess);
}
