/* SPDX-License-Identifier: Apache-2.0 */
/* Writes structures that are passed by value in the form of launch files: "{struct: [{s32: 5}, A]}". */
#include "launch/launch_priv.h"

int64_t lnc_described_kernel(const struct isa_object *described, const struct isa_function *kernel)
{
    for (unsigned i = 0; i < described->function_count; i++) {
        const struct isa_function *f = &described->functions[i];
        const int64_t die = f->kernel && strcmp(f->name, kernel->name) == 0 ? isa_function_die(described, f) : ISA_NO_DIE;
        const unsigned count = kernel->param_count;

        if (die != ISA_NO_DIE && f->param_count == count &&
            isa_function_parameter(described->debug, die, count) == ISA_NO_DIE &&
            (count == 0 || isa_function_parameter(described->debug, die, count - 1) != ISA_NO_DIE))
            return die;
    }
    return ISA_NO_DIE;
}

bool lnc_has_image(const struct isa_object *described, const struct isa_function *kernel)
{
    const int64_t function = lnc_described_kernel(described, kernel);
    const struct isa_debug *debug = described->debug;

    for (unsigned i = 0; function != ISA_NO_DIE && i < kernel->param_count; i++) {
        const int64_t die = isa_function_parameter(debug, function, i);
        int64_t type = die != ISA_NO_DIE ? isa_type_plain(debug, isa_die_type(debug, (uint32_t)die), NULL) : ISA_NO_DIE;
        const char *name;

        if (type == ISA_NO_DIE || !isa_tag_is_pointer(debug->dies[type].tag))
            continue;
        type = isa_type_plain(debug, isa_die_type(debug, (uint32_t)type), NULL);
        name = type != ISA_NO_DIE ? isa_die_name(debug, (uint32_t)type) : NULL;
        if (name != NULL && strncmp(name, "opencl_image", 12) == 0)
            return true;
    }
    return false;
}

static void put_type(const struct isa_debug *debug, int64_t type, unsigned depth, struct lw_sink *out)
{
    const char *name = type != ISA_NO_DIE ? isa_die_name(debug, (uint32_t)type) : NULL;
    const unsigned tag = type != ISA_NO_DIE ? debug->dies[type].tag : 0;

    if (name != NULL)
        lw_put(out, name);
    else if (type == ISA_NO_DIE || depth == 0)
        lw_put(out, "void");
    else if (isa_tag_is_pointer(tag)) {
        put_type(debug, isa_die_type(debug, (uint32_t)type), depth - 1, out);
        lw_put(out, " *");
    } else if (tag == ISA_TAG_CONST || tag == ISA_TAG_VOLATILE || tag == ISA_TAG_RESTRICT) {
        lw_put(out, tag == ISA_TAG_CONST ? "const " : "");
        put_type(debug, isa_die_type(debug, (uint32_t)type), depth - 1, out);
    } else
        lw_put(out, tag == ISA_TAG_ARRAY ? "array" : "struct");
}

void lnc_type_put(const struct isa_debug *debug, int64_t type, struct lw_sink *out)
{
    put_type(debug, type, 8, out);
}

/** A structure that is being written. */
struct layout {
    const struct isa_debug *debug;
    struct lnc_members *members;
    struct lw_sink *out, *names;
    uint64_t at, align; /* end of the members that have been written, and their largest alignment */
    bool any;           /* a member has been written */
};

uint64_t lnc_element_bytes(const struct lnc_element *element)
{
    const struct lnc_type *type = lnc_type_find(element->type);

    return type != NULL ? type->bytes : 1;
}

void lnc_zeros_put(const char *type, uint64_t count, struct lw_sink *out)
{
    lw_printf(out, "{%s: [", type);
    for (uint64_t i = 0; i < count; i++)
        lw_put(out, i == 0 ? "0" : ", 0");
    lw_put(out, "]}");
}

/** Writes padding before a member of @bytes at offset @wanted, if its alignment @align alone would place the member at
 *  another offset. Returns false if launch files have no form for this layout. */
static bool put_gap(struct layout *l, uint64_t wanted, uint64_t bytes, uint64_t align)
{
    const uint64_t natural = (l->at + align - 1) / align * align;

    if (wanted % align != 0 || wanted < l->at)
        return false;
    lw_put(l->out, l->any ? ", " : "");
    lw_put(l->names, l->any ? ", " : "");
    if (natural != wanted) {
        lnc_zeros_put("u8", wanted - l->at, l->out);
        lw_put(l->out, ", ");
        lw_put(l->names, "(gap), ");
    }
    l->any = true;
    l->at = wanted + bytes;
    l->align = l->align > align ? l->align : align;
    return true;
}

bool lnc_is_structure(const struct isa_debug *debug, int64_t type)
{
    return type != ISA_NO_DIE && (debug->dies[type].tag == ISA_TAG_STRUCTURE ||
                                  debug->dies[type].tag == ISA_TAG_CLASS);
}

