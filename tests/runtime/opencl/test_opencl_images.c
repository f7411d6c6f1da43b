/* SPDX-License-Identifier: Apache-2.0 */
/* Tests images and samplers of the OpenCL driver through the system's OpenCL loader. Expected values are computed on the host. */
#include "tests/runtime/opencl/opencl_test.h"

#include <math.h>

static const char source[] =
    "constant sampler_t fixed = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "#define X get_global_id(0)\n"
    "#define AT (int2)(X, get_global_id(1))\n"
    "kernel void write_f(write_only image2d_t out, float4 v) { write_imagef(out, AT, v); }\n"
    "kernel void write_i(write_only image2d_t out, int4 v) { write_imagei(out, AT, v); }\n"
    "kernel void write_u(write_only image2d_t out, uint4 v) { write_imageui(out, AT, v); }\n"
    "kernel void read_f(read_only image2d_t in, global float4 *out) { out[X] = read_imagef(in, fixed, (int2)(X, 0)); }\n"
    "kernel void read_i(read_only image2d_t in, global int4 *out) { out[X] = read_imagei(in, (int2)(X, 0)); }\n"
    "kernel void read_u(read_only image2d_t in, global uint4 *out)\n"
    "{ out[X] = read_imageui(in, fixed, (float2)(X + 0.5f, 0.5f)); }\n"
    "kernel void sample1(read_only image1d_t in, sampler_t s, global const float4 *at, global float4 *out)\n"
    "{ size_t i = get_global_id(0); out[i] = read_imagef(in, s, at[i].x); }\n"
    "kernel void sample1a(read_only image1d_array_t in, sampler_t s, global const float4 *at, global float4 *out)\n"
    "{ size_t i = get_global_id(0); out[i] = read_imagef(in, s, at[i].xy); }\n"
    "kernel void sample2(read_only image2d_t in, sampler_t s, global const float4 *at, global float4 *out)\n"
    "{ size_t i = get_global_id(0); out[i] = read_imagef(in, s, at[i].xy); }\n"
    "kernel void sample2a(read_only image2d_array_t in, sampler_t s, global const float4 *at, global float4 *out)\n"
    "{ size_t i = get_global_id(0); out[i] = read_imagef(in, s, at[i]); }\n"
    "kernel void sample3(read_only image3d_t in, sampler_t s, global const float4 *at, global float4 *out)\n"
    "{ size_t i = get_global_id(0); out[i] = read_imagef(in, s, at[i]); }\n"
    "kernel void line(read_only image1d_buffer_t in, global float4 *out) { out[X] = read_imagef(in, (int)X); }\n"
    "kernel void sizes(read_only image1d_t a, read_only image1d_array_t b, write_only image2d_t c, read_only image2d_array_t d,\n"
    "                  read_only image3d_t e, global int *out)\n"
    "{\n"
    "    *out++ = get_image_width(a); *out++ = get_image_width(b); *out++ = get_image_array_size(b);\n"
    "    *out++ = get_image_width(c); *out++ = get_image_height(c); *out++ = get_image_dim(c).y;\n"
    "    *out++ = get_image_dim(d).x; *out++ = get_image_height(d); *out++ = get_image_array_size(d);\n"
    "    *out++ = get_image_dim(e).x; *out++ = get_image_height(e); *out++ = get_image_depth(e); *out++ = get_image_dim(e).z;\n"
    "    *out++ = get_image_channel_order(c); *out++ = get_image_channel_data_type(c);\n"
    "    *out++ = get_image_channel_order(c) == CLK_RGBA && get_image_channel_data_type(c) == CLK_UNSIGNED_INT8;\n"
    "}\n"
    "kernel void outside(write_only image2d_t out) { write_imageui(out, AT - 4, 7); }\n";
static const char both_source[] =
    "#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n"
    "#if !defined __IMAGE_SUPPORT__ || !defined __opencl_c_images || !defined __opencl_c_read_write_images\n"
    "#error the macros of images are missing\n"
    "#endif\n"
    "kernel void both(read_write image2d_t a, write_only image3d_t b, global const uint *c)\n"
    "{\n"
    "    int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "    write_imageui(a, p, read_imageui(a, p) * 2 + c[0]);\n"
    "    atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);\n"
    "    write_imageui(b, (int4)(p, 1, 0), read_imageui(a, p) + 1);\n"
    "}\n";

static cl_program program;

static cl_program build(const char *text, const char *options)
{
    cl_int error;
    cl_program made = clCreateProgramWithSource(context, 1, &text, NULL, &error);

    OK(error);
    OK(clBuildProgram(made, 1, &device, options, NULL, NULL));
    return made;
}

static int set_up(void **state)
{
    (void)state;
    open_device(0);
    program = build(source, "-cl-kernel-arg-info");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    OK(clReleaseProgram(program));
    close_device();
    return 0;
}

static cl_mem buffer_of(size_t bytes, const void *data)
{
    cl_int error;
    cl_mem mem = clCreateBuffer(context, data != NULL ? CL_MEM_COPY_HOST_PTR : 0, bytes, (void *)(uintptr_t)data, &error);

    OK(error);
    return mem;
}

