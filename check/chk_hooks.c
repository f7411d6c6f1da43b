/* SPDX-License-Identifier: Apache-2.0 */
/* Implements the machine's hooks, which call the enabled checks. Each check is a struct chk_observer. */
#include "check/chk_priv.h"

#include <stdlib.h>

/** The checks in the order in which they evaluate an instruction. Uninitialised values come first, because that check
 *  decides whether a warp executes in single steps. */
static const struct chk_observer *const observers[CHK_OBSERVER_COUNT] = {
    &chk_init_observer, &chk_arith_observer, &chk_bounds_observer, &chk_count_observer, &chk_barrier_observer,
    &chk_race_observer, &chk_const_observer, &chk_stale_observer,  &chk_leak_observer,
    &chk_buffer_use_observer};

/** Loops over the active checks that have function @function, with @o as the current check. */
#define FOR_ACTIVE(o, chk, function)                                                                       \
    for (const struct chk_active *o = (chk)->active; o < (chk)->active + (chk)->active_count; o++)               \
        if (o->is->function != NULL)

static struct chk *chk_of(struct emu_hooks *hooks)
{
    return (struct chk *)(void *)((char *)hooks - offsetof(struct chk, hooks));
}

/** Returns true if a check other than the one with state @but observes this instruction. */
static bool wanted_by(const struct chk *chk, const void *but, const struct emu_program *program, uint32_t index,
                      const struct isa_insn *insn)
{
    const bool memory = isa_op_info((enum isa_op)insn->op)->flags & ISA_F_MEMORY;

    FOR_ACTIVE(o, chk, end)
        if (o->state != but && (memory ? o->is->on_access != NULL : o->is->on_insn != NULL) &&
            (o->is->wants == NULL || o->is->wants(o->state, program, index, insn)))
            return true;
    return false;
}

static bool wants(struct emu_hooks *hooks, const struct emu_program *program, uint32_t index,
                  const struct isa_insn *insn)
{
    return wanted_by(chk_of(hooks), NULL, program, index, insn);
}

bool chk_looks_alone(const struct chk *chk, const void *state, const struct emu_program *program, uint32_t index)
{
    return !wanted_by(chk, state, program, index, chk_insn_at(program, index));
}

static void on_insn(struct emu_hooks *hooks, const struct emu_hook_site *site)
{
    struct chk *chk = chk_of(hooks);

    chk->at = site;
    chk->look = CHK_LOOK_DONE;
    for (const struct chk_active *o = chk->at_insn; o->is != NULL && chk->look != CHK_LOOK_REPEATED; o++)
        o->is->on_insn(o->state, site);
    chk->at = NULL;
}

/** Restricts the filter @all to its intersection with @said, the filter of one check, because an access may skip the
 *  hook only if no check needs it. */
static void narrow(struct emu_hook_filter *all, struct emu_hook_filter *said)
{
    all->first = all->first > said->first ? all->first : said->first;
    all->end = all->end < said->end ? all->end : said->end;
    all->ignore_split = all->ignore_split && said->ignore_split;
    if (all->end < all->first)
        all->end = all->first;
    *said = (struct emu_hook_filter){0}; /* empty for the next check */
}

static bool on_access(struct emu_hooks *hooks, const struct emu_hook_access *access)
{
    struct chk *chk = chk_of(hooks);
    struct emu_hook_filter all = {.end = INT64_MAX, .ignore_split = true};

    chk->at = &access->at;
    chk->look = CHK_LOOK_DONE;
    for (const struct chk_active *o = chk->at_access; o->is != NULL && chk->look != CHK_LOOK_REPEATED; o++) {
        o->is->on_access(o->state, access);
        narrow(&all, access->filter);
    }
    *access->filter = chk->look != CHK_LOOK_REPEATED ? all : (struct emu_hook_filter){0};
    chk->at = NULL;
    return chk->look != CHK_LOOK_DONE;
}

/** Replaces on_access() if only one check observes accesses: the filter of that check is the filter of the hook. */
static bool on_access_of_one(struct emu_hooks *hooks, const struct emu_hook_access *access)
{
    struct chk *chk = chk_of(hooks);

    chk->at = &access->at;
    chk->look = CHK_LOOK_DONE;
    if (chk->at_access->is != NULL) /* NULL after on_replay_end() has disabled the check */
        chk->at_access->is->on_access(chk->at_access->state, access);
    chk->at = NULL;
    return chk->look != CHK_LOOK_DONE;
}

static void on_step(struct emu_hooks *hooks, const struct emu_hook_site *site)
{
    struct chk *chk = chk_of(hooks);

    chk->at = site;
    FOR_ACTIVE(o, chk, on_step)
        o->is->on_step(o->state, site);
    chk->at = NULL;
}

static bool on_stepped(struct emu_hooks *hooks, const struct emu_hook_site *site, bool retired)
{
    bool leaves = true;

    FOR_ACTIVE(o, chk_of(hooks), on_stepped)
        leaves &= o->is->on_stepped(o->state, site, retired);
    return leaves;
}

static void on_block(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, bool begins)
{
    FOR_ACTIVE(o, chk_of(hooks), on_block)
        o->is->on_block(o->state, core, slot, begins);
}

static void on_cta(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned id,
                   const uint64_t *lanes)
{
    FOR_ACTIVE(o, chk_of(hooks), on_cta)
        o->is->on_cta(o->state, core, slot, id, lanes);
}

