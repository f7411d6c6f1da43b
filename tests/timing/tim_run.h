/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixture that runs kernels in assembly on the timing model, with a memory that answers each packet after a fixed time.
 * The fixture records which warp issued which instruction in which cycle.
 */
#ifndef TIM_RUN_H
#define TIM_RUN_H

#include "tests/emu/exec/emu_fixture.h"
#include "timing/tim_engine_priv.h"

/* ---- a memory of one latency ------------------------------------------------------------------------ */

enum { RUN_PACKETS = 1 << 14 };
struct run_memory {
    struct tim_memory base;
    const struct tim_config *config;
    struct tim_packet packet[RUN_PACKETS];
    uint64_t at[RUN_PACKETS]; /* cycle in which each packet is answered */
    unsigned first, count;
    uint64_t latency;
    struct tim_slice_stats slice;     /* counters that remain 0: this memory has no L2 slices */
    struct tim_channel_stats channel; /* counters that remain 0: this memory has no DRAM channels */
    uint64_t reads, writes, atomics;
};
/* Number of cycles in which memories that are created from now on answer a packet. No lock is needed, because tests run one
 * after the other. */
static uint64_t run_latency = 100;

static void run_destroy(struct tim_memory *memory)
{
    free(memory);
}
static void run_tick(struct tim_memory *memory, uint64_t now)
{
    (void)memory, (void)now;
}
static bool run_can_send(const struct tim_memory *memory, unsigned core)
{
    const struct run_memory *m = (const struct run_memory *)memory;

    (void)core;
    return m->count < RUN_PACKETS;
}
static unsigned run_send(struct tim_memory *memory, const struct tim_packet *packet, uint64_t now)
{
    struct run_memory *m = (struct run_memory *)memory;
    unsigned before = m->count, i = (m->first + m->count++) % RUN_PACKETS;

    m->packet[i] = *packet;
    m->at[i] = now + m->latency;
    if (memory->wake != NULL)
        memory->wake(memory->context, packet->core, m->at[i]);
    m->reads += packet->kind == TIM_PACKET_READ;
    m->writes += packet->kind == TIM_PACKET_WRITE;
    m->atomics += packet->kind == TIM_PACKET_ATOMIC || packet->kind == TIM_PACKET_REDUCE;
    return before;
}
static bool run_receive(struct tim_memory *memory, unsigned core, uint64_t now,
                        struct tim_packet *out)
{
    struct run_memory *m = (struct run_memory *)memory;

    if (m->count == 0 || m->at[m->first] > now || m->packet[m->first].core != core)
        return false;
    *out = m->packet[m->first];
    m->first = (m->first + 1) % RUN_PACKETS;
    m->count--;
    return true;
}
static uint64_t run_next(const struct tim_memory *memory, uint64_t now)
{
    const struct run_memory *m = (const struct run_memory *)memory;

    (void)now;
    return m->count == 0 ? UINT64_MAX : m->at[m->first];
}
static uint64_t run_in_flight(const struct tim_memory *memory)
{
    return ((const struct run_memory *)memory)->count;
}
static const struct tim_slice_stats *run_slice(const struct tim_memory *memory, unsigned index)
{
    (void)index;
    return &((const struct run_memory *)memory)->slice;
}
static const struct tim_channel_stats *run_channel(const struct tim_memory *memory, unsigned index)
{
    (void)index;
    return &((const struct run_memory *)memory)->channel;
}
static void run_show(const struct tim_memory *memory, struct lw_sink *out)
{
    (void)memory, (void)out;
}
static const struct tim_cache *run_slice_cache(const struct tim_memory *memory, unsigned slice)
{
    (void)memory, (void)slice;
    return NULL;
}
static const struct tim_memory_ops run_memory_ops = {
    "fixed", run_destroy, run_tick, run_tick, run_can_send, run_send, run_receive,
    run_next, run_in_flight, run_slice, run_channel, run_show,
    run_slice_cache, NULL};

static inline struct tim_memory *run_memory_create(const struct tim_config *config)
{
    struct run_memory *m = calloc(1, sizeof *m);

    m->base.ops = &run_memory_ops;
    m->config = config;
    m->latency = run_latency;
    return &m->base;
}

/* ---- a run ------------------------------------------------------------------------------------------------ */

enum { RUN_ISSUES = 1 << 16 };
struct run_issue {
    uint64_t cycle, pc;
    unsigned core, block, warp;
    enum isa_op op;
};
struct run {
    struct fix *fix;
    struct tim_config *config;
    struct emu_observer observer;
    struct run_issue issue[RUN_ISSUES];
    unsigned count;
    struct emu_stop stop;
};

