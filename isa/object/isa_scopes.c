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

void isa_location_print(const struct isa_object *object, uint32_t insn, struct lw_sink *out)
{
    const struct isa_line *line = isa_object_line_at(object, insn);
    const struct isa_debug *debug = object->debug;
    uint32_t scopes[64];
    char room[ISA_SYMBOL_BYTES];
    const char *separator = "";

    if (line == NULL || line->file >= object->file_count)
        return;
    lw_printf(out, " (%s:%u", object->files[line->file], line->line);
    for (unsigned n = debug != NULL ? isa_scopes_find(object, insn, ISA_NO_DIE, scopes, LW_COUNT_OF(scopes)) : 0; n-- > 0;) {
        const uint64_t file = isa_die_number(debug, scopes[n], ISA_AT_CALL_FILE, UINT64_MAX);
        const char *name = isa_die_name(debug, scopes[n]);

        if (debug->dies[scopes[n]].tag != ISA_TAG_INLINED || file >= object->file_count)
            continue;
        lw_printf(out, "%s in %s, inlined at %s:%u", separator, name != NULL ? isa_symbol_text(name, room) : "a function",
                  object->files[file], (unsigned)isa_die_number(debug, scopes[n], ISA_AT_CALL_LINE, 0));
        separator = ",";
    }
    lw_put(out, ")");
}
