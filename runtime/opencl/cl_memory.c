/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers and sub-buffers: their creation, and queries of memory objects. */
#include "runtime/opencl/cl_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUB_BUFFER_ALIGN = 512 }; /* value of CL_DEVICE_MEM_BASE_ADDR_ALIGN, converted to bytes */

void cl_mem_end(struct _cl_mem *mem)
{
    while (mem->destructors != NULL) {
        struct cl_destructor *d = mem->destructors;

        mem->destructors = d->next;
        d->notify(mem, d->context);
        free(d);
    }
    for (struct cl_map **at = &cl_mem_root(mem)->maps; *at != NULL;) {
        struct cl_map *map = *at;

        if (map->mem != mem) {
            at = &map->next;
            continue;
        }
        *at = map->next;
        free(map);
    }
    free(mem->properties);
    if (cl_is_image(mem) && mem->image.descriptor != 0)
        rt_free(mem->image.descriptor); /* unless the image has a parent, its data is in the same allocation */
    if (mem->parent != NULL) {
        cl_object_drop(mem->parent);
        return;
    }
    if (!mem->is_svm && !cl_is_image(mem))
        rt_free(mem->address);
    if (mem->shadow != mem->host_pointer)
        free(mem->shadow);
}

bool cl_is_image(const struct _cl_mem *mem)
{
    return mem->image.type != CL_MEM_OBJECT_BUFFER;
}

struct _cl_mem *cl_mem_root(struct _cl_mem *mem)
{
    while (mem->parent != NULL)
        mem = mem->parent;
    return mem;
}

cl_int cl_check_flags(cl_mem_flags flags, const void *host)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                       host_access = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS,
                       pointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

    if ((flags & ~(access | host_access | pointer)) != 0 || __builtin_popcountll(flags & access) > 1 ||
        __builtin_popcountll(flags & host_access) > 1)
        return CL_INVALID_VALUE;
    if ((flags & CL_MEM_USE_HOST_PTR) != 0 && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0)
        return CL_INVALID_VALUE;
    if ((host != NULL) != ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0))
        return CL_INVALID_HOST_PTR;
    return CL_SUCCESS;
}

static struct _cl_mem *create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    cl_ulong most = 0;
    struct _cl_mem *mem;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    *error = cl_check_flags(flags, host);
    if (*error != CL_SUCCESS)
        return NULL;
    clGetDeviceInfo(&cl_the_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (bytes == 0 || bytes > most ||
        ((flags & CL_MEM_USE_HOST_PTR) != 0 && cl_svm_holds(context, host, 0) && !cl_svm_holds(context, host, bytes))) {
        *error = CL_INVALID_BUFFER_SIZE;
        return NULL;
    }
    mem = cl_object_create(CL_KIND_MEM, sizeof *mem, context);
    if (mem == NULL) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    mem->image.type = CL_MEM_OBJECT_BUFFER;
    mem->bytes = bytes;
    mem->flags = (flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) != 0 ? flags : flags | CL_MEM_READ_WRITE;
    if ((flags & CL_MEM_USE_HOST_PTR) != 0 && cl_svm_holds(context, host, bytes)) {
        mem->is_svm = true;
        mem->address = (uint64_t)(uintptr_t)host;
    } else if (rt_alloc(bytes, &mem->address) != LANEWISE_OK) {
        rt_complain_memory("clCreateBuffer", bytes);
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        mem->parent = NULL;
    } else if (host != NULL && lanewise_write(rt_machine(), mem->address, host, bytes) != LANEWISE_OK) {
        *error = CL_OUT_OF_RESOURCES;
    }
    if (*error != CL_SUCCESS) {
        cl_object_release_handle(mem, CL_KIND_MEM, 0);
        return NULL;
    }
    if ((flags & CL_MEM_USE_HOST_PTR) != 0)
        mem->host_pointer = mem->shadow = host;
    if ((flags & CL_MEM_READ_ONLY) != 0 && !mem->is_svm)
        (void)lanewise_forbid(rt_machine(), mem->address, bytes, 0, 1, "the buffer was created with CL_MEM_READ_ONLY");
    if ((flags & CL_MEM_WRITE_ONLY) != 0 && !mem->is_svm)
        (void)lanewise_forbid(rt_machine(), mem->address, bytes, 1, 0, "the buffer was created with CL_MEM_WRITE_ONLY");
    return mem;
}

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    struct _cl_mem *mem;
    cl_int result;

    rt_lock();
    mem = create_buffer(context, flags, bytes, host, &result);
    rt_unlock();
    cl_put_error(error, result);
    return mem;
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                                cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
    struct _cl_mem *mem;
    cl_int result;

    if (properties != NULL && properties[0] != 0) { /* the specification defines no properties for buffers */
        cl_put_error(error, CL_INVALID_PROPERTY);
        return NULL;
    }
    rt_lock();
    mem = create_buffer(context, flags, bytes, host, &result);
    if (mem != NULL && properties != NULL && (mem->properties = calloc(1, sizeof *properties)) != NULL)
        mem->property_bytes = sizeof *properties;
    rt_unlock();
    cl_put_error(error, result);
    return mem;
}

