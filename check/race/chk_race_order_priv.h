/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: happens-before, by vector clocks of threads, warps, blocks and launches; and the findings. */
#ifndef CHK_RACE_ORDER_PRIV_H
#define CHK_RACE_ORDER_PRIV_H

#include "check/race/chk_race_shadow_priv.h"

/* ---- vector clocks ---------------------------------------------------------------------------------- */

/** Whose clock an entry has. */
enum race_vclock_entry { RACE_VC_THREAD, RACE_VC_WARP, RACE_VC_BLOCK, RACE_VC_GRID, RACE_VC_ALL };
static inline uint64_t race_key(enum race_vclock_entry entry, uint32_t tid)
{
    return (uint64_t)entry << 32 | tid;
}
/** All that the threads of @key did up to @time is ordered before. */
struct race_entry {
    uint64_t key;
    uint32_t time;
};
/** A sparse vector clock: sorted by key, and constant once it is made. NULL is the empty one. */
struct race_vclock {
    unsigned refs, count;
    struct race_entry entry[];
};
struct race_vclock *race_vclock_keep(struct race_vclock *vclock);
void race_vclock_drop(struct race_vclock *vclock);
uint32_t race_vclock_time(const struct race_vclock *vclock, uint64_t key);
/** Of few entries in any order. NULL: it is empty, or there is no memory (@short_of_memory), and more is unordered. */
struct race_vclock *race_vclock_create(struct race_entry *entry, unsigned count,
                                   bool *short_of_memory);
/** Drops the entries of a block's own threads. */
void race_vclock_prune(struct race_vclock **vclock, uint32_t block_id);
/** *@into becomes the maximum of both. Too large a clock becomes "all up to @now". */
void race_vclock_join(struct race_vclock **into, struct race_vclock *other, uint32_t now,
                     bool *short_of_memory);

/* ---- uninitialised memory --------------------------------------------------------------------------- */

/** Global memory that the host has allocated and not written. */
struct race_uninit {
    uint64_t first, end;
};
void race_uninit_set(struct chk_race *race, uint64_t address, uint64_t bytes, bool uninitialised);
/** Is some of it such? Kernels may have written there. */
bool race_is_uninitialised(const struct chk_race *race, uint64_t address, uint64_t bytes);

/* ---- threads ---------------------------------------------------------------------------------------- */

/* What a thread knows of others, most of it shared by its warp and block: vc_floor, a clock up to which everything is
 * ordered before; vc_block, the same of its block; vc_warp, of its warp; vc_warps and vc_lanes, where warps or lanes
 * differ; and a sparse vector clock of what it acquired by atomics and launches. */

/** What a thread had known at its last fence, and releases by an atomic. */
struct race_fence {
    uint32_t time, vc_block, vc_warp; /* time 0: there was none */
    struct race_vclock *vclock;
};
enum { RACE_FENCE_GPU, RACE_FENCE_CTA };
struct race_lane {
    struct race_fence fence[2];  /* by scope; one of the device is one of the block, too */
    struct race_vclock *vclock;  /* in addition to its block's */
    struct race_vclock *pending[2]; /* by relaxed reads, until a fence (of a scope) acquires it */
};
struct race_warp {
    uint64_t lanes;        /* of the split that accessed last */
    uint64_t logged_lanes; /* the same, with the accesses in the batch */
    uint32_t vc_warp;      /* each lane knows all lanes of the warp up to */
    uint32_t converged;    /* clock up to which accesses were made before all lanes were one split */
    uint32_t *vc_lanes;    /* [lane][lane], where lanes differ; or NULL */
    struct race_lane *lane; /* [width], or NULL */
};
/** What is known of a kernel's code. */
struct race_code {
    const struct isa_function *kernel;
    bool sync_free; /* none of its threads releases: barriers are its only synchronisation */
    bool launches;
};
struct race_grid {
    uint32_t sequence, parent; /* 0: the host */
    uint32_t block_id;         /* the block that launched it */
    uint64_t stream;
    uint32_t vc_floor;
    struct race_vclock *vclock;
    struct race_code code;
    bool group, begun;
};
struct race_block {
    struct emu_core *core;
    unsigned slot;
    uint32_t grid;   /* sequence */
    uint64_t linear;
    uint32_t block_id; /* 0: too many blocks: not checked */
    uint32_t start;    /* records before are of another block's shared memory */
    uint32_t vc_floor;
    uint32_t vc_block;  /* all threads know the block up to, and what it did in shared memory up to vc_shared */
    uint32_t vc_shared;
    struct race_weak {
        uint32_t time; /* 0: there was none */
        uint64_t pc;
    } weak[2]; /* [in global memory]: the last barrier that does not order that */
    uint32_t packed_first; /* its accesses in packed cells have this number, or more */
    uint32_t *fenced;     /* [warp]: at the last barrier of all, its lanes had a fence of the device after what they did
                             up to; NULL: never */
    bool any_fence, any_lane;
    bool opencl, opencl_known; /* its kernel is in OpenCL C */
    unsigned warp_count, width;
    struct race_vclock *vclock, *pending[2]; /* of all threads */
    uint32_t *vc_warps;   /* [warp][warp], where warps differ; or NULL */
    struct race_barrier_clock *barrier[ISA_CTA_BARRIER_COUNT]; /* of bar.arrive; or NULL */
    struct race_page_shadow shared;
    struct race_warp warp[];
};
/** What thread ids say of a block. */
struct race_block_id {
    uint32_t grid, start; /* start: clock at which it began */
    uint64_t linear;
};
/** The location of an atomic, with what was released to it. */
struct race_sync_var {
    uint64_t key; /* generic address; of shared memory with the block's id above; 0: free */
    struct race_vclock *gpu, *cta;
    uint32_t cta_block_id;
};
/** Two sites that have a finding. */
struct race_pair {
    uint64_t key; /* 0: free */
    int finding;  /* -1: it was suppressed */
    uint64_t access, other; /* the access and other warp of its first time */
    uint64_t counted;       /* the lane check that was counted last */
};

