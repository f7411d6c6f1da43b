/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on history. */
#include "debug/dbg_commands_priv.h"

const struct lw_command_table dbg_commands_history = {NULL, 0, NULL};
