/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the functions of the OpenCL driver at random, with live, released, foreign and NULL handles, and with arguments at
 * and past their limits (prop_calls.h describes the options). The calls go through the driver's dispatch table and not
 * through a loader, because a loader reads the memory of every handle.
 *
 * What must hold: each error is one of the specification. A call with an invalid handle fails; if all other arguments are
 * valid, with the error for this handle. A command is complete when the call returns unless a user event is open. A read
 * gives the bytes that were written. A query writes no byte past the given size. Releases and retains change the reference
 * count by one.
 */
#include "tests/runtime/calls/prop_opencl_buffers.h"
#include "tests/runtime/calls/prop_opencl_queries.h"

/* ---- contexts, queues, references -------------------------------------------------------------------------------- */

static void CL_CALLBACK on_destroy(void *handle, void *user)
{
    (void)handle;
    __atomic_fetch_add((uint64_t *)user, 1, __ATOMIC_RELAXED);
}
static uint64_t destroyed;

static void create_context(void)
{
    const cl_context_properties list[] = {one_of(4) ? (cl_context_properties)next_random() : CL_CONTEXT_PLATFORM,
                                          one_of(4) ? 0 : (cl_context_properties)platform, one_of(4)
                                              ? CL_CONTEXT_INTEROP_USER_SYNC : 0, 1, 0};
    cl_device_id devices[2] = {device, one_of(2) ? device : NULL};
    cl_int error;
    cl_context context;

    lock();
    const bool full = pool.count[CONTEXT] >= 6;
    unlock();
    if (full)
        return;
    now.calm = false;
    if (one_of(2))
        context = CALL(clCreateContext, one_of(2) ? NULL : list, below(3), one_of(8) ? NULL : devices, NULL, one_of(8)
                       ? devices : NULL, &error);
    else
        context = CALL(clCreateContextFromType, one_of(2) ? NULL : list, one_of(2) ? CL_DEVICE_TYPE_GPU : next_random(), NULL,
                       NULL, &error);
    if (check_object(context, error))
        add_object(CONTEXT, (struct object){.handle = context, .context = context});
}

static void create_queue(void)
{
    const cl_command_queue_properties known[] = {0, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 3, 4,
                                                 1u << 31, 6};
    const cl_command_queue_properties flags = known[below(now.calm ? 4 : 7)];
    const cl_queue_properties list[] = {now.calm || one_of(2) ? CL_QUEUE_PROPERTIES : PICK(sizes), flags, one_of(8)
                                        ? CL_QUEUE_SIZE : 0, 9, 0};
    cl_context context;
    cl_command_queue queue;
    cl_int error;

    if (is_full(QUEUE))
        return;
    context = handle_of(CONTEXT);
    if (one_of(2)) {
        now.calm = now.calm && list[2] == 0;
        queue = CALL(clCreateCommandQueueWithProperties, context, now.calm || !one_of(6) ? device : NULL, one_of(4) ? NULL
                     : list, &error);
    } else {
        queue = CALL(clCreateCommandQueue, context, now.calm || !one_of(6) ? device : NULL, flags, &error);
    }
    if (check_object(queue, error))
        add_object(QUEUE, (struct object){.handle = queue, .context = context});
}

static cl_int retain(enum kind kind, void *handle)
{
    switch (kind) {
    case CONTEXT: return CALL(clRetainContext, handle);
    case QUEUE: return CALL(clRetainCommandQueue, handle);
    case MEM: return CALL(clRetainMemObject, handle);
    case PROGRAM: return CALL(clRetainProgram, handle);
    case KERNEL: return CALL(clRetainKernel, handle);
    case EVENT: return CALL(clRetainEvent, handle);
    default: return CALL(clRetainSampler, handle);
    }
}

static cl_int release(enum kind kind, void *handle)
{
    switch (kind) {
    case CONTEXT: return CALL(clReleaseContext, handle);
    case QUEUE: return CALL(clReleaseCommandQueue, handle);
    case MEM: return CALL(clReleaseMemObject, handle);
    case PROGRAM: return CALL(clReleaseProgram, handle);
    case KERNEL: return CALL(clReleaseKernel, handle);
    case EVENT: return CALL(clReleaseEvent, handle);
    default: return CALL(clReleaseSampler, handle);
    }
}

