/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mechanisms hold warps of a core back; the scheduler selects among the others. Some decide which loads get a line
 * of L1 instead. A mechanism is an entry of
 * tim_mechanisms[], defined in its own file. It has a section of keys, state on each core, and hooks. A core calls
 * the hooks at their events, in the order of the phases of a cycle. The core contains no code of a mechanism.
 *
 *              block, warp_begins, waits, warp_ends            access, evict, issues, bypasses
 *   core ------------------------------------------> mechanism <-------------------- load/store unit, issue
 *     ready warps of a scheduler -- picks, holds --> warps that may issue; the slots of the others are `throttled`
 *     no event -- next --> the cycle before which no answer changes
 *     ready warps of all schedulers -- cycle --> called before the first scheduler selects a warp
 *     fetch phase of a cycle -- fetches --> warps that fetch together
 *
 * Both models of a core call the same hooks in the same order, with one exception. The event-driven model does not
 * call `cycle`, `picks` and `holds` in cycles before `next` in which nothing has changed.
 */
#ifndef TIM_MECHANISM_PRIV_H
#define TIM_MECHANISM_PRIV_H

#include "timing/decode/tim_static_priv.h"
#include "timing/tables/tim_reach_priv.h"

enum { TIM_MAX_WARPS = 256, TIM_MECHANISMS_MOST = 14, TIM_GAUGES = 2 };

/** Returns whether the instruction is a load of global or local memory that may go through L1. CCWS and DAWS throttle
 *  such loads. */
static inline bool tim_is_data_load(const struct tim_static *what)
{
    return what->type == TIM_TYPE_MEMORY && what->path == TIM_PATH_MEMORY && what->load && !what->writes &&
           !what->uncached && !what->texture && !what->to_constant;
}

/** State of a warp slot, which a mechanism may query. */
struct tim_mech_warp {
    bool used, ended;  /* the slot has a warp; all its lanes have exited */
    uint8_t reason;    /* enum tim_stall: the latest stall reason */
    bool misses;       /* the warp waits for data from outside the core */
    uint64_t age;      /* an older warp has a smaller age */
    uint64_t pc, lanes; /* pc and lanes of the split that runs; lanes 0: no split runs */
    const struct tim_code *code;
    const struct tim_static *next; /* next instruction; NULL: no split runs */
};
/** The view of a core that its mechanisms have. */
struct tim_mech_core {
    const struct tim_config *config;
    uint64_t *count;                    /* counters of the core, by TIM_CORE_... */
    struct tim_histogram *histogram;    /* histograms of the core, by TIM_CORE_H_... */
    uint64_t now;                       /* the current cycle */
    uint64_t assigned;                  /* number of warps ever assigned */
    uint64_t over;                      /* `account`: the first cycle that the counters need not include */
    const struct tim_reach *slices;     /* the launches' slices; NULL: no mechanism needs them */
    void (*look)(const void *context, unsigned warp, struct tim_mech_warp *out);
    /** Returns whether a live lane is at a pc of [from, to], in the split that runs or in any other. */
    bool (*inside)(const void *context, unsigned warp, uint64_t from, uint64_t to);
    /** Gets the lines that the warp will access according to the slices of its kernel. Returns false if the kernel has
     *  no slices. */
    bool (*reach)(const void *context, unsigned warp, struct tim_reach_vector *out);
    /** Returns the index of the warp's block among the core's blocks. */
    unsigned (*block_of)(const void *context, unsigned warp);
    /** Returns whether the warp's next instruction could issue if capacity and mechanisms are ignored. */
    bool (*could_issue)(const void *context, unsigned warp);
    const void *context;
};
/** A warp instruction that has issued. */
struct tim_mech_issue {
    unsigned warp, lanes; /* slot; number of lanes of the split */
    uint64_t pc;
    const struct tim_static *what;
    const struct tim_code *code;
    uint64_t instruction; /* memory instructions: the number of the instruction in tim_mech_access */
};
/** A block on the core. */
struct tim_mech_block {
    unsigned place; /* index of the block among the core's blocks, while it is on the core */
    const struct emu_grid *grid;
    uint64_t linear;
    unsigned arrays; /* number of arrays whose lines the block will access, according to slices of its kernel; 0: the
                      * kernel has no slices */
    struct emu_rect range[TIM_REACH_ARRAYS];
};
/** An access of an instruction that loads a line through L1. */
struct tim_mech_access {
    unsigned warp;
    uint64_t pc, line;
    const struct tim_code *code;
    unsigned lanes;     /* number of active lanes of the instruction */
    unsigned index, count; /* index among the accesses of the instruction; their number */
    uint64_t instruction; /* a unique number for each instruction */
    bool hit, merge;    /* hit: L1 has the line; merge: the line has already been requested; neither: a miss */
    unsigned owner;     /* hit: slot of the warp that brought the line */
};

