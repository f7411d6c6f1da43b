/* SPDX-License-Identifier: Apache-2.0 */
/* Checks an invariant of decoded code that holds whenever no handler chain is being executed. */
#ifndef LAYERS_CHECK_H
#define LAYERS_CHECK_H

#include "emu/interp/emu_layers_priv.h"
#include "emu/simt/emu_split_priv.h"

#include <stdio.h>

/** Check that each instruction has the handlers of its layers, and that no instruction is marked as the end of a time
 *  slice or of a budget. If the check fails and @why is empty, write the instruction's index to @why. */
static inline void layers_check(const struct emu_core *core, char *why, size_t why_size)
{
    for (unsigned k = 0; k < core->code_count && why[0] == '\0'; k++) {
        const struct emu_code *code = core->code[k];
        for (uint32_t i = 0; i <= code->program->count; i++) {
            const struct emu_handlers h = emu_code_below(code, i, EMU_LAYER_TOP), *now = &code->insn[i].h;
            if (h.full != now->full || h.part != now->part ||
                (code->layers[i] & (EMU_LAYER_SLICE_END | EMU_LAYER_BUDGET)) != 0)
                snprintf(why, why_size, "instruction %u has layers 0x%x, and wrong handlers or the mark of a slice end", i,
                         code->layers[i]);
        }
    }
}

#endif
