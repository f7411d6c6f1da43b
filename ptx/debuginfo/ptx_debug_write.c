/* SPDX-License-Identifier: Apache-2.0 */
/* Copies debug entries to the object: the entries of functions in the object, of module variables with a location, and of the
 * types to which these entries refer. Other types, of which large headers have many, are not copied. */
#include "ptx/debuginfo/ptx_debug_priv.h"

enum {
    AT_BIT_OFFSET = 0x0c, AT_LANGUAGE = 0x13, AT_ADDRESS_CLASS = 0x33, AT_SPECIFICATION = 0x47,
    AT_MIPS_LINKAGE_NAME = 0x2007, OP_PLUS_UCONST = 0x23, OP_CONSTU = 0x10, TEXT_BYTES = 1000
};

struct writing {
    struct ptx_job *job;
    struct ptx_module *module;
    struct ptx_debug *debug;
    struct isa_object *object;
    PTX_LIST(uint32_t) work; /* entries that are kept and whose references have not been followed yet */
    PTX_LIST(struct isa_attr) attrs;
    PTX_LIST(struct isa_var_location) locations;
    PTX_LIST(struct isa_span) spans;
    PTX_LIST(struct omitted) omitted; /* sorted by scope */
    struct isa_compile_unit *units; /* by module of the PTX: its unit */
    uint32_t *seen; /* by entry: 1 + the scope that has an entry for this variable of an inlined function, or 0 */
};

/* A variable of an inlined function for which clang writes no entry in the inlined call, because the variable has no value
 * there. */
struct omitted {
    uint32_t scope, variable; /* entries of the inlined call, or of a block in it, and of the variable in the inlined function */
};

/* ---- entries to keep ----------------------------------------------------------- */

/* Marks an entry and its ancestors to be copied to the object, except the compile unit. */
static void keep(struct writing *wr, uint32_t die)
{
    for (; die != PTX_NONE && !wr->debug->dies.at[die].keep;
         die = wr->debug->dies.at[die].parent) {
        struct ptx_die *d = &wr->debug->dies.at[die];

        if (d->parent == PTX_NONE || !isa_debug_tag_known(d->tag))
            return; /* d is the compile unit, or an entry with a tag that objects do not store */
        d->keep = true;
        *PTX_PUSH(wr->job, wr->work) = die;
    }
}

/* Returns whether an entry can be stored in the object. A compile unit cannot be stored, nor can an entry if objects do not
 * store its tag, or the tag of an ancestor other than the unit. */
static bool reachable(const struct writing *wr, uint32_t die)
{
    const struct ptx_die *d = &wr->debug->dies.at[die];

    while (isa_debug_tag_known(d->tag)) {
        if (d->parent == PTX_NONE)
            return false;
        d = &wr->debug->dies.at[d->parent];
        if (d->parent == PTX_NONE)
            return true;
    }
    return false;
}

static bool is_code(const struct ptx_debug *debug, uint32_t die)
{
    const struct ptx_die *d = &debug->dies.at[die];

    return d->tag == ISA_TAG_SUBPROGRAM && d->object_function != PTX_NONE;
}

/* Returns the entry in the inlined function that corresponds to a scope with code, or PTX_NONE. Entries of blocks do not refer to
 * the inlined function, but entries of their variables do. */
static uint32_t abstract_scope(const struct ptx_debug *debug, uint32_t scope)
{
    uint32_t origin = ptx_debug_entry(debug, ptx_debug_value(debug, scope, ISA_AT_ABSTRACT_ORIGIN));

    for (uint32_t i = scope + 1;
         origin == PTX_NONE && debug->dies.at[scope].tag == ISA_TAG_BLOCK && i < debug->dies.at[scope].end; i = debug->dies.at[i].end) {
        const uint32_t variable = debug->dies.at[i].tag == ISA_TAG_VARIABLE
                                      ? ptx_debug_entry(debug, ptx_debug_value(debug, i, ISA_AT_ABSTRACT_ORIGIN)) : PTX_NONE;

        origin = variable != PTX_NONE ? debug->dies.at[variable].parent : PTX_NONE;
    }
    return origin;
}

