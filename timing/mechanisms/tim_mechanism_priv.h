/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most mechanisms throttle warps of a core: the scheduler selects among the other warps. Some mechanisms decide which loads get a
 * line of L1, or which instruction of the load/store queue makes the next access. Some only count events. A mechanism is an
 * entry of tim_mechanisms[], defined in its own file. It has a section of keys, state on each core, and hooks. A core calls
 * the hooks at their events, in the order of the phases of a cycle. The core contains no code for a particular mechanism.
 *
 *              block, warp_begins, waits, warp_ends            access, evict, issues, bypasses
 *   core ------------------------------------------> mechanism <-------------------- load/store unit, issue
 *   hooks with an input and a result:
 *     picks, holds   ready warps of a scheduler -> warps that may issue; the others have stall reason `throttled`
 *     next           if no event happens: the cycle before which no result of `holds` changes
 *     cycle          ready warps of all schedulers, before the first scheduler selects a warp
 *     fetches        fetch phase of a cycle -> warps that fetch together
 *
 * Both models of a core call the same hooks in the same order, with one exception. The event-driven model does not
 * call `cycle`, `picks` and `holds` in cycles before `next` in which nothing has changed.
 */
#ifndef TIM_MECHANISM_PRIV_H
#define TIM_MECHANISM_PRIV_H

#include "timing/decode/tim_static_priv.h"
#include "timing/tables/tim_reach_priv.h"

enum { TIM_MAX_WARPS = 256, TIM_MECHANISMS_MOST = 32, TIM_GAUGES = 2, TIM_CHOICE_OF_POLICY = -2 };

/** Returns whether the instruction is a load of global or local memory that may go through L1. CCWS and DAWS throttle
 *  such loads. */
static inline bool tim_is_data_load(const struct tim_static *what)
{
    return what->type == TIM_TYPE_MEMORY && what->path == TIM_PATH_MEMORY && what->load && !what->writes &&
           !what->uncached && !what->texture && !what->to_constant;
}

/** State of a warp slot, which tim_mech_core.look gives to a mechanism. */
struct tim_mech_warp {
    bool used, ended;  /* used: the slot has a warp; ended: all lanes of the warp have exited */
    uint8_t reason;    /* enum tim_stall: the latest stall reason */
    bool misses;       /* the warp waits for data from outside the core */
    uint64_t age;      /* an older warp has a smaller age */
    unsigned splits;   /* number of splits of the warp, if a split runs */
    uint64_t pc, lanes; /* pc and lanes of the split that runs; if no split runs, lanes is 0 */
    const struct tim_code *code;
    const struct tim_static *next; /* next instruction, or NULL if no split runs */
};
/** Sets of warps of a scheduler that cannot issue soon; a warp is in at most one of them. */
struct tim_mech_away {
    uint64_t gone;   /* the warp has ended, or the slot is empty */
    uint64_t memory; /* the warp waits for memory outside the core */
    uint64_t others; /* the warp waits at a barrier, for a launch, or sleeps */
};
/** Data of a core that its mechanisms may read, and functions of the core that they may call. */
struct tim_mech_core {
    const struct tim_config *config;
    uint64_t *count;                    /* counters of the core, by TIM_CORE_... */
    struct tim_histogram *histogram;    /* histograms of the core, by TIM_CORE_H_... */
    uint64_t now;                       /* the current cycle */
    uint64_t over;                      /* hook `account` must count the cycles before this cycle */
    struct tim_mech *ccws;              /* mechanism ccws of the core, or NULL if it is off */
    const struct tim_reach *slices;     /* predicted accesses of launches, or NULL if no mechanism needs them */
    void (*look)(const void *context, unsigned warp, struct tim_mech_warp *out);
    /** Sorts warps of scheduler @sched. Bit i of @set and of the result is the warp in the scheduler's slot 64 * @word + i. */
    struct tim_mech_away (*away)(const void *context, unsigned sched, unsigned word, uint64_t set);
    /** Returns a number that differs from its last value if a result of `away` may have changed, except by the start of a
     *  warp. The number overflows. */
    uint32_t (*changes)(const void *context);
    /** Returns the next instruction of a warp that is ready. */
    const struct tim_static *(*next)(const void *context, unsigned warp);
    /** Returns whether any split of the warp has its pc in [from, to]. */
    bool (*inside)(const void *context, unsigned warp, uint64_t from, uint64_t to);
    /** Gets the access vector of the warp, computed from the address slices of its kernel. Returns false if the kernel has
     *  no address slices. */
    bool (*reach)(const void *context, unsigned warp, struct tim_reach_vector *out);
    /** Returns the index of the warp's block among the core's blocks. */
    unsigned (*block_of)(const void *context, unsigned warp);
    /** Returns whether the warp's next instruction can issue, without regard to capacity and mechanisms. */
    bool (*could_issue)(const void *context, unsigned warp);
    /** Gets all splits of the warp; @views has EMU_MAX_LANES elements. Returns their number. */
    unsigned (*views)(const void *context, unsigned warp, struct emu_split_view *views);
    /** Returns the live lanes of the warp. */
    uint64_t (*live)(const void *context, unsigned warp);
    /** Returns whether a source or result of @what has a pending write in any of @lanes; the model has issue.split_lanes. */
    bool (*pending)(const void *context, unsigned warp, uint64_t lanes, const struct tim_static *what);
    /** Returns the number of free MSHRs of L1, or UINT_MAX if the core has no L1. */
    unsigned (*free_mshrs)(const void *context);
    /** Returns whether the core's queue to the crossbar has space for a packet. Only hook `cycle` may call this function. */
    bool (*can_send)(const void *context);
    /** Makes the warp select its split again at the end of the cycle. Only hook `cycle` may call this function. */
    void (*reselect)(const void *context, unsigned warp);
    const void *context;
};
/** A warp instruction that has issued. */
struct tim_mech_issue {
    unsigned warp, lanes; /* slot; number of lanes of the split */
    uint64_t mask;        /* set of these lanes */
    uint64_t pc;
    const struct tim_static *what;
    const struct tim_code *code;
    uint64_t instruction; /* memory instructions: the same number as `instruction` of their accesses (tim_mech_access) */
};
/** Sets of vector registers that an instruction does not read or write in the usual way. The bits are indexes into row_read
 *  and row_write. `reads` and `writes`: the registers are not read from, or written to, a bank of the register file. */
