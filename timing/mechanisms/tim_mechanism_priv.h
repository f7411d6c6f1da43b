/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mechanisms: what holds warps of a core back, whatever scheduler picks among the others. A mechanism is a row of
 * tim_mechanisms[] in a file of its own: its section of keys, its state on each core, and the hooks that it wants.
 * A core calls a hook at its event, in the order of the phases of a cycle; nothing of a mechanism is in the core.
 *
 *              block, warp_begins, waits, warp_ends            access, evict, issues
 *   core ------------------------------------------> mechanism <-------------------- load/store unit, issue
 *     ready warps of a scheduler -- picks, holds --> those that may issue; the slots of the others are `throttled`
 *     nothing has changed -- next --> until which cycle time alone changes no answer
 *     the ready warps of all schedulers -- cycle --> before the first of them picks; who fetches -- fetches --> with whom
 *
 * Both models of a core call the same hooks in the same order; the event-driven one does not call `cycle`, `picks` and
 * `holds` in cycles in which nothing has changed, before `next`.
 */
#ifndef TIM_MECHANISM_PRIV_H
#define TIM_MECHANISM_PRIV_H

#include "timing/decode/tim_static_priv.h"

enum { TIM_MAX_WARPS = 256, TIM_MECHANISMS_MOST = 8, TIM_GAUGES = 2 };

/** A load of global or local memory that may pass L1: what CCWS and DAWS hold back. */
static inline bool tim_is_data_load(const struct tim_static *what)
{
    return what->type == TIM_TYPE_MEMORY && what->path == TIM_PATH_MEMORY && what->load && !what->writes &&
           !what->uncached && !what->texture && !what->to_constant;
}

/** What a mechanism may ask of a warp slot. */
struct tim_mech_warp {
    bool used, ended;  /* a warp is there; none of its lanes lives */
    uint8_t reason;    /* enum tim_stall: what kept it from issuing last */
    bool misses;       /* data from outside the core is on its way to it */
    uint64_t age;      /* assigned earlier: older, lower */
    uint64_t pc, lanes; /* of its split that runs; lanes 0: none does */
    const struct tim_code *code;
    const struct tim_static *next; /* what it issues next; NULL: no split runs */
};
/** A core, as its mechanisms see it. */
struct tim_mech_core {
    const struct tim_config *config;
    uint64_t *count;                    /* its counters, by TIM_CORE_... */
    struct tim_histogram *histogram;    /* by TIM_CORE_H_... */
    uint64_t now;                       /* the cycle that runs */
    uint64_t assigned;                  /* warps ever */
    uint64_t over;                      /* `account`: the cycles before this one are to be in the counters */
    void (*look)(const void *context, unsigned warp, struct tim_mech_warp *out);
    /** Is a lane that lives at a pc of [from, to], whether its split runs or waits? */
    bool (*inside)(const void *context, unsigned warp, uint64_t from, uint64_t to);
    /** Would the warp's next instruction issue, but for room and mechanisms? */
    bool (*could_issue)(const void *context, unsigned warp);
    const void *context;
};
/** A warp instruction that has issued. */
struct tim_mech_issue {
    unsigned warp, lanes; /* slot; how many lanes its split has */
    uint64_t pc;
    const struct tim_static *what;
    const struct tim_code *code;
    uint64_t instruction; /* of a memory instruction: the number that its accesses have */
};
/** A load of a line through L1: one of the accesses of an instruction. */
struct tim_mech_access {
    unsigned warp;
    uint64_t pc, line;
    const struct tim_code *code;
    unsigned lanes;     /* of the instruction */
    unsigned index, count; /* of its accesses: this one; all */
    uint64_t instruction; /* another number for each instruction */
    bool hit, merge;    /* merge: the line is under way; neither: a miss */
    unsigned owner;     /* hit: the slot whose warp brought the line */
};

/** What a mechanism may do in the fetch phase of a cycle. Warps that fetch together have slots from @first on, a bit for
 *  each in @members. */
enum tim_mech_fetched {
    TIM_FETCHED_NOT,  /* none of them has room, or the cache cannot now */
    TIM_FETCHED_NEAR, /* for one alone: fetch.l0_bytes, by its scheduler's cache; a miss there is requested */
    TIM_FETCHED       /* from the instruction cache of the core */
};
struct tim_mech_fetch {
    const void *context;
    bool levels;           /* each scheduler has an instruction cache of its own */
    unsigned ports;        /* fetches that the instruction cache of the core takes in a cycle */
    const uint64_t *may;   /* slots that may have room; others have none */
    /** Has somebody of them room now? Of several those that have fetched least count. */
    bool (*wants)(const void *context, unsigned first, uint64_t members);
    /** They fetch: what comes is in the buffers of all of them that have fetched least. */
    enum tim_mech_fetched (*fetch)(const void *context, unsigned first, uint64_t members);
};

