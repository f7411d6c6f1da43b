/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the shipped timing model against the reference model. With both, random kernels on random GPU models must take the
 * same number of cycles and give the same counters, memory and state. Runs of the shipped model are stopped at random
 * instructions and cycles, and some of them write a trace of some cycles. The stall reasons of every issue slot must sum to
 * the cycles. Half of the machines have tags (uniform and affine registers), and most of their models use the tags. If a
 * model does not use them, only the counters of tags may differ from a run without tags. LW_SEED is the seed of the first
 * case. LW_RANDOM_COUNT is the number of cases; the default is 1 with LW_SEED, and 200 without.
 */
#include "tests/emu/history/random_kernels.h"
#include "tests/timing/prop_mechanisms.h"
#include "timing/core/tim_core_priv.h"
#include "timing/tim_engine_priv.h"

enum { MOST_CYCLES = 60000 };

static unsigned power(struct rnd *r, unsigned low, unsigned high)
{
    unsigned x = low;

    while (x < high && rnd_below(r, 2))
        x *= 2;
    return x;
}

/** Draw the features of GCN cores: rotation of SIMDs, instructions of several types per cycle, wait counters, separate queues
 *  for shared memory, and caches that cores share. */
static void random_gcn(struct rnd *r, struct tim_config *c)
{
    c->core_count = between(r, 1, 5);
    c->fetch_shared = between(r, 1, 4);
    c->constant_shared = between(r, 1, 4);
    c->issue_rotate = c->registers_collector != TIM_COLLECTOR_WINDOW && rnd_below(r, 3) != 0;
    c->issue_types = c->registers_collector != TIM_COLLECTOR_WINDOW && rnd_below(r, 3) != 0;
    if (c->issue_types) {
        c->issue_policy = c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? TIM_SCHED_LRR : c->issue_policy;
        c->pools_on = false;
        c->lsu_replay = TIM_REPLAY_NONE;
        c->issue_width = between(r, 1, 5);
    }
    if (rnd_below(r, 3) != 0) {
        c->issue_dependence = TIM_DEP_COUNTERS;
        c->issue_split_lanes = false;
    }
    c->issue_vm_count = between(r, 1, 15);
    c->issue_lgkm_count = between(r, 1, 31);
    c->issue_exp_count = between(r, 1, 7);
    c->lsu_separate = c->lsu_local == 0 && c->lsu_replay == TIM_REPLAY_NONE && rnd_below(r, 2) != 0;
    c->registers_conflict_free = rnd_below(r, 2);
}

/* Draw keys by which loads bypass L1. The keys are drawn from a copy of the generator, so that this function does not change
 * the keys that are drawn later. */
static void random_bypass(struct rnd r, struct tim_config *c)
{
    c->pcal_on = c->l1_bytes != 0 && rnd_below(&r, 3) == 0;
    c->pcal_tokens = rnd_below(&r, 9);
    c->reuse_on = c->l1_bytes != 0 && rnd_below(&r, 3) == 0;
    c->reuse_sample = between(&r, 1, 40);
    c->reuse_threshold = rnd_below(&r, 101);
    c->reuse_period = between(&r, 1, 100);
    c->l1_bypass = rnd_below(&r, 3) == 0 ? TIM_BYPASS_STALL : TIM_BYPASS_NONE;
}

/** Draw the mechanisms of a model. Most models have none. */
static void random_mechanisms(struct rnd *r, struct tim_config *c)
{
    if (rnd_below(r, 3) != 0)
        return;
    c->swl_on = rnd_below(r, 3) == 0;
    c->swl_set = rnd_below(r, 2);
    c->pools_on = rnd_below(r, 4) == 0;
    c->ccws_on = c->l1_bytes != 0 && rnd_below(r, 2) != 0;
    c->ccws_k = power(r, 1, 1024);
    c->ccws_base_score = between(r, 1, 200);
    c->ccws_score_bits = rnd_below(r, 2) ? 0 : between(r, 8, 12);
    c->ccws_entries = power(r, 1, 32);
    c->ccws_ways = power(r, 1, 8);
    c->ccws_cutoff = rnd_below(r, 2);
    c->ccws_set = rnd_below(r, 2);
    c->ccws_inst_unit = rnd_below(r, 2);
    c->ccws_hit_unit = rnd_below(r, 2);
    c->ccws_window = rnd_below(r, 2) ? 0 : between(r, 100, 5000);
    c->ccws_take = rnd_below(r, 2);
    c->daws_on = c->l1_bytes != 0 && !c->ccws_on && rnd_below(r, 2) != 0;
    c->belady_on = c->l1_bytes != 0 && rnd_below(r, 4) == 0;
    c->loads_on = c->l1_bytes != 0 && rnd_below(r, 4) == 0;
    random_bypass(*r, c);
    c->daws_assoc = between(r, 1, 300);
    c->daws_order = rnd_below(r, 2);
    c->daws_too_big = rnd_below(r, 2);
    c->daws_barrier = rnd_below(r, 2);
    c->daws_closest = rnd_below(r, 2);
    c->daws_lanes = rnd_below(r, 2);
    c->daws_sample_min = between(r, 1, 4);
    c->daws_sample_mid = rnd_below(r, 2);
    c->daws_repeat_unit = c->daws_sample_mid; /* without a draw of its own, so that the draws of earlier seeds stay the same */
    c->daws_loads = between(r, 1, 8);
    c->daws_loops = between(r, 1, 3);
    c->daws_repeats = power(r, 8, 64);
    c->daws_entries = power(r, 1, 32);
    c->daws_ways = power(r, 1, 8);
    const bool swl = c->swl_on || c->issue_policy == TIM_SCHED_SWL;
    if (swl || c->daws_on) { /* these settings cannot be combined */
        c->pools_on = false;
        if (c->issue_policy == TIM_SCHED_ACTIVE_PENDING)
            c->issue_policy = TIM_SCHED_GTO;
    }
    if (swl && c->daws_on) {
        c->swl_set = TIM_SWL_OLDEST;
        c->daws_order = TIM_DAWS_AGE;
    }
    if (c->daws_on)
        c->lsu_replay = TIM_REPLAY_NONE;
    if (c->ccws_on || c->daws_on) /* without lines of global memory in L1, ccws and daws find little lost locality */
        c->l1_global = TIM_L1_CACHE;
}

