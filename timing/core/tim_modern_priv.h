/* SPDX-License-Identifier: Apache-2.0 */
/* State for optional features of cores: registers.collector window, lsu.local, lsu.separate, issue.dependence
 * counters, caches that cores share, replays, and suspended blocks. */
#ifndef TIM_MODERN_PRIV_H
#define TIM_MODERN_PRIV_H

#include "timing/decode/tim_static_priv.h"

/** Collector `window`: reservations of ports of a scheduler's banks. The arrays are indexed by cycle modulo
 *  TIM_WINDOW_CYCLES, because no reservation is further in the future than TIM_WINDOW_CYCLES cycles. */
enum { TIM_WINDOW_CYCLES = 128, TIM_MAX_BANKS = 64, TIM_RFC_OPERANDS = 3 };
struct tim_reserved {
    uint64_t cycle; /* cycle that the element describes now */
    unsigned count; /* number of reads that are reserved in this cycle */
};
struct tim_window_bank {
    struct tim_reserved read[TIM_WINDOW_CYCLES];
    uint64_t write[TIM_WINDOW_CYCLES]; /* the write port is reserved in cycle c if write[c % TIM_WINDOW_CYCLES] == c */
    uint64_t cell[TIM_RFC_OPERANDS];     /* register-file cache of the bank, by operand position: value of cell_of() for a
                                          * register, or 0 */
};
struct tim_window {
    uint64_t control_at; /* first cycle in which the scheduler may issue, because stage Control is free in the following
                          * cycle */
    uint64_t left_at;    /* cycle in which the youngest instruction leaves Allocate */
    uint64_t held[TIM_WINDOW_CYCLES];  /* Allocate holds an instruction in cycle c if held[c % TIM_WINDOW_CYCLES] == c */
    struct tim_window_bank *bank;      /* [registers_banks] */
};

/** lsu.local: the memory instructions in the memory unit of a scheduler. */
enum { TIM_LOCAL_MOST = 16 };
struct tim_local {
    uint64_t ready_at; /* cycle from which on the address of op[0] is available, or 0 before its calculation begins */
    uint64_t left_at;  /* cycle in which an op last left the unit */
    unsigned count;
    uint32_t op[TIM_LOCAL_MOST]; /* ops in issue order */
};

/** lsu.separate: one of two queues, for shared memory (index 0) or for scalar loads (index 1). */
enum { TIM_SIDES = 2 };
struct tim_side {
    uint32_t *queue;  /* [lsu_queue] ops in issue order */
    unsigned queued;  /* instructions in `queue`, including those that have issued and not reached it yet */
    unsigned used;    /* number of instructions that have issued for this queue and have not left it */
    uint64_t head_at; /* if queued is not 0: cycle in which the first instruction reaches the queue */
};

/** issue.dependence counters: the memory instructions of a warp that one wait counter counts, in issue order. They are
 *  numbered consecutively; the arrays are indexed by number modulo TIM_COUNT_MOST. */
enum { TIM_COUNT_MOST = 64 };
struct tim_counted_ops {
    uint32_t first, next; /* number of the oldest instruction that is still counted, and of the next one to issue */
    uint64_t over;        /* set of completed instructions, whose writes may still be unanswered */
    uint16_t writes[TIM_COUNT_MOST]; /* number of unanswered write packets of each instruction */
    const struct tim_static *what[TIM_COUNT_MOST];
};
/** Wait counters of a warp. `vm` is vmcnt and `exp` is expcnt; lgkmcnt counts both `shared` and `scalar`. */
struct tim_counters {
    struct tim_counted_ops vm, shared, exp;
    unsigned scalar; /* number of scalar loads that have issued and not returned */
    bool mixed;      /* a scalar load has issued since lgkmcnt was 0. As scalar loads return in any order, only lgkmcnt 0
                      * proves that a result is available */
    struct tim_registers held; /* registers whose results have arrived, but which dependent instructions may not use before
                                * lgkmcnt is 0 */
};
static inline unsigned tim_count_of(const struct tim_counted_ops *ops)
{
    return ops->next - ops->first;
}
static inline unsigned tim_lgkm_of(const struct tim_counters *c)
{
    return tim_count_of(&c->shared) + c->scalar;
}

