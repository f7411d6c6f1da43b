/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic warp resizing. A warp is only as wide as the SIMD hardware; the warps of a slot group (core.group; here called group)
 * are partners. A load or store of global or local memory is called a LAT. Each LAT has a barrier of the partners before it.
 * Partners that leave the barrier at the same instruction issue it as one large warp, whose accesses are coalesced together. The
 * ignore list table (ILT) learns which barriers are useless because partners have diverged; such barriers are ignored.
 * Source: A. Lashgar, A. Baniasadi, A. Khonsari, "Dynamic warp resizing in high-performance SIMT". Numbers in
 * parentheses are sections of its specification.
 *
 *      reaches a LAT, or (dwr.bar_mode: explicit)
 *      issues a bar.synch_partner      24 cycles               all partners arrived         class complete
 *     READY ---------------> BARRIER ------------> WAITS ------------------------> COMBINE ---------------> READY
 *                               |                                                                             ^
 *                               +-- its instruction is in the ILT --> PASSED -- issues alone ------------------+
 *
 * The PST is the table of groups: an entry is valid from the arrival of the first partner to the release of the group. A partner
 * has arrived if it has begun to wait at a LAT barrier after the entry of its group became valid, if it waits at a block
 * barrier, if it has ended, or if its slot has no warp. The last three conditions depend only on the present state
 * of the warp, not on earlier releases (5.2). A class consists of the members of a group that are in state COMBINE at
 * the same instruction. The members issue one after the other, the lowest slot first. Until the last one has issued, no other
 * warp of their schedulers issues (5.3). Barrier operations that end in the same cycle end in the order of their warps (6).
 */
#include "timing/mechanisms/tim_dwr_priv.h"
#include "timing/tables/tim_map_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** State of a warp slot. */
struct member {
    uint8_t state; /* enum tim_dwr_state */
    bool alone;    /* a debugger has refused the member's issue, so the member is in no class */
    uint64_t pc;   /* pc of the LAT whose barrier the warp has reached */
    /* BARRIER, WAITS: pc of the LAT that the warp reached last; it differs from `pc` if another split runs now */
    uint64_t reached;
    uint64_t at;   /* BARRIER: cycle in which the barrier operation reads the tables */
    uint64_t ends; /* BARRIER: cycle in which the operation ends; later than `at` if ignored barriers are faster */
    uint64_t came; /* WAITS: first cycle of the wait */
    uint32_t packet; /* number of the packet of the member's last LAT, or 0 if there is none */
};
struct group {
    struct tim_dwr_pst pst;
    uint64_t live, waits; /* sets of members: with live lanes; waiting at a block barrier or for a launch */
    /* The following members describe the class that is issuing. */
    uint64_t pending;     /* set of its members that have not issued, or 0 if no class is issuing */
    uint64_t pc;          /* pc of its instruction */
    unsigned issued;      /* number of its members that have issued */
    uint32_t packet;      /* number of its packet */
};
struct dwr {
    struct tim_mech base;
    const struct tim_config *config;
    unsigned n, groups;    /* number of members of each group, and number of groups */
    unsigned words;        /* number of 64-bit words of a scheduler's set of warps */
    uint64_t all;          /* set of all members of a group */
    struct tim_ilt ilt;
    uint64_t launch;       /* 1 + sequence number of the latest launch with blocks on this core */
    uint64_t next_at;      /* no barrier operation reads the tables, and no PST entry times out, before this cycle */
    bool changed;          /* warps may have been released since the last call of picks() */
    struct tim_map seen;   /* keys: number of an instruction, and 1 if its barrier was ignored, 0 if its barrier operation ended */
    unsigned ignored_count; /* number of instructions whose barriers were ignored at least once */
    uint32_t sequence;     /* number of the last packet */
    bool flowed;           /* a member of an issuing class may have changed its pc since the last call of picks() */
    unsigned pending[TIM_MAX_SCHEDS]; /* by scheduler: number of its warps that still have to issue for an issuing class */
    uint8_t issuing[TIM_MAX_SCHEDS];  /* by scheduler: the group of the warps in `pending` */
    unsigned operating;    /* number of elements of `operation` */
    uint16_t operation[TIM_MAX_WARPS]; /* slots of warps in state BARRIER, sorted by member.at, then by slot */
    uint64_t held[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64];    /* by scheduler: set of its warps in state BARRIER or WAITS */
    uint64_t combine[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64]; /* by scheduler: set of its warps in state COMBINE */
    struct group group[TIM_MAX_WARPS];
    struct member member[TIM_MAX_WARPS]; /* by slot */
    /* by slot: the warp's group, its scheduler, and its bit in the scheduler's sets of warps */
    uint8_t of[TIM_MAX_WARPS], sched[TIM_MAX_WARPS], place[TIM_MAX_WARPS];
};

