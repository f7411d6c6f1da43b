/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LaPerm: three block schedulers. All three place blocks of device launches first. tb_pri places them on any core. smx_bind
 * places them only on the core of their launcher. adaptive_bind prefers that core. The priority of a launch is one higher
 * than the priority of its launcher. While blocks wait, the scheduler examines one core per cycle, in rotation. The core gets
 * a block from
 *
 *   1. its own queues (tb_pri: the queues of all cores): the highest priority first, the oldest launch first;
 *   2. if these queues have no launch that can be placed, the queue of launches by the host;
 *   3. with adaptive_bind, if that queue is empty, too, the queues of a backup core. When they are empty, another core
 *      becomes the backup core. With smx_bind, only a core that mechanism dvfs has closed can be a backup core.
 *
 * If a block does not fit, it remains in its queue, and the next core is examined in the next cycle. A launch is skipped if
 * the core has no space for suspended blocks of the launch's nesting level, because the launch may have to wait for a later
 * launch of the queue. A queue entry that is not on chip is read from memory before the first block of its launch is placed.
 * Source: the dynamic parallelism thesis, chapter 5; its specification, section 8.
 */
#include "timing/grid/tim_blocks_priv.h"

#include <inttypes.h>
#include <stdlib.h>

/** Queues from which a block is selected: steps 1 to 3 above. */
enum stage { OWN = 1, HOST, BACKUP };
struct laperm {
    struct tim_blocks blocks;
    unsigned next;      /* the core that is examined next */
    unsigned tries;     /* number of consecutive cores, from cycle `from` on, for which no block was found */
    uint64_t from;      /* first cycle of the search that `tries` counts */
    uint64_t seen;      /* value of tim_grid.changes when a core was last examined */
    uint64_t last;      /* cycle in which a core was last examined */
    bool waiting;       /* blocks have waited since the cycle `last` */
    uint64_t orders;    /* value of mark.order of the launch that was queued last */
    enum stage stage;   /* queues of the last selection */
    int *backup;        /* [core] backup core of the core, or -1 if there is none */
    unsigned *on_chip;  /* number of queue entries on chip: [core] in the queues of the core (tb_pri: [0] in the queues of
                         * all cores); the last element is for the queue of launches by the host */
};

static struct tim_blocks *create(const struct tim_config *config)
{
    struct laperm *p = calloc(1, sizeof *p);

    if (p == NULL)
        return NULL;
    p->backup = calloc(config->core_count, sizeof *p->backup);
    p->on_chip = calloc(config->core_count + 1, sizeof *p->on_chip);
    if (p->backup == NULL || p->on_chip == NULL) {
        free(p->backup);
        free(p->on_chip);
        free(p);
        return NULL;
    }
    for (unsigned c = 0; c < config->core_count; c++)
        p->backup[c] = -1;
    return &p->blocks;
}

static void destroy(struct tim_blocks *blocks)
{
    struct laperm *p = (struct laperm *)blocks;

    free(p->backup);
    free(p->on_chip);
    free(p);
}

static bool binds(const struct tim_blocks *blocks)
{
    return blocks->row != &tim_blocks_tb_pri;
}

/* ---- queues ---------------------------------------------------------------------------------- */

/** Returns the index in laperm.on_chip of the queues that contain the launch. */
static unsigned store_of(const struct tim_blocks *blocks, const struct tim_launch *l)
{
    return l->mark.priority == 0 ? blocks->grid->config->core_count : binds(blocks) ? l->mark.core : 0;
}

static unsigned store_size(const struct tim_blocks *blocks, const struct tim_launch *l)
{
    const struct tim_config *c = blocks->grid->config;

    return l->mark.priority == 0 ? c->laperm_host : binds(blocks) ? c->laperm_entries : c->laperm_entries * c->core_count;
}

static void arrives(struct tim_blocks *blocks, struct tim_launch *l)
{
    const struct tim_config *c = blocks->grid->config;

    l->mark.priority = l->grid->depth < c->laperm_levels ? l->grid->depth : c->laperm_levels;
    l->mark.core = l->from_core < c->core_count ? l->from_core : l->sequence % c->core_count;
}

static void enters(struct tim_blocks *blocks, struct tim_launch *l, uint64_t now)
{
    struct laperm *p = (struct laperm *)blocks;
    unsigned *used = &p->on_chip[store_of(blocks, l)];

    (void)now;
    if (l->mark.queued || l->grid->blocks_placed == l->grid->block_count)
        return;
    l->mark.queued = true;
    l->mark.order = ++p->orders;
    l->mark.on_chip = *used < store_size(blocks, l);
    *used += l->mark.on_chip;
    blocks->grid->gpu[TIM_GPU_laperm_overflows] += !l->mark.on_chip;
}

