/* SPDX-License-Identifier: Apache-2.0 */
/* Compile units of an object: which unit contains an entry or a function. */
#include "isa/object/isa_elf_priv.h"

/** Returns the index of the unit that contains entry @die. */
static uint32_t unit_of_die(const struct isa_debug *debug, uint32_t die)
{
    uint32_t low = 0, high = debug->unit_count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (debug->units[middle].first_die <= die)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t isa_compile_unit_end(const struct isa_debug *debug, uint32_t unit)
{
    return unit + 1 < debug->unit_count ? debug->units[unit + 1].first_die : debug->die_count;
}

/** Returns the unit of a function that has no entry. */
static uint32_t unit_of_file(const struct isa_debug *debug, uint32_t file)
{
    for (uint32_t i = 0; i < debug->unit_count; i++)
        if (isa_compile_unit_has_file(&debug->units[i], file))
            return i;
    return 0;
}

uint32_t isa_compile_unit_at(const struct isa_object *object, uint32_t insn)
{
    const struct isa_debug *debug = object->debug;
    const struct isa_function *function = debug->unit_count > 1 ? isa_object_function_at(object, insn) : NULL;
    int64_t die;

    if (function == NULL)
        return 0;
    die = isa_function_die(object, function);
    return die != ISA_NO_DIE ? unit_of_die(debug, (uint32_t)die) : unit_of_file(debug, function->file);
}

void isa_compile_units_of_functions(const struct isa_object *object, uint32_t *units)
{
    const struct isa_debug *debug = object->debug;

    for (unsigned i = 0; i < object->function_count; i++)
        units[i] = unit_of_file(debug, object->functions[i].file);
    for (uint32_t i = debug->die_count; i-- != 0;) { /* the first entry of a function counts, as in isa_function_die() */
        const struct isa_attr *low = debug->dies[i].tag == ISA_TAG_SUBPROGRAM ? isa_die_attr(debug, i, ISA_AT_LOW_PC) : NULL;

        if (low != NULL)
            units[low->value] = unit_of_die(debug, i);
    }
}
