/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles CUDA C++ to PTX text with clang or nvcc. With clang, no CUDA SDK is used: the program contains our own headers
 * (ptx/compiler/cuda), and libclc is the math library. docs/explanation/compilers.md describes both. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx/compiler/ptx_compile_priv.h"

/** One of our headers: its path relative to the folder of headers, and its text. */
struct header {
    const char *name, *text;
};

static const struct header headers[] = {
/* Generated from the files of ptx/compiler/cuda when the program is built. */
#include "ptx/compiler/cuda_headers.inc"
/* Headers of the SDK that sources may include, although lanewise_cuda.h is always included and declares their contents. */
#define FORWARD(NAME) {NAME, "#include \"lanewise_cuda.h\"\n"}
    {"cuda.h", "#include \"lanewise_cuda.h\"\n#include \"lanewise_driver.h\"\n#include \"lanewise_library.h\"\n"
               "#include \"lanewise_driver_graph.h\"\n"},
    FORWARD("cuda_runtime.h"),
    FORWARD("cuda_runtime_api.h"),
    FORWARD("cuda_device_runtime_api.h"),
    FORWARD("cuda_profiler_api.h"),
    FORWARD("device_launch_parameters.h"),
    FORWARD("device_functions.h"),
    FORWARD("device_atomic_functions.h"),
    FORWARD("device_types.h"),
    FORWARD("driver_types.h"),
    FORWARD("driver_functions.h"),
    FORWARD("builtin_types.h"),
    FORWARD("channel_descriptor.h"),
    FORWARD("host_defines.h"),
    FORWARD("host_config.h"),
    FORWARD("vector_types.h"),
    FORWARD("vector_functions.h"),
    FORWARD("vector_functions.hpp"),
    FORWARD("math_functions.h"),
    FORWARD("common_functions.h"),
    FORWARD("texture_types.h"),
    FORWARD("texture_fetch_functions.h"),
    FORWARD("texture_indirect_functions.h"),
    FORWARD("surface_types.h"),
    FORWARD("surface_functions.h"),
    FORWARD("surface_indirect_functions.h"),
    FORWARD("sm_20_atomic_functions.h"),
    FORWARD("sm_20_intrinsics.h"),
    FORWARD("sm_30_intrinsics.h"),
    FORWARD("sm_32_intrinsics.h"),
    FORWARD("sm_35_intrinsics.h"),
    FORWARD("sm_60_atomic_functions.h"),
    FORWARD("sm_61_intrinsics.h"),
    FORWARD("cuda_occupancy.h"),
    FORWARD("crt/host_defines.h"),
    FORWARD("crt/math_functions.h"),
    FORWARD("crt/device_functions.h"),
    {"cudaProfiler.h", "#include \"cuda.h\"\n"},
    {"cuda_fp16.hpp", "#include \"cuda_fp16.h\"\n"},
    {"cuda_bf16.hpp", "#include \"cuda_bf16.h\"\n"},
    {"cuda_fp8.hpp", "#include \"cuda_fp8.h\"\n"},
    {"cooperative_groups/reduce.h", "#include \"../cooperative_groups.h\"\n"},
    {"cooperative_groups/scan.h", "#include \"../cooperative_groups.h\"\n"},
    {"cooperative_groups/memcpy_async.h", "#include \"../lanewise_sync.h\"\n"},
    {"cuda/barrier", "#include \"../lanewise_sync.h\"\n"},
    {"cuda/pipeline", "#include \"../lanewise_sync.h\"\n"},
    {"cuda_pipeline.h", "#include \"lanewise_sync.h\"\n"},
    {"cuda_pipeline_primitives.h", "#include \"lanewise_sync.h\"\n"},
    /* libstdc++ has __attribute__((__noinline__)) here, where the macro __noinline__ of CUDA would be wrong. */
    {"bits/shared_ptr_base.h", "#pragma push_macro(\"__noinline__\")\n#undef __noinline__\n#include_next <bits/shared_ptr_base.h>\n"
                               "#pragma pop_macro(\"__noinline__\")\n"},
#undef FORWARD
/* Headers that are refused with a reason. */
#define REFUSED(NAME, WHAT) {NAME, "#error Lanewise has no <" NAME ">: " WHAT "\n"}
/* Refused headers for which the message proposes nvcc, which has them: kernels that use these headers may compile with nvcc. */
#define NVCC_MAY(NAME, WHAT) REFUSED(NAME, WHAT "; it may work with --compiler nvcc")
    NVCC_MAY("curand_kernel.h", "random numbers of cuRAND are not supported"),
    NVCC_MAY("curand.h", "cuRAND is not supported"),
    REFUSED("cublas_v2.h", "cuBLAS is not supported"),
    REFUSED("cublas.h", "cuBLAS is not supported"),
    REFUSED("cufft.h", "cuFFT is not supported"),
    REFUSED("cusparse.h", "cuSPARSE is not supported"),
    REFUSED("cudnn.h", "cuDNN is not supported"),
#undef NVCC_MAY
#undef REFUSED
};

