/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of the source (isa_debug of the object): found by name in the scopes around a
 * lane's pc, innermost first, then in the module; read, walked into and printed by type.
 */
#include "debug/dbg_expr_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum { NO_DIE = -1, MAX_TYPE_DEPTH = 32, MAX_PRINT_DEPTH = 8, MAX_ELEMENTS = 200, REPEATS = 10 };
enum { ENCODING_BOOLEAN = 2, ENCODING_FLOAT = 4, ENCODING_SIGNED = 5, ENCODING_SIGNED_CHAR = 6 };
#define STACK_TO_FRAMES ((UINT64_C(0xFA) - 0xF4) << 56)

/* ---- types ----------------------------------------------------------------------- */

static uint64_t number(const struct isa_debug *debug, uint32_t die, unsigned name,
                       uint64_t otherwise)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, name);

    return attr != NULL ? attr->value : otherwise;
}

static int64_t type_of(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_TYPE);

    if (attr == NULL) { /* inlined: its origin tells */
        const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

        attr = origin != NULL ? isa_die_attr(debug, (uint32_t)origin->value, ISA_AT_TYPE) : NULL;
    }
    return attr != NULL ? (int64_t)attr->value : NO_DIE;
}

/* Past names and qualifiers. */
static int64_t plain_type(const struct isa_debug *debug, int64_t type)
{
    for (unsigned depth = 0; type != NO_DIE && depth < MAX_TYPE_DEPTH; depth++) {
        switch (debug->dies[type].tag) {
        case ISA_TAG_TYPEDEF:
        case ISA_TAG_CONST:
        case ISA_TAG_VOLATILE:
        case ISA_TAG_RESTRICT: type = type_of(debug, (uint32_t)type); break;
        default: return type;
        }
    }
    return NO_DIE;
}

static bool is_pointer(unsigned tag)
{
    return tag == ISA_TAG_POINTER || tag == ISA_TAG_REFERENCE || tag == ISA_TAG_RVALUE_REFERENCE;
}

static bool is_structure(unsigned tag)
{
    return tag == ISA_TAG_STRUCTURE || tag == ISA_TAG_CLASS || tag == ISA_TAG_UNION;
}

/* Elements of the dimension @nth of an array; 0: it has no such dimension, or no end. */
static uint64_t dimension(const struct isa_debug *debug, uint32_t array, unsigned nth)
{
    for (uint32_t i = array + 1; i < debug->dies[array].end; i = debug->dies[i].end) {
        const struct isa_attr *count;

        if (debug->dies[i].tag != ISA_TAG_SUBRANGE || nth-- != 0)
            continue;
        count = isa_die_attr(debug, i, ISA_AT_COUNT);
        if (count != NULL)
            return count->value;
        count = isa_die_attr(debug, i, ISA_AT_UPPER_BOUND);
        return count != NULL ? count->value + 1 : 0;
    }
    return 0;
}

static unsigned dimensions(const struct isa_debug *debug, uint32_t array)
{
    unsigned n = 0;

    for (uint32_t i = array + 1; i < debug->dies[array].end; i = debug->dies[i].end)
        n += debug->dies[i].tag == ISA_TAG_SUBRANGE;
    return n;
}

/* Bytes of a type; of an array behind its first @skip dimensions. 0: not known. */
static uint64_t type_bytes(const struct isa_debug *debug, int64_t type, unsigned skip,
                           unsigned depth)
{
    uint64_t bytes;
    unsigned tag;

    type = plain_type(debug, type);
    if (type == NO_DIE || depth == MAX_TYPE_DEPTH)
        return 0;
    tag = debug->dies[type].tag;
    if (tag == ISA_TAG_ARRAY) {
        bytes = type_bytes(debug, type_of(debug, (uint32_t)type), 0, depth + 1);
        for (unsigned i = skip; i < dimensions(debug, (uint32_t)type); i++) {
            uint64_t count = dimension(debug, (uint32_t)type, i);

            if (count != 0 && bytes > UINT64_MAX / count)
                return 0;
            bytes *= count;
        }
        return bytes;
    }
    return number(debug, (uint32_t)type, ISA_AT_BYTE_SIZE, is_pointer(tag) ? 8 : 0);
}

/* ---- places ------------------------------------------------------------------------- */