static bool is_on(const struct tim_config *config)
{
    return config->dwr_on && config->core_group > 1; /* in a group of one warp, a warp has no partners (15) */
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct dwr *dwr = calloc(1, sizeof *dwr);

    if (dwr == NULL)
        return NULL;
    dwr->config = config;
    dwr->n = config->core_group;
    dwr->all = lw_mask(dwr->n);
    dwr->groups = config->core_warps / dwr->n;
    dwr->next_at = UINT64_MAX;
    dwr->words = (config->core_warps + 64 * config->issue_schedulers - 1) / (64 * config->issue_schedulers);
    for (unsigned w = 0; w < config->core_warps; w++) {
        dwr->of[w] = (uint8_t)(w / dwr->n);
        dwr->sched[w] = (uint8_t)(w % config->issue_schedulers);
        dwr->place[w] = (uint8_t)(w / config->issue_schedulers);
    }
    if (tim_ilt_init(&dwr->ilt, config->dwr_ilt_sets, config->dwr_ilt_ways))
        return &dwr->base;
    free(dwr);
    return NULL;
}

static void destroy(struct tim_mech *mech)
{
    struct dwr *dwr = (struct dwr *)mech;

    tim_ilt_fini(&dwr->ilt);
    tim_map_fini(&dwr->seen);
    free(dwr);
}

/* A LAT (4.1) is a load or store of global or local memory; with dwr.lat_param also a load through the constant cache. */
static bool is_lat(const struct dwr *dwr, const struct tim_static *what)
{
    return what->data || (dwr->config->dwr_lat_param && what->of_constants);
}

static struct group *group_of(struct dwr *dwr, unsigned warp)
{
    return &dwr->group[dwr->of[warp]];
}

static uint64_t bit_of(const struct dwr *dwr, unsigned warp)
{
    return UINT64_C(1) << (warp - dwr->of[warp] * dwr->n);
}

static bool is_explicit(const struct dwr *dwr)
{
    return dwr->config->dwr_bar_mode == TIM_DWR_EXPLICIT;
}

/** Returns the address that identifies the barrier of the LAT at @pc in the PST and the ILT: with dwr.bar_mode explicit, the
 *  address of the bar.synch_partner instruction before the LAT; otherwise the address of the LAT. */
static uint64_t barrier_of(const struct dwr *dwr, uint64_t pc)
{
    return is_explicit(dwr) ? pc - ISA_WORD_BYTES : pc;
}

/** Returns the number that identifies the barrier at @pc in the ILT. */
static uint64_t number_of(const struct dwr *dwr, uint64_t pc)
{
    return pc >> dwr->config->dwr_ilt_index_shift;
}

static void ilt_insert(struct dwr *dwr, uint64_t pc)
{
    uint64_t *count = dwr->base.core->count;
    bool evicted;

    if (!tim_ilt_insert(&dwr->ilt, number_of(dwr, pc), &evicted))
        return;
    count[TIM_CORE_dwr_ilt_inserts]++;
    count[TIM_CORE_dwr_ilt_evictions] += evicted;
    tim_histogram_add(&dwr->base.core->histogram[TIM_CORE_H_dwr_ilt_used], dwr->ilt.count);
}

/* ---- the barrier and its release (5.1, 5.2) ------------------------------------------------------ */

/** Returns the members of group @g whose slots have no warp. */
static uint64_t absent(const struct dwr *dwr, unsigned g)
{
    uint64_t set = 0;

    for (unsigned i = 0; i < dwr->n; i++) {
        struct tim_mech_warp warp;

        dwr->base.core->look(dwr->base.core->context, g * dwr->n + i, &warp);
        set |= (uint64_t)!warp.used << i;
    }
    return set;
}

static uint64_t arrived(const struct dwr *dwr, const struct group *g)
{
    if (dwr->config->dwr_release == TIM_DWR_SAME_PC) /* a mode for comparisons, in which ended warps and warps at block
                                                      * barriers do not count as arrived */
        return g->pst.lock | absent(dwr, (unsigned)(g - dwr->group));
    return g->pst.lock | g->waits | (dwr->all & ~g->live);
}

