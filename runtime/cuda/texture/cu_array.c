/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's runtime: arrays. An array is memory of the device whose rows and planes follow one another without a gap. The
 * handle of an array is the address of its struct cu_array.
 */
#include "runtime/cuda/texture/cu_texture_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROW = 131072, MAX_ROWS = 65536, MAX_PLANES = 16384, MAX_LAYERS = 2048, CUBE_FACES = 6 };

/* All arrays of the program. The list is global, because a process has one device. */
static struct cu_array *arrays;

bool cu_is_array(const struct cu_array *array)
{
    for (const struct cu_array *a = arrays; a != NULL; a = a->next)
        if (a == array)
            return true;
    cu_trace_handle(array);
    return false;
}

void cu_arrays_reset(void)
{
    while (arrays != NULL) {
        struct cu_array *a = arrays;

        arrays = a->next;
        cu_trace_released(a, a);
    }
}

unsigned cu_texel_bytes(const struct cudaChannelFormatDesc *d)
{
    const int bits[] = {d->x, d->y, d->z, d->w};
    unsigned count = 0;

    while (count < 4 && bits[count] != 0)
        count++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < count ? d->x : 0))
            return 0;
    if ((d->x != 8 && d->x != 16 && d->x != 32) || count == 0 || count == 3 || d->kind < CU_CHANNEL_SIGNED ||
        d->kind > CU_CHANNEL_FLOAT || (d->kind == CU_CHANNEL_FLOAT && d->x == 8))
        return 0;
    return (unsigned)d->x / 8 * count;
}

/** Returns true if an array may have this size and these flags. */
static bool size_is_valid(struct cu_extent e, unsigned flags)
{
    const bool layers = (flags & CU_ARRAY_LAYERED) != 0, cube = (flags & CU_ARRAY_CUBEMAP) != 0;

    if ((flags & ~(unsigned)CU_ARRAY_FLAGS) != 0 || e.width == 0 || e.width > MAX_ROW || e.height > MAX_ROWS)
        return false;
    if (cube && (e.width != e.height || e.depth == 0 || e.depth % CUBE_FACES != 0 || (!layers && e.depth != CUBE_FACES)))
        return false;
    if (layers)
        return e.depth != 0 && e.depth <= (cube ? MAX_LAYERS / CUBE_FACES * CUBE_FACES : MAX_LAYERS);
    return e.depth <= MAX_PLANES && (e.depth == 0 || e.height != 0);
}