/** Returns true if the launch is in a queue, and the launch or the kernel that it has joined is in the distributor. */
static bool is_queued(const struct tim_launch *l)
{
    return l->mark.queued && tim_grid_owner(l)->distributed;
}

static bool goes_before(const struct tim_launch *a, const struct tim_launch *b)
{
    return a->mark.priority != b->mark.priority ? a->mark.priority > b->mark.priority : a->mark.order < b->mark.order;
}

/** Returns the first launch in the queues of @core or, if @host, in the queue of the host, for whose nesting level core @on
 *  has space. NULL: there is none. Sets *empty to whether the queues contain no launch at all. */
static struct tim_launch *first_of(const struct laperm *p, unsigned core, bool host, unsigned on, bool *empty)
{
    const struct tim_grid *g = p->blocks.grid;
    struct tim_launch *found = NULL;

    *empty = true;
    for (struct tim_launch *l = g->launches.first; l != NULL; l = l->next) {
        if (!is_queued(l) || (l->mark.priority == 0) != host || (!host && binds(&p->blocks) && l->mark.core != core))
            continue;
        *empty = false;
        if (!tim_core_level_full(g->cores[on], l->grid) && (found == NULL || goes_before(l, found)))
            found = l;
    }
    return found;
}

/** Returns whether @core may be the backup core of other cores. With smx_bind, only a core that accepts no blocks itself
 *  (because of mechanism dvfs) may be one. */
static bool backs(const struct laperm *p, unsigned core)
{
    return p->blocks.row == &tim_blocks_adaptive || p->blocks.grid->cores[core]->closed != TIM_OPEN;
}

/** Returns the launch whose next block @core would get, or NULL if none. Sets *stage to the queues that contain this launch,
 *  and *backup to the core's new backup core. */
static struct tim_launch *candidate(const struct laperm *p, unsigned core, int *backup, enum stage *stage)
{
    const unsigned count = p->blocks.grid->config->core_count;
    struct tim_launch *l;
    bool empty;

    *backup = p->backup[core];
    *stage = OWN;
    l = first_of(p, core, false, core, &empty);
    if (l != NULL)
        return l;
    *stage = HOST;
    l = first_of(p, core, true, core, &empty);
    if (l != NULL || p->blocks.row == &tim_blocks_tb_pri)
        return l;
    *stage = BACKUP;
    if (*backup >= 0 && backs(p, (unsigned)*backup)) {
        l = first_of(p, (unsigned)*backup, false, core, &empty);
        if (!empty)
            return l;
    }
    *backup = -1;
    for (unsigned d = 1; d < count; d++) {
        unsigned other = (core + d) % count;

        if (!backs(p, other))
            continue;
        l = first_of(p, other, false, core, &empty);
        if (!empty) {
            *backup = (int)other;
            return l;
        }
    }
    return NULL;
}

static bool any_queued(const struct tim_blocks *blocks)
{
    for (const struct tim_launch *l = blocks->grid->launches.first; l != NULL; l = l->next)
        if (is_queued(l))
            return true;
    return false;
}

/* ---- a cycle ---------------------------------------------------------------------------------- */

/** Returns the index in tim_grid.resume of a dispatched suspended block for which its core has capacity, or SIZE_MAX if there
 *  is none. */
static size_t ready_resume(const struct tim_grid *g)
{
    for (size_t i = 0; i < g->resume_count; i++)
        if (g->resume[i].distributed && tim_core_has_capacity(g->cores[g->resume[i].core], g->resume[i].grid))
            return i;
    return SIZE_MAX;
}

static bool is_read(const struct tim_launch *l, uint64_t now)
{
    return l->mark.read_at <= now && (l->mark.on_chip || l->mark.read_at != 0);
}

/** Begins to read the queue entry of a launch from memory, if that has not begun yet. */
static void read_entry(struct tim_grid *g, struct tim_launch *l, uint64_t now)
{
    if (l->mark.read_at != 0)
        return;
    l->mark.read_at = now + (g->config->kernels_ideal ? 0 : g->config->laperm_read);
    l->mark.read_at += l->mark.read_at == 0; /* 0 would mean that the read has not begun */
    g->gpu[TIM_GPU_laperm_reads]++;
}

