/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The re-execution queue of the load/store unit, which mechanism mascar may add. If the head of the load/store queue is a load
 * through L1 and its next access cannot be made, the load moves to the end of the re-execution queue, and later instructions
 * access L1:
 *
 *   load/store queue --> head --access--> L1, crossbar
 *                         |  cannot be made: no MSHR, merge entry, way or space, or hook `may_miss` forbids the miss
 *                         v
 *   re-execution queue: [first] ... [last] <--+  the first load makes its next access if the load/store queue is empty. If the
 *                          |                  |  head cannot move, because the re-execution queue is full, the queues alternate
 *                          +-- cannot be made +
 *
 * A load has an entry of the re-execution queue for each access that it has not made. A load that has made all its accesses
 * leaves the queue. A store, a reduction or an atomic waits while the queue has an earlier load of its warp. Source:
 * specification of the book on GPU architectures, section 17.2 (Mascar, CAR).
 */

/** Returns whether the next access of @op is a load of global or local memory through L1. */
static bool loads_through_l1(const struct tim_core *core, const struct tim_op *op)
{
    const struct tim_step *step = &op->line[op->line_next];

    return core->l1 != NULL && op->kind == EMU_ACCESS_LOAD &&
           (step->to == TIM_TO_LOCAL || (step->to == TIM_TO_GLOBAL && op->cached));
}

/** Returns whether the next access of @op would send a request to L2. Called if hook `may_miss` forbids such a request. */
static bool would_miss(const struct tim_core *core, const struct tim_op *op)
{
    const struct tim_line *line = &op->line[op->line_next].line;
    struct tim_cache_result r;

    tim_cache_lookup(core->l1, line->line, line->mask, &r);
    return r.answer != TIM_CACHE_HIT && (r.answer != TIM_CACHE_MERGE || r.fetch != 0);
}

/** Makes the next access of @op. Returns true if the access is made. */
static bool reexecute_access(struct tim_core *core, struct tim_op *op, uint64_t now)
{
    const struct tim_reexecution *queue = core->mechs.reexecution;
    bool served;

    if (loads_through_l1(core, op)) {
        if (!queue->mech->row->may_miss(queue->mech, op->warp) && would_miss(core, op))
            return false;
    } else {
        for (unsigned i = 0; i < queue->count && op->kind != EMU_ACCESS_LOAD; i++)
            if (core->op[queue->op[i]].warp == op->warp)
                return false;
    }
    served = access_line(core, op, now);
    core->l1_stuck = core->l1_misses = false; /* the next access may be one of another instruction */
    return served;
}

/** Called if the access of the head of the load/store queue could not be made. Moves the head to the re-execution queue if
 *  the head is a load through L1 and the re-execution queue has a free entry for each of its remaining accesses. */
static void reexecute_move(struct tim_core *core, const struct tim_op *op)
{
    struct tim_reexecution *queue = core->mechs.reexecution;

    if (!loads_through_l1(core, op) || op->line_count - op->line_next > queue->size - queue->used) {
        queue->goes_next = true;
        return;
    }
    queue->used += op->line_count - op->line_next;
    queue->op[queue->count++] = core->queue[0];
    core->stats->count[TIM_CORE_mascar_moves]++;
    core->moved = true;
    dequeue(core);
    core->lsu_used--;
}

/** Lets the first load of the re-execution queue make its next access, unless the head of the load/store queue makes the access
 *  of this cycle. Returns true if the load made its access, or tried to. */
static bool reexecute_first(struct tim_core *core, uint64_t now)
{
    struct tim_reexecution *queue = core->mechs.reexecution;
    struct tim_op *op;
    uint32_t index;

    if (queue->count == 0)
        return false;
    core->moved = true; /* the core must not become idle, because another load may access L1 in the next cycle */
    if (core->queued != 0 && core->head_at <= now && !queue->goes_next)
        return false;
    queue->goes_next = false;
    index = queue->op[0];
    op = &core->op[index];
    if (reexecute_access(core, op, now)) {
        core->stats->count[TIM_CORE_mascar_accesses]++;
        queue->used--;
        if (++op->line_next < op->line_count)
            return true;
        queue->count--;
        memmove(&queue->op[0], &queue->op[1], queue->count * sizeof queue->op[0]);
        finish_accesses(core, op, now);
        return true;
    }
    core->stats->count[TIM_CORE_mascar_returns]++;
    memmove(&queue->op[0], &queue->op[1], (queue->count - 1) * sizeof queue->op[0]);
    queue->op[queue->count - 1] = index;
    return true;
}
