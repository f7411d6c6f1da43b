/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetch: the instruction cache, the instruction buffers of warps, and the constant operands of buffered instructions.
 * A buffer contains consecutive instructions from the pc of its warp on.
 *
 * A fetch gets instructions of one line, as many as the buffer has space for and at most fetch.group. They can issue
 * fetch.latency cycles later. An instruction that changes the pc empties the buffer, and the warp fetches again
 * issue.branch_latency cycles later.
 */

/** With fetch.l0_bytes: flag in a waiter for a line of the core's instruction cache. If it is set, the waiter is a warp of
 *  fetch_together(); otherwise it is a request of an L0 cache. */
enum { TIM_FETCHES_TOGETHER = 0x40000000 };

static void tim_fetch_flush(struct tim_core *core, unsigned warp, uint64_t from)
{
    struct tim_warp *w = &core->warp[warp];

    tim_depend_leave(w, 0);
    tim_warp_touch(core, warp, TIM_TOUCH_STALL | TIM_TOUCH_FETCH);
    core->stats->count[TIM_CORE_flushes] += w->buffered;
    w->buffered = 0;
    w->operand = w->operand_held = 0;
    w->fetch_pc = w->pc;
    w->fetch_from = from;
}

static void byte_mask(uint64_t mask[4], unsigned first, unsigned count)
{
    unsigned end = first + count;

    if (first / 64 == (end - 1) / 64) {
        memset(mask, 0, 4 * sizeof *mask);
        mask[first / 64] = lw_mask(count) << first % 64;
        return;
    }
    for (unsigned w = 0; w < 4; w++, first = first > 64 ? first - 64 : 0,
                  end = end > 64 ? end - 64 : 0)
        mask[w] = first >= 64 ? 0 : lw_mask(end) & ~lw_mask(first);
}

/* ---- caches that cores share ---------------------------------------------------------------------- */

/* A core cannot join the outstanding miss of another core. Instead, it waits as if no MSHR were free. A change of the cache
 * wakes all cores that share the cache, because cores with higher numbers see the change in the same cycle. */

static void wake_sharers(struct tim_core *core, enum tim_sharing_of what)
{
    for (unsigned i = 0; i < core->sharing[what].count; i++)
        if (core->sharing[what].core[i] != core)
            tim_core_poke(core->sharing[what].core[i]);
}

/** Returns whether the outstanding miss of @line was requested by another core. */
static bool is_others(const struct tim_core *core, enum tim_sharing_of what, uint64_t line)
{
    const struct tim_sharing *s = &core->sharing[what];

    if (s->core == NULL)
        return false;
    for (unsigned i = 0; i < s->requested; i++)
        if (s->line[i] == line)
            return false;
    return true;
}

/** Records that @core has requested a line. share_arrived() records that a line has arrived, which @core may have requested. */
static void share_request(struct tim_core *core, enum tim_sharing_of what, uint64_t line)
{
    struct tim_sharing *s = &core->sharing[what];

    if (s->core == NULL)
        return;
    assert(s->requested < LW_COUNT_OF(s->line)); /* each requested line has an MSHR */
    s->line[s->requested++] = line;
    wake_sharers(core, what);
}
static void share_arrived(struct tim_core *core, enum tim_sharing_of what, uint64_t line)
{
    struct tim_sharing *s = &core->sharing[what];

    for (unsigned i = 0; i < s->requested; i++)
        if (s->line[i] == line) {
            s->line[i] = s->line[--s->requested];
            wake_sharers(core, what);
            return;
        }
}

/* ---- fetch ----------------------------------------------------------------------------------------------- */

static bool fetch_can_send(struct tim_core *core)
{
    if (core->memory->ops->can_send(core->memory, core->index))
        return true;
    core->each[TIM_IDLE_ICNT]++;
    core->no_capacity = true;
    return false;
}

/** Returns the address of the next instruction to fetch, in the address space of the instruction cache. With fetch.word_bytes
 *  8, an instruction occupies half as many bytes in the cache as in emu. */
static uint64_t fetch_address(const struct tim_config *c, const struct tim_warp *w)
{
    return w->code->base + (c->fetch_word_bytes == ISA_WORD_BYTES ? w->fetch_pc - w->code->base
                                                                  : (w->fetch_pc - w->code->base) / 2);
}

