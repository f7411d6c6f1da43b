/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the program's calls: objects that are never released, objects that are used after their release, logs of failed builds that
 * are not read, and calls that return an error because their arguments are wrong. An object has a trace only if one of these kinds of
 * findings is enabled. */
#include "runtime/opencl/cl_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cl_trace {
    /* calls of the program. created: created the object; released: released it; built: built it, if it is a program; reported:
     * used it after its release, and was reported last */
    struct rt_site created, released, built, reported;
    uint64_t number;  /* number of the object, in the order of creation */
    bool log_unread;  /* the last build failed, and its log was not read */
};

/** Calls of the program that allocated and freed shared virtual memory. */
struct cl_svm_trace {
    struct rt_site created, released;
    bool freed; /* the program has freed the memory */
};

/* The memory of a destroyed object is freed after this many other objects were destroyed. Until then no new object gets its
 * handle, and the loader, which reads the memory of every handle, does not read freed memory. */
enum { KEPT_OBJECTS = 1 << 16 };
/* So many calls with wrong arguments and freed allocations of shared virtual memory are remembered. */
enum { KEPT_CALLS = 256, KEPT_SVM = 1024 };

/* This state is global, because a process has one driver. */
static struct {
    bool asked, on;           /* asked: it has been determined whether calls are checked; on: calls are checked */
    uint64_t count;           /* number of objects created so far */
    struct cl_object **ended; /* ring buffer of KEPT_OBJECTS destroyed objects, or NULL if no object was destroyed yet */
    size_t ended_count;       /* number of objects destroyed so far */
    struct cl_svm **freed;    /* ring buffer of KEPT_SVM freed allocations, or NULL */
    size_t freed_count;       /* number of allocations freed so far */
    struct rt_site wrong[KEPT_CALLS]; /* calls with wrong arguments that were reported */
    unsigned wrong_count;
} traces;
/* The present call of this thread has been reported, so its error code is not a second finding. */
static _Thread_local bool call_reported;
/* Why the present call of this thread fails, or "" for the most frequent reason of its error code. */
static _Thread_local char call_reason[256];

static const char *name_of(const struct cl_object *object)
{
    switch (object->kind) {
    case CL_KIND_CONTEXT: return "context";
    case CL_KIND_QUEUE: return "command queue";
    case CL_KIND_MEM: return cl_is_image((const struct _cl_mem *)object) ? "image" : "buffer";
    case CL_KIND_SAMPLER: return "sampler";
    case CL_KIND_PROGRAM: return "program";
    case CL_KIND_KERNEL: return "kernel";
    case CL_KIND_EVENT: break;
    }
    return "event";
}

static const char *release_of(const struct cl_object *object)
{
    switch (object->kind) {
    case CL_KIND_CONTEXT: return "clReleaseContext";
    case CL_KIND_QUEUE: return "clReleaseCommandQueue";
    case CL_KIND_MEM: return "clReleaseMemObject";
    case CL_KIND_SAMPLER: return "clReleaseSampler";
    case CL_KIND_PROGRAM: return "clReleaseProgram";
    case CL_KIND_KERNEL: return "clReleaseKernel";
    case CL_KIND_EVENT: break;
    }
    return "clReleaseEvent";
}

/** Adds a finding if the last build of a program failed and its log was not read. */
static void report_log(const struct _cl_program *program)
{
    char message[300];
    const char *log = program->log != NULL ? program->log : "";

    if (program->object.trace == NULL || !program->object.trace->log_unread)
        return;
    snprintf(message, sizeof message, "the build failed, and its log was not read (CL_PROGRAM_BUILD_LOG): %.*s",
             (int)(strcspn(log, "\n") < 200 ? strcspn(log, "\n") : 200), log);
    rt_report(&(struct rt_finding){.kind = "api-unread-log", .message = message, .at = &program->object.trace->built, .count = 1});
}

static bool is_on(void);

struct list {
    struct cl_object **at;
    size_t count, capacity;
};

