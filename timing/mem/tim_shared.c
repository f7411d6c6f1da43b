/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the number of passes over the banks of shared memory that an instruction makes. */
#include "timing/tim_priv.h"

#include <string.h>

enum { MOST_WORDS = EMU_MAX_LANES * 2 }; /* maximum number of words that one instruction accesses in one bank */

/** Counts for each bank the words that @lanes use in it, and returns the maximum of these numbers. Lanes that use the
 *  same word count once (broadcast), unless @single is set, as for atomics. */
static unsigned passes_of(const struct tim_config *config, const struct emu_access *access,
                          uint64_t lanes, bool single)
{
    uint32_t word[64][MOST_WORDS]; /* [bank][k] */
    uint16_t used[64] = {0};
    unsigned most = 0, shift = lw_lowest(config->shared_bank_bytes); /* log2, because shared.bank_bytes is a power of two */

    for (LW_EACH_BIT(l, lanes)) {
        uint32_t offset = (uint32_t)(access->address[l] - ISA_SHARED_BASE);
        uint32_t first = offset >> shift, last = (offset + access->bytes - 1) >> shift;

        for (uint32_t w = first; w <= last; w++) {
            unsigned bank = w & (config->shared_banks - 1), k = 0;

            if (single)
                k = used[bank];
            while (k < used[bank] && word[bank][k] != w)
                k++;
            if (k < used[bank])
                continue;
            if (!single)
                word[bank][k] = w;
            used[bank]++;
            most = used[bank] > most ? used[bank] : most;
        }
    }
    return most;
}

/** Returns the number of passes of an access whose segments are all uniform or consecutive words. Each bank row (the words with
 *  one index in all banks) that such a segment touches needs at most one pass. Returns 0 for other accesses. */
static unsigned passes_of_pieces(const struct tim_config *config, const struct emu_access *access)
{
    uint32_t row[2 * EMU_EVENT_SEGMENTS];
    uint64_t used[2 * EMU_EVENT_SEGMENTS], all = 0, twice = 0;
    unsigned shift = lw_lowest(config->shared_bank_bytes), banks = config->shared_banks;
    unsigned count = 0, most = 0;

    if (access->bytes != config->shared_bank_bytes || access->space != ISA_SPACE_SHARED)
        return 0;
    for (unsigned k = 0; k < access->piece_count; k++) {
        const struct emu_event_segment *p = &access->piece[k];
        uint32_t word = (uint32_t)(p->base - ISA_SHARED_BASE) >> shift;
        unsigned first = lw_lowest(p->lanes), words = 1;
        uint64_t set = 1;

        if (p->stride != 0) {
            set = p->lanes >> first;
            words = 64 - (unsigned)__builtin_clzll(set);
            if (p->stride != access->bytes)
                return 0;
        }
        if (words > banks || p->base % access->bytes != 0)
            return 0;
        for (unsigned part = 0; part < 2; part++) {
            unsigned at = word & (banks - 1);
            uint64_t here = part == 0 ? set << at & lw_mask(banks)
                                      : at == 0 ? 0 : set >> (banks - at);
            uint32_t in = word / banks + part;
            unsigned i = 0;

            if (here == 0)
                continue;
            while (i < count && row[i] != in)
                i++;
            if (i == count) {
                row[count] = in;
                used[count++] = 0;
            }
            used[i] |= here;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        twice |= all & used[i];
        all |= used[i];
    }
    if (twice == 0)
        return 1;
    for (LW_EACH_BIT(bank, twice)) {
        unsigned n = 0;

        for (unsigned i = 0; i < count; i++)
            n += used[i] >> bank & 1;
        most = n > most ? n : most;
    }
    return most;
}

unsigned tim_shared_passes_of(const struct tim_config *config, const struct emu_access *access, unsigned width)
{
    bool single = access->kind == EMU_ACCESS_ATOMIC || access->kind == EMU_ACCESS_REDUCE;
    unsigned parts = access->bytes > config->shared_bank_bytes
                         ? access->bytes / config->shared_bank_bytes : 1;
    unsigned group = width > parts ? width / parts : 1;
    uint64_t lanes = 0, address[EMU_MAX_LANES];
    struct emu_access rows;
    unsigned passes = 0;

    if (access->piece_count != 0) {
        passes = single || parts != 1 ? 0 : passes_of_pieces(config, access);
        if (passes != 0)
            return passes;
        rows = *access;
        rows.address = tim_access_rows(access, address);
        access = &rows;
    }
    if (access->lane_space == NULL)
        lanes = access->space == ISA_SPACE_SHARED ? access->lanes : 0;
    else
        for (LW_EACH_BIT(l, access->lanes))
            if (access->lane_space[l] == ISA_SPACE_SHARED)
                lanes |= UINT64_C(1) << l;
    for (unsigned start = 0; start < width; start += group)
        passes += passes_of(config, access, lanes & lw_mask(group) << start, single);
    return passes;
}

unsigned tim_shared_passes(const struct tim_config *config, const struct emu_access *access)
{
    return tim_shared_passes_of(config, access, config->core_warp_width);
}
