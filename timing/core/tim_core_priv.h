/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core of the timing model. There are two models of its cycles: the naive one visits everything in every cycle, in
 * plain loops (timing/reference/tim_reference_core.c); the event-driven one, here, visits what may have something to do. What
 * happens to one warp or one instruction is common to both. docs/reference/timing-core.md has the rules and what is skipped.
 *
 * The functions of a cycle are in *_body.h files, all static. A file that includes them says by `tim_kind` for which
 * kind of core it compiles them (tim_cycle_scoreboard.c, tim_cycle_control.c, tim_cycle_modern.c, tim_cycle_any.c, tim_reference_core.c).
 *
 * In the event-driven model each warp is in one state. Its stall reason holds as long as it stays there:
 *
 *                 ready check: what keeps the next instruction from issuing?
 *      RECHECK --+--> TIMED      a time alone: stall count, fetch, sleep -----> that cycle: RECHECK
 *       ^  ^     +--> CAN[path]  room on its path at most ------------------+-> no room: stays, room is asked again
 *       |  |     +--> BLOCKED    a result, a barrier, a constant, ...       +-> room: READY for the policy
 *       |  |                                                                         |
 *       |  +---------------------------- it issues, and is touched <-----------------+
 *       +-- tim_warp_touch(): something of it has changed, in whatever state it is
 *
 * RECHECK, TIMED and CAN are sets in struct tim_known; BLOCKED is to be in none.
 *
 *   timing/decode/     what the model needs to know of an instruction
 *   tim_core.c         warps, blocks, packets; mechanisms: what they may ask, and whom they hold back
 *   tim_tick_body.h    the phases of a cycle; tim_idle.c: cycles without a tick
 *   tim_fetch_body.h   instruction cache and buffers, constants of operands, caches in levels
 *   tim_depend_body.h  scoreboard, dependency vectors, control field, wait counters, operands not read yet
 *   tim_ready_body.h   the ready check: which split runs, and what keeps it from issuing
 *   tim_select_body.h  the ready warps, from the states above
 *   tim_issue_body.h   schedulers, issue
 *   tim_window_body.h  Control, Allocate, register-file cache; tim_local_body.h: memory units of schedulers
 *   tim_tags_body.h    tagged registers: who executes an instruction, compact entries
 *   tim_pipe_body.h    collectors, pipes, write-back; tim_flight_body.h: instructions in flight by what they wait for
 *   tim_lsu_body.h     load/store unit, shared memory, L1, constant and texture caches
 *   tim_held.c         l1.coherent off: values that L1 holds and memory does not have any more
 *   tim_replay.c       memory instructions that take issue slots again for what they have left
 *   tim_suspend.c      blocks that leave the core while they wait for launches, and return
 */
#ifndef TIM_CORE_PRIV_H
#define TIM_CORE_PRIV_H

#include "timing/core/tim_modern_priv.h"
#include "timing/decode/tim_tags_priv.h"
#include "timing/mem/tim_front_priv.h"
#include "timing/mem/tim_locality_priv.h"
#include "timing/mem/tim_packets_priv.h"
#include "timing/mechanisms/tim_mechanism_priv.h"
#include "timing/policies/tim_sched_priv.h"

enum {
    TIM_MAX_BUFFER = 16,
    TIM_MAX_VECTOR = 8, /* a bit of a byte each */
    TIM_WAKES = 32,
    TIM_NONE = 0xffffffff
};

/* ---- instructions in flight ------------------------------------------------------------------ */

enum tim_stage {
    TIM_STAGE_FREE,
    TIM_STAGE_COLLECT, /* operands are missing */
    TIM_STAGE_READY,   /* complete at the end of `at`; waits for a pipe */
    TIM_STAGE_PIPE,    /* its result is there in cycle `at` */
    TIM_STAGE_LOCAL,   /* in the memory unit of its scheduler */
    TIM_STAGE_LSU,     /* in the load/store queue from cycle `at` on */
    TIM_STAGE_MEMORY,  /* all accesses are made; waits for lines */
    TIM_STAGE_WRITE,   /* writes rows from cycle `at` on */
    TIM_STAGE_COUNT
};
/** What the load/store unit does for it, by the space of its lanes. */
enum tim_access_kind { TIM_TO_SHARED, TIM_TO_GLOBAL, TIM_TO_LOCAL, TIM_TO_CONSTANT, TIM_TO_TEXTURE };
struct tim_op {
    _Alignas(64) uint8_t stage; /* enum tim_stage; the host's first line: all but memory, and pc */
    uint8_t sched;
    uint8_t kind;   /* enum emu_access_kind */
    bool cached;    /* global loads: in L1 */
    bool dual;      /* issued second in its cycle */
    uint8_t write_bar, read_bar; /* control: 7 none */
    uint8_t vector; /* vector: entries that are its results' */
    uint16_t warp;
    uint16_t swizzle;  /* its rows lie so many banks on */
    uint32_t operands; /* rows not read, by index into row_read */
    uint32_t writes;   /* rows not written */
    uint32_t compact_reads, compact_writes; /* with tags: of all that it reads and writes, what are entries; */
    uint32_t expands;  /* of its rows not written, those that hold an entry's lanes first */
    uint32_t next;     /* in a list of tim_flight; TIM_NONE: the last */
    const struct tim_static *what;
    uint64_t lanes;    /* of the split, which the scoreboard holds */
    uint64_t issued, age, at;
    uint64_t pc;
    uint64_t collecting_until; /* reserved: when its collector is free */
    /* memory */
    uint64_t read_at;    /* local: its sources have been read, as others see it; 0: it is not known when */
    uint32_t rows_left;  /* local: rows of its address not read, by index into row_read */
    int8_t read_after, result_after; /* local: cycles that its times differ from those of its kind */
    uint8_t number, exp_number; /* counters: mod 64, among those that are counted off with it */
    unsigned passes;     /* over shared memory that are left */
    unsigned line_count, line_next, lines_pending;
    uint64_t data_at;    /* the latest of its data is there */
    struct tim_step *line; /* owned by the pool entry */
    unsigned line_capacity;
    uint32_t packet, ride; /* that it is a member of; 0: none; who rides on its accesses: a list of core->packets */
    uint16_t rides; /* its own stores and reductions that others make for it */
    bool follower;  /* not the first member of its packet, which has the place in the queue */
};
/** An access of an instruction, and where it goes. */
struct tim_step {
    struct tim_line line;
    uint8_t to; /* enum tim_access_kind */
    uint8_t more; /* lanes of others that ride on it */
};

/* ---- warps ------------------------------------------------------------------------------------ */

