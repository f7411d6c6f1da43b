/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of keys against each other. keys.def has the range of each key; this file has the conditions on several keys.
 * Numbers of sets and sizes of lines and sectors must be powers of two, so that each part of an address is a bit field
 * and needs no division.
 */
#include "timing/decode/tim_static_priv.h"

#include <stdio.h>

struct cache_keys {
    const char *section, *prefix; /* section of the cache's keys, and start of their names, such as "fetch" and "cache_" */
    unsigned bytes, line, sector, ways;
};

/* With registers.collector window, results of units with fixed latency reserve write ports at issue. MOST_FIXED is the maximum
 * latency of such a unit. */
enum { MOST_FIXED = 64 };

/* Maximum number of vector registers of an instruction. */
enum { MOST_OF_INSN = TIM_MAX_ROWS + TIM_MAX_WRITES };

static bool power_of_two(unsigned x)
{
    return x != 0 && (x & (x - 1)) == 0;
}

static enum lw_status need_power(const char *key, unsigned value, struct lw_error *err)
{
    return power_of_two(value) ? LW_OK
                               : LW_FAIL(err, LW_EINPUT,
                                         "%s: expected a power of two, found %u", key, value);
}

static enum lw_status check_cache(const struct tim_config *c, const struct cache_keys *k,
                                  struct lw_error *err)
{
    char name[48];
    unsigned sets;
    enum lw_status status;

    snprintf(name, sizeof name, "%s.%sline", k->section, k->prefix);
    status = need_power(name, k->line, err);
    if (status != LW_OK)
        return status;
    snprintf(name, sizeof name, "%s.sector", k->section);
    if (k->sector != 0 && (!power_of_two(k->sector) || k->sector > k->line))
        return LW_FAIL(err, LW_EINPUT,
                       "%s: expected a power of two that is not more than %s.line (%u), found %u", name,
                       k->section, k->line, k->sector);
    if (k->line > c->l2_line)
        return LW_FAIL(err, LW_EINPUT,
                       "%s.%sline is %u, but l2.line is only %u: a request must be within one line of L2",
                       k->section, k->prefix, k->line, c->l2_line);
    if (k->bytes == 0) /* the model has no such cache */
        return LW_OK;
    sets = k->bytes / k->line / k->ways;
    if (!power_of_two(sets) || sets * k->line * k->ways != k->bytes) {
        unsigned good = 1;

        while ((uint64_t)good * 2 * k->line * k->ways <= k->bytes)
            good *= 2;
        return LW_FAIL(err, LW_EINPUT,
                       "%s.%sbytes is %u, but the number of sets must be a power of two: with %u ways and lines of %u bytes, "
                       "set the key to %u, for example",
                       k->section, k->prefix, k->bytes, k->ways, k->line,
                       good * k->line * k->ways);
    }
    return LW_OK;
}

/** Returns the name of a key that the model sets and that affects only tagged registers, or NULL if no such key is set. */
static const char *uses_tags(const struct tim_config *c)
{
    return c->registers_tags != TIM_REGISTERS_ROWS    ? "registers.tags"
           : c->tags_scalar != TIM_SCALAR_OFF         ? "tags.scalar"
           : c->tags_affine != TIM_AFFINE_OFF         ? "tags.affine"
           : c->tags_address != TIM_ADDRESS_LANES     ? "tags.address"
                                                      : NULL;
}

/** Checks variable warp sizing against other keys. */
static enum lw_status check_vws(const struct tim_config *c, struct lw_error *err)
{
    const struct {
        bool is;
        const char *what;
    } against[] = {
        {c->issue_width != 1, "issue.width above 1: set issue.width to 1"},
        {c->issue_rotate, "issue.rotate"},
        {c->issue_types, "issue.types"},
        {c->lsu_replay != TIM_REPLAY_NONE, "lsu.replay=buffer: set lsu.replay to none"},
        {c->lsu_local != 0, "lsu.local: set lsu.local to 0"},
        {c->lsu_separate, "lsu.separate"},
        {c->fetch_policy == TIM_FETCH_GREEDY, "fetch.policy=greedy: set fetch.policy to lrr"},
        {c->fetch_shared > 1, "fetch.shared above 1: set fetch.shared to 1"},
        {c->swl_on || c->issue_policy == TIM_SCHED_SWL, "mechanism swl, which may stop one warp of a gang forever"},
        {c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING, "mechanism pools, which may stop one warp of a gang "
                                                                     "forever"},
        {c->ccws_on, "mechanism ccws, which delays single warps of a gang"},
        {c->daws_on, "mechanism daws, which delays single warps of a gang"},
        {c->dwr_on, "mechanism dwr, which forms large warps of its own"},
    };

    if (!c->vws_on)
        return LW_OK;
    if (!power_of_two(c->issue_schedulers) || c->issue_schedulers < 2)
        return LW_FAIL(err, LW_EINPUT, "vws.on needs 2, 4 or 8 schedulers, but issue.schedulers is %u: set "
                                       "issue.schedulers to 2, 4 or 8",
                       c->issue_schedulers);
    if (c->core_group != c->issue_schedulers)
        return LW_FAIL(err, LW_EINPUT, "vws.on needs slot groups with one warp of each scheduler: set core.group to the number "
                                       "of schedulers, %u",
                       c->issue_schedulers);
    for (unsigned i = 0; i < LW_COUNT_OF(against); i++)
        if (against[i].is)
            return LW_FAIL(err, LW_EINPUT, "vws.on cannot be combined with %s", against[i].what);
    if (c->vws_mode != TIM_VWS_BOTH && (c->vws_memory != TIM_GANGS_WAIT || c->vws_reform != TIM_REFORM_NONE))
        return LW_FAIL(err, LW_EINPUT, "vws.%s needs gangs that can split into single warps: set vws.mode to both",
                       c->vws_memory != TIM_GANGS_WAIT ? "memory" : "reform");
    if (c->vws_sync != 0 && c->vws_reform == TIM_REFORM_NONE)
        return LW_FAIL(err, LW_EINPUT, "vws.sync (%u cycles) has no effect while gangs do not merge: set vws.reform to "
                                       "opportunistic", c->vws_sync);
    return LW_OK;
}

