/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the functional engine: its state, resident blocks (emu_resident.c), the fixed order
 * (emu_engine.c), single steps (emu_single_step.c), and replay (emu_replay.c).
 */
#ifndef EMU_ENGINE_PRIV_H
#define EMU_ENGINE_PRIV_H

#include "emu/core/emu_core_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/inspect/emu_spin_observer_priv.h"

enum { EMU_BLOCK_SLICE = 1 << 20 }; /* time slice of a resident block, in warp instructions */

/** A resident block. The block's state is created at its first instruction. */
struct emu_resident {
    struct emu_grid *grid;
    uint64_t linear;
    int slot;        /* slot on the core; -1: the block has not begun */
    unsigned number; /* slot number for debuggers, independent of when the block's state is created */
};

struct emu_pool;
struct emu_claims;

/** Recorder of a run's history (emu_history.c): called before the engine runs, and between slices. */
struct emu_recorder {
    void (*begin)(struct emu_recorder *recorder);
    void (*tick)(struct emu_recorder *recorder);
};

struct emu_functional {
    struct emu_engine base;
    struct emu_core *core;
    struct emu_resident *places; /* memory of the list of resident blocks (emu_resident.c) */
    unsigned place_count;        /* number of elements that `places` has memory for */
    uint64_t *free_numbers; /* bit n is set if n is below place_count and no resident block has the slot number n */
    unsigned low_number;    /* no number below low_number is free */
    struct emu_grid *grid;     /* the running grid, launched by the host; NULL: the engine must choose the next grid first */
    struct emu_resident *resident; /* list in block order, at some offset in `places` */
    unsigned count, capacity;  /* count: length of the list; capacity: number of blocks of `grid` that may be resident together
                                * while no device launch is incomplete */
    unsigned current;          /* index of the running block */
    uint64_t turn_left;        /* instructions left of the current block's time slice */
    uint64_t warp_left;        /* instructions left of the current warp's time slice; 0: the next warp runs */
    uint64_t watch_at;         /* instruction count of the core at the next check for progress */
    uint64_t gone;             /* number of blocks that have left the list */
    uint64_t gone_at;          /* 1 + the core's instruction count when the last block left the list */
    struct {
        unsigned place, first; /* a resident block and the index of its first warp */
        uint64_t at;           /* 1 + the core's instruction count at the last look-up; 0: there was no look-up */
    } listed;                  /* resident block at which the last look-up of a warp by index ended; if no instruction has run
                                * since, the next look-up begins there */
    struct {
        const struct emu_grid *grid; /* grid of the first resident block */
        unsigned blocks, warps;
        uint64_t at;           /* 1 + the core's instruction count at the last count of warps; 0: `warps` is not valid */
    } counted;                 /* cached number of resident warps, because debuggers request the number dozens of times at a
                                * stop */
    uint64_t launches_seen;    /* value of machine->launch_changes when blocks were last made resident */
    bool order_free;           /* the blocks of `grid` may run in any order, so the engine runs the blocks one after another */
    unsigned tries;            /* number of spin observations since the last progress that proved no hang */
    struct emu_spin_observer *probe;   /* the spin observation in progress, or NULL */
    /* replay */
    bool replaying;            /* true while emu_fixed_commit() executes an entry of a log */
    bool placed;               /* another engine placed the recorded blocks: only the log starts and frees blocks */
    struct emu_nondet_log answers; /* recorded results of instructions whose result depends on more than the guest's state */
    struct emu_recorder *history; /* recorder, or NULL */
    uint64_t snapshot_at;      /* instruction count of the core at which the recorder is called next */
    /* host threads */
    struct emu_pool *pool;     /* thread pool, NULL before its first use; belongs to the first engine */
    struct emu_claims *claims; /* if the grid runs on several host threads, the object from which each engine gets its next
                                * block (emu_threads.c); else NULL */
};

/** Creates an engine for another host thread (emu_threads.c). The engine of an additional thread runs one block after another.
 *  Returns NULL if memory is short. */
struct emu_functional *emu_functional_helper(struct emu_machine *machine);
/** Makes the engine run blocks of @grid taken from @claims. If @claims is NULL, the engine no longer takes blocks from claims. */
void emu_functional_claim(struct emu_functional *f, struct emu_grid *grid,
                          struct emu_claims *claims);
enum lw_status emu_fixed_on_threads(struct lw_error *err);

/** Returns the number of block slots that the fixed order needs. Each resident warp needs a slot, because a block may consist of
 *  a single warp. Further slots are for blocks that wait until the kernels that they launched have ended. */
enum { EMU_SUSPENDED_SLOTS = 1024 };
static inline unsigned emu_fixed_slots(const struct emu_machine *machine)
{
    return machine->config.resident_warps + EMU_SUSPENDED_SLOTS + EMU_LAUNCH_NESTING;
}

