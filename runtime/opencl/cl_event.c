/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of queues, and their events. */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

static struct _cl_event *event_of(struct rt_event *event)
{
    return (struct _cl_event *)(void *)((char *)event - offsetof(struct _cl_event, event));
}

static void event_retain(struct rt_event *event)
{
    cl_object_hold(event_of(event));
}

static void event_release(struct rt_event *event)
{
    cl_object_drop(event_of(event));
}

static struct _cl_event *event_create(cl_context context, cl_command_queue queue, cl_command_type type, enum rt_state state)
{
    struct _cl_event *event = cl_object_create(CL_KIND_EVENT, sizeof *event, context);

    if (event == NULL)
        return NULL;
    event->queue = queue;
    event->type = type;
    if (queue != NULL)
        cl_object_hold(queue);
    event->event.retain = event_retain;
    event->event.release = event_release;
    rt_event_init(&event->event, state);
    return event;
}

void cl_event_end(struct _cl_event *event)
{
    rt_event_fini(&event->event);
    if (event->queue != NULL)
        cl_object_drop(event->queue);
}

/* ---- commands -------------------------------------------------------------------------------------------------- */

static void command_drop(struct rt_command *rt)
{
    struct cl_command *command = (struct cl_command *)rt;

    for (unsigned i = 0; i < 2; i++)
        if (command->mems[i] != NULL)
            cl_object_drop(command->mems[i]);
    for (unsigned i = 0; i < command->object_count; i++)
        cl_object_drop(command->objects[i]);
    free(command->objects);
    free(command->memory);
    free(command);
}

/** Checks a list of events to wait for. @context: context that the events must have; NULL: the events need only have the same
 *  context. @empty: the error for a missing list. @empty is also the error for an invalid event, except that CL_INVALID_EVENT
 *  is returned instead of CL_INVALID_VALUE. */
static cl_int check_waits(cl_context context, cl_uint count, const cl_event *waits, cl_int empty)
{
    if ((count == 0) != (waits == NULL))
        return empty;
    for (cl_uint i = 0; i < count; i++) {
        if (!cl_object_is(waits[i], CL_KIND_EVENT))
            return empty == CL_INVALID_VALUE ? CL_INVALID_EVENT : empty;
        if (waits[i]->object.context != (context != NULL ? context : waits[0]->object.context))
            return CL_INVALID_CONTEXT;
    }
    return CL_SUCCESS;
}

