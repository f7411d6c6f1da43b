/* SPDX-License-Identifier: Apache-2.0 */
/* Source variables in messages: determines the variable, and the element of it, to which an address belongs. */
#include "check/chk_priv.h"

#include <stdlib.h>

int64_t chk_variable_die(const struct isa_object *object, const struct isa_variable *v,
                         const struct isa_function *kernel)
{
    const struct isa_debug *d = object->debug;
    const int64_t owner = isa_function_die(object, kernel);
    int64_t found = ISA_NO_DIE;

    for (uint32_t i = 0; d != NULL && i < d->die_count; i++) {
        const struct isa_attr *location = isa_die_attr(d, i, ISA_AT_LOCATION);
        const struct isa_attr *name = isa_die_attr(d, i, ISA_AT_NAME);

        if (d->dies[i].tag != ISA_TAG_VARIABLE || location == NULL || location->count == 0 || name == NULL)
            continue;
        const struct isa_var_location *p = &d->locations[location->value];
        const size_t all = strlen(v->name), n = strlen(name->text);
        if (p->kind == ISA_LOCATION_VARIABLE) {
            if (&object->variables[p->variable] == v)
                return i;
        } else if (p->kind == ISA_LOCATION_ADDRESS && p->value == ISA_SHARED_BASE + v->shared_offset &&
                   n <= all && strcmp(v->name + all - n, name->text) == 0) {
            if (owner != ISA_NO_DIE && i > owner && i < d->dies[owner].end)
                return i;
            if (found == ISA_NO_DIE)
                found = i;
        }
    }
    return found;
}

void chk_put_element(const struct isa_debug *d, int64_t die, uint64_t offset, struct lw_sink *out)
{
    const struct isa_attr *decl = isa_die_attr(d, (uint32_t)die, ISA_AT_DECL_LINE);
    const int64_t array = isa_type_plain(d, isa_die_type(d, (uint32_t)die), NULL);
    const bool is_array = array != ISA_NO_DIE && d->dies[array].tag == ISA_TAG_ARRAY;

    lw_put(out, isa_die_name(d, (uint32_t)die));
    if (offset == CHK_SOMEWHERE)
        offset = 0;
    else if (is_array)
        for (unsigned n = 0; n < isa_type_dimensions(d, (uint32_t)array); n++) {
            const uint64_t step = isa_type_bytes(d, array, n + 1);

            if (step == 0)
                break;
            lw_printf(out, "[%llu]", (unsigned long long)(offset / step));
            offset %= step;
        }
    lw_put(out, "'");
    if (offset != 0)
        lw_printf(out, ", byte %llu", (unsigned long long)offset);
    if (decl != NULL)
        lw_printf(out, ", declared in line %llu", (unsigned long long)decl->value);
}

/** Returns the variable of a function, or of code inlined into it, that is at the debug address @address
 *  (docs/reference/object.md) while instruction @index executes. With @from_it_on, returns only a variable whose location
 *  begins at this instruction. */
static int64_t die_at(const struct isa_object *object, const struct isa_function *f, uint32_t index,
                      bool from_it_on, uint64_t address, uint64_t *inside)
{
    const struct isa_debug *d = object->debug;
    const int64_t owner = isa_function_die(object, f);

    *inside = 0;
    if (owner == ISA_NO_DIE)
        return ISA_NO_DIE;
    for (uint32_t i = (uint32_t)owner + 1; i < d->dies[owner].end; i++) {
        const struct isa_attr *location = isa_die_attr(d, i, ISA_AT_LOCATION);
        const struct isa_attr *origin = isa_die_attr(d, i, ISA_AT_ABSTRACT_ORIGIN);
        const uint32_t source = origin != NULL ? (uint32_t)origin->value : i; /* entry of the inlined function */

        if (location == NULL || isa_die_attr(d, source, ISA_AT_NAME) == NULL)
            continue;
        for (uint32_t k = 0; k < location->count; k++) {
            const struct isa_var_location *p = &d->locations[location->value + k];

            *inside = address - p->value;
            if (p->kind == ISA_LOCATION_ADDRESS && p->value <= address &&
                *inside < isa_type_bytes(d, isa_die_type(d, source), 0) &&
                (from_it_on ? p->to != 0 && p->from == index
                            : p->to == 0 || (index >= p->from && index < p->to)))
                return source;
        }
    }
    return ISA_NO_DIE;
}

