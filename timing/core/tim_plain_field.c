/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of cores with the control field, and operands that are read at issue. */
#define TIM_PLAIN_KIND field
#define TIM_PLAIN_LOOKS TIM_LOOKS_BARS
#define TIM_PLAIN_DEPENDENCE TIM_DEP_CONTROL
#define TIM_PLAIN_COLLECTOR TIM_COLLECTOR_RESERVED
#include "timing/core/tim_plain_body.h"
