/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and arguments of the random calls of prop_opencl.c, and the checks of their results. */
#ifndef PROP_OPENCL_OBJECTS_H
#define PROP_OPENCL_OBJECTS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>

#include "tests/runtime/calls/prop_calls.h"

enum kind { CONTEXT, QUEUE, MEM, PROGRAM, KERNEL, EVENT, SAMPLER, KINDS };
static const cl_int invalid_error[KINDS] = {CL_INVALID_CONTEXT, CL_INVALID_COMMAND_QUEUE, CL_INVALID_MEM_OBJECT,
                                            CL_INVALID_PROGRAM,
                                            CL_INVALID_KERNEL, CL_INVALID_EVENT, CL_INVALID_SAMPLER};

enum {
    CALLS_OF_ROUND = 1500,
    MOST_OBJECTS = 48, DEAD_OBJECTS = 64,
    HOST_BYTES = 1 << 21,
    SMALL_BYTES = 65536,       /* buffers whose contents are compared have at most this many bytes */
    COMPILATIONS_OF_ROUND = 1, /* most calls of the compiler in one of 8 rounds, because they are slow */
    LOADS_OF_ROUND = 6,        /* most modules that a round loads, because the driver keeps them until the process ends */
    KERNELS = 4
};

/** The memory of a buffer that is not a sub-buffer, as the calls must have left it. */
struct shadow {
    struct shadow *next;
    size_t bytes;
    uint8_t *data, *known; /* known: bytes whose value is known; both NULL: too large to be compared */
    uint8_t *host;         /* memory of CL_MEM_USE_HOST_PTR; or NULL */
    unsigned maps;         /* existing maps */
    uint64_t changes;      /* counts calls that change the buffer or its maps */
};

struct object {
    void *handle;
    unsigned references;
    cl_context context;
    /* a memory object */
    struct shadow *shadow;
    size_t origin, bytes;
    bool is_image, is_sub;
    cl_mem_flags flags;
    /* an event */
    bool is_user, is_open;
    /* a program or kernel: its code is not that of the test, so it is not launched */
    bool is_damaged;
    /* a kernel */
    unsigned number;         /* index of its name */
    void *arguments[3];      /* buffers that are set, or NULL */
};

struct map {
    cl_mem mem;
    struct shadow *shadow;
    uint8_t *pointer, *copy; /* copy: what the program wrote; NULL: unknown */
    size_t offset, bytes;
    uint64_t changes;
    bool writes;
};

static const struct _cl_icd_dispatch *d;
static cl_device_id device;
static cl_platform_id platform;
static unsigned char *binary, *object_binary; /* of an executable, and of a compiled program */
static size_t binary_bytes, object_binary_bytes;
static uint8_t host[8][HOST_BYTES];

static struct {
    pthread_mutex_t mutex;
    struct object at[KINDS][MOST_OBJECTS];
    unsigned count[KINDS];
    void *dead[KINDS][DEAD_OBJECTS]; /* handles whose last reference was released */
    struct map maps[32];
    unsigned map_count;
    struct shadow *shadows;
    struct {
        void *pointer;
        size_t bytes;
        cl_context context;
    } svm[16];
    unsigned svm_count, compilations, loads;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/** About the call of a thread that is being prepared. */
static _Thread_local struct {
    unsigned thread;
    bool calm;           /* all arguments but handles are valid */
    cl_context context;  /* context of the objects of a calm call */
    unsigned bad;        /* number of invalid handles */
    cl_int error;        /* error for the last of them */
    bool is_open;        /* some handle or argument may be invalid or not */
} now;

#define CALL(name, ...) (begin_call(#name), d->name(__VA_ARGS__))

static const char source[] =
    "kernel void set(global uint *out, uint value, uint n) { uint i = get_global_id(0); if (i < n) out[i] = value + i; }\n"
    "kernel void add(global uint *out, global const uint *in, uint n) \n"
    "{ uint i = get_global_id(0); if (i < n) out[i] += in[i]; }\n"
    "kernel void tile(global uint *out, local uint *t, long bias)\n"
    "{\n"
    "    t[get_local_id(0)] = bias; barrier(CLK_LOCAL_MEM_FENCE); if (get_global_id(0) == 0) out[0] = t[0];\n"
    "}\n"
    "__attribute__((reqd_work_group_size(8, 2, 1))) kernel void flat(global uchar *out) { out[0] = 8; }\n";
static const char *const kernel_names[KERNELS] = {"set", "add", "tile", "flat"};

/* ---- objects --------------------------------------------------------------------------------------------------- */

static void lock(void)
{
    pthread_mutex_lock(&pool.mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&pool.mutex);
}

static struct object *find_object(enum kind kind, const void *handle)
{
    for (unsigned i = 0; i < pool.count[kind]; i++)
        if (pool.at[kind][i].handle == handle)
            return &pool.at[kind][i];
    return NULL;
}

/** Adds an object of the driver. The handle may be equal to that of a released object. */
static void add_object(enum kind kind, struct object object)
{
    lock();
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < DEAD_OBJECTS; i++)
            if (pool.dead[k][i] == object.handle)
                pool.dead[k][i] = NULL;
    object.references = 1;
    if (is_checked() && find_object(kind, object.handle) != NULL)
        wrong("two objects have the handle %p", object.handle);
    if (pool.count[kind] == MOST_OBJECTS)
        abort(); /* is_full() was not asked */
    pool.at[kind][pool.count[kind]++] = object;
    unlock();
}

