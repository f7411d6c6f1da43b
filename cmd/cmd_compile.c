/* SPDX-License-Identifier: Apache-2.0 */
/* The commands lanewise compile, template, asm and dis. */
#include "cmd/cmd_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct options {
    const struct cmd *cmd;
    const char *output, *emit, *clang, *control;
    const char *host, *level, *warp;
    bool no_scalar, lat_barriers, strip, debuggable, keep_values, check_control, slices;
    const char *stack, *registers;
    struct cmd_flags flags;
    const char *const *paths; /* files on the command line; only the command compile accepts several */
    unsigned path_count;
};

static enum lw_status take(void *context, unsigned option, const char *value,
                           struct lw_error *err)
{
    struct options *o = context;
    const char *name = o->cmd->options[option].name;
    enum lw_status status = LW_OK;

    if (cmd_flags_take(&o->flags, name, value, &status, err))
        return status;
    if (strcmp(name, "output") == 0)
        o->output = value;
    else if (strcmp(name, "control") == 0)
        o->control = value;
    else if (strcmp(name, "emit") == 0)
        o->emit = value;
    else if (strcmp(name, "clang") == 0 || strcmp(name, "compiler") == 0)
        o->clang = value;
    else if (strcmp(name, "host") == 0)
        o->host = value;
    else if (strcmp(name, "level") == 0)
        o->level = value;
    else if (strcmp(name, "warp") == 0)
        o->warp = value;
    else if (strcmp(name, "stack") == 0)
        o->stack = value;
    else if (strcmp(name, "registers") == 0)
        o->registers = value;
    else if (strcmp(name, "check-control") == 0)
        o->check_control = true;
    else if (strcmp(name, "no-scalar") == 0)
        o->no_scalar = true;
    else if (strcmp(name, "lat-barriers") == 0)
        o->lat_barriers = true;
    else if (strcmp(name, "slices") == 0)
        o->slices = true;
    else if (strcmp(name, "strip") == 0)
        o->strip = true;
    else if (strcmp(name, "debuggable") == 0)
        o->debuggable = true;
    else if (strcmp(name, "values") == 0)
        o->keep_values = true;
    return LW_OK;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    return n > m && strcmp(path + n - m, suffix) == 0;
}

/* Returns the default name of the object file: for dir/saxpy.cl it is saxpy.lwo, in the current folder. */
static const char *object_name(struct options *o, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');

    return lw_arena_printf(&o->flags.arena, "%.*s.lwo",
                           (int)(dot != NULL ? (size_t)(dot - base) : strlen(base)), base);
}

static int write_object(struct options *o, const char *path, const struct isa_object *object)
{
    const char *output = o->output != NULL ? o->output : object_name(o, path);
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct lw_error err;
    int status;

    if (isa_object_write(object, &bytes, &size, &err) != LW_OK)
        return cmd_error(&err);
    status = cmd_write(output, bytes, size);
    free(bytes);
    return status;
}

/** Ends a comment of the assembly, which begins at @start of @out. Replaces control characters by ?, because names may
 *  contain any character, and the comment must stay on one line. */
static void end_comment(struct lw_buffer *out, size_t start)
{
    for (; start < out->size; start++)
        if ((unsigned char)out->text[start] < ' ')
            out->text[start] = '?';
    lw_put(&out->sink, "\n");
}

/** Writes a comment for each kernel that says how it can observe the order of threads, or why it was not translated. */
static void put_orders(const struct isa_object *object, struct lw_buffer *out)
{
    struct isa_order_analysis *orders = isa_object_orders(object);

    for (unsigned i = 0; orders != NULL && i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];
        size_t start = out->size;

        if (!f->kernel)
            continue;
        lw_put(&out->sink, "# kernel ");
        lnc_names_put(f->name, &out->sink);
        lw_put(&out->sink, ": ");
        isa_order_print(object, &orders[i], &out->sink);
        end_comment(out, start);
    }
    free(orders);
    for (unsigned i = 0; i < object->refusal_count; i++) {
        size_t start = out->size;

        lw_printf(&out->sink, "# kernel %s was not translated: %s", object->refusals[i].name,
                  object->refusals[i].message);
        end_comment(out, start);
    }
}

static int write_assembly(struct options *o, const struct isa_object *object)
{
    struct lw_buffer text;
    int status;

    lw_buffer_init(&text);
    put_orders(object, &text);
    isa_disassemble(object, &text.sink);
    status = cmd_write(o->output, text.text, text.size);
    lw_buffer_fini(&text);
    return status;
}

/** Parses the command line into @o. Sets *path to the file, or to NULL if there is none or after an error or help. Returns
 *  an exit status. */