/** Where a lane is in its program. */
struct where {
    const struct emu_program *program;
    const struct isa_object *object;
    uint32_t insn;
};

static bool find_where(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct where *out)
{
    struct emu_split_view split;
    struct dbg_warp warp;

    if (!dbg_warp_locate(dbg, id, &warp) ||
        !emu_lane_where(warp.core, warp.slot, warp.warp, lane, &split))
        return false;
    out->program = emu_machine_program_at(dbg->machine, split.pc);
    if (out->program == NULL)
        return false;
    out->object = emu_program_object(out->program);
    out->insn = (uint32_t)((split.pc - emu_program_base(out->program)) / ISA_WORD_BYTES);
    return out->object->debug != NULL;
}

static const char *name_of(const struct isa_debug *debug, uint32_t die)
{
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_NAME);

    if (attr == NULL) {
        const struct isa_attr *origin = isa_die_attr(debug, die, ISA_AT_ABSTRACT_ORIGIN);

        attr = origin != NULL ? isa_die_attr(debug, (uint32_t)origin->value, ISA_AT_NAME) : NULL;
    }
    return attr != NULL ? attr->text : NULL;
}

static bool is_variable(const struct isa_debug *debug, uint32_t die)
{
    return debug->dies[die].tag == ISA_TAG_VARIABLE || debug->dies[die].tag == ISA_TAG_PARAMETER;
}

/* A scope that holds the instruction. */
static bool holds(const struct where *at, uint32_t die)
{
    const struct isa_debug *debug = at->object->debug;
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_LOW_PC);

    if (attr != NULL) {
        const struct isa_function *function = &at->object->functions[attr->value];

        return at->insn >= function->first && at->insn - function->first < function->count;
    }
    attr = isa_die_attr(debug, die, ISA_AT_RANGES);
    for (uint32_t i = 0; attr != NULL && i < attr->count; i++) {
        const struct isa_span *span = &debug->spans[attr->value + i];

        if (at->insn >= span->from && at->insn < span->to)
            return true;
    }
    return false;
}

/* Scopes around the instruction, outermost first; the count. */
static unsigned find_scopes(const struct where *at, uint32_t *scopes, unsigned room)
{
    const struct isa_debug *debug = at->object->debug;
    unsigned count = 0;

    for (uint32_t i = 0; i < debug->die_count && count < room;) {
        unsigned tag = debug->dies[i].tag;

        if ((tag == ISA_TAG_SUBPROGRAM || tag == ISA_TAG_BLOCK || tag == ISA_TAG_INLINED) &&
            holds(at, i)) {
            scopes[count++] = i++;
        } else {
            i = tag == ISA_TAG_NAMESPACE ? i + 1 : debug->dies[i].end;
        }
        if (count != 0 && i >= debug->dies[scopes[count - 1]].end)
            break;
    }
    return count;
}

static int64_t find_in(const struct isa_debug *debug, uint32_t scope, const char *name)
{
    for (uint32_t i = scope + 1; i < debug->dies[scope].end; i = debug->dies[i].end) {
        const char *have = is_variable(debug, i) ? name_of(debug, i) : NULL;

        if (have != NULL && strcmp(have, name) == 0)
            return i;
    }
    return NO_DIE;
}

static int64_t find_variable(const struct where *at, const char *name)
{
    const struct isa_debug *debug = at->object->debug;
    uint32_t scopes[64];

    for (unsigned n = find_scopes(at, scopes, LW_COUNT_OF(scopes)); n-- > 0;) {
        int64_t die = find_in(debug, scopes[n], name);

        if (die != NO_DIE)
            return die;
    }
    for (uint32_t i = 0; i < debug->die_count;) {
        const char *have = debug->dies[i].tag == ISA_TAG_VARIABLE ? name_of(debug, i) : NULL;

        if (have != NULL && strcmp(have, name) == 0)
            return i;
        i = debug->dies[i].tag == ISA_TAG_NAMESPACE ? i + 1 : debug->dies[i].end;
    }
    return NO_DIE;
}

/** A value of the source: in memory (windows count), or only known. */
struct found {
    bool here, in_memory;
    uint64_t address, value;
};

