/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake debugger core, for tests and fuzzing of the remote protocol without a machine. The fake core has warps of 32 lanes
 * that execute a short program, with one 16-byte instruction per time slice. All lanes of a warp execute together.
 */
#ifndef FAKE_DBG_H
#define FAKE_DBG_H

#include "debug/debug.h"

enum {
    FAKE_LANES = 32,
    FAKE_VREGS = 4,
    FAKE_SREGS = 3,
    FAKE_INSNS = 16,         /* number of instructions; the last one ends the warp */
    FAKE_STORE_AT = 5,       /* index of the instruction that stores the warp's number + 1 */
    FAKE_STORE_LANE = 7,     /* lane that executes the store */
    FAKE_STORE_OFFSET = 0x1000, /* offset of the words to which warps store, one for each warp */
    FAKE_MEMORY_BYTES = 8192, /* size of the memory at ISA_GLOBAL_BASE */
    FAKE_WORD_AT = 0x10004,   /* offsets of two words with 0x2a, which are separated by unmapped memory */
    FAKE_WORD_NEXT = 0x10100
};

struct fake_options {
    unsigned warps;
    int fault_at; /* index of the instruction that faults, or -1 if none does */
    bool endless; /* the last instruction jumps to the first */
};
struct dbg *fake_dbg_create(const struct fake_options *options);
/** Return the stub's last request to run: "continue", "step 1", "step 1 locked" or "range 1", where 1 is the thread. */
const char *fake_dbg_trace(const struct dbg *dbg);
/** Return vector register @r of a lane. */
uint32_t fake_dbg_vector(const struct dbg *dbg, dbg_thread_id id, unsigned r, unsigned lane);
unsigned fake_dbg_state_calls(const struct dbg *dbg);
unsigned fake_dbg_stoppoint_count(const struct dbg *dbg);

#endif