struct tim_buffered {
    uint64_t arrives;    /* cycle in which it can issue first */
    uint8_t vector;      /* vector: entries that it waits for */
    uint8_t own;         /* entries that are its results' */
    bool entered;        /* has its entries */
    bool constant;       /* it has a constant operand */
    bool constant_requested, constant_there;
    bool constant_comes; /* its line is under way: tim_constant_filled() follows */
};
/** By lines of the host's cache: what keeps it from issuing; the buffer's first instructions; what an
 *  issue, a fetch and a result change; registers to come; the rest. */
struct tim_warp {
    _Alignas(64) bool used; /* a warp lives here, or its instructions do */
    bool ended;          /* no lane lives */
    bool reselect;       /* something may have made another split of it run: ask emu */
    bool launching;      /* not_before is that of a launch */
    bool fetching;       /* waits for a line of the instruction cache */
    uint8_t waits;       /* split < 0: enum tim_stall of why */
    uint8_t buffered;    /* instructions from pc on */
    uint8_t reason;       /* enum tim_stall: what kept it from issuing last */
    int16_t split;       /* its running one, -1: none can run */
    bool expands;        /* not_before is that of tagged registers that become rows */
    uint8_t read_bars;   /* of `bar`, those that have waited for operands alone since they were 0, */
    uint8_t full_bars;   /* and those that count no further: an instruction that would take one waits */
    uint16_t place;      /* among the places of warps: tim_hot */
    uint8_t bars;        /* of `bar`, those that are not 0, */
    uint8_t load_bars;   /* those whose last result to come is a load's */
    bool yields;         /* not_before is that of a yield bit */
    uint8_t new_write, new_read; /* of `bar`, what its last instruction added: not seen before new_seen */
    uint8_t hold_bar, hold_most; /* depbar.le: it does not issue from hold_from on while the barrier is above */
    uint64_t pc, split_lanes;
    uint64_t sleep_until;
    uint64_t not_before; /* control: the stall count; launches: their latency */
    uint64_t new_seen, hold_from; /* 0: nothing is added, or held */
    uint64_t staged_until; /* window: the last cycle with an instruction of it in Control or Allocate */
    const struct tim_static *head; /* what it issues next, where it is in a set `can` */
    struct emu_warp *state; /* emu's */
    _Alignas(64) struct tim_buffered buffer[TIM_MAX_BUFFER];
    _Alignas(64) const struct tim_code *code;
    uint64_t fetch_pc, fetch_from;
    uint64_t held;       /* 1 + a line that came for it, whatever the cache does meanwhile; 0 */
    uint64_t operand;    /* constant.l0_bytes: 1 + the line that its next instruction waits for; UINT64_MAX: any line */
    uint64_t operand_held; /* 1 + that which came for it */
    uint64_t refetch_at;  /* fetches at another pc begin then, or in the next cycle */
    unsigned in_flight, unread; /* ops; ops with rows not read */
    unsigned writes_out; /* packets of stores, reductions and atomics not answered; */
    uint16_t writing;    /* such instructions that have made not all of their accesses */
    uint16_t missing;    /* lines and answers that its loads and atomics wait for, from outside the core */
    uint16_t unqueued;   /* memory instructions that others may overtake: until they are in the load/store
                            queue; with replays until they have made all accesses */
    uint64_t memory_at;  /* reserved: its last memory instruction enters its pipe */
    uint16_t block;      /* index of tim_block */
    uint16_t index;      /* in its block */
    uint16_t split_count;
    uint16_t rows, rows_saved; /* with tags: of its registers, rows and compact entries */
    uint8_t bar[6];      /* control: results to come, or operands to be read, by dependence barrier */
    /* dependences */
    /* A write to them is; where neither `lanes` nor `bar` is read. */
    _Alignas(64) struct tim_registers to_come;
    uint64_t *lanes;     /* [ISA_REG_NUMBERS] of the writes to come; NULL: not tim_keeps_lanes() */
    struct tim_registers by_load; /* the last write to them is a load's */
    uint8_t vector_used;
    uint16_t vector_reg[TIM_MAX_VECTOR];
    uint8_t vector_span[TIM_MAX_VECTOR]; /* registers from it on */
    uint8_t bloom[16];
    uint64_t age;        /* assigned earlier: older */
};
struct tim_pipe { uint64_t free_at; };

/** Sets of 64 warps each, side by side: a cycle looks at most of them. The sets may_... hold all warps
 *  for which a phase may have something to do, and perhaps others. */
struct tim_sets {
    uint64_t reselect;             /* its split may be another */
    uint64_t may_fetch, may_ask;   /* its buffer has room; an operand's constant is missing */
    uint64_t sleeps;               /* no split can run until emu's sleep is over */
    uint64_t alive, at_barrier;    /* exact: have live lanes; of them, have none that can run */
};
/** A scheduler's warps have neighbouring places, from a whole word of a set of places on. Of 64: */
enum { TIM_WARP_SLOTS = 512 }; /* whole words for each of TIM_MAX_SCHEDS */
struct tim_known {
    _Alignas(64) uint64_t recheck; /* something of it has changed */
    uint64_t timed;     /* `cause` holds before cycle `again` */
    uint64_t can[4];    /* only room on its path, enum tim_path, can keep it */
    /* of all the scheduler's, in its first: */
    uint64_t recheck_min; /* the least `again` of those timed */
    uint32_t present;   /* causes that some warp has */
    uint8_t nearest;    /* cause of the last slot that issued nothing */
    uint16_t direct;    /* of this word's can[TIM_PATH_DIRECT]: kinds of pipes, a bit each, and perhaps more */
};
/**
 * What is known of warps without a check of them. Whatever changes a warp puts it into the sets may_..., a phase
 * that finds nothing to do, and nothing that only time would change, takes it out. Of the places of
 * warps each is in `recheck`, `timed`, one of `can`, or in none: then its stall reason holds until it is
 * touched. The reference checks all warps in every phase instead.
 */
struct tim_hot {
    _Alignas(64) uint64_t over;    /* blocks all of whose warps have ended */
    unsigned alive_count, at_barrier_count;
    struct tim_sets set[TIM_MAX_WARPS / 64]; /* the first in the same line of the host's cache */
    _Alignas(64) unsigned first[TIM_MAX_SCHEDS]; /* places of a scheduler's warps */
    uint64_t idle[TIM_MAX_SCHEDS]; /* cycles that issued nothing, of `nearest`, not in the counters */
    unsigned words, warp_words;    /* of a set of places, for one scheduler; of warps */
    unsigned count[TIM_MAX_SCHEDS]; /* places of a scheduler's warps */
    struct tim_known known[TIM_WARP_SLOTS / 64];
    uint16_t waiting[TIM_MAX_SCHEDS][TIM_STALL_COUNT]; /* warps by `cause` */
    /* all below by place, tim_warp's */
    bool live[TIM_WARP_SLOTS];         /* has lanes that live */
    uint64_t age[TIM_WARP_SLOTS];
    uint64_t recheck_at[TIM_WARP_SLOTS];
};

