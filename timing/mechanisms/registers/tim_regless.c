/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RegLess: there is no register file. An operand staging unit has entries for the registers that warps use soon, and the
 * values of all other registers are in memory. The code is divided into regions (tim_regions.c). A warp executes a region
 * only while the unit has an entry for each register of the region, so that no instruction waits for an entry:
 *
 *                 next instruction is in         the unit has capacity: entries                  all its values
 *                 no region of the warp          for all registers of the region             have arrived
 *   INACTIVE --------------------------> QUEUED ------------------------------> PRELOADING ----------------> ACTIVE
 *      ^                                                                                                       |
 *      +-------------------------------------------------------------------------------------------------------+
 *                                    the last instruction of the region has issued
 *
 * An entry is pinned while its register is in the region of its warp, or an instruction in flight accesses it. When it is no
 * longer pinned, the entry is free if no lane in any split of the warp may still read the register (tim_live.c). Otherwise
 * the entry keeps its value until another warp needs the entry. The entry that has not been pinned for the longest time is
 * evicted first. Its value is written to memory if memory does not have it.
 *
 * Warps get capacity in the order of their requests; no warp overtakes another one. A warp requests capacity when no
 * instruction in flight accesses registers of its next region. A region with capacity never waits for another warp, so each
 * warp gets capacity in the end.
 *
 * Source: specification of the book on GPU architectures, section 13. Our choices: an entry is pinned to the end of the
 * region; the order of warps and of evictions; accesses to memory take a fixed time, and do not use L1; values are not
 * compressed.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { REGISTERS = 256, NONE = 0xffff, WINDOW = 100 };
enum { INACTIVE, QUEUED, ENTERED };

struct entry {
    bool used;
    uint16_t warp;
    uint8_t reg;
    uint64_t released; /* order in which entries were unpinned */
};
struct regless_warp {
    bool lives;
    bool changed;             /* the next instruction may be in another region */
    uint8_t state;            /* ENTERED: PRELOADING before cycle ready_at, then ACTIVE */
    struct tim_region region; /* QUEUED, ENTERED: the region */
    uint64_t ready_at;
    struct tim_vectors pinned, busy; /* busy: an instruction in flight accesses the register */
    struct tim_vectors dirty;        /* the value of the entry is newer than the value in memory */
    struct tim_vectors memory;       /* memory has a value of the register */
    uint64_t window;                 /* number of the window of `touched` */
    struct tim_vectors touched;      /* registers accessed in the window */
    uint16_t at[REGISTERS];          /* entry of each register, or NONE */
    uint16_t flying[REGISTERS];      /* number of instructions in flight that access the register */
};
struct regless {
    struct tim_mech base;
    unsigned size, used, pinned; /* numbers of entries: all, used, pinned */
    uint64_t releases;
    uint64_t port;               /* next time of a port: cycle * regless.ports + number of the port */
    uint64_t since;              /* first cycle for which entries have not been counted */
    unsigned then;               /* number of used entries from `since` on */
    bool waits;                  /* a warp may request capacity or enter a region in the next cycle */
    uint64_t saved_since;        /* first cycle for which regless_rows_saved has not been counted */
    unsigned queued;
    uint16_t queue[TIM_MAX_WARPS]; /* [queued] warps that request capacity, in order */
    struct entry *entry;           /* [size] */
    struct regless_warp warp[];
};

static bool is_on(const struct tim_config *config)
{
    return config->regless_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *c = core->config;
    struct regless *r = calloc(1, sizeof *r + c->core_warps * sizeof r->warp[0]);

    if (r == NULL)
        return NULL;
    r->size = tim_regless_entries(c);
    r->entry = calloc(r->size, sizeof *r->entry);
    if (r->entry == NULL) {
        free(r);
        return NULL;
    }
    return &r->base;
}

static void destroy(struct tim_mech *mech)
{
    free(((struct regless *)mech)->entry);
    free(mech);
}

/* ---- entries ----------------------------------------------------------------------------------------- */

static void count_entries(struct regless *r, uint64_t before)
{
    if (before > r->since) {
        r->base.core->count[TIM_CORE_regless_entries] += r->then * (before - r->since);
        r->since = before;
    }
}