static cl_mem image_of(cl_mem_object_type type, cl_channel_order order, cl_channel_type channel, size_t width, size_t height,
                       size_t depth, const void *data)
{
    const cl_image_desc description = {
        .image_type = type, .image_width = width, .image_height = height, .image_depth = depth,
        .image_array_size = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? height : type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? depth : 0};
    const cl_image_format format = {order, channel};
    cl_int error;
    cl_mem mem = clCreateImage(context, data != NULL ? CL_MEM_COPY_HOST_PTR : 0, &format, &description, (void *)(uintptr_t)data,
                               &error);

    OK(error);
    return mem;
}

/** Runs a kernel of @from with @count arguments of 8 bytes, and another one of 16 bytes if @wide is not NULL. */
static void run_of(cl_program from, const char *name, size_t width, size_t height, unsigned count, const void *const *arguments,
                   const void *wide)
{
    const size_t global[2] = {width, height};
    cl_int error;
    cl_kernel kernel = clCreateKernel(from, name, &error);

    OK(error);
    for (unsigned i = 0; i < count; i++)
        OK(clSetKernelArg(kernel, i, 8, arguments[i]));
    if (wide != NULL)
        OK(clSetKernelArg(kernel, count, 16, wide));
    OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseKernel(kernel));
}

static void run(const char *name, size_t width, size_t height, unsigned count, const void *const *arguments, const void *wide)
{
    run_of(program, name, width, height, count, arguments, wide);
}

/* ---- formats --------------------------------------------------------------------------------------------------- */

static bool is_integer(cl_channel_type type, bool *has_sign)
{
    *has_sign = type >= CL_SIGNED_INT8 && type <= CL_SIGNED_INT32;
    return type >= CL_SIGNED_INT8 && type <= CL_UNSIGNED_INT32;
}

/** Returns the value that a read of component @k returns after a write of @v, except for rounding. */
static double after(const cl_image_format *f, unsigned k, const double v[4])
{
    static const struct {
        cl_channel_type type;
        double least, most;
    } limits[] = {{CL_SNORM_INT8, -1, 1}, {CL_SNORM_INT16, -1, 1}, {CL_SIGNED_INT8, -128, 127}, {CL_SIGNED_INT16, -32768, 32767},
                  {CL_SIGNED_INT32, -1e30, 1e30}, {CL_UNSIGNED_INT8, 0, 255}, {CL_UNSIGNED_INT16, 0, 65535},
                  {CL_UNSIGNED_INT32, 0, 1e30}, {CL_HALF_FLOAT, -65504, 65504}, {CL_FLOAT, -1e30, 1e30}};
    double least = 0, most = 1, value = v[k];

    switch (f->image_channel_order) {
    case CL_R: if (k != 0) return k == 3; break;
    case CL_A: if (k != 3) return 0; break;
    case CL_RG: if (k >= 2) return k == 3; break;
    case CL_RA: if (k == 1 || k == 2) return 0; break;
    case CL_RGB: if (k == 3) return 1; break;
    case CL_INTENSITY: value = v[0]; break;
    case CL_LUMINANCE: if (k == 3) return 1; value = v[0]; break;
    default: break;
    }
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].type == f->image_channel_data_type)
            least = limits[i].least, most = limits[i].most;
    return isnan(value) ? 0 : fmin(fmax(value, least), most);
}

static double tolerance(const cl_image_format *f, unsigned k)
{
    switch (f->image_channel_data_type) {
    case CL_UNORM_INT8:
    case CL_SNORM_INT8: return 0.6 / 127;
    case CL_UNORM_INT16:
    case CL_SNORM_INT16: return 0.6 / 32767;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555: return 0.6 / 31;
    case CL_UNORM_INT_101010: return 0.6 / 1023;
    case CL_UNORM_INT_101010_2: return k == 3 ? 0.6 / 3 : 0.6 / 1023;
    case CL_HALF_FLOAT: return 0.001;
    default: return 0;
    }
}

