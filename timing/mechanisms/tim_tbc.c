/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread block compaction: one stack for all warps of a block, instead of a stack for each warp. Only threads of the top entry
 * run. They all wait for each other at a divergent branch, and at the reconvergence pc of the entry. After each of these waits,
 * the threads of the new top entry are compacted into dynamic warps: the k-th dynamic warp takes, for each lane, the k-th thread
 * with that lane. A dynamic warp issues in lockstep until the next compaction (timing/tables/tim_formed_priv.h).
 *
 *   branch: threads of the entry         stack: rpc, mask           dynamic warps of the top entry
 *     warp 0  taken x . x .              -     1111 1111
 *     warp 1  taken . x . x              join  other 0101 1010
 *                                        join  taken 1010 0101      w0 w1 w0 w1: one instead of two
 *
 * Source: specification of the book on GPU architectures, section 11.1.2. Our choices: threads wait at a branch with a
 * convergence barrier and a vector guard; other branches are uniform. The side with the lower pc runs first. Each scheduler
 * compacts its own warps. If no thread of the top entry can run or arrive, because all wait for something else, the entry
 * below runs.
 *
 * With tbc.capri threads wait only at branches where a predictor (timing/tables/tim_adequacy_priv.h) expects that compaction
 * forms fewer warps. At other branches no entry is pushed: the threads of each warp reconverge at the bsync, as without tbc. For
 * each branch the last outcome of each thread is recorded. These outcomes train the predictor. If threads wait at the branch, it
 * is trained when all of them have issued the branch. If they do not wait, it is trained when the number of threads that have
 * passed the branch equals the number of threads of the entry. Source: the same specification, section 11.1.4. The time of
 * training, and the rules for a branch without a wait, are our choices.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/tables/tim_adequacy_priv.h"
#include "timing/tables/tim_permute_priv.h"

#include <stdlib.h>

enum { DEPTH = 64, ROWS_MOST = 64 };
/** Where a thread continues after a branch. */
enum { SIDE_TAKEN, SIDE_NEXT, SIDE_JOIN, SIDE_COUNT }; /* the branch target; the next instruction; the reconvergence pc */

/** The stack of a block, and the branch at which its threads wait. */
struct stack {
    unsigned live, warps, top; /* live warps; warps that have begun; the level of the top entry */
    unsigned level;            /* level of the entry whose threads run; below `top` only if none of the top entry can run */
    uint16_t slot[TIM_MAX_WARPS];
    uint64_t rpc[DEPTH];       /* by level: reconvergence pc; 0: none */
    uint64_t target[16];       /* by convergence barrier: target of the last bssy */
    bool dirty;                /* a warp has changed since the last call of advance() */
    bool branching;            /* the threads at pc `branch` may issue the branch, and then wait for the others */
    bool issued;               /* all of them have issued it */
    uint64_t branch;
    uint64_t changed_at;       /* 1 + the cycle in which the threads were last compacted */
    unsigned passes[ROWS_MOST]; /* by row of the predictor's table: threads that passed the branch without a wait since its
                                 * training */
    uint64_t due;              /* set of table rows to be trained */
};
/** The last outcome of each thread at a branch. */
struct outcome {
    uint64_t pc;
    uint64_t lanes[SIDE_COUNT][TIM_MAX_WARPS]; /* by slot */
};
struct tbc {
    struct tim_mech base;
    struct stack *stack;       /* [core.blocks] */
    uint8_t block[TIM_MAX_WARPS];
    uint64_t (*mask)[TIM_MAX_WARPS]; /* [DEPTH] by level and slot: threads of the entry */
    uint64_t pending[TIM_MAX_WARPS]; /* by slot: threads that have not issued the branch */
    uint64_t passed[TIM_MAX_WARPS];  /* by slot: threads that have issued the branch */
    uint8_t (*group)[EMU_MAX_LANES]; /* [slot] dynamic warp of each thread */
    struct tim_adequacy adequacy;
    struct outcome *outcome;         /* [adequacy.rows] */
    bool retrained;                  /* a prediction may have changed in the current call of cycle() */
};

static bool is_on(const struct tim_config *config)
{
    return config->tbc_on;
}

