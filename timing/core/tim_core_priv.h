/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A core of the timing model. The cycles of a core have two models. The reference (or naive model) visits everything in
 * every cycle, in plain loops (timing/reference/tim_reference_core.c). The event-driven model, declared here, visits only
 * the warps and instructions that may have something to do. Both share the functions that act on one warp or one
 * instruction. docs/reference/timing-core.md gives the rules of a core and lists what the event-driven model skips.
 *
 * The functions of a cycle are in *_body.h files, all static. Each file that includes them defines `tim_kind`, the
 * kind of core for which it compiles them (tim_cycle_*.c, tim_reference_core.c).
 *
 * In the event-driven model each warp is in one of these states. Its stall reason does not change within a state:
 *
 *                 ready check: why can the next instruction not issue?
 *      RECHECK --+--> TIMED      a known time: stall count, fetch, sleep -----> at that cycle: RECHECK
 *       ^  ^     +--> CAN[path]  nothing, or capacity on its path -----------+-> no capacity: it stays in CAN
 *       |  |     +--> BLOCKED    a result, a barrier, a constant, ...        +-> capacity: READY for the policy
 *       |  |                                                                          |
 *       |  +---------------------------- it issues, and is touched <------------------+
 *       +-- tim_warp_touch(): the warp has changed, in any state
 *
 * RECHECK, TIMED and CAN are sets in struct tim_known; a BLOCKED warp is in none of them.
 *
 *   timing/decode/     properties of instructions
 *   tim_core.c         warps, blocks, packets; the core as mechanisms see it, and the warps that they throttle
 *   tim_tick_body.h    the phases of a cycle; tim_idle.c: cycles without a tick
 *   tim_fetch_body.h   instruction cache and buffers, constant operands, L0 caches
 *   tim_depend_body.h  scoreboard, dependency vectors, control field, wait counters, pending reads of operands
 *   tim_ready_body.h   the ready check: the split that runs, and the reason why it cannot issue
 *   tim_select_body.h  the ready warps, from the states above
 *   tim_issue_body.h   schedulers, issue; tim_form_body.h: lanes of several warps that issue together
 *   tim_window_body.h  Control, Allocate, register-file cache; tim_local_body.h: memory units of schedulers
 *   tim_tags_body.h    tagged registers: execution by one lane or the affine unit, compact entries
 *   tim_pipe_body.h    collectors, pipes, write-back; tim_flight_body.h: lists of instructions in flight
 *   tim_lsu_body.h     load/store unit, shared memory, L1, constant and texture caches
 *   tim_held.c         l1.coherent off: bytes of L1 that may be older than those of memory
 *   tim_replay.c       memory instructions that issue again for their remaining accesses
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
#include "timing/tables/tim_compress_priv.h"
#include "timing/tables/tim_formed_priv.h"
#include "timing/tables/tim_visits_priv.h"

enum {
    TIM_MAX_BUFFER = 16,
    TIM_MAX_VECTOR = 8, /* maximum number of entries of tim_warp.vector_reg; vector_used has a bit for each entry */
    TIM_WAKES = 32,
    TIM_NONE = 0xffffffff
};

/* ---- instructions in flight ------------------------------------------------------------------ */

enum tim_stage {
    TIM_STAGE_FREE,
    TIM_STAGE_COLLECT, /* some operands have not been read */
    TIM_STAGE_READY,   /* the last operand is read at the end of cycle `at`; the instruction waits for a pipe */
    TIM_STAGE_PIPE,    /* in a pipe: the result is available in cycle `at` */
    TIM_STAGE_LOCAL,   /* in the memory unit of its scheduler */
    TIM_STAGE_LSU,     /* in the load/store queue from cycle `at` on */
    TIM_STAGE_MEMORY,  /* all accesses are made; the instruction waits for their lines */
    TIM_STAGE_WRITE,   /* writes registers from cycle `at` on */
    TIM_STAGE_COMPANION, /* companion in a formed warp: it has the stage of the warp's leader */
    TIM_STAGE_COUNT
};
/** Cache or memory that serves an access. The state space of the lanes selects it. */
enum tim_access_kind { TIM_TO_SHARED, TIM_TO_GLOBAL, TIM_TO_LOCAL, TIM_TO_CONSTANT, TIM_TO_TEXTURE };
struct tim_op {
    /* enum tim_stage */
    _Alignas(64) uint8_t stage;
    uint8_t sched;
    uint8_t kind;   /* enum emu_access_kind */
    bool cached;    /* global loads: goes through L1 */
    bool bypasses;  /* cached loads: on a miss, the data is loaded from L2 without allocating a line of L1 */
    bool dual;      /* the instruction issued in the second issue slot of its cycle */
    uint8_t write_bar, read_bar; /* dependence barriers that its control field names, or 7 for none */
    uint8_t vector; /* issue.dependence vector: set of the entries of tim_warp.vector_reg that its results occupy */
    uint8_t interval; /* issue.compression: cycles for which the instruction occupies its pipe */
    uint16_t warp;
    uint16_t swizzle;  /* added to the number of a register before the register's bank is computed */
    uint32_t operands; /* set of vector registers not read yet: indexes into row_read */
    uint32_t writes;   /* set of vector registers not written yet: indexes into row_write */
    /* with tags: the registers that the instruction reads, and those that it writes, as compact entries */
    uint32_t compact_reads, compact_writes;
    uint32_t expands;  /* subset of `writes`: registers whose compact entry must first be expanded */
    uint32_t next;     /* next instruction in a list of tim_flight, or TIM_NONE if this instruction is the last */
    const struct tim_static *what;
    uint64_t lanes;    /* lanes of the split, for the scoreboard */
    uint64_t issued, age, at;
    uint64_t pc;
    uint64_t collecting_until; /* collector `reserved`: cycle in which the instruction's collector becomes free */
    /* memory instructions */
    uint64_t read_at;    /* lsu.local: cycle from which on other instructions may overwrite its sources, or 0 if not known yet */
    uint32_t rows_left;  /* lsu.local: set of address registers not read yet: indexes into row_read */
    int8_t read_after, result_after; /* cycles by which its reads and its result differ from the usual times of its kind */
    uint8_t number, exp_number; /* issue.dependence counters: its numbers, modulo 64, in struct tim_counted_ops */
    unsigned passes;     /* remaining passes over shared memory */
    unsigned line_count, line_next, lines_pending;
    uint64_t data_at;    /* cycle in which the last data of the instruction is available */
    uint64_t missed;     /* dws: lanes whose data comes from outside the core */
    uint64_t early, early_at; /* dws: lanes that get their results before the others, in cycle early_at, or 0 if there is none */
    struct tim_step *line; /* accesses of the instruction; the op's element of the pool owns the array */
    unsigned line_capacity;
    uint32_t packet, ride; /* packet: number of the instruction's packet, or 0 if none. ride: list in core->packets of the
                            * instructions that share this instruction's accesses */
    uint16_t rides; /* store or reduction: number of its accesses that other instructions of its packet have yet to make */
    bool follower;  /* the instruction is not the first of its packet, so it has no place in the load/store queue */
    uint8_t late;   /* cycles by which the instruction reads its registers later, besides tim_wake_cycles() */
    uint32_t near_reads, near_writes, slow_reads, slow_writes; /* members of struct tim_mech_upper, from the hook `upper` of a mechanism */
    uint32_t companion; /* formed warps: a leader has its first companion, and a companion the next one; TIM_NONE if none */
};
/** An access of an instruction, and the cache or memory that serves the access. */
struct tim_step {
    struct tim_line line;
    uint8_t to; /* enum tim_access_kind */
    uint8_t more; /* number of lanes of other instructions that share the access */
};

