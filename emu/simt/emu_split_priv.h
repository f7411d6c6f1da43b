/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits, convergence barriers and policies: what handlers, cores and engines call, and what is between
 * emu_split.c (table and what parts a split), emu_barrier.c (what holds and releases
 * lanes), emu_policy.c (who has the turn) and emu_split_view.c (views and words).
 *
 * A split is in w->split[] at its id. Sets of splits are 64-bit masks of ids.
 */
#ifndef EMU_SPLIT_PRIV_H
#define EMU_SPLIT_PRIV_H

#include "emu/emu_machine_priv.h"

/** A reconvergence engine: how lanes of a warp part and meet. What is NULL does nothing. */
struct emu_reconv {
    const char *name, *summary;
    /** A split is never divided by steps or sleep; warpsync waits with all of it; the rows bssy,
     *  bsync, bbreak and yield do nothing. */
    bool lockstep;
    void (*begin)(struct emu_warp *w); /* at the end of emu_split_begin */
    /** As the functions emu_split_branch, _branch2 and _exit below say. */
    void (*branch)(struct emu_warp *w, const uint32_t *target, uint32_t next);
    void (*branch2)(struct emu_warp *w, uint64_t taken, uint32_t target, uint32_t next);
    void (*exit)(struct emu_warp *w, uint64_t lanes, uint32_t next);
    /** All lanes of the running split follow the call, return or indirect branch at @index
     *  together; the slice continues. */
    void (*jumped)(struct emu_warp *w, uint32_t index);
    /** False: no memory for what an instruction that parts the split into up to @sides needs. */
    bool (*room)(struct emu_warp *w, unsigned sides);
    /** The running split may have reached where it waits for others. True: it does, and
     *  its slice has ended. */
    bool (*reach)(struct emu_warp *w);
    /** Split @waits was parted from @rest to wait at something; both were one. */
    void (*parted)(struct emu_warp *w, unsigned waits, unsigned rest);
    void (*woken)(struct emu_warp *w); /* splits that waited became ready */
};
const struct emu_reconv *emu_reconv_find(const char *name);
extern const struct emu_reconv emu_reconv_cbar, emu_reconv_stack;
/** Index in emu_push_order_names, -1: no such name. NULL is "smaller". */
int emu_push_order_find(const char *name);
/** Fill program->rpc of the instructions [first, first + count): the targets of the bssy
 *  that reach the branches and calls that name a barrier (MACHINE 7).
 *  Errors: LW_EFORMAT with the place when none or several reach one. */
enum lw_status emu_reconv_resolve(struct emu_program *program, uint32_t first, uint32_t count,
                                  struct lw_error *err) LW_MUST_CHECK;
/** The warp's SIMT stack, bottom first; w->simt.count entries. */
static inline struct emu_simt_entry *emu_simt_entries(const struct emu_warp *w)
{
    const struct emu_simt *st = &w->simt;

    return st->heap != NULL ? st->heap : (struct emu_simt_entry *)(uintptr_t)st->base;
}

/** Lanes of @w started to wait without an instruction being retired. */
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
    unsigned quantum; /* 0: until it blocks */
    bool stacked;     /* looks at the order of pushing (seq) */
    /** True when candidate a goes before b; it breaks ties by lowest lane itself. */
    bool (*before)(const struct emu_warp *w, const struct emu_split *a,
                   const struct emu_split *b);
};
const struct emu_policy *emu_policy_find(const char *name);

/** What all warps of a core have at their start, into a warp of zeros with w->core: no barrier
 *  registers in use, the machine's options. */
void emu_split_template(struct emu_warp *w);
/** One split with all launched lanes at instruction @pc. Wants what emu_split_template() makes,
 *  w->launched, w->block, w->code and the barrier rows. */
void emu_split_begin(struct emu_warp *w, uint32_t pc);
/** Frees what splits of a warp may own beyond the block's memory. */
void emu_split_fini(struct emu_warp *w);
/** Give a split the turn if none has it: merges ready splits at its pc, sets w->m, w->e,
 *  w->full, mask_row and w->di. Yielded splits become ready when nothing else is; sleepers
 *  whose time is reached wake first. False: nothing can run. When all splits of the block
 *  sleep, its time jumps here. */
