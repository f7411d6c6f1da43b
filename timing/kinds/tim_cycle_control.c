/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a cycle for cores with the control field and collector `reserved`. */
#include "timing/kinds/tim_cycle_body.h"

static const struct tim_kind tim_kind = {.fixed = true, .operand_check = TIM_CHECK_BARRIERS,
                                         .dependence = TIM_DEP_CONTROL, .collector = TIM_COLLECTOR_RESERVED};

const struct tim_cycle tim_cycle_control = {tim_core_begin, tim_core_issue, tim_core_end};
