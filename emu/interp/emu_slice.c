/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time slice: the instructions that a warp executes before the next warp of its block runs. A slice has at most
 * config.warp_quantum instructions (MACHINE 4).
 *
 *                emu_warp_run_slice()                 next warp's slice
 *     engine ----------------------------> in a chain <---------------+
 *       ^                                    |    |                   |
 *       |  fault, breakpoint, hook,          |    | budget used up,   | where core->hand
 *       |  no split ready, warp divided      |    | CTA barrier, exit | allows it
 *       +------------------------------------+    |                   |
 *       |                                         v                   |
 *       +------ else: EMU_LEAVE_SLICE_END --- emu_switch_to_next_warp()
 *
 * A straight-line run, or run, is a sequence of instructions that a warp executes one after another, without a jump. Handlers
 * within a run do not count instructions; the counters are updated only at these points:
 *   in a run        no counter changes; w->run_start is the start of the run
 *   end of a run    emu_count_run(): w->retired, w->lane_retired, w->budget
 *   end of a slice  emu_counts_sync(), or in a direct switch emu_switch_to_next_warp(): the block's and the core's retired;
 *                   w->slice_start
 * At instruction di of a run, the warp has therefore retired w->retired + (di - w->run_start) instructions, and its block has
 * retired block->retired + (w->retired - w->slice_start) + (di - w->run_start).
 *
 * Within a run, handlers do not test whether the budget of the time slice is used up. A branch to a run that is longer than the
 * rest of the budget calls emu_slice_expired(), which puts a slice-end layer (emu_layers_priv.h) on the instruction where the
 * budget ends. The layer removes itself when it is reached. If the warp leaves the handler chain earlier,
 * emu_slice_end_unpatch() removes it. Without the slice-end layer, each slice that ends within a run would return to the engine:
 * the benchmark `gemm` would execute 7.6 % more host instructions, `nbody` 7.9 %, `bfs`, `mandel` and `hist` 1 to 2 %, and
 * `reduce` none.
 */
#include "emu/grid/emu_grid_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/simt/emu_split_priv.h"

/** Starts a time slice of warp @x at instruction @di: jumps to the handler of @di, without a return to the engine. */
static inline void begin_slice(struct emu_warp *x, const struct emu_dinsn *di)
{
    x->core->hand.start = x->slice_start = x->retired;
    x->leave = EMU_RUNNING;
    x->budget = x->core->hand.quantum;
    x->run_start = di;
    EMU_GO(x, di);
}

static __attribute__((noinline)) void begin_slice_with_lanes(struct emu_warp *x,
                                                           const struct emu_dinsn *di)
{
    emu_warp_set_lanes(x, x->split[x->running].lanes);
    begin_slice(x, di);
}

/** Switches to the next warp of @w's block, if the next warp has a single split, which is ready. If the switch is not possible,
 *  the function returns, and the engine selects the next warp. */
static inline void hand_to_next(struct emu_warp *w)
{
    struct emu_core *core = w->core;
    struct emu_block *block = w->block;
    const struct emu_dinsn *di;
    struct emu_split *s;
    unsigned at = w->index + 1;

    w++;
    if (at == block->warp_count) {
        at = 0;
        w = block->warp;
    }
    if (w->split_count != 1 || !emu_split_has_ready(w) || w->parts || w->stepped)
        return;
    s = &w->split[lw_lowest(w->split_ids)];
    di = w->running >= 0 ? w->di : w->code->insn + s->pc;
    if (di->run > core->hand.quantum)
        return;
    core->hand.handed = true;
    block->next_warp = at;
    if (w->running < 0) { /* has the same effect as emu_split_select_soon() */
        w->running = s->id;
        s->since = w->retired;
        w->turn_used = 0;
        w->last_low = lw_lowest(s->lanes);
        w->di = di;
        if (s->lanes != w->m || (s->lanes & emu_exec_mask(w)) != w->mask_lanes ||
            w->e != w->mask_lanes) {
            begin_slice_with_lanes(w, di);
            return;
        }
    }
    begin_slice(w, di);
}

