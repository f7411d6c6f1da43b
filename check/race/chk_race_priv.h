/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race checker: FastTrack (Flanagan and Freund, PLDI 2009) for barriers, warps and scopes.
 * docs/explanation/race-detection.md explains it. Files:
 *
 *   chk_race_plain.c             the check of a lane against the records of its cells; the reference, to be read first
 *   chk_race_batch.c             the access log of the interpreter, which is checked in batches
 *   chk_race_filter_reads.c      redundant-access filter: pages whose reads would change no record
 *   chk_race_filter_shared.c     redundant-access filter: shared memory in barrier intervals without a write
 *   chk_race_defer.c             deferred reads of memory that has not been written yet
 *   chk_race_access.c            the path of an access; the check of several lanes together, if they access one word,
 *                                consecutive words or scattered words
 *   chk_race_access_wide.c       the check of consecutive words in vector operations of the host
 *   chk_race_state.c             the states of an allocation: deferred, shadowed, packed, filtered
 *   chk_race_shadow.c            shadow memory: the last write and the last reads of each word
 *   chk_race_shadow_packed.c     shadow memory that takes only 16 bytes a word
 *   chk_race_order.c             happens-before: blocks, fences, atomics, launches
 *   chk_race_order_barrier.c     happens-before by barriers
 *   chk_race_vclock.c            sparse vector clocks
 *   chk_race_uninit.c            uninitialised global memory, for benign races
 *   chk_race_spin_loop.c         loads that a loop waits for
 *   chk_race_report.c            kinds and messages
 *
 * The path of an access begins at race_on_access(). A shared load may be dropped by the filter of write-free intervals,
 * and a global load may be put into the batch. Other accesses reach race_access_check(), which uses the packed shadow,
 * defers a read, or checks the lanes: together (consecutive or scattered words), or one by one. Races are passed to
 * race_found(). After the check of a global load, its page may be filtered.
 *
 * One logical clock advances at each synchronisation. A record holds the clock of its access and the id of the accessing
 * thread, which together are an epoch. The recorded access is ordered before an access of thread t if the vector clock of
 * t has an equal or later clock for the recorded thread.
 */
#ifndef CHK_RACE_PRIV_H
#define CHK_RACE_PRIV_H

#include "check/race/chk_race_filter_priv.h"

/** Resident threads and their order. */
struct race_order_state {
    uint32_t clock; /* logical clock of all threads, which advances at each synchronisation */
    struct race_block **blocks; /* resident blocks */
    size_t block_count, block_capacity;
    struct race_block *last_block; /* result of the last race_block_at(); or NULL */
    struct race_block_id *block_ids; /* [block id]: the block that has this id; ids begin at 1 after launch host_launch */
    size_t block_id_count, block_id_capacity;
    struct race_grid *grids; /* launch host_launch and all launches that have started since */
    size_t grid_count, grid_capacity;
    uint32_t host_launch; /* sequence number of the last launch that the host made while no other launch was running */
    struct lw_table sync_vars; /* records of type struct race_sync_var */
    struct race_code *codes; /* properties of the code of launched kernels */
    size_t code_count, code_capacity;
};
/** Allocations of global memory that are handled as a whole instead of by pages. */
struct race_ranges {
    struct race_range *table, *last;
    unsigned count;
};
/** State of the packed shadows. */
struct race_packed_state {
    struct race_packed_access *access; /* [number of the access]; NULL before the first packed shadow */
    unsigned access_count, access_capacity;
    unsigned range_count; /* number of allocations with a packed shadow */
    unsigned begin_count; /* number of packed shadows that have been started */
    unsigned candidate_count; /* number of allocations that may get a packed shadow again */
};
/** Logged accesses that have not been checked yet. */
struct race_batch_state {
    struct race_batch *log; /* NULL: there is no log, and the interpreter calls the hook for each access */
    const unsigned *log_used; /* points to the number of used words in the log, or to a 0 if there is no log */
    bool is_flushing;
};
/** Filters: accesses that the interpreter does not report, because they would change nothing. */
struct race_filter_state {
    uint32_t *page_stamp[1 << RACE_TABLE_SHIFT]; /* [page / 2^12][page % 2^12]: site of the instruction that reads the
                                                  * page; 0: the page is not filtered */
    bool any_page;
    bool threads_diverged; /* shared memory is not filtered: threads of a block arrived at different barriers, the
                            * analysis failed, or the hook must be called for all accesses */
    uint32_t host_launches; /* number of launches that the host made while no other launch was running */
    struct race_phases **phases, *last_phases; /* results of the analysis of each program */
    size_t phases_count, phases_capacity;
};
/** Pairs of sites that have a finding. */
struct race_pairs {
    struct lw_table table; /* records of type struct race_pair */
    uint64_t last_key; /* key of the pair of last_finding, which an earlier access reported, or 0 if there is none */
    int last_finding;
};
/** Cached site words and analysis results for the instructions of the running program. */
struct race_sites {
    const struct emu_program *program, *spin_program;
    uint64_t program_base;
    uint32_t *word; /* [instruction of program]: its site word, with a flag when the word has been computed */
    size_t room;
    uint8_t *spin; /* [instruction of spin_program]: whether a loop waits for this load, or 0 if it is not analysed yet */
};

struct chk_race {
    struct chk *chk;
    struct emu_machine *machine;
    uint64_t kinds;
    bool fast; /* lanes are checked together where possible; false: each lane is checked by itself, as chk_race_plain.c does */
    uint64_t access_count, lane_count; /* numbers of checked accesses and lanes */
    race_chunk_fn *chunk[2], *short_chunk[2]; /* [is a write]: functions that check RACE_CHUNK words (chunk) or fewer
                                               * (short_chunk) */
    struct race_order_state order;
    struct race_shadow shadow;
    struct race_ranges ranges;
    struct race_packed_state packed;
    struct race_defer defer;
    struct race_batch_state batch;
    struct race_filter_state filter;
    struct race_pairs pairs;
    struct race_sites sites;
};
/** Checks the accesses in the log. The function must be called before any other event is evaluated. */
void race_flush_log(struct chk_race *race);
static inline void race_flush(struct chk_race *race)
{
    if (race->batch.log_used[0] != 0)
        race_flush_log(race);
}
static inline bool race_range_is_deferring(const struct chk_race *race, struct race_range *r)
{
    if (r->epoch != race->shadow.epoch)
        race_range_begins(race, r);
    return r->state == RACE_DEFERRED;
}
/** Returns true if a single launch runs, makes no launches itself, and only barriers order its threads. */
static inline bool race_packed_simple(const struct chk_race *race)
{
    return race->order.grid_count == 1 && race->order.grids[0].code.sync_free && !race->order.grids[0].code.launches;
}
static inline void race_clock_advance(struct chk_race *race)
{
    race->order.clock += race->order.clock < RACE_MOST_CLOCK; /* beyond the limit all accesses are treated as ordered,
                                                               * and no findings are made */
}
/** Returns the value that the logical clock has after @count further synchronisations. */
static inline uint32_t race_clock_after(const struct chk_race *race, uint32_t count)
{
    return count < RACE_MOST_CLOCK - race->order.clock ? race->order.clock + count : RACE_MOST_CLOCK;
}
/* ---- the checker's own -------------------------------------------------------------------------- */

/** Implements chk_observer.on_access. */
void race_on_access(void *state, const struct emu_hook_access *access);
void race_on_cta(void *state, struct emu_core *core, unsigned slot, unsigned id, const uint64_t *lanes);
void race_on_warpsync(void *state, struct emu_core *core, unsigned slot, unsigned warp, uint64_t lanes);

#endif
