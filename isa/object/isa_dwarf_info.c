/* SPDX-License-Identifier: Apache-2.0 */
/* Writes .debug_info, with the compile units of the object, and the sections to which it refers. These sections contain the debug
 * entries of the source (object->debug), with locations in debug address ranges; the built-in variables; and those functions,
 * kernel parameters and shared variables of the object for which the source has no entries. Source of numbers and names: the
 * DWARF 4 standard, section 7. */
#include <stdlib.h>

#include "isa/object/isa_elf_priv.h"

enum {
    DW_TAG_formal_parameter = 0x05, DW_TAG_member = 0x0d, DW_TAG_pointer_type = 0x0f,
    DW_TAG_compile_unit = 0x11, DW_TAG_structure_type = 0x13, DW_TAG_base_type = 0x24,
    DW_TAG_subprogram = 0x2e, DW_TAG_variable = 0x34, DW_TAG_array_type = 0x01,
    DW_TAG_label = 0x0a, DW_TAG_subrange_type = 0x21,
    DW_AT_location = 0x02, DW_AT_name = 0x03, DW_AT_byte_size = 0x0b, DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12, DW_AT_macro_info = 0x43, DW_AT_language = 0x13, DW_AT_comp_dir = 0x1b,
    DW_AT_producer = 0x25, DW_AT_prototyped = 0x27, DW_AT_upper_bound = 0x2f,
    DW_AT_data_member_location = 0x38, DW_AT_decl_file = 0x3a, DW_AT_decl_line = 0x3b,
    DW_AT_encoding = 0x3e, DW_AT_external = 0x3f, DW_AT_frame_base = 0x40, DW_AT_type = 0x49,
    DW_AT_ranges = 0x55,
    DW_FORM_addr = 0x01, DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07,
    DW_FORM_string = 0x08, DW_FORM_data1 = 0x0b, DW_FORM_sdata = 0x0d, DW_FORM_udata = 0x0f,
    DW_FORM_ref4 = 0x13, DW_FORM_sec_offset = 0x17, DW_FORM_exprloc = 0x18,
    DW_FORM_flag_present = 0x19,
    DW_OP_deref = 0x06, DW_OP_const1u = 0x08, DW_OP_const8u = 0x0e,
    DW_OP_plus = 0x22, DW_OP_shl = 0x24, DW_OP_shr = 0x25, DW_OP_fbreg = 0x91,
    DW_OP_call_frame_cfa = 0x9c, DW_OP_stack_value = 0x9f,
    DW_ATE_signed = 0x05, DW_ATE_unsigned = 0x07, DW_LANG_C99 = 0x0c, DW_LANG_OPENCL = 0x15
};

/* Debug address ranges with the state of the focus lane: its registers, its built-in variables, and the constant banks, which
 * contain kernel parameters. */
#define WINDOW_VECTOR (UINT64_C(0xf0) << 56)
#define WINDOW_SCALAR (UINT64_C(0xf2) << 56)
#define WINDOW_CONST (UINT64_C(0xf9) << 56)
#define WINDOW_FOCUS_BUILTIN (UINT64_C(0xf5) << 56)

/* Debug address ranges whose addresses contain a warp and a lane: call stack, local memory, registers, frames in local memory,
 * built-in variables, and values of variables. As the addresses of each lane's state differ, a debugger never takes the bytes of
 * another lane from its cache. */
#define WINDOW_STACK (UINT64_C(0xf4) << 56)
#define WINDOW_LOCAL (UINT64_C(0xf7) << 56)
#define WINDOW_REGISTERS (UINT64_C(0xf8) << 56)
#define WINDOW_FRAMES (UINT64_C(0xfa) << 56)
#define WINDOW_BUILTIN (UINT64_C(0xfb) << 56)
#define WINDOW_VALUES (UINT64_C(0xfc) << 56)
enum { FIELDS_BIT = 32, REGISTERS_SCALAR = 0x1000 };

static uint64_t address_of(const struct isa_object *object, uint32_t insn)
{
    return isa_elf_text_address(object) + (uint64_t)insn * ISA_WORD_BYTES;
}

/** Offsets in the compile unit of types that this file defines. */
struct types {
    uint32_t u8, u16, u32, u64, i32, dim3, pointer;
};
struct maker {
    const struct isa_object *object;
    const struct isa_debug *debug; /* may be NULL */
    const uint64_t *variables;     /* addresses of the object's variables; NULL: the object is not loaded yet */
    const struct isa_dwarf_unit *unit; /* the unit that is written */
    bool is_first, has_others;         /* the unit is the first one; there are other units */
    struct isa_dwarf *to;
    struct isa_bytes *out; /* contents of the unit */
    struct macro_list {
        bool known;
        uint32_t at; /* offset in .debug_macinfo */
    } macros[2]; /* list without macros, and list with OpenCL's functions */
    struct types types;
    uint32_t *offset;   /* [entry of debug] offset in the compile unit */
    uint32_t *code;     /* [entry of debug] number of the entry's abbreviation */
    bool *covered;      /* [function] true if `debug` has an entry for the function */
    uint32_t *calls;    /* indices of the call instructions, ascending */
    uint32_t call_count;
};

/* ---- .debug_abbrev ------------------------------------------------------------------- */

enum abbrev {
    ABBREV_NONE, ABBREV_UNIT, ABBREV_UNIT_DIR, ABBREV_BASE, ABBREV_STRUCT, ABBREV_MEMBER,
    ABBREV_POINTER, ABBREV_ARRAY, ABBREV_RANGE, ABBREV_VARIABLE, ABBREV_FUNCTION,
    ABBREV_FUNCTION_PARAMS, ABBREV_PLACELESS, ABBREV_PLACELESS_PARAMS, ABBREV_PARAM, ABBREV_LABEL,
    ABBREV_COUNT_OF_ONE, /* an object with one unit has only the abbreviations before this one */
    ABBREV_UNIT_RANGES = ABBREV_COUNT_OF_ONE, ABBREV_UNIT_RANGES_DIR,
    ABBREV_COUNT
};

