/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits, convergence barriers and policies: the functions that handlers, cores and engines call, and those that the files of
 * emu/simt share. emu_split.c manages the table of splits and divides splits. emu_barrier.c blocks and releases lanes at
 * barriers. emu_policy.c selects the split that gets the time slice. emu_split_view.c describes splits and barriers for
 * debuggers, and has the hash and the invariant test of the split table. emu_reconv.c lists the reconvergence engines;
 * emu_simt_entries.c implements those with a table of entries, and emu_split.c the others.
 *
 * The index of a split in w->split[] is its id. A set of splits is a 64-bit mask of ids.
 */
#ifndef EMU_SPLIT_PRIV_H
#define EMU_SPLIT_PRIV_H

#include "emu/emu_machine_priv.h"

/** A reconvergence engine: it determines how lanes of a warp diverge and reconverge. If a function is NULL, nothing is done in
 *  its place. */
struct emu_reconv {
    const char *name, *summary;
    /** true: the lanes of a split always stay together. A debugger's step, a sleep or a wait for launches never divides a split,
     *  and lanes that wait together at a warpsync continue together. */
    bool lockstep;
    bool ignores_barriers; /* under this engine, bssy, bsync, bbreak and yield have no effect */
    bool one_path;         /* engine with a table of entries: only the split of the table's last entry runs */
    bool two_paths;        /* engine with a table of entries: only the entries of the table's last level run; a level has one or
                            * two entries */
    bool likely;           /* engine with a table of entries: lanes also wait at likely convergence points */
    bool early;            /* engine with a table of entries: a split may wait at any instruction before the reconvergence pc */
    const struct emu_policy *policy; /* the split policy that this engine always uses, with the policy's quantum, with merges, and
                                      * without a fairness limit; NULL: the machine's options decide */
    void (*begin)(struct emu_warp *w); /* called at the end of emu_split_begin(), which creates a warp's first split */
    /** emu_split_branch(), emu_split_branch2() and emu_split_exit() below call branch, branch2 and exit. The comments of these
     *  three functions state what an engine must do. */
    void (*branch)(struct emu_warp *w, const uint32_t *target, uint32_t next);
    void (*branch2)(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next);
    void (*exit)(struct emu_warp *w, uint64_t lanes, uint32_t next);
    /** Called when the running split has executed the call, return or indirect branch at @index, and all its lanes went to one
     *  target. The time slice continues. */
    void (*jumped)(struct emu_warp *w, uint32_t index);
    /** Ensures that the table of entries has capacity for an instruction that divides the split into up to @sides parts. Returns
     *  false if there is no memory. If `room` is NULL, the engine has no table. */
    bool (*room)(struct emu_warp *w, unsigned sides);
    /** Called when the running split may have reached the pc at which it waits for other lanes. Returns true if the split waits;
     *  its time slice has then ended. */
    bool (*reach)(struct emu_warp *w);
    /** Called after a split was divided: split @waits has the lanes that wait, and @rest the other lanes. */
    void (*parted)(struct emu_warp *w, unsigned waits, unsigned rest);
    /** Called after waiting splits have become ready. Also called after some lanes of a split have begun to wait, and the next pc
     *  of the other lanes is set. */
    void (*woken)(struct emu_warp *w);
    /** Returns true if two splits at the same pc may merge. If `may_merge` is NULL, splits at the same pc may always merge. */
    bool (*may_merge)(const struct emu_warp *w, const struct emu_split *a, const struct emu_split *b);
    /** Called before the lanes of split @gone are added to split @keep. */
    void (*merged)(struct emu_warp *w, unsigned keep, unsigned gone);
};
const struct emu_reconv *emu_reconv_find(const char *name);
extern const struct emu_policy emu_policy_frontier; /* split policy of emu_reconv_frontier */
extern const struct emu_reconv emu_reconv_cbar, emu_reconv_stack, emu_reconv_frontier, emu_reconv_multipath, emu_reconv_early,
    emu_reconv_likely, emu_reconv_dualpath;
