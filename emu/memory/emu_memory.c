/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global memory: the arena, its page maps, allocations, copies by the host, and hash_mem.
 *
 * The arena is one reserved range of address space, whose pages take no memory until they are accessed. The page of host memory
 * before the arena, and the page after it, cannot be accessed by the guest; they let copies of whole vectors read past both ends
 * of an access. Each allocation has its own pages, with an inaccessible page after its last page. The page maps state for each
 * byte whether it may be accessed (emu_global_ok).
 */
#include "emu/memory/emu_mem_priv.h"
#include "emu/bytes/emu_state_priv.h"
#include "emu/log/emu_log_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HEAP_RECORDS = 4096, SLACK_BYTES = EMU_PAGE_BYTES, LARGE_BYTES = 1 << 20, HUGE_BYTES = 1 << 30,
       POPULATE_BYTES = 1 << 28, HOST_HUGE_BYTES = 1 << 21 };
#define WINDOW_BYTES (UINT64_C(1) << 32)

/* ---- the arena ------------------------------------------------------------- */

static uint64_t map_entries(const struct emu_memory *memory)
{
    return memory->bytes / EMU_PAGE_BYTES + 1; /* the last element is for the page after the arena */
}

enum lw_status emu_memory_init(struct emu_memory *memory, uint64_t bytes, struct lw_error *err)
{
    memset(memory, 0, sizeof *memory);
    if (bytes < 2 * EMU_PAGE_BYTES || bytes > UINT64_C(1) << 46)
        return LW_FAIL(err, LW_ERANGE,
                       "the size of global memory is %llu bytes: it must be from 8 KiB to 64 TiB",
                       (unsigned long long)bytes);
    memory->bytes = bytes / EMU_PAGE_BYTES * EMU_PAGE_BYTES;
    /* requests the address at which host and device addresses are equal, which emu_global_share needs; the host may choose
     * another address */
    uint8_t *map = lw_reserve_at((void *)(uintptr_t)(ISA_GLOBAL_BASE - SLACK_BYTES), memory->bytes + 2 * SLACK_BYTES);
    memory->host = map != NULL ? map + SLACK_BYTES : NULL;
    memory->load_valid = lw_reserve(map_entries(memory) * sizeof *memory->load_valid);
    memory->store_valid = lw_reserve(map_entries(memory) * sizeof *memory->store_valid);
    memory->dirty = lw_reserve(map_entries(memory));
    if (memory->host == NULL || memory->load_valid == NULL || memory->store_valid == NULL ||
        memory->dirty == NULL) {
        emu_memory_fini(memory);
        return LW_FAIL(err, LW_ENOMEM,
                       "cannot reserve %llu MiB of address space for global memory: raise the limit (ulimit -v) or set "
                       "a smaller size (option memory)",
                       (unsigned long long)(bytes >> 20));
    }
    return LW_OK;
}

void emu_memory_fini(struct emu_memory *memory)
{
    if (memory->host != NULL)
        munmap(memory->host - SLACK_BYTES, memory->bytes + 2 * SLACK_BYTES);
    if (memory->load_valid != NULL)
        munmap(memory->load_valid, map_entries(memory) * sizeof *memory->load_valid);
    if (memory->store_valid != NULL)
        munmap(memory->store_valid, map_entries(memory) * sizeof *memory->store_valid);
    if (memory->dirty != NULL)
        munmap(memory->dirty, map_entries(memory));
    for (size_t i = 0; i < memory->count; i++)
        free(memory->record[i].name);
    free(memory->record);
    memset(memory, 0, sizeof *memory);
}

/* Marks a page at its first store. Before a store the emulator reads the old bytes, to detect a change. On the host, a page that
 * was only read is the shared zero page, and the store would cause a second page fault, which stops all host threads. The
 * function therefore writes to the page, by an OR with 0, so that the first page fault already gives a private page. */
void emu_dirty_first(struct emu_memory *memory, uint64_t page)
{
    (void)__atomic_fetch_or(memory->host + page * EMU_PAGE_BYTES, (uint8_t)0, __ATOMIC_RELAXED);
    __atomic_store_n(&memory->dirty[page], (uint8_t)EMU_DIRTY_STORE, __ATOMIC_RELAXED);
}

/* ---- records ------------------------------------------------------------------ */

/** Returns the index of the first record whose address is above @address. */
static size_t record_above(const struct emu_memory *memory, uint64_t address)
{
    return address == UINT64_MAX ? memory->count
                                 : lw_lower_bound(memory->record, memory->count, sizeof *memory->record, address + 1);
}

/** Sets the name of a new record, and ensures that the list of records has capacity for it. Returns false if there is no
 *  memory. */
static bool name_record(struct emu_memory *memory, struct emu_alloc_record *fresh, const char *name)
{
    fresh->name = strdup(name);
    if (fresh->name != NULL && lw_grow(&memory->record, &memory->capacity, memory->count + 1, sizeof *fresh))
        return true;
    free(fresh->name);
    return false;
}

const struct emu_alloc_record *emu_memory_find(const struct emu_memory *memory, uint64_t address)
{
    size_t i = record_above(memory, address);

    if (i == 0)
        return NULL;
    const struct emu_alloc_record *record = &memory->record[i - 1];
    return address - record->address < record->size_bytes ? record : NULL;
}

/** Returns true for a variable of Lanewise's own headers, unless it contains @address. Messages do not name such a variable as
 *  the nearest allocation of an address, because authors of kernels do not know these variables. These variables are declared in
 *  ptx/compiler/cuda/lanewise_types.h or in <cooperative_groups.h>, or have a reserved name. */