/* Keeps variables of the inlined function that have no entry in a scope. put_omitted() creates entries for them. */
static void keep_omitted(struct writing *wr, uint32_t scope)
{
    struct ptx_debug *debug = wr->debug;
    const uint32_t origin = abstract_scope(debug, scope);

    for (uint32_t i = scope + 1; origin != PTX_NONE && i < debug->dies.at[scope].end; i = debug->dies.at[i].end) {
        const uint32_t variable = ptx_debug_entry(debug, ptx_debug_value(debug, i, ISA_AT_ABSTRACT_ORIGIN));

        if (variable != PTX_NONE)
            wr->seen[variable] = scope + 1;
    }
    for (uint32_t i = origin + 1; origin != PTX_NONE && i < debug->dies.at[origin].end && debug->budget != 0;
         i = debug->dies.at[i].end) {
        debug->budget--;
        if (debug->dies.at[i].tag != ISA_TAG_VARIABLE || wr->seen[i] == scope + 1 ||
            ptx_debug_value(debug, i, ISA_AT_NAME) == NULL || ptx_debug_value(debug, i, ISA_AT_LOCATION) != NULL || ptx_debug_value(debug, i, ISA_AT_EXTERNAL) != NULL ||
            !reachable(wr, i))
            continue;
        keep(wr, i);
        *PTX_PUSH(wr->job, wr->omitted) = (struct omitted){scope, i};
    }
}

/* Keeps the entries of a function with code: scopes with words, and variables. */
static void keep_scope(struct writing *wr, uint32_t root)
{
    const struct ptx_debug *debug = wr->debug;

    keep_omitted(wr, root);
    for (uint32_t i = root + 1; i < debug->dies.at[root].end;) {
        const struct ptx_die *d = &debug->dies.at[i];

        switch (d->tag) {
        case ISA_TAG_BLOCK:
        case ISA_TAG_INLINED:
            if (d->span_count == 0) {
                i = d->end;
                continue;
            }
            keep_omitted(wr, i);
            keep(wr, i++);
            break;
        case ISA_TAG_PARAMETER:
        case ISA_TAG_VARIABLE:
        case ISA_TAG_UNSPECIFIED:
            keep(wr, i);
            i = d->end;
            break;
        default: /* skips other entries, such as types: find_live() keeps a type if a kept entry refers to the type */
            i = d->end;
            break;
        }
    }
}

static void keep_children(struct writing *wr, uint32_t die)
{
    const struct ptx_debug *debug = wr->debug;
    unsigned tag = debug->dies.at[die].tag;

    if (tag == ISA_TAG_NAMESPACE || tag == ISA_TAG_BLOCK || tag == ISA_TAG_INLINED ||
        is_code(debug, die))
        return;
    for (uint32_t i = die + 1; i < debug->dies.at[die].end; i = debug->dies.at[i].end) {
        switch (debug->dies.at[i].tag) {
        case ISA_TAG_MEMBER:
            if (ptx_debug_value(debug, i, ISA_AT_EXTERNAL) != NULL)
                break; /* a static member is not part of the structure's memory */
            keep(wr, i);
            break;
        case ISA_TAG_ENUMERATOR:
        case ISA_TAG_SUBRANGE:
        case ISA_TAG_INHERITANCE:
        case ISA_TAG_PARAMETER:
        case ISA_TAG_UNSPECIFIED: keep(wr, i); break;
        default: break;
        }
    }
}

static struct isa_var_location in_kernel(const struct isa_function *fn, struct isa_var_location location)
{
    location.value += (fn->shared_bytes + 15) & ~15u;
    location.from = fn->first;
    location.to = fn->first + fn->count;
    return location;
}

