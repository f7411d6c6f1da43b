/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanewise.h: run GPU kernels from a program of your own, on any machine, without a GPU.
 *
 * A machine is created, configured (lanewise_set), gets programs and buffers, and executes the kernels
 * launched on it. Every function that can fail returns one of the values below; lanewise_error() then has a
 * message. Machines share no state: several may exist in one process, each used by one thread at a time. No function
 * exits, aborts or prints; text that kernels print goes to the standard output unless lanewise_print() redirects it. A
 * NULL argument where a value is required is refused with LANEWISE_ERROR.
 *
 * docs/howto/use-from-c-or-python.md is the guide, and docs/howto/python.md that of the Python package over this header;
 * examples/saxpy.c and examples/saxpy.py are whole programs.
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

/** Results of functions: the exit statuses of `lanewise run`, and one more. */
enum lanewise_result {
    LANEWISE_OK = 0,
    LANEWISE_FINDING = 1,     /* lanewise_wait, lanewise_finish: done, and a check has a finding */
    LANEWISE_ERROR = 2,       /* refused (input, names, sizes, memory); nothing was changed */
    LANEWISE_FAULT = 3,       /* lanewise_wait: a kernel faulted */
    LANEWISE_HANG = 4,        /* lanewise_wait: no thread can continue, or a limit is reached */
    LANEWISE_INTERRUPTED = 5, /* lanewise_wait: stopped by lanewise_interrupt; wait again to continue */
    LANEWISE_KILLED = 6       /* lanewise_wait: the debugger of lanewise_gdb has killed the program */
};

typedef struct lanewise_machine lanewise_machine;
typedef struct lanewise_module lanewise_module; /* belongs to its machine */
typedef struct lanewise_kernel lanewise_kernel; /* belongs to its module */

/** "0.1.0" */
LANEWISE_API const char *lanewise_version(void);

/* ---- machine ------------------------------------------------------------------------------- */

/** Creates a machine like that of `lanewise run` without options. Returns NULL if the host has no memory left. */
LANEWISE_API lanewise_machine *lanewise_create(void);
/** Destroys a machine with its modules and buffers; NULL is ignored. */
LANEWISE_API void lanewise_destroy(lanewise_machine *machine);
/**
 * Sets an option of the machine, before anything is loaded or allocated on it.
 *
 * @key    an option of `lanewise run` without its dashes: "warp", "reconv", "push-order", "policy",
 *         "tags", "threads", "compiler", "timing", "timing-set", "mechanism", "timing-profile" (a timing report), "timing-reference" ("yes"),
 *         "check" (kinds of findings: "memory,races"), "check-suppress" (a file, read by this call; may be set several
 *         times), "max-findings", "hang-limit", "read-poison", "coverage" and "profile" ("yes": lanewise_report
 *         returns them), "profile-by", "record" (a folder: see lanewise_record_message), "debuggable" ("yes": sources
 *         are compiled without optimisation, with all lines and variables), "max-instructions", "timeout" (seconds of
 *         all waits), and those that lanewise_key() lists
 * @value  as on the command line
 */
LANEWISE_API int lanewise_set(lanewise_machine *machine, const char *key, const char *value);
/** Returns key @index of lanewise_set: 0, 1, ... until NULL. */
LANEWISE_API const char *lanewise_key(unsigned index);
/** Creates the machine with its options, which cannot be changed afterwards. Without this call the first load or
 *  allocation creates the machine. LANEWISE_ERROR: options contradict each other, or name a GPU model or file that does
 *  not exist; they may be set again. */
LANEWISE_API int lanewise_begin(lanewise_machine *machine);
/** Writes the value of a key of the GPU model ("core.count", "clocks.core"; its "name") into @out of @room bytes; the options of the
 *  machine are fixed by this call. LANEWISE_ERROR: the machine has no GPU model, or the model has no such key. */
LANEWISE_API int lanewise_timing_value(lanewise_machine *machine, const char *key, char *out, size_t room);
/** Returns the last failure's message, "" if nothing has failed. Valid until the next call. After a fault or
 *  a hang: its report, in several lines; for a source that did not compile: the message, then a line break
 *  and all output of the compiler. */
