/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a cycle for cores with a scoreboard and operand collectors, and a mechanism that acts in each cycle. */
#include "timing/kinds/tim_cycle_body.h"

static const struct tim_kind tim_kind = {.fixed = true, .operand_check = TIM_CHECK_REGISTERS,
                                         .dependence = TIM_DEP_SCOREBOARD, .collector = TIM_COLLECTOR_TICKED, .acts = true};

const struct tim_cycle tim_cycle_scoreboard_acts = {tim_core_begin, tim_core_issue, tim_core_end};
