/* SPDX-License-Identifier: Apache-2.0 */
/* Fat binaries, which compilers put into programs: their registration, their PTX, their kernels and variables. */
#include "runtime/cuda/cu_trace_priv.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Layout of fat binaries, as found in programs compiled by nvcc 13 and clang 14 to 19. A wrapper points to a container.
 * A container has a header and entries. An entry has a header and a payload, such as a PTX text or machine code. */
enum {
    WRAPPER_MAGIC = 0x466243b1,
    WRAPPER_LINKED = 2, /* version of wrappers of nvcc -rdc=true */
    WRAPPER_MAGIC_MANAGED = 0x48495046, /* clang writes this magic number for host code with managed variables */
    CONTAINER_MAGIC = (int)0xba55ed50,
    CONTAINER_BYTES = 16,
    ENTRY_PTX = 1,
    ENTRY_FLAG_COMPRESSED = 0x8000, /* the payload is compressed with zstd */
    ENTRY_HEADER_BYTES = 80,
    MAX_PTX_BYTES = 1 << 28
};
struct wrapper {
    uint32_t magic, version;
    const uint8_t *data;
    const uint8_t *const *linked; /* in version 2: containers of the files that nvcc -rdc=true links; the last pointer is NULL */
};
struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* size of the entries, which follow the header */
};
struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* size of the payload with its padding */
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t arch;
    uint32_t name, name_bytes; /* file name of the source: offset in the entry, and size with the final zero, or 0 if none */
    uint64_t flags, reserved, plain_bytes;
};

#define ENTRY_FLAG_LINKED (UINT64_C(1) << 56) /* set by `lanewise cc -rdc=true`: the PTX must be linked with that of other
                                               * source files of the program */

/** PTX of a fat binary. */
struct text {
    char *text;     /* from malloc; NULL: the fat binary has no PTX that can be read */
    char name[200]; /* file name for messages, such as "vector.cu.ptx" */
    bool linked;    /* the PTX must be linked with that of other files (ENTRY_FLAG_LINKED) */
    bool only_code; /* the fat binary has machine code; meaningful if there is no PTX */
};
struct variable {
    struct variable *next;
    const void *shadow; /* host variable that represents the variable */
    void **managed; /* for a managed variable: host variable that points to it; or NULL */
    void *initial;  /* for a managed variable: memory to which the host's pointer may point until the module is loaded */
    void *saved;    /* copy of the initial value, which a reset of the device restores; from malloc, or NULL */
    char *name;
    size_t bytes;
};
struct cu_module {
    struct cu_module *next;
    const struct wrapper *wrapper;
    const void *image; /* where the executable or shared library with the wrapper is loaded; NULL: in neither */
    struct cu_function *functions;
    struct variable *variables;
    lanewise_module *module; /* module of the machine, or NULL if it is not loaded yet */
    cudaError_t error;       /* reason why the module cannot be loaded; else cudaSuccess */
    bool joins;              /* set while load_linked() links this module with others */
    unsigned index;          /* for a linked module: its index, with which cu_link.c makes names of the PTX */
};

/* This list is global, because compilers register modules before main() by functions that have no argument for it. */
static struct cu_module *modules;
/* A managed variable is registered, but its module is not loaded yet. */
static bool managed_waits;

/** Returns the PTX of an entry, decompressed if necessary and allocated by malloc; NULL: it cannot be read. */
static char *text_of(const struct entry *e, const uint8_t *payload)
{
    const size_t bytes = e->compressed_bytes != 0 ? e->compressed_bytes : e->bytes;
    char *text = NULL;

    if (bytes > e->bytes)
        return NULL;
    if ((e->flags & ENTRY_FLAG_COMPRESSED) == 0 && e->compressed_bytes == 0) {
        text = malloc(bytes + 1);
        if (text != NULL) {
            memcpy(text, payload, bytes);
            text[bytes] = '\0';
        }
        return text;
    }
#ifdef HAVE_ZSTD
    if (e->plain_bytes < MAX_PTX_BYTES && (text = malloc(e->plain_bytes + 1)) != NULL) {
        const size_t size = ZSTD_decompress(text, e->plain_bytes, payload, bytes);

        if (ZSTD_isError(size)) {
            fprintf(stderr, "lanewise: the PTX in a fat binary of the program cannot be decompressed: %s\n",
                    ZSTD_getErrorName(size));
            free(text);
            return NULL;
        }
        text[size] = '\0';
    }
#else
    fprintf(stderr, "lanewise: the PTX in a fat binary of the program is compressed, but Lanewise was built without "
                    "libzstd: compile the program with nvcc --no-compress\n");
#endif
    return text;
}

