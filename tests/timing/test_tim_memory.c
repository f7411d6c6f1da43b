/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the memory side: latencies, limits and traffic that can be computed by hand. Most tests run on both implementations of
 * the memory side. */
#include <stdio.h>

#include "tests/timing/tim_memory_fixture.h"
#include "timing/mem/tim_mem_priv.h"

static const rig_create_fn creates[] = {
    tim_memory_reference_create,
    tim_memory_fast_create,
};

typedef void (*case_fn)(rig_create_fn create);
static void on_each(case_fn run)
{
    for (size_t i = 0; i < LW_COUNT_OF(creates); i++)
        run(creates[i]);
}

static uint64_t slice_count(const struct rig *r, unsigned which)
{
    uint64_t sum = 0;

    for (unsigned s = 0; s < r->config.l2_slices; s++)
        sum += r->memory->ops->slice_stats(r->memory, s)->count[which];
    return sum;
}

static uint64_t channel_count(const struct rig *r, unsigned which)
{
    uint64_t sum = 0;

    for (unsigned c = 0; c < r->config.dram_channels; c++)
        sum += r->memory->ops->channel_stats(r->memory, c)->count[which];
    return sum;
}

static uint64_t read_latency(struct rig *r, uint64_t line, unsigned bytes)
{
    struct tim_packet p = rig_packet(TIM_PACKET_READ, 0, line, 0, bytes, 0);

    return rig_latency(r, &p);
}

static void let_pass(struct rig *r, unsigned cycles)
{
    while (cycles-- > 0)
        rig_step(r, NULL);
}

/* ---- clocks that change ----------------------------------------------------------------------- */

/* A clock of 700 MHz has an edge in each second cycle of 1400 MHz. From cycle 100 on it has 595 MHz: 17 edges in 40 cycles. Edge 50 is
 * the first one with the low clock: its third cycle ends after 51 of 40 fortieths. */
static void a_clock_changes_at_a_cycle(void **state)
{
    struct tim_clock clock;

    (void)state;
    tim_clock_init(&clock, 700, 1400);
    assert_int_equal(tim_clock_edge(&clock, 100), 50);
    tim_clock_change(&clock, 700 * 595, 1400 * 700, 100);
    assert_int_equal(clock.edges.by, 17);
    assert_int_equal(clock.cycles.by, 40);
    assert_int_equal(tim_clock_edge(&clock, 100), 50);
    assert_int_equal(tim_clock_edge(&clock, 102), 50);
    assert_int_equal(tim_clock_edge(&clock, 103), 51);
    assert_int_equal(tim_clock_edge(&clock, 140), 67);
    assert_int_equal(tim_clock_cycle(&clock, 50), 102);
    assert_int_equal(tim_clock_cycle(&clock, 66), 139);
    assert_int_equal(tim_clock_edge(&clock, 20), 50); /* cycles and edges before the change count as those of the change */
    assert_int_equal(tim_clock_cycle(&clock, 49), 100);
    tim_clock_change(&clock, 700, 1400, 140);
    assert_int_equal(tim_clock_edge(&clock, 142), 68);
    assert_int_equal(tim_clock_cycle(&clock, 67), 141);
}

/* With half the clocks, a read that misses L2 takes twice the time, and the memory has the old clocks again afterwards. */
static void a_read_takes_twice_the_time_with_half_the_clocks(void **state)
{
    static const rig_create_fn create[] = {tim_memory_reference_create, tim_memory_fast_create};

    (void)state;
    for (unsigned i = 0; i < LW_COUNT_OF(create); i++) {
        struct tim_config c = rig_config();
        struct rig r;
        uint64_t fast, slow;

        c.dvfs_low_mhz = 350;
        c.dvfs_high_mhz = 700;
        rig_open(&r, create[i], &c);
        fast = read_latency(&r, 0, 128);
        rig_close(&r);
        rig_open(&r, create[i], &c);
        r.memory->ops->set_slow(r.memory, true, r.now);
        slow = read_latency(&r, 0, 128);
        assert_in_range(slow, 2 * fast - 4, 2 * fast + 4);
        assert_int_equal(slice_count(&r, TIM_SLICE_low_sectors), 4 + 4); /* four sectors are filled, and four are read */
        assert_int_equal(slice_count(&r, TIM_SLICE_low_flits), slice_count(&r, TIM_SLICE_flits));
        r.memory->ops->set_slow(r.memory, false, r.now);
        slow = read_latency(&r, 0, 128); /* hits L2 */
        assert_true(slow < fast);
        assert_int_equal(slice_count(&r, TIM_SLICE_low_sectors), 4 + 4);
        r.memory->ops->set_slow(r.memory, true, r.now);
        assert_in_range(read_latency(&r, 0, 128), 2 * slow - 4, 2 * slow + 4);
        rig_close(&r);
    }
}

/* ---- addresses ------------------------------------------------------------------------------- */

