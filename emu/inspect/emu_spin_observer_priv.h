/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spin observer: observes blocks that have made no progress for a long time. The engine attaches the observer to blocks for a
 * limited number of instructions. For each warp that runs, the observer proves that the warp loops for ever (emu_cycle_priv.h),
 * or gives up. When all warps of a block are proved, it records which locations they read repeatedly, for the hang report.
 * Execution without an observer takes no additional time.
 */
#ifndef EMU_SPIN_OBSERVER_PRIV_H
#define EMU_SPIN_OBSERVER_PRIV_H

#include "emu/inspect/emu_cycle_priv.h"

/** The memory accesses that one warp made by one instruction while the warp was observed. */
struct emu_poll {
    uint32_t grid;             /* sequence number */
    uint64_t block, pc;
    unsigned warp;
    uint64_t lanes;            /* lanes that executed the instruction */
    uint64_t moved, changed;   /* moved: lanes that accessed more than one address; changed: lanes for which the value at
                                * the address was not always the same */
    uint64_t again;            /* lanes that executed the instruction at least twice */
    uint8_t kind, bytes;       /* kind (enum emu_access_kind) and bytes of struct emu_access */
    bool ordered;              /* the access is atomic, volatile, relaxed or acquire */
    uint64_t address[EMU_MAX_LANES];
    uint8_t value[EMU_MAX_LANES][16];
};

enum { EMU_SPIN_OBSERVER_BLOCKS = 16 };
struct emu_spin_observer {
    struct emu_observer observer;
    uint64_t serial;           /* number of this observation; a proof about a warp is valid if emu_warp.look is this number */
    uint64_t most;             /* number of observed steps after which the observer gives up on a warp */
    uint8_t order;             /* enum emu_order */
    bool failed;               /* the observer has given up on a warp, so this observation proves nothing */
    struct emu_cycle *cycle;   /* records of the observed warps, also of those that are already proved to loop for ever */
    size_t cycle_count, cycle_capacity;
    bool attached;             /* the observer is attached to the running block */
    uint64_t progress;         /* sum of the resident blocks' progress counts at the start of the observation */
    uint64_t gone;             /* number of blocks that had ended at the start of the observation */
    struct {
        uint32_t grid;
        uint64_t linear;
        uint64_t left;         /* number of the block's instructions still to observe */
    } block[EMU_SPIN_OBSERVER_BLOCKS];
    unsigned block_count;
    struct emu_poll *poll;
    size_t count, capacity;
    bool incomplete;           /* an access was not recorded for lack of memory */
};

/** Starts an observation for an engine that lets emu_split_select() select the split of a warp. After @tries observations
 *  without a proof, warps are observed for longer. Returns NULL if memory is short. */
struct emu_spin_observer *emu_spin_observer_begin(struct emu_machine *machine, unsigned tries);
/** Returns true if the proofs show that no warp of @block can make progress. */
bool emu_spin_observer_has_proof(const struct emu_spin_observer *probe, struct emu_block *block);
/** Returns true if @w, which runs next, must be observed. To find proofs, warps of a block are observed one after another: the
 *  observer begins with the next warp only when the last one is proved to loop for ever or can no longer run. When all warps are
 *  proved, all are observed. */
bool emu_spin_observer_wants(const struct emu_spin_observer *probe, const struct emu_warp *w);
/** Returns true if the reads of @block have been observed for long enough. If @block is not in probe->block[] yet, adds it; if
 *  probe->block[] is full, returns true without observing the reads. */
bool emu_spin_observer_saw_reads(struct emu_spin_observer *probe, const struct emu_block *block);
/** Returns true if @block is in probe->block[] and its reads were observed for long enough. */
bool emu_spin_observer_has_block(const struct emu_spin_observer *probe, const struct emu_block *block);
/** Returns true if a store of some lane, even of an unchanged value, overlaps, or may overlap, the bytes that @poll reads in lane
 *  @lane. Atomics that changed no byte count as reads. */
bool emu_spin_observer_is_written(const struct emu_spin_observer *probe, const struct emu_poll *poll, unsigned lane);

struct emu_hang_cause {
    bool livelock; /* true: the block runs and no thread will ever make progress; false: nothing can run */
    bool alone;    /* no other block can let this block continue, so the report is about this block only */
    const struct emu_spin_observer *probe; /* spin observation that proved the hang, or NULL */
};
/** Explains in @out why a block makes no progress. */
void emu_block_explain(const struct emu_block *block, const struct emu_hang_cause *cause,
                       struct emu_hang *out);
/** Formats the positions of @lanes of a warp in the form of hang reports: "lanes 0-3 (at pc 0x100000040 (k.cl:7)), lane
 *  4 (...)". */
void emu_hang_report_where(const struct emu_warp *w, uint64_t lanes, char *text, size_t size);

#endif