/** Checks mechanisms that form warps (dwf, tbc and lwm) or issue pairs of instructions (interweave) against other keys. */
static enum lw_status check_forms(const struct tim_config *c, struct lw_error *err)
{
    const char *name = c->dwf_on ? "dwf" : c->tbc_on ? "tbc" : c->lwm_on ? "lwm" : "interweave";
    const bool waits = c->tbc_on || c->lwm_on;
    const struct {
        bool is;
        const char *what;
    } against[] = {
        {c->issue_width != 1, "issue.width: set it to 1"},
        {c->issue_types, "issue.types"},
        {c->issue_compression != TIM_COMPRESS_NONE, "issue.compression, which shortens instructions by the lanes of one warp"},
        {c->registers_collector == TIM_COLLECTOR_WINDOW, "registers.collector=window: set it to ticked or reserved"},
        {c->lsu_replay != TIM_REPLAY_NONE, "lsu.replay=buffer: set it to none"},
        {c->lsu_local != 0, "lsu.local: set it to 0"},
        {c->lsu_separate, "lsu.separate"},
        {c->tags_detect != TIM_DETECT_OFF, "tags.detect: set it to off"},
        {c->dwr_on, "mechanism dwr, which forms large warps of its own"},
        {c->vws_on, "mechanism vws, which forms gangs of its own"},
        {c->dws_on, "mechanism dws, which divides splits and itself selects the split of a warp that runs"},
        {c->mrpb_on && !c->interweave_on, "mechanism mrpb, because the accesses of a formed warp go into the queue together"},
        {c->la_w_on, "mechanism la_w, which selects warps itself"},
        {waits && c->issue_switch_on_stall, "issue.switch_on_stall: set it to off"},
        {waits && (c->swl_on || c->issue_policy == TIM_SCHED_SWL), "mechanism swl, which may throttle a warp for which others wait"},
        {waits && (c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING), "mechanism pools, which may throttle a warp for which others wait"},
        {waits && c->daws_on, "mechanism daws, which may throttle a warp for which others wait"},
        {waits && c->equalizer_on, "mechanism equalizer, which may throttle a warp for which others wait"},
    };

    if (!c->dwf_on && !c->tbc_on && !c->lwm_on && !c->interweave_on)
        return LW_OK;
    if (c->dwf_on + c->tbc_on + c->lwm_on + c->interweave_on > 1)
        return LW_FAIL(err, LW_EINPUT, "%s.on and %s.on cannot be combined: set only one of them", name,
                       c->interweave_on ? "interweave" : c->dwf_on && c->tbc_on ? "tbc" : "lwm");
    if (c->core_reconvergence != TIM_RECONV_CBAR || c->issue_dependence != TIM_DEP_SCOREBOARD || !c->issue_split_lanes)
        return LW_FAIL(err, LW_EINPUT, "%s.on needs %s", name,
                       c->core_reconvergence != TIM_RECONV_CBAR    ? "core.reconvergence=cbar: other reconvergence engines do not divide splits"
                       : c->issue_dependence != TIM_DEP_SCOREBOARD ? "issue.dependence=scoreboard"
                                                                   : "issue.split_lanes: set it to on, or use --mechanism");
    for (unsigned i = 0; i < LW_COUNT_OF(against); i++)
        if (against[i].is)
            return LW_FAIL(err, LW_EINPUT, "%s.on cannot be combined with %s", name, against[i].what);
    return LW_OK;
}

/** Returns a message part with a setting of the model that cannot be combined with locality-aware warp scheduling (la_w),
 *  and the reason; NULL: there is none. */
static const char *la_w_against(const struct tim_config *c)
{
    return c->swl_on || c->issue_policy == TIM_SCHED_SWL ? "mechanism swl, because a warp that swl stops would "
                                                           "stay in the active group"
         : c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? "mechanism pools, because both mechanisms select "
                                                                        "active warps"
         : c->daws_on ? "mechanism daws, because a warp that daws delays would stay in the active group"
         : c->dwr_on ? "mechanism dwr, because a pending warp would block its partners"
         : c->vws_on ? "mechanism vws, which may stop one warp of a gang forever"
         : c->issue_types ? "issue.types, because the active group changes only once in a cycle"
         : c->lsu_replay != TIM_REPLAY_NONE ? "lsu.replay=buffer, because a replay takes issue slots of its scheduler"
         : c->issue_rotate ? "issue.rotate, because the active group depends on all schedulers"
                          : NULL;
}

/** Checks the keys of mechanism orf. */
static enum lw_status check_orf(const struct tim_config *c, struct lw_error *err)
{
    const char *against = !c->orf_on                                             ? NULL
                          : c->registers_collector == TIM_COLLECTOR_WINDOW       ? "registers.collector=window, whose reads are reserved in banks"
                          : c->lsu_local != 0                                    ? "lsu.local, whose reads are reserved in banks"
                          : c->registers_tags != TIM_REGISTERS_ROWS              ? "registers.tags, which stores registers as compact entries"
                          : c->rows_on                                           ? "mechanism rows, whose register rows are those of the main register file"
                          : c->dwf_on || c->tbc_on || c->lwm_on                  ? "dwf, tbc and lwm, whose warps have lanes of several warps"
                          : c->interweave_on                                     ? "mechanism interweave, whose instructions may share collectors"
                                                                                 : NULL;

    if (against != NULL)
        return LW_FAIL(err, LW_EINPUT, "orf.on cannot be combined with %s", against);
    return LW_OK;
}

