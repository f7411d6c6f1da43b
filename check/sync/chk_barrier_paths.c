/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the branches taken by the threads of a block, for the branches that decide which threads reach a CTA barrier.
 *
 * A lane is in the region of a branch from the branch until it reaches the instruction at which the sides reconverge.
 * For each region, the decisions that the lane made since the block's last barrier are recorded. When a barrier for all
 * live threads completes, all of these threads must be in the same regions with the same decisions. Otherwise some
 * thread waits inside a region that other threads bypassed, have left, or execute in another iteration. A thread that
 * has exited since the last barrier is included, unless a branch whose sides do not reconverge sent it to its exit (an
 * early return).
 */
#include "check/sync/chk_barrier_priv.h"

#include <stdlib.h>

/** The decisions of a warp at one branch. */
struct path {
    uint64_t open, taken; /* open: lanes in the region; taken: lanes that took the branch when they reached it last */
    uint64_t came;        /* lanes that have reached the branch since the last barrier */
    uint32_t value;       /* hash of the decisions that the lanes in the region made since the last barrier */
    uint32_t sequence;    /* orders regions by the time at which the first lane entered them */
    uint32_t generation;  /* value of chk_paths.generation for which the counts and hashes are valid */
    bool differs;         /* the lanes have different hashes, which `each` contains instead of `value` */
    uint32_t *each;       /* [lane]: hash of its decisions; or NULL */
    /* Number of times that each lane has left the region at its reconvergence point since the last barrier: */
    uint64_t left;         /* lanes that have left it left_count times; the other lanes have not left the region */
    uint32_t left_count;
    bool left_differs;     /* lanes have different counts: left_each replaces left and left_count */
    uint32_t *left_each;   /* [lane]: count; or NULL */
};
struct chk_paths {
    struct chk *chk;
    const struct chk_regions *regions;
    uint32_t first, count; /* regions that the kernel may reach */
    unsigned warps, width;
    uint32_t generation, sequence; /* number of the block's last barrier, and last value of path.sequence */
    size_t room;                   /* number of elements of path */
    struct path path[]; /* [warp][region] */
};

static uint32_t decided(uint32_t value, bool taken)
{
    return (value ^ (taken ? 2 : 1)) * UINT32_C(0x9E3779B1) + 1;
}

static void paths_clear(struct chk_paths *p)
{
    for (size_t i = 0; i < p->room; i++) {
        free(p->path[i].each);
        free(p->path[i].left_each);
    }
    memset(p->path, 0, p->room * sizeof p->path[0]);
}

void chk_paths_destroy(struct chk_paths *paths)
{
    if (paths == NULL)
        return;
    paths_clear(paths);
    free(paths);
}

struct chk_paths *chk_paths_begin(struct chk *chk, const struct chk_regions *regions, const struct emu_hook_site *site,
                                  struct chk_paths *old)
{
    const struct isa_object *object = emu_program_object(site->program);
    const size_t kernel = (size_t)(site->grid->launch.kernel - object->functions);
    const bool whole = kernel >= object->function_count || regions->function[kernel].calls;
    const uint32_t first = whole ? 0 : regions->function[kernel].first;
    const uint32_t count = whole ? regions->region_count : regions->function[kernel].count;
    struct emu_block_view view;

    if (count == 0 || !emu_block_view(site->core, site->slot, &view)) {
        chk_paths_destroy(old);
        return NULL;
    }
    const size_t room = (size_t)view.warp_count * count;
    if (old != NULL && old->room < room) {
        chk_paths_destroy(old);
        old = NULL;
    }
    if (old != NULL) {
        paths_clear(old);
    } else {
        old = calloc(1, sizeof *old + room * sizeof old->path[0]);
        if (old == NULL) {
            chk->short_of_memory = true;
            return NULL;
        }
        old->room = room;
    }
    old->chk = chk;
    old->regions = regions;
    old->first = first;
    old->count = count;
    old->warps = view.warp_count;
    old->width = emu_machine_config(chk->machine)->warp_width;
    old->generation = old->sequence = 0;
    return old;
}

static struct path *path_of(struct chk_paths *p, unsigned warp, uint32_t region)
{
    return &p->path[(size_t)warp * p->count + (region - p->first)];
}

/** Gives each lane its own hash in path->each. Returns false if memory is short. */
static bool apart(struct chk_paths *p, struct path *path)
{
    if (path->differs)
        return true;
    if (path->each == NULL)
        path->each = calloc(p->width, sizeof *path->each);
    if (path->each == NULL) {
        p->chk->short_of_memory = true;
        return false;
    }
    for (unsigned l = 0; l < p->width; l++)
        path->each[l] = path->value;
    return path->differs = true;
}