/** Returns the address after the end of the program, in the address space of fetch_address(). */
static uint64_t code_end(const struct tim_config *c, const struct tim_warp *w)
{
    return w->code->base + (uint64_t)w->code->count * c->fetch_word_bytes;
}

/* ---- prefetch streams, without L0 caches ------------------------------------------------------ */

/** Begins a prefetch stream after @line, on which a fetch for @warp has missed. */
static void ahead_begin(struct tim_core *core, unsigned warp, uint64_t line)
{
    const struct tim_config *c = core->config;
    uint64_t end = code_end(c, &core->warp[warp]);
    struct tim_ahead *ahead = &core->ahead;

    *ahead = (struct tim_ahead){.at = line, .next = line + c->fetch_cache_line, .end = end};
    ahead->stop = line + (c->fetch_prefetch + UINT64_C(1)) * c->fetch_cache_line;
    ahead->stop = ahead->stop < end ? ahead->stop : end;
}

/** Extends the stream if a fetch reads @line, which the stream requested. */
static inline void ahead_follow(struct tim_core *core, uint64_t line)
{
    struct tim_ahead *ahead = &core->ahead;

    if (line <= ahead->at || line >= ahead->next) /* if there is no stream, both members are 0 */
        return;
    core->stats->count[TIM_CORE_prefetches_used]++;
    ahead->at = line;
    ahead->stop = line + (core->config->fetch_prefetch + UINT64_C(1)) * core->config->fetch_cache_line;
    ahead->stop = ahead->stop < ahead->end ? ahead->stop : ahead->end;
}

/** Requests the next line of the stream if the cache does not have it. One MSHR stays free for fetches. */
static __attribute__((noinline)) void ahead_request(struct tim_core *core, uint64_t now)
{
    struct tim_ahead *ahead = &core->ahead;
    uint64_t line = ahead->next, mask[4];
    struct tim_cache_result r;

    byte_mask(mask, 0, core->config->fetch_cache_line);
    tim_cache_lookup(core->icache, line, mask, &r);
    if (tim_cache_is_blocked(r.answer) && r.answer != TIM_CACHE_NO_MERGE)
        return;
    if (r.answer == TIM_CACHE_MISS) {
        if (tim_cache_mshrs_used(core->icache) + 1 >= core->config->fetch_cache_mshrs)
            return;
        if (!core->memory->ops->can_send(core->memory, core->index)) {
            core->no_capacity = true;
            return;
        }
        tim_cache_read(core->icache, line, mask, TIM_NONE, 0xffff, &r);
        share_request(core, TIM_SHARES_CODE, line);
        core->stats->count[TIM_CORE_prefetches]++;
        tim_send_read(core, core->icache, line, r.fetch, TIM_CLIENT_FETCH, 0, 0xffff, now);
    }
    ahead->next += core->config->fetch_cache_line;
    core->moved = true;
}

static inline void tim_fetch_ahead(struct tim_core *core, uint64_t now)
{
    if (core->ahead.next < core->ahead.stop)
        ahead_request(core, now);
}

/** Requests @line, which is not in the instruction cache, for a fetch of @warp. Returns false if this is not possible in
 *  this cycle; the fetch must then be repeated. */
static bool fetch_below(struct tim_core *core, unsigned warp, uint64_t line,
                        const uint64_t mask[4], uint64_t now)
{
    struct tim_cache_result r;

    tim_cache_lookup(core->icache, line, mask, &r);
    if (tim_cache_is_blocked(r.answer) ||
        (r.answer == TIM_CACHE_MERGE && is_others(core, TIM_SHARES_CODE, line)))
        return false;
    if (r.answer == TIM_CACHE_MISS && !fetch_can_send(core))
        return false;
    tim_cache_read(core->icache, line, mask, tim_has_levels(core) ? warp | TIM_FETCHES_TOGETHER : warp, 0xffff, &r);
    if (r.answer == TIM_CACHE_MISS)
        share_request(core, TIM_SHARES_CODE, line);
    core->stats->count[TIM_CORE_fetches]++;
    core->stats->count[TIM_CORE_fetch_misses]++;
    core->warp[warp].fetching = true;
    if (r.fetch != 0)
        tim_send_read(core, core->icache, line, r.fetch, TIM_CLIENT_FETCH, 0, 0xffff, now);
    ahead_follow(core, line);
    if (r.answer == TIM_CACHE_MISS && core->config->fetch_prefetch != 0 && !tim_has_levels(core))
        ahead_begin(core, warp, line);
    return true;
}