static bool is_own(const struct emu_alloc_record *record, uint64_t address)
{
    static const char *const own[] = {"lw_tid", "lw_ctaid", "lw_ntid", "lw_nctaid", "warpSize", "_ZL8warpSize"};
    bool is = strncmp(record->name, "__", 2) == 0 || strncmp(record->name, "_ZN18cooperative_groups", 23) == 0 ||
              strncmp(record->name, "_ZZN18cooperative_groups", 24) == 0 || strncmp(record->name, "_ZZNK18cooperative_groups", 25) == 0;

    for (size_t i = 0; i < LW_COUNT_OF(own) && !is; i++)
        is = strcmp(own[i], record->name) == 0;
    return is && (record->flags & EMU_ALLOC_MODULE) && address - record->address >= record->size_bytes;
}

void emu_memory_neighbours(const struct emu_memory *memory, uint64_t address,
                           const struct emu_alloc_record **below,
                           const struct emu_alloc_record **above)
{
    size_t i = record_above(memory, address), b = i;

    *below = *above = NULL;
    while (b > 0 && *below == NULL)
        if (!(memory->record[--b].flags & EMU_ALLOC_FREED) && !is_own(&memory->record[b], address))
            *below = &memory->record[b];
    for (; i < memory->count && *above == NULL; i++)
        if (!(memory->record[i].flags & EMU_ALLOC_FREED) && !is_own(&memory->record[i], address))
            *above = &memory->record[i];
}

uint64_t emu_alloc_pages(uint64_t size_bytes)
{
    uint64_t pages = (size_bytes + EMU_PAGE_BYTES - 1) / EMU_PAGE_BYTES;

    return (pages != 0 ? pages : 1) + 1;
}

/** Returns the number of pages of a record. Only the last page of a reservation has an inaccessible page after it, which belongs to
 *  no record. */
static uint64_t pages_of(const struct emu_alloc_record *record)
{
    return emu_alloc_pages(record->size_bytes) - ((record->flags & (EMU_ALLOC_RESERVED | EMU_ALLOC_MAPPED)) != 0 ? 1 : 0);
}

/** Returns the number of pages of a record that it may use. */
static uint64_t pages_used(const struct emu_alloc_record *record)
{
    return emu_alloc_pages(record->size_bytes) - 1;
}

static bool is_reserved(const struct emu_alloc_record *record)
{
    return (record->flags & EMU_ALLOC_RESERVED) != 0;
}

static void set_valid(struct emu_memory *memory, const struct emu_alloc_record *record)
{
    uint64_t page = (record->address - ISA_GLOBAL_BASE) / EMU_PAGE_BYTES;
    uint64_t left = record->flags & EMU_ALLOC_FREED ? 0 : record->size_bytes;
    bool store = !(record->flags & EMU_ALLOC_READ_ONLY);

    for (uint64_t last = page + pages_of(record); page < last; page++) {
        uint16_t bytes = left < EMU_PAGE_BYTES ? (uint16_t)left : EMU_PAGE_BYTES;
        memory->load_valid[page] = bytes;
        memory->store_valid[page] = store ? bytes : 0;
        left -= bytes;
    }
}

/* ---- placing ------------------------------------------------------------------- */

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

/** Finds an offset in the arena for @need bytes, which is a multiple of @align. Space that was never used is preferred, so that
 *  freed pages stay inaccessible as long as possible. An allocation is placed within one 4 GiB window if possible, because an
 *  access across the border of two windows takes a slow path. */
static bool place(const struct emu_memory *memory, uint64_t need, uint64_t align, uint64_t *offset)
{
    uint64_t at = align_up(memory->next_free, align);

    if (need <= WINDOW_BYTES && at / WINDOW_BYTES != (at + need - 1) / WINDOW_BYTES) {
        uint64_t window = (at / WINDOW_BYTES + 1) * WINDOW_BYTES;
        if (window <= memory->bytes && need <= memory->bytes - window)
            at = window;
    }
    if (at <= memory->bytes && need <= memory->bytes - at) {
        *offset = at;
        return true;
    }
    at = 0;
    for (size_t i = 0; i <= memory->count; i++) {
        const struct emu_alloc_record *record = &memory->record[i];
        if (i < memory->count && (record->flags & EMU_ALLOC_FREED) && !is_reserved(record))
            continue;
        uint64_t end = i < memory->count ? record->address - ISA_GLOBAL_BASE : memory->bytes;
        if (at <= end && need <= end - at) {
            *offset = at;
            return true;
        }
        if (i < memory->count) /* one more page, as the one after a reservation belongs to no record */
            at = align_up(end + (pages_used(record) + 1) * EMU_PAGE_BYTES, align);
    }
    return false;
}

/** Drops the records of freed allocations in a range that is about to be reused. */
static void forget_freed(struct emu_memory *memory, uint64_t address, uint64_t bytes)
{
    size_t kept = 0;

    for (size_t i = 0; i < memory->count; i++) {
        struct emu_alloc_record *record = &memory->record[i];
        uint64_t taken = pages_of(record) * EMU_PAGE_BYTES;
        if ((record->flags & EMU_ALLOC_FREED) && !is_reserved(record) && record->address < address + bytes &&
            address < record->address + taken)
            free(record->name);
        else
            memory->record[kept++] = *record;
    }
    memory->count = kept;
}

/** Advises the host to use huge pages for an allocation, to avoid page faults and TLB misses. Gives no advice if a large part of
 *  the allocation may stay unused. The huge pages that contain its first and last byte are included as a whole, because
 *  neighbouring allocations can use them, too. The host may ignore the advice. */
