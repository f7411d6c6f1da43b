/* SPDX-License-Identifier: Apache-2.0 */
/* Explains why a warp does not issue now: its stall reason, and the instruction or event for which it waits. */
#include "timing/tim_engine_priv.h"

#include <inttypes.h>

/** Returns the oldest instruction in flight that writes a source or result of the warp's next instruction, or NULL if none. */
static const struct tim_op *blocker(const struct tim_core *core, unsigned warp)
{
    const struct tim_warp *w = &core->warp[warp];
    const struct tim_static *what = tim_head(w);

    for (const struct tim_op *op = tim_op_after(core, 0); op != NULL;
         op = tim_op_after(core, op->age)) {
        if (op->warp != warp)
            continue;
        for (unsigned i = 0; i < op->what->write_count; i++) {
            for (unsigned k = 0; k < what->read_count; k++)
                if (what->read[k] == op->what->write[i])
                    return op;
            for (unsigned k = 0; k < what->write_count; k++)
                if (what->write[k] == op->what->write[i])
                    return op;
        }
    }
    return NULL;
}

/** Returns the oldest instruction of the warp whose source operands key issue.war protects against later writes, or NULL if
 *  there is none. */
static const struct tim_op *overtaken(const struct tim_core *core, unsigned warp)
{
    for (const struct tim_op *op = tim_op_after(core, 0); op != NULL;
         op = tim_op_after(core, op->age))
        if (op->warp == warp && (op->operands != 0 || core->config->issue_war == TIM_WAR_COMMIT))
            return op;
    return NULL;
}

static void print_insn(const struct tim_warp *w, uint64_t pc, struct lw_sink *out)
{
    const struct isa_insn *insn = emu_program_insn(w->code->program, pc);

    lw_printf(out, "0x%" PRIx64 ": ", pc);
    if (insn != NULL)
        isa_insn_print(insn, pc, NULL, NULL, out);
}

static void print_cycles(uint64_t cycles, struct lw_sink *out)
{
    lw_printf(out, "\nthe warp waits for %" PRIu64 " more cycle%s", cycles, cycles == 1 ? "" : "s");
}

/** Prints the stage of an instruction in flight. */
static void print_stage(const struct tim_config *config, const struct tim_op *op, uint64_t now, struct lw_sink *out)
{
    switch (op->stage) {
    case TIM_STAGE_COLLECT:
        lw_printf(out, "in its operand collector, with %u unread operands", lw_popcount(op->operands));
        if (now <= op->issued + tim_wake_cycles(config, op->what) + op->late)
            lw_put(out, op->late != 0 ? ", whose register rows are slow or wake" : ", whose register rows wake");
        break;
    case TIM_STAGE_READY:
        lw_put(out, "in its operand collector, because its pipe is busy");
        break;
    case TIM_STAGE_PIPE:
        lw_printf(out, "in its pipe for %" PRIu64 " more cycles", op->at > now ? op->at - now : 0);
        break;
    case TIM_STAGE_LOCAL:
        lw_put(out, "in the memory unit of its scheduler");
        break;
    case TIM_STAGE_LSU:
        if (op->passes != 0)
            lw_printf(out, "in the load/store unit, with %u remaining passes over shared memory",
                      op->passes);
        else
            lw_printf(out, "in the load/store unit, %u of %u lines requested", op->line_next,
                      op->line_count);
        break;
    case TIM_STAGE_MEMORY:
        lw_printf(out, "waits for %u of %u lines", op->lines_pending, op->line_count);
        break;
    case TIM_STAGE_COMPANION:
        lw_put(out, "in the same stage as the instruction of the warp with which it issued");
        break;
    default:
        lw_put(out, "writes its result");
        break;
    }
    lw_printf(out, "; issued %" PRIu64 " cycles ago", now - op->issued);
}

/** Prints @op, an instruction in flight for which the warp waits. */
static void print_op(const struct tim_config *config, const struct tim_warp *w, const struct tim_op *op, uint64_t now,
                     struct lw_sink *out)
{
    lw_put(out, "\nfor: ");
    print_insn(w, op->pc, out);
    lw_put(out, "\n     ");
    print_stage(config, op, now, out);
}

/** Prints why the control field makes the warp wait: a stall count, or dependence barriers, each with the instructions
 *  that it still counts, the oldest first. Returns false if the control field does not make the warp wait. */
static bool print_control(const struct tim_core *core, unsigned warp, uint64_t now,
                          struct lw_sink *out)
{
    enum { MOST = 4 }; /* maximum number of instructions shown per barrier */
    const struct tim_warp *w = &core->warp[warp];
    unsigned waits = tim_bars_waited(core, w, tim_head(w), now);

