/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of prop_cuda.c that change nodes of graphs and captures, and that write values and wait for them. */
#ifndef PROP_CUDA_GRAPHS_H
#define PROP_CUDA_GRAPHS_H

#include "tests/runtime/calls/prop_cuda_objects.h"

/* Types of nodes. */
enum {
    NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_WAIT, NODE_RECORD, NODE_ALLOCATE = 10, NODE_FREE, NODE_BATCH,
    NODE_CONDITION, NODE_TYPES = 16
};
struct kernel_params {
    const void *stub;
    struct dim grid, block;
    unsigned shared;
    void **arguments, **extra, *kernel, *context;
};
/** An operation on a value in memory, and a list of them. */
struct operation {
    int type;
    unsigned long long address, value;
    unsigned flags;
    uint64_t more[2];
};
struct batch {
    void *context;
    unsigned count;
    struct operation *list;
    unsigned flags;
};
struct allocation {
    int type, handles, place, device;
    void *security;
    size_t limit;
    uint8_t reserved[56];
    const void *access;
    size_t access_count, bytes;
    void *pointer;
};
/** Parameters of a node of any type. */
struct node_params {
    int type, reserved[3];
    union {
        struct kernel_params kernel;
        struct {
            int flags, reserved[3];
            void *from_array;
            size_t from_at[3];
            void *from;
            size_t from_size[3];
            void *to_array;
            size_t to_at[3];
            void *to;
            size_t to_size[3], extent[3];
            int kind;
        } copy; /* of the runtime */
        struct {
            void *to;
            size_t pitch;
            unsigned value, bytes;
            size_t width, height;
        } fill;
        struct {
            void (*function)(void *);
            void *user;
        } host;
        struct {
            void *graph;
            int owns;
        } graph;
        void *handle;
        struct allocation allocation;
        struct batch batch;
        struct {
            uint64_t handle;
            int type;
            unsigned count;
            void **graphs;
            void *context;
        } condition;
        uint64_t words[29];
    };
    uint64_t end;
};
_Static_assert(sizeof(struct node_params) == 256 && sizeof(struct operation) == 48, "the layouts of CUDA");

static void add_node(void *node)
{
    if (!is_full(NODE))
        add_object(NODE, node, 0, false);
}

/** Returns a node of the graph @graph, if there is one: the node of a call that is likely to succeed. */
static void *node_of(void *graph)
{
    void *nodes[16];
    size_t count = 16;

    if (one_of(4) || CU(cudaGraphGetNodes, graph, nodes, &count) != 0 || count == 0)
        return handle_of(NODE);
    return nodes[below(count < 16 ? count : 16)];
}

/** Returns an executable graph of @graph, which is added to the objects, or another one. */
static void *exec_of(void *graph)
{
    void *exec = NULL;

    if (one_of(2) || is_full(EXEC) || CU(cudaGraphInstantiateWithFlags, &exec, graph, 0ull) != 0)
        return handle_of(EXEC);
    add_object(EXEC, exec, 0, false);
    return exec;
}

/** Fills @count operations on values. A wait is mostly for a value that the memory has. */
static void make_operations(const struct object *o, struct operation *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const bool is_write = i % 2 == 0 || one_of(3);

        list[i] = (struct operation){.type = one_of(12) ? (int)below(9) : is_write ? 2 : 1,
                                     .address = (uintptr_t)o->handle + (one_of(6) ? below(o->bytes + 9) : below(o->bytes / 4 + 1) * 4),
                                     .value = next_random(), .flags = one_of(6) ? below(5) : is_write ? 0 : 1};
        if (!is_write && i != 0) {
            list[i].address = list[i - 1].address;
            list[i].value = list[i - 1].value;
        } else if (!is_write) {
            list[i].flags = 3; /* met unless all bits of the value are set */
            list[i].value = 0;
        }
    }
}

static void use_values(void)
{
    static struct operation lists[8][300];
    struct operation *list = lists[thread_number];
    struct object o = pick_block();
    void *stream = handle_of(STREAM);
    const unsigned count = one_of(16) ? 300 : below(4);
    size_t offset;
    uint32_t value;

    if (o.bytes == 0)
        return;
    make_operations(&o, list, count != 0 ? count : 1);
    offset = (size_t)(list[0].address - (uintptr_t)o.handle);
    value = (uint32_t)list[0].value;
    switch (below(5)) {
    case 0: case 1:
        if (!check(CU(cuStreamWriteValue32_v2, stream, list[0].address, value, one_of(9) ? 2u : 0u)) || !is_checked())
            break;
        if (offset + 4 > o.bytes && !is_capturing())
            wrong("4 bytes at %zu of a block of %zu bytes were written", offset, o.bytes);
        if (offset + 4 <= o.bytes)
            learn(&o, offset, (uint8_t *)&value, 4);
        break;
    case 2:
        check(CU(cuStreamWriteValue64_v2, stream, list[0].address, list[0].value, 0u));
        forget_all();
        break;
    case 3: check(CU(cuStreamWaitValue32_v2, stream, list[0].address, 0u, 3u)); break;
    default:
        check(CU(cuStreamBatchMemOp_v2, stream, count, one_of(9) ? NULL : list, one_of(9) ? 1u : 0u));
        forget_all(); /* an operation that fails follows others that were executed */
    }
    is_bad = false;
}

