/* SPDX-License-Identifier: Apache-2.0 */
/* What a row's values would allow, and the blocks and passes of affine accesses. */
#include "emu/tags/emu_tag_measure_priv.h"

#include "emu/emu.h"

void emu_detect(const uint32_t *row, uint64_t lanes, unsigned width, struct emu_detected *out)
{
    const uint32_t first = row[lw_lowest(lanes)];
    uint32_t differ = 0, reach = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint32_t delta = row[l] - first;
        differ |= row[l] ^ first;
        reach |= delta >> 31 ? ~delta : delta; /* its magnitude, so that a sign bit is left */
    }
    out->similar = (uint8_t)(differ == 0 ? 32 : __builtin_clz(differ));
    out->common = out->similar / 8;
    out->delta = differ == 0 ? 0 : reach < 0x80 ? 1 : reach < 0x8000 ? 2 : 4;
    out->bytes = (uint16_t)(4 + out->delta * width);
    out->banks = (uint8_t)((out->bytes + EMU_BANK_BYTES - 1) / EMU_BANK_BYTES);
}

/* Adjacent lanes may share a block; addresses go one way, so equal ones are neighbours. */
static unsigned add_block(uint64_t *block, unsigned count, uint64_t at)
{
    for (unsigned i = count; i-- > 0 && i + 2 >= count;)
        if (block[i] == at)
            return count;
    block[count] = at;
    return count + 1;
}

unsigned emu_affine_blocks(uint64_t base, int64_t stride, uint64_t lanes, unsigned bytes,
                           unsigned block_bytes, uint64_t block[2 * EMU_MAX_LANES])
{
    const uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
    unsigned count = 0, gap = 0, first, last;

    if (lanes == 0)
        return 0;
    first = (unsigned)lw_lowest(lanes);
    last = 63 - (unsigned)__builtin_clzll(lanes);
    for (uint64_t left = lanes & (lanes - 1), before = first; left != 0; left &= left - 1) {
        unsigned distance = (unsigned)lw_lowest(left) - (unsigned)before;
        gap = distance > gap ? distance : gap;
        before = (uint64_t)lw_lowest(left);
    }
    if (step <= block_bytes && step * gap <= block_bytes) { /* no block is left out */
        uint64_t a = base + (uint64_t)stride * first, b = base + (uint64_t)stride * last;
        uint64_t low = (stride < 0 ? b : a) / block_bytes;
        uint64_t high = ((stride < 0 ? a : b) + bytes - 1) / block_bytes;
        for (uint64_t at = low; at <= high; at++)
            block[count++] = at;
        return count;
    }
    for (unsigned n = first; n <= last; n++) {
        unsigned l = stride < 0 ? first + last - n : n; /* ascending addresses */
        uint64_t a = base + (uint64_t)stride * l;
        if (!(lanes >> l & 1))
            continue;
        for (uint64_t at = a / block_bytes; at <= (a + bytes - 1) / block_bytes; at++)
            count = add_block(block, count, at);
    }
    return count;
}

unsigned emu_bank_conflict_degree(int64_t words)
{
    uint64_t a = words < 0 ? 0 - (uint64_t)words : (uint64_t)words, b = 32;

    if (a == 0)
        return 1; /* one word, for all lanes */
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (unsigned)a;
}
