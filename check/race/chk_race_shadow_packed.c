/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Race checker: the packed shadow, which stores compressed epochs.
 *
 * Large allocations with scattered reads and writes have cells of 16 bytes instead of the nine hot and warm words of
 * chk_race_shadow.c. The thread and clock of a record are stored as the number of an access and a lane. The clock and
 * the thread of that access are loaded only when they are needed. Without the packed shadow, `bfs` takes 1.4 times as long
 * (docs/explanation/race-detection.md). If a packed cell cannot express a record, its cells become ordinary ones, so
 * findings are the same.
 */
#include "check/race/chk_race_priv.h"

#include <stdlib.h>

/* The packed shadow is for weak accesses of whole words, by blocks without vector clocks, in a program without fences
 * or launches. Two blocks under these conditions are always unordered. Accesses are numbered. An access with a lower number
 * than race_block.packed_first of the current block was made by another block. For other accesses, the thread id shows the
 * block. Each allocation numbers its sites. If these numbers are not sufficient for a check, the cell is unpacked to a
 * temporary ordinary cell, checked, and packed again. If that is impossible, all cells of the allocation become ordinary
 * cells. If this happens often, they remain ordinary. */

enum { LANE_BITS = 6, MOST_SITES = 32, LEAST_BYTES = 1 << 16, LEAST_ACCESSES = 1 << 20, MOST_ACCESSES = 1 << 24,
       MOST_LEFT = 4, FEW = 1 << 14, NEAR_SITES = 16, LINE_WORDS = 4 };
/* A cell consists of the last read, an earlier read by another lane, warp or block (according to the level of the reads),
 * the last write, and a word that describes them. The word has 5 bits for the site number of each of the three accesses
 * (0 if there is no access), 2 bits for the level of the reads, and the tag for which the cell is valid. */
enum { CELL_READ, CELL_READ_2, CELL_WRITE, CELL_WHAT, CELL };
enum { READ_SHIFT = 0, READ_2_SHIFT = 5, WRITE_SHIFT = 10, LEVEL_SHIFT = 15, TAG_SHIFT = 17,
       SITE_MASK = MOST_SITES - 1 };
_Static_assert(EMU_MAX_LANES <= 1 << LANE_BITS, "lanes of an access");

struct race_packed {
    uint32_t *cell;        /* [word][CELL_READ etc.] */
    uint64_t first, end;   /* whole pages of the allocation: the words that have packed cells */
    uint32_t tried;        /* value of race_shadow.epoch at the last attempt to pack */
    uint32_t tag;          /* only cells with this tag are valid */
    unsigned site_count, left; /* left: how often the cells became ordinary; after MOST_LEFT times they remain ordinary */
    bool stored, candidate;    /* stored: a store happened in this epoch. candidate: a store happened in the last epoch,
                                * so packing may be profitable in the next epoch */
    uint64_t lanes, slow;  /* numbers of checked lanes, and of checks by slow(), in this epoch */
    uint32_t site[MOST_SITES];            /* [site number]; number 0 means no site */
    uint8_t near[NEAR_SITES];             /* [site % NEAR_SITES]: cache: site number of the last site with this remainder */
    int finding_of[MOST_SITES][MOST_SITES];     /* [site number][site number]: 1 + index of the finding that counts the
                                                 * races of the two sites, or 0 if it is not known */
    /* [site number]: a bit for each site number whose finding_of is known, and bit 0 for a cell without a write */
    uint32_t known_sites[MOST_SITES];
    uint32_t times[MOST_SITES];           /* [site number]: number of races with this site that reads_each() has counted so
                                           * far; 0 outside reads_each() */
};
/** An access of a warp: its clock, and the thread id of lane 0. */
struct race_packed_access {
    uint32_t time, self_tid;
};

static inline bool is_packed(const struct race_range *r)
{
    return r->state == RACE_PACKED;
}

static inline bool is_in(const struct race_packed *b, uint64_t offset)
{
    return offset >= b->first && offset < b->end;
}

/** Returns the cell of the word that is @bytes after the first word with a packed cell. */
static inline uint32_t *cell_of(const struct race_packed *b, uint64_t bytes)
{
    return (uint32_t *)((uintptr_t)b->cell + (uintptr_t)bytes * CELL);
}
/** Returns the cell of the word at @offset in global memory. */
static inline uint32_t *cell_at(const struct race_packed *b, uint64_t offset)
{
    return cell_of(b, offset - b->first);
}

bool race_packed_prefetch(const struct race_range *r, const struct emu_access_record *e)
{
    const struct race_packed *b = r->packed;
    const unsigned count = e->count, scale = e->scale;
    uint64_t beyond = 0;

    if (!is_packed(r))
        return false;
    const uint64_t base = e->base - ISA_GLOBAL_BASE - b->first, last = b->end - b->first - 4;
    if (e->form == EMU_ADDR_CONTIGUOUS) {
        const uint64_t first = base + ((uint64_t)e->word[0] << scale);
        const uint64_t end = first + 4 * (63 - (unsigned)__builtin_clzll(e->lanes) - lw_lowest(e->lanes));

        for (uint64_t at = first; at <= end; at += LINE_WORDS * 4)
            __builtin_prefetch(cell_of(b, at), 1);
        return first <= last && end <= last && (first & 3) == 0;
    }
    for (unsigned k = 0; k < count; k++) {
        const uint64_t offset = base + ((uint64_t)e->word[k] << scale);

        beyond |= (last - offset) | offset; /* sign bit: some offset is out of range; low bits: some offset is not a
                                             * multiple of a word */
        __builtin_prefetch(cell_of(b, offset), 0, 2); /* Prefetches to L2, because a host can have more of them in flight than
                                                       * prefetches to L1. */
    }
    return beyond >> 63 == 0 && (beyond & 3) == 0;
}

