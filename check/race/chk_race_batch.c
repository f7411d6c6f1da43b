/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: the access log of the interpreter, which is checked in batches.
 *
 * The interpreter logs plain accesses of global words instead of calling a hook. The logged accesses are checked
 * together, in their order. A batch costs less than a call for each access, and the cells of its accesses can be prefetched.
 * Without the log, `bfs` executes 28 % more instructions and takes 1.8 times as long (docs/explanation/race-detection.md).
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* The log is processed before any other event that matters to races (race_flush). All accesses in the log therefore
 * have one clock, and their blocks are resident. A write to a filtered page must end the filter immediately, which a
 * logged write cannot do. An allocation therefore uses either filters or the log. */

enum { LOG_CAPACITY = 1 << 13, BUDGET = 512, ENTRIES = 64 };
/* The tag of a log record contains the site word of the access, whose upper bits are 0 for a logged access. The upper bits
 * of the tag are the index of the allocation (race_ranges.table) that all lanes access. */
_Static_assert(RACE_MOST_RANGES <= 1 << (32 - RACE_SITE_BITS), "a mark");
static inline uint32_t site_of(const struct emu_access_record *e)
{
    return e->tag & (uint32_t)lw_mask(RACE_SITE_BITS);
}
static inline uint32_t mark_of(const struct race_access *ctx, const struct race_range *range)
{
    return ctx->site | (uint32_t)(range - ctx->race->ranges.table) << RACE_SITE_BITS;
}
/* Form of a log record that has no access. The record says that another split of the warp makes the accesses after it.
 * `lanes` has the lanes of that split, and `base` has the live lanes of the warp. */
enum { FORM_SPLIT = EMU_ADDR_STRIDED + 1 };

struct race_batch {
    struct emu_access_log entries;
    bool granted; /* grant() was called after the last race_batch_revoke(), so the interpreter may log some accesses */
    unsigned sampled; /* number of scattered reads; every eighth is considered for the filter */
    uint64_t at[LOG_CAPACITY + RACE_WORDS_BEYOND / 2]; /* the records of the log */
    uint64_t each[ENTRIES][sizeof(struct emu_access_record) / 8 + EMU_MAX_LANES / 2]; /* results of each_of() */
};

void race_batch_begin(void *state)
{
    struct chk_race *race = state;
    struct race_batch *log = race->fast && race->chk->options.found == NULL ? malloc(sizeof *log) : NULL;

    if (log == NULL)
        return; /* without a log, the interpreter reports each access */
    log->entries = (struct emu_access_log){.data = log->at, .capacity = LOG_CAPACITY};
    log->granted = false;
    log->sampled = 0;
    race->batch.log = log;
    race->batch.log_used = &log->entries.used;
}

void race_batch_end(struct chk_race *race)
{
    race_batch_revoke(race); /* From here on no store is added to the log. */
    free(race->batch.log);
}

/** Returns the allocation of an access that may be logged; NULL: the access may not be logged. */
static struct race_range *range_of(const struct race_access *ctx, uint64_t at)
{
    struct chk_race *race = ctx->race;

    if (at < ISA_GLOBAL_BASE || ctx->access->bytes != 4 || ctx->synchronizes || ctx->site & RACE_HOW)
        return NULL;
    struct race_range *range = race_range_at(race, at - ISA_GLOBAL_BASE);
    if (range == NULL)
        return NULL;
    range->written |= ctx->write;
    /* Memory that is often read and never written uses the filter instead. */
    if ((!range->written && (!race_range_is_deferring(race, range) || race_is_whole_warp(ctx))) ||
        (race->filter.any_page && race_filter_reads_enter(race, range->first, range->end)))
        return NULL;
    return range;
}

static void grant(const struct race_access *ctx, const struct race_range *range)
{
    const struct emu_hook_access *access = ctx->access;
    struct race_batch *log = ctx->race->batch.log;

    log->granted = true;
    log->entries.core = access->at.core;
    log->entries.program = access->at.program;
    *access->filter = (struct emu_hook_filter){.first = ISA_GLOBAL_BASE + range->first,
                                           .end = ISA_GLOBAL_BASE + range->end, .remaining = BUDGET,
                                           .tag = mark_of(ctx, range), .log = &log->entries};
}

void race_batch_prefetch(struct race_access *ctx, uint64_t at)
{
    const struct race_range *range = range_of(ctx, at);

    if (range != NULL)
        grant(ctx, range);
}

