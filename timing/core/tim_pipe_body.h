/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operand collectors, pipes and write-back.
 *
 * Collector `ticked`: an instruction that issues in cycle t has a collector and may read operands from t + 1 on. A bank
 * does one read or write per cycle. Writes have priority over reads, and older instructions over younger ones. A
 * collector reads at most registers.ports operands per cycle. An instruction that has all its operands in cycle c may
 * enter its pipe from c + 1 on, the oldest first. The collector becomes free in the cycle in which the instruction enters
 * the pipe. The instruction remains in the pipe for its latency. Its registers are written from the last cycle of the latency
 * on. Source: specification of the book, sections 9.2 and 9.4.
 *
 * Collector `reserved`: banks have their own write port. At issue each operand reserves the first cycle in which its
 * bank is free.
 *
 * With rows.drowsy, register rows wake before they are read: the first cycle in which an instruction may read operands is
 * rows.wake cycles later. Register rows of results wake before the instruction writes them.
 *
 * Slow register rows (prf.on): an access takes prf.slow cycles. An instruction with a slow source reads all its operands prf.slow
 * - 1 cycles later. An instruction with a slow result writes its registers prf.slow - 1 cycles later. From the cycle of such an
 * access on, the bank of the slow register row is busy for prf.busy cycles.
 *
 * Collector `window`: see tim_window_body.h. An instruction of fixed latency enters its pipe at issue. The pipe
 * accepts the next instruction when interval() cycles have passed since the issue. Instructions of variable latency wait in
 * collectors, and read and write registers in cycles in which the ports are not reserved.
 */

static bool reserved(const struct tim_core *core)
{
    return tim_collector(core) == TIM_COLLECTOR_RESERVED;
}

static inline unsigned bank_of(const struct tim_core *core, const struct tim_op *op, unsigned row)
{
    unsigned banks = core->config->registers_banks, bank = row + op->swizzle;

    return op->sched * banks + (core->bank_mask != 0 ? bank & core->bank_mask : bank % banks);
}

/** Takes the port of the bank for this cycle or, if the register row is slow, for prf.busy cycles. Returns false if the port is
 *  in use. */
static inline bool claim(struct tim_core *core, unsigned bank, bool slow, uint64_t now)
{
    if (core->bank_at[bank] > now ||
        (tim_has_entries(core) && tim_entries_in_use(core->entries, bank, now)))
        return false;
    core->bank_at[bank] = now + (slow ? core->config->prf_busy : 1);
    core->moved = true;
    return true;
}

/** Returns the number of cycles for which an instruction occupies its pipe. */
static unsigned interval(const struct tim_core *core, const struct tim_op *op)
{
    if (op->what->held != 0)
        return op->what->held;
    return tim_compresses(core) && op->what->path != TIM_PATH_MEMORY ? op->interval : core->interval[op->what->unit];
}

/** Returns the number of cycles by which @op writes its registers later because register rows are slow. */
static inline unsigned write_late(const struct tim_core *core, const struct tim_op *op)
{
    return tim_acts() && op->slow_writes != 0 ? core->config->prf_slow - 1 : 0;
}

static void tim_op_write(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    at += write_late(core, op);
    if (at < op->read_at)
        at = op->read_at;
    tim_stage(op, TIM_STAGE_WRITE);
    tim_op_await(core, op, at);
}

/** Makes @op write its registers from cycle @at on. In this cycle its last data is available. If the members of its packet
 *  get their data together, all members write from the cycle on in which the last data of the packet is available. */
static void tim_op_complete(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    struct tim_packet_entry *packet =
        tim_has_packets(core) && op->packet != 0 ? tim_packets_of(core->packets, op->packet) : NULL;

    if (packet == NULL || !packet->together) {
        tim_op_write(core, op, at);
        return;
    }
    tim_stage(op, TIM_STAGE_MEMORY);
    packet->data_at = at > packet->data_at ? at : packet->data_at;
    if (--packet->waiting != 0)
        return;
    for (unsigned i = 0; i < packet->members; i++)
        tim_op_write(core, &core->op[packet->member[i]], packet->data_at);
    if (packet->left == 0)
        tim_packets_drop(packet);
}

/** Records that @op has made all its own accesses. Returns true if its place in the load/store queue becomes free. The
 *  members of a packet share one place, which becomes free after the accesses of all members. */
