/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls the functions of the CUDA runtime and of the CUDA driver interface at random, with live, released, foreign and NULL
 * handles, and with arguments at and past their limits (prop_calls.h describes the options). Memory of the host is always as
 * large as a call says, because the runtime cannot check it.
 *
 * What must hold: each error has a name. A copy or fill that leaves its block of memory fails, and changes nothing. A copy
 * gives the bytes that were written. A released stream, event, array, pool or block is refused. After a kernel has failed,
 * all later calls of cudaDeviceSynchronize() fail until cudaDeviceReset(), and everything works again after it.
 */
#include "tests/runtime/calls/prop_cuda_graphs.h"
#include "tests/runtime/calls/prop_cuda_launches.h"

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static void allocate(void)
{
    const size_t bytes = PICK(sizes);
    const unsigned flags = one_of(3) ? (unsigned)next_random() : below(8);
    uint8_t *pointer = NULL;
    size_t pitch = 0;
    bool is_host = false;
    int error;
    void *stream;

    if (is_full(BLOCK))
        return;
    switch (below(9)) {
    case 0: error = CU(cudaMallocManaged, &pointer, bytes, one_of(2) ? 1u : flags); break;
    case 1: error = CU(cudaHostAlloc, &pointer, bytes, flags); is_host = true; break;
    case 2: error = CU(cudaMallocHost, &pointer, bytes); is_host = true; break;
    case 3: stream = handle_of(STREAM); error = CU(cudaMallocAsync, &pointer, bytes, stream); break;
    case 4: error = CU(cuMemAlloc_v2, &pointer, bytes); break;
    case 5: stream = handle_of(STREAM); error = CU(cudaMallocFromPoolAsync, &pointer, bytes, handle_of(POOL), stream); break;
    case 6:
        error = CU(cudaMallocPitch, &pointer, &pitch, bytes, one_of(2) ? (size_t)1 : PICK(sizes));
        if (check(error) && pointer != NULL)
            add_object(BLOCK, pointer, 0, false);
        return;
    case 7: error = CU(cudaMalloc, one_of(9) ? NULL : &pointer, bytes); break;
    default: error = CU(cudaMalloc, &pointer, bytes);
    }
    /* The memory of a graph ends with the graph, and then other blocks can have its addresses. */
    if (check(error) && pointer != NULL)
        add_object(BLOCK, pointer, bytes <= 65536 && !is_capturing() ? bytes : 0, is_host);
}

static void release_block(void)
{
    const struct object o = pick_block();
    uint8_t *pointer = o.handle;
    bool good;

    if (one_of(4)) { /* a pointer that is not the begin of a block */
        lock();
        pointer = one_of(2) ? PICK(pool.dead[BLOCK]) : o.bytes > 1 ? o.handle + 1 : NULL;
        good = pointer == NULL;
        unlock();
        if (check(o.is_host ? CU(cudaFreeHost, pointer) : CU(cudaFree, pointer)) && !good && is_checked())
            wrong("a pointer that was not allocated was freed");
        return;
    }
    switch (below(4)) {
    case 0:
        if (is_capturing()) /* it may be another stream that is in the capture */
            return;
        good = check(CU(cudaFreeAsync, pointer, handle_of(STREAM)));
        break;
    case 1: good = check(CU(cuMemFree_v2, (unsigned long long)(uintptr_t)pointer)); break;
    default: good = check(o.is_host ? CU(cudaFreeHost, pointer) : CU(cudaFree, pointer));
    }
    if (good && pointer != NULL)
        remove_object(BLOCK, pointer);
}

/** Chooses a range of a block. Returns true if it is in the block. */
static bool pick_range(const struct object *o, size_t *offset, size_t *bytes)
{
    *offset = one_of(2) ? 0 : below(o->bytes + 1);
    *bytes = one_of(3) ? o->bytes - *offset : below(o->bytes - *offset + 1);
    if (one_of(8))
        *bytes = o->bytes - *offset + 1 + below(16);
    return *offset <= o->bytes && *bytes <= o->bytes - *offset;
}

