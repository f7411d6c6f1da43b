/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event-driven memory side. Its parts are the channels, the L2 slices and the output ports of both networks. A timing
 * wheel has for each cycle the set of parts to tick. A part that is ticked schedules its next tick. A part that passes
 * a packet or request to another part, or frees space for it, schedules a tick of that part. An unnecessary tick changes
 * nothing; a missing tick would make results differ from the reference (tests/timing/prop_tim_memory.c).
 *
 * On `fermi` the ticks take 8.9 million host instructions for gemm and 23.0 million for bfs. The ticks of the reference
 * (tim_reference_memory.c), which gives the same cycles, take 87.0 million and 214 million (callgrind).
 */
#include "timing/mem/tim_mem_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };
enum phase { CHANNELS, SLICES, REPLIES, REQUESTS, PHASES };

struct tim_wheel {
    uint64_t now;            /* the cycle to which `due` belongs */
    unsigned words;          /* number of words of a set of parts */
    unsigned from[PHASES + 1]; /* [phase] index of the first word, in a set of parts, for the parts of the phase */
    uint64_t map[BUCKETS / 64]; /* set of buckets that are not empty */
    uint64_t *bucket; /* [cycle mod BUCKETS][word] sets of the parts to tick in later cycles */
    uint64_t due[];   /* set of the parts to tick in cycle `now` */
};

/* ---- the wheel ------------------------------------------------------------------------------- */

static struct tim_wheel *create_wheel(const struct tim_config *config)
{
    const unsigned parts[PHASES] = {config->dram_channels, config->l2_slices, config->core_count,
                                    config->l2_slices};
    unsigned from[PHASES + 1] = {0};

    for (unsigned p = 0; p < PHASES; p++)
        from[p + 1] = from[p] + (parts[p] + 63) / 64;
    struct tim_wheel *w = calloc(1, sizeof *w + (BUCKETS + 1) * sizeof *w->due * from[PHASES]);
    if (w == NULL)
        return NULL;
    memcpy(w->from, from, sizeof from);
    w->words = from[PHASES];
    w->bucket = w->due + w->words;
    return w;
}

/** Schedules a tick of part @part of @phase in cycle @cycle, or in the current cycle if @cycle is not in the future. If
 *  @cycle is BUCKETS cycles away or more, schedules an earlier tick, which then schedules the next one. */
static inline void wake(struct tim_mem *mem, enum phase phase, unsigned part, uint64_t cycle)
{
    struct tim_wheel *w = mem->wheel;
    uint64_t bit = UINT64_C(1) << part % 64;
    unsigned word = w->from[phase] + part / 64, b;

    if (cycle <= w->now) {
        w->due[word] |= bit;
        return;
    }
    if (cycle - w->now >= BUCKETS)
        cycle = w->now + BUCKETS - 1;
    b = cycle % BUCKETS;
    w->bucket[b * w->words + word] |= bit;
    w->map[b / 64] |= UINT64_C(1) << b % 64;
}

static inline void wake_at_edge(struct tim_mem *mem, enum phase phase, unsigned part,
                                const struct tim_clock *clock, uint64_t edge)
{
    wake(mem, phase, part, tim_clock_cycle(clock, edge));
}

/** Begins cycle @now: adds the parts of its bucket to `due`. */
static void advance(struct tim_mem *mem, uint64_t now)
{
    struct tim_wheel *w = mem->wheel;
    unsigned b = now % BUCKETS;

    if (w->now >= now)
        return;
    w->now = now;
    if ((w->map[b / 64] >> b % 64 & 1) == 0)
        return;
    w->map[b / 64] &= ~(UINT64_C(1) << b % 64);
    for (unsigned i = 0; i < w->words; i++) {
        w->due[i] |= w->bucket[b * w->words + i];
        w->bucket[b * w->words + i] = 0;
    }
}

void tim_fast_wake_all(struct tim_mem *mem, uint64_t now)
{
    const unsigned parts[PHASES] = {mem->config->dram_channels, mem->config->l2_slices, mem->config->core_count, mem->config->l2_slices};

    if (now != 0)
        advance(mem, now - 1);
    for (unsigned p = 0; p < PHASES; p++)
        for (unsigned i = 0; i < parts[p]; i++)
            wake(mem, p, i, now);
}

/* ---- channels -------------------------------------------------------------------------------- */