static bool tim_op_leaves(struct tim_core *core, const struct tim_op *op)
{
    struct tim_packet_entry *packet;

    if (!tim_has_packets(core) || op->packet == 0)
        return true;
    packet = tim_packets_of(core->packets, op->packet);
    if (--packet->left != 0)
        return false;
    if (!packet->together || packet->waiting == 0)
        tim_packets_drop(packet);
    return true;
}

/** Called when @op has made all its own accesses. It may still share accesses that other instructions have not made. */
static void finish_accesses(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    if (tim_has_packets(core) && op->rides != 0) {
        tim_stage(op, TIM_STAGE_MEMORY);
        return;
    }
    if (op->what->writes && --core->warp[op->warp].writing == 0)
        tim_warp_touch(core, op->warp, TIM_TOUCH_MEMORY);
    if (op->lines_pending != 0) {
        tim_stage(op, TIM_STAGE_MEMORY);
        if (tim_divides(core) && op->what->load && (op->lanes & ~op->missed) != 0 && op->missed != 0) {
            op->early = op->lanes & ~op->missed;
            op->early_at = op->data_at > now ? op->data_at : now + 1;
            core->early_next = op->early_at < core->early_next ? op->early_at : core->early_next;
        }
        return;
    }
    tim_op_complete(core, op, op->data_at > now ? op->data_at : now + 1);
}

/** Mechanism dws: makes the results of the early lanes visible, whose data arrives before the data of the other lanes of the
 *  split (tim_op.early). */
static void tim_early_results(struct tim_core *core, uint64_t now)
{
    core->early_next = UINT64_MAX;
    for (unsigned n = 0; n < core->op_count; n++) {
        struct tim_op *op = &core->op[n];
        struct tim_warp *w = &core->warp[op->warp];

        if (op->stage == TIM_STAGE_FREE || op->early_at == 0)
            continue;
        if (op->early_at > now) {
            core->early_next = op->early_at < core->early_next ? op->early_at : core->early_next;
            continue;
        }
        for (unsigned i = 0; i < op->what->write_count; i++)
            w->lanes[op->what->write[i]] &= ~op->early;
        op->lanes &= ~op->early;
        op->early_at = 0;
        core->moved = true;
        tim_warp_touch(core, op->warp, TIM_TOUCH_RESULT);
    }
}

/** Returns whether @op is a member of a packet that shares all its accesses with earlier members. Such an instruction
 *  does not enter the load/store queue. */
static inline bool only_rides(const struct tim_core *core, const struct tim_op *op)
{
    return tim_has_packets(core) && op->follower && op->line_count == 0 && op->passes == 0;
}

/** Moves a memory instruction to the load/store queue in cycle @at. */
static inline void enter_queue(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    tim_stage(op, TIM_STAGE_LSU);
    op->at = at + core->config->lsu_latency;
    if (only_rides(core, op)) {
        core->lsu_used -= tim_op_leaves(core, op);
        count_queued(core, op);
        finish_accesses(core, op, at);
        return;
    }
    tim_enqueue(core, (uint32_t)(op - core->op));
    if (!tim_replays(core))
        count_queued(core, op);
}

/** Moves the companions of a memory instruction to the load/store queue. From then on they have no leader. */
static void enter_companions(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    for (uint32_t i = op->companion, next; i != TIM_NONE; i = next) {
        next = core->op[i].companion;
        core->op[i].companion = TIM_NONE;
        enter_queue(core, &core->op[i], at);
    }
    op->companion = TIM_NONE;
}

static inline void enter(struct tim_core *core, struct tim_op *op, struct tim_pipe *pipe, uint64_t at)
{
    core->moved = true;
    core->flight.collectors[op->sched] -=
        op->stage == TIM_STAGE_COLLECT || op->stage == TIM_STAGE_READY;
    pipe->free_at = at + interval(core, op);
    if (op->what->path == TIM_PATH_MEMORY) {
        enter_queue(core, op, at);
        if (tim_forms(core))
            enter_companions(core, op, at);
    } else {
        tim_stage(op, TIM_STAGE_PIPE);
        tim_op_await(core, op, at + op->what->latency + write_late(core, op));
    }
}

/* ---- issue -------------------------------------------------------------------------------------- */