/** Returns true if instruction @index belongs to all blocks and inlined calls between function entry @owner and entry @die. */
static bool is_in_scope(const struct isa_debug *d, uint32_t owner, uint32_t die, uint32_t index)
{
    for (uint32_t i = owner + 1; i < die; i++) {
        const struct isa_attr *spans = d->dies[i].end > die ? isa_die_attr(d, i, ISA_AT_RANGES) : NULL;
        bool has_code = spans == NULL;

        for (uint32_t k = 0; spans != NULL && k < spans->count; k++)
            has_code |= index >= d->spans[spans->value + k].from && index < d->spans[spans->value + k].to;
        if (!has_code)
            return false;
    }
    return true;
}

/** Returns the variable of an optimised kernel, or of code inlined into it, that the code stores at @offset of local memory. If
 *  several variables share the memory, returns the only one whose scope contains instruction @index, or ISA_NO_DIE. */
static int64_t stored_die(const struct isa_object *object, const struct isa_function *f, uint32_t index, uint32_t offset,
                          uint64_t *inside)
{
    const struct isa_debug *d = object->debug;
    const int64_t owner = isa_function_die(object, f);
    int64_t found = ISA_NO_DIE;
    bool several = false, in_scope = false;

    for (uint32_t i = (uint32_t)owner + 1; owner != ISA_NO_DIE && i < d->dies[owner].end; i++) {
        const struct isa_attr *start = isa_die_attr(d, i, ISA_AT_LOCAL_OFFSET);
        const struct isa_attr *origin = isa_die_attr(d, i, ISA_AT_ABSTRACT_ORIGIN);
        const uint32_t source = origin != NULL ? (uint32_t)origin->value : i; /* entry of the inlined function */
        bool here;

        if (start == NULL || isa_die_attr(d, source, ISA_AT_NAME) == NULL || offset < start->value ||
            offset - start->value >= isa_type_bytes(d, isa_die_type(d, source), 0))
            continue;
        here = is_in_scope(d, (uint32_t)owner, i, index);
        if (found != ISA_NO_DIE && here == in_scope)
            several |= found != source;
        if (found != ISA_NO_DIE && (in_scope || !here))
            continue;
        several &= here == in_scope;
        found = source;
        in_scope = here;
        *inside = offset - start->value;
    }
    return several ? ISA_NO_DIE : found;
}

/* The variables of a kernel in local memory have fixed addresses. */
int64_t chk_local_die(const struct isa_object *object, const struct isa_function *kernel,
                      uint32_t index, uint32_t offset, uint64_t *inside)
{
    const int64_t die = die_at(object, kernel, index, false, ISA_LOCAL_BASE + offset, inside);

    return die != ISA_NO_DIE ? die : stored_die(object, kernel, index, offset, inside);
}

/** Gets the range of bytes of local memory that a variable has at all instructions. Returns false if it has none. */
static bool local_range(const struct isa_debug *d, uint32_t die, uint64_t *first, uint64_t *bytes)
{
    const struct isa_attr *start = isa_die_attr(d, die, ISA_AT_LOCAL_OFFSET);
    const struct isa_attr *location = isa_die_attr(d, die, ISA_AT_LOCATION);

    *bytes = isa_type_bytes(d, isa_die_type(d, die), 0);
    if (start != NULL) {
        *first = start->value;
        return true;
    }
    if (location == NULL || location->count != 1 || d->locations[location->value].kind != ISA_LOCATION_ADDRESS)
        return false;
    *first = d->locations[location->value].value - ISA_LOCAL_BASE;
    return *first < ISA_APERTURE_BYTES;
}

void chk_put_local_before(const struct isa_object *object, const struct isa_function *kernel, uint32_t index, uint64_t offset,
                          struct lw_sink *out)
{
    const struct isa_debug *d = object->debug;
    const struct isa_bound *bound = isa_object_bound_at(object, index);
    const int64_t owner = isa_function_die(object, kernel);
    uint64_t first, bytes, end = 0, size = 0, inside;
    int64_t found = ISA_NO_DIE;