static unsigned slice_of(const struct tim_config *config, uint64_t address, uint64_t *local)
{
    struct tim_divisor by_slices;

    tim_divisor_init(&by_slices, config->l2_slices);
    return tim_address_locate(config, &by_slices, address, local);
}

static void addresses_are_interleaved_over_slices(void **state)
{
    struct tim_config c = tim_fix_config();
    uint64_t local;

    (void)state;
    c.l2_slices = 6;
    c.icnt_hash = TIM_HASH_NONE;
    assert_int_equal(slice_of(&c, 0x000, &local), 0);
    assert_int_equal(slice_of(&c, 0x500, &local), 5);
    assert_int_equal(local, 0);
    assert_int_equal(slice_of(&c, 0x600, &local), 0);
    assert_int_equal(local, 0x100);
    assert_int_equal(slice_of(&c, 0x1000, &local), 4);
    assert_int_equal(slice_of(&c, 0x10f4, &local), 4);
    assert_int_equal(local, 0x2f4);
    assert_int_equal(tim_address_of(&c, 4, local), 0x10f4);
}

static void hashing_gives_each_address_one_location(void **state)
{
    enum { CHUNKS = 1200 };

    (void)state;
    for (unsigned slices = 1; slices <= 13; slices++) {
        struct tim_config c = tim_fix_config();
        uint8_t seen[13][CHUNKS] = {{0}};
        unsigned first[13] = {0}, columns = 0;

        c.l2_slices = slices;
        c.icnt_hash = TIM_HASH_XOR;
        for (uint64_t chunk = 0; chunk < CHUNKS; chunk++) {
            uint64_t local;
            unsigned slice = slice_of(&c, chunk * 256 + 17, &local);

            assert_true(slice < slices && local % 256 == 17 && local / 256 < CHUNKS);
            assert_int_equal(seen[slice][local / 256]++, 0);
            assert_int_equal(tim_address_of(&c, slice, local), chunk * 256 + 17);
        }
        /* addresses whose stride is the number of L2 slices are in all slices */
        for (uint64_t k = 0; k < 64; k++)
            columns += first[slice_of(&c, k * 256 * slices, NULL)]++ == 0;
        assert_true(columns == slices);
    }
}

/* ---- one packet ------------------------------------------------------------------------------ */

/* Latencies of a read are those of docs/reference/timing-memory.md, "One read". If all clocks are equal, the request takes
 * 1 + icnt.latency cycles, and the answer takes icnt.latency + flits - 1. The rest is the time in L2 and DRAM. */
static void one_read(rig_create_fn create)
{
    static const struct {
        unsigned latency, flit, header, l2, tRCD, tCL, tCCD, bus, extra, bytes;
        uint64_t miss, hit;
    } row[] = {
        /* The crossbar takes 8 + 8 cycles, the 5 flits of the answer take 5 cycles, and L2 takes 60 cycles. DRAM takes
         * 1+12+12+(4-1)*4+4+100 cycles for four bursts of four cycles. */
        {8, 32, 8, 60, 12, 12, 2, 8, 100, 128, 16 + 5 + 60 + 141, 16 + 5 + 60},
        {8, 32, 8, 60, 12, 12, 2, 8, 100, 32, 16 + 2 + 60 + 129, 16 + 2 + 60},
        /* With a bus of 32 bytes a burst takes one cycle, and bursts are tCCD apart. */
        {8, 32, 8, 60, 12, 12, 2, 32, 100, 128, 16 + 5 + 60 + 1 + 24 + 6 + 1 + 100, 16 + 5 + 60},
        {1, 32, 0, 1, 1, 1, 1, 32, 0, 32, 2 + 1 + 1 + 4, 2 + 1 + 1},
        {20, 16, 8, 5, 3, 7, 1, 8, 9, 64, 40 + 5 + 5 + 1 + 10 + 8 + 9, 40 + 5 + 5},
    };

    for (size_t i = 0; i < LW_COUNT_OF(row); i++) {
        struct tim_config c = rig_config();
        struct rig r;
        uint64_t miss, hit;

        c.icnt_latency = row[i].latency;
        c.icnt_flit_bytes = row[i].flit;
        c.icnt_header_bytes = row[i].header;
        c.l2_latency = row[i].l2;
        c.dram_tRCD = row[i].tRCD;
        c.dram_tCL = row[i].tCL;
        c.dram_tCCD = row[i].tCCD;
        c.dram_bus_bytes = row[i].bus;
        c.dram_latency = row[i].extra;
        rig_open(&r, create, &c);
        miss = read_latency(&r, 0x1000, row[i].bytes);
        hit = read_latency(&r, 0x1000, row[i].bytes);
        if (miss != row[i].miss || hit != row[i].hit)
            fail_msg("row %zu: miss %llu, hit %llu", i, (unsigned long long)miss,
                     (unsigned long long)hit);
        assert_int_equal(slice_count(&r, TIM_SLICE_misses), 1);
        assert_int_equal(slice_count(&r, TIM_SLICE_hits), 1);
        rig_close(&r);
    }
}
static void one_read_takes_what_the_formula_says(void **state)
{
    (void)state;
    on_each(one_read);
}