/** Returns the number of a site in the allocation, which numbers the site if necessary; 0: there are too many sites. */
static unsigned number_of(struct race_packed *b, uint32_t site)
{
    for (unsigned i = 1; i <= b->site_count; i++)
        if (b->site[i] == site)
            return i;
    if (b->site_count + 1 == MOST_SITES)
        return 0;
    b->site[++b->site_count] = site;
    return b->site_count;
}

/* ---- an access ---------------------------------------------------------------------------------------- */

/** Context of the check of one access in packed cells. A reference identifies an access and a lane: the number of the access,
 *  shifted left by LANE_BITS, plus the lane. */
struct pass {
    struct race_access *ctx;
    struct chk_race *race;
    struct race_packed *b;
    const struct emu_access_record *entry; /* record from which ctx->access is to be decoded; NULL: it has been
                                            * decoded */
    struct emu_hook_access *access;
    uint32_t mine;          /* reference to this access by lane 0 */
    uint32_t first;         /* lowest reference to an access of the current block */
    unsigned number;        /* site number of this access */
    uint64_t address[EMU_MAX_LANES];
};

static void pass_begin(struct pass *p, struct race_access *ctx, struct race_packed *b, unsigned number)
{
    struct chk_race *race = ctx->race;

    p->ctx = ctx;
    p->race = race;
    p->b = b;
    p->entry = NULL;
    p->mine = race->packed.access_count << LANE_BITS;
    p->first = ctx->block->packed_first << LANE_BITS;
    p->number = number;
    race->packed.access[race->packed.access_count++] = (struct race_packed_access){race->order.clock, ctx->self_tid};
}

static inline const struct race_packed_access *access_of(const struct pass *p, uint32_t ref)
{
    return &p->race->packed.access[ref >> LANE_BITS];
}

static inline uint32_t thread_of(const struct pass *p, uint32_t ref)
{
    return access_of(p, ref)->self_tid + (ref & ((1 << LANE_BITS) - 1));
}

/** Returns true if @ref refers to an access of the current block. */
static inline bool is_own(const struct pass *p, uint32_t ref)
{
    return ref >= p->first && access_of(p, ref)->self_tid >> RACE_THREAD_BITS == p->ctx->block->block_id;
}

/* ---- a cell by itself --------------------------------------------------------------------------------- */

static void record_out(const struct chk_race *race, const struct race_packed *b, uint32_t ref, uint32_t number,
                       const struct race_page_shadow *cells, uint32_t i, unsigned row)
{
    const struct race_packed_access *a = &race->packed.access[ref >> LANE_BITS];

    *race_at(cells, row + RACE_CLOCK, i) = a->time;
    *race_at(cells, row + RACE_TID, i) = a->self_tid + (ref & ((1 << LANE_BITS) - 1));
    *race_at(cells, row + RACE_SITE, i) = b->site[number];
}

/** Unpacks a valid @cell to an ordinary cell. */
static void cell_out(const struct chk_race *race, const struct race_packed *b, const uint32_t *cell,
                     const struct race_page_shadow *cells, uint32_t i)
{
    const uint32_t what = cell[CELL_WHAT];
    const uint32_t read = what >> READ_SHIFT & SITE_MASK, read_2 = what >> READ_2_SHIFT & SITE_MASK;
    const uint32_t write = what >> WRITE_SHIFT & SITE_MASK;

    *race_at(cells, RACE_R + RACE_CLOCK, i) = 0;
    if (read != 0) {
        record_out(race, b, cell[CELL_READ], read, cells, i, RACE_R);
        *race_at(cells, RACE_R + RACE_SITE, i) |= (what >> LEVEL_SHIFT & RACE_GRID) << RACE_LEVEL_SHIFT;
    }
    if (read_2 != 0)
        record_out(race, b, cell[CELL_READ_2], read_2, cells, i, RACE_R + RACE_CLOCK_2);
    if (write != 0)
        record_out(race, b, cell[CELL_WRITE], write, cells, i, RACE_W);
}

/** Packs the record that begins at word @row of the ordinary cell @cells. Returns the reference to its access, and sets *@number
 *  to its site number. @old: the references that the packed cell held before. */
static uint32_t record_in(const struct pass *p, const struct race_page_shadow *cells, unsigned row, const uint32_t *old,
                          uint32_t *number)
{
    struct chk_race *race = p->race;
    const uint32_t time = *race_at(cells, row + RACE_CLOCK, 0), tid = *race_at(cells, row + RACE_TID, 0);
    const uint32_t lane = tid & (p->ctx->block->width - 1);

    *number = number_of(p->b, *race_at(cells, row + RACE_SITE, 0) & (uint32_t)lw_mask(RACE_SITE_BITS));
    if (time == race->order.clock && tid - lane == p->ctx->self_tid)
        return p->mine | lane;
    for (unsigned k = CELL_READ; k <= CELL_WRITE; k++)
        if (access_of(p, old[k])->time == time && thread_of(p, old[k]) == tid)
            return old[k];
    race->packed.access[race->packed.access_count] = (struct race_packed_access){time, tid - lane};
    return race->packed.access_count++ << LANE_BITS | lane;
}

