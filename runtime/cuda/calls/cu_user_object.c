/* SPDX-License-Identifier: Apache-2.0 */
/* User objects of CUDA: values of the program whose destructor is called when the last reference to them ends. The program and graphs
 * have references. A copy of a graph, such as an executable graph, has its own. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <limits.h>
#include <stdlib.h>

struct cu_user_object {
    struct cu_user_object *next;
    void (*destroy)(void *value);
    void *value;
    uint64_t count, own; /* all references, and those of the program */
};
typedef struct cu_user_object *cudaUserObject_t;

/* Objects with references, and objects whose destructor must be called. The lists are global, because a process has one device. */
static struct cu_user_object *objects, *ended;

static bool is_object(const struct cu_user_object *object)
{
    for (const struct cu_user_object *o = objects; o != NULL; o = o->next)
        if (o == object)
            return true;
    return false;
}

/** Ends references of an object; locked. The caller calls cu_user_objects_end() when it does not hold the lock. */
static void release(struct cu_user_object *object, uint64_t count)
{
    object->count -= count;
    for (struct cu_user_object **at = &objects; object->count == 0 && *at != NULL; at = &(*at)->next)
        if (*at == object) {
            *at = object->next;
            object->next = ended;
            ended = object;
            break;
        }
}

void cu_user_objects_end(void)
{
    struct cu_user_object *o;

    do {
        rt_lock();
        o = ended;
        if (o != NULL)
            ended = o->next;
        rt_unlock();
        if (o != NULL)
            o->destroy(o->value);
        free(o);
    } while (o != NULL);
}

static struct cu_reference *reference_of(const struct cu_graph *graph, const struct cu_user_object *object)
{
    for (struct cu_reference *r = graph->references; r != NULL; r = r->next)
        if (r->object == object)
            return r;
    return NULL;
}

/** Gives a graph references that are already counted in the object. */
static cudaError_t give(struct cu_graph *graph, struct cu_user_object *object, uint64_t count)
{
    struct cu_reference *r = reference_of(graph, object);

    if (r == NULL) {
        r = calloc(1, sizeof *r);
        if (r == NULL)
            return cudaErrorMemoryAllocation;
        r->object = object;
        r->next = graph->references;
        graph->references = r;
    }
    r->count += count;
    return cudaSuccess;
}

cudaError_t cu_references_copy(const struct cu_graph *from, struct cu_graph *to)
{
    cudaError_t error = cudaSuccess;

    for (const struct cu_reference *r = from->references; r != NULL && error == cudaSuccess; r = r->next) {
        error = give(to, r->object, r->count);
        if (error == cudaSuccess)
            r->object->count += r->count;
    }
    return error;
}

void cu_references_end(struct cu_graph *graph)
{
    while (graph->references != NULL) {
        struct cu_reference *r = graph->references;

        graph->references = r->next;
        release(r->object, r->count);
        free(r);
    }
}

/* ---- functions of the program ---------------------------------------------------------------------------------------- */

CU_API cudaError_t cudaUserObjectCreate(cudaUserObject_t *out, void *value, void (*destroy)(void *), unsigned count, unsigned flags)
{
    enum { NO_DESTRUCTOR_SYNC = 1 };
    struct cu_user_object *o;

    if (out == NULL || destroy == NULL || count == 0 || count > INT_MAX || flags != NO_DESTRUCTOR_SYNC)
        return cu_return(cudaErrorInvalidValue);
    o = calloc(1, sizeof *o);
    if (o == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    *o = (struct cu_user_object){.destroy = destroy, .value = value, .count = count, .own = count};
    rt_lock();
    o->next = objects;
    objects = o;
    *out = o;
    rt_unlock();
    return cu_return(cudaSuccess);
}

CU_API cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (count != 0 && count <= INT_MAX && is_object(object)) {
        object->count += count;
        object->own += count;
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (count != 0 && is_object(object) && count <= object->own) {
        object->own -= count;
        release(object, count);
        error = cudaSuccess;
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags)
{
    enum { MOVE = 1 };
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (count != 0 && count <= INT_MAX && flags <= MOVE && cu_is_graph(graph) && is_object(object) &&
        (flags != MOVE || count <= object->own))
        error = give(graph, object, count);
    if (error == cudaSuccess && flags == MOVE)
        object->own -= count;
    else if (error == cudaSuccess)
        object->count += count;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    for (struct cu_reference **at = cu_is_graph(graph) && is_object(object) ? &graph->references : NULL; at != NULL && *at != NULL;
         at = &(*at)->next) {
        struct cu_reference *r = *at;

        if (r->object == object && count != 0 && count <= r->count) {
            r->count -= count;
            if (r->count == 0) {
                *at = r->next;
                free(r);
            }
            release(object, count);
            error = cudaSuccess;
            break;
        }
    }
    rt_unlock();
    cu_user_objects_end();
    return cu_return(error);
}

typedef cudaUserObject_t CUuserObject;
CU_SAME(cuUserObjectCreate, cudaUserObjectCreate,
        (CUuserObject *out, void *value, void (*destroy)(void *), unsigned count, unsigned flags), (out, value, destroy, count, flags))
CU_SAME(cuUserObjectRetain, cudaUserObjectRetain, (CUuserObject object, unsigned count), (object, count))
CU_SAME(cuUserObjectRelease, cudaUserObjectRelease, (CUuserObject object, unsigned count), (object, count))
CU_SAME(cuGraphRetainUserObject, cudaGraphRetainUserObject,
        (cudaGraph_t graph, CUuserObject object, unsigned count, unsigned flags), (graph, object, count, flags))
CU_SAME(cuGraphReleaseUserObject, cudaGraphReleaseUserObject, (cudaGraph_t graph, CUuserObject object, unsigned count),
        (graph, object, count))