/** Adds the barrier operation of the warp to the list, which is sorted by member.at. The new operation is usually the last. */
static void operation_add(struct dwr *dwr, unsigned warp)
{
    const struct member *m = dwr->member;
    unsigned at = dwr->operating++;

    for (; at > 0 && (m[dwr->operation[at - 1]].at > m[warp].at || (m[dwr->operation[at - 1]].at == m[warp].at && dwr->operation[at - 1] > warp)); at--)
        dwr->operation[at] = dwr->operation[at - 1];
    dwr->operation[at] = (uint16_t)warp;
}

/** Removes the barrier operation of @warp from the list. It is usually the first. */
static void operation_remove(struct dwr *dwr, unsigned warp)
{
    unsigned at = 0;

    while (dwr->operation[at] != warp)
        at++;
    dwr->operating--;
    memmove(&dwr->operation[at], &dwr->operation[at + 1], (dwr->operating - at) * sizeof dwr->operation[0]);
}

static void set_state(struct dwr *dwr, unsigned warp, enum tim_dwr_state state)
{
    const unsigned word = dwr->place[warp] / 64;
    uint64_t *held = &dwr->held[dwr->sched[warp]][word], *combine = &dwr->combine[dwr->sched[warp]][word];
    const uint64_t bit = UINT64_C(1) << dwr->place[warp] % 64;

    if (dwr->member[warp].state == TIM_DWR_BARRIER)
        operation_remove(dwr, warp);
    dwr->member[warp].state = (uint8_t)state;
    *held = state == TIM_DWR_BARRIER || state == TIM_DWR_WAITS ? *held | bit : *held & ~bit;
    *combine = state == TIM_DWR_COMBINE ? *combine | bit : *combine & ~bit;
}

/** Begins a barrier operation of the warp for the LAT at @pc. */
static void begin(struct dwr *dwr, unsigned warp, uint64_t pc, uint64_t now)
{
    const struct tim_config *c = dwr->config;
    struct member *m = &dwr->member[warp];

    set_state(dwr, warp, TIM_DWR_BARRIER);
    m->pc = m->reached = pc;
    m->alone = false;
    m->ends = now + c->dwr_latency;
    m->at = c->dwr_ignored_latency < c->dwr_latency ? now + c->dwr_ignored_latency : m->ends;
    operation_add(dwr, warp);
    if (m->at < dwr->next_at)
        dwr->next_at = m->at;
}

/** Ends the barrier of the warp, which may now issue its LAT. If another split of the warp runs now and has reached another
 *  LAT, begins the barrier operation of that LAT. */
static void pass(struct dwr *dwr, unsigned warp, enum tim_dwr_state state, uint64_t now)
{
    struct member *m = &dwr->member[warp];
    struct tim_mech_warp is;

    set_state(dwr, warp, state);
    if (m->reached == m->pc)
        return;
    dwr->base.core->look(dwr->base.core->context, warp, &is);
    if (is.used && !is.ended && is.lanes != 0 && is.pc == m->reached)
        begin(dwr, warp, is.pc, now);
}

static void release(struct dwr *dwr, struct group *g, uint64_t now)
{
    const unsigned first = (unsigned)(g - dwr->group) * dwr->n;
    struct tim_mech_core const *core = dwr->base.core;
    const uint64_t missing = dwr->all & ~(g->pst.lock | absent(dwr, (unsigned)(g - dwr->group)));
    unsigned released = 0;

    for (unsigned i = 0; i < dwr->n; i++) {
        struct member *m = &dwr->member[first + i];

        if (m->state != TIM_DWR_WAITS)
            continue;
        pass(dwr, first + i, TIM_DWR_COMBINE, now);
        released++;
        core->count[TIM_CORE_dwr_wait_cycles] += now - m->came;
        tim_histogram_add(&core->histogram[TIM_CORE_H_dwr_wait], now - m->came);
    }
    core->count[TIM_CORE_dwr_releases]++;
    tim_histogram_add(&core->histogram[TIM_CORE_H_dwr_release_size], released);
    if (missing != 0 && (missing & ~(g->waits | (dwr->all & ~g->live))) == 0) {
        core->count[(missing & ~g->waits) == 0 ? TIM_CORE_dwr_foreign_barrier : TIM_CORE_dwr_foreign_exit]++;
        if (dwr->config->dwr_on_foreign_release)
            ilt_insert(dwr, g->pst.pc);
    }
    g->pst.valid = false;
    g->pst.lock = 0;
}

static void try_release(struct dwr *dwr, struct group *g, uint64_t now)
{
    if (g->pst.valid && arrived(dwr, g) == dwr->all)
        release(dwr, g, now);
}

