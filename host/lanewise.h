/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanewise.h: runs GPU kernels from a program of your own, on a computer without a GPU.
 *
 * A program creates a machine, sets its options (lanewise_set), loads kernels, allocates buffers, and launches kernels. A
 * function that can fail returns a value of enum lanewise_result, and lanewise_error() returns the message of the error. A
 * process may have several machines, which share no state. Only one thread at a time may use a machine. No function ends
 * the process or prints. Text that kernels print goes to the standard output, or to the function that was given to
 * lanewise_print(). A NULL argument where a value is required is an error: LANEWISE_ERROR.
 *
 * docs/howto/use-from-c-or-python.md is a guide to this header, and docs/howto/python.md a guide to the Python package.
 * examples/saxpy.c and examples/saxpy.py are complete programs.
 */
#ifndef LANEWISE_H
#define LANEWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define LANEWISE_API __attribute__((visibility("default")))
#else
#define LANEWISE_API
#endif

/** Results of functions. Values up to 5 are the exit statuses of `lanewise run`. */
enum lanewise_result {
    LANEWISE_OK = 0,
    LANEWISE_FINDING = 1,     /* success, and a check has reported a finding (lanewise_wait, lanewise_finish) */
    LANEWISE_ERROR = 2,       /* an argument or the input is wrong, or there is no memory; nothing was changed */
    LANEWISE_FAULT = 3,       /* lanewise_wait: a kernel faulted */
    LANEWISE_HANG = 4,        /* lanewise_wait: no thread makes progress any more, or a limit was reached */
    LANEWISE_INTERRUPTED = 5, /* lanewise_wait: stopped by lanewise_interrupt; another lanewise_wait continues */
    LANEWISE_KILLED = 6       /* lanewise_wait: the debugger of lanewise_gdb has killed the program */
};

/** Kinds of faults. Reports have their names, such as "out-of-bounds" (docs/reference/check-kinds.md). */
enum lanewise_fault {
    LANEWISE_FAULT_NONE = 0,
    LANEWISE_FAULT_OUT_OF_BOUNDS = 1,   /* an access outside all memory that is allocated */
    LANEWISE_FAULT_FREED = 2,           /* an access to freed memory */
    LANEWISE_FAULT_MISALIGNED = 3,      /* an access at an address that is not a multiple of the access size */
    LANEWISE_FAULT_READ_ONLY = 4,       /* a store to read-only memory */
    LANEWISE_FAULT_NULL_PAGE = 5,       /* an access to the first page of memory (null pointer) */
    LANEWISE_FAULT_BAD_PC = 6,          /* a jump to an address that is not an instruction */
    LANEWISE_FAULT_BAD_CALL = 7,        /* an indirect call to an address that is not the entry of a function */
    LANEWISE_FAULT_TRAP = 8,            /* a trap instruction */
    LANEWISE_FAULT_ASSERT = 9,          /* an assertion that failed */
    LANEWISE_FAULT_EXEC_WRITE = 10,     /* a write to exec while the warp has diverged */
    LANEWISE_FAULT_EXEC_SPLIT = 11,     /* lanes would diverge although exec does not cover all live lanes */
    LANEWISE_FAULT_SCALAR_WRITE = 12,   /* a write to a scalar register by only some lanes of the warp */
    LANEWISE_FAULT_WARPSYNC_SELF = 13,  /* a member mask that does not contain the executing lane */
    LANEWISE_FAULT_BARRIER_COUNT = 14,  /* a wrong count of threads at a barrier of the block */
    LANEWISE_FAULT_SIMT_STACK = 15,     /* an overflow of the SIMT stack */
    LANEWISE_FAULT_FREE = 16,           /* a free of an address that malloc did not return, or that was freed before */
    LANEWISE_FAULT_LAUNCH = 17,         /* a device-side launch that is not valid */
    LANEWISE_FAULT_LAUNCH_BUFFER = 18,  /* a device-side launch with an address that is not its parameter buffer */
    LANEWISE_FAULT_LAUNCH_DEPTH = 19,   /* device-side launches that are nested too deep */
    LANEWISE_FAULT_LAUNCH_PENDING = 20, /* too many device-side launches that have not started */
    LANEWISE_FAULT_TEXTURE = 21         /* a texture fetch through an address that is not a texture of this type */
};

