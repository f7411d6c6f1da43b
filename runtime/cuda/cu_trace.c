/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the program's calls (findings of class api): calls that return an error because of their arguments, objects that are
 * used after their release or never released, and errors of launches that are not read. Objects are recorded only if one of
 * these kinds of findings is enabled. */
#include "runtime/cuda/cu_trace_priv.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** An object that the program has created, and perhaps released. */
struct record {
    struct record *next; /* next record in the same list */
    const void *handle;
    void *structure;     /* memory that is freed together with the record of a released object; or NULL */
    enum cu_thing thing;
    uint64_t bytes;      /* size of memory */
    uint64_t number;     /* number of the object, in the order of creation */
    struct rt_site created, released;
    bool driver;         /* created by a function of the driver interface */
    bool live;
    bool ended; /* its context was destroyed, so the object is not a leak */
};
/** A failed launch by <<<...>>> whose error was not read. */
struct unread {
    struct unread *next;
    pthread_t thread;
    cudaError_t error;
    char kernel[120];
    struct rt_site site;
};
/** A call that was reported. */
struct reported {
    struct reported *next;
    cudaError_t error;
    struct rt_site site;
};
enum { LISTS = 4096, REASON_BYTES = 256,
       /* The memory of a released object is freed after this many other objects were released. Until then no new object gets its
        * handle. */
       KEPT_OBJECTS = 1 << 16 };

/* This state is global, because a process has one device. */
static struct {
    bool asked, on; /* asked: it has been determined whether calls are checked; on: calls are checked */
    struct record *list[LISTS];
    struct record **ended; /* ring buffer of KEPT_OBJECTS records of released objects, or NULL if none was released yet */
    size_t ended_count;    /* number of objects released so far */
    uint64_t count;        /* number of objects created so far */
    struct unread *unread;
    struct reported *reported;
} traces;
/** Facts about the thread's call in progress. */
static _Thread_local struct {
    const void *handle; /* handle or pointer that is not valid, or NULL */
    bool stub;          /* the call comes from the stub of a kernel: a launch by <<<...>>> */
    char reason[REASON_BYTES]; /* why the call fails, or "" */
    char kernel[120];   /* kernel that is launched, or "" */
} call;

static const struct {
    const char *name, *release, *driver_release;
} rows[] = {
    [CU_THING_MEMORY] = {"device memory", "cudaFree", "cuMemFree"},
    [CU_THING_HOST_MEMORY] = {"pinned memory", "cudaFreeHost", "cuMemFreeHost"},
    [CU_THING_STREAM] = {"a stream", "cudaStreamDestroy", "cuStreamDestroy"},
    [CU_THING_EVENT] = {"an event", "cudaEventDestroy", "cuEventDestroy"},
    [CU_THING_GRAPH] = {"a graph", "cudaGraphDestroy", "cuGraphDestroy"},
    [CU_THING_EXEC] = {"an executable graph", "cudaGraphExecDestroy", "cuGraphExecDestroy"},
    [CU_THING_ARRAY] = {"an array", "cudaFreeArray", "cuArrayDestroy"},
    [CU_THING_TEXTURE] = {"a texture object", "cudaDestroyTextureObject", "cuTexObjectDestroy"},
    [CU_THING_SURFACE] = {"a surface object", "cudaDestroySurfaceObject", "cuSurfObjectDestroy"},
    [CU_THING_POOL] = {"a memory pool", "cudaMemPoolDestroy", "cuMemPoolDestroy"},
    [CU_THING_MODULE] = {"a module", "cuModuleUnload", "cuModuleUnload"},
    [CU_THING_CONTEXT] = {"a context", "cuCtxDestroy", "cuCtxDestroy"},
};

static struct record **list_of(const void *handle)
{
    return &traces.list[((uintptr_t)handle >> 4 ^ (uintptr_t)handle >> 16) % LISTS];
}

static struct record *find(const void *handle)
{
    struct record *r = *list_of(handle);

    while (r != NULL && r->handle != handle)
        r = r->next;
    return r;
}

/** Returns the released object that had this handle, or the freed memory that contained this address; NULL if there is none. */
static struct record *find_released(const void *handle)
{
    struct record *r = find(handle);

