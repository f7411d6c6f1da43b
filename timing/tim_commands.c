/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the timing model, for the shell and gdb's monitor. The context of each command is a struct tim_view. */
#include "timing/tim_engine_priv.h"

#include <inttypes.h>
#include <stdio.h>

static struct tim_engine *engine_of(void *context)
{
    return (struct tim_engine *)(void *)((struct tim_view *)context)->engine;
}

/* Returns an error if the session has no timing model, or if the command has more than @most operands. */
static enum lw_status no_more(const struct lw_call *call, int most, struct lw_error *err)
{
    const char *name = call->argv[0];

    if (((const struct tim_view *)call->context)->engine == NULL)
        return LW_FAIL(err, LW_ESTATE, "%s: this session has no timing model: start it with --timing, as in `lanewise "
                                       "debug --timing LAUNCH.yaml`", name);
    if (call->argc - 1 <= most)
        return LW_OK;
    return LW_FAIL(err, LW_EUSAGE, "%s: too many operands: remove \"%.40s\" (see `help %s`)",
                   name, call->argv[most + 1], name);
}

/* Gets the core and the warp slot of the warp in focus. */
static enum lw_status focus(const struct lw_call *call, const struct tim_core **core,
                            unsigned *slot, struct lw_error *err)
{
    const struct tim_view *view = call->context;
    const struct tim_engine *e = engine_of(call->context);
    struct emu_thread_ref place;

    if (view->focus == NULL || !view->focus(view->context, &place))
        return LW_FAIL(err, LW_ESTATE, "%s: no warps are resident", call->argv[0]);
    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned b = 0; b < e->config.core_blocks; b++) {
            const struct tim_block *block = &e->core[c]->block[b];

            if (!block->used || block->grid->sequence != place.grid ||
                block->linear != place.block || place.warp >= block->warps)
                continue;
            *core = e->core[c];
            *slot = block->warp_slot[place.warp];
            return LW_OK;
        }
    return LW_FAIL(err, LW_ESTATE, "%s: the warp in focus is not on a core", call->argv[0]);
}

static enum lw_status core_number(const struct lw_call *call, const struct tim_core **core,
                                  struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    enum lw_status status = no_more(call, 1, err);
    uint64_t number;
    unsigned slot;

    if (status != LW_OK)
        return status;
    if (call->argc == 1)
        return focus(call, core, &slot, err);
    if (!lw_parse_u64(call->argv[1], &number) || number >= e->config.core_count)
        return LW_FAIL(err, LW_EUSAGE, "%s: expected a core from 0 to %u, found \"%.40s\"",
                       call->argv[0], e->config.core_count - 1, call->argv[1]);
    *core = e->core[number];
    return LW_OK;
}

/* ---- time ------------------------------------------------------------------------------ */

static enum lw_status do_cycle(const struct lw_call *call, struct lw_error *err)
{
    struct tim_view *view = call->context;
    struct tim_engine *e = engine_of(call->context);
    enum lw_status status = no_more(call, 1, err);
    uint64_t count = 1;

    if (status != LW_OK)
        return status;
    if (call->argc > 1 && !lw_parse_u64(call->argv[1], &count))
        return LW_FAIL(err, LW_EUSAGE, "cycle: expected a number of cycles, found \"%.40s\"",
                       call->argv[1]);
    if (count != 0 && view->run == NULL)
        return LW_FAIL(err, LW_ESTATE, "cycle: no launch can run any more");
    if (count != 0) {
        tim_engine_stop_at(view->engine, count < UINT64_MAX - e->now ? e->now + count : UINT64_MAX);
        status = view->run(view->context, call->out, err);
        tim_engine_stop_at(view->engine, UINT64_MAX);
    }
    if (status == LW_OK)
        lw_printf(call->out, "cycle %" PRIu64 "\n", e->now);
    return status;
}

/* ---- warps ------------------------------------------------------------------------------- */