/** fetch.shared, constant.shared: a cache that several cores share. */
enum tim_sharing_of { TIM_SHARES_CODE, TIM_SHARES_CONSTANTS, TIM_SHARES };
struct tim_sharing {
    struct tim_core **core; /* all cores that share the cache, or NULL if the core has its own cache */
    unsigned count;
    unsigned requested;  /* number of outstanding lines that this core has requested; `line` has their addresses */
    uint64_t line[64];
};

struct tim_core;
struct tim_suspended;
/* ---- lsu.replay: buffer ---- */
/** Makes @op, which has accesses left, wait for an issue slot. The caller removes @op from the load/store queue. */
void tim_replay_add(struct tim_core *core, uint32_t op, uint64_t now);
/** If a replay of scheduler @s waits, lets it take all slots of the scheduler in this cycle, and returns true. */
bool tim_replay_issue(struct tim_core *core, unsigned s, uint64_t now);
/** Adds the replays that have issued, and whose cycle of return (`at`) is reached, to the end of the load/store queue. */
void tim_replay_tick(struct tim_core *core, uint64_t now);

/* ---- blocks that wait for launches (tim_suspend.c) ---- */

/** Returns whether no more blocks of @grid's nesting level may be placed on the core, because the memory for suspended
 *  blocks of this level is used up. The memory has space for core.blocks blocks per level. Resident blocks of the level
 *  count as if they were suspended. */
bool tim_core_level_full(const struct tim_core *core, const struct emu_grid *grid);
/** Returns whether two blocks of @grid fit on the core now or, if @empty is set, would fit if the core were empty. */
bool tim_core_fits_pair(const struct tim_core *core, const struct emu_grid *grid, bool empty);
/** Starts to bring the suspended block with slot @slot in emu back to the core; the block must fit. */
void tim_core_resume(struct tim_core *core, unsigned slot);
/** Returns whether some split of the suspended block can run, because the launches for which it waited are complete. */
bool tim_suspended_can_run(const struct tim_core *core, const struct tim_suspended *block);
/** Suspends blocks in which no warp can run before a launch is complete. Sends or requests one line of state per
 *  cycle. Continues each block whose state has returned. */
void tim_suspend_tick(struct tim_core *core, uint64_t now);

/** Direction in which the state of a block is transferred. During the transfer the warps of the block do nothing. */
enum tim_moving { TIM_MOVES_NOT, TIM_MOVES_OUT, TIM_MOVES_IN };
struct tim_block {
    bool used;
    uint8_t moving;      /* enum tim_moving */
    uint64_t lines_left; /* state transfer: number of lines still to send or request */
    uint64_t lines_out;  /* state transfer: number of unanswered lines */
    uint64_t line;       /* state transfer: address of the next line */
    unsigned slot;       /* slot of the block in emu */
    struct emu_grid *grid;
    uint64_t linear;
    unsigned warps, ended; /* number of warps, and number of ended warps */
    unsigned idle;       /* when all warps have ended: warps 0 to idle - 1 have nothing in flight */
    unsigned registers, shared_bytes, local_bytes, threads;
    uint16_t *warp_slot; /* [warp of the block] warp slot */
    uint64_t progress; /* 1 + value of emu_core_progress() at the last check of tim_engine_spins() */
};

/** A block that waits for launches and has left its core; emu holds its state. */
struct tim_suspended {
    struct emu_grid *grid;
    uint64_t linear;
    const struct tim_code *code;
    unsigned slot;  /* slot of the block in emu */
    bool called;    /* the block can continue, and waits in the queue of kernel management to be placed again */
};

/** A memory instruction that has left the load/store queue with accesses still to make. */
struct tim_replay {
    uint32_t op;
    uint64_t at;  /* not issued: first cycle in which the op may take a slot; issued: cycle of its return to the queue */
    bool issued;  /* the op has taken an issue slot again, for its replay */
};

#endif
