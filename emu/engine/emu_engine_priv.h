/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functional engine from inside: its state, resident blocks (emu_resident.c), the fixed order
 * (emu_engine.c), steps out of it (emu_single_step.c), and replay (emu_replay.c).
 */
#ifndef EMU_ENGINE_PRIV_H
#define EMU_ENGINE_PRIV_H

#include "emu/core/emu_core_priv.h"
#include "emu/log/emu_log_priv.h"
#include "emu/inspect/emu_spin_observer_priv.h"

enum { EMU_BLOCK_SLICE = 1 << 20 }; /* warp instructions before the next resident block */

/** A resident block: its state is made at its first instruction. */
struct emu_resident {
    struct emu_grid *grid;
    uint64_t linear;
    int slot;        /* of the core; -1: not begun */
    unsigned number; /* of its place: a slot as debuggers name it, however soon somebody looks at the block */
};

struct emu_pool;
struct emu_claims;

/** Who keeps the history of a run (emu_history.c): called before the engine runs, and between slices. */
struct emu_recorder {
    void (*begin)(struct emu_recorder *recorder);
    void (*tick)(struct emu_recorder *recorder);
};

struct emu_functional {
    struct emu_engine base;
    struct emu_core *core;
    struct emu_resident *places; /* memory of the list of resident blocks (emu_resident.c) */
    unsigned place_count;
    uint64_t *free_numbers; /* a bit for each number below place_count that no resident block has */
    unsigned low_number;    /* no lower one is free */
    struct emu_grid *grid;     /* the host's launch that runs, NULL: look for the next */
    struct emu_resident *resident; /* in block order, somewhere in `places` */
    unsigned count, capacity;  /* capacity: blocks of `grid`, while it is alone */
    unsigned current;          /* index of the block that runs */
    uint64_t turn_left;        /* of the current block's turn */
    uint64_t warp_left;        /* of the current warp's quantum; 0: the next warp runs */
    uint64_t watch_at;         /* core count of the next look for progress */
    uint64_t gone;             /* blocks that gave their places back, */
    uint64_t gone_at;          /* and 1 + the core's count when the last one did */
    struct {
        unsigned place, first; /* a resident block and the index of its first warp, */
        uint64_t at;           /* 1 + the core's count then; 0: none */
    } listed;                  /* where the last look at a warp by its index ended */
    struct {
        const struct emu_grid *grid; /* of the first resident block */
        unsigned blocks, warps;
        uint64_t at;           /* 1 + the core's count then; 0: none */
    } counted;                 /* what the last count of warps gave: debuggers ask dozens of times at a stop */
    uint64_t launches_seen;    /* machine->launch_changes when places were filled */
    bool order_free;
    unsigned tries;            /* looks at what makes no progress that proved nothing, in a row */
    struct emu_spin_observer *probe;   /* the look that is under way, or NULL */
    /* replay */
    bool replaying;            /* emu_fixed_commit() runs on behalf of a log */
    bool placed;               /* another engine placed the blocks: only the log starts and frees */
    struct emu_nondet_log answers;
    struct emu_recorder *history; /* or NULL */
    uint64_t snapshot_at;      /* core count at which to notify it */
    /* threads */
    struct emu_pool *pool;     /* host threads, NULL until there are any; of the first engine */
    struct emu_claims *claims; /* not NULL: the grid runs on threads, blocks are taken from here */
};

/** An engine for one more thread: one block at a time. NULL without memory. */
struct emu_functional *emu_functional_helper(struct emu_machine *machine);
/** Run blocks of @grid taken from @claims from now on; NULL: no longer. */
void emu_functional_claim(struct emu_functional *f, struct emu_grid *grid,
                          struct emu_claims *claims);
enum lw_status emu_fixed_on_threads(struct lw_error *err);

/** Slots that the fixed order counts on: a block has a warp at least; blocks that wait for launches
 *  need slots, too. */
enum { EMU_SUSPENDED_SLOTS = 1024 };
static inline unsigned emu_fixed_slots(const struct emu_machine *machine)
{
    return machine->config.resident_warps + EMU_SUSPENDED_SLOTS + EMU_LAUNCH_NESTING;
}

/** @engine, if it is one of these; else NULL. */
struct emu_functional *emu_fixed_of(struct emu_engine *engine);
enum lw_status emu_fixed_create(struct emu_machine *machine, bool replay,
                                struct emu_engine **out, struct lw_error *err) LW_MUST_CHECK;

/* ---- resident blocks (emu_resident.c) ------------------------------------------------------ */

/** Memory for @need blocks in all, from f->resident on. False: none. Blocks move. */
bool emu_resident_capacity(struct emu_functional *f, size_t need);
/** A block is inserted at @at; there is memory for it. Blocks move. */
void emu_resident_insert(struct emu_functional *f, unsigned at, struct emu_grid *grid,
                         uint64_t linear, int slot);
void emu_resident_remove(struct emu_functional *f, unsigned at);
/** The list is empty: all numbers are free. */
void emu_resident_clear(struct emu_functional *f);
/** Give @r @number. False: another one has it, or there is none like it. */
bool emu_resident_take_number(struct emu_functional *f, struct emu_resident *r, uint64_t number);
static inline struct emu_block *emu_resident_block(const struct emu_functional *f,
                                                   const struct emu_resident *r)
{
    return r->slot < 0 ? NULL : emu_core_block(f->core, (unsigned)r->slot);
}
/** Take up the next queued grid if none runs. False: idle. */
bool emu_fixed_take_up_next(struct emu_functional *f);
/** The turn of the block at f->current begins. */
void emu_fixed_new_slice(struct emu_functional *f);
/** The block at @index has ended: its place goes to the next one. */
void emu_fixed_retire_block(struct emu_functional *f, unsigned index);
/** The same of one whose state is gone, or was never made. */
void emu_fixed_leave(struct emu_functional *f, unsigned index);

