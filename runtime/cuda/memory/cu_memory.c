/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's runtime: allocation of memory, copies, fills, and access to variables by their symbols. */
#include "runtime/cuda/cu_graph_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PITCH_ALIGN = 512 };

/** Kinds of memory, as in enum cudaMemoryType. */
enum memory_type { TYPE_UNREGISTERED, TYPE_HOST, TYPE_DEVICE, TYPE_MANAGED };
/** Memory that the program has allocated. */
struct block {
    struct block *next; /* next block in the same list */
    uint64_t address, bytes;
    enum memory_type type;
    enum cu_content content; /* selects the functions that free the block */
    unsigned flags;          /* of cudaHostAlloc */
    struct cu_pool *pool;    /* NULL: not of a pool */
};
enum { LISTS = 4096, PAGE_SHIFT = 12 };

/* All blocks of memory, in lists by a hash of their addresses. The lists are global, because a process has one device. */
static struct {
    struct block *list[LISTS];
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

/** Describes, for a finding, a pointer that is not in the device's memory. */
static void explain_pointer(const char *what, const void *pointer)
{
    cu_trace_handle(pointer);
    cu_trace_reason("the %s %p is not in the device's memory", what, pointer);
}

/** Explains why the device refuses the present call, which is a @what: in the finding about the call, or if there is none, on standard
 *  error. */
static void complain_of_call(const char *what)
{
    struct rt_site here;

    cu_trace_reason("%s", lanewise_error(rt_machine()));
    if (rt_wants_finding("api-invalid-call"))
        return;
    rt_complain(what);
    rt_site_take(&here);
    rt_print_site(&here, "called", -1);
}

/** Copies bytes between host and device, or within one of them; or, with @only_check, checks the arguments. Locked. */
static cudaError_t copy(void *to, const void *from, size_t bytes, int kind, bool only_check)
{
    lanewise_machine *machine = rt_machine();
    const uint64_t to_address = (uint64_t)(uintptr_t)to, from_address = (uint64_t)(uintptr_t)from;
    bool to_device, from_device, registered;
    int result;
    const cudaError_t error = cu_device_error();

    if (bytes == 0)
        return cudaSuccess;
    if (kind < HOST_TO_HOST || kind > DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (error != cudaSuccess)
        return error;
    if (to == NULL || from == NULL)
        return cudaErrorInvalidValue;
    to_device = is_device(to) || (only_check && cu_graph_memory_has(to));
    from_device = is_device(from) || (only_check && cu_graph_memory_has(from));
    if (!to_device && (kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE || is_lost(to)))
        explain_pointer("destination", to);
    else if (!from_device && (kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE || is_lost(from)))
        explain_pointer("source", from);
    /* Device memory is accepted as the host's side of a copy, too, because host and device share some of it. */
    if (kind == HOST_TO_DEVICE || kind == DEVICE_TO_DEVICE) {
        if (!to_device)
            return cudaErrorInvalidValue;
    }
    if ((kind == DEVICE_TO_HOST || kind == DEVICE_TO_DEVICE) && !from_device)
        return cudaErrorInvalidValue;
    if ((!to_device && is_lost(to)) || (!from_device && is_lost(from)))
        return cudaErrorInvalidValue;
    if (only_check)
        return cudaSuccess;
    if (to_address < from_address + bytes && from_address < to_address + bytes)
        cu_trace_undefined("source and destination overlap");
    registered = cu_registered_has_copy(to) || cu_registered_has_copy(from);
    if (registered)
        cu_registered_to_device();
    if (to_device && from_device)
        result = lanewise_copy(machine, to_address, from_address, bytes);
    else if (to_device)
        result = lanewise_write(machine, to_address, from, bytes);
    else if (from_device)
        result = rt_read(from_address, to, bytes, NULL);
    else {
        memmove(to, from, bytes);
        result = LANEWISE_OK;
    }
    if (registered)
        cu_registered_to_host();
    if (result != LANEWISE_OK) {
        complain_of_call("copy");
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

static enum cu_thing thing_of(const struct block *block)
{
    return block->content == CU_CONTENT_TEXTURE ? CU_THING_TEXTURE : block->content == CU_CONTENT_SURFACE ? CU_THING_SURFACE
           : block->type == TYPE_HOST           ? CU_THING_HOST_MEMORY
                                                : CU_THING_MEMORY;
}

static cudaError_t allocate(void **out, size_t bytes, enum memory_type type, enum cu_content content)
{
    struct block *block;
    uint64_t address = 0;
    cudaError_t error;

    if (out == NULL)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    block = calloc(1, sizeof *block);
    if (block == NULL)
        return cudaErrorMemoryAllocation;
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_capture_forbids(false);
    if (error == cudaSuccess && rt_alloc(bytes, &address) != LANEWISE_OK)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        *block = (struct block){.next = *list_of(address), .address = address, .bytes = bytes, .type = type, .content = content};
        *list_of(address) = block;
        if (content != CU_CONTENT_ARRAY)
            cu_trace_created((void *)(uintptr_t)address, thing_of(block), content == CU_CONTENT_DATA ? bytes : 0);
        block = NULL;
    }
    free(block);
    *out = (void *)(uintptr_t)address;
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return cu_return(allocate(out, bytes, TYPE_DEVICE, CU_CONTENT_DATA));
}

cudaError_t cu_memory_allocate(void **out, size_t bytes, enum cu_content content)
{
    return cu_return(allocate(out, bytes, TYPE_DEVICE, content));
}

/** Returns the error of an allocation or of a free in a stream that is not being captured. */
static cudaError_t check_stream(cudaStream_t stream)
{
    return cu_is_stream(stream) ? cu_capture_forbids_wait(stream, false) : cudaErrorInvalidResourceHandle;
}

/** Adds an allocation to the graph that is being captured. */
static cudaError_t capture_allocation(void **out, size_t bytes, cudaStream_t stream)
{
    struct cu_graph_memory *m;
    cudaError_t error;

    if (out == NULL)
        return cudaErrorInvalidValue;
    error = cu_graph_memory_create(bytes, &m);
    if (error != cudaSuccess)
        return error;
    cu_graph_memory_retain(m);
    error = cu_stream_submit(stream, &(struct cu_work){.type = CU_ALLOCATE, .memory = m});
    if (error == cudaSuccess)
        *out = (void *)(uintptr_t)cu_graph_memory_address(m);
    cu_graph_memory_release(m);
    return error;
}

/** Adds a free to the graph that is being captured. */
static cudaError_t capture_free(void *pointer, cudaStream_t stream)
{
    const struct cu_capture *capture = cu_stream_of(stream)->capture;

    return cu_capture_may_free(capture, pointer) ? cu_stream_submit(stream, &(struct cu_work){.type = CU_FREE, .pointer = pointer})
                                                 : cudaErrorInvalidValue;
}

cudaError_t cu_pool_allocate(void **out, size_t bytes, struct cu_pool *pool, cudaStream_t stream)
{
    cudaError_t error;
    struct block *block;

    rt_lock();
    if (cu_stream_captures(stream)) {
        error = capture_allocation(out, bytes, stream);
        rt_unlock();
        return error;
    }
    error = check_stream(stream);
    rt_unlock();
    if (error == cudaSuccess)
        error = allocate(out, bytes, TYPE_DEVICE, CU_CONTENT_DATA);
    if (error != cudaSuccess || *out == NULL)
        return error;
    rt_lock();
    pool = pool != NULL ? pool : cu_pool_current();
    block = *find_block((uint64_t)(uintptr_t)*out);
    error = block != NULL ? cu_pool_add(pool, bytes) : cudaErrorMemoryAllocation; /* NULL: another thread has freed the memory */
    if (error == cudaSuccess)
        block->pool = pool;
    rt_unlock();
    if (error != cudaSuccess) {
        (void)cudaFree(*out);
        *out = NULL;
    }
    return error;
}

CU_API cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    return cu_return(cu_pool_allocate(out, bytes, NULL, stream));
}

/** Frees a block of memory that has the content @content. @host true: the block must have been allocated by cudaHostAlloc();
 *  false: it must not. */
static cudaError_t free_block(void *pointer, bool host, enum cu_content content)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    cudaError_t error;
    struct block **at, *block;

    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_capture_forbids(false);
    if (error == cudaSuccess && pointer != NULL) {
        at = find_block(address);
        block = *at;
        if (block == NULL && !host && content == CU_CONTENT_DATA)
            error = cu_graph_memory_free(pointer);
        else if (block == NULL || block->content != content || (block->type == TYPE_HOST) != host ||
                 rt_free(address) != LANEWISE_OK)
            error = cudaErrorInvalidValue;
        if (error == cudaErrorInvalidValue) {
            cu_trace_handle(pointer);
            cu_trace_reason("%p is not the start of memory that this function frees", pointer);
        } else if (block != NULL) {
            *at = block->next;
            if (block->pool != NULL)
                cu_pool_remove(block->pool, block->bytes);
            cu_trace_released(pointer, block);
        }
    }
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaFree(void *pointer)
{
    return cu_return(free_block(pointer, false, CU_CONTENT_DATA));
}

cudaError_t cu_memory_free(void *pointer, enum cu_content content)
{
    return cu_return(free_block(pointer, false, content));
}

CU_API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    cudaError_t error;

    rt_lock();
    if (cu_stream_captures(stream)) {
        error = capture_free(pointer, stream);
        rt_unlock();
        return cu_return(error);
    }
    error = check_stream(stream);
    rt_unlock();
    return error == cudaSuccess ? cudaFree(pointer) : cu_return(error);
}

CU_API cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    size_t bytes;

