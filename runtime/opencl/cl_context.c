/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts and command queues. */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

/** Calls the callbacks that the user has registered for the destruction of an object, and frees their list. */
static void call_destructors(struct cl_destructor *list, void *object)
{
    while (list != NULL) {
        struct cl_destructor *d = list;

        list = d->next;
        d->notify(object, d->context);
        free(d);
    }
}

void cl_context_end(struct _cl_context *context)
{
    call_destructors(context->destructors, context);
    cl_svm_end(context);
    free(context->properties);
}

/** Checks a list of properties, which ends with 0, and sets *@bytes to its size. */
static cl_int check_properties(const cl_context_properties *list, size_t *bytes)
{
    bool platform = false, sync = false;

    *bytes = 0;
    if (list == NULL)
        return CL_SUCCESS;
    for (; list[*bytes] != 0; *bytes += 2) {
        const cl_context_properties value = list[*bytes + 1];

        switch (list[*bytes]) {
        case CL_CONTEXT_PLATFORM:
            if (platform)
                return CL_INVALID_PROPERTY;
            if ((cl_platform_id)value != &cl_the_platform)
                return CL_INVALID_PLATFORM;
            platform = true;
            break;
        case CL_CONTEXT_INTEROP_USER_SYNC:
            if (sync || (value != CL_TRUE && value != CL_FALSE))
                return CL_INVALID_PROPERTY;
            sync = true;
            break;
        default: return CL_INVALID_PROPERTY;
        }
    }
    *bytes = (*bytes + 1) * sizeof *list;
    return CL_SUCCESS;
}

cl_context CL_API_CALL clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
                                       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                       cl_int *error)
{
    struct _cl_context *context = NULL;
    size_t bytes;
    cl_int result = check_properties(properties, &bytes);

    if (result == CL_SUCCESS && (devices == NULL || count == 0 || (notify == NULL && user != NULL)))
        result = CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count && result == CL_SUCCESS; i++)
        if (devices[i] != &cl_the_device)
            result = CL_INVALID_DEVICE;
    rt_lock();
    if (result == CL_SUCCESS && rt_machine() == NULL)
        result = CL_DEVICE_NOT_AVAILABLE;
    if (result == CL_SUCCESS && (context = cl_object_create(CL_KIND_CONTEXT, sizeof *context, NULL)) == NULL)
        result = CL_OUT_OF_HOST_MEMORY;
    if (result == CL_SUCCESS && bytes != 0) {
        context->properties = malloc(bytes);
        if (context->properties != NULL) {
            memcpy(context->properties, properties, bytes);
            context->property_bytes = bytes;
        }
    }
    rt_unlock();
    cl_put_error(error, result);
    return context;
}

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
                                               void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                               void *user, cl_int *error)
{
    cl_device_id device;
    size_t bytes;
    cl_int result = check_properties(properties, &bytes);

    if (result == CL_SUCCESS)
        result = clGetDeviceIDs(&cl_the_platform, type, 1, &device, NULL);
    if (result != CL_SUCCESS) {
        cl_put_error(error, result);
        return NULL;
    }
    return clCreateContext(properties, 1, &device, notify, user, error);
}

