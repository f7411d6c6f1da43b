/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers: several handlers on one instruction, each of which can call the next one.
 *
 * A handler chain calls di->h of each instruction, which is the handler of the topmost layer. Each layer leaves the chain, or
 * calls the layer below. The last column shows when, or by which function, the layer is added:
 *
 *    di->h -> budget | slice end   leaves the chain, or switches to another warp        while one chain runs
 *             breakpoint           leaves the chain                                     emu_breakpoint_set()
 *             rpc                  leaves if the split waits here, else calls the next  at decoding
 *             hook                 reports to the checkers, then calls the base         emu_hooks_enable_site()
 *             native               runs native code from here on, else calls the next   emu_native_use()
 *             base                 executes the instruction                             at decoding
 *
 * The base layer may consist of two handlers, in one of two ways. First, a prelude prepares the source registers, and then calls
 * the handlers in code->prelude[]. Second, in compact mode, a handler executes the instruction on tags, and calls the handlers
 * in code->plan[] if the tags are not sufficient. The base handler of a load or store is replaced at run time by other handlers
 * that have the same effect (mem_prefer).
 *
 * The rpc layer is above the hook, because the hook must not report an instruction before which the split waits.
 *
 * The layers of an instruction are stored only in code->base[] and code->layers[]. A function that changes one of these arrays
 * calls emu_code_relink(), which computes di->h from both. After decoding, nothing else changes di->h.
 */
#ifndef EMU_LAYERS_PRIV_H
#define EMU_LAYERS_PRIV_H

#include "emu/interp/emu_control_priv.h"

/** Layers above the base handlers of an instruction, lowest first, as bits of code->layers[index]. */
enum emu_layer {
    EMU_LAYER_NATIVE = 1,    /* emu_native_handler: enters native code */
    EMU_LAYER_HOOK = 2,      /* the level's hook handlers: report the instruction to the machine's hooks */
    EMU_LAYER_RPC = 4, /* emu_rpc_handler: tests whether the split waits here (reconvergence engines with emu_reconv.reach) */
    EMU_LAYER_BREAK = 8,     /* emu_break_handler: a breakpoint */
    EMU_LAYER_SLICE_END = 16, /* emu_slice_end_handler: ends the time slice before the instruction */
    EMU_LAYER_BUDGET = 32,   /* emu_budget_handler: leaves the chain before the instruction */
    EMU_LAYER_TOP = 64,      /* a bit above those of all layers */
    EMU_HOOK_SITE = 128      /* not a layer: the hooks have requested calls at this instruction, so the hook layer may be added */
};

static inline struct emu_handlers emu_both_chains(emu_handler_fn *handler)
{
    return (struct emu_handlers){handler, handler};
}

/** Returns the handlers of instruction @index that layer @layer calls: the handlers of the next layer below @layer. */
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

/** Sets di->h of instruction @index from its layers. */
static inline void emu_code_relink(struct emu_code *code, uint32_t index)
{
    code->insn[index].h = emu_code_below(code, index, EMU_LAYER_TOP);
}

/** Adds a layer to instruction @index, or removes it. */
static inline void emu_code_set_layer(struct emu_code *code, uint32_t index, enum emu_layer layer, bool on)
{
    const unsigned others = code->layers[index] & ~(unsigned)layer;

    code->layers[index] = (uint8_t)(on ? others | (unsigned)layer : others);
    emu_code_relink(code, index);
}

/** Returns handlers that execute @di even if it has a breakpoint. @di must not have a slice-end layer. */
static inline struct emu_handlers emu_code_past_break(const struct emu_code *code,
                                                      const struct emu_dinsn *di)
{
    return __builtin_expect(di->h.full != emu_break_handler, 1)
               ? di->h : emu_code_below(code, di->index, EMU_LAYER_BREAK);
}

#endif