struct abbrev_row {
    uint8_t tag, children;
    uint8_t attributes[10][2]; /* pairs of attribute and form, up to a pair of zeros */
};

static const struct abbrev_row abbrevs[ABBREV_COUNT] = {
#define UNIT(end, form)                                                                    \
    { DW_AT_producer, DW_FORM_string }, { DW_AT_language, DW_FORM_data1 },                 \
        { DW_AT_name, DW_FORM_string }, { DW_AT_low_pc, DW_FORM_addr }, { end, form },     \
        { DW_AT_stmt_list, DW_FORM_sec_offset }, { DW_AT_macro_info, DW_FORM_sec_offset }
#define DIR { DW_AT_comp_dir, DW_FORM_string }
    [ABBREV_UNIT] = { DW_TAG_compile_unit, 1, { UNIT(DW_AT_high_pc, DW_FORM_data8) } },
    [ABBREV_UNIT_DIR] = { DW_TAG_compile_unit, 1, { UNIT(DW_AT_high_pc, DW_FORM_data8), DIR } },
    [ABBREV_UNIT_RANGES] = { DW_TAG_compile_unit, 1, { UNIT(DW_AT_ranges, DW_FORM_sec_offset) } },
    [ABBREV_UNIT_RANGES_DIR] = { DW_TAG_compile_unit, 1, { UNIT(DW_AT_ranges, DW_FORM_sec_offset), DIR } },
    [ABBREV_BASE] = { DW_TAG_base_type, 0,
                      { { DW_AT_name, DW_FORM_string }, { DW_AT_byte_size, DW_FORM_data1 },
                        { DW_AT_encoding, DW_FORM_data1 } } },
    [ABBREV_STRUCT] = { DW_TAG_structure_type, 1,
                        { { DW_AT_name, DW_FORM_string }, { DW_AT_byte_size, DW_FORM_data1 } } },
    [ABBREV_MEMBER] = { DW_TAG_member, 0,
                        { { DW_AT_name, DW_FORM_string }, { DW_AT_type, DW_FORM_ref4 },
                          { DW_AT_data_member_location, DW_FORM_data1 } } },
    [ABBREV_POINTER] = { DW_TAG_pointer_type, 0, { { DW_AT_byte_size, DW_FORM_data1 } } },
    [ABBREV_ARRAY] = { DW_TAG_array_type, 1, { { DW_AT_type, DW_FORM_ref4 } } },
    [ABBREV_RANGE] = { DW_TAG_subrange_type, 0,
                       { { DW_AT_type, DW_FORM_ref4 }, { DW_AT_upper_bound, DW_FORM_data4 } } },
    [ABBREV_VARIABLE] = { DW_TAG_variable, 0,
                          { { DW_AT_name, DW_FORM_string }, { DW_AT_type, DW_FORM_ref4 },
                            { DW_AT_external, DW_FORM_flag_present },
                            { DW_AT_location, DW_FORM_exprloc } } },
#define LOCATION                                                                              \
    { DW_AT_decl_file, DW_FORM_data2 }, { DW_AT_decl_line, DW_FORM_data4 }
#define FUNCTION                                                                           \
    { DW_AT_prototyped, DW_FORM_flag_present }, { DW_AT_external, DW_FORM_flag_present },  \
        { DW_AT_low_pc, DW_FORM_addr }, { DW_AT_high_pc, DW_FORM_data8 },                  \
        { DW_AT_frame_base, DW_FORM_exprloc }
    [ABBREV_FUNCTION] = { DW_TAG_subprogram, 0, { { DW_AT_name, DW_FORM_string }, LOCATION, FUNCTION } },
    [ABBREV_FUNCTION_PARAMS] = { DW_TAG_subprogram, 1,
                                 { { DW_AT_name, DW_FORM_string }, LOCATION, FUNCTION } },
    [ABBREV_PLACELESS] = { DW_TAG_subprogram, 0, { { DW_AT_name, DW_FORM_string }, FUNCTION } },
    [ABBREV_PLACELESS_PARAMS] = { DW_TAG_subprogram, 1,
                                  { { DW_AT_name, DW_FORM_string }, FUNCTION } },
    [ABBREV_PARAM] = { DW_TAG_formal_parameter, 0,
                       { { DW_AT_name, DW_FORM_string }, { DW_AT_type, DW_FORM_ref4 },
                         { DW_AT_location, DW_FORM_exprloc } } },
    [ABBREV_LABEL] = { DW_TAG_label, 0,
                       { { DW_AT_name, DW_FORM_string }, { DW_AT_low_pc, DW_FORM_addr } } },
#undef UNIT
#undef DIR
#undef LOCATION
#undef FUNCTION
};

/** Writes the first abbreviations. @count: 1 + their number */
static void make_own_abbrevs(struct isa_bytes *out, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        isa_bytes_uleb(out, i);
        isa_bytes_uleb(out, abbrevs[i].tag);
        isa_bytes_u8(out, abbrevs[i].children);
        for (unsigned k = 0; k < 10 && abbrevs[i].attributes[k][0] != 0; k++) {
            isa_bytes_uleb(out, abbrevs[i].attributes[k][0]);
            isa_bytes_uleb(out, abbrevs[i].attributes[k][1]);
        }
        isa_bytes_u16(out, 0);
    }
}

/* ---- abbreviations for the source's entries -------------------------------------------------- */

/* Returns true if the attribute needs a location list, because it has several locations, or a location that is not valid for all
 * instructions. */
