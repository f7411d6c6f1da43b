/* SPDX-License-Identifier: Apache-2.0 */
/* Variable warp sizing: its state on a core. docs/reference/mechanisms.md says what it does. */
#ifndef TIM_VWS_PRIV_H
#define TIM_VWS_PRIV_H

#include "timing/tables/tim_gang_priv.h"
#include "timing/mechanisms/tim_mechanism_priv.h"

enum {
    TIM_VWS_SETS = TIM_MAX_WARPS / 2, /* original gangs: two warps at least */
    TIM_VWS_SET_WORDS = TIM_VWS_SETS / 64,
    TIM_VWS_UNITS = TIM_GANG_WAYS + TIM_GANG_MEMBERS /* of a set: its ways, and its members as single warps */
};
/** A set: what the gang table has of it, and what the gang unit sees of its members. */
struct tim_vws_set {
    struct tim_gang_set table;
    uint8_t fresh;   /* members that began since the last cycle: they become its gang */
    uint8_t stepped; /* members that have issued since the set was looked at */
    unsigned gangs, single; /* as counted in `struct tim_vws` */
    uint64_t age;    /* of its oldest warp */
    uint64_t last[TIM_GANG_MEMBERS]; /* of members alone: 1 + the cycle in which they issued last */
    uint64_t refused[TIM_GANG_MEMBERS]; /* 1 + the cycle in which a debugger held it back last */
    uint64_t pc[TIM_GANG_MEMBERS];   /* TIM_GANG_NOWHERE: no split runs */
    uint64_t sync_until[TIM_GANG_MEMBERS]; /* at bsync: waits for others of its set before this cycle */
};
struct tim_vws {
    struct tim_mech base;
    const struct tim_config *config;
    unsigned slices, sets, words, shift; /* slices: a power of two, 1 << shift */
    unsigned fetch_most; /* gangs that fetch in a cycle */
    struct tim_vws_set set[TIM_VWS_SETS];
    /* Of sets: something of a member has changed; two of its units have one pc; a member waits at bsync; members of a gang
     * are late. */
    uint64_t dirty[TIM_VWS_SET_WORDS], mergeable[TIM_VWS_SET_WORDS], syncs[TIM_VWS_SET_WORDS], pending[TIM_VWS_SET_WORDS];
    uint64_t has_gang[TIM_VWS_SET_WORDS], alone[TIM_GANG_MEMBERS][TIM_VWS_SET_WORDS]; /* alone: of each slice */
    int issuer[TIM_GANG_MEMBERS]; /* of each slice: the slot whose warp alone may issue in this cycle; -1: single warps may */
    uint64_t memory_at;         /* 1 + the cycle in which a memory instruction issued last */
    uint8_t size[TIM_GANG_MEMBERS]; /* how many warps it issues with */
    bool fills;                 /* a gang issues in some slices */
    uint8_t late;               /* slices that late members issue in */
    unsigned issue_next, fetch_next; /* units from which loose round robin continues */
    unsigned set_next[TIM_GANG_MEMBERS]; /* of each slice: the set whose single warp fetches first */
    unsigned slice_next;             /* the slice that fetches first */
    /* As they are since cycle `since`, and not in the counters: */
    unsigned gangs, single, live, single_in[TIM_GANG_MEMBERS];
    uint64_t since;
};

static inline unsigned tim_vws_slot(const struct tim_vws *vws, unsigned set, unsigned member)
{
    return set * vws->slices + member;
}
/** Members of a unit of a set, which are numbered ways first; 0: there is none. */
static inline uint8_t tim_vws_members(const struct tim_vws_set *set, unsigned unit)
{
    if (unit < TIM_GANG_WAYS)
        return set->table.way[unit].mask;
    return set->table.alone & (uint8_t)(1u << (unit - TIM_GANG_WAYS));
}
/** Are they kept at bsync in cycle @now? */
bool tim_vws_waits_at_sync(const struct tim_vws *vws, unsigned set, uint8_t members, uint64_t now);
/** Of a gang of the set, those that have not issued the instruction that others have. */
uint8_t tim_vws_pending(const struct tim_vws_set *set, const struct tim_gang *gang);
/** The hook `fetches`. */
void tim_vws_fetches(struct tim_mech *mech, const struct tim_mech_fetch *phase);
/** For the debugger. */
void tim_vws_why(struct tim_mech *mech, unsigned warp, struct lw_sink *out);
bool tim_vws_gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value);
void tim_vws_show(struct tim_mech *mech, struct lw_sink *out);

#endif