/**
 * Instructions in flight by what they wait for, so that no phase visits others; the reference
 * checks all in every phase instead (`live`). Rings of lists by cycle: of the instructions that
 * wait only for their time, `at`, those that wait 64 cycles or more are in a list of an
 * earlier cycle, and are put off there.
 */
enum { TIM_RING = 64 };
struct tim_aged {
    uint64_t age;
    uint32_t op;
    uint8_t pipes, sched; /* the instruction's, */
    uint16_t only;        /* and of core->only_pipe */
};
struct tim_flight {
    _Alignas(64) uint64_t ring_map; /* lists that are not empty */
    uint32_t free;
    unsigned collecting, ready, writing, entering;
    uint64_t pipes_at; /* before it none of `wait` finds its pipe free */
    /* by age, with room for all instructions there are */
    struct tim_aged *collect; /* operands are missing */
    struct tim_aged *wait;    /* complete; for a pipe */
    struct tim_aged *write;   /* writes rows in this cycle */
    struct tim_aged *enter;   /* reserved: enters its pipe in this cycle */
    unsigned collectors[TIM_MAX_SCHEDS]; /* in use */
    uint32_t ring[TIM_RING]; /* by cycle: in a pipe, to be written, or in a reserved collector */
};

/** The counters that a tick may change that changes nothing else. */
enum tim_idle_count { TIM_IDLE_ICNT, TIM_IDLE_L1, TIM_IDLE_COUNTS };
/** What is counted in each cycle, and seldom another value. */
enum tim_lasting { TIM_LASTS_ACTIVE, TIM_LASTS_WARPS, TIM_LASTS_BARRIER, TIM_LASTS_COUNTS };

/** May a warp that was picked issue? */
enum tim_leave {
    TIM_MAY_ISSUE,
    TIM_STOPS, /* the run stops before it */
    TIM_HELD   /* not while another warp is stepped: the next is picked */
};

/** By what alone registers are free. */
enum tim_operand_check { TIM_CHECK_ALL, TIM_CHECK_REGISTERS, TIM_CHECK_BARRIERS };

