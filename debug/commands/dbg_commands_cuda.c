/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the lists of cuda-gdb with their filters, for commands such as `info kernels` or `info cuda threads block 3`. */
#include "debug/commands/dbg_commands_priv.h"
#include "debug/commands/dbg_coordinates_priv.h"

/** State of a list while its rows are emitted. */
struct list {
    struct dbg *dbg;
    struct dbg_coordinates filter;
    struct dbg_thread focus; /* thread of the view focus; focus.id is 0 if no thread is in focus */
    struct dbg_layout layout;
    struct dbg_row row;
};

/* ---- filters ------------------------------------------------------------------------ */

/* Returns true if coordinate @value of an axis matches the filter. If the filter has a number for the axis, @value must be
 * equal to it. If the axis was queried, @value must be equal to @focus, the coordinate of the focus. */
static bool on_axis(const struct list *list, enum dbg_axis axis, uint64_t value, uint64_t focus)
{
    if (list->filter.given >> axis & 1)
        return value == list->filter.value[axis][0];
    return (list->filter.queried >> axis & 1) == 0 || list->focus.id == 0 || value == focus;
}

static bool on_index(const struct list *list, enum dbg_axis axis, const uint32_t at[3],
                     const uint32_t focus[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if ((list->filter.given >> axis & 1) && at[i] != list->filter.value[axis][i])
            return false;
        if ((list->filter.queried >> axis & 1) && list->focus.id != 0 && at[i] != focus[i])
            return false;
    }
    return true;
}

static bool sm_matters(const struct list *list)
{
    return ((list->filter.given | list->filter.queried) >> DBG_AXIS_SM & 1) != 0;
}

/* Returns true if the warp matches the filter. Looks up the warp's SM only if the filter has an SM. */
static bool has_warp(struct list *list, const struct dbg_thread *thread)
{
    uint64_t sm, warp, focus_sm = 0, focus_warp;

    if (!on_axis(list, DBG_AXIS_KERNEL, thread->location.grid, list->focus.location.grid) ||
        !on_axis(list, DBG_AXIS_DEVICE, 0, 0) ||
        !on_index(list, DBG_AXIS_BLOCK, thread->block_index, list->focus.block_index) ||
        !on_axis(list, DBG_AXIS_WARP, thread->location.warp, list->focus.location.warp))
        return false;
    if (!sm_matters(list))
        return true;
    dbg_hardware_ids(list->dbg, thread, &sm, &warp);
    if (list->focus.id != 0)
        dbg_hardware_ids(list->dbg, &list->focus, &focus_sm, &focus_warp);
    return on_axis(list, DBG_AXIS_SM, sm, focus_sm);
}

static bool has_lane(const struct list *list, const struct emu_grid *grid, unsigned warp,
                     unsigned lane, uint32_t index[3])
{
    unsigned width = emu_machine_config(list->dbg->machine)->warp_width;
    uint32_t focus[3];

    dbg_thread_index(grid, (uint64_t)warp * width + lane, index);
    dbg_thread_index(grid, (uint64_t)list->focus.location.warp * width + list->focus.lane, focus);
    return on_axis(list, DBG_AXIS_LANE, lane, list->focus.lane) &&
           on_index(list, DBG_AXIS_THREAD, index, focus);
}

/* ---- the lists ------------------------------------------------------------------------ */

static void rows_devices(struct list *list)
{
    const struct emu_config *config = emu_machine_config(list->dbg->machine);
    struct dbg_thread thread;
    struct dbg_warp where;
    uint64_t sms = 1, warps = 0;

    if (!on_axis(list, DBG_AXIS_DEVICE, 0, 0))
        return;
    if (dbg_thread_at(list->dbg, 0, &thread) && dbg_warp_locate(list->dbg, thread.id, &where)) {
        (void)!emu_special_read(DBG_AT(&where), ISA_SR_NSMID, thread.lane, &sms);
        (void)!emu_special_read(DBG_AT(&where), ISA_SR_NWARPID, thread.lane, &warps);
    }
    dbg_cell(&list->row, "*");
    dbg_cell(&list->row, "0");
    dbg_cell(&list->row, "%s", list->dbg->config.timed != NULL ? list->dbg->config.timed : "lanewise");
    dbg_cell(&list->row, "%llu", (unsigned long long)sms);
    dbg_cell(&list->row, "%llu", (unsigned long long)warps);
    dbg_cell(&list->row, "%u", config->warp_width);
    dbg_cell(&list->row, "%u", dbg_thread_count(list->dbg));
    dbg_row_end(&list->row);
}

