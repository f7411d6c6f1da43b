/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information of an object, DWARF 4, made for stock gdb (docs/object.md): line
 * table, functions, kernel parameters, the built-in variables in the debug windows, and
 * call frames. Numbers and names: DWARF 4 standard, sections 6.2, 6.4 and 7.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa_elf_priv.h"

enum {
    DW_TAG_formal_parameter = 0x05, DW_TAG_member = 0x0d, DW_TAG_pointer_type = 0x0f,
    DW_TAG_compile_unit = 0x11, DW_TAG_structure_type = 0x13, DW_TAG_base_type = 0x24,
    DW_TAG_subprogram = 0x2e, DW_TAG_variable = 0x34, DW_TAG_array_type = 0x01,
    DW_TAG_subrange_type = 0x21,
    DW_AT_location = 0x02, DW_AT_name = 0x03, DW_AT_byte_size = 0x0b, DW_AT_stmt_list = 0x10,
    DW_AT_low_pc = 0x11, DW_AT_high_pc = 0x12, DW_AT_language = 0x13, DW_AT_comp_dir = 0x1b,
    DW_AT_producer = 0x25, DW_AT_prototyped = 0x27, DW_AT_upper_bound = 0x2f,
    DW_AT_data_member_location = 0x38, DW_AT_decl_file = 0x3a, DW_AT_decl_line = 0x3b,
    DW_AT_encoding = 0x3e, DW_AT_external = 0x3f, DW_AT_frame_base = 0x40, DW_AT_type = 0x49,
    DW_FORM_addr = 0x01, DW_FORM_data2 = 0x05, DW_FORM_data4 = 0x06, DW_FORM_data8 = 0x07,
    DW_FORM_string = 0x08, DW_FORM_data1 = 0x0b, DW_FORM_ref4 = 0x13,
    DW_FORM_sec_offset = 0x17, DW_FORM_exprloc = 0x18, DW_FORM_flag_present = 0x19,
    DW_OP_const8u = 0x0e, DW_OP_call_frame_cfa = 0x9c,
    DW_ATE_unsigned = 0x07, DW_LANG_C99 = 0x0c,
    DW_LNS_copy = 1, DW_LNS_advance_pc = 2, DW_LNS_advance_line = 3, DW_LNS_set_file = 4,
    DW_LNS_set_column = 5, DW_LNS_negate_stmt = 6, DW_LNS_set_prologue_end = 10,
    DW_LNE_end_sequence = 1, DW_LNE_set_address = 2,
    DW_CFA_undefined = 0x07, DW_CFA_def_cfa = 0x0c, DW_CFA_val_offset = 0x14,
    DW_CFA_offset = 0x80, DW_CFA_nop = 0
};

/* Windows of the debugger's address space: the focus lane's built-ins, and the constant
 * banks, where kernel parameters are. */
#define WINDOW_BUILTIN (UINT64_C(0xf5) << 56)
#define WINDOW_CONST (UINT64_C(0xf9) << 56)

static uint64_t address_of(uint32_t insn)
{
    return ISA_CODE_BASE + (uint64_t)insn * ISA_WORD_BYTES;
}

/* ---- .debug_line ------------------------------------------------------------------ */

enum { LINE_BASE = -5, LINE_RANGE = 14, OPCODE_BASE = 13 };

struct line_state {
    uint32_t insn, line;
    uint16_t file, column;
    bool is_stmt, open;
};

static void line_extended(struct isa_bytes *out, unsigned opcode, uint64_t address)
{
    isa_bytes_u8(out, 0);
    isa_bytes_uleb(out, opcode == DW_LNE_set_address ? 9 : 1);
    isa_bytes_u8(out, opcode);
    if (opcode == DW_LNE_set_address)
        isa_bytes_u64(out, address);
}

static void line_close(struct isa_bytes *out, struct line_state *state, uint32_t end)
{
    if (!state->open)
        return;
    isa_bytes_u8(out, DW_LNS_advance_pc);
    isa_bytes_uleb(out, end - state->insn);
    line_extended(out, DW_LNE_end_sequence, 0);
    state->open = false;
}

