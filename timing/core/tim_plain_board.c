/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of cores with a scoreboard and operand collectors. */
#define TIM_SPEC_KIND board
#define TIM_SPEC_LOOKS TIM_LOOKS_REGISTERS
#define TIM_SPEC_DEPENDENCE TIM_DEP_SCOREBOARD
#define TIM_SPEC_COLLECTOR TIM_COLLECTOR_TICKED
#include "timing/core/tim_plain_body.h"