LANEWISE_API const char *lanewise_error(const lanewise_machine *machine);
/** Redirects the text of printf in kernels; @print NULL drops the text. @print gets @size bytes of any value, without a
 *  terminator. */
LANEWISE_API void lanewise_print(lanewise_machine *machine,
                                 void (*print)(void *context, const char *text, size_t size),
                                 void *context);

/* ---- programs -------------------------------------------------------------------------------- */

/**
 * Loads a file, by its suffix: .cl .cu (compiled by clang or nvcc), .ptx, .s or .lwo.
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
/**
 * Compiles a source (.cl, .cu) to PTX, for lanewise_link().
 * @headers  texts that the source may include by their names, which are paths below one folder
 * @ptx      to be freed by lanewise_object_free, as *@log: all output of the compiler; @log may be NULL
 */
LANEWISE_API int lanewise_compile(lanewise_machine *machine, const lanewise_text *source, const lanewise_text *headers,
                                  unsigned header_count, const char *const *options, char **ptx, size_t *ptx_size,
                                  char **log);
/** Links PTX texts to one module. The name of a text is that of the source from which lanewise_compile() made it, or
 *  ends in ".ptx". A declaration in one text refers to the definition in another text. */
LANEWISE_API int lanewise_link(lanewise_machine *machine, const lanewise_text *modules, unsigned count,
                               lanewise_module **out);
/**
 * Gets the declarations of the kernels of an OpenCL C source; the parameters are those of lanewise_compile().
 * @out  to be freed by lanewise_object_free: for each kernel a line "NAME<tab>ATTRIBUTES", then for each of its parameters
 *       a line "<tab>NAME<tab>TYPE<tab>TYPE QUALIFIERS<tab>ACCESS QUALIFIER"
 */
LANEWISE_API int lanewise_describe(lanewise_machine *machine, const lanewise_text *source, const lanewise_text *headers,
                                   unsigned header_count, const char *const *options, char **out);
/** Returns kernel @index, in the file's order; NULL past the last kernel. */
LANEWISE_API lanewise_kernel *lanewise_kernel_at(lanewise_module *module, unsigned index);
/** Returns a kernel by name, which may have the form of C++: "reduce<float, 256>". NULL: there is no such kernel, and
 *  lanewise_error() lists the existing kernels. */
LANEWISE_API lanewise_kernel *lanewise_kernel_find(lanewise_module *module, const char *name);
LANEWISE_API const char *lanewise_kernel_name(const lanewise_kernel *kernel);
LANEWISE_API unsigned lanewise_kernel_param_count(const lanewise_kernel *kernel);
/** Returns the size of parameter @index in bytes; 0: a piece of __local memory, whose argument is the size of the
 *  memory. */
LANEWISE_API size_t lanewise_kernel_param_bytes(const lanewise_kernel *kernel, unsigned index);
/** Memory that a parameter refers to. A pointer of CUDA has no address space, and is VALUE. */
enum lanewise_param_kind {
    LANEWISE_PARAM_VALUE,    /* a number, a structure, a pointer without address space */
    LANEWISE_PARAM_GLOBAL,   /* a pointer to __global memory */
    LANEWISE_PARAM_CONSTANT, /* a pointer to __constant memory, which is in global memory */
    LANEWISE_PARAM_LOCAL     /* a piece of __local memory, whose argument is the size of the memory */
};
/** Type of the value of a parameter. */
enum lanewise_param_type {
    LANEWISE_TYPE_UNKNOWN, /* bytes: a structure, a vector, a half; from some sources, any value */
    LANEWISE_TYPE_INTEGER, /* 1, 2, 4 or 8 bytes; a pointer of CUDA has 8 */
    LANEWISE_TYPE_FLOAT,   /* 4 or 8 bytes */
    LANEWISE_TYPE_POINTER
};
typedef struct lanewise_param {
    const char *name; /* "" if the name is not known; valid as long as the module */
    enum lanewise_param_kind kind;
    uint32_t bytes, align; /* of the value; LOCAL: of the pointer */
    enum lanewise_param_type type;
} lanewise_param;
/** Gets parameter @index, from 0. @out_bytes is sizeof *out: later versions may have more members at its end. */
LANEWISE_API int lanewise_kernel_param(const lanewise_kernel *kernel, unsigned index, lanewise_param *out,
                                       size_t out_bytes);
