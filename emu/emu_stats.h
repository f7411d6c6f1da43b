/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a run. */
#ifndef EMU_STATS_H
#define EMU_STATS_H

#include "emu/emu_machine.h"

/** Counts of the tags (docs/explanation/uniform-affine.md), indexed by enum emu_tag_kind. Shadow mode counts the values
 *  that the tags describe. Compact mode counts only its own operations: expansions, lanes_saved, rows. */
struct emu_tag_stats {
    /* Instructions on vector registers, by the tags of their sources: [0] all sources are U, [1] all sources are U or
     * A, [2] at least one source is V. */
    uint64_t instructions[3];
    uint64_t reads[3], writes[3]; /* accesses to vector registers, by tag (writes: the tag after them) */
    uint64_t addresses[3];        /* addresses of memory instructions, by tag */
    uint64_t expansions;
    /* Shadow mode: registers written, by the number of leading bytes in which the lanes agree
     * (docs/explanation/uniform-affine.md); register banks that their bases and deltas take, and that lane
     * vectors take. */
    uint64_t common[5], delta_banks, row_banks;
    /* Lane instructions, of thread_instructions, that tags make unnecessary: all except 1 if the result (for a compare,
     * its sources) is U, all except 2 if the result is A. */
    uint64_t lanes_saved;
    uint64_t rows_made, row_lanes; /* compact mode: lane vectors materialised from tags, and their lanes */
    uint64_t mismatches;          /* shadow mode: lane vectors that differ from their tag, an internal error */
};
struct emu_stats {
    struct emu_tag_stats tags;
    uint64_t warp_instructions, thread_instructions;
    uint64_t blocks, warps, grids;
    uint64_t divergences, reconvergences, merges, cta_barriers;
    uint64_t loads, stores, atomics;
    uint64_t stack_pops, stack_depth; /* engine `stack`: entries popped; largest number of entries of any warp */
    uint64_t threads; /* largest number of host threads that a grid ran on */
};
/** Returns the number of executed lane operations: thread_instructions minus what tags saved, plus the lanes
 *  of vectors that were materialised from tags. */
static inline uint64_t emu_lane_operations(const struct emu_stats *stats)
{
    return stats->thread_instructions - stats->tags.lanes_saved + stats->tags.row_lanes;
}
/** Prints shares and counts of the tags as text: one line, no newline. */
void emu_tag_stats_print(const struct emu_stats *stats, struct lw_sink *out);
/** Sums the statistics of the machine's cores. thread_instructions counts the lanes of each split. */
void emu_stats_get(const struct emu_machine *machine, struct emu_stats *out);
/** A count and its name; counts of the tags have no row. */
struct emu_stat_row {
    const char *name;
    size_t offset; /* offset of a uint64_t in struct emu_stats */
};
extern const struct emu_stat_row emu_stat_rows[];
extern const size_t emu_stat_row_count;

#endif
