/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of the source, from the debug information of the object. A name is looked up in the scopes that contain the
 * lane's pc, innermost first, then in the compile unit of the pc, then in the other units. Members and elements are selected by
 * the variable's type.
 */
#include "debug/expr/dbg_expr_priv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- variables in scope -------------------------------------------------------------- */

/* Gets instruction and frame of a lane: those of the selected frame, or of the lane's pc. Returns false if the lane is not
 * resident, if it does not have the selected frame, or if there is no debug information. */
static bool find_where(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_where *out)
{
    struct emu_split_view split;
    struct dbg_frame_location chosen;
    struct dbg_warp warp;
    unsigned frame;

    if (!dbg_lane_locate(dbg, id, lane, &warp, &split))
        return false;
    if (!dbg_where_is(dbg, split.pc, out) || out->object->debug == NULL)
        return false;
    if (!dbg_frame_shown(dbg, id, lane, &frame))
        return false;
    if (frame != 0 && dbg_frame_location_at(dbg, id, lane, frame, &chosen)) {
        out->insn = (uint32_t)((chosen.pc - emu_program_base(out->program)) / ISA_WORD_BYTES);
        out->frame = chosen.frame;
        out->inner = chosen.inner;
    }
    return true;
}

/* Finds the scopes that belong to the frame of @at, outermost first. An inlined call is a frame, so the scopes of the
 * function that contains it are excluded. Returns their number. */
static unsigned own_scopes(const struct dbg_where *at, uint32_t *scopes, unsigned capacity)
{
    unsigned count = dbg_find_scopes(at, scopes, capacity), first = count;

    while (first > 1 && at->object->debug->dies[scopes[first - 1]].tag != ISA_TAG_INLINED)
        first--;
    if (first > 0)
        first--;
    memmove(scopes, scopes + first, (count - first) * sizeof *scopes);
    return count - first;
}

static int64_t find_in(const struct isa_debug *debug, uint32_t scope, const char *name)
{
    for (uint32_t i = scope + 1; i < debug->dies[scope].end; i = debug->dies[i].end) {
        const char *have = isa_die_is_variable(debug, i) ? isa_die_name(debug, i) : NULL;

        if (have != NULL && strcmp(have, name) == 0)
            return i;
    }
    return ISA_NO_DIE;
}

/* Finds a variable among the root entries [@first, @end) and in namespaces. */
static int64_t find_global(const struct isa_debug *debug, uint32_t first, uint32_t end, const char *name)
{
    for (uint32_t i = first; i < end;) {
        const char *have = debug->dies[i].tag == ISA_TAG_VARIABLE ? isa_die_name(debug, i) : NULL;

        if (have != NULL && strcmp(have, name) == 0)
            return i;
        i = debug->dies[i].tag == ISA_TAG_NAMESPACE ? i + 1 : debug->dies[i].end;
    }
    return ISA_NO_DIE;
}

static int64_t find_variable(const struct dbg_where *at, const char *name)
{
    const struct isa_debug *debug = at->object->debug;
    const uint32_t unit = isa_compile_unit_at(at->object, at->insn);
    uint32_t scopes[64];
    int64_t global;

    for (unsigned n = own_scopes(at, scopes, LW_COUNT_OF(scopes)); n-- > 0;) {
        int64_t die = find_in(debug, scopes[n], name);

        if (die != ISA_NO_DIE)
            return die;
    }
    global = find_global(debug, debug->units[unit].first_die, isa_compile_unit_end(debug, unit), name);
    return global != ISA_NO_DIE || debug->unit_count == 1 ? global : find_global(debug, 0, debug->die_count, name);
}

uint32_t dbg_expr_unit(struct dbg_expr *e, const struct isa_debug *debug)
{
    struct dbg_where at;
    bool known;

    if (debug->unit_count == 1)
        return 0;
    known = e->place != 0 ? dbg_where_is(e->dbg, e->place, &at) : find_where(e->dbg, e->id, e->lane, &at);
    return known && at.object->debug == debug ? isa_compile_unit_at(at.object, at.insn) : 0;
}

