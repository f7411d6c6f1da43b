/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the host that the program registers with cudaHostRegister(). Page-locking needs no action. Kernels cannot access
 * memory that the host has allocated, so a registration gets a copy in device memory when the program asks for its device
 * pointer. The bytes are copied to the device before each launch, and those that the launch has changed are copied back.
 */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTER_FLAGS = 15 };

struct registration {
    struct registration *next;
    uint8_t *begin;
    size_t bytes;
    unsigned flags;
    uint64_t device; /* address of the copy in device memory, or 0 if there is none */
    uint8_t *before; /* bytes of the copy when it was last equal to the host's bytes; NULL if there is no copy */
};

static struct {
    struct registration *list;
    unsigned copies; /* number of registrations with a copy in device memory */
} registered;

/** Returns a registration that overlaps with @bytes at @pointer, or NULL if there is none; locked. */
static struct registration *find(const void *pointer, size_t bytes)
{
    const uintptr_t begin = (uintptr_t)pointer;

    for (struct registration *r = registered.list; r != NULL; r = r->next)
        if (begin < (uintptr_t)r->begin + r->bytes && (uintptr_t)r->begin < begin + bytes)
            return r;
    return NULL;
}

/** Returns the registration whose copy in device memory contains @address, or NULL if there is none; locked. */
static struct registration *find_copy(uint64_t address)
{
    for (struct registration *r = registered.copies != 0 ? registered.list : NULL; r != NULL; r = r->next)
        if (r->device != 0 && address >= r->device && address - r->device < r->bytes)
            return r;
    return NULL;
}

static void drop(struct registration **at)
{
    struct registration *r = *at;

    *at = r->next;
    if (r->device != 0) {
        (void)rt_free(r->device);
        registered.copies--;
    }
    free(r->before);
    free(r);
}

/** Reserves device memory for a copy of @r. */
static cudaError_t make_copy(struct registration *r)
{
    if (r->device != 0)
        return cudaSuccess;
    r->before = malloc(r->bytes);
    if (r->before == NULL || rt_alloc(r->bytes, &r->device) != LANEWISE_OK) {
        free(r->before);
        r->before = NULL;
        r->device = 0;
        return cudaErrorMemoryAllocation;
    }
    registered.copies++;
    return cudaSuccess;
}

void cu_registered_to_device(void)
{
    for (struct registration *r = registered.copies != 0 ? registered.list : NULL; r != NULL; r = r->next)
        if (r->device != 0) {
            memcpy(r->before, r->begin, r->bytes);
            (void)lanewise_write(rt_machine(), r->device, r->before, r->bytes);
        }
}

/** Copies the bytes of @r that changed on the device to the host. Other bytes stay as they are, because other threads of the
 *  host may have written them in the meantime. */
static void copy_back(struct registration *r)
{
    uint8_t part[4096];

    for (size_t at = 0; at < r->bytes; at += sizeof part) {
        const size_t size = r->bytes - at < sizeof part ? r->bytes - at : sizeof part;

        if (lanewise_read(rt_machine(), r->device + at, part, size) != LANEWISE_OK || memcmp(part, r->before + at, size) == 0)
            continue;
        for (size_t i = 0; i < size; i++)
            if (part[i] != r->before[at + i])
                r->begin[at + i] = part[i];
    }
}

void cu_registered_to_host(void)
{
    for (struct registration *r = registered.copies != 0 ? registered.list : NULL; r != NULL; r = r->next)
        if (r->device != 0)
            copy_back(r);
}

bool cu_registered_has_copy(const void *address)
{
    return find_copy((uint64_t)(uintptr_t)address) != NULL;
}

bool cu_registered_pointers(const void *pointer, void **host, void **device)
{
    struct registration *r = find_copy((uint64_t)(uintptr_t)pointer);

    if (r != NULL) {
        *host = r->begin + ((uint64_t)(uintptr_t)pointer - r->device);
        *device = (void *)(uintptr_t)pointer;
        return true;
    }
    r = pointer != NULL ? find(pointer, 1) : NULL;
    if (r == NULL)
        return false;
    *host = (void *)(uintptr_t)pointer;
    *device = r->device != 0 ? (void *)(uintptr_t)(r->device + (uint64_t)((const uint8_t *)pointer - r->begin)) : NULL;
    return true;
}

void cu_registered_reset(void)
{
    while (registered.list != NULL)
        drop(&registered.list);
}

CU_API cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    cudaError_t error;
    struct registration *r;
    unsigned ignored;
    void *same;

    if (out == NULL || flags != 0)
        return cu_return(cudaErrorInvalidValue);
    *out = NULL;
    rt_lock();
    error = cu_memory_flags(host, &ignored);
    if (error == cudaSuccess) {
        *out = host;
    } else if ((r = find(host, 1)) != NULL) {
        error = make_copy(r);
        if (error == cudaSuccess)
            (void)cu_registered_pointers(host, &same, out);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    struct registration *new;
    cudaError_t error = cudaSuccess;
    size_t end;

    if (pointer == NULL || bytes == 0 || (flags & ~(unsigned)REGISTER_FLAGS) != 0 ||
        __builtin_add_overflow((uintptr_t)pointer, bytes, &end))
        return cu_return(cudaErrorInvalidValue);
    new = calloc(1, sizeof *new);
    if (new == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    rt_lock();
    if (cu_memory_is_device(pointer)) {
        error = cudaErrorInvalidValue;
    } else if (find(pointer, bytes) != NULL) {
        error = cudaErrorHostMemoryAlreadyRegistered;
    } else {
        *new = (struct registration){.next = registered.list, .begin = pointer, .bytes = bytes, .flags = flags | CU_HOST_MAPPED};
        registered.list = new;
        new = NULL;
    }
    rt_unlock();
    free(new);
    return cu_return(error);
}

CU_API cudaError_t cudaHostUnregister(void *pointer)
{
    cudaError_t error = cudaErrorHostMemoryNotRegistered;

    rt_lock();
    if (pointer == NULL || cu_memory_is_device(pointer))
        error = cudaErrorInvalidValue;
    else
        for (struct registration **at = &registered.list; *at != NULL; at = &(*at)->next) {
            const uintptr_t begin = (uintptr_t)(*at)->begin;

            if (begin == (uintptr_t)pointer) {
                drop(at);
                error = cudaSuccess;
                break;
            }
            if (begin < (uintptr_t)pointer && (uintptr_t)pointer < begin + (*at)->bytes)
                error = cudaErrorInvalidValue;
        }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaHostGetFlags(unsigned *out, void *pointer)
{
    const struct registration *r;
    cudaError_t error;

    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_memory_flags(pointer, out);
    r = find(pointer, 1);
    if (error != cudaSuccess && r != NULL) {
        *out = r->flags;
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}