/* ---- warps ------------------------------------------------------------------------------------ */

struct tim_buffered {
    uint64_t arrives;    /* first cycle in which the instruction can issue */
    uint8_t vector;      /* issue.dependence vector: set of entries for which the instruction waits */
    uint8_t own;         /* set of entries that the instruction's results occupy */
    bool entered;        /* the instruction has been assigned its entries */
    bool constant;       /* the instruction has an operand in a constant bank */
    bool constant_requested, constant_there;
    bool constant_comes; /* the line of the constant has been requested; tim_constant_filled() will report its arrival */
};
/** A warp slot of the core and its warp. The members are in four parts, and each part starts a cache line of the host: stall
 *  reason; instruction buffer; state that issue, fetch and results change; pending register writes. */
struct tim_warp {
    _Alignas(64) bool used; /* the slot has a warp, or an ended warp with instructions in flight */
    bool ended;          /* all lanes have exited */
    bool reselect;       /* another split of the warp may have been selected; emu must be queried */
    bool launching;      /* a launch has set not_before */
    bool fetching;       /* the warp waits for a line of the instruction cache */
    uint8_t waits;       /* if split < 0: the reason (enum tim_stall) why no split can run */
    uint8_t buffered;    /* number of instructions in the buffer, which are consecutive from the pc on */
    uint8_t reason;       /* enum tim_stall: the latest stall reason */
    int16_t split;       /* the split that runs, or -1 if none can run */
    bool expands;        /* the expansion of tagged registers has set not_before */
    uint8_t read_bars;   /* subset of `bars`: barriers that have counted only operand reads since their count was 0 */
    uint8_t full_bars;   /* subset of `bars`: barriers at their maximum count; an instruction that would increment one waits */
    bool divided;        /* dws: split_lanes is only a part of the split, the lanes without pending results */
    uint16_t place;      /* bit index of the warp in the sets of struct tim_known */
    uint8_t bars;        /* set of dependence barriers b with bar[b] > 0 */
    uint8_t load_bars;   /* subset of `bars`: barriers whose last pending result is from a load */
    bool yields;         /* a yield bit has set not_before */
    uint8_t new_write, new_read; /* dependence barriers that the warp's last instruction incremented; the increments are
                                  * visible from cycle new_seen on */
    uint8_t hold_bar, hold_most; /* depbar.le: the warp does not issue from cycle hold_from on while bar[hold_bar] > hold_most */
    uint64_t pc, split_lanes;
    uint64_t sleep_until;
    uint64_t not_before; /* first cycle in which the warp may issue: end of a stall count, launch, expansion or yield */
    /* first cycles in which new_write and new_read are visible, and hold_bar is checked, or 0 if there is none */
    uint64_t new_seen, hold_from;
    uint64_t staged_until; /* collector `window`: last cycle with an instruction of the warp in Control or Allocate */
    const struct tim_static *head; /* the warp's next instruction; valid while the warp is in a set `can` */
    struct emu_warp *state; /* the warp in emu */
    _Alignas(64) struct tim_buffered buffer[TIM_MAX_BUFFER];
    _Alignas(64) const struct tim_code *code;
    uint64_t fetch_pc, fetch_from;
    uint64_t held; /* 1 + address of the instruction line that arrived for the warp, or 0; usable even after its eviction */
    uint64_t operand; /* constant.l0_bytes: 1 + address of the line for which its next instruction waits, or UINT64_MAX for any */
    uint64_t operand_held; /* 1 + address of the constant line that arrived for the warp */
    uint64_t refetch_at;  /* earliest cycle in which the warp may fetch at another pc, such as the target of a branch */
    unsigned in_flight, unread; /* number of its instructions in flight, and how many of these have not read all operands */
    unsigned writes_out; /* number of unanswered packets of its stores, reductions and atomics */
    uint16_t writing;    /* number of its stores, reductions and atomics that have accesses left to make */
    uint16_t missing;    /* number of lines and answers from outside the core for which its loads and atomics wait */
    uint16_t unqueued;   /* number of memory instructions that have not entered the load/store queue or, with replays, still have accesses */
    uint64_t memory_at;  /* collector `reserved`: cycle in which its last memory instruction enters its pipe */
    uint16_t block;      /* index of tim_block */
    uint16_t index;      /* index of the warp in its block */
    uint16_t split_count;
    uint16_t rows, rows_saved; /* with tags: numbers of the warp's registers stored as register rows, and as compact entries */
    uint8_t bar[6];      /* number of pending results or operand reads of each dependence barrier */
    /* dependences */
    /* Registers with a pending write. This member is not used if `lanes` or `bar` is used. */
    _Alignas(64) struct tim_registers to_come;
    uint64_t *lanes;     /* [ISA_REG_NUMBERS] lanes of the pending writes, or NULL if tim_keeps_lanes() is false */
    struct tim_registers by_load; /* registers whose last pending write is from a load */
    uint8_t vector_used;
    uint16_t vector_reg[TIM_MAX_VECTOR];
    uint8_t vector_span[TIM_MAX_VECTOR]; /* consecutive registers of each entry, from vector_reg on */
    uint8_t bloom[16];
    uint64_t age;        /* sequence number of the warp's assignment to the slot; an older warp has a smaller number */
};
struct tim_pipe { uint64_t free_at; };

/** Sets of the same 64 warps, one bit for each warp. They are adjacent in memory because a cycle reads most of them. A
 *  set may_... belongs to a phase of the cycle. It contains every warp for which the phase may have something to do, and
 *  possibly other warps. */
