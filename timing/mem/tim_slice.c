/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An L2 slice. The slice looks up requests in order, one per edge. A blocked request blocks later requests. After a hit, a
 * write or a fill, the answer passes through a pipe of l2.latency edges. The slice always accepts data from DRAM, even while a
 * request is blocked, so the requests that wait for the data are always answered.
 */
#include "timing/mem/tim_mem_priv.h"

#include <assert.h>
#include <string.h>

/** The line of L2 that a packet accesses, and the bytes of the packet as a mask of that line. */
struct seen {
    uint64_t line;
    uint64_t mask[4];
};

static void see(const struct tim_mem *mem, const struct tim_node *node, struct seen *out)
{
    const struct tim_packet *packet = &node->packet;
    unsigned shift = (unsigned)(node->local & (mem->line_bytes - 1));

    out->line = node->local - shift;
    if (shift == 0) {
        memcpy(out->mask, packet->mask, sizeof out->mask);
        return;
    }
    for (unsigned w = 4; w-- > 0;) {
        unsigned words = shift / 64, bits = shift % 64;

        out->mask[w] = w < words ? 0 : packet->mask[w - words] << bits;
        if (bits != 0 && w > words)
            out->mask[w] |= packet->mask[w - words - 1] >> (64 - bits);
    }
}

/** Returns the number of bursts with a byte in @mask. */
static unsigned bursts_of(const struct tim_mem *mem, const uint64_t mask[4])
{
    unsigned bytes = mem->config->dram_burst_bytes, n = 0;

    for (unsigned at = 0; at < mem->line_bytes; at += bytes) {
        uint64_t any = 0;

        for (unsigned b = at; b < at + bytes; b += 64 - b % 64 < bytes ? 64 - b % 64 : bytes)
            any |= mask[b / 64] & lw_mask(bytes) << b % 64;
        n += any != 0;
    }
    return n;
}

/** Returns the number of 32-byte sectors with a byte in @mask. */
static unsigned sectors_of(const uint64_t mask[4])
{
    unsigned n = 0;

    for (unsigned w = 0; w < 4; w++)
        n += (unsigned)((mask[w] & UINT32_MAX) != 0) + (unsigned)(mask[w] >> 32 != 0);
    return n;
}

static uint32_t make_request(struct tim_mem *mem, const struct tim_slice *slice, uint64_t line,
                             unsigned bursts, bool write)
{
    uint32_t index = tim_request_take(mem);
    struct tim_request *r = &mem->request[index];

    *r = (struct tim_request){.line = line, .packet = TIM_NONE, .requester = TIM_NONE,
                              .slice = (uint16_t)slice->index, .bursts = (uint8_t)bursts, .write = write};
    tim_dram_locate(mem->config, slice, line, &r->bank, &r->row);
    return index;
}

/** Queues a write of bytes @mask to DRAM. The write is sent when the queue of DRAM has space. */
static void write_below(struct tim_mem *mem, struct tim_slice *slice, uint64_t line,
                        const uint64_t mask[4])
{
    unsigned bursts = bursts_of(mem, mask);

    tim_list_push(mem->request, &slice->writes,
                      make_request(mem, slice, line, bursts, true));
}

/** Writes back the line that an access has evicted, if it is dirty. */
static void write_back(struct tim_mem *mem, struct tim_slice *slice,
                       const struct tim_cache_result *result)
{
    if (!tim_cache_result_is_dirty(result))
        return;
    slice->stats.count[TIM_SLICE_writebacks] +=
        lw_popcount(tim_cache_sectors(slice->cache, result->dirty));
    write_below(mem, slice, result->victim, result->dirty);
}

static void answer(struct tim_mem *mem, struct tim_slice *slice, uint32_t index, uint64_t edge)
{
    mem->node[index].when = edge + mem->config->l2_latency;
    tim_list_push(mem->node, &slice->pipe, index);
}

/** Counts @sectors, which L2 reads, writes or fills, if the memory has the low clock. */
static void count_low(const struct tim_mem *mem, struct tim_slice *slice, unsigned sectors)
{
    slice->stats.count[TIM_SLICE_low_sectors] += mem->slow ? sectors : 0;
}

/** Executes the lane operations of an atomic whose line is present. The operations occupy the L2 slice from @edge on, or from
 *  the end of earlier atomics on. Returns the edge of the last operation. */