/** What every cycle reads is first, from a line of the host's cache on. */
struct tim_core {
    _Alignas(64) const struct tim_config *config;
    uint64_t now;            /* the cycle that runs, for clocks */
    bool idle, poked;        /* poked: a block came, or a launch that somebody waits for ended */
    bool moved;              /* this tick changed more than counters */
    bool ticking;            /* in a tick: `each` is not in `sums` */
    bool no_capacity;            /* something waits for room in the crossbar */
    bool has_packet;         /* `packet` came while it rested */
    bool reference;          /* the naive model: it never rests */
    bool tracing;            /* the trace's window is open: all warps are checked in every cycle */
    bool quick;              /* what is known of warps is used; else all are checked, as in the reference */
    bool brisk;              /* quick, a word of places has all warps of a scheduler; no mechanism that wants each cycle or makes packets, rotation or queues of their own */
    uint8_t operand_check;   /* enum tim_operand_check */
    bool addresses_only;     /* emu reports EMU_EVENT_ADDRESSES */
    bool launch_waits;       /* a warp may wait at launch.sync */
    bool l1_stuck;           /* what heads the load/store queue can do nothing before L1 has a line */
    bool l1_misses;          /* its line is not in L1, nor under way: all it waits for is room to ask */
    unsigned wakes;
    unsigned queued, replays;
    uint64_t head_at;        /* queued: cycle from which on the first is in the queue */
    unsigned lsu_used;       /* issued and not through the unit */
    unsigned moving;         /* blocks whose state is on its way */
    unsigned blocks;         /* resources in use */
    unsigned fetch_next;     /* loose round robin */
    bool *any_poked;         /* the engine's, or `poked` */
    uint64_t *tick_at;       /* cycle in which it must be ticked or checked; the engine's, or tick_at_own */
    /* Cycles that are not ticked: tim_core_is_idle */
    uint64_t crowded;        /* more wakes than have room: no rest before this cycle */
    uint64_t due;            /* the next tick changes something, if nothing comes before */
    uint64_t counted;        /* the last cycle whose rest is in `sums` */
    uint64_t each[TIM_IDLE_COUNTS]; /* what this tick counted, and each idle cycle after it */
    uint64_t sums[TIM_IDLE_COUNTS]; /* not in the counters yet: tim_core_account */
    unsigned lasting[TIM_LASTS_COUNTS]; /* of each cycle from lasting_since on, not in the counters yet */
    uint64_t lasting_since;
    unsigned replays_wait[TIM_MAX_SCHEDS]; /* for a slot of the scheduler */
    struct tim_flight flight;
    struct tim_hot hot;      /* what need not be checked: tim_warp_touch */
    uint64_t wake_at[TIM_WAKES]; /* cycles in which memory has something for it, ascending */
    struct tim_memory *memory;
    struct tim_core_stats *stats; /* borrowed: one of the engine's */
    struct emu_core *emu;
    struct tim_trace *trace; /* NULL: none; blocks are traced outside its window, too */
    struct tim_warp *warp;   /* [config->core_warps] */
    struct tim_block *block; /* [config->core_blocks] */
    struct tim_op *op;       /* instructions in flight */
    uint32_t *queue;         /* load/store: ops in order */
    struct tim_side side[TIM_SIDES]; /* lsu.separate */
    struct tim_counters *counters; /* [config->core_warps], of issue.dependence: counters; else NULL */
    uint64_t *bank_free;     /* reserved: first cycle in which it is free */
    uint64_t *bank_at;       /* [sched][bank] 1 + the last cycle in which it was used */
    bool has_tags;           /* emu's registers have tags */
    struct tim_entries *entries; /* registers.tags: of compact entries; NULL: all registers are rows */
    unsigned rows, rows_saved;   /* with tags: registers of resident warps that are rows, or entries; */
    unsigned rows_then, saved_then; /* as they were at the last tick, since cycle */
    uint64_t rows_since;
    unsigned bank_mask;      /* banks of a scheduler - 1, where that is a power of two; else 0 */
    int fetch_follows[TIM_MAX_SCHEDS]; /* greedy: who issued last before this cycle, as tim_sched.last */
    struct tim_local local[TIM_MAX_SCHEDS];
    unsigned local_next;     /* the scheduler whose unit goes first */
    unsigned reads;          /* ops with `read_at` to come; the first of these, perhaps sooner: */
    uint64_t reads_next;
    uint64_t shared_at;      /* local: the load/store unit takes another from this cycle on */
    struct tim_mechs mechs;  /* those that are on; */
    uint64_t picks_at[TIM_MAX_SCHEDS]; /* 1 + the cycle in which they last knew that the scheduler picks */
    struct tim_window *window; /* [schedulers], of registers.collector: window; else NULL */
    struct tim_window_bank *window_banks;
    uint64_t op_age;
    uint32_t op_count;       /* entries made */
    unsigned live_count;
    struct tim_sched sched[TIM_MAX_SCHEDS];
    struct tim_cache *icache, *l1, *constant, *texture;
    struct tim_locality *locality; /* of l1; NULL: not l1.classes */
    struct tim_held *held;   /* l1.coherent off: what L1 holds; NULL */
    struct tim_pipe *pipe[ISA_UNIT_COUNT];
    struct tim_pipe *pipes;  /* of all units; */
    uint16_t only_pipe[ISA_UNIT_COUNT][TIM_MAX_SCHEDS]; /* of `pipes`, 1 + that a scheduler has; 0: several */
    unsigned interval[ISA_UNIT_COUNT]; /* cycles for which a vector instruction holds a pipe */
    unsigned unmoved;        /* issue.rotate: ticks in a row that changed nothing */
    unsigned types_issued;   /* issue.types: in this cycle, a set of enum tim_type, by these of the scheduler's warps: */
    uint64_t issued_now[TIM_MAX_WARPS / 64];
    unsigned issued_warp;    /* of the last issue, for the second slot of dual issue */
    unsigned issued_lanes;   /* how many its split has */
    const struct tim_static *issued_what;
    uint64_t launch_cycles;  /* that the last instruction holds its warp, if it launched */
    uint32_t slept;          /* nanoseconds of the last nanosleep */
    unsigned index;
    /* The engine's: may an instruction not issue now (a breakpoint)? A block has ended. */
    enum tim_leave (*refuses)(void *context, struct tim_core *core, unsigned warp);
    void (*ended)(void *context, const struct tim_core *core, const struct tim_block *block);
    /* A block is to leave (false: there is no memory to keep its name, it stays); has left. */
    bool (*leaves)(void *context);
    void (*left)(void *context, struct emu_grid *grid);
    void *context;
    uint32_t *waiters;       /* room for those of a line */
    struct tim_replay *replay; /* [lsu_queue], in the order in which they came */
    const struct emu_machine *machine;
    unsigned warps, threads, registers, shared_bytes; /* resources in use */
    struct tim_front *front; /* caches in levels; NULL: fetch.l0_bytes is 0 */
    uint64_t switch_at[TIM_MAX_SCHEDS]; /* after a miss of an operand it issues from this cycle on, */
    int switch_for[TIM_MAX_SCHEDS]; /* or when the line of this warp is there; -1: that was so */
    uint8_t *readers;        /* [warp][256] issue.war counters: reads of a vector register to come; else NULL */
    uint64_t *lanes;         /* of all warps, or NULL */
    uint64_t assigned;       /* warps ever: ages */
    struct tim_suspended *suspended; /* in the order in which they left */
    unsigned suspended_count;
    size_t suspended_capacity, op_capacity, live_capacity;
    uint32_t *live;          /* instructions in flight, in age order */
    uint64_t tick_at_own;
    struct tim_sharing sharing[TIM_SHARES];
    struct tim_packet packet;
    struct tim_packets *packets; /* of memory instructions; NULL: no mechanism makes any */
    uint64_t issue_at[TIM_MAX_SCHEDS]; /* issue.lanes: a scheduler issues from this cycle on */
};

/** NULL: no memory. */
struct tim_core *tim_core_create(const struct tim_config *config, struct emu_machine *machine,
                                 struct tim_memory *memory, struct tim_core_stats *stats,
                                 unsigned index);
void tim_core_destroy(struct tim_core *core);
/** It uses the cache of the first of @count cores, which includes it, instead of its own. */
void tim_core_share(struct tim_core *core, enum tim_sharing_of what, struct tim_core **cores, unsigned count);
/** Would a block of @grid fit now? */
bool tim_core_fits(const struct tim_core *core, const struct emu_grid *grid);
/** The same, the memory for suspended blocks aside. */
bool tim_core_has_capacity(const struct tim_core *core, const struct emu_grid *grid);
/** Could it ever? Else the sentence why. */
enum lw_status tim_core_could_fit(const struct tim_config *config, const struct emu_grid *grid,
                                  struct lw_error *err) LW_MUST_CHECK;
enum lw_status tim_core_occupy(struct tim_core *core, struct emu_grid *grid, uint64_t linear,
                              const struct tim_code *code, struct lw_error *err) LW_MUST_CHECK;

/* The phases of a cycle. */

/**
 * Nothing but counters would change in cycle @now: then no phase is run. A tick that changed
 * nothing is the same again until some time in it is reached (`due`), a packet, a block or a wake-up;
 * what it counted is counted for each cycle without it. So the counts are exact, and a tick too
 * many does no harm.
 */
bool tim_core_is_idle(struct tim_core *core, uint64_t now);
/** Memory has something for it in @cycle: an answer, or room. */
void tim_core_wake(struct tim_core *core, uint64_t cycle);
/** Wake-ups of cycles up to @now are over. */
void tim_core_drop_wakes(struct tim_core *core, uint64_t now);
/** It is to be ticked in the next cycle that comes, whatever it waits for. */
static inline void tim_core_poke(struct tim_core *core)
{
    core->poked = *core->any_poked = true;
    *core->tick_at = 0;
}
/** Bring the counters of a core up to the end of cycle @through. */
void tim_core_account(struct tim_core *core, uint64_t through);
/** At the end of a tick: what cycles from @now on count. */
void tim_core_last_on(struct tim_core *core, unsigned warps, unsigned at_barrier, uint64_t now);
/** With tags: the same of its registers' rows, for the cycles before @before. */
void tim_core_account_rows(struct tim_core *core, uint64_t before);
/** Result of one issue slot. */
enum tim_step_result {
    TIM_STEP_DONE,  /* nothing more in this cycle */
    TIM_STEP_ISSUED /* an instruction was issued: see event; call again for the next slot */
};
/** Fills in what its mechanisms see of the core, before they are made. */
void tim_core_show_mechanisms(struct tim_core *core, struct tim_core_stats *stats);
/** Its mechanisms are to be shown as they are in cycle @now, though it may be idle. */
static inline void tim_core_show(struct tim_core *core, uint64_t now)
{
    core->mechs.core.now = now;
}
/** The mechanism that holds the warp back, were it ready; NULL: none. */
struct tim_mech *tim_core_holder(const struct tim_core *core, unsigned warp);
/** Takes those out of @ready, of scheduler @s, that a mechanism holds back in this cycle. True: somebody. */
bool tim_core_hold(struct tim_core *core, unsigned s, uint64_t *ready);
/** Anything under way that will change something by itself? */
bool tim_core_is_busy(const struct tim_core *core, uint64_t now);

