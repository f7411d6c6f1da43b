/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lsu.local: a memory unit for each scheduler, before the load/store unit that the schedulers of a core share. A
 * memory instruction occupies one of the lsu.local places of the unit from its issue until it leaves the unit. The
 * unit calculates addresses in order. That takes lsu.address cycles, or lsu.address_uniform cycles if no vector
 * register is part of the address. Then an arbiter lets one instruction per lsu.interval cycles enter the load/store
 * unit, by round robin over the schedulers. The times after the arbiter were measured on hardware. Source: Huerta et al.,
 * MICRO 2025, section 5.4, tables 1 and 2.
 */

/** Numbers of cycles from the cycle in which an instruction leaves the unit until its sources are read, and until its
 *  result is available. The cycles until the result are in addition to the latency of the cache or of shared memory. The values
 *  are those of table 2 of the paper, minus the address calculation: 11 cycles or, with a uniform address, 9. */
struct local_times {
    int8_t read[3], result[3]; /* for 1, 2 and 4 words per lane */
};
enum { LOCAL_LOAD, LOCAL_STORE, LOCAL_SHARED_LOAD, LOCAL_SHARED_STORE, LOCAL_CONSTANT, LOCAL_KINDS };
static const struct local_times local_times[LOCAL_KINDS][2] = {
    [LOCAL_LOAD] = {{{0, 0, 0}, {0, 2, 6}}, {{0, 0, 0}, {-1, 1, 5}}},
    [LOCAL_STORE] = {{{3, 5, 9}, {0}}, {{1, 3, 7}, {0}}},
    [LOCAL_SHARED_LOAD] = {{{-2, -2, -2}, {0, -1, -1}}, {{0, 0, 0}, {1, 0, 0}}}, /* `read` is relative to the end of the
                                                                                  * address calculation, `result` to the
                                                                                  * load's last pass */
    [LOCAL_SHARED_STORE] = {{{1, 3, 7}, {0}}, {{1, 3, 7}, {0}}},
    [LOCAL_CONSTANT] = {{{18, 18, 18}, {0, 0, 0}}, {{1, 1, 1}, {-1, -1, -1}}},
};

static unsigned local_kind(const struct tim_op *op)
{
    if (op->kind != EMU_ACCESS_LOAD)
        return op->passes != 0 ? LOCAL_SHARED_STORE : LOCAL_STORE;
    if (op->passes != 0)
        return LOCAL_SHARED_LOAD;
    return op->line_count != 0 && op->line[0].to == TIM_TO_CONSTANT ? LOCAL_CONSTANT : LOCAL_LOAD;
}

/** Adds an issued instruction to the memory unit of its scheduler. If no lane accesses memory, the instruction does not
 *  enter the unit, and ends after stage Control. */
static void tim_local_issue(struct tim_core *core, uint32_t index, uint64_t now)
{
    struct tim_op *op = &core->op[index];
    struct tim_local *unit = &core->local[op->sched];
    const struct local_times *times = &local_times[local_kind(op)][op->what->uniform];

    op->read_at = 0;
    if (op->passes == 0 && op->line_count == 0) {
        tim_stage(op, TIM_STAGE_PIPE);
        tim_op_await(core, op, now + 2);
        return;
    }
    core->warp[op->warp].unqueued++;
    core->warp[op->warp].writing += op->what->writes;
    op->read_after = times->read[op->what->words];
    op->result_after = times->result[op->what->words];
    op->rows_left = (1u << op->what->address_rows) - 1;
    tim_stage(op, TIM_STAGE_LOCAL);
    unit->op[unit->count++] = index;
}

/** Records that the sources of @op have been read at the end of cycle @at - 1. */
static void local_read(struct tim_core *core, struct tim_op *op, uint64_t at, uint64_t now)
{
    op->read_at = at;
    if (at > now) {
        core->reads_next = at < core->reads_next ? at : core->reads_next;
        core->reads++;
        return;
    }
    tim_depend_read(core, op);
    op->operands = 0;
}

/** Returns the index of the counter for the read of source @k, which is a register row or a compact entry. */
static inline unsigned local_counter(const struct tim_core *core, const struct tim_op *op, unsigned k)
{
    return tim_has_entries(core) && (op->compact_reads >> k & 1) != 0 ? TIM_CORE_register_reads_compact
                                                                      : TIM_CORE_register_reads;
}

