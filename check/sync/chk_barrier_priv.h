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
 *  barrier, are also treated as branches. */
struct chk_region {
    uint32_t branch, join; /* instructions */
    uint32_t next;          /* 1 + the next region with the same end; 0: none */
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
    uint8_t *does;        /* [instruction] */
    struct chk_region *region; /* all regions; the regions of a function are consecutive */
    uint32_t region_count;
    struct {
        uint32_t first, count;
        bool calls;
    } *function;         /* [function of the object] */
    uint32_t *branch_at; /* [instruction] 1 + the region of a branch; 0: none. NULL: there are no regions */
    uint32_t *close_at;  /* [instruction] 1 + the first of the regions that end at the instruction */
};
/** Analyses a program. The regions of branches are found only if @branches is set. Returns NULL without memory. */
struct chk_regions *chk_regions_make(const struct emu_program *program, bool branches);
void chk_regions_destroy(struct chk_regions *regions);

/* ---- sides of these branches that the threads of a block took (chk_barrier_paths.c) ---- */
struct chk_paths;
/** Starts tracking a block; @old is the record of an ended block, which is freed or reused. Returns NULL if its
 *  kernel has no such branch, or without memory. */
struct chk_paths *chk_paths_begin(struct chk *chk, const struct chk_regions *regions, const struct emu_hook_site *site,
                                  struct chk_paths *old);
void chk_paths_destroy(struct chk_paths *paths);
/** Handles an instruction at which a region begins or ends, before it executes. */
void chk_paths_insn(struct chk_paths *paths, const struct emu_hook_site *site);
/** Lanes of a warp that arrived at an instruction, with the raw position, which is converted to a location only for a
 *  finding. */
struct chk_arrival {
    uint64_t pc, block, lanes;
    uint32_t grid;
    unsigned warp;
};
struct chk_arrivals {
    struct chk_arrival *at;
    size_t count, room;
};
/** Checks a barrier for all live threads when it completes: @came are the threads that reached it, and @ended the
 *  threads that have exited since the last barrier. Reports threads that took different sides of branches. Returns true
 *  if that is the reason why threads wait at different barriers. */
bool chk_paths_converge(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended);
/** Checks a barrier of a resident block that hangs, because the barrier never completes. Returns true if it reported
 *  something. */
bool chk_paths_stuck(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended,
                     const struct emu_core *core, unsigned slot);

#endif
