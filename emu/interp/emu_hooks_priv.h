/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a machine's hooks. */
#ifndef EMU_HOOKS_PRIV_H
#define EMU_HOOKS_PRIV_H

#include "emu/emu_warp_priv.h"

/** Filter of an instruction: accesses that call no hook. */
struct emu_hook_filters {
    struct emu_hook_filter span;
    uint64_t epoch, base; /* epoch: the machine's epoch when the filter was created; if the machine has another epoch now,
                           * the filter is invalid; a filter with epoch 0 is never valid. base: if bounded, the scalar
                           * base */
    uint8_t mode, scale, bytes; /* mode: ISA_AMODE_*. scale: factor of offsets from a scalar base. bytes: bytes that each
                                 * lane accesses */
    bool bounded : 1, quick : 1; /* bounded: the members from low on are valid. quick: in addition, full warps of 32
                                  * need no other test, and accesses are not logged */
    uint32_t low, range, high; /* if bounded, for accesses with the same base: words within the span are [low, low +
                                * range] and high */
};
/** Fills @site for @w, which is about to execute @di with an effect in @lanes. */
static inline void emu_hook_site(const struct emu_warp *w, const struct emu_dinsn *di,
                                uint64_t lanes, struct emu_hook_site *site)
{
    const struct emu_block *block = w->block;

    *site = (struct emu_hook_site){.core = w->core,
                                  .grid = block->grid,
                                  .block = block->linear,
                                  .slot = block->slot,
                                  .warp = w->index,
                                  .program = w->code->program,
                                  .insn = &w->code->program->insn[di->index],
                                  .index = di->index,
                                  .lanes = lanes,
                                  .split_lanes = w->m};
}
/** Describes an access whose lanes' addresses are not in rows: scalar loads, texels, and rows in several
 *  windows. Fills kind, space, bytes and address; lanes may be removed from at.lanes. Returns false if none
 *  is left. */
bool emu_hook_lanes(struct emu_warp *w, const struct emu_dinsn *di, struct emu_hook_access *access,
                   uint64_t *address);
/** Leaves the chain before @di, which the hook has seen: the warp continues in single steps (@steps), or only
 *  @di is still executed. */
void emu_hooks_split_runs(struct emu_warp *w, const struct emu_dinsn *di, bool steps);

#endif
