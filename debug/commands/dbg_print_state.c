/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the state of the machine for the shell: warps, lanes, splits, barriers, shapes and values of registers,
 * allocations, launches, status and counters. */
#include "debug/debug_priv.h"

#include <stdio.h>

enum { FEW_WARPS = 64 };

static const char dim[] = "\033[2m", undim[] = "\033[0m";

static void put_style(const struct dbg *dbg, bool on, const char *style, struct lw_sink *out)
{
    if (dbg->colour && on)
        lw_put(out, style);
}

enum lw_status dbg_show_warps(struct dbg *dbg, bool all, struct lw_sink *out,
                              struct lw_error *err)
{
    unsigned count = dbg_thread_count(dbg), shown = all || count < FEW_WARPS ? count : FEW_WARPS;
    struct dbg_thread thread;

    if (count == 0)
        return dbg_exited(dbg, 0, err);
    for (unsigned i = 0; i < shown && dbg_thread_at(dbg, i, &thread); i++) {
        lw_printf(out, "%c %4llu  ", thread.id == dbg->focus[DBG_FOCUS_VIEW] ? '*' : ' ',
                  (unsigned long long)thread.id);
        dbg_thread_name(dbg, &thread, out);
        lw_put(out, "  ");
        dbg_thread_state(dbg, &thread, out);
        lw_put(out, "  ");
        dbg_print_location(dbg, thread.location.pc, out);
        lw_put(out, "\n");
    }
    if (shown < count)
        lw_printf(out, "... and %u more: `warps all` lists them\n", count - shown);
    return LW_OK;
}

/* Prints the value of a uniform or affine register: its base, its stride by lane (by column, if @folds), and its stride by thread
 * row (@rise). */
static void put_tag(uint64_t base, int64_t stride, int64_t rise, unsigned digits, bool folds,
                    struct lw_sink *out)
{
    lw_printf(out, "0x%0*llx", (int)digits, (unsigned long long)base);
    if (stride != 0)
        lw_printf(out, " %c %llu * %s", stride < 0 ? '-' : '+',
                  (unsigned long long)(stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride),
                  folds ? "column" : "lane");
    if (rise != 0)
        lw_printf(out, " %c %llu * row", rise < 0 ? '-' : '+',
                  (unsigned long long)(rise < 0 ? 0 - (uint64_t)rise : (uint64_t)rise));
    lw_put(out, "\n");
}

enum lw_status dbg_show_tags(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                             struct lw_error *err)
{
    const struct emu_config *config = emu_machine_config(dbg->machine);
    const char *between = "";
    struct emu_warp_view view;
    struct emu_stats stats;
    struct dbg_warp warp;
    struct emu_tag tag;
    unsigned fold = config->warp_width;

    if (!dbg_warp_view(dbg, id, &warp, &view))
        return dbg_exited(dbg, id, err);
    if (config->tags == EMU_TAGS_OFF) {
        lw_put(out, "registers have no tags in this run: start it with --tags shadow or --tags compact\n");
        return LW_OK;
    }
    lw_printf(out, "--tags %s, --tag-rules %s, --tag-expansion %s", emu_tag_mode_names[config->tags],
              emu_tag_rules_names[config->tag_rules],
              emu_tag_expansion_names[config->tag_expansion]);
    if (config->tags == EMU_TAGS_COMPACT)
        lw_printf(out, ", --tag-plan %s", emu_tag_plan_names[config->tag_plan]);
    lw_put(out, " (U: uniform, A: affine)\n");
    for (unsigned r = 0; r < view.vreg_count; r++) {
        if (!emu_reg_tag(DBG_AT(&warp), r, &tag) || tag.kind == EMU_TAG_V)
            continue;
        char name[24];
        fold = tag.fold;
        const bool folds = fold < config->warp_width;
        if (tag.pair) {
            snprintf(name, sizeof name, "v%u:%u", r, r + 1);
            lw_printf(out, "  %-8s %c  ", name, tag.pair_stride || tag.pair_rise ? 'A' : 'U');
            put_tag(tag.pair_base, tag.pair_stride, tag.pair_rise, 16, folds, out);
            r++;
        } else {
            snprintf(name, sizeof name, "v%u", r);
            lw_printf(out, "  %-8s %c  ", name, "UAV"[tag.kind]);
            put_tag(tag.base, tag.stride, tag.rise, 8, folds, out);
        }
    }
    lw_put(out, "  neither: ");
    for (unsigned r = 0; r < view.vreg_count; r++) {
        unsigned last = r;
        bool paired = r > 0 && emu_reg_tag(DBG_AT(&warp), r - 1, &tag) &&
                      tag.pair;
        if (paired || !emu_reg_tag(DBG_AT(&warp), r, &tag) || tag.kind != EMU_TAG_V)
            continue;
        while (last + 1 < view.vreg_count &&
               emu_reg_tag(DBG_AT(&warp), last + 1, &tag) &&
               tag.kind == EMU_TAG_V)
            last++;
        lw_printf(out, last > r ? "%sv%u..v%u" : "%sv%u", between, r, last);
        between = " ";
        r = last;
    }
    lw_put(out, *between ? "\n" : "none\n");
    if (fold < config->warp_width)
        lw_printf(out, "  a thread row of the block (equal tid.y) has %u lanes\n", fold);
    emu_stats_get(dbg->machine, &stats);
    lw_put(out, "  in this run so far: ");
    emu_tag_stats_print(&stats, out);
    lw_put(out, "\n");
    return LW_OK;
}