void dbg_variables_each(struct dbg *dbg, dbg_thread_id id, unsigned lane, dbg_name_fn fn,
                        void *context)
{
    uint32_t scopes[64];
    struct dbg_where at;

    if (!find_where(dbg, id, lane, &at))
        return;
    const struct isa_debug *debug = at.object->debug;

    for (unsigned n = own_scopes(&at, scopes, LW_COUNT_OF(scopes)); n-- > 0;)
        for (uint32_t i = scopes[n] + 1; i < debug->dies[scopes[n]].end; i = debug->dies[i].end)
            if (isa_die_is_variable(debug, i) && isa_die_name(debug, i) != NULL)
                fn(context, isa_die_name(debug, i));
    for (uint32_t i = 0; i < debug->die_count;) {
        if (debug->dies[i].tag == ISA_TAG_VARIABLE && isa_die_name(debug, i) != NULL)
            fn(context, isa_die_name(debug, i));
        i = debug->dies[i].tag == ISA_TAG_NAMESPACE ? i + 1 : debug->dies[i].end;
    }
}

/** Location of the value of a variable. */
struct found {
    bool here, in_memory;    /* here: the variable has a value; in_memory: it is at `address`, else it is `value` */
    uint64_t address, value; /* address: generic address of memory, or a debug address */
};

bool dbg_unit_is_debuggable(const struct dbg_where *at)
{
    const struct isa_debug *d = at->object->debug;
    const uint32_t unit = isa_compile_unit_at(at->object, at->insn), end = isa_compile_unit_end(d, unit);
    bool some = false;

    for (uint32_t f = d->units[unit].first_die; f < end; f = d->dies[f].tag == ISA_TAG_SUBPROGRAM ? d->dies[f].end : f + 1)
        for (uint32_t i = f + 1; isa_die_attr(d, f, ISA_AT_LOW_PC) != NULL && i < d->dies[f].end;
             i = d->dies[i].tag == ISA_TAG_INLINED ? d->dies[i].end : i + 1) {
            const struct isa_attr *attr = isa_die_attr(d, i, ISA_AT_LOCATION);

            if (d->dies[i].tag == ISA_TAG_VARIABLE && attr == NULL && isa_die_attr(d, i, ISA_AT_CONST_VALUE) == NULL)
                return false;
            some |= isa_die_is_variable(d, i) && attr != NULL && attr->count == 1 && d->locations[attr->value].to == 0 &&
                    (d->locations[attr->value].kind == ISA_LOCATION_FRAME ||
                     (d->locations[attr->value].kind == ISA_LOCATION_ADDRESS &&
                      d->locations[attr->value].value - ISA_LOCAL_BASE < ISA_APERTURE_BYTES));
        }
    return some;
}

/** Returns the reason why variables of @at have no values, or compiler options with which more variables have values. */
static const char *see_more(const struct dbg *dbg, const struct dbg_where *at)
{
    if (dbg_unit_is_debuggable(at))
        return "no compiler option shows more variables, because the program is already compiled with -g";
    if (dbg->config.advice != NULL)
        return dbg->config.advice;
    return isa_object_keeps_values(at->object) ? "compile with -g and without an option -O to see all variables"
                                               : "compile with --values to see more variables, with -g to see all";
}

/* Finds the value of a variable at the instruction of @at. @die is the variable's debug information entry. */
static void locate(struct dbg *dbg, dbg_thread_id id, unsigned lane, const struct dbg_where *at,
                   uint32_t die, struct found *out)
{
    struct dbg_value_lane l = {dbg, id, lane, at->frame};
    const struct isa_expression_reader reader = dbg_value_reader(&l);
    struct emu_value_source source;

    emu_variable_find(at->program, at->insn, die, at->frame == 0, &reader, &source);
    *out = (struct found){.here = source.kind != EMU_VALUE_NONE};
    switch (source.kind) {
    case EMU_VALUE_KNOWN: out->value = source.value; break;
    case EMU_VALUE_EXPRESSION:
        out->address = dbg_value_address(dbg, id, lane, (uint32_t)(source.location - at->object->debug->locations));
        out->here = out->address != 0;
        out->in_memory = true;
        break;
    default:
        out->address = source.value;
        out->in_memory = true;
        break;
    }
}

