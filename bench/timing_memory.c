/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the host time that a request takes in the memory part of the timing model alone: `make bench/timing_memory`,
 * then
 *
 *     bench/timing_memory [MACHINE [REQUESTS]]
 *
 * Cores request lines of 128 bytes: at random addresses or as separate streams, as fast as the model accepts them or with
 * one outstanding request each. The fast implementation and the reference give the same answers in the same cycles. A row has
 * the nanoseconds of CPU time for each request, as the median of five interleaved runs, and the cycles of the cores.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timing/tim_priv.h"

enum { MOST_CORES = 1024, RUNS = 5, FLIGHT = 64 };

struct load {
    bool random;
    unsigned under_way; /* largest number of outstanding requests of a core */
};
struct state {
    unsigned flight[MOST_CORES];
    uint64_t position[MOST_CORES], seed;
    uint64_t later[256][MOST_CORES / 64];
    uint64_t now;
};

static uint64_t random_bits(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** Adds the core to a timing wheel, as an engine does for tim_memory.wake. */
static void wake(void *context, unsigned core, uint64_t cycle)
{
    struct state *s = context;
    uint64_t far = cycle - s->now > 255 ? s->now + 255 : cycle;

    s->later[far % 256][core / 64] |= UINT64_C(1) << core % 64;
}

/** Returns the CPU time of all requests, and the cycles that the requests took. */
static double run(const struct tim_config *config, bool fast, const struct load *load,
                  uint64_t requests, uint64_t *cycles)
{
    struct tim_memory *m = fast ? tim_memory_fast_create(config)
                                : tim_memory_reference_create(config);
    struct state *s = calloc(1, sizeof *s);
    uint64_t sent = 0, answered = 0, due = 0;
    clock_t begin;

    if (m == NULL || s == NULL) {
        fprintf(stderr, "timing_memory: the host has no memory\n");
        exit(1);
    }
    m->wake = wake;
    m->context = s;
    for (unsigned c = 0; c < config->core_count; c++)
        wake(s, c, 0);
    begin = clock();
    while (answered < requests) {
        uint64_t *operand_check = s->later[s->now % 256];
        bool sends = false;

        if (!fast || due <= s->now)
            m->ops->tick_replies(m, s->now);
        for (unsigned w = 0; w < (config->core_count + 63) / 64; w++) {
            uint64_t set = operand_check[w];

            operand_check[w] = 0;
            for (LW_EACH_BIT(b, set)) {
                unsigned core = w * 64 + (unsigned)b;
                struct tim_packet packet;

                if (m->ops->receive(m, core, s->now, &packet)) {
                    s->flight[core]--;
                    answered++;
                }
                if (sent == requests || s->flight[core] == load->under_way ||
                    !m->ops->can_send(m, core))
                    continue;
                packet = (struct tim_packet){.core = (uint16_t)core, .kind = TIM_PACKET_READ,
                                             .mask = {UINT64_MAX, UINT64_MAX}, .warp = 0xffff};
                packet.line = load->random
                                  ? (random_bits(&s->seed) & ((1u << 23) - 1)) * 128
                                  : (((uint64_t)core << 20) + s->position[core]++) * 128;
                m->ops->send(m, &packet, s->now);
                sends = true;
                sent++;
                if (++s->flight[core] < load->under_way && m->ops->can_send(m, core))
                    wake(s, core, s->now + 1);
            }
        }
        if (!fast || sends || due <= s->now)
            m->ops->tick_requests(m, s->now);
        if (fast)
            due = m->ops->next(m, s->now);
        s->now++;
    }
    *cycles = s->now;
    begin = clock() - begin;
    m->ops->destroy(m);
    free(s);
    return (double)begin / CLOCKS_PER_SEC;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        struct load load;
    } row[] = {
        {"random, saturated", {true, FLIGHT}},
        {"random, one a core", {true, 1}},
        {"streams, saturated", {false, FLIGHT}},
        {"streams, one a core", {false, 1}},
    };
    struct tim_config *config;
    struct lw_error error;
    uint64_t requests = argc > 2 ? strtoull(argv[2], NULL, 0) : 200000;

    if (tim_config_load(argc > 1 ? argv[1] : "fermi", &config, &error) != LW_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%s: %u cores, %u slices, %u channels, %" PRIu64 " requests\n",
           argc > 1 ? argv[1] : "fermi", config->core_count, config->l2_slices,
           config->dram_channels, requests);
    printf("%-20s %10s %10s %12s\n", "", "reference", "fast", "cycles");
    for (unsigned i = 0; i < LW_COUNT_OF(row); i++) {
        double time[2][RUNS];
        uint64_t cycles[2];

        for (unsigned k = 0; k < RUNS; k++)
            for (unsigned fast = 0; fast < 2; fast++)
                time[fast][k] = run(config, fast, &row[i].load, requests, &cycles[fast]);
        for (unsigned fast = 0; fast < 2; fast++)
            qsort(time[fast], RUNS, sizeof time[fast][0], compare);
        if (cycles[0] != cycles[1]) {
            fprintf(stderr, "%s: %" PRIu64 " and %" PRIu64 " cycles\n", row[i].name, cycles[0],
                    cycles[1]);
            return 1;
        }
        printf("%-20s %7.0f ns %7.0f ns %12" PRIu64 "\n", row[i].name,
               time[0][RUNS / 2] / (double)requests * 1e9,
               time[1][RUNS / 2] / (double)requests * 1e9, cycles[0]);
    }
    tim_config_destroy(config);
    return 0;
}
