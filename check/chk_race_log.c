/* SPDX-License-Identifier: Apache-2.0 */
/* Races: accesses that the tap writes down instead of telling of them. They are looked at some at a time, in
 * their order: it costs less than a call for each, and their cells are on their way by then. */
#include "check/chk_race_priv.h"

#include <stdlib.h>

/* What is written is looked at before anything else happens that matters to races (race_settle): all of it is
 * of one tick, and its blocks run still. Where pages are quiet a later access must be seen at once, so that
 * an allocation has either those or this. */

enum { LOG_ROOM = 1 << 13, CREDIT = 512 };

struct race_log {
    struct emu_tap_log tap;
    bool granted; /* since the tap was woken for it */
    uint64_t at[LOG_ROOM];
};

void race_log_begin(struct chk_race *race)
{
    struct race_log *log = race->ahead != NULL ? malloc(sizeof *log) : NULL;

    if (log == NULL)
        return; /* each access is told of, then */
    log->tap = (struct emu_tap_log){.at = log->at, .room = LOG_ROOM};
    log->granted = false;
    race->log = log;
    race->written = &log->tap.used;
}

void race_log_end(struct chk_race *race)
{
    race_log_revoke(race); /* nobody writes to it any more */
    free(race->log);
}

void race_log_ask(struct race_look *look, uint64_t at)
{
    struct chk_race *race = look->race;
    const struct emu_tap_access *access = look->access;
    struct race_log *log = race->log;

    if (log == NULL || at < ISA_GLOBAL_BASE || access->bytes != 4 || look->sets || look->site & RACE_HOW)
        return;
    struct race_range *range = race_range_at(race, at - ISA_GLOBAL_BASE);
    if (range == NULL)
        return;
    range->written |= look->write;
    /* what is only read, and often, becomes quiet */
    if ((!range->written && (!race_range_keeps(race, range) || race_in_full(look))) ||
        (race->any_quiet && race_quiet_in(race, range->first, range->end)))
        return;
    log->granted = true;
    log->tap.core = access->at.core;
    log->tap.program = access->at.program;
    *access->quiet = (struct emu_tap_span){.first = ISA_GLOBAL_BASE + range->first,
                                           .end = ISA_GLOBAL_BASE + range->end, .credit = CREDIT,
                                           .mark = look->site, .log = &log->tap};
}

void race_log_revoke(struct chk_race *race)
{
    if (race->log == NULL || !race->log->granted)
        return;
    race->log->granted = false;
    emu_tap_wake(race->machine);
}

/* Entries on their way to be looked at; the quads of their words are asked for when they come in, and what else
 * is known of them when those are there. */
enum { QUADS = 256, ENTRIES = 64, FAR = 32, NEAR = 16 };
struct coming {
    const struct emu_tap_entry *e;
    struct race_range *kept; /* NULL: it is looked at */
    unsigned first;          /* of its quads */
    bool words;              /* it is scattered words, with a quad each */
};
struct ahead {
    struct coming entry[ENTRIES];
    uint32_t *quad[QUADS];
    unsigned in, near, out, quads, lanes, near_lanes; /* lanes: between in and out, near and out */
    uint32_t base;
};

static inline uint64_t address_of(const struct emu_tap_entry *e, unsigned k)
{
    return e->base + ((uint64_t)e->word[k] << e->scale);
}

static inline void comes(struct chk_race *race, struct ahead *a, const struct emu_tap_entry *e)
{
    struct coming *c = &a->entry[a->in++ % ENTRIES];
    uint64_t odd = 0;
    bool all = true;

    c->e = e;
    c->kept = NULL;
    c->first = a->quads;
    c->words = false;
    a->lanes += e->count;
    if (!e->store) {
        struct race_range *r = race_range_at(race, address_of(e, 0) - ISA_GLOBAL_BASE);
        if (r != NULL && race_range_keeps(race, r)) {
            c->kept = r;
            return;
        }
    }
    if (e->form != EMU_TAP_EACH)
        return;
    for (unsigned k = 0; k < e->count; k++) {
        const uint64_t offset = address_of(e, k) - ISA_GLOBAL_BASE;
        uint32_t *quad = race_shadow_quads(&race->shadow, offset);

        odd |= offset;
        all = all && (uintptr_t)quad > (uintptr_t)RACE_AWAKE;
        quad += (offset & ((1 << RACE_PAGE_SHIFT) - 1)) / 4 * RACE_QUAD;
        __builtin_prefetch(quad, 1);
        a->quad[a->quads++ % QUADS] = quad;
    }
    /* two halves may be pieces */
    const bool halves = e->lanes == UINT32_MAX && e->word[15] - e->word[0] == e->word[31] - e->word[16];
    c->words = all && (odd & 3) == 0 && !halves && !(e->store && race->any_quiet);
}

