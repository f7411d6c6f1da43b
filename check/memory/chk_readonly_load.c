/* SPDX-License-Identifier: Apache-2.0 */
/* Finds memory that one launch both reads as constant and writes. Loads that read memory as constant are those of
 * `const __restrict` and __ldg (loads with the hint nc), and scalar loads. A GPU may serve them from caches that are not
 * updated by stores, so they may return old contents. */
#include "check/chk_priv.h"

#include <stdlib.h>

enum { PAGE_SHIFT = 12, PAGE_WORDS = 1 << (PAGE_SHIFT - 2), PAGE_BITS = 1 << (PAGE_SHIFT - 6) };
/** Accesses of a launch to a page of global memory: [0] loads that read it as constant, [1] writes. */
struct const_page {
    uint32_t grid; /* sequence number of the launch */
    struct const_page *next; /* accesses of another launch to the same page */
    uint64_t bytes[2][PAGE_BITS]; /* a bit for each accessed byte */
    uint32_t site[2][PAGE_WORDS]; /* [word]: 1 + index of the last accessing instruction */
};
struct const_pages {
    uint64_t page; /* page number plus 1 */
    struct const_page *first; /* list, owned */
};
struct chk_const {
    struct chk *chk;
    struct lw_table pages; /* table of struct const_pages */
};

static void end(void *state)
{
    struct chk_const *c = state;
    struct const_pages *pages = c->pages.rows;

    for (size_t i = 0; i < c->pages.capacity; i++)
        for (struct const_page *p = pages[i].first, *next; p != NULL; p = next) {
            next = p->next;
            free(p);
        }
    free(pages);
}

/** Returns true if a load declares that the memory is constant. */
static bool promises(const struct isa_insn *insn)
{
    if (insn->op == ISA_S_LD_GLOBAL)
        return true;
    return insn->op == ISA_LD_GLOBAL && isa_mod_get(insn, ISA_MOD_CACHE) == ISA_CACHE_NC;
}

static bool wants(void *state, const struct emu_program *program, uint32_t index, const struct isa_insn *insn)
{
    (void)state, (void)program, (void)index;
    return promises(insn) || chk_stores_global(insn);
}

/** Returns the record of the page of @address for launch @grid, which may replace the record of a completed launch. NULL:
 *  no memory. */
static struct const_page *page_at(struct chk_const *c, uint64_t address, uint32_t grid)
{
    bool is_new;
    struct const_pages *pages = lw_table_add(&c->pages, sizeof *pages, (address >> PAGE_SHIFT) + 1, &is_new);
    struct const_page *p, *over = NULL;

    if (pages == NULL)
        return NULL;
    for (p = pages->first; p != NULL && p->grid != grid; p = p->next) {
        const struct emu_grid *other = over == NULL ? emu_grid_find(c->chk->machine, p->grid) : NULL;
        if (over == NULL && (other == NULL || emu_grid_complete(other)))
            over = p;
    }
    if (p != NULL)
        return p;
    if (over != NULL) {
        struct const_page *next = over->next;
        memset(over, 0, sizeof *over);
        over->next = next;
    } else {
        over = calloc(1, sizeof *over);
        if (over == NULL)
            return NULL;
        over->next = pages->first;
        pages->first = over;
    }
    over->grid = grid;
    return over;
}

/** Reports that @lanes of an access overlap an earlier access by instruction @other: if the access is a load, the earlier
 *  access is a write, and vice versa. */
static void report(struct chk_const *c, const struct emu_hook_access *a, uint64_t lanes, uint64_t address,
                 uint32_t other)
{
    const struct isa_object *object = emu_program_object(a->at.program);
    const struct isa_line *line = isa_object_line_at(object, other);
    const bool load = a->kind == EMU_ACCESS_LOAD;
    struct chk_finding f = chk_finding_of(CHK_CONST, lw_popcount(lanes));
    struct lw_buffer text;

    chk_location_of(c->chk, &a->at, lanes, &f.location);
    f.address = address;
    f.allocation = chk_allocation_name(c->chk, address);
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s of %u byte%s at 0x%llx, in '%s': ", chk_access_names[a->kind], a->bytes,
              a->bytes == 1 ? "" : "s", (unsigned long long)address, f.allocation);
    lw_put(&text.sink, load ? "this load reads memory as constant (const __restrict, __ldg) that the same launch has "
                              "written: use a plain load, or write the memory in another launch"
                    : "this store writes memory that the same launch has read as constant (const __restrict, __ldg): "
                      "use a plain load there, or write the memory in another launch");
    if (line != NULL && line->file < object->file_count)
        lw_printf(&text.sink, ", at %s:%u", object->files[line->file], line->line);
    (void)chk_add_text(c->chk, &f, &text);
}

static void on_access(void *state, const struct emu_hook_access *a)
{
    struct chk_const *c = state;
    const unsigned mine = a->kind != EMU_ACCESS_LOAD;
    struct const_page *page = NULL;
    uint64_t found = 0, first = 0, of = 0;
    uint32_t other = 0;

    if (!wants(state, a->at.program, a->at.index, a->at.insn)) {
        *a->filter = (struct emu_hook_filter){.end = INT64_MAX, .ignore_split = true};
        return;
    }
    for (LW_EACH_BIT(l, a->at.lanes)) {
        uint64_t at = chk_hook_address(a, (unsigned)l);

        for (unsigned k = 0; at >= ISA_GLOBAL_BASE && k < a->bytes; k++, at++) {
            const uint32_t in = (uint32_t)(at & ((1 << PAGE_SHIFT) - 1));

            if (page == NULL || at >> PAGE_SHIFT != of)
                page = page_at(c, at, a->at.grid->sequence);
            of = at >> PAGE_SHIFT;
            if (page == NULL) {
                c->chk->short_of_memory = true;
                return;
            }
            if (page->bytes[!mine][in / 64] >> in % 64 & 1) {
                if (found == 0) {
                    first = at;
                    other = page->site[!mine][in / 4] - 1;
                }
                found |= UINT64_C(1) << l;
            }
            page->bytes[mine][in / 64] |= UINT64_C(1) << in % 64;
            page->site[mine][in / 4] = a->at.index + 1;
        }
    }
    if (found != 0)
        report(c, a, found, first, other);
}

const struct chk_observer chk_const_observer = {
    .kinds = UINT64_C(1) << CHK_CONST, .past = CHK_PAST_NEEDED, .state_bytes = sizeof(struct chk_const),
    .end = end, .wants = wants, .on_access = on_access};