/* Emits the SMs with resident warps. The engine lists warps by block, so the warps of an SM are not together. The row of an
 * SM is emitted at its first warp. */
static void rows_sms(struct list *list)
{
    struct dbg_thread thread, other;
    uint64_t sm, number, focus_sm = UINT64_MAX, focus_warp, seen[64] = {0};

    if (list->focus.id != 0)
        dbg_hardware_ids(list->dbg, &list->focus, &focus_sm, &focus_warp);
    for (unsigned i = 0; dbg_thread_at(list->dbg, i, &thread); i++) {
        unsigned warps = 0, blocks = 0;
        uint64_t block = UINT64_MAX;

        dbg_hardware_ids(list->dbg, &thread, &sm, &number);
        if (!has_warp(list, &thread) || sm >= 64 * LW_COUNT_OF(seen) || (seen[sm / 64] >> sm % 64 & 1))
            continue;
        seen[sm / 64] |= UINT64_C(1) << sm % 64;
        for (unsigned k = i; dbg_thread_at(list->dbg, k, &other); k++) {
            uint64_t at;

            dbg_hardware_ids(list->dbg, &other, &at, &number);
            if (at != sm)
                continue;
            warps++;
            blocks += other.location.block != block;
            block = other.location.block;
        }
        dbg_cell(&list->row, "%s", sm == focus_sm ? "*" : "");
        dbg_cell(&list->row, "%llu", (unsigned long long)sm);
        dbg_cell(&list->row, "%u", warps);
        dbg_cell(&list->row, "%u", blocks);
        dbg_row_end(&list->row);
    }
}

/* Emits the warps: each row shows the active lanes of the split that contains the warp's focus lane, and the warp's other live
 * lanes. */
static void rows_warps(struct list *list)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(list->dbg, i, &thread); i++) {
        const struct emu_grid *grid = dbg_thread_grid(list->dbg, thread.id);
        unsigned width = emu_machine_config(list->dbg->machine)->warp_width;
        uint32_t index[3];
        uint64_t sm, number;

        if (grid == NULL || !has_warp(list, &thread))
            continue;
        dbg_hardware_ids(list->dbg, &thread, &sm, &number);
        dbg_thread_index(grid, (uint64_t)thread.location.warp * width + lw_lowest(thread.live), index);
        dbg_cell(&list->row, "%s", thread.id == list->focus.id ? "*" : "");
        dbg_cell(&list->row, "%llu", (unsigned long long)sm);
        dbg_cell(&list->row, "%u", thread.location.warp);
        dbg_cell_mask(&list->row, thread.active);
        dbg_cell_mask(&list->row, thread.live & ~thread.active);
        dbg_cell(&list->row, "0x%llx", (unsigned long long)thread.location.pc);
        dbg_cell(&list->row, "%u", thread.location.grid);
        dbg_cell_index(&list->row, thread.block_index);
        dbg_cell_index(&list->row, index);
        dbg_row_end(&list->row);
    }
}

static void lanes_of(struct list *list, const struct dbg_thread *thread)
{
    const struct emu_grid *grid = dbg_thread_grid(list->dbg, thread->id);
    unsigned width = emu_machine_config(list->dbg->machine)->warp_width;
    const struct dbg_stop *stop = &list->dbg->stop;
    struct emu_warp_view view;
    struct dbg_warp warp;

    if (grid == NULL || !dbg_warp_view(list->dbg, thread->id, &warp, &view))
        return;
    for (unsigned lane = 0; lane < width; lane++) {
        bool fault = stop->kind == DBG_STOP_FAULT && stop->thread == thread->id &&
                     (stop->fault.lanes >> lane & 1) != 0;
        struct emu_split_view split = {0};
        uint32_t index[3];
        bool live;

        if ((view.launched >> lane & 1) == 0 || !has_lane(list, grid, thread->location.warp, lane, index))
            continue;
        live = emu_lane_where(DBG_AT(&warp), lane, &split);
        dbg_cell(&list->row, "%s", thread->id == list->focus.id && lane == list->focus.lane ? "*" : "");
        dbg_cell(&list->row, "%u", lane);
        dbg_cell(&list->row, "%s",
                 !live                                                           ? "exited"
                 : split.id == thread->location.split && (view.exec >> lane & 1) ? "active"
                                                                                 : "divergent");
        if (live)
            dbg_cell(&list->row, "0x%llx", (unsigned long long)split.pc);
        else
            dbg_cell(&list->row, "%s", "");
        dbg_cell_index(&list->row, index);
        dbg_cell(&list->row, "%s", fault ? emu_fault_name(stop->fault.kind) : "none");
        dbg_row_end(&list->row);
    }
}