static int operand(const struct cmd *cmd, struct options *o, int argc, char **argv,
                   const char **path)
{
    int status, operands;

    *o = (struct options){.cmd = cmd, .emit = "obj"};
    lw_arena_init(&o->flags.arena);
    operands = cmd_parse(cmd, argc, argv, take, o, &status);
    *path = NULL;
    o->paths = (const char *const *)argv + 1;
    o->path_count = operands > 0 ? (unsigned)operands : 0;
    if (operands == 1 || (operands > 1 && cmd->run == cmd_compile))
        *path = argv[1];
    else if (operands == 0 && o->host == NULL)
        status = cmd_wrong_usage(cmd, "expected a file: give %s", cmd->operands);
    else if (operands > 1)
        status = cmd_wrong_usage(cmd, "expected only one file");
    return status;
}

int cmd_asm(const struct cmd *cmd, int argc, char **argv)
{
    struct isa_object *object = NULL;
    struct options o;
    struct lw_error err;
    const char *path;
    int status = operand(cmd, &o, argc, argv, &path);
    bool keep = o.control != NULL && strcmp(o.control, "keep") == 0;

    if (path == NULL)
        goto cleanup;
    if (o.control != NULL && !keep && strcmp(o.control, "auto") != 0)
        status = cmd_wrong_usage(cmd, "--control: expected auto or keep, found \"%.40s\"", o.control);
    else if (!has_suffix(path, ".s"))
        status = cmd_wrong_usage(cmd, "%s: expected a .s file; for .cl, .cu, .spv and .ptx files use \"lanewise compile\"",
                                 path);
    else if (lnc_object_assemble(path, keep ? ISA_ASM_KEEP : ISA_ASM_AUTO, &object, &err) != LW_OK)
        status = cmd_error(&err);
    else
        status = write_object(&o, path, object);
    isa_object_destroy(object);
cleanup:
    lw_arena_fini(&o.flags.arena);
    return status;
}

/** Assembles a kernel with the instruction @text. If @text is only a mnemonic, chooses valid operands and modifiers. */
static enum lw_status host_object(const char *text, struct isa_object **object,
                                  struct lw_error *err)
{
    struct lw_buffer source;
    struct isa_insn insn;
    enum isa_op op = isa_op_find(text, strlen(text));
    enum lw_status status;

    lw_buffer_init(&source);
    lw_put(&source.sink, ".kernel host\n");
    if (op != ISA_OP_NONE) {
        isa_insn_example(&insn, op);
        isa_insn_print(&insn, ISA_CODE_BASE, NULL, NULL, &source.sink);
    } else {
        lw_put(&source.sink, text);
    }
    lw_put(&source.sink, "\nexit\n.end\n");
    status = isa_assemble("--host", source.text, source.size, object, err);
    lw_buffer_fini(&source);
    return status;
}

static int print_host(struct options *o)
{
    struct isa_object *object = NULL;
    struct emu_config config;
    struct lw_buffer text;
    struct lw_error err;
    enum lw_status got = LW_OK;
    int status;

    lw_buffer_init(&text);
    emu_config_default(&config);
    if (o->level != NULL)
        got = cmd_number("level", o->level, 0, 4, &config.level, &err);
    if (got == LW_OK && o->warp != NULL)
        got = cmd_number("warp", o->warp, 4, 64, &config.warp_width, &err);
    if (got == LW_OK)
        got = host_object(o->host, &object, &err);
    if (got == LW_OK)
        got = emu_host_print(object, &config, &text.sink, &err);
    status = got != LW_OK ? cmd_error(&err) : cmd_write(o->output, text.text, text.size);
    isa_object_destroy(object);
    lw_buffer_fini(&text);
    return status;
}

/** Writes a list of the instructions that may issue too early by their control fields, or a line that says that there are
 *  none. Returns CMD_WRONG if there are some. */
static int check_control(const struct isa_object *object, const char *path, const char *output)
{
    struct lw_buffer text;
    struct lw_error err;
    unsigned findings = 0;
    int status;

    lw_buffer_init(&text);
    enum lw_status got = isa_control_count(object, &findings, &text.sink, &err);
    if (got == LW_OK)
        lw_printf(&text.sink, "%s: no instruction can issue before the values that it reads are ready\n", path);
    status = got != LW_OK && got != LW_EFORMAT ? cmd_error(&err) : cmd_write(output, text.text, text.size);
    lw_buffer_fini(&text);
    return status != CMD_FINE ? status : got == LW_OK ? CMD_FINE : CMD_WRONG;
}

/** Prints the object's address slices; computes them first if the object has none. */
static int print_slices(struct isa_object *object, const char *output)
{
    struct lw_buffer text;
    struct lw_error err;
    int status;

    if (object->slice_count == 0 && isa_object_slice(object, &err) != LW_OK)
        return cmd_error(&err);
    lw_buffer_init(&text);
    isa_slices_print(object, &text.sink);
    status = cmd_write(output, text.text, text.size);
    lw_buffer_fini(&text);
    return status;
}

