/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backward program slice over the steps T that a warp may repeat for ever (emu_cycle_priv.h). The slice is the set of bits of
 * registers and local memory on which control flow, addresses and stored values of T depend. The analysis visits the steps of T
 * from the last to the first. At each step the analysis computes the set before the step from the set after the step.
 */
#ifndef EMU_CYCLE_SLICE_PRIV_H
#define EMU_CYCLE_SLICE_PRIV_H

#include "emu/inspect/emu_cycle_priv.h"

/** Set of bits of registers and of local memory. */
struct emu_relevant {
    uint32_t v[256][EMU_MAX_LANES], s[128];
    uint64_t v_lanes[256]; /* for each vector register, lanes of which v[] may have bits set; for all other lanes, v[] is 0 */
    uint64_t p[8]; /* for each predicate, the lanes whose bit of the predicate is in the set */
    uint8_t sp[8];
    uint8_t *local; /* local[offset * width + lane]: the bits of this byte of local memory that are in the set */
};

/** Number of elements of the cache emu_slice.cached. An element lists the registers that one instruction reads and writes, so
 *  that they are not determined again each time the analysis visits the instruction. */
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
    struct emu_relevant now, end; /* now: set before the step that is analysed at present; end: set at the end of T */
    struct emu_cycle_uses *cached;
    size_t local_size;        /* number of bytes of now.local, and of end.local */
    bool hopeless;            /* T depends on a value that the analysis cannot determine */
    bool ordered;             /* T depends on the order in which the warp's splits run */
};

/** Analyses T backwards: computes from k->end, the set at the end of T, the set at its start, and writes it to k->now. The
 *  indices and offsets in the steps must be valid. */
void emu_slice_walk(struct emu_slice *k);
/** Adds k->now, the set at the start of T, to k->end, the set at its end, because the end of one iteration is the start of the
 *  next one. Returns false if k->end already contained all of k->now. */
bool emu_slice_join(struct emu_slice *k);
/** Returns true if @insn compares integers for equality or inequality. If the integers differ, one bit that differs is
 *  enough to determine the result. */
bool emu_slice_equality(const struct isa_insn *insn);

#endif