/** Measure reads when the crossbar and L2 have half the clock of the cores. Edge n of such a clock is in cycle 2n + 1. */
static void half_clocks(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct rig r;

    c.clocks_icnt = c.clocks_l2 = 500;
    rig_open(&r, create, &c);
    /* The packet is sent in cycle 0, and enters the crossbar at edge 0, cycle 1. The packet arrives at edge 8, cycle 17, and
     * L2 takes the packet at edge 9, cycle 19. The answer of a hit leaves L2 at edge 69, cycle 139. The answer has five
     * flits, and arrives at edge 81, cycle 163. */
    read_latency(&r, 0x1000, 128);
    let_pass(&r, (unsigned)(r.now & 1)); /* sends the packet in an even cycle */
    assert_int_equal(read_latency(&r, 0x1000, 128), 163);
    let_pass(&r, 1 + (unsigned)(r.now & 1)); /* sends the packet in an odd cycle, which is one cycle before an edge */
    assert_int_equal(r.now & 1, 1);
    assert_int_equal(read_latency(&r, 0x1000, 128), 162);
    rig_close(&r);
}
static void slower_clocks_move_things_at_their_edges(void **state)
{
    (void)state;
    on_each(half_clocks);
}

static void clock_edges_fall_into_the_cycles_of_the_formula(void **state)
{
    (void)state;
    struct tim_clock clock;

    tim_clock_init(&clock, 2600, 706); /* floor(n * 2600 / 706) edges are before cycle n */
    assert_int_equal(tim_clock_edge(&clock, 1), 3);
    assert_int_equal(tim_clock_edge(&clock, 2), 7);
    tim_clock_init(&clock, 100, 706);
    assert_int_equal(tim_clock_edge(&clock, 7), 0);
    assert_int_equal(tim_clock_edge(&clock, 8), 1);
    tim_clock_init(&clock, 706, 706);
    assert_int_equal(tim_clock_edge(&clock, 42), 42);
}

/* A clock divides by multiplication, which is exact only for times below a limit. The clock's results must equal those of a
 * 128-bit division for all times. */
static void clock_edges_are_exact_for_all_clocks_and_times(void **state)
{
    uint64_t seed = 7;

    (void)state;
    for (unsigned k = 0; k < 200000; k++) {
        unsigned mhz = tim_fix_between(&seed, 1, 20000), core = tim_fix_between(&seed, 1, 20000);
        uint64_t now = tim_fix_random(&seed) >> tim_fix_between(&seed, 16, 63), edge, cycle;
        struct tim_clock clock;

        if (k % 4 == 0)
            core = mhz * tim_fix_between(&seed, 1, 20000 / mhz);
        tim_clock_init(&clock, mhz, core);
        edge = tim_clock_edge(&clock, now);
        assert_true(edge == (uint64_t)((unsigned __int128)now * mhz / core));
        cycle = tim_clock_cycle(&clock, edge);
        assert_true(cycle >= now && tim_clock_edge(&clock, cycle) <= edge &&
                    tim_clock_edge(&clock, cycle + 1) > edge);
    }
}

/** Measure reads of a bank while no other request is outstanding: the DRAM row (here: row) of the read is open, no row is open,
 *  or another row is open. */
static void rows(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct rig r;
    uint64_t hit, closed, conflict;

    rig_open(&r, create, &c);
    closed = read_latency(&r, 0x0000, 32); /* the read opens row 0 of bank 0 */
    hit = read_latency(&r, 0x0400, 32);
    let_pass(&r, 200);
    conflict = read_latency(&r, 16 * 2048, 32); /* the read closes row 0 and opens row 1 of bank 0 */
    assert_int_equal(closed, 16 + 2 + 60 + 1 + 12 + 12 + 4 + 100);
    assert_int_equal(closed - hit, 12);      /* opening a row takes tRCD */
    assert_int_equal(conflict - closed, 12); /* closing a row takes tRP */
    assert_int_equal(read_latency(&r, 2048, 32), closed); /* the read opens row 0 of bank 1 */
    assert_int_equal(channel_count(&r, TIM_CHANNEL_activates), 3);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_row_hits), 1);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 4);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_busy_cycles), 16);
    rig_close(&r);
}
static void row_hits_misses_and_conflicts_cost_what_the_banks_need(void **state)
{
    (void)state;
    on_each(rows);
}

/** Measure reads around a refresh. A refresh closes all DRAM rows, and a read that arrives during the refresh waits for its
 *  end. */