/** Returns whether a request of the bank is in the queue that DRAM serves first. */
static bool has_high(const struct tim_mem *mem, const struct tim_aim *a)
{
    for (uint32_t i = a->first; i != TIM_NONE; i = mem->request[i].next_of_bank)
        if (mem->request[i].high)
            return true;
    return false;
}

/** Called when the requests or the open DRAM row (here: row) of a bank have changed: determines the bank's target and command.
 *  Selects the target by the same rule as target_of() in tim_reference_memory.c. */
static void aim(const struct tim_mem *mem, struct tim_channel *channel, unsigned bank)
{
    const struct tim_bank *b = &channel->bank[bank];
    struct tim_aim *a = &channel->aim[bank];
    unsigned cap = mem->config->dram_row_cap;
    uint32_t hit = TIM_NONE, other = TIM_NONE, target;

    if (mem->config->dram_policy == TIM_DRAM_FCFS) { /* FCFS considers only the oldest request of the channel */
        target = a->first != TIM_NONE && a->first == channel->queue[0] ? a->first : TIM_NONE;
    } else {
        const bool high = mem->medic != NULL && has_high(mem, a);

        for (uint32_t i = a->first; i != TIM_NONE; i = mem->request[i].next_of_bank) {
            const struct tim_request *r = &mem->request[i];

            if (r->started) { /* a request with transferred bursts goes first, even if a refresh has closed its row */
                hit = i;
                break;
            }
            if (high && !r->high)
                continue;
            if (r->row == b->row) {
                hit = hit == TIM_NONE ? i : hit;
                if (cap == 0)
                    break;
            } else if (other == TIM_NONE) {
                other = i;
            }
        }
        target = hit == TIM_NONE ? other
                 : other != TIM_NONE && cap != 0 && b->streak >= cap &&
                         !mem->request[hit].started
                     ? other : hit;
    }
    channel->waiting[a->command] &= ~(UINT64_C(1) << bank);
    a->target = target;
    if (target == TIM_NONE)
        return;
    a->order = mem->request[target].order;
    if (mem->request[target].row == b->row) {
        a->command = mem->request[target].write ? TIM_WRITE : TIM_READ;
        a->ready = b->col_ok;
    } else if (b->row == TIM_NO_ROW) {
        a->command = TIM_ACTIVATE;
        a->ready = b->act_ok;
    } else {
        a->command = TIM_PRECHARGE;
        a->ready = b->pre_ok;
    }
    channel->waiting[a->command] |= UINT64_C(1) << bank;
}

/** Returns true if the new request @fresh certainly does not change the target of its bank. There are two cases. First, one
 *  of the two requests is `high` (MeDiC) and the other is not: true if the target is `high` or has started. Second, both are
 *  `high` or neither is: true if the target's row is open and the number of requests per open row is not limited
 *  (dram.row_cap). Also true if neither the target's row nor the row of @fresh is open. */
static bool keeps_aim(const struct tim_mem *mem, const struct tim_channel *channel,
                      const struct tim_request *fresh)
{
    uint32_t target = channel->aim[fresh->bank].target, row = channel->bank[fresh->bank].row;

    if (target == TIM_NONE || mem->config->dram_policy == TIM_DRAM_FCFS)
        return false;
    if (mem->request[target].high != fresh->high)
        return !fresh->high || mem->request[target].started;
    return mem->request[target].row == row ? mem->config->dram_row_cap == 0 : fresh->row != row;
}

void tim_fast_requested(struct tim_mem *mem, struct tim_channel *channel, uint32_t request)
{
    struct tim_request *r = &mem->request[request];
    struct tim_aim *a = &channel->aim[r->bank];

    r->order = channel->orders++ | (r->high ? 0 : TIM_LOW);
    r->next_of_bank = TIM_NONE;
    if (a->first == TIM_NONE)
        a->first = request;
    else
        mem->request[a->last].next_of_bank = request;
    a->last = request;
    if (!keeps_aim(mem, channel, r))
        aim(mem, channel, r->bank);
    wake_at_edge(mem, CHANNELS, channel->index, &mem->dram, r->since);
}