static void copy_memory(void)
{
    struct object o = pick_block(), other = pick_block();
    size_t offset, bytes, other_offset = 0;
    const bool is_inside = pick_range(&o, &offset, &bytes), is_async = one_of(3);
    const unsigned way = below(3);
    const int kind = one_of(8) ? (int)below(7) - 1 : one_of(3) ? DEFAULT : way == 0 ? HOST_TO_DEVICE : way == 1
        ? DEVICE_TO_HOST : DEVICE_TO_DEVICE;
    uint8_t *data = scratch(bytes), *to = way == 1 ? data : o.handle + offset, *from = way == 0 ? data : o.handle + offset;
    void *stream = is_async ? handle_of(STREAM) : NULL;
    int error;
    bool good;

    if (o.bytes == 0 || kind == HOST_TO_HOST || (!is_inside && kind == DEFAULT)) /* the memory would be taken for the host's */
        return;
    if (way == 2) {
        if (other.bytes < bytes || other.handle == o.handle)
            return;
        other_offset = below(other.bytes - bytes + 1);
        from = other.handle + other_offset;
    }
    if (kind != DEFAULT && way == 2 && kind != DEVICE_TO_DEVICE)
        return;
    switch (below(4)) {
    case 0:
        if (way == 2 && !is_async) {
            error = CU(cuMemcpyDtoD_v2, (unsigned long long)(uintptr_t)to, (unsigned long long)(uintptr_t)from, bytes);
            break;
        }
        /* falls through */
    default:
        error = is_async ? CU(cudaMemcpyAsync, to, from, bytes, kind, stream) : CU(cudaMemcpy, to, from, bytes, kind);
    }
    good = check(error);
    if (!is_checked() || !good)
        return;
    if (!is_inside && bytes != 0 && !is_capturing()) /* a capture does not check sizes */
        wrong("%zu bytes at %zu of a block of %zu bytes were copied", bytes, offset, o.bytes);
    if (!is_inside || bytes == 0)
        return;
    if (way == 1)
        compare(&o, offset, data, bytes);
    else if (way == 0)
        learn(&o, offset, data, bytes);
    else {
        memcpy(o.data + offset, other.data + other_offset, bytes);
        memcpy(o.known + offset, other.known + other_offset, bytes);
        if (is_capturing())
            memset(o.known + offset, 0, bytes);
    }
}

static void fill_memory(void)
{
    struct object o = pick_block();
    size_t offset, bytes;
    const bool is_inside = pick_range(&o, &offset, &bytes);
    const int value = (int)below(256);
    void *stream;
    uint8_t *data = host[thread_number];
    int error;

    if (o.bytes == 0)
        return;
    switch (below(3)) {
    case 0: stream = handle_of(STREAM); error = CU(cudaMemsetAsync, o.handle + offset, value, bytes, stream); break;
    case 1: error = CU(cuMemsetD8_v2, (unsigned long long)(uintptr_t)(o.handle + offset), (unsigned char)value, bytes); break;
    default: error = CU(cudaMemset, o.handle + offset, value, bytes);
    }
    if (!check(error) || !is_checked())
        return;
    if (!is_inside && bytes != 0 && !is_capturing()) /* a capture does not check sizes */
        wrong("%zu bytes at %zu of a block of %zu bytes were set", bytes, offset, o.bytes);
    if (!is_inside || bytes == 0)
        return;
    memset(data, value, bytes);
    learn(&o, offset, data, bytes);
}

/** Copies rectangles. */
static void copy_rows(void)
{
    struct object o = pick_block();
    const size_t width = below(80), height = below(20), pitch = one_of(8) ? PICK(sizes) : width + below(40),
        host_pitch = width + below(9);
    const bool reads = one_of(2);
    uint8_t *data = scratch(20 * 100);
    const int kind = one_of(3) ? DEFAULT : reads ? DEVICE_TO_HOST : HOST_TO_DEVICE;
    void *stream = one_of(2) ? handle_of(STREAM) : NULL;
    int error;

    if (o.bytes == 0)
        return;
    if (one_of(4)) {
        is_bad = false;
        error = CU(cudaMemset2D, o.handle, pitch, 7, width, height);
        if (check(error))
            forget_all();
        return;
    }
    error = reads ? CU(cudaMemcpy2DAsync, data, host_pitch, o.handle, pitch, width, height, kind, stream)
                  : CU(cudaMemcpy2DAsync, o.handle, pitch, data, host_pitch, width, height, kind, stream);
    if (!check(error) || !is_checked() || width == 0 || height == 0)
        return;
    if (is_capturing())
        forget_all();
    else if (pitch < width || (height > 1 && pitch > o.bytes) || (height - 1) * pitch + width > o.bytes)
        wrong("%zu rows of %zu bytes at pitch %zu of a block of %zu bytes were copied", height, width, pitch, o.bytes);
    if (is_capturing())
        return;
    for (size_t y = 0; y < height; y++)
        if (reads)
            compare(&o, y * pitch, data + y * host_pitch, width);
        else
            learn(&o, y * pitch, data + y * host_pitch, width);
}

