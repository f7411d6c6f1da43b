/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records launches as launch files. A launch file has the kernel's object, the arguments, and the memory that the kernel can
 * reach, with its contents before the launch (host_record_memory.c). Check steps have the contents after the launch. Contents
 * are in files whose names are their hashes, so a buffer that does not change between launches is written once. Each file is
 * written completely or not at all, and the launch file after the others. It is written before the launch runs, without check
 * steps, so that a launch that does not end is recorded, too. When the launch has ended, the complete file replaces it.
 *
 * No file of an earlier run or of another process is replaced: numbers of launch files begin after the highest one in the folder,
 * and a launch file gets the next number if a file with its name has been created meanwhile.
 */
#include "host/host_record_priv.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FOLDER_BYTES (UINT64_C(4) << 30)
enum { MAX_LAUNCHES = 10000 };

/** Stores the reason why the launch is not recorded. */
static void note(struct host_record *r, const char *why)
{
    snprintf(r->message, sizeof r->message, "launch %u (%s) is not recorded: %.300s", r->launches, r->kernel, why);
}

const char *lanewise_record_message(const lanewise_machine *m)
{
    return m != NULL && m->record != NULL ? m->record->message : "";
}

/** Returns the highest number of a launch file, NUMBER-KERNEL.yaml, in a folder; 0 if there is none. */
static unsigned highest_number(const char *path)
{
    DIR *folder = opendir(path);
    unsigned highest = 0;

    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);

        if (isdigit((unsigned char)entry->d_name[0]) && *end == '-' && number > highest && number < 100000000)
            highest = (unsigned)number;
    }
    if (folder != NULL)
        closedir(folder);
    return highest;
}

enum lw_status host_record_begin(struct lanewise_machine *m, const char *folder, struct lw_error *err)
{
    struct host_record *r = calloc(1, sizeof *r);

    if (r != NULL)
        r->folder = strdup(folder);
    if (r == NULL || r->folder == NULL) {
        free(r);
        return LW_FAIL(err, LW_ENOMEM, "record: the host has no memory");
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        const enum lw_status status = LW_FAIL(err, LW_EIO, "record: %s: %s", folder, strerror(errno));

        free(r->folder);
        free(r);
        return status;
    }
    r->before = highest_number(folder);
    lw_buffer_init(&r->head);
    lw_buffer_init(&r->steps);
    m->record = r;
    return LW_OK;
}

void host_record_free(struct lanewise_machine *m)
{
    if (m->record == NULL)
        return;
    lw_buffer_fini(&m->record->head);
    lw_buffer_fini(&m->record->steps);
    free(m->record->areas);
    free(m->record->recorded);
    free(m->record->folder);
    free(m->record);
    m->record = NULL;
}

/* ---- files -------------------------------------------------------------------------------------------- */

enum lw_status host_record_put(struct host_record *r, const void *data, uint64_t size, const char *suffix,
                               char name[HOST_RECORD_NAME_BYTES], struct lw_error *err)
{
    struct lw_hash hash;
    struct stat st;
    char path[4096];

    lw_hash_init(&hash);
    lw_hash_bytes(&hash, data, size);
    lw_hash_u64(&hash, size);
    snprintf(name, HOST_RECORD_NAME_BYTES, "%016" PRIx64 "%s", lw_hash_value(&hash), suffix);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", r->folder, name) >= sizeof path)
        return LW_FAIL(err, LW_EUSAGE, "record: the folder's name is too long");
    if (stat(path, &st) == 0 && (uint64_t)st.st_size == size)
        return LW_OK;
    r->bytes += size;
    return lw_file_write(path, data, size, err);
}

/* ---- the launch ------------------------------------------------------------------------------------------ */

/** Writes an address as an argument of the launch: a buffer, and an index in the buffer. *@is is set to false if no
 *  allocation contains the address; in this case nothing is written. */
static enum lw_status put_address(struct host_record *r, uint64_t address, bool *is, struct lw_error *err)
{
    struct host_area *area = host_record_area(r, address);
    enum lw_status status;

    if (area == NULL)
        area = host_record_area(r, address - 1); /* the end of an area */
    *is = area != NULL && !area->is_skipped;
    if (!*is)
        return LW_OK;
    status = host_record_add(r, area, err);
    if (status != LW_OK)
        return status;
    if (address == area->address)
        lw_put(&r->steps.sink, area->name);
    else
        lw_printf(&r->steps.sink, "{buffer: %s, index: %" PRIu64 "}", area->name, address - area->address);
    return LW_OK;
}

