/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of emu/history/. */
#ifndef EMU_HISTORY_PRIV_H
#define EMU_HISTORY_PRIV_H

#include "emu/bytes/emu_state_priv.h"

/* ---- pages of global memory (emu_snapshot_pages.c), for snapshots and checkpoints ------------------- */

/** A page of global memory at a snapshot. data NULL: all bytes are zero. */
struct emu_page {
    uint64_t number;
    uint8_t *data;
};
/** Pages of a snapshot, sorted by number. */
struct emu_pages {
    struct emu_page *page;
    size_t count, capacity;
};
void emu_pages_fini(struct emu_pages *pages);
uint64_t emu_pages_bytes(const struct emu_pages *pages);
/** Copies the pages whose byte in the dirty map has all bits of @dirty, and clears the bit EMU_DIRTY_CHANGED of these pages.
 *  Pages that contain only zeros are included only if @zeros is set. Returns false if there is no memory; the dirty map is then
 *  unchanged. */
bool emu_pages_take(struct emu_pages *pages, struct emu_memory *memory, unsigned dirty,
                    bool zeros);
const struct emu_page *emu_pages_find(const struct emu_pages *pages, uint64_t number);
/** Moves pages from @older to @newer, except those of which @newer has its own version, and empties @older. Returns false if
 *  there is no memory; @newer and @older are then unchanged. */
bool emu_pages_merge(struct emu_pages *newer, struct emu_pages *older);
/** Sets a page of global memory to the bytes at @data (NULL: zeros), and clears the page's bit EMU_DIRTY_CHANGED. */
void emu_page_put(struct emu_memory *memory, uint64_t number, const uint8_t *data);
/** Returns the instruction count of the last snapshot before @instructions, or of the first snapshot if no snapshot is before
 *  @instructions. */
uint64_t emu_history_before(const struct emu_history *history, uint64_t instructions);

#endif
