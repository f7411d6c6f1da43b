/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gang table of variable warp sizing: which warps of an original gang go in lock step. An original gang is a group of
 * neighbouring warp slots, one of each slice; its warps are its members 0 to 7. Each member that lives is in one gang of
 * its set, or alone. Source: the warp scheduling thesis's specification 7.3, 7.5 and 7.6.
 *
 *   set (an original gang)     GangMask   PC     alone
 *     way 0                    00001111  0x100
 *     way 1                    01110000  0x200   10000000
 */
#ifndef TIM_GANG_PRIV_H
#define TIM_GANG_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* A gang has two members at least, so four are enough. */
enum { TIM_GANG_MEMBERS = 8, TIM_GANG_WAYS = 4 };
/** The pc of a member none of whose splits runs: it waits at a barrier, sleeps, or waits for a launch. */
#define TIM_GANG_NOWHERE UINT64_MAX

struct tim_gang {
    uint8_t mask;   /* GangMask: its members, a bit each; 0: the entry is free */
    uint8_t issued; /* of them, those that have issued the instruction at `pc`, while others have not */
    uint64_t pc;    /* TIM_GANG_NOWHERE: all wait */
    uint64_t last;  /* 1 + the cycle in which it issued last; 0: it never did */
};
struct tim_gang_set {
    uint8_t live;  /* members that live, */
    uint8_t alone; /* and of them those in no gang */
    struct tim_gang way[TIM_GANG_WAYS];
};

/** @members, which are in no gang and not alone, become a gang; one becomes alone. */
void tim_gang_form(struct tim_gang_set *set, uint8_t members);
/** The members of a gang continue at @pc[member]: those with one pc stay a gang, a single one is alone. The first group has the
 *  entry, others have free ones of the set. The count of groups. */
unsigned tim_gang_split(struct tim_gang_set *set, unsigned way, const uint64_t pc[TIM_GANG_MEMBERS]);
/** All of its members are alone. */
void tim_gang_dissolve(struct tim_gang_set *set, unsigned way);
/** @part of its members, neither none nor all, are a gang of their own, or alone; so are those left. They keep its pc. */
void tim_gang_part(struct tim_gang_set *set, unsigned way, uint8_t part);
/** The gangs and single members with equal pcs that are the first two by their lowest member become one. Members at
 *  TIM_GANG_NOWHERE, and gangs of which only some have issued, are left. @execute: false: nothing changes. True: there were two. */
bool tim_gang_merge(struct tim_gang_set *set, const uint64_t pc[TIM_GANG_MEMBERS], bool execute);
/** A member ends. A gang of which one is left is none. */
void tim_gang_drop(struct tim_gang_set *set, unsigned member);
/** The way of the gang that has @member; TIM_GANG_WAYS: none has. */
static inline unsigned tim_gang_of(const struct tim_gang_set *set, unsigned member)
{
    unsigned way = (set->alone >> member & 1) != 0 ? TIM_GANG_WAYS : 0;

    while (way < TIM_GANG_WAYS && (set->way[way].mask >> member & 1) == 0)
        way++;
    return way;
}

#endif
