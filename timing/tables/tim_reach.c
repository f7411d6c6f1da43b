/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the cache lines that blocks access, and access vectors of warps. An array extends from its pointer to the end of the
 * allocation that contains the pointer. If the pointer is in no allocation, the array extends to the last column and array row
 * that the blocks at the corners of the grid access.
 */
#include "timing/tables/tim_reach_priv.h"

#include <stdlib.h>

enum { ROW_MASK = 0xfffffff };

/* ---- regions and parts of an array ---------------------------------------------- */

static uint32_t divide_up(uint32_t x, uint32_t by)
{
    return (uint32_t)(((uint64_t)x + by - 1) / by);
}

static unsigned root(unsigned parts)
{
    return parts == 64 ? 8 : parts == 16 ? 4 : parts == 4 ? 2 : 1;
}

static void divide_by(struct tim_reach_shape *s, unsigned bits, unsigned parts)
{
    const bool flat = s->height <= 1;
    uint32_t rows = flat ? 1 : UINT32_C(1) << (bits + 1) / 2;

    s->bits = bits;
    s->parts = parts;
    s->columns = flat ? UINT32_C(1) << bits : UINT32_C(1) << bits / 2;
    s->region_w = divide_up(s->width, s->columns);
    s->region_h = divide_up(s->height, rows);
    s->region_w += s->region_w == 0;
    s->region_h += s->region_h == 0;
    s->parts_x = flat ? parts : root(parts);
    s->part_w = divide_up(s->region_w, s->parts_x);
    s->part_h = flat ? 1 : divide_up(s->region_h, root(parts));
}

void tim_reach_divide(struct tim_reach_shape *shape, uint32_t width, uint32_t height, unsigned bits, unsigned parts)
{
    shape->width = width;
    shape->height = height;
    for (unsigned b = 0; b <= bits; b++) { /* finds the smallest number of regions for which each part of a region is a single
                                            * line */
        divide_by(shape, b, parts);
        if (shape->part_w == 1 && shape->part_h == 1)
            return;
    }
}

uint32_t tim_reach_region(const struct tim_reach_shape *shape, uint32_t x, uint32_t y)
{
    return y / shape->region_h * shape->columns + x / shape->region_w;
}

uint64_t tim_reach_part(const struct tim_reach_shape *shape, uint32_t region, uint32_t x, uint32_t y)
{
    if (tim_reach_region(shape, x, y) != region)
        return 0;
    uint32_t part = y % shape->region_h / shape->part_h * shape->parts_x + x % shape->region_w / shape->part_w;
    return UINT64_C(1) << (shape->parts - 1 - part);
}

unsigned tim_reach_common(const struct tim_reach_vector *a, const struct tim_reach_vector *b, bool exact)
{
    unsigned sum = 0;

    if (a->launch != b->launch)
        return 0;
    if (exact) {
        for (unsigned i = 0, k = 0; i < a->lines && k < b->lines;) {
            sum += a->line[i] == b->line[k];
            const bool first = a->line[i] <= b->line[k], second = b->line[k] <= a->line[i];
            i += first;
            k += second;
        }
        return sum;
    }
    for (unsigned i = 0; i < a->arrays && i < b->arrays; i++)
        if (a->region[i] == b->region[i])
            sum += lw_popcount(a->parts[i] & b->parts[i]);
    return sum;
}

/* ---- launches -------------------------------------------------------------------------------- */

struct array {
    uint32_t number; /* number of the array in the kernel's address slices */
    struct emu_predict_shape known;
    struct tim_reach_shape shape;
};
struct tim_reach_launch {
    struct tim_reach_launch *next;
    const struct tim_reach *reach;
    uint32_t sequence;
    uint32_t grid[3], block[3];
    struct emu_predict *predict;
    struct array array[TIM_REACH_ARRAYS];
    unsigned arrays;
};
/** The address slices of a program's kernels. */
struct program {
    struct program *next;
    const struct emu_program *program;
    struct emu_predict_slices *slices;
};
struct tim_reach {
    const struct tim_config *config;
    const struct emu_machine *machine;
    uint64_t *gpu;
    struct program *programs;
    struct tim_reach_launch *launches;
    unsigned flags; /* EMU_PREDICT_STORES, EMU_PREDICT_BOUNDS */
};

