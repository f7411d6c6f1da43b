/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: a ring of snapshots, and a schedule log. A snapshot contains the machine's state (emu_state.c) and the pages of global
 * memory that were written since the preceding snapshot. The contents of a page at the time of a snapshot are therefore in this
 * snapshot or, if it does not contain the page, in the nearest earlier snapshot that contains the page. To move to an
 * instruction, the engine restores the nearest snapshot at or before the instruction and replays the log from there.
 */
#include "emu/history/emu_history_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/memory/emu_mem_priv.h"
#include "emu/engine/emu_threads_priv.h"

enum { MOST_SNAPSHOTS = 100, MOST_VISITS = 24 };
#define VISIT_FAR UINT64_C(65536) /* a snapshot in the past is taken only if the preceding snapshot is at least this number of
                                   * instructions away */
#define LEAST_HALF UINT64_C(1024) /* When the machine moves back, a snapshot in the middle of the replayed instructions is taken
                                   * only if each half has at least this number of instructions, and if the replay of a half takes
                                   * as long as eight snapshots. */
#define SPEED_GUESS 2e7           /* speed of a replay, in instructions per second, assumed until it is measured */
#define DEFAULT_BUDGET (UINT64_C(256) << 20)
#define FIRST_LOOK UINT64_C(65536) /* first estimate of the number of warp instructions between two readings of the clock */
#define LEAST_SECONDS 0.02 /* shortest time between two snapshots; the time is also at least 50 times the duration of a
                            * snapshot */

struct snapshot {
    uint64_t instructions;
    struct emu_log_cursor cursor;
    struct emu_bytes state;
    struct emu_pages pages; /* pages written since the preceding snapshot; the first snapshot contains all pages that are not
                             * zero */
    bool visit; /* the snapshot was taken while the machine was in the past, where a user inspected the run */
};

/** State of the host after the host steps up to a position of the log. */
struct mark {
    struct emu_log_cursor cursor;
    void *data;
    size_t size;
};

