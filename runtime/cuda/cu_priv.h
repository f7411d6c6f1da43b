/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's runtime library, implemented with lanewise.h: types of its binary interface, which compilers use, and
 * declarations that its files share. Functions have the names, and enumerations the numbers, of CUDA's documentation.
 * Each call completes its work before it returns, so that no work of different streams overlaps. A function whose
 * comment says "locked" must be called with the lock held (rt_priv.h).
 */
#ifndef CU_PRIV_H
#define CU_PRIV_H

#include "runtime/rt_priv.h"

#define CU_API __attribute__((visibility("default")))

/** Errors that functions of the runtime return. */
typedef int cudaError_t;
enum {
#define LW_ERROR(number, name, driver_name, text) name = number,
#define LW_RUNTIME_ERROR(number, name, text) name = number,
#include "runtime/cuda/cu_errors.def"
};
/** Returns the error of the device: cudaSuccess, cudaErrorNoDevice, or the error of a kernel that has failed. After such a
 *  failure, most calls return this error. Locked. */
cudaError_t cu_device_error(void);
/** Returns the value of a key of the GPU model, or @otherwise without the timing model; locked. */
unsigned cu_timing_number(const char *key, unsigned otherwise);
/** Returns whether the program has used the runtime. A use of the runtime creates the primary context; cudaDeviceReset destroys
 *  this context. */
enum cu_use { CU_NOT_USED, CU_USED, CU_RESET };
enum cu_use cu_runtime_use(void);
void cu_runtime_reset(void);
/** Called by the driver interface before and after it calls a function of the runtime. Such a call does not count as a use of the
 *  runtime and does not change the last error. */
void cu_driver_begin(void);
void cu_driver_end(void);
/** Returns true while a function of the driver interface calls the runtime. */
bool cu_is_driver_call(void);
/** Records an error for cudaGetLastError, and returns it. Each function that the program calls passes its result to this
 *  function, which also checks the call (cu_trace.c). */
cudaError_t cu_return(cudaError_t error);

typedef struct {
    unsigned x, y, z;
} cu_dim3;

/** These two functions return true if the argument is valid: flags of a device or context, or a preference between L1
 *  cache and shared memory. */
bool cu_flags_are_valid(unsigned flags);
bool cu_is_cache_config(int config);

/** Handles of streams and events. The stream handles NULL, 1 and 2 mean the default streams. */
typedef struct cu_stream *cudaStream_t;
typedef struct cu_event *cudaEvent_t;
/** Returns true if the handle is an existing stream. The caller holds the lock. */
bool cu_is_stream(cudaStream_t stream);

enum { CU_SHARED_BYTES = 49152, CU_REGISTERS = 65536, CU_WARPS = 64, CU_CORES = 16, CU_COMPUTE_MAJOR = 7, CU_COMPUTE_MINOR = 5 };

/* ---- files that are linked (cu_link.c) ------------------------------------------------------------------------------ */

/** The PTX of files that are linked. It is zeroed at first. */
struct cu_link {
    lanewise_text *texts; /* copies of names and texts */
    unsigned count;
    bool has_failed; /* there was no memory for a text */
};
/** Returns PTX with the functions of libcudadevrt that the texts of @link use, without those that are built in. Returns NULL if there are
 *  none, or if memory is short. The caller frees it. */
char *cu_device_functions(const struct cu_link *link);
/** Adds the PTX @text of a file, whose index is link->count. If not @has_unique_names, changes names that another file may have. */
void cu_link_add(struct cu_link *link, const char *name, const char *text, bool has_unique_names);
/** Links the texts, of which there is at least one unless has_failed is set, and frees them. Prints an error of the PTX. */
cudaError_t cu_link_end(struct cu_link *link, lanewise_module **out);
/** Returns the name that the file @index has for a kernel or variable; NULL: no memory. The caller frees it. */
char *cu_link_name(const char *name, unsigned index);

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/** A fat binary that the program has registered, or a module that the driver interface has loaded. A fat binary is loaded
 *  when one of its kernels or variables is first used. */
struct cu_module;
/** Returns true if a module with managed variables is registered, but perhaps not loaded. */
bool cu_managed_waits(void);
/** Loads the modules that have managed variables, so that the host's pointers to these variables are valid. */
void cu_managed_load(void);
/** Returns true if @begin is the address of a managed variable; locked. */
bool cu_is_managed(uint64_t begin);
/** A kernel. A program refers to it by the address of its host stub, a function that the compiler has generated. */
struct cu_function {
    struct cu_function *next;
    struct cu_module *module;
    const void *stub;
    char *name;
    lanewise_kernel *kernel; /* NULL: the kernel has not been used yet, or is missing */
    bool missing; /* the module has no such kernel, and the reason has been printed */
    bool has_limit;             /* cudaFuncSetAttribute has set a limit of dynamic shared memory: */
    unsigned max_dynamic_bytes;
    struct cu_old_launch *old;  /* state of cuFuncSetBlockShape() and cuParamSetv(), from malloc(), or NULL */
};
/** Returns the limit of dynamic shared memory of a kernel that has @static_bytes of static shared memory. */
unsigned cu_function_dynamic_limit(const struct cu_function *f, unsigned static_bytes);
/** Finds a kernel by its host stub, or by its struct cu_function, and loads its module if necessary; locked. */
cudaError_t cu_function_get(const void *stub, struct cu_function **out);
/** Returns true if a module is loaded; locked. */
bool cu_modules_loaded(void);
/** Marks all modules as not loaded, so that each is loaded again at its next use; locked. */
void cu_modules_reset(void);
/** Waits for the host functions that precede the next work of a stream. Only they run later than the call that requests them. Does
 *  nothing if the handle is not valid. Called without the lock. */