enum lw_status dbg_show_lanes(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                              struct lw_error *err)
{
    unsigned width = emu_machine_config(dbg->machine)->warp_width;
    struct emu_warp_view view;
    struct dbg_thread thread;
    struct dbg_warp warp;

    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_view(dbg, id, &warp, &view))
        return dbg_exited(dbg, id, err);
    lw_put(out, "  lane  tid          split  active  state       pc\n");
    for (unsigned lane = 0; lane < width; lane++) {
        struct emu_split_view split = {0};
        uint64_t tid[3] = {0};
        char text[40];
        bool live = emu_lane_where(DBG_AT(&warp), lane, &split);
        bool active = live && (view.exec >> lane & 1) != 0 &&
                      (thread.location.lanes >> lane & 1) != 0;

        if ((view.launched >> lane & 1) == 0)
            continue;
        for (unsigned i = 0; i < 3; i++)
            (void)!emu_special_read(DBG_AT(&warp), (enum isa_special)(ISA_SR_TID_X + i), lane, &tid[i]);
        snprintf(text, sizeof text, "(%llu,%llu,%llu)", (unsigned long long)tid[0],
                 (unsigned long long)tid[1], (unsigned long long)tid[2]);
        put_style(dbg, !active, dim, out);
        lw_printf(out, "%c %4u  %-11s", lane == thread.lane ? '*' : ' ', lane, text);
        if (live) {
            lw_printf(out, "  %5u  %-6s  %-10s  ", split.id, active ? "yes" : "no",
                      emu_split_state_name(split.state));
            dbg_print_location(dbg, split.pc, out);
        } else {
            lw_put(out, "      -  -       exited");
        }
        put_style(dbg, !active, undim, out);
        lw_put(out, "\n");
    }
    return LW_OK;
}

/* Prints the SIMT stack or the reconvergence table of a warp, last entry first. Of a SIMT stack only the top level runs. Prints
 * nothing if the reconvergence mechanism uses neither a stack nor a table. */
static void show_stack(struct dbg *dbg, const struct dbg_warp *warp, struct lw_sink *out)
{
    enum { SHOWN = 200 };
    struct emu_stack_view entry[SHOWN];
    unsigned count = emu_stack_views(DBG_AT(warp), entry, SHOWN);
    bool stack = emu_reconv_is_stack(emu_machine_config(dbg->machine)->reconv);
    const char *name = stack ? "SIMT stack" : "reconvergence table";

    if (count > SHOWN)
        lw_printf(out, "  %s of %u entries, the lowest %u:\n", name, count, (unsigned)SHOWN);
    else if (count > 0)
        lw_printf(out, "  %s of %u %s, the %s first:\n", name, count, count == 1 ? "entry" : "entries", stack ? "top" : "last");
    for (unsigned i = count < SHOWN ? count : SHOWN; i-- > 0;) {
        lw_printf(out, "%7u  lanes ", entry[i].level);
        dbg_show_mask(dbg, entry[i].lanes, out);
        lw_put(out, " at ");
        dbg_print_location(dbg, entry[i].pc, out);
        if (entry[i].rpc != 0) {
            lw_put(out, " until ");
            dbg_print_location(dbg, entry[i].rpc, out);
        }
        lw_put(out, "\n");
    }
}