/** Draw a combination of keys that tim_config_check() accepts. Most limits are low, so that warps often wait. */
static void random_machine(struct rnd *r, unsigned width, const char *reconv, struct tim_config *c)
{
    static const unsigned clocks[] = {325, 650, 700, 800, 924, 1300, 1400, 1733};

    c->core_warp_width = width;
    for (unsigned i = 0; emu_reconv_names[i] != NULL; i++)
        if (strcmp(emu_reconv_names[i], reconv) == 0)
            c->core_reconvergence = i;
    c->clocks_core = clocks[rnd_below(r, 8)];
    c->clocks_icnt = clocks[rnd_below(r, 8)];
    c->clocks_l2 = clocks[rnd_below(r, 8)];
    c->clocks_dram = clocks[rnd_below(r, 8)];
    c->core_count = between(r, 1, 3);
    c->core_warps = between(r, 8, 24);
    c->core_threads = c->core_warps * width;
    c->core_blocks = between(r, 1, 6);
    c->core_registers = 65536;
    c->fetch_width = between(r, 1, 3);
    c->fetch_latency = between(r, 1, 4);
    c->fetch_buffer = between(r, 2, 6);
    c->fetch_group = between(r, 1, c->fetch_buffer);
    c->fetch_cache_line = power(r, 32, 128);
    c->fetch_cache_ways = between(r, 1, 4);
    c->fetch_cache_bytes = c->fetch_cache_line * c->fetch_cache_ways * power(r, 1, 16);
    c->fetch_cache_mshrs = between(r, 1, 4);
    c->fetch_word_bytes = power(r, 8, 16);
    c->fetch_perfect = rnd_below(r, 4) == 0;
    c->issue_schedulers = rnd_below(r, 4) == 0 ? between(r, 5, 8) : between(r, 1, 4);
    c->issue_width = between(r, 1, 2);
    c->issue_policy = rnd_below(r, TIM_SCHED_POLICIES);
    c->issue_limit = between(r, 1, 6);
    c->issue_active = between(r, 1, 5);
    c->issue_group = between(r, 1, 8);
    c->issue_inner = rnd_below(r, 2);
    c->issue_outer = rnd_below(r, 2);
    c->issue_dependence = rnd_below(r, 3);
    c->issue_control_stage = rnd_below(r, 2);
    c->issue_barrier_count = rnd_below(r, 2) ? 255 : between(r, 3, 8);
    c->issue_yield = rnd_below(r, 2);
    c->issue_stall_odd = rnd_below(r, 2) ? 0 : between(r, 1, 3);
    c->issue_stall_zero_yield = rnd_below(r, 2) ? 1 : between(r, 1, 46);
    c->issue_depbar_delay = between(r, 1, 6);
    c->issue_vector_entries = between(r, 1, 6);
    c->issue_split_lanes = rnd_below(r, 2);
    c->issue_switch_on_stall = rnd_below(r, 3) == 0;
    c->issue_war = rnd_below(r, 5);
    c->issue_readers = rnd_below(r, 2) ? 63 : between(r, 1, 3);
    c->issue_branch_latency = rnd_below(r, 6);
    c->registers_banks = between(r, 1, 8);
    c->registers_swizzle = rnd_below(r, 2);
    c->registers_collector = rnd_below(r, 3) == 0 ? 1 + rnd_below(r, 2) : TIM_COLLECTOR_TICKED;
    c->registers_window = between(r, 1, 4);
    c->registers_rfc = rnd_below(r, 2);
    c->registers_results = between(r, 1, 4);
    c->issue_stall_freeze = rnd_below(r, 3);
    if (c->registers_collector == TIM_COLLECTOR_WINDOW)
        c->issue_width = 1;
    c->registers_collectors = between(r, 1, 5);
    c->registers_ports = between(r, 1, 3);
    c->registers_in_order = rnd_below(r, 2);
    c->lsu_queue = between(r, 1, 6);
    c->lsu_replay = rnd_below(r, 4) == 0;
    c->lsu_latency = rnd_below(r, 4);
    c->lsu_local = rnd_below(r, 3) == 0 ? between(r, 1, 5) : 0;
    if (c->lsu_local != 0)
        c->lsu_replay = TIM_REPLAY_NONE;
    c->lsu_address = between(r, 1, 5);
    c->lsu_address_uniform = between(r, 1, 3);
    c->lsu_interval = between(r, 1, 3);
    c->lsu_coalesce = rnd_below(r, 3);
    c->shared_latency = between(r, 1, 30);
    c->l1_line = power(r, 32, 128);
    c->l1_sector = power(r, 32, c->l1_line);
    c->l1_ways = between(r, 1, 4);
    c->l1_bytes = rnd_below(r, 4) == 0 ? 0 : c->l1_line * c->l1_ways * power(r, 1, 16);
    c->l1_latency = between(r, 1, 30);
    c->l1_mshrs = between(r, 1, 8);
    c->l1_merges = between(r, 1, 4);
    c->l1_hash = rnd_below(r, 2);
    c->l1_classes = rnd_below(r, 4) == 0;
    c->l1_global = rnd_below(r, 3);
    c->l1_store = rnd_below(r, 2);
    c->l1_coherent = rnd_below(r, 2);
    if (!c->l1_coherent) /* without lines of global memory, L1 would have few lines that can become stale */
        c->l1_global = TIM_L1_CACHE;
    c->constant_line = power(r, 32, 128);
    c->constant_ways = between(r, 1, 4);
    c->constant_bytes = c->constant_line * c->constant_ways * power(r, 2, 8);
    c->constant_mshrs = between(r, 1, 3);
    c->constant_latency = between(r, 1, 8);
    c->constant_perfect = rnd_below(r, 3) == 0;
    c->icnt_latency = between(r, 1, 12);
    c->icnt_queue = between(r, 1, 6);
    c->icnt_hash = rnd_below(r, 2);
    c->l2_line = 128;
    c->l2_sector = power(r, 32, 128);
    c->dram_burst_bytes = power(r, 32, c->l2_sector);
    c->icnt_interleave = power(r, 128, 512);
    c->dram_channels = between(r, 1, 3);
    c->l2_slices = c->dram_channels * between(r, 1, 2);
    c->l2_ways = between(r, 1, 4);
    c->l2_bytes = rnd_below(r, 5) == 0 ? 0 : 128 * c->l2_ways * power(r, 1, 32);
    c->l2_latency = between(r, 1, 60);
    c->l2_mshrs = between(r, 1, 8);
    c->l2_merges = between(r, 1, 4);
    c->l2_queue = between(r, 1, 6);
    c->l2_write = rnd_below(r, 2);
    c->dram_tREFI = rnd_below(r, 4) == 0 ? between(r, 200, 4000) : 0;
    c->dram_tRFC = between(r, 1, 190);
    c->dram_queue = between(r, 1, 16);
    c->dram_policy = rnd_below(r, 2);
    c->dram_latency = rnd_below(r, 60);
    c->kernels_latency = rnd_below(r, 2) ? 0 : rnd_below(r, 400);
    c->kernels_entries = between(r, 1, 8);
    c->kernels_blocks_a_cycle = between(r, 1, 3);
    c->kernels_bypass = rnd_below(r, 2);
    c->kernels_mixed = rnd_below(r, 3) != 0;
    c->kernels_suspend = rnd_below(r, 4) != 0;
    c->kernels_stream_create = rnd_below(r, 300);
    c->kernels_buffer_base = rnd_below(r, 300);
    c->kernels_launch_base = rnd_below(r, 300);
    for (unsigned u = 0; u < ISA_UNIT_COUNT; u++)
        c->unit[u] = (struct tim_unit_config){between(r, u == ISA_UNIT_INT || u == ISA_UNIT_MEM, 3),
                                              power(r, 4, 32), between(r, 1, 20)};
    if (rnd_below(r, 2)) { /* draw a kind of core for which a specialised cycle function exists */
        c->issue_width = 1;
        c->issue_policy = rnd_below(r, 4);
        c->issue_policy += c->issue_policy == TIM_SCHED_SWL;
        c->issue_control_stage &= rnd_below(r, 4) == 0;
        c->issue_war = TIM_WAR_NONE;
        c->issue_split_lanes = false;
        c->lsu_replay = TIM_REPLAY_NONE;
        c->issue_dependence = rnd_below(r, 2) ? TIM_DEP_CONTROL : TIM_DEP_SCOREBOARD;
        c->registers_collector = c->issue_dependence == TIM_DEP_CONTROL ? TIM_COLLECTOR_RESERVED
                                                                        : TIM_COLLECTOR_TICKED;
        if (rnd_below(r, 3) == 0) {
            c->issue_dependence = TIM_DEP_CONTROL;
            c->registers_collector = TIM_COLLECTOR_WINDOW;
            c->issue_control_stage = true;
            c->lsu_local = between(r, 1, 5);
        }
    }
    random_mechanisms(r, c);
    c->fetch_policy = rnd_below(r, 3) == 0;
    c->issue_half_latency = rnd_below(r, 2) ? between(r, 1, 12) : 0;
    if (rnd_below(r, 3) == 0) {
        random_gcn(r, c);
        return;
    }
    if (rnd_below(r, 2) == 0) {
        /* this model has one level of instruction cache; prefetch into that cache */
        c->fetch_prefetch = rnd_below(r, 2) && c->fetch_cache_mshrs > 1 ? between(r, 1, 8) : 0;
        return;
    }
    c->fetch_l0_ways = between(r, 1, 4);
    c->fetch_l0_bytes = c->fetch_cache_line * c->fetch_l0_ways * power(r, 1, 4);
    c->fetch_link = rnd_below(r, 2) ? between(r, 1, 4) : between(r, 1, 45);
    c->fetch_prefetch = rnd_below(r, 2) ? between(r, 1, 8) : 0;
    c->fetch_perfect = false;
    if (c->issue_width != 1 || c->constant_line > c->fetch_cache_line || rnd_below(r, 3) == 0)
        return;
    c->constant_l0_ways = between(r, 1, 2);
    c->constant_l0_bytes = c->constant_line * c->constant_l0_ways * power(r, 1, 4);
    c->constant_switch = between(r, 1, 8);
    c->constant_switch_for = c->constant_switch & 1; /* the value is not drawn, since a further draw would change all later
                                                      * draws */
}

