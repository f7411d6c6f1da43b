/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of the machine's state as rows of texts, for whoever lays them out. */
#include "debug/debug_priv.h"

#include <stdio.h>

enum { MAX_COLUMNS = 10, CELL_BYTES = 160 };

/** A row under construction: cells beyond the columns are dropped. */
struct row {
    struct dbg *dbg;
    dbg_row_fn emit;
    void *context;
    unsigned count;
    char text[MAX_COLUMNS][CELL_BYTES];
};

static void cell(struct row *row, const char *fmt, ...) LW_PRINTF(2, 3);
static void cell(struct row *row, const char *fmt, ...)
{
    va_list args;

    if (row->count == MAX_COLUMNS)
        return;
    va_start(args, fmt);
    vsnprintf(row->text[row->count++], CELL_BYTES, fmt, args);
    va_end(args);
}

static void row_end(struct row *row)
{
    const char *cells[MAX_COLUMNS];

    for (unsigned i = 0; i < row->count; i++)
        cells[i] = row->text[i];
    row->emit(row->context, cells, row->count);
    row->count = 0;
}

static void cell_index(struct row *row, const uint32_t index[3])
{
    cell(row, "(%u,%u,%u)", index[0], index[1], index[2]);
}

static void cell_mask(struct row *row, uint64_t lanes)
{
    cell(row, "0x%0*llx", (int)(emu_machine_config(row->dbg->machine)->warp_width + 3) / 4,
         (unsigned long long)lanes);
}

static void cell_location(struct row *row, uint64_t pc)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    dbg_print_location(row->dbg, pc, &text.sink);
    cell(row, "%s", text.text != NULL ? text.text : "");
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

static void rows_kernels(struct row *row)
{
    const struct emu_grid *grid = emu_grid_current(row->dbg->machine);

    for (; grid != NULL; grid = grid->next) {
        if (emu_grid_complete(grid))
            continue;
        cell(row, "%u", grid->sequence);
        cell(row, "%s", grid->launch.kernel->name);
        cell(row, "%s", grid_state(grid));
        cell_index(row, grid->launch.grid);
        cell_index(row, grid->launch.block);
        cell(row, "%llu", (unsigned long long)grid->block_count);
        cell(row, "%llu", (unsigned long long)grid->blocks_started);
        cell(row, "%llu", (unsigned long long)grid->blocks_ended);
        if (grid->parent.grid != 0)
            cell(row, "%u", grid->parent.grid);
        else
            cell(row, "host");
        row_end(row);
    }
}

static void rows_blocks(struct row *row)
{
    struct dbg_thread thread;
    const struct emu_core *core = NULL;
    unsigned slot = 0;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        struct emu_block_view block;
        struct dbg_warp warp;
        unsigned live = 0;
        uint32_t grid = thread.location.grid;

        /* Warps come block by block. */
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
        cell(row, "%u", grid);
        cell_index(row, block.index);
        cell(row, "%u", dbg_block_slot(row->dbg, &warp));
        cell(row, "%u", block.warp_count);
        cell(row, "%u", live);
        cell(row, "%u", block.shared_bytes);
        cell(row, "%llu", (unsigned long long)block.retired);
        row_end(row);
    }
}

static void rows_warps(struct row *row)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        struct emu_split_view split = {0};
        struct emu_warp_view view = {0};
        struct dbg_warp warp;

        if (!dbg_warp_locate(row->dbg, thread.id, &warp) ||
            !emu_warp_view(warp.core, warp.slot, warp.warp, &view))
            continue;
        (void)emu_lane_where(warp.core, warp.slot, warp.warp, thread.lane, &split);
        cell(row, "%llu", (unsigned long long)thread.id);
        cell(row, "%u", thread.location.grid);
        cell_index(row, thread.block_index);
        cell(row, "%u", thread.location.warp);
        cell_mask(row, thread.live);
        cell_mask(row, thread.active);
        cell(row, "%u", view.split_count);
        cell(row, "%s", emu_split_state_name(split.state));
        cell(row, "%llu", (unsigned long long)view.retired);
        cell_location(row, thread.location.pc);
        row_end(row);
    }
}

/* Of the warp in focus: all of them would be tens of thousands. */
static void rows_lanes(struct row *row)
{
    unsigned width = emu_machine_config(row->dbg->machine)->warp_width;
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;

    if (dbg_view(row->dbg, &thread, NULL) != LW_OK ||
        !dbg_warp_locate(row->dbg, thread.id, &warp) ||
        !emu_warp_view(warp.core, warp.slot, warp.warp, &view))
        return;
    for (unsigned lane = 0; lane < width; lane++) {
        struct emu_split_view split = {0};
        uint32_t tid[3] = {0};
        bool live = emu_lane_where(warp.core, warp.slot, warp.warp, lane, &split);

        if ((view.launched >> lane & 1) == 0)
            continue;
        for (unsigned i = 0; i < 3; i++) {
            uint64_t value = 0;

            (void)!emu_special_read(warp.core, warp.slot, warp.warp,
                                    (enum isa_special)(ISA_SR_TID_X + i), lane, &value);
            tid[i] = (uint32_t)value;
        }
        cell(row, "%llu", (unsigned long long)thread.id);
        cell(row, "%u", lane);
        cell_index(row, tid);
        cell(row, "%s", lane == thread.lane ? "yes" : "");
        if (live) {
            cell(row, "%s", (view.exec >> lane & 1) != 0 ? emu_split_state_name(split.state)
                                                         : "masked");
            cell(row, "%u", split.id);
            cell_location(row, split.pc);
        } else {
            cell(row, "exited");
            cell(row, "%s", "");
            cell(row, "%s", "");
        }
        row_end(row);
    }
}

