/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handlers of control instructions (branches, calls, barriers, exit) and of instructions of the scalar unit. The file is compiled
 * for one x86-64 level only: these handlers have no loops over lanes, so they would not gain from wider vectors.
 *
 * An instruction that may jump or end the time slice is the last of a straight-line run. The handler of the last instruction of a
 * run first adds the run to w->retired, because the functions of emu_split_priv.h that it then calls use this count.
 */
#include <stdio.h>
#include <string.h>

#include "emu/grid/emu_grid_priv.h"
#include "emu/lane/emu_lane_ops_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/tags/emu_compact_priv.h"
#include "emu/lane/emu_math_priv.h"
#include "emu/lane/emu_semantics_priv.h"
#include "emu/memory/emu_mem_priv.h"
#include "emu/emu_next_priv.h"
#include "emu/emu_machine_priv.h"
#include "emu/interp/emu_layers_priv.h"
#include "emu/simt/emu_split_priv.h"

/* ---- continuing ---------------------------------------------------------------- */

/** Jumps to the handler of @t. The caller has already counted the instructions of the straight-line run that ends before @t. If
 *  the straight-line run that begins at @t is longer than the rest of the warp's budget, jumps to emu_slice_expired() instead. */
static void jump(struct emu_warp *w, const struct emu_dinsn *t)
{
    w->run_start = t;
    if (t->run > w->budget)
        EMU_TAIL emu_slice_expired(w, t);
    EMU_GO(w, t);
}

/*
 * Marks a function that does the work of a handler, if this work needs arrays as local variables. The function returns the
 * instruction at which the handler continues, or NULL if the time slice or the warp's chain has ended. The arrays cannot be in
 * the handler itself: gcc does not compile the last call of a function to a jump if the function has passed the address of a
 * local variable to another function. Such a handler would leave its frame on the host's stack, which would overflow, because a
 * chain has up to 65,536 handlers. tests/emu/exec/test_chain.sh executes all these handlers.
 */
#define EMU_ASIDE static __attribute__((noinline))

static void go_on(struct emu_warp *w, const struct emu_dinsn *t)
{
    if (t != NULL)
        EMU_TAIL jump(w, t);
}

/** Continues after @di, which had no effect because no lane is active. Raises a fault after the last
 *  instruction of a function. */
static void fall_through(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (di->flags & EMU_D_LAST) {
        emu_raise(w, di, EMU_FAULT_BAD_PC, w->m,
                  "execution runs past the end of the function: no lane is active at its last instruction");
        return;
    }
    emu_count_run(w, di);
    jump(w, di + 1);
}

/** Ends the time slice. The functions that changed the splits have already stored the pcs. */
static void slice_over(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_leave(w, EMU_LEAVE_SLICE_END, di);
}

/** Reserves entries in the reconvergence engine's table for the instruction @di, which divides the split into up to @sides parts.
 *  If the table is full, raises a fault and returns false. */
static __attribute__((noinline, cold)) bool has_capacity(struct emu_warp *w,
                                                     const struct emu_dinsn *di, unsigned sides)
{
    if (w->reconv->room(w, sides))
        return true;
    emu_raise(w, di, EMU_FAULT_SIMT_STACK, w->m, "the SIMT stack has %u entries, and at most %u are allowed",
              w->simt.count, EMU_SIMT_LIMIT);
    return false;
}

/** Called if the guard of @di is true only in the lanes @on of the split. Raises a fault and returns false if lanes must not
 *  diverge at @di, because exec does not cover all live lanes, or because @parts is set and the reconvergence engine's table of
 *  entries is full. @parts: the instruction makes the lanes @on a separate split. */
static __attribute__((noinline, cold)) bool may_part(struct emu_warp *w,
                                                     const struct emu_dinsn *di, uint64_t on,
                                                     bool parts)
{
    if ((emu_exec_mask(w) & w->live) != w->live) {
        emu_raise(w, di, EMU_FAULT_EXEC_SPLIT, w->m & ~on,
                  "lanes diverge at the guard although exec does not cover all live lanes");
        return false;
    }
    return !parts || w->reconv->room == NULL || has_capacity(w, di, 1);
}

/** Sets *@on to the lanes that a control instruction acts on: the lanes of the split whose guard is true. If the guard is true in
 *  only some lanes of the split, may_part() tests whether this is permitted. If it is not permitted, a fault is raised (MACHINE
 *  1), and the function returns false. */
static bool control_lanes(struct emu_warp *w, const struct emu_dinsn *di, bool parts, uint64_t *on)
{
    *on = w->m & emu_guard(w, di);
    return *on == 0 || *on == w->m || may_part(w, di, *on, parts);
}

