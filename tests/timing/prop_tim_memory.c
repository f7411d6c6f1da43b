/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the memory side of random GPU models under random traffic. Each packet must be answered exactly once, to the core
 * that sent it. Counters must agree with the traffic. Both implementations must answer in the same cycles and order, with
 * the same counters. Model and traffic follow from the seed, which is printed. `prop_tim_memory SEED COUNT` runs COUNT cases
 * from SEED on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/timing/tim_fixture.h"

enum { MOST_CORES = 12 };

static const unsigned clocks[] = {100, 350, 500, 700, 706, 924, 1000, 1400, 2600};

static unsigned power(uint64_t *seed, unsigned low, unsigned high)
{
    unsigned n = 0;

    while (low << (n + 1) <= high)
        n++;
    return low << tim_fix_between(seed, 0, n);
}

/* Draw the keys of MeDiC, which two of three models with an L2 have. */
static void random_medic(uint64_t seed, struct tim_config *c)
{
    c->medic_on = c->l2_bytes != 0 && tim_fix_between(&seed, 0, 2) != 0;
    c->medic_interval = tim_fix_between(&seed, 20, 3000);
    c->medic_sample = tim_fix_between(&seed, 1, 6);
    c->medic_miss_boundary = tim_fix_between(&seed, 0, 60);
    c->medic_hit_boundary = tim_fix_between(&seed, 60, 100);
    c->medic_tune = tim_fix_between(&seed, 0, 2) != 0;
    c->medic_margin = tim_fix_between(&seed, 0, 10);
    c->medic_step = tim_fix_between(&seed, 1, 30);
    c->medic_bypass = tim_fix_between(&seed, 0, 3) != 0;
    c->medic_insert = tim_fix_between(&seed, 0, 3) != 0;
    c->medic_priority = c->dram_policy != TIM_DRAM_FCFS && tim_fix_between(&seed, 0, 3) != 0;
}

static struct tim_config random_config(uint64_t *seed)
{
    struct tim_config c = tim_fix_config();

    c.clocks_core = clocks[tim_fix_between(seed, 0, LW_COUNT_OF(clocks) - 1)];
    c.clocks_icnt = clocks[tim_fix_between(seed, 0, LW_COUNT_OF(clocks) - 1)];
    c.clocks_l2 = clocks[tim_fix_between(seed, 0, LW_COUNT_OF(clocks) - 1)];
    c.clocks_dram = clocks[tim_fix_between(seed, 0, LW_COUNT_OF(clocks) - 1)];
    if (tim_fix_between(seed, 0, 3) == 0)
        c.clocks_icnt = c.clocks_l2 = c.clocks_dram = c.clocks_core;
    c.core_count = tim_fix_between(seed, 1, MOST_CORES);
    c.icnt_flit_bytes = power(seed, 8, 256);
    c.icnt_header_bytes = tim_fix_between(seed, 0, 16);
    c.icnt_latency = tim_fix_between(seed, 1, 12);
    c.icnt_queue = tim_fix_between(seed, 1, 8);
    c.icnt_hash = tim_fix_between(seed, 0, 1);
    c.dram_channels = tim_fix_between(seed, 1, 4);
    c.l2_slices = c.dram_channels * tim_fix_between(seed, 1, 3);
    c.l2_line = power(seed, 32, 256);
    c.l2_sector = power(seed, 32, c.l2_line);
    c.icnt_interleave = power(seed, c.l2_line, 1024);
    c.l2_ways = tim_fix_between(seed, 1, 4);
    c.l2_bytes = tim_fix_between(seed, 0, 5) == 0 ? 0 : c.l2_line * c.l2_ways * power(seed, 1, 8);
    c.l2_latency = tim_fix_between(seed, 1, 30);
    c.l2_mshrs = tim_fix_between(seed, 1, 12);
    c.l2_merges = tim_fix_between(seed, 1, 4);
    c.l2_queue = tim_fix_between(seed, 1, 6);
    c.l2_write = tim_fix_between(seed, 0, 2) == 0 ? TIM_L2_THROUGH : TIM_L2_BACK;
    c.l2_atomic_cycles = tim_fix_between(seed, 1, 3);
    c.dram_banks = power(seed, 1, 16);
    c.dram_row_bytes = power(seed, c.l2_line > 64 ? c.l2_line : 64, 1024);
    c.dram_burst_bytes = power(seed, 8, c.l2_sector);
    c.dram_bus_bytes = power(seed, 1, c.dram_burst_bytes);
    c.dram_queue = tim_fix_between(seed, 1, 20);
    c.dram_policy = tim_fix_between(seed, 0, 3) == 0 ? TIM_DRAM_FCFS : TIM_DRAM_FRFCFS;
    c.dram_row_cap = tim_fix_between(seed, 0, 1) * tim_fix_between(seed, 0, 4);
    c.dram_latency = tim_fix_between(seed, 0, 1) * tim_fix_between(seed, 0, 40);
    c.dram_tCL = tim_fix_between(seed, 1, 14);
    c.dram_tWL = tim_fix_between(seed, 1, 6);
    c.dram_tRP = tim_fix_between(seed, 1, 14);
    c.dram_tRCD = tim_fix_between(seed, 1, 14);
    c.dram_tRAS = tim_fix_between(seed, 1, 30);
    c.dram_tRC = tim_fix_between(seed, 1, 45);
    c.dram_tRRD = tim_fix_between(seed, 1, 8);
    c.dram_tCCD = tim_fix_between(seed, 1, 4);
    c.dram_tREFI = tim_fix_between(seed, 0, 2) == 0 ? tim_fix_between(seed, 60, 800) : 0;
    c.dram_tRFC = tim_fix_between(seed, 1, 50);
    c.dram_tWR = tim_fix_between(seed, 1, 12);
    c.dram_tWTR = tim_fix_between(seed, 1, 6);
    c.dvfs_high_mhz = tim_fix_between(seed, 1, 700);
    c.dvfs_low_mhz = tim_fix_between(seed, 1, c.dvfs_high_mhz);
    random_medic(*seed, &c);
    return c;
}