static void cell_in(struct pass *p, const struct race_page_shadow *cells, uint32_t *cell)
{
    const uint32_t old[CELL_WHAT] = {cell[CELL_READ], cell[CELL_READ_2], cell[CELL_WRITE]};
    const uint32_t level = *race_at(cells, RACE_R + RACE_SITE, 0) >> RACE_LEVEL_SHIFT;
    uint32_t what = p->b->tag << TAG_SHIFT, number;

    if (*race_at(cells, RACE_R + RACE_CLOCK, 0) != 0) {
        cell[CELL_READ] = record_in(p, cells, RACE_R, old, &number);
        what |= number << READ_SHIFT | level << LEVEL_SHIFT;
        if (level != RACE_THREAD) {
            cell[CELL_READ_2] = record_in(p, cells, RACE_R + RACE_CLOCK_2, old, &number);
            what |= number << READ_2_SHIFT;
        }
    }
    if (*race_at(cells, RACE_W + RACE_CLOCK, 0) != 0) {
        cell[CELL_WRITE] = record_in(p, cells, RACE_W, old, &number);
        what |= number << WRITE_SHIFT;
    }
    cell[CELL_WHAT] = what;
}

/** Unpacks @cell, checks @lanes of the access, which all access the word of @cell, and packs the cell again. @together:
 *  checks @lanes by race_access_location(). Returns false if it has not made the check. */
static bool slow(struct pass *p, uint32_t *cell, uint64_t lanes, bool together)
{
    uint32_t hot[RACE_HOT] = {0}, rest[RACE_WARM] = {0}, cold[RACE_COLD] = {0};
    struct race_page_shadow cells = {.hot = hot, .warm = rest, .cold = cold, .count = 1, .shift = 2};
    const uint64_t at = ISA_GLOBAL_BASE + p->b->first + (uint64_t)(cell - p->b->cell) / CELL * 4;

    if (p->entry != NULL) {
        race_batch_decode(p->ctx, p->entry, p->access, p->address);
        p->entry = NULL;
    }
    if (cell[CELL_WHAT] >> TAG_SHIFT == p->b->tag)
        cell_out(p->race, p->b, cell, &cells, 0);
    else
        cell[CELL_READ] = cell[CELL_READ_2] = cell[CELL_WRITE] = p->mine;
    if (together && !race_access_location(p->ctx, &cells, lanes, at))
        return false;
    if (!together)
        race_access_cell(p->ctx, &cells, lw_lowest(lanes), at);
    cell_in(p, &cells, cell);
    p->b->slow++;
    return true;
}

/** Returns 1 + the index of the finding that counts races between the site of this access and the site with number @number.
 *  Returns 0 if there is no such finding yet: the race must then be checked in full. */
static inline int finding_of(struct pass *p, unsigned number)
{
    int *f = &p->b->finding_of[p->number][number];

    if (*f == 0)
        *f = race_found_before(p->ctx, p->b->site[number]) + 1;
    p->b->known_sites[p->number] |= (uint32_t)(*f != 0) << number;
    return *f;
}

static inline void counted(struct pass *p, int f)
{
    p->race->chk->findings[f - 1].count++;
}

static void reads(struct pass *p, uint32_t *cell, unsigned lane)
{
    const uint32_t what = cell[CELL_WHAT], tag = p->b->tag << TAG_SHIFT;
    const uint32_t read = what >> READ_SHIFT & SITE_MASK, write = what >> WRITE_SHIFT & SITE_MASK;
    int f = 0;

    if ((what ^ tag) >> TAG_SHIFT != 0) {
        cell[CELL_READ] = cell[CELL_READ_2] = cell[CELL_WRITE] = p->mine | lane;
        cell[CELL_WHAT] = tag | p->number << READ_SHIFT;
        return;
    }
    if ((write != 0 && (is_own(p, cell[CELL_WRITE]) || (f = finding_of(p, write)) == 0)) ||
        (read != 0 && is_own(p, cell[CELL_READ]))) {
        (void)slow(p, cell, UINT64_C(1) << lane, false);
        return;
    }
    if (f != 0)
        counted(p, f);
    if (read == p->number && (what >> LEVEL_SHIFT & RACE_GRID) == RACE_GRID)
        return;
    const uint32_t others = read != 0 ? read << READ_2_SHIFT | (uint32_t)RACE_GRID << LEVEL_SHIFT : 0;
    cell[CELL_READ_2] = cell[CELL_READ];
    cell[CELL_READ] = p->mine | lane;
    cell[CELL_WHAT] = tag | write << WRITE_SHIFT | p->number << READ_SHIFT | others;
}

