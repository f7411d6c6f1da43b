/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work of streams, and CUDA's graphs. A function of the runtime that works in a stream describes its work by a struct cu_work,
 * and passes it to cu_stream_submit(). If the stream is not being captured, the work is executed. Otherwise it becomes a node of
 * the graph that is being captured. Structures whose names begin with "cuda" have the layout of CUDA 13.
 */
#ifndef CU_GRAPH_PRIV_H
#define CU_GRAPH_PRIV_H

#include "runtime/cuda/cu_trace_priv.h"

struct cu_extent {
    size_t width, height, depth;
};
struct cu_position {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *pointer;
    size_t pitch, width, height;
};
/** Format of texels: the bits of each component, and the kind of the components (CU_CHANNEL_...). */
struct cudaChannelFormatDesc {
    int x, y, z, w, kind;
};
enum { CU_CHANNEL_SIGNED, CU_CHANNEL_UNSIGNED, CU_CHANNEL_FLOAT };
/** Flags of arrays. */
enum { CU_ARRAY_LAYERED = 1, CU_ARRAY_SURFACE = 2, CU_ARRAY_CUBEMAP = 4, CU_ARRAY_GATHER = 8, CU_ARRAY_FLAGS = 15 };
struct cu_array {
    struct cu_array *next;
    struct cudaChannelFormatDesc format;
    struct cu_extent size; /* in texels; height or depth 0: the array has no such dimension */
    unsigned flags, texel_bytes;
    size_t pitch, plane;   /* bytes of a row, and of a plane */
    void *address;
};
/** Returns true if the handle is an existing array; locked. */
bool cu_is_array(const struct cu_array *array);
/** Frees all arrays of the program, but not their memory; locked. */
void cu_arrays_reset(void);
/** Forgets the descriptions of all texture and surface objects; locked. */
void cu_textures_reset(void);
/** Returns the size of a texel, or 0 if the format is not valid. */
unsigned cu_texel_bytes(const struct cudaChannelFormatDesc *format);
/** Memory pools. The caller of all but cu_pool_allocate() holds the lock. */
struct cu_pool;
/** Returns the pool from which cudaMallocAsync() allocates. */
struct cu_pool *cu_pool_current(void);
/** Counts memory of a pool. Errors: cudaErrorInvalidValue if @pool is not a pool, cudaErrorMemoryAllocation if its limit does not
 *  permit the memory. */
cudaError_t cu_pool_add(struct cu_pool *pool, uint64_t bytes);
void cu_pool_remove(struct cu_pool *pool, uint64_t bytes);
void cu_pools_reset(void);
/** Removes a pool from the blocks of its memory. Called before the pool is freed; the program frees the memory later. */
void cu_memory_forget_pool(const struct cu_pool *pool);
/** Allocates memory of a pool in a stream; not locked. */
cudaError_t cu_pool_allocate(void **out, size_t bytes, struct cu_pool *pool, cudaStream_t stream);
/** A copy of up to three dimensions. If an array is involved, the width of the extent counts texels, else bytes. A position in
 *  an array counts texels, too. */
struct cudaMemcpy3DParms {
    struct cu_array *from_array;
    struct cu_position from_position;
    struct cudaPitchedPtr from;
    struct cu_array *to_array;
    struct cu_position to_position;
    struct cudaPitchedPtr to;
    struct cu_extent extent;
    int kind; /* enum cu_copy_kind */
};
enum cu_copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, DEFAULT };
/** A fill of @height rows of @width elements. */
struct cudaMemsetParams {
    void *to;
    size_t pitch;
    unsigned value, element_bytes; /* element_bytes: 1, 2 or 4 */
    size_t width, height;
};
struct cudaKernelNodeParams {
    const void *stub; /* stub of the kernel, or its struct cu_function */
    cu_dim3 grid, block;
    unsigned shared_bytes;
    void **arguments, **extra; /* extra: list of arguments as in cuLaunchKernel. One of `arguments` and `extra` is NULL */
};
struct cudaHostNodeParams {
    void (*function)(void *);
    void *user;
};