/** Counts an end of a barrier operation and, if the operation is the first of its instruction, the instruction. With @ignored, does
 *  the same for operations that are ignored. @number: number of the instruction in the ILT. */
static void count_operation(struct dwr *dwr, uint64_t number, bool ignored)
{
    uint64_t *count = dwr->base.core->count;
    bool is_new = false;

    count[ignored ? TIM_CORE_dwr_ignored : TIM_CORE_dwr_barriers]++;
    (void)tim_map_at(&dwr->seen, number, ignored, &is_new); /* if memory is short, the number of instructions is too low */
    count[ignored ? TIM_CORE_dwr_ignored_instructions : TIM_CORE_dwr_instructions] += is_new;
    dwr->ignored_count += ignored && is_new;
}

/** Ignores the barrier of the warp, because its instruction is in the ILT (step 0 of the source). */
static void ignore(struct dwr *dwr, unsigned warp, uint64_t now)
{
    struct member *m = &dwr->member[warp];
    struct group *g = group_of(dwr, warp);

    count_operation(dwr, number_of(dwr, barrier_of(dwr, m->pc)), true);
    pass(dwr, warp, TIM_DWR_PASSED, now);
    if (dwr->config->dwr_skip_counts_as_arrival && g->pst.valid) {
        g->pst.lock |= bit_of(dwr, warp);
        try_release(dwr, g, now);
    }
}

/** Runs the part of the warp's barrier operation that reads the tables, in cycle @now. */
static void operate(struct dwr *dwr, unsigned warp, uint64_t now)
{
    struct member *m = &dwr->member[warp];
    struct group *g = group_of(dwr, warp);
    const uint64_t b = bit_of(dwr, warp), pc = barrier_of(dwr, m->pc);

    if (tim_ilt_lookup(&dwr->ilt, number_of(dwr, pc))) {
        count_operation(dwr, number_of(dwr, pc), false);
        ignore(dwr, warp, now);
        return;
    }
    if (m->at < m->ends) { /* an ignored barrier would end in this cycle; this barrier is not ignored, so it ends later */
        operation_remove(dwr, warp);
        m->at = m->ends;
        operation_add(dwr, warp);
        return;
    }
    count_operation(dwr, number_of(dwr, pc), false);
    if (!g->pst.valid) {
        g->pst = (struct tim_dwr_pst){.valid = true, .pc = pc, .lock = b, .since = now};
    } else if (g->pst.pc == pc) {
        g->pst.lock |= b;
    } else {
        if (dwr->config->dwr_release == TIM_DWR_ANY)
            g->pst.lock |= b;
        ilt_insert(dwr, pc);
        dwr->base.core->count[TIM_CORE_dwr_nb_lat]++;
    }
    set_state(dwr, warp, TIM_DWR_WAITS);
    m->came = now;
    try_release(dwr, g, now);
}

/** Releases the members that have arrived, although some are missing, because of a timeout or a debugger. */
static void force(struct dwr *dwr, struct group *g, uint64_t now)
{
    dwr->base.core->count[TIM_CORE_dwr_timeouts]++;
    release(dwr, g, now);
}

static uint64_t timeout_of(const struct dwr *dwr, const struct group *g)
{
    return g->pst.valid && dwr->config->dwr_timeout != 0 ? g->pst.since + dwr->config->dwr_timeout : UINT64_MAX;
}

/** Runs the barrier operations and handles the timeouts that are due by cycle @now. */
static void advance(struct dwr *dwr, uint64_t now)
{
    while (dwr->next_at <= now) {
        const unsigned first = dwr->operation[0];
        const uint64_t at = dwr->operating != 0 ? dwr->member[first].at : UINT64_MAX;

        dwr->changed = true;
        dwr->next_at = at;
        if (at <= now) { /* the loop continues, because more operations may be due */
            operate(dwr, first, at);
            continue;
        }
        for (unsigned g = 0; dwr->config->dwr_timeout != 0 && g < dwr->groups; g++) {
            if (timeout_of(dwr, &dwr->group[g]) <= now)
                force(dwr, &dwr->group[g], now);
            else if (timeout_of(dwr, &dwr->group[g]) < dwr->next_at)
                dwr->next_at = timeout_of(dwr, &dwr->group[g]);
        }
    }
}

/* ---- what warps do --------------------------------------------------------------------------------- */

