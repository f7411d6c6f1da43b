/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the scopes of the source that contain an instruction, and the location that a variable has there. */
#include "isa/isa.h"

/** Returns true if the code of a function, block or inlined call, whose debug entry is @die, contains instruction @insn. */
static bool contains(const struct isa_object *object, uint32_t die, uint32_t insn)
{
    const struct isa_debug *debug = object->debug;
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_LOW_PC);

    if (attr != NULL) {
        const struct isa_function *function = &object->functions[attr->value];

        return insn >= function->first && insn - function->first < function->count;
    }
    attr = isa_die_attr(debug, die, ISA_AT_RANGES);
    for (uint32_t i = 0; attr != NULL && i < attr->count; i++) {
        const struct isa_span *span = &debug->spans[attr->value + i];

        if (insn >= span->from && insn < span->to)
            return true;
    }
    return false;
}

unsigned isa_scopes_find(const struct isa_object *object, uint32_t insn, int64_t inner, uint32_t *scopes, unsigned capacity)
{
    const struct isa_debug *debug = object->debug;
    unsigned count = 0;

    for (uint32_t i = 0; i < debug->die_count && count < capacity;) {
        const unsigned tag = debug->dies[i].tag;

        if ((tag == ISA_TAG_SUBPROGRAM || tag == ISA_TAG_BLOCK || tag == ISA_TAG_INLINED) &&
            contains(object, i, insn)) {
            if (i == inner)
                break;
            scopes[count++] = i++;
        } else {
            i = tag == ISA_TAG_NAMESPACE ? i + 1 : debug->dies[i].end;
        }
        if (count != 0 && i >= debug->dies[scopes[count - 1]].end)
            break;
    }
    return count;
}

bool isa_die_is_variable(const struct isa_debug *debug, uint32_t die)
{
    return debug->dies[die].tag == ISA_TAG_VARIABLE || debug->dies[die].tag == ISA_TAG_PARAMETER;
}

const struct isa_var_location *isa_variable_location(const struct isa_debug *debug, uint32_t die, uint32_t insn)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_LOCATION);

    for (uint32_t i = 0; attr != NULL && i < attr->count; i++) {
        const struct isa_var_location *p = &debug->locations[attr->value + i];

        if (p->to == 0 || (insn >= p->from && insn < p->to))
            return p;
    }
    return NULL;
}