/** Returns whether the queue of a memory instruction has a free place. */
static bool side_has_capacity(const struct tim_core *core, const struct tim_static *what)
{
    const struct tim_side *side = tim_side_of((struct tim_core *)core, what);

    return (side != NULL ? side->used : core->lsu_used) != core->config->lsu_queue;
}

static enum tim_stall tim_pipe_free_slots(const struct tim_core *core, unsigned sched,
                             const struct tim_static *what, uint64_t now)
{
    enum tim_stall stops = tim_issue_stops(core, sched, now);

    if (stops != TIM_STALL_ISSUED)
        return stops;
    if (what->path == TIM_PATH_NONE)
        return TIM_STALL_ISSUED;
    if (what->path == TIM_PATH_DIRECT)
        return tim_best_pipe((struct tim_core *)core, what->pipes, sched)->free_at <= now + 1
                   ? TIM_STALL_ISSUED
                   : TIM_STALL_UNIT;
    if (what->path == TIM_PATH_MEMORY && tim_has_local(core))
        return core->local[sched].count < core->config->lsu_local ? TIM_STALL_ISSUED : TIM_STALL_ADDRESS;
    if (what->path == TIM_PATH_MEMORY && !side_has_capacity(core, what))
        return TIM_STALL_LSU;
    return collectors_used(core, sched, now) < core->config->registers_collectors
               ? TIM_STALL_ISSUED
               : TIM_STALL_COLLECTOR;
}

/** Starts an instruction that has issued: gives it a collector, a pipe or a memory unit. @left: with collector `window`,
 *  the cycle in which it leaves Allocate, or 0 if it does not pass Allocate. */
static void tim_pipe_issue(struct tim_core *core, uint32_t index, uint64_t left, uint64_t now)
{
    struct tim_op *op = &core->op[index];
    const struct tim_static *what = op->what;

    op->writes = (1u << what->row_writes) - 1;
    op->swizzle = (uint16_t)(core->config->registers_swizzle
                                 ? core->warp[op->warp].place - tim_first(core, op->sched) : 0);
    if (what->path == TIM_PATH_MEMORY) {
        if (tim_has_local(core)) {
            tim_local_issue(core, index, now);
            return;
        }
        if (tim_side_of(core, what) != NULL)
            tim_side_of(core, what)->used++;
        else
            core->lsu_used += !tim_has_packets(core) || !op->follower;
        core->warp[op->warp].unqueued++;
        core->warp[op->warp].writing += what->writes;
    }
    if (in_window(core, what)) { /* dependent instructions may issue two cycles before the result is written, because
                                  * a bypass forwards the result */
        uint64_t end = left - 2 + what->latency;

        tim_best_pipe(core, what->pipes, op->sched)->free_at = now + 1 + interval(core, op);
        tim_stage(op, TIM_STAGE_PIPE);
        tim_op_await(core, op, end > now + 2 ? end : now + 2);
        return;
    }
    if (what->path == TIM_PATH_DIRECT) {
        enter(core, op, tim_best_pipe(core, what->pipes, op->sched), now + 1);
        return;
    }
    tim_stage(op, TIM_STAGE_COLLECT);
    core->flight.collectors[op->sched]++;
    if (!reserved(core)) {
        tim_op_collect(core, index);
        return;
    }
    const uint64_t first = now + 1 + tim_wake_cycles(core->config, what) + (tim_acts() ? op->late : 0);
    uint64_t complete = first;
    for (unsigned i = 0; i < what->row_reads; i++) {
        unsigned bank = bank_of(core, op, what->row_read[i]);
        uint64_t *free_at = &core->bank_free[bank];
        if (tim_acts() && (op->near_reads >> i & 1) != 0)
            continue;
        if (tim_has_entries(core) && (op->compact_reads >> i & 1) != 0) {
            uint64_t at = reserve_entry(core, op, bank, what->row_read[i], first);
            complete = at > complete ? at : complete;
            continue;
        }
        uint64_t at = *free_at > first && !core->config->registers_conflict_free ? *free_at : first;
        if (tim_has_entries(core) && tim_entries_free(core->entries, bank) > at)
            at = tim_entries_free(core->entries, bank);
        *free_at = at + (tim_acts() && (op->slow_reads >> i & 1) != 0 ? core->config->prf_busy : 1);
        if (at > complete)
            complete = at;
        core->stats->count[TIM_CORE_bank_conflicts] += at - first;
        core->stats->count[TIM_CORE_register_reads]++;
    }
    struct tim_pipe *pipe = tim_best_pipe(core, what->pipes, op->sched);
    uint64_t at = pipe->free_at > complete + 1 ? pipe->free_at : complete + 1;
    /* With several memory pipes, a memory instruction must not overtake an earlier one of its warp. */
    if (what->path == TIM_PATH_MEMORY) {
        uint64_t *last = &core->warp[op->warp].memory_at;
        *last = at > *last ? at : *last;
        at = *last;
    }
    tim_op_await(core, op, at); /* the instruction enters its pipe in cycle `at` */
    op->collecting_until = at;
    pipe->free_at = at + interval(core, op);
    core->stats->count[TIM_CORE_collect_cycles] += at - (now + 1);
}