static void advise_huge(struct emu_memory *memory, uint64_t offset, uint64_t bytes)
{
    uintptr_t low = (uintptr_t)(memory->host - SLACK_BYTES), end = low + memory->bytes + 2 * SLACK_BYTES;
    uintptr_t from = (uintptr_t)(memory->host + offset) / HOST_HUGE_BYTES * HOST_HUGE_BYTES;
    uintptr_t to = ((uintptr_t)(memory->host + offset + bytes) + HOST_HUGE_BYTES - 1) / HOST_HUGE_BYTES *
                   HOST_HUGE_BYTES;

    from = from < low ? low : from;
    to = to > end ? end : to;
    (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

void emu_memory_populate(const struct emu_machine *machine, uint64_t address)
{
#ifdef MADV_POPULATE_WRITE /* a single call takes a third of the time of the page faults that a kernel would cause */
    const struct emu_memory *memory = &machine->memory;
    const size_t i = record_above(memory, address);
    const struct emu_alloc_record *record = i != 0 ? &memory->record[i - 1] : NULL;
    uint64_t offset;

    if (record == NULL || record->size_bytes < LARGE_BYTES || record->size_bytes > POPULATE_BYTES ||
        address - record->address >= record->size_bytes || (record->flags & EMU_ALLOC_FREED) != 0)
        return;
    offset = record->address - ISA_GLOBAL_BASE;
    if (memory->dirty[offset / EMU_PAGE_BYTES] == 0) /* if the first page is dirty, the allocation has been used already */
        (void)madvise(memory->host + offset, pages_of(record) * EMU_PAGE_BYTES, MADV_POPULATE_WRITE);
#else
    (void)machine, (void)address;
#endif
}

/** Makes an allocation at @offset, where place() or is_free() has found space for it. */
static enum lw_status allocate(struct emu_machine *machine, uint64_t offset, uint64_t size_bytes, const char *name, unsigned flags,
                               struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    struct emu_alloc_record fresh = {.address = ISA_GLOBAL_BASE + offset, .size_bytes = size_bytes,
                                     .flags = flags & ~(unsigned)EMU_ALLOC_FREED};
    const uint64_t taken = emu_alloc_pages(size_bytes) * EMU_PAGE_BYTES;

    if (!name_record(memory, &fresh, name))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of allocations");
    if (offset < memory->next_free)
        forget_freed(memory, fresh.address, taken);
    size_t i = record_above(memory, fresh.address);
    memmove(&memory->record[i + 1], &memory->record[i],
            (memory->count - i) * sizeof memory->record[0]);
    memory->record[i] = fresh;
    memory->count++;
    if (flags & EMU_ALLOC_HEAP)
        memory->heap_used += emu_heap_charge(size_bytes);
    if (offset + taken > memory->next_free)
        memory->next_free = offset + taken;
    set_valid(memory, &memory->record[i]);
    if (size_bytes >= LARGE_BYTES && size_bytes <= HUGE_BYTES)
        advise_huge(memory, offset, taken);
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_ALLOC, .address = fresh.address,
                                                            .size_bytes = size_bytes, .name = name});
    return LW_OK;
}

enum lw_status emu_memory_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                                unsigned flags, uint64_t *address, struct lw_error *err)
{
    const struct emu_memory *memory = &machine->memory;
    enum lw_status status;
    uint64_t offset;

    if (name == NULL)
        name = "";
    if (size_bytes > memory->bytes ||
        !place(memory, emu_alloc_pages(size_bytes) * EMU_PAGE_BYTES, EMU_PAGE_BYTES, &offset))
        return LW_FAIL(err, LW_ENOMEM,
                       "out of global memory: cannot allocate %llu bytes%s%s; its size is %llu MiB",
                       (unsigned long long)size_bytes, name[0] ? " of " : "", name,
                       (unsigned long long)(memory->bytes >> 20));
    status = allocate(machine, offset, size_bytes, name, flags, err);
    if (status == LW_OK)
        *address = ISA_GLOBAL_BASE + offset;
    return status;
}

/** Adds an allocation that the host has made to the log. */
static enum lw_status log_allocation(struct emu_machine *machine, uint64_t address, uint64_t size_bytes, const char *name,
                                     unsigned flags, struct lw_error *err)
{
    return emu_log_host_step(machine,
                             &(struct emu_log_entry){.kind = EMU_LOG_ALLOC,
                                                     .address = address,
                                                     .value = size_bytes,
                                                     .which = flags & UINT16_MAX,
                                                     .bytes = (const uint8_t *)name,
                                                     .size = strlen(name)},
                             err);
}

/** Tests whether the heap of kernels has space for an allocation that the host makes with @flags. */
static enum lw_status check_heap(const struct emu_machine *machine, uint64_t size_bytes, unsigned flags, struct lw_error *err)
{
    const uint64_t left = machine->config.heap_bytes - machine->memory.heap_used;

    if ((flags & EMU_ALLOC_HEAP) == 0 || (size_bytes <= left && emu_heap_charge(size_bytes) <= left))
        return LW_OK;
    return LW_FAIL(err, LW_ENOMEM, "the heap for malloc in kernels, of %u bytes, has no space for %llu bytes", machine->config.heap_bytes,
                   (unsigned long long)size_bytes);
}

enum lw_status emu_alloc(struct emu_machine *machine, uint64_t size_bytes, const char *name,
                         unsigned flags, uint64_t *address, struct lw_error *err)
{
    enum lw_status status = check_heap(machine, size_bytes, flags, err);

    if (status == LW_OK)
        status = emu_memory_alloc(machine, size_bytes, name, flags, address, err);
    return status == LW_OK ? log_allocation(machine, *address, size_bytes, name != NULL ? name : "", flags, err) : status;
}