/** Returns how many instructions one fetch can add to the buffer of a warp. */
static unsigned fetch_count(const struct tim_config *c, const struct tim_warp *w, uint64_t address, uint64_t line)
{
    unsigned count = (unsigned)(line + c->fetch_cache_line - address) /
                     (c->fetch_word_bytes == ISA_WORD_BYTES ? ISA_WORD_BYTES : ISA_WORD_BYTES / 2);
    uint64_t left = (w->code->end - w->fetch_pc) / ISA_WORD_BYTES;

    if (count > c->fetch_group)
        count = c->fetch_group;
    if (count > c->fetch_buffer - w->buffered)
        count = c->fetch_buffer - w->buffered;
    return count < left ? count : (unsigned)left;
}

/** Adds @count instructions to a warp's buffer. */
static void fill_buffer(struct tim_core *core, unsigned warp, unsigned count, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_warp *w = &core->warp[warp];

    w->held = 0;
    if (w->buffered == 0)
        tim_warp_touch(core, warp, TIM_TOUCH_STALL);
    const struct tim_static *what =
        &w->code->insn[(w->fetch_pc - w->code->base) / ISA_WORD_BYTES];
    for (unsigned i = 0; i < count; i++) {
        w->buffer[w->buffered] = (struct tim_buffered){.arrives = now + c->fetch_latency,
                                                       .constant = what[i].constant && !tim_has_operands(core)};
        w->buffered++;
        if (what[i].constant && !tim_has_operands(core))
            tim_warp_touch(core, warp, TIM_TOUCH_CONSTANT);
    }
    w->fetch_pc += (uint64_t)count * ISA_WORD_BYTES;
}

/** Formed warps: @warp has fetched @count instructions from @pc on. Adds them also to the buffers of the scheduler's other warps
 *  that can fetch at this pc. */
static __attribute__((noinline)) void fill_others(struct tim_core *core, unsigned warp, uint64_t pc, unsigned count, uint64_t now)
{
    const struct tim_config *c = core->config;
    const struct tim_code *code = core->warp[warp].code;

    for (unsigned i = warp % c->issue_schedulers; i < c->core_warps; i += c->issue_schedulers) {
        const struct tim_warp *w = &core->warp[i];
        const unsigned room = c->fetch_buffer - w->buffered;

        if (i == warp || !w->used || w->ended || w->split < 0 || w->fetching || room == 0 || w->code != code || w->fetch_pc != pc ||
            now < w->fetch_from)
            continue;
        fill_buffer(core, i, count < room ? count : room, now);
        core->stats->count[TIM_CORE_formed_fetches]++;
    }
}

/** Fetches for one warp. Returns false if this is not possible in this cycle; the fetch must then be repeated. */
static bool fetch(struct tim_core *core, unsigned warp, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_warp *w = &core->warp[warp];
    uint64_t address = fetch_address(c, w), line = address & ~(uint64_t)(c->fetch_cache_line - 1);
    unsigned count = fetch_count(c, w, address, line);

    if (w->held == line + 1) { /* the line for which the warp waited has arrived; the fetch has already been counted */
    } else if (!c->fetch_perfect && tim_has_levels(core)) {
        enum tim_front_answer answer = tim_front_fetch(core->front, tim_sched_of(core, warp), line, warp, code_end(c, w));

        if (answer == TIM_FRONT_BLOCKED)
            return false;
        core->stats->count[TIM_CORE_fetches]++;
        w->fetching = answer == TIM_FRONT_COMES;
        if (w->fetching)
            return true;
    } else if (!c->fetch_perfect && !tim_cache_read_whole(core->icache, line)) {
        uint64_t mask[4];

        byte_mask(mask, (unsigned)(address - line), count * c->fetch_word_bytes);
        if (!tim_cache_read_hit(core->icache, line, mask))
            return fetch_below(core, warp, line, mask, now);
        core->stats->count[TIM_CORE_fetches]++;
        ahead_follow(core, line);
    } else {
        core->stats->count[TIM_CORE_fetches]++;
        ahead_follow(core, line);
    }
    fill_buffer(core, warp, count, now);
    if (tim_forms(core) && !core->formed->pairs)
        fill_others(core, warp, w->fetch_pc - (uint64_t)count * ISA_WORD_BYTES, count, now);
    return true;
}