static void free_entry(struct regless *r, struct regless_warp *w, unsigned reg)
{
    r->entry[w->at[reg]].used = false;
    w->at[reg] = NONE;
    tim_vectors_remove(&w->dirty, reg);
    r->used--;
}

static void pin(struct regless *r, struct regless_warp *w, unsigned reg)
{
    r->pinned += !tim_vectors_has(&w->pinned, reg);
    tim_vectors_add(&w->pinned, reg);
}

/** Unpins a register that is not in the region of its warp and that no instruction in flight accesses. @live: registers that
 *  lanes of the warp may still read. */
static void unpin(struct regless *r, struct regless_warp *w, unsigned reg, const struct tim_vectors *live)
{
    if (!tim_vectors_has(&w->pinned, reg) || tim_vectors_has(&w->busy, reg))
        return;
    if (w->state == ENTERED && tim_vectors_has(&w->region.registers, reg))
        return;
    tim_vectors_remove(&w->pinned, reg);
    r->pinned--;
    r->entry[w->at[reg]].released = ++r->releases;
    if (!tim_vectors_has(live, reg)) {
        r->base.core->count[TIM_CORE_regless_dead]++;
        free_entry(r, w, reg);
    }
}

/** Takes a port of the unit, from cycle @from on, and returns the cycle in which the access is made. */
static uint64_t take_port(struct regless *r, uint64_t from)
{
    const unsigned ports = r->base.core->config->regless_ports;

    r->port = r->port > from * ports ? r->port : from * ports;
    return r->port++ / ports;
}

/** Returns a free entry; evicts a value if there is none. */
static unsigned take_entry(struct regless *r, uint64_t now)
{
    unsigned oldest = NONE;

    for (unsigned e = 0; e < r->size; e++) {
        const struct entry *entry = &r->entry[e];

        if (!entry->used)
            return e;
        if (!tim_vectors_has(&r->warp[entry->warp].pinned, entry->reg) && (oldest == NONE || entry->released < r->entry[oldest].released))
            oldest = e;
    }
    assert(oldest != NONE); /* a warp enters a region only if the pinned entries and the entries of the region together fit
                             * into the unit */
    struct regless_warp *w = &r->warp[r->entry[oldest].warp];
    const unsigned reg = r->entry[oldest].reg;

    if (tim_vectors_has(&w->dirty, reg)) {
        r->base.core->count[TIM_CORE_regless_writebacks]++;
        tim_vectors_add(&w->memory, reg);
        (void)take_port(r, now);
    } else {
        r->base.core->count[TIM_CORE_regless_drops]++;
    }
    free_entry(r, w, reg);
    return oldest;
}

/* ---- regions ----------------------------------------------------------------------------------------- */

static unsigned count_of(const struct tim_vectors *set)
{
    unsigned count = 0;

    for (unsigned i = 0; i < LW_COUNT_OF(set->word); i++)
        count += lw_popcount(set->word[i]);
    return count;
}

/** Returns whether the sets have a common register. */
static bool overlaps(const struct tim_vectors *a, const struct tim_vectors *b)
{
    uint64_t both = 0;

    for (unsigned i = 0; i < LW_COUNT_OF(a->word); i++)
        both |= a->word[i] & b->word[i];
    return both != 0;
}

/** Returns whether the unit has capacity for the region of a warp. */
static bool has_capacity(const struct regless *r, const struct regless_warp *w)
{
    unsigned more = 0;

    for (unsigned i = 0; i < LW_COUNT_OF(w->pinned.word); i++)
        more += lw_popcount(w->region.registers.word[i] & ~w->pinned.word[i]);
    return r->pinned + more <= r->size;
}

static void leave_queue(struct regless *r, unsigned warp)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < r->queued; i++)
        if (r->queue[i] != warp)
            r->queue[kept++] = r->queue[i];
    r->queued = kept;
}

