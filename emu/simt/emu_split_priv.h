/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between emu_split.c (table and what parts a split), emu_barrier.c (what holds and releases
 * lanes), emu_policy.c (who has the turn) and emu_hang_report.c (views and words).
 *
 * A split stands in w->split[] at its id. Sets of splits are 64-bit masks of ids.
 */
#ifndef EMU_SPLIT_PRIV_H
#define EMU_SPLIT_PRIV_H

#include "emu/emu_priv.h"

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
static inline struct emu_split *split_end_turn(struct emu_warp *w)
{
    struct emu_split *s = &w->split[w->running];

    w->running = -1;
    s->since = w->retired;
    return s;
}

/** Block time as sleepers of @w's block count it; exact also within @w's turn. */
static inline uint64_t split_now(const struct emu_warp *w)
{
    return w->block->retired + (w->retired - w->turn_start) + w->block->sleep_offset;
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
/** Group @lanes by target, by ascending lowest lane; returns how many sides. */
unsigned emu_split_sides(uint64_t lanes, const uint32_t *target, struct split_side *side);
/** Make each side of split @id a split, standing at its target; side[].id gets the ids. */
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

/** In a handler, as its last act: the turn of @w is over, and nothing of it is ready or its split goes
 *  on at w->di. Goes on with the next warp where core->hand allows it; else @w leaves its chain. */
void emu_switch_to_next_warp(struct emu_warp *w);
/** In a handler, as its last act, all counted: the run at @t is longer than what is left of the turn. It
 *  is used up there, and handed on, where core->hand allows that; else @w leaves its chain. */
void emu_slice_expired(struct emu_warp *w, const struct emu_dinsn *t);
/** The chain was left: what emu_slice_expired() put behind the last instruction of the turn goes, if it is
 *  still there. */
void emu_slice_end_unpatch(struct emu_warp *w);
void emu_slice_end_handler(struct emu_warp *w, const struct emu_dinsn *di);
/** Count what is in front of @di, where the turn ends and the split goes on; forms of rows are kept. */
void emu_count_and_keep(struct emu_warp *w, const struct emu_dinsn *di);
/** The same for a warp that ends there, counted: all its lanes are one split, which nobody watches; no
 *  CTA barrier of the block is open, and lanes part and meet by convergence barriers. */
void emu_split_exit_alone(struct emu_warp *w);
/** Instructions of a warp without a look at it, at most: below the saturation of emu_dinsn.run. */
enum { EMU_LONGEST_BUDGET = 32768 };
/** Full handler of a branch that closes a loop of one run (emu_control.c): aux is what of w->proved
 *  the next pass keeps, as it lies in memory. */
void emu_loop_handler(struct emu_warp *w, const struct emu_dinsn *di);

#endif
