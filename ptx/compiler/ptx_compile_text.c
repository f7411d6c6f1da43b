/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles text in memory by way of a file, because compilers read files. */
#include "ptx/compiler/ptx_compile_priv.h"

#include <stdio.h>
#include <stdlib.h>

/** Writes the text after a #line directive with its name. */
static enum lw_status write_source(const char *path, const char *name, const char *text,
                                   size_t size, struct lw_error *err)
{
    struct lw_buffer out;
    enum lw_status status;

    lw_buffer_init(&out);
    lw_put(&out.sink, "#line 1 \"");
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x20)
            lw_printf(&out.sink, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    lw_put(&out.sink, "\"\n");
    out.sink.write(&out.sink, text, size);
    status = out.text == NULL ? LW_FAIL(err, LW_ENOMEM, "%s: no memory for its text", name)
                              : lw_file_write(path, out.text, out.size, err);
    lw_buffer_fini(&out);
    return status;
}

/** Replaces @path in a message by @name, because the user does not know the temporary file. */
static void rename_place(struct lw_error *err, const char *path, const char *name)
{
    char text[sizeof err->text];
    const char *at;

    while ((at = strstr(err->text, path)) != NULL && strstr(name, path) == NULL) {
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - err->text), err->text, name, at + strlen(path));
        memcpy(err->text, text, sizeof text);
    }
}

enum lw_status ptx_compile_text(const char *name, const char *text, size_t size,
                                const char *const *flags, size_t flag_count,
                                const char *compiler, char **ptx, size_t *ptx_size,
                                struct lw_sink *words, struct lw_error *err)
{
    const char *suffix = strrchr(name, '.');
    char folder[PTX_PATH_BYTES], path[PTX_PATH_BYTES + 16];
    enum lw_status status = ptx_make_scratch(folder, err);

    if (status != LW_OK)
        return status;
    snprintf(path, sizeof path, "%s/text%.8s", folder, suffix != NULL ? suffix : "");
    status = write_source(path, name, text, size, err);
    if (status == LW_OK)
        status = ptx_compile(path, flags, flag_count, compiler, ptx, ptx_size, words, err);
    if (status != LW_OK && err != NULL)
        rename_place(err, path, name);
    ptx_remove_scratch(folder);
    return status;
}