/** Returns true if a container begins at @at. @at may be a text that is shorter than the magic number, so the function compares
 *  as with strings: it reads no byte past the end of the text. */
static bool is_container(const uint8_t *at)
{
    const uint32_t magic = (uint32_t)CONTAINER_MAGIC;

    return strncmp((const char *)at, (const char *)&magic, sizeof magic) == 0;
}

/** Sets name and flags of a PTX text from its entry. */
static void describe(struct text *out, const struct entry *e, const uint8_t *at)
{
    const char *name = (const char *)at + e->name;

    out->linked = (e->flags & ENTRY_FLAG_LINKED) != 0;
    if (e->name >= ENTRY_HEADER_BYTES && e->name_bytes > 1 && e->name <= e->header_bytes &&
        e->name_bytes <= e->header_bytes - e->name && memchr(name, '\0', e->name_bytes) != NULL)
        snprintf(out->name, sizeof out->name, "%.190s.ptx", name);
}

/** Gets the PTX of the newest architecture in the container at @at; or the text at @at, if it is PTX and no container. */
static void find_ptx(const uint8_t *at, struct text *out)
{
    const uint8_t *best = NULL;
    struct container c;
    uint32_t arch = 0;

    *out = (struct text){.name = "program.ptx"};
    if (at == NULL)
        return;
    if (!is_container(at)) { /* clang may embed a PTX file without a container */
        while (*at == '\n' || *at == ' ' || *at == '\r' || *at == '\t')
            at++;
        out->text = strncmp((const char *)at, "//", 2) == 0 || strncmp((const char *)at, "/*", 2) == 0 || *at == '.' ? strdup((const char *)at) : NULL;
        return;
    }
    while (is_container(at)) {
        const uint8_t *end;

        memcpy(&c, at, sizeof c);
        if (c.header_bytes < CONTAINER_BYTES || c.bytes > PTRDIFF_MAX - UINT16_MAX)
            break;
        end = at + c.header_bytes + c.bytes;
        for (at += c.header_bytes; (size_t)(end - at) >= sizeof(struct entry);) {
            const uint64_t left = (uint64_t)(end - at);
            struct entry e;

            memcpy(&e, at, sizeof e);
            if (e.header_bytes < CONTAINER_BYTES || e.header_bytes > left || e.bytes > left - e.header_bytes)
                break;
            out->only_code = out->only_code || e.kind != ENTRY_PTX;
            if (e.kind == ENTRY_PTX && (best == NULL || e.arch > arch)) {
                best = at;
                arch = e.arch;
            }
            at += e.header_bytes + e.bytes;
        }
        at = end;
        if (best != NULL || c.bytes != 0) /* continues only after an empty container, because another container follows it */
            break;
    }
    if (best != NULL) {
        struct entry e;

        memcpy(&e, best, sizeof e);
        out->text = text_of(&e, best + e.header_bytes);
        describe(out, &e, best);
    }
}

/** Returns the data to which a wrapper points, or NULL if @w is not a wrapper. */
static const uint8_t *data_of(const struct wrapper *w)
{
    return w != NULL && (w->magic == WRAPPER_MAGIC || w->magic == WRAPPER_MAGIC_MANAGED) ? w->data : NULL;
}

static void complain_no_ptx(const char *what, bool only_code)
{
    fprintf(stderr, "lanewise: %s has %s: compile it with -gencode arch=compute_75,code=compute_75, which adds PTX\n", what,
            only_code ? "machine code of NVIDIA GPUs, but no PTX" : "no PTX");
}

/** Does what lanewise_variable() does, for the variable that the host knows by @name. */
static int find_variable(const struct cu_module *m, const char *name, uint64_t *address, uint64_t *bytes)
{
    char *linked = cu_link_name(name, m->index);
    const int status = linked != NULL ? lanewise_variable(m->module, linked, address, bytes) : LANEWISE_ERROR;

    free(linked);
    return status;
}

/** Sets the host's pointers to the managed variables of @m. Host and kernels access them at the same addresses. If the host has
 *  accessed a variable before, copies its value. */
