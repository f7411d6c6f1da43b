/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of the source in an object: the rules for valid debug information, and the section .lanewise.debug that
 * stores it (docs/reference/object.md). isa_dwarf_info.c converts it to DWARF. */
#include "isa/object/isa_elf_priv.h"

static const uint8_t debug_magic[8] = { 'L', 'W', 'D', 'B', 'G', 0, 0, 1 };

enum { MAX_ATTRS = 64, MAX_DEPTH = 200 };

/* ---- attributes and tags ------------------------------------------------------------------------------ */

enum isa_attr_kind isa_debug_attr_kind(unsigned name)
{
    switch (name) {
    case ISA_AT_NAME:
    case ISA_AT_LINKAGE_NAME: return ISA_ATTR_TEXT;
    case ISA_AT_TYPE:
    case ISA_AT_ABSTRACT_ORIGIN: return ISA_ATTR_DIE;
    case ISA_AT_LOCATION: return ISA_ATTR_LOCATIONS;
    case ISA_AT_RANGES: return ISA_ATTR_SPANS;
    case ISA_AT_LOW_PC: return ISA_ATTR_FUNCTION;
    case ISA_AT_CONST_VALUE:
    case ISA_AT_LOWER_BOUND: return ISA_ATTR_SIGNED;
    case ISA_AT_PROTOTYPED:
    case ISA_AT_ARTIFICIAL:
    case ISA_AT_DECLARATION:
    case ISA_AT_EXTERNAL:
    case ISA_AT_ENUM_CLASS:
    case ISA_AT_VECTOR: return ISA_ATTR_FLAG;
    case ISA_AT_BYTE_SIZE:
    case ISA_AT_BIT_SIZE:
    case ISA_AT_INLINE:
    case ISA_AT_CALLING_CONVENTION:
    case ISA_AT_UPPER_BOUND:
    case ISA_AT_ACCESSIBILITY:
    case ISA_AT_COUNT:
    case ISA_AT_MEMBER_LOCATION:
    case ISA_AT_DECL_FILE:
    case ISA_AT_DECL_LINE:
    case ISA_AT_ENCODING:
    case ISA_AT_CALL_COLUMN:
    case ISA_AT_CALL_FILE:
    case ISA_AT_CALL_LINE:
    case ISA_AT_LOCAL_OFFSET:
    case ISA_AT_DATA_BIT_OFFSET: return ISA_ATTR_NUMBER;
    default: return ISA_ATTR_NONE;
    }
}

bool isa_debug_tag_known(unsigned tag)
{
    switch (tag) {
    case ISA_TAG_ARRAY:
    case ISA_TAG_CLASS:
    case ISA_TAG_ENUMERATION:
    case ISA_TAG_PARAMETER:
    case ISA_TAG_BLOCK:
    case ISA_TAG_MEMBER:
    case ISA_TAG_POINTER:
    case ISA_TAG_REFERENCE:
    case ISA_TAG_STRUCTURE:
    case ISA_TAG_SUBROUTINE:
    case ISA_TAG_TYPEDEF:
    case ISA_TAG_UNION:
    case ISA_TAG_UNSPECIFIED:
    case ISA_TAG_INHERITANCE:
    case ISA_TAG_INLINED:
    case ISA_TAG_SUBRANGE:
    case ISA_TAG_BASE:
    case ISA_TAG_CONST:
    case ISA_TAG_ENUMERATOR:
    case ISA_TAG_SUBPROGRAM:
    case ISA_TAG_VARIABLE:
    case ISA_TAG_VOLATILE:
    case ISA_TAG_RESTRICT:
    case ISA_TAG_NAMESPACE:
    case ISA_TAG_UNSPECIFIED_TYPE:
    case ISA_TAG_RVALUE_REFERENCE: return true;
    default: return false; /* the compile unit has no entry in an object, where its children are the root entries */
    }
}

