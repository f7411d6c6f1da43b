/* SPDX-License-Identifier: Apache-2.0 */
/* Emits the tables of the machine's state (`info os` in gdb, `table` in the shell) as rows of text, which the caller
 * formats. */
#include "debug/commands/dbg_commands_priv.h"

#include <stdio.h>

void dbg_cell(struct dbg_row *row, const char *fmt, ...)
{
    va_list args;

    if (row->count == DBG_MAX_CELLS)
        return;
    va_start(args, fmt);
    vsnprintf(row->text[row->count++], DBG_CELL_BYTES, fmt, args);
    va_end(args);
}

void dbg_row_end(struct dbg_row *row)
{
    const char *cells[DBG_MAX_CELLS];

    for (unsigned i = 0; i < row->count; i++)
        cells[i] = row->text[i];
    row->emit(row->context, cells, row->count);
    row->count = 0;
    row->ended++;
}

void dbg_cell_index(struct dbg_row *row, const uint32_t index[3])
{
    dbg_cell(row, "(%u,%u,%u)", index[0], index[1], index[2]);
}

void dbg_cell_mask(struct dbg_row *row, uint64_t lanes)
{
    dbg_cell(row, "0x%0*llx", (int)(emu_machine_config(row->dbg->machine)->warp_width + 3) / 4,
             (unsigned long long)lanes);
}

void dbg_cell_location(struct dbg_row *row, uint64_t pc)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    dbg_print_location(row->dbg, pc, &text.sink);
    dbg_cell(row, "%s", text.text != NULL ? text.text : "");
    lw_buffer_fini(&text);
}

/* ---- the tables -------------------------------------------------------------------- */

static const char *grid_state(const struct emu_grid *grid)
{
    return grid->stream_prev != NULL                      ? "waits"
           : grid->blocks_started == 0               ? "queued"
           : grid->blocks_ended == grid->block_count ? "children"
                                                     : "running";
}

static void rows_kernels(struct dbg_row *row)
{
    const struct emu_grid *grid = emu_grid_current(row->dbg->machine);

    for (; grid != NULL; grid = grid->next) {
        if (emu_grid_complete(grid))
            continue;
        dbg_cell(row, "%u", grid->sequence);
        dbg_cell(row, "%s", grid->launch.kernel->name);
        dbg_cell(row, "%s", grid_state(grid));
        dbg_cell_index(row, grid->launch.grid);
        dbg_cell_index(row, grid->launch.block);
        dbg_cell(row, "%llu", (unsigned long long)grid->block_count);
        dbg_cell(row, "%llu", (unsigned long long)grid->blocks_started);
        dbg_cell(row, "%llu", (unsigned long long)grid->blocks_ended);
        if (grid->parent.grid != 0)
            dbg_cell(row, "%u", grid->parent.grid);
        else
            dbg_cell(row, "host");
        dbg_row_end(row);
    }
}

static void rows_blocks(struct dbg_row *row)
{
    struct dbg_thread thread;
    const struct emu_core *core = NULL;
    unsigned slot = 0;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        struct emu_block_view block;
        struct dbg_warp warp;
        unsigned live = 0;
        uint32_t grid = thread.location.grid;

        /* Warps are listed by block, so a block's table row is emitted at its first warp. */
        if (!dbg_warp_locate(row->dbg, thread.id, &warp) ||
            (warp.core == core && warp.slot == slot) ||
            !emu_block_view(warp.core, warp.slot, &block))
            continue;
        core = warp.core;
        slot = warp.slot;
        for (unsigned w = 0; w < block.warp_count; w++) {
            struct emu_warp_view view;

            live += emu_warp_view(core, slot, w, &view) && view.live != 0;
        }
        dbg_cell(row, "%u", grid);
        dbg_cell_index(row, block.index);
        dbg_cell(row, "%u", dbg_block_slot(row->dbg, &warp));
        dbg_cell(row, "%u", block.warp_count);
        dbg_cell(row, "%u", live);
        dbg_cell(row, "%u", block.shared_bytes);
        dbg_cell(row, "%llu", (unsigned long long)block.retired);
        dbg_row_end(row);
    }
}

