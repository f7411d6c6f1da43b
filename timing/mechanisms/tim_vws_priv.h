/* SPDX-License-Identifier: Apache-2.0 */
/* State of variable warp sizing on a core. docs/reference/mechanisms.md describes the mechanism. */
#ifndef TIM_VWS_PRIV_H
#define TIM_VWS_PRIV_H

#include "timing/tables/tim_gang_priv.h"
#include "timing/mechanisms/tim_mechanism_priv.h"

enum {
    TIM_VWS_SETS = TIM_MAX_WARPS / 2, /* original gangs have at least two warps */
    TIM_VWS_SET_WORDS = TIM_VWS_SETS / 64,
    TIM_VWS_UNITS = TIM_GANG_WAYS + TIM_GANG_MEMBERS /* units of a set: its ways, then its members as single warps */
};
/** A set of the gang table, and the state of its members, the warps of one original gang. Bit m of a set of members stands for
 *  member m. */
struct tim_vws_set {
    struct tim_gang_set table;
    uint8_t fresh;   /* set of members that began after the preceding cycle; they will form a gang */
    uint8_t stepped; /* set of members that have issued since the last call of look_at_members() */
    uint8_t ways;           /* set of ways with a gang, at the last call of recount() */
    unsigned gangs, single; /* this set's numbers of gangs and of single warps at the last call of recount();
                             * tim_vws.gangs and tim_vws.single are the sums over all sets */
    uint64_t age;    /* age of the set's oldest warp */
    uint64_t last[TIM_GANG_MEMBERS]; /* by member: 1 + the last cycle in which the member issued alone */
    uint64_t refused[TIM_GANG_MEMBERS]; /* by member: 1 + the last cycle in which a debugger refused the member's issue */
    uint64_t pc[TIM_GANG_MEMBERS];   /* by member: pc of the split that runs, or TIM_GANG_NOWHERE if no split runs */
    uint64_t sync_until[TIM_GANG_MEMBERS]; /* by member, at bsync: cycle up to which it waits for other members */
};
/** The mechanism on a core. As in the source, a scheduler is called a slice. Member m of a set is the warp of the set on slice
 *  m. */
struct tim_vws {
    struct tim_mech base;
    const struct tim_config *config;
    unsigned slices, sets, words, shift; /* slices: number of slices, which is 1 << shift */
    unsigned fetch_most; /* maximum number of gangs that fetch per cycle */
    struct tim_vws_set set[TIM_VWS_SETS];
    /* One bit for each element of `set`. dirty: a member has changed. mergeable: two units have the same pc. syncs: a
     * member waits at bsync. pending: only some members of a gang have issued the gang's instruction. */
    uint64_t dirty[TIM_VWS_SET_WORDS], mergeable[TIM_VWS_SET_WORDS], syncs[TIM_VWS_SET_WORDS], pending[TIM_VWS_SET_WORDS];
    /* One bit for each element of `set`. has_gang: the set has a gang. alone, by slice: the member on this slice is a single
     * warp. */
    uint64_t has_gang[TIM_VWS_SET_WORDS], alone[TIM_GANG_MEMBERS][TIM_VWS_SET_WORDS];
    /* by slice: slot of the only warp that may issue in this cycle, or -1 if any single warp may issue */
    int issuer[TIM_GANG_MEMBERS];
    uint64_t memory_at;         /* 1 + the cycle in which a memory instruction last issued */
    uint8_t size[TIM_GANG_MEMBERS]; /* by slice: number of warps of the unit whose member is `issuer` */
    bool fills;                 /* a gang issues in this cycle, so single warps fill the remaining slices */
    uint8_t late;               /* set of slices on which late members issue in this cycle */
    unsigned issue_next, fetch_next; /* units from which on loose round robin continues, at issue and at fetch */
    unsigned set_next[TIM_GANG_MEMBERS]; /* by slice: the set whose single warp has priority at fetch */
    unsigned slice_next;             /* the slice that has priority at fetch */
    /* Numbers of gangs, single warps and live warps, and of single warps on each slice, from cycle `since` on. The core's
     * counters do not yet include the cycles from `since` on. */
    unsigned gangs, single, live, single_in[TIM_GANG_MEMBERS];
    uint64_t since;
};

static inline unsigned tim_vws_slot(const struct tim_vws *vws, unsigned set, unsigned member)
{
    return set * vws->slices + member;
}
/** Returns the set of members of unit @unit of a set (0 up to TIM_VWS_UNITS - 1), or 0 if the unit has no members. */
static inline uint8_t tim_vws_members(const struct tim_vws_set *set, unsigned unit)
{
    if (unit < TIM_GANG_WAYS)
        return set->table.way[unit].mask;
    return set->table.alone & (uint8_t)(1u << (unit - TIM_GANG_WAYS));
}
/** Returns whether the unit with the members @members must wait at bsync in cycle @now for other warps of its set. */
bool tim_vws_waits_at_sync(const struct tim_vws *vws, unsigned set, uint8_t members, uint64_t now);
/** Returns the late members of a gang of the set: those that have not issued the gang's instruction, which other members
 *  have issued. */
uint8_t tim_vws_pending(const struct tim_vws_set *set, const struct tim_gang *gang);
/** Implements hook `fetches`. */
void tim_vws_fetches(struct tim_mech *mech, const struct tim_mech_fetch *phase);
/** Implement the hooks `why`, `gauge` and `show`. */
void tim_vws_why(struct tim_mech *mech, unsigned warp, struct lw_sink *out);
bool tim_vws_gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value);
void tim_vws_show(struct tim_mech *mech, struct lw_sink *out);

#endif