enum lw_status dbg_show_splits(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                               struct lw_error *err)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    struct dbg_thread thread;
    struct dbg_warp warp;
    /* If the mask of a narrow warp is shorter than the title "lanes", the column is as wide as the title. */
    unsigned digits = (emu_machine_config(dbg->machine)->warp_width + 3) / 4, count;
    int mask = digits > 3 ? (int)digits + 2 : 5;

    if (!dbg_thread_get(dbg, id, &thread) || !dbg_warp_locate(dbg, id, &warp))
        return dbg_exited(dbg, id, err);
    count = emu_split_views(DBG_AT(&warp), splits, EMU_MAX_LANES);
    lw_printf(out, "  split  state       %-*s  pc\n", mask, "lanes");
    for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++) {
        const struct emu_split_view *split = &splits[i];
        bool here = (split->lanes >> thread.lane & 1) != 0;

        put_style(dbg, !here, dim, out);
        lw_printf(out, "%c %5u  %-10s  ", here ? '*' : ' ', split->id,
                  emu_split_state_name(split->state));
        dbg_show_mask(dbg, split->lanes, out);
        lw_printf(out, "%*s  ", mask - (int)digits - 2, "");
        dbg_print_location(dbg, split->pc, out);
        if (split->state == EMU_SPLIT_BLOCKED)
            lw_printf(out, ", at b%u%s", split->barrier, split->soft ? " (soft)" : "");
        if (split->state == EMU_SPLIT_CTA)
            lw_printf(out, ", at CTA barrier %u", split->barrier);
        put_style(dbg, !here, undim, out);
        lw_put(out, "\n");
    }
    show_stack(dbg, &warp, out);
    return LW_OK;
}

/* Prints the convergence groups in the barrier registers of a warp. Returns false if there is none. */
static bool show_convergence(struct dbg *dbg, const struct dbg_warp *warp,
                             const struct emu_warp_view *view, struct lw_sink *out)
{
    struct emu_split_view splits[EMU_MAX_LANES];
    unsigned count = emu_split_views(DBG_AT(warp), splits, EMU_MAX_LANES);
    struct dbg_convergence it = {0};
    bool any = false;

    while (dbg_convergence_next(warp, view, splits, count, &it)) {
        lw_printf(out, "b%u  group %llu  lanes ", it.reg, (unsigned long long)it.number);
        dbg_show_mask(dbg, it.lanes, out);
        lw_put(out, "  waiting ");
        dbg_show_mask(dbg, it.waiting, out);
        lw_put(out, "\n");
        any = true;
    }
    return any;
}

static bool show_cta(const struct dbg_warp *warp, struct lw_sink *out)
{
    struct emu_block_view block;
    unsigned waiting[ISA_CTA_BARRIER_COUNT] = {0}, live = 0;
    bool any = false;

    if (!emu_block_view(warp->core, warp->slot, &block))
        return false;
    for (unsigned w = 0; w < block.warp_count; w++) {
        struct emu_split_view splits[EMU_MAX_LANES];
        unsigned count = emu_split_views(warp->core, warp->slot, w, splits, EMU_MAX_LANES);

        for (unsigned i = 0; i < count && i < EMU_MAX_LANES; i++) {
            live += lw_popcount(splits[i].lanes);
            if (splits[i].state == EMU_SPLIT_CTA && splits[i].barrier < ISA_CTA_BARRIER_COUNT)
                waiting[splits[i].barrier] += lw_popcount(splits[i].lanes);
        }
    }
    for (unsigned i = 0; i < ISA_CTA_BARRIER_COUNT; i++)
        if (waiting[i] != 0) {
            lw_printf(out, "CTA barrier %u  %u of %u live lanes of the block wait here\n", i,
                      waiting[i], live);
            any = true;
        }
    return any;
}

enum lw_status dbg_show_barriers(struct dbg *dbg, dbg_thread_id id, struct lw_sink *out,
                                 struct lw_error *err)
{
    struct emu_warp_view view;
    struct dbg_warp warp;
    bool any;