/** Returns the index of @name in emu_push_order_names, or -1 if the name does not exist. NULL means "smaller". */
int emu_push_order_find(const char *name);
/** Fills program->rpc for the instructions [first, first + count). The reconvergence pc of a branch or call that names a barrier
 *  register is the target of the bssy of this register that reaches the branch or call (MACHINE 7). Errors: LW_EFORMAT, with the
 *  location, if no bssy, or more than one bssy, reaches the branch or call. */
enum lw_status emu_reconv_resolve(struct emu_program *program, uint32_t first, uint32_t count,
                                  struct lw_error *err) LW_MUST_CHECK;
/** Returns the warp's table of entries, the bottom of a SIMT stack first; w->simt.count entries. */
static inline struct emu_simt_entry *emu_simt_entries(const struct emu_warp *w)
{
    const struct emu_simt *st = &w->simt;

    return st->heap != NULL ? st->heap : (struct emu_simt_entry *)(uintptr_t)st->base;
}

/** Returns the index after the last entry of the level of entry @i. On a dual-path stack, a level has one or two entries (paths);
 *  in any other table, each entry is a level. */
static inline unsigned emu_simt_level_end(const struct emu_warp *w, unsigned i)
{
    return i + 1 < w->simt.count && emu_simt_entries(w)[i + 1].right ? i + 2 : i + 1;
}

/** Counts a step in which lanes of @w started to wait, but no instruction retired. */
static inline void emu_count_stalled_step(const struct emu_warp *w)
{
    struct emu_core *core = w->core;
    uint64_t now = core->retired + (w->retired - w->slice_start);

    core->passes++;
    core->pass_run = now == core->pass_retired ? core->pass_run + 1 : 1;
    core->pass_retired = now;
}

enum { EMU_STEADY_WINDOW = 64 };
struct emu_policy {
    const char *name, *summary;
    unsigned quantum; /* default length of a split's time slice, in instructions; 0: the slice lasts until the split blocks */
    bool stacked;     /* the policy uses emu_split.seq, the order in which splits were pushed */
    bool steady;      /* the fairness limit is EMU_STEADY_WINDOW times as high. The slice lasts until another ready split precedes
                       * the running split or is at its pc. `quantum` is then the slice's length for a split that has reached the
                       * fairness limit */
    /** Returns true if split @a is selected before split @b. If neither split precedes the other, the split with the lowest lane
     *  is selected. */
    bool (*before)(const struct emu_warp *w, const struct emu_split *a,
                   const struct emu_split *b);
};
const struct emu_policy *emu_policy_find(const char *name);

/** Initialises the state with which every warp of a core starts. Such a warp uses no barrier register, and its members that
 *  depend on the machine's options are set. @w is zeroed except for w->core. */
void emu_split_template(struct emu_warp *w);
/** Creates the first split of a warp, with all launched lanes at instruction @pc. The warp was initialised by
 *  emu_split_template(); w->launched, w->block, w->code and the group numbers of the barrier registers are set. */
void emu_split_begin(struct emu_warp *w, uint32_t pc);
/** Frees memory of the warp's splits that is not part of the block's memory. */
void emu_split_fini(struct emu_warp *w);
/** Selects the split that gets the time slice, unless a split has it already. First, sleeping splits wake if their wake-up time
 *  is reached; then, if no split is ready, yielded splits become ready. Ready splits at the pc of the selected split merge with
 *  it. Sets w->m, w->e, w->full, mask_row and w->di. If all splits of the block sleep, the time of the block jumps to the first
 *  wake-up. Returns false if no split can run. */
bool emu_split_select(struct emu_warp *w);
/** Merges the running split with ready splits at its pc. Returns false if no such split exists, or if splits may not merge. */
bool emu_split_join(struct emu_warp *w);
/** Sets w->m, w->e, w->full and mask_row to let @lanes of the running split execute. */
void emu_warp_set_lanes(struct emu_warp *w, uint64_t lanes);
/** Selects a split as emu_split_select() does, with a fast path for a warp that has one split. */
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
/** Returns true if a split of the warp is ready or has the time slice. If the result is false, the warp's slice in the rotation
 *  of its block ends. The other warps run before emu_split_select() makes yielded splits of this warp ready (MACHINE 4: "yields
 *  with nothing else ready in it"). */