/* ---- branches ------------------------------------------------------------------------ */

static bool may_split(struct emu_warp *w, const struct emu_dinsn *di)
{
    if ((emu_exec_mask(w) & w->live) == w->live)
        return w->reconv->room == NULL || has_capacity(w, di, w->m_count);
    emu_raise(w, di, EMU_FAULT_EXEC_SPLIT, w->m,
              "lanes diverge at this branch although exec does not cover all live lanes");
    return false;
}

/** Divides the split at a branch. The function is not inlined, so that branches that do not diverge need not execute its
 *  prologue. */
static __attribute__((noinline)) void part_in_two(struct emu_warp *w, const struct emu_dinsn *di,
                                                  uint64_t taken)
{
    if (!may_split(w, di))
        return;
    emu_count_run(w, di);
    if (w->ctag != NULL && w->core->machine->config.tag_expansion == EMU_TAG_EAGER)
        emu_compact_forget(w);
    w->core->stats.divergences++;
    emu_split_branch2(w, taken, di[di->delta].index, di->index + 1);
    slice_over(w, di);
}

static void emu_c_bra(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_dinsn *target = di + di->delta;

    if ((di->guard & 7) == ISA_PT && !(di->guard & 24) && w->e != 0) {
        emu_count_run(w, di);
        jump(w, target);
        return;
    }
    if (w->e == 0) { /* No lane is active, so the branch is not taken. */
        fall_through(w, di);
        return;
    }
    uint64_t g = emu_guard(w, di), ask = w->e, taken = ask & g;
    if (taken == 0 || taken == ask || di->delta == 1) { /* All lanes take the same side or, with a distance of +1, both sides
                                                         * continue at the next instruction. */
        emu_count_run(w, di);
        jump(w, taken == 0 ? di + 1 : target);
        return;
    }
    part_in_two(w, di, taken);
}

/** Handler of a scalar branch, which ignores exec, and whose guard cannot make lanes diverge. */
static void emu_c_s_bra(struct emu_warp *w, const struct emu_dinsn *di)
{
    bool on = w->sp[di->guard & 7] != (di->guard >> 3 & 1);

    if (!on) {
        fall_through(w, di);
        return;
    }
    emu_count_run(w, di);
    jump(w, di + di->delta);
}

/** Called when a time slice ends within a loop or straight-line code. If the split is alone in its warp, keeps for the next slice
 *  what is known about the layout of addresses (EMU_PROVED_EQUAL, EMU_PROVED_RUN). The known layout remains valid, because the
 *  split continues with the same registers; if a debugger writes registers, emu_view.c discards these results. Host addresses are
 *  not kept, because memory may be allocated or freed between slices. */
static void keep_forms(struct emu_warp *w, const void *forms)
{
    if (w->split_count == 1)
        memcpy(w->proved, forms, sizeof w->proved);
}

void emu_loop_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_dinsn *target = di + di->delta;
    const bool on = di->op == ISA_S_BRA ? w->sp[di->guard & 7] != (di->guard >> 3 & 1)
                                        : w->e != 0 && (w->e & ~emu_guard(w, di)) == 0;
    uint64_t keep;
    _Static_assert(sizeof keep == sizeof w->proved, "aux has a byte of each");

    if (!on) {
        if (di->op == ISA_S_BRA)
            emu_c_s_bra(w, di);
        else
            emu_c_bra(w, di);
        return;
    }
    memcpy(&keep, w->proved, sizeof keep);
    emu_count_run(w, di); /* clears w->proved */
    w->run_start = target;
    keep &= di->aux;
    if (target->run > w->budget) {
        keep_forms(w, &keep);
        EMU_TAIL emu_slice_expired(w, target);
    }
    memcpy(w->proved, &keep, sizeof keep);
    EMU_GO(w, target);
}

/** Gets the instruction at a 64-bit guest address for each lane of @lanes. Returns false if a fault was
 *  raised. */
