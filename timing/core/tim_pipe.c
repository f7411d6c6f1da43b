/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operand collectors, pipes and write-back.
 *
 * Ticked: an instruction issued in cycle t has a collector and may read from t+1 on. In a cycle a
 * bank does one read or write; writes first, older instructions first; then collectors in the age
 * order of their instructions, each up to registers.ports operands. Complete in cycle c, it may
 * enter its pipe from c+1 on, the oldest first; the collector is free in the cycle in which it
 * enters. In a pipe for its latency, its rows are written from the last of these cycles on.
 * Source: specs of the book 9.2, 9.4.
 *
 * Reserved: banks have a write port of their own, an operand takes the first cycle in which its
 * bank is free when it is issued.
 */
#include "timing/core/tim_core_priv.h"

static bool reserved(const struct tim_core *core)
{
    return core->config->registers_collector == TIM_COLLECTOR_RESERVED;
}

static unsigned bank_of(const struct tim_core *core, const struct tim_op *op, unsigned row)
{
    const struct tim_config *c = core->config;
    unsigned shift = c->registers_swizzle ? op->warp / c->issue_schedulers : 0;

    return op->sched * c->registers_banks + (row + shift) % c->registers_banks;
}

/** The bank's port in this cycle. False: somebody has it. */
static bool claim(struct tim_core *core, unsigned bank, uint64_t now)
{
    if (core->bank_at[bank] == now + 1)
        return false;
    core->bank_at[bank] = now + 1;
    core->moved = true;
    return true;
}

/** Pipes of @unit that scheduler @s may use: from @first, every @step-th. */
static void pipes_of(const struct tim_config *c, unsigned unit, unsigned s, unsigned *first,
                     unsigned *step)
{
    unsigned pipes = c->unit[unit].pipes, schedulers = c->issue_schedulers;

    *first = s % pipes;
    *step = pipes <= schedulers ? pipes : schedulers;
}

/** The pipe that is free first, of equals the lowest. */
static struct tim_pipe *best_pipe(struct tim_core *core, unsigned unit, unsigned s)
{
    unsigned first, step;
    struct tim_pipe *best = NULL;

    pipes_of(core->config, unit, s, &first, &step);
    for (unsigned p = first; p < core->config->unit[unit].pipes; p += step)
        if (best == NULL || core->pipe[unit][p].free_at < best->free_at)
            best = &core->pipe[unit][p];
    return best;
}

/** Cycles for which an instruction holds its pipe. */
static unsigned interval(const struct tim_core *core, const struct tim_static *what)
{
    unsigned lanes = core->config->unit[what->unit].lanes;

    return what->scalar ? 1 : (core->config->core_warp_width + lanes - 1) / lanes;
}

static void enter(struct tim_core *core, struct tim_op *op, struct tim_pipe *pipe, uint64_t at)
{
    core->moved = true;
    pipe->free_at = at + interval(core, op->what);
    if (op->what->path == TIM_PATH_MEMORY) {
        tim_stage(core, op, TIM_STAGE_LSU);
        op->at = at + core->config->lsu_latency;
        core->queue[core->queued++] = (uint32_t)(op - core->op);
    } else {
        tim_stage(core, op, TIM_STAGE_PIPE);
        op->at = at + core->config->unit[op->what->unit].latency;
    }
}

/* ---- issue -------------------------------------------------------------------------------------- */

/** Collectors of scheduler @s in use. */
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

enum tim_cause tim_pipe_room(const struct tim_core *core, unsigned sched,
                             const struct tim_static *what, uint64_t now)
{
    if (what->path == TIM_PATH_NONE)
        return TIM_CAUSE_ISSUED;
    if (what->path == TIM_PATH_DIRECT)
        return best_pipe((struct tim_core *)core, what->pipes, sched)->free_at <= now + 1
                   ? TIM_CAUSE_ISSUED
                   : TIM_CAUSE_UNIT;
    if (what->path == TIM_PATH_MEMORY && core->lsu_used == core->config->lsu_queue)
        return TIM_CAUSE_LSU;
    return collectors_used(core, sched, now) < core->config->registers_collectors
               ? TIM_CAUSE_ISSUED
               : TIM_CAUSE_COLLECTOR;
}