/* Locates a module variable. Dynamic shared memory begins after a kernel's own shared variables, so its offset depends on
 * the kernel. A variable in dynamic shared memory has one location if the offset is the same in all kernels, otherwise one
 * location for the code of each kernel. */
static void locate_variable(struct writing *wr, uint32_t die)
{
    struct ptx_die *d = &wr->debug->dies.at[die];
    const struct isa_object *object = wr->object;
    struct isa_var_location location, *list;
    bool dynamic, same = true;
    uint32_t n = 0;

    if (!ptx_debug_module_location(wr->module, ptx_debug_value(wr->debug, die, ISA_AT_LOCATION),
                                &location, &dynamic))
        return;
    list = lw_arena_alloc(&wr->object->arena, (object->function_count + 1) * sizeof *list);
    if (list == NULL)
        ptx_fail(wr->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    for (unsigned f = 0; dynamic && f < object->function_count; f++) {
        if (!object->functions[f].kernel || object->functions[f].count == 0)
            continue;
        list[n++] = in_kernel(&object->functions[f], location);
        same &= list[n - 1].value == list[0].value;
    }
    if (dynamic && n == 0)
        return;
    if (same) {
        list[0] = (struct isa_var_location){ .kind = location.kind, .variable = location.variable,
                                      .value = dynamic ? list[0].value : location.value };
        n = 1;
    }
    d->locations = list;
    d->location_count = n;
    keep(wr, die);
}

static void find_live(struct writing *wr)
{
    struct ptx_debug *debug = wr->debug;

    for (uint32_t i = 0; i < debug->dies.count;) {
        const struct ptx_die *d = &debug->dies.at[i];

        if (is_code(debug, i) && reachable(wr, i)) {
            keep(wr, i);
            keep_scope(wr, i);
            i = d->end;
        } else if (d->tag == ISA_TAG_SUBPROGRAM) {
            i = d->end;
        } else {
            ptx_debug_look_at(debug, d->source);
            if (d->tag == ISA_TAG_VARIABLE && reachable(wr, i))
                locate_variable(wr, i);
            i++;
        }
    }
    while (wr->work.count != 0) {
        uint32_t die = wr->work.at[--wr->work.count];
        const struct ptx_die *d = &debug->dies.at[die];

        for (uint32_t k = 0; k < d->count; k++) {
            const struct ptx_value *value = &debug->values.at[d->first + k];
            uint32_t to = isa_debug_attr_kind(value->name) == ISA_ATTR_DIE
                              ? ptx_debug_entry(debug, value) : PTX_NONE;

            if (to != PTX_NONE && reachable(wr, to))
                keep(wr, to);
        }
        uint32_t declaration =
            ptx_debug_entry(debug, ptx_debug_value(debug, die, AT_SPECIFICATION));

        if (declaration != PTX_NONE) { /* put_die() copies the attributes of the declaration, so their type is needed */
            uint32_t type =
                ptx_debug_entry(debug, ptx_debug_value(debug, declaration, ISA_AT_TYPE));

            if (type != PTX_NONE && reachable(wr, type))
                keep(wr, type);
        }
        keep_children(wr, die);
    }
}

/* ---- attributes ------------------------------------------------------------------- */

static const char *clean_text(struct writing *wr, const char *text)
{
    char *copy = lw_arena_strndup(&wr->object->arena, text, strnlen(text, TEXT_BYTES));

    if (copy == NULL)
        ptx_fail(wr->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    for (char *p = copy; *p != '\0'; p++) {
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = '?';
    }
    return copy;
}

/* Stores the number of an attribute's value in @number; returns false if the value is no number. The number may be the operand of
 * DW_OP_plus_uconst or DW_OP_constu, because DWARF 2 writes offsets of members as such expressions. */
static bool number_of(const struct writing *wr, const struct ptx_value *value, uint64_t *number)
{
    const struct ptx_section *info = wr->debug->info;
    unsigned shift = 0;

    *number = value->number;
    if (value->kind == PTX_V_NUMBER || value->kind == PTX_V_FLAG)
        return true;
    if (value->kind == PTX_V_SIGNED)
        return (int64_t)value->number >= 0 || isa_debug_attr_kind(value->name) == ISA_ATTR_SIGNED;
    if (value->kind != PTX_V_BLOCK || value->size < 2 || value->size > 10 ||
        (info->bytes.at[value->at] != OP_PLUS_UCONST && info->bytes.at[value->at] != OP_CONSTU))
        return false;
    *number = 0;
    for (uint32_t i = 1; i < value->size; i++, shift += 7)
        *number |= (uint64_t)(info->bytes.at[value->at + i] & 0x7f) << shift;
    return true;
}

static bool has_attr(const struct writing *wr, size_t first, unsigned name)
{
    for (size_t i = first; i < wr->attrs.count; i++) {
        if (wr->attrs.at[i].name == name)
            return true;
    }
    return false;
}

static void put_attr(struct writing *wr, const struct isa_compile_unit *unit, size_t first, const struct ptx_value *value)
{
    struct isa_attr attr = {
        .name = value->name == AT_MIPS_LINKAGE_NAME ? ISA_AT_LINKAGE_NAME : value->name
    };
    uint32_t to;

    if (has_attr(wr, first, attr.name) || attr.name == ISA_AT_LOCAL_OFFSET) /* put_die() writes the local offset */
        return;
    switch (isa_debug_attr_kind(attr.name)) {
    case ISA_ATTR_TEXT:
        if (value->kind != PTX_V_TEXT || value->text[0] == '\0')
            return;
        attr.text = clean_text(wr, value->text);
        break;
    case ISA_ATTR_DIE:
        to = ptx_debug_entry(wr->debug, value);
        if (to == PTX_NONE || !wr->debug->dies.at[to].keep)
            return;
        attr.value = wr->debug->dies.at[to].out;
        break;
    case ISA_ATTR_FLAG:
        if (value->number == 0)
            return;
        attr.value = 1;
        break;
    case ISA_ATTR_NUMBER:
    case ISA_ATTR_SIGNED:
        if (!number_of(wr, value, &attr.value))
            return;
        if ((attr.name == ISA_AT_DECL_FILE || attr.name == ISA_AT_CALL_FILE) &&
            (attr.value == 0 || !isa_compile_unit_has_file(unit, attr.value += wr->debug->file_base)))
            return;
        break;
    default: return; /* put_die() writes locations and scopes that the translator has computed */
    }
    *PTX_PUSH(wr->job, wr->attrs) = attr;
}

/* Replaces a bit field's offset of DWARF 2, which is counted from the most significant bit of the storage unit, by the data bit
 * offset of DWARF 4. */
static void put_bit_field(struct writing *wr, uint32_t die, size_t first)
{
    const struct ptx_debug *debug = wr->debug;
    const struct ptx_value *offset = ptx_debug_value(debug, die, AT_BIT_OFFSET);
    const struct ptx_value *size = ptx_debug_value(debug, die, ISA_AT_BIT_SIZE);
    const struct ptx_value *bytes = ptx_debug_value(debug, die, ISA_AT_BYTE_SIZE);
    const struct ptx_value *member = ptx_debug_value(debug, die, ISA_AT_MEMBER_LOCATION);
    uint64_t from, bits, room = 0, at = 0;
    size_t retained = first;

    if (offset == NULL || size == NULL || !number_of(wr, offset, &from) ||
        !number_of(wr, size, &bits))
        return;
    if (bytes == NULL) {
        uint32_t type = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_TYPE));

        bytes = type != PTX_NONE ? ptx_debug_value(debug, type, ISA_AT_BYTE_SIZE) : NULL;
    }
    if (bytes == NULL || !number_of(wr, bytes, &room) || room > 64 || bits > 8 * room ||
        from > 8 * room - bits || (member != NULL && !number_of(wr, member, &at)))
        return;
    for (size_t i = first; i < wr->attrs.count; i++) {
        if (wr->attrs.at[i].name != ISA_AT_BYTE_SIZE &&
            wr->attrs.at[i].name != ISA_AT_MEMBER_LOCATION)
            wr->attrs.at[retained++] = wr->attrs.at[i];
    }
    wr->attrs.count = retained;
    *PTX_PUSH(wr->job, wr->attrs) = (struct isa_attr){
        .name = ISA_AT_DATA_BIT_OFFSET, .value = 8 * at + 8 * room - from - bits
    };
}

