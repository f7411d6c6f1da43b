/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow of memory: who last wrote and read each byte. */
#include "check/chk_race_priv.h"

#include <stdlib.h>

enum { ROWS = RACE_ROWS };

static uint64_t bytes_of(const struct race_cells *cells)
{
    return cells->base == NULL ? 0 : (uint64_t)ROWS * cells->count * sizeof(uint32_t);
}

static bool make(struct race_cells *cells, uint32_t count, uint8_t shift)
{
    uint32_t *rows = calloc((size_t)ROWS * (count != 0 ? count : 1), sizeof *rows);

    if (rows == NULL)
        return false;
    cells->base = rows;
    cells->count = count;
    cells->shift = shift;
    cells->borrowed = false;
    return true;
}

bool race_cells_make(struct race_cells *cells, uint32_t bytes, uint64_t *total)
{
    if (!make(cells, (bytes + 3) / 4, 2))
        return false;
    *total += bytes_of(cells);
    return true;
}

void race_cells_free(struct race_cells *cells, uint64_t *total)
{
    *total -= bytes_of(cells);
    if (!cells->borrowed)
        free(cells->base);
    *cells = (struct race_cells){0};
}

bool race_cells_split(struct race_cells *cells, uint64_t *total)
{
    struct race_cells whole = *cells;

    if (!make(cells, whole.count * 4, 0)) {
        *cells = whole;
        return false;
    }
    for (unsigned k = 0; k < ROWS; k++)
        for (uint32_t i = 0; i < cells->count; i++)
            *race_at(cells, k, i) = *race_at(&whole, k, i / 4);
    *total += bytes_of(cells);
    race_cells_free(&whole, total);
    return true;
}

/** Cells of a page, in a slab: what nobody touches of it takes no memory of the host. */
static bool page_make(struct race_shadow *shadow, struct race_cells *cells)
{
    enum { COUNT = 1 << (RACE_PAGE_SHIFT - 2), PAGE_WORDS = ROWS * COUNT, SLAB_PAGES = 64 };

    if (shadow->slab == NULL || shadow->slab_used == SLAB_PAGES) {
        uint32_t *slab = calloc((size_t)SLAB_PAGES * PAGE_WORDS, sizeof *slab);
        if (slab == NULL ||
            !lw_grow(&shadow->slabs, &shadow->slab_room, shadow->slab_count + 1,
                     sizeof *shadow->slabs)) {
            free(slab);
            return false;
        }
        shadow->slabs[shadow->slab_count++] = shadow->slab = slab;
        shadow->slab_used = 0;
    }
    cells->base = shadow->slab + (size_t)shadow->slab_used * PAGE_WORDS;
    shadow->slab_used++;
    cells->count = COUNT;
    cells->shift = 2;
    cells->borrowed = true;
    shadow->bytes += bytes_of(cells);
    return true;
}

struct race_cells *race_shadow_page(struct race_shadow *shadow, uint64_t offset)
{
    uint64_t page = offset >> RACE_PAGE_SHIFT, high = page >> RACE_TABLE_SHIFT;
    uint64_t low = page & ((1 << RACE_TABLE_SHIFT) - 1);

    if (high >> RACE_TABLE_SHIFT != 0)
        return NULL;
    struct race_cells **table = shadow->table[high];
    if (table == NULL) {
        table = calloc((size_t)1 << RACE_TABLE_SHIFT, sizeof *table);
        if (table == NULL)
            return NULL;
        shadow->table[high] = table;
    }
    if (table[low] != NULL)
        return table[low];
    struct race_cells *cells = calloc(1, sizeof *cells);
    if (cells == NULL || !page_make(shadow, cells)) {
        free(cells);
        return NULL;
    }
    if (shadow->bytes > shadow->most)
        shadow->most = shadow->bytes;
    return table[low] = cells;
}

void race_shadow_lost(struct race_shadow *shadow, const struct race_cells *cells)
{
    for (unsigned i = 0; i < RACE_NEAR; i++)
        if (shadow->near[i].cells == cells)
            memset(&shadow->near[i], 0, sizeof shadow->near[i]);
}

static void forget_all(struct race_shadow *shadow)
{
    for (size_t t = 0; t < (size_t)1 << RACE_TABLE_SHIFT; t++) {
        if (shadow->table[t] == NULL)
            continue;
        for (size_t i = 0; i < (size_t)1 << RACE_TABLE_SHIFT; i++) {
            if (shadow->table[t][i] == NULL)
                continue;
            race_cells_free(shadow->table[t][i], &shadow->bytes);
            free(shadow->table[t][i]);
        }
        free(shadow->table[t]);
        shadow->table[t] = NULL;
    }
    for (size_t i = 0; i < shadow->slab_count; i++)
        free(shadow->slabs[i]);
    free(shadow->slabs);
    shadow->slabs = NULL;
    shadow->slab = NULL;
    shadow->slab_count = shadow->slab_room = 0;
    memset(shadow->near, 0, sizeof shadow->near);
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
        struct race_cells *cells = NULL;

        here = here < bytes ? here : bytes;
        if (high >> RACE_TABLE_SHIFT != 0)
            return;
        if (shadow->table[high] != NULL)
            cells = shadow->table[high][page & ((1 << RACE_TABLE_SHIFT) - 1)];
        if (cells != NULL) {
            uint64_t first = at >> cells->shift, last = (at + here - 1) >> cells->shift;

            for (uint64_t i = first; i <= last; i++)
                *race_at(cells, RACE_W, i) = *race_at(cells, RACE_R, i) = 0;
        }
        offset += here;
        bytes -= here;
    }
}
