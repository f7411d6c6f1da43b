/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backward slice over the steps T that a warp may repeat for ever (emu_cycle_priv.h). The slice is the set of bits of
 * registers and local memory on which control flow, addresses and stored values of T depend. The analysis visits the
 * steps of T from the last to the first. At each step it computes the set before the step from the set after the step.
 */
#ifndef EMU_CYCLE_SLICE_PRIV_H
#define EMU_CYCLE_SLICE_PRIV_H

#include "emu/inspect/emu_cycle_priv.h"

/** Set of bits of registers and of local memory. */
struct emu_relevant {
    uint32_t v[256][EMU_MAX_LANES], s[128];
    uint64_t v_lanes[256]; /* lanes with bits in v[]; a superset */
    uint64_t p[8]; /* lane masks */
    uint8_t sp[8];
    uint8_t *local; /* [offset][lane] bits */
};

/** Cache of the uses of instructions analysed last. */
enum { EMU_SLICE_CACHED = 1024 };
struct emu_cycle_uses {
    uint32_t index; /* 1 + index of the instruction */
    uint8_t count;
    bool scalars; /* the instruction uses only scalars and predicates of the warp */
    struct isa_reg_use use[ISA_MAX_USES];
};

struct emu_slice {
    struct emu_cycle *c;
    const struct emu_warp *w;
    struct emu_relevant now, end; /* set before the step being analysed; set at the end of T */
    struct emu_cycle_uses *cached;
    size_t local_size;        /* bytes of the maps */
    bool hopeless;            /* T depends on a value that the analysis cannot determine */
    bool ordered;             /* T depends on the order of splits */
};

/** Computes from the set at the end of T the set at its start, k->now. The steps must be valid. */
void emu_slice_walk(struct emu_slice *k);
/** Adds the set at the start to the set at the end. Returns false if nothing was new. */
bool emu_slice_join(struct emu_slice *k);
/** Returns true for a comparison of integers for (in)equality, which depends on one differing bit. */
bool emu_slice_equality(const struct isa_insn *insn);

#endif