    if (pitch == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (width > SIZE_MAX - PITCH_ALIGN)
        return cu_return(cudaErrorInvalidValue);
    *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(*pitch, height, &bytes))
        return cu_return(cudaErrorInvalidValue);
    return cu_return(allocate(out, bytes, TYPE_DEVICE, CU_CONTENT_DATA));
}

/** Allocates memory that host and device access at the same address. */
static cudaError_t allocate_shared(void **out, size_t bytes, enum memory_type type, unsigned flags)
{
    cudaError_t error = allocate(out, bytes, type, CU_CONTENT_DATA);

    if (error != cudaSuccess || *out == NULL)
        return error;
    rt_lock();
    struct block **block = find_block((uint64_t)(uintptr_t)*out);
    if (block != NULL && *block != NULL) /* NULL: another thread has freed the memory */
        (*block)->flags = flags;
    if (lanewise_host_pointer(rt_machine(), (uint64_t)(uintptr_t)*out) == NULL)
        error = cudaErrorNotSupported;
    rt_unlock();
    if (error != cudaSuccess) {
        (void)free_block(*out, type == TYPE_HOST, CU_CONTENT_DATA);
        *out = NULL;
    }
    return error;
}

CU_API cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    return cu_return(flags != 1 && flags != 2 ? cudaErrorInvalidValue : allocate_shared(out, bytes, TYPE_MANAGED, 0));
}