/** Removes a request from its bank's list. */
static void forget(struct tim_mem *mem, struct tim_aim *a, uint32_t request)
{
    uint32_t next = mem->request[request].next_of_bank, at = a->first;

    if (at == request) {
        a->first = next;
        return;
    }
    while (mem->request[at].next_of_bank != request)
        at = mem->request[at].next_of_bank;
    mem->request[at].next_of_bank = next;
    if (a->last == request)
        a->last = at;
}

/** Called after a burst: computes the edges from which on the channel allows the next read and the next write. */
static void limit_bursts(const struct tim_mem *mem, struct tim_channel *channel)
{
    const struct tim_config *c = mem->config;
    uint64_t bus = channel->bus_free, read, write; /* bus: edge at which the data of the last burst ends */

    read = bus > c->dram_tCL ? bus - c->dram_tCL : 0;
    write = bus > c->dram_tWL ? bus - c->dram_tWL : 0;
    read = read < channel->read_ok ? channel->read_ok : read;
    channel->limit[TIM_READ] = read < channel->col_ok ? channel->col_ok : read;
    channel->limit[TIM_WRITE] = write < channel->col_ok ? channel->col_ok : write;
}

/** Transfers a burst of the target of bank @bank, which may complete the request. */
static void column(struct tim_mem *mem, struct tim_channel *channel, unsigned bank, uint64_t edge)
{
    struct tim_aim *a = &channel->aim[bank];
    uint32_t request = a->target;
    unsigned at = 0, slice = mem->request[request].slice;
    bool write = mem->request[request].write;

    if (mem->request[request].bursts > 1) {
        tim_channel_column(mem, channel, request, at, edge);
        limit_bursts(mem, channel);
        return;
    }
    while (channel->queue[at] != request)
        at++;
    forget(mem, a, request);
    tim_channel_column(mem, channel, request, at, edge);
    limit_bursts(mem, channel);
    aim(mem, channel, bank);
    if (mem->config->dram_policy == TIM_DRAM_FCFS && channel->count != 0)
        aim(mem, channel, mem->request[channel->queue[0]].bank);
    if (!write) {
        const struct tim_list *fills = &mem->slice[slice].fills;

        wake_at_edge(mem, SLICES, slice, &mem->l2,
                     tim_clock_edge(&mem->l2, mem->request[fills->last].when));
    }
    for (unsigned w = 0; w < 4; w++) { /* the queue has space again, so L2 slices that waited for it may continue */
        for (LW_EACH_BIT(k, channel->capacity_waits[w]))
            wake(mem, SLICES,
                 (w * 64 + (unsigned)k) * mem->config->dram_channels + channel->index,
                 mem->wheel->now);
        channel->capacity_waits[w] = 0;
    }
}

/** Returns the bank whose command is given at @edge, or TIM_NONE if no command is given. Column commands have priority over
 *  row commands, and older requests over younger ones. Sets *next to an edge before which no other command becomes possible. */
static unsigned choose(const struct tim_channel *channel, uint64_t edge, uint64_t *next)
{
    const uint64_t *limit = channel->limit;
    uint64_t oldest = UINT64_MAX;
    unsigned best = TIM_NONE;

    *next = UINT64_MAX;
    for (unsigned k = 0; k < TIM_COMMANDS; k++) {
        if (k == TIM_ACTIVATE && best != TIM_NONE)
            break;
        if (channel->waiting[k] == 0)
            continue;
        if (limit[k] > edge) {
            *next = limit[k] < *next ? limit[k] : *next;
            continue;
        }
        for (LW_EACH_BIT(bank, channel->waiting[k])) {
            const struct tim_aim *a = &channel->aim[bank];

            if (a->ready > edge) {
                *next = a->ready < *next ? a->ready : *next;
            } else if (a->order < oldest) {
                oldest = a->order;
                best = (unsigned)bank;
            }
        }
    }
    return best;
}

/** Runs edge @edge of a channel. Returns the next edge at which the channel may have work. */
static uint64_t tick_channel(struct tim_mem *mem, struct tim_channel *channel, uint64_t edge)
{
    const uint64_t *limit = channel->limit;
    uint64_t next;
    unsigned bank = choose(channel, edge, &next);

    if (bank == TIM_NONE)
        return next;
    switch (channel->aim[bank].command) {
    case TIM_ACTIVATE:
        tim_channel_activate(mem, channel, bank,
                             mem->request[channel->aim[bank].target].row, edge);
        channel->limit[TIM_ACTIVATE] = channel->act_ok;
        aim(mem, channel, bank);
        break;
    case TIM_PRECHARGE:
        tim_channel_precharge(mem, channel, bank, edge);
        aim(mem, channel, bank);
        break;
    default:
        column(mem, channel, bank, edge);
        break;
    }
    next = UINT64_MAX;
    for (unsigned k = 0; k < TIM_COMMANDS; k++)
        if (channel->waiting[k] != 0 && limit[k] < next)
            next = limit[k];
    return next > edge ? next : edge + 1;
}

