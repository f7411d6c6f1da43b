/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a core, and the blocks and warps on it. */
#include "timing/core/tim_core_priv.h"

#include <limits.h>
#include <stdlib.h>

/* ---- creation --------------------------------------------------------------------------------- */

static uint64_t answer_clock(void *context, unsigned slot, unsigned warp)
{
    const struct tim_core *core = context;

    (void)slot, (void)warp;
    return core->now + core->config->issue_control_stage;
}
static uint64_t answer_timer(void *context)
{
    const struct tim_core *core = context;

    return (core->now + core->lag) * 1000 / core->config->clocks_core;
}
static struct tim_block *block_of_slot(const struct tim_core *core, unsigned slot)
{
    for (unsigned b = 0; b < core->config->core_blocks; b++)
        if (core->block[b].used && core->block[b].slot == slot)
            return &core->block[b];
    return NULL;
}
static void answer_slot(void *context, unsigned slot, unsigned warp, struct emu_hw_ids *ids)
{
    const struct tim_core *core = context;
    const struct tim_block *block = block_of_slot(core, slot);

    ids->smid = core->index;
    ids->nsmid = core->config->core_count;
    if (block != NULL)
        ids->warpid = block->warp_slot[warp];
    ids->nwarpid = core->config->core_warps;
}
/* The timing model itself delays the warp for the duration of the sleep (sleep_until), so the sleep in emu is as short as
 * possible. */
static uint64_t answer_sleep(void *context, uint32_t nanoseconds)
{
    struct tim_core *core = context;

    core->slept = nanoseconds;
    return 1;
}

static bool make_caches(struct tim_core *core)
{
    const struct tim_config *c = core->config;
    struct tim_cache_shape code = {c->fetch_cache_bytes, c->fetch_cache_line, c->fetch_cache_line,
                                   c->fetch_cache_ways, c->fetch_cache_mshrs,
                                   c->core_warps + (c->fetch_l0_bytes != 0 ? tim_front_most(c) : 0), false};
    struct tim_cache_shape l1 = {c->l1_bytes, c->l1_line, c->l1_sector, c->l1_ways, c->l1_mshrs,
                                 c->l1_merges, c->l1_hash == TIM_HASH_XOR};
    struct tim_cache_shape constant = {c->constant_bytes, c->constant_line, c->constant_line,
                                       c->constant_ways, c->constant_mshrs, 256, false};
    struct tim_cache_shape texture = {c->texture_bytes, c->texture_line, c->texture_line,
                                      c->texture_ways, c->texture_mshrs, 64, false};
    unsigned most = c->core_warps > 256 ? c->core_warps : 256;

    if (c->l1_merges > most)
        most = c->l1_merges;
    if (code.merges > most)
        most = code.merges;
    core->front = c->fetch_l0_bytes != 0 ? tim_front_create(c, core->stats->count) : NULL;
    core->icache = tim_cache_create(&code);
    core->constant = tim_cache_create(&constant);
    core->texture = c->texture_bytes != 0 ? tim_cache_create(&texture) : NULL; /* NULL: textures use L1 */
    core->l1 = c->l1_bytes != 0 ? tim_cache_create(&l1) : NULL;
    bool classes = c->l1_classes && core->l1 != NULL;
    if (classes)
        core->locality = tim_locality_create(c->l1_bytes / c->l1_line);
    core->waiters = calloc(most, sizeof *core->waiters);
    return core->icache != NULL && core->constant != NULL && (core->texture != NULL || c->texture_bytes == 0) &&
           core->waiters != NULL && (core->front != NULL || c->fetch_l0_bytes == 0) && (core->l1 != NULL || c->l1_bytes == 0) &&
           (core->locality != NULL || !classes) &&
           (c->l1_coherent || core->l1 == NULL || tim_held_create(core));
}

static bool make_window(struct tim_core *core)
{
    const struct tim_config *c = core->config;
    unsigned banks = c->registers_banks + (core->entries != NULL); /* the last bank is the file of compact entries */

    if (c->registers_collector != TIM_COLLECTOR_WINDOW)
        return true;
    core->window = calloc(c->issue_schedulers, sizeof *core->window);
    core->window_banks = calloc((size_t)c->issue_schedulers * banks, sizeof *core->window_banks);
    for (unsigned s = 0; core->window != NULL && s < c->issue_schedulers; s++)
        core->window[s].bank = core->window_banks + (size_t)s * banks;
    return core->window != NULL && core->window_banks != NULL;
}

static bool make_readers(struct tim_core *core)
{
    if (core->config->issue_war != TIM_WAR_COUNTERS)
        return true;
    core->readers = calloc(core->config->core_warps, 256 * sizeof *core->readers);
    return core->readers != NULL;
}