/** Values that the fast path of reads() needs. */
struct quick {
    uint32_t mine, first, tag, number;
    const int *finding_of;              /* [number of the other site]: table row of race_packed.finding_of for this site */
    struct chk_finding *findings;
};
static inline struct quick quick_of(const struct pass *p)
{
    return (struct quick){p->mine, p->first, p->b->tag << TAG_SHIFT, p->number, p->b->finding_of[p->number],
                          p->race->chk->findings};
}
typedef uint32_t cell_words __attribute__((vector_size(4 * CELL)));
/** Handles a read by the fast path, if possible. Returns false if it has not handled the read. */
static inline bool reads_quickly(const struct quick *q, uint32_t *cell, unsigned lane)
{
    const uint32_t what = cell[CELL_WHAT], last = cell[CELL_READ], mine = q->mine | lane;
    const uint32_t read = what >> READ_SHIFT & SITE_MASK, write = what >> WRITE_SHIFT & SITE_MASK;

    if ((what ^ q->tag) >> TAG_SHIFT != 0) {
        const cell_words fresh = {mine, mine, mine, q->tag | q->number << READ_SHIFT};
        memcpy(cell, &fresh, sizeof fresh);
        return true;
    }
    if (read != 0 && last >= q->first)
        return false;
    if (write != 0) {
        const int f = q->finding_of[write];

        if (cell[CELL_WRITE] >= q->first || f == 0)
            return false;
        q->findings[f - 1].count++;
    }
    if (read == q->number && (what >> LEVEL_SHIFT & RACE_GRID) == RACE_GRID)
        return true; /* the record already includes this read, except for the time */
    const uint32_t others = read != 0 ? read << READ_2_SHIFT | (uint32_t)RACE_GRID << LEVEL_SHIFT : 0;
    cell[CELL_READ_2] = last;
    cell[CELL_READ] = mine;
    cell[CELL_WHAT] = q->tag | write << WRITE_SHIFT | q->number << READ_SHIFT | others;
    return true;
}

/** Handles a write. @same: @lane stores the value that memory already has. */
static void writes(struct pass *p, uint32_t *cell, unsigned lane, bool same)
{
    const uint32_t what = cell[CELL_WHAT], tag = p->b->tag << TAG_SHIFT;
    const uint32_t write = what >> WRITE_SHIFT & SITE_MASK, self_tid = p->ctx->self_tid + lane;
    uint32_t read = what >> READ_SHIFT & SITE_MASK;
    int f = 0, f2 = 0;

    if ((what ^ tag) >> TAG_SHIFT == 0) {
        bool odd = write != 0 && is_own(p, cell[CELL_WRITE]);

        if (read != 0 && is_own(p, cell[CELL_READ])) {
            const uint32_t level = what >> LEVEL_SHIFT & RACE_GRID;

            /* A thread of this block made the recorded read. The fast path handles it only if this thread made the read, and
             * if a second recorded read is of another block. */
            odd |= thread_of(p, cell[CELL_READ]) != self_tid || (level != RACE_THREAD && level != RACE_GRID) ||
                   (level == RACE_GRID && is_own(p, cell[CELL_READ_2]));
            read = level == RACE_GRID ? what >> READ_2_SHIFT & SITE_MASK : 0;
        }
        odd |= (write | read) != 0 && p->race->kinds >> CHK_BENIGN_RACE & 1;
        if (odd || (!same && ((write != 0 && (f = finding_of(p, write)) == 0) ||
                              (read != 0 && (f2 = finding_of(p, read)) == 0)))) {
            (void)slow(p, cell, UINT64_C(1) << lane, false);
            return;
        }
        if (f != 0)
            counted(p, f);
        if (f2 != 0)
            counted(p, f2);
    }
    cell[CELL_READ] = cell[CELL_READ_2] = cell[CELL_WRITE] = p->mine | lane;
    cell[CELL_WHAT] = tag | p->number << WRITE_SHIFT;
}

/** Handles one lane. @k: its index among the @count lanes of the access. */
static inline void lane_at(struct pass *p, uint32_t *cell, unsigned lane, unsigned k, unsigned count)
{
    const uint32_t *value = p->ctx->value;

    if (!p->ctx->write)
        reads(p, cell, lane);
    else if (value != NULL)
        writes(p, cell, lane, value[k] == value[count + k]);
    else
        writes(p, cell, lane,
               race_stores_what_is(p->ctx, lane,
                                   ISA_GLOBAL_BASE + p->b->first + (uint64_t)(cell - p->b->cell) / CELL * 4));
}

/** Handles reads of at most @count consecutive words, as long as their cells are empty. Returns the number of handled
 *  reads. */
static inline unsigned reads_first(const struct quick *q, uint32_t *cell, unsigned lane, unsigned count)
{
    const uint32_t mine = q->mine | lane;
    const cell_words step = {1, 1, 1, 0};
    cell_words fresh = {mine, mine, mine, q->tag | q->number << READ_SHIFT};
    unsigned k = 0;

    for (; k < count && (cell[CELL_WHAT] ^ q->tag) >> TAG_SHIFT != 0; k++, cell += CELL, fresh += step)
        memcpy(cell, &fresh, sizeof fresh);
    return k;
}

/** Handles reads of @lanes: the cell of the first is @cell, and the cells of the others follow. */
static void reads_run(struct pass *p, uint32_t *cell, uint64_t lanes)
{
    const unsigned low = lw_lowest(lanes);
    struct quick q = quick_of(p);
    uint64_t rest = lanes >> low;

    for (unsigned l = low; rest != 0; rest >>= 1, l++, cell += CELL) {
        if ((rest & 3) == 3) { /* usually all or none of the next lanes have empty cells */
            const unsigned count = ~rest != 0 ? lw_lowest(~rest) : 64, k = reads_first(&q, cell, l, count);

            cell += (size_t)k * CELL;
            l += k;
            if (k >= 64 || (rest >>= k) == 0)
                return;
        }
        if (!(rest & 1) || reads_quickly(&q, cell, l))
            continue;
        reads(p, cell, l);
        q.findings = p->race->chk->findings;
    }
}

/** Handles @lanes. The first accesses the word at @offset; the others access the words after it (@step 4) or the same word
 *  (@step 0). */