/* Prints for each stall reason the number of resident warps that have it. */
static void causes_of_all(const struct tim_engine *e, struct lw_sink *out)
{
    unsigned count[TIM_STALL_COUNT] = {0}, warps = 0;

    for (unsigned c = 0; c < e->config.core_count; c++)
        for (unsigned w = 0; w < e->config.core_warps; w++) {
            const struct tim_core *core = e->core[c];

            if (!core->warp[w].used)
                continue;
            count[tim_stall_reason(core, &core->warp[w], tim_sched_of(core, w), tim_core_own(core, e->now))]++;
            warps++;
        }
    lw_printf(out, "cycle %" PRIu64 ": resident warps: %u\n", e->now, warps);
    for (unsigned i = 0; i < TIM_STALL_COUNT; i++)
        if (count[i] != 0)
            lw_printf(out, "  %6u  %-12s %s\n", count[i],
                      i == TIM_STALL_PICKED ? "ready" : tim_stall_name((enum tim_stall)i),
                      i == TIM_STALL_PICKED ? "can issue" : tim_stall_message((enum tim_stall)i));
}

static enum lw_status do_why(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_view *view = call->context;
    enum lw_status status = no_more(call, 1, err);
    struct emu_thread_ref place;

    if (status != LW_OK)
        return status;
    if (call->argc > 1) {
        if (strcmp(call->argv[1], "all") != 0)
            return LW_FAIL(err, LW_EUSAGE, "why: expected all or no operand (for the warp in focus), found \"%.40s\"",
                           call->argv[1]);
        causes_of_all(engine_of(call->context), call->out);
        return LW_OK;
    }
    if (view->focus == NULL || !view->focus(view->context, &place) ||
        !tim_why(view->engine, &place, call->out))
        return LW_FAIL(err, LW_ESTATE, "why: no warps are resident");
    return LW_OK;
}

/* Prints a register as the assembler does: "v12". */
static void put_register(unsigned number, struct lw_sink *out)
{
    static const struct {
        unsigned first;
        const char *name;
    } classes[] = {{400, "b"}, {392, "sp"}, {384, "p"}, {256, "s"}, {0, "v"}};

    for (unsigned i = 0; i < LW_COUNT_OF(classes); i++)
        if (number >= classes[i].first) {
            lw_printf(out, "%s%u", classes[i].name, number - classes[i].first);
            return;
        }
}

static void put_counters(const struct tim_counters *c, struct lw_sink *out)
{
    lw_printf(out, "vmcnt %u, expcnt %u, lgkmcnt %u", tim_count_of(&c->vm), tim_count_of(&c->exp), tim_lgkm_of(c));
}

static enum lw_status do_scoreboard(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    const struct tim_core *core;
    const struct tim_warp *w;
    enum lw_status status = no_more(call, 0, err);
    unsigned slot, shown = 0;

    if (status == LW_OK)
        status = focus(call, &core, &slot, err);
    if (status != LW_OK)
        return status;
    w = &core->warp[slot];
    lw_printf(call->out, "core %u, warp slot %u: instructions in flight: %u, with unread operands: %u; unanswered "
                         "writes: %u\n", core->index, slot, w->in_flight, w->unread,
              w->writes_out);
    switch (e->config.issue_dependence) {
    case TIM_DEP_CONTROL:
        for (unsigned b = 0; b < 6; b++)
            if (w->bar[b] != 0)
                lw_printf(call->out, "%sdependence barrier %u: count is %u", shown++ != 0 ? ", " : "", b,
                          w->bar[b]);
        if (w->not_before > tim_core_own(core, e->now))
            lw_printf(call->out, "%sstall count: %" PRIu64 " more cycles", shown++ != 0 ? ", " : "",
                      w->not_before - tim_core_own(core, e->now));
        if (w->hold_from != 0)
            lw_printf(call->out, "%sdepbar.le waits until the count of dependence barrier %u is at most %u",
                      shown++ != 0 ? ", " : "", w->hold_bar, w->hold_most);
        break;
    case TIM_DEP_VECTOR:
        for (unsigned i = 0; i < TIM_MAX_VECTOR; i++)
            if ((w->vector_used >> i & 1) != 0) {
                lw_printf(call->out, "%sentry %u: ", shown++ != 0 ? ", " : "", i);
                put_register(w->vector_reg[i], call->out);
                if (w->vector_span[i] > 1)
                    lw_printf(call->out, " and %u after it", w->vector_span[i] - 1);
            }
        break;
    default:
        if (core->counters != NULL) {
            put_counters(&core->counters[slot], call->out);
            lw_put(call->out, "\n");
        }
        for (unsigned r = 0; r < ISA_REG_NUMBERS; r++)
            if (tim_is_to_come(w, r)) {
                lw_put(call->out, shown++ != 0 ? ", " : "registers with pending writes: ");
                put_register(r, call->out);
                lw_printf(call->out, "%s", tim_is_by_load(w, r) ? " (load)" : "");
            }
    }
    lw_put(call->out, shown != 0 ? "\n" : "no results are pending\n");
    return LW_OK;
}

