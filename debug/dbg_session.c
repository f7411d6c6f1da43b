/* SPDX-License-Identifier: Apache-2.0 */
/* A debugging session: creates it, and handles threads and their ids, the run and view focus, and focus lanes. */
#include "debug/debug_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void dbg_message(const struct dbg *dbg, const char *fmt, ...)
{
    char text[512];
    va_list args;

    if (dbg->config.messages == NULL)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    lw_printf(dbg->config.messages, "%s\n", text);
}

/** Forwards the printf output of kernels to the sink dbg_config.messages. */
static void print_write(struct lw_sink *sink, const char *text, size_t size)
{
    const struct dbg *dbg = (const struct dbg *)((const char *)sink - offsetof(struct dbg, print));

    if (dbg->config.messages != NULL)
        dbg->config.messages->write(dbg->config.messages, text, size);
}

enum lw_status dbg_create(const struct dbg_config *config, struct dbg **out,
                          struct lw_error *err)
{
    enum lw_status status = LW_OK;
    struct dbg *dbg = calloc(1, sizeof *dbg);
    struct dbg_thread first;
    bool more = true;

    if (dbg == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a debugger session");
    dbg->config = *config;
    dbg->machine = config->machine;
    dbg->engine = config->engine;
    dbg->print.write = print_write;
    dbg->printed_to = emu_machine_print(dbg->machine);
    emu_machine_set_print(dbg->machine, &dbg->print);
    emu_machine_print_immediately(dbg->machine, true);
    /* A launch file may queue no launch at all, for example if it contains only copies and checks. */
    while (emu_grid_current(dbg->machine) == NULL && config->next != NULL && more) {
        status = config->next(config->next_context, &more, err);
        if (status != LW_OK)
            goto cleanup;
    }
    status = dbg_regs_build(dbg, err);
    if (status != LW_OK)
        goto cleanup;
    if (dbg_thread_at(dbg, 0, &first)) {
        dbg_focus_move(dbg, first.id, first.lane);
        dbg->seen = first;
        /* The user sees the first warp at the kernel's entry before anything runs. A breakpoint at the entry therefore
         * stops only for other warps. */
        dbg_reported_lanes_add(dbg, first.id, first.location.pc, first.location.lanes);
        dbg->reported_at = dbg->engine->ops->instructions(dbg->engine);
    } else {
        dbg->ended = true;
    }
    *out = dbg;
    dbg = NULL;
cleanup:
    dbg_destroy(dbg);
    return status;
}

void dbg_destroy(struct dbg *dbg)
{
    if (dbg == NULL)
        return;
    dbg_history_end(dbg);
    emu_machine_set_print(dbg->machine, dbg->printed_to);
    emu_machine_print_immediately(dbg->machine, false);
    for (size_t i = 0; i < dbg->point_count; i++) {
        struct dbg_stoppoint_record *point = &dbg->points[i];

        /* The machine may outlive the session. The session's breakpoints must then not stop the machine. */
        if (point->pub.kind == DBG_STOPPOINT_BREAK)
            (void)!emu_breakpoint_set(dbg->machine, point->pub.pc, false, NULL);
        dbg_stoppoint_free(point);
    }
    dbg_finding_free(dbg);
    dbg_watch_free(dbg);
    dbg_hits_free(dbg);
    dbg_displays_free(dbg);
    free(dbg->points);
    free(dbg->tallies);
    free(dbg->marks);
    dbg_reported_lanes_free(dbg);
    free(dbg->pins);
    free(dbg->regs);
    free(dbg->list_file);
    dbg_sources_free(dbg);
    free(dbg);
}

/* Returns the program that was loaded from an object, or NULL if there is none. */
static const struct emu_program *program_of(const struct dbg *dbg, const struct isa_object *object)
{
    const struct emu_program *program = NULL;

    do
        program = emu_machine_program_next(dbg->machine, program);
    while (program != NULL && emu_program_object(program) != object);
    return program;
}

uint64_t dbg_code_address(const struct dbg *dbg, const struct isa_object *object)
{
    const struct emu_program *program = program_of(dbg, object);

    return program != NULL ? emu_program_base(program) : ISA_CODE_BASE;
}

bool dbg_variable_address(const struct dbg *dbg, const struct isa_object *object, unsigned index,
                          uint64_t *out)
{
    const struct emu_program *program = program_of(dbg, object);

    if (program == NULL || index >= object->variable_count)
        return false;
    *out = emu_program_variable(program, object->variables[index].name, NULL);
    return true;
}

void dbg_set_messages(struct dbg *dbg, struct lw_sink *messages)
{
    dbg->config.messages = messages;
}

void dbg_set_colour(struct dbg *dbg, bool on)
{
    dbg->colour = on;
}

struct emu_machine *dbg_machine(const struct dbg *dbg)
{
    return dbg->machine;
}

const struct dbg_stop *dbg_last_stop(const struct dbg *dbg)
{
    return &dbg->stop;
}

bool dbg_ended(const struct dbg *dbg)
{
    return dbg->ended;
}

const struct emu_program *dbg_program(const struct dbg *dbg)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);

    if (grid != NULL)
        return grid->launch.program;
    /* Between launches, and after the last launch, no grid is current. The code of the first loaded program is then used. */
    return emu_machine_program_at(dbg->machine, ISA_CODE_BASE);
}