static void refresh(rig_create_fn create)
{
    const uint64_t closed = 16 + 2 + 60 + 1 + 12 + 12 + 4 + 100;
    struct tim_config c = rig_config();
    uint64_t waited = 0, longest = 0;
    struct rig r;

    c.dram_tREFI = 1000;
    c.dram_tRFC = 50;
    rig_open(&r, create, &c);
    assert_int_equal(read_latency(&r, 0x0000, 32), closed);
    assert_int_equal(read_latency(&r, 0x0400, 32), closed - 12); /* the row is open */
    let_pass(&r, 1100);
    assert_int_equal(read_latency(&r, 0x0800, 32), closed);
    rig_close(&r);
    for (unsigned sent = 1800; sent < 2100; sent++) {
        uint64_t latency;

        rig_open(&r, create, &c);
        let_pass(&r, sent);
        latency = read_latency(&r, 0x0000, 32);
        waited += latency - closed;
        longest = latency > longest ? latency : longest;
        rig_close(&r);
    }
    assert_int_equal(longest, closed + 62);
    /* 50 of the requests arrive when their row would open during the refresh. These requests wait 50 + 49 + ... + 1 cycles
     * in all. The 12 requests before these, which arrive up to tRCD cycles before the refresh, open their row in vain: their
     * burst would be transferred during the refresh. The 12 requests wait for the end of the refresh, and open the row
     * again. */
    assert_int_equal(waited, 1275 + (62 + 61 + 60 + 59 + 58 + 57 + 56 + 55 + 54 + 53 + 52 + 51));
}
static void a_refresh_closes_rows_and_takes_its_time(void **state)
{
    (void)state;
    on_each(refresh);
}

/* ---- the order of DRAM ----------------------------------------------------------------------- */

/** Return the number of activates for reads of one bank. @order has a letter for the row of each read. All reads arrive
 *  before the bank opens the row of the first. */
static uint64_t activates(rig_create_fn create, unsigned policy, unsigned cap, const char *order)
{
    struct tim_config c = rig_config();
    struct rig r;
    uint64_t before;

    c.dram_policy = policy;
    c.dram_row_cap = cap;
    c.dram_tRP = 400; /* tRP is long enough for all requests to arrive before a second row opens */
    c.dram_tRCD = 1;
    c.icnt_flit_bytes = 256;
    rig_open(&r, create, &c);
    read_latency(&r, 0x100000, 32); /* opens another row of this bank, which remains open */
    before = channel_count(&r, TIM_CHANNEL_activates);
    for (uint32_t i = 0; order[i] != '\0'; i++) {
        struct tim_packet p = rig_packet(TIM_PACKET_READ, 0,
                                         (uint64_t)(order[i] - 'A') * 2048 * 16 + 128 * i, 0, 32,
                                         i);

        rig_step(&r, &p);
    }
    rig_drain(&r);
    before = channel_count(&r, TIM_CHANNEL_activates) - before;
    rig_close(&r);
    return before;
}

static void order_of_rows(rig_create_fn create)
{
    assert_int_equal(activates(create, TIM_DRAM_FCFS, 0, "ABABA"), 5);
    assert_int_equal(activates(create, TIM_DRAM_FRFCFS, 0, "ABABA"), 2);
    assert_int_equal(activates(create, TIM_DRAM_FRFCFS, 2, "ABABA"), 3);
    assert_int_equal(activates(create, TIM_DRAM_FRFCFS, 1, "ABABA"), 5);
    assert_int_equal(activates(create, TIM_DRAM_FRFCFS, 2, "AAAAA"), 1); /* no other row is requested, so no limit of row hits
                                                                          * applies */
    assert_int_equal(activates(create, TIM_DRAM_FRFCFS, 0, "ABCABC"), 3);
    assert_int_equal(activates(create, TIM_DRAM_FCFS, 0, "AABB"), 2);
}
static void activates_are_those_of_the_published_example(void **state)
{
    (void)state;
    on_each(order_of_rows);
}

/** Send a write to a bank, then a read of the same bank, for which the bus changes its direction. */
static void turnaround(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct tim_packet w, p;
    struct rig r;
    uint64_t alone, behind;

    c.l2_bytes = 0; /* no L2: packets go to DRAM directly */
    c.icnt_flit_bytes = 256;
    rig_open(&r, create, &c);
    read_latency(&r, 0, 32);
    alone = read_latency(&r, 0x100, 32);
    w = rig_packet(TIM_PACKET_WRITE, 0, 0x200, 0, 32, 1);
    p = rig_packet(TIM_PACKET_READ, 0, 0x300, 0, 32, 2);
    rig_step(&r, &w);
    behind = rig_latency(&r, &p);
    /* The write waits in the L2 slice for one edge. So its command is issued at the edge at which, without the write, the
     * command of the read would be issued. The read then waits for tWL (4), the burst (4) and tWTR (5). */
    assert_int_equal(behind - alone, 4 + 4 + 5);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_writes), 1);
    rig_close(&r);
}
static void a_read_waits_for_the_bus_turnaround_after_a_write(void **state)
{
    (void)state;
    on_each(turnaround);
}

/* ---- bandwidth ------------------------------------------------------------------------------- */

