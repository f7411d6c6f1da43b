/* SPDX-License-Identifier: Apache-2.0 */
/* The energy estimate: for each event, the number of events times its energy in timing/energy/energy.def. */
#ifndef TIM_ENERGY_PRIV_H
#define TIM_ENERGY_PRIV_H

#include "timing/tim_priv.h"

/** Class of an instruction, which determines the energy of one of its lanes. Counter TIM_SCHED_lanes_int + class counts
 *  the lanes of the class. */
enum tim_work {
#define WORK(name, fj, help) TIM_WORK_##name,
#include "timing/energy/energy.def"
    TIM_WORK_COUNT
};
enum tim_component {
#define COMPONENT(id, name, help) TIM_COMPONENT_##id,
#include "timing/energy/energy.def"
    TIM_COMPONENT_COUNT
};
extern const struct tim_counter tim_components[TIM_COMPONENT_COUNT]; /* unit: J */

struct tim_energy {
    double seconds;                         /* time of the GPU */
    double joules, watts;                   /* sum of all components; watts is 0 if no time has passed */
    double component[TIM_COMPONENT_COUNT];  /* J */
    double gated; /* in J: energy that power gating of cores in occupancy bubbles would save, which is the static and clock
                   * energy of these cores at the high voltage */
};

/** Returns the class of an instruction, from its unit and its operation. */
enum tim_work tim_work_of(const struct isa_insn *insn);
/** Returns dvfs.low_mv / dvfs.high_mv to the power of @power. */
double tim_energy_at_low(const struct tim_config *config, unsigned power);
/** Computes the energy estimate for the counts @sums on the model @config. */
void tim_energy_of(const struct tim_sums *sums, const struct tim_config *config, struct tim_energy *out);

#endif
