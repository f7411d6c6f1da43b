/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. A call completes its work before it returns, so that synchronisation waits only for host functions. */
#include "runtime/cuda/cu_graph_priv.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_DISABLE_TIMING = 2, EVENT_INTERPROCESS = 4 };
#define PER_THREAD ((cudaStream_t)2)

/* All streams and events that exist. The lists are global, because a process has one device. A program may pass any value as a
 * handle, so a handle is valid only if one of these lists contains it. */
static struct cu_stream *streams;
static struct cu_event *events;
static unsigned long long next_id = 3; /* number of the next stream (cudaStreamGetId) */
enum { ACCESS_POLICY = 1, SYNCHRONIZATION = 3, PRIORITY = 8 }; /* enum cudaLaunchAttributeID: attributes that streams have */
/* The structure of cudaStreamPerThread, which exists when the thread has captured this stream. */
static _Thread_local struct cu_stream *per_thread;

bool cu_is_stream(cudaStream_t stream)
{
    if ((uintptr_t)stream <= 2) /* 0: default stream; 1: cudaStreamLegacy; 2: cudaStreamPerThread */
        return true;
    for (const struct cu_stream *s = streams; s != NULL; s = s->next)
        if (s == stream)
            return true;
    cu_trace_handle(stream);
    return false;
}

bool cu_is_event(cudaEvent_t event)
{
    for (const struct cu_event *e = events; e != NULL; e = e->next)
        if (e == event)
            return true;
    cu_trace_handle(event);
    return false;
}

struct cu_stream *cu_stream_of(cudaStream_t stream)
{
    return (uintptr_t)stream > 2 ? stream : stream == PER_THREAD ? per_thread : NULL;
}

struct cu_stream *cu_stream_make(cudaStream_t stream)
{
    if (stream == PER_THREAD && per_thread == NULL)
        per_thread = calloc(1, sizeof *per_thread);
    return cu_stream_of(stream);
}

/* ---- host functions that have not ended ------------------------------------------------------------------------- */

/* As cu_stream.after, of the default stream and of the thread's own default stream. */
static uint64_t default_after;
static _Thread_local uint64_t per_thread_after;
enum { NON_BLOCKING = 1 }; /* flag of a stream that is not ordered with the default stream */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/** Returns where the number of the call is that precedes the next work of a stream, or NULL if the handle is not valid; locked. */
static uint64_t *after_of(cudaStream_t stream)
{
    if ((uintptr_t)stream < 2)
        return &default_after;
    if (stream == PER_THREAD)
        return &per_thread_after;
    for (struct cu_stream *s = streams; s != NULL; s = s->next)
        if (s == stream)
            return &s->after;
    return NULL;
}

/** Returns the number of the latest call that precedes the next work of a stream. The default stream follows all blocking streams, and
 *  they follow it; locked. */
static uint64_t preceding(cudaStream_t stream)
{
    const uint64_t *own = after_of(stream);
    uint64_t number = own != NULL ? *own : 0;

    if (own == &default_after) {
        number = later(number, per_thread_after);
        for (const struct cu_stream *s = streams; s != NULL; s = s->next)
            number = (s->flags & NON_BLOCKING) == 0 ? later(number, s->after) : number;
    } else if (own != NULL && (stream == PER_THREAD || (stream->flags & NON_BLOCKING) == 0)) {
        number = later(number, default_after);
    }
    return number;
}

static bool are_calls(void)
{
    return !rt_call_ended(rt_call_last());
}

void cu_stream_settle(cudaStream_t stream)
{
    uint64_t number;

    if (!are_calls())
        return;
    rt_lock();
    number = preceding(stream);
    rt_unlock();
    rt_call_wait(number);
}

/** Calls a host function after the work of the stream. */
static void call_later(cudaStream_t stream, void (*function)(void *), void *user)
{
    const uint64_t number = rt_call(function, user); /* calls are made in their order, so it follows all earlier host functions */
    uint64_t *after;

    rt_lock();
    after = after_of(stream);
    if (after != NULL)
        *after = later(*after, number);
    rt_unlock();
}

struct cu_event *cu_events_first(void)
{
    return events;
}

void cu_event_record(cudaEvent_t event)
{
    event->recorded = true;
    event->time_ns = rt_now_ns();
}