static void tim_fetch_filled(struct tim_core *core, uint64_t line, unsigned sectors)
{
    unsigned count = tim_cache_fill(core->icache, line, sectors, core->waiters);

    share_arrived(core, TIM_SHARES_CODE, line);
    for (unsigned i = 0; i < count; i++) {
        unsigned warp = core->waiters[i] & ~TIM_FETCHES_TOGETHER;

        if (core->waiters[i] == TIM_NONE) /* a prefetch stream requested the line */
            continue;
        if (tim_has_levels(core) && warp == core->waiters[i]) {
            tim_front_answer(core->front, core->waiters[i], core->now);
            continue;
        }
        core->warp[warp].fetching = false;
        core->warp[warp].held = line + 1;
        tim_warp_touch(core, warp, TIM_TOUCH_FETCH);
    }
}

/* ---- constants of operands ------------------------------------------------------------------------ */

static uint64_t constant_of(const struct tim_core *core, const struct tim_warp *w,
                            const struct tim_static *what)
{
    return tim_constant_address(core->block[w->block].grid, what->constant_at);
}

/* defined in timing/core/tim_lsu_body.h */
static void line_came(struct tim_core *core, uint32_t op, uint64_t line, uint64_t at);

static void tim_constant_filled(struct tim_core *core, uint64_t line, unsigned sectors, uint64_t now)
{
    unsigned count = tim_cache_fill(core->constant, line, sectors, core->waiters);

    share_arrived(core, TIM_SHARES_CONSTANTS, line);
    for (unsigned i = 0; i < count; i++)
        if (core->waiters[i] != TIM_NONE)
            line_came(core, core->waiters[i], line, now + 1);
    /* From now on the instructions that wait for the line can use it, even if the cache evicts the line. */
    for (unsigned w = 0; w < core->config->core_warps; w++) {
        struct tim_warp *warp = &core->warp[w];
        for (unsigned k = 0; warp->used && k < warp->buffered; k++) {
            if (warp->buffer[k].constant && warp->buffer[k].arrives <= now &&
                (constant_of(core, warp, tim_head(warp) + k) & ~(uint64_t)(core->config->constant_line - 1)) ==
                    line) {
                warp->buffer[k].constant_there = true;
                tim_warp_touch(core, w, TIM_TOUCH_STALL);
            }
        }
    }
}

/** Requests the constant operands of the warp's buffered instructions that can issue from the next cycle on, in order. */
static void ask_constants(struct tim_core *core, unsigned warp, uint64_t now)
{
    const struct tim_config *c = core->config;
    struct tim_warp *w = &core->warp[warp];

    for (unsigned i = 0; i < w->buffered && w->buffer[i].arrives <= now + 1; i++) {
        struct tim_buffered *b = &w->buffer[i];
        if (!b->constant || b->constant_there || (b->constant_comes && tim_quick(core)))
            continue;
        const struct tim_static *what = tim_head(w) + i;
        uint64_t address = constant_of(core, w, what);
        uint64_t line = address & ~(uint64_t)(c->constant_line - 1), mask[4];
        struct tim_cache_result r;
        if (c->constant_perfect) {
            b->constant_there = true;
            tim_warp_touch(core, warp, TIM_TOUCH_STALL);
            core->moved = true;
            continue;
        }
        byte_mask(mask, (unsigned)(address - line), what->constant_bytes);
        if (tim_cache_read_whole(core->constant, line) ||
            tim_cache_read_hit(core->constant, line, mask)) {
            core->stats->count[TIM_CORE_constant_hits] += !b->constant_requested;
            b->constant_there = true;
            tim_warp_touch(core, warp, TIM_TOUCH_STALL);
            core->moved = true;
            continue;
        }
        tim_cache_lookup(core->constant, line, mask, &r);
        b->constant_comes = r.answer == TIM_CACHE_MERGE && !is_others(core, TIM_SHARES_CONSTANTS, line);
        if (r.answer != TIM_CACHE_MISS)
            continue;
        if (!fetch_can_send(core))
            continue;
        tim_cache_read(core->constant, line, mask, TIM_NONE, 0xffff, &r);
        share_request(core, TIM_SHARES_CONSTANTS, line);
        core->stats->count[TIM_CORE_constant_misses]++;
        core->stats->count[TIM_CORE_constant_evictions] += r.evicted;
        b->constant_requested = b->constant_comes = true;
        core->moved = true;
        tim_send_read(core, core->constant, line, r.fetch, TIM_CLIENT_CONSTANT, 0, 0xffff, now);
    }
}

