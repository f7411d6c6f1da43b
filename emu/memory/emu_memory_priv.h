/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory itself (emu_memory.c), without the instructions that access it. */
#ifndef EMU_MEMORY_PRIV_H
#define EMU_MEMORY_PRIV_H

#include "emu/emu.h"

struct emu_alloc_record {
    uint64_t address, size_bytes;
    unsigned flags;
    char *name;
};

/** Global memory: one reservation; the host address is @host + (guest - ISA_GLOBAL_BASE). */
struct emu_memory {
    uint8_t *host;
    uint64_t bytes;         /* reserved size, a multiple of the page size */
    uint16_t *load_valid;   /* [page]: bytes usable for loads, from the start of the page */
    uint16_t *store_valid;  /* [page]: bytes usable for stores, from the start of the page; 0: read-only */
    uint8_t *dirty;         /* [page]: set by stores */
    struct emu_alloc_record *record; /* sorted by address; freed records remain until reuse */
    size_t count, capacity;
    uint64_t next_free;     /* first never-used offset */
    uint64_t heap_used;     /* bytes in use by malloc of kernels; each object counts in units of 16 bytes */
};
enum lw_status emu_memory_init(struct emu_memory *memory, uint64_t bytes, struct lw_error *err)
    LW_MUST_CHECK;
void emu_memory_fini(struct emu_memory *memory);
/** Returns how much of the heap an object of @bytes takes. */
static inline uint64_t emu_heap_charge(uint64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}
/** Returns the record whose range contains @address (live or freed), or NULL. */
const struct emu_alloc_record *emu_memory_find(const struct emu_memory *memory,
                                               uint64_t address);

bool emu_page_is_zero(const uint8_t *page);
/** Tests exactly one access of @bytes at a guest address in global memory. */
static inline bool emu_global_ok(const struct emu_memory *memory, const uint16_t *valid,
                                 uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - ISA_GLOBAL_BASE;

    if (offset >= memory->bytes)
        return false;
    uint64_t page = offset / EMU_PAGE_BYTES, in = offset % EMU_PAGE_BYTES;
    if (in + bytes <= valid[page])
        return true;
    if (in + bytes <= EMU_PAGE_BYTES || valid[page] != EMU_PAGE_BYTES)
        return false;
    return in + bytes - EMU_PAGE_BYTES <= valid[page + 1]; /* one guard page follows the map's last page */
}

#endif
