/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF 4 debug information of an object, for stock gdb (docs/reference/object.md): the line table, call frames and macros.
 * isa_dwarf_info.c writes the other sections. Source of numbers and names: the DWARF 4 standard, sections 6.2, 6.4 and 7. */
#include <stdio.h>
#include <stdlib.h>

#include "isa/object/isa_elf_priv.h"

enum {
    DW_LNS_copy = 1, DW_LNS_advance_pc = 2, DW_LNS_advance_line = 3, DW_LNS_set_file = 4,
    DW_LNS_set_column = 5, DW_LNS_negate_stmt = 6, DW_LNS_set_prologue_end = 10,
    DW_LNE_end_sequence = 1, DW_LNE_set_address = 2,
    DW_CFA_undefined = 0x07, DW_CFA_def_cfa = 0x0c, DW_CFA_val_offset = 0x14,
    DW_CFA_offset = 0x80, DW_CFA_nop = 0
};

static uint64_t address_of(const struct isa_object *object, uint32_t insn)
{
    return isa_elf_text_address(object) + (uint64_t)insn * ISA_WORD_BYTES;
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

static void line_row(struct isa_bytes *out, struct line_state *state, const struct isa_object *object,
                     const struct isa_dwarf_unit *unit, const struct isa_line *row)
{
    const uint16_t file = (uint16_t)isa_dwarf_file(unit, row->file);
    int64_t line_delta;
    uint32_t pc_delta;

    if (!state->open) {
        *state = (struct line_state){ row->insn, 1, 1, 0, true, true };
        line_extended(out, DW_LNE_set_address, address_of(object, row->insn));
    }
    if (file != state->file) {
        isa_bytes_u8(out, DW_LNS_set_file);
        isa_bytes_uleb(out, file);
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
        isa_bytes_u8(out, DW_LNS_advance_pc); /* the operand is in units of minimum_instruction_length, so it is a number of
                                               * instructions */
        isa_bytes_uleb(out, pc_delta);
        pc_delta = 0;
    }
    isa_bytes_u8(out, (unsigned)(line_delta - LINE_BASE) + LINE_RANGE * pc_delta + OPCODE_BASE);
    *state = (struct line_state){ row->insn, row->line, file, row->column, row->is_stmt,
                                  true };
}

/* Finds instructions to which jumps lead. Returns a byte for each instruction, or NULL if memory is short. ENTERED: a jump from
 * another source line leads to the instruction. ENTERED_BACK: a backward jump leads to the instruction, either from another
 * source line, or from the same source line if the line-table row of that jump follows a line-table row of another line, as at
 * the end of a `while`. Line-table rows are necessary at the targets of these jumps: loops that nvcc generates begin in the
 * middle of a statement, where a debugger would not stop after a jump from another line. */
enum { ENTERED = 1, ENTERED_BACK };
static uint8_t *find_entered(const struct isa_object *object)
{
    uint8_t *entered = calloc((size_t)object->text_count + 1, 1);

    for (unsigned k = 0; entered != NULL && k < object->function_count; k++) {
        const struct isa_function *f = &object->functions[k];

        for (uint32_t i = f->first; i < f->first + f->count; i++) {
            const struct isa_line *from = isa_object_line_at(object, i), *to;
            struct isa_insn insn;
            int64_t target;

            if (!isa_insn_decode(object->text[i], &insn))
                continue;
            if (insn.op == ISA_BRX) {
                memset(entered + f->first, ENTERED, f->count); /* an indirect branch may lead to any instruction of the
                                                                * function */
                break;
            }
            if (!isa_insn_jumps(&insn, i, &target) || target < 0 || target >= object->text_count)
                continue;
            to = isa_object_line_at(object, (uint32_t)target);
            if (from == NULL || to == NULL || from->line != to->line || from->file != to->file)
                entered[target] = target <= i && from != NULL && to != NULL ? ENTERED_BACK : ENTERED;
            else if (target <= i && from->insn == i && from != object->lines &&
                     (from[-1].line != from->line || from[-1].file != from->file))
                entered[target] = ENTERED_BACK;
        }
    }
    return entered;
}

/* Returns true if @row, a line-table row, differs from the preceding one only in the column. Such a row is omitted, because gdb
 * treats each line-table row as a separate line and would stop there in reverse execution. A line-table row to which a jump leads
 * is not omitted: otherwise gdb would not notice that a step has reached the middle of this line. */
static bool goes_on(const struct isa_line *row, const struct isa_line *before,
                    const uint8_t *entered)
{
    return row->line == before->line && row->file == before->file && !row->prologue_end &&
           (before->is_stmt || !row->is_stmt) && entered[row->insn] == 0;
}

/* Returns the index of the first line-table row after function @function. */
static unsigned row_after(const struct isa_object *object, const struct isa_function *function)
{
    unsigned low = 0, high = object->line_count;

    while (low < high) {
        const unsigned middle = low + (high - low) / 2;

        if (object->lines[middle].insn < function->first + function->count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Writes the line table of a unit, with a line sequence for each function, so that the last line of a function does not extend
 * into the next function. @entered: result of find_entered() */
static void make_line(const struct isa_object *object, const struct isa_dwarf_unit *unit, const uint8_t *entered,
                      struct isa_bytes *out)
{
    static const uint8_t operand_counts[OPCODE_BASE - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
    const struct isa_function *function = NULL;
    struct line_state state = { .open = false };
    const struct isa_line *before = NULL;
    const size_t start = out->size;
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
    isa_bytes_u8(out, 0); /* ends the list of include directories, which is empty, because only the compilation directory
                           * exists */
    for (unsigned i = 0; i < unit->unit.file_count; i++) {
        isa_bytes_string(out, object->files[unit->unit.first_file + i]);
        isa_bytes_uleb(out, 0);
        isa_bytes_uleb(out, 0);
        isa_bytes_uleb(out, 0);
    }
    isa_bytes_u8(out, 0);
    isa_bytes_patch32(out, header, (uint32_t)(out->size - header - 4));
    for (unsigned i = 0; i < object->line_count; i++) {
        const struct isa_line *row = &object->lines[i];
        const struct isa_function *here = isa_object_function_at(object, row->insn);
        uint32_t end = i + 1 < object->line_count ? row[1].insn : object->text_count;

        if (!isa_dwarf_unit_has(object, unit, here)) {
            i = here != NULL ? row_after(object, here) - 1 : i;
            continue;
        }
        if (here != function || before == NULL || !goes_on(row, before, entered)) {
            before = row;
            if (i != 0 && here != function)
                line_close(out, &state, function != NULL ? function->first + function->count
                                                         : row->insn);
            function = here;
            line_row(out, &state, object, unit, row);
        }
        /* gdb stops at the start of a line-table row, also in reverse execution. The target of a backward jump therefore gets a
         * line-table row of its own; without it, gdb would stop at the start of the whole line. */
        if (function != NULL && end > function->first + function->count)
            end = function->first + function->count;
        for (uint32_t k = row->insn + 1; function != NULL && k < end; k++) {
            struct isa_line repeated = *row;

            repeated.insn = k;
            repeated.prologue_end = false;
            if (entered[k] == ENTERED_BACK)
                line_row(out, &state, object, unit, &repeated);
        }
    }
    line_close(out, &state,
               function != NULL ? function->first + function->count : object->text_count);
    isa_bytes_patch32(out, start, (uint32_t)(out->size - start - 4));
}

/* ---- .debug_frame --------------------------------------------------------------------------- */

/* Register numbers of the target architectures. 7 is the stack pointer: rsp of x86-64, and x7 of aarch64 by Lanewise's
 * convention. The return address has number 16 on x86-64 and 30 on aarch64. */
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

/* Writes frame rules, by which kernels also have a caller. If kernels were marked as outermost, gdb would take all outermost
 * frames for one frame, and `next` over a call would end where any lane returns. gdb ends a backtrace at main and at the function
 * of the entry point, which are two kernels (isa_elf.c). After other kernels, the backtrace shows the pseudo-function <launch>,
 * which is outermost. */
static uint32_t make_cie(struct isa_bytes *out)
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
    isa_bytes_u8(out, DW_CFA_offset | FRAME_RA_X86);
    isa_bytes_uleb(out, 1);
    isa_bytes_u8(out, DW_CFA_offset | FRAME_RA_ARM);
    isa_bytes_uleb(out, 1);
    /* written last, because lldb 19 ignores this rule and all rules after it; lldb's ABI plugin contains the same rule */
    isa_bytes_u8(out, DW_CFA_val_offset);
    isa_bytes_uleb(out, FRAME_SP);
    isa_bytes_uleb(out, 0);
    close_entry(out, at);
    return (uint32_t)at;
}

static void make_frame(const struct isa_object *object, bool loaded, struct isa_bytes *out)
{
    uint32_t cie = make_cie(out);

    for (unsigned i = 0; i < object->function_count; i++) {
        const struct isa_function *function = &object->functions[i];
        size_t at = open_entry(out, cie);

        isa_bytes_u64(out, address_of(object, function->first));
        isa_bytes_u64(out, (uint64_t)function->count * ISA_WORD_BYTES);
        close_entry(out, at);
    }
    if (loaded) {
        size_t at = open_entry(out, cie);

        isa_bytes_u64(out, ISA_LAUNCH_BASE);
        isa_bytes_u64(out, ISA_LAUNCH_BYTES);
        isa_bytes_u8(out, DW_CFA_undefined);
        isa_bytes_uleb(out, FRAME_RA_X86);
        isa_bytes_u8(out, DW_CFA_undefined);
        isa_bytes_uleb(out, FRAME_RA_ARM);
        close_entry(out, at);
    }
}

/* ---- .debug_macinfo ---------------------------------------------------------------------- */

void isa_dwarf_make_macros(bool has_macros, struct isa_bytes *out)
{
    enum { MACINFO_DEFINE = 1, MACINFO_START_FILE = 3, MACINFO_END_FILE = 4 };
    static const struct {
        const char *function, *variable, *beyond; /* beyond: value of the macro for dimensions after the third */
    } dimensions[] = {
        {"get_global_id", "global_id", "0"},     {"get_local_id", "local_id", "0"},
        {"get_group_id", "group_id", "0"},       {"get_global_size", "global_size", "1"},
        {"get_local_size", "local_size", "1"},   {"get_num_groups", "num_groups", "1"},
        {"get_global_offset", "global_offset", "0"}, {"get_enqueued_local_size", "local_size", "1"},
    };
    static const char *const others[] = {
        "get_work_dim() work_dim",
        "get_local_linear_id() ((local_id.z * local_size.y + local_id.y) * local_size.x + local_id.x)",
        "get_global_linear_id() (((global_id.z - global_offset.z) * global_size.y + global_id.y - "
        "global_offset.y) * global_size.x + global_id.x - global_offset.x)",
    };
    char text[200];

    if (has_macros) {
        for (size_t i = 0; i < LW_COUNT_OF(dimensions); i++) {
            const char *name = dimensions[i].variable;

            snprintf(text, sizeof text, "%s(d) ((d) == 0 ? %s.x : (d) == 1 ? %s.y : (d) == 2 ? %s.z : %s)",
                     dimensions[i].function, name, name, name, dimensions[i].beyond);
            isa_bytes_u8(out, MACINFO_DEFINE);
            isa_bytes_uleb(out, 0); /* line 0 means that the macro is defined on the command line */
            isa_bytes_string(out, text);
        }
        for (size_t i = 0; i < LW_COUNT_OF(others); i++) {
            isa_bytes_u8(out, MACINFO_DEFINE);
            isa_bytes_uleb(out, 0);
            isa_bytes_string(out, others[i]);
        }
        isa_bytes_u8(out, MACINFO_START_FILE);
        isa_bytes_uleb(out, 0);
        isa_bytes_uleb(out, 1);
        isa_bytes_u8(out, MACINFO_END_FILE);
    }
    isa_bytes_u8(out, 0);
}

/* ---- compile units ------------------------------------------------------------------------ */

/* Finds the compile units that have entries or functions, and returns them; the first unit always exists. Returns NULL if
 * memory is short. *@of_function: memory to which the units refer; the caller frees both. */
static struct isa_dwarf_unit *find_units(const struct isa_object *object, unsigned *count, uint32_t **of_function)
{
    const struct isa_debug *debug = object->debug;
    const uint32_t all = debug != NULL ? debug->unit_count : 1;
    struct isa_dwarf_unit *units = calloc(all, sizeof *units);
    bool *has_code = calloc(all, sizeof *has_code);

    *count = 0;
    *of_function = calloc((size_t)object->function_count + 1, sizeof **of_function);
    if (units == NULL || has_code == NULL || *of_function == NULL) {
        free(units);
        free(has_code);
        return NULL;
    }
    if (all > 1)
        isa_compile_units_of_functions(object, *of_function);
    for (unsigned i = 0; i < object->function_count; i++)
        has_code[(*of_function)[i]] = true;
    for (uint32_t i = 0; i < all; i++)
        if (i == 0 || has_code[i] || isa_compile_unit_end(debug, i) != debug->units[i].first_die) {
            units[*count].number = i;
            units[*count].is_only = all == 1;
            units[*count].of_function = *of_function;
            if (debug != NULL)
                units[*count].unit = debug->units[i];
            else
                units[*count].unit = (struct isa_compile_unit){.first_file = 1, .file_count = object->file_count - 1};
            ++*count;
        }
    free(has_code);
    return units;
}

void isa_dwarf_make(const struct isa_object *object, const uint64_t *variables,
                    struct isa_dwarf *out)
{
    uint8_t *entered = find_entered(object);
    uint32_t *of_function;
    unsigned count;
    struct isa_dwarf_unit *units = find_units(object, &count, &of_function);

    memset(out, 0, sizeof *out);
    out->line.failed = entered == NULL || units == NULL;
    for (unsigned i = 0; i < count && entered != NULL; i++) {
        units[i].line = (uint32_t)out->line.size;
        make_line(object, &units[i], entered, &out->line);
    }
    if (units != NULL)
        isa_dwarf_make_info(object, units, count, variables, out);
    make_frame(object, variables != NULL, &out->frame);
    free(entered);
    free(units);
    free(of_function);
}

void isa_dwarf_fini(struct isa_dwarf *dwarf)
{
    isa_bytes_fini(&dwarf->line);
    isa_bytes_fini(&dwarf->info);
    isa_bytes_fini(&dwarf->abbrev);
    isa_bytes_fini(&dwarf->frame);
    isa_bytes_fini(&dwarf->loc);
    isa_bytes_fini(&dwarf->ranges);
    isa_bytes_fini(&dwarf->macros);
}