    if (d != NULL && bound != NULL && bound->kind == ISA_BOUND_SOURCE) { /* the instruction accesses this variable */
        found = chk_local_die(object, kernel, index, bound->which, &inside);
        size = found != ISA_NO_DIE ? isa_type_bytes(d, isa_die_type(d, (uint32_t)found), 0) : 0;
        end = bound->which - inside + size;
        if (found == ISA_NO_DIE || end > offset)
            return;
    }
    const bool known = found != ISA_NO_DIE;

    for (uint32_t i = (uint32_t)owner + 1; owner != ISA_NO_DIE && !known && i < d->dies[owner].end; i++) {
        if (isa_die_name(d, i) == NULL || !local_range(d, i, &first, &bytes) || bytes == 0 || first + bytes > offset ||
            first + bytes <= end || !is_in_scope(d, (uint32_t)owner, i, index))
            continue;
        found = i;
        end = first + bytes;
        size = bytes;
    }
    if (found == ISA_NO_DIE)
        return;
    lw_printf(out, ", and the access is %llu byte%s past the end of ", (unsigned long long)(offset - end),
              offset - end == 1 ? "" : "s");
    chk_put_sized(d, found, size, out);
}

void chk_put_sized(const struct isa_debug *d, int64_t die, uint64_t bytes, struct lw_sink *out)
{
    const struct isa_attr *origin = isa_die_attr(d, (uint32_t)die, ISA_AT_ABSTRACT_ORIGIN);
    const uint32_t source = origin != NULL ? (uint32_t)origin->value : (uint32_t)die;
    const struct isa_attr *line = isa_die_attr(d, source, ISA_AT_DECL_LINE);
    char room[ISA_SYMBOL_BYTES];

    lw_printf(out, "'%s' (%llu bytes", isa_symbol_text(isa_die_name(d, source), room), (unsigned long long)bytes);
    if (line != NULL)
        lw_printf(out, ", declared in line %llu", (unsigned long long)line->value);
    lw_put(out, ")");
}

/* In debug address ranges a register has 4 bytes. */
int64_t chk_register_die(const struct isa_object *object, uint32_t index, bool scalar, uint32_t number)
{
    const struct isa_function *f = isa_object_function_at(object, index);
    const uint64_t address = (UINT64_C(0xf0) + (scalar ? 2 : 0)) << 56;
    int64_t die = ISA_NO_DIE;
    uint64_t inside;

    if (f == NULL || object->debug == NULL)
        return ISA_NO_DIE;
    die = die_at(object, f, index, false, address + 4 * (uint64_t)number, &inside);
    /* Where control paths join, copies of registers may precede the instruction at which the variable's location begins. */
    return die != ISA_NO_DIE ? die
                             : die_at(object, f, index + 1, true, address + 4 * (uint64_t)number, &inside);
}

void chk_put_where(const struct emu_machine *machine, const struct isa_object *object, const struct isa_function *kernel,
                   uint64_t address, struct lw_sink *out, const char **name)
{
    struct emu_allocation a;
    char room[ISA_SYMBOL_BYTES];
    bool inside;

    *name = "";
    if (address >= ISA_GLOBAL_BASE) {
        if (!emu_allocation_at(machine, address, &a, &inside))
            return;
        *name = a.name;
        if (inside && a.name[0] != '\0')
            lw_printf(out, ", byte %llu of '%s'", (unsigned long long)(address - a.address),
                      isa_symbol_text(a.name, room));
        return;
    }
    if (address - ISA_SHARED_BASE >= ISA_APERTURE_BYTES || object == NULL || kernel == NULL)
        return;
    const uint32_t offset = (uint32_t)(address - ISA_SHARED_BASE);
    const struct isa_variable *v = isa_shared_variable(object, kernel, offset);
    if (v == NULL)
        return;
    const int64_t die = chk_variable_die(object, v, kernel);
    *name = v->name;
    if (die == ISA_NO_DIE) {
        lw_printf(out, ", byte %u of '%s'", offset - v->shared_offset, isa_symbol_text(isa_own_name(v->name), room));
        return;
    }
    lw_put(out, ", in '");
    chk_put_element(object->debug, die, offset - v->shared_offset, out);
}