int cmd_dis(const struct cmd *cmd, int argc, char **argv)
{
    struct isa_object *object = NULL;
    struct options o = {.host = NULL};
    struct lw_error err;
    const char *path;
    int status = operand(cmd, &o, argc, argv, &path);

    if (o.host != NULL && path == NULL && status == CMD_FINE) {
        status = print_host(&o);
        goto cleanup;
    }
    if (o.host != NULL && path != NULL) {
        status = cmd_wrong_usage(cmd, "--host takes an instruction as its operand: remove the file");
        goto cleanup;
    }
    if (path == NULL)
        goto cleanup;
    if (lnc_object_load(path, NULL, 0, NULL, &object, &err) != LW_OK)
        status = cmd_error(&err);
    else if (o.slices)
        status = print_slices(object, o.output);
    else
        status = o.check_control ? check_control(object, path, o.output) : write_assembly(&o, object);
    isa_object_destroy(object);
cleanup:
    lw_arena_fini(&o.flags.arena);
    return status;
}

/** Changes the relative names of the program and in its options, because in the launch file they are relative to the folder
 *  of the launch file. */
static enum lw_status name_files(struct options *o, const char **path, const char **flags, struct lw_error *err)
{
    const char *way = lnc_way_back(o->output, &o->flags.arena);

    memcpy(flags, o->flags.flag, o->flags.count * sizeof *flags);
    if (way != NULL && **path != '/')
        *path = lw_arena_printf(&o->flags.arena, "%s%s", way, *path);
    if (way == NULL || *path == NULL || !lnc_options_relocate(flags, o->flags.count, "", way, &o->flags.arena))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the names of files for %s", o->output);
    return LW_OK;
}

/** Loads the program at @path. Compiles a source with debug information, for the names and types of parameters; if that fails,
 *  compiles the source without debug information. */
static enum lw_status load_described(struct options *o, const char *path,
                                     struct isa_object **object, struct lw_error *err)
{
    const char *const *more = lnc_debug_options(path, o->clang);
    const char *flags[LW_COUNT_OF(o->flags.flag) + 3];
    unsigned count = o->flags.count;

    if (!ptx_is_compiled(path))
        return lnc_object_load(path, o->flags.flag, o->flags.count, NULL, object, err);
    memcpy(flags, o->flags.flag, count * sizeof *flags);
    for (unsigned i = 0; i < 3 && more[i] != NULL; i++)
        flags[count++] = more[i];
    if (lnc_object_load(path, flags, count, o->clang, object, err) == LW_OK)
        return LW_OK;
    return lnc_object_load(path, o->flags.flag, o->flags.count, o->clang, object, err);
}

int cmd_template(const struct cmd *cmd, int argc, char **argv)
{
    struct isa_object *object = NULL;
    struct options o;
    struct lw_buffer text;
    struct lw_error err;
    const char *path, *source, *placed[LW_COUNT_OF(o.flags.flag)];
    bool file;
    int status = operand(cmd, &o, argc, argv, &path);

    lw_buffer_init(&text);
    if (path == NULL)
        goto cleanup;
    source = path;
    file = o.output != NULL && strcmp(o.output, "-") != 0;
    if (file && access(o.output, F_OK) == 0) {
        status = cmd_wrong_usage(cmd, "%s: the file exists and would be overwritten: choose another name, or remove it",
                                 o.output);
        goto cleanup;
    }
    memcpy(placed, o.flags.flag, o.flags.count * sizeof *placed);
    if (file && name_files(&o, &source, placed, &err) != LW_OK) {
        status = cmd_error(&err);
        goto cleanup;
    }
    if (load_described(&o, path, &object, &err) != LW_OK)
        status = cmd_open_error(&err, o.clang);
    else if (lnc_template_print(object, source, placed, o.flags.count, o.clang, &text.sink,
                                &err) != LW_OK)
        status = cmd_error(&err);
    else
        status = cmd_write(o.output, text.text, text.size);
    isa_object_destroy(object);
cleanup:
    lw_buffer_fini(&text);
    lw_arena_fini(&o.flags.arena);
    return status;
}

/** Warns if the object has no kernels. As with other compilers this is no error, but nothing can be launched. */
static void warn_without_kernels(const struct options *o, const struct isa_object *object)
{
    for (unsigned i = 0; i < object->function_count; i++)
        if (object->functions[i].kernel)
            return;
    fprintf(stderr, "warning: %s: there is no kernel to launch in %s; a kernel is "
            LNC_KERNEL_WORDS "\n",
            o->paths[0], o->path_count == 1 ? "it" : "these files");
}

