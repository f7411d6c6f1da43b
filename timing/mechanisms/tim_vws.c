/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable warp sizing. Narrow warps of several schedulers (slices) issue and fetch in lockstep while they have the
 * same pc, and separately otherwise. An original gang is a slot group: core.group neighbouring warp slots, one on each slice. Each original gang has
 * a set of the gang table. Source: specification of the warp scheduling thesis, section 7.
 *
 * Before any scheduler of a cycle selects a warp, the mechanism checks sets that have changed, and splits gangs whose
 * warps are at different pcs. Then the mechanism merges units (gangs or single warps) of one set, and selects gangs. A
 * selected gang reserves its slices: no other warp of these slices may issue. A member may fail to issue with the
 * others, because a debugger holds it or a resource is full. Such late members have priority over all other warps
 * until the whole gang has issued the instruction. A late member that a debugger holds leaves the gang; otherwise the
 * gang could not continue.
 */
#include "timing/mechanisms/tim_vws_priv.h"

#include <stdlib.h>

static bool in(const uint64_t *sets, unsigned set)
{
    return sets[set / 64] >> set % 64 & 1;
}

static void put(uint64_t *sets, unsigned set, bool is_in)
{
    if (is_in)
        sets[set / 64] |= UINT64_C(1) << set % 64;
    else
        sets[set / 64] &= ~(UINT64_C(1) << set % 64);
}

/* ---- counters that are sums over cycles ------------------------------------------------------------------------ */

/** Adds the cycles before @over to the counters, with the current numbers of gangs and warps. */
static void count_cycles(struct tim_vws *vws, uint64_t over)
{
    uint64_t *count = vws->base.core->count, cycles = over > vws->since ? over - vws->since : 0;
    unsigned off = 0;

    if (cycles == 0)
        return;
    vws->since = over;
    if (vws->live == 0)
        return;
    for (unsigned s = 0; s < vws->slices; s++)
        off += vws->single_in[s] == 0 || vws->config->vws_mode == TIM_VWS_GANG;
    count[TIM_CORE_vws_gang_cycles] += vws->gangs * cycles;
    count[TIM_CORE_vws_alone_cycles] += vws->single * cycles;
    count[TIM_CORE_vws_gangs_off] += vws->gangs == 0 && vws->config->vws_mode != TIM_VWS_GANG ? cycles : 0;
    count[TIM_CORE_vws_slices_off] += off * cycles;
}

static void account(struct tim_mech *mech)
{
    count_cycles((struct tim_vws *)mech, mech->core->over);
}

/** Called when set @g has changed. Updates all data that is derived from the set, such as the numbers of gangs and single warps
 *  from cycle @from on. @alone_before: value of table.alone before the change. */
static void recount(struct tim_vws *vws, unsigned g, uint8_t alone_before, uint64_t from)
{
    struct tim_vws_set *set = &vws->set[g];
    unsigned gangs;

    count_cycles(vws, from);
    set->ways = 0;
    for (unsigned way = 0; way < TIM_GANG_WAYS; way++)
        set->ways |= (uint8_t)((set->table.way[way].mask != 0) << way);
    gangs = lw_popcount(set->ways);
    for (LW_EACH_BIT(m, (uint64_t)(set->table.alone ^ alone_before))) {
        const bool is = set->table.alone >> m & 1;

        vws->single_in[m] += is ? 1 : -1u;
        put(vws->alone[m], g, is);
    }
    vws->gangs += gangs - set->gangs;
    set->gangs = gangs;
    vws->single += lw_popcount(set->table.alone) - set->single;
    set->single = lw_popcount(set->table.alone);
    put(vws->has_gang, g, gangs != 0);
    if (vws->config->vws_reform != TIM_REFORM_NONE)
        put(vws->mergeable, g, tim_gang_merge(&set->table, set->pc, false));
}

/* ---- pcs of members -------------------------------------------------------------------------------------- */

