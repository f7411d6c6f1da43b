/* SPDX-License-Identifier: Apache-2.0 */
/* Race checker: happens-before by vector clocks of threads, warps, blocks and launches; and the findings. */
#ifndef CHK_RACE_ORDER_PRIV_H
#define CHK_RACE_ORDER_PRIV_H

#include "check/race/chk_race_shadow_priv.h"

/* ---- vector clocks ---------------------------------------------------------------------------------- */

/** Kind of a vector clock entry: which threads' accesses the entry covers. RACE_VC_GRID covers a launch and the launches that
 *  its blocks made; RACE_VC_BLOCKS_OF covers only the blocks of a launch. */
enum race_vclock_entry { RACE_VC_THREAD, RACE_VC_WARP, RACE_VC_BLOCK, RACE_VC_BLOCKS_OF, RACE_VC_GRID, RACE_VC_ALL };
static inline uint64_t race_key(enum race_vclock_entry entry, uint32_t tid)
{
    return (uint64_t)entry << 32 | tid;
}
/** Entry of a vector clock: the accesses that the threads of `key` made up to clock `time` are ordered before the next
 *  access of the thread that has the vector clock. */
struct race_entry {
    uint64_t key;
    uint32_t time;
};
/** A sparse vector clock. The entries are sorted by key, and do not change after the creation of the clock. NULL is the empty
 *  vector clock. */
struct race_vclock {
    unsigned refs, count;
    struct race_entry entry[];
};
struct race_vclock *race_vclock_keep(struct race_vclock *vclock);
void race_vclock_drop(struct race_vclock *vclock);
uint32_t race_vclock_time(const struct race_vclock *vclock, uint64_t key);
/** Creates a vector clock from few entries in any order. Returns NULL if there are no entries. If memory is short, sets
 *  *@short_of_memory and returns NULL; more accesses are then treated as unordered. */
struct race_vclock *race_vclock_create(struct race_entry *entry, unsigned count,
                                   bool *short_of_memory);
/** Removes from a vector clock the entries for block @block_id and for its warps and threads. */
void race_vclock_prune(struct race_vclock **vclock, uint32_t block_id);
/** Sets *@into to the element-wise maximum of both clocks. A clock that would become too large is replaced by
 *  "everything up to @now". */
void race_vclock_join(struct race_vclock **into, struct race_vclock *other, uint32_t now,
                     bool *short_of_memory);

/* ---- uninitialised memory --------------------------------------------------------------------------- */

/** Global memory that the host has allocated and not written. */
struct race_uninit {
    uint64_t first, end;
};
void race_uninit_set(struct chk_race *race, uint64_t address, uint64_t bytes, bool uninitialised);
/** Returns true if the host has not written all bytes of a range; kernels may have written them. */
bool race_is_uninitialised(const struct chk_race *race, uint64_t address, uint64_t bytes);

/* ---- threads ---------------------------------------------------------------------------------------- */

/* A thread has these clocks; most of them are shared by its warp or block. Up to clock vc_floor, the thread is ordered after
 * all accesses. Up to clock vc_block, it is ordered after the accesses of its block, and up to clock vc_warp after those of
 * its warp. vc_warps and vc_lanes are used if warps or lanes have different clocks. A sparse vector clock covers the accesses
 * that the thread acquired by atomics and launches. */

