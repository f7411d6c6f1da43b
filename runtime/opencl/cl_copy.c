/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that copy, fill and map buffers, and copies and maps of boxes of bytes for images. */
#include "runtime/opencl/cl_priv.h"

#include <stdlib.h>
#include <string.h>

int cl_result(int result, const char *what)
{
    if (result == LANEWISE_OK)
        return CL_SUCCESS;
    rt_complain(what);
    return CL_OUT_OF_RESOURCES;
}

static int run_copy(struct rt_command *command)
{
    struct cl_copy *c = (struct cl_copy *)(void *)command;
    lanewise_machine *machine = rt_machine();
    int result = LANEWISE_OK;

    if (c->region[0] == 0) /* permitted since OpenCL 2.1; the address may be the end of the buffer */
        return CL_SUCCESS;
    for (size_t z = 0; z < c->region[2]; z++)
        for (size_t y = 0; y < c->region[1] && result == LANEWISE_OK; y++) {
            const size_t at = c->box.offset + y * c->box.row + z * c->box.slice,
                         other = c->other_box.offset + y * c->other_box.row + z * c->other_box.slice;

            result = c->way == CL_FROM_MEM ? rt_read(c->address + at, c->host + other, c->region[0], &command->site)
                     : c->way == CL_TO_MEM ? lanewise_write(machine, c->address + at, c->host + other, c->region[0])
                                           : lanewise_copy(machine, c->address + at, c->other + other, c->region[0]);
        }
    return cl_result(result, "copy");
}

/** Returns true if the range is in the buffer. */
static bool fits(const struct _cl_mem *mem, size_t offset, size_t bytes)
{
    return offset <= mem->bytes && bytes <= mem->bytes - offset;
}

