/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles SPIR-V modules to PTX text: llvm-spirv translates a module to LLVM bitcode for SPIR, clang writes the bitcode as text,
 * ptx_spirv_text.c rewrites the text for PTX, and clang compiles it with the libraries of OpenCL C functions.
 * docs/explanation/compilers.md explains the steps. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "ptx/compiler/ptx_spirv_priv.h"

enum {
    OLDEST_TRANSLATOR = 14, NEWEST_TRANSLATOR = 30,
    OLDEST_CLANG = 15, /* older versions cannot write the text with opaque pointers */
    TYPED_CLANG = 15,  /* this version writes them only with an option */
    LINKING_CLANG = 17 /* older versions link libraries to OpenCL C only, not to LLVM IR */
};

/* ---- programs ------------------------------------------------------------------------------------ */

/** Returns the number after the last "clang-" or "llvm-" in a path, or 0 if there is none. */
static unsigned version_in(const char *path)
{
    static const char *const before[] = {"llvm-", "clang-"};
    unsigned version = 0;

    for (size_t i = 0; i < LW_COUNT_OF(before); i++)
        for (const char *at = path; (at = strstr(at, before[i])) != NULL; at++)
            if (isdigit((unsigned char)at[strlen(before[i])]))
                version = (unsigned)strtoul(at + strlen(before[i]), NULL, 10);
    return version;
}

/** Returns the version of a clang, or 0 if it is not known. Its name, or the path to which links at its path lead, has the
 *  version. */
static unsigned clang_version(const char *clang)
{
    const char *slash = strrchr(clang, '/');
    unsigned version = version_in(slash != NULL ? slash + 1 : clang);
    char *real = version == 0 ? realpath(clang, NULL) : NULL;

    if (real != NULL)
        version = version_in(real);
    free(real);
    return version;
}

/** Finds a translator whose bitcode @clang can read: the newest one that is not newer than this clang. */
static enum lw_status find_translator(const char *clang, char *out, struct lw_error *err)
{
    const char *wanted = getenv("LANEWISE_LLVM_SPIRV");
    const unsigned version = clang_version(clang);

    if (version != 0 && version < OLDEST_CLANG)
        return LW_FAIL(err, LW_ENOENT, "SPIR-V needs clang %d or later, and %s is clang %u", OLDEST_CLANG, clang, version);
    if (wanted != NULL && *wanted != '\0')
        return ptx_find_program(wanted, out)
                   ? LW_OK
                   : LW_FAIL(err, LW_ENOENT, "LANEWISE_LLVM_SPIRV: %s: the program was not found", wanted);
    for (unsigned v = version != 0 && version < NEWEST_TRANSLATOR ? version : NEWEST_TRANSLATOR; v >= OLDEST_TRANSLATOR; v--) {
        char name[60];

        snprintf(name, sizeof name, "llvm-spirv-%u", v);
        if (ptx_find_program(name, out))
            return LW_OK;
        snprintf(name, sizeof name, "/usr/lib/llvm-%u/bin/llvm-spirv", v);
        if (ptx_find_program(name, out))
            return LW_OK;
    }
    if (ptx_find_program("llvm-spirv", out))
        return LW_OK;
    return LW_FAIL(err, LW_ENOENT,
                   "SPIR-V needs the program llvm-spirv (Debian package llvm-spirv-15), which was not found for %s", clang);
}

enum lw_status ptx_find_spirv(const char *clang, struct lw_error *err)
{
    char compiler[PTX_PATH_BYTES], translator[PTX_PATH_BYTES];
    enum lw_status status = ptx_find_clang(clang, compiler, err);

    if (status == LW_OK && ptx_is_nvcc(compiler))
        status = LW_FAIL(err, LW_EINPUT, "nvcc does not compile SPIR-V");
    return status == LW_OK ? find_translator(compiler, translator, err) : status;
}

/* ---- the module ---------------------------------------------------------------------------------- */