/** Clocks of a thread at its last fence. A later atomic of the thread releases these clocks. */
struct race_fence {
    uint32_t time, vc_block, vc_warp; /* time: clock of the fence; 0: the lane has executed no fence */
    struct race_vclock *vclock;
};
enum { RACE_FENCE_GPU, RACE_FENCE_CTA };
struct race_lane {
    struct race_fence fence[2];  /* [scope]; a device fence is also recorded as a block fence */
    struct race_vclock *vclock;  /* vector clock of the lane, in addition to the vector clock of its block */
    struct race_vclock *pending[2]; /* [scope]: vector clock that relaxed reads have acquired, and that takes effect at
                                     * the next fence of this scope */
};
struct race_warp {
    uint64_t lanes;        /* lanes of the split that made the last access */
    uint64_t logged_lanes; /* lanes of the split that made the last access, where logged accesses count, too */
    uint32_t vc_warp;      /* clock up to which each lane is ordered after all lanes of the warp */
    uint32_t converged;    /* clock at which a split of all live lanes last began or ended */
    uint32_t *vc_lanes;    /* [lane][other]: clock up to which the lane is ordered after the other lane; NULL if vc_warp
                            * is valid for all lanes */
    struct race_lane *lane; /* [lane]; NULL if no lane has clocks of its own */
};
/** Properties of a kernel's code. */
struct race_code {
    const struct isa_function *kernel;
    bool sync_free; /* no thread of the kernel releases, so barriers are its only synchronisation */
    bool launches;
};
struct race_grid {
    uint32_t sequence, parent; /* parent: sequence number of the launching grid; 0: the host launched this grid */
    uint32_t block_id;         /* id of the launching block */
    uint64_t stream;
    uint32_t vc_floor;
    struct race_vclock *vclock;
    struct race_code code;
    bool group, begun;
};
struct race_block {
    struct emu_core *core;
    unsigned slot;
    uint32_t grid;   /* sequence number of the launch */
    uint64_t linear;
    uint32_t block_id; /* id of the block, or 0 if no id was left, so that the block is not checked */
    uint32_t start;    /* records before this clock belong to the shared memory of another block */
    uint32_t vc_floor;
    uint32_t vc_block;  /* clock up to which all threads of the block are ordered after its accesses */
    uint32_t vc_shared; /* clock up to which all threads of the block are ordered after its accesses to shared memory */
    struct race_weak {
        uint32_t time; /* clock at which the barrier completed; 0: the block has passed no such barrier */
        uint64_t pc;
    } weak[2]; /* [in global memory]: the last barrier that does not order this memory space */
    uint32_t packed_first; /* in packed cells accesses are numbered: lowest number that an access by the block can have */
    uint32_t *fenced;     /* [warp]: clock of the last device fence that all lanes executed before a barrier of the
                           * whole block; NULL: there was none */
    bool any_fence, any_lane;
    bool opencl, opencl_known; /* opencl: the block's kernel is in OpenCL C; valid if opencl_known is true */
    unsigned warp_count, width;
    struct race_vclock *vclock, *pending[2]; /* as the members of struct race_lane, but common to all threads of the block */
    uint32_t *vc_warps;   /* [warp][other]: clock up to which the warp is ordered after the other warp; NULL if vc_block
                           * is valid for all warps */
    struct race_barrier_clock *barrier[ISA_CTA_BARRIER_COUNT]; /* NULL: no warp has executed bar.arrive for the barrier */
    struct race_page_shadow shared;
    struct race_warp warp[];
};
/** The block that has a certain block id. The thread id of each thread of the block contains this block id. */
struct race_block_id {
    uint32_t grid, start; /* start: clock at which the block started */
    uint64_t linear;
};
/** Sync variable: the location of an atomic, with the vector clock that atomics have released there. */
struct race_sync_var {
    uint64_t key; /* generic address; for shared memory, with the block's id in the upper bits; 0: the entry is free */
    struct race_vclock *gpu, *cta; /* gpu: vector clock released with device scope; cta: released with block scope by block
                                    * cta_block_id */
    uint32_t cta_block_id;
};
/** A pair of sites that has a finding. */
struct race_pair {
    uint64_t key; /* key of the entry; 0: the entry is free */
    int finding;  /* index of the finding, CHK_DROPPED or CHK_LOST */
    uint64_t access, other; /* at the first occurrence: chk_race.access_count, and the warp of the previous access */
    uint64_t counted;       /* chk_race.lane_count at the last occurrence that was counted */
};

/* ---- order -------------------------------------------------------------------------------------- */

enum race_order { RACE_UNORDERED, RACE_PENDING /* unordered, unless a later acquire orders the two accesses */, RACE_ORDERED };
/** Returns whether the accesses that thread @tid made up to @time are ordered before the access of @lane. */
enum race_order race_ordered_one(const struct race_access *ctx, unsigned lane, uint32_t tid,
                                 uint32_t time);
