/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers of handlers on one instruction.
 *
 * A chain calls di->h of each instruction. di->h is the handler of the topmost layer. Each layer either leaves the
 * chain or calls the next layer below:
 *
 *     di->h -> budget | slice end   leaves the chain, or switches to another warp        while one chain runs
 *              breakpoint           leaves the chain                                     emu_breakpoint_set()
 *              rpc                  leaves if the split waits here; else calls what is   `stack`, at decoding
 *              hook                 reports to the checkers; then calls                  emu_hooks_enable_site()
 *              native               runs native code from here on; else calls            emu_native_use()
 *              base                 executes the instruction                             at decoding
 *
 * The base itself may be two handlers, fixed when the program is decoded: a prelude, which prepares source rows and
 * calls the handlers in code->prelude[], or in compact mode a handler that works on tags and calls the handlers in
 * code->plan[] where tags do not suffice. Base handlers of loads and stores change between forms of equal effect
 * (mem_prefer).
 *
 * The rpc layer is above the hook: the lanes of the split may not have reached the instruction yet.
 *
 * Only code->base[] and code->layers[] are stored. Whoever changes one of them calls emu_code_relink(), which derives
 * di->h; nothing else writes di->h after decoding.
 */
#ifndef EMU_LAYERS_PRIV_H
#define EMU_LAYERS_PRIV_H

#include "emu/interp/emu_control_priv.h"

/** Layers on the base handlers of an instruction, lowest first; bits of code->layers[index]. */
enum emu_layer {
    EMU_LAYER_NATIVE = 1,    /* emu_native_handler: native code has an entry here */
    EMU_LAYER_HOOK = 2,      /* the level's hook handlers report the instruction to the machine's hooks */
    EMU_LAYER_RPC = 4,       /* engine `stack`: emu_rpc_handler tests whether the split waits here */
    EMU_LAYER_BREAK = 8,     /* emu_break_handler: a breakpoint */
    EMU_LAYER_SLICE_END = 16, /* emu_slice_end_handler: the time slice ends before the instruction */
    EMU_LAYER_BUDGET = 32,   /* emu_budget_handler: the chain is left before the instruction */
    EMU_LAYER_TOP = 64,      /* above all layers */
    EMU_HOOK_SITE = 128      /* bit that is not a layer: the hooks have requested this instruction, and may enable the
                              * hook layer */
};

static inline struct emu_handlers emu_both_chains(emu_handler_fn *handler)
{
    return (struct emu_handlers){handler, handler};
}

/** Returns the handlers of @index below @layer. */
static inline struct emu_handlers emu_code_below(const struct emu_code *code, uint32_t index,
                                                 enum emu_layer layer)
{
    const unsigned below = code->layers[index] & ((unsigned)layer - 1);

    if (__builtin_expect(below == 0, 1))
        return code->base[index];
    if (below & EMU_LAYER_BUDGET)
        return emu_both_chains(emu_budget_handler);
    if (below & EMU_LAYER_SLICE_END)
        return emu_both_chains(emu_slice_end_handler);
    if (below & EMU_LAYER_BREAK)
        return emu_both_chains(emu_break_handler);
    if (below & EMU_LAYER_RPC)
        return emu_both_chains(emu_rpc_handler);
    if (below & EMU_LAYER_HOOK)
        return code->hook;
    return emu_both_chains(emu_native_handler);
}

/** Derives the handlers of @index from its layers. */
static inline void emu_code_relink(struct emu_code *code, uint32_t index)
{
    code->insn[index].h = emu_code_below(code, index, EMU_LAYER_TOP);
}

/** Adds a layer to an instruction, or removes it. */
static inline void emu_code_set_layer(struct emu_code *code, uint32_t index, enum emu_layer layer, bool on)
{
    const unsigned others = code->layers[index] & ~(unsigned)layer;

    code->layers[index] = (uint8_t)(on ? others | (unsigned)layer : others);
    emu_code_relink(code, index);
}

/** Returns handlers that execute @di even if it has a breakpoint. No slice end may be set on @di. */
static inline struct emu_handlers emu_code_past_break(const struct emu_code *code,
                                                      const struct emu_dinsn *di)
{
    return __builtin_expect(di->h.full != emu_break_handler, 1)
               ? di->h : emu_code_below(code, di->index, EMU_LAYER_BREAK);
}

#endif
