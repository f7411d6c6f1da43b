/* SPDX-License-Identifier: Apache-2.0 */
/* Random settings of mechanisms that select splits, form warps, order accesses or throttle warps, for prop_tim.c. */
#ifndef PROP_MECHANISMS_H
#define PROP_MECHANISMS_H

#include "tests/timing/prop_registers.h"

/* Draws mechanism dws, if the machine that has been drawn permits it. */
static inline void random_dws(struct rnd *r, struct tim_config *c)
{
    c->dws_splits = rnd_below(r, 2) ? between(r, 2, 4) : 64;
    c->dws_on = rnd_below(r, 4) != 0 && c->core_reconvergence == TIM_RECONV_CBAR && c->issue_dependence == TIM_DEP_SCOREBOARD && c->l1_bytes != 0 &&
                !c->dwr_on && !c->vws_on;
    if (!c->dws_on)
        return;
    c->issue_split_lanes = c->issue_switch_on_stall = true;
    c->l1_global = TIM_L1_CACHE;
}

/* Sets keys that mechanisms that form warps need. */
static inline void form_keys(struct tim_config *c)
{
    c->issue_split_lanes = true;
    c->issue_width = 1;
    c->issue_types = c->lsu_separate = false;
    c->issue_compression = TIM_COMPRESS_NONE;
    c->lsu_replay = TIM_REPLAY_NONE;
    c->lsu_local = 0;
}

/* Draws mechanism dwf or tbc, if no mechanism that has been drawn excludes it, and removes other keys that exclude it. With
 * LW_MECHANISM=tbc each model that can have tbc has it. */
static inline void random_dwf(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");
    const bool tbc = forced != NULL && strcmp(forced, "tbc") == 0;

    c->dwf_heuristic = rnd_below(r, TIM_DWF_POLICY + 1);
    c->dwf_threads = rnd_below(r, 3) != 0;
    c->dwf_on = (rnd_below(r, 4) != 0 || tbc) && c->core_reconvergence == TIM_RECONV_CBAR && c->issue_dependence == TIM_DEP_SCOREBOARD && !c->dwr_on &&
                !c->vws_on && !c->dws_on && !c->la_w_on && !c->mrpb_on && c->registers_collector != TIM_COLLECTOR_WINDOW;
    if (!c->dwf_on)
        return;
    if (rnd_below(r, 3) != 0 || tbc) {
        c->dwf_on = c->issue_switch_on_stall = c->swl_on = c->pools_on = c->daws_on = c->equalizer_on = false;
        c->tbc_on = true;
        c->tbc_capri = rnd_below(r, 4) != 0;
        c->tbc_capri_entries = 1 + rnd_below(r, 8);
        c->tbc_capri_bits = 1 + rnd_below(r, 3);
        c->tbc_capri_initial = rnd_below(r, TIM_INADEQUATE + 1);
        if (c->issue_policy == TIM_SCHED_SWL || c->issue_policy == TIM_SCHED_ACTIVE_PENDING)
            c->issue_policy = TIM_SCHED_GTO;
    }
    form_keys(c);
}

/* Draws mechanism lwm, in place of dwf and tbc, if no other mechanism that has been drawn excludes it. */
static inline void random_lwm(struct rnd *r, struct tim_config *c)
{
    c->lwm_warps = between(r, 1, 8);
    c->lwm_timeout = between(r, 4, rnd_below(r, 2) ? 60 : 1500);
    c->lwm_on = rnd_below(r, 2) && getenv("LW_MECHANISM") == NULL && c->core_reconvergence == TIM_RECONV_CBAR &&
                c->issue_dependence == TIM_DEP_SCOREBOARD && !c->dwr_on && !c->vws_on && !c->dws_on && c->registers_collector != TIM_COLLECTOR_WINDOW &&
                c->issue_policy != TIM_SCHED_SWL && c->issue_policy != TIM_SCHED_ACTIVE_PENDING;
    if (!c->lwm_on)
        return;
    c->dwf_on = c->tbc_on = c->issue_switch_on_stall = c->swl_on = c->pools_on = c->daws_on = c->equalizer_on = false;
    c->mrpb_on = c->la_w_on = false;
    form_keys(c);
}