/* ---- what a core is like ------------------------------------------------------------------------ */

/**
 * A kind of core. The functions of a cycle (*_body.h) are compiled once for each kind: for the three that the shipped
 * GPU models have, for any other, and for the reference. Each time the file that includes them gives `tim_kind` a
 * value, a constant to the compiler: what never holds for the kind falls away. With one kind for all, gemm, bfs, reduce and
 * hist take 6 to 11 % more instructions (callgrind). Other files leave it zero, and the questions below read the core.
 */
struct tim_kind {
    bool reference; /* the naive model */
    bool fixed;     /* known of the kind: tim_cycle_of() lists all; by the configuration: */
    uint8_t operand_check;  /* enum tim_operand_check */
    uint8_t dependence, collector; /* issue.dependence, registers.collector */
    bool modern; /* all parts of `ampere`: issue.control_stage and so on; else, if fixed, none of them */
};
static const struct tim_kind tim_kind;

/** Is what is known of warps used? Else all are checked, as in the reference. */
static inline bool tim_quick(const struct tim_core *core)
{
    return tim_kind.fixed || (!tim_kind.reference && core->quick);
}
static inline bool tim_traces(const struct tim_core *core)
{
    return !tim_kind.fixed && core->tracing;
}
static inline unsigned tim_words(const struct tim_core *core)
{
    return tim_kind.fixed ? 1 : core->hot.words;
}
/** The first place of scheduler @s's warps. */
static inline unsigned tim_first(const struct tim_core *core, unsigned s)
{
    return tim_kind.fixed ? s * 64 : core->hot.first[s];
}
static inline unsigned tim_warp_words(const struct tim_core *core)
{
    return tim_kind.fixed ? 1 : core->hot.warp_words;
}
static inline unsigned tim_width(const struct tim_core *core)
{
    return tim_kind.fixed ? 1 : core->config->issue_width;
}
static inline unsigned tim_war(const struct tim_core *core)
{
    return tim_kind.fixed ? TIM_WAR_NONE : core->config->issue_war;
}
static inline bool tim_splits_lanes(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_split_lanes;
}
static inline bool tim_replays(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->lsu_replay == TIM_REPLAY_BUFFER;
}
/** Are mechanisms on? */
static inline bool tim_has_mechanisms(const struct tim_core *core)
{
    return core->mechs.count != 0;
}
/** Does one of them make packets of memory instructions? */
static inline bool tim_has_packets(const struct tim_core *core)
{
    return !tim_kind.fixed && core->packets != NULL;
}
static inline enum tim_operand_check tim_operand_check(const struct tim_core *core)
{
    return (enum tim_operand_check)(tim_kind.fixed ? tim_kind.operand_check : core->operand_check);
}
/** Are lanes of writes to come kept? Else a bit for each register: of those that the scoreboard lets issue
 *  no two writes are under way. */
static inline bool tim_keeps_lanes(const struct tim_core *core)
{
    return !tim_kind.fixed && core->lanes != NULL;
}
static inline unsigned tim_dependence(const struct tim_core *core)
{
    return tim_kind.fixed ? tim_kind.dependence : core->config->issue_dependence;
}
static inline unsigned tim_collector(const struct tim_core *core)
{
    return tim_kind.fixed ? tim_kind.collector : core->config->registers_collector;
}
/** Does each scheduler fetch for the warp that issued last? */
static inline bool tim_fetches_greedily(const struct tim_core *core)
{
    return (!tim_kind.fixed || tim_kind.modern) && core->config->fetch_policy == TIM_FETCH_GREEDY;
}
/** Has each scheduler an L0 instruction cache, and one for constant operands? */
static inline bool tim_has_levels(const struct tim_core *core)
{
    return (!tim_kind.fixed || tim_kind.dependence == TIM_DEP_CONTROL) && core->front != NULL;
}
static inline bool tim_has_operands(const struct tim_core *core)
{
    return (!tim_kind.fixed || tim_kind.modern) && core->config->constant_l0_bytes != 0;
}
/** Do registers have tags? */
static inline bool tim_has_tags(const struct tim_core *core)
{
    return !tim_kind.fixed && core->has_tags;
}
/** Are tagged registers compact entries? */
static inline bool tim_has_entries(const struct tim_core *core)
{
    return !tim_kind.fixed && core->entries != NULL;
}
/** Has each scheduler a memory unit of its own, before the core's? */
static inline bool tim_has_local(const struct tim_core *core)
{
    return tim_kind.fixed ? tim_kind.modern : core->config->lsu_local != 0;
}
/** Have shared memory and scalar loads queues of their own? */
static inline bool tim_separate(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->lsu_separate;
}
/** Do memory instructions count by counters of their warp? */
static inline bool tim_counts(const struct tim_core *core)
{
    return !tim_kind.fixed && core->counters != NULL;
}
/** Do schedulers rotate; are instructions of a cycle of different types and warps? */
static inline bool tim_rotates(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_rotate;
}
static inline bool tim_types(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_types;
}
/** Is it a cycle of another scheduler than @s? */
static inline bool tim_passes(const struct tim_core *core, unsigned s, uint64_t now)
{
    return tim_rotates(core) && now % core->config->issue_schedulers != s;
}
/** Do instructions of fixed latency reserve their reads in a window of cycles? */
static inline bool tim_windowed(const struct tim_core *core)
{
    return tim_collector(core) == TIM_COLLECTOR_WINDOW;
}
/** Does an instruction of a wide warp hold its scheduler? */
static inline bool tim_issues_by_lanes(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_lanes != 0;
}
/** Is Control taken, so that scheduler @s issues nothing in cycle @now? */
static inline bool tim_control_taken(const struct tim_core *core, unsigned s, uint64_t now)
{
    return tim_windowed(core) && now < core->window[s].control_at;
}
/** Does scheduler @s issue nothing in cycle @now, whoever is ready? Why; else ISSUED. */
static inline enum tim_stall tim_issue_stops(const struct tim_core *core, unsigned s, uint64_t now)
{
    if (tim_control_taken(core, s, now))
        return TIM_STALL_OPERANDS;
    if (tim_issues_by_lanes(core) && now < core->issue_at[s])
        return TIM_STALL_UNIT;
    return tim_has_operands(core) && now < core->switch_at[s] ? TIM_STALL_SWITCH : TIM_STALL_ISSUED;
}
/** Do dependence barriers count up in a stage after issue? */
static inline bool tim_control_stage(const struct tim_core *core)
{
    return tim_kind.fixed ? tim_kind.modern : core->config->issue_control_stage;
}
/** May a scheduler be passed over without a check (tim_core_idles)? */
static inline bool tim_brisk(const struct tim_core *core)
{
    return tim_kind.fixed || (core->brisk && core->replays == 0);
}
/** The functions of a cycle, for one kind of core. */
struct tim_cycle {
    /** What comes before issue. Of the schedulers the first that may issue; those before it have used their
     *  slot. The count of them: none may. */
    unsigned (*begin)(struct tim_core *core, uint64_t now);
    /** One issue slot of scheduler @s (slot 0 or 1) in cycle @now. The engine may refuse what was
     *  picked (a breakpoint): then nothing happens, *stopped is set and the same call is made again
     *  when the run continues. */
    enum lw_status (*issue)(struct tim_core *core, unsigned s, unsigned slot, uint64_t now,
                            struct emu_event *ev, enum tim_step_result *result, bool *stopped,
                            struct lw_error *err);
    /** What comes after it; and: may the core be idle? */
    void (*end)(struct tim_core *core, uint64_t now);
};
extern const struct tim_cycle tim_cycle_any, tim_cycle_scoreboard, tim_cycle_control, tim_cycle_modern;
/** What keeps a warp's next instruction from issuing in cycle @now, policies aside; PICKED: nothing. */
enum tim_stall tim_stall_reason(const struct tim_core *core, const struct tim_warp *w, unsigned sched,
                                uint64_t now);
