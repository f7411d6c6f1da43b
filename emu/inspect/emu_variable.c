/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of source variables in a lane, from the debug information of the object. Locations are addresses in the debugger's
 * address space (docs/reference/object.md), of which a lane reads its own registers, built-in variables, parameters and memory
 * here. Stack frames follow the rules of the ABI (docs/reference/abi.md): a call leaves the return address in v0:1, and v2 is
 * the stack pointer into local memory. A function that calls others stores its return address at [CFA - 8], where CFA is the
 * value of v2 at its entry.
 */
#include "emu/core/emu_core_priv.h"

enum { REG_RETURN = 0, REG_STACK = 2 };
enum { WINDOW_VECTOR = 0xF0, WINDOW_SCALAR = 0xF2, WINDOW_BUILTIN = 0xF5, WINDOW_CONST = 0xF9 };

bool emu_block_find(const struct emu_machine *machine, uint32_t sequence, uint64_t block, const struct emu_core **core,
                    unsigned *slot)
{
    for (unsigned c = 0; c < machine->core_count; c++)
        for (unsigned s = 0; s < machine->cores[c]->slots_used; s++) {
            const struct emu_block *b = &machine->cores[c]->block[s];

            if (!b->in_use || b->grid == NULL || b->grid->sequence != sequence || b->linear != block)
                continue;
            *core = machine->cores[c];
            *slot = s;
            return true;
        }
    return false;
}

/* ---- frames -------------------------------------------------------------------------------- */

struct emu_frame emu_frame_first(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t pc)
{
    uint64_t sp = 0;

    (void)emu_reg_read(core, slot, warp, ISA_REG_V, REG_STACK, lane, &sp);
    return (struct emu_frame){pc, (uint32_t)sp, true};
}

bool emu_frame_caller(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, const struct emu_frame *frame,
                      struct emu_frame *caller)
{
    const struct emu_program *program = emu_machine_program_at(core->machine, frame->pc);
    uint64_t low = 0, high = 0;
    struct isa_frame is;
    uint8_t raw[8] = {0}; /* the return address */

    if (program == NULL)
        return false;
    const struct isa_object *object = emu_program_object(program);
    const uint32_t index = (uint32_t)((frame->pc - emu_program_base(program)) / ISA_WORD_BYTES);
    const struct isa_function *function = isa_object_function_at(object, index);

    if (function == NULL || function->kernel || !isa_function_frame(object, function, index, &is))
        return false;
    const uint32_t cfa = frame->sp - (uint32_t)is.added;
    if (is.saved || !frame->innermost)
        (void)emu_mem_peek(core, slot, warp, lane, ISA_LOCAL_BASE + (uint32_t)(cfa - 8), raw, sizeof raw);
    else if (emu_reg_read(core, slot, warp, ISA_REG_V, REG_RETURN, lane, &low) &&
             emu_reg_read(core, slot, warp, ISA_REG_V, REG_RETURN + 1, lane, &high))
        lw_put64(raw, (uint32_t)low | high << 32);
    else
        return false;
    *caller = (struct emu_frame){.pc = lw_get64(raw) - ISA_WORD_BYTES, .sp = cfa};
    return true;
}

/* ---- addresses of the debugger --------------------------------------------------------------- */

