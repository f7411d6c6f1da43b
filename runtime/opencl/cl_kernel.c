/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, their arguments, and launches. */
#include "runtime/opencl/cl_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_LOCAL_SIZE = 256 };

void cl_kernel_end(struct _cl_kernel *kernel)
{
    for (unsigned i = 0; kernel->arguments != NULL && i < kernel->argument_count; i++)
        free(kernel->arguments[i].value);
    free(kernel->arguments);
    if (kernel->program != NULL) {
        kernel->program->kernels--;
        cl_object_drop(kernel->program);
    }
}

static struct _cl_kernel *create(struct _cl_program *program, lanewise_kernel *from, cl_int *error)
{
    struct _cl_kernel *kernel = cl_object_create(CL_KIND_KERNEL, sizeof *kernel, program->object.context);

    *error = CL_OUT_OF_HOST_MEMORY;
    if (kernel == NULL)
        return NULL;
    kernel->program = program;
    cl_object_hold(program);
    program->kernels++;
    kernel->kernel = from;
    lanewise_kernel_get_needs(from, &kernel->needs, sizeof kernel->needs);
    kernel->argument_count = lanewise_kernel_param_count(from);
    kernel->arguments = calloc(kernel->argument_count + 1u, sizeof *kernel->arguments);
    for (unsigned i = 0; kernel->arguments != NULL && i < kernel->argument_count; i++) {
        struct cl_argument *a = &kernel->arguments[i];

        lanewise_kernel_param(from, i, &a->param, sizeof a->param);
        a->value = calloc(1, a->param.bytes > 8 ? a->param.bytes : 8);
        if (a->value == NULL) {
            cl_object_release_handle(kernel, CL_KIND_KERNEL, 0);
            return NULL;
        }
    }
    if (kernel->arguments == NULL) {
        cl_object_release_handle(kernel, CL_KIND_KERNEL, 0);
        return NULL;
    }
    *error = CL_SUCCESS;
    return kernel;
}

/** States that a program has no kernel called @name, and which kernels it has. */
static void reason_no_kernel(const struct _cl_program *program, const char *name)
{
    const lanewise_kernel *kernel;
    char names[160] = "";
    size_t size = 0;

    for (unsigned i = 0; size < sizeof names && (kernel = lanewise_kernel_at(program->module, i)) != NULL; i++)
        size += (size_t)snprintf(names + size, sizeof names - size, "%s%s", i != 0 ? ", " : "", lanewise_kernel_name(kernel));
    cl_trace_reason("the program has no kernel \"%.60s\"; its kernels are: %s%s", name, names, size >= sizeof names ? "..." : "");
}

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    struct _cl_kernel *kernel = NULL;
    lanewise_kernel *from = NULL;
    cl_int result = CL_SUCCESS;

    rt_lock();
    if (!cl_object_is(program, CL_KIND_PROGRAM))
        result = CL_INVALID_PROGRAM;
    else if (program->module == NULL || program->status != CL_BUILD_SUCCESS)
        result = CL_INVALID_PROGRAM_EXECUTABLE;
    else if (name == NULL)
        result = CL_INVALID_VALUE;
    for (unsigned i = 0; result == CL_SUCCESS && kernel == NULL; i++) {
        from = lanewise_kernel_at(program->module, i);
        if (from == NULL) {
            rt_complain_refused(program->module, name);
            reason_no_kernel(program, name);
            result = CL_INVALID_KERNEL_NAME;
        } else if (strcmp(lanewise_kernel_name(from), name) == 0) {
            kernel = create(program, from, &result);
        }
    }
    rt_unlock();
    cl_put_error(error, result);
    return kernel;
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *out)
{
    cl_int error = CL_SUCCESS;
    cl_uint count = 0, made = 0;

    rt_lock();
    if (!cl_object_is(program, CL_KIND_PROGRAM))
        error = CL_INVALID_PROGRAM;
    else if (program->module == NULL || program->status != CL_BUILD_SUCCESS)
        error = CL_INVALID_PROGRAM_EXECUTABLE;
    while (error == CL_SUCCESS && lanewise_kernel_at(program->module, count) != NULL)
        count++;
    if (error == CL_SUCCESS && kernels != NULL && room < count)
        error = CL_INVALID_VALUE;
    for (; error == CL_SUCCESS && kernels != NULL && made < count; made += error == CL_SUCCESS)
        kernels[made] = create(program, lanewise_kernel_at(program->module, made), &error);
    while (error != CL_SUCCESS && made != 0)
        cl_object_release_handle(kernels[--made], CL_KIND_KERNEL, 0);
    rt_unlock();
    if (error == CL_SUCCESS && out != NULL)
        *out = count;
    return error;
}