/* ---- threads ---------------------------------------------------------------- */

const struct emu_grid *dbg_grid_numbered(const struct dbg *dbg, uint64_t sequence)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);

    while (grid != NULL && grid->sequence != sequence)
        grid = grid->next;
    return grid;
}

dbg_thread_id dbg_grid_thread(const struct emu_grid *grid, uint64_t block, unsigned warp)
{
    return 1 + grid->first_warp_id + block * grid->block_warps + warp;
}

dbg_thread_id dbg_thread_id_of(const struct dbg *dbg, uint32_t sequence, uint64_t block,
                           unsigned warp)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, sequence);

    return grid != NULL ? dbg_grid_thread(grid, block, warp) : 0;
}

void dbg_block_index(const struct emu_grid *grid, uint64_t block, uint32_t index[3])
{
    index[0] = (uint32_t)(block % grid->launch.grid[0]);
    index[1] = (uint32_t)(block / grid->launch.grid[0] % grid->launch.grid[1]);
    index[2] = (uint32_t)(block / grid->launch.grid[0] / grid->launch.grid[1]);
}

static uint64_t live_lanes(const struct emu_core *core, unsigned slot, unsigned warp)
{
    struct emu_warp_view view;

    return emu_warp_view(core, slot, warp, &view) ? view.live : 0;
}

/* Returns the index of a warp's entry in dbg->pins (the chosen focus lanes, sorted by id), or the index at which the
 * entry would be inserted. */
static size_t pin_slot(const struct dbg *dbg, dbg_thread_id id)
{
    return lw_lower_bound(dbg->pins, dbg->pin_count, sizeof *dbg->pins, id);
}

const struct dbg_focus_lane *dbg_pin_find(const struct dbg *dbg, dbg_thread_id id)
{
    size_t slot = pin_slot(dbg, id);

    return slot < dbg->pin_count && dbg->pins[slot].id == id ? &dbg->pins[slot] : NULL;
}

/* Returns the focus lane that was chosen for a warp while that lane is live, else the warp's lowest live lane. */
static unsigned focus_lane(const struct dbg *dbg, dbg_thread_id id, uint64_t live)
{
    const struct dbg_focus_lane *pin = dbg_pin_find(dbg, id);

    if (pin != NULL && (live >> pin->lane & 1) != 0)
        return pin->lane;
    return live != 0 ? lw_lowest(live) : 0;
}

/* Returns true if all lanes of a warp are at the kernel's entry, as in a block that has not begun. The caller then knows
 * the warp's state and need not ask the engine for it: the engine would have to materialise the state of the whole
 * block, which is slow for a list of 2,048 warps. With @exact, the function returns true only if the block has really not
 * begun; without @exact, the lanes may also have returned to the entry. */
static bool looks_fresh(const struct dbg *dbg, const struct emu_grid *grid,
                        const struct emu_thread_ref *location, bool exact)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    uint32_t left = grid->block_threads - location->warp * width;

    return location->pc == dbg_function_pc(dbg, grid->launch.kernel) &&
           location->lanes == lw_mask(left < width ? left : width) &&
           (!exact || location->block >= grid->blocks_started);
}