static void destroy(struct tim_mech *mech)
{
    struct tbc *tbc = (struct tbc *)mech;

    free(tbc->stack);
    free(tbc->mask);
    free(tbc->group);
    tim_adequacy_fini(&tbc->adequacy);
    free(tbc->outcome);
    free(tbc);
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *c = core->config;
    struct tbc *tbc = calloc(1, sizeof *tbc);
    bool ok;

    if (tbc == NULL)
        return NULL;
    tbc->stack = calloc(c->core_blocks, sizeof *tbc->stack);
    tbc->mask = calloc(DEPTH, sizeof *tbc->mask);
    tbc->group = calloc(TIM_MAX_WARPS, sizeof *tbc->group);
    ok = tbc->stack != NULL && tbc->mask != NULL && tbc->group != NULL;
    if (ok && c->tbc_capri) {
        tbc->outcome = calloc(c->tbc_capri_entries, sizeof *tbc->outcome);
        ok = tbc->outcome != NULL &&
             tim_adequacy_init(&tbc->adequacy, c->tbc_capri_entries, c->tbc_capri_bits, c->tbc_capri_initial == TIM_ADEQUATE);
    }
    if (ok)
        return &tbc->base;
    destroy(&tbc->base);
    return NULL;
}

/** Returns the threads of the entry that runs. */
static uint64_t running(const struct tbc *tbc, const struct stack *st, unsigned warp)
{
    return tbc->mask[st->level][warp];
}

/** Returns the reconvergence pc of the branch at @pc, at which the threads of an entry wait for each other; 0: the instruction
 *  is no such branch. */
static uint64_t reconverges(const struct stack *st, const struct emu_program *program, uint64_t pc)
{
    const struct isa_insn *insn = emu_program_insn(program, pc);

    if (insn == NULL || insn->op != ISA_BRA || insn->guard == ISA_PT || insn->guard_scalar || isa_insn_bo(insn) < 0)
        return 0;
    return st->target[isa_insn_bo(insn) & 15];
}

/** Returns whether threads wait for each other at the branch at @pc, since compaction may form fewer warps. */
static bool expects_gain(const struct tbc *tbc, uint64_t pc)
{
    return tbc->adequacy.rows == 0 || tim_adequacy_predicts(&tbc->adequacy, pc);
}

/** Returns whether threads at @pc wait there for the other threads of level @level. */
static bool waits_at(const struct tbc *tbc, const struct stack *st, unsigned level, const struct emu_program *program, uint64_t pc)
{
    return (st->rpc[level] != 0 && pc == st->rpc[level]) || (reconverges(st, program, pc) != 0 && expects_gain(tbc, pc));
}

/** Makes the warps of a block select their threads again. */
static void reselect(struct tbc *tbc, struct stack *st)
{
    for (unsigned i = 0; i < st->warps; i++)
        tbc->base.core->reselect(tbc->base.core->context, st->slot[i]);
}

/* ---- compaction ------------------------------------------------------------------------------------------------------ */

static void compact(struct tbc *tbc, struct stack *st)
{
    const struct tim_mech_core *core = tbc->base.core;
    const unsigned schedulers = core->config->issue_schedulers;

    st->changed_at = core->now + 1;
    for (unsigned s = 0; s < schedulers; s++) {
        unsigned count[EMU_MAX_LANES] = {0}, most = 0, before = 0;

        for (unsigned i = 0; i < st->warps; i++) {
            const unsigned warp = st->slot[i];
            uint64_t lanes = warp % schedulers == s ? running(tbc, st, warp) & core->live(core->context, warp) : 0;

            before += lanes != 0;
            for (LW_EACH_BIT(l, lanes)) {
                unsigned *in_lane = &count[tim_permuted_lane(core->config, warp, l)];

                tbc->group[warp][l] = (uint8_t)(*in_lane)++;
                most = *in_lane > most ? *in_lane : most;
            }
        }
        core->count[TIM_CORE_tbc_static] += before;
        core->count[TIM_CORE_tbc_dynamic] += most;
    }
    core->count[TIM_CORE_tbc_compactions]++;
    reselect(tbc, st);
}

/* ---- the predictor ----------------------------------------------------------------------------------------------------- */

/** Returns the live threads of the warp that are in the entry that runs. */
static uint64_t present(const struct tbc *tbc, const struct stack *st, unsigned warp)
{
    return running(tbc, st, warp) & tbc->base.core->live(tbc->base.core->context, warp);
}