static cl_uint count_references(enum kind kind, void *handle)
{
    cl_uint count = 0;

    switch (kind) {
    case CONTEXT: d->clGetContextInfo(handle, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL); break;
    case QUEUE: d->clGetCommandQueueInfo(handle, CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL); break;
    case MEM: d->clGetMemObjectInfo(handle, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL); break;
    case PROGRAM: d->clGetProgramInfo(handle, CL_PROGRAM_REFERENCE_COUNT, sizeof count, &count, NULL); break;
    case KERNEL: d->clGetKernelInfo(handle, CL_KERNEL_REFERENCE_COUNT, sizeof count, &count, NULL); break;
    case EVENT: d->clGetEventInfo(handle, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, NULL); break;
    default: d->clGetSamplerInfo(handle, CL_SAMPLER_REFERENCE_COUNT, sizeof count, &count, NULL);
    }
    return count;
}

/** Records that a reference of an object was released. */
static void forget_reference(enum kind kind, struct object *o)
{
    if (--o->references != 0)
        return;
    for (unsigned i = 0; kind == MEM && i < pool.map_count; i++)
        if (pool.maps[i].mem == o->handle) {
            pool.maps[i].shadow->maps--;
            free(pool.maps[i].copy);
            pool.maps[i--] = pool.maps[--pool.map_count];
        }
    for (unsigned i = 0; kind == CONTEXT && i < pool.svm_count; i++)
        if (pool.svm[i].context == o->handle) /* the context frees it, perhaps later */
            pool.svm[i--] = pool.svm[--pool.svm_count];
    pool.dead[kind][below(DEAD_OBJECTS)] = o->handle;
    *o = pool.at[kind][--pool.count[kind]];
}

static void change_references(void)
{
    const enum kind kind = (enum kind)below(KINDS);
    void *handle;
    struct object *o;

    if (kind <= QUEUE && !one_of(6))
        return;
    handle = handle_of(kind);
    now.calm = true;
    lock();
    o = find_object(kind, handle);
    if (o == NULL && !is_checked()) { /* the handle may be that of an object that another thread has just created */
        unlock();
        return;
    }
    if (one_of(3)) {
        if (check(retain(kind, handle))) {
            if (o != NULL)
                o->references++;
            else /* the handle of a released object that other objects keep */
                check(release(kind, handle));
        }
    } else if (o != NULL && o->references == 1 && o->is_open) { /* the last reference to a user event that is not complete */
        o->is_open = false;
        CALL(clSetUserEventStatus, handle, CL_COMPLETE);
    } else if (check(release(kind, handle)) && o != NULL) {
        if (kind == CONTEXT && o->references == 1 && pool.svm_count != 0)
            forget_all(); /* the device memory of the context is free */
        forget_reference(kind, o);
        o = NULL;
    }
    o = find_object(kind, handle);
    if (is_checked() && o != NULL && count_references(kind, handle) != o->references)
        wrong("there are %u references, but %u were expected", count_references(kind, handle), o->references);
    unlock();
}

static void set_destructor(void)
{
    if (one_of(2))
        check(CALL(clSetMemObjectDestructorCallback, handle_of(MEM), now.calm || !one_of(4) ? (void(CL_CALLBACK *)(cl_mem,
                void *))(void (*)(void))on_destroy : NULL, &destroyed));
    else
        check(CALL(clSetContextDestructorCallback, handle_of(CONTEXT), now.calm || !one_of(4)
                   ? (void(CL_CALLBACK *)(cl_context, void *))(void (*)(void))on_destroy : NULL, &destroyed));
}

/* ---- shared virtual memory ---------------------------------------------------------------------------------------- */

static void CL_CALLBACK free_svm(cl_command_queue queue, cl_uint count, void *pointers[], void *user)
{
    (void)queue, (void)count, (void)pointers;
    __atomic_fetch_add((uint64_t *)user, 1, __ATOMIC_RELAXED);
}

/** Chooses memory for a command of shared virtual memory: an allocation of the context, memory of the host, or NULL. */
static uint8_t *pick_svm(size_t *bytes)
{
    uint8_t *pointer = NULL;

    lock();
    *bytes = 0;
    if (pool.svm_count != 0 && !one_of(4)) {
        const unsigned at = below(pool.svm_count);

        pointer = pool.svm[at].pointer;
        *bytes = pool.svm[at].bytes;
    } else if (!one_of(4)) {
        *bytes = 1 + below(HOST_BYTES / 4);
        pointer = scratch(*bytes) ;
        if (pointer + *bytes > host[now.thread] + HOST_BYTES)
            pointer = host[now.thread];
    }
    unlock();
    return pointer;
}