static void use_symbol(void)
{
    const size_t bytes = one_of(6) ? PICK(sizes) : below(SYMBOL_BYTES), offset = one_of(6) ? PICK(sizes) : below(SYMBOL_BYTES);
    const bool reads = one_of(2);
    const void *of = one_of(9) ? (const void *)host : &symbol_stub;
    uint8_t *data;
    void *address;
    size_t size;

    if (bytes > 65536) /* the host has no such memory */
        return;
    if (one_of(4)) {
        check(CU(cudaGetSymbolAddress, &address, of));
        check(CU(cudaGetSymbolSize, &size, of));
        return;
    }
    data = scratch(bytes);
    if (!check(reads ? CU(cudaMemcpyFromSymbol, data, of, bytes, offset, DEVICE_TO_HOST) : CU(cudaMemcpyToSymbol, of, data,
            bytes, offset, HOST_TO_DEVICE)) ||
        !is_checked() || bytes == 0)
        return;
    if (of != &symbol_stub || offset > SYMBOL_BYTES || bytes > SYMBOL_BYTES - offset)
        wrong("%zu bytes at %zu of a variable of %d bytes were copied", bytes, offset, SYMBOL_BYTES);
    learn(&(struct object){.data = symbol_data, .known = symbol_known, .bytes = SYMBOL_BYTES}, reads ? 0 : offset, reads
          ? symbol_data : data, reads ? 0 : bytes);
    if (reads)
        compare(&(struct object){.data = symbol_data, .known = symbol_known, .bytes = SYMBOL_BYTES}, offset, data, bytes);
}

static void query_memory(void)
{
    const struct object o = pick_block();
    uint8_t *pointer = one_of(3) ? (uint8_t *)registered[below(4)] + below(8192) : one_of(4) ? NULL
        : o.handle + below(o.bytes + 1);
    uint8_t *memory = registered[below(4)];
    uint8_t out[256];
    size_t a, b;
    void *device;
    unsigned flags;

    switch (below(8)) {
    case 0: check(CU(cudaPointerGetAttributes, out, pointer)); break;
    case 1: check(CU(cudaHostGetDevicePointer, &device, pointer, one_of(4) ? 1u : 0u)); break;
    case 2: check(CU(cudaHostGetFlags, &flags, pointer)); break;
    case 3: check(CU(cudaMemGetInfo, &a, &b)); break;
    case 4: check(CU(cudaHostRegister, memory, one_of(4) ? (size_t)0 : (size_t)(1 + below(8192)), one_of(3) ? below(20)
                     : 0u)); break;
    case 5: check(CU(cudaHostUnregister, one_of(4) ? pointer : memory)); break;
    case 6: check(CU(cuMemGetAddressRange_v2, &a, &b, (unsigned long long)(uintptr_t)pointer)); break;
    default: check(CU(cuPointerGetAttribute, out, (int)below(20), (unsigned long long)(uintptr_t)pointer));
    }
}

/* ---- streams, events, graphs ---------------------------------------------------------------------------------------- */

