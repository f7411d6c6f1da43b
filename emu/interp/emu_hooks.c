/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the machine's hooks, by which checkers observe instructions on the fast path. */
#include "emu/interp/emu_hooks_priv.h"

#include "emu/interp/emu_layers_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/simt/emu_split_priv.h"

_Static_assert(sizeof(struct emu_hook_filters) == 64, "one line of the host's cache");

enum lw_status emu_machine_set_hooks(struct emu_machine *machine, struct emu_hooks *active_hooks,
                               struct lw_error *err)
{
    for (unsigned i = 0; active_hooks != NULL && i < machine->core_count; i++)
        if (machine->cores[i]->code_count != 0)
            return LW_FAIL(err, LW_ESTATE, "hooks must be added before the machine has run anything");
    machine->active_hooks = machine->again ? NULL : active_hooks;
    machine->attached_hooks = active_hooks;
    machine->hooks_epoch++;
    return LW_OK;
}

void emu_hooks_invalidate_filters(struct emu_machine *machine)
{
    machine->hooks_epoch++;
}

void emu_hooks_enable_site(const struct emu_program *program, uint32_t index, bool on)
{
    const struct emu_machine *machine = program->machine;

    for (unsigned c = 0; c < machine->core_count; c++) {
        const struct emu_core *core = machine->cores[c];
        for (unsigned i = 0; core != NULL && i < core->code_count; i++)
            if (core->code[i]->program == program && core->code[i]->layers[index] & EMU_HOOK_SITE)
                emu_code_set_layer(core->code[i], index, EMU_LAYER_HOOK, on);
    }
}

void emu_hooks_single_step(struct emu_core *core, unsigned slot, unsigned warp, bool on)
{
    struct emu_block *block = emu_core_block(core, slot);

    if (block != NULL && warp < block->warp_count)
        block->warp[warp].stepped = on;
}

bool emu_hook_lanes(struct emu_warp *w, const struct emu_dinsn *di, struct emu_hook_access *access,
                   uint64_t *address)
{
    const struct isa_insn *insn = access->at.insn;

    access->piece_count = 0;
    access->address = address;
    if (insn->op == ISA_TEX) {
        access->at.lanes =
            emu_texture_addresses(w, insn, di, access->at.lanes, address, &access->bytes);
        access->space = ISA_SPACE_GLOBAL;
        return access->at.lanes != 0;
    }
    if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_SCALAR) {
        access->at.lanes &= 0 - access->at.lanes;
        access->bytes = isa_mem_bytes(insn);
    }
    emu_addresses(w, insn, di, access->at.lanes, address);
    return true;
}

void emu_hooks_split_runs(struct emu_warp *w, const struct emu_dinsn *di, bool steps)
{
    (void)emu_slice_end_unpatch(w); /* the time slice ends here, so it must not also end at a later instruction */
    w->stepped = steps;
    w->halting = !steps;
    if (w->run_start <= di)
        emu_count_before(w, di);
    w->budget = steps ? 0 : 1; /* with this budget, the warp leaves the chain before @di, or after @di */
    emu_leave(w, EMU_LEAVE_BUDGET, di);
}