/** Warp slots, the oldest warp first. Zeroed: none. */
struct tim_mech_list {
    unsigned count;
    uint16_t warp[TIM_MAX_WARPS];
    uint64_t age[TIM_MAX_WARPS]; /* by slot; the caller's, before it adds the slot */
};
void tim_mech_list_add(struct tim_mech_list *list, unsigned warp);
void tim_mech_list_remove(struct tim_mech_list *list, unsigned warp);

/** A mechanism on one core. What the mechanism keeps is after it. */
struct tim_mech {
    const struct tim_mechanism *row;
    const struct tim_mech_core *core;
};
struct tim_mechanism {
    const char *name;    /* its section of keys, whose key `on` puts it on the machine */
    const char *summary; /* a line for lists */
    bool (*is_on)(const struct tim_config *config);
    /** Its state on @core, whose counters are there already. NULL: no memory. The caller fills in `row` and `core`. */
    struct tim_mech *(*create)(const struct tim_mech_core *core);
    void (*destroy)(struct tim_mech *mech);
    /* Hooks; NULL: not wanted. */
    void (*block)(struct tim_mech *mech, uint64_t launch, bool begins); /* launch: its number */
    void (*warp_begins)(struct tim_mech *mech, unsigned warp, uint64_t age);
    void (*warp_ends)(struct tim_mech *mech, unsigned warp);
    /** A warp that lives begins to wait with all its lanes, at a barrier of its block or for what it launched, or does no
     *  more. It does not when it ends. */
    void (*waits)(struct tim_mech *mech, unsigned warp, bool begins);
    void (*issues)(struct tim_mech *mech, const struct tim_mech_issue *issue);
    void (*access)(struct tim_mech *mech, const struct tim_mech_access *access);
    /** L1 throws a line out to make room for another. @owner: the slot whose warp brought it. */
    void (*evict)(struct tim_mech *mech, uint64_t line, unsigned owner);
    /** A store or an atomic takes a line out of L1; UINT64_MAX: all lines of global memory are taken out. */
    void (*drop)(struct tim_mech *mech, uint64_t line);
    /** The warp's next instruction @next, at @pc, is in its buffer: only registers or room can keep it. Called in the first
     *  such cycle, perhaps in others, before the scheduler picks. */
    void (*reaches)(struct tim_mech *mech, unsigned warp, uint64_t pc, const struct tim_static *next);
    /* Packets: memory instructions that go through the load/store unit as one (timing/mem/tim_packets_priv.h). Not NULL, all
     * three; one mechanism of a machine has them. */
    /** The packet that memory instruction @what of the warp, which has just issued, belongs to: a number that no other packet
     *  has had; 0: none. *together: what its members load is there for all when it is for the last. */
    uint32_t (*packet)(struct tim_mech *mech, unsigned warp, const struct tim_static *what, bool *together);
    /** May more members come? While they may, the unit does not begin. Where that ends without an issue, `picks` returns true. */
    bool (*open)(struct tim_mech *mech, uint32_t packet);
    /** Does the warp's next instruction belong to a packet that has a place in the queue already? Changes no answer. */
    bool (*follows)(struct tim_mech *mech, unsigned warp);
    /** Memory instructions of a cycle are one packet, whoever's they are, so that `follows` says the same of all. A packet passes
     *  over shared memory, and reads constants, as one access of all its lanes. Else each member does alone. */
    bool packets_are_wide;
    /** Its counters are to be what they are now. */
    void (*account)(struct tim_mech *mech);
    /** The pc of a warp, or which of its splits runs, may have changed otherwise than by an issue. */
    void (*flows)(struct tim_mech *mech, unsigned warp);
    /** Once a cycle, before any scheduler picks. @ready: of each scheduler the warps that could issue, as for `picks`. True:
     *  the mechanism's state has changed. */
    bool (*cycle)(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64]);
    /** The fetches of a cycle, instead of fetch.policy's. At most one mechanism has it. */
    void (*fetches)(struct tim_mech *mech, const struct tim_mech_fetch *phase);
    /** Before scheduler @sched picks, once a cycle. @ready: its warps that could issue, a bit for each by their place
     *  among its warps, which is slot divided by schedulers. True: the mechanism's state has changed. */
    bool (*picks)(struct tim_mech *mech, unsigned sched, const uint64_t *ready);
    bool every_cycle; /* `picks` is called where no warp is ready, too */
    /** May a ready warp, whose next instruction is @next, not issue? Changes no answer. */
    bool (*holds)(struct tim_mech *mech, unsigned warp, const struct tim_static *next);
    /** The warps of scheduler @sched that `holds` may hold, a set like `ready` of `picks`. NULL: any. */
    const uint64_t *(*suspects)(struct tim_mech *mech, unsigned sched);
    /** `holds` for all warps of a scheduler together: takes the warps of scheduler @sched that it holds out of @ready, as for `picks`. True: there were some.
     *  NULL: `holds` is called for each. */
    bool (*holds_of)(struct tim_mech *mech, unsigned sched, uint64_t *ready);
    /** The first cycle after @since in which `holds` may answer differently than in it, if nothing happens before.
     *  @since: the cycle that runs, or an earlier one after which nothing happened. NULL: none. A cycle too early is
     *  allowed. */
    uint64_t (*next)(struct tim_mech *mech, uint64_t since);
    /** A debugger does not let the warp issue, which was picked, while it steps another one. */
    void (*refused)(struct tim_mech *mech, unsigned warp);
    /** Is the warp held back until other warps do something, however long that takes? */
    bool (*is_stuck)(struct tim_mech *mech, unsigned warp);
    /** Of a warp that is held back: "score 212, ...". Without a line end. */
    void (*why)(struct tim_mech *mech, unsigned warp, struct lw_sink *out);
    /** Its numbers that a trace shows over time: the @index-th, and to *name what it is; false: there is none. */
    bool (*gauge)(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value);
    /** Its tables, by line. */
    void (*show)(struct tim_mech *mech, struct lw_sink *out);
    /** Its part of a report, of the mechanism on all cores, @mech[@cores]: tables in words, or (@json) a member of the
     *  report, `"name": value`. */
    void (*report)(struct tim_mech *const *mech, unsigned cores, bool json, struct lw_sink *out);
};
/** In the order in which they are asked. */
extern const struct tim_mechanism *const tim_mechanisms[];
extern const size_t tim_mechanism_count;
extern const struct tim_mechanism tim_swl, tim_pools, tim_ccws, tim_daws, tim_belady, tim_loads, tim_dwr, tim_vws;