struct tim_mech_upper {
    uint32_t reads, writes;
    uint32_t slow_reads, slow_writes; /* registers that are read, and written, in slow register rows (prf.slow, prf.busy) */
    uint8_t late; /* cycles by which the instruction reads its registers later */
};
/** An instruction that may issue in the same cycle as another instruction of its scheduler, on other lanes (hook `pairs`). */
struct tim_mech_second {
    unsigned warp;
    uint64_t lanes, pc;
    uint64_t age;   /* age of the warp; an older warp has a smaller age */
    const struct tim_static *what;
    bool same_warp; /* the instruction is of another split of the warp whose instruction has issued */
};
/** A block that arrives on the core or leaves it. */
struct tim_mech_block {
    unsigned place; /* index of the block among the core's blocks, while it is on the core */
    const struct emu_grid *grid;
    uint64_t linear;
    unsigned arrays; /* number of elements of `range`, or 0 if the kernel has no address slices or the block leaves */
    struct emu_rect range[TIM_REACH_ARRAYS]; /* lines that the block will access in each array, by the address slices */
};
/** An access of an instruction to a line through L1. */
struct tim_mech_access {
    unsigned warp;
    uint64_t pc, line;
    const struct tim_code *code;
    unsigned lanes;     /* number of active lanes of the instruction */
    unsigned index, count; /* index of the access among the accesses of the instruction; number of these accesses */
    uint64_t instruction; /* number of the instruction, which is different for each executed instruction */
    bool hit, merge;    /* hit: L1 has the line; merge: the line has already been requested; if both are
                         * false, the access misses */
    unsigned owner;     /* for a hit: slot of the warp that requested the line */
};

/** Result of tim_mech_fetch.fetch. */
enum tim_mech_fetched {
    TIM_FETCHED_NOT,  /* no fetch: the warps cannot fetch now, or the cache cannot serve the fetch */
    TIM_FETCHED_NEAR, /* only for a single warp with fetch.l0_bytes: the fetch used the L0 cache of the warp's scheduler */
    TIM_FETCHED       /* the fetch used the instruction cache of the core */
};
/** Functions of the core for the hook `fetches`. Each function acts on a set of warps: bit m of @members stands for the warp in
 *  slot @first + m. Warps of the set that do not have the lowest fetch pc of the set are ignored. */