/** Of tim_mech_core; @core: the core. */
bool tim_could_issue(const void *core, unsigned warp);
/** How it looks at things: at all of them, or as it knows. Once, before its first cycle. False: no memory. */
bool tim_core_set_model(struct tim_core *core, bool reference) LW_MUST_CHECK;
/** Between two cycles: its trace's window opens, or closes. A trace has every warp in every cycle,
 *  so the core checks all of them there and is never idle. */
void tim_core_set_tracing(struct tim_core *core, bool tracing);
/** Those for a core like this one, whose configuration and way of looking are settled. */
const struct tim_cycle *tim_cycle_of(const struct tim_core *core);

/* ---- inside ------------------------------------------------------------------------------------ */

/** Warp slots that @warps warps of a block take: whole groups. */
static inline unsigned tim_slots_of(const struct tim_config *config, unsigned warps)
{
    return (warps + config->core_group - 1) / config->core_group * config->core_group;
}
static inline unsigned tim_sched_of(const struct tim_core *core, unsigned warp)
{
    return warp % core->config->issue_schedulers;
}
static inline const struct tim_static *tim_head(const struct tim_warp *w)
{
    return &w->code->insn[(w->pc - w->code->base) / ISA_WORD_BYTES];
}
/** lw_popcount of lanes of a warp, which are mostly all of them. */
static inline unsigned tim_count_lanes(const struct tim_core *core, uint64_t lanes)
{
    unsigned width = core->config->core_warp_width;

    return lanes == lw_mask(width) ? width : lw_popcount(lanes);
}
/** @set: a word of struct tim_sets, the one of @warp. */
static inline void tim_set(uint64_t *set, unsigned warp, bool in)
{
    uint64_t bit = UINT64_C(1) << warp % 64;

    *set = in ? *set | bit : *set & ~bit;
}
static inline bool tim_in(uint64_t set, unsigned warp)
{
    return set >> warp % 64 & 1;
}
/** The words of the sets that @warp is in. */
static inline struct tim_sets *tim_sets_of(struct tim_core *core, unsigned warp)
{
    return &core->hot.set[warp / 64];
}
/** The warp at a place of scheduler @s. */
static inline unsigned tim_warp_at(const struct tim_core *core, unsigned s, unsigned place)
{
    return (place - tim_first(core, s)) * core->config->issue_schedulers + s;
}
/** May a warp's split be another, or does one sleep; may one fetch, or ask for a constant? */
static inline bool tim_any_reselect(const struct tim_core *core, bool sleeping)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < tim_warp_words(core); i++)
        all |= core->hot.set[i].reselect | (sleeping ? core->hot.set[i].sleeps : 0);
    return all != 0;
}
static inline bool tim_any_fetches(const struct tim_core *core)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < tim_warp_words(core); i++)
        all |= core->hot.set[i].may_fetch | core->hot.set[i].may_ask;
    return all != 0;
}
/** What of a warp has changed, bits: each makes void what is known of the warp from it. */
enum tim_touch {
    TIM_TOUCH_STALL = 1,    /* what keeps it from issuing: a ready check is due */
    TIM_TOUCH_RESULT = 2,   /* a result is there, or operands have been read: that check, if it waits for registers */
    TIM_TOUCH_SPLIT = 4,    /* which split runs: emu is to be asked */
    TIM_TOUCH_FETCH = 8,    /* its buffer has room, or it fetches at another pc */
    TIM_TOUCH_CONSTANT = 16, /* an instruction of its buffer may lack a constant */
    TIM_TOUCH_MEMORY = 32   /* a memory instruction is in order, or answered: that check, if it waits for such */
};
/** Whoever changes a warp says so here, and nowhere else. The reference, which checks all warps, makes nothing of it. */
static inline void tim_warp_touch(struct tim_core *core, unsigned warp, unsigned changed)
{
    const uint32_t registers = UINT32_C(1) << TIM_STALL_LOAD | UINT32_C(1) << TIM_STALL_RESULT |
                               UINT32_C(1) << TIM_STALL_WAR | UINT32_C(1) << TIM_STALL_COUNTER;
    struct tim_warp *w = &core->warp[warp];

    if ((changed & TIM_TOUCH_STALL) != 0)
        core->hot.known[w->place / 64].recheck |= UINT64_C(1) << w->place % 64;
    if ((changed & TIM_TOUCH_RESULT) != 0)
        core->hot.known[w->place / 64].recheck |= (uint64_t)(registers >> w->reason & 1) << w->place % 64;
    if ((changed & TIM_TOUCH_MEMORY) != 0)
        core->hot.known[w->place / 64].recheck |= (uint64_t)(w->reason == TIM_STALL_FENCE) << w->place % 64;
    if ((changed & TIM_TOUCH_SPLIT) != 0) {
        w->reselect = true;
        tim_set(&tim_sets_of(core, warp)->reselect, warp, true);
    }
    if ((changed & TIM_TOUCH_FETCH) != 0)
        tim_set(&tim_sets_of(core, warp)->may_fetch, warp, true);
    if ((changed & TIM_TOUCH_CONSTANT) != 0)
        tim_set(&tim_sets_of(core, warp)->may_ask, warp, true);
}
/** A warp that lives waits at a barrier, with all its lanes, or does no more. */
static inline void tim_set_at_barrier(struct tim_core *core, unsigned warp, bool waits)
{
    if (tim_in(tim_sets_of(core, warp)->at_barrier, warp) == waits)
        return;
    core->hot.at_barrier_count += waits ? 1 : -1u;
    tim_set(&tim_sets_of(core, warp)->at_barrier, warp, waits);
}
/** Registers in use have changed, or what they take. */
static inline void tim_count_rows(struct tim_core *core)
{
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_register_rows], core->rows);
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_register_rows_saved], core->rows_saved);
}
static inline void tim_stage(struct tim_op *op, enum tim_stage stage)
{
    op->stage = (uint8_t)stage;
}
/** The queue of its own that an instruction of this kind passes; NULL: none. */
static inline struct tim_side *tim_side_of(struct tim_core *core, const struct tim_static *what)
{
    if (!tim_separate(core) || what->type == TIM_TYPE_MEMORY)
        return NULL;
    return &core->side[what->type == TIM_TYPE_SCALAR];
}
/** It joins the load/store queue. */
static inline void tim_enqueue(struct tim_core *core, uint32_t op)
{
    struct tim_side *side = tim_side_of(core, core->op[op].what);

    if (side != NULL) {
        if (side->queued == 0)
            side->head_at = core->op[op].at;
        tim_histogram_add(&core->stats->histogram[TIM_CORE_H_lsu_queue], side->queued);
        side->queue[side->queued++] = op;
        return;
    }
    if (core->queued == 0)
        core->head_at = core->op[op].at;
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_lsu_queue], core->queued);
    core->queue[core->queued++] = op;
}
/** Room for more instructions in flight. False: no memory. */
bool tim_ops_grow(struct tim_core *core);
/** A new instruction in flight, in entry @i. */
static inline void tim_op_init(struct tim_core *core, uint32_t i)
{
    struct tim_op *op = &core->op[i];

    op->stage = TIM_STAGE_FREE;
    op->kind = 0;
    op->cached = false;
    op->operands = op->writes = 0;
    op->age = ++core->op_age;
    op->at = op->collecting_until = op->data_at = 0;
    op->passes = op->line_count = op->line_next = op->lines_pending = 0;
    op->read_at = 0;
    op->read_after = op->result_after = 0;
    if (tim_has_packets(core)) { /* else nothing reads them */
        op->packet = 0;
        op->rides = 0;
        op->follower = false;
        op->ride = TIM_NO_LINK;
    }
    core->live_count++;
}
/** The oldest instruction in flight that is younger than @age; NULL: none. From age 0 on, all. */
const struct tim_op *tim_op_after(const struct tim_core *core, uint64_t age);
/** A block takes warp slots and all that it needs; its state is in emu's @slot. @moves_in: its warps
 *  wait for that. */