/** Words of a module, in the order of bytes of the host. */
struct module {
    uint32_t *words; /* owned */
    size_t count;
};

enum {
    MAGIC = 0x07230203, HEADER_WORDS = 5, BOUND = 3, MOST_IDS = 0x3fffff, /* limits of the specification */
    OP_MEMORY_MODEL = 14, PHYSICAL_64 = 2, OP_CAPABILITY = 17
};

/** Capabilities that the translator accepts, but kernels cannot use. */
static const struct {
    uint32_t number;
    const char *name;
} refused[] = {{17, "Pipes"}, {19, "DeviceEnqueue"}};

/** Checks that a module consists of whole instructions, and has 64-bit addresses. */
static enum lw_status check_words(const char *path, const struct module *m, struct lw_error *err)
{
    bool is_physical_64 = false;

    if (m->words[BOUND] > MOST_IDS)
        return LW_FAIL(err, LW_EINPUT, "%s: the SPIR-V module has more than %d ids", path, MOST_IDS);
    for (size_t at = HEADER_WORDS; at < m->count;) {
        const uint32_t size = m->words[at] >> 16, op = m->words[at] & 0xffff;

        if (size == 0 || size > m->count - at)
            return LW_FAIL(err, LW_EINPUT,
                           "%s: the SPIR-V module is damaged: the instruction at word %zu has %u words, and %zu are left", path,
                           at, size, m->count - at);
        if (op == OP_MEMORY_MODEL && size == 3)
            is_physical_64 = m->words[at + 1] == PHYSICAL_64;
        for (size_t i = 0; i < LW_COUNT_OF(refused); i++)
            if (op == OP_CAPABILITY && size == 2 && m->words[at + 1] == refused[i].number)
                return LW_FAIL(err, LW_EUNSUPP, "%s: the SPIR-V module needs the capability %s, which is not supported", path,
                               refused[i].name);
        at += size;
    }
    return is_physical_64 ? LW_OK
                          : LW_FAIL(err, LW_EINPUT,
                                    "%s: the addressing model of the SPIR-V module is not Physical64, which this device needs", path);
}

/** Reads a module, and swaps its bytes if necessary. */
static enum lw_status read_module(const char *path, struct module *m, struct lw_error *err)
{
    char *data = NULL;
    size_t size = 0;
    enum lw_status status = lw_file_read(path, &data, &size, err);

    if (status != LW_OK)
        return status;
    m->words = calloc(size / sizeof *m->words + 1, sizeof *m->words);
    m->count = size / sizeof *m->words;
    if (m->words == NULL)
        status = LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for the module", path);
    else
        memcpy(m->words, data, m->count * sizeof *m->words);
    free(data);
    if (status == LW_OK && m->count >= HEADER_WORDS && m->words[0] == __builtin_bswap32(MAGIC))
        for (size_t i = 0; i < m->count; i++)
            m->words[i] = __builtin_bswap32(m->words[i]);
    if (status == LW_OK && (m->count < HEADER_WORDS || size % sizeof *m->words != 0 || m->words[0] != MAGIC))
        status = LW_FAIL(err, LW_EINPUT, "%s: this is not a SPIR-V module", path);
    return status == LW_OK ? check_words(path, m, err) : status;
}

/** Options with which clang reads LLVM IR. */
#define READS_IR "-x", "ir", "-target", "nvptx64-nvidia-nvcl", "-w", "-fno-crash-diagnostics", "-O0"

/* ---- translation --------------------------------------------------------------------------------- */

/** Writes the first line of the translator's output without control characters. */
static void first_line(const struct lw_buffer *output, char *out, size_t room)
{
    size_t n = 0;

    for (const char *c = lw_buffer_text(output); *c != '\0' && *c != '\n' && n + 1 < room; c++)
        out[n++] = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    while (n != 0 && (out[n - 1] == '.' || out[n - 1] == ' '))
        n--;
    out[n] = '\0';
}

