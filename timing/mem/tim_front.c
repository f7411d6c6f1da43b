/* SPDX-License-Identifier: Apache-2.0 */
/* L0 instruction and constant caches, stream buffers, the arbiter and the link to the core's instruction cache (L1). */
#include "timing/mem/tim_front_priv.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool make_caches(struct tim_front *f)
{
    const struct tim_config *c = f->config;
    struct tim_cache_shape code = {c->fetch_l0_bytes, c->fetch_cache_line, c->fetch_cache_line, c->fetch_l0_ways,
                                   c->fetch_cache_mshrs, c->core_warps, false};
    struct tim_cache_shape operand = {c->constant_l0_bytes, c->constant_line, c->constant_line, c->constant_l0_ways,
                                      c->constant_mshrs, c->core_warps, false};
    bool fine = true;

    for (unsigned s = 0; s < c->issue_schedulers && fine; s++) {
        f->sched[s].code = tim_cache_create(&code);
        f->sched[s].operand = c->constant_l0_bytes != 0 ? tim_cache_create(&operand) : NULL;
        fine = f->sched[s].code != NULL && (f->sched[s].operand != NULL || c->constant_l0_bytes == 0);
    }
    return fine;
}

struct tim_front *tim_front_create(const struct tim_config *config, uint64_t *counters)
{
    struct tim_front *f = calloc(1, sizeof *f);

    if (f == NULL)
        return NULL;
    f->config = config;
    f->counters = counters;
    f->sched = calloc(config->issue_schedulers + 1, sizeof *f->sched);
    f->down.room = f->up.room = tim_front_most(config);
    f->request = calloc(f->down.room, sizeof *f->request);
    f->down.step = calloc(f->down.room, sizeof *f->down.step);
    f->up.step = calloc(f->down.room, sizeof *f->up.step);
    for (uint32_t i = 0; f->request != NULL && i < f->down.room; i++)
        f->request[i].next = i + 1;
    if (f->sched == NULL || f->request == NULL || f->down.step == NULL || f->up.step == NULL || !make_caches(f)) {
        tim_front_destroy(f);
        return NULL;
    }
    return f;
}

void tim_front_destroy(struct tim_front *front)
{
    if (front == NULL)
        return;
    for (unsigned s = 0; front->sched != NULL && s < front->config->issue_schedulers; s++) {
        tim_cache_destroy(front->sched[s].code);
        tim_cache_destroy(front->sched[s].operand);
    }
    free(front->sched);
    free(front->request);
    free(front->down.step);
    free(front->up.step);
    free(front);
}

/* ---- requests ---------------------------------------------------------------------------------------- */

static uint32_t new_request(struct tim_front *f, unsigned s, enum tim_front_kind kind, uint64_t line)
{
    uint32_t i = f->free;

    assert(i < f->down.room);
    f->free = f->request[i].next;
    f->ahead += kind == TIM_FRONT_AHEAD;
    f->request[i] = (struct tim_front_request){.line = line, .kind = (uint8_t)kind, .sched = (uint8_t)s};
    return i;
}

void tim_front_free(struct tim_front *front, uint32_t request)
{
    front->request[request].next = front->free;
    front->free = request;
    if (front->request[request].kind == TIM_FRONT_AHEAD && front->ahead-- == TIM_FRONT_AHEAD_MOST)
        front->may_request |= (1u << front->config->issue_schedulers) - 1; /* the limit of prefetches no longer blocks the
                                                                            * stream buffers */
}

static void enqueue(struct tim_front *f, unsigned s, enum tim_front_kind kind, uint64_t line)
{
    struct tim_front_sched *sched = &f->sched[s];

    assert(sched->queued < TIM_FRONT_QUEUE);
    sched->queue[sched->queued++] = new_request(f, s, kind, line);
    f->may_request |= 1u << s;
}

static void add_step(struct tim_front_link *link, uint32_t request, uint64_t at)
{
    assert(link->count < link->room);
    link->step[(link->first + link->count++) % link->room] = (struct tim_front_step){at, request};
}

