/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two levels of instruction and constant caches. Each scheduler has an L0 instruction cache (fetch.l0_bytes) with a
 * stream buffer (fetch.prefetch), and a constant cache for operands (constant.l0_bytes). A link connects them to the
 * instruction cache of the core, L1, which also holds constants. docs/reference/timing-core.md has the rules.
 * Source: Huerta et al., MICRO 2025, 5.2 and 5.4, figure 3. The link and the rules of the stream buffer follow the
 * simulator that the authors released.
 *
 *   miss -> queue of the scheduler -> arbiter, one a cycle -> link -> L1, one a cycle in order, or the next level
 *        <- one a cycle                                    <- link <-             (one: fetch.ports)
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
    TIM_FRONT_AHEAD,   /* the stream buffer */
    TIM_FRONT_OPERAND, /* the constant cache for operands: an instruction waits at issue */
    TIM_FRONT_LOAD     /* the constant cache of the core: a load waits */
};
struct tim_front_request {
    uint64_t line;     /* address of the line in the cache that requests it */
    uint8_t kind;      /* enum tim_front_kind */
    uint8_t sched;
    bool claimed;      /* AHEAD: a fetch waits for the request's line, in an MSHR of L0 */
    bool stale;        /* AHEAD: the stream buffer was emptied since the request */
    uint32_t next;     /* next in the list of free requests */
};
/** A request in transit on the link. */
struct tim_front_step {
    uint64_t at; /* cycle in which it arrives */
    uint32_t request;
};
struct tim_front_link {
    unsigned first, count, room; /* `step` is a ring in order of arrival */
    struct tim_front_step *step; /* [room] */
};
/** Stream buffer: consecutive lines after a missed one. */
struct tim_stream {
    uint64_t next, end;    /* line to request next; 0, or a value from `end` on: none */
    unsigned first, count;
    struct tim_streamed {
        uint64_t line;
        uint32_t request;
        bool there;
    } entry[TIM_STREAM_MOST];
};
struct tim_front_sched {
    struct tim_cache *code, *operand; /* operand: NULL: constant.l0_bytes is 0 */
    struct tim_stream stream;
    unsigned queued;
    uint32_t queue[TIM_FRONT_QUEUE];
};
/** The last entry of `sched` belongs to the core: its queue has the misses of the constant cache. */
struct tim_front {
    const struct tim_config *config;
    uint64_t *counters;    /* borrowed: counters of the core */
    struct tim_front_sched *sched; /* [issue_schedulers + 1] */
    uint32_t may_request;  /* superset of the entries of `sched` that have a request for the arbiter */
    unsigned goes_first;         /* entry of `sched` with priority */
    /* first cycle with a free answer slot on the link from L1; number of slots used in that cycle */
    uint64_t answers_from;
    unsigned answers;
    unsigned taken;        /* number of ports of L1 that other requests have used in this cycle, before the arbiter */
    unsigned ahead;        /* number of requested prefetches */
    uint32_t free;
    struct tim_front_request *request; /* [tim_front_most()] */
    struct tim_front_link down, up; /* down: to L1; up: from L1 */
};

/** Returns the maximum number of outstanding requests of a core: each miss has an MSHR of its cache. */
static inline unsigned tim_front_most(const struct tim_config *config)
{
    return config->issue_schedulers * (config->fetch_cache_mshrs + config->constant_mshrs) + config->constant_mshrs +
           TIM_FRONT_AHEAD_MOST;
}
/** Returns NULL without memory. @counters: counters of scope CORE, borrowed for the lifetime of the result. */
struct tim_front *tim_front_create(const struct tim_config *config, uint64_t *counters);
void tim_front_destroy(struct tim_front *front);

enum tim_front_answer {
    TIM_FRONT_THERE,
    TIM_FRONT_COMES,  /* @warp was added to the waiters of the line */
    TIM_FRONT_BLOCKED /* no MSHR, merge entry or way is free; nothing has changed */
};
/** Fetches from @line for @warp of scheduler @s. @end: address after the program; lines from there on are not
 *  prefetched. */
enum tim_front_answer tim_front_fetch(struct tim_front *front, unsigned s, uint64_t line, unsigned warp, uint64_t end);
/** Looks up @line of constant space, which has an operand of the instruction that @warp would issue. */
enum tim_front_answer tim_front_operand(struct tim_front *front, unsigned s, uint64_t line, unsigned warp);
/** Requests @line, on which the constant cache of the core has missed. */
void tim_front_load(struct tim_front *front, uint64_t line);
/** Runs the arbiter: sends one request to each free port of L1, from the queue of a scheduler or, if that is empty,
 *  from its stream buffer. If @all, checks every scheduler, even if it is not in `may_request`. Returns true if
 *  anything has changed. */
bool tim_front_grant(struct tim_front *front, bool all, uint64_t now);
/** Sends the answer to @request, whose line L1 has, from the next cycle on. */
void tim_front_answer(struct tim_front *front, uint32_t request, uint64_t now);
/** Handles an answer that arrives in a stream buffer. Returns true if L0 waits for the line. */
bool tim_front_arrives_ahead(struct tim_front *front, uint32_t request);
/** Frees @request. */
void tim_front_free(struct tim_front *front, uint32_t request);

/** Returns the first request of a link; UINT32_MAX: none has arrived by cycle @now. */
static inline uint32_t tim_front_first(const struct tim_front_link *link, uint64_t now)
{
    return link->count != 0 && link->step[link->first].at <= now ? link->step[link->first].request : UINT32_MAX;
}
static inline void tim_front_drop(struct tim_front_link *link)
{
    link->first = link->first + 1 < link->room ? link->first + 1 : 0;
    link->count--;
}
/** Returns the cycle in which the first request of a link arrives. */
static inline uint64_t tim_front_arrival(const struct tim_front_link *link)
{
    return link->count != 0 ? link->step[link->first].at : UINT64_MAX;
}

/** fetch.prefetch without L0 caches: a stream of lines of the instruction cache. All zero: no stream. */
struct tim_ahead {
    uint64_t at;         /* line of the stream that was fetched last */
    uint64_t next, stop; /* lines to be requested: from line `next` on, up to line `stop` (exclusive) */
    uint64_t end;        /* end of the program */
};

#endif