/* ---- a core -------------------------------------------------------------------------------- */

static void put_op(const struct tim_engine *e, const struct tim_core *core,
                   const struct tim_op *op, struct lw_sink *out)
{
    static const char *const stages[] = {
        [TIM_STAGE_FREE] = "free",           [TIM_STAGE_COLLECT] = "reads operands",
        [TIM_STAGE_READY] = "waits for its pipe", [TIM_STAGE_PIPE] = "in its pipe",
        [TIM_STAGE_LSU] = "load/store unit", [TIM_STAGE_MEMORY] = "waits for cache lines",
        [TIM_STAGE_WRITE] = "writes",
    };
    const struct emu_program *program = core->warp[op->warp].code->program;
    const struct isa_insn *insn = emu_program_insn(program, op->pc);

    lw_printf(out, "  scheduler %u warp slot %-3u %-18s ", op->sched, op->warp,
              op->stage < LW_COUNT_OF(stages) ? stages[op->stage] : "?");
    if (op->stage == TIM_STAGE_COLLECT)
        lw_printf(out, "(%u to read) ", lw_popcount(op->operands));
    if (op->stage == TIM_STAGE_MEMORY)
        lw_printf(out, "(%u of %u) ", op->lines_pending, op->line_count);
    lw_printf(out, "%" PRIu64 " cycles: 0x%" PRIx64 ": ", tim_core_own(core, e->now) - op->issued, op->pc);
    if (insn != NULL)
        isa_insn_print(insn, op->pc, NULL, NULL, out);
    lw_put(out, "\n");
}

static enum lw_status do_collectors(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    const struct tim_core *core;
    enum lw_status status = core_number(call, &core, err);
    unsigned collecting = 0;

    if (status != LW_OK)
        return status;
    for (const struct tim_op *op = tim_op_after(core, 0); op != NULL;
         op = tim_op_after(core, op->age))
        collecting += op->stage == TIM_STAGE_COLLECT || op->stage == TIM_STAGE_READY;
    lw_printf(call->out, "core %u: instructions in flight: %u; collectors in use: %u of %u; entries of the "
                         "load/store queue in use: %u of %u\n", core->index, core->live_count, collecting,
              e->config.registers_collectors * e->config.issue_schedulers, core->queued,
              e->config.lsu_queue);
    if (e->config.lsu_separate)
        lw_printf(call->out, "%u instructions in the queue of shared memory, %u in the queue of scalar loads\n",
                  core->side[0].queued,
                  core->side[1].queued);
    for (const struct tim_op *op = tim_op_after(core, 0); op != NULL;
         op = tim_op_after(core, op->age))
        put_op(e, core, op, call->out);
    return LW_OK;
}

static enum lw_status do_mechanism(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    const struct tim_core *core;
    enum lw_status status = core_number(call, &core, err);

    if (status != LW_OK)
        return status;
    tim_core_show(e->core[core->index], tim_core_own(core, e->now));
    lw_printf(call->out, "core %u, cycle %" PRIu64 "\n", core->index, e->now);
    for (unsigned i = 0; i < core->mechs.count; i++) {
        struct tim_mech *mech = core->mechs.mech[i];

        lw_printf(call->out, "%s: ", mech->row->name);
        mech->row->show(mech, call->out);
    }
    if (core->mechs.count == 0)
        lw_put(call->out, "no mechanism is enabled: `lanewise timing --mechanisms` lists all\n");
    return LW_OK;
}