typedef struct lanewise_machine lanewise_machine;
typedef struct lanewise_module lanewise_module; /* destroyed with its machine */
typedef struct lanewise_kernel lanewise_kernel; /* destroyed with its module */

/** Returns the version of the library, such as "0.1.0". */
LANEWISE_API const char *lanewise_version(void);

/* ---- machine ------------------------------------------------------------------------------- */

/** Creates a machine with the default options of `lanewise run`. Returns NULL if the host has no memory. */
LANEWISE_API lanewise_machine *lanewise_create(void);
/** Destroys a machine with its modules and buffers. Does nothing if @machine is NULL. */
LANEWISE_API void lanewise_destroy(lanewise_machine *machine);
/**
 * Sets an option of the machine. Must be called before a program is loaded or memory is allocated.
 *
 * @key    an option of `lanewise run` without its dashes: "warp", "reconv", "push-order", "policy", "quantum", "fairness-limit",
 *         "tags", "tag-rules", "tag-expansion", "tag-plan", "level", "threads", "engine" ("interpreter"; "native", which
 *         compiles kernels to host code; "auto", which compiles kernels that run for long, the same ones in each run; or
 *         "auto-unshared", which leaves kernels with shared memory or barriers to the interpreter), "native-timeout",
 *         "compiler", "timing", "timing-set", "mechanism", "timing-profile" (a timing report), "timing-reference" ("yes"),
 *         "timing-sample", "timing-trace" ("yes": lanewise_report can return the trace), "timing-window", "timing-events",
 *         "gdb-arch" (for lanewise_gdb), "check" (kinds of findings, such as "memory,races"), "check-suppress" (a file, which
 *         this call reads; may be set several times), "max-findings", "hang-limit", "read-poison", "coverage" and "profile"
 *         ("yes": lanewise_report can return them), "profile-by", "record" (a folder: see lanewise_record_message), "log" ("yes": lanewise_log_save can write the
 *         schedule log), "replay" (a schedule log: the calls must be those of the run that has written it), "debuggable"
 *         ("yes": sources are compiled without optimisation, with all lines and variables), "max-instructions", "timeout" (limit
 *         of the seconds of all waits together), or another key that lanewise_key() returns
 * @value  the value as on the command line
 */
LANEWISE_API int lanewise_set(lanewise_machine *machine, const char *key, const char *value);
/** Returns key number @index of lanewise_set, from 0; NULL after the last one. */
LANEWISE_API const char *lanewise_key(unsigned index);
/** Creates the emulated machine; its options cannot be changed afterwards. Without this call the first load or allocation
 *  creates it. LANEWISE_ERROR: options contradict each other, or a GPU model or file does not exist; in this case the options
 *  can still be changed. */
LANEWISE_API int lanewise_begin(lanewise_machine *machine);
/** Writes the value of a key of the GPU model, such as "core.count", "clocks.core" or "name", to @out, which has @room
 *  bytes. Options of the machine cannot be changed after this call. LANEWISE_ERROR: the machine has no GPU model, or the
 *  model has no such key. */
LANEWISE_API int lanewise_timing_value(lanewise_machine *machine, const char *key, char *out, size_t room);
/** Returns the message of the last error, or "" if there was none. The text is valid until the next call. After a fault or a
 *  hang it is a report of several lines. If a source did not compile, a line break and all output of the compiler follow the
 *  message. */
LANEWISE_API const char *lanewise_error(const lanewise_machine *machine);
/** Sets the function that receives the text of printf in kernels. @print receives @size bytes, which may have any value and
 *  are not terminated. If @print is NULL, the text is dropped. */
LANEWISE_API void lanewise_print(lanewise_machine *machine,
                                 void (*print)(void *context, const char *text, size_t size),
                                 void *context);

/* ---- programs -------------------------------------------------------------------------------- */