/** Records the outcome of a branch, which has issued. */
static void record(struct tbc *tbc, struct stack *st, const struct tim_mech_issue *issue, uint64_t rpc)
{
    const struct tim_mech_core *core = tbc->base.core;
    const unsigned row = tim_adequacy_row(&tbc->adequacy, issue->pc);
    struct outcome *o = &tbc->outcome[row];
    struct emu_split_view views[EMU_MAX_LANES];
    const unsigned count = core->views(core->context, issue->warp, views);
    unsigned threads = 0;

    if (o->pc != issue->pc) {
        *o = (struct outcome){.pc = issue->pc};
        for (unsigned b = 0; b < core->config->core_blocks; b++)
            tbc->stack[b].passes[row] = 0;
    }
    for (unsigned side = 0; side < SIDE_COUNT; side++)
        o->lanes[side][issue->warp] &= ~issue->mask;
    for (unsigned k = 0; k < count; k++) {
        const unsigned side = views[k].pc == rpc ? SIDE_JOIN : views[k].pc == issue->pc + ISA_WORD_BYTES ? SIDE_NEXT : SIDE_TAKEN;

        o->lanes[side][issue->warp] |= views[k].lanes & issue->mask;
    }
    if (st->branching && issue->pc == st->branch)
        return;
    core->count[TIM_CORE_tbc_passes]++;
    for (unsigned i = 0; i < st->warps; i++)
        threads += lw_popcount(present(tbc, st, st->slot[i]));
    st->passes[row] += lw_popcount(issue->mask);
    if (st->passes[row] >= threads)
        st->due |= UINT64_C(1) << row;
}

/** Returns whether compaction at a divergent branch reduces the number of warps. Without compaction, the threads of each
 *  dynamic warp run alone on each side of the branch. @only: the threads to count, by slot; NULL: all threads of the running
 *  entry. */
static bool helps(const struct tbc *tbc, const struct stack *st, const struct outcome *o, const uint64_t *only)
{
    const unsigned schedulers = tbc->base.core->config->issue_schedulers;
    unsigned before = 0, after = 0, sides = 0;

    for (unsigned side = 0; side < SIDE_COUNT; side++) {
        bool any = false;

        for (unsigned s = 0; s < schedulers; s++) {
            uint64_t groups[TIM_MAX_WARPS / 64] = {0};
            unsigned count[EMU_MAX_LANES] = {0}, most = 0;

            for (unsigned i = 0; i < st->warps; i++) {
                const unsigned warp = st->slot[i];
                const uint64_t counted = only != NULL ? only[warp] : UINT64_MAX;
                const uint64_t lanes = warp % schedulers == s ? o->lanes[side][warp] & present(tbc, st, warp) & counted : 0;

                for (LW_EACH_BIT(l, lanes)) {
                    groups[tbc->group[warp][l] / 64] |= UINT64_C(1) << tbc->group[warp][l] % 64;
                    const unsigned n = ++count[tim_permuted_lane(tbc->base.core->config, warp, l)];

                    most = n > most ? n : most;
                }
            }
            any |= most != 0;
            for (unsigned i = 0; i < LW_COUNT_OF(groups) && side != SIDE_JOIN; i++)
                before += lw_popcount(groups[i]);
            after += side != SIDE_JOIN ? most : 0;
        }
        sides += any;
    }
    return sides > 1 && after < before;
}

/** Trains the predictor with the outcome of a branch. */
static void train(struct tbc *tbc, const struct stack *st, unsigned row, const uint64_t *only)
{
    const struct outcome *o = &tbc->outcome[row];
    const bool gains = helps(tbc, st, o, only);

    tbc->base.core->count[TIM_CORE_tbc_predictions]++;
    tbc->base.core->count[TIM_CORE_tbc_mispredictions] += gains != tim_adequacy_predicts(&tbc->adequacy, o->pc);
    tbc->retrained |= tim_adequacy_train(&tbc->adequacy, o->pc, gains);
}

/* ---- the stack --------------------------------------------------------------------------------------------------------- */

/** Where the threads of an entry are. */
struct where {
    bool moves, other; /* moves: a thread can run and does not wait for other threads of the entry. other: a thread waits for
                        * something else, such as a block barrier */
    uint64_t branch;          /* lowest pc of a branch at which threads of the entry wait; UINT64_MAX: none */
    const struct emu_program *program;
};