static void add_unreleased(struct cl_object *object, void *context)
{
    struct list *list = context;

    if (object->trace == NULL)
        return;
    if (object->kind == CL_KIND_PROGRAM)
        report_log((struct _cl_program *)object);
    if (object->references == 0)
        return;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity != 0 ? 2 * list->capacity : 256;
        struct cl_object **more = realloc(list->at, capacity * sizeof *more);

        if (more == NULL)
            return;
        list->at = more;
        list->capacity = capacity;
    }
    list->at[list->count++] = object;
}

static int by_number(const void *a, const void *b)
{
    const struct cl_object *const *x = a, *const *y = b;

    return ((*x)->trace->number > (*y)->trace->number) - ((*x)->trace->number < (*y)->trace->number);
}

/** Adds one finding for all objects in the list that were created by the same call as the object at index @first, and
 *  removes them from the list. */
static void report_leak(struct list *list, size_t first)
{
    const struct cl_object *object = list->at[first];
    char message[200];
    uint64_t count = 0;
    int size = 0;

    for (size_t i = first; i < list->count; i++)
        if (list->at[i] != NULL && list->at[i]->kind == object->kind && rt_site_is_same(&list->at[i]->trace->created, &object->trace->created, 0)) {
            list->at[i] = NULL;
            count++;
        }
    size += snprintf(message, sizeof message, "%s %s", strchr("aei", *name_of(object)) != NULL ? "an" : "a", name_of(object));
    if (object->kind == CL_KIND_MEM)
        size += snprintf(message + size, sizeof message - (size_t)size, " of %zu byte%s", ((const struct _cl_mem *)object)->bytes,
                         ((const struct _cl_mem *)object)->bytes == 1 ? "" : "s");
    size += snprintf(message + size, sizeof message - (size_t)size, " is not released when the program ends: call %s", release_of(object));
    if (object->references > 1)
        snprintf(message + size, sizeof message - (size_t)size, " for each of its %u references", object->references);
    rt_report(&(struct rt_finding){.kind = "api-leak", .message = message, .at = &object->trace->created, .count = count});
}

/* ---- shared virtual memory ---------------------------------------------------------------------------------------- */

static void report_svm(const struct cl_svm *svm, uint64_t count, const char *when)
{
    char message[160];

    snprintf(message, sizeof message, "shared virtual memory of %zu byte%s is not freed when %s ends: call clSVMFree", svm->bytes,
             svm->bytes == 1 ? "" : "s", when);
    rt_report(&(struct rt_finding){.kind = "api-leak", .message = message, .at = &svm->trace->created, .count = count});
}

/** Visitor: reports the shared virtual memory of a context, with one finding for each call that has allocated it. */
static void report_context(struct cl_object *object, void *unused)
{
    (void)unused;
    if (object->kind != CL_KIND_CONTEXT)
        return;
    for (struct cl_svm *svm = ((struct _cl_context *)object)->svm; svm != NULL; svm = svm->next) {
        uint64_t count = 0;

        if (svm->trace == NULL || svm->trace->freed)
            continue;
        for (struct cl_svm *same = svm; same != NULL; same = same->next)
            if (same->trace != NULL && !same->trace->freed && rt_site_is_same(&same->trace->created, &svm->trace->created, 0)) {
                same->trace->freed = true;
                count++;
            }
        report_svm(svm, count, "the program");
    }
}

void cl_trace_svm_begin(struct cl_svm *svm)
{
    if (traces.on && (svm->trace = calloc(1, sizeof *svm->trace)) != NULL)
        rt_site_take(&svm->trace->created);
}

void cl_trace_svm_released(struct cl_svm *svm)
{
    if (svm->trace == NULL)
        return;
    svm->trace->freed = true;
    rt_site_take(&svm->trace->released);
}

