/* SPDX-License-Identifier: Apache-2.0 */
/* The memory side: creation, pools, and the operations that both implementations share. */
#include "timing/mem/tim_mem_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- pools ----------------------------------------------------------------------------------- */

static uint32_t take_node(struct tim_mem *mem)
{
    uint32_t index = mem->node_free;

    if (index != TIM_NONE) {
        mem->node_free = mem->node[index].next;
        return index;
    }
    assert(mem->node_fresh < mem->node_count);
    return mem->node_fresh++;
}

static void give_node(struct tim_mem *mem, uint32_t index)
{
    mem->node[index].next = mem->node_free;
    mem->node_free = index;
}

uint32_t tim_request_take(struct tim_mem *mem)
{
    uint32_t index = mem->request_free;

    if (index != TIM_NONE) {
        mem->request_free = mem->request[index].next;
        return index;
    }
    assert(mem->request_fresh < mem->request_count);
    return mem->request_fresh++;
}

void tim_request_give(struct tim_mem *mem, uint32_t index)
{
    mem->request[index].next = mem->request_free;
    mem->request_free = index;
}

/* ---- creation -------------------------------------------------------------------------------- */

static bool create_net(struct tim_net *net, const struct tim_config *config, unsigned inputs,
                       unsigned outputs, unsigned receiver_capacity)
{
    net->inputs = inputs;
    net->outputs = outputs;
    net->in_capacity = config->icnt_queue;
    net->latency = config->icnt_latency;
    net->out_capacity = receiver_capacity + net->latency;
    net->flit_bytes = config->icnt_flit_bytes;
    net->want_words = (inputs + 63) / 64;
    net->in = calloc(inputs, sizeof *net->in);
    net->out = calloc(outputs, sizeof *net->out);
    net->in_free = calloc(inputs, sizeof *net->in_free);
    net->out_free = calloc(outputs, sizeof *net->out_free);
    net->next_input = calloc(outputs, sizeof *net->next_input);
    net->wants = calloc((size_t)outputs * net->want_words, sizeof *net->wants);
    return net->in != NULL && net->out != NULL && net->in_free != NULL && net->out_free != NULL &&
           net->next_input != NULL && net->wants != NULL;
}

static void destroy_net(struct tim_net *net)
{
    free(net->in);
    free(net->out);
    free(net->in_free);
    free(net->out_free);
    free(net->next_input);
    free(net->wants);
}

static bool create_slices(struct tim_mem *mem)
{
    const struct tim_config *c = mem->config;
    const struct tim_cache_shape shape = {
        .bytes = c->l2_bytes, .line = c->l2_line, .sector = c->l2_sector, .ways = c->l2_ways,
        .mshrs = c->l2_mshrs, .merges = c->l2_merges};

    mem->slice = calloc(c->l2_slices, sizeof *mem->slice);
    if (mem->slice == NULL)
        return false;
    for (unsigned i = 0; i < c->l2_slices; i++) {
        struct tim_slice *s = &mem->slice[i];

        s->index = i;
        s->channel = i % c->dram_channels;
        s->part = i / c->dram_channels;
        s->parts = c->l2_slices / c->dram_channels;
        if (c->l2_bytes != 0 && (s->cache = tim_cache_create(&shape)) == NULL)
            return false;
    }
    return true;
}

static bool create_channels(struct tim_mem *mem)
{
    const struct tim_config *c = mem->config;

    mem->channel = calloc(c->dram_channels, sizeof *mem->channel);
    if (mem->channel == NULL)
        return false;
    for (unsigned i = 0; i < c->dram_channels; i++) {
        struct tim_channel *ch = &mem->channel[i];

        ch->index = i;
        ch->queue = calloc(c->dram_queue, sizeof *ch->queue);
        ch->bank = calloc(c->dram_banks, sizeof *ch->bank);
        ch->aim = calloc(c->dram_banks, sizeof *ch->aim);
        if (ch->queue == NULL || ch->bank == NULL || ch->aim == NULL)
            return false;
        for (unsigned b = 0; b < c->dram_banks; b++) {
            ch->bank[b].row = TIM_NO_ROW;
            ch->aim[b].first = ch->aim[b].target = TIM_NONE;
        }
    }
    return true;
}

struct tim_mem *tim_mem_create(const struct tim_config *config, const struct tim_memory_ops *ops)
{
    struct tim_mem *mem = calloc(1, sizeof *mem);
    uint64_t slices = config->l2_slices, nodes, requests;
    uint64_t waiting = (uint64_t)config->l2_mshrs * config->l2_merges;

