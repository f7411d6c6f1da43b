/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles, assembles or reads programs to objects. The suffix of a program's name gives its kind. */
#include "launch/launch_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static enum lw_status from_ptx(const char *path, bool compiled, const struct ptx_options *translation,
                               const char *text, size_t size, struct isa_object **out,
                               struct lw_error *err)
{
    struct ptx_options options;

    if (translation != NULL)
        options = *translation;
    else
        ptx_options_default(&options);
    options.from_source = compiled;
    return ptx_translate(path, text, size, &options, out, err);
}

/* Fails for assembly with code outside of functions. The assembler accepts such code for users who place it themselves, but
 * no launch can run it. */
static enum lw_status refuse_loose_code(const char *path, const struct isa_object *object,
                                        struct lw_error *err)
{
    uint32_t at = 0;
    const struct isa_line *row;

    for (bool moved = true; moved;) { /* repeats until nothing changes, because functions may be in any order */
        moved = false;
        for (unsigned i = 0; i < object->function_count; i++) {
            const struct isa_function *f = &object->functions[i];

            if (f->count != 0 && at >= f->first && at - f->first < f->count) {
                at = f->first + f->count;
                moved = true;
            }
        }
    }
    if (at >= object->text_count) {
        if (object->text_count == 0 && object->function_count == 0 && object->variable_count == 0)
            return LW_FAIL(err, LW_EINPUT, "%s:1: the file is empty: expected .kernel or .func, instructions and .end",
                           path);
        return LW_OK;
    }
    row = isa_object_line_at(object, at);
    return LW_FAIL(err, LW_EINPUT, "%s:%u: code outside any function: write .kernel or .func "
                                   "before it and .end after it", path,
                   row != NULL ? row->line : 1);
}

static enum lw_status from_assembly(const char *path, const char *text, size_t size,
                                    enum isa_asm_control control, struct isa_object **out, struct lw_error *err)
{
    enum lw_status status = isa_assemble_as(path, text, size, control, out, err);

    if (status == LW_OK)
        status = refuse_loose_code(path, *out, err);
    if (status != LW_OK) {
        isa_object_destroy(*out);
        *out = NULL;
    }
    return status;
}

enum lw_status lnc_object_assemble(const char *path, enum isa_asm_control control, struct isa_object **out,
                                   struct lw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    enum lw_status status = lw_file_read(path, &text, &size, err);

    if (status == LW_OK)
        status = from_assembly(path, text, size, control, out, err);
    free(text);
    return status;
}

enum lw_status lnc_object_load(const char *path, const char *const *options,
                               size_t option_count, const char *clang,
                               struct isa_object **out, struct lw_error *err)
{
    return lnc_object_load_as(path, options, option_count, clang, NULL, NULL, out, err);
}

static enum lw_status check_suffix(const char *path, size_t option_count,
                                   const char *const *options, struct lw_error *err)
{
    const char *suffix = lnc_suffix(path);

    if (ptx_is_compiled(path))
        return LW_OK;
    if (lnc_kind_refuse(path, err) != LW_OK)
        return err != NULL ? err->status : LW_EUNSUPP;
    if (*suffix == '\0')
        return LW_FAIL(err, LW_EINPUT, "%s: the file name has no suffix: expected .cl, .cu, .spv, .ptx, .s or .lwo", path);
    if (strcmp(suffix, ".ptx") != 0 && strcmp(suffix, ".s") != 0 && strcmp(suffix, ".lwo") != 0)
        return LW_FAIL(err, LW_EINPUT,
                       "%s: the suffix \"%s\" is not known: expected .cl, .cu, .spv, .ptx, .s or .lwo",
                       path, suffix);
    if (option_count != 0)
        return LW_FAIL(err, LW_EINPUT,
                       "%s: compiler options such as \"%.40s\" are for .cl and .cu sources only", path,
                       options[0]);
    return LW_OK;
}

/** Makes an object from the contents of a .ptx, .s or .lwo file. */
static enum lw_status from_text(const char *name, const char *text, size_t size,
                                const struct ptx_options *translation, struct isa_object **out,
                                struct lw_error *err)
{
    const char *suffix = lnc_suffix(name);

    if (strcmp(suffix, ".ptx") == 0)
        return from_ptx(name, false, translation, text, size, out, err);
    if (translation != NULL && translation->lat_barriers)
        return LW_FAIL(err, LW_EINPUT, "%s: LAT barriers (--lat-barriers, or lat_barriers in a launch file) are "
                                       "inserted only when .cl, .cu, .spv and .ptx sources are translated; in assembly, write "
                                       "bar.synch_partner before a load or store", name);
    if (strcmp(suffix, ".s") == 0)
        return from_assembly(name, text, size, ISA_ASM_AUTO, out, err);
    return isa_object_read(name, (const uint8_t *)text, size, out, err);
}