static void locate(struct dbg *dbg, dbg_thread_id id, unsigned lane, const struct where *at,
                   uint32_t die, struct found *out)
{
    const struct isa_debug *debug = at->object->debug;
    const struct isa_attr *attr = isa_die_attr(debug, die, ISA_AT_LOCATION);
    const struct isa_place *place = NULL;
    struct dbg_frame frame;
    uint8_t raw[8] = {0};

    *out = (struct found){.in_memory = true};
    for (uint32_t i = 0; attr != NULL && i < attr->count && place == NULL; i++) {
        const struct isa_place *p = &debug->places[attr->value + i];

        if (p->to == 0 || (at->insn >= p->from && at->insn < p->to))
            place = p;
    }
    attr = isa_die_attr(debug, die, ISA_AT_CONST_VALUE);
    if (place == NULL) {
        out->here = attr != NULL;
        out->in_memory = false;
        out->value = attr != NULL ? attr->value : 0;
        return;
    }
    out->here = true;
    out->address = place->value;
    switch (place->kind) {
    case ISA_PLACE_ADDRESS: break;
    case ISA_PLACE_FRAME:
        out->here = dbg_frame_at(dbg, id, lane, 0, &frame) &&
                    dbg_mem_access(dbg, id, lane, frame.cfa - 8 + STACK_TO_FRAMES, raw, 8,
                                   false) == 8;
        out->address += lw_get64(raw);
        break;
    case ISA_PLACE_VARIABLE: {
        const struct isa_variable *variable = &at->object->variables[place->variable];

        out->address += variable->space == ISA_SPACE_SHARED
                            ? ISA_SHARED_BASE + variable->shared_offset
                            : emu_program_variable(at->program, variable->name, NULL);
        break;
    }
    default:
        out->in_memory = false;
        out->value = place->value;
        break;
    }
    if (out->here && place->shared_pointer) {
        out->here = dbg_mem_access(dbg, id, lane, out->address, raw, 8, false) == 8;
        out->value = lw_get64(raw) + ISA_SHARED_BASE;
        out->in_memory = false;
    }
}

/* ---- scalars ---------------------------------------------------------------------------- */

/* The debugger's type of a base, enumeration or pointer type; false: an aggregate. */
static bool scalar_type(const struct isa_debug *debug, int64_t type, enum dbg_type *out,
                        unsigned *bytes)
{
    uint64_t size, encoding;
    unsigned tag;

    type = plain_type(debug, type);
    if (type == NO_DIE)
        return false;
    tag = debug->dies[type].tag;
    size = type_bytes(debug, type, 0, 0);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return false;
    *bytes = (unsigned)size;
    if (is_pointer(tag)) {
        *out = DBG_U64;
        return size == 8;
    }
    if (tag == ISA_TAG_ENUMERATION) {
        *out = size == 8 ? DBG_S64 : DBG_S32;
        return true;
    }
    if (tag != ISA_TAG_BASE)
        return false;
    encoding = number(debug, (uint32_t)type, ISA_AT_ENCODING, 0);
    if (encoding == ENCODING_FLOAT && size >= 4)
        *out = size == 8 ? DBG_F64 : DBG_F32;
    else if (encoding == ENCODING_SIGNED || encoding == ENCODING_SIGNED_CHAR)
        *out = size == 8 ? DBG_S64 : DBG_S32;
    else
        *out = size == 8 ? DBG_U64 : DBG_U32;
    return true;
}

static struct dbg_value scalar(enum dbg_type type, unsigned bytes, uint64_t bits)
{
    if (bytes < 8)
        bits &= lw_mask(8 * bytes);
    if (bytes < 4 && type == DBG_S32)
        bits = (uint64_t)((int64_t)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    return dbg_value_make(type, bits);
}

/* A bit field's value, with its sign. */
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
}