/** Allocates the load/store queue. A packet (instructions that access memory together) counts as one instruction for
 *  lsu.queue, but each of its members may need an element of the array. */
static bool make_queue(struct tim_core *core)
{
    const struct tim_config *c = core->config;
    size_t members = core->mechs.packets != NULL ? c->core_warps : 1;

    if (core->mechs.forms != NULL) {
        core->formed = calloc(1, sizeof *core->formed);
        if (core->formed == NULL)
            return false;
        core->formed->pairs = core->mechs.forms->row->pairs != NULL;
        if (!core->formed->pairs) /* each lane of a formed warp may come from a different split */
            members = EMU_MAX_LANES;
    }
    if (core->mechs.packets != NULL) {
        core->packets = tim_packets_create();
        if (core->packets == NULL)
            return false;
    }
    core->queue = calloc(c->lsu_queue * members, sizeof *core->queue);
    return core->queue != NULL;
}

/** Allocates the members of a core that only certain keys need. */
static bool make_extras(struct tim_core *core)
{
    const struct tim_config *c = core->config;

    if (c->issue_dependence == TIM_DEP_COUNTERS) {
        core->counters = calloc(c->core_warps, sizeof *core->counters);
        if (core->counters == NULL)
            return false;
    }
    for (unsigned i = 0; c->lsu_separate && i < TIM_SIDES; i++) {
        core->side[i].queue = calloc(c->lsu_queue, sizeof *core->side[i].queue);
        if (core->side[i].queue == NULL)
            return false;
    }
    return true;
}

struct tim_core *tim_core_create(const struct tim_config *config, struct emu_machine *machine,
                                 struct tim_memory *memory, struct tim_core_stats *stats,
                                 unsigned index)
{
    static const struct emu_core_ops answers = {answer_clock, answer_timer, answer_slot,
                                                answer_sleep, NULL};
    struct tim_core *core = aligned_alloc(64, sizeof *core);
    unsigned banks = config->issue_schedulers * config->registers_banks, pipes = 0;
    struct lw_error err;
    bool fine;

    if (core == NULL)
        return NULL;
    memset(core, 0, sizeof *core);
    core->config = config;
    tim_core_show_mechanisms(core, stats);
    core->memory = memory;
    core->machine = machine;
    core->stats = stats;
    core->index = index;
    core->tick_at = &core->tick_at_own;
    core->any_poked = &core->poked;
    core->reads_next = core->early_next = UINT64_MAX;
    core->warp = aligned_alloc(64, config->core_warps * sizeof *core->warp);
    if (core->warp != NULL)
        memset(core->warp, 0, config->core_warps * sizeof *core->warp);
    core->block = calloc(config->core_blocks, sizeof *core->block);
    core->bank_at = calloc(banks, sizeof *core->bank_at);
    core->bank_free = calloc(banks, sizeof *core->bank_free);
    if ((config->registers_banks & (config->registers_banks - 1)) == 0)
        core->bank_mask = config->registers_banks - 1;
    core->has_tags = emu_machine_config(machine)->tags != EMU_TAGS_OFF;
    bool entries = core->has_tags && config->registers_tags != TIM_REGISTERS_ROWS;
    core->entries = entries ? tim_entries_create(config) : NULL;
    core->replay = calloc(config->lsu_queue, sizeof *core->replay);
    fine = make_extras(core) && core->replay != NULL && core->warp != NULL && core->block != NULL && core->bank_at != NULL &&
           core->bank_free != NULL && tim_mechs_init(&core->mechs) && make_queue(core) && make_readers(core) &&
           (core->entries != NULL || !entries) && make_window(core) && make_caches(core);
    for (unsigned b = 0; fine && b < config->core_blocks; b++) {
        core->block[b].warp_slot = calloc(config->core_warps, sizeof *core->block[b].warp_slot);
        fine = core->block[b].warp_slot != NULL;
    }
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        pipes += config->unit[u].pipes;
    core->pipes = calloc(pipes + 1, sizeof *core->pipes);
    fine = fine && core->pipes != NULL;
    pipes = 0;
    for (unsigned u = 0; fine && u < ISA_UNIT_COUNT; u++) {
        core->pipe[u] = core->pipes + pipes;
        pipes += config->unit[u].pipes;
    }
    for (unsigned u = 0; fine && u < ISA_UNIT_COUNT; u++)
        for (unsigned s = 0; s < config->issue_schedulers; s++)
            if (config->unit[u].pipes != 0 && config->unit[u].pipes <= config->issue_schedulers)
                core->only_pipe[u][s] =
                    (uint16_t)(core->pipe[u] - core->pipes + s % config->unit[u].pipes + 1);
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        core->interval[u] =
            (config->core_warp_width + config->unit[u].lanes - 1) / config->unit[u].lanes;
    core->hot.warp_words = (config->core_warps + 63) / 64;
    core->hot.words = (config->core_warps + 64 * config->issue_schedulers - 1) /
                      (64 * config->issue_schedulers);
    for (unsigned s = 0; s < config->issue_schedulers; s++) {
        struct tim_hot *hot = &core->hot;
        hot->first[s] = s * hot->words * 64;
        for (unsigned w = s; w < config->core_warps; w += config->issue_schedulers) {
            unsigned at = hot->first[s] + hot->count[s]++;
            if (fine) {
                core->warp[w].place = (uint16_t)at;
                tim_warp_touch(core, w, TIM_TOUCH_STALL);
            }
        }
        hot->waiting[s][0] = (uint16_t)hot->count[s];
        hot->known[hot->first[s] / 64].present = hot->count[s] != 0;
        hot->known[hot->first[s] / 64].recheck_min = UINT64_MAX;
    }
    core->flight.free = TIM_NONE;
    for (unsigned s = 0; s < TIM_MAX_SCHEDS; s++) {
        core->sched[s] = (struct tim_sched){-1, -1, -1};
        core->fetch_follows[s] = -1;
    }
    if (fine)
        fine = emu_core_create(machine,
                               config->core_blocks * (emu_machine_config(machine)->launch_depth + 1),
                               &answers, core, &core->emu, &err) == LW_OK;
    if (!fine) {
        tim_core_destroy(core);
        return NULL;
    }
    return core;
}

