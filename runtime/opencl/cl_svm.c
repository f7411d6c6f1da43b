/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared virtual memory, of coarse and fine grain. The device's global memory has the same addresses in the host
 * (lanewise_host_pointer), so that nothing must be copied when it is mapped. Other memory of the host is not shared.
 */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

enum { SVM_MOST_ALIGN = 128 }; /* alignment of the largest type, long16 */

void cl_svm_end(struct _cl_context *context)
{
    while (context->svm != NULL) {
        struct cl_svm *svm = context->svm;

        context->svm = svm->next;
        rt_free(svm->address);
        cl_trace_svm_end(svm);
    }
}

bool cl_svm_holds(const struct _cl_context *context, const void *pointer, size_t bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;

    for (const struct cl_svm *svm = context->svm; svm != NULL; svm = svm->next)
        if (address >= svm->address && address - svm->address <= svm->bytes && bytes <= svm->bytes - (address - svm->address))
            return address - svm->address < svm->bytes;
    return false;
}

/** Returns true if the range is inside one allocation of shared virtual memory of @context, or has no byte of the device's memory. */
static bool is_valid_range(const struct _cl_context *context, const void *pointer, size_t bytes)
{
    const uint64_t from = (uint64_t)(uintptr_t)pointer;
    uint64_t begin, end, last;

    if (bytes == 0 || cl_svm_holds(context, pointer, bytes))
        return true;
    lanewise_address_range(rt_machine(), &begin, &end);
    return !__builtin_add_overflow(from, bytes - 1, &last) && (last < begin || from >= end);
}

static void *allocate(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
    const cl_svm_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    cl_ulong most = 0;
    struct cl_svm *svm;
    void *pointer;

    if (!cl_object_is(context, CL_KIND_CONTEXT) || bytes == 0 || (alignment & (alignment - 1)) != 0 || alignment > SVM_MOST_ALIGN ||
        (flags & ~(access | CL_MEM_SVM_FINE_GRAIN_BUFFER)) != 0 || __builtin_popcountll(flags & access) > 1)
        return NULL; /* refuses other flags, also CL_MEM_SVM_ATOMICS, because the host cannot access memory while a kernel runs */
    clGetDeviceInfo(&cl_the_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    svm = bytes <= most ? calloc(1, sizeof *svm) : NULL;
    if (svm == NULL)
        return NULL;
    if (rt_alloc(bytes, &svm->address) != LANEWISE_OK) {
        free(svm);
        return NULL;
    }
    pointer = lanewise_host_pointer(rt_machine(), svm->address);
    if (pointer == NULL) { /* the host has other memory at the address of the device memory */
        rt_free(svm->address);
        free(svm);
        return NULL;
    }
    svm->bytes = bytes;
    svm->next = context->svm;
    context->svm = svm;
    cl_trace_svm_begin(svm);
    return pointer;
}

void *CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
    void *pointer;

    rt_lock();
    pointer = allocate(context, flags, bytes, alignment);
    rt_unlock();
    cl_trace_call("clSVMAlloc", CL_SUCCESS);
    return pointer;
}

/** Frees the allocation that begins at @pointer. Only reports the call if there is none. */
static void release(cl_context context, const void *pointer)
{
    for (struct cl_svm **at = &context->svm; *at != NULL; at = &(*at)->next) {
        struct cl_svm *svm = *at;

        if (svm->address == (uint64_t)(uintptr_t)pointer) {
            *at = svm->next;
            rt_free(svm->address);
            cl_trace_svm_released(svm);
            cl_trace_svm_end(svm);
            return;
        }
    }
    if (pointer != NULL)
        cl_trace_svm_wrong(pointer);
}

void CL_API_CALL clSVMFree(cl_context context, void *pointer)
{
    rt_lock();
    if (cl_object_is(context, CL_KIND_CONTEXT))
        release(context, pointer);
    rt_unlock();
    cl_trace_call("clSVMFree", CL_SUCCESS);
}

/* ---- commands -------------------------------------------------------------------------------------------------- */

struct svm_free {
    struct cl_command base;
    cl_command_queue queue;
    cl_uint count;
    void **pointers; /* freed as base.memory */
    void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void *[], void *);
    void *user;
};

static int run_free(struct rt_command *command)
{
    struct svm_free *f = (struct svm_free *)(void *)command;

    if (f->function != NULL)
        f->function(f->queue, f->count, f->pointers, f->user);
    for (cl_uint i = 0; f->function == NULL && i < f->count; i++)
        release(f->queue->object.context, f->pointers[i]);
    return CL_SUCCESS;
}