static bool picks(struct tim_blocks *blocks, uint64_t now, struct tim_block_choice *out)
{
    struct laperm *p = (struct laperm *)blocks;
    struct tim_grid *g = blocks->grid;
    const unsigned count = g->config->core_count;
    int backup;

    *out = (struct tim_block_choice){.resume = ready_resume(g), .block = UINT64_MAX};
    if (out->resume != SIZE_MAX)
        return true;
    /* The event-driven model does not call this function in cycles in which it would find no block. The rotation advances
     * by a core for each of these cycles. */
    if (p->waiting && now > p->last + 1)
        p->next = (unsigned)((p->next + (now - p->last - 1)) % count);
    p->last = now;
    p->waiting = any_queued(blocks);
    if (!p->waiting)
        return false;
    if (p->seen != g->changes || p->tries >= count)
        p->tries = 0;
    p->seen = g->changes;
    if (p->tries == 0)
        p->from = now;
    const unsigned core = p->next;
    p->next = (core + 1) % count;
    p->tries++;
    struct tim_launch *l = candidate(p, core, &backup, &p->stage);
    g->gpu[TIM_GPU_laperm_switches] += backup != p->backup[core] && backup >= 0;
    p->backup[core] = backup;
    if (l == NULL || !tim_core_fits(g->cores[core], l->grid))
        return false;
    if (!l->mark.on_chip)
        read_entry(g, l, now);
    if (!is_read(l, now))
        return false;
    *out = (struct tim_block_choice){.launch = l, .core = core, .resume = SIZE_MAX, .block = UINT64_MAX};
    return true;
}

/** Removes a launch, whose last block has been placed, from its queue. If the queue entry was on chip, moves the next queue
 *  entry that is in memory to the free space on chip. */
static void leave(struct laperm *p, struct tim_launch *l, uint64_t now)
{
    const struct tim_grid *g = p->blocks.grid;
    struct tim_launch *found = NULL;
    const unsigned store = store_of(&p->blocks, l);

    l->mark.queued = false;
    if (!l->mark.on_chip)
        return;
    for (struct tim_launch *o = g->launches.first; o != NULL; o = o->next) {
        if (o->mark.queued && !o->mark.on_chip && store_of(&p->blocks, o) == store && o->mark.read_at == 0 &&
            (found == NULL || goes_before(o, found)))
            found = o;
    }
    if (found == NULL) {
        p->on_chip[store]--;
        return;
    }
    read_entry(p->blocks.grid, found, now);
    found->mark.on_chip = true; /* is_read() makes the launch wait until the read ends */
}

static void begins(struct tim_blocks *blocks, struct tim_launch *l, unsigned core, uint64_t linear, uint64_t now)
{
    struct laperm *p = (struct laperm *)blocks;
    struct tim_grid *g = blocks->grid;

    (void)linear;
    g->gpu[p->stage == OWN ? TIM_GPU_laperm_own : p->stage == HOST ? TIM_GPU_laperm_host : TIM_GPU_laperm_backup]++;
    g->gpu[TIM_GPU_laperm_near] += l->mark.priority != 0 && core == l->from_core;
    if (l->grid->blocks_placed == l->grid->block_count)
        leave(p, l, now);
    p->waiting = any_queued(blocks);
    p->tries = 0;
}

static bool waits(const struct tim_blocks *blocks)
{
    for (size_t i = 0; i < blocks->grid->resume_count; i++)
        if (blocks->grid->resume[i].distributed)
            return true;
    return any_queued(blocks);
}

static bool can(const struct tim_blocks *blocks)
{
    const struct laperm *p = (const struct laperm *)blocks;
    const struct tim_grid *g = blocks->grid;
    enum stage stage;
    int backup;

    if (ready_resume(g) != SIZE_MAX)
        return true;
    for (unsigned c = 0; c < g->config->core_count; c++) {
        const struct tim_launch *l = candidate(p, c, &backup, &stage);
        if (l != NULL && tim_core_fits(g->cores[c], l->grid))
            return true;
    }
    return false;
}

static uint64_t next(const struct tim_blocks *blocks, uint64_t now)
{
    const struct laperm *p = (const struct laperm *)blocks;
    const struct tim_grid *g = blocks->grid;
    uint64_t at = UINT64_MAX;

    if (ready_resume(g) != SIZE_MAX)
        return now;
    if (!any_queued(blocks))
        return UINT64_MAX;
    if (p->seen != g->changes || p->tries < g->config->core_count)
        return now;
    for (const struct tim_launch *l = g->launches.first; l != NULL; l = l->next) { /* finds the first cycle in which the read
                                                                                    * of a queue entry ends, because a search
                                                                                    * may then find a block */
        if (is_queued(l) && l->mark.read_at > p->from && l->mark.read_at < at)
            at = l->mark.read_at;
    }
    return at < now ? now : at;
}