    if (!dbg_warp_view(dbg, id, &warp, &view))
        return dbg_exited(dbg, id, err);
    any = show_convergence(dbg, &warp, &view, out);
    any = show_cta(&warp, out) || any;
    if (!any)
        lw_put(out, "no barriers are in use in this warp and block\n");
    return LW_OK;
}

/* If the allocation contains the descriptor of a bound texture, prints it: ", texture of 50 x 20 s16, clamp, at pixels+8". */
static void put_texture(const struct dbg *dbg, const struct emu_allocation *holder,
                        struct lw_sink *out)
{
    static const char *const edges[] = {"wrap", "clamp", "mirror", "border"};
    struct emu_allocation texels;
    struct emu_texture t;
    bool inside;

    if (holder->flags & EMU_ALLOC_FREED || !emu_texture_get(dbg->machine, holder->address, &t))
        return;
    lw_printf(out, ", texture of %u", t.width);
    if (t.height != 0)
        lw_printf(out, " x %u", t.height);
    lw_printf(out, " %c%u", "usf"[t.kind], t.bits);
    if (t.components != 1)
        lw_printf(out, " x %u", t.components);
    if (t.normalized_values)
        lw_put(out, " read as floats");
    lw_printf(out, ", %s", edges[t.edge[0]]);
    if (t.height != 0 && t.edge[1] != t.edge[0])
        lw_printf(out, " and %s", edges[t.edge[1]]);
    if (!emu_allocation_at(dbg->machine, t.address, &texels, &inside) || !inside)
        lw_printf(out, ", at 0x%llx, which is not allocated", (unsigned long long)t.address);
    else if (texels.name == NULL || texels.name[0] == '\0')
        lw_printf(out, ", at 0x%llx", (unsigned long long)t.address);
    else
        lw_printf(out, ", at %s+%llu%s", texels.name,
                  (unsigned long long)(t.address - texels.address),
                  texels.flags & EMU_ALLOC_FREED ? ", which was freed" : "");
}

void dbg_show_allocations(struct dbg *dbg, struct lw_sink *out)
{
    struct emu_allocation allocation;
    unsigned i;

    for (i = 0; emu_allocation_get(dbg->machine, i, &allocation); i++) {
        if (i == 0)
            lw_put(out, "address             bytes       name\n");
        lw_printf(out, "0x%012llx  %12llu  %s%s%s%s", (unsigned long long)allocation.address,
                  (unsigned long long)allocation.size_bytes,
                  allocation.name != NULL && *allocation.name != '\0' ? allocation.name : "-",
                  allocation.flags & EMU_ALLOC_MODULE ? ", module variable" : "",
                  allocation.flags & EMU_ALLOC_READ_ONLY ? ", read-only" : "",
                  allocation.flags & EMU_ALLOC_FREED ? ", freed" : "");
        put_texture(dbg, &allocation, out);
        lw_put(out, "\n");
    }
    if (i == 0)
        lw_put(out, "no global memory is allocated\n");
}

/* ---- registers ------------------------------------------------------------------------ */

