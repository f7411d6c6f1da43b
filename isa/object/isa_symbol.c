/* SPDX-License-Identifier: Apache-2.0 */
/* Readable names of functions and variables, from symbols of C++ compilers such as _Z5saxpyifPfS_ for saxpy. The parser handles
 * the names, scopes and template arguments that occur in kernels' symbols (Itanium C++ ABI, section 5.1). The parser omits
 * parameter types. */
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/** Parses <source-name>: a number, then a name with this number of characters. */
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

/** Parses a builtin type or the unqualified name of a class, which may be preceded by const and the letters of pointers. */
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

/** Parses a literal: L, type, value, E. */
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

/** Parses the name of a constructor or destructor of the class @name, or of a few operators. */
static bool special_name(struct reader *r, const char *name, size_t size)
{
    static const char *const names[][2] = {{"cl", "operator()"}, {"ix", "operator[]"}, {"aS", "operator="}, {"eq", "operator=="}};

    if ((*r->at == 'C' || *r->at == 'D') && r->at[1] >= '0' && r->at[1] <= '5') {
        if (*r->at == 'D')
            put(r, "~", 1);
        put(r, name, size);
        r->at += 2;
        return true;
    }
    for (size_t i = 0; i < LW_COUNT_OF(names); i++)
        if (strncmp(r->at, names[i][0], 2) == 0) {
            put(r, names[i][1], strlen(names[i][1]));
            r->at += 2;
            return true;
        }
    return false;
}

void isa_symbol_read(const char *name, char *out, size_t room, size_t *base, size_t *bare)
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
        while (nested && (*r.at == 'K' || *r.at == 'V' || *r.at == 'r')) /* qualifiers of a member function */
            r.at++;
        for (unsigned part = 0; understood && !r.failed; part++) {
            if (part != 0 && (!nested || *r.at == 'E'))
                break;
            if (part != 0)
                put(&r, "::", 2);
            const size_t class = *base;
            const size_t class_size = *bare - *base;

            *base = r.size;
            if (part == 0 && strncmp(r.at, "St", 2) == 0) {
                put(&r, "std::", 5);
                r.at += 2;
                *base = r.size;
            }
            understood = source_name(&r) || (part != 0 && special_name(&r, out + class, class_size));
            *bare = r.size;
            if (understood && *r.at == 'I') {
                r.at++;
                if (!template_arguments(&r)) {
                    /* template arguments that cannot be parsed are left out */
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

const char *isa_symbol_text(const char *name, char *room)
{
    size_t base, bare;

    if (strncmp(name, "_Z", 2) != 0)
        return name;
    isa_symbol_read(name, room, ISA_SYMBOL_BYTES, &base, &bare);
    return strncmp(room, "_Z", 2) != 0 ? room : name; /* if the symbol could not be parsed, returns the symbol itself, because its
                                                       * copy in `room` may be cut off */
}

/* ---- shared variables ----------------------------------------------------------------- */

const char *isa_own_name(const char *name)
{
    /* a mangled name consists of _ZZ, the function, E, the length of the variable's name, and that name */
    for (const char *at = strncmp(name, "_ZZ", 3) == 0 ? name : ""; (at = strchr(at, 'E')) != NULL;) {
        char *own;
        const unsigned long size = strtoul(++at, &own, 10);

        if (own != at && strlen(own) == size)
            return own;
    }
    for (const char *at = name; (at = strstr(at, "_$_")) != NULL;)
        name = at += 3;
    return name;
}

/** Returns true if the name of a shared variable shows that it belongs to @function. Compilers form such names as kernel_$_s
 *  or _ZZ6kernelPiE1s. */
static bool is_of(const char *name, const char *function)
{
    const size_t n = strlen(function);
    char *end;

    if (strncmp(name, function, n) == 0 && (strncmp(name + n, "_$_", 3) == 0 || name[n] == '.'))
        return true;
    if (strncmp(name, "_ZZ", 3) != 0)
        return false;
    if (strncmp(function, "_Z", 2) == 0)
        return strncmp(name + 3, function + 2, n - 2) == 0 && name[n + 1] == 'E';
    return strtoul(name + 3, &end, 10) == n && strncmp(end, function, n) == 0;
}

/** Returns true if a kernel, or code inlined into it, accesses variable @variable of the object. */
static bool accesses(const struct isa_object *object, const struct isa_function *kernel, unsigned variable)
{
    for (unsigned i = 0; i < object->bound_count; i++) {
        const struct isa_bound *b = &object->bounds[i];

        if (b->kind == ISA_BOUND_VARIABLE && b->which == variable && b->insn - kernel->first < kernel->count)
            return true;
    }
    return false;
}

const struct isa_variable *isa_shared_variable(const struct isa_object *object, const struct isa_function *kernel, uint32_t offset)
{
    const struct isa_variable *found = NULL, *named = NULL;
    bool several = false;

    if (kernel != NULL && offset >= kernel->shared_bytes)
        return NULL; /* The address is in dynamic shared memory, which variables of other kernels do not describe. */
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *v = &object->variables[i];
        bool foreign = false;

        if (v->space != ISA_SPACE_SHARED || offset - v->shared_offset >= v->size_bytes)
            continue;
        if (kernel != NULL && is_of(v->name, kernel->name))
            return v;
        for (unsigned f = 0; f < object->function_count && !foreign; f++)
            foreign = object->functions[f].kernel && is_of(v->name, object->functions[f].name);
        if (foreign)
            continue;
        several |= found != NULL;
        found = v;
        if (kernel != NULL && named == NULL && accesses(object, kernel, i))
            named = v;
    }
    return !several ? found : named;
}
