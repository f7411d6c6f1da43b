/* SPDX-License-Identifier: Apache-2.0 */
/* Does it go on? Blocks that run without progress, and the verdict on them. */
#include "timing/tim_engine_priv.h"

enum {
    PROGRESS_LOOK = 1 << 16, /* instructions between looks for a live-lock */
    PROBE_LOOK = 1 << 10,    /* and while what spins is looked at */
    MOST_PROBED = 1 << 21    /* instructions until that is enough, whoever has not run */
};

/** Looks at progress since the last look: how many instructions ago was the last? */
static void see_progress(struct tim_engine *e, uint64_t since[2])
{
    bool moved[2] = {false, false};

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned b = 0; b < e->config.core_blocks; b++) {
            struct tim_block *block = &e->core[c]->block[b];
            for (unsigned strong = 0; block->used && strong < 2; strong++) {
                uint64_t progress = emu_core_progress(e->core[c]->emu, block->slot, strong) + 1;
                moved[strong] |= progress != block->progress[strong];
                block->progress[strong] = progress;
            }
        }
    for (unsigned strong = 0; strong < 2; strong++) {
        if (moved[strong])
            e->moved[strong] = e->instructions;
        since[strong] = e->instructions - e->moved[strong];
    }
}

void tim_engine_forget_spin(struct tim_engine *e)
{
    if (e->probe == NULL)
        return;
    emu_observer_remove(&e->base, emu_probe_observer(e->probe));
    emu_probe_destroy(e->probe);
    e->probe = NULL;
}

/** Has enough been seen of each block that runs? */
static bool all_probed(struct tim_engine *e)
{
    bool all = true;

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned b = 0; b < e->config.core_blocks; b++)
            if (e->core[c]->block[b].used)
                all &= emu_core_probed(e->core[c]->emu, e->core[c]->block[b].slot, e->probe);
    return all;
}

bool tim_engine_spins(struct tim_engine *e, enum emu_hang_way *way)
{
    const uint64_t window = emu_machine_config(e->base.machine)->hang_window;
    uint64_t since[2];

    if (window == 0 || e->instructions - e->looked < (e->probe != NULL ? PROBE_LOOK : PROGRESS_LOOK))
        return false;
    e->looked = e->instructions;
    see_progress(e, since);
    *way = since[0] >= window ? EMU_HANG_SPINS : EMU_HANG_SPINS_ON;
    if (since[0] < window && since[1] / EMU_STRONG_WINDOWS < window) {
        tim_engine_forget_spin(e);
        return false;
    }
    if (e->probe == NULL) {
        e->probe = emu_probe_create();
        if (e->probe == NULL)
            return true; /* no memory: the verdict does not name places */
        emu_observer_add(&e->base, emu_probe_observer(e->probe));
        e->probe_until = e->instructions + MOST_PROBED;
    }
    return all_probed(e) || e->instructions >= e->probe_until;
}

void tim_engine_hang(struct tim_engine *e, enum emu_hang_way way, struct emu_stop *stop)
{
    for (unsigned any = way == EMU_HANG_STOPS; any < 2; any++)
        for (unsigned c = 0; c < e->config.core_count; c++)
            for (unsigned b = 0; b < e->config.core_blocks; b++) {
                const struct tim_block *block = &e->core[c]->block[b];
                if (!block->used || (!any && !emu_core_can_run(e->core[c]->emu, block->slot)))
                    continue;
                emu_core_hang_stop(e->core[c]->emu, block->slot, way, e->probe, stop);
                return;
            }
    for (unsigned c = 0; c < e->config.core_count; c++)
        if (e->core[c]->suspended_count != 0) {
            emu_core_hang_stop(e->core[c]->emu, e->core[c]->suspended[0].slot, way, e->probe, stop);
            return;
        }
    stop->kind = EMU_STOP_IDLE; /* nothing is left: cannot come to this */
}