bool emu_split_select(struct emu_warp *w);
/** Set w->m, w->e, w->full, mask_row for @lanes of the running split. */
void emu_warp_set_lanes(struct emu_warp *w, uint64_t lanes);
/** The same, with a short way for a warp of one split. */
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
/** Something of the warp is ready or has the turn. A warp leaves its place in the block's
 *  rotation when this is false after a turn (MACHINE 4: "yields with nothing else ready in
 *  it"): select would wake the yielded splits, but the other warps come first. */
static inline bool emu_split_has_ready(const struct emu_warp *w)
{
    return w->split_in[EMU_SPLIT_READY] != 0;
}
/** Instructions the running split may retire before policy (quantum), fairness window or
 *  a sleeper want a look; INT64_MAX when it is alone. */
int64_t emu_split_allowance(const struct emu_warp *w);
/** @count instructions of the running split retired (w->retired has them), it is at w->di:
 *  account for quantum and window; ends the slice (parks it) when they say so. */
void emu_split_ran(struct emu_warp *w, unsigned count);
/** Park the running split, ready, at w->di: no split has the turn. */
void emu_split_block(struct emu_warp *w);
/** Run split @id for @lanes of it (a step); the rest stays as another split.
 *  The running split keeps running when it is requested whole. @whole: the next
 *  instruction takes a split whole. False when the split is not ready, and when it waits, now
 *  SUSPENDED (LW_EAGAIN), for the other parts of a split that was divided by an earlier
 *  call. The last part to come takes the others with it: w->m may exceed @lanes. While
 *  emu_split_divided(w), only steps may be used: the handler chains know nothing of parts. */
bool emu_split_divide(struct emu_warp *w, unsigned id, uint64_t lanes, bool whole);
bool emu_split_divided(const struct emu_warp *w);
/** Index in split[] by id, or -1. */
int emu_split_by_id(const struct emu_warp *w, unsigned id);
/** Instruction index of a split; the running one's is in w->di. */
static inline uint32_t emu_split_pc(const struct emu_warp *w, unsigned id)
{
    return (int)id == w->running ? (uint32_t)(w->di - w->code->insn) : w->split[id].pc;
}
/** Group number of a lane in a barrier register, 0: none. */
static inline uint64_t emu_breg_number(const struct emu_warp *w, unsigned reg, unsigned lane)
{
    const struct emu_breg_form *b = &w->bform[reg];

    return !(b->lanes >> lane & 1) ? 0 : b->number != 0 ? b->number : w->breg[reg][lane];
}
/** Splits and barrier registers in canonical form, for hash_state. */
void emu_split_hash(const struct emu_warp *w, struct lw_hash *hash);
/** CTA barriers of the block, for hash_state. */
void emu_cta_hash(const struct emu_block *block, struct lw_hash *hash);

/* What control instructions do to the running split; all end its slice (w->running is -1
 * after them) unless they say otherwise. @next and targets are instruction indices. The caller
 * has counted the instruction in w->retired; lane sets are not empty unless noted. */
/** What a step did, for the event; hang it into w->flow (zeroed) before the step. */
struct emu_flow {
    struct emu_outcome outcome[EMU_MAX_LANES]; /* pc is filled by the caller from target */
    uint32_t target[EMU_MAX_LANES];
    unsigned count;
    uint64_t exited;
    /* Noted by the functions that do it. conv.released: of this warp; conv.why: why lanes are released if any are. */
    struct emu_event_conv conv;
    struct emu_event_cta cta;
};
/** A step begins operation @op on convergence register @reg; lanes that it makes ready are so
 *  because of @why. */
static inline void emu_flow_note(struct emu_warp *w, enum emu_conv_op op, unsigned reg,
                                 enum emu_release why)
{
    if (w->flow != NULL) {
        w->flow->conv.op = op;
        w->flow->conv.reg = (uint8_t)reg;
        w->flow->conv.why = why;
    }
}
/** Fill outcome and target from the table: where the lanes @m of a step are now. */
void emu_split_outcomes(const struct emu_warp *w, uint64_t m, struct emu_flow *flow);
enum { EMU_TARGET_EXIT = UINT32_MAX };
/** The split's lanes go to up to W targets: lane l to target[l] (l in w->m); EMU_TARGET_EXIT
 *  ends the lane. @next is the fall-through (for stack_like). The caller treats one common
 *  target as a jump, without a call. */