/* ---- L0 caches: operands at issue -------------------------------------------------------------------
 *
 * The part of the two cache levels (timing/mem/tim_front_priv.h) that needs the core. Here "L1" is the core's instruction cache.
 * Its lines serve fetches, constant operands and the constant cache; it accepts fetch.ports requests per cycle, in order. A
 * constant operand is looked up when its instruction would issue. If its line is missing, the scheduler issues
 * nothing for constant.switch cycles; then its other warps may issue. With constant.switch_for greedy, this applies only to a
 * miss of the warp that issued last; after a miss of another warp the scheduler selects again in the same cycle. */

/** Called when scheduler @s has selected @warp. Returns true if the constant operand of the warp's next instruction is
 *  available; otherwise makes the warp wait for it. @greedy: @warp is also the warp from which @s issued last. */
static bool tim_levels_operand(struct tim_core *core, unsigned s, unsigned warp, bool greedy, uint64_t now)
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
        w->operand_held = line + 1; /* a debugger may stop before the issue: the operand must not be looked up twice */
        return true;
    case TIM_FRONT_COMES:
        w->operand = line + 1;
        break;
    default:
        w->operand = UINT64_MAX;
    }
    if (greedy || core->config->constant_switch_for == TIM_SWITCH_ANY) {
        core->switch_at[s] = now + core->config->constant_switch;
        core->switch_for[s] = (int)warp;
    }
    core->moved = true;
    tim_warp_touch(core, warp, TIM_TOUCH_STALL);
    return false;
}

/** Called when a line of operands arrives at a scheduler. The warps that wait for the line can use it even if the cache evicts
 *  the line. */
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
            core->switch_at[request->sched] = now; /* the scheduler stopped because of this warp, which can issue now */
    }
}

/* ---- L0 caches: a cycle ----------------------------------------------------------------------------------- */

static void code_arrives(struct tim_core *core, const struct tim_front_request *request)
{
    unsigned count = tim_cache_fill(core->front->sched[request->sched].code, request->line, 1, core->waiters);

    for (unsigned i = 0; i < count; i++) {
        core->warp[core->waiters[i]].fetching = false;
        core->warp[core->waiters[i]].held = request->line + 1;
        tim_warp_touch(core, core->waiters[i], TIM_TOUCH_FETCH);
    }
}