/** Writes colours by a kernel and by clEnqueueFillImage, compares the texels, and reads them by a kernel. */
static void check_format(const cl_image_format *f)
{
    static const double colors[][4] = {{0.25, 0.5, 0.75, 1}, {0, 1, -1, 2}, {-0.3, 0.1, 0.9, 0.4}, {300, -200, 70000, 17},
                                       {NAN, NAN, NAN, NAN}}; /* the last one for normalized formats */
    const size_t origin[3] = {0, 0, 0}, region[3] = {3, 1, 1}, second[3] = {1, 0, 0}, one[3] = {1, 1, 1};
    bool has_sign;
    const bool integer = is_integer(f->image_channel_data_type, &has_sign);
    const bool srgb = f->image_channel_order == CL_sRGBA || f->image_channel_order == CL_sBGRA;

    for (unsigned c = 0; c < sizeof colors / sizeof *colors; c++) {
        cl_mem image = image_of(CL_MEM_OBJECT_IMAGE2D, f->image_channel_order, f->image_channel_data_type, 3, 1, 0, NULL),
               out = buffer_of(3 * 16, NULL);
        float floats[4], got[12];
        int32_t ints[4], got_ints[12];
        uint8_t texels[3 * 16];
        double color[4];
        size_t bytes;

        if (c == 4 && (integer || srgb || f->image_channel_data_type == CL_HALF_FLOAT || f->image_channel_data_type == CL_FLOAT)) {
            OK(clReleaseMemObject(image));
            OK(clReleaseMemObject(out));
            continue;
        }
        for (unsigned k = 0; k < 4; k++) {
            color[k] = integer && c < 3 ? colors[c][k] * 100 : colors[c][k];
            color[k] = integer ? trunc(!has_sign && color[k] < 0 ? 0 : color[k]) : color[k];
            floats[k] = (float)color[k];
            color[k] = (double)floats[k];
            ints[k] = (int32_t)color[k];
        }
        OK(clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof bytes, &bytes, NULL));
        run(!integer ? "write_f" : has_sign ? "write_i" : "write_u", 3, 1, 1, (const void *[]){&image},
            integer ? (const void *)ints : (const void *)floats);
        OK(clEnqueueFillImage(queue, image, integer ? (const void *)ints : (const void *)floats, second, one, 0, NULL, NULL));
        OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL));
        assert_memory_equal(texels, texels + bytes, bytes); /* the host and the kernel convert in the same way */
        assert_memory_equal(texels, texels + 2 * bytes, bytes);
        run(!integer ? "read_f" : has_sign ? "read_i" : "read_u", 3, 1, 2, (const void *[]){&image, &out}, NULL);
        OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        memcpy(got_ints, got, sizeof got);
        for (unsigned k = 0; k < 12; k++) {
            const double expected = after(f, k % 4, color),
                         value = !integer ? (double)got[k] : has_sign ? got_ints[k] : (double)(uint32_t)got_ints[k];
            const double most = srgb && k % 4 != 3 ? 0.008 : tolerance(f, k % 4);

            if (f->image_channel_data_type == CL_HALF_FLOAT && fabs(color[k % 4]) > 65504)
                continue; /* infinity */
            if (!(fabs(value - expected) <= most * fmax(1, fabs(expected))))
                fail_msg("format %#x %#x, colour %u, component %u: %g, expected %g", f->image_channel_order,
                         f->image_channel_data_type, c, k % 4, value, expected);
        }
        OK(clReleaseMemObject(image));
        OK(clReleaseMemObject(out));
    }
}

static void formats_convert_in_both_directions(void **state)
{
    static const cl_image_format required[] = {{CL_R, CL_UNORM_INT8}, {CL_RG, CL_HALF_FLOAT}, {CL_RGBA, CL_SIGNED_INT32},
                                               {CL_BGRA, CL_UNORM_INT8}, {CL_RGBA, CL_FLOAT}, {CL_R, CL_UNSIGNED_INT16}};
    cl_image_format formats[200];
    cl_uint count;

    (void)state;
    OK(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 200, formats, &count));
    assert_in_range(count, 1, 200);
    for (unsigned r = 0; r < sizeof required / sizeof *required; r++) {
        cl_uint i = 0;

        while (i < count && memcmp(&formats[i], &required[r], sizeof *required) != 0)
            i++;
        assert_true(i < count);
    }
    for (cl_uint i = 0; i < count; i++)
        check_format(&formats[i]);
}

/* ---- samplers -------------------------------------------------------------------------------------------------- */

enum { W = 7, H = 5, D = 3, POINTS = 200 };
static float texels[D][H][W][4];

/** Returns the index of a texel for the addressing mode, or -1 for the border. */
static int address(cl_addressing_mode mode, int i, int size)
{
    switch (mode) {
    case CL_ADDRESS_REPEAT: return i < 0 ? i + size : i >= size ? i - size : i;
    case CL_ADDRESS_MIRRORED_REPEAT:
    case CL_ADDRESS_CLAMP_TO_EDGE: return i < 0 ? 0 : i >= size ? size - 1 : i;
    default: return i < 0 || i >= size ? -1 : i;
    }
}

/** Computes the two texels and the weight of the second one for a coordinate. */
static void axis(cl_addressing_mode mode, bool normalized, bool linear, double c, int size, int index[2], double *weight)
{
    double u = normalized ? c * size : c, base;

    if (mode == CL_ADDRESS_REPEAT)
        u = (c - floor(c)) * size;
    if (mode == CL_ADDRESS_MIRRORED_REPEAT)
        u = fabs(c - 2 * rint(c / 2)) * size;
    base = linear ? floor(u - 0.5) : floor(u);
    *weight = linear ? u - 0.5 - base : 0;
    index[0] = address(mode, (int)base, size);
    index[1] = address(mode, (int)base + 1, size);
}

/** Computes the result of a read with @filtered filtered dimensions, of which the image has @dimensions. */
static void expect(cl_addressing_mode mode, bool normalized, bool linear, unsigned filtered, unsigned dimensions,
                   const float at[4], double out[4])
{
    static const int sizes[3] = {W, H, D};
    int index[3][2] = {{0, 0}, {0, 0}, {0, 0}};
    double weight[3] = {0, 0, 0};

    for (unsigned d = 0; d < dimensions; d++)
        if (d < filtered) {
            axis(mode, normalized, linear, at[d], sizes[d], index[d], &weight[d]);
        } else {
            const int layer = (int)rint(at[d]);

            index[d][0] = index[d][1] = layer < 0 ? 0 : layer >= sizes[d] ? sizes[d] - 1 : layer;
        }
    memset(out, 0, 4 * sizeof *out);
    for (unsigned corner = 0; corner < 8; corner++) {
        double w = 1;
        int i[3];

        for (unsigned d = 0; d < 3; d++) {
            w *= corner >> d & 1 ? weight[d] : 1 - weight[d];
            i[d] = index[d][corner >> d & 1];
        }
        for (unsigned k = 0; k < 4 && w != 0; k++)
            out[k] += i[0] < 0 || i[1] < 0 || i[2] < 0 ? 0 : w * (double)texels[i[2]][i[1]][i[0]][k];
    }
}