static enum lw_status do_grids(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    enum lw_status status = no_more(call, 0, err);

    if (status != LW_OK)
        return status;
    lw_printf(call->out, "cycle %" PRIu64 ": ", e->now);
    tim_grid_show(&e->grid, e->now, call->out);
    return LW_OK;
}

static enum lw_status do_queues(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    enum lw_status status = no_more(call, 0, err);

    if (status != LW_OK)
        return status;
    lw_printf(call->out, "cycle %" PRIu64 ": ", e->now);
    e->memory->ops->show(e->memory, call->out);
    return LW_OK;
}

struct named_cache {
    const char *name;
    const struct tim_cache *cache;
    unsigned ways, mshrs, bytes;
    const struct tim_config *config; /* set for an L2 slice; NULL: a cache of a core */
    unsigned slice;
};

enum { CORE_CACHES = 4, CACHES = 6 };
/* Gets the CORE_CACHES caches of a core, then the caches of its scheduler @sched. Member `cache` of an absent cache is
 * NULL. */
static void caches_of(const struct tim_config *c, const struct tim_core *core, unsigned sched,
                      struct named_cache out[CACHES])
{
    const struct tim_front_sched *own = core->front != NULL ? &core->front->sched[sched] : NULL;

    out[0] = (struct named_cache){"l1", core->l1, c->l1_ways, c->l1_mshrs, c->l1_bytes,
                                  NULL, 0};
    out[1] = (struct named_cache){"constant", core->constant, c->constant_ways, c->constant_mshrs,
                                  c->constant_bytes, NULL, 0};
    out[2] = (struct named_cache){"texture", core->texture, c->texture_ways, c->texture_mshrs,
                                  c->texture_bytes, NULL, 0};
    out[3] = (struct named_cache){"fetch", core->icache, c->fetch_cache_ways, c->fetch_cache_mshrs,
                                  c->fetch_cache_bytes, NULL, 0};
    out[4] = (struct named_cache){"l0", own != NULL ? own->code : NULL, c->fetch_l0_ways, c->fetch_cache_mshrs,
                                  c->fetch_l0_bytes, NULL, 0};
    out[5] = (struct named_cache){"operand", own != NULL ? own->operand : NULL, c->constant_l0_ways, c->constant_mshrs,
                                  c->constant_l0_bytes, NULL, 0};
}

static unsigned bytes_set(const uint64_t mask[4])
{
    return lw_popcount(mask[0]) + lw_popcount(mask[1]) + lw_popcount(mask[2]) +
           lw_popcount(mask[3]);
}

/* Prints the valid lines of a cache set or, if @pending_only, only lines with sectors that have been requested from memory and
 * have not arrived. Returns the number of printed lines. */
static unsigned put_set(const struct named_cache *cache, unsigned set, bool pending_only,
                        struct lw_sink *out)
{
    struct tim_cache_line line;
    unsigned shown = 0;

    for (unsigned way = 0; way < cache->ways; way++) {
        if (!tim_cache_line(cache->cache, set, way, &line) ||
            (pending_only && line.pending == 0))
            continue;
        shown++;
        lw_printf(out, "  set %-3u way %-2u 0x%" PRIx64 ": %u bytes", set, way,
                  cache->config != NULL ? tim_address_of(cache->config, cache->slice, line.line)
                                        : line.line,
                  bytes_set(line.valid));
        if (bytes_set(line.dirty) != 0)
            lw_printf(out, ", %u dirty", bytes_set(line.dirty));
        if (line.pending != 0)
            lw_printf(out, ", sectors 0x%x requested by %u accesses", line.pending, line.waiters);
        if (line.owner != 0xffff && cache->config == NULL) /* in L2, the owner's warp slot may belong to any core */
            lw_printf(out, ", requested by warp slot %u", line.owner);
        lw_printf(out, ", age %u\n", line.age);
    }
    return shown;
}

static void put_pending(const struct named_cache *cache, struct lw_sink *out)
{
    lw_printf(out, "%s: %u of at most %u outstanding lines\n",
              cache->name, tim_cache_mshrs_used(cache->cache), cache->mshrs);
    for (unsigned set = 0; set < tim_cache_sets(cache->cache); set++)
        put_set(cache, set, true, out);
}