static void place_managed(struct cu_module *m)
{
    for (struct variable *v = m->variables; v != NULL; v = v->next) {
        uint64_t address, bytes;

        if (v->managed == NULL)
            continue;
        if (find_variable(m, v->name, &address, &bytes) != LANEWISE_OK) {
            fprintf(stderr, "lanewise: the PTX of the program does not define the managed variable %s: compile the file that defines "
                            "it with -gencode arch=compute_75,code=compute_75, which adds PTX\n", v->name);
            continue;
        }
        if (v->initial != NULL && *v->managed == v->initial && bytes == v->bytes)
            (void)lanewise_write(rt_machine(), address, v->initial, bytes);
        *v->managed = lanewise_host_pointer(rt_machine(), address);
    }
}

/** Links @m, whose PTX is @of_m, with all other modules of its executable or shared library that must be linked and are not loaded
 *  yet. All these modules then share one module of the machine. As in CUDA, device code of one shared library has no access to that
 *  of another, or of the executable, and their names may be equal. */
static void load_linked(struct cu_module *m, const struct text *of_m)
{
    struct cu_link link = {.count = 0};
    lanewise_module *module = NULL;
    cudaError_t error;

    for (struct cu_module *other = modules; other != NULL; other = other->next) {
        struct text own;
        const struct text *t = of_m;

        if (other->module != NULL || other->error != cudaSuccess || other->image != m->image)
            continue;
        if (other != m) {
            find_ptx(data_of(other->wrapper), &own);
            t = &own;
        }
        if (t->text != NULL && t->linked) {
            other->index = link.count;
            cu_link_add(&link, t->name, t->text, false);
            other->joins = true;
        }
        if (other != m)
            free(own.text);
    }
    error = cu_link_end(&link, &module);
    for (struct cu_module *other = modules; other != NULL; other = other->next) {
        if (!other->joins)
            continue;
        other->joins = false;
        other->module = module;
        other->error = error;
        if (error == cudaSuccess)
            place_managed(other);
    }
}

/** Returns true if a PTX text is NVIDIA's library libcudadevrt. Its functions, with which kernels launch kernels, are built in. */
static bool is_device_library(const char *text)
{
    return strstr(text, "__cuda_syscall_") != NULL;
}

/** Links the PTX of the files that nvcc -rdc=true has linked into @m. nvcc has one wrapper for all of them, whose own container has
 *  machine code or is empty. Returns false if no file has PTX. Sets *@only_code if a file has machine code instead. */
static bool load_files(struct cu_module *m, bool *only_code)
{
    const struct wrapper *w = m->wrapper;
    struct cu_link link = {.count = 0};
    char *functions;

    if (data_of(w) == NULL || w->version < WRAPPER_LINKED || w->linked == NULL)
        return false;
    for (const uint8_t *const *at = w->linked; *at != NULL; at++) {
        struct text file;

        find_ptx(*at, &file);
        if (file.text == NULL)
            *only_code = *only_code || file.only_code;
        else if (!is_device_library(file.text))
            cu_link_add(&link, file.name, file.text, true);
        free(file.text);
    }
    functions = cu_device_functions(&link);
    if (functions != NULL)
        cu_link_add(&link, "cudadevrt", functions, true);
    free(functions);
    if (link.count == 0 && !link.has_failed)
        return false;
    m->error = cu_link_end(&link, &m->module);
    if (m->error == cudaSuccess)
        place_managed(m);
    return true;
}

/** Loads a module if it is not loaded yet. The caller holds the lock. */
static cudaError_t load(struct cu_module *m)
{
    lanewise_machine *machine = rt_machine();
    bool files_have_code = false;
    struct text ptx;

    if (m->module != NULL || m->error != cudaSuccess)
        return m->error;
    if (machine == NULL)
        return cudaErrorNoDevice;
    if (load_files(m, &files_have_code))
        return m->error;
    find_ptx(data_of(m->wrapper), &ptx);
    if (ptx.text == NULL) {
        complain_no_ptx("the program", ptx.only_code || files_have_code);
        m->error = cudaErrorNoKernelImageForDevice;
        return m->error;
    }
    if (ptx.linked) {
        load_linked(m, &ptx);
    } else if (lanewise_load_text(machine, ptx.name, ptx.text, strlen(ptx.text), NULL, &m->module) != LANEWISE_OK) {
        rt_complain("");
        m->error = cudaErrorInvalidPtx;
    } else {
        place_managed(m);
    }
    free(ptx.text);
    return m->error;
}