static struct emu_access_record *entry_add(struct race_batch *log, const struct race_access *ctx,
                                       const struct race_range *range, unsigned form, unsigned count)
{
    struct emu_access_record *e = (void *)&log->at[log->entries.used];
    const struct emu_hook_site *at = &ctx->access->at;

    log->entries.used += emu_access_record_size(count, (enum emu_addr_form)form, false);
    e->lanes = at->lanes;
    e->index = at->index;
    e->tag = mark_of(ctx, range);
    e->slot = (uint16_t)at->slot;
    e->warp = (uint16_t)at->warp;
    e->count = (uint8_t)count;
    e->form = (uint8_t)form;
    e->scale = 0;
    e->store = false;
    return e;
}

bool race_batch_add(struct race_access *ctx, uint64_t at)
{
    struct chk_race *race = ctx->race;
    struct race_batch *log = race->batch.log;
    const struct emu_hook_access *a = ctx->access;
    const uint64_t lanes = a->at.lanes;
    const unsigned count = lw_popcount(lanes);
    const bool one = a->piece_count == 1 && count > 1;

    if (ctx->write ||
        (log->entries.used != 0 && (log->entries.core != a->at.core || log->entries.program != a->at.program)) ||
        log->entries.capacity - log->entries.used < emu_access_record_size(count, EMU_ADDR_GATHER, false) +
                                            emu_access_record_size(0, (enum emu_addr_form)FORM_SPLIT, false))
        return false;
    const struct race_range *range = range_of(ctx, at);
    if (range == NULL || range->end - range->first > UINT32_MAX)
        return false;
    const uint64_t base = ISA_GLOBAL_BASE + range->first, most = range->end - range->first - 4;
    uint32_t word[EMU_MAX_LANES];
    bool all = range->end - range->first >= 4;
    unsigned n = 0;

    for (unsigned k = 0; k < a->piece_count; k++) {
        const struct emu_addr_segment *p = &a->piece[k];
        const uint64_t first = p->address - base;
        const unsigned low = lw_lowest(lanes & ~lw_mask(p->first));

        all = all && first <= most && first + (p->run ? 4u * (p->last - p->first) : 0) <= most;
        if (one)
            word[n++] = (uint32_t)first + (p->run ? 4 * (low - p->first) : 0);
        else
            for (LW_EACH_BIT(l, lanes & lw_mask(p->last + 1u) & ~lw_mask(p->first)))
                word[n++] = (uint32_t)first + (p->run ? 4 * ((unsigned)l - p->first) : 0);
    }
    for (LW_EACH_BIT(l, a->piece_count == 0 ? lanes : 0)) {
        all = all && a->address[l] - base <= most;
        word[n++] = (uint32_t)(a->address[l] - base);
    }
    /* An access that may be filtered is checked immediately. The cells of scattered lanes are rarely in a cache of the
     * host, so only every eighth of such accesses is considered for the filter. */
    if (!all || ((one || ++log->sampled % 8 == 0) && race_filter_reads_allowed(ctx, at) != NULL))
        return false;
    if (ctx->warp->logged_lanes != a->at.split_lanes) {
        struct emu_access_record *e = entry_add(log, ctx, range, FORM_SPLIT, 0);
        e->lanes = ctx->warp->logged_lanes = a->at.split_lanes;
        e->base = race_live(ctx->block, ctx->warp);
    }
    struct emu_access_record *e = entry_add(
        log, ctx, range, !one ? EMU_ADDR_GATHER : a->piece[0].run ? EMU_ADDR_CONTIGUOUS : EMU_ADDR_UNIFORM, count);
    e->base = base;
    memcpy(e->word, word, n * sizeof word[0]);
    grant(ctx, range);
    return true;
}

void race_batch_revoke(struct chk_race *race)
{
    if (race->batch.log == NULL || !race->batch.log->granted)
        return;
    race->batch.log->granted = false;
    emu_hooks_invalidate_filters(race->machine);
}

/* Pipeline of log records: the cells of a record's words are prefetched when the record enters the pipeline, and the
 * record is checked when it leaves the pipeline. FAR: if the records in the pipeline have this many lanes or more, no further
 * record enters. */
