/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at blocks that have made no progress for long: an observer that the engine adds for a while. It
 * proves of each warp that runs that it goes round for ever (emu_cycle_priv.h), or gives up; then it
 * notes what the block's warps read again and again, so that the verdict can name the places in memory.
 * Nothing is paid before.
 */
#ifndef EMU_SPIN_OBSERVER_PRIV_H
#define EMU_SPIN_OBSERVER_PRIV_H

#include "emu/inspect/emu_cycle_priv.h"

/** Accesses of one instruction by one warp. */
struct emu_poll {
    uint32_t grid;             /* sequence */
    uint64_t block, pc;
    unsigned warp;
    uint64_t lanes;            /* that executed it */
    uint64_t moved, changed;   /* lanes whose address, or what they found there, was not always the same */
    uint64_t again;            /* lanes that executed it more than once */
    uint8_t kind, bytes;       /* of struct emu_access (enum emu_access_kind) */
    bool ordered;              /* an atomic, or volatile, relaxed or acquire */
    uint64_t address[EMU_MAX_LANES];
    uint8_t value[EMU_MAX_LANES][16];
};

enum { EMU_SPIN_OBSERVER_BLOCKS = 16 };
struct emu_spin_observer {
    struct emu_observer observer;
    uint64_t serial;           /* of the machine's looks: what is proved holds in the one with this number */
    uint64_t most;             /* steps of a warp that are seen before it is given up */
    uint8_t order;             /* enum emu_order */
    bool failed;               /* a warp was given up: there is no verdict this time */
    struct emu_cycle *cycle;   /* of warps, those that are proved included */
    size_t cycle_count, cycle_capacity;
    bool attached;             /* the block that runs is observed */
    uint64_t progress;         /* of all resident blocks when it began */
    uint64_t gone;             /* blocks that had ended then */
    struct {
        uint32_t grid;
        uint64_t linear;
        uint64_t left;         /* instructions still to see */
    } block[EMU_SPIN_OBSERVER_BLOCKS];
    unsigned block_count;
    struct emu_poll *poll;
    size_t count, capacity;
    bool incomplete;           /* no memory for some access */
};

/** A look by an engine whose warps' splits run as emu_split_select() says; NULL: no memory. */
struct emu_spin_observer *emu_spin_observer_begin(struct emu_machine *machine, unsigned tries);
/** Can no warp of @block get anywhere, by what was proved? */
bool emu_spin_observer_has_proof(const struct emu_spin_observer *probe, struct emu_block *block);
/** Is @w, which goes next, to be seen? One of a block at a time is, as long as it can run. */
bool emu_spin_observer_wants(const struct emu_spin_observer *probe, const struct emu_warp *w);
/** Has @block been seen for long enough? One that is new is noted, if there is room. */
bool emu_spin_observer_saw_reads(struct emu_spin_observer *probe, const struct emu_block *block);
/** The same without noting it. */
bool emu_spin_observer_has_block(const struct emu_spin_observer *probe, const struct emu_block *block);
/** Something that some lane stored, if only what was there, overlaps what @poll reads in lane @lane, or may come
 *  there. Atomics that changed nothing are reads. */
bool emu_spin_observer_is_written(const struct emu_spin_observer *probe, const struct emu_poll *poll, unsigned lane);

struct emu_hang_cause {
    bool livelock; /* it runs, and no thread will ever make progress; else nothing can run */
    bool alone;    /* no other block matters */
    const struct emu_spin_observer *probe; /* the look that proved it, or NULL */
};
/** Explain why a block makes no progress. */
void emu_block_explain(const struct emu_block *block, const struct emu_hang_cause *cause,
                       struct emu_hang *out);
/** Where @lanes of a warp are, as a verdict says it: "lanes 0-3 (at pc 0x100000040 (k.cl:7)), lane 4 (...)". */
void emu_hang_report_where(const struct emu_warp *w, uint64_t lanes, char *text, size_t size);

#endif