/**
 * Loads a program from a file. The suffix of @path gives the language: .cl, .cu or .spv (compiled by clang, nvcc, or
 * llvm-spirv and clang), .ptx, .s or .lwo.
 * @options  options of the compiler, such as "-DN=3", terminated by NULL; may be NULL
 */
LANEWISE_API int lanewise_load(lanewise_machine *machine, const char *path,
                               const char *const *options, lanewise_module **out);
/** Loads a program from text in memory. @name appears in messages, and its suffix gives the language. */
LANEWISE_API int lanewise_load_text(lanewise_machine *machine, const char *name, const void *text,
                                    size_t size, const char *const *options,
                                    lanewise_module **out);
/** A text with its name, which appears in messages. */
typedef struct lanewise_text {
    const char *name;
    const void *text;
    size_t size;
} lanewise_text;
/** Tests whether SPIR-V modules (.spv) can be compiled: whether the necessary programs are installed. Starts no program.
 *  @machine may be NULL. LANEWISE_ERROR: they are not, and lanewise_error() names what is missing. */
LANEWISE_API int lanewise_has_spirv(lanewise_machine *machine);
/**
 * Compiles a source (.cl, .cu, .spv) to PTX, for lanewise_link().
 * @headers  texts that the source can include by their names, which are paths relative to one folder
 * @ptx      set to the PTX, which the caller frees with lanewise_object_free
 * @log      set to all output of the compiler, which the caller frees with lanewise_object_free; may be NULL
 */
LANEWISE_API int lanewise_compile(lanewise_machine *machine, const lanewise_text *source, const lanewise_text *headers,
                                  unsigned header_count, const char *const *options, char **ptx, size_t *ptx_size,
                                  char **log);
/** Links PTX texts to one module: a declaration in one text may refer to a definition in another. The name of a text is the
 *  name of the source from which lanewise_compile() made it, or ends in ".ptx". */
LANEWISE_API int lanewise_link(lanewise_machine *machine, const lanewise_text *modules, unsigned count,
                               lanewise_module **out);
/**
 * Gets the declarations of the kernels of an OpenCL C source. @source, @headers and @options are as in lanewise_compile().
 * @out set to a text, which the caller frees with lanewise_object_free. The text has a line "NAME<tab>ATTRIBUTES" for each
 *       kernel, followed by a line "<tab>NAME<tab>TYPE<tab>TYPE QUALIFIERS<tab>ACCESS QUALIFIER" for each parameter
 */
LANEWISE_API int lanewise_describe(lanewise_machine *machine, const lanewise_text *source, const lanewise_text *headers,
                                   unsigned header_count, const char *const *options, char **out);
/** Returns kernel @index of a module, in the order of its file; NULL after the last kernel. */
LANEWISE_API lanewise_kernel *lanewise_kernel_at(lanewise_module *module, unsigned index);
/** Returns the kernel called @name, which may be a name as in C++: "reduce<float, 256>". Returns NULL if there is no such
 *  kernel; lanewise_error() then lists the kernels of the module. */
LANEWISE_API lanewise_kernel *lanewise_kernel_find(lanewise_module *module, const char *name);
/** Returns the message why the kernel with exactly this name was not translated, because it uses something that is not
 *  supported, while other kernels of the module were. Returns NULL if there is no such kernel. */
LANEWISE_API const char *lanewise_kernel_refusal(const lanewise_module *module, const char *name);
LANEWISE_API const char *lanewise_kernel_name(const lanewise_kernel *kernel);
/** Writes the C++ symbol @symbol to @out as it is in the source, such as "ns::reduce<float, 256>". A symbol that is no C++ name, or
 *  that cannot be parsed, is copied. A longer text is cut off at @out_bytes, including the zero byte at its end. */
LANEWISE_API void lanewise_plain_name(const char *symbol, char *out, size_t out_bytes);
LANEWISE_API unsigned lanewise_kernel_param_count(const lanewise_kernel *kernel);
/** Returns the size of parameter @index in bytes; 0 for a pointer to __local memory, whose argument is the size of that
 *  memory. */