/** Flags of pinned memory. The device can access all memory of cudaHostAlloc(), so this memory always has the flag MAPPED. */
enum { HOST_ALLOC_FLAGS = 7 };

CU_API cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    return cu_return((flags & ~(unsigned)HOST_ALLOC_FLAGS) != 0 ? cudaErrorInvalidValue
                                                                : allocate_shared(out, bytes, TYPE_HOST, flags | CU_HOST_MAPPED));
}

CU_API cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return cu_return(allocate_shared(out, bytes, TYPE_HOST, CU_HOST_MAPPED));
}

CU_API cudaError_t cudaFreeHost(void *pointer)
{
    return cu_return(free_block(pointer, true, CU_CONTENT_DATA));
}

/** Returns the block that contains an address of the device, or NULL if there is none; locked. */
static struct block *block_of(const void *pointer)
{
    uint64_t begin, bytes;

    if (rt_machine() == NULL || lanewise_allocation(rt_machine(), (uint64_t)(uintptr_t)pointer, &begin, &bytes) != LANEWISE_OK)
        return NULL;
    return *find_block(begin);
}

cudaError_t cu_memory_flags(const void *pointer, unsigned *out)
{
    const struct block *block = block_of(pointer);

    if (block == NULL || block->type != TYPE_HOST)
        return cudaErrorInvalidValue;
    *out = block->flags;
    return cudaSuccess;
}

