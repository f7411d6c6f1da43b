/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs that a warp loops for ever, from observed steps (docs/explanation/decisions.md).
 *
 * T is the sequence of steps that the warp executed between two moments. At both moments the warp has the same splits at the same
 * pcs in the same states. R is the part of the warp's data that controls T. R contains the bits of registers and of local memory
 * on which control flow, addresses and stored values of T depend. R also contains the bits on which these bits depend in the
 * preceding iteration. If R has the same contents at both moments, the warp will execute T again and then have the same R again.
 * The warp therefore loops for ever, as long as shared and global memory do not change. Data outside R may change, for example an
 * iteration counter.
 *
 * R is a set of bits, not of registers, because a few bits of a value may already determine the result of a branch. For example,
 * a loop counts by two and ends when its counter equals an odd number. Bit 0 of the counter never changes, and depends only on
 * bit 0 of the two values that are added. Bit 0 of the counter differs from bit 0 of the odd number, so the counter and the odd
 * number differ whatever their other bits are. R therefore contains only bit 0 of the counter, and the loop is proved never to
 * end.
 *
 * The engine discards a proof when a byte of memory changes or a lane exits, because other warps can see these effects.
 *
 * Waiting (at barriers, for a sleep to end, during time slices of other warps) delays lanes, but does not change their
 * instructions and results. If T depends on the order in which splits run, the state that determines this order must be
 * the same at both moments as well.
 */
#ifndef EMU_CYCLE_PRIV_H
#define EMU_CYCLE_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_machine_priv.h"

/** One step of the cycle T that a warp repeats. */
struct emu_cycle_step {
    uint64_t lanes, effective; /* lanes: split mask; effective: split mask & exec & guard */
    uint64_t local;            /* lanes that accessed local memory */
    uint32_t index;            /* index of the instruction */
    /* offset in local memory that all lanes of `local` accessed; if `apart` is set, the lanes accessed different offsets,
     * which are in emu_cycle.offset[] from index `offset` on */
    uint32_t offset;
    uint8_t bytes;             /* bytes of each lane's access */
    bool apart;
    bool decided;              /* the step is a comparison for equality or inequality. `offset` is then the number of a bit in
                                * which the compared values differ (64: they are equal). If `apart` is set, the lanes have
                                * different bits, which are in emu_cycle.offset[] from index `offset` on */
    bool retired;              /* the instruction was executed; false: lanes only started to wait */
};

/** A register or byte of local memory in R whose value, in an earlier analysis, differed from the value at the start of T. As
 *  long as the value differs, no proof is possible. */
struct emu_cycle_slot {
    uint8_t kind; /* class of the location; 0: none, 1 + enum isa_reg_class, 16: local memory */
    uint8_t lane;
    uint32_t number, mask; /* number of the register, or offset in local memory; mask of the bits that differ */
};

enum { EMU_CYCLE_SLOTS = 32 };
struct emu_cycle {
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    bool over;              /* the warp is proved to loop for ever, so its further steps are not recorded */
    uint64_t steps;         /* total number of steps observed */
    uint64_t segment;       /* if T reaches this length without a proof, T is discarded and begins again at a later step */
    uint64_t next;          /* the warp's instruction count at the next step */
    uint64_t next_try;      /* minimum number of steps of T at which T is analysed */
    uint64_t walked;        /* total number of steps analysed backwards */
    uint64_t ran;           /* set of the lanes that executed steps of T */
    uint32_t arrives;       /* set of the CTA barriers at which lanes arrive in T */
    bool waits;             /* lanes sleep, or wait for other warps, in T */
    struct emu_cycle_slot differs[EMU_CYCLE_SLOTS]; /* the last values of R that differed, as a ring buffer */
    unsigned differ_count;  /* number of values recorded in differs[] since T began, including those overwritten */
    /* state of the warp at the start of T (control to local), and its hash (key); then the steps of T, and the local memory
     * offsets or bit numbers to which the steps refer */
    uint64_t key;
    struct emu_bytes control, schedule, regs, local;
    struct emu_cycle_step *step;
    size_t count, capacity;
    uint32_t *offset;
    size_t offset_count, offset_capacity;
};

/** States what determines which split of the warp runs next. OWN: the warp's state determines the split. ANY: the order of splits
 *  is not known, but each split runs. CHOSEN: a debugger or a log chooses, so that some splits may never run. */
enum emu_order { EMU_ORDER_OWN, EMU_ORDER_ANY, EMU_ORDER_CHOSEN };

enum emu_cycle_result { EMU_CYCLE_MORE, EMU_CYCLE_PROVED, EMU_CYCLE_GIVEN_UP };

/**
 * Called after each step of warp @w, before the warp executes the next step. Adds the step to T, and tries a proof if the warp is
 * in the same state as at the start of T.
 * @most      number of observed steps after which the function gives up
 * @waits_at  set if the result is EMU_CYCLE_PROVED: CTA barriers at which lanes of @w waited during all of T
 */
enum emu_cycle_result emu_cycle_see(struct emu_cycle *c, const struct emu_warp *w,
                                    const struct emu_event *ev, uint64_t most, enum emu_order order,
                                    uint32_t *waits_at);
void emu_cycle_fini(struct emu_cycle *c);
void emu_cycle_save(const struct emu_cycle *c, struct emu_bytes *out);
/** Loads a saved record. Returns false if the record is damaged, or if memory is short; emu_cycle_fini() may be called in either
 *  case. */
bool emu_cycle_load(struct emu_cycle *c, struct emu_reader *in);

#endif
