/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixture for microbenchmarks of a modern core: runs kernels of a few instructions with control fields, and returns the
 * cycles in which these instructions issue.
 */
#ifndef TIM_MODERN_H
#define TIM_MODERN_H

#include "tests/timing/tim_run.h"

/** Create a machine whose scheduler obeys the control field as in Huerta et al., MICRO 2025, sections 4 and 5.1. The machine
 *  has no other feature of the core in that paper. */
static inline struct run *modern_control(void)
{
    struct run *r = run_new();
    struct tim_config *c = r->config;

    c->issue_policy = TIM_SCHED_CGGTY;
    c->issue_dependence = TIM_DEP_CONTROL;
    c->issue_control_stage = true;
    c->issue_barrier_count = 63;
    c->issue_yield = true;
    c->issue_stall_odd = 2;
    c->issue_stall_zero_yield = 46;
    c->registers_collector = TIM_COLLECTOR_RESERVED;
    return r;
}

/** Create the machine of modern_control() with the pipeline stages Control and Allocate, two register banks, and units with a
 *  latency of four cycles. @rfc: the machine has the register-file cache. */
static inline struct run *modern_window(bool rfc)
{
    struct run *r = modern_control();
    struct tim_config *c = r->config;

    c->registers_collector = TIM_COLLECTOR_WINDOW;
    c->registers_banks = 2;
    c->registers_ports = 1;
    c->registers_swizzle = false;
    c->registers_rfc = rfc;
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        c->unit[u].latency = 4;
    return r;
}

/** Give each scheduler a memory unit of its own, and set the latencies of loads that Huerta et al. publish. */
static inline void modern_memory(struct tim_config *c)
{
    c->lsu_local = 5;
    c->lsu_latency = 7;
    c->l1_latency = 21;
    c->shared_latency = 13;
    c->constant_latency = 18;
}

/** Run a kernel with @body, the parameter `out` and 4096 bytes of shared memory. */
static inline void modern_run(struct run *r, const char *body, unsigned threads)
{
    struct lw_buffer text;

    lw_buffer_init(&text);
    lw_printf(&text.sink, ".kernel k\n.param ptr.global out\n.shared 4096\n%sexit\n.end\n", body);
    run_text(r, text.text, 1, threads);
    lw_buffer_fini(&text);
}

/** Return the cycle in which @warp issues instruction @at of the program, counted from the first issue of any warp. */
static inline uint64_t modern_cycle(const struct run *r, unsigned warp, unsigned at)
{
    uint64_t base = run_engine(r)->code[0]->base;

    for (unsigned i = 0; i < r->count; i++)
        if (r->issue[i].warp == warp && (r->issue[i].pc - base) / ISA_WORD_BYTES == at)
            return r->issue[i].cycle - r->issue[0].cycle;
    fail_msg("warp %u does not issue instruction %u", warp, at);
    return 0;
}

/** Write to @text the cycles in which each warp issues instructions @first to @end - 1, as half-open intervals relative to
 *  the first such issue: "W3 0-2, W2 2-4". Return @text. */
static inline const char *modern_intervals_from(const struct run *r, unsigned first, unsigned end, char *text, size_t size)
{
    uint64_t base = run_engine(r)->code[0]->base, start = UINT64_MAX, from = 0, next = 0;
    unsigned warp = UINT32_MAX;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i <= r->count; i++) {
        bool last = i == r->count;
        uint64_t number = last ? 0 : (r->issue[i].pc - base) / ISA_WORD_BYTES;

        if (!last && (number < first || number >= end))
            continue;
        if (!last && start == UINT64_MAX)
            start = r->issue[i].cycle;
        uint64_t at = last ? 0 : r->issue[i].cycle - start;
        if (!last && r->issue[i].warp == warp && at == next) {
            next++;
            continue;
        }
        if (warp != UINT32_MAX && used < size)
            used += (size_t)snprintf(text + used, size - used, "%sW%u %u-%u", used == 0 ? "" : ", ", warp,
                                     (unsigned)from, (unsigned)next);
        if (last)
            break;
        warp = r->issue[i].warp;
        from = at;
        next = at + 1;
    }
    return text;
}
/** Do what modern_intervals_from() does, for the first @count instructions of the program. */
static inline const char *modern_intervals(const struct run *r, unsigned count, char *text, size_t size)
{
    return modern_intervals_from(r, 0, count, text, size);
}

#endif
