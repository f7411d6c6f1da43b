/* SPDX-License-Identifier: Apache-2.0 */
/* Internal interface of the barrier check. The check finds CTA barriers, and cross-lane operations with a member mask, that
 * complete although not all of their lanes reached the same instruction. */
#ifndef CHK_BARRIER_PRIV_H
#define CHK_BARRIER_PRIV_H

#include "check/chk_priv.h"

/* ---- branches that decide who reaches a barrier (chk_barrier_regions.c) ---- */
/** Values of chk_region.join for a branch whose sides reconverge at no instruction of the function. */
enum { CHK_RECONVERGES_NOWHERE = UINT32_MAX, CHK_RECONVERGES_RETURNED = UINT32_MAX - 1 /* the sides reconverge where the
                                                                                        * function has returned */ };
/** A branch whose region contains a barrier without a count. A guarded barrier, and a guarded call of a function with a
 *  barrier, are also treated as branches. */
struct chk_region {
    uint32_t branch, join; /* indexes of the branch, and of the instruction at which its sides reconverge */
    uint32_t next;          /* 1 + index of the next region with the same end, or 0 if there is none */
    bool loops;             /* control flow can return to the branch before its sides reconverge */
};
/** Effects of an instruction that are handled before it executes, as bits. */
enum {
    CHK_DOES_BARRIER = 1,  /* the instruction reaches a CTA barrier */
    CHK_DOES_FULL = 2,     /* the instruction's barrier waits for all live threads of the block */
    CHK_DOES_EXIT = 4,
    CHK_DOES_CROSS = 8,    /* the instruction synchronises lanes of a mask */
    CHK_DOES_REGION = 16   /* a region begins or ends at the instruction */
};
struct chk_regions {
    const struct emu_program *program;
    uint8_t *does;        /* [instruction]: CHK_DOES_* */
    bool crosses;         /* an instruction synchronises lanes of a mask */
    struct chk_region *region; /* all regions; the regions of a function are consecutive */
    uint32_t region_count;
    struct {
        uint32_t first, count; /* regions of the function */
        bool calls;            /* the function has calls */
    } *function;         /* [function of the object] */
    uint32_t *branch_at; /* [instruction]: 1 + the region of the branch; 0: none. NULL: there are no regions */
    uint32_t *close_at;  /* [instruction]: 1 + the first of the regions that end at the instruction, or 0 if there is none */
};
/** Analyses a program. The regions of branches are found only if @branches is set. Returns NULL if memory is short. */
struct chk_regions *chk_regions_make(const struct emu_program *program, bool branches);
void chk_regions_destroy(struct chk_regions *regions);

/* ---- sides of these branches that the threads of a block took (chk_barrier_paths.c) ---- */
struct chk_paths;
/** Starts tracking the block of @site. @old: the record of an ended block, which is freed or reused. Returns NULL if the
 *  block's kernel has no branch with a region, or if memory is short. */
struct chk_paths *chk_paths_begin(struct chk *chk, const struct chk_regions *regions, const struct emu_hook_site *site,
                                  struct chk_paths *old);
void chk_paths_destroy(struct chk_paths *paths);
/** Handles an instruction at which a region begins or ends, before it executes. */
void chk_paths_insn(struct chk_paths *paths, const struct emu_hook_site *site);
/** Lanes of a warp that arrived at an instruction. The pc is converted to a source location only for a finding. */
struct chk_arrival {
    uint64_t pc, block, lanes;
    uint32_t grid;
    unsigned warp;
};
struct chk_arrivals {
    struct chk_arrival *at;
    size_t count, room;
};
/** Checks a barrier for all live threads of a block when it completes. @came: the threads that reached it. @ended: the
 *  threads that have exited since the last such barrier. Reports branches at which these threads took different sides.
 *  Returns true if a reported branch explains why threads wait at different barriers. */
bool chk_paths_converge(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended);
/** Makes the check of chk_paths_converge() for a resident block that hangs because its barrier never completes. Returns true
 *  if it added a finding. */
bool chk_paths_stuck(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended,
                     const struct emu_core *core, unsigned slot);

#endif
