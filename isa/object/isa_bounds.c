/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of an object, which state in which variable each memory access must stay, and the section .lanewise.bounds that stores
 * them (docs/reference/object.md). */
#include <stdlib.h>

#include "isa/object/isa_elf_priv.h"

static const uint8_t bounds_magic[8] = { 'L', 'W', 'B', 'N', 'D', 0, 0, 1 };

void isa_bounds_write(const struct isa_object *object, struct isa_bytes *out)
{
    uint32_t last = 0;

    if (object->bound_count == 0)
        return;
    isa_bytes_put(out, bounds_magic, sizeof bounds_magic);
    isa_bytes_uleb(out, object->bound_count);
    for (unsigned i = 0; i < object->bound_count; i++) {
        const struct isa_bound *b = &object->bounds[i];

        isa_bytes_uleb(out, b->insn - last);
        isa_bytes_uleb(out, b->kind);
        isa_bytes_uleb(out, b->which);
        isa_bytes_uleb(out, b->bytes);
        last = b->insn;
    }
}

enum lw_status isa_bounds_read(const uint8_t *data, size_t size, struct isa_object *object,
                               struct lw_error *err)
{
    struct isa_reader r = isa_reader_begin(".lanewise.bounds", bounds_magic, data, size, object, err);
    uint64_t insn = 0;
    size_t count;

    if (r.status != LW_OK)
        return r.status;
    count = isa_reader_count(&r, 4, "bound count");
    object->bounds = isa_reader_capacity(&r, count, sizeof *object->bounds);
    for (size_t i = 0; i < count && r.status == LW_OK; i++) {
        struct isa_bound *b = &object->bounds[i];

        insn += isa_reader_number(&r, UINT32_MAX - insn, "instruction of a bound");
        b->insn = (uint32_t)insn;
        b->kind = (uint8_t)isa_reader_number(&r, ISA_BOUND_KIND_COUNT - 1, "kind of a bound");
        b->which = (uint32_t)isa_reader_number(&r, UINT32_MAX, "variable of a bound");
        b->bytes = (uint32_t)isa_reader_number(&r, UINT32_MAX, "bytes of a bound");
        object->bound_count = (unsigned)i + 1;
    }
    return isa_reader_end(&r, "bound");
}

enum lw_status isa_bounds_check(const struct isa_object *object, struct lw_error *err)
{
    for (unsigned i = 0; i < object->bound_count; i++) {
        const struct isa_bound *b = &object->bounds[i];
        const struct isa_function *function =
            b->insn < object->text_count ? isa_object_function_at(object, b->insn) : NULL;
        bool bad = b->kind >= ISA_BOUND_KIND_COUNT;

        if (function == NULL || (i != 0 && b->insn <= object->bounds[i - 1].insn))
            return LW_FAIL(err, LW_EFORMAT, "bound %u: instruction %u is not inside a function, or out of order",
                           i, b->insn);
        if (b->kind == ISA_BOUND_VARIABLE)
            bad = b->which >= object->variable_count;
        else if (b->kind == ISA_BOUND_PARAM)
            bad = b->which >= function->param_count;
        if (b->kind == ISA_BOUND_LOCAL ? b->which > ISA_APERTURE_BYTES - b->bytes : b->bytes != 0)
            bad = true;
        if (bad)
            return LW_FAIL(err, LW_EFORMAT, "bound %u: the variable does not exist", i);
    }
    return LW_OK;
}

static int compare(const void *insn, const void *bound)
{
    const uint32_t a = *(const uint32_t *)insn, b = ((const struct isa_bound *)bound)->insn;

    return (a > b) - (a < b);
}

const struct isa_bound *isa_object_bound_at(const struct isa_object *object, uint32_t index)
{
    return object->bound_count != 0 ? bsearch(&index, object->bounds, object->bound_count,
                                              sizeof *object->bounds, compare) : NULL;
}