/** Returns true if no object of @kind must be created. Leaves room for the objects of other threads. */
static bool is_full(enum kind kind)
{
    lock();
    const bool full = pool.count[kind] + 12 > MOST_OBJECTS;
    unlock();
    return full;
}

static unsigned count_open(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < pool.count[EVENT]; i++)
        count += pool.at[EVENT][i].is_open;
    return count;
}

/** Chooses a handle for a parameter of @kind. */
static void *handle_of(enum kind kind)
{
    static const uint8_t memory[512];
    static void *const wild[] = {(void *)16, (void *)-1, (void *)0x123456789abc, (void *)(uintptr_t)memory};
    const unsigned way = below(100);
    struct object *list = pool.at[kind];
    void *handle = NULL;

    lock();
    if (way < 3) {
        for (unsigned tries = 0; tries < 8 && handle == NULL; tries++)
            handle = PICK(pool.dead[kind]);
        if (handle != NULL && (kind == CONTEXT || kind == QUEUE || kind == PROGRAM)) { /* other objects may keep them */
            now.is_open = true;
            unlock();
            return handle;
        }
    } else if (way < 6) {
        const enum kind other = (enum kind)((kind + 1 + below(KINDS - 1)) % KINDS);

        handle = pool.count[other] != 0 ? pool.at[other][below(pool.count[other])].handle : NULL;
    } else if (way < 8) {
        handle = PICK(wild);
    } else if (way >= 10 && pool.count[kind] != 0) {
        unsigned at = below(pool.count[kind]);

        for (unsigned i = 0; now.calm && i < pool.count[kind]; i++)
            if (list[at].context != now.context || list[at].is_image || (kind == PROGRAM && list[at].is_damaged))
                at = (at + 1) % pool.count[kind];
        handle = list[at].handle;
        if (list[at].context != now.context || list[at].is_image)
            now.is_open = true;
        unlock();
        return handle;
    }
    now.bad++;
    now.error = invalid_error[kind];
    unlock();
    return handle;
}

static void begin(void)
{
    const unsigned thread = now.thread;

    memset(&now, 0, sizeof now);
    now.thread = thread;
    now.calm = !one_of(3);
    lock();
    now.context = pool.count[CONTEXT] != 0 ? pool.at[CONTEXT][below(pool.count[CONTEXT])].handle : NULL;
    unlock();
}

static bool is_documented(cl_int error)
{
    return (error <= 0 && error >= -19) || (error <= -30 && error >= -72) || error == -1001;
}

/** Checks the result of a call. Returns true if it is CL_SUCCESS. */
static bool check(cl_int error)
{
    if (error == CL_SUCCESS)
        __atomic_fetch_add(&calls->successes, 1, __ATOMIC_RELAXED);
    if (!is_documented(error))
        wrong("the error %d is not in the specification", error);
    if (!is_checked())
        return error == CL_SUCCESS;
    if (now.bad != 0 && error == CL_SUCCESS)
        wrong("succeeds with an invalid handle (%d expected)", now.error);
    if (now.bad == 1 && now.calm && !now.is_open && error != now.error)
        wrong("the error is %d, but %d was expected", error, now.error);
    return error == CL_SUCCESS;
}

static bool check_object(const void *handle, cl_int error)
{
    if ((handle != NULL) != (error == CL_SUCCESS))
        wrong("the handle is %p, but the error %d", handle, error);
    return check(error);
}

static cl_int status_of(cl_event event)
{
    cl_int status = 1234;

    if (d->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) != CL_SUCCESS)
        wrong("the status of an event cannot be read");
    return status;
}

/** Completes all user events, so that no command waits. */
static void complete_all(void)
{
    void *open[MOST_OBJECTS];
    unsigned count = 0;

    lock();
    for (unsigned i = 0; i < pool.count[EVENT]; i++)
        if (pool.at[EVENT][i].is_open) {
            open[count++] = pool.at[EVENT][i].handle;
            pool.at[EVENT][i].is_open = false;
        }
    for (unsigned i = 0; i < count; i++) {
        const cl_int error = CALL(clSetUserEventStatus, open[i], one_of(4) ? -1 - (cl_int)below(9) : CL_COMPLETE);

        if (is_checked() && error != CL_SUCCESS)
            wrong("a user event cannot be completed: %d", error);
    }
    unlock();
}