/** Checks the keys of mechanism prf. */
static enum lw_status check_prf(const struct tim_config *c, struct lw_error *err)
{
    const char *against = !c->prf_on                                       ? NULL
                          : c->registers_collector == TIM_COLLECTOR_WINDOW ? "registers.collector=window, whose reads are reserved in banks"
                          : c->lsu_local != 0                              ? "lsu.local, whose reads are reserved in banks"
                          : c->registers_tags != TIM_REGISTERS_ROWS        ? "registers.tags, which stores registers as compact entries"
                          : c->rows_on                                     ? "mechanism rows, whose register rows leak as those of one partition"
                          : c->orf_on                                      ? "mechanism orf, which reads registers from files of its own"
                          : c->dvfs_on                                     ? "dvfs.on, because a cycle of a slower clock leaks more"
                          : c->dwf_on || c->tbc_on || c->lwm_on            ? "dwf, tbc and lwm, whose warps have lanes of several warps"
                          : c->interweave_on                               ? "mechanism interweave, whose instructions may share collectors"
                                                                           : NULL;

    if (against != NULL)
        return LW_FAIL(err, LW_EINPUT, "prf.on cannot be combined with %s", against);
    if (c->prf_on && (uint64_t)c->prf_entries * c->core_warps * c->core_warp_width > c->core_registers)
        return LW_FAIL(err, LW_EINPUT, "prf.entries (%u) is too large: the register file has %u register rows, which are %u for each of %u warps",
                       c->prf_entries, c->core_registers / c->core_warp_width,
                       c->core_registers / c->core_warp_width / c->core_warps, c->core_warps);
    return LW_OK;
}

/** Returns the name of a mechanism that may throttle a warp, or NULL if the model has none. */
static const char *throttle(const struct tim_config *c)
{
    return c->swl_on || c->issue_policy == TIM_SCHED_SWL                ? "swl"
           : c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? "pools"
           : c->ccws_on                                                ? "ccws"
           : c->daws_on                                                ? "daws"
           : c->la_w_on                                                ? "la_w"
           : c->equalizer_on                                           ? "equalizer"
           : c->dwr_on                                                 ? "dwr"
           : c->vws_on                                                 ? "vws"
           : c->dwf_on                                                 ? "dwf"
           : c->tbc_on                                                 ? "tbc"
           : c->lwm_on                                                 ? "lwm"
           : c->mascar_on                                              ? "mascar"
                                                                       : NULL;
}

/** Checks the keys of mechanism regless. */
static enum lw_status check_regless(const struct tim_config *c, struct lw_error *err)
{
    const unsigned most = c->regless_region > MOST_OF_INSN ? c->regless_region : MOST_OF_INSN;
    const unsigned entries = (unsigned)((uint64_t)c->core_registers / c->core_warp_width * c->regless_size / 100);
    const char *against = !c->regless_on                            ? NULL
                          : c->registers_tags != TIM_REGISTERS_ROWS ? "registers.tags, which stores registers as compact entries"
                          : c->rows_on                              ? "mechanism rows, whose register rows are those of a register file"
                          : c->orf_on                               ? "mechanism orf, which has a main register file"
                          : c->prf_on                               ? "mechanism prf, whose partitions are those of a register file"
                          : c->dvfs_on                              ? "dvfs.on, because a cycle of a slower clock leaks more"
                          : c->issue_switch_on_stall                ? "issue.switch_on_stall: each split has a region of its own"
                          : c->interweave_on                        ? "mechanism interweave: each split has a region of its own"
                                                                    : NULL;

    if (!c->regless_on)
        return LW_OK;
    if (against != NULL)
        return LW_FAIL(err, LW_EINPUT, "regless.on cannot be combined with %s", against);
    if (throttle(c) != NULL)
        return LW_FAIL(err, LW_EINPUT, "regless.on cannot be combined with mechanism %s: a warp that waits for capacity could wait for one that %s "
                                       "throttles", throttle(c), throttle(c));
    if (entries < most)
        return LW_FAIL(err, LW_EINPUT, "regless.size: the operand staging unit has %u entries, but a region may use %u registers", entries, most);
    return LW_OK;
}

/** Checks the keys of mechanism mascar. */
static enum lw_status check_mascar(const struct tim_config *c, struct lw_error *err)
{
    const char *against = c->dwr_on || c->vws_on                   ? "mechanisms dwr and vws, whose warps issue together"
                          : c->dwf_on || c->tbc_on || c->lwm_on    ? "dwf, tbc and lwm, whose warps have lanes of several warps"
                          : c->mrpb_on                             ? "mechanism mrpb, which orders the load/store queue"
                          : c->la_w_on                             ? "mechanism la_w, which selects warps itself"
                          : c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING ? "mechanism pools, because a throttled warp would stay in the active pool"
                          : c->lsu_local != 0                      ? "lsu.local, with which only one instruction at a time is in the queue"
                          : c->lsu_replay != TIM_REPLAY_NONE       ? "lsu.replay=buffer, with which blocked instructions issue again"
                                                                   : NULL;

    if (!c->mascar_on)
        return LW_OK;
    if (against != NULL)
        return LW_FAIL(err, LW_EINPUT, "mascar.on cannot be combined with %s", against);
    if (c->l1_bytes != 0 && c->mascar_free >= c->l1_mshrs)
        return LW_FAIL(err, LW_EINPUT, "mascar.free (%u) must be less than l1.mshrs (%u): otherwise the memory system would always be saturated",
                       c->mascar_free, c->l1_mshrs);
    return LW_OK;
}

/** Checks the keys of mechanism dynpcal. */
static enum lw_status check_dynpcal(const struct tim_config *c, struct lw_error *err)
{
    const bool limits = c->dynpcal_mode == TIM_DYNPCAL_CCWS;
    const unsigned epochs = limits + (c->dynpcal_shares + c->core_count - 1) / c->core_count;
    const char *against = c->pcal_on                                        ? "mechanism pcal, whose number of tokens is fixed"
                          : c->dvfs_on                                      ? "dvfs.on, because an epoch of a slower clock takes longer"
                          : limits && (c->dwf_on || c->tbc_on || c->lwm_on) ? "dwf, tbc and lwm, whose warps wait for each other"
                          : limits && c->la_w_on                            ? "mechanism la_w, which selects warps itself"
                                                                            : NULL;

