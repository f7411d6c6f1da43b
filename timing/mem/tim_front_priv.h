/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruction and constant caches in levels: for each scheduler an L0 instruction cache (fetch.l0_bytes) with a stream buffer
 * (fetch.prefetch) and a constant cache for operands (constant.l0_bytes); by a link all share the instruction cache of the
 * core, L1, which holds constants, too. docs/reference/timing-core.md has the rules.
 * Source: Huerta et al., MICRO 2025, 5.2 and 5.4, figure 3; the link and the rules of the stream buffer: the simulator that
 * its authors released.
 *
 *   look-up fails -> queue of the scheduler -> arbiter, one a cycle -> link -> L1, one a cycle in order, or what is below
 *                 <- one a cycle                                    <- link <-            (one: fetch.ports)
 *
 * Values are emu's: all of this is when a line is there.
 */
#ifndef TIM_FRONT_PRIV_H
#define TIM_FRONT_PRIV_H

#include "timing/mem/tim_cache_priv.h"

enum {
    TIM_STREAM_MOST = 64,  /* fetch.prefetch */
    TIM_FRONT_QUEUE = 128, /* fetch.cache_mshrs + constant.mshrs */
    TIM_FRONT_AHEAD_MOST = 256 /* prefetches of a core under way; no stream buffer requests more */
};

/** Who gets the line. */
enum tim_front_kind {
    TIM_FRONT_CODE,    /* L0: a fetch waits */
    TIM_FRONT_AHEAD,   /* the stream buffer */
    TIM_FRONT_OPERAND, /* the constant cache for operands: an instruction waits at issue */
    TIM_FRONT_LOAD     /* the constant cache of the core: a load waits */
};
struct tim_front_request {
    uint64_t line;     /* of the cache that requests it */
    uint8_t kind;      /* enum tim_front_kind */
    uint8_t sched;
    bool claimed;      /* AHEAD: a fetch waits for it, in an MSHR of L0, */
    bool stale;        /* and: the stream buffer was emptied */
    uint32_t next;     /* of those that are free */
};
/** A request on its way over the link. */
struct tim_front_step {
    uint64_t at; /* cycle in which it arrives */
    uint32_t request;
};
struct tim_front_link {
    unsigned first, count, room; /* in order of arrival */
    struct tim_front_step *step; /* [room] */
};
/** Lines after one that was missed, in order. */
struct tim_stream {
    uint64_t next, end;    /* line to be requested next; none: 0, or from `end` on */
    unsigned first, count;
    struct tim_streamed {
        uint64_t line;
        uint32_t request;
        bool there;
    } entry[TIM_STREAM_MOST];
};
struct tim_front_sched {
    struct tim_cache *code, *operand; /* operand: NULL: not constant.l0_bytes */
    struct tim_stream stream;
    unsigned queued;
    uint32_t queue[TIM_FRONT_QUEUE];
};
/** The last of `sched` is the core's: its queue has the constant cache's misses. */
struct tim_front {
    const struct tim_config *config;
    uint64_t *counters;    /* borrowed: the core's */
    struct tim_front_sched *sched; /* [issue_schedulers + 1] */
    uint32_t may_request;  /* of `sched`: have something for the arbiter, or perhaps not; others have not */
    unsigned goes_first;         /* who goes first */
    uint64_t answers_from; /* the link from L1 takes another from this cycle on, which has so many already: */
    unsigned answers;
    unsigned taken;        /* ports of L1 that others have taken in this cycle, before the arbiter */
    unsigned ahead;        /* prefetches under way */
    uint32_t free;
    struct tim_front_request *request; /* [tim_front_most()] */
    struct tim_front_link down, up; /* to L1; from it */
};

/** Requests that may be under way in a core: a miss has an MSHR of its cache. */
static inline unsigned tim_front_most(const struct tim_config *config)
{
    return config->issue_schedulers * (config->fetch_cache_mshrs + config->constant_mshrs) + config->constant_mshrs +
           TIM_FRONT_AHEAD_MOST;
}
/** NULL: no memory. @counters: of TIM_STATS_CORE, borrowed while it lives. */
struct tim_front *tim_front_create(const struct tim_config *config, uint64_t *counters);
void tim_front_destroy(struct tim_front *front);

enum tim_front_answer {
    TIM_FRONT_THERE,
    TIM_FRONT_COMES,  /* @warp is among those that wait for it */
    TIM_FRONT_BLOCKED /* no MSHR, merge or way: nothing has changed */
};
/** Scheduler @s fetches from @line for @warp. @end: address after the program: no line from there on is prefetched. */
enum tim_front_answer tim_front_fetch(struct tim_front *front, unsigned s, uint64_t line, unsigned warp, uint64_t end);
/** @warp is to issue an instruction with an operand in @line of constant space. */
enum tim_front_answer tim_front_operand(struct tim_front *front, unsigned s, uint64_t line, unsigned warp);
/** The constant cache of the core has missed @line. */
void tim_front_load(struct tim_front *front, uint64_t line);
/** The arbiter: for each port of L1 that is not taken one request, of a scheduler's queue or else its stream buffer's, leaves
 *  for it. @all: whoever may have one is looked at, `may_request` or not. True: something has changed. */
bool tim_front_grant(struct tim_front *front, bool all, uint64_t now);
/** L1 has what @request wants: it is on its way from the next cycle on. */
void tim_front_answer(struct tim_front *front, uint32_t request, uint64_t now);
/** An answer that arrives in a stream buffer. True: L0 waits for it. */
bool tim_front_arrives_ahead(struct tim_front *front, uint32_t request);
/** @request is over. */
void tim_front_free(struct tim_front *front, uint32_t request);

/** The first of those on a link; UINT32_MAX: none, or not yet in cycle @now. */
static inline uint32_t tim_front_first(const struct tim_front_link *link, uint64_t now)
{
    return link->count != 0 && link->step[link->first].at <= now ? link->step[link->first].request : UINT32_MAX;
}
static inline void tim_front_drop(struct tim_front_link *link)
{
    link->first = link->first + 1 < link->room ? link->first + 1 : 0;
    link->count--;
}
/** The cycle from which on the first of those on a link is there. */
static inline uint64_t tim_front_arrival(const struct tim_front_link *link)
{
    return link->count != 0 ? link->step[link->first].at : UINT64_MAX;
}

#endif