CU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    struct cu_stream *s;
    cudaError_t error;

    (void)priority; /* the only priority is 0, which replaces all others */
    if (out == NULL || flags > 1)
        return cu_return(cudaErrorInvalidValue);
    s = calloc(1, sizeof *s);
    if (s == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess) {
        *s = (struct cu_stream){.next = streams, .flags = flags, .id = next_id++};
        streams = *out = s;
        cu_trace_created(s, CU_THING_STREAM, 0);
        s = NULL;
    }
    rt_unlock();
    free(s);
    return cu_return(error);
}

CU_API cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return cudaStreamCreateWithPriority(out, 0, 0);
}

CU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return cudaStreamCreateWithPriority(out, flags, 0);
}

CU_API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    cudaError_t error = cudaErrorInvalidResourceHandle;

    rt_lock();
    for (struct cu_stream **at = &streams; *at != NULL; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            cu_capture_forget_stream(stream);
            cu_trace_released(stream, stream);
            error = cudaSuccess;
            break;
        }
    if (error != cudaSuccess)
        cu_trace_handle(stream);
    rt_unlock();
    return cu_return(error);
}

/** Gets a number of a stream: its flags, or, if @flags is false, its priority. */
static cudaError_t get(cudaStream_t stream, bool flags, unsigned *out)
{
    cudaError_t error = cudaSuccess;

    if (out == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    if (!cu_is_stream(stream))
        error = cudaErrorInvalidResourceHandle;
    else
        *out = flags && (uintptr_t)stream > 2 ? stream->flags : 0; /* the only priority is 0 */
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *out)
{
    return get(stream, true, out);
}

CU_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *out)
{
    return get(stream, false, (unsigned *)out);
}

/** Returns the error of a call that waits for a stream. The call does not wait, because all work of the stream is complete. */
static cudaError_t check_stream(cudaStream_t stream)
{
    cudaError_t error;

    rt_lock();
    error = cu_is_stream(stream) ? cu_device_error() : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        error = cu_capture_forbids_wait(stream, false);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    cu_stream_settle(stream);
    return check_stream(stream);
}

CU_API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const cudaError_t error = check_stream(stream);
    bool ended;

    rt_lock();
    ended = rt_call_ended(preceding(stream));
    rt_unlock();
    return error == cudaSuccess && !ended ? cudaErrorNotReady : error;
}

CU_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = 0;
    return cudaSuccess;
}

/** Returns the error of a call for an attribute of a stream. Attributes are hints about caches and waiting, which have no effect. */
static cudaError_t check_attribute(cudaStream_t stream, int id, const void *value)
{
    bool found;

    rt_lock();
    found = cu_is_stream(stream);
    rt_unlock();
    if (!found)
        return cudaErrorInvalidResourceHandle;
    return value != NULL && (id == ACCESS_POLICY || id == SYNCHRONIZATION || id == PRIORITY) ? cudaSuccess : cudaErrorInvalidValue;
}

CU_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int id, const void *value)
{
    return cu_return(check_attribute(stream, id, value));
}

/** Gets the first value of an attribute, as cudaStreamSetAttribute() has no effect. */
CU_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int id, void *value)
{
    enum { VALUE_BYTES = 64, WAITS_AUTOMATICALLY = 1 };
    const cudaError_t error = check_attribute(stream, id, value);

    if (error == cudaSuccess) {
        memset(value, 0, VALUE_BYTES);
        *(int *)value = id == SYNCHRONIZATION ? WAITS_AUTOMATICALLY : 0;
    }
    return cu_return(error);
}

CU_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    cudaError_t error;

    rt_lock();
    error = cu_is_stream(to) && cu_is_stream(from) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *out)
{
    unsigned zero = 0;
    const cudaError_t error = out != NULL ? get(stream, false, &zero) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        *out = 0;
    return error;
}