    if (!c->dynpcal_on)
        return LW_OK;
    if (against != NULL)
        return LW_FAIL(err, LW_EINPUT, "dynpcal.on cannot be combined with %s", against);
    if (limits && !c->ccws_on)
        return LW_FAIL(err, LW_EINPUT, "dynpcal.mode=ccws needs mechanism ccws, which finds the number of warps: set ccws.on");
    if (c->l1_bytes == 0)
        return LW_FAIL(err, LW_EINPUT, "dynpcal.on needs an L1 cache: set l1.bytes");
    if (c->dynpcal_period <= epochs)
        return LW_FAIL(err, LW_EINPUT, "dynpcal.period is %u, but the samples of %u cores take %u epochs: set dynpcal.period to more", c->dynpcal_period,
                       c->core_count, epochs);
    if (c->dynpcal_high < c->dynpcal_low)
        return LW_FAIL(err, LW_EINPUT, "dynpcal.high (%u %%) is less than dynpcal.low (%u %%)", c->dynpcal_high, c->dynpcal_low);
    return LW_OK;
}

/** Checks the keys of mechanism medic. */
static enum lw_status check_medic(const struct tim_config *c, struct lw_error *err)
{
    if (!c->medic_on)
        return LW_OK;
    if (c->l2_bytes == 0)
        return LW_FAIL(err, LW_EINPUT, "medic.on needs an L2 cache: set l2.bytes");
    if (c->medic_priority && c->dram_policy == TIM_DRAM_FCFS)
        return LW_FAIL(err, LW_EINPUT, "medic.priority cannot be combined with dram.policy=fcfs, which has one queue: set medic.priority to off");
    if (c->medic_hit_boundary < c->medic_miss_boundary)
        return LW_FAIL(err, LW_EINPUT, "medic.hit_boundary (%u %%) is less than medic.miss_boundary (%u %%)", c->medic_hit_boundary, c->medic_miss_boundary);
    return LW_OK;
}

/** Checks the keys of mechanism rows. */
static enum lw_status check_rows(const struct tim_config *c, struct lw_error *err)
{
    const struct {
        bool is;
        const char *what;
    } against[] = {
        {c->registers_tags != TIM_REGISTERS_ROWS, "rows.on cannot be combined with registers.tags, whose compact entries are not register rows"},
        {c->dvfs_on, "rows.on cannot be combined with dvfs.on, because a cycle of a slower clock leaks more"},
        {c->rows_drowsy && c->registers_collector == TIM_COLLECTOR_WINDOW, "rows.drowsy cannot be combined with registers.collector=window, "
                                                                          "whose reads have fixed cycles"},
        {c->rows_drowsy && c->lsu_local != 0, "rows.drowsy cannot be combined with lsu.local, whose reads have fixed cycles: set lsu.local to 0"},
        {c->rows_rename && c->kernels_mixed, "rows.rename needs kernels.mixed=off, because the register rows that the oldest block of a core may still need "
                                             "are reserved: set kernels.mixed to off, or use --mechanism rename"},
        {c->rows_rename && c->interweave_on, "rows.rename cannot be combined with mechanism interweave, whose second instructions would need register rows, too"},
        {c->rows_rename && c->kernels_suspend, "rows.rename needs kernels.suspend=off, because a block that returns would need all its register rows at "
                                               "once: set kernels.suspend to off, or use --mechanism rename"},
    };
    const char *held = throttle(c);

    for (unsigned i = 0; c->rows_on && i < LW_COUNT_OF(against); i++)
        if (against[i].is)
            return LW_FAIL(err, LW_EINPUT, "%s", against[i].what);
    if (c->rows_on && c->rows_rename && held != NULL)
        return LW_FAIL(err, LW_EINPUT, "rows.rename cannot be combined with mechanism %s: a warp that waits for a register row could wait for one that %s "
                                       "throttles", held, held);
    return LW_OK;
}

enum lw_status tim_config_check(const struct tim_config *c, struct lw_error *err)
{
    const struct cache_keys caches[] = {
        {"l2", "", c->l2_bytes, c->l2_line, c->l2_sector, c->l2_ways},
        {"l1", "", c->l1_bytes, c->l1_line, c->l1_sector, c->l1_ways},
        {"constant", "", c->constant_bytes, c->constant_line, 0, c->constant_ways},
        {"texture", "", c->texture_bytes, c->texture_bytes != 0 ? c->texture_line : c->l1_line, 0, c->texture_ways},
        {"fetch", "cache_", c->fetch_cache_bytes, c->fetch_cache_line, 0, c->fetch_cache_ways},
        {"fetch", "l0_", c->fetch_l0_bytes, c->fetch_cache_line, 0, c->fetch_l0_ways},
        {"constant", "l0_", c->constant_l0_bytes, c->constant_line, 0, c->constant_l0_ways},
    };
    const struct {
        const char *key;
        unsigned value;
    } powers[] = {
        {"core.warp_width", c->core_warp_width},
        {"lsu.coalesce_lanes", c->lsu_coalesce_lanes},
        {"shared.banks", c->shared_banks},
        {"shared.bank_bytes", c->shared_bank_bytes},
        {"icnt.interleave", c->icnt_interleave},
        {"dram.banks", c->dram_banks},
        {"dram.row_bytes", c->dram_row_bytes},
        {"dram.bus_bytes", c->dram_bus_bytes},
        {"dram.burst_bytes", c->dram_burst_bytes},
        {"fetch.word_bytes", c->fetch_word_bytes},
        {"ccws.entries", c->ccws_entries},
        {"ccws.ways", c->ccws_ways},
        {"dwr.ilt_sets", c->dwr_ilt_sets != 0 ? c->dwr_ilt_sets : 1},
        {"daws.repeats", c->daws_repeats},
        {"daws.entries", c->daws_entries},
        {"daws.ways", c->daws_ways},
        {"dtbl.entries", c->dtbl_entries},
    };
    enum lw_status status = LW_OK;

