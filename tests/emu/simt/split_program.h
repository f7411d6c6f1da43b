/* SPDX-License-Identifier: Apache-2.0 */
/* Parsed mini programs of tests/emu/simt/split_machine.h. */
#ifndef SPLIT_PROGRAM_H
#define SPLIT_PROGRAM_H

#include "tests/emu/simt/split_machine.h"

enum { SM_NAME = 24, SM_REGS = 200, T_REG = 0, LANE_REG = 1, WARP_REG = 2 };

enum sm_op {
    NOP, MOV, PUSH, POP, LD, ST, RED, CAS, BRA, CALL, RET, EXIT, BSSY, BSYNC, BBREAK, YIELD,
    TAKE, GIVE, WARPSYNC, BAR, ARRIVE, SCALAR, SLEEP, SYNC
};

/* Kinds of expression nodes. All nodes of a program are in one array. */
enum sm_kind {
    K_CONST, K_REG, K_MIX, K_IF, K_OR, K_AND, K_NOT, K_EQ, K_NE, K_LT, K_LE, K_GT, K_GE, K_BOR,
    K_XOR, K_BAND, K_SHL, K_SHR, K_ADD, K_SUB, K_MUL, K_DIV, K_MOD, K_NEG, K_INV
};
struct sm_node {
    enum sm_kind kind;
    int a, b, c;
    int64_t value;
};

struct sm_ins {
    enum sm_op op;
    char name[SM_NAME];
    int d, a, x, guard; /* d: index of a register; a, x, guard: indices of expressions, or -1 if there is none */
    int bar, label;
    bool soft;
    uint32_t target;
};

struct sm_label {
    char name[SM_NAME];
    uint32_t at;
};

struct sm_program {
    struct sm_ins *ins;
    size_t count, capacity;
    struct sm_node *node;
    size_t node_count, node_capacity;
    struct sm_label *label;
    size_t label_count, label_capacity;
    char reg[SM_REGS][SM_NAME];
    unsigned reg_count;
    unsigned lanes, warps, threads;
};

/** Returns the index of the register @name, which is created at its first use. Returns -1 if there are too many. */
int sm_reg_index(struct sm_program *p, const char *name);
/** Returns the value of expression @e for a lane with registers @r. */
int64_t sm_value(const struct sm_program *p, const int64_t *r, int e);

#endif