/** Read @lines lines of 128 bytes in order. Return the cycles from the first answer to the last. */
static uint64_t stream(struct rig *r, unsigned lines)
{
    unsigned sent = 0;
    uint64_t first = 0;

    while (r->answers < lines) {
        struct tim_packet p = rig_packet(TIM_PACKET_READ, 0, 128 * (uint64_t)sent, 0, 128, sent);
        bool more = sent < lines && r->memory->ops->can_send(r->memory, 0);

        rig_step(r, more ? &p : NULL);
        sent += more;
        if (r->answers == 1 && first == 0)
            first = r->answered_at;
    }
    return r->answered_at - first;
}

static void plateau(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct rig r;
    uint64_t cycles;

    /* The bus of DRAM limits the bandwidth to 128 bytes in 16 cycles. A change of the row takes no time, because the next bank
     * opens its row while the row before it is read. */
    c.icnt_flit_bytes = 256;
    rig_open(&r, create, &c);
    cycles = stream(&r, 4096);
    assert_in_range(cycles, 4095 * 16, 4095 * 16 + 200);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_activates), 4096 * 128 / 2048);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_busy_cycles), 4096 * 16);
    assert_in_range(channel_count(&r, TIM_CHANNEL_active_cycles), 4096 * 16, 4096 * 16 + 200);
    rig_close(&r);
    /* The crossbar limits the bandwidth: an answer has five flits, and DRAM is faster. */
    c.icnt_flit_bytes = 32;
    c.dram_bus_bytes = 32;
    c.dram_tCCD = 1;
    c.l2_mshrs = c.dram_queue = 64; /* enough outstanding requests to cover the latency */
    rig_open(&r, create, &c);
    cycles = stream(&r, 4096);
    assert_in_range(cycles, 4095 * 5, 4095 * 5 + 200);
    rig_close(&r);
    /* A single bank limits the bandwidth: there is a row for each line, and a row takes a row cycle, tRC. */
    c.icnt_flit_bytes = 256;
    c.dram_banks = 1;
    c.dram_row_bytes = 128;
    rig_open(&r, create, &c);
    cycles = stream(&r, 1000);
    assert_in_range(cycles, 999 * 40, 999 * 40 + 40);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_activates), 1000);
    rig_close(&r);
}
static void bandwidth_reaches_the_peak_of_what_is_narrowest(void **state)
{
    (void)state;
    on_each(plateau);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/** Send @n reads, whose addresses are @stride apart, in consecutive cycles. Return the cycle of the last answer, and in @stats
 *  the counters of the slice. */
static uint64_t burst_of_reads(rig_create_fn create, const struct tim_config *c, unsigned n,
                               uint64_t stride, struct tim_slice_stats *stats)
{
    struct rig r;
    uint64_t at;

    rig_open(&r, create, c);
    for (unsigned i = 0; i < n; i++) {
        struct tim_packet p = rig_packet(TIM_PACKET_READ, 0, i * stride, 0, 32, i);

        rig_step(&r, &p);
    }
    at = rig_drain(&r);
    assert_int_equal(r.answers, n);
    *stats = *r.memory->ops->slice_stats(r.memory, 0);
    rig_close(&r);
    return at;
}

static void limits(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct tim_slice_stats stats;
    uint64_t wide, narrow;

    c.icnt_flit_bytes = 256;
    wide = burst_of_reads(create, &c, 2, 128, &stats);
    assert_int_equal(stats.count[TIM_SLICE_misses], 2);
    /* If only one miss may be outstanding, the second read waits for the fill of the first read, but not for the answer of
     * the first read. The second read then reads DRAM from the open row. */
    c.l2_mshrs = 1;
    narrow = burst_of_reads(create, &c, 2, 128, &stats);
    assert_int_equal(stats.count[TIM_SLICE_misses], 2);
    assert_int_equal(narrow - wide, 1 + 12 + 4 + 100 - 4); /* - 4: `wide` includes a second burst, too */
    assert_int_equal(stats.count[TIM_SLICE_blocked], 1 + 12 + 12 + 4 + 100 - 1);
    /* Of two reads of one line, the second is merged with the first. If it cannot be merged, it hits after the fill. */
    c = rig_config();
    c.icnt_flit_bytes = 256;
    burst_of_reads(create, &c, 2, 0, &stats);
    assert_int_equal(stats.count[TIM_SLICE_merges], 1);
    assert_int_equal(stats.count[TIM_SLICE_fills], 1);
    c.l2_merges = 1;
    burst_of_reads(create, &c, 2, 0, &stats);
    assert_int_equal(stats.count[TIM_SLICE_merges], 0);
    assert_int_equal(stats.count[TIM_SLICE_hits], 1);
    assert_int_equal(stats.count[TIM_SLICE_blocked], 1 + 12 + 12 + 4 + 100 - 1);
    /* With a single way, the read of the second line waits until the first line has arrived. */
    c.l2_merges = 8;
    c.l2_bytes = 128;
    c.l2_ways = 1;
    burst_of_reads(create, &c, 2, 128, &stats);
    assert_int_equal(stats.count[TIM_SLICE_misses], 2);
    assert_int_equal(stats.count[TIM_SLICE_blocked], 1 + 12 + 12 + 4 + 100 - 1);
}
static void mshrs_merges_and_ways_limit_what_is_under_way(void **state)
{
    (void)state;
    on_each(limits);
}

/** Reads of three lines arrive in consecutive cycles at an L2 slice that may have only one outstanding miss. Check the histograms
 *  of the length of the slice's queue, of the waiting times, and of the latencies. */
static void depths(rig_create_fn create)
{
    enum { FILL = 12 + 4 + 100 /* cycles from an open row to the fill */ };
    struct tim_config c = rig_config();
    const struct tim_histogram *queue, *waiting, *latency;
    struct tim_slice_stats stats;

    c.icnt_flit_bytes = 256;
    c.l2_mshrs = 1;
    burst_of_reads(create, &c, 3, 128, &stats);
    queue = &stats.histogram[TIM_SLICE_H_queue];
    waiting = &stats.histogram[TIM_SLICE_H_waiting];
    latency = &stats.histogram[TIM_SLICE_H_latency];
    /* When the first or the third read leaves the queue, no other read is in the queue. When the second read leaves, the
     * third is in the queue. */
    assert_int_equal(tim_histogram_count(queue), 3);
    assert_int_equal(queue->bucket[0], 2);
    assert_int_equal(queue->bucket[1], 1);
    assert_int_equal(waiting->bucket[0], 1);
    assert_int_equal(waiting->most, (1 + 12 + FILL) + (1 + FILL) - 2);
    assert_int_equal(waiting->sum, (1 + 12 + FILL) - 1 + waiting->most);
    assert_int_equal(stats.count[TIM_SLICE_queue_cycles], waiting->sum + 3);
    assert_int_equal(tim_histogram_count(latency), 3);
    assert_int_equal(stats.histogram[TIM_SLICE_H_icnt_queue].bucket[0], 3);
    c = rig_config();
    burst_of_reads(create, &c, 1, 128, &stats); /* a single read opens the row, and then passes L2's pipe */
    assert_int_equal(stats.histogram[TIM_SLICE_H_latency].sum, 1 + 12 + FILL + 60);
}
static void histograms_say_what_a_request_finds_and_how_long_it_takes(void **state)
{
    (void)state;
    on_each(depths);
}

/** Check that a core that does not accept answers stops the memory side, and that no packet is lost. */
static void pressure(rig_create_fn create)
{
    struct tim_config c = rig_config();
    const struct tim_memory_ops *ops;
    struct tim_packet p;
    struct rig r;
    unsigned sent = 0, room, got = 0;
    uint64_t most;

    rig_open(&r, create, &c);
    ops = r.memory->ops;
    for (unsigned k = 0; k < 20000; k++) {
        ops->tick_replies(r.memory, r.now);
        if (ops->can_send(r.memory, 0)) {
            p = rig_packet(TIM_PACKET_READ, 0, 128 * (uint64_t)sent, 0, 128, sent);
            ops->send(r.memory, &p, r.now);
            sent++;
        }
        ops->tick_requests(r.memory, r.now++);
    }
    /* Packets occupy all space: the core's input queue, the network to L2 with the L2 slice's queue, the pipe of the slice, its
     * queue of answers, and the network back. */
    room = c.icnt_queue + (c.l2_queue + c.icnt_latency) + c.l2_latency + c.icnt_queue +
           (c.icnt_queue + c.icnt_latency);
    assert_in_range(sent, room, room + c.l2_mshrs);
    assert_int_equal(ops->in_flight(r.memory), sent);
    most = r.now + 20000;
    for (; ops->in_flight(r.memory) != 0 && r.now < most; r.now++) {
        ops->tick_replies(r.memory, r.now);
        if (ops->receive(r.memory, 0, r.now, &p)) {
            assert_int_equal(p.id, got); /* answers of one L2 slice remain in order */
            got++;
            assert_false(ops->receive(r.memory, 0, r.now, &p)); /* a core receives one answer per cycle */
        }
        ops->tick_requests(r.memory, r.now);
    }
    rig_close(&r);
}
static void back_pressure_stops_the_cores_and_drains(void **state)
{
    (void)state;
    on_each(pressure);
}

/* ---- writes, atomics --------------------------------------------------------------------------- */

static void writes(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct tim_packet p;
    struct rig r;
    uint64_t taken;

    rig_open(&r, create, &c);
    /* A store of a whole line neither reads nor writes DRAM. The store is answered after the time of a hit, by a packet
     * without data. */
    p = rig_packet(TIM_PACKET_WRITE, 0, 0x1000, 0, 128, 9);
    taken = rig_latency(&r, &p);
    assert_int_equal(taken, 8 + 5 + 60 + 8); /* the request has five flits, the answer one */
    assert_int_equal(r.last.id, 9);
    assert_int_equal(r.last.kind, TIM_PACKET_WRITE);
    let_pass(&r, 500);
    assert_int_equal(slice_count(&r, TIM_SLICE_writes), 1);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads) +
                         channel_count(&r, TIM_CHANNEL_writes), 0);
    assert_int_equal(read_latency(&r, 0x1000, 128), 16 + 5 + 60); /* the line is in L2 */
    /* A store of four bytes does not read DRAM either. The sector is read once, when other bytes of the sector are read. */
    p = rig_packet(TIM_PACKET_WRITE, 0, 0x2000, 4, 4, 10);
    rig_latency(&r, &p);
    let_pass(&r, 500);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 0);
    p = rig_packet(TIM_PACKET_READ, 0, 0x2000, 4, 4, 10);
    assert_int_equal(rig_latency(&r, &p), 16 + 1 + 60);
    read_latency(&r, 0x2000, 32);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 1);
    assert_int_equal(read_latency(&r, 0x2000, 32), 16 + 2 + 60);
    assert_int_equal(slice_count(&r, TIM_SLICE_writebacks), 0);
    /* When other lines evict both lines, four sectors of the first line and one sector of the second are written to DRAM. */
    for (uint64_t line = 0; line < 65536; line += 128)
        read_latency(&r, 0x100000 + line, 32);
    let_pass(&r, 500);
    assert_int_equal(slice_count(&r, TIM_SLICE_writebacks), 5);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_writes), 5);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 1 + 512);
    rig_close(&r);
}
static void write_back_writes_dirty_sectors_when_lines_go(void **state)
{
    (void)state;
    on_each(writes);
}