static void allocate_svm(void)
{
    const cl_context context = handle_of(CONTEXT);
    const size_t bytes = sizes[below(now.calm ? 14 : 18)];
    void *pointer = CALL(clSVMAlloc, context, one_of(2) ? CL_MEM_READ_WRITE : next_random() & next_random() & 0xfff, bytes,
                         one_of(2) ? 0 : 1u << below(9));

    if (pointer == NULL)
        return;
    if (is_checked() && (now.bad != 0 || bytes == 0))
        wrong("memory of %zu bytes was allocated", bytes);
    calls->successes++;
    if (is_checked())
        memset(pointer, 5, bytes);
    lock();
    /* a released context that other objects keep may free the memory at any time */
    if (pool.svm_count < sizeof pool.svm / sizeof *pool.svm && find_object(CONTEXT, context) != NULL) {
        pool.svm[pool.svm_count].pointer = pointer;
        pool.svm[pool.svm_count].bytes = bytes;
        pool.svm[pool.svm_count++].context = context;
        pointer = NULL;
    }
    unlock();
    if (pointer != NULL)
        CALL(clSVMFree, context, pointer);
}

/** Frees an allocation. No other call may use its memory meanwhile, so there are no other threads. */
static void free_one_svm(void)
{
    const unsigned at = pool.svm_count != 0 ? below(pool.svm_count) : 0;
    uint8_t memory[8];

    if (one_of(3) || pool.svm_count == 0 || !is_checked()) {
        CALL(clSVMFree, handle_of(CONTEXT), one_of(2) ? NULL : memory);
        return;
    }
    complete_all(); /* a command that waits may use the memory */
    if (one_of(2)) {
        cl_command_queue queue = handle_of(QUEUE);
        void *pointers[2] = {pool.svm[at].pointer, one_of(2) ? NULL : memory};
        const bool calls_back = one_of(3);
        cl_int error;

        if (object_of(QUEUE, queue).context != pool.svm[at].context)
            return;
        error = CALL(clEnqueueSVMFree, queue, 1 + below(2), pointers, calls_back ? free_svm : NULL, &destroyed, 0, NULL, NULL);
        now.is_open = true;
        if (!check(error) || calls_back)
            return;
    } else {
        CALL(clSVMFree, pool.svm[at].context, pool.svm[at].pointer);
    }
    forget_all();
    pool.svm[at] = pool.svm[--pool.svm_count];
}

static void use_svm(void)
{
    cl_command_queue queue = handle_of(QUEUE);
    const size_t pattern_bytes = one_of(4) ? PICK(sizes) : 1u << below(8);
    uint8_t pattern[256] = {1, 2, 3};
    size_t a_bytes, b_bytes, bytes;
    uint8_t *a = pick_svm(&a_bytes), *b = pick_svm(&b_bytes);
    const void *list[2] = {a, b};
    struct waits w;
    cl_event event, *place = pick_event(&event);
    cl_int error;

    now.is_open = true;
    now.calm = false;
    bytes = a_bytes < b_bytes ? a_bytes : b_bytes; /* memory of the host must have the size, so no size is too large */
    bytes = bytes != 0 ? below(bytes + 1) : 0;
    switch (below(6)) {
    case 0:
        before_wait();
        error = CALL(clEnqueueSVMMemcpy, queue, one_of(2), a, b, bytes, 0, NULL, place);
        break;
    case 1:
        w = pick_waits();
        bytes -= pattern_bytes != 0 ? bytes % pattern_bytes : 0;
        error = CALL(clEnqueueSVMMemFill, queue, a, one_of(9) ? NULL : pattern, pattern_bytes, one_of(4) ? bytes / 2 : bytes,
                     w.count, events_of(&w), place);
        if (error == CL_SUCCESS) {
            after_enqueue(error, place, w.fails, true);
            return;
        }
        break;
    case 2:
        before_wait();
        error = CALL(clEnqueueSVMMap, queue, one_of(2), (cl_map_flags)below(9), a, PICK(sizes), 0, NULL, place);
        break;
    case 3: error = CALL(clEnqueueSVMUnmap, queue, a, 0, NULL, place); break;
    case 4: error = CALL(clEnqueueSVMMigrateMem, queue, below(3), one_of(9) ? NULL : list, NULL, below(5), 0, NULL,
                         place); break;
    default:
        now.bad = 0;
        check(CALL(clSetKernelArgSVMPointer, handle_of(KERNEL), below(3), a));
        return;
    }
    after_enqueue(error, place, false, true);
}