uint64_t emu_builtin_read(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t offset)
{
    static const enum isa_special builtin[] = {
        ISA_SR_TID_X,  ISA_SR_TID_Y,  ISA_SR_TID_Z,  ISA_SR_COUNT,
        ISA_SR_CTAID_X, ISA_SR_CTAID_Y, ISA_SR_CTAID_Z, ISA_SR_COUNT,
        ISA_SR_NTID_X, ISA_SR_NTID_Y, ISA_SR_NTID_Z, ISA_SR_COUNT,
        ISA_SR_NCTAID_X, ISA_SR_NCTAID_Y, ISA_SR_NCTAID_Z, ISA_SR_COUNT,
        ISA_SR_LANEID, ISA_SR_WARPID, ISA_SR_CLOCK64, ISA_SR_CLOCK64};
    /* the special registers for x, y and z have consecutive numbers */
    static const enum isa_special dimension[] = {ISA_SR_TID_X, ISA_SR_CTAID_X, ISA_SR_NTID_X, ISA_SR_NCTAID_X, ISA_SR_OFFSET_X};
    uint64_t value = 0, of[LW_COUNT_OF(dimension)] = {0};
    uint64_t index = offset / 4;

    if (index < LW_COUNT_OF(builtin) && builtin[index] != ISA_SR_COUNT)
        (void)emu_special_read(core, slot, warp, builtin[index], lane, &value);
    if (index == 19)
        value >>= 32;
    if (index == 20)
        value = core->machine->config.warp_width;
    if (index == 21)
        (void)emu_special_read(core, slot, warp, ISA_SR_WORKDIM, lane, &value);
    if (index < 24 || index > 34 || index % 4 == 3)
        return value;
    for (unsigned i = 0; i < LW_COUNT_OF(dimension); i++)
        (void)emu_special_read(core, slot, warp, (enum isa_special)(dimension[i] + index % 4), lane, &of[i]);
    return index < 28   ? of[4] + of[1] * of[2] + of[0] /* global_id */
           : index < 32 ? of[3] * of[2]                 /* global_size */
                        : of[4];                        /* global_offset */
}

/** A lane, and the frame from which variables are read. */
struct lane {
    const struct emu_core *core;
    unsigned slot, warp, lane;
    const struct emu_frame *frame;
};

/** Reads an aligned word of the debug address ranges that show registers. Returns false if there is no such register. */
static bool read_word(const struct lane *l, unsigned window, uint64_t offset, uint32_t *word)
{
    uint64_t value = 0;

    if (window == WINDOW_BUILTIN)
        value = emu_builtin_read(l->core, l->slot, l->warp, l->lane, offset);
    else if (offset / 4 > UINT8_MAX ||
             !emu_reg_read(l->core, l->slot, l->warp, window == WINDOW_SCALAR ? ISA_REG_S : ISA_REG_V, (unsigned)(offset / 4),
                           l->lane, &value))
        return false;
    *word = (uint32_t)value;
    return true;
}

/** Implements isa_expression_reader.read for a lane. */
static bool read_address(void *context, uint64_t address, void *out, unsigned bytes)
{
    const struct lane *l = context;
    const unsigned window = (unsigned)(address >> 56);
    const uint64_t offset = address & lw_mask(56);
    uint8_t *to = out;

    if (window == WINDOW_CONST)
        address = ISA_CONST_BASE + (offset >> 32) * ISA_CONST_STRIDE + (offset & UINT32_MAX);
    if (window == WINDOW_CONST ? offset >> 32 < ISA_CONST_BANK_COUNT : window < 0xF0)
        return emu_mem_peek(l->core, l->slot, l->warp, l->lane, address, out, bytes) == bytes;
    if (window != WINDOW_VECTOR && window != WINDOW_SCALAR && window != WINDOW_BUILTIN)
        return false;
    for (unsigned i = 0; i < bytes; i++) {
        uint32_t word;

        if (!read_word(l, window, (offset + i) & ~UINT64_C(3), &word))
            return false;
        to[i] = (uint8_t)(word >> 8 * ((offset + i) % 4));
    }
    return true;
}

/** Implements isa_expression_reader.frame for a lane. */
static bool find_frame(void *context, uint64_t *address)
{
    const struct lane *l = context;
    struct emu_frame caller;

    if (!emu_frame_caller(l->core, l->slot, l->warp, l->lane, l->frame, &caller))
        return false;
    *address = ISA_LOCAL_BASE + caller.sp;
    return true;
}

/* ---- variables --------------------------------------------------------------------------------- */

static bool read_pieces(const struct isa_debug *debug, const struct emu_value_source *source,
                        const struct isa_expression_reader *reader, uint8_t *out, unsigned bytes)
{
    for (unsigned done = 0; done < bytes;) {
        struct isa_piece piece;
        uint8_t raw[8];

        if (!isa_expression_find(debug, source->location, done, reader, &piece))
            return false;
        const unsigned in = done - piece.offset, rest = bytes - done;
        const unsigned count = piece.bytes - in < rest ? piece.bytes - in : rest;
        if (piece.kind == ISA_PIECE_MEMORY && !reader->read(reader->context, piece.value + in, out + done, count))
            return false;
        if (piece.kind == ISA_PIECE_VALUE) {
            if (in + count > sizeof raw)
                return false;
            lw_put64(raw, piece.value);
            memcpy(out + done, raw + in, count);
        }
        done += count;
    }
    return true;
}