    if (mem == NULL)
        return NULL;
    mem->base.ops = ops;
    mem->config = config;
    tim_clock_init(&mem->icnt, config->clocks_icnt, config->clocks_core);
    tim_clock_init(&mem->l2, config->clocks_l2, config->clocks_core);
    tim_clock_init(&mem->dram, config->clocks_dram, config->clocks_core);
    mem->burst_cycles = config->dram_burst_bytes / config->dram_bus_bytes;
    mem->line_bytes = config->l2_line;
    tim_divisor_init(&mem->by_slices, config->l2_slices);
    tim_divisor_init(&mem->by_flit_bytes, config->icnt_flit_bytes);
    /* Each packet occupies one entry of a queue, pipe or MSHR, so the number of these entries limits the number of
     * packets. At most a million packets are possible; a core that would send another one waits. */
    nodes = (uint64_t)config->core_count * (2ull * config->icnt_queue + config->icnt_latency) +
            slices * (config->l2_queue + config->icnt_latency + config->l2_latency + waiting +
                      config->icnt_queue);
    if (config->medic_on)
        nodes += slices * config->l2_mshrs;
    if (nodes > 1u << 20)
        nodes = 1u << 20;
    requests = (uint64_t)config->dram_channels * config->dram_queue +
               slices * (config->l2_mshrs * 8ull + 4) + nodes;
    mem->node_count = (uint32_t)nodes;
    mem->request_count = (uint32_t)requests;
    mem->node_free = mem->request_free = TIM_NONE;
    mem->node = lw_reserve(nodes * sizeof *mem->node);
    mem->request = lw_reserve(requests * sizeof *mem->request);
    mem->waiters = calloc(config->l2_merges, sizeof *mem->waiters);
    mem->received = calloc(config->core_count, sizeof *mem->received);
    if (config->medic_on)
        mem->medic = tim_medic_create(config);
    if (mem->node == NULL || mem->request == NULL || mem->waiters == NULL ||
        mem->received == NULL || (config->medic_on && mem->medic == NULL) ||
        !create_net(&mem->requests, config, config->core_count, config->l2_slices,
                    config->l2_queue) ||
        !create_net(&mem->replies, config, config->l2_slices, config->core_count,
                    config->icnt_queue) ||
        !create_slices(mem) || !create_channels(mem)) {
        tim_mem_destroy(&mem->base);
        return NULL;
    }
    return mem;
}

void tim_mem_destroy(struct tim_memory *memory)
{
    struct tim_mem *mem = (struct tim_mem *)memory;

    if (mem == NULL)
        return;
    for (unsigned i = 0; mem->slice != NULL && i < mem->config->l2_slices; i++)
        tim_cache_destroy(mem->slice[i].cache);
    for (unsigned i = 0; mem->channel != NULL && i < mem->config->dram_channels; i++) {
        free(mem->channel[i].queue);
        free(mem->channel[i].bank);
        free(mem->channel[i].aim);
    }
    destroy_net(&mem->requests);
    destroy_net(&mem->replies);
    free(mem->slice);
    free(mem->channel);
    lw_release(mem->node, mem->node_count * sizeof *mem->node);
    lw_release(mem->request, mem->request_count * sizeof *mem->request);
    free(mem->waiters);
    free(mem->received);
    tim_medic_destroy(mem->medic);
    free(mem->wheel);
    free(mem);
}

/* ---- functions of both implementations -------------------------------------------------------------- */

bool tim_mem_can_send(const struct tim_memory *memory, unsigned core)
{
    const struct tim_mem *mem = (const struct tim_mem *)memory;

    return mem->requests.in[core].count < mem->requests.in_capacity &&
           mem->in_flight < mem->node_count;
}

uint32_t tim_mem_enter(struct tim_mem *mem, const struct tim_packet *packet, uint64_t now)
{
    uint32_t index = take_node(mem);
    struct tim_node *node = &mem->node[index];

    assert(packet->core < mem->config->core_count);
    node->packet = *packet;
    node->to = (uint16_t)tim_address_locate(mem->config, &mem->by_slices, packet->line, &node->local);
    tim_packet_flits(mem, packet, &node->flits, &node->answer_flits);
    if (mem->medic != NULL)
        tim_medic_send(mem->medic, node, now);
    mem->in_flight++;
    return index;
}

bool tim_mem_leave(struct tim_mem *mem, unsigned core, uint64_t now, struct tim_packet *out)
{
    struct tim_list *list = &mem->replies.out[core];
    uint32_t index;

    if (list->count == 0 || mem->node[list->first].when > now || mem->received[core] > now)
        return false;
    mem->received[core] = now + 1;
    index = tim_list_pop(mem->node, list);
    *out = mem->node[index].packet;
    give_node(mem, index);
    if (list->count != 0 && mem->node[list->first].when <= now + 1 && mem->base.wake != NULL)
        mem->base.wake(mem->base.context, core, now + 1);
    mem->in_flight--;
    return true;
}

void tim_mem_set_slow(struct tim_memory *memory, bool slow, uint64_t now)
{
    struct tim_mem *mem = (struct tim_mem *)memory;
    const struct tim_config *c = mem->config;
    const uint64_t low = slow ? c->dvfs_low_mhz : 1, high = slow ? c->dvfs_high_mhz : 1;

    if (mem->slow == slow)
        return;
    mem->slow = slow;
    tim_clock_change(&mem->icnt, c->clocks_icnt * low, c->clocks_core * high, now);
    tim_clock_change(&mem->l2, c->clocks_l2 * low, c->clocks_core * high, now);
    tim_clock_change(&mem->dram, c->clocks_dram * low, c->clocks_core * high, now);
    if (mem->wheel != NULL)
        tim_fast_wake_all(mem, now);
}

uint64_t tim_mem_in_flight(const struct tim_memory *memory)
{
    return ((const struct tim_mem *)memory)->in_flight;
}

const struct tim_slice_stats *tim_mem_slice_stats(const struct tim_memory *memory, unsigned slice)
{
    return &((const struct tim_mem *)memory)->slice[slice].stats;
}

const struct tim_channel_stats *tim_mem_channel_stats(const struct tim_memory *memory,
                                                      unsigned channel)
{
    return &((const struct tim_mem *)memory)->channel[channel].stats;
}