struct tim_reach *tim_reach_create(const struct tim_config *config, const struct emu_machine *machine, uint64_t *gpu)
{
    struct tim_reach *r = calloc(1, sizeof *r);

    if (r == NULL)
        return NULL;
    *r = (struct tim_reach){.config = config, .machine = machine, .gpu = gpu};
    r->flags = (config->ap_stores ? EMU_PREDICT_STORES : 0u) | (config->ap_loop == TIM_LOOP_BOUNDS ? EMU_PREDICT_BOUNDS : 0u);
    return r;
}

static void destroy_launch(struct tim_reach_launch *l)
{
    emu_predict_destroy(l->predict);
    free(l);
}

void tim_reach_destroy(struct tim_reach *reach)
{
    if (reach == NULL)
        return;
    for (struct tim_reach_launch *l = reach->launches, *next; l != NULL; l = next) {
        next = l->next;
        destroy_launch(l);
    }
    for (struct program *p = reach->programs, *next; p != NULL; p = next) {
        next = p->next;
        emu_predict_slices_destroy(p->slices);
        free(p);
    }
    free(reach);
}

static enum lw_status slices_of(struct tim_reach *reach, const struct emu_grid *grid, const struct isa_slices **out,
                                struct lw_error *err)
{
    struct program *p = reach->programs;
    enum lw_status status;

    while (p != NULL && p->program != grid->launch.program)
        p = p->next;
    if (p == NULL) {
        p = calloc(1, sizeof *p);
        if (p == NULL)
            return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the address slices of a program");
        p->program = grid->launch.program;
        status = emu_predict_slices_create(p->program, &p->slices, err);
        if (status != LW_OK) {
            free(p);
            return status;
        }
        p->next = reach->programs;
        reach->programs = p;
    }
    *out = emu_predict_slices_of(p->slices, grid->launch.kernel);
    return LW_OK;
}

/** The counter of each reason why an access has no address slice, indexed by the number of the reason - 1. */
static const uint16_t rejected[] = {
    TIM_GPU_ap_rejected_merge, TIM_GPU_ap_rejected_loaded, TIM_GPU_ap_rejected_array,
    TIM_GPU_ap_rejected_operation, TIM_GPU_ap_rejected_start, TIM_GPU_ap_rejected_flow,
    TIM_GPU_ap_rejected_exec, TIM_GPU_ap_rejected_size, TIM_GPU_ap_rejected_many,
};
_Static_assert(LW_COUNT_OF(rejected) == EMU_PREDICT_REASONS - 1, "there is not one counter for each reason");

static void count_sites(struct tim_reach *reach, const struct emu_predict_sites *sites)
{
    reach->gpu[TIM_GPU_ap_sites] += sites->count;
    for (unsigned r = 1; r < EMU_PREDICT_REASONS; r++)
        reach->gpu[rejected[r - 1]] += sites->rejected[r];
    reach->gpu[sites->accepted != 0 ? TIM_GPU_ap_launches : TIM_GPU_ap_fallback]++;
}

/** Adds to counter ap_slice_evals the evaluations of address slices after the first @before ones. */
static void count_evaluations(const struct tim_reach_launch *l, uint64_t before)
{
    l->reach->gpu[TIM_GPU_ap_slice_evals] += emu_predict_evaluations(l->predict) - before;
}

static void index_of(const struct tim_reach_launch *l, uint64_t linear, uint32_t out[3])
{
    out[0] = (uint32_t)(linear % l->grid[0]);
    out[1] = (uint32_t)(linear / l->grid[0] % l->grid[1]);
    out[2] = (uint32_t)(linear / l->grid[0] / l->grid[1]);
}

/** Computes the size of an array that is in no allocation. */
static void measure(const struct tim_reach_launch *l, const struct array *a, uint32_t *width, uint32_t *height)
{
    *width = *height = 1;
    for (unsigned corner = 0; corner < 8; corner++) {
        struct emu_rect r;
        uint32_t ctaid[3];

        for (unsigned k = 0; k < 3; k++)
            ctaid[k] = corner >> k & 1 ? l->grid[k] - 1 : 0;
        if (!emu_predict_range(l->predict, a->number, ctaid, &a->known, l->reach->flags, &r) || r.w == 0 || r.h == 0)
            continue;
        *width = r.x + r.w > *width ? r.x + r.w : *width;
        *height = r.y + r.h > *height ? r.y + r.h : *height;
    }
}