static void lanes_at(struct pass *p, uint64_t offset, unsigned step, uint64_t lanes)
{
    const unsigned count = lw_popcount(p->ctx->access->at.lanes), low = lw_lowest(lanes);
    uint32_t *cell = cell_at(p->b, offset);
    unsigned k = lw_popcount(p->ctx->access->at.lanes & lw_mask(low));

    if (step == 0 && (lanes & (lanes - 1)) != 0 && slow(p, cell, lanes, true))
        return;
    if (!p->ctx->write && step != 0) {
        reads_run(p, cell, lanes);
        return;
    }
    for (LW_EACH_BIT(l, lanes))
        lane_at(p, cell + (l - low) * step / 4 * CELL, (unsigned)l, k++, count);
}

/** Handles @lanes as lanes_at() does, but for scattered lanes, and for accesses in which some lanes have no packed cell. */
static void each_at(struct pass *p, const uint64_t *address, uint64_t lanes)
{
    const uint64_t all = p->ctx->access->at.lanes;
    const unsigned count = lw_popcount(all);

    for (LW_EACH_BIT(l, lanes)) {
        const uint64_t offset = address[l] - ISA_GLOBAL_BASE;

        if (is_in(p->b, offset))
            lane_at(p, cell_at(p->b, offset), (unsigned)l, lw_popcount(all & lw_mask((unsigned)l)), count);
        else
            race_access_at(p->ctx, (unsigned)l, address[l]);
    }
}

static void piece_at(struct pass *p, const struct emu_addr_segment *piece, uint64_t lanes)
{
    const unsigned step = piece->run ? 4 : 0, low = lw_lowest(lanes);
    const uint64_t first = piece->address + (low - piece->first) * step - ISA_GLOBAL_BASE;
    const uint64_t last = piece->address + (63 - (unsigned)__builtin_clzll(lanes) - piece->first) * step -
                          ISA_GLOBAL_BASE;

    if (is_in(p->b, first) && is_in(p->b, last)) {
        lanes_at(p, first, step, lanes);
        return;
    }
    for (LW_EACH_BIT(l, lanes))
        p->address[l] = piece->address + (l - piece->first) * step;
    each_at(p, p->address, lanes);
}

/* ---- allocations -------------------------------------------------------------------------------------- */

/** Returns true if there is capacity for @count accesses, and for the accesses that record_in() may add for the lanes of
 *  one of them. */
static bool has_capacity(const struct chk_race *race, uint64_t count)
{
    return race->packed.access_count + count + EMU_MAX_LANES * 4 < race->packed.access_capacity;
}

/** Converts the cells to ordinary ones. */
static void leave(struct chk_race *race, struct race_range *r)
{
    struct race_packed *b = r->packed;
    const uint64_t size = UINT64_C(1) << RACE_PAGE_SHIFT;

    if (!is_packed(r))
        return;
    race_transition(race, r, RACE_SHADOWED, RACE_AT_UNPACKABLE);
    b->candidate = false;
    b->left++;
    race->packed.range_count--;
    for (uint64_t page = b->first; page < b->end; page += size) {
        struct race_page_shadow *cells = NULL;

        for (uint64_t at = page; at < page + size; at += 4) {
            const uint32_t *cell = cell_at(b, at);

            if (cell[CELL_WHAT] >> TAG_SHIFT != b->tag)
                continue;
            if (cells == NULL) {
                cells = race_shadow_cached(&race->shadow, page);
                if (cells != NULL)
                    race_deferred_page_flush(race, cells, page);
                if (cells == NULL || cells->hot == NULL) {
                    race->chk->short_of_memory = true;
                    break;
                }
            }
            for (unsigned k = 0; k < 4u >> cells->shift; k++)
                cell_out(race, b, cell, cells, (uint32_t)((at - page) >> cells->shift) + k);
        }
    }
}

/** Packs a record of an ordinary cell: sets *@ref to the reference to its access, and *@number to its site number. Returns
 *  false if that is impossible. */
static bool record_of(struct chk_race *race, struct race_packed *b, uint32_t base, unsigned width,
                      const struct race_page_shadow *cells, uint32_t i, unsigned row, uint32_t *ref, uint32_t *number)
{
    const uint32_t time = *race_at(cells, row + RACE_CLOCK, i), tid = *race_at(cells, row + RACE_TID, i);
    const uint32_t site = *race_at(cells, row + RACE_SITE, i), lane = tid & (width - 1), self_tid = tid - lane;
    uint32_t k = race->packed.access_count;

    *number = site & RACE_HOW || time <= base ? 0 : number_of(b, site & (uint32_t)lw_mask(RACE_SITE_BITS));
    if (*number == 0 || !has_capacity(race, 0))
        return false;
    while (k > 0 && race->packed.access_count - k < 4 && /* the access of this record is usually the access of the preceding
                                                          * word's record */
           (race->packed.access[k - 1].time != time || race->packed.access[k - 1].self_tid != self_tid))
        k--;
    if (k > 0 && race->packed.access[k - 1].time == time && race->packed.access[k - 1].self_tid == self_tid)
        k--;
    else
        race->packed.access[k = race->packed.access_count++] = (struct race_packed_access){time, self_tid};
    *ref = k << LANE_BITS | lane;
    return true;
}