/* Returns true if values of the type are offsets in shared memory: pointers with DW_AT_address_class 8. */
static bool points_to_shared(const struct ptx_debug *debug, uint32_t die)
{
    for (unsigned depth = 0; depth < 16 && die != PTX_NONE; depth++) {
        const struct ptx_die *d = &debug->dies.at[die];
        const struct ptx_value *class = ptx_debug_value(debug, die, AT_ADDRESS_CLASS);

        if (d->tag == ISA_TAG_POINTER)
            return class != NULL && class->kind == PTX_V_NUMBER && class->number == 8;
        if (depth != 0 && d->tag != ISA_TAG_TYPEDEF && d->tag != ISA_TAG_CONST &&
            d->tag != ISA_TAG_VOLATILE && d->tag != ISA_TAG_RESTRICT)
            return false;
        die = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_TYPE));
    }
    return false;
}

/* Returns the calling convention for results of type @die. Debuggers read integers from the integer registers of the target
 * architecture. Debuggers can read floats and aggregates only if the target architecture has floating-point registers. On
 * x86-64, gdb 13 supports neither half nor complex results. */
static unsigned result_convention(const struct ptx_debug *debug, uint32_t die)
{
    enum { FLOAT = 4, COMPLEX_FLOAT = 3 }; /* encodings DW_ATE_... */

    for (unsigned depth = 0; depth < 16 && die != PTX_NONE; depth++) {
        const struct ptx_value *encoding = ptx_debug_value(debug, die, ISA_AT_ENCODING);
        const struct ptx_value *bytes = ptx_debug_value(debug, die, ISA_AT_BYTE_SIZE);

        switch (debug->dies.at[die].tag) {
        case ISA_TAG_BASE:
            if (encoding == NULL || encoding->kind != PTX_V_NUMBER ||
                encoding->number == COMPLEX_FLOAT)
                return ISA_CC_NOCALL;
            if (encoding->number != FLOAT)
                return ISA_CC_NORMAL;
            return bytes != NULL && bytes->kind == PTX_V_NUMBER && bytes->number >= 4
                       ? ISA_CC_REALS
                       : ISA_CC_NOCALL;
        case ISA_TAG_POINTER:
        case ISA_TAG_REFERENCE:
        case ISA_TAG_RVALUE_REFERENCE:
        case ISA_TAG_ENUMERATION: return ISA_CC_NORMAL;
        case ISA_TAG_STRUCTURE:
        case ISA_TAG_CLASS:
        case ISA_TAG_UNION:
        case ISA_TAG_ARRAY: return ISA_CC_REALS;
        case ISA_TAG_TYPEDEF:
        case ISA_TAG_CONST:
        case ISA_TAG_VOLATILE:
        case ISA_TAG_RESTRICT: break;
        default: return ISA_CC_NOCALL;
        }
        die = ptx_debug_entry(debug, ptx_debug_value(debug, die, ISA_AT_TYPE));
    }
    return ISA_CC_NOCALL;
}