/** If @path was last used before the block's last barrier, drops its decisions, except the last decision of each lane. */
static void renew(struct chk_paths *p, struct path *path)
{
    if (path->generation == p->generation)
        return;
    path->generation = p->generation;
    path->came = path->left = 0;
    path->left_count = 0;
    path->left_differs = false;
    const uint64_t taken = path->open & path->taken;
    if (taken == 0 || taken == path->open) {
        path->value = decided(0, taken != 0);
        path->differs = false;
    } else if (apart(p, path)) {
        for (LW_EACH_BIT(l, path->open))
            path->each[l] = decided(0, (taken >> l & 1) != 0);
    }
}

/** Records that lanes @all of a warp reached a branch, and that lanes @taken, a subset of @all, took it. */
static void decide(struct chk_paths *p, struct path *path, uint64_t all, uint64_t taken)
{
    renew(p, path);
    path->came |= all;
    path->taken = (path->taken & ~all) | taken;
    if (path->open == 0) {
        path->sequence = ++p->sequence;
        path->differs = false;
        path->value = 0;
    }
    const uint64_t inside = path->open & all;
    if ((taken == 0 || taken == all) && path->open == inside && (inside == 0 || (inside == all && !path->differs))) {
        path->open = all;
        path->value = decided(path->value, taken != 0);
        return;
    }
    if (!apart(p, path))
        return;
    for (LW_EACH_BIT(l, all))
        path->each[l] = decided((inside >> l & 1) != 0 ? path->each[l] : 0, (taken >> l & 1) != 0);
    path->open |= all;
}

/** Records that the lanes @over, which are in the region, reach the reconvergence point. */
static void leave(struct chk_paths *p, struct path *path, uint64_t over)
{
    renew(p, path);
    path->open &= ~over;
    if (!path->left_differs && (path->left == 0 || path->left == over)) {
        path->left = over;
        path->left_count++;
        return;
    }
    if (!path->left_differs) {
        if (path->left_each == NULL)
            path->left_each = malloc(p->width * sizeof *path->left_each);
        if (path->left_each == NULL) {
            p->chk->short_of_memory = true;
            return;
        }
        for (unsigned l = 0; l < p->width; l++)
            path->left_each[l] = (path->left >> l & 1) != 0 ? path->left_count : 0;
        path->left_differs = true;
    }
    for (LW_EACH_BIT(l, over))
        path->left_each[l]++;
}

/** Returns the lanes of @site that take the branch. */
static uint64_t taken_by(const struct emu_hook_site *site)
{
    uint64_t low = 0, high = 0, on = 1;

    if (site->insn->guard_scalar) { /* the lanes of the split agree */
        if (site->insn->guard != ISA_PT)
            (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_SP, site->insn->guard, 0, &on);
        return (on != 0) != site->insn->guard_neg ? site->split_lanes : 0;
    }
    if (site->lanes == 0 || site->lanes == site->split_lanes)
        return site->lanes;
    /* If exec disables lanes of the split, the active lanes agree, and the disabled lanes follow them (MACHINE 1). */
    (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_S, ISA_S_EXEC, 0, &low);
    (void)emu_reg_read(site->core, site->slot, site->warp, ISA_REG_S, ISA_S_EXEC + 1, 0, &high);
    return (site->split_lanes & ~(high << 32 | low)) != 0 ? site->split_lanes : site->lanes;
}

void chk_paths_insn(struct chk_paths *p, const struct emu_hook_site *site)
{
    const struct chk_regions *r = p->regions;
    const uint64_t over = site->insn->op == ISA_RET ? site->lanes : site->split_lanes;

    for (uint32_t j = r->close_at[site->index]; j != 0; j = r->region[j - 1].next) {
        struct path *path = path_of(p, site->warp, j - 1);

        if ((path->open & over) != 0)
            leave(p, path, path->open & over);
    }
    const uint32_t j = r->branch_at[site->index];
    if (j != 0)
        decide(p, path_of(p, site->warp, j - 1), site->split_lanes, taken_by(site));
}

/* ---- a barrier completes ---------------------------------------------------------------------------- */