struct cudaMemAllocNodeParams {
    int allocation, handles, location_type, location_id;
    void *security;
    size_t limit;
    unsigned char reserved[56];
    const void *access;
    size_t access_count, bytes;
    void *pointer; /* set when the node is added */
};
/** Attributes of a kernel's launch that a kernel node keeps (graph/cu_graph_attributes.c). Each value has its first bytes. */
enum { CU_NODE_ATTRIBUTES = 9, CU_ATTRIBUTE_BYTES = 32 };
struct cu_attributes {
    unsigned char value[CU_NODE_ATTRIBUTES][CU_ATTRIBUTE_BYTES];
};
/** Operations on values in memory, in CUDA's layout (calls/cu_memory_ops.c). */
struct cu_operation {
    int type;
    unsigned long long address;
    uint64_t value; /* an operation of 32 bits uses the lower half */
    unsigned flags;
    uint64_t alias, reserved;
};
struct cu_batch {
    void *context;
    unsigned count;
    struct cu_operation *list; /* nodes own the list */
    unsigned flags;
};
/** Work of a conditional node. */
struct cu_choice {
    struct cu_condition *condition;
    int type; /* enum cudaGraphConditionalNodeType */
    unsigned count;
    struct cu_graph **graphs; /* [count], owned by nodes; NULL: cu_work_copy() creates them */
};

/** Types of work, as in enum cudaGraphNodeType. */
enum cu_work_type {
    CU_KERNEL, CU_COPY, CU_FILL, CU_HOST, CU_GRAPH, CU_EMPTY, CU_WAIT, CU_RECORD, CU_ALLOCATE = 10, CU_FREE, CU_BATCH,
    CU_CONDITION
};
struct cu_work {
    enum cu_work_type type;
    union {
        struct cudaKernelNodeParams kernel;
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        struct cu_graph *graph; /* nodes own this graph */
        cudaEvent_t event;
        struct cu_graph_memory *memory; /* of CU_ALLOCATE */
        void *pointer;                  /* of CU_FREE */
        struct cu_choice choice;
        struct cu_batch batch;
    };
    struct cu_attributes attributes; /* of CU_KERNEL */
};
/** cu_work_check() checks work as far as that is possible before the work is executed. The caller of these four
 *  functions holds the lock. */
cudaError_t cu_work_check(const struct cu_work *work);
cudaError_t cu_work_run(const struct cu_work *work);
/** Copies work. If the work is a kernel, its arguments are copied, too. If the work is a graph, the graph is copied, too. The
 *  caller frees the copy. */
cudaError_t cu_work_copy(const struct cu_work *work, struct cu_work *out);
void cu_work_free(struct cu_work *work);
/** Gets the graphs that belong to work, and returns their number. They are valid as long as @work is. */
size_t cu_work_graphs(const struct cu_work *work, struct cu_graph *const **out);

/* The functions that check and run work of one type. The caller holds the lock. */
cudaError_t cu_kernel_check(const struct cudaKernelNodeParams *p, struct cu_function **f, lanewise_shape *shape);
cudaError_t cu_kernel_run(const struct cudaKernelNodeParams *p);
enum { CU_COOPERATIVE = 2 }; /* attribute of a launch whose blocks all run at the same time */
/** An attribute of a launch, in CUDA's layout. */
struct cu_launch_attribute {
    int id, reserved;
    union {
        int number;
        unsigned dim[3];
        char room[64];
    } value;
};
/** Launches a kernel in a stream, with a list of attributes; not locked. Attributes that are hints have no effect. Errors:
 *  cudaErrorNotSupported for a cluster of several blocks; for a cooperative launch those of cu_cooperative_check(). */
cudaError_t cu_launch(const struct cudaKernelNodeParams *p, const struct cu_launch_attribute *list, unsigned count,
                      cudaStream_t stream);
/** Returns an error if a cooperative launch is not possible: those of cu_kernel_check(), or cudaErrorCooperativeLaunchTooLarge if not
 *  all blocks fit on the device at the same time, because each block may wait for all others. */