static void rows_warps(struct dbg_row *row)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        struct emu_split_view split = {0};
        struct emu_warp_view view = {0};
        struct dbg_warp warp;

        if (!dbg_warp_view(row->dbg, thread.id, &warp, &view))
            continue;
        (void)emu_lane_where(DBG_AT(&warp), thread.lane, &split);
        dbg_cell(row, "%llu", (unsigned long long)thread.id);
        dbg_cell(row, "%u", thread.location.grid);
        dbg_cell_index(row, thread.block_index);
        dbg_cell(row, "%u", thread.location.warp);
        dbg_cell_mask(row, thread.live);
        dbg_cell_mask(row, thread.active);
        dbg_cell(row, "%u", view.split_count);
        dbg_cell(row, "%s", emu_split_state_name(split.state));
        dbg_cell(row, "%llu", (unsigned long long)view.retired);
        dbg_cell_location(row, thread.location.pc);
        dbg_row_end(row);
    }
}

/* Emits only the lanes of the focus warp, because all warps together may have tens of thousands of lanes. */
static void rows_lanes(struct dbg_row *row)
{
    unsigned width = emu_machine_config(row->dbg->machine)->warp_width;
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;

    if (dbg_view(row->dbg, &thread, NULL) != LW_OK ||
        !dbg_warp_view(row->dbg, thread.id, &warp, &view))
        return;
    for (unsigned lane = 0; lane < width; lane++) {
        struct emu_split_view split = {0};
        uint32_t tid[3] = {0};
        bool live = emu_lane_where(DBG_AT(&warp), lane, &split);

        if ((view.launched >> lane & 1) == 0)
            continue;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t value = 0;

            (void)!emu_special_read(DBG_AT(&warp), (enum isa_special)(ISA_SR_TID_X + i), lane, &value);
            tid[i] = (uint32_t)value;
        }
        dbg_cell(row, "%llu", (unsigned long long)thread.id);
        dbg_cell(row, "%u", lane);
        dbg_cell_index(row, tid);
        dbg_cell(row, "%s", lane == thread.lane ? "yes" : "");
        if (live) {
            dbg_cell(row, "%s", (view.exec >> lane & 1) != 0 ? emu_split_state_name(split.state)
                                                             : "masked");
            dbg_cell(row, "%u", split.id);
            dbg_cell_location(row, split.pc);
        } else {
            dbg_cell(row, "exited");
            dbg_cell(row, "%s", "");
            dbg_cell(row, "%s", "");
        }
        dbg_row_end(row);
    }
}

static void rows_splits(struct dbg_row *row)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        struct emu_split_view splits[EMU_MAX_LANES];
        struct dbg_warp warp;
        unsigned count;

        if (!dbg_warp_locate(row->dbg, thread.id, &warp))
            continue;
        count = emu_split_views(DBG_AT(&warp), splits, EMU_MAX_LANES);
        for (unsigned s = 0; s < count && s < EMU_MAX_LANES; s++) {
            dbg_cell(row, "%llu", (unsigned long long)thread.id);
            dbg_cell(row, "%u", splits[s].id);
            dbg_cell(row, "%s", emu_split_state_name(splits[s].state));
            dbg_cell_mask(row, splits[s].lanes);
            if (splits[s].state == EMU_SPLIT_BLOCKED)
                dbg_cell(row, "b%u", splits[s].barrier);
            else if (splits[s].state == EMU_SPLIT_CTA)
                dbg_cell(row, "CTA %u", splits[s].barrier);
            else
                dbg_cell(row, "%s", "");
            dbg_cell_location(row, splits[s].pc);
            dbg_row_end(row);
        }
    }
}

bool dbg_convergence_next(const struct dbg_warp *warp, const struct emu_warp_view *view,
                          const struct emu_split_view *splits, unsigned count,
                          struct dbg_convergence *it)
{
    for (; it->reg < view->breg_count; it->reg++, it->seen = 0)
        while ((view->live & ~it->seen) != 0) {
            unsigned lane = lw_lowest(view->live & ~it->seen);

            it->number = it->waiting = 0;
            it->lanes = emu_barrier_group(DBG_AT(warp), it->reg, lane, &it->number) &
                        view->live;
            it->seen |= it->lanes | UINT64_C(1) << lane;
            if (it->lanes == 0)
                continue;
            for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++)
                if (splits[i].state == EMU_SPLIT_BLOCKED && splits[i].barrier == it->reg)
                    it->waiting |= splits[i].lanes & it->lanes;
            return true;
        }
    return false;
}