/** Those that are on, of one core. Zeroed: none. */
struct tim_mechs {
    unsigned count;
    bool every_cycle; /* one of them is asked in cycles without a ready warp, too */
    bool reaches;     /* one of them wants to know what warps reach */
    struct tim_mech *packets; /* the one that makes packets; NULL */
    bool cycle;       /* one has that hook */
    struct tim_mech *fetches; /* the one that has that hook; NULL: none */
    /** What `cycle` was asked with last. */
    struct tim_mechs_query {
        bool lasts;       /* of the configuration: no scheduler changes it for another, but by room in the load/store queue */
        uint64_t at;      /* 1 + the cycle */
        unsigned lsu_used; /* then */
        uint64_t ready[TIM_MAX_SCHEDS][TIM_MAX_WARPS / 64];
        uint8_t nearest[TIM_MAX_SCHEDS]; /* enum tim_stall: what a slot without an issue is counted as, mechanisms aside */
    } query;
    struct tim_mech *mech[TIM_MECHANISMS_MOST];
    uint64_t live[TIM_MAX_WARPS / 64], waits[TIM_MAX_WARPS / 64]; /* slots whose warp lives; waits */
    uint64_t shown[TIM_MECHANISMS_MOST][TIM_GAUGES]; /* 1 + what a trace has of it last; 0: nothing */
    struct tim_mech_core core;
};
/** @mechs->core is filled in. False: no memory; tim_mechs_fini() then, too. */
bool tim_mechs_init(struct tim_mechs *mechs);
void tim_mechs_fini(struct tim_mechs *mechs);

/* The hooks of all that are on. Not to be called where none is. */
void tim_mechs_block(struct tim_mechs *mechs, uint64_t launch, bool begins);
void tim_mechs_warp(struct tim_mechs *mechs, unsigned warp, uint64_t age, bool begins);
/** What is so already may be said again. */
void tim_mechs_wait(struct tim_mechs *mechs, unsigned warp, bool begins);
void tim_mechs_issue(struct tim_mechs *mechs, const struct tim_mech_issue *issue);
void tim_mechs_reach(struct tim_mechs *mechs, unsigned warp, uint64_t pc, const struct tim_static *next);
void tim_mechs_access(struct tim_mechs *mechs, const struct tim_mech_access *access);
void tim_mechs_evict(struct tim_mechs *mechs, uint64_t line, unsigned owner);
void tim_mechs_drop(struct tim_mechs *mechs, uint64_t line);
void tim_mechs_refuse(struct tim_mechs *mechs, unsigned warp);
/** The one that holds the warp back until others do something; NULL: none. */
struct tim_mech *tim_mechs_stuck(const struct tim_mechs *mechs, unsigned warp);
void tim_mechs_account(struct tim_mechs *mechs);
/** The gauges that have changed, into the trace of core @core. */
void tim_mechs_trace(struct tim_mechs *mechs, struct tim_trace *trace, unsigned core);
void tim_mechs_flow(struct tim_mechs *mechs, unsigned warp);
bool tim_mechs_cycle(struct tim_mechs *mechs, const uint64_t (*ready)[TIM_MAX_WARPS / 64]);
bool tim_mechs_pick(struct tim_mechs *mechs, unsigned sched, const uint64_t *ready);
/** Takes those out of @set, of @words words, that no mechanism may hold. */
void tim_mechs_suspect(const struct tim_mechs *mechs, unsigned sched, unsigned words, uint64_t *set);
/** The one that holds the warp back; NULL: none does. */
struct tim_mech *tim_mechs_holder(const struct tim_mechs *mechs, unsigned warp, const struct tim_static *next);
uint64_t tim_mechs_next(const struct tim_mechs *mechs, uint64_t since);

#endif