/** Returns the record of an allocation or reservation that occupies a part of @taken bytes at @offset, or NULL. */
static const struct emu_alloc_record *occupant(const struct emu_memory *memory, uint64_t offset, uint64_t taken)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct emu_alloc_record *record = &memory->record[i];
        const uint64_t at = record->address - ISA_GLOBAL_BASE;

        if (((record->flags & EMU_ALLOC_FREED) == 0 || is_reserved(record)) && at < offset + taken &&
            offset < at + (pages_used(record) + 1) * EMU_PAGE_BYTES)
            return record;
    }
    return NULL;
}

enum lw_status emu_alloc_at(struct emu_machine *machine, uint64_t address, uint64_t size_bytes, const char *name, unsigned flags,
                            struct lw_error *err)
{
    const struct emu_memory *memory = &machine->memory;
    const uint64_t offset = address - ISA_GLOBAL_BASE, taken = emu_alloc_pages(size_bytes) * EMU_PAGE_BYTES;
    const struct emu_alloc_record *other;
    enum lw_status status;

    if (name == NULL)
        name = "";
    if (address % EMU_PAGE_BYTES != 0)
        return LW_FAIL(err, LW_ERANGE, "0x%llx cannot be the address of an allocation: it is not a multiple of %d",
                       (unsigned long long)address, EMU_PAGE_BYTES);
    if (size_bytes > memory->bytes || offset > memory->bytes || taken > memory->bytes - offset)
        return LW_FAIL(err, LW_ERANGE, "%llu bytes at 0x%llx are outside global memory, which has %llu MiB from 0x%llx",
                       (unsigned long long)size_bytes, (unsigned long long)address, (unsigned long long)(memory->bytes >> 20),
                       (unsigned long long)ISA_GLOBAL_BASE);
    other = occupant(memory, offset, taken);
    if (other != NULL)
        return LW_FAIL(err, LW_ERANGE, "%llu bytes at 0x%llx overlap%s%s%s, %llu bytes at 0x%llx, or the page after one of them",
                       (unsigned long long)size_bytes, (unsigned long long)address, other->name[0] ? " '" : " an allocation",
                       other->name, other->name[0] ? "'" : "", (unsigned long long)other->size_bytes,
                       (unsigned long long)other->address);
    status = check_heap(machine, size_bytes, flags, err);
    if (status != LW_OK)
        return status;
    status = allocate(machine, offset, size_bytes, name, flags, err);
    return status == LW_OK ? log_allocation(machine, address, size_bytes, name, flags, err) : status;
}

uint64_t emu_alloc_next(const struct emu_machine *machine, uint64_t address, uint64_t size_bytes)
{
    struct emu_memory at = {.bytes = machine->memory.bytes, .next_free = address - ISA_GLOBAL_BASE};
    uint64_t offset;

    return place(&at, emu_alloc_pages(size_bytes) * EMU_PAGE_BYTES, EMU_PAGE_BYTES, &offset) ? ISA_GLOBAL_BASE + offset : 0;
}

uint64_t emu_alloc_end(const struct emu_machine *machine)
{
    return ISA_GLOBAL_BASE + machine->memory.next_free;
}

enum lw_status emu_alloc_from(struct emu_machine *machine, uint64_t address, struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    const uint64_t offset = address - ISA_GLOBAL_BASE;

    if (address % EMU_PAGE_BYTES != 0 || offset > memory->bytes)
        return LW_FAIL(err, LW_ERANGE, "allocations cannot begin at 0x%llx: expected a multiple of %d in global memory, which has "
                                       "%llu MiB from 0x%llx",
                       (unsigned long long)address, EMU_PAGE_BYTES, (unsigned long long)(memory->bytes >> 20),
                       (unsigned long long)ISA_GLOBAL_BASE);
    if (offset > memory->next_free)
        memory->next_free = offset;
    return LW_OK;
}

/** Empties the allocation caches of all instructions. */
static void forget_caches(struct emu_machine *machine)
{
    for (unsigned c = 0; c < machine->core_count; c++) {
        struct emu_core *core = machine->cores[c];
        if (core == NULL)
            continue;
        emu_native_forget(&core->native.whole);
        emu_native_forget(&core->native.masked);
        for (unsigned i = 0; i < core->code_count; i++) {
            struct emu_code *code = core->code[i];
            for (; code != NULL && code->cached_count != 0; code->cached_count--)
                code->icache[code->cached[code->cached_count - 1]] = (struct emu_icache){0, 0};
        }
    }
}

/** Merges record @i and the next one if both are freed parameter buffers, or both are freed objects of kernels' malloc, because
 *  kernels may create any number of such allocations. */
static void merge_used(struct emu_memory *memory, size_t i)
{
    const unsigned of_kernels = EMU_ALLOC_PARAMETERS | EMU_ALLOC_HEAP;
    struct emu_alloc_record *a = &memory->record[i], *b = a + 1;

    if (i + 1 >= memory->count || (a->flags & b->flags & EMU_ALLOC_FREED) == 0 ||
        (a->flags & b->flags & of_kernels) == 0 ||
        /* while there are few records, objects stay separate, so that messages can name the exact object */
        (a->flags & EMU_ALLOC_HEAP && memory->count < HEAP_RECORDS) ||
        a->address + emu_alloc_pages(a->size_bytes) * EMU_PAGE_BYTES != b->address)
        return;
    a->size_bytes = b->address - a->address + (b->size_bytes != 0 ? b->size_bytes : 1);
    free(b->name);
    memmove(b, b + 1, (memory->count - i - 2) * sizeof *b);
    memory->count--;
}

