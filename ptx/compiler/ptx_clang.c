/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles OpenCL C to PTX text with clang as a child process, and links our override library and libclc as bitcode.
 * docs/explanation/compilers.md explains the options. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ptx/compiler/ptx_annotation_priv.h"
#include "ptx/compiler/ptx_compile_priv.h"

static const char *const override_source =
#include "ptx/compiler/overrides/over_cl.inc"
#include "ptx/compiler/overrides/over_atomics.inc"
#include "ptx/compiler/overrides/over_convert.inc"
#include "ptx/compiler/overrides/over_enqueue.inc"
#include "ptx/compiler/overrides/over_groups.inc"
#include "ptx/compiler/overrides/over_subgroups.inc"
#include "ptx/compiler/overrides/over_half.inc"
    ;
static const char *const originals_source =
#include "ptx/compiler/overrides/over_originals.inc"
    ;
static const char *const scratch_source =
#include "ptx/compiler/overrides/over_scratch.inc"
    ;
static const char *const images_source =
#include "ptx/compiler/overrides/over_images.inc"
    ;

/* ---- the override library ----------------------------------------------------------------- */

/** Writes the path at which the cache contains, or will contain, the bitcode of @text to @out. The file's name contains a hash of
 *  the text, and of path, size and modification time of the compiler and of @linked. Returns false if there is no cache. */
