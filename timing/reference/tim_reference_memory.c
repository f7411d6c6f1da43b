/* SPDX-License-Identifier: Apache-2.0 */
/* The memory side of the reference: ticks every part at every edge of its clock, and scans queues. */
#include "timing/mem/tim_mem_priv.h"

#include <assert.h>

/* ---- networks: which packet each output takes ------------------------------------------------------ */

/** Runs edge @edge of a network in cycle @now, output by output. @after is as for tim_net_grant(). */
static void tick_net(struct tim_mem *mem, struct tim_net *net, uint64_t edge, uint64_t now,
                     bool after)
{
    for (unsigned output = 0; output < net->outputs; output++) {
        if (net->out_free[output] > edge || net->out[output].count >= net->out_capacity)
            continue;
        for (unsigned k = 0; k < net->inputs; k++) {
            unsigned input = (net->next_input[output] + k) % net->inputs;

            if (net->in[input].count == 0 || net->in_free[input] > edge ||
                mem->node[net->in[input].first].to != output)
                continue;
            tim_net_grant(mem, net, input, output, edge, now, after);
            break;
        }
    }
}

/* ---- DRAM: which command a channel gives ---------------------------------------------------------- */

/** Returns the position in the channel's queue of the request that bank @bank serves next; the number of requests in the
 *  queue if there is none. */
static unsigned target_of(const struct tim_mem *mem, const struct tim_channel *channel,
                          unsigned bank)
{
    const struct tim_bank *b = &channel->bank[bank];
    unsigned none = channel->count, hit = none, other = none;
    bool high = false; /* a request of the bank is in the queue that DRAM serves first */

    if (mem->config->dram_policy == TIM_DRAM_FCFS)
        return none != 0 && mem->request[channel->queue[0]].bank == bank ? 0 : none;
    for (unsigned i = 0; i < channel->count; i++)
        high |= mem->request[channel->queue[i]].bank == bank && mem->request[channel->queue[i]].high;
    for (unsigned i = 0; i < channel->count; i++) {
        const struct tim_request *r = &mem->request[channel->queue[i]];

        if (r->bank != bank)
            continue;
        if (r->started)
            return i;
        if (high && !r->high)
            continue;
        if (r->row == b->row)
            hit = hit == none ? i : hit;
        else
            other = other == none ? i : other;
    }
    if (hit == none)
        return other;
    if (other != none && mem->config->dram_row_cap != 0 && b->streak >= mem->config->dram_row_cap)
        return other;
    return hit;
}

/** Considers only requests whose member `high` is @high. Gives a column command for the oldest of these requests that permits
 *  one. Returns false if there is no such request. */
static bool give_column(struct tim_mem *mem, struct tim_channel *channel, bool high, uint64_t edge)
{
    const struct tim_config *c = mem->config;

    for (unsigned i = 0; i < channel->count; i++) {
        const struct tim_request *r = &mem->request[channel->queue[i]];
        const struct tim_bank *b = &channel->bank[r->bank];

        if (r->high != high || r->row != b->row || target_of(mem, channel, r->bank) != i || b->col_ok > edge ||
            channel->col_ok > edge || (!r->write && channel->read_ok > edge) ||
            edge + (r->write ? c->dram_tWL : c->dram_tCL) < channel->bus_free)
            continue;
        tim_channel_column(mem, channel, channel->queue[i], i, edge);
        return true;
    }
    return false;
}

/** Considers only requests whose member `high` is @high. Opens or closes a DRAM row for the oldest of these requests that needs
 *  this now. Returns false if there is no such request. */
static bool give_row(struct tim_mem *mem, struct tim_channel *channel, bool high, uint64_t edge)
{
    for (unsigned i = 0; i < channel->count; i++) {
        const struct tim_request *r = &mem->request[channel->queue[i]];
        const struct tim_bank *b = &channel->bank[r->bank];

        if (r->high != high || r->row == b->row || target_of(mem, channel, r->bank) != i)
            continue;
        if (b->row == TIM_NO_ROW && b->act_ok <= edge && channel->act_ok <= edge) {
            tim_channel_activate(mem, channel, r->bank, r->row, edge);
            return true;
        }
        if (b->row != TIM_NO_ROW && b->pre_ok <= edge) {
            tim_channel_precharge(mem, channel, r->bank, edge);
            return true;
        }
    }
    return false;
}

/** Simulates edge number @edge of the DRAM clock for a channel. The channel issues at most one command at each edge. Column
 *  commands have priority. */
static void tick_channel(struct tim_mem *mem, struct tim_channel *channel, uint64_t edge)
{
    bool closed;

    if (tim_channel_refresh(mem, channel, edge, &closed))
        return;
    (void)(give_column(mem, channel, true, edge) || give_column(mem, channel, false, edge) ||
           give_row(mem, channel, true, edge) || give_row(mem, channel, false, edge));
}

/* ---- the parts, one after another --------------------------------------------------------------------------- */

static void tick_replies(struct tim_memory *memory, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    for (uint64_t e = tim_clock_edge(&mem->dram, now); e < tim_clock_edge(&mem->dram, now + 1);
         e++)
        for (unsigned i = 0; i < mem->config->dram_channels; i++)
            tick_channel(mem, &mem->channel[i], e);
    for (uint64_t e = tim_clock_edge(&mem->l2, now); e < tim_clock_edge(&mem->l2, now + 1); e++)
        for (unsigned i = 0; i < mem->config->l2_slices; i++)
            tim_slice_tick(mem, &mem->slice[i], e, now);
    for (uint64_t e = tim_clock_edge(&mem->icnt, now); e < tim_clock_edge(&mem->icnt, now + 1);
         e++)
        tick_net(mem, &mem->replies, e, now, false);
}

static void tick_requests(struct tim_memory *memory, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    for (uint64_t e = tim_clock_edge(&mem->icnt, now); e < tim_clock_edge(&mem->icnt, now + 1);
         e++)
        tick_net(mem, &mem->requests, e, now, true);
}

static unsigned send(struct tim_memory *memory, const struct tim_packet *packet, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    assert(tim_mem_can_send(memory, packet->core));
    return tim_net_push(mem, &mem->requests, packet->core, tim_mem_enter(mem, packet, now), now);
}

static bool receive(struct tim_memory *memory, unsigned core, uint64_t now,
                    struct tim_packet *out)
{
    return tim_mem_leave((struct tim_mem *)memory, core, now, out);
}

static uint64_t next(const struct tim_memory *memory, uint64_t now)
{
    (void)memory;
    return now + 1;
}

static const struct tim_memory_ops reference_ops = {
    .name = "reference",
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

struct tim_memory *tim_memory_reference_create(const struct tim_config *config)
{
    struct tim_mem *mem = tim_mem_create(config, &reference_ops);

    return mem != NULL ? &mem->base : NULL;
}