static void copy_argument(struct cl_argument *to, const struct cl_argument *from)
{
    memcpy(to->value, from->value, from->param.bytes > 8 ? from->param.bytes : 8);
    to->set = from->set;
    to->mem = from->mem;
}

cl_kernel CL_API_CALL clCloneKernel(cl_kernel source, cl_int *error)
{
    struct _cl_kernel *kernel = NULL;
    cl_int result = CL_INVALID_KERNEL;

    rt_lock();
    if (cl_object_is(source, CL_KIND_KERNEL))
        kernel = create(source->program, source->kernel, &result);
    for (unsigned i = 0; kernel != NULL && i < kernel->argument_count; i++)
        copy_argument(&kernel->arguments[i], &source->arguments[i]);
    rt_unlock();
    cl_put_error(error, result);
    return kernel;
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel)
{
    return cl_object_retain_handle(kernel, CL_KIND_KERNEL, CL_INVALID_KERNEL);
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel)
{
    return cl_object_release_handle(kernel, CL_KIND_KERNEL, CL_INVALID_KERNEL);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

/** Returns true if the parameter is an image or a sampler, as far as its type is known. */
static bool is_image_parameter(const lanewise_param *param)
{
    return param->structure != NULL && strncmp(param->structure, "opencl_image", 12) == 0;
}

static bool is_sampler_parameter(const lanewise_param *param)
{
    return param->structure != NULL && strcmp(param->structure, "opencl_sampler_t") == 0;
}

/** Checks that an image fits the type of a parameter, such as "opencl_image2d_ro_t". */
static cl_int check_image(const struct _cl_mem *mem, const char *type)
{
    static const struct {
        cl_mem_object_type type;
        const char *name;
    } rows[] = {{CL_MEM_OBJECT_IMAGE1D, "1d_"}, {CL_MEM_OBJECT_IMAGE1D_ARRAY, "1d_array_"},
                {CL_MEM_OBJECT_IMAGE1D_BUFFER, "1d_buffer_"}, {CL_MEM_OBJECT_IMAGE2D, "2d_"},
                {CL_MEM_OBJECT_IMAGE2D_ARRAY, "2d_array_"}, {CL_MEM_OBJECT_IMAGE3D, "3d_"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == mem->image.type) {
            const char *access = type + 12 + strlen(rows[i].name);

            if (strncmp(type + 12, rows[i].name, strlen(rows[i].name)) != 0)
                return CL_INVALID_ARG_VALUE;
            if (strcmp(access, "ro_t") == 0)
                return (mem->flags & CL_MEM_WRITE_ONLY) != 0 ? CL_INVALID_ARG_VALUE : CL_SUCCESS;
            if (strcmp(access, "wo_t") == 0)
                return (mem->flags & CL_MEM_READ_ONLY) != 0 ? CL_INVALID_ARG_VALUE : CL_SUCCESS;
            if (strcmp(access, "rw_t") == 0)
                return (mem->flags & (CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY)) != 0 ? CL_INVALID_ARG_VALUE : CL_SUCCESS;
            return CL_INVALID_ARG_VALUE;
        }
    return CL_INVALID_ARG_VALUE;
}

/** Sets an argument that is a buffer, an image or a sampler of @context. */
static cl_int set_object(struct cl_argument *a, cl_context context, size_t bytes, const void *value)
{
    const bool image = is_image_parameter(&a->param), known = a->param.structure != NULL;
    uint64_t bits = 0;
    void *handle = NULL;
    cl_int error;

    if (bytes != sizeof handle)
        return CL_INVALID_ARG_SIZE;
    if (value != NULL)
        memcpy(&handle, value, sizeof handle);
    /* Without debug information, the type of a parameter is not known, and the argument decides. */
    if (is_sampler_parameter(&a->param) ||
        (!known && a->param.kind == LANEWISE_PARAM_CONSTANT && cl_object_is(handle, CL_KIND_SAMPLER))) {
        if (!cl_object_is(handle, CL_KIND_SAMPLER))
            return CL_INVALID_SAMPLER;
        if (((const struct _cl_sampler *)handle)->object.context != context)
            return CL_INVALID_CONTEXT;
        bits = cl_sampler_value(handle);
    } else if (handle != NULL || image) {
        const struct _cl_mem *mem = handle;

        if (!cl_object_is(handle, CL_KIND_MEM) || (cl_is_image(mem) != image && known))
            return CL_INVALID_MEM_OBJECT;
        if (mem->object.context != context)
            return CL_INVALID_CONTEXT;
        error = image ? check_image(mem, a->param.structure) : CL_SUCCESS;
        if (error != CL_SUCCESS)
            return error;
        bits = cl_is_image(mem) ? mem->image.descriptor : mem->address;
        a->mem = handle;
    } else {
        a->mem = NULL;
    }
    memcpy(a->value, &bits, sizeof bits);
    return CL_SUCCESS;
}

static cl_int set_argument(struct cl_argument *a, cl_context context, size_t bytes, const void *value)
{
    const uint64_t bits = bytes;

    switch (a->param.kind) {
    case LANEWISE_PARAM_LOCAL:
        if (value != NULL)
            return CL_INVALID_ARG_VALUE;
        if (bytes == 0)
            return CL_INVALID_ARG_SIZE;
        memcpy(a->value, &bits, sizeof bits);
        break;
    case LANEWISE_PARAM_GLOBAL:
    case LANEWISE_PARAM_CONSTANT: {
        const cl_int error = set_object(a, context, bytes, value);

        if (error != CL_SUCCESS)
            return error;
        break;
    }
    default:
        if (value == NULL)
            return CL_INVALID_ARG_VALUE;
        if (bytes != a->param.bytes)
            return CL_INVALID_ARG_SIZE;
        memcpy(a->value, value, bytes);
    }
    a->set = true;
    return CL_SUCCESS;
}

/** Writes the number and the name of a parameter, such as "argument 1 (n) of kernel sum", to @out. */
static const char *describe_argument(const struct _cl_kernel *kernel, cl_uint index, char *out, size_t room)
{
    const char *name = kernel->arguments[index].param.name;
    const bool named = name != NULL && name[0] != '\0';

    snprintf(out, room, "argument %u%s%.40s%s of kernel %.60s", index, named ? " (" : "", named ? name : "", named ? ")" : "",
             lanewise_kernel_name(kernel->kernel));
    return out;
}

/** States why an argument is refused. */
static void reason_of_argument(const struct _cl_kernel *kernel, cl_uint index, size_t bytes, cl_int error)
{
    char text[160];

    if (error == CL_INVALID_ARG_INDEX)
        cl_trace_reason("kernel %.60s has %u parameter%s, so it has no argument %u", lanewise_kernel_name(kernel->kernel),
                        kernel->argument_count, kernel->argument_count == 1 ? "" : "s", index);
    else if (error == CL_INVALID_ARG_SIZE && kernel->arguments[index].param.kind == LANEWISE_PARAM_LOCAL)
        cl_trace_reason("%s is __local memory, whose size must not be 0", describe_argument(kernel, index, text, sizeof text));
    else if (error == CL_INVALID_ARG_SIZE)
        cl_trace_reason("%s has %u bytes, and the call gives %zu", describe_argument(kernel, index, text, sizeof text),
                        kernel->arguments[index].param.bytes, bytes);
    else if (error == CL_INVALID_ARG_VALUE && kernel->arguments[index].param.kind == LANEWISE_PARAM_LOCAL)
        cl_trace_reason("%s is __local memory, whose value must be NULL", describe_argument(kernel, index, text, sizeof text));
    else if (error == CL_INVALID_ARG_VALUE)
        cl_trace_reason("%s does not accept this value", describe_argument(kernel, index, text, sizeof text));
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    cl_int error;

    rt_lock();
    error = !cl_object_is(kernel, CL_KIND_KERNEL)  ? CL_INVALID_KERNEL
            : index >= kernel->argument_count ? CL_INVALID_ARG_INDEX
                                              : set_argument(&kernel->arguments[index], kernel->object.context, bytes, value);
    if (error != CL_SUCCESS && error != CL_INVALID_KERNEL)
        reason_of_argument(kernel, index, bytes, error);
    rt_unlock();
    return error;
}

/** Gets the text in a column of a kernel's description (cl_program_describe()). @index selects the parameter, which has a line of
 *  its own. Column 0 has the parameter's name. */
static cl_int answer_column(const struct _cl_kernel *kernel, cl_uint index, unsigned column, char *text, size_t text_bytes)
{
    const char *line = cl_program_describe(kernel->program, lanewise_kernel_name(kernel->kernel));
    size_t size;

    for (cl_uint i = 0; line != NULL && i <= index; i++) {
        line = strchr(line, '\n');
        line = line != NULL && line[1] == '\t' ? line + 1 : NULL;
    }
    for (unsigned i = 0; line != NULL && i <= column; i++) {
        line = strpbrk(line, "\t\n");
        line = line != NULL && *line == '\t' ? line + 1 : NULL;
    }
    if (line == NULL)
        return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
    size = strcspn(line, "\t\n");
    if (size >= text_bytes)
        size = text_bytes - 1;
    memcpy(text, line, size);
    text[size] = '\0';
    return CL_SUCCESS;
}

/** Returns the flags of the type qualifiers in @text, such as "const volatile". */
static cl_kernel_arg_type_qualifier type_qualifiers(const char *text)
{
    static const struct {
        const char *word;
        cl_kernel_arg_type_qualifier flag;
    } rows[] = {{"const", CL_KERNEL_ARG_TYPE_CONST}, {"restrict", CL_KERNEL_ARG_TYPE_RESTRICT},
                {"volatile", CL_KERNEL_ARG_TYPE_VOLATILE}, {"pipe", CL_KERNEL_ARG_TYPE_PIPE}};
    cl_kernel_arg_type_qualifier flags = CL_KERNEL_ARG_TYPE_NONE;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(text, rows[i].word) != NULL)
            flags |= rows[i].flag;
    return flags;
}

static cl_kernel_arg_access_qualifier access_qualifier(const char *text)
{
    return strcmp(text, "read_only") == 0    ? CL_KERNEL_ARG_ACCESS_READ_ONLY
           : strcmp(text, "write_only") == 0 ? CL_KERNEL_ARG_ACCESS_WRITE_ONLY
           : strcmp(text, "read_write") == 0 ? CL_KERNEL_ARG_ACCESS_READ_WRITE
                                             : CL_KERNEL_ARG_ACCESS_NONE;
}

static cl_int argument_info(const struct _cl_kernel *kernel, cl_uint index, cl_kernel_arg_info info, size_t room, void *out,
                            size_t *size)
{
    static const cl_kernel_arg_address_qualifier space[] = {
        [LANEWISE_PARAM_VALUE] = CL_KERNEL_ARG_ADDRESS_PRIVATE, [LANEWISE_PARAM_GLOBAL] = CL_KERNEL_ARG_ADDRESS_GLOBAL,
        [LANEWISE_PARAM_CONSTANT] = CL_KERNEL_ARG_ADDRESS_CONSTANT, [LANEWISE_PARAM_LOCAL] = CL_KERNEL_ARG_ADDRESS_LOCAL};
    char text[1000];
    cl_int error;

    switch (info) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return CL_ANSWER(cl_kernel_arg_address_qualifier, is_sampler_parameter(&kernel->arguments[index].param)
                                                              ? CL_KERNEL_ARG_ADDRESS_PRIVATE
                                                              : space[kernel->arguments[index].param.kind]);
    case CL_KERNEL_ARG_NAME: error = answer_column(kernel, index, 0, text, sizeof text); break;
    case CL_KERNEL_ARG_TYPE_NAME: error = answer_column(kernel, index, 1, text, sizeof text); break;
    case CL_KERNEL_ARG_TYPE_QUALIFIER: error = answer_column(kernel, index, 2, text, sizeof text); break;
    case CL_KERNEL_ARG_ACCESS_QUALIFIER: error = answer_column(kernel, index, 3, text, sizeof text); break;
    default: return CL_INVALID_VALUE;
    }
    if (error != CL_SUCCESS)
        return error;
    if (info == CL_KERNEL_ARG_TYPE_QUALIFIER)
        return CL_ANSWER(cl_kernel_arg_type_qualifier, type_qualifiers(text));
    if (info == CL_KERNEL_ARG_ACCESS_QUALIFIER)
        return CL_ANSWER(cl_kernel_arg_access_qualifier, access_qualifier(text));
    return cl_answer_text(text, room, out, size);
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info info, size_t room, void *out,
                                      size_t *size)
{
    cl_int error = CL_INVALID_KERNEL;

    rt_lock();
    if (cl_object_is(kernel, CL_KIND_KERNEL))
        error = index >= kernel->argument_count ? CL_INVALID_ARG_INDEX : argument_info(kernel, index, info, room, out, size);
    rt_unlock();
    return error;
}

