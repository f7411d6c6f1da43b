/* SPDX-License-Identifier: Apache-2.0 */
/* A core: blocks and warps that live on it, and the phases of its cycle. */
#include "timing/core/tim_core_priv.h"

#include <stdlib.h>

/* ---- creation --------------------------------------------------------------------------------- */

static uint64_t answer_clock(void *context, unsigned slot, unsigned warp)
{
    const struct tim_core *core = context;

    (void)slot, (void)warp;
    return core->now;
}
static uint64_t answer_timer(void *context)
{
    const struct tim_core *core = context;

    return core->now * 1000 / core->config->clocks_core;
}
static struct tim_block *block_of_slot(const struct tim_core *core, unsigned slot)
{
    for (unsigned b = 0; b < core->config->core_blocks; b++)
        if (core->block[b].used && core->block[b].slot == slot)
            return &core->block[b];
    return NULL;
}
static void answer_place(void *context, unsigned slot, unsigned warp, struct emu_place_ids *ids)
{
    const struct tim_core *core = context;
    const struct tim_block *block = block_of_slot(core, slot);

    ids->smid = core->index;
    ids->nsmid = core->config->core_count;
    if (block != NULL)
        ids->warpid = block->warp_slot[warp];
    ids->nwarpid = core->config->core_warps;
}
/* The model holds the warp for the time itself; to emu a sleep is as short as can be. */
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
                                   c->fetch_cache_ways, c->fetch_cache_mshrs, c->core_warps};
    struct tim_cache_shape l1 = {c->l1_bytes, c->l1_line, c->l1_sector, c->l1_ways, c->l1_mshrs,
                                 c->l1_merges};
    struct tim_cache_shape constant = {c->constant_bytes, c->constant_line, c->constant_line,
                                       c->constant_ways, c->constant_mshrs, 256};
    struct tim_cache_shape texture = {c->texture_bytes, c->texture_line, c->texture_line,
                                      c->texture_ways, c->texture_mshrs, 64};
    unsigned most = c->core_warps > 256 ? c->core_warps : 256;

    if (c->l1_merges > most)
        most = c->l1_merges;
    core->icache = tim_cache_create(&code);
    core->constant = tim_cache_create(&constant);
    core->texture = tim_cache_create(&texture);
    core->l1 = c->l1_bytes != 0 ? tim_cache_create(&l1) : NULL;
    core->waiters = calloc(most, sizeof *core->waiters);
    return core->icache != NULL && core->constant != NULL && core->texture != NULL &&
           core->waiters != NULL && (core->l1 != NULL || c->l1_bytes == 0);
}

