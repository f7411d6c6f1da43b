/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: memory, copies, fills, streams, events. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/cu_graph_priv.h"

#include <string.h>

cudaError_t cudaMalloc(void **out, size_t bytes);
cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags);
cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned flags);
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void *pointer);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, void (*callback)(cudaStream_t, cudaError_t, void *), void *user,
                                  unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

static void *pointer_of(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

/* ---- allocation --------------------------------------------------------------------------------------------------- */

CU_API CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes)
{
    void *pointer = NULL;
    CUresult result = cu_need_context();

    if (result == CUDA_SUCCESS)
        result = out != NULL && bytes != 0 ? CU_DRIVER(cudaMalloc(&pointer, bytes)) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = (uintptr_t)pointer;
    return cu_driver_return(result);
}
CU_ALIAS(cuMemAlloc, cuMemAlloc_v2);

CU_API CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
    void *pointer = NULL;
    CUresult result = out != NULL && bytes != 0 ? CU_IN_CONTEXT(cudaMallocAsync(&pointer, bytes, stream))
        : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = (uintptr_t)pointer;
    return cu_driver_return(result);
}

CU_API CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
    void *pointer = NULL;
    CUresult result = out != NULL && width != 0 && (element == 4 || element == 8 || element == 16)
                          ? CU_IN_CONTEXT(cudaMallocPitch(&pointer, pitch, width, height))
                          : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = (uintptr_t)pointer;
    return cu_driver_return(result);
}
CU_ALIAS(cuMemAllocPitch, cuMemAllocPitch_v2);

CU_API CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    void *pointer = NULL;
    CUresult result = out != NULL && bytes != 0 ? CU_IN_CONTEXT(cudaMallocManaged(&pointer, bytes, flags))
        : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = (uintptr_t)pointer;
    return cu_driver_return(result);
}

CU_API CUresult cuMemFree(CUdeviceptr address)
{
    if (address == 0 && cu_need_context() == CUDA_ERROR_INVALID_CONTEXT)
        return CUDA_SUCCESS;
    return CU_IN_CONTEXT(cudaFree(pointer_of(address)));
}
CU_ALIAS(cuMemFree, cuMemFree_v2);

CU_API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    return CU_IN_CONTEXT(cudaFreeAsync(pointer_of(address), stream));
}

CU_API CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    return CU_IN_CONTEXT(cudaHostAlloc(out, bytes, flags));
}

CU_API CUresult cuMemAllocHost(void **out, size_t bytes)
{
    return cuMemHostAlloc(out, bytes, 0);
}
CU_ALIAS(cuMemAllocHost, cuMemAllocHost_v2);

CU_API CUresult cuMemFreeHost(void *pointer)
{
    return CU_IN_CONTEXT(cudaFreeHost(pointer));
}

CU_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *host, unsigned flags)
{
    void *pointer = NULL;
    CUresult result = out != NULL ? CU_IN_CONTEXT(cudaHostGetDevicePointer(&pointer, host, flags)) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *out = (uintptr_t)pointer;
    return cu_driver_return(result);
}
CU_ALIAS(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2);

CU_API CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return CU_IN_CONTEXT(cudaHostRegister(pointer, bytes, flags));
}
CU_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);

CU_API CUresult cuMemHostUnregister(void *pointer)
{
    return CU_IN_CONTEXT(cudaHostUnregister(pointer));
}

CU_API CUresult cuMemGetInfo(size_t *available, size_t *total)
{
    return CU_IN_CONTEXT(cudaMemGetInfo(available, total));
}
CU_ALIAS(cuMemGetInfo, cuMemGetInfo_v2);

CU_API CUresult cuMemGetAddressRange(CUdeviceptr *out, size_t *bytes, CUdeviceptr address)
{
    CUresult result = cu_need_context();
    uint64_t begin = 0, size = 0;

    rt_lock();
    if (result == CUDA_SUCCESS && lanewise_allocation(rt_machine(), address, &begin, &size) != LANEWISE_OK)
        result = CUDA_ERROR_NOT_FOUND;
    rt_unlock();
    if (result == CUDA_SUCCESS && out != NULL)
        *out = begin;
    if (result == CUDA_SUCCESS && bytes != NULL)
        *bytes = size;
    return cu_driver_return(result);
}
CU_ALIAS(cuMemGetAddressRange, cuMemGetAddressRange_v2);

CU_API CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    (void)address, (void)bytes, (void)device, (void)stream;
    return cu_driver_return(cu_need_context());
}

CU_API CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, int advice, CUdevice device)
{
    (void)address, (void)bytes, (void)advice, (void)device;
    return cu_driver_return(cu_need_context());
}