static void tim_op_line_done(struct tim_core *core, uint32_t index, uint64_t at)
{
    struct tim_op *op = &core->op[index];

    op->lines_pending--;
    if (at > op->data_at)
        op->data_at = at;
    if (op->stage == TIM_STAGE_MEMORY && op->lines_pending == 0 && (!tim_has_packets(core) || op->rides == 0))
        tim_op_complete(core, op, op->data_at);
}

/** Called when a line or answer from outside the core arrives for an op: updates the warp's number of missing lines, and
 *  calls tim_op_line_done(). */
static void tim_op_line_came(struct tim_core *core, uint32_t index, uint64_t at)
{
    core->warp[core->op[index].warp].missing--;
    core->hot.changes += tim_acts();
    tim_op_line_done(core, index, at);
}

/* ---- the phases -------------------------------------------------------------------------------------- */

static void load_done(struct tim_core *core, const struct tim_op *op, uint64_t cycles)
{
    uint64_t *count = core->stats->count;

    if (op->line_count != 0) {
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_load_latency], cycles);
        count[TIM_CORE_load_cycles] += cycles;
        count[TIM_CORE_loads_done]++;
    } else if (op->data_at != 0) { /* if line_count and data_at are 0, no lane loaded */
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_shared_latency], cycles);
        count[TIM_CORE_shared_load_cycles] += cycles;
        count[TIM_CORE_shared_loads_done]++;
    }
}

/** Called when @op has read its operands. Records that its companions have read their operands in the same cycle. */
static void operands_read(struct tim_core *core, struct tim_op *op)
{
    tim_depend_read(core, op);
    for (uint32_t i = tim_forms(core) ? op->companion : TIM_NONE; i != TIM_NONE; i = core->op[i].companion)
        if (core->op[i].operands != 0) {
            tim_depend_read(core, &core->op[i]);
            core->op[i].operands = 0;
        }
}

static void finish_one(struct tim_core *core, uint32_t index, uint64_t now)
{
    const struct tim_op *op = &core->op[index];

    if (op->what->load)
        load_done(core, op, now - op->issued);
    if (op->operands != 0) { /* the read and the result become visible in the same cycle */
        tim_depend_read(core, &core->op[index]);
        core->op[index].operands = 0;
    }
    tim_depend_done(core, &core->op[index]);
    tim_op_free(core, index);
}

/** Ends an instruction that has written its registers, and its companions. */
static inline void finish(struct tim_core *core, uint32_t index, uint64_t now)
{
    uint32_t companion = tim_forms(core) ? core->op[index].companion : TIM_NONE;

    finish_one(core, index, now);
    for (uint32_t next; companion != TIM_NONE; companion = next) {
        next = core->op[companion].companion;
        finish_one(core, companion, now);
    }
}