/** Properties of the requests that cores make, and of their acceptance of answers. */
struct traffic {
    uint64_t seed;
    unsigned pattern;  /* lines that cores access: 0: random lines; 1: consecutive lines; 2: random lines of a small set */
    unsigned rate;     /* per cent of cycles in which a core tries to send */
    unsigned receive;  /* per cent of cycles in which a core accepts an answer */
    uint64_t position[MOST_CORES];
};

static struct tim_packet random_packet(struct traffic *t, const struct tim_config *c,
                                       unsigned core, uint32_t id)
{
    unsigned line = c->l2_line > 128 ? 128 : c->l2_line;
    unsigned from = tim_fix_between(&t->seed, 0, line / 4 - 1) * 4;
    unsigned bytes = tim_fix_between(&t->seed, 1, (line - from) / 4) * 4;
    unsigned kind = tim_fix_between(&t->seed, 0, 9);
    struct tim_packet p = {.core = (uint16_t)core, .id = id, .warp = (uint16_t)(id % 48)};

    p.kind = kind < 6 ? TIM_PACKET_READ : kind < 8 ? TIM_PACKET_WRITE
             : kind < 9 ? TIM_PACKET_ATOMIC : TIM_PACKET_REDUCE;
    p.lanes = p.kind >= TIM_PACKET_ATOMIC ? (uint8_t)tim_fix_between(&t->seed, 1, 32) : 0;
    if (tim_fix_between(&t->seed, 0, 2) == 0)
        from = 0, bytes = line;
    p.line = t->pattern == 0   ? tim_fix_random(&t->seed) % 4096
             : t->pattern == 1 ? t->position[core]++ + core * 1000
                               : tim_fix_random(&t->seed) % 24;
    p.line *= line;
    for (unsigned b = from; b < from + bytes; b++)
        p.mask[b / 64] |= UINT64_C(1) << b % 64;
    return p;
}

/* ---- one implementation under test --------------------------------------------------------------- */

struct side {
    struct tim_memory *memory;
    bool lazy;     /* execute a cycle only if this implementation has requested it, or if a core sends a packet */
    uint64_t due;
};

static void tick_replies(struct side *s, uint64_t now)
{
    if (!s->lazy || s->due <= now)
        s->memory->ops->tick_replies(s->memory, now);
}

static void tick_requests(struct side *s, uint64_t now, bool sent)
{
    if (!s->lazy || s->due <= now || sent)
        s->memory->ops->tick_requests(s->memory, now);
    if (s->lazy)
        s->due = s->memory->ops->next(s->memory, now);
}

static int complain(uint64_t seed, uint64_t now, const char *what)
{
    fprintf(stderr, "seed %" PRIu64 ", cycle %" PRIu64 ": %s\n", seed, now, what);
    return 1;
}

static uint64_t sum_slices(const struct side *s, const struct tim_config *c, unsigned which)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < c->l2_slices; i++)
        sum += s->memory->ops->slice_stats(s->memory, i)->count[which];
    return sum;
}

static uint64_t sum_channels(const struct side *s, const struct tim_config *c, unsigned which)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < c->dram_channels; i++)
        sum += s->memory->ops->channel_stats(s->memory, i)->count[which];
    return sum;
}