void tim_core_destroy(struct tim_core *core)
{
    if (core == NULL)
        return;
    if (core->emu != NULL)
        emu_core_destroy(core->emu);
    for (unsigned b = 0; core->block != NULL && b < core->config->core_blocks; b++)
        free(core->block[b].warp_slot);
    free(core->pipes);
    free(core->domain);
    for (uint32_t i = 0; i < core->op_count; i++)
        free(core->op[i].line);
    free(core->op);
    free(core->live);
    free(core->flight.collect);
    free(core->flight.wait);
    free(core->flight.write);
    free(core->flight.enter);
    free(core->warp);
    free(core->lanes);
    free(core->readers);
    free(core->block);
    free(core->suspended);
    free(core->bank_at);
    tim_entries_destroy(core->entries);
    free(core->bank_free);
    free(core->queue);
    free(core->replay);
    free(core->waiters);
    tim_mechs_fini(&core->mechs);
    tim_packets_destroy(core->packets);
    free(core->formed);
    free(core->window);
    free(core->window_banks);
    free(core->counters);
    for (unsigned i = 0; i < TIM_SIDES; i++)
        free(core->side[i].queue);
    if (core->sharing[TIM_SHARES_CODE].core == NULL || core->sharing[TIM_SHARES_CODE].core[0] == core)
        tim_cache_destroy(core->icache);
    tim_front_destroy(core->front);
    tim_cache_destroy(core->l1);
    tim_locality_destroy(core->locality);
    tim_held_destroy(core->held);
    if (core->sharing[TIM_SHARES_CONSTANTS].core == NULL || core->sharing[TIM_SHARES_CONSTANTS].core[0] == core)
        tim_cache_destroy(core->constant);
    tim_cache_destroy(core->texture);
    free(core);
}

void tim_core_share(struct tim_core *core, enum tim_sharing_of what, struct tim_core **cores, unsigned count)
{
    struct tim_cache **own = what == TIM_SHARES_CODE ? &core->icache : &core->constant;

    core->sharing[what].core = cores;
    core->sharing[what].count = count;
    if (cores[0] == core)
        return;
    tim_cache_destroy(*own);
    *own = what == TIM_SHARES_CODE ? cores[0]->icache : cores[0]->constant;
}

/** Allocates tim_warp.lanes for all warps. The arrays are large, and only few models need them. */
static bool keep_lanes(struct tim_core *core)
{
    const unsigned warps = core->config->core_warps;

    core->lanes = calloc((size_t)warps * ISA_REG_NUMBERS, sizeof *core->lanes);
    for (unsigned w = 0; core->lanes != NULL && w < warps; w++)
        core->warp[w].lanes = core->lanes + (size_t)w * ISA_REG_NUMBERS;
    return core->lanes != NULL;
}

static void set_quick(struct tim_core *core)
{
    core->quick = !core->reference && !core->tracing &&
                  core->config->issue_dependence != TIM_DEP_VECTOR;
    core->mechs.calls_all = !core->quick;
    core->passable = core->quick && core->hot.words == 1 && !core->config->issue_rotate && !core->config->lsu_separate && !core->mechs.cycle;
}

