/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interweaving of branches and warps: in the cycle in which an instruction of a diverged warp issues, a second instruction issues
 * on lanes that the first one does not use (timing/core/pair/tim_pair_body.h):
 *
 *   branches (simultaneous branch interweaving, SBI)
 *                    an instruction of another path of the same warp: of the path with most lanes, then with the lowest pc
 *   warps (simultaneous warp interweaving, SWI)
 *                    if there is none, an instruction of another warp of the scheduler: of the warp with most lanes, then of
 *                    the oldest
 *
 * Source: specification of the book on GPU architectures, section 11.1.7. Our choices: the order above, and a perfect
 * instruction buffer for the second path. The wide warps of the source are set by key core.warp_width.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_on(const struct tim_config *config)
{
    return config->interweave_on;
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

/** Returns whether instruction @a is preferred to instruction @b. */
static bool precedes(const struct tim_mech_second *a, const struct tim_mech_second *b)
{
    const unsigned lanes_a = lw_popcount(a->lanes), lanes_b = lw_popcount(b->lanes);

    if (a->same_warp != b->same_warp)
        return a->same_warp;
    if (lanes_a != lanes_b)
        return lanes_a > lanes_b;
    return a->same_warp ? a->pc < b->pc : a->age < b->age;
}

static int pairs(struct tim_mech *mech, const struct tim_mech_second *second, unsigned count)
{
    int best = -1;

    (void)mech;
    for (unsigned i = 0; i < count; i++)
        if (best < 0 || precedes(&second[i], &second[best]))
            best = (int)i;
    return best;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const uint64_t *count = mech->core->count;

    lw_printf(out, "second instructions: %" PRIu64 " of another path of the warp, %" PRIu64 " of another warp, with %" PRIu64
                   " lanes; %" PRIu64 " shared a unit with the first one\n",
              count[TIM_CORE_interweave_branches], count[TIM_CORE_interweave_warps], count[TIM_CORE_interweave_lanes],
              count[TIM_CORE_interweave_shared]);
}

const struct tim_mechanism tim_interweave = {
    .name = "interweave",
    .summary = "interweaving of branches and warps: a second instruction issues on lanes that the first one does not use",
    .is_on = is_on, .create = create, .destroy = destroy, .pairs = pairs, .show = show,
};
