/* SPDX-License-Identifier: Apache-2.0 */
/* Describes kernels (parameters, needs) and modules (output of the compiler, object file). */
#include "host/host_priv.h"

#include <stdlib.h>

/** Copies a structure to @out, whose size in the caller's version of lanewise.h is @out_bytes. Copies only members that both the
 *  caller's and this version have, and sets all other members of @out to 0. */
static void copy_out(void *out, size_t out_bytes, const void *from, size_t bytes)
{
    memset(out, 0, out_bytes);
    memcpy(out, from, out_bytes < bytes ? out_bytes : bytes);
}

/** Returns the name of the structure to which parameter @index points, "" if it points to none, or NULL if there is no debug
 *  information. */
static const char *structure_of(const lanewise_kernel *kernel, unsigned index)
{
    const struct isa_debug *debug = kernel->module->object->debug;
    const int64_t function = debug != NULL ? isa_function_die(kernel->module->object, kernel->function) : ISA_NO_DIE;
    const int64_t die = function != ISA_NO_DIE ? isa_function_parameter(debug, function, index) : ISA_NO_DIE;
    bool is_const;
    int64_t type = die != ISA_NO_DIE ? isa_type_plain(debug, isa_die_type(debug, (uint32_t)die), &is_const) : ISA_NO_DIE;
    const char *name;

    if (die == ISA_NO_DIE)
        return NULL;
    if (type == ISA_NO_DIE || !isa_tag_is_pointer(debug->dies[type].tag))
        return "";
    type = isa_type_plain(debug, isa_die_type(debug, (uint32_t)type), &is_const);
    name = type != ISA_NO_DIE && debug->dies[type].tag == ISA_TAG_STRUCTURE ? isa_die_name(debug, (uint32_t)type) : NULL;
    return name != NULL ? name : "";
}

int lanewise_kernel_param(const lanewise_kernel *kernel, unsigned index, lanewise_param *out, size_t out_bytes)
{
    struct lanewise_machine *m = kernel != NULL ? kernel->module->machine : NULL;
    const struct isa_param *p;
    const char *name;
    lanewise_param param;

    if (kernel == NULL || out == NULL)
        return host_missing(m, "lanewise_kernel_param", kernel == NULL ? "the kernel" : "the parameter");
    if (index >= kernel->function->param_count)
        return host_refuse(m, "%.200s: there is no parameter %u: the kernel has %u parameter%s",
                           kernel->function->name, index + 1,
                           kernel->function->param_count, kernel->function->param_count == 1 ? "" : "s");
    p = &kernel->function->params[index];
    /* the search in the debug information takes time, and callers with the older structure do not need its results */
    name = isa_param_name(out_bytes > offsetof(lanewise_param, structure) ? kernel->module->object : NULL, kernel->function, index);
    param = (lanewise_param){.name = name != NULL ? name : "", .bytes = p->size_bytes, .align = p->align};
    if (p->kind == ISA_PARAM_POINTER)
        param.kind = p->space == ISA_SPACE_SHARED   ? LANEWISE_PARAM_LOCAL
                     : p->space == ISA_SPACE_CONST  ? LANEWISE_PARAM_CONSTANT
                     : p->space == ISA_SPACE_GLOBAL ? LANEWISE_PARAM_GLOBAL
                                                    : LANEWISE_PARAM_VALUE;
    param.type = p->kind == ISA_PARAM_POINTER   ? LANEWISE_TYPE_POINTER
                 : p->kind == ISA_PARAM_INTEGER ? LANEWISE_TYPE_INTEGER
                 : p->kind == ISA_PARAM_FLOAT   ? LANEWISE_TYPE_FLOAT
                                                : LANEWISE_TYPE_UNKNOWN;
    if (out_bytes > offsetof(lanewise_param, structure))
        param.structure = structure_of(kernel, index);
    copy_out(out, out_bytes, &param, sizeof param);
    return LANEWISE_OK;
}

int lanewise_kernel_get_needs(const lanewise_kernel *kernel, lanewise_kernel_needs *out, size_t out_bytes)
{
    const struct isa_function *f;
    lanewise_kernel_needs needs;

    if (kernel == NULL || out == NULL)
        return host_missing(kernel != NULL ? kernel->module->machine : NULL, "lanewise_kernel_get_needs",
                            kernel == NULL ? "the kernel" : "the result");
    f = kernel->function;
    needs = (lanewise_kernel_needs){
        .max_threads = f->max_threads != 0 && f->max_threads < EMU_MAX_BLOCK_THREADS ? f->max_threads
                                                                                     : EMU_MAX_BLOCK_THREADS,
        .required_block = {f->required_block[0], f->required_block[1], f->required_block[2]},
        .shared_bytes = f->shared_bytes,
        .local_bytes = f->local_bytes,
        .vector_registers = f->vreg_count,
        .scalar_registers = f->sreg_count};
    copy_out(out, out_bytes, &needs, sizeof needs);
    return LANEWISE_OK;
}

const char *lanewise_module_log(const lanewise_module *module)
{
    return module != NULL && module->log != NULL ? module->log : "";
}

int lanewise_module_object(lanewise_module *module, void **out, size_t *size)
{
    struct lw_error err;
    uint8_t *bytes;

    if (module == NULL || out == NULL || size == NULL)
        return host_missing(module != NULL ? module->machine : NULL, "lanewise_module_object",
                            out == NULL ? "the object" : "the size");
    if (isa_object_write(module->object, &bytes, size, &err) != LW_OK)
        return host_fail(module->machine, &err);
    *out = bytes;
    return LANEWISE_OK;
}

void lanewise_object_free(void *object)
{
    free(object);
}