static bool is_list(const struct isa_debug *debug, const struct isa_attr *attr)
{
    return attr->count > 1 || debug->locations[attr->value].to != 0;
}

/** Gets the names and forms of the DWARF attributes for an attribute of an object, and returns their number. The number is
 *  usually 1; it is 2 for a pair of addresses, and 3 if a frame base is added. */
static unsigned forms_of(const struct isa_debug *debug, const struct isa_attr *attr,
                         uint16_t rows[3][2])
{
    switch (isa_debug_attr_kind(attr->name)) {
    case ISA_ATTR_TEXT: rows[0][1] = DW_FORM_string; break;
    case ISA_ATTR_DIE: rows[0][1] = DW_FORM_ref4; break;
    case ISA_ATTR_SIGNED: rows[0][1] = DW_FORM_sdata; break;
    case ISA_ATTR_FLAG: rows[0][1] = DW_FORM_flag_present; break;
    case ISA_ATTR_LOCATIONS:
        rows[0][1] = is_list(debug, attr) ? DW_FORM_sec_offset : DW_FORM_exprloc;
        break;
    case ISA_ATTR_SPANS:
        if (attr->count > 1) {
            rows[0][1] = DW_FORM_sec_offset;
            break;
        }
        rows[0][0] = DW_AT_low_pc;
        rows[0][1] = DW_FORM_addr;
        rows[1][0] = DW_AT_high_pc;
        rows[1][1] = DW_FORM_data8;
        return 2;
    case ISA_ATTR_FUNCTION:
        rows[0][1] = DW_FORM_addr;
        rows[1][0] = DW_AT_high_pc;
        rows[1][1] = DW_FORM_data8;
        rows[2][0] = DW_AT_frame_base;
        rows[2][1] = DW_FORM_exprloc;
        rows[0][0] = attr->name;
        return 3;
    default: rows[0][1] = DW_FORM_udata; break;
    }
    rows[0][0] = attr->name;
    return 1;
}

static bool has_params(const struct isa_debug *debug, uint32_t die)
{
    for (uint32_t i = die + 1; i < debug->dies[die].end; i = debug->dies[i].end) {
        if (debug->dies[i].tag == ISA_TAG_PARAMETER)
            return true;
    }
    return false;
}

/* Returns the kernel of entry @die, if the source's entries do not contain its parameters; otherwise NULL. If the result is a
 * kernel, the caller adds entries for the parameters. */
static const struct isa_function *nameless_params(const struct maker *mk, uint32_t die)
{
    const struct isa_attr *pc = isa_die_attr(mk->debug, die, ISA_AT_LOW_PC);
    const struct isa_function *function =
        pc != NULL ? &mk->object->functions[pc->value] : NULL;

    return function != NULL && function->param_count != 0 && !has_params(mk->debug, die)
               ? function : NULL;
}

/* Returns true for a scope without content, such as that of a duplicated block (ptx_node_split.c). gdb drops empty scopes, and
 * with them breakpoints on their lines, so the caller adds a label to such a scope. */
static bool is_bare(const struct maker *mk, uint32_t die)
{
    return mk->debug->dies[die].tag == ISA_TAG_BLOCK && mk->debug->dies[die].end == die + 1 &&
           isa_die_attr(mk->debug, die, ISA_AT_RANGES) != NULL;
}

static void put_shape(const struct maker *mk, uint32_t die, struct isa_bytes *out)
{
    const struct isa_die *d = &mk->debug->dies[die];

    isa_bytes_uleb(out, d->tag);
    isa_bytes_u8(out, d->end > die + 1 || nameless_params(mk, die) != NULL || is_bare(mk, die));
    for (uint32_t k = 0; k < d->attr_count; k++) {
        const struct isa_attr *attr = &mk->debug->attrs[d->first_attr + k];
        uint16_t rows[3][2];
        unsigned n = forms_of(mk->debug, attr, rows);

        for (unsigned i = 0; i < n; i++) {
            isa_bytes_uleb(out, rows[i][0]);
            isa_bytes_uleb(out, rows[i][1]);
        }
    }
    isa_bytes_u16(out, 0);
}

/* Assigns abbreviations to entries. All entries of the same shape (tag, attributes and forms) have the same abbreviation; shapes
 * are looked up by a hash of their bytes. */
static bool make_shapes(struct maker *mk)
{
    uint32_t count = mk->debug->die_count, next = mk->has_others ? ABBREV_COUNT : ABBREV_COUNT_OF_ONE;
    struct isa_bytes one = { 0 };
    struct row {
        uint32_t code, size;
        size_t at;
    } *table;
    size_t room = 64;

    while (room < (size_t)count * 2)
        room *= 2;
    table = calloc(room, sizeof *table);
    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = 2166136261u;
        struct row *row;

        one.size = 0;
        put_shape(mk, i, &one);
        for (size_t k = 0; k < one.size; k++)
            hash = (hash ^ one.data[k]) * 16777619u;
        row = &table[hash & (room - 1)];
        while (row->code != 0 && (row->size != one.size ||
                                  mk->to->abbrev.failed || one.failed ||
                                  memcmp(mk->to->abbrev.data + row->at, one.data, one.size) != 0))
            row = row + 1 == table + room ? table : row + 1;
        if (row->code == 0) {
            row->code = next++;
            isa_bytes_uleb(&mk->to->abbrev, row->code);
            row->at = mk->to->abbrev.size;
            row->size = (uint32_t)one.size;
            isa_bytes_put(&mk->to->abbrev, one.data, one.size);
        }
        mk->code[i] = row->code;
        if (one.failed || mk->to->abbrev.failed)
            break;
    }
    if (one.failed)
        mk->to->abbrev.failed = true;
    isa_bytes_fini(&one);
    free(table);
    return true;
}