void cu_stream_settle(cudaStream_t stream);
/** Frees all physical memory and reserved addresses of virtual memory management; locked. */
void cu_virtual_reset(void);
/** Frees all device memory that the program has allocated, and ends the registrations of host memory; locked. */
void cu_memory_reset(void);
/* Memory of the host that the program has registered. All are locked. */
/** Copies the registered memory to its copies in device memory: before kernels, copies and fills that may access them. */
void cu_registered_to_device(void);
/** Copies what has changed in the copies in device memory to the registered memory. */
void cu_registered_to_host(void);
/** Returns true if @address is in a copy in device memory. */
bool cu_registered_has_copy(const void *address);
/** Gets the pointers of host and device to the byte of registered memory at @pointer, which is one of the two. @device is NULL if
 *  there is no copy in device memory. Returns false if @pointer is not in registered memory. */
bool cu_registered_pointers(const void *pointer, void **host, void **device);
void cu_registered_reset(void);
/** Frees all streams and events of the program; locked. */
void cu_streams_reset(void);
/** What a block of memory holds. Memory of the program is freed by cudaFree() and cudaFreeHost(), all other memory only by
 *  cu_memory_free() for the same content, which returns cudaErrorInvalidValue for other pointers. */
enum cu_content { CU_CONTENT_DATA, CU_CONTENT_ARRAY, CU_CONTENT_TEXTURE, CU_CONTENT_SURFACE };
/** These two functions are not locked, and return errors as cu_return() does. */
cudaError_t cu_memory_allocate(void **out, size_t bytes, enum cu_content content);
cudaError_t cu_memory_free(void *pointer, enum cu_content content);
/** Gets the flags of memory of cudaHostAlloc() that contains @pointer. cudaErrorInvalidValue: there is none; locked. */
cudaError_t cu_memory_flags(const void *pointer, unsigned *out);
/** Returns true if @pointer is in the device's memory, which includes pinned and managed memory; locked. */
bool cu_memory_is_device(const void *pointer);
/** Flag of pinned and of registered memory. The device can access all of it, so this memory always has the flag. */
enum { CU_HOST_MAPPED = 2 };
/** Functions of CUDA that other files call. */
CU_API cudaError_t cudaMalloc(void **out, size_t bytes);
CU_API cudaError_t cudaFree(void *pointer);
/** Finds a variable by the address of the host variable that represents it, and loads its module if necessary; locked. */
cudaError_t cu_variable_get(const void *symbol, uint64_t *address, size_t *bytes);

/* ---- modules of the driver interface; all locked ------------------------------------------------------------------ */

enum { CU_OBJECT_MACHINE = 0x4c57 }; /* e_machine of Lanewise's object files */

bool cu_is_module(const struct cu_module *module);
/** Frees a module and its functions. Returns false if @module is not a module. */
bool cu_module_unload(struct cu_module *module);
/**
 * Gets the PTX of an image, which is a PTX text or a fat binary; or the whole image if it is an object file of Lanewise.
 * Programs pass an image without its size, so only the sizes in the image's headers limit how much is read.
 * @owned  set to memory that the caller frees after it has used @text, or to NULL
 */
cudaError_t cu_image_text(const void *image, const void **text, size_t *bytes, bool *is_object, void **owned);
/** Creates the handle of a module that the machine has loaded. */
cudaError_t cu_module_adopt(lanewise_module *module, struct cu_module **out);
/** These two functions find a kernel or a variable by its name in the PTX. */
cudaError_t cu_module_function(struct cu_module *m, const char *name, struct cu_function **out);
cudaError_t cu_module_variable(struct cu_module *m, const char *name, uint64_t *address, uint64_t *bytes);
/** Finds a managed variable, and gets the address that host and kernels have for it. cudaErrorSymbolNotFound: there is none. */
cudaError_t cu_module_managed(struct cu_module *m, const char *name, uint64_t *address, uint64_t *bytes);
unsigned cu_module_function_count(const struct cu_module *m);
/** Gets the first functions of a module, at most @count. */
cudaError_t cu_module_functions(struct cu_module *m, unsigned count, struct cu_function **out);

#endif
