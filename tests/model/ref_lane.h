/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simple reference interpreter, which executes one lane at a time. The semantics of instructions are written by hand from
 * the manual; no code is generated from the instruction table. The reference uses the host's libm where libm is exact.
 */
#ifndef REF_LANE_H
#define REF_LANE_H

#include "isa/isa.h"

enum { REF_REGS = 256 };

struct ref_lane {
    uint32_t v[REF_REGS];
    bool p[8];
    uint32_t s[128];          /* scalar registers: each lane executes scalar instructions on its own copy */
    bool sp[8];
    const uint8_t *bank0;     /* parameters, 64 KiB */
    uint32_t tid[3], lane, width;
    const uint32_t *block, *grid; /* sizes of block and grid */
    uint8_t *shared, *local, *global;
    uint64_t shared_bytes, local_bytes, global_bytes, global_base;
    uint8_t nowhere[16]; /* the bytes that an access outside all buffers reads and writes */
    const char *fault; /* message of an access outside all buffers, or NULL if there was none */
    uint32_t pc;
    bool exited;
    unsigned long steps;
};

/** Result of a step. */
enum ref_step {
    /* the reference does not implement the instruction, or an access is out of bounds; *why is the reason */
    REF_UNKNOWN,
    REF_NEXT,     /* the lane continues at lane->pc */
    REF_EXITED,
    REF_ARRIVES     /* the lane has executed the bar.sync, bar.arrive or warpsync at lane->pc - 1, with a true guard */
};
/** Execute one instruction of a lane, which may be control flow or a call. The code starts at ISA_CODE_BASE. The
 *  reference has no barrier registers: a read of one gives 0. */
enum ref_step ref_step(struct ref_lane *lane, const struct isa_insn *code, uint32_t count,
                       const char **why);

/** How the execution of a block ended. */
enum ref_end { REF_ENDS, REF_STUCK, REF_LIMIT, REF_FAULT };
/** Execute all lanes of a block, of which thread t is lane[t]. The lanes execute one by one in a random fair order, like the
 *  threads of a MIMD machine, so that programs with barriers, locks and calls end. */
enum ref_end ref_block(struct ref_lane *lane, unsigned threads, const struct isa_insn *code,
                       uint32_t count, uint64_t seed, unsigned long limit, const char **why);

/** Execute from lane->pc until the lane exits. If the reference does not implement an instruction, or the lane needs more
 *  than @limit steps, return false and set *@why to the reason. */
bool ref_run(struct ref_lane *lane, const struct isa_insn *code, uint32_t count,
             unsigned long limit, const char **why);
/** Execute one instruction of the scalar unit (ref_scalar.c). Return false if the reference does not implement it. If @lane is
 *  NULL, only return whether the reference implements it. */
bool ref_scalar(struct ref_lane *lane, const struct isa_insn *insn);
/** Return whether the reference implements the instruction. */
bool ref_knows(const struct isa_insn *insn);

#endif
