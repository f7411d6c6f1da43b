/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/emu/predict/predict_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 64, SHOWN = 10 };

struct predict_grid {
    struct predict_grid *next;
    uint32_t sequence;
    struct emu_predict *predict; /* NULL if the kernel has no address slices */
    const struct isa_slices *slices;
    struct emu_predict_affine *affine; /* affine form of each site for which is_affine[site] is set */
    bool *is_affine;
};
/** The last pc of each lane of a warp, and the iteration of each lane in each loop. */
struct predict_warp {
    uint64_t key;
    uint32_t last[LANES];
    uint64_t *iteration; /* [lane][loop] */
};

static void quit(const char *what)
{
    fprintf(stderr, "predict_watch: %s\n", what);
    exit(1);
}

void predict_counts_add(struct predict_counts *into, const struct predict_counts *more)
{
    for (unsigned k = 0; k < ISA_SLICE_REJECT_COUNT; k++)
        into->sites[k] += more->sites[k];
    into->affine_sites += more->affine_sites;
    into->accesses += more->accesses;
    into->compared += more->compared;
    into->affine += more->affine;
    into->tagged += more->tagged;
    into->different += more->different;
}

void predict_counts_print(const char *name, const struct predict_counts *c)
{
    printf("%s:", name);
    for (unsigned k = 0; k < ISA_SLICE_REJECT_COUNT; k++)
        if (c->sites[k] != 0)
            printf(" %s %" PRIu64, isa_slice_reject_name(k), c->sites[k]);
    printf("; affine %" PRIu64 "; accesses %" PRIu64 ", compared %" PRIu64 ", affine %" PRIu64 ", tagged %" PRIu64
           "; differ %" PRIu64 "\n", c->affine_sites, c->accesses, c->compared, c->affine, c->tagged, c->different);
}

static bool is_counted(struct predict_watch *w, const struct isa_object *object, const struct isa_function *kernel)
{
    for (unsigned k = 0; k < w->kernels; k++)
        if (w->counted[k] == object && w->kernel[k] == kernel)
            return true;
    if (w->kernels < 64) {
        w->counted[w->kernels] = object;
        w->kernel[w->kernels++] = kernel;
    }
    return false;
}

static struct predict_grid *grid_of(struct predict_watch *w, const struct emu_grid *grid)
{
    struct predict_grid *g = w->grids;
    struct lw_error err;

    while (g != NULL && g->sequence != grid->sequence)
        g = g->next;
    if (g != NULL)
        return g;
    const struct isa_object *object = emu_program_object(grid->launch.program);
    g = calloc(1, sizeof *g);
    if (g == NULL)
        quit("no memory");
    g->next = w->grids;
    w->grids = g;
    g->sequence = grid->sequence;
    if (object->slice_count == 0 && isa_object_slice((struct isa_object *)(uintptr_t)object, &err) != LW_OK)
        quit(err.text);
    if (isa_object_check(object, &err) != LW_OK) /* the object with address slices must be valid */
        quit(err.text);
    if (emu_predict_create_of(w->machine, grid, &g->predict, &err) != LW_OK)
        quit(err.text);
    g->slices = isa_object_slices_of(object, grid->launch.kernel);
    g->affine = calloc((size_t)g->slices->site_count + 1, sizeof *g->affine);
    g->is_affine = calloc((size_t)g->slices->site_count + 1, sizeof *g->is_affine);
    bool counted = is_counted(w, object, grid->launch.kernel);
    for (uint32_t i = 0; i < g->slices->site_count; i++) {
        const struct isa_slice_site *s = &g->slices->sites[i];

        g->is_affine[i] = s->reject == ISA_SLICE_ACCEPTED && emu_predict_affine(g->predict, i, &g->affine[i]);
        w->counts.sites[s->reject] += !counted;
        w->counts.affine_sites += !counted && g->is_affine[i];
    }
    return g;
}

static struct predict_warp *warp_of(struct predict_watch *w, const struct predict_grid *g, const struct emu_event *ev)
{
    uint64_t key = (uint64_t)g->sequence << 44 | ev->block << 12 | (ev->warp + 1);
    bool is_new;
    struct predict_warp *at = lw_table_add(&w->warps, sizeof *at, key, &is_new);

    if (at != NULL && is_new) {
        at->iteration = calloc((size_t)LANES * (g->slices->loop_count + 1), sizeof *at->iteration);
        memset(at->last, 0xff, sizeof at->last);
    }
    if (at == NULL || at->iteration == NULL)
        quit("no memory");
    return at;
}

static void count_iterations(const struct predict_grid *g, struct predict_warp *at, const struct emu_event *ev,
                             uint32_t index)
{
    for (uint32_t l = 0; l < g->slices->loop_count; l++) {
        const struct isa_slice_loop *loop = &g->slices->loops[l];

        if (loop->header != index)
            continue;
        for (LW_EACH_BIT(lane, ev->split_lanes)) {
            uint64_t *n = &at->iteration[(size_t)lane * g->slices->loop_count + l];
            bool back = false;

            for (uint32_t k = 0; k < loop->latch_count; k++)
                back |= at->last[lane] == loop->latches[k];
            *n = back ? *n + 1 : 0;
        }
    }
    for (LW_EACH_BIT(lane, ev->split_lanes))
        at->last[lane] = index;
}