static struct where look_at(const struct tbc *tbc, const struct stack *st, unsigned level)
{
    const struct tim_mech_core *core = tbc->base.core;
    struct where w = {.branch = UINT64_MAX};

    for (unsigned i = 0; i < st->warps; i++) {
        const unsigned warp = st->slot[i];
        struct emu_split_view views[EMU_MAX_LANES];
        struct tim_mech_warp m;

        core->look(core->context, warp, &m);
        if (!m.used || m.ended)
            continue;
        w.program = m.code->program;
        const unsigned count = core->views(core->context, warp, views);
        for (unsigned k = 0; k < count; k++) {
            if ((views[k].lanes & tbc->mask[level][warp]) == 0)
                continue;
            if (views[k].state != EMU_SPLIT_READY) /* also after `yield`, so that a thread that others wait for can run */
                w.other = true;
            else if (!waits_at(tbc, st, level, w.program, views[k].pc))
                w.moves = true;
            else if (views[k].pc != st->rpc[level] && views[k].pc < w.branch)
                w.branch = views[k].pc;
        }
    }
    return w;
}

/** Called when all threads that could arrive at the branch have arrived. Lets these threads issue the branch. */
static void release(struct tbc *tbc, struct stack *st, uint64_t pc)
{
    const struct tim_mech_core *core = tbc->base.core;

    st->branching = true;
    st->issued = false;
    st->branch = pc;
    core->count[TIM_CORE_tbc_branches]++;
    for (unsigned i = 0; i < st->warps; i++) {
        const unsigned warp = st->slot[i];
        struct emu_split_view views[EMU_MAX_LANES];
        const unsigned count = core->views(core->context, warp, views);

        tbc->pending[warp] = tbc->passed[warp] = 0;
        for (unsigned k = 0; k < count; k++)
            if (views[k].pc == pc && views[k].state == EMU_SPLIT_READY)
                tbc->pending[warp] |= views[k].lanes & running(tbc, st, warp);
    }
    reselect(tbc, st);
}

/** Adds an entry with the threads that have issued the branch and are at @pc. */
static void push(struct tbc *tbc, struct stack *st, uint64_t pc, uint64_t rpc)
{
    const struct tim_mech_core *core = tbc->base.core;

    st->level = ++st->top;
    st->rpc[st->top] = rpc;
    for (unsigned i = 0; i < st->warps; i++) {
        const unsigned warp = st->slot[i];
        struct emu_split_view views[EMU_MAX_LANES];
        const unsigned count = core->views(core->context, warp, views);

        tbc->mask[st->top][warp] = 0;
        for (unsigned k = 0; k < count; k++)
            if (views[k].pc == pc)
                tbc->mask[st->top][warp] |= views[k].lanes & tbc->passed[warp];
    }
}

/** Returns the highest pc below @below of a thread that has issued the branch and is not at @rpc; 0: none. */
static uint64_t next_side(const struct tbc *tbc, const struct stack *st, uint64_t below, uint64_t rpc)
{
    const struct tim_mech_core *core = tbc->base.core;
    uint64_t found = 0;

    for (unsigned i = 0; i < st->warps; i++) {
        const unsigned warp = st->slot[i];
        struct emu_split_view views[EMU_MAX_LANES];
        const unsigned count = core->views(core->context, warp, views);

        for (unsigned k = 0; k < count; k++)
            if ((views[k].lanes & tbc->passed[warp]) != 0 && views[k].pc < below && views[k].pc > found && views[k].pc != rpc)
                found = views[k].pc;
    }
    return found;
}

/** Called when all released threads have issued the branch. Pushes an entry for each side that is not at the reconvergence
 *  pc. */
