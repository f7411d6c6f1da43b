/* SPDX-License-Identifier: Apache-2.0 */
/* The gang table of variable warp sizing. */
#include "timing/tables/tim_gang_priv.h"

#include "base/lw.h"

#include <assert.h>

static unsigned free_way(const struct tim_gang_set *set)
{
    unsigned way = 0;

    while (set->way[way].mask != 0)
        way++;
    assert(way < TIM_GANG_WAYS);
    return way;
}

/** Makes the warps in set @members a gang, in a free entry of the table. Copies pc, last and issued from @like. If there is
 *  only one warp, adds it to `alone` instead. */
static void place(struct tim_gang_set *set, uint8_t members, struct tim_gang like)
{
    if (members == 0)
        return;
    if ((members & (members - 1)) == 0) {
        set->alone |= members;
        return;
    }
    like.mask = members;
    like.issued &= members;
    set->way[free_way(set)] = like;
}

void tim_gang_form(struct tim_gang_set *set, uint8_t members)
{
    place(set, members, (struct tim_gang){.pc = TIM_GANG_NOWHERE});
}

unsigned tim_gang_split(struct tim_gang_set *set, unsigned way, const uint64_t pc[TIM_GANG_MEMBERS])
{
    struct tim_gang was = set->way[way];
    unsigned groups = 0;

    set->way[way].mask = 0;
    was.issued = 0;
    for (uint8_t left = was.mask, group; left != 0; left &= (uint8_t)~group) {
        was.pc = pc[lw_lowest(left)];
        group = 0;
        for (LW_EACH_BIT(m, (uint64_t)left))
            group |= (uint8_t)((unsigned)(pc[m] == was.pc) << m);
        place(set, group, was);
        groups++;
    }
    return groups;
}

void tim_gang_dissolve(struct tim_gang_set *set, unsigned way)
{
    set->alone |= set->way[way].mask;
    set->way[way].mask = 0;
}

void tim_gang_part(struct tim_gang_set *set, unsigned way, uint8_t part)
{
    struct tim_gang was = set->way[way];

    assert((part & ~was.mask) == 0 && part != 0 && part != was.mask);
    set->way[way].mask = 0;
    place(set, (uint8_t)(was.mask & ~part), was);
    place(set, part, was);
}

/** Returns the gang that contains @member, and sets *way to its way. For a single member, returns a gang with this member
 *  only, and sets *way to TIM_GANG_WAYS. */
static struct tim_gang unit_of(const struct tim_gang_set *set, unsigned member, unsigned *way)
{
    *way = tim_gang_of(set, member);
    return *way < TIM_GANG_WAYS ? set->way[*way] : (struct tim_gang){.mask = (uint8_t)(1u << member)};
}

static void take_out(struct tim_gang_set *set, const struct tim_gang *unit, unsigned way)
{
    if (way < TIM_GANG_WAYS)
        set->way[way].mask = 0;
    else
        set->alone &= (uint8_t)~unit->mask;
}

bool tim_gang_merge(struct tim_gang_set *set, const uint64_t pc[TIM_GANG_MEMBERS], bool execute)
{
    uint8_t seen = 0;

    for (LW_EACH_BIT(a, (uint64_t)set->live)) {
        unsigned way, other;
        struct tim_gang first = unit_of(set, (unsigned)a, &way);

        if ((seen >> a & 1) != 0 || pc[a] == TIM_GANG_NOWHERE || first.issued != 0)
            continue;
        seen |= first.mask;
        for (LW_EACH_BIT(b, (uint64_t)(set->live & ~seen))) {
            struct tim_gang second = unit_of(set, (unsigned)b, &other);

            if (pc[b] != pc[a] || second.issued != 0)
                continue;
            if (!execute)
                return true;
            take_out(set, &first, way);
            take_out(set, &second, other);
            place(set, first.mask | second.mask, (struct tim_gang){.pc = pc[a], .last = first.last > second.last ? first.last : second.last});
            return true;
        }
    }
    return false;
}

void tim_gang_drop(struct tim_gang_set *set, unsigned member)
{
    const uint8_t bit = (uint8_t)(1u << member);
    unsigned way = tim_gang_of(set, member);

    set->live &= (uint8_t)~bit;
    set->alone &= (uint8_t)~bit;
    if (way == TIM_GANG_WAYS)
        return;
    set->way[way].mask &= (uint8_t)~bit;
    set->way[way].issued &= (uint8_t)~bit;
    if ((set->way[way].mask & (set->way[way].mask - 1)) == 0)
        tim_gang_dissolve(set, way);
}