bool cu_memory_is_device(const void *pointer)
{
    return is_device(pointer);
}

void cu_memory_forget_pool(const struct cu_pool *pool)
{
    for (unsigned i = 0; i < LISTS; i++)
        for (struct block *b = memory.list[i]; b != NULL; b = b->next)
            if (b->pool == pool)
                b->pool = NULL;
}

void cu_memory_reset(void)
{
    cu_virtual_reset();
    cu_graph_memory_reset();
    cu_arrays_reset();
    cu_textures_reset();
    cu_pools_reset();
    for (unsigned i = 0; i < LISTS; i++)
        while (memory.list[i] != NULL) {
            struct block *block = memory.list[i];

            memory.list[i] = block->next;
            (void)rt_free(block->address);
            cu_trace_released((void *)(uintptr_t)block->address, block);
        }
    cu_registered_reset();
}

CU_API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device)
{
    (void)pointer, (void)bytes, (void)advice, (void)device;
    return cudaSuccess;
}

/** A prefetch has no effect, as host and device use the same memory. The location is in CUDA 13 a structure of two ints, and in
 *  CUDA 12 the number of a device. */
CU_API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, uint64_t location)
{
    bool found;

    (void)location;
    rt_lock();
    found = is_device(pointer);
    rt_unlock();
    return cu_return(found && bytes != 0 ? cudaSuccess : cudaErrorInvalidValue);
}

/** Attaching managed memory to a stream has no effect, as host and kernels may always access it. */
CU_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, const void *pointer, size_t bytes, unsigned flags)
{
    enum { ATTACH_GLOBAL = 1, ATTACH_HOST = 2, ATTACH_SINGLE = 4 };
    cudaError_t error = cudaSuccess;

    (void)bytes;
    rt_lock();
    if (!cu_is_stream(stream))
        error = cudaErrorInvalidResourceHandle;
    else if (!is_device(pointer) || (flags != ATTACH_GLOBAL && flags != ATTACH_HOST && flags != ATTACH_SINGLE))
        error = cudaErrorInvalidValue;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    const size_t all = rt_memory_bytes();
    cudaError_t error;

    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess && total != NULL)
        *total = all;
    if (error == cudaSuccess && available != NULL)
        *available = all - rt_memory_used();
    rt_unlock();
    return cu_return(error);
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

/** A box of memory in a copy of up to three dimensions. */
struct box {
    uint8_t *begin;
    size_t pitch, plane; /* distances of rows, and of planes, in bytes */
};

static struct box box_of(const struct cudaPitchedPtr *p, const struct cu_array *array, const struct cu_position *at)
{
    const size_t plane = p->pitch * p->height;

    if (array != NULL)
        return (struct box){(uint8_t *)array->address + at->z * array->plane + at->y * array->pitch + at->x * array->texel_bytes,
                            array->pitch, array->plane};
    return (struct box){(uint8_t *)((uintptr_t)p->pointer + at->z * plane + at->y * p->pitch + at->x), p->pitch, plane};
}

static bool is_empty(struct cu_extent e)
{
    return e.width == 0 || e.height == 0 || e.depth == 0;
}

/** Returns true if @count elements from @at on are inside @size elements. A size of 0 means 1. */
static bool fits(size_t at, size_t count, size_t size)
{
    size = size != 0 ? size : 1;
    return at <= size && count <= size - at;
}

