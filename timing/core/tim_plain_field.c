/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of cores with the control field, and operands that are read at issue. */
#define TIM_SPEC_KIND field
#define TIM_SPEC_LOOKS TIM_LOOKS_BARS
#define TIM_SPEC_DEPENDENCE TIM_DEP_CONTROL
#define TIM_SPEC_COLLECTOR TIM_COLLECTOR_RESERVED
#include "timing/core/tim_plain_body.h"