cl_int CL_API_CALL clRetainContext(cl_context context)
{
    return cl_object_retain_handle(context, CL_KIND_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clReleaseContext(cl_context context)
{
    return cl_object_release_handle(context, CL_KIND_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info info, size_t room, void *out, size_t *size)
{
    cl_int error;

    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT))
        error = CL_INVALID_CONTEXT;
    else
        switch (info) {
        case CL_CONTEXT_REFERENCE_COUNT: error = CL_ANSWER(cl_uint, context->object.references); break;
        case CL_CONTEXT_NUM_DEVICES: error = CL_ANSWER(cl_uint, 1); break;
        case CL_CONTEXT_DEVICES: error = CL_ANSWER(cl_device_id, &cl_the_device); break;
        case CL_CONTEXT_PROPERTIES: error = cl_answer(context->properties, context->property_bytes, room, out, size); break;
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context, void(CL_CALLBACK *notify)(cl_context, void *),
                                                  void *user)
{
    struct cl_destructor *d;
    cl_int error = CL_SUCCESS;

    if (notify == NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        error = CL_INVALID_CONTEXT;
    } else if ((d = malloc(sizeof *d)) == NULL) {
        error = CL_OUT_OF_HOST_MEMORY;
    } else {
        *d = (struct cl_destructor){context->destructors, (void(CL_CALLBACK *)(void *, void *))notify, user};
        context->destructors = d;
    }
    rt_unlock();
    return error;
}

/* ---- queues ---------------------------------------------------------------------------------------------------- */

void cl_queue_end(struct _cl_command_queue *queue)
{
    rt_queue_fini(&queue->queue);
    free(queue->list);
}

static cl_command_queue create_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                     const cl_queue_properties *list, size_t bytes, cl_int *error)
{
    const cl_command_queue_properties known = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE,
                                      others = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
    struct _cl_command_queue *queue = NULL;
    cl_int result = CL_SUCCESS;

    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    else if (device != &cl_the_device)
        result = CL_INVALID_DEVICE;
    else if ((properties & ~(known | others)) != 0)
        result = CL_INVALID_VALUE;
    else if ((properties & others) != 0)
        result = CL_INVALID_QUEUE_PROPERTIES;
    else if ((queue = cl_object_create(CL_KIND_QUEUE, sizeof *queue, context)) == NULL)
        result = CL_OUT_OF_HOST_MEMORY;
    if (result == CL_SUCCESS) {
        queue->properties = properties;
        if (bytes != 0 && (queue->list = malloc(bytes)) != NULL) {
            memcpy(queue->list, list, bytes);
            queue->list_bytes = bytes;
        }
        rt_queue_init(&queue->queue, (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0,
                      CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    }
    rt_unlock();
    cl_put_error(error, result);
    return queue;
}

cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                  cl_command_queue_properties properties, cl_int *error)
{
    return create_queue(context, device, properties, NULL, 0, error);
}

cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                const cl_queue_properties *list, cl_int *error)
{
    cl_command_queue_properties properties = 0;
    cl_int result = CL_SUCCESS;
    size_t count = 0;

    for (; list != NULL && list[count] != 0; count += 2)
        if (list[count] == CL_QUEUE_PROPERTIES)
            properties = (cl_command_queue_properties)list[count + 1];
        else
            result = list[count] == CL_QUEUE_SIZE ? CL_INVALID_QUEUE_PROPERTIES : CL_INVALID_VALUE;
    if (result != CL_SUCCESS) {
        cl_put_error(error, result);
        return NULL;
    }
    return create_queue(context, device, properties, list, list != NULL ? (count + 1) * sizeof *list : 0, error);
}

cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties, cl_bool enable,
                                             cl_command_queue_properties *old)
{
    (void)queue, (void)properties, (void)enable, (void)old;
    return CL_INVALID_OPERATION; /* the result that OpenCL 1.1 specifies */
}

cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue)
{
    return cl_object_retain_handle(queue, CL_KIND_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
    rt_progress(); /* by the specification, this function also flushes the queue */
    return cl_object_release_handle(queue, CL_KIND_QUEUE, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info info, size_t room, void *out,
                                         size_t *size)
{
    cl_int error;

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        error = CL_INVALID_COMMAND_QUEUE;
    else
        switch (info) {
        case CL_QUEUE_CONTEXT: error = CL_ANSWER(cl_context, queue->object.context); break;
        case CL_QUEUE_DEVICE: error = CL_ANSWER(cl_device_id, &cl_the_device); break;
        case CL_QUEUE_REFERENCE_COUNT: error = CL_ANSWER(cl_uint, queue->object.references); break;
        case CL_QUEUE_PROPERTIES: error = CL_ANSWER(cl_command_queue_properties, queue->properties); break;
        case CL_QUEUE_PROPERTIES_ARRAY: error = cl_answer(queue->list, queue->list_bytes, room, out, size); break;
        case CL_QUEUE_DEVICE_DEFAULT: error = CL_ANSWER(cl_command_queue, NULL); break;
        case CL_QUEUE_SIZE: error = CL_INVALID_COMMAND_QUEUE; break; /* only a queue on the device has a size */
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}

static cl_int hold_queue(cl_command_queue queue)
{
    cl_int error = CL_SUCCESS;

    rt_lock();
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        error = CL_INVALID_COMMAND_QUEUE;
    else
        cl_object_hold(queue);
    rt_unlock();
    return error;
}

static void drop_queue(cl_command_queue queue)
{
    rt_lock();
    cl_object_drop(queue);
    rt_unlock();
}

cl_int CL_API_CALL clFlush(cl_command_queue queue)
{
    cl_int error = hold_queue(queue);

    if (error == CL_SUCCESS) {
        rt_progress();
        drop_queue(queue);
    }
    return error;
}

cl_int CL_API_CALL clFinish(cl_command_queue queue)
{
    cl_int error = hold_queue(queue);

    if (error == CL_SUCCESS) {
        rt_queue_wait(&queue->queue);
        drop_queue(queue);
    }
    return error;
}
