/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lane permutation (core.permute): which lane of the units executes lane i of a warp. The registers of a thread are in the
 * registers of that lane. Only the mechanisms that form warps or pairs of instructions, and cycle compression, depend on the
 * lanes of the units. Source: specification of the book on GPU architectures, section 11.1.5.
 *
 *   warps of 4 lanes; the lanes of the units that take a branch with lanes 0 and 2 of each warp:
 *
 *                    warp 0    warp 1    warp 2    warp 3
 *     none           x . x .   x . x .   x . x .   x . x .
 *     xor            x . x .   . x . x   x . x .   . x . x
 *     mirror         x . x .   . x . x   x . x .   . x . x
 *     reverse        x . x .   x . x .   . x . x   . x . x
 *     rotate         x . x .   . x . x   x . x .   . x . x
 */
#ifndef TIM_PERMUTE_PRIV_H
#define TIM_PERMUTE_PRIV_H

#include "base/lw.h"
#include "timing/tim_priv.h"

/** Returns the set of lanes i xor @with, for each lane i of @lanes. */
static inline uint64_t tim_lanes_xor(uint64_t lanes, unsigned with)
{
    static const uint64_t low[] = {UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333), UINT64_C(0x0f0f0f0f0f0f0f0f),
                                   UINT64_C(0x00ff00ff00ff00ff), UINT64_C(0x0000ffff0000ffff), UINT64_C(0x00000000ffffffff)};

    for (LW_EACH_BIT(k, (uint64_t)with)) /* one bit of i at a time */
        lanes = (lanes & low[k]) << (1u << k) | (lanes >> (1u << k) & low[k]);
    return lanes;
}

/** Returns the set of lanes i + @by modulo @width, for each lane i of @lanes. @by: less than @width. */
static inline uint64_t tim_lanes_rotated(uint64_t lanes, unsigned width, unsigned by)
{
    return by == 0 ? lanes : (lanes << by | lanes >> (width - by)) & lw_mask(width);
}

/** Returns the lanes of the units that execute @lanes of the warp in slot @warp or, if @back, the lanes of the warp that the
 *  units execute on @lanes. */
static inline uint64_t tim_permuted_lanes(const struct tim_config *config, unsigned warp, uint64_t lanes, bool back)
{
    const unsigned width = config->core_warp_width, number = warp / config->issue_schedulers, place = number % width;
    unsigned reversed = 0;

    switch (config->core_permute) {
    case TIM_PERMUTE_XOR:
        return tim_lanes_xor(lanes, place);
    case TIM_PERMUTE_MIRROR:
        return tim_lanes_xor(lanes, number % 2 != 0 ? width - 1 : 0);
    case TIM_PERMUTE_REVERSE:
        for (unsigned bit = 1; bit < width; bit *= 2)
            reversed = reversed << 1 | ((place & bit) != 0);
        return tim_lanes_xor(lanes, reversed);
    case TIM_PERMUTE_ROTATE:
        return tim_lanes_rotated(lanes, width, back ? (width - place) % width : place);
    default:
        return lanes;
    }
}

/** Returns the lane of the units that executes lane @lane of the warp in slot @warp. */
static inline unsigned tim_permuted_lane(const struct tim_config *config, unsigned warp, unsigned lane)
{
    return config->core_permute == TIM_PERMUTE_NONE ? lane : lw_lowest(tim_permuted_lanes(config, warp, UINT64_C(1) << lane, false));
}

#endif