/* ---- scalars ---------------------------------------------------------------------------- */

bool dbg_result_type(const struct dbg *dbg, uint64_t pc, const struct isa_debug **debug,
                     int64_t *type)
{
    struct dbg_where at;
    uint32_t scope;

    if (!dbg_where_is(dbg, pc, &at))
        return false;
    *debug = at.object->debug;
    if (*debug == NULL || dbg_find_scopes(&at, &scope, 1) != 1 ||
        (*debug)->dies[scope].tag != ISA_TAG_SUBPROGRAM)
        return false;
    *type = isa_die_type(*debug, scope);
    return *type != ISA_NO_DIE;
}

struct dbg_value dbg_scalar(enum dbg_type type, unsigned bytes, uint64_t bits)
{
    return dbg_value_make(type, isa_scalar_extend((enum isa_scalar)type, bytes, bits));
}

/* Extracts a bit field from a word: @count bits from bit @from on, sign-extended if @is_signed. */
static uint64_t bits_of(uint64_t word, unsigned from, unsigned count, bool is_signed)
{
    uint64_t bits = count < 64 ? word >> from & lw_mask(count) : word;

    if (is_signed && count < 64 && count != 0 && bits >> (count - 1))
        bits |= ~lw_mask(count);
    return bits;
}

/* ---- expressions ------------------------------------------------------------------------- */

static void set_type(struct dbg_operand *o, const struct isa_debug *debug, int64_t type)
{
    o->debug = debug;
    o->type = type;
    o->skip = 0;
    o->bit_count = 0;
    o->stars = 0;
}

static bool enumerator_in(const struct isa_debug *debug, uint32_t first, uint32_t end, const char *name, struct dbg_operand *o)
{
    uint32_t type = 0;

    for (uint32_t i = first; i < end; i++) {
        if (debug->dies[i].tag == ISA_TAG_ENUMERATION)
            type = i;
        if (debug->dies[i].tag != ISA_TAG_ENUMERATOR || isa_die_name(debug, i) == NULL ||
            strcmp(isa_die_name(debug, i), name) != 0)
            continue;
        set_type(o, debug, type);
        o->in_memory = false;
        o->value = dbg_value_make(DBG_U64,
                                  isa_die_number(debug, i, ISA_AT_CONST_VALUE, 0));
        return true;
    }
    return false;
}

bool dbg_enumerator(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    const struct emu_program *program = dbg_program(e->dbg);
    const struct isa_debug *debug = program != NULL ? emu_program_object(program)->debug : NULL;
    uint32_t unit;

    if (debug == NULL)
        return false;
    unit = dbg_expr_unit(e, debug);
    return enumerator_in(debug, debug->units[unit].first_die, isa_compile_unit_end(debug, unit), name, o) ||
           (debug->unit_count > 1 && enumerator_in(debug, 0, debug->die_count, name, o));
}

bool dbg_variable_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    const struct emu_program *program = dbg_program(e->dbg);
    struct dbg_where at;
    struct found found = {0};
    int64_t die = ISA_NO_DIE;

    if (e->place != 0 ? dbg_where_is(e->dbg, e->place, &at) : find_where(e->dbg, e->id, e->lane, &at))
        die = find_variable(&at, name);
    if (die == ISA_NO_DIE && e->dry && e->place == 0 && program != NULL &&
        emu_program_object(program)->debug != NULL) {
        /* A condition is checked before its location is known, so any variable of this name is accepted. */
        const struct isa_debug *debug = emu_program_object(program)->debug;

        for (uint32_t i = 0; i < debug->die_count && die == ISA_NO_DIE; i++) {
            const char *have = isa_die_is_variable(debug, i) ? isa_die_name(debug, i) : NULL;

            if (have != NULL && strcmp(have, name) == 0)
                die = i;
        }
        if (die != ISA_NO_DIE) {
            set_type(o, debug, isa_die_type(debug, (uint32_t)die));
            o->in_memory = true;
            return true;
        }
    }
    if (die == ISA_NO_DIE)
        return false;
    set_type(o, at.object->debug, isa_die_type(at.object->debug, (uint32_t)die));
    o->in_memory = true;
    if (e->dry)
        return true;
    locate(e->dbg, e->id, e->lane, &at, (uint32_t)die, &found);
    if (!found.here) {
        dbg_expr_fail(e, LW_ERANGE, "%s has no value here because the compiler has optimised it out; %s",
                      name, see_more(e->dbg, &at));
        return true;
    }
    o->in_memory = found.in_memory;
    o->address = found.address;
    o->value = dbg_value_make(DBG_U64, found.value);
    return true;
}