bool tim_vws_waits_at_sync(const struct tim_vws *vws, unsigned g, uint8_t members, uint64_t now)
{
    const struct tim_vws_set *set = &vws->set[g];

    if (!in(vws->syncs, g) || members == set->table.live)
        return false;
    for (LW_EACH_BIT(m, (uint64_t)members))
        if (set->sync_until[m] > now)
            return true;
    return false;
}

/** Updates the pcs of the members of a set. Members that have reached bsync begin to wait. */
static void look_at_members(struct tim_vws *vws, unsigned g)
{
    const struct tim_mech_core *core = vws->base.core;
    struct tim_vws_set *set = &vws->set[g];
    bool syncs = false;

    for (LW_EACH_BIT(m, (uint64_t)set->table.live)) {
        struct tim_mech_warp w;
        uint64_t pc;

        core->look(core->context, tim_vws_slot(vws, g, (unsigned)m), &w);
        pc = w.lanes != 0 ? w.pc : TIM_GANG_NOWHERE;
        if (pc != set->pc[m] || (set->stepped >> m & 1) != 0) {
            set->sync_until[m] = 0;
            if (vws->config->vws_sync != 0 && w.lanes != 0 && w.next->joins) {
                set->sync_until[m] = core->now + vws->config->vws_sync;
                core->count[TIM_CORE_vws_sync_waits]++;
            }
        }
        set->pc[m] = pc;
        syncs |= set->sync_until[m] > core->now;
    }
    set->stepped = 0;
    put(vws->syncs, g, syncs);
}

uint8_t tim_vws_pending(const struct tim_vws_set *set, const struct tim_gang *gang)
{
    uint8_t pending = 0;

    if (gang->issued == 0 || gang->pc == TIM_GANG_NOWHERE)
        return 0;
    for (LW_EACH_BIT(m, (uint64_t)(gang->mask & ~gang->issued)))
        pending |= (uint8_t)((unsigned)(set->pc[m] == gang->pc) << m);
    return pending;
}

/** Called for a set of which a member has changed: adds new members, and splits gangs whose warps continue at different
 *  pcs. Returns true if the table has changed. */
static bool follow(struct tim_vws *vws, unsigned g)
{
    struct tim_vws_set *set = &vws->set[g];
    const uint8_t alone = set->table.alone;
    bool changed = set->fresh != 0;

    count_cycles(vws, vws->base.core->now);
    vws->live += lw_popcount(set->fresh);
    set->table.live |= set->fresh;
    if (vws->config->vws_mode == TIM_VWS_SLICE)
        set->table.alone |= set->fresh;
    else
        tim_gang_form(&set->table, set->fresh);
    set->fresh = 0;
    look_at_members(vws, g);
    put(vws->pending, g, false);
    for (unsigned way = 0; way < TIM_GANG_WAYS; way++) {
        struct tim_gang *gang = &set->table.way[way];
        uint64_t pc = gang->mask != 0 ? set->pc[lw_lowest(gang->mask)] : 0;
        bool one = true;

        if (gang->mask == 0)
            continue;
        if (tim_vws_pending(set, gang) != 0) {
            put(vws->pending, g, true);
            continue;
        }
        for (LW_EACH_BIT(m, (uint64_t)gang->mask))
            one &= set->pc[m] == pc;
        changed |= !one || gang->pc != pc || gang->issued != 0;
        if (one) {
            gang->pc = pc;
            gang->issued = 0;
        } else {
            (void)tim_gang_split(&set->table, way, set->pc);
            vws->base.core->count[TIM_CORE_vws_splits_flow]++;
        }
    }
    while (vws->config->vws_mode == TIM_VWS_GANG && tim_gang_merge(&set->table, set->pc, true))
        changed = true;
    recount(vws, g, alone, vws->base.core->now);
    return changed;
}