static void check_sampler(cl_addressing_mode mode, bool normalized, bool linear)
{
    static const struct {
        const char *kernel;
        cl_mem_object_type type;
        unsigned filtered, dimensions;
    } rows[] = {{"sample1", CL_MEM_OBJECT_IMAGE1D, 1, 1}, {"sample1a", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, 2},
                {"sample2", CL_MEM_OBJECT_IMAGE2D, 2, 2}, {"sample2a", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, 3},
                {"sample3", CL_MEM_OBJECT_IMAGE3D, 3, 3}};
    static const float sizes[3] = {W, H, D};
    cl_int error;
    cl_sampler sampler = clCreateSampler(context, normalized, mode, linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &error);

    OK(error);
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
        cl_mem image = image_of(rows[r].type, CL_RGBA, CL_FLOAT, W, rows[r].dimensions > 1 ? H : 1,
                                rows[r].dimensions > 2 ? D : 1, texels);
        static float at[POINTS][4], got[POINTS][4];
        cl_mem points, out = buffer_of(sizeof got, NULL);

        for (unsigned i = 0; i < POINTS; i++)
            for (unsigned k = 0; k < 3; k++) { /* multiples of 1/64 that no boundary between texels has */
                const float u = (float)(rand() % 1600 - 640) / 64 + 1 / 128.0f;

                at[i][k] = normalized && k < rows[r].filtered ? u / sizes[k] : u;
            }
        points = buffer_of(sizeof at, at);
        run(rows[r].kernel, POINTS, 1, 4, (const void *[]){&image, &sampler, &points, &out}, NULL);
        OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        for (unsigned i = 0; i < POINTS; i++) {
            double expected[4];

            expect(mode, normalized, linear, rows[r].filtered, rows[r].dimensions, at[i], expected);
            for (unsigned k = 0; k < 4; k++)
                if (!(fabs((double)got[i][k] - expected[k]) < (linear ? 1e-3 : 1e-6)))
                    fail_msg("%s, addressing %#x, %s, %s, (%g, %g, %g): %g, expected %g", rows[r].kernel, mode,
                             normalized ? "normalized" : "unnormalized", linear ? "linear" : "nearest", (double)at[i][0],
                             (double)at[i][1], (double)at[i][2], (double)got[i][k], expected[k]);
        }
        OK(clReleaseMemObject(image));
        OK(clReleaseMemObject(points));
        OK(clReleaseMemObject(out));
    }
    OK(clReleaseSampler(sampler));
}

static void samplers_address_and_filter_as_specified(void **state)
{
    (void)state;
    srand(1);
    for (unsigned i = 0; i < W * H * D * 4; i++)
        (&texels[0][0][0][0])[i] = (float)(rand() % 1000) / 100;
    for (cl_addressing_mode mode = CL_ADDRESS_CLAMP_TO_EDGE; mode <= CL_ADDRESS_MIRRORED_REPEAT; mode++)
        for (unsigned linear = 0; linear < 2; linear++) {
            check_sampler(mode, true, linear != 0);
            if (mode != CL_ADDRESS_REPEAT && mode != CL_ADDRESS_MIRRORED_REPEAT)
                check_sampler(mode, false, linear != 0);
        }
}

static void the_border_has_the_colour_of_the_order(void **state)
{
    static const struct {
        cl_channel_order order;
        float alpha;
    } rows[] = {{CL_R, 1}, {CL_RG, 1}, {CL_A, 0}, {CL_RA, 0}, {CL_RGBA, 0}, {CL_BGRA, 0}, {CL_INTENSITY, 0}, {CL_LUMINANCE, 1}};

    (void)state;
    for (unsigned r = 0; r < sizeof rows / sizeof *rows; r++) {
        const uint8_t white[4] = {255, 255, 255, 255};
        cl_mem image = image_of(CL_MEM_OBJECT_IMAGE2D, rows[r].order, CL_UNORM_INT8, 1, 1, 0, white), out = buffer_of(32, NULL);
        float got[8];

        run("read_f", 2, 1, 2, (const void *[]){&image, &out}, NULL);
        OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        assert_true(got[4] == 0 && got[5] == 0 && got[6] == 0 && got[7] == rows[r].alpha);
        OK(clReleaseMemObject(image));
        OK(clReleaseMemObject(out));
    }
}

/* ---- commands -------------------------------------------------------------------------------------------------- */