static bool thread_fill(const struct dbg *dbg, const struct emu_thread_ref *location, bool exact,
                        struct dbg_thread *out)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, location->grid);
    struct emu_core *core;
    struct emu_split_view split;
    struct emu_warp_view view;
    unsigned slot;

    if (grid == NULL)
        return false;
    memset(out, 0, sizeof *out);
    out->id = dbg_grid_thread(grid, location->block, location->warp);
    out->location = *location;
    dbg_block_index(grid, location->block, out->block_index);
    if (looks_fresh(dbg, grid, location, exact)) {
        out->live = out->active = location->lanes;
        out->ready = true;
        out->lane = focus_lane(dbg, out->id, out->live);
        return true;
    }
    if (!dbg->engine->ops->locate(dbg->engine, location->grid, location->block, &core, &slot) ||
        !emu_warp_view(core, slot, location->warp, &view) || view.live == 0)
        return false;
    out->live = view.live;
    out->retired = view.retired;
    out->lane = focus_lane(dbg, out->id, view.live);
    if (!emu_lane_where(core, slot, location->warp, out->lane, &split))
        return false;
    out->location.split = split.id;
    out->location.lanes = split.lanes;
    out->location.pc = split.pc;
    out->active = split.lanes & view.exec;
    out->ready = split.state == EMU_SPLIT_READY;
    out->waits_before = split.state == EMU_SPLIT_CTA || split.state == EMU_SPLIT_BLOCKED || split.state == EMU_SPLIT_LAUNCH;
    return true;
}

unsigned dbg_thread_count(const struct dbg *dbg)
{
    return dbg->engine->ops->warp_count(dbg->engine);
}

bool dbg_thread_at(const struct dbg *dbg, unsigned index, struct dbg_thread *out)
{
    struct emu_thread_ref location;

    /* The first call of warp_at can fail because the launch is only queued. The call makes the engine start the launch,
     * and the second call succeeds. */
    if (!dbg->engine->ops->warp_at(dbg->engine, index, &location) &&
        (index >= dbg_thread_count(dbg) ||
         !dbg->engine->ops->warp_at(dbg->engine, index, &location)))
        return false;
    return thread_fill(dbg, &location, false, out);
}

static int thread_compare(const struct emu_thread_ref *a, uint32_t grid, uint64_t block,
                         unsigned warp)
{
    if (a->grid != grid)
        return a->grid < grid ? -1 : 1;
    if (a->block != block)
        return a->block < block ? -1 : 1;
    return a->warp != warp ? (a->warp < warp ? -1 : 1) : 0;
}

/* Splits a thread id into block and warp. Returns the grid of the thread; NULL if no queued grid has the id. */
static const struct emu_grid *id_split(const struct dbg *dbg, dbg_thread_id id,
                                       uint64_t *block, unsigned *warp)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);
    uint64_t number = id - 1;

    if (id == 0)
        return NULL;
    while (grid != NULL && (number < grid->first_warp_id ||
                            number - grid->first_warp_id >=
                                grid->block_count * grid->block_warps))
        grid = grid->next;
    if (grid == NULL)
        return NULL;
    *block = (number - grid->first_warp_id) / grid->block_warps;
    *warp = (unsigned)((number - grid->first_warp_id) % grid->block_warps);
    return grid;
}

bool dbg_thread_over(const struct dbg *dbg, dbg_thread_id id)
{
    uint64_t block;
    unsigned warp;
    const struct emu_grid *grid = id_split(dbg, id, &block, &warp);

    if (grid != NULL)
        return emu_grid_was_resident(grid, block);
    grid = emu_grid_current(dbg->machine);
    return grid == NULL || id - 1 < grid->first_warp_id;
}

const struct emu_grid *dbg_thread_grid(const struct dbg *dbg, dbg_thread_id id)
{
    uint64_t block;
    unsigned warp;
    const struct emu_grid *grid = id_split(dbg, id, &block, &warp);

    return grid != NULL ? grid : emu_grid_current(dbg->machine);
}

/* Finds a resident warp by its thread id. Returns false if no resident warp has the id. The search is binary, because
 * the engine lists resident warps in the order of their ids. The first index that is tried is the distance of @id from
 * the lowest resident id. This index is right if no warp with an id between the two has ended. A good first guess saves
 * calls of warp_at, which are slower for larger indices. */