/** Merges units with the same pc in one set, which is the next set in rotation in each cycle. Returns true if it merged any. */
static bool reform(struct tim_vws *vws)
{
    unsigned g = (unsigned)(vws->base.core->now % vws->sets), merges = 0;
    struct tim_vws_set *set = &vws->set[g];
    const uint8_t alone = set->table.alone;

    if (!in(vws->mergeable, g))
        return false;
    while (merges < vws->config->vws_merge_limit && tim_gang_merge(&set->table, set->pc, true))
        merges++;
    vws->base.core->count[TIM_CORE_vws_reforms] += merges;
    recount(vws, g, alone, vws->base.core->now);
    return merges != 0;
}

static uint8_t ready_of(const struct tim_vws *vws, const uint64_t (*ready)[TIM_MAX_WARPS / 64], unsigned g)
{
    uint8_t members = 0;

    for (unsigned s = 0; s < vws->slices; s++)
        members |= (uint8_t)((ready[s][g / 64] >> g % 64 & 1) << s);
    return members;
}

/** Returns whether any of @members waits for data. */
static bool waits_for_data(const struct tim_vws *vws, unsigned g, uint8_t members)
{
    const struct tim_mech_core *core = vws->base.core;

    for (LW_EACH_BIT(m, (uint64_t)members)) {
        struct tim_mech_warp w;

        core->look(core->context, tim_vws_slot(vws, g, (unsigned)m), &w);
        if (w.reason == TIM_STALL_LOAD)
            return true;
    }
    return false;
}

/** Splits those gangs of a set in which some members are ready while others wait for data. Returns true if it split any. */
static bool split_by_memory(struct tim_vws *vws, unsigned g, uint8_t ready)
{
    struct tim_vws_set *set = &vws->set[g];
    const uint8_t alone = set->table.alone;
    bool changed = false;

    for (unsigned way = 0; way < TIM_GANG_WAYS; way++) {
        const struct tim_gang *gang = &set->table.way[way];
        uint8_t first = gang->mask & ready;

        if (first == 0 || first == gang->mask || gang->issued != 0 || !waits_for_data(vws, g, (uint8_t)(gang->mask & ~ready)))
            continue;
        changed = true;
        vws->base.core->count[TIM_CORE_vws_splits_memory]++;
        if (vws->config->vws_memory == TIM_GANGS_IMPATIENT)
            tim_gang_dissolve(&set->table, way);
        else
            tim_gang_part(&set->table, way, first);
    }
    if (changed)
        recount(vws, g, alone, vws->base.core->now);
    return changed;
}

/* ---- choice of gangs ------------------------------------------------------------------------------------------- */

/** A gang (with vws.mode gang, also a single warp) that could issue. */
struct choice {
    unsigned id, set; /* id: number of the unit among the units of all sets */
    uint8_t members;
    bool greedy; /* the gang or warp issued in the preceding cycle */
    uint64_t age, pc;
};

static bool goes_before(const struct tim_vws *vws, const struct choice *a, const struct choice *b)
{
    const unsigned policy = vws->config->vws_policy, units = vws->sets * TIM_VWS_UNITS;
    const unsigned x = lw_popcount(a->members), y = lw_popcount(b->members);

    if (policy == TIM_GANGS_LRR)
        return (a->id + units - vws->issue_next) % units < (b->id + units - vws->issue_next) % units;
    if (policy == TIM_GANGS_LPC && a->pc != b->pc)
        return a->pc < b->pc;
    if (x != y && (policy == TIM_GANGS_BGTO || policy == TIM_GANGS_LGTO))
        return (x > y) == (policy == TIM_GANGS_BGTO);
    if (a->greedy != b->greedy && policy != TIM_GANGS_LPC)
        return a->greedy;
    return a->age != b->age ? a->age < b->age : a->id < b->id;
}

/** Returns whether a debugger refused the issue of one of @members in the preceding cycle, so that another unit should be
 *  chosen. */
