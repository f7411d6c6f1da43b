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

#include <stdlib.h>

static bool reserved(const struct tim_core *core)
{
    return tim_collector(core) == TIM_COLLECTOR_RESERVED;
}

static inline unsigned bank_of(const struct tim_core *core, const struct tim_op *op, unsigned row)
{
    unsigned banks = core->config->registers_banks, bank = row + op->swizzle;

    return op->sched * banks + (core->bank_mask != 0 ? bank & core->bank_mask : bank % banks);
}

/** The bank's port in this cycle. False: somebody has it. */
static inline bool claim(struct tim_core *core, unsigned bank, uint64_t now)
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
static inline struct tim_pipe *best_pipe(struct tim_core *core, unsigned unit, unsigned s)
{
    unsigned first, step;
    struct tim_pipe *best = NULL;

    if (core->only_pipe[unit][s] != 0)
        return &core->pipes[core->only_pipe[unit][s] - 1];
    pipes_of(core->config, unit, s, &first, &step);
    for (unsigned p = first; p < core->config->unit[unit].pipes; p += step)
        if (best == NULL || core->pipe[unit][p].free_at < best->free_at)
            best = &core->pipe[unit][p];
    return best;
}

uint64_t tim_pipe_free_at(const struct tim_core *core, unsigned unit, unsigned s)
{
    return best_pipe((struct tim_core *)core, unit, s)->free_at;
}

/** Cycles for which an instruction holds its pipe. */
static unsigned interval(const struct tim_core *core, const struct tim_static *what)
{
    return what->scalar ? 1 : core->interval[what->unit];
}