static inline bool emu_split_has_ready(const struct emu_warp *w)
{
    return w->split_in[EMU_SPLIT_READY] != 0;
}
/** Returns the number of instructions that the running split may retire before the policy's quantum, the fairness limit or a
 *  sleeping split must be checked. INT64_MAX: the split is alone in its warp. */
int64_t emu_split_allowance(const struct emu_warp *w);
/** Counts @count retired instructions of the running split towards its quantum and the fairness limit. If one of these limits is
 *  reached, the time slice ends and the split stays ready. w->di is the split's next instruction; w->retired already includes the
 *  instructions. */
void emu_split_ran(struct emu_warp *w, unsigned count);
/** Ends the time slice of the running split, which stays ready at w->di. */
void emu_split_block(struct emu_warp *w);
/** Prepares a step of @lanes of split @id: @lanes become the running split, and the other lanes become another split. If @lanes
 *  are all lanes of the running split, it continues. @whole: the next instruction needs the whole split. Returns false if the
 *  split is not ready. Also returns false if the split is a part of a split that an earlier call divided, and must wait for the
 *  other parts: the part's state is then SUSPENDED (LW_EAGAIN). When the last part arrives, the parts become one split again, so
 *  that w->m may have lanes outside @lanes. While emu_split_divided(w) is true, warps may only be executed by steps, because the
 *  handler chains do not support parts. */
bool emu_split_divide(struct emu_warp *w, unsigned id, uint64_t lanes, bool whole);
/** Returns whether an earlier call of emu_split_divide() divided a split of the warp, and the warp has not been one split since. */
bool emu_split_divided(const struct emu_warp *w);
/** If the warp is one split, no split is a part of another one any more. */
static inline void emu_split_forget_parts(struct emu_warp *w)
{
    if (w->parts && w->split_count == 1) {
        w->parts = false;
        w->split[lw_lowest(w->split_ids)].family = 0;
    }
}
/** Returns the index in split[] of the split with id @id, or -1. */
int emu_split_by_id(const struct emu_warp *w, unsigned id);
/** Returns the index of the next instruction of a split. */
static inline uint32_t emu_split_pc(const struct emu_warp *w, unsigned id)
{
    return (int)id == w->running ? (uint32_t)(w->di - w->code->insn) : w->split[id].pc;
}
/** Returns the group number that a lane's barrier register holds, or 0. */
static inline uint64_t emu_breg_number(const struct emu_warp *w, unsigned reg, unsigned lane)
{
    const struct emu_breg_form *b = &w->bform[reg];

    return !(b->lanes >> lane & 1) ? 0 : b->number != 0 ? b->number : w->breg[reg][lane];
}
/** Adds the splits and barrier registers, in canonical form, to a hash from which hash_state (MACHINE 4) is computed. */
void emu_split_hash(const struct emu_warp *w, struct lw_hash *hash);
/** Adds the CTA barriers of the block to a hash from which hash_state (MACHINE 4) is computed. */
void emu_cta_hash(const struct emu_block *block, struct lw_hash *hash);

/* Functions that execute control instructions for the running split. Each of these functions ends the split's time slice
 * (w->running is -1 afterwards) unless its comment says otherwise. @next and targets are instruction indices. The caller has
 * already counted the instruction in w->retired. Sets of lanes are not empty unless their comment says that they may be. */
/** Effects of a step on the splits of its warp, from which the step's event is made. Before the step, w->flow is set to a zeroed
 *  structure. */