void cl_trace_svm_end(struct cl_svm *svm)
{
    struct cl_svm *old = svm;

    if (svm->trace != NULL && !svm->trace->freed)
        report_svm(svm, 1, "its context");
    if (svm->trace != NULL && svm->trace->freed && traces.freed == NULL)
        traces.freed = calloc(KEPT_SVM, sizeof(struct cl_svm *));
    if (svm->trace != NULL && svm->trace->freed && traces.freed != NULL) {
        struct cl_svm **slot = &traces.freed[traces.freed_count++ % KEPT_SVM];

        old = *slot;
        *slot = svm;
    }
    if (old != NULL)
        free(old->trace);
    free(old);
}

void cl_trace_svm_wrong(const void *pointer)
{
    const struct cl_svm *freed = NULL;
    struct rt_site here;

    if (!traces.on)
        return;
    for (size_t i = 0; traces.freed != NULL && i < KEPT_SVM && traces.freed[i] != NULL; i++)
        if (traces.freed[i]->address == (uint64_t)(uintptr_t)pointer)
            freed = traces.freed[i];
    rt_site_take(&here);
    if (freed == NULL)
        rt_report(&(struct rt_finding){.kind = "api-invalid-call", .at = &here, .count = 1,
                                       .message = "the call frees memory that is not shared virtual memory of the context"});
    else
        rt_report(&(struct rt_finding){.kind = "api-use-after-release", .at = &here, .count = 1,
                                       .message = "the call gets shared virtual memory that the program has freed",
                                       .related = {{"allocated", &freed->trace->created}, {"freed", &freed->trace->released}}});
}

/* ---- calls with wrong arguments -------------------------------------------------------------------------------------- */

/* Error codes that mean that arguments are wrong, with the most frequent reason. Other codes are results of commands, builds and
 * allocations, or say that a program asks for something that the device does not have. */
#define WRONG_CALLS(X) \
    X(CL_MEM_COPY_OVERLAP, "source and destination overlap") \
    X(CL_IMAGE_FORMAT_MISMATCH, "the images have different formats") \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, "the offset of a sub-buffer is not a multiple of CL_DEVICE_MEM_BASE_ADDR_ALIGN") \
    X(CL_INVALID_VALUE, "an argument has a wrong value, or an offset or size exceeds the object") \
    X(CL_INVALID_DEVICE_TYPE, "the type of device is wrong") \
    X(CL_INVALID_PLATFORM, "an argument is not the platform") \
    X(CL_INVALID_DEVICE, "an argument is not a device of the platform or context") \
    X(CL_INVALID_CONTEXT, "an argument is not a context, or belongs to another context") \
    X(CL_INVALID_QUEUE_PROPERTIES, "the device does not have queues with these properties") \
    X(CL_INVALID_COMMAND_QUEUE, "an argument is not a command queue") \
    X(CL_INVALID_HOST_PTR, "the flags ask for a host pointer and there is none, or the other way round") \
    X(CL_INVALID_MEM_OBJECT, "an argument is not a memory object of the required type") \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "the format of the image is wrong") \
    X(CL_INVALID_IMAGE_SIZE, "the image is larger than the device permits") \
    X(CL_INVALID_SAMPLER, "an argument is not a sampler") \
    X(CL_INVALID_BUILD_OPTIONS, "an option of the build is wrong") \
    X(CL_INVALID_PROGRAM, "an argument is not a program") \
    X(CL_INVALID_PROGRAM_EXECUTABLE, "the program has not been built") \
    X(CL_INVALID_KERNEL_NAME, "the program has no kernel of this name") \
    X(CL_INVALID_KERNEL, "an argument is not a kernel") \
    X(CL_INVALID_ARG_INDEX, "the kernel has fewer parameters") \
    X(CL_INVALID_ARG_VALUE, "the parameter does not accept this argument") \
    X(CL_INVALID_ARG_SIZE, "the size differs from that of the parameter") \
    X(CL_INVALID_KERNEL_ARGS, "an argument of the kernel is not set") \
    X(CL_INVALID_WORK_DIMENSION, "the number of dimensions is not 1, 2 or 3") \
    X(CL_INVALID_WORK_GROUP_SIZE, "the kernel does not permit the local size, or the local size does not divide the global size") \
    X(CL_INVALID_WORK_ITEM_SIZE, "the local size exceeds CL_DEVICE_MAX_WORK_ITEM_SIZES") \
    X(CL_INVALID_GLOBAL_OFFSET, "the global offset is too large") \
    X(CL_INVALID_EVENT_WAIT_LIST, "the list of events is missing, or has something else than events") \
    X(CL_INVALID_EVENT, "an argument is not an event") \
    X(CL_INVALID_OPERATION, "the object does not permit this call") \
    X(CL_INVALID_BUFFER_SIZE, "the size is 0, or exceeds CL_DEVICE_MAX_MEM_ALLOC_SIZE or the memory") \
    X(CL_INVALID_GLOBAL_WORK_SIZE, "the global size is too large") \
    X(CL_INVALID_PROPERTY, "a property is wrong") \
    X(CL_INVALID_IMAGE_DESCRIPTOR, "the description of the image is wrong") \
    X(CL_INVALID_COMPILER_OPTIONS, "an option of the compiler is wrong") \
    X(CL_INVALID_LINKER_OPTIONS, "an option of the linker is wrong") \
    X(CL_INVALID_SPEC_ID, "the module has no such specialization constant") \
    X(CL_OUT_OF_RESOURCES, "the launch needs more local memory than CL_DEVICE_LOCAL_MEM_SIZE")