/** Runs edge @edge of a channel with refresh, and returns the same as tick_channel(). */
static uint64_t tick_refreshed(struct tim_mem *mem, struct tim_channel *channel, uint64_t edge)
{
    bool closed, refreshes = tim_channel_refresh(mem, channel, edge, &closed);
    uint64_t over = channel->count != 0 ? tim_channel_refresh_over(mem, channel, edge) : UINT64_MAX, next;

    for (unsigned b = 0; closed && b < mem->config->dram_banks; b++)
        aim(mem, channel, b);
    if (refreshes)
        return over;
    next = tick_channel(mem, channel, edge);
    return next < over ? next : over;
}

static void channel_due(struct tim_mem *mem, unsigned index, uint64_t edge, uint64_t end)
{
    const bool refreshed = mem->config->dram_tREFI != 0;

    while (edge < end)
        edge = refreshed ? tick_refreshed(mem, &mem->channel[index], edge) : tick_channel(mem, &mem->channel[index], edge);
    if (edge != UINT64_MAX)
        wake_at_edge(mem, CHANNELS, index, &mem->dram, edge);
}

/* ---- L2 slices ---------------------------------------------------------------------------------- */

/** Schedules the next tick of the L2 slice, at edge @next or later. @done: the slice did something at the preceding edge. */
static void arm_slice(struct tim_mem *mem, struct tim_slice *slice, uint64_t next, bool done)
{
    const struct tim_list *input = &mem->requests.out[slice->index];
    struct tim_channel *channel = &mem->channel[slice->channel];
    bool room = tim_channel_has_capacity(mem, channel), waits = slice->writes.count != 0;
    uint64_t at = UINT64_MAX, edge;

    if (slice->pipe.count != 0 && mem->replies.in[slice->index].count < mem->replies.in_capacity)
        at = mem->node[slice->pipe.first].when;
    if (slice->fills.count != 0) {
        edge = tim_clock_edge(&mem->l2, mem->request[slice->fills.first].when);
        at = edge < at ? edge : at;
    }
    if (input->count != 0) {
        edge = tim_clock_edge(&mem->l2, mem->node[input->first].when);
        if (edge >= next || done) { /* the packet arrives later, or may proceed because the L2 slice has just done something */
            at = edge < at ? edge : at;
        } else {
            waits = true;
            if (slice->busy >= next)
                at = slice->busy < at ? slice->busy : at;
        }
    }
    if (waits && !room)
        channel->capacity_waits[slice->part / 64] |= UINT64_C(1) << slice->part % 64;
    if (slice->writes.count != 0 && room)
        at = next;
    if (at != UINT64_MAX)
        wake_at_edge(mem, SLICES, slice->index, &mem->l2, at > next ? at : next);
}

static bool tick_slice(struct tim_mem *mem, struct tim_slice *slice, uint64_t edge, uint64_t now)
{
    const struct tim_list *input = &mem->requests.out[slice->index];
    bool full = input->count >= mem->requests.out_capacity;
    bool done = tim_slice_tick(mem, slice, edge, now);

    if (full && input->count < mem->requests.out_capacity) /* the crossbar may move packets to the L2 slice again */
        wake(mem, REQUESTS, slice->index, now);
    return done;
}

/* ---- ports ----------------------------------------------------------------------------------- */

static enum phase phase_of(const struct tim_mem *mem, const struct tim_net *net)
{
    return net == &mem->replies ? REPLIES : REQUESTS;
}

void tim_fast_first(struct tim_mem *mem, struct tim_net *net, unsigned input, uint64_t edge)
{
    unsigned output = mem->node[net->in[input].first].to;

    net->wants[output * net->want_words + input / 64] |= UINT64_C(1) << input % 64;
    if (edge < net->in_free[input])
        edge = net->in_free[input];
    if (edge < net->out_free[output])
        edge = net->out_free[output];
    wake_at_edge(mem, phase_of(mem, net), output, &mem->icnt, edge);
}

