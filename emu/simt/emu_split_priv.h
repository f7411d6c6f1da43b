/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits, convergence barriers and policies: functions that handlers, cores and engines call, and functions
 * shared by emu_split.c (the table, and division of splits), emu_barrier.c (barriers, which block and release lanes),
 * emu_policy.c (which split gets the time slice) and emu_split_view.c (views and text).
 *
 * A split is in w->split[] at its id. Sets of splits are 64-bit masks of ids.
 */
#ifndef EMU_SPLIT_PRIV_H
#define EMU_SPLIT_PRIV_H

#include "emu/emu_machine_priv.h"

/** A reconvergence engine: how lanes of a warp diverge and reconverge. A member that is NULL does nothing. */
struct emu_reconv {
    const char *name, *summary;
    /** true: the lanes of a split run together. A debugger's step, a sleep and a wait for launches never divide a split.
     *  The lanes of a split that waits at a warpsync continue together. */
    bool lockstep;
    bool ignores_barriers; /* bssy, bsync, bbreak and yield have no effect */
    bool one_path;         /* with a table of entries: only the last entry runs */
    bool likely;           /* with a table of entries: lanes also wait at likely convergence points */
    bool early;            /* with a table of entries: a split may wait before the reconvergence pc, at any instruction */
    const struct emu_policy *policy; /* the only split policy of the engine, with its quantum, with merges and without a fairness
                                      * limit; NULL: the machine's */
    void (*begin)(struct emu_warp *w); /* called at the end of emu_split_begin */
    /** Implement emu_split_branch, _branch2 and _exit, which are documented below. */
    void (*branch)(struct emu_warp *w, const uint32_t *target, uint32_t next);
    void (*branch2)(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next);
    void (*exit)(struct emu_warp *w, uint64_t lanes, uint32_t next);
    /** Called when all lanes of the running split follow the call, return or indirect branch at @index
     *  together; the slice continues. */
    void (*jumped)(struct emu_warp *w, uint32_t index);
    /** Reserves memory in the table of entries for an instruction that divides the split into up to @sides. Returns false without
     *  memory. NULL: the engine has no table. */
    bool (*room)(struct emu_warp *w, unsigned sides);
    /** Called when the running split may have reached the pc at which it waits for other lanes. Returns true if it
     *  waits; its slice has then ended. */
    bool (*reach)(struct emu_warp *w);
    /** Called when split @waits was divided from @rest because its lanes wait. */
    void (*parted)(struct emu_warp *w, unsigned waits, unsigned rest);
    /** Called when waiting splits became ready, and when the other lanes of a split that was divided because some lanes wait
     *  have got their pc. */
    void (*woken)(struct emu_warp *w);
    /** Returns true if two splits at the same pc may merge. NULL: any two may. */
    bool (*may_merge)(const struct emu_warp *w, const struct emu_split *a, const struct emu_split *b);
    /** Called before the lanes of split @gone are added to split @keep. */
    void (*merged)(struct emu_warp *w, unsigned keep, unsigned gone);
};
const struct emu_reconv *emu_reconv_find(const char *name);
extern const struct emu_policy emu_policy_frontier; /* of emu_reconv_frontier */
extern const struct emu_reconv emu_reconv_cbar, emu_reconv_stack, emu_reconv_frontier, emu_reconv_multipath, emu_reconv_early,
    emu_reconv_likely;
/** Returns the index of @name in emu_push_order_names, -1: no such name. NULL means "smaller". */
int emu_push_order_find(const char *name);
/** Fills program->rpc of the instructions [first, first + count): for each branch or call that names a barrier, the
 *  target of the bssy that reaches it (MACHINE 7). Errors: LW_EFORMAT, with the location, if no bssy or several reach
 *  one of them. */
