/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. A call completes its work before it returns, so that synchronisation never has to wait. */
#include "runtime/cuda/cu_priv.h"

#include <stdlib.h>

struct cu_stream {
    struct cu_stream *next;
    unsigned flags;
    int priority;
};
struct cu_event {
    struct cu_event *next;
    uint64_t time_ns;
    unsigned flags;
    bool recorded;
};
enum { EVENT_DISABLE_TIMING = 2 };

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
    struct cu_stream *s = out != NULL ? calloc(1, sizeof *s) : NULL;

    if (out == NULL || flags > 1) {
        free(s);
        return cu_return(cudaErrorInvalidValue);
    }
    if (s == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    *s = (struct cu_stream){.flags = flags, .priority = priority};
    rt_lock();
    s->next = streams;
    streams = s;
    rt_unlock();
    *out = s;
    return cudaSuccess;
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

/** Returns the error of the device: after a kernel has failed, all calls fail. The caller holds the lock. */
static cudaError_t check_device(void)
{
    return rt_machine() == NULL ? cudaErrorNoDevice : rt_stopped() ? cudaErrorLaunchFailure : cudaSuccess;
}

/** Returns the error of a call that waits for a stream. The call does not wait, because all work of the stream is complete. */
static cudaError_t check_stream(cudaStream_t stream)
{
    cudaError_t error;

    rt_lock();
    error = cu_is_stream(stream) ? check_device() : cudaErrorInvalidResourceHandle;
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
    cudaError_t error;

    (void)flags;
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
    struct cu_event *e = out != NULL ? calloc(1, sizeof *e) : NULL;

    if (out == NULL || flags > 7) {
        free(e);
        return cu_return(cudaErrorInvalidValue);
    }
    if (e == NULL)
        return cu_return(cudaErrorMemoryAllocation);
    e->flags = flags;
    rt_lock();
    e->next = events;
    events = e;
    rt_unlock();
    *out = e;
    return cudaSuccess;
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
    cudaError_t error = cudaErrorInvalidResourceHandle;

    (void)flags;
    rt_lock();
    if (rt_machine() == NULL) {
        error = cudaErrorNoDevice;
    } else if (is_event(event) && cu_is_stream(stream)) {
        event->recorded = true;
        event->time_ns = rt_now_ns();
        error = cudaSuccess;
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
    error = is_event(event) ? check_device() : cudaErrorInvalidResourceHandle;
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
