/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of prop_opencl.c that create, copy and map buffers. */
#ifndef PROP_OPENCL_BUFFERS_H
#define PROP_OPENCL_BUFFERS_H

#include "tests/runtime/calls/prop_opencl_objects.h"

/* ---- memory objects ----------------------------------------------------------------------------------------------- */

static void create_buffer(void)
{
    static const cl_mem_flags known[] = {0, CL_MEM_READ_WRITE, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_USE_HOST_PTR,
                                         CL_MEM_ALLOC_HOST_PTR, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY,
                                             CL_MEM_HOST_WRITE_ONLY,
                                         CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR,
                                             CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR, 1u << 20, 3};
    const cl_mem_flags flags = known[below(now.calm ? 11 : 14)];
    const size_t bytes = now.calm ? sizes[1 + below(13)] : PICK(sizes);
    const cl_mem_properties properties[] = {now.calm || one_of(2) ? 0 : next_random(), 0};
    const bool takes_host = (flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR)) != 0;
    struct shadow *s;
    uint8_t *data = NULL;
    cl_context context;
    cl_mem mem;
    cl_int error;

    if (is_full(MEM))
        return;
    context = handle_of(CONTEXT);
    if ((now.calm ? takes_host : takes_host != one_of(8)) && bytes <= HOST_BYTES) {
        data = malloc(bytes != 0 ? bytes : 1);
        for (size_t i = 0; i < bytes; i++)
            data[i] = (uint8_t)(i * 7 + bytes);
    }
    if (one_of(3))
        mem = CALL(clCreateBufferWithProperties, context, one_of(2) ? NULL : properties, flags, bytes, data, &error);
    else
        mem = CALL(clCreateBuffer, context, flags, bytes, data, &error);
    if (!check_object(mem, error)) {
        free(data);
        return;
    }
    s = calloc(1, sizeof *s);
    s->bytes = bytes;
    if (bytes <= SMALL_BYTES) {
        s->data = malloc(bytes);
        s->known = calloc(1, bytes);
        if (data != NULL)
            learn(s, 0, data, bytes);
    }
    if ((flags & CL_MEM_USE_HOST_PTR) != 0)
        s->host = data;
    else
        free(data);
    lock();
    s->next = pool.shadows;
    pool.shadows = s;
    unlock();
    add_object(MEM, (struct object){.handle = mem, .context = context, .shadow = s, .bytes = bytes, .flags = flags});
}

static void create_sub_buffer(void)
{
    cl_mem parent = handle_of(MEM), mem;
    const struct object o = object_of(MEM, parent);
    cl_buffer_region region;
    cl_int error;

    if (is_full(MEM))
        return;
    pick_range(o.bytes, &region.origin, &region.size);
    if (!one_of(4))
        region.origin -= region.origin % 512;
    now.calm = false;
    mem = CALL(clCreateSubBuffer, parent, one_of(2) ? 0 : (cl_mem_flags)1 << below(12), one_of(9) ? 0
               : CL_BUFFER_CREATE_TYPE_REGION,
               one_of(9) ? NULL : &region, &error);
    if (!check_object(mem, error))
        return;
    if (is_checked() && (region.origin > o.bytes || region.size > o.bytes - region.origin || region.origin % 512 != 0 ||
                         o.is_sub))
        wrong("a sub-buffer of %zu bytes at %zu in a buffer of %zu bytes was created", region.size, region.origin, o.bytes);
    add_object(MEM, (struct object){.handle = mem, .context = o.context, .shadow = o.shadow, .origin = region.origin,
                                    .bytes = region.size,
                                    /* the flags are not modelled further */
                                    .is_sub = true, .flags = o.flags | CL_MEM_HOST_NO_ACCESS});
}