static void differs(struct predict_watch *w, const struct emu_event *ev, unsigned lane, const char *what, uint64_t is,
                    uint64_t expected)
{
    if (w->counts.different++ < SHOWN)
        fprintf(stderr, "%s: %s at 0x%" PRIx64 ", block %" PRIu64 ", warp %u, lane %u: 0x%" PRIx64 ", not 0x%" PRIx64 "\n",
                w->name, what, ev->pc, ev->block, ev->warp, lane, is, expected);
}

static void compare(struct predict_watch *w, struct predict_grid *g, struct predict_warp *at, const struct emu_event *ev,
                    const struct emu_access *access, uint32_t site)
{
    const struct isa_slice_site *s = &g->slices->sites[site];
    const uint32_t *block = ev->grid->launch.block;
    unsigned width = emu_machine_config(w->machine)->warp_width;

    for (LW_EACH_BIT(lane, access->lanes)) {
        uint32_t linear = ev->warp * width + (uint32_t)lane;
        struct emu_predict_thread thread = { .tid = { linear % block[0], linear / block[0] % block[1],
                                                    linear / block[0] / block[1] },
                                           .iteration = &at->iteration[(size_t)lane * g->slices->loop_count] };
        bool first = true;
        uint64_t count;

        if (access->lane_space != NULL && access->lane_space[lane] != ISA_SPACE_GLOBAL)
            continue;
        w->counts.compared++;
        memcpy(thread.ctaid, ev->block_index, sizeof thread.ctaid);
        uint64_t address = emu_predict_address(g->predict, site, &thread);
        if (address != access->address[lane])
            differs(w, ev, (unsigned)lane, "address", address, access->address[lane]);
        for (uint32_t l = 0; l < g->slices->loop_count; l++) {
            if (!(s->loops >> l & 1))
                continue;
            first &= thread.iteration[l] == 0;
            if (emu_predict_iterations(g->predict, site, l, &thread, &count) && thread.iteration[l] >= count)
                differs(w, ev, (unsigned)lane, "iteration", thread.iteration[l], count);
        }
        if (!g->is_affine[site] || !first)
            continue;
        const struct emu_predict_affine *a = &g->affine[site];
        uint64_t sum = a->constant;
        for (unsigned k = 0; k < 3; k++)
            sum += (uint64_t)a->tid[k] * thread.tid[k] + (uint64_t)a->ctaid[k] * thread.ctaid[k];
        w->counts.affine++;
        if (sum != access->address[lane])
            differs(w, ev, (unsigned)lane, "affine address", sum, access->address[lane]);
        if (!access->affine || access->stride == 0 || block[0] < width)
            continue;
        w->counts.tagged++;
        if (access->stride != a->tid[0])
            differs(w, ev, (unsigned)lane, "stride", (uint64_t)a->tid[0], (uint64_t)access->stride);
    }
}

static bool note(struct emu_observer *observer, const struct emu_event *ev)
{
    struct predict_watch *w = (struct predict_watch *)(void *)((char *)observer - offsetof(struct predict_watch, observer));

    if (ev->kind != EMU_EV_RETIRED)
        return false;
    struct predict_grid *g = grid_of(w, ev->grid);
    struct predict_warp *at = warp_of(w, g, ev);
    uint32_t index = (uint32_t)((ev->pc - emu_program_base(ev->grid->launch.program)) / ISA_WORD_BYTES);
    uint32_t low = 0, high = g->slices->site_count;

    count_iterations(g, at, ev, index);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (g->slices->sites[middle].insn < index)
            low = middle + 1;
        else
            high = middle;
    }
    for (unsigned k = 0; k < ev->access_count; k++) {
        const struct emu_access *access = &ev->access[k];

        if (access->kind > EMU_ACCESS_STORE || low == g->slices->site_count || g->slices->sites[low].insn != index)
            continue;
        w->counts.accesses += lw_popcount(access->lanes);
        if (g->slices->sites[low].reject == ISA_SLICE_ACCEPTED)
            compare(w, g, at, ev, access, low);
    }
    return false;
}

void predict_watch_begin(struct predict_watch *watch, struct emu_machine *machine, struct emu_engine *engine)
{
    watch->machine = machine;
    watch->engine = engine;
    watch->observer.on_event = note;
    emu_observer_add(engine, &watch->observer);
}

void predict_watch_end(struct predict_watch *watch)
{
    struct predict_warp *rows = watch->warps.rows;

    emu_observer_remove(watch->engine, &watch->observer);
    for (size_t i = 0; i < watch->warps.capacity; i++)
        free(rows[i].iteration);
    free(rows);
    for (struct predict_grid *g = watch->grids, *next; g != NULL; g = next) {
        next = g->next;
        emu_predict_destroy(g->predict);
        free(g->affine);
        free(g->is_affine);
        free(g);
    }
    watch->grids = NULL;
    watch->warps = (struct lw_table){ 0 };
}