static void resolve(struct tbc *tbc, struct stack *st, const struct emu_program *program)
{
    const uint64_t rpc = reconverges(st, program, st->branch);
    unsigned sides = 0;
    bool at_rpc = false;
    uint64_t pc = UINT64_MAX;

    st->branching = st->issued = false;
    if (program == NULL)
        return;
    if (tbc->adequacy.rows != 0 && tbc->outcome[tim_adequacy_row(&tbc->adequacy, st->branch)].pc == st->branch)
        train(tbc, st, tim_adequacy_row(&tbc->adequacy, st->branch), tbc->passed);
    at_rpc = next_side(tbc, st, rpc + 1, 0) == rpc;
    while ((pc = next_side(tbc, st, pc, rpc)) != 0)
        sides++;
    if (sides == 0 || (sides == 1 && !at_rpc) || st->top + sides >= DEPTH) {
        reselect(tbc, st); /* the branch is uniform, or the stack has no space for the entries: the threads continue */
        return;
    }
    tbc->base.core->count[TIM_CORE_tbc_divergent]++;
    if (st->rpc[st->top] == rpc && st->top != 0 && st->level == st->top)
        st->level = --st->top; /* the entry is removed, because it would only wait for its sides */
    pc = UINT64_MAX;
    while ((pc = next_side(tbc, st, pc, rpc)) != 0)
        push(tbc, st, pc, rpc);
    compact(tbc, st);
}

/** Brings the stack of a block up to date after changes of its warps. Returns true if it has changed. */
static bool advance(struct tbc *tbc, struct stack *st)
{
    const unsigned level = st->level;
    bool popped = false, changed = false;
    struct where w;

    st->dirty = false;
    for (LW_EACH_BIT(row, st->due)) {
        st->passes[row] = 0;
        train(tbc, st, row, NULL);
    }
    st->due = 0;
    if (st->branching) {
        uint64_t left = 0;

        for (unsigned i = 0; i < st->warps; i++)
            left |= tbc->pending[st->slot[i]] & tbc->base.core->live(tbc->base.core->context, st->slot[i]);
        if (left != 0)
            return false;
        w = look_at(tbc, st, 0);
        resolve(tbc, st, w.program);
        changed = true;
    }
    st->level = st->top;
    for (;;) {
        w = look_at(tbc, st, st->level);
        if (w.moves)
            break;
        if (w.branch != UINT64_MAX) {
            release(tbc, st, w.branch);
            changed = true;
            break;
        }
        if (st->level == st->top && st->top != 0 && !w.other) { /* all threads have ended, or are at the reconvergence pc */
            st->level = --st->top;
            popped = true;
        } else if (st->level != 0) {
            st->level--;
        } else {
            break;
        }
    }
    if (popped || (st->level != level && !changed))
        compact(tbc, st);
    return changed || popped || st->level != level;
}

/** Called when a prediction has changed: threads of any block may begin or end their wait at the branch. */
static void reconsider(struct tbc *tbc)
{
    const struct tim_mech_core *core = tbc->base.core;

    for (unsigned b = 0; b < core->config->core_blocks; b++)
        if (tbc->stack[b].live != 0) {
            tbc->stack[b].dirty = true;
            reselect(tbc, &tbc->stack[b]);
        }
}

static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct tbc *tbc = (struct tbc *)mech;
    bool changed = false;

    (void)ready;
    do {
        tbc->retrained = false;
        for (unsigned b = 0; b < mech->core->config->core_blocks; b++)
            if (tbc->stack[b].live != 0 && tbc->stack[b].dirty)
                changed |= advance(tbc, &tbc->stack[b]);
        if (tbc->retrained)
            reconsider(tbc);
        changed |= tbc->retrained;
    } while (tbc->retrained);
    return changed;
}

/* ---- events --------------------------------------------------------------------------------------------------------------- */

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct tbc *tbc = (struct tbc *)mech;
    const unsigned b = mech->core->block_of(mech->core->context, warp);
    struct stack *st = &tbc->stack[b];

    (void)age;
    if (st->live++ == 0)
        *st = (struct stack){.live = 1};
    st->dirty = true;
    st->slot[st->warps++] = (uint16_t)warp;
    tbc->block[warp] = (uint8_t)b;
    tbc->mask[0][warp] = UINT64_MAX;
    tbc->pending[warp] = tbc->passed[warp] = 0;
    for (unsigned row = 0; row < tbc->adequacy.rows; row++)
        for (unsigned side = 0; side < SIDE_COUNT; side++)
            tbc->outcome[row].lanes[side][warp] = 0;
    memset(tbc->group[warp], (int)(st->warps - 1) / (int)mech->core->config->issue_schedulers, sizeof tbc->group[warp]);
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct tbc *tbc = (struct tbc *)mech;

    tbc->stack[tbc->block[warp]].live--;
    tbc->stack[tbc->block[warp]].dirty = true;
}