/** Looks up @request, which has arrived from the link, in L1. Returns false if the request must wait. */
static bool look_up_l1(struct tim_core *core, uint32_t request, uint64_t now)
{
    static const uint64_t all[4] = {1, 0, 0, 0}; /* one byte is enough, because the cache always loads whole lines */
    uint64_t line = core->front->request[request].line & ~(uint64_t)(core->config->fetch_cache_line - 1);
    struct tim_cache_result r;

    tim_cache_lookup(core->icache, line, all, &r);
    if (tim_cache_is_blocked(r.answer) || (r.answer == TIM_CACHE_MISS && !fetch_can_send(core)))
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

/** Handles the answers that arrive at the schedulers in this cycle, then the requests that arrive at L1. */
static void tim_levels_tick(struct tim_core *core, uint64_t now)
{
    struct tim_front *front = core->front;
    const unsigned ports = core->config->fetch_ports;
    uint32_t request;

    for (unsigned k = 0; k < ports && (request = tim_front_first(&front->up, now)) != UINT32_MAX; k++) {
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
    for (unsigned k = 0; k < ports; k++) {
        request = tim_front_first(&front->down, now);
        if (request == UINT32_MAX || !look_up_l1(core, request, now))
            break;
        core->moved = true;
        tim_front_drop(&front->down);
    }
}

/** Returns the first cycle after @now in which the link delivers a request or an answer. */
static inline uint64_t tim_levels_next(const struct tim_core *core, uint64_t now)
{
    uint64_t down = tim_front_arrival(&core->front->down), up = tim_front_arrival(&core->front->up);

    if (down <= now) /* the request waits until another event frees resources of L1 */
        down = UINT64_MAX;
    return down < up ? down : up;
}

/* ---- which warps fetch ------------------------------------------------------------------------------------ */

/** Returns whether the warp can fetch from cycle fetch_from on. */
static inline bool wants_fetch(const struct tim_core *core, const struct tim_warp *w)
{
    return w->used && !w->ended && w->split >= 0 && !w->fetching &&
           w->buffered != core->config->fetch_buffer && w->fetch_pc < w->code->end;
}

/** Returns whether a buffered instruction of the warp lacks a constant that has not been requested. */
static bool misses_constant(const struct tim_warp *w)
{
    for (unsigned i = 0; i < w->buffered; i++)
        if (w->buffer[i].constant && !w->buffer[i].constant_there && !w->buffer[i].constant_comes)
            return true;
    return false;
}

/** Fetches for at most @left warps: for the first warps of @set that can fetch now. @set is word @word of a set of warps.
 *  Returns @left minus the number of fetches. */
static unsigned fetch_for(struct tim_core *core, unsigned word, uint64_t set, unsigned left,
                          uint64_t now)
{
    for (; set != 0 && left != 0; set &= set - 1) {
        unsigned warp = word * 64 + lw_lowest(set);
        struct tim_warp *w = &core->warp[warp];

        if (!wants_fetch(core, w)) {
            tim_set(&tim_sets_of(core, warp)->may_fetch, warp, false);
        } else if (now >= w->fetch_from && fetch(core, warp, now)) {
            core->moved = true;
            left--;
            core->fetch_next = warp + 1 == core->config->core_warps ? 0 : warp + 1;
            if (w->fetching || w->buffered == core->config->fetch_buffer || w->fetch_pc >= w->code->end)
                tim_set(&tim_sets_of(core, warp)->may_fetch, warp, false);
        }
    }
    return left;
}

/** fetch.policy greedy: fetches once for scheduler @s, for the warp that issued last before this cycle if the warp can
 *  fetch, else for the youngest warp that can fetch. */
static void fetch_greedily(struct tim_core *core, unsigned s, uint64_t now)
{
    unsigned schedulers = core->config->issue_schedulers, best = TIM_NONE;

    for (unsigned warp = s; warp < core->config->core_warps; warp += schedulers) {
        struct tim_warp *w = &core->warp[warp];

        if (tim_quick(core) && !tim_in(tim_sets_of(core, warp)->may_fetch, warp))
            continue;
        if (!wants_fetch(core, w)) {
            tim_set(&tim_sets_of(core, warp)->may_fetch, warp, false);
            continue;
        }
        if (now < w->fetch_from)
            continue;
        if ((int)(warp / schedulers) == core->fetch_follows[s]) {
            best = warp;
            break;
        }
        if (best == TIM_NONE || w->age > core->warp[best].age)
            best = warp;
    }
    if (best != TIM_NONE && fetch(core, best, now))
        core->moved = true;
}

/* ---- warps that a mechanism makes fetch together -------------------------------------------------------- */

/** Returns the warps of @members with the lowest fetch pc, if all of these can fetch now, else 0. @first: slot of member 0. */
static uint64_t least_fetched(struct tim_core *core, unsigned first, uint64_t members, uint64_t now)
{
    uint64_t least = UINT64_MAX, found = 0;
    bool can = true;

    for (LW_EACH_BIT(m, members)) {
        struct tim_warp *w = &core->warp[first + (unsigned)m];

        if (!w->used || w->ended || w->split < 0 || w->fetch_pc > least)
            continue;
        if (w->fetch_pc < least)
            found = 0;
        least = w->fetch_pc;
        found |= UINT64_C(1) << m;
    }
    for (LW_EACH_BIT(m, found)) {
        const struct tim_warp *w = &core->warp[first + (unsigned)m];

        can &= wants_fetch(core, w) && now >= w->fetch_from;
    }
    return can ? found : 0;
}

static bool fetch_is_wanted(const void *context, unsigned first, uint64_t members)
{
    struct tim_core *core = (struct tim_core *)(uintptr_t)context;

    return least_fetched(core, first, members, core->now) != 0;
}

/** Reads a line of the instruction cache for several warps. Returns false if the cache does not have the line; the warps
 *  then wait for it. Sets *blocked if the line could not be requested, either. */
static bool read_together(struct tim_core *core, unsigned first, uint64_t members, uint64_t line, const uint64_t mask[4],
                          bool *blocked, uint64_t now)
{
    uint64_t *count = core->stats->count, fetches = count[TIM_CORE_fetches] + 1, misses = count[TIM_CORE_fetch_misses] + 1;

    if (core->config->fetch_perfect || tim_cache_read_whole(core->icache, line) || tim_cache_read_hit(core->icache, line, mask)) {
        count[TIM_CORE_fetches]++;
        ahead_follow(core, line);
        return true;
    }
    for (LW_EACH_BIT(m, members)) { /* the first warp requests the line; the other warps join its miss */
        if (!fetch_below(core, first + (unsigned)m, line, mask, now)) {
            *blocked = count[TIM_CORE_fetches] < fetches;
            break;
        }
        count[TIM_CORE_fetches] = fetches;
        count[TIM_CORE_fetch_misses] = misses;
    }
    return false;
}

static enum tim_mech_fetched fetch_together(const void *context, unsigned first, uint64_t members)
{
    struct tim_core *core = (struct tim_core *)(uintptr_t)context;
    const struct tim_config *c = core->config;
    const uint64_t now = core->now;
    const bool alone = (members & (members - 1)) == 0;
    bool blocked = false;

    members = least_fetched(core, first, members, now);
    if (members == 0)
        return TIM_FETCHED_NOT;
    if (tim_has_levels(core) && alone) {
        bool got = fetch(core, first + lw_lowest(members), now);

        core->moved |= got;
        return got ? TIM_FETCHED_NEAR : TIM_FETCHED_NOT;
    }
    const struct tim_warp *leader = &core->warp[first + lw_lowest(members)];
    uint64_t address = fetch_address(c, leader), line = address & ~(uint64_t)(c->fetch_cache_line - 1), mask[4];
    unsigned count = TIM_MAX_BUFFER;
    for (LW_EACH_BIT(m, members)) {
        unsigned room = fetch_count(c, &core->warp[first + (unsigned)m], address, line);

        count = room < count ? room : count;
    }
    byte_mask(mask, (unsigned)(address - line), count * c->fetch_word_bytes);
    if (leader->held == line + 1 || read_together(core, first, members, line, mask, &blocked, now))
        for (LW_EACH_BIT(m, members))
            fill_buffer(core, first + (unsigned)m, count, now);
    if (blocked)
        return TIM_FETCHED_NOT;
    core->moved = true;
    if (tim_has_levels(core))
        core->front->taken++;
    return TIM_FETCHED;
}

static __attribute__((noinline)) void fetch_by_mechanism(struct tim_core *core, uint64_t now)
{
    uint64_t may[TIM_MAX_WARPS / 64];
    struct tim_mech_fetch phase = {.context = core, .levels = tim_has_levels(core), .may = may, .wants = fetch_is_wanted,
                                   .fetch = fetch_together,
                                   .ports = tim_has_levels(core) ? core->config->fetch_ports : core->config->fetch_width};

    assert(core->now == now);
    memset(may, 0xff, sizeof may);
    for (unsigned i = 0; tim_quick(core) && i < TIM_MAX_WARPS / 64; i++) {
        may[i] = 0;
        for (LW_EACH_BIT(b, i < tim_warp_words(core) ? core->hot.set[i].may_fetch : 0)) {
            const unsigned warp = i * 64 + (unsigned)b;

            if (!wants_fetch(core, &core->warp[warp]))
                tim_set(&tim_sets_of(core, warp)->may_fetch, warp, false);
            else if (now >= core->warp[warp].fetch_from)
                may[i] |= UINT64_C(1) << b;
        }
    }
    core->mechs.fetches->row->fetches(core->mechs.fetches, &phase);
}

/** Returns whether a rule other than fetch.policy lrr chooses the warps that fetch. */
static inline bool fetches_otherwise(const struct tim_core *core)
{
    return tim_fetches_greedily(core) || (tim_acts() && core->mechs.fetches != NULL);
}

/* Does what tim_fetch_tick() does for all warps, but visits only the warps in the sets may_fetch and may_ask. */
static void fetch_for_some(struct tim_core *core, uint64_t now)
{
    const struct tim_sets *set = core->hot.set;
    unsigned words = tim_warp_words(core), left = core->config->fetch_width;
    unsigned i = words == 1 ? 0 : core->fetch_next / 64;
    uint64_t before = lw_mask(core->fetch_next % 64); /* warps of the same word before fetch_next, which are the last in the
                                                       * rotation */

    for (unsigned s = 0; tim_fetches_greedily(core) && s < core->config->issue_schedulers; s++)
        fetch_greedily(core, s, now);
    if (tim_acts() && core->mechs.fetches != NULL)
        fetch_by_mechanism(core, now);
    /* The loop visits the word that contains fetch_next twice: first the warps from fetch_next on, at the end the warps
     * before it. */
    for (unsigned k = 0; !fetches_otherwise(core) && k <= words && left != 0; k++) {
        uint64_t some = set[i].may_fetch;

        if (k == 0)
            some &= ~before;
        else if (k == words)
            some &= before;
        left = fetch_for(core, i, some, left, now);
        i = i + 1 < words ? i + 1 : 0;
    }
    for (unsigned i = 0; i < tim_warp_words(core); i++)
        for (LW_EACH_BIT(b, core->hot.set[i].may_ask)) {
            unsigned warp = i * 64 + (unsigned)b;
            struct tim_warp *w = &core->warp[warp];
            bool runs = w->used && !w->ended && w->split >= 0;

            if (runs)
                ask_constants(core, warp, now);
            if (!runs || !misses_constant(w))
                tim_set(&tim_sets_of(core, warp)->may_ask, warp, false);
        }
}

static inline uint64_t tim_fetch_next(const struct tim_core *core, uint64_t now)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < tim_warp_words(core); i++) {
        for (LW_EACH_BIT(b, core->hot.set[i].may_fetch)) {
            uint64_t at = core->warp[i * 64 + b].fetch_from;
            if (at > now && at < next)
                next = at;
        }
        for (LW_EACH_BIT(b, core->hot.set[i].may_ask)) {
            const struct tim_warp *w = &core->warp[i * 64 + b];
            /* a constant is requested one cycle before its instruction can issue */
            for (unsigned k = 0; k < w->buffered; k++) {
                uint64_t at = w->buffer[k].arrives - 1;
                if (w->buffer[k].constant && !w->buffer[k].constant_there && at > now && at < next)
                    next = at;
            }
        }
    }
    return next;
}

