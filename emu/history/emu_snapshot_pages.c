/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of pages of global memory, for snapshots. */
#include "emu/history/emu_history_priv.h"

#include <stdlib.h>

#include "emu/memory/emu_mem_priv.h"

void emu_pages_fini(struct emu_pages *pages)
{
    for (size_t i = 0; i < pages->count; i++)
        free(pages->page[i].data);
    free(pages->page);
    *pages = (struct emu_pages){0};
}

uint64_t emu_pages_bytes(const struct emu_pages *pages)
{
    uint64_t bytes = pages->count * sizeof *pages->page;

    for (size_t i = 0; i < pages->count; i++)
        bytes += pages->page[i].data != NULL ? EMU_PAGE_BYTES : 0;
    return bytes;
}

static bool add(struct emu_pages *pages, const struct emu_memory *memory, uint64_t number,
                bool zeros)
{
    const uint8_t *bytes = memory->host + number * EMU_PAGE_BYTES;
    uint8_t *copy = NULL;

    if (!emu_page_is_zero(bytes)) {
        copy = malloc(EMU_PAGE_BYTES);
        if (copy == NULL)
            return false;
        memcpy(copy, bytes, EMU_PAGE_BYTES);
    } else if (!zeros) {
        return true;
    }
    if (!lw_grow(&pages->page, &pages->capacity, pages->count + 1, sizeof *pages->page)) {
        free(copy);
        return false;
    }
    pages->page[pages->count++] = (struct emu_page){number, copy};
    return true;
}

bool emu_pages_take(struct emu_pages *pages, struct emu_memory *memory, unsigned dirty,
                    bool zeros)
{
    uint64_t end = memory->next_free / EMU_PAGE_BYTES, any = dirty * UINT64_C(0x0101010101010101);

    *pages = (struct emu_pages){0};
    for (uint64_t page = 0; page < end; page++) {
        /* skips eight pages together if none of them has a dirty bit */
        if (page % 8 == 0 && page + 8 <= end && (lw_get64(memory->dirty + page) & any) == 0) {
            page += 7;
            continue;
        }
        if ((memory->dirty[page] & dirty) != dirty)
            continue;
        if (!add(pages, memory, page, zeros)) {
            emu_pages_fini(pages);
            return false;
        }
    }
    for (uint64_t page = 0; page < end; page++) {
        if (page % 8 == 0 && page + 8 <= end && (lw_get64(memory->dirty + page) & any) == 0) {
            page += 7;
            continue;
        }
        if ((memory->dirty[page] & dirty) == dirty)
            memory->dirty[page] &= (uint8_t)~EMU_DIRTY_CHANGED;
    }
    return true;
}

const struct emu_page *emu_pages_find(const struct emu_pages *pages, uint64_t number)
{
    const size_t low = lw_lower_bound(pages->page, pages->count, sizeof *pages->page, number);

    return low < pages->count && pages->page[low].number == number ? &pages->page[low] : NULL;
}

bool emu_pages_merge(struct emu_pages *newer, struct emu_pages *older)
{
    struct emu_page *all = malloc((newer->count + older->count) * sizeof *all + 1);
    size_t n = 0, i = 0, k = 0;

    if (all == NULL)
        return false;
    while (i < newer->count || k < older->count) {
        bool take_new = k == older->count ||
                        (i < newer->count && newer->page[i].number <= older->page[k].number);
        if (take_new && k < older->count && newer->page[i].number == older->page[k].number)
            free(older->page[k++].data); /* both snapshots contain this page, so the older version is dropped */
        all[n++] = take_new ? newer->page[i++] : older->page[k++];
    }
    free(newer->page);
    free(older->page);
    *newer = (struct emu_pages){all, n, n};
    *older = (struct emu_pages){0};
    return true;
}

void emu_page_put(struct emu_memory *memory, uint64_t number, const uint8_t *data)
{
    uint8_t *to = memory->host + number * EMU_PAGE_BYTES;

    if (data != NULL) {
        memcpy(to, data, EMU_PAGE_BYTES);
        memory->dirty[number] = EMU_DIRTY_TOUCHED;
        return;
    }
    if (!emu_page_is_zero(to))
        memset(to, 0, EMU_PAGE_BYTES);
    memory->dirty[number] &= (uint8_t)~EMU_DIRTY_CHANGED;
}