/** In a calm call, a buffer that the host may not access makes the error open. */
static void expect_host_access(const struct object *o)
{
    if ((o->flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0)
        now.is_open = true;
}

static void read_or_write(void)
{
    cl_command_queue queue = handle_of(QUEUE);
    cl_mem mem = handle_of(MEM);
    const struct object o = object_of(MEM, mem);
    const struct waits w = pick_waits();
    const bool reads = one_of(2), blocks = one_of(2);
    size_t offset, bytes;
    cl_event event, *place = pick_event(&event);
    uint8_t *data;
    cl_int error;
    bool fails;
    enum outcome outcome;

    expect_host_access(&o);
    pick_range(o.bytes, &offset, &bytes);
    if (bytes > HOST_BYTES && bytes <= o.bytes)
        return;
    data = scratch(bytes);
    if (!reads && is_checked() && bytes <= SMALL_BYTES)
        for (size_t i = 0; i < bytes; i++)
            data[i] = (uint8_t)(next_random() >> 40);
    if (blocks)
        before_wait();
    fails = w.fails;
    for (unsigned i = 0; is_checked() && blocks && now.bad == 0 && w.has_list && i < w.count; i++)
        fails = fails || status_of(w.list[i]) < 0; /* before_wait() may have completed an event with an error */
    error = reads ? CALL(clEnqueueReadBuffer, queue, mem, blocks, offset, bytes, data, w.count, events_of(&w), place)
                  : CALL(clEnqueueWriteBuffer, queue, mem, blocks, offset, bytes, data, w.count, events_of(&w), place);
    outcome = after_enqueue(error, place, fails, false);
    if (!is_checked() || outcome == REFUSED)
        return;
    if (offset > o.bytes || bytes > o.bytes - offset)
        wrong("%zu bytes at %zu of a buffer of %zu bytes were copied", bytes, offset, o.bytes);
    if (reads && outcome == DONE)
        compare(o.shadow, o.origin + offset, data, bytes);
    else if (!reads && outcome == LATER)
        forget(o.shadow, o.origin + offset, bytes);
    if (outcome == DONE && count_open() == 0)
        learn(o.shadow, o.origin + offset, data, bytes);
}

static void copy_or_fill(void)
{
    cl_command_queue queue = handle_of(QUEUE);
    cl_mem from = NULL, to = handle_of(MEM);
    const bool fills = one_of(2);
    struct object a = {0};
    const struct object b = object_of(MEM, to);
    const size_t patterns[] = {1, 2, 4, 8, 16, 32, 64, 128, 0, 3, 256, SIZE_MAX};
    size_t size = patterns[below(now.calm ? 4 : 12)], offset, bytes, from_offset = 0;
    uint8_t pattern[256];
    struct waits w;
    cl_event event, *place = pick_event(&event);
    enum outcome outcome;
    cl_int error;

    if (!fills)
        from = handle_of(MEM);
    a = object_of(MEM, from);
    w = pick_waits();
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)below(256);
    pick_range(b.bytes, &offset, &bytes);
    if (fills && now.calm) {
        offset -= offset % size;
        bytes -= bytes % size;
    } else if (!fills) {
        now.is_open = true; /* the ranges may overlap, or may not fit */
        from_offset = one_of(2) || a.bytes < bytes || a.bytes == 0 ? PICK(sizes) : below(a.bytes - bytes + 1);
    }
    error = fills ? CALL(clEnqueueFillBuffer, queue, to, !now.calm && one_of(9) ? NULL : pattern, size, offset, bytes, w.count,
                         events_of(&w), place)
                  : CALL(clEnqueueCopyBuffer, queue, from, to, from_offset, offset, bytes, w.count, events_of(&w), place);
    outcome = after_enqueue(error, place, w.fails, false);
    if (!is_checked() || outcome == REFUSED || outcome == FAILED)
        return;
    if (offset > b.bytes || bytes > b.bytes - offset || (!fills && (from_offset > a.bytes || bytes > a.bytes - from_offset)))
        wrong("%zu bytes at %zu of a buffer of %zu bytes were copied", bytes, offset, b.bytes);
    if (!fills && a.shadow == b.shadow && a.origin + from_offset < b.origin + offset + bytes &&
        b.origin + offset < a.origin + from_offset + bytes)
        wrong("ranges that overlap were copied");
    forget(b.shadow, b.origin + offset, bytes);
    if (outcome == LATER || b.shadow->known == NULL)
        return;
    for (size_t i = 0; i < bytes; i++) {
        if (fills)
            b.shadow->data[b.origin + offset + i] = pattern[i % size];
        else if (a.shadow->known != NULL)
            b.shadow->data[b.origin + offset + i] = a.shadow->data[a.origin + from_offset + i];
        b.shadow->known[b.origin + offset + i] = fills || (a.shadow->known != NULL &&
                                                           a.shadow->known[a.origin + from_offset + i]);
    }
}