static void rows_lanes(struct list *list)
{
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(list->dbg, i, &thread); i++)
        if (has_warp(list, &thread))
            lanes_of(list, &thread);
}

static void rows_kernels(struct list *list)
{
    const struct emu_grid *grid = emu_grid_current(list->dbg->machine);

    for (; grid != NULL; grid = grid->next) {
        if (emu_grid_complete(grid) ||
            !on_axis(list, DBG_AXIS_KERNEL, grid->sequence, list->focus.location.grid))
            continue;
        dbg_cell(&list->row, "%s", list->focus.id != 0 && grid->sequence == list->focus.location.grid ? "*" : "");
        dbg_cell(&list->row, "%u", grid->sequence);
        if (grid->parent.grid != 0)
            dbg_cell(&list->row, "%u", grid->parent.grid);
        else
            dbg_cell(&list->row, "-");
        dbg_cell(&list->row, "0");
        dbg_cell(&list->row, "%s", grid->blocks_started != 0 ? "active" : "pending");
        dbg_cell_index(&list->row, grid->launch.grid);
        dbg_cell_index(&list->row, grid->launch.block);
        dbg_cell(&list->row, "%llu of %llu", (unsigned long long)grid->blocks_ended,
                 (unsigned long long)grid->block_count);
        dbg_cell(&list->row, "%s", grid->launch.kernel->name);
        dbg_row_end(&list->row);
    }
}

/* Emits one row for the blocks @first to @last of a grid, which have the same state. */
static void row_blocks(struct list *list, const struct emu_grid *grid, uint64_t first, uint64_t last,
                       const char *state)
{
    uint32_t from[3], to[3];
    bool focus = list->focus.id != 0 && list->focus.location.grid == grid->sequence &&
                 list->focus.location.block >= first && list->focus.location.block <= last;

    dbg_block_index(grid, first, from);
    dbg_block_index(grid, last, to);
    dbg_cell(&list->row, "%s", focus ? "*" : "");
    dbg_cell(&list->row, "%u", grid->sequence);
    dbg_cell_index(&list->row, from);
    dbg_cell_index(&list->row, to);
    dbg_cell(&list->row, "%llu", (unsigned long long)(last - first + 1));
    dbg_cell(&list->row, "%s", state);
    dbg_row_end(&list->row);
}

/* Emits rows for the blocks in the range [@first, @end), of which none is resident. */
static void rows_absent(struct list *list, const struct emu_grid *grid, uint64_t first, uint64_t end)
{
    while (first < end) {
        bool placed = emu_grid_was_resident(grid, first);
        uint64_t middle = first + 1;

        while (middle < end && emu_grid_was_resident(grid, middle) == placed)
            middle++;
        row_blocks(list, grid, first, middle - 1, placed ? "ended" : "not started");
        first = middle;
    }
}

/* Returns true if the filter selects a block or an SM. In this case the list omits blocks that are not resident. */
static bool one_block(struct list *list)
{
    return ((list->filter.given | list->filter.queried) >> DBG_AXIS_BLOCK & 1) != 0 || sm_matters(list);
}

static void blocks_of(struct list *list, const struct emu_grid *grid)
{
    uint64_t next = 0, first = 0, last = 0;
    bool some = false;
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(list->dbg, i, &thread); i++) {
        uint64_t block = thread.location.block;

        if (thread.location.grid != grid->sequence || (some && block == last) || !has_warp(list, &thread))
            continue;
        if (some && block == last + 1) {
            last = block;
            continue;
        }
        if (some)
            row_blocks(list, grid, first, last, "running");
        if (!one_block(list))
            rows_absent(list, grid, some ? last + 1 : next, block);
        first = last = block;
        some = true;
    }
    if (some)
        row_blocks(list, grid, first, last, "running");
    if (!one_block(list))
        rows_absent(list, grid, some ? last + 1 : 0, grid->block_count);
}

