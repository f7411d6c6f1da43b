/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of a launch file against the program's kernels: arguments against parameters, the block against its limits. */
#include "launch/launch_priv.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes of a plain number in a parameter; false: cannot be. Where nobody told the parameter's
 * type, a number without a point or exponent is an integer. */
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

enum { LABEL_BYTES = 80 };
/* A parameter for messages: its name, but for those that compilers number (`saxpy_param_1`, not a
 * name of the source's) what it is. */
static const char *param_label(const struct isa_function *kernel, unsigned index, char *room)
{
    const struct isa_param *param = &kernel->params[index];
    size_t size = strlen(kernel->name);
    char number[24];

    snprintf(number, sizeof number, "_param_%u", index);
    if (param->name != NULL && (strncmp(param->name, kernel->name, size) != 0 ||
                                strcmp(param->name + size, number) != 0))
        return param->name;
    if (param->kind == ISA_PARAM_POINTER)
        return param->space == ISA_SPACE_SHARED ? "__local memory" : "a pointer";
    if (param->kind == ISA_PARAM_FLOAT)
        return param->size_bytes == 2 ? "a half" : param->size_bytes == 4 ? "a float" : "a double";
    if (param->kind == ISA_PARAM_INTEGER && param->size_bytes == 8)
        return "a pointer or an integer of 8 bytes"; /* CUDA's compilers tell no more */
    snprintf(room, LABEL_BYTES, param->kind == ISA_PARAM_INTEGER ? "an integer of %u byte%s"
                                                                  : "a value of %u byte%s",
             param->size_bytes, param->size_bytes == 1 ? "" : "s");
    return room;
}

static enum lw_status check_arg(const struct lnc_file *file, const struct lnc_step *step,
                                unsigned index, struct lw_error *err)
{
    const struct lw_yaml_document *doc = file->doc;
    const struct lnc_arg *arg = &step->args[index];
    const struct isa_param *param = &step->kernel->params[index];
    char room[LABEL_BYTES];
    const char *name = param_label(step->kernel, index, room);
    bool shared = param->kind == ISA_PARAM_POINTER && param->space == ISA_SPACE_SHARED;
    bool pointer = param->kind == ISA_PARAM_POINTER && !shared;
    uint64_t bits;

    switch (arg->kind) {
    case LNC_ARG_BUFFER:
        if (shared)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is __local memory: give its size, such "
                                "as {local: 1024}, not the buffer %s",
                                index + 1, name, step->entry, arg->buffer->name);
        if (param->size_bytes != 8)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is a value of %u bytes, not a buffer",
                                index + 1, name, step->entry, param->size_bytes);
        return LW_OK;
    case LNC_ARG_TEXTURE:
        if (param->size_bytes != 8 || shared)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is not 64 bits wide: no texture",
                                index + 1, name, step->entry);
        return LW_OK;
    case LNC_ARG_LOCAL:
        if (!shared)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is not __local memory: {local: ...} "
                                "does not fit",
                                index + 1, name, step->entry);
        return LW_OK;
    case LNC_ARG_TYPED:
        if (param->size_bytes != arg->size_bytes)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s has %u bytes, found a value of %u%s",
                                index + 1, name, step->entry, param->size_bytes, arg->size_bytes,
                                param->size_bytes > arg->size_bytes && arg->size_bytes > 8 &&
                                        param->size_bytes - arg->size_bytes < 16
                                    ? " (vectors lie at a multiple of their size: fill up before "
                                      "them)"
                                    : "");
        return LW_OK;
    case LNC_ARG_NUMBER:
        if (shared)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is __local memory: give its size, such "
                                "as {local: %s}",
                                index + 1, name, step->entry, arg->text);
        if (pointer && strcmp(arg->text, "0") != 0)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is a pointer: name a buffer, found "
                                "\"%.40s\"",
                                index + 1, name, step->entry, arg->text);
        if (param->kind == ISA_PARAM_INTEGER && !lnc_number_bits(arg->text, param, &bits))
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is an integer of %u byte%s: \"%.40s\" "
                                "does not fit",
                                index + 1, name, step->entry, param->size_bytes,
                                param->size_bytes == 1 ? "" : "s", arg->text);
        if (!lnc_number_bits(arg->text, param, &bits))
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s has %u bytes: \"%.40s\" does not fit; "
                                "a typed value such as {f32: 1.5} may",
                                index + 1, name, step->entry, param->size_bytes, arg->text);
        return LW_OK;
    case LNC_ARG_ITERATION:
        if (param->kind == ISA_PARAM_POINTER || param->kind == ISA_PARAM_FLOAT ||
            param->size_bytes > 8)
            return lw_yaml_fail(doc, arg->node, err,
                                "argument %u (%s) of %s is no integer: {iteration: ...} does "
                                "not fit",
                                index + 1, name, step->entry);
        return LW_OK;
    }
    return LW_OK;
}

static enum lw_status bind_launch(const struct lnc_file *file, const struct isa_object *object, struct lnc_step *step,
                                  struct lw_error *err)
{
    const struct lw_yaml_document *doc = file->doc;
    const struct lw_yaml *args = lw_yaml_get(step->node, "args");
    const struct isa_function *kernel = NULL;
    uint32_t threads = step->block[0] * step->block[1] * step->block[2];
    struct lw_error why;

    if (lnc_kernel_named(object, file->source, step->entry, &kernel, &why) !=
        LW_OK)
        return lw_yaml_fail(doc, lw_yaml_get(step->node, "entry"), err, "entry: %s", why.text);
    step->kernel = kernel;
    if (step->arg_count != kernel->param_count) {
        char list[240] = "", room[LABEL_BYTES];
        size_t used = 0;

        for (unsigned i = 0; i < kernel->param_count; i++) {
            int more = snprintf(list + used, sizeof list - used, "%s%s", i != 0 ? ", " : " (",
                                param_label(kernel, i, room));
            if (more < 0 || (size_t)more >= sizeof list - used - 8) {
                used += (size_t)snprintf(list + used, 8, ", ...");
                break;
            }
            used += (size_t)more;
        }
        if (used != 0)
            list[used++] = ')';
        list[used] = '\0';
        return lw_yaml_fail(doc, args != NULL ? args : step->node, err,
                            "args: %s takes %u argument%s%s, found %u", step->entry,
                            kernel->param_count, kernel->param_count == 1 ? "" : "s", list,
                            step->arg_count);
    }
    for (unsigned i = 0; i < step->arg_count; i++) {
        enum lw_status status = check_arg(file, step, i, err);

        if (status != LW_OK)
            return status;
    }
    if (kernel->max_threads != 0 && threads > kernel->max_threads)
        return lw_yaml_fail(doc, lw_yaml_get(step->node, "block"), err,
                            "block: %u threads are more than the %u that %s allows", threads,
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

enum lw_status lnc_steps_bind(const struct lnc_file *file, const struct isa_object *object, struct lnc_step *step,
                              struct lw_error *err)
{
    for (; step != NULL; step = step->next) {
        enum lw_status status = LW_OK;

        if (step->kind == LNC_LAUNCH)
            status = bind_launch(file, object, step, err);
        else if (step->kind == LNC_REPEAT)
            status = lnc_steps_bind(file, object, step->steps, err);
        if (status != LW_OK)
            return status;
    }
    return LW_OK;
}
