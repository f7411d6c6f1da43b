/* SPDX-License-Identifier: Apache-2.0 */
/* Checks launches of a launch file against the program's kernels: arguments against parameters, the block
 * against its limits. */
#include "launch/launch_priv.h"

#include <stdio.h>

bool lnc_number_bits(const char *text, const struct isa_param *param, uint64_t *bits)
{
    unsigned size = param->size_bytes;
    const struct lnc_type *real = lnc_type_find(size == 2 ? "f16" : size == 4 ? "f32" : "f64");
    int64_t s;

    if (param->kind == ISA_PARAM_FLOAT)
        return (size == 2 || size == 4 || size == 8) && lnc_value_parse(real, text, bits);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    if (lw_parse_u64(text, bits))
        return (*bits & ~lw_mask(8 * size)) == 0;
    if (lw_parse_i64(text, &s)) {
        *bits = (uint64_t)s & lw_mask(8 * size);
        return s >= -(int64_t)(lw_mask(8 * size) >> 1) - 1;
    }
    return param->kind != ISA_PARAM_INTEGER && size >= 2 && lnc_value_parse(real, text, bits);
}

/** Prints what kind of value a parameter takes, if its source type is not known. */
static void put_kind(const struct isa_param *param, struct lw_sink *out)
{
    const unsigned bytes = param->size_bytes;

    if (param->kind == ISA_PARAM_POINTER)
        lw_put(out, param->space == ISA_SPACE_SHARED ? "__local memory" : "pointer");
    else if (param->kind == ISA_PARAM_FLOAT)
        lw_put(out, bytes == 2 ? "half" : bytes == 4 ? "float" : "double");
    else if (param->kind == ISA_PARAM_INTEGER && bytes == 8)
        lw_put(out, "pointer or integer of 8 bytes"); /* CUDA's compilers give no more information */
    else
        lw_printf(out, "%s of %u byte%s", param->kind == ISA_PARAM_INTEGER ? "integer" : "value", bytes, bytes == 1 ? "" : "s");
}

/** Prints name and type of a parameter: "'n' (uint)". Name and type come from the debug information of @described, if it has
 *  any, otherwise from the kernel. Names that compilers generate (`saxpy_param_1`) are omitted. */
static void put_parameter(const struct isa_object *described, const struct isa_function *kernel, unsigned index,
                          struct lw_sink *out)
{
    const struct isa_param *param = &kernel->params[index];
    const int64_t function = lnc_described_kernel(described, kernel);
    const int64_t die = function != ISA_NO_DIE ? isa_function_parameter(described->debug, function, index) : ISA_NO_DIE;
    const char *name = die != ISA_NO_DIE ? isa_die_name(described->debug, (uint32_t)die) : NULL;

    if (name == NULL)
        name = isa_param_name(NULL, kernel, index);
    if (name != NULL)
        lw_printf(out, "'%.60s' ", name);
    lw_put(out, "(");
    if (die != ISA_NO_DIE && param->kind == ISA_PARAM_POINTER && param->space == ISA_SPACE_SHARED)
        lw_put(out, "__local "); /* added here, because the DWARF type has no address space */
    if (die != ISA_NO_DIE)
        lnc_type_put(described->debug, isa_die_type(described->debug, (uint32_t)die), out);
    else
        put_kind(param, out);
    lw_put(out, ")");
}

/** Returns an object that has source types, for a message: @object or, if it has none, the source compiled again for a
 *  debugger. In that case sets *@loaded to the new object, which the caller destroys. */
static const struct isa_object *describe(const struct lnc_file *file, const struct lnc_options *options,
                                         const struct isa_object *object, const struct isa_function *kernel,
                                         struct isa_object **loaded)
{
    struct lnc_options debug_options = options != NULL ? *options : (struct lnc_options){0};

    *loaded = NULL;
    debug_options.words = NULL;
    debug_options.debuggable = true;
    if (lnc_described_kernel(object, kernel) != ISA_NO_DIE || file->source_count != 0 || !ptx_is_compiled(file->source) ||
        lnc_source_load(file, &debug_options, loaded, NULL) != LW_OK)
        return object;
    return *loaded;
}

/** Checks argument @index against its parameter. Errors: the message says what is wrong and what would be accepted; the
 *  caller adds the argument's name. */