uint64_t dbg_typed_bytes(const struct dbg_operand *o)
{
    return o->stars != 0      ? 8
           : o->debug != NULL ? isa_type_bytes(o->debug, o->type, o->skip)
                              : o->bytes;
}

/* Reads the 8 bytes of a pointer whose type the expression itself has made, by a cast or by &. */
static void finish_own(struct dbg_expr *e, struct dbg_operand *o)
{
    uint8_t raw[8] = {0};

    o->typed = true;
    if (!o->in_memory)
        return;
    o->bytes = 8;
    o->kind = DBG_TARGET_MEMORY;
    if (!e->dry && !dbg_expr_read(e, o->address, raw, 8))
        dbg_expr_fail(e, LW_ERANGE,
                      "cannot read 8 bytes at 0x%llx: this lane has no memory there",
                      (unsigned long long)o->address);
    o->value = dbg_value_make(DBG_U64, lw_get64(raw));
}

bool dbg_typed_finish(struct dbg_expr *e, struct dbg_operand *o)
{
    enum dbg_type type;
    unsigned bytes;
    uint8_t raw[8] = {0};
    struct dbg_where at;

    o->kind = DBG_TARGET_NONE;
    if (o->stars != 0) {
        finish_own(e, o);
        return true;
    }
    if (o->skip != 0 || !dbg_type_scalar(o->debug, o->type, &type, &bytes)) {
        o->value = dbg_value_make(DBG_U64, o->address); /* the value of an aggregate is its address */
        return false;
    }
    o->typed = true;
    if (!o->in_memory) {
        o->value = dbg_scalar(type, bytes, o->value.bits);
        return true;
    }
    o->bytes = bytes;
    if (o->bit_count == 0)
        o->kind = DBG_TARGET_MEMORY;
    o->value = dbg_value_make(type, 0);
    if (e->dry)
        return true;
    if (!dbg_expr_read(e, o->address, raw, bytes)) {
        if (dbg_value_is_missing(e->dbg, o->address))
            dbg_expr_fail(e, LW_ERANGE,
                          "this part of the variable has no value here because the compiler has optimised it out%s%s",
                          find_where(e->dbg, e->id, e->lane, &at) ? "; " : "",
                          find_where(e->dbg, e->id, e->lane, &at) ? see_more(e->dbg, &at) : "");
        else
            dbg_expr_fail(e, LW_ERANGE,
                          "cannot read %u byte%s at 0x%llx: the focus lane has no memory there", bytes,
                          bytes == 1 ? "" : "s", (unsigned long long)o->address);
        return true;
    }
    if (o->bit_count != 0)
        o->value = dbg_value_make(type, bits_of(lw_get64(raw), o->bit_first, o->bit_count,
                                                type == DBG_S32 || type == DBG_S64));
    else
        o->value = dbg_scalar(type, bytes, lw_get64(raw));
    return true;
}

static bool is_array(const struct dbg_operand *o)
{
    int64_t type = isa_type_plain(o->debug, o->type, NULL);

    return o->stars == 0 && type != ISA_NO_DIE && o->debug->dies[type].tag == ISA_TAG_ARRAY;
}

/* Changes the type of an array to the type of its elements. If the array has several dimensions, its elements are arrays,
 * too. */
static void choose_element(struct dbg_operand *o)
{
    int64_t type = isa_type_plain(o->debug, o->type, NULL);

    if (o->skip + 1 < isa_type_dimensions(o->debug, (uint32_t)type))
        o->skip++;
    else
        set_type(o, o->debug, isa_die_type(o->debug, (uint32_t)type));
}

