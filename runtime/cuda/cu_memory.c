/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime: allocation of memory, copies, fills, and access to variables by their symbols. */
#include "runtime/cuda/cu_priv.h"

#include <stdlib.h>
#include <string.h>

enum copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };
enum { PITCH_ALIGN = 512 };

/** Kinds of memory, as in enum cudaMemoryType. */
enum memory_type { TYPE_UNREGISTERED, TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED };
/** Memory that the program has allocated. */
struct block {
    struct block *next; /* next block in the same list */
    uint64_t address, bytes;
    enum memory_type type;
};
enum { LISTS = 4096, PAGE_SHIFT = 12 };

/* All blocks of memory, in lists by a hash of their addresses. The lists are global, because a process has one device. */
static struct {
    struct block *list[LISTS];
    uint64_t bytes; /* size of all blocks together */
} memory;

static struct block **list_of(uint64_t address)
{
    return &memory.list[(address >> PAGE_SHIFT) % LISTS];
}

/** Returns the address of the list link to the block that begins at @address. The link is NULL if there is no such
 *  block. */
static struct block **find_block(uint64_t address)
{
    struct block **at = list_of(address);

    while (*at != NULL && (*at)->address != address)
        at = &(*at)->next;
    return at;
}

/** Returns true if the pointer is in the device's memory. */
static bool is_device(const void *pointer)
{
    lanewise_machine *machine = rt_machine();
    uint64_t begin, bytes;

    return machine != NULL && lanewise_allocation(machine, (uint64_t)(uintptr_t)pointer, &begin, &bytes) == LANEWISE_OK;
}

/** Returns true for an address in the range of device addresses that is in no live allocation. The host has no memory
 *  there, either, so an access would crash. */
static bool is_lost(const void *pointer)
{
    uint64_t begin, end;

    lanewise_address_range(rt_machine(), &begin, &end);
    return (uint64_t)(uintptr_t)pointer >= begin && (uint64_t)(uintptr_t)pointer < end && !is_device(pointer);
}