static void put_bytes(struct host_record *r, const uint8_t *data, size_t size)
{
    lw_put(&r->steps.sink, "{u8: [");
    for (size_t i = 0; i < size; i++)
        lw_printf(&r->steps.sink, "%s%u", i != 0 ? ", " : "", data[i]);
    lw_put(&r->steps.sink, "]}");
}

/** Writes the value of parameter @p as an argument of the launch. In a structure, 8 aligned bytes that are an address in a buffer
 *  are written as a pointer. */
static enum lw_status put_value(struct host_record *r, const struct isa_param *p, const uint8_t *data, struct lw_error *err)
{
    const size_t size = p->size_bytes;
    enum lw_status status = LW_OK;
    size_t plain = 0;
    bool is = false, members = false;
    uint64_t bits = 0;

    if (size <= 8)
        memcpy(&bits, data, size);
    if (size == 8) {
        status = put_address(r, bits, &is, err);
        if (status != LW_OK || is)
            return status;
    }
    if (size == 1 || size == 2 || size == 4 || size == 8) {
        float f;
        double d;

        memcpy(&f, data, size == 4 ? 4 : 0);
        memcpy(&d, data, size == 8 ? 8 : 0);
        if (p->kind == ISA_PARAM_FLOAT && size == 4 && f == f && f - f == 0)
            lw_printf(&r->steps.sink, "{f32: %.9g}", (double)f);
        else if (p->kind == ISA_PARAM_FLOAT && size == 8 && d == d && d - d == 0)
            lw_printf(&r->steps.sink, "{f64: %.17g}", d);
        else
            lw_printf(&r->steps.sink, "{u%zu: %" PRIu64 "}", 8 * size, bits);
        return LW_OK;
    }
    /* The value is a structure: bytes up to the next pointer are written as numbers, then the pointer. */
    lw_put(&r->steps.sink, "{struct: [");
    for (size_t at = 0; status == LW_OK && at <= size; at += 8) {
        is = false;
        if (at + 8 <= size) {
            const struct host_area *area;

            memcpy(&bits, data + at, 8);
            area = host_record_area(r, bits);
            is = area != NULL && !area->is_skipped;
        }
        if ((is || at + 8 > size) && plain < (is ? at : size)) {
            lw_put(&r->steps.sink, members ? ", " : "");
            put_bytes(r, data + plain, (is ? at : size) - plain);
            members = true;
        }
        if (is) {
            lw_put(&r->steps.sink, members ? ", " : "");
            status = put_address(r, bits, &is, err);
            members = true;
            plain = at + 8;
        }
    }
    lw_put(&r->steps.sink, "]}");
    return status;
}

/** Sets r->kernel, a part of the launch file's name, from the kernel's symbol: "add" for _Z3addPii. */
static void name_kernel(struct host_record *r, const char *symbol)
{
    struct lw_buffer readable;
    size_t n = 0;

    lw_buffer_init(&readable);
    lnc_names_put(symbol, &readable.sink);
    for (const char *c = lw_buffer_text(&readable); *c != '\0' && *c != '(' && n + 1 < sizeof r->kernel; c++)
        if (isalnum((unsigned char)*c) || *c == '_')
            r->kernel[n++] = *c;
        else if (n != 0 && r->kernel[n - 1] != '-')
            r->kernel[n++] = '-';
    while (n > 1 && r->kernel[n - 1] == '-')
        n--;
    r->kernel[n] = '\0';
    lw_buffer_fini(&readable);
}

/** Writes a key whose value is a list with a number for each dimension. Its length is the result of get_work_dim(), or more if the
 *  launch has threads in more dimensions. */
static void put_size(struct host_record *r, const char *key, const uint32_t size[3], unsigned dimensions)
{
    lw_printf(&r->steps.sink, "      %s: [%u", key, size[0]);
    for (unsigned i = 1; i < dimensions; i++)
        lw_printf(&r->steps.sink, ", %u", size[i]);
    lw_put(&r->steps.sink, "]\n");
}

/** Sets r->machine, the line of the launch file that describes the machine. The limit of the heap is less the objects of malloc that are
 *  not recorded, so that kernels can allocate as much as in the program. */
