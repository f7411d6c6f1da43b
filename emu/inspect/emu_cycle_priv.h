/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a warp go round for ever? A proof from what was seen of it (docs/explanation/decisions.md):
 *
 * Between two moments the warp executed the steps T and is in the same state: the same splits at the
 * same pcs in the same states. R is what steers it: all registers and bytes of local memory that
 * flow, addresses and stored values of T depend on, and what those depend on in the round before. If
 * R has the same contents at both moments, the warp executes T again, and is there again with the same R:
 * it goes round for ever, as long as shared and global memory stay as they are. What is not in R
 * may change as it likes, a counter of rounds for one. R is made of bits: the low bits of a sum need those of its
 * terms only, and two values differ whatever becomes of the others as long as one bit of them does: so a loop that
 * counts by two to an odd number is proved to miss it. T has no effect that others could see: the
 * engine throws the proof away when a byte of memory changes or a lane exits.
 *
 * Waiting (barriers, sleep, the turns of other warps) delays lanes and changes nothing of what they do;
 * where the order of splits can be observed, the scheduling state must be the same as well.
 */
#ifndef EMU_CYCLE_PRIV_H
#define EMU_CYCLE_PRIV_H

#include "emu/bytes/emu_bytes_priv.h"
#include "emu/emu_machine_priv.h"

/** One step of T. */
struct emu_cycle_step {
    uint64_t lanes, effective; /* M, and M & exec & guard */
    uint64_t local;            /* lanes that accessed local memory */
    uint32_t index;            /* of the instruction */
    uint32_t offset;           /* of all of `local`; with `apart` where theirs are in offset[] */
    uint8_t bytes;             /* of the access, a lane */
    bool apart;
    bool decided;              /* an (un)equal compare: offset says by which bit, 64: by all (as for `local`) */
    bool retired;              /* else lanes only started to wait */
};

/** Where R was found to differ: it does as long as one of these does. */
struct emu_cycle_slot {
    uint8_t kind; /* 0: none, 1 + enum isa_reg_class, 16: local memory */
    uint8_t lane;
    uint32_t number, mask; /* and the bits of it */
};

enum { EMU_CYCLE_SLOTS = 32 };
struct emu_cycle {
    uint32_t grid;
    uint64_t block;
    unsigned warp;
    bool over;              /* proved: no more is kept of it */
    uint64_t steps;         /* seen in all */
    uint64_t segment;       /* length of T at which its start moves on */
    uint64_t next;          /* the warp's count of instructions at the next step */
    uint64_t next_try;      /* shortest T that is looked at thoroughly */
    uint64_t walked;        /* steps gone back over in all */
    uint64_t ran;           /* lanes of steps in T */
    uint32_t arrives;       /* CTA barriers that T arrives at */
    bool waits;             /* T sleeps or waits for other warps */
    struct emu_cycle_slot differs[EMU_CYCLE_SLOTS]; /* a ring of the last */
    unsigned differ_count;  /* noted in all */
    /* at the start of T */
    uint64_t key;
    struct emu_bytes control, schedule, regs, local;
    struct emu_cycle_step *step;
    size_t count, capacity;
    uint32_t *offset;
    size_t offset_count, offset_capacity;
};

/** Which splits of a warp run: as the warp's own state says; in any order, but all of them; as somebody
 *  chooses who leaves some out. */
enum emu_order { EMU_ORDER_OWN, EMU_ORDER_ANY, EMU_ORDER_CHOSEN };

enum emu_cycle_result { EMU_CYCLE_MORE, EMU_CYCLE_PROVED, EMU_CYCLE_GIVEN_UP };

/**
 * A step of the cycle's warp, seen right after it.
 *
 * @most      steps after which nothing more is hoped for
 * @waits_at  when proved: CTA barriers at which lanes waited all the time
 */
enum emu_cycle_result emu_cycle_see(struct emu_cycle *c, const struct emu_warp *w,
                                    const struct emu_event *ev, uint64_t most, enum emu_order order,
                                    uint32_t *waits_at);
void emu_cycle_fini(struct emu_cycle *c);
void emu_cycle_save(const struct emu_cycle *c, struct emu_bytes *out);
/** False: damaged, or no memory; @c can be ended. */
bool emu_cycle_load(struct emu_cycle *c, struct emu_reader *in);

#endif