cudaError_t cu_cooperative_check(const struct cudaKernelNodeParams *p);
/** Sets an attribute. Errors: cudaErrorInvalidValue if kernel nodes do not have it, cudaErrorNotSupported if the device does not. */
cudaError_t cu_attribute_set(struct cu_attributes *attributes, int id, const void *value);
bool cu_attributes_cooperate(const struct cu_attributes *attributes);
/** Checks and executes operations on values in memory. While the second one waits for a value, it releases the lock. */
cudaError_t cu_batch_check(const struct cu_batch *batch);
cudaError_t cu_batch_run(const struct cu_batch *batch);
cudaError_t cu_batch_copy(const struct cu_batch *batch, struct cu_batch *out);
/** Returns true if an executable graph may exchange @a for @b: they have operations of the same types. */
bool cu_batches_are_alike(const struct cu_batch *a, const struct cu_batch *b);
/** Copies the arguments to memory from malloc(). The memory begins with an array of pointers to the copied arguments. */
cudaError_t cu_kernel_arguments(const struct cudaKernelNodeParams *p, void ***out);
/** Copies the box of memory that @c describes. With @only_check, only checks the parameters. */
cudaError_t cu_copy(const struct cudaMemcpy3DParms *c, bool only_check);
cudaError_t cu_fill(const struct cudaMemsetParams *p, bool only_check);
/** Returns the parameters of a copy of @height rows of @width bytes. */
struct cudaMemcpy3DParms cu_copy_of(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                    int kind);
/** Returns the parameters of a copy to a variable (@to is NULL) or from a variable (@from is NULL). */
cudaError_t cu_copy_symbol(const void *symbol, void *to, const void *from, size_t bytes, size_t offset, int kind,
                           struct cudaMemcpy3DParms *out);
bool cu_is_event(cudaEvent_t event);
void cu_event_record(cudaEvent_t event);

/* ---- graphs (cu_graph.c) ------------------------------------------------------------------------------------------ */

typedef struct cu_graph *cudaGraph_t;
typedef struct cu_node *cudaGraphNode_t;
typedef struct cu_exec *cudaGraphExec_t;

/** A set of nodes of one graph. */
struct cu_nodes {
    struct cu_node **node; /* [count] */
    size_t count, room;
};
bool cu_nodes_add(struct cu_nodes *set, struct cu_node *node);
bool cu_nodes_add_all(struct cu_nodes *set, const struct cu_nodes *more);
bool cu_nodes_have(const struct cu_nodes *set, const struct cu_node *node);
void cu_nodes_clear(struct cu_nodes *set);

struct cu_node {
    struct cu_graph *graph;
    struct cu_nodes needs; /* nodes on which this node depends */
    struct cu_work work;
    uint64_t id, origin;   /* id: different for all nodes; origin: id of the node of which this is a copy, or 0 */
    bool marked;           /* for functions that traverse the graph */
    bool disabled;         /* of an executable graph: the node is not executed */
};
/** References of a graph to a user object (calls/cu_user_object.c). */
struct cu_reference {
    struct cu_reference *next;
    struct cu_user_object *object;
    uint64_t count;
};
struct cu_graph {
    struct cu_graph *next; /* list of all graphs that the program may use */
    struct cu_nodes nodes; /* in the order in which they were added */
    bool belongs;          /* the graph belongs to a node, so the program must not destroy it */
    bool captures;         /* a capture adds nodes */
    struct cu_reference *references;
};
/** Adds the references of a graph to those of a copy; locked. */
cudaError_t cu_references_copy(const struct cu_graph *from, struct cu_graph *to);
/** Ends all references of a graph; locked. */
void cu_references_end(struct cu_graph *graph);
/** Calls the destructors of the objects whose last reference has ended. Called without the lock after graphs may have been freed. */
void cu_user_objects_end(void);
bool cu_is_graph(const struct cu_graph *graph);
cudaError_t cu_graph_new(struct cu_graph **out);
void cu_graph_free(struct cu_graph *graph);
/** Copies a graph. The nodes of the copy are in an order in which they can be executed. */
cudaError_t cu_graph_copy(const struct cu_graph *graph, struct cu_graph **out);
/** Makes a graph usable by the program. */
void cu_graph_publish(struct cu_graph *graph);
/** Adds a node that depends on the nodes of @needs. */
cudaError_t cu_graph_add(struct cu_graph *graph, const struct cu_nodes *needs, const struct cu_work *work, struct cu_node **out);
/** Executes the nodes of a copied graph. */
cudaError_t cu_graph_run(const struct cu_graph *graph);
/** Frees all graphs of the program. */
void cu_graphs_reset(void);
/** Frees all executable graphs of the program (cu_graph_exec.c). */
void cu_execs_reset(void);
/** Returns true if all of @nodes are nodes of @graph. */
bool cu_graph_has(const struct cu_graph *graph, const cudaGraphNode_t *nodes, size_t count);
/** Returns true if the data of all edges is zero: each edge is a dependency on the whole work of a node. */
bool cu_edges_are_plain(const void *edges, size_t count);
bool cu_is_node(const struct cu_node *node);