bool dbg_typed_stride(const struct dbg_operand *o, uint64_t *bytes)
{
    int64_t type;

    if (o->stars != 0) {
        *bytes = o->stars > 1       ? 8
                 : o->debug != NULL ? isa_type_bytes(o->debug, o->type, o->skip)
                                    : o->own.bytes;
        return true;
    }
    if (o->debug == NULL)
        return false;
    type = isa_type_plain(o->debug, o->type, NULL);
    if (type == ISA_NO_DIE)
        return false;
    if (is_array(o)) {
        *bytes = isa_type_bytes(o->debug, type, o->skip + 1);
        return true;
    }
    if (!isa_tag_is_pointer(o->debug->dies[type].tag))
        return false;
    *bytes = isa_type_bytes(o->debug, isa_die_type(o->debug, (uint32_t)type), 0);
    return true;
}

void dbg_typed_decay(struct dbg_operand *o)
{
    if (o->stars == 0 && is_array(o)) {
        o->value = dbg_value_make(DBG_U64, o->address);
        choose_element(o);
        o->stars = 1;
    }
    o->in_memory = false;
    o->kind = DBG_TARGET_NONE;
}

bool dbg_typed_address(struct dbg_operand *o)
{
    if (dbg_typed(o) ? !o->in_memory || o->bit_count != 0 : o->kind != DBG_TARGET_MEMORY)
        return false;
    o->value = dbg_value_make(DBG_U64, o->address);
    o->stars++;
    o->in_memory = false;
    o->typed = true;
    o->kind = DBG_TARGET_NONE;
    return true;
}

void dbg_typed_cast(struct dbg_expr *e, struct dbg_operand *o, const struct dbg_ctype *to)
{
    enum dbg_type type = DBG_U64;
    unsigned bytes = 8;
    struct dbg_value value = o->value;
    bool pointer = to->stars != 0;

    if (e->status != LW_OK)
        return;
    if (to->stars == 0 && to->debug != NULL) {
        int64_t plain = isa_type_plain(to->debug, to->type, NULL);

        if (!dbg_type_scalar(to->debug, to->type, &type, &bytes)) {
            dbg_expr_fail(e, LW_EUSAGE, "a value cannot be converted to a structure or an array");
            return;
        }
        pointer = isa_tag_is_pointer(to->debug->dies[plain].tag);
    } else if (to->stars == 0) {
        type = to->own.type;
        bytes = to->own.bytes;
        if (bytes == 0) {
            dbg_expr_fail(e, LW_EUSAGE, "an expression of type void has no value");
            return;
        }
    }
    if (pointer && dbg_value_is_float(&value)) {
        dbg_expr_fail(e, LW_EUSAGE, "the address is a floating-point value: an address must be an integer");
        return;
    }
    value = dbg_value_convert(&value, type);
    if (bytes < 4)
        value = dbg_scalar(type, bytes, value.bits);
    *o = (struct dbg_operand){.value = value, .typed = true, .debug = to->debug,
                              .type = to->type, .stars = to->stars, .own = to->own};
}

/* Replaces operand @o, a pointer to an array, by element @index of the array. */
static void arrive(struct dbg_expr *e, struct dbg_operand *o, int64_t index)
{
    uint64_t bytes = 0;

    (void)dbg_typed_finish(e, o);
    (void)dbg_typed_stride(o, &bytes);
    o->address = o->value.bits + (uint64_t)index * bytes;
    o->in_memory = true;
    if (o->stars == 0) {
        set_type(o, o->debug,
                 isa_die_type(o->debug, (uint32_t)isa_type_plain(o->debug, o->type, NULL)));
    } else if (--o->stars == 0 && o->debug == NULL) {
        if (o->own.bytes == 0)
            dbg_expr_fail(e, LW_EUSAGE, "a void pointer has no value to read: convert it first, as in *(int *)p");
        else
            dbg_expr_load(e, o, o->own.type, o->own.bytes, o->address);
    }
}