static bool was_refused(const struct tim_vws_set *set, uint8_t members, uint64_t now)
{
    for (LW_EACH_BIT(m, (uint64_t)members))
        if (set->refused[m] != 0 && set->refused[m] == now)
            return true;
    return false;
}

/** For vws.mode gang: returns the only unit of a set that may issue, which is the unit with the lowest pc, even if it is not
 *  ready. Returns TIM_VWS_UNITS if there is none. */
static unsigned lowest_unit(const struct tim_vws_set *set, uint64_t now)
{
    unsigned found = TIM_VWS_UNITS;
    uint64_t least = TIM_GANG_NOWHERE;

    for (unsigned unit = 0; unit < TIM_VWS_UNITS; unit++) {
        uint8_t members = tim_vws_members(set, unit);

        if (members != 0 && set->pc[lw_lowest(members)] < least && !was_refused(set, members, now)) {
            least = set->pc[lw_lowest(members)];
            found = unit;
        }
    }
    return found;
}

/** Appends to @choice, which has @count elements, the units of set @g that could issue. Returns the new number of elements. */
static unsigned add_choices(const struct tim_vws *vws, unsigned g, uint8_t ready, struct choice *choice, unsigned count)
{
    const struct tim_vws_set *set = &vws->set[g];
    const uint64_t now = vws->base.core->now;
    const bool gangs_only = vws->config->vws_mode == TIM_VWS_GANG;
    const unsigned only = gangs_only ? lowest_unit(set, now) : 0;

    for (LW_EACH_BIT(bit, gangs_only ? only == TIM_VWS_UNITS ? 0 : UINT64_C(1) << only : (uint64_t)set->ways)) {
        const unsigned unit = (unsigned)bit;
        const struct tim_gang *gang = unit < TIM_GANG_WAYS ? &set->table.way[unit] : NULL;
        uint8_t members = tim_vws_members(set, unit);

        if (members == 0 || (members & ~ready) != 0 || (gang != NULL && gang->issued != 0) ||
            tim_vws_waits_at_sync(vws, g, members, now) || was_refused(set, members, now))
            continue;
        uint64_t last = gang != NULL ? gang->last : set->last[unit - TIM_GANG_WAYS];
        choice[count++] = (struct choice){.id = g * TIM_VWS_UNITS + unit, .set = g, .members = members, .age = set->age,
                                          .pc = set->pc[lw_lowest(members)], .greedy = last != 0 && last == now};
    }
    return count;
}

/** Reserves the slices of @members, which belong to a unit of @size warps. */
static void assign_slices(struct tim_vws *vws, unsigned g, uint8_t members, unsigned size)
{
    for (LW_EACH_BIT(m, (uint64_t)members))
        vws->issuer[m] = (int)tim_vws_slot(vws, g, (unsigned)m);
    for (LW_EACH_BIT(m, (uint64_t)members))
        vws->size[m] = (uint8_t)size;
}

/** Reserves the slices of the ready late members of a set, unless they are in @taken. Returns these slices. */
static uint8_t catch_up(struct tim_vws *vws, unsigned g, uint8_t ready, uint8_t taken)
{
    struct tim_vws_set *set = &vws->set[g];
    uint8_t all = 0;

    for (LW_EACH_BIT(way, (uint64_t)set->ways)) {
        const struct tim_gang *gang = &set->table.way[way];
        uint8_t members = tim_vws_pending(set, gang) & ready & (uint8_t)~taken;

        assign_slices(vws, g, members, lw_popcount(gang->mask));
        all |= members;
    }
    vws->late |= all;
    return all;
}

/** Counts the ready single warps on slices @taken, which gangs have reserved. With vws.policy lpc, reserves each other slice
 *  for the ready single warp with the lowest pc. Returns true if any single warp is ready. */