struct tim_core *tim_core_create(const struct tim_config *config, struct emu_machine *machine,
                                 struct tim_memory *memory, struct tim_core_stats *stats,
                                 unsigned index)
{
    static const struct emu_core_ops answers = {answer_clock, answer_timer, answer_place,
                                                answer_sleep, NULL};
    struct tim_core *core = aligned_alloc(64, sizeof *core);
    unsigned banks = config->issue_schedulers * config->registers_banks, pipes = 0;
    struct lw_error err;
    bool fine;

    if (core == NULL)
        return NULL;
    memset(core, 0, sizeof *core);
    core->config = config;
    core->memory = memory;
    core->machine = machine;
    core->stats = stats;
    core->index = index;
    core->ripe = &core->ripe_own;
    core->warp = aligned_alloc(64, config->core_warps * sizeof *core->warp);
    if (core->warp != NULL)
        memset(core->warp, 0, config->core_warps * sizeof *core->warp);
    core->block = calloc(config->core_blocks, sizeof *core->block);
    core->bank_at = calloc(banks, sizeof *core->bank_at);
    core->bank_free = calloc(banks, sizeof *core->bank_free);
    if ((config->registers_banks & (config->registers_banks - 1)) == 0)
        core->bank_mask = config->registers_banks - 1;
    core->queue = calloc(config->lsu_queue, sizeof *core->queue);
    core->replay = calloc(config->lsu_queue, sizeof *core->replay);
    fine = core->replay != NULL && core->warp != NULL && core->block != NULL && core->bank_at != NULL &&
           core->bank_free != NULL && core->queue != NULL && make_caches(core);
    core->lanes = calloc((size_t)config->core_warps * ISA_REG_NUMBERS, sizeof *core->lanes);
    fine = fine && core->lanes != NULL;
    for (unsigned w = 0; fine && w < config->core_warps; w++)
        core->warp[w].lanes = core->lanes + (size_t)w * ISA_REG_NUMBERS;
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
                core->only_pipe[u][s] = &core->pipe[u][s % config->unit[u].pipes];
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        core->interval[u] =
            (config->core_warp_width + config->unit[u].lanes - 1) / config->unit[u].lanes;
    core->hot.ages_stale = true;
    core->hot.warp_words = (config->core_warps + 63) / 64;
    core->hot.words = (config->core_warps + 64 * config->issue_schedulers - 1) /
                      (64 * config->issue_schedulers);
    for (unsigned s = 0; s < config->issue_schedulers; s++) {
        struct tim_hot *hot = &core->hot;
        hot->first[s] = s * hot->words * 64;
        for (unsigned w = s; w < config->core_warps; w += config->issue_schedulers) {
            unsigned at = hot->first[s] + hot->count[s]++;
            hot->warp[at] = (uint16_t)w;
            if (fine) {
                core->warp[w].place = (uint16_t)at;
                tim_touch(core, w);
            }
        }
        hot->waiting[s][0] = (uint16_t)hot->count[s];
        hot->known[hot->first[s] / 64].present = hot->count[s] != 0;
        hot->known[hot->first[s] / 64].again_min = UINT64_MAX;
    }
    core->flight.free = TIM_NONE;
    for (unsigned s = 0; s < TIM_MAX_SCHEDS; s++)
        core->sched[s] = (struct tim_sched){-1, -1, -1};
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
    free(core->block);
    free(core->suspended);
    free(core->bank_at);
    free(core->bank_free);
    free(core->queue);
    free(core->replay);
    free(core->waiters);
    tim_cache_destroy(core->icache);
    tim_cache_destroy(core->l1);
    tim_cache_destroy(core->constant);
    tim_cache_destroy(core->texture);
    free(core);
}

/* ---- instructions in flight ---------------------------------------------------------------------- */

/** Room for @need instructions in all lists of the shipped model. */
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

uint32_t tim_op_take(struct tim_core *core)
{
    size_t room = core->op_room;
    uint32_t i = 0;

    if (core->skips) {
        i = core->flight.free != TIM_NONE ? core->flight.free : core->op_count;
    } else {
        if (!lw_grow(&core->live, &core->live_room, core->live_count + 1u, sizeof *core->live))
            return TIM_NONE;
        while (i < core->op_count && core->op[i].stage != TIM_STAGE_FREE)
            i++;
    }
    if (i == core->op_count) {
        if (!lw_grow(&core->op, &room, core->op_count + 1u, sizeof *core->op))
            return TIM_NONE;
        memset(core->op + core->op_room, 0, (room - core->op_room) * sizeof *core->op);
        core->op_room = room;
        if (core->skips && !grow_lists(core, room))
            return TIM_NONE;
        core->op_count++;
    } else if (core->skips) {
        core->flight.free = core->op[i].next;
    }
    struct tim_op *op = &core->op[i];
    op->stage = TIM_STAGE_FREE;
    op->kind = 0;
    op->cached = false;
    op->operands = op->writes = 0;
    op->age = ++core->op_age;
    op->at = op->collecting_until = op->data_at = 0;
    op->passes = op->line_count = op->line_next = op->lines_pending = 0;
    if (!core->skips)
        core->live[core->live_count] = i;
    core->live_count++;
    return i;
}

