/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture for tests of timing/: a GPU model in which each key has its default, and a random number generator. */
#ifndef TIM_FIXTURE_H
#define TIM_FIXTURE_H

#include "timing/tim_priv.h"

static inline struct tim_config tim_fix_config(void)
{
    return (struct tim_config){
        .name = "defaults",
#define NUMBER(section, key, value, low, high, unit, help) .section##_##key = (value),
#define SWITCH(section, key, value, help) .section##_##key = (value),
#define CHOICE(section, key, value, names, help) .section##_##key = (value),
#include "timing/keys.def"
    };
}

/** A small random number generator with the same results on every host. */
static inline uint64_t tim_fix_random(uint64_t *seed)
{
    uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
/** Return a random number from @low to @high, both included. */
static inline unsigned tim_fix_between(uint64_t *seed, unsigned low, unsigned high)
{
    return low + (unsigned)(tim_fix_random(seed) % (high - low + 1));
}

#endif
