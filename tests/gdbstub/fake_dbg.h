/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fake debugger core for tests and fuzzing of the remote protocol alone. Its machine has warps of 32 lanes that
 * execute a short program, one 16-byte instruction per slice, all lanes together.
 */
#ifndef FAKE_DBG_H
#define FAKE_DBG_H

#include "debug/debug.h"

enum {
    FAKE_LANES = 32,
    FAKE_VREGS = 4,
    FAKE_SREGS = 3,
    FAKE_INSNS = 16,         /* the last one ends the warp */
    FAKE_STORE_AT = 5,       /* this instruction is a store by one lane of its warp's number + 1 */
    FAKE_STORE_LANE = 7,     /* the store writes a word of the warp; the words begin here */
    FAKE_STORE_OFFSET = 0x1000,
    FAKE_MEMORY_BYTES = 8192, /* at ISA_GLOBAL_BASE */
    FAKE_WORD_AT = 0x10004,   /* words with 0x2a at higher addresses, with unmapped memory between them */
    FAKE_WORD_NEXT = 0x10100
};

struct fake_options {
    unsigned warps;
    int fault_at; /* instruction that faults, -1: none */
    bool endless; /* the last instruction jumps to the first */
};
struct dbg *fake_dbg_create(const struct fake_options *options);
/** The stub's last resume request: "continue", "step 1", "step 1 locked", "range 1". */
const char *fake_dbg_trace(const struct dbg *dbg);
/** Return register v@r of a lane, for comparisons. */
uint32_t fake_dbg_vector(const struct dbg *dbg, dbg_thread_id id, unsigned r, unsigned lane);
unsigned fake_dbg_state_calls(const struct dbg *dbg);
unsigned fake_dbg_stoppoint_count(const struct dbg *dbg);

#endif
