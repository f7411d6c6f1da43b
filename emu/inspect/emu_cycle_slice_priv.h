/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What steers a warp that may go round for ever: backwards over the steps T of emu_cycle_priv.h, from what
 * matters after each of them to what matters before it.
 */
#ifndef EMU_CYCLE_SLICE_PRIV_H
#define EMU_CYCLE_SLICE_PRIV_H

#include "emu/inspect/emu_cycle_priv.h"

/** Bits of registers and of local memory. */
struct emu_relevant {
    uint32_t v[256][EMU_MAX_LANES], s[128];
    uint64_t v_lanes[256]; /* with bits in v[]; it may name more */
    uint64_t p[8]; /* lanes */
    uint8_t sp[8];
    uint8_t *local; /* [offset][lane] */
};

/** Uses of the instructions that were looked at last. */
enum { EMU_SLICE_CACHED = 1024 };
struct emu_cycle_uses {
    uint32_t index; /* 1 + the instruction's */
    uint8_t count;
    bool scalars; /* and predicates of the warp are all that it uses */
    struct isa_reg_use use[ISA_MAX_USES];
};

struct emu_slice {
    struct emu_cycle *c;
    const struct emu_warp *w;
    struct emu_relevant now, end; /* before the step that is looked at; at the end of T */
    struct emu_cycle_uses *cached;
    size_t local_size;        /* of the maps */
    bool hopeless;            /* T depends on what this cannot know */
    bool ordered;             /* and on the order of splits */
};

/** From what matters at the end of T to what matters at its start: k->now. Steps of it are good. */
void emu_slice_walk(struct emu_slice *k);
/** Add to the end what matters at the start. False: nothing was new. */
bool emu_slice_join(struct emu_slice *k);
/** A compare of integers, which differ by a bit or not at all. */
bool emu_slice_equality(const struct isa_insn *insn);

#endif