/* Header that nvcc includes before the source. The header declares what sources for earlier CUDA versions need and CUDA 13
 * lacks. All other declarations come from nvcc's own headers. */
static const char nvcc_compat[] =
#include "ptx/compiler/overrides/nvcc_compat.inc"
    ;

/* ---- our headers -------------------------------------------------------------------------------- */

static bool write_headers(const char *folder, struct lw_error *err)
{
    static const char *const below[] = {"bits", "cooperative_groups", "crt", "cuda"};
    char path[PTX_PATH_BYTES + 80];

    for (size_t i = 0; i < LW_COUNT_OF(below); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, below[i]);
        (void)mkdir(path, 0755);
    }
    for (size_t i = 0; i < LW_COUNT_OF(headers); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, headers[i].name);
        if (lw_file_write(path, headers[i].text, strlen(headers[i].text), err) != LW_OK)
            return false;
    }
    return true;
}

/** Returns true if all headers exist in @folder and have the right size. The user may have deleted files of the cache. */
static bool headers_whole(const char *folder)
{
    char path[PTX_PATH_BYTES + 80];
    struct stat st;

    for (size_t i = 0; i < LW_COUNT_OF(headers); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, headers[i].name);
        if (stat(path, &st) != 0 || (size_t)st.st_size != strlen(headers[i].text))
            return false;
    }
    return true;
}

enum lw_status ptx_cuda_headers(struct ptx_job *job, struct lw_error *err)
{
    char cache[PTX_PATH_BYTES], fresh[PTX_PATH_BYTES + 64];
    struct lw_hash hash;

    if (lw_cache_folder(cache)) {
        lw_hash_init(&hash);
        for (size_t i = 0; i < LW_COUNT_OF(headers); i++) {
            lw_hash_bytes(&hash, headers[i].name, strlen(headers[i].name));
            lw_hash_bytes(&hash, headers[i].text, strlen(headers[i].text));
        }
        snprintf(job->headers, sizeof job->headers, "%.*s/cuda-%016llx", PTX_PATH_BYTES - 64,
                 cache, (unsigned long long)lw_hash_value(&hash));
        if (headers_whole(job->headers))
            return LW_OK;
        snprintf(fresh, sizeof fresh, "%s/cuda-XXXXXX", cache);
        if (mkdtemp(fresh) != NULL) {
            bool done = write_headers(fresh, NULL) && chmod(fresh, 0755) == 0;

            if (done && rename(fresh, job->headers) != 0 && !headers_whole(job->headers)) {
                /* A folder with this name exists, but one of its files is missing or has a wrong size. */
                ptx_remove_scratch(job->headers);
                done = rename(fresh, job->headers) == 0;
            }
            ptx_remove_scratch(fresh); /* removes nothing if the folder was renamed */
            if (done && headers_whole(job->headers))
                return LW_OK;
        }
    }
    snprintf(job->headers, sizeof job->headers, "%s/cuda", job->scratch);
    if (mkdir(job->headers, 0700) != 0 && errno != EEXIST) /* a job may need the headers for host code and for kernels */
        return LW_FAIL(err, LW_EIO, "%s: %s", job->headers, strerror(errno));
    return write_headers(job->headers, err) ? LW_OK : LW_EIO;
}

/* ---- clang ----------------------------------------------------------------------------------------- */

/** Overwrites the declarations of threadIdx etc. in PTX with blanks. Without optimisation, clang declares these objects, whose
 *  members are special registers, although no code uses the objects. Debuggers have their own variables of these names. */
static void blank_placeholders(char *ptx)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};

    for (size_t i = 0; i < LW_COUNT_OF(names); i++) {
        char text[64], *found, *start, *end;

        snprintf(text, sizeof text, ".b8 %s[1];", names[i]);
        found = strstr(ptx, text);
        if (found == NULL)
            continue;
        for (start = found; start != ptx && start[-1] != '\n'; start--)
            ;
        end = found + strlen(text);
        memset(start, ' ', (size_t)(end - start));
    }
}