struct tim_sets {
    uint64_t reselect;             /* another split of the warp may have been selected */
    uint64_t may_fetch, may_ask;   /* the warp's buffer has space (may_fetch); the warp lacks a constant (may_ask) */
    uint64_t sleeps;               /* no split of the warp can run before its sleep in emu ends */
    uint64_t alive, at_barrier;    /* alive: exactly the warps with live lanes; at_barrier: exactly the warps
                                    * whose live lanes all wait at a barrier */
};
/** Every warp slot has a place: its bit index in the sets of struct tim_known. The warps of a scheduler have consecutive
 *  places, and the first of these is a multiple of 64. One struct tim_known describes 64 places. */
enum { TIM_WARP_SLOTS = 512 }; /* number of places: whole 64-bit words of places for each of TIM_MAX_SCHEDS schedulers */
struct tim_known {
    _Alignas(64) uint64_t recheck; /* the warp has changed since its last check */
    uint64_t timed;     /* the warp's stall reason holds until cycle `recheck_at` */
    uint64_t can[4];    /* for each enum tim_path: warps that can issue unless the path lacks capacity */
    /* The first struct tim_known of a scheduler holds the following members for all warps of the scheduler. */
    uint64_t recheck_min; /* minimum `recheck_at` of the warps in `timed` */
    uint32_t present;   /* set of stall reasons that at least one warp has */
    uint8_t nearest;    /* stall reason that the scheduler counted for its last slot without an issue */
    uint16_t direct;    /* set of units: all whose pipes warps of can[TIM_PATH_DIRECT] need, and possibly others */
};
/**
 * Cached results of ready checks. Code that changes a warp adds the warp to the sets may_.... A phase removes a warp
 * from its set if the phase has no work for the warp, and will have none unless the warp changes again. Each place is in
 * `recheck`, in `timed`, in one of `can`, or in none of them. In the last case the stall reason of the warp holds until
 * tim_warp_touch() is called. The reference does not use these results: it checks all warps in every phase.
 */
struct tim_hot {
    _Alignas(64) uint64_t over;    /* blocks whose warps have all ended */
    unsigned alive_count, at_barrier_count;
    struct tim_sets set[TIM_MAX_WARPS / 64]; /* set[0] and the members before it are in one cache line of the host */
    _Alignas(64) unsigned first[TIM_MAX_SCHEDS]; /* first place of each scheduler's warps */
    uint64_t idle[TIM_MAX_SCHEDS]; /* cycles without issue, of stall reason `nearest`, that the counters do not include yet */
    unsigned words, warp_words;    /* 64-bit words of one scheduler in a set of places; 64-bit words of a set of warps */
    unsigned count[TIM_MAX_SCHEDS]; /* number of each scheduler's warps */
    struct tim_known known[TIM_WARP_SLOTS / 64];
    uint16_t waiting[TIM_MAX_SCHEDS][TIM_STALL_COUNT]; /* number of warps with each stall reason */
    /* arrays indexed by place */
    bool live[TIM_WARP_SLOTS];         /* the warp has live lanes */
    uint64_t age[TIM_WARP_SLOTS], recheck_at[TIM_WARP_SLOTS];
    uint32_t changes; /* with tim_acts(): number of changes of `reason`, `missing` and `ended` of warps, modulo 2^32 */
};

/**
 * Instructions in flight, in one list for each event for which they can wait. A phase thus visits only the instructions
 * that it may advance. The reference does not use these lists: it checks all instructions (`live`) in every phase.
 * `ring` has a list for each of the next TIM_RING cycles. It contains the instructions that wait only for the cycle in
 * their member `at`. If `at` is TIM_RING cycles away or more, the instruction is in the list of an earlier cycle. In
 * that cycle the core moves the instruction to another list of the ring.
 */
enum { TIM_RING = 64 };
struct tim_aged {
    uint64_t age;
    uint32_t op;
    /* only in the list `wait`: pipes and scheduler of the instruction, and its entry of core->only_pipe */
    uint8_t pipes, sched;
    uint16_t only;
};
struct tim_flight {
    _Alignas(64) uint64_t ring_map; /* set of lists that are not empty */
    uint32_t free;
    unsigned collecting, ready, writing, entering;
    uint64_t pipes_at; /* no instruction of `wait` finds a free pipe before this cycle */
    /* Lists of instructions in flight, ordered by age. Each list has capacity for all instructions in flight. */
    struct tim_aged *collect; /* some operands have not been read */
    struct tim_aged *wait;    /* all operands have been read; the instruction waits for a pipe */
    struct tim_aged *write;   /* writes registers in this cycle */
    struct tim_aged *enter;   /* collector `reserved`: enters its pipe in this cycle */
    unsigned collectors[TIM_MAX_SCHEDS]; /* number of collectors in use */
    /* by cycle modulo TIM_RING: first instruction of the cycle's list; until then the instruction is in a pipe, waits to
     * write its registers, or has a reserved collector */
    uint32_t ring[TIM_RING];
};

/** Which blocks a core accepts: all, only blocks that return from a suspension (tim_suspend.c), or none. */
enum tim_closed { TIM_OPEN, TIM_CLOSED_NEW, TIM_CLOSED_ALL };

/** Counters that a tick of a core (the run of all its phases in a cycle) may increase even if it changes no other state. */
enum tim_idle_count { TIM_IDLE_ICNT, TIM_IDLE_L1, TIM_IDLE_COUNTS };
/** Counters that grow in each cycle by a value that seldom changes. */
enum tim_lasting { TIM_LASTS_ACTIVE, TIM_LASTS_WARPS, TIM_LASTS_BARRIER, TIM_LASTS_BUBBLE, TIM_LASTS_BUBBLE_ACTIVE, TIM_LASTS_COUNTS };

/** Answer of the engine to a core that asks whether the selected warp may issue (tim_core.refuses). */
enum tim_leave {
    TIM_MAY_ISSUE,
    TIM_STOPS, /* the run stops before the instruction issues */
    TIM_HELD   /* the warp may not issue while a debugger steps another one; the scheduler selects the next warp */
};

/** Checks by which the core determines whether the registers of an instruction are free: all checks, only the bits of the
 *  scoreboard, or only the dependence barriers. */
enum tim_operand_check { TIM_CHECK_ALL, TIM_CHECK_REGISTERS, TIM_CHECK_BARRIERS };