/** Returns true if programs make such calls to find out what the device has. */
static bool is_question(const char *name, cl_int error)
{
    /* functions of features that the device does not have */
    static const char *const without[] = {"clCreateSubDevices", "clCreateProgramWithBuiltInKernels", "clCreatePipe",
                                          "clSetCommandQueueProperty", "clEnqueueNativeKernel", "clGetDeviceAndHostTimer",
                                          "clGetHostTimer", "clSetDefaultDeviceCommandQueue", "clSetProgramReleaseCallback",
                                          "clCreateProgramWithIL", "clSetProgramSpecializationConstant"};

    if (strncmp(name, "clGet", 5) == 0 && (error == CL_INVALID_VALUE || error == CL_INVALID_OPERATION))
        return true;
    if (error == CL_OUT_OF_RESOURCES)
        return strcmp(name, "clEnqueueNDRangeKernel") != 0;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(name, without[i]) == 0)
            return error == CL_INVALID_OPERATION || (i < 2 && error == CL_INVALID_VALUE);
    return false;
}

static void report_call(const char *name, cl_int error, const char *code, const char *reason)
{
    struct rt_site here;
    char message[400];

    if (!is_on() || is_question(name, error))
        return;
    rt_site_take(&here);
    for (unsigned i = 0; i < traces.wrong_count && i < KEPT_CALLS; i++)
        if (rt_site_is_same(&here, &traces.wrong[i], 0))
            return;
    traces.wrong[traces.wrong_count++ % KEPT_CALLS] = here;
    snprintf(message, sizeof message, "%s returns %s: %s", name, code, call_reason[0] != '\0' ? call_reason : reason);
    rt_report(&(struct rt_finding){.kind = "api-invalid-call", .message = message, .at = &here, .count = 1});
}