/** Resources that a kernel needs, and limits of its launches. */
typedef struct lanewise_kernel_needs {
    uint32_t max_threads;       /* largest number of threads of a block, at most LANEWISE_MAX_BLOCK_THREADS */
    uint32_t required_block[3]; /* 0, 0, 0: any */
    uint32_t shared_bytes;      /* static shared memory of a block */
    uint32_t local_bytes;       /* local memory of a thread, including its stack */
    uint32_t vector_registers, scalar_registers;
} lanewise_kernel_needs;
enum { LANEWISE_MAX_BLOCK_THREADS = 1024 };
/** Gets the needs of @kernel. @out_bytes is sizeof *out: later versions may have more members at its end. */
LANEWISE_API int lanewise_kernel_get_needs(const lanewise_kernel *kernel, lanewise_kernel_needs *out, size_t out_bytes);
/** Returns all output of the compiler that made @module, "" if there was none. Valid as long as the module. */
LANEWISE_API const char *lanewise_module_log(const lanewise_module *module);
/** Gets @module as the bytes of an object file (.lwo), to be freed by lanewise_object_free.
 *  lanewise_load_text("name.lwo", ...) loads them again. */
LANEWISE_API int lanewise_module_object(lanewise_module *module, void **out, size_t *size);
LANEWISE_API void lanewise_object_free(void *object);
/** Gets address and size of a variable of the module (__device__, __constant__). */
LANEWISE_API int lanewise_variable(lanewise_module *module, const char *name, uint64_t *address,
                                   uint64_t *bytes);

/* ---- memory ---------------------------------------------------------------------------------- */

/** Allocates zeroed global memory. @name appears in reports; NULL: "buffer 1" and so on. */
LANEWISE_API int lanewise_alloc(lanewise_machine *machine, uint64_t bytes, const char *name,
                                uint64_t *address);
LANEWISE_API int lanewise_free(lanewise_machine *machine, uint64_t address);
/** Copies @bytes from @data to the machine's memory at @address. All bytes must be in one allocation. */
LANEWISE_API int lanewise_write(lanewise_machine *machine, uint64_t address, const void *data,
                                size_t bytes);
/** Copies @bytes from the machine's memory at @address to @data. All bytes must be in one allocation. Queued launches run
 *  only in lanewise_wait(), so before that call their results are not in memory. */
LANEWISE_API int lanewise_read(lanewise_machine *machine, uint64_t address, void *data,
                               size_t bytes);

/** Copies inside the machine's memory, as lanewise_read and lanewise_write do; the ranges may overlap. */
LANEWISE_API int lanewise_copy(lanewise_machine *machine, uint64_t to, uint64_t from, uint64_t bytes);
/** Fills memory with copies of a pattern. @bytes is a multiple of @pattern_bytes, which is not 0. */
LANEWISE_API int lanewise_fill(lanewise_machine *machine, uint64_t address, const void *pattern, size_t pattern_bytes,
                               uint64_t bytes);
/** Gets beginning and size of the live allocation that contains @address; LANEWISE_ERROR: there is none. */
LANEWISE_API int lanewise_allocation(lanewise_machine *machine, uint64_t address, uint64_t *begin, uint64_t *bytes);

/** Gets the range of addresses that allocations may have: the first address, and the end. Both are 0 before the machine
 *  is used. */
LANEWISE_API void lanewise_address_range(const lanewise_machine *machine, uint64_t *begin, uint64_t *end);

/** Returns the allocation that contains @address for direct access by the host; the pointer has the value of @address,
 *  so that host and kernels can exchange pointers. NULL: no allocation contains the address, or the host has other
 *  memory at that address (as for the second machine of a process). Checks do not observe the host's accesses to this
 *  memory. */
LANEWISE_API void *lanewise_host_pointer(lanewise_machine *machine, uint64_t address);

/* ---- running --------------------------------------------------------------------------------- */

/**
 * Queues a kernel after those that were launched before.
 * @grid, @block blocks of the grid, threads of a block: x, y, z, all at least 1
 * @shared_bytes   size of the dynamic shared memory (extern __shared__)
 * @arguments      one pointer for each parameter, to its value (copied by this call): the address of a
 *                 buffer is a uint64_t; for __local memory the size in bytes, as a uint64_t
 */