/** Copies bytes between host and device, or within one of them. The caller holds the lock. */
static cudaError_t copy(void *to, const void *from, size_t bytes, int kind)
{
    lanewise_machine *machine = rt_machine();
    const uint64_t to_address = (uint64_t)(uintptr_t)to, from_address = (uint64_t)(uintptr_t)from;
    bool to_device, from_device;
    int result;

    if (machine == NULL)
        return cudaErrorNoDevice;
    if (rt_stopped()) /* after a kernel has failed, all calls fail */
        return cudaErrorLaunchFailure;
    if (kind < HOST_TO_HOST || kind > DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (bytes == 0)
        return cudaSuccess;
    if (to == NULL || from == NULL)
        return cudaErrorInvalidValue;
    to_device = is_device(to);
    from_device = is_device(from);
    /* Device memory is accepted as the host's side of a copy, too, because host and device share some of it. */
    if (kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE) {
        if (!to_device)
            return cudaErrorInvalidValue;
    }
    if ((kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE) && !from_device)
        return cudaErrorInvalidValue;
    if ((!to_device && is_lost(to)) || (!from_device && is_lost(from)))
        return cudaErrorInvalidValue;
    if (to_device && from_device)
        result = lanewise_copy(machine, to_address, from_address, bytes);
    else if (to_device)
        result = lanewise_write(machine, to_address, from, bytes);
    else if (from_device)
        result = lanewise_read(machine, from_address, to, bytes);
    else {
        memmove(to, from, bytes);
        result = LANEWISE_OK;
    }
    if (result != LANEWISE_OK) {
        rt_complain("cudaMemcpy");
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static cudaError_t allocate(void **out, size_t bytes, enum memory_type type)
{
    struct block *block;
    lanewise_machine *machine;
    uint64_t address = 0;
    cudaError_t error = cudaSuccess;

    if (out == NULL)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    block = calloc(1, sizeof *block);
    if (block == NULL)
        return cudaErrorMemoryAllocation;
    rt_lock();
    machine = rt_machine();
    if (machine == NULL) {
        error = cudaErrorNoDevice;
    } else if (rt_stopped()) {
        error = cudaErrorLaunchFailure;
    } else if (rt_alloc(bytes, &address) != LANEWISE_OK) {
        error = cudaErrorMemoryAllocation;
    } else {
        *block = (struct block){.next = *list_of(address), .address = address, .bytes = bytes, .type = type};
        *list_of(address) = block;
        memory.bytes += bytes;
        block = NULL;
    }
    free(block);
    *out = (void *)(uintptr_t)address;
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return cu_return(allocate(out, bytes, TYPE_DEVICE));
}

CU_API cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cu_return(allocate(out, bytes, TYPE_DEVICE));
}

CU_API cudaError_t cudaFree(void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    cudaError_t error = cudaSuccess;
    struct block **at, *block;

    rt_lock();
    if (rt_machine() == NULL) {
        error = cudaErrorNoDevice;
    } else if (pointer != NULL) {
        at = find_block(address);
        block = *at;
        if (block == NULL || lanewise_free(rt_machine(), address) != LANEWISE_OK) {
            error = cudaErrorInvalidValue;
        } else {
            *at = block->next;
            memory.bytes -= block->bytes;
            free(block);
        }
    }
    rt_unlock();
    return cu_return(error);
}

void cu_memory_reset(void)
{
    for (unsigned i = 0; i < LISTS; i++)
        while (memory.list[i] != NULL) {
            struct block *block = memory.list[i];

            memory.list[i] = block->next;
            (void)lanewise_free(rt_machine(), block->address);
            free(block);
        }
    memory.bytes = 0;
}

CU_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    (void)stream;
    return cudaFree(pointer);
}

CU_API cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    size_t bytes;

    if (pitch == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (width > SIZE_MAX - PITCH_ALIGN)
        return cu_return(cudaErrorMemoryAllocation);
    *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        return cu_return(cudaErrorMemoryAllocation);
    return cu_return(allocate(out, bytes, TYPE_DEVICE));
}

/** Allocates memory that host and device access at the same address. */
static cudaError_t allocate_shared(void **out, size_t bytes, enum memory_type type)
{
    cudaError_t error = allocate(out, bytes, type);
    uint8_t zero = 0;

    if (error != cudaSuccess || *out == NULL)
        return error;
    rt_lock();
    if (lanewise_host_pointer(rt_machine(), (uint64_t)(uintptr_t)*out) == NULL)
        error = cudaErrorNotSupported;
    else /* marks all bytes as initialised, because the emulator does not see which bytes the host writes */
        lanewise_fill(rt_machine(), (uint64_t)(uintptr_t)*out, &zero, 1, bytes);
    rt_unlock();
    if (error != cudaSuccess) {
        cudaFree(*out);
        *out = NULL;
    }
    return error;
}

CU_API cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    return cu_return(flags != 1 && flags != 2 ? cudaErrorInvalidValue : allocate_shared(out, bytes, TYPE_MANAGED));
}

CU_API cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    return cu_return(allocate_shared(out, bytes, TYPE_HOST));
}

CU_API cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return cu_return(allocate_shared(out, bytes, TYPE_HOST));
}

CU_API cudaError_t cudaFreeHost(void *pointer)
{
    return cudaFree(pointer);
}