static void through(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct tim_packet p;
    struct rig r;

    c.l2_write = TIM_L2_THROUGH;
    rig_open(&r, create, &c);
    p = rig_packet(TIM_PACKET_WRITE, 0, 0x1000, 0, 64, 1);
    rig_latency(&r, &p);
    let_pass(&r, 500);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_writes), 2);
    assert_true(read_latency(&r, 0x1000, 32) > 150); /* a miss: the store has not allocated the line */
    rig_latency(&r, &p);
    assert_int_equal(read_latency(&r, 0x1000, 64), 16 + 3 + 60); /* the second store has written to the line in L2 */
    p = rig_packet(TIM_PACKET_ATOMIC, 0, 0x1000, 0, 4, 2);
    rig_latency(&r, &p);
    let_pass(&r, 500);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_writes), 5);
    assert_int_equal(slice_count(&r, TIM_SLICE_writebacks), 0);
    rig_close(&r);
    /* Without L2 each access goes to DRAM. */
    c.l2_bytes = 0;
    rig_open(&r, create, &c);
    read_latency(&r, 0x1000, 128);
    read_latency(&r, 0x1000, 128);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 8);
    rig_latency(&r, &p);
    let_pass(&r, 500);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 9);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_writes), 1);
    rig_close(&r);
}
static void write_through_and_no_l2_go_to_dram(void **state)
{
    (void)state;
    on_each(through);
}