/** Packs the ordinary cells of a page. Returns false if that is impossible. */
static bool page_in(const struct race_access *ctx, struct race_packed *b, uint64_t page)
{
    struct chk_race *race = ctx->race;
    struct race_page_shadow *cells = race_shadow_cached(&race->shadow, page);
    const uint32_t base = ctx->block->vc_floor, width = ctx->block->width;

    if (cells == NULL || cells->valid_epoch != race->shadow.epoch || cells->shift != 2 || cells->hot == NULL)
        return false;
    for (uint32_t i = 0; i < RACE_PAGE_WORDS; i++) {
        uint32_t *cell = cell_at(b, page + 4 * (uint64_t)i), what = b->tag << TAG_SHIFT, number;
        const bool read = *race_at(cells, RACE_R + RACE_CLOCK, i) > base;
        const bool write = *race_at(cells, RACE_W + RACE_CLOCK, i) > base;
        const uint32_t level = *race_at(cells, RACE_R + RACE_SITE, i) >> RACE_LEVEL_SHIFT;

        if (!read && !write)
            continue;
        if (write && (!record_of(race, b, base, width, cells, i, RACE_W, &cell[CELL_WRITE], &number) ||
                      *race_at(cells, RACE_W + RACE_SITE, i) >> RACE_LEVEL_SHIFT != RACE_THREAD))
            return false;
        what |= write ? number << WRITE_SHIFT : 0;
        if (read && !record_of(race, b, base, width, cells, i, RACE_R, &cell[CELL_READ], &number))
            return false;
        what |= read ? number << READ_SHIFT | level << LEVEL_SHIFT : 0;
        if (read && level != RACE_THREAD) {
            if (!record_of(race, b, base, width, cells, i, RACE_R + RACE_CLOCK_2, &cell[CELL_READ_2], &number))
                return false;
            what |= number << READ_2_SHIFT;
        } else {
            cell[CELL_READ_2] = cell[read ? CELL_READ : CELL_WRITE];
        }
        if (!read)
            cell[CELL_READ] = cell[CELL_WRITE];
        if (!write)
            cell[CELL_WRITE] = cell[CELL_READ];
        cell[CELL_WHAT] = what;
    }
    cells->valid_epoch = 0;
    race->shadow.valid_page[page >> RACE_PAGE_SHIFT] = NULL;
    return true;
}

/** Starts the packed shadow of @r, and moves all records and deferred reads into it. Returns false if the cells of @r
 *  remain ordinary. */
static bool begin(struct race_access *ctx, struct race_range *r)
{
    struct chk_race *race = ctx->race;
    struct race_packed *b = r->packed;
    const uint64_t mask = lw_mask(RACE_PAGE_SHIFT), first = (r->first + mask) & ~mask, end = r->end & ~mask;
    uint64_t count = race_deferred_words(&r->deferred) / 4;

    if (r->end - r->first < LEAST_BYTES || (b != NULL && (b->tried == race->shadow.epoch || b->left == MOST_LEFT)))
        return false;
    if (b == NULL) {
        b = calloc(1, sizeof *b);
        if (b == NULL)
            return false; /* if memory is short, the allocation has ordinary cells */
        b->first = first;
        b->end = end;
        b->site[0] = UINT32_MAX;
        for (unsigned i = 0; i < MOST_SITES; i++)
            b->known_sites[i] = 1;
        r->packed = b;
    }
    b->tried = race->shadow.epoch;
    if (race_is_uninitialised(race, ISA_GLOBAL_BASE + first, end - first) ||
        !race_packed_simple(race))
        return false;
    if (race->filter.any_page && race_filter_reads_enter(race, first, end))
        return false;
    for (uint64_t page = first; page < end; page += mask + 1)
        if (!race_deferred_page_count(&race->shadow, page, &count))
            return false;
    if (race->packed.access == NULL) {
        race->packed.access = lw_reserve(MOST_ACCESSES * sizeof *race->packed.access);
        race->packed.access_capacity = LEAST_ACCESSES;
        if (race->packed.access != NULL)
            race_large_wish(race->packed.access, MOST_ACCESSES * sizeof *race->packed.access);
    }
    if ((end - first) / 4 > race->packed.access_capacity) /* There is at most one access record for each word: with that
                                                           * many, a packed cell still takes less memory than an
                                                           * ordinary cell. */
        race->packed.access_capacity = (end - first) / 4 < MOST_ACCESSES ? (unsigned)((end - first) / 4) : MOST_ACCESSES;
    if (b->cell == NULL)
        b->cell = race_large_make((size_t)(end - first) * CELL);
    if (b->cell == NULL || race->packed.access == NULL || !has_capacity(race, count))
        return false;
    if (++b->tag >> (32 - TAG_SHIFT) != 0) {
        memset(b->cell, 0, (size_t)(end - first) * CELL);
        b->tag = 1;
    }
    race_transition(race, r, RACE_PACKED, RACE_AT_SCATTERED_STORE);
    b->lanes = b->slow = 0;
    b->stored = false;
    race->packed.range_count++;
    race->packed.begin_count++;
    /* The reads in the allocation's list are later than the reads in the lists of its pages. They are therefore processed
     * last, even if the records of a page make all cells ordinary again. */
    const struct race_deferred list = r->deferred;
    r->deferred = (struct race_deferred){0};
    race->defer.range_lists -= list.first != NULL;
    for (uint64_t page = first; page < end && is_packed(r); page += mask + 1) {
        race_deferred_page_move(race, page);
        if (race->shadow.valid_page[page >> RACE_PAGE_SHIFT] != NULL && is_packed(r) && !page_in(ctx, b, page))
            leave(race, r);
    }
    r->deferred = list;
    race->defer.range_lists += list.first != NULL;
    race_deferred_allocation_flush(race, r->first);
    return is_packed(r);
}

