/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: their creation from sources and binaries, builds, and queries. */
#include "runtime/opencl/cl_priv.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void(CL_CALLBACK *notify_fn)(cl_program program, void *user);

/* ---- units ----------------------------------------------------------------------------------------------------- */

void cl_unit_drop(struct cl_unit *unit)
{
    if (--unit->references != 0)
        return;
    lanewise_object_free(unit->ptx);
    lanewise_object_free(unit->description);
    free(unit->source);
    free(unit->options);
    free(unit->headers);
    free(unit);
}

/** Drops the program's units, which are results of an earlier build. */
static void clear_units(struct _cl_program *program)
{
    for (unsigned i = 0; i < program->unit_count; i++)
        cl_unit_drop(program->units[i]);
    free(program->units);
    program->units = NULL;
    program->unit_count = 0;
}

/** Adds a unit to a program, with a reference. Returns false if the host has no memory. */
static bool add_unit(struct _cl_program *program, struct cl_unit *unit)
{
    struct cl_unit **units = realloc(program->units, (program->unit_count + 1u) * sizeof *units);

    if (units == NULL)
        return false;
    program->units = units;
    units[program->unit_count++] = unit;
    unit->references++;
    return true;
}

/** Creates a unit that has no references yet, for add_unit(). @il: the source is a SPIR-V module. Returns NULL if the host has no
 *  memory. */
static struct cl_unit *create_unit(const void *source, size_t source_bytes, bool il, const char *options,
                                   cl_uint header_count, const cl_program *headers, const char *const *names)
{
    struct cl_unit *unit = calloc(1, sizeof *unit);
    size_t bytes = 0;
    char *to;

    if (unit == NULL)
        return NULL;
    for (cl_uint i = 0; i < header_count; i++)
        bytes += strlen(names[i]) + 1 + strlen(headers[i]->source) + 1;
    unit->source = malloc(source_bytes + 1);
    unit->source_bytes = source_bytes;
    unit->is_il = il;
    unit->options = strdup(options);
    unit->headers = malloc((header_count + 1u) * sizeof *unit->headers + bytes);
    unit->header_count = header_count;
    if (unit->source == NULL || unit->options == NULL || unit->headers == NULL) {
        unit->references = 1;
        cl_unit_drop(unit);
        return NULL;
    }
    memcpy(unit->source, source, source_bytes);
    unit->source[source_bytes] = '\0';
    to = (char *)(unit->headers + header_count + 1);
    for (cl_uint i = 0; i < header_count; i++) {
        const size_t name_bytes = strlen(names[i]) + 1, text_bytes = strlen(headers[i]->source) + 1;

        unit->headers[i] = (lanewise_text){to, to + name_bytes, text_bytes - 1};
        memcpy(to, names[i], name_bytes);
        memcpy(to + name_bytes, headers[i]->source, text_bytes);
        to += name_bytes + text_bytes;
    }
    return unit;
}

static const char *const version_options[] = {"-U__OPENCL_VERSION__", "-D__OPENCL_VERSION__=300"};
enum { VERSION_OPTIONS = sizeof version_options / sizeof *version_options };
/** Options for a device without sub-groups: the compiler then has neither the macros nor the functions. */
#define UNDEFINED(name, major, minor, patch) , "-U" #name
static const char *const no_sub_groups[] = {"-Xclang", "-cl-ext=-cl_khr_subgroups,-__opencl_c_subgroups" CL_SUB_GROUPS(UNDEFINED)};
enum { NO_SUB_GROUPS = sizeof no_sub_groups / sizeof *no_sub_groups };

/** Returns the options of a compilation: those for the device's version and features, followed by the words of @options and the
 *  options of `lanewise app`. The caller frees the array and *@words. Returns NULL if the host has no memory. */