static cl_int fail(cl_int error)
{
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue queue, cl_uint pointer_count, void *pointers[],
                                    void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void *[], void *), void *user,
                                    cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_command *command;
    struct svm_free *f;
    cl_int error;

    rt_lock();
    error = !cl_object_is(queue, CL_KIND_QUEUE)                ? CL_INVALID_COMMAND_QUEUE
            : (pointer_count == 0) != (pointers == NULL) ? CL_INVALID_VALUE
                                                               : CL_SUCCESS;
    if (error == CL_SUCCESS)
        error = cl_command_create(queue, CL_COMMAND_SVM_FREE, count, waits, sizeof *f, run_free, &command);
    if (error != CL_SUCCESS)
        return fail(error);
    f = (struct svm_free *)command;
    f->queue = queue;
    f->count = pointer_count;
    f->function = function;
    f->user = user;
    command->memory = f->pointers = calloc(pointer_count + 1u, sizeof *f->pointers);
    if (f->pointers == NULL) {
        cl_command_cancel(command);
        return fail(CL_OUT_OF_HOST_MEMORY);
    }
    if (pointer_count != 0)
        memcpy(f->pointers, pointers, pointer_count * sizeof *pointers);
    return cl_command_enqueue(queue, command, false, event);
}

/** A command that copies @bytes, that fills @bytes with a pattern (pattern_bytes != 0), or that does nothing (bytes == 0). */
struct svm_move {
    struct cl_command base;
    struct _cl_context *context;
    void *to;
    const void *from;
    size_t bytes, pattern_bytes;
    uint8_t pattern[128];
};

static int run_move(struct rt_command *command)
{
    struct svm_move *m = (struct svm_move *)(void *)command;
    const uint64_t to = (uint64_t)(uintptr_t)m->to, from = (uint64_t)(uintptr_t)m->from;
    lanewise_machine *machine = rt_machine();
    int result = LANEWISE_OK;

    if (m->bytes == 0)
        return CL_SUCCESS;
    if (m->pattern_bytes != 0) {
        if (!cl_svm_holds(m->context, m->to, m->bytes))
            return CL_INVALID_VALUE; /* the memory has been freed since the call */
        result = lanewise_fill(machine, to, m->pattern, m->pattern_bytes, m->bytes);
    } else {
        const bool to_shared = cl_svm_holds(m->context, m->to, m->bytes), from_shared = cl_svm_holds(m->context, m->from, m->bytes);

        if (!is_valid_range(m->context, m->to, m->bytes) || !is_valid_range(m->context, m->from, m->bytes))
            return CL_INVALID_VALUE; /* the memory has been freed since the call */
        if (to_shared && from_shared)
            result = lanewise_copy(machine, to, from, m->bytes);
        else if (to_shared)
            result = lanewise_write(machine, to, m->from, m->bytes);
        else if (from_shared)
            result = rt_read(from, m->to, m->bytes, &command->site);
        else
            memcpy(m->to, m->from, m->bytes);
    }
    if (result == LANEWISE_OK)
        return CL_SUCCESS;
    rt_complain("shared virtual memory");
    return CL_OUT_OF_RESOURCES;
}