static void line_row(struct isa_bytes *out, struct line_state *state, const struct isa_line *row)
{
    int64_t line_delta;
    uint32_t pc_delta;

    if (!state->open) {
        *state = (struct line_state){ row->insn, 1, 1, 0, true, true };
        line_extended(out, DW_LNE_set_address, address_of(row->insn));
    }
    if (row->file != state->file) {
        isa_bytes_u8(out, DW_LNS_set_file);
        isa_bytes_uleb(out, row->file);
    }
    if (row->column != state->column) {
        isa_bytes_u8(out, DW_LNS_set_column);
        isa_bytes_uleb(out, row->column);
    }
    if (row->is_stmt != state->is_stmt)
        isa_bytes_u8(out, DW_LNS_negate_stmt);
    if (row->prologue_end)
        isa_bytes_u8(out, DW_LNS_set_prologue_end);
    line_delta = (int64_t)row->line - state->line;
    pc_delta = row->insn - state->insn;
    if (line_delta < LINE_BASE || line_delta >= LINE_BASE + LINE_RANGE) {
        isa_bytes_u8(out, DW_LNS_advance_line);
        isa_bytes_sleb(out, line_delta);
        line_delta = 0;
    }
    if (pc_delta > (255 - OPCODE_BASE - LINE_RANGE) / LINE_RANGE) {
        isa_bytes_u8(out, DW_LNS_advance_pc); /* in units of an instruction */
        isa_bytes_uleb(out, pc_delta);
        pc_delta = 0;
    }
    isa_bytes_u8(out, (unsigned)(line_delta - LINE_BASE) + LINE_RANGE * pc_delta + OPCODE_BASE);
    *state = (struct line_state){ row->insn, row->line, row->file, row->column, row->is_stmt,
                                  true };
}