void tim_op_free(struct tim_core *core, uint32_t index)
{
    unsigned n = 0;

    tim_stage(core, &core->op[index], TIM_STAGE_FREE);
    core->live_count--;
    if (core->skips) {
        core->op[index].next = core->flight.free;
        core->flight.free = index;
        return;
    }
    while (core->live[n] != index)
        n++;
    memmove(&core->live[n], &core->live[n + 1], (core->live_count - n) * sizeof *core->live);
}

const struct tim_op *tim_op_behind(const struct tim_core *core, uint64_t age)
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
    unsigned warps, threads, registers, shared_bytes;
};

static struct need need_of(const struct tim_config *c, const struct emu_grid *grid)
{
    const struct isa_function *kernel = grid->launch.kernel;
    unsigned a_warp = kernel->vreg_count * c->core_warp_width;

    a_warp = (a_warp + c->core_register_unit - 1) / c->core_register_unit * c->core_register_unit;
    return (struct need){
        .warps = grid->block_warps,
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
        {need.warps, config->core_warps, "warps", "core.warps"},
        {need.threads, config->core_threads, "threads", "core.threads"},
        {need.registers, config->core_registers, "registers", "core.registers"},
        {need.shared_bytes, config->core_shared_bytes, "bytes of shared memory",
         "core.shared_bytes"},
    };

    for (unsigned i = 0; i < LW_COUNT_OF(limits); i++)
        if (limits[i].need > limits[i].have)
            return LW_FAIL(err, LW_EINPUT,
                           "a block of %s needs %u %s, and a core of machine %s has %u: make the "
                           "block smaller or %s larger",
                           grid->launch.kernel->name, limits[i].need, limits[i].what, config->name,
                           limits[i].have, limits[i].key);
    return LW_OK;
}

bool tim_core_has_room(const struct tim_core *core, const struct emu_grid *grid)
{
    const struct tim_config *c = core->config;
    struct need need = need_of(c, grid);

    if (!c->kernels_mixed)
        for (unsigned b = 0; b < c->core_blocks; b++)
            if (core->block[b].used && core->block[b].grid != grid)
                return false;
    return core->blocks < c->core_blocks && core->warps + need.warps <= c->core_warps &&
           core->threads + need.threads <= c->core_threads &&
           core->registers + need.registers <= c->core_registers &&
           core->shared_bytes + need.shared_bytes <= c->core_shared_bytes;
}

bool tim_core_fits(const struct tim_core *core, const struct emu_grid *grid)
{
    return tim_core_has_room(core, grid) && !tim_core_level_full(core, grid);
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
    tim_trace_block(core->trace, core->now, core->index, b, grid->sequence, linear, true);
    if (emu_block_view(core->emu, slot, &view))
        block->local_bytes = view.local_bytes;
    tim_core_poke(core);
    core->blocks++;
    core->warps += need.warps;
    core->threads += need.threads;
    core->registers += need.registers;
    core->shared_bytes += need.shared_bytes;
    for (unsigned k = 0, w = 0; k < need.warps; k++, w++) {
        while (core->warp[w].used)
            w++;
        uint64_t *lanes = core->warp[w].lanes; /* all zero: nothing of the last one is to come */
        bool fetching = core->warp[w].fetching; /* a line that the last one asked for */
        uint16_t place = core->warp[w].place;
        uint8_t cause = core->warp[w].cause;
        struct emu_warp_view warp;
        core->warp[w] = (struct tim_warp){.used = true, .block = b, .index = k,
                                          .age = ++core->assigned, .code = code, .split = -1,
                                          .waits = moves_in ? TIM_CAUSE_LAUNCH : TIM_CAUSE_FETCH,
                                          .lanes = lanes, .fetching = fetching, .place = place,
                                          .cause = cause,
                                          .state = emu_warp_state(core->emu, slot, k)};
        core->warp[w].ended =
            moves_in && emu_warp_view(core->emu, slot, k, &warp) && warp.live == 0;
        block->ended += core->warp[w].ended;
        block->warp_slot[k] = (uint16_t)w;
        core->hot.age[place] = core->assigned;
        tim_set_alive(core, w, !core->warp[w].ended);
        if (!moves_in)
            tim_want_look(core, w);
        tim_want_fetch(core, w);
        tim_touch(core, w);
    }
}