/** Draw slot groups, and dynamic warp resizing, which combines the loads and stores of the warps of a slot group. */
static void random_groups(struct rnd *r, struct tim_config *c)
{
    c->core_group = rnd_below(r, 2) ? between(r, 1, 8) : 1;
    c->core_warps = (c->core_warps + c->core_group - 1) / c->core_group * c->core_group;
    c->issue_lanes = rnd_below(r, 3) ? 0 : between(r, 1, 16);
    c->issue_compression = (c->core_warps + c->issue_lanes) % 3; /* the value is not drawn, for the same reason as
                                                                  * constant_switch_for */
    c->dwr_on = rnd_below(r, 2);
    c->dwr_ilt_sets = rnd_below(r, 4) ? power(r, 1, 8) : 0;
    c->dwr_ilt_ways = between(r, 1, 4);
    c->dwr_ilt_keep = rnd_below(r, 2);
    c->dwr_latency = between(r, 0, 30);
    c->dwr_ignored_latency = between(r, 0, 40);
    c->dwr_lat_param = rnd_below(r, 2);
    c->dwr_wakeup = rnd_below(r, 2);
    c->dwr_skip_counts_as_arrival = rnd_below(r, 2);
    c->dwr_on_foreign_release = rnd_below(r, 2);
    c->dwr_timeout = rnd_below(r, 3) ? 0 : between(r, 1, 500);
    c->dwr_release = rnd_below(r, 16) == 0;
    c->dwr_bar_mode = rnd_below(r, 2);
    c->dwr_group_span_blocks = rnd_below(r, 3) == 0;
    if (!c->dwr_on)
        return;
    c->swl_on = c->pools_on = c->ccws_on = c->daws_on = c->lsu_separate = false;
    if (c->issue_policy == TIM_SCHED_SWL || c->issue_policy == TIM_SCHED_ACTIVE_PENDING)
        c->issue_policy = TIM_SCHED_LRR;
    c->lsu_local = 0;
    c->lsu_replay = TIM_REPLAY_NONE;
}

/** Draw a block scheduler, and block groups that join kernels, with small tables and low costs. */
static void random_blocks(struct rnd *r, struct tim_config *c)
{
    c->kernels_policy = rnd_below(r, 2) ? TIM_BLOCKS_RR : rnd_below(r, TIM_BLOCKS_POLICIES);
    c->kernels_ideal = rnd_below(r, 8) == 0;
    c->dtbl_on = rnd_below(r, 2);
    c->dtbl_kernels = rnd_below(r, 2);
    c->dtbl_entries = power(r, 1, 64);
    c->dtbl_search = rnd_below(r, 40);
    c->dtbl_serial = rnd_below(r, 2);
    c->dtbl_spill = rnd_below(r, 2) ? 0 : between(r, 1, 300);
    c->dtbl_fallback = rnd_below(r, 2);
    c->dtbl_pending = rnd_below(r, 2);
    c->laperm_levels = between(r, 1, 4);
    c->laperm_entries = rnd_below(r, 2) ? 128 : between(r, 1, 4);
    c->laperm_host = rnd_below(r, 2) ? 32 : between(r, 1, 4);
    c->laperm_read = rnd_below(r, 2) ? 0 : between(r, 1, 300);
    c->kernels_launch_lane = rnd_below(r, 2) ? c->kernels_launch_lane : rnd_below(r, 50);
    c->kernels_buffer_lane = rnd_below(r, 50);
    c->kernels_fixed = c->laperm_read % 3 * 97; /* the value is not drawn, for the same reason as constant_switch_for */
}

/** Draw variable warp sizing, and reset keys that cannot be combined with variable warp sizing. With LW_MECHANISM=vws each
 *  model has it. */
static void random_vws(struct rnd *r, unsigned width, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");

    if (rnd_below(r, 6) != 0 && (forced == NULL || strcmp(forced, "vws") != 0))
        return;
    c->vws_on = true;
    c->vws_mode = rnd_below(r, 4) ? TIM_VWS_BOTH : 1 + rnd_below(r, 2);
    c->vws_gangs = between(r, 1, 4);
    c->vws_policy = rnd_below(r, 5);
    c->vws_memory = c->vws_mode == TIM_VWS_BOTH ? rnd_below(r, 3) : TIM_GANGS_WAIT;
    c->vws_reform = c->vws_mode == TIM_VWS_BOTH ? rnd_below(r, 2) : TIM_REFORM_NONE;
    c->vws_merge_limit = between(r, 1, 3);
    c->vws_sync = c->vws_reform == TIM_REFORM_NONE || rnd_below(r, 2) ? 0 : between(r, 1, 60);
    c->vws_gang_fetch = rnd_below(r, 5);
    c->issue_schedulers = 2u << rnd_below(r, 3);
    c->core_warps = c->issue_schedulers * (c->core_warps / c->issue_schedulers + 1);
    c->core_group = c->issue_schedulers;
    c->core_threads = c->core_warps * width;
    c->lsu_local = 0;
    c->lsu_separate = false;
    c->issue_width = 1;
    c->issue_rotate = c->issue_types = false;
    c->lsu_replay = TIM_REPLAY_NONE;
    c->fetch_policy = TIM_FETCH_LRR;
    c->fetch_shared = 1;
    c->fetch_width = between(r, 1, 8);
    c->swl_on = c->pools_on = c->ccws_on = c->daws_on = c->dwr_on = false;
    if (c->issue_policy == TIM_SCHED_SWL || c->issue_policy == TIM_SCHED_ACTIVE_PENDING)
        c->issue_policy = TIM_SCHED_GTO;
    for (unsigned u = 0; u < ISA_UNIT_COUNT && rnd_below(r, 3) != 0; u++)
        c->unit[u].pipes = c->unit[u].pipes == 0 ? 0 : c->issue_schedulers;
    if (rnd_below(r, 2))
        c->lsu_queue = between(r, 8, 16);
}

/** Draw address pre-computation, if it can be combined with the other keys of the model. With LW_MECHANISM=la_w more models
 *  have it. */
