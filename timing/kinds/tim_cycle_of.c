/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the functions that run a cycle of a core: those specialised for the core's keys, else those for any core. */
#include "timing/core/tim_core_priv.h"

const struct tim_cycle *tim_cycle_of(const struct tim_core *core)
{
    const struct tim_config *c = core->config;

    if (!core->quick || core->hot.words != 1 || core->hot.warp_words != 1 || core->tracing || core->has_tags ||
        c->issue_width != 1 || c->issue_war != TIM_WAR_NONE || c->issue_split_lanes || c->issue_rotate || c->issue_types ||
        c->issue_lanes != 0 || c->issue_compression != TIM_COMPRESS_NONE || c->lsu_separate || c->lsu_replay != TIM_REPLAY_NONE)
        return &tim_cycle_any;
    if (c->issue_dependence == TIM_DEP_SCOREBOARD && c->lsu_local == 0 && c->fetch_policy == TIM_FETCH_LRR &&
        c->registers_collector == TIM_COLLECTOR_TICKED && c->fetch_l0_bytes == 0)
        return tim_acts_of(core) ? &tim_cycle_scoreboard_acts : &tim_cycle_scoreboard;
    if (tim_acts_of(core))
        return &tim_cycle_any;
    if (c->issue_dependence == TIM_DEP_CONTROL && c->registers_collector == TIM_COLLECTOR_WINDOW &&
        c->issue_control_stage && c->lsu_local != 0)
        return &tim_cycle_modern;
    if (c->issue_dependence == TIM_DEP_CONTROL && c->registers_collector == TIM_COLLECTOR_RESERVED &&
        !c->issue_control_stage && c->lsu_local == 0 && c->constant_l0_bytes == 0 && c->fetch_policy == TIM_FETCH_LRR)
        return &tim_cycle_control;
    return &tim_cycle_any;
}