CU_API cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags)
{
    (void)flags;
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    *out = is_device(host) ? host : NULL;
    rt_unlock();
    return cu_return(*out != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

CU_API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    enum { MAPPED = 2 };

    if (pointer == NULL || bytes == 0)
        return cu_return(cudaErrorInvalidValue);
    return cu_return((flags & MAPPED) != 0 ? cudaErrorNotSupported : cudaSuccess); /* page-locking needs no action here */
}

CU_API cudaError_t cudaHostUnregister(void *pointer)
{
    return cu_return(pointer != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

CU_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device)
{
    (void)pointer, (void)bytes, (void)advice, (void)device;
    return cudaSuccess;
}

CU_API cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    if (available == NULL || total == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    *total = rt_memory_bytes();
    *available = memory.bytes < *total ? *total - memory.bytes : 0;
    rt_unlock();
    return cudaSuccess;
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

CU_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    cudaError_t error;

    rt_lock();
    error = copy(to, from, bytes, kind);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
    cudaError_t error;

    rt_lock();
    error = cu_is_stream(stream) ? copy(to, from, bytes, kind) : cudaErrorInvalidResourceHandle;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                int kind)
{
    cudaError_t error = cudaSuccess;

    if (width > to_pitch || width > from_pitch)
        return cu_return(cudaErrorInvalidPitchValue);
    rt_lock();
    for (size_t y = 0; y < height && width != 0 && error == cudaSuccess; y++)
        error = copy((char *)to + y * to_pitch, (const char *)from + y * from_pitch, width, kind);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, int kind, cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

static cudaError_t fill(void *to, int value, size_t bytes)
{
    const uint8_t byte = (uint8_t)value;
    cudaError_t error = cudaSuccess;

    if (bytes == 0)
        return cudaSuccess;
    rt_lock();
    if (rt_machine() == NULL)
        error = cudaErrorNoDevice;
    else if (rt_stopped())
        error = cudaErrorLaunchFailure;
    else if (lanewise_fill(rt_machine(), (uint64_t)(uintptr_t)to, &byte, 1, bytes) != LANEWISE_OK) {
        rt_complain("cudaMemset");
        error = cudaErrorInvalidValue;
    }
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return cu_return(fill(to, value, bytes));
}

CU_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cu_return(fill(to, value, bytes));
}

CU_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    cudaError_t error = width > pitch ? cudaErrorInvalidPitchValue : cudaSuccess;

    for (size_t y = 0; y < height && width != 0 && error == cudaSuccess; y++)
        error = fill((char *)to + y * pitch, value, width);
    return cu_return(error);
}

/* ---- symbols --------------------------------------------------------------------------------------------------- */

CU_API cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
    uint64_t address = 0;
    size_t bytes;
    cudaError_t error;

    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_variable_get(symbol, &address, &bytes);
    rt_unlock();
    *out = (void *)(uintptr_t)address;
    return cu_return(error);
}

CU_API cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
    uint64_t address;
    cudaError_t error;

    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_variable_get(symbol, &address, out);
    rt_unlock();
    return cu_return(error);
}

/** Copies to a variable (@to is NULL) or from a variable (@from is NULL). */
static cudaError_t copy_symbol(const void *symbol, void *to, const void *from, size_t bytes, size_t offset, int kind)
{
    uint64_t address;
    size_t size;
    cudaError_t error;

    rt_lock();
    error = cu_variable_get(symbol, &address, &size);
    if (error == cudaSuccess && (offset > size || bytes > size - offset))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = copy(to != NULL ? to : (void *)(uintptr_t)(address + offset),
                     from != NULL ? from : (void *)(uintptr_t)(address + offset), bytes, kind);
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
    return cu_return(from == NULL ? cudaErrorInvalidValue : copy_symbol(symbol, NULL, from, bytes, offset, kind));
}

CU_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
    return cu_return(to == NULL ? cudaErrorInvalidValue : copy_symbol(symbol, to, NULL, bytes, offset, kind));
}

CU_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
                                           cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

CU_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int kind,
                                             cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

/* ---- pointers -------------------------------------------------------------------------------------------------- */

struct cudaPointerAttributes {
    int type, device; /* type: enum memory_type */
    void *devicePointer, *hostPointer;
    long reserved[8];
};

CU_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    memset(out, 0, offsetof(struct cudaPointerAttributes, reserved));
    out->device = -2;
    rt_lock();
    if (is_device(pointer)) {
        const struct block *block;
        uint64_t begin, bytes;

        (void)lanewise_allocation(rt_machine(), (uint64_t)(uintptr_t)pointer, &begin, &bytes);
        block = *find_block(begin); /* NULL if @begin is the address of a variable, which is not in the lists */
        out->type = block != NULL ? (int)block->type : TYPE_DEVICE;
        out->device = 0;
        out->devicePointer = (void *)(uintptr_t)pointer;
        if (out->type != TYPE_DEVICE)
            out->hostPointer = out->devicePointer;
    } else {
        out->hostPointer = (void *)(uintptr_t)pointer;
    }
    rt_unlock();
    return cudaSuccess;
}