LANEWISE_API size_t lanewise_kernel_param_bytes(const lanewise_kernel *kernel, unsigned index);
/** Kind of memory to which a parameter points. */
enum lanewise_param_kind {
    LANEWISE_PARAM_VALUE,    /* a number, a structure, or a pointer without address space, as in CUDA */
    LANEWISE_PARAM_GLOBAL,   /* a pointer to __global memory */
    LANEWISE_PARAM_CONSTANT, /* a pointer to __constant memory, which is in global memory */
    LANEWISE_PARAM_LOCAL     /* a pointer to __local memory, whose argument is the size of that memory */
};
/** Type of the value of a parameter. */
enum lanewise_param_type {
    LANEWISE_TYPE_UNKNOWN, /* a structure, a vector or a half; any value if the source does not state its type */
    LANEWISE_TYPE_INTEGER, /* 1, 2, 4 or 8 bytes; a CUDA pointer has 8 bytes */
    LANEWISE_TYPE_FLOAT,   /* 4 or 8 bytes */
    LANEWISE_TYPE_POINTER
};
typedef struct lanewise_param {
    const char *name; /* name of the parameter, or "" if it is not known; valid until the module is destroyed */
    enum lanewise_param_kind kind;
    uint32_t bytes, align; /* size and alignment of the value; for LANEWISE_PARAM_LOCAL, of the pointer */
    enum lanewise_param_type type;
    const char *structure; /* name of the structure to which a pointer points, "" if the parameter is no such pointer, or NULL if
                            * the module has no debug information. An image of OpenCL C has a name such as
                            * "opencl_image2d_ro_t", and a sampler "opencl_sampler_t". Valid until the module is destroyed */
} lanewise_param;
/** Gets parameter @index of a kernel, from 0. @out_bytes is sizeof *out: in later versions the structure may have more
 *  members at its end. */
LANEWISE_API int lanewise_kernel_param(const lanewise_kernel *kernel, unsigned index, lanewise_param *out,
                                       size_t out_bytes);
/** Resources that a kernel needs, and limits of its launches. */
typedef struct lanewise_kernel_needs {
    uint32_t max_threads;       /* largest number of threads of a block, at most LANEWISE_MAX_BLOCK_THREADS */
    uint32_t required_block[3]; /* the only possible size of a block; 0, 0, 0: any size is possible */
    uint32_t shared_bytes;      /* static shared memory of a block */
    uint32_t local_bytes;       /* local memory of a thread, including its stack */
    uint32_t vector_registers, scalar_registers;
} lanewise_kernel_needs;
enum { LANEWISE_MAX_BLOCK_THREADS = 1024 };
/** Gets the needs of @kernel. @out_bytes is sizeof *out: in later versions the structure may have more members at its end. */
LANEWISE_API int lanewise_kernel_get_needs(const lanewise_kernel *kernel, lanewise_kernel_needs *out, size_t out_bytes);
/** Returns all output of the compiler when it compiled @module, or "" if there was none. Valid until the module is
 *  destroyed. */
LANEWISE_API const char *lanewise_module_log(const lanewise_module *module);
/** Gets @module as the content of an object file (.lwo), which the caller frees with lanewise_object_free.
 *  lanewise_load_text("name.lwo", ...) loads it again. */
LANEWISE_API int lanewise_module_object(lanewise_module *module, void **out, size_t *size);
LANEWISE_API void lanewise_object_free(void *object);
/** Gets address and size of a variable of the module (__device__, __constant__). */
LANEWISE_API int lanewise_variable(lanewise_module *module, const char *name, uint64_t *address,
                                   uint64_t *bytes);

/** Returns 1 if the module has the variable @name in global memory, and its source declares it as managed memory; otherwise 0. */
LANEWISE_API int lanewise_variable_is_managed(const lanewise_module *module, const char *name);

/** Returns the number of bytes that the variables of the module occupy in global memory, without constants. */
LANEWISE_API uint64_t lanewise_variable_bytes(const lanewise_module *module);

/* ---- memory ---------------------------------------------------------------------------------- */

/** Allocates zeroed global memory. @name appears in reports; if it is NULL, the names are "buffer 1", "buffer 2" and so on. */
LANEWISE_API int lanewise_alloc(lanewise_machine *machine, uint64_t bytes, const char *name,
                                uint64_t *address);