enum lw_status tim_core_place(struct tim_core *core, struct emu_grid *grid, uint64_t linear,
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
        tim_set_alive(core, block->warp_slot[k], false);
        tim_touch(core, block->warp_slot[k]);
    }
    core->blocks--;
    core->warps -= block->warps;
    core->threads -= block->threads;
    core->registers -= block->registers;
    core->shared_bytes -= block->shared_bytes;
    block->used = false;
    tim_trace_block(core->trace, core->now, core->index, b, block->grid->sequence, block->linear,
                    false);
}

/** Has the warp nothing under way? Once it has ended that stays so. */
static bool is_idle(const struct tim_core *core, const struct tim_block *block, unsigned k)
{
    const struct tim_warp *w = &core->warp[block->warp_slot[k]];

    return w->in_flight == 0 && w->writes_out == 0;
}

static void end_block(struct tim_core *core, unsigned b)
{
    struct tim_block *block = &core->block[b];

    core->hot.over &= ~(UINT64_C(1) << b);
    core->stats->count[TIM_CORE_blocks]++;
    tim_core_unseat(core, b);
    core->ended(core->context, block->grid);
    emu_core_block_free(core->emu, block->slot);
}

/** Blocks whose warps have ended and have nothing under way give their room back. */
static void end_blocks(struct tim_core *core)
{
    if (core->skips) {
        for (LW_EACH_BIT(b, core->hot.over)) {
            struct tim_block *block = &core->block[b];
            while (block->idle < block->warps && is_idle(core, block, block->idle))
                block->idle++;
            if (block->idle == block->warps)
                end_block(core, (unsigned)b);
        }
        return;
    }
    for (unsigned b = 0; b < core->config->core_blocks; b++) {
        const struct tim_block *block = &core->block[b];
        bool over = block->used && block->ended == block->warps;
        for (unsigned k = 0; over && k < block->warps; k++)
            over = is_idle(core, block, k);
        if (over)
            end_block(core, b);
    }
}

/* ---- which split runs -------------------------------------------------------------------------------------- */

static enum tim_cause why_not(const struct emu_split_view *views, unsigned count)
{
    enum tim_cause cause = TIM_CAUSE_BARRIER;

    for (unsigned i = 0; i < count; i++)
        if (views[i].state == EMU_SPLIT_SLEEPING)
            return TIM_CAUSE_SLEEP;
        else if (views[i].state == EMU_SPLIT_LAUNCH)
            cause = TIM_CAUSE_LAUNCH;
    return cause;
}

void tim_warp_look(struct tim_core *core, unsigned warp, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    uint64_t from = w->look_from > now + 1 ? w->look_from : now + 1;
    const struct tim_block *block = &core->block[w->block];
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count;
    int split, was = w->split;

    w->look = false;
    core->moved = true;
    tim_set(&core->hot.may_look, warp, false);
    tim_set(&core->hot.sleeps, warp, false);
    tim_touch(core, warp);
    if (w->ended)
        return;
    split = emu_warp_select(core->emu, block->slot, w->index);
    count = emu_split_views(core->emu, block->slot, w->index, views, EMU_MAX_LANES);
    w->split = -1;
    w->split_count = count;
    for (unsigned i = 0; i < count; i++)
        if ((int)views[i].id == split && views[i].state == EMU_SPLIT_READY) {
            w->split = split;
            w->split_lanes = views[i].lanes;
            if (views[i].pc != w->pc) {
                w->pc = views[i].pc;
                tim_fetch_flush(core, warp, from);
            }
        }
    if (w->split < 0) {
        w->waits = (uint8_t)why_not(views, count);
        core->launch_waits |= w->waits == TIM_CAUSE_LAUNCH;
        tim_set(&core->hot.sleeps, warp, w->waits == TIM_CAUSE_SLEEP);
    } else if (was < 0) {
        tim_want_fetch(core, warp);
        tim_set(&core->hot.may_ask, warp, true);
    }
    tim_set_at_barrier(core, warp, w->split < 0 && w->waits == TIM_CAUSE_BARRIER);
}