static void block(struct tim_mech *mech, uint64_t launch, bool begins)
{
    struct dwr *dwr = (struct dwr *)mech;

    if (!begins || launch < dwr->launch)
        return;
    dwr->launch = launch + 1;
    if (!dwr->config->dwr_ilt_keep)
        tim_ilt_flush(&dwr->ilt);
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct dwr *dwr = (struct dwr *)mech;
    struct group *g = group_of(dwr, warp);

    (void)age;
    set_state(dwr, warp, TIM_DWR_READY);
    dwr->member[warp] = (struct member){0};
    g->live |= bit_of(dwr, warp);
    g->waits &= ~bit_of(dwr, warp);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct dwr *dwr = (struct dwr *)mech;
    struct group *g = group_of(dwr, warp);

    advance(dwr, mech->core->now);
    set_state(dwr, warp, TIM_DWR_READY);
    dwr->flowed |= (g->pending & bit_of(dwr, warp)) != 0;
    g->live &= ~bit_of(dwr, warp);
    g->pst.lock &= ~bit_of(dwr, warp);
    try_release(dwr, g, mech->core->now);
    if (g->live == 0) /* the PST entry is usually invalid here, but is still valid if a debugger has changed a pc */
        g->pst = (struct tim_dwr_pst){0};
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    struct dwr *dwr = (struct dwr *)mech;
    struct group *g = group_of(dwr, warp);

    advance(dwr, mech->core->now);
    g->waits = begins ? g->waits | bit_of(dwr, warp) : g->waits & ~bit_of(dwr, warp);
    if (begins)
        try_release(dwr, g, mech->core->now);
}

static void reaches(struct tim_mech *mech, unsigned warp, uint64_t pc, const struct tim_static *next)
{
    struct dwr *dwr = (struct dwr *)mech;
    struct member *m = &dwr->member[warp];

    if (!is_lat(dwr, next) || is_explicit(dwr))
        return;
    if (m->state == TIM_DWR_BARRIER || m->state == TIM_DWR_WAITS) {
        m->reached = pc;
        return;
    }
    if (m->state != TIM_DWR_READY && m->pc == pc)
        return;
    advance(dwr, mech->core->now);
    begin(dwr, warp, pc, mech->core->now);
}

/* ---- large warps (5.3) -------------------------------------------------------------------------- */

/** Returns whether the warp is in the class of instruction @pc: it is in state COMBINE, its selected split is at @pc, and no
 *  debugger excludes it. */
static bool is_in_class(const struct dwr *dwr, unsigned warp, uint64_t pc)
{
    const struct member *m = &dwr->member[warp];
    struct tim_mech_warp now;

    if (m->state != TIM_DWR_COMBINE || m->alone || m->pc != pc)
        return false;
    dwr->base.core->look(dwr->base.core->context, warp, &now);
    return now.used && !now.ended && now.lanes != 0 && now.pc == pc;
}

static uint64_t class_of(const struct dwr *dwr, unsigned warp)
{
    const unsigned first = dwr->of[warp] * dwr->n;
    uint64_t set = 0;

    for (unsigned i = 0; i < dwr->n; i++)
        set |= (uint64_t)is_in_class(dwr, first + i, dwr->member[warp].pc) << i;
    return set;
}

/** Returns whether @warp is the first member of its class, and the class may begin to issue. A class may begin to issue if
 *  all members can issue, and if no other class is issuing in their group or on their schedulers. */
static bool may_start(const struct dwr *dwr, unsigned warp)
{
    const struct tim_mech_core *core = dwr->base.core;
    const unsigned first = dwr->of[warp] * dwr->n;
    const uint64_t pc = dwr->member[warp].pc;

    if (dwr->group[dwr->of[warp]].pending != 0)
        return false;
    for (unsigned w = first; w < first + dwr->n; w++)
        if (is_in_class(dwr, w, pc) &&
            (w < warp || dwr->pending[dwr->sched[w]] != 0 || !core->could_issue(core->context, w)))
            return false;
    return true;
}

/** Returns the warp that must issue next on scheduler @sched, for the class that is issuing there. */
static unsigned next_of(const struct dwr *dwr, unsigned sched)
{
    const unsigned group = dwr->issuing[sched];

    for (LW_EACH_BIT(i, dwr->group[group].pending))
        if (dwr->sched[group * dwr->n + (unsigned)i] == sched)
            return group * dwr->n + (unsigned)i;
    return TIM_MAX_WARPS; /* not reached, because dwr->pending[sched] is not 0 */
}