    for (unsigned i = 0; i < LW_COUNT_OF(powers) && status == LW_OK; i++)
        status = need_power(powers[i].key, powers[i].value, err);
    for (unsigned i = 0; i < LW_COUNT_OF(caches) && status == LW_OK; i++)
        status = check_cache(c, &caches[i], err);
    if (status != LW_OK)
        return status;
    if (c->core_threads > c->core_warps * c->core_warp_width)
        return LW_FAIL(err, LW_EINPUT,
                       "core.threads is %u, but core.warps (%u) with %u lanes each have fewer threads: set core.warps to %u, or "
                       "core.threads to %u",
                       c->core_threads, c->core_warps, c->core_warp_width,
                       (c->core_threads + c->core_warp_width - 1) / c->core_warp_width,
                       c->core_warps * c->core_warp_width);
    if (c->core_warps % c->core_group != 0)
        return LW_FAIL(err, LW_EINPUT, "core.warps is %u, which is not a multiple of core.group (%u): set core.warps to "
                                       "%u", c->core_warps,
                       c->core_group, (c->core_warps / c->core_group + 1) * c->core_group);
    if (c->core_threads < c->core_warp_width)
        return LW_FAIL(err, LW_EINPUT, "core.threads is %u, which is less than a warp (%u lanes): increase core.threads",
                       c->core_threads, c->core_warp_width);
    if (c->issue_schedulers > c->core_warps)
        return LW_FAIL(err, LW_EINPUT, "issue.schedulers is %u, but core.warps is only %u: some schedulers would "
                                       "never have a warp", c->issue_schedulers, c->core_warps);
    if (c->unit[ISA_UNIT_INT].pipes == 0)
        return LW_FAIL(err, LW_EINPUT, "units.int.pipes is 0: set units.int.pipes to at least 1, because units "
                                       "without pipes of their own use the pipes of int");
    if (c->fetch_group > c->fetch_buffer)
        return LW_FAIL(err, LW_EINPUT, "fetch.group is %u, but fetch.buffer is only %u: a fetch must fit into the "
                                       "instruction buffer",
                       c->fetch_group, c->fetch_buffer);
    if (c->fetch_prefetch != 0 && c->fetch_l0_bytes == 0 && c->fetch_cache_mshrs < 2)
        return LW_FAIL(err, LW_EINPUT, "fetch.prefetch is %u and fetch.l0_bytes is 0: set fetch.cache_mshrs to at "
                                       "least 2, because one MSHR is reserved for fetches", c->fetch_prefetch);
    if (c->constant_l0_bytes != 0 && c->fetch_l0_bytes == 0)
        return LW_FAIL(err, LW_EINPUT, "constant.l0_bytes is %u, but fetch.l0_bytes is 0: also set fetch.l0_bytes, because "
                                       "operand caches use the link between L0 and the instruction cache", c->constant_l0_bytes);
    if (c->constant_l0_bytes != 0 && c->constant_line > c->fetch_cache_line)
        return LW_FAIL(err, LW_EINPUT, "constant.line is %u, but fetch.cache_line is only %u: with constant.l0_bytes, "
                                       "the instruction cache serves requests for constants",
                       c->constant_line, c->fetch_cache_line);
    if (c->constant_l0_bytes != 0 && c->issue_width != 1)
        return LW_FAIL(err, LW_EINPUT, "issue.width is %u, which cannot be combined with constant.l0_bytes: the operand "
                                       "cache looks up one instruction per cycle", c->issue_width);
    if (c->fetch_l0_bytes != 0 && (c->fetch_shared > 1 || c->constant_shared > 1 || c->issue_rotate || c->issue_types))
        return LW_FAIL(err, LW_EINPUT, "fetch.l0_bytes cannot be combined with %s",
                       c->fetch_shared > 1      ? "fetch.shared above 1: set fetch.shared to 1"
                       : c->constant_shared > 1 ? "constant.shared above 1: set constant.shared to 1"
                       : c->issue_rotate        ? "issue.rotate"
                                                : "issue.types");
    if (c->fetch_ports != 1 && c->fetch_l0_bytes == 0)
        return LW_FAIL(err, LW_EINPUT, "fetch.ports (%u) has no effect without fetch.l0_bytes: set fetch.l0_bytes, or "
                                       "set fetch.width instead", c->fetch_ports);
    status = check_vws(c, err);
    status = status == LW_OK ? check_forms(c, err) : status;
    status = status == LW_OK ? check_rows(c, err) : status;
    status = status == LW_OK ? check_orf(c, err) : status;
    status = status == LW_OK ? check_prf(c, err) : status;
    status = status == LW_OK ? check_regless(c, err) : status;
    status = status == LW_OK ? check_mascar(c, err) : status;
    status = status == LW_OK ? check_dynpcal(c, err) : status;
    status = status == LW_OK ? check_medic(c, err) : status;
    if (status != LW_OK)
        return status;
    if (c->issue_width > 2 && !c->issue_types)
        return LW_FAIL(err, LW_EINPUT, "issue.width is %u, which is more than 2 (dual issue): also set issue.types",
                       c->issue_width);
    if (c->dram_tREFI != 0 && c->dram_tRFC >= c->dram_tREFI)
        return LW_FAIL(err, LW_EINPUT, "dram.tRFC is %u, but must be less than dram.tREFI (%u): otherwise no time is left "
                                       "for commands",
                       c->dram_tRFC, c->dram_tREFI);
    if ((c->ccws_on || c->daws_on) && c->l1_bytes == 0)
        return LW_FAIL(err, LW_EINPUT, "%s.on needs an L1 cache: set l1.bytes", c->ccws_on ? "ccws" : "daws");
    const bool swl = c->swl_on || c->issue_policy == TIM_SCHED_SWL;
    const bool pools = c->pools_on || c->issue_policy == TIM_SCHED_ACTIVE_PENDING;
    if (pools && (swl || c->daws_on))
        return LW_FAIL(err, LW_EINPUT, "mechanism pools cannot be combined with mechanism %s, because a delayed warp "
                                       "would stay in the active pool",
                       swl ? "swl" : "daws");
    if (swl && c->daws_on && (c->swl_set == TIM_SWL_STICKY || c->daws_order == TIM_DAWS_ADMITTED))
        return LW_FAIL(err, LW_EINPUT, "swl.on and daws.on together need swl.set=oldest and daws.order=age: otherwise the "
                                       "two mechanisms may select different warps, so that none runs");
    if (c->daws_on && c->lsu_replay == TIM_REPLAY_BUFFER)
        return LW_FAIL(err, LW_EINPUT, "daws.on cannot be combined with lsu.replay=buffer, because accesses of several "
                                       "loads of a warp would mix: set lsu.replay to none");
    const char *with = swl ? "swl" : pools ? "pools" : c->daws_on ? "daws" : c->dwr_on ? "dwr" : c->vws_on ? "vws" : c->la_w_on ? "la_w" : NULL;
    if (c->equalizer_on && with != NULL)
        return LW_FAIL(err, LW_EINPUT, "equalizer.on cannot be combined with mechanism %s, which could wait for a warp of "
                                       "a paused block", with);
    if (c->equalizer_on && c->issue_types)
        return LW_FAIL(err, LW_EINPUT, "equalizer.on cannot be combined with issue.types: mechanism equalizer samples all "
                                       "schedulers at the start of a cycle");
    const char *against = la_w_against(c);
    if (c->dvfs_on && c->dvfs_act == TIM_DVFS_VOTE && !c->equalizer_on)
        return LW_FAIL(err, LW_EINPUT, "dvfs.act=vote needs mechanism equalizer, whose votes it counts: set equalizer.on, or use --mechanism vote");
    if (!(c->dvfs_on && c->dvfs_act == TIM_DVFS_VOTE) && (c->dvfs_memory || c->dvfs_goal != TIM_GOAL_ENERGY))
        return LW_FAIL(err, LW_EINPUT, "%s needs dvfs.act=vote: set dvfs.on and dvfs.act, or use --mechanism vote", c->dvfs_memory ? "dvfs.memory" : "dvfs.goal=speed");
    if (c->la_w_on && against != NULL)
        return LW_FAIL(err, LW_EINPUT, "la_w.on cannot be combined with %s", against);
    if (c->ap_subregions != 1 && c->ap_subregions != 4 && c->ap_subregions != 16 && c->ap_subregions != 64)
        return LW_FAIL(err, LW_EINPUT, "ap.subregions: expected 1, 4, 16 or 64, found %u", c->ap_subregions);
    if (c->dwr_on && (swl || pools || c->ccws_on || c->daws_on))
        return LW_FAIL(err, LW_EINPUT, "dwr.on cannot be combined with mechanism %s, because a delayed warp would block "
                                       "its partners",
                       swl ? "swl" : pools ? "pools" : c->ccws_on ? "ccws" : "daws");
    if (c->dwr_on && (c->lsu_local != 0 || c->lsu_separate || c->lsu_replay != TIM_REPLAY_NONE))
        return LW_FAIL(err, LW_EINPUT, "dwr.on cannot be combined with %s, which handles memory instructions one by one",
                       c->lsu_local != 0 ? "lsu.local" : c->lsu_separate ? "lsu.separate" : "lsu.replay=buffer");
    if (c->dws_on && (c->core_reconvergence != TIM_RECONV_CBAR || c->issue_dependence != TIM_DEP_SCOREBOARD || !c->issue_split_lanes ||
                      !c->issue_switch_on_stall || c->l1_bytes == 0))
        return LW_FAIL(err, LW_EINPUT, "dws.on needs %s",
                       c->core_reconvergence != TIM_RECONV_CBAR     ? "core.reconvergence=cbar: other reconvergence "
                                                                      "engines do not divide splits"
                       : c->issue_dependence != TIM_DEP_SCOREBOARD ? "issue.dependence=scoreboard"
                       : c->l1_bytes == 0                          ? "an L1 cache: set l1.bytes"
                                                                   : "issue.split_lanes and issue.switch_on_stall: set both to on, or use --mechanism dws");
    if (c->dws_on && (c->dwr_on || c->vws_on))
        return LW_FAIL(err, LW_EINPUT, "dws.on cannot be combined with mechanism %s, whose warps must not be divided",
                       c->dwr_on ? "dwr" : "vws");
    if (c->mrpb_on && (c->dwr_on || c->vws_on || c->lsu_local != 0 || c->lsu_replay != TIM_REPLAY_NONE))
        return LW_FAIL(err, LW_EINPUT, "mrpb.on cannot be combined with %s",
                       c->dwr_on           ? "mechanism dwr, whose large warps share accesses of the queue"
                       : c->vws_on         ? "mechanism vws, whose gangs share accesses of the queue"
                       : c->lsu_local != 0 ? "lsu.local, with which only one instruction at a time is in the queue"
                                           : "lsu.replay=buffer, because a replay enters the queue again at another position");
    const char *of_l1 = c->belady_on ? "belady" : c->loads_on ? "loads" : c->pcal_on ? "pcal" : c->reuse_on ? "reuse" : NULL;
    if (of_l1 != NULL && c->l1_bytes == 0)
        return LW_FAIL(err, LW_EINPUT, "%s.on needs an L1 cache: set l1.bytes", of_l1);
    if (c->dvfs_on && (c->fetch_shared > 1 || c->constant_shared > 1))
        return LW_FAIL(err, LW_EINPUT, "dvfs.on cannot be combined with %s above 1, because cores that share a cache "
                                       "have one clock: set the key to 1",
                       c->fetch_shared > 1 ? "fetch.shared" : "constant.shared");
    if (c->dvfs_low_mhz > c->dvfs_high_mhz || c->dvfs_low_mv > c->dvfs_high_mv)
        return LW_FAIL(err, LW_EINPUT, "dvfs.low_%s must not be more than dvfs.high_%s",
                       c->dvfs_low_mhz > c->dvfs_high_mhz ? "mhz" : "mv",
                       c->dvfs_low_mhz > c->dvfs_high_mhz ? "mhz" : "mv");
    if (c->profile != NULL && !c->daws_on)
        return LW_FAIL(err, LW_EINPUT, "a profile of loads has no effect without mechanism daws: set daws.on");
    if (c->ccws_on && c->daws_on)
        return LW_FAIL(err, LW_EINPUT, "ccws.on and daws.on cannot be combined: set only one of them");
    if (c->ccws_score_bits != 0 && c->ccws_base_score > lw_mask(c->ccws_score_bits))
        return LW_FAIL(err, LW_EINPUT, "ccws.base_score is %u, which needs more than the %u bits of ccws.score_bits: "
                                       "increase ccws.score_bits", c->ccws_base_score,
                       c->ccws_score_bits);
    if (c->issue_types && c->lsu_replay != TIM_REPLAY_NONE)
        return LW_FAIL(err, LW_EINPUT, "lsu.replay=buffer cannot be combined with issue.types, because a replay takes all "
                                       "issue slots of a cycle");
    if (c->issue_types && (c->issue_policy == TIM_SCHED_ACTIVE_PENDING || c->pools_on))
        return LW_FAIL(err, LW_EINPUT, "issue.policy=active_pending (mechanism pools) cannot be combined with issue.types, "
                                       "because its pools change only once in a cycle");
    if (c->issue_rotate && c->registers_collector == TIM_COLLECTOR_WINDOW)
        return LW_FAIL(err, LW_EINPUT, "issue.rotate cannot be combined with registers.collector=window, whose stage "
                                       "Control accepts an instruction in every cycle");
    if (c->issue_dependence == TIM_DEP_COUNTERS && c->issue_split_lanes)
        return LW_FAIL(err, LW_EINPUT, "issue.split_lanes cannot be combined with issue.dependence=counters, because a "
                                       "counter covers all lanes of a warp");
    if (c->lsu_separate && (c->lsu_local != 0 || c->lsu_replay != TIM_REPLAY_NONE))
        return LW_FAIL(err, LW_EINPUT, "lsu.separate cannot be combined with %s",
                       c->lsu_local != 0 ? "lsu.local: set lsu.local to 0" : "lsu.replay=buffer: set lsu.replay to none");
    if (c->issue_width > 1 && !c->issue_types && c->fetch_buffer < c->issue_width)
        return LW_FAIL(err, LW_EINPUT, "issue.width is %u, which needs at least two instructions in the instruction "
                                       "buffer: set fetch.buffer to 2 or more", c->issue_width);
    if (c->registers_collector == TIM_COLLECTOR_WINDOW && c->issue_width != 1)
        return LW_FAIL(err, LW_EINPUT, "issue.width is %u, which cannot be combined with registers.collector=window: its "
                                       "stage Control accepts one instruction per cycle", c->issue_width);
    for (unsigned u = 0; c->registers_collector == TIM_COLLECTOR_WINDOW && u < ISA_UNIT_COUNT; u++)
        if (!isa_unit_latency((enum isa_unit)u)->variable && c->unit[u].latency > MOST_FIXED)
            return LW_FAIL(err, LW_EINPUT, "units.%s.latency is %u, which is more than the %u cycles for which "
                           "registers.collector=window reserves write ports",
                           isa_unit_name((enum isa_unit)u), c->unit[u].latency, MOST_FIXED);
    if (c->tags_detect == TIM_DETECT_OFF && uses_tags(c) != NULL)
        return LW_FAIL(err, LW_EINPUT, "%s has no effect while tags.detect is off: set tags.detect to table, exact or "
                                       "fold",
                       uses_tags(c));
    if (c->registers_collector == TIM_COLLECTOR_WINDOW && c->registers_tags != TIM_REGISTERS_ROWS &&
        c->registers_compact == TIM_COMPACT_PART)
        return LW_FAIL(err, LW_EINPUT, "registers.compact=part cannot be combined with registers.collector=window, which "
                       "reserves whole banks: set registers.compact to file");
    if (c->registers_collector == TIM_COLLECTOR_WINDOW &&
        (c->tags_scalar == TIM_SCALAR_PIPE || c->tags_affine != TIM_AFFINE_OFF))
        return LW_FAIL(err, LW_EINPUT, "%s cannot be combined with registers.collector=window, which selects a pipe "
                                       "before the tags are known: set %s to off",
                                       c->tags_affine != TIM_AFFINE_OFF ? "tags.affine" : "tags.scalar=pipe",
                       c->tags_affine != TIM_AFFINE_OFF ? "tags.affine" : "tags.scalar");
    if (c->lsu_local != 0 && c->lsu_replay != TIM_REPLAY_NONE)
        return LW_FAIL(err, LW_EINPUT, "lsu.replay=buffer cannot be combined with lsu.local=%u: set lsu.replay to "
                                       "none, or lsu.local to 0", c->lsu_local);
    if (c->l2_slices % c->dram_channels != 0)
        return LW_FAIL(err, LW_EINPUT,
                       "l2.slices is %u, which is not a multiple of dram.channels (%u): each channel needs the same number of "
                       "slices", c->l2_slices, c->dram_channels);
    if (c->l2_line > c->icnt_interleave)
        return LW_FAIL(err, LW_EINPUT,
                       "l2.line is %u, but icnt.interleave is only %u: a line must be within one slice",
                       c->l2_line, c->icnt_interleave);
    if (c->l2_line > c->dram_row_bytes)
        return LW_FAIL(err, LW_EINPUT,
                       "l2.line is %u, but dram.row_bytes is only %u: a line must be within one DRAM row",
                       c->l2_line, c->dram_row_bytes);
    if (c->dram_burst_bytes > c->l2_sector)
        return LW_FAIL(err, LW_EINPUT, "dram.burst_bytes is %u, but l2.sector is only %u: a sector must consist of whole "
                                       "bursts", c->dram_burst_bytes, c->l2_sector);
    if (c->dram_bus_bytes > c->dram_burst_bytes)
        return LW_FAIL(err, LW_EINPUT, "dram.bus_bytes is %u, but dram.burst_bytes is only %u: a burst takes at least one "
                                       "cycle", c->dram_bus_bytes, c->dram_burst_bytes);
    return LW_OK;
}

