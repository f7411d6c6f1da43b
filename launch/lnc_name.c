/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels by the names that people write: C++ compilers call saxpy _Z5saxpyifPfS_. Names,
 * scopes and arguments of templates are read as the Itanium C++ ABI writes them, as far as
 * kernels have them; the types of parameters are left out.
 */
#include "launch/launch_priv.h"

#include <stdio.h>

struct reader {
    const char *at;
    char *out;
    size_t size, room;
    unsigned depth;
    bool failed;
};

static void put(struct reader *r, const char *text, size_t size)
{
    if (size >= r->room - r->size) {
        r->failed = true;
        return;
    }
    memcpy(r->out + r->size, text, size);
    r->size += size;
    r->out[r->size] = '\0';
}

/** <source-name>: its length, then the characters. */
static bool source_name(struct reader *r)
{
    size_t size = 0;

    while (*r->at >= '0' && *r->at <= '9' && size < 4096)
        size = size * 10 + (size_t)(*r->at++ - '0');
    if (size == 0 || strnlen(r->at, size) != size)
        return false;
    if (size >= 10 && strncmp(r->at, "_GLOBAL__N", 10) == 0)
        put(r, "(anonymous namespace)", 21);
    else
        put(r, r->at, size);
    r->at += size;
    return true;
}

/** A builtin type, or a class by its plain name; pointers and const are accepted. */
static bool type(struct reader *r)
{
    static const struct {
        char code;
        const char *name;
    } names[] = {{'b', "bool"}, {'c', "char"}, {'a', "signed char"}, {'h', "unsigned char"},
                 {'s', "short"}, {'t', "unsigned short"}, {'i', "int"}, {'j', "unsigned int"},
                 {'l', "long"}, {'m', "unsigned long"}, {'x', "long long"},
                 {'y', "unsigned long long"}, {'f', "float"}, {'d', "double"}, {'v', "void"}};

    if (++r->depth > 16)
        return false;
    if (*r->at == 'P') {
        r->at++;
        if (!type(r))
            return false;
        put(r, "*", 1);
        return true;
    }
    if (*r->at == 'K') {
        r->at++;
        if (!type(r))
            return false;
        put(r, " const", 6);
        return true;
    }
    if (*r->at >= '0' && *r->at <= '9')
        return source_name(r);
    for (size_t i = 0; i < LW_COUNT_OF(names); i++) {
        if (*r->at == names[i].code) {
            r->at++;
            put(r, names[i].name, strlen(names[i].name));
            return true;
        }
    }
    return false;
}

/** L type value E */
static bool literal(struct reader *r)
{
    char kind = r->at[1];
    size_t keep = r->size, size;

    r->at++;
    if (!type(r))
        return false;
    r->size = keep;
    if (*r->at == 'n') {
        put(r, "-", 1);
        r->at++;
    }
    size = strspn(r->at, "0123456789");
    if (size == 0 || r->at[size] != 'E')
        return false;
    if (kind == 'b')
        put(r, *r->at == '0' ? "false" : "true", *r->at == '0' ? 5 : 4);
    else
        put(r, r->at, size);
    r->at += size + 1;
    return true;
}

static bool template_arguments(struct reader *r)
{
    put(r, "<", 1);
    for (unsigned i = 0; *r->at != 'E'; i++) {
        if (i != 0)
            put(r, ", ", 2);
        r->depth = 0;
        if (r->failed || !(*r->at == 'L' ? literal(r) : type(r)))
            return false;
    }
    r->at++;
    put(r, ">", 1);
    return true;
}

/**
 * @out  the qualified name with the arguments of templates, "ns::reduce<float, 256>"; what is
 *       no C++ name stays as it is
 * @base where the last part begins in @out
 * @bare size of the name before its template arguments
 */
static void readable(const char *name, char *out, size_t room, size_t *base, size_t *bare)
{
    struct reader r = {.at = name, .out = out, .room = room};
    bool nested, understood = true;

    out[0] = '\0';
    *base = 0;
    *bare = 0;
    if (strncmp(name, "_Z", 2) == 0) {
        r.at += 2;
        r.at += *r.at == 'L';
        nested = *r.at == 'N';
        r.at += nested;
        for (unsigned part = 0; understood && !r.failed; part++) {
            if (part != 0 && (!nested || *r.at == 'E'))
                break;
            if (part != 0)
                put(&r, "::", 2);
            *base = r.size;
            understood = source_name(&r);
            *bare = r.size;
            if (understood && *r.at == 'I') {
                r.at++;
                if (!template_arguments(&r)) {
                    /* The name alone still serves. */
                    r.size = *bare;
                    out[r.size] = '\0';
                    return;
                }
            }
        }
        if (understood && !r.failed)
            return;
    }
    snprintf(out, room, "%s", name);
    *base = 0;
    *bare = strlen(out);
}

