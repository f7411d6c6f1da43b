/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule log: encoding of entries as bytes, recording, cursors, and host steps. */
#include "emu/log/emu_log_priv.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SAME_BLOCK = 0x10, /* the entry's block is the block of the preceding entry */
    WHOLE = 0x20,      /* EMU_LOG_STEP: the step is by all lanes of split 0 */
    FILL = 0x20,       /* EMU_LOG_LOOK and EMU_LOG_SELECT: `which` is 1 */
    ONCE = 0x40        /* the entry's count is 1 */
};

/* ---- entries as bytes ---------------------------------------------------------------- */

bool emu_log_is_host(unsigned kind)
{
    return kind >= EMU_LOG_PROGRAM;
}
bool emu_log_is_counted(unsigned kind)
{
    return kind == EMU_LOG_RUN || kind == EMU_LOG_PASS || kind == EMU_LOG_STEP ||
           kind == EMU_LOG_SLICE;
}
static bool has_location(unsigned kind)
{
    return (kind >= EMU_LOG_LOOK && kind <= EMU_LOG_END) ||
           (kind >= EMU_LOG_REGISTER && kind <= EMU_LOG_MEMORY);
}

/* For each kind of entry, the fields that follow its first byte, its block and warp, and its count, in order. The letters stand
 * for: s place.split; l place.lanes; w the member `which`; a address; v value; c count; n size; b bytes, whose number is field n;
 * k a flag that states whether the n bytes are stored, followed by these bytes if the flag is set. */
static const char fields[EMU_LOG_KINDS][6] = {
    [EMU_LOG_STEP] = "sl",       [EMU_LOG_SLICE] = "v",   [EMU_LOG_NONDET] = "wv",
    [EMU_LOG_REGISTER] = "swav", [EMU_LOG_PC] = "sv",     [EMU_LOG_MEMORY] = "sanb",
    [EMU_LOG_STOP] = "c",        [EMU_LOG_PROGRAM] = "v", [EMU_LOG_LAUNCH] = "nb",
    [EMU_LOG_ALLOC] = "avwnb",   [EMU_LOG_FREE] = "a",    [EMU_LOG_WRITE] = "anvk",
};
static const char *fields_of(unsigned kind, unsigned head)
{
    return kind == EMU_LOG_STEP && head & WHOLE ? "" : fields[kind];
}

static void encode(const struct emu_log_entry *e, const struct emu_log_cursor *context,
                   bool keep_data, struct emu_bytes *out)
{
    uint8_t head = (uint8_t)(emu_log_is_host(e->kind)
                                 ? EMU_LOG_HOST | (e->kind - EMU_LOG_PROGRAM) << 4
                                 : e->kind);

    if (has_location(e->kind) && e->place.grid == context->grid && e->place.block == context->block)
        head |= SAME_BLOCK;
    if (e->kind == EMU_LOG_STEP && e->place.split == 0 && e->place.lanes == 0)
        head |= WHOLE;
    if ((e->kind == EMU_LOG_LOOK || e->kind == EMU_LOG_SELECT) && e->which != 0)
        head |= FILL;
    if (emu_log_is_counted(e->kind) && e->count == 1)
        head |= ONCE;
    emu_put(out, &head, 1);
    if (has_location(e->kind)) {
        if (!(head & SAME_BLOCK)) {
            emu_put_signed(out, (int64_t)e->place.grid - context->grid);
            emu_put_signed(out, (int64_t)(e->place.block - context->block));
        }
        if (e->kind != EMU_LOG_BEGIN && e->kind != EMU_LOG_END)
            emu_put_number(out, e->place.warp);
    }
    if (emu_log_is_counted(e->kind) && !(head & ONCE))
        emu_put_number(out, e->count);
    for (const char *f = fields_of(e->kind, head); *f != '\0'; f++) {
        switch (*f) {
        case 's': emu_put_number(out, e->place.split); break;
        case 'l': emu_put_number(out, e->place.lanes); break;
        case 'w': emu_put_number(out, e->which); break;
        case 'a': emu_put_number(out, e->address); break;
        case 'v': emu_put_number(out, e->value); break;
        case 'c': emu_put_number(out, e->count); break;
        case 'n': emu_put_number(out, e->size); break;
        case 'k':
            emu_put_number(out, keep_data);
            if (!keep_data)
                break; /* fall through */
        default: emu_put(out, e->bytes, (size_t)e->size);
        }
    }
}