/** A core. The members that every cycle reads come first. */
struct tim_core {
    _Alignas(64) const struct tim_config *config;
    uint64_t now;            /* the current cycle, for instructions that read a clock */
    bool idle, poked;        /* poked: a block has arrived, or a launch for which a block waits has ended */
    bool moved;              /* the current tick changed more than counters */
    bool ticking;            /* a tick is running: its counts in `each` are not in `sums` yet */
    bool recount;            /* the amounts in `lasting` may have changed, so the end of the tick must compute them again */
    bool no_capacity;            /* an access of the core waits for space in the crossbar */
    bool has_packet;         /* the packet `packet` arrived while the core was idle */
    bool reference;          /* the reference is in use, in which the core is never idle */
    bool tracing;            /* the trace's window is open: all warps are checked in every cycle */
    bool quick;              /* cached results of ready checks are used; otherwise all warps are checked, as in the reference */
    /* The core may skip a scheduler whose warps cannot issue. Set if `quick` is set, each scheduler has one word of places,
     * and the model has no rotation, no separate queues and no mechanism with hook `cycle`. */
    bool passable;
    uint8_t operand_check;   /* enum tim_operand_check */
    bool addresses_only;     /* emu reports events in detail level EMU_EVENT_ADDRESSES */
    bool launch_waits;       /* some warp may wait at launch.sync */
    bool l1_stuck;           /* the head of the load/store queue cannot proceed before L1 receives a line */
    uint8_t l1_answer;       /* with l1_stuck: enum tim_cache_answer of the blocked access, whose line is l1_line */
    bool l1_misses;          /* the line of the queue's head is neither in L1 nor requested, and only crossbar space is missing */
    unsigned wakes;
    unsigned queued;         /* instructions of the load/store queue, and those that have issued and not reached it yet */
    unsigned replays;
    uint64_t l1_line;
    uint64_t head_at;        /* if queued is not 0: cycle in which the first instruction of the load/store queue reaches the queue */
    unsigned lsu_used;       /* number of memory instructions that have issued and not yet left the load/store unit */
    unsigned moving;         /* blocks whose state is being transferred */
    unsigned blocks;         /* number of resident blocks */
    unsigned fetch_next;     /* loose round robin: the first warp to consider */
    struct tim_ahead ahead;
    bool *any_poked;         /* points to the engine's flag, or to `poked` */
    /* the next cycle in which the engine must visit the core: the engine's variable, or tick_at_own. visits: NULL, or the engine's sets
     * of cores to visit. tim_core_visit() changes both. */
    uint64_t *tick_at;
    struct tim_visits *visits;
    /* cycles without a tick: tim_core_is_idle() */
    uint64_t crowded;        /* the core is ticked in every cycle up to this one, because a wake-up did not fit into
                              * wake_at */
    uint64_t due;            /* cycle in which the next tick changes something, if no event precedes it */
    uint64_t counted;        /* last idle cycle that `sums` includes */
    uint64_t each[TIM_IDLE_COUNTS]; /* counts of this tick; each idle cycle after the tick has the same counts */
    uint64_t sums[TIM_IDLE_COUNTS]; /* counts not yet in the counters: tim_core_account() */
    unsigned lasting[TIM_LASTS_COUNTS]; /* growth in each cycle from lasting_since on; not in the counters yet */
    uint64_t lasting_since;
    unsigned replays_wait[TIM_MAX_SCHEDS]; /* replays that wait for a slot of the scheduler */
    struct tim_flight flight;
    struct tim_hot hot;      /* cached results of ready checks: tim_warp_touch() */
    uint64_t wake_at[TIM_WAKES]; /* cycles in which memory has an answer or space for the core, ascending */
    struct tim_memory *memory;
    struct tim_core_stats *stats; /* borrowed from the engine */
    struct emu_core *emu;
    struct tim_trace *trace; /* NULL if there is no trace; it records blocks even while its window is closed */
    struct tim_warp *warp;   /* [config->core_warps] */
    struct tim_block *block; /* [config->core_blocks] */
    struct tim_op *op;       /* pool of instructions in flight */
    uint32_t *queue;         /* load/store queue: ops in order or, if a mechanism orders them, with the head first */
    struct tim_side side[TIM_SIDES]; /* lsu.separate: the queues of shared memory and of scalar loads */
    struct tim_counters *counters; /* [config->core_warps] wait counters with issue.dependence counters, else NULL */
    uint64_t *bank_free;     /* collector `reserved`: first cycle in which each bank is free */
    uint64_t *bank_at;       /* [sched][bank] 1 + the last cycle in which the bank was used */
    bool has_tags;           /* emu's registers have tags */
    struct tim_entries *entries; /* registers.tags: ports of compact entries, or NULL if all registers are register rows */
    unsigned rows, rows_saved; /* with tags: registers of resident warps that are register rows, and that are compact entries */
    /* rows and rows_saved in the cycles from rows_since on, which the counters do not contain yet */
    unsigned rows_then, saved_then;
    uint64_t rows_since;     /* first cycle that counters register_rows and register_rows_saved do not include */
    unsigned bank_mask;      /* number of banks of a scheduler minus 1 if the number of banks is a power of two; else 0 */
    int fetch_follows[TIM_MAX_SCHEDS]; /* fetch.policy greedy: the value of tim_sched.last before this cycle's issue */
    struct tim_local local[TIM_MAX_SCHEDS];
    unsigned local_next;     /* scheduler whose memory unit has priority */
    unsigned reads; /* number of ops whose `read_at` is in the future; reads_next is a lower bound of these `read_at` */
    uint64_t reads_next;
    uint64_t early_next; /* dws: lower bound of `early_at` of all ops */
    uint64_t shared_at;      /* lsu.local: first cycle in which the load/store unit accepts another instruction */
    struct tim_mechs mechs;  /* enabled mechanisms */
    uint64_t picks_at[TIM_MAX_SCHEDS]; /* 1 + the last cycle in which the core called tim_mechs_pick() for the scheduler */
    struct tim_window *window; /* [schedulers] with registers.collector window, else NULL */
    struct tim_window_bank *window_banks;
    uint64_t op_age;
    uint32_t op_count;       /* number of entries of `op` that have been used at least once; later entries are fresh */
    unsigned live_count;
    struct tim_sched sched[TIM_MAX_SCHEDS];
    struct tim_cache *icache, *l1, *constant, *texture; /* texture is NULL if textures are in l1 */
    struct tim_locality *locality; /* classes of hits and misses of L1, or NULL if l1.classes is off */
    struct tim_held *held;   /* with l1.coherent off: bytes that L1 holds, else NULL */
    struct tim_pipe *pipe[ISA_UNIT_COUNT];
    struct tim_pipe *pipes;  /* pipes of all units */
    uint16_t only_pipe[ISA_UNIT_COUNT][TIM_MAX_SCHEDS]; /* 1 + index in `pipes` of the unit's only pipe, or 0 if it has several */
    unsigned interval[ISA_UNIT_COUNT]; /* cycles for which a vector instruction occupies a pipe */
    unsigned unmoved;        /* issue.rotate: consecutive ticks that changed nothing, since the stall reason of a warp last changed */
    /* issue.types: the types of the instructions that issued in this cycle, one bit for each enum tim_type; and the warps
     * that issued, one bit for each place of the scheduler (bit 0 is its first place) */
    unsigned types_issued;
    uint64_t issued_now[TIM_MAX_WARPS / 64];
    struct tim_formed *formed; /* the formed warp that issues in this slot, or NULL if no mechanism forms warps */
    unsigned issued_warp;    /* warp of the last issue, for the second slot of dual issue */
    unsigned issued_lanes;   /* number of lanes of the split that issued */
    const struct tim_static *issued_what;
    uint64_t launch_cycles;  /* if the last instruction was a launch: cycles for which its warp does not issue */
    uint32_t slept;          /* nanoseconds of the last nanosleep */
    unsigned index;
    /* Callbacks of the engine. `refuses`: returns whether the warp may issue now; a breakpoint may prevent this. `ended`:
     * reports that a block has ended. */
    enum tim_leave (*refuses)(void *context, struct tim_core *core, unsigned warp);
    void (*ended)(void *context, const struct tim_core *core, const struct tim_block *block);
    /* `leaves`: reports that a block is about to leave. Returns false if memory is too short to record the block; the
     * block then stays. `left`: reports that a block has left. */
    bool (*leaves)(void *context);
    void (*left)(void *context, struct emu_grid *grid);
    void *context;
    uint32_t *waiters;       /* buffer for the waiters of one line */
    struct tim_replay *replay; /* [lsu_queue] replays in the order of their arrival */
    const struct emu_machine *machine;
    unsigned warps, threads, registers, shared_bytes; /* resources in use */
    struct tim_front *front; /* L0 caches, or NULL if fetch.l0_bytes is 0 */
    /* constant.l0_bytes: after a miss of a constant operand of warp switch_for (-1 if there is none), the scheduler issues
     * nothing before cycle switch_at. When the line for that warp arrives earlier, the core sets switch_at to that cycle. */
    uint64_t switch_at[TIM_MAX_SCHEDS];
    int switch_for[TIM_MAX_SCHEDS];
    uint8_t *readers;        /* [warp][256] with issue.war counters: number of pending reads of each vector register, else NULL */
    uint64_t *lanes;         /* storage of tim_warp.lanes for all warps, or NULL */
    uint64_t assigned;       /* number of warps assigned to slots so far: the age of the latest warp */
    struct tim_suspended *suspended; /* suspended blocks, sorted by the time at which they left the core */
    unsigned suspended_count;
    size_t suspended_capacity, op_capacity, live_capacity;
    uint32_t *live;          /* instructions in flight in age order */
    uint64_t tick_at_own;
    struct tim_sharing sharing[TIM_SHARES];
    struct tim_packet packet;
    struct tim_packets *packets; /* packets of memory instructions, or NULL if no mechanism makes packets */
    uint64_t issue_at[TIM_MAX_SCHEDS]; /* issue.lanes: first cycle in which the scheduler may issue */
    uint64_t lag;            /* current cycle of clock clocks.core minus the current cycle of the core's own clock */
    struct tim_domain *domain; /* the core's own clock (timing/clocks/), or NULL if the core runs on clocks.core */
    enum tim_closed closed;
};
struct tim_core *tim_core_create(const struct tim_config *config, struct emu_machine *machine, struct tim_memory *memory,
                                 struct tim_core_stats *stats, unsigned index);