/* ---- the fixed order (emu_engine.c) ------------------------------------------------------- */

/* run(): emu_fixed_commit() picks a warp. Without observers, and unless an engine has divided one of
 * its splits, it gets slices in rotation (emu_warp_run_slice); else emu_fixed_at_breakpoint() and
 * emu_fixed_step(). */

enum lw_status emu_fixed_begin(struct emu_functional *f, struct emu_resident *r,
                               struct emu_block **out, struct lw_error *err) LW_MUST_CHECK;
/** What the engine knows of the grid that it runs: f->grid. */
void emu_fixed_take_up(struct emu_functional *f);
/** Resident block by name, or NULL. */
struct emu_resident *emu_fixed_find(struct emu_functional *f, uint32_t grid, uint64_t block);
/** A suspended block needs no room for now: launches of the device take it. */
void emu_fixed_refill(struct emu_functional *f);
/** Ended blocks give their places to the next. */
void emu_fixed_retire(struct emu_functional *f);
void emu_fixed_thread_ref(const struct emu_warp *w, int split, struct emu_thread_ref *place);
/** The warp's running split is at an instruction with a breakpoint. */
void emu_fixed_break(const struct emu_warp *w, struct emu_stop *stop);
void emu_fixed_fault(const struct emu_warp *w, struct emu_stop *stop);
void emu_fixed_hang(struct emu_functional *f, struct emu_block *block, bool livelock,
                    struct emu_stop *stop);
/** Look for progress if it is time; @current: the block that runs. True: there was none for long. */
bool emu_fixed_check_progress(struct emu_functional *f, struct emu_block *current);
/** Was it proved that what runs never makes progress? Looks, if it is time. */
enum emu_stuck { EMU_STUCK_NONE, EMU_STUCK_BLOCK, EMU_STUCK_ALL };
enum emu_stuck emu_fixed_stuck(struct emu_functional *f, struct emu_block *current);
bool emu_fixed_deadlocked(const struct emu_functional *f);
/** Bring the engine to the warp that goes next. NULL with stop->kind set (idle, hang), or
 *  with *status an error. Done twice it changes nothing more. */
struct emu_warp *emu_fixed_commit(struct emu_functional *f, struct emu_stop *stop,
                                  enum lw_status *status, struct lw_error *err);
/** For replay: up to @limit instructions of @w, which emu_fixed_commit() gave, on the fast path. */
enum emu_slice_end emu_fixed_slice(struct emu_functional *f, struct emu_warp *w, uint64_t limit);
/** One watched instruction of it. stop->kind stays EMU_STOP_NONE when a part of a divided split
 *  only started to wait. */
enum lw_status emu_fixed_step(struct emu_functional *f, struct emu_warp *w, struct emu_event *ev,
                              struct emu_observer *observers, struct emu_stop *stop,
                              struct lw_error *err) LW_MUST_CHECK;
/** Who sees the instructions of @w, which goes next, @observers among them. */
struct emu_observer *emu_fixed_watching(struct emu_functional *f, const struct emu_warp *w,
                                        struct emu_observer *observers);
bool emu_fixed_at_breakpoint(const struct emu_warp *w);
/** Notify the observers of a list; true: one asks to stop. */
bool emu_fixed_notify(struct emu_observer *observers, const struct emu_event *ev);

/** Counts at some moment. */
struct emu_mark {
    uint64_t retired, passes;
};
struct emu_mark emu_fixed_mark(const struct emu_functional *f);
/** Steps that retired nothing, after the last instruction that was retired since @mark. */
uint64_t emu_fixed_passes(const struct emu_functional *f, const struct emu_mark *mark);

/* ---- out of the order (emu_single_step.c) --------------------------------------------------------- */

enum lw_status emu_fixed_step_warp(struct emu_engine *engine, const struct emu_thread_ref *place,
                                   struct emu_event *ev, struct emu_stop *stop,
                                   struct lw_error *err);
enum lw_status emu_fixed_run_others(struct emu_engine *engine, const struct emu_thread_ref *place,
                                    struct emu_stop *stop, struct lw_error *err);

/* ---- replay (emu_replay.c): from the log's cursor; stop->kind NONE: the log is at its end ------ */

enum lw_status emu_replay_run(struct emu_functional *f, struct emu_stop *stop,
                              struct lw_error *err) LW_MUST_CHECK;
/** One instruction. */
enum lw_status emu_replay_step(struct emu_functional *f, struct emu_event *ev,
                               struct emu_stop *stop, struct lw_error *err) LW_MUST_CHECK;
/** Until some of place->lanes of a warp have executed an instruction. */
enum lw_status emu_replay_lanes(struct emu_functional *f, const struct emu_thread_ref *place,
                                struct emu_event *ev, struct emu_stop *stop,
                                struct lw_error *err) LW_MUST_CHECK;
/** As many instructions as a rotation of the others has. */
enum lw_status emu_replay_others(struct emu_functional *f, struct emu_stop *stop,
                                 struct lw_error *err) LW_MUST_CHECK;
/** Replay up to the count @until, including what was done there between instructions, but not past the
 *  log's front. Breakpoints and interrupts are ignored; only @observers are notified. */
enum lw_status emu_replay_to(struct emu_functional *f, uint64_t until,
                             struct emu_observer *observers, struct lw_error *err) LW_MUST_CHECK;

/** An interrupt came (from a signal or another thread) and is answered now. */
static inline bool emu_consume_interrupt(struct emu_engine *engine)
{
    if (!__atomic_load_n(&engine->interrupted, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&engine->interrupted, 0, __ATOMIC_RELAXED);
    return true;
}

#endif