/** Ends the region of a warp, or its request for capacity. */
static void leave(struct regless *r, unsigned warp)
{
    struct regless_warp *w = &r->warp[warp];
    struct tim_vectors live;

    if (w->state == QUEUED)
        leave_queue(r, warp);
    w->changed = r->waits = true;
    if (w->state != ENTERED) {
        w->state = INACTIVE;
        return;
    }
    w->state = INACTIVE;
    if (!tim_mech_live(r->base.core, warp, &live))
        live = (struct tim_vectors){{0}};
    for (unsigned i = 0; i < LW_COUNT_OF(live.word); i++) {
        for (LW_EACH_BIT(b, w->pinned.word[i]))
            unpin(r, w, i * 64 + (unsigned)b, &live);
        w->memory.word[i] &= live.word[i];
    }
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        if (w->at[reg] != NONE && !tim_vectors_has(&w->pinned, reg) && !tim_vectors_has(&live, reg)) {
            r->base.core->count[TIM_CORE_regless_dead]++;
            free_entry(r, w, reg);
        }
}

/** Gives the warp the entries of its region, and loads the values that its lanes may read. */
static void enter(struct regless *r, unsigned warp)
{
    const struct tim_config *config = r->base.core->config;
    struct regless_warp *w = &r->warp[warp];
    uint64_t *count = r->base.core->count, now = r->base.core->now;
    struct tim_vectors live;

    (void)tim_mech_live(r->base.core, warp, &live);
    w->state = ENTERED;
    w->ready_at = now + 1;
    count[TIM_CORE_regless_regions]++;
    for (unsigned reg = 0; reg < REGISTERS; reg++) /* pins the existing entries of the region before other entries are taken,
                                                    * so that none of them is evicted */
        if (tim_vectors_has(&w->region.registers, reg) && w->at[reg] != NONE)
            pin(r, w, reg);
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        const bool has = w->at[reg] != NONE, loads = tim_vectors_has(&w->memory, reg);
        uint64_t at;

        if (!tim_vectors_has(&w->region.registers, reg))
            continue;
        if (!has) {
            w->at[reg] = (uint16_t)take_entry(r, now);
            r->entry[w->at[reg]] = (struct entry){.used = true, .warp = (uint16_t)warp, .reg = (uint8_t)reg};
            r->used++;
            pin(r, w, reg);
        }
        if (!tim_vectors_has(&live, reg) || (!has && !loads))
            continue;
        at = take_port(r, now) + 1;
        count[has ? TIM_CORE_regless_hits : TIM_CORE_regless_loads]++;
        at += has ? 0 : config->regless_latency;
        w->ready_at = at > w->ready_at ? at : w->ready_at;
    }
}

/** Returns whether an instruction is in the region that the warp has entered. */
static bool is_inside(const struct regless_warp *w, const struct tim_mech_warp *is)
{
    const uint64_t i = (is->pc - is->code->base) / ISA_WORD_BYTES;

    return i >= w->region.first && i < w->region.end;
}

/** Requests capacity for the region of the next instruction of a warp, if the warp has not entered that region. */
static void request(struct regless *r, unsigned warp)
{
    struct regless_warp *w = &r->warp[warp];
    struct tim_mech_warp is;

    r->base.core->look(r->base.core->context, warp, &is);
    if (is.lanes == 0 || is.pc < is.code->base || is.pc >= is.code->end)
        return; /* no split runs; `flows` is called when a split runs again */
    if (w->state != INACTIVE && is_inside(w, &is)) {
        w->changed = false;
        return;
    }
    leave(r, warp);
    w->region = is.code->region[(is.pc - is.code->base) / ISA_WORD_BYTES];
    if (overlaps(&w->region.registers, &w->busy))
        return; /* the warp requests capacity later, when the instruction in flight has written its results */
    w->changed = false;
    w->state = QUEUED;
    r->queue[r->queued++] = (uint16_t)warp;
}

/* ---- hooks ------------------------------------------------------------------------------------------- */

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct regless_warp *w = &((struct regless *)mech)->warp[warp];

    (void)age;
    memset(w, 0, sizeof *w);
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        w->at[reg] = NONE;
    w->lives = w->changed = ((struct regless *)mech)->waits = true;
    (void)tim_mech_live(mech->core, warp, &w->memory); /* no registers, unless the block was suspended; after a suspension,
                                                        * its values are in memory */
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct regless *r = (struct regless *)mech;
    struct regless_warp *w = &r->warp[warp];
    const struct tim_vectors none = {{0}};

    if (w->state == QUEUED)
        leave_queue(r, warp);
    w->lives = w->changed = false;
    w->state = INACTIVE;
    r->waits = true;
    for (unsigned reg = 0; reg < REGISTERS; reg++) {
        unpin(r, w, reg, &none);
        if (w->at[reg] != NONE && !tim_vectors_has(&w->pinned, reg))
            free_entry(r, w, reg);
    }
}