/** Adds a node to a graph of the program; checks all arguments. */
cudaError_t cu_node_add(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                        const struct cu_work *work);
/** Replaces the work of a node by a copy of @work, but keeps its attributes. */
cudaError_t cu_node_set(cudaGraphNode_t node, const struct cu_work *work);
/** Replaces the work of the copy of @node in an executable graph. If the work is a graph, its structure must be that of the node's
 *  present graph. */
cudaError_t cu_exec_set(cudaGraphExec_t exec, cudaGraphNode_t node, const struct cu_work *work);
/** Gets the parameters of a node whose work has the type @type. */
cudaError_t cu_node_get(cudaGraphNode_t node, enum cu_work_type type, size_t bytes, void *out);

/** Parameters of a node of any type, in the layout of CUDA's runtime (graph/cu_graph_params.c). */
struct cudaGraphNodeParams {
    int type, reserved[3]; /* type: enum cu_work_type */
    union {
        struct cudaKernelNodeParams kernel;
        struct {
            int flags, reserved[3];
            struct cudaMemcpy3DParms copy;
        } copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        struct {
            cudaGraph_t graph;
            int ownership;
        } child;
        cudaEvent_t event;
        struct cudaMemAllocNodeParams allocation;
        void *pointer;
        struct {
            unsigned long long handle;
            int type;
            unsigned count;
            cudaGraph_t *graphs;
        } condition;
        struct cu_batch batch; /* only the driver interface has these nodes */
        long long room[29];
    };
    long long reserved_end;
};

/* ---- memory of graphs (memory/cu_graph_memory.c); the caller holds the lock ------------------------------------------ */

/** Reserves addresses for memory of a graph. The memory has no references yet; the first release frees it. */
cudaError_t cu_graph_memory_create(size_t bytes, struct cu_graph_memory **out);
uint64_t cu_graph_memory_address(const struct cu_graph_memory *m);
void cu_graph_memory_retain(struct cu_graph_memory *m);
void cu_graph_memory_release(struct cu_graph_memory *m);
/** Returns true if a pointer is in memory of a graph, which need not be allocated at present. */
bool cu_graph_memory_has(const void *pointer);
cudaError_t cu_graph_memory_allocate(struct cu_graph_memory *m);
/** Frees allocated memory of a graph. cudaErrorInvalidValue: @pointer is not the beginning of such memory. */
cudaError_t cu_graph_memory_free(const void *pointer);
void cu_graph_memory_reset(void);
/** Returns true if a graph, or a graph of its nodes, allocates or frees memory. */
bool cu_graph_has_memory(const struct cu_graph *graph);
/** Returns true if an executable graph has a copy of a node that allocates. */
bool cu_graph_is_instantiated(const struct cu_graph *graph);
void cu_graph_count_instance(const struct cu_graph *graph, int change);
/** Called before a launch. If memory of the graph's nodes is still allocated, frees it, or, if @frees is false, returns
 *  cudaErrorInvalidValue. */
cudaError_t cu_graph_memory_prepare(const struct cu_graph *graph, bool frees);
/** Returns true if a node that frees @pointer may be added to the graph. */
bool cu_graph_may_free(const struct cu_graph *graph, const void *pointer);
/** The function cudaGraphAddMemAllocNode(); not locked. */
cudaError_t cu_graph_add_allocation(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                    struct cudaMemAllocNodeParams *p);