/** A thread of the block, and its position relative to the completing barrier. */
enum stands { AT_BARRIER, ENDED, ELSEWHERE };
struct thread {
    unsigned warp, lane;
    enum stands stands;
};
/** The threads that are compared at a barrier for all live threads. */
struct barrier_arrivals {
    const struct chk_arrivals *came, *ended; /* threads that arrived, and threads that exited, since the last barrier for all
                                              * live threads */
    uint64_t *present;                       /* [warp]: lanes of `came` and `ended` and, in a hang, all live lanes */
};

static bool is_in(struct chk_paths *p, struct thread w, uint32_t region)
{
    return (path_of(p, w.warp, region)->open >> w.lane & 1) != 0;
}

static uint32_t value_of(struct chk_paths *p, struct thread w, uint32_t region)
{
    struct path *path = path_of(p, w.warp, region);

    renew(p, path);
    return path->differs ? path->each[w.lane] : path->value;
}

/** Returns true if two threads are both outside a region, or both in it with the same decisions. */
static bool same(struct chk_paths *p, struct thread a, struct thread b, uint32_t region)
{
    return is_in(p, a, region) == is_in(p, b, region) &&
           (!is_in(p, a, region) || value_of(p, a, region) == value_of(p, b, region));
}

/** Returns true if same() is true, in all regions, for @a and each lane in @present[warp]. */
static bool all_same(struct chk_paths *p, struct thread a, const uint64_t *present)
{
    for (unsigned w = 0; w < p->warps; w++) {
        for (uint32_t j = p->first; j < p->first + p->count && present[w] != 0; j++) {
            struct path *path = path_of(p, w, j);

            if ((path->open & present[w]) != (is_in(p, a, j) ? present[w] : 0))
                return false;
            if ((path->open & present[w]) == 0)
                continue;
            renew(p, path);
            const uint32_t value = value_of(p, a, j);
            if (!path->differs && path->value != value)
                return false;
            for (LW_EACH_BIT(l, path->differs ? present[w] : 0))
                if (path->each[l] != value)
                    return false;
        }
    }
    return true;
}

/** Returns true if thread @w has reached the branch of a region since the last barrier. */
static bool has_reached(struct chk_paths *p, struct thread w, uint32_t region)
{
    struct path *path = path_of(p, w.warp, region);

    renew(p, path);
    return (path->came >> w.lane & 1) != 0;
}

/** Returns the number of times that thread @w has reached the end of a region since the last barrier. */
static uint32_t times_left(struct chk_paths *p, struct thread w, uint32_t region)
{
    struct path *path = path_of(p, w.warp, region);

    renew(p, path);
    if (path->left_differs)
        return path->left_each[w.lane];
    return (path->left >> w.lane & 1) != 0 ? path->left_count : 0;
}

/** Returns true if the thread took the branch of a region when it last reached the branch. */
static bool took(struct chk_paths *p, struct thread w, uint32_t region)
{
    return (path_of(p, w.warp, region)->taken >> w.lane & 1) != 0;
}

/** Thread @a waits at a barrier, and thread @b differs from it in @region (same()). Returns true if the branch of
 *  @region has sent @b past that barrier. This is always so if @b waits at a barrier, too. Otherwise @b must have
 *  reached the branch since the last barrier, and must be in the region or have left it more often than @a. If @b has
 *  done neither, it has returned earlier, or may still arrive. A thread that ended inside the region has made an early
 *  return, and was not sent past the barrier. */
static bool is_sent_past(struct chk_paths *p, struct thread a, struct thread b, uint32_t region)
{
    if (b.stands == AT_BARRIER)
        return true;
    if (b.stands == ENDED && (!is_in(p, a, region) || is_in(p, b, region)))
        return false;
    if (!has_reached(p, b, region))
        return false;
    return is_in(p, b, region) || times_left(p, b, region) > times_left(p, a, region);
}

/** Two threads differ in a region if only one of them is in it, or if both are in it with different decisions (same()).
 *  Returns the outermost such region whose branch has sent @b past the barrier (is_sent_past()). Returns -1 if there is
 *  no such region, for example because @b has exited by an early return. A region at whose branch the two threads took
 *  different sides takes precedence over the regions around it. */
static int64_t differ(struct chk_paths *p, struct thread a, struct thread b)
{
    int64_t outer = -1;
    uint32_t first = 0;
    bool parted = false;

    for (uint32_t j = p->first; j < p->first + p->count; j++) {
        if (same(p, a, b, j) || !is_sent_past(p, a, b, j))
            continue;
        const uint32_t sequence = path_of(p, is_in(p, a, j) ? a.warp : b.warp, j)->sequence;
        const bool parts = has_reached(p, a, j) && has_reached(p, b, j) && took(p, a, j) != took(p, b, j);
        if (outer < 0 || parts > parted || (parts == parted && sequence < first)) {
            outer = j;
            first = sequence;
            parted = parts;
        }
    }
    return outer;
}

