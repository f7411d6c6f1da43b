/* SPDX-License-Identifier: Apache-2.0 */
/* Output of variable warp sizing for the debugger: why a warp is throttled, the gang table, hardware cost. */
#include "timing/mechanisms/tim_vws_priv.h"

#include <inttypes.h>

static void put_slots(const struct tim_vws *vws, unsigned g, uint8_t members, struct lw_sink *out)
{
    for (LW_EACH_BIT(m, (uint64_t)members))
        lw_printf(out, " %u", tim_vws_slot(vws, g, (unsigned)m));
}

void tim_vws_why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct tim_vws *vws = (const struct tim_vws *)mech;
    const unsigned s = warp % vws->slices, g = warp / vws->slices, way = tim_gang_of(&vws->set[g].table, s);
    const struct tim_vws_set *set = &vws->set[g];

    if (way < TIM_GANG_WAYS) {
        const struct tim_gang *gang = &set->table.way[way];
        const uint8_t pending = tim_vws_pending(set, gang);

        lw_printf(out, "gang %u of warp slots", g * TIM_GANG_WAYS + way);
        put_slots(vws, g, gang->mask, out);
        if (pending != 0 && (pending >> s & 1) == 0) {
            lw_put(out, " waits until all its warps have issued; missing:");
            put_slots(vws, g, pending, out);
            return;
        }
        if (tim_vws_waits_at_sync(vws, g, gang->mask, mech->core->now)) {
            lw_put(out, " waits at bsync for other warps of its slot group");
            return;
        }
        lw_put(out, " issues when all its warps are ready and no gang with precedence has one of its slices");
    } else if (tim_vws_waits_at_sync(vws, g, (uint8_t)(1u << s), mech->core->now)) {
        lw_put(out, "the warp waits at bsync for other warps of its slot group");
        return;
    } else {
        lw_put(out, "the warp is single (not in a gang)");
    }
    if (vws->issuer[s] >= 0 && vws->issuer[s] != (int)warp)
        lw_printf(out, "; slice %u issues warp slot %d in this cycle", s, vws->issuer[s]);
}

bool tim_vws_gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    const struct tim_vws *vws = (const struct tim_vws *)mech;

    *name = index == 0 ? "vws: gangs" : "vws: single warps";
    *value = index == 0 ? vws->gangs : vws->single;
    return true;
}

/** Prints the area, in square millimetres at 40 nm, of the hardware that the mechanism adds. Source:
 *  specification of the warp scheduling thesis, section 7.9. */
static void put_area(const struct tim_vws *vws, struct lw_sink *out)
{
    const struct {
        const char *what;
        double each;
        unsigned count;
    } part[] = {{"second port of the instruction cache of 64 KB", .108, 1}, {"L0 instruction cache of 256 bytes", .0065, vws->slices},
                {"instruction buffers of 4 Kbit", .0129, vws->slices},      {"gang table of 128 entries of 64 bits", .026, 1},
                {"scoreboard of 1800 bits", .01925, vws->slices},            {"further control", .16, vws->slices}};
    double sum = 0;

    lw_put(out, "area in 40 nm, computed from figures of the paper:\n");
    for (unsigned i = 0; i < LW_COUNT_OF(part); i++) {
        lw_printf(out, "  %-46s %u x %.4f = %.3f mm2\n", part[i].what, part[i].count, part[i].each, part[i].each * part[i].count);
        sum += part[i].each * part[i].count;
    }
    lw_printf(out, "  together %.2f mm2, %.0f %% of an SM of 16 mm2\n", sum, 100 * sum / 16);
}

void tim_vws_show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct tim_vws *vws = (const struct tim_vws *)mech;

    lw_printf(out, "gangs: %u; single warps: %u of %u live warps; slices: %u\ngang       pc  warp slots\n", vws->gangs, vws->single, vws->live, vws->slices);
    for (unsigned g = 0; g < vws->sets; g++) {
        const struct tim_vws_set *set = &vws->set[g];

        for (unsigned way = 0; way < TIM_GANG_WAYS; way++) {
            const struct tim_gang *gang = &set->table.way[way];

            if (gang->mask == 0)
                continue;
            if (gang->pc == TIM_GANG_NOWHERE)
                lw_printf(out, "%4u    waits ", g * TIM_GANG_WAYS + way);
            else
                lw_printf(out, "%4u %#8" PRIx64 " ", g * TIM_GANG_WAYS + way, gang->pc);
            put_slots(vws, g, gang->mask, out);
            if (tim_vws_pending(set, gang) != 0) {
                lw_put(out, "; late:");
                put_slots(vws, g, tim_vws_pending(set, gang), out);
            }
            lw_put(out, "\n");
        }
        if (set->table.alone != 0) {
            lw_put(out, "single        ");
            put_slots(vws, g, set->table.alone, out);
            lw_put(out, "\n");
        }
        if (set->fresh != 0) {
            lw_put(out, "new           ");
            put_slots(vws, g, set->fresh, out);
            lw_put(out, "\n");
        }
    }
    put_area(vws, out);
}