/** Reads the address registers of the first instruction of a unit, and then starts its address calculation. */
static void local_head(struct tim_core *core, struct tim_local *unit, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_op *op = &core->op[unit->op[0]];
    const struct tim_static *what = op->what;

    if (unit->ready_at != 0 || now < unit->left_at || now < op->issued + c->lsu_latency)
        return;
    core->moved = true;
    for (LW_EACH_BIT(k, op->rows_left))
        if (tim_windowed(core) && tim_has_entries(core) && (op->compact_reads >> k & 1) != 0)
            op->rows_left &= ~((uint32_t)window_claim_entry(core, op, what->row_read[k], now) << k);
        else if (!tim_windowed(core) || window_claim_read(core, op, what->row_read[k], now)) {
            op->rows_left &= ~(1u << k);
            core->stats->count[local_counter(core, op, k)]++;
        }
    if (op->rows_left != 0)
        return;
    unit->ready_at = now + (what->uniform ? c->lsu_address_uniform : c->lsu_address);
    if (op->kind == EMU_ACCESS_LOAD && op->passes != 0) /* shared memory calculates the address of a load itself */
        local_read(core, op, unit->ready_at + (uint64_t)(int64_t)op->read_after, now);
}

/** Moves the first instruction of scheduler @s's unit, which the arbiter has selected, to the load/store queue. */
static void local_leave(struct tim_core *core, unsigned s, uint64_t now)
{
    struct tim_local *unit = &core->local[s];
    uint32_t index = unit->op[0];
    struct tim_op *op = &core->op[index];

    core->moved = true;
    core->local_next = s + 1 < core->config->issue_schedulers ? s + 1 : 0;
    unit->left_at = now;
    unit->ready_at = 0;
    unit->count--;
    for (unsigned i = 0; i < unit->count; i++) /* moves the remaining entries: the list is short */
        unit->op[i] = unit->op[i + 1];
    core->stats->count[TIM_CORE_local_grants]++;
    for (unsigned k = op->what->address_rows; k < op->what->row_reads; k++)
        core->stats->count[local_counter(core, op, k)]++;
    if (op->read_at == 0)
        local_read(core, op, now + (uint64_t)(int64_t)op->read_after, now);
    tim_stage(op, TIM_STAGE_LSU);
    op->at = now;
    tim_enqueue(core, index);
    count_queued(core, op);
}

static void tim_local_tick(struct tim_core *core, uint64_t now)
{
    unsigned schedulers = core->config->issue_schedulers;

    for (unsigned s = 0; s < schedulers; s++)
        if (core->local[s].count != 0)
            local_head(core, &core->local[s], now);
    if (core->queued != 0 || now < core->shared_at)
        return;
    for (unsigned k = 0; k < schedulers; k++) {
        unsigned s = core->local_next + k < schedulers ? core->local_next + k : core->local_next + k - schedulers;

        if (core->local[s].count != 0 && core->local[s].ready_at != 0 && core->local[s].ready_at <= now) {
            local_leave(core, s, now);
            if (core->local[s].count != 0) /* the unit can calculate the address of its next instruction now */
                local_head(core, &core->local[s], now);
            return;
        }
    }
}

/** Returns whether any unit holds an instruction. */
static inline bool tim_local_busy(const struct tim_core *core)
{
    unsigned count = 0;

    for (unsigned s = 0; s < core->config->issue_schedulers; s++)
        count += core->local[s].count;
    return count != 0;
}

/** Records that the sources have been read, for each instruction whose cycle `read_at` is reached. */
static void tim_local_reads(struct tim_core *core, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    core->reads_next = UINT64_MAX;
    for (uint32_t i = 0; core->reads != 0 && i < core->op_count; i++) {
        struct tim_op *op = &core->op[i];

        if ((op->stage != TIM_STAGE_LOCAL && op->stage != TIM_STAGE_LSU && op->stage != TIM_STAGE_MEMORY &&
             op->stage != TIM_STAGE_WRITE) || op->operands == 0 || op->read_at == 0)
            continue;
        if (op->read_at > now) {
            next = op->read_at < next ? op->read_at : next;
            continue;
        }
        core->reads--;
        core->moved = true;
        tim_depend_read(core, op);
        op->operands = 0;
    }
    core->reads_next = next;
}

/** Returns the first cycle after @now in which a unit has work only because that cycle is reached. */
static inline uint64_t tim_local_next(const struct tim_core *core, uint64_t now)
{
    uint64_t next = core->reads_next;

    for (unsigned s = 0; s < core->config->issue_schedulers; s++) {
        const struct tim_local *unit = &core->local[s];
        uint64_t at = unit->ready_at;

        if (unit->count == 0)
            continue;
        if (at == 0) {
            at = core->op[unit->op[0]].issued + core->config->lsu_latency;
            at = at > unit->left_at ? at : unit->left_at;
        } else if (at < core->shared_at) {
            at = core->shared_at;
        }
        if (at > now && at < next)
            next = at;
    }
    return next;
}