/* ---- .debug_info ------------------------------------------------------------------------ */

static uint32_t base_type(struct isa_bytes *out, const char *name, unsigned bytes,
                          unsigned encoding)
{
    uint32_t at = (uint32_t)out->size;

    isa_bytes_uleb(out, ABBREV_BASE);
    isa_bytes_string(out, name);
    isa_bytes_u8(out, bytes);
    isa_bytes_u8(out, encoding);
    return at;
}

static void make_types(struct isa_bytes *out, struct types *types)
{
    static const char *const members[] = { "x", "y", "z" };

    types->u8 = base_type(out, "unsigned char", 1, DW_ATE_unsigned);
    types->u16 = base_type(out, "unsigned short", 2, DW_ATE_unsigned);
    types->u32 = base_type(out, "unsigned int", 4, DW_ATE_unsigned);
    types->u64 = base_type(out, "unsigned long", 8, DW_ATE_unsigned);
    types->i32 = base_type(out, "int", 4, DW_ATE_signed);
    types->pointer = (uint32_t)out->size;
    isa_bytes_uleb(out, ABBREV_POINTER);
    isa_bytes_u8(out, 8);
    types->dim3 = (uint32_t)out->size;
    isa_bytes_uleb(out, ABBREV_STRUCT);
    isa_bytes_string(out, "uint3");
    isa_bytes_u8(out, 12);
    for (unsigned i = 0; i < 3; i++) {
        isa_bytes_uleb(out, ABBREV_MEMBER);
        isa_bytes_string(out, members[i]);
        isa_bytes_u32(out, types->u32);
        isa_bytes_u8(out, 4 * i);
    }
    isa_bytes_u8(out, 0);
}

/* Appends an expression for an address in a debug address range, with warp and lane copied from the CFA. */
static void put_lane_window(struct isa_bytes *out, uint64_t window)
{
    isa_bytes_uleb(out, 17);
    isa_bytes_u8(out, DW_OP_call_frame_cfa);
    isa_bytes_u8(out, DW_OP_const1u);
    isa_bytes_u8(out, FIELDS_BIT);
    isa_bytes_u8(out, DW_OP_shr);
    isa_bytes_u8(out, DW_OP_const1u);
    isa_bytes_u8(out, FIELDS_BIT);
    isa_bytes_u8(out, DW_OP_shl);
    isa_bytes_u8(out, DW_OP_const8u);
    isa_bytes_u64(out, window - WINDOW_STACK);
    isa_bytes_u8(out, DW_OP_plus);
}

static void put_frame_base(struct isa_bytes *out)
{
    put_lane_window(out, WINDOW_LOCAL);
}

static void put_location(struct isa_bytes *out, uint64_t address)
{
    isa_bytes_uleb(out, 9);
    isa_bytes_u8(out, DW_OP_const8u);
    isa_bytes_u64(out, address);
}

/* Writes a variable; the caller appends its location. */
static void put_variable(struct isa_bytes *out, const char *name, uint32_t type)
{
    isa_bytes_uleb(out, ABBREV_VARIABLE);
    isa_bytes_string(out, name);
    isa_bytes_u32(out, type);
}

static uint32_t array_type(struct isa_bytes *out, uint32_t element, uint32_t index,
                           uint32_t count)
{
    uint32_t at = (uint32_t)out->size;

    isa_bytes_uleb(out, ABBREV_ARRAY);
    isa_bytes_u32(out, element);
    isa_bytes_uleb(out, ABBREV_RANGE);
    isa_bytes_u32(out, index);
    isa_bytes_u32(out, count - 1);
    isa_bytes_u8(out, 0);
    return at;
}

static void make_builtins(struct isa_bytes *out, const struct types *types)
{
    static const struct {
        const char *name;
        uint8_t offset, bytes; /* the layout is documented in docs/reference/object.md */
    } rows[] = {
        { "threadIdx", 0, 12 },  { "blockIdx", 16, 12 },     { "blockDim", 32, 12 },
        { "gridDim", 48, 12 },   { "laneid", 64, 4 },        { "warpid", 68, 4 },
        { "clock64", 72, 8 },    { "warpSize", 80, 0 },      { "work_dim", 84, 4 },
        { "local_id", 0, 12 },   { "group_id", 16, 12 },     { "local_size", 32, 12 },
        { "num_groups", 48, 12 }, { "global_id", 96, 12 },   { "global_size", 112, 12 },
        { "global_offset", 128, 12 },
    };

    for (size_t i = 0; i < LW_COUNT_OF(rows); i++) {
        put_variable(out, rows[i].name,
                     rows[i].bytes == 12  ? types->dim3
                     : rows[i].bytes == 8 ? types->u64
                     : rows[i].bytes == 0 ? types->i32 /* bytes 0 means type int, which the variable has in CUDA */
                                          : types->u32);
        put_lane_window(out, WINDOW_BUILTIN + rows[i].offset);
    }
}

/* Returns true if an entry of the source has location @address. */
static bool location_known(const struct isa_debug *debug, uint64_t address)
{
    for (uint32_t i = 0; debug != NULL && i < debug->location_count; i++) {
        if (debug->locations[i].kind == ISA_LOCATION_ADDRESS && debug->locations[i].value == address)
            return true;
    }
    return false;
}

static void make_shared(struct maker *mk)
{
    for (unsigned i = 0; i < mk->object->variable_count; i++) {
        const struct isa_variable *variable = &mk->object->variables[i];
        uint64_t address = ISA_SHARED_BASE + variable->shared_offset;

        if (variable->space == ISA_SPACE_SHARED && variable->size_bytes != 0 &&
            !location_known(mk->debug, address)) {
            uint32_t type = array_type(mk->out, mk->types.u8, mk->types.u32,
                                       (uint32_t)variable->size_bytes);
            put_variable(mk->out, variable->name, type);
            put_location(mk->out, address);
        }
    }
}