static bool targets_of(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes,
                       bool entry_only, uint32_t *target)
{
    const struct emu_program *program = w->code->program;
    const uint32_t *low = emu_row(w, di->a), *high = low + w->stride / 4;
    uint64_t bad = 0;

    for (LW_EACH_BIT(l, lanes)) {
        uint64_t at = (uint64_t)high[l] << 32 | low[l], offset = at - program->base;
        uint64_t index = offset / ISA_WORD_BYTES;
        bool ok = offset % ISA_WORD_BYTES == 0 && index < program->count;
        if (ok && entry_only) {
            const struct isa_function *f =
                isa_object_function_at(program->object, (uint32_t)index);
            ok = f != NULL && f->first == index && !f->kernel;
        }
        if (ok)
            target[l] = (uint32_t)index;
        else
            bad |= UINT64_C(1) << l;
    }
    if (bad == 0)
        return true;
    unsigned l = lw_lowest(bad);
    uint64_t at = (uint64_t)high[l] << 32 | low[l];
    emu_raise(w, di, entry_only ? EMU_FAULT_BAD_CALL : EMU_FAULT_BAD_PC, bad,
              "lane %u jumps to 0x%llx, which is not %s", l, (unsigned long long)at,
              entry_only ? "the entry of a function" : "an instruction of this program");
    w->fault.address = at;
    return false;
}

/** Lets the lanes of the split continue at target[l]. Returns the common target, or NULL if the lanes diverge or a fault was
 *  raised. */
static const struct emu_dinsn *go_to_targets(struct emu_warp *w, const struct emu_dinsn *di,
                                             uint32_t *target, uint64_t on)
{
    const struct emu_dinsn *code = w->code->insn;
    unsigned first = lw_lowest(w->m);
    bool same = true;

    for (LW_EACH_BIT(l, w->m)) {
        if (!(on >> l & 1))
            target[l] = di->index + 1;
        same = same && target[l] == target[first];
    }
    if (same) {
        if (w->reconv->jumped != NULL && target[first] != di->index + 1) {
            if (!has_capacity(w, di, 1))
                return NULL;
            w->reconv->jumped(w, di->index);
        }
        emu_count_run(w, di);
        return code + target[first];
    }
    if (!may_split(w, di))
        return NULL;
    emu_count_run(w, di);
    if (w->ctag != NULL && w->core->machine->config.tag_expansion == EMU_TAG_EAGER)
        emu_compact_forget(w);
    w->core->stats.divergences++;
    emu_split_branch(w, target, di->index + 1);
    slice_over(w, di);
    return NULL;
}

/** Returns the lanes that a branch takes. If exec does not cover all live lanes, only active lanes decide: the whole split takes
 *  the side that all active lanes take. */
static uint64_t guarded_lanes(const struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t taken = w->e & emu_guard(w, di);

    if (taken != 0 && taken == w->e)
        return w->m;
    return taken;
}

EMU_ASIDE const struct emu_dinsn *indirect_targets(struct emu_warp *w, const struct emu_dinsn *di,
                                                   uint64_t on)
{
    const bool direct = di->op == ISA_CALL, call = direct || di->op == ISA_CALLX;
    uint32_t target[EMU_MAX_LANES];

    if (direct) {
        for (LW_EACH_BIT(l, on))
            target[l] = (uint32_t)((int64_t)di->index + di->delta);
    } else {
        uint64_t ask = on & w->e;
        if (!targets_of(w, di, ask, call, target))
            return NULL;
        /* lanes outside exec continue where the lowest active lane does (MACHINE 1) */
        for (LW_EACH_BIT(l, on & ~w->e))
            target[l] = target[lw_lowest(ask)];
    }
    if (call) {
        uint64_t back = w->code->program->base + (uint64_t)(di->index + 1) * ISA_WORD_BYTES;
        uint32_t *low = emu_row(w, di->d), *high = low + w->stride / 4;
        bool parts = on != w->m;
        if (parts && !may_split(w, di))
            return NULL;
        for (LW_EACH_BIT(l, on)) {
            low[l] = (uint32_t)back;
            high[l] = (uint32_t)(back >> 32);
        }
    }
    return go_to_targets(w, di, target, on);
}

static void emu_c_indirect(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = guarded_lanes(w, di);

    if (on == 0)
        EMU_TAIL fall_through(w, di);
    EMU_TAIL go_on(w, indirect_targets(w, di, on));
}

static void emu_c_exit(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di); /* if exec does not cover all live lanes, only active lanes exit */

    if (on == 0) {
        fall_through(w, di);
        return;
    }
    if (on != w->m && di->flags & EMU_D_LAST) {
        emu_raise(w, di, EMU_FAULT_BAD_PC, w->m & ~on,
                  "execution runs past the end of the function: these lanes do not take the exit at its end");
        return;
    }
    if (w->ctag != NULL && on != w->live)
        emu_compact_rows(w); /* materialises tagged registers, so that the lanes that exit keep their values */
    emu_count_run(w, di);
    emu_split_exit(w, on, di->index + 1);
    slice_over(w, di);
    if (!emu_split_has_ready(w))
        emu_switch_to_next_warp(w);
}