static const char **all_options(const char *options, char ***words)
{
    const char **all = NULL;
    size_t count = 0, kept = VERSION_OPTIONS;
    unsigned flag_count;
    const char *const *flags = rt_flags(&flag_count);

    *words = rt_words(options);
    while (*words != NULL && (*words)[count] != NULL)
        count++;
    if (*words != NULL)
        all = malloc((count + VERSION_OPTIONS + NO_SUB_GROUPS + flag_count + 1) * sizeof *all);
    if (all == NULL)
        return NULL;
    memcpy(all, version_options, sizeof version_options);
    if (cl_max_sub_groups() == 0) {
        memcpy(all + kept, no_sub_groups, sizeof no_sub_groups);
        kept += NO_SUB_GROUPS;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp((*words)[i], "-cl-no-subgroup-ifp") != 0) /* an option of OpenCL 2.1 that clang does not have */
            all[kept++] = (*words)[i];
    for (unsigned i = 0; i < flag_count; i++)
        all[kept++] = flags[i];
    all[kept] = NULL;
    return all;
}

static lanewise_text source_of(const struct cl_unit *unit)
{
    return (lanewise_text){unit->is_il ? "program.spv" : rt_source_name(unit->source), unit->source, unit->source_bytes};
}

const char *cl_program_describe(struct _cl_program *program, const char *kernel)
{
    const size_t size = strlen(kernel);

    for (unsigned i = 0; i < program->unit_count; i++) {
        struct cl_unit *unit = program->units[i];

        if (!unit->described && unit->source != NULL) {
            const lanewise_text source = source_of(unit);
            char **words;
            const char **options = all_options(unit->options, &words);

            unit->described = true;
            if (options == NULL ||
                lanewise_describe(rt_machine(), &source, unit->headers, unit->header_count, options, &unit->description) != LANEWISE_OK)
                unit->description = NULL;
            free(options);
            free(words);
        }
        for (const char *line = unit->description; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1)
            if (strncmp(line, kernel, size) == 0 && line[size] == '\t')
                return line;
    }
    return NULL;
}

/* ---- creation -------------------------------------------------------------------------------------------------- */

void cl_program_end(struct _cl_program *program)
{
    clear_units(program);
    free(program->source);
    free(program->binary);
    free(program->options);
    free(program->log);
    free(program->il);
    free(program->values);
}

struct _cl_program *cl_program_create(cl_context context, cl_int *error)
{
    struct _cl_program *program;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    program = cl_object_create(CL_KIND_PROGRAM, sizeof *program, context);
    *error = program != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (program != NULL)
        program->status = CL_BUILD_NONE;
    return program;
}

/** Returns all strings joined, in heap memory. A string whose length is 0 or not given ends at its terminating zero. */
static char *join(cl_uint count, const char *const *strings, const size_t *lengths)
{
    size_t bytes = 0;
    char *text, *to;

    for (cl_uint i = 0; i < count; i++)
        bytes += lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
    text = to = malloc(bytes + 1);
    for (cl_uint i = 0; i < count && text != NULL; i++) {
        const size_t size = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);

        memcpy(to, strings[i], size);
        to += size;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                 const size_t *lengths, cl_int *error)
{
    struct _cl_program *program = NULL;
    cl_int result = CL_SUCCESS;

    if (count == 0 || strings == NULL)
        result = CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count && result == CL_SUCCESS; i++)
        if (strings[i] == NULL)
            result = CL_INVALID_VALUE;
    rt_lock();
    if (result == CL_SUCCESS)
        program = cl_program_create(context, &result);
    else if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    if (program != NULL && (program->source = join(count, strings, lengths)) == NULL) {
        cl_object_release_handle(program, CL_KIND_PROGRAM, 0);
        program = NULL;
        result = CL_OUT_OF_HOST_MEMORY;
    }
    rt_unlock();
    cl_put_error(error, result);
    return program;
}

/** Replaces the program's log by @text. */
static void set_log(struct _cl_program *program, const char *text)
{
    free(program->log);
    program->log = strdup(text);
}

/* Begin of the binary of a compiled program or a library, which has PTX instead of a module. The first line continues with C
 * (compiled) or L (library), and the number of units. For each unit there is a line with the size of its PTX, and the
 * PTX. */
#define COMPILED_BEGIN "LWPTX 1 "

/** Reads a decimal number and a line feed at *@at, and advances *@at past them. Returns false if *@at has no such text, or if
 *  the number is greater than @most. */