struct emu_history {
    struct emu_recorder recorder; /* functions that the engine calls; must be the first member */
    struct emu_functional *f;
    struct emu_machine *machine;
    struct emu_log *log;
    bool own_log;
    struct emu_history_options options;
    struct snapshot *snap;
    size_t count, capacity;
    size_t at; /* index of the snapshot from which global memory differs only in pages with EMU_DIRTY_CHANGED */
    struct mark *mark;
    size_t mark_count, mark_capacity;
    uint64_t host_steps; /* value of the log's host_steps when the last mark was added */
    uint64_t latest;     /* while the machine is in the past: instruction count at the end of history */
    double taken;        /* time at which the last snapshot was taken */
    double cost;         /* duration of the last snapshot */
    double visit_cost;   /* duration of the last snapshot that was taken in the past */
    double speed;        /* speed of the last long replay, in instructions per second, or 0 if it is not measured yet */
    uint64_t looked_at;  /* instruction count when the clock was last read */
    double looked;       /* time when the clock was last read */
    bool ended;
    char why[200];       /* reason why history ended, or why earlier history was dropped; otherwise "" */
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- snapshots and the log within the budget --------------------------------------------------- */

static uint64_t bytes_of(const struct emu_history *h)
{
    uint64_t bytes = h->log->bytes.capacity;

    for (size_t i = 0; i < h->count; i++)
        bytes += h->snap[i].state.capacity + emu_pages_bytes(&h->snap[i].pages);
    for (size_t i = 0; i < h->mark_count; i++)
        bytes += h->mark[i].size;
    return bytes;
}

static void free_snapshot(struct snapshot *s)
{
    emu_bytes_fini(&s->state);
    emu_pages_fini(&s->pages);
}

static void end_history(struct emu_history *h, const char *why)
{
    for (size_t i = 0; i < h->count; i++)
        free_snapshot(&h->snap[i]);
    h->count = 0;
    h->ended = true;
    h->f->snapshot_at = UINT64_MAX;
    snprintf(h->why, sizeof h->why, "%s", why);
}

/** Removes snapshot @i and gives its pages to the following snapshot, which keeps its own version of pages that both contain.
 *  Returns false if there is no memory. */
static bool merge_snapshot(struct emu_history *h, size_t i)
{
    if (!emu_pages_merge(&h->snap[i + 1].pages, &h->snap[i].pages))
        return false;
    free_snapshot(&h->snap[i]);
    memmove(&h->snap[i], &h->snap[i + 1], (h->count - i - 1) * sizeof *h->snap);
    h->count--;
    if (h->at > i)
        h->at--;
    return true;
}

/** Removes the first snapshot. History can then no longer return to instruction counts before the second snapshot. */
static bool drop_first(struct emu_history *h)
{
    size_t kept = 0;

    if (!merge_snapshot(h, 0))
        return false;
    snprintf(h->why, sizeof h->why,
             "the earlier part was dropped, as history may use only %llu MiB",
             (unsigned long long)(h->options.budget_bytes >> 20));
    /* of the marks before the new first snapshot, only the last one is needed: it contains the host's state at that snapshot */
    for (size_t i = 0; i < h->mark_count; i++) {
        bool hidden = i + 1 < h->mark_count &&
                      !emu_log_is_before(&h->mark[i + 1].cursor, &h->snap[0].cursor);
        if (hidden)
            free(h->mark[i].data);
        else
            h->mark[kept++] = h->mark[i];
    }
    h->mark_count = kept;
    if (!h->own_log)
        return true;
    size_t gone = h->snap[0].cursor.at;
    emu_log_trim(h->log, gone);
    for (size_t i = 0; i < h->count; i++)
        h->snap[i].cursor.at -= gone;
    for (size_t i = 0; i < h->mark_count; i++)
        h->mark[i].cursor.at -= h->mark[i].cursor.at < gone ? h->mark[i].cursor.at : gone;
    return true;
}

/** Returns the index of the snapshot to remove. The function selects the snapshot whose removal leaves the smallest gap relative
 *  to the age of the gap, so that old snapshots become sparse and recent ones stay dense. */
static size_t least_missed(const struct emu_history *h)
{
    uint64_t now = h->snap[h->count - 1].instructions;
    double best = 0;
    size_t found = 0;

    for (size_t i = 1; i + 1 < h->count; i++) {
        double gap = (double)(h->snap[i + 1].instructions - h->snap[i - 1].instructions);
        double score = gap / ((double)(now - h->snap[i].instructions) + 1);
        if (found == 0 || score < best) {
            best = score;
            found = i;
        }
    }
    return found;
}

/** Removes the newest snapshot, because the memory of all snapshots exceeds the budget. */
static void drop_last(struct emu_history *h)
{
    struct snapshot *s = &h->snap[--h->count];

    for (size_t p = 0; p < s->pages.count; p++)
        h->machine->memory.dirty[s->pages.page[p].number] |= EMU_DIRTY_CHANGED;
    free_snapshot(s);
    h->at = h->count - 1;
}

/** Removes snapshots until the budget is met. @keep_first: the range of reachable instruction counts must not shrink; if no other
 *  snapshot can be removed, the newest snapshot is removed. */
static void reserve_snapshot(struct emu_history *h, bool keep_first)
{
    char why[200];

    while (h->count > MOST_SNAPSHOTS || bytes_of(h) > h->options.budget_bytes) {
        size_t i = least_missed(h);
        if (keep_first && i == 0 && h->count >= 2) {
            drop_last(h);
            return;
        }
        if (h->count < 2) {
            snprintf(why, sizeof why, "one snapshot of the kernels' memory takes %llu MiB, but history may use only "
                                      "%llu", (unsigned long long)(bytes_of(h) >> 20),
                     (unsigned long long)(h->options.budget_bytes >> 20));
            end_history(h, why);
            return;
        }
        if (!(i != 0 ? merge_snapshot(h, i) : drop_first(h))) {
            end_history(h, "the host has no memory for history");
            return;
        }
    }
}

/* ---- snapshots ------------------------------------------------------------------------------ */

static void take(struct emu_history *h, bool keep_first)
{
    struct emu_memory *memory = &h->machine->memory;
    double start = seconds();
    struct snapshot s = {.instructions = h->f->core->retired};
    bool first = h->count == 0;

    s.cursor = emu_log_position(h->log);
    emu_state_save(h->f, &s.state);
    if (s.state.failed || h->log->bytes.failed ||
        !lw_grow(&h->snap, &h->capacity, h->count + 1, sizeof *h->snap) ||
        !emu_pages_take(&s.pages, memory, first ? EMU_DIRTY_TOUCHED : EMU_DIRTY_CHANGED,
                        !first)) {
        free_snapshot(&s);
        end_history(h, "the host has no memory for history");
        return;
    }
    h->snap[h->count++] = s;
    h->at = h->count - 1;
    reserve_snapshot(h, keep_first);
    h->taken = h->looked = seconds();
    h->cost = h->taken - start;
    h->looked_at = h->f->core->retired;
}

/** Returns the index of the last snapshot at or before instruction count @instructions. */
static size_t nearest(const struct emu_history *h, uint64_t instructions)
{
    size_t k = 0;

    while (k + 1 < h->count && h->snap[k + 1].instructions <= instructions)
        k++;
    return k;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/** Keeps the number of snapshots taken in the past below its limit: if necessary, removes the snapshot that is farthest from the
 *  machine's position, but never the snapshot from which the machine was restored. Returns false if no snapshot can be
 *  removed. */
static bool forget_visit(struct emu_history *h)
{
    uint64_t now = h->f->core->retired;
    unsigned visits = 0;
    size_t far = 0;

    for (size_t i = 1; i + 1 < h->count; i++)
        if (h->snap[i].visit) {
            visits++;
            if (i != h->at && (far == 0 || distance(h->snap[i].instructions, now) >
                                               distance(h->snap[far].instructions, now)))
                far = i;
        }
    return visits < MOST_VISITS || (far != 0 && merge_snapshot(h, far));
}

/** Takes a snapshot in the past if the preceding snapshot is at least @far instructions away, because a user who inspects a
 *  position often returns to it. The snapshot stores all pages that have changed since the machine was restored from a snapshot.
 *  The changed pages can be more than necessary, which is harmless. If there is no memory, no snapshot is taken. */
static void visit(struct emu_history *h, uint64_t far)
{
    struct emu_memory *memory = &h->machine->memory;
    struct snapshot s = {.instructions = h->f->core->retired, .visit = true};
    size_t at = nearest(h, s.instructions) + 1;
    double start = seconds();

    if (s.instructions - h->snap[at - 1].instructions < far || !emu_log_is_replaying(h->log) ||
        !forget_visit(h))
        return;
    at = nearest(h, s.instructions) + 1;
    s.cursor = emu_log_position(h->log);
    emu_state_save(h->f, &s.state);
    if (s.state.failed || !lw_grow(&h->snap, &h->capacity, h->count + 1, sizeof *h->snap) ||
        !emu_pages_take(&s.pages, memory, EMU_DIRTY_CHANGED, true)) {
        free_snapshot(&s);
        return;
    }
    h->visit_cost = seconds() - start;
    if (bytes_of(h) + s.state.capacity + emu_pages_bytes(&s.pages) > h->options.budget_bytes) {
        for (size_t p = 0; p < s.pages.count; p++)
            memory->dirty[s.pages.page[p].number] |= EMU_DIRTY_CHANGED;
        free_snapshot(&s);
        return;
    }
    memmove(&h->snap[at + 1], &h->snap[at], (h->count - at) * sizeof *h->snap);
    h->snap[at] = s;
    h->count++;
    h->at = at;
}

/** Sets f->snapshot_at, the instruction count at which the engine next calls tick(). */
static void plan(struct emu_history *h)
{
    uint64_t now = h->f->core->retired;
    double at = seconds(), elapsed = at - h->looked, pause = h->cost * 50;
    double left = (pause > LEAST_SECONDS ? pause : LEAST_SECONDS) - (at - h->taken);
    uint64_t step = FIRST_LOOK;

    if (h->ended)
        return;
    if (h->options.interval != 0) {
        h->f->snapshot_at = now + h->options.interval;
        return;
    }
    if (elapsed > 1e-5 && now > h->looked_at && left > 0) {
        double guess = left * (double)(now - h->looked_at) / elapsed;
        step = guess < 1024 ? 1024 : guess > 1e9 ? (uint64_t)1e9 : (uint64_t)guess;
        if (step > 16 * FIRST_LOOK && step > 4 * (now - h->looked_at))
            step = 4 * (now - h->looked_at) > FIRST_LOOK ? 4 * (now - h->looked_at) : FIRST_LOOK;
    }
    h->looked = at;
    h->looked_at = now;
    h->f->snapshot_at = now + step;
}

/** Takes a snapshot if it is time for one. The engine calls this function between two time slices when the instruction count has
 *  reached f->snapshot_at. */
static void tick(struct emu_recorder *recorder)
{
    struct emu_history *h = (struct emu_history *)recorder; /* recorder is the first member */
    double pause = h->cost * 50;

    if (h->ended)
        return;
    if (emu_log_is_replaying(h->log)) { /* a replay needs no snapshots, because history already has them */
        h->f->snapshot_at = h->f->core->retired + FIRST_LOOK;
        return;
    }
    if (h->options.interval != 0 ||
        seconds() - h->taken >= (pause > LEAST_SECONDS ? pause : LEAST_SECONDS))
        take(h, false);
    plan(h);
}

static void add_mark(struct emu_history *h)
{
    struct mark m = {.cursor = emu_log_position(h->log)};

    h->host_steps = h->log->host_steps;
    if (h->options.save_host == NULL)
        return;
    if (!lw_grow(&h->mark, &h->mark_capacity, h->mark_count + 1, sizeof *h->mark) ||
        !h->options.save_host(h->options.context, &m.data, &m.size)) {
        end_history(h, "the host has no memory for history");
        return;
    }
    h->mark[h->mark_count++] = m;
}

/** Called before the engine executes instructions at the end of history. If the host has made steps since the last call, records
 *  the host's state as a mark. */
static void begin(struct emu_recorder *recorder)
{
    struct emu_history *h = (struct emu_history *)recorder;

    if (h->ended || emu_log_is_replaying(h->log))
        return;
    if (h->log->host_steps != h->host_steps)
        add_mark(h);
    if (h->log->bytes.failed)
        end_history(h, "the host has no memory for history");
}

/* ---- moving to an instruction ------------------------------------------------------------ */

/** Returns the contents of a page of global memory at the time of snapshot @k, or NULL if the page was zero. */
static const uint8_t *page_at(const struct emu_history *h, size_t k, uint64_t number)
{
    for (size_t i = k + 1; i-- > 0;) {
        const struct emu_page *page = emu_pages_find(&h->snap[i].pages, number);
        if (page != NULL)
            return page->data;
    }
    return NULL;
}

static enum lw_status restore(struct emu_history *h, size_t k, struct lw_error *err)
{
    struct emu_memory *memory = &h->machine->memory;
    struct emu_reader in = {.data = h->snap[k].state.data, .size = h->snap[k].state.size};
    size_t low = k < h->at ? k : h->at, high = k < h->at ? h->at : k;
    uint64_t end = memory->next_free / EMU_PAGE_BYTES;
    enum lw_status status;

    for (size_t i = low + 1; i <= high; i++) {
        const struct emu_pages *pages = &h->snap[i].pages;
        for (size_t p = 0; p < pages->count; p++)
            memory->dirty[pages->page[p].number] |= EMU_DIRTY_CHANGED;
        if (pages->count != 0 && pages->page[pages->count - 1].number >= end)
            end = pages->page[pages->count - 1].number + 1;
    }
    for (uint64_t page = 0; page < end; page++) {
        if (page % 8 == 0 && page + 8 <= end &&
            (lw_get64(memory->dirty + page) & UINT64_C(0x0101010101010101)) == 0) {
            page += 7;
            continue;
        }
        if (memory->dirty[page] & EMU_DIRTY_CHANGED)
            emu_page_put(memory, page, page_at(h, k, page));
    }
    h->at = k;
    emu_machine_begin_replay(h->machine);
    h->log->applying = true; /* nothing is recorded while the state is loaded */
    status = emu_state_load(h->f, &in, true, err);
    h->log->applying = false;
    h->f->counted.at = 0; /* invalidates the cached number of warps, which is cached for an instruction count: after a move, the
                           * number of warps at the same count can be different */
    emu_log_seek(h->log, &h->snap[k].cursor);
    return status;
}

/** Replays to instruction count @to, and takes snapshots on the way. A user who moves back usually makes further small steps
 *  back, each of which would replay all instructions since the preceding snapshot. Therefore, if the replay of half of these
 *  instructions takes much longer than a snapshot, a snapshot is taken after that half, and again after half of the remaining
 *  instructions. All further steps back together then replay about n * log(m) instructions, where n is the number that one step
 *  would have replayed, and m is the number of steps. */
static enum lw_status replay_by_halves(struct emu_history *h, uint64_t to, struct lw_error *err)
{
    enum lw_status status = LW_OK;

    while (status == LW_OK && h->f->core->retired < to) {
        uint64_t from = h->f->core->retired, half = (to - from) / 2;
        double cost = h->visit_cost > 0 ? h->visit_cost : h->cost;
        double least = 8 * cost * (h->speed > 0 ? h->speed : SPEED_GUESS), start;

        if (half < LEAST_HALF || (double)half < least)
            break;
        start = seconds();
        status = emu_replay_to(h->f, from + half, NULL, err);
        if (status != LW_OK || h->f->core->retired != from + half)
            break;
        h->speed = (double)half / (seconds() - start + 1e-9);
        visit(h, half / 2);
    }
    return status == LW_OK ? emu_replay_to(h->f, to, NULL, err) : status;
}

enum lw_status emu_history_goto(struct emu_history *h, uint64_t instructions,
                                struct lw_error *err)
{
    uint64_t now = h->f->core->retired;
    enum lw_status status = LW_OK;

    if (h->ended)
        return LW_FAIL(err, LW_ESTATE, "history is not recorded: %s", h->why);
    if (emu_threads_are_running(h->f))
        return emu_fixed_on_threads(err);
    if (!emu_log_is_replaying(h->log)) {
        h->latest = now;
        const struct snapshot *last = &h->snap[h->count - 1];
        struct emu_log_cursor here = emu_log_position(h->log);
        bool there = last->cursor.at == here.at && last->cursor.done == here.done;
        if (!there && instructions < now && instructions >= h->snap[0].instructions)
            take(h, true); /* from this snapshot, the machine can quickly return to its present position */
        if (h->ended)
            return LW_FAIL(err, LW_ESTATE, "history is not recorded: %s", h->why);
    }
    if (instructions < h->snap[0].instructions)
        return LW_FAIL(err, LW_ERANGE, "cannot go to instruction %llu: history starts at %llu%s%s",
                       (unsigned long long)instructions,
                       (unsigned long long)h->snap[0].instructions, h->why[0] ? "; " : "", h->why);
    if (instructions > h->latest && instructions != UINT64_MAX)
        return LW_FAIL(err, LW_ERANGE, "cannot go to instruction %llu: history ends at %llu",
                       (unsigned long long)instructions, (unsigned long long)h->latest);
    if (!emu_log_is_replaying(h->log) && instructions >= now)
        return LW_OK;
    if (instructions >= h->latest)
        instructions = UINT64_MAX; /* to the end of history, so that host steps at this instruction count are included */
    size_t k = nearest(h, instructions);
    if (instructions < now || h->snap[k].instructions > now)
        status = restore(h, k, err);
    if (status == LW_OK)
        status = instructions < now ? replay_by_halves(h, instructions, err)
                                    : emu_replay_to(h->f, instructions, NULL, err);
    if (status != LW_OK)
        end_history(h, "a replay of the history failed");
    return status;
}

enum lw_status emu_history_walk(struct emu_history *h, uint64_t from, uint64_t to,
                                struct emu_observer *observer, struct lw_error *err)
{
    enum lw_status status = emu_history_goto(h, from, err);

    if (status != LW_OK)
        return status;
    visit(h, VISIT_FAR);
    observer->next = NULL;
    status = emu_replay_to(h->f, to, observer, err);
    if (status != LW_OK)
        end_history(h, "a replay of the history failed");
    return status;
}

/** Called before the log drops its entries after the machine's position: drops the snapshots and marks after this position. */
static void on_forget(void *context)
{
    struct emu_history *h = context;
    struct emu_log_cursor here = h->log->cursor;

    while (h->count > 1 && emu_log_is_before(&h->snap[h->count - 1].cursor, &here))
        free_snapshot(&h->snap[--h->count]);
    while (h->mark_count > 1 && emu_log_is_before(&h->mark[h->mark_count - 1].cursor, &here))
        free(h->mark[--h->mark_count].data);
    if (h->mark_count != 0 && h->options.load_host != NULL)
        h->options.load_host(h->options.context, h->mark[h->mark_count - 1].data,
                             h->mark[h->mark_count - 1].size);
    h->host_steps = h->log->host_steps;
    plan(h);
    emu_machine_end_replay(h->machine, false);
    if (h->options.forgotten != NULL)
        h->options.forgotten(h->options.context);
}

/* ---- entry points ------------------------------------------------------------------------------- */

enum lw_status emu_history_create(struct emu_engine *engine,
                                  const struct emu_history_options *options,
                                  struct emu_history **out, struct lw_error *err)
{
    struct emu_functional *f = emu_fixed_of(engine);
    struct emu_history *h;
    enum lw_status status = LW_OK;

    if (f == NULL)
        return LW_FAIL(err, LW_EUNSUPP, "the engine '%s' does not support history", engine->ops->name);
    if (f->history != NULL)
        return LW_FAIL(err, LW_ESTATE, "the engine records a history already");
    if (emu_threads_are_running(f))
        return emu_fixed_on_threads(err);
    h = calloc(1, sizeof *h);
    if (h == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the history");
    h->f = f;
    h->machine = engine->machine;
    if (options != NULL)
        h->options = *options;
    if (h->options.budget_bytes == 0)
        h->options.budget_bytes = DEFAULT_BUDGET;
    if (h->machine->log == NULL) {
        status = emu_log_create(h->machine, &h->log, err);
        h->own_log = true;
    } else {
        h->log = h->machine->log;
    }
    if (status != LW_OK) {
        free(h);
        return status;
    }
    h->log->keep_data = true;
    h->log->on_forget = on_forget;
    h->log->context = h;
    h->recorder = (struct emu_recorder){.begin = begin, .tick = tick};
    f->history = &h->recorder;
    take(h, false);
    add_mark(h);
    plan(h);
    *out = h;
    return LW_OK;
}

void emu_history_destroy(struct emu_history *h)
{
    if (h == NULL)
        return;
    end_history(h, "");
    for (size_t i = 0; i < h->mark_count; i++)
        free(h->mark[i].data);
    h->f->history = NULL;
    h->log->on_forget = NULL;
    h->log->keep_data = false;
    if (h->own_log)
        emu_log_destroy(h->log);
    free(h->snap);
    free(h->mark);
    free(h);
}

void emu_history_info(const struct emu_history *h, struct emu_history_info *out)
{
    bool past = !h->ended && emu_log_is_replaying(h->log);

    *out = (struct emu_history_info){
        .kept = !h->ended,
        .in_past = past,
        .now = h->f->core->retired,
        .latest = past ? h->latest : h->f->core->retired,
        .earliest = h->ended ? h->f->core->retired : h->snap[0].instructions,
        .snapshots = (unsigned)h->count,
        .bytes = bytes_of(h),
        .budget_bytes = h->options.budget_bytes,
        .why = h->why,
    };
}

uint64_t emu_history_before(const struct emu_history *h, uint64_t instructions)
{
    size_t k = 0;

    if (h->count == 0)
        return h->f->core->retired;
    while (k + 1 < h->count && h->snap[k + 1].instructions < instructions)
        k++;
    return h->snap[k].instructions;
}
