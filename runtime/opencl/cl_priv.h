/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the OpenCL driver. Names of functions of the interface are the specification's. */
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
    CL_LOCAL_BYTES = 65536, /* bytes of local memory of a work-group */
    CL_SUB_GROUP_SIZE = 32  /* work-items of a sub-group, which is a warp of PTX */
};
/** Returns the number of sub-groups that a work-group can have; 0: the device has no sub-groups. */
unsigned cl_max_sub_groups(void);

enum cl_kind { CL_KIND_CONTEXT = 1, CL_KIND_QUEUE, CL_KIND_MEM, CL_KIND_PROGRAM, CL_KIND_KERNEL, CL_KIND_EVENT };
/** First member of every object except platform and device. A handle is valid while the user has references. The
 *  object exists while any holder has references. The handle of a context, queue or program is valid as long as the
 *  object, since queries of objects created from it return the handle. */
struct cl_object {
    const struct _cl_icd_dispatch *dispatch; /* first member, because the loader reads it */
    struct cl_trace *trace; /* calls of the program that created and released the object; NULL: they are not checked */
    enum cl_kind kind;
    unsigned references; /* number of references that the user has */
    unsigned holds;      /* number of references of other objects and of commands */
    struct _cl_context *context; /* context of the object, which holds a reference to it; NULL: the object is the
                                  * context */
};
/* Checks of the program's calls (cl_trace.c), by the kinds of findings "api-...". */
/** Begins to trace a new object, if calls are checked. */
void cl_trace_begin(struct cl_object *object);
/** Checks an object that is about to be destroyed and still has its members. */
void cl_trace_ending(const struct cl_object *object);
/** Records that the program has released its last reference. */
void cl_trace_released(struct cl_object *object);
/** Ends the life of an object that has no references left: frees it, or keeps it for a while, so that its handle is not used again. */
void cl_trace_end(struct cl_object *object);
/** Reports the use of @handle, which is not valid, if it was an object of @kind that the program has released. */
void cl_trace_use(const void *handle, enum cl_kind kind);
/** Records that a build failed and its log has not been read yet, or (@failed false) that this is no longer so. */
void cl_trace_build(struct _cl_program *program, bool failed);
/** Calls @visit for every object. */
void cl_object_each(void (*visit)(struct cl_object *object, void *context), void *context);

/** Allocates an object with one reference of the user and a reference to @context. Returns NULL if memory is short.
 *  Locked, as are all functions of this header. */
void *cl_object_create(enum cl_kind kind, size_t bytes, struct _cl_context *context);
/** Returns true if @handle is a valid handle of an object of @kind, whatever its bits are. */
bool cl_object_is(const void *handle, enum cl_kind kind);
void cl_object_hold(void *object);
void cl_object_drop(void *object);
/** Implements clRetain... for objects of @kind; takes the lock. @invalid: the error for a handle that is not one of such an
 *  object. */
cl_int cl_object_retain_handle(void *handle, enum cl_kind kind, cl_int invalid);
/** Implements clRelease... in the same way. */
cl_int cl_object_release_handle(void *handle, enum cl_kind kind, cl_int invalid);

struct _cl_platform_id {
    const struct _cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
    const struct _cl_icd_dispatch *dispatch;
};
extern struct _cl_platform_id cl_the_platform;
extern struct _cl_device_id cl_the_device;

/** Called when an object is destroyed; the callback registered last is called first. */
struct cl_destructor {
    struct cl_destructor *next;
    void(CL_CALLBACK *notify)(void *object, void *context);
    void *context;
};

struct _cl_context {
    struct cl_object object;
    cl_context_properties *properties; /* properties as given, with the terminator, or NULL */
    size_t property_bytes;
    struct cl_destructor *destructors;
    struct cl_svm *svm; /* allocations of shared virtual memory */
};
/** Frees the shared virtual memory of a context. */
void cl_svm_end(struct _cl_context *context);
/** Returns true if the range lies in one allocation of shared virtual memory of @context. */
bool cl_svm_holds(const struct _cl_context *context, const void *pointer, size_t bytes);

struct _cl_command_queue {
    struct cl_object object;
    struct rt_queue queue;
    cl_command_queue_properties properties;
    cl_queue_properties *list; /* properties of clCreateCommandQueueWithProperties, with the terminator; or NULL */
    size_t list_bytes;
};

struct _cl_event {
    struct cl_object object;
    struct rt_event event;
    struct _cl_command_queue *queue; /* held; NULL: the event is a user event */
    cl_command_type type;
};

/** A mapped range of a buffer. */
struct cl_map {
    struct cl_map *next;
    size_t offset, bytes;
    bool writes;
};
struct _cl_mem {
    struct cl_object object;
    struct _cl_mem *parent; /* parent of a sub-buffer; held */
    size_t origin;          /* offset in the parent */
    uint64_t address;       /* address in the machine's memory */
    size_t bytes;
    cl_mem_flags flags;
    void *host_pointer;     /* CL_MEM_USE_HOST_PTR */
    bool is_svm;            /* the host pointer is shared virtual memory, and the buffer has no memory of its own */
    uint8_t *shadow;        /* memory of the host for mapped ranges: host_pointer, or owned; of the parent */
    struct cl_map *maps;
    unsigned map_count;
    cl_mem_properties *properties;
    size_t property_bytes;
    struct cl_destructor *destructors;
};