/** Calls ptx_compile() or, if @linked is set, ptx_compile_module(), with @options and an option that @translation may add. */
static enum lw_status compile(const char *path, bool linked, const char *const *options, size_t option_count,
                              const char *clang, const struct ptx_options *translation, char **text, size_t *size, struct lw_sink *words,
                              struct lw_error *err)
{
    const char **all = malloc((option_count + 1) * sizeof *all);
    enum lw_status status;

    if (all == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu options of the compiler", option_count);
    for (size_t i = 0; i < option_count; i++)
        all[i] = options[i];
    if (translation != NULL && translation->no_values)
        all[option_count++] = PTX_NO_VALUES;
    status = linked ? ptx_compile_module(path, all, option_count, clang, text, size, words, err)
                    : ptx_compile(path, all, option_count, clang, text, size, words, err);
    free(all);
    return status;
}

enum lw_status lnc_object_load_as(const char *path, const char *const *options,
                                  size_t option_count, const char *clang,
                                  const struct ptx_options *translation, struct lw_sink *words,
                                  struct isa_object **out, struct lw_error *err)
{
    bool compiled = ptx_is_compiled(path);
    char *text = NULL;
    size_t size = 0;
    enum lw_status status = check_suffix(path, option_count, options, err);

    if (status == LW_OK && compiled)
        status = compile(path, false, options, option_count, clang, translation, &text, &size, words, err);
    else if (status == LW_OK)
        status = lw_file_read(path, &text, &size, err);
    if (status == LW_OK)
        status = compiled ? from_ptx(path, true, translation, text, size, out, err)
                          : from_text(path, text, size, translation, out, err);
    if (status == LW_OK && strcmp(lnc_suffix(path), ".lwo") == 0)
        lnc_sources_find(*out, path);
    free(text);
    return status;
}

enum lw_status lnc_object_load_text(const char *name, const char *text, size_t size,
                                    const char *const *options, size_t option_count,
                                    const char *clang, const struct ptx_options *translation, struct lw_sink *words,
                                    struct isa_object **out, struct lw_error *err)
{
    enum lw_status status = check_suffix(name, option_count, options, err);
    size_t ptx_size = 0;
    char *ptx = NULL;

