/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stack frames of a lane by the rules of the ABI (docs/reference/abi.md), for the callers of a compiler's
 * function. */
#include "check/chk_priv.h"

enum { REG_RETURN = 0, REG_STACK = 2 };

void chk_stack_block(struct chk *chk, const struct emu_core *core, unsigned slot)
{
    (void)chk_slot_at(&chk->slots, core, slot, sizeof(struct chk_slot)); /* if memory is short, findings show no callers */
}

/** Returns the slot of a block, or NULL if it is not known. */
static const struct chk_slot *slot_of(const struct chk *chk, uint32_t sequence, uint64_t block)
{
    struct emu_block_view view;

    for (size_t i = 0; i < chk->slots.count; i++)
        if (emu_block_view(chk->slots.at[i]->core, chk->slots.at[i]->slot, &view) && view.grid->sequence == sequence &&
            view.block == block)
            return chk->slots.at[i];
    return NULL;
}

static uint64_t return_address(const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, bool saved,
                               uint32_t cfa)
{
    uint64_t low = 0, high = 0;
    uint8_t raw[8] = {0};

    if (saved) {
        (void)!emu_mem_peek(core, slot, warp, lane, ISA_LOCAL_BASE + (uint32_t)(cfa - 8), raw, sizeof raw);
        return lw_get64(raw);
    }
    (void)emu_reg_read(core, slot, warp, ISA_REG_V, REG_RETURN, lane, &low);
    (void)emu_reg_read(core, slot, warp, ISA_REG_V, REG_RETURN + 1, lane, &high);
    return (uint32_t)low | high << 32;
}

/** Returns true if a hook was called because the lane is about to execute the instruction at @pc. In this case, the stored pc
 *  of the lane's split may be older, because the interpreter executes many instructions in one batch. */
static bool is_now(const struct chk *chk, const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane,
                   uint64_t pc)
{
    const struct emu_hook_site *at = chk->at;

    return at != NULL && at->core == core && at->slot == slot && at->warp == warp && (at->lanes >> lane & 1) != 0 &&
           chk_site_pc(at) == pc;
}

unsigned chk_frames(const struct chk *chk, const struct chk_location *location, uint64_t *calls, unsigned most)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, location->pc);
    const struct isa_object *object = program != NULL ? emu_program_object(program) : NULL;
    unsigned count = 0;
    const struct chk_slot *is = location->lanes != 0 ? slot_of(chk, location->grid, location->block_number) : NULL;
    const unsigned lane = location->lanes != 0 ? lw_lowest(location->lanes) : 0, warp = location->warp;
    struct emu_split_view split;
    uint64_t sp = 0, pc = location->pc;

    if (is == NULL || object == NULL)
        return 0;
    const struct emu_core *core = is->core;
    const unsigned slot = is->slot;
    /* A lane that is no longer at the location may have left the stack frames of that time. */
    if (!is_now(chk, core, slot, warp, lane, pc) && (!emu_lane_where(core, slot, warp, lane, &split) || split.pc != pc))
        return 0;
    (void)emu_reg_read(core, slot, warp, ISA_REG_V, REG_STACK, lane, &sp);
    while (count < most) {
        const uint32_t index = chk_pc_index(program, pc);
        const struct isa_function *f = isa_object_function_at(object, index);
        struct isa_frame frame;

        if (f == NULL || f->kernel || !isa_function_frame(object, f, index, &frame))
            break;
        sp = (uint32_t)sp - (uint32_t)frame.added; /* the canonical frame address, which is the caller's stack pointer */
        pc = return_address(core, slot, warp, lane, frame.saved || count != 0, (uint32_t)sp) - ISA_WORD_BYTES;
        if (emu_machine_program_at(chk->machine, pc) != program)
            break;
        calls[count++] = pc;
    }
    return count;
}

uint64_t chk_caller(const struct chk *chk, const struct chk_location *location)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, location->pc);
    uint64_t call[CHK_MOST_FRAMES];
    const unsigned count = chk_frames(chk, location, call, CHK_MOST_FRAMES);

    for (unsigned i = 0; i < count; i++) {
        const struct isa_object *object = emu_program_object(program);
        const struct isa_line *line = isa_object_line_at(object, chk_pc_index(program, call[i]));
        const char *file = chk_line_file(object, line);

        if (file[0] != '\0' && line->line != 0 && !chk_is_foreign(file))
            return call[i];
    }
    return 0;
}
