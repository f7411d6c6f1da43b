/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes of the counters and histograms of stats.def. Each scope has an enumeration of its counters, such as
 * TIM_CORE_l1_hits, and may have one of its histograms, such as TIM_CORE_H_load_latency. */
#ifndef TIM_COUNTS_PRIV_H
#define TIM_COUNTS_PRIV_H

#include "timing/stats.def"

#define TIM_INDEX(scope, name, unit, help) TIM_##scope##_##name,
enum { TIM_STATS_SCHED(TIM_INDEX) TIM_SCHED_COUNT };
enum { TIM_STATS_CORE(TIM_INDEX) TIM_CORE_COUNT };
enum { TIM_STATS_SLICE(TIM_INDEX) TIM_SLICE_COUNT };
enum { TIM_STATS_CHANNEL(TIM_INDEX) TIM_CHANNEL_COUNT };
enum { TIM_STATS_GPU(TIM_INDEX) TIM_GPU_COUNT };
enum { TIM_STATS_CORE_H(TIM_INDEX) TIM_CORE_H_COUNT };
enum { TIM_STATS_SLICE_H(TIM_INDEX) TIM_SLICE_H_COUNT };
enum { TIM_STATS_CHANNEL_H(TIM_INDEX) TIM_CHANNEL_H_COUNT };

#endif