/** Returns whether the warp is in a class that may not begin to issue in this cycle, or not with this warp. */
static bool waits_for_class(const struct dwr *dwr, unsigned warp)
{
    return is_in_class(dwr, warp, dwr->member[warp].pc) && !may_start(dwr, warp);
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct dwr *dwr = (const struct dwr *)mech;

    if (dwr->pending[dwr->sched[warp]] != 0)
        return next_of(dwr, dwr->sched[warp]) != warp;
    switch (dwr->member[warp].state) {
    case TIM_DWR_READY:
        return is_lat(dwr, next) && !is_explicit(dwr); /* the warp reaches a LAT, so its barrier begins in this cycle */
    case TIM_DWR_PASSED:
        return false;
    case TIM_DWR_COMBINE:
        return waits_for_class(dwr, warp);
    default:
        return true;
    }
}

/* For each ready warp the hook `reaches` has been called, so no warp before a LAT is in state READY. */
static bool holds_of(struct tim_mech *mech, unsigned sched, uint64_t *ready)
{
    const struct dwr *dwr = (const struct dwr *)mech;
    const unsigned only = dwr->pending[sched] != 0 ? next_of(dwr, sched) : TIM_MAX_WARPS;
    uint64_t held = 0;

    for (unsigned i = 0; i < dwr->words; i++) {
        const uint64_t before = ready[i];

        if (only != TIM_MAX_WARPS) {
            ready[i] &= dwr->place[only] / 64 == i ? UINT64_C(1) << dwr->place[only] % 64 : 0;
        } else {
            ready[i] &= ~dwr->held[sched][i];
            for (LW_EACH_BIT(b, ready[i] & dwr->combine[sched][i]))
                if (waits_for_class(dwr, tim_mech_slot(dwr->config, sched, i, (unsigned)b)))
                    ready[i] &= ~(UINT64_C(1) << b);
        }
        held |= before ^ ready[i];
    }
    return held != 0;
}

/** Removes a member from the issuing class, because it has issued or, if @issued is false, will not issue. */
static void leave(struct dwr *dwr, unsigned warp, bool issued)
{
    struct group *g = group_of(dwr, warp);

    g->issued += issued;
    g->pending &= ~bit_of(dwr, warp);
    dwr->pending[dwr->sched[warp]]--;
    if (g->pending == 0)
        tim_histogram_add(&dwr->base.core->histogram[TIM_CORE_H_dwr_issue_size], g->issued);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct dwr *dwr = (struct dwr *)mech;
    struct member *m = &dwr->member[issue->warp];
    struct group *g = group_of(dwr, issue->warp);
    const unsigned first = dwr->of[issue->warp] * dwr->n;

    m->packet = 0;
    if (issue->what->lat_barrier && is_explicit(dwr)) {
        mech->core->count[TIM_CORE_dwr_barrier_lanes] += issue->lanes;
        advance(dwr, mech->core->now);
        begin(dwr, issue->warp, issue->pc + ISA_WORD_BYTES, mech->core->now);
        return;
    }
    if (!is_lat(dwr, issue->what))
        return;
    if (is_explicit(dwr) && issue->pc != m->pc) { /* the LAT has no barrier, or the barrier belongs to another split */
        tim_histogram_add(&mech->core->histogram[TIM_CORE_H_dwr_issue_size], 1);
        return;
    }
    if ((g->pending & bit_of(dwr, issue->warp)) != 0) {
        m->packet = g->packet;
        leave(dwr, issue->warp, true);
    } else {
        uint64_t others = m->state == TIM_DWR_COMBINE && !m->alone ? class_of(dwr, issue->warp) & ~bit_of(dwr, issue->warp) : 0;

        if (others == 0) {
            tim_histogram_add(&mech->core->histogram[TIM_CORE_H_dwr_issue_size], 1);
        } else {
            dwr->sequence = (dwr->sequence + 1) % (UINT32_MAX / dwr->groups - 1);
            m->packet = g->packet = dwr->sequence * dwr->groups + (unsigned)(g - dwr->group) + 1;
            g->pending = others;
            g->pc = issue->pc;
            g->issued = 1;
            for (LW_EACH_BIT(i, others)) {
                dwr->pending[dwr->sched[first + (unsigned)i]]++;
                dwr->issuing[dwr->sched[first + (unsigned)i]] = (uint8_t)(g - dwr->group);
            }
        }
    }
    set_state(dwr, issue->warp, TIM_DWR_READY);
    m->alone = false;
}

static uint32_t packet(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together)
{
    const struct dwr *dwr = (const struct dwr *)mech;

    *together = dwr->config->dwr_wakeup == TIM_DWR_LARGE;
    return is_lat(dwr, what) ? dwr->member[warp].packet : 0;
}