enum lw_status emu_reconv_resolve(struct emu_program *program, uint32_t first, uint32_t count,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Returns the warp's table of entries, the bottom of a SIMT stack first; w->simt.count entries. */
static inline struct emu_simt_entry *emu_simt_entries(const struct emu_warp *w)
{
    const struct emu_simt *st = &w->simt;

    return st->heap != NULL ? st->heap : (struct emu_simt_entry *)(uintptr_t)st->base;
}

/** Counts a step in which lanes of @w started to wait without an instruction being retired. */
static inline void emu_count_stalled_step(const struct emu_warp *w)
{
    struct emu_core *core = w->core;
    uint64_t now = core->retired + (w->retired - w->slice_start);

    core->passes++;
    core->pass_run = now == core->pass_retired ? core->pass_run + 1 : 1;
    core->pass_retired = now;
}

struct emu_policy {
    const char *name, *summary;
    unsigned quantum; /* instructions of a split's slice; 0: until the split blocks */
    bool stacked;     /* uses the order of pushing (seq) */
    /** Returns true when candidate a precedes b; ties are broken by lowest lane. */
    bool (*before)(const struct emu_warp *w, const struct emu_split *a,
                   const struct emu_split *b);
};
const struct emu_policy *emu_policy_find(const char *name);

/** Initialises a zeroed warp, whose w->core is set, to the state in which all warps of a core start: no barrier
 *  register is in use, and the members for the machine's options are set. */
void emu_split_template(struct emu_warp *w);
/** Creates one split with all launched lanes at instruction @pc. Needs the result of emu_split_template(),
 *  w->launched, w->block, w->code and the barrier rows. */
void emu_split_begin(struct emu_warp *w, uint32_t pc);
/** Frees memory that splits of a warp own outside the block's memory. */
void emu_split_fini(struct emu_warp *w);
/** Gives a split the time slice if none has it: merges ready splits at its pc, sets w->m, w->e, w->full,
 *  mask_row and w->di. Yielded splits become ready if no other split is ready; sleeping splits whose time is reached
 *  wake first. Returns false if no split can run. If all splits of the block sleep, the function advances the time of
 *  the block. */
bool emu_split_select(struct emu_warp *w);
/** Sets w->m, w->e, w->full, mask_row for @lanes of the running split. */
void emu_warp_set_lanes(struct emu_warp *w, uint64_t lanes);
/** Gives a split the time slice as emu_split_select() does, with a fast path for a warp of one split. */
static inline bool emu_split_select_soon(struct emu_warp *w)
{
    if (w->running >= 0)
        return true;
    if (w->split_count != 1 || w->split_in[EMU_SPLIT_READY] == 0)
        return emu_split_select(w);
    const unsigned id = lw_lowest(w->split_ids);
    struct emu_split *s = &w->split[id];
    s->since = w->retired;
    w->running = (int)id;
    w->turn_used = 0;
    w->last_low = lw_lowest(s->lanes);
    w->di = w->code->insn + s->pc;
    if (s->lanes != w->m || (s->lanes & emu_exec_mask(w)) != w->mask_lanes ||
        w->e != w->mask_lanes)
        emu_warp_set_lanes(w, s->lanes);
    return true;
}
/** Returns true if a split of the warp is ready or has the time slice. A warp ends its slice in the block's rotation if
 *  the result is false (MACHINE 4: "yields with nothing else ready in it"): select would wake
 *  the yielded splits, but the other warps run first. */
static inline bool emu_split_has_ready(const struct emu_warp *w)
{
    return w->split_in[EMU_SPLIT_READY] != 0;
}
/** Returns how many instructions the running split may retire before the policy (quantum), the fairness limit
 *  or a sleeping split must be checked; INT64_MAX if the split is alone in its warp. */
int64_t emu_split_allowance(const struct emu_warp *w);
/** Accounts @count retired instructions of the running split, which is at w->di (w->retired includes them),
 *  to the quantum and the fairness limit. Ends the slice (parks the split) if one of them is reached. */
void emu_split_ran(struct emu_warp *w, unsigned count);
/** Parks the running split, ready, at w->di: no split has the time slice. */
void emu_split_block(struct emu_warp *w);
/** Runs @lanes of split @id (a step); the rest becomes another split. If all lanes of the running split are requested,
 *  it continues. @whole: the next instruction needs the whole split. Returns false if the split is not ready, or if it
 *  waits, now SUSPENDED (LW_EAGAIN), for the other parts of a split that an earlier call divided. The last part to
 *  arrive includes the other parts: w->m may have lanes outside @lanes. While emu_split_divided(w),
 *  only steps may be used, because the handler chains do not handle parts. */
bool emu_split_divide(struct emu_warp *w, unsigned id, uint64_t lanes, bool whole);
bool emu_split_divided(const struct emu_warp *w);
/** Returns the index in split[] by id, or -1. */
int emu_split_by_id(const struct emu_warp *w, unsigned id);
/** Returns the instruction index of a split; the running one's is in w->di. */
static inline uint32_t emu_split_pc(const struct emu_warp *w, unsigned id)
{
    return (int)id == w->running ? (uint32_t)(w->di - w->code->insn) : w->split[id].pc;
}
/** Returns the group number of a lane in a barrier register, 0: none. */
static inline uint64_t emu_breg_number(const struct emu_warp *w, unsigned reg, unsigned lane)
{
    const struct emu_breg_form *b = &w->bform[reg];

    return !(b->lanes >> lane & 1) ? 0 : b->number != 0 ? b->number : w->breg[reg][lane];
}
/** Hashes splits and barrier registers in canonical form, for hash_state. */
void emu_split_hash(const struct emu_warp *w, struct lw_hash *hash);
/** Hashes the CTA barriers of the block, for hash_state. */
void emu_cta_hash(const struct emu_block *block, struct lw_hash *hash);

/* Effects of control instructions on the running split. All of them end its slice (w->running is -1 after them)
 * unless their comment says otherwise. @next and targets are instruction indices. The caller has counted the
 * instruction in w->retired. Lane sets are not empty unless noted. */
/** Effects of a step, for its event; set w->flow to it (zeroed) before the step. */
struct emu_flow {
    struct emu_outcome outcome[EMU_MAX_LANES]; /* The caller computes `pc` of each outcome from `target`. */
    uint32_t target[EMU_MAX_LANES];
    unsigned count;
    uint64_t exited;
    /* Set by the functions that operate on the barrier. conv.released: lanes of this warp; conv.why: why
     * lanes are released, if any are. */
    struct emu_event_conv conv;
    struct emu_event_cta cta;
};
/** Records that a step begins operation @op on convergence register @reg. @why is the cause for lanes that the
 *  operation makes ready. */
static inline void emu_flow_note(struct emu_warp *w, enum emu_conv_op op, unsigned reg,
                                 enum emu_release why)
{
    if (w->flow != NULL) {
        w->flow->conv.op = op;
        w->flow->conv.reg = (uint8_t)reg;
        w->flow->conv.why = why;
    }
}
/** Fills outcome and target from the table: the present pcs of the lanes @m of a step. */
void emu_split_outcomes(const struct emu_warp *w, uint64_t m, struct emu_flow *flow);
enum { EMU_TARGET_EXIT = UINT32_MAX };
/** Sets the pcs of the split's lanes, which may have up to W targets: lane l of w->m continues at target[l];
 *  EMU_TARGET_EXIT ends the lane. @next is the fall-through (for stack_like). The caller treats one common target as a
 *  jump, without a call. */
static inline void emu_split_branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    w->reconv->branch(w, target, next);
}
/** Divides the running split at a two-way branch: lanes @taken go to @target, the other lanes to @next. Both sets have
 *  lanes, and @target is not @next. */
