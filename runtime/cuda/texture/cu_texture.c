/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's runtime: texture and surface objects. An object is the address of a descriptor in the device's memory
 * (docs/reference/memory.md, "Textures"). Kernels of `lanewise cc` read the descriptor of a surface, too.
 */
#include "runtime/cuda/texture/cu_texture_priv.h"

#include <stdlib.h>
#include <string.h>

/** Fields of a descriptor, and the flags in it. */
enum { DESCRIPTOR_BYTES = 32, DESCRIPTOR_MARK = 0x5854574c };
enum { NORMALIZED_VALUES = 1, NORMALIZED_COORDS = 2, LINEAR = 4, LAYERS = 8, CUBE = 16, EDGE2_SHIFT = 5 };
enum { EDGE_CLAMP = 1, EDGE_BORDER = 3, MAX_LINEAR = 1 << 28 };
struct descriptor {
    uint64_t address;
    uint32_t width, height, pitch;
    uint8_t bits, components, kind, flags, edge[2];
    uint16_t depth;
    uint32_t mark;
};
_Static_assert(sizeof(struct descriptor) == DESCRIPTOR_BYTES, "the layout of docs/reference/memory.md");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "descriptors are copied to the device, which is little-endian");

/** An object, with the parameters of its creation. The handle is the address of the descriptor in the device's memory. */
struct object {
    struct object *next;
    uint64_t handle;
    enum cu_content content;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc reads;
};
/* All objects of the program. The list is global, because a process has one device. */
static struct object *objects;

void cu_textures_reset(void)
{
    while (objects != NULL) {
        struct object *o = objects;

        objects = o->next;
        free(o);
    }
}

static cudaError_t set_format(struct descriptor *d, const struct cudaChannelFormatDesc *f)
{
    const unsigned texel = cu_texel_bytes(f);

    if (texel == 0)
        return cudaErrorInvalidChannelDescriptor;
    d->bits = (uint8_t)f->x;
    d->components = (uint8_t)(8 * texel / (unsigned)f->x);
    d->kind = f->kind == CU_CHANNEL_SIGNED ? 1 : f->kind == CU_CHANNEL_UNSIGNED ? 0 : 2;
    return cudaSuccess;
}

/** Sets the memory of a descriptor; locked. */
static cudaError_t set_memory(struct descriptor *d, const struct cudaResourceDesc *r)
{
    const struct cu_array *a = r->array;

    switch (r->type) {
    case CU_RESOURCE_ARRAY:
        if (!cu_is_array(a))
            return cudaErrorInvalidResourceHandle;
        d->address = (uint64_t)(uintptr_t)a->address;
        d->width = (uint32_t)a->size.width;
        d->height = (uint32_t)a->size.height;
        d->depth = (uint16_t)a->size.depth;
        d->pitch = (uint32_t)a->pitch;
        d->flags = (uint8_t)((a->flags & CU_ARRAY_LAYERED ? LAYERS : 0) | (a->flags & CU_ARRAY_CUBEMAP ? CUBE : 0));
        return set_format(d, &a->format);
    case CU_RESOURCE_LINEAR: {
        const cudaError_t error = set_format(d, &r->linear.format);
        const size_t count = error == cudaSuccess ? r->linear.bytes / cu_texel_bytes(&r->linear.format) : 0;

        if (error != cudaSuccess)
            return error;
        if (r->linear.pointer == NULL || count == 0 || count > MAX_LINEAR)
            return cudaErrorInvalidValue;
        d->address = (uint64_t)(uintptr_t)r->linear.pointer;
        d->width = (uint32_t)count;
        return cudaSuccess;
    }
    case CU_RESOURCE_PITCH:
        if (r->pitch.pointer == NULL || r->pitch.width == 0 || r->pitch.height == 0 || r->pitch.width > INT32_MAX ||
            r->pitch.height > INT32_MAX || r->pitch.pitch > INT32_MAX)
            return cudaErrorInvalidValue;
        d->address = (uint64_t)(uintptr_t)r->pitch.pointer;
        d->width = (uint32_t)r->pitch.width;
        d->height = (uint32_t)r->pitch.height;
        d->pitch = (uint32_t)r->pitch.pitch;
        return set_format(d, &r->pitch.format);
    default:
        return r->type == CU_RESOURCE_MIPMAPS ? cudaErrorNotSupported : cudaErrorInvalidValue;
    }
}

/** Sets how the texels of a descriptor are read. */
static cudaError_t set_reads(struct descriptor *d, const struct cudaTextureDesc *t, bool of_linear_memory)
{
    const bool is_float = d->kind == 2;
    bool border = false;

    for (unsigned i = 0; i < 3; i++) {
        if (t->edge[i] < 0 || t->edge[i] > EDGE_BORDER)
            return cudaErrorInvalidValue;
        border = border || t->edge[i] == EDGE_BORDER;
    }
    for (unsigned i = 0; i < 4 && border; i++)
        if (t->border[i] != 0) /* fetches outside read zeros */
            return cudaErrorNotSupported;
    if (t->srgb != 0)
        return cudaErrorNotSupported;
    if (t->read_mode != 0 && !is_float && d->bits == 32)
        return cudaErrorInvalidNormSetting;
    if (t->filter != 0 && t->read_mode == 0 && !is_float && !of_linear_memory)
        return cudaErrorInvalidFilterSetting;
    d->edge[0] = (uint8_t)t->edge[0];
    d->edge[1] = (uint8_t)t->edge[1];
    d->flags = (uint8_t)(d->flags | (t->read_mode != 0 && !is_float ? NORMALIZED_VALUES : 0) |
                         (t->normalized_coords != 0 && !of_linear_memory ? NORMALIZED_COORDS : 0) |
                         (t->filter != 0 && !of_linear_memory ? LINEAR : 0) | t->edge[2] << EDGE2_SHIFT);
    if ((d->flags & CUBE) != 0) /* a fetch reads one face, whose coordinates range from 0 to 1 */
        d->flags |= NORMALIZED_COORDS, d->edge[0] = d->edge[1] = EDGE_CLAMP;
    return cudaSuccess;
}