/** Executes an exit without a guard, by which most warps end. */
static void exit_whole(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (w->split_count == 1 && w->e == w->live && w->flow == NULL &&
        w->reconv == &emu_reconv_cbar && w->block->cta_open == 0) {
        emu_count_run(w, di);
        emu_split_exit_alone(w);
        return;
    }
    EMU_TAIL emu_control_handler(ISA_EXIT)(w, di);
}
/** Executes an exit with a guard. The guard is usually false in all lanes, so this is tested first. */
static void exit_guarded(struct emu_warp *w, const struct emu_dinsn *di)
{
    if ((w->e & emu_guard(w, di)) == 0 && !(di->flags & EMU_D_LAST)) {
        emu_count_run(w, di);
        EMU_TAIL jump(w, di + 1);
    }
    EMU_TAIL emu_control_handler(ISA_EXIT)(w, di);
}

/* ---- convergence barriers ---------------------------------------------------------------- */

static void emu_c_bssy(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on;

    if (!control_lanes(w, di, false, &on))
        return;
    if (on != 0 && emu_split_bssy_frees(w, di->sub, on)) {
        /* A lane that overwrites its group number leaves its convergence group. If the other lanes of the group wait only for
         * that lane, they now continue. */
        emu_count_run(w, di);
        emu_split_bssy(w, di->sub, on);
        jump(w, di + 1);
        return;
    }
    if (on != 0)
        emu_split_bssy(w, di->sub, on);
    EMU_GO(w, di + 1);
}

static void emu_c_bsync(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on;

    if (w->flow == NULL && (di->guard & 31) == ISA_PT &&
        emu_split_bsync_uncontended(w, di->sub, w->m, w->retired + (uint64_t)(di - w->run_start) + 1)) {
        emu_count_run(w, di);
        jump(w, di + 1);
        return;
    }
    if (!control_lanes(w, di, true, &on))
        return;
    emu_count_run(w, di);
    if (on == 0 || emu_split_bsync(w, di->sub, di->flags & EMU_D_SOFT, on, di->index + 1))
        jump(w, di + 1);
    else
        slice_over(w, di);
}

static void emu_c_bbreak(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on;

    if (!control_lanes(w, di, false, &on))
        return;
    emu_count_run(w, di);
    if (on != 0)
        emu_split_bbreak(w, di->sub, on);
    jump(w, di + 1);
}

static void emu_c_yield(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on;

    if (!control_lanes(w, di, true, &on))
        return;
    emu_count_run(w, di);
    if (on == 0) {
        jump(w, di + 1);
        return;
    }
    emu_split_yield(w, on, di->index + 1);
    slice_over(w, di);
}

/** Converts member masks of lanes to the machine's lane masks (virtual warps of 32, MACHINE 1). The masks are in the vector
 *  register @masks. If @masks is NULL, @value is the mask of all lanes. */
static void member_masks(const struct emu_warp *w, uint64_t lanes, const uint32_t *masks,
                         uint32_t value, uint64_t *member)
{
    for (LW_EACH_BIT(l, lanes)) {
        uint32_t m = masks != NULL ? masks[l] : value;
        member[l] = l >= 32 ? (uint64_t)m << 32 : m;
        if (w->width < 32)
            member[l] &= w->all;
    }
}

/** Does the same as member_masks(), and raises a fault and returns false if a lane is not a member of its own mask. @fmt is the
 *  format of the fault's clause, with the lane and its mask as arguments. */
static bool members_with_self(struct emu_warp *w, const struct emu_dinsn *di, uint64_t lanes, const uint32_t *masks,
                              uint32_t value, const char *fmt, uint64_t *member)
{
    uint64_t wrong = 0;

    member_masks(w, lanes, masks, value, member);
    for (LW_EACH_BIT(l, lanes))
        if (!(member[l] >> l & 1))
            wrong |= UINT64_C(1) << l;
    if (wrong != 0)
        emu_raise(w, di, EMU_FAULT_WARPSYNC_SELF, wrong, fmt, lw_lowest(wrong),
                  (unsigned long long)member[lw_lowest(wrong)]);
    return wrong == 0;
}

