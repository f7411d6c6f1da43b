/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and destroys machines, loads programs, finds kernels and variables, and stores error messages. */
#include "host/host_priv.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "(unpackaged)"
#endif

const char *lanewise_version(void)
{
    return PACKAGE_VERSION;
}

/* ---- errors ---------------------------------------------------------------------------------- */

int host_fail(struct lanewise_machine *m, const struct lw_error *err)
{
    lw_buffer_clear(&m->error);
    lnc_names_put(err->text, &m->error.sink);
    return LANEWISE_ERROR;
}

int host_refuse(struct lanewise_machine *m, const char *fmt, ...)
{
    struct lw_error err;
    va_list args;

    va_start(args, fmt);
    vsnprintf(err.text, sizeof err.text, fmt, args);
    va_end(args);
    return host_fail(m, &err);
}

int host_missing(struct lanewise_machine *m, const char *function, const char *what)
{
    return m == NULL ? LANEWISE_ERROR : host_refuse(m, "%s: %s must not be NULL", function, what);
}

const char *lanewise_error(const lanewise_machine *m)
{
    if (m == NULL)
        return "the machine must not be NULL";
    return m->error.text != NULL ? m->error.text : "";
}

/* ---- machine ----------------------------------------------------------------------------------- */

static void to_user(struct lw_sink *sink, const char *text, size_t size)
{
    const struct host_print *p = (const struct host_print *)(void *)sink;

    if (p->print != NULL)
        p->print(p->context, text, size);
}

static void to_stdout(void *context, const char *text, size_t size)
{
    (void)context;
    fwrite(text, 1, size, stdout);
}

lanewise_machine *lanewise_create(void)
{
    struct lanewise_machine *m = calloc(1, sizeof *m);

    if (m == NULL)
        return NULL;
    emu_config_default(&m->settings.config);
    m->settings.threads = 1;
    m->stop.kind = EMU_STOP_IDLE;
    m->print = (struct host_print){.sink = {.write = to_user}, .print = to_stdout};
    lw_buffer_init(&m->error);
    return m;
}

void lanewise_destroy(lanewise_machine *m)
{
    if (m == NULL)
        return;
    host_gdb_free(m);
    host_record_free(m);
    host_check_end(m);
    emu_engine_destroy(m->engine);
    emu_machine_destroy(m->machine);
    host_log_end(m);
    nat_destroy(m->native);
    tim_config_destroy(m->timing);
    while (m->modules != NULL) { /* destroyed after the machine, as its programs use the modules' objects */
        struct lanewise_module *module = m->modules;

        m->modules = module->next;
        isa_object_destroy(module->object);
        free(module->kernels);
        free(module->source);
        free(module->log);
        free(module);
    }
    host_settings_fini(&m->settings);
    lw_buffer_fini(&m->error);
    free(m);
}

void lanewise_print(lanewise_machine *m,
                    void (*print)(void *context, const char *text, size_t size), void *context)
{
    if (m == NULL)
        return;
    m->print.print = print;
    m->print.context = context;
}

/* ---- programs ------------------------------------------------------------------------------------ */

struct ptx_options host_translation(const struct lanewise_machine *m)
{
    struct ptx_options options;

    ptx_options_default(&options);
    options.stack_bytes = m->stack_bytes;
    return options;
}

int lanewise_stack_limit(lanewise_machine *m, uint32_t bytes)
{
    enum { MOST = 4 << 20 };

    if (m == NULL)
        return LANEWISE_ERROR;
    if (bytes > MOST)
        return host_refuse(m, "a stack of %u bytes is too large: the limit is %d", bytes, MOST);
    m->stack_bytes = bytes;
    return LANEWISE_OK;
}