/** Merges record @i and the next one if both are reserved addresses without a gap. */
static void merge_reserved(struct emu_memory *memory, size_t i)
{
    struct emu_alloc_record *a = &memory->record[i], *b = a + 1;

    if (i + 1 >= memory->count || !is_reserved(a) || !is_reserved(b) || a->address + a->size_bytes != b->address)
        return;
    a->size_bytes += b->size_bytes;
    free(b->name);
    memmove(b, b + 1, (memory->count - i - 2) * sizeof *b);
    memory->count--;
}

enum lw_status emu_memory_free(struct emu_machine *machine, uint64_t address,
                               struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    size_t i = record_above(memory, address);
    struct emu_alloc_record *record = i != 0 ? &memory->record[i - 1] : NULL;

    if (record == NULL || record->address != address)
        return LW_FAIL(err, LW_ENOENT, "no allocation starts at 0x%llx",
                       (unsigned long long)address);
    if (record->flags & EMU_ALLOC_FREED)
        return LW_FAIL(err, LW_ENOENT, is_reserved(record) ? "no memory is mapped to address 0x%llx"
                                                           : "the allocation at 0x%llx was freed already",
                       (unsigned long long)address);
    record->flags |= EMU_ALLOC_FREED;
    set_valid(memory, record);
    forget_caches(machine);
    if (record->flags & EMU_ALLOC_HEAP)
        memory->heap_used -= emu_heap_charge(record->size_bytes);

    /* Returns the pages to the host, so that their next owner reads zeros. Marks the pages as changed, for history, and as
     * untouched, for the test whether they were ever used. */
    uint64_t offset = address - ISA_GLOBAL_BASE;
    uint64_t pages = pages_used(record);
    if (madvise(memory->host + offset, pages * EMU_PAGE_BYTES, MADV_DONTNEED) != 0)
        memset(memory->host + offset, 0, pages * EMU_PAGE_BYTES);
    for (uint64_t page = offset / EMU_PAGE_BYTES, n = pages; n != 0; n--, page++)
        if (memory->dirty[page] != 0)
            memory->dirty[page] = EMU_DIRTY_CHANGED;
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_FREE, .address = address,
                                              .size_bytes = record->size_bytes,
                                              .name = record->name});
    if (record->flags & (EMU_ALLOC_PARAMETERS | EMU_ALLOC_HEAP)) {
        merge_used(memory, i - 1);
        if (i >= 2)
            merge_used(memory, i - 2);
    }
    if (record->flags & EMU_ALLOC_MAPPED) { /* the addresses stay reserved */
        record->flags = EMU_ALLOC_FREED | EMU_ALLOC_RESERVED;
        record->size_bytes = pages * EMU_PAGE_BYTES;
        merge_reserved(memory, i - 1);
        if (i >= 2)
            merge_reserved(memory, i - 2);
    }
    return LW_OK;
}

void emu_memory_give_to_launch(struct emu_machine *machine, uint64_t address)
{
    struct emu_memory *memory = &machine->memory;
    size_t i = record_above(memory, address);

    if (i != 0 && memory->record[i - 1].address == address)
        memory->record[i - 1].flags |= EMU_ALLOC_LAUNCHED;
}

enum lw_status emu_free(struct emu_machine *machine, uint64_t address, struct lw_error *err)
{
    enum lw_status status = emu_memory_free(machine, address, err);

    if (status != LW_OK)
        return status;
    return emu_log_host_step(
        machine, &(struct emu_log_entry){.kind = EMU_LOG_FREE, .address = address}, err);
}

static void show(const struct emu_alloc_record *record, struct emu_allocation *out)
{
    *out = (struct emu_allocation){.address = record->address,
                                   .size_bytes = record->size_bytes,
                                   .flags = record->flags,
                                   .name = record->name};
}

bool emu_allocation_at(const struct emu_machine *machine, uint64_t address,
                       struct emu_allocation *out, bool *inside)
{
    const struct emu_memory *memory = &machine->memory;
    size_t i = record_above(memory, address);

    while (i > 1 && is_own(&memory->record[i - 1], address))
        i--; /* skips variables of Lanewise's own headers, so that the nearest other allocation is found */
    if (i == 0)
        return false;
    show(&memory->record[i - 1], out);
    *inside = address - out->address < out->size_bytes;
    return true;
}

unsigned emu_allocation_count(const struct emu_machine *machine)
{
    return (unsigned)machine->memory.count;
}

bool emu_allocation_get(const struct emu_machine *machine, unsigned index,
                        struct emu_allocation *out)
{
    if (index >= machine->memory.count)
        return false;
    show(&machine->memory.record[index], out);
    return true;
}

/* ---- reserved addresses ---------------------------------------------------------------------- */

/** Inserts a record before record @i. The list has capacity for it. */
static void insert(struct emu_memory *memory, size_t i, const struct emu_alloc_record *fresh)
{
    memmove(&memory->record[i + 1], &memory->record[i], (memory->count - i) * sizeof memory->record[0]);
    memory->record[i] = *fresh;
    memory->count++;
}