/** Answers a query with the attributes that a kernel has in its source, or with "" if the source is not known. */
static cl_int answer_attributes(const struct _cl_kernel *kernel, size_t room, void *out, size_t *size)
{
    const char *line = cl_program_describe(kernel->program, lanewise_kernel_name(kernel->kernel));
    char text[500] = "";

    if (line != NULL) {
        line = strchr(line, '\t') + 1;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(line, "\n"), line);
    }
    return cl_answer_text(text, room, out, size);
}

static cl_int kernel_info(const struct _cl_kernel *kernel, cl_kernel_info info, size_t room, void *out, size_t *size)
{
    switch (info) {
    case CL_KERNEL_FUNCTION_NAME: return cl_answer_text(lanewise_kernel_name(kernel->kernel), room, out, size);
    case CL_KERNEL_NUM_ARGS: return CL_ANSWER(cl_uint, kernel->argument_count);
    case CL_KERNEL_REFERENCE_COUNT: return CL_ANSWER(cl_uint, kernel->object.references);
    case CL_KERNEL_CONTEXT: return CL_ANSWER(cl_context, kernel->object.context);
    case CL_KERNEL_PROGRAM: return CL_ANSWER(cl_program, kernel->program);
    case CL_KERNEL_ATTRIBUTES: return answer_attributes(kernel, room, out, size);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info info, size_t room, void *out, size_t *size)
{
    cl_int error = CL_INVALID_KERNEL;

    rt_lock();
    if (cl_object_is(kernel, CL_KIND_KERNEL))
        error = kernel_info(kernel, info, room, out, size);
    rt_unlock();
    return error;
}

static uint64_t local_bytes(const struct _cl_kernel *kernel)
{
    uint64_t bytes = kernel->needs.shared_bytes;

    for (unsigned i = 0; i < kernel->argument_count; i++)
        if (kernel->arguments[i].param.kind == LANEWISE_PARAM_LOCAL && kernel->arguments[i].set) {
            uint64_t own;

            memcpy(&own, kernel->arguments[i].value, sizeof own);
            bytes = (bytes + 15) & ~UINT64_C(15);
            bytes = own > UINT64_MAX / 2 - bytes ? UINT64_MAX / 2 : bytes + own;
        }
    return bytes;
}

static cl_int work_group_info(const struct _cl_kernel *kernel, cl_kernel_work_group_info info, size_t room, void *out,
                              size_t *size)
{
    const size_t required[3] = {kernel->needs.required_block[0], kernel->needs.required_block[1],
                                kernel->needs.required_block[2]};

    switch (info) {
    case CL_KERNEL_WORK_GROUP_SIZE: return CL_ANSWER(size_t, kernel->needs.max_threads);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return cl_answer(required, sizeof required, room, out, size);
    case CL_KERNEL_LOCAL_MEM_SIZE: return CL_ANSWER(cl_ulong, local_bytes(kernel));
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return CL_ANSWER(size_t, rt_warp_width());
    case CL_KERNEL_PRIVATE_MEM_SIZE: return CL_ANSWER(cl_ulong, kernel->needs.local_bytes);
    default: return CL_INVALID_VALUE; /* unknown queries, and also CL_KERNEL_GLOBAL_WORK_SIZE, which only built-in kernels have */
    }
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info info,
                                            size_t room, void *out, size_t *size)
{
    cl_int error = CL_INVALID_KERNEL;

    rt_lock();
    if (cl_object_is(kernel, CL_KIND_KERNEL))
        error = device != NULL && device != &cl_the_device ? CL_INVALID_DEVICE
                                                           : work_group_info(kernel, info, room, out, size);
    rt_unlock();
    return error;
}

/** Divides @count by @by, rounded up. */
static size_t parts(size_t count, size_t by)
{
    return (count + by - 1) / by;
}

static cl_int sub_group_info(const struct _cl_kernel *kernel, cl_kernel_sub_group_info info, size_t in_bytes, const size_t *in,
                             size_t room, void *out, size_t *size)
{
    const size_t dimensions = in_bytes / sizeof *in;
    size_t threads = 1, local[3] = {1, 1, 1};

    switch (info) {
    case CL_KERNEL_MAX_NUM_SUB_GROUPS: return CL_ANSWER(size_t, parts(kernel->needs.max_threads, CL_SUB_GROUP_SIZE));
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS: return CL_ANSWER(size_t, 0);
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        if (in == NULL || in_bytes % sizeof *in != 0 || dimensions < 1 || dimensions > 3)
            return CL_INVALID_VALUE;
        for (size_t i = 0; i < dimensions; i++)
            threads *= in[i] < LANEWISE_MAX_BLOCK_THREADS ? in[i] : LANEWISE_MAX_BLOCK_THREADS;
        if (info == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE)
            return CL_ANSWER(size_t, parts(threads, CL_SUB_GROUP_SIZE));
        return CL_ANSWER(size_t, threads < CL_SUB_GROUP_SIZE ? threads : CL_SUB_GROUP_SIZE);
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
        if (in == NULL || in_bytes != sizeof *in || room % sizeof *local != 0 || room > sizeof local)
            return CL_INVALID_VALUE;
        local[0] = *in * CL_SUB_GROUP_SIZE;
        if (*in == 0 || *in > parts(kernel->needs.max_threads, CL_SUB_GROUP_SIZE) || local[0] > kernel->needs.max_threads)
            memset(local, 0, sizeof local); /* 0, 0, 0 means that no work-group can have this number of sub-groups */
        return cl_answer(local, out != NULL ? room : sizeof local, room, out, size);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info info,
                                           size_t in_bytes, const void *in, size_t room, void *out, size_t *size)
{
    cl_int error = CL_INVALID_KERNEL;

    rt_lock();
    if (cl_object_is(kernel, CL_KIND_KERNEL))
        error = device != NULL && device != &cl_the_device ? CL_INVALID_DEVICE
                : cl_max_sub_groups() == 0                 ? CL_INVALID_OPERATION
                                                           : sub_group_info(kernel, info, in_bytes, in, room, out, size);
    rt_unlock();
    return error;
}

/* ---- launches -------------------------------------------------------------------------------------------------- */

struct launch {
    struct cl_command base;
    struct _cl_kernel *kernel; /* kernel, to which @base has the reference */
    lanewise_shape shape;
    const void **values;       /* pointers to the arguments, followed by the arguments; freed as base.memory */
};

static int run_launch(struct rt_command *command)
{
    struct launch *l = (struct launch *)(void *)command;

    for (unsigned i = 0; i < 3; i++)
        if (l->shape.grid[i] == 0)
            return CL_SUCCESS; /* a global size is 0, so there are no work-items to run */
    if (rt_launch(l->kernel->kernel, &l->shape, l->values, &command->site) != LANEWISE_OK) {
        rt_complain("launch");
        return CL_OUT_OF_RESOURCES;
    }
    if (rt_run())
        return CL_SUCCESS;
    rt_recover(); /* only this command has failed: later commands can run */
    return CL_OUT_OF_RESOURCES;
}

/** Chooses a local size if the program gives none. If the kernel has a required size, takes this size. Otherwise takes in each
 *  dimension, beginning with x, the largest divisor of the global size with which the work-group has at most 256 work-items. */
static void choose_local(const struct _cl_kernel *kernel, cl_uint dimensions, const size_t *global, size_t local[3])
{
    size_t left = kernel->needs.max_threads < USUAL_LOCAL_SIZE ? kernel->needs.max_threads : USUAL_LOCAL_SIZE;

    for (cl_uint i = 0; i < dimensions; i++) {
        if (kernel->needs.required_block[0] != 0) {
            local[i] = kernel->needs.required_block[i];
            continue;
        }
        local[i] = global[i] < left ? global[i] : left;
        while (local[i] > 1 && global[i] % local[i] != 0)
            local[i]--;
        if (local[i] == 0)
            local[i] = 1;
        left /= local[i];
    }
}

/** Checks the sizes of a launch, and fills in its shape. @given: the local size; NULL: the driver chooses it. */
static cl_int make_shape(const struct _cl_kernel *kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
                         const size_t *given, lanewise_shape *shape)
{
    static const size_t nothing[3] = {0, 0, 0}; /* since OpenCL 2.1 a global size of NULL or 0 is valid, and runs nothing */
    size_t local[3] = {1, 1, 1}, threads = 1;

    if (dimensions < 1 || dimensions > 3)
        return CL_INVALID_WORK_DIMENSION;
    if (global == NULL)
        global = nothing;
    if (given != NULL)
        memcpy(local, given, dimensions * sizeof *given);
    else
        choose_local(kernel, dimensions, global, local);
    *shape = (lanewise_shape){.grid = {1, 1, 1}, .block = {1, 1, 1}, .dimensions = dimensions};
    for (cl_uint i = 0; i < dimensions; i++) {
        const uint32_t required = kernel->needs.required_block[i];

        if (local[i] == 0 || (required != 0 && local[i] != required)) {
            cl_trace_reason(required != 0 ? "the local size in dimension %u is %zu, and the kernel requires %u"
                                          : "the local size in dimension %u is %zu", i, local[i], required);
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        if (local[i] > LANEWISE_MAX_BLOCK_THREADS) {
            cl_trace_reason("the local size in dimension %u is %zu, of at most %u", i, local[i], (unsigned)LANEWISE_MAX_BLOCK_THREADS);
            return CL_INVALID_WORK_ITEM_SIZE;
        }
        threads *= local[i];
        if (global[i] % local[i] != 0) {
            cl_trace_reason("the local size in dimension %u, %zu, does not divide the global size %zu", i, local[i], global[i]);
            return CL_INVALID_WORK_GROUP_SIZE;
        }
        if (global[i] / local[i] > INT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        if (offset != NULL && (offset[i] > UINT32_MAX || global[i] > UINT64_MAX - offset[i]))
            return CL_INVALID_GLOBAL_OFFSET;
        shape->grid[i] = (uint32_t)(global[i] / local[i]);
        shape->block[i] = (uint32_t)local[i];
        shape->offset[i] = offset != NULL ? (uint32_t)offset[i] : 0;
    }
    for (cl_uint i = dimensions; i < 3; i++)
        if (kernel->needs.required_block[i] > 1)
            return CL_INVALID_WORK_GROUP_SIZE;
    if (threads <= kernel->needs.max_threads)
        return CL_SUCCESS;
    cl_trace_reason("a work-group of %zu x %zu x %zu work-items, of at most %u for this kernel", local[0], local[1], local[2],
                    kernel->needs.max_threads);
    return CL_INVALID_WORK_GROUP_SIZE;
}

/** Copies the kernel's arguments into the command, and adds a reference to each buffer among them. */
static cl_int take_arguments(struct launch *l, const struct _cl_kernel *kernel)
{
    size_t bytes = (kernel->argument_count + 1u) * sizeof *l->values;
    uint8_t *to;

    for (unsigned i = 0; i < kernel->argument_count; i++)
        bytes += (kernel->arguments[i].param.bytes + 15u) / 8 * 8;
    l->values = malloc(bytes);
    l->base.memory = l->values;
    l->base.objects = calloc(kernel->argument_count + 1u, sizeof *l->base.objects);
    if (l->values == NULL || l->base.objects == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    to = (uint8_t *)(l->values + kernel->argument_count + 1);
    for (unsigned i = 0; i < kernel->argument_count; i++) {
        const struct cl_argument *a = &kernel->arguments[i];
        const size_t size = a->param.bytes > 8 ? a->param.bytes : 8;

        l->values[i] = to;
        memcpy(to, a->value, size);
        to += (size + 7) / 8 * 8;
        if (a->mem != NULL && cl_object_is(a->mem, CL_KIND_MEM)) {
            cl_object_hold(a->mem);
            l->base.objects[l->base.object_count++] = a->mem;
        }
    }
    return CL_SUCCESS;
}

static cl_int enqueue(cl_command_queue queue, cl_kernel kernel, cl_command_type type, cl_uint dimensions, const size_t *offset,
                      const size_t *global, const size_t *local, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_command *command = NULL;
    lanewise_shape shape;
    cl_int error = CL_SUCCESS;
    char text[160];

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        error = CL_INVALID_COMMAND_QUEUE;
    else if (!cl_object_is(kernel, CL_KIND_KERNEL))
        error = CL_INVALID_KERNEL;
    else if (kernel->object.context != queue->object.context)
        error = CL_INVALID_CONTEXT;
    for (unsigned i = 0; error == CL_SUCCESS && i < kernel->argument_count; i++)
        if (!kernel->arguments[i].set) {
            error = CL_INVALID_KERNEL_ARGS;
            cl_trace_reason("%s is not set", describe_argument(kernel, i, text, sizeof text));
        }
    if (error == CL_SUCCESS)
        error = make_shape(kernel, dimensions, offset, global, local, &shape);
    if (error == CL_SUCCESS && local_bytes(kernel) > CL_LOCAL_BYTES)
        error = CL_OUT_OF_RESOURCES;
    if (error == CL_SUCCESS)
        error = cl_command_create(queue, type, count, waits, sizeof(struct launch), run_launch, &command);
    if (error == CL_SUCCESS) {
        struct launch *l = (struct launch *)command;

        l->kernel = kernel;
        l->shape = shape;
        error = take_arguments(l, kernel);
        if (error != CL_SUCCESS) {
            cl_command_cancel(command);
        } else {
            cl_object_hold(kernel);
            command->objects[command->object_count++] = kernel;
        }
    }
    if (error != CL_SUCCESS) {
        rt_unlock();
        return error;
    }
    return cl_command_enqueue(queue, command, false, event);
}

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                          const size_t *global, const size_t *local, cl_uint count, const cl_event *waits,
                                          cl_event *event)
{
    return enqueue(queue, kernel, CL_COMMAND_NDRANGE_KERNEL, dimensions, offset, global, local, count, waits, event);
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event *waits,
                                 cl_event *event)
{
    const size_t one = 1;

    return enqueue(queue, kernel, CL_COMMAND_TASK, 1, NULL, &one, &one, count, waits, event);
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *), void *arguments,
                                         size_t bytes, cl_uint mem_count, const cl_mem *mems, const void **places,
                                         cl_uint count, const cl_event *waits, cl_event *event)
{
    (void)function, (void)arguments, (void)bytes, (void)mem_count, (void)mems, (void)places, (void)count, (void)waits;
    (void)event;
    rt_lock();
    const bool is = cl_object_is(queue, CL_KIND_QUEUE);
    rt_unlock();
    return is ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE; /* the device cannot execute native kernels */
}