/* ---- conditions of graphs (cu_graph_node.c); the caller holds the lock ----------------------------------------------- */

void cu_condition_retain(struct cu_condition *c);
void cu_condition_release(struct cu_condition *c);
/** Called before a graph of the program is freed, to free its conditions that no node uses. */
void cu_conditions_forget(const struct cu_graph *graph);
/** Sets the conditions of a graph to their initial values, before the graph is launched. */
void cu_conditions_begin(const struct cu_graph *graph);
cudaError_t cu_choice_run(const struct cu_choice *choice);
/** Adds a conditional node, and gets its graphs. The condition must belong to the graph, or to a graph that contains it. Not locked. */
cudaError_t cu_node_add_condition(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
                                  struct cudaGraphNodeParams *p);

/* ---- streams and captures (cu_stream.c, cu_capture.c) -------------------------------------------------------------- */

enum { CU_STREAM_NON_BLOCKING = 1 };
struct cu_stream {
    struct cu_stream *next;
    unsigned flags;
    unsigned long long id;             /* cudaStreamGetId() */
    struct cu_capture *capture;        /* the capture to which the stream belongs, or NULL */
    struct cu_stream *next_in_capture;
    struct cu_nodes tails;             /* during a capture: nodes on which the next node of the stream depends */
    uint64_t after;                    /* number of the call (rt_call()) that precedes the next work of the stream, or 0 */
};
struct cu_event {
    struct cu_event *next;
    uint64_t time_ns;
    unsigned flags;
    bool recorded, captured;    /* captured: the event was last recorded in a capture */
    struct cu_capture *capture; /* NULL: the event was not captured, or the capture has ended */
    struct cu_nodes tails;      /* nodes on which work depends that waits for the event */
    uint64_t after;             /* number of the call that the event follows, or 0 */
};
/** Returns the structure of a stream, or NULL for the default stream. */
struct cu_stream *cu_stream_of(cudaStream_t stream);
/** Returns the structure of a stream that is to be captured; creates that of cudaStreamPerThread. */
struct cu_stream *cu_stream_make(cudaStream_t stream);
struct cu_event *cu_events_first(void);

/** Executes work in a stream, or, with @now, before the function returns; not locked. Returns the error as cu_return() does. */
cudaError_t cu_submit(struct cu_work work, cudaStream_t stream, bool now);
/** Returns true if the stream belongs to a capture; locked. */
bool cu_stream_captures(cudaStream_t stream);
/** Returns the error of adding work to a stream: the handle is not valid, or the default stream must wait for a stream that is being
 *  captured; locked. */
cudaError_t cu_stream_check(cudaStream_t stream);
/** Executes work in a stream, or adds it to the graph that is being captured; locked. */
cudaError_t cu_stream_submit(cudaStream_t stream, const struct cu_work *work);
/** Captures may forbid two kinds of functions: those that work in the default stream and are complete when they return
 *  (@uses_default_stream), and those that allocate or free memory. If a capture forbids the call, makes the capture invalid, and
 *  returns the error of the call. Locked. */
cudaError_t cu_capture_forbids(bool uses_default_stream);
/** Returns the error of a call that waits for a stream (with @device: for the device) or queries its state; locked. */
cudaError_t cu_capture_forbids_wait(cudaStream_t stream, bool device);
cudaError_t cu_capture_record(cudaStream_t stream, cudaEvent_t event, bool external);
cudaError_t cu_capture_wait(cudaStream_t stream, cudaEvent_t event, bool external);
/** Returns true if work that frees @pointer may be added to a capture; locked. */
bool cu_capture_may_free(const struct cu_capture *capture, const void *pointer);
/** Removes a stream or event from the captures to which it belongs. Called before the stream or event is freed. */
void cu_capture_forget_stream(struct cu_stream *s);
void cu_capture_forget_event(struct cu_event *e);
void cu_captures_reset(void);
/** Ends the capture that adds nodes to a graph, before the graph is freed. */
void cu_capture_forget_graph(const struct cu_graph *graph);
/** Makes a capture, if there is one, invalid. */
void cu_capture_invalidate(struct cu_capture *capture);

#endif
