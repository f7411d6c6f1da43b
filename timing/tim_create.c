/* SPDX-License-Identifier: Apache-2.0 */
/* Creation of an engine: selects the models of cores and memory, creates the caches that cores share, and connects the
 * mechanisms of different cores. */
#include "timing/tim_engine_priv.h"

enum lw_status tim_engine_create(struct emu_machine *machine, const struct tim_config *config,
                                 const struct tim_options *options, struct emu_engine **out,
                                 struct lw_error *err)
{
    return tim_engine_create_over(machine, config, options,
                                  options != NULL && options->reference ? tim_memory_reference_create
                                                                        : tim_memory_fast_create,
                                  out, err);
}

/** Calls the hook `joins` of the mechanisms of the cores. All cores have the same mechanisms. */
static void join_mechanisms(struct tim_engine *e)
{
    for (unsigned i = 0; i < e->core[0]->mechs.count; i++) {
        const struct tim_mechanism *row = e->core[0]->mechs.mech[i]->row;
        struct tim_mech *mech[TIM_CORES_MOST];

        for (unsigned c = 0; c < e->config.core_count; c++)
            mech[c] = e->core[c]->mechs.mech[i];
        if (row->joins != NULL)
            row->joins(mech, e->config.core_count);
    }
}

void tim_engine_share_caches(struct tim_engine *e)
{
    const unsigned of[TIM_SHARES] = {[TIM_SHARES_CODE] = e->config.fetch_shared,
                                     [TIM_SHARES_CONSTANTS] = e->config.constant_shared};

    for (unsigned what = 0; what < TIM_SHARES; what++)
        for (unsigned c = 0; of[what] > 1 && c < e->config.core_count; c++) {
            unsigned first = c - c % of[what], left = e->config.core_count - first;

            tim_core_share(e->core[c], (enum tim_sharing_of)what, e->core + first, left < of[what] ? left : of[what]);
        }
    join_mechanisms(e);
}
