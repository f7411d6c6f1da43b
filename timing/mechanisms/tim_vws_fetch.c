/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variable warp sizing: who fetches. A gang fetches once for all of its warps, and gangs have the first claim on the ports of
 * the instruction cache. Then each slice fetches for one of its single warps, by loose round robin: from its own
 * cache, if it has one, else by a port, as long as there are some; slices take turns. Source: specification 7.4.
 */
#include "timing/mechanisms/tim_vws_priv.h"

static bool may(const struct tim_vws *vws, const struct tim_mech_fetch *phase, unsigned g, uint8_t members)
{
    const unsigned first = tim_vws_slot(vws, g, 0); /* slices are a power of two: all in one word */

    return (phase->may[first / 64] >> first % 64 & members) != 0;
}

/** Gangs fetch, at most @ports of them. How many did. */
static unsigned fetch_for_gangs(struct tim_vws *vws, const struct tim_mech_fetch *phase, unsigned ports)
{
    const bool gangs_only = vws->config->vws_mode == TIM_VWS_GANG;
    const unsigned first = vws->fetch_next / TIM_VWS_UNITS, units = gangs_only ? TIM_VWS_UNITS : TIM_GANG_WAYS;
    unsigned done = 0;

    for (unsigned k = 0; k <= vws->sets && done < ports; k++) { /* the set in which it begins is seen twice */
        const unsigned g = (first + k) % vws->sets;
        const struct tim_vws_set *set = &vws->set[g];

        if (set->gangs == 0 && (!gangs_only || set->single == 0))
            continue;
        for (unsigned unit = 0; unit < units && done < ports; unit++) {
            uint8_t members = tim_vws_members(set, unit);

            if (members == 0 || (k == 0 && unit < vws->fetch_next % TIM_VWS_UNITS) ||
                (k == vws->sets && unit >= vws->fetch_next % TIM_VWS_UNITS))
                continue;
            if (unit < TIM_GANG_WAYS && tim_vws_behind(set, &set->table.way[unit]) != 0)
                members = tim_vws_behind(set, &set->table.way[unit]);
            if (!may(vws, phase, g, members) ||
                phase->fetch(phase->context, tim_vws_slot(vws, g, 0), members) != TIM_FETCHED)
                continue;
            vws->base.core->count[TIM_CORE_vws_gang_fetches]++;
            vws->fetch_next = (g * TIM_VWS_UNITS + unit + 1) % (vws->sets * TIM_VWS_UNITS);
            done++;
        }
    }
    return done;
}

/** A single warp of slice @s fetches. *waits: one has room, and there was no port. */
static enum tim_mech_fetched fetch_for_slice(struct tim_vws *vws, const struct tim_mech_fetch *phase, unsigned s, bool port,
                                             bool *waits)
{
    for (unsigned k = 0; k < vws->sets; k++) {
        const unsigned g = (vws->place_next[s] + k) % vws->sets;
        enum tim_mech_fetched got = TIM_FETCHED_NOT;

        if ((vws->set[g].table.alone >> s & 1) == 0 || !may(vws, phase, g, (uint8_t)(1u << s)))
            continue;
        if (port || phase->levels)
            got = phase->fetch(phase->context, tim_vws_slot(vws, g, s), 1);
        else if (phase->wants(phase->context, tim_vws_slot(vws, g, s), 1))
            *waits = true;
        if (*waits)
            return TIM_FETCHED_NOT;
        if (got != TIM_FETCHED_NOT) {
            vws->place_next[s] = (g + 1) % vws->sets;
            return got;
        }
    }
    return TIM_FETCHED_NOT;
}

void tim_vws_fetches(struct tim_mech *mech, const struct tim_mech_fetch *phase)
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    unsigned most = vws->fetch_most < phase->ports ? vws->fetch_most : phase->ports;
    unsigned left = phase->ports - fetch_for_gangs(vws, phase, most), first = vws->slice_next;

    if (vws->config->vws_mode == TIM_VWS_GANG)
        return;
    for (unsigned k = 0; k < vws->slices; k++) {
        const unsigned s = (first + k) % vws->slices;
        bool waits = false;

        if (vws->single_in[s] == 0)
            continue;
        if (fetch_for_slice(vws, phase, s, left != 0, &waits) == TIM_FETCHED) {
            left--;
            vws->slice_next = (s + 1) % vws->slices;
        }
        mech->core->count[TIM_CORE_vws_port_waits] += waits;
    }
}
