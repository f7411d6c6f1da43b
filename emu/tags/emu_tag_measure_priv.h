/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the properties of a register that hardware would find if it inspected values when they are written: the
 * number of bytes that the lanes have in common, the distances of the values, and the size of the values as base and
 * deltas. Source: the schemes of docs/reference/statistics.md, "Counts of tags".
 */
#ifndef EMU_TAG_MEASURE_PRIV_H
#define EMU_TAG_MEASURE_PRIV_H

#include "base/lw.h"

enum { EMU_BANK_BYTES = 16 };

struct emu_detected {
    uint8_t common;  /* leading bytes that are equal in all lanes, 0..4; 4: uniform */
    uint8_t similar; /* leading bits in which no lane differs from the first lane, 0..32 */
    uint8_t delta;   /* bytes of the widest signed difference from the first lane: 0, 1, 2, 4 */
    uint16_t bytes;  /* size as base and deltas */
    uint8_t banks;   /* banks for that size */
};
/**
 * Measures a register.
 * @row    the register
 * @lanes  lanes to compare, at least one; others may have any value
 * @width  lanes for which a compressed register has space
 */
void emu_detect(const uint32_t *row, uint64_t lanes, unsigned width, struct emu_detected *out);

#endif