struct tim_mech_fetch {
    const void *context;
    bool levels;           /* each scheduler has its own L0 instruction cache */
    unsigned ports;        /* number of fetches per cycle that the instruction cache of the core accepts */
    const uint64_t *may;   /* set of slots that contains all warps that can fetch now, and possibly other warps */
    /** Returns whether the warps can fetch now. */
    bool (*wants)(const void *context, unsigned first, uint64_t members);
    /** Fetches once for the warps. The instructions are added to the buffers of all of them. */
    enum tim_mech_fetched (*fetch)(const void *context, unsigned first, uint64_t members);
};

/** Warp slots, sorted by age, oldest first. A zeroed list is empty. */
struct tim_mech_list {
    unsigned count;
    uint16_t warp[TIM_MAX_WARPS];
    uint64_t age[TIM_MAX_WARPS]; /* age of the warp in each slot, which the caller sets before it adds the slot */
};
void tim_mech_list_add(struct tim_mech_list *list, unsigned warp);
void tim_mech_list_remove(struct tim_mech_list *list, unsigned warp);

/** A mechanism on one core. The state of each mechanism begins with this struct. */
struct tim_mech {
    const struct tim_mechanism *row;
    const struct tim_mech_core *core;
    /** In cycles before this cycle the mechanism throttles no warp and its hook `picks` changes nothing, so the core calls neither
     *  `picks` nor `holds`. Hooks of events set it to 0 if that may change. The reference calls the hooks in any case. */
    uint64_t idle_until;
};
struct tim_mechanism {
    const char *name;    /* name of the mechanism and of its section of keys; key `on` of the section enables it */
    const char *summary; /* one-line description of the mechanism */
    bool (*is_on)(const struct tim_config *config);
    /** Creates the state of the mechanism on @core, whose counters exist already. The caller sets `row` and `core`. Returns
     *  NULL if memory is short. */
    struct tim_mech *(*create)(const struct tim_mech_core *core);
    void (*destroy)(struct tim_mech *mech);
    /** Called once, after the mechanism has been created on all @cores cores: @mech is the mechanism on each of them. */
    void (*joins)(struct tim_mech *const *mech, unsigned cores);
    /* Hooks. A hook that the mechanism does not need is NULL. */
    /** Called when a block arrives on the core (@begins is true) or leaves it. @launch: sequence number of the block's launch. */
    void (*block)(struct tim_mech *mech, uint64_t launch, bool begins);
    /** Called when a block has arrived on the core, before `warp_begins` for its warps, or (@begins is false) when it
     *  leaves. */
    void (*resides)(struct tim_mech *mech, const struct tim_mech_block *block, bool begins);
    void (*warp_begins)(struct tim_mech *mech, unsigned warp, uint64_t age);
    void (*warp_ends)(struct tim_mech *mech, unsigned warp);
    /** Called when all live lanes of a warp begin or end a wait at a barrier of the block or for their launches. Not
     *  called when a waiting warp ends. */
    void (*waits)(struct tim_mech *mech, unsigned warp, bool begins);
    void (*issues)(struct tim_mech *mech, const struct tim_mech_issue *issue);
    /** Called when the issued instruction @what has read its vector registers. Not called for instructions without vector sources
     *  (except with lsu.local) and for those that read none of them from banks (tim_reads_later()). */
    void (*reads)(struct tim_mech *mech, unsigned warp, const struct tim_static *what);
    /** Called when the issued instruction @what has written its results. Not called for instructions that end at issue. */
    void (*writes)(struct tim_mech *mech, unsigned warp, const struct tim_static *what);
    /** Called once per cycle, after all calls of `reads` and `writes` of the cycle, and before any scheduler selects a warp. In
     *  cycles that the event-driven model skips, no mechanism and no block on the core changes. */
    void (*counts)(struct tim_mech *mech);
    /** Called after `issues`. Sets @out, which is zeroed, to the register accesses of the instruction that do not use a bank
     *  of the register file in the usual way. At most one mechanism has this hook. */
    void (*upper)(struct tim_mech *mech, const struct tim_mech_issue *issue, struct tim_mech_upper *out);
    /** Called when an instruction accesses a line of global memory, whether the access goes through L1 or not. */
    void (*touches)(struct tim_mech *mech, unsigned warp, uint64_t line);
    void (*access)(struct tim_mech *mech, const struct tim_mech_access *access);
    /** Called when a load that may go through L1 issues. Returns whether its accesses that miss bypass L1: they load from
     *  L2 without a line of L1. */
    bool (*bypasses)(struct tim_mech *mech, unsigned warp, uint64_t pc);
    /** Called when L1 evicts a line to make space for another. @owner: slot of the warp that requested the evicted line. */
    void (*evict)(struct tim_mech *mech, uint64_t line, unsigned owner);
    /** Called when a store or an atomic removes @line from L1. If @line is UINT64_MAX, all lines of global memory have been
     *  removed. */
    void (*drop)(struct tim_mech *mech, uint64_t line);
    /** Called before the scheduler selects a warp, if only registers or capacity can prevent the issue of the warp's next
     *  instruction @next at @pc. Called in the first such cycle, and possibly again in later ones. */
    void (*reaches)(struct tim_mech *mech, unsigned warp, uint64_t pc, const struct tim_static *next);
    /* Packets: memory instructions that pass the load/store unit together (timing/mem/tim_packets_priv.h). At most one
     * mechanism of a GPU model has these hooks. */
    /** Called when memory instruction @what of the warp has issued. Returns the number of its packet, which no other packet
     *  of the core has, or 0 if the instruction joins no packet. Sets *together to whether all members get their loaded data
     *  in the cycle in which the last data arrives. */
    uint32_t (*packet)(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together);
    /** Returns whether more instructions may join the packet; without the hook, none may. The load/store unit begins the
     *  packet only when it is closed. If an event other than an issue closes a packet, `picks` returns true. */
    bool (*open)(struct tim_mech *mech, uint32_t packet);
    /** Returns whether the warp's next instruction will join a packet that already has a place in the load/store queue; without
     *  the hook, none will. The hook must not change state. */
    bool (*follows)(struct tim_mech *mech, unsigned warp);
    /** If true, all memory instructions of a cycle form one packet, so `follows` gives the same result for all warps. The
     *  members of a packet then access shared memory and constants as one wide instruction. If false, each member accesses
     *  shared memory and constants separately. */
    bool packets_are_wide;
    /** Updates the counters of the mechanism. */
    void (*account)(struct tim_mech *mech);
    /** Called when the pc or the selected split of a warp may have changed for a reason other than an issue. */
    void (*flows)(struct tim_mech *mech, unsigned warp);
    /** Called once per cycle, before any scheduler selects a warp. @ready: for each scheduler the set of its warps that can
     *  issue, as for `picks`. Returns true if the state of the mechanism has changed. */
    bool (*cycle)(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64]);
    /** Makes the fetches of a cycle, instead of fetch.policy. At most one enabled mechanism may have this hook. */
    void (*fetches)(struct tim_mech *mech, const struct tim_mech_fetch *phase);
    /** Called once per cycle, before scheduler @sched selects a warp. @ready: set of its warps that can issue; the bit of a
     *  warp is its slot divided by the number of schedulers. Returns true if the state of the mechanism has changed. */
    bool (*picks)(struct tim_mech *mech, unsigned sched, const uint64_t *ready);
    bool every_cycle; /* `picks` is also called if no warp is ready */
    /** Returns whether the mechanism throttles a ready warp, whose next instruction is @next. The hook must not change
     *  state. */
    bool (*holds)(struct tim_mech *mech, unsigned warp, const struct tim_static *next);
    /** Does the work of `holds` for all ready warps of scheduler @sched in one call: removes the warps that the mechanism
     *  throttles from @ready, which is as for `picks`. Returns true if it removed a warp. If this hook is NULL, the
     *  core calls `holds` for each warp. */
    bool (*holds_of)(struct tim_mech *mech, unsigned sched, uint64_t *ready);
    /** Selects the ready warp of scheduler @sched that issues, instead of issue.policy. Returns the warp's bit in @ready,
     *  -1 if no warp issues, or TIM_CHOICE_OF_POLICY if issue.policy selects the warp. A call must not change the results
     *  of later calls. At most one enabled mechanism may have this hook. */
    int (*chooses)(struct tim_mech *mech, unsigned sched, const uint64_t *ready);
    /** Selects the instruction of the load/store queue that makes the next access. @warp[@count]: the warps of the
     *  instructions in the queue, the oldest instruction first. Returns an index in @warp. The answer depends only on @warp.
     *  At most one mechanism has this hook. */
    unsigned (*orders)(struct tim_mech *mech, const uint16_t *warp, unsigned count);
    /** Returns the number of entries of the re-execution queue (timing/core/lsu/tim_reexecute_body.h), or 0 if there is no queue.
     *  Called once, after `create`. At most one mechanism has this hook, and that mechanism has hook `may_miss`. */
    unsigned (*reexecutes)(const struct tim_mech *mech);
    /** With a re-execution queue: returns whether a load of the warp may send a request to L2 now. */
    bool (*may_miss)(const struct tim_mech *mech, unsigned warp);
    /** Called after an instruction has issued. Selects which of @second[@count] issues in the same cycle, on other lanes.
     *  Returns its index, or -1 if none issues. At most one mechanism has this hook, and no mechanism that has it forms
     *  warps. */
    int (*pairs)(struct tim_mech *mech, const struct tim_mech_second *second, unsigned count);
    /* Formed warps: lanes of several warps that issue together (timing/tables/tim_formed_priv.h). A mechanism has
     * either both hooks or neither, and must make packets. At most one mechanism has them. */
    /** Returns which of @lanes, a split of the warp at the pc of the warp @leader, issue together with the leader. The result
     *  must contain no lane of @taken, which has the lanes of the leader and of the other splits that issue with the
     *  leader. */
    uint64_t (*accompanies)(struct tim_mech *mech, unsigned leader, unsigned warp, uint64_t lanes, uint64_t taken);
    /** Selects the split of a warp, of @views[@count], that may lead. @selected: id of the split that emu has
     *  selected. Returns the id of a ready split. *lanes is set to all lanes; the hook may remove lanes that do not lead. */
    int (*selects)(struct tim_mech *mech, unsigned warp, const struct emu_split_view *views, unsigned count, int selected, uint64_t *lanes);
    /** Returns a cycle after @since before which no result of `holds` changes if no event happens. @since is the current
     *  cycle, or an earlier cycle after which no event has happened. If this hook is NULL, only events change
     *  the results. */
    uint64_t (*next)(struct tim_mech *mech, uint64_t since);
    /** Called when the selected warp may not issue because a debugger steps another warp. */
    void (*refused)(struct tim_mech *mech, unsigned warp);
    /** Returns whether the mechanism throttles the warp for as long as no other warp acts. */
    bool (*is_stuck)(struct tim_mech *mech, unsigned warp);
    /** Prints why a warp is throttled, such as "score 212, ...", without a line end. */
    void (*why)(struct tim_mech *mech, unsigned warp, struct lw_sink *out);
    /** Sets *value and *name for gauge @index, a number that a trace shows over time. Returns false if the mechanism has no
     *  gauge with this index. */
    bool (*gauge)(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value);
    /** Prints the tables of the mechanism, line by line. */
    void (*show)(struct tim_mech *mech, struct lw_sink *out);
    /** Prints the mechanism's part of a report: tables as text or, if @json, a member of the JSON report, `"name": value`.
     *  @mech: the mechanism on each of the @cores cores. */
    void (*report)(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out);
};
/** All mechanisms, in the order in which their hooks are called. */
extern const struct tim_mechanism *const tim_mechanisms[];
extern const size_t tim_mechanism_count;
extern const struct tim_mechanism tim_swl, tim_pools, tim_ccws, tim_daws, tim_belady, tim_loads, tim_dwr, tim_vws,
    tim_la_w, tim_shares, tim_family, tim_pcal, tim_reuse, tim_equalizer, tim_mrpb, tim_dwf, tim_tbc, tim_rows, tim_orf,
    tim_prf, tim_regless, tim_lwm, tim_mascar, tim_interweave, tim_dynpcal;

