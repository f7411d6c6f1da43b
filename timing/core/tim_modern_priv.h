/* SPDX-License-Identifier: Apache-2.0 */
/* State for optional features of cores: registers.collector window, lsu.local, lsu.separate, issue.dependence
 * counters, caches that cores share, replays, and suspended blocks. */
#ifndef TIM_MODERN_PRIV_H
#define TIM_MODERN_PRIV_H

#include "timing/decode/tim_static_priv.h"

/** Collector `window`: reservations of a scheduler's banks, indexed by cycle modulo TIM_WINDOW_CYCLES. Reservations
 *  lie at most that many cycles ahead. */
enum { TIM_WINDOW_CYCLES = 128, TIM_MAX_BANKS = 64, TIM_RFC_OPERANDS = 3 };
struct tim_reserved {
    uint64_t cycle;
    unsigned count;
};
struct tim_window_bank {
    struct tim_reserved read[TIM_WINDOW_CYCLES];
    uint64_t write[TIM_WINDOW_CYCLES]; /* the cycle, if the write port is reserved in it */
    uint64_t cell[TIM_RFC_OPERANDS];     /* contents of the register-file cache */
};
struct tim_window {
    uint64_t control_at; /* first cycle in which an instruction can issue with Control empty */
    uint64_t left_at;    /* cycle in which the last instruction leaves Allocate */
    uint64_t held[TIM_WINDOW_CYCLES];  /* the cycle, if Allocate holds an instruction in it */
    struct tim_window_bank *bank;      /* [registers_banks] */
};

/** lsu.local: the memory instructions in the unit of a scheduler. */
enum { TIM_LOCAL_MOST = 16 };
struct tim_local {
    uint64_t ready_at; /* cycle in which the address of the first op is calculated; 0: not known */
    uint64_t left_at;  /* cycle in which the last op left the unit */
    unsigned count;
    uint32_t op[TIM_LOCAL_MOST]; /* ops in issue order */
};

/** lsu.separate: the queue of shared memory, and the queue of scalar loads. */
enum { TIM_SIDES = 2 };
struct tim_side {
    uint32_t *queue;  /* [lsu_queue] ops in issue order */
    unsigned queued;
    unsigned used;    /* number of instructions that have issued and have not passed the queue */
    uint64_t head_at; /* queued != 0: the cycle from which on the head is in the queue */
};

/** issue.dependence counters: memory instructions of a warp that one counter counts in issue order. */
enum { TIM_COUNT_MOST = 64 };
struct tim_counted_ops {
    uint32_t first, next; /* numbers of the oldest counted instruction and of the next to issue */
    uint64_t over;        /* by number modulo 64: the instruction is complete, except that its writes may be in flight */
    uint16_t writes[TIM_COUNT_MOST]; /* number of unanswered packets of each instruction */
    const struct tim_static *what[TIM_COUNT_MOST];
};
/** Wait counters of a warp. `vm` is vmcnt and `exp` is expcnt. `shared` and `scalar` are both counted in lgkmcnt. */
struct tim_counters {
    struct tim_counted_ops vm, shared, exp;
    unsigned scalar; /* number of scalar loads under way */
    bool mixed;      /* a scalar load issued since lgkmcnt was 0, so only lgkmcnt 0 proves that a result is available */
    struct tim_registers held; /* registers whose results have arrived, but that are free only at lgkmcnt 0 */
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
    struct tim_core **core; /* all cores that share the cache; NULL: the core has its own */
    unsigned count;
    unsigned requested;  /* number of lines that this core has requested; their addresses are in `line` */
    uint64_t line[64];
};

struct tim_core;
struct tim_suspended;
/* ---- lsu.replay: buffer ---- */
/** Adds op @op, which has accesses left but none in the queue. */
void tim_replay_add(struct tim_core *core, uint32_t op, uint64_t now);
/** Returns whether a replay takes scheduler @s's slots of this cycle. If so, the replay is counted. */
bool tim_replay_issue(struct tim_core *core, unsigned s, uint64_t now);
/** Adds the replays that have returned to the queue. */
void tim_replay_tick(struct tim_core *core, uint64_t now);

/* ---- blocks that wait for launches (tim_suspend.c) ---- */

/** Returns whether the memory for suspended blocks of @grid's nesting level is used up. It holds the state of
 *  core.blocks blocks per level, resident blocks included. */
bool tim_core_level_full(const struct tim_core *core, const struct emu_grid *grid);
/** Returns whether two blocks of @grid would fit on the core now or, if @empty is set, on the core without any other
 *  blocks. */
bool tim_core_fits_pair(const struct tim_core *core, const struct emu_grid *grid, bool empty);
/** Brings back the suspended block in emu's @slot; it must fit. */
void tim_core_resume(struct tim_core *core, unsigned slot);
/** Returns whether the launches for which the block waited are complete. */
bool tim_suspended_can_run(const struct tim_core *core, const struct tim_suspended *block);
/** Suspends blocks of which nothing can run before a launch is complete. Sends or requests a line of state per
 *  cycle, and lets blocks that have returned continue. */
void tim_suspend_tick(struct tim_core *core, uint64_t now);

/** Direction of a state transfer of a block. During the transfer its warps do nothing. */
enum tim_moving { TIM_MOVES_NOT, TIM_MOVES_OUT, TIM_MOVES_IN };
struct tim_block {
    bool used;
    uint8_t moving;      /* enum tim_moving */
    uint64_t lines_left; /* lines still to send or request */
    uint64_t lines_out;  /* number of lines not answered */
    uint64_t line;       /* address of the next line */
    unsigned slot;       /* slot of the block in emu */
    struct emu_grid *grid;
    uint64_t linear;
    unsigned warps, ended;
    unsigned idle;       /* when all warps have ended: number of first warps known to have nothing in flight */
    unsigned registers, shared_bytes, local_bytes, threads;
    uint16_t *warp_slot; /* [warp of the block] warp slot */
    uint64_t progress; /* 1 + value of emu_core_progress() at the last check */
};

/** A block that waits for launches and has left its core; emu holds its state. */
struct tim_suspended {
    struct emu_grid *grid;
    uint64_t linear;
    const struct tim_code *code;
    unsigned slot;  /* slot of the block in emu */
    bool called;    /* the block can continue, and kernel management has been notified */
};

/** A memory instruction that has accesses left. */
struct tim_replay {
    uint32_t op;
    uint64_t at;  /* first cycle in which it may take a slot or, if issued, is back in the queue */
    bool issued;
};

#endif
