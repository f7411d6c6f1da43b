/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. A call completes its work before it returns, so that synchronisation never has to wait. */
#include "runtime/cuda/cu_priv.h"

#include <stdlib.h>

struct cu_stream {
    struct cu_stream *next;
    unsigned flags;
};
struct cu_event {
    struct cu_event *next;
    uint64_t time_ns;
    unsigned flags;
    bool recorded;
};
enum { EVENT_DISABLE_TIMING = 2, EVENT_INTERPROCESS = 4 };

/* All streams and events that exist. The lists are global, because a process has one device. A program may pass any value as a
 * handle, so a handle is valid only if one of these lists contains it. */
static struct cu_stream *streams;
static struct cu_event *events;

bool cu_is_stream(cudaStream_t stream)
{
    if ((uintptr_t)stream <= 2) /* 0: default stream; 1: cudaStreamLegacy; 2: cudaStreamPerThread */
        return true;
    for (const struct cu_stream *s = streams; s != NULL; s = s->next)
        if (s == stream)
            return true;
    return false;
}

static bool is_event(cudaEvent_t event)
{
    for (const struct cu_event *e = events; e != NULL; e = e->next)
        if (e == event)
            return true;
    return false;
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
        *s = (struct cu_stream){.next = streams, .flags = flags};
        streams = *out = s;
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
            free(stream);
            error = cudaSuccess;
            break;
        }
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
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return check_stream(stream);
}

CU_API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return check_stream(stream);
}

CU_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = 0;
    return cudaSuccess;
}

CU_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    enum { EXTERNAL = 1 };
    cudaError_t error;

    if (flags > EXTERNAL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    error = cu_is_stream(stream) && is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *user)
{
    cudaError_t error = function != NULL ? check_stream(stream) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        function(user);
    return cu_return(error);
}

CU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, void (*callback)(cudaStream_t, cudaError_t, void *), void *user,
                                         unsigned flags)
{
    cudaError_t error = callback != NULL && flags == 0 ? check_stream(stream) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        callback(stream, cudaSuccess, user);
    return cu_return(error);
}

void cu_streams_reset(void)
{
    while (streams != NULL) {
        struct cu_stream *s = streams;

        streams = s->next;
        free(s);
    }
    while (events != NULL) {
        struct cu_event *e = events;

        events = e->next;
        free(e);
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
            free(event);
            error = cudaSuccess;
            break;
        }
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
    error = !is_event(event) || !cu_is_stream(stream) ? cudaErrorInvalidResourceHandle
            : flags == EXTERNAL                       ? cudaErrorIllegalState /* it is for captures only */
                                                      : cu_device_error();
    if (error == cudaSuccess) {
        event->recorded = true;
        event->time_ns = rt_now_ns();
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, 0);
}

static cudaError_t check_event(cudaEvent_t event)
{
    cudaError_t error;

    rt_lock();
    error = is_event(event) ? cu_device_error() : cudaErrorInvalidResourceHandle;
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return check_event(event);
}

CU_API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return check_event(event);
}

CU_API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    cudaError_t error = cudaErrorInvalidResourceHandle;

    if (milliseconds == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    if (is_event(begin) && is_event(end) && begin->recorded && end->recorded &&
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