/** Queue of loads whose next access could not be made. */
enum { TIM_REEXECUTION_MOST = 256 };
struct tim_reexecution {
    struct tim_mech *mech; /* the mechanism that has the queue */
    unsigned size, used; /* number of entries, one for each access; number of entries in use */
    unsigned count; /* number of loads */
    bool goes_next; /* the first load of the queue, not the load/store queue, makes the access of the next cycle */
    uint32_t op[TIM_REEXECUTION_MOST]; /* [count] indexes of instructions in flight; the first one is the next to access L1 */
};
/** The enabled mechanisms of one core. A zeroed struct has no mechanisms. "A mechanism" below is an enabled mechanism. */
struct tim_mechs {
    unsigned count;
    bool every_cycle; /* a mechanism has hook `cycle` or `fetches`, or needs `picks` even if no warp is ready */
    bool reaches;     /* a mechanism has hook `reaches` */
    bool picks;       /* a mechanism has hook `picks` */
    bool calls_all;   /* `picks` and `holds` are called even before tim_mech.idle_until */
    bool picks_every_cycle; /* a mechanism needs `picks` even if no warp is ready */
    struct tim_mech *packets; /* the mechanism that makes packets, or NULL if there is none */
    bool touches, resides; /* a mechanism has the hook of the same name */
    bool registers;   /* a mechanism has hook `reads`, `writes`, `counts` or `upper` */
    bool bypasses;    /* a mechanism has hook `bypasses` */
    bool cycle;       /* a mechanism has hook `cycle` */
    struct tim_mech *fetches; /* the mechanism that has hook `fetches`, or NULL if there is none */
    struct tim_mech *chooses; /* the mechanism that has hook `chooses`, or NULL if there is none */
    struct tim_mech *upper;   /* the mechanism that has hook `upper`, or NULL if there is none */
    struct tim_mech *orders;  /* the mechanism that has hook `orders`, or NULL if there is none */
    struct tim_mech *forms;   /* the mechanism that has hook `accompanies` or `pairs`, or NULL if there is none */
    struct tim_reexecution *reexecution; /* owned; NULL if there is no such queue */
    /** Arguments of the last call of hook `cycle`. In the same cycle they can be reused to select a warp, if the issues of
     *  other schedulers have not changed them. */
    struct tim_mechs_query {
        bool lasts;       /* an issue can change `ready` of other schedulers only because it takes a place in the load/store
                           * queue or, if `shares_pipes` is set, a pipe */
        bool shares_pipes; /* schedulers share pipes */
        uint64_t at;      /* 1 + the cycle of the call */
        unsigned lsu_used; /* value of tim_core.lsu_used at the call */
        uint64_t ready[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64]; /* ready warps of each scheduler, without regard to mechanisms */
        /* by scheduler: the stall reason (enum tim_stall) that an issue slot counts if no warp is selected, without regard
         * to mechanisms */
        uint8_t nearest[TIM_MAX_SCHEDS];
    } query;
    struct tim_mech *mech[TIM_MECHANISMS_MOST];
    uint64_t live[TIM_MAX_WARPS / 64], waits[TIM_MAX_WARPS / 64]; /* sets of the slots of live and of waiting warps */
    uint64_t shown[TIM_MECHANISMS_MOST][TIM_GAUGES]; /* 1 + the last value of each gauge in the trace, or 0 if there is none */
    struct tim_mech_core core;
};
/** Creates the enabled mechanisms; @mechs->core must be filled in. Returns false if memory is short. The caller must call
 *  tim_mechs_fini() in any case. */