/** Writes as many result registers of @op as possible in this cycle. Returns true if all are written. */
static bool write_rows(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    core->moved = true;
    if (tim_windowed(core)) {
        if (!op->what->fixed && op->writes != 0 && !window_claim_writes(core, op, now)) {
            core->stats->count[TIM_CORE_bank_conflicts]++;
            return false;
        }
        if (tim_has_entries(core) && op->expands != 0) { /* an instruction of fixed latency has reserved both writes, of the
                                                          * expanded entry and of the result */
            core->stats->count[TIM_CORE_register_writes] += lw_popcount(op->expands);
            core->stats->count[TIM_CORE_register_reads_compact] += lw_popcount(op->expands);
            op->expands = 0;
            if (!op->what->fixed)
                return false;
        }
        uint32_t entries = tim_has_entries(core) ? op->writes & op->compact_writes : 0;
        core->stats->count[TIM_CORE_register_writes_compact] += lw_popcount(entries);
        core->stats->count[TIM_CORE_register_writes] += lw_popcount(op->writes & ~entries);
        op->writes = 0;
        return true;
    }
    if (tim_acts())
        op->writes &= ~op->near_writes;
    for (LW_EACH_BIT(k, op->writes)) {
        if (tim_has_entries(core) && (op->compact_writes >> k & 1) != 0) {
            unsigned row = op->what->row_write[k];

            if (reserved(core))
                core->stats->count[TIM_CORE_register_writes_compact]++;
            else if (!claim_entry(core, op, bank_of(core, op, row), row, false, now))
                continue;
            op->writes &= ~(1u << k);
            continue;
        }
        if (!reserved(core) && !claim(core, bank_of(core, op, op->what->row_write[k]), tim_acts() && (op->slow_writes >> k & 1) != 0, now)) {
            core->stats->count[TIM_CORE_bank_conflicts]++;
            continue;
        }
        core->stats->count[TIM_CORE_register_writes]++;
        /* this cycle writes the expanded entry; a later cycle writes the result */
        if (tim_has_entries(core) && (op->expands >> k & 1) != 0) {
            op->expands &= ~(1u << k);
            core->stats->count[TIM_CORE_register_reads_compact]++;
            continue;
        }
        op->writes &= ~(1u << k);
    }
    return op->writes == 0;
}

/** Collector `reserved`: moves an instruction from its collector to its pipe, which it reserved at issue. */
static void enter_reserved(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    struct tim_pipe none = {0};

    if (op->operands != 0)
        operands_read(core, op);
    op->operands = 0;
    enter(core, op, &none, now);
}

/** Collector `ticked`: moves an instruction that has read its operands to its pipe, if the pipe is free. The memory
 *  instructions of a warp enter in order. */
static bool enter_ticked(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    struct tim_pipe *pipe = tim_best_pipe(core, op->what->pipes, op->sched);
    bool fine = op->at < now && pipe->free_at <= now &&
                (op->what->path != TIM_PATH_MEMORY || core->warp[op->warp].unqueued == 1 ||
                 !older_collects(core, op));

    if (fine)
        enter(core, op, pipe, now);
    return fine;
}

/** Reads as many operands of @op as possible in this cycle. Returns true if all are read. */
static bool read_rows(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    bool held = op->operands != 0, window = tim_windowed(core);
    unsigned ports = window ? TIM_MAX_ROWS : core->config->registers_ports;

    core->stats->count[TIM_CORE_collect_cycles]++;
    if (op->issued + (window ? 2 : tim_wake_cycles(core->config, op->what) + (tim_acts() ? op->late : 0)) >= now) {
        /* @op reads its operands later: it issued in this cycle, its rows wake or are slow, or with `window` it is still in
         * Control or the stage after it */
        core->moved = true;
        return false;
    }
    if (tim_acts())
        op->operands &= ~op->near_reads;
    for (LW_EACH_BIT(k, op->operands)) {
        unsigned row = op->what->row_read[k];

        if (tim_has_entries(core) && (op->compact_reads >> k & 1) != 0) { /* compact entries have their own ports */
            if (claim_entry(core, op, bank_of(core, op, row), row, true, now))
                op->operands &= ~(1u << k);
            else if (core->config->registers_in_order)
                break;
            continue;
        }
        if (ports == 0 ||
            !(window ? window_claim_read(core, op, row, now)
                     : claim(core, bank_of(core, op, row), tim_acts() && (op->slow_reads >> k & 1) != 0, now))) {
            core->stats->count[TIM_CORE_bank_conflicts]++;
            core->moved |= tim_acts(); /* a slow row of an earlier cycle may occupy the bank: the core must not become idle */
            if (core->config->registers_in_order)
                break;
            continue;
        }
        ports--;
        op->operands &= ~(1u << k);
        core->stats->count[TIM_CORE_register_reads]++;
    }
    core->moved |= window;
    if (op->operands != 0)
        return false;
    if (held)
        operands_read(core, op);
    core->moved = true;
    tim_stage(op, TIM_STAGE_READY);
    op->at = now;
    return true;
}