/** Writes a descriptor to new memory of the device, and returns its address as an object. @reads is NULL for surfaces. */
static cudaError_t publish(const struct descriptor *d, enum cu_content content, const struct cudaResourceDesc *resource,
                           const struct cudaTextureDesc *reads, uint64_t *object)
{
    struct object *o = calloc(1, sizeof *o);
    void *memory = NULL;
    cudaError_t error = o != NULL ? cu_memory_allocate(&memory, sizeof *d, content) : cu_return(cudaErrorMemoryAllocation);

    if (error != cudaSuccess) {
        free(o);
        return error;
    }
    *o = (struct object){.handle = (uint64_t)(uintptr_t)memory, .content = content, .resource = *resource};
    if (reads != NULL)
        o->reads = *reads;
    rt_lock();
    if (lanewise_write(rt_machine(), o->handle, d, sizeof *d) != LANEWISE_OK) {
        rt_complain("cudaCreateTextureObject");
        error = cudaErrorInvalidValue;
    }
    o->next = objects;
    objects = o;
    *object = o->handle;
    rt_unlock();
    return cu_return(error);
}

/** Frees the memory and the description of an object. */
static cudaError_t retract(uint64_t handle, enum cu_content content)
{
    cudaError_t error;

    rt_lock();
    error = cu_memory_free((void *)(uintptr_t)handle, content);
    for (struct object **at = &objects; error == cudaSuccess && *at != NULL; at = &(*at)->next)
        if ((*at)->handle == handle) {
            struct object *o = *at;

            *at = o->next;
            free(o);
            break;
        }
    rt_unlock();
    return error;
}

/** Gets the parameters with which an object was created. cudaErrorInvalidValue: there is no such object. */
static cudaError_t describe(uint64_t handle, enum cu_content content, struct cudaResourceDesc *resource,
                            struct cudaTextureDesc *reads)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    for (const struct object *o = objects; o != NULL; o = o->next)
        if (o->handle == handle && o->content == content) {
            error = cudaSuccess;
            if (resource != NULL)
                *resource = o->resource;
            if (reads != NULL)
                *reads = o->reads;
        }
    rt_unlock();
    return error;
}

CU_API cudaError_t cudaCreateTextureObject(uint64_t *object, const struct cudaResourceDesc *resource,
                                           const struct cudaTextureDesc *texture, const void *view)
{
    struct descriptor d = {.mark = DESCRIPTOR_MARK};
    cudaError_t error;

    if (object == NULL || resource == NULL || texture == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (view != NULL)
        return cu_return(cudaErrorNotSupported);
    rt_lock();
    error = set_memory(&d, resource);
    rt_unlock();
    if (error == cudaSuccess)
        error = set_reads(&d, texture, resource->type == CU_RESOURCE_LINEAR);
    return error == cudaSuccess ? publish(&d, CU_CONTENT_TEXTURE, resource, texture, object) : cu_return(error);
}

CU_API cudaError_t cudaCreateSurfaceObject(uint64_t *object, const struct cudaResourceDesc *resource)
{
    struct descriptor d = {.mark = DESCRIPTOR_MARK};
    cudaError_t error;

    if (object == NULL || resource == NULL || resource->type != CU_RESOURCE_ARRAY)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = set_memory(&d, resource);
    if (error == cudaSuccess && (resource->array->flags & CU_ARRAY_SURFACE) == 0)
        error = cudaErrorInvalidValue;
    rt_unlock();
    return error == cudaSuccess ? publish(&d, CU_CONTENT_SURFACE, resource, NULL, object) : cu_return(error);
}

CU_API cudaError_t cudaDestroyTextureObject(uint64_t object)
{
    return retract(object, CU_CONTENT_TEXTURE);
}

CU_API cudaError_t cudaDestroySurfaceObject(uint64_t object)
{
    return retract(object, CU_CONTENT_SURFACE);
}

CU_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, uint64_t object)
{
    return cu_return(out != NULL ? describe(object, CU_CONTENT_TEXTURE, out, NULL) : cudaErrorInvalidValue);
}

CU_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, uint64_t object)
{
    return cu_return(out != NULL ? describe(object, CU_CONTENT_TEXTURE, NULL, out) : cudaErrorInvalidValue);
}

/** No object has a view, because cudaCreateTextureObject() refuses views. */
CU_API cudaError_t cudaGetTextureObjectResourceViewDesc(void *out, uint64_t object)
{
    (void)out, (void)object;
    return cu_return(cudaErrorInvalidValue);
}

CU_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, uint64_t object)
{
    return cu_return(out != NULL ? describe(object, CU_CONTENT_SURFACE, out, NULL) : cudaErrorInvalidValue);
}

CU_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *out, const struct cudaChannelFormatDesc *format, int device)
{
    if (out == NULL || format == NULL)
        return cu_return(cudaErrorInvalidValue);
    if (device != 0)
        return cu_return(cudaErrorInvalidDevice);
    if (cu_texel_bytes(format) == 0)
        return cu_return(cudaErrorInvalidChannelDescriptor);
    *out = MAX_LINEAR;
    return cu_return(cudaSuccess);
}