static bool allows(const struct tim_blocks *blocks, const struct tim_launch *l, unsigned core)
{
    return blocks->row != &tim_blocks_smx_bind || l->mark.priority == 0 || l->mark.core == core ||
           blocks->grid->cores[l->mark.core]->closed != TIM_OPEN;
}

static unsigned priority(const struct tim_blocks *blocks, const struct tim_launch *l)
{
    (void)blocks;
    return l->mark.priority;
}

/** Returns the additional cycles of a dispatch: one for each priority level above the level of the launch. */
static unsigned costs(const struct tim_blocks *blocks, const struct tim_launch *l)
{
    return blocks->grid->config->laperm_levels - l->mark.priority;
}

/* ---- words -------------------------------------------------------------------------------------- */

static void why(const struct tim_blocks *blocks, const struct tim_launch *l, struct lw_sink *out)
{
    lw_printf(out, "priority %u", l->mark.priority);
    if (l->mark.priority != 0 && binds(blocks))
        lw_printf(out, ", %s core %u", blocks->row == &tim_blocks_smx_bind ? "bound to" : "near", l->mark.core);
    if (l->mark.queued && !l->mark.on_chip)
        lw_put(out, ", with its entry in memory");
}

static void show_queue(const struct laperm *p, unsigned core, bool host, struct lw_sink *out)
{
    const struct tim_grid *g = p->blocks.grid;
    uint64_t before = 0;

    for (unsigned level = host ? 1 : g->config->laperm_levels + 1; level-- > (host ? 0u : 1u); before = 0)
        for (;;) {
            const struct tim_launch *found = NULL;

            for (const struct tim_launch *l = g->launches.first; l != NULL; l = l->next) {
                if (is_queued(l) && l->mark.priority == level && (host || !binds(&p->blocks) || l->mark.core == core) &&
                    l->mark.order > before && (found == NULL || l->mark.order < found->mark.order))
                    found = l;
            }
            if (found == NULL)
                break;
            before = found->mark.order;
            lw_printf(out, "    priority %u: launch %u, %" PRIu64 " of %" PRIu64 " blocks placed%s\n", level, found->sequence,
                      found->grid->blocks_placed, found->grid->block_count, found->mark.on_chip ? "" : ", in memory");
        }
}

static void show(const struct tim_blocks *blocks, struct lw_sink *out)
{
    const struct laperm *p = (const struct laperm *)blocks;
    const struct tim_config *c = blocks->grid->config;

    lw_printf(out, "%s: the next decision is for core %u\n", blocks->row->name, p->next);
    lw_printf(out, "  launches of the host: %u of %u entries on chip\n", p->on_chip[c->core_count], c->laperm_host);
    show_queue(p, 0, true, out);
    for (unsigned core = 0; core < (binds(blocks) ? c->core_count : 1); core++) {
        if (binds(blocks))
            lw_printf(out, "  core %u: %u of %u entries on chip", core, p->on_chip[core], c->laperm_entries);
        else
            lw_printf(out, "  all cores: %u of %u entries on chip", p->on_chip[0], c->laperm_entries * c->core_count);
        if (p->backup[core] >= 0)
            lw_printf(out, ", backup core %d", p->backup[core]);
        lw_put(out, "\n");
        show_queue(p, core, false, out);
    }
}

#define LAPERM .own_queues = true, .create = create, .destroy = destroy, .picks = picks, .waits = waits, .can = can,     \
               .next = next, .allows = allows, .arrives = arrives, .enters = enters, .begins = begins,                   \
               .priority = priority, .costs = costs, .why = why, .show = show

const struct tim_blocks_policy tim_blocks_tb_pri = {
    .name = "tb_pri",
    .summary = "LaPerm: places blocks of device launches first, more deeply nested launches earlier",
    LAPERM,
};
const struct tim_blocks_policy tim_blocks_smx_bind = {
    .name = "smx_bind",
    .summary = "LaPerm: like tb_pri, but places blocks of device launches only on the core of their launcher",
    LAPERM,
};
const struct tim_blocks_policy tim_blocks_adaptive = {
    .name = "adaptive_bind",
    .summary = "LaPerm: like smx_bind, but also places blocks of device launches on cores that have nothing else to run",
    LAPERM,
};
