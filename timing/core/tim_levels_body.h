/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches in levels (timing/mem/tim_front_priv.h), the core's side: L1 takes a request a cycle, in order; lines that come
 * for fetches, for operands and for the constant cache. An operand in constant space is looked up when its instruction
 * would issue. If it is not there, the scheduler issues nothing for constant.switch cycles; then its other warps may.
 */

/* ---- operands at issue ------------------------------------------------------------------------------ */

/** Is the operand of @warp's next instruction there, which scheduler @s would issue now? Else it waits. */
static bool tim_levels_operand(struct tim_core *core, unsigned s, unsigned warp, uint64_t now)
{
    struct tim_warp *w = &core->warp[warp];
    const struct tim_static *what = tim_head(w);
    uint64_t line;

    if (!what->constant || core->config->constant_perfect)
        return true;
    line = constant_of(core, w, what) & ~(uint64_t)(core->config->constant_line - 1);
    if (w->operand_held == line + 1)
        return true;
    switch (tim_front_operand(core->front, s, line, warp)) {
    case TIM_FRONT_THERE:
        w->operand_held = line + 1; /* a debugger may stop before it */
        return true;
    case TIM_FRONT_COMES:
        w->operand = line + 1;
        break;
    default:
        w->operand = UINT64_MAX;
    }
    core->switch_at[s] = now + core->config->constant_switch;
    core->switch_for[s] = (int)warp;
    core->moved = true;
    tim_warp_touch(core, warp, TIM_TOUCH_STALL);
    return false;
}

/** A line of operands is there for the warps of a scheduler that wait for it, whatever the cache does next. */
static void operand_arrives(struct tim_core *core, const struct tim_front_request *request, uint64_t now)
{
    const struct tim_config *c = core->config;

    (void)tim_cache_fill(core->front->sched[request->sched].operand, request->line, 1, core->waiters);
    for (unsigned warp = request->sched; warp < c->core_warps; warp += c->issue_schedulers) {
        struct tim_warp *w = &core->warp[warp];

        if (!w->used || (w->operand != request->line + 1 && w->operand != UINT64_MAX))
            continue;
        if (w->operand != UINT64_MAX)
            w->operand_held = w->operand;
        w->operand = 0;
        tim_warp_touch(core, warp, TIM_TOUCH_STALL);
        if (core->switch_for[request->sched] == (int)warp && core->switch_at[request->sched] > now)
            core->switch_at[request->sched] = now; /* it is served: no reason to wait longer */
    }
}

/* ---- a cycle ------------------------------------------------------------------------------------------ */

static void code_arrives(struct tim_core *core, const struct tim_front_request *request)
{
    unsigned count = tim_cache_fill(core->front->sched[request->sched].code, request->line, 1, core->waiters);

    for (unsigned i = 0; i < count; i++) {
        core->warp[core->waiters[i]].fetching = false;
        core->warp[core->waiters[i]].held = request->line + 1;
        tim_warp_touch(core, core->waiters[i], TIM_TOUCH_FETCH);
    }
}

/** The next request that arrives from the link reaches L1. False: it must wait. */
static bool look_up_l1(struct tim_core *core, uint32_t request, uint64_t now)
{
    static const uint64_t all[4] = {1, 0, 0, 0}; /* any byte: lines are whole */
    uint64_t line = core->front->request[request].line & ~(uint64_t)(core->config->fetch_cache_line - 1);
    struct tim_cache_result r;

    tim_cache_lookup(core->icache, line, all, &r);
    if (tim_cache_is_blocked(r.answer) || (r.answer == TIM_CACHE_MISS && !can_send(core)))
        return false;
    tim_cache_go(core->icache, line, request, 0xffff, &r);
    core->stats->count[TIM_CORE_fetch_requests]++;
    core->stats->count[TIM_CORE_fetch_misses] += r.answer != TIM_CACHE_HIT;
    if (r.answer == TIM_CACHE_HIT)
        tim_front_answer(core->front, request, now);
    else if (r.answer == TIM_CACHE_MISS)
        tim_send_read(core, core->icache, line, r.fetch, TIM_CLIENT_FETCH, 0, 0xffff, now);
    return true;
}

/** Requests and answers that arrive. */
static void tim_levels_tick(struct tim_core *core, uint64_t now)
{
    struct tim_front *front = core->front;
    uint32_t request = tim_front_first(&front->up, now);

    if (request != UINT32_MAX) { /* one a cycle */
        const struct tim_front_request *r = &front->request[request];

        core->moved = true;
        tim_front_drop(&front->up);
        if (r->kind == TIM_FRONT_CODE || (r->kind == TIM_FRONT_AHEAD && tim_front_arrives_ahead(front, request)))
            code_arrives(core, r);
        else if (r->kind == TIM_FRONT_OPERAND)
            operand_arrives(core, r, now);
        else if (r->kind == TIM_FRONT_LOAD)
            tim_constant_filled(core, r->line, 1, now);
        tim_front_free(front, request);
    }
    request = tim_front_first(&front->down, now);
    if (request != UINT32_MAX && look_up_l1(core, request, now)) {
        core->moved = true;
        tim_front_drop(&front->down);
    }
}

/** The first cycle after @now by which a time of theirs is reached. */
static inline uint64_t tim_levels_next(const struct tim_core *core, uint64_t now)
{
    uint64_t down = tim_front_arrival(&core->front->down), up = tim_front_arrival(&core->front->up);

    if (down <= now) /* L1 takes it when something else changes */
        down = UINT64_MAX;
    return down < up ? down : up;
}