static void random_locality(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");
    const bool often = forced != NULL && strcmp(forced, "la_w") == 0;

    c->shares_on = rnd_below(r, 6) == 0;
    c->ap_window = rnd_below(r, 2) ? 0 : between(r, 1, 4);
    c->ap_loop = rnd_below(r, 2);
    c->ap_stores = rnd_below(r, 4) != 0;
    c->ap_skip_uniform = rnd_below(r, 2);
    c->ap_dispatch_cost = rnd_below(r, 2) ? 0 : between(r, 1, 200);
    c->ap_regions = rnd_below(r, 11);
    c->ap_subregions = 1u << 2 * rnd_below(r, 4);
    c->ap_exact = rnd_below(r, 4) == 0;
    c->la_w_active = between(r, 1, 8);
    c->la_w_nearest = rnd_below(r, 2);
    c->la_w_starvation = rnd_below(r, 2);
    if (often)
        c->kernels_policy = TIM_BLOCKS_LA_B;
    if (rnd_below(r, 5) != 0 && !often)
        return;
    if (often) {
        c->swl_on = c->pools_on = c->daws_on = c->dwr_on = c->vws_on = c->issue_types = c->issue_rotate = false;
        c->lsu_replay = TIM_REPLAY_NONE;
        c->issue_width = c->issue_width > 2 ? 2 : c->issue_width;
        c->issue_width = c->registers_collector == TIM_COLLECTOR_WINDOW ? 1 : c->issue_width;
        c->issue_policy = c->issue_policy == TIM_SCHED_SWL || c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? TIM_SCHED_GTO : c->issue_policy;
    }
    c->la_w_on = !c->swl_on && !c->pools_on && !c->daws_on && !c->dwr_on && !c->vws_on && !c->issue_types && !c->issue_rotate && c->lsu_replay == TIM_REPLAY_NONE &&
                 c->issue_policy != TIM_SCHED_SWL && c->issue_policy != TIM_SCHED_ACTIVE_PENDING;
}

/** Draw cores whose clocks change, if the cores of the model share no caches. With LW_MECHANISM=dvfs, each model whose cores
 *  share no caches has such cores. */
static void random_dvfs(struct rnd *r, struct tim_config *c)
{
    const char *forced = getenv("LW_MECHANISM");

    c->dvfs_act = rnd_below(r, 6) == 0 ? rnd_below(r, 2) : TIM_DVFS_SCALE;
    c->dvfs_sample = between(r, 1, 200);
    c->dvfs_threshold = between(r, 1, 8);
    c->dvfs_wait = between(r, 1, 6);
    c->dvfs_transition = rnd_below(r, 3) == 0 ? 0 : between(r, 1, 300);
    c->dvfs_drain = rnd_below(r, 2);
    c->dvfs_busy = rnd_below(r, 2);
    c->dvfs_low_mhz = between(r, 1, 7) * 100;
    if ((rnd_below(r, 5) != 0 && (forced == NULL || strcmp(forced, "dvfs") != 0)) || c->fetch_shared > 1 || c->constant_shared > 1)
        return;
    c->dvfs_on = true;
    if (c->core_count < 4 && rnd_below(r, 2))
        c->core_count += 2;
}

/** Draw registers with tags for half of the machines. Most of their models use the tags. If a model does not, *idle is true. */
static void random_tags(struct rnd *r, struct emu_config *config, struct tim_config *c, bool *idle)
{
    *idle = false;
    if (rnd_below(r, 2))
        return;
    config->tags = rnd_below(r, 3) ? EMU_TAGS_SHADOW : EMU_TAGS_COMPACT;
    config->tag_rules = (enum emu_tag_rules)rnd_below(r, 3);
    config->tag_expansion = (enum emu_tag_expansion)(rnd_below(r, 3) == 0);
    config->tag_plan = (enum emu_tag_plan)rnd_below(r, 2);
    *idle = rnd_below(r, 5) == 0 || c->dwf_on || c->tbc_on || c->lwm_on || c->interweave_on;
    if (*idle)
        return;
    c->tags_detect = TIM_DETECT_TABLE + (unsigned)config->tag_rules;
    c->tags_expansion = (unsigned)config->tag_expansion;
    c->registers_tags = rnd_below(r, 3);
    c->registers_compact = rnd_below(r, 2);
    c->registers_compact_ports = between(r, 1, 3);
    c->registers_parts = between(r, 1, 4);
    c->tags_scalar = rnd_below(r, 3);
    c->tags_affine = rnd_below(r, 2);
    c->tags_address = rnd_below(r, 2);
    if (c->registers_collector == TIM_COLLECTOR_WINDOW) {
        c->registers_compact = TIM_COMPACT_FILE;
        c->tags_affine = TIM_AFFINE_OFF;
        c->tags_scalar = c->tags_scalar == TIM_SCALAR_PIPE ? TIM_SCALAR_LANE : c->tags_scalar;
    }
}

struct outcome {
    bool idle_tags;  /* the registers have tags, but no key of the model uses the tags */
    uint64_t bare;   /* hash of the counters, as in `counts`, but without the counters of tags */
    /* counters of the tags: reads of compact entries, registers expanded to register rows, instructions executed on one lane or
     * on the affine unit, and issue slots with stall reason TIM_STALL_EXPANSION */
    uint64_t entries, expansions, executed, eager;
    enum emu_stop_kind kind;
    uint64_t cycles, instructions, counts, mem, state;
    uint64_t joined, ignored, explicit_barriers; /* counters joined, dwr_ignored and dwr_barrier_lanes */
    uint64_t gpu[TIM_GPU_COUNT];
    uint64_t la_w[4]; /* instructions issued by la_w, those issued for locality, and lines observed and predicted */
    uint64_t overtakes; /* counter of mechanism mrpb */
    uint64_t divisions; /* counter of mechanism dws */
    uint64_t companions; /* counter formed_lanes of mechanisms dwf and tbc */
    uint64_t compactions; /* counter of mechanism tbc */
    uint64_t passes;      /* counter of mechanism tbc with its predictor */
    uint64_t releases, drowsy; /* counters of mechanism rows */
    uint64_t writebacks, last; /* counters of mechanism orf */
    uint64_t fast, wakes;      /* counters of mechanism prf */
    uint64_t found, loaded;    /* counters of mechanism regless */
    uint64_t lwm_releases;     /* counter of mechanism lwm */
    uint64_t mascar[3];        /* counters of mechanism mascar: saturated cycles, moves, accesses */
    uint64_t medic[4];         /* mechanism medic: number of models that have it; counters of reads that bypass L2, of oldest
                                * lines and of high requests */
    uint64_t dynpcal[4];       /* mechanism dynpcal: numbers of models that have it, and that also have pools; counters of
                                * periods, and of changes of the number of warps that may load */
    uint64_t interweave[4];    /* mechanism interweave: number of models that have it; counters of second instructions of
                                * paths, and of warps; number of those that shared a pipe */
    uint64_t stale;  /* number of loads whose value in L1 was older than the value in memory */
    uint64_t midway; /* hash of the state after a random number of instructions, or 0 if the run ended before */
};

/** Return whether the instruction from @line to @end writes to memory. */
static bool writes(const char *line, const char *end)
{
    return memmem(line, (size_t)(end - line), "st.", 3) != NULL ||
           memmem(line, (size_t)(end - line), "atom.", 5) != NULL;
}

/** Emit scalar loads and accesses of shared memory, so that lgkmcnt counts both kinds. The emitted instructions use no
 *  register that the kernel uses. */