/** Writes types for a function's parameters. The types must be written before the function's entry, because they are not its
 *  children. */
static void put_params(struct maker *mk, const struct isa_function *function)
{
    const struct types *types = &mk->types;

    for (unsigned i = 0; i < function->param_count; i++) {
        const struct isa_param *param = &function->params[i];
        uint32_t type = param->kind == ISA_PARAM_POINTER && param->size_bytes == 8 ? types->pointer
                        : param->size_bytes == 1                                   ? types->u8
                        : param->size_bytes == 2                                   ? types->u16
                        : param->size_bytes == 4                                   ? types->u32
                        : param->size_bytes == 8                                   ? types->u64
                                                                                   : 0;

        if (type == 0)
            type = array_type(mk->out, types->u8, types->u32, param->size_bytes);
        isa_bytes_uleb(mk->out, ABBREV_PARAM);
        isa_bytes_string(mk->out, param->name);
        isa_bytes_u32(mk->out, type);
        put_location(mk->out, WINDOW_CONST + param->offset);
    }
}

static void put_extent(struct isa_bytes *out, const struct isa_object *object, const struct isa_function *function)
{
    isa_bytes_u64(out, address_of(object, function->first));
    isa_bytes_u64(out, (uint64_t)function->count * ISA_WORD_BYTES);
}

/* Writes the name of a function without debug information, as gdb reads it from the symbol: add for _Z3addii, work for
 * _ZN4tool4workEi. Other symbols are written unchanged. */
static void put_plain_name(struct isa_bytes *out, const char *symbol)
{
    const char *at = symbol + 2, *name = symbol;
    size_t size = strlen(symbol);
    bool nested = strncmp(symbol, "_ZN", 3) == 0;

    if (strncmp(symbol, "_Z", 2) == 0)
        for (at += nested; at[*at == 'L'] >= '0' && at[*at == 'L'] <= '9';) { /* L: the function is internal */
            char *end;
            unsigned long n = strtoul(at + (*at == 'L'), &end, 10);

            if (n == 0 || n > strlen(end)) {
                name = symbol;
                size = strlen(symbol);
                break;
            }
            name = end;
            size = n;
            at = end + n;
            if (!nested)
                break;
        }
    isa_bytes_put(out, name, size);
    isa_bytes_u8(out, 0);
}

static void make_function(struct maker *mk, const struct isa_function *function)
{
    struct isa_bytes *out = mk->out;

    bool params = function->param_count != 0, placed = function->file != 0;

    isa_bytes_uleb(out, placed ? (params ? ABBREV_FUNCTION_PARAMS : ABBREV_FUNCTION)
                               : (params ? ABBREV_PLACELESS_PARAMS : ABBREV_PLACELESS));
    put_plain_name(out, function->name);
    if (placed) {
        isa_bytes_u16(out, isa_dwarf_file(mk->unit, function->file));
        isa_bytes_u32(out, function->line);
    }
    put_extent(out, mk->object, function);
    put_frame_base(out);
    if (function->param_count == 0)
        return;
    put_params(mk, function);
    isa_bytes_u8(out, 0);
}

/* ---- entries of the source ------------------------------------------------------------- */

static void put_of_lane(struct isa_bytes *out, uint64_t offset)
{
    isa_bytes_u8(out, DW_OP_fbreg);
    isa_bytes_sleb(out, (int64_t)offset);
}

/* Appends an address. An address in a debug address range for the focus lane is converted to the range whose addresses contain
 * warp and lane. */
static void put_address(struct isa_bytes *out, uint64_t address)
{
    uint64_t offset = address & lw_mask(56);

    if (address - ISA_LOCAL_BASE < ISA_APERTURE_BYTES) {
        put_of_lane(out, address - ISA_LOCAL_BASE);
    } else if (address >> 56 == WINDOW_VECTOR >> 56) {
        put_of_lane(out, WINDOW_REGISTERS - WINDOW_LOCAL + offset);
    } else if (address >> 56 == WINDOW_SCALAR >> 56) {
        put_of_lane(out, WINDOW_REGISTERS - WINDOW_LOCAL + REGISTERS_SCALAR + offset);
    } else if (address >> 56 == WINDOW_FOCUS_BUILTIN >> 56) {
        put_of_lane(out, WINDOW_BUILTIN - WINDOW_LOCAL + offset);
    } else {
        isa_bytes_u8(out, DW_OP_const8u);
        isa_bytes_u64(out, address);
    }
}

/* Appends the address at an offset from the CFA. The CFA is an address in the debug address range of the call stack, and is
 * converted to the range of frames in local memory. */
static void put_frame_offset(struct isa_bytes *out, uint64_t offset)
{
    isa_bytes_u8(out, DW_OP_call_frame_cfa);
    isa_bytes_u8(out, DW_OP_const8u);
    isa_bytes_u64(out, WINDOW_FRAMES - WINDOW_STACK - 8);
    isa_bytes_u8(out, DW_OP_plus);
    isa_bytes_u8(out, DW_OP_deref);
    put_of_lane(out, offset - ISA_LOCAL_BASE);
    isa_bytes_u8(out, DW_OP_plus);
}

/* Appends the location of a variable with pieces. In the debug address range of values, the variable has contiguous memory, with
 * all its pieces and computed values in order, so that debuggers evaluate no expression. If pieces are missing, the DWARF
 * expression states which pieces. */