static uint64_t operate(struct tim_mem *mem, struct tim_slice *slice, uint32_t index,
                        const struct seen *seen, uint64_t edge)
{
    const struct tim_config *config = mem->config;
    unsigned lanes = mem->node[index].packet.lanes;
    struct tim_cache_result result;
    bool back = config->l2_write == TIM_L2_BACK;

    slice->stats.count[TIM_SLICE_atomics] += lanes;
    count_low(mem, slice, lanes);
    if (slice->cache != NULL)
        tim_cache_write(slice->cache, seen->line, seen->mask, false, back,
                        mem->node[index].packet.warp, &result);
    if (slice->cache == NULL || !back)
        write_below(mem, slice, seen->line, seen->mask);
    if (slice->busy < edge)
        slice->busy = edge;
    slice->busy += (uint64_t)(lanes == 0 ? 1 : lanes) * config->l2_atomic_cycles;
    return slice->busy - 1;
}

static bool is_atomic(const struct tim_packet *packet)
{
    return packet->kind == TIM_PACKET_ATOMIC || packet->kind == TIM_PACKET_REDUCE;
}

/** Answers a packet whose line is present. */
static void serve(struct tim_mem *mem, struct tim_slice *slice, uint32_t index, uint64_t edge)
{
    struct seen seen;

    if (is_atomic(&mem->node[index].packet)) {
        see(mem, &mem->node[index], &seen);
        edge = operate(mem, slice, index, &seen, edge);
    }
    answer(mem, slice, index, edge);
}

/* ---- the look-up ----------------------------------------------------------------------------- */

/** Returns whether the request is blocked. A blocked request remains blocked until data arrives from DRAM, so the fast
 *  implementation does not repeat the look-up before that. */
static bool is_blocked(const struct tim_mem *mem, struct tim_slice *slice,
                       const struct tim_cache_result *result)
{
    bool blocked = tim_cache_is_blocked(result->answer);

    slice->stuck = blocked && mem->wheel != NULL;
    return blocked;
}

static bool look_up_write(struct tim_mem *mem, struct tim_slice *slice, uint32_t index,
                          const struct seen *seen, uint64_t edge)
{
    bool back = mem->config->l2_write == TIM_L2_BACK;
    struct tim_cache_result result;

    if (slice->cache != NULL) {
        tim_cache_write(slice->cache, seen->line, seen->mask, back, back,
                        mem->node[index].packet.warp, &result);
        if (is_blocked(mem, slice, &result))
            return false;
        write_back(mem, slice, &result);
    }
    if (slice->cache == NULL || !back)
        write_below(mem, slice, seen->line, seen->mask);
    slice->stats.count[TIM_SLICE_writes]++;
    slice->stats.count[TIM_SLICE_sectors] += sectors_of(seen->mask);
    count_low(mem, slice, sectors_of(seen->mask));
    answer(mem, slice, index, edge);
    return true;
}

/** MeDiC: requests the data of a read, whose line is absent, from DRAM without a line of L2. Returns false if the read must wait. */
static bool bypass(struct tim_mem *mem, struct tim_slice *slice, uint32_t index, const struct seen *seen, uint64_t now)
{
    struct tim_channel *channel = &mem->channel[slice->channel];
    const unsigned sectors = lw_popcount(tim_cache_sectors(slice->cache, seen->mask));
    uint32_t request;

    slice->no_capacity = !tim_channel_has_capacity(mem, channel);
    if (slice->no_capacity || slice->reading == mem->config->l2_mshrs)
        return false;
    slice->reading++;
    slice->stats.count[TIM_SLICE_reads]++;
    slice->stats.count[TIM_SLICE_misses]++;
    slice->stats.count[TIM_SLICE_fills] += sectors;
    count_low(mem, slice, sectors * (mem->config->l2_sector / 32));
    slice->stats.count[TIM_SLICE_sectors] += sectors_of(seen->mask);
    count_low(mem, slice, sectors_of(seen->mask));
    slice->stats.count[TIM_SLICE_medic_bypasses]++;
    tim_medic_looked(mem->medic, &mem->node[index], false, now, slice->stats.count);
    request = make_request(mem, slice, seen->line, sectors * (mem->config->l2_sector / mem->config->dram_burst_bytes), false);
    mem->request[request].packet = mem->request[request].requester = index;
    tim_channel_push(mem, channel, request, now);
    return true;
}