/** Does the same as hand_to_next(), after the first time slice of a block. As the slice that ends may also be the first of the
 *  grid, the function first calls emu_grid_begin(). */
static __attribute__((noinline)) void begin_and_hand(struct emu_warp *w)
{
    emu_grid_begin(w->core->machine, w->block->grid);
    hand_to_next(w);
}

/* Ends the time slice of @w without a return to the engine, and does what the engine would do between two slices (rotate() in
 * emu_engine.c). The engine permits such a direct switch in core->hand if it would do nothing between the slices but select the
 * next warp of the block. */
void emu_switch_to_next_warp(struct emu_warp *w)
{
    struct emu_core *core = w->core;
    struct emu_block *block = w->block;
    const uint64_t count = w->retired - w->slice_start, before = block->retired;

    w->leave = EMU_LEAVE_SLICE_END;
    w->slice_start = w->retired; /* adds the instructions of the time slice to the counts of block and core, as emu_counts_sync()
                                  * does */
    w->run_done = 0;
    block->retired = before + count;
    core->retired += count;
    if (core->retired + core->hand.quantum > core->hand.until || w->stepped ||
        core->hand.launches != core->machine->launch_changes || core->machine->halt)
        return; /* the engine must do something before the next time slice, or a checker has requested a stop */
    if (before != 0)
        hand_to_next(w);
    else if (count != 0)
        begin_and_hand(w);
}

/** Returns true if @w may switch directly to the next warp when its quantum is used up. Three conditions must hold. The engine
 *  allows direct switches. The warp has a single split. The quantum is at most EMU_LONGEST_BUDGET, so that one budget lasts for a
 *  whole time slice. */
static inline bool may_hand_spent(const struct emu_warp *w)
{
#ifdef LW_LOOP
    const bool jumps = false;
#else
    const bool jumps = true; /* handlers jump to the next handler, so they can also jump to a handler of another warp */
#endif

    return jumps && w->core->hand.until != 0 && w->core->hand.quantum <= EMU_LONGEST_BUDGET && w->split_count == 1;
}

/** Handler of the slice-end layer: the last instruction of the time slice has been executed. */
void emu_slice_end_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_code_set_layer(w->code, di->index, EMU_LAYER_SLICE_END, false);
    emu_count_and_keep(w, di);
    w->di = di;
    emu_switch_to_next_warp(w);
}

void emu_slice_expired(struct emu_warp *w, const struct emu_dinsn *t)
{
    if (may_hand_spent(w)) {
        if (w->budget == 0) {
            w->di = t;
            EMU_TAIL emu_switch_to_next_warp(w);
        }
        emu_code_set_layer(w->code, t->index + (uint32_t)w->budget, EMU_LAYER_SLICE_END, true);
        EMU_GO(w, t);
    }
    emu_leave(w, EMU_LEAVE_BUDGET, t);
}

bool emu_slice_end_unpatch(struct emu_warp *w)
{
    struct emu_code *code = w->code;
    const uint64_t at = (uint64_t)(w->run_start - code->insn) + (uint64_t)w->budget;

    if (w->budget <= 0 || at >= code->program->count || !(code->layers[at] & EMU_LAYER_SLICE_END))
        return false;
    emu_code_set_layer(code, (uint32_t)at, EMU_LAYER_SLICE_END, false);
    return true;
}

void emu_split_exit_alone(struct emu_warp *w)
{
    struct emu_block *block = w->block;

    w->running = -1;
    w->split_ids = w->split_in[EMU_SPLIT_READY] = 0;
    w->split_count = 0;
    w->live = 0;
    block->threads_live -= w->m_count;
    block->warps_live--;
    block->progress++;
    if (block->threads_live == 0)
        emu_split_block_ends(block);
    emu_switch_to_next_warp(w);
}