static void name_machine(struct lanewise_machine *m)
{
    struct host_record *r = m->record;
    const struct emu_config *config = emu_machine_config(m->machine);
    uint64_t heap = config->heap_bytes - emu_heap_used(m->machine);
    struct emu_config usual;
    size_t size;

    emu_config_default(&usual);
    for (size_t i = 0; i < r->recorded_count; i++)
        if ((r->areas[r->recorded[i]].flags & EMU_ALLOC_HEAP) != 0)
            heap += (r->areas[r->recorded[i]].bytes + 15) / 16 * 16;
    size = (size_t)snprintf(r->machine, sizeof r->machine, "machine: {warp: %u", config->warp_width);
    if (heap != usual.heap_bytes)
        size += (size_t)snprintf(r->machine + size, sizeof r->machine - size, ", heap_bytes: %" PRIu64, heap);
    if (config->pending_launches != usual.pending_launches)
        size += (size_t)snprintf(r->machine + size, sizeof r->machine - size, ", pending_launches: %u", config->pending_launches);
    if (config->arena_bytes != usual.arena_bytes)
        size += (size_t)snprintf(r->machine + size, sizeof r->machine - size, ", memory: %" PRIu64, config->arena_bytes);
    snprintf(r->machine + size, sizeof r->machine - size, "}\n");
}

static enum lw_status record(struct lanewise_machine *m, const lanewise_kernel *kernel, const lanewise_shape *shape,
                             const void *const *arguments, struct lw_error *err)
{
    struct host_record *r = m->record;
    const struct isa_function *f = kernel->function;
    const uint32_t *o = shape->offset;
    unsigned dimensions = shape->dimensions;
    char file[HOST_RECORD_NAME_BYTES];
    struct emu_program_layout layout;
    uint8_t *object = NULL;
    size_t size = 0;
    enum lw_status status = isa_object_write(kernel->module->object, &object, &size, err);

    for (unsigned i = dimensions; i < 3; i++)
        if (shape->grid[i] != 1 || shape->block[i] != 1 || o[i] != 0)
            dimensions = i + 1;
    if (status == LW_OK)
        status = host_record_put(r, object, size, ".lwo", file, err);
    free(object);
    if (status == LW_OK && !emu_program_layout(kernel->module->program, &layout))
        status = LW_FAIL(err, LW_EUNSUPP, "the variables of its module do not follow one another, because memory is almost full");
    if (status == LW_OK)
        status = host_record_areas(m, kernel->module, err);
    if (status != LW_OK)
        return status;
    if (r->copied != kernel->module) { /* the sources, with which the launch can be debugged in another place */
        char path[4200];

        snprintf(path, sizeof path, "%s/%s", r->folder, file);
        lnc_sources_copy(kernel->module->object, path);
        r->copied = kernel->module;
    }
    lw_printf(&r->head.sink, "program: {source: %s}\naddresses: {code: 0x%" PRIx64 ", ", file, layout.code);
    if (layout.variables != 0)
        lw_printf(&r->head.sink, "variables: 0x%" PRIx64 ", ", layout.variables);
    lw_printf(&r->head.sink, "next: 0x%" PRIx64 "}\n", emu_alloc_end(m->machine));
    lw_printf(&r->steps.sink, "  - launch:\n      entry: \"%s\"\n", f->name);
    put_size(r, "grid", shape->grid, dimensions);
    put_size(r, "block", shape->block, dimensions);
    if (shape->shared_bytes != 0)
        lw_printf(&r->steps.sink, "      shared: %u\n", shape->shared_bytes);
    if ((o[0] | o[1] | o[2]) != 0)
        put_size(r, "offset", o, dimensions);
    status = host_record_variables(m, err);
    lw_put(&r->steps.sink, "      args:");
    if (f->param_count == 0)
        lw_put(&r->steps.sink, " []");
    lw_put(&r->steps.sink, "\n");
    for (unsigned i = 0; i < f->param_count && status == LW_OK; i++) {
        const struct isa_param *p = &f->params[i];
        uint64_t bits;

        lw_put(&r->steps.sink, "        - ");
        if (p->kind == ISA_PARAM_POINTER && p->space == ISA_SPACE_SHARED) {
            memcpy(&bits, arguments[i], sizeof bits);
            lw_printf(&r->steps.sink, "{local: %" PRIu64 "}", bits);
        } else {
            status = put_value(r, p, arguments[i], err);
        }
        lw_put(&r->steps.sink, "\n");
    }
    if (status == LW_OK)
        status = host_record_contents(m, err);
    name_machine(m);
    return status;
}

