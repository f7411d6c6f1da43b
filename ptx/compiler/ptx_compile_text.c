/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a text in memory: writes it to a temporary file, because compilers read files. */
#include "ptx/compiler/ptx_compile_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Files of one compilation. */
struct files {
    char folder[PTX_PATH_BYTES], path[PTX_PATH_BYTES + 16], headers[PTX_PATH_BYTES + 16];
    const char **flags; /* -I, the folder of the headers, then the user's options, then -I and the current folder */
    size_t flag_count;
};

/** Writes a #line directive with the name of the text, then the text. Leaves out a byte order mark, which compilers accept only at
 *  the beginning of a file. */
static enum lw_status write_source(const char *path, const char *name, const char *text,
                                   size_t size, struct lw_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    struct lw_buffer out;
    enum lw_status status;

    lw_buffer_init(&out);
    lw_put(&out.sink, "#line 1 \"");
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x20)
            lw_printf(&out.sink, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    lw_put(&out.sink, "\"\n");
    if (size >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0)
        text += sizeof mark - 1, size -= sizeof mark - 1;
    out.sink.write(&out.sink, text, size);
    status = out.text == NULL ? LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for its text", name)
                              : lw_file_write(path, out.text, out.size, err);
    lw_buffer_fini(&out);
    return status;
}

/** Returns true if the header's name, as a path relative to the folder of the headers, is inside this folder. */
static bool is_inside(const char *name)
{
    for (const char *part = name;; part++) {
        const size_t size = strcspn(part, "/");

        if (size == 0 || (part[0] == '.' && (size == 1 || (size == 2 && part[1] == '.'))))
            return false;
        part += size;
        if (*part == '\0')
            return strlen(name) < 256;
    }
}

static enum lw_status write_header(const char *folder, const struct ptx_text *header, struct lw_error *err)
{
    char path[2 * PTX_PATH_BYTES];

    if (!is_inside(header->name))
        return LW_FAIL(err, LW_EINPUT,
                       "\"%.200s\": a header's name must be a relative path of less than 256 bytes, without empty, '.' or '..' "
                       "components", header->name);
    snprintf(path, sizeof path, "%s/%s", folder, header->name);
    for (char *c = path + strlen(folder) + 1; (c = strchr(c, '/')) != NULL; *c++ = '/') {
        *c = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return LW_FAIL(err, LW_EINPUT, "%s: %s", path, strerror(errno));
    }
    return write_source(path, header->name, header->text, header->size, err);
}

/** Writes source and headers. The caller calls remove_files(), even after an error. */
static enum lw_status write_files(struct files *files, const struct ptx_text *source, const struct ptx_text *headers,
                                  size_t header_count, const char *const *flags, size_t flag_count, struct lw_error *err)
{
    const char *suffix = strrchr(source->name, '.');
    enum lw_status status = ptx_make_scratch(files->folder, err);

    if (status != LW_OK) {
        files->folder[0] = '\0';
        return status;
    }
    files->flags = calloc(flag_count + 5, sizeof *files->flags);
    if (files->flags == NULL)
        return LW_FAIL(err, LW_ENOMEM, "%s: the host has no memory for the options", source->name);
    if (header_count != 0) { /* -I is the first option, so the compiler finds these headers before those in the user's folders */
        snprintf(files->headers, sizeof files->headers, "%s/headers", files->folder);
        if (mkdir(files->headers, 0700) != 0)
            return LW_FAIL(err, LW_EINPUT, "%s: %s", files->headers, strerror(errno));
        files->flags[files->flag_count++] = "-I";
        files->flags[files->flag_count++] = files->headers;
    }
    for (size_t i = 0; i < flag_count; i++)
        files->flags[files->flag_count++] = flags[i];
    if (suffix != NULL && strcmp(suffix, ".cl") == 0) { /* a program in memory is in the current folder, as with other OpenCL drivers */
        files->flags[files->flag_count++] = "-I";
        files->flags[files->flag_count++] = ".";
    }
    snprintf(files->path, sizeof files->path, "%s/text%.8s", files->folder, suffix != NULL ? suffix : "");
    status = ptx_is_spirv(files->path) ? lw_file_write(files->path, source->text, source->size, err)
                                       : write_source(files->path, source->name, source->text, source->size, err);
    for (size_t i = 0; i < header_count && status == LW_OK; i++)
        status = write_header(files->headers, &headers[i], err);
    return status;
}

/** Replaces @path, the path of a temporary file, in a message by @name. */
static void rename_place(struct lw_error *err, const char *path, const char *name)
{
    char text[sizeof err->text];
    const char *at;

    while ((at = strstr(err->text, path)) != NULL && strstr(name, path) == NULL) {
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - err->text), err->text, name, at + strlen(path));
        memcpy(err->text, text, sizeof text);
    }
}

/** Removes the files. After a failure, replaces the temporary file's path in the message by @name. */
static void remove_files(struct files *files, const char *name, enum lw_status status, struct lw_error *err)
{
    if (status != LW_OK && err != NULL && files->path[0] != '\0')
        rename_place(err, files->path, name);
    ptx_remove_scratch(files->folder);
    free(files->flags);
}

enum lw_status ptx_compile_texts(const struct ptx_text *source, const struct ptx_text *headers, size_t header_count,
                                 const char *const *flags, size_t flag_count, const char *compiler, char **ptx,
                                 size_t *ptx_size, struct lw_sink *words, struct lw_error *err)
{
    struct files files = {.flag_count = 0};
    enum lw_status status = write_files(&files, source, headers, header_count, flags, flag_count, err);

    if (status == LW_OK)
        status = ptx_compile(files.path, files.flags, files.flag_count, compiler, ptx, ptx_size, words, err);
    remove_files(&files, source->name, status, err);
    return status;
}

enum lw_status ptx_compile_text(const char *name, const char *text, size_t size,
                                const char *const *flags, size_t flag_count,
                                const char *compiler, char **ptx, size_t *ptx_size,
                                struct lw_sink *words, struct lw_error *err)
{
    const struct ptx_text source = {name, text, size};

    return ptx_compile_texts(&source, NULL, 0, flags, flag_count, compiler, ptx, ptx_size, words, err);
}

enum lw_status ptx_describe_text(const struct ptx_text *source, const struct ptx_text *headers, size_t header_count,
                                 const char *const *flags, size_t flag_count, const char *compiler, struct lw_sink *out,
                                 struct lw_error *err)
{
    struct files files = {.flag_count = 0};
    enum lw_status status = write_files(&files, source, headers, header_count, flags, flag_count, err);
    char *ir = NULL;
    size_t size = 0;

    if (status == LW_OK)
        status = ptx_is_spirv(files.path) ? ptx_spirv_ir(files.path, compiler, &ir, err)
                                          : ptx_compile_ir(files.path, files.flags, files.flag_count, compiler, &ir, &size, err);
    if (status == LW_OK)
        ptx_describe_ir(ir, out);
    free(ir);
    remove_files(&files, source->name, status, err);
    return status;
}