/* ---- programs and kernels ------------------------------------------------------------------------------------------ */

static bool may_load(void)
{
    return __atomic_fetch_add(&pool.loads, 1, __ATOMIC_RELAXED) < LOADS_OF_ROUND && !is_full(PROGRAM);
}

static void add_program(cl_program program, cl_int error, cl_context context, bool is_damaged)
{
    if (check_object(program, error))
        add_object(PROGRAM, (struct object){.handle = program, .context = context, .is_damaged = is_damaged});
}

static void create_program(void)
{
    const bool is_object = one_of(4);
    const size_t whole = is_object ? object_binary_bytes : binary_bytes;
    const cl_context context = handle_of(CONTEXT);
    unsigned char *copy;
    const unsigned char *binaries[1];
    const char *texts[3] = {source, "\n", one_of(4) ? NULL : "kernel void more(void) { }"};
    size_t bytes = whole;
    bool is_damaged = one_of(3);
    cl_device_id list[1] = {one_of(9) ? NULL : device};
    cl_int error, status = 1;
    cl_program program;

    if (is_full(PROGRAM))
        return;
    now.is_open = true;
    switch (below(6)) {
    case 0:
        program = CALL(clCreateProgramWithSource, context, below(4), one_of(9) ? NULL : texts, NULL, &error);
        add_program(program, error, context, true);
        return;
    case 1:
        program = CALL(clCreateProgramWithIL, context, source, below(40), &error);
        add_program(program, error, context, true);
        return;
    case 2:
        program = CALL(clCreateProgramWithBuiltInKernels, context, 1, &device, one_of(2) ? NULL : "a;b", &error);
        add_program(program, error, context, true);
        return;
    default: break;
    }
    if (!may_load())
        return;
    if (is_damaged && one_of(2))
        bytes = below(whole + 1);
    copy = malloc(bytes != 0 ? bytes : 1);
    memcpy(copy, is_object ? object_binary : binary, bytes);
    for (unsigned i = is_damaged && bytes != 0 ? 1 + below(4) : 0; i != 0; i--)
        copy[one_of(2) ? below(bytes) : below(bytes < 100 ? bytes : 100)] = (unsigned char)(one_of(2) ? 1u << below(8)
                : below(256));
    binaries[0] = copy;
    program = CALL(clCreateProgramWithBinary, context, now.calm ? 1 : below(3), list, &bytes, binaries, one_of(2) ? NULL
                   : &status, &error);
    free(copy);
    add_program(program, error, context, is_damaged || is_object);
}

static void CL_CALLBACK on_built(cl_program program, void *user)
{
    (void)program;
    if (user != NULL)
        __atomic_fetch_add((uint64_t *)user, 1, __ATOMIC_RELAXED);
}

