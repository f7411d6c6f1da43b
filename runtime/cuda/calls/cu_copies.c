/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that few programs use: between devices, of which there is one; batches of boxes; and the driver's copies of arrays. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/texture/cu_texture_priv.h"

/* ---- copies between devices ---------------------------------------------------------------------------------------- */

/** A copy between two devices, in CUDA's layout. */
struct cudaMemcpy3DPeerParms {
    struct cu_array *from_array;
    struct cu_position from_position;
    struct cudaPitchedPtr from;
    int from_device;
    struct cu_array *to_array;
    struct cu_position to_position;
    struct cudaPitchedPtr to;
    int to_device;
    struct cu_extent extent;
};

static cudaError_t copy_of_peers(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream, bool now)
{
    if (p == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (p->from_device != 0 || p->to_device != 0)
        return cu_return(cudaErrorInvalidDevice);
    return cu_submit((struct cu_work){.type = CU_COPY,
                                      .copy = {p->from_array, p->from_position, p->from, p->to_array, p->to_position, p->to,
                                               p->extent, DEFAULT}},
                     stream, now);
}

CU_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_of_peers(p, NULL, true);
}

CU_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_of_peers(p, stream, false);
}

/* ---- batches ------------------------------------------------------------------------------------------------------- */

/** A copy of a batch, in CUDA's layout. Extents, positions and lengths count texels if a side is an array, else bytes. */
struct batch_side {
    int type; /* SIDE_... */
    union {
        struct {
            void *pointer;
            size_t row, rows; /* length of a row and number of rows of a plane; 0: those of the copy */
            int location[2];
        } memory;
        struct {
            struct cu_array *array;
            struct cu_position at;
        } array;
    };
};
struct batch_copy {
    struct batch_side from, to;
    struct cu_extent extent;
    int order;
    unsigned flags;
};
enum { SIDE_POINTER = 1, SIDE_ARRAY };

static struct cu_array *array_of(const struct batch_side *s)
{
    return s->type == SIDE_ARRAY ? s->array.array : NULL;
}

/** Returns the memory of a side, whose rows have @texel bytes for each element. */
static struct cudaPitchedPtr memory_of(const struct batch_side *s, const struct cu_extent *e, size_t texel)
{
    const size_t row = s->memory.row != 0 ? s->memory.row : e->width;

    return s->type == SIDE_ARRAY ? (struct cudaPitchedPtr){0}
                                 : (struct cudaPitchedPtr){s->memory.pointer, row * texel, e->width * texel,
                                                           s->memory.rows != 0 ? s->memory.rows : e->height};
}

static bool side_is_valid(const struct batch_side *s, const struct cu_extent *e)
{
    if (s->type == SIDE_ARRAY)
        return cu_is_array(s->array.array);
    return s->type == SIDE_POINTER && s->memory.pointer != NULL && (s->memory.row == 0 || s->memory.row >= e->width) &&
           (s->memory.rows == 0 || s->memory.rows >= e->height);
}

/** Converts a copy of a batch. cudaErrorInvalidValue: the copy is not valid. */
static cudaError_t copy_of_batch(const struct batch_copy *b, struct cudaMemcpy3DParms *out)
{
    enum { LAST_ORDER = 3 };
    const struct cu_extent *e = &b->extent;
    struct cu_array *const to = array_of(&b->to), *const from = array_of(&b->from);
    size_t texel = 1;
    bool is_valid;

    rt_lock();
    is_valid = side_is_valid(&b->from, e) && side_is_valid(&b->to, e) && b->order >= 1 && b->order <= LAST_ORDER &&
               e->width != 0 && e->height != 0 && e->depth != 0;
    if (is_valid && (to != NULL || from != NULL))
        texel = to != NULL ? to->texel_bytes : from->texel_bytes;
    rt_unlock();
    if (!is_valid)
        return cudaErrorInvalidValue;
    *out = (struct cudaMemcpy3DParms){.from_array = from, .from = memory_of(&b->from, e, texel),
                                      .to_array = to, .to = memory_of(&b->to, e, texel), .extent = *e, .kind = DEFAULT};
    if (from != NULL)
        out->from_position = b->from.array.at;
    if (to != NULL)
        out->to_position = b->to.array.at;
    return cudaSuccess;
}

/** Copies boxes in a stream. All copies are checked before the first one, so that a batch with a wrong copy changes nothing. */
CU_API cudaError_t cudaMemcpy3DBatchAsync(size_t count, const struct batch_copy *list, unsigned long long flags, cudaStream_t stream)
{
    cudaError_t error = count != 0 && list != NULL && flags == 0 ? cudaSuccess : cudaErrorInvalidValue;
    struct cu_work work = {.type = CU_COPY};

    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = copy_of_batch(&list[i], &work.copy);
        rt_lock();
        if (error == cudaSuccess)
            error = cu_work_check(&work);
        rt_unlock();
    }
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        error = copy_of_batch(&list[i], &work.copy);
        if (error == cudaSuccess)
            error = cu_submit(work, stream, false);
    }
    return cu_return(error);
}

