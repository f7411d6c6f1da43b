/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's driver interface: arrays and texture objects, by the functions of the runtime. */
#include "runtime/cuda/cu_driver_priv.h"
#include "runtime/cuda/texture/cu_texture_priv.h"

#include <string.h>

struct array_2d {
    size_t width, height;
    int format; /* enum CUarray_format */
    unsigned channels;
};
struct array_3d {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

/** Returns the runtime's format for a format of the driver interface. All bits are 0 if there is none. */
static struct cudaChannelFormatDesc format_of(int format, unsigned channels)
{
    static const struct {
        int format, bits, kind;
    } rows[] = {
        {1, 8, CU_CHANNEL_UNSIGNED}, {2, 16, CU_CHANNEL_UNSIGNED}, {3, 32, CU_CHANNEL_UNSIGNED}, {8, 8, CU_CHANNEL_SIGNED},
        {9, 16, CU_CHANNEL_SIGNED},  {10, 32, CU_CHANNEL_SIGNED},  {16, 16, CU_CHANNEL_FLOAT},   {32, 32, CU_CHANNEL_FLOAT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].format == format && (channels == 1 || channels == 2 || channels == 4)) {
            const int bits = rows[i].bits;

            return (struct cudaChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 2 ? bits : 0,
                                                  rows[i].kind};
        }
    return (struct cudaChannelFormatDesc){0};
}

CU_API CUresult cuArray3DCreate(struct cu_array **out, const struct array_3d *d)
{
    struct cudaChannelFormatDesc format;

    if (out == NULL || d == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    format = format_of(d->format, d->channels);
    if (format.x == 0)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    return CU_IN_CONTEXT(cudaMalloc3DArray(out, &format, (struct cu_extent){d->width, d->height, d->depth}, d->flags));
}
CU_ALIAS(cuArray3DCreate, cuArray3DCreate_v2);

CU_API CUresult cuArrayCreate(struct cu_array **out, const struct array_2d *d)
{
    const struct array_3d all = d != NULL ? (struct array_3d){d->width, d->height, 0, d->format, d->channels, 0}
                                          : (struct array_3d){0};

    return cu_driver_return(d != NULL ? cuArray3DCreate(out, &all) : CUDA_ERROR_INVALID_VALUE);
}
CU_ALIAS(cuArrayCreate, cuArrayCreate_v2);

/** Returns the driver's number of a format, and the number of components. */
static int number_of(const struct cudaChannelFormatDesc *format, unsigned *channels)
{
    enum { LAST = 32 };

    *channels = format->y == 0 ? 1 : format->z == 0 ? 2 : 4;
    for (int i = 1; i <= LAST; i++) {
        const struct cudaChannelFormatDesc tried = format_of(i, *channels);

        if (tried.x == format->x && tried.kind == format->kind)
            return i;
    }
    return 0;
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cu_extent *size, unsigned *flags, struct cu_array *array);
CU_API CUresult cuArray3DGetDescriptor(struct array_3d *out, struct cu_array *array)
{
    struct cudaChannelFormatDesc format;
    struct cu_extent size;
    CUresult result;
    unsigned flags;

    if (out == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    result = CU_IN_CONTEXT(cudaArrayGetInfo(&format, &size, &flags, array));
    if (result == CUDA_SUCCESS) {
        *out = (struct array_3d){.width = size.width, .height = size.height, .depth = size.depth, .flags = flags};
        out->format = number_of(&format, &out->channels);
    }
    return result;
}
CU_ALIAS(cuArray3DGetDescriptor, cuArray3DGetDescriptor_v2);

CU_API CUresult cuArrayGetDescriptor(struct array_2d *out, struct cu_array *array)
{
    struct array_3d all = {0};
    const CUresult result = out != NULL ? cuArray3DGetDescriptor(&all, array) : cu_driver_return(CUDA_ERROR_INVALID_VALUE);

    if (result == CUDA_SUCCESS)
        *out = (struct array_2d){all.width, all.height, all.format, all.channels};
    return result;
}
CU_ALIAS(cuArrayGetDescriptor, cuArrayGetDescriptor_v2);

CU_API CUresult cuArrayDestroy(struct cu_array *array)
{
    return cu_driver_return(array != NULL ? CU_IN_CONTEXT(cudaFreeArray(array)) : CUDA_ERROR_INVALID_HANDLE);
}

/** The memory of a texture, in the layout of the driver interface. */
struct resource {
    int type;
    union {
        struct cu_array *array;
        struct {
            CUdeviceptr pointer;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr pointer;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitch;
        int reserved[32];
    };
    unsigned flags;
};
/** How a texture is read, in the layout of the driver interface. */
struct reads {
    int edge[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most, border[4];
};
enum { READ_INTEGER = 1, READ_NORMALIZED_COORDS = 2, READ_SRGB = 16 };

CU_API CUresult cuTexObjectCreate(uint64_t *out, const struct resource *r, const struct reads *t, const void *view)
{
    struct cudaResourceDesc resource = {0};
    struct cudaTextureDesc reads = {0};
    int bits = 0;

    if (out == NULL || r == NULL || t == NULL)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    resource.type = r->type;
    if (r->type == CU_RESOURCE_LINEAR) {
        resource.linear.pointer = (void *)(uintptr_t)r->linear.pointer;
        resource.linear.format = format_of(r->linear.format, r->linear.channels);
        resource.linear.bytes = r->linear.bytes;
        bits = resource.linear.format.x;
    } else if (r->type == CU_RESOURCE_PITCH) {
        resource.pitch.pointer = (void *)(uintptr_t)r->pitch.pointer;
        resource.pitch.format = format_of(r->pitch.format, r->pitch.channels);
        resource.pitch.width = r->pitch.width;
        resource.pitch.height = r->pitch.height;
        resource.pitch.pitch = r->pitch.pitch;
        bits = resource.pitch.format.x;
    } else if (r->type == CU_RESOURCE_ARRAY) {
        resource.array = r->array;
        rt_lock();
        bits = cu_is_array(r->array) ? r->array->format.x : 0;
        rt_unlock();
    }
    memcpy(reads.edge, t->edge, sizeof reads.edge);
    memcpy(reads.border, t->border, sizeof reads.border);
    reads.filter = t->filter;
    reads.srgb = (t->flags & READ_SRGB) != 0;
    reads.normalized_coords = (t->flags & READ_NORMALIZED_COORDS) != 0;
    /* Integers of 8 and 16 bits are read as normalised floats, unless a flag says otherwise. */
    reads.read_mode = (t->flags & READ_INTEGER) == 0 && bits != 32;
    return CU_IN_CONTEXT(cudaCreateTextureObject(out, &resource, &reads, view));
}

CU_API CUresult cuTexObjectDestroy(uint64_t object)
{
    return CU_IN_CONTEXT(cudaDestroyTextureObject(object));
}

CU_API CUresult cuSurfObjectCreate(uint64_t *out, const struct resource *r)
{
    struct cudaResourceDesc resource = {0};

    if (out == NULL || r == NULL || r->type != CU_RESOURCE_ARRAY)
        return cu_driver_return(CUDA_ERROR_INVALID_VALUE);
    resource.array = r->array;
    return CU_IN_CONTEXT(cudaCreateSurfaceObject(out, &resource));
}

CU_API CUresult cuSurfObjectDestroy(uint64_t object)
{
    return CU_IN_CONTEXT(cudaDestroySurfaceObject(object));
}

/** Converts the memory of an object to the layout of the driver interface. */
static struct resource resource_of(const struct cudaResourceDesc *r)
{
    struct resource out = {.type = r->type};

    if (r->type == CU_RESOURCE_ARRAY) {
        out.array = r->array;
    } else if (r->type == CU_RESOURCE_LINEAR) {
        out.linear.pointer = (uintptr_t)r->linear.pointer;
        out.linear.format = number_of(&r->linear.format, &out.linear.channels);
        out.linear.bytes = r->linear.bytes;
    } else {
        out.pitch.pointer = (uintptr_t)r->pitch.pointer;
        out.pitch.format = number_of(&r->pitch.format, &out.pitch.channels);
        out.pitch.width = r->pitch.width;
        out.pitch.height = r->pitch.height;
        out.pitch.pitch = r->pitch.pitch;
    }
    return out;
}

CU_API CUresult cuTexObjectGetResourceDesc(struct resource *out, uint64_t object)
{
    struct cudaResourceDesc resource = {0};
    const CUresult result = CU_IN_CONTEXT(cudaGetTextureObjectResourceDesc(out != NULL ? &resource : NULL, object));

    if (result == CUDA_SUCCESS)
        *out = resource_of(&resource);
    return result;
}

CU_API CUresult cuSurfObjectGetResourceDesc(struct resource *out, uint64_t object)
{
    struct cudaResourceDesc resource = {0};
    const CUresult result = CU_IN_CONTEXT(cudaGetSurfaceObjectResourceDesc(out != NULL ? &resource : NULL, object));

    if (result == CUDA_SUCCESS)
        *out = resource_of(&resource);
    return result;
}

/** The reads of integers of 32 bits are the same with and without READ_INTEGER: the result has the flag. */
CU_API CUresult cuTexObjectGetTextureDesc(struct reads *out, uint64_t object)
{
    struct cudaTextureDesc reads = {.filter = 0};
    struct cudaResourceDesc resource = {0};
    struct cudaChannelFormatDesc format = {0};
    CUresult result = CU_IN_CONTEXT(cudaGetTextureObjectTextureDesc(out != NULL ? &reads : NULL, object));

    if (result == CUDA_SUCCESS)
        result = CU_IN_CONTEXT(cudaGetTextureObjectResourceDesc(&resource, object));
    if (result != CUDA_SUCCESS)
        return result;
    if (resource.type == CU_RESOURCE_ARRAY)
        result = CU_IN_CONTEXT(cudaArrayGetInfo(&format, NULL, NULL, resource.array));
    else
        format = resource.type == CU_RESOURCE_LINEAR ? resource.linear.format : resource.pitch.format;
    *out = (struct reads){.filter = reads.filter, .anisotropy = reads.anisotropy, .mipmap_filter = reads.mipmap_filter,
                          .mipmap_bias = reads.mipmap_bias, .mipmap_least = reads.mipmap_least, .mipmap_most = reads.mipmap_most};
    out->flags = (reads.read_mode == 0 && format.kind != CU_CHANNEL_FLOAT ? READ_INTEGER : 0) |
                 (reads.normalized_coords != 0 ? READ_NORMALIZED_COORDS : 0) | (reads.srgb != 0 ? READ_SRGB : 0);
    memcpy(out->edge, reads.edge, sizeof out->edge);
    memcpy(out->border, reads.border, sizeof out->border);
    return result;
}

CU_API CUresult cuTexObjectGetResourceViewDesc(void *out, uint64_t object)
{
    return CU_IN_CONTEXT(cudaGetTextureObjectResourceViewDesc(out, object));
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *out, const struct cudaChannelFormatDesc *format, int device);
CU_API CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *out, int format, unsigned channels, CUdevice device)
{
    const struct cudaChannelFormatDesc wanted = format_of(format, channels);

    return wanted.x != 0 ? CU_IN_CONTEXT(cudaDeviceGetTexture1DLinearMaxWidth(out, &wanted, device))
                         : cu_driver_return(CUDA_ERROR_INVALID_VALUE);
}
