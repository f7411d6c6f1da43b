/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs that a warp loops for ever, from observed steps (docs/explanation/decisions.md).
 *
 * Between two moments the warp executed the steps T and is in the same state: the same splits at the same pcs in the
 * same states. R is the state that controls it: all registers and bytes of local memory on which control flow,
 * addresses and stored values of T depend, and the values on which those depend in the preceding iteration. If R has
 * the same contents at both moments, the warp executes T again and returns with the same R: it loops for ever, as long
 * as shared and global memory do not change. State outside R may change, for example an iteration counter. R is a set
 * of bits. The low bits of a sum depend only on the low bits of its terms. Two values differ as long as one bit of them
 * does, whatever the values of the other bits are; so a loop that counts by two to an odd number is proved to miss it.
 * T has no effect that other warps could see: the engine discards the proof when a byte of memory changes or a lane
 * exits.
 *
 * Waiting (barriers, sleep, slices of other warps) delays lanes, but does not change their instructions and results.
 * Where the order of splits can be observed, the scheduling state must be the same as well.
 */
#ifndef EMU_CYCLE_PRIV_H
#define EMU_CYCLE_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_machine_priv.h"

/** One step of the cycle T that a warp repeats. */
struct emu_cycle_step {
    uint64_t lanes, effective; /* split mask, and split mask & exec & guard */
    uint64_t local;            /* lanes that accessed local memory */
    uint32_t index;            /* index of the instruction */
    /* offset that all lanes of `local` have in common; if `apart` is set, index in offset[] of the lanes' offsets */
    uint32_t offset;
    uint8_t bytes;             /* bytes of each lane's access */
    bool apart;
    bool decided;              /* the step is a comparison for (in)equality whose values differ: `offset` is the bit in
                                * which the compared values differ (64: none), or with `apart` an index in offset[] */
    bool retired;              /* the instruction was executed; false: lanes only started to wait */
};

/** A position at which R differed; R differs as long as one such position does. */
struct emu_cycle_slot {
    uint8_t kind; /* class of the location; 0: none, 1 + enum isa_reg_class, 16: local memory */
    uint8_t lane;
    uint32_t number, mask; /* register or offset, and the bits that differ */
};

enum { EMU_CYCLE_SLOTS = 32 };
struct emu_cycle {
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    bool over;              /* proved: no more steps are recorded */
    uint64_t steps;         /* total number of steps observed */
    uint64_t segment;       /* if T reaches this length without a proof, T starts anew at a later step */
    uint64_t next;          /* the warp's instruction count at the next step */
    uint64_t next_try;      /* shortest T that is analysed */
    uint64_t walked;        /* total number of steps analysed backwards */
    uint64_t ran;           /* lanes that executed steps of T */
    uint32_t arrives;       /* CTA barriers at which T arrives */
    bool waits;             /* T sleeps or waits for other warps */
    struct emu_cycle_slot differs[EMU_CYCLE_SLOTS]; /* ring buffer */
    unsigned differ_count;  /* total number recorded */
    /* state at the start of T */
    uint64_t key;
    struct emu_bytes control, schedule, regs, local;
    struct emu_cycle_step *step;
    size_t count, capacity;
    uint32_t *offset;
    size_t offset_count, offset_capacity;
};

/** The state that determines which split runs next. OWN: the warp's own state decides. ANY: the splits run in any
 *  order, but all of them run. CHOSEN: a debugger or a log decides, and may omit splits. */
enum emu_order { EMU_ORDER_OWN, EMU_ORDER_ANY, EMU_ORDER_CHOSEN };

enum emu_cycle_result { EMU_CYCLE_MORE, EMU_CYCLE_PROVED, EMU_CYCLE_GIVEN_UP };

/**
 * Observes a step of the cycle's warp, immediately after it.
 * @most      limit of steps to observe
 * @waits_at  set when proved: CTA barriers at which lanes waited all the time
 */
enum emu_cycle_result emu_cycle_see(struct emu_cycle *c, const struct emu_warp *w,
                                    const struct emu_event *ev, uint64_t most, enum emu_order order,
                                    uint32_t *waits_at);
void emu_cycle_fini(struct emu_cycle *c);
void emu_cycle_save(const struct emu_cycle *c, struct emu_bytes *out);
/** Loads a saved record. Returns false if the record is damaged, or if memory is short; @c can be ended in either case. */
bool emu_cycle_load(struct emu_cycle *c, struct emu_reader *in);

#endif