CU_API CUresult cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address)
{
    enum { CONTEXT = 1, MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, IS_MANAGED = 8, ORDINAL = 9, BEGIN = 11,
          BYTES = 12, LAST = 22,
           TYPE_DEVICE = 2 };
    CUresult cuCtxGetCurrent(CUcontext *);
    CUresult result = out != NULL ? cu_need_context() : CUDA_ERROR_INVALID_VALUE;
    uint64_t begin = 0, bytes = 0;

    rt_lock();
    if (result == CUDA_SUCCESS && lanewise_allocation(rt_machine(), address, &begin, &bytes) != LANEWISE_OK)
        result = CUDA_ERROR_INVALID_VALUE; /* the address is not in memory that CUDA has allocated */
    rt_unlock();
    if (result != CUDA_SUCCESS)
        return cu_driver_return(result);
    switch (attribute) {
    case CONTEXT: return cuCtxGetCurrent(out);
    case MEMORY_TYPE: *(unsigned *)out = TYPE_DEVICE; return CUDA_SUCCESS;
    case DEVICE_POINTER: *(CUdeviceptr *)out = address; return CUDA_SUCCESS;
    case HOST_POINTER: *(void **)out = pointer_of(address); return CUDA_SUCCESS;
    case IS_MANAGED: *(unsigned *)out = 0; return CUDA_SUCCESS;
    case ORDINAL: *(int *)out = 0; return CUDA_SUCCESS;
    case BEGIN: *(CUdeviceptr *)out = begin; return CUDA_SUCCESS;
    case BYTES: *(size_t *)out = bytes; return CUDA_SUCCESS;
    default: return cu_driver_return(attribute <= 0 || attribute > LAST ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED);
    }
}

/* ---- copies ------------------------------------------------------------------------------------------------------- */

/** Copies in a stream, or, with @now, before the function returns. */
static CUresult copy(struct cudaMemcpy3DParms p, CUstream stream, bool now)
{
    return CU_IN_CONTEXT(cu_submit((struct cu_work){.type = CU_COPY, .copy = p}, stream, now));
}