/** Decodes the entry at the position of @reader. Rejects values outside the range that a field permits. */
static bool decode(struct emu_reader *reader, const struct emu_log_cursor *context,
                   struct emu_log_entry *e)
{
    const uint8_t *head = emu_get(reader, 1);

    memset(e, 0, sizeof *e);
    if (head == NULL)
        return false;
    unsigned flags = *head & 0xf0u;
    e->kind = *head & 15u;
    if (e->kind == EMU_LOG_HOST)
        e->kind = EMU_LOG_PROGRAM + (flags >> 4);
    if (e->kind == 0 || e->kind >= EMU_LOG_KINDS)
        return false;
    if (has_location(e->kind)) {
        e->place.grid = context->grid;
        e->place.block = context->block;
        if (!(flags & SAME_BLOCK)) {
            e->place.grid = (uint32_t)(context->grid + (uint64_t)emu_get_signed(reader));
            e->place.block = context->block + (uint64_t)emu_get_signed(reader);
        }
        if (e->kind != EMU_LOG_BEGIN && e->kind != EMU_LOG_END)
            e->place.warp = (unsigned)emu_get_limited(reader, EMU_MAX_BLOCK_THREADS);
    }
    if (emu_log_is_counted(e->kind))
        e->count = flags & ONCE ? 1 : emu_get_number(reader);
    if (e->kind == EMU_LOG_LOOK || e->kind == EMU_LOG_SELECT)
        e->which = (flags & FILL) != 0;
    for (const char *f = fields_of(e->kind, flags); *f != '\0'; f++) {
        switch (*f) {
        case 's': e->place.split = (unsigned)emu_get_limited(reader, EMU_MAX_LANES - 1); break;
        case 'l': e->place.lanes = emu_get_number(reader); break;
        case 'w':
            e->which = (unsigned)emu_get_limited(reader, e->kind == EMU_LOG_NONDET     ? EMU_NONDET_COUNT - 1
                                                         : e->kind == EMU_LOG_REGISTER ? ISA_REG_B
                                                                                       : UINT16_MAX);
            break;
        case 'a':
            e->address = emu_get_limited(reader, e->kind == EMU_LOG_REGISTER ? UINT16_MAX : UINT64_MAX);
            break;
        case 'v': e->value = emu_get_number(reader); break;
        case 'c': e->count = emu_get_number(reader); break;
        case 'n': e->size = emu_get_number(reader); break;
        case 'k':
            if (emu_get_limited(reader, 1) == 0)
                break; /* fall through */
        default: e->bytes = emu_get(reader, (size_t)e->size);
        }
    }
    return !reader->bad;
}

bool emu_log_peek(const struct emu_log *log, const struct emu_log_cursor *cursor,
                  struct emu_log_entry *entry, struct emu_log_cursor *behind, bool *bad)
{
    struct emu_reader reader = {.data = log->bytes.data, .size = log->bytes.size,
                                .at = cursor->at};

    *bad = false;
    if (cursor->at >= log->bytes.size)
        return false;
    if (!decode(&reader, cursor, entry)) {
        *bad = true;
        return false;
    }
    *behind = *cursor;
    behind->at = reader.at;
    behind->done = 0;
    if (has_location(entry->kind)) {
        behind->grid = entry->place.grid;
        behind->block = entry->place.block;
    }
    return true;
}

void emu_log_advance(struct emu_log *log, uint64_t count)
{
    struct emu_log_entry e;
    struct emu_log_cursor behind;
    bool bad;

    if (!emu_log_peek(log, &log->cursor, &e, &behind, &bad))
        return;
    log->cursor.done += count;
    if (!emu_log_is_counted(e.kind) || log->cursor.done >= e.count)
        log->cursor = behind;
    if (emu_log_is_before(&log->cursor, &log->front))
        log->front = log->cursor;
    log->last = behind; /* the next entry is added at this position */
    log->has_last = false;
}

/* ---- adding --------------------------------------------------------------------------- */

/** Returns the position of the end of the log as a cursor, whose grid and block are those of the last entry. */
static struct emu_log_cursor *end_of(struct emu_log *log)
{
    return &log->cursor;
}

static bool same_location(const struct emu_thread_ref *a, const struct emu_thread_ref *b)
{
    return a->grid == b->grid && a->block == b->block && a->warp == b->warp &&
           a->split == b->split && a->lanes == b->lanes;
}

