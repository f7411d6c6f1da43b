/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches of variable warp sizing. A gang fetches once for all its warps. Gangs have priority for the ports of the
 * instruction cache. Then each slice fetches for one of its single warps, by loose round robin. With L0 instruction
 * caches, a slice fetches from its own cache. Otherwise the slices use the ports that are still free, in rotation.
 * Source: specification of the warp scheduling thesis, section 7.4.
 */
#include "timing/mechanisms/tim_vws_priv.h"

/** Sets of the gang table in which a warp may have buffer space: for each slice, sets whose single warp on the slice may have
 *  space; and sets in which a warp of a gang may have space. */
struct candidates {
    uint64_t single[TIM_GANG_MEMBERS][TIM_VWS_SET_WORDS], gang[TIM_VWS_SET_WORDS];
};

static void find_candidates(const struct tim_vws *vws, const struct tim_mech_fetch *phase, struct candidates *candidates)
{
    memset(candidates, 0, sizeof *candidates);
    for (unsigned word = 0; word < TIM_MAX_WARPS / 64; word++)
        for (LW_EACH_BIT(b, phase->may[word])) {
            const unsigned slot = word * 64 + (unsigned)b, g = slot >> vws->shift, s = slot & (vws->slices - 1);
            const uint64_t bit = UINT64_C(1) << g % 64;

            if (g >= vws->sets)
                return;
            if ((vws->set[g].table.alone >> s & 1) != 0 && vws->config->vws_mode != TIM_VWS_GANG)
                candidates->single[s][g / 64] |= bit;
            else
                candidates->gang[g / 64] |= bit;
        }
}

/** Returns the lowest element of @sets that is @from or higher, or TIM_VWS_SETS if there is none. */
static unsigned first_from(const uint64_t sets[TIM_VWS_SET_WORDS], unsigned from)
{
    for (unsigned word = from / 64; word < TIM_VWS_SET_WORDS; word++) {
        uint64_t some = sets[word] & (word == from / 64 ? ~lw_mask(from % 64) : UINT64_MAX);

        if (some != 0)
            return word * 64 + lw_lowest(some);
    }
    return TIM_VWS_SETS;
}

/** Makes at most @ports fetches for the units [@unit, @end) of set @g. Returns the number of fetches. */
static unsigned fetch_for_units(struct tim_vws *vws, const struct tim_mech_fetch *phase, unsigned g, unsigned unit, unsigned end,
                                unsigned ports)
{
    const struct tim_vws_set *set = &vws->set[g];
    unsigned done = 0;

    for (; unit < end && done < ports; unit++) {
        uint8_t members = tim_vws_members(set, unit);

        if (members == 0)
            continue;
        if (unit < TIM_GANG_WAYS && tim_vws_pending(set, &set->table.way[unit]) != 0)
            members = tim_vws_pending(set, &set->table.way[unit]);
        if (phase->fetch(phase->context, tim_vws_slot(vws, g, 0), members) != TIM_FETCHED)
            continue;
        vws->base.core->count[TIM_CORE_vws_gang_fetches]++;
        vws->fetch_next = (g * TIM_VWS_UNITS + unit + 1) % (vws->sets * TIM_VWS_UNITS);
        done++;
    }
    return done;
}

/** Makes at most @ports fetches for gangs, by loose round robin. Returns the number of fetches. */
static unsigned fetch_for_gangs(struct tim_vws *vws, const struct tim_mech_fetch *phase, const struct candidates *candidates, unsigned ports)
{
    const unsigned units = vws->config->vws_mode == TIM_VWS_GANG ? TIM_VWS_UNITS : TIM_GANG_WAYS;
    const unsigned first = vws->fetch_next / TIM_VWS_UNITS, unit = vws->fetch_next % TIM_VWS_UNITS;
    unsigned done = 0;

    /* The loops begin at unit `unit` of set `first`, and end at the unit before it. */
    for (unsigned g = first_from(candidates->gang, first); g < TIM_VWS_SETS && done < ports; g = first_from(candidates->gang, g + 1))
        done += fetch_for_units(vws, phase, g, g == first ? unit : 0, units, ports - done);
    for (unsigned g = first_from(candidates->gang, 0); g <= first && done < ports; g = first_from(candidates->gang, g + 1))
        done += fetch_for_units(vws, phase, g, 0, g == first && unit < units ? unit : units, ports - done);
    return done;
}

/** Fetches for one single warp of slice @s. @port: whether a port of the instruction cache is free. Sets *waits to true if a
 *  warp can fetch, but no port is free. */
static enum tim_mech_fetched fetch_for_slice(struct tim_vws *vws, const struct tim_mech_fetch *phase, const struct candidates *candidates,
                                             unsigned s, bool port, bool *waits)
{
    const unsigned first = vws->set_next[s];

    for (unsigned half = 0; half < 2; half++)
        for (unsigned g = first_from(candidates->single[s], half == 0 ? first : 0); g < (half == 0 ? (unsigned)TIM_VWS_SETS : first);
             g = first_from(candidates->single[s], g + 1)) {
            enum tim_mech_fetched got;

            if (!port && !phase->levels) {
                *waits = phase->wants(phase->context, tim_vws_slot(vws, g, s), 1);
                if (*waits)
                    return TIM_FETCHED_NOT;
                continue;
            }
            got = phase->fetch(phase->context, tim_vws_slot(vws, g, s), 1);
            if (got != TIM_FETCHED_NOT) {
                vws->set_next[s] = (g + 1) % vws->sets;
                return got;
            }
        }
    return TIM_FETCHED_NOT;
}

void tim_vws_fetches(struct tim_mech *mech, const struct tim_mech_fetch *phase)
{
    struct tim_vws *vws = (struct tim_vws *)mech;
    unsigned most = vws->fetch_most < phase->ports ? vws->fetch_most : phase->ports;
    unsigned left, first = vws->slice_next;
    struct candidates candidates;

    find_candidates(vws, phase, &candidates);
    left = phase->ports - fetch_for_gangs(vws, phase, &candidates, most);
    if (vws->config->vws_mode == TIM_VWS_GANG)
        return;
    for (unsigned k = 0; k < vws->slices; k++) {
        const unsigned s = (first + k) % vws->slices;
        bool waits = false;

        if (vws->single_in[s] == 0)
            continue;
        if (fetch_for_slice(vws, phase, &candidates, s, left != 0, &waits) == TIM_FETCHED) {
            left--;
            vws->slice_next = (s + 1) % vws->slices;
        }
        mech->core->count[TIM_CORE_vws_port_waits] += waits;
    }
}
