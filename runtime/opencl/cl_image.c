/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images: their formats, creation, and queries.
 *
 * A kernel's argument for an image is the address of a descriptor, from which the functions in over_images.inc read where the
 * texels are and how they are stored. The descriptor precedes the texels in the same allocation. The descriptor of an image that
 * uses the memory of a buffer or of another image has an allocation of its own.
 */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

enum { DESCRIPTOR_BYTES = 128 }; /* space for a descriptor before the texels, which keeps lines of caches apart */

/** The descriptor of an image in the device's memory: struct image of over_images.inc. */
struct descriptor {
    uint64_t data;      /* address of the texels */
    int64_t row, slice; /* distances in bytes between texels whose second or third coordinates differ by 1 */
    int32_t size[3];    /* number of texels in each dimension, at least 1 */
    int32_t texel;      /* size of a texel in bytes */
    int32_t type, order; /* channel data type and channel order */
};

/* ---- formats --------------------------------------------------------------------------------------------------- */

/** Channel orders, with the number of channels. */
static const struct {
    cl_channel_order order;
    unsigned channels;
} orders[] = {{CL_R, 1}, {CL_A, 1}, {CL_RG, 2}, {CL_RA, 2}, {CL_RGB, 3}, {CL_RGBA, 4}, {CL_BGRA, 4}, {CL_ARGB, 4}, {CL_ABGR, 4},
              {CL_INTENSITY, 1}, {CL_LUMINANCE, 1}, {CL_sRGBA, 4}, {CL_sBGRA, 4}};
/** Channel data types, with the size of a channel or (@packed) of a texel in bytes. */
static const struct {
    cl_channel_type type;
    unsigned bytes;
    bool packed;
} types[] = {{CL_SNORM_INT8, 1, false}, {CL_SNORM_INT16, 2, false}, {CL_UNORM_INT8, 1, false}, {CL_UNORM_INT16, 2, false},
             {CL_UNORM_SHORT_565, 2, true}, {CL_UNORM_SHORT_555, 2, true}, {CL_UNORM_INT_101010, 4, true},
             {CL_SIGNED_INT8, 1, false}, {CL_SIGNED_INT16, 2, false}, {CL_SIGNED_INT32, 4, false},
             {CL_UNSIGNED_INT8, 1, false}, {CL_UNSIGNED_INT16, 2, false}, {CL_UNSIGNED_INT32, 4, false},
             {CL_HALF_FLOAT, 2, false}, {CL_FLOAT, 4, false}, {CL_UNORM_INT_101010_2, 4, true}};
#define COUNT_OF(array) (sizeof (array) / sizeof *(array))

/** Returns true if the specification permits the channel order with the channel data type. */
static bool is_format(cl_channel_order order, cl_channel_type type)
{
    const bool packed = type == CL_UNORM_SHORT_565 || type == CL_UNORM_SHORT_555 || type == CL_UNORM_INT_101010;

    switch (order) {
    case CL_RGB: return packed;
    case CL_RGBA: return !packed;
    case CL_R:
    case CL_A:
    case CL_RG:
    case CL_RA: return !packed && type != CL_UNORM_INT_101010_2;
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
        return type == CL_UNORM_INT8 || type == CL_SNORM_INT8 || type == CL_SIGNED_INT8 || type == CL_UNSIGNED_INT8;
    case CL_INTENSITY:
    case CL_LUMINANCE:
        return type == CL_UNORM_INT8 || type == CL_UNORM_INT16 || type == CL_SNORM_INT8 || type == CL_SNORM_INT16 ||
               type == CL_HALF_FLOAT || type == CL_FLOAT;
    default: return type == CL_UNORM_INT8; /* sRGB */
    }
}

/** Returns the size of a texel in bytes, or 0 after setting *@error if the format is not valid or not supported. */
static size_t texel_bytes(const cl_image_format *format, cl_int *error)
{
    size_t order = 0, type = 0;

    *error = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    if (format == NULL)
        return 0;
    while (order < COUNT_OF(orders) && orders[order].order != format->image_channel_order)
        order++;
    while (type < COUNT_OF(types) && types[type].type != format->image_channel_data_type)
        type++;
    if (type == COUNT_OF(types) || format->image_channel_order < CL_R || format->image_channel_order > CL_ABGR)
        return 0;
    if (order == COUNT_OF(orders)) { /* CL_Rx, CL_RGx, CL_RGBx, CL_sRGB, CL_sRGBx, CL_DEPTH */
        *error = CL_IMAGE_FORMAT_NOT_SUPPORTED;
        return 0;
    }
    if (!is_format(format->image_channel_order, format->image_channel_data_type))
        return 0;
    *error = CL_SUCCESS;
    return types[type].packed ? types[type].bytes : types[type].bytes * orders[order].channels;
}

