/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debugger core with a machine of a few lines behind it, so that the remote protocol can
 * be tested and fuzzed alone: warps of 32 lanes that run through a short program, one
 * 16-byte instruction a slice, all lanes together.
 */
#ifndef FAKE_DBG_H
#define FAKE_DBG_H

#include "debug/debug.h"

enum {
    FAKE_LANES = 32,
    FAKE_VREGS = 4,
    FAKE_SREGS = 3,
    FAKE_INSNS = 16,         /* the last one ends the warp */
    FAKE_STORE_AT = 5,       /* this one is a store of one lane: its warp's number + 1, to */
    FAKE_STORE_LANE = 7,     /* a word of its warp's from here on */
    FAKE_STORE_OFFSET = 0x1000,
    FAKE_MEMORY_BYTES = 8192, /* at ISA_GLOBAL_BASE */
    FAKE_WORD_AT = 0x10004,   /* words with 0x2a, further on, and nothing between them */
    FAKE_WORD_NEXT = 0x10100
};

struct fake_options {
    unsigned warps;
    int fault_at; /* instruction that faults, -1: none */
    bool endless; /* the last instruction jumps to the first */
};
struct dbg *fake_dbg_create(const struct fake_options *options);
/** The stub's last request to run: "continue", "step 1", "step 1 locked", "range 1". */
const char *fake_dbg_trace(const struct dbg *dbg);
/** v register @r of a lane, for checks. */
uint32_t fake_dbg_vector(const struct dbg *dbg, dbg_thread_id id, unsigned r, unsigned lane);
unsigned fake_dbg_state_calls(const struct dbg *dbg);
unsigned fake_dbg_stoppoint_count(const struct dbg *dbg);

#endif
