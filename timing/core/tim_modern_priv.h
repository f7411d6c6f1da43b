/* SPDX-License-Identifier: Apache-2.0 */
/* What a core has beyond others: registers.collector window, lsu.local, lsu.separate, issue.dependence counters,
 * caches that cores
 * share, replays, and blocks that leave it. */
#ifndef TIM_MODERN_PRIV_H
#define TIM_MODERN_PRIV_H

#include "timing/decode/tim_static_priv.h"

/** window: what is reserved of a scheduler's banks, by cycle mod TIM_WINDOW_CYCLES; none reserves further ahead. */
enum { TIM_WINDOW_CYCLES = 128, TIM_MAX_BANKS = 64, TIM_RFC_OPERANDS = 3 };
struct tim_reserved {
    uint64_t cycle;
    unsigned count;
};
struct tim_window_bank {
    struct tim_reserved read[TIM_WINDOW_CYCLES];
    uint64_t write[TIM_WINDOW_CYCLES]; /* the cycle, if its write port is taken in it */
    uint64_t cell[TIM_RFC_OPERANDS];     /* the register-file cache's */
};
struct tim_window {
    uint64_t control_at; /* Control is empty for what issues from this cycle on */
    uint64_t left_at;    /* the last instruction leaves Allocate */
    uint64_t held[TIM_WINDOW_CYCLES];  /* the cycle, if Allocate holds in it */
    struct tim_window_bank *bank;      /* [registers_banks] */
};

/** lsu.local: the memory instructions of a scheduler that have not left its unit. */
enum { TIM_LOCAL_MOST = 16 };
struct tim_local {
    uint64_t ready_at; /* the address of the first is there; 0: it is not calculated yet */
    uint64_t left_at;  /* the last one left */
    unsigned count;
    uint32_t op[TIM_LOCAL_MOST]; /* in order */
};

/** lsu.separate: the queue of shared memory, and that of scalar loads. */
enum { TIM_SIDES = 2 };
struct tim_side {
    uint32_t *queue;  /* [lsu_queue] ops in order */
    unsigned queued;
    unsigned used;    /* issued and not through it */
    uint64_t head_at; /* queued: cycle from which on the first is in it */
};

/** counters: memory instructions of a warp that are counted off in the order of their issue. */
enum { TIM_COUNT_MOST = 64 };
struct tim_counted_ops {
    uint32_t first, next; /* numbers: of the oldest that counts, of the next to be issued */
    uint64_t over;        /* by number mod 64: nothing of it is under way but, perhaps, writes */
    uint16_t writes[TIM_COUNT_MOST]; /* packets that are not answered */
    const struct tim_static *what[TIM_COUNT_MOST];
};
/** The counters of a warp. vmcnt: those of vm; expcnt: of exp; lgkmcnt: of shared, and scalar. */
struct tim_counters {
    struct tim_counted_ops vm, shared, exp;
    unsigned scalar; /* scalar loads under way */
    bool mixed;      /* there was one since lgkmcnt was 0: only that it is 0 says what is over. Then */
    struct tim_registers held; /* these, whose results are there, are free at 0 */
};
static inline unsigned tim_count_of(const struct tim_counted_ops *ops)
{
    return ops->next - ops->first;
}
static inline unsigned tim_lgkm_of(const struct tim_counters *c)
{
    return tim_count_of(&c->shared) + c->scalar;
}

/** fetch.shared, constant.shared: a cache of several cores. */
enum tim_sharing_of { TIM_SHARES_CODE, TIM_SHARES_CONSTANTS, TIM_SHARES };
struct tim_sharing {
    struct tim_core **core; /* all that share it; NULL: it is the core's own */
    unsigned count;
    unsigned requested;  /* lines under way, by this core: */
    uint64_t line[64];
};

struct tim_core;
struct tim_suspended;
/* ---- lsu.replay: buffer ---- */
/** Operation @op has accesses left, and nothing of it stays in the queue. */
void tim_replay_add(struct tim_core *core, uint32_t op, uint64_t now);
/** Does a replay take scheduler @s's slots of this cycle? Then it is counted. */
bool tim_replay_issue(struct tim_core *core, unsigned s, uint64_t now);
/** Replays that are back join the queue. */
void tim_replay_tick(struct tim_core *core, uint64_t now);

/* ---- blocks that wait for launches (tim_suspend.c) ---- */

/** There is memory for the state of core.blocks blocks of each level of nesting, those on the core
 *  counted: is that of @grid's level all taken? */
bool tim_core_level_full(const struct tim_core *core, const struct emu_grid *grid);
/** The suspended block in emu's @slot comes back; it has room. */
void tim_core_resume(struct tim_core *core, unsigned slot);
/** What it waited for is complete. */
bool tim_suspended_can_run(const struct tim_core *core, const struct tim_suspended *block);
/** Blocks of which nothing can run before a launch is complete leave; a line of state a cycle goes
 *  out or is requested; blocks that have returned continue. */
void tim_suspend_tick(struct tim_core *core, uint64_t now);

/** Is the state of a block on its way? Until it is over, its warps do nothing. */
enum tim_moving { TIM_MOVES_NOT, TIM_MOVES_OUT, TIM_MOVES_IN };
struct tim_block {
    bool used;
    uint8_t moving;      /* enum tim_moving: */
    uint64_t lines_left; /* to be sent, or requested */
    uint64_t lines_out;  /* not answered */
    uint64_t line;       /* the next one's address */
    unsigned slot;       /* emu's */
    struct emu_grid *grid;
    uint64_t linear;
    unsigned warps, ended;
    unsigned idle;       /* when all have ended: the first of them have nothing under way */
    unsigned registers, shared_bytes, local_bytes, threads;
    uint16_t *warp_slot; /* [warp of the block] */
    uint64_t progress; /* 1 + emu_core_progress() at the last look */
};

/** A block that waits for launches elsewhere: emu has its state, the core has no more of it. */
struct tim_suspended {
    struct emu_grid *grid;
    uint64_t linear;
    const struct tim_code *code;
    unsigned slot;  /* emu's */
    bool called;    /* it can continue, and the kernel management knows */
};

/** A memory instruction that has accesses left. */
struct tim_replay {
    uint32_t op;
    uint64_t at;  /* it may take a slot, or (issued) is back in the queue, from this cycle on */
    bool issued;
};

#endif