static enum lw_status check_arg(const struct lnc_step *step, unsigned index, struct lw_error *err)
{
    const struct lnc_arg *arg = &step->args[index];
    const struct isa_param *param = &step->kernel->params[index];
    const unsigned bytes = param->size_bytes;
    const bool shared = param->kind == ISA_PARAM_POINTER && param->space == ISA_SPACE_SHARED;
    const bool pointer = param->kind == ISA_PARAM_POINTER && !shared;
    uint64_t bits;

    switch (arg->kind) {
    case LNC_ARG_BUFFER:
        if (shared)
            return LW_FAIL(err, LW_EINPUT, "expected the size of __local memory, such as {local: 1024} (--arg: "
                                           "local[1024]), found the buffer %.60s",
                           arg->buffer->name);
        if (bytes != 8)
            return LW_FAIL(err, LW_EINPUT, "expected a value of %u byte%s, found the buffer %.60s",
                           bytes, bytes == 1 ? "" : "s", arg->buffer->name);
        return LW_OK;
    case LNC_ARG_TEXTURE:
        return bytes == 8 && !shared ? LW_OK
                                     : LW_FAIL(err, LW_EINPUT, "a texture cannot be passed here: its handle has 8 "
                                                               "bytes, but the parameter has another size");
    case LNC_ARG_LOCAL:
        return shared ? LW_OK
                      : LW_FAIL(err, LW_EINPUT, "{local: ...} cannot be passed here: the parameter is not a pointer to "
                                                "__local memory");
    case LNC_ARG_TYPED:
        if (bytes == arg->size_bytes)
            return LW_OK;
        return LW_FAIL(err, LW_EINPUT, "expected a value of %u byte%s, found one of %u%s", bytes, bytes == 1 ? "" : "s", arg->size_bytes,
                       bytes > arg->size_bytes && arg->size_bytes > 8 && bytes - arg->size_bytes < 16
                           ? " (vectors are aligned to their size: add padding before them)" : "");
    case LNC_ARG_NUMBER:
        if (shared)
            return LW_FAIL(err, LW_EINPUT, "expected the size of __local memory, such as {local: %.40s} (--arg: "
                                           "local[%.40s])", arg->text, arg->text);
        if (pointer && strcmp(arg->text, "0") != 0)
            return LW_FAIL(err, LW_EINPUT, "expected the name of a buffer, found \"%.40s\"", arg->text);
        if (lnc_number_bits(arg->text, param, &bits))
            return LW_OK;
        if (param->kind == ISA_PARAM_INTEGER)
            return LW_FAIL(err, LW_EINPUT, "\"%.40s\" is not an integer of %u byte%s", arg->text, bytes, bytes == 1 ? "" : "s");
        return LW_FAIL(err, LW_EINPUT, "\"%.40s\" does not fit into %u byte%s: give its type, such as {f32: 1.5}",
                       arg->text, bytes, bytes == 1 ? "" : "s");
    case LNC_ARG_ITERATION:
        if (param->kind == ISA_PARAM_POINTER || param->kind == ISA_PARAM_FLOAT || bytes > 8)
            return LW_FAIL(err, LW_EINPUT, "{iteration: ...} cannot be passed here: the parameter is not an integer");
        return LW_OK;
    }
    return LW_OK;
}

static enum lw_status refuse_arg(const struct lnc_file *file, const struct isa_object *described, const struct lnc_step *step,
                                 unsigned index, const char *why, struct lw_error *err)
{
    struct lw_buffer label;
    enum lw_status status;

    lw_buffer_init(&label);
    put_parameter(described, step->kernel, index, &label.sink);
    status = lw_yaml_fail(file->doc, step->args[index].node, err, "argument %u %.160s of kernel '%.80s': %s", index + 1,
                          label.text != NULL ? label.text : "", step->entry, why);
    lw_buffer_fini(&label);
    return status;
}

static enum lw_status refuse_count(const struct lnc_file *file, const struct isa_object *described, const struct lnc_step *step,
                                   struct lw_error *err)
{
    const struct lw_yaml *args = lw_yaml_get(step->node, "args");
    const unsigned count = step->kernel->param_count;
    struct lw_buffer list;
    enum lw_status status;