#define COPY(NAME, TO, FROM, TO_POINTER, FROM_POINTER, KIND) \
    CU_API CUresult NAME(TO to, FROM from, size_t bytes) \
    { \
        return copy(cu_copy_of(TO_POINTER, bytes, FROM_POINTER, bytes, bytes, 1, KIND), NULL, true); \
    } \
    CU_ALIAS(NAME, NAME##_v2); \
    CU_API CUresult NAME##Async(TO to, FROM from, size_t bytes, CUstream stream) \
    { \
        return copy(cu_copy_of(TO_POINTER, bytes, FROM_POINTER, bytes, bytes, 1, KIND), stream, false); \
    } \
    CU_ALIAS(NAME##Async, NAME##Async_v2);
COPY(cuMemcpyHtoD, CUdeviceptr, const void *, pointer_of(to), from, HOST_TO_DEVICE)
COPY(cuMemcpyDtoH, void *, CUdeviceptr, to, pointer_of(from), DEVICE_TO_HOST)
COPY(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, pointer_of(to), pointer_of(from), DEVICE_TO_DEVICE)
COPY(cuMemcpy, CUdeviceptr, CUdeviceptr, pointer_of(to), pointer_of(from), DEFAULT)

struct side_2d {
    size_t x, y;
    int type;
    const void *host;
    CUdeviceptr device;
    void *array;
    size_t pitch;
};
struct copy_2d {
    struct side_2d from, to;
    size_t width, height;
};

enum { TYPE_HOST = 1, TYPE_DEVICE, TYPE_ARRAY, TYPE_UNIFIED };

static struct cudaPitchedPtr pointer_of_side(const struct cu_side *s, size_t width)
{
    void *base = s->type == TYPE_HOST                                  ? (void *)(uintptr_t)s->host
                 : s->type == TYPE_DEVICE || s->type == TYPE_UNIFIED ? pointer_of(s->device)
                                                                     : NULL;

    return (struct cudaPitchedPtr){base, s->pitch != 0 ? s->pitch : width, width, s->height};
}

/** Returns the array of a side of a copy, or NULL if the side is memory. */
static struct cu_array *array_of_side(const struct cu_side *s)
{
    return s->type == TYPE_ARRAY ? s->array : NULL;
}

/** Widths and positions of the driver interface count bytes; those of the runtime count texels of arrays. */
CUresult cu_copy_of_driver(const struct cu_copy_3d *c, struct cudaMemcpy3DParms *out)
{
    struct cu_array *to, *from;
    size_t texel = 1;
    bool is_valid;

    if (c == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    to = array_of_side(&c->to);
    from = array_of_side(&c->from);
    rt_lock();
    is_valid = (c->to.type != TYPE_ARRAY || cu_is_array(to)) && (c->from.type != TYPE_ARRAY || cu_is_array(from));
    if (is_valid && (to != NULL || from != NULL))
        texel = to != NULL ? to->texel_bytes : from->texel_bytes;
    rt_unlock();
    if (!is_valid || c->width % texel != 0 || (to != NULL && c->to.x % texel != 0) || (from != NULL && c->from.x % texel != 0))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct cudaMemcpy3DParms){
        .from_array = from, .from_position = {from != NULL ? c->from.x / texel : c->from.x, c->from.y, c->from.z},
            .from = pointer_of_side(&c->from, c->width),
        .to_array = to, .to_position = {to != NULL ? c->to.x / texel : c->to.x, c->to.y, c->to.z},
            .to = pointer_of_side(&c->to, c->width),
        .extent = {c->width / texel, c->height, c->depth}, .kind = DEFAULT};
    return c->width != 0 && ((to == NULL && out->to.pitch < c->width) || (from == NULL && out->from.pitch < c->width))
               ? CUDA_ERROR_INVALID_VALUE
               : CUDA_SUCCESS;
}

/** Returns a side of a copy in the driver interface. @texel is the size of the texels if the side is an array. */
static struct cu_side side_of_runtime(const struct cudaPitchedPtr *p, struct cu_array *array, const struct cu_position *at,
                                      size_t texel)
{
    if (array != NULL)
        return (struct cu_side){.x = at->x * texel, .y = at->y, .z = at->z, .type = TYPE_ARRAY, .array = array};
    return (struct cu_side){.x = at->x, .y = at->y, .z = at->z, .type = TYPE_UNIFIED, .device = (uintptr_t)p->pointer,
                            .pitch = p->pitch, .height = p->height};
}

struct cu_copy_3d cu_copy_to_driver(const struct cudaMemcpy3DParms *p)
{
    const struct cu_array *array = p->to_array != NULL ? p->to_array : p->from_array;
    size_t texel;

    rt_lock();
    texel = cu_is_array(array) ? array->texel_bytes : 1; /* the program may have destroyed the array */
    rt_unlock();
    return (struct cu_copy_3d){side_of_runtime(&p->from, p->from_array, &p->from_position, texel),
                               side_of_runtime(&p->to, p->to_array, &p->to_position, texel),
                               p->extent.width * texel, p->extent.height, p->extent.depth};
}

static CUresult copy_box(const struct cu_copy_3d *c, CUstream stream, bool now)
{
    struct cudaMemcpy3DParms p;
    CUresult result = cu_need_context();

    if (result == CUDA_SUCCESS)
        result = cu_copy_of_driver(c, &p);
    return result == CUDA_SUCCESS ? copy(p, stream, now) : result;
}

CU_API CUresult cuMemcpy3DAsync(const struct cu_copy_3d *c, CUstream stream)
{
    return cu_driver_return(copy_box(c, stream, false));
}
CU_ALIAS(cuMemcpy3DAsync, cuMemcpy3DAsync_v2);
/* The parameters of a copy between contexts differ only by the contexts, which are in place of reserved members. */
CU_ALIAS(cuMemcpy3DAsync, cuMemcpy3DPeerAsync);

CU_API CUresult cuMemcpy3D(const struct cu_copy_3d *c)
{
    return cu_driver_return(copy_box(c, NULL, true));
}
CU_ALIAS(cuMemcpy3D, cuMemcpy3D_v2);
CU_ALIAS(cuMemcpy3D, cuMemcpy3DPeer);

static struct cu_side side_of(const struct side_2d *s)
{
    return (struct cu_side){.x = s->x, .y = s->y, .type = s->type, .host = s->host, .device = s->device, .array = s->array,
                            .pitch = s->pitch};
}

static CUresult copy_rows(const struct copy_2d *c, CUstream stream, bool now)
{
    return c != NULL ? copy_box(&(struct cu_copy_3d){side_of(&c->from), side_of(&c->to), c->width, c->height, 1}, stream, now)
                     : CUDA_ERROR_INVALID_VALUE;
}

CU_API CUresult cuMemcpy2DAsync(const struct copy_2d *c, CUstream stream)
{
    return cu_driver_return(copy_rows(c, stream, false));
}
CU_ALIAS(cuMemcpy2DAsync, cuMemcpy2DAsync_v2);

CU_API CUresult cuMemcpy2D(const struct copy_2d *c)
{
    return cu_driver_return(copy_rows(c, NULL, true));
}
CU_ALIAS(cuMemcpy2D, cuMemcpy2D_v2);
CU_ALIAS(cuMemcpy2D, cuMemcpy2DUnaligned);
CU_ALIAS(cuMemcpy2D, cuMemcpy2DUnaligned_v2);

/* ---- fills -------------------------------------------------------------------------------------------------------- */

/** Fills @rows rows of @count elements of @bytes bytes with @value. */
static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned bytes, size_t count, size_t rows, CUstream stream)
{
    const struct cu_work work = {.type = CU_FILL, .fill = {pointer_of(to), pitch, value, bytes, count, rows}};

    return CU_IN_CONTEXT(cu_submit(work, stream, false));
}

#define FILLS(BITS, TYPE) \
    CU_API CUresult cuMemsetD##BITS##Async(CUdeviceptr to, TYPE value, size_t count, CUstream stream) \
    { \
        return fill(to, 0, value, sizeof value, count, 1, stream); \
    } \
    CU_API CUresult cuMemsetD##BITS(CUdeviceptr to, TYPE value, size_t count) { return cuMemsetD##BITS##Async(to, value, count, \
                                                                                                              NULL); } \
    CU_ALIAS(cuMemsetD##BITS, cuMemsetD##BITS##_v2); \
    CU_API CUresult cuMemsetD2D##BITS##Async(CUdeviceptr to, size_t pitch, TYPE value, size_t width, size_t height, \
                                             CUstream stream) \
    { \
        return fill(to, pitch, value, sizeof value, width, height, stream); \
    } \
    CU_API CUresult cuMemsetD2D##BITS(CUdeviceptr to, size_t pitch, TYPE value, size_t width, size_t height) \
    { \
        return cuMemsetD2D##BITS##Async(to, pitch, value, width, height, NULL); \
    } \
    CU_ALIAS(cuMemsetD2D##BITS, cuMemsetD2D##BITS##_v2);
FILLS(8, uint8_t)
FILLS(16, uint16_t)
FILLS(32, uint32_t)

/* ---- streams ------------------------------------------------------------------------------------------------------ */

CU_API CUresult cuStreamCreateWithPriority(CUstream *out, unsigned flags, int priority)
{
    return CU_IN_CONTEXT(cudaStreamCreateWithPriority(out, flags, priority));
}

CU_API CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    return cuStreamCreateWithPriority(out, flags, 0);
}

