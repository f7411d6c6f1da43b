/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public interface of emu/: one header for each subject. emu executes kernels, and does not model cycles.
 *
 * A machine has memory, programs and grids. A core has resident blocks and their warps. An engine chooses which warp executes
 * next. Only an engine starts, steps and frees blocks (MACHINE 5).
 */
#ifndef EMU_H
#define EMU_H

#include "emu/emu_machine.h"
#include "emu/emu_program.h"
#include "emu/emu_memory.h"
#include "emu/emu_grid.h"
#include "emu/emu_predict.h"
#include "emu/emu_fault.h"
#include "emu/emu_event.h"
#include "emu/emu_core.h"
#include "emu/emu_hooks.h"
#include "emu/emu_engine.h"
#include "emu/emu_stats.h"
#include "emu/emu_state_view.h"
#include "emu/emu_history.h"

#endif