void tim_core_set_tracing(struct tim_core *core, bool tracing)
{
    core->tracing = tracing;
    set_quick(core);
    /* While all warps are checked in every cycle, the sets may_... remain supersets of what they must contain, but the
     * cached stall reasons become invalid. Each warp is therefore checked again. */
    for (unsigned w = 0; w < core->config->core_warps; w++)
        tim_warp_touch(core, w, TIM_TOUCH_STALL);
    tim_core_poke(core);
}

bool tim_core_set_model(struct tim_core *core, bool reference)
{
    const struct tim_config *c = core->config;

    core->reference = reference;
    if ((reference || c->issue_split_lanes) && !keep_lanes(core))
        return false;
    set_quick(core);
    core->operand_check = TIM_CHECK_ALL;
    if (c->issue_war != TIM_WAR_NONE || reference)
        return true;
    if (c->issue_dependence == TIM_DEP_CONTROL)
        core->operand_check = TIM_CHECK_BARRIERS;
    else if (c->issue_dependence == TIM_DEP_SCOREBOARD && !c->issue_split_lanes)
        core->operand_check = TIM_CHECK_REGISTERS;
    return true;
}

/* ---- instructions in flight ---------------------------------------------------------------------- */

/** Makes each list of core->flight large enough for @need instructions. Returns false if memory is short. */
static bool grow_lists(struct tim_core *core, size_t need)
{
    struct tim_flight *f = &core->flight;
    struct tim_aged **list[] = {&f->collect, &f->wait, &f->write, &f->enter};

    for (size_t i = 0; i < LW_COUNT_OF(list); i++) {
        struct tim_aged *bigger = realloc(*list[i], need * sizeof *bigger);
        if (bigger == NULL)
            return false;
        *list[i] = bigger;
    }
    return true;
}

/* Grows core->op. The array starts at a cache line of the host. */
bool tim_ops_grow(struct tim_core *core)
{
    size_t had = core->op_capacity, room = had + had / 2 + 8;
    struct tim_op *bigger;

    if (!grow_lists(core, room))
        return false;
    bigger = aligned_alloc(64, room * sizeof *bigger);
    if (bigger == NULL)
        return false;
    if (had != 0)
        memcpy(bigger, core->op, had * sizeof *bigger);
    memset(bigger + had, 0, (room - had) * sizeof *bigger);
    free(core->op);
    core->op = bigger;
    core->op_capacity = room;
    return true;
}