static inline void enter(struct tim_core *core, struct tim_op *op, struct tim_pipe *pipe, uint64_t at)
{
    core->moved = true;
    core->flight.collectors[op->sched] -=
        op->stage == TIM_STAGE_COLLECT || op->stage == TIM_STAGE_READY;
    pipe->free_at = at + interval(core, op->what);
    if (op->what->path == TIM_PATH_MEMORY) {
        tim_stage(op, TIM_STAGE_LSU);
        op->at = at + core->config->lsu_latency;
        tim_enqueue(core, (uint32_t)(op - core->op));
    } else {
        tim_stage(op, TIM_STAGE_PIPE);
        tim_op_await(core, op, at + core->config->unit[op->what->unit].latency);
    }
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

/** Room for more of them, each from a line of the host's cache on. */
static __attribute__((noinline)) bool grow_ops(struct tim_core *core)
{
    size_t had = core->op_room, room = had + had / 2 + 8;
    struct tim_op *bigger;

    if (tim_skips(core) && !grow_lists(core, room))
        return false;
    bigger = aligned_alloc(64, room * sizeof *bigger);
    if (bigger == NULL)
        return false;
    if (had != 0)
        memcpy(bigger, core->op, had * sizeof *bigger);
    memset(bigger + had, 0, (room - had) * sizeof *bigger);
    free(core->op);
    core->op = bigger;
    core->op_room = room;
    return true;
}

uint32_t tim_op_take(struct tim_core *core)
{
    uint32_t i = 0;

    if (tim_skips(core)) {
        i = core->flight.free != TIM_NONE ? core->flight.free : core->op_count;
    } else {
        if (!lw_grow(&core->live, &core->live_room, core->live_count + 1u, sizeof *core->live))
            return TIM_NONE;
        while (i < core->op_count && core->op[i].stage != TIM_STAGE_FREE)
            i++;
    }
    if (i == core->op_count) {
        if (core->op_count == core->op_room && !grow_ops(core))
            return TIM_NONE;
        core->op_count++;
    } else if (tim_skips(core)) {
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
    if (!tim_skips(core))
        core->live[core->live_count] = i;
    core->live_count++;
    return i;
}

void tim_op_free(struct tim_core *core, uint32_t index)
{
    unsigned n = 0;

    tim_stage(&core->op[index], TIM_STAGE_FREE);
    core->live_count--;
    if (tim_skips(core)) {
        core->op[index].next = core->flight.free;
        core->flight.free = index;
        return;
    }
    while (core->live[n] != index)
        n++;
    memmove(&core->live[n], &core->live[n + 1], (core->live_count - n) * sizeof *core->live);
}

/* ---- the shipped model's lists ---------------------------------------------------------------- */

/** Behind all that are older. */
static inline void put_by_age(const struct tim_core *core, struct tim_aged *list, unsigned *count,
                       uint32_t index)
{
    const struct tim_op *op = &core->op[index];
    uint64_t age = op->age;
    unsigned n = (*count)++;

    for (; n > 0 && list[n - 1].age > age; n--)
        list[n] = list[n - 1];
    list[n] = (struct tim_aged){age, index, op->what->pipes, op->sched,
                                core->only_pipe[op->what->pipes][op->sched]};
}

void tim_op_await(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    struct tim_flight *f = &core->flight;
    uint64_t next = core->now + 1, slot = at < next ? next : at;

    op->at = at;
    if (!tim_skips(core))
        return;
    if (slot - core->now >= TIM_RING)
        slot = core->now + TIM_RING - 1;
    slot %= TIM_RING;
    op->next = f->ring_map >> slot & 1 ? f->ring[slot] : TIM_NONE;
    f->ring[slot] = (uint32_t)(op - core->op);
    f->ring_map |= UINT64_C(1) << slot;
}

void tim_op_write(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    const struct tim_warp *w = &core->warp[op->warp];

    __builtin_prefetch(&w->cause); /* in a cycle or more it is told */
    __builtin_prefetch(&w->in_flight);
    tim_stage(op, TIM_STAGE_WRITE);
    tim_op_await(core, op, at);
}

/** Those whose time is @now, into the lists of the phases that they go on in. */
static void turn_ring(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    uint32_t next;

    if ((f->ring_map >> now % TIM_RING & 1) == 0)
        return;
    f->ring_map &= ~(UINT64_C(1) << now % TIM_RING);
    for (uint32_t i = f->ring[now % TIM_RING]; i != TIM_NONE; i = next) {
        struct tim_op *op = &core->op[i];
        next = op->next;
        if (op->at > now) {
            tim_op_await(core, op, op->at);
        } else if (op->stage == TIM_STAGE_COLLECT) {
            put_by_age(core, f->enter, &f->entering, i);
        } else {
            if (op->stage == TIM_STAGE_PIPE)
                tim_stage(op, TIM_STAGE_WRITE);
            put_by_age(core, f->write, &f->writing, i);
        }
    }
}

uint64_t tim_pipe_next(const struct tim_core *core, uint64_t now)
{
    const struct tim_flight *f = &core->flight;
    unsigned from = (now + 1) % TIM_RING;
    uint64_t turned = from == 0 ? f->ring_map
                                : f->ring_map >> from | f->ring_map << (TIM_RING - from);
    uint64_t next = turned != 0 ? now + 1 + lw_lowest(turned) : UINT64_MAX;

    for (unsigned n = 0; n < f->ready; n++) {
        uint64_t at = tim_pipe_free_at(core, f->wait[n].pipes, f->wait[n].sched);
        if (at > now && at < next)
            next = at;
    }
    if (core->queued != 0 && core->head_at > now && core->head_at < next)
        next = core->head_at;
    return next;
}

/* ---- issue -------------------------------------------------------------------------------------- */

/** Collectors of scheduler @s in use. */
static unsigned collectors_used(const struct tim_core *core, unsigned s, uint64_t now)
{
    unsigned count = 0;

    if (tim_skips(core))
        return core->flight.collectors[s];
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

    op->writes = (1u << what->row_writes) - 1;
    op->swizzle = (uint16_t)(core->config->registers_swizzle
                                 ? core->warp[op->warp].place - tim_first(core, op->sched) : 0);
    core->lsu_used += what->path == TIM_PATH_MEMORY;
    if (what->path == TIM_PATH_DIRECT) {
        enter(core, op, best_pipe(core, what->pipes, op->sched), now + 1);
        return;
    }
    tim_stage(op, TIM_STAGE_COLLECT);
    core->flight.collectors[op->sched]++;
    if (!reserved(core)) {
        if (tim_skips(core))
            put_by_age(core, core->flight.collect, &core->flight.collecting, index);
        return;
    }
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
    tim_op_await(core, op, at); /* dispatch lets it in then */
    op->collecting_until = at;
    pipe->free_at = at + interval(core, what);
    core->stats->count[TIM_CORE_collect_cycles] += at - (now + 1);
}

/* ---- the phases -------------------------------------------------------------------------------------- */

static void load_done(struct tim_core *core, const struct tim_op *op, uint64_t cycles)
{
    uint64_t *count = core->stats->count;

    if (op->line_count != 0) {
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_load_latency], cycles);
        count[TIM_CORE_load_cycles] += cycles;
        count[TIM_CORE_loads_done]++;
    } else if (op->data_at != 0) { /* else no lane loaded */
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_shared_latency], cycles);
        count[TIM_CORE_shared_load_cycles] += cycles;
        count[TIM_CORE_shared_loads_done]++;
    }
}

static void finish(struct tim_core *core, uint32_t index, uint64_t now)
{
    const struct tim_op *op = &core->op[index];

    if (op->what->load)
        load_done(core, op, now - op->issued);
    tim_depend_done(core, &core->op[index]);
    tim_op_free(core, index);
}