void tim_core_destroy(struct tim_core *core);
/** Makes @core use the cache of cores[0] instead of its own. @cores: the @count cores that share the cache, with @core. */
void tim_core_share(struct tim_core *core, enum tim_sharing_of what, struct tim_core **cores, unsigned count);
/** Returns whether a block of @grid fits on the core now. */
bool tim_core_fits(const struct tim_core *core, const struct emu_grid *grid);
/** Returns whether a block of @grid fits now, if the limit for suspended blocks is ignored. */
bool tim_core_has_capacity(const struct tim_core *core, const struct emu_grid *grid);
/** Returns whether a block of @grid fits on an empty core. If not, @err has the reason. */
enum lw_status tim_core_could_fit(const struct tim_config *config, const struct emu_grid *grid,
                                  struct lw_error *err) LW_MUST_CHECK;
enum lw_status tim_core_occupy(struct tim_core *core, struct emu_grid *grid, uint64_t linear,
                              const struct tim_code *code, struct lw_error *err) LW_MUST_CHECK;
/**
 * Returns true if no phase of cycle @now would change anything but counters; the caller then runs no phase. If a tick
 * changed nothing else, each later tick counts the same until cycle `due`, or until a packet, a block or a wake-up arrives.
 * These ticks are skipped. For each skipped tick, the counts of the last tick are added to the counters, so the counters are
 * exact. A tick that could have been skipped changes no result.
 */
bool tim_core_is_idle(struct tim_core *core, uint64_t now);
/** Records that memory has an answer or space for the core in @cycle. */
void tim_core_wake(struct tim_core *core, uint64_t cycle);
/** Removes the recorded wake-ups for cycles up to @now. */
void tim_core_drop_wakes(struct tim_core *core, uint64_t now);
/** Updates the counters of the core to the end of cycle @through. */
void tim_core_account(struct tim_core *core, uint64_t through);
/** Called at the end of a tick. Sets core->lasting: amounts that each cycle from @now on adds to the counters (tim_lasting). */
void tim_core_last_on(struct tim_core *core, unsigned warps, unsigned at_barrier, uint64_t now);
/** For models with tags: adds the numbers of registers in use to the counters, for the cycles before @before. */
void tim_core_account_rows(struct tim_core *core, uint64_t before);
/** Result of one issue slot. */
enum tim_step_result {
    TIM_STEP_DONE,  /* the scheduler issues nothing more in this cycle */
    TIM_STEP_ISSUED /* an instruction was issued: see the event; call again for the next slot */
};
/** Fills in core->mechs.core, through which mechanisms access the core. Called before the mechanisms are created. */
void tim_core_show_mechanisms(struct tim_core *core, struct tim_core_stats *stats);
/** Sets the current cycle for reports of the mechanisms. This is necessary because an idle core does not update the cycle that
 *  its mechanisms see. */
static inline void tim_core_show(struct tim_core *core, uint64_t now)
{
    core->mechs.core.now = now;
}
/** Returns the mechanism that would throttle the warp if the warp were ready, or NULL if there is none. */
struct tim_mech *tim_core_holder(const struct tim_core *core, unsigned warp);
/** Removes the warps of scheduler @s that a mechanism throttles in this cycle from the set @ready. Returns true if any. */
bool tim_core_hold(struct tim_core *core, unsigned s, uint64_t *ready);
/** Returns whether the core has work in progress, so that its state will change without an event from outside. */
bool tim_core_is_busy(const struct tim_core *core, uint64_t now);

/* ---- properties of a core ---------------------------------------------------------------------------- */

