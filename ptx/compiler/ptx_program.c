/* SPDX-License-Identifier: Apache-2.0 */
/* Builds programs for CUDA's runtime, which consist of host code and kernels, with clang without an SDK or with nvcc. With clang,
 * the device side of a .cu file is compiled to PTX. The compilation of the host side then puts a fat binary with this PTX into
 * the object. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ptx/compiler/ptx_compile_priv.h"

/** Command line of a compiler. Arguments that exceed the capacity @room are dropped. */
struct words {
    const char **word;
    size_t count, room;
};

static void add(struct words *w, const char *word)
{
    if (w->count + 1 < w->room) /* the last element is for the NULL that ends the list */
        w->word[w->count++] = word;
}

static void add_all(struct words *w, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(w, words[i]);
}

static void add_two(struct words *w, const char *option, const char *value)
{
    add(w, option);
    add(w, value);
}

static bool make_words(struct words *w, const struct ptx_program *p)
{
    *w = (struct words){.room = p->input_count + p->flag_count + p->host_flag_count + p->plain_count + 64};
    w->word = calloc(w->room, sizeof *w->word);
    return w->word != NULL;
}

/** Returns true if an option for optimisation or debug information begins with @prefix. */
static bool has_prefix(const struct ptx_program *p, const char *prefix)
{
    for (size_t i = 0; i < p->flag_count; i++)
        if (strncmp(p->flags[i], prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

/* ---- the fat binary ------------------------------------------------------------------------------ */

/** Returns a fat binary with one PTX text, in the format that runtime/cuda/cu_module.c reads, or NULL if the host has too little
 *  memory. The caller frees it. */
static char *make_container(const struct ptx_program *p, const char *path, const char *ptx, size_t ptx_size, size_t *size)
{
    enum { CONTAINER = 16, ENTRY = 80, OPTIONS = 64 };
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t name_size = strlen(name) + 1, header = (ENTRY + name_size + 7) / 8 * 8, payload = (ptx_size + 1 + 7) / 8 * 8;
    char *out = calloc(1, CONTAINER + header + payload), *entry;

    *size = CONTAINER + header + payload;
    if (out == NULL)
        return NULL;
    entry = out + CONTAINER;
    lw_put32(out, 0xba55ed50);
    lw_put32(out + 4, 1 | CONTAINER << 16); /* version of the format, size of the header */
    lw_put64(out + 8, header + payload);
    lw_put32(entry, 1 | 0x0101 << 16); /* the entry's kind, which is PTX, and the entry's version */
    lw_put32(entry + 4, (uint32_t)header);
    lw_put64(entry + 8, payload);
    lw_put32(entry + 20, OPTIONS);
    lw_put32(entry + 28, 75);
    lw_put32(entry + 32, ENTRY); /* offset of the source's name */
    lw_put32(entry + 36, (uint32_t)name_size);
    lw_put64(entry + 40, 0x11 | (p->linked ? PTX_FATBIN_LINKED : 0));
    lw_put64(entry + 56, ptx_size + 1);
    memcpy(entry + ENTRY, name, name_size);
    memcpy(entry + header, ptx, ptx_size);
    return out;
}

/* ---- one file ------------------------------------------------------------------------------------- */

/** Writes the name of the header with symbols for the linker (ptx_link_symbols) to @path, and returns @path. */
static const char *symbols_header(const struct ptx_job *job, char path[PTX_PATH_BYTES + 24])
{
    snprintf(path, PTX_PATH_BYTES + 24, "%s/symbols.h", job->scratch);
    return path;
}

/** Compiles the device side and writes the fat binary or the PTX to @path_out. @job's words receive the compiler's output. */
static enum lw_status compile_device(struct ptx_job *job, const struct ptx_program *p, const char *path, const char *path_out,
                                     struct lw_error *err)
{
    static const char *const debug[] = {"-O0", "-g"};
    /* clang keeps explicit instantiations of templates for other files. */
    static const char *const linked[] = {"-Xclang", "-fgpu-rdc"};
    char *ptx = NULL, *container = NULL;
    size_t size = 0;
    struct words w;
    enum lw_status status;

    if (!make_words(&w, p))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line for %s", path);
    add_all(&w, p->flags, p->flag_count);
    if (p->device_debug)
        add_all(&w, debug, LW_COUNT_OF(debug));
    if (p->linked)
        add_all(&w, linked, LW_COUNT_OF(linked));
    add(&w, "-w"); /* -w, because the host pass compiles the same code and prints the warnings */
    status = ptx_cuda_by_clang(job, path, w.word, w.count, &ptx, &size, err);
    job->values = false;
    if (status == LW_OK && p->emit == PTX_EMIT_OBJECT && p->linked) {
        struct lw_buffer symbols;
        char header[PTX_PATH_BYTES + 24];

        lw_buffer_init(&symbols);
        ptx_link_symbols(ptx, &symbols.sink);
        status = lw_file_write(symbols_header(job, header), symbols.text, symbols.size, err);
        lw_buffer_fini(&symbols);
    }
    if (status == LW_OK && p->emit == PTX_EMIT_OBJECT && !p->linked) {
        const char *missing = ptx_link_missing(ptx, &size);
        char room[ISA_SYMBOL_BYTES], *name = missing != NULL ? strndup(missing, size) : NULL;

        if (missing != NULL)
            status = LW_FAIL(err, LW_EINPUT, "%s: kernels use %s, which this file declares but does not define: define it here, or compile "
                                             "all files with -rdc=true", path, name != NULL ? isa_symbol_text(name, room) : "a function");
        free(name);
    }
    if (status == LW_OK && p->linked)
        ptx_link_names(ptx);
    if (status == LW_OK && p->emit == PTX_EMIT_PTX && strcmp(path_out, "-") == 0) {
        fputs(ptx, stdout);
    } else if (status == LW_OK && p->emit == PTX_EMIT_PTX) {
        status = lw_file_write(path_out, ptx, strlen(ptx), err);
    } else if (status == LW_OK) {
        container = make_container(p, path, ptx, strlen(ptx), &size);
        status = container != NULL ? lw_file_write(path_out, container, size, err)
                                   : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the fat binary of %s", path);
    }
    free(container);
    free(ptx);
    free(w.word);
    return status;
}

/** What the host side of a .cu file has. */
struct host_needs {
    bool managed; /* managed variables, which clang supports only in its mode for HIP */
    bool exports; /* kernels with a visibility attribute, besides which macro __global__ cannot have one */
};

/** Returns the default name of the output for option -c: saxpy.o for dir/saxpy.cu. The caller frees it. */
static char *object_name(const struct ptx_program *p, const char *path)
{
    static const char *const suffix[] = {
        [PTX_EMIT_OBJECT] = "o", [PTX_EMIT_PTX] = "ptx", [PTX_EMIT_FATBIN] = "fatbin", [PTX_EMIT_DEPENDENCIES] = "o"};
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path, *dot = strrchr(base, '.');
    char *name = NULL;

    return asprintf(&name, "%.*s.%s", (int)(dot != NULL ? (size_t)(dot - base) : strlen(base)), base, suffix[p->emit]) < 0 ? NULL
                                                                                                                        : name;
}

/** Adds options so that the compiler writes the dependencies of @object to @path, and returns the name of the file that the user wants,
 *  which the caller frees; NULL: memory is short. @given: the user's options. */
static char *add_dependencies(struct words *w, const struct ptx_dependencies *given, const char *object, const char *path)
{
    if (!given->target)
        add_two(w, "-MQ", object);
    add_two(w, "-MF", path); /* the last one is valid */
    return given->file != NULL ? strdup(given->file) : ptx_dependencies_name(object);
}

/** Compiles the host side of a .cu file with fat binary @fatbin, or if @fatbin is NULL a C or C++ file, to object file
 *  @object. */
static enum lw_status host_object(struct ptx_job *job, const struct ptx_program *p, const struct ptx_input *input,
                                  const char *fatbin, struct host_needs needs, const char *object, struct lw_error *err)
{
    static const char *const plain[] = {
        "--cuda-gpu-arch=sm_75", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent", "-Wno-unknown-cuda-version",
        /* Every clang supports this version of CUDA, and compiles launches to calls of cudaLaunchKernel() for it. */
        "-Xclang", "-target-sdk-version=11.0"};
    /* The architecture has no effect on host code. Bodies of kernels are checked for the target of the PTX. */
    static const char *const hip[] = {
        "--offload-arch=gfx906", "-nogpuinc", "-nogpulib", "-fno-gpu-rdc", "-fuse-cuid=none",
        "-Xclang", "-aux-triple", "-Xclang", "nvptx64-nvidia-cuda", "-U__HIP__", "-U__HIPCC__",
        "-U__CUDA__", "-D__CUDA__=1", "-DLANEWISE_MANAGED"};
    static const char *const cuda[] = {
        "--cuda-host-only", "-std=c++17", "-include", "lanewise_cuda.h",
        /* These errors of clang are warnings of the host compiler of nvcc. */
        "-Wno-error=register", "-Wno-error=c++11-narrowing", "-Wno-error=reserved-user-defined-literal",
        "-Xclang", "-fcuda-allow-variadic-functions", "-Wno-unknown-warning-option", "-Wno-error=missing-template-arg-list-after-template-kw"};
    const char *dot = strrchr(input->word, '.');
    const bool lists = p->emit == PTX_EMIT_DEPENDENCIES;
    const bool is_c = fatbin == NULL && (input->language != NULL ? strcmp(input->language, "c") == 0
                                                                 : dot != NULL && strcmp(dot, ".c") == 0); /* clang refuses a
                                                                 * standard of C++ for C */
    char result[PTX_PATH_BYTES + 16], header[PTX_PATH_BYTES + 24], listed[PTX_PATH_BYTES + 16], identifier[32];
    struct ptx_dependencies dependencies;
    char *file = NULL, *named = NULL;
    char *bytes = NULL;
    size_t size = 0;
    struct words w;
    struct lw_hash hash;
    enum lw_status status;

    if (!make_words(&w, p))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line for %s", input->word);
    snprintf(result, sizeof result, "%s/host.o", job->scratch);
    unlink(result);
    add(&w, job->compiler);
    if (fatbin != NULL) {
        if (needs.managed) {
            /* clang defines a symbol with the identifier of a compilation, which must differ between files of a program. */
            lw_hash_init(&hash);
            lw_hash_bytes(&hash, input->word, strlen(input->word) + 1);
            lw_hash_bytes(&hash, object, strlen(object));
            snprintf(identifier, sizeof identifier, "-cuid=%016llx", (unsigned long long)lw_hash_value(&hash));
            add_all(&w, hip, LW_COUNT_OF(hip));
            add(&w, "-Xclang");
            add(&w, identifier);
        } else {
            add_all(&w, plain, LW_COUNT_OF(plain));
        }
        add_all(&w, cuda, LW_COUNT_OF(cuda));
        if (needs.exports)
            add(&w, "-DLANEWISE_EXPORTS");
    }
    if (fatbin != NULL && p->linked)
        add(&w, "-DLANEWISE_LINKED");
    if (fatbin != NULL && p->linked && !lists) {
        add(&w, "-include");
        add(&w, symbols_header(job, header));
    }
    if (!has_prefix(p, "-O") && !has_prefix(p, "-g"))
        add(&w, "-O2");
    for (size_t i = 0; i < p->flag_count; i++)
        if (!is_c || (strncmp(p->flags[i], "-std=c++", 8) != 0 && strncmp(p->flags[i], "-std=gnu++", 10) != 0))
            add(&w, p->flags[i]);
    add_all(&w, p->host_flags, p->host_flag_count);
    if (!p->compile_only) /* the step that links uses the others, such as -shared */
        add(&w, "-Wno-unused-command-line-argument");
    if (p->device_debug)
        add(&w, "-g");
    add(&w, "-isystem");
    add(&w, job->headers);
    add(&w, "-fno-crash-diagnostics");
    if (fatbin != NULL && job->overlay[0] != '\0') {
        add(&w, "-ivfsoverlay");
        add(&w, job->overlay);
    }
    if (fatbin != NULL) {
        add(&w, "-Xclang");
        add(&w, "-fcuda-include-gpubinary");
        add(&w, "-Xclang");
        add(&w, fatbin);
        add(&w, "-x");
        add(&w, needs.managed ? "hip" : "cuda");
    }
    if (fatbin == NULL && input->language != NULL)
        add_two(&w, "-x", input->language);
    ptx_dependencies_find(p->host_flags, p->host_flag_count, &dependencies);
    snprintf(listed, sizeof listed, "%s/host.d", job->scratch);
    dependencies.wanted |= lists;
    if (dependencies.wanted && (!p->compile_only || lists))
        named = object_name(p, input->word); /* the name that a makefile would give the object */
    if (dependencies.wanted)
        file = add_dependencies(&w, &dependencies, named != NULL ? named : object, listed);
    if (!lists) {
        add(&w, "-c");
        add_two(&w, "-o", result);
    }
    add(&w, input->word);
    status = ptx_run_compiler(job, input->word, w.word, lists ? listed : result, &bytes, &size, err);
    if (status == LW_OK && lists) {
        const char *to = dependencies.file != NULL ? dependencies.file : p->output;
        ptx_dependencies_keep_own(job, bytes);
        if (to == NULL || strcmp(to, "-") == 0)
            fputs(bytes, stdout);
        else
            status = lw_file_write(to, bytes, strlen(bytes), err);
    } else if (status == LW_OK) {
        status = lw_file_write(object, bytes, size, err);
    }
    if (status == LW_OK && dependencies.wanted && !lists)
        status = file != NULL ? ptx_dependencies_write(job, listed, file, err)
                              : LW_FAIL(err, LW_ENOMEM, "the host has no memory for the dependencies of %s", input->word);
    free(named);
    free(file);
    free(bytes);
    free(w.word);
    return status;
}

/** Compiles the host side of a file, as host_object() does. Errors of clang show what the file needs. */
static enum lw_status compile_host(struct ptx_job *job, const struct ptx_program *p, const struct ptx_input *input,
                                   const char *fatbin, const char *object, struct lw_error *err)
{
    struct lw_sink *const words = job->words;
    struct host_needs needs = {0};
    enum lw_status status;

    for (;;) {
        const struct host_needs before = needs;
        struct lw_buffer text;

        lw_buffer_init(&text);
        job->words = &text.sink;
        status = host_object(job, p, input, fatbin, needs, object, err);
        job->words = words;
        if (status != LW_OK && text.text != NULL) {
            needs.managed |= strstr(text.text, "lanewise: managed variable") != NULL;
            needs.exports |= strstr(text.text, "visibility does not match previous declaration") != NULL;
        }
        if (needs.managed != before.managed || needs.exports != before.exports) {
            lw_buffer_fini(&text);
            continue;
        }
        if (words != NULL && text.size != 0)
            words->write(words, text.text, text.size);
        lw_buffer_fini(&text);
        return status;
    }
}

static enum lw_status compile_file(struct ptx_job *job, const struct ptx_program *p, const struct ptx_input *input,
                                   const char *object, struct lw_error *err)
{
    char fatbin[PTX_PATH_BYTES + 16];
    enum lw_status status = ptx_check_source(input->word, err);

    if (status == LW_OK && (p->emit == PTX_EMIT_PTX || p->emit == PTX_EMIT_FATBIN))
        return compile_device(job, p, input->word, object, err);
    snprintf(fatbin, sizeof fatbin, "%s/kernels.fatbin", job->scratch);
    if (status == LW_OK && input->kind == PTX_INPUT_CUDA && p->emit == PTX_EMIT_OBJECT)
        status = compile_device(job, p, input->word, fatbin, err);
    if (status == LW_OK)
        status = compile_host(job, p, input, input->kind == PTX_INPUT_CUDA ? fatbin : NULL, object, err);
    return status;
}

/* ---- the program --------------------------------------------------------------------------------------- */

/** Returns the index of the first file in @w from index @i on, or @w's count. The other words are options, and their operands. */
static size_t next_file(const struct words *w, size_t i)
{
    static const char *const with_operand[] = {"-Xlinker", "-l", "-L"};

    for (; i < w->count && w->word[i][0] == '-'; i++)
        for (unsigned k = 0; k < LW_COUNT_OF(with_operand); k++)
            if (strcmp(w->word[i], with_operand[k]) == 0) {
                i++;
                break;
            }
    return i < w->count ? i : w->count;
}

/** Makes a static library of the objects, or an object without content. @w contains the compiler and its inputs. */
static enum lw_status link_other(struct ptx_job *job, const struct ptx_program *p, const struct words *w, struct lw_error *err)
{
    static const char *const empty[] = {"-fPIC", "-x", "c", "-c", "/dev/null", "-o"};
    char result[PTX_PATH_BYTES + 16], ar[PTX_PATH_BYTES];
    char *bytes = NULL;
    size_t size = 0;
    struct words own;
    enum lw_status status;

    if (p->link == PTX_LINK_ARCHIVE && !ptx_find_program("ar", ar))
        return LW_FAIL(err, LW_ENOENT, "%s: the program ar, which makes libraries, was not found: install Debian package binutils",
                       p->output);
    for (size_t i = next_file(w, 1); i < w->count; i = next_file(w, i + 1))
        if (access(w->word[i], R_OK) != 0)
            return LW_FAIL(err, LW_ENOENT, "%s: %s", w->word[i], strerror(errno));
    if (!make_words(&own, p))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line for %s", p->output);
    snprintf(result, sizeof result, "%s/other", job->scratch);
    if (p->link == PTX_LINK_NOTHING) {
        add(&own, job->compiler);
        add_all(&own, empty, LW_COUNT_OF(empty));
        add(&own, result);
    } else {
        add_two(&own, ar, "qcs"); /* q, because files of different folders may have the same name */
        add(&own, result);
        for (size_t i = next_file(w, 1); i < w->count; i = next_file(w, i + 1))
            add(&own, w->word[i]); /* options for the linker have no meaning for a library */
    }
    status = ptx_run_compiler(job, p->output, own.word, result, &bytes, &size, err);
    if (status == LW_OK)
        status = lw_file_write(p->output, bytes, size, err);
    free(bytes);
    free(own.word);
    return status;
}

/** Links the program. @w contains the compiler and its inputs, and has capacity for the options that this function adds. */
static enum lw_status link_program(struct ptx_job *job, const struct ptx_program *p, struct words *w, struct lw_error *err)
{
    char result[PTX_PATH_BYTES + 16], folder[PTX_PATH_BYTES + 16], path[PTX_PATH_BYTES + 16];
    char *bytes = NULL;
    size_t size = 0;
    mode_t mask;
    enum lw_status status;

    snprintf(result, sizeof result, "%s/program", job->scratch);
    snprintf(folder, sizeof folder, "-L%s", p->runtime);
    snprintf(path, sizeof path, "-Wl,-rpath,%s", p->runtime);
    add(w, folder);
    add(w, "-l:libcudart.so.13");
    add(w, path);
    add(w, "-lm");
    add(w, "-o");
    add(w, result);
    status = ptx_run_compiler(job, p->output, w->word, result, &bytes, &size, err);
    if (status == LW_OK)
        status = lw_file_write(p->output, bytes, size, err);
    free(bytes);
    if (status != LW_OK)
        return status;
    umask(mask = umask(0));
    return chmod(p->output, 0777 & ~mask) == 0 ? LW_OK : LW_FAIL(err, LW_EIO, "%s: %s", p->output, strerror(errno));
}

/** Compiles and links with clang. */
static enum lw_status by_clang(struct ptx_job *job, const struct ptx_program *p, struct lw_error *err)
{
    char (*objects)[PTX_PATH_BYTES + 40] = NULL;
    enum lw_status status = LW_OK;
    struct words link = {0};

    if (!make_words(&link, p) || (objects = calloc(p->input_count + 1, sizeof *objects)) == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu files", p->input_count);
    if (status == LW_OK)
        status = ptx_find_libclc(job->libclc, err);
    if (status == LW_OK)
        status = ptx_build_overrides(job, err);
    if (status == LW_OK)
        status = ptx_cuda_headers(job, err);
    add(&link, job->compiler);
    add(&link, "--driver-mode=g++");
    for (size_t i = 0; i < p->input_count && status == LW_OK; i++) {
        const struct ptx_input *input = &p->inputs[i];
        char *named = NULL;

        if (input->kind == PTX_INPUT_WORD) {
            add(&link, input->word);
            continue;
        }
        snprintf(objects[i], sizeof objects[i], "%s/object%zu.o", job->scratch, i);
        if (p->compile_only && p->output == NULL && (named = object_name(p, input->word)) == NULL)
            status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the name of %s", input->word);
        if (status == LW_OK)
            status = compile_file(job, p, input, !p->compile_only ? objects[i] : named != NULL ? named : p->output, err);
        free(named);
        add(&link, objects[i]);
    }
    if (status == LW_OK && !p->compile_only && p->link != PTX_LINK_PROGRAM) {
        status = link_other(job, p, &link, err);
    } else if (status == LW_OK && !p->compile_only) {
        add_all(&link, p->host_flags, p->host_flag_count);
        status = link_program(job, p, &link, err);
    }
    free(objects);
    free(link.word);
    return status;
}

/** Compiles and links with nvcc. The program uses the shared library of the runtime. The program contains PTX, unless the
 *  user's options select another kind of code. */
static enum lw_status by_nvcc(struct ptx_job *job, const struct ptx_program *p, struct lw_error *err)
{
    char result[PTX_PATH_BYTES + 16];
    char *bytes = NULL, *named, *file = NULL;
    const char *output;
    size_t size = 0;
    mode_t mask;
    bool chosen = false, host_debug = false, has_lines = false;
    struct ptx_dependencies dependencies;
    struct words w;
    enum lw_status status;

    if (p->compile_only && p->output == NULL && p->source_count > 1)
        return LW_FAIL(err, LW_EUSAGE, "with nvcc, -c compiles one file at a time");
    if (!make_words(&w, p))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the command line of %s", job->compiler);
    for (size_t i = 0; i < p->plain_count; i++) {
        host_debug = host_debug || strcmp(p->plain[i], "-g") == 0;
        has_lines = has_lines || strcmp(p->plain[i], "-G") == 0 || strcmp(p->plain[i], "-lineinfo") == 0 || strcmp(p->plain[i], "--generate-line-info") == 0;
        chosen = chosen || strncmp(p->plain[i], "-arch", 5) == 0 || strncmp(p->plain[i], "-gencode", 8) == 0;
    }
    add(&w, job->compiler);
    add(&w, "-cudart");
    add(&w, "shared");
    if (!chosen) {
        add(&w, "-gencode");
        add(&w, "arch=compute_75,code=compute_75");
    }
    if (host_debug && !has_lines) /* for nvcc, -g is an option of host code only */
        add(&w, "-lineinfo");
    add_all(&w, p->plain, p->plain_count);
    if (!p->compile_only && p->link == PTX_LINK_PROGRAM) {
        add(&w, "-Xlinker");
        add(&w, "-rpath");
        add(&w, "-Xlinker");
        add(&w, p->runtime);
    }
    snprintf(result, sizeof result, "%s/%s", job->scratch, p->compile_only ? "object.o" : "program");
    named = p->output == NULL ? object_name(p, p->source) : NULL;
    output = p->output != NULL ? p->output : named;
    ptx_dependencies_find(p->plain, p->plain_count, &dependencies);
    if (dependencies.wanted && p->compile_only && output != NULL) {
        file = dependencies.file == NULL ? ptx_dependencies_name(output) : NULL;
        if (!dependencies.target)
            add_two(&w, "-MT", output);
        if (file != NULL)
            add_two(&w, "-MF", file);
    }
    add(&w, "-o");
    add(&w, result);
    status = ptx_run_compiler(job, p->output != NULL ? p->output : "nvcc", w.word, result, &bytes, &size, err);
    if (status == LW_OK) {
        status = output != NULL ? lw_file_write(output, bytes, size, err) : LW_FAIL(err, LW_ENOMEM, "the host has no memory for a name");
        umask(mask = umask(0));
        if (status == LW_OK && !p->compile_only && p->link == PTX_LINK_PROGRAM && chmod(output, 0777 & ~mask) != 0)
            status = LW_FAIL(err, LW_EIO, "%s: %s", output, strerror(errno));
    }
    free(named);
    free(file);
    free(bytes);
    free(w.word);
    return status;
}

enum lw_status ptx_build_program(const struct ptx_program *p, struct lw_sink *words, struct lw_error *err)
{
    struct ptx_job *job = calloc(1, sizeof *job);
    const bool nvcc = p->compiler != NULL && ptx_is_nvcc(p->compiler);
    enum lw_status status;

    if (job == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a compilation");
    job->words = words;
    if (nvcc)
        status = ptx_find_nvcc(p->compiler, job->compiler)
                     ? LW_OK
                     : LW_FAIL(err, LW_ENOENT, "%s: the compiler was not found (the environment variable LANEWISE_NVCC can name "
                                               "another one)", p->compiler);
    else
        status = ptx_find_clang(p->compiler, job->compiler, err);
    if (status == LW_OK)
        status = ptx_make_scratch(job->scratch, err);
    if (status == LW_OK)
        status = (nvcc ? by_nvcc : by_clang)(job, p, err);
    ptx_remove_scratch(job->scratch);
    free(job);
    return status;
}
