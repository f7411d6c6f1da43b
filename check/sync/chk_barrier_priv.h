/* SPDX-License-Identifier: Apache-2.0 */
/* CTA barriers and masks that complete although not all lanes reached the same instruction. */
#ifndef CHK_BARRIER_PRIV_H
#define CHK_BARRIER_PRIV_H

#include "check/chk_priv.h"

/* ---- branches that decide who reaches a barrier (chk_barrier_regions.c) ---- */
/** Instruction where the sides of a branch reconverge, or one of the following values. */
enum { CHK_RECONVERGES_NOWHERE = UINT32_MAX, CHK_RECONVERGES_RETURNED = UINT32_MAX - 1 /* the sides reconverge where the
                                                                                        * function has returned */ };
/** A branch whose region contains a barrier without a count. A guarded barrier, and a guarded call of a function with a
 *  barrier, also count as branches. */
struct chk_region {
    uint32_t branch, join; /* instructions */
    uint32_t next;          /* the next region with the same end, plus 1; 0: none */
    bool loops;             /* control flow can return to the branch before its sides reconverge */
};
/** Actions before an instruction, as bits. */
enum {
    CHK_DOES_BARRIER = 1,  /* the instruction reaches a CTA barrier */
    CHK_DOES_FULL = 2,     /* the instruction's barrier waits for all live threads of the block */
    CHK_DOES_EXIT = 4,
    CHK_DOES_CROSS = 8,    /* the instruction synchronises lanes of a mask */
    CHK_DOES_REGION = 16   /* a region begins or ends at the instruction */
};
struct chk_regions {
    const struct emu_program *program;
    uint8_t *does;        /* [instruction] */
    struct chk_region *region; /* all regions; the regions of a function are consecutive */
    uint32_t region_count;
    struct {
        uint32_t first, count;
        bool calls;
    } *function;         /* [function of the object] */
    uint32_t *branch_at; /* [instruction] the region of a branch, plus 1; 0: none. NULL without regions */
    uint32_t *close_at;  /* [instruction] the first of the regions that end at the instruction, plus 1 */
};
/** Analyses a program. Finds the regions of branches only if @branches. Returns NULL without memory. */
struct chk_regions *chk_regions_make(const struct emu_program *program, bool branches);
void chk_regions_destroy(struct chk_regions *regions);

/* ---- which side of these branches the threads of a block took (chk_barrier_paths.c) ---- */
struct chk_paths;
/** Starts tracking a block; @old is the record of an ended block, which is freed or reused. Returns NULL if its
 *  kernel has no such branch, or without memory. */
struct chk_paths *chk_paths_begin(struct chk *chk, const struct chk_regions *regions, const struct emu_hook_site *site,
                                  struct chk_paths *old);
void chk_paths_destroy(struct chk_paths *paths);
/** Handles an instruction at which a region begins or ends, before it executes. */
void chk_paths_insn(struct chk_paths *paths, const struct emu_hook_site *site);
/** Lanes of a warp that arrived somewhere: raw, converted to a location only for a finding. */
struct chk_arrival {
    uint64_t pc, block, lanes;
    uint32_t grid;
    unsigned warp;
};
struct chk_arrivals {
    struct chk_arrival *at;
    size_t count, room;
};
/** Checks a barrier for all live threads when it completes: @came are the threads that reached it, @ended
 *  the threads that have exited since the last barrier. Reports threads that took branches in different ways. Returns
 *  true if that is why they wait at different barriers. */
bool chk_paths_converge(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended);
/** Checks a barrier that never completes, of a resident block that hangs. Returns true
 *  if something was reported. */
bool chk_paths_stuck(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended,
                     const struct emu_core *core, unsigned slot);

#endif