static void rows_blocks(struct list *list)
{
    const struct emu_grid *grid = emu_grid_current(list->dbg->machine);

    for (; grid != NULL; grid = grid->next)
        if (!emu_grid_complete(grid) &&
            on_axis(list, DBG_AXIS_KERNEL, grid->sequence, list->focus.location.grid))
            blocks_of(list, grid);
}

/** Consecutive threads of a grid that are at the same pc. The list of threads shows such a range as one row. */
struct range {
    const struct emu_grid *grid; /* NULL: the range is empty */
    uint64_t first, last, pc; /* linear numbers of the first and last thread in the grid; their pc */
    bool focus; /* the range contains the focus thread */
};

static void row_range(struct list *list, const struct range *range)
{
    const struct emu_grid *grid = range->grid;
    uint32_t index[3];

    if (grid == NULL)
        return;
    dbg_cell(&list->row, "%s", range->focus ? "*" : "");
    for (unsigned i = 0; i < 2; i++) {
        uint64_t number = i == 0 ? range->first : range->last;

        dbg_block_index(grid, number / grid->block_threads, index);
        dbg_cell_index(&list->row, index);
        dbg_thread_index(grid, number % grid->block_threads, index);
        dbg_cell_index(&list->row, index);
    }
    dbg_cell(&list->row, "%llu", (unsigned long long)(range->last - range->first + 1));
    dbg_cell(&list->row, "0x%llx", (unsigned long long)range->pc);
    dbg_cell_location(&list->row, range->pc);
    dbg_row_end(&list->row);
}