static void build_program(void)
{
    static const char *const options[] = {"", " ", "-cl-mad-enable", "-D", "-DX=1 -D Y", "x", "-create-library",
                                          "-enable-link-options", "-I", "'", "-cl-std=CL9",
                                          "-Dset=\"a b\"", "\\", "-cl-no-subgroup-ifp"};
    const char *text = one_of(9) ? NULL : PICK(options), *names[2] = {"a.h", one_of(4) ? NULL : "b.h"};
    cl_program program = handle_of(PROGRAM);
    const unsigned bad = now.bad;
    const cl_program inputs[2] = {program, one_of(2) ? program : handle_of(PROGRAM)};
    cl_device_id list[1] = {one_of(9) ? NULL : device};
    size_t bytes = 0;
    cl_int error;

    now.is_open = true;
    now.calm = false;
    now.bad = bad; /* a call need not use all inputs */
    /* a program with a source needs the compiler */
    if (object_of(PROGRAM, program).handle != NULL && (d->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL,
                                                                           &bytes) != CL_SUCCESS || bytes > 1) &&
        (calls->seed % 8 != 0 || __atomic_fetch_add(&pool.compilations, 1, __ATOMIC_RELAXED) >= COMPILATIONS_OF_ROUND))
        return;
    if (!may_load())
        return;
    switch (below(3)) {
    case 0: check(CALL(clBuildProgram, program, below(2), one_of(2) ? NULL : list, text, one_of(2) ? on_built : NULL, one_of(4)
                       ? NULL : &destroyed)); break;
    case 1:
        check(CALL(clCompileProgram, program, 0, NULL, text, below(3), one_of(4) ? NULL : inputs, one_of(4) ? NULL : names,
                   NULL, NULL));
        break;
    default: {
        const cl_context context = handle_of(CONTEXT);
        cl_program linked = CALL(clLinkProgram, context, 0, NULL, text, below(3), one_of(9) ? NULL : inputs, one_of(2)
                                 ? on_built : NULL,
                                 one_of(4) ? NULL : &destroyed, &error);

        if (!is_documented(error))
            wrong("the error %d is not in the specification", error);
        if (linked != NULL)
            add_object(PROGRAM, (struct object){.handle = linked, .context = context, .is_damaged = true});
    }
    }
    if (one_of(4))
        check(CALL(clSetProgramReleaseCallback, program, one_of(4) ? NULL : on_built, NULL));
    if (one_of(4))
        check(CALL(clSetProgramSpecializationConstant, program, below(9), 4, &bytes));
}

static void create_kernel(void)
{
    const unsigned number = below(KERNELS);
    cl_program program;
    struct object p;
    cl_kernel kernel, kernels[8];
    cl_uint count = 0;
    cl_int error;

    if (is_full(KERNEL))
        return;
    now.is_open = true;
    if (one_of(6)) {
        cl_kernel from = handle_of(KERNEL);
        struct object o = object_of(KERNEL, from);

        kernel = CALL(clCloneKernel, from, &error);
        o.handle = kernel;
        if (check_object(kernel, error))
            add_object(KERNEL, o);
        return;
    }
    program = handle_of(PROGRAM);
    p = object_of(PROGRAM, program);
    if (!one_of(6)) {
        kernel = CALL(clCreateKernel, program, now.calm ? kernel_names[number] : one_of(2) ? NULL : "sets", &error);
        if (check_object(kernel, error))
            add_object(KERNEL, (struct object){.handle = kernel, .context = p.context, .is_damaged = p.is_damaged,
                                               .number = number});
        return;
    }
    if (!check(CALL(clCreateKernelsInProgram, program, below(9), NULL, &count)) || count == 0 || count > 8)
        return;
    if (CALL(clCreateKernelsInProgram, program, count - 1, kernels, NULL) == CL_SUCCESS)
        wrong("too little room for the kernels is accepted");
    error = CALL(clCreateKernelsInProgram, program, 8, kernels, &count);
    for (cl_uint i = 0; error == CL_SUCCESS && i < count; i++)
        if (i < 4)
            add_object(KERNEL, (struct object){.handle = kernels[i], .context = p.context, .is_damaged = true});
        else
            CALL(clReleaseKernel, kernels[i]);
}

static void set_argument(void)
{
    cl_kernel kernel = handle_of(KERNEL);
    const cl_uint index = below(now.calm ? 3 : 5);
    cl_mem mem = NULL;
    uint64_t value[4] = {below(2000), 0, 0, 0};
    const size_t bytes = one_of(4) ? PICK(sizes) : index == 2 ? 4 : 8;
    const void *at = value;
    struct object *o;

    now.is_open = true;
    if (index < 2 && one_of(2)) {
        mem = handle_of(MEM);
        memcpy(value, &mem, sizeof mem);
    }
    if (one_of(8))
        at = NULL;
    if (index == 1 && one_of(3))
        at = NULL;
    if (bytes > sizeof value && at != NULL && bytes != SIZE_MAX)
        return;
    now.bad = 0; /* the argument may be a value */
    if (!check(CALL(clSetKernelArg, kernel, index, bytes, at)))
        return;
    lock();
    o = find_object(KERNEL, kernel);
    if (o != NULL && index < 3)
        o->arguments[index] = at != NULL ? mem : NULL;
    unlock();
}