const struct isa_attr *isa_die_attr(const struct isa_debug *debug, uint32_t die, unsigned name)
{
    const struct isa_die *d = &debug->dies[die];

    for (uint32_t i = 0; i < d->attr_count; i++) {
        if (debug->attrs[d->first_attr + i].name == name)
            return &debug->attrs[d->first_attr + i];
    }
    return NULL;
}

/* ---- rules for valid debug information -------------------------------------------- */

static bool expression_ok(const struct isa_debug *debug, const struct isa_var_location *location)
{
    return location->value <= debug->expression_bytes &&
           location->variable <= debug->expression_bytes - location->value &&
           isa_expression_ok(debug->expressions + location->value, location->variable);
}

static bool locations_ok(const struct isa_object *object, const struct isa_attr *attr)
{
    const struct isa_debug *debug = object->debug;
    uint32_t end = 0;

    if (attr->count == 0 || attr->value > debug->location_count ||
        attr->count > debug->location_count - attr->value)
        return false;
    for (uint32_t i = 0; i < attr->count; i++) {
        const struct isa_var_location *location = &debug->locations[attr->value + i];
        bool always = attr->count == 1 && location->from == 0 && location->to == 0;

        if (location->kind >= ISA_LOCATION_KIND_COUNT ||
            (location->kind == ISA_LOCATION_CONSTANT && location->shared_pointer) ||
            (location->kind == ISA_LOCATION_VARIABLE && location->variable >= object->variable_count) ||
            (location->kind == ISA_LOCATION_EXPRESSION && !expression_ok(debug, location)) ||
            (!always && (location->from < end || location->to <= location->from ||
                         location->to > object->text_count)))
            return false;
        end = location->to;
    }
    return true;
}

static bool spans_ok(const struct isa_object *object, const struct isa_attr *attr)
{
    const struct isa_debug *debug = object->debug;
    uint32_t end = 0;

    if (attr->count == 0 || attr->value > debug->span_count ||
        attr->count > debug->span_count - attr->value)
        return false;
    for (uint32_t i = 0; i < attr->count; i++) {
        const struct isa_span *span = &debug->spans[attr->value + i];

        if (span->from < end || span->to <= span->from || span->to > object->text_count)
            return false;
        end = span->to;
    }
    return true;
}

static bool text_ok(const char *text)
{
    size_t size = text != NULL ? strlen(text) : 0;

    if (size == 0 || size > ISA_NAME_BYTES)
        return false;
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 127)
            return false;
    }
    return true;
}

/* Returns whether an attribute of an entry of unit @unit is valid. References and files are those of the unit. */
static bool attr_ok(const struct isa_object *object, const struct isa_attr *attr, uint32_t unit)
{
    const struct isa_debug *debug = object->debug;

    switch (isa_debug_attr_kind(attr->name)) {
    case ISA_ATTR_TEXT: return text_ok(attr->text);
    case ISA_ATTR_DIE: return attr->value >= debug->units[unit].first_die && attr->value < isa_compile_unit_end(debug, unit);
    case ISA_ATTR_LOCATIONS: return locations_ok(object, attr);
    case ISA_ATTR_SPANS: return spans_ok(object, attr);
    case ISA_ATTR_FUNCTION: return attr->value < object->function_count;
    case ISA_ATTR_FLAG: return attr->value == 1;
    case ISA_ATTR_SIGNED: return true;
    case ISA_ATTR_NUMBER:
        return (attr->name != ISA_AT_DECL_FILE && attr->name != ISA_AT_CALL_FILE) ||
               isa_compile_unit_has_file(&debug->units[unit], attr->value);
    default: return false;
    }
}

static bool units_ok(const struct isa_object *object)
{
    const struct isa_debug *debug = object->debug;

    if (debug->unit_count == 0 || debug->units[0].first_die != 0)
        return false;
    for (uint32_t i = 0; i < debug->unit_count; i++) {
        const struct isa_compile_unit *unit = &debug->units[i];
        const uint32_t end = isa_compile_unit_end(debug, i);

        if (unit->first_die > end || end > debug->die_count || unit->first_file == 0 ||
            unit->first_file > object->file_count || unit->file_count > object->file_count - unit->first_file)
            return false;
    }
    return true;
}