static inline bool run_on_event(struct emu_observer *observer, const struct emu_event *ev)
{
    struct run *r = (struct run *)((char *)observer - offsetof(struct run, observer));

    if (ev->kind == EMU_EV_RETIRED && r->count < RUN_ISSUES)
        r->issue[r->count++] = (struct run_issue){
            .cycle = r->fix->engine->ops->cycles(r->fix->engine), .pc = ev->pc,
            .block = (unsigned)ev->block, .warp = ev->warp, .op = (enum isa_op)ev->insn->op};
    return false;
}

/** Create a plain machine with one core, one scheduler, no fetch stalls, and no limit that a test reaches. An instruction
 *  that issues in cycle t reads its operands in t + 1 and enters its pipe in t + 2; its result is ready in t + 3. */
static inline struct run *run_new(void)
{
    struct run *r = calloc(1, sizeof *r);
    struct lw_error err;

    assert_non_null(r);
    fix_check(tim_config_load("fermi", &r->config, &err), &err);
    struct tim_config *c = r->config;
    c->core_count = 1;
    c->issue_schedulers = 1;
    c->issue_policy = TIM_SCHED_LRR;
    c->fetch_perfect = true;
    c->fetch_width = 8;
    c->fetch_buffer = 16;
    c->fetch_group = 8;
    c->fetch_cache_line = 256;
    c->fetch_latency = 1;
    c->issue_branch_latency = 0;
    c->constant_perfect = true;
    c->registers_banks = 64;
    c->registers_ports = 8;
    c->registers_collectors = 64;
    c->lsu_queue = 64;
    c->lsu_latency = 0;
    c->kernels_latency = 0;
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        c->unit[u] = (struct tim_unit_config){1, 32, 1};
    return r;
}

static inline void run_free(struct run *r)
{
    emu_observer_remove(r->fix->engine, &r->observer);
    fix_free(r->fix);
    tim_config_destroy(r->config);
    free(r);
}

static inline struct tim_engine *run_engine(const struct run *r)
{
    return (struct tim_engine *)r->fix->engine;
}

/** Create a machine from the model in @r, and launch kernel @text on it. No cycle is executed. */
static inline void run_open(struct run *r, const char *text, unsigned blocks, unsigned threads)
{
    struct tim_options options = {0};
    struct lw_error err;

    r->fix = fix_new(r->config->core_warp_width);
    tim_config_machine(r->config, &r->fix->config);
    fix_load_grid(r->fix, text, blocks, threads);
    emu_engine_destroy(r->fix->engine);
    fix_check(tim_engine_create_over(r->fix->machine, r->config, &options, run_memory_create,
                                     &r->fix->engine, &err), &err);
    r->observer.on_event = run_on_event;
    emu_observer_add(r->fix->engine, &r->observer);
}

/** Run the launched kernel to its end. */
static inline void run_go(struct run *r)
{
    struct lw_error err;

    fix_check(r->fix->engine->ops->run(r->fix->engine, &r->stop, &err), &err);
    assert_int_equal(r->stop.kind, EMU_STOP_IDLE);
}

static inline void run_text(struct run *r, const char *text, unsigned blocks, unsigned threads)
{
    run_open(r, text, blocks, threads);
    run_go(r);
}

/** Return the cycle in which warp @warp of block 0 issues @op for the @nth time (from 0), counted from the first issue of
 *  @op by any warp of the block. The test fails if there is no such issue. */
static inline uint64_t run_cycle(const struct run *r, enum isa_op op, unsigned warp, unsigned nth)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < r->count; i++) {
        if (r->issue[i].op != op || r->issue[i].block != 0)
            continue;
        if (first == UINT64_MAX)
            first = r->issue[i].cycle;
        if (r->issue[i].warp == warp && nth-- == 0)
            return r->issue[i].cycle - first;
    }
    fail_msg("no such issue by warp %u", warp);
    return 0;
}

/** Write to @text the issues of the program's instructions @from to @behind - 1, as "w0.1@5 ...". In this example warp 0
 *  issues instruction @from + 1 in cycle 5, counted from the first of these issues. Return @text. */
static inline const char *run_trace(const struct run *r, unsigned from, unsigned behind,
                                    char *text, size_t size)
{
    uint64_t first = UINT64_MAX, base = run_engine(r)->code[0]->base;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < r->count; i++) {
        uint64_t at = (r->issue[i].pc - base) / ISA_WORD_BYTES;
        if (at < from || at >= behind)
            continue;
        if (first == UINT64_MAX)
            first = r->issue[i].cycle;
        used += (size_t)snprintf(text + used, size - used, "%sw%u.%u@%u", used == 0 ? "" : " ",
                                 r->issue[i].warp, (unsigned)(at - from),
                                 (unsigned)(r->issue[i].cycle - first));
    }
    return text;
}

#endif
