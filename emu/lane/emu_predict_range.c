/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the rectangle of an array that a block accesses. For each site of the array, the rectangle contains the addresses of
 * the block's first and last thread, in the first and last iteration of the loops that contain the site.
 */
#include "emu/lane/emu_predict_priv.h"

/** Returns the address of an array, rounded down to a whole line. */
static uint64_t base_of(const struct emu_predict *p, uint32_t array)
{
    const struct isa_slice_array *a = &p->slices->arrays[array];
    uint8_t at[8] = { 0 };
    uint64_t base = 0;

    if (a->variable) {
        base = p->launch.variables != NULL ? p->launch.variables[a->which] : 0;
    } else {
        const struct isa_param *param = &p->launch.object->functions[p->slices->function].params[a->which];

        for (unsigned k = 0; k < 8 && param->offset + k < p->launch.param_bytes; k++)
            at[k] = p->launch.params[param->offset + k];
        base = lw_get64(at);
    }
    return base & ~(uint64_t)(EMU_RECT_LINE - 1);
}

static bool counts(const struct isa_slice_site *s, uint32_t array, unsigned flags)
{
    return s->reject == ISA_SLICE_ACCEPTED && s->array == array && (!s->store || (flags & EMU_PREDICT_STORES));
}

/** Returns by how much the site's address grows from @thread to the next thread in dimension @k: @k 0 and 1 are x and y of tid; 2
 *  and 3 are x and y of ctaid. */
static int64_t stride(struct emu_predict *p, uint32_t site, const struct emu_predict_thread *thread, unsigned k)
{
    struct emu_predict_thread next = *thread;
    uint32_t *id = k < 2 ? &next.tid[k] : &next.ctaid[k - 2];
    const uint32_t extent = k < 2 ? p->launch.block[k] : p->launch.grid[k - 2];
    const bool back = *id + 1 >= extent;

    if (extent < 2)
        return 0;
    *id = back ? *id - 1 : *id + 1;
    const int64_t by = (int64_t)(emu_predict_address(p, site, &next) - emu_predict_address(p, site, thread));
    return back ? -by : by;
}

/** Infers the bytes of an array row from the strides of a site's address in the middle of the grid. Used for sites whose address
 *  has no affine form, for example because indices are clamped. */
static uint64_t pitch_of_probe(struct emu_predict *p, uint32_t site)
{
    const struct emu_predict_launch *l = &p->launch;
    const struct emu_predict_thread at = { .ctaid = { l->grid[0] / 2, l->grid[1] / 2, l->grid[2] / 2 },
                                           .tid = { l->block[0] / 2, l->block[1] / 2, l->block[2] / 2 } };
    const struct emu_rect_strides strides = { .tx = stride(p, site, &at, 0), .ty = stride(p, site, &at, 1),
                                              .bx = stride(p, site, &at, 2), .by = stride(p, site, &at, 3),
                                              .block = { l->block[0], l->block[1] }, .grid = { l->grid[0], l->grid[1] },
                                              .element = p->slices->sites[site].bytes };

    return emu_rect_pitch(&strides);
}

/** Infers the bytes of an array row from a site in a loop, if each iteration accesses the next array row. An iteration is assumed
 *  to access the next one if the address grows in each iteration by more than the range that the whole grid accesses in one
 *  iteration. */
static uint64_t pitch_of_loops(struct emu_predict *p, uint32_t site)
{
    const struct isa_slice_site *s = &p->slices->sites[site];
    uint64_t iteration[ISA_SLICE_LOOPS] = { 0 }, most = 0;
    struct emu_predict_thread first = { .iteration = iteration }, last = first;

    for (unsigned k = 0; k < 3; k++) {
        last.tid[k] = p->launch.block[k] - 1;
        last.ctaid[k] = p->launch.grid[k] - 1;
    }
    const uint64_t from = emu_predict_address(p, site, &first), to = emu_predict_address(p, site, &last);
    const uint64_t wide = (to > from ? to - from : from - to) + s->bytes;
    for (uint32_t loop = 0; loop < p->slices->loop_count; loop++) {
        if (!(s->loops >> loop & 1))
            continue;
        iteration[loop] = 1;
        const int64_t by = (int64_t)(emu_predict_address(p, site, &first) - from);
        const uint64_t far = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
        iteration[loop] = 0;
        most = far > most ? far : most;
    }
    return most >= EMU_RECT_LINE && most >= wide ? most : 0;
}