static void rows_splits(struct row *row)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        struct emu_split_view splits[EMU_MAX_LANES];
        struct dbg_warp warp;
        unsigned count;

        if (!dbg_warp_locate(row->dbg, thread.id, &warp))
            continue;
        count = emu_split_views(warp.core, warp.slot, warp.warp, splits, EMU_MAX_LANES);
        for (unsigned s = 0; s < count && s < EMU_MAX_LANES; s++) {
            cell(row, "%llu", (unsigned long long)thread.id);
            cell(row, "%u", splits[s].id);
            cell(row, "%s", emu_split_state_name(splits[s].state));
            cell_mask(row, splits[s].lanes);
            if (splits[s].state == EMU_SPLIT_BLOCKED)
                cell(row, "b%u", splits[s].barrier);
            else if (splits[s].state == EMU_SPLIT_CTA)
                cell(row, "CTA %u", splits[s].barrier);
            else
                cell(row, "%s", "");
            cell_location(row, splits[s].pc);
            row_end(row);
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
            it->lanes = emu_barrier_group(warp->core, warp->slot, warp->warp, it->reg, lane,
                                          &it->number) &
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

static void rows_convergence(struct row *row, const struct dbg_thread *thread,
                             const struct dbg_warp *warp, const struct emu_warp_view *view,
                             const struct emu_split_view *splits, unsigned count)
{
    struct dbg_convergence it = {0};

    while (dbg_convergence_next(warp, view, splits, count, &it)) {
        cell(row, "%llu", (unsigned long long)thread->id);
        cell(row, "b%u", it.reg);
        cell(row, "%llu", (unsigned long long)it.number);
        cell_mask(row, it.lanes);
        cell_mask(row, it.waiting);
        row_end(row);
    }
}

static void rows_barriers(struct row *row)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(row->dbg, i, &thread); i++) {
        uint64_t waiting[ISA_CTA_BARRIER_COUNT] = {0};
        struct emu_split_view splits[EMU_MAX_LANES];
        struct emu_warp_view view;
        struct dbg_warp warp;
        unsigned count;

        if (!dbg_warp_locate(row->dbg, thread.id, &warp) ||
            !emu_warp_view(warp.core, warp.slot, warp.warp, &view))
            continue;
        count = emu_split_views(warp.core, warp.slot, warp.warp, splits, EMU_MAX_LANES);
        if (count > EMU_MAX_LANES)
            count = EMU_MAX_LANES;
        for (unsigned s = 0; s < count; s++)
            if (splits[s].state == EMU_SPLIT_CTA && splits[s].barrier < ISA_CTA_BARRIER_COUNT)
                waiting[splits[s].barrier] |= splits[s].lanes;
        for (unsigned b = 0; b < ISA_CTA_BARRIER_COUNT; b++) {
            if (waiting[b] == 0)
                continue;
            cell(row, "%llu", (unsigned long long)thread.id);
            cell(row, "CTA %u", b);
            cell(row, "%s", "");
            cell_mask(row, view.live);
            cell_mask(row, waiting[b]);
            row_end(row);
        }
        rows_convergence(row, &thread, &warp, &view, splits, count);
    }
}

static void rows_allocations(struct row *row)
{
    struct emu_allocation allocation;

    for (unsigned i = 0; emu_allocation_get(row->dbg->machine, i, &allocation); i++) {
        cell(row, "0x%llx", (unsigned long long)allocation.address);
        cell(row, "%llu", (unsigned long long)allocation.size_bytes);
        cell(row, "%s", allocation.name != NULL ? allocation.name : "");
        cell(row, "%s", allocation.flags & EMU_ALLOC_FREED       ? "freed"
                        : allocation.flags & EMU_ALLOC_READ_ONLY ? "read-only"
                                                                 : "");
        cell(row, "%s", allocation.flags & EMU_ALLOC_MODULE ? "yes" : "");
        row_end(row);
    }
}

static void rows_findings(struct row *row)
{
    const struct dbg_config *config = &row->dbg->config;

    if (config->findings != NULL)
        config->findings(config->findings_context, row->emit, row->context);
}

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct {
    struct dbg_table pub;
    void (*rows)(struct row *row);
} tables[] = {
    {{"kernels", "Launches that are not complete",
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
    {{"barriers", "Barriers in use: of blocks, and convergence barriers",
      COLUMNS("thread", "barrier", "group", "lanes", "waiting")},
     rows_barriers},
    {{"allocations", "Global memory", COLUMNS("address", "bytes", "name", "state", "module")},
     rows_allocations},
    {{"findings", "What checks have found",
      COLUMNS("number", "kind", "times", "instruction", "at", "finding")},
     rows_findings},
};

const struct dbg_table *dbg_table_at(unsigned index)
{
    return index < LW_COUNT_OF(tables) ? &tables[index].pub : NULL;
}

void dbg_table_rows(struct dbg *dbg, unsigned index, dbg_row_fn emit, void *context)
{
    struct row row = {.dbg = dbg, .emit = emit, .context = context};

    if (index < LW_COUNT_OF(tables))
        tables[index].rows(&row);
}
