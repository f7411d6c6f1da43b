/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what hardware would find out about a register if it inspected values when they are written: how many leading bytes of
 * the values are equal in all lanes, how much the values differ, and how many bytes the values take if stored as a base and
 * deltas. Source: the schemes in docs/reference/statistics.md, "Counts of tags".
 */
#ifndef EMU_TAG_MEASURE_PRIV_H
#define EMU_TAG_MEASURE_PRIV_H

#include "base/lw.h"

enum { EMU_BANK_BYTES = 16 };

struct emu_detected {
    uint8_t common;  /* number of leading bytes that are equal in all lanes, 0 to 4; 4: the register is uniform */
    uint8_t similar; /* number of leading bits in which every lane equals the first lane, 0 to 32 */
    uint8_t delta;   /* number of bytes of the greatest signed difference of a lane from the first lane: 0, 1, 2 or 4 */
    uint16_t bytes;  /* number of bytes of the register if it is stored as a base and deltas */
    uint8_t banks;   /* number of register banks that `bytes` bytes take */
};
/**
 * Measures a register.
 * @row    its register row
 * @lanes  lanes to compare, at least one; the values of other lanes are ignored
 * @width  number of lanes for which the compressed register must have space
 */
void emu_detect(const uint32_t *row, uint64_t lanes, unsigned width, struct emu_detected *out);

#endif
