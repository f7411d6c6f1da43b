/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hierarchy of register files. Most values are read once, soon after they are written, so a small file of each warp can
 * serve many accesses in place of the large main register file, with less energy.
 *
 *   orf.kind cache      register-file cache with FIFO replacement: each result gets an entry. A source that misses is read from
 *                       the main file, and gets no entry. An evicted value is written to the main file, unless no lane may
 *                       still read it (tim_live.c).
 *   orf.kind compiler   operand register file without tags, and a last result file: tim_values.c assigns values to them. Results
 *                       that are live after their strand are also written to the main file.
 *
 * A warp may be descheduled (other warps issue until its data arrives) at an instruction that needs the result of a load from
 * outside the core. At such an instruction the entries of the cache are flushed. With a compiler, a strand ends before such an
 * instruction if the strand has issued the load. At the end of a strand the operand register file and the last result file
 * have no values. Results of such loads are written to the main file. An entry
 * has a value only for the lanes of the splits that wrote it. Before other lanes read the register, the entry is written to
 * the main file. Source: specification of the book on GPU architectures, section 13. Our choices: write-backs use no port of
 * a bank; at an instruction that needs a loaded result, the cache of the warp is flushed even if the data has arrived; a
 * guarded write gets no entry of its own.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REGISTERS = 256, ENTRIES = 16 };

struct orf_warp {
    struct tim_vectors live;    /* registers that a live lane may still read */
    struct tim_vectors loaded;  /* registers that the latest loads from outside the core write, since the last flush */
    struct tim_vectors written; /* registers that have a value; value_reads has the number of its reads */
    unsigned count;             /* cache: number of entries in use, the oldest first */
    uint8_t reg[ENTRIES];
    uint64_t lanes[ENTRIES];    /* by entry: lanes for which the entry has a value */
    uint64_t near[REGISTERS];   /* compiler: lanes whose latest value of the register is in an upper level */
    uint32_t value_reads[REGISTERS];
};
struct orf {
    struct tim_mech base;
    struct orf_warp warp[];
};