static void use_stream(void)
{
    void *stream = handle_of(STREAM), *made = NULL, *event;
    unsigned flags;
    int number;

    switch (below(12)) {
    case 0: case 1:
        is_bad = false;
        if (!is_full(STREAM) && check(CU(cudaStreamCreateWithPriority, &made, below(3), (int)below(9) - 5)))
            add_object(STREAM, made, 0, false);
        break;
    case 2:
        if (stream != NULL && check(CU(cudaStreamDestroy, stream)))
            remove_object(STREAM, stream);
        break;
    case 3: check(CU(cudaStreamSynchronize, stream)); break;
    case 4: check(CU(cudaStreamQuery, stream)); break;
    case 5: event = handle_of(EVENT); check(CU(cudaStreamWaitEvent, stream, event, below(3))); break;
    case 6: check(CU(cudaStreamGetFlags, stream, &flags)); break;
    case 7: check(CU(cudaStreamGetPriority, stream, &number)); break;
    case 8: check(CU(cudaLaunchHostFunc, stream, one_of(9) ? NULL : on_host, &host_calls)); break;
    case 9:
        if (one_of(3) && check(CU(cudaStreamBeginCapture, stream, (int)below(4))))
            __atomic_fetch_add(&pool.captures, 1, __ATOMIC_RELAXED);
        break;
    case 10:
        check(CU(cudaStreamEndCapture, stream, &made));
        if (made != NULL)
            add_object(GRAPH, made, 0, false);
        break;
    default: check(CU(cudaStreamIsCapturing, stream, &number));
    }
    is_bad = false;
}

static void use_event(void)
{
    void *event = handle_of(EVENT), *made = NULL, *other;
    float time;

    switch (below(7)) {
    case 0: case 1:
        is_bad = false;
        if (!is_full(EVENT) && check(CU(cudaEventCreateWithFlags, &made, one_of(4) ? (unsigned)next_random() : below(4))))
            add_object(EVENT, made, 0, false);
        break;
    case 2:
        if (check(CU(cudaEventDestroy, event)))
            remove_object(EVENT, event);
        break;
    case 3: other = handle_of(STREAM); check(CU(cudaEventRecordWithFlags, event, other, below(3))); break;
    case 4: check(CU(cudaEventQuery, event)); break;
    case 5: check(CU(cudaEventSynchronize, event)); break;
    default: other = handle_of(EVENT); check(CU(cudaEventElapsedTime, &time, event, other));
    }
    is_bad = false;
}

static void use_graph(void)
{
    void *graph = handle_of(GRAPH), *exec, *node, *made = NULL, *needs[2] = {handle_of(NODE), handle_of(NODE)};
    const size_t needs_count = below(3);
    const struct object o = pick_block();
    struct {
        void *to;
        size_t pitch;
        unsigned value, element_bytes;
        size_t width, height;
    } fill = {o.handle, one_of(3) ? PICK(sizes) : 0, 3, one_of(4) ? below(9) : 1, below(o.bytes + 9), one_of(4) ? PICK(sizes)
              : 1};
    struct {
        void (*function)(void *);
        void *user;
    } call = {one_of(9) ? NULL : on_host, &host_calls};
    size_t count = below(9);
    void *nodes[9], *second[9];
    int type;

    is_bad = false;
    switch (below(17)) {
    case 0:
        if (!is_full(GRAPH) && check(CU(cudaGraphCreate, &made, one_of(4) ? 1u : 0u)))
            add_object(GRAPH, made, 0, false);
        break;
    case 1:
        if (check(CU(cudaGraphDestroy, graph)))
            remove_object(GRAPH, graph);
        break;
    case 2: case 3:
        if (check(CU(cudaGraphAddEmptyNode, &made, graph, needs, needs_count)) && !is_full(NODE))
            add_object(NODE, made, 0, false);
        break;
    case 4: case 5:
        if (check(CU(cudaGraphAddMemsetNode, &made, graph, needs, needs_count, &fill)) && !is_full(NODE))
            add_object(NODE, made, 0, false);
        break;
    case 6:
        if (check(CU(cudaGraphAddHostNode, &made, graph, needs, needs_count, &call)) && !is_full(NODE))
            add_object(NODE, made, 0, false);
        break;
    case 7:
        if (o.bytes != 0 && check(CU(cudaGraphAddMemcpyNode1D, &made, graph, needs, needs_count, o.handle, host[thread_number],
                                     (size_t)below(o.bytes + 3), HOST_TO_DEVICE)) &&
            !is_full(NODE))
            add_object(NODE, made, 0, false);
        break;
    case 8:
        if (check(CU(cudaGraphAddChildGraphNode, &made, graph, needs, needs_count, handle_of(GRAPH))) && !is_full(NODE))
            add_object(NODE, made, 0, false);
        break;
    case 9:
        if (!is_full(GRAPH) && check(CU(cudaGraphClone, &made, graph)))
            add_object(GRAPH, made, 0, false);
        break;
    case 10:
        if (!is_full(EXEC) && check(CU(cudaGraphInstantiateWithFlags, &made, graph, (unsigned long long)below(3))))
            add_object(EXEC, made, 0, false);
        break;
    case 11:
        exec = handle_of(EXEC);
        node = handle_of(STREAM);
        check(CU(cudaGraphLaunch, exec, node));
        forget_all(); /* a graph that fails has executed some of its nodes */
        break;
    case 12:
        exec = handle_of(EXEC);
        if (check(CU(cudaGraphExecDestroy, exec)))
            remove_object(EXEC, exec);
        break;
    case 13: check(CU(cudaGraphGetNodes, graph, one_of(3) ? NULL : nodes, &count)); break;
    case 14: check(CU(cudaGraphGetEdges, graph, one_of(3) ? NULL : nodes, one_of(3) ? NULL : second, NULL, &count)); break;
    case 15:
        node = handle_of(NODE);
        if (one_of(2))
            check(CU(cudaGraphNodeGetType, node, &type));
        else if (check(CU(cudaGraphDestroyNode, node)))
            remove_object(NODE, node);
        break;
    default: check(CU(cudaGraphAddDependencies, graph, needs, &needs[1], NULL, (size_t)1));
    }
    is_bad = false;
}

