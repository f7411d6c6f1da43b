/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plain reference interpreter: one lane at a time, semantics written by hand from the
 * manual, nothing expanded from the instruction table, host libm where it is exact.
 */
#ifndef REF_LANE_H
#define REF_LANE_H

#include "isa/isa.h"

enum { REF_REGS = 256, REF_SHARED = 4096, REF_LOCAL = 512, REF_GLOBAL = 8192 };

struct ref_lane {
    uint32_t v[REF_REGS];
    bool p[8];
    uint32_t s[128];          /* scalars: the warp's, executed by each lane for itself */
    bool sp[8];
    const uint8_t *bank0;     /* parameters, 64 KiB */
    uint32_t tid[3], lane, width;
    const uint32_t *block, *grid; /* sizes */
    uint8_t *shared, *local, *global;
    uint64_t global_base;
    uint32_t pc;
    bool exited;
    unsigned long steps;
};

/** Execute from lane->pc until the lane exits. False when an instruction is unknown to the
 *  reference or @limit steps pass; *why says which. */
bool ref_run(struct ref_lane *lane, const struct isa_insn *code, uint32_t count,
             unsigned long limit, const char **why);
/** One instruction of the scalar unit (ref_scalar.c); false: unknown. NULL: only asks. */
bool ref_scalar(struct ref_lane *lane, const struct isa_insn *insn);
/** The reference knows the row. */
bool ref_knows(const struct isa_insn *insn);

#endif
