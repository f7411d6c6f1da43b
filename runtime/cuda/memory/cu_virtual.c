/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's driver interface: virtual memory management. A program reserves addresses, creates physical memory, maps it to reserved
 * addresses, and permits access to it. An access by a kernel to other reserved addresses is a fault.
 *
 * The emulator has memory only at addresses that are accessible. While physical memory is not accessible, its contents are kept in
 * memory of the host, so that they are the same at the next address to which the program maps it. Memory cannot be mapped to two
 * addresses at the same time, and cannot be exported to other processes.
 */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

enum { GRANULARITY = 1 << 21 };
enum { ALLOCATION_PINNED = 1, LOCATION_DEVICE = 1, LOCATION_HOST_LAST = 4 };
enum access { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_READ_WRITE = 3 };

/* Structures of CUDA's interface. */
struct location {
    int type, id;
};
struct properties {
    int type, handle_types;
    struct location location;
    void *win32;
    uint8_t compression, rdma;
    uint16_t usage;
    uint8_t reserved[4];
};
struct access_desc {
    struct location location;
    int flags;
};

/** Physical memory. Its handle is its address. */
struct physical {
    struct physical *next;
    uint64_t bytes;
    unsigned references; /* handles that the program has not released */
    bool mapped;
    struct properties properties;
    void *content;       /* [bytes] contents of the bytes that are not accessible; NULL: they are zeros, or all bytes are accessible */
};
struct mapping {
    struct mapping *next;
    uint64_t address, bytes;
    struct physical *physical;
    enum access access;
};
struct reservation {
    struct reservation *next;
    uint64_t address, bytes;
};

/* They are global, because a process has one device. Mappings are sorted by address. */
static struct physical *physicals;
static struct mapping *mappings;
static struct reservation *reservations;

static struct physical *physical_of(uint64_t handle)
{
    struct physical *p = physicals;

    while (p != NULL && (uint64_t)(uintptr_t)p != handle)
        p = p->next;
    return p;
}