enum lw_status isa_debug_check(const struct isa_object *object, struct lw_error *err)
{
    const struct isa_debug *debug = object->debug;
    uint32_t stack[MAX_DEPTH], unit = 0;
    unsigned depth = 0;

    if (debug == NULL)
        return LW_OK;
    if (!units_ok(object))
        return LW_FAIL(err, LW_EFORMAT, "the compile units of the debug information are malformed");
    for (uint32_t i = 0; i < debug->die_count; i++) {
        const struct isa_die *die = &debug->dies[i];

        while (depth != 0 && stack[depth - 1] == i)
            depth--;
        while (isa_compile_unit_end(debug, unit) == i)
            unit++;
        if (!isa_debug_tag_known(die->tag) || die->end <= i ||
            die->end > (depth != 0 ? stack[depth - 1] : isa_compile_unit_end(debug, unit)) ||
            die->attr_count > MAX_ATTRS || die->first_attr > debug->attr_count ||
            die->attr_count > debug->attr_count - die->first_attr || depth == MAX_DEPTH)
            return LW_FAIL(err, LW_EFORMAT, "debug entry %u (tag 0x%x) is malformed", i, die->tag);
        if (die->end > i + 1)
            stack[depth++] = die->end;
        for (uint32_t k = 0; k < die->attr_count; k++) {
            const struct isa_attr *attr = &debug->attrs[die->first_attr + k];

            if (!attr_ok(object, attr, unit) || isa_die_attr(debug, i, attr->name) != attr)
                return LW_FAIL(err, LW_EFORMAT, "debug entry %u: attribute 0x%x is malformed", i,
                               attr->name);
        }
    }
    return LW_OK;
}

/* ---- the section ------------------------------------------------------------------ */

static void put_attr(struct isa_bytes *out, const struct isa_attr *attr)
{
    isa_bytes_uleb(out, attr->name);
    switch (isa_debug_attr_kind(attr->name)) {
    case ISA_ATTR_TEXT:
        isa_bytes_uleb(out, strlen(attr->text));
        isa_bytes_put(out, attr->text, strlen(attr->text));
        break;
    case ISA_ATTR_SIGNED: isa_bytes_sleb(out, (int64_t)attr->value); break;
    case ISA_ATTR_FLAG: break;
    case ISA_ATTR_LOCATIONS:
    case ISA_ATTR_SPANS:
        isa_bytes_uleb(out, attr->value);
        isa_bytes_uleb(out, attr->count);
        break;
    default: isa_bytes_uleb(out, attr->value); break;
    }
}

static void put_units(const struct isa_debug *debug, struct isa_bytes *out)
{
    isa_bytes_uleb(out, debug->unit_count);
    for (uint32_t i = 0; i < debug->unit_count; i++) {
        const struct isa_compile_unit *unit = &debug->units[i];

        isa_bytes_uleb(out, unit->language);
        isa_bytes_uleb(out, isa_compile_unit_end(debug, i) - unit->first_die);
        isa_bytes_uleb(out, unit->first_file);
        isa_bytes_uleb(out, unit->file_count);
    }
}