/** Sets all arguments of a kernel so that it can be launched. */
static void set_arguments(const struct object *k)
{
    const struct object *any = NULL;
    cl_mem mems[2] = {NULL, NULL};
    const cl_uint n = below(300);
    const cl_long bias = 4;
    const cl_uint value = below(1000);

    lock();
    for (unsigned tries = 0; tries < 30 && pool.count[MEM] != 0; tries++) {
        any = &pool.at[MEM][below(pool.count[MEM])];
        if (any->context == k->context && !any->is_image && any->bytes >= 2048)
            mems[tries % 2] = any->handle;
    }
    unlock();
    if (mems[0] == NULL || mems[1] == NULL || k->handle == NULL)
        return;
    CALL(clSetKernelArg, k->handle, 0, sizeof *mems, &mems[0]);
    switch (k->number) {
    case 0: CALL(clSetKernelArg, k->handle, 1, sizeof value, &value); CALL(clSetKernelArg, k->handle, 2, sizeof n, &n); break;
    case 1: CALL(clSetKernelArg, k->handle, 1, sizeof *mems, &mems[1]); CALL(clSetKernelArg, k->handle, 2, sizeof n, &n); break;
    case 2: CALL(clSetKernelArg, k->handle, 1, 1024, NULL); CALL(clSetKernelArg, k->handle, 2, sizeof bias, &bias); break;
    default: break;
    }
}

static void launch(void)
{
    static const size_t lengths[] = {1, 2, 8, 16, 64, 256, 0, 3, 1025, SIZE_MAX, (size_t)1 << 63, (size_t)1 << 45,
                                     ((size_t)1 << 40) + 1};
    const unsigned limit = now.calm ? 6 : sizeof lengths / sizeof *lengths;
    cl_command_queue queue = handle_of(QUEUE);
    cl_kernel kernel = handle_of(KERNEL);
    const struct object k = object_of(KERNEL, kernel);
    const struct waits w = pick_waits();
    cl_event event, *place = pick_event(&event);
    size_t offset[3], global[3], local[3];
    cl_uint dimensions = now.calm ? 1 + below(2) : below(5);
    bool is_long = false;
    cl_int error;

    now.is_open = true;
    if (k.is_damaged) /* the code may be endless */
        return;
    if (!one_of(4))
        set_arguments(&k);
    for (unsigned i = 0; i < 3; i++) {
        offset[i] = one_of(2) ? 0 : lengths[below(limit)];
        local[i] = lengths[below(limit)];
        global[i] = one_of(3) ? lengths[below(limit)] : local[i] * below(3);
        is_long = is_long || (global[i] > 4096 && global[i] < (size_t)1 << 45);
    }
    if (is_long)
        return;
    if (one_of(8))
        error = CALL(clEnqueueTask, queue, kernel, w.count, events_of(&w), place);
    else
        error = CALL(clEnqueueNDRangeKernel, queue, kernel, dimensions, one_of(2) ? NULL : offset, one_of(9) ? NULL : global,
                     one_of(2) ? NULL : local,
                     w.count, events_of(&w), place);
    if (after_enqueue(error, place, w.fails, true) != REFUSED && is_checked())
        forget_all(); /* an argument may be a buffer that was released */
}

static void set_kernel_info(void)
{
    void *list[2] = {NULL, NULL};
    const cl_bool yes = below(2);
    cl_kernel kernel = handle_of(KERNEL);

    now.calm = false;
    if (one_of(2))
        check(CALL(clSetKernelExecInfo, kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, below(18), one_of(4) ? NULL : list));
    else
        check(CALL(clSetKernelExecInfo, kernel, one_of(2) ? CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM : (cl_uint)next_random(),
                   one_of(4) ? 3 : sizeof yes,
                   one_of(4) ? NULL : &yes));
}

/* ---- events -------------------------------------------------------------------------------------------------------- */

static void create_user_event(void)
{
    cl_context context;
    cl_event event;
    cl_int error;

    if (now.thread != 0 || is_full(EVENT))
        return;
    context = handle_of(CONTEXT);
    event = CALL(clCreateUserEvent, context, &error);
    if (check_object(event, error))
        add_object(EVENT, (struct object){.handle = event, .context = context, .is_user = true, .is_open = true});
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *user)
{
    cl_uint count;

    d->clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, NULL); /* a callback may call the driver */
    __atomic_fetch_add((uint64_t *)user, status <= 0, __ATOMIC_RELAXED);
}

