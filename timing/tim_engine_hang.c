/* SPDX-License-Identifier: Apache-2.0 */
/* Progress checks: blocks that run without progress, and the hang report. */
#include "timing/tim_engine_priv.h"

enum {
    PROGRESS_LOOK = 1 << 16, /* instructions between two checks for progress */
    PROBE_LOOK = 1 << 10     /* instructions between two checks for progress while a spin observer is active */
};

/** Checks for progress since the last check. Returns the number of instructions executed since the last progress. */
static uint64_t see_progress(struct tim_engine *e)
{
    bool moved = false;

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned b = 0; b < e->config.core_blocks; b++) {
            struct tim_block *block = &e->core[c]->block[b];
            if (!block->used)
                continue;
            const uint64_t progress = emu_core_progress(e->core[c]->emu, block->slot) + 1;
            moved |= progress != block->progress;
            block->progress = progress;
        }
    if (moved)
        e->moved = e->instructions;
    return e->instructions - e->moved;
}

void tim_engine_forget_spin(struct tim_engine *e)
{
    if (e->probe == NULL)
        return;
    emu_observer_remove(&e->base, emu_spin_observer_events(e->probe));
    emu_spin_observer_destroy(e->probe);
    e->probe = NULL;
}

/** Returns true under two conditions. A mechanism throttles at least one warp of the block until other warps act. Each other
 *  warp of the block has ended, cannot run, or provably loops without progress. */
static bool is_held_up(const struct tim_engine *e, const struct tim_core *core, const struct tim_block *block)
{
    bool stuck = false;

    for (unsigned k = 0; k < block->warps; k++) {
        const struct tim_warp *w = &core->warp[block->warp_slot[k]];
        bool held = core->mechs.count != 0 && tim_mechs_stuck(&core->mechs, block->warp_slot[k]) != NULL;

        stuck |= held;
        if (!held && !w->ended && w->split >= 0 && !emu_core_has_cycle(core->emu, block->slot, k, e->probe))
            return false;
    }
    return stuck;
}

/** Returns true if the spin observer has proved for every resident block that the block makes no progress, or if
 *  is_held_up() is true for the block. */
static bool all_probed(struct tim_engine *e)
{
    bool all = true;

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned b = 0; b < e->config.core_blocks; b++)
            if (e->core[c]->block[b].used)
                all &= emu_core_probed(e->core[c]->emu, e->core[c]->block[b].slot, e->probe) ||
                       is_held_up(e, e->core[c], &e->core[c]->block[b]);
    return all;
}

bool tim_engine_spins(struct tim_engine *e)
{
    const uint64_t window = emu_machine_config(e->base.machine)->hang_window;
    uint64_t since;

    /* With l1.coherent off, a loop that polls a stale line of L1 ends when L1 evicts the line. The observer does not know
     * the contents of L1, so it cannot prove a hang. */
    if (window == 0 || (!e->config.l1_coherent && e->config.l1_bytes != 0) ||
        e->instructions - e->looked < (e->probe != NULL ? PROBE_LOOK : PROGRESS_LOOK))
        return false;
    e->looked = e->instructions;
    since = see_progress(e);
    if (since < window) {
        e->tries = 0;
        tim_engine_forget_spin(e);
        return false;
    }
    if (window > UINT64_MAX >> e->tries || since < window << e->tries)
        return false;
    if (e->probe == NULL) {
        e->probe = emu_spin_observer_create(e->base.machine, e->tries, false);
        if (e->probe != NULL)
            emu_observer_add(&e->base, emu_spin_observer_events(e->probe));
        return false;
    }
    if (emu_spin_observer_gave_up(e->probe)) { /* the next observation begins only after twice as many instructions without
                                                * progress */
        tim_engine_forget_spin(e);
        e->tries += e->tries < 40;
        return false;
    }
    return all_probed(e);
}

/** Fills in *stop with a report of the warps that a mechanism throttles until other warps act. It is called for a hang, in which
 *  no other warp will ever act. Returns false if there are no such warps. */
static bool hang_of_mechanism(const struct tim_engine *e, struct emu_stop *stop)
{
    struct lw_buffer text;
    bool found = false;

    lw_buffer_init(&text);
    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned i = 0; e->core[c]->mechs.count != 0 && i < e->config.core_warps; i++) {
            const struct tim_core *core = e->core[c];
            struct tim_mech *mech = core->warp[i].used && !core->warp[i].ended ? tim_mechs_stuck(&core->mechs, i) : NULL;

            if (mech == NULL)
                continue;
            if (!found)
                emu_core_hang_stop(core->emu, core->block[core->warp[i].block].slot, e->probe, stop);
            lw_printf(&text.sink, "%score %u, warp slot %u is throttled by %s: ", found ? "\n" : "", c, i, mech->row->name);
            mech->row->why(mech, i, &text.sink);
            found = true;
        }
    if (found && text.text != NULL) {
        const size_t size = strlen(text.text), most = sizeof stop->hang.detail;
        const size_t taken = size < most - 2 ? size : most - 2, left = most - taken - 2;
        char *detail = stop->hang.detail;

        memmove(detail + taken + 1, detail, strnlen(detail, left) + 1);
        detail[most - 1] = '\0';
        memcpy(detail, text.text, taken);
        detail[taken] = '\n';
    }
    lw_buffer_fini(&text);
    return found;
}

void tim_engine_hang(struct tim_engine *e, struct emu_stop *stop)
{
    if (hang_of_mechanism(e, stop))
        return;
    for (unsigned any = e->probe == NULL; any < 2; any++)
        for (unsigned c = 0; c < e->config.core_count; c++)
            for (unsigned b = 0; b < e->config.core_blocks; b++) {
                const struct tim_block *block = &e->core[c]->block[b];
                if (!block->used || (!any && !emu_core_can_run(e->core[c]->emu, block->slot)))
                    continue;
                emu_core_hang_stop(e->core[c]->emu, block->slot, e->probe, stop);
                return;
            }
    for (unsigned c = 0; c < e->config.core_count; c++)
        if (e->core[c]->suspended_count != 0) {
            emu_core_hang_stop(e->core[c]->emu, e->core[c]->suspended[0].slot, e->probe, stop);
            return;
        }
    stop->kind = EMU_STOP_IDLE; /* not reached: a hang has a resident or suspended block */
}