static void rows_threads(struct list *list)
{
    unsigned width = emu_machine_config(list->dbg->machine)->warp_width;
    struct range range = {NULL, 0, 0, 0, false};
    struct dbg_thread thread;

    for (unsigned i = 0; dbg_thread_at(list->dbg, i, &thread); i++) {
        const struct emu_grid *grid = dbg_thread_grid(list->dbg, thread.id);
        bool whole = thread.location.lanes == thread.live;
        struct dbg_warp warp;

        if (grid == NULL || !has_warp(list, &thread) ||
            (!whole && !dbg_warp_locate(list->dbg, thread.id, &warp)))
            continue;
        for (uint64_t rest = thread.live; rest != 0; rest &= rest - 1) {
            unsigned lane = lw_lowest(rest);
            struct emu_split_view split = {.pc = thread.location.pc};
            bool focus = thread.id == list->focus.id && lane == list->focus.lane;
            uint32_t index[3];
            uint64_t number = thread.location.block * grid->block_threads +
                              (uint64_t)thread.location.warp * width + lane;

            if (!has_lane(list, grid, thread.location.warp, lane, index) ||
                (!whole && !emu_lane_where(DBG_AT(&warp), lane, &split)))
                continue;
            if (range.grid == grid && range.pc == split.pc && number == range.last + 1) {
                range.last = number;
                range.focus |= focus;
                continue;
            }
            row_range(list, &range);
            range = (struct range){grid, number, number, split.pc, focus};
        }
    }
    row_range(list, &range);
}

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define AXIS(name) (1u << DBG_AXIS_##name)

/** Lists of `info cuda`. `axes` are the axes by which the list can be filtered. `current` are the axes on which the list
 *  shows only the focus, unless the filter contains them, as in cuda-gdb. */
static const struct topic {
    const char *name;
    const char *const *columns;
    unsigned axes, current;
    void (*rows)(struct list *list);
} topics[] = {
    {"devices", COLUMNS("", "Dev", "Description", "SMs", "Warps/SM", "Lanes/Warp", "Resident Warps"),
     AXIS(DEVICE), 0, rows_devices},
    {"sms", COLUMNS("", "SM", "Active Warps", "Blocks"), AXIS(DEVICE) | AXIS(SM), 0, rows_sms},
    {"warps", COLUMNS("", "SM", "Wp", "Active Lanes", "Divergent Lanes", "Active PC", "Kernel", "BlockIdx",
                      "First ThreadIdx"),
     AXIS(DEVICE) | AXIS(SM) | AXIS(WARP) | AXIS(KERNEL) | AXIS(BLOCK), AXIS(SM), rows_warps},
    {"lanes", COLUMNS("", "Ln", "State", "PC", "ThreadIdx", "Exception"), DBG_AXES_ALL,
     AXIS(KERNEL) | AXIS(BLOCK) | AXIS(WARP), rows_lanes},
    {"kernels", COLUMNS("", "Kernel", "Parent", "Dev", "Status", "GridDim", "BlockDim", "Blocks ended", "Name"),
     AXIS(DEVICE) | AXIS(KERNEL), 0, rows_kernels},
    {"blocks", COLUMNS("", "Kernel", "BlockIdx", "To BlockIdx", "Count", "State"),
     AXIS(DEVICE) | AXIS(SM) | AXIS(KERNEL) | AXIS(BLOCK), AXIS(KERNEL), rows_blocks},
    {"threads", COLUMNS("", "BlockIdx", "ThreadIdx", "To BlockIdx", "To ThreadIdx", "Count", "PC", "Place"),
     DBG_AXES_ALL, AXIS(KERNEL), rows_threads},
};

static const struct topic *topic_named(const char *name)
{
    for (size_t i = 0; i < LW_COUNT_OF(topics); i++)
        if (*name != '\0' && strncmp(topics[i].name, name, strlen(name)) == 0)
            return &topics[i];
    return NULL;
}

void dbg_cuda_names_each(dbg_name_fn fn, void *context)
{
    for (size_t i = 0; i < LW_COUNT_OF(topics); i++)
        fn(context, topics[i].name);
}

bool dbg_info_cuda_topic(const char *topic)
{
    return topic_named(topic) != NULL;
}

enum lw_status dbg_info_cuda(const struct lw_call *call, struct lw_error *err)
{
    struct dbg *dbg = call->context;
    const struct topic *topic = topic_named(call->argv[0]);
    struct list list = {.dbg = dbg, .row = {.dbg = dbg, .emit = dbg_layout_row}};
    unsigned columns = 0, named;
    char text[512];
    enum lw_status status;

    if (topic == NULL)
        return LW_FAIL(err, LW_EUSAGE, "there is no list \"%s\": the lists are devices, sms, warps, lanes, kernels, "
                                       "blocks and threads", call->argv[0]);
    if (!lw_args_join(call->argc, call->argv, 1, text, sizeof text))
        return dbg_too_long(err);
    status = dbg_coordinates_parse(text, &list.filter, err);
    if (status != LW_OK)
        return status;
    if (dbg_view(dbg, &list.focus, NULL) != LW_OK)
        list.focus.id = 0;
    named = list.filter.given | list.filter.queried | list.filter.all;
    if ((named & ~topic->axes) != 0)
        return LW_FAIL(err, LW_EUSAGE, "the list of %s cannot be filtered by \"%.80s\"", topic->name, text);
    /* By default, `warps` lists the focus SM, and `lanes` the focus warp. If the filter has a wider axis, such as a block,
     * this restriction would be wrong and is removed. */
    list.filter.queried |= topic->current & ~named;
    if ((named & (AXIS(KERNEL) | AXIS(BLOCK) | AXIS(WARP))) && topic->rows == rows_warps)
        list.filter.queried &= ~AXIS(SM) | named;
    if (topic->rows == rows_lanes && (named & (AXIS(BLOCK) | AXIS(SM) | AXIS(THREAD) | AXIS(KERNEL))))
        list.filter.queried &= ~AXIS(WARP) | named;
    if (topic->rows == rows_lanes && (named & (AXIS(SM) | AXIS(KERNEL))))
        list.filter.queried &= ~AXIS(BLOCK) | named;
    list.row.context = &list.layout;
    while (topic->columns[columns] != NULL)
        columns++;
    dbg_layout_row(&list.layout, topic->columns, columns);
    topic->rows(&list);
    if (list.row.ended == 0) {
        lw_printf(call->out, "no %s%s%s\n", topic->name, *text != '\0' ? ": " : "", text);
        return LW_OK;
    }
    list.layout.out = call->out;
    dbg_layout_row(&list.layout, topic->columns, columns);
    topic->rows(&list);
    return LW_OK;
}