/** Fills parameters of a node of a type, or, if @type is negative, of a random type. The other parameters are memory for what they refer
 *  to. */
static void make_parameters(struct node_params *p, int type, struct operation *list, void **arguments, void **pointer, uint32_t *numbers,
                            bool of_driver)
{
    const struct object o = pick_block();

    memset(p, 0, sizeof *p);
    p->type = type >= 0 ? type : one_of(5) ? (int)below(NODE_TYPES) : (int)below(8);
    *pointer = o.handle;
    numbers[0] = below(1000);
    numbers[1] = (uint32_t)(o.bytes / 4);
    arguments[0] = pointer;
    arguments[1] = &numbers[0];
    arguments[2] = &numbers[1];
    switch (p->type) {
    case NODE_KERNEL:
        p->kernel = (struct kernel_params){one_of(9) ? (const void *)host : &stub_set, {1 + below(3), 1, one_of(9) ? 0 : 1},
                                           {1 + below(64), 1, 1}, one_of(9) ? 1u << 20 : 0, one_of(9) ? NULL : arguments, NULL, NULL, NULL};
        if (of_driver) {
            p->kernel.stub = one_of(2) ? NULL : handle_of(FUNCTION);
            p->kernel.kernel = handle_of(FUNCTION);
        }
        break;
    case NODE_COPY:
        if (of_driver) /* all members are zero: nothing is copied */
            break;
        p->copy.from = host[thread_number];
        p->copy.from_size[0] = p->copy.to_size[0] = 64;
        p->copy.to = o.handle;
        p->copy.extent[0] = below(o.bytes % 64 + 2);
        p->copy.extent[1] = p->copy.extent[2] = 1;
        p->copy.kind = HOST_TO_DEVICE;
        break;
    case NODE_FILL:
        p->fill.to = o.handle;
        p->fill.value = 5;
        p->fill.bytes = one_of(5) ? below(6) : 4;
        p->fill.width = below(o.bytes / 4 + 2);
        p->fill.height = 1;
        break;
    case NODE_HOST:
        p->host.function = one_of(9) ? NULL : on_host;
        p->host.user = &host_calls;
        break;
    case NODE_GRAPH:
        p->graph.graph = handle_of(GRAPH);
        p->graph.owns = one_of(9);
        break;
    case NODE_WAIT:
    case NODE_RECORD: p->handle = handle_of(EVENT); break;
    case NODE_ALLOCATE: p->allocation = (struct allocation){.type = 1, .place = 1, .bytes = below(5000)}; break;
    case NODE_FREE: p->handle = o.handle; break;
    case NODE_BATCH:
        p->batch.count = one_of(3) ? below(4) : 2;
        if (o.bytes != 0)
            make_operations(&o, list, 4);
        p->batch.list = one_of(9) || o.bytes == 0 ? NULL : list;
        break;
    case NODE_CONDITION:
        p->condition.type = one_of(4) ? 3 : 2 * (int)below(2); /* no loop: it has no end if a wrong store of a kernel reaches its condition */
        p->condition.count = below(4);
        break;
    default: break;
    }
    is_bad = false; /* the handle of another type of node is not used */
}

/** Adds nodes of any type, and changes their parameters. */
static void use_parameters(void)
{
    struct operation list[4];
    struct node_params p;
    void *arguments[3], *pointer, *made = NULL, *graph = handle_of(GRAPH), *needs[1] = {node_of(graph)};
    const bool of_driver = one_of(2);
    uint32_t numbers[2];
    void *node = node_of(graph), *exec;
    int type = -1;

    if (node != NULL && one_of(2) && CU(cudaGraphNodeGetType, node, &type) != 0)
        type = -1;
    make_parameters(&p, type, list, arguments, &pointer, numbers, of_driver);
    if (p.type == NODE_CONDITION &&
        !check(CU(cudaGraphConditionalHandleCreate, &p.condition.handle, graph, 0u, below(2))))
        p.condition.handle = next_random();
    is_bad = false;
    switch (below(4)) {
    case 0: case 1:
        if (!check(of_driver ? CU(cuGraphAddNode_v2, &made, graph, needs, NULL, (size_t)one_of(2), &p)
                             : CU(cudaGraphAddNode, &made, graph, needs, NULL, (size_t)one_of(2), &p)))
            break;
        add_node(made);
        for (unsigned i = 0; p.type == NODE_CONDITION && i < p.condition.count && !is_full(GRAPH) && is_checked(); i++)
            add_object(GRAPH, p.condition.graphs[i], 0, false);
        break;
    case 2: check(of_driver ? CU(cuGraphNodeSetParams, node, &p) : CU(cudaGraphNodeSetParams, node, &p)); break;
    default:
        exec = exec_of(graph);
        check(of_driver ? CU(cuGraphExecNodeSetParams, exec, node, &p) : CU(cudaGraphExecNodeSetParams, exec, node, &p));
    }
    is_bad = false;
}

