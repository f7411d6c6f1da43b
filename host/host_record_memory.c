/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a recorded launch. A kernel can reach memory through its arguments, through the variables of its module, and through
 * pointers that are stored in such memory. Each aligned 8-byte word whose value is an address in allocated memory counts as a
 * pointer. A number that happens to be such an address only makes the recorded launch larger. The launch file has the address of
 * each buffer, so that stored pointers, device pointers in descriptors of textures, and pointers to code remain valid.
 */
#include "host/host_record_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BUFFERS = 4096 };
#define MAX_LAUNCH_BYTES (UINT64_C(256) << 20)

/** Returns true for variables of Lanewise's CUDA headers that represent special registers. Such variables have no contents. */
static bool is_coordinate(const char *name)
{
    static const char *const names[] = {"lw_tid", "lw_ctaid", "lw_ntid", "lw_nctaid"};

    for (unsigned i = 0; i < LW_COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/** Returns true if variable @v, whose memory is @area, need not be recorded. Compilers give strings, and variables of functions,
 *  names with '$' or '.'. Such variables, and constants, are recorded only if they have been changed, because a module can have many
 *  of them. */
static bool is_needless(struct lanewise_machine *m, const struct isa_variable *v, const struct host_area *area)
{
    uint8_t *data;
    bool same;

    if (v->size_bytes == 0 || is_coordinate(v->name))
        return true;
    if (strchr(v->name, '$') == NULL && v->name[0] != '.' && (area->flags & EMU_ALLOC_READ_ONLY) == 0)
        return false;
    data = malloc(area->bytes);
    same = data != NULL && emu_global_peek(m->machine, area->address, data, area->bytes, NULL) == LW_OK;
    for (uint64_t i = 0; i < area->bytes && same; i++)
        same = data[i] == (v->init != NULL ? v->init[i] : 0);
    free(data);
    return same;
}

enum lw_status host_record_areas(struct lanewise_machine *m, const struct lanewise_module *module, struct lw_error *err)
{
    struct host_record *r = m->record;
    const unsigned count = emu_allocation_count(m->machine);
    const struct isa_object *o = module->object;
    struct emu_allocation a;

    free(r->areas);
    free(r->recorded);
    r->areas = calloc(count + 1u, sizeof *r->areas);
    r->recorded = calloc(MAX_BUFFERS, sizeof *r->recorded);
    r->area_count = r->recorded_count = 0;
    r->recorded_bytes = 0;
    if (r->areas == NULL || r->recorded == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for a list of %u allocations", count);
    for (unsigned i = 0; i < count; i++) {
        struct host_area *last = r->area_count != 0 ? &r->areas[r->area_count - 1] : NULL;

        if (!emu_allocation_get(m->machine, i, &a) || (a.flags & EMU_ALLOC_FREED) != 0 || a.size_bytes == 0)
            continue;
        if (last != NULL && (a.flags & last->flags & EMU_ALLOC_MAPPED) != 0 && last->address + last->bytes == a.address)
            last->bytes += a.size_bytes;
        else
            r->areas[r->area_count++] =
                (struct host_area){.address = a.address, .bytes = a.size_bytes, .flags = a.flags, .title = a.name};
    }
    for (unsigned i = 0; i < o->variable_count; i++) {
        const struct isa_variable *v = &o->variables[i];
        const uint64_t address = v->space == ISA_SPACE_SHARED ? 0 : emu_program_variable(module->program, v->name, NULL);
        struct host_area *area = address != 0 ? host_record_area(r, address) : NULL;

        if (area != NULL) {
            area->variable = v->name;
            area->is_skipped = is_needless(m, v, area);
        }
    }
    return LW_OK;
}

struct host_area *host_record_area(const struct host_record *r, uint64_t address)
{
    size_t low = 0, high = r->area_count;

    while (low < high) { /* areas before `low` begin at or below @address, and areas from `high` on above it */
        const size_t middle = low + (high - low) / 2;

        if (r->areas[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && address - r->areas[low - 1].address < r->areas[low - 1].bytes ? &r->areas[low - 1] : NULL;
}

enum lw_status host_record_add(struct host_record *r, struct host_area *area, struct lw_error *err)
{
    if (area->name[0] != '\0' || area->is_skipped)
        return LW_OK;
    if (r->recorded_count == MAX_BUFFERS || area->bytes > MAX_LAUNCH_BYTES - r->recorded_bytes)
        return LW_FAIL(err, LW_ERANGE, "it can reach more than %d MiB of buffers, or over %d buffers", (int)(MAX_LAUNCH_BYTES >> 20),
                       MAX_BUFFERS);
    r->recorded[r->recorded_count++] = (uint32_t)(area - r->areas);
    r->recorded_bytes += area->bytes;
    snprintf(area->name, sizeof area->name, "%s%zu", area->variable != NULL ? "variable" : "b", r->recorded_count);
    return LW_OK;
}

enum lw_status host_record_variables(struct lanewise_machine *m, struct lw_error *err)
{
    struct host_record *r = m->record;
    enum lw_status status = LW_OK;

    for (size_t i = 0; i < r->area_count && status == LW_OK; i++)
        if (r->areas[i].variable != NULL)
            status = host_record_add(r, &r->areas[i], err);
    return status;
}

/** Reads the contents of an area into a heap block. */
static enum lw_status read_area(struct lanewise_machine *m, const struct host_area *area, uint8_t **data, struct lw_error *err)
{
    *data = malloc(area->bytes);
    return *data == NULL ? LW_FAIL(err, LW_ENOMEM, "the host has no memory for %s", area->name)
                         : emu_global_peek(m->machine, area->address, *data, area->bytes, err);
}

/** Records the areas to which @data, contents of an area, points. */
static enum lw_status follow(struct host_record *r, const uint8_t *data, uint64_t bytes, struct lw_error *err)
{
    const struct host_area *top = &r->areas[r->area_count - 1];
    const uint64_t low = r->areas[0].address, span = top->address + top->bytes - low;
    const struct host_area *last = NULL; /* the area to which the last pointer points */
    enum lw_status status = LW_OK;

    for (uint64_t i = 0; i + 8 <= bytes && status == LW_OK; i += 8) {
        const uint64_t word = lw_get64(data + i);
        struct host_area *area;

        if (word - low >= span || (last != NULL && word - last->address < last->bytes))
            continue;
        area = host_record_area(r, word);
        if (area == NULL)
            continue;
        last = area;
        status = host_record_add(r, area, err);
    }
    return status;
}

/** Returns true if a comment can contain @text. */
static bool is_one_line(const char *text)
{
    bool is = *text != '\0';

    for (; *text != '\0' && is; text++)
        is = *text >= ' ' && *text <= '~';
    return is;
}

enum lw_status host_record_contents(struct lanewise_machine *m, struct lw_error *err)
{
    struct host_record *r = m->record;
    struct lw_sink *out = &r->head.sink;
    enum lw_status status = LW_OK;

    if (r->recorded_count != 0)
        lw_put(out, "buffers:\n");
    for (size_t i = 0; i < r->recorded_count && status == LW_OK; i++) { /* the number grows in the loop */
        const struct host_area *area = &r->areas[r->recorded[i]];
        char file[HOST_RECORD_NAME_BYTES];
        uint8_t *data = NULL;

        status = read_area(m, area, &data, err);
        if (status == LW_OK)
            status = host_record_put(r, data, area->bytes, ".bin", file, err);
        if (status == LW_OK)
            status = follow(r, data, area->bytes, err);
        free(data);
        if (status != LW_OK)
            break;
        lw_printf(out, "  %s: {type: u8, count: %" PRIu64 ", ", area->name, area->bytes);
        if (area->variable != NULL)
            lw_printf(out, "variable: \"%s\", ", area->variable);
        else
            lw_printf(out, "address: 0x%" PRIx64 ", %s%s", area->address,
                      (area->flags & EMU_ALLOC_READ_ONLY) != 0 ? "read_only: true, " : "",
                      (area->flags & EMU_ALLOC_HEAP) != 0 ? "heap: true, " : "");
        lw_printf(out, "init: {file: %s}}", file);
        if (area->variable == NULL && is_one_line(area->title))
            lw_printf(out, " # %s", area->title);
        lw_put(out, "\n");
    }
    return status;
}

enum lw_status host_record_area_put(struct lanewise_machine *m, const struct host_area *area, char file[HOST_RECORD_NAME_BYTES],
                                    struct lw_error *err)
{
    uint8_t *data = NULL;
    enum lw_status status;

    file[0] = '\0';
    if (emu_global_bytes(m->machine, area->address) < area->bytes)
        return LW_OK;
    status = read_area(m, area, &data, err);
    if (status == LW_OK)
        status = host_record_put(m->record, data, area->bytes, ".bin", file, err);
    free(data);
    return status;
}
