/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory: how often the banks are passed over for one instruction. */
#include "timing/tim_priv.h"

#include <string.h>

enum { MOST_WORDS = EMU_MAX_LANES * 2 }; /* of one bank */

/** Words that @lanes use, bank by bank: the most of one bank. Lanes with the same word share it
 *  (broadcast), unless @single: atomics pass one by one. */
static unsigned passes_of(const struct tim_config *config, const struct emu_access *access,
                          uint64_t lanes, bool single)
{
    uint32_t word[64][MOST_WORDS]; /* [bank][k] */
    uint16_t used[64] = {0};
    unsigned most = 0, shift = lw_lowest(config->shared_bank_bytes); /* powers of two */

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

unsigned tim_shared_passes(const struct tim_config *config, const struct emu_access *access)
{
    bool single = access->kind == EMU_ACCESS_ATOMIC || access->kind == EMU_ACCESS_REDUCE;
    unsigned parts = access->bytes > config->shared_bank_bytes
                         ? access->bytes / config->shared_bank_bytes : 1;
    unsigned group = config->core_warp_width > parts ? config->core_warp_width / parts : 1;
    uint64_t lanes = 0;
    unsigned passes = 0;

    for (LW_EACH_BIT(l, access->lanes))
        if (access->lane_space[l] == ISA_SPACE_SHARED)
            lanes |= UINT64_C(1) << l;
    for (unsigned start = 0; start < config->core_warp_width; start += group)
        passes += passes_of(config, access, lanes & lw_mask(group) << start, single);
    return passes;
}
