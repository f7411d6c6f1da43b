/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: sources, binaries, builds. */
#include "runtime/opencl/cl_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void(CL_CALLBACK *notify_fn)(cl_program program, void *user);

void cl_program_end(struct _cl_program *program)
{
    free(program->source);
    free(program->binary);
    free(program->options);
    free(program->log);
}

static struct _cl_program *create(cl_context context, cl_int *error)
{
    struct _cl_program *program;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    program = cl_object_create(CL_KIND_PROGRAM, sizeof *program, context);
    *error = program != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (program != NULL)
        program->status = CL_BUILD_NONE;
    return program;
}

/** Joins strings; a length of 0, or no lengths: up to the terminator. */
static char *join(cl_uint count, const char *const *strings, const size_t *lengths)
{
    size_t bytes = 0;
    char *text, *to;

    for (cl_uint i = 0; i < count; i++)
        bytes += lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
    text = to = malloc(bytes + 1);
    for (cl_uint i = 0; i < count && text != NULL; i++) {
        const size_t size = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);

        memcpy(to, strings[i], size);
        to += size;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                 const size_t *lengths, cl_int *error)
{
    struct _cl_program *program = NULL;
    cl_int result = CL_SUCCESS;

    if (count == 0 || strings == NULL)
        result = CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count && result == CL_SUCCESS; i++)
        if (strings[i] == NULL)
            result = CL_INVALID_VALUE;
    rt_lock();
    if (result == CL_SUCCESS)
        program = create(context, &result);
    else if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    if (program != NULL && (program->source = join(count, strings, lengths)) == NULL) {
        cl_object_release_handle(program, CL_KIND_PROGRAM, 0);
        program = NULL;
        result = CL_OUT_OF_HOST_MEMORY;
    }
    rt_unlock();
    cl_put_error(error, result);
    return program;
}