/** Counts the registers that the warp accesses for the first time in a window of WINDOW cycles. */
static void touch(struct regless *r, struct regless_warp *w, unsigned reg)
{
    const uint64_t window = r->base.core->now / WINDOW;

    if (window != w->window)
        w->touched = (struct tim_vectors){{0}};
    w->window = window;
    r->base.core->count[TIM_CORE_regless_touched] += !tim_vectors_has(&w->touched, reg);
    tim_vectors_add(&w->touched, reg);
}

static void fly(struct regless *r, struct regless_warp *w, unsigned reg)
{
    r->base.core->count[TIM_CORE_regless_wrong] += w->at[reg] == NONE;
    w->flying[reg]++;
    tim_vectors_add(&w->busy, reg);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct regless *r = (struct regless *)mech;
    struct regless_warp *w = &r->warp[issue->warp];
    const struct tim_static *what = issue->what;
    const uint64_t i = (issue->pc - issue->code->base) / ISA_WORD_BYTES;

    for (unsigned k = 0; k < what->row_reads; k++) {
        touch(r, w, what->row_read[k]);
        if (tim_reads_later(what))
            fly(r, w, what->row_read[k]);
    }
    for (unsigned k = 0; k < what->row_writes; k++) {
        touch(r, w, what->row_write[k]);
        fly(r, w, what->row_write[k]);
        tim_vectors_add(&w->dirty, what->row_write[k]);
    }
    mech->core->count[TIM_CORE_regless_accesses] += (tim_reads_later(what) ? what->row_reads : 0u) + what->row_writes;
    if (w->lives && (w->state != ENTERED || i + 1 >= w->region.end))
        leave(r, issue->warp);
}

static void flows(struct tim_mech *mech, unsigned warp)
{
    struct regless *r = (struct regless *)mech;

    r->warp[warp].changed |= r->warp[warp].lives;
    r->waits = true;
}

/** Called when an instruction has read or written registers. */
static void land(struct regless *r, unsigned warp, const uint8_t *reg, unsigned count)
{
    struct regless_warp *w = &r->warp[warp];
    struct tim_vectors live = {{0}};

    for (unsigned k = 0; k < count; k++) {
        if (--w->flying[reg[k]] != 0)
            continue;
        tim_vectors_remove(&w->busy, reg[k]);
        if (!tim_vectors_has(&w->pinned, reg[k]) || (w->state == ENTERED && tim_vectors_has(&w->region.registers, reg[k])))
            continue;
        if (w->lives)
            (void)tim_mech_live(r->base.core, warp, &live);
        unpin(r, w, reg[k], &live);
    }
}

static void reads(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    land((struct regless *)mech, warp, what->row_read, what->row_reads);
}

static void writes(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    land((struct regless *)mech, warp, what->row_write, what->row_writes);
}

/** First, the warps that have changed request capacity, in the order of their slots. Then one warp enters its region, if
 *  there is capacity. */
static bool cycle(struct tim_mech *mech, const uint64_t (*ready)[TIM_MAX_WARPS / 64])
{
    struct regless *r = (struct regless *)mech;
    bool acts = false;

    (void)ready;
    for (unsigned i = 0; i < mech->core->config->core_warps; i++)
        if (r->warp[i].changed) {
            const unsigned state = r->warp[i].state;

            request(r, i);
            acts |= r->warp[i].state != state;
        }
    if (r->queued != 0 && has_capacity(r, &r->warp[r->queue[0]])) {
        const unsigned warp = r->queue[0];

        leave_queue(r, warp);
        enter(r, warp);
        acts = true;
    }
    r->waits = r->queued != 0 && has_capacity(r, &r->warp[r->queue[0]]);
    if (r->used != r->then) {
        count_entries(r, mech->core->now);
        r->then = r->used;
    }
    return acts;
}