static void rows_convergence(struct dbg_row *row, const struct dbg_thread *thread,
                             const struct dbg_warp *warp, const struct emu_warp_view *view,
                             const struct emu_split_view *splits, unsigned count)
{
    struct dbg_convergence it = {0};

    while (dbg_convergence_next(warp, view, splits, count, &it)) {
        dbg_cell(row, "%llu", (unsigned long long)thread->id);
        dbg_cell(row, "b%u", it.reg);
        dbg_cell(row, "%llu", (unsigned long long)it.number);
        dbg_cell_mask(row, it.lanes);
        dbg_cell_mask(row, it.waiting);
        dbg_row_end(row);
    }
}

static void rows_barriers(struct dbg_row *row)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        uint64_t waiting[ISA_CTA_BARRIER_COUNT] = {0};
        struct emu_split_view splits[EMU_MAX_LANES];
        struct emu_warp_view view;
        struct dbg_warp warp;
        unsigned count;

        if (!dbg_warp_view(row->dbg, thread.id, &warp, &view))
            continue;
        count = emu_split_views(DBG_AT(&warp), splits, EMU_MAX_LANES);
        for (unsigned s = 0; s < count; s++)
            if (splits[s].state == EMU_SPLIT_CTA && splits[s].barrier < ISA_CTA_BARRIER_COUNT)
                waiting[splits[s].barrier] |= splits[s].lanes;
        for (unsigned b = 0; b < ISA_CTA_BARRIER_COUNT; b++) {
            if (waiting[b] == 0)
                continue;
            dbg_cell(row, "%llu", (unsigned long long)thread.id);
            dbg_cell(row, "CTA %u", b);
            dbg_cell(row, "%s", "");
            dbg_cell_mask(row, view.live);
            dbg_cell_mask(row, waiting[b]);
            dbg_row_end(row);
        }
        rows_convergence(row, &thread, &warp, &view, splits, count);
    }
}

static void rows_allocations(struct dbg_row *row)
{
    struct emu_allocation allocation;

    for (unsigned i = 0; emu_allocation_get(row->dbg->machine, i, &allocation); i++) {
        dbg_cell(row, "0x%llx", (unsigned long long)allocation.address);
        dbg_cell(row, "%llu", (unsigned long long)allocation.size_bytes);
        dbg_cell(row, "%s", allocation.name != NULL ? allocation.name : "");
        dbg_cell(row, "%s", allocation.flags & EMU_ALLOC_FREED       ? "freed"
                            : allocation.flags & EMU_ALLOC_READ_ONLY ? "read-only"
                                                                     : "");
        dbg_cell(row, "%s", allocation.flags & EMU_ALLOC_MODULE ? "yes" : "");
        dbg_row_end(row);
    }
}

static void rows_findings(struct dbg_row *row)
{
    const struct dbg_config *config = &row->dbg->config;

    if (config->findings != NULL)
        config->findings(config->findings_context, row->emit, row->context);
}

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct {
    struct dbg_table pub;
    void (*rows)(struct dbg_row *row);
} tables[] = {
    {{"kernels", "Launches that have not completed",
      COLUMNS("launch", "kernel", "state", "grid", "block", "blocks", "started", "ended", "by")},
     rows_kernels},
    {{"blocks", "Resident blocks",
      COLUMNS("launch", "block", "slot", "warps", "live", "shared", "retired")},
     rows_blocks},
    {{"warps", "Resident warps",
      COLUMNS("thread", "launch", "block", "warp", "live", "active", "splits", "state",
              "retired", "at")},
     rows_warps},
    {{"lanes", "Lanes of the warp in focus",
      COLUMNS("thread", "lane", "tid", "focus", "state", "split", "at")},
     rows_lanes},
    {{"splits", "Splits of all resident warps",
      COLUMNS("thread", "split", "state", "lanes", "barrier", "at")},
     rows_splits},
    {{"barriers", "CTA barriers and convergence barriers in use",
      COLUMNS("thread", "barrier", "group", "lanes", "waiting")},
     rows_barriers},
    {{"allocations", "Allocations of global memory", COLUMNS("address", "bytes", "name", "state", "module")},
     rows_allocations},
    {{"findings", "Findings of checks",
      COLUMNS("number", "kind", "times", "instruction", "at", "finding")},
     rows_findings},
};

const struct dbg_table *dbg_table_at(unsigned index)
{
    return index < LW_COUNT_OF(tables) ? &tables[index].pub : NULL;
}

void dbg_table_rows(struct dbg *dbg, unsigned index, dbg_row_fn emit, void *context)
{
    struct dbg_row row = {.dbg = dbg, .emit = emit, .context = context};

    if (index < LW_COUNT_OF(tables))
        tables[index].rows(&row);
}