int host_module_add(struct lanewise_machine *m, char *source, struct isa_object *object, struct lw_buffer *words,
                    lanewise_module **out)
{
    struct lanewise_module *module = calloc(1, sizeof *module);
    struct lw_error err;
    enum lw_status status = LW_OK;

    if (module != NULL)
        module->kernels = calloc(object->function_count + 1u, sizeof *module->kernels);
    if (module == NULL || module->kernels == NULL || source == NULL)
        status = LW_FAIL(&err, LW_ENOMEM, "the host has no memory for a program");
    if (status == LW_OK)
        status = emu_program_load(m->machine, object, &module->program, &err);
    if (status != LW_OK) {
        if (module != NULL)
            free(module->kernels);
        free(module);
        free(source);
        lw_buffer_fini(words);
        isa_object_destroy(object);
        return host_fail(m, &err);
    }
    for (unsigned i = 0; i < object->function_count; i++)
        if (object->functions[i].kernel)
            module->kernels[module->kernel_count++] = (struct lanewise_kernel){
                module, emu_program_kernel(module->program, object->functions[i].name)};
    module->machine = m;
    module->source = source;
    module->log = words->text; /* the module now owns the text of @words */
    module->object = object;
    module->next = m->modules;
    m->modules = module;
    *out = module;
    return LANEWISE_OK;
}

static size_t count_options(const char *const *options)
{
    size_t n = 0;

    while (options != NULL && options[n] != NULL)
        n++;
    return n;
}

/** Counts the options of a compiler. If code for a debugger is requested (the option debuggable), sets *@changed to an array
 *  of other options, which the caller frees. */
static enum lw_status choose_options(const struct lanewise_machine *m, const char *path, const char *const *options,
                                     const char ***changed, size_t *count, struct lw_error *err)
{
    *count = count_options(options);
    return m->settings.debuggable && ptx_is_compiled(path)
               ? lnc_options_debug(path, m->settings.compiler, options, *count, changed, count, err)
               : LW_OK;
}

/** Stores the message of @err and after it @words, all output of a compiler, which is freed. Returns LANEWISE_ERROR. */
static int fail_with(struct lanewise_machine *m, const struct lw_error *err,
                     struct lw_buffer *words)
{
    int result = host_fail(m, err);

    if (words->size != 0) {
        lw_put(&m->error.sink, "\n");
        m->error.sink.write(&m->error.sink, words->text, words->size);
    }
    lw_buffer_fini(words);
    return result;
}

int lanewise_load(lanewise_machine *m, const char *path, const char *const *options,
                  lanewise_module **out)
{
    struct ptx_options translation;
    struct isa_object *object = NULL;
    struct lw_buffer words;
    struct lw_error err;
    const char **changed = NULL;
    size_t count = 0;
    enum lw_status status;

    if (out != NULL)
        *out = NULL;
    if (m == NULL || path == NULL || out == NULL)
        return host_missing(m, "lanewise_load", path == NULL ? "the path" : "the module");
    translation = host_translation(m);
    status = host_begin(m, &err);
    lw_buffer_init(&words);
    if (status == LW_OK)
        status = choose_options(m, path, options, &changed, &count, &err);
    if (status == LW_OK)
        status = lnc_object_load_as(path, changed != NULL ? changed : options, count, m->settings.compiler, &translation,
                                    &words.sink, &object, &err);
    free(changed);
    if (status != LW_OK)
        return fail_with(m, &err, &words);
    return host_module_add(m, strdup(path), object, &words, out);
}

int lanewise_load_text(lanewise_machine *m, const char *name, const void *text, size_t size,
                       const char *const *options, lanewise_module **out)
{
    struct ptx_options translation;
    struct isa_object *object = NULL;
    struct lw_buffer words;
    struct lw_error err;
    enum lw_status status;
    const char **changed = NULL;
    size_t count = 0;
    char *copy = NULL; /* copy of the text with a terminator, which parsers need */

    if (out != NULL)
        *out = NULL;
    if (m == NULL || name == NULL || (text == NULL && size != 0) || out == NULL)
        return host_missing(m, "lanewise_load_text", name == NULL  ? "the name"
                                                     : out == NULL ? "the module"
                                                                   : "the text");
    translation = host_translation(m);
    status = host_begin(m, &err);
    lw_buffer_init(&words);
    if (status == LW_OK) {
        copy = malloc(size + 1);
        if (copy == NULL)
            status = LW_FAIL(&err, LW_ENOMEM, "%.200s: the host has no memory for its text", name);
    }
    if (status == LW_OK) {
        if (size != 0)
            memcpy(copy, text, size);
        copy[size] = '\0';
        status = choose_options(m, name, options, &changed, &count, &err);
    }
    if (status == LW_OK) {
        status = lnc_object_load_text(name, copy, size, changed != NULL ? changed : options, count,
                                      m->settings.compiler, &translation, &words.sink, &object, &err);
    }
    free(copy);
    free(changed);
    if (status != LW_OK)
        return fail_with(m, &err, &words);
    return host_module_add(m, strdup(name), object, &words, out);
}

