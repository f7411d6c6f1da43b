/* SPDX-License-Identifier: Apache-2.0 */
/* What a core has beyond others where registers.collector is window, or lsu.local is set; replays, and blocks that leave it. */
#ifndef TIM_MODERN_PRIV_H
#define TIM_MODERN_PRIV_H

#include "timing/tim_priv.h"

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

#endif