void tim_front_answer(struct tim_front *front, uint32_t request, uint64_t now)
{
    if (front->answers_from <= now) {
        front->answers_from = now + 1;
        front->answers = 0;
    }
    add_step(&front->up, request, front->answers_from + front->config->fetch_link);
    if (++front->answers == front->config->fetch_ports) {
        front->answers_from++;
        front->answers = 0;
    }
}

/* ---- the stream buffer ------------------------------------------------------------------------------- */

static struct tim_streamed *entry_of(struct tim_stream *stream, unsigned i)
{
    return &stream->entry[(stream->first + i) % TIM_STREAM_MOST];
}

static void pop(struct tim_front *f, unsigned s)
{
    struct tim_stream *stream = &f->sched[s].stream;

    stream->first = (stream->first + 1) % TIM_STREAM_MOST;
    stream->count--;
    f->may_request |= 1u << s;
}

/** Restarts the stream after @line, which has missed and does not continue the current stream. */
static void restart(struct tim_front *f, unsigned s, uint64_t line, uint64_t end)
{
    struct tim_stream *stream = &f->sched[s].stream;

    for (unsigned i = 0; i < stream->count; i++) {
        const struct tim_streamed *entry = entry_of(stream, i);
        struct tim_front_request *request = entry->there ? NULL : &f->request[entry->request];

        f->counters[TIM_CORE_prefetches_unused] += request == NULL || !request->claimed;
        if (request != NULL)
            request->stale = true;
    }
    stream->count = 0;
    stream->next = line + f->config->fetch_cache_line;
    stream->end = end;
    f->may_request |= 1u << s;
}

/** Returns whether @line, which has missed, is the first line of the stream buffer. Other lines of the buffer are not
 *  compared. */
static bool continues(const struct tim_front *f, unsigned s, uint64_t line)
{
    struct tim_stream *stream = &f->sched[s].stream;

    return stream->count != 0 && entry_of(stream, 0)->line == line;
}

/** Requests the next line of the scheduler's stream. Returns false if there is no line to request or no capacity for the
 *  request. */
static bool prefetch(struct tim_front *f, unsigned s, uint64_t now)
{
    struct tim_stream *stream = &f->sched[s].stream;
    static const uint64_t all[4] = {1, 0, 0, 0}; /* a mask of one byte is enough, because the cache always loads whole lines */
    struct tim_cache_result r;

    if (stream->next == 0 || stream->count >= f->config->fetch_prefetch || f->ahead == TIM_FRONT_AHEAD_MOST)
        return false;
    tim_cache_lookup(f->sched[s].code, stream->next, all, &r);
    if (stream->next >= stream->end || r.answer == TIM_CACHE_HIT || r.answer == TIM_CACHE_MERGE ||
        r.answer == TIM_CACHE_NO_MERGE) {
        stream->next = 0;
        return false;
    }
    uint32_t request = new_request(f, s, TIM_FRONT_AHEAD, stream->next);
    *entry_of(stream, stream->count++) = (struct tim_streamed){stream->next, request, false};
    stream->next += f->config->fetch_cache_line;
    add_step(&f->down, request, now + f->config->fetch_link);
    f->counters[TIM_CORE_prefetches]++;
    return true;
}

bool tim_front_arrives_ahead(struct tim_front *front, uint32_t request)
{
    const struct tim_front_request *r = &front->request[request];
    struct tim_stream *stream = &front->sched[r->sched].stream;

    if (r->stale)
        return r->claimed;
    if (r->claimed) {
        pop(front, r->sched);
        return true;
    }
    for (unsigned i = 0; i < stream->count; i++)
        if (!entry_of(stream, i)->there && entry_of(stream, i)->request == request)
            entry_of(stream, i)->there = true;
    return false;
}

/* ---- look-ups ---------------------------------------------------------------------------------------- */

/** Handles a miss: makes @warp wait for @line. Sets *new to whether the line had not been requested before. */
static enum tim_front_answer miss(struct tim_cache *cache, uint64_t line, unsigned warp, bool *new)
{
    static const uint64_t all[4] = {1, 0, 0, 0};
    struct tim_cache_result r;

