/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory request prioritization buffer: accesses from the coalescer wait in several queues instead of one. The
 * signature of an instruction, which is its warp or its block, selects the queue. The load/store unit takes the next access from
 * the first queue that is not empty. So the accesses of one warp reach L1 together, and evict fewer lines of other warps:
 *
 *   issued: W2 W0 W2 W1 W0      queue 0: W0 W0
 *                               queue 1: W1           L1 gets W0 W0 W1 W2 W2
 *                               queue 2: W2 W2
 *
 * The other part of the source is the key l1.bypass: if all ways of a set wait for lines, loads bypass L1 instead of waiting.
 * Source: specification of the book on GPU architectures, section 16.4. Our choices: the queues contain all instructions of the
 * load/store queue, including stores and accesses of shared memory; lsu.queue limits the sum of the instructions in all queues.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <stdlib.h>

static bool is_on(const struct tim_config *config)
{
    return config->mrpb_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    (void)core;
    return calloc(1, sizeof(struct tim_mech));
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

/** Returns the queue of the instructions of a warp. */
static unsigned queue_of(const struct tim_mech *mech, unsigned warp)
{
    const struct tim_mech_core *core = mech->core;
    const unsigned signature = core->config->mrpb_signature == TIM_MRPB_BLOCK ? core->block_of(core->context, warp) : warp;

    return signature % core->config->mrpb_queues;
}

static unsigned orders(struct tim_mech *mech, const uint16_t *warp, unsigned count)
{
    unsigned best = 0, queue = queue_of(mech, warp[0]);

    for (unsigned i = 1; i < count && queue != 0; i++) {
        const unsigned other = queue_of(mech, warp[i]);

        if (other < queue) {
            best = i;
            queue = other;
        }
    }
    return best;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct tim_config *config = mech->core->config;

    lw_printf(out, "%u queues, selected by the %s; instructions that overtook an older one: %llu\n", config->mrpb_queues,
              config->mrpb_signature == TIM_MRPB_BLOCK ? "block" : "warp", (unsigned long long)mech->core->count[TIM_CORE_mrpb_overtakes]);
}

const struct tim_mechanism tim_mrpb = {
    .name = "mrpb", .summary = "memory request prioritization buffer: accesses wait in queues of their warps, and the first queue goes first",
    .is_on = is_on, .create = create, .destroy = destroy, .orders = orders, .show = show,
};