void isa_debug_write(const struct isa_object *object, struct isa_bytes *out)
{
    const struct isa_debug *debug = object->debug;

    if (debug == NULL)
        return;
    isa_bytes_put(out, debug_magic, sizeof debug_magic);
    isa_bytes_uleb(out, debug->units[0].language);
    isa_bytes_uleb(out, debug->location_count);
    for (uint32_t i = 0; i < debug->location_count; i++) {
        const struct isa_var_location *location = &debug->locations[i];

        isa_bytes_uleb(out, location->from);
        isa_bytes_uleb(out, location->to);
        isa_bytes_uleb(out, location->kind | (location->innermost_only ? 8u : 0) |
                                (location->shared_pointer ? 16u : 0));
        isa_bytes_uleb(out, location->variable);
        isa_bytes_uleb(out, location->value);
    }
    isa_bytes_uleb(out, debug->span_count);
    for (uint32_t i = 0; i < debug->span_count; i++) {
        isa_bytes_uleb(out, debug->spans[i].from);
        isa_bytes_uleb(out, debug->spans[i].to);
    }
    isa_bytes_uleb(out, debug->attr_count);
    isa_bytes_uleb(out, debug->die_count);
    for (uint32_t i = 0; i < debug->die_count; i++) {
        const struct isa_die *die = &debug->dies[i];

        isa_bytes_uleb(out, die->tag);
        isa_bytes_uleb(out, die->end - i);
        isa_bytes_uleb(out, die->attr_count);
        for (uint32_t k = 0; k < die->attr_count; k++)
            put_attr(out, &debug->attrs[die->first_attr + k]);
    }
    if (debug->expression_bytes != 0 || debug->unit_count > 1) { /* written only if there are expressions or several units, so
                                                                  * that other objects keep their format */
        isa_bytes_uleb(out, debug->expression_bytes);
        isa_bytes_put(out, debug->expressions, debug->expression_bytes);
    }
    if (debug->unit_count > 1)
        put_units(debug, out);
}

static void get_attr(struct isa_reader *r, struct isa_attr *attr)
{
    attr->name = (uint16_t)isa_reader_number(r, UINT16_MAX, "name of an attribute");
    switch (isa_debug_attr_kind(attr->name)) {
    case ISA_ATTR_TEXT: attr->text = isa_reader_text(r, "text of an attribute"); break;
    case ISA_ATTR_SIGNED: attr->value = (uint64_t)isa_reader_signed(r, "an attribute"); break;
    case ISA_ATTR_FLAG: attr->value = 1; break;
    case ISA_ATTR_LOCATIONS:
    case ISA_ATTR_SPANS:
        attr->value = isa_reader_number(r, UINT32_MAX, "a list");
        attr->count = (uint32_t)isa_reader_number(r, UINT32_MAX, "length of a list");
        break;
    case ISA_ATTR_NONE: isa_reader_bad(r, "an unknown attribute"); break;
    default: attr->value = isa_reader_number(r, UINT64_MAX, "an attribute"); break;
    }
}

static void get_expressions(struct isa_reader *r, struct isa_debug *debug)
{
    uint8_t *bytes;
    size_t count;

    if (r->status != LW_OK || r->p == r->end)
        return;
    count = isa_reader_count(r, 1, "length of expressions");
    if (count > UINT32_MAX || (count == 0 && r->p == r->end))
        isa_reader_bad(r, "length of expressions");
    bytes = isa_reader_capacity(r, count, 1);
    if (r->status != LW_OK || count == 0)
        return;
    memcpy(bytes, r->p, count);
    r->p += count;
    debug->expressions = bytes;
    debug->expression_bytes = (uint32_t)count;
}

/* Reads the units. If the section ends before them, all entries and files are those of one unit with the language @language. */
static void get_units(struct isa_reader *r, unsigned language, struct isa_debug *debug)
{
    const bool several = r->status == LW_OK && r->p != r->end;
    const size_t count = several ? isa_reader_count(r, 4, "unit count") : 1;
    uint32_t first = 0;

    if (several && count < 2)
        isa_reader_bad(r, "unit count");
    debug->units = isa_reader_capacity(r, count, sizeof *debug->units);
    if (r->status != LW_OK)
        return;
    debug->unit_count = (uint32_t)count;
    debug->units[0] = (struct isa_compile_unit){.language = language, .first_file = 1, .file_count = r->object->file_count - 1};
    for (size_t i = 0; several && i < count && r->status == LW_OK; i++) {
        struct isa_compile_unit *unit = &debug->units[i];

        unit->language = (unsigned)isa_reader_number(r, UINT8_MAX, "language of a unit");
        unit->first_die = first;
        first += (uint32_t)isa_reader_number(r, debug->die_count - first, "entries of a unit");
        unit->first_file = (uint32_t)isa_reader_number(r, UINT16_MAX, "first file of a unit");
        unit->file_count = (uint32_t)isa_reader_number(r, UINT16_MAX, "files of a unit");
    }
    if (several && (first != debug->die_count || debug->units[0].language != language))
        isa_reader_bad(r, "units");
}

