/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a block-order-free grid on several host threads (MACHINE 4). Each thread runs the
 * functional engine on a core of its own and takes the next block that is not taken.
 */
#ifndef EMU_THREADS_PRIV_H
#define EMU_THREADS_PRIV_H

#include "emu/engine/emu_engine_priv.h"

/** What the threads of one grid share; fields are read and written atomically. */
struct emu_claims {
    uint64_t next;  /* first block that is not taken */
    uint64_t limit; /* blocks above it need not run: it ended the run */
    const struct emu_engine *engine; /* the one that may be interrupted */
};

/** The grid that @f is at may run on threads now, or does so. */
bool emu_threads_wanted(const struct emu_functional *f);
/** Run or resume it. stop->kind is EMU_STOP_NONE when it has ended. */
enum lw_status emu_threads_run(struct emu_functional *f, struct emu_stop *stop,
                               struct lw_error *err);
/** A grid began on threads and has not ended. */
bool emu_threads_are_running(const struct emu_functional *f);
/** The engine that holds the block which stopped the run, or @f. */
struct emu_functional *emu_threads_view(struct emu_functional *f);
uint64_t emu_threads_instructions(const struct emu_functional *f);
void emu_threads_destroy(struct emu_pool *pool);

/** The thread has to stop before its next turn: interrupted, or its block need not run. */
static inline bool emu_claims_stop(const struct emu_claims *claims, uint64_t block,
                                   struct emu_stop *stop)
{
    if (__atomic_load_n(&claims->engine->interrupted, __ATOMIC_RELAXED))
        stop->kind = EMU_STOP_INTERRUPTED;
    else if (block > __atomic_load_n(&claims->limit, __ATOMIC_RELAXED))
        stop->kind = EMU_STOP_IDLE;
    else
        return false;
    return true;
}

#endif
