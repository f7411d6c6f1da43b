/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of the register rows. A register row, here called row, is 32 bits of each lane of a warp in the register file, and holds
 * one vector register. Two proposals are policies of the same states:
 *
 *              written or, without rows.rename, the block arrives
 *        OFF ---------------------------------------------------> ON, or with rows.drowsy DROWSY <--> ON while an instruction
 *         ^                                                         |                                 accesses the row
 *         +---------------------------------------------------------+
 *              last read or, without rows.rename, the block leaves
 *
 * rows.drowsy: a row is on from the issue of an instruction that reads it to the read, and in the cycle of a write and the
 * rows.wake cycles before, but not before the issue of the writing instruction. rows.wake also delays reads (tim_pipe_body.h).
 * rows.rename: a row is free when no instruction in flight accesses it and no live lane of the warp, in any split, may still
 * read its register (tim_live.c). A row that waits for an older read or write stays allocated, and a new value of the same
 * register uses the same row. A warp whose next instruction needs more rows than are free is throttled.
 *
 * No block may wait for ever, so rows are reserved for the oldest block of the core. With rows.reserve block these are all rows
 * that its warps may still need, so its warps never wait. With rows.reserve warp these are enough rows that its warps can run one
 * after the other (the banker's algorithm): in the order of their slots, first the warps that do not wait at a barrier, then the
 * others. A warp never needs more rows than it has registers. A warp that waits at a barrier needs only rows for registers that
 * are live there. In a block without barriers the reserve is that of one warp.
 *
 * Source: specification of the book on GPU architectures, section 13 (drowsy rows, virtualisation). Our choices: wake-ups of
 * results take no time; the size of the reserve of a block with barriers, of which the source only says that it suffices for
 * one warp.
 */
#include "timing/mechanisms/tim_mechanism_priv.h"

#include <assert.h>
#include <stdlib.h>

enum { REGISTERS = 256, BLOCKS = 64 };

struct row {
    uint64_t on_until;        /* first cycle, after its last access, in which the row is not on */
    uint16_t readers, writers; /* number of issued instructions that have not read, or not written, the register */
};
struct rows_warp {
    struct tim_vectors has;   /* registers that have a row */
    struct tim_vectors live;  /* rows.rename: registers that a live lane may still read, or that keep their row */
    unsigned block;
    unsigned rows;            /* number of elements of `has` */
    bool lives, waits;        /* the warp has live lanes; all of them wait at a barrier or for a launch */
    struct row row[REGISTERS];
};
/** Numbers of rows, which the counters sum over cycles. */
struct number {
    unsigned used, on, named;
};
struct rows {
    struct tim_mech base;
    unsigned size;            /* number of rows of the register file */
    struct number number;     /* named: registers of resident warps */
    unsigned freed, drowsed;  /* freed: rows that number.used includes until the end of this cycle. drowsed: the same for
                               * number.on */
    struct number then;       /* the numbers in each cycle from `since` on, which the counters do not contain yet */
    uint64_t since;
    unsigned most;            /* maximum of number.used */
    unsigned count;           /* number of resident blocks */
    uint8_t order[BLOCKS];    /* [count] resident blocks, the oldest first */
    unsigned warps[BLOCKS], registers[BLOCKS]; /* by block: number of its warps; vector registers of each warp */
    unsigned used[BLOCKS];    /* by block: number of its rows */
    const struct isa_function *kernel[BLOCKS];
    unsigned waiting[BLOCKS]; /* by block: rows_while_waiting() */
    const struct isa_function *last; /* kernel for which rows_while_waiting() has computed last_waiting with last_code */
    const struct tim_code *last_code;
    unsigned last_waiting;
    struct rows_warp warp[];
};

static bool is_on(const struct tim_config *config)
{
    return config->rows_on;
}

static struct tim_mech *create(const struct tim_mech_core *core)
{
    const struct tim_config *c = core->config;
    struct rows *rows = calloc(1, sizeof *rows + c->core_warps * sizeof rows->warp[0]);

    if (rows == NULL)
        return NULL;
    rows->size = c->core_registers / c->core_warp_width;
    return &rows->base;
}

static void destroy(struct tim_mech *mech)
{
    free(mech);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static bool renames(const struct rows *rows)
{
    return tim_renames(rows->base.core->config);
}

static void take(struct rows *rows, struct rows_warp *w, unsigned reg)
{
    tim_vectors_add(&w->has, reg);
    rows->number.used++;
    rows->used[w->block]++;
    w->rows++;
    rows->number.on += w->row[reg].readers != 0;
    rows->most = rows->number.used > rows->most ? rows->number.used : rows->most;
}

/** Frees the row of a register that no instruction in flight accesses. The row is counted as used until the end of the cycle if
 *  @now is false. */
static void release(struct rows *rows, struct rows_warp *w, unsigned reg, bool now)
{
    assert(w->row[reg].readers == 0 && w->row[reg].writers == 0);
    tim_vectors_remove(&w->has, reg);
    rows->used[w->block]--;
    w->rows--;
    rows->number.used -= now;
    rows->freed += !now;
}

/** rows.rename: frees the row of a register if it has one, no instruction in flight accesses it, and it is not live. */
static void release_dead(struct rows *rows, struct rows_warp *w, unsigned reg, bool now)
{
    if (!tim_vectors_has(&w->has, reg) || tim_vectors_has(&w->live, reg) || w->row[reg].readers != 0 || w->row[reg].writers != 0)
        return;
    release(rows, w, reg, now);
    rows->base.core->count[TIM_CORE_rows_releases]++;
}

/** Finds the registers of a warp that are live. */
static void find_live(struct rows *rows, unsigned warp)
{
    struct rows_warp *w = &rows->warp[warp];
    const bool lives = tim_mech_live(rows->base.core, warp, &w->live);

    for (unsigned reg = 0; lives && reg < rows->base.core->config->rows_threshold; reg++)
        tim_vectors_add(&w->live, reg);
}

/** Frees all rows of a warp whose registers are dead and that no instruction in flight accesses. */
static void release_all_dead(struct rows *rows, struct rows_warp *w)
{
    for (unsigned i = 0; i < LW_COUNT_OF(w->has.word); i++)
        for (LW_EACH_BIT(b, w->has.word[i] & ~w->live.word[i]))
            release_dead(rows, w, i * 64 + (unsigned)b, true);
}

/** Returns the maximum number of rows of a warp that waits at a barrier of its block, or for a launch. These are the
 *  registers that are live at some instruction at which lanes wait for other lanes. The instruction may be in the kernel, or
 *  in a function that the kernel may call. If a warp waits at a barrier, some of its lanes may wait at another such
 *  instruction. Returns 0 if no warp waits. */
static unsigned rows_while_waiting(const struct tim_code *code, const struct isa_function *kernel, unsigned threshold)
{
    const struct isa_object *object = emu_program_object(code->program);
    struct tim_vectors live = {{0}};
    unsigned count = 0;
    bool waits = false;

    for (uint32_t i = 0; i < code->count; i++) {
        const unsigned op = tim_insn_at(code, i)->op;
        const struct isa_function *in;

        if ((isa_op_info((enum isa_op)op)->flags & ISA_F_BARRIER) == 0)
            continue;
        in = isa_object_function_at(object, i);
        if (in != NULL && in->kernel && in->first != kernel->first)
            continue;
        waits |= (code->insn[i].awaits & TIM_AWAITS_QUEUE) != 0 || op == ISA_LAUNCH_SYNC;
        tim_vectors_join(&live, &code->live[i]);
    }
    for (unsigned reg = 0; reg < kernel->vreg_count; reg++)
        count += reg < threshold || tim_vectors_has(&live, reg);
    return waits ? count : 0;
}

/* ---- hooks ------------------------------------------------------------------------------------------ */

static void resides(struct tim_mech *mech, const struct tim_mech_block *block, bool begins)
{
    struct rows *rows = (struct rows *)mech;
    const unsigned b = block->place;
    unsigned kept = 0;

    if (begins) {
        rows->order[rows->count++] = (uint8_t)b;
        rows->warps[b] = block->grid->block_warps;
        rows->kernel[b] = block->grid->launch.kernel;
        rows->registers[b] = rows->kernel[b]->vreg_count;
        rows->number.named += rows->warps[b] * rows->registers[b];
        return;
    }
    for (unsigned i = 0; i < rows->count; i++)
        if (rows->order[i] != b)
            rows->order[kept++] = rows->order[i];
    rows->count = kept;
    rows->number.named -= rows->warps[b] * rows->registers[b];
    rows->number.used -= rows->used[b];
    rows->used[b] = 0;
}

static void warp_begins(struct tim_mech *mech, unsigned warp, uint64_t age)
{
    struct rows *rows = (struct rows *)mech;
    struct rows_warp *w = &rows->warp[warp];
    struct tim_mech_warp is;

    (void)age;
    memset(w, 0, sizeof *w);
    w->block = mech->core->block_of(mech->core->context, warp);
    for (unsigned reg = 0; !renames(rows) && reg < rows->registers[w->block]; reg++)
        take(rows, w, reg);
    w->lives = true;
    if (!renames(rows))
        return;
    mech->core->look(mech->core->context, warp, &is);
    if (rows->last != rows->kernel[w->block] || rows->last_code != is.code) {
        rows->last = rows->kernel[w->block];
        rows->last_code = is.code;
        rows->last_waiting = rows_while_waiting(is.code, rows->last, mech->core->config->rows_threshold);
    }
    rows->waiting[w->block] = rows->last_waiting;
    find_live(rows, warp);
}

static void waits(struct tim_mech *mech, unsigned warp, bool begins)
{
    ((struct rows *)mech)->warp[warp].waits = begins;
}

static void warp_ends(struct tim_mech *mech, unsigned warp)
{
    struct rows *rows = (struct rows *)mech;

    rows->warp[warp].lives = false;
    if (!renames(rows))
        return;
    rows->warp[warp].live = (struct tim_vectors){{0}};
    release_all_dead(rows, &rows->warp[warp]);
}

static void issues(struct tim_mech *mech, const struct tim_mech_issue *issue)
{
    struct rows *rows = (struct rows *)mech;
    struct rows_warp *w = &rows->warp[issue->warp];
    const struct tim_static *what = issue->what;
    uint64_t *count = mech->core->count;

    for (unsigned k = 0; k < what->row_reads; k++) {
        const unsigned reg = what->row_read[k];

        count[TIM_CORE_rows_missing] += !tim_vectors_has(&w->has, reg);
        if (tim_reads_later(what))
            rows->number.on += w->row[reg].readers++ == 0 && tim_vectors_has(&w->has, reg);
    }
    for (unsigned k = 0; k < what->row_writes; k++) {
        const unsigned reg = what->row_write[k];
        struct row *row = &w->row[reg];

        if (!tim_vectors_has(&w->has, reg)) {
            take(rows, w, reg);
            count[TIM_CORE_rows_allocations]++;
        }
        row->writers++;
        if (row->on_until <= mech->core->now)
            row->on_until = mech->core->now + 1;
    }
    if (!renames(rows))
        return;
    find_live(rows, issue->warp);
    release_all_dead(rows, w);
}

static void flows(struct tim_mech *mech, unsigned warp)
{
    if (renames((struct rows *)mech))
        find_live((struct rows *)mech, warp);
}

static void reads(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    struct rows *rows = (struct rows *)mech;
    struct rows_warp *w = &rows->warp[warp];

    for (unsigned k = 0; k < what->row_reads; k++) {
        const unsigned reg = what->row_read[k];
        struct row *row = &w->row[reg];

        if (--row->readers != 0)
            continue;
        row->on_until = mech->core->now + 1;
        rows->drowsed += tim_vectors_has(&w->has, reg);
        if (renames(rows))
            release_dead(rows, w, reg, false);
    }
}

/** Counts a row as on in this cycle, and in the preceding cycles in which the row woke up for the write. Omits cycles that
 *  have been counted already. */
static void wake_for_write(struct rows *rows, struct row *row)
{
    const uint64_t now = rows->base.core->now, wake = rows->base.core->config->rows_wake;
    uint64_t from = now > wake ? now - wake : 0;

    if (row->readers != 0 || row->on_until > now)
        return;
    from = row->on_until > from ? row->on_until : from;
    if (rows->base.core->config->rows_drowsy) {
        rows->base.core->count[TIM_CORE_rows_on] += now - from;
        rows->base.core->count[TIM_CORE_rows_drowsy] -= now - from;
    }
    rows->number.on++;
    rows->drowsed++;
    row->on_until = now + 1;
}

static void writes(struct tim_mech *mech, unsigned warp, const struct tim_static *what)
{
    struct rows *rows = (struct rows *)mech;
    struct rows_warp *w = &rows->warp[warp];

    for (unsigned k = 0; k < what->row_writes; k++) {
        const unsigned reg = what->row_write[k];

        wake_for_write(rows, &w->row[reg]);
        w->row[reg].writers--;
        if (renames(rows))
            release_dead(rows, w, reg, false);
    }
}

/** Adds the numbers of rows to the counters, for the cycles before @before. */
static void count_rows(struct rows *rows, uint64_t before)
{
    uint64_t *count = rows->base.core->count, cycles = before - rows->since;
    const unsigned on = rows->base.core->config->rows_drowsy ? rows->then.on : rows->then.used;

    if (before <= rows->since)
        return;
    count[TIM_CORE_rows_on] += on * cycles;
    count[TIM_CORE_rows_drowsy] += (rows->then.used - on) * cycles;
    count[TIM_CORE_rows_off] += (rows->size - rows->then.used) * cycles;
    count[TIM_CORE_rows_named] += rows->then.named * cycles;
    rows->since = before;
}

/* The numbers of this cycle are final: reads and writes of this cycle have been reported, and its issues count from the next
 * cycle on. */
static void counts(struct tim_mech *mech)
{
    struct rows *rows = (struct rows *)mech;

    if (memcmp(&rows->then, &rows->number, sizeof rows->then) != 0) {
        count_rows(rows, mech->core->now);
        rows->then = rows->number;
    }
    rows->number.used -= rows->freed;
    rows->number.on -= rows->drowsed;
    rows->freed = rows->drowsed = 0;
}

static void account(struct tim_mech *mech)
{
    count_rows((struct rows *)mech, mech->core->over);
}

/* ---- rows.rename: warps that wait for rows ------------------------------------------------------------ */

/** Returns the number of rows that must remain free after warp @taker has got @taken more rows. With these rows, the warps of
 *  the oldest block can run one after the other. Sets *first to the warp that runs first. */
static unsigned reserve(const struct rows *rows, unsigned taker, unsigned taken, unsigned *first)
{
    const unsigned warps = rows->base.core->config->core_warps, b = rows->count != 0 ? rows->order[0] : 0;
    const int registers = (int)rows->registers[b], kept = (int)rows->waiting[b];
    int most = registers + ((int)rows->warps[b] - 1) * kept - (int)rows->used[b], freed = 0;

    *first = warps;
    if (rows->count == 0)
        return 0;
    if (rows->warp[taker].block == b)
        most -= (int)taken;
    if (rows->base.core->config->rows_reserve == TIM_ROWS_BLOCK)
        return rows->warps[b] * rows->registers[b] - rows->used[b] - (rows->warp[taker].block == b ? taken : 0);
    for (unsigned waits = 0; waits < 2; waits++)
        for (unsigned i = 0; i < warps; i++) {
            const struct rows_warp *w = &rows->warp[i];
            const int has = (int)(w->rows + (i == taker ? taken : 0));

            if (!w->lives || w->block != b || w->waits != waits)
                continue;
            *first = *first == warps ? i : *first;
            most = registers - has - freed > most ? registers - has - freed : most;
            freed += has - kept;
        }
    return most > 0 ? (unsigned)most : 0;
}

/** Returns the number of rows that the instruction needs. */
static unsigned needed(const struct rows_warp *w, const struct tim_static *next)
{
    unsigned count = 0;

    for (unsigned k = 0; k < next->row_writes; k++)
        count += !tim_vectors_has(&w->has, next->row_write[k]);
    return count;
}

static bool holds(struct tim_mech *mech, unsigned warp, const struct tim_static *next)
{
    const struct rows *rows = (const struct rows *)mech;
    const struct rows_warp *w = &rows->warp[warp];
    const unsigned need = next->row_writes != 0 && renames(rows) ? needed(w, next) : 0;
    unsigned first, least;

    if (need == 0)
        return false;
    least = reserve(rows, warp, need, &first);
    return rows->number.used + need + (warp == first ? 0 : least) > rows->size;
}

static bool is_stuck(struct tim_mech *mech, unsigned warp)
{
    struct tim_mech_warp is;

    mech->core->look(mech->core->context, warp, &is);
    return is.next != NULL && holds(mech, warp, is.next);
}

static void why(struct tim_mech *mech, unsigned warp, struct lw_sink *out)
{
    const struct rows *rows = (const struct rows *)mech;
    struct tim_mech_warp is;
    unsigned need, least, first;

    mech->core->look(mech->core->context, warp, &is);
    need = is.next != NULL ? needed(&rows->warp[warp], is.next) : 0;
    least = reserve(rows, warp, need, &first);
    lw_printf(out, "new register rows for its next instruction: %u; free register rows: %u of %u, of which the oldest block may still need %u",
              need, rows->size - rows->number.used, rows->size, least);
}

static bool gauge(struct tim_mech *mech, unsigned index, const char **name, uint64_t *value)
{
    const struct rows *rows = (const struct rows *)mech;

    *name = index == 0 ? "rows: allocated" : "rows: on";
    *value = index == 0 ? rows->number.used : rows->number.on;
    return index == 0 || mech->core->config->rows_drowsy;
}

static void show(struct tim_mech *mech, struct lw_sink *out)
{
    const struct rows *rows = (const struct rows *)mech;
    unsigned first;

    lw_printf(out, "%u of %u register rows are allocated, at most %u so far; the resident warps have %u registers", rows->number.used,
              rows->size, rows->most, rows->number.named);
    if (mech->core->config->rows_drowsy)
        lw_printf(out, "; %u register rows are on", rows->number.on);
    if (renames(rows))
        lw_printf(out, "; %u register rows are reserved for the oldest block", reserve(rows, 0, 0, &first));
    lw_put(out, "\n");
}

const struct tim_mechanism tim_rows = {
    .name = "rows", .summary = "counts the register rows that are off, drowsy and on; with rows.rename it allocates them at writes",
    .is_on = is_on, .create = create, .destroy = destroy, .resides = resides, .warp_begins = warp_begins, .warp_ends = warp_ends,
    .waits = waits, .issues = issues, .flows = flows, .reads = reads, .writes = writes, .counts = counts, .account = account, .holds = holds,
    .is_stuck = is_stuck, .why = why, .gauge = gauge, .show = show,
};