enum lw_status emu_reserve(struct emu_machine *machine, uint64_t size_bytes, uint64_t *address, struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    struct emu_alloc_record fresh = {.size_bytes = size_bytes, .flags = EMU_ALLOC_FREED | EMU_ALLOC_RESERVED};
    uint64_t offset;

    if (size_bytes == 0 || size_bytes % EMU_RESERVE_BYTES != 0)
        return LW_FAIL(err, LW_ERANGE, "a reservation of %llu bytes is not a multiple of %u bytes", (unsigned long long)size_bytes,
                       (unsigned)EMU_RESERVE_BYTES);
    if (size_bytes > memory->bytes || !place(memory, size_bytes + EMU_PAGE_BYTES, EMU_RESERVE_BYTES, &offset))
        return LW_FAIL(err, LW_ENOMEM, "cannot reserve %llu bytes of global memory, whose size is %llu MiB",
                       (unsigned long long)size_bytes, (unsigned long long)(memory->bytes >> 20));
    fresh.address = ISA_GLOBAL_BASE + offset;
    if (!name_record(memory, &fresh, ""))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of allocations");
    if (offset < memory->next_free)
        forget_freed(memory, fresh.address, size_bytes + EMU_PAGE_BYTES);
    insert(memory, record_above(memory, fresh.address), &fresh);
    if (offset + size_bytes + EMU_PAGE_BYTES > memory->next_free)
        memory->next_free = offset + size_bytes + EMU_PAGE_BYTES;
    *address = fresh.address;
    return emu_log_host_step(machine, &(struct emu_log_entry){.kind = EMU_LOG_ALLOC, .address = fresh.address, .value = size_bytes,
                                                              .which = EMU_ALLOC_RESERVED, .bytes = (const uint8_t *)""}, err);
}

enum lw_status emu_unreserve(struct emu_machine *machine, uint64_t address, struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    const size_t i = record_above(memory, address);
    struct emu_alloc_record *record = i != 0 ? &memory->record[i - 1] : NULL;

    if (record == NULL || record->address != address || !is_reserved(record) ||
        (i > 1 && (record[-1].flags & EMU_ALLOC_MAPPED) != 0 &&
         record[-1].address + pages_used(&record[-1]) * EMU_PAGE_BYTES == address))
        return LW_FAIL(err, LW_ENOENT, "no reservation without mapped memory starts at 0x%llx", (unsigned long long)address);
    if (i < memory->count && (record[1].flags & EMU_ALLOC_MAPPED) != 0 && record[1].address == address + record->size_bytes)
        return LW_FAIL(err, LW_ESTATE, "memory is mapped to the reservation at 0x%llx", (unsigned long long)address);
    record->flags = EMU_ALLOC_FREED;
    return emu_log_host_step(machine, &(struct emu_log_entry){.kind = EMU_LOG_FREE, .address = address}, err);
}

enum lw_status emu_map(struct emu_machine *machine, uint64_t address, uint64_t size_bytes, const char *name, unsigned flags,
                       struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    struct emu_alloc_record fresh = {.address = address, .size_bytes = size_bytes,
                                     .flags = (flags & EMU_ALLOC_READ_ONLY) | EMU_ALLOC_MAPPED};
    const uint64_t taken = pages_used(&fresh) * EMU_PAGE_BYTES;
    struct emu_alloc_record rest = {.address = address + taken, .flags = EMU_ALLOC_FREED | EMU_ALLOC_RESERVED};
    size_t i = record_above(memory, address);
    struct emu_alloc_record *record = i != 0 ? &memory->record[i - 1] : NULL;

    /* Reserved addresses without a gap are one record (merge_reserved). */
    if (size_bytes == 0 || size_bytes > memory->bytes || address % EMU_PAGE_BYTES != 0 || record == NULL || !is_reserved(record) ||
        address - record->address > record->size_bytes || taken > record->size_bytes - (address - record->address))
        return LW_FAIL(err, LW_ERANGE, "%llu bytes at 0x%llx are not reserved addresses to which no memory is mapped",
                       (unsigned long long)size_bytes, (unsigned long long)address);
    rest.size_bytes = record->address + record->size_bytes - rest.address;
    if (!name_record(memory, &rest, "") || !lw_grow(&memory->record, &memory->capacity, memory->count + 2, sizeof fresh) ||
        !name_record(memory, &fresh, name != NULL ? name : "")) {
        free(rest.name);
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of allocations");
    }
    record = &memory->record[i - 1];
    record->size_bytes = address - record->address;
    if (record->size_bytes == 0) { /* the new record takes its place */
        free(record->name);
        *record = fresh;
        i--;
    } else {
        insert(memory, i, &fresh);
    }
    if (rest.size_bytes != 0)
        insert(memory, i + 1, &rest);
    else
        free(rest.name);
    set_valid(memory, &memory->record[i]);
    if (size_bytes >= LARGE_BYTES && size_bytes <= HUGE_BYTES)
        advise_huge(memory, address - ISA_GLOBAL_BASE, size_bytes);
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_ALLOC, .address = address, .size_bytes = size_bytes,
                                                            .name = memory->record[i].name});
    return emu_log_host_step(machine, &(struct emu_log_entry){.kind = EMU_LOG_ALLOC, .address = address, .value = size_bytes,
                                                              .which = fresh.flags, .bytes = (const uint8_t *)fresh.name,
                                                              .size = strlen(fresh.name)}, err);
}

/* ---- copies from and to the host ------------------------------------------------- */

/** Returns the number of bytes from @address on that the host may access: up to the end of the live allocation @record, and of mapped
 *  memory that follows it without a gap. */
static uint64_t bytes_from(const struct emu_memory *memory, const struct emu_alloc_record *record, uint64_t address)
{
    const struct emu_alloc_record *last = record;

    while ((last->flags & EMU_ALLOC_MAPPED) != 0 && last + 1 < memory->record + memory->count &&
           (last[1].flags & EMU_ALLOC_MAPPED) != 0 && last[1].address == last->address + last->size_bytes)
        last++;
    return last->address + last->size_bytes - address;
}

/** Returns the host address of a range that is inside one live allocation, or in mapped memory without a gap; otherwise NULL, with
 *  a message. */
