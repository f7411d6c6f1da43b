/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that the translator refused, and the section .lanewise.refusals that stores them (docs/reference/object.md). */
#include "isa/object/isa_elf_priv.h"

static const uint8_t refusals_magic[8] = { 'L', 'W', 'R', 'E', 'F', 0, 0, 1 };

void isa_refusals_write(const struct isa_object *object, struct isa_bytes *out)
{
    if (object->refusal_count == 0)
        return;
    isa_bytes_put(out, refusals_magic, sizeof refusals_magic);
    isa_bytes_uleb(out, object->refusal_count);
    for (unsigned i = 0; i < object->refusal_count; i++) {
        const char *const texts[] = { object->refusals[i].name, object->refusals[i].message };

        for (unsigned k = 0; k < LW_COUNT_OF(texts); k++) {
            isa_bytes_uleb(out, strlen(texts[k]));
            isa_bytes_put(out, texts[k], strlen(texts[k]));
        }
    }
}

enum lw_status isa_refusals_read(const uint8_t *data, size_t size, struct isa_object *object,
                                 struct lw_error *err)
{
    struct isa_reader r = isa_reader_begin(".lanewise.refusals", refusals_magic, data, size, object, err);
    size_t count;

    if (r.status != LW_OK)
        return r.status;
    count = isa_reader_count(&r, 2, "refusal count");
    object->refusals = isa_reader_capacity(&r, count, sizeof *object->refusals);
    for (size_t i = 0; i < count && r.status == LW_OK; i++) {
        object->refusals[i].name = isa_reader_text(&r, "name of a refused kernel");
        object->refusals[i].message = isa_reader_text(&r, "reason of a refusal");
        if (r.status == LW_OK)
            object->refusal_count = (unsigned)i + 1;
    }
    return isa_reader_end(&r, "refusal");
}