void race_packed_leave(struct chk_race *race, uint64_t offset)
{
    for (unsigned i = 0; i < race->ranges.count; i++)
        if (is_packed(&race->ranges.table[i]) && is_in(race->ranges.table[i].packed, offset))
            leave(race, &race->ranges.table[i]);
}

void race_packed_end(struct chk_race *race, struct race_range *r)
{
    if (r->packed == NULL)
        return;
    leave(race, r);
    race_large_free(r->packed->cell, (size_t)(r->packed->end - r->packed->first) * CELL);
    free(r->packed);
    r->packed = NULL;
}

void race_packed_forget(struct chk_race *race)
{
    race->packed.candidate_count = 0;
    for (unsigned i = 0; i < race->ranges.count; i++) {
        struct race_range *r = &race->ranges.table[i];
        struct race_packed *b = r->packed;

        if (b == NULL)
            continue;
        if (is_packed(r)) {
            b->candidate = b->stored && b->left != MOST_LEFT;
            race_transition(race, r, RACE_SHADOWED, RACE_AT_LAUNCH);
            r->epoch = 0; /* With epoch 0, the first access to the allocation determines its state anew. */
        }
        race->packed.candidate_count += b->candidate;
    }
    race->packed.range_count = 0;
    race->packed.access_count = 0;
}

void race_packed_free(struct chk_race *race)
{
    for (unsigned i = 0; i < race->ranges.count; i++) {
        if (is_packed(&race->ranges.table[i]))
            race_transition(race, &race->ranges.table[i], RACE_SHADOWED, RACE_AT_UNPACKABLE);
        race_packed_end(race, &race->ranges.table[i]);
    }
    lw_release(race->packed.access, MOST_ACCESSES * sizeof *race->packed.access);
}

/** Counts checked lanes. If slow() was necessary for more than a quarter of them, converts the cells to ordinary ones for
 *  the rest of the run. */
static inline void looked(struct race_access *ctx, struct race_range *r, unsigned lanes)
{
    struct race_packed *b = r->packed;

    b->lanes += lanes;
    b->stored |= ctx->write;
    if (b->slow > FEW && b->slow > b->lanes / 4) {
        leave(ctx->race, r);
        b->left = MOST_LEFT;
    }
}

/** Returns the number of the access's site, if packed cells support it; otherwise returns 0, and the cells of @r become
 *  ordinary. */
static unsigned may_look(struct race_access *ctx, struct race_range *r)
{
    struct chk_race *race = ctx->race;
    unsigned number = 0;

    if (ctx->plain && !ctx->synchronizes && !(ctx->site & RACE_HOW) && ctx->access->bytes == 4 && ctx->freed == 0 &&
        race_packed_simple(race) &&
        has_capacity(race, 0))
        number = number_of(r->packed, ctx->site); /* usually there are few sites */
    if (number == 0)
        leave(race, r);
    return number;
}

/** Returns true if packed cells may be profitable for @r again, and if the instruction of @site accessed them in an
 *  earlier launch. */
static bool was_on(const struct race_range *r, uint32_t site)
{
    bool known = false;

    for (unsigned i = 1; r->packed != NULL && r->packed->candidate && i <= r->packed->site_count; i++)
        known |= r->packed->site[i] == site;
    return known;
}

bool race_packed_check(struct race_access *ctx)
{
    struct chk_race *race = ctx->race;
    const struct emu_hook_access *a = ctx->access;
    const uint64_t lanes = a->at.lanes;
    const uint64_t at = a->piece_count == 0 ? a->address[lw_lowest(lanes)] : a->piece[0].address;
    const bool scattered = a->piece_count == 0 || (lanes & (lanes - 1)) == 0;
    uint64_t odd = 0, beyond = 0;
    struct pass p;

    if (race->batch.log == NULL || !race->fast || at < ISA_GLOBAL_BASE || a->bytes != 4 ||
        (!scattered && race->packed.range_count + race->packed.candidate_count == 0))
        return false;
    struct race_range *r = race_range_at(race, at - ISA_GLOBAL_BASE);
    if (r == NULL)
        return false;
    const bool on = is_packed(r);
    if (!on && !(ctx->write ? scattered : was_on(r, ctx->site)))
        return false;
    for (unsigned k = 0; k < a->piece_count; k++) {
        const uint64_t first = a->piece[k].address - ISA_GLOBAL_BASE;
        const uint64_t last = first + (a->piece[k].run ? 4u * (a->piece[k].last - a->piece[k].first) : 0);
        odd |= first;
        beyond |= (first < r->first) | (last + 4 > r->end);
    }
    for (LW_EACH_BIT(l, a->piece_count == 0 ? lanes : 0)) {
        const uint64_t first = a->address[l] - ISA_GLOBAL_BASE;
        odd |= first;
        beyond |= (first < r->first) | (first + 4 > r->end);
    }
    const bool whole = (odd & 3) == 0 && beyond == 0;
    if (!on && (!whole || ctx->synchronizes || !ctx->plain || ctx->freed != 0 || !begin(ctx, r)))
        return false;
    if (!whole) {
        leave(race, r);
        return false;
    }
    const unsigned number = may_look(ctx, r);
    if (number == 0)
        return false;
    ctx->vc_floor = ctx->block->vc_floor;
    pass_begin(&p, ctx, r->packed, number);
    if (a->piece_count == 0)
        each_at(&p, a->address, lanes);
    for (unsigned k = 0; k < a->piece_count; k++) {
        const uint64_t here = lanes & lw_mask(a->piece[k].last + 1u) & ~lw_mask(a->piece[k].first);

        if (here != 0)
            piece_at(&p, &a->piece[k], here);
    }
    looked(ctx, r, lw_popcount(lanes));
    return true;
}

