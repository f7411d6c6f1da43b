/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations for the files that call a machine's hooks. */
#ifndef EMU_HOOKS_PRIV_H
#define EMU_HOOKS_PRIV_H

#include "emu/emu_warp_priv.h"

/** Filter of an instruction: range of addresses whose accesses call no hook. */
struct emu_hook_filters {
    struct emu_hook_filter span;
    uint64_t epoch, base; /* epoch: value of machine->hooks_epoch when the filter was made. The filter is valid only while
                           * machine->hooks_epoch still has this value; 0 is never valid. base: the value of the scalar base
                           * address for which the bounds were computed, if `bounded` */
    uint8_t mode, scale, bytes; /* mode: addressing mode, ISA_AMODE_*. scale: power of two by which an offset from a scalar base
                                 * is multiplied. bytes: bytes that each lane accesses */
    bool bounded : 1, quick : 1; /* bounded: the members low, range and high are valid. quick: the bounds are the only test that
                                  * an access by a warp of 32 with all lanes active needs, and such accesses are not recorded */
    uint32_t low, range, high; /* bounds of an address register: an access with scalar base `base` is in the filter's range if the
                                * register's low word is in [low, low + range] and its high word, if it has one, is `high` */
};
/** Fills @site for @w, which is about to execute @di with an effect in lanes @lanes. */
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
/** Describes an access lane by lane, if the lanes' addresses cannot be computed as vectors: a scalar load, a fetch of texels, or
 *  addresses in several 4 GiB windows. Sets kind, space, bytes and address. Lanes that access no memory are removed from
 *  at.lanes. Returns false if no lane remains. */
bool emu_hook_lanes(struct emu_warp *w, const struct emu_dinsn *di, struct emu_hook_access *access,
                   uint64_t *address);
/** Leaves the chain before @di, after its hook was called. @steps: the warp continues in single steps. If @steps is not set, @di
 *  is executed, and the warp then stops. */
void emu_hooks_split_runs(struct emu_warp *w, const struct emu_dinsn *di, bool steps);

#endif