LANEWISE_API int lanewise_launch(lanewise_machine *machine, const lanewise_kernel *kernel,
                                 const uint32_t grid[3], const uint32_t block[3],
                                 uint32_t shared_bytes, const void *const *arguments);
/** Shape of a launch. */
typedef struct lanewise_shape {
    uint32_t grid[3], block[3]; /* as in lanewise_launch */
    uint32_t shared_bytes;      /* of dynamic shared memory */
    uint32_t dimensions;        /* 1 to 3, as get_work_dim() returns; 0: as many as the sizes need */
    uint32_t offset[3];         /* added to OpenCL's global ids: get_global_offset() */
} lanewise_shape;
/** Does what lanewise_launch() does, with all members of a shape. @shape_bytes is sizeof *shape: members that an
 *  older caller does not know count as 0. */
LANEWISE_API int lanewise_launch_shape(lanewise_machine *machine, const lanewise_kernel *kernel,
                                       const lanewise_shape *shape, size_t shape_bytes, const void *const *arguments);
/** Runs all queued launches to their end. After a fault or a hang memory can be read, but no kernel can be launched.
 *  LANEWISE_FINDING: all launches have ended, and there are findings at locations that were not reported before;
 *  lanewise_error() has the message of the first of them. */
LANEWISE_API int lanewise_wait(lanewise_machine *machine);
/** Makes a machine that stopped at a fault or a hang usable again: launches that have not ended are dropped. Memory,
 *  modules, findings and counts stay as they are, except that the counts of the GPU model begin anew. */
LANEWISE_API int lanewise_recover(lanewise_machine *machine);
/** Makes lanewise_wait return soon. May be called from a signal handler or another thread. */
LANEWISE_API void lanewise_interrupt(lanewise_machine *machine);

/** Options of lanewise_gdb(). */
typedef struct lanewise_gdb_options {
    const char *address; /* "PORT", "HOST:PORT" (an empty host is 127.0.0.1), "unix:PATH"; NULL or "0": a free port */
    const char *kernel;  /* the first launch of this kernel stops; NULL: the first launch of any */
    uint64_t history_mib; /* memory for reverse execution; 0: 256 */
    int own; /* not 0: gdb was started for this program, which is killed if the connection breaks */
    /** Called when gdb can connect, with the operand of gdb's `target remote`; may be NULL. */
    void (*ready)(void *context, const char *target);
    void *context;
} lanewise_gdb_options;
/**
 * Lets gdb debug the launches. lanewise_wait() waits at the launch that @options name until gdb has connected. From
 * then on gdb controls how launches run, and lanewise_wait() returns when all of them have ended. Between launches gdb
 * waits. After gdb has detached, launches run without it. Must be called before anything is loaded or allocated, and
 * only once. @options_bytes is sizeof *options. Reverse execution goes back no further than the beginning of the
 * launch.
 */
LANEWISE_API int lanewise_gdb(lanewise_machine *machine, const lanewise_gdb_options *options, size_t options_bytes);

/** After lanewise_set(machine, "record", FOLDER) each launch becomes a launch file in FOLDER, with the object, and the
 *  contents of the buffers before and after the launch. Each call of lanewise_launch() then first runs the launches
 *  that are queued. Returns the reason why the latest launch was left out, "" if it was recorded. */
LANEWISE_API const char *lanewise_record_message(const lanewise_machine *machine);

/* ---- findings of checks ---------------------------------------------------------------------- */