static bool read_number(const char **at, const char *end, size_t most, size_t *out)
{
    size_t value = 0;
    const char *c = *at;

    for (; c < end && *c >= '0' && *c <= '9' && value <= most; c++)
        value = value * 10 + (size_t)(*c - '0');
    if (c == *at || c >= end || *c != '\n' || value > most)
        return false;
    *at = c + 1;
    *out = value;
    return true;
}

/** Reads units from a binary. Returns false if the binary is damaged, or if the host has no memory. */
static bool load_units(struct _cl_program *program, const char *bytes, size_t size)
{
    const char *at = bytes + sizeof COMPILED_BEGIN - 1, *const end = bytes + size;
    size_t count, unit_bytes;

    if (size < sizeof COMPILED_BEGIN + 2 || (*at != 'C' && *at != 'L') || at[1] != ' ')
        return false;
    program->type = *at == 'C' ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT : CL_PROGRAM_BINARY_TYPE_LIBRARY;
    at += 2;
    if (!read_number(&at, end, size, &count) || count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct cl_unit *unit;

        if (!read_number(&at, end, size, &unit_bytes) || unit_bytes > (size_t)(end - at))
            return false;
        unit = calloc(1, sizeof *unit);
        if (unit == NULL || !add_unit(program, unit)) {
            free(unit);
            return false;
        }
        unit->ptx = malloc(unit_bytes + 1);
        if (unit->ptx == NULL)
            return false;
        memcpy(unit->ptx, at, unit_bytes);
        unit->ptx[unit_bytes] = '\0';
        unit->ptx_bytes = unit_bytes;
        at += unit_bytes;
    }
    return at == end;
}

/* A binary that the driver makes ends with these 8 bytes and a hash of all bytes before them. So it begins as an object file, which the
 * commands of `lanewise` can read. */
static const char sum_mark[] = "LWCLBIN1";
enum { MARK_BYTES = sizeof sum_mark - 1, SUM_BYTES = MARK_BYTES + 8 };