EMU_ASIDE const struct emu_dinsn *warpsync(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t member[EMU_MAX_LANES], lacking, on;

    if (!control_lanes(w, di, true, &on))
        return NULL;
    if (on == 0) {
        emu_count_run(w, di);
        return di + 1;
    }
    if (!members_with_self(w, di, on, di->ukind == EMU_U_ROW ? emu_row(w, di->b) : NULL,
                           di->ukind == EMU_U_ROW ? 0 : emu_uniform32(w, di),
                           "lane %u waits with mask 0x%llx, which does not contain the lane", member))
        return NULL;
    emu_count_run(w, di);
    (void)emu_split_warpsync(w, on, member, di->index + 1, &lacking);
    slice_over(w, di);
    return NULL;
}
static void emu_c_warpsync(struct emu_warp *w, const struct emu_dinsn *di)
{
    EMU_TAIL go_on(w, warpsync(w, di));
}

/* ---- CTA barriers ---------------------------------------------------------------------------- */

EMU_ASIDE const struct emu_dinsn *cta_arrive(struct emu_warp *w, const struct emu_dinsn *di)
{
    const bool wait = di->op != ISA_BAR_ARRIVE, reduce = wait && di->op != ISA_BAR_SYNC;
    char why[160];
    uint64_t on;
    uint32_t id = di->reg, count = 0;

    if (!control_lanes(w, di, true, &on))
        return NULL;
    if (on == 0) {
        emu_count_run(w, di);
        return di + 1;
    }
    if (di->ukind == EMU_U_ROW)
        id = emu_row(w, di->b)[lw_lowest(on)];
    else
        id = emu_uniform32(w, di);
    if (di->flags & EMU_D_COUNTED)
        count = emu_row(w, di->c)[lw_lowest(on)];
    bool by_lane = di->ukind == EMU_U_ROW || di->flags & EMU_D_COUNTED;
    for (LW_EACH_BIT(l, by_lane ? on : 0)) {
        if ((di->ukind == EMU_U_ROW && emu_row(w, di->b)[l] != id) ||
            (di->flags & EMU_D_COUNTED && emu_row(w, di->c)[l] != count)) {
            emu_raise(w, di, EMU_FAULT_BARRIER_COUNT, UINT64_C(1) << l,
                      "lane %u executes this instruction with another barrier number or thread count than lane %u", (unsigned)l,
                      lw_lowest(on));
            return NULL;
        }
    }
    if (id >= ISA_CTA_BARRIER_COUNT) {
        emu_raise(w, di, EMU_FAULT_BARRIER_COUNT, on, "there is no CTA barrier %u: the barriers are 0 to 15", id);
        return NULL;
    }
    /* The functions for splits need w->retired to include the straight-line run. If the arrival is refused, the count is
     * undone. */
    const struct emu_dinsn *run_start = w->run_start;
    int64_t budget = w->budget;
    uint64_t retired = w->retired, lane_retired = w->lane_retired;
    emu_count_run(w, di);
    if (w->flow != NULL) {
        w->flow->cta.used = true;
        w->flow->cta.id = (uint8_t)id;
        w->flow->cta.expected = di->flags & EMU_D_COUNTED ? count : w->block->threads_live;
    }
    uint64_t active = on & emu_exec_mask(w);
    struct emu_reduction red = { di->index, lw_popcount(active),
                                 lw_popcount(active & emu_predicate(w, di->r)) };
    enum emu_cta_result r =
        emu_split_bar(w, id, on, di->flags & EMU_D_COUNTED, count, wait, di->index + 1,
                      reduce ? &red : NULL, why, sizeof why);
    if (r == EMU_CTA_BAD) {
        if (w->flow != NULL)
            w->flow->cta.used = false;
        w->run_start = run_start;
        w->budget = budget;
        w->retired = retired;
        w->lane_retired = lane_retired;
        emu_raise(w, di, EMU_FAULT_BARRIER_COUNT, on, "%s", why);
        return NULL;
    }
    if (w->flow != NULL) {
        const struct emu_cta_barrier *c = &w->block->cta[id];
        w->flow->cta.completed = r == EMU_CTA_COMPLETED;
        w->flow->cta.arrived = r == EMU_CTA_COMPLETED ? w->flow->cta.expected : c->arrived;
        w->flow->cta.generation = c->generation;
    }
    if (!wait)
        return di + 1;
    slice_over(w, di);
    return NULL;
}
static void emu_c_bar(struct emu_warp *w, const struct emu_dinsn *di)
{
    EMU_TAIL go_on(w, cta_arrive(w, di));
}
/** Executes bar.sync where the instruction names barrier di->reg, and has neither a count nor a guard. */
static void bar_sync_known(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (emu_split_bar_usual(w, di->reg)) {
        emu_count_run(w, di);
        if (emu_split_bar_alone(w, di->reg, di->index + 1))
            EMU_TAIL emu_switch_to_next_warp(w);
        return;
    }
    emu_c_bar(w, di);
}