void dbg_typed_follow(struct dbg_expr *e, struct dbg_operand *o)
{
    dbg_typed_index(e, o, 0);
}

void dbg_typed_index(struct dbg_expr *e, struct dbg_operand *o, int64_t index)
{
    uint64_t bytes;

    if (e->status != LW_OK)
        return;
    if (!dbg_typed_stride(o, &bytes)) {
        dbg_expr_fail(e, LW_EUSAGE, "[...] needs a pointer or an array before it");
    } else if (o->stars == 0 && is_array(o)) {
        o->address += (uint64_t)index * bytes;
        choose_element(o);
    } else {
        arrive(e, o, index);
    }
}

bool dbg_member_is_static(const struct isa_debug *debug, uint32_t member)
{
    return isa_die_attr(debug, member, ISA_AT_EXTERNAL) != NULL ||
           isa_die_attr(debug, member, ISA_AT_DECLARATION) != NULL;
}

/* Finds member @name of a structure, also in its base classes and in its members without a name. *@offset is set to its
 * offset in the structure. Returns false if there is no such member. */
static bool find_member(const struct isa_debug *debug, int64_t type, const char *name,
                        unsigned depth, uint32_t *die, uint64_t *offset)
{
    type = isa_type_plain(debug, type, NULL);
    if (type == ISA_NO_DIE || depth > DBG_MAX_TYPE_DEPTH ||
        !dbg_tag_is_structure(debug->dies[type].tag))
        return false;
    for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end) {
        bool base = debug->dies[i].tag == ISA_TAG_INHERITANCE;
        const char *have = base ? NULL : isa_die_name(debug, i);

        if ((debug->dies[i].tag != ISA_TAG_MEMBER && !base) || dbg_member_is_static(debug, i))
            continue;
        *offset = isa_die_number(debug, i, ISA_AT_MEMBER_LOCATION, 0);
        if (have != NULL && strcmp(have, name) == 0) {
            *die = i;
            return true;
        }
        if (have == NULL) {
            uint64_t before = *offset;

            if (find_member(debug, isa_die_type(debug, i), name, depth + 1, die, offset)) {
                *offset += before;
                return true;
            }
        }
    }
    return false;
}

void dbg_typed_become_member(struct dbg_operand *o, uint32_t die, uint64_t offset)
{
    const struct isa_debug *debug = o->debug;
    const struct isa_attr *bit = isa_die_attr(debug, die, ISA_AT_DATA_BIT_OFFSET);
    uint64_t bytes;

    set_type(o, debug, isa_die_type(debug, die));
    o->address += offset;
    if (bit == NULL)
        return;
    bytes = isa_type_bytes(debug, o->type, 0);
    if (bytes == 0 || bytes > 8)
        bytes = 4;
    o->address += bit->value / (8 * bytes) * bytes;
    o->bit_first = (unsigned)(bit->value % (8 * bytes));
    o->bit_count = (unsigned)(isa_die_number(debug, die, ISA_AT_BIT_SIZE, 1) & 63);
}

void dbg_typed_member(struct dbg_expr *e, struct dbg_operand *o, const char *name)
{
    const struct isa_debug *debug = o->debug;
    int64_t type = debug != NULL ? isa_type_plain(debug, o->type, NULL) : ISA_NO_DIE;
    uint64_t offset;
    uint32_t die;

    if (e->status != LW_OK)
        return;
    if (o->stars != 0 || debug == NULL || type == ISA_NO_DIE || o->skip != 0 ||
        !dbg_tag_is_structure(debug->dies[type].tag))
        dbg_expr_fail(e, LW_EUSAGE, "there is no member %s: the value before it is not a structure", name);
    else if (!find_member(debug, type, name, 0, &die, &offset))
        dbg_expr_fail(e, LW_ENOENT, "the structure has no member %s", name);
    else
        dbg_typed_become_member(o, die, offset);
}