static void on_warpsync(struct emu_hooks *hooks, struct emu_core *core, unsigned slot, unsigned warp,
                        uint64_t lanes)
{
    FOR_ACTIVE(o, chk_of(hooks), on_warpsync)
        o->is->on_warpsync(o->state, core, slot, warp, lanes);
}

static void on_pc_edited(struct emu_hooks *hooks)
{
    FOR_ACTIVE(o, chk_of(hooks), on_pc_edited)
        o->is->on_pc_edited(o->state);
}

static void end(const struct chk_active *o)
{
    o->is->end(o->state);
    free(o->state);
}

/** Rebuilds the lists at_insn and at_access after the active checks have changed. */
static void count(struct chk *chk)
{
    struct chk_active *insn = chk->at_insn, *access = chk->at_access;

    FOR_ACTIVE(o, chk, on_insn)
        *insn++ = *o;
    FOR_ACTIVE(o, chk, on_access)
        *access++ = *o;
    insn->is = access->is = NULL;
    FOR_ACTIVE(o, chk, on_alone)
        if (access == chk->at_access + 1)
            o->is->on_alone(o->state);
}

/** Handles the end of replay. If a debugger has changed a value in the past (@same is false), disables the checks that use
 *  records of the past. The edit has replaced the history that these records describe. */
static void on_replay_end(struct emu_hooks *hooks, bool same)
{
    struct chk *chk = chk_of(hooks);
    bool noted = false;
    unsigned kept = 0;

    FOR_ACTIVE(o, chk, on_replay_end)
        o->is->on_replay_end(o->state, same);
    if (same)
        return;
    FOR_ACTIVE(o, chk, end)
        noted |= o->is->past == CHK_PAST_NOTED;
    if (chk->options.note != NULL && noted)
        chk->options.note(chk->options.context, "a value was changed in the past, so that the checks that depend on history "
                                                "(races, uninitialised values, mismatched barriers) are disabled from here on");
    FOR_ACTIVE(o, chk, end) {
        if (o->is->past == CHK_PAST_UNUSED)
            chk->active[kept++] = *o;
        else
            end(o);
    }
    chk->active_count = kept;
    count(chk);
}

static bool is_enabled(const struct chk *chk, const struct chk_observer *is)
{
    uint64_t kinds = is->kinds;

    if (is == &chk_count_observer && chk->options.counting != CHK_COUNT_NOTHING)
        return true;
    for (unsigned group = 0; group < CHK_CLASS_COUNT; group++)
        kinds |= is->classes >> group & 1 ? chk_class_kinds((enum chk_class)group) : 0;
    return (chk->options.kinds & kinds) != 0;
}

enum lw_status chk_hooks_begin(struct chk *chk, struct lw_error *err)
{
    unsigned enabled = 0;
    enum lw_status status;

    for (unsigned i = 0; i < CHK_OBSERVER_COUNT; i++)
        enabled += is_enabled(chk, observers[i]);
    if (enabled == 0)
        return LW_OK;
    chk->hooks = (struct emu_hooks){.wants = wants, .on_insn = on_insn, .on_access = on_access,
                                .on_step = on_step, .on_stepped = on_stepped,
                                .on_block = on_block, .on_cta = on_cta,
                                .on_warpsync = on_warpsync, .on_replay_end = on_replay_end,
                                .on_pc_edited = on_pc_edited};
    status = emu_machine_set_hooks(chk->machine, &chk->hooks, err);
    if (status != LW_OK)
        return status;
    for (unsigned i = 0; i < CHK_OBSERVER_COUNT; i++) {
        if (!is_enabled(chk, observers[i]))
            continue;
        struct chk_active now = {observers[i], calloc(1, observers[i]->state_bytes)};
        if (now.state != NULL)
            *(struct chk **)now.state = chk;
        if (now.state == NULL || (now.is->begin != NULL && !now.is->begin(now.state))) {
            free(now.state);
            chk_hooks_end(chk);
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the checks");
        }
        chk->active[chk->active_count++] = now;
    }
    count(chk);
    if (chk->at_access[0].is != NULL && chk->at_access[1].is == NULL)
        chk->hooks.on_access = on_access_of_one;
    return LW_OK;
}

void chk_hooks_end(struct chk *chk)
{
    if (chk->hooks.on_access != NULL)
        (void)!emu_machine_set_hooks(chk->machine, NULL, NULL); /* removing hooks cannot fail */
    FOR_ACTIVE(o, chk, end)
        end(o);
    chk->active_count = 0;
}

void chk_hooks_machine_event(struct chk *chk, const struct emu_machine_event *event)
{
    if (emu_machine_is_replaying(chk->machine))
        return; /* the checks were notified when the event first happened */
    FOR_ACTIVE(o, chk, on_machine_event)
        o->is->on_machine_event(o->state, event);
}

void chk_mark_uninitialised(struct chk *chk, uint64_t address, uint64_t bytes)
{
    FOR_ACTIVE(o, chk, mark_uninitialised)
        o->is->mark_uninitialised(o->state, address, bytes);
}

void *chk_state(const struct chk *chk, const struct chk_observer *is)
{
    for (unsigned i = 0; i < chk->active_count; i++)
        if (chk->active[i].is == is)
            return chk->active[i].state;
    return NULL;
}