static void put_pieces(const struct isa_debug *debug, const struct isa_var_location *location, struct isa_bytes *out)
{
    const uint8_t *ops = debug->expressions + location->value;
    uint64_t window = WINDOW_VALUES - WINDOW_LOCAL + ((uint64_t)(location - debug->locations) << ISA_VALUE_BITS);
    struct isa_piece piece = {0};
    bool whole = true, known = false;

    for (uint32_t at = 0; isa_expression_next(ops, location->variable, &at, NULL, &piece);) {
        whole &= piece.kind != ISA_PIECE_MISSING;
        known |= piece.kind != ISA_PIECE_MISSING;
    }
    if (!known)
        return;
    if (whole) {
        put_of_lane(out, window);
        return;
    }
    for (uint32_t at = 0; isa_expression_next(ops, location->variable, &at, NULL, &piece);) {
        if (piece.kind == ISA_PIECE_MEMORY && piece.frame)
            put_frame_offset(out, piece.address);
        else if (piece.kind == ISA_PIECE_MEMORY)
            put_address(out, piece.address);
        else if (piece.kind == ISA_PIECE_VALUE)
            put_of_lane(out, window + piece.offset);
        isa_bytes_u8(out, ISA_OP_PIECE);
        isa_bytes_uleb(out, piece.bytes);
    }
}

static void put_expression(const struct maker *mk, const struct isa_var_location *location,
                           struct isa_bytes *out)
{
    size_t start = out->size;

    switch (location->kind) {
    case ISA_LOCATION_ADDRESS: put_address(out, location->value); break;
    case ISA_LOCATION_FRAME: put_frame_offset(out, location->value); break;
    case ISA_LOCATION_EXPRESSION: put_pieces(mk->debug, location, out); break;
    case ISA_LOCATION_VARIABLE: {
        const struct isa_variable *variable = &mk->object->variables[location->variable];
        bool shared = variable->space == ISA_SPACE_SHARED;

        if (mk->variables == NULL && !shared)
            break; /* the variable has no address until it is loaded */
        isa_bytes_u8(out, DW_OP_const8u);
        isa_bytes_u64(out, location->value +
                               (shared ? ISA_SHARED_BASE + variable->shared_offset
                                       : mk->variables[location->variable]));
        break;
    }
    default:
        isa_bytes_u8(out, DW_OP_const8u);
        isa_bytes_u64(out, location->value);
        isa_bytes_u8(out, DW_OP_stack_value);
        break;
    }
    if (location->shared_pointer && out->size != start) { /* converts an offset in shared memory to an address, which debuggers
                                                           * can dereference */
        isa_bytes_u8(out, DW_OP_deref);
        isa_bytes_u8(out, DW_OP_const8u);
        isa_bytes_u64(out, ISA_SHARED_BASE);
        isa_bytes_u8(out, DW_OP_plus);
        isa_bytes_u8(out, DW_OP_stack_value);
    }
}

/* Writes an entry of a location list. The offsets in the entry are relative to the compile unit's low_pc, which is the start of
 * the text. */
static void put_list_entry(const struct maker *mk, const struct isa_var_location *location, uint64_t from,
                           uint64_t to, struct isa_bytes *out)
{
    size_t at;

    if (from >= to)
        return;
    isa_bytes_u64(out, from);
    isa_bytes_u64(out, to);
    at = out->size;
    isa_bytes_u16(out, 0);
    put_expression(mk, location, out);
    if (!out->failed) {
        out->data[at] = (uint8_t)(out->size - at - 2);
        out->data[at + 1] = (uint8_t)((out->size - at - 2) >> 8);
    }
}

static void put_list(const struct maker *mk, const struct isa_attr *attr, struct isa_bytes *out)
{
    for (uint32_t i = 0; i < attr->count; i++) {
        const struct isa_var_location *location = &mk->debug->locations[attr->value + i];
        uint64_t from = (uint64_t)location->from * ISA_WORD_BYTES;
        uint32_t low = 0, high = mk->call_count;

        while (location->innermost_only && low < high) {
            uint32_t middle = low + (high - low) / 2;

            if (mk->calls[middle] < location->from)
                low = middle + 1;
            else
                high = middle;
        }
        /* A location that is valid only in the innermost frame must end before each call, because debuggers look up the variables
         * of a caller at its call instruction. */
        for (; location->innermost_only && low < mk->call_count && mk->calls[low] < location->to; low++) {
            uint64_t call = (uint64_t)mk->calls[low] * ISA_WORD_BYTES;

            put_list_entry(mk, location, from, call + 1, out);
            from = call + ISA_WORD_BYTES;
        }
        put_list_entry(mk, location, from, (uint64_t)location->to * ISA_WORD_BYTES, out);
    }
    isa_bytes_u64(out, 0);
    isa_bytes_u64(out, 0);
}