/** Tests one side of a copy: memory, or a box of texels in an array. */
static cudaError_t check_side(const struct cudaPitchedPtr *p, const struct cu_array *array, const struct cu_position *at,
                              const struct cu_extent *e)
{
    if (array == NULL)
        return p->pointer != NULL ? cudaSuccess : cudaErrorInvalidValue;
    if (!cu_is_array(array))
        return cudaErrorInvalidResourceHandle;
    return fits(at->x, e->width, array->size.width) && fits(at->y, e->height, array->size.height) &&
                   fits(at->z, e->depth, array->size.depth)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

/** Returns true if all rows are in the allocation of device memory that contains the first byte, or if the first byte is not
 *  in device memory. Otherwise prints a message. So a copy or fill that fails changes nothing. */
static bool rows_fit(const uint8_t *begin, size_t pitch, size_t plane, const struct cu_extent *e)
{
    const uint64_t from = (uint64_t)(uintptr_t)begin;
    uint64_t first, bytes, at;

    if ((e->height == 1 && e->depth == 1) || rt_machine() == NULL ||
        lanewise_allocation(rt_machine(), from, &first, &bytes) != LANEWISE_OK)
        return true; /* one row: the copy itself tests it */
    for (size_t z = 0; z < e->depth; z++)
        for (size_t y = 0; y < e->height; y++) {
            at = from + z * plane + y * pitch - first;
            if (at > bytes || e->width > bytes - at) {
                fprintf(stderr, "lanewise: row %zu of plane %zu, %zu bytes at 0x%" PRIx64 ", is not in the allocation of %" PRIu64
                                " bytes at 0x%" PRIx64 "\n", y, z, e->width, first + at, bytes, first);
                cu_trace_reason("row %zu of plane %zu, %zu bytes, is not in the allocation of %" PRIu64 " bytes", y, z, e->width, bytes);
                return false;
            }
        }
    return true;
}

/** Returns the address of a row. With a wrong pitch it may be the address of no memory, or past the largest address. */
static uint8_t *row_of(const struct box *b, size_t y, size_t z)
{
    return (uint8_t *)((uintptr_t)b->begin + z * b->plane + y * b->pitch);
}

cudaError_t cu_copy(const struct cudaMemcpy3DParms *c, bool only_check)
{
    struct cu_extent e = c->extent;
    cudaError_t error = cudaSuccess;
    struct box to, from;

    if (is_empty(e))
        return cudaSuccess;
    if (c->kind < HOST_TO_HOST || c->kind > DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    error = check_side(&c->to, c->to_array, &c->to_position, &e);
    if (error == cudaSuccess)
        error = check_side(&c->from, c->from_array, &c->from_position, &e);
    if (error != cudaSuccess)
        return error;
    if (c->to_array != NULL && c->from_array != NULL && c->to_array->texel_bytes != c->from_array->texel_bytes)
        return cudaErrorInvalidValue;
    e.width *= c->to_array != NULL ? c->to_array->texel_bytes : c->from_array != NULL ? c->from_array->texel_bytes : 1;
    to = box_of(&c->to, c->to_array, &c->to_position);
    from = box_of(&c->from, c->from_array, &c->from_position);
    if (e.width > to.pitch || e.width > from.pitch)
        return e.height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
    if (!rows_fit(to.begin, to.pitch, to.plane, &e) || !rows_fit(from.begin, from.pitch, from.plane, &e))
        return cudaErrorInvalidValue;
    for (size_t z = 0; z < e.depth && error == cudaSuccess; z++)
        for (size_t y = 0; y < e.height && error == cudaSuccess; y++)
            error = copy(row_of(&to, y, z), row_of(&from, y, z), e.width, c->kind, only_check);
    return error;
}

struct cudaMemcpy3DParms cu_copy_of(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                    int kind)
{
    return (struct cudaMemcpy3DParms){.from = {(void *)(uintptr_t)from, from_pitch, width, height},
                                      .to = {to, to_pitch, width, height},
                                      .extent = {width, height, 1}, .kind = kind};
}

/** Executes a copy or fill that is complete when the function returns; locked. */
static cudaError_t run_now(const struct cu_work *work)
{
    const cudaError_t error = cu_capture_forbids(true);

    return error == cudaSuccess ? cu_work_run(work) : error;
}

static struct cu_work work_of_copy(struct cudaMemcpy3DParms copy)
{
    return (struct cu_work){.type = CU_COPY, .copy = copy};
}

cudaError_t cu_submit(struct cu_work work, cudaStream_t stream, bool now)
{
    cudaError_t error;

    cu_stream_settle(now ? NULL : stream);
    rt_lock();
    error = now ? run_now(&work) : cu_stream_submit(stream, &work);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    return cu_submit(work_of_copy(cu_copy_of(to, bytes, from, bytes, bytes, 1, kind)), NULL, true);
}

CU_API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
    return cu_submit(work_of_copy(cu_copy_of(to, bytes, from, bytes, bytes, 1, kind)), stream, false);
}

CU_API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    return to_device != 0 || from_device != 0 ? cu_return(cudaErrorInvalidDevice) : cudaMemcpy(to, from, bytes, DEVICE_TO_DEVICE);
}