static void scalar_loads(struct rnd *r, struct lw_sink *out)
{
    lw_put(out, "s_ld.const.b64 s40:41, c[out]\n");
    for (unsigned i = 1 + rnd_below(r, 12); i != 0; i--)
        switch (rnd_below(r, 5)) {
        case 0: lw_printf(out, "s_ld.global.b32 s%u, [s40:41+%u]\n", 42 + rnd_below(r, 4), 4 * rnd_below(r, 64)); break;
        case 1: lw_printf(out, "s_add_u32 s%u, s%u, 1\n", 42 + rnd_below(r, 4), 42 + rnd_below(r, 4)); break;
        case 2: lw_printf(out, "ld.shared.b32 v%u, [vz+%u]\n", 60 + rnd_below(r, 3), 4 * rnd_below(r, 16)); break;
        case 3: lw_printf(out, "v_add_u32 v%u, v%u, s%u\n", 60 + rnd_below(r, 3), 60 + rnd_below(r, 3), 42 + rnd_below(r, 4)); break;
        default: lw_printf(out, "s_ld.const.b32 s%u, c[number]\n", 42 + rnd_below(r, 4)); break;
        }
}

/** Return whether the instruction from @line to @end may have a LAT barrier: whether it is a load or store of global memory,
 *  of local memory, or by a generic address. */