/** Returns the input that @output serves at @edge, by round robin from next_input on. If there is none, returns net->inputs
 *  and sets *next to the first edge at which an input with a packet for the output is free. */
static unsigned pick_input(const struct tim_net *net, unsigned output, uint64_t edge,
                           uint64_t *next)
{
    const uint64_t *wants = &net->wants[output * net->want_words];
    unsigned next_input = net->next_input[output];

    *next = UINT64_MAX;
    for (unsigned k = 0; k <= net->want_words; k++) { /* visits the word that contains next_input twice: first the inputs
                                                       * from next_input on, at the end the inputs before it */
        unsigned word = net->want_words == 1 ? 0 : (next_input / 64 + k) % net->want_words;
        uint64_t set = wants[word];

        if (k == 0)
            set &= ~lw_mask(next_input % 64);
        else if (k == net->want_words)
            set &= lw_mask(next_input % 64);
        for (LW_EACH_BIT(b, set)) {
            unsigned input = word * 64 + (unsigned)b;

            if (net->in_free[input] <= edge)
                return input;
            *next = net->in_free[input] < *next ? net->in_free[input] : *next;
        }
    }
    return net->inputs;
}

/** Runs edge @edge of an output port. Returns the next edge at which the port may have work if no packet arrives and the
 *  receiver takes none. Returns UINT64_MAX if there is no such edge. */
static uint64_t tick_port(struct tim_mem *mem, struct tim_net *net, unsigned output, uint64_t edge,
                          uint64_t now)
{
    bool after = net == &mem->requests;
    uint64_t next;
    uint32_t index;
    unsigned input;
    bool full;

    if (net->out[output].count >= net->out_capacity) /* no tick is needed: the receiver schedules one when there is space */
        return UINT64_MAX;
    input = pick_input(net, output, edge, &next);
    if (input == net->inputs)
        return next;
    if (net->out_free[output] > edge)
        return net->out_free[output];
    full = net->in[input].count >= net->in_capacity;
    index = tim_net_grant(mem, net, input, output, edge, now, after);
    net->wants[output * net->want_words + input / 64] &= ~(UINT64_C(1) << input % 64);
    if (net->in[input].count != 0)
        tim_fast_first(mem, net, input, edge + 1);
    if (net == &mem->requests)
        wake_at_edge(mem, SLICES, output, &mem->l2,
                     tim_clock_edge(&mem->l2, mem->node[index].when));
    else if (full) /* the L2 slice may have waited for space at its port; its phase of this cycle is over */
        wake_at_edge(mem, SLICES, input, &mem->l2, tim_clock_edge(&mem->l2, now + 1));
    for (unsigned w = 0; w < net->want_words; w++)
        if (net->wants[output * net->want_words + w] != 0)
            return net->out_free[output];
    return UINT64_MAX;
}

/* ---- operations ------------------------------------------------------------------------------ */

/** Runs edge @edge of an L2 slice or port. @last: it is the last edge in cycle @now, so the next tick is scheduled. */
static inline void tick_part(struct tim_mem *mem, enum phase phase, unsigned part, uint64_t edge, bool last, uint64_t now)
{
    if (phase == SLICES) {
        const bool done = tick_slice(mem, &mem->slice[part], edge, now);
        if (last)
            arm_slice(mem, &mem->slice[part], edge + 1, done);
        return;
    }
    const uint64_t next = tick_port(mem, phase == REPLIES ? &mem->replies : &mem->requests, part, edge, now);
    if (last && next != UINT64_MAX)
        wake_at_edge(mem, phase, part, &mem->icnt, next);
}

/** Returns whether a part of the phase is due. */
static inline bool any_due(const struct tim_mem *mem, enum phase phase)
{
    const struct tim_wheel *wheel = mem->wheel;
    uint64_t any = 0;

    for (unsigned w = wheel->from[phase]; w < wheel->from[phase + 1]; w++)
        any |= wheel->due[w];
    return any != 0;
}

/** Runs the parts of a phase that are due in cycle @now, at each edge of their clock in the cycle. If the clock has no
 *  edge in the cycle, the parts are ticked in the cycle of the next edge. */