cl_int cl_command_create(cl_command_queue queue, cl_command_type type, cl_uint wait_count, const cl_event *waits,
                         size_t bytes, int (*run)(struct rt_command *), struct cl_command **out)
{
    struct cl_command *command;
    cl_int error;

    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    error = check_waits(queue->object.context, wait_count, waits, CL_INVALID_EVENT_WAIT_LIST);
    if (error != CL_SUCCESS)
        return error;
    command = calloc(1, bytes);
    if (command == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    command->event = event_create(queue->object.context, queue, type, RT_QUEUED);
    command->command.waits = calloc(wait_count + 1u, sizeof *command->command.waits);
    if (command->event == NULL || command->command.waits == NULL) {
        cl_command_cancel(command);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < wait_count; i++) {
        command->command.waits[i] = &waits[i]->event;
        event_retain(&waits[i]->event);
    }
    command->command.wait_count = wait_count;
    command->command.event = &command->event->event;
    command->command.run = run;
    rt_site_take(&command->command.site);
    command->command.drop = command_drop;
    *out = command;
    return CL_SUCCESS;
}

void cl_command_hold_mem(struct cl_command *command, cl_mem mem)
{
    cl_object_hold(mem);
    command->mems[command->mems[0] != NULL] = mem;
}

void cl_command_cancel(struct cl_command *command)
{
    struct _cl_event *event = command->event;

    for (unsigned i = 0; i < command->command.wait_count; i++)
        event_release(command->command.waits[i]);
    free(command->command.waits);
    command_drop(&command->command);
    if (event != NULL) /* releases the user's reference, because the user does not get the event */
        cl_object_release_handle(event, CL_KIND_EVENT, CL_INVALID_EVENT);
}

cl_int cl_command_enqueue(cl_command_queue queue, struct cl_command *command, bool blocking, cl_event *event)
{
    struct _cl_event *own = command->event;
    cl_int error = CL_SUCCESS;

    event_retain(&own->event); /* adds a reference for the queue */
    rt_queue_add(&queue->queue, &command->command);
    if (event != NULL)
        *event = own;
    rt_unlock();
    if (blocking)
        rt_event_wait(&own->event);
    else
        rt_progress();
    if (blocking)
        error = own->event.error;
    if (event == NULL)
        cl_object_release_handle(own, CL_KIND_EVENT, CL_INVALID_EVENT);
    return error;
}

/* ---- the interface: events ----------------------------------------------------------------------------------------- */

cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int error;

    if (count == 0 || events == NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    error = check_waits(NULL, count, events, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count && error == CL_SUCCESS; i++)
        event_retain(&events[i]->event);
    rt_unlock();
    if (error != CL_SUCCESS)
        return error;
    for (cl_uint i = 0; i < count; i++)
        rt_event_wait(&events[i]->event);
    rt_lock();
    for (cl_uint i = 0; i < count; i++) {
        if (events[i]->event.error < 0)
            error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        event_release(&events[i]->event);
    }
    rt_unlock();
    return error;
}

static cl_int status_of(const struct _cl_event *event)
{
    static const cl_int status[] = {CL_QUEUED, CL_SUBMITTED, CL_RUNNING, CL_COMPLETE};

    if (event->event.state == RT_COMPLETE && event->event.error < 0)
        return event->event.error;
    if (event->queue == NULL && event->event.state != RT_COMPLETE)
        return CL_SUBMITTED;
    return status[event->event.state];
}

cl_int CL_API_CALL clGetEventInfo(cl_event event, cl_event_info info, size_t room, void *out, size_t *size)
{
    cl_int error;

    rt_progress();
    rt_lock();
    if (!cl_object_is(event, CL_KIND_EVENT))
        error = CL_INVALID_EVENT;
    else
        switch (info) {
        case CL_EVENT_COMMAND_QUEUE: error = CL_ANSWER(cl_command_queue, event->queue); break;
        case CL_EVENT_COMMAND_TYPE: error = CL_ANSWER(cl_command_type, event->type); break;
        case CL_EVENT_COMMAND_EXECUTION_STATUS: error = CL_ANSWER(cl_int, status_of(event)); break;
        case CL_EVENT_REFERENCE_COUNT: error = CL_ANSWER(cl_uint, event->object.references); break;
        case CL_EVENT_CONTEXT: error = CL_ANSWER(cl_context, event->object.context); break;
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info info, size_t room, void *out, size_t *size)
{
    static const enum rt_state states[] = {RT_QUEUED, RT_SUBMITTED, RT_RUNNING, RT_COMPLETE, RT_COMPLETE};
    cl_int error;

    rt_lock();
    if (!cl_object_is(event, CL_KIND_EVENT))
        error = CL_INVALID_EVENT;
    else if (event->queue == NULL || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
             event->event.state != RT_COMPLETE || event->event.error < 0)
        error = CL_PROFILING_INFO_NOT_AVAILABLE;
    else if (info < CL_PROFILING_COMMAND_QUEUED || info > CL_PROFILING_COMMAND_COMPLETE)
        error = CL_INVALID_VALUE;
    else
        error = CL_ANSWER(cl_ulong, event->event.times_ns[states[info - CL_PROFILING_COMMAND_QUEUED]]);
    rt_unlock();
    return error;
}

cl_event CL_API_CALL clCreateUserEvent(cl_context context, cl_int *error)
{
    struct _cl_event *event = NULL;
    cl_int result = CL_SUCCESS;

    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    else if ((event = event_create(context, NULL, CL_COMMAND_USER, RT_SUBMITTED)) == NULL)
        result = CL_OUT_OF_HOST_MEMORY;
    rt_unlock();
    cl_put_error(error, result);
    return event;
}

cl_int CL_API_CALL clSetUserEventStatus(cl_event event, cl_int status)
{
    cl_int error = CL_SUCCESS;

    rt_lock();
    if (!cl_object_is(event, CL_KIND_EVENT) || event->queue != NULL)
        error = CL_INVALID_EVENT;
    else if (status > CL_COMPLETE)
        error = CL_INVALID_VALUE;
    else if (event->event.state == RT_COMPLETE)
        error = CL_INVALID_OPERATION;
    else
        rt_event_complete(&event->event, status);
    rt_unlock();
    if (error == CL_SUCCESS)
        rt_progress();
    return error;
}

/** A callback of the user for an event, and its arguments. */
struct user_callback {
    void(CL_CALLBACK *notify)(cl_event event, cl_int status, void *context);
    void *context;
    cl_int status;
};

static void call_user(struct rt_event *event, enum rt_state state, int error, void *context)
{
    struct user_callback *user = context;

    (void)state;
    user->notify(event_of(event), error < 0 ? error : user->status, user->context);
    free(user);
}

cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int status, void(CL_CALLBACK *notify)(cl_event, cl_int, void *),
                                      void *context)
{
    struct user_callback *user;
    cl_int error = CL_SUCCESS;

    if (notify == NULL || (status != CL_SUBMITTED && status != CL_RUNNING && status != CL_COMPLETE))
        return CL_INVALID_VALUE;
    rt_lock();
    if (!cl_object_is(event, CL_KIND_EVENT)) {
        error = CL_INVALID_EVENT;
    } else {
        user = malloc(sizeof *user);
        if (user != NULL)
            *user = (struct user_callback){notify, context, status};
        if (user == NULL || !rt_event_on(&event->event,
                                         status == CL_SUBMITTED ? RT_SUBMITTED
                                         : status == CL_RUNNING ? RT_RUNNING
                                                                : RT_COMPLETE,
                                         call_user, user)) {
            free(user);
            error = CL_OUT_OF_HOST_MEMORY;
        }
    }
    rt_unlock();
    if (error == CL_SUCCESS)
        rt_progress();
    return error;
}

cl_int CL_API_CALL clRetainEvent(cl_event event)
{
    return cl_object_retain_handle(event, CL_KIND_EVENT, CL_INVALID_EVENT);
}

cl_int CL_API_CALL clReleaseEvent(cl_event event)
{
    return cl_object_release_handle(event, CL_KIND_EVENT, CL_INVALID_EVENT);
}

/* ---- the interface: markers and barriers ---------------------------------------------------------------------------- */

static int run_nothing(struct rt_command *command)
{
    (void)command;
    return CL_SUCCESS;
}

/** Enqueues a command that does nothing. @barrier: later commands wait for this command. @follows_all: this command waits for
 *  all earlier commands. */
static cl_int enqueue_idle(cl_command_queue queue, cl_command_type type, bool barrier, bool follows_all, cl_uint count,
                           const cl_event *waits, cl_event *event)
{
    struct cl_command *command;
    cl_int error;

    rt_lock();
    error = cl_command_create(queue, type, count, waits, sizeof *command, run_nothing, &command);
    if (error != CL_SUCCESS) {
        rt_unlock();
        return error;
    }
    command->command.barrier = barrier;
    command->command.follows_all = follows_all;
    return cl_command_enqueue(queue, command, false, event);
}

cl_int cl_enqueue_nothing(cl_command_queue queue, cl_command_type type, cl_uint count, const cl_event *waits, cl_event *event)
{
    return enqueue_idle(queue, type, false, false, count, waits, event);
}

cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event)
{
    return enqueue_idle(queue, CL_COMMAND_MARKER, false, count == 0, count, waits, event);
}

cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event)
{
    return enqueue_idle(queue, CL_COMMAND_BARRIER, true, count == 0, count, waits, event);
}

cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
    return event == NULL ? CL_INVALID_VALUE : enqueue_idle(queue, CL_COMMAND_MARKER, false, true, 0, NULL, event);
}

cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue)
{
    return enqueue_idle(queue, CL_COMMAND_BARRIER, true, true, 0, NULL, NULL);
}

cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *waits)
{
    cl_int error = CL_INVALID_COMMAND_QUEUE;

    rt_lock();
    if (cl_object_is(queue, CL_KIND_QUEUE))
        error = count == 0 || waits == NULL ? CL_INVALID_VALUE : check_waits(queue->object.context, count, waits, CL_INVALID_VALUE);
    rt_unlock();
    return error != CL_SUCCESS ? error : enqueue_idle(queue, CL_COMMAND_BARRIER, true, false, count, waits, NULL);
}
