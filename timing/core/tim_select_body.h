/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection of the warps of a scheduler that may issue, from cached results of ready checks. A warp is checked again only
 * if it was touched, or if its cached result has expired (cycle recheck_at is reached). For warps that only missing capacity
 * can stop, capacity is checked once per path (enum tim_path). The result is the same as that of check_all(), which checks
 * each warp.
 */

/** Adds the warps whose recheck_at is reached to the set `recheck`. */
static void expire(struct tim_core *core, unsigned first, uint64_t now)
{
    struct tim_hot *hot = &core->hot;
    uint64_t least = UINT64_MAX;

    for (unsigned word = first; word < first + tim_words(core); word++)
        for (LW_EACH_BIT(b, hot->known[word].timed)) {
            uint64_t recheck_at = hot->recheck_at[word * 64 + b];

            if (recheck_at <= now)
                hot->known[word].recheck |= UINT64_C(1) << b;
            else
                least = recheck_at < least ? recheck_at : least;
        }
    hot->known[first].recheck_min = least;
}

/** issue.rotate: called before the stall reason of the warp becomes @reason. The new reason may make a mechanism throttle
 *  warps of other schedulers, which issue in other cycles. The core must therefore not become idle before each scheduler has
 *  had one of its cycles after the change. */
static inline void note_reason(struct tim_core *core, const struct tim_warp *w, enum tim_stall reason)
{
    if (tim_rotates(core) && w->reason != reason)
        core->unmoved = 0;
}

/** Computes the stall reason, without regard to capacity, of the warp at place @at, and caches it. */
static inline void recheck(struct tim_core *core, unsigned s, unsigned at, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_hot *hot = &core->hot;
    struct tim_known *known = &hot->known[at / 64], *first = &hot->known[tim_first(core, s) / 64];
    unsigned warp = tim_warp_at(core, s, at);
    struct tim_warp *w = &core->warp[warp];
    uint64_t bit = UINT64_C(1) << at % 64, recheck_at;
    enum tim_stall reason = tim_issue_but_capacity(core, w, now, &recheck_at);

    if (tim_acts() && core->mechs.reaches)
        report_reached(core, w, reason);
    if (reason == TIM_STALL_LOAD && tim_divides(core) && tim_issue_divide(core, w))
        reason = tim_issue_but_capacity(core, w, now, &recheck_at);
    if (tim_forms(core) && core->formed->pairs && tim_issue_other_path(core, w, reason, now))
        reason = tim_issue_but_capacity(core, w, now, &recheck_at);
    if (reason == TIM_STALL_LOAD && w->split_count > 1 && c->issue_switch_on_stall) {
        tim_issue_switch(core, warp, now);
        reason = tim_issue_but_capacity(core, w, now, &recheck_at);
        note_reason(core, w, reason);
        tim_set_stall(core, s, w, reason);
        known->recheck |= bit; /* in the next cycle another split of the warp may be ready */
        return;
    }
    note_reason(core, w, reason);
    tim_set_stall(core, s, w, reason);
    if (reason == TIM_STALL_PICKED) {
        w->head = tim_head(w);
        emu_warp_prefetch(w->state);
        known->can[w->head->path] |= bit;
        if (w->head->path == TIM_PATH_DIRECT)
            known->direct |= (uint16_t)(1u << w->head->pipes);
    }
    if (recheck_at == UINT64_MAX)
        return;
    hot->recheck_at[at] = recheck_at;
    known->timed |= bit;
    if (recheck_at < first->recheck_min)
        first->recheck_min = recheck_at;
}

static void recheck_touched(struct tim_core *core, unsigned s, unsigned word, uint64_t now)
{
    struct tim_known *known = &core->hot.known[word];
    uint64_t touched = known->recheck;

    if (tim_types(core)) /* a warp that has issued in this cycle is checked in the next cycle */
        touched &= ~core->issued_now[word - tim_first(core, s) / 64];
    known->recheck &= ~touched;
    known->timed &= ~touched;
    for (unsigned p = 0; p < LW_COUNT_OF(known->can); p++)
        known->can[p] &= ~touched;
    if (known->can[TIM_PATH_DIRECT] == 0)
        known->direct = 0;
    for (LW_EACH_BIT(b, touched))
        recheck(core, s, word * 64 + (unsigned)b, now);
}

/** Returns the set of stall reasons of warps that lack a collector or a place in the load/store queue. @takes: warps that
 *  need a collector. @collector, @lsu: whether a collector, or a place, is free. @local: whether the place is in a memory
 *  unit. */
