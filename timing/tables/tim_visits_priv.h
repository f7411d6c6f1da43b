/* SPDX-License-Identifier: Apache-2.0 */
/* The cores that the engine visits in a cycle. */
#ifndef TIM_VISITS_PRIV_H
#define TIM_VISITS_PRIV_H

#include "timing/tim_priv.h"

enum { TIM_VISITS = 64, TIM_VISITS_WORDS = TIM_CORES_MOST / 64 };
/**
 * Sets of cores, as a timing wheel: `always` are the cores that are visited in each cycle, and `wheel` has those of each of the next
 * TIM_VISITS cycles. A core whose cycle is further away is in the set of an earlier cycle. An unnecessary visit changes nothing: an
 * idle core that is visited early is again put into the set of a later cycle.
 */
struct tim_visits {
    uint64_t now; /* the current cycle */
    uint64_t always[TIM_VISITS_WORDS];
    uint64_t wheel[TIM_VISITS_WORDS][TIM_VISITS]; /* [word][cycle % TIM_VISITS] */
};
/** Makes cycle @cycle the next one in which @core is visited; it is visited in every cycle from the current one on if @cycle is not in
 *  the future. */
static inline void tim_visits_set(struct tim_visits *visits, unsigned core, uint64_t cycle)
{
    const uint64_t bit = UINT64_C(1) << core % 64;

    if (cycle <= visits->now) {
        visits->always[core / 64] |= bit;
        return;
    }
    if (cycle - visits->now >= TIM_VISITS)
        cycle = visits->now + TIM_VISITS - 1;
    visits->always[core / 64] &= ~bit;
    visits->wheel[core / 64][cycle % TIM_VISITS] |= bit;
}
/** Returns which of cores 64 * @word to 64 * @word + 63 are visited in the current cycle. */
static inline uint64_t tim_visits_of(const struct tim_visits *visits, unsigned word)
{
    return visits->always[word] | visits->wheel[word][visits->now % TIM_VISITS];
}
/** Ends the current cycle. @words: number of words of a set that are used. */
static inline void tim_visits_next(struct tim_visits *visits, unsigned words)
{
    for (unsigned w = 0; w < words; w++)
        visits->wheel[w][visits->now % TIM_VISITS] = 0;
    visits->now++;
}
/** Makes @now the current cycle, in which no core is visited. @words: as above. */
static inline void tim_visits_clear(struct tim_visits *visits, uint64_t now, unsigned words)
{
    memset(visits->always, 0, words * sizeof visits->always[0]);
    memset(visits->wheel, 0, words * sizeof visits->wheel[0]);
    visits->now = now;
}

#endif