/**
 * A kind of core. The functions of a cycle (*_body.h) are compiled once for each of six kinds: four that fit the shipped
 * GPU models, one for all other models, and the reference. Each file that includes the functions defines `tim_kind`
 * as a constant, so the compiler removes code that the kind never uses. With one kind for all models, gemm, bfs,
 * reduce and hist execute 6 to 11 % more instructions (callgrind). In other files `tim_kind` is zero, and the
 * predicates below read the core.
 */
struct tim_kind {
    bool reference;
    bool fixed; /* the members below are constants of the kind, which tim_cycle_of() checks against the configuration */
    uint8_t operand_check;  /* enum tim_operand_check */
    uint8_t dependence, collector; /* values of issue.dependence and registers.collector */
    bool modern; /* all features of `ampere`, such as issue.control_stage, are present; false, with `fixed`: none is */
    bool acts;   /* a mechanism may do more than throttle warps and observe (tim_acts_of()) */
};
static const struct tim_kind tim_kind;

/** Returns whether a mechanism may do more than throttle warps and observe issues, accesses and blocks. */
static inline bool tim_acts(void)
{
    return !tim_kind.fixed || tim_kind.acts;
}
/** Returns whether a mechanism of the core does more than throttle warps and observe. */
static inline bool tim_acts_of(const struct tim_core *core)
{
    const struct tim_mechs *m = &core->mechs;

    return m->every_cycle || m->registers || m->touches || m->reaches || m->cycle || m->chooses != NULL || m->fetches != NULL || m->orders != NULL ||
           core->packets != NULL;
}

/** Returns whether cached results of ready checks are used. Otherwise every cycle checks all warps, as in the
 *  reference. */
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
/** Returns the first place of scheduler @s's warps. */
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
static inline bool tim_has_mechanisms(const struct tim_core *core)
{
    return core->mechs.count != 0;
}
/** Returns whether a mechanism orders the load/store queue. */
static inline bool tim_orders(const struct tim_core *core)
{
    return tim_acts() && core->mechs.orders != NULL;
}
/** Returns whether lanes of a split may run ahead of lanes that wait for a load. */
static inline bool tim_divides(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->dws_on;
}
/** Returns whether lanes of several warps may issue together. */
static inline bool tim_forms(const struct tim_core *core)
{
    return !tim_kind.fixed && core->formed != NULL;
}
/** Returns whether a mechanism makes packets of memory instructions. */
static inline bool tim_has_packets(const struct tim_core *core)
{
    return tim_acts() && core->packets != NULL;
}
static inline enum tim_operand_check tim_operand_check(const struct tim_core *core)
{
    return (enum tim_operand_check)(tim_kind.fixed ? tim_kind.operand_check : core->operand_check);
}
/** Returns whether the scoreboard records the lanes of each pending write. If not, it allows only one pending write for
 *  each register, so that one bit for each register suffices. */
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
/** Returns whether each scheduler fetches for the warp that issued last if possible (fetch.policy greedy). */
static inline bool tim_fetches_greedily(const struct tim_core *core)
{
    return (!tim_kind.fixed || tim_kind.modern) && core->config->fetch_policy == TIM_FETCH_GREEDY;
}
/** Returns whether each scheduler has an L0 instruction cache. */
static inline bool tim_has_levels(const struct tim_core *core)
{
    return (!tim_kind.fixed || tim_kind.dependence == TIM_DEP_CONTROL) && core->front != NULL;
}
static inline bool tim_has_operands(const struct tim_core *core)
{
    return (!tim_kind.fixed || tim_kind.modern) && core->config->constant_l0_bytes != 0;
}
static inline bool tim_has_tags(const struct tim_core *core)
{
    return !tim_kind.fixed && core->has_tags;
}
/** Returns whether tagged registers are stored as compact entries. */
static inline bool tim_has_entries(const struct tim_core *core)
{
    return !tim_kind.fixed && core->entries != NULL;
}
/** Returns whether each scheduler has its own memory unit, which passes instructions on to the core's load/store unit. */
static inline bool tim_has_local(const struct tim_core *core)
{
    return tim_kind.fixed ? tim_kind.modern : core->config->lsu_local != 0;
}
/** Returns whether shared memory and scalar loads have their own queues. */
static inline bool tim_separate(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->lsu_separate;
}
/** Returns whether wait counters of the warp count memory instructions. */
static inline bool tim_counts(const struct tim_core *core)
{
    return !tim_kind.fixed && core->counters != NULL;
}
/** tim_rotates() returns whether only one scheduler issues in each cycle, in rotation. tim_types() returns whether the
 *  instructions that a scheduler issues in a cycle must differ in type, and be of different warps. */
static inline bool tim_rotates(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_rotate;
}
static inline bool tim_types(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_types;
}
/** With issue.rotate: returns whether cycle @now belongs to a scheduler other than @s. */
static inline bool tim_passes(const struct tim_core *core, unsigned s, uint64_t now)
{
    return tim_rotates(core) && now % core->config->issue_schedulers != s;
}
/** Returns whether instructions of fixed latency reserve their register reads in a window of cycles. */
static inline bool tim_windowed(const struct tim_core *core)
{
    return tim_collector(core) == TIM_COLLECTOR_WINDOW;
}
/** Returns whether an instruction of a wide warp occupies its scheduler for several cycles. */
static inline bool tim_issues_by_lanes(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_lanes != 0;
}
/** Returns whether an instruction of a wide warp with inactive lanes takes fewer cycles. */
static inline bool tim_compresses(const struct tim_core *core)
{
    return !tim_kind.fixed && core->config->issue_compression != TIM_COMPRESS_NONE;
}
/** Returns whether stage Control is occupied, so that scheduler @s issues nothing in cycle @now. */
static inline bool tim_control_taken(const struct tim_core *core, unsigned s, uint64_t now)
{
    return tim_windowed(core) && now < core->window[s].control_at;
}
/** Returns the reason why scheduler @s may issue nothing in cycle @now, even if warps are ready, or TIM_STALL_ISSUED
 *  if there is none. */