static uint32_t clip32(uint64_t x)
{
    return x < UINT32_MAX / 2 ? (uint32_t)x : UINT32_MAX / 2;
}

/** Adds array @number of the address slices, unless no access to the array is used, or ap.skip_uniform excludes the array. */
static void add_array(struct tim_reach_launch *l, uint32_t number)
{
    const struct tim_config *c = l->reach->config;
    struct array *a = &l->array[l->arrays];
    struct emu_predict_array is;
    struct emu_allocation at;
    uint32_t width, height;
    bool inside;

    *a = (struct array){.number = number};
    emu_predict_array(l->predict, number, &a->known, l->reach->flags, &is);
    if (!is.used)
        return;
    l->reach->gpu[TIM_GPU_ap_arrays]++;
    if (c->ap_skip_uniform && !is.by_block) {
        l->reach->gpu[TIM_GPU_ap_uniform]++;
        return;
    }
    l->reach->gpu[TIM_GPU_ap_pitch_unaligned] += is.pitch % EMU_RECT_LINE != 0;
    if (emu_allocation_at(l->reach->machine, is.base, &at, &inside) && inside)
        a->known.bytes = at.address + at.size_bytes - is.base;
    if (a->known.bytes == 0) {
        measure(l, a, &width, &height);
    } else {
        const uint64_t row = is.pitch != 0 ? is.pitch : a->known.bytes;

        width = clip32((row + EMU_RECT_LINE - 1) / EMU_RECT_LINE);
        height = is.pitch != 0 ? clip32((a->known.bytes + row - 1) / row) : 1;
    }
    tim_reach_divide(&a->shape, width, height, c->ap_regions, c->ap_subregions);
    l->arrays++;
}

enum lw_status tim_reach_add(struct tim_reach *reach, const struct emu_grid *grid, struct lw_error *err)
{
    const struct isa_slices *s = NULL;
    enum lw_status status = slices_of(reach, grid, &s, err);
    struct tim_reach_launch *l;
    struct emu_predict_sites sites;

