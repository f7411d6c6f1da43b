/* SPDX-License-Identifier: Apache-2.0 */
/* Source to object, by the name's suffix. */
#include "launch/launch_priv.h"

#include <stdlib.h>

static enum lw_status from_ptx(const char *path, bool compiled, const char *text, size_t size,
                               struct isa_object **out, struct lw_error *err)
{
    struct ptx_options options;

    ptx_options_default(&options);
    options.from_source = compiled;
    return ptx_translate(path, text, size, &options, out, err);
}

enum lw_status lnc_object_load(const char *path, const char *const *options,
                               size_t option_count, const char *clang,
                               struct isa_object **out, struct lw_error *err)
{
    const char *slash = strrchr(path, '/'), *suffix = strrchr(path, '.');
    char *text = NULL;
    size_t size = 0;
    enum lw_status status;

    if (suffix == NULL || (slash != NULL && suffix < slash))
        suffix = "";
    if (strcmp(suffix, ".cu") == 0)
        return LW_FAIL(err, LW_EUNSUPP,
                       "%s: CUDA C sources are not supported yet: compile it to PTX (clang -x "
                       "cuda --cuda-device-only -S, or nvcc -ptx) and give the .ptx file",
                       path);
    if (strcmp(suffix, ".cl") != 0 && strcmp(suffix, ".ptx") != 0 && strcmp(suffix, ".s") != 0 &&
        strcmp(suffix, ".lwo") != 0)
        return LW_FAIL(err, LW_EINPUT,
                       "%s: what it holds is told by its suffix, and \"%s\" is none of .cl .ptx "
                       ".s .lwo",
                       path, suffix);
    if (strcmp(suffix, ".cl") == 0) {
        status = ptx_compile_cl(path, options, option_count, clang, &text, &size, err);
        if (status == LW_OK)
            status = from_ptx(path, true, text, size, out, err);
        free(text);
        return status;
    }
    if (option_count != 0)
        return LW_FAIL(err, LW_EINPUT,
                       "%s: compiler options such as \"%.40s\" are for .cl sources only", path,
                       options[0]);
    status = lw_file_read(path, &text, &size, err);
    if (status != LW_OK)
        return status;
    if (strcmp(suffix, ".ptx") == 0)
        status = from_ptx(path, false, text, size, out, err);
    else if (strcmp(suffix, ".s") == 0)
        status = isa_assemble(path, text, size, out, err);
    else
        status = isa_object_read(path, (const uint8_t *)text, size, out, err);
    free(text);
    return status;
}