/* ---- kernels, modules ----------------------------------------------------------------------------------------------- */

static void launch(void)
{
    static const unsigned lengths[] = {1, 2, 31, 32, 64, 0, 1024, 1025, 65536, UINT32_MAX};
    const struct object o = pick_block();
    struct dim grid = {lengths[below(5)], 1, 1}, block = {lengths[below(5)], 1, 1};
    uint32_t value = below(1000), n = (uint32_t)(o.bytes / 4);
    uint64_t pointer = (uintptr_t)o.handle;
    void *arguments[] = {&pointer, &value, &n}, *stream = handle_of(STREAM);
    const void *stub = one_of(9) ? (const void *)host : &stub_set;
    unsigned shared = one_of(4) ? lengths[below(10)] : 0;
    int blocks;

    if (o.bytes == 0)
        return;
    if (one_of(3)) { /* shapes that are not valid; no valid shape is so large that the launch takes long */
        block = (struct dim){PICK(lengths), PICK(lengths), PICK(lengths)};
        if ((uint64_t)block.x * block.y <= 1024 && block.z <= 1024)
            block.x = 1025;
        grid = (struct dim){PICK(lengths), PICK(lengths), PICK(lengths)};
    }
    switch (below(4)) {
    case 0:
        is_bad = false;
        check(CU(cudaOccupancyMaxActiveBlocksPerMultiprocessor, &blocks, stub, (int)PICK(lengths), (size_t)shared));
        return;
    case 1:
        check(CU(cuLaunchKernel, handle_of(FUNCTION), grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                 one_of(9) ? NULL : arguments, NULL));
        break;
    default:
        begin_call("cudaLaunchKernel");
        check(((int (*)(const void *, struct dim, struct dim, void **, size_t,
                        void *))(uintptr_t)symbol("cudaLaunchKernel"))(stub, grid, block, arguments, shared, stream));
    }
    forget_all();
}

/** Loads a module from a text that may be damaged. */
static void load_module(void)
{
    static char text[8][sizeof ptx]; /* the text must exist as long as a module that is loaded from it */
    char *copy = text[thread_number];
    void *module = NULL, *function = NULL;
    const bool is_damaged = one_of(2);

    if (is_full(MODULE) || __atomic_fetch_add(&pool.loads, 1, __ATOMIC_RELAXED) >= LOADS_OF_ROUND)
        return;
    memcpy(copy, ptx, sizeof ptx);
    for (unsigned i = is_damaged ? 1 + below(4) : 0; i != 0; i--)
        copy[below(sizeof ptx - 1)] = (char)(one_of(2) ? below(256) : below(95) + 32);
    if (!check(CU(cuModuleLoadData, &module, copy)))
        return;
    add_object(MODULE, module, 0, false);
    if (!is_damaged && !is_full(FUNCTION) && check(CU(cuModuleGetFunction, &function, module, "set")))
        add_object(FUNCTION, function, 0, false);
}