enum { FAR = 64 };
struct coming {
    const struct emu_access_record *e;
    struct race_range *packed; /* allocation that has a packed cell for each word of the record; or NULL */
    bool valid;              /* each of the record's scattered words had a valid cell */
    unsigned begun;          /* `packed` is valid while packed.begin_count has this value */
};
struct ahead {
    unsigned in, out;        /* number of records that have entered the pipeline; number that have left it */
    unsigned lanes;          /* number of lanes of the records in the pipeline */
    unsigned splits;         /* number of FORM_SPLIT records in the pipeline, each of which advances the clock */
    struct race_access keep; /* context of the reads that are deferred instead of entering the pipeline */
    uint32_t keep_of;        /* slot and warp of `keep` */
    struct coming entry[ENTRIES];
};

static inline uint64_t address_of(const struct emu_access_record *e, unsigned k)
{
    return e->base + ((uint64_t)e->word[k] << e->scale);
}

/** Sets @ctx to the warp of @e. *@of: slot and warp to which @ctx is currently set. Returns false if the block of the warp is
 *  not checked. */
static inline bool is_of(struct race_access *ctx, uint32_t *of, const struct emu_access_record *e)
{
    const uint32_t now = (uint32_t)e->slot << 16 | e->warp;

    if (now != *of) {
        struct race_block *b = race_block_at(ctx->race, ctx->access->at.core, e->slot);
        *of = now;
        ctx->block = b;
        if (b == NULL)
            return false;
        ctx->warp = &b->warp[e->warp];
        ctx->vc_block = b->vc_block;
        ctx->self_tid = b->block_id << RACE_THREAD_BITS | e->warp * b->width;
        ctx->vc_floor = b->vc_floor;
        ctx->plain = race_is_plain(b, ctx->warp);
    }
    return ctx->block != NULL;
}

/** If no kernel has written the allocation, defers a read immediately, before earlier records of the log are checked. None of
 *  these records is a store to the allocation, because the interpreter reports stores to such an allocation instead of logging
 *  them. Returns false if the read is not deferred. */
static inline bool is_deferred(struct chk_race *race, struct ahead *a, struct race_range *r,
                           const struct emu_access_record *e)
{
    if (!is_of(&a->keep, &a->keep_of, e))
        return true; /* The block is not checked, so the access needs neither deferral nor check. */
    a->keep.site = site_of(e);
    const bool kept = race_defer_record(&a->keep, r, e, race_clock_after(race, a->splits));
    race->access_count += kept;
    return kept;
}

/** Decodes a strided record to one address per lane. The result is valid until ENTRIES more records have entered the
 *  pipeline. */
static const struct emu_access_record *each_of(struct race_batch *log, unsigned in, const struct emu_access_record *e)
{
    struct emu_access_record *each = (void *)log->each[in % ENTRIES];
    const unsigned low = lw_lowest(e->lanes);
    uint32_t *word = each->word;

    *each = *e;
    each->form = EMU_ADDR_GATHER;
    for (LW_EACH_BIT(l, e->lanes))
        *word++ = e->word[0] + ((uint32_t)l - low) * e->word[1];
    return each;
}

static inline void comes(struct chk_race *race, struct ahead *a, const struct emu_access_record *e)
{
    struct race_range *r = &race->ranges.table[e->tag >> RACE_SITE_BITS];

    if (!e->store && e->form != FORM_SPLIT && race_range_is_deferring(race, r) && is_deferred(race, a, r, e))
        return;
    if (e->form == EMU_ADDR_STRIDED)
        e = each_of(race->batch.log, a->in, e);
    const bool gather = e->form == EMU_ADDR_GATHER;
    /* If true, the two halves of the warp may be segments; race_batch_decode() compares all lanes to find out. */
    const bool halves = gather && e->lanes == UINT32_MAX && e->word[15] - e->word[0] == e->word[31] - e->word[16];
    struct coming *c = &a->entry[a->in++ % ENTRIES];
    c->e = e;
    c->packed = NULL;
    c->valid = gather && !halves;
    c->begun = race->packed.begin_count;
    a->lanes += e->count;
    a->splits += e->form == FORM_SPLIT;
    if (race->packed.range_count != 0 && (gather ? !halves : e->form == EMU_ADDR_CONTIGUOUS && !e->store) &&
        race_packed_prefetch(r, e)) {
        c->packed = r;
        return;
    }
    for (unsigned k = 0; gather && k < e->count; k++) {
        const uint64_t offset = address_of(e, k) - ISA_GLOBAL_BASE;
        const uint32_t *hot = race_shadow_hot(&race->shadow, offset);
        c->valid = c->valid && hot != NULL;
        if (hot != NULL)
            __builtin_prefetch(hot + (offset & lw_mask(RACE_PAGE_SHIFT)) / 4 * RACE_HOT, 1);
    }
}