bool dbg_variable_resolve(struct dbg_expr *e, const char *name, struct dbg_operand *o)
{
    const struct emu_program *program = dbg_program(e->dbg);
    struct where at;
    struct found found = {0};
    int64_t die = NO_DIE;

    if (find_where(e->dbg, e->id, e->lane, &at))
        die = find_variable(&at, name);
    if (die == NO_DIE && e->dry && program != NULL &&
        emu_program_object(program)->debug != NULL) {
        /* nobody stands anywhere yet: a condition is checked by any variable of the name */
        const struct isa_debug *debug = emu_program_object(program)->debug;

        for (uint32_t i = 0; i < debug->die_count && die == NO_DIE; i++) {
            const char *have = is_variable(debug, i) ? name_of(debug, i) : NULL;

            if (have != NULL && strcmp(have, name) == 0)
                die = i;
        }
        if (die != NO_DIE) {
            set_type(o, debug, type_of(debug, (uint32_t)die));
            o->in_memory = true;
            return true;
        }
    }
    if (die == NO_DIE)
        return false;
    set_type(o, at.object->debug, type_of(at.object->debug, (uint32_t)die));
    o->in_memory = true;
    if (e->dry)
        return true;
    locate(e->dbg, e->id, e->lane, &at, (uint32_t)die, &found);
    if (!found.here) {
        dbg_expr_fail(e, LW_ERANGE, "%s has no place here: the compiler has optimised it out",
                      name);
        return true;
    }
    o->in_memory = found.in_memory;
    o->address = found.address;
    o->value = dbg_value_make(DBG_U64, found.value);
    return true;
}

uint64_t dbg_typed_bytes(const struct dbg_operand *o)
{
    return o->debug != NULL ? type_bytes(o->debug, o->type, o->skip, 0) : o->bytes;
}

bool dbg_typed_finish(struct dbg_expr *e, struct dbg_operand *o)
{
    enum dbg_type type;
    unsigned bytes;
    uint8_t raw[8] = {0};

    o->kind = DBG_TARGET_NONE;
    if (o->skip != 0 || !scalar_type(o->debug, o->type, &type, &bytes)) {
        o->value = dbg_value_make(DBG_U64, o->address); /* an aggregate is its address */
        return false;
    }
    o->typed = true;
    if (!o->in_memory) {
        o->value = scalar(type, bytes, o->value.bits);
        return true;
    }
    o->bytes = bytes;
    if (o->bit_count == 0)
        o->kind = DBG_TARGET_MEMORY;
    o->value = dbg_value_make(type, 0);
    if (e->dry)
        return true;
    if (dbg_mem_access(e->dbg, e->id, e->lane, o->address, raw, bytes, false) != bytes) {
        dbg_expr_fail(e, LW_ERANGE,
                      "cannot read %u bytes at 0x%llx: this lane has no memory there", bytes,
                      (unsigned long long)o->address);
        return true;
    }
    if (o->bit_count != 0)
        o->value = dbg_value_make(type, bits_of(lw_get64(raw), o->bit_first, o->bit_count,
                                                type == DBG_S32 || type == DBG_S64));
    else
        o->value = scalar(type, bytes, lw_get64(raw));
    return true;
}

void dbg_typed_follow(struct dbg_expr *e, struct dbg_operand *o)
{
    int64_t type = plain_type(o->debug, o->type);

    if (e->status != LW_OK)
        return;
    if (type != NO_DIE && o->debug->dies[type].tag == ISA_TAG_ARRAY) {
        dbg_typed_index(e, o, 0);
        return;
    }
    if (type == NO_DIE || o->skip != 0 || !is_pointer(o->debug->dies[type].tag)) {
        dbg_expr_fail(e, LW_EUSAGE, "this is neither a pointer nor an array");
        return;
    }
    (void)dbg_typed_finish(e, o);
    o->address = o->value.bits;
    o->in_memory = true;
    set_type(o, o->debug, type_of(o->debug, (uint32_t)type));
}

void dbg_typed_index(struct dbg_expr *e, struct dbg_operand *o, int64_t index)
{
    int64_t type = plain_type(o->debug, o->type);
    uint64_t bytes;

    if (e->status != LW_OK)
        return;
    if (type != NO_DIE && o->debug->dies[type].tag == ISA_TAG_ARRAY) {
        bytes = type_bytes(o->debug, type, o->skip + 1, 0);
        o->address += (uint64_t)index * bytes;
        if (o->skip + 1 < dimensions(o->debug, (uint32_t)type))
            o->skip++;
        else
            set_type(o, o->debug, type_of(o->debug, (uint32_t)type));
        return;
    }
    dbg_typed_follow(e, o);
    if (e->status == LW_OK)
        o->address += (uint64_t)index * type_bytes(o->debug, o->type, 0, 0);
}