static inline uint32_t reasons_of_capacity(const struct tim_known *known, uint64_t takes, bool collector,
                                           bool lsu, bool local)
{
    return (uint32_t)(known->can[TIM_PATH_MEMORY] != 0 && !lsu) << (local ? TIM_STALL_ADDRESS : TIM_STALL_LSU) |
           (uint32_t)(!collector && takes != 0) << TIM_STALL_COLLECTOR;
}

/** Sets *ready to the warps of word @word that can issue. Returns the set of stall reasons of warps that only lack
 *  capacity. @collector, @lsu: whether a collector, or a place in the load/store queue or memory unit, is free. */
static inline uint32_t select_in(struct tim_core *core, unsigned s, unsigned word, uint64_t *ready,
                                 bool collector, bool lsu, uint64_t now)
{
    struct tim_known *known = &core->hot.known[word];
    const bool local = tim_has_local(core); /* true: memory instructions do not take a collector */
    uint64_t collect, memory, takes;
    uint32_t reasons = 0;

    if (known->recheck != 0)
        recheck_touched(core, s, word, now);
    enum tim_stall stops = tim_issue_stops(core, s, now);
    if (stops != TIM_STALL_ISSUED) {
        *ready = 0;
        for (unsigned p = 0; p < LW_COUNT_OF(known->can); p++)
            reasons |= (uint32_t)(known->can[p] != 0) << stops;
        return reasons;
    }
    collect = known->can[TIM_PATH_COLLECT];
    memory = known->can[TIM_PATH_MEMORY];
    if (tim_separate(core)) { /* each instruction needs a place in its own queue */
        for (LW_EACH_BIT(b, known->can[TIM_PATH_MEMORY]))
            if (!side_has_capacity(core, core->warp[tim_warp_at(core, s, word * 64 + (unsigned)b)].head))
                memory &= ~(UINT64_C(1) << b);
        lsu = memory == known->can[TIM_PATH_MEMORY];
        reasons |= (uint32_t)!lsu << TIM_STALL_LSU;
        lsu = true; /* every warp that is still in `memory` finds a place */
    }
    if (!lsu && memory != 0 && tim_has_packets(core)) { /* the queue is full, so an instruction may issue only if it joins
                                                         * a packet that already has a place in the queue */
        if (core->mechs.packets->row->packets_are_wide)
            memory = tim_mech_follows(core->mechs.packets, 0) ? memory : 0;
        for (LW_EACH_BIT(b, core->mechs.packets->row->packets_are_wide ? 0 : memory))
            if (!has_joined(core, &core->warp[tim_warp_at(core, s, word * 64 + (unsigned)b)]))
                memory &= ~(UINT64_C(1) << b);
        reasons |= (uint32_t)(memory != known->can[TIM_PATH_MEMORY]) << TIM_STALL_LSU;
        lsu = true;
    }
    takes = collect | (lsu && !local ? memory : 0);
    *ready = known->can[TIM_PATH_NONE] | (collector ? takes : 0) | (lsu && local ? memory : 0);
    /* if all these warps need the same pipe, one check is enough */
    if (known->can[TIM_PATH_DIRECT] != 0 && tim_is_one(known->direct)) {
        bool room = tim_pipe_free_at(core, lw_lowest(known->direct), s) <= now + 1;

        *ready |= room ? known->can[TIM_PATH_DIRECT] : 0;
        return reasons | reasons_of_capacity(known, takes, collector, lsu, local) |
               UINT32_C(1) << (room ? TIM_STALL_ISSUED : TIM_STALL_UNIT);
    }
    for (LW_EACH_BIT(b, known->can[TIM_PATH_DIRECT])) {
        const struct tim_warp *w = &core->warp[tim_warp_at(core, s, word * 64 + (unsigned)b)];
        enum tim_stall reason = tim_pipe_free_slots(core, s, w->head, now);

        *ready |= (uint64_t)(reason == TIM_STALL_ISSUED) << b;
        reasons |= UINT32_C(1) << reason;
    }
    return reasons | reasons_of_capacity(known, takes, collector, lsu, local);
}

/** Returns true if no warp was touched and no warp could issue even with more capacity. */
static inline bool waits_all(const struct tim_known *known)
{
    uint64_t some = known->recheck;

    for (unsigned p = 0; p < LW_COUNT_OF(known->can); p++)
        some |= known->can[p];
    return some == 0;
}

/** Does what check_all() does, but checks only the warps that were touched or whose recheck_at is reached, and checks capacity
 *  once for all warps. */
