/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a run. */
#ifndef EMU_STATS_H
#define EMU_STATS_H

#include "emu/emu_machine.h"

/** Counts about tags (docs/explanation/uniform-affine.md). Arrays of three elements are indexed by enum emu_tag_kind. Shadow mode
 *  counts all members except those for compact mode. Compact mode counts only expansions, lanes_saved, rows_made and
 *  row_lanes. */
struct emu_tag_stats {
    /* Instructions on vector registers, counted by the tags of their source registers: [0] all sources are U, [1] all sources are
     * U or A and at least one is A, [2] at least one source is V. */
    uint64_t instructions[3];
    uint64_t reads[3], writes[3]; /* accesses to vector registers, counted by the register's tag; writes: the tag after the
                                   * write */
    uint64_t addresses[3];        /* addresses of memory instructions, counted by the tag of the address */
    uint64_t expansions;
    /* Shadow mode (docs/reference/statistics.md). common: number of register writes, by the number of leading bytes that are
     * equal in all lanes. delta_banks: number of register banks that the written values need if each is stored as a base and
     * deltas. row_banks: number of register banks that they need if each is stored as a register row. */
    uint64_t common[5], delta_banks, row_banks;
    /* Number of thread instructions that tags make unnecessary: for each instruction, the number of its lanes minus one if the
     * result is U, and minus two if it is A. For a compare, the tags of its sources count instead of the tag of the result. */
    uint64_t lanes_saved;
    uint64_t rows_made, row_lanes; /* compact mode: number of register rows materialised from tags (rows_made), and their lanes
                                    * (row_lanes) */
    uint64_t mismatches; /* shadow mode: number of register rows that differed from their tag, which is an internal error */
};
struct emu_stats {
    struct emu_tag_stats tags;
    uint64_t warp_instructions, thread_instructions;
    uint64_t blocks, warps, grids;
    uint64_t divergences, reconvergences, merges, cta_barriers;
    uint64_t loads, stores, atomics;
    uint64_t stack_pops, stack_depth; /* reconvergence engines with a stack or table: number of entries popped; largest number
                                       * of entries that a warp had */
    uint64_t threads; /* largest number of host threads that a grid ran on */
};
/** Returns the number of executed lane operations: thread_instructions minus the lane operations that tags saved, plus the lanes
 *  of vectors that were materialised from tags. */
static inline uint64_t emu_lane_operations(const struct emu_stats *stats)
{
    return stats->thread_instructions - stats->tags.lanes_saved + stats->tags.row_lanes;
}
/** Prints shares and counts of the tags as text: one line, no newline. */
void emu_tag_stats_print(const struct emu_stats *stats, struct lw_sink *out);
/** Sums the statistics of the machine's cores. thread_instructions counts the lanes of each split. */
void emu_stats_get(const struct emu_machine *machine, struct emu_stats *out);
/** Name of a count, and its offset in struct emu_stats. Counts in emu_tag_stats have no row. */
struct emu_stat_row {
    const char *name;
    size_t offset; /* offset of a member of type uint64_t */
};
extern const struct emu_stat_row emu_stat_rows[];
extern const size_t emu_stat_row_count;

#endif