void dbg_typed_member(struct dbg_expr *e, struct dbg_operand *o, const char *name)
{
    const struct isa_debug *debug = o->debug;
    int64_t type = plain_type(debug, o->type);

    if (e->status != LW_OK)
        return;
    if (type == NO_DIE || o->skip != 0 || !is_structure(debug->dies[type].tag)) {
        dbg_expr_fail(e, LW_EUSAGE, "this is no structure, so it has no member %s", name);
        return;
    }
    for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end) {
        const char *have = debug->dies[i].tag == ISA_TAG_MEMBER ? name_of(debug, i) : NULL;
        const struct isa_attr *bit = isa_die_attr(debug, i, ISA_AT_DATA_BIT_OFFSET);

        if (have == NULL || strcmp(have, name) != 0)
            continue;
        set_type(o, debug, type_of(debug, i));
        o->address += number(debug, i, ISA_AT_MEMBER_LOCATION, 0);
        if (bit != NULL) {
            uint64_t bytes = type_bytes(debug, o->type, 0, 0);

            if (bytes == 0 || bytes > 8)
                bytes = 4;
            o->address += bit->value / (8 * bytes) * bytes;
            o->bit_first = (unsigned)(bit->value % (8 * bytes));
            o->bit_count = (unsigned)(number(debug, i, ISA_AT_BIT_SIZE, 1) & 63);
        }
        return;
    }
    dbg_expr_fail(e, LW_ENOENT, "the structure has no member %s", name);
}

bool dbg_typed_is_structure(const struct dbg_operand *o)
{
    int64_t type = plain_type(o->debug, o->type);

    return type != NO_DIE && o->skip == 0 && is_structure(o->debug->dies[type].tag);
}

/* ---- printing ------------------------------------------------------------------------------ */

struct printing {
    struct dbg *dbg;
    dbg_thread_id id;
    unsigned lane;
    char format;
    struct lw_sink *out;
    unsigned left; /* values that may still be printed */
};

static void print_at(struct printing *pr, struct dbg_operand *o, unsigned depth);

static void print_scalar(struct printing *pr, const struct dbg_operand *o)
{
    int64_t type = plain_type(o->debug, o->type);
    unsigned tag = type != NO_DIE ? o->debug->dies[type].tag : 0;

    if (pr->format == 0 && tag == ISA_TAG_ENUMERATION) {
        for (uint32_t i = (uint32_t)type + 1; i < o->debug->dies[type].end; i++) {
            if (o->debug->dies[i].tag == ISA_TAG_ENUMERATOR &&
                (uint32_t)number(o->debug, i, ISA_AT_CONST_VALUE, 0) == (uint32_t)o->value.bits) {
                lw_put(pr->out, name_of(o->debug, i) != NULL ? name_of(o->debug, i) : "?");
                return;
            }
        }
    }
    if (pr->format == 0 && is_pointer(tag))
        lw_printf(pr->out, "0x%llx", (unsigned long long)o->value.bits);
    else
        dbg_value_print(&o->value, pr->format, pr->out);
}

static void print_members(struct printing *pr, const struct dbg_operand *o, int64_t type,
                          unsigned depth)
{
    const struct isa_debug *debug = o->debug;
    bool first = true;

    lw_put(pr->out, "{");
    for (uint32_t i = (uint32_t)type + 1; i < debug->dies[type].end; i = debug->dies[i].end) {
        struct dbg_operand member = *o;
        const char *name = name_of(debug, i);

        if (debug->dies[i].tag != ISA_TAG_MEMBER)
            continue;
        lw_put(pr->out, first ? "" : ", ");
        first = false;
        if (name != NULL) {
            struct dbg_expr e = {.dbg = pr->dbg, .id = pr->id, .lane = pr->lane};

            lw_printf(pr->out, "%s = ", name);
            dbg_typed_member(&e, &member, name);
        } else { /* an unnamed structure or union */
            set_type(&member, debug, type_of(debug, i));
            member.address += number(debug, i, ISA_AT_MEMBER_LOCATION, 0);
        }
        print_at(pr, &member, depth + 1);
    }
    lw_put(pr->out, "}");
}