LANEWISE_API int lanewise_free(lanewise_machine *machine, uint64_t address);
/** Reserves a range of addresses, to which lanewise_map() can map memory. @bytes must be a multiple of 2 MiB, and so is *@address. */
LANEWISE_API int lanewise_reserve(lanewise_machine *machine, uint64_t bytes, uint64_t *address);
/** Ends a reservation. LANEWISE_ERROR: no reservation begins at @address, or memory is mapped to its addresses. */
LANEWISE_API int lanewise_unreserve(lanewise_machine *machine, uint64_t address);
/** Maps zeroed memory to reserved addresses. The memory is an allocation of its own, which lanewise_free() unmaps. @address
 *  must be a multiple of 4 KiB. Copies may use adjacent mapped memory as one range. @read_only: kernels may not write the memory. */
LANEWISE_API int lanewise_map(lanewise_machine *machine, uint64_t address, uint64_t bytes, const char *name, int read_only);
/** Copies @bytes from @data to the machine's memory at @address. All bytes must be in one allocation. */
LANEWISE_API int lanewise_write(lanewise_machine *machine, uint64_t address, const void *data,
                                size_t bytes);
/** Copies @bytes from the machine's memory at @address to @data. All bytes must be in one allocation. Launches that
 *  lanewise_wait() has not run yet have no results in memory. */
LANEWISE_API int lanewise_read(lanewise_machine *machine, uint64_t address, void *data,
                               size_t bytes);
/** Copies as lanewise_read() does, but for checks the host does not read the data, as when it only prepares a write. */
LANEWISE_API int lanewise_peek(lanewise_machine *machine, uint64_t address, void *data,
                               size_t bytes);

/** Copies @bytes inside the machine's memory. Each range must be in one allocation; the two ranges may overlap. */
LANEWISE_API int lanewise_copy(lanewise_machine *machine, uint64_t to, uint64_t from, uint64_t bytes);
/** Fills memory with copies of a pattern of 1 to 4096 bytes. @bytes must be a multiple of @pattern_bytes. */
LANEWISE_API int lanewise_fill(lanewise_machine *machine, uint64_t address, const void *pattern, size_t pattern_bytes,
                               uint64_t bytes);
/** Sets the size of the heap from which kernels get memory by malloc. The size is 8 MiB at first, and at most 4 GiB - 1. */
LANEWISE_API int lanewise_heap_limit(lanewise_machine *machine, uint64_t bytes);
/** Sets how many launches of kernels by kernels may wait for their start: 2048 at first, and 1 to 1,048,576. */
LANEWISE_API int lanewise_pending_limit(lanewise_machine *machine, uint32_t launches);
/** Sets the size of a thread's stack for recursive functions, which is 8192 bytes at first and for 0, and at most 4 MiB. It is for
 *  modules that are loaded from PTX or a source after the call. Functions that are not recursive always get the stack that they need. */
LANEWISE_API int lanewise_stack_limit(lanewise_machine *machine, uint32_t bytes);
/** Gets beginning and size of the allocation that contains @address. LANEWISE_ERROR: no allocation contains it, or the
 *  allocation was freed. */
LANEWISE_API int lanewise_allocation(lanewise_machine *machine, uint64_t address, uint64_t *begin, uint64_t *bytes);

/** Gets the range [*@begin, *@end) of the addresses of all allocations. Both bounds are 0 before the machine is used. */
LANEWISE_API void lanewise_address_range(const lanewise_machine *machine, uint64_t *begin, uint64_t *end);

/** Returns a pointer with which the host can access the allocation that contains @address. The value of the pointer is
 *  @address, so that host and kernels can exchange pointers. Returns NULL if no allocation contains the address, or if the
 *  host has other memory at that address, as for a second machine in the process. Checks do not see accesses by such a
 *  pointer, so all bytes of the allocation count as initialised. */
LANEWISE_API void *lanewise_host_pointer(lanewise_machine *machine, uint64_t address);

/* ---- running --------------------------------------------------------------------------------- */