    if (status != LW_OK)
        return status;
    if (!ptx_is_compiled(name))
        return from_text(name, text, size, translation, out, err);
    status = ptx_compile_text(name, text, size, options, option_count, clang, &ptx, &ptx_size,
                              words, err);
    if (status == LW_OK)
        status = from_ptx(name, true, translation, ptx, ptx_size, out, err);
    free(ptx);
    return status;
}

/** Returns true if a compiler option sets the optimisation or debug level. Sets *@two to whether the next option is its
 *  operand. */
static bool is_of_debugging(const char *option, bool *two)
{
    static const char *const words[] = {"-lineinfo", "--generate-line-info", "-G", "--device-debug", "-g", "-g0",
                                        "-g1", "-g2", "-g3", "-gmlt", "-gline-tables-only", "-gline-directives-only",
                                        "-dopt", "--dopt", "--cuda-noopt-device-debug", "-cl-opt-disable"};

    *two = strcmp(option, "--optimize") == 0 || strcmp(option, "-dopt") == 0 || strcmp(option, "--dopt") == 0;
    if (strncmp(option, "-O", 2) == 0 || strncmp(option, "--optimize", 10) == 0 ||
        strncmp(option, "-dopt=", 6) == 0 || strncmp(option, "--dopt=", 7) == 0)
        return true;
    for (size_t i = 0; i < LW_COUNT_OF(words); i++)
        if (strcmp(option, words[i]) == 0)
            return true;
    return false;
}

/** Returns true if a compiler option passes its operand, which may be the next option, to another program or pass. */
static bool passes_output(const char *option)
{
    return strcmp(option, "-mllvm") == 0 || strncmp(option, "-Xclang", 7) == 0 || strncmp(option, "-Xptxas", 7) == 0 ||
           strncmp(option, "-Xcompiler", 10) == 0 || strcmp(option, "-Xcuda-ptxas") == 0;
}

enum lw_status lnc_options_debug(const char *path, const char *compiler, const char *const *options,
                                 size_t option_count, const char ***out, size_t *count, struct lw_error *err)
{
    const char *const *more = lnc_debug_options(path, compiler);
    const char **all;
    bool two = false;

    if (!ptx_is_compiled(path))
        return LW_FAIL(err, LW_EUSAGE, "-g has no effect on %s, which is not compiled: compile its source with -g, or "
                                       "remove -g", path);
    all = malloc((option_count + 4) * sizeof *all);
    if (all == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu options of the compiler", option_count);
    *count = 0;
    for (size_t i = 0; i < option_count; i++) {
        if (passes_output(options[i]) && i + 1 < option_count && strchr(options[i], '=') == NULL)
            all[(*count)++] = options[i++];
        else if (is_of_debugging(options[i], &two)) {
            i += two;
            continue;
        }
        all[(*count)++] = options[i];
    }
    for (; *more != NULL; more++)
        all[(*count)++] = *more;
    *out = all;
    return LW_OK;
}

/* Gets the PTX of one of several sources. @debuggable: as for lnc_object_link(). The caller frees out->text. */
static enum lw_status link_text(const char *path, const char *const *options, size_t option_count,
                                const char *clang, bool debuggable, const struct ptx_options *translation,
                                struct lw_sink *words, struct ptx_source *out, struct lw_error *err)
{
    size_t n = strlen(path);
    enum lw_status status = LW_OK;
    const char **changed = NULL;
    char *text = NULL;

    out->name = path;
    out->from_source = ptx_is_compiled(path);
    if (out->from_source && debuggable)
        status = lnc_options_debug(path, clang, options, option_count, &changed, &option_count, err);
    if (status == LW_OK && out->from_source)
        status = compile(path, true, changed != NULL ? changed : options, option_count, clang, translation, &text,
                         &out->size, words, err);
    else if (status != LW_OK)
        ; /* lnc_options_debug() has set the message */
    else if (n < 5 || strcmp(path + n - 4, ".ptx") != 0)
        status = LW_FAIL(err, LW_EINPUT, "%s: only .cl, .cu, .spv and .ptx sources can be linked", path);
    else
        status = lw_file_read(path, &text, &out->size, err);
    free(changed);
    out->text = text;
    return status;
}

enum lw_status lnc_object_link(const char *const *paths, size_t count,
                               const char *const *options, size_t option_count,
                               const char *clang, bool debuggable, const struct ptx_options *translation,
                               struct lw_sink *words, struct isa_object **out,
                               struct lw_error *err)
{
    struct ptx_source *sources = calloc(count + 1, sizeof *sources);
    enum lw_status status = LW_OK;
    bool compiles = false;

    if (sources == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu sources", count);
    for (size_t i = 0; i < count; i++)
        compiles |= ptx_is_compiled(paths[i]);
    if (option_count != 0 && !compiles)
        status = LW_FAIL(err, LW_EINPUT,
                         "%s: compiler options such as \"%.40s\" are for .cl and .cu sources only",
                         paths[0], options[0]);
    else if (debuggable && !compiles)
        status = lnc_options_debug(paths[0], clang, NULL, 0, NULL, NULL, err); /* fails, because paths[0] is not
                                                                                * compiled */
    for (size_t i = 0; i < count && status == LW_OK; i++)
        status = link_text(paths[i], options, option_count, clang, debuggable, translation, words, &sources[i], err);
    if (status == LW_OK)
        status = ptx_translate_all(sources, count, translation, out, err);
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)sources[i].text);
    free(sources);
    return status;
}

/** Joins the compiler options of the launch file and those of the session, which come last and so take precedence. The
 *  caller frees the array. */
static enum lw_status join_flags(const struct lnc_file *file, const struct lnc_options *options,
                                 const char ***out, size_t *count, struct lw_error *err)
{
    size_t more = options != NULL ? options->flag_count : 0;
    bool compiled = file->source_count == 0 && ptx_is_compiled(file->source);
    const char **flags;

    for (size_t i = 0; i < file->source_count; i++)
        compiled |= ptx_is_compiled(file->sources[i]);
    if (more != 0 && !compiled)
        return LW_FAIL(err, LW_EUSAGE, "option \"%.80s\" is for the compiler of .cl and .cu sources, but %s%s is not "
                                       "compiled: remove the option", options->flags[0],
                       file->source_count != 0 ? file->sources[0] : file->source,
                       file->source_count > 1 ? " (like the other files)" : "");
    *count = file->option_count + more;
    flags = malloc((*count + 1) * sizeof *flags);
    if (flags == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for %zu options of the compiler", *count);
    for (size_t i = 0; i < *count; i++)
        flags[i] = i < file->option_count ? file->options[i] : options->flags[i - file->option_count];
    *out = flags;
    return LW_OK;
}

enum lw_status lnc_source_load(const struct lnc_file *file, const struct lnc_options *options,
                               struct isa_object **out, struct lw_error *err)
{
    const char *clang = options != NULL && options->clang != NULL ? options->clang
                                                                  : file->compiler;
    struct lw_sink *words = options != NULL ? options->words : NULL;
    const bool debuggable = options != NULL && options->debuggable;
    const char **flags = NULL;
    size_t flag_count = 0;
    enum lw_status status = join_flags(file, options, &flags, &flag_count, err);

    if (status == LW_OK && debuggable && file->source_count == 0) {
        const char **joined = flags;

        status = lnc_options_debug(file->source, clang, joined, flag_count, &flags, &flag_count, err);
        free(joined);
    }
    if (status != LW_OK)
        return status;
    struct ptx_options translation;

    ptx_options_default(&translation);
    translation.stack_bytes = file->stack_bytes;
    translation.keep_values = file->keep_values || (options != NULL && options->keep_values);
    translation.no_values = options != NULL && options->no_values;
    translation.lat_barriers = file->lat_barriers || (options != NULL && options->lat_barriers);
    if (file->source_count != 0)
        status = lnc_object_link(file->sources, file->source_count, flags, flag_count, clang, debuggable,
                                 &translation, words, out, err);
    else
        status = lnc_object_load_as(file->source, flags, flag_count, clang, &translation, words, out, err);
    free(flags);
    if (status == LW_OK || err == NULL)
        return status;
    /* Messages of the compiler and the assembler have a location in the source. For other errors, such as a missing file or
     * an unknown suffix, the location in the launch file is added. */
    const struct lw_yaml *node = file->source_node;
    const char *const *source = file->source_count != 0 ? file->sources : &file->source;

    for (node = file->source_count != 0 ? node->first : node; node != NULL;
         node = node->next, source++) {
        size_t size = strlen(*source);

        if (strncmp(err->text, *source, size) == 0 && err->text[size] == ':' &&
            err->text[size + 1] == ' ')
            return lw_error_prefix(err, "%s:%u", lw_yaml_name(file->doc),
                                   node->key != NULL ? node->key_line : node->line);
        if (file->source_count == 0)
            break;
    }
    return status;
}

/**
 * Returns the name of a folder or file in a compiler option; "": the name is the next option; NULL: the option has no such
 * name.
 * @file  set to true if the name is that of a header, for which the compiler searches several folders
 */
static const char *named_by(const char *option, bool *file)
{
    static const struct {
        const char *name;
        bool file;
    } known[] = {{"-I", false},         {"-isystem", false}, {"-iquote", false},
                 {"-idirafter", false}, {"-include", true},  {"-imacros", true},
                 {"--include-path=", false}, {"--include-directory=", false}};

    for (size_t i = 0; i < LW_COUNT_OF(known); i++) {
        size_t n = strlen(known[i].name);

        if (strncmp(option, known[i].name, n) != 0)
            continue;
        *file = known[i].file;
        return option + n;
    }
    return NULL;
}

const char *lnc_way_back(const char *path, struct lw_arena *arena)
{
    const char *slash = strrchr(path, '/'), *way = NULL;
    char *folder = lw_arena_strndup(arena, path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    char *here = getcwd(NULL, 0), *there = folder != NULL ? realpath(*folder != '\0' ? folder : ".", NULL) : NULL;
    const size_t n = here != NULL ? strlen(here) : 0;

    if (folder != NULL && *folder == '\0') {
        way = "";
    } else if (there != NULL && here != NULL && n > 1 && strncmp(there, here, n) == 0 && (there[n] == '/' || there[n] == '\0')) {
        way = "";
        for (const char *c = there + n; way != NULL && *c != '\0'; c++)
            if (*c == '/')
                way = lw_arena_printf(arena, "../%s", way);
    } else if (folder != NULL && here != NULL) {
        way = lw_arena_printf(arena, n > 1 ? "%s/" : "%s", here);
    }
    free(here);
    free(there);
    return way;
}

bool lnc_options_relocate(const char **options, size_t count, const char *from, const char *folder,
                       struct lw_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        bool file = false;
        const char *name = named_by(options[i], &file);
        char *placed, *found;

        if (name != NULL && *name == '\0' && i + 1 < count)
            name = options[++i];
        /* Names that begin with "/", with "=" (the compiler's own root) or with "-" (an option, as after -Xclang) remain
         * unchanged. */
        if (name == NULL || *folder == '\0' || strchr("/=-", *name) != NULL)
            continue;
        placed = lw_arena_printf(arena, "%.*s%s%s", (int)(name - options[i]), options[i], folder, name);
        found = lw_arena_printf(arena, "%s%s", from, name);
        if (placed == NULL || found == NULL)
            return false;
        if (!file || access(found, F_OK) == 0)
            options[i] = placed;
    }
    return true;
}