void lnc_name_print(const char *name, struct lw_sink *out)
{
    char text[256];
    size_t base, bare;

    readable(name, text, sizeof text, &base, &bare);
    lw_put(out, text);
}

/** How well @wanted names @name: 0 not, 1 without scope or template arguments, 2 in full, 3 as
 *  the compiler wrote it. */
static unsigned match(const char *name, const char *wanted)
{
    char text[256];
    size_t base, bare, size = strlen(wanted);

    if (strcmp(name, wanted) == 0)
        return 3;
    readable(name, text, sizeof text, &base, &bare);
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

/** The name in people's spelling, where that stands for this kernel alone: instances of a template. */
static bool put_distinct(const struct isa_object *object, const struct isa_function *kernel,
                         struct lw_sink *out)
{
    struct lw_buffer name;
    unsigned count;
    bool distinct;

    lw_buffer_init(&name);
    lnc_name_print(kernel->name, &name.sink);
    distinct = name.text != NULL && lnc_kernel_find(object, name.text, &count) == kernel;
    if (distinct)
        lw_put(out, name.text);
    lw_buffer_fini(&name);
    return distinct;
}

/** The kernels' names in people's spelling, as far as they fit in one sentence. */
static void list_kernels(const struct isa_object *object, const char *wanted, bool mangled,
                         struct lw_buffer *out)
{
    unsigned shown = 0, left = 0;

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
            lnc_name_print(f->name, &out->sink);
        else if (!put_distinct(object, f, &out->sink))
            lw_put(&out->sink, f->name);
    }
    if (left != 0)
        lw_printf(&out->sink, " and %u more", left);
}

/** The kernel whose name is nearest to what is @wanted, or NULL. */
static const char *nearest_kernel(const struct isa_object *object, const char *wanted)
{
    const char *near = NULL;
    size_t nearest = 0;

    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *f = &object->functions[i];
        struct lw_buffer one;
        const char *text;

        if (!f->kernel)
            continue;
        lw_buffer_init(&one);
        lnc_name_print(f->name, &one.sink);
        text = one.text;
        if (text != NULL && lw_nearest(wanted, &text, 1, sizeof text) != NULL &&
            (near == NULL || lw_edit_distance(text, wanted) < nearest)) {
            near = f->name;
            nearest = lw_edit_distance(text, wanted);
        }
        lw_buffer_fini(&one);
    }
    return near;
}

enum lw_status lnc_kernel_named(const struct isa_object *object, const char *source,
                                const char *wanted, const struct isa_function **out,
                                struct lw_error *err)
{
    unsigned found, kernels = 0;
    struct lw_buffer names;
    const char *near;
    enum lw_status status;

    *out = lnc_kernel_find(object, wanted, &found);
    if (*out != NULL)
        return LW_OK;
    for (unsigned i = 0; i < object->refusal_count && found == 0; i++)
        if (match(object->refusals[i].name, wanted) != 0)
            return LW_FAIL(err, LW_EUNSUPP, "%s", object->refusals[i].sentence);
    for (unsigned i = 0; i < object->function_count; i++)
        kernels += object->functions[i].kernel;
    lw_buffer_init(&names);
    near = found == 0 ? nearest_kernel(object, wanted) : NULL;
    if (near != NULL)
        lnc_name_print(near, &names.sink);
    else
        list_kernels(object, wanted, found != 0, &names);
    const char *text = names.text != NULL ? names.text : "";
    if (found != 0)
        status = LW_FAIL(err, LW_ENOENT, "%s has %u kernels that \"%.60s\" may mean; say which: %s",
                         source, found, wanted, text);
    else if (near != NULL)
        status = LW_FAIL(err, LW_ENOENT, "%s has no kernel \"%.60s\"; did you mean \"%s\"?", source,
                         wanted, text);
    else if (kernels != 0)
        status = LW_FAIL(err, LW_ENOENT, "%s has no kernel \"%.60s\"; its kernels: %s", source,
                         wanted, text);
    else
        status = LW_FAIL(err, LW_ENOENT, "%s has no kernel at all", source);
    lw_buffer_fini(&names);
    return status;
}
