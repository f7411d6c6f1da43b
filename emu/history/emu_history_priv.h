/* SPDX-License-Identifier: Apache-2.0 */
/* Inside history. */
#ifndef EMU_HISTORY_PRIV_H
#define EMU_HISTORY_PRIV_H

#include "emu/bytes/emu_state_priv.h"

/* ---- pages of global memory (emu_snapshot_pages.c), for snapshots and checkpoints ------------------- */

/** A page as it was; data NULL: zeros. */
struct emu_page {
    uint64_t number;
    uint8_t *data;
};
/** Pages by ascending number. */
struct emu_pages {
    struct emu_page *page;
    size_t count, capacity;
};
void emu_pages_fini(struct emu_pages *pages);
uint64_t emu_pages_bytes(const struct emu_pages *pages);
/** Copy the pages that have all bits of @dirty in the dirty map; their CHANGED bit is cleared.
 *  Zero pages are kept only with @zeros. False: no memory; the bits are as before. */
bool emu_pages_take(struct emu_pages *pages, struct emu_memory *memory, unsigned dirty,
                    bool zeros);
const struct emu_page *emu_pages_find(const struct emu_pages *pages, uint64_t number);
/** Give @older's pages that @newer does not have to @newer; @older is empty then. False: no
 *  memory, nothing was done. */
bool emu_pages_merge(struct emu_pages *newer, struct emu_pages *older);
/** A page of memory becomes @data (NULL: zeros), not CHANGED. */
void emu_page_put(struct emu_memory *memory, uint64_t number, const uint8_t *data);
/** Instructions at the last snapshot that has fewer than @instructions, or at the first one. */
uint64_t emu_history_before(const struct emu_history *history, uint64_t instructions);

#endif