static enum lw_status do_mshrs(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    const struct tim_core *core;
    struct named_cache cache[CACHES];
    enum lw_status status = core_number(call, &core, err);

    if (status != LW_OK)
        return status;
    lw_printf(call->out, "core %u\n", core->index);
    for (unsigned sched = 0; sched < e->config.issue_schedulers; sched++) {
        caches_of(&e->config, core, sched, cache);
        for (unsigned i = sched == 0 ? 0 : CORE_CACHES; i < CACHES; i++) {
            if (cache[i].cache == NULL)
                continue;
            if (i >= CORE_CACHES)
                lw_printf(call->out, "scheduler %u, ", sched);
            put_pending(&cache[i], call->out);
        }
    }
    return LW_OK;
}

/* Prints the lines of a cache. @owner: number of its core or slice. @word: the set to print, or NULL for all sets. */
static enum lw_status put_cache(const struct named_cache *cache, unsigned owner, const char *word,
                                struct lw_sink *out, struct lw_error *err)
{
    unsigned sets = tim_cache_sets(cache->cache), shown = 0;
    uint64_t number = 0;

    if (word != NULL && (!lw_parse_u64(word, &number) || number >= sets))
        return LW_FAIL(err, LW_EUSAGE, "cache: expected a set from 0 to %u, found \"%.40s\"",
                       sets - 1, word);
    lw_printf(out, "%s %u, %s: %u bytes, %u sets of %u ways\n",
              cache->config != NULL ? "slice" : "core", owner, cache->name, cache->bytes, sets,
              cache->ways);
    for (unsigned set = 0; set < sets; set++)
        if (word == NULL || set == number)
            shown += put_set(cache, set, false, out);
    if (shown == 0)
        lw_put(out, "no valid lines\n");
    return LW_OK;
}

/* Prints the number of lines in each L2 slice. */
static void put_slices(const struct tim_engine *e, struct lw_sink *out)
{
    struct tim_cache_line line;

    lw_printf(out, "l2: %u slices of %u bytes\n", e->config.l2_slices, e->config.l2_bytes);
    for (unsigned i = 0; i < e->config.l2_slices; i++) {
        const struct tim_cache *cache = e->memory->ops->slice_cache(e->memory, i);
        unsigned lines = 0, dirty = 0;

        for (unsigned set = 0; set < tim_cache_sets(cache); set++)
            for (unsigned way = 0; way < e->config.l2_ways; way++)
                if (tim_cache_line(cache, set, way, &line)) {
                    lines++;
                    dirty += bytes_set(line.dirty) != 0;
                }
        lw_printf(out, "  slice %-3u %u lines, %u dirty, %u outstanding\n", i, lines, dirty,
                  tim_cache_mshrs_used(cache));
    }
}

/* Handles `cache l2 [slice] [set]`. */
static enum lw_status cache_l2(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    const struct tim_config *c = &e->config;
    uint64_t slice = 0;

    if (c->l2_bytes == 0)
        return LW_FAIL(err, LW_ESTATE, "cache: this GPU model has no l2 cache");
    if (call->argc > 2 && (!lw_parse_u64(call->argv[2], &slice) || slice >= c->l2_slices))
        return LW_FAIL(err, LW_EUSAGE, "cache: expected a slice from 0 to %u, found \"%.40s\"",
                       c->l2_slices - 1, call->argv[2]);
    if (call->argc <= 2) {
        put_slices(e, call->out);
        return LW_OK;
    }
    struct named_cache cache = {"l2", e->memory->ops->slice_cache(e->memory, (unsigned)slice),
                                c->l2_ways, c->l2_mshrs, c->l2_bytes, c, (unsigned)slice};
    return put_cache(&cache, cache.slice, call->argc > 3 ? call->argv[3] : NULL, call->out, err);
}