CU_API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                       cudaStream_t stream)
{
    return to_device != 0 || from_device != 0 ? cu_return(cudaErrorInvalidDevice)
                                              : cudaMemcpyAsync(to, from, bytes, DEVICE_TO_DEVICE, stream);
}

CU_API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, int kind, cudaStream_t stream)
{
    return cu_submit(work_of_copy(cu_copy_of(to, to_pitch, from, from_pitch, width, height, kind)), stream, false);
}

CU_API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                int kind)
{
    return cu_submit(work_of_copy(cu_copy_of(to, to_pitch, from, from_pitch, width, height, kind)), NULL, true);
}

CU_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *c, cudaStream_t stream)
{
    return c != NULL ? cu_submit(work_of_copy(*c), stream, false) : cu_return(cudaErrorInvalidValue);
}

CU_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *c)
{
    return c != NULL ? cu_submit(work_of_copy(*c), NULL, true) : cu_return(cudaErrorInvalidValue);
}

/* ---- fills ------------------------------------------------------------------------------------------------------- */

cudaError_t cu_fill(const struct cudaMemsetParams *p, bool only_check)
{
    const size_t bytes = p->width * p->element_bytes;
    cudaError_t error = cu_device_error();
    bool registered;

    if (p->width == 0 || p->height == 0)
        return cudaSuccess;
    if (error != cudaSuccess)
        return error;
    if ((p->element_bytes != 1 && p->element_bytes != 2 && p->element_bytes != 4) || (uintptr_t)p->to % p->element_bytes != 0 ||
        p->width > SIZE_MAX / p->element_bytes || (p->height > 1 && (bytes > p->pitch || p->pitch % p->element_bytes != 0)))
        return cudaErrorInvalidValue;
    if (only_check)
        return is_device(p->to) || cu_graph_memory_has(p->to) ? cudaSuccess : cudaErrorInvalidValue;
    if (!rows_fit(p->to, p->pitch, 0, &(struct cu_extent){bytes, p->height, 1}))
        return cudaErrorInvalidValue;
    registered = cu_registered_has_copy(p->to);
    if (registered)
        cu_registered_to_device();
    for (size_t y = 0; y < p->height && error == cudaSuccess; y++)
        if (lanewise_fill(rt_machine(), (uint64_t)(uintptr_t)p->to + y * p->pitch, &p->value, p->element_bytes,
                          bytes) != LANEWISE_OK) {
            complain_of_call("memset");
            explain_pointer("destination", p->to);
            error = cudaErrorInvalidValue;
        }
    if (registered)
        cu_registered_to_host();
    return error;
}

/** Fills rows of bytes in a stream. */
static cudaError_t fill(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return cu_submit((struct cu_work){.type = CU_FILL, .fill = {to, pitch, (uint8_t)value, 1, width, height}}, stream, false);
}

CU_API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill(to, bytes, value, bytes, 1, stream);
}

CU_API cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return fill(to, bytes, value, bytes, 1, NULL);
}

CU_API cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    return fill(to, pitch, value, width, height, stream);
}

CU_API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return fill(to, pitch, value, width, height, NULL);
}