const struct tim_op *tim_op_after(const struct tim_core *core, uint64_t age)
{
    const struct tim_op *found = NULL;

    for (uint32_t i = 0; i < core->op_count; i++) {
        const struct tim_op *op = &core->op[i];
        if (op->stage != TIM_STAGE_FREE && op->age > age && (found == NULL || op->age < found->age))
            found = op;
    }
    return found;
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

struct need {
    unsigned warps, slots, threads, registers, shared_bytes; /* slots: number of warp slots, in whole slot groups (core.group) */
};

/** Returns the number of warp slots that are allocated together: those of a slot group, or 1 if slot groups span blocks. */
static unsigned slot_unit(const struct tim_config *c)
{
    return c->dwr_on && c->dwr_group_span_blocks ? 1 : c->core_group;
}

static unsigned slots_of(const struct tim_config *config, unsigned warps)
{
    return (warps + slot_unit(config) - 1) / slot_unit(config) * slot_unit(config);
}

static struct need need_of(const struct tim_config *c, const struct emu_grid *grid)
{
    const struct isa_function *kernel = grid->launch.kernel;
    unsigned a_warp = kernel->vreg_count * c->core_warp_width;

    a_warp = (a_warp + c->core_register_unit - 1) / c->core_register_unit * c->core_register_unit;
    return (struct need){
        .warps = grid->block_warps,
        .slots = slots_of(c, grid->block_warps),
        .threads = grid->block_threads,
        .registers = a_warp * grid->block_warps,
        .shared_bytes = (grid->shared_bytes + c->core_shared_unit - 1) / c->core_shared_unit *
                        c->core_shared_unit,
    };
}

enum lw_status tim_core_could_fit(const struct tim_config *config, const struct emu_grid *grid,
                                  struct lw_error *err)
{
    struct need need = need_of(config, grid);
    const struct {
        unsigned need, have;
        const char *what, *key;
    } limits[] = {
        {need.slots, config->core_warps, config->core_group == 1 ? "warps" : "warp slots", "core.warps"},
        {need.threads, config->core_threads, "threads", "core.threads"},
        {need.registers, config->core_registers, "registers", "core.registers"},
        {need.shared_bytes, config->core_shared_bytes, "bytes of shared memory",
         "core.shared_bytes"},
    };

    for (unsigned i = 0; i < LW_COUNT_OF(limits); i++)
        if (limits[i].need > limits[i].have)
            return LW_FAIL(err, LW_EINPUT,
                           "a block of kernel %s needs %u %s, but a core of GPU model %s has %u: make the block "
                           "smaller or %s larger",
                           grid->launch.kernel->name, limits[i].need, limits[i].what, config->name,
                           limits[i].have, limits[i].key);
    return LW_OK;
}

/** Returns whether @count blocks that each need @need fit on the core now or, if @empty is set, would fit if the core were
 *  empty. */
static bool has_space(const struct tim_core *core, const struct need *need, unsigned count, bool empty)
{
    const struct tim_config *c = core->config;
    const uint64_t registers = (uint64_t)c->core_registers * (tim_renames(c) ? c->rows_overcommit : 100) / 100;

    return (empty ? 0 : core->blocks) + count <= c->core_blocks && (empty ? 0 : core->warps) + count * need->slots <= c->core_warps &&
           (empty ? 0 : core->threads) + count * need->threads <= c->core_threads &&
           (empty ? 0 : core->registers) + count * need->registers <= registers &&
           (empty ? 0 : core->shared_bytes) + count * need->shared_bytes <= c->core_shared_bytes;
}

bool tim_core_fits_pair(const struct tim_core *core, const struct emu_grid *grid, bool empty)
{
    struct need need = need_of(core->config, grid);

    return has_space(core, &need, 2, empty) && (empty || tim_core_fits(core, grid));
}

bool tim_core_has_capacity(const struct tim_core *core, const struct emu_grid *grid)
{
    const struct tim_config *c = core->config;
    struct need need = need_of(c, grid);

    if (core->closed == TIM_CLOSED_ALL)
        return false;
    if (!c->kernels_mixed)
        for (unsigned b = 0; b < c->core_blocks; b++)
            if (core->block[b].used && core->block[b].grid != grid)
                return false;
    return has_space(core, &need, 1, false);
}

bool tim_core_fits(const struct tim_core *core, const struct emu_grid *grid)
{
    return core->closed == TIM_OPEN && tim_core_has_capacity(core, grid) && !tim_core_level_full(core, grid);
}

/** Clears the state of the warp that used the slot last. Keeps the members that belong to the slot: `place`, `reason`,
 *  `lanes` and `fetching`. `lanes` is all zero, because no writes are pending. `fetching` may be set, because the last warp
 *  may have requested a line that is still outstanding. `buffer` need not be cleared, because `buffered` is 0. */
static void clear_warp(struct tim_warp *w)
{
    uint64_t *lanes = w->lanes;
    bool fetching = w->fetching;
    uint16_t place = w->place;
    uint8_t reason = w->reason;

    memset(w, 0, offsetof(struct tim_warp, buffer));
    memset(&w->code, 0, sizeof *w - offsetof(struct tim_warp, code));
    w->lanes = lanes;
    w->fetching = fetching;
    w->place = place;
    w->reason = reason;
}

/** Returns the slot for warp @k of a block. If the warp is the first of its slot group, this is the first slot of the next
 *  completely free slot group, from slot @w on. Any other warp of the slot group gets slot @w. */
static unsigned free_slot(const struct tim_core *core, unsigned k, unsigned w)
{
    const unsigned group = slot_unit(core->config);

    if (k % group != 0)
        return w;
    for (bool used = true; used; w += used ? group : 0) {
        w = (w + group - 1) / group * group;
        used = false;
        for (unsigned i = 0; i < group; i++)
            used |= core->warp[w + i].used;
    }
    return w;
}

/** Reports to mechanisms that block @b has arrived on the core or, if @begins is false, that it leaves. */
static void report_residence(struct tim_core *core, unsigned b, bool begins)
{
    const struct tim_block *block = &core->block[b];
    const struct tim_reach_launch *reach = core->mechs.core.slices == NULL ? NULL : tim_reach_of(core->mechs.core.slices, block->grid);
    struct tim_mech_block is = {.place = b, .grid = block->grid, .linear = block->linear};

    if (reach != NULL && begins) {
        is.arrays = tim_reach_arrays(reach);
        tim_reach_block(reach, block->linear, is.range);
    }
    tim_mechs_reside(&core->mechs, &is, begins);
}

void tim_core_seat(struct tim_core *core, struct emu_grid *grid, uint64_t linear, unsigned slot,
                   const struct tim_code *code, bool moves_in)
{
    struct need need = need_of(core->config, grid);
    struct emu_block_view view;
    unsigned b = 0;

    while (core->block[b].used)
        b++;
    struct tim_block *block = &core->block[b];
    uint16_t *warp_slot = block->warp_slot;
    *block = (struct tim_block){.used = true, .slot = slot, .grid = grid, .linear = linear,
                                .warps = need.warps, .registers = need.registers,
                                .shared_bytes = need.shared_bytes, .threads = need.threads,
                                .warp_slot = warp_slot};
    tim_trace_block(core->trace, core->now + core->lag, core->index, b, grid->sequence, linear, true);
    if (emu_block_view(core->emu, slot, &view))
        block->local_bytes = view.local_bytes;
    if (core->held != NULL)
        tim_held_block(core, grid, moves_in);
    if (core->mechs.count != 0)
        tim_mechs_block(&core->mechs, grid->sequence, true);
    if (core->mechs.resides)
        report_residence(core, b, true);
    tim_core_poke(core);
    core->blocks++;
    core->recount = true;
    core->warps += need.slots;
    core->threads += need.threads;
    core->registers += need.registers;
    core->shared_bytes += need.shared_bytes;
    for (unsigned k = 0, w = 0; k < need.warps; k++, w++) {
        w = free_slot(core, k, w);
        struct emu_warp_view warp;
        unsigned registers = 0;
        clear_warp(&core->warp[w]);
        if (core->counters != NULL)
            memset(&core->counters[w], 0, sizeof core->counters[w]);
        core->warp[w].used = true;
        core->warp[w].block = (uint16_t)b;
        core->warp[w].index = (uint16_t)k;
        if (core->has_tags) {
            core->warp[w].rows_saved = (uint16_t)tim_tags_count(core->config, core->emu, slot, k, &registers);
            core->warp[w].rows = (uint16_t)(registers - core->warp[w].rows_saved);
            core->rows += core->warp[w].rows;
            core->rows_saved += core->warp[w].rows_saved;
        }
        core->warp[w].age = ++core->assigned;
        core->warp[w].code = code;
        core->warp[w].split = -1;
        core->warp[w].waits = moves_in ? TIM_STALL_LAUNCH : TIM_STALL_FETCH;
        core->warp[w].state = emu_warp_state(core->emu, slot, k);
        core->warp[w].ended =
            moves_in && emu_warp_view(core->emu, slot, k, &warp) && warp.live == 0;
        block->ended += core->warp[w].ended;
        block->warp_slot[k] = (uint16_t)w;
        core->hot.age[core->warp[w].place] = core->assigned;
        tim_set_alive(core, w, !core->warp[w].ended);
        tim_warp_touch(core, w, TIM_TOUCH_STALL | TIM_TOUCH_FETCH | (moves_in ? 0 : TIM_TOUCH_SPLIT));
    }
    if (core->has_tags)
        tim_count_rows(core);
}

enum lw_status tim_core_occupy(struct tim_core *core, struct emu_grid *grid, uint64_t linear,
                              const struct tim_code *code, struct lw_error *err)
{
    unsigned slot;
    enum lw_status status = emu_core_block_start(core->emu, grid, linear, &slot, err);

    if (status == LW_OK)
        tim_core_seat(core, grid, linear, slot, code, false);
    return status;
}

void tim_core_unseat(struct tim_core *core, unsigned b)
{
    struct tim_block *block = &core->block[b];

    core->moved = true;
    for (unsigned k = 0; k < block->warps; k++) {
        core->warp[block->warp_slot[k]].used = false;
        core->rows -= core->warp[block->warp_slot[k]].rows;
        core->rows_saved -= core->warp[block->warp_slot[k]].rows_saved;
        tim_set_alive(core, block->warp_slot[k], false);
        tim_warp_touch(core, block->warp_slot[k], TIM_TOUCH_STALL);
    }
    if (core->mechs.count != 0)
        tim_mechs_block(&core->mechs, block->grid->sequence, false);
    if (core->mechs.resides)
        report_residence(core, b, false);
    core->blocks--;
    core->recount = true;
    core->warps -= slots_of(core->config, block->warps);
    core->threads -= block->threads;
    core->registers -= block->registers;
    core->shared_bytes -= block->shared_bytes;
    block->used = false;
    tim_trace_block(core->trace, core->now + core->lag, core->index, b, block->grid->sequence, block->linear,
                    false);
}

bool tim_core_is_busy(const struct tim_core *core, uint64_t now)
{
    if (core->live_count != 0 || core->moving != 0)
        return true;
    for (unsigned i = 0; i < core->config->core_warps; i++) {
        const struct tim_warp *w = &core->warp[i];
        if (!w->used)
            continue;
        if (w->ended) { /* the slot of an ended warp stays in use until all warps of its block have ended */
            const struct tim_block *block = &core->block[w->block];

            if (block->ended == block->warps || w->writes_out != 0)
                return true;
            continue;
        }
        if (w->reselect || (w->split >= 0 && (core->mechs.count == 0 || tim_mechs_stuck(&core->mechs, i) == NULL)) || w->writes_out != 0 || w->fetching ||
            w->sleep_until > now || w->not_before > now)
            return true;
    }
    return false;
}

/* ---- the functions of struct tim_mech_core, which mechanisms call; warps that mechanisms throttle ---- */

static void look(const void *context, unsigned warp, struct tim_mech_warp *out)
{
    const struct tim_core *core = context;
    const struct tim_warp *w = &core->warp[warp];

    *out = (struct tim_mech_warp){.used = w->used, .ended = w->ended, .reason = w->reason, .misses = w->missing != 0,
                                  .age = w->age, .code = w->code};
    if (!w->used || w->ended || w->split < 0)
        return;
    out->splits = w->split_count;
    out->pc = w->pc;
    out->lanes = w->split_lanes;
    out->next = tim_head(w);
}

static struct tim_mech_away away(const void *context, unsigned sched, unsigned word, uint64_t set)
{
    const uint32_t others = UINT32_C(1) << TIM_STALL_BARRIER | UINT32_C(1) << TIM_STALL_SLEEP | UINT32_C(1) << TIM_STALL_LAUNCH;
    const struct tim_core *core = context;
    const unsigned schedulers = core->config->issue_schedulers;
    struct tim_mech_away out = {0, 0, 0};

    for (LW_EACH_BIT(b, set)) {
        const struct tim_warp *w = &core->warp[(64 * word + (unsigned)b) * schedulers + sched];
        const uint64_t bit = UINT64_C(1) << b;

        if (!w->used || w->ended)
            out.gone |= bit;
        else if (w->reason == TIM_STALL_FENCE || (w->reason == TIM_STALL_LOAD && w->missing != 0))
            out.memory |= bit;
        else if ((others >> w->reason & 1) != 0)
            out.others |= bit;
    }
    return out;
}

static uint32_t changes(const void *context)
{
    return ((const struct tim_core *)context)->hot.changes;
}

static const struct tim_static *next_of(const void *context, unsigned warp)
{
    return tim_head(&((const struct tim_core *)context)->warp[warp]);
}

static bool inside(const void *context, unsigned warp, uint64_t from, uint64_t to)
{
    const struct tim_core *core = context;
    const struct tim_warp *w = &core->warp[warp];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);

    for (unsigned i = 0; i < count; i++)
        if (views[i].pc >= from && views[i].pc <= to)
            return true;
    return false;
}