CU_API cudaError_t cudaMalloc3DArray(struct cu_array **out, const struct cudaChannelFormatDesc *format, struct cu_extent e,
                                     unsigned flags)
{
    struct cu_array *a;
    void *memory = NULL;
    cudaError_t error;

    if (out == NULL || format == NULL || !size_is_valid(e, flags))
        return cu_return(cudaErrorInvalidValue);
    if (cu_texel_bytes(format) == 0)
        return cu_return(cudaErrorInvalidChannelDescriptor);
    a = calloc(1, sizeof *a);
    if (a == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    *a = (struct cu_array){.format = *format, .size = e, .flags = flags, .texel_bytes = cu_texel_bytes(format)};
    a->pitch = e.width * a->texel_bytes;
    a->plane = a->pitch * (e.height != 0 ? e.height : 1);
    error = cu_memory_allocate(&memory, a->plane * (e.depth != 0 ? e.depth : 1), CU_CONTENT_ARRAY);
    if (error != cudaSuccess) {
        free(a);
        return error;
    }
    a->address = memory;
    rt_lock();
    a->next = arrays;
    arrays = a;
    *out = a;
    cu_trace_created(a, CU_THING_ARRAY, 0);
    rt_unlock();
    return cudaSuccess;
}

CU_API cudaError_t cudaMallocArray(struct cu_array **out, const struct cudaChannelFormatDesc *format, size_t width,
                                   size_t height, unsigned flags)
{
    if ((flags & (CU_ARRAY_LAYERED | CU_ARRAY_CUBEMAP)) != 0)
        return cu_return(cudaErrorInvalidValue);
    return cudaMalloc3DArray(out, format, (struct cu_extent){width, height, 0}, flags);
}

CU_API cudaError_t cudaFreeArray(struct cu_array *array)
{
    cudaError_t error = array == NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;

    rt_lock();
    for (struct cu_array **at = &arrays; array != NULL && *at != NULL; at = &(*at)->next)
        if (*at == array) {
            error = cu_memory_free(array->address, CU_CONTENT_ARRAY);
            if (error == cudaSuccess) { /* else the array still exists, as in a capture, which forbids the call */
                *at = array->next;
                cu_trace_released(array, array);
            }
            break;
        }
    if (error == cudaErrorInvalidResourceHandle)
        cu_trace_handle(array);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cu_extent *size, unsigned *flags,
                                    struct cu_array *array)
{
    cudaError_t error = cudaErrorInvalidResourceHandle;

    rt_lock();
    if (cu_is_array(array)) {
        error = cudaSuccess;
        if (format != NULL)
            *format = array->format;
        if (size != NULL)
            *size = array->size;
        if (flags != NULL)
            *flags = array->flags;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, const struct cu_array *array)
{
    return format == NULL ? cu_return(cudaErrorInvalidValue) : cudaArrayGetInfo(format, NULL, NULL, (struct cu_array *)(uintptr_t)array);
}

CU_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- copies -------------------------------------------------------------------------------------------------------- */

/** Copies the description of an array to @out. Returns false if @array is not an array. */
static bool describe(const struct cu_array *array, struct cu_array *out)
{
    bool found;

    rt_lock();
    found = cu_is_array(array);
    if (found)
        *out = *array;
    rt_unlock();
    return found;
}

/** A side of a copy: a place in an array, or memory whose rows have a pitch. */
struct side {
    struct cu_array *array;
    size_t x, y; /* place in the array; x in bytes */
    const void *memory;
    size_t pitch;
};

/** Copies @height rows of @width bytes between an array and memory, or between two arrays. */
static cudaError_t copy_rows(struct side to, struct side from, size_t width, size_t height, int kind, cudaStream_t stream, bool now)
{
    struct cu_array array;
    size_t texel;
    struct cudaMemcpy3DParms c = {
        .from_array = from.array, .to_array = to.array, .from = {(void *)(uintptr_t)from.memory, from.pitch, width, height},
        .to = {(void *)(uintptr_t)to.memory, to.pitch, width, height}, .kind = kind};

    if (!describe(to.array != NULL ? to.array : from.array, &array))
        return cu_return(cudaErrorInvalidResourceHandle);
    texel = array.texel_bytes;
    if (width % texel != 0 || to.x % texel != 0 || from.x % texel != 0)
        return cu_return(cudaErrorInvalidValue);
    c.from_position = (struct cu_position){from.x / texel, from.y, 0};
    c.to_position = (struct cu_position){to.x / texel, to.y, 0};
    c.extent = (struct cu_extent){width / texel, height, 1};
    return cu_submit((struct cu_work){.type = CU_COPY, .copy = c}, stream, now);
}

/** Returns true if the array has @bytes, which are whole texels, from the place of @s on. */
static bool holds(const struct cu_array *array, const struct side *s, size_t bytes)
{
    return s->x < array->pitch && s->y < array->plane / array->pitch && bytes <= array->plane - s->y * array->pitch - s->x &&
           bytes % array->texel_bytes == 0;
}

/** Copies @bytes between an array and memory without gaps. The bytes continue in the next row of the array. */
static cudaError_t copy_bytes(struct side to, struct side from, size_t bytes, int kind, cudaStream_t stream, bool now)
{
    struct side *const of_array = to.array != NULL ? &to : &from, *const of_memory = to.array != NULL ? &from : &to;
    cudaError_t error = cudaSuccess;
    struct cu_array array;
    size_t row;

    if (!describe(of_array->array, &array))
        return cu_return(cudaErrorInvalidResourceHandle);
    row = array.pitch;
    /* The whole range is tested first, because a copy in pieces would otherwise fail after some pieces. */
    if (bytes != 0 && !holds(&array, of_array, bytes))
        return cu_return(cudaErrorInvalidValue);
    while (bytes != 0 && error == cudaSuccess) {
        const size_t left = row - of_array->x;
        const size_t width = bytes < left ? bytes : left, height = of_array->x == 0 && bytes >= row ? bytes / row : 1;

        of_memory->pitch = width;
        error = copy_rows(to, from, width, height, kind, stream, now);
        of_memory->memory = (const uint8_t *)of_memory->memory + width * height;
        of_array->x = 0;
        of_array->y += height;
        bytes -= width * height;
    }
    return error;
}

CU_API cudaError_t cudaMemcpy2DToArrayAsync(struct cu_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                            size_t height, int kind, cudaStream_t stream)
{
    return copy_rows((struct side){to, x, y, NULL, 0}, (struct side){NULL, 0, 0, from, pitch}, width, height, kind, stream, false);
}

CU_API cudaError_t cudaMemcpy2DToArray(struct cu_array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                       size_t height, int kind)
{
    return copy_rows((struct side){to, x, y, NULL, 0}, (struct side){NULL, 0, 0, from, pitch}, width, height, kind, NULL, true);
}

CU_API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, struct cu_array *from, size_t x, size_t y, size_t width,
                                              size_t height, int kind, cudaStream_t stream)
{
    return copy_rows((struct side){NULL, 0, 0, to, pitch}, (struct side){from, x, y, NULL, 0}, width, height, kind, stream, false);
}

CU_API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, struct cu_array *from, size_t x, size_t y, size_t width,
                                         size_t height, int kind)
{
    return copy_rows((struct side){NULL, 0, 0, to, pitch}, (struct side){from, x, y, NULL, 0}, width, height, kind, NULL, true);
}