static inline enum tim_stall tim_issue_stops(const struct tim_core *core, unsigned s, uint64_t now)
{
    if (tim_control_taken(core, s, now))
        return TIM_STALL_OPERANDS;
    if (tim_issues_by_lanes(core) && now < core->issue_at[s])
        return TIM_STALL_UNIT;
    return tim_has_operands(core) && now < core->switch_at[s] ? TIM_STALL_SWITCH : TIM_STALL_ISSUED;
}
/** Returns whether an instruction increments its dependence barriers in stage Control, after its issue. */
static inline bool tim_control_stage(const struct tim_core *core)
{
    return tim_kind.fixed ? tim_kind.modern : core->config->issue_control_stage;
}
/** Returns whether tim_core_idles() may skip a scheduler without a check of its warps: `passable` is set, without replays. */
static inline bool tim_brisk(const struct tim_core *core)
{
    return !tim_acts() || (core->passable && (tim_kind.fixed || core->replays == 0));
}
/** Functions of a cycle, for one kind of core. */
struct tim_cycle {
    /** Runs the phases before issue. Returns the first scheduler that may issue, or the number of schedulers if none
     *  may. Schedulers before the returned one have used their slots. */
    unsigned (*begin)(struct tim_core *core, uint64_t now);
    /** Runs issue slot @slot (0 or 1) of scheduler @s in cycle @now. If the engine refuses the selected warp
     *  because of a breakpoint, nothing changes and *stopped is set. The engine repeats the call when the run continues. */
    enum lw_status (*issue)(struct tim_core *core, unsigned s, unsigned slot, uint64_t now,
                            struct emu_event *ev, enum tim_step_result *result, bool *stopped,
                            struct lw_error *err);
    /** Runs the phases after issue. Determines whether the core becomes idle. */
    void (*end)(struct tim_core *core, uint64_t now);
};
extern const struct tim_cycle tim_cycle_any, tim_cycle_scoreboard, tim_cycle_scoreboard_acts, tim_cycle_control,
    tim_cycle_modern;
/** Returns the reason why the warp cannot issue in cycle @now, or TIM_STALL_PICKED if it can. The function does not consider
 *  which warp the scheduling policy picks. */
enum tim_stall tim_stall_reason(const struct tim_core *core, const struct tim_warp *w, unsigned sched,
                                uint64_t now);
/** Implements could_issue of tim_mech_core; @core is a struct tim_core. */
bool tim_could_issue(const void *core, unsigned warp);
/** Selects the reference or the event-driven model. Called once, before the first cycle. Returns false if the host has no
 *  memory. */
bool tim_core_set_model(struct tim_core *core, bool reference) LW_MUST_CHECK;
/** Opens or closes the window of the trace, between two cycles. A trace records every warp in every cycle, so the
 *  core checks all warps while the window is open, and is never idle. */
void tim_core_set_tracing(struct tim_core *core, bool tracing);
/** Returns the functions for the kind of @core. Its configuration and model must be final. */
const struct tim_cycle *tim_cycle_of(const struct tim_core *core);

static inline unsigned tim_sched_of(const struct tim_core *core, unsigned warp)
{
    return tim_kind.fixed ? core->warp[warp].place / 64u : warp % core->config->issue_schedulers;
}
static inline const struct tim_static *tim_head(const struct tim_warp *w)
{
    return &w->code->insn[(w->pc - w->code->base) / ISA_WORD_BYTES];
}
/** Returns lw_popcount(@lanes). The function is fast if all lanes of the warp are set, which is usual. */
static inline unsigned tim_count_lanes(const struct tim_core *core, uint64_t lanes)
{
    unsigned width = core->config->core_warp_width;

    return lanes == lw_mask(width) ? width : lw_popcount(lanes);
}
/** Sets or clears the bit of @warp. @set: the word of a set of struct tim_sets that contains the bit. */
static inline void tim_set(uint64_t *set, unsigned warp, bool in)
{
    uint64_t bit = UINT64_C(1) << warp % 64;

    *set = in ? *set | bit : *set & ~bit;
}
static inline bool tim_in(uint64_t set, unsigned warp)
{
    return set >> warp % 64 & 1;
}
/** Returns the words of the sets that contain @warp. */
static inline struct tim_sets *tim_sets_of(struct tim_core *core, unsigned warp)
{
    return &core->hot.set[warp / 64];
}
/** Returns the warp at @place, a place of scheduler @s. */
static inline unsigned tim_warp_at(const struct tim_core *core, unsigned s, unsigned place)
{
    return (place - tim_first(core, s)) * core->config->issue_schedulers + s;
}
/** Returns whether any warp is in set `reselect` or, if @sleeping, in set `sleeps`. tim_any_fetches() returns whether any
 *  warp is in set may_fetch or may_ask. */
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
/** Kinds of changes of a warp, one bit each. Each comment says what has changed and, after the colon, what must be repeated. */
enum tim_touch {
    TIM_TOUCH_STALL = 1,    /* the warp's stall reason may have changed: a ready check */
    TIM_TOUCH_RESULT = 2,   /* a result arrived or operands were read: a ready check if the warp waits for registers */
    TIM_TOUCH_SPLIT = 4,    /* another split of the warp may run: emu must be queried */
    TIM_TOUCH_FETCH = 8,    /* the warp's buffer has space, or the warp fetches at another pc */
    TIM_TOUCH_CONSTANT = 16, /* an instruction of the warp's buffer may lack a constant */
    TIM_TOUCH_MEMORY = 32   /* a memory access was queued or answered: a ready check if the warp waits for accesses */
};
/** Reports a change of a warp: @changed is a set of enum tim_touch. All code that changes a warp must call this function.
 *  The reference does not need the report, because it checks all warps in every cycle. */
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
/** Sets whether all live lanes of a warp wait at a barrier. */
static inline void tim_set_at_barrier(struct tim_core *core, unsigned warp, bool waits)
{
    if (tim_in(tim_sets_of(core, warp)->at_barrier, warp) == waits)
        return;
    core->hot.at_barrier_count += waits ? 1 : -1u;
    core->recount = true;
    tim_set(&tim_sets_of(core, warp)->at_barrier, warp, waits);
}
/** Adds the core's current numbers of rows and of compact entries to their histograms. Called after a change of a number. */
static inline void tim_count_rows(struct tim_core *core)
{
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_register_rows], core->rows);
    tim_histogram_add(&core->stats->histogram[TIM_CORE_H_register_rows_saved], core->rows_saved);
}
static inline void tim_stage(struct tim_op *op, enum tim_stage stage)
{
    op->stage = (uint8_t)stage;
}
/** Grows the pool of instructions in flight. Returns false if memory is short. */
bool tim_ops_grow(struct tim_core *core);
/** Initialises entry @i for a new instruction in flight. */
static inline void tim_op_init(struct tim_core *core, uint32_t i)
{
    struct tim_op *op = &core->op[i];

    op->stage = TIM_STAGE_FREE;
    op->kind = 0;
    op->cached = false;
    op->operands = op->writes = op->near_reads = op->near_writes = op->slow_reads = op->slow_writes = op->late = 0;
    op->age = ++core->op_age;
    op->at = op->collecting_until = op->data_at = op->read_at = 0;
    op->passes = op->line_count = op->line_next = op->lines_pending = 0;
    op->missed = op->early_at = 0;
    op->read_after = op->result_after = 0;
    op->companion = TIM_NONE;
    if (tim_has_packets(core)) { /* otherwise no code reads these members */
        op->packet = 0;
        op->rides = 0;
        op->follower = false;
        op->ride = TIM_NO_LINK;
    }
    core->live_count++;
}
/** Returns the oldest instruction in flight that is younger than @age, or NULL if there is none. Ages start at 1. */
const struct tim_op *tim_op_after(const struct tim_core *core, uint64_t age);
/** Assigns warp slots and resources to a block, whose state is in slot @slot of emu. If @moves_in is set, the block was
 *  suspended, and its warps wait until its state has been read from memory. */
