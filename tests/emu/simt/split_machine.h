/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small machine around emu_split.c for tests. The machine parses mini programs, whose instructions are on lines of their
 * own or separated by `;`, and runs them lane by lane. Splits and barriers are those of the emulator (emu_split.c). The
 * machine has no memory system and no handlers.
 *
 *   nop            mov d, expr          push r     pop r
 *   ld d, [expr]   st [expr], expr      red [expr], expr     cas d, [expr]
 *   bra [cond,] L [, bN]    call expr [, bN]    ret    exit
 *   bssy bN, L     bsync bN     bsync.soft bN     bbreak bN     yield     mov d, bN     mov bN, d
 *   warpsync expr  bar i [, count]      bar.arrive i, count  scalar
 *   nanosleep expr                      sync d, expr (a .sync operation: d = lanes that ran it)
 *   .lanes W       .warps N             .threads N
 *
 * `@cond` before a mnemonic guards the instruction. Expressions have the operators of C plus `and`, `or`, `not` and
 * `x if c else y`. Names are the lane's registers (0 at start), t (thread), lane, warp, labels, and mix(a, b), a
 * 32-bit hash. In this machine a pc is the index of an instruction.
 */
#ifndef SPLIT_MACHINE_H
#define SPLIT_MACHINE_H

#include "emu/simt/emu_split_priv.h"

struct sm_program;

/** Return NULL and a message in @err if @text cannot be parsed. */
struct sm_program *sm_parse(const char *text, size_t size, struct lw_error *err);
void sm_program_free(struct sm_program *program);

struct sm_options {
    const char *policy;
    const char *reconv;      /* NULL: cbar */
    const char *push_order;  /* push order of the stack engine; NULL: smaller */
    unsigned lanes, threads; /* 0: the number that the program states; without a statement 4 lanes and one warp */
    unsigned quantum, window;
    bool merge_off;
    bool chunked;  /* run to the instruction limit instead of in single steps */
    bool check;    /* check the invariants after every step */
    uint64_t limit, hang; /* limits of a run and of a run without progress, in executed instructions; 0: 2^20 */
};

enum sm_hang_report { SM_ENDS, SM_DEADLOCK, SM_LIVELOCK, SM_LIMIT, SM_FAULT, SM_BROKEN };

struct sm {
    struct sm_program *program; /* borrowed */
    struct sm_options options;
    struct emu_machine machine;
    struct emu_core core;
    struct emu_block block;
    struct emu_grid grid;
    struct emu_program guest;
    struct emu_code code;
    struct emu_level level;
    struct sm_lane *lane;
    struct sm_cell *cell;
    size_t cell_count, cell_capacity;
    uint64_t issues, slots, last_progress;
    enum sm_hang_report report;
    char message[400]; /* message of a fault or of a broken invariant */
    bool passed;       /* the last instruction was a bsync that continued its time slice */
    struct emu_flow flow; /* the flow of the last step, unless options.chunked */
    /** Called after each step, if not NULL. */
    void (*on_step)(struct sm *m, struct emu_warp *w, uint32_t pc, uint64_t lanes);
    void *context;
};

/** Creates a machine that is ready to run at pc 0. Aborts the test when memory is short. */
struct sm *sm_create(struct sm_program *program, const struct sm_options *options);
void sm_destroy(struct sm *m);
/** Runs the block in rotation to its end, a hang or the limit. */
enum sm_hang_report sm_run(struct sm *m);
/** Executes one instruction of the split of @w that has the time slice. The caller ensures that one has it. If @account is
 *  set, also calls emu_split_ran() for the instruction. Returns false after a fault. */
bool sm_step(struct sm *m, struct emu_warp *w, bool account);
const char *sm_mnemonic(const struct sm *m, uint32_t pc);
/** Prints the split table and the convergence groups in the format of golden traces. */
void sm_show(const struct emu_warp *w, struct lw_sink *out);
/** Prints a character for each lane: * for running, R ready, the register's digit for blocked at a barrier register, Y
 *  yielded, W waiting at a warpsync, C waiting at a CTA barrier, S sleeping, X exited. */
void sm_chars(const struct sm *m, const struct emu_warp *w, char *out);
/** Returns the lanes that are members of the convergence groups of barrier register @reg. */
uint64_t sm_members(const struct emu_warp *w, unsigned reg);
/** Returns the lanes that are blocked at barrier register @reg. */
uint64_t sm_blocked(const struct emu_warp *w, unsigned reg);
int64_t sm_register(const struct sm *m, const char *name, unsigned thread);
int64_t sm_memory(struct sm *m, int64_t address);
/** Prints one line of a trace. */
void sm_trace_line(struct sm *m, const struct emu_warp *w, uint32_t pc, uint64_t lanes,
                   struct lw_sink *out);
/** Prints the lines that follow a trace: hang, totals, memory and registers. */
void sm_finish(struct sm *m, struct lw_sink *out);

#endif