struct emu_flow {
    struct emu_outcome outcome[EMU_MAX_LANES]; /* the caller sets the pc of each outcome, from `target` */
    uint32_t target[EMU_MAX_LANES];
    unsigned count;
    uint64_t exited;
    /* Set by the functions that operate on barriers. conv.released: released lanes of this warp; conv.why: why they were
     * released, if conv.released is not empty. */
    struct emu_event_conv conv;
    struct emu_event_cta cta;
};
/** Records for the event that the step performs operation @op on convergence register @reg. @why: reason why lanes become ready,
 *  if the operation makes lanes ready. */
static inline void emu_flow_note(struct emu_warp *w, enum emu_conv_op op, unsigned reg,
                                 enum emu_release why)
{
    if (w->flow != NULL) {
        w->flow->conv.op = op;
        w->flow->conv.reg = (uint8_t)reg;
        w->flow->conv.why = why;
    }
}
/** Fills flow->outcome and flow->target with the splits and pcs that the lanes @m of a step have after the step. */
void emu_split_outcomes(const struct emu_warp *w, uint64_t m, struct emu_flow *flow);
enum { EMU_TARGET_EXIT = UINT32_MAX };
/** Executes a branch whose lanes may have up to W targets: lane l of w->m continues at target[l]; EMU_TARGET_EXIT ends the lane.
 *  @next is the instruction after the branch, for the order of the sides (emu_split_order_sides). If all lanes have one target,
 *  the caller executes a jump instead. */
static inline void emu_split_branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    w->reconv->branch(w, target, next);
}
/** Executes a two-way branch: lanes @taken of the running split continue at @target, the other lanes at @next. Neither set is
 *  empty, and @target differs from @next. */
static inline void emu_split_branch2(struct emu_warp *w, uint64_t taken, uint32_t target,
                                     uint32_t next)
{
    w->reconv->branch2(w, taken, target, next);
}
/** Ends @lanes; the other lanes of the split continue at @next. Releases the barriers of the warp and the CTA barriers of the
 *  block that are complete without @lanes. Updates w->live, block->threads_live and block->warps_live. */
static inline void emu_split_exit(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    w->reconv->exit(w, lanes, next);
}
/** Functions for bssy, bbreak, and the save and restore of barrier registers. The time slice continues, and @lanes may be empty.
 *  If the operation makes other splits ready, w->budget is reduced to what the policy permits. */
void emu_split_bssy(struct emu_warp *w, unsigned reg, uint64_t lanes);
/** Returns true if a bssy removes lanes from a convergence group for which other lanes wait, so that the waiting lanes may be
 *  released. The caller then counts the straight-line run up to the bssy (emu_count_run) and continues by a jump, as after
 *  bbreak. */
static inline bool emu_split_bssy_frees(const struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    return w->bform[reg].arrived != 0 && (w->bform[reg].lanes & lanes) != 0;
}
/** Executes bsync @reg if the split is alone in its warp and all its lanes arrive: the split continues directly, with the same
 *  result as if it were blocked, released and selected again. In all other cases returns false and does nothing. @now: number of
 *  instructions that the warp has retired, including the bsync. */
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
/** Executes a bsync for @lanes, whose guard is true. The other lanes of the split become ready at @next. Returns true if the
 *  time slice may continue in the handler chain, because the split is alone in its warp and has passed as a whole. */
