/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A partitioned register file. Each warp has prf.entries register rows (here: rows) in a small, fast partition; all other rows are in a large, slow
 * partition, whose supply voltage is near the threshold voltage. Few registers have most accesses, so the fast partition
 * serves most accesses. Each register is in one partition for the life of its warp.
 *
 *                     hot registers of a warp that begins
 *   prf.hot first     v0, v1, ...
 *   prf.hot code      those with most occurrences as operands in the code of the kernel
 *   prf.hot pilot     those that the pilot warp of the launch has accessed most; until the pilot has ended, as with `first`
 *   prf.hot hybrid    as `pilot`; but until the pilot has ended, as with `code`
 *
 * The pilot is the first warp of the launch on the core. An access to the slow partition takes prf.slow cycles, of which its
 * bank is busy for prf.busy. A fast row of a warp that has issued nothing for prf.idle cycles is in a low-power mode; the
 * warp's next instruction reads prf.wake cycles later if it accesses such a row.
 *
 * Source: specification of the book on GPU architectures, section 13 (pilot register file). Our choices: both partitions of a
 * bank share its port; all operands of an instruction with a slow source arrive together; each core has its own pilots; the
 * profile of the code counts each instruction once, even in a loop; the rule for low power, which begins with the first issue
 * of a warp.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REGISTERS = 256, PROFILES = 64, BLOCKS = 64, NO_WARP = TIM_MAX_WARPS };

/** What is known of the registers of a launch. */
struct profile {
    uint32_t launch;          /* sequence number of the launch, or 0 if the element is unused */
    unsigned blocks;          /* number of its resident blocks */
    uint64_t used;            /* order of last uses, for replacement */
    const struct isa_function *kernel;
    bool has_code;            /* `code` is filled */
    bool over;                /* the pilot has ended, and `pilot_hot` is filled */
    unsigned pilot;           /* slot of the pilot while it runs, or NO_WARP */
    struct tim_vectors code, pilot_hot; /* hot registers */
};
struct prf_warp {
    bool lives, started;          /* started: the warp has issued an instruction */
    unsigned profile;
    struct tim_vectors hot;       /* registers in the fast partition */
    uint64_t issued, counted;     /* cycle of its last issue; first cycle that prf_low has not counted */
    uint32_t accesses[REGISTERS]; /* number of accesses */
};
struct prf {
    struct tim_mech base;
    uint64_t since;    /* first cycle that prf_slow_rows has not counted */
    uint64_t uses;
    unsigned of[BLOCKS]; /* by block: its profile */
    struct profile profile[PROFILES];
    struct prf_warp warp[];
};

