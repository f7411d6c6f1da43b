/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a run. */
#ifndef EMU_STATS_H
#define EMU_STATS_H

#include "emu/emu_machine.h"

/** Counts of the tags (docs/explanation/uniform-affine.md), indexed by enum emu_tag_kind. Shadow mode counts what
 *  tags say. Compact mode counts only what it did: expansions, lanes_saved, rows. */
struct emu_tag_stats {
    /* Instructions on vector registers, by their sources: all U; all U or A; others. */
    uint64_t instructions[3];
    uint64_t reads[3], writes[3]; /* vector registers, by tag (writes: after them) */
    uint64_t addresses[3];        /* of memory instructions */
    uint64_t expansions;
    /* Shadow: registers written, by the leading bytes in which the lanes agree (docs/explanation/uniform-affine.md);
     * banks that base and deltas of them take, and that lane vectors take. */
    uint64_t common[5], delta_banks, row_banks;
    /* Of thread_instructions, those that need no lane of their own: all but 1 where the result
     * (of a compare: its sources) is U, all but 2 where it is A. */
    uint64_t lanes_saved;
    uint64_t rows_made, row_lanes; /* compact: lane vectors materialised from tags, and their lanes */
    uint64_t mismatches;          /* shadow: lane vectors that differ from their tag. An internal error */
};
struct emu_stats {
    struct emu_tag_stats tags;
    uint64_t warp_instructions, thread_instructions;
    uint64_t blocks, warps, grids;
    uint64_t divergences, reconvergences, merges, cta_barriers;
    uint64_t loads, stores, atomics;
    uint64_t stack_pops, stack_depth; /* `stack`: entries popped, most entries of any warp */
    uint64_t threads; /* host threads: the most that a grid ran on */
};
/** Lane operations that were executed: thread_instructions less what tags saved, and the lane
 *  vectors that were materialised from tags. */
static inline uint64_t emu_lane_operations(const struct emu_stats *stats)
{
    return stats->thread_instructions - stats->tags.lanes_saved + stats->tags.row_lanes;
}
/** Shares and counts of the tags in words: one line, no newline. */
void emu_tag_stats_print(const struct emu_stats *stats, struct lw_sink *out);
/** Sum over the machine's cores. thread_instructions counts M's lanes. */
void emu_stats_get(const struct emu_machine *machine, struct emu_stats *out);
/** The counts by name, those of the tags left out. */
struct emu_stat_row {
    const char *name;
    size_t offset; /* of a uint64_t in struct emu_stats */
};
extern const struct emu_stat_row emu_stat_rows[];
extern const size_t emu_stat_row_count;

#endif