void tim_core_seat(struct tim_core *core, struct emu_grid *grid, uint64_t linear, unsigned slot,
                   const struct tim_code *code, bool moves_in);
/** It gives them back. */
void tim_core_unseat(struct tim_core *core, unsigned block);
/** Address by which caches know a place of a constant bank. */
uint64_t tim_constant_address(const struct emu_grid *grid, uint64_t bank_offset);
/** Is a write to the register to come? Is it a load's? */
static inline bool tim_is_to_come(const struct tim_warp *w, unsigned reg)
{
    return (w->to_come.word[reg / 64] >> reg % 64 & 1) != 0 ||
           (w->lanes != NULL && w->lanes[reg] != 0);
}
static inline bool tim_is_by_load(const struct tim_warp *w, unsigned reg)
{
    return w->by_load.word[reg / 64] >> reg % 64 & 1;
}
/** The count of barrier @b, as an instruction sees it that would issue in cycle @now. */
static inline unsigned tim_bar_seen(const struct tim_core *core, const struct tim_warp *w, unsigned b, uint64_t now)
{
    if (!tim_control_stage(core) || now >= w->new_seen)
        return w->bar[b];
    return w->bar[b] - (w->new_write == b) - (w->new_read == b);
}
/** Barriers that are not 0, as such an instruction sees it. */
static inline unsigned tim_bars_seen(const struct tim_core *core, const struct tim_warp *w, uint64_t now)
{
    unsigned bars = w->bars;

    if (!tim_control_stage(core) || now >= w->new_seen)
        return bars;
    if (w->new_write < 6 && tim_bar_seen(core, w, w->new_write, now) == 0)
        bars &= ~(1u << w->new_write);
    if (w->new_read < 6 && tim_bar_seen(core, w, w->new_read, now) == 0)
        bars &= ~(1u << w->new_read);
    return bars;
}
/** The dependence barriers that the control field makes it wait for: those of its wait mask, those that
 *  it would take and that count no further, and the one by which depbar.le holds its warp. */
static inline unsigned tim_bars_waited(const struct tim_core *core, const struct tim_warp *w,
                                       const struct tim_static *what, uint64_t now)
{
    unsigned waits = (what->control.wait_mask & tim_bars_seen(core, w, now)) | (what->takes_bars & w->full_bars);

    if (w->hold_from != 0 && w->hold_from <= now && tim_bar_seen(core, w, w->hold_bar, now) > w->hold_most)
        waits |= 1u << w->hold_bar;
    return waits;
}
/** The first cycle after @now by which time alone changes what tim_bars_waited says; UINT64_MAX: none. */
static inline uint64_t tim_bars_change(const struct tim_core *core, const struct tim_warp *w, uint64_t now)
{
    if (tim_control_stage(core) && now < w->new_seen) /* before hold_from, or the same */
        return w->new_seen;
    return w->hold_from > now ? w->hold_from : UINT64_MAX;
}
_Static_assert(TIM_STALL_COUNT <= 32, "a bit for each stall reason");