static inline void emu_split_branch(struct emu_warp *w, const uint32_t *target, uint32_t next)
{
    w->reconv->branch(w, target, next);
}
/** Two-way: @taken to @target, the rest to @next; both non-empty, target != next. */
static inline void emu_split_branch2(struct emu_warp *w, uint64_t taken, uint32_t target,
                                     uint32_t next)
{
    w->reconv->branch2(w, taken, target, next);
}
/** @lanes exit; the others of the split continue at @next. Re-tests all barriers. Keeps w->live,
 *  block->threads_live and block->warps_live. */
static inline void emu_split_exit(struct emu_warp *w, uint64_t lanes, uint32_t next)
{
    w->reconv->exit(w, lanes, next);
}
/** The slice continues, also for bbreak, take and give; @lanes may be empty. They may make others
 *  ready: then w->budget is cut to what the policy allows. */
void emu_split_bssy(struct emu_warp *w, unsigned reg, uint64_t lanes);
/** True when that bssy takes lanes out of a group that others wait in, so that it may release
 *  them: count the run before it (emu_count_run) and continue by a jump, as after bbreak. */
static inline bool emu_split_bssy_frees(const struct emu_warp *w, unsigned reg, uint64_t lanes)
{
    return w->bform[reg].arrived != 0 && (w->bform[reg].lanes & lanes) != 0;
}
/** A split that is alone in its warp and whole reaches bsync @reg: it continues directly, the same
 *  as blocking, release and reselection without moving anything. False: it is not that case, and
 *  nothing was done. @now: the warp's count after the instruction. */
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
/** @lanes (guard on) arrive, the others become ready at @next. Returns true when the slice may
 *  continue in the handler chain: the warp has one split and it passed whole. */