    tim_cache_read(cache, line, all, warp, 0xffff, &r);
    *new = r.answer == TIM_CACHE_MISS;
    return tim_cache_is_blocked(r.answer) ? TIM_FRONT_BLOCKED : TIM_FRONT_COMES;
}

enum tim_front_answer tim_front_fetch(struct tim_front *front, unsigned s, uint64_t line, unsigned warp, uint64_t end)
{
    struct tim_front_sched *sched = &front->sched[s];
    enum tim_front_answer answer;
    bool new, ahead;

    if (tim_cache_read_whole(sched->code, line)) {
        front->counters[TIM_CORE_l0_hits]++;
        return TIM_FRONT_THERE;
    }
    ahead = continues(front, s, line);
    if (ahead && entry_of(&sched->stream, 0)->there) {
        static const uint64_t whole[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
        struct tim_cache_result r;

        /* if all ways of the set wait for lines, the fetch uses the line from the stream buffer, and L0 does not store it */
        tim_cache_write(sched->code, line, whole, true, false, 0xffff, &r);
        front->counters[TIM_CORE_l0_misses]++;
        front->counters[TIM_CORE_prefetches_used]++;
        pop(front, s);
        return TIM_FRONT_THERE;
    }
    answer = miss(sched->code, line, warp, &new);
    if (answer == TIM_FRONT_BLOCKED)
        return answer;
    front->counters[TIM_CORE_l0_misses]++;
    if (new && ahead) {
        front->request[entry_of(&sched->stream, 0)->request].claimed = true;
        front->counters[TIM_CORE_prefetches_used]++;
    } else if (new) {
        enqueue(front, s, TIM_FRONT_CODE, line);
        if (front->config->fetch_prefetch != 0)
            restart(front, s, line, end);
    }
    return answer;
}

enum tim_front_answer tim_front_operand(struct tim_front *front, unsigned s, uint64_t line, unsigned warp)
{
    enum tim_front_answer answer;
    bool new;

    if (tim_cache_read_whole(front->sched[s].operand, line)) {
        front->counters[TIM_CORE_operand_hits]++;
        return TIM_FRONT_THERE;
    }
    answer = miss(front->sched[s].operand, line, warp, &new);
    if (answer == TIM_FRONT_BLOCKED)
        return answer;
    front->counters[TIM_CORE_operand_misses]++;
    if (new)
        enqueue(front, s, TIM_FRONT_OPERAND, line);
    return answer;
}

void tim_front_load(struct tim_front *front, uint64_t line)
{
    enqueue(front, front->config->issue_schedulers, TIM_FRONT_LOAD, line);
}

/* ---- the arbiter --------------------------------------------------------------------------------------- */

/** Sends the first request in the queue of scheduler @s or, if the queue is empty, a prefetch of its stream buffer.
 *  Returns false if there is neither. */
static bool grant_to(struct tim_front *f, unsigned s, uint64_t now)
{
    struct tim_front_sched *sched = &f->sched[s];

    if (sched->queued == 0)
        return s < f->config->issue_schedulers && prefetch(f, s, now);
    add_step(&f->down, sched->queue[0], now + f->config->fetch_link);
    sched->queued--;
    memmove(sched->queue, sched->queue + 1, sched->queued * sizeof *sched->queue);
    return true;
}

/** Sends one request of a scheduler: the first one, in rotation from goes_first on, that has a request. Returns false if no
 *  scheduler has a request. */
static bool grant_one(struct tim_front *front, bool all, uint64_t now)
{
    unsigned count = front->config->issue_schedulers + 1;

    for (unsigned k = 0; k < count; k++) {
        unsigned s = front->goes_first + k < count ? front->goes_first + k : front->goes_first + k - count;

        if (!all && (front->may_request >> s & 1) == 0)
            continue;
        if (grant_to(front, s, now)) {
            front->goes_first = s + 1 < count ? s + 1 : 0;
            return true;
        }
        front->may_request &= ~(1u << s);
    }
    return false;
}

bool tim_front_grant(struct tim_front *front, bool all, uint64_t now)
{
    bool any = false;

    for (unsigned k = front->taken; k < front->config->fetch_ports && grant_one(front, all, now); k++)
        any = true;
    return any;
}