/* Draws mechanism mrpb, if no mechanism that has been drawn excludes it. */
static inline void random_mrpb(struct rnd *r, struct tim_config *c)
{
    c->mrpb_on = rnd_below(r, 2) == 0 && !c->dwr_on && !c->vws_on && c->lsu_local == 0 && c->lsu_replay == TIM_REPLAY_NONE;
    c->mrpb_signature = rnd_below(r, 2);
    c->mrpb_queues = rnd_below(r, 2) ? 256 : between(r, 1, 12);
    if (c->mrpb_on)
        c->lsu_queue = between(r, 2, 24);
}

/* Draws mechanism mascar, if no mechanism that has been drawn excludes it. With LW_MECHANISM=mascar each model has it. */
static inline void random_mascar(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");
    const bool all = forced != NULL && strcmp(forced, "mascar") == 0;

    c->mascar_order = rnd_below(r, 3) != 0;
    c->mascar_queue = rnd_below(r, 4) == 0 ? 0 : between(r, 1, rnd_below(r, 2) ? 8 : 256);
    c->mascar_on = all || rnd_below(r, 2);
    if (all) {
        c->lsu_local = 0;
        c->lsu_replay = TIM_REPLAY_NONE;
        c->la_w_on = c->mrpb_on = c->dwf_on = c->tbc_on = c->lwm_on = c->pools_on = c->dwr_on = c->vws_on = false;
        c->issue_policy = c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? TIM_SCHED_LRR : c->issue_policy;
    }
    if (!c->mascar_on || c->dwr_on || c->vws_on || c->dwf_on || c->tbc_on || c->lwm_on || c->mrpb_on || c->la_w_on || c->lsu_local != 0 ||
        c->lsu_replay != TIM_REPLAY_NONE || c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING) {
        c->mascar_on = false;
        return;
    }
    c->l1_mshrs = between(r, 2, 12);
    c->mascar_free = rnd_below(r, c->l1_mshrs);
    c->lsu_queue = between(r, 1, 6);
    if (rnd_below(r, 2))
        c->l1_global = TIM_L1_CACHE;
}

/* Draws mechanism interweave for some models with convergence barriers that form no warps, and removes other keys that exclude it. With LW_MECHANISM=interweave each
 * model with convergence barriers has it. */
static inline void random_interweave(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");
    const bool draws = rnd_below(r, 6) == 0 && !c->dwf_on && !c->tbc_on && !c->lwm_on && !c->dws_on && !c->vws_on;
    const bool all = forced != NULL ? strcmp(forced, "interweave") == 0 : draws;

    c->interweave_branches = rnd_below(r, 4) != 0;
    c->interweave_warps = !c->interweave_branches || rnd_below(r, 4) != 0;
    c->core_permute = rnd_below(r, 3); /* the other two permutations are drawn by random_permute() */
    c->interweave_on = all && c->core_reconvergence == TIM_RECONV_CBAR;
    if (!c->interweave_on)
        return;
    c->issue_dependence = TIM_DEP_SCOREBOARD;
    c->registers_collector = TIM_COLLECTOR_TICKED;
    c->la_w_on = c->dwf_on = c->tbc_on = c->lwm_on = c->dwr_on = c->vws_on = c->dws_on = false;
    form_keys(c);
}

/* Replaces the permutation of lanes of some models. The generator is a copy, so that this function does not change later draws. */
static inline void random_permute(struct rnd r, struct tim_config *c)
{
    if (rnd_below(&r, 2))
        c->core_permute = rnd_below(&r, TIM_PERMUTE_ROTATE + 1);
}

/* Draws mechanism dynpcal, and for half of its models mechanism ccws, if no mechanism that has been drawn excludes them. Some of the models
 * with ccws have pools in place of equalizer and mascar. With LW_MECHANISM=dynpcal each model that can have dynpcal has it. */