static void flows(struct tim_mech *mech, unsigned warp)
{
    struct tbc *tbc = (struct tbc *)mech;

    tbc->stack[tbc->block[warp]].dirty = true;
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct tbc *tbc = (struct tbc *)mech;
    struct stack *st = &tbc->stack[tbc->block[issue->warp]];
    const struct isa_insn *insn = emu_program_insn(issue->code->program, issue->pc);
    uint64_t rpc;

    st->dirty = true;
    if (insn != NULL && insn->op == ISA_BSSY)
        st->target[insn->d & 15] = isa_x_target(insn->x, issue->pc);
    if (tbc->adequacy.rows != 0 && (rpc = reconverges(st, issue->code->program, issue->pc)) != 0)
        record(tbc, st, issue, rpc);
    if (st->branching && issue->pc == st->branch) {
        tbc->passed[issue->warp] |= tbc->pending[issue->warp] & issue->mask;
        tbc->pending[issue->warp] &= ~issue->mask;
    }
}

/* ---- which threads issue ------------------------------------------------------------------------------------------------- */

/** Returns those of @lanes, threads at @pc, that may issue now. */
static uint64_t may_issue(const struct tbc *tbc, unsigned warp, const struct emu_program *program, uint64_t pc, uint64_t lanes)
{
    const struct stack *st = &tbc->stack[tbc->block[warp]];

    lanes &= running(tbc, st, warp);
    if (st->branching)
        lanes &= pc == st->branch ? tbc->pending[warp] : ~tbc->passed[warp];
    if (st->branching && pc == st->branch)
        return lanes;
    return waits_at(tbc, st, st->level, program, pc) ? 0 : lanes;
}

/** Returns those of @lanes that are in dynamic warp @group. */
static uint64_t same_group(const struct tbc *tbc, unsigned warp, uint64_t lanes, unsigned group)
{
    uint64_t same = 0;

    for (LW_EACH_BIT(l, lanes))
        same |= (uint64_t)(tbc->group[warp][l] == group) << l;
    return same;
}

/** Selects the threads of a warp that lead: the threads of its first dynamic warp that can run. If these threads are in
 *  several splits, the threads of the split that emu has selected lead. */
static int selects(struct tim_mech *mech, unsigned warp, const struct emu_split_view *views, unsigned count, int selected, uint64_t *lanes)
{
    const struct tbc *tbc = (const struct tbc *)mech;
    const int before = selected;
    struct tim_mech_warp w;
    unsigned best = TIM_MAX_WARPS;

    mech->core->look(mech->core->context, warp, &w);
    for (unsigned i = 0; i < count; i++) {
        uint64_t may = views[i].state == EMU_SPLIT_READY ? may_issue(tbc, warp, w.code->program, views[i].pc, views[i].lanes) : 0;

        for (LW_EACH_BIT(l, may))
            if (tbc->group[warp][l] < best ||
                (tbc->group[warp][l] == best && (int)views[i].id == before && selected != before)) {
                best = tbc->group[warp][l];
                selected = (int)views[i].id;
                *lanes = same_group(tbc, warp, may, best);
            }
    }
    return selected;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct tbc *tbc = (const struct tbc *)mech;
    const struct tim_mech_core *core = mech->core;
    const struct stack *st = &tbc->stack[tbc->block[warp]];
    struct tim_mech_warp w;

    core->look(core->context, warp, &w);
    if (w.lanes == 0 || st->changed_at == core->now + 1 || (may_issue(tbc, warp, w.code->program, w.pc, w.lanes) & w.lanes) != w.lanes)
        return true;
    if (next->whole)
        return false;
    /* a dynamic warp issues when all its threads at this pc can issue */
    const unsigned group = tbc->group[warp][lw_lowest(w.lanes)], schedulers = core->config->issue_schedulers;
    for (unsigned i = 0; i < st->warps; i++) {
        const unsigned other = st->slot[i];
        struct emu_split_view views[EMU_MAX_LANES];

        if (other % schedulers != warp % schedulers || running(tbc, st, other) == 0)
            continue;
        const unsigned count = core->views(core->context, other, views);
        for (unsigned k = 0; k < count; k++) {
            const uint64_t same = views[k].state == EMU_SPLIT_READY && views[k].pc == w.pc
                                      ? same_group(tbc, other, views[k].lanes & running(tbc, st, other), group) : 0;
            if (same != 0 && core->pending(core->context, other, same, next))
                return true;
        }
    }
    return false;
}