static bool is_open(struct tim_mech *mech, uint32_t number)
{
    const struct dwr *dwr = (const struct dwr *)mech;
    const struct group *g = &dwr->group[(number - 1) % dwr->groups];

    return g->pending != 0 && g->packet == number;
}

static bool follows(struct tim_mech *mech, unsigned warp)
{
    const struct dwr *dwr = (const struct dwr *)mech;

    return (dwr->group[dwr->of[warp]].pending & bit_of(dwr, warp)) != 0;
}

/** Removes from issuing classes the members that are no longer at the instruction of their class, because emu executes
 *  other lanes of the warp first or a debugger has changed the pc. Returns true if it removed any. */
static bool drop_strays(struct dwr *dwr)
{
    bool dropped = false;

    dwr->flowed = false;
    for (unsigned g = 0; g < dwr->groups; g++)
        for (LW_EACH_BIT(i, dwr->group[g].pending)) {
            const unsigned warp = g * dwr->n + (unsigned)i;

            if (is_in_class(dwr, warp, dwr->group[g].pc))
                continue;
            if (dwr->member[warp].state == TIM_DWR_COMBINE)
                set_state(dwr, warp, TIM_DWR_READY);
            leave(dwr, warp, false);
            dropped = true;
        }
    return dropped;
}

static void flows(struct tim_mech *mech, unsigned warp)
{
    struct dwr *dwr = (struct dwr *)mech;

    dwr->flowed |= (dwr->group[dwr->of[warp]].pending & bit_of(dwr, warp)) != 0;
}

static bool picks(struct tim_mech *mech, unsigned sched, const uint64_t *ready)
{
    struct dwr *dwr = (struct dwr *)mech;
    bool changed;

    (void)sched, (void)ready;
    if (dwr->next_at > mech->core->now && !dwr->flowed && !dwr->changed)
        return false;
    advance(dwr, mech->core->now);
    changed = (dwr->flowed && drop_strays(dwr)) | dwr->changed;
    dwr->changed = false;
    return changed;
}

/** Called for a warp that a debugger holds while the debugger steps another warp. Partners then no longer wait for the held
 *  warp. */
static void refused(struct tim_mech *mech, unsigned warp)
{
    struct dwr *dwr = (struct dwr *)mech;
    struct group *g = group_of(dwr, warp);
    struct member *m = &dwr->member[warp];

    if ((g->pending & bit_of(dwr, warp)) != 0)
        leave(dwr, warp, false);
    m->alone = m->state == TIM_DWR_COMBINE;
    if (g->pst.valid && (g->pst.lock & bit_of(dwr, warp)) == 0)
        force(dwr, g, mech->core->now);
}

static uint64_t next(struct tim_mech *mech, uint64_t since)
{
    const struct dwr *dwr = (const struct dwr *)mech;

    return dwr->next_at > since ? dwr->next_at : since + 1;
}

/* ---- for the debugger -------------------------------------------------------------------------- */

enum tim_dwr_state tim_dwr_state(const struct tim_mech *mech, unsigned warp)
{
    return (enum tim_dwr_state)((const struct dwr *)mech)->member[warp].state;
}

const struct tim_dwr_pst *tim_dwr_pst(const struct tim_mech *mech, unsigned group)
{
    return &((const struct dwr *)mech)->group[group].pst;
}

struct tim_ilt *tim_dwr_ilt(struct tim_mech *mech)
{
    return &((struct dwr *)mech)->ilt;
}

unsigned tim_dwr_pst_bits(const struct tim_config *config)
{
    return config->core_warps / config->core_group * (1 + 32 + config->core_group);
}

unsigned tim_dwr_ilt_bits(const struct tim_config *config)
{
    unsigned index = config->dwr_ilt_sets == 0 ? 0 : lw_lowest(config->dwr_ilt_sets);

    return config->dwr_ilt_sets * config->dwr_ilt_ways * (1 + 32 - index);
}

static void print_set(const struct dwr *dwr, unsigned g, uint64_t set, struct lw_sink *out)
{
    for (LW_EACH_BIT(i, set))
        lw_printf(out, " %u", g * dwr->n + (unsigned)i);
    if (set == 0)
        lw_put(out, " none");
}