cl_int cl_check_mem(cl_command_queue queue, cl_mem mem, bool image)
{
    if (!cl_object_is(queue, CL_KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!cl_object_is(mem, CL_KIND_MEM) || cl_is_image(mem) != image)
        return CL_INVALID_MEM_OBJECT;
    return mem->object.context == queue->object.context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

static cl_int check_buffer(cl_command_queue queue, cl_mem mem)
{
    return cl_check_mem(queue, mem, false);
}

cl_int cl_check_host_access(const struct _cl_mem *mem, bool reads)
{
    const cl_mem_flags forbidden = CL_MEM_HOST_NO_ACCESS | (reads ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_HOST_READ_ONLY);

    return (mem->flags & forbidden) != 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int cl_copy_enqueue(cl_command_queue queue, cl_command_type type, const struct cl_copy *values, cl_mem mem,
                           cl_mem second, bool blocking, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_copy *c;
    struct cl_command *command, base;
    cl_int error = cl_command_create(queue, type, count, waits, sizeof *c, run_copy, &command);

    if (error != CL_SUCCESS) {
        rt_unlock();
        return error;
    }
    c = (struct cl_copy *)command;
    base = c->base;
    *c = *values;
    c->base = base;
    if (c->region[0] == c->box.row && c->region[0] == c->other_box.row) { /* the rows are contiguous: a slice is one row */
        c->region[0] *= c->region[1];
        c->region[1] = 1;
        c->box.row = c->other_box.row = c->region[0];
    }
    cl_command_hold_mem(command, mem);
    if (second != NULL)
        cl_command_hold_mem(command, second);
    return cl_command_enqueue(queue, command, blocking, event);
}

static cl_int fail(cl_int error)
{
    rt_unlock();
    return error;
}

/** Enqueues a read or write of a range of a buffer. */
static cl_int transfer(cl_command_queue queue, cl_mem mem, enum cl_way way, cl_bool blocking, size_t offset, size_t bytes,
                       void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_copy c = {.way = way, .host = host, .region = {bytes, 1, 1}, .box = {.offset = offset}};
    cl_int error;

    rt_lock();
    error = check_buffer(queue, mem);
    if (error == CL_SUCCESS && (host == NULL || !fits(mem, offset, bytes)))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = cl_check_host_access(mem, way == CL_FROM_MEM);
    if (error != CL_SUCCESS)
        return fail(error);
    c.address = mem->address;
    return cl_copy_enqueue(queue, way == CL_FROM_MEM ? CL_COMMAND_READ_BUFFER : CL_COMMAND_WRITE_BUFFER, &c, mem, NULL,
                        blocking != CL_FALSE, count, waits, event);
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t bytes,
                                       void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
    return transfer(queue, mem, CL_FROM_MEM, blocking, offset, bytes, host, count, waits, event);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t bytes,
                                        const void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
    return transfer(queue, mem, CL_TO_MEM, blocking, offset, bytes, (void *)(uintptr_t)host, count, waits, event);
}

/** Fills in a box. A pitch @row or @slice of 0 means the smallest possible one. Returns false if a pitch is too small for
 *  the region, or if a size overflows. Sets *@end to the offset of the first byte past the box. */
static bool make_box(const size_t origin[3], const size_t region[3], size_t row, size_t slice, struct cl_box *box, size_t *end)
{
    size_t y, z;

    if (row == 0)
        row = region[0];
    if (row < region[0] || __builtin_mul_overflow(row, region[1], &y))
        return false;
    if (slice == 0)
        slice = y;
    if (slice < y || slice % row != 0)
        return false;
    box->row = row;
    box->slice = slice;
    if (__builtin_mul_overflow(origin[1], row, &y) || __builtin_mul_overflow(origin[2], slice, &z) ||
        __builtin_add_overflow(y, z, &y) || __builtin_add_overflow(y, origin[0], &box->offset))
        return false;
    return !__builtin_mul_overflow(region[2] - 1, slice, &z) && !__builtin_mul_overflow(region[1] - 1, row, &y) &&
           !__builtin_add_overflow(y, z, &y) && !__builtin_add_overflow(y, region[0], &y) &&
           !__builtin_add_overflow(y, box->offset, end);
}

static bool is_empty(const size_t region[3])
{
    return region[0] == 0 || region[1] == 0 || region[2] == 0;
}

static cl_int transfer_box(cl_command_queue queue, cl_mem mem, enum cl_way way, cl_bool blocking, const size_t *origin,
                           const size_t *host_origin, const size_t *region, size_t row, size_t slice, size_t host_row,
                           size_t host_slice, void *host, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_copy c = {.way = way, .host = host};
    size_t end, host_end;
    cl_int error;

    rt_lock();
    error = check_buffer(queue, mem);
    if (error == CL_SUCCESS &&
        (host == NULL || origin == NULL || host_origin == NULL || region == NULL || is_empty(region) ||
         !make_box(origin, region, row, slice, &c.box, &end) ||
         !make_box(host_origin, region, host_row, host_slice, &c.other_box, &host_end) || end > mem->bytes))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = cl_check_host_access(mem, way == CL_FROM_MEM);
    if (error != CL_SUCCESS)
        return fail(error);
    memcpy(c.region, region, sizeof c.region);
    c.address = mem->address;
    return cl_copy_enqueue(queue, way == CL_FROM_MEM ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT, &c, mem, NULL,
                        blocking != CL_FALSE, count, waits, event);
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,
                                           const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                           size_t host_row, size_t host_slice, void *host, cl_uint count,
                                           const cl_event *waits, cl_event *event)
{
    return transfer_box(queue, mem, CL_FROM_MEM, blocking, origin, host_origin, region, row, slice, host_row, host_slice,
                        host, count, waits, event);
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,
                                            const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                            size_t host_row, size_t host_slice, const void *host, cl_uint count,
                                            const cl_event *waits, cl_event *event)
{
    return transfer_box(queue, mem, CL_TO_MEM, blocking, origin, host_origin, region, row, slice, host_row, host_slice,
                        (void *)(uintptr_t)host, count, waits, event);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                       size_t bytes, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_copy c = {.way = CL_BETWEEN, .region = {bytes, 1, 1}, .box = {.offset = to_offset}, .other_box = {.offset = from_offset}};
    cl_int error;

    rt_lock();
    error = check_buffer(queue, from);
    if (error == CL_SUCCESS)
        error = check_buffer(queue, to);
    if (error == CL_SUCCESS && (!fits(from, from_offset, bytes) || !fits(to, to_offset, bytes)))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS) {
        const uint64_t a = from->address + from_offset, b = to->address + to_offset;

        if (cl_mem_root(from) == cl_mem_root(to) && a < b + bytes && b < a + bytes)
            error = CL_MEM_COPY_OVERLAP;
    }
    if (error != CL_SUCCESS)
        return fail(error);
    c.address = to->address;
    c.other = from->address;
    return cl_copy_enqueue(queue, CL_COMMAND_COPY_BUFFER, &c, to, from, false, count, waits, event);
}

/** A box of bytes in memory, with the address to which its offset is added. */
struct area {
    uint64_t address;
    const struct cl_box *box;
    const size_t *region;
};

static uint64_t row_address(const struct area *a, size_t y, size_t z)
{
    return a->address + a->box->offset + y * a->box->row + z * a->box->slice;
}

static uint64_t end_of(const struct area *a)
{
    return row_address(a, a->region[1] - 1, a->region[2] - 1) + a->region[0];
}

/** Returns true if the range of @bytes at @at has a byte in common with @b. */
static bool touches(const struct area *b, uint64_t at, uint64_t bytes)
{
    const uint64_t begin = row_address(b, 0, 0);
    const uint64_t slice = at > begin && b->box->slice != 0 ? (at - begin) / b->box->slice : 0;

    /* A slice is at least as large as all rows in it, so only the slice at this address and its neighbours can overlap the range, unless
     * the range also overlaps one of them. */
    for (uint64_t w = slice > 0 ? slice - 1 : 0; w < b->region[2] && w <= slice + 1; w++) {
        const uint64_t from = row_address(b, 0, w), last = row_address(b, b->region[1] - 1, w);
        uint64_t row = 0;

        if (at >= last + b->region[0] || at + bytes <= from)
            continue;
        /* In this slice, the same holds for two rows. */
        if (at > from && b->box->row != 0)
            row = (at - from) / b->box->row;
        for (uint64_t r = row; r < b->region[1] && r <= row + 1; r++)
            if (at < row_address(b, r, w) + b->region[0] && row_address(b, r, w) < at + bytes)
                return true;
    }
    return false;
}

static bool areas_overlap(const struct area *a, const struct area *b)
{
    if (row_address(a, 0, 0) >= end_of(b) || row_address(b, 0, 0) >= end_of(a))
        return false;
    for (size_t z = 0; z < a->region[2]; z++)
        for (size_t y = 0; y < a->region[1]; y++)
            if (touches(b, row_address(a, y, z), a->region[0]))
                return true;
    return false;
}

bool cl_boxes_overlap(const struct cl_copy *c, uint64_t a, uint64_t b)
{
    return areas_overlap(&(struct area){a, &c->box, c->region}, &(struct area){b, &c->other_box, c->region});
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                           const size_t *to_origin, const size_t *region, size_t from_row, size_t from_slice,
                                           size_t to_row, size_t to_slice, cl_uint count, const cl_event *waits,
                                           cl_event *event)
{
    struct cl_copy c = {.way = CL_BETWEEN};
    size_t from_end, to_end;
    cl_int error;

    rt_lock();
    error = check_buffer(queue, from);
    if (error == CL_SUCCESS)
        error = check_buffer(queue, to);
    if (error == CL_SUCCESS &&
        (from_origin == NULL || to_origin == NULL || region == NULL || is_empty(region) ||
         !make_box(to_origin, region, to_row, to_slice, &c.box, &to_end) ||
         !make_box(from_origin, region, from_row, from_slice, &c.other_box, &from_end) || to_end > to->bytes ||
         from_end > from->bytes || (from == to && (c.box.row != c.other_box.row || c.box.slice != c.other_box.slice))))
        error = CL_INVALID_VALUE;
    if (error != CL_SUCCESS)
        return fail(error);
    memcpy(c.region, region, sizeof c.region);
    c.address = to->address;
    c.other = from->address;
    if (cl_mem_root(from) == cl_mem_root(to) && cl_boxes_overlap(&c, c.address, c.other))
        return fail(CL_MEM_COPY_OVERLAP);
    return cl_copy_enqueue(queue, CL_COMMAND_COPY_BUFFER_RECT, &c, to, from, false, count, waits, event);
}

/* ---- fill ------------------------------------------------------------------------------------------------------ */

struct fill {
    struct cl_command base;
    uint64_t address;
    size_t bytes, pattern_bytes;
    uint8_t pattern[128];
};

static int run_fill(struct rt_command *command)
{
    struct fill *f = (struct fill *)(void *)command;

    return f->bytes == 0 ? CL_SUCCESS : cl_result(lanewise_fill(rt_machine(), f->address, f->pattern, f->pattern_bytes, f->bytes), "fill");
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_bytes,
                                       size_t offset, size_t bytes, cl_uint count, const cl_event *waits, cl_event *event)
{
    struct cl_command *command;
    struct fill *f;
    cl_int error;

    rt_lock();
    error = check_buffer(queue, mem);
    if (error == CL_SUCCESS &&
        (pattern == NULL || pattern_bytes == 0 || pattern_bytes > sizeof f->pattern ||
         (pattern_bytes & (pattern_bytes - 1)) != 0 || bytes % pattern_bytes != 0 || offset % pattern_bytes != 0 ||
         !fits(mem, offset, bytes)))
        error = CL_INVALID_VALUE;
    if (error == CL_SUCCESS)
        error = cl_command_create(queue, CL_COMMAND_FILL_BUFFER, count, waits, sizeof *f, run_fill, &command);
    if (error != CL_SUCCESS)
        return fail(error);
    f = (struct fill *)command;
    f->address = mem->address + offset;
    f->bytes = bytes;
    f->pattern_bytes = pattern_bytes;
    memcpy(f->pattern, pattern, pattern_bytes);
    cl_command_hold_mem(command, mem);
    return cl_command_enqueue(queue, command, false, event);
}

/* ---- mapping --------------------------------------------------------------------------------------------------- */

struct map_command {
    struct cl_command base;
    struct _cl_mem *mem; /* memory object; @base has the reference to it */
    struct cl_map *map;  /* for an unmap: the map, which was removed from the object's list; owned */
    struct cl_map range; /* for a map: the mapped box */
    bool copies, reads; /* copies: the program needs the contents of the box. reads: it reads them, and does not only write */
};

/** Returns the host memory for mapped boxes of a memory object, allocated at the first use, or NULL if there is no memory. This
 *  host memory is as large as the object. */
static uint8_t *shadow_of(struct _cl_mem *mem)
{
    struct _cl_mem *root = cl_mem_root(mem);

    if (root->shadow == NULL) {
        void *block = NULL;

        if (posix_memalign(&block, 4096, root->bytes) == 0)
            root->shadow = block;
    }
    return root->shadow != NULL ? root->shadow + mem->origin : NULL;
}

enum map_way { MAP_READ, MAP_PREPARE /* the program only writes to the box */, MAP_WRITE_BACK };

/** Copies a mapped box between the device and the host memory, for a call of the program. */
static int copy_map(struct _cl_mem *mem, const struct cl_map *map, enum map_way way, const struct rt_site *site)
{
    lanewise_machine *machine = rt_machine();
    uint8_t *shadow = shadow_of(mem);
    int result = LANEWISE_OK;

    for (size_t z = 0; z < map->region[2]; z++)
        for (size_t y = 0; y < map->region[1] && result == LANEWISE_OK; y++) {
            const size_t at = map->box.offset + y * map->box.row + z * map->box.slice;

            const uint64_t address = mem->address + at;

            result = way == MAP_READ      ? rt_read(address, shadow + at, map->region[0], site)
                     : way == MAP_PREPARE ? lanewise_peek(machine, address, shadow + at, map->region[0])
                                          : lanewise_write(machine, address, shadow + at, map->region[0]);
        }
    return result;
}

/** Begins or ends that kernels must not use a mapped range of a buffer: one that is mapped for writing at all, and one that is
 *  mapped for reading not for stores. */
static void forbid(const struct _cl_mem *mem, const struct cl_map *map, bool begins)
{
    const char *why = map->writes ? "this range of the buffer is mapped for writing: unmap it before the launch"
                                  : "this range of the buffer is mapped: unmap it before the launch";

    if (cl_is_image(mem))
        return;
    if (begins)
        (void)lanewise_forbid(rt_machine(), mem->address + map->box.offset, map->region[0], map->writes, 1, why);
    else
        (void)lanewise_permit(rt_machine(), mem->address + map->box.offset, map->region[0], why);
}

static int run_map(struct rt_command *command)
{
    struct map_command *m = (struct map_command *)(void *)command;

    forbid(m->mem, &m->range, true);
    if (!m->copies || m->mem->is_svm) /* the program overwrites the box, or the memory is shared, so nothing is copied */
        return CL_SUCCESS;
    return cl_result(copy_map(m->mem, &m->range, m->reads ? MAP_READ : MAP_PREPARE, &command->site), "map");
}

static int run_unmap(struct rt_command *command)
{
    struct map_command *m = (struct map_command *)(void *)command;

    forbid(m->mem, m->map, false);
    return cl_result(m->map->writes && !m->mem->is_svm ? copy_map(m->mem, m->map, MAP_WRITE_BACK, &command->site) : LANEWISE_OK, "unmap");
}

/** Removes a map from the memory object, because its command failed. Does nothing if another thread has unmapped it. Locked. */
static void forget_map(struct _cl_mem *mem, const struct cl_map *map)
{
    for (struct cl_map **at = &cl_mem_root(mem)->maps; *at != NULL; at = &(*at)->next)
        if (*at == map) {
            struct cl_map *found = *at;

            *at = found->next;
            mem->map_count--;
            free(found);
            return;
        }
}

/** Returns true if the memory of the box is mapped for writing. */
static bool is_written(struct _cl_mem *mem, const struct cl_map *box)
{
    const struct area own = {mem->address, &box->box, box->region};

    for (const struct cl_map *map = cl_mem_root(mem)->maps; map != NULL; map = map->next)
        if (map->writes && areas_overlap(&own, &(struct area){map->mem->address, &map->box, map->region}))
            return true;
    return false;
}

void *cl_map_enqueue(cl_command_queue queue, cl_command_type type, cl_mem mem, const struct cl_map *values, cl_bool blocking,
                     cl_map_flags flags, cl_uint count, const cl_event *waits, cl_event *event, cl_int *error)
{
    const cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    struct cl_command *command = NULL;
    const bool writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
    struct cl_map *map = NULL, **maps = &cl_mem_root(mem)->maps;
    uint8_t *shadow = NULL;
    cl_int result = CL_SUCCESS;

    if ((flags & ~known) != 0 || ((flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0 && (flags & (CL_MAP_READ | CL_MAP_WRITE)) != 0))
        result = CL_INVALID_VALUE;
    if (result == CL_SUCCESS && (flags & CL_MAP_READ) != 0)
        result = cl_check_host_access(mem, true);
    if (result == CL_SUCCESS && writes)
        result = is_written(mem, values) ? CL_INVALID_OPERATION : cl_check_host_access(mem, false);
    if (result == CL_SUCCESS)
        result = cl_command_create(queue, type, count, waits, sizeof(struct map_command), run_map, &command);
    if (result == CL_SUCCESS) {
        shadow = shadow_of(mem);
        map = malloc(sizeof *map);
        if (shadow == NULL || map == NULL) {
            free(map);
            cl_command_cancel(command);
            result = CL_MAP_FAILURE;
        }
    }
    if (result != CL_SUCCESS) {
        rt_unlock();
        cl_put_error(error, result);
        return NULL;
    }
    *map = *values;
    map->mem = mem;
    map->writes = writes;
    map->next = *maps;
    *maps = map;
    mem->map_count++;
    *(struct map_command *)command = (struct map_command){
        .base = *command, .mem = mem, .range = *map,
        .copies = (flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0,
        .reads = (flags & CL_MAP_WRITE) == 0 || (flags & CL_MAP_READ) != 0};
    cl_command_hold_mem(command, mem);
    cl_object_hold(mem); /* keeps the object valid until the call of forget_map() below, because the command may release its
                          * reference earlier */
    result = cl_command_enqueue(queue, command, blocking != CL_FALSE, event);
    rt_lock();
    if (result != CL_SUCCESS)
        forget_map(mem, map);
    cl_object_drop(mem);
    rt_unlock();
    cl_put_error(error, result);
    return result == CL_SUCCESS ? shadow + values->box.offset : NULL;
}

void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags, size_t offset,
                                     size_t bytes, cl_uint count, const cl_event *waits, cl_event *event, cl_int *error)
{
    const struct cl_map map = {.box = {offset, bytes, bytes}, .region = {bytes, 1, 1}};
    cl_int result;

    rt_lock();
    result = check_buffer(queue, mem);
    if (result == CL_SUCCESS && (bytes == 0 || !fits(mem, offset, bytes)))
        result = CL_INVALID_VALUE;
    if (result != CL_SUCCESS) {
        cl_put_error(error, fail(result));
        return NULL;
    }
    return cl_map_enqueue(queue, CL_COMMAND_MAP_BUFFER, mem, &map, blocking, flags, count, waits, event, error);
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *pointer, cl_uint count,
                                           const cl_event *waits, cl_event *event)
{
    struct cl_command *command = NULL;
    struct cl_map **at = NULL, *map;
    cl_int error;

    rt_lock();
    error = cl_check_mem(queue, mem, cl_object_is(mem, CL_KIND_MEM) && cl_is_image(mem));
    if (error == CL_SUCCESS) {
        struct _cl_mem *root = cl_mem_root(mem);

        for (at = &root->maps; *at != NULL; at = &(*at)->next)
            if ((*at)->mem == mem && root->shadow != NULL && root->shadow + mem->origin + (*at)->box.offset == (uint8_t *)pointer)
                break;
        if (*at == NULL)
            error = CL_INVALID_VALUE;
    }
    if (error == CL_SUCCESS)
        error = cl_command_create(queue, CL_COMMAND_UNMAP_MEM_OBJECT, count, waits, sizeof(struct map_command), run_unmap,
                                  &command);
    if (error != CL_SUCCESS)
        return fail(error);
    map = *at;
    *at = map->next;
    mem->map_count--;
    *(struct map_command *)command = (struct map_command){.base = *command, .mem = mem, .map = map};
    command->memory = map;
    cl_command_hold_mem(command, mem);
    return cl_command_enqueue(queue, command, false, event);
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint mem_count, const cl_mem *mems,
                                              cl_mem_migration_flags flags, cl_uint count, const cl_event *waits,
                                              cl_event *event)
{
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    cl_int error = CL_SUCCESS;

    if (mem_count == 0 || mems == NULL || (flags & ~known) != 0)
        return CL_INVALID_VALUE;
    rt_lock();
    for (cl_uint i = 0; i < mem_count && error == CL_SUCCESS; i++)
        error = cl_check_mem(queue, mems[i], cl_object_is(mems[i], CL_KIND_MEM) && cl_is_image(mems[i]));
    rt_unlock();
    return error != CL_SUCCESS ? error : cl_enqueue_nothing(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, count, waits, event);
}