/** It writes rows in this cycle. True: the last. */
static bool write_rows(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    core->moved = true;
    for (LW_EACH_BIT(k, op->writes)) {
        if (!reserved(core) && !claim(core, bank_of(core, op, op->what->row_write[k]), now)) {
            core->stats->count[TIM_CORE_bank_conflicts]++;
            continue;
        }
        op->writes &= ~(1u << k);
        core->stats->count[TIM_CORE_register_writes]++;
    }
    return op->writes == 0;
}

void tim_pipe_writeback(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    unsigned left = 0;

    if (tim_skips(core)) {
        turn_ring(core, now);
        for (unsigned n = 0; n < f->writing; n++)
            if (write_rows(core, &core->op[f->write[n].op], now))
                finish(core, f->write[n].op, now);
            else
                f->write[left++] = f->write[n];
        f->writing = left;
        return;
    }
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_PIPE && op->at <= now)
            core->moved = true, tim_stage(op, TIM_STAGE_WRITE);
    }
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_WRITE && op->at <= now && write_rows(core, op, now)) {
            finish(core, core->live[n], now);
            n--; /* the next one has its place */
        }
    }
}

/** Reserved: it goes from its collector into its pipe, which was taken at issue. */
static void enter_reserved(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    struct tim_pipe none = {0};

    if (op->operands != 0)
        tim_depend_read(core, op);
    op->operands = 0;
    enter(core, op, &none, now);
}

/** Complete, it enters its pipe if that is free. */
static bool enter_ticked(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    struct tim_pipe *pipe = best_pipe(core, op->what->pipes, op->sched);
    bool fine = op->at < now && pipe->free_at <= now;

    if (fine)
        enter(core, op, pipe, now);
    return fine;
}

/** The cycle before which no pipe is free for it. Without a look at the instruction. */
static inline uint64_t pipe_at(const struct tim_core *core, const struct tim_aged *aged, uint64_t now)
{
    return aged->only == 0 ? now : core->pipes[aged->only - 1].free_at;
}

void tim_pipe_dispatch(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    unsigned left = 0;

    if (tim_skips(core)) {
        for (unsigned n = 0; n < f->entering; n++)
            enter_reserved(core, &core->op[f->enter[n].op], now);
        f->entering = 0;
        if (f->pipes_at > now)
            return;
        f->pipes_at = UINT64_MAX;
        for (unsigned n = 0; n < f->ready; n++) {
            uint64_t at = pipe_at(core, &f->wait[n], now);

            if (at <= now && enter_ticked(core, &core->op[f->wait[n].op], now))
                continue;
            f->wait[left++] = f->wait[n];
            if (at <= now) /* of several pipes none was free */
                at = now + 1;
            f->pipes_at = at < f->pipes_at ? at : f->pipes_at;
        }
        f->ready = left;
        return;
    }
    for (unsigned n = 0; n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (!reserved(core) && op->stage == TIM_STAGE_READY)
            (void)enter_ticked(core, op, now);
        else if (reserved(core) && op->stage == TIM_STAGE_COLLECT && op->at <= now)
            enter_reserved(core, op, now);
    }
}

/** It reads operands in this cycle. True: the last; it is complete. */
static bool read_rows(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    unsigned ports = core->config->registers_ports;
    bool held = op->operands != 0;

    core->stats->count[TIM_CORE_collect_cycles]++;
    if (op->issued >= now)
        return false;
    for (LW_EACH_BIT(k, op->operands)) {
        if (ports == 0 || !claim(core, bank_of(core, op, op->what->row_read[k]), now)) {
            core->stats->count[TIM_CORE_bank_conflicts]++;
            if (core->config->registers_in_order)
                break;
            continue;
        }
        ports--;
        op->operands &= ~(1u << k);
        core->stats->count[TIM_CORE_register_reads]++;
    }
    if (op->operands != 0)
        return false;
    if (held)
        tim_depend_read(core, op);
    core->moved = true;
    tim_stage(op, TIM_STAGE_READY);
    op->at = now;
    return true;
}

void tim_pipe_collect(struct tim_core *core, uint64_t now)
{
    struct tim_flight *f = &core->flight;
    unsigned left = 0;

    if (reserved(core))
        return;
    for (unsigned n = 0; n < f->collecting; n++)
        if (read_rows(core, &core->op[f->collect[n].op], now)) {
            put_by_age(core, f->wait, &f->ready, f->collect[n].op);
            f->pipes_at = 0;
        } else {
            f->collect[left++] = f->collect[n];
        }
    f->collecting = left;
    for (unsigned n = 0; !tim_skips(core) && n < core->live_count; n++) {
        struct tim_op *op = &core->op[core->live[n]];
        if (op->stage == TIM_STAGE_COLLECT)
            (void)read_rows(core, op, now);
    }
}