/** Writes the text of the launch file up to the check steps. @second: second line, or "". */
static void put_launch(const struct host_record *r, const char *second, struct lw_buffer *text)
{
    lw_printf(&text->sink, "# Launch %u of a program, recorded by lanewise %s.\n%s", r->launches, lanewise_version(), second);
    lw_put(&text->sink, r->machine);
    text->sink.write(&text->sink, r->head.text, r->head.size);
    lw_put(&text->sink, "steps:\n");
    text->sink.write(&text->sink, r->steps.text, r->steps.size);
}

/** Writes a new launch file, whose name no other file has, and sets r->path to its name. */
static enum lw_status create_launch_file(struct host_record *r, struct lw_error *err)
{
    char temporary[4200];
    struct lw_buffer text;
    enum lw_status status;
    bool linked;

    lw_buffer_init(&text);
    put_launch(r, "# It has not ended, so this file has no expected results.\n", &text);
    snprintf(temporary, sizeof temporary, "%s/launch.%ld-%p.tmp", r->folder, (long)getpid(), (void *)r); /* a process may have several machines */
    status = lw_file_write(temporary, text.text, text.size, err);
    lw_buffer_fini(&text);
    if (status != LW_OK)
        return status;
    do {
        snprintf(r->path, sizeof r->path, "%s/%04u-%s.yaml", r->folder, r->before + r->launches, r->kernel);
        linked = link(temporary, r->path) == 0;
    } while (!linked && errno == EEXIST && ++r->before != 0);
    if (!linked && rename(temporary, r->path) != 0) /* the file system has no hard links */
        status = LW_FAIL(err, LW_EIO, "%s: cannot be written: %s", r->path, strerror(errno));
    (void)unlink(temporary);
    return status;
}

void host_record_launch(struct lanewise_machine *m, const lanewise_kernel *kernel, const lanewise_shape *shape,
                        const void *const *arguments)
{
    struct host_record *r = m->record;
    struct lw_error err;

    r->active = false;
    r->message[0] = '\0';
    r->launches++;
    lw_buffer_clear(&r->head);
    lw_buffer_clear(&r->steps);
    name_kernel(r, kernel->function->name);
    if (r->launches > MAX_LAUNCHES || r->bytes > MAX_FOLDER_BYTES) {
        if (!r->full)
            note(r, "the folder is full, so later launches are not recorded");
        r->full = true;
        return;
    }
    if (record(m, kernel, shape, arguments, &err) != LW_OK || create_launch_file(r, &err) != LW_OK) {
        note(r, err.text);
        return;
    }
    r->active = true;
}

void host_record_refused(struct lanewise_machine *m)
{
    if (m->record == NULL || !m->record->active)
        return;
    m->record->active = false;
    (void)unlink(m->record->path);
}

void host_record_ended(struct lanewise_machine *m, const struct emu_stop *stop)
{
    struct host_record *r = m->record;
    char second[200] = "", file[HOST_RECORD_NAME_BYTES];
    struct lw_buffer text;
    struct lw_error err;
    enum lw_status status = LW_OK;
    uint64_t findings = 0;

    if (r == NULL || !r->active)
        return;
    r->active = false;
    lw_buffer_init(&text);
    if (stop->kind != EMU_STOP_IDLE)
        snprintf(second, sizeof second, "# It ended with a %s, and a run of this file does so as well.\n",
                 stop->kind == EMU_STOP_FAULT ? "fault" : "hang or a limit");
    for (unsigned i = 0; m->chk != NULL && i < chk_count(m->chk); i++)
        findings += chk_get(m->chk, i)->count;
    if (findings > r->findings)
        snprintf(second + strlen(second), sizeof second - strlen(second),
                 "# It had findings: \"lanewise run --check\" reports them, and continues.\n");
    r->findings = findings;
    put_launch(r, second, &text);
    for (size_t i = 0; i < r->recorded_count && status == LW_OK && stop->kind == EMU_STOP_IDLE; i++) {
        const struct host_area *area = &r->areas[r->recorded[i]];

        status = host_record_area_put(m, area, file, &err);
        if (file[0] != '\0')
            lw_printf(&text.sink, "  - check: {buffer: %s, file: %s}\n", area->name, file);
    }
    if (status == LW_OK)
        status = lw_file_write(r->path, text.text, text.size, &err);
    if (status != LW_OK) {
        note(r, err.text);
        (void)unlink(r->path);
    }
    lw_buffer_fini(&text);
}