/** Frees physical memory that has no handle and is not mapped. */
static void drop(struct physical *p)
{
    if (p->references != 0 || p->mapped)
        return;
    for (struct physical **at = &physicals; *at != NULL; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    rt_memory_return(p->bytes);
    free(p->content);
    free(p);
}

static bool is_multiple(uint64_t value)
{
    return value != 0 && value % GRANULARITY == 0;
}

/** Returns true if the range is in one reservation. */
static bool is_in_reservation(uint64_t address, uint64_t bytes)
{
    for (const struct reservation *r = reservations; r != NULL; r = r->next)
        if (address >= r->address && address - r->address < r->bytes && bytes <= r->bytes - (address - r->address))
            return true;
    return false;
}

/** Returns the link to the first mapping that ends above @address. */
static struct mapping **mapping_at(uint64_t address)
{
    struct mapping **at = &mappings;

    while (*at != NULL && (*at)->address + (*at)->bytes <= address)
        at = &(*at)->next;
    return at;
}

/** Returns true if the range consists of whole mappings, without gaps. */
static bool is_mapped(uint64_t address, uint64_t bytes)
{
    const struct mapping *m = *mapping_at(address);
    const uint64_t end = address + bytes;

    for (; m != NULL && m->address == address && address < end; m = m->next)
        address += m->bytes;
    return address == end;
}

/** Makes a mapping accessible as @access says. Errors: cudaErrorMemoryAllocation, with the mapping as it was. */
static cudaError_t set_access(struct mapping *m, enum access access)
{
    struct physical *p = m->physical;

    if (m->access == access)
        return cudaSuccess;
    if (p->content == NULL && m->access != ACCESS_NONE)
        p->content = calloc(1, p->bytes); /* reads as zeros where the memory is not mapped */
    if (m->access != ACCESS_NONE) {
        if (p->content == NULL || lanewise_peek(rt_machine(), m->address, p->content, m->bytes) != LANEWISE_OK)
            return cudaErrorMemoryAllocation;
        (void)lanewise_free(rt_machine(), m->address);
        m->access = ACCESS_NONE;
    }
    if (access == ACCESS_NONE)
        return cudaSuccess;
    if (rt_map(m->address, m->bytes, access == ACCESS_READ) != LANEWISE_OK)
        return cudaErrorMemoryAllocation;
    m->access = access;
    if (p->content != NULL)
        (void)lanewise_write(rt_machine(), m->address, p->content, m->bytes);
    if (m->bytes == p->bytes) { /* otherwise the contents of the rest are kept */
        free(p->content);
        p->content = NULL;
    }
    return cudaSuccess;
}

/** Removes a mapping; its memory loses its contents if it has no handle. */
static cudaError_t unmap(struct mapping **at)
{
    struct mapping *m = *at;
    cudaError_t error = cudaSuccess;

    if (m->physical->references == 0 && m->access != ACCESS_NONE)
        (void)lanewise_free(rt_machine(), m->address);
    else
        error = set_access(m, ACCESS_NONE);
    if (error != cudaSuccess)
        return error;
    *at = m->next;
    m->physical->mapped = false;
    drop(m->physical);
    free(m);
    return cudaSuccess;
}

void cu_virtual_reset(void)
{
    while (mappings != NULL) {
        struct mapping *m = mappings;

        if (m->access != ACCESS_NONE)
            (void)lanewise_free(rt_machine(), m->address);
        mappings = m->next;
        free(m);
    }
    while (physicals != NULL) {
        struct physical *p = physicals;

        p->references = 0;
        p->mapped = false;
        drop(p);
    }
    while (reservations != NULL) {
        struct reservation *r = reservations;

        (void)lanewise_unreserve(rt_machine(), r->address);
        reservations = r->next;
        free(r);
    }
}

/** Returns the error of properties that the device does not support. */
static CUresult check_properties(const struct properties *p)
{
    if (p == NULL || p->type != ALLOCATION_PINNED || p->location.type < LOCATION_DEVICE || p->location.type > LOCATION_HOST_LAST)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->location.type != LOCATION_DEVICE || p->handle_types != 0) /* no memory of the host, no other processes */
        return CUDA_ERROR_NOT_SUPPORTED;
    return p->location.id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CU_API CUresult cuMemGetAllocationGranularity(size_t *out, const struct properties *p, int option)
{
    enum { MINIMUM, RECOMMENDED };
    CUresult result = cu_need_driver();

    if (result == CUDA_SUCCESS)
        result = out != NULL && option >= MINIMUM && option <= RECOMMENDED ? check_properties(p) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = GRANULARITY;
    return cu_driver_return(result);
}

/** @hint is ignored, as CUDA permits. Addresses are aligned to 2 MiB; a larger alignment is not supported. */
CU_API CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr hint, unsigned long long flags)
{
    CUresult result = cu_need_driver();
    struct reservation *r = NULL;

    (void)hint;
    if (result == CUDA_SUCCESS && (out == NULL || !is_multiple(bytes) || flags != 0 || (alignment & (alignment - 1)) != 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && alignment > GRANULARITY)
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    r = calloc(1, sizeof *r);
    if (r == NULL)
        return cu_driver_return(CUDA_ERROR_OUT_OF_MEMORY);
    rt_lock();
    if (rt_machine() == NULL || lanewise_reserve(rt_machine(), bytes, &r->address) != LANEWISE_OK) {
        free(r);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        r->bytes = bytes;
        r->next = reservations;
        reservations = r;
        *out = r->address;
    }
    rt_unlock();
    return cu_driver_return(result);
}

/** Ends a whole reservation, to which no memory may be mapped. */
CU_API CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    CUresult result = cu_need_driver();

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    result = CUDA_ERROR_INVALID_VALUE;
    rt_lock();
    for (struct reservation **at = &reservations; *at != NULL; at = &(*at)->next) {
        struct reservation *r = *at;
        const struct mapping *m = *mapping_at(address);

        if (r->address != address || r->bytes != bytes || (m != NULL && m->address < address + bytes))
            continue;
        (void)lanewise_unreserve(rt_machine(), address);
        *at = r->next;
        free(r);
        result = CUDA_SUCCESS;
        break;
    }
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemCreate(unsigned long long *out, size_t bytes, const struct properties *properties, unsigned long long flags)
{
    CUresult result = cu_need_driver();
    struct physical *p;

    if (result == CUDA_SUCCESS)
        result = out != NULL && flags == 0 && is_multiple(bytes) ? check_properties(properties) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    p = calloc(1, sizeof *p);
    if (p == NULL)
        return cu_driver_return(CUDA_ERROR_OUT_OF_MEMORY);
    rt_lock();
    if (rt_machine() == NULL || !rt_memory_take(bytes)) {
        free(p);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        *p = (struct physical){.next = physicals, .bytes = bytes, .references = 1, .properties = *properties};
        p->properties.compression = 0; /* the device does not compress memory */
        physicals = p;
        *out = (uint64_t)(uintptr_t)p;
    }
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemRelease(unsigned long long handle)
{
    CUresult result = cu_need_driver();
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    p = physical_of(handle);
    if (p == NULL || p->references == 0) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        p->references--;
        drop(p);
    }
    rt_unlock();
    return cu_driver_return(result);
}

/** Gets another handle of the memory that is mapped to @address. */
CU_API CUresult cuMemRetainAllocationHandle(unsigned long long *out, void *address)
{
    CUresult result = cu_need_driver();
    const struct mapping *m;

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    m = *mapping_at((uint64_t)(uintptr_t)address);
    if (out == NULL || m == NULL || m->address > (uint64_t)(uintptr_t)address) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        m->physical->references++;
        *out = (uint64_t)(uintptr_t)m->physical;
    }
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemGetAllocationPropertiesFromHandle(struct properties *out, unsigned long long handle)
{
    CUresult result = cu_need_driver();
    const struct physical *p;

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    p = physical_of(handle);
    if (out == NULL || p == NULL)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        *out = p->properties;
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags)
{
    CUresult result = cu_need_driver();
    struct mapping *m, **at;
    struct physical *p;

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    m = calloc(1, sizeof *m);
    if (m == NULL)
        return cu_driver_return(CUDA_ERROR_OUT_OF_MEMORY);
    rt_lock();
    p = physical_of(handle);
    at = mapping_at(address);
    if (p == NULL || offset != 0 || flags != 0 || !is_multiple(bytes) || bytes > p->bytes || address % GRANULARITY != 0 ||
        !is_in_reservation(address, bytes) || (*at != NULL && (*at)->address < address + bytes))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (p->mapped)
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS) {
        *m = (struct mapping){.next = *at, .address = address, .bytes = bytes, .physical = p};
        *at = m;
        p->mapped = true;
        m = NULL;
    }
    free(m);
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    CUresult result = cu_need_driver();
    const uint64_t end = address + bytes;

    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    if (bytes == 0 || !is_mapped(address, bytes))
        result = CUDA_ERROR_INVALID_VALUE;
    for (struct mapping **at = mapping_at(address); result == CUDA_SUCCESS && *at != NULL && (*at)->address < end;)
        result = cu_result(unmap(at));
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const struct access_desc *list, size_t count)
{
    CUresult result = cu_need_driver();
    const uint64_t end = address + bytes;

    if (result == CUDA_SUCCESS && (list == NULL || count == 0))
        result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (list[i].flags != ACCESS_NONE && list[i].flags != ACCESS_READ && list[i].flags != ACCESS_READ_WRITE)
            result = CUDA_ERROR_INVALID_VALUE;
        else if (list[i].location.type != LOCATION_DEVICE)
            result = CUDA_ERROR_NOT_SUPPORTED;
        else if (list[i].location.id != 0)
            result = CUDA_ERROR_INVALID_DEVICE;
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    if (bytes == 0 || !is_mapped(address, bytes))
        result = CUDA_ERROR_INVALID_VALUE;
    for (struct mapping *m = *mapping_at(address); result == CUDA_SUCCESS && m != NULL && m->address < end; m = m->next)
        result = cu_result(set_access(m, (enum access)list[count - 1].flags));
    rt_unlock();
    return cu_driver_return(result);
}

CU_API CUresult cuMemGetAccess(unsigned long long *out, const struct location *location, CUdeviceptr address)
{
    CUresult result = cu_need_driver();
    const struct mapping *m;

    if (result == CUDA_SUCCESS && (out == NULL || location == NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && (location->type != LOCATION_DEVICE || location->id != 0))
        result = CUDA_ERROR_INVALID_DEVICE;
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    rt_lock();
    m = *mapping_at(address);
    if (m == NULL || m->address > address)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        *out = m->access;
    rt_unlock();
    return cu_driver_return(result);
}

/** Memory of other processes is not supported. */
CU_API CUresult cuMemExportToShareableHandle(void *out, unsigned long long handle, int type, unsigned long long flags)
{
    (void)out, (void)handle, (void)type, (void)flags;
    return cu_driver_return(CUDA_ERROR_NOT_SUPPORTED);
}

CU_API CUresult cuMemImportFromShareableHandle(unsigned long long *out, void *handle, int type)
{
    (void)out, (void)handle, (void)type;
    return cu_driver_return(CUDA_ERROR_NOT_SUPPORTED);
}