static void change_event(void)
{
    cl_event event = handle_of(EVENT);
    struct object *o;
    cl_int error;

    now.is_open = true;
    if (one_of(2)) {
        check(CALL(clSetEventCallback, event, now.calm ? CL_COMPLETE : (cl_int)below(6) - 2, now.calm || !one_of(4) ? on_event
                   : NULL, &destroyed));
        return;
    }
    lock();
    error = CALL(clSetUserEventStatus, event, one_of(4) ? -1 - (cl_int)below(60) : (cl_int)below(3));
    o = find_object(EVENT, event);
    if (check(error) && o != NULL) {
        if (is_checked() && !o->is_open)
            wrong("an event was completed twice");
        o->is_open = false;
    }
    unlock();
}

static void wait_or_mark(void)
{
    cl_command_queue queue = handle_of(QUEUE);
    struct waits w;
    cl_event event, *place = pick_event(&event);
    cl_int error;

    switch (below(8)) {
    case 0: now.calm = true; check(CALL(clFlush, queue)); return;
    case 1: now.calm = true; before_wait(); check(CALL(clFinish, queue)); return;
    case 2:
        now.bad = 0;
        w = pick_waits();
        before_wait();
        now.calm = false;
        check(CALL(clWaitForEvents, w.count, events_of(&w)));
        return;
    case 3: now.calm = false; check(CALL(clSetCommandQueueProperty, queue, below(5), below(2), NULL)); return;
    case 4: w = pick_waits(); error = CALL(clEnqueueMarkerWithWaitList, queue, w.count, events_of(&w), place); break;
    case 5: w = pick_waits(); error = CALL(clEnqueueBarrierWithWaitList, queue, w.count, events_of(&w), place); break;
    case 6:
        now.is_open = true;
        w = pick_waits();
        place = NULL;
        now.calm = false;
        error = one_of(2) ? CALL(clEnqueueWaitForEvents, queue, w.count, events_of(&w)) : now.bad == 0 ? CALL(clEnqueueBarrier,
                queue) : CL_INVALID_VALUE;
        break;
    default:
        now.calm = now.calm && place != NULL;
        w = (struct waits){0};
        error = CALL(clEnqueueMarker, queue, place);
    }
    after_enqueue(error, place, w.fails, false);
}

/* ---- rounds -------------------------------------------------------------------------------------------------------- */

