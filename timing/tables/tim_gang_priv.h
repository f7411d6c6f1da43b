/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gang table of variable warp sizing: the warps of an original gang that execute in lockstep. An original gang
 * is a group of neighbouring warp slots, one of each slice; its warps are members 0 to 7. Each live member is in one
 * gang of its set, or is single (member of no gang). Source: the warp scheduling thesis's specification 7.3, 7.5 and
 * 7.6.
 *
 *   set (an original gang)     GangMask   PC     alone
 *     way 0                    00001111  0x100
 *     way 1                    01110000  0x200   10000000
 */
#ifndef TIM_GANG_PRIV_H
#define TIM_GANG_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* A gang has at least two members, so four ways suffice. */
enum { TIM_GANG_MEMBERS = 8, TIM_GANG_WAYS = 4 };
/** The pc of a member of which no split runs: it waits at a barrier, sleeps, or waits for a launch. */
#define TIM_GANG_NOWHERE UINT64_MAX

struct tim_gang {
    uint8_t mask;   /* GangMask: set of its members; 0: the entry is free */
    uint8_t issued; /* members that have issued the instruction at `pc` that other members have not issued */
    uint64_t pc;    /* TIM_GANG_NOWHERE: all members wait */
    uint64_t last;  /* 1 + the cycle of its last issue; 0: none */
};
struct tim_gang_set {
    uint8_t live;  /* live members */
    uint8_t alone; /* live members in no gang */
    struct tim_gang way[TIM_GANG_WAYS];
};

/** Makes @members, which are neither in a gang nor alone, a gang; a single member becomes alone. */
void tim_gang_form(struct tim_gang_set *set, uint8_t members);
/** Splits a gang whose members continue at @pc[member]. Members with the same pc remain a gang; a single member becomes
 *  alone. The first group keeps the entry, others get free entries of the set. Returns the number of groups. */
unsigned tim_gang_split(struct tim_gang_set *set, unsigned way, const uint64_t pc[TIM_GANG_MEMBERS]);
/** Makes all members of the gang alone. */
void tim_gang_dissolve(struct tim_gang_set *set, unsigned way);
/** Separates the members @part, which are neither none nor all of the gang, from the others. Both parts become gangs,
 *  or alone if they have one member. They keep the pc of the gang. */
void tim_gang_part(struct tim_gang_set *set, unsigned way, uint8_t part);
/** Merges the first two gangs or single members with equal pcs, in the order of their lowest members. Excludes
 *  members at TIM_GANG_NOWHERE, and gangs of which only some members have issued. Returns true if there are two such
 *  units.
 *  @execute false: changes nothing. */
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
