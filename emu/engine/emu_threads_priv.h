/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of a block-order-free grid on several host threads (MACHINE 4). Each thread runs the functional engine on its
 * own core and takes the next block that no thread has taken.
 */
#ifndef EMU_THREADS_PRIV_H
#define EMU_THREADS_PRIV_H

#include "emu/engine/emu_engine_priv.h"

/** Shared state of the threads of one grid; members are read and written atomically. */
struct emu_claims {
    uint64_t next;  /* first block that no thread has taken */
    uint64_t limit; /* number of the block that stopped the run; blocks with higher numbers need not run */
    const struct emu_engine *engine; /* the engine whose interrupt stops all threads */
};

/** Returns true if the grid that @f runs may run on threads now, or runs on threads. */
bool emu_threads_wanted(const struct emu_functional *f);
/** Runs or resumes the grid. stop->kind is EMU_STOP_NONE when the grid has ended. */
enum lw_status emu_threads_run(struct emu_functional *f, struct emu_stop *stop,
                               struct lw_error *err);
/** Returns true if the grid that @f runs has begun on threads and has not ended. */
bool emu_threads_are_running(const struct emu_functional *f);
/** Returns the functional engine that holds the block which stopped the run, or @f if no block has stopped the run. */
struct emu_functional *emu_threads_view(struct emu_functional *f);
uint64_t emu_threads_instructions(const struct emu_functional *f);
void emu_threads_destroy(struct emu_pool *pool);

/** Returns true if the thread must stop before its next time slice, because it is interrupted, or because its block need not
 *  run. */
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