    if (w->not_before > now) {
        print_cycles(w->not_before - now, out);
        return true;
    }
    for (LW_EACH_BIT(b, (uint64_t)waits)) {
        unsigned shown = 0;

        lw_printf(out, "\ndependence barrier %u: count is %u", (unsigned)b, w->bar[b]);
        for (const struct tim_op *op = tim_op_after(core, 0); op != NULL;
             op = tim_op_after(core, op->age)) {
            if (op->warp != warp || (op->write_bar != b && op->read_bar != b) || shown++ >= MOST)
                continue;
            print_op(core->config, w, op, now, out);
            if (op->write_bar != b) /* the barrier counts the operand reads of `op`, not its result */
                lw_put(out, "; not all of its operands have been read");
        }
        if (shown > MOST)
            lw_printf(out, "\nand %u younger instructions", shown - MOST);
    }
    return waits != 0;
}

/** Prints why a warp waits although its next instruction is in its buffer. */
static void print_wait(const struct tim_core *core, unsigned warp, enum tim_stall reason,
                       uint64_t now, struct lw_sink *out)
{
    const struct tim_warp *w = &core->warp[warp];
    const struct tim_op *op;

    if (core->config->issue_dependence == TIM_DEP_CONTROL && print_control(core, warp, now, out))
        return;
    if (core->counters != NULL) {
        const struct tim_counters *c = &core->counters[warp];

        lw_printf(out, "\nvmcnt %u, expcnt %u, lgkmcnt %u", tim_count_of(&c->vm), tim_count_of(&c->exp), tim_lgkm_of(c));
    }
    op = reason == TIM_STALL_WAR ? overtaken(core, warp) : blocker(core, warp);
    if (op != NULL)
        print_op(core->config, w, op, now, out);
}

/** Prints how many lanes have arrived at a barrier of the block, and the state of the warps that have not arrived. */
static void print_cta(const struct tim_core *core, const struct tim_block *block, unsigned barrier,
                      uint64_t now, struct lw_sink *out)
{
    enum { MOST = 4 }; /* maximum number of warps shown */
    uint64_t absent[TIM_MAX_WARPS / 64] = {0};
    unsigned live = 0, there = 0, shown = 0;

    for (unsigned k = 0; k < block->warps; k++) {
        struct emu_split_view views[EMU_MAX_LANES];
        unsigned count = emu_split_views(core->emu, block->slot, k, views, EMU_MAX_LANES);

        for (unsigned i = 0; i < count; i++) {
            bool waits = views[i].state == EMU_SPLIT_CTA && views[i].barrier == barrier;

            live += lw_popcount(views[i].lanes);
            there += waits ? lw_popcount(views[i].lanes) : 0;
            absent[k / 64] |= (uint64_t)!waits << k % 64;
        }
    }
    lw_printf(out, "\nCTA barrier %u: %u of %u live lanes of the block have arrived", barrier, there,
              live);
    for (unsigned k = 0; k < block->warps; k++) {
        unsigned slot = block->warp_slot[k];

        if ((absent[k / 64] >> k % 64 & 1) == 0 || shown++ >= MOST)
            continue;
        enum tim_stall reason =
            tim_stall_reason(core, &core->warp[slot], tim_sched_of(core, slot), now);
        lw_printf(out, "\nwaits for warp %u, warp slot %u: %s", k, slot,
                  reason == TIM_STALL_PICKED ? "the warp can issue" : tim_stall_message(reason));
    }
    if (shown > MOST)
        lw_printf(out, "\nand %u more warps", shown - MOST);
}

/** Prints the barriers at which the lanes of a warp wait if none of its splits can run. */
static void print_barriers(const struct tim_core *core, const struct tim_block *block,
                           unsigned warp, uint64_t now, struct lw_sink *out)
{
    struct emu_split_view views[EMU_MAX_LANES];
    unsigned count = emu_split_views(core->emu, block->slot, core->warp[warp].index, views,
                                     EMU_MAX_LANES);
    uint64_t shown = 0; /* set of CTA barriers already shown */

    for (unsigned i = 0; i < count; i++) {
        const struct emu_split_view *v = &views[i];

        if (v->state == EMU_SPLIT_BLOCKED)
            lw_printf(out, "\nconvergence barrier b%u: lanes 0x%" PRIx64 " wait for other lanes of their convergence group",
                      v->barrier, v->lanes);
        if (v->state != EMU_SPLIT_CTA || (shown >> v->barrier % 64 & 1) != 0)
            continue;
        shown |= UINT64_C(1) << v->barrier % 64;
        print_cta(core, block, v->barrier, now, out);
    }
}