/** Adds the pragma that permits instructions which are newer than the .version of the text. clang writes a low .version, but inline
 *  assembly may use what the version of CUDA in lanewise_types.h has. No line is added, so that line numbers remain valid. */
static bool permit_newer(char **ptx, size_t *size)
{
    static const char after[] = ".address_size 64", pragma[] = " .pragma \"lanewise.newer\";";
    char *found = strstr(*ptx, after), *larger;
    const size_t at = found != NULL ? (size_t)(found - *ptx) + sizeof after - 1 : 0;

    if (found == NULL)
        return true;
    larger = realloc(*ptx, *size + sizeof pragma);
    if (larger == NULL)
        return false;
    memmove(larger + at + sizeof pragma - 1, larger + at, *size + 1 - at);
    memcpy(larger + at, pragma, sizeof pragma - 1);
    *ptx = larger;
    *size += sizeof pragma - 1;
    return true;
}

enum lw_status ptx_cuda_by_clang(struct ptx_job *job, const char *path, const char *const *flags, size_t flag_count, char **ptx,
                                 size_t *size, struct lw_error *err)
{
    /* The user's options follow these options and may override them. An installed SDK is ignored, so that results are
     * the same on every host. */
    static const char *const before[] = {
        "--cuda-device-only", "--cuda-gpu-arch=sm_75", "-nocudainc", "-nocudalib",
        "--cuda-path=/nonexistent", "-std=c++17", "-O3", "-gline-tables-only", "-Wno-register",
        "-Wno-c++11-narrowing", "-Wno-reserved-user-defined-literal", "-Wno-unknown-warning-option",
        "-Wno-missing-template-arg-list-after-template-kw",
        "-Wno-unused-command-line-argument", /* a compilation for the device only does not use --cuda-noopt-device-debug */
        /* The following options request debug information with names and types of parameters. With -g alone, clang's driver
         * requests only line tables for optimised CUDA C++. DWARF 2 is chosen because it has no call sites: with call sites,
         * clang crashes if a kernel calls printf. */
        "-Xclang", "-debug-info-kind=constructor", "-Xclang", "-dwarf-version=2",
        /* Sources may declare variadic functions, as templates that inspect types do. clang permits them if it finds an SDK. */
        "-Xclang", "-fcuda-allow-variadic-functions",
        PTX_CLANG_KEEP_NULL, "-Xclang", PTX_CLANG_MAYBE_UNWRITTEN};
    static const char *const values[] = {PTX_CLANG_VALUES};
    const char **argv = calloc(flag_count + LW_COUNT_OF(before) + 40, sizeof *argv);
    char result[PTX_PATH_BYTES + 16];
    enum lw_status status = ptx_cuda_headers(job, err);
    bool contracts = true;
    size_t n = 0;

    if (status == LW_OK && argv == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line for %s", path);
    if (status == LW_OK)
        status = ptx_device_launches(job, path, err);
    if (status != LW_OK) {
        free(argv);
        return status;
    }
    snprintf(result, sizeof result, "%s/kernel.ptx", job->scratch);
    job->values = ptx_values_wanted(flags, flag_count);
    for (size_t i = 0; i < flag_count; i++)
        if (strncmp(flags[i], "-ffp-contract=", 14) == 0)
            contracts = strcmp(flags[i] + 14, "fast") == 0;
    argv[n++] = job->compiler;
    for (size_t i = 0; i < LW_COUNT_OF(before); i++)
        argv[n++] = before[i];
    /* Our header comes before files that the user includes with -include, because those files may use __device__. */
    argv[n++] = "-include";
    argv[n++] = "lanewise_cuda.h";
    for (size_t i = 0; i < flag_count; i++)
        if (strcmp(flags[i], "-rdc=true") != 0) /* -rdc=true, which permits launches by kernels and functions in other modules, is
                                                 * an option of nvcc only */
            argv[n++] = flags[i];
    /* By default clang lets the code generator contract multiplications and additions to fma in all code of a kernel. The
     * functions of libclc do not allow it: sin(-39986.2f) would have no correct digit. With this option clang marks the
     * operations of the source, and only these are contracted. The drivers of clang 14 to 16 do not know this value. */
    if (contracts) {
        argv[n++] = "-Xclang";
        argv[n++] = "-ffp-contract=fast-honor-pragmas";
    }
    argv[n++] = "-isystem";
    argv[n++] = job->headers;
    if (job->overlay[0] != '\0') {
        argv[n++] = "-ivfsoverlay";
        argv[n++] = job->overlay;
    }
    /* Requests PTX 6.3, which has shuffles and votes with masks. Without an SDK, clang would use an older version of PTX. */
    argv[n++] = "-Xclang";
    argv[n++] = "-target-feature";
    argv[n++] = "-Xclang";
    argv[n++] = "+ptx63";
    argv[n++] = "-Xclang";
    argv[n++] = "-mlink-builtin-bitcode";
    argv[n++] = "-Xclang";
    argv[n++] = job->overrides;
    argv[n++] = "-Xclang";
    argv[n++] = "-mlink-builtin-bitcode";
    argv[n++] = "-Xclang";
    argv[n++] = job->originals;
    argv[n++] = "-Xclang";
    argv[n++] = "-mlink-builtin-bitcode";
    argv[n++] = "-Xclang";
    argv[n++] = job->libclc;
    for (size_t i = 0; i < LW_COUNT_OF(values) && job->values; i++)
        argv[n++] = values[i];
    argv[n++] = PTX_CLANG_NO_LINKER;
    argv[n++] = "-fno-crash-diagnostics";
    argv[n++] = "-S";
    argv[n++] = "-o";
    argv[n++] = result;
    argv[n++] = "-x";
    argv[n++] = "cuda";
    argv[n++] = path;
    argv[n] = NULL;
    job->cached = true;
    status = ptx_run_compiler(job, path, argv, result, ptx, size, err);
    job->cached = false;
    if (status == LW_OK)
        blank_placeholders(*ptx);
    if (status == LW_OK && !permit_newer(ptx, size))
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the PTX of %s", path);
    free(argv);
    return status;
}

/* ---- nvcc ------------------------------------------------------------------------------------------- */

bool ptx_is_nvcc(const char *name)
{
    const char *slash = strrchr(name, '/');

    return strncmp(slash != NULL ? slash + 1 : name, "nvcc", 4) == 0;
}

bool ptx_find_nvcc(const char *wanted, char *out)
{
    const char *chosen = getenv("LANEWISE_NVCC");

    if (strcmp(wanted, "nvcc") != 0)
        return ptx_find_program(wanted, out);
    if (chosen != NULL && *chosen != '\0')
        return ptx_find_program(chosen, out);
    return ptx_find_program("nvcc", out) || ptx_find_program("/usr/local/cuda/bin/nvcc", out);
}

/** Removes @folder, the private folder of the compilation, from the file names in @ptx. The folder no longer exists when the PTX
 *  is used, and its name differs in each compilation. Returns the new size of @ptx. */
static size_t forget_folder(char *ptx, size_t size, const char *folder)
{
    const size_t length = strlen(folder);
    char *to = ptx, *from = ptx, *at;

    while ((at = memmem(from, (size_t)(ptx + size - from), folder, length)) != NULL) {
        memmove(to, from, (size_t)(at - from));
        to += at - from;
        from = at + length + (at + length < ptx + size && at[length] == '/');
    }
    memmove(to, from, (size_t)(ptx + size - from));
    to += ptx + size - from;
    *to = '\0';
    return (size_t)(to - ptx);
}

static enum lw_status by_nvcc(struct ptx_job *job, const char *path, const char *const *flags,
                              size_t flag_count, char **ptx, size_t *size,
                              struct lw_error *err)
{
    const char **argv = calloc(flag_count + 40, sizeof *argv);
    char result[PTX_PATH_BYTES + 16], compat[PTX_PATH_BYTES + 24];
    enum lw_status status;
    bool debug = false;
    size_t n = 0;

    snprintf(result, sizeof result, "%s/kernel.ptx", job->scratch);
    snprintf(compat, sizeof compat, "%s/lanewise_compat.h", job->scratch);
    status = argv == NULL ? LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line for %s", path)
                          : lw_file_write(compat, nvcc_compat, strlen(nvcc_compat), err);
    if (status != LW_OK) {
        free(argv);
        return status;
    }
    for (size_t i = 0; i < flag_count; i++)
        debug = debug || strcmp(flags[i], "-G") == 0;
    argv[n++] = job->compiler;
    argv[n++] = "-ptx";
    argv[n++] = "-arch=sm_75"; /* the lowest architecture that nvcc 13 supports */
    argv[n++] = "-std=c++17";
    if (!debug) { /* with -G, nvcc writes line tables without a further option, and does not optimise */
        argv[n++] = "-O3";
        argv[n++] = "-lineinfo";
    }
    if (job->linked)
        argv[n++] = "-rdc=true";
    if (!ptx_wants_warnings(flags, flag_count)) /* nvcc prints many warnings about host code and its own headers */
        argv[n++] = "-w";
    argv[n++] = "-include";
    argv[n++] = compat;
    for (size_t i = 0; i < flag_count; i++)
        if (strcmp(flags[i], PTX_NO_VALUES) != 0)
            argv[n++] = flags[i];
    argv[n++] = "-o";
    argv[n++] = result;
    argv[n++] = path;
    argv[n] = NULL;
    status = ptx_run_compiler(job, path, argv, result, ptx, size, err);
    if (status == LW_OK)
        *size = forget_folder(*ptx, *size, job->scratch);
    free(argv);
    return status;
}

/* ---- public functions --------------------------------------------------------------------------------- */

static enum lw_status compile_cu(const char *path, bool linked, const char *const *flags,
                                 size_t flag_count, const char *compiler, char **ptx, size_t *size,
                                 struct lw_sink *words, struct lw_error *err)
{
    enum lw_status status = ptx_check_source(path, err);
    const char *chosen = getenv("LANEWISE_CLANG");
    struct ptx_job *job;
    bool nvcc;

    if (status != LW_OK)
        return status;
    job = calloc(1, sizeof *job);
    if (job == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the compilation of %s", path);
    job->words = words;
    job->linked = linked;
    nvcc = compiler != NULL && ptx_is_nvcc(compiler);
    if (nvcc && !ptx_find_nvcc(compiler, job->compiler)) {
        status = LW_FAIL(err, LW_ENOENT,
                         "the compiler %s was not found: install it, or give another one in the environment variable "
                         "LANEWISE_NVCC", compiler);
    } else if (!nvcc) {
        status = ptx_find_clang(compiler, job->compiler, err);
        /* If no clang is installed and the user has not named a compiler, nvcc is tried. */
        if (status != LW_OK && compiler == NULL && (chosen == NULL || *chosen == '\0') &&
            ptx_find_nvcc("nvcc", job->compiler)) {
            nvcc = true;
            status = LW_OK;
        }
        if (status == LW_OK && !nvcc)
            status = ptx_find_libclc(job->libclc, err);
    }
    if (status == LW_OK)
        status = ptx_make_scratch(job->scratch, err);
    if (status == LW_OK && !nvcc)
        status = ptx_build_overrides(job, err);
    if (status == LW_OK)
        status = (nvcc ? by_nvcc : ptx_cuda_by_clang)(job, path, flags, flag_count, ptx, size, err);
    ptx_remove_scratch(job->scratch);
    free(job);
    return status;
}

enum lw_status ptx_compile_cu(const char *path, const char *const *flags, size_t flag_count,
                              const char *compiler, char **ptx, size_t *size,
                              struct lw_sink *words, struct lw_error *err)
{
    return compile_cu(path, false, flags, flag_count, compiler, ptx, size, words, err);
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    return n > m && strcmp(path + n - m, suffix) == 0;
}

bool ptx_is_compiled(const char *path)
{
    return has_suffix(path, ".cl") || has_suffix(path, ".cu") || ptx_is_spirv(path);
}

enum lw_status ptx_compile(const char *path, const char *const *flags, size_t flag_count,
                           const char *compiler, char **ptx, size_t *size, struct lw_sink *words,
                           struct lw_error *err)
{
    return (has_suffix(path, ".cu") ? ptx_compile_cu : ptx_compile_cl)(
        path, flags, flag_count, compiler, ptx, size, words, err);
}

enum lw_status ptx_compile_module(const char *path, const char *const *flags, size_t flag_count,
                                  const char *compiler, char **ptx, size_t *size,
                                  struct lw_sink *words, struct lw_error *err)
{
    if (!has_suffix(path, ".cu"))
        return ptx_compile(path, flags, flag_count, compiler, ptx, size, words, err);
    return compile_cu(path, true, flags, flag_count, compiler, ptx, size, words, err);
}