static bool choose_single(struct tim_vws *vws, const uint64_t (*ready)[TIM_MAX_WARPS / 64], uint8_t taken)
{
    uint64_t least[TIM_GANG_MEMBERS];
    bool found = false;

    memset(least, 0xff, sizeof least);
    for (unsigned s = 0; s < vws->slices; s++)
        for (unsigned word = 0; word < (vws->sets + 63) / 64; word++)
            for (LW_EACH_BIT(b, ready[s][word] & vws->alone[s][word])) {
                unsigned g = word * 64 + (unsigned)b;

                if (tim_vws_waits_at_sync(vws, g, (uint8_t)(1u << s), vws->base.core->now))
                    continue;
                found = true;
                if ((taken >> s & 1) != 0) {
                    vws->base.core->count[TIM_CORE_vws_starved]++;
                } else if (vws->config->vws_policy == TIM_GANGS_LPC && vws->set[g].pc[s] < least[s] &&
                           !was_refused(&vws->set[g], (uint8_t)(1u << s), vws->base.core->now)) {
                    least[s] = vws->set[g].pc[s];
                    assign_slices(vws, g, (uint8_t)(1u << s), 1);
                }
            }
    return found;
}

/** Chooses the gangs that issue in this cycle, and reserves their slices. */
static void choose(struct tim_vws *vws, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct choice choice[TIM_MAX_WARPS];
    unsigned count = 0, chosen = 0;
    uint64_t any[TIM_VWS_SET_WORDS] = {0}, all = 0;
    uint8_t taken = 0;
    bool single = false;

    vws->late = 0;
    vws->fills = false;
    for (unsigned s = 0; s < vws->slices; s++) {
        vws->issuer[s] = -1;
        for (unsigned word = 0; word < (vws->sets + 63) / 64; word++)
            any[word] |= ready[s][word];
    }
    for (unsigned word = 0; word < vws->words; word++) {
        all |= any[word];
        for (LW_EACH_BIT(b, any[word] & vws->pending[word]))
            taken |= catch_up(vws, word * 64 + (unsigned)b, ready_of(vws, ready, word * 64 + (unsigned)b), taken);
    }
    if (all == 0)
        return;
    for (unsigned word = 0; word < vws->words; word++)
        for (LW_EACH_BIT(b, vws->config->vws_mode == TIM_VWS_GANG ? any[word] : any[word] & vws->has_gang[word]))
            count = add_choices(vws, word * 64 + (unsigned)b, ready_of(vws, ready, word * 64 + (unsigned)b), choice, count);
    while (chosen < vws->config->vws_gangs) {
        const struct choice *best = NULL;

        for (unsigned i = 0; i < count; i++)
            if ((choice[i].members & taken) == 0 && (best == NULL || goes_before(vws, &choice[i], best)))
                best = &choice[i];
        if (best == NULL)
            break;
        assign_slices(vws, best->set, best->members, lw_popcount(best->members));
        taken |= best->members;
        vws->issue_next = (best->id + 1) % (vws->sets * TIM_VWS_UNITS);
        chosen++;
    }
    vws->fills = chosen != 0;
    vws->base.core->count[TIM_CORE_vws_gang_issues] += chosen;
    if (vws->single != 0 && vws->config->vws_mode != TIM_VWS_GANG)
        single = choose_single(vws, ready, taken);
    if (chosen != 0 || single) /* cycles without a ready unit are not counted, because the event-driven model may skip them */
        tim_histogram_add(&vws->base.core->histogram[TIM_CORE_H_vws_gangs], chosen);
}

/* ---- hooks ------------------------------------------------------------------------------------------------------ */