static void atomics(rig_create_fn create)
{
    struct tim_config c = rig_config();
    struct tim_packet p;
    struct rig r;
    uint64_t one, all, behind;

    c.icnt_flit_bytes = 256;
    rig_open(&r, create, &c);
    read_latency(&r, 0x1000, 32);
    p = rig_packet(TIM_PACKET_ATOMIC, 0, 0x1000, 0, 4, 1);
    one = rig_latency(&r, &p);
    assert_int_equal(one, 16 + 1 + 60);
    p.lanes = 32; /* the atomics of 32 lanes on one word are executed one after the other */
    all = rig_latency(&r, &p);
    assert_int_equal(all - one, 31);
    rig_step(&r, &p);
    p = rig_packet(TIM_PACKET_READ, 0, 0x1000, 0, 32, 2); /* this read waits until the atomics are executed */
    behind = rig_latency(&r, &p);
    assert_int_equal(behind, one + 31);
    assert_int_equal(slice_count(&r, TIM_SLICE_atomics), 1 + 32 + 32);
    /* An atomic that misses reads its sector from DRAM, and its line becomes dirty. */
    p = rig_packet(TIM_PACKET_REDUCE, 0, 0x8000, 0, 4, 3);
    rig_latency(&r, &p);
    assert_int_equal(channel_count(&r, TIM_CHANNEL_reads), 2);
    rig_close(&r);
}
static void atomics_hold_their_slice_a_lane_at_a_time(void **state)
{
    (void)state;
    on_each(atomics);
}

/* ---- the crossbar ------------------------------------------------------------------------------ */

/** Check that an L2 slice accepts packets of different cores in rotation, and that a waiting packet of a core blocks the later
 *  packets of the core. */