/** Prepares a call that waits: no command may wait for a user event that no thread completes. Only thread 0 creates user events. */
static void before_wait(void)
{
    if (now.thread == 0)
        complete_all();
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static const size_t sizes[] = {0, 1, 3, 4, 64, 65, 511, 512, 4095, 4096, SMALL_BYTES - 1, SMALL_BYTES, SMALL_BYTES + 1, 1 << 20,
                               SIZE_MAX, SIZE_MAX - 3, SIZE_MAX / 2 + 1, (size_t)1 << 62};

/** Chooses an offset and a size. In a calm call they are in a range of @bytes bytes. */
static void pick_range(size_t bytes, size_t *offset, size_t *size)
{
    if (now.calm && bytes != 0) {
        *offset = one_of(3) ? 0 : below(bytes);
        *size = one_of(3) ? bytes - *offset : 1 + below(bytes - *offset);
    } else {
        *offset = one_of(2) ? PICK(sizes) : bytes - below(3);
        *size = one_of(2) ? PICK(sizes) : bytes - *offset + below(3) - 1;
    }
}

struct waits {
    cl_event list[4];
    bool has_list;
    cl_uint count;
    bool fails; /* an event has an error */
};

static struct waits pick_waits(void)
{
    struct waits w = {0};
    const unsigned bad = now.bad;

    if (!one_of(4))
        return w;
    w.has_list = true;
    w.count = 1 + below(3);
    for (unsigned i = 0; i < w.count; i++)
        w.list[i] = handle_of(EVENT);
    if (now.bad != bad)
        now.error = CL_INVALID_EVENT_WAIT_LIST;
    if (!now.calm && one_of(8)) {
        w.count = 0;
        now.is_open = true;
    } else if (!now.calm && one_of(8)) {
        w.has_list = false;
        now.is_open = true;
    }
    if (is_checked() && now.bad == 0 && count_open() == 0)
        for (unsigned i = 0; i < w.count && w.has_list; i++)
            w.fails = w.fails || status_of(w.list[i]) < 0;
    return w;
}

static const cl_event *events_of(const struct waits *w)
{
    return w->has_list ? w->list : NULL;
}

/** The event of a command: a place for it, or NULL. */
static cl_event *pick_event(cl_event *place)
{
    *place = NULL;
    return is_full(EVENT) || one_of(2) ? NULL : place;
}

enum outcome { REFUSED, LATER, FAILED, DONE };
static void add_event(cl_event event)
{
    cl_context context = NULL;

    d->clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL);
    add_object(EVENT, (struct object){.handle = event, .context = context});
}

/** Checks the result of an enqueued command. @fails: it waits for an event with an error. */
static enum outcome after_enqueue(cl_int error, cl_event *event, bool fails, bool may_fail)
{
    const bool good = check(error), open = is_checked() && count_open() != 0;
    cl_int status;

    if (!good) {
        if (event != NULL && *event != NULL) /* a command that blocks was enqueued, and failed */
            add_event(*event);
        return REFUSED;
    }
    if (event != NULL && *event == NULL)
        wrong("no event");
    if (event != NULL)
        add_event(*event);
    if (!is_checked() || open)
        return LATER;
    if (event == NULL)
        return fails ? FAILED : DONE;
    status = status_of(*event);
    if (status > 0)
        wrong("the command is not complete: status %d", status);
    if ((status < 0) != fails && !(may_fail && status < 0))
        wrong("the status of the command is %d", status);
    return status < 0 ? FAILED : DONE;
}

static void forget(struct shadow *s, size_t offset, size_t bytes)
{
    s->changes++;
    if (s->known != NULL)
        memset(s->known + offset, 0, bytes);
}

static void forget_all(void)
{
    for (struct shadow *s = pool.shadows; s != NULL; s = s->next)
        forget(s, 0, s->bytes);
}

static void learn(struct shadow *s, size_t offset, const uint8_t *data, size_t bytes)
{
    s->changes++;
    if (s->known == NULL)
        return;
    memcpy(s->data + offset, data, bytes);
    memset(s->known + offset, 1, bytes);
}

static void compare(struct shadow *s, size_t offset, const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; s->known != NULL && i < bytes; i++)
        if (s->known[offset + i] && s->data[offset + i] != data[i])
            wrong("byte %zu of a buffer of %zu bytes is 0x%02x, but 0x%02x was written", offset + i, s->bytes, data[i],
                  s->data[offset + i]);
}

static uint8_t *scratch(size_t bytes)
{
    return host[now.thread] + (bytes <= HOST_BYTES / 2 ? below(HOST_BYTES / 2) : 0);
}

static struct object object_of(enum kind kind, void *handle)
{
    struct object none = {0}, *found;

    lock();
    found = find_object(kind, handle);
    if (found != NULL)
        none = *found;
    unlock();
    return none;
}

#endif