/** Gets a number that no other stream of the process has: 1 and 2 are those of the default streams. */
CU_API cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *out)
{
    cudaError_t error = cudaErrorInvalidValue;

    rt_lock();
    if (out != NULL && !cu_is_stream(stream))
        error = cudaErrorInvalidResourceHandle;
    else if (out != NULL)
        error = cudaSuccess;
    if (error == cudaSuccess)
        *out = (uintptr_t)stream > 2 ? stream->id : stream == PER_THREAD ? 2 : 1;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    enum { EXTERNAL = 1 };
    cudaError_t error;

    if (flags > EXTERNAL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_is_stream(stream) && cu_is_event(event) ? cu_capture_wait(stream, event, flags == EXTERNAL)
        : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        *after_of(stream) = later(*after_of(stream), event->after);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user)
{
    cudaError_t error;

    if (function == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_device_error();
    const bool captures = cu_stream_captures(stream);
    if (error == cudaSuccess && !captures)
        error = cu_stream_check(stream);
    else if (error == cudaSuccess)
        error = cu_stream_submit(stream, &(struct cu_work){.type = CU_HOST, .host = {function, user}});
    rt_unlock();
    if (error == cudaSuccess && !captures)
        call_later(stream, function, user);
    return cu_return(error);
}

/** A call of a function for cudaStreamAddCallback(). */
struct callback {
    void (*function)(cudaStream_t, cudaError_t, void *);
    cudaStream_t stream;
    void *user;
};
static void call_back(void *context)
{
    const struct callback c = *(struct callback *)context;

    free(context);
    c.function(c.stream, cudaSuccess, c.user);
}

CU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, void (*callback)(cudaStream_t, cudaError_t, void *), void *user,
                                         unsigned flags)
{
    cudaError_t error = callback != NULL && flags == 0 ? check_stream(stream) : cudaErrorInvalidValue;
    struct callback *c = error == cudaSuccess ? malloc(sizeof *c) : NULL;

    if (error == cudaSuccess && c == NULL)
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        *c = (struct callback){callback, stream, user};
        call_later(stream, call_back, c);
    }
    return cu_return(error);
}

void cu_streams_reset(void)
{
    while (streams != NULL) {
        struct cu_stream *s = streams;

        streams = s->next;
        cu_nodes_clear(&s->tails);
        cu_trace_released(s, s);
    }
    while (events != NULL) {
        struct cu_event *e = events;

        events = e->next;
        cu_nodes_clear(&e->tails);
        cu_trace_released(e, e);
    }
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

CU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    struct cu_event *e;
    cudaError_t error;

    if (out == NULL || flags > 7 || (flags & (EVENT_INTERPROCESS | EVENT_DISABLE_TIMING)) == EVENT_INTERPROCESS)
        return cu_return(cudaErrorInvalidValue);
    e = calloc(1, sizeof *e);
    if (e == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    rt_lock();
    error = cu_device_error();
    if (error == cudaSuccess) {
        *e = (struct cu_event){.next = events, .flags = flags};
        events = *out = e;
        cu_trace_created(e, CU_THING_EVENT, 0);
        e = NULL;
    }
    rt_unlock();
    free(e);
    return cu_return(error);
}

CU_API cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return cudaEventCreateWithFlags(out, 0);
}

CU_API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t error = cudaErrorInvalidResourceHandle;

    rt_lock();
    for (struct cu_event **at = &events; *at != NULL; at = &(*at)->next)
        if (*at == event) {
            *at = event->next;
            cu_capture_forget_event(event);
            cu_trace_released(event, event);
            error = cudaSuccess;
            break;
        }
    if (error != cudaSuccess)
        cu_trace_handle(event);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    enum { EXTERNAL = 1 };
    cudaError_t error;

    if (flags > EXTERNAL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_is_event(event) && cu_is_stream(stream) ? cu_capture_record(stream, event, flags == EXTERNAL)
        : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess)
        event->after = preceding(stream);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, 0);
}

/** Sets *@after to the number of the call that the event follows. */
static cudaError_t check_event(cudaEvent_t event, uint64_t *after)
{
    cudaError_t error;

    rt_lock();
    *after = 0;
    error = cu_is_event(event) ? cu_device_error() : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && event->captured) {
        error = cudaErrorCapturedEvent;
        cu_capture_invalidate(event->capture);
    }
    if (error == cudaSuccess)
        *after = event->after;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    uint64_t after;
    const cudaError_t error = check_event(event, &after);

    rt_call_wait(after);
    return error;
}

CU_API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    uint64_t after;
    const cudaError_t error = check_event(event, &after);

    return error == cudaSuccess && !rt_call_ended(after) ? cudaErrorNotReady : error;
}

CU_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    cudaError_t error = cudaErrorInvalidResourceHandle;

    if (milliseconds == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    if (cu_is_event(begin) && cu_is_event(end) && begin->captured + end->captured == 0 && begin->recorded && end->recorded &&
        ((begin->flags | end->flags) & EVENT_DISABLE_TIMING) == 0) {
        *milliseconds = (float)((double)((int64_t)(end->time_ns - begin->time_ns)) * 1e-6);
        error = cudaSuccess;
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    return cudaEventElapsedTime(milliseconds, begin, end);
}