    if (status != LW_OK)
        return status;
    emu_predict_count_sites(s, &sites);
    count_sites(reach, &sites);
    if (sites.accepted == 0)
        return LW_OK;
    l = calloc(1, sizeof *l);
    if (l == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the addresses of a launch");
    l->reach = reach;
    l->sequence = grid->sequence;
    memcpy(l->grid, grid->launch.grid, sizeof l->grid);
    memcpy(l->block, grid->launch.block, sizeof l->block);
    status = emu_predict_create_with(reach->machine, grid, s, &l->predict, err);
    if (status != LW_OK) {
        free(l);
        return status;
    }
    for (uint32_t i = 0; i < sites.arrays; i++)
        add_array(l, i);
    count_evaluations(l, 0);
    l->next = reach->launches;
    reach->launches = l;
    return LW_OK;
}

void tim_reach_forget(struct tim_reach *reach, const struct emu_grid *grid)
{
    for (struct tim_reach_launch **at = &reach->launches; *at != NULL; at = &(*at)->next)
        if ((*at)->sequence == grid->sequence) {
            struct tim_reach_launch *l = *at;

            *at = l->next;
            destroy_launch(l);
            return;
        }
}

const struct tim_reach_launch *tim_reach_of(const struct tim_reach *reach, const struct emu_grid *grid)
{
    const struct tim_reach_launch *l = reach->launches;

    while (l != NULL && l->sequence != grid->sequence)
        l = l->next;
    return l;
}

unsigned tim_reach_arrays(const struct tim_reach_launch *launch)
{
    return launch->arrays;
}

void tim_reach_block(const struct tim_reach_launch *launch, uint64_t linear, struct emu_rect *out)
{
    const uint64_t before = emu_predict_evaluations(launch->predict);
    uint32_t ctaid[3];

    index_of(launch, linear, ctaid);
    for (unsigned i = 0; i < TIM_REACH_ARRAYS; i++) {
        out[i] = (struct emu_rect){0};
        if (i < launch->arrays && !emu_predict_range(launch->predict, launch->array[i].number, ctaid, &launch->array[i].known,
                                                     launch->reach->flags, &out[i]))
            out[i] = (struct emu_rect){0};
    }
    count_evaluations(launch, before);
}

/* ---- access vectors ---------------------------------------------------------------------------- */

struct collect {
    struct tim_reach_vector *out;
    unsigned array;
};

/** Adds a line to the sorted lines of the warp, unless the list already contains the line or is full. */
static void collect(void *context, uint32_t x, uint32_t y)
{
    const struct collect *c = context;
    struct tim_reach_vector *out = c->out;
    const uint64_t line = (uint64_t)c->array << 60 | (uint64_t)(y & ROW_MASK) << 32 | x;
    unsigned at = out->lines;

    while (at > 0 && out->line[at - 1] > line)
        at--;
    if ((at > 0 && out->line[at - 1] == line) || out->lines == TIM_REACH_LINES)
        return;
    memmove(&out->line[at + 1], &out->line[at], (out->lines - at) * sizeof *out->line);
    out->line[at] = line;
    out->lines++;
}

void tim_reach_warp(const struct tim_reach_launch *launch, uint64_t linear, unsigned warp, struct tim_reach_vector *out)
{
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t width = launch->reach->config->core_warp_width, first = warp * width;
    struct emu_rect range[TIM_REACH_ARRAYS];

    out->launch = launch->sequence;
    out->arrays = launch->arrays;
    out->lines = 0;
    tim_reach_block(launch, linear, range);
    const uint64_t before = emu_predict_evaluations(launch->predict);
    for (unsigned i = 0; i < launch->arrays; i++) {
        const struct array *a = &launch->array[i];
        struct collect c = {out, i};
        struct emu_predict_thread thread = {.iteration = NULL};
        const unsigned from = out->lines;

        index_of(launch, linear, thread.ctaid);
        for (uint64_t t = first; t < first + width && t < threads; t++) {
            thread.tid[0] = (uint32_t)(t % launch->block[0]);
            thread.tid[1] = (uint32_t)(t / launch->block[0] % launch->block[1]);
            thread.tid[2] = (uint32_t)(t / launch->block[0] / launch->block[1]);
            emu_predict_lines(launch->predict, a->number, &thread, &a->known, launch->reach->flags, collect, &c);
        }
        out->region[i] = tim_reach_region(&a->shape, range[i].x, range[i].y);
        out->parts[i] = 0;
        for (unsigned k = from; k < out->lines; k++) {
            uint64_t part = tim_reach_part(&a->shape, out->region[i], (uint32_t)out->line[k], (uint32_t)(out->line[k] >> 32) & ROW_MASK);

            launch->reach->gpu[TIM_GPU_ap_vec_clipped] += part == 0;
            out->parts[i] |= part;
        }
    }
    count_evaluations(launch, before);
}

/* ---- words -------------------------------------------------------------------------------------- */

void tim_reach_print(const struct tim_reach *reach, const struct emu_grid *grid, struct lw_sink *out)
{
    const struct tim_reach_launch *l = tim_reach_of(reach, grid);
    const struct isa_slices *s = NULL;
    struct emu_predict_sites sites;

    for (const struct program *p = reach->programs; p != NULL; p = p->next)
        if (p->program == grid->launch.program)
            s = emu_predict_slices_of(p->slices, grid->launch.kernel);
    emu_predict_count_sites(s, &sites);
    if (sites.count == 0) {
        lw_put(out, "no global accesses");
        return;
    }
    lw_printf(out, "%u of %u accesses have an address slice", sites.accepted, sites.count);
    if (l != NULL)
        lw_printf(out, ", %u arrays", l->arrays);
    for (unsigned r = 1; r < EMU_PREDICT_REASONS; r++)
        if (sites.rejected[r] != 0)
            lw_printf(out, "; %u have none: %s", sites.rejected[r], emu_predict_reason(r));
}

void tim_reach_cost(const struct tim_config *config, struct lw_sink *out)
{
    const unsigned warps = config->core_warps, vector = (6 + 10) * warps, table = warps * warps / 2;

    lw_printf(out, "hardware cost as counted in the paper: %u bytes for each waiting block, and as many for each "
                   "running block; in a core, %u bytes of access vectors and %u bytes of the locality table, in "
                   "total %u bytes\n",
              3 * TIM_REACH_ARRAYS, vector, table, vector + table);
    lw_printf(out, "cost with full coordinates: entry %u bytes; access vector %u bits; locality table without its "
                   "diagonal %u bytes\n",
              12 * TIM_REACH_ARRAYS, TIM_REACH_ARRAYS * (config->ap_regions + config->ap_subregions), warps * (warps - 1) / 2);
}
