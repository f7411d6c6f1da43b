/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that gave what a cache held, where caches are not coherent (EMU_MACHINE_STALE): the store that they missed is the last one to
 * that word, which is recorded here. */
#include "check/chk_priv.h"

#include <stdlib.h>

enum { PAGE_SHIFT = 12, PAGE_WORDS = 1 << (PAGE_SHIFT - 2) };
/** The last store to a word. */
struct writer {
    uint64_t pc; /* 0: none */
    uint64_t block;
    uint32_t grid;
    uint16_t warp;
    uint8_t lane;
};
struct stale_page {
    uint64_t page; /* and 1 */
    struct writer last[PAGE_WORDS];
};
struct chk_stale {
    struct chk *chk;
    struct stale_page **pages; /* [room] open addressing, a power of two */
    size_t count, room;
    bool short_of_memory;
};

struct chk_stale *chk_stale_create(struct chk *chk)
{
    struct chk_stale *s = calloc(1, sizeof *s);

    if (s != NULL)
        s->chk = chk;
    return s;
}

void chk_stale_destroy(struct chk_stale *s)
{
    for (size_t i = 0; s != NULL && i < s->room; i++)
        free(s->pages[i]);
    if (s != NULL)
        free(s->pages);
    free(s);
}

bool chk_stale_short_of_memory(const struct chk_stale *s)
{
    return s->short_of_memory;
}

bool chk_stale_wants(const struct isa_insn *insn)
{
    enum isa_space space = ISA_SPACE_CONST;

    switch (isa_op_access((enum isa_op)insn->op, &space)) {
    case ISA_ACCESS_NONE:
    case ISA_ACCESS_LOAD: return false;
    default: return space == ISA_SPACE_GLOBAL || space == ISA_SPACE_GENERIC;
    }
}

static size_t slot_of(struct stale_page *const *pages, size_t room, uint64_t page)
{
    size_t i = (size_t)(page * UINT64_C(0x9E3779B97F4A7C15) >> 24) & (room - 1);

    while (pages[i] != NULL && pages[i]->page != page)
        i = (i + 1) & (room - 1);
    return i;
}

/** The page of an address, made if it is not there. NULL: no memory. */
static struct stale_page *page_at(struct chk_stale *s, uint64_t address)
{
    const uint64_t page = (address >> PAGE_SHIFT) + 1;

    if (2 * (s->count + 1) > s->room) {
        const size_t room = s->room != 0 ? 2 * s->room : 256;
        struct stale_page **pages = calloc(room, sizeof *pages);

        if (pages == NULL)
            return NULL;
        for (size_t i = 0; i < s->room; i++)
            if (s->pages[i] != NULL)
                pages[slot_of(pages, room, s->pages[i]->page)] = s->pages[i];
        free(s->pages);
        s->pages = pages;
        s->room = room;
    }
    struct stale_page **at = &s->pages[slot_of(s->pages, s->room, page)];
    if (*at == NULL && (*at = calloc(1, sizeof **at)) != NULL) {
        (*at)->page = page;
        s->count++;
    }
    return *at;
}

void chk_stale_access(struct chk_stale *s, const struct emu_hook_access *a)
{
    const uint64_t pc = emu_program_base(a->at.program) + (uint64_t)a->at.index * ISA_WORD_BYTES;

    for (LW_EACH_BIT(l, a->at.lanes)) {
        uint64_t at = chk_hook_address(a, (unsigned)l) & ~UINT64_C(3), end = chk_hook_address(a, (unsigned)l) + a->bytes;

        for (; at >= ISA_GLOBAL_BASE && at < end; at += 4) {
            struct stale_page *page = page_at(s, at);

            if (page == NULL) {
                s->short_of_memory = true;
                return;
            }
            page->last[at % (1 << PAGE_SHIFT) / 4] =
                (struct writer){.pc = pc, .block = a->at.block, .grid = a->at.grid->sequence,
                                .warp = (uint16_t)a->at.warp, .lane = (uint8_t)l};
        }
    }
}

/** The last store to what a load has read of address @at on. NULL: none is known. */
static const struct writer *writer_of(struct chk_stale *s, uint64_t at, uint64_t bytes)
{
    for (uint64_t end = at + bytes; at < end; at = (at & ~UINT64_C(3)) + 4) {
        const struct stale_page *page = page_at(s, at);

        if (page != NULL && page->last[at % (1 << PAGE_SHIFT) / 4].pc != 0)
            return &page->last[at % (1 << PAGE_SHIFT) / 4];
    }
    return NULL;
}

void chk_stale_found(struct chk_stale *s, const struct emu_machine_event *event)
{
    const struct writer *by = writer_of(s, event->address, event->size_bytes);
    struct chk_finding f = {.kind = CHK_STALE, .other = {.kernel = "", .function = "", .file = ""},
                            .allocation = "", .address = event->address, .count = lw_popcount(event->lanes)};
    struct emu_allocation allocation;
    struct lw_buffer text;
    bool inside;

    chk_location_at(s->chk, event->grid->sequence, event->block, event->warp, event->lanes, event->pc, &f.location);
    if (by != NULL)
        chk_location_at(s->chk, by->grid, by->block, by->warp, UINT64_C(1) << by->lane, by->pc, &f.other);
    if (emu_allocation_at(s->chk->machine, event->address, &allocation, &inside))
        f.allocation = allocation.name;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "global load of %u bytes at 0x%llx, in '%s': L1 still has what was there before the store by "
              "another core: put a fence of the device (__threadfence) between what says that the value is there and this load, or "
              "make it volatile or atomic", (unsigned)event->size_bytes, (unsigned long long)event->address, f.allocation);
    f.message = text.text != NULL ? text.text : "";
    (void)chk_add(s->chk, &f);
    lw_buffer_fini(&text);
}