static void append(struct emu_log *log, const struct emu_log_entry *e)
{
    struct emu_log_cursor *end = end_of(log);
    struct emu_log_entry old;
    struct emu_log_cursor behind, start = *end;
    struct emu_log_entry sum = *e;
    bool bad;

    if (log->has_last && emu_log_is_counted(e->kind) && e->kind != EMU_LOG_SLICE &&
        emu_log_peek(log, &log->last, &old, &behind, &bad) && old.kind == e->kind &&
        (e->kind != EMU_LOG_STEP || same_location(&old.place, &e->place))) {
        sum.count += old.count;
        start = log->last;
        log->bytes.size = start.at;
    }
    encode(&sum, &start, log->keep_data, &log->bytes);
    log->last = start;
    log->last.done = 0;
    log->has_last = true;
    end->at = log->bytes.size;
    end->done = 0;
    if (has_location(e->kind)) {
        end->grid = e->place.grid;
        end->block = e->place.block;
    }
    log->front = *end;
    log->host_steps += emu_log_is_host(e->kind);
}

void emu_log_add(struct emu_log *log, const struct emu_log_entry *e)
{
    if (e->kind == EMU_LOG_COMMIT) {
        log->committed = true;
        return;
    }
    if (log->committed && e->kind != EMU_LOG_RUN && e->kind != EMU_LOG_PASS)
        append(log, &(struct emu_log_entry){.kind = EMU_LOG_COMMIT});
    log->committed = false;
    append(log, e);
}

struct emu_log_cursor emu_log_position(struct emu_log *log)
{
    struct emu_log_cursor cursor = log->cursor, behind;
    struct emu_log_entry e;
    bool bad;

    if (emu_log_in_history(log))
        return cursor;
    if (log->has_last && emu_log_peek(log, &log->last, &e, &behind, &bad) &&
        emu_log_is_counted(e.kind)) { /* the count of the last entry may still grow, so the position is inside this entry, not
                                       * after it */
        cursor = log->last;
        cursor.done = e.count;
    }
    return cursor;
}

void emu_log_seek(struct emu_log *log, const struct emu_log_cursor *cursor)
{
    struct emu_log_cursor behind;
    struct emu_log_entry e;
    bool bad;

    if (log->committed) {
        log->committed = false;
        append(log, &(struct emu_log_entry){.kind = EMU_LOG_COMMIT});
    }
    log->cursor = *cursor;
    log->has_last = false;
    if (emu_log_peek(log, cursor, &e, &behind, &bad) && emu_log_is_counted(e.kind) &&
        cursor->done >= e.count)
        log->cursor = behind;
}

void emu_log_trim(struct emu_log *log, size_t bytes)
{
    memmove(log->bytes.data, log->bytes.data + bytes, log->bytes.size - bytes);
    log->bytes.size -= bytes;
    log->cursor.at -= bytes;
    log->front.at -= bytes;
    log->last.at -= log->has_last ? bytes : 0;
}

void emu_log_forget(struct emu_log *log)
{
    struct emu_log_entry e;
    struct emu_log_cursor behind, at = log->cursor;
    bool bad;

    if (!emu_log_in_history(log))
        return;
    /* on_forget must be called before the log changes, because afterwards new entries can have the same byte positions as the
     * dropped ones */
    if (log->on_forget != NULL)
        log->on_forget(log->context);
    bool part = at.done != 0 && emu_log_peek(log, &at, &e, &behind, &bad);
    log->bytes.size = at.at;
    log->cursor.done = 0;
    log->has_last = log->committed = log->complete = false;
    log->mode = EMU_LOG_RECORD;
    log->front = log->cursor;
    if (part) {
        e.count = at.done;
        e.value = e.kind == EMU_LOG_SLICE ? 0 : e.value;
        append(log, &e);
    }
}

bool emu_log_is_recording(const struct emu_machine *machine)
{
    struct emu_log *log = machine->log;

    if (log == NULL || log->applying)
        return false;
    emu_log_forget(log);
    return true;
}

void emu_nondet_record(const struct emu_core *core, unsigned what, uint64_t value)
{
    if (emu_log_is_recording(core->machine))
        emu_log_add(core->machine->log, &(struct emu_log_entry){.kind = EMU_LOG_NONDET,
                                                                .which = what,
                                                                .value = value});
}

/* ---- the host's steps ------------------------------------------------------------------- */