/** Location of an event. Unknown strings are "". Strings are valid as long as the machine. */
typedef struct lanewise_location {
    const char *kernel, *function, *file;
    uint32_t line;     /* 0: not known */
    uint32_t block[3];
    uint32_t warp;     /* index in the block */
    uint32_t launch;   /* number of the launch: 1, 2, ... */
    uint64_t lanes;    /* lane mask */
    uint64_t pc;
} lanewise_location;
/** A finding at one location; location and message describe the first occurrence. */
typedef struct lanewise_finding {
    const char *kind;       /* "race", as `lanewise explain` lists them */
    const char *message;    /* no full stop */
    lanewise_location location;
    lanewise_location other; /* previous access of a race; its kernel is "" if there is none */
    uint64_t address;       /* 0: none */
    const char *allocation; /* name of the nearest buffer at or below address */
    uint64_t count;         /* number of lanes, over all occurrences */
    unsigned call_count;       /* number of inlined calls that contain `location` */
    unsigned other_call_count; /* number of inlined calls that contain `other`: see lanewise_finding_call */
} lanewise_finding;
/** An inlined call of @function. Strings are as in lanewise_location. */
typedef struct lanewise_call {
    const char *function;
    const char *file; /* position of the call */
    uint32_t line;    /* 0: not known */
} lanewise_call;
/** Returns the number of findings so far, without suppressed ones (check-suppress). They are indexed in the
 *  order in which they were found. */
LANEWISE_API unsigned lanewise_finding_count(const lanewise_machine *machine);
/** Gets finding @index, from 0. @out_bytes is sizeof *out: later versions may have more members at its end. */
LANEWISE_API int lanewise_finding_get(lanewise_machine *machine, unsigned index,
                                      lanewise_finding *out, size_t out_bytes);
/** Gets inlined call @number, from 0, the innermost first, around the location of finding @index or (@other
 *  not 0) around that of the previous access. @out_bytes is sizeof *out. */
LANEWISE_API int lanewise_finding_call(lanewise_machine *machine, unsigned index, int other,
                                       unsigned number, lanewise_call *out, size_t out_bytes);
/** Adds a location in the host program to finding @index, for JSON and SARIF reports: "launched by main" at
 *  @file and @line. @line 0 and @file "": not known. At most 4 for each finding. */
LANEWISE_API int lanewise_finding_relate(lanewise_machine *machine, unsigned index, const char *message, const char *file,
                                         uint32_t line);
/** A finding of a program in its own calls. A text that is not known is "", and an unknown line is 0. */
typedef struct lanewise_host_finding {
    const char *kind; /* a kind of the class "api", such as "api-leak" */
    const char *message;
    const char *function, *file; /* of the call */
    uint32_t line;
    uint64_t count; /* number of occurrences; 0 counts as 1 */
} lanewise_host_finding;
/** Adds a finding, if its kind is enabled; texts are copied. @finding_bytes is sizeof *finding. LANEWISE_FINDING: the
 *  finding is new, and is the last one of lanewise_finding_get(). LANEWISE_OK: the finding is not reported, or was
 *  reported at this location before. */
LANEWISE_API int lanewise_finding_add(lanewise_machine *machine, const lanewise_host_finding *finding, size_t finding_bytes);
/** Returns 1 if findings of @kind are enabled, else 0. The options of the machine are fixed by this call. */
LANEWISE_API int lanewise_finding_wanted(lanewise_machine *machine, const char *kind);
/** Finishes the machine: no more launches are possible, and the session of gdb ends. Adds the findings of the end of a
 *  run ("heap-leak", "performance", and the fault or hang that ended it), and sorts findings by file and line.
 *  LANEWISE_FINDING: there are findings, also if they were reported before. */
LANEWISE_API int lanewise_finish(lanewise_machine *machine);

/* ---- what happened --------------------------------------------------------------------------- */

/** Gets a count by name: "thread_instructions", "loads" ..., with a timing model "cycles". */
LANEWISE_API int lanewise_statistic(lanewise_machine *machine, const char *name, uint64_t *value);
/** Returns the name of count @index: 0, 1, ... until NULL. */
LANEWISE_API const char *lanewise_statistic_name(unsigned index);
/**
 * Writes a report as text, to be freed by lanewise_report_free.
 * @kind  "statistics": all counts, as a JSON object; "timing": the tables of the timing model;
 *        "timing-json": the JSON object of the timing model; "findings": a line for each finding; "findings-json",
 *        "findings-sarif", "findings-junit"; "coverage": a tracefile of lcov, and "profile": the source with the cost
 *        of each line, for all launches so far
 */
LANEWISE_API int lanewise_report(lanewise_machine *machine, const char *kind, char **out);
LANEWISE_API void lanewise_report_free(char *text);
/** Returns a hash over the machine's allocations and printed text: equal results have equal hashes. */
LANEWISE_API uint64_t lanewise_hash(const lanewise_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