static __attribute__((noinline)) void parts_due(struct tim_mem *mem, enum phase phase, const struct tim_clock *clock,
                                                uint64_t now)
{
    uint64_t *due = &mem->wheel->due[mem->wheel->from[phase]];
    const unsigned words = mem->wheel->from[phase + 1] - mem->wheel->from[phase];

    const uint64_t edge = tim_clock_edge(clock, now), end = tim_clock_edge(clock, now + 1);
    for (uint64_t e = edge; e < end && phase != CHANNELS; e++)
        for (unsigned w = 0; w < words; w++)
            for (LW_EACH_BIT(b, due[w]))
                tick_part(mem, phase, w * 64 + (unsigned)b, e, e + 1 == end, now);
    for (unsigned w = 0; w < words; w++) {
        const uint64_t left = phase == CHANNELS || edge == end ? due[w] : 0;

        due[w] = 0;
        for (LW_EACH_BIT(b, left)) {
            if (phase == CHANNELS)
                channel_due(mem, w * 64 + (unsigned)b, edge, end);
            else
                wake_at_edge(mem, phase, w * 64 + (unsigned)b, clock, edge);
        }
    }
}

static void tick_replies(struct tim_memory *memory, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    advance(mem, now);
    if (any_due(mem, CHANNELS))
        parts_due(mem, CHANNELS, &mem->dram, now);
    if (any_due(mem, SLICES))
        parts_due(mem, SLICES, &mem->l2, now);
    if (any_due(mem, REPLIES))
        parts_due(mem, REPLIES, &mem->icnt, now);
}

static void tick_requests(struct tim_memory *memory, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    advance(mem, now);
    if (any_due(mem, REQUESTS))
        parts_due(mem, REQUESTS, &mem->icnt, now);
}

static unsigned send(struct tim_memory *memory, const struct tim_packet *packet, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    assert(tim_mem_can_send(memory, packet->core));
    advance(mem, now);
    return tim_net_push(mem, &mem->requests, packet->core, tim_mem_enter(mem, packet, now), now);
}

static bool receive(struct tim_memory *memory, unsigned core, uint64_t now,
                    struct tim_packet *out)
{
    struct tim_mem *mem = (struct tim_mem *)memory;
    bool full = mem->replies.out[core].count >= mem->replies.out_capacity;

    if (!tim_mem_leave(mem, core, now, out))
        return false;
    if (full) { /* the output port has space again, but its phase of this cycle is over */
        advance(mem, now);
        wake_at_edge(mem, REPLIES, core, &mem->icnt, tim_clock_edge(&mem->icnt, now + 1));
    }
    return true;
}

static uint64_t next(const struct tim_memory *memory, uint64_t now)
{
    const struct tim_wheel *w = ((const struct tim_mem *)memory)->wheel;
    unsigned start = (unsigned)((now + 1) % BUCKETS);

    for (unsigned k = 0; k <= BUCKETS / 64; k++) {
        unsigned word = (start / 64 + k) % (BUCKETS / 64);
        uint64_t set = w->map[word];

        if (k == 0)
            set &= ~lw_mask(start % 64);
        else if (k == BUCKETS / 64)
            set &= lw_mask(start % 64);
        if (set != 0)
            return now + 1 + (word * 64 + lw_lowest(set) + BUCKETS - start) % BUCKETS;
    }
    return UINT64_MAX;
}

static const struct tim_memory_ops fast_ops = {
    .name = "fast",
    .destroy = tim_mem_destroy,
    .tick_replies = tick_replies,
    .tick_requests = tick_requests,
    .can_send = tim_mem_can_send,
    .send = send,
    .receive = receive,
    .next = next,
    .set_slow = tim_mem_set_slow,
    .in_flight = tim_mem_in_flight,
    .slice_stats = tim_mem_slice_stats,
    .channel_stats = tim_mem_channel_stats,
    .show = tim_mem_show,
    .slice_cache = tim_mem_slice_cache,
};

struct tim_memory *tim_memory_fast_create(const struct tim_config *config)
{
    struct tim_mem *mem = tim_mem_create(config, &fast_ops);

    if (mem == NULL)
        return NULL;
    mem->wheel = create_wheel(config);
    if (mem->wheel != NULL)
        return &mem->base;
    tim_mem_destroy(&mem->base);
    return NULL;
}