static void use_module(void)
{
    void *module = handle_of(MODULE), *made = NULL;
    unsigned long long address;
    size_t bytes;
    int value;

    switch (below(5)) {
    case 0: load_module(); break;
    case 1: check(CU(cuModuleGetFunction, &made, module, one_of(2) ? "fail" : "none")); break; /* it is not launched */
    case 2: check(CU(cuModuleGetGlobal_v2, &address, &bytes, module, one_of(2) ? "symbol" : "none")); break;
    case 3: check(CU(cuFuncGetAttribute, &value, (int)below(20), handle_of(FUNCTION))); break;
    default:
        if (one_of(4) && check(CU(cuModuleUnload, module))) {
            remove_object(MODULE, module);
            while (pool.count[FUNCTION] != 0 && is_checked()) /* its functions are those of one of the modules */
                remove_object(FUNCTION, pool.at[FUNCTION][0].handle);
        }
    }
    is_bad = false;
}

/* ---- the device, arrays, textures, pools ------------------------------------------------------------------------------ */

static void query_device(void)
{
    uint8_t *properties;
    const int device = one_of(6) ? (int)below(4) - 1 : 0;
    int value;
    size_t size;
    const char *text;

    switch (below(11)) {
    case 0: check(CU(cudaDeviceGetAttribute, &value, one_of(6) ? (int)next_random() : (int)below(150), device)); break;
    case 1:
        properties = malloc(1008);
        check(CU(cudaGetDeviceProperties, properties, device));
        free(properties);
        break;
    case 2: check(CU(cudaSetDevice, device)); break;
    case 3: check(CU(cudaDeviceGetLimit, &size, (int)below(9) - 1)); break;
    case 4: check(CU(cudaDeviceSynchronize)); break;
    case 5: check(CU(cudaGetLastError)); break;
    case 6: check(CU(cuDeviceGetAttribute, &value, one_of(6) ? (int)next_random() : (int)below(150), device)); break;
    case 7: check(CU(cuGetErrorString, one_of(3) ? (int)next_random() : (int)below(1000), &text)); break;
    case 8: check(CU(cudaDeviceCanAccessPeer, &value, device, (int)below(3) - 1)); break;
    case 9: check(CU(cuCtxSynchronize)); break;
    default: check(CU(cudaStreamIsCapturing, NULL, &value));
    }
}

static void use_array(void)
{
    struct {
        int x, y, z, w, kind;
    } format = {one_of(4) ? (int)next_random() : 8, one_of(2) ? 8 : 0, one_of(3) ? 8 : 0, 0, (int)below(4)};
    const size_t width = one_of(4) ? PICK(sizes) : 1 + below(60), height = one_of(4) ? PICK(sizes) : below(30);
    void *array = NULL;
    struct {
        int type;
        void *array;
        uint8_t more[48];
    } resource = {(int)below(5), NULL, {0}};
    struct {
        int words[8];
        float border[12];
    } texture = {{(int)below(5), (int)below(5), 0, (int)below(3), (int)below(3)}, {0}};
    uint64_t object;

    switch (below(8)) {
    case 0: case 1:
        if (!is_full(ARRAY) && check(CU(cudaMallocArray, &array, &format, width, height, one_of(4) ? below(20) : 0u)))
            add_object(ARRAY, array, 0, false);
        break;
    case 2:
        array = handle_of(ARRAY);
        if (check(CU(cudaFreeArray, array)))
            remove_object(ARRAY, array);
        break;
    case 3:
        array = handle_of(ARRAY);
        check(CU(cudaMemcpy2DToArray, array, one_of(4) ? PICK(sizes) : (size_t)0, (size_t)below(3), scratch(100 * 100),
                 (size_t)100, (size_t)below(100), (size_t)below(30),
                 HOST_TO_DEVICE));
        break;
    case 4:
        array = handle_of(ARRAY);
        check(CU(cudaMemcpy2DFromArray, host[thread_number], (size_t)100, array, (size_t)below(3), one_of(4) ? PICK(sizes)
                 : (size_t)0, (size_t)below(100), (size_t)below(30),
                 DEVICE_TO_HOST));
        break;
    case 5:
        array = handle_of(ARRAY);
        check(CU(cudaMemcpyArrayToArray, array, (size_t)below(30), (size_t)below(4), handle_of(ARRAY), (size_t)below(30),
                 (size_t)below(4), one_of(8) ? PICK(sizes) : (size_t)below(300), DEVICE_TO_DEVICE));
        break;
    case 6:
        array = handle_of(ARRAY);
        if (one_of(2))
            check(CU(cuMemcpyHtoA_v2, array, one_of(4) ? PICK(sizes) : (size_t)below(60), scratch(4096), (size_t)below(4096)));
        else
            check(CU(cuMemcpyAtoH_v2, host[thread_number], array, one_of(4) ? PICK(sizes) : (size_t)below(60), (size_t)below(4096)));
        break;
    default:
        resource.array = handle_of(ARRAY);
        is_bad = false;
        if (check(CU(cudaCreateTextureObject, &object, &resource, one_of(9) ? NULL : (void *)&texture, NULL)))
            check(CU(cudaDestroyTextureObject, object));
        check(CU(cudaDestroyTextureObject, one_of(2) ? (uint64_t)0 : next_random()));
    }
    is_bad = false;
}

