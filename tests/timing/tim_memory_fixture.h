/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of the memory side: a GPU model with one unit of each kind, a cycle counter, and functions that send
 * and receive packets. */
#ifndef TIM_MEMORY_FIXTURE_H
#define TIM_MEMORY_FIXTURE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/timing/tim_fixture.h"

typedef struct tim_memory *(*rig_create_fn)(const struct tim_config *config);

struct rig {
    struct tim_config config;
    struct tim_memory *memory;
    uint64_t now; /* the cycle that the next rig_step() executes */
    struct tim_packet last; /* the last answer received */
    uint64_t answers, answered_at; /* number of answers received, and cycle of the last one */
};

/** Return a GPU model with one core, one L2 slice, one DRAM channel, and one frequency for all clock domains. */
static inline struct tim_config rig_config(void)
{
    struct tim_config c = tim_fix_config();

    c.clocks_core = c.clocks_icnt = c.clocks_l2 = c.clocks_dram = 1000;
    c.core_count = c.l2_slices = c.dram_channels = 1;
    c.icnt_flit_bytes = 32;
    c.icnt_header_bytes = 8;
    c.icnt_latency = c.icnt_queue = c.l2_queue = 8;
    c.icnt_interleave = 256;
    c.l2_bytes = 65536;
    c.l2_ways = 8;
    c.l2_line = 128;
    c.l2_sector = c.l2_mshrs = 32;
    c.l2_latency = 60;
    c.dram_bus_bytes = 8; /* a burst takes four cycles */
    c.dram_burst_bytes = 32;
    c.dram_banks = c.dram_queue = 16;
    c.dram_row_bytes = 2048;
    c.dram_latency = 100;
    c.dram_tCL = c.dram_tRP = c.dram_tRCD = c.dram_tWR = 12;
    c.dram_tRAS = 28;
    c.dram_tRC = 40;
    c.dram_tRRD = 6;
    c.dram_tCCD = 2;
    c.dram_tWL = 4;
    c.dram_tWTR = 5;
    return c;
}

static inline void rig_open(struct rig *r, rig_create_fn create, const struct tim_config *config)
{
    memset(r, 0, sizeof *r);
    r->config = *config;
    r->memory = create(&r->config);
    assert_non_null(r->memory);
}

static inline void rig_close(struct rig *r)
{
    r->memory->ops->destroy(r->memory);
}

/** Return a packet that accesses bytes [from, from + bytes) of the line. */
static inline struct tim_packet rig_packet(enum tim_packet_kind kind, unsigned core, uint64_t line,
                                           unsigned from, unsigned bytes, uint32_t id)
{
    struct tim_packet p = {.line = line, .core = (uint16_t)core, .id = id, .kind = (uint8_t)kind,
                           .warp = 0xffff, .lanes = 1};

    for (unsigned b = from; b < from + bytes; b++)
        p.mask[b / 64] |= UINT64_C(1) << b % 64;
    return p;
}

/** Execute a cycle. Sends @packet unless @packet is NULL, and receives the answers that have arrived. */
static inline void rig_step(struct rig *r, const struct tim_packet *packet)
{
    const struct tim_memory_ops *ops = r->memory->ops;

    ops->tick_replies(r->memory, r->now);
    for (unsigned core = 0; core < r->config.core_count; core++)
        if (ops->receive(r->memory, core, r->now, &r->last)) {
            r->answers++;
            r->answered_at = r->now;
        }
    if (packet != NULL) {
        assert_true(ops->can_send(r->memory, packet->core));
        ops->send(r->memory, packet, r->now);
    }
    ops->tick_requests(r->memory, r->now);
    r->now++;
}

/** Execute cycles until no packet is in flight. Return the cycle of the last answer. */
static inline uint64_t rig_drain(struct rig *r)
{
    for (unsigned k = 0; r->memory->ops->in_flight(r->memory) != 0; k++) {
        assert_true(k < 1000000);
        rig_step(r, NULL);
    }
    return r->answered_at;
}

/** Send @packet while no other packet is in flight. Return the number of cycles to its answer. */
static inline uint64_t rig_latency(struct rig *r, const struct tim_packet *packet)
{
    uint64_t from = r->now;

    rig_step(r, packet);
    return rig_drain(r) - from;
}

#endif
