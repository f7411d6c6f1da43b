/* SPDX-License-Identifier: Apache-2.0 */
/* Where an address lies: slice, channel, bank, row (docs/timing-memory.md); when an edge falls; and
 * sizes of packets. What divides here is a power of two, but for the slices. */
#include "timing/mem/tim_mem_priv.h"

void tim_clock_init(struct tim_clock *clock, unsigned mhz, unsigned core_mhz)
{
    unsigned a = mhz, b = core_mhz;

    while (b != 0) {
        unsigned rest = a % b;

        a = b;
        b = rest;
    }
    tim_divisor_init(&clock->edges, mhz / a);
    tim_divisor_init(&clock->cycles, core_mhz / a);
}

unsigned tim_address_slice(const struct tim_config *config, uint64_t address, uint64_t *local)
{
    uint64_t chunk = address >> lw_lowest(config->icnt_interleave);
    uint64_t round = chunk / config->l2_slices;
    uint64_t slice = chunk - round * config->l2_slices;

    /* Each round of chunks visits every slice once, in an order that its number turns. */
    if (config->icnt_hash == TIM_HASH_XOR) {
        uint64_t fold = round;

        for (unsigned shift = 32; shift >= 4; shift /= 2)
            fold ^= fold >> shift;
        slice = (slice + (fold & 0xff)) % config->l2_slices;
    }
    if (local != NULL)
        *local = round * config->icnt_interleave + (address & (config->icnt_interleave - 1));
    return (unsigned)slice;
}

void tim_dram_place(const struct tim_config *config, const struct tim_slice *slice, uint64_t local,
                    uint16_t *bank, uint32_t *row)
{
    unsigned chunk_shift = lw_lowest(config->icnt_interleave);
    uint64_t chunk = (local >> chunk_shift) * slice->parts + slice->part;
    uint64_t address = (chunk << chunk_shift) + (local & (config->icnt_interleave - 1));

    address >>= lw_lowest(config->dram_row_bytes);
    *bank = (uint16_t)(address & (config->dram_banks - 1));
    *row = (uint32_t)(address >> lw_lowest(config->dram_banks));
}

unsigned tim_packet_flits(const struct tim_config *config, const struct tim_packet *packet,
                          bool answer)
{
    unsigned bytes = config->icnt_header_bytes, flits;
    bool data = false;

    switch ((enum tim_packet_kind)packet->kind) {
    case TIM_PACKET_READ: data = answer; break;
    case TIM_PACKET_WRITE: data = !answer; break;
    case TIM_PACKET_ATOMIC: data = true; break;
    case TIM_PACKET_REDUCE: data = !answer; break;
    }
    if (data) {
        unsigned touched = 0;

        for (unsigned w = 0; w < 4; w++)
            touched += lw_popcount(packet->mask[w]);
        /* each lane of an atomic has an operand of its own, also for one word */
        if (packet->kind >= TIM_PACKET_ATOMIC && touched < 4u * packet->lanes)
            touched = 4u * packet->lanes;
        bytes += touched;
    }
    flits = (bytes + config->icnt_flit_bytes - 1) / config->icnt_flit_bytes;
    return flits == 0 ? 1 : flits;
}