/** Compare the counters with the traffic and with each other when no packet is outstanding. */
static int check_counts(uint64_t seed, const struct tim_config *c, const struct side *s,
                        const uint64_t sent[4], uint64_t lanes)
{
#define NEED(claim) \
    if (!(claim)) \
        return complain(seed, 0, "not so: " #claim)
    uint64_t bursts = c->l2_sector / c->dram_burst_bytes, packets = 0;

    NEED(sum_slices(s, c, TIM_SLICE_reads) == sent[TIM_PACKET_READ]);
    NEED(sum_slices(s, c, TIM_SLICE_writes) == sent[TIM_PACKET_WRITE]);
    NEED(sum_slices(s, c, TIM_SLICE_atomics) == lanes);
    NEED(sum_slices(s, c, TIM_SLICE_hits) + sum_slices(s, c, TIM_SLICE_misses) +
             sum_slices(s, c, TIM_SLICE_merges) ==
         sent[TIM_PACKET_READ] + sent[TIM_PACKET_ATOMIC] + sent[TIM_PACKET_REDUCE]);
    if (c->l2_bytes != 0)
        NEED(sum_channels(s, c, TIM_CHANNEL_reads) == sum_slices(s, c, TIM_SLICE_fills) * bursts);
    if (c->l2_bytes != 0 && c->l2_write == TIM_L2_THROUGH)
        NEED(sum_slices(s, c, TIM_SLICE_writebacks) == 0);
    uint64_t rows = sum_channels(s, c, TIM_CHANNEL_activates) + sum_channels(s, c, TIM_CHANNEL_row_hits);
    uint64_t data = sum_channels(s, c, TIM_CHANNEL_reads) + sum_channels(s, c, TIM_CHANNEL_writes);

    /* a refresh, or a request of medic's first queue, may close a DRAM row before it is used */
    NEED(c->dram_tREFI == 0 && !c->medic_on ? rows == data : rows >= data);
    NEED(sum_channels(s, c, TIM_CHANNEL_busy_cycles) <=
         sum_channels(s, c, TIM_CHANNEL_active_cycles));
    for (unsigned i = 0; i < c->l2_slices; i++) {
        const struct tim_slice_stats *slice = s->memory->ops->slice_stats(s->memory, i);
        const struct tim_histogram *h = slice->histogram;
        uint64_t all = tim_histogram_count(&h[TIM_SLICE_H_queue]);

        packets += all;
        NEED(tim_histogram_count(&h[TIM_SLICE_H_waiting]) == all);
        NEED(tim_histogram_count(&h[TIM_SLICE_H_latency]) == all);
        NEED(tim_histogram_count(&h[TIM_SLICE_H_icnt_queue]) == all);
        NEED(h[TIM_SLICE_H_waiting].sum + all == slice->count[TIM_SLICE_queue_cycles]);
        NEED(h[TIM_SLICE_H_queue].most < c->l2_queue + c->icnt_latency);
        NEED(h[TIM_SLICE_H_icnt_queue].most < c->icnt_queue);
    }
    NEED(packets == sent[0] + sent[1] + sent[2] + sent[3]);
    for (unsigned i = 0; i < c->dram_channels; i++) {
        const struct tim_histogram *h = s->memory->ops->channel_stats(s->memory, i)->histogram;

        NEED(h[TIM_CHANNEL_H_queue].most < c->dram_queue);
        NEED(tim_histogram_count(&h[TIM_CHANNEL_H_latency]) <=
             tim_histogram_count(&h[TIM_CHANNEL_H_queue]));
    }
    return 0;
#undef NEED
}

/** Run the case of a seed. Adds its counters of MeDiC to @medic: reads that bypassed L2, oldest lines, high requests, and samples by type. */
static int run(uint64_t seed, uint64_t medic[8])
{
    uint64_t state = seed, now = 0, end, sent[4] = {0}, lanes = 0, answered = 0, all;
    struct tim_config c = random_config(&state);
    struct traffic t = {.seed = tim_fix_random(&state)};
    struct side side[2] = {{.memory = tim_memory_reference_create(&c)}, 
                           {.memory = tim_memory_fast_create(&c), .lazy = true}};
    unsigned sides = 2, packets;
    uint8_t *seen;
    int bad = 0;

    const unsigned changes = tim_fix_between(&state, 0, 1) * tim_fix_between(&state, 1, 400); /* mean number of cycles between two changes of the clocks; 0: none */
    bool slow = false;

    t.pattern = tim_fix_between(&state, 0, 2);
    t.rate = tim_fix_between(&state, 0, 2) == 0 ? 2 : tim_fix_between(&state, 5, 100);
    t.receive = tim_fix_between(&state, 0, 3) == 0 ? tim_fix_between(&state, 3, 90) : 100;
    packets = tim_fix_between(&state, 20, 600);
    end = 4000000 * (uint64_t)(changes != 0 ? 1 + c.dvfs_high_mhz / c.dvfs_low_mhz : 1);
    seen = calloc(packets, 1);
    for (all = 0; (all < packets || answered < all) && !bad; now++) {
        struct tim_packet send[MOST_CORES];
        unsigned sends = 0;

        for (unsigned s = 0; s < sides; s++)
            tick_replies(&side[s], now);
        for (unsigned core = 0; core < c.core_count && !bad; core++) {
            struct tim_packet got[2];
            bool take = tim_fix_between(&t.seed, 1, 100) <= t.receive, came[2];
            bool room = side[0].memory->ops->can_send(side[0].memory, core);

            for (unsigned s = 0; s < sides; s++)
                came[s] = take && side[s].memory->ops->receive(side[s].memory, core, now, &got[s]);
            if (sides > 1 && (came[0] != came[1] ||
                              (came[0] && memcmp(&got[0], &got[1], sizeof got[0]) != 0)))
                bad = complain(seed, now, "the answers differ");
            if (sides > 1 && room != side[1].memory->ops->can_send(side[1].memory, core))
                bad = complain(seed, now, "only one implementation accepts a packet from a core");
            if (came[0] && (got[0].core != core || got[0].id >= packets || seen[got[0].id]++ != 1))
                bad = complain(seed, now, "an answer without an outstanding request of the core");
            answered += came[0];
            if (room && all < packets && tim_fix_between(&t.seed, 1, 100) <= t.rate) {
                send[sends] = random_packet(&t, &c, core, (uint32_t)all);
                seen[all++] = 1;
                sent[send[sends].kind]++;
                lanes += send[sends].lanes;
                sends++;
            }
        }
        for (unsigned s = 0; s < sides && !bad; s++) {
            for (unsigned k = 0; k < sends; k++)
                side[s].memory->ops->send(side[s].memory, &send[k], now);
            tick_requests(&side[s], now, sends != 0);
        }
        if (changes != 0 && tim_fix_between(&t.seed, 1, changes) == 1) {
            slow = !slow;
            for (unsigned s = 0; s < sides; s++) {
                side[s].memory->ops->set_slow(side[s].memory, slow, now + 1);
                side[s].due = side[s].memory->ops->next(side[s].memory, now);
            }
        }
        if (now > end)
            bad = complain(seed, now, "packets are not answered");
    }
    if (!bad && side[0].memory->ops->in_flight(side[0].memory) != 0)
        bad = complain(seed, now, "packets are in flight, although all packets are answered");
    for (uint64_t more = now + 30000 * (uint64_t)(slow ? 1 + c.dvfs_high_mhz / c.dvfs_low_mhz : 1); now < more && !bad; now++) /* all packets are answered; writes to DRAM may remain */
        for (unsigned s = 0; s < sides; s++) {
            tick_replies(&side[s], now);
            tick_requests(&side[s], now, false);
        }
    for (unsigned s = 0; s < sides && !bad; s++)
        bad = check_counts(seed, &c, &side[s], sent, lanes);
    for (unsigned i = 0; i < c.l2_slices && sides > 1 && !bad; i++)
        if (memcmp(side[0].memory->ops->slice_stats(side[0].memory, i),
                   side[1].memory->ops->slice_stats(side[1].memory, i),
                   sizeof(struct tim_slice_stats)) != 0)
            bad = complain(seed, now, "the counters of a slice differ");
    for (unsigned i = 0; i < c.dram_channels && sides > 1 && !bad; i++)
        if (memcmp(side[0].memory->ops->channel_stats(side[0].memory, i),
                   side[1].memory->ops->channel_stats(side[1].memory, i),
                   sizeof(struct tim_channel_stats)) != 0)
            bad = complain(seed, now, "the counters of a channel differ");
    for (unsigned i = 0; i < 7; i++)
        medic[i] += sum_slices(&side[1], &c, TIM_SLICE_medic_bypasses + i);
    medic[7] += sum_channels(&side[1], &c, TIM_CHANNEL_medic_high);
    for (unsigned s = 0; s < sides; s++)
        side[s].memory->ops->destroy(side[s].memory);
    free(seen);
    return bad;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 150, medic[8] = {0};

    for (uint64_t seed = first; seed < first + count; seed++)
        if (run(seed, medic) != 0)
            return 1;
    printf("%" PRIu64 " machines from seed %" PRIu64 "\n", count, first);
    printf("MeDiC: %" PRIu64 " reads bypassed L2, %" PRIu64 " lines became the oldest, %" PRIu64 " requests were served first; samples by type:", medic[0],
           medic[1], medic[7]);
    for (unsigned i = 2; i < 7; i++)
        printf(" %" PRIu64, medic[i]);
    printf("\n");
    for (unsigned i = 0; i < LW_COUNT_OF(medic); i++)
        if (medic[i] == 0 && count >= (i == 5 || i == 7 ? 1000 : 150)) /* few machines have mostly hits, or requests that are served first */
            return complain(first, 0, "an event of MeDiC did not occur");
    return 0;
}