static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    bool changed = false;

    for (unsigned word = 0; word < vws->words; word++) {
        for (LW_EACH_BIT(b, vws->dirty[word]))
            changed |= follow(vws, word * 64 + (unsigned)b);
        vws->dirty[word] = 0;
    }
    if (vws->config->vws_reform != TIM_REFORM_NONE)
        changed |= reform(vws);
    for (unsigned word = 0; word < vws->words && vws->config->vws_memory != TIM_GANGS_WAIT; word++)
        for (LW_EACH_BIT(b, vws->has_gang[word])) {
            uint8_t members = ready_of(vws, ready, word * 64 + (unsigned)b);

            changed |= members != 0 && split_by_memory(vws, word * 64 + (unsigned)b, members);
        }
    choose(vws, ready);
    return changed;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct tim_vws *vws = (const struct tim_vws *)mech;
    const unsigned s = warp % vws->slices, g = warp / vws->slices;

    (void)next;
    if (vws->issuer[s] >= 0)
        return vws->issuer[s] != (int)warp;
    return vws->config->vws_mode == TIM_VWS_GANG || (vws->set[g].table.alone >> s & 1) == 0 ||
           tim_vws_waits_at_sync(vws, g, (uint8_t)(1u << s), mech->core->now);
}

static bool holds_of(struct tim_mech *mech, unsigned s, uint64_t *ready)
{
    const struct tim_vws *vws = (const struct tim_vws *)mech;
    uint64_t may[TIM_VWS_SET_WORDS] = {0}, held = 0;

    if (vws->issuer[s] >= 0)
        put(may, (unsigned)vws->issuer[s] / vws->slices, true);
    else if (vws->config->vws_mode != TIM_VWS_GANG)
        memcpy(may, vws->alone[s], sizeof may);
    for (unsigned word = 0; word < (vws->sets + 63) / 64; word++) {
        uint64_t before = ready[word];

        ready[word] &= may[word];
        for (LW_EACH_BIT(b, vws->issuer[s] < 0 ? ready[word] & vws->syncs[word] : 0))
            if (tim_vws_waits_at_sync(vws, word * 64 + (unsigned)b, (uint8_t)(1u << s), mech->core->now))
                ready[word] &= ~(UINT64_C(1) << b);
        held |= before ^ ready[word];
    }
    return held != 0;
}

static uint64_t next(struct tim_mech *mech, uint64_t since)
{
    const struct tim_vws *vws = (const struct tim_vws *)mech;
    uint64_t at = UINT64_MAX, now = since % vws->sets;

    for (unsigned word = 0; word < vws->words; word++) {
        if (vws->config->vws_reform != TIM_REFORM_NONE)
            for (LW_EACH_BIT(b, vws->mergeable[word])) {
                uint64_t set = word * 64 + (unsigned)b, due = since + (set > now ? set - now : set + vws->sets - now);

                at = due < at ? due : at;
            }
        for (LW_EACH_BIT(b, vws->syncs[word]))
            for (unsigned m = 0; m < vws->slices; m++) {
                uint64_t until = vws->set[word * 64 + b].sync_until[m];

                at = until > since && until < at ? until : at;
            }
    }
    return at;
}

static void mark(struct tim_vws *vws, unsigned warp)
{
    put(vws->dirty, warp / vws->slices, true);
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    struct tim_vws_set *set = &vws->set[warp / vws->slices];
    const unsigned m = warp % vws->slices;

    if ((set->table.live | set->fresh) == 0)
        set->age = age;
    set->fresh |= (uint8_t)(1u << m);
    set->pc[m] = TIM_GANG_NOWHERE;
    set->sync_until[m] = set->last[m] = set->refused[m] = 0;
    mark(vws, warp);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    struct tim_vws_set *set = &vws->set[warp / vws->slices];
    const unsigned m = warp % vws->slices;
    const uint8_t alone = set->table.alone;

    count_cycles(vws, mech->core->now + 1); /* changes count from the next cycle on, because the counters may already include this
                                             * cycle */
    vws->live -= set->table.live >> m & 1;
    set->fresh &= (uint8_t)~(1u << m);
    tim_gang_drop(&set->table, m);
    recount(vws, warp / vws->slices, alone, mech->core->now + 1);
    mark(vws, warp);
}