/** Runs the translator on the module @in, and writes bitcode to @out. */
static enum lw_status run_translator(const struct ptx_job *job, const char *path, const char *in, const char *out,
                                     struct lw_error *err)
{
    char translator[PTX_PATH_BYTES], said[400];
    enum lw_status status = find_translator(job->compiler, translator, err);
    /* CL2.0: atomics keep their orders and scopes, and have generic pointers */
    const char *const argv[] = {translator, "-r", "--spirv-target-env=CL2.0", "-o", out, in, NULL};
    struct lw_buffer output;
    int wait_status = 0;

    if (status != LW_OK)
        return status;
    lw_buffer_init(&output);
    status = ptx_run_program(argv, job->scratch, &output, &wait_status, err);
    first_line(&output, said, sizeof said);
    if (status == LW_OK && WIFSIGNALED(wait_status))
        status = LW_FAIL(err, LW_EINPUT, "%s: %s crashed (signal %d): the SPIR-V module is not valid, or has something that the "
                                         "translator does not support", path, translator, WTERMSIG(wait_status));
    else if (status == LW_OK && (WEXITSTATUS(wait_status) != 0 || !ptx_is_file(out)))
        status = LW_FAIL(err, LW_EINPUT, "%s: %s cannot translate the SPIR-V module%s%s", path, translator,
                         *said != '\0' ? ": " : "", said);
    lw_buffer_fini(&output);
    return status;
}

/** Translates a module to LLVM IR for PTX. The caller frees @ir's text, also after an error. */
static enum lw_status to_ir(struct ptx_job *job, const char *path, struct lw_buffer *ir, struct lw_error *err)
{
    char swapped[PTX_PATH_BYTES + 16], bitcode[PTX_PATH_BYTES + 16], result[PTX_PATH_BYTES + 16], *text = NULL;
    const bool typed = clang_version(job->compiler) == TYPED_CLANG;
    const char *argv[] = {job->compiler, READS_IR, "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", result, bitcode,
                          typed ? "-mllvm" : NULL, "-opaque-pointers", NULL};
    struct module module = {.count = 0};
    enum lw_status status = read_module(path, &module, err);
    size_t size = 0;

    snprintf(swapped, sizeof swapped, "%s/module.spv", job->scratch);
    snprintf(bitcode, sizeof bitcode, "%s/module.bc", job->scratch);
    snprintf(result, sizeof result, "%s/module.ll", job->scratch);
    if (status == LW_OK)
        status = lw_file_write(swapped, module.words, module.count * sizeof *module.words, err);
    free(module.words);
    if (status == LW_OK)
        status = run_translator(job, path, swapped, bitcode, err);
    job->values = false;
    if (status == LW_OK)
        status = ptx_run_compiler(job, path, argv, result, &text, &size, err);
    if (status == LW_OK)
        status = ptx_spirv_rewrite(path, text, ir, err);
    free(text);
    return status;
}

/** Paths of the files of a compilation. */
struct spirv_files {
    char code[PTX_PATH_BYTES + 16]; /* LLVM IR for PTX, as text */
    char bitcode[PTX_PATH_BYTES + 16]; /* the same as bitcode */
    char empty[PTX_PATH_BYTES + 16];   /* an empty source in OpenCL C, to which the bitcode is linked */
    char result[PTX_PATH_BYTES + 16];  /* PTX */
};

/** Writes the bitcode and the empty source. */
static enum lw_status make_bitcode(struct ptx_job *job, const char *path, const struct spirv_files *files, struct lw_error *err)
{
    const char *argv[] = {job->compiler, READS_IR, "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", files->bitcode,
                          files->code, NULL};
    char *data = NULL;
    size_t size = 0;
    enum lw_status status = ptx_run_compiler(job, path, argv, files->bitcode, &data, &size, err);

