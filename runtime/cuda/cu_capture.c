/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture of streams. During a capture the work of a stream becomes nodes of a graph, and is not executed. A capture begins in
 * one stream, and extends to each stream that waits for an event which was recorded in the capture. Calls that a capture forbids
 * make it invalid. The errors are those of an H100 (tests/runtime/devices/), and otherwise those of CUDA's documentation.
 */
#include "runtime/cuda/cu_graph_priv.h"

#include <pthread.h>
#include <stdlib.h>

enum mode { GLOBAL, THREAD_LOCAL, RELAXED };
struct cu_capture {
    struct cu_capture *next;
    struct cu_stream *origin, *streams; /* stream in which the capture began; all its streams, the newest first */
    struct cu_graph *graph;
    bool extends;    /* the capture adds nodes to a graph that the program had created before the capture */
    bool invalid;
    enum mode mode;
    pthread_t thread; /* thread that has begun the capture */
    uint64_t id;
};

/* All captures. The list is global, because a process has one device. */
static struct cu_capture *captures;
static uint64_t last_id;
static _Thread_local enum mode thread_mode; /* set by cudaThreadExchangeStreamCaptureMode(): determines which captures forbid
                                             * calls of this thread */

static void join(struct cu_capture *c, struct cu_stream *s)
{
    s->capture = c;
    s->next_in_capture = c->streams;
    c->streams = s;
}