static inline void random_dynpcal(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");
    const bool all = forced != NULL && strcmp(forced, "dynpcal") == 0;
    const bool may = !c->dwr_on && !c->vws_on && !c->dwf_on && !c->tbc_on && !c->lwm_on && !c->la_w_on && !c->daws_on;
    const bool limits = rnd_below(r, all ? 4 : 2) != 0 && may;
    unsigned epochs;

    c->dynpcal_on = (rnd_below(r, 3) == 0 || all) && c->l1_bytes != 0 && !c->dvfs_on;
    if (!c->dynpcal_on)
        return;
    c->pcal_on = false;
    c->ccws_on |= limits;
    c->dynpcal_mode = limits ? TIM_DYNPCAL_CCWS : TIM_DYNPCAL_MAX_TLP;
    if (limits && (rnd_below(r, 3) != 0 || all) && !c->swl_on && c->issue_policy != TIM_SCHED_SWL && !c->issue_types) {
        c->pools_on = true;
        c->equalizer_on = c->mascar_on = false;
    }
    c->l1_global = TIM_L1_CACHE;
    c->dynpcal_shares = between(r, 1, 16);
    c->dynpcal_epoch = between(r, 20, 500);
    epochs = limits + (c->dynpcal_shares + c->core_count - 1) / c->core_count;
    c->dynpcal_period = epochs + between(r, 1, 8);
    c->dynpcal_sample = between(r, 1, 40);
    c->dynpcal_low = rnd_below(r, 101);
    c->dynpcal_high = between(r, c->dynpcal_low, 100);
}

/* Draws mechanism medic. With LW_MECHANISM=medic each model with an L2 has it. */
static inline void random_medic(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");

    c->medic_on = (rnd_below(r, 2) || (forced != NULL && strcmp(forced, "medic") == 0)) && c->l2_bytes != 0;
    c->medic_interval = between(r, 20, 4000);
    c->medic_sample = between(r, 1, 6);
    c->medic_miss_boundary = between(r, 0, 60);
    c->medic_hit_boundary = between(r, 60, 100);
    c->medic_tune = rnd_below(r, 3) != 0;
    c->medic_margin = rnd_below(r, 11);
    c->medic_step = between(r, 1, 30);
    c->medic_bypass = rnd_below(r, 4) != 0;
    c->medic_insert = rnd_below(r, 4) != 0;
    c->medic_priority = c->dram_policy != TIM_DRAM_FCFS && rnd_below(r, 4) != 0;
}

/* Draws mechanism equalizer, if no mechanism that has been drawn excludes it. */
static inline void random_equalizer(struct rnd *r, struct tim_config *c)
{
    c->equalizer_on = rnd_below(r, 2) == 0 && !c->swl_on && c->issue_policy != TIM_SCHED_SWL && !c->pools_on &&
                      c->issue_policy != TIM_SCHED_ACTIVE_PENDING && !c->daws_on && !c->dwr_on && !c->vws_on && !c->la_w_on && !c->issue_types;
    c->equalizer_sample = between(r, 1, 40);
    c->equalizer_epoch = between(r, 1, 300);
}

/* With LW_MECHANISM=vote, each model whose cores share no caches gets equalizer and dvfs, so that most models have votes. */
static inline void random_voters(struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");
    const bool all = forced != NULL && strcmp(forced, "vote") == 0;

    if (all && c->fetch_shared <= 1 && c->constant_shared <= 1) {
        c->swl_on = c->pools_on = c->daws_on = c->dwr_on = c->vws_on = c->la_w_on = c->issue_types = c->tbc_on = c->lwm_on = c->dynpcal_on = false;
        c->issue_policy = c->issue_policy == TIM_SCHED_SWL || c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? TIM_SCHED_GTO : c->issue_policy;
        c->issue_width = c->issue_width > 2 ? 2 : c->issue_width;
        c->equalizer_on = c->dvfs_on = true;
    }
}

/* Draws the clocks on which cores vote, after all mechanisms that exclude votes. */
static inline void random_votes(struct rnd r, struct tim_config *c)
{
    if (c->dvfs_act != TIM_DVFS_VOTE)
        return;
    c->dvfs_goal = rnd_below(&r, 2);
    c->dvfs_memory = rnd_below(&r, 4) != 0;
}

#endif