static uint64_t find_pitch(struct emu_predict *predict, uint32_t array)
{
    const struct isa_slices *s = predict->slices;
    const struct emu_predict_launch *l = &predict->launch;

    for (unsigned way = 0; way < 3; way++) /* tries three ways, in this order: affine form of the address, strides in the middle
                                            * of the grid, loops */
        for (uint32_t i = 0; i < s->site_count; i++) {
            struct emu_predict_affine at = { .constant = 0 };
            uint64_t pitch;

            if (!counts(&s->sites[i], array, EMU_PREDICT_STORES))
                continue;
            const bool affine = emu_predict_affine(predict, i, &at);
            const struct emu_rect_strides strides = { .tx = at.tid[0], .ty = at.tid[1], .bx = at.ctaid[0], .by = at.ctaid[1],
                                                      .block = { l->block[0], l->block[1] }, .grid = { l->grid[0], l->grid[1] },
                                                      .element = s->sites[i].bytes };
            if (affine != (way == 0) && way != 2)
                continue;
            pitch = way == 0 ? emu_rect_pitch(&strides) : way == 1 ? pitch_of_probe(predict, i) : pitch_of_loops(predict, i);
            if (pitch != 0)
                return pitch;
        }
    return 0;
}

uint64_t emu_predict_pitch(struct emu_predict *predict, uint32_t array, const struct emu_predict_shape *shape)
{
    if (shape != NULL && shape->pitch != 0)
        return shape->pitch;
    if (!predict->has_pitch[array]) {
        predict->pitch[array] = find_pitch(predict, array);
        predict->has_pitch[array] = true;
    }
    return predict->pitch[array];
}

/** Gets the constant part of a site's address, as a displacement from @base. Returns false if the address has no affine form. */
static bool displacement(struct emu_predict *p, uint32_t site, uint64_t base, int64_t *out)
{
    struct emu_predict_affine at;

    if (!emu_predict_affine(p, site, &at))
        return false;
    *out = (int64_t)(at.constant - base);
    return true;
}

/** Returns the smallest displacement from @base, by magnitude, of a site of the array. Displacements of all sites are computed
 *  relative to this displacement. */
static int64_t nearest(struct emu_predict *p, uint32_t array, uint64_t base, unsigned flags)
{
    uint64_t best = UINT64_MAX;
    int64_t found = 0, c;

    for (uint32_t i = 0; i < p->slices->site_count; i++) {
        if (!counts(&p->slices->sites[i], array, flags) || !displacement(p, i, base, &c))
            continue;
        uint64_t far = c < 0 ? 0 - (uint64_t)c : (uint64_t)c;
        if (far < best) {
            best = far;
            found = c;
        }
    }
    return found;
}

struct range {
    struct emu_predict *predict;
    uint32_t site;
    uint64_t base, pitch;
    int64_t c;      /* distance, in bytes, of this site from the array's site that is nearest to the base; 0 if the address is
                     * not affine */
    int64_t cx, cy; /* the same distance in columns and array rows */
    unsigned flags;
    struct emu_byte_rect *bytes;
    bool empty;
    /** Function that is called with the bytes that are accessed at each corner. A corner is the first or last thread of the
     *  block, in the first or last iteration of each loop. If `each` is NULL, all corners are joined to one rectangle. */
    void (*each)(struct range *range, const struct emu_byte_rect *one);
};

static void add_corner(struct range *r, const struct emu_predict_thread *thread)
{
    uint64_t address = emu_predict_address(r->predict, r->site, thread);
    int64_t x, y;

    emu_rect_to2d((int64_t)(address - r->base - (uint64_t)r->c), r->pitch, &x, &y);
    x = (int64_t)((uint64_t)x + (uint64_t)r->cx); /* may wrap for an object file with invalid values */
    y = (int64_t)((uint64_t)y + (uint64_t)r->cy);
    const struct emu_byte_rect one = { x, (int64_t)((uint64_t)x + r->predict->slices->sites[r->site].bytes - 1), y, y };
    if (r->each != NULL)
        r->each(r, &one);
    else
        emu_rect_join(r->bytes, &one, &r->empty);
}

/** Visits the first and last iteration of every loop around the site, from loop @loop on, and adds the address in each
 *  combination of these iterations. Outer loops are visited first. */