static const struct {
    void (*call)(void);
    unsigned weight;
} actions[] = {{query, 10}, {query_devices, 3}, {create_context, 1}, {create_queue, 4}, {change_references, 30},
               {set_destructor, 2}, {create_buffer, 14},
               {create_sub_buffer, 8}, {read_or_write, 40}, {copy_or_fill, 25}, {copy_box, 20}, {map_buffer, 10},
                   {unmap_buffer, 10}, {migrate, 3},
               {allocate_svm, 3}, {free_one_svm, 2}, {use_svm, 10}, {create_program, 4}, {build_program, 4}, {create_kernel,
                       8}, {set_argument, 10},
               {launch, 12}, {set_kernel_info, 2}, {create_user_event, 6}, {change_event, 12}, {wait_or_mark, 14},
                   {create_image, 4}, {create_sampler, 3},
               {copy_image, 5}, {call_refused, 3}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static void run_thread(unsigned thread)
{
    unsigned sum = 0;

    now.thread = thread;
    for (unsigned i = 0; i < ACTIONS; i++)
        sum += actions[i].weight;
    for (unsigned i = 0; i < CALLS_OF_ROUND / calls->threads; i++) {
        unsigned at = 0, left = below(sum);

        while (left >= actions[at].weight)
            left -= actions[at++].weight;
        begin();
        actions[at].call();
    }
    if (thread == 0)
        complete_all();
}

static void must(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        wrong("%s: %d", what, error);
}

/** Builds a program and stores its binary. */
static unsigned char *make_binary(cl_context context, bool compiles_only, size_t *bytes)
{
    const char *text = source;
    unsigned char *out;
    cl_int error;
    cl_program program = CALL(clCreateProgramWithSource, context, 1, &text, NULL, &error);

    must(error, "program");
    must(compiles_only ? CALL(clCompileProgram, program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL) : CALL(clBuildProgram,
            program, 0, NULL, NULL, NULL, NULL),
         "build");
    must(CALL(clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL), "size of the binary");
    out = malloc(*bytes);
    must(CALL(clGetProgramInfo, program, CL_PROGRAM_BINARIES, sizeof out, &out, NULL), "binary");
    must(CALL(clReleaseProgram, program), "release");
    return out;
}

static void set_up(void)
{
    void *library = dlopen("./liblanewise-opencl.so", RTLD_NOW);
    void *(*find)(const char *) = library != NULL ? (void *(*)(const char *))(uintptr_t)dlsym(library,
            "clGetExtensionFunctionAddress") : NULL;
    clIcdGetPlatformIDsKHR_fn platforms = find != NULL ? (clIcdGetPlatformIDsKHR_fn)(uintptr_t)find("clIcdGetPlatformIDsKHR")
        : NULL;
    cl_context context;
    cl_int error;

    if (platforms == NULL)
        wrong("no driver: %s", dlerror());
    must(platforms(1, &platform, NULL), "platform");
    memcpy(&d, platform, sizeof d);
    must(CALL(clGetDeviceIDs, platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "device");
    context = CALL(clCreateContext, NULL, 1, &device, NULL, NULL, &error);
    must(error, "context");
    binary = make_binary(context, false, &binary_bytes);
    object_binary = make_binary(context, true, &object_binary_bytes);
    must(CALL(clReleaseContext, context), "release");
}

static void begin_round(void)
{
    const unsigned char *binaries[1] = {binary};

    now.thread = 0;
    begin();
    pool.compilations = pool.loads = 0;
    for (unsigned i = 0; i < 2; i++) {
        cl_int error;
        cl_context context = CALL(clCreateContext, NULL, 1, &device, NULL, NULL, &error);
        cl_command_queue queue;
        cl_program program;

        must(error, "context");
        add_object(CONTEXT, (struct object){.handle = context, .context = context});
        queue = CALL(clCreateCommandQueue, context, device, i == 0 ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
        must(error, "queue");
        add_object(QUEUE, (struct object){.handle = queue, .context = context});
        if (i != 0)
            continue;
        program = CALL(clCreateProgramWithBinary, context, 1, &device, &binary_bytes, binaries, NULL, &error);
        must(error, "program");
        must(CALL(clBuildProgram, program, 0, NULL, NULL, NULL, NULL), "build");
        add_object(PROGRAM, (struct object){.handle = program, .context = context});
    }
}

/** Releases all objects, and checks that their handles are invalid then. */
static void end_round(void)
{
    static const enum kind order[] = {KERNEL, EVENT, MEM, SAMPLER, PROGRAM, QUEUE, CONTEXT};

    now.thread = 0;
    complete_all();
    for (unsigned i = 0; i < pool.svm_count; i++)
        CALL(clSVMFree, pool.svm[i].context, pool.svm[i].pointer);
    pool.svm_count = 0;
    for (unsigned i = 0; i < KINDS; i++) {
        const enum kind kind = order[i];

        while (pool.count[kind] != 0) {
            struct object *o = &pool.at[kind][pool.count[kind] - 1];

            must(release(kind, o->handle), "release");
            forget_reference(kind, o);
        }
    }
    for (unsigned k = 0; k < KINDS; k++)
        for (unsigned i = 0; i < DEAD_OBJECTS; i++)
            if (pool.dead[k][i] != NULL) {
                const cl_int error = retain((enum kind)k, pool.dead[k][i]);

                if (error != invalid_error[k])
                    wrong("an object of kind %u still exists after its release: %d", k, error);
                pool.dead[k][i] = NULL;
            }
    while (pool.map_count != 0)
        free(pool.maps[--pool.map_count].copy);
    while (pool.shadows != NULL) {
        struct shadow *s = pool.shadows;

        pool.shadows = s->next;
        free(s->data);
        free(s->known);
        free(s->host);
        free(s);
    }
}

int main(int argc, char **argv)
{
    return calls_main(argc, argv, &(struct rounds){set_up, begin_round, run_thread, end_round, 24});
}