/* ---- system -------------------------------------------------------------------------------------- */

static void emu_c_fence(struct emu_warp *w, const struct emu_dinsn *di)
{
    EMU_GO(w, di + 1); /* A fence has no effect, because execution is sequentially consistent (MACHINE 5). */
}

static void emu_c_nanosleep(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on, length;

    if (!control_lanes(w, di, true, &on))
        return;
    emu_count_run(w, di);
    if (on == 0) {
        jump(w, di + 1);
        return;
    }
    length = di->ukind == EMU_U_ROW ? emu_row(w, di->b)[lw_lowest(on)] : emu_uniform32(w, di);
    if (w->core->ops.sleep_length != NULL) {
        length = w->core->ops.sleep_length(w->core->context, (uint32_t)length);
        emu_nondet_record(w->core, EMU_NONDET_SLEEP, length);
    }
    (void)emu_nondet_replay(w->core, EMU_NONDET_SLEEP, &length);
    emu_split_sleep(w, on, length, di->index + 1);
    slice_over(w, di);
}

/** Executes a launch. The warp leaves its chain after the launch, so that the engine can make launched blocks resident before the
 *  next instruction. The warp's time slice may continue. */
static void emu_c_launch(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint64_t on = w->e & emu_guard(w, di);

    if (on == 0)
        EMU_GO(w, di + 1);
    if (!emu_launch_lanes(w, di, on, di->op == ISA_LAUNCH_GROUP))
        return;
    (void)emu_slice_end_unpatch(w);
    emu_count_run(w, di);
    w->budget = 0;
    emu_leave(w, EMU_LEAVE_BUDGET, di + 1);
}

/** Makes lanes wait until the kernels that their block launched are complete. */
static void emu_c_launch_sync(struct emu_warp *w, const struct emu_dinsn *di)
{
    unsigned depth = w->block->grid->depth, most = w->core->machine->config.launch_depth;
    uint64_t on;

    if (!control_lanes(w, di, w->block->children != 0, &on))
        return;
    if (on != 0 && depth >= most) {
        emu_raise(w, di, EMU_FAULT_LAUNCH_DEPTH, on, "a kernel at launch depth %u waits for its own launches: only "
                                                     "kernels at a depth below %u may wait (option launch_depth)",
                                                     depth, most);
        return;
    }
    emu_count_run(w, di);
    if (on == 0 || w->block->children == 0) {
        jump(w, di + 1);
        return;
    }
    emu_split_launch_wait(w, on, di->index + 1);
    slice_over(w, di);
}

static void emu_c_trap(struct emu_warp *w, const struct emu_dinsn *di)
{
    const uint64_t on = w->e & emu_guard(w, di);
    const uint32_t code = on != 0 ? emu_uniform32(w, di) : 0;

    if (on == 0)
        fall_through(w, di);
    else
        emu_raise(w, di, EMU_FAULT_TRAP, on, "the code of the trap is %u%s", code,
                  code == ISA_TRAP_OUTSIDE_SURFACE ? ": an access outside the surface"
                  : code == ISA_TRAP_NO_SURFACE    ? ": the object is not a surface"
                                                   : "");
}

/* ---- instructions with semantics CALL for which lanes must be together ----------------------------------- */

static bool scalar_allowed(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (w->m == w->live)
        return true;
    struct emu_machine *machine = w->core->machine;
    if (machine->config.scalar_rule == EMU_SCALAR_WARN && !machine->scalar_warned &&
        machine->print != NULL) {
        machine->scalar_warned = true;
        lw_printf(machine->print,
                  "warning: only lanes 0x%llx of live lanes 0x%llx write a scalar register, block %llu warp %u, pc "
                  "0x%llx (reported once)\n",
                  (unsigned long long)w->m, (unsigned long long)w->live,
                  (unsigned long long)w->block->linear, w->index,
                  (unsigned long long)(w->code->program->base + (uint64_t)di->index * 16));
    }
    if (machine->config.scalar_rule != EMU_SCALAR_FAULT)
        return true;
    emu_raise(w, di, EMU_FAULT_SCALAR_WRITE, w->m,
              "only lanes 0x%llx of live lanes 0x%llx write a scalar register",
              (unsigned long long)w->m, (unsigned long long)w->live);
    return false;
}