CU_API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cu_extent e, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;

    if (e.width > to.pitch && e.depth > 1 && !is_empty(e))
        return cu_return(cudaErrorInvalidValue);
    for (size_t z = 0; z < e.depth && error == cudaSuccess && !is_empty(e); z++)
        error = fill((uint8_t *)to.pointer + z * to.pitch * to.height, to.pitch, value, e.width, e.height, stream);
    return cu_return(error);
}

CU_API cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cu_extent extent)
{
    return cudaMemset3DAsync(to, value, extent, NULL);
}

CU_API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cu_extent extent)
{
    cudaError_t error;
    size_t rows;

    if (out == NULL || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return cu_return(cudaErrorInvalidValue);
    error = cudaMallocPitch(&out->pointer, &out->pitch, extent.width, rows);
    out->width = extent.width;
    out->height = extent.height;
    return error;
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

cudaError_t cu_copy_symbol(const void *symbol, void *to, const void *from, size_t bytes, size_t offset, int kind,
                           struct cudaMemcpy3DParms *out)
{
    const int copies_host = to == NULL ? HOST_TO_DEVICE : DEVICE_TO_HOST;
    uint64_t address;
    size_t size;
    cudaError_t error = (to == NULL) == (from == NULL) ? cudaErrorInvalidValue : cu_variable_get(symbol, &address, &size);

    if (error == cudaSuccess && bytes != 0 && kind != copies_host && kind != DEVICE_TO_DEVICE && kind != DEFAULT)
        error = cudaErrorInvalidMemcpyDirection;
    if (error == cudaSuccess && bytes != 0 && (offset > size || bytes > size - offset)) {
        cu_trace_reason("%zu bytes from offset %zu exceed the variable, which has %zu byte%s", bytes, offset, size, size == 1 ? "" : "s");
        error = cudaErrorInvalidValue;
    }
    if (error == cudaSuccess) {
        void *variable = (void *)(uintptr_t)(address + offset);

        *out = cu_copy_of(to != NULL ? to : variable, bytes, from != NULL ? from : variable, bytes, bytes, 1, kind);
    }
    return error;
}

/** Copies to a variable (@to is NULL) or from a variable (@from is NULL): in a stream or, with @now, before the
 *  function returns. */
static cudaError_t copy_symbol(const void *symbol, void *to, const void *from, size_t bytes, size_t offset, int kind,
                               cudaStream_t stream, bool now)
{
    struct cudaMemcpy3DParms c;
    cudaError_t error;

    rt_lock();
    error = cu_copy_symbol(symbol, to, from, bytes, offset, kind, &c);
    rt_unlock();
    return error == cudaSuccess ? cu_submit(work_of_copy(c), stream, now) : cu_return(error);
}

CU_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
    return copy_symbol(symbol, NULL, from, bytes, offset, kind, NULL, true);
}

CU_API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
    return copy_symbol(symbol, to, NULL, bytes, offset, kind, NULL, true);
}

CU_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
                                           cudaStream_t stream)
{
    return copy_symbol(symbol, NULL, from, bytes, offset, kind, stream, false);
}

CU_API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, int kind,
                                             cudaStream_t stream)
{
    return copy_symbol(symbol, to, NULL, bytes, offset, kind, stream, false);
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
    if (cu_registered_pointers(pointer, &out->hostPointer, &out->devicePointer)) {
        out->type = TYPE_HOST;
        out->device = 0;
    } else if (is_device(pointer)) {
        const struct block *block;
        uint64_t begin, bytes;

        (void)lanewise_allocation(rt_machine(), (uint64_t)(uintptr_t)pointer, &begin, &bytes);
        block = *find_block(begin); /* NULL if @begin is the address of a variable, which is not in the lists */
        out->type = block != NULL ? (int)block->type : cu_is_managed(begin) ? TYPE_MANAGED : TYPE_DEVICE;
        out->device = 0;
        out->devicePointer = (void *)(uintptr_t)pointer;
        if (out->type != TYPE_DEVICE)
            out->hostPointer = out->devicePointer;
    } else {
        out->hostPointer = (void *)(uintptr_t)pointer;
    }
    rt_unlock();
    return cu_return(cudaSuccess);
}