static inline enum tim_stall tim_select(struct tim_core *core, unsigned s, uint64_t *ready, bool hold, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_hot *hot = &core->hot;
    unsigned first = tim_first(core, s) / 64;
    bool collector = core->flight.collectors[s] < c->registers_collectors || tim_replays(core);
    bool lsu = tim_has_local(core) ? core->local[s].count < c->lsu_local : core->lsu_used != c->lsu_queue;
    uint32_t reasons;

    if (now >= hot->known[first].recheck_min) {
        expire(core, first, now);
    } else if (tim_words(core) == 1 && waits_all(&hot->known[first])) { /* select_in() would find no ready warp, and no
                                                                         * other stall reasons than `present` */
        *ready = 0;
        if (hold && tim_has_mechanisms(core) && core->mechs.picks)
            tim_core_hold(core, s, ready);
        return tim_suggest(hot->known[first].present & ~(UINT32_C(1) << TIM_STALL_PICKED));
    }
    reasons = select_in(core, s, first, ready, collector, lsu, now);
    for (unsigned i = 1; i < tim_words(core); i++)
        reasons |= select_in(core, s, first + i, ready + i, collector, lsu, now);
    if (hold && tim_has_mechanisms(core) && tim_core_hold(core, s, ready))
        reasons |= UINT32_C(1) << TIM_STALL_THROTTLED;
    reasons &= ~(UINT32_C(1) << TIM_STALL_ISSUED);
    reasons |= hot->known[first].present & ~(UINT32_C(1) << TIM_STALL_PICKED); /* warps with TIM_STALL_PICKED lack at most
                                                                                * capacity, and `reasons` already has their
                                                                                * reasons */
    return tim_suggest(reasons);
}

/** Returns whether the ready warps of scheduler @s that update_mechanisms() found in this cycle are still the ready ones. */
static bool query_lasts(const struct tim_core *core, unsigned s, uint64_t now)
{
    const struct tim_mechs_query *query = &core->mechs.query;
    uint64_t touched = 0;

    if (!query->lasts || query->at != now + 1 || query->lsu_used != core->lsu_used)
        return false;
    for (unsigned i = 0; i < tim_words(core); i++) {
        const struct tim_known *known = &core->hot.known[tim_first(core, s) / 64 + i];

        touched |= known->recheck | (query->shares_pipes && s != 0 ? known->can[TIM_PATH_DIRECT] : 0);
    }
    return touched == 0;
}

static enum tim_stall tim_ready_warps(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    if (tim_acts() && core->mechs.cycle && tim_quick(core) && query_lasts(core, s, now)) {
        enum tim_stall nearest = (enum tim_stall)core->mechs.query.nearest[s];

        memcpy(ready, core->mechs.query.ready[s], tim_words(core) * sizeof *ready);
        return tim_core_hold(core, s, ready) && nearest > TIM_STALL_THROTTLED ? TIM_STALL_THROTTLED : nearest;
    }
    return tim_quick(core) ? tim_select(core, s, ready, true, now) : check_all(core, s, ready, true, now);
}

/** Sets @ready to the ready warps of scheduler @s, including warps that mechanisms throttle. Returns what check_all() does. */
static enum tim_stall tim_ready_but_held(struct tim_core *core, unsigned s, uint64_t *ready, uint64_t now)
{
    return tim_quick(core) ? tim_select(core, s, ready, false, now) : check_all(core, s, ready, false, now);
}

/** Returns the first cycle after @now in which the result of tim_select() may change only because that cycle is reached. */
static uint64_t tim_select_next(const struct tim_core *core, uint64_t now)
{
    const struct tim_hot *hot = &core->hot;
    uint64_t next = UINT64_MAX;

    for (unsigned s = 0; s < core->config->issue_schedulers; s++) {
        unsigned first = tim_first(core, s) / 64;

        if (hot->known[first].recheck_min < next)
            next = hot->known[first].recheck_min;
        if (tim_control_taken(core, s, now) && core->window[s].control_at < next)
            next = core->window[s].control_at;
        if (tim_has_operands(core) && core->switch_at[s] > now && core->switch_at[s] < next)
            next = core->switch_at[s];
        if (tim_issues_by_lanes(core) && core->issue_at[s] > now && core->issue_at[s] < next)
            next = core->issue_at[s];
        for (unsigned word = first; word < first + tim_words(core); word++) {
            for (LW_EACH_BIT(b, hot->known[word].can[TIM_PATH_DIRECT])) {
                const struct tim_warp *w = &core->warp[tim_warp_at(core, s, word * 64 + (unsigned)b)];
                uint64_t at = tim_pipe_free_at(core, w->head->pipes, s);
                if (at > now + 1 && at - 1 < next) /* an instruction may issue one cycle before its pipe is free */
                    next = at - 1;
            }
        }
    }
    return next;
}