static bool is_on(const struct tim_config *config)
{
    return config->orf_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct orf *orf = calloc(1, sizeof *orf + core->config->core_warps * sizeof orf->warp[0]);

    return orf == NULL ? NULL : &orf->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

/* ---- how often values are read ---------------------------------------------------------------------- */

/** Counts a value that is overwritten, or whose warp ends. */
static void count_value(uint64_t *count, struct orf_warp *w, unsigned reg)
{
    if (!tim_vectors_has(&w->written, reg))
        return;
    count[TIM_CORE_orf_values]++;
    if (w->value_reads[reg] < 3)
        count[w->value_reads[reg] == 0   ? TIM_CORE_orf_values_unread
              : w->value_reads[reg] == 1 ? TIM_CORE_orf_values_once
                                         : TIM_CORE_orf_values_twice]++;
    tim_vectors_remove(&w->written, reg);
}

/** Returns whether @reg is among the first @k elements of @list. */
static bool is_before(const uint8_t *list, unsigned k, unsigned reg)
{
    for (unsigned i = 0; i < k; i++)
        if (list[i] == reg)
            return true;
    return false;
}

static void count_values(uint64_t *count, struct orf_warp *w, const struct tim_static *what, bool whole)
{
    for (unsigned k = 0; k < what->row_reads; k++)
        w->value_reads[what->row_read[k]] += !is_before(what->row_read, k, what->row_read[k]);
    for (unsigned k = 0; k < what->row_writes && whole; k++) {
        count_value(count, w, what->row_write[k]);
        tim_vectors_add(&w->written, what->row_write[k]);
        w->value_reads[what->row_write[k]] = 0;
    }
}

/* ---- the cache -------------------------------------------------------------------------------------- */

/** Returns the entry of a register, or `count` if it has none. */
static unsigned entry_of(const struct orf_warp *w, unsigned reg)
{
    unsigned e = 0;

    while (e < w->count && w->reg[e] != reg)
        e++;
    return e;
}

static void drop(struct orf_warp *w, unsigned e)
{
    w->count--;
    for (; e < w->count; e++) {
        w->reg[e] = w->reg[e + 1];
        w->lanes[e] = w->lanes[e + 1];
    }
}

/** Evicts an entry: writes its value to the main register file, unless it is dead. */
static void evict(const struct tim_config *config, uint64_t *count, struct orf_warp *w, unsigned e)
{
    if (!config->orf_liveness || tim_vectors_has(&w->live, w->reg[e])) {
        count[TIM_CORE_orf_writebacks]++;
        count[TIM_CORE_register_writes]++;
    } else {
        count[TIM_CORE_orf_dead]++;
    }
    drop(w, e);
}

static bool cache_reads(const struct tim_config *config, uint64_t *count, struct orf_warp *w, unsigned reg, uint64_t lanes)
{
    const unsigned e = entry_of(w, reg);

    if (e == w->count)
        return false;
    if ((lanes & ~w->lanes[e]) != 0) {
        evict(config, count, w, e);
        return false;
    }
    count[TIM_CORE_orf_reads]++;
    return true;
}

/** Returns whether the result is written to the cache, and not to the main file. @whole: it is written in all of @lanes. */
static bool cache_writes(const struct tim_config *config, uint64_t *count, struct orf_warp *w, unsigned reg, uint64_t lanes, bool far, bool whole)
{
    const unsigned e = entry_of(w, reg);

    if (e != w->count && (far || (!whole && (lanes & ~w->lanes[e]) != 0))) {
        /* the value in the entry is overwritten in these lanes */
        if (!whole || (w->lanes[e] & ~lanes) != 0)
            evict(config, count, w, e);
        else
            drop(w, e);
        return false;
    }
    if (far || (e == w->count && !whole))
        return false;
    count[TIM_CORE_orf_writes]++;
    if (e != w->count) {
        w->lanes[e] |= lanes;
        return true;
    }
    if (w->count == config->orf_entries)
        evict(config, count, w, 0);
    w->reg[w->count] = (uint8_t)reg;
    w->lanes[w->count++] = lanes;
    return true;
}

/* ---- hooks ------------------------------------------------------------------------------------------ */

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct orf_warp *w = &((struct orf *)mech)->warp[warp];

    (void)age;
    memset(w, 0, sizeof *w);
    (void)tim_mech_live(mech->core, warp, &w->live);
    for (unsigned reg = 0; reg < REGISTERS; reg++) /* a suspended block returns with the values of its small files */
        w->near[reg] = tim_vectors_has(&w->live, reg) ? UINT64_MAX : 0;
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct orf_warp *w = &((struct orf *)mech)->warp[warp];

    for (unsigned reg = 0; reg < REGISTERS; reg++)
        count_value(mech->core->count, w, reg);
    mech->core->count[TIM_CORE_orf_dead] += w->count;
    w->count = 0;
}

/** orf.kind cache: flushes the cache if the instruction needs the result of a load from outside the core, because the warp
 *  may be descheduled at the instruction. */
static void deschedule(const struct tim_config *config, uint64_t *count, struct orf_warp *w, const struct tim_static *what)
{
    bool needs = false;

    for (unsigned k = 0; k < what->row_reads; k++)
        needs |= tim_vectors_has(&w->loaded, what->row_read[k]);
    for (unsigned k = 0; k < what->row_writes; k++)
        needs |= tim_vectors_has(&w->loaded, what->row_write[k]);
    if (!needs)
        return;
    count[TIM_CORE_orf_flushes]++;
    w->loaded = (struct tim_vectors){{0}};
    while (w->count != 0)
        evict(config, count, w, 0);
}