static void print_elements(struct printing *pr, const struct dbg_operand *o, int64_t type,
                           unsigned depth)
{
    uint64_t count = dimension(o->debug, (uint32_t)type, o->skip);
    struct lw_buffer last, next;
    uint64_t run = 0;

    lw_buffer_init(&last);
    lw_buffer_init(&next);
    lw_put(pr->out, "{");
    for (uint64_t i = 0; i <= count; i++) {
        struct dbg_expr e = {.dbg = pr->dbg, .id = pr->id, .lane = pr->lane};
        struct printing one = *pr;
        struct dbg_operand element = *o;
        bool end = i == count || i == MAX_ELEMENTS || pr->left == 0;

        lw_buffer_clear(&next);
        if (!end) {
            one.out = &next.sink;
            dbg_typed_index(&e, &element, (int64_t)i);
            print_at(&one, &element, depth + 1);
            pr->left = one.left;
            if (run != 0 && next.size == last.size &&
                memcmp(next.text, last.text, next.size) == 0) {
                run++;
                continue;
            }
        }
        if (run >= REPEATS) {
            lw_printf(pr->out, "%.*s <repeats %llu times>", (int)last.size, last.text,
                      (unsigned long long)run);
        } else {
            for (uint64_t k = 0; k < run; k++)
                lw_printf(pr->out, "%s%.*s", k != 0 ? ", " : "", (int)last.size, last.text);
        }
        if (end) {
            lw_put(pr->out, i < count ? "..." : "");
            break;
        }
        lw_put(pr->out, run != 0 ? ", " : "");
        lw_buffer_clear(&last);
        lw_printf(&last.sink, "%.*s", (int)next.size, next.text);
        run = 1;
    }
    lw_put(pr->out, "}");
    lw_buffer_fini(&last);
    lw_buffer_fini(&next);
}

static void print_at(struct printing *pr, struct dbg_operand *o, unsigned depth)
{
    struct lw_error err;
    struct dbg_expr e = {.dbg = pr->dbg, .id = pr->id, .lane = pr->lane, .err = &err};
    int64_t type = plain_type(o->debug, o->type);

    if (pr->left == 0 || depth > MAX_PRINT_DEPTH) {
        lw_put(pr->out, "...");
        return;
    }
    pr->left--;
    if (dbg_typed_finish(&e, o)) {
        if (e.status != LW_OK)
            lw_put(pr->out, "<no memory>");
        else
            print_scalar(pr, o);
    } else if (type != NO_DIE && is_structure(o->debug->dies[type].tag)) {
        print_members(pr, o, type, depth);
    } else if (type != NO_DIE && o->debug->dies[type].tag == ISA_TAG_ARRAY) {
        print_elements(pr, o, type, depth);
    } else {
        lw_printf(pr->out, "<no value at 0x%llx>", (unsigned long long)o->address);
    }
}

void dbg_typed_print(struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_operand *o,
                     char format, struct lw_sink *out)
{
    struct printing pr = {dbg, id, lane, format, out, 4 * MAX_ELEMENTS};

    print_at(&pr, o, 0);
}

enum lw_status dbg_locals_print(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                                struct lw_sink *out, struct lw_error *err)
{
    uint32_t scopes[64];
    struct where at;
    unsigned shown = 0;

    if (!find_where(dbg, id, lane, &at)) {
        struct dbg_warp warp;

        if (!dbg_warp_locate(dbg, id, &warp))
            return dbg_gone(dbg, id, err);
        lw_put(out, "no variables: the program tells of none, compile it with -O0 -g\n");
        return LW_OK;
    }
    for (unsigned n = find_scopes(&at, scopes, LW_COUNT_OF(scopes)); n-- > 0;) {
        const struct isa_debug *debug = at.object->debug;

        for (uint32_t i = scopes[n] + 1; i < debug->dies[scopes[n]].end; i = debug->dies[i].end) {
            const char *name = is_variable(debug, i) ? name_of(debug, i) : NULL;
            struct dbg_operand o = {.in_memory = true};
            struct found found;

            if (name == NULL)
                continue;
            shown++;
            lw_printf(out, "%s = ", name);
            locate(dbg, id, lane, &at, i, &found);
            if (found.here) {
                set_type(&o, debug, type_of(debug, i));
                o.in_memory = found.in_memory;
                o.address = found.address;
                o.value = dbg_value_make(DBG_U64, found.value);
                dbg_typed_print(dbg, id, lane, &o, 0, out);
            } else {
                lw_put(out, "<optimized out>");
            }
            lw_put(out, "\n");
        }
    }
    if (shown == 0)
        lw_put(out, "no variables here\n");
    return LW_OK;
}