void cl_trace_call(const char *name, cl_int error)
{
    const bool reported = call_reported;

    call_reported = false;
    if (error == CL_SUCCESS || reported) {
        call_reason[0] = '\0';
        return;
    }
    rt_lock();
    switch (error) {
#define WRONG_CALL(code, reason) \
    case code: report_call(name, error, #code, reason); break;
        WRONG_CALLS(WRONG_CALL)
    default: break;
    }
    rt_unlock();
    call_reason[0] = '\0';
}

void cl_trace_reason(const char *format, ...)
{
    va_list arguments;

    if (!traces.on)
        return;
    va_start(arguments, format);
    vsnprintf(call_reason, sizeof call_reason, format, arguments);
    va_end(arguments);
}

/* ---- objects --------------------------------------------------------------------------------------------------------- */

/** Called at the end of the program: reports objects that are not released, and logs that were not read. */
static void report_end(void)
{
    struct list list = {0};

    cl_object_each(add_unreleased, &list);
    if (list.count != 0)
        qsort(list.at, list.count, sizeof *list.at, by_number);
    for (size_t i = 0; i < list.count; i++)
        if (list.at[i] != NULL)
            report_leak(&list, i);
    free(list.at);
    cl_object_each(report_context, NULL);
}

static bool is_on(void)
{
    static const char *const kinds[] = {"api-leak", "api-use-after-release", "api-unread-log", "api-invalid-call"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !traces.asked; i++)
        if (rt_wants_finding(kinds[i])) {
            traces.asked = traces.on = true;
            rt_at_end(report_end);
        }
    return traces.on;
}

void cl_trace_begin(struct cl_object *object)
{
    is_on();
    traces.asked = true; /* the machine exists now, so that the answer does not change */
    if (!traces.on)
        return;
    object->trace = calloc(1, sizeof *object->trace);
    if (object->trace == NULL) /* the host has no memory, so this object is not checked */
        return;
    object->trace->number = traces.count++;
    rt_site_take(&object->trace->created);
}

void cl_trace_ending(const struct cl_object *object)
{
    if (object->kind == CL_KIND_PROGRAM)
        report_log((const struct _cl_program *)object);
}

void cl_trace_released(struct cl_object *object)
{
    if (object->trace != NULL)
        rt_site_take(&object->trace->released);
}

void cl_trace_end(struct cl_object *object)
{
    struct cl_object **slot;

    if (object->trace != NULL && traces.ended == NULL)
        traces.ended = calloc(KEPT_OBJECTS, sizeof(struct cl_object *));
    if (object->trace != NULL && traces.ended != NULL) {
        slot = &traces.ended[traces.ended_count++ % KEPT_OBJECTS];
        struct cl_object *old = *slot;
        *slot = object;
        object = old;
    }
    if (object == NULL)
        return;
    free(object->trace);
    cl_object_recycle(object);
}

/** Returns the destroyed object that had this handle, or NULL if it is not in the ring buffer. */
static struct cl_object *find_released(const void *handle)
{
    for (size_t i = 0; traces.ended != NULL && i < KEPT_OBJECTS && traces.ended[i] != NULL; i++)
        if (traces.ended[i] == handle)
            return traces.ended[i];
    return NULL;
}

/** Visitor: searches for the object with handle context[0] that the user has released but that still exists, and stores it
 *  in context[1]. */
static void find_held(struct cl_object *object, void *context)
{
    const void **handle = context;

    if (object == *handle && object->references == 0 && object->trace != NULL) {
        handle[0] = NULL;
        handle[1] = object;
    }
}

void cl_trace_use(const void *handle, enum cl_kind kind)
{
    const void *search[2] = {handle, NULL};
    struct cl_object *object;
    struct rt_site here;
    char message[120];

    if (!traces.on || handle == NULL)
        return;
    object = find_released(handle);
    if (object == NULL) { /* a released object still exists if other objects or commands have references to it */
        cl_object_each(find_held, search);
        object = (struct cl_object *)search[1];
    }
    if (object == NULL || object->kind != kind)
        return;
    call_reported = true;
    rt_site_take(&here);
    if (rt_site_is_same(&here, &object->trace->reported, 5)) /* this use was reported already, because a function may check a handle
                                                        * more than once */
        return;
    object->trace->reported = here;
    snprintf(message, sizeof message, "the call gets %s %s that the program has released",
             strchr("aei", *name_of(object)) != NULL ? "an" : "a", name_of(object));
    rt_report(&(struct rt_finding){.kind = "api-use-after-release", .message = message, .at = &here, .count = 1,
                                   .related = {{"created", &object->trace->created}, {"released", &object->trace->released}}});
}

void cl_trace_build(struct _cl_program *program, bool failed)
{
    struct cl_trace *trace = program->object.trace;

    if (trace == NULL)
        return;
    trace->log_unread = failed;
    if (failed)
        rt_site_take(&trace->built);
}
