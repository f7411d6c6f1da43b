/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that copy, fill and map images. A box of texels is a box of bytes, which cl_copy.c copies. */
#include "runtime/opencl/cl_priv.h"

#include <math.h>
#include <string.h>

static cl_int fail(cl_int error)
{
    rt_unlock();
    return error;
}

/** Sets @box and @bytes to the box of bytes for a box of texels. Returns false if the image does not contain the box. */
static bool make_box(const struct cl_image *image, const size_t *origin, const size_t *region, struct cl_box *box,
                     size_t bytes[3])
{
    if (origin == NULL || region == NULL)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (region[i] == 0 || origin[i] > image->size[i] || region[i] > image->size[i] - origin[i])
            return false;
    box->row = cl_image_pitch(image);
    box->slice = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? box->row * image->size[1] : image->slice;
    box->offset = origin[0] * image->texel + origin[1] * box->row + origin[2] * box->slice;
    bytes[0] = region[0] * image->texel;
    bytes[1] = region[1];
    bytes[2] = region[2];
    return true;
}

/** Sets the distances of a box in the host's memory. A distance @row or @slice of 0 means the smallest one. Returns false if a
 *  distance is too small. */
static bool make_host_box(const struct cl_image *image, const size_t bytes[3], size_t row, size_t slice, struct cl_box *box)
{
    const bool lines = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t rows = lines ? 1 : bytes[1];

    if (row == 0)
        row = bytes[0];
    if (row < bytes[0] || row > SIZE_MAX / rows)
        return false;
    if (slice == 0 || (!lines && image->size[2] == 1 && image->type == CL_MEM_OBJECT_IMAGE2D))
        slice = row * rows;
    if (slice < row * rows)
        return false;
    *box = (struct cl_box){0, lines ? slice : row, slice};
    return true;
}

static cl_int transfer(cl_command_queue queue, cl_mem mem, enum cl_way way, cl_bool blocking, const size_t *origin,
                       const size_t *region, size_t row, size_t slice, void *host, cl_uint count, const cl_event *waits,
                       cl_event *event)
{
    struct cl_copy c = {.way = way, .host = host};
    cl_int error;

    rt_lock();
    error = cl_check_mem(queue, mem, true);
    if (error == CL_SUCCESS && (host == NULL || !make_box(&mem->image, origin, region, &c.box, c.region) ||
                                !make_host_box(&mem->image, c.region, row, slice, &c.other_box)))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = cl_check_host_access(mem, way == CL_FROM_MEM);
    if (error != CL_SUCCESS)
        return fail(error);
    c.address = mem->address;
    return cl_copy_enqueue(queue, way == CL_FROM_MEM ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE, &c, mem, NULL,
                           blocking != CL_FALSE, count, waits, event);
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice, void *host, cl_uint count,
                                      const cl_event *waits, cl_event *event)
{
    return transfer(queue, image, CL_FROM_MEM, blocking, origin, region, row, slice, host, count, waits, event);
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                       const size_t *region, size_t row, size_t slice, const void *host, cl_uint count,
                                       const cl_event *waits, cl_event *event)
{
    return transfer(queue, image, CL_TO_MEM, blocking, origin, region, row, slice, (void *)(uintptr_t)host, count, waits, event);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                      const size_t *to_origin, const size_t *region, cl_uint count, const cl_event *waits,
                                      cl_event *event)
{
    struct cl_copy c = {.way = CL_BETWEEN};
    size_t bytes[3];
    cl_int error;

    rt_lock();
    error = cl_check_mem(queue, from, true);
    if (error == CL_SUCCESS)
        error = cl_check_mem(queue, to, true);
    if (error == CL_SUCCESS && memcmp(&from->image.format, &to->image.format, sizeof from->image.format) != 0)
        error = CL_IMAGE_FORMAT_MISMATCH;
    if (error == CL_SUCCESS && (!make_box(&from->image, from_origin, region, &c.other_box, bytes) ||
                                !make_box(&to->image, to_origin, region, &c.box, c.region)))
        error = CL_INVALID_VALUE;
    if (error != CL_SUCCESS)
        return fail(error);
    c.address = to->address;
    c.other = from->address;
    if (cl_mem_root(from) == cl_mem_root(to) && cl_boxes_overlap(&c, c.address, c.other))
        return fail(CL_MEM_COPY_OVERLAP);
    return cl_copy_enqueue(queue, CL_COMMAND_COPY_IMAGE, &c, to, from, false, count, waits, event);
}

