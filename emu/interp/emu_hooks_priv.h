/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine's hooks are called for. */
#ifndef EMU_HOOKS_PRIV_H
#define EMU_HOOKS_PRIV_H

#include "emu/emu_warp_priv.h"

/** Where accesses of an instruction call no hook. */
struct emu_hook_filters {
    struct emu_hook_filter span;
    uint64_t epoch, base; /* the machine's, else it holds no longer; 0: never. base: bounded, the scalar one */
    uint8_t mode, scale, bytes; /* ISA_AMODE_*; of offsets from a scalar base; a lane's */
    bool bounded : 1, quick : 1; /* see low; and nothing more is asked of full warps of 32, nor is it written down */
    uint32_t low, range, high; /* bounded, and the base is that: words in the span are [low, low + range] and high */
};
/** @w is about to execute @di, with effect in @lanes. */
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
/** An access whose lanes' addresses are not in rows: scalar loads, texels, and rows in several
 *  windows. Fills kind, space, bytes and address; at.lanes may become fewer. False: none is left. */
bool emu_hook_lanes(struct emu_warp *w, const struct emu_dinsn *di, struct emu_hook_access *access,
                   uint64_t *address);
/** Leave the chain before @di, which the hook has seen: the warp goes in single steps (@steps), or only
 *  @di is still executed. */
void emu_hooks_split_runs(struct emu_warp *w, const struct emu_dinsn *di, bool steps);

#endif