/** Prints the accesses for which a fence or a barrier waits. */
static void print_accesses(const struct tim_warp *w, struct lw_sink *out)
{
    if ((tim_head(w)->awaits & TIM_AWAITS_QUEUE) != 0)
        lw_printf(out, "\n%u of the warp's memory instructions are not in the load/store queue yet", w->unqueued);
    else
        lw_printf(out, "\nstores and atomics with accesses still to make: %u; unanswered writes: %u", w->writing,
                  w->writes_out);
}

/** Prints the state of fetch for a warp whose buffer has no instruction that can issue. */
static void print_fetch(const struct tim_warp *w, uint64_t now, struct lw_sink *out)
{
    if (w->split < 0)
        return;
    if (w->fetching)
        lw_put(out, "\na line of the instruction cache has been requested for the warp");
    else if (w->buffered != 0 && w->buffer[0].arrives > now)
        print_cycles(w->buffer[0].arrives - now, out);
    else if (w->buffered == 0 && w->fetch_from > now)
        lw_printf(out, "\nthe warp fetches after %" PRIu64 " more cycle%s", w->fetch_from - now,
                  w->fetch_from - now == 1 ? "" : "s");
}

/** Prints why a suspended block, which waits for launches outside the cores, does not run. Returns false if the block of
 *  @place is not suspended. */
static bool why_suspended(const struct tim_engine *e, const struct emu_thread_ref *place,
                          struct lw_sink *out)
{
    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned i = 0; i < e->core[c]->suspended_count; i++) {
            const struct tim_suspended *s = &e->core[c]->suspended[i];
            if (s->grid->sequence != place->grid || s->linear != place->block ||
                place->warp >= s->grid->block_warps)
                continue;
            lw_printf(out, "cycle %" PRIu64 ", the block of the warp has left core %u: the block %s\n", e->now, c,
                      s->called ? "can continue and waits to be dispatched to this core"
                                : "waits for its launches");
            return true;
        }
    return false;
}

bool tim_why(const struct emu_engine *engine, const struct emu_thread_ref *place, struct lw_sink *out)
{
    const struct tim_engine *e = (const struct tim_engine *)engine;

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned b = 0; b < e->config.core_blocks; b++) {
            const struct tim_core *core = e->core[c];
            const struct tim_block *block = &core->block[b];
            if (!block->used || block->grid->sequence != place->grid ||
                block->linear != place->block || place->warp >= block->warps)
                continue;
            unsigned warp = block->warp_slot[place->warp];
            const uint64_t now = tim_core_own(core, e->now);
            tim_core_show(e->core[c], now);
            const struct tim_warp *w = &core->warp[warp];
            enum tim_stall reason = tim_stall_reason(core, w, tim_sched_of(core, warp), now);
            struct tim_mech *holder = reason == TIM_STALL_PICKED ? tim_core_holder(core, warp) : NULL;
            if (holder != NULL)
                reason = TIM_STALL_THROTTLED;
            lw_printf(out, "cycle %" PRIu64 ", core %u, warp slot %u, scheduler %u: ", e->now, c,
                      warp, tim_sched_of(core, warp));
            if (reason == TIM_STALL_PICKED)
                lw_put(out, "the warp can issue");
            else
                lw_put(out, tim_stall_message(reason));
            if (holder != NULL) {
                lw_printf(out, "\nthrottled by %s: ", holder->row->name);
                holder->row->why(holder, warp, out);
            }
            if (w->split >= 0 && !w->ended) {
                lw_put(out, "\nnext: ");
                print_insn(w, w->pc, out);
            }
            if (reason == TIM_STALL_STALL || reason == TIM_STALL_YIELD || reason == TIM_STALL_LOAD || reason == TIM_STALL_RESULT ||
                reason == TIM_STALL_WAR || reason == TIM_STALL_COUNTER) {
                print_wait(core, warp, reason, now, out);
            } else if (reason == TIM_STALL_BARRIER) {
                print_barriers(core, block, warp, now, out);
            } else if (reason == TIM_STALL_FENCE) {
                print_accesses(w, out);
            } else if (reason == TIM_STALL_SLEEP && w->sleep_until > now) {
                print_cycles(w->sleep_until - now, out);
            } else if (reason == TIM_STALL_LAUNCH && w->launching && w->not_before > now) {
                print_cycles(w->not_before - now, out);
            } else if (reason == TIM_STALL_FETCH) {
                print_fetch(w, now, out);
            }
            if (block->moving != TIM_MOVES_NOT)
                lw_printf(out, "\nthe state of its block %s: %" PRIu64 " remaining lines, %" PRIu64 " unanswered",
                          block->moving == TIM_MOVES_OUT ? "is being written to memory" : "is being read from memory",
                          block->lines_left, block->lines_out);
            tim_grid_why(&e->grid, block->grid, c, block->linear, e->now, out);
            lw_put(out, "\n");
            return true;
        }
    return why_suspended(e, place, out);
}
