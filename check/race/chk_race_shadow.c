/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: shadow memory, with the last write and the last reads of each word. */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { ROWS = RACE_ROWS };

static uint64_t bytes_of(const struct race_page_shadow *cells)
{
    return cells->hot == NULL ? 0 : (uint64_t)ROWS * cells->count * sizeof(uint32_t);
}

static bool make(struct race_page_shadow *cells, uint32_t count, uint8_t shift)
{
    uint32_t *rows = calloc((size_t)ROWS * (count != 0 ? count : 1), sizeof *rows);

    if (rows == NULL)
        return false;
    cells->hot = rows;
    cells->warm = rows + (size_t)RACE_HOT * count;
    cells->cold = cells->warm + (size_t)RACE_WARM * count;
    cells->count = count;
    cells->shift = shift;
    cells->in_slab = false;
    return true;
}

bool race_page_shadow_create(struct race_page_shadow *cells, uint32_t bytes, uint64_t *total)
{
    if (!make(cells, (bytes + 3) / 4, 2))
        return false;
    *total += bytes_of(cells);
    return true;
}

void race_page_shadow_free(struct race_page_shadow *cells, uint64_t *total)
{
    *total -= bytes_of(cells);
    if (!cells->in_slab)
        free(cells->hot);
    *cells = (struct race_page_shadow){0};
}

bool race_page_shadow_split(struct race_page_shadow *cells, uint64_t *total)
{
    struct race_page_shadow whole = *cells;

    if (!make(cells, whole.count * 4, 0)) {
        *cells = whole;
        return false;
    }
    for (unsigned k = 0; k < ROWS; k++)
        for (uint32_t i = 0; i < cells->count; i++)
            *race_at(cells, k, i) = *race_at(&whole, k, i / 4);
    *total += bytes_of(cells);
    race_page_shadow_free(&whole, total);
    return true;
}

#define LARGE_BYTES ((size_t)RACE_SLAB_HOT)
#define REST_BYTES ((size_t)RACE_SLAB_PAGES * RACE_PAGE_WARM)
#define HOT_BYTES (LARGE_BYTES + REST_BYTES)
#define SLAB_BYTES (HOT_BYTES + (size_t)RACE_SLAB_PAGES * RACE_PAGE_COLD)

/** Allocates zeroed memory aligned to large pages, with the first @large bytes in large pages; NULL: there is no
 *  memory. */