cl_int cl_check_child_flags(const struct _cl_mem *parent, cl_mem_flags flags)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                       host_access = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

    if ((flags & ~(access | host_access)) != 0 || __builtin_popcountll(flags & access) > 1 ||
        __builtin_popcountll(flags & host_access) > 1)
        return CL_INVALID_VALUE;
    if (((parent->flags & CL_MEM_WRITE_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
        ((parent->flags & CL_MEM_READ_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
        ((parent->flags & CL_MEM_HOST_WRITE_ONLY) != 0 && (flags & CL_MEM_HOST_READ_ONLY) != 0) ||
        ((parent->flags & CL_MEM_HOST_READ_ONLY) != 0 && (flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
        ((parent->flags & CL_MEM_HOST_NO_ACCESS) != 0 && (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0))
        return CL_INVALID_VALUE;
    return CL_SUCCESS;
}

cl_mem_flags cl_child_flags(const struct _cl_mem *parent, cl_mem_flags flags)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                       host_access = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    cl_mem_flags all = flags | (parent->flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));

    if ((flags & access) == 0)
        all |= parent->flags & access;
    if ((flags & host_access) == 0)
        all |= parent->flags & host_access;
    return all;
}

static struct _cl_mem *create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type,
                                         const cl_buffer_region *region, cl_int *error)
{
    struct _cl_mem *mem;

    *error = CL_INVALID_VALUE;
    if (!cl_object_is(parent, CL_KIND_MEM) || parent->parent != NULL || cl_is_image(parent)) {
        *error = CL_INVALID_MEM_OBJECT;
        return NULL;
    }
    if (type != CL_BUFFER_CREATE_TYPE_REGION || region == NULL || cl_check_child_flags(parent, flags) != CL_SUCCESS)
        return NULL;
    if (region->origin > parent->bytes || region->size > parent->bytes - region->origin)
        return NULL;
    *error = CL_INVALID_BUFFER_SIZE;
    if (region->size == 0)
        return NULL;
    *error = CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (region->origin % SUB_BUFFER_ALIGN != 0)
        return NULL;
    *error = CL_OUT_OF_HOST_MEMORY;
    mem = cl_object_create(CL_KIND_MEM, sizeof *mem, parent->object.context);
    if (mem == NULL)
        return NULL;
    *error = CL_SUCCESS;
    mem->parent = parent;
    cl_object_hold(parent);
    mem->origin = region->origin;
    mem->bytes = region->size;
    mem->address = parent->address + region->origin;
    mem->is_svm = parent->is_svm;
    mem->flags = cl_child_flags(parent, flags);
    mem->image.type = CL_MEM_OBJECT_BUFFER;
    if (parent->host_pointer != NULL)
        mem->host_pointer = (char *)parent->host_pointer + region->origin;
    return mem;
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
                                     cl_int *error)
{
    struct _cl_mem *mem;
    cl_int result;

    rt_lock();
    mem = create_sub_buffer(parent, flags, type, region, &result);
    rt_unlock();
    cl_put_error(error, result);
    return mem;
}

cl_int CL_API_CALL clRetainMemObject(cl_mem mem)
{
    return cl_object_retain_handle(mem, CL_KIND_MEM, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem mem)
{
    return cl_object_release_handle(mem, CL_KIND_MEM, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem mem, void(CL_CALLBACK *notify)(cl_mem, void *), void *user)
{
    struct cl_destructor *d;
    cl_int error = CL_SUCCESS;

    if (notify == NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    if (!cl_object_is(mem, CL_KIND_MEM)) {
        error = CL_INVALID_MEM_OBJECT;
    } else if ((d = malloc(sizeof *d)) == NULL) {
        error = CL_OUT_OF_HOST_MEMORY;
    } else {
        *d = (struct cl_destructor){mem->destructors, (void(CL_CALLBACK *)(void *, void *))notify, user};
        mem->destructors = d;
    }
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem mem, cl_mem_info info, size_t room, void *out, size_t *size)
{
    cl_int error;

    rt_lock();
    if (!cl_object_is(mem, CL_KIND_MEM))
        error = CL_INVALID_MEM_OBJECT;
    else
        switch (info) {
        case CL_MEM_TYPE: error = CL_ANSWER(cl_mem_object_type, mem->image.type); break;
        case CL_MEM_FLAGS: error = CL_ANSWER(cl_mem_flags, mem->flags); break;
        case CL_MEM_SIZE: error = CL_ANSWER(size_t, mem->bytes); break;
        case CL_MEM_HOST_PTR: error = CL_ANSWER(void *, mem->host_pointer); break;
        case CL_MEM_MAP_COUNT: error = CL_ANSWER(cl_uint, mem->map_count); break;
        case CL_MEM_REFERENCE_COUNT: error = CL_ANSWER(cl_uint, mem->object.references); break;
        case CL_MEM_CONTEXT: error = CL_ANSWER(cl_context, mem->object.context); break;
        case CL_MEM_ASSOCIATED_MEMOBJECT: error = CL_ANSWER(cl_mem, mem->parent); break;
        case CL_MEM_OFFSET: error = CL_ANSWER(size_t, cl_is_image(mem) ? 0 : mem->origin); break;
        case CL_MEM_USES_SVM_POINTER: error = CL_ANSWER(cl_bool, mem->is_svm); break;
        case CL_MEM_PROPERTIES: error = cl_answer(mem->properties, mem->property_bytes, room, out, size); break;
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}
