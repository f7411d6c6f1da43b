/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A DRAM channel: banks with a row buffer each, which holds the open DRAM row (here: row), a queue of requests (each is one or
 * more bursts of one line), and at most one command per edge. This file implements the effects of commands. The two
 * implementations of the memory side select the commands (tim_memory_fast.c, tim_reference_memory.c).
 */
#include "timing/mem/tim_mem_priv.h"

#include <string.h>

void tim_channel_push(struct tim_mem *mem, struct tim_channel *channel, uint32_t request,
                      uint64_t now)
{
    struct tim_request *r = &mem->request[request];

    r->since = tim_clock_edge(&mem->dram, now + 1);
    if (channel->count == 0 && channel->counted < r->since)
        channel->counted = r->since;
    tim_histogram_add(&channel->stats.histogram[TIM_CHANNEL_H_queue], channel->count);
    channel->queue[channel->count++] = request;
    channel->stats.count[TIM_CHANNEL_medic_high] += r->high;
    if (mem->wheel != NULL)
        tim_fast_requested(mem, channel, request);
}

/* ---- refresh ---------------------------------------------------------------------------------- */

/** Returns the number of the latest refresh of the channel that has begun by @edge, counted from 1, and sets *begun to the
 *  edge at which it began. Returns 0 if none has begun. */
static uint64_t latest_refresh(const struct tim_mem *mem, const struct tim_channel *channel, uint64_t edge,
                               uint64_t *begun)
{
    const struct tim_config *c = mem->config;
    uint64_t first = c->dram_tREFI + (uint64_t)c->dram_tREFI * channel->index / c->dram_channels;

    if (c->dram_tREFI == 0 || edge < first)
        return 0;
    *begun = edge - (edge - first) % c->dram_tREFI;
    return 1 + (edge - first) / c->dram_tREFI;
}

bool tim_channel_refresh(const struct tim_mem *mem, struct tim_channel *channel, uint64_t edge, bool *closed)
{
    uint64_t begun = 0, number = latest_refresh(mem, channel, edge, &begun);

    *closed = number != channel->refreshed;
    if (number == 0)
        return false;
    for (unsigned b = 0; *closed && b < mem->config->dram_banks; b++) {
        struct tim_bank *bank = &channel->bank[b];

        bank->row = TIM_NO_ROW;
        if (bank->act_ok < begun + mem->config->dram_tRFC)
            bank->act_ok = begun + mem->config->dram_tRFC;
    }
    channel->refreshed = number;
    return edge < begun + mem->config->dram_tRFC;
}

uint64_t tim_channel_refresh_over(const struct tim_mem *mem, const struct tim_channel *channel, uint64_t edge)
{
    const struct tim_config *c = mem->config;
    uint64_t begun = 0;

    if (c->dram_tREFI == 0)
        return UINT64_MAX;
    if (latest_refresh(mem, channel, edge, &begun) == 0)
        begun = (uint64_t)c->dram_tREFI * channel->index / c->dram_channels; /* start of the refresh interval that ends with
                                                                              * the channel's first refresh */
    return begun + c->dram_tRFC > edge ? begun + c->dram_tRFC : begun + c->dram_tREFI + c->dram_tRFC;
}

/* ---- commands -------------------------------------------------------------------------------- */

void tim_channel_activate(struct tim_mem *mem, struct tim_channel *channel, unsigned bank,
                          uint32_t row, uint64_t edge)
{
    const struct tim_config *c = mem->config;
    struct tim_bank *b = &channel->bank[bank];

    b->row = row;
    b->streak = 0;
    b->fresh = true;
    b->col_ok = edge + c->dram_tRCD;
    b->pre_ok = edge + c->dram_tRAS;
    b->act_ok = edge + c->dram_tRC;
    channel->act_ok = edge + c->dram_tRRD;
    channel->stats.count[TIM_CHANNEL_activates]++;
}

void tim_channel_precharge(struct tim_mem *mem, struct tim_channel *channel, unsigned bank,
                           uint64_t edge)
{
    struct tim_bank *b = &channel->bank[bank];

    channel->stats.count[TIM_CHANNEL_precharges] += b->row != TIM_NO_ROW;
    b->row = TIM_NO_ROW;
    if (b->act_ok < edge + mem->config->dram_tRP)
        b->act_ok = edge + mem->config->dram_tRP;
}

/** Records in the trace, on the track of the bank, the time in which a burst is on the data bus. */
static void trace_burst(const struct tim_mem *mem, const struct tim_channel *channel,
                        const struct tim_request *r)
{
    uint64_t from = tim_clock_cycle(&mem->dram, channel->bus_free - mem->burst_cycles);
    uint64_t last = tim_clock_cycle(&mem->dram, channel->bus_free - 1);
    struct tim_packet back = {.sent = from, .core = 0xffff, .warp = 0xffff,
                              .kind = TIM_PACKET_WRITE};

    tim_trace_packet(mem->base.trace, from, TIM_TRACE_DRAM,
                     channel->index * mem->config->dram_banks + r->bank,
                     r->requester != TIM_NONE ? &mem->node[r->requester].packet : &back,
                     (unsigned)(last + 1 - from));
}

bool tim_channel_column(struct tim_mem *mem, struct tim_channel *channel, uint32_t index, unsigned at,
                        uint64_t edge)
{
    const struct tim_config *c = mem->config;
    struct tim_request *r = &mem->request[index];
    struct tim_bank *b = &channel->bank[r->bank];
    uint64_t pre;

    channel->col_ok = edge + c->dram_tCCD;
    channel->bus_free = edge + (r->write ? c->dram_tWL : c->dram_tCL) + mem->burst_cycles;
    pre = r->write ? channel->bus_free + c->dram_tWR : edge + mem->burst_cycles;
    if (b->pre_ok < pre)
        b->pre_ok = pre;
    if (r->write)
        channel->read_ok = channel->bus_free + c->dram_tWTR;
    channel->stats.count[r->write ? TIM_CHANNEL_writes : TIM_CHANNEL_reads]++;
    channel->stats.count[TIM_CHANNEL_row_hits] += !b->fresh;
    channel->stats.count[TIM_CHANNEL_busy_cycles] += mem->burst_cycles;
    channel->stats.count[TIM_CHANNEL_active_cycles] += channel->bus_free - channel->counted;
    channel->counted = channel->bus_free;
    b->fresh = false;
    r->started = true;
    if (mem->base.trace != NULL)
        trace_burst(mem, channel, r);
    if (--r->bursts != 0)
        return false;
    b->streak++;
    channel->stats.count[TIM_CHANNEL_queue_cycles] += edge + 1 - r->since;
    channel->count--;
    memmove(&channel->queue[at], &channel->queue[at + 1],
            (channel->count - at) * sizeof channel->queue[0]);
    if (r->write) {
        tim_request_give(mem, index);
    } else {
        tim_histogram_add(&channel->stats.histogram[TIM_CHANNEL_H_latency],
                          channel->bus_free - r->since);
        r->when = tim_clock_cycle(&mem->dram, channel->bus_free - 1 + c->dram_latency) + 1;
        tim_list_push(mem->request, &mem->slice[r->slice].fills, index);
    }
    return true;
}