static void tim_fetch_tick(struct tim_core *core, uint64_t now)
{
    const struct tim_config *c = core->config;
    unsigned left = c->fetch_width, first = core->fetch_next;

    if (tim_quick(core)) {
        fetch_for_some(core, now);
        return;
    }
    for (unsigned s = 0; tim_fetches_greedily(core) && s < c->issue_schedulers; s++)
        fetch_greedily(core, s, now);
    if (core->mechs.fetches != NULL)
        fetch_by_mechanism(core, now);
    for (unsigned k = 0; !fetches_otherwise(core) && k < c->core_warps && left != 0; k++) {
        unsigned warp = (first + k) % c->core_warps;
        struct tim_warp *w = &core->warp[warp];
        if (!wants_fetch(core, w) || now < w->fetch_from)
            continue;
        if (fetch(core, warp, now)) {
            core->moved = true;
            left--;
            core->fetch_next = (warp + 1) % c->core_warps;
        }
    }
    for (unsigned warp = 0; warp < c->core_warps; warp++) {
        struct tim_warp *w = &core->warp[warp];
        if (!w->used || w->ended || w->split < 0)
            continue;
        ask_constants(core, warp, now);
        if (tim_dependence(core) == TIM_DEP_VECTOR)
            tim_depend_enter(core, w);
    }
}
