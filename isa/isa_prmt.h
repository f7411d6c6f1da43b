/* SPDX-License-Identifier: Apache-2.0 */
/* The byte permutation prmt, for the interpreter, native code and the check for uninitialised values. Source: PTX manual,
 * section "prmt". */
#ifndef ISA_PRMT_H
#define ISA_PRMT_H

#include "isa/isa.h"

/** Determines byte @i of the result of prmt in mode @mode (ISA_PRMT_IDX, ...). Returns the number, 0 to 7, of the byte of {c, a}
 *  that prmt selects. Bit 3 is set if the result's byte is filled with the sign of the selected byte. */
static inline unsigned isa_prmt_pick(unsigned mode, uint32_t selector, unsigned i)
{
    const unsigned k = selector & 3;

    switch (mode) {
    case ISA_PRMT_F4E: return k + i;
    case ISA_PRMT_B4E: return (k + 8 - i) & 7;
    case ISA_PRMT_RC8: return k;
    case ISA_PRMT_ECL: return i > k ? i : k;
    case ISA_PRMT_ECR: return i < k ? i : k;
    case ISA_PRMT_RC16: return (k & 1) * 2 + (i & 1);
    default: return selector >> (4 * i) & 15;
    }
}
/** Returns the result of prmt. */
static inline uint32_t isa_prmt(uint32_t a, uint32_t c, uint32_t selector, unsigned mode)
{
    const uint64_t bytes = (uint64_t)c << 32 | a;
    uint32_t result = 0;

    for (unsigned i = 0; i < 4; i++) {
        const unsigned pick = isa_prmt_pick(mode, selector, i);
        uint32_t byte = (uint32_t)(bytes >> (8 * (pick & 7))) & 255;

        if (pick & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

#endif
