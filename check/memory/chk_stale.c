/* SPDX-License-Identifier: Apache-2.0 */
/* Reports loads that returned stale contents of a cache, for models without cache coherence (EMU_MACHINE_STALE). Records
 * the last store to each word, because a finding names this store as the one whose value the load did not see. */
#include "check/chk_priv.h"

#include <stdlib.h>

enum { PAGE_SHIFT = 12, PAGE_WORDS = 1 << (PAGE_SHIFT - 2) };
/** The thread that last stored to a word, and the pc of the store. */
struct writer {
    uint64_t pc; /* pc of the store, or 0 if there is no store */
    uint64_t block;
    uint32_t grid;
    uint16_t warp;
    uint8_t lane;
};
struct stale_page {
    uint64_t page; /* page number plus 1 */
    struct writer *last; /* [PAGE_WORDS], owned */
};
struct chk_stale {
    struct chk *chk;
    struct lw_table pages; /* table of struct stale_page */
};

static void end(void *state)
{
    struct chk_stale *s = state;
    struct stale_page *pages = s->pages.rows;

    for (size_t i = 0; i < s->pages.capacity; i++)
        free(pages[i].last);
    free(pages);
}

static bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    (void)state, (void)program, (void)index;
    return chk_stores_global(insn);
}

/** Returns the record of a word, created if needed, or NULL if memory is short. */
static struct writer *last_of(struct chk_stale *s, uint64_t address)
{
    bool is_new;
    struct stale_page *page = lw_table_add(&s->pages, sizeof *page, (address >> PAGE_SHIFT) + 1, &is_new);

    if (page != NULL && page->last == NULL)
        page->last = calloc(PAGE_WORDS, sizeof *page->last);
    if (page == NULL || page->last == NULL)
        return NULL;
    return &page->last[address % (1 << PAGE_SHIFT) / 4];
}

static void on_access(void *state, const struct emu_hook_access *a)
{
    struct chk_stale *s = state;

    if (!chk_stores_global(a->at.insn)) {
        *a->filter = (struct emu_hook_filter){.end = INT64_MAX, .ignore_split = true};
        return;
    }
    for (LW_EACH_BIT(l, a->at.lanes)) {
        uint64_t at = chk_hook_address(a, (unsigned)l) & ~UINT64_C(3), end = chk_hook_address(a, (unsigned)l) + a->bytes;

        for (; at >= ISA_GLOBAL_BASE && at < end; at += 4) {
            struct writer *last = last_of(s, at);

            if (last == NULL) {
                s->chk->short_of_memory = true;
                return;
            }
            *last = (struct writer){.pc = chk_site_pc(&a->at), .block = a->at.block, .grid = a->at.grid->sequence,
                                    .warp = (uint16_t)a->at.warp, .lane = (uint8_t)l};
        }
    }
}

/** Returns the last store to the first word in [@at, @at + @bytes) for which a store is recorded; NULL: there is none. */
static const struct writer *writer_of(struct chk_stale *s, uint64_t at, uint64_t bytes)
{
    for (uint64_t end = at + bytes; at < end; at = (at & ~UINT64_C(3)) + 4) {
        const struct writer *last = last_of(s, at);

        if (last != NULL && last->pc != 0)
            return last;
    }
    return NULL;
}

static void on_machine_event(void *state, const struct emu_machine_event *event)
{
    struct chk_stale *s = state;
    struct chk_finding f = chk_finding_of(CHK_STALE, lw_popcount(event->lanes));
    struct lw_buffer text;

    if (event->kind != EMU_MACHINE_STALE)
        return;
    const struct writer *by = writer_of(s, event->address, event->size_bytes);
    chk_location_at(s->chk, event->grid->sequence, event->block, event->warp, event->lanes, event->pc, &f.location);
    if (by != NULL)
        chk_location_at(s->chk, by->grid, by->block, by->warp, UINT64_C(1) << by->lane, by->pc, &f.other);
    f.address = event->address;
    f.allocation = chk_allocation_name(s->chk, event->address);
    lw_buffer_init(&text);
    lw_printf(&text.sink, "global load of %u bytes at 0x%llx, in '%s': L1 returned an old value although another core "
                          "has stored a new one: add a device fence (__threadfence) before this load, after the load "
                          "of the flag that announces the value; if a loop waits for the value itself, make the load "
                          "volatile or atomic", (unsigned)event->size_bytes, (unsigned long long)event->address, f.allocation);
    (void)chk_add_text(s->chk, &f, &text);
}

const struct chk_observer chk_stale_observer = {
    .kinds = UINT64_C(1) << CHK_STALE, .past = CHK_PAST_NEEDED, .state_bytes = sizeof(struct chk_stale),
    .end = end, .wants = wants, .on_access = on_access, .on_machine_event = on_machine_event};