static void get_dies(struct isa_reader *r, struct isa_debug *debug)
{
    size_t attrs = isa_reader_count(r, 1, "attribute count"), next = 0;
    size_t count = isa_reader_count(r, 3, "entry count");

    debug->attrs = isa_reader_capacity(r, attrs, sizeof *debug->attrs);
    debug->dies = isa_reader_capacity(r, count, sizeof *debug->dies);
    for (size_t i = 0; i < count && r->status == LW_OK; i++) {
        struct isa_die *die = &debug->dies[i];

        die->tag = (uint16_t)isa_reader_number(r, UINT16_MAX, "tag");
        die->end = (uint32_t)(i + isa_reader_number(r, count - i, "size of an entry"));
        die->first_attr = (uint32_t)next;
        die->attr_count =
            (uint32_t)isa_reader_number(r, attrs - next, "attributes of an entry");
        for (uint32_t k = 0; k < die->attr_count && r->status == LW_OK; k++)
            get_attr(r, &debug->attrs[next++]);
        debug->die_count = (uint32_t)i + 1;
    }
    debug->attr_count = (uint32_t)next;
    if (r->status == LW_OK && next != attrs)
        isa_reader_bad(r, "attributes without an entry");
}

enum lw_status isa_debug_read(const uint8_t *data, size_t size, struct isa_object *object,
                              struct lw_error *err)
{
    struct isa_reader r = isa_reader_begin(".lanewise.debug", debug_magic, data, size, object, err);
    struct isa_debug *debug = isa_reader_capacity(&r, 1, sizeof *debug);
    unsigned language;
    size_t count;

    if (r.status != LW_OK)
        return r.status;
    language = (unsigned)isa_reader_number(&r, UINT16_MAX, "language");
    count = isa_reader_count(&r, 5, "place count");
    debug->locations = isa_reader_capacity(&r, count, sizeof *debug->locations);
    for (size_t i = 0; i < count && r.status == LW_OK; i++) {
        struct isa_var_location *location = &debug->locations[i];
        unsigned kind;

        location->from = (uint32_t)isa_reader_number(&r, UINT32_MAX, "instruction of a location");
        location->to = (uint32_t)isa_reader_number(&r, UINT32_MAX, "instruction of a location");
        kind = (unsigned)isa_reader_number(&r, 31, "kind of a location");
        location->kind = kind & 7;
        location->innermost_only = kind & 8;
        location->shared_pointer = kind & 16;
        location->variable = (uint32_t)isa_reader_number(&r, UINT32_MAX, "variable of a location");
        location->value = isa_reader_number(&r, UINT64_MAX, "value of a location");
        debug->location_count = (uint32_t)i + 1;
    }
    count = isa_reader_count(&r, 2, "span count");
    debug->spans = isa_reader_capacity(&r, count, sizeof *debug->spans);
    for (size_t i = 0; i < count && r.status == LW_OK; i++) {
        debug->spans[i].from = (uint32_t)isa_reader_number(&r, UINT32_MAX, "span");
        debug->spans[i].to = (uint32_t)isa_reader_number(&r, UINT32_MAX, "span");
        debug->span_count = (uint32_t)i + 1;
    }
    get_dies(&r, debug);
    get_expressions(&r, debug);
    get_units(&r, language, debug);
    object->debug = debug;
    return isa_reader_end(&r, "table");
}