static void put_attr(struct maker *mk, const struct isa_attr *attr)
{
    struct isa_bytes *out = mk->out;
    struct isa_bytes location = { 0 };

    switch (isa_debug_attr_kind(attr->name)) {
    case ISA_ATTR_TEXT: isa_bytes_string(out, attr->text); break;
    /* writes a placeholder, which patch_references() overwrites with the entry's offset */
    case ISA_ATTR_DIE: isa_bytes_u32(out, (uint32_t)attr->value); break;
    case ISA_ATTR_SIGNED: isa_bytes_sleb(out, (int64_t)attr->value); break;
    case ISA_ATTR_FLAG: break;
    case ISA_ATTR_LOCATIONS:
        if (is_list(mk->debug, attr)) {
            isa_bytes_u32(out, (uint32_t)mk->to->loc.size);
            put_list(mk, attr, &mk->to->loc);
            break;
        }
        put_expression(mk, &mk->debug->locations[attr->value], &location);
        isa_bytes_uleb(out, location.size);
        isa_bytes_put(out, location.data, location.size);
        out->failed = out->failed || location.failed;
        isa_bytes_fini(&location);
        break;
    case ISA_ATTR_SPANS:
        if (attr->count == 1) {
            const struct isa_span *span = &mk->debug->spans[attr->value];

            isa_bytes_u64(out, address_of(mk->object, span->from));
            isa_bytes_u64(out, (uint64_t)(span->to - span->from) * ISA_WORD_BYTES);
            break;
        }
        isa_bytes_u32(out, (uint32_t)mk->to->ranges.size);
        for (uint32_t i = 0; i < attr->count; i++) {
            const struct isa_span *span = &mk->debug->spans[attr->value + i];

            isa_bytes_u64(&mk->to->ranges, (uint64_t)span->from * ISA_WORD_BYTES);
            isa_bytes_u64(&mk->to->ranges, (uint64_t)span->to * ISA_WORD_BYTES);
        }
        isa_bytes_u64(&mk->to->ranges, 0);
        isa_bytes_u64(&mk->to->ranges, 0);
        break;
    case ISA_ATTR_FUNCTION:
        put_extent(out, mk->object, &mk->object->functions[attr->value]);
        put_frame_base(out);
        mk->covered[attr->value] = true;
        break;
    default:
        if (attr->name == ISA_AT_DECL_FILE || attr->name == ISA_AT_CALL_FILE)
            isa_bytes_uleb(out, isa_dwarf_file(mk->unit, (uint32_t)attr->value));
        else
            isa_bytes_uleb(out, attr->value);
        break;
    }
}

/* Writes references to entries, after the offsets of all entries of the unit are known. @where: positions of the references, in
 * order. */
static void patch_references(struct maker *mk, const uint32_t *where)
{
    const uint32_t end = isa_compile_unit_end(mk->debug, mk->unit->number);
    uint32_t n = 0;

    for (uint32_t i = mk->unit->unit.first_die; i < end; i++) {
        const struct isa_die *die = &mk->debug->dies[i];

        for (uint32_t k = 0; k < die->attr_count; k++) {
            const struct isa_attr *attr = &mk->debug->attrs[die->first_attr + k];

            if (isa_debug_attr_kind(attr->name) == ISA_ATTR_DIE)
                isa_bytes_patch32(mk->out, where[n++], mk->offset[attr->value]);
        }
    }
}

static void make_source(struct maker *mk)
{
    const struct isa_debug *debug = mk->debug;
    const uint32_t first = mk->unit->unit.first_die, end = isa_compile_unit_end(debug, mk->unit->number);
    uint32_t *where, refs = 0, ends[256];
    size_t attrs = 0;
    unsigned depth = 0;

    for (uint32_t i = first; i < end; i++)
        attrs += debug->dies[i].attr_count;
    where = calloc(attrs + 1, sizeof *where);
    if (where == NULL) {
        mk->out->failed = true;
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        const struct isa_die *die = &debug->dies[i];
        const struct isa_function *nameless = nameless_params(mk, i);

        for (; depth != 0 && ends[depth - 1] == i; depth--)
            isa_bytes_u8(mk->out, 0);
        mk->offset[i] = (uint32_t)mk->out->size;
        isa_bytes_uleb(mk->out, mk->code[i]);
        for (uint32_t k = 0; k < die->attr_count; k++) {
            const struct isa_attr *attr = &debug->attrs[die->first_attr + k];

            if (isa_debug_attr_kind(attr->name) == ISA_ATTR_DIE)
                where[refs++] = (uint32_t)mk->out->size;
            put_attr(mk, attr);
        }
        if (nameless != NULL)
            put_params(mk, nameless);
        if (is_bare(mk, i)) {
            const struct isa_attr *spans = isa_die_attr(debug, i, ISA_AT_RANGES);

            isa_bytes_uleb(mk->out, ABBREV_LABEL);
            isa_bytes_string(mk->out, "(copy)");
            isa_bytes_u64(mk->out, address_of(mk->object, debug->spans[spans->value].from));
            isa_bytes_u8(mk->out, 0);
        }
        if (die->end > i + 1)
            ends[depth++] = die->end; /* isa_debug_check() has limited the depth */
        else if (nameless != NULL)
            isa_bytes_u8(mk->out, 0);
    }
    for (; depth != 0; depth--)
        isa_bytes_u8(mk->out, 0);
    patch_references(mk, where);
    free(where);
}

/* ---- the compile unit -------------------------------------------------------------------------- */

/* Returns the language for the compile unit. OpenCL C becomes C, because for OpenCL C gdb does not compile conditions to agent
 * expressions, and evaluates some conditions wrongly. */
static unsigned language_of(const struct isa_compile_unit *unit)
{
    return unit->language == 0 || unit->language > UINT8_MAX || unit->language == DW_LANG_OPENCL ? DW_LANG_C99 : unit->language;
}

/* Returns the offset of the unit's macros. Units with the same macros share a list. */
static uint32_t macros_of(struct maker *mk)
{
    const bool has_macros = mk->unit->unit.file_count != 0 && language_of(&mk->unit->unit) == DW_LANG_C99;
    struct macro_list *list = &mk->macros[has_macros];

    if (!list->known) {
        *list = (struct macro_list){true, (uint32_t)mk->to->macros.size};
        isa_dwarf_make_macros(has_macros, &mk->to->macros);
    }
    return list->at;
}

/* Writes the addresses of a unit's code after the address of the text, to which location lists are relative. The code of the
 * only unit is the whole text. @ranges: offset in .debug_ranges, or UINT32_MAX if the unit has no code */
static void put_code(struct maker *mk, uint32_t ranges)
{
    if (ranges != UINT32_MAX)
        isa_bytes_u32(mk->out, ranges);
    else
        isa_bytes_u64(mk->out, mk->has_others ? 0 : (uint64_t)mk->object->text_count * ISA_WORD_BYTES);
}