/* ---- keys that only some models read: a change of a key that the model does not read has no effect -------------- */

/** `key`: a key or, with a final "*", the start of the names of several keys. `readers`: settings KEY=VALUE or
 *  KEY!=VALUE, separated by spaces; a model reads the key if at least one of them holds. The first matching row counts. */
static const struct {
    const char *key, *readers;
} needs[] = {
    {"swl.set", "swl.on=true issue.policy=swl"},
    {"issue.limit", "swl.on=true issue.policy=swl"},
    {"issue.active", "pools.on=true issue.policy=active_pending"},
    {"issue.group", "issue.policy=two_level"},
    {"issue.outer", "issue.policy=two_level"},
    {"issue.inner", "issue.policy=two_level issue.policy=active_pending"},
    {"issue.yield", "issue.dependence=control"},
    {"issue.barrier_count", "issue.dependence=control"},
    {"issue.depbar_delay", "issue.dependence=control"},
    {"issue.control_stage", "issue.dependence=control"},
    {"issue.stall_*", "issue.dependence=control"},
    {"issue.vm_count", "issue.dependence=counters"},
    {"issue.lgkm_count", "issue.dependence=counters"},
    {"issue.exp_count", "issue.dependence=counters"},
    {"issue.vector_entries", "issue.dependence=vector"},
    {"issue.readers", "issue.war=counters"},
    {"ap.window", "kernels.policy=la_b"},
    {"ap.dispatch_cost", "kernels.policy=la_b"},
    {"ap.regions", "la_w.on=true"},
    {"ap.subregions", "la_w.on=true"},
    {"ap.exact", "la_w.on=true"},
    {"ap.*", "kernels.policy=la_b la_w.on=true shares.on=true"},
    {"la_w.*", "la_w.on=true"},
    {"ccws.*", "ccws.on=true"},
    {"daws.*", "daws.on=true"},
    {"belady.*", "belady.on=true"},
    {"pcal.*", "pcal.on=true"},
    {"reuse.*", "reuse.on=true"},
    {"equalizer.*", "equalizer.on=true"},
    {"mrpb.*", "mrpb.on=true"},
    {"mascar.*", "mascar.on=true"},
    {"medic.*", "medic.on=true"},
    {"dynpcal.sample", "dynpcal.mode=ccws"},
    {"dynpcal.low", "dynpcal.mode=ccws"},
    {"dynpcal.high", "dynpcal.mode=ccws"},
    {"dynpcal.*", "dynpcal.on=true"},
    {"orf.last", "orf.kind=compiler"},
    {"orf.liveness", "orf.kind=cache"},
    {"orf.*", "orf.on=true"},
    {"regless.*", "regless.on=true"},
    {"prf.wake", "prf.idle!=0"},
    {"prf.*", "prf.on=true"},
    {"rows.wake", "rows.drowsy=true"},
    {"rows.overcommit", "rows.rename=true"},
    {"rows.reserve", "rows.rename=true"},
    {"rows.threshold", "rows.rename=true"},
    {"rows.*", "rows.on=true"},
    {"dws.*", "dws.on=true"},
    {"dwf.*", "dwf.on=true"},
    {"tbc.capri_*", "tbc.capri=true"},
    {"lwm.*", "lwm.on=true"},
    {"interweave.*", "interweave.on=true"},
    {"tbc.*", "tbc.on=true"},
    {"l1.bypass", "l1.bytes!=0"},
    {"dwr.*", "dwr.on=true"},
    {"dvfs.*", "dvfs.on=true"},
    {"registers.window", "registers.collector=window"},
    {"registers.rfc", "registers.collector=window"},
    {"registers.results", "registers.collector=window"},
    {"registers.collectors", "registers.collector!=window"},
    {"registers.conflict_free", "registers.collector=reserved"},
    {"registers.in_order", "registers.collector!=window"},
    {"lsu.address", "lsu.local!=0"},
    {"lsu.address_uniform", "lsu.local!=0"},
    {"lsu.interval", "lsu.local!=0"},
    {"fetch.l0_ways", "fetch.l0_bytes!=0"},
    {"fetch.link", "fetch.l0_bytes!=0"},
    {"constant.switch", "constant.l0_bytes!=0"},
    {"constant.l0_ways", "constant.l0_bytes!=0"},
    {"l1.line", "l1.bytes!=0"},
    {"l1.sector", "l1.bytes!=0"},
    {"l1.ways", "l1.bytes!=0"},
    {"l1.hash", "l1.bytes!=0"},
    {"l1.latency", "l1.bytes!=0"},
    {"l1.mshrs", "l1.bytes!=0"},
    {"l1.merges", "l1.bytes!=0"},
    {"l1.global", "l1.bytes!=0"},
    {"l1.store", "l1.bytes!=0"},
    {"l2.ways", "l2.bytes!=0"},
    {"l2.write", "l2.bytes!=0"},
    {"dram.tRFC", "dram.tREFI!=0"},
};