bool emu_split_bsync(struct emu_warp *w, unsigned reg, bool soft, uint64_t lanes, uint32_t next);
void emu_split_bbreak(struct emu_warp *w, unsigned reg, uint64_t lanes);
void emu_split_yield(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** Makes lanes wait at a warpsync. @member[lane]: member mask of each lane in @lanes. Returns false if the mask of a lane does
 *  not contain the lane itself; *bad is then the set of these lanes, and nothing has changed. */
bool emu_split_warpsync(struct emu_warp *w, uint64_t lanes, const uint64_t *member,
                        uint32_t next, uint64_t *bad);
/** Executes the arrival of @lanes at the .sync operation at index @pc. Each lane's mask contains the lane. If all member lanes
 *  have arrived or have synchronised, returns @lanes: these lanes execute the operation now, and the time slice continues. If a
 *  member has not arrived, returns 0: the time slice has ended, and the lanes wait at @pc. When the last member arrives and
 *  others wait, all lanes that wait at @pc with the same masks become ready at @pc as one split. The function then also returns
 *  0, because the split executes the operation when it is selected. Lanes of the split whose guard is false are then ready at pc
 *  + 1. An arrival does not count as an executed instruction. The caller has called emu_count_before(), so that w->retired is
 *  exact. */
uint64_t emu_split_sync(struct emu_warp *w, uint64_t lanes, const uint64_t *member, uint32_t pc);
/** Makes lanes sleep for @length instructions of the block. The block's present time is block->retired plus the instructions that
 *  the warp has retired since w->slice_start. */
void emu_split_sleep(struct emu_warp *w, uint64_t lanes, uint64_t length, uint32_t next);
/** Makes lanes wait (launch.sync) until all launches by the block are complete. */
void emu_split_launch_wait(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** Returns true if lanes of the block wait at launch.sync, and no split of the block can run. */
bool emu_block_suspended(const struct emu_block *block);
/** Contribution of an arrival at bar.red: index of the instruction, number of active lanes, and number of lanes with a true
 *  predicate. */
struct emu_reduction {
    uint32_t index, brought, yes;
};
/** Returns true if the arrival of @w's split at CTA barrier @id, without a count, is the usual case, which is defined by these
 *  conditions: @w has one split, no parts of a divided split, and no blocked lanes. No event of the step is recorded. @w has not
 *  arrived at this barrier yet. The number of threads of the block is a multiple of 32. No earlier arrival gave a count. */
static inline bool emu_split_bar_usual(const struct emu_warp *w, unsigned id)
{
    const struct emu_cta_barrier *c = &w->block->cta[id];

    return w->split_count == 1 && w->flow == NULL && !w->parts && w->breg_blocked == 0 &&
           w->block->threads % 32 == 0 && !(c->in_use && (c->has_count || c->lanes[w->index] != 0));
}
/** Does the same as emu_split_bar(), for arrivals for which emu_split_bar_usual() is true. Afterwards the split waits at @next,
 *  and its time slice has ended. */
bool emu_split_bar_alone(struct emu_warp *w, unsigned id, uint32_t next);
/** Executes the arrival of all warps of @block at CTA barrier @id, and releases it, as if emu_split_bar_alone() were called for
 *  each warp. The barrier must not be in use. Each warp has one split, which runs and continues at its pc; w->retired already
 *  includes the barrier instruction. */
void emu_split_bar_together(struct emu_block *block, unsigned id);
enum emu_cta_result { EMU_CTA_WAITS, EMU_CTA_COMPLETED, EMU_CTA_BAD };
/** Executes the arrival of @lanes at CTA barrier @id. If @wait is set, the lanes wait and the time slice ends, even if the
 *  barrier completes. If @wait is not set (bar.arrive), the time slice continues. @red: contribution of the lanes to a bar.red,
 *  for whose result they wait; NULL: the instruction is no bar.red. The result EMU_CTA_BAD is a guest fault: @why is set to a
 *  clause for the message, and nothing has changed. */
enum emu_cta_result emu_split_bar(struct emu_warp *w, unsigned id, uint64_t lanes,
                                  bool has_count, uint32_t count, bool wait, uint32_t next,
                                  const struct emu_reduction *red, char *why, size_t why_size);
/** Saves barrier register @reg of @lanes: copies the group numbers of the lanes to @number, and sets the register to 0. */
void emu_breg_save(struct emu_warp *w, unsigned reg, uint64_t lanes, uint64_t *number);
/** Restores barrier register @reg of @lanes from the group numbers in @number. */
void emu_breg_restore(struct emu_warp *w, unsigned reg, uint64_t lanes, const uint64_t *number);
/** Returns true if a split of the block is ready, yielded, sleeping or suspended: it can run now, or after other splits of the
 *  block have run or the block's time has advanced. */
bool emu_block_can_run(const struct emu_block *block);
/** Checks the invariants of a warp's splits, for debug and test builds. Returns true if all hold. If an invariant does not hold,
 *  returns false, and sets @why to a clause that names it. */
bool emu_split_check(const struct emu_warp *w, char *why, size_t why_size);

/* ---- shared by the files of emu/simt ------------------------------------------------------ */

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

/** Ends the time slice of the running split and returns it. */
static inline struct emu_split *split_end_slice(struct emu_warp *w)
{
    struct emu_split *s = &w->split[w->running];

    w->running = -1;
    s->since = w->retired;
    return s;
}

/** Returns the present time of @w's block; correct also in the middle of @w's time slice. */
static inline uint64_t split_now(const struct emu_warp *w)
{
    return w->block->retired + (w->retired - w->slice_start) + w->block->sleep_offset;
}

/**
 * Makes @lanes of split @id a separate split with the same properties. The part with the lowest lane keeps the id, and the other
 * part gets the lowest free id. Returns the id of the split that now has @lanes. *@rest is set to the id of the split with the
 * other lanes; it is not written if @lanes are the whole split.
 */
unsigned emu_split_part(struct emu_warp *w, unsigned id, uint64_t lanes, unsigned *rest);
/** Removes split @id from the table; its lanes have exited or belong to another split now. */
void emu_split_drop(struct emu_warp *w, unsigned id);
/** Makes splits @ids ready. Splits of @ids that are at the same pc and may merge become one split, which has the lowest of their
 *  ids. */
void emu_split_wake(struct emu_warp *w, uint64_t ids);
/** Returns the lanes of all splits @ids. */
uint64_t emu_split_lanes(const struct emu_warp *w, uint64_t ids);
/** Writes the ids in the set @ids to @out, sorted by the lowest lane of the splits. Returns the number of ids. */
unsigned emu_split_by_low(const struct emu_warp *w, uint64_t ids, uint8_t *out);
/** Reduces w->budget to the number of instructions that the policy permits, after the running split has made other splits
 *  ready. */
void emu_split_cut_budget(struct emu_warp *w);

/** A side of a branch: the lanes that go to one target. */
struct split_side {
    uint64_t lanes;
    uint32_t target;
    unsigned id;
};
/** Groups @lanes by target into sides, sorted by lowest lane. Returns the number of sides. *@gone: lanes with EMU_TARGET_EXIT,
 *  which are in no side. */
unsigned emu_split_sides(uint64_t lanes, const uint32_t *target, struct split_side *side, uint64_t *gone);
/** Computes the order in which the sides of a branch are pushed, for engines with a table of entries and for the policy
 *  stack_like. order[k] is the index of the side that is pushed k-th. The side that is pushed last is on top and runs first. Of
 *  sides that are equal under the push order, the fall-through to @next is on top; if the fall-through is not among them, the
 *  side with the lowest lane is on top. */
void emu_split_order_sides(const struct split_side *side, unsigned count, uint32_t next, enum emu_push_order push,
                           uint8_t *order);
/** Makes each side of a branch of split @id a split at the side's target; sets side[].id. */
void emu_split_part_sides(struct emu_warp *w, unsigned id, struct split_side *side,
                          unsigned count);
/** Ends a block whose lanes have all exited. */
void emu_split_block_ends(struct emu_block *block);
/** Removes the exited lanes @gone from split *@id. If lanes remain, *@id is set to the id of their split, which may have
 *  changed. */
void emu_split_bury(struct emu_warp *w, unsigned *id, uint64_t gone);

/** Releases each convergence group that is blocked at a convergence register of the set @regs, if all its live lanes have arrived, or if its
 *  barrier is soft and need not wait for the others. */
void emu_conv_release(struct emu_warp *w, uint32_t regs);
/** After the exit of @lanes, releases the lanes that wait at barriers which are complete now: CTA barriers of the block, and this
 *  warp's warpsync and bsync. */
void emu_barriers_after_exit(struct emu_warp *w, uint64_t lanes);

#endif
