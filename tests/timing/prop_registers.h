/* SPDX-License-Identifier: Apache-2.0 */
/* Random settings of the mechanisms of the register file, for prop_tim.c. */
#ifndef PROP_REGISTERS_H
#define PROP_REGISTERS_H

#include "tests/emu/history/random_kernels.h"
#include "timing/tim_engine_priv.h"

static inline unsigned between(struct rnd *r, unsigned low, unsigned high)
{
    return low + rnd_below(r, high - low + 1);
}

/* Returns whether a mechanism or issue.policy of the model may keep a ready warp from issuing because of other warps. */
static inline bool holds_back(const struct tim_config *c)
{
    return c->swl_on || c->pools_on || c->ccws_on || c->daws_on || c->la_w_on || c->equalizer_on || c->dwr_on || c->vws_on || c->dwf_on ||
           c->tbc_on || c->lwm_on || c->mascar_on || c->interweave_on || c->issue_policy == TIM_SCHED_SWL || c->issue_policy == TIM_SCHED_ACTIVE_PENDING;
}

/* Draws mechanism rows, and removes keys that exclude it. If rows are allocated at writes, the register file often has space for
 * little more than a block, whose 4 warps have at most 64 registers. */
static inline void random_rows(struct rnd *r, struct tim_config *c)
{
    const bool held = holds_back(c);

    c->rows_drowsy = rnd_below(r, 2) && c->registers_collector != TIM_COLLECTOR_WINDOW && c->lsu_local == 0;
    c->rows_wake = rnd_below(r, 9);
    c->rows_rename = !held && rnd_below(r, 3) != 0;
    c->rows_overcommit = between(r, 100, 1600);
    c->rows_reserve = rnd_below(r, 2);
    c->rows_threshold = rnd_below(r, 2) ? 0 : between(r, 1, 40);
    c->rows_on = rnd_below(r, 2) && !c->dvfs_on;
    if (!c->rows_on)
        return;
    c->registers_tags = TIM_REGISTERS_ROWS;
    if (!c->rows_rename)
        return;
    c->kernels_mixed = c->kernels_suspend = false;
    if (rnd_below(r, 4) != 0)
        c->core_registers = c->core_warp_width * between(r, 4 * 64, 5 * 64);
}

/* Draws mechanism orf, if nothing that has been drawn excludes it. */
static inline void random_orf(struct rnd *r, struct tim_config *c)
{
    c->orf_kind = rnd_below(r, 2);
    c->orf_entries = between(r, 1, 8);
    c->orf_last = rnd_below(r, 2);
    c->orf_liveness = rnd_below(r, 3) != 0;
    c->orf_on = rnd_below(r, 3) != 0 && !c->rows_on && !c->dwf_on && !c->tbc_on && !c->lwm_on && !c->interweave_on && c->registers_collector != TIM_COLLECTOR_WINDOW && c->lsu_local == 0;
    if (c->orf_on)
        c->registers_tags = TIM_REGISTERS_ROWS;
}

/* Draws mechanism prf, if nothing that has been drawn excludes it. */
static inline void random_prf(struct rnd *r, struct tim_config *c)
{
    const unsigned rows = c->core_registers / c->core_warp_width / c->core_warps;

    c->prf_hot = rnd_below(r, 4);
    c->prf_entries = between(r, 1, rows < 8 ? rows : 8);
    c->prf_slow = between(r, 1, 8);
    c->prf_busy = between(r, 1, 5);
    c->prf_idle = rnd_below(r, 2) ? 0 : between(r, 1, 60);
    c->prf_wake = rnd_below(r, 9);
    c->prf_on = rnd_below(r, 2) && rows != 0 && !c->rows_on && !c->orf_on && !c->dvfs_on && !c->dwf_on && !c->tbc_on && !c->lwm_on && !c->interweave_on &&
                c->registers_collector != TIM_COLLECTOR_WINDOW && c->lsu_local == 0;
    if (c->prf_on)
        c->registers_tags = TIM_REGISTERS_ROWS;
}

/* Draws mechanism regless, if nothing that has been drawn excludes it. The operand staging unit often has only slightly more
 * entries than a region may need. */
static inline void random_regless(struct rnd *r, struct tim_config *c)
{
    const unsigned rows = c->core_registers / c->core_warp_width;
    const bool held = holds_back(c);

    c->regless_region = between(r, 1, 20);
    c->regless_size = (2000 + rows) / (rows + 1) + (rnd_below(r, 3) ? 0 : between(r, 1, 20));
    c->regless_size = c->regless_size < 100 ? c->regless_size : 100;
    c->regless_ports = between(r, 1, 4);
    c->regless_latency = rnd_below(r, 120);
    c->regless_on = rnd_below(r, 4) != 0 && !held && !c->rows_on && !c->orf_on && !c->prf_on && !c->dvfs_on && !c->issue_switch_on_stall &&
                    rows * c->regless_size / 100 >= 20;
    if (c->regless_on)
        c->registers_tags = TIM_REGISTERS_ROWS;
}

#endif