static bool is_lat(const char *line, const char *end)
{
    static const char *const names[] = {"ld.global", "ld.local", "ld.generic", "st.global", "st.local", "st.generic"};

    if (*line == '@')
        line = (const char *)memchr(line, ' ', (size_t)(end - line)) + 1;
    for (size_t i = 0; i < LW_COUNT_OF(names); i++)
        if ((size_t)(end - line) > strlen(names[i]) && memcmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/** Copy the kernel @in, whose instructions have no control fields, to @out. Add random control fields, and fences after some
 *  writes. Control fields only determine when instructions issue. Few dependence barriers are used, so that loads, results
 *  and operand reads share barriers, and instructions wait for several barriers. */
static void random_fields(struct rnd *r, struct rnd *of_lats, const char *in, struct lw_buffer *out)
{
    const bool has_lats = rnd_below(of_lats, 2);
    const unsigned bars = between(r, 1, 6), waits = between(r, 1, 4), stalls = between(r, 1, 15);

    bool begins = false;

    lw_buffer_init(out);
    for (const char *end; *in != '\0'; in = end + 1) {
        end = strchr(in, '\n');
        bool is_insn = end != in && in[0] != '.' && end[-1] != ':'; /* the line is neither a directive nor a label */

        if (end - in > 7 && memcmp(in, ".kernel", 7) == 0)
            begins = true;
        if (is_insn && begins && rnd_below(r, 2)) /* a scalar write requires that all lanes are live, as they are here */
            scalar_loads(r, &out->sink);
        begins &= !is_insn;
        if (is_insn && rnd_below(r, 24) == 0)
            lw_printf(&out->sink, "waitcnt vmcnt(%u) expcnt(%u) lgkmcnt(%u)\n", rnd_below(r, 4), rnd_below(r, 3),
                      rnd_below(r, 4));
        if (is_insn && rnd_below(r, 12) == 0)
            lw_printf(&out->sink, "depbar.le %u, %u {st=%u}\n", rnd_below(r, bars), rnd_below(r, 4),
                      rnd_below(r, 7));
        if (is_insn && has_lats && is_lat(in, end) && rnd_below(of_lats, 8) != 0) /* most of these instructions get a barrier */
            lw_put(&out->sink, "bar.synch_partner\n");
        lw_printf(&out->sink, "%.*s", (int)(end - in), in);
        if (is_insn) {
            lw_printf(&out->sink, " {st=%u", rnd_below(r, 3) ? 1 : rnd_below(r, stalls + 1));
            if (rnd_below(r, 3) != 0)
                lw_printf(&out->sink, ",wr=%u", rnd_below(r, bars));
            if (rnd_below(r, 3) == 0)
                lw_printf(&out->sink, ",rd=%u", rnd_below(r, bars));
            if (rnd_below(r, waits) == 0)
                lw_printf(&out->sink, ",wt=%u", rnd_below(r, 64));
            if (rnd_below(r, 4) == 0)
                lw_put(&out->sink, ",y");
            if (rnd_below(r, 3) == 0)
                lw_printf(&out->sink, ",ru=%u", rnd_below(r, 8));
            lw_put(&out->sink, "}");
            if (writes(in, end) && rnd_below(r, 3) == 0)
                lw_put(&out->sink, "\nfence.gpu");
        }
        lw_put(&out->sink, "\n");
    }
}

/** Return the instruction count at which the run stops next: @at, or @point if the run has yet to reach @point and reaches it
 *  before @at. */
static uint64_t stop_before(const struct emu_engine *engine, uint64_t point, uint64_t at)
{
    return engine->ops->instructions(engine) < point && at > point ? point : at;
}

/** Check that cores examine all warps in each cycle of the trace's window, and use cached results of ready checks in all
 *  other cycles. With TIM_DEP_VECTOR cores never use cached results. */
static void check_model(const struct tim_engine *e, uint64_t seed)
{
    bool traced = e->now != 0 && tim_trace_wants(e->trace, e->now - 1);

    if (e->trace != NULL && e->now != 0 && e->now - 1 == tim_trace_end(e->trace))
        return; /* the trace reached its limit of events in this cycle */
    for (unsigned c = 0; e->at.phase == TIM_AT_BEGIN && c < e->config.core_count; c++)
        if (e->core[c]->tracing != traced ||
            e->core[c]->quick != (!traced && e->config.issue_dependence != TIM_DEP_VECTOR))
            fail_msg("LW_SEED=%llu: core %u %s in cycle %llu, %s the window", (unsigned long long)seed,
                     c, e->core[c]->quick ? "uses cached ready checks" : "examines all warps",
                     (unsigned long long)e->now - 1, traced ? "within" : "outside");
}

/** Store in @out hashes of the counters, with and without the counters of tags, and the counters of tags themselves. Sets
 *  these counters to 0. */
static void take_counts(struct tim_engine *e, struct outcome *out)
{
    out->counts = tim_counts_hash(&e->base);
    out->entries = out->expansions = out->executed = out->eager = 0;
    for (unsigned c = 0; c < e->config.core_count; c++) {
        uint64_t *count = e->stats[c].count;

        out->entries += count[TIM_CORE_register_reads_compact];
        out->expansions += count[TIM_CORE_tag_expansions];
        out->executed += count[TIM_CORE_scalar_executed] + count[TIM_CORE_affine_executed];
        for (unsigned s = 0; s < e->config.issue_schedulers; s++)
            out->eager += e->stats[c].sched[s].reason[0][TIM_STALL_EXPANSION];
        for (unsigned i = TIM_CORE_register_reads_compact; i <= TIM_CORE_lane_operations_saved; i++)
            count[i] = 0;
        memset(&e->stats[c].histogram[TIM_CORE_H_register_rows], 0, sizeof e->stats[c].histogram[0]);
        memset(&e->stats[c].histogram[TIM_CORE_H_register_rows_saved], 0, sizeof e->stats[c].histogram[0]);
    }
    out->bare = tim_counts_hash(&e->base);
}

/** Execute one run with the kernel and the model of @seed. @tags: registers have the tags that the seed draws. */
static void run(uint64_t seed, bool reference, bool tags, struct outcome *out)
{
    struct rnd r = {.state = seed}, stops = {.state = seed ^ 77}, fields = {.state = seed ^ 777};
    struct rnd of_tags = {.state = seed ^ 7777}, of_groups = {.state = seed ^ 77777},
               of_blocks = {.state = seed ^ 777777}, of_lats = {.state = seed ^ 7777777};
    struct tim_options options = {.reference = reference};
    struct emu_engine *engine;
    struct tim_config *machine;
    struct emu_config config;
    struct emu_stop stop = {.kind = EMU_STOP_IDLE};
    struct lw_buffer bare, text;
    struct lw_error err;
    struct fix fix;
    const uint64_t point = 1 + rnd_below(&stops, rnd_below(&stops, 2) ? 300 : 3000);

    if (!reference && rnd_below(&stops, 2)) { /* write a trace of a random window */
        options.trace_from = rnd_below(&stops, 3) ? rnd_below(&stops, 4000) : 0;
        options.trace_to = options.trace_from + 1 + rnd_below(&stops, 1500);
        options.trace_events = rnd_below(&stops, 2) ? 1 + rnd_below(&stops, 2000) : 0;
    }
    out->midway = 0;
    random_config(&r, &config);
    random_kernel(&r, &bare);
    random_fields(&fields, &of_lats, bare.text, &text);
    lw_buffer_fini(&bare);
    fix_check(tim_config_load("fermi", &machine, &err), &err);
    random_machine(&r, config.warp_width, config.reconv, machine);
    random_groups(&of_groups, machine);
    random_blocks(&of_blocks, machine);
    random_vws(&(struct rnd){.state = seed ^ 77777}, config.warp_width, machine);
    random_locality(&(struct rnd){.state = seed ^ 7777777}, machine);
    random_dvfs(&(struct rnd){.state = seed ^ 77777777}, machine);
    random_equalizer(&(struct rnd){.state = seed ^ 777777777}, machine);
    random_mrpb(&(struct rnd){.state = seed ^ 555555555}, machine);
    random_dws(&(struct rnd){.state = seed ^ 333333333}, machine);
    random_dwf(&(struct rnd){.state = seed ^ 111111111}, machine);
    random_lwm(&(struct rnd){.state = seed ^ 11}, machine);
    random_mascar(&(struct rnd){.state = seed ^ 1111}, machine);
    random_interweave(&(struct rnd){.state = seed ^ 111111}, machine);
    random_permute((struct rnd){.state = seed ^ 777777}, machine);
    random_dynpcal(&(struct rnd){.state = seed ^ 1111111}, machine);
    random_medic(&(struct rnd){.state = seed ^ 11111}, machine);
    random_voters(machine);
    machine->fetch_ports = machine->fetch_l0_bytes != 0 ? 1 + (unsigned)(seed / 2 % 4) : 1;
    out->idle_tags = false;
    if (tags)
        random_tags(&of_tags, &config, machine, &out->idle_tags);
    random_rows(&(struct rnd){.state = seed ^ 999999999}, machine);
    random_orf(&(struct rnd){.state = seed ^ 99999999}, machine);
    random_prf(&(struct rnd){.state = seed ^ 9999999}, machine);
    random_regless(&(struct rnd){.state = seed ^ 999999}, machine);
    if (machine->dvfs_on && machine->equalizer_on && seed % 3 != 0)
        machine->dvfs_act = TIM_DVFS_VOTE;
    random_votes((struct rnd){.state = seed ^ 333333}, machine);
    fix_check(tim_config_check(machine, &err), &err);
    fix_open(&fix, &config, text.text);
    lw_buffer_fini(&text);
    emu_engine_destroy(fix.engine);
    fix.engine = NULL;
    fix_check(tim_engine_create(fix.machine, machine, &options, &engine, &err), &err);
    for (unsigned launch = 0; launch < 2 && stop.kind == EMU_STOP_IDLE; launch++) {
        fix_launch(&fix, between(&r, 1, 6), between(&r, 1, 4 * config.warp_width), seed);
        do {
            uint64_t at = UINT64_MAX;
            if (!reference) /* stop the run at a random instruction; the stop must not change the result */
                at = engine->ops->instructions(engine) + 1 + rnd_below(&stops, 3000);
            engine->stop_at = stop_before(engine, point, at);
            uint64_t left = MOST_CYCLES - engine->ops->cycles(engine);
            uint64_t cycles = reference ? left : 1 + rnd_below(&stops, 3000);
            enum lw_status status =
                tim_engine_run_cycles(engine, cycles < left ? cycles : left, &stop, &err);
            /* parents that wait for their launches occupy all block slots; both models must report this */
            if (status == LW_EUNSUPP && !machine->kernels_suspend) {
                stop.kind = EMU_STOP_BLOCKED;
                break;
            }
            fix_check(status, &err);
            if (!reference)
                check_model((const struct tim_engine *)engine, seed);
            if (stop.kind == EMU_STOP_COUNT && engine->ops->instructions(engine) == point)
                out->midway = emu_hash_state(fix.machine);
            if (engine->ops->cycles(engine) >= MOST_CYCLES) /* the run is long enough: end it, and compare the models in this
                                                             * cycle */
                stop.kind = EMU_STOP_INTERRUPTED;
        } while (stop.kind == EMU_STOP_COUNT || stop.kind == EMU_STOP_NONE);
    }
    out->kind = stop.kind;
    out->cycles = engine->ops->cycles(engine);
    out->instructions = engine->ops->instructions(engine);
    out->mem = emu_hash_mem(fix.machine);
    out->state = emu_hash_state(fix.machine);
    const struct tim_engine *e = (const struct tim_engine *)engine;
    out->stale = 0;
    for (unsigned c = 0; c < machine->core_count; c++)
        out->stale += e->stats[c].count[TIM_CORE_l1_stale];
    memcpy(out->gpu, e->gpu, sizeof out->gpu);
    out->joined = out->ignored = out->explicit_barriers = 0;
    memset(out->la_w, 0, sizeof out->la_w);
    memset(out->mascar, 0, sizeof out->mascar);
    memset(out->interweave, 0, sizeof out->interweave);
    memset(out->medic, 0, sizeof out->medic);
    out->medic[0] = machine->medic_on;
    out->dynpcal[0] = machine->dynpcal_on;
    out->dynpcal[1] = machine->dynpcal_on && machine->pools_on;
    out->dynpcal[2] = out->dynpcal[3] = 0;
    for (unsigned s = 0; s < machine->l2_slices; s++) {
        out->medic[1] += e->memory->ops->slice_stats(e->memory, s)->count[TIM_SLICE_medic_bypasses];
        out->medic[2] += e->memory->ops->slice_stats(e->memory, s)->count[TIM_SLICE_medic_oldest];
    }
    for (unsigned c = 0; c < machine->dram_channels; c++)
        out->medic[3] += e->memory->ops->channel_stats(e->memory, c)->count[TIM_CHANNEL_medic_high];
    out->interweave[0] = machine->interweave_on;
    out->lwm_releases = out->found = out->loaded = out->fast = out->wakes = out->releases = out->drowsy = out->writebacks = out->last = out->overtakes = out->divisions = out->companions = out->compactions = out->passes = 0;
    for (unsigned c = 0; c < machine->core_count; c++) {
        const uint64_t *n = e->stats[c].count;
        const struct tim_histogram *size = &e->stats[c].histogram[TIM_CORE_H_dwr_issue_size];

        out->joined += n[TIM_CORE_joined];
        out->ignored += n[TIM_CORE_dwr_ignored];
        out->la_w[0] += n[TIM_CORE_la_w_greedy] + n[TIM_CORE_la_w_locality] + n[TIM_CORE_la_w_oldest] + n[TIM_CORE_la_w_first];
        out->la_w[1] += n[TIM_CORE_la_w_locality];
        out->overtakes += n[TIM_CORE_mrpb_overtakes];
        out->divisions += n[TIM_CORE_dws_divisions];
        out->companions += n[TIM_CORE_formed_lanes];
        out->compactions += n[TIM_CORE_tbc_compactions];
        out->passes += n[TIM_CORE_tbc_passes];
        out->releases += n[TIM_CORE_rows_releases];
        out->drowsy += n[TIM_CORE_rows_drowsy];
        out->writebacks += n[TIM_CORE_orf_writebacks];
        out->last += n[TIM_CORE_orf_last_reads];
        out->fast += n[TIM_CORE_prf_fast_reads];
        out->wakes += n[TIM_CORE_prf_wakes];
        out->found += n[TIM_CORE_regless_hits];
        out->lwm_releases += n[TIM_CORE_lwm_releases];
        out->mascar[0] += n[TIM_CORE_mascar_saturated];
        out->mascar[1] += n[TIM_CORE_mascar_moves];
        out->mascar[2] += n[TIM_CORE_mascar_accesses];
        out->dynpcal[2] += n[TIM_CORE_dynpcal_periods];
        out->dynpcal[3] += n[TIM_CORE_dynpcal_more] + n[TIM_CORE_dynpcal_fewer];
        out->interweave[1] += n[TIM_CORE_interweave_branches];
        out->interweave[2] += n[TIM_CORE_interweave_warps];
        out->interweave[3] += n[TIM_CORE_interweave_shared];
        out->loaded += n[TIM_CORE_regless_loads];
        if (n[TIM_CORE_regless_wrong] != 0)
            fail_msg("LW_SEED=%llu: %llu accesses to registers without an entry", (unsigned long long)seed, (unsigned long long)n[TIM_CORE_regless_wrong]);
        if (n[TIM_CORE_orf_wrong] != 0)
            fail_msg("LW_SEED=%llu: %llu reads of values that an upper level of the register file does not have", (unsigned long long)seed,
                     (unsigned long long)n[TIM_CORE_orf_wrong]);
        if (machine->rows_on && stop.kind == EMU_STOP_IDLE && n[TIM_CORE_rows_on] + n[TIM_CORE_rows_drowsy] + n[TIM_CORE_rows_off] !=
                                    (uint64_t)(machine->core_registers / machine->core_warp_width) * out->cycles)
            fail_msg("LW_SEED=%llu: the rows of a core in all states are not those of all cycles", (unsigned long long)seed);
        out->la_w[2] += n[TIM_CORE_shares_observed];
        out->la_w[3] += n[TIM_CORE_shares_predicted];
        if (n[TIM_CORE_dwr_nb_lat] < n[TIM_CORE_dwr_ilt_inserts] && !machine->dwr_on_foreign_release)
            fail_msg("LW_SEED=%llu: the ILT got more instructions than there were NB-LATs", (unsigned long long)seed);
        out->explicit_barriers += n[TIM_CORE_dwr_barrier_lanes];
        if (machine->dwr_bar_mode == TIM_DWR_EXPLICIT && n[TIM_CORE_dwr_barriers] > n[TIM_CORE_dwr_barrier_lanes])
            fail_msg("LW_SEED=%llu: more barrier operations than lanes that executed barriers", (unsigned long long)seed);
        if (machine->dwr_bar_mode == TIM_DWR_IMPLICIT && stop.kind == EMU_STOP_IDLE && !machine->issue_switch_on_stall && size->sum != n[TIM_CORE_dwr_barriers])
            fail_msg("LW_SEED=%llu: %llu barrier operations for %llu LATs", (unsigned long long)seed,
                     (unsigned long long)n[TIM_CORE_dwr_barriers], (unsigned long long)size->sum);
    }
    if (out->stale != 0 && (machine->core_count == 1 || machine->l1_coherent || machine->l1_bytes == 0))
        fail_msg("LW_SEED=%llu: %llu loads of stale values, although L1 sees all stores", (unsigned long long)seed,
                 (unsigned long long)out->stale);
    for (unsigned c = 0; stop.kind == EMU_STOP_IDLE && c < machine->core_count; c++)
        for (unsigned s = 0; s < machine->issue_schedulers; s++)
            for (unsigned slot = 0; slot < machine->issue_width; slot++) {
                uint64_t sum = 0;
                for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
                    sum += e->stats[c].sched[s].reason[slot][i];
                const uint64_t own = out->cycles - e->stats[c].count[TIM_CORE_dvfs_lost_cycles];
                if (sum != own)
                    fail_msg("seed %llu: %llu stall reasons in %llu cycles", (unsigned long long)seed,
                             (unsigned long long)sum, (unsigned long long)own);
            }
    take_counts((struct tim_engine *)engine, out);
    emu_engine_destroy(engine);
    emu_machine_destroy(fix.machine);
    isa_object_destroy(fix.object);
    tim_config_destroy(machine);
}

static void the_shipped_model_counts_what_the_reference_counts(void **state)
{
    const char *given = getenv("LW_RANDOM_COUNT");
    unsigned count = given != NULL ? (unsigned)strtoul(given, NULL, 0) : 200, ended = 0, midway = 0, stale = 0;
    unsigned joined = 0, ignored = 0, explicit_barriers = 0, entries = 0, expansions = 0, executed = 0, eager = 0, idle = 0;
    uint64_t first = fix_first_seed(), gpu[TIM_GPU_COUNT] = {0}, la_w[4] = {0}, overtakes = 0, divisions = 0, companions = 0, compactions = 0, passes = 0, releases = 0, drowsy = 0, writebacks = 0, last = 0, fast = 0, wakes = 0, found = 0, loaded = 0, large = 0, mascar[3] = {0}, interweave[4] = {0}, medic[4] = {0}, dynpcal[4] = {0};

    (void)state;
    if (getenv("LW_SEED") != NULL && given == NULL)
        count = 1;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct outcome naive, shipped;

        fix_seed = seed;
        run(seed, true, true, &naive);
        run(seed, false, true, &shipped);
        if (naive.kind != shipped.kind || naive.cycles != shipped.cycles ||
            naive.instructions != shipped.instructions || naive.counts != shipped.counts ||
            naive.mem != shipped.mem || naive.state != shipped.state ||
            naive.midway != shipped.midway)
            fail_msg("LW_SEED=%llu: the reference stops with %d after %llu cycles and %llu "
                     "instructions, the shipped model with %d after %llu and %llu; counters %s, "
                     "memory %s, state %s, state after a random instruction %s",
                     (unsigned long long)seed, naive.kind, (unsigned long long)naive.cycles,
                     (unsigned long long)naive.instructions, shipped.kind,
                     (unsigned long long)shipped.cycles, (unsigned long long)shipped.instructions,
                     naive.counts == shipped.counts ? "equal" : "DIFFER",
                     naive.mem == shipped.mem ? "equal" : "DIFFER",
                     naive.state == shipped.state ? "equal" : "DIFFER",
                     naive.midway == shipped.midway ? "equal" : "DIFFER");
        if (shipped.idle_tags) {
            struct outcome plain;

            run(seed, true, false, &plain);
            if (plain.cycles != shipped.cycles || plain.bare != shipped.bare || plain.mem != shipped.mem ||
                plain.state != shipped.state)
                fail_msg("LW_SEED=%llu: tags that nothing uses change %s", (unsigned long long)seed,
                         plain.cycles != shipped.cycles ? "the cycles"
                         : plain.bare != shipped.bare   ? "counters"
                                                        : "results");
        }
        for (unsigned i = 0; i < TIM_GPU_COUNT; i++)
            gpu[i] += naive.gpu[i];
        for (unsigned i = 0; i < LW_COUNT_OF(la_w); i++)
            la_w[i] += naive.la_w[i];
        overtakes += naive.overtakes;
        divisions += naive.divisions;
        companions += naive.companions;
        compactions += naive.compactions;
        passes += naive.passes;
        releases += naive.releases;
        drowsy += naive.drowsy;
        writebacks += naive.writebacks;
        last += naive.last;
        fast += naive.fast;
        wakes += naive.wakes;
        found += naive.found;
        loaded += naive.loaded;
        large += naive.lwm_releases;
        for (unsigned i = 0; i < LW_COUNT_OF(mascar); i++)
            mascar[i] += naive.mascar[i];
        for (unsigned i = 0; i < LW_COUNT_OF(interweave); i++)
            interweave[i] += naive.interweave[i];
        for (unsigned i = 0; i < LW_COUNT_OF(medic); i++)
            medic[i] += naive.medic[i];
        for (unsigned i = 0; i < LW_COUNT_OF(dynpcal); i++)
            dynpcal[i] += naive.dynpcal[i];
        joined += naive.joined != 0;
        ignored += naive.ignored != 0;
        explicit_barriers += naive.explicit_barriers != 0;
        idle += shipped.idle_tags;
        entries += naive.entries != 0;
        expansions += naive.expansions != 0;
        executed += naive.executed != 0;
        eager += naive.eager != 0;
        midway += naive.midway != 0;
        stale += naive.stale != 0;
        ended += naive.kind == EMU_STOP_IDLE;
    }
    /* only a run of at least 200 default cases is certain to include each event */
    const bool all_occur = count >= 200 && getenv("LW_SEED") == NULL && getenv("LW_MECHANISM") == NULL;
    print_message("%u of %u kernels ended, %u were stopped midway, %u loaded stale values\n", ended, count, midway, stale);
    print_message("with tags: %u read compact entries, %u expanded, %u at branches, %u executed scalar, %u did not use tags\n",
                  entries, expansions, eager, executed, idle);
    print_message("in groups: %u joined accesses, %u ignored barriers, %u explicit ones\n", joined, ignored, explicit_barriers);
    print_message("launches: %llu by the device, of %llu groups %llu joined, %llu of these spilled and %llu came back; LaPerm: %llu "
                  "blocks near, %llu from a backup, %llu entries read\n", (unsigned long long)gpu[TIM_GPU_device_launches],
                  (unsigned long long)gpu[TIM_GPU_dtbl_groups], (unsigned long long)gpu[TIM_GPU_dtbl_joined],
                  (unsigned long long)gpu[TIM_GPU_dtbl_spills], (unsigned long long)gpu[TIM_GPU_dtbl_remarks],
                  (unsigned long long)gpu[TIM_GPU_laperm_near], (unsigned long long)gpu[TIM_GPU_laperm_backup],
                  (unsigned long long)gpu[TIM_GPU_laperm_reads]);
    print_message("locality: la_b chose %llu blocks for what they share, %llu others, of %llu launches; bcs placed %llu pairs; in la_w "
                  "%llu instructions issued, %llu of them for what their warp shares; blocks shared %llu lines, %llu were predicted\n",
                  (unsigned long long)gpu[TIM_GPU_la_b_overlap], (unsigned long long)gpu[TIM_GPU_la_b_least],
                  (unsigned long long)gpu[TIM_GPU_ap_launches], (unsigned long long)gpu[TIM_GPU_bcs_pairs], (unsigned long long)la_w[0],
                  (unsigned long long)la_w[1], (unsigned long long)la_w[2], (unsigned long long)la_w[3]);
    print_message("mrpb: %llu instructions overtook an older one; dws: %llu divisions; dwf, tbc: %llu lanes of companions, %llu compactions, %llu branches without a wait\n",
                  (unsigned long long)overtakes, (unsigned long long)divisions, (unsigned long long)companions,
                  (unsigned long long)compactions, (unsigned long long)passes);
    print_message("rows: %llu were freed early; drowsy for %llu rows x cycles\n", (unsigned long long)releases, (unsigned long long)drowsy);
    print_message("orf: %llu write-backs, %llu reads of last results\n", (unsigned long long)writebacks, (unsigned long long)last);
    print_message("prf: %llu reads of fast rows, %llu instructions woke them\n", (unsigned long long)fast, (unsigned long long)wakes);
    print_message("regless: %llu values found, %llu loaded\n", (unsigned long long)found, (unsigned long long)loaded);
    print_message("lwm: %llu releases\n", (unsigned long long)large);
    print_message("mascar: %llu saturated cycles, %llu loads moved, %llu accesses of moved loads\n", (unsigned long long)mascar[0],
                  (unsigned long long)mascar[1], (unsigned long long)mascar[2]);
    print_message("interweave: on %llu models; %llu second instructions of paths, %llu of warps, %llu shared a pipe\n", (unsigned long long)interweave[0],
                  (unsigned long long)interweave[1], (unsigned long long)interweave[2], (unsigned long long)interweave[3]);
    assert_true((interweave[1] != 0 && interweave[2] != 0 && interweave[3] != 0 && mascar[0] != 0 && mascar[1] != 0 && mascar[2] != 0 && large != 0 && found != 0 && loaded != 0 && fast != 0 && wakes != 0 && overtakes != 0 && releases != 0 && drowsy != 0 && writebacks != 0 && last != 0 && divisions != 0 && companions != 0 && compactions != 0 && passes != 0) || !all_occur);
    print_message("medic: on %llu models; %llu reads bypassed L2, %llu lines became the oldest, %llu requests were served first\n",
                  (unsigned long long)medic[0], (unsigned long long)medic[1], (unsigned long long)medic[2], (unsigned long long)medic[3]);
    print_message("votes: %llu samples with a majority for memory, %llu for the pipes; the clocks of the memory fell %llu times\n", (unsigned long long)gpu[TIM_GPU_dvfs_votes],
                  (unsigned long long)gpu[TIM_GPU_dvfs_compute_votes], (unsigned long long)gpu[TIM_GPU_dvfs_memory_lows]);
    print_message("dynpcal: on %llu models, on %llu with pools; %llu periods, %llu changes of the number of warps that may load\n",
                  (unsigned long long)dynpcal[0], (unsigned long long)dynpcal[1], (unsigned long long)dynpcal[2], (unsigned long long)dynpcal[3]);
    for (unsigned i = 0; i < LW_COUNT_OF(medic); i++)
        assert_true((medic[i] != 0 && dynpcal[i] != 0) || !all_occur);
    print_message("clocks: %llu diversions, %llu drained, %llu did not, %llu returned, %llu times all clocks fell\n",
                  (unsigned long long)gpu[TIM_GPU_dvfs_diversions], (unsigned long long)gpu[TIM_GPU_dvfs_drained],
                  (unsigned long long)gpu[TIM_GPU_dvfs_aborts], (unsigned long long)gpu[TIM_GPU_dvfs_resumes],
                  (unsigned long long)gpu[TIM_GPU_dvfs_gpu_lows]);
    for (unsigned i = TIM_GPU_dvfs_samples; i <= TIM_GPU_dvfs_gpu_lows; i++)
        assert_true(gpu[i] != 0 || !all_occur);
    assert_true((gpu[TIM_GPU_la_b_overlap] != 0 && gpu[TIM_GPU_la_b_least] != 0 && gpu[TIM_GPU_bcs_pairs] != 0 && la_w[1] != 0 && la_w[2] != 0) ||
                !all_occur);
    for (unsigned i = TIM_GPU_dtbl_groups; i <= TIM_GPU_laperm_reads; i++)
        assert_true(gpu[i] != 0 || !all_occur);
    assert_true((joined != 0 && ignored != 0 && explicit_barriers != 0 && stale != 0 && entries != 0 && expansions != 0 && executed != 0 && eager != 0 && idle != 0) || !all_occur);
    assert_true(midway * 2 >= count || count == 1);
    assert_true(ended * 4 >= count || count == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_model_counts_what_the_reference_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