bool race_packed_replay(struct race_access *ctx, const struct emu_addr_segment *piece, const uint64_t *address,
                      uint64_t lanes)
{
    struct chk_race *race = ctx->race;
    struct race_range *r = race_range_at(
        race, (piece != NULL ? piece->address : address[lw_lowest(lanes)]) - ISA_GLOBAL_BASE);
    const bool on = r != NULL && is_packed(r);
    const unsigned number = on && has_capacity(race, 0) ? number_of(r->packed, ctx->site) : 0;
    struct emu_hook_access access = *ctx->access;
    struct race_access here = *ctx;
    struct pass p;

    if (number == 0) {
        if (on) /* this read will be recorded in an ordinary cell, so the earlier records must be in ordinary cells, too */
            leave(race, r);
        return false;
    }
    access.at.lanes = lanes;
    here.access = &access;
    pass_begin(&p, &here, r->packed, number);
    if (piece != NULL)
        piece_at(&p, piece, lanes);
    else
        each_at(&p, address, lanes);
    return true;
}

/** Handles the reads of record @e as reads() does. @base: offset of e->base from the first word with a packed cell. The loop
 *  has only one branch. Whether a lane needs the code of a further branch is practically random, so a mispredicted branch
 *  would cost more than the code that it skips. */
static void reads_each(struct pass *p, const struct emu_access_record *e, uint64_t base)
{
    struct race_packed *b = p->b;
    const uint32_t tag = b->tag << TAG_SHIFT, mine = p->mine, first = p->first, number = p->number;
    const uint32_t others = (uint32_t)RACE_GRID << LEVEL_SHIFT, steady = others | number;
    const unsigned count = e->count, scale = e->scale;
    uint32_t known = b->known_sites[number], nowhere[CELL];
    uint64_t rest = e->lanes;

    for (unsigned k = 0; k < count; k++, rest &= rest - 1) {
        uint32_t *cell = cell_of(b, base + ((uint64_t)e->word[k] << scale));
        const uint32_t self_tid = mine | lw_lowest(rest), last = cell[CELL_READ], wrote = cell[CELL_WRITE];
        const bool good = (cell[CELL_WHAT] ^ tag) >> TAG_SHIFT == 0;
        const uint32_t what = good ? cell[CELL_WHAT] : 0;
        const uint32_t read = what >> READ_SHIFT & SITE_MASK, write = what >> WRITE_SHIFT & SITE_MASK;

        if (good & ((last >= first) | (wrote >= first) | !(known >> write & 1))) {
            reads(p, cell, lw_lowest(rest));
            known = b->known_sites[number];
            continue;
        }
        b->times[write]++;
        const uint32_t before = read != 0 ? read << READ_2_SHIFT | others : 0;
        const uint64_t reads_now = self_tid | (uint64_t)(good ? last : self_tid) << 32;
        const uint64_t rest_now = (good ? wrote : self_tid) |
                                  (uint64_t)(tag | number | (what & SITE_MASK << WRITE_SHIFT) | before) << 32;
        /* the record already includes this read, except for its time */
        uint32_t *to = (what & (others | SITE_MASK)) == steady ? nowhere : cell;
        memcpy(to, &reads_now, sizeof reads_now);
        memcpy(to + CELL_WRITE, &rest_now, sizeof rest_now);
    }
    for (unsigned i = 1; i <= b->site_count; i++)
        if (b->times[i] != 0) {
            p->race->chk->findings[b->finding_of[number][i] - 1].count += b->times[i];
            b->times[i] = 0;
        }
}

bool race_packed_cell(struct race_access *ctx, struct race_range *r, const struct emu_access_record *e,
                      struct emu_hook_access *access, bool simple)
{
    struct chk_race *race = ctx->race;
    struct race_packed *b = r->packed;
    uint64_t rest = e->lanes;
    struct pass p;

    if (!is_packed(r))
        return false;
    unsigned number = b->near[ctx->site % NEAR_SITES];
    if (!simple || !ctx->plain || !has_capacity(race, 0) ||
        (b->site[number] != ctx->site && (number = number_of(b, ctx->site)) == 0)) {
        leave(race, r);
        return false;
    }
    b->near[ctx->site % NEAR_SITES] = (uint8_t)number;
    pass_begin(&p, ctx, b, number);
    p.entry = e;
    p.access = access;
    const uint64_t base = e->base - ISA_GLOBAL_BASE - b->first;
    const unsigned count = e->count, scale = e->scale;
    if (ctx->write) {
        for (unsigned k = 0; k < count; k++, rest &= rest - 1)
            writes(&p, cell_of(b, base + ((uint64_t)e->word[k] << scale)), lw_lowest(rest),
                   ctx->value[k] == ctx->value[count + k]);
    } else if (e->form == EMU_ADDR_CONTIGUOUS) {
        reads_run(&p, cell_of(b, base + ((uint64_t)e->word[0] << scale)), e->lanes);
    } else {
        reads_each(&p, e, base);
    }
    looked(ctx, r, count);
    return true;
}