void cu_managed_load(void)
{
    rt_lock();
    managed_waits = false;
    for (struct cu_module *m = modules; m != NULL; m = m->next)
        for (struct variable *v = m->variables; v != NULL; v = v->next)
            if (v->managed != NULL)
                (void)load(m); /* a use of the module reports the error */
    rt_unlock();
}

bool cu_managed_waits(void)
{
    return managed_waits;
}

bool cu_is_managed(uint64_t begin)
{
    for (struct cu_module *m = modules; m != NULL; m = m->next)
        for (struct variable *v = m->variables; v != NULL; v = v->next)
            if (v->managed != NULL && (uint64_t)(uintptr_t)*v->managed == begin)
                return true;
    return false;
}

/** Returns the kernel that the host knows by @name, or NULL. */
static lanewise_kernel *find_kernel(const struct cu_module *m, const char *name)
{
    char *linked = cu_link_name(name, m->index);
    lanewise_kernel *kernel = NULL;

    for (unsigned i = 0; linked != NULL && (kernel = lanewise_kernel_at(m->module, i)) != NULL; i++)
        if (strcmp(lanewise_kernel_name(kernel), linked) == 0)
            break;
    free(linked);
    return kernel;
}

/** Prints why there is no kernel that the host knows by @name: the translator has refused it, or no PTX of the module defines it. */
static void complain_missing(const struct cu_module *m, const char *name)
{
    char *linked = cu_link_name(name, m->index), plain[200];

    if (linked != NULL && lanewise_kernel_refusal(m->module, linked) != NULL) {
        rt_complain_refused(m->module, linked);
    } else {
        lanewise_plain_name(name, plain, sizeof plain);
        fprintf(stderr, "lanewise: the PTX of the program does not define the kernel %s: compile the file that defines it with "
                        "-gencode arch=compute_75,code=compute_75, which adds PTX\n", plain);
    }
    free(linked);
}

cudaError_t cu_function_get(const void *stub, struct cu_function **out)
{
    if (stub == NULL)
        return cudaErrorInvalidDeviceFunction;
    for (struct cu_module *m = modules; m != NULL; m = m->next)
        for (struct cu_function *f = m->functions; f != NULL; f = f->next)
            if (f->stub == stub || (const void *)f == stub) {
                const cudaError_t error = load(m);

                *out = f;
                if (error != cudaSuccess)
                    return error;
                if (f->kernel == NULL)
                    f->kernel = find_kernel(m, f->name);
                if (f->kernel == NULL && !f->missing)
                    complain_missing(m, f->name);
                f->missing = f->kernel == NULL;
                return f->missing ? cudaErrorInvalidDeviceFunction : cudaSuccess;
            }
    return cudaErrorInvalidResourceHandle;
}

cudaError_t cu_variable_get(const void *symbol, uint64_t *address, size_t *bytes)
{
    for (struct cu_module *m = modules; m != NULL; m = m->next)
        for (struct variable *v = m->variables; v != NULL; v = v->next)
            if (v->shadow == symbol || (v->managed != NULL && *v->managed == symbol)) {
                const cudaError_t error = load(m);
                uint64_t size;

                if (error != cudaSuccess)
                    return error;
                if (find_variable(m, v->name, address, &size) != LANEWISE_OK)
                    return cudaErrorInvalidSymbol;
                *bytes = size;
                return cudaSuccess;
            }
    return cudaErrorInvalidSymbol;
}

bool cu_modules_loaded(void)
{
    for (const struct cu_module *m = modules; m != NULL; m = m->next)
        if (m->module != NULL)
            return true;
    return false;
}

void cu_modules_reset(void)
{
    for (struct cu_module *m = modules; m != NULL; m = m->next) {
        m->module = NULL;
        m->error = cudaSuccess;
        for (struct cu_function *f = m->functions; f != NULL; f = f->next) {
            f->kernel = NULL;
            f->has_limit = false;
        }
        for (struct variable *v = m->variables; v != NULL; v = v->next)
            if (v->initial != NULL) {
                if (v->saved != NULL)
                    memcpy(v->initial, v->saved, v->bytes);
                *v->managed = v->initial;
                managed_waits = true;
            }
    }
}

/* ---- functions that compiled programs call before main() ------------------------------------------------------------- */

/** Appends a module to the list of modules. The caller holds the lock. */
static void append(struct cu_module *m)
{
    struct cu_module **at = &modules;

    while (*at != NULL)
        at = &(*at)->next;
    *at = m;
}