/**
 * Queues a launch of a kernel, which runs after all earlier launches.
 * @grid, @block   number of blocks in the grid, and of threads in a block: x, y, z, each at least 1
 * @shared_bytes   size of the dynamic shared memory (extern __shared__)
 * @arguments      for each parameter a pointer to its value, which this call copies. The address of a buffer is a uint64_t.
 *                 For a pointer to __local memory, the value is the size of the memory in bytes, a uint64_t
 */
LANEWISE_API int lanewise_launch(lanewise_machine *machine, const lanewise_kernel *kernel,
                                 const uint32_t grid[3], const uint32_t block[3],
                                 uint32_t shared_bytes, const void *const *arguments);
/** Shape of a launch. */
typedef struct lanewise_shape {
    uint32_t grid[3], block[3]; /* number of blocks in the grid, and of threads in a block, as in lanewise_launch */
    uint32_t shared_bytes;      /* size of the dynamic shared memory */
    uint32_t dimensions;        /* result of OpenCL's get_work_dim(), 1 to 3; 0: the number that the sizes need */
    uint32_t offset[3];         /* result of OpenCL's get_global_offset(), which is added to global ids */
} lanewise_shape;
/** Queues a launch as lanewise_launch() does, with all members of a shape. @shape_bytes is sizeof *shape: if the caller was
 *  compiled with an older version of the structure, members that this version lacks are taken as 0. */
LANEWISE_API int lanewise_launch_shape(lanewise_machine *machine, const lanewise_kernel *kernel,
                                       const lanewise_shape *shape, size_t shape_bytes, const void *const *arguments);
/** Runs all queued launches to their end. After a fault or a hang memory can be read, but no kernel can be launched.
 *  LANEWISE_FINDING: all launches have ended, and there are findings at locations that were not reported before;
 *  lanewise_error() returns the message of the first of them. */
LANEWISE_API int lanewise_wait(lanewise_machine *machine);
/** Returns the kind of the fault at which the machine has stopped; LANEWISE_FAULT_NONE if it has not stopped at a fault. */
LANEWISE_API enum lanewise_fault lanewise_fault_kind(const lanewise_machine *machine);
/** Returns the name of the allocation that the fault's message names; NULL if the machine has not stopped at a fault, or the message
 *  names none. The string is valid until the allocation is freed. */
LANEWISE_API const char *lanewise_fault_allocation(const lanewise_machine *machine);
/** Makes a machine that has stopped at a fault or a hang usable again. Launches that have not ended are dropped. The session
 *  of gdb ends. Memory, modules, findings and counts remain. Only the tables of the GPU model (reports "timing" and
 *  "timing-json") start from zero. LANEWISE_ERROR: the machine has reached a limit, or lanewise_finish() or gdb has ended the
 *  run. */
LANEWISE_API int lanewise_recover(lanewise_machine *machine);
/** Makes a lanewise_wait() in progress return soon. May be called from a signal handler or another thread. */
LANEWISE_API void lanewise_interrupt(lanewise_machine *machine);

/** Options of lanewise_gdb(). */
typedef struct lanewise_gdb_options {
    const char *address; /* "PORT", "HOST:PORT" (an empty host is 127.0.0.1), "unix:PATH"; NULL or "0": a free port */
    const char *kernel;  /* gdb stops at the first launch of this kernel; NULL: at the first launch */
    uint64_t history_mib; /* memory for reverse execution in MiB; 0: 256 */
    int own; /* not 0: gdb was started for this program only; if its connection breaks, the program is killed */
    /** Called when gdb can connect. @target is the operand of gdb's `target remote`. May be NULL. */
    void (*ready)(void *context, const char *target);
    void *context;
    const char *advice; /* how the user can compile so that all variables have values: "compile with -g to see all variables";
                         * NULL: options of the command lanewise run */
} lanewise_gdb_options;
/**
 * Lets gdb debug the launches. At the launch that @options select, lanewise_wait() waits until gdb has connected. From
 * then on gdb controls the launches, and lanewise_wait() returns when all of them have ended. gdb waits while the program
 * is not in lanewise_wait(). After gdb has detached, launches run without it. Reverse execution does not go back past the
 * beginning of the current launch. Must be called before a program is loaded or memory is allocated, and only once.
 * @options_bytes is sizeof *options.
 */