static bool is_image_type(cl_mem_object_type type)
{
    return type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_BUFFER || type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
           type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D;
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type, cl_uint room,
                                              cl_image_format *formats, cl_uint *count)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_KERNEL_READ_AND_WRITE,
                       others = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR | CL_MEM_HOST_WRITE_ONLY |
                                CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    cl_uint found = 0;
    bool is;

    rt_lock();
    is = cl_object_is(context, CL_KIND_CONTEXT);
    rt_unlock();
    if (!is)
        return CL_INVALID_CONTEXT;
    if (!is_image_type(type) || (room == 0 && formats != NULL) || (flags & ~(access | others)) != 0 ||
        __builtin_popcountll(flags & access) > 1)
        return CL_INVALID_VALUE;
    for (size_t o = 0; o < COUNT_OF(orders); o++)
        for (size_t t = 0; t < COUNT_OF(types); t++)
            if (is_format(orders[o].order, types[t].type)) {
                if (formats != NULL && found < room)
                    formats[found] = (cl_image_format){orders[o].order, types[t].type};
                found++;
            }
    if (count != NULL)
        *count = found;
    return CL_SUCCESS;
}

/* ---- creation -------------------------------------------------------------------------------------------------- */

/** Sets the number of texels of an image in each dimension, and checks it. */
static cl_int set_size(struct cl_image *image, const cl_image_desc *description)
{
    const bool solid = image->type == CL_MEM_OBJECT_IMAGE3D,
               plane = solid || image->type == CL_MEM_OBJECT_IMAGE2D || image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const size_t most = image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? CL_IMAGE_BUFFER_TEXELS
                        : solid                                      ? CL_IMAGE_3D_SIZE
                                                                     : CL_IMAGE_2D_SIZE;
    const size_t layers = description->image_array_size;

    image->size[0] = description->image_width;
    image->size[1] = plane ? description->image_height : image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? layers : 1;
    image->size[2] = solid ? description->image_depth : image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? layers : 1;
    if (image->size[0] == 0 || image->size[1] == 0 || image->size[2] == 0)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (image->size[0] > most || (plane && image->size[1] > most) || (solid && image->size[2] > most) ||
        (!plane && image->size[1] > CL_IMAGE_LAYERS) || (!solid && image->size[2] > CL_IMAGE_LAYERS))
        return CL_INVALID_IMAGE_SIZE;
    return CL_SUCCESS;
}

/** Returns true if the image has slices: if it is an array or has three dimensions. */
static bool has_slices(const struct cl_image *image)
{
    return image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY || image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
           image->type == CL_MEM_OBJECT_IMAGE3D;
}

size_t cl_image_pitch(const struct cl_image *image)
{
    return image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? image->slice : image->row;
}

/** Sets the distances of rows and slices of an image, and its size in bytes. A distance @row or @slice of 0 means the smallest
 *  one. */
static cl_int set_pitches(struct cl_image *image, size_t row, size_t slice, size_t *bytes)
{
    const size_t rows = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : image->size[1],
                 slices = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? image->size[1] : image->size[2];

    image->row = row != 0 ? row : image->size[0] * image->texel;
    if (image->row < image->size[0] * image->texel || image->row % image->texel != 0 ||
        __builtin_mul_overflow(image->row, rows, &image->slice))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (has_slices(image) && slice != 0) {
        if (slice < image->slice || slice % image->row != 0)
            return CL_INVALID_IMAGE_DESCRIPTOR;
        image->slice = slice;
    }
    return __builtin_mul_overflow(image->slice, slices, bytes) ? CL_INVALID_IMAGE_SIZE : CL_SUCCESS;
}