/** Sets @access to what the interpreter would report for @e. Lanes with equal or consecutive addresses become segments. */
void race_batch_decode(const struct race_access *ctx, const struct emu_access_record *e, struct emu_hook_access *access,
                       uint64_t *address)
{
    const uint64_t at = address_of(e, 0);
    const uint32_t *word = e->word;

    access->address = address;
    access->at.slot = e->slot;
    access->at.warp = e->warp;
    access->at.index = e->index;
    access->at.lanes = e->lanes;
    access->at.split_lanes = ctx->warp->lanes;
    access->kind = e->store ? EMU_ACCESS_STORE : EMU_ACCESS_LOAD;
    access->piece_count = e->form != EMU_ADDR_GATHER;
    if (e->form != EMU_ADDR_GATHER) {
        access->piece[0] = (struct emu_addr_segment){at, (uint8_t)lw_lowest(e->lanes),
                                                  (uint8_t)(63 - __builtin_clzll(e->lanes)),
                                                  e->form == EMU_ADDR_CONTIGUOUS};
        return;
    }
    for (LW_EACH_BIT(l, e->lanes))
        address[l] = e->base + ((uint64_t)*word++ << e->scale);
    if (e->lanes == UINT32_MAX) {
        const bool run = address[1] != at;
        const uint64_t step = run ? 4 : 0, at1 = address[16];
        uint64_t differ = 0;

        for (unsigned l = 0; l < 16; l++)
            differ |= (address[l] ^ (at + l * step)) | (address[16 + l] ^ (at1 + l * step));
        if (differ == 0) {
            access->piece_count = 2;
            access->piece[0] = (struct emu_addr_segment){at, 0, 15, run};
            access->piece[1] = (struct emu_addr_segment){at1, 16, 31, run};
        }
    }
}

void race_batch_check(struct chk_race *race)
{
    struct race_batch *log = race->batch.log;
    const unsigned used = log->entries.used;
    struct emu_hook_access access = {.at = {.core = (struct emu_core *)(uintptr_t)log->entries.core,
                                           .program = log->entries.program},
                                    .space = ISA_SPACE_GLOBAL, .bytes = 4};
    struct race_access ctx = {.race = race, .access = &access};
    const bool simple = race_packed_simple(race);
    struct ahead a; /* not initialised, because each element of `entry` is written before it is read */
    uint32_t of = UINT32_MAX;
    uint64_t address[EMU_MAX_LANES];

    a.in = a.out = a.lanes = a.splits = 0;
    a.keep = ctx;
    a.keep_of = UINT32_MAX;
    log->entries.used = 0;
    for (unsigned next = 0; next < used || a.out != a.in;) {
        while (next < used && a.lanes < FAR && a.in - a.out < ENTRIES) {
            const struct emu_access_record *e = (const void *)&log->at[next];
            next += emu_access_record_size(e->count, (enum emu_addr_form)e->form, e->store);
            comes(race, &a, e);
        }
        if (a.out == a.in)
            break; /* all remaining accesses were deferred */
        const struct coming *c = &a.entry[a.out++ % ENTRIES];
        const struct emu_access_record *e = c->e;
        a.lanes -= e->count;
        if (e->form == FORM_SPLIT)
            a.splits--;
        if (!is_of(&ctx, &of, e))
            continue;
        if (e->form == FORM_SPLIT) {
            race_converge(race, ctx.warp, e->lanes, e->base);
            continue;
        }
        ctx.site = site_of(e);
        ctx.write = e->store;
        ctx.may_defer = ctx.plain && !e->store;
        ctx.value = e->store ? e->word + (e->form == EMU_ADDR_GATHER ? e->count : 1) : NULL;
        race->access_count++;
        if (c->packed == NULL || !race_packed_cell(&ctx, c->packed, e, &access, simple)) {
            race_batch_decode(&ctx, e, &access, address);
            if (c->valid && c->begun == race->packed.begin_count)
                race_access_scattered(&ctx, address, e->lanes);
            else
                race_access_check(&ctx);
        }
    }
}