LANEWISE_API int lanewise_gdb(lanewise_machine *machine, const lanewise_gdb_options *options, size_t options_bytes);

/** Returns the reason why the last launch was not recorded, or "" if it was recorded. After lanewise_set(machine, "record",
 *  FOLDER), each launch is recorded: a launch file is written to FOLDER, with the object, and the contents of all memory that the
 *  kernel can reach before and after the launch. For this, lanewise_launch() first runs the launches that are queued. */
LANEWISE_API const char *lanewise_record_message(const lanewise_machine *machine);

/* ---- findings of checks ---------------------------------------------------------------------- */

/** Location of an event. A string that is not known is "". Strings are valid until the machine is destroyed. */
typedef struct lanewise_location {
    const char *kernel, *function, *file;
    uint32_t line;     /* line of the file, or 0 if it is not known */
    uint32_t block[3];
    uint32_t warp;     /* index of the warp in its block */
    uint32_t launch;   /* number of the launch: 1, 2, ... */
    uint64_t lanes;    /* lane mask */
    uint64_t pc;
} lanewise_location;
/** A finding. If it occurred several times, location and message describe the first occurrence. */
typedef struct lanewise_finding {
    const char *kind;       /* name of the kind, such as "race"; `lanewise explain` lists the kinds */
    const char *message;    /* without a full stop at the end */
    lanewise_location location;
    lanewise_location other; /* previous access of a race; its kernel is "" if there is none */
    uint64_t address;       /* address that was accessed, or 0 if there is none */
    const char *allocation; /* name of the buffer that contains `address`, or of the nearest one below it */
    uint64_t count;         /* number of lanes, summed over all occurrences */
    unsigned call_count;       /* number of inlined calls that contain `location`: see lanewise_finding_call */
    unsigned other_call_count; /* number of inlined calls that contain `other` */
} lanewise_finding;
/** An inlined call of a function. Strings are as in lanewise_location. */
typedef struct lanewise_call {
    const char *function; /* the inlined function */
    const char *file; /* file and line of the call; line 0: not known */
    uint32_t line;
} lanewise_call;
/** Gets finding @index as `lanewise run --check` prints it, as text that the caller frees with lanewise_report_free. A second line
 *  has the values of variables, if they are known. There is no newline at the end. */
LANEWISE_API int lanewise_finding_text(lanewise_machine *machine, unsigned index, char **out);
/** Returns 1 if a source file, given by its absolute name, belongs to the system, a compiler or a toolkit, else 0. For code
 *  in such a file, findings name the call in the user's source first. */
LANEWISE_API int lanewise_file_is_foreign(const char *file);
/** Returns the number of findings so far. Findings that check-suppress suppresses do not count. Findings have indices in the
 *  order of their occurrence, until lanewise_finish() sorts them. */
LANEWISE_API unsigned lanewise_finding_count(const lanewise_machine *machine);
/** Gets finding @index, from 0. @out_bytes is sizeof *out: in later versions the structure may have more members at its
 *  end. */
LANEWISE_API int lanewise_finding_get(lanewise_machine *machine, unsigned index,
                                      lanewise_finding *out, size_t out_bytes);
/** Gets inlined call @number, from 0 for the innermost one, that contains the location of finding @index, or (@other not 0)
 *  the location of the previous access. @out_bytes is sizeof *out. */
LANEWISE_API int lanewise_finding_call(lanewise_machine *machine, unsigned index, int other,
                                       unsigned number, lanewise_call *out, size_t out_bytes);
/** Adds a location in the host program to finding @index, for reports in JSON and SARIF. @message says what happened at the
 *  location, such as "launched by main". If the location is not known, @file is "" and @line is 0. A finding can have 4 such
 *  locations. */
LANEWISE_API int lanewise_finding_relate(lanewise_machine *machine, unsigned index, const char *message, const char *file,
                                         uint32_t line);