static uint64_t next(struct tim_mech *mech, uint64_t since)
{
    const struct regless *r = (const struct regless *)mech;
    uint64_t at = r->waits ? since + 1 : UINT64_MAX;

    for (unsigned i = 0; i < mech->core->config->core_warps; i++)
        if (r->warp[i].state == ENTERED && r->warp[i].ready_at > since && r->warp[i].ready_at < at)
            at = r->warp[i].ready_at;
    return at;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    const struct regless_warp *w = &((const struct regless *)mech)->warp[warp];
    struct tim_mech_warp is;

    (void)what;
    if (w->state != ENTERED || w->ready_at > mech->core->now)
        return true;
    mech->core->look(mech->core->context, warp, &is);
    return is.lanes == 0 || !is_inside(w, &is);
}

/** Returns whether the warp waits for capacity that only other warps can make. */
static bool is_stuck(struct tim_mech *mech, unsigned warp)
{
    const struct regless *r = (const struct regless *)mech;

    return r->warp[warp].state == QUEUED && !has_capacity(r, &r->warp[r->queue[0]]);
}

static void account(struct tim_mech *mech)
{
    struct regless *r = (struct regless *)mech;

    const struct tim_config *config = mech->core->config;

    count_entries(r, mech->core->over);
    if (mech->core->over <= r->saved_since)
        return;
    mech->core->count[TIM_CORE_regless_rows_saved] += (mech->core->over - r->saved_since) * (config->core_registers / config->core_warp_width - r->size);
    r->saved_since = mech->core->over;
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct regless *r = (const struct regless *)mech;
    const struct regless_warp *w = &r->warp[warp];

    if (w->state == ENTERED) {
        lw_printf(out, "values of its region arrive in cycle %" PRIu64, w->ready_at);
        return;
    }
    if (w->state == INACTIVE) {
        lw_put(out, "registers of its next region are in use by an instruction in flight");
        return;
    }
    for (unsigned i = 0; i < r->queued; i++)
        if (r->queue[i] == warp)
            lw_printf(out,
                      "its region needs %u entries; the operand staging unit has %u entries, of which %u are pinned; %u warps "
                      "get entries first",
                      count_of(&w->region.registers), r->size, r->pinned, i);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    const struct regless *r = (const struct regless *)mech;

    *name = index == 0 ? "regless: entries in use" : "regless: pinned entries";
    *value = index == 0 ? r->used : r->pinned;
    return true;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct regless *r = (const struct regless *)mech;
    const uint64_t *count = mech->core->count;

    lw_printf(out, "%u of %u entries of the operand staging unit are in use, %u of them pinned\n", r->used, r->size, r->pinned);
    lw_printf(out, "regions: %" PRIu64 "; values: %" PRIu64 " found, %" PRIu64 " loaded, %" PRIu64 " written to memory, %" PRIu64 " dropped, %" PRIu64
                   " dead\n", count[TIM_CORE_regless_regions], count[TIM_CORE_regless_hits], count[TIM_CORE_regless_loads],
              count[TIM_CORE_regless_writebacks], count[TIM_CORE_regless_drops], count[TIM_CORE_regless_dead]);
    for (unsigned i = 0; i < mech->core->config->core_warps; i++) {
        const struct regless_warp *w = &r->warp[i];

        if (w->lives)
            lw_printf(out, "warp %u: %s, %u pinned entries\n", i,
                      w->state == QUEUED                     ? "queued"
                      : w->state == INACTIVE                 ? "inactive"
                      : w->ready_at > mech->core->now        ? "preloading"
                                                             : "active",
                      count_of(&w->pinned));
    }
}

const struct tim_mechanism tim_regless = {
    .name = "regless", .summary = "RegLess: a small operand staging unit instead of a register file; warps get capacity for regions of code",
    .is_on = is_on, .create = create, .destroy = destroy, .warp_begins = warp_begins, .warp_ends = warp_ends, .issues = issues, .flows = flows,
    .reads = reads, .writes = writes, .cycle = cycle, .next = next, .holds = holds, .is_stuck = is_stuck, .account = account, .why = why,
    .gauge = gauge, .show = show,
};