/** Interface for a mechanism in the fetch phase of a cycle. Warps that fetch together have slots from @first on;
 *  @members has a bit for each. */
enum tim_mech_fetched {
    TIM_FETCHED_NOT,  /* no warp has buffer space, or the cache cannot serve the fetch now */
    TIM_FETCHED_NEAR, /* only for a single warp with fetch.l0_bytes: the fetch read the cache of the warp's scheduler,
                       * or missed there and requested the line */
    TIM_FETCHED       /* the fetch read the instruction cache of the core */
};
struct tim_mech_fetch {
    const void *context;
    bool levels;           /* each scheduler has its own instruction cache */
    unsigned ports;        /* fetches per cycle that the instruction cache of the core accepts */
    const uint64_t *may;   /* superset of the slots whose buffers have space */
    /** Returns whether any of the warps has buffer space now. If several warps run, only those with the lowest fetch
     *  pc count. */
    bool (*wants)(const void *context, unsigned first, uint64_t members);
    /** Fetches for the warps. The instructions are added to the buffers of all warps with the lowest fetch pc. */
    enum tim_mech_fetched (*fetch)(const void *context, unsigned first, uint64_t members);
};

/** Warp slots, sorted by age, oldest first. A zeroed list is empty. */
struct tim_mech_list {
    unsigned count;
    uint16_t warp[TIM_MAX_WARPS];
    uint64_t age[TIM_MAX_WARPS]; /* by slot; the caller sets it before it adds the slot */
};
void tim_mech_list_add(struct tim_mech_list *list, unsigned warp);
void tim_mech_list_remove(struct tim_mech_list *list, unsigned warp);