static bool put_structure(const struct isa_debug *debug, int64_t type, const char *path, unsigned depth,
                          struct lnc_members *members, struct lw_sink *out, struct lw_sink *names, uint64_t *align);

/** Writes one member, whose type without qualifiers is @is. Returns false if memory is short, or if launch files have
 *  no form for the member. */
static bool put_member(struct layout *l, uint32_t member, int64_t is, const char *path, unsigned depth)
{
    const char *name = isa_die_name(l->debug, member) != NULL ? isa_die_name(l->debug, member) : "";
    const char *whole = lw_arena_printf(l->members->arena, "%s%s%s", path, *path != '\0' ? "." : "", name);
    const uint64_t wanted = isa_die_number(l->debug, member, ISA_AT_MEMBER_LOCATION, 0);
    struct lw_buffer inner, inner_names;
    struct lnc_element element;
    uint64_t align = 1;
    bool fine = whole != NULL;

    lnc_element_of(l->debug, is, &element);
    if (!fine || element.type[0] == '\0')
        return false;
    if (!lnc_is_structure(l->debug, is) || strcmp(element.type, "u8") != 0) {
        fine = put_gap(l, wanted, element.count * lnc_element_bytes(&element), lnc_element_bytes(&element)) &&
               l->members->put(l->members, whole, is, &element, l->out);
        lw_put(l->names, name);
        return fine;
    }
    lw_buffer_init(&inner);
    lw_buffer_init(&inner_names);
    fine = put_structure(l->debug, is, whole, depth + 1, l->members, &inner.sink, &inner_names.sink, &align) &&
           put_gap(l, wanted, isa_die_number(l->debug, (uint32_t)is, ISA_AT_BYTE_SIZE, 0), align) &&
           inner.text != NULL && inner_names.text != NULL;
    lw_put(l->out, fine ? inner.text : "");
    lw_printf(l->names, "%s (%s)", name, fine ? inner_names.text : "");
    lw_buffer_fini(&inner);
    lw_buffer_fini(&inner_names);
    return fine;
}

static bool put_structure(const struct isa_debug *debug, int64_t type, const char *path, unsigned depth,
                          struct lnc_members *members, struct lw_sink *out, struct lw_sink *names, uint64_t *align)
{
    const uint64_t bytes = isa_die_number(debug, (uint32_t)type, ISA_AT_BYTE_SIZE, 0);
    struct layout l = {.debug = debug, .members = members, .out = out, .names = names, .align = 1};
    bool fine = depth < 8 && bytes != 0;

    lw_put(out, "{struct: [");
    for (uint32_t i = (uint32_t)type + 1; fine && i < debug->dies[type].end; i = debug->dies[i].end) {
        if (debug->dies[i].tag == ISA_TAG_INHERITANCE || isa_die_attr(debug, i, ISA_AT_BIT_SIZE) != NULL ||
            isa_die_attr(debug, i, ISA_AT_DATA_BIT_OFFSET) != NULL)
            fine = false;
        else if (debug->dies[i].tag == ISA_TAG_MEMBER && isa_die_attr(debug, i, ISA_AT_EXTERNAL) == NULL)
            fine = put_member(&l, i, isa_type_plain(debug, isa_die_type(debug, i), NULL), path, depth);
    }
    if (fine && l.any && (l.at + l.align - 1) / l.align * l.align < bytes) { /* the structure has a larger
                                                                              * alignment than its members */
        lw_put(out, ", ");
        lnc_zeros_put("u8", bytes - l.at, out);
        lw_put(names, ", (gap)");
        l.at = bytes;
    }
    *align = l.align;
    lw_put(out, "]}");
    return fine && l.any && (l.at + l.align - 1) / l.align * l.align == bytes;
}

bool lnc_structure_put(const struct isa_debug *debug, int64_t type, uint64_t bytes, struct lnc_members *members,
                       struct lw_sink *out, struct lw_sink *names)
{
    struct lw_buffer text, words;
    uint64_t align;
    bool fine;

    lw_buffer_init(&text);
    lw_buffer_init(&words);
    fine = isa_die_number(debug, (uint32_t)type, ISA_AT_BYTE_SIZE, 0) == bytes &&
           put_structure(debug, type, "", 0, members, &text.sink, &words.sink, &align) && text.text != NULL &&
           words.text != NULL;
    for (char *c = words.text; c != NULL && *c != '\0'; c++) /* replaces characters that would end the comment, because names
                                                              * may contain any character */
        if ((unsigned char)*c < ' ')
            *c = '?';
    lw_put(out, fine ? text.text : "");
    lw_put(names, fine ? words.text : "");
    lw_buffer_fini(&text);
    lw_buffer_fini(&words);
    return fine;
}