static void boxes_are_copied(void **state)
{
    static uint32_t data[4][6][8], got[4][6][8], part[2][3][5];
    const size_t zero[3] = {0, 0, 0}, all[3] = {8, 6, 4}, at[3] = {2, 1, 1}, box[3] = {5, 3, 2}, to[3] = {1, 2, 2};
    cl_mem a, b, buffer = buffer_of(2 * 3 * 5 * 4 + 12, NULL);

    (void)state;
    for (unsigned i = 0; i < 4 * 6 * 8; i++)
        (&data[0][0][0])[i] = i * 2654435761u;
    a = image_of(CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_UNORM_INT8, 8, 6, 4, data);
    b = image_of(CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_RGBA, CL_UNORM_INT8, 8, 6, 4, NULL);
    OK(clEnqueueReadImage(queue, a, CL_TRUE, zero, all, 0, 0, got, 0, NULL, NULL));
    assert_memory_equal(got, data, sizeof data);
    OK(clEnqueueReadImage(queue, a, CL_TRUE, at, box, 5 * 4, 3 * 5 * 4, part, 0, NULL, NULL));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            assert_memory_equal(part[z][y], &data[1 + z][1 + y][2], 20);
    OK(clEnqueueCopyImage(queue, a, b, at, to, box, 0, NULL, NULL));
    OK(clEnqueueCopyImageToBuffer(queue, b, buffer, to, box, 12, 0, NULL, NULL));
    memset(part, 0, sizeof part);
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 12, sizeof part, part, 0, NULL, NULL));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            assert_memory_equal(part[z][y], &data[1 + z][1 + y][2], 20);
    OK(clEnqueueCopyBufferToImage(queue, buffer, b, 12, zero, box, 0, NULL, NULL));
    OK(clEnqueueReadImage(queue, b, CL_TRUE, zero, box, 8 * 4, 6 * 8 * 4, got, 0, NULL, NULL));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 3; y++)
            assert_memory_equal(got[z][y], &data[1 + z][1 + y][2], 20);
    assert_int_equal(clEnqueueReadImage(queue, a, CL_TRUE, at, all, 0, 0, got, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueReadImage(queue, a, CL_TRUE, zero, all, 31, 0, got, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clEnqueueCopyImage(queue, a, a, zero, at, box, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    assert_int_equal(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 4, got, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clEnqueueReadImage(queue, buffer, CL_TRUE, zero, all, 0, 0, got, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(a));
    OK(clReleaseMemObject(b));
    OK(clReleaseMemObject(buffer));
}

static void maps_have_the_pitches_of_the_image(void **state)
{
    static uint8_t host[4 * 32];
    const cl_image_desc description = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 20, .image_height = 4, .image_row_pitch = 32};
    const cl_image_format format = {CL_R, CL_UNORM_INT8};
    const size_t origin[3] = {3, 1, 0}, region[3] = {4, 2, 1};
    size_t row = 0, slice = 7;
    cl_int error;
    cl_mem image;
    uint8_t *map;

    (void)state;
    for (unsigned i = 0; i < sizeof host; i++)
        host[i] = (uint8_t)i;
    image = clCreateImage(context, CL_MEM_USE_HOST_PTR, &format, &description, host, &error);
    OK(error);
    OK(clGetImageInfo(image, CL_IMAGE_ROW_PITCH, sizeof row, &row, NULL));
    assert_int_equal(row, 32);
    map = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region, &row, &slice, 0, NULL, NULL,
                            &error);
    OK(error);
    assert_ptr_equal(map, host + 32 + 3);
    assert_int_equal(row, 32);
    assert_int_equal(slice, 0);
    assert_int_equal(map[32], 64 + 3);
    map[33] = 200;
    OK(clEnqueueUnmapMemObject(queue, image, map, 0, NULL, NULL));
    memset(host, 0, sizeof host);
    OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, host, 0, NULL, NULL));
    assert_int_equal(host[4], 64 + 3);
    assert_int_equal(host[5], 200);
    OK(clReleaseMemObject(image));

    image = image_of(CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_RG, CL_UNSIGNED_INT16, 5, 3, 0, NULL);
    assert_int_equal(clEnqueueCopyImage(queue, image, image, (const size_t[3]){0, 0, 0}, (const size_t[3]){1, 1, 0},
                                        (const size_t[3]){4, 2, 1}, 0, NULL, NULL), CL_MEM_COPY_OVERLAP);
    OK(clEnqueueCopyImage(queue, image, image, (const size_t[3]){0, 0, 0}, (const size_t[3]){0, 1, 0},
                          (const size_t[3]){5, 1, 1}, 0, NULL, NULL));
    map = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, (const size_t[3]){1, 2, 0}, (const size_t[3]){4, 1, 1}, &row,
                            &slice, 0, NULL, NULL, &error);
    OK(error);
    assert_int_equal(row, 20);
    assert_int_equal(slice, 20);
    memset(map, 9, 16);
    OK(clEnqueueUnmapMemObject(queue, image, map, 0, NULL, NULL));
    memset(host, 1, sizeof host);
    OK(clEnqueueReadImage(queue, image, CL_TRUE, (const size_t[3]){0, 1, 0}, (const size_t[3]){5, 2, 1}, 0, 0, host, 0, NULL,
                          NULL));
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(host[i], i < 24 ? 0 : 9);
    OK(clReleaseMemObject(image));
}