CU_API void **__cudaRegisterFatBinary(void *wrapper)
{
    struct cu_module *m = calloc(1, sizeof *m);
    Dl_info info;
    /* Called without our lock: a thread in dlopen() has the lock that dladdr() needs, and may wait for ours. */
    const bool known = dladdr(wrapper, &info) != 0;

    rt_lock();
    if (m != NULL) {
        m->wrapper = wrapper;
        m->image = known ? info.dli_fbase : NULL;
        append(m);
    }
    rt_unlock();
    return (void **)m;
}

CU_API void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

bool cu_is_module(const struct cu_module *module)
{
    for (const struct cu_module *m = modules; m != NULL; m = m->next)
        if (m == module)
            return true;
    cu_trace_handle(module);
    return false;
}

bool cu_module_unload(struct cu_module *module)
{
    struct cu_module **at = &modules, *m;

    while (*at != NULL && *at != module)
        at = &(*at)->next;
    m = *at;
    if (m == NULL) {
        cu_trace_handle(module);
        return false;
    }
    *at = m->next;
    while (m->functions != NULL) {
        struct cu_function *f = m->functions;

        m->functions = f->next;
        free(f->name);
        free(f->old);
        free(f);
    }
    while (m->variables != NULL) {
        struct variable *v = m->variables;

        m->variables = v->next;
        free(v->saved);
        free(v->name);
        free(v);
    }
    cu_trace_released(m, m);
    return true;
}

/** Called when the program or plugin that contains the fat binary is unloaded. Removes the module, its kernels and variables.
 *  The machine keeps its own module, because reports may still refer to it. */
CU_API void __cudaUnregisterFatBinary(void **handle)
{
    rt_lock();
    cu_module_unload((struct cu_module *)handle);
    rt_unlock();
}

CU_API char __cudaInitModule(void **handle)
{
    bool good;

    if (handle == NULL)
        return 0;
    rt_lock();
    good = load((struct cu_module *)handle) == cudaSuccess;
    rt_unlock();
    return good;
}

CU_API int __cudaRegisterFunction(void **handle, const char *stub, char *function, const char *name, int limit, void *thread,
                                  void *block, void *block_size, void *grid_size, int *warp)
{
    struct cu_module *m = (struct cu_module *)handle;
    struct cu_function *f = calloc(1, sizeof *f);

    (void)function, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp;
    if (m == NULL || f == NULL || (f->name = strdup(name)) == NULL) {
        free(f);
        return cudaErrorMemoryAllocation;
    }
    rt_lock();
    f->stub = stub;
    f->module = m;
    f->next = m->functions;
    m->functions = f;
    rt_unlock();
    return cudaSuccess;
}

static void add_variable(void **handle, const void *shadow, void **managed, void *initial, const char *name, size_t bytes)
{
    struct cu_module *m = (struct cu_module *)handle;
    struct variable *v = calloc(1, sizeof *v);

    if (m == NULL || v == NULL || (v->name = strdup(name)) == NULL) {
        free(v);
        return;
    }
    rt_lock();
    v->shadow = shadow;
    v->managed = managed;
    v->initial = initial;
    v->saved = initial != NULL ? malloc(bytes) : NULL;
    if (v->saved != NULL)
        memcpy(v->saved, initial, bytes);
    v->bytes = bytes;
    v->next = m->variables;
    m->variables = v;
    if (managed != NULL && m->module != NULL)
        place_managed(m);
    else if (managed != NULL)
        managed_waits = true;
    rt_unlock();
}

CU_API void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name, int external, size_t bytes,
                              int constant, int global)
{
    (void)address, (void)external, (void)constant, (void)global;
    add_variable(handle, shadow, NULL, NULL, name, bytes);
}

CU_API void __cudaRegisterManagedVar(void **handle, void **pointer, char *address, const char *name, int external,
                                     size_t bytes, int constant, int global)
{
    const struct cu_module *m = (const struct cu_module *)handle;
    const bool has_initial = m != NULL && m->wrapper != NULL && m->wrapper->magic == WRAPPER_MAGIC_MANAGED;

    (void)external, (void)constant, (void)global;
    add_variable(handle, pointer, pointer, has_initial ? address : NULL, name, bytes);
}

/* ---- modules of the driver interface ------------------------------------------------------------------------------ */