/** Sets the function that names the host program's call in which lanewise_read() is called. It is called when a check makes a
 *  finding about such a read (uninitialised-output), whose location then is this call. @caller sets the members of *@out that it
 *  knows; texts must last until it is called again. NULL: such findings have no location. */
LANEWISE_API void lanewise_caller(lanewise_machine *machine, void (*caller)(void *context, lanewise_call *out), void *context);
/** A finding about a call that the host program has made. A text that is not known is "", and an unknown line is 0. */
typedef struct lanewise_host_finding {
    const char *kind; /* a kind of the class "api", such as "api-leak" */
    const char *message;
    const char *function, *file; /* function and file that contain the call */
    uint32_t line;
    uint64_t count; /* number of occurrences; 0 counts as 1 */
} lanewise_host_finding;
/** Adds a finding of the host program, if its kind is enabled. Texts are copied. @finding_bytes is sizeof *finding.
 *  LANEWISE_FINDING: the finding is new, and is the last one of lanewise_finding_get(). LANEWISE_OK: its kind is not
 *  enabled, it is suppressed, it was added at this location before, or there are max-findings findings already. */
LANEWISE_API int lanewise_finding_add(lanewise_machine *machine, const lanewise_host_finding *finding, size_t finding_bytes);
/** Returns 1 if findings of @kind are enabled, else 0. Options of the machine cannot be changed after this call. */
LANEWISE_API int lanewise_finding_wanted(lanewise_machine *machine, const char *kind);
/** Forbids that kernels load from @bytes of memory (@loads not 0) or store to them (@stores not 0), until lanewise_permit() with the
 *  same range and reason, or until the memory is freed. Such accesses are executed, and become findings of the kind
 *  "api-buffer-use" if it is enabled. @why: a clause for the message, such as "the buffer is mapped for writing". */
LANEWISE_API int lanewise_forbid(lanewise_machine *machine, uint64_t address, uint64_t bytes, int loads, int stores, const char *why);
LANEWISE_API int lanewise_permit(lanewise_machine *machine, uint64_t address, uint64_t bytes, const char *why);
/** Writes the schedule log of the run so far to a file, for the option "replay" of another machine. The option "log" must be "yes".
 *  Such a machine cannot be recovered after a fault or a hang. */
LANEWISE_API int lanewise_log_save(lanewise_machine *machine, const char *path);
/** Ends the session of gdb. With the option "replay", checks that the run has ended at the end of its log (LANEWISE_ERROR if it has
 *  not). If checks are enabled, also ends the run: no more launches are possible. Findings that can only be
 *  made at the end of a run are added ("heap-leak", "performance", and the fault or hang that ended the run). Then findings are
 *  sorted by file and line. LANEWISE_FINDING: there are findings, whether they were reported before or not. */
LANEWISE_API int lanewise_finish(lanewise_machine *machine);

/* ---- results of runs --------------------------------------------------------------------------- */

/** Gets a count by its name, such as "thread_instructions" or "loads"; with a GPU model also "cycles". */
LANEWISE_API int lanewise_statistic(lanewise_machine *machine, const char *name, uint64_t *value);
/** Returns the name of count number @index, from 0; NULL after the last one. */
LANEWISE_API const char *lanewise_statistic_name(unsigned index);
/**
 * Gets a report as text, which the caller frees with lanewise_report_free.
 * @kind   "statistics": all counts, as a JSON object; "timing": the tables of the GPU model; "timing-json": the contents of
 *         these tables as a JSON object; "timing-trace": what each warp did, for Perfetto; "findings": a line for each finding;
 *         "findings-json", "findings-sarif", "findings-junit": the findings in these formats; "findings-suppressions": a list of
 *         suppressions for the findings, which the option "check-suppress" reads; "coverage": a tracefile of lcov for all launches so far; "profile": the source with the cost of each line in all launches so far
 */
LANEWISE_API int lanewise_report(lanewise_machine *machine, const char *kind, char **out);
LANEWISE_API void lanewise_report_free(char *text);
/** Returns a hash over the contents of the machine's allocations and the text that kernels printed. Equal results have equal
 *  hashes. */
LANEWISE_API uint64_t lanewise_hash(const lanewise_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
