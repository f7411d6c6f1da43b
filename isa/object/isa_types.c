/* SPDX-License-Identifier: Apache-2.0 */
/* Look-up in the source's debug entries: functions, and sizes of types. */
#include "isa/isa.h"

enum { MAX_TYPE_DEPTH = 32 };

uint64_t isa_die_number(const struct isa_debug *debug, uint32_t die, unsigned name,
                        uint64_t otherwise)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, name);

    return attr != NULL ? attr->value : otherwise;
}

int64_t isa_die_type(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_TYPE);

    if (attr == NULL) { /* an inlined function or variable, whose abstract origin has the attribute */
        const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

        attr = origin != NULL ? isa_die_attr(debug, (uint32_t)origin->value, ISA_AT_TYPE) : NULL;
    }
    return attr != NULL ? (int64_t)attr->value : ISA_NO_DIE;
}

const char *isa_die_name(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_NAME);

    if (attr == NULL) {
        const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

        attr = origin != NULL ? isa_die_attr(debug, (uint32_t)origin->value, ISA_AT_NAME) : NULL;
    }
    return attr != NULL ? attr->text : NULL;
}

int64_t isa_function_die(const struct isa_object *object, const struct isa_function *function)
{
    const struct isa_debug *debug = object->debug;

    for (uint32_t i = 0; debug != NULL && i < debug->die_count; i++) {
        const struct isa_attr *low;

        if (debug->dies[i].tag != ISA_TAG_SUBPROGRAM)
            continue;
        low = isa_die_attr(debug, i, ISA_AT_LOW_PC);
        if (low != NULL && &object->functions[low->value] == function)
            return i;
    }
    return ISA_NO_DIE;
}

int64_t isa_function_parameter(const struct isa_debug *debug, int64_t function, unsigned nth)
{
    if (function == ISA_NO_DIE)
        return ISA_NO_DIE;
    for (uint32_t i = (uint32_t)function + 1; i < debug->dies[function].end; i = debug->dies[i].end) {
        if (debug->dies[i].tag == ISA_TAG_PARAMETER && nth-- == 0)
            return i;
    }
    return ISA_NO_DIE;
}

const char *isa_param_name(const struct isa_object *object, const struct isa_function *function, unsigned index)
{
    const int64_t die = object != NULL && object->debug != NULL ? isa_function_die(object, function) : ISA_NO_DIE,
                  parameter = die != ISA_NO_DIE ? isa_function_parameter(object->debug, die, index) : ISA_NO_DIE;
    const char *name = parameter != ISA_NO_DIE ? isa_die_name(object->debug, (uint32_t)parameter) : NULL;
    const size_t size = strlen(function->name);

    if (name != NULL || index >= function->param_count)
        return name;
    name = function->params[index].name;
    return name != NULL && strncmp(name, function->name, size) == 0 && strncmp(name + size, "_param_", 7) == 0 &&
                   strspn(name + size + 7, "0123456789") == strlen(name + size + 7)
               ? NULL
               : name;
}

int64_t isa_type_plain(const struct isa_debug *debug, int64_t type, bool *is_const)
{
    for (unsigned depth = 0; type != ISA_NO_DIE && depth < MAX_TYPE_DEPTH; depth++) {
        switch (debug->dies[type].tag) {
        case ISA_TAG_CONST:
            if (is_const != NULL)
                *is_const = true;
            break;
        case ISA_TAG_TYPEDEF:
        case ISA_TAG_VOLATILE:
        case ISA_TAG_RESTRICT: break;
        default: return type;
        }
        type = isa_die_type(debug, (uint32_t)type);
    }
    return ISA_NO_DIE;
}

bool isa_tag_is_pointer(unsigned tag)
{
    return tag == ISA_TAG_POINTER || tag == ISA_TAG_REFERENCE || tag == ISA_TAG_RVALUE_REFERENCE;
}

uint64_t isa_type_dimension(const struct isa_debug *debug, uint32_t array, unsigned nth)
{
    for (uint32_t i = array + 1; i < debug->dies[array].end; i = debug->dies[i].end) {
        const struct isa_attr *count;

        if (debug->dies[i].tag != ISA_TAG_SUBRANGE || nth-- != 0)
            continue;
        count = isa_die_attr(debug, i, ISA_AT_COUNT);
        if (count != NULL)
            return count->value;
        count = isa_die_attr(debug, i, ISA_AT_UPPER_BOUND);
        return count != NULL ? count->value + 1 : 0;
    }
    return 0;
}

unsigned isa_type_dimensions(const struct isa_debug *debug, uint32_t array)
{
    unsigned n = 0;

    for (uint32_t i = array + 1; i < debug->dies[array].end; i = debug->dies[i].end)
        n += debug->dies[i].tag == ISA_TAG_SUBRANGE;
    return n;
}

static uint64_t type_bytes(const struct isa_debug *debug, int64_t type, unsigned skip, unsigned depth)
{
    uint64_t bytes;
    unsigned tag;

    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE || depth == MAX_TYPE_DEPTH)
        return 0;
    tag = debug->dies[type].tag;
    if (tag != ISA_TAG_ARRAY)
        return isa_die_number(debug, (uint32_t)type, ISA_AT_BYTE_SIZE, isa_tag_is_pointer(tag) ? 8 : 0);
    bytes = type_bytes(debug, isa_die_type(debug, (uint32_t)type), 0, depth + 1);
    for (unsigned i = skip; i < isa_type_dimensions(debug, (uint32_t)type); i++) {
        const uint64_t count = isa_type_dimension(debug, (uint32_t)type, i);

        if (count != 0 && bytes > UINT64_MAX / count)
            return 0;
        bytes *= count;
    }
    return bytes;
}

uint64_t isa_type_bytes(const struct isa_debug *debug, int64_t type, unsigned skip)
{
    return type_bytes(debug, type, skip, 0);
}