bool emu_split_bsync(struct emu_warp *w, unsigned reg, bool soft, uint64_t lanes, uint32_t next);
void emu_split_bbreak(struct emu_warp *w, unsigned reg, uint64_t lanes);
void emu_split_yield(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** @member[lane] for lanes in @lanes; false: a lane's own bit is missing (*bad gets them) and
 *  nothing happened. */
bool emu_split_warpsync(struct emu_warp *w, uint64_t lanes, const uint64_t *member,
                        uint32_t next, uint64_t *bad);
/** @lanes arrive at the .sync operation at index @pc (own bits are in their masks). Returns the
 *  lanes that execute it now: @lanes, when all members are here or have synchronised; the slice
 *  continues. Else 0, and the slice has ended: the lanes wait at @pc, and are ready there as one
 *  split with all that wait at @pc with the same masks when the last member arrives (it is
 *  the same arrival that returns 0: the union executes the operation when it is selected).
 *  Lanes outside @lanes (guard off) are then ready at pc + 1. The arrival alone is not an
 *  executed instruction. Call after emu_count_before, so that w->retired is exact. */
uint64_t emu_split_sync(struct emu_warp *w, uint64_t lanes, const uint64_t *member, uint32_t pc);
/** Sleep for @length instructions of the block. Time is block->retired and what the warp has
 *  retired since w->slice_start. */
void emu_split_sleep(struct emu_warp *w, uint64_t lanes, uint64_t length, uint32_t next);
/** Wait until no kernel that the block launched is open (launch.sync). */
void emu_split_launch_wait(struct emu_warp *w, uint64_t lanes, uint32_t next);
/** Lanes of it wait at launch.sync, and nothing in it can run. */
bool emu_block_suspended(const struct emu_block *block);
/** What a bar.red brings: its instruction, its active lanes, those with a true predicate. */
struct emu_reduction {
    uint32_t index, brought, yes;
};
/** Is an arrival of all of @w's split at CTA barrier @id, without a count, the usual one: of a
 *  split alone in its warp, in a generation without counts? */
static inline bool emu_split_bar_usual(const struct emu_warp *w, unsigned id)
{
    const struct emu_cta_barrier *c = &w->block->cta[id];

    return w->split_count == 1 && w->flow == NULL && !w->parts && w->breg_blocked == 0 &&
           w->block->threads % 32 == 0 && !(c->in_use && (c->has_count || c->lanes[w->index] != 0));
}
/** The same as emu_split_bar() for that arrival; it waits at @next and its slice has ended. */
bool emu_split_bar_alone(struct emu_warp *w, unsigned id, uint32_t next);
enum emu_cta_result { EMU_CTA_WAITS, EMU_CTA_COMPLETED, EMU_CTA_BAD };
/** Lanes arrive at CTA barrier @id. With @wait they wait and the slice ends, also when the
 *  barrier completes; else (arrive) it continues. @red: NULL, or they wait for the sum over all
 *  arrivals that bring one. EMU_CTA_BAD: why gets a clause (a guest fault; nothing changed). */
enum emu_cta_result emu_split_bar(struct emu_warp *w, unsigned id, uint64_t lanes,
                                  bool has_count, uint32_t count, bool wait, uint32_t next,
                                  const struct emu_reduction *red, char *why, size_t why_size);
/** mov from / to a barrier register (take, give). */
void emu_breg_save(struct emu_warp *w, unsigned reg, uint64_t lanes, uint64_t *number);
void emu_breg_restore(struct emu_warp *w, unsigned reg, uint64_t lanes, const uint64_t *number);
/** Can any split of the block run now (ready, yielded, or sleeping with time to jump)? */
bool emu_block_can_run(const struct emu_block *block);
/** False, with a clause, on a broken invariant (debug and test builds). */
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

/** The split that has the turn loses it. */
static inline struct emu_split *split_end_slice(struct emu_warp *w)
{
    struct emu_split *s = &w->split[w->running];

    w->running = -1;
    s->since = w->retired;
    return s;
}

/** Block time as sleepers of @w's block count it; exact also within @w's turn. */
static inline uint64_t split_now(const struct emu_warp *w)
{
    return w->block->retired + (w->retired - w->slice_start) + w->block->sleep_offset;
}

/**
 * Make the lanes @lanes (some of split @id's) a split of their own, alike in everything.
 * Whatever divides it, the part with the lowest lane keeps the id and the other takes the
 * lowest free one.
 * Returns the id that @lanes have now; *@rest that of the others (not written when @lanes is the
 * whole split).
 */
unsigned emu_split_part(struct emu_warp *w, unsigned id, uint64_t lanes, unsigned *rest);
/** Take split @id out of the table; its lanes are gone or in another split. */
void emu_split_drop(struct emu_warp *w, unsigned id);
/** Splits @ids become ready: those at one pc leave as one split, with the lowest id. */
void emu_split_wake(struct emu_warp *w, uint64_t ids);
/** Union of the lanes of splits @ids. */
uint64_t emu_split_lanes(const struct emu_warp *w, uint64_t ids);
/** Ids of @ids ordered by lowest lane into @out; returns how many. */
unsigned emu_split_by_low(const struct emu_warp *w, uint64_t ids, uint8_t *out);
/** The running split made others ready: the turn may last no longer than they allow. */
void emu_split_cut_budget(struct emu_warp *w);

/** A side of a branch: lanes that go to one place. */
struct split_side {
    uint64_t lanes;
    uint32_t target;
    unsigned id;
};
/** Group @lanes by target, by ascending lowest lane; returns how many sides. *@gone: those that go to
 *  EMU_TARGET_EXIT, which are in none. */
unsigned emu_split_sides(uint64_t lanes, const uint32_t *target, struct split_side *side, uint64_t *gone);
/** The sides in the order in which they are pushed: the last one is on top, and runs first. Of equal sides the
 *  fall-through to @next is on top, then the one with the lowest lane. */
void emu_split_order_sides(const struct split_side *side, unsigned count, uint32_t next, enum emu_push_order push,
                           uint8_t *order);
/** Make each side of split @id a split, at its target; side[].id gets the ids. */
void emu_split_part_sides(struct emu_warp *w, unsigned id, struct split_side *side,
                          unsigned count);
/** No lane of the block lives any more. */
void emu_split_block_ends(struct emu_block *block);
/** Lanes @gone of split *@id leave life; the survivors, if any, may change their id. */
void emu_split_bury(struct emu_warp *w, unsigned *id, uint64_t gone);

/** Release what lanes blocked at the convergence registers @regs (bits) may be let go. */
void emu_conv_release(struct emu_warp *w, uint32_t regs);
/** Everything, after lanes exited: CTA barriers of the block, warpsync, bsync. */
void emu_barriers_after_exit(struct emu_warp *w, uint64_t lanes);

#endif
