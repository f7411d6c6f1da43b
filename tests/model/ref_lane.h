/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain reference interpreter: one lane at a time, semantics written by hand from the
 * manual, nothing expanded from the instruction table, host libm where it is exact.
 */
#ifndef REF_LANE_H
#define REF_LANE_H

#include "isa/isa.h"

enum { REF_REGS = 256 };

struct ref_lane {
    uint32_t v[REF_REGS];
    bool p[8];
    uint32_t s[128];          /* scalars: the warp's, executed by each lane for itself */
    bool sp[8];
    const uint8_t *bank0;     /* parameters, 64 KiB */
    uint32_t tid[3], lane, width;
    const uint32_t *block, *grid; /* sizes */
    uint8_t *shared, *local, *global;
    uint64_t shared_bytes, local_bytes, global_bytes, global_base;
    uint8_t nowhere[16]; /* the bytes that an access outside all buffers reads and writes */
    const char *fault; /* the error of an access outside all buffers; NULL: none */
    uint32_t pc;
    bool exited;
    unsigned long steps;
};

/** What became of a step. */
enum ref_step {
    REF_UNKNOWN,  /* the reference does not implement the instruction, or an access is out of bounds; *why says which */
    REF_NEXT,     /* lane->pc is where it continues */
    REF_EXITED,
    REF_ARRIVES     /* bar.sync, bar.arrive or warpsync at lane->pc - 1, with its guard on */
};
/** Execute one instruction of a lane, control flow and calls included; code starts at ISA_CODE_BASE. The
 *  reference has no barrier registers: reading one gives 0. */
enum ref_step ref_step(struct ref_lane *lane, const struct isa_insn *code, uint32_t count,
                       const char **why);

/** How a block of lanes ended. */
enum ref_end { REF_ENDS, REF_STUCK, REF_LIMIT, REF_FAULT };
/** Execute all lanes of a block (thread t is lane[t]) one by one in a random fair order, as a MIMD machine
 *  executes a program with barriers, locks and calls. */
enum ref_end ref_block(struct ref_lane *lane, unsigned threads, const struct isa_insn *code,
                       uint32_t count, uint64_t seed, unsigned long limit, const char **why);

/** Execute from lane->pc until the lane exits. False when an instruction is unknown to the
 *  reference or @limit steps pass; *why says which. */
bool ref_run(struct ref_lane *lane, const struct isa_insn *code, uint32_t count,
             unsigned long limit, const char **why);
/** One instruction of the scalar unit (ref_scalar.c); false: unknown. NULL: only asks. */
bool ref_scalar(struct ref_lane *lane, const struct isa_insn *insn);
/** The reference knows the row. */
bool ref_knows(const struct isa_insn *insn);

#endif