/** Returns the hash FNV-1a of the bytes. */
static uint64_t sum_of(const uint8_t *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/** Sets the program's binary to @size bytes and their hash. Without memory, the program has no binary. */
static void set_binary(struct _cl_program *program, const void *bytes, size_t size)
{
    uint8_t *to = malloc(size + SUM_BYTES);

    free(program->binary);
    program->binary = to;
    program->binary_bytes = to != NULL ? size + SUM_BYTES : 0;
    if (to == NULL)
        return;
    const uint64_t sum = sum_of(bytes, size);
    memcpy(to, bytes, size);
    memcpy(to + size, sum_mark, MARK_BYTES);
    for (unsigned i = 0; i < 8; i++)
        to[size + MARK_BYTES + i] = (uint8_t)(sum >> 8 * i);
}

/** Returns true if an object file has bytes after its section headers, which are the last part of Lanewise's object files. */
static bool has_more(const uint8_t *bytes, size_t size)
{
    Elf64_Ehdr head;

    if (size < sizeof head || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&head, bytes, sizeof head);
    return head.e_shoff < size && size - head.e_shoff > (size_t)head.e_shnum * head.e_shentsize;
}

/** Removes the hash from the end of a binary, if there is one. Returns false if the bytes have another hash, or a part of one. */
static bool check_sum(const uint8_t *bytes, size_t *size)
{
    uint64_t sum = 0;

    if (*size < SUM_BYTES || memcmp(bytes + *size - SUM_BYTES, sum_mark, MARK_BYTES) != 0)
        return !has_more(bytes, *size); /* else an object file that a command of `lanewise` has made */
    for (unsigned i = 0; i < 8; i++)
        sum |= (uint64_t)bytes[*size - 8 + i] << 8 * i;
    *size -= SUM_BYTES;
    return sum == sum_of(bytes, *size);
}

/** Creates the program's binary from the PTX of the program's units. */
static void save_units(struct _cl_program *program)
{
    size_t bytes = sizeof COMPILED_BEGIN + 24;
    char *all, *to;

    for (unsigned i = 0; i < program->unit_count; i++)
        bytes += program->units[i]->ptx_bytes + 24;
    all = to = malloc(bytes);
    if (to == NULL)
        return;
    to += sprintf(to, COMPILED_BEGIN "%c %u\n", program->type == CL_PROGRAM_BINARY_TYPE_LIBRARY ? 'L' : 'C', program->unit_count);
    for (unsigned i = 0; i < program->unit_count; i++) {
        to += sprintf(to, "%zu\n", program->units[i]->ptx_bytes);
        memcpy(to, program->units[i]->ptx, program->units[i]->ptx_bytes);
        to += program->units[i]->ptx_bytes;
    }
    set_binary(program, all, (size_t)(to - all));
    free(all);
}

/** Loads a binary, which is an object file for the program's module, or the PTX of units. Returns false after writing the
 *  reason to the program's log. */
static bool load_binary(struct _cl_program *program, const uint8_t *bytes, size_t size)
{
    lanewise_machine *machine = rt_machine();

    if (!check_sum(bytes, &size)) {
        set_log(program, "the binary is damaged: its bytes do not have the hash at its end");
        return false;
    }
    if (size >= sizeof COMPILED_BEGIN - 1 && memcmp(bytes, COMPILED_BEGIN, sizeof COMPILED_BEGIN - 1) == 0) {
        if (load_units(program, (const char *)bytes, size))
            return true;
        set_log(program, "the binary of a compiled program is damaged");
        return false;
    }
    if (lanewise_load_text(machine, "program.lwo", bytes, size, NULL, &program->module) != LANEWISE_OK) {
        set_log(program, lanewise_error(machine));
        return false;
    }
    program->type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    set_log(program, lanewise_module_log(program->module));
    return true;
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                 const size_t *sizes, const unsigned char **binaries, cl_int *status,
                                                 cl_int *error)
{
    struct _cl_program *program = NULL;
    cl_int result = CL_SUCCESS;

    if (devices == NULL || count == 0 || sizes == NULL || binaries == NULL)
        result = CL_INVALID_VALUE;
    else if (!cl_is_device(count, devices))
        result = CL_INVALID_DEVICE;
    else if (sizes[0] == 0 || binaries[0] == NULL) {
        result = CL_INVALID_VALUE;
        if (status != NULL)
            *status = CL_INVALID_VALUE;
    }
    rt_lock();
    if (!cl_object_is(context, CL_KIND_CONTEXT))
        result = CL_INVALID_CONTEXT;
    if (result == CL_SUCCESS)
        program = cl_program_create(context, &result);
    if (program != NULL) {
        const bool good = load_binary(program, binaries[0], sizes[0]);

        if (status != NULL)
            *status = good ? CL_SUCCESS : CL_INVALID_BINARY;
        program->binary = good ? malloc(sizes[0]) : NULL;
        if (program->binary != NULL) {
            memcpy(program->binary, binaries[0], sizes[0]);
            program->binary_bytes = sizes[0];
        } else {
            result = good ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_BINARY;
            cl_object_release_handle(program, CL_KIND_PROGRAM, 0);
            program = NULL;
        }
    }
    rt_unlock();
    cl_put_error(error, result);
    return program;
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count, const cl_device_id *devices,
                                                         const char *names, cl_int *error)
{
    (void)count, (void)devices, (void)names;
    rt_lock();
    cl_put_error(error, cl_object_is(context, CL_KIND_CONTEXT) ? CL_INVALID_VALUE : CL_INVALID_CONTEXT);
    rt_unlock();
    return NULL;
}

cl_int CL_API_CALL clRetainProgram(cl_program program)
{
    return cl_object_retain_handle(program, CL_KIND_PROGRAM, CL_INVALID_PROGRAM);
}

cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
    return cl_object_release_handle(program, CL_KIND_PROGRAM, CL_INVALID_PROGRAM);
}

/* ---- builds ---------------------------------------------------------------------------------------------------- */

/** Returns true if each word begins with a dash, or is the operand of -D or -I, and none makes clang write files or load libraries. */
static bool are_options(char *const *words)
{
    static const char *const refused[] = {"-save-temps", "-fplugin", "-fpass-plugin", "-o"};

    for (; *words != NULL; words++) {
        if (**words != '-')
            return false;
        for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
            if (strncmp(*words, refused[i], strlen(refused[i])) == 0)
                return false;
        if (strcmp(*words, "-D") == 0 || strcmp(*words, "-I") == 0)
            if (*++words == NULL)
                return false;
    }
    return true;
}

