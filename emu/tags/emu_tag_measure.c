/* SPDX-License-Identifier: Apache-2.0 */
/* Measures by how much the values of a register could be compressed. */
#include "emu/tags/emu_tag_measure_priv.h"

#include "emu/emu.h"

void emu_detect(const uint32_t *row, uint64_t lanes, unsigned width, struct emu_detected *out)
{
    const uint32_t first = row[lw_lowest(lanes)];
    uint32_t differ = 0, reach = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint32_t delta = row[l] - first;
        differ |= row[l] ^ first;
        reach |= delta >> 31 ? ~delta : delta; /* `reach` collects the bits of the magnitudes; these bits and a sign bit can hold
                                                * every difference */
    }
    out->similar = (uint8_t)(differ == 0 ? 32 : __builtin_clz(differ));
    out->common = out->similar / 8;
    out->delta = differ == 0 ? 0 : reach < 0x80 ? 1 : reach < 0x8000 ? 2 : 4;
    out->bytes = (uint16_t)(4 + out->delta * width);
    out->banks = (uint8_t)((out->bytes + EMU_BANK_BYTES - 1) / EMU_BANK_BYTES);
}