static void use_node(void)
{
    union {
        int number;
        unsigned words[16];
    } value = {.words = {below(3), below(3), below(3)}};
    struct operation list[4];
    struct node_params p;
    void *arguments[3], *pointer, *made = NULL, *others[8];
    void *graph = handle_of(GRAPH), *needs[2] = {node_of(graph), node_of(graph)}, *node = node_of(graph), *exec = NULL;
    struct {
        int result;
        void *node, *from;
    } info;
    uint8_t out[256];
    uint32_t numbers[2];
    unsigned enabled;
    size_t count = below(8);

    const unsigned way = below(20);

    is_bad = false;
    make_parameters(&p, way < 11 ? NODE_BATCH : NODE_KERNEL, list, arguments, &pointer, numbers, false);
    switch (way) {
    case 0: check(CU(cudaGraphKernelNodeSetAttribute, node, (int)below(18), &value)); break;
    case 1: check(CU(cudaGraphKernelNodeGetAttribute, node, (int)below(18), &value)); break;
    case 2: check(CU(cudaGraphKernelNodeCopyAttributes, node, needs[0])); break;
    case 3: case 4: exec = exec_of(graph); check(CU(cudaGraphNodeSetEnabled, exec, node, below(2))); break;
    case 5: exec = exec_of(graph); check(CU(cudaGraphNodeGetEnabled, exec, node, one_of(9) ? NULL : &enabled)); break;
    case 6: check(CU(cudaGraphDebugDotPrint, graph, one_of(9) ? "/no/such/file" : "/dev/null", one_of(3) ? 1u : below(1 << 17))); break;
    case 7:
        if (check(CU(cuGraphAddBatchMemOpNode, &made, graph, needs, (size_t)below(3), &p.batch)))
            add_node(made);
        break;
    case 8: check(CU(cuGraphBatchMemOpNodeGetParams, node, out)); break;
    case 9: check(CU(cuGraphBatchMemOpNodeSetParams, node, &p.batch)); break;
    case 10: exec = exec_of(graph); check(CU(cuGraphExecBatchMemOpNodeSetParams, exec, node, &p.batch)); break;
    case 11: case 12:
        if (check(CU(cudaGraphAddKernelNode, &made, graph, needs, (size_t)below(3), &p.kernel)))
            add_node(made);
        break;
    case 13: check(CU(cudaGraphKernelNodeSetParams, node, &p.kernel)); break;
    case 14: check(CU(cudaGraphRemoveDependencies, graph, needs, &needs[1], NULL, (size_t)1)); break;
    case 15: check(CU(cudaGraphNodeGetDependencies, node, one_of(3) ? NULL : others, NULL, &count)); break;
    case 16: check(CU(cudaGraphNodeGetDependentNodes, node, one_of(3) ? NULL : others, NULL, &count)); break;
    case 17: check(CU(cudaGraphGetRootNodes, graph, one_of(3) ? NULL : others, &count)); break;
    case 18:
        if (check(CU(cudaGraphChildGraphNodeGetGraph, node, &made)) && !is_full(GRAPH))
            add_object(GRAPH, made, 0, false);
        break;
    default: exec = exec_of(graph); check(CU(cudaGraphExecUpdate, exec, graph, one_of(9) ? NULL : &info));
    }
    is_bad = false;
}

static void change_capture(void)
{
    void *stream = handle_of(STREAM), *graph = handle_of(GRAPH), *needs[2] = {node_of(graph), node_of(graph)};
    const void *const *tails;
    unsigned long long id;
    size_t count;
    int status;

    switch (below(3)) {
    case 0: is_bad = false; check(CU(cudaStreamUpdateCaptureDependencies, stream, needs, NULL, (size_t)below(3), below(3))); break;
    case 1:
        if (one_of(3) && check(CU(cudaStreamBeginCaptureToGraph, stream, graph, needs, NULL, (size_t)below(2), (int)below(4))))
            __atomic_fetch_add(&pool.captures, 1, __ATOMIC_RELAXED);
        break;
    default: check(CU(cudaStreamGetCaptureInfo, stream, &status, &id, &graph, &tails, NULL, &count));
    }
    is_bad = false;
}

#endif