/* ---- order -------------------------------------------------------------------------------------- */

enum race_order { RACE_UNORDERED, RACE_PENDING /* but for an acquire */, RACE_ORDERED };
/** Is what one thread did up to @time ordered before what @lane does now? */
enum race_order race_ordered_one(const struct race_access *ctx, unsigned lane, uint32_t tid,
                                 uint32_t time);
/** The same of the record @k of a cell, which is not empty. */
enum race_order race_ordered(const struct race_access *ctx, unsigned lane,
                             const struct race_page_shadow *cells, uint32_t i, unsigned k);
/** The split of a warp is @lanes from now on, of @live ones: what was done before it was together may
 *  count on lockstep. */
void race_converge(struct chk_race *race, struct race_warp *w, uint64_t lanes, uint64_t live);

/* ---- findings (chk_race_report.c) --------------------------------------------------------------- */

/* A pair of sites that is in chk_race.pairs was reported before: its races are counted there, without
 * chk_add(). */

/** An access of a lane and the access of a record are not ordered (@order), and not both strong in each
 *  other's scope; or they are, and one is volatile. @at: the lane's generic address. @written:
 *  the record is of writes. */
void race_found(struct race_access *ctx, unsigned lane, uint64_t at, uint32_t tid, uint32_t time,
                uint32_t site, bool written, enum race_order order);
/** Is the load of a site what a loop waits for? Of the running program's sites. */
bool race_waits_for(struct chk_race *race, uint32_t site);
/** Are the access and that of a record's @site atomics of two sizes? PTX does not make them atomic for each other. */
bool race_two_sizes(const struct race_access *ctx, uint32_t site);
/** As race_found of a weak load and a weak store of another block, which nothing orders, if their race was
 *  reported before this access. False: it was not, nothing is done. */
bool race_found_repeat(const struct race_access *ctx, uint32_t site);
/** The finding that counts such races, if theirs was reported before this access; -1: it was not. */
int race_found_before(const struct race_access *ctx, uint32_t site);
/** Does @lane store what is there, and does no enabled kind report such races? */
bool race_stores_what_is(const struct race_access *ctx, unsigned lane, uint64_t at);
/** Do @lanes store one value, so that between them there is no race of an enabled kind? */
bool race_stores_same(const struct race_access *ctx, uint64_t lanes);

/* ---- synchronisation, blocks and lanes (chk_race_order.c, chk_race_order_barrier.c) ------------- */

/** An atomic or strong access of @lane to a place, in this order: it reads, it writes. */
void race_synchronize(struct race_access *ctx, unsigned lane, uint64_t at, unsigned order,
                      bool reads, bool writes);
/** The resident block of a slot, NULL: it is not looked at. */
struct race_block *race_block_at(struct chk_race *race, const struct emu_core *core,
                                 unsigned slot);
/** What lanes know, made when it is needed; NULL: no memory. */
struct race_lane *race_lanes_of(struct chk_race *race, struct race_block *b, struct race_warp *w);
uint32_t race_thread_of(const struct race_block *b, const struct race_warp *w, unsigned lane);
/** race_vclock_join at the present. */
void race_join(struct chk_race *race, struct race_vclock **into, struct race_vclock *other);
/** What lanes[warp] of a block did, and know of it in addition to what all do, as another acquires it. NULL: nothing,
 *  or no memory. */
struct race_vclock *race_ordered_before(struct chk_race *race, const struct race_block *b, const uint64_t *lanes);
void race_barriers_free(struct race_block *b);
/** Before a bar.arrive. */
void race_arrive(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site);
/** Lanes of a warp of a resident block that have not ended. */
uint64_t race_live(const struct race_block *b, const struct race_warp *w);
/** Is nothing known but clocks of block and warp? */
static inline bool race_is_plain(const struct race_block *b, const struct race_warp *w)
{
    return b->vclock == NULL && w->lane == NULL && w->vc_lanes == NULL && b->vc_warps == NULL &&
           b->pending[0] == NULL && b->pending[1] == NULL;
}
static inline uint32_t race_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

#endif
