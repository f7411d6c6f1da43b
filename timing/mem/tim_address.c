/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping of addresses to L2 slice, channel, bank and DRAM row (docs/reference/timing-memory.md), creation of clocks, and sizes
 * of packets. The number of slices, the flit size and the ratios of clocks need not be powers of two; divisions by them use
 * struct tim_divisor. All other divisors are powers of two. */
#include "timing/mem/tim_mem_priv.h"

void tim_clock_change(struct tim_clock *clock, uint64_t mhz, uint64_t core_mhz, uint64_t now)
{
    uint64_t a = mhz, b = core_mhz;

    clock->own = tim_clock_edge(clock, now);
    clock->from = now;
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    tim_divisor_init(&clock->edges, mhz / a);
    tim_divisor_init(&clock->cycles, core_mhz / a);
}

void tim_clock_init(struct tim_clock *clock, unsigned mhz, unsigned core_mhz)
{
    tim_divisor_init(&clock->edges, 1);
    tim_divisor_init(&clock->cycles, 1);
    clock->from = clock->own = 0;
    tim_clock_change(clock, mhz, core_mhz, 0);
}

/** icnt.hash xor: returns by how much the L2 slices of round @round are rotated. A round consists of as many consecutive
 *  chunks as there are L2 slices; each chunk of a round is in a different L2 slice. */
static unsigned rotation_of(uint64_t round)
{
    for (unsigned shift = 32; shift >= 4; shift /= 2)
        round ^= round >> shift;
    return round & 0xff;
}

unsigned tim_address_locate(const struct tim_config *config, const struct tim_divisor *by_slices,
                           uint64_t address, uint64_t *local)
{
    uint64_t chunk = address >> lw_lowest(config->icnt_interleave);
    uint64_t round = tim_divide(by_slices, chunk);
    uint64_t slice = chunk - round * config->l2_slices;

    if (config->icnt_hash == TIM_HASH_XOR) {
        slice += rotation_of(round);
        slice -= tim_divide(by_slices, slice) * config->l2_slices;
    }
    if (local != NULL)
        *local = round * config->icnt_interleave + (address & (config->icnt_interleave - 1));
    return (unsigned)slice;
}

uint64_t tim_address_of(const struct tim_config *config, unsigned slice, uint64_t local)
{
    unsigned slices = config->l2_slices;
    uint64_t round = local / config->icnt_interleave;

    if (config->icnt_hash == TIM_HASH_XOR)
        slice = (slice + slices - rotation_of(round) % slices) % slices;
    return (round * slices + slice) * config->icnt_interleave + local % config->icnt_interleave;
}

void tim_dram_locate(const struct tim_config *config, const struct tim_slice *slice, uint64_t local,
                    uint16_t *bank, uint32_t *row)
{
    unsigned chunk_shift = lw_lowest(config->icnt_interleave);
    uint64_t chunk = (local >> chunk_shift) * slice->parts + slice->part;
    uint64_t address = (chunk << chunk_shift) + (local & (config->icnt_interleave - 1));

    address >>= lw_lowest(config->dram_row_bytes);
    *bank = (uint16_t)(address & (config->dram_banks - 1));
    *row = (uint32_t)(address >> lw_lowest(config->dram_banks));
}

static unsigned bytes_in(uint64_t mask)
{
    return mask == 0 ? 0 : mask == UINT64_MAX ? 64 : lw_popcount(mask);
}

/** Returns the number of flits of a packet that consists of a header and @bytes of data. */
static uint16_t flits_of(const struct tim_mem *mem, unsigned bytes)
{
    uint64_t flits = tim_divide(&mem->by_flit_bytes, (uint64_t)mem->config->icnt_header_bytes + bytes +
                                                         mem->config->icnt_flit_bytes - 1);

    return (uint16_t)(flits == 0 ? 1 : flits);
}

void tim_packet_flits(const struct tim_mem *mem, const struct tim_packet *packet, uint16_t *flits,
                      uint16_t *answer_flits)
{
    unsigned bytes = 0, kind = packet->kind;

    for (unsigned w = 0; w < 4; w++)
        bytes += bytes_in(packet->mask[w]);
    /* each lane of an atomic has its own operand, even if all access one word */
    if (kind >= TIM_PACKET_ATOMIC && bytes < 4u * packet->lanes)
        bytes = 4u * packet->lanes;
    *flits = flits_of(mem, kind == TIM_PACKET_READ ? 0 : bytes);
    *answer_flits = flits_of(mem, kind == TIM_PACKET_READ || kind == TIM_PACKET_ATOMIC ? bytes : 0);
}