CU_API CUresult cuStreamDestroy(CUstream stream)
{
    return CU_IN_CONTEXT(cudaStreamDestroy(stream));
}
CU_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);

CU_API CUresult cuStreamSynchronize(CUstream stream)
{
    return CU_IN_CONTEXT(cudaStreamSynchronize(stream));
}

CU_API CUresult cuStreamQuery(CUstream stream)
{
    return CU_IN_CONTEXT(cudaStreamQuery(stream));
}

CU_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    return CU_IN_CONTEXT(cudaStreamWaitEvent(stream, event, flags));
}

CU_API CUresult cuStreamAddCallback(CUstream stream, void (*callback)(CUstream, CUresult, void *), void *user, unsigned flags)
{
    return CU_IN_CONTEXT(cudaStreamAddCallback(stream, callback, user, flags));
}

CU_API CUresult cuStreamGetCtx(CUstream stream, CUcontext *out)
{
    CUresult cuCtxGetCurrent(CUcontext *);

    (void)stream;
    return cuCtxGetCurrent(out);
}

/* ---- events ------------------------------------------------------------------------------------------------------- */

CU_API CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    return CU_IN_CONTEXT(cudaEventCreateWithFlags(out, flags));
}

CU_API CUresult cuEventDestroy(CUevent event)
{
    return CU_IN_CONTEXT(cudaEventDestroy(event));
}
CU_ALIAS(cuEventDestroy, cuEventDestroy_v2);

CU_API CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    return CU_IN_CONTEXT(cudaEventRecordWithFlags(event, stream, flags));
}

CU_API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return cuEventRecordWithFlags(event, stream, 0);
}

CU_API CUresult cuEventQuery(CUevent event)
{
    return CU_IN_CONTEXT(cudaEventQuery(event));
}

CU_API CUresult cuEventSynchronize(CUevent event)
{
    return CU_IN_CONTEXT(cudaEventSynchronize(event));
}

CU_API CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end)
{
    return CU_IN_CONTEXT(cudaEventElapsedTime(milliseconds, begin, end));
}
CU_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2);