static bool thread_find(const struct dbg *dbg, dbg_thread_id id, struct emu_thread_ref *out)
{
    uint64_t block;
    unsigned warp, low = 0, high;
    const struct emu_grid *grid = id_split(dbg, id, &block, &warp);
    bool first = true;

    if (grid == NULL)
        return false;
    high = dbg_thread_count(dbg);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        int order;

        if (first && dbg->engine->ops->warp_at(dbg->engine, 0, out)) {
            dbg_thread_id lowest = dbg_thread_id_of(dbg, out->grid, out->block, out->warp);

            if (id >= lowest && id - lowest < high)
                middle = (unsigned)(id - lowest);
        }
        first = false;
        if (!dbg->engine->ops->warp_at(dbg->engine, middle, out))
            return false;
        order = thread_compare(out, grid->sequence, block, warp);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

bool dbg_thread_get(const struct dbg *dbg, dbg_thread_id id, struct dbg_thread *out)
{
    struct emu_thread_ref location;

    return thread_find(dbg, id, &location) && thread_fill(dbg, &location, true, out);
}

bool dbg_warp_locate(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *out)
{
    out->grid = id_split(dbg, id, &out->block, &out->warp);
    return out->grid != NULL &&
           dbg->engine->ops->locate(dbg->engine, out->grid->sequence, out->block, &out->core,
                                    &out->slot) &&
           (dbg->looking || live_lanes(DBG_AT(out)) != 0);
}

bool dbg_lane_locate(const struct dbg *dbg, dbg_thread_id id, unsigned lane, struct dbg_warp *warp,
                     struct emu_split_view *split)
{
    return dbg_warp_locate(dbg, id, warp) && emu_lane_where(DBG_AT(warp), lane, split);
}

bool dbg_warp_view(const struct dbg *dbg, dbg_thread_id id, struct dbg_warp *warp,
                   struct emu_warp_view *view)
{
    return dbg_warp_locate(dbg, id, warp) &&
           emu_warp_view(DBG_AT(warp), view);
}

enum lw_status dbg_exited(const struct dbg *dbg, dbg_thread_id id, struct lw_error *err)
{
    if (dbg_thread_count(dbg) == 0)
        return LW_FAIL(err, LW_ESTATE, "nothing is running: all warps have ended");
    char name[80];

    dbg_id_name(dbg, id, name, sizeof name);
    return LW_FAIL(err, LW_ESTATE, "%s is not resident: it has ended or has not started", name);
}

void dbg_id_name(const struct dbg *dbg, dbg_thread_id id, char *text, size_t size)
{
    uint64_t block;
    unsigned warp;
    const struct emu_grid *grid = id_split(dbg, id, &block, &warp);
    uint32_t index[3];

    if (grid == NULL) {
        snprintf(text, size, "warp %llu", (unsigned long long)id);
        return;
    }
    dbg_block_index(grid, block, index);
    snprintf(text, size, "block(%u,%u,%u) w%u", index[0], index[1], index[2], warp);
}

void dbg_thread_name(const struct dbg *dbg, const struct dbg_thread *thread,
                     struct lw_sink *out)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, thread->location.grid);

    if (grid != NULL && grid->parent.grid != 0) /* a device launch: blocks of its parent launch may be resident, too */
        lw_printf(out, "launch %u ", grid->sequence);
    lw_printf(out, "block(%u,%u,%u) w%u lane %u", thread->block_index[0],
              thread->block_index[1], thread->block_index[2], thread->location.warp,
              thread->lane);
}

void dbg_thread_state(const struct dbg *dbg, const struct dbg_thread *thread,
                      struct lw_sink *out)
{
    const struct emu_grid *grid = dbg_grid_numbered(dbg, thread->location.grid);
    const char *state = "ready";
    unsigned splits = 1;

    if (grid != NULL && !looks_fresh(dbg, grid, &thread->location, false)) {
        struct emu_split_view split;
        struct emu_warp_view view;
        struct dbg_warp warp;

        if (dbg_warp_view(dbg, thread->id, &warp, &view) &&
            emu_lane_where(DBG_AT(&warp), thread->lane, &split)) {
            state = emu_split_state_name(split.state);
            splits = view.split_count;
        }
    }
    lw_printf(out, "pc=0x%llx active=%u/%u state=%s splits=%u",
              (unsigned long long)thread->location.pc, lw_popcount(thread->active),
              emu_machine_config(dbg->machine)->warp_width, state, splits);
}

/* ---- foci --------------------------------------------------------------------- */