/* Writes the calling convention of a function. If debuggers cannot read the function's result, the convention is
 * ISA_CC_NOCALL, with which debuggers show no result instead of a wrong one. With a wrong convention, gdb 13 fails an assertion
 * on aarch64. */
static void put_convention(struct writing *wr, uint32_t index)
{
    const struct ptx_debug *debug = wr->debug;
    uint32_t declaration = ptx_debug_entry(debug, ptx_debug_value(debug, index, AT_SPECIFICATION));
    uint32_t origin =
        ptx_debug_entry(debug, ptx_debug_value(debug, index, ISA_AT_ABSTRACT_ORIGIN));
    const uint32_t from[] = { index, declaration, origin };
    uint32_t function = debug->dies.at[index].function;

    for (unsigned i = 0; i < LW_COUNT_OF(from); i++) {
        uint32_t type = from[i] == PTX_NONE
                            ? PTX_NONE
                            : ptx_debug_entry(debug, ptx_debug_value(debug, from[i], ISA_AT_TYPE));
        unsigned convention;

        if (type == PTX_NONE)
            continue;
        convention = result_convention(debug, type);
        /* If the result is a class with a destructor, the caller passes the address of the result as an argument. */
        if (function != PTX_NONE && wr->module->functions.at[function].results.count == 0)
            convention = ISA_CC_NOCALL;
        if (convention != ISA_CC_NORMAL)
            *PTX_PUSH(wr->job, wr->attrs) =
                (struct isa_attr){ .name = ISA_AT_CALLING_CONVENTION, .value = convention };
        return;
    }
}