/** The quads of an entry are here. */
static inline void is_near(struct ahead *a)
{
    const struct coming *c = &a->entry[a->near++ % ENTRIES];

    a->near_lanes += c->e->count;
    if (!c->words)
        return;
    for (unsigned k = 0; k < c->e->count; k++) {
        const uint32_t *quad = a->quad[(c->first + k) % QUADS];
        const bool written = quad[RACE_QUAD_WRITE] > a->base;

        if (!written && !c->e->store &&
            (quad[RACE_QUAD_READ] <= a->base ||
             quad[RACE_QUAD_SITE] == ((uint32_t)RACE_GRID << RACE_LEVEL_SHIFT | c->e->mark)))
            continue;
        const uint32_t *rest = race_quad_rest(quad);
        __builtin_prefetch(&rest[RACE_REST * race_quad_index(quad)], 1);
    }
}

/** Lanes of @e as the tap tells of them: as pieces where they are equal or consecutive. */
static void unfold(const struct emu_tap_entry *e, struct emu_tap_access *access, uint64_t *address)
{
    const uint64_t at = address_of(e, 0);
    const uint32_t *word = e->word;

    access->piece_count = e->form != EMU_TAP_EACH;
    if (e->form != EMU_TAP_EACH) {
        access->piece[0] = (struct emu_tap_piece){at, (uint8_t)lw_lowest(e->lanes),
                                                  (uint8_t)(63 - __builtin_clzll(e->lanes)),
                                                  e->form == EMU_TAP_RUN};
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
            access->piece[0] = (struct emu_tap_piece){at, 0, 15, run};
            access->piece[1] = (struct emu_tap_piece){at1, 16, 31, run};
        }
    }
}

static void look_over(struct race_look *look, struct emu_tap_access *access, const struct ahead *a,
                      const struct coming *c)
{
    const struct emu_tap_entry *e = c->e;
    uint64_t address[EMU_MAX_LANES];
    struct race_words words;

    access->address = address;
    if (!c->words) {
        unfold(e, access, address);
        race_look_over(look);
        return;
    }
    uint64_t rest = e->lanes;
    for (unsigned k = 0; k < e->count; k++, rest &= rest - 1) {
        words.quad[k] = a->quad[(c->first + k) % QUADS];
        words.lane[k] = (uint8_t)lw_lowest(rest);
    }
    words.count = e->count;
    words.other = 0;
    race_words_new(look, &words);
    if (words.count == 0)
        return;
    unfold(e, access, address);
    race_words_late(look, address, &words);
}

void race_log_look(struct chk_race *race)
{
    struct race_log *log = race->log;
    const unsigned used = log->tap.used;
    struct emu_tap_access access = {.at = {.core = (struct emu_core *)(uintptr_t)log->tap.core,
                                           .program = log->tap.program},
                                    .space = ISA_SPACE_GLOBAL, .bytes = 4};
    struct race_look look = {.race = race, .access = &access};
    struct ahead a = {.base = race->last != NULL ? race->last->base : 0};

    log->tap.used = 0;
    for (unsigned next = 0; next < used || a.out != a.in;) {
        while (next < used && a.lanes < FAR && a.in - a.out < ENTRIES) {
            const struct emu_tap_entry *e = (const void *)&log->at[next];
            next += emu_tap_entry_size(e->count, (enum emu_tap_form)e->form, e->store);
            comes(race, &a, e);
        }
        while (a.near != a.in && a.near_lanes < NEAR)
            is_near(&a);
        const struct coming *c = &a.entry[a.out++ % ENTRIES];
        const struct emu_tap_entry *e = c->e;
        a.lanes -= e->count;
        a.near_lanes -= e->count;
        struct race_block *b = race_block_at(race, log->tap.core, e->slot);
        if (b == NULL)
            continue;
        struct race_warp *w = &b->warp[e->warp];
        access.at.slot = e->slot;
        access.at.warp = e->warp;
        access.at.index = e->index;
        access.at.lanes = e->lanes;
        access.at.split_lanes = w->lanes;
        access.kind = e->store ? EMU_ACCESS_STORE : EMU_ACCESS_LOAD;
        look.block = b;
        look.warp = w;
        look.site = e->mark;
        look.kb = b->kb;
        look.me = b->actor << RACE_THREAD_BITS | e->warp * b->width;
        look.write = e->store;
        look.plain = race_is_plain(b, w);
        look.waits = look.plain && !e->store;
        look.value = e->store ? e->word + (e->form == EMU_TAP_EACH ? e->count : 1) : NULL;
        race->access++;
        if (c->kept == NULL || !race_kept_entry(&look, c->kept, e))
            look_over(&look, &access, &a, c);
    }
}