static inline void emu_split_branch2(struct emu_warp *w, uint64_t taken, uint32_t target,
                                     uint32_t next)
{
    w->reconv->branch2(w, taken, target, next);
}
/** Ends @lanes; the other lanes of the split continue at @next. Re-tests all barriers. Updates w->live,
 *  block->threads_live and block->warps_live. */
static inline void emu_split_exit(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    w->reconv->exit(w, lanes, next);
}
/** Operations after which the slice continues: bssy, bbreak, save and restore; @lanes may be empty.
 *  They may make other splits ready: then w->budget is reduced to the number of instructions that the policy permits. */
void emu_split_bssy(struct emu_warp *w, unsigned reg, uint64_t lanes);
/** Returns true if bssy removes lanes from a group for which other lanes wait, so that it may release these. The caller
 *  then counts the run before it (emu_count_run) and continues by a jump, as after bbreak. */
static inline bool emu_split_bssy_frees(const struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    return w->bform[reg].arrived != 0 && (w->bform[reg].lanes & lanes) != 0;
}
/** Handles the arrival at bsync @reg of a whole split that is alone in its warp: the split continues directly, with the
 *  same result as if it were blocked, released and selected again. Returns false in all other cases, and then does
 *  nothing. @now: the warp's count after the instruction. */