/** Compiles @unit to the program's module or, with @to_ptx, to PTX. Returns false after writing the reason to the
 *  program's log. */
static bool compile(struct _cl_program *program, struct cl_unit *unit, bool to_ptx)
{
    lanewise_machine *machine = rt_machine();
    const lanewise_text source = source_of(unit);
    char **words, *log = NULL;
    const char **options = all_options(unit->options, &words);
    int result = LANEWISE_ERROR;

    if (options == NULL)
        set_log(program, "the host has no memory for the build");
    else if (to_ptx)
        result = lanewise_compile(machine, &source, unit->headers, unit->header_count, options, &unit->ptx, &unit->ptx_bytes, &log);
    else
        result = lanewise_load_text(machine, source.name, source.text, source.size, options, &program->module);
    if (options != NULL)
        set_log(program, result != LANEWISE_OK ? lanewise_error(machine) : to_ptx ? log : lanewise_module_log(program->module));
    lanewise_object_free(log);
    free(options);
    free(words);
    return result == LANEWISE_OK;
}

/** Links the program's units to its module. Returns false after writing the reason to the program's log. */
static bool link_units(struct _cl_program *program)
{
    lanewise_machine *machine = rt_machine();
    lanewise_text *texts = calloc(program->unit_count + 1u, sizeof *texts);
    bool good = false;

    for (unsigned i = 0; texts != NULL && i < program->unit_count; i++)
        texts[i] = (lanewise_text){"program.cl", program->units[i]->ptx, program->units[i]->ptx_bytes};
    if (texts == NULL)
        set_log(program, "the host has no memory for the build");
    else if (lanewise_link(machine, texts, program->unit_count, &program->module) != LANEWISE_OK)
        set_log(program, lanewise_error(machine));
    else
        good = true;
    free(texts);
    return good;
}

/** Returns true if the log of a failed compilation says that an option is unknown. */
static bool has_bad_option(const struct _cl_program *program)
{
    static const char *const words[] = {"unknown argument", "unsupported option", "unknown option", "invalid value '",
                                        "invalid argument '"};
    const char *log = program->log != NULL ? program->log : "";

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(log, words[i]);

        if (at != NULL && at - log < 200)
            return true;
    }
    return false;
}

/** Parameters of clBuildProgram or clCompileProgram. */
struct build {
    cl_uint device_count;
    const cl_device_id *devices;
    const char *options;
    cl_uint header_count;
    const cl_program *headers;
    const char *const *names;
    bool compiles_only; /* true for clCompileProgram, which only compiles; false for clBuildProgram, which also links */
};