static uint8_t *host_range(const struct emu_machine *machine, uint64_t address,
                           uint64_t size_bytes, struct lw_error *err)
{
    const struct emu_memory *memory = &machine->memory;
    const struct emu_alloc_record *record = emu_memory_find(memory, address);

    if (record == NULL) {
        (void)LW_FAIL(err, LW_ERANGE, "address 0x%llx is not inside an allocation",
                      (unsigned long long)address);
    } else if (is_reserved(record)) {
        (void)LW_FAIL(err, LW_ERANGE, "no memory is mapped to the reserved address 0x%llx", (unsigned long long)address);
    } else if (record->flags & EMU_ALLOC_FREED) {
        (void)LW_FAIL(err, LW_ERANGE, "address 0x%llx is in %s%s%s, which was freed",
                      (unsigned long long)address, record->name[0] ? "'" : "an allocation",
                      record->name, record->name[0] ? "'" : "");
    } else if (size_bytes > bytes_from(memory, record, address)) {
        (void)LW_FAIL(err, LW_ERANGE,
                      "an access of %llu bytes at 0x%llx runs past the end of the allocation of %llu bytes at 0x%llx",
                      (unsigned long long)size_bytes, (unsigned long long)address,
                      (unsigned long long)record->size_bytes,
                      (unsigned long long)record->address);
    } else {
        return memory->host + (address - ISA_GLOBAL_BASE);
    }
    return NULL;
}

uint64_t emu_global_bytes(const struct emu_machine *machine, uint64_t address)
{
    const struct emu_alloc_record *record = emu_memory_find(&machine->memory, address);

    return record != NULL && (record->flags & EMU_ALLOC_FREED) == 0 ? bytes_from(&machine->memory, record, address) : 0;
}

enum lw_status emu_global_peek(const struct emu_machine *machine, uint64_t address, void *data,
                               uint64_t size_bytes, struct lw_error *err)
{
    if (size_bytes == 0)
        return LW_OK;
    const uint8_t *host = host_range(machine, address, size_bytes, err);
    if (host == NULL)
        return LW_ERANGE;
    memcpy(data, host, size_bytes);
    return LW_OK;
}

enum lw_status emu_global_read(const struct emu_machine *machine, uint64_t address, void *data,
                               uint64_t size_bytes, struct lw_error *err)
{
    const enum lw_status status = emu_global_peek(machine, address, data, size_bytes, err);

    if (status == LW_OK && size_bytes != 0)
        emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_HOST_READ, .address = address,
                                                  .size_bytes = size_bytes, .name = ""});
    return status;
}

/** Marks pages and notifies listeners after the host has written @size_bytes at @address. @from: source address of a copy within
 *  global memory, or 0 if the bytes came from the host. */
static enum lw_status host_wrote(struct emu_machine *machine, uint64_t address, uint64_t from, const uint8_t *data,
                                 uint64_t size_bytes, struct lw_error *err)
{
    emu_memory_touch(&machine->memory, address - ISA_GLOBAL_BASE, size_bytes);
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_HOST_WRITE, .address = address, .from = from,
                                              .size_bytes = size_bytes, .name = ""});
    if (machine->log == NULL)
        return LW_OK;
    struct lw_hash hash;
    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size_bytes);
    return emu_log_host_step(machine, &(struct emu_log_entry){.kind = EMU_LOG_WRITE,
                                                              .address = address,
                                                              .size = size_bytes,
                                                              .value = lw_hash_value(&hash),
                                                              .bytes = data},
                             err);
}

enum lw_status emu_global_write(struct emu_machine *machine, uint64_t address, const void *data,
                                uint64_t size_bytes, struct lw_error *err)
{
    if (size_bytes == 0)
        return LW_OK;
    uint8_t *host = host_range(machine, address, size_bytes, err);
    if (host == NULL)
        return LW_ERANGE;
    if (size_bytes >= LARGE_BYTES)
        emu_memory_populate(machine, address);
    memcpy(host, data, size_bytes);
    return host_wrote(machine, address, 0, host, size_bytes, err);
}

void *emu_global_share(struct emu_machine *machine, uint64_t address)
{
    struct emu_memory *memory = &machine->memory;
    struct emu_allocation a;
    bool inside;

    if ((uint64_t)(uintptr_t)memory->host != ISA_GLOBAL_BASE || !emu_allocation_at(machine, address, &a, &inside) ||
        !inside || (a.flags & EMU_ALLOC_FREED) != 0)
        return NULL;
    /* marks the pages, to which the program may store at any time, but does not write to them as emu_dirty_mark() does: the program
     * may use only a few of them */
    const uint64_t first = (a.address - ISA_GLOBAL_BASE) / EMU_PAGE_BYTES, end = a.address - ISA_GLOBAL_BASE + a.size_bytes;
    memset(memory->dirty + first, EMU_DIRTY_STORE, (end + EMU_PAGE_BYTES - 1) / EMU_PAGE_BYTES - first);
    emu_machine_notify(machine, &(struct emu_machine_event){.kind = EMU_MACHINE_HOST_WRITE, .address = a.address,
                                                            .size_bytes = a.size_bytes, .name = ""});
    return (void *)(uintptr_t)address;
}

enum lw_status emu_global_copy(struct emu_machine *machine, uint64_t to, uint64_t from,
                               uint64_t size_bytes, struct lw_error *err)
{
    if (size_bytes == 0)
        return LW_OK;
    const uint8_t *source = host_range(machine, from, size_bytes, err);
    uint8_t *host = source != NULL ? host_range(machine, to, size_bytes, err) : NULL;
    if (host == NULL)
        return LW_ERANGE;
    memmove(host, source, size_bytes);
    return host_wrote(machine, to, from, host, size_bytes, err);
}

/* ---- the table of allocations, saved and loaded ----------------------------------------- */

