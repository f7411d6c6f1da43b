/* SPDX-License-Identifier: Apache-2.0 */
/* What a core has beyond others where registers.collector is window, or lsu.local is set. */
#ifndef TIM_MODERN_PRIV_H
#define TIM_MODERN_PRIV_H

#include <stdint.h>

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

#endif
