/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of history/. */
#ifndef EMU_HISTORY_PRIV_H
#define EMU_HISTORY_PRIV_H

#include "emu/bytes/emu_state_priv.h"

/* ---- pages of global memory (emu_snapshot_pages.c), for snapshots and checkpoints ------------------- */

/** Contents of a page at a snapshot; data NULL: zeros. */
struct emu_page {
    uint64_t number;
    uint8_t *data;
};
/** Pages sorted by number. */
struct emu_pages {
    struct emu_page *page;
    size_t count, capacity;
};
void emu_pages_fini(struct emu_pages *pages);
uint64_t emu_pages_bytes(const struct emu_pages *pages);
/** Copies the pages that have all bits of @dirty in the dirty map and clears their CHANGED bit. Pages of zeros are
 *  stored only if @zeros is set. Returns false without memory; the bits are then unchanged. */
bool emu_pages_take(struct emu_pages *pages, struct emu_memory *memory, unsigned dirty,
                    bool zeros);
const struct emu_page *emu_pages_find(const struct emu_pages *pages, uint64_t number);
/** Moves the pages of @older that @newer does not have to @newer, and empties @older. Returns false without memory;
 *  both are then unchanged. */
bool emu_pages_merge(struct emu_pages *newer, struct emu_pages *older);
/** Sets a page of memory to @data (NULL: zeros) and clears CHANGED. */
void emu_page_put(struct emu_memory *memory, uint64_t number, const uint8_t *data);
/** Returns the instruction count of the last snapshot before @instructions, or of the first snapshot. */
uint64_t emu_history_before(const struct emu_history *history, uint64_t instructions);

#endif