bool dbg_typed_is_vector(const struct dbg_operand *o)
{
    int64_t type = o->debug != NULL ? isa_type_plain(o->debug, o->type, NULL) : ISA_NO_DIE;

    return type != ISA_NO_DIE && o->stars == 0 && o->skip == 0 &&
           o->debug->dies[type].tag == ISA_TAG_ARRAY &&
           isa_die_attr(o->debug, (uint32_t)type, ISA_AT_VECTOR) != NULL;
}

bool dbg_typed_is_structure(const struct dbg_operand *o)
{
    int64_t type = o->debug != NULL ? isa_type_plain(o->debug, o->type, NULL) : ISA_NO_DIE;

    return type != ISA_NO_DIE && o->stars == 0 && o->skip == 0 && dbg_tag_is_structure(o->debug->dies[type].tag);
}

bool dbg_typed_is_reference(const struct dbg_operand *o)
{
    int64_t type = o->debug != NULL && o->stars == 0 && o->skip == 0 ? isa_type_plain(o->debug, o->type, NULL)
                                                                     : ISA_NO_DIE;

    return type != ISA_NO_DIE && (o->debug->dies[type].tag == ISA_TAG_REFERENCE ||
                                  o->debug->dies[type].tag == ISA_TAG_RVALUE_REFERENCE);
}

bool dbg_typed_points_to_member(const struct dbg_operand *o, const char *name)
{
    int64_t type = o->debug != NULL && o->stars <= 1 ? isa_type_plain(o->debug, o->type, NULL) : ISA_NO_DIE;
    uint64_t offset;
    uint32_t die;

    if (type == ISA_NO_DIE || o->skip != 0)
        return false;
    if (o->stars == 0) {
        if (!isa_tag_is_pointer(o->debug->dies[type].tag))
            return false;
        type = isa_die_type(o->debug, (uint32_t)type);
    }
    type = isa_type_plain(o->debug, type, NULL);
    return name == NULL ? type != ISA_NO_DIE && dbg_tag_is_structure(o->debug->dies[type].tag)
                        : find_member(o->debug, type, name, 0, &die, &offset);
}

/* ---- all of a frame -------------------------------------------------------------------- */

/* Prints the value of a variable; with @is_short, structures and arrays as {...}. Returns false if the variable has no value
 * at this instruction. */
static bool put_variable(struct dbg *dbg, dbg_thread_id id, unsigned lane, const struct dbg_where *at,
                         uint32_t die, bool is_short, struct lw_sink *out)
{
    const struct isa_debug *debug = at->object->debug;
    struct dbg_operand o = {.in_memory = true};
    struct found found;

    locate(dbg, id, lane, at, die, &found);
    if (!found.here) {
        lw_put(out, "<optimized out>");
        return false;
    }
    set_type(&o, debug, isa_die_type(debug, die));
    o.in_memory = found.in_memory;
    o.address = found.address;
    o.value = dbg_value_make(DBG_U64, found.value);
    if (is_short && (is_array(&o) || dbg_typed_is_structure(&o)))
        lw_put(out, "{...}");
    else
        dbg_typed_print(dbg, id, lane, &o, 0, DBG_MOST_VALUES, out);
    return true;
}

void dbg_arguments_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                         const struct dbg_frame_location *location, struct lw_sink *out)
{
    struct dbg_where at;
    uint32_t scopes[64];
    bool first = true;

    if (!dbg_where_is(dbg, location->pc, &at) || at.object->debug == NULL)
        return;
    at.frame = location->frame;
    at.inner = location->inner;
    if (own_scopes(&at, scopes, LW_COUNT_OF(scopes)) == 0)
        return;
    const struct isa_debug *debug = at.object->debug;

    for (uint32_t i = scopes[0] + 1; i < debug->dies[scopes[0]].end; i = debug->dies[i].end) {
        if (debug->dies[i].tag != ISA_TAG_PARAMETER || isa_die_name(debug, i) == NULL)
            continue;
        lw_printf(out, "%s%s = ", first ? "  " : ", ", isa_die_name(debug, i));
        (void)!put_variable(dbg, id, lane, &at, i, true, out);
        first = false;
    }
}

/* Prints the variables of a scope, one on each line. @only: tag of the variables that are printed; 0: all. Adds the number of
 * printed variables to *@shown, and the number of those without a value to *@lost. */