    free(data);
    return status == LW_OK ? lw_file_write(files->empty, "", 0, err) : status;
}

/** Compiles a module, whose PTX is not in the cache. @argv: the command line that compiles the code. @links: the code is linked to
 *  an empty source. */
static enum lw_status translate(struct ptx_job *job, const char *path, const char **argv, const struct spirv_files *files,
                                bool links, bool values, char **ptx, size_t *size, struct lw_error *err)
{
    struct lw_sink *const words = job->words;
    struct lw_buffer ir;
    enum lw_status status;

    lw_buffer_init(&ir);
    status = to_ir(job, path, &ir, err);
    if (status == LW_OK)
        status = lw_file_write(files->code, lw_buffer_text(&ir), ir.size, err);
    lw_buffer_fini(&ir);
    if (status == LW_OK && links)
        status = make_bitcode(job, path, files, err);
    job->values = values;
    job->has_no_source = true;
    job->words = NULL; /* clang prints warnings about the libraries, which -w does not suppress for LLVM IR */
    if (status == LW_OK)
        status = ptx_run_compiler(job, path, argv, files->result, ptx, size, err);
    job->has_no_source = false;
    job->words = words;
    return status;
}

/** Stores the result in the cache. The result depends on one file, the module. */
static void store(const struct ptx_job *job, const struct ptx_cache_key *key, const char *path, const char *ptx, size_t size)
{
    char rule[PTX_PATH_BYTES + 16];
    struct lw_buffer text;

    snprintf(rule, sizeof rule, "%s/rule", job->scratch);
    lw_buffer_init(&text);
    lw_put(&text.sink, "module: ");
    for (const char *c = path; *c != '\0'; c++) {
        if (*c == ' ' || *c == '#')
            lw_put(&text.sink, "\\");
        lw_printf(&text.sink, *c == '$' ? "$$" : "%c", *c);
    }
    if (!text.is_cut && lw_file_write(rule, text.text, text.size, NULL) == LW_OK) {
        lw_buffer_clear(&text);
        ptx_cache_store(key, path, rule, &text, ptx, size);
    }
    lw_buffer_fini(&text);
}

/** The command line that compiles the code of a module. */
struct command {
    const char **argv; /* owned */
    size_t count;
    const char **bitcode; /* where argv has the path of the bitcode that is linked; NULL: the code is not linked */
};

/** Makes the command line, without the path of the code and the result. Options for OpenCL C, such as -cl-std=CL3.0 and -D, have no
 *  effect on LLVM IR. Returns false if the host has no memory. */
static bool make_command(const struct ptx_job *job, const char *const *flags, size_t flag_count, bool values, struct command *c)
{
    static const char *const before[] = {"-O3", "-target", "nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", "sm_35",
                                         "-Qunused-arguments", "-w", PTX_CLANG_NO_LINKER, "-fno-crash-diagnostics", "-S"};
    static const char *const dump[] = {PTX_CLANG_VALUES};
    const char *const libraries[] = {job->overrides, job->originals, job->scratch_library, job->libclc};
    const bool links = clang_version(job->compiler) != 0 && clang_version(job->compiler) < LINKING_CLANG;

    c->argv = calloc(flag_count + LW_COUNT_OF(before) + LW_COUNT_OF(dump) + 4 * LW_COUNT_OF(libraries) + 16, sizeof *c->argv);
    if (c->argv == NULL)
        return false;
    c->argv[c->count++] = job->compiler;
    for (size_t i = 0; i < LW_COUNT_OF(before); i++)
        c->argv[c->count++] = before[i];
    for (size_t i = 0; i < flag_count; i++)
        c->argv[c->count++] = flags[i];
    for (size_t i = 0; i < LW_COUNT_OF(dump) && values; i++)
        c->argv[c->count++] = dump[i];
    for (size_t i = 0; i < 4 && links; i++) /* the path of the bitcode is set later, because it differs in each compilation */
        c->argv[c->count++] = i == 1 ? "-mlink-bitcode-file" : "-Xclang";
    c->bitcode = links ? &c->argv[c->count - 1] : NULL;
    for (size_t i = 0; i < LW_COUNT_OF(libraries); i++) {
        c->argv[c->count++] = "-Xclang";
        c->argv[c->count++] = "-mlink-builtin-bitcode";
        c->argv[c->count++] = "-Xclang";
        c->argv[c->count++] = libraries[i];
    }
    c->argv[c->count++] = "-x";
    c->argv[c->count++] = links ? "cl" : "ir";
    return true;
}