static void put_spans(struct writing *wr, const struct isa_span *spans, uint32_t count)
{
    *PTX_PUSH(wr->job, wr->attrs) = (struct isa_attr){
        .name = ISA_AT_RANGES, .value = wr->spans.count, .count = count
    };
    for (uint32_t i = 0; i < count; i++)
        *PTX_PUSH(wr->job, wr->spans) = spans[i];
}

static void put_die(struct writing *wr, uint32_t index, struct isa_die *out)
{
    struct ptx_debug *debug = wr->debug;
    const struct ptx_die *d = &debug->dies.at[index];
    uint32_t declaration =
        ptx_debug_entry(debug, ptx_debug_value(debug, index, AT_SPECIFICATION));
    const struct isa_compile_unit *unit = &wr->units[d->source];
    size_t first = wr->attrs.count;

    ptx_debug_look_at(wr->debug, d->source);
    out->tag = d->tag;
    out->first_attr = (uint32_t)first;
    for (uint32_t k = 0; k < d->count; k++)
        if (!d->noted || debug->values.at[d->first + k].name != ISA_AT_CONST_VALUE) /* if the variable has notes, omits its
                                                                                     * constant, because notes show at which
                                                                                     * instructions the constant is valid */
            put_attr(wr, unit, first, &debug->values.at[d->first + k]);
    if (declaration != PTX_NONE) {
        for (uint32_t k = 0; k < debug->dies.at[declaration].count; k++) {
            const struct ptx_value *value =
                &debug->values.at[debug->dies.at[declaration].first + k];

            if (value->name != ISA_AT_DECLARATION)
                put_attr(wr, unit, first, value);
        }
    }
    if (d->tag == ISA_TAG_MEMBER)
        put_bit_field(wr, index, first);
    if (d->tag == ISA_TAG_SUBPROGRAM && !has_attr(wr, first, ISA_AT_CALLING_CONVENTION))
        put_convention(wr, index);
    if (is_code(debug, index))
        *PTX_PUSH(wr->job, wr->attrs) =
            (struct isa_attr){ .name = ISA_AT_LOW_PC, .value = d->object_function };
    if (d->span_count != 0)
        put_spans(wr, d->spans, d->span_count);
    if (d->has_local_offset)
        *PTX_PUSH(wr->job, wr->attrs) = (struct isa_attr){ .name = ISA_AT_LOCAL_OFFSET, .value = d->local_offset };
    if (d->location_count != 0) {
        *PTX_PUSH(wr->job, wr->attrs) = (struct isa_attr){
            .name = ISA_AT_LOCATION, .value = wr->locations.count, .count = d->location_count
        };
        for (uint32_t i = 0; i < d->location_count; i++) {
            struct isa_var_location *location = PTX_PUSH(wr->job, wr->locations);

            *location = d->locations[i];
            location->shared_pointer =
                location->kind != ISA_LOCATION_CONSTANT && points_to_shared(debug, index);
        }
    }
    out->attr_count = (uint32_t)(wr->attrs.count - first);
}

