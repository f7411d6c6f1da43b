/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stack frames of a lane by the rules of the ABI (docs/reference/abi.md), for the callers of a compiler's
 * function. */
#include "check/chk_priv.h"

bool chk_lane_is_at(const struct chk *chk, const struct emu_core *core, unsigned slot, unsigned warp, unsigned lane, uint64_t pc)
{
    const struct emu_hook_site *at = chk->at;

    return at != NULL && at->core == core && at->slot == slot && at->warp == warp && (at->split_lanes >> lane & 1) != 0 &&
           chk_site_pc(at) == pc;
}

unsigned chk_frames(const struct chk *chk, const struct chk_location *location, uint64_t *calls, unsigned most)
{
    const struct emu_program *program = emu_machine_program_at(chk->machine, location->pc);
    const unsigned lane = location->lanes != 0 ? lw_lowest(location->lanes) : 0, warp = location->warp;
    const struct emu_core *core;
    struct emu_split_view split;
    struct emu_frame at;
    unsigned count = 0, slot;

    if (program == NULL || location->lanes == 0 ||
        !emu_block_find(chk->machine, location->grid, location->block_number, &core, &slot))
        return 0;
    /* A lane that is no longer at the location may have left the stack frames of that time. */
    if (!chk_lane_is_at(chk, core, slot, warp, lane, location->pc) &&
        (!emu_lane_where(core, slot, warp, lane, &split) || split.pc != location->pc))
        return 0;
    at = emu_frame_first(core, slot, warp, lane, location->pc);
    while (count < most && emu_frame_caller(core, slot, warp, lane, &at, &at) &&
           emu_machine_program_at(chk->machine, at.pc) == program)
        calls[count++] = at.pc;
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
