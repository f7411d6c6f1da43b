/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions in flight in the event-driven model. There is a list for each event for which instructions wait, so
 * a phase visits only the instructions that it may advance. */

/** Returns the index of a new op, or TIM_NONE if memory is short. */
static uint32_t tim_op_take(struct tim_core *core)
{
    uint32_t i = core->flight.free;

    if (i != TIM_NONE)
        core->flight.free = core->op[i].next;
    else if (core->op_count < core->op_capacity || tim_ops_grow(core))
        i = core->op_count++;
    else
        return TIM_NONE;
    tim_op_init(core, i);
    return i;
}

static void tim_op_free(struct tim_core *core, uint32_t index)
{
    tim_stage(&core->op[index], TIM_STAGE_FREE);
    core->live_count--;
    core->op[index].next = core->flight.free;
    core->flight.free = index;
}

/** Inserts the instruction into a list that is sorted by age, after all older instructions. */
static inline struct tim_aged *put_by_age(const struct tim_core *core, struct tim_aged *list, unsigned *count,
                                          uint32_t index)
{
    uint64_t age = core->op[index].age;
    unsigned n = (*count)++;

    for (; n > 0 && list[n - 1].age > age; n--)
        list[n] = list[n - 1];
    list[n].age = age;
    list[n].op = index;
    return &list[n];
}

/** Adds an instruction that has read all operands to the list of those that wait for a pipe. */
static inline void await_pipe(struct tim_core *core, uint32_t index)
{
    const struct tim_op *op = &core->op[index];
    struct tim_aged *aged = put_by_age(core, core->flight.wait, &core->flight.ready, index);

    aged->pipes = op->what->pipes;
    aged->sched = op->sched;
    aged->only = core->only_pipe[aged->pipes][aged->sched];
    core->flight.pipes_at = 0;
}

/** Adds the instruction to the ring, so that its next phase runs in cycle @at, or in the next cycle if @at is not in the
 *  future. */
static void tim_op_await(struct tim_core *core, struct tim_op *op, uint64_t at)
{
    struct tim_flight *f = &core->flight;
    uint64_t next = core->now + 1, slot = at < next ? next : at;

    op->at = at;
    if (slot - core->now >= TIM_RING)
        slot = core->now + TIM_RING - 1;
    slot %= TIM_RING;
    op->next = f->ring_map >> slot & 1 ? f->ring[slot] : TIM_NONE;
    f->ring[slot] = (uint32_t)(op - core->op);
    f->ring_map |= UINT64_C(1) << slot;
}

/** Adds an instruction that has taken a collector to the list of those that have not read all operands. */
static inline void tim_op_collect(struct tim_core *core, uint32_t index)
{
    put_by_age(core, core->flight.collect, &core->flight.collecting, index);
}

/** Returns whether an older memory instruction of the same warp has not read all its operands. */
static bool older_collects(const struct tim_core *core, const struct tim_op *op)
{
    for (unsigned n = 0; n < core->flight.collecting; n++) {
        const struct tim_op *other = &core->op[core->flight.collect[n].op];
        if (other->warp == op->warp && other->age < op->age && other->what->path == TIM_PATH_MEMORY)
            return true;
    }
    return false;
}

/** Returns the number of collectors of scheduler @s in use. */
static inline unsigned collectors_used(const struct tim_core *core, unsigned s, uint64_t now)
{
    (void)now;
    return core->flight.collectors[s];
}

/** Moves the instructions in the ring's list of cycle @now to the lists of their next phases. */
static void advance_ring(struct tim_core *core, uint64_t now)
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

/** Returns the first cycle after @now in which an instruction in flight may advance only because that cycle is reached, or
 *  UINT64_MAX if there is none. */
static uint64_t tim_pipe_next(const struct tim_core *core, uint64_t now)
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
    for (unsigned i = 0; tim_orders(core) && i < core->queued; i++)
        if (core->op[core->queue[i]].at > now && core->op[core->queue[i]].at < next)
            next = core->op[core->queue[i]].at;
    for (unsigned i = 0; tim_separate(core) && i < TIM_SIDES; i++)
        if (core->side[i].queued != 0 && core->side[i].head_at > now && core->side[i].head_at < next)
            next = core->side[i].head_at;
    return next;
}
