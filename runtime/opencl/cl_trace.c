/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the program's calls: objects that are never released, objects that are used after their release, and logs of
 * failed builds that are not read. An object has a trace only if one of these kinds of findings is enabled. */
#include "runtime/opencl/cl_priv.h"

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

/* The memory of a destroyed object is freed after this many other objects were destroyed. Until then no new object gets its
 * handle, and the loader, which reads the memory of every handle, does not read freed memory. */
enum { KEPT_OBJECTS = 1 << 16 };

/* This state is global, because a process has one driver. */
static struct {
    bool asked, on;           /* asked: it has been determined whether calls are checked; on: calls are checked */
    uint64_t count;           /* number of objects created so far */
    struct cl_object **ended; /* ring buffer of KEPT_OBJECTS destroyed objects, or NULL if no object was destroyed yet */
    size_t ended_count;       /* number of objects destroyed so far */
} traces;

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

/** Returns true if two sites are the same call of the program. The first @own frames, which may be in the driver, are not
 *  compared. */
static bool are_equal(const struct rt_site *a, const struct rt_site *b, unsigned own)
{
    return a->count == b->count && (a->count <= own || memcmp(a->frame + own, b->frame + own, (a->count - own) * sizeof *a->frame) == 0);
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
        if (list->at[i] != NULL && list->at[i]->kind == object->kind && are_equal(&list->at[i]->trace->created, &object->trace->created, 0)) {
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
}

void cl_trace_begin(struct cl_object *object)
{
    if (!traces.asked) {
        traces.asked = true;
        traces.on = rt_wants_finding("api-leak") || rt_wants_finding("api-use-after-release") || rt_wants_finding("api-unread-log");
        if (traces.on)
            rt_at_end(report_end);
    }
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
    if (object != NULL)
        free(object->trace);
    free(object);
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
    rt_site_take(&here);
    if (are_equal(&here, &object->trace->reported, 4)) /* this use was reported already, because a function may check a handle
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