CU_API cudaError_t cudaMemcpy2DArrayToArray(struct cu_array *to, size_t to_x, size_t to_y, struct cu_array *from, size_t from_x,
                                            size_t from_y, size_t width, size_t height, int kind)
{
    return copy_rows((struct side){to, to_x, to_y, NULL, 0}, (struct side){from, from_x, from_y, NULL, 0}, width, height, kind,
                     NULL, true);
}

/** Copies @bytes, which continue in the next row of each array. */
CU_API cudaError_t cudaMemcpyArrayToArray(struct cu_array *to, size_t to_x, size_t to_y, struct cu_array *from, size_t from_x,
                                          size_t from_y, size_t bytes, int kind)
{
    struct side sides[2] = {{to, to_x, to_y, NULL, 0}, {from, from_x, from_y, NULL, 0}};
    struct cu_array arrays_of[2];
    cudaError_t error = cudaSuccess;

    if (!describe(to, &arrays_of[0]) || !describe(from, &arrays_of[1]))
        return cu_return(cudaErrorInvalidResourceHandle);
    if (bytes != 0 && (arrays_of[0].texel_bytes != arrays_of[1].texel_bytes || !holds(&arrays_of[0], &sides[0], bytes) ||
                       !holds(&arrays_of[1], &sides[1], bytes)))
        return cu_return(cudaErrorInvalidValue);
    while (bytes != 0 && error == cudaSuccess) {
        size_t width = bytes;

        for (unsigned i = 0; i < 2; i++)
            if (width > arrays_of[i].pitch - sides[i].x)
                width = arrays_of[i].pitch - sides[i].x;
        error = copy_rows(sides[0], sides[1], width, 1, kind, NULL, true);
        bytes -= width;
        for (unsigned i = 0; i < 2; i++) {
            sides[i].x += width;
            if (sides[i].x == arrays_of[i].pitch)
                sides[i].x = 0, sides[i].y++;
        }
    }
    return cu_return(error);
}

CU_API cudaError_t cudaMemcpyToArrayAsync(struct cu_array *to, size_t x, size_t y, const void *from, size_t bytes, int kind,
                                          cudaStream_t stream)
{
    return copy_bytes((struct side){to, x, y, NULL, 0}, (struct side){NULL, 0, 0, from, 0}, bytes, kind, stream, false);
}

CU_API cudaError_t cudaMemcpyToArray(struct cu_array *to, size_t x, size_t y, const void *from, size_t bytes, int kind)
{
    return copy_bytes((struct side){to, x, y, NULL, 0}, (struct side){NULL, 0, 0, from, 0}, bytes, kind, NULL, true);
}

CU_API cudaError_t cudaMemcpyFromArrayAsync(void *to, struct cu_array *from, size_t x, size_t y, size_t bytes, int kind,
                                            cudaStream_t stream)
{
    return copy_bytes((struct side){NULL, 0, 0, to, 0}, (struct side){from, x, y, NULL, 0}, bytes, kind, stream, false);
}

CU_API cudaError_t cudaMemcpyFromArray(void *to, struct cu_array *from, size_t x, size_t y, size_t bytes, int kind)
{
    return copy_bytes((struct side){NULL, 0, 0, to, 0}, (struct side){from, x, y, NULL, 0}, bytes, kind, NULL, true);
}