static bool sleep_is_over(const struct tim_warp *w, uint64_t now)
{
    return w->split < 0 && w->waits == TIM_CAUSE_SLEEP && w->sleep_until <= now;
}

/* Warps whose split may be another, and those whose sleep may be @over. */
static void look_at_some(struct tim_core *core, bool over, uint64_t now)
{
    for (unsigned i = 0; i < core->hot.warp_words; i++) {
        uint64_t some = core->hot.may_look.word[i] | (over ? core->hot.sleeps.word[i] : 0);

        for (LW_EACH_BIT(b, some)) {
            unsigned w = i * 64 + (unsigned)b;
            const struct tim_warp *warp = &core->warp[w];
            if (warp->used && (warp->look || (over && sleep_is_over(warp, now))))
                tim_warp_look(core, w, now);
            else if (!warp->used)
                tim_set(&core->hot.may_look, w, false);
        }
    }
}

/* ---- the phases ------------------------------------------------------------------------------------------------ */

/* By enum tim_idle_count. Whatever else a tick counts, it has done something. */
static const uint8_t idle_counts[TIM_IDLE_COUNTS] = {
    TIM_CORE_icnt_blocked, TIM_CORE_l1_blocked, TIM_CORE_active_cycles, TIM_CORE_warp_cycles,
    TIM_CORE_barrier_waits};

void tim_core_before_issue(struct tim_core *core, uint64_t now)
{
    core->now = now;
    memset(core->each, 0, sizeof core->each);
    core->ticking = true;
    core->moved = core->poked;
    core->poked = core->no_room = false;
    if (core->skips) {
        const struct tim_flight *f = &core->flight;

        if (core->has_packet || core->crowded >= now ||
            (core->wakes != 0 && core->wake_at[0] <= now)) /* it told */
            tim_lsu_receive(core, now);
        if (f->writing != 0 || f->ring_map >> now % TIM_RING & 1)
            tim_pipe_writeback(core, now);
        if (f->entering + f->ready != 0)
            tim_pipe_dispatch(core, now);
        if (core->replays != 0 || (core->queued != 0 && core->head_at <= now && !core->l1_stuck))
            tim_lsu_tick(core, now);
        else if (core->queued != 0 && core->head_at <= now) /* as its head's access finds */
            core->each[TIM_IDLE_L1]++;
        if (f->collecting != 0)
            tim_pipe_collect(core, now);
        if (tim_any(&core->hot.may_look, core->hot.warp_words) ||
            tim_any(&core->hot.sleeps, core->hot.warp_words))
            look_at_some(core, true, now);
        return;
    }
    tim_lsu_receive(core, now);
    tim_pipe_writeback(core, now);
    tim_pipe_dispatch(core, now);
    tim_lsu_tick(core, now);
    tim_pipe_collect(core, now);
    for (unsigned w = 0; w < core->config->core_warps; w++)
        if (core->warp[w].used && (core->warp[w].look || sleep_is_over(&core->warp[w], now)))
            tim_warp_look(core, w, now);
}