/** Checks a write to s126 or s127, which changes exec: the write is legal only while the warp is one split. */
static bool exec_allowed(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (w->m == w->live)
        return true;
    emu_raise(w, di, EMU_FAULT_EXEC_WRITE, w->m,
              "only lanes 0x%llx of live lanes 0x%llx write exec; the warp has diverged into %u splits",
              (unsigned long long)w->m, (unsigned long long)w->live, w->split_count);
    return false;
}

static bool writes_exec(const struct emu_dinsn *di, unsigned words)
{
    return di->reg + words > ISA_S_EXEC && di->reg < 128;
}

static bool scalar_guard(const struct emu_warp *w, const struct emu_dinsn *di)
{
    bool on = w->sp[di->guard & 7];

    return di->guard & 8 ? !on : on;
}

/** Executes a cross-lane instruction with members: lanes wait until all lanes of their member mask have arrived. */
EMU_ASIDE const struct emu_dinsn *sync_row(struct emu_warp *w, const struct emu_dinsn *di, emu_call_fn *f)
{
    uint64_t member[EMU_MAX_LANES], on, go;

    if (!control_lanes(w, di, true, &on))
        return NULL;
    if (on == 0) {
        emu_count_run(w, di);
        return di + 1;
    }
    /* If the instruction names no register with member masks, all lanes of the virtual warp are members. */
    const uint32_t *masks = di->delta != EMU_NO_MEMBERS ? emu_row(w, (uint32_t)di->delta) : NULL;
    if (!members_with_self(w, di, on, masks, ~UINT32_C(0), "lane %u has the member mask 0x%llx, which does not contain "
                                                           "the lane", member))
        return NULL;
    emu_count_before(w, di);
    go = emu_split_sync(w, on, member, di->index);
    if (go == 0) { /* the lanes wait here; the last lane to arrive lets all of them execute the instruction */
        slice_over(w, di);
        return NULL;
    }
    emu_count_run(w, di);
    /* Executes the instruction separately for each set of member lanes. A split may contain several sets, all of which are
     * complete. */
    member_masks(w, go, masks, ~UINT32_C(0), member);
    while (go != 0) {
        uint64_t first = member[lw_lowest(go)], group = 0;
        for (LW_EACH_BIT(l, go))
            group |= (uint64_t)(member[l] == first) << l;
        f(w, di, group & emu_exec_mask(w));
        go &= ~group;
    }
    return di + 1;
}

static inline void call_row(struct emu_warp *w, const struct emu_dinsn *di, unsigned flags,
                            emu_call_fn *f)
{
    if (flags & ISA_F_SCALAR) {
        bool exec = writes_exec(di, (unsigned)di->delta);
        if (!(exec ? exec_allowed(w, di) : scalar_allowed(w, di)))
            return;
        if (scalar_guard(w, di))
            f(w, di, w->e);
        if (exec)
            emu_warp_set_lanes(w, w->m);
        EMU_GO(w, di + 1);
        return;
    }
    if (flags & ISA_F_SYNC)
        EMU_TAIL go_on(w, sync_row(w, di, f));
    emu_count_run(w, di);
    if ((w->e & emu_guard(w, di)) != 0)
        f(w, di, w->e & emu_guard(w, di));
    EMU_TAIL jump(w, di + 1);
}

/* ---- scalar arithmetic and loads --------------------------------------------------------------------- */

#include "emu/interp/emu_scalar_body.h"

/* ---- the table of handlers ------------------------------------------------------------------------------ */

#define CONTROL(f) f(w, di)
#define CALL(f) call_row(w, di, row_flags, f)
#define CODE_CONTROL EMU_IS(SAME)
#define CODE_CALL EMU_IS(SAME)
#define CODE_SCALAR EMU_IS(SAME)
#define CODE_SCALAR_LOAD EMU_IS(SAME)
#define CODE(group) EMU_BY_GROUP(CODE_, group, NO_CODE)
#define SAME(...) __VA_ARGS__
#define NO_CODE(...) (void)w, (void)di