enum lw_status ptx_compile_spirv(struct ptx_job *job, const char *path, const char *const *flags, size_t flag_count, char **ptx,
                                 size_t *size, struct lw_error *err)
{
    const bool values = ptx_values_wanted(flags, flag_count);
    char translator[PTX_PATH_BYTES];
    struct command c = {.count = 0};
    struct ptx_cache_key *key = calloc(1, sizeof *key);
    struct spirv_files *files = calloc(1, sizeof *files);
    struct lw_buffer output;
    enum lw_status status = LW_OK;
    bool caches;

    lw_buffer_init(&output);
    if (key == NULL || files == NULL || !make_command(job, flags, flag_count, values, &c))
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the compilation of %s", path);
    if (status == LW_OK)
        status = find_translator(job->compiler, translator, err);
    if (status != LW_OK)
        goto cleanup;
    snprintf(files->code, sizeof files->code, "%s/kernel.ll", job->scratch);
    snprintf(files->bitcode, sizeof files->bitcode, "%s/kernel.bc", job->scratch);
    snprintf(files->empty, sizeof files->empty, "%s/empty.cl", job->scratch);
    snprintf(files->result, sizeof files->result, "%s/kernel.ptx", job->scratch);
    job->values = values;
    c.argv[c.count] = translator; /* the command line of the key has the translator, and the module in place of its code */
    c.argv[c.count + 1] = path;
    c.argv[c.count + 2] = NULL;
    caches = ptx_cache_key(job, path, c.argv, files->result, key);
    if (!caches || !ptx_cache_find(key, path, &output, ptx, size)) {
        if (c.bitcode != NULL)
            *c.bitcode = files->bitcode;
        c.argv[c.count] = c.bitcode != NULL ? files->empty : files->code;
        c.argv[c.count + 1] = "-o";
        c.argv[c.count + 2] = files->result;
        c.argv[c.count + 3] = NULL;
        status = translate(job, path, c.argv, files, c.bitcode != NULL, values, ptx, size, err);
        if (status == LW_OK && caches)
            store(job, key, path, *ptx, *size);
    }
cleanup:
    lw_buffer_fini(&output);
    if (key != NULL)
        lw_buffer_fini(&key->cache.text);
    free(key);
    free(c.argv);
    free(files);
    return status;
}

enum lw_status ptx_spirv_ir(const char *path, const char *clang, char **ir, struct lw_error *err)
{
    struct ptx_job *job = calloc(1, sizeof *job);
    enum lw_status status = job == NULL ? LW_FAIL(err, LW_ENOMEM, "the host has no memory for the compilation of %s", path)
                                        : ptx_find_clang(clang, job->compiler, err);
    struct lw_buffer text;

    lw_buffer_init(&text);
    if (status == LW_OK)
        status = ptx_make_scratch(job->scratch, err);
    if (status == LW_OK)
        status = to_ir(job, path, &text, err);
    if (status == LW_OK)
        *ir = text.text;
    else
        lw_buffer_fini(&text);
    if (job != NULL)
        ptx_remove_scratch(job->scratch);
    free(job);
    return status;
}

bool ptx_is_spirv(const char *path)
{
    const size_t size = strlen(path);

    return size > 4 && strcmp(path + size - 4, ".spv") == 0;
}