/** The reference, and while a trace is taken: a look at all warps. */
static __attribute__((noinline)) void count_warps(struct tim_core *core, uint64_t now)
{
    bool tracing = core->trace != NULL && tim_trace_wants(core->trace, now);

    for (unsigned w = 0; w < core->config->core_warps; w++) {
        const struct tim_warp *warp = &core->warp[w];
        if (tracing && warp->cause != TIM_CAUSE_ISSUED) {
            const struct tim_code *code = warp->used ? warp->code : NULL;
            const struct isa_insn *insn =
                code == NULL || warp->split < 0 ? NULL : emu_program_insn(code->program, warp->pc);
            tim_trace_warp(core->trace, now, core->index, w, (enum tim_cause)warp->cause, insn,
                           warp->pc, warp->split_lanes);
        }
        if (!warp->used)
            continue;
        core->each[TIM_IDLE_WARPS] += !warp->ended;
        core->each[TIM_IDLE_BARRIER] +=
            !warp->ended && warp->split < 0 && warp->waits == TIM_CAUSE_BARRIER;
    }
}

void tim_core_after_issue(struct tim_core *core, uint64_t now)
{
    const struct tim_hot *hot = &core->hot;

    if (core->skips) {
        if (tim_any(&hot->may_look, hot->warp_words))
            look_at_some(core, false, now);
    } else {
        for (unsigned w = 0; w < core->config->core_warps; w++)
            if (core->warp[w].used && core->warp[w].look)
                tim_warp_look(core, w, now);
    }
    if (!core->quick || tim_any(&hot->may_fetch, hot->warp_words) ||
        tim_any(&hot->may_ask, hot->warp_words))
        tim_fetch_tick(core, now);
    if (core->launch_waits || core->moving != 0)
        tim_suspend_tick(core, now);
    core->each[TIM_IDLE_ACTIVE] = core->blocks != 0;
    if (core->skips && core->trace == NULL) {
        core->each[TIM_IDLE_WARPS] = hot->alive_count;
        core->each[TIM_IDLE_BARRIER] = hot->at_barrier_count;
        if (hot->over != 0)
            end_blocks(core);
        return;
    }
    count_warps(core, now);
    end_blocks(core);
}

bool tim_core_is_busy(const struct tim_core *core, uint64_t now)
{
    if (core->live_count != 0 || core->moving != 0)
        return true;
    for (unsigned i = 0; i < core->config->core_warps; i++) {
        const struct tim_warp *w = &core->warp[i];
        if (!w->used)
            continue;
        if (w->ended) { /* until its block goes it only waits for the others */
            const struct tim_block *block = &core->block[w->block];

            if (block->ended == block->warps || w->writes_out != 0)
                return true;
            continue;
        }
        if (w->look || w->split >= 0 || w->writes_out != 0 || w->fetching ||
            w->sleep_until > now || w->not_before > now)
            return true;
    }
    return false;
}

/* ---- cycles without a tick ------------------------------------------------------------------------------------ */

static void sooner(uint64_t *due, uint64_t at, uint64_t now)
{
    if (at > now && at < *due)
        *due = at;
}

/** The first cycle behind @now by which a time that some phase compares with has come. */
static uint64_t next_time(const struct tim_core *core, uint64_t now)
{
    const struct tim_config *c = core->config;
    uint64_t due = tim_pipe_next(core, now);

    if (core->quick) {
        uint64_t next = tim_select_next(core, now);

        due = next < due ? next : due;
        next = tim_fetch_next(core, now);
        due = next < due ? next : due;
        for (unsigned i = 0; i < core->hot.warp_words; i++)
            for (LW_EACH_BIT(b, core->hot.sleeps.word[i]))
                sooner(&due, core->warp[i * 64 + b].sleep_until, now);
        return due;
    }
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        for (unsigned p = 0; p < c->unit[u].pipes; p++) {
            uint64_t free_at = core->pipe[u][p].free_at;
            sooner(&due, free_at, now);
            if (free_at != 0) /* who needs it in the next cycle */
                sooner(&due, free_at - 1, now);
        }
    for (unsigned i = 0; i < c->core_warps; i++) {
        const struct tim_warp *w = &core->warp[i];
        if (!w->used)
            continue;
        sooner(&due, w->fetch_from, now);
        sooner(&due, w->sleep_until, now);
        sooner(&due, w->not_before, now);
        for (unsigned k = 0; k < w->buffered; k++) {
            sooner(&due, w->buffer[k].arrives, now);
            if (w->buffer[k].arrives != 0) /* constants are asked for a cycle earlier */
                sooner(&due, w->buffer[k].arrives - 1, now);
        }
    }
    return due;
}