/** A mechanism on one core. Its own state follows this header. */
struct tim_mech {
    const struct tim_mechanism *row;
    const struct tim_mech_core *core;
};
struct tim_mechanism {
    const char *name;    /* name of its section of keys; the key `on` of that section enables it */
    const char *summary; /* one-line description of the mechanism */
    bool (*is_on)(const struct tim_config *config);
    /** Creates its state on @core; the counters of @core exist already. Returns NULL without memory. The caller
     *  fills in `row` and `core`. */
    struct tim_mech *(*create)(const struct tim_mech_core *core);
    void (*destroy)(struct tim_mech *mech);
    /* Hooks; NULL: the mechanism does not need this hook. */
    void (*block)(struct tim_mech *mech, uint64_t launch, bool begins); /* launch: sequence number of the launch */
    /** @begins: the block has arrived on the core, and none of its warps has begun. Otherwise the block leaves the
     *  core. */
    void (*resides)(struct tim_mech *mech, const struct tim_mech_block *block, bool begins);
    void (*warp_begins)(struct tim_mech *mech, unsigned warp, uint64_t age);
    void (*warp_ends)(struct tim_mech *mech, unsigned warp);
    /** Called when all live lanes of a warp begin or end a wait at a barrier of the block or for their launches. Not
     *  called when a waiting warp ends. */
    void (*waits)(struct tim_mech *mech, unsigned warp, bool begins);
    void (*issues)(struct tim_mech *mech, const struct tim_mech_issue *issue);
    /** Called when an instruction accesses a line of global memory, through L1 or not. */
    void (*touches)(struct tim_mech *mech, unsigned warp, uint64_t line);
    void (*access)(struct tim_mech *mech, const struct tim_mech_access *access);
    /** Called when a load that may go through L1 issues. Returns whether the lines that L1 does not have then, for
     *  accesses of this load, are loaded from L2 without a line of L1. */
    bool (*bypasses)(struct tim_mech *mech, unsigned warp, uint64_t pc);
    /** Called when L1 evicts a line to make space for another. @owner: slot of the warp that brought the line. */
    void (*evict)(struct tim_mech *mech, uint64_t line, unsigned owner);
    /** Called when a store or an atomic removes a line from L1. UINT64_MAX: all lines of global memory are removed. */
    void (*drop)(struct tim_mech *mech, uint64_t line);
    /** Called before the scheduler selects a warp, when the warp's next instruction @next, at @pc, is in its buffer, so
     *  that only registers or capacity can prevent its issue. The hook is called in the first such cycle and possibly
     *  in later ones. */
    void (*reaches)(struct tim_mech *mech, unsigned warp, uint64_t pc, const struct tim_static *next);
    /* Packets: memory instructions that pass the load/store unit together (timing/mem/tim_packets_priv.h). A mechanism
     * has all three hooks or none. At most one mechanism of a GPU model has them. */
    /** Returns the number of the packet to which memory instruction @what of the warp belongs; the instruction has just
     *  issued. Numbers are unique; 0: no packet. *together: no member gets its loaded data before the last member's
     *  data has arrived. */
    uint32_t (*packet)(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together);
    /** Returns whether more members may join the packet. The load/store unit does not begin the packet before it is
     *  closed. If a packet is closed without an issue, `picks` returns true. */
    bool (*open)(struct tim_mech *mech, uint32_t packet);
    /** Returns whether the warp's next instruction belongs to a packet that already has a place in the queue. The
     *  hook must not change state. */
    bool (*follows)(struct tim_mech *mech, unsigned warp);
    /** All memory instructions of a cycle form one packet, so the answer of `follows` is the same for all warps. The
     *  instructions of a packet pass over shared memory, and read constants, in one access of all their lanes. If the
     *  flag is false, each instruction makes these accesses alone. */
    bool packets_are_wide;
    /** Brings the counters of the mechanism up to date. */
    void (*account)(struct tim_mech *mech);
    /** Called when the pc of a warp, or its selected split, may have changed by something other than an issue. */
    void (*flows)(struct tim_mech *mech, unsigned warp);
    /** Called once per cycle, before any scheduler selects a warp. @ready: for each scheduler the warps that could
     *  issue, as for `picks`. Returns true if the state of the mechanism has changed. */
    bool (*cycle)(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64]);
    /** Executes the fetches of a cycle, instead of fetch.policy. At most one mechanism has this hook. */
    void (*fetches)(struct tim_mech *mech, const struct tim_mech_fetch *phase);
    /** Called once per cycle, before scheduler @sched selects a warp. @ready: set of its warps that could issue; a
     *  bit is the warp slot divided by the number of schedulers. Returns true if the state of the mechanism has
     *  changed. */
    bool (*picks)(struct tim_mech *mech, unsigned sched, const uint64_t *ready);
    bool every_cycle; /* `picks` is also called if no warp is ready */
    /** Returns whether a ready warp, whose next instruction is @next, must not issue. The hook must not change
     *  state. */
    bool (*holds)(struct tim_mech *mech, unsigned warp, const struct tim_static *next);
    /** Does the work of `holds` for all ready warps of scheduler @sched together: removes the warps that the mechanism
     *  throttles from @ready, which is as for `picks`. Returns true if it removed a warp. NULL: `holds` is called for
     *  each warp. */
    bool (*holds_of)(struct tim_mech *mech, unsigned sched, uint64_t *ready);
    /** Selects the ready warp of scheduler @sched that issues, instead of issue.policy. Returns the position of the
     *  warp, as for `picks`; -1: no warp issues. The hook must not change later answers. At most one mechanism has this
     *  hook. */
    int (*chooses)(struct tim_mech *mech, unsigned sched, const uint64_t *ready);
    /** Returns the first cycle after @since in which an answer of `holds` may change without an event. @since is the
     *  current cycle, or an earlier one after which no event happened. NULL: there is no such cycle. The returned
     *  cycle may be too early. */
    uint64_t (*next)(struct tim_mech *mech, uint64_t since);
    /** Called when the selected warp may not issue because a debugger steps another warp. */
    void (*refused)(struct tim_mech *mech, unsigned warp);
    /** Returns whether the mechanism throttles the warp until other warps act, for an unlimited time. */
    bool (*is_stuck)(struct tim_mech *mech, unsigned warp);
    /** Prints why a warp is held back, such as "score 212, ...", without a line end. */
    void (*why)(struct tim_mech *mech, unsigned warp, struct lw_sink *out);
    /** Gets the value and *name of gauge @index, a number that a trace shows over time. Returns false if there is no
     *  such gauge. */
    bool (*gauge)(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value);
    /** Prints the tables of the mechanism, line by line. */
    void (*show)(struct tim_mech *mech, struct lw_sink *out);
    /** Prints the mechanism's part of a report, for the mechanism on all cores, @mech[@cores]: tables as text or, if
     *  @json, a member of the report, `"name": value`. */
    void (*report)(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out);
};
/** All mechanisms, in the order in which their hooks are called. */
extern const struct tim_mechanism *const tim_mechanisms[];
extern const size_t tim_mechanism_count;
extern const struct tim_mechanism tim_swl, tim_pools, tim_ccws, tim_daws, tim_belady, tim_loads, tim_dwr, tim_vws,
    tim_la_w, tim_shares, tim_family, tim_pcal, tim_reuse, tim_equalizer;