CU_API CUresult cuMemcpy3DBatchAsync_v2(size_t count, const struct batch_copy *list, unsigned long long flags, CUstream stream)
{
    return CU_IN_CONTEXT(cudaMemcpy3DBatchAsync(count, list, flags, stream));
}

/** The function of CUDA 12, which has a result for the number of the copy that failed. @failed: no particular copy. */
CU_API CUresult cuMemcpy3DBatchAsync(size_t count, const struct batch_copy *list, size_t *failed, unsigned long long flags,
                                     CUstream stream)
{
    if (failed != NULL)
        *failed = SIZE_MAX;
    return cuMemcpy3DBatchAsync_v2(count, list, flags, stream);
}

CUresult cuMemcpyBatchAsync_v2(void *const *to, const void *const *from, const size_t *bytes, size_t count, const void *attributes,
                               const size_t *indices, size_t attribute_count, CUstream stream);
CU_API CUresult cuMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                                   const void *attributes, const size_t *indices, size_t attribute_count, size_t *failed,
                                   CUstream stream)
{
    if (failed != NULL)
        *failed = SIZE_MAX;
    return cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, indices, attribute_count, stream);
}

/* ---- arrays: the position in an array counts bytes ------------------------------------------------------------------ */

cudaError_t cudaMemcpyToArray(struct cu_array *to, size_t x, size_t y, const void *from, size_t bytes, int kind);
cudaError_t cudaMemcpyToArrayAsync(struct cu_array *to, size_t x, size_t y, const void *from, size_t bytes, int kind,
                                   cudaStream_t stream);
cudaError_t cudaMemcpyFromArray(void *to, struct cu_array *from, size_t x, size_t y, size_t bytes, int kind);
cudaError_t cudaMemcpyFromArrayAsync(void *to, struct cu_array *from, size_t x, size_t y, size_t bytes, int kind,
                                     cudaStream_t stream);
cudaError_t cudaMemcpyArrayToArray(struct cu_array *to, size_t to_x, size_t to_y, struct cu_array *from, size_t from_x,
                                   size_t from_y, size_t bytes, int kind);

CU_API CUresult cuMemcpyHtoA(struct cu_array *to, size_t at, const void *from, size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemcpyToArray(to, at, 0, from, bytes, HOST_TO_DEVICE));
}
CU_ALIAS(cuMemcpyHtoA, cuMemcpyHtoA_v2);

CU_API CUresult cuMemcpyHtoAAsync(struct cu_array *to, size_t at, const void *from, size_t bytes, CUstream stream)
{
    return CU_IN_CONTEXT(cudaMemcpyToArrayAsync(to, at, 0, from, bytes, HOST_TO_DEVICE, stream));
}
CU_ALIAS(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync_v2);

CU_API CUresult cuMemcpyDtoA(struct cu_array *to, size_t at, CUdeviceptr from, size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemcpyToArray(to, at, 0, (const void *)(uintptr_t)from, bytes, DEVICE_TO_DEVICE));
}
CU_ALIAS(cuMemcpyDtoA, cuMemcpyDtoA_v2);

CU_API CUresult cuMemcpyAtoH(void *to, struct cu_array *from, size_t at, size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemcpyFromArray(to, from, at, 0, bytes, DEVICE_TO_HOST));
}
CU_ALIAS(cuMemcpyAtoH, cuMemcpyAtoH_v2);

CU_API CUresult cuMemcpyAtoHAsync(void *to, struct cu_array *from, size_t at, size_t bytes, CUstream stream)
{
    return CU_IN_CONTEXT(cudaMemcpyFromArrayAsync(to, from, at, 0, bytes, DEVICE_TO_HOST, stream));
}
CU_ALIAS(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync_v2);

CU_API CUresult cuMemcpyAtoD(CUdeviceptr to, struct cu_array *from, size_t at, size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemcpyFromArray((void *)(uintptr_t)to, from, at, 0, bytes, DEVICE_TO_DEVICE));
}
CU_ALIAS(cuMemcpyAtoD, cuMemcpyAtoD_v2);

CU_API CUresult cuMemcpyAtoA(struct cu_array *to, size_t to_at, struct cu_array *from, size_t from_at, size_t bytes)
{
    return CU_IN_CONTEXT(cudaMemcpyArrayToArray(to, to_at, 0, from, from_at, 0, bytes, DEVICE_TO_DEVICE));
}
CU_ALIAS(cuMemcpyAtoA, cuMemcpyAtoA_v2);
