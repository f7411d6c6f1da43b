/* SPDX-License-Identifier: Apache-2.0 */
/* Observers of instructions: the machine's hooks, for the kinds that are enabled. */
#include "check/sync/chk_barrier_priv.h"
#include "check/count/chk_count_priv.h"
#include "check/arith/chk_fp_taint_priv.h"
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

static struct chk *chk_of(struct emu_hooks *hooks)
{
    return (struct chk *)(void *)((char *)hooks - offsetof(struct chk, hooks));
}

static bool wants(struct emu_hooks *hooks, const struct emu_program *program, uint32_t index,
                  const struct isa_insn *insn)
{
    const struct chk *chk = chk_of(hooks);

    if (isa_op_info((enum isa_op)insn->op)->flags & ISA_F_MEMORY)
        return chk->counters != NULL || chk->init != NULL ||
               (chk->bounds != NULL && chk_bounds_wants(program, index)) ||
               (chk->race != NULL && chk_race_wants(insn)) ||
               (chk->constant != NULL && chk_const_wants(insn)) ||
               (chk->stale != NULL && chk_stale_wants(insn));
    return chk->counters != NULL || (chk->barrier != NULL && chk_barrier_wants(chk->barrier, program, index)) ||
           (chk->race != NULL && chk_race_wants(insn)) ||
           (chk->init != NULL && chk_init_wants(insn)) ||
           (chk->leaks != NULL && insn->op == ISA_MALLOC) ||
           (chk->arithmetic && chk_arith_wants(chk, insn));
}

bool chk_race_alone(const struct chk *chk, const struct emu_program *program, uint32_t index)
{
    return chk->counters == NULL && chk->init == NULL && chk->constant == NULL && chk->stale == NULL &&
           (chk->bounds == NULL || !chk_bounds_wants(program, index));
}

static void look_at_insn(struct chk *chk, const struct emu_hook_site *site)
{
    if (chk->init != NULL && chk_init_wants(site->insn)) {
        const bool stepped = chk_init_follows(chk->init, site);

        chk_init_insn(chk->init, site);
        /* as in on_access: the hook is called again */
        if (!stepped && chk_init_follows(chk->init, site))
            return;
    }
    /* before those that count: the hook may be called again */
    if (chk->arithmetic && chk_arith_wants(chk, site->insn) && chk_arith_insn(chk, site))
        return;
    if (chk->counters != NULL)
        chk_count_insn(chk->counters, site);
    if (chk->barrier != NULL && chk_barrier_wants(chk->barrier, site->program, site->index))
        chk_barrier_insn(chk->barrier, site);
    if (chk->race != NULL && chk_race_wants(site->insn))
        chk_race_insn(chk->race, site);
    if (chk->leaks != NULL && site->insn->op == ISA_MALLOC)
        chk_leaks_insn(chk->leaks, site);
}

static void on_insn(struct emu_hooks *hooks, const struct emu_hook_site *site)
{
    struct chk *chk = chk_of(hooks);

    chk->at = site;
    look_at_insn(chk, site);
    chk->at = NULL;
}

/** The same where only checks of barriers observe instructions that are none of memory. */
static void on_insn_barriers(struct emu_hooks *hooks, const struct emu_hook_site *site)
{
    struct chk *chk = chk_of(hooks);

    chk->at = site;
    if (chk->barrier != NULL)
        chk_barrier_insn(chk->barrier, site);
    chk->at = NULL;
}

/** What one of those that look has said is needed no more counts where all say it. */
static void narrow(struct emu_hook_filter *all, struct emu_hook_filter *said)
{
    all->first = all->first > said->first ? all->first : said->first;
    all->end = all->end < said->end ? all->end : said->end;
    all->ignore_split = all->ignore_split && said->ignore_split;
    if (all->end < all->first)
        all->end = all->first;
    *said = (struct emu_hook_filter){0}; /* the next one's */
}

static bool look_at_access(struct chk *chk, const struct emu_hook_access *access)
{
    struct emu_hook_filter all = {.end = INT64_MAX, .ignore_split = true};
    bool steps = false;

    if (chk->init != NULL) {
        const bool stepped = chk_init_follows(chk->init, &access->at);

        steps = chk_init_access(chk->init, access);
        /* a warp that is single-stepped from here on executes it later: the hook is called again */
        if (steps && !stepped)
            return true;
        narrow(&all, access->filter);
    }
    if (chk->bounds != NULL) {
        chk_bounds_access(chk->bounds, access, chk->counters == NULL && chk->init == NULL &&
                                                   chk->race == NULL && chk->constant == NULL &&
                                                   chk->stale == NULL);
        narrow(&all, access->filter);
    }
    if (chk->counters != NULL) {
        chk_count_access(chk->counters, access);
        narrow(&all, access->filter);
    }
    if (chk->race != NULL) {
        chk_race_access(chk->race, access);
        narrow(&all, access->filter);
    }
    if (chk->constant != NULL && chk_const_wants(access->at.insn)) {
        chk_const_access(chk->constant, access);
        narrow(&all, access->filter);
    }
    if (chk->stale != NULL && chk_stale_wants(access->at.insn)) {
        chk_stale_access(chk->stale, access);
        narrow(&all, access->filter);
    }
    *access->filter = all;
    return steps;
}