/** Reads the first @bytes bytes of a variable. Returns false if not all of them have a value. */
static bool read_value(const struct isa_debug *debug, const struct emu_value_source *source,
                       const struct isa_expression_reader *reader, void *out, unsigned bytes)
{
    uint8_t raw[8];

    switch (source->kind) {
    case EMU_VALUE_KNOWN:
        if (bytes > sizeof raw)
            return false;
        lw_put64(raw, source->value);
        memcpy(out, raw, bytes);
        return true;
    case EMU_VALUE_ADDRESS: return reader->read(reader->context, source->value, out, bytes);
    case EMU_VALUE_EXPRESSION: return read_pieces(debug, source, reader, out, bytes);
    default: return false;
    }
}

void emu_variable_find(const struct emu_program *program, uint32_t insn, uint32_t die, bool innermost,
                       const struct isa_expression_reader *reader, struct emu_value_source *out)
{
    const struct isa_object *object = emu_program_object(program);
    const struct isa_var_location *location = isa_variable_location(object->debug, die, insn);
    const struct isa_attr *constant = isa_die_attr(object->debug, die, ISA_AT_CONST_VALUE);
    uint64_t base = 0;
    uint8_t raw[8];

    *out = (struct emu_value_source){.location = location};
    if (location == NULL) {
        out->kind = constant != NULL ? EMU_VALUE_KNOWN : EMU_VALUE_NONE;
        out->value = constant != NULL ? constant->value : 0;
        return;
    }
    out->kind = EMU_VALUE_ADDRESS;
    out->value = location->value;
    switch (location->kind) {
    case ISA_LOCATION_ADDRESS:
        /* Registers have the values of the innermost frame. The values that they had in a caller's frame are not known. */
        if (!innermost && out->value >> 56 >= 0xF0 && out->value >> 56 <= 0xF2)
            out->kind = EMU_VALUE_NONE;
        break;
    case ISA_LOCATION_FRAME:
        if (!reader->frame(reader->context, &base))
            out->kind = EMU_VALUE_NONE;
        out->value += base;
        break;
    case ISA_LOCATION_VARIABLE: {
        const struct isa_variable *variable = &object->variables[location->variable];

        out->value += variable->space == ISA_SPACE_SHARED ? ISA_SHARED_BASE + variable->shared_offset
                                                          : emu_program_variable(program, variable->name, NULL);
        break;
    }
    case ISA_LOCATION_EXPRESSION: out->kind = innermost ? EMU_VALUE_EXPRESSION : EMU_VALUE_NONE; break;
    default: out->kind = EMU_VALUE_KNOWN; break;
    }
    if (out->kind != EMU_VALUE_NONE && location->shared_pointer) {
        const bool known = read_value(object->debug, out, reader, raw, sizeof raw);

        out->kind = known ? EMU_VALUE_KNOWN : EMU_VALUE_NONE;
        out->value = known ? lw_get64(raw) + ISA_SHARED_BASE : 0;
    }
}

bool emu_lane_variable(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, const struct emu_frame *frame,
                       uint32_t die, void *out, unsigned bytes)
{
    const struct emu_program *program = emu_machine_program_at(core->machine, frame->pc);
    struct lane l = {core, slot, warp, lane, frame};
    const struct isa_expression_reader reader = {read_address, find_frame, &l};
    struct emu_value_source source;

    if (program == NULL || emu_program_object(program)->debug == NULL)
        return false;
    emu_variable_find(program, (uint32_t)((frame->pc - emu_program_base(program)) / ISA_WORD_BYTES), die, frame->innermost,
                      &reader, &source);
    return read_value(emu_program_object(program)->debug, &source, &reader, out, bytes);
}