static const char *host_name(unsigned kind)
{
    static const char *const names[] = {"loads a program", "launches a kernel",
                                        "allocates memory", "frees memory",
                                        "writes memory"};

    return emu_log_is_host(kind) ? names[kind - EMU_LOG_PROGRAM] : "runs kernels";
}

static const char *kernel_name(const struct emu_machine *machine, const struct emu_log_entry *e)
{
    struct emu_launch launch;

    return emu_log_launch_read(machine, e->bytes, (size_t)e->size, &launch) ? launch.kernel->name
                                                                            : "?";
}

/** Describes how @have, a step of this run, differs from @want, the step in the log. Writes "" if both are equal. */
static void difference(const struct emu_machine *machine, const struct emu_log_entry *have,
                       const struct emu_log_entry *want, char *text, size_t size)
{
    char name[64] = "";
    bool same;

    text[0] = '\0';
    if (have->kind != want->kind) {
        snprintf(text, size, "in the log the host %s, but in this run it %s", host_name(want->kind),
                 host_name(have->kind));
        return;
    }
    switch (have->kind) {
    case EMU_LOG_PROGRAM:
        if (have->value != want->value)
            snprintf(text, size, "the log was recorded with another program");
        return;
    case EMU_LOG_LAUNCH:
        if (have->size == want->size && memcmp(have->bytes, want->bytes, (size_t)have->size) == 0)
            return;
        if (strcmp(kernel_name(machine, have), kernel_name(machine, want)) != 0)
            snprintf(text, size, "the log launches kernel %s, but this run launches %s",
                     kernel_name(machine, want), kernel_name(machine, have));
        else
            snprintf(text, size, "the log and this run launch kernel %s with different sizes or arguments",
                     kernel_name(machine, have));
        return;
    case EMU_LOG_ALLOC:
        same = have->address == want->address && have->value == want->value &&
               have->which == want->which;
        if (!same)
            snprintf(text, size, "the log allocates %llu bytes here, but this run allocates %llu (for %.*s)",
                     (unsigned long long)want->value, (unsigned long long)have->value,
                     have->size < 60 ? (int)have->size : 60, (const char *)have->bytes);
        return;
    case EMU_LOG_FREE:
        if (have->address != want->address)
            snprintf(text, size, "the log and this run free different allocations");
        return;
    default:
        if (have->address == want->address && have->size == want->size &&
            have->value == want->value)
            return;
        emu_machine_allocation_name(machine, have->address, name, sizeof name);
        snprintf(text, size, "the host writes %s to %s than in the log", have->address == want->address &&
                                                             have->size == want->size
                                                         ? "other data"
                                                         : "another range",
                 name[0] != '\0' ? name : "memory");
    }
}

/** Replaces the entry at the cursor, which ends at byte @end, by @e, including its data. */
static bool splice(struct emu_log *log, const struct emu_log_entry *e, size_t end)
{
    struct emu_bytes fresh = {0};
    size_t at = log->cursor.at, rest = log->bytes.size - end;

    encode(e, &log->cursor, true, &fresh);
    if (!fresh.failed && fresh.size > end - at)
        (void)emu_bytes_add(&log->bytes, fresh.size - (end - at));
    if (fresh.failed || log->bytes.failed) {
        emu_bytes_fini(&fresh);
        return false;
    }
    memmove(log->bytes.data + at + fresh.size, log->bytes.data + end, rest);
    memcpy(log->bytes.data + at, fresh.data, fresh.size);
    log->bytes.size = at + fresh.size + rest;
    emu_bytes_fini(&fresh);
    return true;
}

enum lw_status emu_log_host_step(struct emu_machine *machine, const struct emu_log_entry *e,
                                 struct lw_error *err)
{
    struct emu_log *log = machine->log;
    struct emu_log_cursor behind;
    struct emu_log_entry want = {0};
    char why[300];
    bool bad;

    if (log == NULL || log->applying)
        return LW_OK;
    if (log->mode != EMU_LOG_REPLAY || !emu_log_in_history(log) || emu_log_is_replaying(log)) {
        if (emu_log_is_recording(machine))
            emu_log_add(log, e);
        return LW_OK;
    }
    (void)emu_log_peek(log, &log->cursor, &want, &behind, &bad);
    difference(machine, e, &want, why, sizeof why);
    if (why[0] != '\0')
        return LW_FAIL(err, LW_EINPUT, "%s does not match this run: %s", log->name, why);
    /* From now on the log must contain the data, because history may move back to before this entry, and the replay must then
     * repeat the host's write. */
    if (log->keep_data && e->kind == EMU_LOG_WRITE && !splice(log, e, behind.at))
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the schedule log");
    emu_log_advance(log, 0);
    log->host_steps++;
    return LW_OK;
}