static void images_share_the_memory_of_buffers(void **state)
{
    static float data[32];
    cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 8};
    const cl_image_format format = {CL_RGBA, CL_FLOAT}, byte = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_mem buffer, line, plane, out = buffer_of(sizeof data, NULL), parent;
    float got[32];
    cl_int error;

    (void)state;
    for (unsigned i = 0; i < 32; i++)
        data[i] = (float)i;
    buffer = buffer_of(sizeof data, data);
    description.mem_object = buffer;
    line = clCreateImage(context, 0, &format, &description, NULL, &error);
    OK(error);
    run("line", 8, 1, 2, (const void *[]){&line, &out}, NULL);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    assert_memory_equal(got, data, sizeof data);
    OK(clGetMemObjectInfo(line, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    assert_ptr_equal(parent, buffer);
    description = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 3, .image_height = 2, .image_row_pitch = 16,
                                  .mem_object = buffer};
    plane = clCreateImage(context, 0, &byte, &description, NULL, &error);
    OK(error);
    run("write_u", 3, 2, 1, (const void *[]){&plane}, (const uint32_t[4]){1, 2, 3, 4});
    OK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (unsigned i = 0; i < 32; i++)
        if (i < 3 || (i >= 4 && i < 7))
            assert_memory_equal(&got[i], "\1\2\3\4", 4);
        else
            assert_true(got[i] == data[i]);
    description.image_width = 100;
    assert_null(clCreateImage(context, 0, &byte, &description, NULL, &error));
    assert_int_equal(error, CL_INVALID_IMAGE_DESCRIPTOR);
    OK(clReleaseMemObject(line));
    OK(clReleaseMemObject(plane));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(out));
}

static void images_share_the_memory_of_images(void **state)
{
    static const uint8_t data[8] = {10, 20, 30, 40, 50, 60, 70, 80};
    const cl_image_format format = {CL_BGRA, CL_UNSIGNED_INT8};
    cl_mem first = image_of(CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT8, 2, 1, 0, data), second, out = buffer_of(32, NULL);
    cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 1, .mem_object = first};
    uint32_t got[8];
    cl_int error;

    (void)state;
    second = clCreateImage(context, 0, &format, &description, NULL, &error);
    OK(error);
    OK(clReleaseMemObject(first)); /* the second image has a reference to it */
    run("read_u", 2, 1, 2, (const void *[]){&second, &out}, NULL);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(got[i], data[i % 4 == 0 ? i + 2 : i % 4 == 2 ? i - 2 : i]);
    description.image_width = 1;
    description.mem_object = second;
    assert_null(clCreateImage(context, 0, &format, &description, NULL, &error));
    assert_int_equal(error, CL_INVALID_IMAGE_DESCRIPTOR);
    OK(clReleaseMemObject(second));
    OK(clReleaseMemObject(out));
}

static void images_use_shared_virtual_memory(void **state)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 3, .image_height = 2};
    const size_t origin[3] = {0, 0, 0}, region[3] = {3, 2, 1};
    uint8_t *memory = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 24, 0), *map;
    size_t row;
    cl_int error;
    cl_mem image;

    (void)state;
    assert_non_null(memory);
    image = clCreateImage(context, CL_MEM_USE_HOST_PTR, &format, &description, memory, &error);
    OK(error);
    run("write_u", 3, 2, 1, (const void *[]){&image}, (const uint32_t[4]){1, 2, 3, 4});
    for (unsigned i = 0; i < 24; i++)
        assert_int_equal(memory[i], i % 4 + 1);
    map = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, region, &row, NULL, 0, NULL, NULL, &error);
    OK(error);
    assert_ptr_equal(map, memory);
    OK(clEnqueueUnmapMemObject(queue, image, map, 0, NULL, NULL));
    OK(clFinish(queue));
    OK(clReleaseMemObject(image));
    clSVMFree(context, memory);
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

