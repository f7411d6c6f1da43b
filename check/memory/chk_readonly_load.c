/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a launch reads as constant (`const __restrict`, __ldg: loads with the hint nc, and
 * scalar loads), and writes: caches that do not see stores may hold what was there before. */
#include "check/chk_priv.h"

#include <stdlib.h>

enum { PAGE_SHIFT = 12, PAGE_WORDS = 1 << (PAGE_SHIFT - 2), PAGE_BITS = 1 << (PAGE_SHIFT - 6) };
/** What a launch did with a page of global memory: which bytes, and of each word the last instruction and 1,
 *  of those that [0] read it so, [1] wrote it. */
struct const_page {
    uint64_t page; /* and 1 */
    uint32_t grid;
    struct const_page *next; /* of another launch: several may be under way */
    uint64_t bytes[2][PAGE_BITS];
    uint32_t site[2][PAGE_WORDS];
};
struct chk_const {
    struct chk *chk;
    struct const_page **pages; /* [room] open addressing, a power of two */
    size_t count, room;
    bool short_of_memory;
};

struct chk_const *chk_const_create(struct chk *chk)
{
    struct chk_const *c = calloc(1, sizeof *c);

    if (c != NULL)
        c->chk = chk;
    return c;
}

void chk_const_destroy(struct chk_const *c)
{
    for (size_t i = 0; c != NULL && i < c->room; i++)
        for (struct const_page *p = c->pages[i], *next; p != NULL; p = next) {
            next = p->next;
            free(p);
        }
    if (c != NULL)
        free(c->pages);
    free(c);
}

bool chk_const_short_of_memory(const struct chk_const *c)
{
    return c->short_of_memory;
}

/** Does a load declare that what it reads is constant? */
static bool promises(const struct isa_insn *insn)
{
    if (insn->op == ISA_S_LD_GLOBAL)
        return true;
    return insn->op == ISA_LD_GLOBAL && isa_mod_get(insn, ISA_MOD_CACHE) == ISA_CACHE_NC;
}

bool chk_const_wants(const struct isa_insn *insn)
{
    enum isa_space space = ISA_SPACE_CONST;

    if (promises(insn))
        return true;
    switch (isa_op_access((enum isa_op)insn->op, &space)) {
    case ISA_ACCESS_NONE:
    case ISA_ACCESS_LOAD: return false;
    default: return space == ISA_SPACE_GLOBAL || space == ISA_SPACE_GENERIC;
    }
}

static size_t slot_of(struct const_page *const *pages, size_t room, uint64_t page)
{
    size_t i = (size_t)(page * UINT64_C(0x9E3779B97F4A7C15) >> 24) & (room - 1);

    while (pages[i] != NULL && pages[i]->page != page)
        i = (i + 1) & (room - 1);
    return i;
}

/** The page of an address, as the launch has left it. NULL: no memory. */
static struct const_page *page_at(struct chk_const *c, uint64_t address, uint32_t grid)
{
    const uint64_t page = (address >> PAGE_SHIFT) + 1;

    if (2 * (c->count + 1) > c->room) {
        const size_t room = c->room != 0 ? 2 * c->room : 256;
        struct const_page **pages = calloc(room, sizeof *pages);

        if (pages == NULL)
            return NULL;
        for (size_t i = 0; i < c->room; i++)
            if (c->pages[i] != NULL)
                pages[slot_of(pages, room, c->pages[i]->page)] = c->pages[i];
        free(c->pages);
        c->pages = pages;
        c->room = room;
    }
    struct const_page **head = &c->pages[slot_of(c->pages, c->room, page)], *p, *over = NULL;
    for (p = *head; p != NULL && p->grid != grid; p = p->next) {
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
        c->count += *head == NULL;
        over->next = *head;
        *head = over;
    }
    over->page = page;
    over->grid = grid;
    return over;
}

/** @lanes of an access meet what the instruction @other did. */
static void report(struct chk_const *c, const struct emu_hook_access *a, uint64_t lanes, uint64_t address,
                 uint32_t other)
{
    const struct isa_object *object = emu_program_object(a->at.program);
    const struct isa_line *line = isa_object_line_at(object, other);
    const bool load = a->kind == EMU_ACCESS_LOAD;
    struct chk_finding f = {.kind = CHK_CONST, .other = {.kernel = "", .function = "", .file = ""},
                            .allocation = "", .address = address, .count = lw_popcount(lanes)};
    struct emu_allocation allocation;
    struct lw_buffer text;
    bool inside;

    chk_location_at(c->chk, a->at.grid->sequence, a->at.block, a->at.warp, lanes,
                 emu_program_base(a->at.program) + (uint64_t)a->at.index * ISA_WORD_BYTES, &f.location);
    if (emu_allocation_at(c->chk->machine, address, &allocation, &inside))
        f.allocation = allocation.name;
    lw_buffer_init(&text);
    lw_printf(&text.sink, "%s of %u bytes at 0x%llx, in '%s': ", chk_access_names[a->kind], a->bytes, (unsigned long long)address, f.allocation);
    lw_put(&text.sink, load ? "it is read as constant (const __restrict, __ldg), but this launch has written it: read it plainly, or "
                      "write it in another launch"
                    : "this launch has read it as constant (const __restrict, __ldg): read it plainly, or write it in "
                      "another launch");
    if (line != NULL && line->file < object->file_count)
        lw_printf(&text.sink, ", at %s:%u", object->files[line->file], line->line);
    f.message = text.text != NULL ? text.text : "";
    (void)chk_add(c->chk, &f);
    lw_buffer_fini(&text);
}

void chk_const_access(struct chk_const *c, const struct emu_hook_access *a)
{
    const unsigned mine = a->kind != EMU_ACCESS_LOAD;
    uint64_t found = 0, first = 0;
    uint32_t other = 0;

    for (LW_EACH_BIT(l, a->at.lanes)) {
        uint64_t at = chk_hook_address(a, (unsigned)l);

        for (unsigned k = 0; at >= ISA_GLOBAL_BASE && k < a->bytes; k++, at++) {
            struct const_page *page = page_at(c, at, a->at.grid->sequence);
            const uint32_t in = (uint32_t)(at & ((1 << PAGE_SHIFT) - 1));

            if (page == NULL) {
                c->short_of_memory = true;
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
