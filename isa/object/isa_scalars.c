/* SPDX-License-Identifier: Apache-2.0 */
/* Scalar types of the source, and their values as text. */
#include "isa/isa.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Encodings of base types, as DWARF numbers them. */
enum { ENCODING_FLOAT = 4, ENCODING_SIGNED = 5, ENCODING_SIGNED_CHAR = 6 };

bool isa_type_is_char(const struct isa_debug *debug, int64_t type)
{
    const char *name;

    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE || debug->dies[type].tag != ISA_TAG_BASE)
        return false;
    name = isa_die_name(debug, (uint32_t)type);
    return name != NULL && strcmp(name, "char") == 0;
}

bool isa_type_scalar(const struct isa_debug *debug, int64_t type, enum isa_scalar *out, unsigned *bytes)
{
    uint64_t size, encoding;
    unsigned tag;

    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE)
        return false;
    tag = debug->dies[type].tag;
    size = isa_type_bytes(debug, type, 0);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    *bytes = (unsigned)size;
    if (isa_tag_is_pointer(tag)) {
        *out = ISA_SCALAR_U64;
        return size == 8;
    }
    if (tag == ISA_TAG_ENUMERATION) {
        *out = size == 8 ? ISA_SCALAR_S64 : ISA_SCALAR_S32;
        return true;
    }
    if (tag != ISA_TAG_BASE)
        return false;
    encoding = isa_die_number(debug, (uint32_t)type, ISA_AT_ENCODING, 0);
    if (encoding == ENCODING_FLOAT && size >= 4)
        *out = size == 8 ? ISA_SCALAR_F64 : ISA_SCALAR_F32;
    else if (encoding == ENCODING_SIGNED || encoding == ENCODING_SIGNED_CHAR)
        *out = size == 8 ? ISA_SCALAR_S64 : ISA_SCALAR_S32;
    else
        *out = size == 8 ? ISA_SCALAR_U64 : ISA_SCALAR_U32;
    return true;
}

uint64_t isa_scalar_extend(enum isa_scalar type, unsigned bytes, uint64_t bits)
{
    if (bytes < 8)
        bits &= lw_mask(8 * bytes);
    if (bytes < 4 && type == ISA_SCALAR_S32)
        bits = (uint64_t)((int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    return type == ISA_SCALAR_U32 || type == ISA_SCALAR_S32 || type == ISA_SCALAR_F32 ? bits & UINT32_MAX : bits;
}

static void print_float(double d, bool single, struct lw_sink *out)
{
    char text[40];

    for (int digits = single ? 6 : 15; digits <= 17; digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, d);
        back = strtod(text, NULL);
        if (single ? (float)back == (float)d : back == d)
            break;
    }
    if (isnan(d))
        snprintf(text, sizeof text, "nan");
    lw_put(out, text);
}

void isa_scalar_print(enum isa_scalar type, uint64_t bits, struct lw_sink *out)
{
    const uint32_t low = (uint32_t)bits;
    double d;
    float f;

    switch (type) {
    case ISA_SCALAR_U32: lw_printf(out, "%u", low); break;
    case ISA_SCALAR_S32: lw_printf(out, "%d", (int32_t)low); break;
    case ISA_SCALAR_U64: lw_printf(out, "%llu", (unsigned long long)bits); break;
    case ISA_SCALAR_S64: lw_printf(out, "%lld", (long long)bits); break;
    case ISA_SCALAR_F32:
        memcpy(&f, &low, sizeof f);
        print_float((double)f, true, out);
        break;
    case ISA_SCALAR_F64:
        memcpy(&d, &bits, sizeof d);
        print_float(d, false, out);
        break;
    }
}

void isa_char_print(int64_t value, struct lw_sink *out)
{
    const bool printable = value >= 0 && value < 0x80 && isprint((int)value);

    lw_printf(out, printable ? "%lld '%c'" : "%lld", (long long)value, (int)(value & 0x7f));
}

const char *isa_enumerator_name(const struct isa_debug *debug, int64_t type, uint64_t bits)
{
    for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i++)
        if (debug->dies[i].tag == ISA_TAG_ENUMERATOR &&
            (uint32_t)isa_die_number(debug, i, ISA_AT_CONST_VALUE, 0) == (uint32_t)bits)
            return isa_die_name(debug, i) != NULL ? isa_die_name(debug, i) : "?";
    return NULL;
}