static void kernels_get_the_sizes_of_images(void **state)
{
    static const int expected[16] = {9, 8, 7, 6, 5, 5, 4, 3, 2, 6, 4, 3, 3, CL_RGBA, CL_UNSIGNED_INT8, 1};
    cl_mem mems[6] = {image_of(CL_MEM_OBJECT_IMAGE1D, CL_R, CL_FLOAT, 9, 0, 0, NULL),
                      image_of(CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_R, CL_FLOAT, 8, 7, 0, NULL),
                      image_of(CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT8, 6, 5, 0, NULL),
                      image_of(CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_R, CL_FLOAT, 4, 3, 2, NULL),
                      image_of(CL_MEM_OBJECT_IMAGE3D, CL_R, CL_FLOAT, 6, 4, 3, NULL), buffer_of(64, NULL)};
    int got[16];

    (void)state;
    run("sizes", 1, 1, 6, (const void *[]){&mems[0], &mems[1], &mems[2], &mems[3], &mems[4], &mems[5]}, NULL);
    OK(clEnqueueReadBuffer(queue, mems[5], CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    assert_memory_equal(got, expected, sizeof got);
    for (unsigned i = 0; i < 6; i++)
        OK(clReleaseMemObject(mems[i]));
}

static void a_write_outside_has_no_effect(void **state)
{
    const size_t origin[3] = {0, 0, 0}, region[3] = {4, 4, 1};
    cl_mem image = image_of(CL_MEM_OBJECT_IMAGE2D, CL_R, CL_UNSIGNED_INT32, 4, 4, 0, NULL), after_it = buffer_of(4096, NULL);
    uint32_t got[16], zeros[1024];

    (void)state;
    run("outside", 12, 12, 1, (const void *[]){&image}, NULL);
    OK(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL));
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(got[i], 7);
    OK(clEnqueueReadBuffer(queue, after_it, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    for (unsigned i = 0; i < 1024; i++)
        assert_int_equal(zeros[i], 0);
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(after_it));
}

static void kernels_read_and_write_one_image(void **state)
{
    static const char *const options[] = {"-cl-std=CL2.0", "-cl-std=CL3.0"};
    const size_t global[2] = {4, 2}, origin[3] = {0, 0, 0}, slice[3] = {0, 0, 1}, region[3] = {4, 2, 1};
    const uint32_t three = 3;

    (void)state;
    for (unsigned o = 0; o < 2; o++) {
        const uint32_t data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        cl_program made = build(both_source, options[o]);
        cl_mem a = image_of(CL_MEM_OBJECT_IMAGE2D, CL_R, CL_UNSIGNED_INT32, 4, 2, 0, data),
               b = image_of(CL_MEM_OBJECT_IMAGE3D, CL_R, CL_UNSIGNED_INT32, 4, 2, 2, NULL), c = buffer_of(4, &three);
        uint32_t got[8], second[8];
        cl_int error;
        cl_kernel kernel = clCreateKernel(made, "both", &error);

        OK(error);
        OK(clSetKernelArg(kernel, 0, sizeof a, &a));
        OK(clSetKernelArg(kernel, 1, sizeof b, &b));
        OK(clSetKernelArg(kernel, 2, sizeof c, &c));
        OK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
        OK(clEnqueueReadImage(queue, a, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL));
        OK(clEnqueueReadImage(queue, b, CL_TRUE, slice, region, 0, 0, second, 0, NULL, NULL));
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(got[i], 2 * i + 3);
            assert_int_equal(second[i], 2 * i + 4);
        }
        OK(clReleaseKernel(kernel));
        OK(clReleaseMemObject(a));
        OK(clReleaseMemObject(b));
        OK(clReleaseMemObject(c));
        OK(clReleaseProgram(made));
    }
}

/** Reads a texel by a kernel of a program. */
static void check_program(cl_program from)
{
    static const uint8_t data[4] = {1, 2, 3, 4};
    cl_mem image = image_of(CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT8, 1, 1, 0, data), out = buffer_of(16, NULL);
    uint32_t got[4];

    run_of(from, "read_u", 1, 1, 2, (const void *[]){&image, &out}, NULL);
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(got[i], i + 1);
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(out));
}

static void binaries_and_linked_programs_use_images(void **state)
{
    const char *text = source, *const user =
        "#include \"reads.h\"\nkernel void first(read_only IMAGE in, global float *out) { out[0] = FETCH(in).x; }\n",
        *const header = "#define IMAGE image2d_t\n#define FETCH(t) read_imagef(t, (int2)(0, 0))\n", *name = "reads.h";
    cl_mem image = image_of(CL_MEM_OBJECT_IMAGE2D, CL_R, CL_FLOAT, 1, 1, 0, (const float[1]){5}), out = buffer_of(4, NULL);
    cl_program loaded, compiled, linked, other, headers;
    unsigned char *binary;
    cl_int status, error;
    size_t bytes;
    float got;

    (void)state;
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL));
    binary = malloc(bytes);
    OK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    loaded = clCreateProgramWithBinary(context, 1, &device, &bytes, (const unsigned char **)&binary, &status, &error);
    OK(error);
    OK(clBuildProgram(loaded, 1, &device, "", NULL, NULL));
    check_program(loaded);
    compiled = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    OK(error);
    OK(clCompileProgram(compiled, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    other = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&user, NULL, &error);
    OK(error);
    headers = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&header, NULL, &error);
    OK(error);
    OK(clCompileProgram(other, 1, &device, "", 1, &headers, &name, NULL, NULL));
    linked = clLinkProgram(context, 1, &device, "", 2, (const cl_program[]){compiled, other}, NULL, NULL, &error);
    OK(error);
    check_program(linked);
    run_of(linked, "first", 1, 1, 2, (const void *[]){&image, &out}, NULL); /* only the header names images */
    OK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof got, &got, 0, NULL, NULL));
    assert_true(got == 5);
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(out));
    OK(clReleaseProgram(loaded));
    OK(clReleaseProgram(compiled));
    OK(clReleaseProgram(other));
    OK(clReleaseProgram(headers));
    OK(clReleaseProgram(linked));
    free(binary);
}

/* ---- errors and queries ---------------------------------------------------------------------------------------- */

static void arguments_must_fit_their_parameters(void **state)
{
    const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "sample2", &error);
    cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST, &error);
    cl_mem buffer = buffer_of(64, NULL), solid = image_of(CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_FLOAT, 2, 2, 2, NULL),
           written = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &description, NULL, &error);
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_address_qualifier space;
    char name[30];

    (void)state;
    OK(error);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clSetKernelArg(kernel, 0, 4, &buffer), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof solid, &solid), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof written, &written), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof buffer, &buffer), CL_INVALID_SAMPLER);
    assert_int_equal(clSetKernelArg(kernel, 2, sizeof solid, &solid), CL_INVALID_MEM_OBJECT);
    OK(clSetKernelArg(kernel, 1, sizeof sampler, &sampler));
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL));
    assert_string_equal(name, "image2d_t");
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
    assert_int_equal(access, CL_KERNEL_ARG_ACCESS_READ_ONLY);
    OK(clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
    assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_GLOBAL);
    OK(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof name, name, NULL));
    assert_string_equal(name, "sampler_t");
    OK(clGetKernelArgInfo(kernel, 1, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL));
    assert_int_equal(space, CL_KERNEL_ARG_ADDRESS_PRIVATE);
    OK(clReleaseKernel(kernel));
    OK(clReleaseSampler(sampler));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(solid));
    OK(clReleaseMemObject(written));
}