void dbg_lane_pin(struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    size_t slot = pin_slot(dbg, id);

    if (slot < dbg->pin_count && dbg->pins[slot].id == id) {
        dbg->pins[slot].lane = lane;
        return;
    }
    /* When the array is full, the entries of ended warps are dropped first. While history is recorded they remain, because the
     * user may go back to an instruction count at which the warps were resident. */
    if (dbg->pin_count == dbg->pin_capacity && dbg->history == NULL) {
        size_t kept = 0;
        struct emu_thread_ref location;

        for (size_t i = 0; i < dbg->pin_count; i++)
            if (thread_find(dbg, dbg->pins[i].id, &location))
                dbg->pins[kept++] = dbg->pins[i];
        dbg->pin_count = kept;
        slot = pin_slot(dbg, id);
    }
    /* If the host has no memory, the choice of the lane is lost and the lowest live lane is the focus lane. */
    if (!lw_grow(&dbg->pins, &dbg->pin_capacity, dbg->pin_count + 1, sizeof *dbg->pins))
        return;
    memmove(&dbg->pins[slot + 1], &dbg->pins[slot], (dbg->pin_count - slot) * sizeof *dbg->pins);
    dbg->pins[slot] = (struct dbg_focus_lane){id, lane};
    dbg->pin_count++;
}

void dbg_focus_move(struct dbg *dbg, dbg_thread_id id, unsigned lane)
{
    dbg->focus[DBG_FOCUS_RUN] = dbg->focus[DBG_FOCUS_VIEW] = id;
    if (id != 0)
        dbg_lane_pin(dbg, id, lane);
}

dbg_thread_id dbg_focus_get(const struct dbg *dbg, enum dbg_focus focus)
{
    struct emu_thread_ref location;

    if (thread_find(dbg, dbg->focus[focus], &location))
        return dbg->focus[focus];
    return 0;
}

enum lw_status dbg_focus_set(struct dbg *dbg, enum dbg_focus focus, dbg_thread_id id,
                             struct lw_error *err)
{
    struct dbg_thread thread;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_exited(dbg, id, err);
    dbg->focus[focus] = id;
    /* The user has chosen this lane. The lane remains the focus lane when a lower lane becomes live or the warp diverges. */
    dbg_lane_pin(dbg, id, thread.lane);
    return LW_OK;
}

unsigned dbg_lane_get(const struct dbg *dbg, dbg_thread_id id)
{
    struct dbg_thread thread;

    return dbg_thread_get(dbg, id, &thread) ? thread.lane : 0;
}

enum lw_status dbg_lane_set(struct dbg *dbg, dbg_thread_id id, unsigned lane,
                            struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    struct dbg_thread thread;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_exited(dbg, id, err);
    if (lane >= width)
        return LW_FAIL(err, LW_ERANGE, "lane %d does not exist: a warp has lanes 0 to %u",
                       (int)lane, width - 1); /* %d: the user may have entered -1 */
    if ((thread.live >> lane & 1) == 0)
        return LW_FAIL(err, LW_ERANGE,
                       "lane %u has exited or was never launched (mask of live lanes: 0x%llx)", lane,
                       (unsigned long long)thread.live);
    dbg_lane_pin(dbg, id, lane);
    return LW_OK;
}

enum lw_status dbg_view(const struct dbg *dbg, struct dbg_thread *out, struct lw_error *err)
{
    if (dbg_thread_get(dbg, dbg->focus[DBG_FOCUS_VIEW], out))
        return LW_OK;
    return dbg_exited(dbg, dbg->focus[DBG_FOCUS_VIEW], err);
}

void dbg_show_mask(const struct dbg *dbg, uint64_t lanes, struct lw_sink *out)
{
    unsigned digits = (emu_machine_config(dbg->machine)->warp_width + 3) / 4;

    lw_printf(out, "0x%0*llx", (int)digits, (unsigned long long)lanes);
}

bool dbg_history_info(const struct dbg *dbg, struct emu_history_info *out)
{
    if (dbg->history == NULL)
        return false;
    emu_history_info(dbg->history, out);
    return true;
}

uint64_t dbg_history_now(const struct dbg *dbg)
{
    return dbg->engine->ops->instructions(dbg->engine);
}

void dbg_hits_forget(struct dbg *dbg)
{
    dbg->hits_valid = false;
}