/** Removes a capture, and frees its graph unless @keeps_graph. */
static void end(struct cu_capture *c, bool keeps_graph)
{
    for (struct cu_stream *s = c->streams, *next; s != NULL; s = next) {
        next = s->next_in_capture;
        s->capture = NULL;
        cu_nodes_clear(&s->tails);
    }
    for (struct cu_event *e = cu_events_first(); e != NULL; e = e->next)
        if (e->capture == c) {
            e->capture = NULL;
            cu_nodes_clear(&e->tails);
        }
    for (struct cu_capture **at = &captures; *at != NULL; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    c->graph->captures = false;
    if (!keeps_graph && !c->extends)
        cu_graph_free(c->graph);
    free(c);
}

void cu_capture_invalidate(struct cu_capture *c)
{
    if (c != NULL)
        c->invalid = true;
}

void cu_captures_reset(void)
{
    while (captures != NULL)
        end(captures, false);
}

void cu_capture_forget_graph(const struct cu_graph *graph)
{
    struct cu_capture *c = graph->captures ? captures : NULL;

    while (c != NULL && c->graph != graph)
        c = c->next;
    if (c != NULL)
        end(c, true);
}

/** Marks the last nodes of the stream in which the capture began, and all nodes on which these depend. */
static void mark_joined(const struct cu_capture *c)
{
    for (size_t i = 0; i < c->graph->nodes.count; i++)
        c->graph->nodes.node[i]->marked = false;
    for (size_t i = 0; i < c->origin->tails.count; i++)
        c->origin->tails.node[i]->marked = true;
    for (size_t i = c->graph->nodes.count; i-- > 0;) /* a node depends only on nodes that were added before it */
        for (size_t k = 0; c->graph->nodes.node[i]->marked && k < c->graph->nodes.node[i]->needs.count; k++)
            c->graph->nodes.node[i]->needs.node[k]->marked = true;
}

/** Returns true if the last nodes of a stream are marked. */
static bool is_stream_joined(const struct cu_stream *s)
{
    for (size_t i = 0; i < s->tails.count; i++)
        if (!s->tails.node[i]->marked)
            return false;
    return true;
}

/** Returns true if the stream in which the capture began waits for the work of all other streams. */
static bool is_joined(const struct cu_capture *c)
{
    mark_joined(c);
    for (const struct cu_stream *s = c->streams; s != NULL; s = s->next_in_capture)
        if (!is_stream_joined(s))
            return false;
    return true;
}

void cu_capture_forget_stream(struct cu_stream *s)
{
    struct cu_capture *c = s->capture;

    if (c == NULL)
        return;
    if (c->origin == s) {
        end(c, false);
        return;
    }
    mark_joined(c);
    c->invalid = c->invalid || !is_stream_joined(s); /* the work of the stream can no longer be joined */
    for (struct cu_stream **at = &c->streams; *at != NULL; at = &(*at)->next_in_capture)
        if (*at == s) {
            *at = s->next_in_capture;
            break;
        }
    cu_nodes_clear(&s->tails);
}

void cu_capture_forget_event(struct cu_event *e)
{
    cu_nodes_clear(&e->tails);
}

/* ---- work ---------------------------------------------------------------------------------------------------------- */

/** Called for work in the default stream. This work would wait for all streams that are not independent of the default stream.
 *  Therefore makes the captures of these streams invalid. Returns true if there is such a capture. */
static bool blocks_default_stream(void)
{
    bool found = false;

    for (struct cu_capture *c = captures; c != NULL; c = c->next)
        for (const struct cu_stream *s = c->streams; s != NULL; s = s->next_in_capture)
            if ((s->flags & CU_STREAM_NON_BLOCKING) == 0)
                found = c->invalid = true;
    return found;
}

cudaError_t cu_capture_forbids(bool uses_default_stream)
{
    bool found = false;

    if (uses_default_stream && blocks_default_stream())
        return cudaErrorStreamCaptureImplicit;
    for (struct cu_capture *c = captures; c != NULL && thread_mode != RELAXED; c = c->next)
        if (pthread_equal(c->thread, pthread_self()) ? c->mode != RELAXED : c->mode == GLOBAL && thread_mode == GLOBAL)
            found = c->invalid = true;
    return found ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t cu_capture_forbids_wait(cudaStream_t stream, bool device)
{
    struct cu_stream *s = cu_stream_of(stream);

    if (device) {
        for (struct cu_capture *c = captures; c != NULL; c = c->next)
            c->invalid = true;
        return captures != NULL ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
    }
    if (s == NULL && stream != (cudaStream_t)2 && blocks_default_stream())
        return cudaErrorStreamCaptureImplicit;
    if (s == NULL || s->capture == NULL)
        return cudaSuccess;
    s->capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
}

/** Adds work to the capture of a stream. */
static cudaError_t capture_work(struct cu_stream *s, const struct cu_work *work)
{
    struct cu_capture *c = s->capture;
    struct cu_node *node;
    cudaError_t error;

    if (c->invalid)
        return cudaErrorStreamCaptureInvalidated;
    error = cu_device_error();
    if (error == cudaSuccess)
        error = cu_work_check(work);
    if (error == cudaSuccess)
        error = cu_graph_add(c->graph, &s->tails, work, &node);
    if (error == cudaSuccess) {
        cu_nodes_clear(&s->tails);
        error = cu_nodes_add(&s->tails, node) ? cudaSuccess : cudaErrorMemoryAllocation;
    }
    c->invalid = c->invalid || error == cudaErrorMemoryAllocation;
    return error;
}

bool cu_capture_may_free(const struct cu_capture *c, const void *pointer)
{
    return cu_graph_may_free(c->graph, pointer);
}

bool cu_stream_captures(cudaStream_t stream)
{
    return cu_is_stream(stream) && cu_stream_of(stream) != NULL && cu_stream_of(stream)->capture != NULL;
}

cudaError_t cu_stream_check(cudaStream_t stream)
{
    if (!cu_is_stream(stream))
        return cudaErrorInvalidResourceHandle;
    return cu_stream_of(stream) == NULL && stream != (cudaStream_t)2 && blocks_default_stream() ? cudaErrorStreamCaptureImplicit
                                                                                                 : cudaSuccess;
}

cudaError_t cu_stream_submit(cudaStream_t stream, const struct cu_work *work)
{
    const cudaError_t error = cu_stream_check(stream);

    if (error == cudaSuccess && cu_stream_captures(stream))
        return capture_work(cu_stream_of(stream), work);
    return error == cudaSuccess ? cu_work_run(work) : error;
}

cudaError_t cu_capture_record(cudaStream_t stream, cudaEvent_t event, bool external)
{
    struct cu_stream *s = cu_stream_of(stream);
    struct cu_nodes tails = {.node = NULL};
    cudaError_t error = cu_device_error();

    if (error != cudaSuccess)
        return error;
    if (s == NULL || s->capture == NULL) {
        if (external)
            return cudaErrorIllegalState;
        if (s == NULL && stream != (cudaStream_t)2 && blocks_default_stream())
            return cudaErrorStreamCaptureImplicit;
        cu_capture_forget_event(event);
        event->captured = false;
        event->capture = NULL;
        cu_event_record(event);
        return cudaSuccess;
    }
    if (external)
        return capture_work(s, &(struct cu_work){.type = CU_RECORD, .event = event});
    if (s->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (!cu_nodes_add_all(&tails, &s->tails)) {
        cu_nodes_clear(&tails);
        return cudaErrorMemoryAllocation;
    }
    cu_capture_forget_event(event);
    event->tails = tails;
    event->captured = true;
    event->capture = s->capture;
    return cudaSuccess;
}

cudaError_t cu_capture_wait(cudaStream_t stream, cudaEvent_t event, bool external)
{
    struct cu_stream *s = cu_stream_of(stream);
    struct cu_capture *c = s != NULL ? s->capture : NULL;

    if (external)
        return c != NULL ? capture_work(s, &(struct cu_work){.type = CU_WAIT, .event = event}) : cudaErrorIllegalState;
    if (c != NULL && c->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (event->captured && event->capture == NULL)
        return cudaErrorCapturedEvent; /* the capture has ended */
    if (!event->captured) {
        if (c == NULL || !event->recorded) /* a wait outside of a capture has nothing to wait for, and an event that was
                                            * never recorded stands for no work */
            return cudaSuccess;
        c->invalid = true; /* a graph cannot depend on work outside the graph */
        return cudaErrorStreamCaptureIsolation;
    }
    if (event->capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (c != NULL && c != event->capture) {
        c->invalid = event->capture->invalid = true;
        return cudaErrorStreamCaptureMerge;
    }
    if (c == NULL) {
        s = cu_stream_make(stream);
        if (s == NULL) { /* the default stream cannot be captured; or the host has no memory */
            event->capture->invalid = true;
            return (uintptr_t)stream <= 1 ? cudaErrorStreamCaptureImplicit : cudaErrorMemoryAllocation;
        }
        join(event->capture, s);
    }
    return cu_nodes_add_all(&s->tails, &event->tails) ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* ---- functions of the program ------------------------------------------------------------------------------------------ */

CU_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *needs,
                                                 const void *edges, size_t count, int mode)
{
    struct cu_capture *c = NULL;
    struct cu_stream *s = NULL;
    cudaError_t error = cudaSuccess;

    if (mode < GLOBAL || mode > RELAXED)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    if (!cu_is_stream(stream))
        error = cudaErrorInvalidResourceHandle;
    else if ((uintptr_t)stream <= 1)
        error = cudaErrorStreamCaptureUnsupported;
    else if (graph != NULL ? !cu_is_graph(graph) || graph->captures || !cu_graph_has(graph, needs, count) : count != 0)
        error = cudaErrorInvalidValue;
    else if (!cu_edges_are_plain(edges, count))
        error = cudaErrorNotSupported;
    else
        error = cu_device_error();
    if (error == cudaSuccess) {
        s = cu_stream_make(stream);
        c = calloc(1, sizeof *c);
        error = s == NULL || c == NULL ? cudaErrorMemoryAllocation : s->capture != NULL ? cudaErrorIllegalState : cudaSuccess;
    }
    if (error == cudaSuccess && graph == NULL)
        error = cu_graph_new(&c->graph);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cu_nodes_add(&s->tails, needs[i]) ? cudaSuccess : cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        if (graph != NULL)
            c->graph = graph;
        else
            cu_graph_publish(c->graph);
        c->extends = graph != NULL;
        c->graph->captures = true;
        c->mode = (enum mode)mode;
        c->thread = pthread_self();
        c->id = ++last_id;
        c->origin = s;
        c->next = captures;
        captures = c;
        join(c, s);
        c = NULL;
    }
    free(c);
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode)
{
    return cudaStreamBeginCaptureToGraph(stream, NULL, NULL, NULL, 0, mode);
}

CU_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    struct cu_stream *s;
    struct cu_capture *c = NULL;
    cudaError_t error = cudaErrorInvalidResourceHandle;

    if (out != NULL)
        *out = NULL;
    rt_lock();
    if (cu_is_stream(stream)) {
        s = cu_stream_of(stream);
        c = s != NULL ? s->capture : NULL;
        error = c == NULL                                                           ? cudaErrorIllegalState
                : c->origin != s                                                    ? cudaErrorStreamCaptureUnmatched
                : c->mode != RELAXED && !pthread_equal(c->thread, pthread_self())   ? cudaErrorStreamCaptureWrongThread
                : c->invalid                                                        ? cudaErrorStreamCaptureInvalidated
                : !is_joined(c)                                                     ? cudaErrorStreamCaptureUnjoined
                                                                                    : cudaSuccess;
        if (error == cudaErrorStreamCaptureUnmatched)
            c->invalid = true;
        else if (c != NULL && error != cudaErrorStreamCaptureWrongThread) {
            if (error == cudaSuccess && out != NULL) {
                *out = c->graph;
                if (!c->extends)
                    cu_trace_created(c->graph, CU_THING_GRAPH, 0);
            }
            end(c, error == cudaSuccess && out != NULL);
        }
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **needs, const void **edges, size_t *count)
{
    enum { NONE, ACTIVE, INVALID };
    const struct cu_stream *s;
    const struct cu_capture *c;
    cudaError_t error = cudaSuccess;

    if (status == NULL)
        return cu_return(cudaErrorInvalidValue);
    rt_lock();
    s = cu_is_stream(stream) ? cu_stream_of(stream) : NULL;
    if (!cu_is_stream(stream))
        error = cudaErrorInvalidResourceHandle;
    else if ((uintptr_t)stream <= 1 && blocks_default_stream())
        error = cudaErrorStreamCaptureImplicit;
    if (error == cudaSuccess) {
        c = s != NULL ? s->capture : NULL;
        *status = c == NULL ? NONE : c->invalid ? INVALID : ACTIVE;
        if (c != NULL && !c->invalid) {
            if (id != NULL)
                *id = c->id;
            if (graph != NULL)
                *graph = c->graph;
            if (needs != NULL)
                *needs = s->tails.node;
            if (edges != NULL)
                *edges = NULL;
            if (count != NULL)
                *count = s->tails.count;
        }
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status)
{
    return cudaStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL);
}

CU_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *needs, const void *edges,
                                                       size_t count, unsigned flags)
{
    enum { ADD, SET };
    struct cu_nodes tails = {.node = NULL}; /* @needs may be the list of cudaStreamGetCaptureInfo(), which is that of the stream */
    struct cu_stream *s;
    cudaError_t error = cudaSuccess;

    rt_lock();
    s = cu_is_stream(stream) ? cu_stream_of(stream) : NULL;
    if (!cu_is_stream(stream))
        error = cudaErrorInvalidResourceHandle;
    else if (s == NULL || s->capture == NULL)
        error = cudaErrorIllegalState;
    else if (s->capture->invalid)
        error = cudaErrorStreamCaptureInvalidated;
    else if (flags > SET || !cu_graph_has(s->capture->graph, needs, count))
        error = cudaErrorInvalidValue;
    else if (!cu_edges_are_plain(edges, count))
        error = cudaErrorNotSupported;
    if (error == cudaSuccess && flags == ADD && !cu_nodes_add_all(&tails, &s->tails))
        error = cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cu_nodes_add(&tails, needs[i]) ? cudaSuccess : cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        cu_nodes_clear(&s->tails);
        s->tails = tails;
    } else {
        cu_nodes_clear(&tails);
    }
    rt_unlock();
    return cu_return(error);
}

CU_API cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode)
{
    const enum mode before = thread_mode;

    if (mode == NULL || *mode < GLOBAL || *mode > RELAXED)
        return cu_return(cudaErrorInvalidValue);
    thread_mode = (enum mode)*mode;
    *mode = (int)before;
    return cu_return(cudaSuccess);
}