void tim_core_seat(struct tim_core *core, struct emu_grid *grid, uint64_t linear, unsigned slot,
                   const struct tim_code *code, bool moves_in);
/** Frees the warp slots and resources of a block. */
void tim_core_unseat(struct tim_core *core, unsigned block);
/** Returns the address that the caches of constants use for an offset in a constant bank. */
uint64_t tim_constant_address(const struct emu_grid *grid, uint64_t bank_offset);
/** Returns whether register @reg has a pending write. tim_is_by_load() returns whether the last such write is from a load. */
static inline bool tim_is_to_come(const struct tim_warp *w, unsigned reg)
{
    return (w->to_come.word[reg / 64] >> reg % 64 & 1) != 0 ||
           (w->lanes != NULL && w->lanes[reg] != 0);
}
static inline bool tim_is_by_load(const struct tim_warp *w, unsigned reg)
{
    return w->by_load.word[reg / 64] >> reg % 64 & 1;
}
/** Returns the count of dependence barrier @b that an instruction sees if it issues in cycle @now. The count does not
 *  include an increment by the warp's last instruction before cycle new_seen. */
static inline unsigned tim_bar_seen(const struct tim_core *core, const struct tim_warp *w, unsigned b, uint64_t now)
{
    if (!tim_control_stage(core) || now >= w->new_seen)
        return w->bar[b];
    return w->bar[b] - (w->new_write == b) - (w->new_read == b);
}
/** Returns the set of dependence barriers whose count (tim_bar_seen) is above 0. */
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
/** Returns the dependence barriers for which the control field makes the instruction wait: those of its wait mask,
 *  those at their maximum that the instruction would increment, and the one by which depbar.le holds the warp. */
static inline unsigned tim_bars_waited(const struct tim_core *core, const struct tim_warp *w,
                                       const struct tim_static *what, uint64_t now)
{
    unsigned waits = (what->control.wait_mask & tim_bars_seen(core, w, now)) | (what->takes_bars & w->full_bars);

    if (w->hold_from != 0 && w->hold_from <= now && tim_bar_seen(core, w, w->hold_bar, now) > w->hold_most)
        waits |= 1u << w->hold_bar;
    return waits;
}
/** Returns the first cycle after @now in which time alone changes the set of tim_bars_waited(), or UINT64_MAX if none. */
static inline uint64_t tim_bars_change(const struct tim_core *core, const struct tim_warp *w, uint64_t now)
{
    if (tim_control_stage(core) && now < w->new_seen) /* new_seen is no later than hold_from */
        return w->new_seen;
    return w->hold_from > now ? w->hold_from : UINT64_MAX;
}
_Static_assert(TIM_STALL_COUNT <= 32, "a bit for each stall reason");

/** Sets the stall reason of a warp of scheduler @s. */
static inline void tim_set_stall(struct tim_core *core, unsigned s, struct tim_warp *w,
                                 enum tim_stall reason)
{
    uint16_t *waiting = core->hot.waiting[s];
    uint32_t *present = &core->hot.known[tim_first(core, s) / 64].present;
    uint8_t before = w->reason;

    if (before == reason)
        return;
    w->reason = (uint8_t)reason;
    core->hot.changes += tim_acts();
    if (--waiting[before] == 0)
        *present &= ~(UINT32_C(1) << before);
    waiting[reason]++;
    *present |= UINT32_C(1) << reason;
}
/** Sets whether the warp has live lanes in emu. */
static inline void tim_set_alive(struct tim_core *core, unsigned warp, bool alive)
{
    tim_set_at_barrier(core, warp, false);
    core->hot.live[core->warp[warp].place] = alive;
    if (tim_in(tim_sets_of(core, warp)->alive, warp) == alive)
        return;
    tim_set(&tim_sets_of(core, warp)->alive, warp, alive);
    core->hot.alive_count += alive ? 1 : -1u;
    core->recount = true;
    if (core->mechs.count != 0)
        tim_mechs_warp(&core->mechs, warp, core->warp[warp].age, alive);
}
/** Sets *@first to the first pipe of @unit that scheduler @s may use, and *@step to the distance to the next one. */
static inline void tim_pipes_of(const struct tim_config *c, unsigned unit, unsigned s, unsigned *first,
                     unsigned *step)
{
    unsigned pipes = c->unit[unit].pipes, schedulers = c->issue_schedulers;

    *first = s % pipes;
    *step = pipes <= schedulers ? pipes : schedulers;
}
/** Returns the pipe of @unit that becomes free first, among the pipes that scheduler @s may use. If several pipes become free
 *  in the same cycle, returns the one with the lowest index. */
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
/** Returns the cycle from which on a pipe of @unit is free for scheduler @s. */
static inline uint64_t tim_pipe_free_at(const struct tim_core *core, unsigned unit, unsigned s)
{
    return tim_best_pipe((struct tim_core *)core, unit, s)->free_at;
}
/** Adds the idle issue slots that hot.idle has collected for scheduler @s to the counters. */
static inline void tim_flush_idle(struct tim_core *core, unsigned s)
{
    struct tim_hot *hot = &core->hot;

    for (unsigned slot = 0; slot < tim_width(core); slot++)
        core->stats->sched[s].reason[slot][hot->known[tim_first(core, s) / 64].nearest] += hot->idle[s];
    hot->idle[s] = 0;
}
/** Counts @cycles in which scheduler @s issues nothing because issue.rotate gives them to other schedulers. */
static inline void tim_count_rotation(struct tim_core *core, unsigned s, uint64_t cycles)
{
    for (unsigned slot = 0; slot < tim_width(core); slot++)
        core->stats->sched[s].reason[slot][TIM_STALL_ROTATION] += cycles;
}
/** Counts this cycle as one in which scheduler @s issues nothing, for @reason. */
static inline void tim_count_idle(struct tim_core *core, unsigned s, enum tim_stall reason)
{
    struct tim_known *k = &core->hot.known[tim_first(core, s) / 64];

    if (k->nearest != reason) {
        tim_flush_idle(core, s);
        k->nearest = (uint8_t)reason;
    }
    core->hot.idle[s]++;
}
#include "timing/core/tim_send_priv.h"
#endif