static void *aligned_make(size_t bytes, size_t large)
{
    char *at = mmap(NULL, bytes + LARGE_BYTES, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    const size_t less = -(uintptr_t)at & (LARGE_BYTES - 1);
    if (less != 0)
        (void)munmap(at, less);
    if (less != LARGE_BYTES)
        (void)munmap(at + less + bytes, LARGE_BYTES - less);
    /* with large pages, locations that are far apart need fewer TLB entries. The call is only a hint. */
    if (large != 0)
        (void)madvise(at + less, large, MADV_HUGEPAGE);
    return at + less;
}

void *race_large_make(size_t bytes)
{
    return aligned_make(bytes, bytes);
}

void race_large_wish(void *at, size_t bytes)
{
    (void)madvise(at, bytes, MADV_HUGEPAGE);
}

void race_large_free(void *at, size_t bytes)
{
    if (at != NULL)
        (void)munmap(at, bytes);
}

bool race_shadow_rows(struct race_shadow *shadow, struct race_page_shadow *cells)
{
    if (cells->hot != NULL)
        return true;
    if (shadow->slab_count == 0 || shadow->slab_used == RACE_SLAB_PAGES) {
        /* no large pages for the first slab: many programs use only a few pages of it */
        uint32_t *slab = aligned_make(SLAB_BYTES, shadow->slab_count != 0 ? HOT_BYTES : 0);
        if (slab == NULL || !lw_grow(&shadow->slabs, &shadow->slab_capacity, shadow->slab_count + 1,
                                     sizeof *shadow->slabs)) {
            if (slab != NULL)
                (void)munmap(slab, SLAB_BYTES);
            return false;
        }
        shadow->slabs[shadow->slab_count++] = slab;
        shadow->slab_used = 0;
    }
    cells->hot = shadow->slabs[shadow->slab_count - 1] +
                  (size_t)shadow->slab_used * RACE_PAGE_WORDS * RACE_HOT;
    cells->warm = race_hot_warm(cells->hot);
    cells->cold = shadow->slabs[shadow->slab_count - 1] + HOT_BYTES / sizeof(uint32_t) +
                    (size_t)shadow->slab_used * RACE_PAGE_WORDS * RACE_COLD;
    shadow->slab_used++;
    cells->in_slab = true;
    cells->count = RACE_PAGE_WORDS;
    cells->shift = 2;
    shadow->bytes += bytes_of(cells);
    if (shadow->bytes > shadow->most)
        shadow->most = shadow->bytes;
    return true;
}

struct race_page_shadow *race_shadow_page(struct race_shadow *shadow, uint64_t offset)
{
    uint64_t page = offset >> RACE_PAGE_SHIFT, high = page >> RACE_TABLE_SHIFT;
    uint64_t low = page & ((1 << RACE_TABLE_SHIFT) - 1);

    if (high >> RACE_TABLE_SHIFT != 0)
        return NULL;
    struct race_page_shadow **table = shadow->table[high];
    if (table == NULL) {
        table = calloc((size_t)1 << RACE_TABLE_SHIFT, sizeof *table);
        if (table == NULL)
            return NULL;
        shadow->table[high] = table;
    }
    if (table[low] != NULL)
        return table[low];
    return table[low] = calloc(1, sizeof *table[low]);
}

#define VALID_BYTES ((size_t)RACE_PAGES * sizeof(uint32_t *))

bool race_shadow_begin(struct race_shadow *shadow)
{
    shadow->valid_page = lw_reserve(VALID_BYTES);
    if (shadow->valid_page == NULL)
        return false;
    shadow->valid_first = RACE_PAGES;
    shadow->epoch = 1;
    return true;
}

void race_shadow_is_valid(struct race_shadow *shadow, const struct race_page_shadow *cells, uint64_t offset)
{
    const size_t page = offset >> RACE_PAGE_SHIFT;

    shadow->valid_page[page] = cells->in_slab ? cells->hot : RACE_VALID;
    shadow->valid_first = page < shadow->valid_first ? page : shadow->valid_first;
    shadow->valid_end = page >= shadow->valid_end ? page + 1 : shadow->valid_end;
}

void race_shadow_is_invalid(struct race_shadow *shadow)
{
    if (shadow->valid_first < shadow->valid_end)
        memset(&shadow->valid_page[shadow->valid_first], 0,
               (shadow->valid_end - shadow->valid_first) * sizeof(uint32_t *));
    shadow->valid_first = RACE_PAGES;
    shadow->valid_end = 0;
}

static void forget_all(struct race_shadow *shadow)
{
    for (size_t t = 0; t < (size_t)1 << RACE_TABLE_SHIFT; t++) {
        if (shadow->table[t] == NULL)
            continue;
        for (size_t i = 0; i < (size_t)1 << RACE_TABLE_SHIFT; i++) {
            if (shadow->table[t][i] == NULL)
                continue;
            race_page_shadow_free(shadow->table[t][i], &shadow->bytes);
            free(shadow->table[t][i]);
        }
        free(shadow->table[t]);
        shadow->table[t] = NULL;
    }
    for (size_t i = 0; i < shadow->slab_count; i++)
        (void)munmap(shadow->slabs[i], SLAB_BYTES);
    free(shadow->slabs);
    shadow->slabs = NULL;
    shadow->slab_count = shadow->slab_capacity = 0;
    memset(shadow->lookup_cache, 0, sizeof shadow->lookup_cache);
    race_shadow_is_invalid(shadow);
}

void race_shadow_end(struct race_shadow *shadow)
{
    forget_all(shadow);
    lw_release(shadow->valid_page, VALID_BYTES);
}

void race_shadow_forget(struct race_shadow *shadow, uint64_t offset, uint64_t bytes)
{
    if (bytes == 0) {
        forget_all(shadow);
        return;
    }
    while (bytes != 0) {
        uint64_t page = offset >> RACE_PAGE_SHIFT, high = page >> RACE_TABLE_SHIFT;
        uint64_t at = offset & ((1 << RACE_PAGE_SHIFT) - 1);
        uint64_t here = (UINT64_C(1) << RACE_PAGE_SHIFT) - at;
        struct race_page_shadow *cells = NULL;

        here = here < bytes ? here : bytes;
        if (high >> RACE_TABLE_SHIFT != 0)
            return;
        if (shadow->table[high] != NULL)
            cells = shadow->table[high][page & ((1 << RACE_TABLE_SHIFT) - 1)];
        if (cells != NULL && cells->hot != NULL) {
            uint64_t first = at >> cells->shift, last = (at + here - 1) >> cells->shift;

            for (uint64_t i = first; i <= last; i++)
                *race_at(cells, RACE_W, i) = *race_at(cells, RACE_R, i) =
                    *race_at(cells, RACE_WEAK, i) = 0;
        }
        offset += here;
        bytes -= here;
    }
}