static bool is_stuck(struct tim_mech *mech, unsigned warp)
{
    const struct dwr *dwr = (const struct dwr *)mech;

    return dwr->member[warp].state == TIM_DWR_WAITS && dwr->config->dwr_timeout == 0;
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct dwr *dwr = (const struct dwr *)mech;
    const struct member *m = &dwr->member[warp];
    const unsigned at = dwr->of[warp];
    const struct group *g = &dwr->group[at];

    switch (m->state) {
    case TIM_DWR_BARRIER:
        lw_printf(out, "the warp's LAT barrier operation takes %" PRIu64 " more cycles", m->at > mech->core->now ? m->at - mech->core->now : 0);
        break;
    case TIM_DWR_WAITS:
        lw_printf(out, "at its load or store at 0x%" PRIx64 " the warp waits for partners: slot group %u, entry 0x%" PRIx64 ", missing warps", m->pc, at, g->pst.pc);
        print_set(dwr, at, dwr->all & ~arrived(dwr, g), out);
        break;
    default:
        lw_put(out, dwr->pending[dwr->sched[warp]] != 0 ? "another large warp of its scheduler issues" :
            "the warp is ready to issue as a large warp (combine-ready) of the warps:");
        if (dwr->pending[dwr->sched[warp]] == 0)
            print_set(dwr, at, class_of(dwr, warp), out);
        break;
    }
}

static unsigned waiting(const struct dwr *dwr)
{
    unsigned count = 0;

    for (unsigned w = 0; w < dwr->groups * dwr->n; w++)
        count += dwr->member[w].state == TIM_DWR_WAITS;
    return count;
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    const struct dwr *dwr = (const struct dwr *)mech;

    *name = index == 0 ? "dwr: warps that wait for partners" : "dwr: instructions in the ignore list table";
    *value = index == 0 ? waiting(dwr) : dwr->ilt.count;
    return true;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    static const char *const names[] = {"", "barrier", "waits", "combine", "passed"};
    const struct dwr *dwr = (const struct dwr *)mech;
    const struct tim_config *c = dwr->config;
    const unsigned pst = tim_dwr_pst_bits(c), ilt = tim_dwr_ilt_bits(c);

    lw_printf(out, "%u slot groups of %u warps; storage: PST %u bits, ILT %u bits, warp states %u bits, in total %u "
                   "bytes\n", dwr->groups, dwr->n,
              pst, ilt, c->core_warps, (pst + 7) / 8 + (ilt + 7) / 8 + (c->core_warps + 7) / 8);
    lw_printf(out, "ILT, %u of %u instructions:", dwr->ilt.count, dwr->ilt.sets * dwr->ilt.ways);
    for (unsigned i = 0; i < dwr->ilt.sets * dwr->ilt.ways; i++)
        if (dwr->ilt.way[i].valid)
            lw_printf(out, " 0x%" PRIx64, (dwr->ilt.way[i].tag * dwr->ilt.sets + i / dwr->ilt.ways) << c->dwr_ilt_index_shift);
    lw_printf(out, "\nignored so far: %u instructions\ngroup  entry       arrived  warps that are not ready\n", dwr->ignored_count);
    for (unsigned g = 0; g < dwr->groups; g++) {
        bool any = dwr->group[g].pst.valid;

        for (unsigned i = 0; i < dwr->n; i++)
            any |= dwr->member[g * dwr->n + i].state != TIM_DWR_READY;
        if (!any)
            continue;
        if (dwr->group[g].pst.valid)
            lw_printf(out, "%5u  0x%-8" PRIx64 " %8" PRIx64 " ", g, dwr->group[g].pst.pc, arrived(dwr, &dwr->group[g]));
        else
            lw_printf(out, "%5u  -%9s %8s ", g, "", "");
        for (unsigned i = 0; i < dwr->n; i++)
            if (dwr->member[g * dwr->n + i].state != TIM_DWR_READY)
                lw_printf(out, " %u %s", g * dwr->n + i, names[dwr->member[g * dwr->n + i].state]);
        lw_put(out, "\n");
    }
}

const struct tim_mechanism tim_dwr = {
    .name = "dwr", .summary = "dynamic warp resizing: warps of a slot group issue loads and stores as one large warp",
    .is_on = is_on, .create = create, .destroy = destroy, .block = block, .warp_begins = warp_begins,
    .warp_ends = warp_ends, .waits = waits, .flows = flows, .issues = issues, .reaches = reaches, .packet = packet, .open = is_open,
    .follows = follows, .refused = refused, .is_stuck = is_stuck, .picks = picks, .every_cycle = true, .holds = holds, .holds_of = holds_of,
    .next = next, .why = why, .gauge = gauge, .show = show,
};