static bool on_access(struct emu_hooks *hooks, const struct emu_hook_access *access)
{
    struct chk *chk = chk_of(hooks);

    chk->at = &access->at;
    const bool steps = look_at_access(chk, access);
    chk->at = NULL;
    return steps;
}

/** The same where only checks of races are enabled. */
static bool on_access_races(struct emu_hooks *hooks, const struct emu_hook_access *access)
{
    struct chk *chk = chk_of(hooks);

    chk->at = &access->at;
    if (chk->race != NULL)
        chk_race_access(chk->race, access);
    chk->at = NULL;
    return false;
}

static void on_step(struct emu_hooks *hooks, const struct emu_hook_site *site)
{
    if (chk_of(hooks)->init != NULL)
        chk_init_step(chk_of(hooks)->init, site);
    chk_fp_taint_step(chk_of(hooks), site);
}

static bool on_stepped(struct emu_hooks *hooks, const struct emu_hook_site *site, bool retired)
{
    struct chk *chk = chk_of(hooks);
    const bool late = chk_fp_taint_stepped(chk, site, retired);

    return (chk->init == NULL || chk_init_stepped(chk->init, site, retired)) && late;
}

static void on_block(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, bool begins)
{
    struct chk *chk = chk_of(hooks);

    if (begins)
        chk_stack_block(chk, core, slot);
    if (chk->bounds != NULL)
        chk_bounds_block(chk->bounds, core, slot, begins);
    if (chk->barrier != NULL)
        chk_barrier_block(chk->barrier, core, slot);
    if (chk->race != NULL)
        chk_race_block(chk->race, core, slot, begins);
    if (chk->init != NULL)
        chk_init_block(chk->init, core, slot, begins);
    chk_fp_taint_block(chk->late, core, slot);
}

static void on_cta(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned id,
                   const uint64_t *lanes)
{
    if (chk_of(hooks)->barrier != NULL)
        chk_barrier_cta(chk_of(hooks)->barrier, core, slot, id);
    if (chk_of(hooks)->race != NULL)
        chk_race_cta(chk_of(hooks)->race, core, slot, id, lanes);
}

static void on_warpsync(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned warp,
                        uint64_t lanes)
{
    if (chk_of(hooks)->barrier != NULL)
        chk_barrier_warpsync(chk_of(hooks)->barrier, core, slot, warp, lanes);
    if (chk_of(hooks)->race != NULL)
        chk_race_warpsync(chk_of(hooks)->race, core, slot, warp, lanes);
}

static void on_pc_edited(struct emu_hooks *hooks)
{
    const struct chk *chk = chk_of(hooks);

    if (chk->race != NULL)
        chk_race_pc_edited(chk->race);
    if (chk->barrier != NULL)
        chk_barrier_pc_edited(chk->barrier);
    if (chk->bounds != NULL)
        chk_bounds_pc_edited(chk->bounds);
}

/** What was seen of a future that does not exist is of no use any more. */
static void on_replay_end(struct emu_hooks *hooks, bool same)
{
    struct chk *chk = chk_of(hooks);

    chk_fp_taint_forget(chk->late);
    if (same) {
        if (chk->init != NULL)
            chk_init_replay_end(chk->init);
        return;
    }
    if (chk->bounds != NULL)
        chk_bounds_pc_edited(chk->bounds); /* a pc may have been set there */
    if (chk->options.note != NULL &&
        (chk->race != NULL || chk->init != NULL || chk->barrier != NULL))
        chk->options.note(chk->options.context, "the debugger has changed the past: the checks that depend on it "
                          "(races, uninitialised values, mismatched barriers) are now disabled");
    chk_barrier_destroy(chk->barrier);
    chk_race_destroy(chk->race);
    chk_init_destroy(chk->init);
    chk_leaks_destroy(chk->leaks);
    chk_const_destroy(chk->constant);
    chk_stale_destroy(chk->stale);
    chk->leaks = NULL;
    chk->constant = NULL;
    chk->stale = NULL;
    chk->barrier = NULL;
    chk->race = NULL;
    chk->init = NULL;
}

static void untap(struct chk *chk)
{
    enum lw_status status = emu_machine_set_hooks(chk->machine, NULL, NULL);

    (void)status; /* to take it away cannot fail */
}