/* One sequence a function, so that no function inherits the last line of another. */
static void make_line(const struct isa_object *object, struct isa_bytes *out)
{
    static const uint8_t operand_counts[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    const struct isa_function *function = NULL;
    struct line_state state = { .open = false };
    size_t header;

    isa_bytes_u32(out, 0);
    isa_bytes_u16(out, 4);
    header = out->size;
    isa_bytes_u32(out, 0);
    isa_bytes_u8(out, ISA_WORD_BYTES); /* minimum_instruction_length */
    isa_bytes_u8(out, 1);
    isa_bytes_u8(out, 1);
    isa_bytes_u8(out, (uint8_t)LINE_BASE);
    isa_bytes_u8(out, LINE_RANGE);
    isa_bytes_u8(out, OPCODE_BASE);
    isa_bytes_put(out, operand_counts, sizeof operand_counts);
    isa_bytes_u8(out, 0); /* no directories but the compilation's */
    for (unsigned i = 1; i < object->file_count; i++) {
        isa_bytes_string(out, object->files[i]);
        isa_bytes_uleb(out, 0);
        isa_bytes_uleb(out, 0);
        isa_bytes_uleb(out, 0);
    }
    isa_bytes_u8(out, 0);
    isa_bytes_patch32(out, header, (uint32_t)(out->size - header - 4));
    for (unsigned i = 0; i < object->line_count; i++) {
        const struct isa_line *row = &object->lines[i];
        const struct isa_function *here = isa_object_function_at(object, row->insn);

        if (i != 0 && here != function)
            line_close(out, &state, function != NULL ? function->first + function->count
                                                     : row->insn);
        function = here;
        line_row(out, &state, row);
    }
    line_close(out, &state,
               function != NULL ? function->first + function->count : object->text_count);
    isa_bytes_patch32(out, 0, (uint32_t)(out->size - 4));
}

/* ---- .debug_abbrev ------------------------------------------------------------------- */

enum abbrev {
    ABBREV_NONE, ABBREV_UNIT, ABBREV_UNIT_DIR, ABBREV_BASE, ABBREV_STRUCT, ABBREV_MEMBER,
    ABBREV_POINTER, ABBREV_ARRAY, ABBREV_RANGE, ABBREV_VARIABLE, ABBREV_FUNCTION,
    ABBREV_FUNCTION_PARAMS, ABBREV_PARAM, ABBREV_COUNT
};

struct abbrev_row {
    uint8_t tag, children;
    uint8_t attributes[10][2]; /* ended by zero */
};

static const struct abbrev_row abbrevs[ABBREV_COUNT] = {
#define UNIT                                                                               \
    { DW_AT_producer, DW_FORM_string }, { DW_AT_language, DW_FORM_data1 },                 \
        { DW_AT_name, DW_FORM_string }, { DW_AT_low_pc, DW_FORM_addr },                    \
        { DW_AT_high_pc, DW_FORM_data8 }, { DW_AT_stmt_list, DW_FORM_sec_offset }
    [ABBREV_UNIT] = { DW_TAG_compile_unit, 1, { UNIT } },
    [ABBREV_UNIT_DIR] = { DW_TAG_compile_unit, 1, { UNIT, { DW_AT_comp_dir, DW_FORM_string } } },
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
#define FUNCTION                                                                           \
    { DW_AT_name, DW_FORM_string }, { DW_AT_decl_file, DW_FORM_data2 },                    \
        { DW_AT_decl_line, DW_FORM_data4 }, { DW_AT_prototyped, DW_FORM_flag_present },    \
        { DW_AT_external, DW_FORM_flag_present }, { DW_AT_low_pc, DW_FORM_addr },          \
        { DW_AT_high_pc, DW_FORM_data8 }, { DW_AT_frame_base, DW_FORM_exprloc }
    [ABBREV_FUNCTION] = { DW_TAG_subprogram, 0, { FUNCTION } },
    [ABBREV_FUNCTION_PARAMS] = { DW_TAG_subprogram, 1, { FUNCTION } },
    [ABBREV_PARAM] = { DW_TAG_formal_parameter, 0,
                       { { DW_AT_name, DW_FORM_string }, { DW_AT_type, DW_FORM_ref4 },
                         { DW_AT_location, DW_FORM_exprloc } } },
#undef UNIT
#undef FUNCTION
};

static void make_abbrev(struct isa_bytes *out)
{
    for (unsigned i = 1; i < ABBREV_COUNT; i++) {
        isa_bytes_uleb(out, i);
        isa_bytes_uleb(out, abbrevs[i].tag);
        isa_bytes_u8(out, abbrevs[i].children);
        for (unsigned k = 0; k < 10 && abbrevs[i].attributes[k][0] != 0; k++) {
            isa_bytes_uleb(out, abbrevs[i].attributes[k][0]);
            isa_bytes_uleb(out, abbrevs[i].attributes[k][1]);
        }
        isa_bytes_u16(out, 0);
    }
    isa_bytes_u8(out, 0);
}

/* ---- .debug_info ------------------------------------------------------------------------ */

/** Offsets of types in the unit, for references. */
struct types {
    uint32_t u8, u16, u32, u64, dim3, pointer;
};

static uint32_t base_type(struct isa_bytes *out, const char *name, unsigned bytes)
{
    uint32_t at = (uint32_t)out->size;

    isa_bytes_uleb(out, ABBREV_BASE);
    isa_bytes_string(out, name);
    isa_bytes_u8(out, bytes);
    isa_bytes_u8(out, DW_ATE_unsigned);
    return at;
}

static void make_types(struct isa_bytes *out, struct types *types)
{
    static const char *const members[] = { "x", "y", "z" };

    types->u8 = base_type(out, "unsigned char", 1);
    types->u16 = base_type(out, "unsigned short", 2);
    types->u32 = base_type(out, "unsigned int", 4);
    types->u64 = base_type(out, "unsigned long", 8);
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

static void put_location(struct isa_bytes *out, uint64_t address)
{
    isa_bytes_uleb(out, 9);
    isa_bytes_u8(out, DW_OP_const8u);
    isa_bytes_u64(out, address);
}

static void put_variable(struct isa_bytes *out, const char *name, uint32_t type,
                         uint64_t address)
{
    isa_bytes_uleb(out, ABBREV_VARIABLE);
    isa_bytes_string(out, name);
    isa_bytes_u32(out, type);
    put_location(out, address);
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
        uint8_t offset, bytes; /* docs/object.md has this layout */
    } rows[] = {
        { "threadIdx", 0, 12 }, { "blockIdx", 16, 12 }, { "blockDim", 32, 12 },
        { "gridDim", 48, 12 },  { "laneid", 64, 4 },    { "warpid", 68, 4 },
        { "clock64", 72, 8 },
    };

    for (size_t i = 0; i < LW_COUNT_OF(rows); i++)
        put_variable(out, rows[i].name,
                     rows[i].bytes == 12  ? types->dim3
                     : rows[i].bytes == 8 ? types->u64
                                          : types->u32,
                     WINDOW_BUILTIN + rows[i].offset);
}

static void make_shared(struct isa_bytes *out, const struct isa_object *object,
                        const struct types *types)
{
    for (unsigned i = 0; i < object->variable_count; i++) {
        const struct isa_variable *variable = &object->variables[i];

        if (variable->space == ISA_SPACE_SHARED && variable->size_bytes != 0) {
            uint32_t type = array_type(out, types->u8, types->u32,
                                       (uint32_t)variable->size_bytes);
            put_variable(out, variable->name, type, ISA_SHARED_BASE + variable->shared_offset);
        }
    }
}

static void make_param(struct isa_bytes *out, const struct isa_param *param,
                       const struct types *types)
{
    uint32_t type = param->kind == ISA_PARAM_POINTER && param->size_bytes == 8 ? types->pointer
                    : param->size_bytes == 1                                   ? types->u8
                    : param->size_bytes == 2                                   ? types->u16
                    : param->size_bytes == 4                                   ? types->u32
                    : param->size_bytes == 8                                   ? types->u64
                                                                               : 0;

    if (type == 0)
        type = array_type(out, types->u8, types->u32, param->size_bytes);
    isa_bytes_uleb(out, ABBREV_PARAM);
    isa_bytes_string(out, param->name);
    isa_bytes_u32(out, type);
    put_location(out, WINDOW_CONST + param->offset);
}

static void make_function(struct isa_bytes *out, const struct isa_function *function,
                          const struct types *types)
{
    isa_bytes_uleb(out, function->param_count ? ABBREV_FUNCTION_PARAMS : ABBREV_FUNCTION);
    isa_bytes_string(out, function->name);
    isa_bytes_u16(out, function->file);
    isa_bytes_u32(out, function->line);
    isa_bytes_u64(out, address_of(function->first));
    isa_bytes_u64(out, (uint64_t)function->count * ISA_WORD_BYTES);
    isa_bytes_uleb(out, 1);
    isa_bytes_u8(out, DW_OP_call_frame_cfa);
    if (function->param_count == 0)
        return;
    for (unsigned i = 0; i < function->param_count; i++)
        make_param(out, &function->params[i], types);
    isa_bytes_u8(out, 0);
}

static void make_info(const struct isa_object *object, struct isa_bytes *out)
{
    struct types types;
    const char *producer = object->producer != NULL ? object->producer : "lanewise";

    isa_bytes_u32(out, 0);
    isa_bytes_u16(out, 4);
    isa_bytes_u32(out, 0); /* .debug_abbrev */
    isa_bytes_u8(out, 8);
    isa_bytes_uleb(out, object->comp_dir != NULL ? ABBREV_UNIT_DIR : ABBREV_UNIT);
    /* x86 gdb finds the end of a prologue by line rows only for producers named clang */
    if (strncmp(producer, "clang ", 6) != 0)
        isa_bytes_put(out, "clang compatible: ", 18);
    isa_bytes_string(out, producer);
    isa_bytes_u8(out, DW_LANG_C99);
    isa_bytes_string(out, object->file_count > 1 ? object->files[1] : "");
    isa_bytes_u64(out, ISA_CODE_BASE);
    isa_bytes_u64(out, (uint64_t)object->text_count * ISA_WORD_BYTES);
    isa_bytes_u32(out, 0); /* .debug_line */
    if (object->comp_dir != NULL)
        isa_bytes_string(out, object->comp_dir);
    make_types(out, &types);
    make_builtins(out, &types);
    make_shared(out, object, &types);
    for (unsigned i = 0; i < object->function_count; i++)
        make_function(out, &object->functions[i], &types);
    isa_bytes_u8(out, 0);
    isa_bytes_patch32(out, 0, (uint32_t)(out->size - 4));
}

/* ---- .debug_frame --------------------------------------------------------------------------- */

/* The carriers' numbers: 7 is the stack pointer (rsp, and by our rule x7), 16 the return
 * address of x86-64, 30 that of aarch64. */
enum { FRAME_SP = 7, FRAME_RA_X86 = 16, FRAME_RA_ARM = 30 };

static size_t open_entry(struct isa_bytes *out, uint32_t id)
{
    size_t at = out->size;

    isa_bytes_u32(out, 0);
    isa_bytes_u32(out, id);
    return at;
}

static void close_entry(struct isa_bytes *out, size_t at)
{
    while ((out->size - at) % 8 != 4 && !out->failed)
        isa_bytes_u8(out, DW_CFA_nop);
    isa_bytes_patch32(out, at, (uint32_t)(out->size - at - 4));
}

static uint32_t make_cie(struct isa_bytes *out, bool kernel)
{
    size_t at = open_entry(out, UINT32_MAX);

    isa_bytes_u8(out, 4);
    isa_bytes_u8(out, 0); /* no augmentation */
    isa_bytes_u8(out, 8);
    isa_bytes_u8(out, 0);
    isa_bytes_uleb(out, 1);
    isa_bytes_sleb(out, -8);
    isa_bytes_uleb(out, FRAME_RA_X86);
    isa_bytes_u8(out, DW_CFA_def_cfa);
    isa_bytes_uleb(out, FRAME_SP);
    isa_bytes_uleb(out, 8);
    if (kernel) { /* the backtrace ends here */
        isa_bytes_u8(out, DW_CFA_undefined);
        isa_bytes_uleb(out, FRAME_RA_X86);
        isa_bytes_u8(out, DW_CFA_undefined);
        isa_bytes_uleb(out, FRAME_RA_ARM);
    } else {
        isa_bytes_u8(out, DW_CFA_val_offset);
        isa_bytes_uleb(out, FRAME_SP);
        isa_bytes_uleb(out, 0);
        isa_bytes_u8(out, DW_CFA_offset | FRAME_RA_X86);
        isa_bytes_uleb(out, 1);
        isa_bytes_u8(out, DW_CFA_offset | FRAME_RA_ARM);
        isa_bytes_uleb(out, 1);
    }
    close_entry(out, at);
    return (uint32_t)at;
}

static void make_frame(const struct isa_object *object, struct isa_bytes *out)
{
    uint32_t kernel = make_cie(out, true), other = make_cie(out, false);

    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];
        size_t at = open_entry(out, function->kernel ? kernel : other);

        isa_bytes_u64(out, address_of(function->first));
        isa_bytes_u64(out, (uint64_t)function->count * ISA_WORD_BYTES);
        close_entry(out, at);
    }
}

void isa_dwarf_make(const struct isa_object *object, struct isa_dwarf *out)
{
    memset(out, 0, sizeof *out);
    make_line(object, &out->line);
    make_abbrev(&out->abbrev);
    make_info(object, &out->info);
    make_frame(object, &out->frame);
}

void isa_dwarf_fini(struct isa_dwarf *dwarf)
{
    isa_bytes_fini(&dwarf->line);
    isa_bytes_fini(&dwarf->info);
    isa_bytes_fini(&dwarf->abbrev);
    isa_bytes_fini(&dwarf->frame);
}