static bool reach(const void *context, unsigned warp, struct tim_reach_vector *out)
{
    const struct tim_core *core = context;
    const struct tim_block *block = &core->block[core->warp[warp].block];
    const struct tim_reach_launch *launch = core->mechs.core.slices == NULL ? NULL : tim_reach_of(core->mechs.core.slices, block->grid);

    if (launch != NULL)
        tim_reach_warp(launch, block->linear, core->warp[warp].index, out);
    return launch != NULL;
}

static unsigned block_of(const void *context, unsigned warp)
{
    return ((const struct tim_core *)context)->warp[warp].block;
}

static unsigned views_of(const void *context, unsigned warp, struct emu_split_view *views)
{
    const struct tim_core *core = context;
    const struct tim_warp *w = &core->warp[warp];

    return !w->used || w->ended ? 0 : emu_split_views(core->emu, core->block[w->block].slot, w->index, views, EMU_MAX_LANES);
}

static uint64_t live(const void *context, unsigned warp)
{
    const struct tim_core *core = context;
    const struct tim_warp *w = &core->warp[warp];
    struct emu_warp_view view;

    return w->used && !w->ended && emu_warp_view(core->emu, core->block[w->block].slot, w->index, &view) ? view.live : 0;
}

static bool pending(const void *context, unsigned warp, uint64_t lanes, const struct tim_static *what)
{
    const struct tim_warp *w = &((const struct tim_core *)context)->warp[warp];
    uint64_t writes = 0;

    for (unsigned i = 0; i < what->read_count; i++)
        writes |= w->lanes[what->read[i]];
    for (unsigned i = 0; i < what->write_count; i++)
        writes |= w->lanes[what->write[i]];
    return (writes & lanes) != 0;
}