static void add_corners(struct range *r, struct emu_predict_thread *thread, uint64_t *iteration, uint32_t loop)
{
    enum { DEEPEST = 8 };
    const struct isa_slice_site *site = &r->predict->slices->sites[r->site];
    uint64_t count;

    while (loop < r->predict->slices->loop_count && !(site->loops >> loop & 1))
        loop++;
    if (loop >= r->predict->slices->loop_count) {
        add_corner(r, thread);
        return;
    }
    iteration[loop] = 0;
    bool known = (r->flags & EMU_PREDICT_BOUNDS) && lw_popcount(site->loops) <= DEEPEST &&
                 emu_predict_iterations(r->predict, r->site, loop, thread, &count);
    if (known && count == 0)
        return;
    add_corners(r, thread, iteration, loop + 1);
    if (known && count > 1) {
        iteration[loop] = count - 1;
        add_corners(r, thread, iteration, loop + 1);
        iteration[loop] = 0;
    }
}

/** Adds the accesses of @count threads by all sites of the array. */
static void add_sites(struct range *r, uint32_t array, const struct emu_predict_thread *threads, unsigned count)
{
    uint64_t iteration[ISA_SLICE_LOOPS] = { 0 };
    struct emu_predict *predict = r->predict;
    int64_t from = nearest(predict, array, r->base, r->flags), c;

    for (r->site = 0; r->site < predict->slices->site_count; r->site++) {
        if (!counts(&predict->slices->sites[r->site], array, r->flags))
            continue;
        r->c = displacement(predict, r->site, r->base, &c) ? (int64_t)((uint64_t)c - (uint64_t)from) : 0;
        r->cy = r->pitch != 0 ? emu_rect_split(r->c, r->pitch, &r->cx) : 0;
        if (r->pitch == 0)
            r->cx = r->c;
        for (unsigned i = 0; i < count; i++) {
            struct emu_predict_thread thread = threads[i];

            thread.iteration = iteration;
            add_corners(r, &thread, iteration, 0);
        }
    }
}

static uint64_t rows_of(const struct emu_predict_shape *shape, uint64_t pitch)
{
    return shape != NULL && pitch != 0 ? (shape->bytes + pitch - 1) / pitch : 0;
}

bool emu_predict_range(struct emu_predict *predict, uint32_t array, const uint32_t ctaid[3],
                       const struct emu_predict_shape *shape, unsigned flags, struct emu_rect *out)
{
    const uint32_t *block = predict->launch.block;
    const struct emu_predict_thread ends[2] = {
        { .ctaid = { ctaid[0], ctaid[1], ctaid[2] } },
        { .ctaid = { ctaid[0], ctaid[1], ctaid[2] }, .tid = { block[0] - 1, block[1] - 1, block[2] - 1 } },
    };
    struct emu_byte_rect bytes;
    struct range r = { .predict = predict, .base = base_of(predict, array), .pitch = emu_predict_pitch(predict, array, shape),
                       .flags = flags, .bytes = &bytes, .empty = true };

    add_sites(&r, array, ends, 2);
    if (r.empty)
        return false;
    *out = emu_rect_lines(&bytes, r.pitch, rows_of(shape, r.pitch));
    return true;
}

void emu_predict_array(struct emu_predict *predict, uint32_t array, const struct emu_predict_shape *shape, unsigned flags,
                       struct emu_predict_array *out)
{
    *out = (struct emu_predict_array){ .base = base_of(predict, array), .pitch = emu_predict_pitch(predict, array, shape) };
    for (uint32_t i = 0; i < predict->slices->site_count; i++)
        if (counts(&predict->slices->sites[i], array, flags)) {
            out->used = true;
            out->by_block |= (emu_predict_depends(predict, i) & EMU_PREDICT_BLOCK) != 0;
        }
}

struct each_line {
    struct range range;
    uint64_t rows;
    void (*each)(void *context, uint32_t x, uint32_t y);
    void *context;
};

static void put_lines(struct range *range, const struct emu_byte_rect *one)
{
    struct each_line *p = (struct each_line *)range;
    struct emu_rect lines = emu_rect_lines(one, range->pitch, p->rows);

    for (uint32_t y = 0; y < lines.h; y++)
        for (uint32_t x = 0; x < lines.w; x++)
            p->each(p->context, lines.x + x, lines.y + y);
}

void emu_predict_lines(struct emu_predict *predict, uint32_t array, const struct emu_predict_thread *thread,
                        const struct emu_predict_shape *shape, unsigned flags,
                        void (*each)(void *context, uint32_t x, uint32_t y), void *context)
{
    struct each_line p = { .range = { .predict = predict, .base = base_of(predict, array), .flags = flags, .each = put_lines,
                                   .pitch = emu_predict_pitch(predict, array, shape) },
                        .each = each, .context = context };

    p.rows = rows_of(shape, p.range.pitch);
    add_sites(&p.range, array, thread, 1);
}