/** Writes the image's descriptor to the device's memory. */
static cl_int write_descriptor(const struct _cl_mem *mem)
{
    const struct cl_image *image = &mem->image;
    const struct descriptor d = {
        .data = mem->address,
        .row = (int64_t)cl_image_pitch(image), .slice = (int64_t)image->slice,
        .size = {(int32_t)image->size[0], (int32_t)image->size[1], (int32_t)image->size[2]}, .texel = (int32_t)image->texel,
        .type = (int32_t)image->format.image_channel_data_type, .order = (int32_t)image->format.image_channel_order};

    return lanewise_write(rt_machine(), image->descriptor, &d, sizeof d) == LANEWISE_OK ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

/** Allocates the memory of an image, and copies the contents of the host's memory if it is given. */
static cl_int allocate(struct _cl_mem *mem, void *host)
{
    struct cl_image *image = &mem->image;
    const bool uses = (mem->flags & CL_MEM_USE_HOST_PTR) != 0;
    cl_ulong most = 0;
    cl_int error;

    clGetDeviceInfo(&cl_the_device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    mem->is_svm = uses && cl_svm_holds(mem->object.context, host, mem->bytes);
    if (mem->bytes > most ||
        rt_alloc_as("image", DESCRIPTOR_BYTES + (mem->is_svm ? 0 : mem->bytes), &image->descriptor) != LANEWISE_OK) {
        if (mem->bytes <= most)
            rt_complain_memory("clCreateImage", mem->bytes);
        image->descriptor = 0;
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    mem->address = mem->is_svm ? (uint64_t)(uintptr_t)host : image->descriptor + DESCRIPTOR_BYTES;
    error = write_descriptor(mem);
    if (error == CL_SUCCESS && host != NULL && !mem->is_svm &&
        lanewise_write(rt_machine(), mem->address, host, mem->bytes) != LANEWISE_OK)
        error = CL_OUT_OF_RESOURCES;
    if (uses)
        mem->host_pointer = mem->shadow = host;
    return error;
}

/** Makes the image use the memory of @parent, a buffer or an image. */
static cl_int share(struct _cl_mem *mem, struct _cl_mem *parent)
{
    mem->parent = parent;
    cl_object_hold(parent);
    mem->origin = parent->origin;
    mem->address = parent->address;
    mem->is_svm = parent->is_svm;
    mem->host_pointer = parent->host_pointer;
    mem->flags = cl_child_flags(parent, mem->flags);
    if (rt_alloc_as("image", DESCRIPTOR_BYTES, &mem->image.descriptor) != LANEWISE_OK) {
        mem->image.descriptor = 0;
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    }
    return write_descriptor(mem);
}

/** Checks that an image can use the memory of @parent. */
static cl_int check_parent(const struct cl_image *image, size_t bytes, const struct _cl_mem *parent, cl_mem_flags flags)
{
    const struct cl_image *other = &parent->image;

    if (image->type != CL_MEM_OBJECT_IMAGE1D_BUFFER && image->type != CL_MEM_OBJECT_IMAGE2D)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (!cl_is_image(parent)) {
        if (bytes > parent->bytes)
            return image->type == CL_MEM_OBJECT_IMAGE1D_BUFFER ? CL_INVALID_IMAGE_SIZE : CL_INVALID_IMAGE_DESCRIPTOR;
    } else if (image->type != CL_MEM_OBJECT_IMAGE2D || other->type != CL_MEM_OBJECT_IMAGE2D || image->size[0] != other->size[0] ||
               image->size[1] != other->size[1] || image->texel != other->texel || image->row != other->row) {
        return CL_INVALID_IMAGE_DESCRIPTOR;
    } else if (image->format.image_channel_data_type != other->format.image_channel_data_type) {
        return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    }
    return cl_check_child_flags(parent, flags);
}

static struct _cl_mem *create_image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                    const cl_image_desc *description, void *host, cl_int *error)
{
    struct _cl_mem *mem, *parent;
    struct cl_image image = {0};
    size_t bytes = 0;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    *error = CL_INVALID_IMAGE_DESCRIPTOR;
    if (description == NULL || !is_image_type(description->image_type) || description->num_mip_levels != 0 ||
        description->num_samples != 0)
        return NULL;
    parent = description->mem_object;
    if (parent != NULL && (!cl_object_is(parent, CL_KIND_MEM) || parent->object.context != context))
        return NULL;
    if ((parent == NULL && description->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) ||
        (parent == NULL && host == NULL && (description->image_row_pitch != 0 || description->image_slice_pitch != 0)))
        return NULL;
    *error = parent != NULL && host != NULL ? CL_INVALID_HOST_PTR : parent != NULL ? CL_SUCCESS : cl_check_flags(flags, host);
    if (*error != CL_SUCCESS)
        return NULL;
    image.texel = texel_bytes(format, error);
    if (image.texel == 0)
        return NULL;
    image.format = *format;
    image.type = description->image_type;
    *error = set_size(&image, description);
    if (*error == CL_SUCCESS)
        *error = set_pitches(&image, description->image_row_pitch, description->image_slice_pitch, &bytes);
    if (*error == CL_SUCCESS && parent != NULL)
        *error = check_parent(&image, bytes, parent, flags);
    if (*error != CL_SUCCESS)
        return NULL;
    mem = cl_object_create(CL_KIND_MEM, sizeof *mem, context);
    if (mem == NULL) {
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    mem->image = image;
    mem->bytes = bytes;
    mem->flags = parent != NULL || (flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) != 0 ? flags : flags | CL_MEM_READ_WRITE;
    *error = parent != NULL ? share(mem, parent) : allocate(mem, host);
    if (*error != CL_SUCCESS) {
        cl_object_release_handle(mem, CL_KIND_MEM, 0);
        return NULL;
    }
    return mem;
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                               const cl_image_format *format, const cl_image_desc *description, void *host,
                                               cl_int *error)
{
    struct _cl_mem *mem;
    cl_int result;

    if (properties != NULL && properties[0] != 0) { /* the specification defines no properties for images */
        cl_put_error(error, CL_INVALID_PROPERTY);
        return NULL;
    }
    rt_lock();
    mem = create_image(context, flags, format, description, host, &result);
    if (mem != NULL && properties != NULL && (mem->properties = calloc(1, sizeof *properties)) != NULL)
        mem->property_bytes = sizeof *properties;
    rt_unlock();
    cl_put_error(error, result);
    return mem;
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                 const cl_image_desc *description, void *host, cl_int *error)
{
    return clCreateImageWithProperties(context, NULL, flags, format, description, host, error);
}

/** Creates an image for a function of OpenCL 1.0, which has an error of its own for sizes that are 0. */
static cl_mem create_old(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *description,
                         void *host, cl_int *error)
{
    cl_int result;
    cl_mem mem = clCreateImage(context, flags, format, description, host, &result);

    cl_put_error(error, result == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : result);
    return mem;
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t row, void *host, cl_int *error)
{
    const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height,
                                       .image_row_pitch = row};

    return create_old(context, flags, format, &description, host, error);
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t depth, size_t row, size_t slice, void *host, cl_int *error)
{
    const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = width, .image_height = height,
                                       .image_depth = depth, .image_row_pitch = row, .image_slice_pitch = slice};

    return create_old(context, flags, format, &description, host, error);
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

static cl_int image_info(const struct _cl_mem *mem, cl_image_info info, size_t room, void *out, size_t *size)
{
    const struct cl_image *i = &mem->image;
    const bool solid = i->type == CL_MEM_OBJECT_IMAGE3D, planes = i->type == CL_MEM_OBJECT_IMAGE2D_ARRAY,
               lines = i->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;

    switch (info) {
    case CL_IMAGE_FORMAT: return cl_answer(&i->format, sizeof i->format, room, out, size);
    case CL_IMAGE_ELEMENT_SIZE: return CL_ANSWER(size_t, i->texel);
    case CL_IMAGE_ROW_PITCH: return CL_ANSWER(size_t, i->row);
    case CL_IMAGE_SLICE_PITCH: return CL_ANSWER(size_t, has_slices(i) ? i->slice : 0);
    case CL_IMAGE_WIDTH: return CL_ANSWER(size_t, i->size[0]);
    case CL_IMAGE_HEIGHT: return CL_ANSWER(size_t, solid || planes || i->type == CL_MEM_OBJECT_IMAGE2D ? i->size[1] : 0);
    case CL_IMAGE_DEPTH: return CL_ANSWER(size_t, solid ? i->size[2] : 0);
    case CL_IMAGE_ARRAY_SIZE: return CL_ANSWER(size_t, planes ? i->size[2] : lines ? i->size[1] : 0);
    case CL_IMAGE_BUFFER: return CL_ANSWER(cl_mem, mem->parent != NULL && !cl_is_image(mem->parent) ? mem->parent : NULL);
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES: return CL_ANSWER(cl_uint, 0);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info info, size_t room, void *out, size_t *size)
{
    cl_int error = CL_INVALID_MEM_OBJECT;

    rt_lock();
    if (cl_object_is(image, CL_KIND_MEM) && cl_is_image(image))
        error = image_info(image, info, room, out, size);
    rt_unlock();
    return error;
}
