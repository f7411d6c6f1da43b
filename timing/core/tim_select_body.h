/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which warps of a scheduler may issue, from what is known of them: those that were touched, or
 * whose time has come, are looked at; of those that only room can keep, a set for each path, room is
 * asked once. The result is what check_all() finds by a check of each warp.
 */

/** Those whose time has come are to be looked at. */
static void expire(struct tim_core *core, unsigned first, uint64_t now)
{
    struct tim_hot *hot = &core->hot;
    uint64_t least = UINT64_MAX;

    for (unsigned word = first; word < first + tim_words(core); word++)
        for (LW_EACH_BIT(b, hot->known[word].timed)) {
            uint64_t again = hot->again[word * 64 + b];

            if (again <= now)
                hot->known[word].look |= UINT64_C(1) << b;
            else
                least = again < least ? again : least;
        }
    hot->known[first].again_min = least;
}

/** What is known of the warp at place @at from now on. */
static inline void look_at(struct tim_core *core, unsigned s, unsigned at, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_hot *hot = &core->hot;
    struct tim_known *known = &hot->known[at / 64], *first = &hot->known[tim_first(core, s) / 64];
    unsigned warp = tim_warp_at(core, s, at);
    struct tim_warp *w = &core->warp[warp];
    uint64_t bit = UINT64_C(1) << at % 64, again;
    enum tim_cause cause = tim_issue_but_room(core, w, now, &again);

    if (cause == TIM_CAUSE_LOAD && w->split_count > 1 && c->issue_switch_on_stall) {
        tim_issue_switch(core, warp, now);
        cause = tim_issue_but_room(core, w, now, &again);
        tim_set_cause(core, s, w, cause);
        known->look |= bit; /* another split may be ready in the next cycle */
        return;
    }
    tim_set_cause(core, s, w, cause);
    if (cause == TIM_CAUSE_PICKED) {
        w->head = tim_head(w);
        emu_warp_prefetch(w->state);
        known->can[w->head->path] |= bit;
        if (w->head->path == TIM_PATH_DIRECT)
            known->direct |= (uint16_t)(1u << w->head->pipes);
        return;
    }
    if (again == UINT64_MAX)
        return;
    hot->again[at] = again;
    known->timed |= bit;
    if (again < first->again_min)
        first->again_min = again;
}

static void look_at_touched(struct tim_core *core, unsigned s, unsigned word, uint64_t now)
{
    struct tim_known *known = &core->hot.known[word];
    uint64_t look = known->look;

    known->look = 0;
    known->timed &= ~look;
    for (unsigned p = 0; p < LW_COUNT_OF(known->can); p++)
        known->can[p] &= ~look;
    if (known->can[TIM_PATH_DIRECT] == 0)
        known->direct = 0;
    for (LW_EACH_BIT(b, look))
        look_at(core, s, word * 64 + (unsigned)b, now);
}

/** Takes out of @ready whom the policy holds back. True: somebody. */
static bool hold_back_ready(struct tim_core *core, unsigned s, uint64_t *ready)
{
    const struct tim_sched_policy *policy = &tim_sched_policies[core->config->issue_policy];
    struct tim_hot *hot = &core->hot;
    bool held = false;

    if (hot->ages_stale)
        hot->age_count = tim_running_ages(core, hot->ages);
    hot->ages_stale = false;
    struct tim_limit_view view = {core->config, hot->age_count, hot->ages};
    for (unsigned i = 0; i < tim_words(core); i++)
        for (LW_EACH_BIT(b, ready[i]))
            if (!policy->can_issue(&view, hot->age[tim_first(core, s) + i * 64 + b])) {
                ready[i] &= ~(UINT64_C(1) << b);
                held = true;
            }
    return held;
}

/** Causes of those that lack a collector or a place in the load/store queue. @takes: who would take a
 *  collector. */
static inline uint32_t causes_of_room(const struct tim_known *known, uint64_t takes, bool collector,
                                      bool lsu)
{
    return (uint32_t)(known->can[TIM_PATH_MEMORY] != 0 && !lsu) << TIM_CAUSE_LSU |
           (uint32_t)(!collector && takes != 0) << TIM_CAUSE_COLLECTOR;
}