/** Enqueues a command with the members of @values. The caller holds the lock, and this function releases it. */
static cl_int enqueue_move(cl_command_queue queue, cl_command_type type, const struct svm_move *values, cl_bool blocking,
                           cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_command *command, base;
    struct svm_move *m;
    cl_int error = cl_command_create(queue, type, count, waits, sizeof *m, run_move, &command);

    if (error != CL_SUCCESS)
        return fail(error);
    m = (struct svm_move *)command;
    base = m->base;
    *m = *values;
    m->base = base;
    m->context = queue->object.context;
    return cl_command_enqueue(queue, command, blocking != CL_FALSE, event);
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t bytes,
                                      cl_uint count, const cl_event *waits, cl_event *event)
{
    const struct svm_move m = {.to = to, .from = from, .bytes = bytes};
    const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return fail(CL_INVALID_COMMAND_QUEUE);
    if (to == NULL || from == NULL)
        return fail(CL_INVALID_VALUE);
    if (bytes != 0 && (a < b ? b - a : a - b) < bytes)
        return fail(CL_MEM_COPY_OVERLAP);
    if (!is_valid_range(queue->object.context, to, bytes) || !is_valid_range(queue->object.context, from, bytes))
        return fail(CL_INVALID_VALUE);
    return enqueue_move(queue, CL_COMMAND_SVM_MEMCPY, &m, blocking, count, waits, event);
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes,
                                       size_t bytes, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct svm_move m = {.to = to, .bytes = bytes, .pattern_bytes = pattern_bytes};

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return fail(CL_INVALID_COMMAND_QUEUE);
    if (to == NULL || pattern == NULL || pattern_bytes == 0 || pattern_bytes > sizeof m.pattern ||
        (pattern_bytes & (pattern_bytes - 1)) != 0 || bytes % pattern_bytes != 0 || (uintptr_t)to % pattern_bytes != 0)
        return fail(CL_INVALID_VALUE);
    if (bytes != 0 && !cl_svm_holds(queue->object.context, to, bytes))
        return fail(CL_INVALID_VALUE);
    memcpy(m.pattern, pattern, pattern_bytes);
    return enqueue_move(queue, CL_COMMAND_SVM_MEMFILL, &m, CL_FALSE, count, waits, event);
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer, size_t bytes,
                                   cl_uint count, const cl_event *waits, cl_event *event)
{
    const cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return fail(CL_INVALID_COMMAND_QUEUE);
    if (pointer == NULL || bytes == 0 || (flags & ~known) != 0 ||
        ((flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0 && (flags & (CL_MAP_READ | CL_MAP_WRITE)) != 0))
        return fail(CL_INVALID_VALUE);
    if (!is_valid_range(queue->object.context, pointer, bytes))
        return fail(CL_INVALID_VALUE);
    return enqueue_move(queue, CL_COMMAND_SVM_MAP, &(struct svm_move){.to = pointer}, blocking, count, waits, event);
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint count, const cl_event *waits,
                                     cl_event *event)
{
    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return fail(CL_INVALID_COMMAND_QUEUE);
    if (pointer == NULL || !is_valid_range(queue->object.context, pointer, 1))
        return fail(CL_INVALID_VALUE);
    return enqueue_move(queue, CL_COMMAND_SVM_UNMAP, &(struct svm_move){.to = pointer}, CL_FALSE, count, waits, event);
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint pointer_count, const void **pointers,
                                          const size_t *sizes, cl_mem_migration_flags flags, cl_uint count,
                                          const cl_event *waits, cl_event *event)
{
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return fail(CL_INVALID_COMMAND_QUEUE);
    if (pointer_count == 0 || pointers == NULL || (flags & ~known) != 0)
        return fail(CL_INVALID_VALUE);
    for (cl_uint i = 0; i < pointer_count; i++)
        if (!cl_svm_holds(queue->object.context, pointers[i], sizes != NULL ? sizes[i] : 0))
            return fail(CL_INVALID_VALUE);
    return enqueue_move(queue, CL_COMMAND_SVM_MIGRATE_MEM, &(struct svm_move){.bytes = 0}, CL_FALSE, count, waits, event);
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index, const void *value)
{
    const uint64_t address = (uint64_t)(uintptr_t)value;
    struct cl_argument *a;

    rt_lock();
    if (!cl_object_is(kernel, CL_KIND_KERNEL))
        return fail(CL_INVALID_KERNEL);
    if (index >= kernel->argument_count)
        return fail(CL_INVALID_ARG_INDEX);
    a = &kernel->arguments[index];
    if (a->param.kind != LANEWISE_PARAM_GLOBAL && a->param.kind != LANEWISE_PARAM_CONSTANT)
        return fail(CL_INVALID_ARG_VALUE);
    memcpy(a->value, &address, sizeof address);
    a->mem = NULL;
    a->set = true;
    rt_unlock();
    return CL_SUCCESS;
}

cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info info, size_t bytes, const void *value)
{
    cl_int error = CL_SUCCESS;
    cl_bool system;

    rt_lock();
    if (!cl_object_is(kernel, CL_KIND_KERNEL))
        return fail(CL_INVALID_KERNEL);
    switch (info) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS: /* the list is not needed, because every kernel can access every allocation */
        error = (value == NULL) != (bytes == 0) || bytes % sizeof(void *) != 0 ? CL_INVALID_VALUE : CL_SUCCESS;
        break;
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
        if (value == NULL || bytes != sizeof system) {
            error = CL_INVALID_VALUE;
        } else {
            memcpy(&system, value, sizeof system);
            error = system != CL_FALSE ? CL_INVALID_OPERATION : CL_SUCCESS;
        }
        break;
    default: error = CL_INVALID_VALUE;
    }
    rt_unlock();
    return error;
}