static void wrong_images_are_refused(void **state)
{
    static const struct {
        cl_image_format format;
        cl_image_desc description;
        cl_int error;
    } rows[] = {
#define PLANE(...) {.image_type = CL_MEM_OBJECT_IMAGE2D, __VA_ARGS__}
        {{CL_RGB, CL_FLOAT}, PLANE(.image_width = 4, .image_height = 4), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
        {{CL_DEPTH, CL_FLOAT}, PLANE(.image_width = 4, .image_height = 4), CL_IMAGE_FORMAT_NOT_SUPPORTED},
        {{CL_R, 0x1234}, PLANE(.image_width = 4, .image_height = 4), CL_INVALID_IMAGE_FORMAT_DESCRIPTOR},
        {{CL_R, CL_FLOAT}, {.image_type = CL_MEM_OBJECT_BUFFER, .image_width = 4}, CL_INVALID_IMAGE_DESCRIPTOR},
        {{CL_R, CL_FLOAT}, PLANE(.image_width = 4), CL_INVALID_IMAGE_DESCRIPTOR},
        {{CL_R, CL_FLOAT}, PLANE(.image_width = 100000, .image_height = 4), CL_INVALID_IMAGE_SIZE},
        {{CL_R, CL_FLOAT}, PLANE(.image_width = 4, .image_height = 4, .image_row_pitch = 16), CL_INVALID_IMAGE_DESCRIPTOR},
        {{CL_R, CL_FLOAT}, {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 4}, CL_INVALID_IMAGE_DESCRIPTOR},
    };
    cl_int error;
    cl_bool has;
    size_t value;

    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_null(clCreateImage(context, 0, &rows[i].format, &rows[i].description, NULL, &error));
        assert_int_equal(error, rows[i].error);
    }
    assert_null(clCreateImage2D(context, 0, &rows[3].format, 0, 4, 0, NULL, &error));
    assert_int_equal(error, CL_INVALID_IMAGE_SIZE);
    assert_null(clCreateImage(context, CL_MEM_COPY_HOST_PTR, &rows[3].format, &rows[5].description, NULL, &error));
    assert_int_equal(error, CL_INVALID_HOST_PTR);
    assert_null(clCreateSampler(context, CL_FALSE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof has, &has, NULL));
    assert_int_equal(has, CL_TRUE);
    OK(clGetDeviceInfo(device, CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof value, &value, NULL));
    assert_true(value >= 16384);
}

static void samplers_remember_their_properties(void **state)
{
    const cl_sampler_properties list[] = {CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_REPEAT, CL_SAMPLER_FILTER_MODE,
                                          CL_FILTER_LINEAR, 0},
                                twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
    cl_sampler_properties got[5];
    cl_addressing_mode mode;
    cl_filter_mode filter;
    cl_bool normalized;
    cl_uint count;
    cl_int error;
    cl_sampler sampler = clCreateSamplerWithProperties(context, list, &error);

    (void)state;
    OK(error);
    OK(clGetSamplerInfo(sampler, CL_SAMPLER_ADDRESSING_MODE, sizeof mode, &mode, NULL));
    assert_int_equal(mode, CL_ADDRESS_REPEAT);
    OK(clGetSamplerInfo(sampler, CL_SAMPLER_FILTER_MODE, sizeof filter, &filter, NULL));
    assert_int_equal(filter, CL_FILTER_LINEAR);
    OK(clGetSamplerInfo(sampler, CL_SAMPLER_NORMALIZED_COORDS, sizeof normalized, &normalized, NULL));
    assert_int_equal(normalized, CL_TRUE);
    OK(clGetSamplerInfo(sampler, CL_SAMPLER_PROPERTIES, sizeof got, got, NULL));
    assert_memory_equal(got, list, sizeof list);
    OK(clRetainSampler(sampler));
    OK(clGetSamplerInfo(sampler, CL_SAMPLER_REFERENCE_COUNT, sizeof count, &count, NULL));
    assert_int_equal(count, 2);
    OK(clReleaseSampler(sampler));
    OK(clReleaseSampler(sampler));
    assert_null(clCreateSamplerWithProperties(context, twice, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_convert_in_both_directions),
        cmocka_unit_test(samplers_address_and_filter_as_specified),
        cmocka_unit_test(the_border_has_the_colour_of_the_order),
        cmocka_unit_test(boxes_are_copied),
        cmocka_unit_test(maps_have_the_pitches_of_the_image),
        cmocka_unit_test(images_share_the_memory_of_buffers),
        cmocka_unit_test(images_share_the_memory_of_images),
        cmocka_unit_test(images_use_shared_virtual_memory),
        cmocka_unit_test(kernels_get_the_sizes_of_images),
        cmocka_unit_test(a_write_outside_has_no_effect),
        cmocka_unit_test(kernels_read_and_write_one_image),
        cmocka_unit_test(binaries_and_linked_programs_use_images),
        cmocka_unit_test(arguments_must_fit_their_parameters),
        cmocka_unit_test(wrong_images_are_refused),
        cmocka_unit_test(samplers_remember_their_properties),
    };

    use_own_driver();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