void emu_log_launch_put(struct emu_bytes *out, const struct emu_grid *grid)
{
    const struct emu_launch *launch = &grid->launch;

    emu_put_number(out, emu_program_base(launch->program));
    emu_put_number(out, launch->kernel->first);
    for (unsigned i = 0; i < 3; i++) {
        emu_put_number(out, launch->grid[i]);
        emu_put_number(out, launch->block[i]);
        emu_put_number(out, launch->offset[i]);
    }
    emu_put_number(out, launch->work_dim);
    emu_put_number(out, launch->dynamic_shared_bytes);
    emu_put_number(out, launch->kernel->param_bytes);
    if (grid->bank0 != NULL)
        emu_put(out, grid->bank0, grid->bank0_valid);
    for (unsigned i = 0; grid->bank0 == NULL && i < launch->kernel->param_bytes; i++)
        emu_put(out, "", 1); /* zeros instead of the parameters: the launch is complete, and a later launch has taken over their
                              * memory */
}

bool emu_log_launch_read(const struct emu_machine *machine, const uint8_t *bytes, size_t size,
                         struct emu_launch *out)
{
    struct emu_reader reader = {.data = bytes, .size = size};
    uint64_t base = emu_get_number(&reader), first = emu_get_number(&reader);
    struct emu_program *program = emu_machine_program_at(machine, base);

    memset(out, 0, sizeof *out);
    if (program == NULL || emu_program_base(program) != base)
        return false;
    out->program = program;
    for (unsigned i = 0; i < program->object->function_count; i++)
        if (program->object->functions[i].kernel && program->object->functions[i].first == first)
            out->kernel = &program->object->functions[i];
    for (unsigned i = 0; i < 3; i++) {
        out->grid[i] = (uint32_t)emu_get_limited(&reader, UINT32_MAX);
        out->block[i] = (uint32_t)emu_get_limited(&reader, UINT32_MAX);
        out->offset[i] = (uint32_t)emu_get_limited(&reader, UINT32_MAX);
    }
    out->work_dim = (uint32_t)emu_get_limited(&reader, 3);
    out->dynamic_shared_bytes = (uint32_t)emu_get_limited(&reader, UINT32_MAX);
    uint64_t param_bytes = emu_get_limited(&reader, ISA_CONST_BANK_BYTES);
    out->params = emu_get(&reader, (size_t)param_bytes);
    return !reader.bad && reader.at == size && out->kernel != NULL &&
           out->kernel->param_bytes == param_bytes;
}

enum lw_status emu_log_launch_step(struct emu_machine *machine, const struct emu_grid *grid,
                                   struct lw_error *err)
{
    struct emu_bytes bytes = {0};
    enum lw_status status = LW_OK;

    if (machine->log == NULL || machine->log->applying)
        return LW_OK;
    emu_log_launch_put(&bytes, grid);
    if (bytes.failed)
        status = LW_FAIL(err, LW_ENOMEM, "the host has no memory for the log of a launch");
    else
        status = emu_log_host_step(machine,
                                   &(struct emu_log_entry){.kind = EMU_LOG_LAUNCH,
                                                           .bytes = bytes.data,
                                                           .size = bytes.size},
                                   err);
    emu_bytes_fini(&bytes);
    return status;
}

/* ---- creation ----------------------------------------------------------------------------- */

enum lw_status emu_log_create(struct emu_machine *machine, struct emu_log **out,
                              struct lw_error *err)
{
    struct emu_log *log;

    if (machine->log != NULL)
        return LW_FAIL(err, LW_ESTATE, "the machine records or replays a schedule log already");
    log = calloc(1, sizeof *log);
    if (log == NULL)
        return LW_FAIL(err, LW_ENOMEM, "the host has no memory for the schedule log");
    emu_config_put(&log->options, &machine->config);
    log->machine = machine;
    machine->log = log;
    *out = log;
    return LW_OK;
}

void emu_log_destroy(struct emu_log *log)
{
    if (log == NULL)
        return;
    if (log->machine != NULL)
        log->machine->log = NULL;
    emu_bytes_fini(&log->bytes);
    emu_bytes_fini(&log->options);
    free(log);
}