/** Returns @engine if it is a functional engine; else NULL. */
struct emu_functional *emu_fixed_of(struct emu_engine *engine);
enum lw_status emu_fixed_create(struct emu_machine *machine, bool replay,
                                struct emu_engine **out, struct lw_error *err) LW_MUST_CHECK;

/* ---- resident blocks (emu_resident.c) ------------------------------------------------------ */

/** Makes f->resident a list that can hold @need blocks in all. Returns false if memory is short. Pointers to entries of the
 *  list become invalid. */
bool emu_resident_capacity(struct emu_functional *f, size_t need);
/** Inserts a block at index @at; memory must have been allocated. Pointers to entries become invalid. */
void emu_resident_insert(struct emu_functional *f, unsigned at, struct emu_grid *grid,
                         uint64_t linear, int slot);
void emu_resident_remove(struct emu_functional *f, unsigned at);
/** Prepares the removal of the current block, which is the first of the list and has no state. If the grid runs on several host
 *  threads, claims another block for this thread. Returns true if another block of the grid becomes the current one when the
 *  current block is removed. Pointers to entries become invalid. */
bool emu_resident_prepare_next(struct emu_functional *f);
/** Removes the current block of an order-free grid, which is the first of the list and has no state, as emu_fixed_leave() does. Returns
 *  false, and changes nothing, unless the next block of the list becomes the current one and at most one block becomes resident. */
bool emu_resident_advance(struct emu_functional *f);
/** Returns the index of the block that runs next. @after: index of the block that is next in rotation. @tries: number of blocks
 *  that could not run since the last instruction. */
unsigned emu_resident_next(const struct emu_functional *f, unsigned after, unsigned tries);
/** Returns whether blocks that the current block has launched begin now, before the end of the current block's time slice. */
bool emu_resident_gives_way(const struct emu_functional *f);
/** Empties the list. All slot numbers are free afterwards. */
void emu_resident_clear(struct emu_functional *f);
/** Gives @r the slot number @number. Returns false if another block has this number, or if the number is out of range. */
bool emu_resident_take_number(struct emu_functional *f, struct emu_resident *r, uint64_t number);
static inline struct emu_block *emu_resident_block(const struct emu_functional *f,
                                                   const struct emu_resident *r)
{
    return r->slot < 0 ? NULL : emu_core_block(f->core, (unsigned)r->slot);
}
/** Starts the next queued grid if no grid runs. Returns false if the engine is idle. */
bool emu_fixed_take_up_next(struct emu_functional *f);
/** Starts the time slice of the block at f->current. */
void emu_fixed_new_slice(struct emu_functional *f);
/** Returns the instruction count of the core up to which native code may run. Native code does not stop exactly at a given count.
 *  Therefore the result is lower, by a margin, than the count of the next stop or snapshot. Returns 0 if no native code may run:
 *  in a replay, under another engine (placed), and while the spin observer must see each instruction. */
uint64_t emu_fixed_native_until(const struct emu_functional *f);
/** Executes blocks of order-free grids, one after another, by native code, until the engine must do
 *  something else. If native code cannot execute a whole block, the block is the current one, and its warps continue in time
 *  slices. Returns true if the engine runs another grid now. */
bool emu_native_blocks(struct emu_functional *f);
/** Removes the block at @index, which has ended. The next block of the grid becomes resident instead. */
void emu_fixed_retire_block(struct emu_functional *f, unsigned index);
/** Removes the block at @index, whose state is freed or was never created. */
void emu_fixed_leave(struct emu_functional *f, unsigned index);

/* ---- the fixed order (emu_engine.c) ------------------------------------------------------- */

/* Part of run(). emu_fixed_commit() selects a warp, which then gets time slices in rotation (emu_warp_run_slice). If there are
 * observers, or if one of the warp's splits was divided, emu_fixed_at_breakpoint() and emu_fixed_step() execute the warp
 * instead. */

enum lw_status emu_fixed_begin(struct emu_functional *f, struct emu_resident *r,
                               struct emu_block **out, struct lw_error *err) LW_MUST_CHECK;
/** Initialises the engine's state for the grid that it runs, f->grid. */
void emu_fixed_take_up(struct emu_functional *f);
/** Returns a resident block by grid and linear index, or NULL. */
struct emu_resident *emu_fixed_find(struct emu_functional *f, uint32_t grid, uint64_t block);
/** Makes further blocks of kernels that the device launched resident. Called when a block waits for its launches, because a
 *  waiting block does not count towards the limit of resident blocks. */
void emu_fixed_refill(struct emu_functional *f);
/** Removes all blocks that have ended. The next blocks become resident instead. */
void emu_fixed_retire(struct emu_functional *f);
void emu_fixed_thread_ref(const struct emu_warp *w, int split, struct emu_thread_ref *place);
/** Fills the stop of a warp whose running split is before a breakpoint. */
void emu_fixed_break(const struct emu_warp *w, struct emu_stop *stop);
void emu_fixed_fault(const struct emu_warp *w, struct emu_stop *stop);
void emu_fixed_hang(struct emu_functional *f, struct emu_block *block, bool livelock,
                    struct emu_stop *stop);