/** Loads an object file as the program's module. Returns false with the reason in the program's log. */
static bool load_object(struct _cl_program *program, const void *bytes, size_t size)
{
    lanewise_machine *machine = rt_machine();

    free(program->log);
    if (lanewise_load_text(machine, "program.lwo", bytes, size, NULL, &program->module) == LANEWISE_OK) {
        program->log = strdup(lanewise_module_log(program->module));
        return true;
    }
    program->log = strdup(lanewise_error(machine));
    return false;
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                 const size_t *sizes, const unsigned char **binaries, cl_int *status,
                                                 cl_int *error)
{
    struct _cl_program *program = NULL;
    cl_int result = CL_SUCCESS;

    if (devices == NULL || count == 0 || sizes == NULL || binaries == NULL)
        result = CL_INVALID_VALUE;
    else if (!cl_is_device(count, devices))
        result = CL_INVALID_DEVICE;
    else if (sizes[0] == 0 || binaries[0] == NULL) {
        result = CL_INVALID_VALUE;
        if (status != NULL)
            *status = CL_INVALID_VALUE;
    }
    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    if (result == CL_SUCCESS)
        program = create(context, &result);
    if (program != NULL) {
        const bool good = load_object(program, binaries[0], sizes[0]);

        if (status != NULL)
            *status = good ? CL_SUCCESS : CL_INVALID_BINARY;
        program->binary = good ? malloc(sizes[0]) : NULL;
        if (program->binary != NULL) {
            memcpy(program->binary, binaries[0], sizes[0]);
            program->binary_bytes = sizes[0];
            program->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        } else {
            result = good ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_BINARY;
            cl_object_release_handle(program, CL_KIND_PROGRAM, 0);
            program = NULL;
        }
    }
    rt_unlock();
    cl_put_error(error, result);
    return program;
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                                         const char *names, cl_int *error)
{
    (void)count, (void)devices, (void)names;
    rt_lock();
    cl_put_error(error, cl_object_is(context, CL_KIND_CONTEXT) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT);
    rt_unlock();
    return NULL;
}

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il, size_t bytes, cl_int *error)
{
    (void)il, (void)bytes;
    rt_lock();
    cl_put_error(error, cl_object_is(context, CL_KIND_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
    rt_unlock();
    return NULL;
}

cl_int CL_API_CALL clRetainProgram(cl_program program)
{
    return cl_object_retain_handle(program, CL_KIND_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
    return cl_object_release_handle(program, CL_KIND_PROGRAM, CL_INVALID_PROGRAM);
}

/* ---- builds ---------------------------------------------------------------------------------------------------- */

/** Returns true if the words have the form of options: each begins with a dash, or is the value of -D or -I. */
static bool are_options(char *const *words)
{
    for (; *words != NULL; words++) {
        if (**words != '-')
            return false;
        if (strcmp(*words, "-D") == 0 || strcmp(*words, "-I") == 0)
            if (*++words == NULL)
                return false;
    }
    return true;
}

/** Compiles the source. Returns false with the reason in the program's log. */
static bool compile(struct _cl_program *program, char *const *words)
{
    lanewise_machine *machine = rt_machine();

    free(program->log);
    if (lanewise_load_text(machine, "program.cl", program->source, strlen(program->source),
                           (const char *const *)words, &program->module) == LANEWISE_OK) {
        program->log = strdup(lanewise_module_log(program->module));
        return true;
    }
    program->log = strdup(lanewise_error(machine));
    return false;
}

/** Builds with the lock held. @failure: the error for a source that does not compile. */
static cl_int build(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                    cl_program_binary_type type, cl_int failure)
{
    char **words;
    cl_int error = CL_SUCCESS;

    if (!cl_object_is(program, CL_KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    if ((count == 0) != (devices == NULL))
        return CL_INVALID_VALUE;
    if (count != 0 && !cl_is_device(count, devices))
        return CL_INVALID_DEVICE;
    if (program->kernels != 0)
        return CL_INVALID_OPERATION;
    words = rt_words(options != NULL ? options : "");
    if (words == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    free(program->options);
    program->options = strdup(options != NULL ? options : "");
    if (program->source != NULL) { /* the results of an earlier build are discarded */
        program->module = NULL;
        free(program->binary);
        program->binary = NULL;
        program->binary_bytes = 0;
    }
    if (!are_options(words)) {
        error = failure == CL_COMPILE_PROGRAM_FAILURE ? CL_INVALID_COMPILER_OPTIONS : CL_INVALID_BUILD_OPTIONS;
    } else if (program->source != NULL) {
        error = compile(program, words) ? CL_SUCCESS : failure;
    } else if (program->binary == NULL) {
        error = CL_INVALID_OPERATION;
    }
    program->status = error == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    program->type = error == CL_SUCCESS ? type : CL_PROGRAM_BINARY_TYPE_NONE;
    free(words);
    return error;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  notify_fn notify, void *user)
{
    cl_int error;

    if (notify == NULL && user != NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    error = build(program, count, devices, options, CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_BUILD_PROGRAM_FAILURE);
    rt_unlock();
    if (notify != NULL && (error == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE)) {
        notify(program, user);
        error = CL_SUCCESS; /* the build status contains a failure; the call itself succeeded */
    }
    return error;
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                    cl_uint header_count, const cl_program *headers, const char **names, notify_fn notify,
                                    void *user)
{
    cl_int error = CL_SUCCESS;

    if ((notify == NULL && user != NULL) || (header_count == 0) != (headers == NULL) ||
        (header_count == 0) != (names == NULL))
        return CL_INVALID_VALUE;
    rt_lock();
    if (cl_object_is(program, CL_KIND_PROGRAM) && program->source == NULL)
        error = CL_INVALID_OPERATION;
    if (error == CL_SUCCESS && header_count != 0) {
        error = CL_COMPILER_NOT_AVAILABLE;
        fprintf(stderr, "lanewise: clCompileProgram: headers given as programs are not supported: put them in a folder "
                        "that -I names\n");
    }
    if (error == CL_SUCCESS)
        error = build(program, count, devices, options, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT, CL_COMPILE_PROGRAM_FAILURE);
    rt_unlock();
    if (notify != NULL && (error == CL_SUCCESS || error == CL_COMPILE_PROGRAM_FAILURE))
        notify(program, user);
    return error;
}

/** Links with the lock held: creates a program with the code of the one input. */
static struct _cl_program *link_programs(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                         const char *options, cl_uint count, const cl_program *inputs, cl_int *error)
{
    struct _cl_program *program;
    void *object = NULL;
    size_t size;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    *error = (device_count == 0) != (devices == NULL) || count == 0 || inputs == NULL ? CL_INVALID_VALUE : CL_SUCCESS;
    if (*error == CL_SUCCESS && device_count != 0 && !cl_is_device(device_count, devices))
        *error = CL_INVALID_DEVICE;
    for (cl_uint i = 0; i < count && *error == CL_SUCCESS; i++)
        if (!cl_object_is(inputs[i], CL_KIND_PROGRAM))
            *error = CL_INVALID_PROGRAM;
        else if (inputs[i]->module == NULL || inputs[i]->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
            *error = CL_INVALID_OPERATION;
    if (*error != CL_SUCCESS)
        return NULL;
    program = create(context, error);
    if (program == NULL)
        return NULL;
    program->options = strdup(options != NULL ? options : "");
    if (count > 1) {
        program->log = strdup("several compiled programs cannot be linked: build them as one source");
        program->status = CL_BUILD_ERROR;
        *error = CL_LINK_PROGRAM_FAILURE;
        return program;
    }
    if (lanewise_module_object(inputs[0]->module, &object, &size) != LANEWISE_OK || !load_object(program, object, size)) {
        lanewise_object_free(object);
        program->status = CL_BUILD_ERROR;
        *error = CL_LINK_PROGRAM_FAILURE;
        return program;
    }
    program->binary = malloc(size);
    if (program->binary != NULL)
        memcpy(program->binary, object, size);
    program->binary_bytes = program->binary != NULL ? size : 0;
    lanewise_object_free(object);
    program->status = CL_BUILD_SUCCESS;
    program->type = options != NULL && strstr(options, "-create-library") != NULL ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                                                                                   : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return program;
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                     const char *options, cl_uint count, const cl_program *inputs, notify_fn notify,
                                     void *user, cl_int *error)
{
    struct _cl_program *program = NULL;
    cl_int result = notify == NULL && user != NULL ? CL_INVALID_VALUE : CL_SUCCESS;

    rt_lock();
    if (result == CL_SUCCESS)
        program = link_programs(context, device_count, devices, options, count, inputs, &result);
    rt_unlock();
    if (notify != NULL && program != NULL)
        notify(program, user);
    cl_put_error(error, result);
    return program;
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

static cl_int answer_kernel_names(const struct _cl_program *program, size_t room, void *out, size_t *size)
{
    lanewise_kernel *kernel;
    size_t bytes = 1;
    char *names, *to;
    cl_int error;

    for (unsigned i = 0; (kernel = lanewise_kernel_at(program->module, i)) != NULL; i++)
        bytes += strlen(lanewise_kernel_name(kernel)) + 1;
    names = to = malloc(bytes);
    if (names == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    *to = '\0';
    for (unsigned i = 0; (kernel = lanewise_kernel_at(program->module, i)) != NULL; i++)
        to += sprintf(to, "%s%s", i != 0 ? ";" : "", lanewise_kernel_name(kernel));
    error = cl_answer_text(names, room, out, size);
    free(names);
    return error;
}

/** The module as an object file, kept with the program. */
static void make_binary(struct _cl_program *program)
{
    void *object;
    size_t size;

    if (program->module == NULL || program->source == NULL || lanewise_module_object(program->module, &object, &size) != LANEWISE_OK)
        return;
    free(program->binary);
    program->binary = malloc(size);
    program->binary_bytes = program->binary != NULL ? size : 0;
    if (program->binary != NULL)
        memcpy(program->binary, object, size);
    lanewise_object_free(object);
}

static cl_int program_info(struct _cl_program *program, cl_program_info info, size_t room, void *out, size_t *size)
{
    size_t count = 0;

    switch (info) {
    case CL_PROGRAM_REFERENCE_COUNT: return CL_ANSWER(cl_uint, program->object.references);
    case CL_PROGRAM_CONTEXT: return CL_ANSWER(cl_context, program->object.context);
    case CL_PROGRAM_NUM_DEVICES: return CL_ANSWER(cl_uint, 1);
    case CL_PROGRAM_DEVICES: return CL_ANSWER(cl_device_id, &cl_the_device);
    case CL_PROGRAM_SOURCE: return cl_answer_text(program->source != NULL ? program->source : "", room, out, size);
    case CL_PROGRAM_IL: return cl_answer(NULL, 0, room, out, size);
    case CL_PROGRAM_BINARY_SIZES: make_binary(program); return CL_ANSWER(size_t, program->binary_bytes);
    case CL_PROGRAM_BINARIES:
        if (out != NULL && room < sizeof(unsigned char *))
            return CL_INVALID_VALUE;
        make_binary(program);
        if (out != NULL && *(unsigned char **)out != NULL && program->binary != NULL)
            memcpy(*(unsigned char **)out, program->binary, program->binary_bytes);
        if (size != NULL)
            *size = sizeof(unsigned char *);
        return CL_SUCCESS;
    case CL_PROGRAM_NUM_KERNELS:
        if (program->module == NULL)
            return CL_INVALID_PROGRAM_EXECUTABLE;
        while (lanewise_kernel_at(program->module, (unsigned)count) != NULL)
            count++;
        return CL_ANSWER(size_t, count);
    case CL_PROGRAM_KERNEL_NAMES:
        return program->module != NULL ? answer_kernel_names(program, room, out, size) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return CL_ANSWER(cl_bool, CL_FALSE);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info info, size_t room, void *out, size_t *size)
{
    cl_int error = CL_INVALID_PROGRAM;

    rt_lock();
    if (cl_object_is(program, CL_KIND_PROGRAM))
        error = program_info(program, info, room, out, size);
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info info, size_t room,
                                         void *out, size_t *size)
{
    cl_int error;

    rt_lock();
    if (!cl_object_is(program, CL_KIND_PROGRAM))
        error = CL_INVALID_PROGRAM;
    else if (device != &cl_the_device)
        error = CL_INVALID_DEVICE;
    else
        switch (info) {
        case CL_PROGRAM_BUILD_STATUS: error = CL_ANSWER(cl_build_status, program->status); break;
        case CL_PROGRAM_BUILD_OPTIONS:
            error = cl_answer_text(program->options != NULL ? program->options : "", room, out, size);
            break;
        case CL_PROGRAM_BUILD_LOG: error = cl_answer_text(program->log != NULL ? program->log : "", room, out, size); break;
        case CL_PROGRAM_BINARY_TYPE: error = CL_ANSWER(cl_program_binary_type, program->type); break;
        case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: error = CL_ANSWER(size_t, 0); break;
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program, void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    (void)user;
    if (notify == NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    const bool is = cl_object_is(program, CL_KIND_PROGRAM);
    rt_unlock();
    return is ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM; /* the device has no global destructors */
}

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint id, size_t bytes, const void *value)
{
    (void)id, (void)bytes, (void)value;
    rt_lock();
    const bool is = cl_object_is(program, CL_KIND_PROGRAM);
    rt_unlock();
    return is ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM; /* there is no intermediate language */
}