/** Copies boxes between buffers and host memory. */
static void copy_box(void)
{
    static const size_t lengths[] = {0, 1, 2, 3, 5, 16, 100, SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 32, (size_t)1 << 63};
    const unsigned wide = now.calm ? 6 : sizeof lengths / sizeof *lengths;
    cl_command_queue queue = handle_of(QUEUE);
    cl_mem mem = handle_of(MEM), other;
    const struct object o = object_of(MEM, mem);
    const struct waits w = pick_waits();
    const unsigned way = below(3);
    const bool blocks = way != 2 && one_of(2);
    size_t origin[3], second[3], region[3], row = lengths[below(wide)], slice = 0, end = 0;
    uint8_t *data = host[now.thread];
    cl_event event, *place = pick_event(&event);
    cl_int error;
    bool fits = true, fails = w.fails;
    enum outcome outcome;

    now.is_open = true;
    for (unsigned i = 0; i < 3; i++) {
        origin[i] = lengths[below(wide)];
        second[i] = lengths[below(6)];
        region[i] = lengths[below(wide)];
    }
    if (one_of(2))
        row = region[0] + below(3);
    if (one_of(2))
        slice = row * region[1];
    if (way == 2) {
        struct object second_object;

        other = handle_of(MEM);
        second_object = object_of(MEM, other);
        error = CALL(clEnqueueCopyBufferRect, queue, mem, other, origin, second, region, row, slice, row, slice, w.count,
                     events_of(&w), place);
        outcome = after_enqueue(error, place, w.fails, false);
        if (is_checked() && outcome != REFUSED)
            forget(second_object.shadow, 0, second_object.shadow->bytes);
        return;
    }
    for (unsigned i = 0; i < 3; i++) /* the box must fit into the memory of the host */
        fits = fits && second[i] <= 16 && region[i] <= 100;
    if (!fits || 116 * 116 * 116 > HOST_BYTES)
        return;
    if (blocks)
        before_wait();
    for (unsigned i = 0; is_checked() && blocks && now.bad == 0 && w.has_list && i < w.count; i++)
        fails = fails || status_of(w.list[i]) < 0;
    error = way == 0 ? CALL(clEnqueueReadBufferRect, queue, mem, blocks, origin, second, region, row, slice, 0, 0, data,
                            w.count, events_of(&w), place)
                     : CALL(clEnqueueWriteBufferRect, queue, mem, blocks, origin, second, region, row, slice, 0, 0, data,
                            w.count, events_of(&w), place);
    outcome = after_enqueue(error, place, fails, false);
    if (!is_checked() || outcome == REFUSED)
        return;
    row = row != 0 ? row : region[0];
    slice = slice != 0 ? slice : row * region[1];
    end = origin[0] + origin[1] * row + origin[2] * slice + (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
    if (end > o.bytes || row < region[0] || slice < row * region[1])
        wrong("a box that ends at %zu of a buffer of %zu bytes was copied", end, o.bytes);
    if (way == 1)
        forget(o.shadow, o.origin, o.bytes);
    for (size_t z = 0; z < region[2] && outcome == DONE; z++)
        for (size_t y = 0; y < region[1]; y++) {
            const size_t at = o.origin + origin[0] + (origin[1] + y) * row + (origin[2] + z) * slice;
            const uint8_t *line = data + second[0] + (second[1] + y) * region[0] + (second[2] + z) * region[0] * region[1];

            if (way == 0)
                compare(o.shadow, at, line, region[0]);
            else
                learn(o.shadow, at, line, region[0]);
        }
}

static void map_buffer(void)
{
    static const cl_map_flags known[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
                                         0, 7, 1u << 10};
    const cl_map_flags flags = known[below(now.calm ? 4 : 7)];
    cl_command_queue queue = handle_of(QUEUE);
    cl_mem mem = handle_of(MEM);
    const struct object o = object_of(MEM, mem);
    cl_event event, *place = pick_event(&event);
    size_t offset, bytes;
    struct map *m;
    uint8_t *pointer;
    cl_int error;

    if (is_checked() && pool.map_count == sizeof pool.maps / sizeof *pool.maps)
        return;
    expect_host_access(&o);
    pick_range(o.bytes, &offset, &bytes);
    before_wait();
    pointer = CALL(clEnqueueMapBuffer, queue, mem, one_of(2), flags, offset, bytes, 0, NULL, place, &error);
    if ((pointer != NULL) != (error == CL_SUCCESS))
        wrong("the pointer is %p, but the error %d", (void *)pointer, error);
    if (after_enqueue(error, place, false, false) == REFUSED || !is_checked())
        return;
    if (offset > o.bytes || bytes > o.bytes - offset || bytes == 0)
        wrong("%zu bytes at %zu of a buffer of %zu bytes were mapped", bytes, offset, o.bytes);
    if ((flags & CL_MAP_READ) != 0 && o.shadow->maps == 0)
        compare(o.shadow, o.origin + offset, pointer, bytes);
    m = &pool.maps[pool.map_count++];
    *m = (struct map){.mem = mem, .shadow = o.shadow, .pointer = pointer, .offset = o.origin + offset, .bytes = bytes};
    if ((flags & ~(cl_map_flags)CL_MAP_READ) != 0) {
        m->writes = true;
        for (size_t i = 0; i < bytes; i++)
            pointer[i] = (uint8_t)(i * 3 + offset);
        m->copy = o.shadow->maps == 0 && bytes <= SMALL_BYTES ? malloc(bytes) : NULL;
        if (m->copy != NULL)
            memcpy(m->copy, pointer, bytes);
        forget(o.shadow, m->offset, bytes);
    }
    o.shadow->maps++;
    m->changes = ++o.shadow->changes;
}

static void unmap_buffer(void)
{
    static uint8_t memory[16];
    unsigned at = pool.map_count != 0 && is_checked() ? below(pool.map_count) : sizeof pool.maps / sizeof *pool.maps;
    cl_command_queue queue = handle_of(QUEUE);
    cl_event event, *place = pick_event(&event);
    struct map m;
    enum outcome outcome;

    now.is_open = true;
    if (at == sizeof pool.maps / sizeof *pool.maps || one_of(6)) { /* a pointer that is not mapped */
        cl_mem mem = handle_of(MEM);

        if (after_enqueue(CALL(clEnqueueUnmapMemObject, queue, mem, one_of(2) ? NULL : memory, 0, NULL, place), place, false,
                          false) != REFUSED)
            wrong("memory that is not mapped was unmapped");
        return;
    }
    for (unsigned i = 0; i < pool.map_count; i++) /* of several maps with this pointer, the driver unmaps the newest */
        if (pool.maps[i].mem == pool.maps[at].mem && pool.maps[i].pointer == pool.maps[at].pointer &&
            pool.maps[i].changes > pool.maps[at].changes)
            at = i;
    m = pool.maps[at];
    outcome = after_enqueue(CALL(clEnqueueUnmapMemObject, queue, m.mem, m.pointer, 0, NULL, place), place, false, false);
    if (outcome == REFUSED)
        return;
    if (m.writes || m.shadow->maps > 1)
        forget(m.shadow, 0, m.shadow->bytes); /* the driver may have unmapped another map with this pointer */
    if (outcome == DONE && m.copy != NULL && m.shadow->maps == 1 && m.changes + 1 == m.shadow->changes)
        learn(m.shadow, m.offset, m.copy, m.bytes);
    m.shadow->maps--;
    free(m.copy);
    pool.maps[at] = pool.maps[--pool.map_count];
}

static void migrate(void)
{
    cl_command_queue queue = handle_of(QUEUE);
    const cl_mem mems[3] = {handle_of(MEM), handle_of(MEM), handle_of(MEM)};
    cl_event event, *place = pick_event(&event);

    now.calm = false;
    now.is_open = true;
    if (now.bad == 0)
        after_enqueue(CALL(clEnqueueMigrateMemObjects, queue, below(4), one_of(9) ? NULL : mems, below(5), 0, NULL, place),
                      place, false, false);
}


#endif
