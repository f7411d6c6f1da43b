/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intra-warp cycle compression: an instruction of a warp that is wider than its pipe occupies the pipe for fewer cycles if
 * lanes are inactive. Source: specification of the book on GPU architectures, section 11.1.6.
 *
 *   cycles of an instruction, with 16 lanes a cycle and warp width 32:
 *
 *                                     basic    swizzled
 *     active lanes 0x0000ffff            1         1
 *     active lanes 0x55555555            2         1
 *     active lanes 0x0001ffff            2         2
 */
#ifndef TIM_COMPRESS_PRIV_H
#define TIM_COMPRESS_PRIV_H

#include "base/lw.h"
#include "timing/tim_priv.h"

/** Returns the number of cycles, at least 1, that a pipe which starts @lanes lanes per cycle needs to start an instruction
 *  for the lanes @active of a warp of @width lanes. @mode: TIM_COMPRESS_NONE, TIM_COMPRESS_BASIC ... */
static inline unsigned tim_compressed_cycles(unsigned mode, uint64_t active, unsigned width, unsigned lanes)
{
    unsigned cycles = 0;

    if (mode == TIM_COMPRESS_NONE || lanes >= width)
        return (width + lanes - 1) / lanes;
    if (mode == TIM_COMPRESS_SWIZZLED)
        cycles = (lw_popcount(active) + lanes - 1) / lanes;
    else
        for (unsigned first = 0; first < width; first += lanes)
            cycles += (active >> first & lw_mask(lanes)) != 0;
    return cycles != 0 ? cycles : 1;
}

#endif