/** Enqueues a copy between an image and the bytes of a buffer from @offset on. @to_buffer: direction of the copy. */
static cl_int copy_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer, bool to_buffer, const size_t *origin,
                          const size_t *region, size_t offset, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_box texels, linear = {.offset = offset};
    struct cl_copy c = {.way = CL_BETWEEN};
    cl_int error;

    rt_lock();
    error = cl_check_mem(queue, image, true);
    if (error == CL_SUCCESS)
        error = cl_check_mem(queue, buffer, false);
    if (error == CL_SUCCESS && !make_box(&image->image, origin, region, &texels, c.region))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS) {
        linear.row = c.region[0];
        linear.slice = c.region[0] * c.region[1];
        if (offset > buffer->bytes || linear.slice * c.region[2] > buffer->bytes - offset)
            error = CL_INVALID_VALUE;
    }
    if (error != CL_SUCCESS)
        return fail(error);
    c.box = to_buffer ? linear : texels;
    c.other_box = to_buffer ? texels : linear;
    c.address = to_buffer ? buffer->address : image->address;
    c.other = to_buffer ? image->address : buffer->address;
    if (cl_mem_root(image) == cl_mem_root(buffer) && cl_boxes_overlap(&c, c.address, c.other))
        return fail(CL_MEM_COPY_OVERLAP);
    return cl_copy_enqueue(queue, to_buffer ? CL_COMMAND_COPY_IMAGE_TO_BUFFER : CL_COMMAND_COPY_BUFFER_TO_IMAGE, &c, image,
                           buffer, false, count, waits, event);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
                                              const size_t *region, size_t offset, cl_uint count, const cl_event *waits,
                                              cl_event *event)
{
    return copy_buffer(queue, from, to, true, origin, region, offset, count, waits, event);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                              const size_t *origin, const size_t *region, cl_uint count,
                                              const cl_event *waits, cl_event *event)
{
    return copy_buffer(queue, to, from, false, origin, region, offset, count, waits, event);
}

/* ---- fill ------------------------------------------------------------------------------------------------------ */

/** Converts to half, with the rounding to the nearest even value. */
static uint16_t to_half(float f)
{
    uint32_t bits, sign, magnitude;
    float scaled;

    memcpy(&bits, &f, sizeof bits);
    sign = bits >> 16 & 0x8000;
    magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) /* NaN */
        return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    if (magnitude >= 0x477ff000) /* rounds to more than the greatest half, 65504 */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude >= 0x38800000) /* a normal half */
        return (uint16_t)(sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000) >> 13));
    memcpy(&scaled, &magnitude, sizeof scaled); /* a subnormal half is a multiple of 2 to the power -24 */
    return (uint16_t)(sign | (uint32_t)lrintf(scaled * 16777216.0f));
}

/** Returns the nearest integer to @value * @scale, at least @least and at most @most. NaN becomes 0. */
static uint32_t scaled(float value, float least, float most, float scale)
{
    const float product = value * scale;

    if (product != product)
        return 0;
    return (uint32_t)(int32_t)lrintf(product < least ? least : product > most ? most : product);
}

/** Returns channel @k of a packed texel, whose channels have the numbers of bits @bits, from the highest bits on. */
static uint32_t pack(float value, unsigned k, const uint8_t bits[4])
{
    const float most = (float)((1u << bits[k]) - 1);
    unsigned shift = 0;

    for (unsigned i = k + 1; i < 4; i++)
        shift += bits[i];
    return scaled(value, 0, most, most) << shift;
}

static float to_srgb(float c)
{
    return c > 0.0031308f ? 1.055f * powf(c, 1 / 2.4f) - 0.055f : 12.92f * c;
}

