/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gang table of variable warp sizing: records which warps execute in lockstep. An original gang is a slot group: core.group
 * neighbouring warp slots, one of each slice; its warps are members 0 to 7 (or fewer). The table has a set of entries
 * for each original gang. Each live member is in one gang of its set, or is single (in no gang). Source:
 * specification of the warp scheduling thesis, sections 7.3, 7.5 and 7.6.
 *
 *   set (an original gang)     GangMask   PC     single members (`alone`)
 *     way 0                    00001111  0x100
 *     way 1                    01110000  0x200   10000000
 */
#ifndef TIM_GANG_PRIV_H
#define TIM_GANG_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* A gang has at least two members, so eight members form at most four gangs. */
enum { TIM_GANG_MEMBERS = 8, TIM_GANG_WAYS = 4 };
/** Used as the pc of a member without a split that can run: its splits wait at a barrier or for a launch, or sleep. */
#define TIM_GANG_NOWHERE UINT64_MAX

struct tim_gang {
    uint8_t mask;   /* GangMask: set of the gang's members; 0: the entry is free */
    uint8_t issued; /* set of members that have issued the instruction at `pc`, while other members have not yet */
    uint64_t pc;    /* pc of all members, or TIM_GANG_NOWHERE if no member can run */
    uint64_t last;  /* 1 + the cycle in which the gang last issued; 0: it has not issued */
};
struct tim_gang_set {
    uint8_t live;  /* set of live members */
    uint8_t alone; /* set of live members that are in no gang */
    struct tim_gang way[TIM_GANG_WAYS];
};

/** Makes the warps in set @members a gang or, if there is only one, a single member. The warps must be in no gang and not in
 *  `alone`. */
void tim_gang_form(struct tim_gang_set *set, uint8_t members);
/** Splits a gang whose members continue at @pc[member]. Members with the same pc form a new gang; a member with a pc of its
 *  own becomes single. Returns the number of different pcs. */
unsigned tim_gang_split(struct tim_gang_set *set, unsigned way, const uint64_t pc[TIM_GANG_MEMBERS]);
/** Makes all members of the gang single. */
void tim_gang_dissolve(struct tim_gang_set *set, unsigned way);
/** Divides a gang into the members @part, which are some but not all of its members, and the others. Both parts keep the
 *  pc of the gang. A part with one member becomes single. */
void tim_gang_part(struct tim_gang_set *set, unsigned way, uint8_t part);
/** Merges two units (gangs or single members) with equal pcs: the first such pair in the order of their lowest members.
 *  Units at TIM_GANG_NOWHERE, and gangs of which only some members have issued, are not merged. Returns true if there is
 *  such a pair. If @execute is false, changes nothing. */
bool tim_gang_merge(struct tim_gang_set *set, const uint64_t pc[TIM_GANG_MEMBERS], bool execute);
/** Removes a member that ends. A gang with one remaining member is dissolved. */
void tim_gang_drop(struct tim_gang_set *set, unsigned member);
/** Returns the way of the gang that contains @member; TIM_GANG_WAYS: none. */
static inline unsigned tim_gang_of(const struct tim_gang_set *set, unsigned member)
{
    unsigned way = (set->alone >> member & 1) != 0 ? TIM_GANG_WAYS : 0;

    while (way < TIM_GANG_WAYS && (set->way[way].mask >> member & 1) == 0)
        way++;
    return way;
}

#endif
