/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two levels of instruction and constant caches. Each scheduler has an L0 instruction cache (fetch.l0_bytes) with a
 * stream buffer (fetch.prefetch), and a cache for constant operands (constant.l0_bytes). A link connects them to the
 * instruction cache of the core, here called L1, which also holds constants. docs/reference/timing-core.md has the rules.
 * Source: Huerta et al., MICRO 2025, sections 5.2 and 5.4, figure 3. The link and the rules of the stream buffer follow the
 * simulator that the authors released.
 *
 *   miss -> queue of the scheduler -> arbiter, one a cycle -> link -> L1, one a cycle in order, or the next level
 *        <- one a cycle                                    <- link <-
 *   ("one" is the number fetch.ports)
 *
 * emu has the values; this model only determines when a line is present.
 */
#ifndef TIM_FRONT_PRIV_H
#define TIM_FRONT_PRIV_H

#include "timing/mem/tim_cache_priv.h"

enum {
    TIM_STREAM_MOST = 64,  /* maximum of fetch.prefetch */
    TIM_FRONT_QUEUE = 128, /* maximum of fetch.cache_mshrs + constant.mshrs */
    TIM_FRONT_AHEAD_MOST = 256 /* maximum number of requested prefetches of a core */
};

/** Receiver of a line. */
enum tim_front_kind {
    TIM_FRONT_CODE,    /* L0 instruction cache: a fetch waits */
    TIM_FRONT_AHEAD,   /* the stream buffer: a prefetch */
    TIM_FRONT_OPERAND, /* the constant cache for operands: an instruction waits at issue */
    TIM_FRONT_LOAD     /* the constant cache of the core: a load waits */
};
struct tim_front_request {
    uint64_t line;     /* address of the line in the cache that requests it */
    uint8_t kind;      /* enum tim_front_kind */
    uint8_t sched;
    bool claimed;      /* AHEAD: a fetch waits for the line, and has an MSHR of L0 */
    bool stale;        /* AHEAD: the stream buffer was restarted after the request, so it does not need the line */
    uint32_t next;     /* next in the list of free requests */
};
/** A request, or its answer, in transit on the link. */
struct tim_front_step {
    uint64_t at; /* cycle in which the request or answer arrives */
    uint32_t request;
};
struct tim_front_link {
    unsigned first, count, room; /* `step` is a ring buffer in order of arrival: index of its first element, number of
                                  * elements, capacity */
    struct tim_front_step *step; /* [room] */
};
/** Stream buffer: consecutive lines after a line that missed. Each is requested or present. `entry` is a ring buffer. */
struct tim_stream {
    uint64_t next, end;    /* next: address of the line to request next; no line is requested if it is 0, or is not below `end` */
    unsigned first, count;
    struct tim_streamed {
        uint64_t line;
        uint32_t request;
        bool there;        /* the line has arrived from L1 */
    } entry[TIM_STREAM_MOST];
};
struct tim_front_sched {
    struct tim_cache *code, *operand; /* operand is NULL if constant.l0_bytes is 0 */
    struct tim_stream stream;
    unsigned queued;
    uint32_t queue[TIM_FRONT_QUEUE]; /* requests that wait for the arbiter, in order */
};
/** State of a core. The last element of `sched` belongs to no scheduler: its queue contains the misses of the core's constant
 *  cache. */
struct tim_front {
    const struct tim_config *config;
    uint64_t *counters;    /* borrowed: counters of the core */
    struct tim_front_sched *sched; /* [issue_schedulers + 1] */
    uint32_t may_request;  /* set of elements of `sched` that may have a request for the arbiter; the other elements certainly
                            * have none */
    unsigned goes_first;         /* element of `sched` that the arbiter tries first */
    /* answers_from: first cycle in which an answer of L1 can enter the link; the next member is the number of answers that
     * have entered it in that cycle */
    uint64_t answers_from;
    unsigned answers;
    unsigned taken;        /* number of ports of L1 that fetch_together() has used in this cycle */
    unsigned ahead;        /* number of outstanding prefetches */
    uint32_t free;         /* first element of the list of free requests */
    struct tim_front_request *request; /* [tim_front_most()] */
    struct tim_front_link down, up; /* down: requests to L1; up: answers from L1 */
};

/** Returns the maximum number of outstanding requests of a core. Each request, except a prefetch, occupies an MSHR of the
 *  cache that missed. */
static inline unsigned tim_front_most(const struct tim_config *config)
{
    return config->issue_schedulers * (config->fetch_cache_mshrs + config->constant_mshrs) + config->constant_mshrs +
           TIM_FRONT_AHEAD_MOST;
}
/** Creates the state of a core. @counters: the core's counters (scope CORE), borrowed. Returns NULL if memory is short. */
struct tim_front *tim_front_create(const struct tim_config *config, uint64_t *counters);
void tim_front_destroy(struct tim_front *front);

enum tim_front_answer {
    TIM_FRONT_THERE,  /* the line is present */
    TIM_FRONT_COMES,  /* @warp was added to the waiters of the line */
    TIM_FRONT_BLOCKED /* no MSHR, merge entry or way is free; nothing has changed */
};
/** Looks up instruction line @line for a fetch of @warp of scheduler @s. Lines from address @end, the end of the program,
 *  on are not prefetched. */
enum tim_front_answer tim_front_fetch(struct tim_front *front, unsigned s, uint64_t line, unsigned warp, uint64_t end);
/** Looks up constant line @line, which contains an operand of the instruction that @warp of scheduler @s would issue. */
enum tim_front_answer tim_front_operand(struct tim_front *front, unsigned s, uint64_t line, unsigned warp);
/** Requests @line after a miss in the constant cache of the core. */
void tim_front_load(struct tim_front *front, uint64_t line);
/** Runs the arbiter: sends at most one request for each free port of L1. A request comes from the queue of a scheduler or,
 *  if the queue is empty, from its stream buffer. If @all is set, checks every scheduler, even if it is not in
 *  `may_request`. Returns true if it has sent a request. */
bool tim_front_grant(struct tim_front *front, bool all, uint64_t now);
/** Sends the answer to @request, because L1 has the line. The answer enters the link in the next cycle or later. */
void tim_front_answer(struct tim_front *front, uint32_t request, uint64_t now);
/** Called when the answer to a prefetch arrives. Returns true if a fetch waits for the line in L0. */
bool tim_front_arrives_ahead(struct tim_front *front, uint32_t request);
/** Frees @request. */
void tim_front_free(struct tim_front *front, uint32_t request);

/** Returns the first request in a link if it has arrived by cycle @now, otherwise UINT32_MAX. */
static inline uint32_t tim_front_first(const struct tim_front_link *link, uint64_t now)
{
    return link->count != 0 && link->step[link->first].at <= now ? link->step[link->first].request : UINT32_MAX;
}
static inline void tim_front_drop(struct tim_front_link *link)
{
    link->first = link->first + 1 < link->room ? link->first + 1 : 0;
    link->count--;
}
/** Returns the cycle in which the first request in a link arrives, or UINT64_MAX if the link is empty. */
static inline uint64_t tim_front_arrival(const struct tim_front_link *link)
{
    return link->count != 0 ? link->step[link->first].at : UINT64_MAX;
}

/** fetch.prefetch without L0 caches: the prefetch stream of the core's instruction cache. All members are zero if there is no
 *  stream. */
struct tim_ahead {
    uint64_t at;         /* line of the stream that was fetched last */
    uint64_t next, stop; /* the lines in [next, stop) are still to be requested */
    uint64_t end;        /* end of the program */
};

#endif