enum lw_status chk_hooks_begin(struct chk *chk, struct lw_error *err)
{
    bool races = (chk->options.kinds & chk_class_kinds(CHK_CLASS_RACES)) != 0;
    bool unwritten = (chk->options.kinds & chk_class_kinds(CHK_CLASS_UNINITIALISED)) != 0;
    bool speed = (chk->options.kinds & chk_class_kinds(CHK_CLASS_PERFORMANCE)) != 0;
    bool barriers = (chk->options.kinds & (UINT64_C(1) << CHK_CROSS_LOCATIONS | UINT64_C(1) << CHK_BARRIER_LOCATIONS |
                                           UINT64_C(1) << CHK_BARRIER_EXITED | UINT64_C(1) << CHK_BARRIER_DIVERGENCE)) != 0;
    bool constant = (chk->options.kinds >> CHK_CONST & 1) != 0;
    bool stale = (chk->options.kinds >> CHK_STALE & 1) != 0;
    bool variables = (chk->options.kinds >> CHK_VARIABLE & 1) != 0;
    bool leaks = (chk->options.kinds >> CHK_LEAK & 1) != 0;
    bool count = speed || chk->options.counting != CHK_COUNT_NOTHING;
    enum lw_status status;

    chk->arithmetic = (chk->options.kinds & chk_class_kinds(CHK_CLASS_ARITHMETIC)) != 0;
    if (!races && !unwritten && !count && !barriers && !leaks && !variables &&
        !constant && !stale && !chk->arithmetic)
        return LW_OK;
    chk->hooks = (struct emu_hooks){.wants = wants, .on_insn = on_insn, .on_access = on_access,
                                .on_step = on_step, .on_stepped = on_stepped,
                                .on_block = on_block, .on_cta = on_cta,
                                .on_warpsync = on_warpsync, .on_replay_end = on_replay_end,
                                .on_pc_edited = on_pc_edited};
    status = emu_machine_set_hooks(chk->machine, &chk->hooks, err);
    if (status != LW_OK)
        return status;
    if (barriers)
        chk->barrier = chk_barrier_create(chk);
    if (races)
        chk->race = chk_race_create(chk);
    if (unwritten)
        chk->init = chk_init_create(chk);
    if (constant)
        chk->constant = chk_const_create(chk);
    if (stale)
        chk->stale = chk_stale_create(chk);
    if (variables)
        chk->bounds = chk_bounds_create(chk);
    if (leaks)
        chk->leaks = chk_leaks_create(chk);
    if (count)
        chk->counters =
            chk_counters_create(speed || chk->options.counting == CHK_COUNT_REQUESTS, chk->options.by_launch);
    if ((races && chk->race == NULL) || (unwritten && chk->init == NULL) ||
        (count && chk->counters == NULL) || (barriers && chk->barrier == NULL) ||
        (variables && chk->bounds == NULL) || (leaks && chk->leaks == NULL) || (constant && chk->constant == NULL) ||
        (stale && chk->stale == NULL)) {
        chk_hooks_end(chk);
        return LW_FAIL(err, LW_ENOMEM, "no memory for a checker");
    }
    if (!races && !unwritten && !count && !leaks && !chk->arithmetic)
        chk->hooks.on_insn = on_insn_barriers;
    if (races && !unwritten && !constant && !stale && !variables && !count) {
        chk->hooks.on_access = on_access_races;
        race_batch_begin(chk->race);
    }
    return LW_OK;
}

void chk_hooks_end(struct chk *chk)
{
    if (chk->hooks.on_access != NULL)
        untap(chk);
    chk_barrier_destroy(chk->barrier);
    chk_race_destroy(chk->race);
    chk_init_destroy(chk->init);
    chk_leaks_destroy(chk->leaks);
    chk_const_destroy(chk->constant);
    chk_stale_destroy(chk->stale);
    chk_bounds_destroy(chk->bounds);
    chk_counters_destroy(chk->counters);
    chk_fp_taint_destroy(chk->late);
    free(chk->live);
}

void chk_hooks_machine_event(struct chk *chk, const struct emu_machine_event *event)
{
    if (emu_machine_is_replaying(chk->machine))
        return; /* it was reported when it was done */
    if (chk->race != NULL)
        chk_race_machine_event(chk->race, event);
    if (chk->init != NULL)
        chk_init_machine_event(chk->init, event);
    if (chk->leaks != NULL && event->kind == EMU_MACHINE_ALLOC)
        chk_leaks_alloc(chk->leaks, event);
    if (chk->stale != NULL && event->kind == EMU_MACHINE_STALE)
        chk_stale_found(chk->stale, event);
}

void chk_mark_uninitialised(struct chk *chk, uint64_t address, uint64_t bytes)
{
    if (chk->init != NULL)
        chk_init_mark_uninitialised(chk->init, address, bytes);
    if (chk->race != NULL)
        chk_race_mark_uninitialised(chk->race, address, bytes);
}

bool chk_hooks_out_of_memory(const struct chk *chk)
{
    return (chk->race != NULL && chk->race->short_of_memory) ||
           (chk->init != NULL && chk_init_short_of_memory(chk->init)) ||
           (chk->bounds != NULL && chk_bounds_short_of_memory(chk->bounds)) ||
           (chk->constant != NULL && chk_const_short_of_memory(chk->constant)) ||
           (chk->stale != NULL && chk_stale_short_of_memory(chk->stale)) ||
           (chk->late != NULL && chk_fp_taint_out_of_memory(chk->late)) ||
           (chk->leaks != NULL && chk_leaks_short_of_memory(chk->leaks)) ||
           (chk->counters != NULL && chk->counters->short_of_memory);
}