/* Creates the entry of an omitted variable. */
static void put_omitted(struct writing *wr, uint32_t variable, uint32_t number, struct isa_die *out)
{
    *out = (struct isa_die){.tag = ISA_TAG_VARIABLE, .end = number + 1, .first_attr = (uint32_t)wr->attrs.count, .attr_count = 1};
    *PTX_PUSH(wr->job, wr->attrs) = (struct isa_attr){.name = ISA_AT_ABSTRACT_ORIGIN, .value = wr->debug->dies.at[variable].out};
}

/* ---- the object ---------------------------------------------------------------------- */

static void *to_object(struct writing *wr, const void *list, size_t count, size_t size)
{
    void *copy = lw_arena_alloc(&wr->object->arena, (count + 1) * size);

    if (copy == NULL)
        ptx_fail(wr->job, 0, LW_ENOMEM, "the host has no memory for the translation");
    if (count != 0)
        memcpy(copy, list, count * size);
    return copy;
}

static void note(const struct ptx_job *job, const struct ptx_debug *debug)
{
    struct lw_sink *notes = job->options != NULL ? job->options->notes : NULL;

    if (notes == NULL)
        return;
    for (uint32_t i = 0; i < debug->part_count; i++)
        if (debug->part[i].dropped != NULL)
            lw_printf(notes, "%s: debug information is dropped: %s\n", job->sources[i].name, debug->part[i].dropped);
    if (debug->budget == 0)
        lw_printf(notes, "%s: debug information is dropped: the debug information is too large; a part of it\n", job->name);
}

/* Finds the files of each module's unit. A unit begins with the first file that the module names. */
static void find_files(struct writing *wr)
{
    const struct ptx_module *module = wr->module;

    wr->units = PTX_ARRAY(wr->job, struct isa_compile_unit, wr->debug->part_count + 1);
    for (uint32_t i = 0; i < wr->debug->part_count; i++) {
        struct isa_compile_unit *unit = &wr->units[i];
        const uint32_t end = wr->debug->part_count == 1 ? wr->object->file_count : module->file_bases[i + 1];

        unit->first_file = i == 0 ? 1 : module->file_bases[i];
        while (i != 0 && unit->first_file < end && module->files.at[unit->first_file] == NULL)
            unit->first_file++;
        unit->file_count = end > unit->first_file ? end - unit->first_file : 0;
    }
}

/* Returns the units of the object, in the order of their entries, and stores their number in @count. A module without entries has
 * a unit for the lines of its files. @before: by entry, the number of entries of the object that precede it. */
static struct isa_compile_unit *put_units(struct writing *wr, const uint32_t *before, uint32_t *count)
{
    const struct ptx_debug *debug = wr->debug;
    struct isa_compile_unit *units = to_object(wr, NULL, 0, sizeof *units * (debug->part_count + 1));
    bool *has_entries = PTX_ARRAY(wr->job, bool, debug->part_count + 1);