static void flows(struct tim_mech *mech, unsigned warp)
{
    mark((struct tim_vws *)mech, warp);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    struct tim_vws_set *set = &vws->set[issue->warp / vws->slices];
    const unsigned m = issue->warp % vws->slices, way = tim_gang_of(&set->table, m);
    /* size of the gang when it was chosen; members may have ended since then */
    const unsigned size = vws->issuer[m] == (int)issue->warp ? vws->size[m] : 1;
    uint64_t *count = mech->core->count;

    mark(vws, issue->warp);
    set->stepped |= (uint8_t)(1u << m);
    count[size > 1 ? TIM_CORE_vws_gang_warps : TIM_CORE_vws_alone_warps]++;
    count[TIM_CORE_vws_filled] += size == 1 && vws->fills;
    count[TIM_CORE_vws_late] += vws->late >> m & 1;
    tim_histogram_add(&mech->core->histogram[TIM_CORE_H_vws_size], size);
    if (way == TIM_GANG_WAYS) {
        set->last[m] = mech->core->now + 1;
        return;
    }
    set->table.way[way].issued |= (uint8_t)(1u << m);
    set->table.way[way].last = mech->core->now + 1;
}

/** Called for a warp that a debugger holds while the debugger steps another warp. If other members of the held warp's gang issued
 *  in an earlier cycle, the gang continues without the held warp. */
static void refused(struct tim_mech *mech, unsigned warp)
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    const unsigned g = warp / vws->slices, m = warp % vws->slices;
    struct tim_vws_set *set = &vws->set[g];
    const unsigned way = tim_gang_of(&set->table, m);
    const uint8_t alone = set->table.alone;

    set->refused[m] = mech->core->now + 1;
    if (way == TIM_GANG_WAYS || set->table.way[way].issued == 0 || set->table.way[way].last == mech->core->now + 1)
        return;
    tim_gang_part(&set->table, way, (uint8_t)(1u << m));
    recount(vws, g, alone, mech->core->now + 1);
    mark(vws, warp);
}

/* All memory instructions of a cycle form one packet, whose accesses are those of one wide instruction (section 7.2 of the
 * source). */

static uint32_t packet_of(uint64_t cycle)
{
    return (uint32_t)(cycle % UINT32_MAX) + 1;
}

static uint32_t packet(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together)
{
    struct tim_vws *vws = (struct tim_vws *)mech;

    (void)warp, (void)what;
    *together = false;
    vws->memory_at = mech->core->now + 1;
    return packet_of(mech->core->now);
}

static bool is_open(struct tim_mech *mech, uint32_t packet)
{
    return packet == packet_of(mech->core->now);
}

static bool follows(struct tim_mech *mech, unsigned warp)
{
    (void)warp;
    return ((const struct tim_vws *)mech)->memory_at == mech->core->now + 1;
}

static bool is_on(const struct tim_config *config)
{
    return config->vws_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *config = core->config;
    struct tim_vws *vws = calloc(1, sizeof *vws);

    if (vws == NULL)
        return NULL;
    vws->config = config;
    vws->slices = config->issue_schedulers;
    vws->shift = lw_lowest(vws->slices);
    vws->sets = (config->core_warps + vws->slices - 1) / vws->slices;
    vws->words = (vws->sets + 63) / 64;
    vws->fetch_most = config->vws_gang_fetch != 0 ? config->vws_gang_fetch : config->vws_gangs;
    for (unsigned s = 0; s < TIM_GANG_MEMBERS; s++)
        vws->issuer[s] = -1;
    return &vws->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

const struct tim_mechanism tim_vws = {
    .name = "vws", .summary = "variable warp sizing: narrow warps of all schedulers issue in lockstep while they have the same pc",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .warp_ends = warp_ends, .flows = flows,
    .issues = issues, .refused = refused, .packet = packet, .open = is_open, .follows = follows, .packets_are_wide = true, .account = account, .cycle = cycle, .holds = holds, .holds_of = holds_of, .next = next, .fetches = tim_vws_fetches,
    .why = tim_vws_why, .gauge = tim_vws_gauge, .show = tim_vws_show,
};