/** MeDiC: counts the look-up of packet @index. @is_new: the line was absent before the look-up. If the look-up has allocated
 *  the line, and the warp mostly misses, makes the line the oldest of its set. */
static void insert_by_type(struct tim_mem *mem, struct tim_slice *slice, uint32_t index, const struct tim_cache_result *result,
                           bool is_new, uint64_t now)
{
    const struct tim_node *node = &mem->node[index];

    tim_medic_looked(mem->medic, node, result->answer == TIM_CACHE_HIT, now, slice->stats.count);
    if (!mem->config->medic_insert || !is_new || result->answer != TIM_CACHE_MISS || node->type > TIM_MEDIC_MOSTLY_MISS)
        return;
    tim_cache_demote(slice->cache, result);
    slice->stats.count[TIM_SLICE_medic_oldest]++;
}

/** Looks up a read, or the read of an atomic. */
static bool look_up_read(struct tim_mem *mem, struct tim_slice *slice, uint32_t index,
                         const struct seen *seen, uint64_t edge, uint64_t now)
{
    const struct tim_packet *packet = &mem->node[index].packet;
    struct tim_channel *channel = &mem->channel[slice->channel];
    bool room = tim_channel_has_capacity(mem, channel);
    const bool is_new = mem->medic != NULL && !tim_cache_has(slice->cache, seen->line);
    struct tim_cache_result result;
    unsigned bursts;
    uint32_t request;

    if (slice->cache == NULL) {
        if (!room || slice->reading == mem->config->l2_mshrs)
            return false;
        slice->reading++;
        result = (struct tim_cache_result){.answer = TIM_CACHE_MISS, .fetch = 1};
        bursts = bursts_of(mem, seen->mask);
    } else {
        if (is_new && mem->node[index].bypasses)
            return bypass(mem, slice, index, seen, now);
        if (slice->no_capacity && mem->wheel != NULL) { /* only space in the DRAM queue was missing, so the last look-up
                                                         * result is still valid */
            result = slice->looked;
        } else {
            tim_cache_lookup(slice->cache, seen->line, seen->mask, &result);
            if (!room)
                slice->looked = result;
        }
        slice->no_capacity = !room && result.fetch != 0; /* a request that needs no DRAM access may proceed */
        if (slice->no_capacity || is_blocked(mem, slice, &result))
            return false;
        tim_cache_go(slice->cache, seen->line, index, packet->warp, &result);
        if (mem->medic != NULL)
            insert_by_type(mem, slice, index, &result, is_new, now);
        write_back(mem, slice, &result);
        bursts = lw_popcount(result.fetch) * (mem->config->l2_sector /
                                              mem->config->dram_burst_bytes);
        slice->stats.count[TIM_SLICE_fills] += lw_popcount(result.fetch);
        count_low(mem, slice, lw_popcount(result.fetch) * (mem->config->l2_sector / 32));
    }
    slice->stats.count[TIM_SLICE_reads] += packet->kind == TIM_PACKET_READ;
    slice->stats.count[TIM_SLICE_sectors] += sectors_of(seen->mask);
    count_low(mem, slice, sectors_of(seen->mask));
    slice->stats.count[result.answer == TIM_CACHE_HIT    ? TIM_SLICE_hits
                  : result.answer == TIM_CACHE_MISS ? TIM_SLICE_misses : TIM_SLICE_merges]++;
    if (result.answer == TIM_CACHE_HIT) {
        serve(mem, slice, index, edge);
        return true;
    }
    if (result.fetch == 0)
        return true;
    request = make_request(mem, slice, seen->line, bursts, false);
    mem->request[request].sectors = (uint8_t)result.fetch;
    mem->request[request].high = mem->medic != NULL && mem->config->medic_priority && mem->node[index].type >= TIM_MEDIC_MOSTLY_HIT;
    mem->request[request].requester = index;
    if (slice->cache == NULL)
        mem->request[request].packet = index;
    tim_channel_push(mem, channel, request, now);
    return true;
}

/** Returns the number of requests in the input in cycle @now. Checks only packets that arrived since the last call. */
static uint32_t arrived(const struct tim_mem *mem, struct tim_slice *slice, uint64_t now)
{
    const struct tim_list *input = &mem->requests.out[slice->index];

    while (slice->arrived < input->count) {
        uint32_t next = slice->arrived == 0 ? input->first : mem->node[slice->newest].next;

        if (mem->node[next].when > now)
            break;
        slice->newest = next;
        slice->arrived++;
    }
    return slice->arrived;
}