static void turns(rig_create_fn create)
{
    struct tim_config c = rig_config();
    unsigned order[12], n = 0;
    struct rig r;

    c.core_count = 3;
    c.l2_slices = c.dram_channels = 2;
    c.l2_bytes = 0;
    rig_open(&r, create, &c);
    r.memory->ops->tick_replies(r.memory, 0);
    for (unsigned core = 0; core < 3; core++)
        for (uint32_t k = 0; k < 3; k++) {
            struct tim_packet p = rig_packet(TIM_PACKET_WRITE, core, 0, 0, 4, core * 10 + k);

            if (core == 0 && k == 2) /* this packet is for the other L2 slice, which is idle, but leaves after the core's
                                      * first two packets */
                p.line = 256;
            r.memory->ops->send(r.memory, &p, 0);
        }
    r.memory->ops->tick_requests(r.memory, r.now++);
    while (r.memory->ops->in_flight(r.memory) != 0) {
        r.memory->ops->tick_replies(r.memory, r.now);
        for (unsigned core = 0; core < 3; core++) {
            struct tim_packet p;

            if (r.memory->ops->receive(r.memory, core, r.now, &p))
                order[n++] = p.id;
        }
        r.memory->ops->tick_requests(r.memory, r.now++);
    }
    assert_int_equal(n, 9);
    static const unsigned expect[9] = {0, 10, 20, 1, 2, 11, 21, 12, 22};
    for (unsigned i = 0; i < 9; i++)
        if (order[i] != expect[i])
            fail_msg("answer %u is that to packet %u", i, order[i]);
    rig_close(&r);
}
static void inputs_alternate_and_the_first_blocks_the_next(void **state)
{
    (void)state;
    on_each(turns);
}

/* ---- conservation ------------------------------------------------------------------------------ */

static void show_is_short_when_nothing_waits(void **state)
{
    struct tim_config c = rig_config();
    struct lw_buffer text;
    struct tim_packet p = rig_packet(TIM_PACKET_READ, 0, 0x1000, 0, 32, 0);
    struct rig r;

    (void)state;
    lw_buffer_init(&text);
    rig_open(&r, creates[0], &c);
    r.memory->ops->show(r.memory, &text.sink);
    assert_string_equal(text.text, "0 packets are without an answer\n");
    rig_step(&r, &p);
    for (unsigned k = 0; k < 10; k++)
        rig_step(&r, NULL);
    lw_buffer_clear(&text);
    r.memory->ops->show(r.memory, &text.sink);
    assert_string_equal(text.text,
                        "1 packet is without an answer\n"
                        "slice 0: arriving packets: 0; outstanding lines: 1 of at most 32; requests in the pipe: 0; "
                        "writes that wait for DRAM: 0; reads that return from DRAM: 0; answers that wait to be sent: 0\n"
                        "  line 0x1000 (set 32, way 0): sectors 0x1 requested by 1 accesses\n"
                        "channel 0: requests 1 of 16; open rows: 0 in bank 2\n"
                        "  read line 0x1000 of slice 0: bank 2 row 0, 1 burst\n");
    rig_drain(&r);
    lw_buffer_clear(&text);
    r.memory->ops->show(r.memory, &text.sink);
    assert_string_equal(text.text, "0 packets are without an answer\n"
                                   "channel 0: requests 0 of 16; open rows: 0 in bank 2\n");
    rig_close(&r);
    lw_buffer_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_changes_at_a_cycle),
        cmocka_unit_test(a_read_takes_twice_the_time_with_half_the_clocks),
        cmocka_unit_test(addresses_are_interleaved_over_slices),
        cmocka_unit_test(hashing_gives_each_address_one_location),
        cmocka_unit_test(one_read_takes_what_the_formula_says),
        cmocka_unit_test(slower_clocks_move_things_at_their_edges),
        cmocka_unit_test(clock_edges_fall_into_the_cycles_of_the_formula),
        cmocka_unit_test(clock_edges_are_exact_for_all_clocks_and_times),
        cmocka_unit_test(row_hits_misses_and_conflicts_cost_what_the_banks_need),
        cmocka_unit_test(activates_are_those_of_the_published_example),
        cmocka_unit_test(a_refresh_closes_rows_and_takes_its_time),
        cmocka_unit_test(a_read_waits_for_the_bus_turnaround_after_a_write),
        cmocka_unit_test(bandwidth_reaches_the_peak_of_what_is_narrowest),
        cmocka_unit_test(histograms_say_what_a_request_finds_and_how_long_it_takes),
        cmocka_unit_test(mshrs_merges_and_ways_limit_what_is_under_way),
        cmocka_unit_test(back_pressure_stops_the_cores_and_drains),
        cmocka_unit_test(write_back_writes_dirty_sectors_when_lines_go),
        cmocka_unit_test(write_through_and_no_l2_go_to_dram),
        cmocka_unit_test(atomics_hold_their_slice_a_lane_at_a_time),
        cmocka_unit_test(inputs_alternate_and_the_first_blocks_the_next),
        cmocka_unit_test(show_is_short_when_nothing_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