int cmd_compile(const struct cmd *cmd, int argc, char **argv)
{
    static const char *const kinds[] = {"obj", "ptx", "asm", "cfg"};
    struct isa_object *object = NULL;
    struct ptx_options options;
    struct lw_file_sink notes;
    struct lw_buffer graph;
    struct options o;
    struct lw_error err;
    const char *path, *near = NULL;
    const char **changed = NULL;
    char *ptx = NULL;
    size_t size = 0;
    unsigned kind = 0;
    enum lw_status got = LW_OK;
    int status = operand(cmd, &o, argc, argv, &path);

    lw_buffer_init(&graph);
    if (path == NULL)
        goto cleanup;
    while (kind < LW_COUNT_OF(kinds) && strcmp(kinds[kind], o.emit) != 0)
        kind++;
    if (kind == LW_COUNT_OF(kinds)) {
        near = lw_suggest(o.emit, kinds, kind, sizeof *kinds);
        status = cmd_wrong_usage(cmd, "--emit: expected obj, ptx, asm or cfg, found \"%s\"%s%s%s",
                                 o.emit, near != NULL ? "; did you mean \"" : "",
                                 near != NULL ? near : "", near != NULL ? "\"?" : "");
        goto cleanup;
    }
    ptx_options_default(&options);
    options.no_scalar = o.no_scalar;
    options.lat_barriers = o.lat_barriers;
    options.keep_values = o.keep_values;
    lw_file_sink_init(&notes, stderr);
    options.notes = &notes.sink;
    if (o.stack != NULL)
        got = cmd_number("stack", o.stack, 1, 1u << 22, &options.stack_bytes, &err);
    if (got == LW_OK && o.registers != NULL)
        got = cmd_number("registers", o.registers, 16, 255, &options.vector_registers, &err);
    size_t flag_count = o.flags.count;
    if (got == LW_OK && o.debuggable && o.path_count == 1)
        got = lnc_options_debug(path, o.clang, o.flags.flag, flag_count, &changed, &flag_count, &err);
    if (got != LW_OK) {
        /* the message is already in @err */
    } else if (o.path_count > 1) {
        if (kind == 1 || kind == 3)
            got = LW_FAIL(&err, LW_EUSAGE, "--emit %s: expected only one file", o.emit);
        else
            got = lnc_object_link(o.paths, o.path_count, o.flags.flag, o.flags.count, o.clang, o.debuggable, &options,
                                  &notes.sink, &object, &err);
    } else if (ptx_is_compiled(path)) {
        got = ptx_compile(path, changed != NULL ? changed : o.flags.flag, flag_count, o.clang, &ptx, &size, &notes.sink,
                          &err);
    } else if (has_suffix(path, ".ptx")) {
        if (o.flags.count != 0)
            got = LW_FAIL(&err, LW_EUSAGE, "%s: compiler options are for .cl and .cu sources only", path);
        else
            got = lw_file_read(path, &ptx, &size, &err);
    } else {
        /* "compile" also accepts .s and .lwo files, although they need no compiler; lnc_object_load_as() refuses files with
         * other suffixes. */
        if (kind == 1 || kind == 3)
            got = LW_FAIL(&err, LW_EUSAGE, "%s: --emit %s needs a .cl, .cu, .spv or .ptx file", path,
                          o.emit);
        else
            got = lnc_object_load_as(path, o.flags.flag, o.flags.count, o.clang, &options, NULL, &object, &err);
    }
    if (got == LW_OK && ptx != NULL && kind == 3) {
        got = ptx_print_cfg(path, ptx, size, &graph.sink, &err);
    } else if (got == LW_OK && ptx != NULL && kind != 1) {
        options.from_source = ptx_is_compiled(path);
        got = ptx_translate(path, ptx, size, &options, &object, &err);
    }
    if (got == LW_OK && object != NULL)
        warn_without_kernels(&o, object);
    if (object != NULL && o.strip)
        object->debug = NULL; /* the object's arena owns this memory, so nothing is freed here */
    if (got == LW_OK && object != NULL && o.slices)
        got = isa_object_slice(object, &err);
    if (got != LW_OK)
        status = cmd_open_error(&err, o.clang);
    else if (kind == 0)
        status = write_object(&o, path, object);
    else if (kind == 1)
        status = cmd_write(o.output, ptx, size);
    else if (kind == 2)
        status = write_assembly(&o, object);
    else
        status = cmd_write(o.output, graph.text, graph.size);
    isa_object_destroy(object);
cleanup:
    free(ptx);
    free(changed);
    lw_buffer_fini(&graph);
    lw_arena_fini(&o.flags.arena);
    return status;
}
