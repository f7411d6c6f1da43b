/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions for the files that are compiled once per x86-64 level (EMU_LEVEL 1, 3, 4): names, access to vector registers, and
 * functions that these files call from each other. Vector registers are processed ROW_LANES lanes at a time. ROW_LANES is at
 * least 8 even if warps have 4 lanes, because registers are padded.
 */
#ifndef EMU_LEVEL_PRIV_H
#define EMU_LEVEL_PRIV_H

#include "emu/emu_warp_priv.h"
#ifndef EMU_LEVEL
#define EMU_LEVEL 1 /* used if this header is compiled alone */
#endif
#if EMU_LEVEL == 1
#define LEVEL(name) name##_v1
#elif EMU_LEVEL == 3
#define LEVEL(name) name##_v3
#else
#define LEVEL(name) name##_v4
#endif
enum { ROW_LANES = EMU_LEVEL == 4 ? 16 : 8 };

#define INLINE static inline __attribute__((always_inline, unused))

INLINE const uint32_t *row(const struct emu_warp *w, uint32_t offset)
{
    return __builtin_assume_aligned(w->regs + offset, 32);
}
INLINE uint32_t *row_out(const struct emu_warp *w, uint32_t offset)
{
    return __builtin_assume_aligned(w->regs + offset, 32);
}

INLINE unsigned lanes_of(const struct emu_warp *w)
{
    unsigned n = w->n;

    if (n % ROW_LANES != 0 || n == 0)
        __builtin_unreachable(); /* vector registers are padded, so loops over host vectors have no remainder */
    return n;
}

/** Selects the handlers of a load, store, atomic or texture fetch (emu_mem_exec.c). If the instruction has no handlers, returns
 *  false and sets *why to a clause for the message. */
bool LEVEL(memory_handlers)(const struct isa_insn *insn, const struct emu_dinsn *di,
                            struct emu_handlers *out, const char **why);
/** Functions for members of struct emu_level. */
bool LEVEL(tagged_memory)(const struct isa_insn *insn, const struct emu_dinsn *di, bool uniform,
                          struct emu_handlers *out);
void LEVEL(make_row)(struct emu_warp *w, unsigned index);
emu_handler_fn LEVEL(hooked_full), LEVEL(hooked_part);

#endif