lanewise_kernel *lanewise_kernel_at(lanewise_module *module, unsigned index)
{
    return module != NULL && index < module->kernel_count ? &module->kernels[index] : NULL;
}

lanewise_kernel *lanewise_kernel_find(lanewise_module *module, const char *name)
{
    const struct isa_function *found = NULL;
    struct lw_error err;

    if (module == NULL || name == NULL) {
        if (module != NULL)
            host_missing(module->machine, "lanewise_kernel_find", "the name");
        return NULL;
    }
    if (lnc_kernel_named(module->object, module->source, name, &found, &err) != LW_OK) {
        host_fail(module->machine, &err);
        return NULL;
    }
    for (unsigned i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].function->name, found->name) == 0)
            return &module->kernels[i];
    return NULL;
}

const char *lanewise_kernel_refusal(const lanewise_module *module, const char *name)
{
    for (unsigned i = 0; module != NULL && name != NULL && i < module->object->refusal_count; i++)
        if (strcmp(module->object->refusals[i].name, name) == 0)
            return module->object->refusals[i].message;
    return NULL;
}

const char *lanewise_kernel_name(const lanewise_kernel *kernel)
{
    return kernel != NULL ? kernel->function->name : "";
}

void lanewise_plain_name(const char *symbol, char *out, size_t out_bytes)
{
    size_t base, bare;

    if (symbol != NULL && out != NULL && out_bytes != 0)
        isa_symbol_read(symbol, out, out_bytes, &base, &bare);
}

unsigned lanewise_kernel_param_count(const lanewise_kernel *kernel)
{
    return kernel != NULL ? kernel->function->param_count : 0;
}

static bool is_local(const struct isa_param *param)
{
    return param->kind == ISA_PARAM_POINTER && param->space == ISA_SPACE_SHARED;
}

size_t lanewise_kernel_param_bytes(const lanewise_kernel *kernel, unsigned index)
{
    const struct isa_function *f = kernel != NULL ? kernel->function : NULL;

    return f != NULL && index < f->param_count && !is_local(&f->params[index]) ? f->params[index].size_bytes
                                                                  : 0;
}

int lanewise_variable_is_managed(const lanewise_module *module, const char *name)
{
    unsigned count;
    const struct isa_variable *v = module != NULL && name != NULL ? lnc_variable_find(module->object, name, &count) : NULL;

    return v != NULL && v->managed;
}

uint64_t lanewise_variable_bytes(const lanewise_module *module)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; module != NULL && i < module->object->variable_count; i++) {
        const struct isa_variable *v = &module->object->variables[i];

        if (v->space == ISA_SPACE_GLOBAL)
            bytes += (v->size_bytes + 7) & ~UINT64_C(7);
    }
    return bytes;
}

int lanewise_variable(lanewise_module *module, const char *name, uint64_t *address,
                      uint64_t *bytes)
{
    const struct isa_variable *v;
    unsigned count;

    if (module == NULL || name == NULL || address == NULL || bytes == NULL)
        return host_missing(module != NULL ? module->machine : NULL, "lanewise_variable",
                            name == NULL      ? "the name"
                            : address == NULL ? "the address"
                                              : "the bytes");
    v = lnc_variable_find(module->object, name, &count);
    if (v == NULL)
        return host_refuse(module->machine, count == 0
                               ? "%.200s has no variable \"%.100s\" in global or constant memory"
                               : "%.200s has several variables called \"%.100s\": give the full name",
                               module->source, name);
    *address = emu_program_variable(module->program, v->name, bytes);
    return LANEWISE_OK;
}
