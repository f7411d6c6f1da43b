/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of the counters of stats.def, an enumeration for each scope: TIM_CORE_l1_hits ..., and of
 * its histograms: TIM_CORE_H_load_latency ... */
#ifndef TIM_COUNTS_PRIV_H
#define TIM_COUNTS_PRIV_H

enum {
#define SCHED(name, unit, help) TIM_SCHED_##name,
#include "timing/stats.def"
    TIM_SCHED_COUNT
};
enum {
#define CORE(name, unit, help) TIM_CORE_##name,
#include "timing/stats.def"
    TIM_CORE_COUNT
};
enum {
#define SLICE(name, unit, help) TIM_SLICE_##name,
#include "timing/stats.def"
    TIM_SLICE_COUNT
};
enum {
#define CHANNEL(name, unit, help) TIM_CHANNEL_##name,
#include "timing/stats.def"
    TIM_CHANNEL_COUNT
};
enum {
#define GPU(name, unit, help) TIM_GPU_##name,
#include "timing/stats.def"
    TIM_GPU_COUNT
};
enum {
#define CORE_HISTOGRAM(name, unit, help) TIM_CORE_H_##name,
#include "timing/stats.def"
    TIM_CORE_H_COUNT
};
enum {
#define SLICE_HISTOGRAM(name, unit, help) TIM_SLICE_H_##name,
#include "timing/stats.def"
    TIM_SLICE_H_COUNT
};
enum {
#define CHANNEL_HISTOGRAM(name, unit, help) TIM_CHANNEL_H_##name,
#include "timing/stats.def"
    TIM_CHANNEL_H_COUNT
};

#endif