static enum lw_status show_register(struct dbg *dbg, const struct dbg_thread *thread,
                                    unsigned index, struct lw_sink *out, struct lw_error *err)
{
    uint8_t data[8 * EMU_MAX_LANES];
    struct dbg_reg reg;
    enum lw_status status;
    struct dbg_value value = {DBG_U32, 0};

    if (!dbg_reg_at(dbg, index, &reg))
        return LW_FAIL(err, LW_ERANGE, "there is no register number %u", index);
    status = dbg_reg_read(dbg, thread->id, index, data, sizeof data, err);
    if (status != LW_OK)
        return status;
    lw_printf(out, "%-12s ", reg.name);
    switch (reg.kind) {
    case DBG_REG_VECTOR:
        value.bits = lw_get32(data + 4 * thread->lane);
        lw_printf(out, "0x%08x  ", (unsigned)value.bits);
        dbg_value_print(&value, 'd', out);
        lw_put(out, "  ");
        dbg_value_print(&value, 'f', out);
        break;
    case DBG_REG_PC:
        lw_printf(out, "0x%llx  ", (unsigned long long)lw_get64(data));
        dbg_print_location(dbg, lw_get64(data), out);
        break;
    case DBG_REG_BLOCK:
        lw_printf(out, "%u,%u,%u", lw_get32(data), lw_get32(data + 4), lw_get32(data + 8));
        break;
    case DBG_REG_PRED:
    case DBG_REG_EXEC:
    case DBG_REG_ACTIVE:
    case DBG_REG_HIT_LANES:
    case DBG_REG_FAULT_LANES:
    case DBG_REG_BARRIER: dbg_show_mask(dbg, lw_get64(data), out); break;
    case DBG_REG_FAULT_CODE:
        lw_printf(out, "%u", lw_get32(data));
        if (lw_get32(data) != 0)
            lw_printf(out, "  %s", emu_fault_name((enum emu_fault_kind)lw_get32(data)));
        break;
    case DBG_REG_LANE_PCS:
        for (unsigned lane = 0; lane < reg.bytes / 8; lane++)
            lw_printf(out, "%s0x%llx", lane != 0 ? " " : "",
                      (unsigned long long)lw_get64(data + 8 * lane));
        break;
    case DBG_REG_SCALAR: lw_printf(out, "0x%08x  %d", lw_get32(data), (int)(int32_t)lw_get32(data)); break;
    default:
        if (reg.bytes == 8)
            lw_printf(out, "%llu", (unsigned long long)lw_get64(data));
        else
            lw_printf(out, "%u", lw_get32(data));
    }
    lw_put(out, "\n");
    return LW_OK;
}

static enum lw_status show_group(struct dbg *dbg, const struct dbg_thread *thread,
                                 const char *group, bool *found, struct lw_sink *out,
                                 struct lw_error *err)
{
    enum lw_status status = LW_OK;
    struct dbg_reg reg;

    *found = false;
    for (unsigned i = 0; status == LW_OK && dbg_reg_at(dbg, i, &reg); i++)
        if (strcmp(reg.group, group) == 0 && reg.kind != DBG_REG_LANE_PCS) {
            *found = true;
            status = show_register(dbg, thread, i, out, err);
        }
    return status;
}

enum lw_status dbg_show_registers(struct dbg *dbg, dbg_thread_id id, int argc, char **argv,
                                  struct lw_sink *out, struct lw_error *err)
{
    static const char *const usual[] = {"warp", "predicate", "scalar", "vector"};
    enum lw_status status = LW_OK;
    struct dbg_thread thread;
    bool found;

    if (!dbg_thread_get(dbg, id, &thread))
        return dbg_exited(dbg, id, err);
    for (size_t i = 0; argc == 0 && i < LW_COUNT_OF(usual) && status == LW_OK; i++)
        status = show_group(dbg, &thread, usual[i], &found, out, err);
    for (int i = 0; i < argc && status == LW_OK; i++) {
        int index = dbg_reg_find(dbg, argv[i]);

        if (index >= 0) {
            status = show_register(dbg, &thread, (unsigned)index, out, err);
            continue;
        }
        status = show_group(dbg, &thread, argv[i], &found, out, err);
        if (status == LW_OK && !found)
            status = LW_FAIL(err, LW_ENOENT,
                             "there is no register or register group \"%s\": the register groups are warp, predicate, "
                             "scalar, vector and special",
                             argv[i]);
    }
    return status;
}

/* ---- launches ---------------------------------------------------------------------------- */

