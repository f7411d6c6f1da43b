/* SPDX-License-Identifier: Apache-2.0 */
/* Finds kernels and variables by readable names (isa_symbol_read). */
#include "launch/launch_priv.h"

#include <stdio.h>

/** Returns how well @wanted matches the symbol @name. 3: @wanted is the symbol. 2: it is the readable name. 1: it is the
 *  readable name without scope, template arguments or both. 0: no match. */
static unsigned match(const char *name, const char *wanted)
{
    char text[ISA_SYMBOL_BYTES];
    size_t base, bare, size = strlen(wanted);

    if (strcmp(name, wanted) == 0)
        return 3;
    isa_symbol_read(name, text, sizeof text, &base, &bare);
    if (strcmp(text, wanted) == 0)
        return 2;
    if (strcmp(text + base, wanted) == 0 || (size == bare && memcmp(text, wanted, size) == 0) ||
        (size == bare - base && memcmp(text + base, wanted, size) == 0))
        return 1;
    return 0;
}

const struct isa_function *lnc_kernel_find(const struct isa_object *object, const char *wanted,
                                           unsigned *count)
{
    const struct isa_function *found = NULL;
    unsigned best = 0;

    *count = 0;
    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];
        unsigned quality = f->kernel ? match(f->name, wanted) : 0;

        if (quality == 0 || quality < best)
            continue;
        *count = quality == best ? *count + 1 : 1;
        best = quality;
        found = f;
    }
    return *count == 1 ? found : NULL;
}

const struct isa_variable *lnc_variable_find(const struct isa_object *object, const char *wanted,
                                             unsigned *count)
{
    const struct isa_variable *found = NULL;
    unsigned best = 0;

    *count = 0;
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *v = &object->variables[i];
        bool global = v->space == ISA_SPACE_GLOBAL || v->space == ISA_SPACE_CONST;
        unsigned quality = global ? match(v->name, wanted) : 0;

        if (quality == 0 || quality < best)
            continue;
        *count = quality == best ? *count + 1 : 1;
        best = quality;
        found = v;
    }
    return *count == 1 ? found : NULL;
}

/** Prints the readable name of a kernel, unless another kernel has the same readable name, as instances of a template do.
 *  Returns true if the name was printed. */
static bool put_distinct(const struct isa_object *object, const struct isa_function *kernel,
                         struct lw_sink *out)
{
    char room[ISA_SYMBOL_BYTES];
    const char *name = isa_symbol_text(kernel->name, room);
    unsigned count;

    if (lnc_kernel_find(object, name, &count) != kernel)
        return false;
    lw_put(out, name);
    return true;
}

/** Lists as many names of kernels as fit in one message. @mangled: lists only kernels that match @wanted, and symbols for
 *  those whose readable names are not unique. */
static void list_kernels(const struct isa_object *object, const char *wanted, bool mangled,
                         struct lw_buffer *out)
{
    unsigned shown = 0, left = 0;
    char room[ISA_SYMBOL_BYTES];

    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];

        if (!f->kernel || (mangled && match(f->name, wanted) == 0))
            continue;
        if (out->size > 240) {
            left++;
            continue;
        }
        lw_put(&out->sink, shown++ != 0 ? ", " : "");
        if (!mangled)
            lw_put(&out->sink, isa_symbol_text(f->name, room));
        else if (!put_distinct(object, f, &out->sink))
            lw_put(&out->sink, f->name);
    }
    if (left != 0)
        lw_printf(&out->sink, " and %u more", left);
}

/** Returns the symbol of the kernel whose readable name is most similar to @wanted, or NULL if none is similar. */
static const char *nearest_kernel(const struct isa_object *object, const char *wanted)
{
    const char *near = NULL;
    char room[ISA_SYMBOL_BYTES];
    size_t nearest = 0;

    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];
        const char *text = isa_symbol_text(f->name, room);

        if (f->kernel && lw_suggest(wanted, &text, 1, sizeof text) != NULL &&
            (near == NULL || lw_edit_distance(text, wanted) < nearest)) {
            near = f->name;
            nearest = lw_edit_distance(text, wanted);
        }
    }
    return near;
}

enum lw_status lnc_kernel_named(const struct isa_object *object, const char *source,
                                const char *wanted, const struct isa_function **out,
                                struct lw_error *err)
{
    unsigned found, kernels = 0;
    struct lw_buffer names;
    char room[ISA_SYMBOL_BYTES];
    const char *near;
    enum lw_status status;

    *out = lnc_kernel_find(object, wanted, &found);
    if (*out != NULL)
        return LW_OK;
    for (unsigned i = 0; i < object->refusal_count && found == 0; i++)
        if (match(object->refusals[i].name, wanted) != 0)
            return LW_FAIL(err, LW_EUNSUPP, "%s", object->refusals[i].message);
    for (unsigned i = 0; i < object->function_count; i++)
        kernels += object->functions[i].kernel;
    lw_buffer_init(&names);
    near = found == 0 ? nearest_kernel(object, wanted) : NULL;
    if (near != NULL)
        lw_put(&names.sink, isa_symbol_text(near, room));
    else
        list_kernels(object, wanted, found != 0, &names);
    const char *text = names.text != NULL ? names.text : "";
    if (found != 0)
        status = LW_FAIL(err, LW_ENOENT, "%s has %u kernels with a name like \"%.60s\"; choose one: %s",
                         source, found, wanted, text);
    else if (near != NULL)
        status = LW_FAIL(err, LW_ENOENT, "%s has no kernel \"%.60s\"; did you mean \"%s\"?", source,
                         wanted, text);
    else if (kernels != 0)
        status = LW_FAIL(err, LW_ENOENT, "%s has no kernel \"%.60s\"; its kernels are %s", source,
                         wanted, text);
    else
        status = LW_FAIL(err, LW_ENOENT, "%s has no kernels", source);
    lw_buffer_fini(&names);
    return status;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

void lnc_names_put(const char *text, struct lw_sink *out)
{
    const char *from = text;

    for (const char *at = text; (at = strstr(at, "_Z")) != NULL;) {
        char name[ISA_SYMBOL_BYTES], room[ISA_SYMBOL_BYTES];
        size_t size = 0;

        while (is_of_name(at[size]))
            size++;
        if ((at == text || !is_of_name(at[-1])) && size < sizeof name) {
            memcpy(name, at, size);
            name[size] = '\0';
            const char *plain = isa_symbol_text(name, room);
            const size_t n = strlen(plain);
            /* The text already has the readable name if it is "f (_Z1fi)". */
            const bool is_written = (size_t)(at - text) >= n + 2 && strncmp(at - n - 2, plain, n) == 0 && strncmp(at - 2, " (", 2) == 0;
            if (plain != name && !is_written) {
                lw_printf(out, "%.*s%s (%s)", (int)(at - from), from, plain, name);
                from = at + size;
            }
        }
        at += size;
    }
    lw_put(out, from);
}