static bool is_of(const char *pattern, const char *key)
{
    const size_t size = strlen(pattern);

    return pattern[size - 1] == '*' ? strncmp(pattern, key, size - 1) == 0 && strstr(key, ".on") == NULL : strcmp(pattern, key) == 0;
}

/** Returns whether the setting KEY=VALUE or KEY!=VALUE at @text, which has @size characters, holds for the model. */
static bool holds(const struct tim_config *config, const char *text, size_t size)
{
    char copy[64], value[64], *is;
    bool differs;

    snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    is = strchr(copy, '=');
    differs = is[-1] == '!';
    is[differs ? -1 : 0] = '\0';
    return tim_config_value(config, copy, value, sizeof value) && (strcmp(value, is + 1) == 0) != differs;
}

bool tim_config_reads(const struct tim_config *config, const char *assignment, struct lw_sink *out)
{
    char key[64];

    snprintf(key, sizeof key, "%.*s", (int)strcspn(assignment, "="), assignment);
    for (size_t i = 0; i < LW_COUNT_OF(needs); i++) {
        const char *const readers = needs[i].readers;

        if (!is_of(needs[i].key, key))
            continue;
        for (const char *at = readers; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
            if (holds(config, at, strcspn(at, " ")))
                return true;
        lw_printf(out, "%s has no effect: only GPU models with ", key);
        for (const char *at = readers; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " "))
            lw_printf(out, "%s%.*s", at != readers ? " or " : "", (int)strcspn(at, " "), at);
        lw_put(out, " use this key");
        return false;
    }
    return true;
}