static void show_launch(const struct emu_grid *grid, struct lw_sink *out)
{
    const uint32_t *g = grid->launch.grid, *b = grid->launch.block;

    lw_printf(out, "%-6u %s, grid (%u,%u,%u), block (%u,%u,%u), ", grid->sequence,
              grid->launch.kernel->name, g[0], g[1], g[2], b[0], b[1], b[2]);
    if (grid->stream_prev != NULL && grid->stream_prev == grid->launcher)
        lw_printf(out, "waits for the blocks of launch %u, which launched it", grid->launcher->sequence);
    else if (grid->stream_prev != NULL)
        lw_printf(out, "waits for launch %u in its stream", grid->stream_prev->sequence);
    else if (grid->blocks_started == 0)
        lw_put(out, "not started");
    else
        lw_printf(out, "%llu of %llu blocks ended", (unsigned long long)grid->blocks_ended,
                  (unsigned long long)grid->block_count);
    if (grid->pending_children != 0)
        lw_printf(out, grid->pending_children == 1 ? ", %u launch by it has not completed"
                                                : ", %u launches by it have not completed",
                  grid->pending_children);
    if (grid->pending_groups != 0)
        lw_printf(out, ", with %u uncompleted aggregated block group%s", grid->pending_groups,
                  grid->pending_groups == 1 ? "" : "s");
    if (grid->parent.grid != 0) {
        uint32_t index[3] = {0};
        if (grid->launcher != NULL)
            dbg_block_index(grid->launcher, grid->parent.block, index);
        lw_printf(out, "; launched by launch %u block(%u,%u,%u) w%u lane %u", grid->parent.grid, index[0],
                  index[1], index[2], grid->parent.warp, grid->parent.lane);
        if (grid->aggregated_into != NULL)
            lw_printf(out, ", aggregated into launch %u", grid->aggregated_into->sequence);
        else if (grid->group)
            lw_put(out, ", launched as a block group that runs as a kernel of its own");
    }
    lw_put(out, "\n");
}

void dbg_show_launches(struct dbg *dbg, struct lw_sink *out)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);

    if (grid == NULL)
        lw_put(out, "all launches have ended\n");
    for (; grid != NULL; grid = grid->next)
        if (!emu_grid_complete(grid))
            show_launch(grid, out);
}

/* ---- status ------------------------------------------------------------------------------ */

void dbg_show_status(struct dbg *dbg, struct lw_sink *out)
{
    const struct emu_grid *grid = emu_grid_current(dbg->machine);
    const struct emu_config *config = emu_machine_config(dbg->machine);
    struct dbg_thread thread;

    lw_printf(out, "machine    %u lanes per warp, policy %s, reconvergence %s\n",
              config->warp_width, config->policy, config->reconv);
    if (dbg->config.timed != NULL)
        lw_printf(out, "timing     %s, cycle %llu\n", dbg->config.timed,
                  (unsigned long long)dbg->engine->ops->cycles(dbg->engine));
    if (grid != NULL)
        lw_printf(out,
                  "launch     %u: %s, grid (%u,%u,%u), block (%u,%u,%u), %llu of %llu blocks "
                  "ended\n",
                  grid->sequence, grid->launch.kernel->name, grid->launch.grid[0],
                  grid->launch.grid[1], grid->launch.grid[2], grid->launch.block[0],
                  grid->launch.block[1], grid->launch.block[2],
                  (unsigned long long)grid->blocks_ended,
                  (unsigned long long)grid->block_count);
    else
        lw_put(out, "launch     none: all launches have ended\n");
    if (dbg_view(dbg, &thread, NULL) == LW_OK) {
        lw_put(out, "focus      ");
        dbg_thread_name(dbg, &thread, out);
        lw_put(out, " at ");
        dbg_print_location(dbg, thread.location.pc, out);
        lw_put(out, "\n           ");
        dbg_thread_state(dbg, &thread, out);
        lw_put(out, "\n");
    }
    lw_printf(out, "resident   %u warp%s\n", dbg_thread_count(dbg),
              dbg_thread_count(dbg) == 1 ? "" : "s");
    lw_printf(out, "executed   %llu warp instruction%s\n",
              (unsigned long long)dbg->engine->ops->instructions(dbg->engine),
              dbg->engine->ops->instructions(dbg->engine) == 1 ? "" : "s");
}

void dbg_show_stats(struct dbg *dbg, struct lw_sink *out)
{
    struct emu_stats stats;

    emu_stats_get(dbg->machine, &stats);
    for (size_t i = 0; i < emu_stat_row_count; i++) {
        uint64_t count;

        memcpy(&count, (const uint8_t *)&stats + emu_stat_rows[i].offset, sizeof count);
        if (count != 0)
            lw_printf(out, "%-20s %llu\n", emu_stat_rows[i].name, (unsigned long long)count);
    }
    if (dbg->engine->ops->cycles != NULL)
        lw_printf(out, "%-20s %llu\n", "cycles",
                  (unsigned long long)dbg->engine->ops->cycles(dbg->engine));
}
