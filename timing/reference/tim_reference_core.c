/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cycle of the reference (option --timing-reference), in plain loops over all instructions in flight, all warps and all
 * blocks. It implements the rules of docs/reference/timing-core.md and skips nothing. Tests check that the event-driven
 * model gives the same counters (tests/timing/prop_tim.c). Both models share the functions that act on one instruction
 * or one warp (*_body.h).
 */
#include "timing/core/tim_core_priv.h"

#include <assert.h>

static const struct tim_kind tim_kind = {.reference = true};

/* ---- instructions in flight: in age order, core->live --------------------------------------------- */

static uint32_t tim_op_take(struct tim_core *core)
{
    uint32_t i = 0;

    if (!lw_grow(&core->live, &core->live_capacity, core->live_count + 1u, sizeof *core->live))
        return TIM_NONE;
    while (i < core->op_count && core->op[i].stage != TIM_STAGE_FREE)
        i++;
    if (i == core->op_count && core->op_count == core->op_capacity && !tim_ops_grow(core))
        return TIM_NONE;
    core->op_count += i == core->op_count;
    core->live[core->live_count] = i;
    tim_op_init(core, i);
    return i;
}

static void tim_op_free(struct tim_core *core, uint32_t index)
{
    unsigned n = 0;

    tim_stage(&core->op[index], TIM_STAGE_FREE);
    core->live_count--;
    while (core->live[n] != index)
        n++;
    memmove(&core->live[n], &core->live[n + 1], (core->live_count - n) * sizeof *core->live);
}

static void tim_op_await(const struct tim_core *core, struct tim_op *op, uint64_t at)
{
    (void)core;
    op->at = at;
}

static void tim_op_collect(const struct tim_core *core, uint32_t index)
{
    (void)core, (void)index;
}

/** Returns whether an older memory instruction of the same warp has not read all its operands. */
static bool older_collects(const struct tim_core *core, const struct tim_op *op)
{
    for (unsigned n = 0; core->op[core->live[n]].age < op->age; n++) {
        const struct tim_op *other = &core->op[core->live[n]];
        if (other->warp == op->warp && other->stage == TIM_STAGE_COLLECT &&
            other->what->path == TIM_PATH_MEMORY)
            return true;
    }
    return false;
}

static unsigned collectors_used(const struct tim_core *core, unsigned s, uint64_t now)
{
    unsigned count = 0;

    for (unsigned n = 0; n < core->live_count; n++) {
        const struct tim_op *op = &core->op[core->live[n]];
        if (op->sched != s)
            continue;
        count += op->stage == TIM_STAGE_COLLECT || op->stage == TIM_STAGE_READY;
        count += op->collecting_until > now &&
                 (op->stage == TIM_STAGE_PIPE || op->stage == TIM_STAGE_LSU);
    }
    return count;
}

#include "timing/core/tim_depend_body.h"
#include "timing/core/tim_window_body.h"
#include "timing/core/tim_local_body.h"
#include "timing/core/tim_tags_body.h"
#include "timing/core/tim_pipe_body.h"
#include "timing/core/tim_fetch_body.h"
#include "timing/core/tim_lsu_body.h"
#include "timing/core/lsu/tim_reexecute_body.h"
#include "timing/core/tim_ready_body.h"

static enum tim_stall tim_ready_warps(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    return check_all(core, s, ready, true, now);
}
static enum tim_stall tim_ready_but_held(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    return check_all(core, s, ready, false, now);
}

#include "timing/core/tim_issue_body.h"
#include "timing/core/tim_form_body.h"
#include "timing/core/pair/tim_pair_body.h"
#include "timing/core/tim_common_body.h"

/* ---- the phases ---------------------------------------------------------------------------------------- */

static void write_back(struct tim_core *core, uint64_t now)
{
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_PIPE && op->at <= now)
            tim_stage(op, TIM_STAGE_WRITE);
    }
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_WRITE && op->at <= now && write_rows(core, op, now)) {
            finish(core, core->live[n], now);
            n--; /* finish() has removed element n, so the next instruction to visit is now at index n */
        }
    }
}

static void dispatch(struct tim_core *core, uint64_t now)
{
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (!reserved(core) && op->stage == TIM_STAGE_READY)
            (void)enter_ticked(core, op, now);
        else if (reserved(core) && op->stage == TIM_STAGE_COLLECT && op->at <= now)
            enter_reserved(core, op, now);
    }
}

static void collect(struct tim_core *core, uint64_t now)
{
    for (unsigned n = 0; !reserved(core) && n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_COLLECT)
            (void)read_rows(core, op, now);
    }
}

static void end_blocks(struct tim_core *core)
{
    for (unsigned b = 0; b < core->config->core_blocks; b++) {
        const struct tim_block *block = &core->block[b];
        bool over = block->used && block->ended == block->warps;
        for (unsigned k = 0; over && k < block->warps; k++)
            over = is_idle(core, block, k);
        if (over)
            end_block(core, b);
    }
}

static unsigned reference_begin(struct tim_core *core, uint64_t now)
{
    begin_tick(core, now);
    for (unsigned w = 0; w < core->config->core_warps; w++)
        if (core->warp[w].used) {
            core->stats->count[TIM_CORE_register_rows] += core->warp[w].rows;
            core->stats->count[TIM_CORE_register_rows_saved] += core->warp[w].rows_saved;
        }
    tim_lsu_receive(core, now);
    if (tim_has_levels(core))
        tim_levels_tick(core, now);
    if (tim_has_local(core))
        tim_local_reads(core, now);
    write_back(core, now);
    dispatch(core, now);
    if (tim_has_local(core))
        tim_local_tick(core, now);
    if (tim_divides(core))
        tim_early_results(core, now);
    if (tim_orders(core) && core->queued > 1)
        tim_lsu_order(core, now);
    tim_lsu_tick(core, now);
    if (tim_separate(core))
        tim_sides_tick(core, now);
    collect(core, now);
    if (core->mechs.registers)
        tim_mechs_count(&core->mechs);
    for (unsigned w = 0; w < core->config->core_warps; w++)
        if (core->warp[w].used && (core->warp[w].reselect || sleep_is_over(&core->warp[w], now)))
            tim_warp_ready_check(core, w, now);
    if (core->mechs.cycle)
        update_mechanisms(core, now);
    return 0;
}

static void reference_end(struct tim_core *core, uint64_t now)
{
    for (unsigned w = 0; w < core->config->core_warps; w++)
        if (core->warp[w].used && core->warp[w].reselect)
            tim_warp_ready_check(core, w, now);
    tim_fetch_tick(core, now);
    tim_fetch_ahead(core, now);
    if (tim_has_levels(core)) {
        core->moved |= tim_front_grant(core->front, true, now);
        core->front->taken = 0;
    }
    for (unsigned s = 0; tim_fetches_greedily(core) && s < core->config->issue_schedulers; s++)
        core->fetch_follows[s] = core->sched[s].last;
    if (core->launch_waits || core->moving != 0)
        tim_suspend_tick(core, now);
    count_warps(core, now);
    end_blocks(core);
    end_tick(core, now);
}

const struct tim_cycle tim_cycle_reference = {reference_begin, tim_core_issue, reference_end};