    lw_buffer_init(&list);
    for (unsigned i = 0; i < count; i++) {
        lw_put(&list.sink, i != 0 ? ", " : ": ");
        if (list.size > 240) {
            lw_put(&list.sink, "...");
            break;
        }
        put_parameter(described, step->kernel, i, &list.sink);
    }
    status = lw_yaml_fail(file->doc, args != NULL ? args : step->node, err, "args: kernel '%.80s' takes %u argument%s%s; found %u",
                          step->entry, count, count == 1 ? "" : "s", list.text != NULL ? list.text : "", step->arg_count);
    lw_buffer_fini(&list);
    return status;
}

static enum lw_status bind_launch(const struct lnc_file *file, const struct lnc_options *options,
                                  const struct isa_object *object, struct lnc_step *step, struct lw_error *err)
{
    const struct lw_yaml_document *doc = file->doc;
    const struct isa_function *kernel = NULL;
    uint32_t threads = step->block[0] * step->block[1] * step->block[2];
    struct isa_object *loaded = NULL;
    enum lw_status status = LW_OK;
    struct lw_error why;

    if (lnc_kernel_named(object, file->source, step->entry, &kernel, &why) != LW_OK)
        return lw_yaml_fail(doc, lw_yaml_get(step->node, "entry"), err, "entry: %s", why.text);
    step->kernel = kernel;
    if (step->arg_count != kernel->param_count)
        status = refuse_count(file, describe(file, options, object, kernel, &loaded), step, err);
    for (unsigned i = 0; i < step->arg_count && status == LW_OK; i++)
        if (check_arg(step, i, &why) != LW_OK)
            status = refuse_arg(file, describe(file, options, object, kernel, &loaded), step, i, why.text, err);
    isa_object_destroy(loaded);
    if (status != LW_OK)
        return status;
    if (kernel->max_threads != 0 && threads > kernel->max_threads)
        return lw_yaml_fail(doc, lw_yaml_get(step->node, "block"), err,
                            "block: the block has %u threads, but at most %u are allowed by %s", threads,
                            kernel->max_threads, step->entry);
    for (unsigned i = 0; i < 3; i++)
        if (kernel->required_block[i] != 0 && kernel->required_block[i] != step->block[i])
            return lw_yaml_fail(doc, lw_yaml_get(step->node, "block"), err,
                                "block: %s was compiled for blocks of [%u, %u, %u], found [%u, "
                                "%u, %u]",
                                step->entry, kernel->required_block[0],
                                kernel->required_block[1], kernel->required_block[2],
                                step->block[0], step->block[1], step->block[2]);
    return LW_OK;
}

enum lw_status lnc_steps_bind(const struct lnc_file *file, const struct lnc_options *options, const struct isa_object *object,
                              struct lnc_step *step, struct lw_error *err)
{
    for (; step != NULL; step = step->next) {
        enum lw_status status = LW_OK;

        if (step->kind == LNC_LAUNCH)
            status = bind_launch(file, options, object, step, err);
        else if (step->kind == LNC_REPEAT)
            status = lnc_steps_bind(file, options, object, step->steps, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}

/* ---- regions of shared memory --------------------------------------------------------------- */

enum { REGION_ALIGN_LEAST = 16, REGION_ALIGN_MOST = 128 };

static uint64_t region_align(uint64_t bytes)
{
    const uint64_t part = bytes & (~bytes + 1);

    return part < REGION_ALIGN_LEAST ? REGION_ALIGN_LEAST : part > REGION_ALIGN_MOST ? REGION_ALIGN_MOST : part;
}

uint64_t lnc_local_layout(const struct isa_function *kernel, const uint64_t *bytes, uint64_t end, uint8_t *params)
{
    for (uint64_t align = REGION_ALIGN_MOST; align >= REGION_ALIGN_LEAST; align /= 2)
        for (unsigned i = 0; i < kernel->param_count; i++) {
            const struct isa_param *p = &kernel->params[i];

            if (bytes[i] == LNC_NO_REGION || region_align(bytes[i]) != align)
                continue;
            end = (end + align - 1) & ~(align - 1);
            memcpy(params + p->offset, &end, p->size_bytes < 8 ? p->size_bytes : 8);
            end += bytes[i];
        }
    return end;
}
