/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of all lanes of a machine, for a run that the user interrupts. */
#include <stdio.h>
#include <stdlib.h>

#include "emu/simt/emu_split_priv.h"
#include "emu/inspect/emu_spin_observer_priv.h"

enum { MOST_LINES = 24, TEXT_BYTES = 400 };

/** A line of the report: warps @first to @last of the blocks @block to @block_last have the position @text. */
struct line {
    uint32_t grid;
    uint64_t block, block_last;
    unsigned first, last;
    char text[TEXT_BYTES];
};
struct list {
    struct line line[MOST_LINES];
    unsigned count, dropped;
};

static int by_block(const void *a, const void *b)
{
    const struct emu_block *x = *(const struct emu_block *const *)a, *y = *(const struct emu_block *const *)b;
    const uint32_t p = x->grid->sequence, q = y->grid->sequence;

    return p != q ? (p > q) - (p < q) : (x->linear > y->linear) - (x->linear < y->linear);
}

/** Returns the blocks with live lanes, ordered by grid and block. The caller frees the list. Returns NULL if there are no such
 *  blocks, or no memory. */
static const struct emu_block **blocks_of(const struct emu_machine *machine, size_t *count)
{
    const struct emu_block **all = NULL;
    size_t room = 0;

    *count = 0;
    for (unsigned i = 0; i < machine->core_count; i++) {
        const struct emu_core *core = machine->cores[i];

        for (unsigned b = 0; b < core->slots_used; b++) {
            if (!core->block[b].in_use || core->block[b].warps_live == 0 || core->block[b].grid == NULL)
                continue;
            if (!lw_grow(&all, &room, *count + 1, sizeof *all))
                return all;
            all[(*count)++] = &core->block[b];
        }
    }
    if (*count != 0)
        qsort(all, *count, sizeof *all, by_block);
    return all;
}

/** Adds the lines of one block. If the block has only one line, and this line equals the only line of the preceding block, the
 *  line of the preceding block is extended to this block. */
static void add_block(struct list *list, const struct emu_block *block)
{
    const unsigned begin = list->count, dropped = list->dropped;
    unsigned lines = 0;
    struct line now = {.grid = 0}, held = {.grid = 0};

    for (unsigned i = 0; i <= block->warp_count; i++) {
        const struct emu_warp *w = i < block->warp_count ? &block->warp[i] : NULL;

        if (w != NULL && w->live == 0)
            continue;
        now = (struct line){block->grid->sequence, block->linear, block->linear, i, i, ""};
        if (w != NULL)
            emu_hang_report_where(w, w->live, now.text, sizeof now.text);
        if (w != NULL && lines != 0 && held.last + 1 == i && strcmp(held.text, now.text) == 0) {
            held.last = i;
            continue;
        }
        if (lines != 0 && list->count == MOST_LINES)
            list->dropped++;
        else if (lines != 0)
            list->line[list->count++] = held;
        held = now;
        lines += w != NULL;
    }
    if (begin == 0 || begin >= list->count || list->count != begin + 1 || list->dropped != dropped)
        return;
    struct line *before = &list->line[begin - 1], *last = &list->line[begin];
    if ((begin >= 2 && before[-1].block == before->block && before[-1].grid == before->grid) ||
        before->grid != last->grid || before->block_last + 1 != last->block || before->first != last->first ||
        before->last != last->last || strcmp(before->text, last->text) != 0)
        return;
    before->block_last = last->block;
    list->count--;
}

static void put_line(const struct line *line, bool name_grids, bool name_blocks, struct lw_sink *out)
{
    lw_put(out, "\n");
    if (name_grids)
        lw_printf(out, "launch %u ", line->grid);
    if (name_blocks && line->block != line->block_last)
        lw_printf(out, "blocks %llu-%llu ", (unsigned long long)line->block, (unsigned long long)line->block_last);
    else if (name_blocks)
        lw_printf(out, "block %llu ", (unsigned long long)line->block);
    if (line->first != line->last)
        lw_printf(out, "warps %u-%u ", line->first, line->last);
    else
        lw_printf(out, "warp %u ", line->first);
    lw_put(out, line->text);
}

/** Records the position of a block's first live warp. */
static void put_first(const struct emu_block *block, struct emu_hang *out)
{
    out->grid = block->grid->sequence;
    out->block = block->linear;
    for (unsigned i = 0; i < block->warp_count; i++) {
        const struct emu_warp *w = &block->warp[i];

        if (w->live == 0)
            continue;
        out->warp = i;
        for (LW_EACH_BIT(id, w->split_ids)) {
            out->lanes = w->split[id].lanes;
            out->pc = w->code->program->base + (uint64_t)emu_split_pc(w, (unsigned)id) * ISA_WORD_BYTES;
            return;
        }
    }
}

void emu_machine_where(const struct emu_machine *machine, const char *why, struct emu_hang *out)
{
    struct list *list = calloc(1, sizeof *list);
    const struct emu_grid *current = emu_grid_current(machine);
    const struct emu_block **blocks;
    struct lw_buffer text;
    size_t count;
    char room[ISA_SYMBOL_BYTES];

    memset(out, 0, sizeof *out);
    blocks = blocks_of(machine, &count);
    if (count != 0)
        put_first(blocks[0], out);
    for (size_t i = 0; i < count && list != NULL; i++)
        add_block(list, blocks[i]);
    lw_buffer_init(&text);
    lw_put(&text.sink, why);
    if (current != NULL)
        lw_printf(&text.sink, "; in kernel %s, %llu of %llu blocks have ended",
                  isa_symbol_text(current->launch.kernel->name, room), (unsigned long long)current->blocks_ended,
                  (unsigned long long)current->block_count);
    for (unsigned i = 0; list != NULL && i < list->count; i++)
        put_line(&list->line[i], machine->device_open != 0, machine->device_open != 0 ||
                 (current != NULL && current->block_count > 1), &text.sink);
    if (list != NULL && list->dropped != 0)
        lw_printf(&text.sink, "\n... and %u more lines like these", list->dropped);
    snprintf(out->detail, sizeof out->detail, "%s", text.text != NULL ? text.text : why);
    if (text.size >= sizeof out->detail)
        memcpy(out->detail + sizeof out->detail - 4, "...", 4);
    lw_buffer_fini(&text);
    free(blocks);
    free(list);
}