static void use_pool(void)
{
    struct {
        int allocation, handles, location, id;
        void *security;
        size_t limit;
        uint8_t reserved[56];
    } p = {one_of(4) ? 0 : 1, one_of(4) ? 1 : 0, one_of(4) ? 3 : 1, one_of(4) ? 1 : 0, NULL, one_of(2) ? 0 : PICK(sizes), {0}};
    void *handle = handle_of(POOL), *made = NULL;
    uint64_t value = next_random();
    int place[2] = {(int)below(5), one_of(4) ? 1 : 0};

    switch (below(7)) {
    case 0:
        is_bad = false;
        if (!is_full(POOL) && check(CU(cudaMemPoolCreate, &made, &p)))
            add_object(POOL, made, 0, false);
        break;
    case 1:
        if (one_of(2) && check(CU(cudaMemPoolDestroy, handle)))
            remove_object(POOL, handle);
        break;
    case 2: check(CU(cudaMemPoolGetAttribute, handle, (int)below(12), &value)); break;
    case 3: check(CU(cudaMemPoolSetAttribute, handle, (int)below(12), &value)); break;
    case 4:
        is_bad = false;
        check(CU(cudaMemGetMemPool, &made, one_of(8) ? NULL : (void *)place, (int)below(4)));
        break;
    case 5: check(CU(cudaMemSetMemPool, one_of(8) ? NULL : (void *)place, (int)below(4), handle)); break;
    default: check(CU(cudaMemPoolTrimTo, handle, PICK(sizes)));
    }
    is_bad = false;
}

/* ---- rounds --------------------------------------------------------------------------------------------------------- */