    *count = 0;
    for (uint32_t i = 0; i < debug->dies.count; i = debug->dies.at[i].end) { /* a module's units become one */
        const uint32_t source = debug->dies.at[i].source;
        const struct ptx_value *language = ptx_debug_value(debug, i, AT_LANGUAGE);
        struct isa_compile_unit *unit = &wr->units[source];

        if (has_entries[source])
            continue;
        has_entries[source] = true;
        if (language != NULL && language->kind == PTX_V_NUMBER && language->number <= UINT8_MAX)
            unit->language = (unsigned)language->number;
        unit->first_die = before[i];
        units[(*count)++] = *unit;
    }
    for (uint32_t i = 0; i < debug->part_count; i++)
        if (!has_entries[i] && wr->units[i].file_count != 0) {
            wr->units[i].first_die = before[debug->dies.count];
            units[(*count)++] = wr->units[i];
        }
    if (*count == 1) {
        units->first_file = 1;
        units->file_count = wr->object->file_count - 1;
    }
    return units;
}

void ptx_debug_write(struct ptx_job *job, struct ptx_module *module)
{
    struct writing wr = { .job = job, .module = module, .debug = module->debug,
                          .object = job->object };
    struct ptx_debug *debug = module->debug;
    struct isa_debug *out;
    struct isa_die *dies;
    uint32_t count = 0, *before;
    size_t omitted = 0;

    if (debug == NULL)
        return;
    note(job, debug);
    ptx_debug_make_inlines(job, module);
    if (debug->dies.count == 0)
        return;
    wr.seen = PTX_ARRAY(job, uint32_t, debug->dies.count + 1);
    find_files(&wr);
    find_live(&wr);
    before = PTX_ARRAY(job, uint32_t, debug->dies.count + 1);
    for (uint32_t i = 0; i < debug->dies.count; i++) {
        before[i] = count;
        debug->dies.at[i].out = count;
        if (debug->dies.at[i].keep) /* in the object, duplicates of the entry and then omitted variables follow the entry */
            count += 1 + debug->dies.at[i].copies.count;
        for (; omitted < wr.omitted.count && wr.omitted.at[omitted].scope == i; omitted++)
            count += debug->dies.at[i].keep;
    }
    before[debug->dies.count] = count;
    if (count == 0)
        return;
    dies = PTX_ARRAY(job, struct isa_die, count);
    omitted = 0;
    for (uint32_t i = 0; i < debug->dies.count; i++) {
        if (!debug->dies.at[i].keep)
            continue;
        const struct ptx_die *d = &debug->dies.at[i];

        put_die(&wr, i, &dies[d->out]);
        dies[d->out].end = before[d->end];
        for (uint32_t k = 0; k < d->copies.count; k++) {
            uint32_t first = (uint32_t)wr.attrs.count;

            put_spans(&wr, d->copies.at[k].spans, d->copies.at[k].span_count);
            dies[d->out + 1 + k] = (struct isa_die){ .tag = ISA_TAG_BLOCK, .end = d->out + 2 + k,
                                                     .first_attr = first, .attr_count = 1 };
        }
        while (omitted < wr.omitted.count && wr.omitted.at[omitted].scope < i)
            omitted++;
        for (uint32_t number = d->out + 1 + d->copies.count;
             omitted < wr.omitted.count && wr.omitted.at[omitted].scope == i; omitted++, number++)
            put_omitted(&wr, wr.omitted.at[omitted].variable, number, &dies[number]);
    }
    out = to_object(&wr, NULL, 0, sizeof *out);
    out->dies = to_object(&wr, dies, count, sizeof *dies);
    out->die_count = count;
    out->attrs = to_object(&wr, wr.attrs.at, wr.attrs.count, sizeof *wr.attrs.at);
    out->attr_count = (uint32_t)wr.attrs.count;
    out->locations = to_object(&wr, wr.locations.at, wr.locations.count, sizeof *wr.locations.at);
    out->location_count = (uint32_t)wr.locations.count;
    out->spans = to_object(&wr, wr.spans.at, wr.spans.count, sizeof *wr.spans.at);
    out->span_count = (uint32_t)wr.spans.count;
    out->expressions = debug->expressions;
    out->expression_bytes = debug->expression_bytes;
    out->units = put_units(&wr, before, &out->unit_count);
    job->object->debug = out;
}
