/* SPDX-License-Identifier: Apache-2.0 */
/* The functional engine's own state. */
#ifndef EMU_ENGINE_PRIV_H
#define EMU_ENGINE_PRIV_H

#include "emu/emu_core.h"

enum { EMU_BLOCK_TURN = 1 << 20 }; /* warp instructions before the next resident block */

/** A resident block: its state is made at its first instruction. */
struct emu_resident {
    uint64_t linear;
    int slot; /* -1: not begun */
};

struct emu_pool;
struct emu_claims;

struct emu_functional {
    struct emu_engine base;
    struct emu_core *core;
    struct emu_grid *grid;     /* the one that runs, NULL: look for the next */
    struct emu_resident *resident; /* in block order */
    unsigned count, capacity;
    unsigned current;          /* index of the block whose turn it is */
    uint64_t next_block;       /* first block not resident yet */
    uint64_t turn_left;        /* of the current block's turn */
    uint64_t warp_left;        /* of the current warp's quantum; 0: the next warp's turn */
    uint64_t watch_at;         /* core count of the next look for a live-lock */
    bool order_free;
    struct emu_pool *pool;     /* host threads, NULL until there are any; of the first engine */
    struct emu_claims *claims; /* not NULL: the grid runs on threads, blocks are taken from here */
};

/** An engine for one more thread: one block at a time. NULL without memory. */
struct emu_functional *emu_functional_helper(struct emu_machine *machine);
/** Run blocks of @grid taken from @claims from now on; NULL: no longer. */
void emu_functional_claim(struct emu_functional *f, struct emu_grid *grid,
                          struct emu_claims *claims);

#endif