static const struct {
    void (*call)(void);
    unsigned weight;
} actions[] = {{allocate, 12}, {release_block, 9}, {copy_memory, 40}, {fill_memory, 14}, {copy_rows, 16}, {use_symbol, 10},
               {query_memory, 12}, {use_stream, 16},
               {use_event, 10}, {use_graph, 30}, {launch, 12}, {use_module, 6}, {query_device, 8}, {use_array, 12}, {use_pool, 6},
               {use_node, 30}, {use_parameters, 16}, {use_values, 12}, {use_library, 6}, {use_user_object, 8}, {launch_in_parts, 8},
               {change_capture, 6}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static void run_thread(unsigned thread)
{
    unsigned sum = 0;

    thread_number = thread;
    for (unsigned i = 0; i < ACTIONS; i++)
        sum += actions[i].weight;
    for (unsigned i = 0; i < CALLS_OF_ROUND / calls->threads; i++) {
        unsigned at = 0, left = below(sum);

        while (left >= actions[at].weight)
            left -= actions[at++].weight;
        is_bad = false;
        actions[at].call();
    }
}

static void must(int error, const char *what)
{
    if (error != 0)
        wrong("%s: error %d", what, error);
}

static void set_up(void)
{
    static struct {
        int magic, version;
        const void *text;
        void *unused;
    } wrapper = {0x466243b1, 1, ptx, NULL};
    void **handle, *context;

    setenv("LANEWISE_OPTIONS", "--hang-limit=1000000", 0); /* a wait for a value ends after 75 ms */
    library = dlopen("./lanewise-cuda/libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        wrong("no runtime: %s", dlerror());
    must(CU(cuInit, 0u), "cuInit");
    must(CU(cuDevicePrimaryCtxRetain, &context, 0), "context");
    must(CU(cuCtxSetCurrent, context), "context");
    handle = ((void **(*)(void *))(uintptr_t)symbol("__cudaRegisterFatBinary"))(&wrapper);
    CU(__cudaRegisterFunction, handle, &stub_set, "set", "set", -1, NULL, NULL, NULL, NULL, NULL);
    CU(__cudaRegisterFunction, handle, &stub_fail, "fail", "fail", -1, NULL, NULL, NULL, NULL, NULL);
    CU(__cudaRegisterVar, handle, &symbol_stub, "symbol", "symbol", 0, (size_t)SYMBOL_BYTES, 0, 0);
    CU(__cudaRegisterFatBinaryEnd, handle);
}

static void begin_round(void)
{
    void *pointer;

    thread_number = 0;
    pool.loads = pool.captures = 0;
    memset(symbol_known, 0, sizeof symbol_known);
    for (unsigned i = 0; i < 4; i++) {
        must(CU(cudaMalloc, &pointer, (size_t)4096), "a block");
        add_object(BLOCK, pointer, 4096, false);
        must(CU(cudaStreamCreate, &pointer), "a stream");
        add_object(STREAM, pointer, 0, false);
    }
}

/** Releases all objects. Then a kernel fails, and the device is reset. */
static void end_round(void)
{
    struct dim one = {1, 1, 1};
    uint64_t pointer = 0;
    void *arguments[] = {&pointer}, *graph;

    for (unsigned i = 0; i < pool.count[STREAM]; i++)
        if (CU(cudaStreamEndCapture, pool.at[STREAM][i].handle, &graph) == 0)
            CU(cudaGraphDestroy, graph);
    while (pool.count[EXEC] != 0) {
        CU(cudaGraphExecDestroy, pool.at[EXEC][0].handle);
        remove_object(EXEC, pool.at[EXEC][0].handle);
    }
    while (pool.count[GRAPH] != 0) {
        CU(cudaGraphDestroy, pool.at[GRAPH][0].handle);
        remove_object(GRAPH, pool.at[GRAPH][0].handle);
    }
    while (pool.count[MODULE] != 0) {
        CU(cuModuleUnload, pool.at[MODULE][0].handle);
        remove_object(MODULE, pool.at[MODULE][0].handle);
    }
    for (unsigned i = 0; i < 4; i++)
        CU(cudaHostUnregister, registered[i]);
    CU(cudaGetLastError);
    if (is_checked() && calls->seed % 2 == 0) { /* else a capture of another thread may forbid the launch */
        begin_call("cudaLaunchKernel");
        ((int (*)(const void *, struct dim, struct dim, void **, size_t,
                  void *))(uintptr_t)symbol("cudaLaunchKernel"))(&stub_fail, one, one, arguments, 0, NULL);
        for (unsigned i = 0; i < 3; i++)
            if (CU(cudaDeviceSynchronize) == 0)
                wrong("no error after a kernel has failed");
        if (CU(cudaMalloc, &graph, (size_t)64) == 0)
            wrong("memory is allocated after a kernel has failed");
    }
    must(CU(cudaDeviceReset), "cudaDeviceReset");
    must(CU(cudaDeviceSynchronize), "cudaDeviceSynchronize after cudaDeviceReset");
    for (unsigned k = 0; k < KINDS; k++)
        while (pool.count[k] != 0)
            remove_object((enum kind)k, pool.at[k][0].handle);
    memset(pool.dead, 0, sizeof pool.dead);
}

int main(int argc, char **argv)
{
    return calls_main(argc, argv, &(struct rounds){set_up, begin_round, run_thread, end_round, 24});
}
