/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that both models call before and after the phases of a cycle: they count ticks and warps, and end blocks. */

static inline void begin_tick(struct tim_core *core, uint64_t now)
{
    core->now = core->mechs.core.now = now;
    memset(core->each, 0, sizeof core->each);
    core->ticking = true;
    core->moved = core->poked;
    core->poked = core->no_capacity = false;
}

static inline void end_tick(struct tim_core *core, uint64_t now)
{
    core->counted = now;
    core->ticking = false;
    for (unsigned i = 0; i < TIM_IDLE_COUNTS; i++)
        core->sums[i] += core->each[i];
}

/** Called at the end of a tick. Sets the amounts that this cycle and each later cycle add to the counters of enum tim_lasting. */
static inline void tim_core_last(struct tim_core *core, unsigned warps, unsigned at_barrier, uint64_t now)
{
    const unsigned *lasting = core->lasting;

    core->recount = false;
    if (lasting[TIM_LASTS_ACTIVE] != (core->blocks != 0) || lasting[TIM_LASTS_WARPS] != warps ||
        lasting[TIM_LASTS_BARRIER] != at_barrier)
        tim_core_last_on(core, warps, at_barrier, now);
}

/** Returns whether the warp has no instructions and no accesses in flight. Once this is true for an ended warp, it remains
 *  true. */
static bool is_idle(const struct tim_core *core, const struct tim_block *block, unsigned k)
{
    const struct tim_warp *w = &core->warp[block->warp_slot[k]];

    return w->in_flight == 0 && w->writes_out == 0;
}

static void end_block(struct tim_core *core, unsigned b)
{
    struct tim_block *block = &core->block[b];

    core->hot.over &= ~(UINT64_C(1) << b);
    core->stats->count[TIM_CORE_blocks]++;
    tim_core_unseat(core, b);
    core->ended(core->context, core, block);
    emu_core_block_free(core->emu, block->slot);
}

/** Visits each warp to count live warps and warps at barriers, and to record the states of warps in the trace. Used by the
 *  reference, and while the trace's window is open. */
static __attribute__((noinline)) void count_warps(struct tim_core *core, uint64_t now)
{
    unsigned live = 0, at_barrier = 0;

    for (unsigned w = 0; w < core->config->core_warps; w++) {
        const struct tim_warp *warp = &core->warp[w];
        if (tim_traces(core) && warp->reason != TIM_STALL_ISSUED) {
            const struct tim_code *code = warp->used ? warp->code : NULL;
            const struct isa_insn *insn =
                code == NULL || warp->split < 0 ? NULL : emu_program_insn(code->program, warp->pc);
            tim_trace_warp(core->trace, now + core->lag, core->index, w, (enum tim_stall)warp->reason, insn,
                           warp->pc, warp->split_lanes);
        }
        if (!warp->used)
            continue;
        live += !warp->ended;
        at_barrier += !warp->ended && warp->split < 0 && warp->waits == TIM_STALL_BARRIER;
    }
    tim_core_last(core, live, at_barrier, now);
}