static void print_scope(struct dbg *dbg, dbg_thread_id id, unsigned lane, const struct dbg_where *at,
                        uint32_t scope, unsigned only, unsigned *shown, unsigned *lost,
                        struct lw_sink *out)
{
    const struct isa_debug *debug = at->object->debug;

    for (uint32_t i = scope + 1; i < debug->dies[scope].end; i = debug->dies[i].end) {
        const char *name = isa_die_is_variable(debug, i) && (only == 0 || debug->dies[i].tag == only)
                               ? isa_die_name(debug, i)
                               : NULL;

        if (name == NULL)
            continue;
        ++*shown;
        lw_printf(out, "%s = ", name);
        *lost += !put_variable(dbg, id, lane, at, i, false, out);
        lw_put(out, "\n");
    }
}

const char *dbg_locals_advice(struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    const struct emu_program *program = dbg_program(dbg);
    struct dbg_where at;

    if (program == NULL || strncmp(emu_program_object(program)->producer, "nvcc", 4) != 0)
        return NULL;
    if (find_where(dbg, id, lane, &at)) /* fails if debug information has only entries of inlined functions */
        for (uint32_t i = 0; i < at.object->debug->die_count; i++)
            if (isa_die_is_variable(at.object->debug, i))
                return NULL;
    return dbg->config.advice != NULL ? dbg->config.advice
                                      : "nvcc writes none for optimised code; compile with -g, or with --compiler clang, which keeps "
                                        "values of optimised code";
}

static enum lw_status print_scopes(struct dbg *dbg, dbg_thread_id id, unsigned lane, bool parameters,
                                   struct lw_sink *out, struct lw_error *err)
{
    const char *what = parameters ? "parameters" : "variables";
    uint32_t scopes[64];
    struct dbg_where at;
    unsigned shown = 0, lost = 0;
    const char *advice = dbg_locals_advice(dbg, id, lane);

    if (!find_where(dbg, id, lane, &at) || advice != NULL) {
        struct dbg_warp warp;

        if (!dbg_warp_locate(dbg, id, &warp))
            return dbg_exited(dbg, id, err);
        lw_printf(out, "no %s are known: %s\n", what,
                  advice != NULL ? advice : "the program has no debug information for them; compile it with -g");
        return LW_OK;
    }
    for (unsigned n = own_scopes(&at, scopes, LW_COUNT_OF(scopes)); n-- > 0;)
        if (!parameters || n == 0) /* parameters are only in the outermost scope of a frame */
            print_scope(dbg, id, lane, &at, scopes[n], parameters ? ISA_TAG_PARAMETER : 0, &shown,
                        &lost, out);
    if (lost != 0)
        lw_printf(out, "some variables are optimized out: %s\n", see_more(dbg, &at));
    if (shown == 0)
        lw_printf(out, "there are no %s at this location\n", what);
    return LW_OK;
}

unsigned dbg_locals_missing(struct dbg *dbg, dbg_thread_id id, unsigned lane, const char **help)
{
    uint32_t scopes[64];
    struct dbg_where at;
    unsigned missing = 0;

    if (!find_where(dbg, id, lane, &at))
        return 0;
    *help = see_more(dbg, &at);
    for (unsigned n = own_scopes(&at, scopes, LW_COUNT_OF(scopes)); n-- > 0;) {
        const struct isa_debug *debug = at.object->debug;
        struct found found;

        for (uint32_t i = scopes[n] + 1; i < debug->dies[scopes[n]].end; i = debug->dies[i].end) {
            if (!isa_die_is_variable(debug, i) || isa_die_name(debug, i) == NULL)
                continue;
            locate(dbg, id, lane, &at, i, &found);
            missing += !found.here;
        }
    }
    return missing;
}

enum lw_status dbg_locals_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                struct lw_sink *out, struct lw_error *err)
{
    return print_scopes(dbg, id, lane, false, out, err);
}

enum lw_status dbg_parameters_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                    struct lw_sink *out, struct lw_error *err)
{
    return print_scopes(dbg, id, lane, true, out, err);
}