static enum lw_status do_cache(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_engine *e = engine_of(call->context);
    const bool l2 = call->argc > 1 && strcmp(call->argv[1], "l2") == 0;
    const struct tim_core *core;
    const struct named_cache *found = NULL;
    struct named_cache cache[CACHES];
    enum lw_status status = no_more(call, l2 ? 3 : 2, err);
    unsigned slot;

    if (status == LW_OK && l2)
        return cache_l2(call, err);
    if (status == LW_OK)
        status = focus(call, &core, &slot, err);
    if (status != LW_OK)
        return status;
    caches_of(&e->config, core, slot % e->config.issue_schedulers, cache);
    for (unsigned i = 0; i < CACHES; i++)
        if (call->argc < 2 || strcmp(call->argv[1], cache[i].name) == 0) {
            found = &cache[i];
            break;
        }
    if (found == NULL)
        return LW_FAIL(err, LW_EUSAGE, "cache: expected l1, constant, texture, fetch, l0, operand or l2, found "
                       "\"%.40s\"", call->argv[1]);
    if (found->cache == NULL && e->config.texture_bytes == 0 && found == &cache[2] && core->l1 != NULL)
        return LW_FAIL(err, LW_ESTATE, "cache: this GPU model has textures in L1: use `cache l1`");
    if (found->cache == NULL)
        return LW_FAIL(err, LW_ESTATE, "cache: this GPU model has no %s cache", found->name);
    return put_cache(found, core->index, call->argc > 2 ? call->argv[2] : NULL, call->out, err);
}

static enum lw_status do_timing(const struct lw_call *call, struct lw_error *err)
{
    const struct tim_view *view = call->context;
    enum lw_status status = no_more(call, 1, err);

    if (status != LW_OK)
        return status;
    if (call->argc > 1 && strcmp(call->argv[1], "keys") == 0)
        tim_config_print(&engine_of(call->context)->config, call->out);
    else if (call->argc > 1)
        return LW_FAIL(err, LW_EUSAGE, "timing: expected keys or no operand (for the report), found \"%.40s\"",
                       call->argv[1]);
    else
        tim_report_print(view->engine, call->out);
    return LW_OK;
}

/* clang-format off */
const struct lw_command tim_commands[] = {
    {"cache",      NULL, "[l1|constant|texture|fetch|l0|operand] [set], l2 [slice] [set]", "Show the lines of a "
                                                                                           "cache of the core in "
                                                                                           "focus (l0, operand: of "
                                                                                           "the warp's scheduler) or "
                                                                                           "of an L2 slice. "
                                                                                           "Without [slice], l2 "
                                                                                           "shows the number of "
                                                                                           "lines in each L2 slice", "cache l1 0",   do_cache, LW_COMMAND_READONLY},
    {"collectors", NULL, "[core]",     "Show the instructions in flight on a core, and the stage of each",               "collectors",   do_collectors, LW_COMMAND_READONLY},
    {"cycle",      NULL, "[count]",    "Run all cores for a number of cycles (default: 1); 0 prints the current cycle",  "cycle 10",     do_cycle, LW_COMMAND_CHANGES | LW_COMMAND_REPEATS},
    {"grids",      NULL, "",           "Show kernel management: launches and their launchers, the distributor, block groups, queues of the block scheduler", "grids", do_grids, LW_COMMAND_READONLY},
    {"mechanism",  NULL, "[core]",     "Show the tables of the enabled mechanisms of a core, such as scores, victim tags and warps that are throttled", "mechanism", do_mechanism, LW_COMMAND_READONLY},
    {"mshrs",      NULL, "[core]",     "Show the lines that the caches of a core have requested and not yet received",                                   "mshrs",        do_mshrs, LW_COMMAND_READONLY},
    {"queues",     NULL, "",           "Show the memory side: packets, outstanding lines, requests that wait for DRAM, open DRAM rows", "queues",       do_queues, LW_COMMAND_READONLY},
    {"scoreboard", NULL, "",           "Show the registers of the warp in focus to which a write is pending",                                  "scoreboard",   do_scoreboard, LW_COMMAND_READONLY},
    {"timing",     NULL, "[keys]",     "Show a report of the counters so far, or all keys of the GPU model",                       "timing keys",  do_timing, LW_COMMAND_READONLY},
    {"why",        NULL, "[all]",      "Show the stall reason of the warp in focus and its cause. all: show the "
                                       "number of warps with each stall reason", "why",  do_why, LW_COMMAND_READONLY},
};
/* clang-format on */
const size_t tim_command_count = LW_COUNT_OF(tim_commands);