/** If a check for progress is due, returns true if no block has made progress for a hang window (MACHINE 4). Returns false
 *  if no check is due. @current is the running block. */
bool emu_fixed_check_progress(struct emu_functional *f, struct emu_block *current);
/** Returns which blocks are proved never to make progress. EMU_STUCK_NONE: no block; EMU_STUCK_BLOCK: block @current;
 *  EMU_STUCK_ALL: all resident blocks. If an observation is due, emu_fixed_stuck() observes the blocks for this proof. */
enum emu_stuck { EMU_STUCK_NONE, EMU_STUCK_BLOCK, EMU_STUCK_ALL };
enum emu_stuck emu_fixed_stuck(struct emu_functional *f, struct emu_block *current);
bool emu_fixed_deadlocked(const struct emu_functional *f);
/** Advances the engine to the warp that runs next and returns it. Returns NULL if no warp can run: then either stop->kind is
 *  EMU_STOP_IDLE or EMU_STOP_HANG, or *@status is an error. If no instruction is executed between two calls, the second call
 *  changes nothing and returns the same warp. */
struct emu_warp *emu_fixed_commit(struct emu_functional *f, struct emu_stop *stop,
                                  enum lw_status *status, struct lw_error *err);
/** Runs up to @limit instructions of @w, which emu_fixed_commit() returned, on the fast path; for replay. */
enum emu_slice_end emu_fixed_slice(struct emu_functional *f, struct emu_warp *w, uint64_t limit);
/** Executes one instruction of @w, and notifies @observers. If a debugger's step has divided a split, @w's part of the split may
 *  have to wait for the other parts instead of executing the instruction; stop->kind then remains EMU_STOP_NONE. */
enum lw_status emu_fixed_step(struct emu_functional *f, struct emu_warp *w, struct emu_event *ev,
                              struct emu_observer *observers, struct emu_stop *stop,
                              struct lw_error *err) LW_MUST_CHECK;
/** Returns the observers that must be notified of the next instructions of @w: @observers, and the spin observer if it
 *  observes @w. */
struct emu_observer *emu_fixed_watching(struct emu_functional *f, const struct emu_warp *w,
                                        struct emu_observer *observers);
bool emu_fixed_at_breakpoint(const struct emu_warp *w);
/** Notifies the observers of a list. Returns true if an observer requests a stop. */
bool emu_fixed_notify(struct emu_observer *observers, const struct emu_event *ev);

/** Position in a run: the core's number of retired instructions (retired), and its number of steps that retired no instruction
 *  (passes). */
struct emu_mark {
    uint64_t retired, passes;
};
struct emu_mark emu_fixed_mark(const struct emu_functional *f);
/** Returns the number of steps after @mark that retired no instruction, and that followed the last retired instruction. */
uint64_t emu_fixed_passes(const struct emu_functional *f, const struct emu_mark *mark);

/* ---- out of the order (emu_single_step.c) --------------------------------------------------------- */

enum lw_status emu_fixed_step_warp(struct emu_engine *engine, const struct emu_thread_ref *place,
                                   struct emu_event *ev, struct emu_stop *stop,
                                   struct lw_error *err);
enum lw_status emu_fixed_run_others(struct emu_engine *engine, const struct emu_thread_ref *place,
                                    struct emu_stop *stop, struct lw_error *err);

/* ---- replay (emu_replay.c): execution of the log's entries from its cursor on; stop->kind NONE: the log is at its end
 * ------ */

enum lw_status emu_replay_run(struct emu_functional *f, struct emu_stop *stop,
                              struct lw_error *err) LW_MUST_CHECK;
/** Replays one instruction. */
enum lw_status emu_replay_step(struct emu_functional *f, struct emu_event *ev,
                               struct emu_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Replays until some of place->lanes of a warp have executed an instruction. */
enum lw_status emu_replay_lanes(struct emu_functional *f, const struct emu_thread_ref *place,
                                struct emu_event *ev, struct emu_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** Replays at most as many instructions as one rotation executes: a quantum for each of config.resident_warps warps. */
enum lw_status emu_replay_others(struct emu_functional *f, struct emu_stop *stop,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Replays up to the count @until, including host steps and edits at that count, but not past the farthest position that the run
 *  has reached. Breakpoints and interrupts are ignored; only @observers are notified. */
enum lw_status emu_replay_to(struct emu_functional *f, uint64_t until,
                             struct emu_observer *observers, struct lw_error *err) LW_MUST_CHECK;

/** Returns true if an interrupt (from a signal or another thread) is pending, and clears it. */
static inline bool emu_consume_interrupt(struct emu_engine *engine)
{
    if (!__atomic_load_n(&engine->interrupted, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&engine->interrupted, 0, __ATOMIC_RELAXED);
    return true;
}

#endif
