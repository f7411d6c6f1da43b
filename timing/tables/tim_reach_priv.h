/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicted accesses of blocks and warps, computed from the address slices of their kernels: for a block, a rectangle of
 * cache lines in each array; for a warp, an access vector. The data for these predictions is stored for each launch while the
 * launch runs. Source: specification of address pre-computation, sections 5 and 7.1.
 *
 *   array of 16 x 16 lines, divided into 2^4 regions; region 11 has the lines 12..15 of the rows 8..11:
 *
 *     0   1   2   3
 *     4   5   6   7
 *     8   9  10  11
 *    12  13  14  15
 *
 *   region 11 and its 4 parts; the access vector of a warp has one bit per part, the highest bit for the upper left part:
 *
 *     +--+--+
 *     | 1| 0|   the warp accesses line 12 of row 8, and line 15 of row 11: bits 1001
 *     +--+--+
 *     | 0| 1|
 *     +--+--+
 */
#ifndef TIM_REACH_PRIV_H
#define TIM_REACH_PRIV_H

#include "timing/tim_priv.h"

enum { TIM_REACH_ARRAYS = EMU_PREDICT_ARRAYS, TIM_REACH_LINES = 512 };

/** Division of the cache lines of an array into regions, and of each region into parts. Widths count lines, heights count array
 *  rows. */
struct tim_reach_shape {
    uint32_t width, height;         /* size of the array */
    uint32_t columns;               /* number of regions in the width of the array */
    uint32_t region_w, region_h;    /* size of a region */
    uint32_t parts_x, part_w, part_h; /* number of parts in the width of a region; size of a part */
    unsigned bits;                  /* number of bits of a region number */
    unsigned parts;                 /* number of parts of a region */
};
/** Divides an array into regions. @bits: maximum number of bits of a region number; @parts: number of parts of a region,
 *  1, 4, 16 or 64. */
void tim_reach_divide(struct tim_reach_shape *shape, uint32_t width, uint32_t height, unsigned bits, unsigned parts);
/** Returns the number of the region that contains line (@x, @y). */
uint32_t tim_reach_region(const struct tim_reach_shape *shape, uint32_t x, uint32_t y);
/** Returns a bit mask of the parts of region @region in which only the part that contains line (@x, @y) is set, or 0 if the
 *  line is not in the region. */
uint64_t tim_reach_part(const struct tim_reach_shape *shape, uint32_t region, uint32_t x, uint32_t y);

/** A warp's access vector: for each array the region of the warp's block, and the parts of this region that the warp
 *  accesses. */
struct tim_reach_vector {
    uint32_t launch; /* sequence number of the warp's launch */
    unsigned arrays;
    uint32_t region[TIM_REACH_ARRAYS];
    uint64_t parts[TIM_REACH_ARRAYS];
    /* The lines that the warp accesses, sorted by array, array row and column; lines after the first TIM_REACH_LINES are
     * omitted. */
    unsigned lines;
    uint64_t line[TIM_REACH_LINES];
};
/** Returns the locality of two warps: the number of parts or, if @exact, of lines that both access. The locality of warps of
 *  different launches is 0. */
unsigned tim_reach_common(const struct tim_reach_vector *a, const struct tim_reach_vector *b, bool exact);

struct tim_reach;
struct tim_reach_launch;
/** Creates the state for the launches of an engine. @gpu: counters by TIM_GPU_... Returns NULL if memory is short. */
struct tim_reach *tim_reach_create(const struct tim_config *config, const struct emu_machine *machine, uint64_t *gpu);
void tim_reach_destroy(struct tim_reach *reach);
/** Returns whether the model uses the predictions: block scheduler la_b, mechanism la_w or mechanism shares does. */
static inline bool tim_reach_is_used(const struct tim_config *config)
{
    return config->kernels_policy == TIM_BLOCKS_LA_B || config->la_w_on || config->shares_on;
}
/** Adds a launch. Errors: LW_ENOMEM. */
enum lw_status tim_reach_add(struct tim_reach *reach, const struct emu_grid *grid, struct lw_error *err) LW_MUST_CHECK;
/** Removes a launch that has ended. */
void tim_reach_forget(struct tim_reach *reach, const struct emu_grid *grid);
/** Returns the data of a launch, or NULL if no access of its kernel has a slice. */
const struct tim_reach_launch *tim_reach_of(const struct tim_reach *reach, const struct emu_grid *grid);
/** Returns the number of arrays of a launch. */
unsigned tim_reach_arrays(const struct tim_reach_launch *launch);
/** Stores to @out, which has TIM_REACH_ARRAYS elements, the rectangle of lines that block @linear accesses in each array. */
void tim_reach_block(const struct tim_reach_launch *launch, uint64_t linear, struct emu_rect *out);
/** Returns the number of lines that both blocks access, over @arrays arrays. */
static inline uint64_t tim_reach_overlap(const struct emu_rect *a, const struct emu_rect *b, unsigned arrays)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < arrays; i++)
        if (a[i].x < b[i].x + (uint64_t)b[i].w && b[i].x < a[i].x + (uint64_t)a[i].w) /* quick overlap test, usually false,
                                                                                       * which avoids most calls */
            sum += emu_rect_overlap(&a[i], &b[i]);
    return sum;
}
/** Gets the access vector of warp @warp of block @linear. */
void tim_reach_warp(const struct tim_reach_launch *launch, uint64_t linear, unsigned warp, struct tim_reach_vector *out);
/** Prints how many accesses of the kernel of @grid have an address slice, and why the other accesses have none. */
void tim_reach_print(const struct tim_reach *reach, const struct emu_grid *grid, struct lw_sink *out);
/** Prints the hardware cost of the predictions twice: as the specification computes it, and for coordinates of full size. */
void tim_reach_cost(const struct tim_config *config, struct lw_sink *out);

#endif
