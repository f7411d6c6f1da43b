/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of memory instructions and of the hook layer. Compiled once per x86-64 level, as emu_exec.c is. */
#include "emu/interp/emu_level_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/interp/emu_simd_priv.h"

#include "emu/interp/emu_mem_general_body.h"
#include "emu/interp/emu_mem_fast_body.h"
#include "emu/interp/emu_compact_body.h"
#include "emu/interp/emu_hooks_body.h"

bool LEVEL(memory_handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                            struct emu_handlers *out, const char **why)
{
    const unsigned flags = isa_op_info((enum isa_op)insn->op)->flags;

    if (flags & ISA_F_ATOMIC) { /* the decoder has already refused atomics for which no function exists */
        out->full = out->part = LEVEL(mem_atomic);
        return true;
    }
    if (insn->op != ISA_TEX)
        return LEVEL(mem_handlers)(insn, di, (flags & ISA_F_STORE) != 0, out, why);
    *why = emu_texture_refused(insn);
    if (*why == NULL)
        out->full = out->part = LEVEL(mem_texture);
    return *why == NULL;
}