/** Looks up the first request of the input, if it has arrived and is not blocked. */
static bool look_up(struct tim_mem *mem, struct tim_slice *slice, uint64_t edge, uint64_t now)
{
    struct tim_list *input = &mem->requests.out[slice->index];
    uint32_t index = input->first;
    struct seen seen;
    struct tim_packet packet; /* copy of the packet, for a trace */
    uint64_t came;
    uint32_t there;

    if (slice->stuck || input->count == 0 || mem->node[index].when > now || slice->busy > edge ||
        slice->writes.count != 0 || slice->pipe.count >= mem->config->l2_latency ||
        (slice->no_capacity && !tim_channel_has_capacity(mem, &mem->channel[slice->channel])))
        return false;
    /* Saves the rest of the list and the time of arrival, because `next` and `when` of the packet change below. */
    came = tim_clock_edge(&mem->l2, mem->node[index].when);
    mem->node[index].came = (uint32_t)came;
    struct tim_list rest = {.first = mem->node[index].next, .last = input->last,
                            .count = input->count - 1};
    there = arrived(mem, slice, now);
    see(mem, &mem->node[index], &seen);
    if (mem->base.trace != NULL)
        packet = mem->node[index].packet;
    if (mem->node[index].packet.kind == TIM_PACKET_WRITE
            ? !look_up_write(mem, slice, index, &seen, edge)
            : !look_up_read(mem, slice, index, &seen, edge, now))
        return false;
    slice->arrived--;
    tim_histogram_add(&slice->stats.histogram[TIM_SLICE_H_queue], there - 1);
    tim_histogram_add(&slice->stats.histogram[TIM_SLICE_H_waiting], edge - came);
    *input = rest;
    if (mem->base.trace != NULL)
        tim_trace_packet(mem->base.trace, now, TIM_TRACE_SLICE, slice->index, &packet, 1);
    slice->stats.count[TIM_SLICE_queue_cycles] += edge + 1 - came;
    slice->stats.count[TIM_SLICE_blocked] += edge - (came > slice->head_since ? came
                                                                         : slice->head_since);
    slice->head_since = edge + 1;
    return true;
}

/* ---- an edge --------------------------------------------------------------------------------- */

static void take_fill(struct tim_mem *mem, struct tim_slice *slice, uint64_t edge)
{
    uint32_t index = tim_list_pop(mem->request, &slice->fills);
    struct tim_request request = mem->request[index];

    tim_request_give(mem, index);
    if (request.packet != TIM_NONE) { /* the read takes no line of L2 */
        slice->reading--;
        serve(mem, slice, request.packet, edge);
        return;
    }
    slice->no_capacity = slice->stuck = false;
    unsigned n = tim_cache_fill(slice->cache, request.line, request.sectors, mem->waiters);

    for (unsigned i = 0; i < n; i++)
        serve(mem, slice, mem->waiters[i], edge);
}

bool tim_slice_tick(struct tim_mem *mem, struct tim_slice *slice, uint64_t edge, uint64_t now)
{
    struct tim_list *out = &mem->replies.in[slice->index];
    bool done = false;

    if (slice->pipe.count != 0 && mem->node[slice->pipe.first].when <= edge &&
        out->count < mem->replies.in_capacity) {
        uint32_t index = tim_list_pop(mem->node, &slice->pipe);
        struct tim_node *node = &mem->node[index];

        node->to = node->packet.core;
        node->flits = node->answer_flits;
        tim_histogram_add(&slice->stats.histogram[TIM_SLICE_H_latency], (uint32_t)edge - node->came);
        tim_histogram_add(&slice->stats.histogram[TIM_SLICE_H_icnt_queue],
                          tim_net_push(mem, &mem->replies, slice->index, index, now));
        done = true;
    }
    if (slice->writes.count != 0 &&
        tim_channel_has_capacity(mem, &mem->channel[slice->channel])) {
        tim_channel_push(mem, &mem->channel[slice->channel],
                         tim_list_pop(mem->request, &slice->writes), now);
        done = true;
    }
    if (slice->fills.count != 0 && mem->request[slice->fills.first].when <= now) {
        take_fill(mem, slice, edge);
        done = true;
    }
    return look_up(mem, slice, edge, now) || done;
}