static bool is_on(const struct tim_config *config)
{
    return config->prf_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    struct prf *prf = calloc(1, sizeof *prf + core->config->core_warps * sizeof prf->warp[0]);

    return prf == NULL ? NULL : &prf->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

/* ---- hot registers ---------------------------------------------------------------------------------- */

/** Returns the number of accesses to the @most registers with most accesses. If @out is not NULL, sets it to these registers.
 *  Among registers with equally many accesses, those with lower numbers are preferred. A register without an access is not
 *  hot. */
static uint64_t hottest(const uint32_t *accesses, unsigned most, struct tim_vectors *out)
{
    struct tim_vectors taken = {{0}};
    uint64_t sum = 0;

    for (unsigned n = 0; n < most; n++) {
        unsigned best = REGISTERS;

        for (unsigned reg = 0; reg < REGISTERS; reg++)
            if (accesses[reg] != 0 && !tim_vectors_has(&taken, reg) && (best == REGISTERS || accesses[reg] > accesses[best]))
                best = reg;
        if (best == REGISTERS)
            break;
        tim_vectors_add(&taken, best);
        sum += accesses[best];
    }
    if (out != NULL)
        *out = taken;
    return sum;
}

/** Counts the vector registers that instructions of the kernel, and of functions that it may call, name. */
static void profile_code(const struct tim_code *code, const struct isa_function *kernel, unsigned most, struct tim_vectors *out)
{
    const struct isa_object *object = emu_program_object(code->program);
    uint32_t accesses[REGISTERS] = {0};

    for (uint32_t i = 0; i < code->count; i++) {
        const struct isa_function *in = isa_object_function_at(object, i);
        const struct tim_static *what = &code->insn[i];

        if (in != NULL && in->kernel && in->first != kernel->first)
            continue;
        for (unsigned k = 0; k < what->row_reads; k++)
            accesses[what->row_read[k]]++;
        for (unsigned k = 0; k < what->row_writes; k++)
            accesses[what->row_write[k]]++;
    }
    (void)hottest(accesses, most, out);
}

/** Selects the hot registers of a warp that begins. */
static void select_hot(struct prf *prf, struct profile *p, unsigned warp)
{
    const struct tim_config *config = prf->base.core->config;
    struct prf_warp *w = &prf->warp[warp];
    struct tim_mech_warp is;

    if (p->over && config->prf_hot >= TIM_PRF_PILOT) {
        w->hot = p->pilot_hot;
        return;
    }
    if (config->prf_hot == TIM_PRF_FIRST || config->prf_hot == TIM_PRF_PILOT) {
        for (unsigned reg = 0; reg < config->prf_entries; reg++)
            tim_vectors_add(&w->hot, reg);
        return;
    }
    if (!p->has_code) {
        prf->base.core->look(prf->base.core->context, warp, &is);
        profile_code(is.code, p->kernel, config->prf_entries, &p->code);
        p->has_code = true;
    }
    w->hot = p->code;
}

/* ---- hooks ------------------------------------------------------------------------------------------ */

/** Returns the index of the profile of a launch. If there is none, creates it in place of another profile: among the profiles
 *  of launches without resident blocks, the least recently used one. Such a profile exists while a block arrives, because a
 *  core has at most BLOCKS resident blocks. */
static unsigned profile_of(struct prf *prf, const struct emu_grid *grid)
{
    unsigned oldest = PROFILES;

    for (unsigned i = 0; i < PROFILES; i++) {
        const struct profile *p = &prf->profile[i];

        if (p->launch == grid->sequence)
            return i;
        if (p->blocks == 0 && (oldest == PROFILES || p->used < prf->profile[oldest].used))
            oldest = i;
    }
    prf->profile[oldest] = (struct profile){.launch = grid->sequence, .kernel = grid->launch.kernel, .pilot = NO_WARP};
    return oldest;
}

static void resides(struct tim_mech *mech, const struct tim_mech_block *block, bool begins)
{
    struct prf *prf = (struct prf *)mech;

    if (begins) {
        prf->of[block->place] = profile_of(prf, block->grid);
        prf->profile[prf->of[block->place]].used = ++prf->uses;
    }
    prf->profile[prf->of[block->place]].blocks += begins ? 1 : -1u;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct prf *prf = (struct prf *)mech;
    struct prf_warp *w = &prf->warp[warp];
    struct profile *p;

    (void)age;
    memset(w, 0, sizeof *w);
    w->lives = true;
    w->profile = prf->of[mech->core->block_of(mech->core->context, warp)];
    p = &prf->profile[w->profile];
    select_hot(prf, p, warp);
    if (!p->over && p->pilot == NO_WARP)
        p->pilot = warp;
}

/** Counts the fast rows of a warp that are in the low-power mode, in the cycles before @before. The cycle in which the warp
 *  issues again also counts. */
static void count_low(struct prf *prf, struct prf_warp *w, uint64_t before)
{
    const struct tim_config *config = prf->base.core->config;
    const uint64_t low = w->issued + 1 + config->prf_idle, from = low > w->counted ? low : w->counted;

    if (config->prf_idle != 0 && w->started && before > from)
        prf->base.core->count[TIM_CORE_prf_low] += (before - from) * config->prf_entries;
    w->counted = before > w->counted ? before : w->counted;
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct prf *prf = (struct prf *)mech;
    struct prf_warp *w = &prf->warp[warp];
    struct profile *p = &prf->profile[w->profile];
    const unsigned entries = mech->core->config->prf_entries;

    count_low(prf, w, mech->core->now + 1);
    w->lives = false;
    mech->core->count[TIM_CORE_prf_best] += hottest(w->accesses, entries, NULL);
    if (p->pilot != warp)
        return;
    (void)hottest(w->accesses, entries, &p->pilot_hot);
    p->pilot = NO_WARP;
    p->over = true;
    mech->core->count[TIM_CORE_prf_pilots]++;
}

/** Returns whether the warp has issued nothing for so long that its fast rows are in the low-power mode. */
static bool is_low(const struct prf *prf, const struct prf_warp *w)
{
    const unsigned idle = prf->base.core->config->prf_idle;

    return idle != 0 && w->started && prf->base.core->now > w->issued + idle;
}

static void upper(struct tim_mech *mech, const struct tim_mech_issue *issue, struct tim_mech_upper *out)
{
    struct prf *prf = (struct prf *)mech;
    struct prf_warp *w = &prf->warp[issue->warp];
    const struct tim_static *what = issue->what;
    uint64_t *count = mech->core->count;
    bool fast = false;

    for (unsigned k = 0; tim_reads_later(what) && k < what->row_reads; k++) {
        const bool hot = tim_vectors_has(&w->hot, what->row_read[k]);

        w->accesses[what->row_read[k]]++;
        count[hot ? TIM_CORE_prf_fast_reads : TIM_CORE_prf_slow_reads]++;
        out->slow_reads |= (uint32_t)!hot << k;
        fast |= hot;
    }
    for (unsigned k = 0; k < what->row_writes; k++) {
        const bool hot = tim_vectors_has(&w->hot, what->row_write[k]);

        w->accesses[what->row_write[k]]++;
        count[hot ? TIM_CORE_prf_fast_writes : TIM_CORE_prf_slow_writes]++;
        out->slow_writes |= (uint32_t)!hot << k;
        fast |= hot;
    }
    out->late = out->slow_reads != 0 ? (uint8_t)(mech->core->config->prf_slow - 1) : 0;
    if (fast && is_low(prf, w)) {
        count[TIM_CORE_prf_wakes]++;
        out->late += (uint8_t)mech->core->config->prf_wake;
    }
    count_low(prf, w, mech->core->now + 1);
    w->issued = mech->core->now;
    w->started = true;
}

static void account(struct tim_mech *mech)
{
    struct prf *prf = (struct prf *)mech;
    const struct tim_config *config = mech->core->config;

    for (unsigned i = 0; i < config->core_warps; i++)
        if (prf->warp[i].lives)
            count_low(prf, &prf->warp[i], mech->core->over);
    if (mech->core->over <= prf->since)
        return;
    mech->core->count[TIM_CORE_prf_slow_rows] +=
        (mech->core->over - prf->since) * (config->core_registers / config->core_warp_width - config->core_warps * config->prf_entries);
    prf->since = mech->core->over;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct prf *prf = (const struct prf *)mech;
    const uint64_t *count = mech->core->count;

    lw_printf(out, "accesses of register rows: %" PRIu64 " reads and %" PRIu64 " writes of the fast partition, %" PRIu64 " and %" PRIu64 " of the slow one\n",
              count[TIM_CORE_prf_fast_reads], count[TIM_CORE_prf_fast_writes], count[TIM_CORE_prf_slow_reads], count[TIM_CORE_prf_slow_writes]);
    for (unsigned i = 0; i < mech->core->config->core_warps; i++) {
        const struct prf_warp *w = &prf->warp[i];

        if (!w->lives)
            continue;
        lw_printf(out, "warp %u: fast registers", i);
        for (unsigned reg = 0; reg < REGISTERS; reg++)
            if (tim_vectors_has(&w->hot, reg))
                lw_printf(out, " v%u", reg);
        lw_printf(out, "%s%s\n", prf->profile[w->profile].pilot == i ? ", pilot of its launch" : "", is_low(prf, w) ? ", low power" : "");
    }
}

const struct tim_mechanism tim_prf = {
    .name = "prf", .summary = "partitioned register file: the registers with most accesses are in a small fast partition, the others in a slow one",
    .is_on = is_on, .create = create, .destroy = destroy, .resides = resides, .warp_begins = warp_begins, .warp_ends = warp_ends, .upper = upper,
    .account = account, .show = show,
};