/** The tick of cycle @now changed nothing but counters: until when would the next ones? */
static __attribute__((noinline)) void go_to_rest(struct tim_core *core, uint64_t now)
{
    core->due = next_time(core, now);
    if (core->due == now + 1)
        return;
    core->resting = true;
    *core->ripe = core->wakes != 0 && core->wake_at[0] < core->due ? core->wake_at[0] : core->due;
}

void tim_core_settle_down(struct tim_core *core, uint64_t now)
{
    core->counted = now;
    core->ticking = false;
    for (unsigned i = 0; i < TIM_IDLE_ROOM; i++)
        core->sums[i] += core->each[i];
    if (!core->moved && core->skips && core->crowded <= now && core->trace == NULL)
        go_to_rest(core, now);
}

/** The cycles that it rests, up to the end of cycle @through: as the last tick, again and again. */
static void account_rest(struct tim_core *core, uint64_t through)
{
    uint64_t cycles = through - core->counted;

    if (!core->resting || through <= core->counted)
        return;
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++)
        core->sums[i] += core->each[i] * cycles;
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        core->hot.idle[s] += cycles;
    core->counted = through;
}

void tim_core_account(struct tim_core *core, uint64_t through)
{
    account_rest(core, through);
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++) { /* of a tick that is not over: what it has */
        uint64_t more = core->ticking ? core->each[i] : 0;

        core->stats->count[idle_counts[i]] += core->sums[i] + more;
        core->sums[i] = 0 - more;
    }
    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        tim_flush_idle(core, s);
}

void tim_core_wake(struct tim_core *core, uint64_t cycle)
{
    unsigned i = core->wakes;

    while (i > 0 && core->wake_at[i - 1] > cycle)
        i--;
    if (i > 0 && core->wake_at[i - 1] == cycle)
        return;
    if (core->wakes == TIM_WAKES) { /* then there is no rest: a tick too many does no harm */
        tim_core_poke(core);
        if (cycle > core->crowded)
            core->crowded = cycle;
        return;
    }
    for (unsigned k = core->wakes; k > i; k--) /* few */
        core->wake_at[k] = core->wake_at[k - 1];
    core->wake_at[i] = cycle;
    core->wakes++;
    if (cycle < *core->ripe)
        *core->ripe = cycle;
}

void tim_core_woken(struct tim_core *core, uint64_t now)
{
    unsigned past = 0;

    while (past < core->wakes && core->wake_at[past] <= now)
        past++;
    core->wakes -= past;
    for (unsigned i = 0; past != 0 && i < core->wakes; i++) /* few */
        core->wake_at[i] = core->wake_at[i + past];
}

bool tim_core_rests(struct tim_core *core, uint64_t now)
{
    if (!core->resting)
        return false;
    if (core->wakes != 0 && core->wake_at[0] <= now) {
        tim_core_woken(core, now);
        core->has_packet = core->has_packet || core->memory->ops->receive(core->memory, core->index,
                                                                         now, &core->packet);
        core->poked = core->poked || core->no_room;
    }
    if (now < core->due && !core->poked && !core->has_packet) {
        *core->ripe =
            core->wakes != 0 && core->wake_at[0] < core->due ? core->wake_at[0] : core->due;
        return true;
    }
    account_rest(core, now - 1);
    core->resting = false;
    *core->ripe = 0;
    return false;
}