/** Compiles the source or the SPIR-V module of a program, whose options have been checked. */
static cl_int build_source(struct _cl_program *program, const struct build *b)
{
    void *il = program->il != NULL ? cl_il_specialized(program) : NULL;
    struct cl_unit *unit = il != NULL            ? create_unit(il, program->il_bytes, true, program->options, 0, NULL, NULL)
                           : program->il != NULL ? NULL
                                                 : create_unit(program->source, strlen(program->source), false, program->options,
                                                               b->header_count, b->headers, b->names);

    free(il);
    program->module = NULL; /* drops the result of an earlier build */
    free(program->binary);
    program->binary = NULL;
    program->binary_bytes = 0;
    clear_units(program);
    if (unit == NULL || !add_unit(program, unit)) {
        free(unit);
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (compile(program, unit, b->compiles_only))
        return CL_SUCCESS;
    if (has_bad_option(program))
        return b->compiles_only ? CL_INVALID_COMPILER_OPTIONS : CL_INVALID_BUILD_OPTIONS;
    return b->compiles_only ? CL_COMPILE_PROGRAM_FAILURE : CL_BUILD_PROGRAM_FAILURE;
}

/** Builds a program from its source or binary. Locked. */
static cl_int build(cl_program program, const struct build *b)
{
    char **words;
    cl_int error = CL_SUCCESS;

    if (!cl_object_is(program, CL_KIND_PROGRAM))
        return CL_INVALID_PROGRAM;
    if ((b->device_count == 0) != (b->devices == NULL))
        return CL_INVALID_VALUE;
    if (b->device_count != 0 && !cl_is_device(b->device_count, b->devices))
        return CL_INVALID_DEVICE;
    if (program->kernels != 0)
        return CL_INVALID_OPERATION;
    words = rt_words(b->options != NULL ? b->options : "");
    free(program->options);
    program->options = strdup(b->options != NULL ? b->options : "");
    if (words == NULL || program->options == NULL) {
        free(words);
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (!are_options(words)) {
        error = b->compiles_only ? CL_INVALID_COMPILER_OPTIONS : CL_INVALID_BUILD_OPTIONS;
    } else if (program->source != NULL || program->il != NULL) {
        error = build_source(program, b);
    } else if (program->binary == NULL) {
        error = CL_INVALID_OPERATION;
    } else if (program->module == NULL) { /* the binary is that of a compiled program or library, so its units must be
                                           * linked */
        error = link_units(program) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
    }
    program->status = error == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    cl_trace_build(program, error != CL_SUCCESS && program->log != NULL && program->log[0] != '\0');
    program->type = error != CL_SUCCESS ? CL_PROGRAM_BINARY_TYPE_NONE
                    : b->compiles_only  ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
                                        : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    free(words);
    return error;
}

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                  notify_fn notify, void *user)
{
    const struct build b = {.device_count = count, .devices = devices, .options = options};
    cl_int error;

    if (notify == NULL && user != NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    error = build(program, &b);
    rt_unlock();
    if (notify != NULL && (error == CL_SUCCESS || error == CL_BUILD_PROGRAM_FAILURE)) {
        notify(program, user);
        error = CL_SUCCESS; /* with a callback the call succeeds; the user reads a failure from the build status */
    }
    return error;
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                    cl_uint header_count, const cl_program *headers, const char **names, notify_fn notify,
                                    void *user)
{
    const struct build b = {.device_count = count, .devices = devices, .options = options, .header_count = header_count,
                            .headers = headers, .names = names, .compiles_only = true};
    cl_int error = CL_SUCCESS;

    if ((notify == NULL && user != NULL) || (header_count == 0) != (headers == NULL) ||
        (header_count == 0) != (names == NULL))
        return CL_INVALID_VALUE;
    rt_lock();
    if (cl_object_is(program, CL_KIND_PROGRAM) && program->source == NULL && program->il == NULL)
        error = CL_INVALID_OPERATION;
    for (cl_uint i = 0; i < header_count && error == CL_SUCCESS; i++)
        if (!cl_object_is(headers[i], CL_KIND_PROGRAM))
            error = CL_INVALID_PROGRAM;
        else if (cl_object_is(program, CL_KIND_PROGRAM) && headers[i]->object.context != program->object.context)
            error = CL_INVALID_CONTEXT;
        else if (names[i] == NULL)
            error = CL_INVALID_VALUE;
        else if (headers[i]->source == NULL)
            error = CL_INVALID_OPERATION;
    if (error == CL_SUCCESS)
        error = build(program, &b);
    rt_unlock();
    if (notify != NULL && (error == CL_SUCCESS || error == CL_COMPILE_PROGRAM_FAILURE)) {
        notify(program, user);
        error = CL_SUCCESS; /* with a callback the call succeeds, as in clBuildProgram */
    }
    return error;
}

/** Returns true if all words of @options are options of the linker. Sets *@library if -create-library is one of them. */
static bool are_linker_options(const char *options, bool *library)
{
    static const char *const known[] = {"-create-library", "-enable-link-options", "-cl-denorms-are-zero", "-cl-no-signed-zeroes",
                                        "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
                                        "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp"};
    char **words = rt_words(options != NULL ? options : "");
    bool good = words != NULL;

    *library = false;
    for (size_t i = 0; good && words[i] != NULL; i++) {
        good = false;
        for (size_t k = 0; k < sizeof known / sizeof *known && !good; k++)
            good = strcmp(words[i], known[k]) == 0;
        *library = *library || strcmp(words[i], known[0]) == 0;
    }
    free(words);
    return good;
}

/** Creates a program with the units of the inputs, and links it unless a library is requested. If the program cannot be
 *  created, returns NULL and sets *@error. If only the link fails, returns the program and sets *@error. Locked. */
static struct _cl_program *link_programs(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                         const char *options, cl_uint count, const cl_program *inputs, cl_int *error)
{
    struct _cl_program *program;
    bool library, good = true;

    if (!cl_object_is(context, CL_KIND_CONTEXT)) {
        *error = CL_INVALID_CONTEXT;
        return NULL;
    }
    *error = (device_count == 0) != (devices == NULL) || count == 0 || inputs == NULL ? CL_INVALID_VALUE : CL_SUCCESS;
    if (*error == CL_SUCCESS && device_count != 0 && !cl_is_device(device_count, devices))
        *error = CL_INVALID_DEVICE;
    for (cl_uint i = 0; i < count && *error == CL_SUCCESS; i++)
        if (!cl_object_is(inputs[i], CL_KIND_PROGRAM))
            *error = CL_INVALID_PROGRAM;
        else if (inputs[i]->object.context != context)
            *error = CL_INVALID_CONTEXT;
        else if (inputs[i]->type != CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT && inputs[i]->type != CL_PROGRAM_BINARY_TYPE_LIBRARY)
            *error = CL_INVALID_OPERATION;
    if (*error == CL_SUCCESS && !are_linker_options(options, &library))
        *error = CL_INVALID_LINKER_OPTIONS;
    if (*error != CL_SUCCESS)
        return NULL;
    program = cl_program_create(context, error);
    if (program == NULL)
        return NULL;
    program->options = strdup(options != NULL ? options : "");
    for (cl_uint i = 0; i < count; i++)
        for (unsigned k = 0; k < inputs[i]->unit_count; k++)
            good = good && add_unit(program, inputs[i]->units[k]);
    if (!good) {
        cl_object_release_handle(program, CL_KIND_PROGRAM, 0);
        *error = CL_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    if (!library && !link_units(program)) {
        program->status = CL_BUILD_ERROR;
        cl_trace_build(program, true);
        *error = CL_LINK_PROGRAM_FAILURE;
        return program;
    }
    program->status = CL_BUILD_SUCCESS;
    program->type = library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return program;
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                     const char *options, cl_uint count, const cl_program *inputs, notify_fn notify,
                                     void *user, cl_int *error)
{
    struct _cl_program *program = NULL;
    cl_int result = notify == NULL && user != NULL ? CL_INVALID_VALUE : CL_SUCCESS;

    rt_lock();
    if (result == CL_SUCCESS)
        program = link_programs(context, device_count, devices, options, count, inputs, &result);
    rt_unlock();
    if (notify != NULL && program != NULL)
        notify(program, user);
    cl_put_error(error, result);
    return program;
}

/* ---- queries --------------------------------------------------------------------------------------------------- */

static cl_int answer_kernel_names(const struct _cl_program *program, size_t room, void *out, size_t *size)
{
    lanewise_kernel *kernel;
    size_t bytes = 1;
    char *names, *to;
    cl_int error;

    for (unsigned i = 0; (kernel = lanewise_kernel_at(program->module, i)) != NULL; i++)
        bytes += strlen(lanewise_kernel_name(kernel)) + 1;
    names = to = malloc(bytes);
    if (names == NULL)
        return CL_OUT_OF_HOST_MEMORY;
    *to = '\0';
    for (unsigned i = 0; (kernel = lanewise_kernel_at(program->module, i)) != NULL; i++)
        to += sprintf(to, "%s%s", i != 0 ? ";" : "", lanewise_kernel_name(kernel));
    error = cl_answer_text(names, room, out, size);
    free(names);
    return error;
}

/** Makes the binary of a program and stores it in the program: an object file of its module, or the PTX of its units. */
static void make_binary(struct _cl_program *program)
{
    void *object;
    size_t size;

    if (program->module == NULL) {
        if (program->binary == NULL && program->unit_count != 0 && program->status == CL_BUILD_SUCCESS)
            save_units(program);
        return;
    }
    if ((program->source == NULL && program->il == NULL && program->binary != NULL && program->unit_count == 0) ||
        lanewise_module_object(program->module, &object, &size) != LANEWISE_OK)
        return; /* the program keeps the binary that the user gave; or the object file cannot be made */
    set_binary(program, object, size);
    lanewise_object_free(object);
}

static cl_int program_info(struct _cl_program *program, cl_program_info info, size_t room, void *out, size_t *size)
{
    size_t count = 0;

    switch (info) {
    case CL_PROGRAM_REFERENCE_COUNT: return CL_ANSWER(cl_uint, program->object.references);
    case CL_PROGRAM_CONTEXT: return CL_ANSWER(cl_context, program->object.context);
    case CL_PROGRAM_NUM_DEVICES: return CL_ANSWER(cl_uint, 1);
    case CL_PROGRAM_DEVICES: return CL_ANSWER(cl_device_id, &cl_the_device);
    case CL_PROGRAM_SOURCE: return cl_answer_text(program->source != NULL ? program->source : "", room, out, size);
    case CL_PROGRAM_IL: return cl_answer(program->il, program->il_bytes, room, out, size);
    case CL_PROGRAM_BINARY_SIZES: make_binary(program); return CL_ANSWER(size_t, program->binary_bytes);
    case CL_PROGRAM_BINARIES:
        if (out != NULL && room < sizeof(unsigned char *))
            return CL_INVALID_VALUE;
        make_binary(program);
        if (out != NULL && *(unsigned char **)out != NULL && program->binary != NULL)
            memcpy(*(unsigned char **)out, program->binary, program->binary_bytes);
        if (size != NULL)
            *size = sizeof(unsigned char *);
        return CL_SUCCESS;
    case CL_PROGRAM_NUM_KERNELS:
        if (program->module == NULL)
            return CL_INVALID_PROGRAM_EXECUTABLE;
        while (lanewise_kernel_at(program->module, (unsigned)count) != NULL)
            count++;
        return CL_ANSWER(size_t, count);
    case CL_PROGRAM_KERNEL_NAMES:
        return program->module != NULL ? answer_kernel_names(program, room, out, size) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT: return CL_ANSWER(cl_bool, CL_FALSE);
    default: return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info info, size_t room, void *out, size_t *size)
{
    cl_int error = CL_INVALID_PROGRAM;

    rt_lock();
    if (cl_object_is(program, CL_KIND_PROGRAM))
        error = program_info(program, info, room, out, size);
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info info, size_t room,
                                         void *out, size_t *size)
{
    cl_int error;

    rt_lock();
    if (!cl_object_is(program, CL_KIND_PROGRAM))
        error = CL_INVALID_PROGRAM;
    else if (device != &cl_the_device)
        error = CL_INVALID_DEVICE;
    else
        switch (info) {
        case CL_PROGRAM_BUILD_STATUS: error = CL_ANSWER(cl_build_status, program->status); break;
        case CL_PROGRAM_BUILD_OPTIONS:
            error = cl_answer_text(program->options != NULL ? program->options : "", room, out, size);
            break;
        case CL_PROGRAM_BUILD_LOG:
            error = cl_answer_text(program->log != NULL ? program->log : "", room, out, size);
            if (error == CL_SUCCESS && out != NULL)
                cl_trace_build(program, false);
            break;
        case CL_PROGRAM_BINARY_TYPE: error = CL_ANSWER(cl_program_binary_type, program->type); break;
        case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: error = CL_ANSWER(size_t, lanewise_variable_bytes(program->module)); break;
        default: error = CL_INVALID_VALUE;
        }
    rt_unlock();
    return error;
}

cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program, void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    (void)user;
    if (notify == NULL)
        return CL_INVALID_VALUE;
    rt_lock();
    const bool is = cl_object_is(program, CL_KIND_PROGRAM);
    rt_unlock();
    return is ? CL_INVALID_OPERATION : CL_INVALID_PROGRAM; /* the device does not support destructors in programs */
}
