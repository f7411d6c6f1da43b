/* SPDX-License-Identifier: Apache-2.0 */
/* Global memory as emu_memory.c manages it, without the instructions that access it. */
#ifndef EMU_MEMORY_PRIV_H
#define EMU_MEMORY_PRIV_H

#include "emu/emu.h"

struct emu_alloc_record {
    uint64_t address, size_bytes;
    unsigned flags;
    char *name;
};

/** Global memory: one reserved range of host address space. The host address of a guest address is host + (guest -
 *  ISA_GLOBAL_BASE). */
struct emu_memory {
    uint8_t *host;
    uint64_t bytes;         /* reserved size, a multiple of the page size */
    uint16_t *load_valid;   /* [page] number of bytes, from the start of the page, that guests may load */
    uint16_t *store_valid;  /* [page] number of bytes, from the start of the page, that guests may store; 0 for read-only
                             * memory */
    uint8_t *dirty;         /* [page] EMU_DIRTY_* bits, set by stores */
    struct emu_alloc_record *record; /* allocations, sorted by address; the record of a freed allocation remains until its pages
                                      * are reused */
    size_t count, capacity;
    uint64_t next_free;     /* first offset in the arena that was never allocated */
    uint64_t heap_used;     /* bytes of live objects from kernels' malloc, each rounded up to a multiple of 16 */
};
enum lw_status emu_memory_init(struct emu_memory *memory, uint64_t bytes, struct lw_error *err)
    LW_MUST_CHECK;
void emu_memory_fini(struct emu_memory *memory);
/** Returns the number of bytes by which an object of @bytes increases heap_used. */
static inline uint64_t emu_heap_charge(uint64_t bytes)
{
    return (bytes + 15) / 16 * 16;
}
/** Returns the record of the live or freed allocation that contains @address, or NULL. */
const struct emu_alloc_record *emu_memory_find(const struct emu_memory *memory,
                                               uint64_t address);

/** Returns the number of pages of an allocation, with the inaccessible page after it. */
uint64_t emu_alloc_pages(uint64_t size_bytes);
/** Returns the address that emu_alloc() would give to @size_bytes if all memory from @address on were free, or 0 if there is no space. */
uint64_t emu_alloc_next(const struct emu_machine *machine, uint64_t address, uint64_t size_bytes);
bool emu_page_is_zero(const uint8_t *page);
/** Returns true if an access of @bytes at a guest address is valid; @valid is load_valid or store_valid. The result is exact for
 *  each byte. */
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
    return in + bytes - EMU_PAGE_BYTES <= valid[page + 1]; /* load_valid and store_valid have one element more than the arena has
                                                            * pages */
}

#endif