/** Two kinds of threads wait until the other threads of the running entry arrive: threads outside this entry, and threads
 *  that have arrived at the entry's branch or reconvergence pc. */
static bool is_stuck(struct tim_mech *mech, unsigned warp)
{
    const struct tbc *tbc = (const struct tbc *)mech;
    const struct stack *st = &tbc->stack[tbc->block[warp]];
    struct tim_mech_warp w;

    mech->core->look(mech->core->context, warp, &w);
    return !st->dirty && st->changed_at != mech->core->now + 1 && w.lanes != 0 && may_issue(tbc, warp, w.code->program, w.pc, w.lanes) == 0;
}

static uint64_t accompanies(struct tim_mech *mech, unsigned leader, unsigned warp, uint64_t lanes, uint64_t taken)
{
    const struct tbc *tbc = (const struct tbc *)mech;
    struct tim_mech_warp w;

    mech->core->look(mech->core->context, leader, &w);
    if (tbc->block[leader] != tbc->block[warp])
        return 0;
    return same_group(tbc, warp, may_issue(tbc, warp, w.code->program, w.pc, lanes), tbc->group[leader][lw_lowest(w.lanes)]) & ~taken;
}

/* ---- reports ------------------------------------------------------------------------------------------------------------- */

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct tbc *tbc = (const struct tbc *)mech;
    const struct stack *st = &tbc->stack[tbc->block[warp]];
    struct tim_mech_warp w;

    mech->core->look(mech->core->context, warp, &w);
    if ((w.lanes & running(tbc, st, warp)) == 0)
        lw_printf(out, "its threads are not in entry %u of the block's stack, which runs", st->level);
    else if (w.lanes != 0 && st->rpc[st->level] == w.pc && w.pc != 0)
        lw_printf(out, "its threads wait at the reconvergence pc for the others of entry %u of the block's stack", st->level);
    else if (w.lanes != 0 && reconverges(st, w.code->program, w.pc) != 0)
        lw_printf(out, "its threads wait at a branch for the others of entry %u of the block's stack", st->level);
    else
        lw_put(out, "it waits for another thread of its dynamic warp, which cannot issue yet");
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct tbc *tbc = (const struct tbc *)mech;
    const struct tim_mech_core *core = mech->core;

    lw_printf(out, "compactions: %llu, of %llu warps into %llu dynamic warps\n", (unsigned long long)core->count[TIM_CORE_tbc_compactions],
              (unsigned long long)core->count[TIM_CORE_tbc_static], (unsigned long long)core->count[TIM_CORE_tbc_dynamic]);
    for (unsigned b = 0; b < core->config->core_blocks; b++)
        for (unsigned level = tbc->stack[b].top + 1; tbc->stack[b].live != 0 && level-- > 0;) {
            unsigned threads = 0;

            for (unsigned i = 0; i < tbc->stack[b].warps; i++)
                threads += lw_popcount(tbc->mask[level][tbc->stack[b].slot[i]] & core->live(core->context, tbc->stack[b].slot[i]));
            lw_printf(out, "  block slot %u, stack entry %u%s: reconvergence pc 0x%llx, %u threads\n", b, level, level == tbc->stack[b].level ? " (runs)" : "",
                      (unsigned long long)tbc->stack[b].rpc[level], threads);
        }
    for (unsigned i = 0; i < tbc->adequacy.rows; i++)
        if (tbc->adequacy.row[i].pc != 0)
            lw_printf(out, "  branch 0x%llx: counter %u of %u: %s\n", (unsigned long long)tbc->adequacy.row[i].pc,
                      tbc->adequacy.row[i].count, tbc->adequacy.most,
                      tim_adequacy_predicts(&tbc->adequacy, tbc->adequacy.row[i].pc) ? "threads wait" : "threads do not wait");
}

const struct tim_mechanism tim_tbc = {
    .name = "tbc", .summary = "thread block compaction: the warps of a block have one stack, and are compacted at divergent branches",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .warp_ends = warp_ends, .flows = flows, .issues = issues,
    .cycle = cycle, .holds = holds, .accompanies = accompanies, .selects = selects, .packet = tim_mech_formed_packet,
    .packets_are_wide = true, .is_stuck = is_stuck, .why = why, .show = show,
};