/** Returns whether the accesses in record @k of a cell are ordered before the access of @lane. The record is not
 *  empty. */
enum race_order race_ordered(const struct race_access *ctx, unsigned lane,
                             const struct race_page_shadow *cells, uint32_t i, unsigned k);
/** Records that the split of a warp consists of @lanes from now on; @live lanes have not exited. Accesses made before
 *  all live lanes were one split may have relied on lockstep. */
void race_converge(struct chk_race *race, struct race_warp *w, uint64_t lanes, uint64_t live);

/* ---- findings (chk_race_report.c) --------------------------------------------------------------- */

/* race_found() reports a race. If chk_race.pairs has a finding for the pair of sites, race_found_repeat() counts the race
 * at less cost, without a call of chk_add(). */

/** Handles a race between the access of @lane and a recorded access by @tid at clock @time with site word @site. @order:
 *  RACE_UNORDERED or RACE_PENDING. The two accesses are not both strong in each other's scope, or one of them is volatile.
 *  @at: the lane's generic address. @written: the record is a record of writes. */
void race_found(struct race_access *ctx, unsigned lane, uint64_t at, uint32_t tid, uint32_t time,
                uint32_t site, bool written, enum race_order order);
/** Returns true if a loop waits for the value that the load at @site returns. The result is false if the site does not
 *  belong to the running program. */
bool race_waits_for(struct chk_race *race, uint32_t site);
/** Returns true if the access and the recorded access with site word @site are atomics of different sizes, which PTX does
 *  not make atomic with respect to each other. */
bool race_two_sizes(const struct race_access *ctx, uint32_t site);
/** Counts the race of a weak load and an unordered weak store of another block, if their race was reported before this
 *  access. Returns false, and does nothing, if the race was not reported. */
bool race_found_repeat(const struct race_access *ctx, uint32_t site);
/** Returns the index of the finding that counts races of the access with @site, if such a race was reported before this
 *  access; otherwise returns -1. */
int race_found_before(const struct race_access *ctx, uint32_t site);
/** Returns true if @lane stores the value that memory already has at @at, and no enabled kind reports such races. */
bool race_stores_what_is(const struct race_access *ctx, unsigned lane, uint64_t at);
/** Returns true if all @lanes store the same value, and no enabled kind reports races between such stores. */
bool race_stores_same(const struct race_access *ctx, uint64_t lanes);

/* ---- synchronisation, blocks and lanes (chk_race_order.c, chk_race_order_barrier.c) ------------- */

/** Synchronises by an atomic or strong access of @lane at @at: acquires if the access reads, then releases if it writes.
 *  @order: memory order of the instruction. */
void race_synchronize(struct race_access *ctx, unsigned lane, uint64_t at, unsigned order,
                      bool reads, bool writes);
/** Returns the resident block of a slot; NULL: the block is not checked. */
struct race_block *race_block_at(struct chk_race *race, const struct emu_core *core,
                                 unsigned slot);
/** Returns the clocks of lanes, which are created when needed; NULL: there is no memory. */
struct race_lane *race_lanes_of(struct chk_race *race, struct race_block *b, struct race_warp *w);
uint32_t race_thread_of(const struct race_block *b, const struct race_warp *w, unsigned lane);
/** Calls race_vclock_join() with the current logical clock. */
void race_join(struct chk_race *race, struct race_vclock **into, struct race_vclock *other);
/** Returns a vector clock that another thread of the block can acquire. The clock covers the accesses that the lanes in
 *  lanes[warp] made or are ordered after, without those that all threads of the block are ordered after. NULL: there are no
 *  such accesses, or there is no memory. */
struct race_vclock *race_ordered_before(struct chk_race *race, const struct race_block *b, const uint64_t *lanes);
void race_barriers_free(struct race_block *b);
/** Handles a bar.arrive before it executes. */
void race_arrive(struct chk_race *race, struct race_block *b, const struct emu_hook_site *site);
/** Returns the lanes that have not exited, for a warp of a resident block. */
uint64_t race_live(const struct race_block *b, const struct race_warp *w);
/** Returns true if the clocks of block and warp are complete, because block and warp have no vector clocks. */
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