static bool cached_name(const struct ptx_job *job, const char *text, const char *linked, char *out)
{
    char folder[PTX_PATH_BYTES];
    struct lw_buffer key;
    struct lw_hash hash;
    struct stat st;
    bool ok;

    lw_buffer_init(&key);
    lw_put(&key.sink, text);
    if (linked != NULL && stat(linked, &st) == 0)
        lw_printf(&key.sink, "%s %lld %lld %ld", linked, (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    ok = ptx_cache_put_compiler(job, &key.sink) && !key.is_cut && lw_cache_folder(folder);
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, lw_buffer_text(&key), key.size);
    ok = ok && (size_t)snprintf(out, PTX_PATH_BYTES, "%s/overrides-%016llx.bc", folder, (unsigned long long)lw_hash_value(&hash)) < PTX_PATH_BYTES;
    lw_buffer_fini(&key);
    return ok;
}

/** Returns true if the file exists and begins like bitcode. After a full disk or a crash, the file may be incomplete. */
static bool is_bitcode(const char *path)
{
    static const char magic[4] = {'B', 'C', (char)0xc0, (char)0xde};
    char begin[sizeof magic] = {0};
    struct stat st;
    FILE *f = fopen(path, "rb");
    bool ok;

    if (f == NULL)
        return false;
    ok = fread(begin, 1, sizeof begin, f) == sizeof begin && memcmp(begin, magic, sizeof magic) == 0 &&
         fstat(fileno(f), &st) == 0 && st.st_size % 4 == 0;
    fclose(f);
    return ok;
}

/** Returns true if the last -cl-std= of @flags selects OpenCL C 2.0 or 3.0, or C++ for OpenCL. */
static bool has_generic_pointers(const char *const *flags, size_t count)
{
    bool generic = false;

    for (size_t i = 0; i < count; i++)
        if (strncmp(flags[i], "-cl-std=", 8) == 0)
            generic = strpbrk(flags[i] + 8, "23+") != NULL && strstr(flags[i], "1.2") == NULL;
    return generic;
}

/** Returns true if the last -cl-std= of @flags selects C++ for OpenCL. */
static bool is_cpp(const char *const *flags, size_t count)
{
    bool cpp = false;

    for (size_t i = 0; i < count; i++)
        if (strncmp(flags[i], "-cl-std=", 8) == 0)
            cpp = strchr(flags[i] + 8, '+') != NULL;
    return cpp;
}

/** Compiles @text to bitcode, unless the cache contains the bitcode. @standard is the option for the version of OpenCL C; NULL:
 *  the text is C. The bitcode contains the functions of the bitcode @linked that it uses; NULL: none. Writes the bitcode's path to
 *  @out. */
static enum lw_status build_library(struct ptx_job *job, const char *name, const char *standard, const char *linked,
                                    const char *text, char *out, struct lw_error *err)
{
    enum lw_status status;
    char source[PTX_PATH_BYTES + 16], bitcode[PTX_PATH_BYTES + 16], cached[PTX_PATH_BYTES];
    char *data = NULL;
    size_t size = 0;
    bool keep = cached_name(job, text, linked, cached);

    job->values = false; /* clears the flag, which an earlier compilation of the job may have set */
    if (keep && is_bitcode(cached)) {
        memcpy(out, cached, sizeof cached);
        return LW_OK;
    }
    snprintf(source, sizeof source, "%s/%s", job->scratch, name);
    snprintf(bitcode, sizeof bitcode, "%s/%s.bc", job->scratch, name);
    status = lw_file_write(source, text, strlen(text), err);
    if (status == LW_OK) {
        const char *cl[] = {job->compiler, "-x", "cl", "-cl-no-stdinc", standard,
                            "-target", "nvptx64--nvidiacl", "-Xclang",
                            "-cl-ext=+cl_khr_fp16,+cl_khr_3d_image_writes", "-O2", "-w", "-fno-crash-diagnostics",
                            "-emit-llvm", "-c", "-o", bitcode, source, NULL};
        const char *with[] = {job->compiler, "-x", "cl", "-cl-no-stdinc", standard, "-target", "nvptx64--nvidiacl", "-O2", "-w",
                              "-Xclang", "-mlink-builtin-bitcode", "-Xclang", linked, "-fno-crash-diagnostics",
                              "-emit-llvm", "-c", "-o", bitcode, source, NULL};
        const char *c[] = {job->compiler, "-x", "c", "-target", "nvptx64--nvidiacl", "-O2", "-w", "-fno-crash-diagnostics",
                           "-emit-llvm", "-c", "-o", bitcode, source, NULL};

        status = ptx_run_compiler(job, "the library of OpenCL C functions", standard == NULL ? c : linked != NULL ? with : cl, bitcode, &data, &size, err);
    }
    if (status != LW_OK)
        return status;
    memcpy(out, bitcode, sizeof bitcode);
    /* A failure to write the cache is ignored, because its only effect is that the next compilation takes longer.
     * lw_file_write() writes the whole file or none. */
    if (keep && lw_file_write(cached, data, size, NULL) == LW_OK)
        memcpy(out, cached, sizeof cached);
    free(data);
    return LW_OK;
}

enum lw_status ptx_build_overrides(struct ptx_job *job, struct lw_error *err)
{
    enum lw_status status = build_library(job, "overrides.cl", "-cl-std=CL1.2", NULL, override_source, job->overrides, err);

    if (status == LW_OK)
        status = build_library(job, "originals.cl", "-cl-std=CL1.2", job->libclc, originals_source, job->originals, err);
    return status == LW_OK ? build_library(job, "scratch.c", NULL, NULL, scratch_source, job->scratch_library, err) : status;
}

/** Compiles the library of functions for images, and sets job->images. */
static enum lw_status build_images(struct ptx_job *job, struct lw_error *err)
{
    return build_library(job, "images.cl", "-cl-std=CL2.0", NULL, images_source, job->images, err);
}

/* ---- public functions ------------------------------------------------------------------------ */

enum { DIALECT_OPTIONS = 48 };

/** Writes the compiler's path, the options for the dialect, and then the user's options, which may override the dialect's, to
 *  @argv. Returns the number of these arguments, which is at most DIALECT_OPTIONS more than @flag_count. */
static size_t put_dialect(const struct ptx_job *job, const char *const *flags, size_t flag_count, const char **argv)
{
    /* clang does not write reqd_work_group_size to PTX, but it writes annotations to its debug information. So this macro
     * adds an annotation to the attribute, which ptx_debug_tree.c reads. The second macro, __lanewise_text, makes the
     * preprocessor expand the arguments before they become text. */
    static const char block[] =
        "-Dreqd_work_group_size(x,y,z)=reqd_work_group_size(x,y,z),"
        "btf_decl_tag(\"" PTX_CLANG_BLOCK "\"__lanewise_text(x,y,z))";
    static const char *const before[] = {"-cl-std=CL1.2", "-O3", "-gdwarf-2",
                                         "-target", "nvptx64-nvidia-nvcl",
                                         /* an OpenCL runtime defines __OPENCL_VERSION__, and sources test the macro */
                                         "-D__OPENCL_VERSION__=120",
                                         "-D__lanewise_text(x,y,z)=#x\", \"#y\", \"#z", block,
                                         "-D__reqd_work_group_size__(x,y,z)=reqd_work_group_size(x,y,z)",
                                         /* sm_35 has 32-bit rotations. For targets without them, clang writes rotations as
                                          * shifts, which are wrong for counts above 31 */
                                         "-Xclang", "-target-cpu", "-Xclang", "sm_35",
                                         PTX_CLANG_KEEP_NULL, "-Xclang", PTX_CLANG_MAYBE_UNWRITTEN,
                                         /* libclc and our overrides implement these extensions; clang 14 declares vload_half only
                                          * with cl_khr_fp16 */
                                         "-D__IMAGE_SUPPORT__=1", "-Dcl_khr_image2d_from_buffer=1",
                                         "-Dcl_khr_srgb_image_writes=1",
                                         "-Xclang", "-cl-ext=+cl_khr_fp16,+cl_khr_3d_image_writes,"
                                         "+cl_khr_int64_base_atomics,"
                                         "+cl_khr_int64_extended_atomics"};
    /* clang offers some features on our target only if these macros are defined */
    static const char *const generic[] = {"-D__opencl_c_atomic_order_acq_rel=1", "-D__opencl_c_atomic_order_seq_cst=1",
                                          "-D__opencl_c_atomic_scope_device=1",
                                          "-D__opencl_c_atomic_scope_all_devices=1",
                                          "-D__opencl_c_work_group_collective_functions=1",
                                          "-Dcl_khr_subgroup_extended_types=1", "-Dcl_khr_subgroup_non_uniform_vote=1",
                                          "-Dcl_khr_subgroup_ballot=1", "-Dcl_khr_subgroup_non_uniform_arithmetic=1",
                                          "-Dcl_khr_subgroup_shuffle=1", "-Dcl_khr_subgroup_shuffle_relative=1",
                                          "-Dcl_khr_subgroup_clustered_reduce=1", "-Xclang",
                                          "-cl-ext=+__opencl_c_generic_address_space,"
                                          "+__opencl_c_program_scope_global_variables,"
                                          "+__opencl_c_images,+__opencl_c_read_write_images,+__opencl_c_3d_image_writes,"
                                          "+__opencl_c_subgroups,+cl_khr_subgroups"};
    size_t n = 0;

    argv[n++] = job->compiler;
    for (size_t i = 0; i < LW_COUNT_OF(before); i++)
        argv[n++] = before[i];
    if (!is_cpp(flags, flag_count)) /* clang refuses this option for C++ for OpenCL */
        argv[n++] = "-fgnu89-inline";
    for (size_t i = 0; i < LW_COUNT_OF(generic) && has_generic_pointers(flags, flag_count); i++)
        argv[n++] = generic[i];
    for (size_t i = 0; i < flag_count; i++)
        argv[n++] = flags[i];
    _Static_assert(2 + LW_COUNT_OF(before) + LW_COUNT_OF(generic) <= DIALECT_OPTIONS, "room for the options");
    return n;
}

/** Returns true if @text contains @image or @sampler. */
static bool has_images(const char *text, size_t size, const char *image, const char *sampler)
{
    return memmem(text, size, image, strlen(image)) != NULL || memmem(text, size, sampler, strlen(sampler)) != NULL;
}

/** Compiles a file. @images: the library of functions for images is linked. */
static enum lw_status compile_once(struct ptx_job *job, const char *path, const char *const *flags, size_t flag_count,
                                   bool images, char **ptx, size_t *size, struct lw_error *err)
{
    static const char *const values[] = {PTX_CLANG_VALUES};
    const char *const libraries[] = {job->overrides, job->originals, job->scratch_library, images ? job->images : NULL,
                                     job->libclc};
    enum lw_status status;
    char result[PTX_PATH_BYTES + 16];
    const char **argv = calloc(flag_count + DIALECT_OPTIONS + 40, sizeof *argv);
    size_t n;

    if (argv == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line for %s", path);
    snprintf(result, sizeof result, "%s/kernel.ptx", job->scratch);
    job->values = ptx_values_wanted(flags, flag_count);
    n = put_dialect(job, flags, flag_count, argv);
    for (size_t i = 0; i < LW_COUNT_OF(values) && job->values; i++)
        argv[n++] = values[i];
    argv[n++] = PTX_CLANG_NO_LINKER;
    argv[n++] = "-fno-crash-diagnostics";
    for (size_t i = 0; i < LW_COUNT_OF(libraries); i++)
        if (libraries[i] != NULL) {
            argv[n++] = "-Xclang";
            argv[n++] = "-mlink-builtin-bitcode";
            argv[n++] = "-Xclang";
            argv[n++] = libraries[i];
        }
    argv[n++] = "-S";
    argv[n++] = "-o";
    argv[n++] = result;
    argv[n++] = "-x";
    argv[n++] = "cl";
    argv[n++] = path;
    argv[n] = NULL;
    job->cached = true;
    status = ptx_run_compiler(job, path, argv, result, ptx, size, err);
    job->cached = false;
    free(argv);
    return status;
}

/** Compiles a file. The library of functions for images, which takes time to link, is linked only if the file mentions images or
 *  samplers, or if its headers do, so that the PTX has the names of functions for them. */
static enum lw_status compile(struct ptx_job *job, const char *path, const char *const *flags,
                              size_t flag_count, char **ptx, size_t *size,
                              struct lw_error *err)
{
    enum lw_status status;
    char *text = NULL;
    size_t text_size = 0;
    bool images;

    status = lw_file_read(path, &text, &text_size, err);
    if (status != LW_OK)
        return status;
    images = has_images(text, text_size, "image", "sampler");
    free(text);
    for (;;) {
        if (images)
            status = build_images(job, err);
        if (status == LW_OK)
            status = compile_once(job, path, flags, flag_count, images, ptx, size, err);
        if (status != LW_OK || images || !has_images(*ptx, *size, "ocl_image", "__translate_sampler_initializer"))
            return status;
        images = true;
        free(*ptx);
        *ptx = NULL;
    }
}

enum lw_status ptx_compile_cl(const char *path, const char *const *flags, size_t flag_count,
                              const char *clang, char **ptx, size_t *size,
                              struct lw_sink *words, struct lw_error *err)
{
    enum lw_status status = ptx_check_source(path, err);
    char other[PTX_PATH_BYTES];
    struct ptx_job *job;
    unsigned tries = 0;
    bool retries;

    if (status != LW_OK)
        return status;
    job = calloc(1, sizeof *job);
    if (job == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the compilation of %s", path);
    job->words = words;
    status = ptx_find_clang(clang, job->compiler, err);
    if (status != LW_OK ? clang != NULL && ptx_is_nvcc(clang) : ptx_is_nvcc(job->compiler))
        status = LW_FAIL(err, LW_EINPUT,
                         "%s: nvcc does not compile OpenCL C: name a clang as the compiler (--compiler, the key 'compiler' or "
                         "LANEWISE_CLANG), or name no compiler",
                         path);
    if (status == LW_OK)
        status = ptx_find_libclc(job->libclc, err);
    if (status == LW_OK)
        status = ptx_make_scratch(job->scratch, err);
    do {
        struct lw_error second = {.text = ""};

        /* If a clang crashes, the next installed version is tried: clang 19 crashes on some comparisons of two-element vectors,
         * which older versions compile. */
        job->has_other = clang == NULL && getenv("LANEWISE_CLANG") == NULL && ptx_find_clang_after(job->compiler, other);
        if (status == LW_OK)
            status = ptx_build_overrides(job, tries == 0 ? err : &second);
        if (status == LW_OK)
            status = (ptx_is_spirv(path) ? ptx_compile_spirv : compile)(job, path, flags, flag_count, ptx, size, tries == 0 ? err : &second);
        tries++; /* if all compilers fail, the error of the first one is reported */
        retries = status != LW_OK && job->crashed && job->has_other;
        if (retries) {
            if (words != NULL)
                lw_printf(words, "%s crashed: the source is compiled with %s instead\n", job->compiler, other);
            memcpy(job->compiler, other, sizeof other);
            status = LW_OK;
        }
    } while (retries);
    if (status == LW_OK && tries > 1 && err != NULL)
        err->text[0] = '\0';
    ptx_remove_scratch(job->scratch);
    free(job);
    return status;
}

enum lw_status ptx_compile_ir(const char *path, const char *const *flags, size_t flag_count, const char *clang, char **ir,
                              size_t *size, struct lw_error *err)
{
    static const char *const after[] = {"-w", "-fno-crash-diagnostics", "-cl-kernel-arg-info", "-O0", "-g0", "-S", "-emit-llvm"};
    const char **argv = calloc(flag_count + DIALECT_OPTIONS + LW_COUNT_OF(after) + 8, sizeof *argv);
    struct ptx_job *job = calloc(1, sizeof *job);
    enum lw_status status = argv == NULL || job == NULL ? LW_FAIL(err, LW_ENOMEM, "the host has no memory for the compilation of %s", path)
                                                        : ptx_check_source(path, err);
    char result[PTX_PATH_BYTES + 16];

    if (status == LW_OK)
        status = ptx_find_clang(clang, job->compiler, err);
    if (status == LW_OK)
        status = ptx_make_scratch(job->scratch, err);
    if (status == LW_OK) {
        size_t n = put_dialect(job, flags, flag_count, argv);

        snprintf(result, sizeof result, "%s/kernel.ll", job->scratch);
        for (size_t i = 0; i < LW_COUNT_OF(after); i++)
            argv[n++] = after[i];
        argv[n++] = "-o";
        argv[n++] = result;
        argv[n++] = "-x";
        argv[n++] = "cl";
        argv[n] = path;
        job->cached = true;
        status = ptx_run_compiler(job, path, argv, result, ir, size, err);
        job->cached = false;
    }
    if (job != NULL)
        ptx_remove_scratch(job->scratch);
    free(job);
    free(argv);
    return status;
}