#define ROW(where, name, known, slow_, flags, ...)                                            \
    static where void name(struct emu_warp *w, const struct emu_dinsn *di)                      \
    {                                                                                         \
        const unsigned row_flags = (flags);                                                   \
        emu_handler_fn *const slow = slow_;                                                   \
        const bool is_known = known, is_slow = slow == NULL;                                  \
        (void)row_flags;                                                                      \
        (void)is_known, (void)is_slow, (void)slow;                                            \
        __VA_ARGS__;                                                                          \
    }
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    ROW(__attribute__((noinline)), control_slow_##id, false, NULL, flags, CODE(EMU_GROUP_##semantics)(semantics))
#include "isa/insns.def"
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    ROW(, control_##id, false, control_slow_##id, flags, CODE(EMU_GROUP_##semantics)(semantics))
#include "isa/insns.def"
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, semantics)      \
    ROW(, control_known_##id, true, control_slow_##id, flags, CODE(EMU_GROUP_##semantics)(semantics))
#include "isa/insns.def"

static emu_handler_fn *const handlers[ISA_OP_COUNT] = {
#define INSN(id, ...) [ISA_##id] = control_##id,
#include "isa/insns.def"
};
/* arithmetic on scalar registers */
#define IS_SCALAR(flags) (((flags) & (ISA_F_SCALAR | ISA_F_CONTROL | ISA_F_MEMORY | ISA_F_CROSS)) == ISA_F_SCALAR)
static emu_handler_fn *const known[ISA_OP_COUNT] = {
#define INSN(id, mnemonic, format, opcode, unit, order, tag, flags, operands, ...)                 \
    [ISA_##id] = IS_SCALAR(flags) ? control_known_##id : NULL,
#include "isa/insns.def"
};

emu_handler_fn *emu_control_handler(enum isa_op op)
{
    return handlers[op];
}

/** Returns true for a scalar instruction that needs no check in full handlers, where all lanes of the warp are active: it has no
 *  guard, writes registers below exec and does not read sz. */
static bool scalar_known(const struct isa_insn *insn, const struct isa_op_info *info,
                         const struct emu_dinsn *di)
{
    if ((di->guard & 15) != ISA_PT)
        return false;
    if (isa_op_words(info, ISA_TOK_SA, ISA_TOK_SA2) != 0 && insn->a >= ISA_S_EXEC)
        return false;
    if (isa_op_has(info, ISA_TOK_SC) && insn->c >= ISA_S_EXEC)
        return false;
    if (info->format == ISA_FMT_CMP)
        return (di->sub >> 4 & 3) == ISA_BOOL_NONE && di->q < ISA_PT;
    return di->reg + (unsigned)di->delta <= ISA_S_EXEC;
}

void emu_control_handlers(const struct isa_insn *insn, const struct emu_dinsn *di,
                          struct emu_handlers *out)
{
    const enum isa_op op = di->ukind == EMU_U_SPECIAL ? ISA_S_MOV_B32 : (enum isa_op)insn->op;

    out->full = out->part = handlers[op];
    if (known[op] != NULL && scalar_known(insn, isa_op_info((enum isa_op)insn->op), di))
        out->full = known[op];
    if (op == ISA_BAR_SYNC && insn->xkind == ISA_X_IMM && insn->x < ISA_CTA_BARRIER_COUNT &&
        !(di->flags & EMU_D_COUNTED) && (di->guard & 31) == ISA_PT)
        out->full = out->part = bar_sync_known;
    if (op == ISA_EXIT && (di->guard & 31) == ISA_PT)
        out->full = out->part = exit_whole;
    else if (op == ISA_EXIT)
        out->full = out->part = exit_guarded;
}

/* ---- breakpoints, the end of the budget ----------------------------------------------------------- */

void emu_stalled_step_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    if (di->flags & EMU_D_ENDS_RUN) {
        emu_count_run(w, di);
        jump(w, di + 1);
        return;
    }
    EMU_GO(w, di + 1);
}
void emu_rpc_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    const struct emu_handlers below = emu_code_below(w->code, di->index, EMU_LAYER_RPC);

    w->di = di;
    emu_count_before(w, di); /* reach() reads the warp's count of instructions */
    if (w->reconv->reach != NULL && w->reconv->reach(w)) {
        slice_over(w, di);
        return;
    }
    (w->full ? below.full : below.part)(w, di);
}

void emu_break_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_count_before(w, di);
    emu_leave(w, EMU_LEAVE_BREAK, di);
}
void emu_count_and_keep(struct emu_warp *w, const struct emu_dinsn *di)
{
    uint8_t forms[EMU_ADDR_CHECKS];

    for (unsigned i = 0; i < EMU_ADDR_CHECKS; i++)
        forms[i] = w->proved[i] & (EMU_PROVED_EQUAL | EMU_PROVED_RUN);
    emu_count_before(w, di);
    keep_forms(w, forms);
}
void emu_budget_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_count_and_keep(w, di);
    emu_leave(w, EMU_LEAVE_BUDGET, di);
}
void emu_bad_pc_handler(struct emu_warp *w, const struct emu_dinsn *di)
{
    emu_raise(w, di, EMU_FAULT_BAD_PC, w->m, "execution ran past the end of the code");
}