/** Enabled mechanisms of one core. A zeroed struct has none. */
struct tim_mechs {
    unsigned count;
    bool every_cycle; /* a mechanism acts even in cycles in which no warp is ready */
    bool reaches;     /* a mechanism has hook `reaches` */
    bool picks;       /* a mechanism has hook `picks` */
    struct tim_mech *packets; /* the mechanism that makes packets; NULL: none */
    bool touches, resides; /* a mechanism has hook `touches`; a mechanism has hook `resides` */
    bool bypasses;    /* a mechanism has hook `bypasses` */
    bool cycle;       /* a mechanism has hook `cycle` */
    struct tim_mech *fetches; /* the mechanism that has hook `fetches`; NULL: none */
    struct tim_mech *chooses; /* the mechanism that has hook `chooses`; NULL: none */
    /** Arguments of the last call of hook `cycle`, and whether they still hold as schedulers issue. */
    struct tim_mechs_query {
        bool lasts;       /* no scheduler changes `ready` of another scheduler, except by the capacity of the load/store
                           * queue, and */
        bool shares_pipes; /* by pipes: the schedulers share pipes, so an issue of one may change the ready warps of
                            * later ones */
        uint64_t at;      /* 1 + the cycle of the call */
        unsigned lsu_used; /* core->lsu_used at the call */
        uint64_t ready[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64];
        /* enum tim_stall: the reason counted for a slot without an issue, if mechanisms are ignored */
        uint8_t nearest[TIM_MAX_SCHEDS];
    } query;
    struct tim_mech *mech[TIM_MECHANISMS_MOST];
    uint64_t live[TIM_MAX_WARPS / 64], waits[TIM_MAX_WARPS / 64]; /* slots of live warps; slots of waiting warps */
    uint64_t shown[TIM_MECHANISMS_MOST][TIM_GAUGES]; /* 1 + the value of each gauge last traced; 0: none */
    struct tim_mech_core core;
};
/** Creates the enabled mechanisms; @mechs->core must be filled in. Returns false without memory; tim_mechs_fini()
 *  must be called then, too. */
bool tim_mechs_init(struct tim_mechs *mechs);
void tim_mechs_fini(struct tim_mechs *mechs);

/* Call the hooks of all enabled mechanisms. At least one must be enabled. */
void tim_mechs_block(struct tim_mechs *mechs, uint64_t launch, bool begins);
void tim_mechs_warp(struct tim_mechs *mechs, unsigned warp, uint64_t age, bool begins);
void tim_mechs_reside(struct tim_mechs *mechs, const struct tim_mech_block *block, bool begins);
void tim_mechs_touch(struct tim_mechs *mechs, unsigned warp, uint64_t line);
/** Calls hook `waits` if the state of the warp changes; a call may repeat the current state. */
void tim_mechs_wait(struct tim_mechs *mechs, unsigned warp, bool begins);
void tim_mechs_issue(struct tim_mechs *mechs, const struct tim_mech_issue *issue);
void tim_mechs_reach(struct tim_mechs *mechs, unsigned warp, uint64_t pc, const struct tim_static *next);
void tim_mechs_access(struct tim_mechs *mechs, const struct tim_mech_access *access);
/** Returns whether any mechanism makes the load bypass L1. Calls the hook of all mechanisms that have it. */
bool tim_mechs_bypass(struct tim_mechs *mechs, unsigned warp, uint64_t pc);
void tim_mechs_evict(struct tim_mechs *mechs, uint64_t line, unsigned owner);
void tim_mechs_drop(struct tim_mechs *mechs, uint64_t line);
void tim_mechs_refuse(struct tim_mechs *mechs, unsigned warp);
/** Returns the mechanism that holds the warp back until other warps act; NULL: none. */
struct tim_mech *tim_mechs_stuck(const struct tim_mechs *mechs, unsigned warp);
void tim_mechs_account(struct tim_mechs *mechs);
/** Writes the changed gauges to the trace of core @core, as of cycle @now of clocks.core. */
void tim_mechs_trace(struct tim_mechs *mechs, struct tim_trace *trace, unsigned core, uint64_t now);
void tim_mechs_flow(struct tim_mechs *mechs, unsigned warp);
bool tim_mechs_cycle(struct tim_mechs *mechs, const uint64_t (*ready)[TIM_MAX_WARPS / 64]);
bool tim_mechs_pick(struct tim_mechs *mechs, unsigned sched, const uint64_t *ready);
extern const uint64_t tim_no_warps[TIM_MAX_WARPS / 64]; /* an empty set of ready warps */
/** Returns the slot of bit @bit in word @word of a set of scheduler @sched's warps, such as `ready` of `picks`. */
static inline unsigned tim_mech_slot(const struct tim_config *config, unsigned sched, unsigned word, unsigned bit)
{
    return (word * 64 + bit) * config->issue_schedulers + sched;
}
/** Returns the mechanism that holds the warp back; NULL: no mechanism does. */
struct tim_mech *tim_mechs_holder(const struct tim_mechs *mechs, unsigned warp, const struct tim_static *next);
uint64_t tim_mechs_next(const struct tim_mechs *mechs, uint64_t since);

#endif
