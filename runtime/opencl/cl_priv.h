/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the OpenCL driver: its objects and commands. Functions whose names begin with cl and a capital letter
 * are those of the OpenCL specification. */
#ifndef CL_PRIV_H
#define CL_PRIV_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#pragma GCC visibility push(default) /* the linker script exports.map selects which of these functions are exported */
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#pragma GCC visibility pop

#include "runtime/rt_priv.h"

extern const struct _cl_icd_dispatch cl_dispatch;

enum {
    CL_LOCAL_BYTES = 65536, /* largest size of the local memory of a work-group */
    CL_SUB_GROUP_SIZE = 32  /* work-items of a sub-group, which is a warp in PTX */
};
/** Extensions with the numbers of their versions. They need a warp width of 32 or 64, because a sub-group is a warp of PTX, which has
 *  32 threads. */
#define CL_SUB_GROUPS(X) \
    X(cl_khr_subgroups, 1, 0, 0) \
    X(cl_khr_subgroup_extended_types, 1, 0, 0) \
    X(cl_khr_subgroup_non_uniform_vote, 1, 0, 0) \
    X(cl_khr_subgroup_ballot, 1, 0, 0) \
    X(cl_khr_subgroup_non_uniform_arithmetic, 1, 0, 0) \
    X(cl_khr_subgroup_shuffle, 1, 0, 0) \
    X(cl_khr_subgroup_shuffle_relative, 1, 0, 0) \
    X(cl_khr_subgroup_clustered_reduce, 1, 0, 0)
/** Returns the largest number of sub-groups in a work-group, or 0 if the device does not support sub-groups. */
unsigned cl_max_sub_groups(void);

enum cl_kind { CL_KIND_CONTEXT = 1, CL_KIND_QUEUE, CL_KIND_MEM, CL_KIND_PROGRAM, CL_KIND_KERNEL, CL_KIND_EVENT, CL_KIND_SAMPLER };
struct cl_svm;
/** First member of every object except the platform and the device. An object exists while the user, other objects or
 *  commands have references to it. The handle of an object is valid while the user has references. The handle of a context,
 *  queue or program is valid as long as the object exists, because queries of other objects return the handle. */
struct cl_object {
    const struct _cl_icd_dispatch *dispatch; /* must be the first member, because the loader reads it */
    struct cl_trace *trace; /* calls that created and released the object; NULL: the program's calls are not checked */
    enum cl_kind kind;
    unsigned references; /* number of references of the user */
    unsigned holds;      /* number of references of other objects and of commands */
    struct _cl_context *context; /* context of the object, to which the object has a reference; NULL: the object is a
                                  * context */
    struct cl_object *next;      /* of a destroyed object (cl_object.c) */
};
/* Checks of the program's calls (cl_trace.c), for the kinds of findings "api-...". */
/** Called when an object has been created. Records the present call, if calls are checked. */
void cl_trace_begin(struct cl_object *object);
/** Called before an object is destroyed, while it still has its members. */
void cl_trace_ending(const struct cl_object *object);
/** Called when the user has released the last reference to an object. Records the present call. */
void cl_trace_released(struct cl_object *object);
/** Recycles an object that has no references left. If calls are checked, recycles it later, so that no new object gets the same
 *  handle for a while. */
void cl_trace_end(struct cl_object *object);
/** Reports the use of @handle, which is not valid, if it was an object of @kind that the user has released. */
void cl_trace_use(const void *handle, enum cl_kind kind);
/** Called at the end of each call of function @name by the program: reports the call if its error code @error means that arguments
 *  are wrong. Called without the lock. */