/** Returns the last arrival in @list that contains a thread; NULL: there is none. */
static const struct chk_arrival *arrival_of(const struct chk_arrivals *list, struct thread w)
{
    for (size_t i = list->count; i-- > 0;)
        if (list->at[i].warp == w.warp && (list->at[i].lanes >> w.lane & 1) != 0)
            return &list->at[i];
    return NULL;
}

static void put_location(const struct chk_location *location, const struct chk_location *from, struct lw_sink *out)
{
    if (location->line == 0)
        lw_printf(out, "at pc 0x%llx", (unsigned long long)location->pc);
    else if (strcmp(location->file, from->file) == 0)
        lw_printf(out, "in line %u", location->line);
    else
        lw_printf(out, "at %s:%u", location->file, location->line);
}

static void put_threads(unsigned count, struct lw_sink *out)
{
    lw_printf(out, "%u thread%s", count, count == 1 ? "" : "s");
}

/** Returns the struct thread for a lane of a warp, with the thread's position relative to the barrier. */
static struct thread thread_of(const struct barrier_arrivals *m, unsigned warp, unsigned lane)
{
    struct thread w = {warp, lane, AT_BARRIER};

    if (arrival_of(m->came, w) == NULL)
        w.stands = arrival_of(m->ended, w) != NULL ? ENDED : ELSEWHERE;
    return w;
}

/** Prints what @count threads do instead of waiting inside the region. @other: one of these threads. */
static void put_others(const struct chk_paths *p, const struct barrier_arrivals *m, struct thread other, unsigned count,
                       const struct chk_location *from, struct lw_sink *out)
{
    const struct chk_arrival *there = arrival_of(m->came, other);
    struct chk_location location;

    switch (other.stands) {
    case ENDED: lw_put(out, count == 1 ? "ends" : "end"); break;
    case ELSEWHERE: lw_put(out, count == 1 ? "does not reach it" : "do not reach it"); break;
    default:
        chk_location_at(p->chk, there->grid, there->block, there->warp, there->lanes, there->pc, &location);
        lw_put(out, count == 1 ? "waits at the barrier " : "wait at the barrier ");
        put_location(&location, from, out);
        break;
    }
}

/** Reports that thread @inside waits in a region. Thread @outside is not in the region, or is in another iteration of
 *  it. */
static void report(struct chk_paths *p, const struct barrier_arrivals *m, uint32_t region, struct thread inside, struct thread outside)
{
    struct chk_finding f = chk_finding_of(CHK_BARRIER_DIVERGENCE, 1);
    const struct chk_arrival *here = arrival_of(m->came, inside), *there = arrival_of(m->came, outside);
    const struct chk_region *r = &p->regions->region[region];
    const bool both = is_in(p, outside, region);
    unsigned in = 0, out = 0;
    uint64_t lanes = 0, others = 0;
    struct lw_buffer text;

    for (unsigned w = 0; w < p->warps; w++) {
        for (LW_EACH_BIT(l, m->present[w])) {
            const struct thread x = thread_of(m, w, (unsigned)l);

            if (x.stands == AT_BARRIER && same(p, inside, x, region)) {
                in++;
                lanes |= w == inside.warp ? UINT64_C(1) << l : 0;
            } else if (x.stands == AT_BARRIER || differ(p, inside, x) >= 0) {
                out++;
                others |= w == outside.warp ? UINT64_C(1) << l : 0;
            }
        }
    }
    f.stopped = true;
    chk_location_at(p->chk, here->grid, here->block, inside.warp, lanes, here->pc, &f.location);
    chk_location_at(p->chk, here->grid, here->block, outside.warp, others,
                 emu_program_base(p->regions->program) + (uint64_t)r->branch * ISA_WORD_BYTES, &f.other);
    lw_buffer_init(&text);
    put_threads(in, &text.sink);
    if (there != NULL && there->pc == here->pc) {
        lw_put(&text.sink, " of the block wait at this barrier, and ");
        put_threads(out, &text.sink);
        lw_put(&text.sink, r->loops ? " in another iteration of the loop " : " after taking the other side of the "
                                                                             "branch ");
        put_location(&f.other, &f.location, &text.sink);
    } else if (r->loops && !both) {
        lw_put(&text.sink, " of the block wait at this barrier in an iteration of the loop ");
        put_location(&f.other, &f.location, &text.sink);
        lw_put(&text.sink, " that ");
        put_threads(out, &text.sink);
        lw_put(&text.sink, out == 1 ? " does not execute: it " : " do not execute: they ");
        put_others(p, m, outside, out, &f.location, &text.sink);
    } else {
        lw_put(&text.sink, " of the block wait at this barrier inside the branch ");
        put_location(&f.other, &f.location, &text.sink);
        lw_put(&text.sink, ", and ");
        put_threads(out, &text.sink);
        lw_put(&text.sink, out == 1 ? " takes the other side and " : " take the other side and ");
        put_others(p, m, outside, out, &f.location, &text.sink);
    }
    (void)chk_add_text(p->chk, &f, &text);
}