void tim_pipe_issue(struct tim_core *core, uint32_t index, uint64_t now)
{
    struct tim_op *op = &core->op[index];
    const struct tim_static *what = op->what;

    op->writes = (uint32_t)lw_mask(what->row_writes);
    core->lsu_used += what->path == TIM_PATH_MEMORY;
    if (what->path == TIM_PATH_DIRECT) {
        enter(core, op, best_pipe(core, what->pipes, op->sched), now + 1);
        return;
    }
    tim_stage(core, op, TIM_STAGE_COLLECT);
    if (!reserved(core))
        return;
    uint64_t complete = now + 1;
    for (unsigned i = 0; i < what->row_reads; i++) {
        uint64_t *free_at = &core->bank_free[bank_of(core, op, what->row_read[i])];
        uint64_t at = *free_at > now + 1 ? *free_at : now + 1;
        *free_at = at + 1;
        if (at > complete)
            complete = at;
        core->stats->count[TIM_CORE_bank_conflicts] += at - (now + 1);
        core->stats->count[TIM_CORE_register_reads]++;
    }
    struct tim_pipe *pipe = best_pipe(core, what->pipes, op->sched);
    uint64_t at = pipe->free_at > complete + 1 ? pipe->free_at : complete + 1;
    op->at = at; /* dispatch lets it in then */
    op->collecting_until = at;
    pipe->free_at = at + interval(core, what);
    core->stats->count[TIM_CORE_collect_cycles] += at - (now + 1);
}

/* ---- the phases -------------------------------------------------------------------------------------- */

static void finish(struct tim_core *core, uint32_t index, uint64_t now)
{
    const struct tim_op *op = &core->op[index];

    if (op->what->load) {
        tim_histogram_add(&core->stats->load_latency, now - op->issued);
        core->stats->count[TIM_CORE_load_latency] += now - op->issued;
        core->stats->count[TIM_CORE_loads_done]++;
    }
    tim_depend_done(core, &core->op[index]);
    tim_op_free(core, index);
}

void tim_pipe_writeback(struct tim_core *core, uint64_t now)
{
    if (tim_none_at(core, TIM_STAGE_PIPE) && tim_none_at(core, TIM_STAGE_WRITE))
        return;
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_PIPE && op->at <= now)
            core->moved = true, tim_stage(core, op, TIM_STAGE_WRITE);
    }
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage != TIM_STAGE_WRITE)
            continue;
        if (op->at <= now) {
            for (unsigned k = 0; k < op->what->row_writes; k++) {
                if (!(op->writes >> k & 1))
                    continue;
                if (!reserved(core) && !claim(core, bank_of(core, op, op->what->row_write[k]), now)) {
                    core->stats->count[TIM_CORE_bank_conflicts]++;
                    continue;
                }
                op->writes &= ~(1u << k);
                core->stats->count[TIM_CORE_register_writes]++;
            }
            core->moved = true;
            if (op->writes == 0) {
                finish(core, core->live[n], now);
                n--; /* the next one has its place */
            }
        }
    }
}

void tim_pipe_dispatch(struct tim_core *core, uint64_t now)
{
    if (tim_none_at(core, reserved(core) ? TIM_STAGE_COLLECT : TIM_STAGE_READY))
        return;
    if (reserved(core)) {
        for (unsigned n = 0; n < core->live_count; n++) {
            struct tim_op *op = &core->op[core->live[n]];
            if (op->stage != TIM_STAGE_COLLECT)
                continue;
            if (op->at <= now) {
                struct tim_pipe none = {0};
                if (op->operands != 0)
                    tim_depend_read(core, op);
                op->operands = 0;
                enter(core, op, &none, now); /* its pipe was taken at issue */
            }
        }
        return;
    }
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage != TIM_STAGE_READY)
            continue;
        struct tim_pipe *pipe = best_pipe(core, op->what->pipes, op->sched);
        if (op->at < now && pipe->free_at <= now)
            enter(core, op, pipe, now);
    }
}

void tim_pipe_collect(struct tim_core *core, uint64_t now)
{
    const struct tim_config *c = core->config;

    if (reserved(core) || tim_none_at(core, TIM_STAGE_COLLECT))
        return;
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage != TIM_STAGE_COLLECT)
            continue;
        unsigned ports = c->registers_ports;
        bool held = op->operands != 0;
        for (unsigned k = 0; k < op->what->row_reads && op->issued < now; k++) {
            if (!(op->operands >> k & 1))
                continue;
            if (ports == 0 || !claim(core, bank_of(core, op, op->what->row_read[k]), now)) {
                core->stats->count[TIM_CORE_bank_conflicts]++;
                if (c->registers_in_order)
                    break;
                continue;
            }
            ports--;
            op->operands &= ~(1u << k);
            core->stats->count[TIM_CORE_register_reads]++;
        }
        core->stats->count[TIM_CORE_collect_cycles]++;
        if (op->operands == 0 && op->issued < now) {
            if (held)
                tim_depend_read(core, op);
            core->moved = true;
            tim_stage(core, op, TIM_STAGE_READY);
            op->at = now;
        }
    }
}
