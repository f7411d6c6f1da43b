/* SPDX-License-Identifier: Apache-2.0 */
/* CTA barriers and masks that are complete although not all lanes reached one and the same instruction. */
#ifndef CHK_BARRIER_PRIV_H
#define CHK_BARRIER_PRIV_H

#include "check/chk_priv.h"

/* ---- branches that decide who reaches a barrier (chk_barrier_regions.c) ---- */
/** Where the sides of a branch meet: an instruction, or one of these. */
enum { CHK_RECONVERGES_NOWHERE = UINT32_MAX, CHK_RECONVERGES_RETURNED = UINT32_MAX - 1 /* where the function has returned */ };
/** A branch with a barrier without a count in its region, or a guarded barrier or call of what has one. */
struct chk_region {
    uint32_t branch, join; /* instructions */
    uint32_t next;          /* the next one that is over where this one is, and 1; 0: none */
    bool loops;             /* flow comes back to it before its sides meet */
};
/** What is to be done before an instruction: bits. */
enum {
    CHK_DOES_BARRIER = 1,  /* it reaches a CTA barrier */
    CHK_DOES_FULL = 2,     /* to one that waits for all live threads of the block */
    CHK_DOES_EXIT = 4,
    CHK_DOES_CROSS = 8,    /* members of a mask meet */
    CHK_DOES_REGION = 16   /* a region begins or is over */
};
struct chk_regions {
    const struct emu_program *program;
    uint8_t *does;        /* [instruction] */
    struct chk_region *region; /* those of a function are consecutive */
    uint32_t region_count;
    struct {
        uint32_t first, count;
        bool calls;
    } *function;         /* [function of the object] */
    uint32_t *branch_at; /* [instruction] its region, and 1; 0: none. NULL where there are no regions */
    uint32_t *close_at;  /* the same of the first of those that are over there */
};
/** @branches: look for regions; else there are none. NULL: no memory. */
struct chk_regions *chk_regions_make(const struct emu_program *program, bool branches);
void chk_regions_destroy(struct chk_regions *regions);

/* ---- which way threads of a block took them (chk_barrier_paths.c) ---- */
struct chk_paths;
/** Of a block that begins; @old is one that is over, and is freed or used again. NULL: its kernel has no such branch,
 *  or there was no memory. */
struct chk_paths *chk_paths_begin(struct chk *chk, const struct chk_regions *regions, const struct emu_hook_site *site,
                                  struct chk_paths *old);
void chk_paths_destroy(struct chk_paths *paths);
/** An instruction at which a region begins or is over is about to be executed. */
void chk_paths_insn(struct chk_paths *paths, const struct emu_hook_site *site);
/** Lanes of a warp that reached something: raw, converted to a location only for a finding. */
struct chk_arrival {
    uint64_t pc, block, lanes;
    uint32_t grid;
    unsigned warp;
};
struct chk_arrivals {
    struct chk_arrival *at;
    size_t count, room;
};
/** A barrier that waits for all live threads completes: which threads reached it, and which have ended since the last
 *  one. Threads that took branches in different ways are reported. True: that is why they wait at different barriers.
 *  */
bool chk_paths_converge(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended);
/** The same of one that never completes, of a resident block that hangs. True: something was reported. */
bool chk_paths_stuck(struct chk_paths *paths, const struct chk_arrivals *came, const struct chk_arrivals *ended,
                     const struct emu_core *core, unsigned slot);

#endif