/** A source that was compiled. The programs that were linked from it share it. */
struct cl_unit {
    unsigned references;
    char *ptx;              /* PTX that clCompileProgram made; NULL: clBuildProgram made the unit */
    size_t ptx_bytes;
    char *source, *options; /* NULL: the unit comes from a binary */
    lanewise_text *headers; /* headers with their texts, in one block */
    unsigned header_count;
    char *description;      /* text of lanewise_describe(), computed at the first query; NULL: none */
    bool described;
};
void cl_unit_drop(struct cl_unit *unit);

struct _cl_program {
    struct cl_object object;
    char *source;           /* all strings joined, or NULL */
    void *binary;           /* binary that the user gave, or that was made for a query; or NULL */
    size_t binary_bytes;
    char *options, *log;    /* options of the last build, owned; or NULL */
    cl_build_status status;
    cl_program_binary_type type;
    struct cl_unit **units; /* references */
    unsigned unit_count;
    lanewise_module *module; /* NULL: not built, or not an executable */
    unsigned kernels;       /* kernel objects that exist */
};
/** Returns the line of lanewise_describe() with the name and attributes of a kernel; NULL: its source is not known. */
const char *cl_program_describe(struct _cl_program *program, const char *kernel);

struct cl_argument {
    lanewise_param param;
    void *value;            /* param.bytes bytes; for a LOCAL parameter a uint64_t */
    bool set;
    struct _cl_mem *mem;    /* buffer of a pointer argument; without a reference, because the user must keep the buffer;
                             * or NULL */
};
struct _cl_kernel {
    struct cl_object object;
    struct _cl_program *program; /* held */
    lanewise_kernel *kernel;
    lanewise_kernel_needs needs;
    unsigned argument_count;
    struct cl_argument *arguments;
};

/* Destructors of the kinds of objects. They are called when no other object refers to the object. */
void cl_context_end(struct _cl_context *context);
void cl_queue_end(struct _cl_command_queue *queue);
void cl_mem_end(struct _cl_mem *mem);
void cl_program_end(struct _cl_program *program);
void cl_kernel_end(struct _cl_kernel *kernel);
void cl_event_end(struct _cl_event *event);

/** Answers a query: copies @bytes of @value to @out, if that is not NULL, and stores the size. CL_INVALID_VALUE: @room is too
 *  small. */
cl_int cl_answer(const void *value, size_t bytes, size_t room, void *out, size_t *size);
cl_int cl_answer_text(const char *text, size_t room, void *out, size_t *size);
#define CL_ANSWER(type, value) cl_answer(&(type){value}, sizeof(type), room, out, size)
/** Stores an error code if @to is not NULL. */
void cl_put_error(cl_int *to, cl_int error);
/** Returns true if the list consists of the platform's one device. */
bool cl_is_device(cl_uint count, const cl_device_id *devices);

/** A command under construction. */
struct cl_command {
    struct rt_command command; /* first */
    struct _cl_event *event;   /* held */
    struct _cl_mem *mems[2];   /* held until the command is dropped; NULL: none */
    void **objects;            /* held in the same way; the array is owned */
    unsigned object_count;
    void *memory;              /* freed with the command */
};
/**
 * Begins a command of @bytes (the size of a structure that begins with struct cl_command) on @queue. The command
 * waits for the events of the list. On CL_SUCCESS the caller passes *@out to cl_command_enqueue or cl_command_cancel.
 */
cl_int cl_command_create(cl_command_queue queue, cl_command_type type, cl_uint wait_count, const cl_event *waits,
                         size_t bytes, int (*run)(struct rt_command *), struct cl_command **out);
void cl_command_hold_mem(struct cl_command *command, cl_mem mem);
void cl_command_cancel(struct cl_command *command);
/** Enqueues the command, gives the user its event if requested, and releases the lock. Then runs the commands that
 *  are ready, and waits for this one if @blocking is set. Returns the command's error for a blocking command. */
cl_int cl_command_enqueue(cl_command_queue queue, struct cl_command *command, bool blocking, cl_event *event);
/** Enqueues a command that does nothing. Called without the lock. */
cl_int cl_enqueue_nothing(cl_command_queue queue, cl_command_type type, cl_uint count, const cl_event *waits, cl_event *event);

/* Functions of objects of OpenGL and EGL: CL_INVALID_OPERATION. */
cl_int CL_API_CALL cl_refuse_call(void);
cl_mem CL_API_CALL cl_refuse_gl_buffer(cl_context context, cl_mem_flags flags, cl_uint name, cl_int *error);
cl_mem CL_API_CALL cl_refuse_gl_texture(cl_context context, cl_mem_flags flags, cl_uint target, cl_int level, cl_uint name,
                                        cl_int *error);
cl_mem CL_API_CALL cl_refuse_egl_image(cl_context context, void *display, void *image, cl_mem_flags flags,
                                       const intptr_t *properties, cl_int *error);
cl_event CL_API_CALL cl_refuse_egl_sync(cl_context context, void *sync, void *display, cl_int *error);
cl_event CL_API_CALL cl_refuse_gl_sync(cl_context context, void *sync, cl_int *error);

#endif