static unsigned free_mshrs(const void *context)
{
    const struct tim_core *core = context;

    return core->l1 == NULL ? UINT_MAX : core->config->l1_mshrs - tim_cache_mshrs_used(core->l1);
}

static bool can_send(const void *context)
{
    struct tim_core *core = (struct tim_core *)(uintptr_t)context;
    const bool has = core->memory->ops->can_send(core->memory, core->index);

    core->no_capacity |= !has; /* the core must be ticked again when the crossbar has space */
    return has;
}

static void reselect(const void *context, unsigned warp)
{
    struct tim_core *core = (struct tim_core *)(uintptr_t)context;

    if (core->warp[warp].used && !core->warp[warp].ended)
        tim_warp_touch(core, warp, TIM_TOUCH_SPLIT);
}

void tim_core_show_mechanisms(struct tim_core *core, struct tim_core_stats *stats)
{
    core->mechs.core = (struct tim_mech_core){.config = core->config, .count = stats->count, .histogram = stats->histogram,
                                              .look = look, .away = away, .changes = changes, .next = next_of, .inside = inside, .reach = reach, .block_of = block_of, .views = views_of, .live = live,
                                              .pending = pending, .free_mshrs = free_mshrs, .can_send = can_send, .reselect = reselect, .context = core};
}