/* Writes the ranges of a unit's code, and returns their offset in .debug_ranges. Returns UINT32_MAX if the unit has no ranges. */
static uint32_t make_ranges(struct maker *mk)
{
    const struct isa_object *object = mk->object;
    struct isa_bytes *out = &mk->to->ranges;
    const uint32_t at = (uint32_t)out->size;

    for (unsigned i = 0; i < object->function_count && mk->has_others; i++) {
        const uint32_t first = object->functions[i].first;

        if (!isa_dwarf_unit_has(object, mk->unit, &object->functions[i]))
            continue;
        while (i + 1 < object->function_count && isa_dwarf_unit_has(object, mk->unit, &object->functions[i + 1]))
            i++;
        isa_bytes_u64(out, (uint64_t)first * ISA_WORD_BYTES);
        isa_bytes_u64(out, (uint64_t)(object->functions[i].first + object->functions[i].count) * ISA_WORD_BYTES);
    }
    if (out->size == at)
        return UINT32_MAX;
    isa_bytes_u64(out, 0);
    isa_bytes_u64(out, 0);
    return at;
}

static void make_unit(struct maker *mk)
{
    const struct isa_object *object = mk->object;
    const struct isa_compile_unit *unit = &mk->unit->unit;
    struct isa_bytes *out = mk->out;
    const char *producer = object->producer != NULL ? object->producer : "lanewise";
    const char *dir =
        object->comp_dir != NULL && *object->comp_dir != '\0' ? object->comp_dir : NULL;
    const uint32_t ranges = make_ranges(mk);

    isa_bytes_u32(out, 0);
    isa_bytes_u16(out, 4);
    isa_bytes_u32(out, 0); /* offset in .debug_abbrev */
    isa_bytes_u8(out, 8);
    if (ranges != UINT32_MAX)
        isa_bytes_uleb(out, dir != NULL ? ABBREV_UNIT_RANGES_DIR : ABBREV_UNIT_RANGES);
    else
        isa_bytes_uleb(out, dir != NULL ? ABBREV_UNIT_DIR : ABBREV_UNIT);
    /* gdb uses the line table to find the end of a prologue in x86 code only if the producer's name begins with "clang " */
    if (strncmp(producer, "clang ", 6) != 0)
        isa_bytes_put(out, "clang compatible: ", 18);
    isa_bytes_string(out, producer);
    isa_bytes_u8(out, language_of(unit));
    isa_bytes_string(out, unit->file_count != 0 ? object->files[unit->first_file] : "");
    isa_bytes_u64(out, isa_elf_text_address(object));
    put_code(mk, ranges);
    isa_bytes_u32(out, mk->unit->line);
    isa_bytes_u32(out, macros_of(mk));
    if (dir != NULL)
        isa_bytes_string(out, dir);
    make_types(out, &mk->types);
    if (mk->debug != NULL)
        make_source(mk);
    if (mk->is_first) { /* debuggers find these variables in all units */
        make_builtins(out, &mk->types);
        make_shared(mk);
    }
    for (unsigned i = 0; i < object->function_count; i++) {
        if (!mk->covered[i] && isa_dwarf_unit_has(object, mk->unit, &object->functions[i]))
            make_function(mk, &object->functions[i]);
    }
    isa_bytes_u8(out, 0);
    isa_bytes_patch32(out, 0, (uint32_t)(out->size - 4));
}

/* Writes the units, one after the other. References in a unit are offsets from its beginning. */
static void make_info(struct maker *mk, const struct isa_dwarf_unit *units, unsigned count)
{
    struct isa_bytes one = { 0 };

    mk->out = &one;
    for (unsigned i = 0; i < count; i++) {
        one.size = 0;
        mk->unit = &units[i];
        mk->is_first = i == 0;
        make_unit(mk);
        isa_bytes_put(&mk->to->info, one.data, one.size);
    }
    if (one.failed)
        mk->to->info.failed = true;
    isa_bytes_fini(&one);
}

static void find_calls(struct maker *mk)
{
    for (uint32_t i = 0; i < mk->object->text_count; i++) {
        struct isa_insn insn;

        if (isa_insn_decode(mk->object->text[i], &insn) &&
            (isa_op_info((enum isa_op)insn.op)->flags & ISA_F_CALL) != 0)
            mk->calls[mk->call_count++] = i;
    }
}

void isa_dwarf_make_info(const struct isa_object *object, const struct isa_dwarf_unit *units, unsigned count,
                         const uint64_t *variables, struct isa_dwarf *out)
{
    uint32_t dies = object->debug != NULL ? object->debug->die_count : 0;
    struct maker mk = { .object = object, .debug = object->debug, .variables = variables,
                        .has_others = !units[0].is_only, .to = out };

    mk.offset = calloc((size_t)dies + 1, sizeof *mk.offset);
    mk.code = calloc((size_t)dies + 1, sizeof *mk.code);
    mk.covered = calloc((size_t)object->function_count + 1, sizeof *mk.covered);
    mk.calls = calloc((size_t)object->text_count + 1, sizeof *mk.calls);
    make_own_abbrevs(&out->abbrev, mk.has_others ? ABBREV_COUNT : ABBREV_COUNT_OF_ONE);
    if (mk.offset == NULL || mk.code == NULL || mk.covered == NULL || mk.calls == NULL ||
        (mk.debug != NULL && !make_shapes(&mk))) {
        out->info.failed = true;
    } else {
        isa_bytes_u8(&out->abbrev, 0);
        if (mk.debug != NULL && mk.debug->location_count != 0)
            find_calls(&mk);
        make_info(&mk, units, count);
    }
    free(mk.offset);
    free(mk.code);
    free(mk.covered);
    free(mk.calls);
}