/** What keeps the warp, one of scheduler @s. */
static inline void tim_set_stall(struct tim_core *core, unsigned s, struct tim_warp *w,
                                 enum tim_stall reason)
{
    uint16_t *waiting = core->hot.waiting[s];
    uint32_t *present = &core->hot.known[tim_first(core, s) / 64].present;
    uint8_t before = w->reason;

    if (before == reason)
        return;
    w->reason = (uint8_t)reason;
    if (--waiting[before] == 0)
        *present &= ~(UINT32_C(1) << before);
    waiting[reason]++;
    *present |= UINT32_C(1) << reason;
}
/** Does a lane of the warp live, as emu says? */
static inline void tim_set_alive(struct tim_core *core, unsigned warp, bool alive)
{
    tim_set_at_barrier(core, warp, false);
    core->hot.live[core->warp[warp].place] = alive;
    if (tim_in(tim_sets_of(core, warp)->alive, warp) == alive)
        return;
    tim_set(&tim_sets_of(core, warp)->alive, warp, alive);
    core->hot.alive_count += alive ? 1 : -1u;
    if (core->mechs.count != 0)
        tim_mechs_warp(&core->mechs, warp, core->warp[warp].age, alive);
}
/** Pipes of @unit that scheduler @s may use: from @first, every @step-th. */
static inline void tim_pipes_of(const struct tim_config *c, unsigned unit, unsigned s, unsigned *first,
                     unsigned *step)
{
    unsigned pipes = c->unit[unit].pipes, schedulers = c->issue_schedulers;

    *first = s % pipes;
    *step = pipes <= schedulers ? pipes : schedulers;
}
/** The pipe that is free first, of equals the lowest. */
static inline struct tim_pipe *tim_best_pipe(struct tim_core *core, unsigned unit, unsigned s)
{
    unsigned first, step;
    struct tim_pipe *best = NULL;

    if (core->only_pipe[unit][s] != 0)
        return &core->pipes[core->only_pipe[unit][s] - 1];
    tim_pipes_of(core->config, unit, s, &first, &step);
    for (unsigned p = first; p < core->config->unit[unit].pipes; p += step)
        if (best == NULL || core->pipe[unit][p].free_at < best->free_at)
            best = &core->pipe[unit][p];
    return best;
}
/** Cycle from which on a pipe of @unit is free for scheduler @s. */
static inline uint64_t tim_pipe_free_at(const struct tim_core *core, unsigned unit, unsigned s)
{
    return tim_best_pipe((struct tim_core *)core, unit, s)->free_at;
}
/** Idle slots of scheduler @s go into the counters. */
static inline void tim_flush_idle(struct tim_core *core, unsigned s)
{
    struct tim_hot *hot = &core->hot;

    for (unsigned slot = 0; slot < tim_width(core); slot++)
        core->stats->sched[s].reason[slot][hot->known[tim_first(core, s) / 64].nearest] += hot->idle[s];
    hot->idle[s] = 0;
}
/** @cycles of other schedulers. */
static inline void tim_count_rotation(struct tim_core *core, unsigned s, uint64_t cycles)
{
    for (unsigned slot = 0; slot < tim_width(core); slot++)
        core->stats->sched[s].reason[slot][TIM_STALL_ROTATION] += cycles;
}
/** The slots of scheduler @s in this cycle issue nothing. */
static inline void tim_count_idle(struct tim_core *core, unsigned s, enum tim_stall reason)
{
    struct tim_known *k = &core->hot.known[tim_first(core, s) / 64];

    if (k->nearest != reason) {
        tim_flush_idle(core, s);
        k->nearest = (uint8_t)reason;
    }
    core->hot.idle[s]++;
}
/** Of causes that warps have, the one that counts. */
static inline enum tim_stall tim_suggest(uint32_t reasons)
{
    return reasons != 0 ? (enum tim_stall)lw_lowest(reasons) : TIM_STALL_EMPTY;
}
static inline bool tim_is_one(uint16_t set)
{
    return set != 0 && (set & (set - 1)) == 0;
}
/** The slots of scheduler @s of a brisk core without replays issue nothing in cycle @now, without a
 *  look at any warp: they have been counted. */
static inline bool tim_core_idles(struct tim_core *core, unsigned s, uint64_t now)
{
    struct tim_known *k = &core->hot.known[s];
    uint64_t roomy = k->can[TIM_PATH_MEMORY] | k->can[TIM_PATH_COLLECT];
    uint32_t reasons = k->present & ~(UINT32_C(1) << TIM_STALL_PICKED);
    enum tim_stall stops = tim_issue_stops(core, s, now);
    bool taken = stops != TIM_STALL_ISSUED;

    if (k->recheck_min <= now || k->recheck != 0 || (!taken && k->can[TIM_PATH_NONE] != 0))
        return false;
    if (taken) {
        roomy |= k->can[TIM_PATH_NONE] | k->can[TIM_PATH_DIRECT];
        reasons |= (uint32_t)(roomy != 0) << stops;
        roomy = 0;
    } else if (k->can[TIM_PATH_DIRECT] != 0) {
        if (!tim_is_one(k->direct) || tim_pipe_free_at(core, lw_lowest(k->direct), s) <= now + 1)
            return false;
        reasons |= UINT32_C(1) << TIM_STALL_UNIT;
    }
    if (tim_has_local(core) && !taken && k->can[TIM_PATH_MEMORY] != 0) {
        if (core->local[s].count < core->config->lsu_local)
            return false;
        reasons |= UINT32_C(1) << TIM_STALL_ADDRESS;
        roomy &= ~k->can[TIM_PATH_MEMORY];
    }
    if (roomy != 0) { /* as tim_select */
        bool lsu = core->lsu_used != core->config->lsu_queue;
        uint64_t takes = lsu ? roomy : k->can[TIM_PATH_COLLECT];

        if (takes != 0 &&
            (core->flight.collectors[s] < core->config->registers_collectors || tim_replays(core)))
            return false;
        reasons |= (uint32_t)(!lsu && k->can[TIM_PATH_MEMORY] != 0) << TIM_STALL_LSU |
                  (uint32_t)(takes != 0) << TIM_STALL_COLLECTOR;
    }
    uint8_t nearest = (uint8_t)tim_suggest(reasons);
    if (k->nearest != nearest) {
        tim_flush_idle(core, s);
        k->nearest = nearest;
    }
    core->hot.idle[s]++;
    return true;
}
#include "timing/core/tim_send_priv.h"

#endif