bool tim_mechs_init(struct tim_mechs *mechs);
void tim_mechs_fini(struct tim_mechs *mechs);

/* Each of the following functions calls a hook of all enabled mechanisms that have it. At least one mechanism must be
 * enabled. */
void tim_mechs_block(struct tim_mechs *mechs, uint64_t launch, bool begins);
void tim_mechs_warp(struct tim_mechs *mechs, unsigned warp, uint64_t age, bool begins);
void tim_mechs_reside(struct tim_mechs *mechs, const struct tim_mech_block *block, bool begins);
void tim_mechs_touch(struct tim_mechs *mechs, unsigned warp, uint64_t line);
/** What limited the warps of a core in the last epoch, according to mechanism equalizer. */
enum tim_bound { TIM_BOUND_NONE, TIM_BOUND_MEMORY, TIM_BOUND_COMPUTE };
enum tim_bound tim_equalizer_bound(const struct tim_mechs *mechs);
/** Sets whether the warp waits at a barrier or for its launches. Calls hook `waits` if that has changed. */
void tim_mechs_wait(struct tim_mechs *mechs, unsigned warp, bool begins);
void tim_mechs_issue(struct tim_mechs *mechs, const struct tim_mech_issue *issue);
void tim_mechs_read(struct tim_mechs *mechs, unsigned warp, const struct tim_static *what);
void tim_mechs_write(struct tim_mechs *mechs, unsigned warp, const struct tim_static *what);
void tim_mechs_count(struct tim_mechs *mechs);
void tim_mechs_reach(struct tim_mechs *mechs, unsigned warp, uint64_t pc, const struct tim_static *next);
void tim_mechs_access(struct tim_mechs *mechs, const struct tim_mech_access *access);
/** Returns whether any mechanism makes the load bypass L1. Calls the hook of all mechanisms that have it. */
bool tim_mechs_bypass(struct tim_mechs *mechs, unsigned warp, uint64_t pc);
void tim_mechs_evict(struct tim_mechs *mechs, uint64_t line, unsigned owner);
void tim_mechs_drop(struct tim_mechs *mechs, uint64_t line);
void tim_mechs_refuse(struct tim_mechs *mechs, unsigned warp);
/** Returns the mechanism whose hook `is_stuck` returns true for the warp, or NULL if there is none. */
struct tim_mech *tim_mechs_stuck(const struct tim_mechs *mechs, unsigned warp);
void tim_mechs_account(struct tim_mechs *mechs);
/** Records in the trace the gauges of core @core that have changed. @now: a cycle of clocks.core. */
void tim_mechs_trace(struct tim_mechs *mechs, struct tim_trace *trace, unsigned core, uint64_t now);
void tim_mechs_flow(struct tim_mechs *mechs, unsigned warp);
bool tim_mechs_cycle(struct tim_mechs *mechs, const uint64_t (*ready)[TIM_MAX_WARPS / 64]);
bool tim_mechs_pick(struct tim_mechs *mechs, unsigned sched, const uint64_t *ready);
/** Returns whether the re-execution queue has loads. */
static inline bool tim_mechs_reexecute(const struct tim_mechs *mechs)
{
    return mechs->reexecution != NULL && mechs->reexecution->count != 0;
}
extern const uint64_t tim_no_warps[TIM_MAX_WARPS / 64]; /* an empty set of ready warps */
/** Returns whether more instructions may join @packet of the mechanism with packets. */
static inline bool tim_mech_is_open(struct tim_mech *mech, uint32_t packet)
{
    return mech->row->open != NULL && mech->row->open(mech, packet);
}
/** Returns whether the next instruction of @warp will join a packet in the load/store queue. */
static inline bool tim_mech_follows(struct tim_mech *mech, unsigned warp)
{
    return mech->row->follows != NULL && mech->row->follows(mech, warp);
}
/** Hook `packet` of mechanisms that form warps: the accesses of all lanes of a formed warp are coalesced together, and get their
 *  data in the same cycle. A scheduler issues at most one formed warp in a cycle. */
uint32_t tim_mech_formed_packet(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together);
/** Returns the warp slot for bit @bit of word @word in a set of warps of scheduler @sched, such as the ready warps that hook
 *  `picks` gets. */
static inline unsigned tim_mech_slot(const struct tim_config *config, unsigned sched, unsigned word, unsigned bit)
{
    return (word * 64 + bit) * config->issue_schedulers + sched;
}
/** Gets the vector registers that live lanes of the warp, in any split, may still read. The code must have liveness. Returns
 *  false if the warp has no live lane. */
bool tim_mech_live(const struct tim_mech_core *core, unsigned warp, struct tim_vectors *out);
/** Returns the mechanism that throttles the warp, or NULL if no mechanism does. */
struct tim_mech *tim_mechs_holder(const struct tim_mechs *mechs, unsigned warp, const struct tim_static *next);
uint64_t tim_mechs_next(const struct tim_mechs *mechs, uint64_t since);
/** Returns whether `picks` and `holds` of the mechanism have no effect in this cycle and need not be called. */
static inline bool tim_mech_is_idle(const struct tim_mechs *mechs, const struct tim_mech *mech)
{
    return mechs->core.now < mech->idle_until && !mechs->calls_all;
}

#endif