void cl_trace_call(const char *name, cl_int error);
/** States why the call in progress fails, for the finding of cl_trace_call(), in place of the reason of its error code. */
void cl_trace_reason(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Called when shared virtual memory has been allocated, and before it is freed by the program. */
void cl_trace_svm_begin(struct cl_svm *svm);
void cl_trace_svm_released(struct cl_svm *svm);
/** Frees @svm, which the program has freed, or which it has not freed when its context ends. */
void cl_trace_svm_end(struct cl_svm *svm);
/** Reports that the program frees @pointer, which is not shared virtual memory of the context. */
void cl_trace_svm_wrong(const void *pointer);
/** Called when a build of a program has failed (@failed), or when its log has been read or a later build has succeeded. */
void cl_trace_build(struct _cl_program *program, bool failed);
/** Calls @visit for every object. */
void cl_object_each(void (*visit)(struct cl_object *object, void *context), void *context);

/** Allocates an object with one reference of the user and a reference to @context. Returns NULL if the host has no memory.
 *  The caller holds the lock, as for all functions of this header whose comments do not say otherwise. */
void *cl_object_create(enum cl_kind kind, size_t bytes, struct _cl_context *context);
/** Keeps the memory of a destroyed object for a later object. */
void cl_object_recycle(struct cl_object *object);
/** Returns true if @handle is a valid handle of an object of @kind. @handle may have any value. */
bool cl_object_is(const void *handle, enum cl_kind kind);
void cl_object_hold(void *object);
void cl_object_drop(void *object);
/** Implements the functions clRetain... for objects of @kind; takes the lock. Returns @invalid if @handle is not the handle
 *  of such an object. */
cl_int cl_object_retain_handle(void *handle, enum cl_kind kind, cl_int invalid);
/** Implements the functions clRelease... for objects of @kind, as cl_object_retain_handle() implements clRetain... */
cl_int cl_object_release_handle(void *handle, enum cl_kind kind, cl_int invalid);

struct _cl_platform_id {
    const struct _cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
    const struct _cl_icd_dispatch *dispatch;
};
extern struct _cl_platform_id cl_the_platform;
extern struct _cl_device_id cl_the_device;

/** A callback of the user for the destruction of an object. The callback registered last is called first. */
struct cl_destructor {
    struct cl_destructor *next;
    void(CL_CALLBACK *notify)(void *object, void *context);
    void *context;
};

struct _cl_context {
    struct cl_object object;
    cl_context_properties *properties; /* properties that the user gave, with the terminator; or NULL */
    size_t property_bytes;
    struct cl_destructor *destructors;
    struct cl_svm *svm; /* allocations of shared virtual memory */
};
/** An allocation of shared virtual memory, which belongs to a context. */
struct cl_svm {
    struct cl_svm *next;
    uint64_t address;
    size_t bytes;
    struct cl_svm_trace *trace; /* calls that allocated and freed the memory; NULL: the program's calls are not checked */
};
/** Frees the shared virtual memory of a context. */
void cl_svm_end(struct _cl_context *context);
/** Returns true if the range is inside one allocation of shared virtual memory of @context. */
bool cl_svm_holds(const struct _cl_context *context, const void *pointer, size_t bytes);

struct _cl_command_queue {
    struct cl_object object;
    struct rt_queue queue;
    cl_command_queue_properties properties;
    cl_queue_properties *list; /* properties given to clCreateCommandQueueWithProperties, with the terminator; or NULL */
    size_t list_bytes;
};

struct _cl_event {
    struct cl_object object;
    struct rt_event event;
    struct _cl_command_queue *queue; /* queue of the event's command, with a reference; NULL: a user event */
    cl_command_type type;
};

/** A three-dimensional box of bytes in a memory object or in host memory. */
struct cl_box {
    size_t offset;          /* offset of the first byte of the box */
    size_t row, slice;      /* distances in bytes from one row to the next, and from one slice to the next */
};
/** A mapped range of a memory object. The object that owns the memory has the maps of all objects that use the memory. */
struct cl_map {
    struct cl_map *next;
    struct _cl_mem *mem;    /* memory object that is mapped, borrowed: its maps end with it */
    struct cl_box box;
    size_t region[3];       /* size of a row in bytes, number of rows, number of slices */
    bool writes;
};
/** Properties of an image. Coordinates are x, y and z; the last one of an array of images is the layer. */
struct cl_image {
    cl_mem_object_type type; /* CL_MEM_OBJECT_BUFFER: the memory object is a buffer, and the other members are not used */
    cl_image_format format;
    size_t size[3];          /* number of texels in each dimension, at least 1; the last number of an array is that of layers */
    size_t texel, row, slice; /* size of a texel, and distances of rows and of slices, in bytes */
    uint64_t descriptor;     /* address of the descriptor (cl_image.c) in the device's memory */
};
struct _cl_mem {
    struct cl_object object;
    struct _cl_mem *parent; /* for a sub-buffer, or an image of another object: that object, with a reference; else NULL */
    size_t origin;          /* offset of the data in the object that owns the memory (cl_mem_root()) */
    struct cl_image image;
    uint64_t address;       /* address of the data in the device's memory */
    size_t bytes;
    cl_mem_flags flags;
    void *host_pointer;     /* the user's pointer if CL_MEM_USE_HOST_PTR is given; else NULL */
    bool is_svm;            /* the host pointer is shared virtual memory, which is the memory of the buffer */
    uint8_t *shadow;        /* host memory for mapped ranges: host_pointer, or owned; NULL: not needed yet, or a sub-buffer,
                             * which uses that of its parent */
    struct cl_map *maps;    /* maps of this object and of its parts; NULL if the object has a parent */
    unsigned map_count;     /* number of maps of this object */
    cl_mem_properties *properties;
    size_t property_bytes;
    struct cl_destructor *destructors;
};

/** A compiled source. Several programs share it if they were linked from the same compiled program. */
struct cl_unit {
    unsigned references;
    char *ptx;              /* PTX by clCompileProgram; NULL: the unit was compiled by clBuildProgram */
    size_t ptx_bytes;
    char *source, *options; /* NULL: the unit was loaded from a binary */
    size_t source_bytes;
    bool is_il;             /* the source is a SPIR-V module */
    lanewise_text *headers; /* headers with their texts, in one block */
    unsigned header_count;
    char *description;      /* result of lanewise_describe(), or NULL if it is not available */
    bool described;         /* lanewise_describe() was called, which happens at the first query */
};
void cl_unit_drop(struct cl_unit *unit);

/** Value of a specialization constant of a SPIR-V module. */
struct cl_il_value {
    cl_uint id;
    size_t bytes; /* number of bytes of the value */
    uint8_t value[8];
};
struct _cl_sampler {
    struct cl_object object;
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    cl_sampler_properties *properties; /* properties that the user gave, with the terminator; or NULL */
    size_t property_bytes;
};
/** Returns the value of a sampler as a kernel's argument: the number that OpenCL C has for it (CLK_NORMALIZED_COORDS_TRUE and
 *  so on). */
uint64_t cl_sampler_value(const struct _cl_sampler *sampler);

struct _cl_program {
    struct cl_object object;
    void *il;               /* SPIR-V module that the user gave; or NULL */
    size_t il_bytes;
    struct cl_il_value *values;
    unsigned value_count;
    char *source;           /* source, joined from all strings that the user gave; or NULL */
    void *binary;           /* binary that the user gave, or that a query needed; or NULL */
    size_t binary_bytes;
    char *options, *log;    /* options and log of the last build, owned; or NULL */
    cl_build_status status;
    cl_program_binary_type type;
    struct cl_unit **units; /* units of the program, with a reference to each */
    unsigned unit_count;
    lanewise_module *module; /* the executable; NULL: the program is not built, or is not linked to an executable */
    unsigned kernels;       /* number of existing kernel objects of the program */
};
/** Creates a program that has nothing yet. Returns NULL after setting *@error. Locked. */
struct _cl_program *cl_program_create(cl_context context, cl_int *error);
/** Answer queries of the device for the versions of SPIR-V. */
cl_int cl_il_answer_names(size_t room, void *out, size_t *size);
cl_int cl_il_answer_versions(size_t room, void *out, size_t *size);
/** Returns a copy of a program's SPIR-V module in which specialization constants have the values that the user has set. The caller
 *  frees it. Returns NULL if the host has no memory. */
void *cl_il_specialized(const struct _cl_program *program);
/** Returns a pointer into the output of lanewise_describe(), to the line with the name and attributes of a kernel. Returns
 *  NULL if the kernel's source is not known. */
const char *cl_program_describe(struct _cl_program *program, const char *kernel);

struct cl_argument {
    lanewise_param param;
    void *value;            /* value of the argument; for a LOCAL parameter its size as a uint64_t */
    bool set;               /* the user has set the argument */
    struct _cl_mem *mem;    /* buffer or image of the argument, or NULL; without a reference, because by the specification the
                             * user must keep it */
};
struct _cl_kernel {
    struct cl_object object;
    struct _cl_program *program; /* program of the kernel, with a reference */
    lanewise_kernel *kernel;
    lanewise_kernel_needs needs;
    unsigned argument_count;
    struct cl_argument *arguments;
};

/* Free the members of an object of each kind, when it has no references left. */
void cl_context_end(struct _cl_context *context);
void cl_queue_end(struct _cl_command_queue *queue);
void cl_mem_end(struct _cl_mem *mem);
void cl_program_end(struct _cl_program *program);
void cl_kernel_end(struct _cl_kernel *kernel);
void cl_event_end(struct _cl_event *event);
void cl_sampler_end(struct _cl_sampler *sampler);

/** Answers a query: copies @bytes bytes of *@value to @out and stores @bytes in *@size. @out and @size may be NULL. Returns
 *  CL_INVALID_VALUE if @room, the size of the memory at @out, is too small. */
cl_int cl_answer(const void *value, size_t bytes, size_t room, void *out, size_t *size);
cl_int cl_answer_text(const char *text, size_t room, void *out, size_t *size);
#define CL_ANSWER(type, value) cl_answer(&(type){value}, sizeof(type), room, out, size)
/** Stores an error code if @to is not NULL. */
void cl_put_error(cl_int *to, cl_int error);
/** Returns true if the list consists of the platform's one device. */
bool cl_is_device(cl_uint count, const cl_device_id *devices);

/** A command of a queue. */
struct cl_command {
    struct rt_command command; /* must be the first member */
    struct _cl_event *event;   /* event of the command */
    struct _cl_mem *mems[2];   /* memory objects to which the command has a reference, or NULL if there is none */
    void **objects;            /* other objects to which the command has references: object_count of them; owned array */
    unsigned object_count;
    void *memory;              /* memory that is freed together with the command; or NULL */
};
/**
 * Creates a command for @queue, which waits for the events of the list. @bytes is the size of a structure that begins with
 * struct cl_command. On CL_SUCCESS the caller passes *@out to cl_command_enqueue or cl_command_cancel.
 */
cl_int cl_command_create(cl_command_queue queue, cl_command_type type, cl_uint wait_count, const cl_event *waits,
                         size_t bytes, int (*run)(struct rt_command *), struct cl_command **out);
void cl_command_hold_mem(struct cl_command *command, cl_mem mem);
void cl_command_cancel(struct cl_command *command);
/** Enqueues a command, sets *@event to its event unless @event is NULL, and releases the lock. Then executes the commands
 *  that are ready, and waits for this command if @blocking is set. Returns the error of a blocking command, else
 *  CL_SUCCESS. */
cl_int cl_command_enqueue(cl_command_queue queue, struct cl_command *command, bool blocking, cl_event *event);
/** Enqueues a command that does nothing. Called without the lock. */
cl_int cl_enqueue_nothing(cl_command_queue queue, cl_command_type type, cl_uint count, const cl_event *waits, cl_event *event);

/* ---- memory objects (cl_memory.c) ---------------------------------------------------------------------------------- */

/** Checks the flags of a new buffer or image, and that a host pointer is given if and only if the flags need one. */
cl_int cl_check_flags(cl_mem_flags flags, const void *host);
/** Checks the flags of a new memory object that uses the memory of @parent. */
cl_int cl_check_child_flags(const struct _cl_mem *parent, cl_mem_flags flags);
/** Returns the flags of a memory object that was created with @flags and uses the memory of @parent. */
cl_mem_flags cl_child_flags(const struct _cl_mem *parent, cl_mem_flags flags);
/** Returns the object that owns the memory of @mem: @mem itself, or an object of which it is a part. */
struct _cl_mem *cl_mem_root(struct _cl_mem *mem);
/** Returns true if the memory object is an image. */
bool cl_is_image(const struct _cl_mem *mem);

enum { /* largest numbers of texels and layers of images */
    CL_IMAGE_2D_SIZE = 16384,
    CL_IMAGE_3D_SIZE = 2048,
    CL_IMAGE_LAYERS = 2048,
    CL_IMAGE_BUFFER_TEXELS = 1 << 27
};
/** Returns the distance in bytes between texels whose second coordinates differ by 1. */
size_t cl_image_pitch(const struct cl_image *image);

/* ---- copies and maps (cl_copy.c) --------------------------------------------------------------------------------- */

/** Direction of a copy: from a memory object to the host, from the host to a memory object, or from one memory object to
 *  another. */
enum cl_way { CL_FROM_MEM, CL_TO_MEM, CL_BETWEEN };
struct cl_copy {
    struct cl_command base;
    enum cl_way way;
    uint64_t address, other; /* address: device address of the memory object or, for CL_BETWEEN, of the destination; other: for
                              * CL_BETWEEN, of the source */
    uint8_t *host;
    size_t region[3];        /* size of a row in bytes, number of rows, number of slices */
    struct cl_box box, other_box; /* other_box: the box in the memory of the host or of the source */
};
/** Checks that @queue is a queue, and @mem a buffer or (@image) an image of the queue's context. */
cl_int cl_check_mem(cl_command_queue queue, cl_mem mem, bool image);
/** Checks that the flags of the memory object permit reads by the host, or writes if @reads is false. */
cl_int cl_check_host_access(const struct _cl_mem *mem, bool reads);
/** Enqueues a copy with the members of @values, and with @blocking waits for it. @second: another memory object of the copy, or
 *  NULL. The caller holds the lock, and this function releases it. */
cl_int cl_copy_enqueue(cl_command_queue queue, cl_command_type type, const struct cl_copy *values, cl_mem mem, cl_mem second,
                       bool blocking, cl_uint count, const cl_event *waits, cl_event *event);
/** Returns true if the two boxes of a copy have a byte in common. @a and @b are the addresses to which their offsets are
 *  added. */
bool cl_boxes_overlap(const struct cl_copy *copy, uint64_t a, uint64_t b);
/** Returns CL_SUCCESS, or CL_OUT_OF_RESOURCES after printing the machine's error. @result is a result of lanewise.h. */
int cl_result(int result, const char *what);
/** Enqueues the map of a box whose members except `next` the caller has set. Returns its address in the host's memory, or NULL
 *  after setting *@error. The caller holds the lock, and this function releases it. */
void *cl_map_enqueue(cl_command_queue queue, cl_command_type type, cl_mem mem, const struct cl_map *values, cl_bool blocking,
                     cl_map_flags flags, cl_uint count, const cl_event *waits, cl_event *event, cl_int *error);

/* Entries of the dispatch table for objects of OpenGL and EGL. These functions return the error CL_INVALID_OPERATION. */
cl_int CL_API_CALL cl_refuse_call(void);
cl_mem CL_API_CALL cl_refuse_gl_buffer(cl_context context, cl_mem_flags flags, cl_uint name, cl_int *error);
cl_mem CL_API_CALL cl_refuse_gl_texture(cl_context context, cl_mem_flags flags, cl_uint target, cl_int level, cl_uint name,
                                        cl_int *error);
cl_mem CL_API_CALL cl_refuse_egl_image(cl_context context, void *display, void *image, cl_mem_flags flags,
                                       const intptr_t *properties, cl_int *error);
cl_event CL_API_CALL cl_refuse_egl_sync(cl_context context, void *sync, void *display, cl_int *error);
cl_event CL_API_CALL cl_refuse_gl_sync(cl_context context, void *sync, cl_int *error);

#endif