/** orf.kind compiler: counts the accesses to upper levels, and checks that these levels have the values that are read. */
static void use_levels(uint64_t *count, struct orf_warp *w, const struct tim_mech_issue *issue, struct tim_mech_upper *out)
{
    const struct tim_static *what = issue->what;
    const struct tim_level *level = &issue->code->level[(issue->pc - issue->code->base) / ISA_WORD_BYTES];

    for (unsigned reg = 0; level->starts && reg < REGISTERS; reg++)
        w->near[reg] &= ~issue->mask;
    count[TIM_CORE_orf_flushes] += level->starts;
    out->reads = level->read_near | level->read_last;
    out->writes = (level->write_near | level->write_last) & ~(uint32_t)level->write_main;
    count[TIM_CORE_orf_reads] += lw_popcount(level->read_near);
    count[TIM_CORE_orf_last_reads] += lw_popcount(level->read_last);
    count[TIM_CORE_orf_writes] += lw_popcount(level->write_near);
    count[TIM_CORE_orf_last_writes] += lw_popcount(level->write_last);
    for (LW_EACH_BIT(k, out->reads))
        count[TIM_CORE_orf_wrong] += (issue->mask & ~w->near[what->row_read[k]]) != 0;
    for (unsigned k = 0; k < what->row_writes; k++) {
        uint64_t *near = &w->near[what->row_write[k]];

        *near = ((level->write_near | level->write_last) >> k & 1) != 0 ? *near | issue->mask : *near & ~issue->mask;
    }
}

static void upper(struct tim_mech *mech, const struct tim_mech_issue *issue, struct tim_mech_upper *out)
{
    const struct tim_config *config = mech->core->config;
    struct orf_warp *w = &((struct orf *)mech)->warp[issue->warp];
    const struct tim_static *what = issue->what;
    const bool far = tim_is_far(what), whole = tim_writes_all(issue->code, (uint32_t)((issue->pc - issue->code->base) / ISA_WORD_BYTES));
    uint64_t *count = mech->core->count;

    count_values(count, w, what, whole);
    if (config->orf_kind == TIM_ORF_COMPILER) {
        use_levels(count, w, issue, out);
    } else {
        deschedule(config, count, w, what);
        for (unsigned k = 0; k < what->row_reads && tim_reads_later(what); k++)
            out->reads |= (uint32_t)cache_reads(config, count, w, what->row_read[k], issue->mask) << k;
        if (!tim_mech_live(mech->core, issue->warp, &w->live))
            w->live = (struct tim_vectors){{0}};
        for (unsigned k = 0; k < what->row_writes; k++)
            out->writes |= (uint32_t)cache_writes(config, count, w, what->row_write[k], issue->mask, far, whole) << k;
    }
    for (unsigned k = 0; far && k < what->row_writes; k++)
        tim_vectors_add(&w->loaded, what->row_write[k]);
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct tim_config *config = mech->core->config;
    const uint64_t *count = mech->core->count;
    const struct orf *orf = (const struct orf *)mech;

    lw_printf(out, "accesses of register rows: %" PRIu64 " reads and %" PRIu64 " writes of entries, %" PRIu64 " and %" PRIu64 " of last results, %" PRIu64
                   " and %" PRIu64 " of the main register file\n",
              count[TIM_CORE_orf_reads], count[TIM_CORE_orf_writes], count[TIM_CORE_orf_last_reads], count[TIM_CORE_orf_last_writes],
              count[TIM_CORE_register_reads], count[TIM_CORE_register_writes]);
    for (unsigned warp = 0; warp < config->core_warps; warp++) {
        const struct orf_warp *w = &orf->warp[warp];

        if (w->count != 0)
            lw_printf(out, "warp %u:", warp);
        for (unsigned e = 0; e < w->count; e++)
            lw_printf(out, " v%u%s", w->reg[e], e + 1 == w->count ? "\n" : "");
    }
}

const struct tim_mechanism tim_orf = {
    .name = "orf", .summary = "register-file cache or operand register file: small files of a warp for values that are soon read",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .warp_ends = warp_ends, .upper = upper, .show = show,
};