/** Returns the size of the object file at @image, from its headers: the end of its last section. Returns 0 if it is not an
 *  object file of Lanewise. */
static size_t object_bytes(const uint8_t *image)
{
    Elf64_Ehdr header;
    size_t end;

    memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != CU_OBJECT_MACHINE || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shoff > UINT32_MAX)
        return 0;
    end = header.e_shoff + (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;

        memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_offset <= UINT32_MAX && section.sh_size <= UINT32_MAX &&
            section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    return end;
}

cudaError_t cu_image_text(const void *image, const void **text, size_t *bytes, bool *is_object, void **owned)
{
    const uint8_t *at = image;
    struct text ptx;
    uint32_t magic;

    *owned = NULL;
    *is_object = false;
    if (memcmp(at, ELFMAG, SELFMAG) == 0) {
        *text = at;
        *bytes = object_bytes(at);
        *is_object = true;
        if (*bytes != 0)
            return cudaSuccess;
        complain_no_ptx("the module", true);
        return cudaErrorNoKernelImageForDevice;
    }
    if (is_container(at) || strnlen((const char *)at, sizeof magic) == sizeof magic) {
        memcpy(&magic, at, sizeof magic);
        if (magic == WRAPPER_MAGIC)
            at = data_of(image);
    }
    find_ptx(at, &ptx);
    *text = *owned = ptx.text;
    if (*owned == NULL) {
        if (at != NULL && is_container(at))
            complain_no_ptx("the module", ptx.only_code);
        else
            fprintf(stderr, "lanewise: the data of the module is neither PTX nor a fat binary nor an object\n");
        return ptx.only_code ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidKernelImage;
    }
    *bytes = strlen(*owned);
    return cudaSuccess;
}

cudaError_t cu_module_adopt(lanewise_module *module, struct cu_module **out)
{
    struct cu_module *m = calloc(1, sizeof *m);

    if (m == NULL)
        return cudaErrorMemoryAllocation;
    m->module = module;
    append(m);
    *out = m;
    cu_trace_created(m, CU_THING_MODULE, 0);
    return cudaSuccess;
}

cudaError_t cu_module_function(struct cu_module *m, const char *name, struct cu_function **out)
{
    lanewise_kernel *kernel;
    struct cu_function *f;

    if (m->module == NULL) /* cudaDeviceReset has unloaded all modules */
        return cudaErrorInvalidResourceHandle;
    for (f = m->functions; f != NULL; f = f->next)
        if (strcmp(f->name, name) == 0) {
            *out = f;
            return cudaSuccess;
        }
    for (unsigned i = 0; (kernel = lanewise_kernel_at(m->module, i)) != NULL; i++)
        if (strcmp(lanewise_kernel_name(kernel), name) == 0)
            break;
    if (kernel == NULL) {
        rt_complain_refused(m->module, name);
        return cudaErrorSymbolNotFound;
    }
    f = calloc(1, sizeof *f);
    if (f == NULL || (f->name = strdup(name)) == NULL) {
        free(f);
        return cudaErrorMemoryAllocation;
    }
    f->module = m;
    f->kernel = kernel;
    f->next = m->functions;
    m->functions = f;
    *out = f;
    return cudaSuccess;
}

cudaError_t cu_module_variable(struct cu_module *m, const char *name, uint64_t *address, uint64_t *bytes)
{
    if (m->module == NULL)
        return cudaErrorInvalidResourceHandle;
    return lanewise_variable(m->module, name, address, bytes) == LANEWISE_OK ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t cu_module_managed(struct cu_module *m, const char *name, uint64_t *address, uint64_t *bytes)
{
    if (m->module != NULL && !lanewise_variable_is_managed(m->module, name))
        return cudaErrorSymbolNotFound;
    return cu_module_variable(m, name, address, bytes);
}

unsigned cu_module_function_count(const struct cu_module *m)
{
    unsigned count = 0;

    while (m->module != NULL && lanewise_kernel_at(m->module, count) != NULL)
        count++;
    return count;
}

cudaError_t cu_module_functions(struct cu_module *m, unsigned count, struct cu_function **out)
{
    const unsigned all = cu_module_function_count(m);
    cudaError_t error = cudaSuccess;

    for (unsigned i = 0; i < all && i < count && error == cudaSuccess; i++)
        error = cu_module_function(m, lanewise_kernel_name(lanewise_kernel_at(m->module, i)), &out[i]);
    return error;
}