static inline bool emu_split_bsync_uncontended(struct emu_warp *w, unsigned reg, uint64_t lanes,
                                        uint64_t now)
{
    struct emu_breg_form *b = &w->bform[reg];
    const uint64_t waiting = lanes & b->lanes;
    struct emu_split *s = &w->split[w->running];

    if (w->split_count != 1 || lanes != w->m || (waiting != 0 && (waiting != lanes || b->number == 0)))
        return false;
    s->since = now;
    w->turn_used = 0;
    w->last_low = lw_lowest(lanes);
    if (waiting != 0) {
        b->lanes = 0;
        s->seq = ++w->seq_counter;
        s->flags = 0;
        if (w->flow != NULL)
            w->flow->conv.released = waiting;
    }
    return true;
}
/** Handles the arrival of @lanes, whose guard is true, at bsync. Other lanes of the split become ready at @next.
 *  Returns true when the slice may continue in the handler chain: the warp has one split, which passed as a
 *  whole. */
bool emu_split_bsync(struct emu_warp *w, unsigned reg, bool soft, uint64_t lanes, uint32_t next);
void emu_split_bbreak(struct emu_warp *w, unsigned reg, uint64_t lanes);
void emu_split_yield(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** Makes lanes wait at a warpsync. @member[lane] is the member mask of each lane in @lanes. */
bool emu_split_warpsync(struct emu_warp *w, uint64_t lanes, const uint64_t *member,
                        uint32_t next, uint64_t *bad);
/** Handles the arrival of @lanes at the .sync operation at index @pc; the bit of each lane is in its own mask. If all
 *  members have arrived or have synchronised, returns @lanes, which execute the operation now, and the slice
 *  continues. Otherwise returns 0: the slice has ended, and the lanes wait at @pc. When the last member arrives,
 *  all lanes that wait at @pc with the same masks become ready there as one split. That arrival also returns 0,
 *  because the split executes the operation when it is selected. Other lanes of the split, whose guard is false,
 *  are then ready at pc + 1. The arrival alone is not an executed instruction. Call after emu_count_before, so
 *  that w->retired is exact. */
uint64_t emu_split_sync(struct emu_warp *w, uint64_t lanes, const uint64_t *member, uint32_t pc);
/** Lets lanes sleep for @length instructions of the block. The time is block->retired plus the number of instructions
 *  that the warp has retired since w->slice_start. */
void emu_split_sleep(struct emu_warp *w, uint64_t lanes, uint64_t length, uint32_t next);
/** Makes lanes wait until no kernel launched by the block is open (launch.sync). */
void emu_split_launch_wait(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** Returns true if lanes of the block wait at launch.sync, and no split of the block can run. */
bool emu_block_suspended(const struct emu_block *block);
/** Contribution of an arrival at bar.red: its instruction, its active lanes, and its lanes with a true predicate. */
struct emu_reduction {
    uint32_t index, brought, yes;
};
/** Returns true if an arrival of @w's whole split at CTA barrier @id, without a count, is the usual case. Then @w has
 *  one split, no parts, no blocked lanes and no recorded step, and @w has not yet arrived. The block's threads are a
 *  multiple of 32, and no other arrival gave a count. */
static inline bool emu_split_bar_usual(const struct emu_warp *w, unsigned id)
{
    const struct emu_cta_barrier *c = &w->block->cta[id];

    return w->split_count == 1 && w->flow == NULL && !w->parts && w->breg_blocked == 0 &&
           w->block->threads % 32 == 0 && !(c->in_use && (c->has_count || c->lanes[w->index] != 0));
}
/** Does what emu_split_bar() does, if emu_split_bar_usual() is true; the split waits at @next, and its slice has
 *  ended. */
bool emu_split_bar_alone(struct emu_warp *w, unsigned id, uint32_t next);
enum emu_cta_result { EMU_CTA_WAITS, EMU_CTA_COMPLETED, EMU_CTA_BAD };
/** Handles the arrival of @lanes at CTA barrier @id. If @wait is set, the lanes wait and the slice ends, even if the
 *  barrier completes; otherwise (bar.arrive) the slice continues. @red: the contribution of the lanes, which wait for
 *  the sum over all arrivals with a contribution; NULL: none. EMU_CTA_BAD: why is set to a clause (a guest fault;
 *  nothing changed). */
enum emu_cta_result emu_split_bar(struct emu_warp *w, unsigned id, uint64_t lanes,
                                  bool has_count, uint32_t count, bool wait, uint32_t next,
                                  const struct emu_reduction *red, char *why, size_t why_size);
/** Saves barrier register @reg of @lanes: the group numbers of the lanes go to @number, and the register becomes 0. */
void emu_breg_save(struct emu_warp *w, unsigned reg, uint64_t lanes, uint64_t *number);
/** Restores barrier register @reg of @lanes from group numbers @number. */
void emu_breg_restore(struct emu_warp *w, unsigned reg, uint64_t lanes, const uint64_t *number);
/** Returns true if any split of the block can run now (ready, yielded, or sleeping with time to jump). */
bool emu_block_can_run(const struct emu_block *block);
/** Returns false, with a clause, if an invariant is broken (debug and test builds). */
bool emu_split_check(const struct emu_warp *w, char *why, size_t why_size);

/* ---- between the files of emu/simt ------------------------------------------------------ */

static inline uint64_t split_bit(unsigned id)
{
    return UINT64_C(1) << id;
}

static inline void split_set_state(struct emu_warp *w, unsigned id, enum emu_split_state state)
{
    w->split_in[w->split[id].state] &= ~split_bit(id);
    w->split_in[state] |= split_bit(id);
    w->split[id].state = (uint8_t)state;
}

/** Ends the slice of the running split and returns it. */
static inline struct emu_split *split_end_slice(struct emu_warp *w)
{
    struct emu_split *s = &w->split[w->running];

    w->running = -1;
    s->since = w->retired;
    return s;
}

/** Returns the block time of @w's block; exact also within @w's slice. */
static inline uint64_t split_now(const struct emu_warp *w)
{
    return w->block->retired + (w->retired - w->slice_start) + w->block->sleep_offset;
}

/**
 * Makes @lanes, which are lanes of split @id, a separate split with equal properties. For every division, the part with
 * the lowest lane keeps the id, and the other part gets the lowest free id. Returns the id that
 * @lanes have now; *@rest is set to the id of the other lanes (not written when @lanes is the whole split).
 */
unsigned emu_split_part(struct emu_warp *w, unsigned id, uint64_t lanes, unsigned *rest);
/** Removes split @id from the table; its lanes have exited or are in another split. */
void emu_split_drop(struct emu_warp *w, unsigned id);
/** Makes splits @ids ready. Splits at the same pc merge into one split, with the lowest id. */
void emu_split_wake(struct emu_warp *w, uint64_t ids);
/** Returns the union of the lanes of splits @ids. */
uint64_t emu_split_lanes(const struct emu_warp *w, uint64_t ids);
/** Writes the ids of @ids ordered by lowest lane to @out. Returns their number. */
unsigned emu_split_by_low(const struct emu_warp *w, uint64_t ids, uint8_t *out);
/** Reduces the budget after the running split made other splits ready, because the policy then limits the slice. */
void emu_split_cut_budget(struct emu_warp *w);

/** A side of a branch: lanes with one target. */
struct split_side {
    uint64_t lanes;
    uint32_t target;
    unsigned id;
};
/** Groups @lanes by target, sorted by lowest lane. Returns the number of sides. *@gone: lanes with
 *  EMU_TARGET_EXIT, which are in no side. */
unsigned emu_split_sides(uint64_t lanes, const uint32_t *target, struct split_side *side, uint64_t *gone);
/** Sorts the sides in the order in which they are pushed: the last one is on top and runs first. Among equal sides
 *  the fall-through to @next is on top, then the side with the lowest lane. */
void emu_split_order_sides(const struct split_side *side, unsigned count, uint32_t next, enum emu_push_order push,
                           uint8_t *order);
/** Makes each side of split @id a split at its target; sets side[].id. */
void emu_split_part_sides(struct emu_warp *w, unsigned id, struct split_side *side,
                          unsigned count);
/** Handles the end of a block: all its lanes have exited. */
void emu_split_block_ends(struct emu_block *block);
/** Removes exited lanes @gone from split *@id; the id of the remaining lanes, if any, may change. */
void emu_split_bury(struct emu_warp *w, unsigned *id, uint64_t gone);

/** Releases groups blocked at the convergence registers @regs (bits) that are complete. */
void emu_conv_release(struct emu_warp *w, uint32_t regs);
/** Releases the lanes that wait at barriers which the exit of @lanes has completed: CTA barriers of the block,
 *  warpsync, bsync. */
void emu_barriers_after_exit(struct emu_warp *w, uint64_t lanes);

#endif