struct tim_mech *tim_core_holder(const struct tim_core *core, unsigned warp)
{
    return core->mechs.count == 0 ? NULL : tim_mechs_holder(&core->mechs, warp, tim_head(&core->warp[warp]));
}

/** Removes from @ready the warps of scheduler @s that @mech throttles. Returns true if it removed any. */
static bool hold_each(struct tim_core *core, struct tim_mech *mech, unsigned s, uint64_t *ready)
{
    bool held = false;

    for (unsigned i = 0; i < core->hot.words; i++)
        for (LW_EACH_BIT(b, ready[i])) {
            const unsigned warp = tim_mech_slot(core->config, s, i, (unsigned)b);

            if (mech->row->holds(mech, warp, tim_head(&core->warp[warp]))) {
                ready[i] &= ~(UINT64_C(1) << b);
                held = true;
            }
        }
    return held;
}

bool tim_core_hold(struct tim_core *core, unsigned s, uint64_t *ready)
{
    bool held = false;

    if (core->mechs.picks && core->picks_at[s] != core->now + 1) { /* a scheduler may select warps more than once in a cycle, but
                                                                    * calls the mechanisms only once */
        core->moved |= tim_mechs_pick(&core->mechs, s, ready);
        core->picks_at[s] = core->now + 1;
    }
    for (unsigned i = 0; i < core->mechs.count; i++) {
        struct tim_mech *mech = core->mechs.mech[i];

        if (tim_mech_is_idle(&core->mechs, mech))
            continue;
        if (mech->row->holds_of != NULL)
            held |= mech->row->holds_of(mech, s, ready);
        else if (mech->row->holds != NULL)
            held |= hold_each(core, mech, s, ready);
    }
    return held;
}

/* ---- packets to memory ---------------------------------------------------------------------------- */

void tim_send(struct tim_core *core, uint64_t line, const uint64_t mask[4],
              enum tim_packet_kind kind, uint32_t id, unsigned warp, unsigned lanes, uint64_t now)
{
    struct tim_packet packet = {.line = line, .sent = now, .id = id,
                                .core = (uint16_t)core->index, .warp = (uint16_t)warp,
                                .kind = (uint8_t)kind, .lanes = (uint8_t)lanes};

    memcpy(packet.mask, mask, sizeof packet.mask);
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_icnt_queue],
                      core->memory->ops->send(core->memory, &packet, now + core->lag));
    core->stats->count[TIM_CORE_requests]++;
    if (tim_traces(core))
        tim_trace_packet(core->trace, now + core->lag, TIM_TRACE_SENT, core->index, &packet, 0);
}

void tim_send_read(struct tim_core *core, const struct tim_cache *cache, uint64_t line,
                   unsigned sectors, enum tim_client client, uint32_t index, unsigned warp,
                   uint64_t now)
{
    uint64_t mask[4];

    tim_cache_sector_bytes(cache, sectors, mask);
    tim_send(core, line, mask, TIM_PACKET_READ, tim_packet_id(client, index), warp, 0, now);
}

/* Each grid has its own bank 0. The address contains the low 16 bits of the grid's sequence number, so addresses repeat
 * after 65,536 launches; by then the caches have evicted the lines of the earlier grid. */
uint64_t tim_constant_address(const struct emu_grid *grid, uint64_t bank_offset)
{
    uint64_t bank = bank_offset >> 32, offset = bank_offset & 0xffff;

    return (UINT64_C(1) << 42) + (bank << 32) +
           (bank == 0 ? (uint64_t)(grid->sequence & 0xffff) << 16 : 0) + offset;
}