void emu_memory_save(const struct emu_memory *memory, struct emu_bytes *out)
{
    EMU_SAVE(EMU_STATE_MEMORY, memory, out);
    emu_put_number(out, memory->count);
    for (size_t i = 0; i < memory->count; i++) {
        const struct emu_alloc_record *p = &memory->record[i];
        EMU_SAVE(EMU_STATE_RECORD, p, out);
        emu_put_text(out, p->name);
    }
}

static bool record_fits(const struct emu_memory *memory, const struct emu_alloc_record *record,
                        uint64_t from)
{
    uint64_t offset = record->address - ISA_GLOBAL_BASE;
    const unsigned known = EMU_ALLOC_READ_ONLY | EMU_ALLOC_WATCHED | EMU_ALLOC_FREED |
                           EMU_ALLOC_MODULE | EMU_ALLOC_PARAMETERS | EMU_ALLOC_HEAP |
                           EMU_ALLOC_LAUNCHED | EMU_ALLOC_RESERVED | EMU_ALLOC_MAPPED;

    return offset % EMU_PAGE_BYTES == 0 && offset >= from && offset < memory->bytes &&
           record->size_bytes <= memory->bytes && ((record->flags & EMU_ALLOC_RESERVED) == 0 || record->size_bytes % EMU_PAGE_BYTES == 0) &&
           pages_of(record) * EMU_PAGE_BYTES <= memory->bytes - offset &&
           (record->flags & ~known) == 0;
}

enum lw_status emu_memory_load(struct emu_machine *machine, struct emu_reader *in,
                               struct lw_error *err)
{
    struct emu_memory *memory = &machine->memory;
    uint64_t end = 0;
    char name[4096];

    for (size_t i = 0; i < memory->count; i++) {
        struct emu_alloc_record *record = &memory->record[i];
        record->flags |= EMU_ALLOC_FREED; /* makes the pages of the old records inaccessible */
        set_valid(memory, record);
        free(record->name);
    }
    memory->count = 0;
    memory->heap_used = 0;
    forget_caches(machine);
    EMU_LOAD(EMU_STATE_MEMORY, memory, in);
    uint64_t count = emu_get_number(in);
    for (uint64_t i = 0; i < count && !in->bad; i++) {
        struct emu_alloc_record fresh = {0}, *p = &fresh;
        EMU_LOAD(EMU_STATE_RECORD, p, in);
        emu_get_text(in, name, sizeof name);
        if (in->bad || !record_fits(memory, p, end))
            return emu_state_bad(err, "an allocation");
        end = p->address - ISA_GLOBAL_BASE + pages_of(p) * EMU_PAGE_BYTES;
        if (!name_record(memory, &fresh, name))
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the list of allocations");
        memory->record[memory->count++] = fresh;
        set_valid(memory, p);
        if ((fresh.flags & (EMU_ALLOC_HEAP | EMU_ALLOC_FREED)) == EMU_ALLOC_HEAP)
            memory->heap_used += emu_heap_charge(fresh.size_bytes);
    }
    if (in->bad || memory->next_free < end || memory->next_free > memory->bytes)
        return emu_state_bad(err, "the allocations");
    return LW_OK;
}

/* ---- the memory hash --------------------------------------------------------------- */

bool emu_page_is_zero(const uint8_t *page)
{
    uint64_t any = 0;

    for (unsigned i = 0; i < EMU_PAGE_BYTES; i += 8)
        any |= lw_get64(page + i);
    return any == 0;
}

/** Hashes a page by four independent FNV-1a hashes, to which its little-endian words are assigned in rotation, with a bit
 *  rotation as in lw_hash. With four hashes, the host can overlap the multiplications. */
static void hash_page(struct lw_hash *hash, const uint8_t *page)
{
    uint64_t s[4] = {1, 2, 3, 4};

    for (unsigned i = 0; i < EMU_PAGE_BYTES; i += 32) {
        for (unsigned k = 0; k < 4; k++) {
            uint64_t x = (s[k] ^ lw_get64(page + i + 8 * k)) * UINT64_C(0x100000001b3);
            s[k] = x << 29 | x >> 35;
        }
    }
    for (unsigned k = 0; k < 4; k++)
        lw_hash_u64(hash, s[k]);
}

/* hash_mem is the hash of these values: for each live allocation, in the order of addresses, its address and size, then the
 * number and hash of each of its pages that is not all zero; after the allocations, the hash of the printed text. Bytes between
 * the end of an allocation and the end of its last page are always zero, because no store reaches them. */
uint64_t emu_hash_mem(const struct emu_machine *machine)
{
    const struct emu_memory *memory = &machine->memory;
    struct lw_hash hash;

    lw_hash_init(&hash);
    for (size_t i = 0; i < memory->count; i++) {
        const struct emu_alloc_record *record = &memory->record[i];
        if (record->flags & EMU_ALLOC_FREED)
            continue;
        lw_hash_u64(&hash, record->address);
        lw_hash_u64(&hash, record->size_bytes);
        uint64_t first = (record->address - ISA_GLOBAL_BASE) / EMU_PAGE_BYTES;
        uint64_t pages = pages_used(record);
        for (uint64_t page = 0; page < pages; page++) {
            const uint8_t *bytes = memory->host + (first + page) * EMU_PAGE_BYTES;
            if (!(memory->dirty[first + page] & EMU_DIRTY_TOUCHED) || emu_page_is_zero(bytes))
                continue;
            lw_hash_u64(&hash, page);
            hash_page(&hash, bytes);
        }
    }
    lw_hash_u64(&hash, lw_hash_value(&machine->text_hash));
    return lw_hash_value(&hash);
}