    if (r != NULL)
        return r->live ? NULL : r;
    for (size_t i = 0; traces.ended != NULL && i < KEPT_OBJECTS && (r = traces.ended[i]) != NULL; i++)
        if (r->bytes != 0 && (uintptr_t)handle >= (uintptr_t)r->handle && (uintptr_t)handle - (uintptr_t)r->handle < r->bytes)
            return r;
    return NULL;
}

/* ---- findings ------------------------------------------------------------------------------------------------------- */

/** Adds one finding for all objects that were created by the same call as the object at index @first, and removes them from the
 *  list. */
static void report_leak(struct record **list, size_t count, size_t first)
{
    const struct record *r = list[first];
    uint64_t objects = 0, bytes = r->bytes;
    char message[200], size[80] = "";

    for (size_t i = first; i < count; i++)
        if (list[i] != NULL && list[i]->thing == r->thing && rt_site_is_same(&list[i]->created, &r->created, 0)) {
            list[i] = NULL;
            objects++;
        }
    if (bytes != 0)
        snprintf(size, sizeof size, " of %" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
    snprintf(message, sizeof message, "%s%s is not released when the program ends: call %s", rows[r->thing].name, size,
             r->driver ? rows[r->thing].driver_release : rows[r->thing].release);
    rt_report(&(struct rt_finding){.kind = "api-leak", .message = message, .at = &r->created, .count = objects});
}

static int by_number(const void *a, const void *b)
{
    const struct record *const *x = a, *const *y = b;

    return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

static void report_unread(const struct unread *u)
{
    char message[300];

    snprintf(message, sizeof message, "the launch fails with %s (%s), and the program does not read the error (cudaGetLastError)",
             cudaGetErrorName(u->error), cudaGetErrorString(u->error));
    rt_report(&(struct rt_finding){.kind = "api-unread-error", .message = message, .at = &u->site, .count = 1, .stub = u->kernel});
}

/** Called at the end of the program: reports errors that were not read, and objects that are not released. */
static void report_end(void)
{
    struct record **list;
    size_t count = 0, i = 0;

    for (const struct unread *u = traces.unread; u != NULL; u = u->next)
        report_unread(u);
    if (cu_device_error() != cudaSuccess) /* after a fault, calls that release objects fail */
        return;
    for (unsigned k = 0; k < LISTS; k++)
        for (const struct record *r = traces.list[k]; r != NULL; r = r->next)
            count += r->live && !r->ended;
    list = calloc(count + 1, sizeof(struct record *));
    for (unsigned k = 0; list != NULL && k < LISTS; k++)
        for (struct record *r = traces.list[k]; r != NULL; r = r->next)
            if (r->live && !r->ended)
                list[i++] = r;
    if (list != NULL)
        qsort(list, count, sizeof *list, by_number);
    for (i = 0; list != NULL && i < count; i++)
        if (list[i] != NULL)
            report_leak(list, count, i);
    free(list);
}

/** Returns true if calls are checked. Locked. */
static bool is_on(void)
{
    static const char *const kinds[] = {"api-leak", "api-use-after-release", "api-invalid-call", "api-unread-error"};

    if (!traces.asked && rt_begun()) { /* does not create the machine, which belongs to the process that uses it first */
        traces.asked = true;
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
            traces.on = traces.on || rt_wants_finding(kinds[i]);
        if (traces.on)
            rt_at_end(report_end);
    }
    return traces.on;
}

/** Returns true if the call's own arguments are the cause of the error. Other errors are results of queries, of faults in kernels,
 *  and of limits of the host or of this implementation. */
static bool is_wrong_call(cudaError_t error)
{
    switch (error) {
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidTextureBinding:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidDevice:
    case cudaErrorDeviceUninitialized: /* CUDA_ERROR_INVALID_CONTEXT */
    case cudaErrorInitializationError: /* CUDA_ERROR_NOT_INITIALIZED */
    case cudaErrorContextIsDestroyed:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorIllegalState:
    case cudaErrorSymbolNotFound:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorHostMemoryAlreadyRegistered:
    case cudaErrorHostMemoryNotRegistered:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureMerge:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorStreamCaptureWrongThread:
    case cudaErrorCapturedEvent: return true;
    default: return false;
    }
}

/** Returns true for a function with which programs ask a question whose answer may be an error. */
static bool is_query(const char *function, cudaError_t error)
{
    static const char *const names[] = {
        "cudaPointerGet", "cuPointerGet", "cudaOccupancy", "cuOccupancy", "cudaDeviceGet", "cuDeviceGet", "cudaGetDevice", "cudaDeviceCan",
        "cuDeviceCan", "cudaDeviceEnablePeer", "cudaDeviceDisablePeer", "cuCtxEnablePeer", "cuCtxDisablePeer", "cudaGetDriverEntry",
        "cuGetProcAddress", "cuGetExportTable", "cuGetError", "cudaSetDevice", "cudaChooseDevice", "cudaHostGetFlags", "cuMemHostGetFlags",
        "cudaGetKernel", "cuCtxGet", "cudaGetFuncBySymbol", "cudaFuncGetAttributes", "cuFuncGet", "cudaGetSymbol", "cuMemGetAddressRange"};
    static const char *const lookups[] = {"cuModuleGet", "cuLibraryGet"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(function, names[i], strlen(names[i])) == 0)
            return true;
    for (unsigned i = 0; i < sizeof lookups / sizeof *lookups; i++)
        if (error == cudaErrorSymbolNotFound && strncmp(function, lookups[i], strlen(lookups[i])) == 0)
            return true;
    return false;
}

/** Finds the name of the function of this library that the program has called. A suffix of the function's version is not part of
 *  the name. */
static void name_function(const struct rt_site *site, char *out, size_t bytes)
{
    static const char *const suffixes[] = {"_ptsz", "_ptds", "_v2", "_v3", "_v4"};
    Dl_info own, info;

    snprintf(out, bytes, "the call");
    if (dladdr((const void *)(uintptr_t)name_function, &own) == 0)
        return;
    for (unsigned i = 0; i < site->count; i++) {
        if (dladdr((const char *)site->frame[i] - 1, &info) == 0 || info.dli_fbase != own.dli_fbase)
            break; /* this frame is in the program */
        if (info.dli_sname != NULL)
            snprintf(out, bytes, "%s", info.dli_sname + (strncmp(info.dli_sname, "__", 2) == 0 ? 2 : 0));
    }
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t length = strlen(out), end = strlen(suffixes[i]);

        if (length > end && strcmp(out + length - end, suffixes[i]) == 0)
            out[length - end] = '\0';
    }
}

/** Returns true if the call was not reported with this error before, and notes that it now is. */
static bool is_new(const struct rt_site *site, cudaError_t error)
{
    enum { OWN_FRAMES = 4 }; /* frames that may be in this library */
    struct reported *r;

    for (r = traces.reported; r != NULL; r = r->next)
        if (r->error == error && rt_site_is_same(&r->site, site, OWN_FRAMES))
            return false;
    r = malloc(sizeof *r);
    if (r == NULL)
        return false;
    *r = (struct reported){.next = traces.reported, .error = error, .site = *site};
    traces.reported = r;
    return true;
}

/** Reports a call that returns an error. */
static void report(cudaError_t error, const char *name)
{
    const struct record *gone = call.handle != NULL ? find_released(call.handle) : NULL;
    struct rt_site here;
    char function[80], message[500];
    int size;

    rt_site_take(&here);
    if (!is_new(&here, error))
        return;
    name_function(&here, function, sizeof function);
    if (is_query(function, error))
        return;
    size = snprintf(message, sizeof message, "%s returns %s (%s)", function, name, cudaGetErrorString(error));
    if (gone != NULL) {
        snprintf(message + size, sizeof message - (size_t)size, ": the call gets %s that the program has released", rows[gone->thing].name);
        if (rt_wants_finding("api-use-after-release"))
            rt_report(&(struct rt_finding){.kind = "api-use-after-release", .message = message, .at = &here, .count = 1,
                                           .stub = call.kernel,
                                           .related = {{"created", &gone->created}, {"released", &gone->released}}});
        return;
    }
    if (call.reason[0] != '\0')
        snprintf(message + size, sizeof message - (size_t)size, ": %s", call.reason);
    if (rt_wants_finding("api-invalid-call"))
        rt_report(&(struct rt_finding){.kind = "api-invalid-call", .message = message, .at = &here, .count = 1, .stub = call.kernel});
}

/* ---- calls ---------------------------------------------------------------------------------------------------------- */

void cu_trace_call(cudaError_t error, const char *name)
{
    if (is_wrong_call(error)) {
        rt_lock();
        if (is_on())
            report(error, name);
        rt_unlock();
    }
    call.handle = NULL;
    call.reason[0] = call.kernel[0] = '\0';
}

void cu_trace_handle(const void *handle)
{
    if (traces.on && call.handle == NULL)
        call.handle = handle;
}

void cu_trace_reason(const char *format, ...)
{
    va_list arguments;

    if (!traces.on)
        return;
    va_start(arguments, format);
    vsnprintf(call.reason, sizeof call.reason, format, arguments);
    va_end(arguments);
}

void cu_trace_undefined(const char *reason)
{
    struct rt_site here;
    char function[80], message[500];

    if (!is_on() || !rt_wants_finding("api-invalid-call"))
        return;
    rt_site_take(&here);
    if (!is_new(&here, cudaSuccess))
        return;
    name_function(&here, function, sizeof function);
    snprintf(message, sizeof message, "%s has an effect that CUDA does not define: %s", function, reason);
    rt_report(&(struct rt_finding){.kind = "api-invalid-call", .message = message, .at = &here, .count = 1});
}

void cu_trace_kernel(const char *name)
{
    if (traces.on)
        snprintf(call.kernel, sizeof call.kernel, "%s", name);
}

void cu_trace_stub(void)
{
    call.stub = true;
}

void cu_trace_launch(cudaError_t error)
{
    const bool stub = call.stub;
    struct unread *u;

    call.stub = false;
    if (!stub || !is_wrong_call(error))
        return;
    rt_lock();
    u = is_on() && rt_wants_finding("api-unread-error") ? calloc(1, sizeof *u) : NULL;
    if (u != NULL) {
        *u = (struct unread){.next = traces.unread, .thread = pthread_self(), .error = error};
        snprintf(u->kernel, sizeof u->kernel, "%s", call.kernel);
        rt_site_take(&u->site);
        for (const struct unread *old = traces.unread; old != NULL && u != NULL; old = old->next)
            if (pthread_equal(old->thread, u->thread) && old->error == error && rt_site_is_same(&old->site, &u->site, 0)) {
                free(u); /* the same launch in a loop */
                u = NULL;
            }
        traces.unread = u != NULL ? u : traces.unread;
    }
    rt_unlock();
}

void cu_trace_read(void)
{
    struct unread *u;

    if (!traces.on)
        return;
    rt_lock();
    for (struct unread **at = &traces.unread; (u = *at) != NULL;)
        if (pthread_equal(u->thread, pthread_self())) {
            *at = u->next;
            free(u);
        } else {
            at = &u->next;
        }
    rt_unlock();
}

/* ---- objects -------------------------------------------------------------------------------------------------------- */

void cu_trace_created(const void *handle, enum cu_thing thing, uint64_t bytes)
{
    struct record *r;

    if (!is_on())
        return;
    r = calloc(1, sizeof *r);
    if (r == NULL) /* the host has no memory, so this object is not checked */
        return;
    *r = (struct record){.next = *list_of(handle), .handle = handle, .thing = thing, .bytes = bytes, .number = traces.count++,
                         .driver = cu_is_driver_call(), .live = true};
    rt_site_take(&r->created);
    *list_of(handle) = r;
}

void cu_trace_context_ended(void)
{
    for (unsigned k = 0; k < LISTS; k++)
        for (struct record *r = traces.list[k]; r != NULL; r = r->next)
            r->ended = r->ended || (r->driver && r->thing != CU_THING_CONTEXT);
}

/** Removes a record from its list, and frees it with its object. */
static void forget(struct record *r)
{
    struct record **at = list_of(r->handle);

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    free(r->structure);
    free(r);
}

void cu_trace_released(const void *handle, void *structure)
{
    struct record *r = traces.on ? find(handle) : NULL;
    struct record **slot;

    if (r != NULL && traces.ended == NULL)
        traces.ended = calloc(KEPT_OBJECTS, sizeof(struct record *));
    if (r == NULL || traces.ended == NULL || !r->live) {
        if (r != NULL)
            r->live = false;
        free(structure);
        return;
    }
    r->live = false;
    r->structure = structure;
    rt_site_take(&r->released);
    slot = &traces.ended[traces.ended_count++ % KEPT_OBJECTS];
    if (*slot != NULL)
        forget(*slot);
    *slot = r;
}