/** Writes the texel with a colour, which consists of 4 values of 4 bytes for red, green, blue and alpha. */
static void encode(const cl_image_format *format, const void *color, uint8_t texel[16])
{
    static const struct {
        cl_channel_order order;
        uint8_t from[4]; /* part of the colour in each channel */
    } swaps[] = {{CL_A, {3, 3, 3, 3}}, {CL_RA, {0, 3, 3, 3}}, {CL_BGRA, {2, 1, 0, 3}}, {CL_sBGRA, {2, 1, 0, 3}},
                 {CL_ARGB, {3, 0, 1, 2}}, {CL_ABGR, {3, 2, 1, 0}}};
    const bool srgb = format->image_channel_order == CL_sRGBA || format->image_channel_order == CL_sBGRA;
    uint8_t from[4] = {0, 1, 2, 3};
    uint32_t packed = 0;
    float f[4];
    int32_t i[4];
    uint32_t u[4];

    for (size_t k = 0; k < sizeof swaps / sizeof *swaps; k++)
        if (swaps[k].order == format->image_channel_order)
            memcpy(from, swaps[k].from, sizeof from);
    for (unsigned k = 0; k < 4; k++) {
        uint32_t value = 0;

        memcpy(&u[k], (const uint8_t *)color + 4u * from[k], 4);
        memcpy(&f[k], &u[k], 4);
        memcpy(&i[k], &u[k], 4);
        if (srgb && from[k] != 3)
            f[k] = to_srgb(f[k]);
        switch (format->image_channel_data_type) {
        case CL_UNORM_INT8: value = scaled(f[k], 0, 255, 255); break;
        case CL_SNORM_INT8: value = scaled(f[k], -128, 127, 127); break;
        case CL_UNORM_INT16: value = scaled(f[k], 0, 65535, 65535); break;
        case CL_SNORM_INT16: value = scaled(f[k], -32768, 32767, 32767); break;
        case CL_UNORM_SHORT_565: packed |= pack(f[k], k, (const uint8_t[4]){5, 6, 5, 0}); break;
        case CL_UNORM_SHORT_555: packed |= pack(f[k], k, (const uint8_t[4]){5, 5, 5, 0}); break;
        case CL_UNORM_INT_101010: packed |= pack(f[k], k, (const uint8_t[4]){10, 10, 10, 0}); break;
        case CL_UNORM_INT_101010_2: packed |= pack(f[k], k, (const uint8_t[4]){10, 10, 10, 2}); break;
        case CL_SIGNED_INT8: value = (uint32_t)(i[k] < -128 ? -128 : i[k] > 127 ? 127 : i[k]); break;
        case CL_SIGNED_INT16: value = (uint32_t)(i[k] < -32768 ? -32768 : i[k] > 32767 ? 32767 : i[k]); break;
        case CL_UNSIGNED_INT8: value = u[k] > 255 ? 255 : u[k]; break;
        case CL_UNSIGNED_INT16: value = u[k] > 65535 ? 65535 : u[k]; break;
        case CL_HALF_FLOAT: value = to_half(f[k]); break;
        default: value = u[k];
        }
        switch (format->image_channel_data_type) {
        case CL_UNORM_INT8:
        case CL_SNORM_INT8:
        case CL_SIGNED_INT8:
        case CL_UNSIGNED_INT8: texel[k] = (uint8_t)value; break;
        case CL_UNORM_INT16:
        case CL_SNORM_INT16:
        case CL_SIGNED_INT16:
        case CL_UNSIGNED_INT16:
        case CL_HALF_FLOAT: memcpy(texel + 2u * k, &(uint16_t){(uint16_t)value}, 2); break;
        case CL_UNORM_SHORT_565:
        case CL_UNORM_SHORT_555:
        case CL_UNORM_INT_101010:
        case CL_UNORM_INT_101010_2: memcpy(texel, &packed, 4); break;
        default: memcpy(texel + 4u * k, &value, 4);
        }
    }
}

struct fill {
    struct cl_command base;
    uint64_t address;
    struct cl_box box;
    size_t region[3], texel_bytes;
    uint8_t texel[16];
};

static int run_fill(struct rt_command *command)
{
    struct fill *f = (struct fill *)(void *)command;
    int result = LANEWISE_OK;

    for (size_t z = 0; z < f->region[2]; z++)
        for (size_t y = 0; y < f->region[1] && result == LANEWISE_OK; y++)
            result = lanewise_fill(rt_machine(), f->address + f->box.offset + y * f->box.row + z * f->box.slice, f->texel,
                                   f->texel_bytes, f->region[0]);
    return cl_result(result, "fill");
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color, const size_t *origin,
                                      const size_t *region, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_command *command;
    struct cl_box box;
    struct fill *f;
    size_t bytes[3];
    cl_int error;

    rt_lock();
    error = cl_check_mem(queue, image, true);
    if (error == CL_SUCCESS && (color == NULL || !make_box(&image->image, origin, region, &box, bytes)))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = cl_command_create(queue, CL_COMMAND_FILL_IMAGE, count, waits, sizeof *f, run_fill, &command);
    if (error != CL_SUCCESS)
        return fail(error);
    f = (struct fill *)command;
    f->address = image->address;
    f->box = box;
    memcpy(f->region, bytes, sizeof bytes);
    f->texel_bytes = image->image.texel;
    encode(&image->image.format, color, f->texel);
    cl_command_hold_mem(command, image);
    return cl_command_enqueue(queue, command, false, event);
}

/* ---- mapping --------------------------------------------------------------------------------------------------- */

void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                    const size_t *origin, const size_t *region, size_t *row, size_t *slice, cl_uint count,
                                    const cl_event *waits, cl_event *event, cl_int *error)
{
    struct cl_map map = {.next = NULL};
    bool slices = false;
    cl_int result;
    void *pointer;
    size_t pitch[2];

    rt_lock();
    result = cl_check_mem(queue, image, true);
    if (result == CL_SUCCESS) {
        const cl_mem_object_type type = image->image.type;

        slices = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY || type == CL_MEM_OBJECT_IMAGE3D;
        if (row == NULL || (slices && slice == NULL) || !make_box(&image->image, origin, region, &map.box, map.region))
            result = CL_INVALID_VALUE;
    }
    if (result != CL_SUCCESS) {
        cl_put_error(error, fail(result));
        return NULL;
    }
    pitch[0] = image->image.row;
    pitch[1] = slices ? image->image.slice : 0;
    pointer = cl_map_enqueue(queue, CL_COMMAND_MAP_IMAGE, image, &map, blocking, flags, count, waits, event, error);
    if (pointer != NULL) {
        *row = pitch[0];
        if (slice != NULL)
            *slice = pitch[1];
    }
    return pointer;
}
