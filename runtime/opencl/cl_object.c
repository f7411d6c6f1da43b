/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: creation, references, and the set of valid handles. */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

/* Hash set of all existing objects. A program may pass any value as a handle, so a handle is looked up in this set before its
 * memory is read. */
static struct {
    void **slots; /* open addressing; at most half of the slots are used */
    size_t capacity, count; /* capacity: a power of two */
} handles;

static size_t slot_of(const void *handle)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)(bits >> 20) & (handles.capacity - 1);
}

static void **find(const void *handle)
{
    size_t at = slot_of(handle);

    while (handles.slots[at] != NULL && handles.slots[at] != handle)
        at = (at + 1) & (handles.capacity - 1);
    return &handles.slots[at];
}

static bool add(void *handle)
{
    if (2 * (handles.count + 1) > handles.capacity) {
        void **old = handles.slots;
        const size_t had = handles.capacity, capacity = had != 0 ? 2 * had : 256;
        void **slots = calloc(capacity, sizeof *slots);

        if (slots == NULL)
            return false;
        handles.slots = slots;
        handles.capacity = capacity;
        for (size_t i = 0; i < had; i++)
            if (old[i] != NULL)
                *find(old[i]) = old[i];
        free(old);
    }
    *find(handle) = handle;
    handles.count++;
    return true;
}

static void take_out(void *handle)
{
    size_t at = (size_t)(find(handle) - handles.slots);

    handles.slots[at] = NULL;
    handles.count--;
    for (at = (at + 1) & (handles.capacity - 1); handles.slots[at] != NULL; at = (at + 1) & (handles.capacity - 1)) {
        void *other = handles.slots[at]; /* is inserted again, because the slot that has become free may now be the right one
                                          * for it */

        handles.slots[at] = NULL;
        *find(other) = other;
    }
}

/*
 * Memory of destroyed objects. A loader reads the dispatch table in the memory of a handle before the driver can test the handle. So
 * this memory never returns to the allocator, and keeps its dispatch table: a call with a handle of a destroyed object reaches the
 * driver, which returns an error. The memory that was freed first is used again first, and only if KEPT others of its kind are unused, so
 * that it takes long until the handle is that of another object.
 */
enum { KEPT = 1024 };
static struct {
    struct cl_object *first, *last; /* a list, linked by `next` */
    size_t count;
} unused[CL_KIND_SAMPLER + 1];

void cl_object_recycle(struct cl_object *object)
{
    const enum cl_kind kind = object->kind;

    object->next = NULL;
    object->trace = NULL;
    if (unused[kind].last != NULL)
        unused[kind].last->next = object;
    else
        unused[kind].first = object;
    unused[kind].last = object;
    unused[kind].count++;
}

/** Returns cleared memory for an object. All objects of a kind have the same size. Returns NULL if memory is short. */
static struct cl_object *new_memory(enum cl_kind kind, size_t bytes)
{
    struct cl_object *object = unused[kind].first;

    if (unused[kind].count <= KEPT)
        return calloc(1, bytes);
    unused[kind].first = object->next;
    unused[kind].count--;
    memset(object, 0, bytes);
    return object;
}

void *cl_object_create(enum cl_kind kind, size_t bytes, struct _cl_context *context)
{
    struct cl_object *object = new_memory(kind, bytes);

    if (object == NULL)
        return NULL;
    object->dispatch = &cl_dispatch;
    object->kind = kind;
    if (!add(object)) {
        cl_object_recycle(object);
        return NULL;
    }
    object->references = 1;
    object->context = context;
    if (context != NULL)
        cl_object_hold(context);
    cl_trace_begin(object);
    return object;
}

/** Returns true if queries of other objects return handles of objects of this kind. Such a handle is valid as long as its
 *  object exists. */
static bool is_given(enum cl_kind kind)
{
    return kind == CL_KIND_CONTEXT || kind == CL_KIND_QUEUE || kind == CL_KIND_PROGRAM;
}

bool cl_object_is(const void *handle, enum cl_kind kind)
{
    const struct cl_object *object = handle;

    if (handle != NULL && handles.capacity != 0 && *find(handle) != NULL && object->kind == kind &&
        (object->references != 0 || is_given(kind)))
        return true;
    cl_trace_use(handle, kind);
    return false;
}

void cl_object_each(void (*visit)(struct cl_object *object, void *context), void *context)
{
    for (size_t i = 0; i < handles.capacity; i++)
        if (handles.slots[i] != NULL)
            visit(handles.slots[i], context);
}

void cl_object_hold(void *object)
{
    ((struct cl_object *)object)->holds++;
}

/** Destroys an object if neither the user nor other objects or commands have references to it. */
static void end_unused(struct cl_object *object)
{
    struct _cl_context *context = object->context;

    if (object->references != 0 || object->holds != 0)
        return;
    take_out(object);
    cl_trace_ending(object);
    switch (object->kind) {
    case CL_KIND_CONTEXT: cl_context_end((struct _cl_context *)object); break;
    case CL_KIND_QUEUE: cl_queue_end((struct _cl_command_queue *)object); break;
    case CL_KIND_MEM: cl_mem_end((struct _cl_mem *)object); break;
    case CL_KIND_PROGRAM: cl_program_end((struct _cl_program *)object); break;
    case CL_KIND_KERNEL: cl_kernel_end((struct _cl_kernel *)object); break;
    case CL_KIND_EVENT: cl_event_end((struct _cl_event *)object); break;
    case CL_KIND_SAMPLER: cl_sampler_end((struct _cl_sampler *)object); break;
    }
    cl_trace_end(object);
    if (context != NULL)
        cl_object_drop(context);
}

void cl_object_drop(void *object)
{
    struct cl_object *o = object;

    o->holds--;
    end_unused(o);
}

cl_int cl_object_retain_handle(void *handle, enum cl_kind kind, cl_int invalid)
{
    cl_int error = invalid;

    rt_lock();
    if (cl_object_is(handle, kind)) {
        ((struct cl_object *)handle)->references++;
        error = CL_SUCCESS;
    }
    rt_unlock();
    return error;
}

cl_int cl_object_release_handle(void *handle, enum cl_kind kind, cl_int invalid)
{
    struct cl_object *object = handle;
    cl_int error = invalid;

    rt_lock();
    if (cl_object_is(handle, kind)) {
        if (object->references != 0) {
            if (--object->references == 0)
                cl_trace_released(object);
            end_unused(object);
            error = CL_SUCCESS;
        } else { /* the user has no reference; the object exists only because others refer to it */
            cl_trace_use(handle, kind);
        }
    }
    rt_unlock();
    return error;
}

cl_int cl_answer(const void *value, size_t bytes, size_t room, void *out, size_t *size)
{
    if (out != NULL && room < bytes)
        return CL_INVALID_VALUE;
    if (out != NULL && bytes != 0)
        memcpy(out, value, bytes);
    if (size != NULL)
        *size = bytes;
    return CL_SUCCESS;
}

cl_int cl_answer_text(const char *text, size_t room, void *out, size_t *size)
{
    return cl_answer(text, strlen(text) + 1, room, out, size);
}

void cl_put_error(cl_int *to, cl_int error)
{
    if (to != NULL)
        *to = error;
}

bool cl_is_device(cl_uint count, const cl_device_id *devices)
{
    return count == 1 && devices != NULL && devices[0] == &cl_the_device;
}