/** Causes of those that can issue but for room; into @ready who has it. */
static inline uint32_t select_in(struct tim_core *core, unsigned s, unsigned word, uint64_t *ready,
                                 bool collector, bool lsu, uint64_t now)
{
    struct tim_known *known = &core->hot.known[word];
    uint64_t collect, memory, takes;
    uint32_t causes = 0;

    if (known->look != 0)
        look_at_touched(core, s, word, now);
    collect = known->can[TIM_PATH_COLLECT];
    memory = known->can[TIM_PATH_MEMORY];
    takes = collect | (lsu ? memory : 0);
    *ready = known->can[TIM_PATH_NONE] | (collector ? takes : 0);
    if (known->can[TIM_PATH_DIRECT] != 0 && tim_is_one(known->direct)) { /* as each of them would find */
        bool room = tim_pipe_free_at(core, lw_lowest(known->direct), s) <= now + 1;

        *ready |= room ? known->can[TIM_PATH_DIRECT] : 0;
        return causes_of_room(known, takes, collector, lsu) |
               UINT32_C(1) << (room ? TIM_CAUSE_ISSUED : TIM_CAUSE_UNIT);
    }
    for (LW_EACH_BIT(b, known->can[TIM_PATH_DIRECT])) {
        const struct tim_warp *w = &core->warp[tim_warp_at(core, s, word * 64 + (unsigned)b)];
        enum tim_cause cause = tim_pipe_room(core, s, w->head, now);

        *ready |= (uint64_t)(cause == TIM_CAUSE_ISSUED) << b;
        causes |= UINT32_C(1) << cause;
    }
    return causes | causes_of_room(known, takes, collector, lsu);
}

/** Which warps of scheduler @s may issue now, as check_all(): from a check of those that were touched or whose time has
 *  come, and of room once for all others. */
static enum tim_cause tim_select(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_hot *hot = &core->hot;
    unsigned first = tim_first(core, s) / 64;
    bool collector = core->flight.collectors[s] < c->registers_collectors;
    bool lsu = core->lsu_used != c->lsu_queue;
    uint32_t causes;

    if (now >= hot->known[first].again_min)
        expire(core, first, now);
    causes = select_in(core, s, first, ready, collector, lsu, now);
    for (unsigned i = 1; i < tim_words(core); i++)
        causes |= select_in(core, s, first + i, ready + i, collector, lsu, now);
    if (tim_limits(core) && hold_back_ready(core, s, ready))
        causes |= UINT32_C(1) << TIM_CAUSE_THROTTLED;
    causes &= ~(UINT32_C(1) << TIM_CAUSE_ISSUED);
    causes |= hot->known[first].present & ~(UINT32_C(1) << TIM_CAUSE_PICKED); /* room is theirs */
    return tim_suggest(causes);
}

static inline enum tim_cause tim_ready_warps(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    return tim_quick(core) ? tim_select(core, s, ready, now) : check_all(core, s, ready, now);
}

/** First cycle after @now by which a time has come that tim_select compares with. */
static uint64_t tim_select_next(const struct tim_core *core, uint64_t now)
{
    const struct tim_hot *hot = &core->hot;
    uint64_t next = UINT64_MAX;

    for (unsigned s = 0; s < core->config->issue_schedulers; s++) {
        unsigned first = tim_first(core, s) / 64;

        if (hot->known[first].again_min < next)
            next = hot->known[first].again_min;
        for (unsigned word = first; word < first + tim_words(core); word++) {
            for (LW_EACH_BIT(b, hot->known[word].can[TIM_PATH_DIRECT])) {
                const struct tim_warp *w = &core->warp[tim_warp_at(core, s, word * 64 + (unsigned)b)];
                uint64_t at = tim_pipe_free_at(core, w->head->pipes, s);
                if (at > now + 1 && at - 1 < next) /* it needs the pipe in the next cycle */
                    next = at - 1;
            }
        }
    }
    return next;
}