/** The findings at one completion of a barrier, by region and pc. Each is added once. */
struct reported {
    unsigned count;
    struct {
        uint32_t region;
        uint64_t pc;
    } at[8];
};

static bool is_new(struct reported *reported, uint32_t region, uint64_t pc)
{
    for (unsigned i = 0; i < reported->count; i++)
        if (reported->at[i].region == region && reported->at[i].pc == pc)
            return false;
    if (reported->count == LW_COUNT_OF(reported->at))
        return false;
    reported->at[reported->count].region = region;
    reported->at[reported->count++].pc = pc;
    return true;
}

/** Compares the first thread that arrived with all others. Sets *@explained if the findings explain why the threads in
 *  @m->came wait at several barriers. Returns true if it added findings. */
static bool compare(struct chk_paths *p, const struct barrier_arrivals *m, bool *explained)
{
    const struct thread a = {m->came->at[0].warp, lw_lowest(m->came->at[0].lanes), AT_BARRIER};
    struct reported reported = {0};

    if (all_same(p, a, m->present))
        return false;
    for (unsigned w = 0; w < p->warps; w++) {
        for (LW_EACH_BIT(l, m->present[w])) {
            const struct thread b = thread_of(m, w, (unsigned)l);
            const int64_t j = differ(p, a, b);

            if (j < 0)
                continue;
            /* If both threads are inside the region, the finding is at the thread that arrived first. */
            const struct thread inside = is_in(p, a, (uint32_t)j) ? a : b;
            const struct chk_arrival *here = arrival_of(m->came, inside);
            if (here == NULL)
                continue;
            *explained |= b.stands == AT_BARRIER && is_in(p, a, (uint32_t)j) != is_in(p, b, (uint32_t)j);
            if (is_new(&reported, (uint32_t)j, here->pc))
                report(p, m, (uint32_t)j, inside, is_in(p, a, (uint32_t)j) ? b : a);
        }
    }
    return reported.count != 0;
}

/** Returns an array with the lanes of each warp that are in @came or @ended, or NULL if memory is short. */
static uint64_t *everyone(struct chk_paths *p, const struct chk_arrivals *came, const struct chk_arrivals *ended)
{
    uint64_t *present = calloc(p->warps, sizeof *present);

    p->chk->short_of_memory |= present == NULL;
    for (size_t i = 0; present != NULL && i < came->count; i++)
        present[came->at[i].warp] |= came->at[i].lanes;
    for (size_t i = 0; present != NULL && i < ended->count; i++)
        present[ended->at[i].warp] |= ended->at[i].lanes;
    return present;
}

bool chk_paths_converge(struct chk_paths *p, const struct chk_arrivals *came, const struct chk_arrivals *ended)
{
    struct barrier_arrivals m = {came, ended, everyone(p, came, ended)};
    bool explained = false;

    if (m.present != NULL && came->count != 0)
        (void)compare(p, &m, &explained);
    free(m.present);
    p->generation++;
    return explained;
}

bool chk_paths_stuck(struct chk_paths *p, const struct chk_arrivals *came, const struct chk_arrivals *ended,
                     const struct emu_core *core, unsigned slot)
{
    struct barrier_arrivals m = {came, ended, everyone(p, came, ended)};
    struct emu_warp_view view;
    bool explained = false, any = false;

    for (unsigned w = 0; m.present != NULL && w < p->warps; w++)
        m.present[w] |= emu_warp_view(core, slot, w, &view) ? view.live : 0;
    if (m.present != NULL && came->count != 0)
        any = compare(p, &m, &explained);
    free(m.present);
    return any;
}
